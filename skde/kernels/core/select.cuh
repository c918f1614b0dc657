// Comparison of values, improvements, the best and the ranks of a population, and drawn indices.
#pragma once
#include "random/philox.cuh"
#include "teams/team.cuh"

namespace SKDE_NAMESPACE {

// NaN is worse than any number; ties go to the smaller index.
template <class real> SKDE_FN bool better(const real* f, int a, int b) {
  return is_nan(f[b]) ? !is_nan(f[a]) || a < b : f[a] < f[b] || (f[a] == f[b] && a < b);
}

// A trial replaces its parent when it is not worse: inf <= inf is a tie and accepted, NaN never replaces a number.
template <class real> SKDE_FN bool replaces(real trial, real parent) { return is_nan(parent) || trial <= parent; }

// The improvement of a trial over its parent; 0 where there is none. An improvement from NaN or from infinity counts as
// the largest one with which sums over a population stay finite.
template <class real> SKDE_FN real improvement(real trial, real parent) {
  const real most = sizeof(real) == 8 ? real(0x1p990) : real(0x1p100), gain = parent - trial;
  const real finite = gain < most ? gain : most;
  return (trial < parent) | (is_nan(parent) & !is_nan(trial)) ? finite : real(0);
}

// Sums weighted by improvements, sums_of(scale), of which number `weight` is the sum of the weights. If it is so small
// that products with it might become 0, improvements are multiplied by a power of two.
template <class real, int weight, class SumsOf> SKDE_FN auto weighted_sums(SumsOf sums_of) {
  const real small = sizeof(real) == 8 ? real(0x1p-900) : real(0x1p-90);
  for (real scale = 1;; scale = 1 / small) {
    const auto sums = sums_of(scale);
    if (!SKDE_RARELY((scale == 1) & (sums.of[weight] > 0) & (sums.of[weight] < small))) return sums;
  }
}

// The terms of a Lehmer mean of values v with weights w: the mean is the second sum by the first.
template <class real> SKDE_FN void lehmer_terms(real w, real v, real* terms) { terms[0] = w * v, terms[1] = w * v * v; }

// The smallest value, NaN left out; +inf when there is none.
template <class Team, class real> SKDE_OUTLINE real smallest(Team& team, const real* f, int n) {
  return -team.largest_loaded(
      n, [=](int i) { return f[i]; }, [](real v) { return is_nan(v) ? -real(infinity()) : -v; });
}

// Whether `value` comes before `other`, which is not NaN, in their order; `tie`: whether it does where both are equal.
template <class real> SKDE_FN int comes_before(real value, real other, bool tie) {
  return (value < other) | ((value == other) & tie);
}

// The same for all values: NaN is worse than any number.
template <class real> SKDE_FN bool precedes(real value, real other, bool tie) {
  return is_nan(other) ? !is_nan(value) | tie : comes_before(value, other, tie) != 0;
}

// The number of n values at(k) that come before `value`; ties(k): whether at(k) does if it is equal. NaN is worse than
// any number.
template <class Team, class Value, class real, class Ties>
SKDE_FN int count_before(Team& team, int n, Value at, real value, Ties ties) {
  // Counted before the test of `value`, so that it is loaded together with the others.
  const int before = team.count(n, [&](int k) { return comes_before(at(k), value, ties(k)); });
  if (!SKDE_RARELY(is_nan(value))) return before;
  return team.count(n, [&](int k) { return int(!is_nan(at(k))) | int(ties(k)); });
}

// The index of the best of n.
template <class Team, class real> SKDE_OUTLINE int best_of(Team& team, const real* f, int n) {
  return max_of(team.least(n, [&](int i) { return f[i]; }), 0);
}

// The number of n individuals that are better than i; ties go to the smaller index.
template <class Team, class real> SKDE_OUTLINE int rank_of(Team& team, const real* f, int n, int i) {
  const real value = f[i];
  // A single lane has a loop for those before i and one for those after it: each needs one comparison, not two.
  if (Team::size == 1 && !is_nan(value))
    return team.count(i, [=](int k) { return f[k] <= value; }) +
           team.count(n - i, [=](int k) { return f[i + k] < value; });
  return count_before(team, n, [=](int k) { return f[k]; }, value, [=](int k) { return k < i; });
}

// A draw among the numbers other than i, or other than i and k, which differ; `drawn` is its place among these.
SKDE_FN int other_than(int i, int drawn) { return drawn + (drawn >= i); }
SKDE_FN int other_than(int i, int k, int drawn) {
  drawn += drawn >= min_of(i, k);
  return drawn + (drawn >= max_of(i, k));
}

// Up to five mutually distinct indices in {0, ..., n-1}, none of them `target`: the m-th is drawn by its place among
// the n - 1 - m numbers that are left. Nothing is rejected, so the number of draws is fixed. The first `wanted` are
// valid; that needs n > wanted.
struct DistinctIndices {
  int index[5];

  SKDE_FN DistinctIndices(const Stream& stream, int n, int target, int wanted)
      : DistinctIndices(stream.block(0), wanted > 4 ? stream.block(1).w[0] : 0u, n, target, wanted) {}

  // From four words, and one more for a fifth index.
  SKDE_FN DistinctIndices(const Words4& words, u32 fifth, int n, int target, int wanted) {
    int taken[6];
    taken[0] = target;
    SKDE_UNROLL
    for (int m = 0; m < 4; ++m) draw(words.w[m], m, n, taken);
    index[4] = target;
    if (wanted > 4) draw(fifth, 4, n, taken);
  }

  // Three as in cujDE's program, the last first: any but `target`, then twice one at most n / 3 places after the one
  // before. Where that is `target`, it is the next. For n > 3 they are distinct.
  SKDE_FN void shift(const Words4& words, int n, int target) {
    int at = 0;
    SKDE_UNROLL
    for (int m = 0; m < 3; ++m) {
      at += m == 0 ? below(words.w[0], n) : 1 + below(words.w[m], n / 3);
      at = at < n ? at : at - n;
      const int next = at + 1 < n ? at + 1 : 0;
      at = at == target ? next : at;
      index[2 - m] = at;
    }
  }

 private:
  SKDE_FN void draw(u32 word, int m, int n, int* taken) {
    int drawn = below(word, n - 1 - m);
    SKDE_UNROLL
    for (int k = 0; k <= m; ++k) drawn += drawn >= taken[k];
    index[m] = drawn;
    // `taken` is sorted by a fixed number of steps, so that it stays in registers.
    SKDE_UNROLL
    for (int k = 0; k <= m; ++k) {
      const int other = taken[k];
      taken[k] = min_of(other, drawn);
      drawn = max_of(other, drawn);
    }
    taken[m + 1] = drawn;
  }
};

}  // namespace SKDE_NAMESPACE
