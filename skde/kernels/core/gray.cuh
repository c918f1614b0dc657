// Gray codes of real numbers: neighbouring codes differ in one bit.
#pragma once
#include "core/portable.cuh"

namespace SKDE_NAMESPACE {

// The code of a share in [0, 1], in steps of 1 / most; most is below 2^31.
template <class real> SKDE_FN u32 gray_code(real share, real most) {
  const u32 number = u32(int(share * most));
  return number ^ (number >> 1);
}

// The number of bits in which two codes differ, by operations that every vector register has.
SKDE_FN int different_bits(u32 a, u32 b) {
  u32 bits = a ^ b;
  bits -= (bits >> 1) & 0x55555555u;
  bits = (bits & 0x33333333u) + ((bits >> 2) & 0x33333333u);
  bits = (bits + (bits >> 4)) & 0x0f0f0f0fu;
  return int((bits * 0x01010101u) >> 24);
}

}  // namespace SKDE_NAMESPACE
