// Scatter search (Glover 1998; Nashed, Ugolotti, Mesejo, Cagnoni 2012): a small reference set R instead of a population.
//
//   diversification   P random points; R is the best of them, and those farthest from R
//   combination       every pair of R gives two children by BLX-alpha, with alpha = 0.5 + lambda and 0.5 - lambda
//   improvement       every child searches its neighbourhood (Solis, Wets 1981), n_local evaluations long
//   update            R becomes the best of R and the children (or the best and the farthest of them)
//
// An iteration is one generation of children and n_local generations of local search. Its individuals, the pool, are rows
// 0 ... pop - 1 of the population; R is the reference set behind them. Until the update R does not change, and both halves
// of the population have it.
#pragma once
#include "core/run.cuh"
#include "core/variation.cuh"
#include "random/distributions.cuh"

namespace SKDE_NAMESPACE {

struct ScatterSearch : BaseAlgorithm {
  SKDE_PARAMETERS(pop_size, pool_size, references, n_best, repair, lambda, n_local, step, diverse_update, restart,
                  box_steps);
  // Of a pool member's local search: the deviation of its steps, the number of successes (or failures, negative) in a row,
  // and whether the last step failed and its opposite is next. Of a candidate for R: its distance from R, squared.
  SKDE_ARRAYS(deviation, streak, opposite, near);
  SKDE_VECTORS(bias, move);
  // Of a run: whether iteration i left R as it was, in place i & 1 of the memory of generation 0.

  // Solis and Wets: steps grow after more than so many successes in a row, and shrink after more than so many failures.
  static constexpr int SUCCESSES = 5, FAILURES = 3;

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
    return {(g - 1) / length * length, renewed(run, g)};
  }
  template <class Team> struct Draws {
    template <class R> SKDE_FN Draws(Team&, const R&, i64, int) {}
  };

  template <class Team, class R>
  SKDE_FN static void propose(Team& team, const R& run, i64 g, int i, const Draws<Team>&, const Context& context,
                              typename R::real* out) {
    if (g > context.begin + 1)
      search(team, run, g, i, context, out);
    else if (context.fresh)
      diversify(team, run, g, i, out);
    else
      combine(team, run, g, i, context, out);
  }

  template <class Team, class R>
  SKDE_FN static void select(Team& team, const R& run, i64 g, int i, const typename R::real* trial,
                             typename R::real f_trial, const Parent<typename R::real>& parent) {
    using real = typename R::real;
    if (!combines(run, g)) return select_step(team, run, g, i, trial, f_trial, parent.f);
    real *const x = run.x(g, i), *const bias = run.vector(Vectors::bias, g, i);
    if (x != trial) team.each(run.dim, [&](int j) { x[j] = trial[j]; });
    team.each(run.dim, [&](int j) { bias[j] = 0; });
    if (team.lane == 0) {
      run.f(g)[i] = f_trial;
      run.array(Arrays::streak, g)[i] = 0;
      run.array(Arrays::opposite, g)[i] = 0;
    }
    if (i < run.members()) copy_reference(team, run, g - 1, g, i);
  }

  // The update of R, at the end of an iteration. Stage 0: the candidates' order; stage 1: the best of them; then the farthest,
  // one by one. Among many candidates one team looks for the farthest, in an additional stage.
  template <class R> SKDE_FN static int stages(const R& run, i64 g) {
    if (run.iteration(g) < 0) return 0;
    return 2 + (by_distance(run, g) ? (run.members() - run.settings.n_best) * (1 + many(run)) : 0);
  }

  template <class Team, class R, class P>
  SKDE_FN static void end_generation(Team& team, const R& run, i64 g, int i, int stage, const P&) {
    if (stage == 0) return order(team, run, g, i);
    const int n_best = by_distance(run, g) ? run.settings.n_best : run.members();
    if (stage == 1) {
      if (i == 0) check_progress(team, run, g, n_best);
      if (i < n_best) set_reference(team, run, g, int(run.order(g)[i]), i);
      if (n_best < run.members()) each_candidate(run, i, [&](int c) { measure(team, run, g, c, n_best); });
      return;
    }
    const int chosen = (stage - 2) / (1 + many(run));  // references chosen by their distance before
    i64* const found = run.order(g) + n_best + chosen;
    if (many(run) && stage % 2 == 0) {
      if (i == 0) {
        const int farthest = farthest_of(team, run, chosen);
        if (team.lane == 0) *found = farthest;
      }
      return;
    }
    const int farthest = many(run) ? int(*found) : farthest_of(team, run, chosen);
    if (i == n_best + chosen) set_reference(team, run, g, farthest, n_best + chosen);
    if (n_best + chosen + 1 < run.members())
      each_candidate(run, i, [&](int c) { update_distance(team, run, g, c, farthest, chosen); });
  }

  // Migrants are copied to the other half.
  template <class Team, class R> SKDE_FN static void restore(Team& team, const R& run, i64 g, int i, bool) {
    copy_reference(team, run, g, g + 1, i);
  }

 private:
  template <class R> SKDE_FN static bool combines(const R& run, i64 g) {
    return (g - 1) % run.settings.reference_set.generations == 0;
  }

  // Copies reference i of generation `from` to generation `to`.
  template <class Team, class R> SKDE_FN static void copy_reference(Team& team, const R& run, i64 from, i64 to, int i) {
    using real = typename R::real;
    const real* const x = run.member(from, i);
    real* const copy = run.member(to, i);
    team.each(run.dim, [&](int j) { copy[j] = x[j]; });
    if (team.lane == 0) run.member_values(to)[i] = run.member_values(from)[i];
  }

  // -- combination ---------------------------------------------------------------------------------------------------

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
    // A second child's steps begin half-way, in magnitude, between the parents' distance and the width of the box, so that the
    // search leaves references that are too close to each other.
    const bool shared = i % 2 && !run.settings.box_steps;
    const real width = shared ? sqrt(sqrt(distance(team, run, x, y) / real(run.dim))) : real(1);
    if (team.lane == 0) run.array(Arrays::deviation, g)[i] = real(run.settings.step) * width;
  }

  template <class real> struct Parents {
    const real *a, *b;
  };
  // Pool members 2 p and 2 p + 1 are the children of the p-th pair of R, counted by the distance of its members' numbers. R
  // is read in the half where the iteration began: the other one is being filled.
  template <class R> SKDE_FN static Parents<typename R::real> parents_of(const R& run, int i, const Context& context) {
    const int n = run.members(), apart = i / 2 / n + 1, a = i / 2 % n, b = a + apart;
    return {run.member(context.begin, a), run.member(context.begin, b < n ? b : b - n)};
  }

  // A random point, as in generation 0, instead of a child.
  template <class Team, class R>
  SKDE_FN static void diversify(Team& team, const R& run, i64 g, int i, typename R::real* out) {
    const Stream stream = run.stream(g, i, START);
    team.each(run.dim, [&](int j) { out[j] = uniform_component(run, stream, j); });
    if (team.lane == 0) run.array(Arrays::deviation, g)[i] = typename R::real(run.settings.step);
  }

  // -- local search --------------------------------------------------------------------------------------------------

  // x + d with d ~ N(b, deviation), or after a failure x - d.
  template <class Team, class R>
  SKDE_FN static void search(Team& team, const R& run, i64 g, int i, const Context& context, typename R::real* out) {
    using real = typename R::real;
    const real *const x = run.x(g - 1, i), *const bias = run.vector(Vectors::bias, g - 1, i);
    real* const move = run.vector(Vectors::move, g, i);
    // Captured by value, as in pso.cuh.
    const real *const lower = run.lower, *const upper = run.upper;
    const auto leaves = [=](int j, real d) {
      const real moved = x[j] + d;
      out[j] = moved;
      return !((moved >= lower[j]) & (moved <= upper[j]));
    };
    bool outside;
    if (run.array(Arrays::opposite, g - 1)[i] > 0) {
      const real* const failed = run.vector(Vectors::move, g - 1, i);
      outside = team.fill(run.dim, move, [&](int j, int) { return -failed[j]; }, leaves);
    } else {
      const real deviation = run.array(Arrays::deviation, g - 1)[i];
      // A first child's steps are measured by its parents' distance in each component, so that they follow the function's
      // scales; a second child's by the width of the box, so that they lead in all directions.
      const bool along = i % 2 == 0 && !context.fresh && !run.settings.box_steps;
      const auto between = along ? parents_of(run, i, context) : Parents<real>{lower, upper};
      const ComponentWords<Team, Stream> words(team, run.stream(g, i, COMBINATION), run.dim);
      const auto step = [=](int j, int k) {
        const real unit = abs_of(between.a[j] - between.b[j]);
        return bias[j] + deviation * unit * real(normal_draw(words.at(j, k)));
      };
      outside = team.fill(run.dim, move, step, leaves);
    }
    if (SKDE_RARELY(outside)) repair_all(team, run, g, i, x, out);
  }

  //   x + d better   b' = 0.2 b + 0.4 d
  //   x - d better   b' = b - 0.4 d
  //   neither        b' = 0.5 b
  template <class Team, class R, class real>
  SKDE_FN static void select_step(Team& team, const R& run, i64 g, int i, const real* trial, real f_trial,
                                  real f_parent) {
    const bool better = improvement(f_trial, f_parent) > 0, second = run.array(Arrays::opposite, g - 1)[i] > 0;
    const real *const old = run.x(g - 1, i), *const move = run.vector(Vectors::move, g, i);
    const real* const b = run.vector(Vectors::bias, g - 1, i);
    real *const x = run.x(g, i), *const bias = run.vector(Vectors::bias, g, i);
    const real inherits = better ? (second ? real(1) : real(0.2)) : second ? real(0.5) : real(1);
    const real gains = better ? real(0.4) : real(0);
    team.each(run.dim, [&](int j) {
      x[j] = better ? trial[j] : old[j];
      bias[j] = inherits * b[j] + gains * move[j];
    });
    if (team.lane != 0) return;
    run.f(g)[i] = better ? f_trial : f_parent;
    run.array(Arrays::opposite, g)[i] = real(!better && !second);
    real deviation = run.array(Arrays::deviation, g - 1)[i], streak = run.array(Arrays::streak, g - 1)[i];
    if (better)
      streak = max_of(streak, real(0)) + 1;
    else if (second)
      streak = min_of(streak, real(0)) - 1;
    if (streak > SUCCESSES) deviation *= 2, streak = 0;
    if (streak < -FAILURES) deviation *= real(0.5), streak = 0;
    run.array(Arrays::deviation, g)[i] = deviation;
    run.array(Arrays::streak, g)[i] = streak;
  }

  // -- the reference set ---------------------------------------------------------------------------------------------

  // Candidates are the pool, and then R as it was.
  template <class R, class Body> SKDE_FN static void each_candidate(const R& run, int i, Body body) {
    body(i);
    if (i < run.members()) body(run.pop + i);
  }
  template <class R> SKDE_FN static const typename R::real* candidate(const R& run, i64 g, int c) {
    return c < run.pop ? run.x(g, c) : run.member(g - 1, c - run.pop);
  }
  template <class R> SKDE_FN static typename R::real value(const R& run, i64 g, int c) {
    return c < run.pop ? run.f(g)[c] : run.member_values(g - 1)[c - run.pop];
  }

  template <class R> SKDE_FN static double* stagnated(const R& run, i64 iteration) {
    return run.memory(0) + (iteration & 1);
  }
  // Whether generation g belongs to an iteration with a pool from the box, because the one before left R as it was.
  template <class R> SKDE_FN static bool renewed(const R& run, i64 g) {
    return g > 0 && *stagnated(run, (g - 1) / run.settings.reference_set.generations) > 0;
  }
  template <class R> SKDE_FN static bool by_distance(const R& run, i64 g) {
    return g == 0 || run.settings.diverse_update || renewed(run, g);
  }

  template <class R> SKDE_FN static bool many(const R& run) { return is_large(run.pop + run.members()); }

  // The order of the candidates: i's part. There is no R before generation 0, and only its best stays when the pool is from the
  // box. Few are ranked by counting; many are sorted by one team.
  template <class Team, class R> SKDE_FN static void order(Team& team, const R& run, i64 g, int i) {
    using real = typename R::real;
    if (many(run) && i > 0) return;
    const int n = run.pop + run.members();
    int last = run.pop, stays = -1;  // candidates from `last` on are left out, but for this one
    if (g > 0 && renewed(run, g))
      stays = run.pop + best_of(team, run.member_values(g - 1), run.members());
    else if (g > 0)
      last = n;
    const auto at = [&](int k) { return k < last || k == stays ? value(run, g, k) : real(not_a_number()); };
    if (many(run)) return sort_alone(team, n, at, run.order(g), run.sorting(), run.samples(n));
    each_candidate(run, i, [&](int c) {
      const int place = count_before(team, n, at, at(c), [&](int k) { return k < c; });
      if (team.lane == 0) run.order(g)[place] = c;
    });
  }

  // Candidate c becomes reference k.
  template <class Team, class R> SKDE_FN static void set_reference(Team& team, const R& run, i64 g, int c, int k) {
    using real = typename R::real;
    const real* const from = candidate(run, g, c);
    real* const to = run.member(g, k);
    team.each(run.dim, [&](int j) { to[j] = from[j]; });
    if (team.lane == 0) run.member_values(g)[k] = value(run, g, c);
  }

  // R stagnates where no pool member is among its best; without restarts, that changes nothing.
  template <class Team, class R> SKDE_FN static void check_progress(Team& team, const R& run, i64 g, int n_best) {
    const i64* const order = run.order(g);
    const bool fresh = g == 0 || renewed(run, g);
    const int entered = team.count(n_best, [&](int k) { return order[k] < run.pop; });
    if (team.lane == 0) *stagnated(run, run.iteration(g)) = run.settings.restart && !fresh && entered == 0;
  }

  // The square of a distance in widths of the box.
  template <class Team, class R, class real>
  SKDE_FN static real distance(Team& team, const R& run, const real* x, const real* y) {
    return team.sum(run.dim, [&](int j) {
      const real share = (x[j] - y[j]) / (run.upper[j] - run.lower[j]);
      return share * share;
    });
  }

  // The distance of candidate c from the nearest of the first n references; -1 for these, and for what cannot become one.
  template <class Team, class R> SKDE_FN static void measure(Team& team, const R& run, i64 g, int c, int n) {
    using real = typename R::real;
    const i64* const order = run.order(g);
    const bool out = c >= run.pop && (g == 0 || renewed(run, g));
    real near = -1;
    if (!out && team.first(n, [&](int k) { return order[k] == c ? k : -1; }) < 0)
      for (int k = 0; k < n; ++k) {
        const real d = distance(team, run, candidate(run, g, c), candidate(run, g, int(order[k])));
        near = k == 0 ? d : min_of(near, d);
      }
    if (team.lane == 0) run.array(Arrays::near, 1)[c] = near;
  }

  // The candidate that is farthest from the references, when so many were chosen by their distance.
  template <class Team, class R> SKDE_FN static int farthest_of(Team& team, const R& run, int chosen) {
    const auto* const near = run.array(Arrays::near, chosen + 1);
    const int n = run.pop + run.members();
    const auto most = team.max(n, [&](int c) { return near[c]; });
    return team.first(n, [&](int c) { return near[c] == most ? c : -1; });
  }

  template <class Team, class R>
  SKDE_FN static void update_distance(Team& team, const R& run, i64 g, int c, int farthest, int chosen) {
    const auto before = run.array(Arrays::near, chosen + 1)[c];
    const auto d = distance(team, run, candidate(run, g, c), candidate(run, g, farthest));
    if (team.lane == 0) run.array(Arrays::near, chosen)[c] = c == farthest || before < 0 ? -1 : min_of(before, d);
  }
};

}  // namespace SKDE_NAMESPACE
