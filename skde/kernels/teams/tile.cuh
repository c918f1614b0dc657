// A warp or a part of one as a team. Its lanes exchange values in registers (team.cuh). Lane l has the partial sums l,
// l + size, l + 2 size, ...
#pragma once
#include "teams/gpu.cuh"

namespace SKDE_NAMESPACE {

// The smallest of a warp's words, in all lanes.
SKDE_FN u32 min_warp(u32 word) {
#if __CUDA_ARCH__ >= 800
  return __reduce_min_sync(0xffffffffu, word);
#else
  for (int half = 16; half; half /= 2) word = min_of(word, __shfl_xor_sync(0xffffffffu, word, half));
  return word;
#endif
}

template <class real_, int size_> struct Tile : Lanes<real_, size_, Tile<real_, size_>> {
  using real = real_;
  using Base = Lanes<real_, size_, Tile<real_, size_>>;
  using Base::from_lane, Base::lane, Base::lanes, Base::size;
  using Whole = Tile<real_, WARP>;

  SKDE_FN explicit Tile(real*) { lane = threadIdx.x % size; }
  SKDE_FN void sync() const {
    Base::with_lanes([](unsigned mask) { __syncwarp(mask); });
  }

  template <class Op, class Term> SKDE_FN real reduce(int n, Term term) const {
    const real none = Op::template identity<real>();
    if (n <= size) return Base::template fold<Op>(lane < n ? Op::join(none, real(term(lane))) : none);
    if constexpr (size == 1) {
      // The smallest power of two of partial sums that has all components.
      const int bits = n > PARTIALS / 2 ? 7 : highest_bit(u64(n - 1)) + 1;
      return folded<Op, 7>(bits, [&](int p) {
        real partial = none;
        for (int j = p; j < n; j += PARTIALS) partial = Op::join(partial, real(term(j)));
        return partial;
      });
    } else {
      constexpr int quarter = PARTIALS / 4 / size;  // of a lane's partial sums: those of components 0 ... 31
      if (quarter > 4 && n <= 4 * size) return fold_quarter<Op, quarter, 4>(n, term);
      if (quarter > 1 && n <= 32) return fold_quarter<Op, quarter, quarter>(n, term);
      constexpr int bits = quarter == 1 ? 0 : quarter == 2 ? 1 : quarter == 4 ? 2 : 3;
      return Base::template fold<Op>(folded<Op, bits>(bits, [&](int p) {
        real partial[4];
#pragma unroll
        for (int k = 0; k < 4; ++k) partial[k] = none;
#pragma unroll 1
        for (int base = p * size; base < n; base += PARTIALS) {
          if (n - base > 96)
            join_rows<Op, 4>(partial, base, n, term);
          else if (n - base > 64)
            join_rows<Op, 3>(partial, base, n, term);
          else
            join_rows<Op, 2>(partial, base, n, term);
        }
        return Op::join(Op::join(partial[0], partial[2]), Op::join(partial[1], partial[3]));
      }));
    }
  }

  // The bits are those of reduce(), but a lane's values are loaded before the first is compared.
  template <class At, class Worth> SKDE_FN real largest_loaded(int n, At at, Worth worth) {
    if constexpr (size < 32) {
      return Base::largest_loaded(n, at, worth);
    } else {
      real partial[4];
#pragma unroll
      for (int k = 0; k < 4; ++k) partial[k] = Maximum::identity<real>();
#pragma unroll 1
      for (int base = 0; base < n; base += PARTIALS) {
        decltype(at(0)) read[4];
#pragma unroll
        for (int k = 0; k < 4; ++k) read[k] = at(min_of(base + 32 * k + lane, n - 1));
#pragma unroll
        for (int k = 0; k < 4; ++k) {
          const real value = worth(read[k]);
          if (base + 32 * k + lane < n) partial[k] = Maximum::join(partial[k], value);
        }
      }
      return Base::template fold<Maximum>(
          Maximum::join(Maximum::join(partial[0], partial[2]), Maximum::join(partial[1], partial[3])));
    }
  }

  template <class Test> SKDE_FN int count(int n, Test test) const {
    constexpr int MANY = 16, FEW = size < 32 ? MANY : 4;  // tests at a time
    int total = 0, base = 0;
    if constexpr (BUSY && FEW < MANY)
#pragma unroll 1
      for (; base + MANY * size <= n; base += MANY * size) total += count_rows<MANY>(base, n, test);
#pragma unroll 1
    for (; base < n; base += FEW * size) total += count_rows<FEW>(base, n, test);
    return added(total);
  }

  template <int m, class At, class Terms> SKDE_FN auto counts(int n, At at, Terms terms) const {
    if constexpr (BUSY) {
      return Counted<const Tile, m, At, Terms>{*this, n, at, terms};
    } else {
      static_assert(size == 32, "a part of a warp is a team where a multiprocessor holds many");
      Counts<m> found{};
      const auto add = [&](int base) {
        decltype(at(0)) read[4];
#pragma unroll
        for (int k = 0; k < 4; ++k) read[k] = at(min_of(base + 32 * k + lane, n - 1));
        // Without it the compiler starts counting after the first read, and the last reads wait for that.
        __syncwarp();
#pragma unroll
        for (int k = 0; k < 4; ++k) {
          const int j = base + 32 * k + lane;
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
      for (int s = 0; s < m; ++s) found.number[s] = added(found.number[s]);
      return found;
    }
  }

  template <int m, class At, class Terms> SKDE_FN Several<real, m> sums(int n, At at, Terms terms) const {
    Several<real, m> found;
    if constexpr (size < 32) {
#pragma unroll
      for (int s = 0; s < m; ++s)
        found.of[s] = reduce<Add>(n, [&](int j) {
          real t[m];
          terms(at(j), true, t);
          return t[s];
        });
    } else {
      real partial[4][m];
#pragma unroll
      for (int k = 0; k < 4; ++k)
#pragma unroll
        for (int s = 0; s < m; ++s) partial[k][s] = real(0);
      const auto add = [&](int base) {
        decltype(at(0)) read[4];
#pragma unroll
        for (int k = 0; k < 4; ++k) read[k] = at(min_of(base + 32 * k + lane, n - 1));
        __syncwarp();  // as in counts()
#pragma unroll
        for (int k = 0; k < 4; ++k) {
          real t[m];
          terms(read[k], base + 32 * k + lane < n, t);
#pragma unroll
          for (int s = 0; s < m; ++s) partial[k][s] += t[s];
        }
      };
      add(0);
#pragma unroll 1
      for (int base = PARTIALS; base < n; base += PARTIALS) add(base);
#pragma unroll
      for (int s = 0; s < m; ++s)
        found.of[s] = Base::template fold<Add>((partial[0][s] + partial[2][s]) + (partial[1][s] + partial[3][s]));
    }
    return found;
  }

  template <class Value> SKDE_FN int least(int n, Value value) const {
    constexpr int AT_ONCE = size < 32 ? 8 : 4;  // loads; parts of a warp are the teams of large populations
    real best = real(infinity());
    int where = -1;  // the lane's best
#pragma unroll 1
    for (int base = 0; base < n; base += AT_ONCE * size) {
      real v[AT_ONCE];
#pragma unroll
      for (int k = 0; k < AT_ONCE; ++k) v[k] = value(min_of(base + size * k + lane, n - 1));
#pragma unroll
      for (int k = 0; k < AT_ONCE; ++k) {
        const int j = base + size * k + lane;
        if ((j < n) & ((v[k] < best) | ((where < 0) & !is_nan(v[k])))) best = v[k], where = j;
      }
    }
    if constexpr (size < 32) {
      // -1, for no place, becomes the largest number.
      u32 place = u32(where);
      Base::with_lanes([&](unsigned mask) {
#pragma unroll
        for (int half = size / 2; half; half /= 2) {
          const real other = __shfl_xor_sync(mask, best, half, size);
          const u32 there = __shfl_xor_sync(mask, place, half, size);
          if ((other < best) | ((other == best) & (there < place))) best = other, place = there;
        }
      });
      return int(place);
    } else {
      const u64 key = where < 0 ? ~u64(0) : order_key(double(best));
      const u32 high = min_warp(u32(key >> 32));
      const u32 low = min_warp(u32(key >> 32) == high ? u32(key) : ~0u);
      return int(min_warp(key == (u64(high) << 32 | low) ? u32(where) : ~0u));
    }
  }

  template <class Probe> SKDE_FN int first(int n, Probe probe) const {
    for (int base = 0; base < n; base += size) {
      const int j = base + lane;
      const int found = j < n ? probe(j) : -1;
      const unsigned answers = Base::ballot(found >= 0);
      if (answers) return from_lane(found, __ffs(int(answers)) - 1);
    }
    return -1;
  }

 private:
  // The sum of the lanes' whole numbers, in all lanes.
  SKDE_FN static int added(int number) {
#if __CUDA_ARCH__ >= 800
    if constexpr (size == 32) return __reduce_add_sync(lanes(), number);
#endif
    return Base::template fold<Add>(number);
  }

  // The number of this lane's components base + size * k + lane, k < rows, for which a test holds. There is no branch
  // between the tests, so that their loads overlap.
  template <int rows, class Test> SKDE_FN int count_rows(int base, int n, const Test& test) const {
    int t[rows], total = 0;
#pragma unroll
    for (int k = 0; k < rows; ++k) t[k] = int(test(min_of(base + size * k + lane, n - 1)));
#pragma unroll
    for (int k = 0; k < rows; ++k) total += base + size * k + lane < n ? t[k] : 0;
    return total;
  }

  // The sum of a lane's first partial sums, those of components 0 ... 31; only the first `used` have components.
  template <class Op, int quarter, int used, class Term> SKDE_FN real fold_quarter(int n, const Term& term) const {
    const real none = Op::template identity<real>();
    real partial[quarter];
#pragma unroll
    for (int p = 0; p < quarter; ++p) {
      partial[p] = none;
      if (p >= used) continue;
      const int j = p * size + lane;
      const real value = Op::join(none, real(term(min_of(j, n - 1))));  // no branch between the terms
      partial[p] = j < n ? value : none;
    }
#pragma unroll
    for (int half = quarter / 2; half; half /= 2)
#pragma unroll
      for (int p = 0; p < half; ++p) partial[p] = Op::join(partial[p], partial[p + half]);
    return Base::template fold<Op>(partial[0]);
  }

  // Joins the terms of components base + 32 k + lane, k < rows. There is no branch between them, so that they are made
  // at the same time.
  template <class Op, int rows, class Term>
  SKDE_FN void join_rows(real (&partial)[4], int base, int n, const Term& term) const {
    real value[rows];
#pragma unroll
    for (int k = 0; k < rows; ++k) value[k] = real(term(min_of(base + 32 * k + lane, n - 1)));
#pragma unroll
    for (int k = 0; k < rows; ++k)
      if (base + 32 * k + lane < n) partial[k] = Op::join(partial[k], value[k]);
  }

  // value(0) ... value(2^bits - 1) folded in half until one is left. Values are made in the order of their reversed
  // bits: then at most one partial result of each level waits for another, and a few registers are enough.
  template <class Op, int most, class Value> SKDE_FN static real folded(int bits, Value value) {
    if constexpr (most == 0) {
      return value(0);
    } else {
      real waiting[most], mine;
#pragma unroll 1
      for (int t = 0; t < 1 << bits; ++t) {
        mine = value(int(__brev(u32(t)) >> (32 - bits)));
        bool joins = true;
#pragma unroll
        for (int level = 0; level < most; ++level) {
          const bool waits = joins && !(t >> level & 1);
          joins = joins && (t >> level & 1);
          if (waits) waiting[level] = mine;
          if (joins) mine = Op::join(waiting[level], mine);
        }
      }
      return mine;
    }
  }
};

template <class real> using Warp = Tile<real, 32>;
template <class real> using Tile16 = Tile<real, 16>;
template <class real> using Tile8 = Tile<real, 8>;
template <class real> using Tile4 = Tile<real, 4>;
template <class real> using Tile1 = Tile<real, 1>;

}  // namespace SKDE_NAMESPACE
