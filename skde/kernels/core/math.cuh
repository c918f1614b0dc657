// sin, cos, exp, log and rounding that vectorise on any processor and give the same bits on every one of them: only
// additions, multiplications, divisions and bit operations, none of them contracted. The functions of C libraries
// differ in the last bit, between machines and between vector widths.
//
// Errors: below 2 units in the last place for |x| <= 1e6 (sin, cos; the absolute error counts near their zeros), and
// for every x (exp). Coefficients: Chebyshev fits computed in 50 digits.
#pragma once
#include "core/portable.cuh"

namespace SKDE_NAMESPACE {

template <class real> struct Constants;

template <> struct Constants<double> {
  using bits = u64;
  static constexpr double pi = 3.141592653589793, e = 2.718281828459045;
  static constexpr double magic = 0x1.8p52;  // x + magic - magic rounds x to the nearest integer
  static constexpr int mantissa = 52, bias = 1023;
  static constexpr double inverse_pi = 0x1.45f306dc9c883p-2, inverse_ln2 = 0x1.71547652b82fep+0;
  static constexpr double pi_1 = 0x1.921fb54p+1, pi_2 = 0x1.10b46118p-29, pi_3 = 0x1.313198a2e037p-60;
  static constexpr double ln2_1 = 0x1.62e42fefa2p-1, ln2_2 = 0x1.9ef35793c7673p-41;
  static constexpr double exp_min = -745.2, exp_max = 709.79;
};

template <> struct Constants<float> {
  using bits = u32;
  static constexpr float pi = 3.14159274f, e = 2.71828183f;
  static constexpr float magic = 0x1.8p23f;
  static constexpr int mantissa = 23, bias = 127;
  static constexpr float inverse_pi = 0.318309886f, inverse_ln2 = 1.44269504f;
  static constexpr float pi_1 = 0x1.92p+1f, pi_2 = 0x1.fbp-11f, pi_3 = 0x1.5110b4p-21f;
  static constexpr float ln2_1 = 0x1.62ep-1f, ln2_2 = 0x1.0bfbe8p-15f;
  static constexpr float exp_min = -103.98f, exp_max = 88.73f;
};

// a[0] + s a[1] + s^2 a[2] + ...
template <class real> SKDE_FN real polynomial(real, real a0) { return a0; }
template <class real, class... Rest> SKDE_FN real polynomial(real s, real a0, Rest... rest) {
  return a0 + s * polynomial(s, rest...);
}

// (sin r - r) / r^3 and (exp r - 1 - r) / r^2 on the reduced ranges [-pi/2, pi/2] and [-ln2/2, ln2/2]; s = r^2.
SKDE_FN double sin_tail(double s) {
  return polynomial(s, -0x1.5555555555555p-3, 0x1.1111111111111p-7, -0x1.a01a01a01a00dp-13, 0x1.71de3a556b9b6p-19,
                    -0x1.ae64567e733aep-26, 0x1.612460b6aad31p-33, -0x1.ae7ee3a7c2b4dp-41, 0x1.9507ff13b41a0p-49,
                    -0x1.275f302c95623p-57);
}
SKDE_FN float sin_tail(float s) {
  return polynomial(s, -0.16666666663881208f, 0.008333332768749094f, -0.0001984108656038934f, 2.7536463480200067e-06f,
                    -2.408018852604816e-08f);
}
SKDE_FN double exp_tail(double r) {
  return polynomial(r, 0x1.0000000000000p-1, 0x1.5555555555557p-3, 0x1.5555555555556p-5, 0x1.11111111100dfp-7,
                    0x1.6c16c16c162d6p-10, 0x1.a01a01abe6327p-13, 0x1.a01a01a6d7833p-16, 0x1.71de0237479e4p-19,
                    0x1.27e4db67abc75p-22, 0x1.af4ddda32bea9p-26, 0x1.1f72fc848c527p-29);
}
SKDE_FN float exp_tail(float r) {
  return polynomial(r, 0.5000000013457808f, 0.16666666681614345f, 0.04166646500523263f, 0.008333310934359203f,
                    0.0013933641121625462f, 0.00019890980969294606f);
}

// The nearest integer, halves to even, for |x| < 2^51 (2^22 for float).
template <class real> SKDE_FN real nearest(real x) { return (x + Constants<real>::magic) - Constants<real>::magic; }

namespace detail {
// sin(x + shift pi) for shift 0 or 1/2: x = (n - shift) pi + r, and the sign is (-1)^n.
template <class real> SKDE_FN real sine(real x, real shift) {
  using C = Constants<real>;
  using bits = typename C::bits;
  const real shifted = (x * C::inverse_pi + shift) + C::magic;  // its lowest bit is n's parity
  const real n = (shifted - C::magic) - shift;
  const real r = ((x - n * C::pi_1) - n * C::pi_2) - n * C::pi_3;
  const real s = r * r;
  const real value = max_of(min_of(r + r * s * sin_tail(s), real(1)), real(-1));
  const bits sign = bits_as<bits>(shifted) << (sizeof(real) * 8 - 1);
  return bits_as<real>(bits_as<bits>(value) ^ sign);
}
}  // namespace detail

template <class real> SKDE_FN real sin(real x) { return detail::sine(x, real(0)); }
template <class real> SKDE_FN real cos(real x) { return detail::sine(x, real(0.5)); }

template <class real> SKDE_FN real exp(real x) {
  using C = Constants<real>;
  using bits = typename C::bits;
  const real inside = x < C::exp_min ? C::exp_min : x > C::exp_max ? C::exp_max : x;
  const real k = nearest(inside * C::inverse_ln2);
  const real r = (inside - k * C::ln2_1) - k * C::ln2_2;
  const real mantissa = real(1) + (r + r * r * exp_tail(r));
  // 2^k in two factors, so that results below the normal range and the largest ones are reached.
  const real half = nearest(k * real(0.5)), other = k - half;
  const bits bias = bits(C::bias);
  const real scale_1 = bits_as<real>((bits_as<bits>(half + C::magic) + bias) << C::mantissa);
  const real scale_2 = bits_as<real>((bits_as<bits>(other + C::magic) + bias) << C::mantissa);
  const real value = mantissa * scale_1 * scale_2;
  return x > C::exp_max ? real(infinity()) : x < C::exp_min ? real(0) : x != x ? x : value;
}

// log x for normal positive x: x = 2^k m with m in [sqrt(1/2), sqrt 2), and log m = 2 (s + s^3/3 + s^5/5 + ...) with
// s = (m - 1) / (m + 1).
SKDE_FN double log(double x) {
  constexpr u64 root_half = 0x3fe6a09e667f3bcdull, bias = 1024;
  // k + 1024 is positive, so a double comes from its bits after those of 2^52. That vectorises also where the conversion
  // of 64-bit integers does not.
  const u64 biased = (bits_as<u64>(x) - root_half + (bias << 52)) >> 52;
  const double k = bits_as<double>(biased | bits_as<u64>(0x1p52)) - (0x1p52 + double(bias));
  const double m = bits_as<double>(bits_as<u64>(x) - ((biased - bias) << 52));
  const double s = (m - 1.0) / (m + 1.0), t = s * s;
  const double tail =
      polynomial(t, 1.0 / 3, 1.0 / 5, 1.0 / 7, 1.0 / 9, 1.0 / 11, 1.0 / 13, 1.0 / 15, 1.0 / 17, 1.0 / 19, 1.0 / 21);
  using C = Constants<double>;
  return k * C::ln2_1 + (2.0 * s + (2.0 * s * t * tail + k * C::ln2_2));
}
SKDE_FN float log(float x) {
  constexpr u32 root_half = 0x3f3504f3u;
  const int k = int(bits_as<u32>(x) - root_half) >> 23;
  const float m = bits_as<float>(bits_as<u32>(x) - (u32(k) << 23));
  const float s = (m - 1.0f) / (m + 1.0f), t = s * s;
  using C = Constants<float>;
  const float tail = polynomial(t, 1.0f / 3, 1.0f / 5, 1.0f / 7, 1.0f / 9);
  return float(k) * C::ln2_1 + (2.0f * s + (2.0f * s * t * tail + float(k) * C::ln2_2));
}

// sqrt and floor are rounded correctly on the CPU and on the GPU.
#ifdef __CUDACC__
SKDE_FN double sqrt(double x) { return __dsqrt_rn(x); }
SKDE_FN float sqrt(float x) { return __fsqrt_rn(x); }
SKDE_FN double floor(double x) { return ::floor(x); }
SKDE_FN float floor(float x) { return ::floorf(x); }
#else
SKDE_FN double sqrt(double x) { return __builtin_sqrt(x); }
SKDE_FN float sqrt(float x) { return __builtin_sqrtf(x); }
SKDE_FN double floor(double x) { return __builtin_floor(x); }
SKDE_FN float floor(float x) { return __builtin_floorf(x); }
#endif

}  // namespace SKDE_NAMESPACE
