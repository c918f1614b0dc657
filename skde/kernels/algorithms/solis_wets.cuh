// The local search of Solis and Wets (1981), of every member of a pool. With a bias b, 0 at first, and a deviation:
//
//   d ~ N(b, deviation^2 unit^2)
//   x + d better   b' = 0.2 b + 0.4 d
//   x - d better   b' = b - 0.4 d
//   neither        b' = 0.5 b
//   deviation      doubles after more than 5 successes in a row, and halves after more than 3 failures
//
// A step is one evaluation: x + d, and after its failure x - d. An algorithm A that uses this declares the state of an
// individual's search: Arrays deviation, streak (the number of successes, or failures, negative, in a row) and opposite
// (whether the last step failed and its opposite is next); Vectors bias and move.
#pragma once
#include "core/run.cuh"
#include "core/variation.cuh"
#include "random/distributions.cuh"

namespace SKDE_NAMESPACE {

template <class A> struct SolisWets {
  using Arrays = typename A::Arrays;
  using Vectors = typename A::Vectors;
  static constexpr int SUCCESSES = 5, FAILURES = 3;

  // Two points. Their distance in a component is the unit of a step there.
  template <class real> struct Unit {
    const real *a, *b;
  };

  // Begins the search of individual i of generation g, with the deviation that it has.
  template <class Team, class R> SKDE_FN static void begin(Team& team, const R& run, i64 g, int i) {
    auto* const bias = run.vector(Vectors::bias, g, i);
    team.each(run.dim, [&](int j) { bias[j] = 0; });
    if (team.lane == 0) run.array(Arrays::streak, g)[i] = 0, run.array(Arrays::opposite, g)[i] = 0;
  }

  // The next point, x + d or x - d. unit_of() is called only where a step is drawn.
  template <class Team, class R, class UnitOf>
  SKDE_FN static void propose(Team& team, const R& run, i64 g, int i, typename R::real* out, UnitOf unit_of) {
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
      const Unit<real> unit = unit_of();
      const ComponentWords<Team, Stream> words(team, run.stream(g, i, COMBINATION), run.dim);
      const auto step = [=](int j, int k) {
        const real width = abs_of(unit.a[j] - unit.b[j]);
        return bias[j] + deviation * width * real(normal_draw(words.at(j, k)));
      };
      outside = team.fill(run.dim, move, step, leaves);
    }
    if (SKDE_RARELY(outside)) repair_all(team, run, g, i, x, out);
  }

  template <class Team, class R, class real>
  SKDE_FN static void select(Team& team, const R& run, i64 g, int i, const real* trial, real f_trial, real f_parent) {
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
};

}  // namespace SKDE_NAMESPACE
