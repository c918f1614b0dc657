// Functions f(x, y) to be minimised over x and maximised over y.
//
//   struct Name {
//     template <class X, class Y, class real>
//     SKDE_FN static real value(X x, Y y, int dx, int dy, const Data<real>& data);
//   };
//
// x(j) and y(j) are components. One lane evaluates a pair: lanes share pairs, not components. So a loop over many y has
// no branch for lanes and can be vectorised.
#pragma once
#include "problems/classic.cuh"

namespace SKDE_NAMESPACE {

// sum x_j^2 - y_j^2
struct SquareDifference {
  template <class X, class Y, class real> SKDE_FN static real value(X x, Y y, int dx, int, const Data<real>&) {
    real sum = 0;
    for (int j = 0; j < dx; ++j) sum += square(x(j)) - square(y(j));
    return sum;
  }
};

// (x - 5)^2 - (y - 5)^2
struct Parabolas {
  template <class X, class Y, class real> SKDE_FN static real value(X x, Y y, int, int, const Data<real>&) {
    return square(x(0) - real(5)) - square(y(0) - real(5));
  }
};

// min(3 - 0.2 x + 0.3 y, 3 + 0.2 x - 0.1 y)
struct TwoPlanes {
  template <class X, class Y, class real> SKDE_FN static real value(X x, Y y, int, int, const Data<real>&) {
    return min_of(real(3) - real(0.2) * x(0) + real(0.3) * y(0), real(3) + real(0.2) * x(0) - real(0.1) * y(0));
  }
};

// sin(x - y) / r, r^2 = x^2 + y^2
struct DampedSine {
  template <class X, class Y, class real> SKDE_FN static real value(X x, Y y, int, int, const Data<real>&) {
    return sin(x(0) - y(0)) / sqrt(square(x(0)) + square(y(0)));
  }
};

// cos(r) / (r + 10)
struct DampedCosine {
  template <class X, class Y, class real> SKDE_FN static real value(X x, Y y, int, int, const Data<real>&) {
    const real r = sqrt(square(x(0)) + square(y(0)));
    return cos(r) / (r + real(10));
  }
};

// 100 (x_1 - x_0^2)^2 + (1 - x_0)^2 - y_0 (x_0 + x_1^2) - y_1 (x_0^2 + x_1)
struct Lagrangian1 {
  template <class X, class Y, class real> SKDE_FN static real value(X x, Y y, int, int, const Data<real>&) {
    const real f = real(100) * square(x(1) - square(x(0))) + square(real(1) - x(0));
    return f - y(0) * (x(0) + square(x(1))) - y(1) * (square(x(0)) + x(1));
  }
};

// (x_0 - 2)^2 + (x_1 - 1)^2 + y_0 (x_0^2 - x_1) + y_1 (x_0 + x_1 - 2)
struct Lagrangian2 {
  template <class X, class Y, class real> SKDE_FN static real value(X x, Y y, int, int, const Data<real>&) {
    const real f = square(x(0) - real(2)) + square(x(1) - real(1));
    return f + y(0) * (square(x(0)) - x(1)) + y(1) * (x(0) + x(1) - real(2));
  }
};

// (1 - |s(x - 2) s(y - 2)|^5) (2 + (x - 7)^2 + 2 (y - 7)^2), s(t) = sin(pi t) / (pi t)
struct Damavandi {
  template <class real> SKDE_FN static real sinc(real t) {
    const real a = max_of(abs_of(Constants<real>::pi * t), real(1e-9));  // where sin a = a
    return sin(a) / a;
  }
  template <class X, class Y, class real> SKDE_FN static real value(X x, Y y, int, int, const Data<real>&) {
    const real s = abs_of(sinc(x(0) - real(2)) * sinc(y(0) - real(2)));
    const real bowl = real(2) + square(x(0) - real(7)) + real(2) * square(y(0) - real(7));
    return (real(1) - square(square(s)) * s) * bowl;
  }
};

// 5 (x_0^2 + x_1^2) - (y_0^2 + y_1^2) + x_0 (y_1 - y_0 + 5) + x_1 (y_0 - y_1 + 3)
struct Rustem1 {
  template <class X, class Y, class real> SKDE_FN static real value(X x, Y y, int, int, const Data<real>&) {
    const real d = y(1) - y(0);
    return real(5) * (square(x(0)) + square(x(1))) - (square(y(0)) + square(y(1))) + x(0) * (d + real(5)) +
           x(1) * (real(3) - d);
  }
};

// 4 (x_0 - 2)^2 - 2 y_0^2 + x_0^2 y_0 - y_1^2 + 2 x_1^2 y_1
struct Rustem2 {
  template <class X, class Y, class real> SKDE_FN static real value(X x, Y y, int, int, const Data<real>&) {
    return real(4) * square(x(0) - real(2)) - real(2) * square(y(0)) + square(x(0)) * y(0) - square(y(1)) +
           real(2) * square(x(1)) * y(1);
  }
};

// x_0^4 y_1 + 2 x_0^3 y_0 - x_1^2 y_1 (y_1 - 3) - 2 x_1 (y_0 - 3)^2
struct Rustem3 {
  template <class X, class Y, class real> SKDE_FN static real value(X x, Y y, int, int, const Data<real>&) {
    const real x2 = square(x(0));
    return square(x2) * y(1) + real(2) * x2 * x(0) * y(0) - square(x(1)) * y(1) * (y(1) - real(3)) -
           real(2) * x(1) * square(y(0) - real(3));
  }
};

// (x_0 - 1)^2 + (x_1 - 1)^2 - sum (y_j - 1)^2 + y_2 (x_1 - 1) + y_0 (x_0 - 1) + y_1 x_0 x_1
struct Rustem4 {
  template <class X, class Y, class real> SKDE_FN static real value(X x, Y y, int, int, const Data<real>&) {
    const real a = x(0) - real(1), b = x(1) - real(1);
    return square(a) + square(b) - square(y(0) - real(1)) - square(y(1) - real(1)) - square(y(2) - real(1)) + y(2) * b +
           y(0) * a + y(1) * x(0) * x(1);
  }
};

// 2 x_0^2 + 3 x_1^2 + x_2^2 - sum y_j^2 - (x_0 - 1) y_0 - (x_1 - 2) y_1 - (x_2 - 1) y_2
struct Rustem5 {
  template <class X, class Y, class real> SKDE_FN static real value(X x, Y y, int, int, const Data<real>&) {
    const real squares =
        real(2) * square(x(0)) + real(3) * square(x(1)) + square(x(2)) - square(y(0)) - square(y(1)) - square(y(2));
    return squares - (x(0) - real(1)) * y(0) - (x(1) - real(2)) * y(1) - (x(2) - real(1)) * y(2);
  }
};

// y_0 (x_0^2 - x_1 + x_2 - x_3 + 2) + y_1 (-x_0 + 2 x_1^2 - x_2^2 + 2 x_3 + 1) + y_2 (2 x_0 - x_1 + 2 x_2 - x_3^2 + 5)
// + 5 x_0^2 + 4 x_1^2 + 3 x_2^2 + 2 x_3^2 - sum y_j^2
struct Rustem6 {
  template <class X, class Y, class real> SKDE_FN static real value(X x, Y y, int, int, const Data<real>&) {
    const real a = square(x(0)) - x(1) + x(2) - x(3) + real(2);
    const real b = -x(0) + real(2) * square(x(1)) - square(x(2)) + real(2) * x(3) + real(1);
    const real c = real(2) * x(0) - x(1) + real(2) * x(2) - square(x(3)) + real(5);
    const real squares = real(5) * square(x(0)) + real(4) * square(x(1)) + real(3) * square(x(2)) +
                         real(2) * square(x(3)) - square(y(0)) - square(y(1)) - square(y(2));
    return y(0) * a + y(1) * b + y(2) * c + squares;
  }
};

// 2 x_0 x_4 + 3 x_3 x_1 + x_4 x_2 + 5 x_3^2 + 5 x_4^2 - x_3 (y_3 - y_4 - 5) + x_4 (y_3 - y_4 + 3)
// + sum_{j<3} y_j (x_j^2 - 1) - sum y_j^2
struct Rustem7 {
  template <class X, class Y, class real> SKDE_FN static real value(X x, Y y, int, int, const Data<real>&) {
    const real d = y(3) - y(4);
    real sum = real(2) * x(0) * x(4) + real(3) * x(3) * x(1) + x(4) * x(2) + real(5) * square(x(3)) +
               real(5) * square(x(4)) - x(3) * (d - real(5)) + x(4) * (d + real(3));
    for (int j = 0; j < 3; ++j) sum += y(j) * (square(x(j)) - real(1));
    for (int j = 0; j < 5; ++j) sum -= square(y(j));
    return sum;
  }
};

}  // namespace SKDE_NAMESPACE

#define SKDE_MINMAX(P)                  \
  P(minmax_parabolas, Parabolas)        \
  P(minmax_two_planes, TwoPlanes)       \
  P(minmax_damped_sine, DampedSine)     \
  P(minmax_damped_cosine, DampedCosine) \
  P(minmax_lagrangian1, Lagrangian1)    \
  P(minmax_lagrangian2, Lagrangian2)    \
  P(minmax_damavandi, Damavandi)        \
  P(minmax_rustem1, Rustem1)            \
  P(minmax_rustem2, Rustem2)            \
  P(minmax_rustem3, Rustem3)            \
  P(minmax_rustem4, Rustem4)            \
  P(minmax_rustem5, Rustem5)            \
  P(minmax_rustem6, Rustem6)            \
  P(minmax_rustem7, Rustem7)
