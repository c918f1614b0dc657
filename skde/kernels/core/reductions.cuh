// The common part of all teams' reductions: the operations, and the sums, products and maxima made of them (team.cuh).
#pragma once
#include "core/portable.cuh"

namespace SKDE_NAMESPACE {

constexpr int WARP = 32;
constexpr int PARTIALS = 128;
constexpr int BLOCK_BYTES = 2 * PARTIALS * int(sizeof(double));  // of a block in shared memory: two buffers

struct Add {
  template <class real> SKDE_FN static real identity() { return real(0); }
  template <class real> SKDE_FN static real join(real a, real b) { return a + b; }
};
struct Multiply {
  template <class real> SKDE_FN static real identity() { return real(1); }
  template <class real> SKDE_FN static real join(real a, real b) { return a * b; }
};
struct Maximum {
  template <class real> SKDE_FN static real identity() { return -real(infinity()); }
  template <class real> SKDE_FN static real join(real a, real b) { return a < b ? b : a; }
};

template <class real, int m> struct Several {
  real of[m];

  // The number `which`, chosen at run time. Without an index, so that the numbers stay in a GPU's registers.
  SKDE_FN real at(int which) const {
    real found = of[0];
    SKDE_UNROLL
    for (int k = 1; k < m; ++k) found = which == k ? of[k] : found;
    return found;
  }
};

// The result of compare_all(): the place of the first key, and the numbers of smaller and of equal keys.
struct Compared {
  int begin, smaller, equal;
};

// Whole numbers of components, by terms(at(j), j, t). Number k is counted when of(k) is called, from components
// begin ... end - 1 if they are given.
template <class Team, int m, class At, class Terms> struct Counted {
  Team& team;
  int n;
  At at;
  Terms terms;
  SKDE_FN int of(int which) const { return of(which, 0, n); }
  SKDE_FN int of(int which, int begin, int end) const {
    return team.count(end - begin, [&](int j) {
      int t[m];
      terms(at(begin + j), begin + j, t);
      return t[which];
    });
  }
};

// The operations that follow from reduce(), shared by all teams.
template <class real, class Self> struct Reductions {
  template <class Term> SKDE_FN real sum(int n, Term term) { return self().template reduce<Add>(n, term); }
  template <class Term> SKDE_FN real prod(int n, Term term) { return self().template reduce<Multiply>(n, term); }
  template <class Term> SKDE_FN real max(int n, Term term) { return self().template reduce<Maximum>(n, term); }
  template <class Value, class Worth> SKDE_FN real largest(int n, Value value, Worth worth) {
    return max(n, [&](int j) { return worth(value(j)); });
  }
  template <class At, class Worth> SKDE_FN real largest_loaded(int n, At at, Worth worth) {
    return max(n, [&](int j) { return worth(at(j)); });
  }

 private:
  SKDE_FN Self& self() { return static_cast<Self&>(*this); }
};

// The partial sums that sums() would make of m sums over a large population (team.cuh). One team would take long: this
// is one of SUM_PARTS<m, Team> parts. The terms of a partial sum join one after another, in `stages` stages, of
// which this is number `stage`.
template <int m, class Team> constexpr int SUM_PARTS = m * PARTIALS / Team::size;
template <int m, class Team, class At, class Terms, class real>
SKDE_FN void make_partials(const Team& team, int part, int n, At at, Terms terms, real* partials, int stage = 0,
                           int stages = 1) {
  constexpr int BATCH = 24, STRIDE = BATCH * PARTIALS;  // loads at a time
  const int share = (n + stages * STRIDE - 1) / (stages * STRIDE) * STRIDE;
  const int begin = min_of(stage * share, n), end = min_of(begin + share, n);
  const int place = part * Team::size + team.lane, sum = place / PARTIALS, first = place % PARTIALS;
  // The sum is known in each copy of the loop, which reads and computes no more than this sum needs.
  SKDE_UNROLL
  for (int s = 0; s < m; ++s) {
    if (s != sum) continue;
    real partial = stage > 0 ? partials[place] : real(0);
    const auto add = [&](int begin, auto index, auto counts) {
      decltype(at(0)) read[BATCH];
      SKDE_UNROLL
      for (int k = 0; k < BATCH; ++k) read[k] = at(index(begin + k * PARTIALS));
      team.sync();  // keeps the compiler from moving sums ahead of reads
      SKDE_UNROLL
      for (int k = 0; k < BATCH; ++k) {
        Several<real, m> t;
        terms(read[k], counts(begin + k * PARTIALS), t.of);
        partial += t.of[s];
      }
    };
    // All lanes make the same number of batches, because they wait for each other in each.
    int base = begin;
    SKDE_NO_UNROLL
    for (; base + STRIDE <= end; base += STRIDE) add(base + first, [](int j) { return j; }, [](int) { return true; });
    if (base < end) add(base + first, [=](int j) { return j < n ? j : n - 1; }, [=](int j) { return j < n; });
    partials[place] = partial;
  }
}

}  // namespace SKDE_NAMESPACE
