// The order of a population's values: order[k] becomes the index of the k-th best of n, NaN last, equal ones by their index.
//
// Few values are ranked by counting: each by the team of its individual, all at once. Many are sorted, in stages with a
// barrier after each: pieces first, then neighbouring sorted pieces are merged, where every value finds its place in the
// other pieces by bisection. The work then grows as n log n (on a GPU n log^2 n, with few barriers).
#pragma once
#include "core/select.cuh"

namespace SKDE_NAMESPACE {

// The largest number of values that are ranked by counting, where it takes less time than sorting: measured.
constexpr int COUNTED_BY_CPU = 512, COUNTED_BY_GPU = 2048;
#ifdef __CUDACC__
constexpr int COUNTED = COUNTED_BY_GPU;
#else
constexpr int COUNTED = COUNTED_BY_CPU;
#endif
// Whether so many values are sorted. The GPU's kernels for batches that have none are compiled without.
#if defined(__CUDACC__) && !defined(SKDE_LARGE)
SKDE_FN constexpr bool is_large(int) { return false; }
#else
SKDE_FN constexpr bool is_large(int n) { return n > COUNTED; }
#endif
constexpr int GPU_PIECE = 512;  // values of a piece on a GPU; on a CPU each thread has one piece

// Sorted parts that one stage merges. A GPU has few barriers then, and the bisections in different parts do not wait for each
// other.
constexpr int MERGED_BY_CPU = 2, MERGED_BY_GPU = 4;
#ifdef __CUDACC__
constexpr int MERGED = MERGED_BY_GPU;
#else
constexpr int MERGED = MERGED_BY_CPU;
#endif

// The number of stages that merge a number of pieces.
SKDE_FN int merging_stages(int pieces, int merged = MERGED) {
  int stages = 0;
  for (; pieces > 1; pieces = (pieces + merged - 1) / merged) ++stages;
  return stages;
}
template <class Share> SKDE_FN int sort_stages(const Share& share, int n) {
  return 1 + merging_stages(share.pieces(n));
}

// A step of a bisection: the `many` sorted values from at(low) on are not yet compared with `value`; `ties`: whether an equal
// one comes before it.
template <class At, class real> SKDE_FN void bisect_once(int& low, int& many, At at, real value, bool ties) {
  const int half = many / 2;
  const real other = at(low + half);
  const bool before = is_nan(value) ? !is_nan(other) | ties : comes_before(other, value, ties) != 0;
  low = before ? low + half + 1 : low;
  many = before ? many - half - 1 : half;
}
// The number of the sorted values at(begin) ... at(end - 1) that come before `value`.
template <class At, class real> SKDE_FN int bisect(int begin, int end, At at, real value, bool ties) {
  int low = begin;
  for (int many = end - begin; many > 0;) bisect_once(low, many, at, value, ties);
  return low - begin;
}

// The first stage: every piece is sorted. On a GPU each value is ranked within its piece by the team of its individual.
template <class Team, class Share, class At>
SKDE_FN void sort_pieces(Team& team, const Share& share, int n, At at, i64* order) {
#ifdef __CUDACC__
  for (int i = share.begin; i < n; i += share.step) {
    const int piece = share.piece_of(n, i), begin = share.bound(n, piece), end = share.bound(n, piece + 1);
    const int place = count_before(
        team, end - begin, [&](int k) { return at(begin + k); }, at(i), [&](int k) { return begin + k < i; });
    if (team.lane == 0) order[begin + place] = i;
  }
#else
  team.sort(share.bound(n, share.part), share.bound(n, share.part + 1), at, order);
#endif
}

// One stage of sorting n values at(k). `other` is a second array like `order`, which the stages use in turn.
template <class Team, class Share, class At>
SKDE_FN void sort_stage(Team& team, const Share& share, int n, At at, int stage, i64* order, i64* other) {
  const int rounds = sort_stages(share, n) - 1;
  const auto after = [&](int stage) { return (rounds - stage) % 2 ? other : order; };
  i64* const to = after(stage);
  if (stage == 0) return sort_pieces(team, share, n, at, to);
  const i64* const from = after(stage - 1);
  int pieces = 1;  // in a sorted part
  for (int merged = 1; merged < stage; ++merged) pieces *= MERGED;
  share.each_position(team, n, [&](int p) {
    const int part = share.piece_of(n, p) / pieces, own = part % MERGED, first = part - own;
    const auto bound = [&](int part) { return share.bound(n, part * pieces); };
    const int index = int(from[p]);
    const auto value = [&](int p) { return at(int(from[p])); };
    const auto mine = at(index);
    // A step of all bisections, and then the next one.
    int low[MERGED], many[MERGED], place = p - bound(part), longest = 0;
    SKDE_UNROLL
    for (int k = 0; k < MERGED; ++k) {
      low[k] = bound(first + k), many[k] = k == own ? 0 : bound(first + k + 1) - low[k];
      place += k == own ? low[0] : -low[k];
      longest = max_of(longest, many[k]);
    }
    for (; longest > 0; longest /= 2) {
      SKDE_UNROLL
      for (int k = 0; k < MERGED; ++k)
        if (many[k] > 0) bisect_once(low[k], many[k], value, mine, k < own);
    }
    SKDE_UNROLL
    for (int k = 0; k < MERGED; ++k) place += k == own ? 0 : low[k];
    to[place] = index;
  });
}

// The share of a team that works alone.
struct WholeShare {
  int begin = 0, step = 1, part = 0;

  SKDE_FN int pieces(int n) const { return PIECE < n ? (n + PIECE - 1) / PIECE : 1; }
  SKDE_FN int bound(int n, int piece) const { return i64(piece) * PIECE < n ? piece * PIECE : n; }
  SKDE_FN int piece_of(int, int position) const { return position / PIECE; }
  template <class Team, class Body> SKDE_FN void each_position(const Team& team, int n, Body body) const {
    for (int p = team.lane; p < n; p += team.size) body(p);
  }

 private:
#ifdef __CUDACC__
  static constexpr int PIECE = PARTIALS;
#else
  static constexpr int PIECE = 0x7fffffff;  // no pieces
#endif
};

// The order of n values, by one team while the others wait: for what is rare.
template <class Team, class At> SKDE_OUTLINE void sort_alone(Team& team, int n, At at, i64* order, i64* other) {
  const WholeShare share;
  team.sync();
  for (int stage = 0; stage < sort_stages(share, n); ++stage) {
    sort_stage(team, share, n, at, stage, order, other);
    team.sync();
  }
}

}  // namespace SKDE_NAMESPACE
