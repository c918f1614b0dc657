// A warp as a team: each lane has components, and the lanes speak to each other directly (team.cuh).
#pragma once
#include "teams/gpu.cuh"

namespace SKDE_NAMESPACE {

// The smallest of the lanes' words, known to all of them.
SKDE_FN u32 min_warp(u32 word) {
#if __CUDA_ARCH__ >= 800
  return __reduce_min_sync(all_lanes(), word);
#else
  for (int half = 16; half; half /= 2) word = min_of(word, __shfl_xor_sync(all_lanes(), word, half));
  return word;
#endif
}

// Numbers as words in the same order.
SKDE_FN u64 order_key(double value) {
  const u64 word = bits_as<u64>(value + 0.0), sign = u64(1) << 63;  // -0 becomes 0
  return word & sign ? ~word : word | sign;
}

// The sum of the lanes' whole numbers, known to all of them.
SKDE_FN int add_warp(int number) {
#if __CUDA_ARCH__ >= 800
  return __reduce_add_sync(all_lanes(), number);
#else
  return fold_warp<Add>(number);
#endif
}

template <class real_> struct Warp : Lanes<real_, WARP, Warp<real_>> {
  using real = real_;

  SKDE_FN explicit Warp(real*) { this->lane = threadIdx.x % WARP; }
  SKDE_FN void sync() const { __syncwarp(); }

  template <class Op, class Term> SKDE_FN real reduce(int n, Term term) const {
    const real none = Op::template identity<real>();
    if (n <= 32) {  // the usual case, without a way around the other partial sums' terms
      const real mine = this->lane < n ? Op::join(none, real(term(this->lane))) : none;
      return fold_warp<Op>(Op::join(Op::join(mine, none), Op::join(none, none)));
    }
    real partial[4];
#pragma unroll
    for (int k = 0; k < 4; ++k) partial[k] = none;
#pragma unroll 1
    for (int base = 0; base < n; base += PARTIALS) {
#pragma unroll
      for (int k = 0; k < 4; ++k) {
        const int j = base + 32 * k + this->lane;
        if (j < n) partial[k] = Op::join(partial[k], real(term(j)));
      }
    }
    return fold_warp<Op>(Op::join(Op::join(partial[0], partial[2]), Op::join(partial[1], partial[3])));
  }

  template <class Test> SKDE_FN int count(int n, Test test) const {
    int total = 0;
#pragma unroll 1
    for (int base = 0; base < n; base += PARTIALS) {
      // No branch between the loads of one lane's tests.
      int t[4];
#pragma unroll
      for (int k = 0; k < 4; ++k) t[k] = int(test(min_of(base + 32 * k + this->lane, n - 1)));
#pragma unroll
      for (int k = 0; k < 4; ++k) total += base + 32 * k + this->lane < n ? t[k] : 0;
    }
    return add_warp(total);
  }

  template <int m, class At, class Terms> SKDE_FN auto counts(int n, At at, Terms terms) const {
    if constexpr (BUSY) {
      return Counted<const Warp, m, At, Terms>{*this, n, at, terms};
    } else {
      Counts<m> found{};
      const auto add = [&](int base) {
        decltype(at(0)) read[4];
#pragma unroll
        for (int k = 0; k < 4; ++k) read[k] = at(min_of(base + 32 * k + this->lane, n - 1));
        // Else the compiler would begin with what it believes to be there, and have the last reads wait for the first.
        __syncwarp();
#pragma unroll
        for (int k = 0; k < 4; ++k) {
          const int j = base + 32 * k + this->lane;
          int t[m];
          terms(read[k], j, t);
#pragma unroll
          for (int s = 0; s < m; ++s) found.number[s] += j < n ? t[s] : 0;
        }
      };
      add(0);
#pragma unroll 1
      for (int base = PARTIALS; base < n; base += PARTIALS) add(base);
#pragma unroll
      for (int s = 0; s < m; ++s) found.number[s] = add_warp(found.number[s]);
      return found;
    }
  }

  template <int m, class At, class Terms> SKDE_FN Several<real, m> sums(int n, At at, Terms terms) const {
    real partial[4][m];
#pragma unroll
    for (int k = 0; k < 4; ++k)
#pragma unroll
      for (int s = 0; s < m; ++s) partial[k][s] = real(0);
    const auto add = [&](int base) {
      decltype(at(0)) read[4];
#pragma unroll
      for (int k = 0; k < 4; ++k) read[k] = at(min_of(base + 32 * k + this->lane, n - 1));
      __syncwarp();  // as in counts()
#pragma unroll
      for (int k = 0; k < 4; ++k) {
        real t[m];
        terms(read[k], base + 32 * k + this->lane < n, t);
#pragma unroll
        for (int s = 0; s < m; ++s) partial[k][s] += t[s];
      }
    };
    add(0);
#pragma unroll 1
    for (int base = PARTIALS; base < n; base += PARTIALS) add(base);
    Several<real, m> found;
#pragma unroll
    for (int s = 0; s < m; ++s)
      found.of[s] = fold_warp<Add>((partial[0][s] + partial[2][s]) + (partial[1][s] + partial[3][s]));
    return found;
  }

  template <class Value> SKDE_FN int least(int n, Value value) const {
    real best = real(infinity());
    int where = -1;  // the lane's best
#pragma unroll 1
    for (int base = 0; base < n; base += PARTIALS) {
      real v[4];
#pragma unroll
      for (int k = 0; k < 4; ++k) v[k] = value(min_of(base + 32 * k + this->lane, n - 1));
#pragma unroll
      for (int k = 0; k < 4; ++k) {
        const int j = base + 32 * k + this->lane;
        if ((j < n) & ((v[k] < best) | ((where < 0) & !is_nan(v[k])))) best = v[k], where = j;
      }
    }
    const u64 key = where < 0 ? ~u64(0) : order_key(double(best));
    const u32 high = min_warp(u32(key >> 32));
    const u32 low = min_warp(u32(key >> 32) == high ? u32(key) : ~0u);
    return int(min_warp(key == (u64(high) << 32 | low) ? u32(where) : ~0u));
  }

  template <class Probe> SKDE_FN int first(int n, Probe probe) const {
    for (int base = 0; base < n; base += 32) {
      const int j = base + this->lane;
      const int found = j < n ? probe(j) : -1;
      const unsigned lanes = __ballot_sync(all_lanes(), found >= 0);
      if (lanes) return __shfl_sync(all_lanes(), found, __ffs(int(lanes)) - 1);
    }
    return -1;
  }
};

}  // namespace SKDE_NAMESPACE
