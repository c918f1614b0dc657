// The common part of the GPU's teams, which are tiles of a warp and blocks (team.cuh).
#pragma once
#include "core/reductions.cuh"
#include "random/philox.cuh"

namespace SKDE_NAMESPACE {

// Draws made ahead, a set by each lane of a team in a warp: `many` sets, of which number `now` was used last
// (draws.cuh). They are those of one individual in consecutive generations (step = 0), or those of every step-th
// individual in one generation. stride: the step between the individuals of this team, or 0 where it is not given.
struct Ahead {
  static constexpr int MOST = 3;
  u64 seed = 0;
  i64 generation = 0;
  int individual = -1, many = 0, step = 0, now = 0, stride = 0;
  u32 words[MOST][4];
  double numbers[MOST], retries[MOST];
};

// Whether a multiprocessor has many teams. Then other teams work while one waits, and no value is loaded early into
// registers, of which there are few for a team.
constexpr bool BUSY = SKDE_RESIDENT > 1;

// Like Counted, but all numbers are counted at once, because loading takes longer than counting.
template <int m> struct Counts {
  int number[m];
  SKDE_FN int of(int which) const { return number[which]; }
  SKDE_FN int of(int which, int, int) const { return number[which]; }
};

// Component j belongs to lane j mod size.
template <class real_, int size_, class Self> struct Lanes : Reductions<real_, Self> {
  using real = real_;
  static constexpr int size = size_;
  static constexpr int width = size < 32 ? size : 32;  // lanes of the team in a warp
  int lane;
  real* scratch = nullptr;
  Ahead ahead;

  // The lanes of this warp that belong to the team. Other teams in the warp may execute other code.
  SKDE_FN static unsigned lanes() {
    return width == 32 ? 0xffffffffu : ((1u << width % 32) - 1) << threadIdx.x % 32 / width * width;
  }
  // body(those lanes), or body(all lanes of the warp) where these execute this together: a constant takes less time.
  template <class Body> SKDE_FN static auto with_lanes(Body body) {
    constexpr unsigned ALL = 0xffffffffu;
    if (width == 32 || __activemask() == ALL) return body(ALL);
    return body(lanes());
  }
  template <class Value> SKDE_FN static Value from_lane(Value mine, int which) {
    return with_lanes([&](unsigned mask) { return __shfl_sync(mask, mine, which, width); });
  }
  // The lanes of the team in this warp where `holds` is true: bit l is lane l.
  SKDE_FN static unsigned ballot(bool holds) {
    const unsigned all = with_lanes([&](unsigned mask) { return __ballot_sync(mask, holds); });
    return width == 32 ? all : (all & lanes()) >> threadIdx.x % 32 / width * width;
  }
  template <class Op, class Value> SKDE_FN static Value fold(Value value) {
    return with_lanes([&](unsigned mask) {
#pragma unroll
      for (int half = width / 2; half; half /= 2) value = Op::join(value, __shfl_xor_sync(mask, value, half, width));
      return value;
    });
  }

  // Starts to load a row that is read soon.
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

  // A batch is several components of a lane, all of which are loaded before the first is stored: the compiler could not
  // move a load in front of a store. A batch of eight lanes or more is a multiple of the 32 components that share blocks
  // of random words; that of four lanes is half of them.
  static constexpr int BATCH = size == PARTIALS && !BUSY ? 1 : 4;
  static constexpr int STRIDE = BATCH * size;

  struct NoReplacement {};  // of fill()

  struct Row {
    const real* from;
    real component[BATCH];
    SKDE_FN real at(int j, int k) const { return !BUSY && k >= 0 && k < BATCH ? component[k] : from[j]; }
  };
  SKDE_FN Row row(int n, const real* from) const {
    Row row{from, {}};
    if constexpr (!BUSY) {
      row.component[0] = from[min_of(lane, n - 1)];
      // A single branch around all further loads takes less time than one for each.
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
            // Many teams add to few places, so the lanes of a team that have the same place add once.
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

  // Every warp of a team does the same; the first one calls visit().
  template <class Test, class Visit> SKDE_FN int number(int n, Test test, Visit visit) const {
    constexpr int AT_ONCE = 4;  // tests
    const int l = lane % width;
    int many = 0;
#pragma unroll 1
    for (int base = l; base < n + l; base += AT_ONCE * width) {
      bool holds[AT_ONCE];
#pragma unroll
      for (int k = 0; k < AT_ONCE; ++k) holds[k] = test(min_of(base + k * width, n - 1));
#pragma unroll
      for (int k = 0; k < AT_ONCE; ++k) {
        const int j = base + k * width;
        const bool counts = holds[k] & (j < n);
        const unsigned held = ballot(counts);
        const int before = many + __popc(held & ((1u << l) - 1));
        if (lane < width && j < n) visit(j, before, counts);
        many += __popc(held);
      }
    }
    return many;
  }

  // Every warp of a team does the same; the first one calls visit(). A lane has several items of a batch, one of each
  // row, and loads those of the next batch one batch early. At first they are tested against values in memory. Then rows
  // are decided one after the other: where the rival of an item has come before it in the batch, the row is tested
  // again, against those for which the test held, until nothing changes. After k times its first k items are right, and
  // nearly always all are after two or three.
  template <class Contest> SKDE_FN int in_turn(int n, const Contest& contest) const {
    constexpr int ROWS = 4, ALL = ROWS * width;
    using Item = decltype(contest.at(0));
    const int l = lane % width;
    const unsigned earlier = (1u << l) - 1;  // lanes
    Item item[ROWS], next[ROWS];
    const auto load = [&](int base) {
#pragma unroll
      for (int k = 0; k < ROWS; ++k) next[k] = contest.at(min_of(base + k * width, n - 1));
    };
    int many = 0;
    load(l);
#pragma unroll 1
    for (int base = l; base < n + l; base += ALL) {
      const int first = many;
      int number[ROWS], before[ROWS];  // of an item: reads(), from the first of the batch
      real in_memory[ROWS], rival[ROWS];
      unsigned held[ROWS];
#pragma unroll
      for (int k = 0; k < ROWS; ++k) {
        item[k] = next[k], in_memory[k] = contest.rival(item[k], first);
        number[k] = contest.reads(item[k]) - first;
      }
#pragma unroll
      for (int k = 0; k < ROWS; ++k) {
        rival[k] = in_memory[k];
        held[k] = ballot(contest.test(item[k], rival[k]) & (base + k * width < n));
      }
      load(base + ALL);
      const auto in_batch = [&](int k) { return (unsigned(number[k]) < unsigned(ALL)) & (base + k * width < n); };
      bool any_in_batch = false;
#pragma unroll
      for (int k = 0; k < ROWS; ++k) any_in_batch |= in_batch(k);
      any_in_batch = ballot(any_in_batch);
      const auto settle = [&](int k) {
        for (bool had_come = false;;) {
          before[k] = many + __popc(held[k] & earlier);
          const bool open = in_batch(k), has_come = open & (number[k] < before[k] - first);
          if (!ballot(has_come | had_come)) return;
          const real value = held_value(held, k, number[k], [&](int row) { return contest.value(item[row]); });
          rival[k] = has_come ? value : in_memory[k], had_come = has_come;
          const unsigned now = ballot(open ? contest.test(item[k], rival[k]) : held[k] >> l & 1);
          if (now == held[k]) return;
          held[k] = now;
        }
      };
      if (SKDE_RARELY(any_in_batch)) {
#pragma unroll
        for (int k = 0; k < ROWS; ++k) settle(k), many += __popc(held[k]);
      } else {
#pragma unroll
        for (int k = 0; k < ROWS; ++k) before[k] = many + __popc(held[k] & earlier), many += __popc(held[k]);
      }
#pragma unroll
      for (int k = 0; k < ROWS; ++k)
        if (lane < width && base + k * width < n)
          contest.visit(base + k * width, item[k], before[k], rival[k], held[k] >> l & 1);
      static_cast<const Self*>(this)->sync();
    }
    return many;
  }

  // Every warp of a team does the same. Several rows are loaded before the first is stored.
  template <class Find, class From, class To>
  SKDE_FN void copy_found(int begin, int end, Find find, int n, From from, To to) const {
    constexpr int AT_ONCE = 8;
    for (int base = begin; base < end; base += width) {
      const int k = base + lane % width;
      const i64 mine = k < end ? find(k) : -1;
      for (unsigned left = ballot(mine >= 0); left;) {
        const int many = __popc(left);
        const real* source[AT_ONCE];
        real* target[AT_ONCE];
#pragma unroll
        for (int row = 0; row < AT_ONCE; ++row) {
          const i64 found = from_lane(mine, __ffs(int(left)) - 1);
          source[row] = from(found), target[row] = to(found);
          left = row + 1 < many ? left & (left - 1) : left;
        }
        left = many > AT_ONCE ? left : 0;
#pragma unroll 1
        for (int j = lane; j < n; j += size) {
          real component[AT_ONCE];
#pragma unroll
          for (int row = 0; row < AT_ONCE; ++row) component[row] = source[row][j];
#pragma unroll
          for (int row = 0; row < AT_ONCE; ++row)
            if (row < many) target[row][j] = component[row];
        }
      }
    }
  }

  // A lane loads one of the next keys, and the lanes pass them on.
  SKDE_FN Compared compare_all(int begin, int end, const u64* keys, u64 mine) const {
    begin = from_lane(begin, 0), end = from_lane(end, width - 1);
    const auto load = [&](int base) {
      const int k = base + lane % width;
      return k < end ? keys[k] : ~u64(0);
    };
    int smaller = 0, equal = 0;
    u64 next = load(begin);
#pragma unroll 1
    for (int base = begin; base < end; base += width) {
      const u64 key = next;
      next = load(base + width);
#pragma unroll
      for (int from = 0; from < width; ++from) {
        const u64 other = from_lane(key, from);
        smaller += other < mine, equal += other == mine;
      }
    }
    return {begin, smaller, equal};
  }

  // Every warp of a team does the same: a lane adds numbers next to each other; then follow the prefix sums of the
  // lanes' sums.
  template <int m, int n, class Term> SKDE_FN Several<int, m> middles(Term term) const {
    constexpr int share = (n + width - 1) / width;
    const int l = lane % width;
    const auto number = [&](int s, int q) {
      const int j = l * share + q, there = int(term(s, min_of(j, n - 1)));
      return j < n ? there : 0;
    };
    // Few numbers are read once and stored; many are read again below.
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

  // k is the place of a component in its batch, of the first batch. In later batches, and in all of them where a
  // multiprocessor has many teams, it is that minus BATCH, so negative: then the words of the batch are made at once
  // (ComponentWords).
  template <class Value, class Test> SKDE_FN bool fill(int n, real* out, Value value, Test test) const {
    return fill(n, out, value, test, NoReplacement{});
  }

  // A batch is still in registers where its components are replaced: another pass would wait for each of them. Where a
  // multiprocessor has few teams, the registers cost more than the pass.
  static constexpr bool REPLACES = BUSY;
  template <bool replacement_writes = false, class Value, class Test, class Replacement>
  SKDE_FN bool fill(int n, real* out, Value value, Test test, Replacement replacement) const {
    // Where there are many teams, those of less than a warp have more components than lanes (launch_plan.py).
    if (BATCH > 1 && (size >= WARP || !BUSY) && n <= size)
      return fill_by<1, true, replacement_writes>(0, n, out, value, test, replacement);
    bool flag = false;
    if constexpr (!BUSY) flag = fill_by<BATCH, true, replacement_writes>(0, n, out, value, test, replacement);
#pragma unroll 1
    for (int base = BUSY ? 0 : STRIDE; base < n; base += STRIDE)
      flag |= fill_by<BATCH, false, replacement_writes>(base, n, out, value, test, replacement);
    return flag;
  }

  template <class Value> SKDE_FN void map(int n, real* out, Value value) const {
    fill(n, out, value, [](int, real) { return false; });
  }

  template <int m = 1> SKDE_FN void multiply(const real* columns, const real* z, real* y, int n) const {
    if constexpr (m > 1) return multiply_together<m>(columns, z, y, n);
    constexpr int AT_ONCE = BATCH == 1 ? 20 : 4;  // columns that are read at a time
    for (int base = lane; base < n; base += STRIDE) {
      real sum[BATCH];
#pragma unroll
      for (int k = 0; k < BATCH; ++k) sum[k] = real(0);
#pragma unroll AT_ONCE
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
  // value(row) in the lane of set bit number `which`, from 0, of the words held[row], rows up to `last`; any value where
  // they have no such bit.
  template <int rows, class Value>
  SKDE_FN static real held_value(const unsigned (&held)[rows], int last, int which, Value value) {
    unsigned bits = held[0];
    int row = 0, rest = which, place = 0;
#pragma unroll
    for (int k = 1, first = __popc(held[0]); k <= last; first += __popc(held[k]), ++k)
      if (which >= first) bits = held[k], row = k, rest = which - first;
#pragma unroll
    for (int half = 16; half; half /= 2) {
      const int low = __popc(bits & ((1u << half) - 1));
      if (rest >= low) rest -= low, bits >>= half, place += half;
    }
    real found = 0;
#pragma unroll
    for (int k = 0; k <= last; ++k) {
      const real of_row = from_lane(value(k), place % width);
      found = k == row ? of_row : found;
    }
    return found;
  }

  static constexpr int FEW = 5;  // numbers of a lane that middles() stores

  // multiply() for several vectors, which are in shared memory. A lane makes up to four rows for all of them. The last
  // n % size rows would be made by as many lanes, one row each, while the others wait: if these rows are few, each lane
  // makes one of them for one of the vectors, along with its other rows. Apart, so that the sums have registers.
  template <int m> SKDE_APART void multiply_together(const real* columns, const real* z, real* y, int n) const {
    __builtin_assume(__isShared(z));
    __builtin_assume(__isShared(y));
    const int more = n % size, rest = (n - more) % (4 * size) != 0 && m * more <= size ? more : 0;
    int base = 0;
    for (; n - rest - base > 4 * size; base += 4 * size) multiply_rows<m, 4, false>(columns, z, y, n, base, 0);
    switch ((n - rest - base + size - 1) / size) {
      case 1: return multiply_rows<m, 1>(columns, z, y, n, base, rest);
      case 2: return multiply_rows<m, 2>(columns, z, y, n, base, rest);
      case 3: return multiply_rows<m, 3>(columns, z, y, n, base, rest);
      default: return multiply_rows<m, 4, false>(columns, z, y, n, base, 0);
    }
  }
  template <int m, int rows>
  SKDE_FN void multiply_rows(const real* columns, const real* z, real* y, int n, int base, int rest) const {
    if (rest > 0)
      multiply_rows<m, rows, true>(columns, z, y, n, base, rest);
    else
      multiply_rows<m, rows, false>(columns, z, y, n, base, rest);
  }

  // The rows base + lane + k size, k < rows, of a matrix for m vectors; and of the last `rest` rows one for one vector.
  // There is no branch between the loads.
  template <int m, int rows, bool has_rest>
  SKDE_FN void multiply_rows(const real* columns, const real* z, real* y, int n, int base, int rest) const {
    int row[rows];
    real sum[m][rows], sum_rest = 0;
#pragma unroll
    for (int k = 0; k < rows; ++k) row[k] = min_of(base + lane + k * size, n - 1);
#pragma unroll
    for (int p = 0; p < m; ++p)
#pragma unroll
      for (int k = 0; k < rows; ++k) sum[p][k] = real(0);
    const int of_rest = has_rest ? min_of(lane, m * rest - 1) : 0, vector = has_rest ? of_rest / rest : 0;
    const int row_rest = n - rest + of_rest - vector * rest;
#pragma unroll 4
    for (int j = 0; j < n; ++j) {
      real element[rows];
#pragma unroll
      for (int k = 0; k < rows; ++k) element[k] = columns[product(j, n) + row[k]];
      if constexpr (has_rest) sum_rest += columns[product(j, n) + row_rest] * z[vector * n + j];
#pragma unroll
      for (int p = 0; p < m; ++p) {
        const real z_j = z[p * n + j];
#pragma unroll
        for (int k = 0; k < rows; ++k) sum[p][k] += element[k] * z_j;
      }
    }
    const int end = n - rest;
#pragma unroll
    for (int p = 0; p < m; ++p)
#pragma unroll
      for (int k = 0; k < rows; ++k)
        if (base + lane + k * size < end) y[p * n + base + lane + k * size] = sum[p][k];
    if (has_rest && lane < m * rest) y[vector * n + row_rest] = sum_rest;
  }

  template <int batch, bool first, bool replacement_writes, class Value, class Test, class Replacement>
  SKDE_FN bool fill_by(int base, int n, real* out, Value value, Test test, Replacement replacement) const {
    const auto component = [&](int k) { return base + lane + k * size; };
    bool any = false;
    real v[batch];
#pragma unroll
    for (int k = 0; k < batch; ++k) v[k] = value(min_of(component(k), n - 1), first && !BUSY ? k : k - BATCH);
    if constexpr (!is_same<Replacement, NoReplacement>) {
      bool holds[batch];
#pragma unroll
      for (int k = 0; k < batch; ++k) any |= holds[k] = component(k) < n && test(component(k), v[k]);
      if (size > WARP ? ballot(any) != 0 : any)
#pragma unroll
        for (int k = 0; k < batch; ++k) {
          if constexpr (replacement_writes) {
            if (holds[k]) v[k] = replacement(component(k), v[k], true);
          } else {
            if (base + k * size < n) v[k] = replacement(min_of(component(k), n - 1), v[k], holds[k]);
          }
        }
    }
#pragma unroll
    for (int k = 0; k < batch; ++k) {
      const int j = component(k);
      if (j < n) {
        out[j] = v[k];
        if constexpr (is_same<Replacement, NoReplacement>) any |= test(j, v[k]);
      }
    }
    return any;
  }
};

}  // namespace SKDE_NAMESPACE
