// The CPU's team, a single lane that vectorises over the components (team.cuh).
#pragma once
#include "core/reductions.cuh"
#include "random/philox_wide.hpp"

namespace SKDE_NAMESPACE {

// Draws of eight individuals, made ahead (draws.cuh).
struct Ahead {
  static constexpr int MOST = 3;
  u64 seed = 0;
  i64 generation = -1;
  int first = 0;
  alignas(64) u32 words[MOST][32];
  alignas(64) double numbers[MOST][8];
};

struct SortItem {
  u64 key;
  u32 index;
};

template <class real_> struct Lane : Reductions<real_, Lane<real_>> {
  using real = real_;
  static constexpr int lane = 0, size = 1;
  real* scratch = nullptr;
  real* trial = nullptr;  // room for a trial
  u32* words = nullptr;   // three sets of draws of all components
  int room = 0;           // words in a set
  Ahead* ahead = nullptr;
  SortItem* sorting = nullptr;  // two for each value of a large population

  void sync() const {}

  template <class Body> SKDE_FN void each(int n, Body body) const {
    SKDE_SIMD
    for (int j = 0; j < n; ++j) body(j);
  }

  template <class Value> SKDE_FN void map(int n, real* out, Value value) const {
    SKDE_SIMD
    for (int j = 0; j < n; ++j) out[j] = value(j, 0);
  }

  SKDE_FN void copy(int n, const real* from, real* to) const {
    if (from == to) return;
    in_blocks(n, [&](int begin, auto width) SKDE_INLINED {
      SKDE_SIMD
      for (int j = begin; j < begin + width; ++j) to[j] = from[j];
    });
  }

  // Few components are replaced, so that takes another pass.
  static constexpr bool REPLACES = false;

  // There is a mark for each place in a block, of the type of the components, so that marks stay in vector registers.
  template <class Value, class Test> SKDE_FN bool fill(int n, real* out, Value value, Test test) const {
    const auto fill_block = [&](int begin, auto width, real* marks) SKDE_INLINED {
      SKDE_SIMD
      for (int k = 0; k < width; ++k) {
        const real v = value(begin + k, 0);
        out[begin + k] = v;
        marks[k] = test(begin + k, v) ? real(1) : marks[k];
      }
    };
    const auto fill_blocks = [&](int begin, int end, auto width) SKDE_INLINED {
      alignas(64) real marks[width] = {};
      for (; begin < end; begin += width) fill_block(min_of(begin, end - width), width, marks);
      return any<width>(marks);
    };
    if constexpr (BLOCKS)
      if (n >= BLOCK) {
        const int large = n / LARGE_BLOCK * LARGE_BLOCK;
        const bool marked = large > 0 && fill_blocks(0, large, Width<LARGE_BLOCK>{});
        return large == n ? marked : marked | fill_blocks(large, n, Width<BLOCK>{});
      }
    return fill_blocks(0, n, Width<1>{});
  }

  // Starts to load a row that is read soon.
  SKDE_FN void fetch(int n, const real* row) const {
    for (int j = 0; j < n; j += 64 / int(sizeof(real))) __builtin_prefetch(row + j);
    __builtin_prefetch(row + n - 1);
  }

  template <int m = 1> SKDE_APART void multiply(const real* columns, const real* z, real* y, int n) const {
    static_assert(m == 1, "a lane of a CPU evaluates one point at a time");
    int i = 0;
    for (; i + ROWS <= n; i += ROWS) rows(columns + i, z, y + i, n, ROWS);
    if (i < n) rows(columns + i, z, y + i, n, n - i);
  }

  // order[begin] ... order[end - 1]: the indices begin ... end - 1 in the order of their values. A radix sort by 8 bits
  // at a time, from the lowest ones: it does not change the order of equal values.
  template <class At> SKDE_APART void sort(int begin, int end, At at, i64* order) const {
    const int many = end - begin;
    SortItem *from = sorting, *to = sorting + many;
    u32 counts[8][256] = {};
    for (int k = 0; k < many; ++k) {
      const u64 key = order_key(double(at(begin + k)));
      from[k] = {key, u32(begin + k)};
      for (int digit = 0; digit < 8; ++digit) ++counts[digit][key >> 8 * digit & 255];
    }
    for (int digit = 0; digit < 8; ++digit) {
      u32 first = 0;
      bool sorted = false;  // all values have the same digit
      for (u32& count : counts[digit]) {
        const u32 here = count;
        sorted |= here == u32(many);
        count = first, first += here;
      }
      if (sorted) continue;
      for (int k = 0; k < many; ++k) to[counts[digit][from[k].key >> 8 * digit & 255]++] = from[k];
      SortItem* const swapped = from;
      from = to, to = swapped;
    }
    for (int k = 0; k < many; ++k) order[begin + k] = from[k].index;
  }

  template <class Test> SKDE_FN int count(int n, Test test) const {
    if constexpr (BLOCKS) {
      if (n >= 16) return count_by<16>(n, test);
      if (n >= 8) return count_by<8>(n, test);
    }
    int total = 0;
    for (int j = 0; j < n; ++j) total += test(j);
    return total;
  }

  template <int m, class At, class Terms> SKDE_FN auto counts(int n, At at, Terms terms) const {
    return Counted<const Lane, m, At, Terms>{*this, n, at, terms};
  }

  struct Row {
    const real* from;
    SKDE_FN real at(int j, int) const { return from[j]; }
  };
  SKDE_FN Row row(int, const real* from) const { return {from}; }
  SKDE_FN void put(int n, const Row& row, real* to) const { copy(n, row.from, to); }

  template <class At, class Places> SKDE_FN void tally(int n, double* table, At at, Places places) const {
    const auto add = [=](int place, double amount) {
      if (place >= 0) table[place] += amount;
    };
    for (int j = 0; j < n; ++j) places(at(j), add);
  }

  template <int m, class Term> SKDE_FN auto gather(Term term) const {
    Several<decltype(term(0)), m> found;
    for (int k = 0; k < m; ++k) found.of[k] = term(k);
    return found;
  }

  // All sums in one pass, as reduce() makes one of them.
  template <int m, class At, class Terms> SKDE_FN Several<real, m> sums(int n, At at, Terms terms) const {
    Several<real, m> found{};
    if (n <= 0) return found;
    alignas(64) real partial[m][PARTIALS];
    const int head = n < PARTIALS ? n : PARTIALS;
    in_blocks(head, [&](int begin, auto width) SKDE_INLINED {
      SKDE_SIMD
      for (int j = begin; j < begin + width; ++j) {
        real t[m];
        terms(at(j), true, t);
        for (int k = 0; k < m; ++k) partial[k][j] = real(0) + t[k];
      }
    });
    for (int base = PARTIALS; base < n; base += PARTIALS) {
      const int rest = n - base < PARTIALS ? n - base : PARTIALS;
      SKDE_SIMD
      for (int j = 0; j < rest; ++j) {
        real t[m];
        terms(at(base + j), true, t);
        for (int k = 0; k < m; ++k) partial[k][j] += t[k];
      }
    }
    for (int k = 0; k < m; ++k) found.of[k] = fold<Add>(partial[k], head);
    return found;
  }

  template <class Probe> SKDE_FN int first(int n, Probe probe) const {
    for (int j = 0; j < n; ++j) {
      const int found = probe(j);
      if (found >= 0) return found;
    }
    return -1;
  }

  template <class Value> SKDE_FN int least(int n, Value value) const {
    const real lowest = -reduce<Maximum>(n, [&](int j) { return is_nan(value(j)) ? -real(infinity()) : -value(j); });
    return first(n, [&](int j) { return value(j) == lowest ? j : -1; });
  }

  template <class Find, class From, class To>
  SKDE_FN void copy_found(int begin, int end, Find find, int n, From from, To to) const {
    for (int k = begin; k < end; ++k) {
      const i64 found = find(k);
      if (found >= 0) copy(n, from(found), to(found));
    }
  }

  SKDE_FN Compared compare_all(int begin, int end, const u64* keys, u64 mine) const {
    Compared found{begin, 0, 0};
    for (int k = begin; k < end; ++k) found.smaller += keys[k] < mine, found.equal += keys[k] == mine;
    return found;
  }

  template <class Test, class Visit> SKDE_FN int number(int n, Test test, Visit visit) const {
    int many = 0;
    for (int j = 0; j < n; ++j) {
      const bool holds = test(j);
      visit(j, many, holds);
      many += holds;
    }
    return many;
  }

  template <class Contest> SKDE_FN int in_turn(int n, const Contest& contest) const {
    int many = 0;
    for (int j = 0; j < n; ++j) {
      const auto item = contest.at(j);
      const auto rival = contest.rival(item, many);
      const bool holds = contest.test(item, rival);
      contest.visit(j, item, many, rival, holds);
      many += holds;
    }
    return many;
  }

  template <int m, int n, class Term> SKDE_FN Several<int, m> middles(Term term) const {
    Several<int, m> found;
    for (int s = 0; s < m; ++s) {
      int all = 0, low = 0, sum = int(term(s, 0));
      for (int j = 0; j < n; ++j) all += int(term(s, j));
      for (; low < n - 1 && sum < (all + 1) / 2; sum += int(term(s, ++low))) {
      }
      int high = low;
      for (; high < n - 1 && sum < all / 2 + 1; sum += int(term(s, ++high))) {
      }
      found.of[s] = all > 0 ? low + high : -1;
    }
    return found;
  }

  template <class Value, class Worth> SKDE_FN real largest(int n, Value value, Worth worth) const {
    alignas(64) real values[PARTIALS];
    real most = Maximum::identity<real>();
    for (int base = 0; base < n; base += PARTIALS) {
      const int many = n - base < PARTIALS ? n - base : PARTIALS;
      SKDE_SIMD
      for (int j = 0; j < many; ++j) values[j] = value(base + j);
      for (int j = 0; j < many; ++j) most = Maximum::join(most, real(worth(values[j])));
    }
    return most;
  }

  template <class Op, class Term> SKDE_FN real reduce(int n, Term term) const {
    if (n <= 0) return Op::template identity<real>();
    alignas(64) real partial[PARTIALS];
    const int head = n < PARTIALS ? n : PARTIALS;
    in_blocks(head, [&](int begin, auto width) {
      SKDE_SIMD
      for (int j = begin; j < begin + width; ++j) partial[j] = Op::join(Op::template identity<real>(), real(term(j)));
    });
    for (int base = PARTIALS; base < n; base += PARTIALS) {
      const int rest = n - base < PARTIALS ? n - base : PARTIALS;
      SKDE_SIMD
      for (int j = 0; j < rest; ++j) partial[j] = Op::join(partial[j], real(term(base + j)));
    }
    return fold<Op>(partial, head);
  }

 private:
  // Partial sums without a component are the identity, so folding starts at the smallest width that has all others.
  template <class Op> SKDE_FN static real fold(real* partial, int head) {
    int width = 1;
    while (width < head) width *= 2;
    for (int j = head; j < width && j < PARTIALS; ++j) partial[j] = Op::template identity<real>();
    if (width == 128) halve<Op, 64>(partial), width = 64;
    if (width == 64) halve<Op, 32>(partial), width = 32;
    if (width == 32) halve<Op, 16>(partial), width = 16;
    if (width == 16) halve<Op, 8>(partial), width = 8;
    if (width == 8) halve<Op, 4>(partial), width = 4;
    if (width == 4) halve<Op, 2>(partial), width = 2;
    if (width == 2) halve<Op, 1>(partial);
    return partial[0];
  }

  // A build without vector instructions has one loop instead of blocks, which compiles in less time.
#ifdef SKDE_SCALAR
  static constexpr bool BLOCKS = false;
#else
  static constexpr bool BLOCKS = true;
#endif
  static constexpr int BLOCK = 8, LARGE_BLOCK = 32;
  template <int n> struct Width {
    constexpr operator int() const { return n; }
  };

  // body(begin, width) for blocks that cover 0 ... n - 1. The last one may begin within the one before, because the
  // compiler would process a rest smaller than a vector one by one. Large blocks fill the widest vectors of 4-byte
  // numbers.
  template <class Body> SKDE_FN static void in_blocks(int n, Body body) {
    int begin = 0;
    if constexpr (BLOCKS) {
      for (; begin + LARGE_BLOCK <= n; begin += LARGE_BLOCK) body(begin, Width<LARGE_BLOCK>{});
      if (n >= BLOCK)
        for (; begin < n; begin += BLOCK) body(min_of(begin, n - BLOCK), Width<BLOCK>{});
    }
    for (; begin < n; ++begin) body(begin, Width<1>{});
  }

  // Whether a mark is set. Marks are added in pairs while they are wider than a small block, with vectors as wide as
  // those that wrote them.
  template <int width> SKDE_FN static bool any(real* marks) {
    if constexpr (width > BLOCK / 2) {
      halve<Add, width / 2>(marks);
      return any<width / 2>(marks);
    }
    real marked = 0;
    SKDE_SIMD_ADD(marked)
    for (int k = 0; k < width; ++k) marked += marks[k];
    return marked != 0;
  }

  // The rest after the whole vectors is counted in a vector that ends with it; there a test of numbers counted before
  // adds 0.
  template <int width, class Test> SKDE_FN static int count_by(int n, Test test) {
    const int whole = n / width * width, last = n - width;
    alignas(64) int lanes[width];
    SKDE_SIMD
    for (int k = 0; k < width; ++k) lanes[k] = int(last + k >= whole) * int(test(last + k));
    for (int begin = 0; begin < whole; begin += width) {
      SKDE_SIMD
      for (int k = 0; k < width; ++k) lanes[k] += int(test(begin + k));
    }
    int total = 0;
    SKDE_SIMD_ADD(total)
    for (int k = 0; k < width; ++k) total += lanes[k];
    return total;
  }

  // The product of `many` rows of a matrix and z; at most ROWS, so that the sums stay in registers.
  static constexpr int ROWS = 32;
  SKDE_FN static void rows(const real* columns, const real* z, real* y, int n, int many) {
    alignas(64) real sum[ROWS];
    for (int k = 0; k < ROWS; ++k) sum[k] = real(0);
    for (int j = 0; j < n; ++j, columns += n) {
      const real z_j = z[j];
      SKDE_SIMD
      for (int k = 0; k < many; ++k) sum[k] += columns[k] * z_j;
    }
    for (int k = 0; k < many; ++k) y[k] = sum[k];
  }

  template <class Op, int half> SKDE_FN static void halve(real* partial) {
    SKDE_SIMD
    for (int j = 0; j < half; ++j) partial[j] = Op::join(partial[j], partial[j + half]);
  }
};

// The random words of components 0 ... n-1 of a stream. The CPU computes them all at once, eight blocks at a time.
// There is memory for three sets.
template <class Team, class Stream, int set = 0> struct ComponentWords {
  const u32* word;
  SKDE_FN ComponentWords(Team& team, const Stream& stream, int n) : word(team.words + set * team.room) {
    u32* const out = team.words + set * team.room;
    for (int base = 0; base < n; base += 32)
      philox_eight<Eight::SLOTS>(u32(base / 4), stream.counter, stream.generation, stream.seed, out + base);
  }
  SKDE_FN u32 at(int j, int) const { return word[j]; }
};

// The same where not all lanes of a team need their words: here there is one lane.
template <class Team, class Stream, int set> struct LaneWords : ComponentWords<Team, Stream, set> {
  using ComponentWords<Team, Stream, set>::ComponentWords;
  SKDE_FN u32 at(int j) const { return this->word[j]; }
};

}  // namespace SKDE_NAMESPACE
