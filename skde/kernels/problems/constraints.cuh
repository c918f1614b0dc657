// Constrained problems, g(x) <= 0 and h(x) = 0, as objectives with one value: the code of the feasibility rules (K.
// Deb, 2000). The order of codes is that of the rules, so selection does not depend on constraints.
//
// Python computes and reads the same codes (skde/objectives/feasibility.py).
#pragma once
#include "problems/problem.cuh"

namespace SKDE_NAMESPACE {

// The code of a feasible point is its value, clipped to +-LARGEST. Codes of infeasible points begin above it and have
// the order of the violations, which are clipped to [CLOSEST, FARTHEST] and multiplied by SCALE. A feasible point with the
// value NaN or infinity has the code of the largest violation. Codes are computed in double, because float has too small
// a range.
constexpr double LARGEST = 0x1p200, CLOSEST = 0x1p-390, FARTHEST = 0x1p390, SCALE = 0x1p600;

SKDE_FN double by_rules(double f, double violation) {
  const double value = f < infinity() ? max_of(min_of(f, LARGEST), -LARGEST) : FARTHEST * SCALE;
  const double distance = max_of(min_of(violation, FARTHEST), CLOSEST) * SCALE;
  return violation > 0 ? distance : value;
}

// The violation: the sum of the g_i above the tolerance and of the excesses |h_j| - tolerance; infinite if one of them is
// not finite. f does not count. at(k) returns f, g and h in this order.
template <class At> SKDE_FN double violation(At at, int inequalities, int equalities, double tolerance) {
  double sum = 0;
  bool finite = true;
  for (int k = 1; k <= inequalities + equalities; ++k) {
    const double value = double(at(k));
    const double excess = k <= inequalities ? value : abs_of(value) - tolerance;
    sum += excess > (k <= inequalities ? tolerance : 0.0) ? excess : 0.0;
    finite = finite && value - value == 0.0;
  }
  return finite ? sum : infinity();
}

// The codes of a constrained problem P as an objective. data: the tolerance, then the data of P. Every lane computes
// all values, because problems are small.
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

// One of the values f, g_1, ... of P as an objective. data: the number of the value, then the data of P.
template <class P> struct Component {
  static constexpr int scratch = 0;
  template <class Team, class real> SKDE_FN real operator()(Team&, const real* x, int d, const Data<real>& data) const {
    real values[1 + P::inequalities + P::equalities];
    P::values(x, d, data.from(1), values);
    return values[int(data.array[0][0])];
  }
};

}  // namespace SKDE_NAMESPACE

// The names of both objectives.
#define SKDE_CONSTRAINED_PROBLEM(P) \
  using Feasible##P = Feasible<P>;  \
  using Component##P = Component<P>;
