// Scatter search (Glover 1998; Nashed, Ugolotti, Mesejo, Cagnoni 2012): a small reference set R instead of a
// population.
//
//   diversification   P random points; R is the n_best best of them, and those farthest from R
//   combination       every pair of R gives two children by BLX-alpha, with alpha = 0.5 + lambda and 0.5 - lambda
//   improvement       a local search from every child (solis_wets.cuh), of n_local evaluations
//   update            R becomes the best of R and the children, or the best and the farthest of them
//                     (reference_set.cuh)
//
// An iteration is one generation of children, the pool, and n_local generations of local search.
#pragma once
#include "algorithms/reference_set.cuh"
#include "algorithms/solis_wets.cuh"
#include "core/run.cuh"
#include "core/variation.cuh"

namespace SKDE_NAMESPACE {

struct ScatterSearch : BaseAlgorithm {
  SKDE_PARAMETERS(pop_size, pool_size, references, n_best, repair, lambda, n_local, step, diverse_update, restart,
                  box_steps);
  // Of a pool member's local search: the deviation of its steps, the number of successes (or failures, negative) in a
  // row, and whether the last step failed and its opposite is next. Of a candidate for R: its distance from R, squared.
  SKDE_ARRAYS(deviation, streak, opposite, near);
  SKDE_VECTORS(bias, move);
  // Of a run: whether iteration i did not change R, in place i & 1 of the memory of generation 0.

  using Improvement = SolisWets<ScatterSearch>;
  using Update = ReferenceSetUpdate<ScatterSearch>;

  struct Settings {
    const ReferenceSet reference_set;
    const int pool_size, n_best;
    const Repair repair;
    const double lambda, step;
    const bool diverse_update, restart, box_steps;

    SKDE_FN explicit Settings(const double* p)
        : reference_set{int(p[Parameters::references]), 1 + i64(p[Parameters::n_local])},
          pool_size(int(p[Parameters::pool_size])),
          n_best(int(p[Parameters::n_best])),
          repair(Repair(SKDE_REPAIR)),
          lambda(p[Parameters::lambda]),
          step(p[Parameters::step]),
          diverse_update(p[Parameters::diverse_update] != 0),
          restart(p[Parameters::restart] != 0),
          box_steps(p[Parameters::box_steps] != 0) {}
  };

  struct Context {
    i64 begin;   // the generation before the iteration
    bool fresh;  // whether its pool is drawn from the box
  };
  template <class Team, class R> SKDE_FN static Context context(Team&, const R& run, i64 g) {
    const i64 length = run.settings.reference_set.generations;
    return {(g - 1) / length * length, Update::renewed(run, g)};
  }
  template <class Team> struct Draws {
    template <class R> SKDE_FN Draws(Team&, const R&, i64, int) {}
  };

  template <class Team, class R>
  SKDE_FN static void propose(Team& team, const R& run, i64 g, int i, const Draws<Team>&, const Context& context,
                              typename R::real* out) {
    if (g > context.begin + 1)
      Improvement::propose(team, run, g, i, out, [&] { return unit_of_steps(run, i, context); });
    else if (context.fresh)
      diversify(team, run, g, i, out);
    else
      combine(team, run, g, i, context, out);
  }

  template <class Team, class R>
  SKDE_FN static void select(Team& team, const R& run, i64 g, int i, const typename R::real* trial,
                             typename R::real f_trial, const Parent<typename R::real>& parent) {
    if (!combines(run, g)) return Improvement::select(team, run, g, i, trial, f_trial, parent.f);
    auto* const x = run.x(g, i);
    if (x != trial) team.each(run.dim, [&](int j) { x[j] = trial[j]; });
    if (team.lane == 0) run.f(g)[i] = f_trial;
    Improvement::begin(team, run, g, i);
    if (i < run.members()) Update::copy(team, run, g - 1, g, i);
  }

  template <class R> SKDE_FN static int stages(const R& run, i64 g) { return Update::stages(run, g); }
  template <class Team, class R, class P>
  SKDE_FN static void end_generation(Team& team, const R& run, i64 g, int i, int stage, const P&) {
    Update::update(team, run, g, i, stage);
  }

  static constexpr bool DIVIDES = true;
  template <class R, class Share> SKDE_FN static int large_stages(const R& run, const Share& share, i64 g) {
    return Update::large_stages(run, share, g);
  }
  template <class Team, class R, class Share>
  SKDE_OUTLINE static void end_large_generation(Team& team, const R& run, const Share& share, i64 g, int stage) {
    Update::update_many(team, run, share, g, stage);
  }

  // Copies reference i to the other half, which has R, too.
  template <class Team, class R> SKDE_FN static void restore(Team& team, const R& run, i64 g, int i, bool) {
    Update::copy(team, run, g, g + 1, i);
  }

 private:
  template <class R> SKDE_FN static bool combines(const R& run, i64 g) {
    return (g - 1) % run.settings.reference_set.generations == 0;
  }

  template <class Team, class R>
  SKDE_FN static void combine(Team& team, const R& run, i64 g, int i, const Context& context, typename R::real* out) {
    using real = typename R::real;
    const auto parents = parents_of(run, i, context);
    const real *const x = parents.a, *const y = parents.b;
    const real alpha = real(i % 2 ? 0.5 - run.settings.lambda : 0.5 + run.settings.lambda);
    const ComponentWords<Team, Stream> words(team, run.stream(g, i, COMBINATION), run.dim);
    const auto blend = [&](int j, int k) {
      const real low = min_of(x[j], y[j]), width = max_of(x[j], y[j]) - low;
      return low - alpha * width + (1 + 2 * alpha) * width * unit<real>(words.at(j, k));
    };
    fill_inside(team, run, g, i, x, out, blend);
    // A second child's steps begin with the geometric mean of the parents' distance and the box's width, so that the search gets away from references that are too close to each other.
    const bool shared = i % 2 && !run.settings.box_steps;
    const real width = shared ? sqrt(sqrt(Update::distance(team, run, x, y) / real(run.dim))) : real(1);
    if (team.lane == 0) run.array(Arrays::deviation, g)[i] = real(run.settings.step) * width;
  }

  // Pool members 2 p and 2 p + 1 are the children of the p-th pair of R, counted by the distance of its members'
  // numbers. R is read from the half in which the iteration began, because the other half is written.
  template <class R>
  SKDE_FN static Improvement::Unit<typename R::real> parents_of(const R& run, int i, const Context& context) {
    const int n = run.members(), apart = i / 2 / n + 1, a = i / 2 % n, b = a + apart;
    return {run.member(context.begin, a), run.member(context.begin, b < n ? b : b - n)};
  }

  // The unit of a first child's steps is its parents' distance in each component, which has the function's scales. That
  // of a second child's steps is the width of the box, because its steps should go in all directions.
  template <class R>
  SKDE_FN static Improvement::Unit<typename R::real> unit_of_steps(const R& run, int i, const Context& context) {
    const bool along = i % 2 == 0 && !context.fresh && !run.settings.box_steps;
    using Unit = Improvement::Unit<typename R::real>;
    return along ? parents_of(run, i, context) : Unit{run.lower, run.upper};
  }

  // A random point, as in generation 0, where there is no child.
  template <class Team, class R>
  SKDE_FN static void diversify(Team& team, const R& run, i64 g, int i, typename R::real* out) {
    const Stream stream = run.stream(g, i, START);
    team.each(run.dim, [&](int j) { out[j] = uniform_component(run, stream, j); });
    if (team.lane == 0) run.array(Arrays::deviation, g)[i] = typename R::real(run.settings.step);
  }
};

}  // namespace SKDE_NAMESPACE
