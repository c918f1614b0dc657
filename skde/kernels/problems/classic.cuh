// Functions of several suites, and functions outside the suites.
#pragma once
#include "problems/problem.cuh"

namespace SKDE_NAMESPACE {

template <class real> SKDE_FN real square(real a) { return a * a; }

// Base at z = x - o + offset; data: o, then the data of Base.
template <class Base, int offset = 0> struct Shifted : OnePoint<Shifted<Base, offset>> {
  static constexpr int scratch = 1 + Base::scratch;
  static constexpr int repeated = repeated_vectors<Base> > 0 ? 1 + repeated_vectors<Base> : 0;
  template <int m, class Team, class real>
  SKDE_FN real values(Team& team, const real* x, int d, const Data<real>& data) const {
    real* const z = team.scratch;
    const real* const o = data.array[0];
    team.each(d, [&](int j) {
      SKDE_UNROLL
      for (int p = 0; p < m; ++p) z[p * d + j] = x[p * d + j] - o[j] + real(offset);
    });
    team.sync();
    team.scratch += m * d;
    const real f = values_of<m>(Base{}, team, z, d, data.from(1));
    team.scratch -= m * d;
    return f;
  }
};

// Base at M x; data: M by columns, then the data of Base.
template <class Base> struct Rotated : OnePoint<Rotated<Base>> {
  static constexpr int scratch = 1 + Base::scratch, repeated = 1 + repeated_vectors<Base>;
  template <int m, class Team, class real>
  SKDE_FN real values(Team& team, const real* x, int d, const Data<real>& data) const {
    real* const y = team.scratch;
    team.template multiply<m>(data.array[0], x, y, d);
    team.sync();
    team.scratch += m * d;
    const real f = values_of<m>(Base{}, team, y, d, data.from(1));
    team.scratch -= m * d;
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
