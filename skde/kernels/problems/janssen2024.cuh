// The ten functions of Janssen and others, 2024, chosen from the competitions CEC 2014 and CEC 2017, as the
// competitions' programs compute them but without bias. z = M (x - o); every base function is taken at scale z +
// offset, which maps the common box [-100, 100] to its domain.
#pragma once
#include "problems/nashed2012.cuh"
#include "random/distributions.cuh"

namespace SKDE_NAMESPACE {

// z_0^2 + 1e6 sum_{j>0} z_j^2
struct BentCigar {
  static constexpr int scratch = 0;
  template <class Team, class real> SKDE_FN real operator()(Team& team, const real* x, int d, const Data<real>&) const {
    return team.sum(d, [&](int j) { return j == 0 ? x[j] * x[j] : real(1e6) * (x[j] * x[j]); });
  }
};

// r and s, the sums of x_j^2 and of x_j, and the end (r / 2 + s) / d + 1/2 of the two functions that follow.
template <class Team, class real> struct SquaresAndSum {
  real squares, sum, end;
  SKDE_FN SquaresAndSum(Team& team, const real* x, int d)
      : squares(team.sum(d, [&](int j) { return x[j] * x[j]; })),
        sum(team.sum(d, [&](int j) { return x[j]; })),
        end((real(0.5) * squares + sum) / real(d) + real(0.5)) {}
};

// |r - d|^(1/4) + (r / 2 + s) / d + 1/2
struct HappyCat {
  static constexpr int scratch = 0;
  template <class Team, class real> SKDE_FN real operator()(Team& team, const real* x, int d, const Data<real>&) const {
    const SquaresAndSum<Team, real> of(team, x, d);
    return sqrt(sqrt(abs_of(of.squares - real(d)))) + of.end;
  }
};

// |r^2 - s^2|^(1/2) + (r / 2 + s) / d + 1/2
struct HGBat {
  static constexpr int scratch = 0;
  template <class Team, class real> SKDE_FN real operator()(Team& team, const real* x, int d, const Data<real>&) const {
    const SquaresAndSum<Team, real> of(team, x, d);
    return sqrt(abs_of(square(of.squares) - square(of.sum))) + of.end;
  }
};

// 418.98... d - sum g(x_j): g(t) = t sin sqrt |t| for |t| <= 500; beyond,
// sign(t) m sin sqrt m - ((|t| - 500) / 100)^2 / d with m = 500 - (|t| mod 500).
struct ModifiedSchwefel {
  static constexpr int scratch = 0;
  template <class Team, class real> SKDE_FN real operator()(Team& team, const real* x, int d, const Data<real>&) const {
    constexpr real edge = 500;
    return real(418.9828872724338) * real(d) - team.sum(d, [&](int j) {
      const real t = x[j], a = abs_of(t), beyond = max_of(a - edge, real(0)) / real(100);
      // The quotient may be rounded to the next whole number; the rest is exact.
      const real near = a - edge * floor(a / edge);
      const real rest = near < real(0) ? near + edge : near;
      const real m = a <= edge ? a : edge - rest;
      const real wave = m * sin(sqrt(m));
      return (t < real(0) ? -wave : wave) - beyond * beyond / real(d);
    });
  }
};

// 10 / d^2 (prod_j (1 + (j + 1) sum_k |2^k x_j - round(2^k x_j)| 2^-k)^(10 / d^1.2) - 1); data: 10 / d^1.2. The
// logarithms of many factors have a sum where the factors' product would overflow.
struct RootKatsuura {
  static constexpr int scratch = 0;
  template <class Team, class real>
  SKDE_FN real operator()(Team& team, const real* x, int d, const Data<real>& data) const {
    const real logarithm = team.sum(d, [&](int j) { return real(log(double(katsuura_factor(x[j], j)))); });
    const real height = real(10) / (real(d) * real(d));
    return height * exp(data.array[0][0] * logarithm) - height;
  }
};

// The map of z to a base function's domain, and the number of the base function's arrays.
template <class Base> struct Domain {
  static constexpr double scale = 1, offset = 0;
  static constexpr int arrays = 0;
};
#define SKDE_DOMAIN(Base, scale_, offset_, arrays_)           \
  template <> struct Domain<Base> {                           \
    static constexpr double scale = scale_, offset = offset_; \
    static constexpr int arrays = arrays_;                    \
  };
SKDE_DOMAIN(Zakharov, 1, 0, 1)
SKDE_DOMAIN(WeightedSphere, 1, 0, 1)
SKDE_DOMAIN(Rosenbrock, 2.048 / 100, 1, 0)
SKDE_DOMAIN(Rastrigin, 5.12 / 100, 0, 0)
SKDE_DOMAIN(ModifiedSchwefel, 10, 420.9687462275036, 0)
SKDE_DOMAIN(Griewank, 6, 0, 1)
SKDE_DOMAIN(RootKatsuura, 0.05, 0, 1)
SKDE_DOMAIN(HappyCat, 0.05, -1, 0)
SKDE_DOMAIN(HGBat, 0.05, -1, 0)
SKDE_DOMAIN(GriewankRosenbrock, 0.05, 1, 0)
#undef SKDE_DOMAIN

// Base at scale x + offset; data: that of Base.
template <class Base> struct Scaled {
  static constexpr bool same = Domain<Base>::scale == 1 && Domain<Base>::offset == 0;
  static constexpr int scratch = (same ? 0 : 1) + Base::scratch;
  template <class Team, class real>
  SKDE_FN real operator()(Team& team, const real* x, int d, const Data<real>& data) const {
    if constexpr (same) {
      return Base{}(team, x, d, data);
    } else {
      constexpr real scale = real(Domain<Base>::scale), offset = real(Domain<Base>::offset);
      real* const y = team.scratch;
      team.each(d, [&](int j) { y[j] = scale * x[j] + offset; });
      team.sync();
      team.scratch += d;
      const real f = Base{}(team, y, d, data);
      team.scratch -= d;
      return f;
    }
  }
};

// The sum of base functions, each at a block of neighbouring components; data: the blocks' lengths, then the data
// of each base function.
template <class... Bases> struct Blocks {
  static constexpr int scratch = 1 + (Bases::scratch + ...);
  template <class Team, class real>
  SKDE_FN real operator()(Team& team, const real* x, int, const Data<real>& data) const {
    return from<Bases...>(team, x, data.array[0], data.from(1));
  }

 private:
  template <class Base, class... Rest, class Team, class real>
  SKDE_FN static real from(Team& team, const real* x, const real* length, const Data<real>& data) {
    const int n = int(length[0]);
    const real f = Outlined<Scaled<Base>>{}(team, x, n, data);
    if constexpr (sizeof...(Rest) == 0) {
      return f;
    } else {
      // Lanes may still read the scaled components of this block.
      team.scratch += n;
      const real others = from<Rest...>(team, x + n, length + 1, data.from(Domain<Base>::arrays));
      team.scratch -= n;
      return f + others;
    }
  }
};

template <class Base> using Transformed = Shifted<Rotated<Scaled<Base>>>;

// sum w_k (lambda_k g_k + b_k) / sum w_k, g_k = base function k at M_k (x - o_k),
// w_k = exp(-r_k / (2 d sigma_k^2)) / sqrt(r_k), r_k = |x - o_k|^2; at o_k it is lambda_k g_k + b_k. data: all o_k; all
// M_k, each by columns; 1 / (2 d sigma_k^2), lambda_k and b_k of every k; then the data of each base function.
template <class... Bases> struct Composition : OnePoint<Composition<Bases...>> {
  static constexpr int many = sizeof...(Bases);
  static constexpr int scratch = 3 + (Bases::scratch + ...);  // x - o_k, its image, and that at scale and offset
  static constexpr int repeated = 2;

  template <int m, class Team, class real>
  SKDE_FN real values(Team& team, const real* x, int d, const Data<real>& data) const {
    Several<real, many> height, distance;
    add<m, 0, Bases...>(team, x, d, data, data.from(3), height, distance);
    return mean(height, distance, data.array[2]);
  }

 private:
  template <int m, int k, class Base, class... Rest, class Team, class real>
  SKDE_FN static void add(Team& team, const real* x, int d, const Data<real>& data, const Data<real>& bases,
                          Several<real, many>& height, Several<real, many>& distance) {
    const real* const o = data.array[0] + k * d;
    Data<real> own = bases;
    for (int n = 2; n < MAX_ARRAYS; ++n) own.array[n] = bases.array[n - 2], own.size[n] = bases.size[n - 2];
    own.array[0] = o, own.array[1] = data.array[1] + i64(k) * d * d;
    const real* const constants = data.array[2] + 3 * k;
    distance.of[k] =
        one_by_one<m>(team, [&](int p) { return team.sum(d, [&](int j) { return square(x[p * d + j] - o[j]); }); });
    height.of[k] = constants[1] * Outlined<Transformed<Base>>{}.template values<m>(team, x, d, own) + constants[2];
    if constexpr (sizeof...(Rest) > 0)
      add<m, k + 1, Rest...>(team, x, d, data, bases.from(Domain<Base>::arrays), height, distance);
  }

  // The largest exponent is taken from all, since exp would underflow in float32.
  template <class real>
  SKDE_FN static real mean(const Several<real, many>& height, const Several<real, many>& distance,
                           const real* constants) {
    real largest = -real(infinity());
    bool inside = false;  // at one of the o_k
    SKDE_UNROLL
    for (int k = 0; k < many; ++k) {
      largest = max_of(largest, -distance.of[k] * constants[3 * k]);
      inside |= distance.of[k] == real(0);
    }
    real weights = 0, sum = 0;
    SKDE_UNROLL
    for (int k = 0; k < many; ++k) {
      const real r = distance.of[k];
      const real weight = inside ? real(r == real(0)) : exp(-r * constants[3 * k] - largest) / sqrt(r);
      weights += weight;
      sum += weight * height.of[k];
    }
    return sum / weights;
  }
};

// The rows of a hybrid's matrix are in the order of its permutation.
template <class... Bases> using Hybrid = Shifted<Rotated<Blocks<Bases...>>>;

using Janssen1 = Transformed<Zakharov>;
using Janssen2 = Outlined<Transformed<Rosenbrock>>;
using Janssen3 = Outlined<Transformed<Rastrigin>>;
using Janssen4 = Outlined<Transformed<ModifiedSchwefel>>;
using Janssen5 = Hybrid<BentCigar, HGBat, Rastrigin>;
using Janssen6 = Hybrid<ScafferF6, HGBat, Rosenbrock, ModifiedSchwefel>;
using Janssen7 = Hybrid<RootKatsuura, HappyCat, GriewankRosenbrock, ModifiedSchwefel, Ackley>;
using Janssen8 = Composition<Rastrigin, Griewank, ModifiedSchwefel>;
using Janssen9 = Composition<Ackley, WeightedSphere, Griewank, Rastrigin>;
using Janssen10 = Composition<ScafferF6, ModifiedSchwefel, Griewank, Rosenbrock, Rastrigin>;

}  // namespace SKDE_NAMESPACE

#define SKDE_JANSSEN2024(P)   \
  P(janssen2024_F1, Janssen1) \
  P(janssen2024_F2, Janssen2) \
  P(janssen2024_F3, Janssen3) \
  P(janssen2024_F4, Janssen4) \
  P(janssen2024_F5, Janssen5) \
  P(janssen2024_F6, Janssen6) \
  P(janssen2024_F7, Janssen7) \
  P(janssen2024_F8, Janssen8) \
  P(janssen2024_F9, Janssen9) \
  P(janssen2024_F10, Janssen10)
