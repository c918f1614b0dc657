// Constrained problems, g(x) <= 0 and h(x) = 0, as objectives of one number each: by feasibility rules (K. Deb, 2000), with
// the order among points in the number itself, so that selection needs to know nothing of constraints.
//
// The Python side (skde/problems/constraints.py) makes and reads the same numbers.
#pragma once
#include "problems/problem.cuh"

namespace SKDE_NAMESPACE {

// Feasible points have their value, at most 2^200 in size; the others come after all of them, from 2^210 on, in the order of
// their violations. All is done in doubles: floats have no room for it.
SKDE_FN double by_rules(double f, double violation) {
  const double value = max_of(min_of(f, 0x1p200), -0x1p200);
  const double distance = max_of(min_of(violation, 0x1p390), 0x1p-390) * 0x1p600;
  return violation > 0 ? distance : value;
}

// By how much constraints are violated: the sum of the g_i above the tolerance, and of what |h_j| is above it. Where one of
// the values, f included, is not a finite number, infinitely. at(k): f, g, h.
template <class At> SKDE_FN double violation(At at, int inequalities, int equalities, double tolerance) {
  double sum = 0;
  bool finite = at(0) - at(0) == 0;
  for (int k = 1; k <= inequalities + equalities; ++k) {
    const double value = double(at(k));
    const double excess = k <= inequalities ? value : abs_of(value) - tolerance;
    sum += excess > (k <= inequalities ? tolerance : 0.0) ? excess : 0.0;
    finite = finite && value - value == 0.0;
  }
  return finite ? sum : infinity();
}

// The objective that stands for a constrained problem P. data: the tolerance, then what P needs. A problem is so small that
// every lane finds all of it.
template <class P> struct Feasible {
  static constexpr int scratch = 0;
  template <class Team, class real> SKDE_FN real operator()(Team&, const real* x, int d, const Data<real>& data) const {
    real values[1 + P::inequalities + P::equalities];
    P::values(x, d, data.from(1), values);
    const double tolerance = double(data.array[0][0]);
    const double by = violation([&](int k) { return values[k]; }, P::inequalities, P::equalities, tolerance);
    return real(by_rules(double(values[0]), by));
  }
};

// One of the values of P: f, g_1, ... data: its number, then what P needs.
template <class P> struct Component {
  static constexpr int scratch = 0;
  template <class Team, class real> SKDE_FN real operator()(Team&, const real* x, int d, const Data<real>& data) const {
    real values[1 + P::inequalities + P::equalities];
    P::values(x, d, data.from(1), values);
    return values[int(data.array[0][0])];
  }
};

}  // namespace SKDE_NAMESPACE

// The names under which both are compiled.
#define SKDE_CONSTRAINED_PROBLEM(P) \
  using Feasible##P = Feasible<P>;  \
  using Component##P = Component<P>;
