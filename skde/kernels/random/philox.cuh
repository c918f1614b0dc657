// Philox4x32-10 (Salmon, Moraes, Dror, Shaw: Parallel random numbers: as easy as 1, 2, 3; SC 2011).
//
// A draw is a pure function of its address (seed of the run, generation, individual, purpose, slot): there is no
// generator state, so no result can depend on threads, blocks, the device or the order of evaluation.
#pragma once
#include "core/portable.cuh"

namespace SKDE_NAMESPACE {

struct Words4 {
  u32 w[4];
};

SKDE_FN Words4 philox4x32(u32 c0, u32 c1, u32 c2, u32 c3, u32 k0, u32 k1) {
  for (int round = 0; round < 10; ++round) {
    const u64 p0 = u64(0xD2511F53u) * c0;
    const u64 p1 = u64(0xCD9E8D57u) * c2;
    c0 = u32(p1 >> 32) ^ c1 ^ k0;
    c2 = u32(p0 >> 32) ^ c3 ^ k1;
    c1 = u32(p1);
    c3 = u32(p0);
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
  return {{c0, c1, c2, c3}};
}

// The purpose of a draw. A new purpose gets a new number. Numbers are never used again, because a seed would get other
// results.
enum Purpose : u32 {
  START = 0,
  INDICES = 1,
  CROSSOVER = 2,
  CONTROL = 3,
  REPAIR = 4,
  COGNITIVE = 5,
  SOCIAL = 6,
  VELOCITY = 7,
  TOPOLOGY = 8,
  OPPOSITION = 9,
  MIGRATION = 10,
  STRATEGY = 11,
  COMBINATION = 12,
  RENEWAL = 13,
  PERTURBATION = 14
};

constexpr int INDIVIDUAL_BITS = 24;  // of a draw's address

// The draws of one individual in one generation for one purpose.
struct Stream {
  u64 seed;
  u32 counter;  // individual, and in the highest bits the purpose
  u64 generation;

  SKDE_FN Stream(u64 seed, i64 generation, int individual, Purpose purpose)
      : seed(seed), counter(u32(individual) | (u32(purpose) << INDIVIDUAL_BITS)), generation(u64(generation)) {}

  // The same stream for rare draws: the compiler does not prepare them in front of the branch (opaque).
  SKDE_FN Stream here() const {
    Stream same = *this;
    same.generation = opaque(generation);
    return same;
  }

  SKDE_FN Words4 block(u32 slot) const {
    return philox4x32(slot, counter, u32(generation), u32(generation >> 32), u32(seed), u32(seed >> 32));
  }

  // The draw of component j. Thirty-two components share eight blocks: block b has the words of b, b+8, b+16 and b+24.
  // So eight blocks that are computed in a vector register are written by four contiguous stores.
  SKDE_FN u32 component(int j) const {
    const Words4 words = block(u32(j / 32 * 8 + j % 8));
    const int k = j % 32 / 8;
    return k == 0 ? words.w[0] : k == 1 ? words.w[1] : k == 2 ? words.w[2] : words.w[3];
  }
};

// A number in [0, 1), from 32 and from 53 random bits.
template <class real> SKDE_FN real unit(u32 word) { return real(double(word) * 0x1p-32); }
template <> SKDE_FN float unit<float>(u32 word) { return float(word >> 8) * 0x1p-24f; }
SKDE_FN double unit53(u32 high, u32 low) { return double((u64(high) << 32 | low) >> 11) * 0x1p-53; }

// A number in {0, ..., n-1}; the bias is below n / 2^32.
SKDE_FN int below(u32 word, int n) { return int((u64(word) * u32(n)) >> 32); }

}  // namespace SKDE_NAMESPACE
