// Random permutations of 0 ... n - 1 without memory: the image of one number costs a few operations, whatever n is.
#pragma once
#include "random/philox.cuh"

namespace SKDE_NAMESPACE {

// A Feistel network permutes the numbers of as many bits as n - 1 has. Where the image is n or more, it is permuted
// again.
struct Permutation {
  static constexpr int ROUNDS = 8;
  u32 keys[ROUNDS];
  int n, low_bits, high_bits;

  Permutation() = default;
  // The keys are two blocks of the stream.
  SKDE_FN Permutation(const Stream& stream, int n) : n(n) {
    for (int b = 0; b < ROUNDS / 4; ++b) {
      const Words4 words = stream.block(u32(b));
      for (int k = 0; k < 4; ++k) keys[4 * b + k] = words.w[k];
    }
    const int bits = n > 2 ? highest_bit(u64(n - 1)) + 1 : 2;
    low_bits = bits / 2, high_bits = bits - low_bits;
  }

  SKDE_FN int of(int i) const {
    u32 number = u32(i);
    do number = network(number);
    while (number >= u32(n));
    return int(number);
  }

 private:
  SKDE_FN u32 network(u32 number) const {
    u32 low = number & ((1u << low_bits) - 1), high = number >> low_bits;
    SKDE_UNROLL
    for (int k = 0; k < ROUNDS; k += 2) {
      high ^= mixed(low, keys[k]) >> (32 - high_bits);
      low ^= mixed(high, keys[k + 1]) >> (32 - low_bits);
    }
    return high << low_bits | low;
  }
  // The finalizer of MurmurHash3 (Appleby).
  SKDE_FN static u32 mixed(u32 half, u32 key) {
    u32 word = half + key;
    word = (word ^ (word >> 16)) * 0x85ebca6bu;
    word = (word ^ (word >> 13)) * 0xc2b2ae35u;
    return word ^ (word >> 16);
  }
};

}  // namespace SKDE_NAMESPACE
