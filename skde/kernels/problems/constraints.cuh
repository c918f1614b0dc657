// Constrained problems, g(x) <= 0 and h(x) = 0, as objectives with one value: the code of the feasibility rules (K.
// Deb, 2000). The order of codes is that of the rules, so selection does not depend on constraints.
//
// Python computes and reads the same codes (skde/objectives/feasibility.py).
#pragma once
#include "problems/problem.cuh"

namespace SKDE_NAMESPACE {

// The code of a feasible point is its value up to EXACT; larger values lie closer to each other, below LARGEST. Codes of
// infeasible points begin above it and have the order of the violations: these times SCALE between CLOSEST and FARTHEST,
// and closer to each other outside. A feasible point with the value NaN or infinity has the code WORST, as one with an
// infinite violation. Codes are computed in double, because float has too small a range.
constexpr double EXACT = 0x1p200, LARGEST = 0x1p204, CLOSEST = 0x1p-390, FARTHEST = 0x1p380, SCALE = 0x1p600;
constexpr double WORST = 0x1p990, MOST = 0x1.fffffffffffffp1023;
// Exponents of numbers from EXACT, from FARTHEST up, and from CLOSEST down are divided by these powers of two.
constexpr int VALUE_SHIFT = 8, FAR_SHIFT = 7, CLOSE_SHIFT = 7;

// The number that is as far from `to` as a number > 0 is from `from`, in steps of neighbours, divided by 2^shift.
SKDE_FN double shrunk(double value, double from, double to, int shift) {
  return bits_as<double>(bits_as<i64>(to) + ((bits_as<i64>(value) - bits_as<i64>(from)) >> shift));
}

SKDE_FN double by_rules(double f, double violation) {
  if (violation > 0) {
    if (violation > MOST) return WORST;
    if (violation > FARTHEST) return shrunk(violation, FARTHEST, FARTHEST * SCALE, FAR_SHIFT);
    return violation < CLOSEST ? shrunk(violation, CLOSEST, CLOSEST * SCALE, CLOSE_SHIFT) : violation * SCALE;
  }
  if (f > EXACT && f <= MOST) return shrunk(f, EXACT, EXACT, VALUE_SHIFT);
  return f <= EXACT ? f : WORST;
}

// The violation: the sum of the g_i above the tolerance and of the excesses |h_j| - tolerance; infinite if one of them is
// not finite, else at most MOST. f does not count. at(k) returns f, g and h in this order.
template <class At> SKDE_FN double violation(At at, int inequalities, int equalities, double tolerance) {
  double sum = 0;
  bool finite = true;
  for (int k = 1; k <= inequalities + equalities; ++k) {
    const double value = double(at(k));
    const double excess = k <= inequalities ? value : abs_of(value) - tolerance;
    sum += excess > (k <= inequalities ? tolerance : 0.0) ? excess : 0.0;
    finite = finite && value - value == 0.0;
  }
  return finite ? min_of(sum, MOST) : infinity();
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
