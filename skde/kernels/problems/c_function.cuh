// Functions of C that the host gives by their address, for the CPU: skde/problems/c_function.py.
#pragma once
#include "problems/problem.cuh"

namespace SKDE_NAMESPACE {

// A function of d variables, double f(Size d, double* x) or double f(double* x, Size d), and with a pointer of the user's
// behind these. The data have one array of words: the address of the function, and that pointer. The function gets a copy
// of x, as doubles, to which it may write.
template <class Size, bool x_first, bool with_pointer> struct CFunction {
  static constexpr int scratch = 3;  // of floats: enough for d doubles that begin at a multiple of their size

  template <class Team, class real>
  SKDE_FN real operator()(Team& team, const real* x, int d, const Data<real>& data) const {
    constexpr i64 size = sizeof(double);
    auto* const point = reinterpret_cast<double*>((reinterpret_cast<i64>(team.scratch) + size - 1) / size * size);
    for (int j = 0; j < d; ++j) point[j] = x[j];
    const i64* const words = reinterpret_cast<const i64*>(data.array[0]);
    void* const pointer = reinterpret_cast<void*>(words[1]);
    if constexpr (x_first && with_pointer)
      return real(reinterpret_cast<double (*)(double*, Size, void*)>(words[0])(point, d, pointer));
    else if constexpr (x_first)
      return real(reinterpret_cast<double (*)(double*, Size)>(words[0])(point, d));
    else if constexpr (with_pointer)
      return real(reinterpret_cast<double (*)(Size, double*, void*)>(words[0])(d, point, pointer));
    else
      return real(reinterpret_cast<double (*)(Size, double*)>(words[0])(d, point));
  }
};

using CIntX = CFunction<int, false, false>;
using CIntXPointer = CFunction<int, false, true>;
using CXInt = CFunction<int, true, false>;
using CXIntPointer = CFunction<int, true, true>;
using CLongX = CFunction<i64, false, false>;
using CLongXPointer = CFunction<i64, false, true>;
using CXLong = CFunction<i64, true, false>;
using CXLongPointer = CFunction<i64, true, true>;

}  // namespace SKDE_NAMESPACE

// By the types of their arguments.
#define SKDE_C_FUNCTIONS(P)          \
  P(c_int_x, CIntX)                  \
  P(c_int_x_pointer, CIntXPointer)   \
  P(c_x_int, CXInt)                  \
  P(c_x_int_pointer, CXIntPointer)   \
  P(c_long_x, CLongX)                \
  P(c_long_x_pointer, CLongXPointer) \
  P(c_x_long, CXLong)                \
  P(c_x_long_pointer, CXLongPointer)
