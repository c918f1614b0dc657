// The order of a population's values: order[k] becomes the index of the k-th best of n, NaN last, equal ones by their
// index.
//
// Few values are ranked by counting: each by the team of its individual, all at once. Many are sorted, in stages with a
// barrier after each, so that the work grows as n log n. On a CPU each thread sorts a piece; then neighbouring sorted
// pieces are merged in pairs: the place of a value in the other piece is found by bisection. A GPU sorts by samples:
// some values, sorted, divide the others into small buckets, in each of which values are ranked by counting.
#pragma once
#include "core/select.cuh"

namespace SKDE_NAMESPACE {

// The largest number of values that are ranked by counting. Measured: up to it counting takes less time than sorting.
constexpr int COUNTED_BY_CPU = 512, COUNTED_BY_GPU = 2048;
#ifdef __CUDACC__
constexpr int COUNTED = COUNTED_BY_GPU;
#else
constexpr int COUNTED = COUNTED_BY_CPU;
#endif
// Whether so many values are sorted. The GPU's kernels for batches without large populations have no code for it.
#if defined(__CUDACC__) && !defined(SKDE_LARGE)
SKDE_FN constexpr bool is_large(int) { return false; }
#else
SKDE_FN constexpr bool is_large(int n) { return n > COUNTED; }
#endif

// The number of times that a number of pieces is halved until one is left.
SKDE_FN int halvings(int pieces) {
  int rounds = 0;
  for (; pieces > 1; pieces = (pieces + 1) / 2) ++rounds;
  return rounds;
}

// The number of the sorted values at(begin) ... at(end - 1) that come before `value`; `ties`: whether equal ones do.
template <class At, class real> SKDE_FN int bisect(int begin, int end, At at, real value, bool ties) {
  int low = begin;
  for (int many = end - begin; many > 0;) {
    const int half = many / 2;
    const bool before = precedes(at(low + half), value, ties);
    low = before ? low + half + 1 : low;
    many = before ? many - half - 1 : half;
  }
  return low - begin;
}

// One stage of merging: each thread's piece is sorted in stage 0, and pairs of sorted parts are merged in the later
// ones.
template <class Team, class Share, class At>
SKDE_FN void merge_stage(Team& team, const Share& share, int n, At at, int stage, i64* order, i64* other) {
  const int rounds = halvings(share.pieces(n));
  const auto after = [&](int stage) { return (rounds - stage) % 2 ? other : order; };
  i64* const to = after(stage);
  if (stage == 0) return team.sort(share.bound(n, share.part), share.bound(n, share.part + 1), at, to);
  const i64* const from = after(stage - 1);
  const int pieces = 1 << (stage - 1);  // in a sorted part
  share.each_position(team, n, [&](int p) {
    const int part = share.piece_of(n, p) / pieces, sibling = part ^ 1;
    const auto bound = [&](int part) { return share.bound(n, part * pieces); };
    const int index = int(from[p]), begin = bound(sibling), end = bound(sibling + 1);
    const bool right = part & 1;
    const auto value = [&](int p) { return at(int(from[p])); };
    const int before = begin < end ? bisect(begin, end, value, at(index), right) : 0;
    to[(right ? p - bound(part) + begin : p) + before] = index;
  });
}

// A GPU sorts by samples, at most MOST_SAMPLES of them at equal distances, which are BUCKET or more. Bucket b has the
// values that come after b of the samples. Values are compared by their keys (sorting_key), equal ones by their index.
constexpr int BUCKET = 64, MOST_SAMPLES = 1 << 13, SAMPLE_STAGES = 6;
SKDE_FN int sample_distance(int n) { return max_of(BUCKET, (n + MOST_SAMPLES - 1) / MOST_SAMPLES); }
SKDE_FN int samples_of(int n) { return (n + sample_distance(n) - 1) / sample_distance(n); }
SKDE_FN i64 sample_words(int n) { return 2 * (i64(samples_of(n)) + 1); }
// The words that sorting takes for a run with at most n values, of which two sets may have samples at a time.
SKDE_FN i64 sorting_words(i64 n) {
  const i64 most_samples = (n + BUCKET - 1) / BUCKET;
  return n > COUNTED_BY_CPU ? 3 * n + 2 * 2 * (most_samples + 1) : 0;
}

// The number of items in a stage of sorting by samples that are divided among teams of `lanes` lanes.
constexpr int VALUES_OF_LANE = 4;  // that look for their buckets, or go there, at the same time
SKDE_FN int items_of_stage(int stage, int n, int lanes) {
  if (stage == 1 || stage == 3) return samples_of(n);
  const int of_item = lanes * (stage == 2 || stage == 4 ? VALUES_OF_LANE : 1);
  return (n + of_item - 1) / of_item;
}

// The key of value i by which a GPU sorts. Values of 32 bits leave room for the index, so that no keys are equal.
template <class real> constexpr bool UNIQUE_KEYS = sizeof(real) == 4;
template <class real> SKDE_FN u64 sorting_key(real value, int i) {
  if constexpr (UNIQUE_KEYS<real>) return u64(order_key(value)) << 32 | u32(i);
  return order_key(double(value));
}

// The place of the value in place p, which is in a bucket from `first` to `last`, in the order of all values. Those of
// a warp are in a few buckets that follow each other, and are compared with all keys of these. index(k) is the index of
// the value in place k.
template <bool unique, class Team, class Index>
SKDE_FN int place_in_order(const Team& team, const u64* keys, int first, int last, int p, Index index) {
  const u64 mine = keys[p];
  const auto compared = team.compare_all(first, last, keys, mine);
  int place = compared.begin + compared.smaller;
  if (!unique && SKDE_RARELY(compared.equal > 1))
    for (int k = compared.begin; k < last; ++k) place += (keys[k] == mine) & (index(k) < index(p));
  return place;
}

// bucket[k]: the number of the sorted samples that come before the value with key mine[k] and index i[k]. All m searches
// read memory at the same time. at(sample) is the index of a sample.
template <bool unique, int m, class At>
SKDE_FN void find_buckets(int samples, const u64* sample_keys, At at, const u64 (&mine)[m], const int (&i)[m],
                          int (&bucket)[m]) {
  SKDE_UNROLL
  for (int k = 0; k < m; ++k) bucket[k] = 0;
  SKDE_NO_UNROLL
  for (int step = 1 << highest_bit(u64(samples)); step > 0; step /= 2) {
    u64 key[m];
    SKDE_UNROLL
    for (int k = 0; k < m; ++k) key[k] = sample_keys[min_of(bucket[k] + step, samples) - 1];
    SKDE_UNROLL
    for (int k = 0; k < m; ++k) {
      const int next = bucket[k] + step;
      const bool ties = !unique && key[k] == mine[k] && at(next - 1) < i[k];
      if (next <= samples && (key[k] < mine[k] || ties)) bucket[k] = next;
    }
  }
}

// One stage of sorting by samples. Between two stages a value has a word, of which the halves are its bucket and its
// place or its index.
template <class Team, class Share, class At>
SKDE_FN void sample_stage(Team& team, const Share& share, int n, At at, int stage, i64* order, i64* other,
                          i64* memory) {
  constexpr int AT_ONCE = VALUES_OF_LANE;
  const int distance = sample_distance(n), samples = samples_of(n), buckets = samples + 1;
  i64 *const many = memory, *const begin = many + buckets;
  // Until the values go to their buckets, `other` has the samples and their keys.
  i64* const sorted = other;
  u64 *const keys = reinterpret_cast<u64*>(sorted + samples), *const sorted_keys = keys + samples;
  u64* const bucket_keys = reinterpret_cast<u64*>(other + n);  // of all values
  const auto key_of = [&](int i) { return sorting_key(at(i), i); };
  constexpr bool unique = UNIQUE_KEYS<decltype(at(0))>;
  const auto word = [](int bucket, int number) { return i64(bucket) << 32 | number; };
  const auto bucket_of = [](i64 word) { return int(word >> 32); };
  const auto number_of = [](i64 word) { return int(word); };
  switch (stage) {
    case 0:  // the keys of the samples
      share.each_position(team, samples, [&](int k) { keys[k] = key_of(k * distance); });
      return share.each_position(team, buckets, [&](int b) { many[b] = 0; });
    case 1:  // the samples are sorted
      return share.each_item(samples, [&](int k) {
        const u64 mine = keys[k];
        const int place = team.count(samples, [&](int m) { return (keys[m] < mine) | ((keys[m] == mine) & (m < k)); });
        if (team.lane == 0) sorted[place] = k * distance, sorted_keys[place] = mine;
      });
    case 2:  // the bucket of every value, and a place in it
      return share.each_position(team, (n + AT_ONCE - 1) / AT_ONCE, [&](int part) {
        int i[AT_ONCE], bucket[AT_ONCE];
        u64 mine[AT_ONCE];
        SKDE_UNROLL
        for (int k = 0; k < AT_ONCE; ++k) i[k] = min_of(part * AT_ONCE + k, n - 1), mine[k] = key_of(i[k]);
        find_buckets<unique>(samples, sorted_keys, [=](int k) { return int(sorted[k]); }, mine, i, bucket);
        SKDE_UNROLL
        for (int k = 0; k < AT_ONCE; ++k)
          if (part * AT_ONCE + k < n) order[i[k]] = word(bucket[k], int(next_at(many + bucket[k])));
      });
    case 3:  // the beginnings of the buckets
      return share.each_item(buckets, [&](int b) {
        const int before = team.count(b, [&](int k) { return int(many[k]); });
        if (team.lane == 0) begin[b] = before;
      });
    case 4:  // the values go to their buckets
      return share.each_position(team, (n + AT_ONCE - 1) / AT_ONCE, [&](int part) {
        int i[AT_ONCE];
        i64 found[AT_ONCE], place[AT_ONCE];
        u64 key[AT_ONCE];
        SKDE_UNROLL
        for (int k = 0; k < AT_ONCE; ++k)
          i[k] = min_of(part * AT_ONCE + k, n - 1), found[k] = order[i[k]], key[k] = key_of(i[k]);
        SKDE_UNROLL
        for (int k = 0; k < AT_ONCE; ++k) place[k] = begin[bucket_of(found[k])] + number_of(found[k]);
        SKDE_UNROLL
        for (int k = 0; k < AT_ONCE; ++k)
          if (part * AT_ONCE + k < n) other[place[k]] = word(bucket_of(found[k]), i[k]), bucket_keys[place[k]] = key[k];
      });
    default:  // the values are ranked among those of the few buckets that the places of a warp belong to
      return share.each_item((n + Team::size - 1) / Team::size, [&](int part) {
        const int k = part * Team::size + team.lane, p = min_of(k, n - 1), bucket = bucket_of(other[p]);
        const auto index = [&](int k) { return number_of(other[k]); };
        const int first = int(begin[bucket]), last = first + int(many[bucket]);
        const int place = place_in_order<unique>(team, bucket_keys, first, last, p, index);
        if (k < n) order[place] = index(p);
      });
  }
}

// One stage of sorting n values at(k). `other` has room for twice as many words as `order` and for three, and `memory`
// for sample_words(n) words.
#ifdef __CUDACC__
template <class Share> SKDE_FN int sort_stages(const Share&, int) { return SAMPLE_STAGES; }
template <class Team, class Share, class At>
SKDE_FN void sort_stage(Team& team, const Share& share, int n, At at, int stage, i64* order, i64* other, i64* memory) {
  sample_stage(team, share, n, at, stage, order, other, memory);
}
#else
template <class Share> SKDE_FN int sort_stages(const Share& share, int n) { return 1 + halvings(share.pieces(n)); }
template <class Team, class Share, class At>
SKDE_FN void sort_stage(Team& team, const Share& share, int n, At at, int stage, i64* order, i64* other, i64*) {
  merge_stage(team, share, n, at, stage, order, other);
}
#endif

// The share of a team that does the work of all teams.
struct WholeShare {
  int part = 0;

  SKDE_FN int pieces(int) const { return 1; }
  SKDE_FN int bound(int n, int piece) const { return piece > 0 ? n : 0; }
  SKDE_FN int piece_of(int, int) const { return 0; }
  template <class Body> SKDE_FN void each_item(int n, Body body) const {
    for (int k = 0; k < n; ++k) body(k);
  }
  template <class Team, class Body> SKDE_FN void each_position(const Team& team, int n, Body body) const {
    for (int p = team.lane; p < n; p += team.size) body(p);
  }
};

// The order of n values, by one team while the others wait: for rare events.
template <class Team, class At>
SKDE_OUTLINE void sort_alone(Team& team, int n, At at, i64* order, i64* other, i64* memory) {
  const WholeShare share;
  team.sync();
  for (int stage = 0; stage < sort_stages(share, n); ++stage) {
    sort_stage(team, share, n, at, stage, order, other, memory);
    team.sync();
  }
}

}  // namespace SKDE_NAMESPACE
