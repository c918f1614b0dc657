// The 19 functions of Wang, Rahnamayan and Wu, Parallel differential evolution with self-adapting control parameters
// and generalized opposition-based learning (JPDC 2013, Table 1): those of the special issue of Soft Computing on large
// scale continuous optimization (SOCO 2011). data: the shift, then the base's.
#pragma once
#include "problems/nashed2012.cuh"

namespace SKDE_NAMESPACE {

// Base + value
template <class Base, int value> struct Biased {
  static constexpr int scratch = Base::scratch;
  template <class Team, class real>
  SKDE_FN real operator()(Team& team, const real* x, int d, const Data<real>& data) const {
    return Base{}(team, x, d, data) + real(value);
  }
};

// F2: max |x_j|
struct Schwefel221 {
  static constexpr int scratch = 0;
  template <class Team, class real> SKDE_FN real operator()(Team& team, const real* x, int d, const Data<real>&) const {
    return team.max(d, [&](int j) { return abs_of(x[j]); });
  }
};

// f10(a, b) = s^0.25 (sin^2(50 s^0.1) + 1), s = a^2 + b^2
template <class real> SKDE_FN real f10_of(real a, real b) {
  const real s = a * a + b * b;
  return sqrt(sqrt(s)) * (square(sin(real(50) * exp(real(0.1) * log(s)))) + real(1));
}

// F9: sum_j f10(x_j, x_{j+1}), cyclic
struct ExtendedF10 {
  static constexpr int scratch = 0;
  template <class Team, class real> SKDE_FN real operator()(Team& team, const real* x, int d, const Data<real>&) const {
    return team.sum(d, [&](int j) SKDE_INLINED { return f10_of(x[j], x[next_on_circle(j, d)]); });
  }
};

// F10: sum_{j<d-1} x_j^2 + 2 x_{j+1}^2 - 0.3 cos(3 pi x_j) - 0.4 cos(4 pi x_{j+1}) + 0.7
struct Bohachevsky {
  static constexpr int scratch = 0;
  template <class Team, class real> SKDE_FN real operator()(Team& team, const real* x, int d, const Data<real>&) const {
    constexpr real pi = Constants<real>::pi, one = 1;
    return team.sum(d - 1, [&](int j) SKDE_INLINED {
      const real a = x[j], b = x[j + 1];
      return a * a + real(2) * (b * b) + real(0.3) * (one - cos(real(3) * pi * a)) +
             real(0.4) * (one - cos(real(4) * pi * b));
    });
  }
};

// F11: sum_{j<d-1} f10(x_j, x_{j+1})
struct SchafferF7 {
  static constexpr int scratch = 0;
  template <class Team, class real> SKDE_FN real operator()(Team& team, const real* x, int d, const Data<real>&) const {
    return team.sum(d - 1, [&](int j) SKDE_INLINED { return f10_of(x[j], x[j + 1]); });
  }
};

// F12 ... F19: First of some components plus Second of the others. With q = floor(d min(m, 1 - m)), m = quarters / 4,
// First has x_0, x_2, ... x_{2q-2} and Second x_1, x_3, ... x_{2q-1}; the larger part also has the rest, in its order.
// Second is taken at x - o + offset. data: o in the order of the parts. A part without components is 0.
template <class First, class Second, int quarters, int offset = 0> struct Interleaved {
  static_assert(First::scratch + Second::scratch == 0, "parts have no room for vectors");
  static constexpr int scratch = 1;

  template <class Team, class real>
  SKDE_FN real operator()(Team& team, const real* x, int d, const Data<real>& data) const {
    constexpr bool rest_is_first = quarters > 2;
    const int q = int(i64(d) * (rest_is_first ? 4 - quarters : quarters) / 4);
    const int n_first = rest_is_first ? d - q : q, n_second = d - n_first;
    real *const first = team.scratch, *const second = first + n_first;
    const real *const o_first = data.array[0], *const o_second = o_first + n_first;
    team.each(q, [&](int j) {
      first[j] = x[2 * j] - o_first[j];
      second[j] = x[2 * j + 1] - o_second[j] + real(offset);
    });
    real* const rest = (rest_is_first ? first : second) + q;
    const real* const o_rest = (rest_is_first ? o_first : o_second) + q;
    team.each(d - 2 * q, [&](int j) { rest[j] = x[2 * q + j] - o_rest[j] + real(rest_is_first ? 0 : offset); });
    team.sync();
    const real f = n_first > 0 ? Outlined<First>{}(team, first, n_first, data.from(1)) : real(0);
    return f + (n_second > 0 ? Outlined<Second>{}(team, second, n_second, data.from(1)) : real(0));
  }
};

using WangF1 = Biased<Shifted<Sphere>, -450>;
using WangF2 = Biased<Shifted<Schwefel221>, -450>;
using WangF3 = Biased<Shifted<Rosenbrock, 1>, 390>;
using WangF4 = Biased<Shifted<Rastrigin>, -330>;
using WangF5 = Biased<Shifted<Griewank>, -180>;
using WangF6 = Biased<Shifted<Ackley>, -140>;
using WangF7 = Shifted<Schwefel222>;
using WangF8 = Shifted<Schwefel12>;
using WangF9 = Shifted<Outlined<ExtendedF10>>;
using WangF10 = Shifted<Bohachevsky>;
using WangF11 = Shifted<SchafferF7>;
using WangF12 = Interleaved<ExtendedF10, Sphere, 1>;
using WangF13 = Interleaved<ExtendedF10, Rosenbrock, 1, 1>;
using WangF14 = Interleaved<ExtendedF10, Rastrigin, 1>;
using WangF15 = Interleaved<Bohachevsky, Schwefel222, 1>;
using WangF16 = Interleaved<ExtendedF10, Sphere, 2>;
using WangF17 = Interleaved<ExtendedF10, Rosenbrock, 3, 1>;
using WangF18 = Interleaved<ExtendedF10, Rastrigin, 3>;
using WangF19 = Interleaved<Bohachevsky, Schwefel222, 3>;

}  // namespace SKDE_NAMESPACE

#define SKDE_WANG2012(P)   \
  P(wang2012_F1, WangF1)   \
  P(wang2012_F2, WangF2)   \
  P(wang2012_F3, WangF3)   \
  P(wang2012_F4, WangF4)   \
  P(wang2012_F5, WangF5)   \
  P(wang2012_F6, WangF6)   \
  P(wang2012_F7, WangF7)   \
  P(wang2012_F8, WangF8)   \
  P(wang2012_F9, WangF9)   \
  P(wang2012_F10, WangF10) \
  P(wang2012_F11, WangF11) \
  P(wang2012_F12, WangF12) \
  P(wang2012_F13, WangF13) \
  P(wang2012_F14, WangF14) \
  P(wang2012_F15, WangF15) \
  P(wang2012_F16, WangF16) \
  P(wang2012_F17, WangF17) \
  P(wang2012_F18, WangF18) \
  P(wang2012_F19, WangF19)
