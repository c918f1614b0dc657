// What the GPU's teams share, a warp and a block (team.cuh).
#pragma once
#include "core/reductions.cuh"

namespace SKDE_NAMESPACE {

SKDE_FN unsigned all_lanes() { return 0xffffffffu; }

template <class Op, class real> SKDE_FN real fold_warp(real value) {
  for (int half = 16; half; half /= 2) value = Op::join(value, __shfl_xor_sync(all_lanes(), value, half));
  return value;
}

// Draws of one individual, made ahead: those of as many generations as a warp has lanes, each of which has one's, or, while
// it is not known that the same individual comes again, of one generation (draws.cuh).
struct Ahead {
  static constexpr int MOST = 3;
  u64 seed = 0;
  i64 generation = 0;
  int individual = -1, many = 0;
  u32 words[MOST][4];
  double numbers[MOST], retries[MOST];
};

// Whether a multiprocessor holds many teams, which fill each other's waits: then nothing is done or kept only to be early.
constexpr bool BUSY = SKDE_RESIDENT > 1;

// Like Counted, but all counted at once: what takes long is to hear what they are counted by.
template <int m> struct Counts {
  int number[m];
  SKDE_FN int of(int which) const { return number[which]; }
};

// What a warp and a block share: components are dealt to the lanes in turn.
template <class real_, int size_, class Self> struct Lanes : Reductions<real_, Self> {
  using real = real_;
  static constexpr int size = size_;
  int lane;
  real* scratch = nullptr;
  Ahead ahead;

  template <class Body> SKDE_FN void each(int n, Body body) const {
#pragma unroll 1
    for (int j = lane; j < n; j += size) body(j);
  }

  SKDE_FN void copy(int n, const real* from, real* to) const {
#pragma unroll 1
    for (int j = lane; j < n; j += size) to[j] = from[j];
  }

  // Several components of a lane at a time: all their loads are under way before the first store, which the compiler could
  // not move them past.
  static constexpr int BATCH = PARTIALS / size;

  struct Row {
    const real* from;
    real component[BATCH];
    SKDE_FN real at(int j, int k) const { return !BUSY && k < BATCH ? component[k] : from[j]; }
  };
  SKDE_FN Row row(int n, const real* from) const {
    Row row{from, {}};
    if constexpr (!BUSY) {
      row.component[0] = from[min_of(lane, n - 1)];
      // One way around all further ones: to be sent past them one by one takes longer.
      if (n > size)
#pragma unroll
        for (int k = 1; k < BATCH; ++k) row.component[k] = from[min_of(lane + k * size, n - 1)];
    }
    return row;
  }
  SKDE_FN void put(int n, const Row& row, real* to) {
    map(n, to, [&](int j, int k) { return row.at(j, k); });
  }

  template <class At, class Places> SKDE_FN void tally(int n, double* table, At at, Places places) const {
#pragma unroll 1
    for (int base = lane; base < n; base += PARTIALS) {
      decltype(at(0)) read[BATCH];
#pragma unroll
      for (int k = 0; k < BATCH; ++k) read[k] = at(min_of(base + k * size, n - 1));
#pragma unroll
      for (int k = 0; k < BATCH; ++k)
        places(read[k], [&](int place, double amount) {
          if (place >= 0 && base + k * size < n) atomicAdd(table + place, amount);
        });
    }
  }

  // Every warp of a team does the same.
  template <int m, class Term> SKDE_FN auto gather(Term term) const {
    const auto mine = term(min_of(lane % 32, m - 1));
    Several<decltype(term(0)), m> found;
#pragma unroll
    for (int k = 0; k < m; ++k) found.of[k] = __shfl_sync(all_lanes(), mine, k);
    return found;
  }

  // Every warp of a team does the same, and the first one writes.
  template <class Test, class Value> SKDE_FN int pack(int n, Test test, Value value, real* rank, real* packed) const {
    const int l = lane % 32;
    int many = 0;
    for (int base = 0; base < n; base += 32) {
      const int j = base + l;
      const bool holds = j < n && test(j);
      const unsigned held = __ballot_sync(all_lanes(), holds);
      const int before = many + __popc(held & ((1u << l) - 1));
      if (lane < 32 && j < n) rank[j] = real(before);
      if (lane < 32 && holds) packed[before] = value(j);
      many += __popc(held);
    }
    return many;
  }

  // Every warp of a team does the same: a lane adds up neighbours; then the lanes' sums are added up from the left.
  template <int m, int n, class Term> SKDE_FN Several<int, m> middles(Term term) const {
    constexpr int share = (n + 31) / 32;
    const int l = lane % 32;
    int number[m][share], sum[m], up_to[m];
#pragma unroll
    for (int s = 0; s < m; ++s)
#pragma unroll
      for (int q = 0; q < share; ++q) {
        const int j = l * share + q, there = int(term(s, min_of(j, n - 1)));
        number[s][q] = j < n ? there : 0;
      }
#pragma unroll
    for (int s = 0; s < m; ++s) {
      sum[s] = 0;
#pragma unroll
      for (int q = 0; q < share; ++q) sum[s] += number[s][q];
      up_to[s] = sum[s];
    }
#pragma unroll
    for (int step = 1; step < 32; step *= 2)
#pragma unroll
      for (int s = 0; s < m; ++s) {
        const int left = __shfl_up_sync(all_lanes(), up_to[s], step);
        up_to[s] += l >= step ? left : 0;
      }
    Several<int, m> found;
#pragma unroll
    for (int s = 0; s < m; ++s) {
      const int all = __shfl_sync(all_lanes(), up_to[s], 31);
      int both = 0;
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const int wanted = half ? all / 2 + 1 : (all + 1) / 2;
        int j = l * share, so_far = up_to[s] - sum[s];
#pragma unroll
        for (int q = 0; q < share; ++q) so_far += number[s][q], j += so_far < wanted;
        both += __shfl_sync(all_lanes(), j, __ffs(int(__ballot_sync(all_lanes(), up_to[s] >= wanted))) - 1);
      }
      found.of[s] = all > 0 ? both : -1;
    }
    return found;
  }

  template <class Value, class Test> SKDE_FN bool fill(int n, real* out, Value value, Test test) const {
    if (BATCH > 1 && n <= size) return fill_by<1, true>(lane, n, out, value, test);
    bool flag = fill_by<BATCH, true>(lane, n, out, value, test);
#pragma unroll 1
    for (int base = lane + PARTIALS; base < n; base += PARTIALS)
      flag |= fill_by<BATCH, false>(base, n, out, value, test);
    return flag;
  }

  template <class Value> SKDE_FN void map(int n, real* out, Value value) const {
    fill(n, out, value, [](int, real) { return false; });
  }

  SKDE_FN void multiply(const real* columns, const real* z, real* y, int n) const {
    for (int base = lane; base < n; base += PARTIALS) {
      real sum[BATCH];
#pragma unroll
      for (int k = 0; k < BATCH; ++k) sum[k] = real(0);
#pragma unroll 4
      for (int j = 0; j < n; ++j) {
        const real z_j = z[j];
        const real* const column = columns + i64(j) * n + base;
#pragma unroll
        for (int k = 0; k < BATCH; ++k)
          if (base + k * size < n) sum[k] += column[k * size] * z_j;
      }
#pragma unroll
      for (int k = 0; k < BATCH; ++k)
        if (base + k * size < n) y[base + k * size] = sum[k];
    }
  }

 private:
  template <int batch, bool first, class Value, class Test>
  SKDE_FN bool fill_by(int base, int n, real* out, Value value, Test test) const {
    bool flag = false;
    real v[batch];
#pragma unroll
    for (int k = 0; k < batch; ++k) v[k] = value(min_of(base + k * size, n - 1), first ? k : BATCH);
#pragma unroll
    for (int k = 0; k < batch; ++k) {
      const int j = base + k * size;
      if (j < n) out[j] = v[k], flag |= test(j, v[k]);
    }
    return flag;
  }
};

// On the GPU every lane holds the words of its own first components, and computes further ones when it needs them.
template <class Team, class Stream, int = 0> struct ComponentWords {
  Stream stream;
  u32 word[Team::BATCH];

  SKDE_FN ComponentWords(Team& team, const Stream& stream, int n) : stream(stream) {
    word[0] = n > 0 ? stream.component(team.lane) : 0u;
    // One way around all further ones: to be sent past them one by one takes longer than to make them.
    const bool more = n > Team::size;
#pragma unroll
    for (int k = 1; k < Team::BATCH; ++k) word[k] = 0;
    if (!more) return;
#pragma unroll
    for (int k = 1; k < Team::BATCH; ++k)
      if (k * Team::size < n) word[k] = stream.component(k * Team::size + team.lane);
  }
  SKDE_FN u32 at(int j, int k) const { return k < Team::BATCH ? word[k] : stream.here().component(j); }
};

}  // namespace SKDE_NAMESPACE
