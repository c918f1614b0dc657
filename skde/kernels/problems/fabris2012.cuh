// The constrained problems P2 ... P6 of Fabris and Krohling, 2012, in corrected form.
//
//   struct Name {
//     static constexpr int inequalities = m, equalities = l;
//     template <class real> SKDE_FN static void values(const real* x, int d, const Data<real>& data, real* out);
//   };
//
// out: f, g_1 ... g_m (<= 0), h_1 ... h_l (= 0), computed by one lane. Constraints are numbered as in the paper.
#pragma once
#include "problems/classic.cuh"
#include "problems/constraints.cuh"

namespace SKDE_NAMESPACE {

// G01 of the literature: a quadratic function under linear constraints.
struct FabrisP2 {
  static constexpr int inequalities = 9, equalities = 0;
  template <class real> SKDE_FN static void values(const real* x, int, const Data<real>&, real* out) {
    real concave = 0, linear = 0;
    for (int j = 0; j < 4; ++j) concave += x[j] - square(x[j]);
    for (int j = 4; j < 13; ++j) linear += x[j];
    out[0] = real(5) * concave - linear;
    out[1] = real(2) * x[0] + real(2) * x[1] + x[9] + x[10] - real(10);
    out[2] = real(-8) * x[0] + x[9];
    out[3] = real(-2) * x[3] - x[4] + x[9];
    out[4] = real(2) * x[0] + real(2) * x[2] + x[9] + x[11] - real(10);
    out[5] = real(-8) * x[1] + x[10];
    out[6] = real(-2) * x[5] - x[6] + x[10];
    out[7] = real(2) * x[1] + real(2) * x[2] + x[10] + x[11] - real(10);
    out[8] = real(-8) * x[2] + x[11];
    out[9] = real(-2) * x[7] - x[8] + x[11];
  }
};

// G07: a convex quadratic function under linear and quadratic constraints.
struct FabrisP3 {
  static constexpr int inequalities = 8, equalities = 0;
  template <class real> SKDE_FN static void values(const real* x, int, const Data<real>&, real* out) {
    out[0] = square(x[0]) + square(x[1]) + x[0] * x[1] - real(14) * x[0] - real(16) * x[1] + square(x[2] - real(10)) +
             real(4) * square(x[3] - real(5)) + square(x[4] - real(3)) + real(2) * square(x[5] - real(1)) +
             real(5) * square(x[6]) + real(7) * square(x[7] - real(11)) + real(2) * square(x[8] - real(10)) +
             square(x[9] - real(7)) + real(45);
    out[1] = real(4) * x[0] + real(5) * x[1] - real(3) * x[6] + real(9) * x[7] - real(105);
    out[2] = real(10) * x[0] - real(8) * x[1] - real(17) * x[6] + real(2) * x[7];
    out[3] = real(-8) * x[0] + real(2) * x[1] + real(5) * x[8] - real(2) * x[9] - real(12);
    out[4] = real(-3) * x[0] + real(6) * x[1] + real(12) * square(x[8] - real(8)) - real(7) * x[9];
    out[5] = real(3) * square(x[0] - real(2)) + real(4) * square(x[1] - real(3)) + real(2) * square(x[2]) -
             real(7) * x[3] - real(120);
    out[6] = square(x[0]) + real(2) * square(x[1] - real(2)) - real(2) * x[0] * x[1] + real(14) * x[4] - real(6) * x[5];
    out[7] = real(5) * square(x[0]) + real(8) * x[1] + square(x[2] - real(6)) - real(2) * x[3] - real(40);
    out[8] = real(0.5) * square(x[0] - real(8)) + real(2) * square(x[1] - real(4)) + real(3) * square(x[4]) - x[5] -
             real(30);
  }
};

// G09: a polynomial under polynomial constraints.
struct FabrisP4 {
  static constexpr int inequalities = 4, equalities = 0;
  template <class real> SKDE_FN static void values(const real* x, int, const Data<real>&, real* out) {
    const real x1 = square(x[1]), x2 = square(x[2]), x4 = square(x[4]), x6 = square(x[6]);
    out[0] = square(x[0] - real(10)) + real(5) * square(x[1] - real(12)) + square(x2) +
             real(3) * square(x[3] - real(11)) + real(10) * x4 * x4 * x4 + real(7) * square(x[5]) + square(x6) -
             real(4) * x[5] * x[6] - real(10) * x[5] - real(8) * x[6];
    out[1] = real(2) * square(x[0]) + real(3) * square(x1) + x[2] + real(4) * square(x[3]) + real(5) * x[4] - real(127);
    out[2] = real(7) * x[0] + real(3) * x[1] + real(10) * x2 + x[3] - x[4] - real(282);
    out[3] = real(23) * x[0] + x1 + real(6) * square(x[5]) - real(8) * x[6] - real(196);
    out[4] = real(4) * square(x[0]) + x1 - real(3) * x[0] * x[1] + real(2) * x2 + real(5) * x[5] - real(11) * x[6];
  }
};

// G10: the design of a heat exchanger, with constraints of very different size.
struct FabrisP5 {
  static constexpr int inequalities = 6, equalities = 0;
  template <class real> SKDE_FN static void values(const real* x, int, const Data<real>&, real* out) {
    out[0] = x[0] + x[1] + x[2];
    out[1] = real(0.0025) * (x[3] + x[5]) - real(1);
    out[2] = real(0.0025) * (x[4] + x[6] - x[3]) - real(1);
    out[3] = real(0.01) * (x[7] - x[4]) - real(1);
    out[4] = -x[0] * x[5] + real(833.33252) * x[3] + real(100) * x[0] - real(83333.333);
    out[5] = -x[1] * x[6] + real(1250) * x[4] + x[1] * x[3] - real(1250) * x[3];
    out[6] = -x[2] * x[7] + real(1250000) + x[2] * x[4] - real(2500) * x[4];
  }
};

// The design of a tension/compression spring: wire's diameter, coil's diameter, number of coils.
struct FabrisP6 {
  static constexpr int inequalities = 4, equalities = 0;
  template <class real> SKDE_FN static void values(const real* x, int, const Data<real>&, real* out) {
    const real wire = square(x[0]), coil = square(x[1]);
    out[0] = (x[2] + real(2)) * x[1] * wire;
    out[1] = real(1) - coil * x[1] * x[2] / (real(71785) * wire * wire);
    out[2] = (real(4) * coil - x[0] * x[1]) / (real(12566) * (x[1] * wire * x[0] - wire * wire)) +
             real(1) / (real(5108) * wire) - real(1);
    out[3] = real(1) - real(140.45) * x[0] / (coil * x[2]);
    out[4] = (x[0] + x[1]) / real(1.5) - real(1);
  }
};

SKDE_CONSTRAINED_PROBLEM(FabrisP2)
SKDE_CONSTRAINED_PROBLEM(FabrisP3)
SKDE_CONSTRAINED_PROBLEM(FabrisP4)
SKDE_CONSTRAINED_PROBLEM(FabrisP5)
SKDE_CONSTRAINED_PROBLEM(FabrisP6)

}  // namespace SKDE_NAMESPACE

#define SKDE_FABRIS2012(P)   \
  P(fabris2012_p2, FabrisP2) \
  P(fabris2012_p3, FabrisP3) \
  P(fabris2012_p4, FabrisP4) \
  P(fabris2012_p5, FabrisP5) \
  P(fabris2012_p6, FabrisP6)
