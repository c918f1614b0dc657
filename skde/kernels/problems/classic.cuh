// Functions of several suites, and functions outside the suites.
#pragma once
#include "problems/problem.cuh"

namespace SKDE_NAMESPACE {

template <class real> SKDE_FN real square(real a) { return a * a; }

// Base at z = x - o + offset; data: o, then the data of Base.
template <class Base, int offset = 0> struct Shifted {
  static constexpr int scratch = 1 + Base::scratch;
  template <class Team, class real>
  SKDE_FN real operator()(Team& team, const real* x, int d, const Data<real>& data) const {
    real* const z = team.scratch;
    const real* const o = data.array[0];
    team.each(d, [&](int j) { z[j] = x[j] - o[j] + real(offset); });
    team.sync();
    team.scratch += d;
    const real f = Base{}(team, z, d, data.from(1));
    team.scratch -= d;
    return f;
  }
};

// Base at M x; data: M by columns, then the data of Base.
template <class Base> struct Rotated {
  static constexpr int scratch = 1 + Base::scratch;
  template <class Team, class real>
  SKDE_FN real operator()(Team& team, const real* x, int d, const Data<real>& data) const {
    real* const y = team.scratch;
    team.multiply(data.array[0], x, y, d);
    team.sync();
    team.scratch += d;
    const real f = Base{}(team, y, d, data.from(1));
    team.scratch -= d;
    return f;
  }
};

// sum x_j^2
struct Sphere {
  static constexpr int scratch = 0;
  template <class Team, class real> SKDE_FN real operator()(Team& team, const real* x, int d, const Data<real>&) const {
    return team.sum(d, [&](int j) { return x[j] * x[j]; });
  }
};

// sum x_j^2 - 10 cos(2 pi x_j) + 10
struct Rastrigin {
  static constexpr int scratch = 0;
  template <class Team, class real> SKDE_FN real operator()(Team& team, const real* x, int d, const Data<real>&) const {
    return team.sum(
        d, [&](int j) { return x[j] * x[j] - real(10) * cos(real(2) * Constants<real>::pi * x[j]) + real(10); });
  }
};

// sum 100 (x_{j+1} - x_j^2)^2 + (1 - x_j)^2
struct Rosenbrock {
  static constexpr int scratch = 0;
  template <class Team, class real> SKDE_FN real operator()(Team& team, const real* x, int d, const Data<real>&) const {
    return team.sum(d - 1, [&](int j) { return real(100) * square(x[j + 1] - x[j] * x[j]) + square(real(1) - x[j]); });
  }
};

// sum x_j^2 / 4000 - prod cos(x_j / r_j) + 1; data: r_j = sqrt(j + 1)
struct Griewank {
  static constexpr int scratch = 0;
  template <class Team, class real>
  SKDE_FN real operator()(Team& team, const real* x, int d, const Data<real>& data) const {
    const real* const r = data.array[0];
    const real squares = team.sum(d, [&](int j) { return x[j] * x[j]; });
    const real cosines = team.prod(d, [&](int j) { return cos(x[j] / r[j]); });
    return squares / real(4000) - cosines + real(1);
  }
};

}  // namespace SKDE_NAMESPACE
