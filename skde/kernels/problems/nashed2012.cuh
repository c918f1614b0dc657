// The 20 functions of Nashed and others, A comparative study of three GPU-based metaheuristics (PPSN 2012, Table 3), in
// their corrected form; j counts from 0. Numbers that depend only on the index (weights, roots) are data.
#pragma once
#include "problems/classic.cuh"

namespace SKDE_NAMESPACE {

// f1, f2, f3: sum w_j x_j^2; data: w
struct WeightedSphere {
  static constexpr int scratch = 0;
  template <class Team, class real>
  SKDE_FN real operator()(Team& team, const real* x, int d, const Data<real>& data) const {
    const real* const w = data.array[0];
    return team.sum(d, [&](int j) { return w[j] * (x[j] * x[j]); });
  }
};

// f4: sum |x_j| + prod |x_j|
struct Schwefel222 {
  static constexpr int scratch = 0;
  template <class Team, class real> SKDE_FN real operator()(Team& team, const real* x, int d, const Data<real>&) const {
    const real sum = team.sum(d, [&](int j) { return abs_of(x[j]); });
    return sum + team.prod(d, [&](int j) { return abs_of(x[j]); });
  }
};

// f5: sum x_j^2 + s^2 + s^4, s = sum w_j x_j; data: w_j = (j + 1) / 2
struct Zakharov {
  static constexpr int scratch = 0;
  template <class Team, class real>
  SKDE_FN real operator()(Team& team, const real* x, int d, const Data<real>& data) const {
    const real* const w = data.array[0];
    const real squares = team.sum(d, [&](int j) { return x[j] * x[j]; });
    const real s2 = square(team.sum(d, [&](int j) { return w[j] * x[j]; }));
    return squares + s2 + s2 * s2;
  }
};

// f6: sum_j (x_0 + ... + x_j)^2. In every step the prefix sums have twice as many terms.
struct Schwefel12 {
  static constexpr int scratch = 2;
  template <class Team, class real> SKDE_FN real operator()(Team& team, const real* x, int d, const Data<real>&) const {
    const real* prefix = x;
    real *next = team.scratch, *other = team.scratch + d;
    for (int reach = 1; reach < d; reach *= 2) {
      team.each(d, [&](int j) { next[j] = j < reach ? prefix[j] : prefix[j] + prefix[j - reach]; });
      team.sync();
      prefix = next;
      next = other;
      other = const_cast<real*>(prefix);
    }
    return team.sum(d, [&](int j) { return prefix[j] * prefix[j]; });
  }
};

// f7: max_i |(A x)_i - B_i|; data: A by columns, B
struct Schwefel26 {
  static constexpr int scratch = 1;
  template <class Team, class real>
  SKDE_FN real operator()(Team& team, const real* x, int d, const Data<real>& data) const {
    real* const y = team.scratch;
    const real* const B = data.array[1];
    team.multiply(data.array[0], x, y, d);
    return team.max(d, [&](int i) { return abs_of(y[i] - B[i]); });
  }
};

// f8: (x_0 - 1)^2 + sum_{j>=1} w_j (2 x_j^2 - x_{j-1})^2; data: w
struct DixonPrice {
  static constexpr int scratch = 0;
  template <class Team, class real>
  SKDE_FN real operator()(Team& team, const real* x, int d, const Data<real>& data) const {
    const real* const w = data.array[0];
    return square(x[0] - real(1)) +
           team.sum(d - 1, [&](int j) { return w[j + 1] * square(real(2) * (x[j + 1] * x[j + 1]) - x[j]); });
  }
};

// f10: 418.9829 d + sum x_j sin sqrt |x_j|
struct Schwefel226 {
  static constexpr int scratch = 0;
  template <class Team, class real> SKDE_FN real operator()(Team& team, const real* x, int d, const Data<real>&) const {
    return real(418.9829) * real(d) + team.sum(d, [&](int j) { return x[j] * sin(sqrt(abs_of(x[j]))); });
  }
};

// A factor of Katsuura's function: 1 + (j + 1) sum_{k=1}^{32} |2^k x - round(2^k x)| 2^-k
template <class real> SKDE_FN real katsuura_factor(real x, int j) {
  real sum = 0, power = 1, weight = 1;
  for (int k = 1; k <= 32; ++k) {
    power *= real(2);
    weight *= real(0.5);
    const real v = power * x;
    const real above = v - floor(v);  // exact, like the distance to the nearest integer
    sum += min_of(above, real(1) - above) * weight;
  }
  return real(1) + real(j + 1) * sum;
}

// f11: the product of the factors - 1
struct Katsuura {
  static constexpr int scratch = 0;
  template <class Team, class real> SKDE_FN real operator()(Team& team, const real* x, int d, const Data<real>&) const {
    return team.prod(d, [&](int j) { return katsuura_factor(x[j], j); }) - real(1);
  }
};

// f14: -20 exp(-0.2 sqrt(mean x_j^2)) - exp(mean cos(2 pi x_j)) + 20 + e
struct Ackley {
  static constexpr int scratch = 0;
  template <class Team, class real> SKDE_FN real operator()(Team& team, const real* x, int d, const Data<real>&) const {
    using C = Constants<real>;
    const real squares = team.sum(d, [&](int j) { return x[j] * x[j]; }) / real(d);
    const real cosines = team.sum(d, [&](int j) { return cos(real(2) * C::pi * x[j]); }) / real(d);
    return real(-20) * exp(real(-0.2) * sqrt(squares)) - exp(cosines) + real(20) + C::e;
  }
};

// The neighbour of component j on the circle of components.
SKDE_FN int next_on_circle(int j, int d) { return j + 1 == d ? 0 : j + 1; }

// f15: sum_j G(R(x_j, x_{j+1})), cyclic; R(a, b) = 100 (a^2 - b)^2 + (a - 1)^2, G(t) = t^2 / 4000 - cos t + 1
struct GriewankRosenbrock {
  static constexpr int scratch = 0;
  template <class Team, class real> SKDE_FN real operator()(Team& team, const real* x, int d, const Data<real>&) const {
    return team.sum(d, [&](int j) {
      const real a = x[j], b = x[next_on_circle(j, d)];
      const real t = real(100) * square(a * a - b) + square(a - real(1));
      return t * t / real(4000) - cos(t) + real(1);
    });
  }
};

// f16: sum_j 0.5 + (sin^2 sqrt(s) - 0.5) / (1 + 0.001 s)^2, s = x_j^2 + x_{j+1}^2, cyclic
struct ScafferF6 {
  static constexpr int scratch = 0;
  template <class Team, class real> SKDE_FN real operator()(Team& team, const real* x, int d, const Data<real>&) const {
    return team.sum(d, [&](int j) {
      const real s = square(x[j]) + square(x[next_on_circle(j, d)]);
      return real(0.5) + (square(sin(sqrt(s))) - real(0.5)) / square(real(1) + real(0.001) * s);
    });
  }
};

// f17: sum_i (A_i - B_i(x))^2, B_i(x) = sum_j a_ij sin x_j + b_ij cos x_j; data: a and b by columns, A
struct FletcherPowell {
  static constexpr int scratch = 4;
  template <class Team, class real>
  SKDE_FN real operator()(Team& team, const real* x, int d, const Data<real>& data) const {
    real *const s = team.scratch, *const c = s + d, *const p = c + d, *const q = p + d;
    const real* const A = data.array[2];
    team.each(d, [&](int j) { s[j] = sin(x[j]), c[j] = cos(x[j]); });
    team.sync();
    team.multiply(data.array[0], s, p, d);
    team.multiply(data.array[1], c, q, d);
    return team.sum(d, [&](int i) { return square(A[i] - (p[i] + q[i])); });
  }
};

// f18: 1 - cos(2 pi r) + 0.1 r, r = |x|
struct Salomon {
  static constexpr int scratch = 0;
  template <class Team, class real> SKDE_FN real operator()(Team& team, const real* x, int d, const Data<real>&) const {
    const real r = sqrt(team.sum(d, [&](int j) { return x[j] * x[j]; }));
    return real(1) - cos(real(2) * Constants<real>::pi * r) + real(0.1) * r;
  }
};

// f19: sin^2(pi y_0) + sum_{j<d-1} (y_j - 1)^2 (1 + 10 sin^2(pi y_j + 1)) +
// (y_{d-1} - 1)^2 (1 + c sin^2(2 pi y_{d-1})), y = 1 + (x - 1) / 4; data: c
struct Levy {
  static constexpr int scratch = 0;
  template <class Team, class real>
  SKDE_FN real operator()(Team& team, const real* x, int d, const Data<real>& data) const {
    constexpr real pi = Constants<real>::pi;
    const auto y = [&](int j) { return real(1) + (x[j] - real(1)) / real(4); };
    const real middle = team.sum(
        d - 1, [&](int j) { return square(y(j) - real(1)) * (real(1) + real(10) * square(sin(pi * y(j) + real(1)))); });
    const real c = data.array[0][0], last = y(d - 1);
    return square(sin(pi * y(0))) + middle + square(last - real(1)) * (real(1) + c * square(sin(real(2) * pi * last)));
  }
};

}  // namespace SKDE_NAMESPACE

#define SKDE_NASHED2012(P)              \
  P(nashed2012_f0, Sphere)              \
  P(nashed2012_f1, WeightedSphere)      \
  P(nashed2012_f2, WeightedSphere)      \
  P(nashed2012_f3, WeightedSphere)      \
  P(nashed2012_f4, Schwefel222)         \
  P(nashed2012_f5, Zakharov)            \
  P(nashed2012_f6, Schwefel12)          \
  P(nashed2012_f7, Schwefel26)          \
  P(nashed2012_f8, DixonPrice)          \
  P(nashed2012_f9, Rastrigin)           \
  P(nashed2012_f10, Schwefel226)        \
  P(nashed2012_f11, Katsuura)           \
  P(nashed2012_f12, Griewank)           \
  P(nashed2012_f13, Rosenbrock)         \
  P(nashed2012_f14, Ackley)             \
  P(nashed2012_f15, GriewankRosenbrock) \
  P(nashed2012_f16, ScafferF6)          \
  P(nashed2012_f17, FletcherPowell)     \
  P(nashed2012_f18, Salomon)            \
  P(nashed2012_f19, Levy)
