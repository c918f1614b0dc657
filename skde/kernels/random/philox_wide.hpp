// Eight blocks of Philox at a time, for the CPU. Every 32-bit word has a 64-bit lane. The compiler would pack the
// words, and most instructions would move them for the widening multiplication.
#pragma once
#include "core/portable.cuh"

#if defined(__SSE2__)
#include <immintrin.h>
#endif

namespace SKDE_NAMESPACE {

#if defined(__AVX512F__)
constexpr int WIDE_BYTES = 64;
#elif defined(__AVX2__)
constexpr int WIDE_BYTES = 32;
#else
constexpr int WIDE_BYTES = 16;
#endif

typedef u64 Wide __attribute__((vector_size(WIDE_BYTES)));
constexpr int WIDE_LANES = WIDE_BYTES / 8;
constexpr int WIDE_PARTS = 8 / WIDE_LANES;  // vectors that make eight lanes

// The product of the low halves of every lane.
SKDE_FN Wide multiply_low(Wide a, u32 b) {
  const Wide wide_b = Wide{} + b;
#if defined(__AVX512F__)
  // The form with a full mask: g++ warns of undefined values in the form without a mask, where they are intended.
  return reinterpret_cast<Wide>(
      _mm512_maskz_mul_epu32(0xFF, reinterpret_cast<__m512i>(a), reinterpret_cast<__m512i>(wide_b)));
#elif defined(__AVX2__)
  return reinterpret_cast<Wide>(_mm256_mul_epu32(reinterpret_cast<__m256i>(a), reinterpret_cast<__m256i>(wide_b)));
#elif defined(__SSE2__)
  return reinterpret_cast<Wide>(_mm_mul_epu32(reinterpret_cast<__m128i>(a), reinterpret_cast<__m128i>(wide_b)));
#else
  return (a & 0xFFFFFFFFu) * wide_b;
#endif
}

alignas(WIDE_BYTES) constexpr u64 EIGHT[8] = {0, 1, 2, 3, 4, 5, 6, 7};

// The kind of the eight blocks: slots of one individual, or individuals at one slot.
enum class Eight { SLOTS, INDIVIDUALS };

// The words of eight blocks, the first of which is given: word k of block b goes to out[8 k + b]. Upper halves of lanes
// have meaningless bits, which are not used.
template <Eight eight> SKDE_FN void philox_eight(u32 slot, u32 counter, u64 generation, u64 seed, u32* out) {
  Wide c0[WIDE_PARTS], c1[WIDE_PARTS], c2[WIDE_PARTS], c3[WIDE_PARTS];
  for (int part = 0; part < WIDE_PARTS; ++part) {
    Wide lanes;
    __builtin_memcpy(&lanes, EIGHT + part * WIDE_LANES, WIDE_BYTES);
    const Wide none{};
    c0[part] = (eight == Eight::SLOTS ? lanes : none) + slot;
    c1[part] = (eight == Eight::INDIVIDUALS ? lanes : none) + counter;
    c2[part] = Wide{} + u32(generation);
    c3[part] = Wide{} + u32(generation >> 32);
  }
  // The keys are vectors, too: to copy a number to all lanes takes longer than an addition.
  Wide k0 = Wide{} + u32(seed), k1 = Wide{} + u32(seed >> 32);
  for (int round = 0; round < 10; ++round) {
    for (int part = 0; part < WIDE_PARTS; ++part) {
      const Wide p0 = multiply_low(c0[part], 0xD2511F53u), p1 = multiply_low(c2[part], 0xCD9E8D57u);
      c0[part] = (p1 >> 32) ^ c1[part] ^ k0;
      c2[part] = (p0 >> 32) ^ c3[part] ^ k1;
      c1[part] = p1;
      c3[part] = p0;
    }
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
  for (int part = 0; part < WIDE_PARTS; ++part)
    for (int lane = 0; lane < WIDE_LANES; ++lane) {
      const int b = part * WIDE_LANES + lane;
      out[b] = u32(c0[part][lane]);
      out[8 + b] = u32(c1[part][lane]);
      out[16 + b] = u32(c2[part][lane]);
      out[24 + b] = u32(c3[part][lane]);
    }
}

}  // namespace SKDE_NAMESPACE
