// Generalised opposition (Wang, Rahnamayan, Wu 2013, equations 5 to 7), a component for members of the family: now and then
// a generation's trials are the opposites of the population,
//
//   x*_ij = k (a_j + b_j) - x_ij      a, b: the population's least and greatest values; k uniform, one a generation
//
// uniform in [a_j, b_j] where that leaves the box, and the best of both populations survive. Nothing is learned from such a
// generation, and archives stay as they are. Where a population shrinks, it does so before its opposites are made.
#pragma once
#include "algorithms/de.cuh"
#include "algorithms/jde.cuh"
#include "algorithms/sade.cuh"
#include "algorithms/success_history.cuh"

namespace SKDE_NAMESPACE {

// Names is the base's arrays and, behind them, `opposite`, the value of an individual's opposite.
template <class Base, class Names> struct Opposed : Base {
  using Arrays = typename Names::Arrays;
  SKDE_VECTORS(opposites);

  // Whether generation g is one of opposites.
  template <class R> SKDE_FN static bool turned(const R& run, i64 g) {
    return g > 0 && run.settings.opposition > 0 &&
           unit<double>(run.stream(g, 0, OPPOSITION).block(0).w[0]) < run.settings.opposition;
  }

  template <class Team, class R, class Draws, class Context>
  SKDE_FN static void propose(Team& team, const R& run, i64 g, int i, const Draws& draws, const Context& context,
                              typename R::real* out) {
    using real = typename R::real;
    if (!SKDE_RARELY(turned(run, g))) return Base::propose(team, run, g, i, draws, context, out);
    const real k = unit<real>(run.stream(g, 0, OPPOSITION).block(0).w[1]);
    const double *const a = range(run, g - 1), *const b = a + run.dim;
    const real* const x = run.x(g - 1, Base::parent(run, g, i));
    const Stream stream = run.stream(g, i, REPAIR);
    for (int j = team.lane; j < run.dim; j += team.size) {
      const real low = real(a[j]), high = real(b[j]), v = k * (low + high) - x[j];
      const bool inside = (v >= run.lower[j]) & (v <= run.upper[j]);
      out[j] = inside ? v : min_of(low + (high - low) * unit<real>(stream.component(j)), high);
    }
  }

  template <class Team, class R>
  SKDE_FN static void accept(Team& team, const R& run, i64 g, int i, const typename R::real* trial,
                             typename R::real f_trial, const Parent<typename R::real>& parent) {
    if (!SKDE_RARELY(turned(run, g))) return Base::accept(team, run, g, i, trial, f_trial, parent);
    team.copy(run.dim, trial, run.vector(Vectors::opposites, g, i));
    if (team.lane == 0) run.extra(Arrays::opposite, g)[i] = f_trial;
  }

  // First the base's parts or, in one, the best of both populations, in order; then, for opposites in the next generation, the
  // range.
  template <class R> SKDE_FN static int own_stages(const R& run, i64 g) {
    return turned(run, g) ? 1 : Base::stages(run, g);
  }
  template <class R> SKDE_FN static int stages(const R& run, i64 g) { return own_stages(run, g) + turned(run, g + 1); }

  template <class Team, class R, class Known>
  SKDE_FN static void settle(Team& team, const R& run, i64 g, int i, int stage, const Known& known) {
    if (stage == own_stages(run, g)) return measure(team, run, g, i);
    if (!turned(run, g)) return Base::settle(team, run, g, i, stage, known);
    const int parent = Base::parent(run, g, i);
    place(team, run, g, i, run.x(g - 1, parent), run.f(g - 1)[parent], false);
    place(team, run, g, i, run.vector(Vectors::opposites, g, i), run.extra(Arrays::opposite, g)[i], true);
  }

  template <class Team, class R, class Known>
  SKDE_FN static void adapt(Team& team, const R& run, i64 g, const Known& known) {
    turned(run, g) ? Base::carry(team, run, g) : Base::adapt(team, run, g, known);
  }

 private:
  // Least and greatest values, behind what the base keeps.
  template <class R> SKDE_FN static double* range(const R& run, i64 g) {
    return run.memory(g) + run.task.memory_size - 2 * run.dim;
  }

  // Individual i, or its opposite: a survivor takes the place of its rank, and what its slot carried along comes with it. Of
  // equals, old ones come before opposites.
  template <class Team, class R, class real>
  SKDE_OUTLINE static void place(Team& team, const R& run, i64 g, int i, const real* from, real value, bool opposite) {
    const real *const f = run.f(g - 1), *const opposites = run.extra(Arrays::opposite, g);
    const int rank =
        count_before(
            team, run.pop, [&](int k) { return f[Base::parent(run, g, k)]; }, value,
            [&](int k) { return bool(opposite | (k < i)); }) +
        count_before(
            team, run.pop, [&](int k) { return opposites[k]; }, value, [&](int k) { return bool(opposite & (k < i)); });
    if (rank >= run.pop) return;
    team.copy(run.dim, from, run.x(g, rank));
    if (team.lane != 0) return;
    run.f(g)[rank] = value;
    Base::move(run, g, i, rank);
    if (run.task.ranked) run.order(g)[rank] = rank;
  }

  // How far the parents of generation g reach in component j; `below`: minus that in the other direction.
  template <class Team, class R>
  SKDE_OUTLINE static typename R::real farthest(Team& team, const R& run, i64 g, int j, bool below) {
    return team.max(run.pop, [&](int k) {
      const typename R::real x = run.x(g - 1, Base::parent(run, g, k))[j];
      return below ? -x : x;
    });
  }

  // Of those that the next generation begins with.
  template <class Team, class R> SKDE_FN static void measure(Team& team, const R& run, i64 g, int i) {
    using real = typename R::real;
    if (!turned(run, g + 1)) return;
    auto next = run;
    next.enter(g + 1, run.evals + run.pop);
    double *const a = range(run, g), *const b = a + run.dim;
    for (int j = i; j < run.dim; j += run.pop) {
      const real low = -farthest(team, next, g + 1, j, true), high = farthest(team, next, g + 1, j, false);
      if (team.lane == 0) a[j] = double(low), b[j] = double(high);
    }
  }
};

struct FixedOpposed {
  SKDE_ARRAYS(opposite);
};
struct SelfAdaptedOpposed {
  SKDE_ARRAYS(F, CR, opposite);
};
struct HistoryOpposed {
  SKDE_ARRAYS(F, CR, gain, slot, opposite);
};
struct SadeOpposed {
  SKDE_ARRAYS(code, opposite);
};
using Gode = Opposed<De, FixedOpposed>;
using Gojde = Opposed<Jde, SelfAdaptedOpposed>;
using OpposedHistory = Opposed<SuccessHistory, HistoryOpposed>;
using OpposedSade = Opposed<Sade, SadeOpposed>;

}  // namespace SKDE_NAMESPACE
