// The common part of the GPU's teams, which are tiles of a warp and blocks (team.cuh).
#pragma once
#include "core/reductions.cuh"
#include "random/philox.cuh"

namespace SKDE_NAMESPACE {

// Draws made ahead, a set by each lane of a team in a warp: `many` sets, of which number `now` was asked for last. They are
// those of the first individual in this generation and the ones after it, or (step > 0) of every step-th individual in one
// generation. A team that serves every `stride`-th individual needs those, if it serves several (0: not known) (draws.cuh).
struct Ahead {
  static constexpr int MOST = 3;
  u64 seed = 0;
  i64 generation = 0;
  int individual = -1, many = 0, step = 0, now = 0, stride = 0;
  u32 words[MOST][4];
  double numbers[MOST], retries[MOST];
};

// Whether a multiprocessor holds many teams, which work while others wait: then nothing is loaded early.
constexpr bool BUSY = SKDE_RESIDENT > 1;

// Like Counted, but all counted at once, because loading takes longer than counting.
template <int m> struct Counts {
  int number[m];
  SKDE_FN int of(int which) const { return number[which]; }
};

// Components are dealt to the lanes in turn: component j to lane j mod size.
template <class real_, int size_, class Self> struct Lanes : Reductions<real_, Self> {
  using real = real_;
  static constexpr int size = size_;
  static constexpr int width = size < 32 ? size : 32;  // lanes of the team in a warp
  int lane;
  real* scratch = nullptr;
  Ahead ahead;

  // The lanes of this warp that belong to the team. Other teams in the warp may be elsewhere in the program.
  SKDE_FN static unsigned lanes() {
    return width == 32 ? 0xffffffffu : ((1u << width % 32) - 1) << threadIdx.x % 32 / width * width;
  }
  template <class Value> SKDE_FN static Value from_lane(Value mine, int which) {
    return __shfl_sync(lanes(), mine, which, width);
  }
  // Which of the team's lanes in this warp say so: bit l is lane l.
  SKDE_FN static unsigned ballot(bool says) {
    const unsigned all = __ballot_sync(lanes(), says);
    return width == 32 ? all : (all & lanes()) >> threadIdx.x % 32 / width * width;
  }
  template <class Op, class Value> SKDE_FN static Value fold(Value value) {
#pragma unroll
    for (int half = width / 2; half; half /= 2) value = Op::join(value, __shfl_xor_sync(lanes(), value, half, width));
    return value;
  }

  // Asks the memory for a row that is wanted soon.
  SKDE_FN void fetch(int n, const real* row) const {
    constexpr int CHUNK = 64 / int(sizeof(real));
    for (int j = lane * CHUNK; j < n; j += size * CHUNK) asm volatile("prefetch.global.L2 [%0];" ::"l"(row + j));
  }

  template <class Body> SKDE_FN void each(int n, Body body) const {
#pragma unroll 1
    for (int j = lane; j < n; j += size) body(j);
  }

  SKDE_FN void copy(int n, const real* from, real* to) const {
    if constexpr (BUSY) {
      map(n, to, [=](int j, int) { return from[j]; });
    } else {
#pragma unroll 1
      for (int j = lane; j < n; j += size) to[j] = from[j];
    }
  }

  // Several components of a lane at a time: all their loads are under way before the first store, which the compiler could
  // not move them past. A batch of a team that is a part of a warp or a warp is a multiple of the 32 components that share
  // blocks of random words.
  static constexpr int BATCH = size == PARTIALS && !BUSY ? 1 : size == 4 ? 8 : 4;
  static constexpr int STRIDE = BATCH * size;

  struct Row {
    const real* from;
    real component[BATCH];
    SKDE_FN real at(int j, int k) const { return !BUSY && k >= 0 && k < BATCH ? component[k] : from[j]; }
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
    for (int base = 0; base < n; base += STRIDE) {
      decltype(at(0)) read[BATCH];
#pragma unroll
      for (int k = 0; k < BATCH; ++k) read[k] = at(min_of(base + lane + k * size, n - 1));
#pragma unroll
      for (int k = 0; k < BATCH; ++k)
        places(read[k], [&](int place, double amount) {
          bool adds = place >= 0 && base + lane + k * size < n;
          if constexpr (BUSY) {
            // Many teams add to few places: those of a team's lanes that have the same place add once.
            const unsigned same = __match_any_sync(lanes(), adds ? place : -1);
            adds = adds && __ffs(int(same)) - 1 == int(threadIdx.x % 32);
            amount *= __popc(same);
          }
          if (adds) atomicAdd(table + place, amount);
        });
    }
  }

  // Every warp of a team does the same.
  template <int m, class Term> SKDE_FN auto gather(Term term) const {
    Several<decltype(term(0)), m> found;
#pragma unroll
    for (int first = 0; first < m; first += width) {
      const auto mine = term(min_of(first + lane % width, m - 1));
#pragma unroll
      for (int k = first; k < min_of(first + width, m); ++k) found.of[k] = from_lane(mine, k - first);
    }
    return found;
  }

  template <class Test, class Value>
  SKDE_FN int pack(int n, Test test, Value value, real* rank, real* packed, int first = 0) const {
    return number(n, test, [=](int j, int before, bool holds) {
      rank[j] = real(first + before);
      if (holds) packed[first + before] = value(j);
    });
  }

  // Every warp of a team does the same, and the first one visits.
  template <class Test, class Visit> SKDE_FN int number(int n, Test test, Visit visit) const {
    const int l = lane % width;
    int many = 0;
    for (int base = 0; base < n; base += width) {
      const int j = base + l;
      const bool holds = j < n && test(j);
      const unsigned held = ballot(holds);
      const int before = many + __popc(held & ((1u << l) - 1));
      if (lane < width && j < n) visit(j, before, holds);
      many += __popc(held);
    }
    return many;
  }

  // Every warp of a team does the same: a lane adds up neighbours; then the lanes' sums are added up from the left.
  template <int m, int n, class Term> SKDE_FN Several<int, m> middles(Term term) const {
    constexpr int share = (n + width - 1) / width;
    const int l = lane % width;
    const auto number = [&](int s, int q) {
      const int j = l * share + q, there = int(term(s, min_of(j, n - 1)));
      return j < n ? there : 0;
    };
    // Read once where they are few, and again below where they are many.
    int read[m][FEW] = {};
    const auto again = [&](int s, int q) { return share <= FEW ? read[s][q] : number(s, q); };
    int sum[m], up_to[m];
#pragma unroll
    for (int s = 0; s < m; ++s) {
      sum[s] = 0;
      if constexpr (share <= FEW) {
#pragma unroll
        for (int q = 0; q < share; ++q) read[s][q] = number(s, q), sum[s] += read[s][q];
      } else {
#pragma unroll 1
        for (int q = 0; q < share; ++q) sum[s] += number(s, q);
      }
      up_to[s] = sum[s];
    }
#pragma unroll
    for (int step = 1; step < width; step *= 2)
#pragma unroll
      for (int s = 0; s < m; ++s) {
        const int left = __shfl_up_sync(lanes(), up_to[s], step, width);
        up_to[s] += l >= step ? left : 0;
      }
    Several<int, m> found;
#pragma unroll
    for (int s = 0; s < m; ++s) {
      const int all = from_lane(up_to[s], width - 1);
      int both = 0;
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const int wanted = half ? all / 2 + 1 : (all + 1) / 2;
        int j = l * share, so_far = up_to[s] - sum[s];
        const auto pass = [&](int q) { so_far += again(s, q), j += so_far < wanted; };
        if constexpr (share <= FEW) {
#pragma unroll
          for (int q = 0; q < share; ++q) pass(q);
        } else {
#pragma unroll 1
          for (int q = 0; q < share; ++q) pass(q);
        }
        both += from_lane(j, __ffs(int(ballot(up_to[s] >= wanted))) - 1);
      }
      found.of[s] = all > 0 ? both : -1;
    }
    return found;
  }

  // Of the first batch a component's k is its number among the lane's; in further ones, and in all of them where a
  // multiprocessor holds many teams, it is that minus BATCH, negative, so that the batch's words are made at once
  // (ComponentWords).
  template <class Value, class Test> SKDE_FN bool fill(int n, real* out, Value value, Test test) const {
    if (BATCH > 1 && n <= size) return fill_by<1, true>(0, n, out, value, test);
    bool flag = fill_by<BATCH, true>(0, n, out, value, test);
#pragma unroll 1
    for (int base = STRIDE; base < n; base += STRIDE) flag |= fill_by<BATCH, false>(base, n, out, value, test);
    return flag;
  }

  template <class Value> SKDE_FN void map(int n, real* out, Value value) const {
    fill(n, out, value, [](int, real) { return false; });
  }

  SKDE_FN void multiply(const real* columns, const real* z, real* y, int n) const {
    for (int base = lane; base < n; base += STRIDE) {
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
  static constexpr int FEW = 5;  // numbers of a lane that middles() keeps

  template <int batch, bool first, class Value, class Test>
  SKDE_FN bool fill_by(int base, int n, real* out, Value value, Test test) const {
    bool flag = false;
    real v[batch];
#pragma unroll
    for (int k = 0; k < batch; ++k) v[k] = value(min_of(base + lane + k * size, n - 1), first && !BUSY ? k : k - BATCH);
#pragma unroll
    for (int k = 0; k < batch; ++k) {
      const int j = base + lane + k * size;
      if (j < n) out[j] = v[k], flag |= test(j, v[k]);
    }
    return flag;
  }
};

// Four words of four lanes, eight apart, change places: word k of lane q becomes word q of lane k. Where there are two such
// lanes, a pair of words each.
template <class Team> SKDE_FN void transpose(Words4& words) {
  if constexpr (Team::width > 8) {
    const auto swap = [](u32& low, u32& high, int apart) {
      const bool upper = threadIdx.x & apart;
      const u32 theirs = __shfl_xor_sync(Team::lanes(), upper ? low : high, apart, Team::width);
      (upper ? low : high) = theirs;
    };
    swap(words.w[0], words.w[1], 8);
    swap(words.w[2], words.w[3], 8);
    if constexpr (Team::width == 32) {
      swap(words.w[0], words.w[2], 16);
      swap(words.w[1], words.w[3], 16);
    } else {
      const u32 second = words.w[1];
      words.w[1] = words.w[2], words.w[2] = second;
    }
  }
}

// A block of words serves four components (Stream::component). Where a multiprocessor holds many teams, the words of a batch
// are made when fill() asks for the first of them, and no lane makes a block that another makes. Else every lane makes the
// words of its first components early, and the others when it needs them.
template <class Team, class Stream, int = 0> struct ComponentWords {
  static constexpr int BATCH = Team::BATCH;
  static constexpr bool BATCHED = BUSY && Team::size > 1;
  Stream stream;
  mutable u32 word[BATCH];

  SKDE_FN ComponentWords(Team& team, const Stream& stream, int n) : stream(stream) {
    if constexpr (!BUSY) {
      word[0] = n > 0 ? stream.component(team.lane) : 0u;
#pragma unroll
      for (int k = 1; k < BATCH; ++k) word[k] = 0;
      // One way around all further ones: to be sent past them one by one takes longer than to make them.
      if constexpr (BATCH > 1)
        if (n > Team::size)
#pragma unroll
          for (int k = 1; k < BATCH; ++k)
            if (k * Team::size < n) word[k] = stream.component(k * Team::size + team.lane);
    }
  }
  // With the k of fill(), or the component's number among the lane's.
  SKDE_FN u32 at(int j, int k) const {
    if (!BUSY && k >= 0 && k < BATCH) return word[k];
    if (!BATCHED || k >= 0) return stream.here().component(j);
    // Of the components in a batch, fill() asks for the first one first.
    if (k == -BATCH) make(stream, threadIdx.x % Team::size, j / Team::STRIDE * Team::STRIDE, word);
    return word[k + BATCH];
  }

 private:
  // The words of a lane's components in the batch that begins with component `base`.
  SKDE_FN static void make(const Stream& stream, int lane, int base, u32 (&out)[BATCH]) {
    if constexpr (Team::size == 4) {
      const Words4 even = stream.block(u32(base / 4 + lane)), odd = stream.block(u32(base / 4 + 4 + lane));
#pragma unroll
      for (int k = 0; k < BATCH; ++k) out[k] = k % 2 ? odd.w[k / 2] : even.w[k / 2];
    } else if constexpr (BATCH == 4) {
      constexpr int chunks =
          Team::size / 32 > 1 ? Team::size / 32 : 1;  // of 32 components, that the lanes have at once
      const int chunk = lane / 32 + lane % 32 / 8 * chunks;
      Words4 words = stream.block(u32((base / 32 + chunk) * 8 + lane % 8));
      transpose<Team>(words);
#pragma unroll
      for (int k = 0; k < BATCH; ++k) out[k] = words.w[k];
    }
  }
};

}  // namespace SKDE_NAMESPACE
