// Scatter search (Glover 1998; Nashed, Ugolotti, Mesejo, Cagnoni 2012): a small reference set R instead of a population.
//
//   diversification   P random points; R is the best of them, and those farthest from R
//   combination       every pair of R gives two children by BLX-alpha, with alpha = 0.5 + lambda and 0.5 - lambda
//   improvement       every child searches its neighbourhood (Solis, Wets 1981), n_local evaluations long
//   update            R becomes the best of R and the children (or the best and the farthest of them)
//
// An iteration is one generation of children and n_local generations of local search. Its individuals, the pool, are rows
// 0 ... pop - 1 of the population; R are its kept rows. Until the update nobody writes R, and it stands in both halves.
#pragma once
#include "core/bounds.cuh"
#include "core/select.cuh"
#include "core/task.cuh"
#include "core/variation.cuh"
#include "random/distributions.cuh"

namespace SKDE_NAMESPACE {

struct Scatter : Plain {
  SKDE_PARAMETERS(pop_size, pool_size, references, n_best, repair, lambda, n_local, step, diverse_update);
  // Of a pool member's local search: the deviation of its steps, how often it succeeded (or failed,
  // negative) on end, whether the last step failed and its opposite is next. Of a candidate for R: how near R is.
  SKDE_ARRAYS(deviation, streak, opposite, near);
  SKDE_VECTORS(bias, move);
  static constexpr bool SHRINKS = true;
  static constexpr bool ITERATES = true;

  // Solis and Wets: steps grow after more than so many successes on end, and shrink after more than so many failures.
  static constexpr int SUCCESSES = 5, FAILURES = 3;

  struct Settings {
    const Shrinking shrinking;  // once, from the first population to the pool
    const int references, n_best, n_local;
    const Repair repair;
    const double lambda, step;
    const bool diverse_update;

    SKDE_FN explicit Settings(const double* p)
        : shrinking{p[Parameters::pool_size], p[Parameters::pool_size], 0, 0},
          references(int(p[Parameters::references])),
          n_best(int(p[Parameters::n_best])),
          n_local(int(p[Parameters::n_local])),
          repair(Repair(SKDE_REPAIR)),
          lambda(p[Parameters::lambda]),
          step(p[Parameters::step]),
          diverse_update(p[Parameters::diverse_update] != 0) {}

    SKDE_FN i64 length() const { return 1 + n_local; }  // of an iteration
  };

  // Generation 0 is an iteration of its own, number 0.
  template <class R> SKDE_FN static i64 iteration(const R& run, i64 g) {
    return g % run.settings.length() ? -1 : g / run.settings.length();
  }
  template <class R> SKDE_FN static i64 last_of_iteration(const R& run, i64 g) {
    const i64 length = run.settings.length();
    return (g + length - 1) / length * length;
  }
  template <class R> SKDE_FN static int first_member(const R& run) { return int(run.task.pop_max - run.task.kept); }
  template <class R> SKDE_FN static int members(const R& run) { return run.settings.references; }
  template <class R> SKDE_FN static int kept(const R& run) { return run.settings.references; }

  struct Context {
    i64 begin;   // the generation before the iteration
    bool fresh;  // whether its pool is drawn anew
  };
  template <class Team, class R> SKDE_FN static Context context(Team&, const R& run, i64 g) {
    return {(g - 1) / run.settings.length() * run.settings.length(), renewed(run, g)};
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
      renew(team, run, g, i, out);
    else
      combine(team, run, g, i, context, out);
  }

  template <class Team, class R>
  SKDE_FN static void accept(Team& team, const R& run, i64 g, int i, const typename R::real* trial,
                             typename R::real f_trial, const Parent<typename R::real>& parent) {
    using real = typename R::real;
    if (!combines(run, g)) return learn(team, run, g, i, trial, f_trial, parent.f);
    real *const x = run.x(g, i), *const bias = run.vector(Vectors::bias, g, i);
    if (x != trial) team.each(run.dim, [&](int j) { x[j] = trial[j]; });
    team.each(run.dim, [&](int j) { bias[j] = 0; });
    if (team.lane == 0) {
      run.f(g)[i] = f_trial;
      run.extra(Arrays::streak, g)[i] = 0;
      run.extra(Arrays::opposite, g)[i] = 0;
    }
    if (i < run.members()) keep(team, run, g - 1, g, i);
  }

  // R is made at the end of an iteration. Part 0: the candidates' order; part 1: the best of them; then the farthest, one
  // by one.
  template <class R> SKDE_FN static int stages(const R& run, i64 g) {
    return iteration(run, g) < 0 ? 0 : 2 + (by_distance(run, g) ? run.settings.references - run.settings.n_best : 0);
  }

  template <class Team, class R, class Known>
  SKDE_FN static void settle(Team& team, const R& run, i64 g, int i, int stage, const Known&) {
    if (stage == 0) return each_candidate(run, i, [&](int c) { order(team, run, g, c); });
    const int n_best = by_distance(run, g) ? run.settings.n_best : run.members(), chosen = n_best + stage - 2;
    if (stage == 1) {
      if (i == 0) note(team, run, g, n_best);
      if (i < n_best) refer(team, run, g, int(run.order(g)[i]), i);
      if (stage + 1 < stages(run, g)) each_candidate(run, i, [&](int c) { measure(team, run, g, c, n_best); });
      return;
    }
    const int farthest = farthest_of(team, run, stage);
    if (i == chosen) refer(team, run, g, farthest, chosen);
    if (stage + 1 < stages(run, g))
      each_candidate(run, i, [&](int c) { come_nearer(team, run, g, c, farthest, stage); });
  }

  // Whoever came in from another island is in the other half, too.
  template <class Team, class R> SKDE_FN static void reorder(Team& team, const R& run, i64 g, int i) {
    keep(team, run, g, g + 1, i);
  }

 private:
  template <class R> SKDE_FN static bool combines(const R& run, i64 g) { return (g - 1) % run.settings.length() == 0; }

  // Reference i as it stands in generation `from`, in generation `to` as well.
  template <class Team, class R> SKDE_FN static void keep(Team& team, const R& run, i64 from, i64 to, int i) {
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
    make_inside(team, run, g, i, x, out, blend);
    // A second child begins half-way, in magnitude, between the parents' distance and the width of the box: references that
    // are close to each other too early are left again.
    const real width = i % 2 ? sqrt(sqrt(distance(team, run, x, y) / real(run.dim))) : real(1);
    if (team.lane == 0) run.extra(Arrays::deviation, g)[i] = real(run.settings.step) * width;
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
  SKDE_FN static void renew(Team& team, const R& run, i64 g, int i, typename R::real* out) {
    const Stream stream = run.stream(g, i, START);
    team.each(run.dim, [&](int j) { out[j] = anywhere(run, stream, j); });
    if (team.lane == 0) run.extra(Arrays::deviation, g)[i] = typename R::real(run.settings.step);
  }

  // -- local search --------------------------------------------------------------------------------------------------

  // x + d with d ~ N(b, deviation), or after a failure x - d.
  template <class Team, class R>
  SKDE_FN static void search(Team& team, const R& run, i64 g, int i, const Context& context, typename R::real* out) {
    using real = typename R::real;
    const real *const x = run.x(g - 1, i), *const bias = run.vector(Vectors::bias, g - 1, i);
    real* const move = run.vector(Vectors::move, g, i);
    // By value, as in pso.cuh.
    const real *const lower = run.lower, *const upper = run.upper;
    const auto outside = [=](int j, real d) {
      const real there = x[j] + d;
      out[j] = there;
      return !((there >= lower[j]) & (there <= upper[j]));
    };
    bool left;
    if (run.extra(Arrays::opposite, g - 1)[i] > 0) {
      const real* const failed = run.vector(Vectors::move, g - 1, i);
      left = team.fill(run.dim, move, [&](int j, int) { return -failed[j]; }, outside);
    } else {
      const real deviation = run.extra(Arrays::deviation, g - 1)[i];
      // A first child's steps are measured by its parents' distance in each component, so that they follow the function's
      // scales; a second child's by the width of the box, so that they lead in all directions.
      const bool along = i % 2 == 0 && !context.fresh;
      const auto between = along ? parents_of(run, i, context) : Parents<real>{lower, upper};
      const ComponentWords<Team, Stream> words(team, run.stream(g, i, COMBINATION), run.dim);
      const auto step = [=](int j, int k) {
        const real unit = abs_of(between.a[j] - between.b[j]);
        return bias[j] + deviation * unit * real(normal_draw(words.at(j, k)));
      };
      left = team.fill(run.dim, move, step, outside);
    }
    if (SKDE_RARELY(left)) repair_all(team, run, g, i, x, out);
  }

  //   x + d better   b' = 0.2 b + 0.4 d
  //   x - d better   b' = b - 0.4 d
  //   neither        b' = 0.5 b
  template <class Team, class R, class real>
  SKDE_FN static void learn(Team& team, const R& run, i64 g, int i, const real* trial, real f_trial, real f_parent) {
    const bool better = improvement(f_trial, f_parent) > 0, second = run.extra(Arrays::opposite, g - 1)[i] > 0;
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
    run.extra(Arrays::opposite, g)[i] = real(!better && !second);
    real deviation = run.extra(Arrays::deviation, g - 1)[i], streak = run.extra(Arrays::streak, g - 1)[i];
    if (better)
      streak = max_of(streak, real(0)) + 1;
    else if (second)
      streak = min_of(streak, real(0)) - 1;
    if (streak > SUCCESSES) deviation *= 2, streak = 0;
    if (streak < -FAILURES) deviation *= real(0.5), streak = 0;
    run.extra(Arrays::deviation, g)[i] = deviation;
    run.extra(Arrays::streak, g)[i] = streak;
  }

  // -- the reference set ---------------------------------------------------------------------------------------------

  // Candidates are the pool, and behind it R as it was.
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

  // Whether generation g belongs to an iteration whose pool was drawn anew, as the one before left R as it was. Two places
  // in turn, so that one is read while the other is written; in the first half of the memory alone.
  template <class R> SKDE_FN static double* note_of(const R& run, i64 iteration) {
    return run.memory(0) + (iteration & 1);
  }
  template <class R> SKDE_FN static bool renewed(const R& run, i64 g) {
    return g > 0 && *note_of(run, (g - 1) / run.settings.length()) > 0;
  }
  template <class R> SKDE_FN static bool by_distance(const R& run, i64 g) {
    return g == 0 || run.settings.diverse_update || renewed(run, g);
  }

  // The place of candidate c. There is no R before generation 0, and only its best stays when the pool was drawn anew.
  template <class Team, class R> SKDE_FN static void order(Team& team, const R& run, i64 g, int c) {
    using real = typename R::real;
    const int n = run.pop + run.members();
    int last = run.pop, stays = -1;  // candidates from `last` on are left out, but for this one
    if (g > 0 && renewed(run, g))
      stays = run.pop + best_of(team, run.member_values(g - 1), run.members());
    else if (g > 0)
      last = n;
    const auto at = [&](int k) { return k < last || k == stays ? value(run, g, k) : real(not_a_number()); };
    const auto ties = [&](int k) { return k < c; };
    const int place = count_before(team, n, at, at(c), ties);
    if (team.lane == 0) run.order(g)[place] = c;
  }

  // Candidate c becomes reference k.
  template <class Team, class R> SKDE_FN static void refer(Team& team, const R& run, i64 g, int c, int k) {
    using real = typename R::real;
    const real* const from = candidate(run, g, c);
    real* const to = run.member(g, k);
    team.each(run.dim, [&](int j) { to[j] = from[j]; });
    if (team.lane == 0) run.member_values(g)[k] = value(run, g, c);
  }

  // R stagnates where no pool member is among its best.
  template <class Team, class R> SKDE_FN static void note(Team& team, const R& run, i64 g, int n_best) {
    const i64* const order = run.order(g);
    const bool fresh = g == 0 || renewed(run, g);
    const int entered = team.count(n_best, [&](int k) { return order[k] < run.pop; });
    if (team.lane == 0) *note_of(run, iteration(run, g)) = !fresh && entered == 0;
  }

  // The square of a distance in widths of the box.
  template <class Team, class R, class real>
  SKDE_FN static real distance(Team& team, const R& run, const real* x, const real* y) {
    return team.sum(run.dim, [&](int j) {
      const real share = (x[j] - y[j]) / (run.upper[j] - run.lower[j]);
      return share * share;
    });
  }

  // How near the first n references are to candidate c; -1 for those themselves and for what cannot become one.
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
    if (team.lane == 0) run.extra(Arrays::near, 1)[c] = near;
  }

  template <class Team, class R> SKDE_FN static int farthest_of(Team& team, const R& run, int stage) {
    const auto* const near = run.extra(Arrays::near, stage - 1);
    const int n = run.pop + run.members();
    const auto most = team.max(n, [&](int c) { return near[c]; });
    return team.first(n, [&](int c) { return near[c] == most ? c : -1; });
  }

  template <class Team, class R>
  SKDE_FN static void come_nearer(Team& team, const R& run, i64 g, int c, int chosen, int stage) {
    const auto before = run.extra(Arrays::near, stage - 1)[c];
    const auto d = distance(team, run, candidate(run, g, c), candidate(run, g, chosen));
    if (team.lane == 0) run.extra(Arrays::near, stage)[c] = c == chosen || before < 0 ? -1 : min_of(before, d);
  }
};

}  // namespace SKDE_NAMESPACE
