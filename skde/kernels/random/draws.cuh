// The draws of an individual: blocks of words, and numbers made of them. They depend only on their address, so the CPU
// makes those of eight individuals at a time in vector registers, and a GPU those of several generations, before they
// are used.
//
// An algorithm's Layout describes them:
//   BLOCKS, NUMBERS        their counts
//   purpose(b), slot(b)    the address of block b
//   number<k>(words)       number k, made of words(b, w), word w of block b
//   retry(seed, g, i, k)   the k-th number that replaces a rejected one, k = 0, 1, ...; a GPU makes RETRIES of them
//                          early, because all other teams would wait for a late one
//
// A GPU computes words without numbers in every lane, which is faster than an exchange between lanes, except where a
// multiprocessor has many warps.
#pragma once
#include "core/order.cuh"
#include "random/philox.cuh"
#include "teams/team.cuh"

namespace SKDE_NAMESPACE {

// The layout of a trial of differential evolution: a block for its control parameters and two for its indices. A Layout
// that derives from this adds its numbers, and BLOCKS where it needs fewer.
struct TrialLayout {
  enum : int { CONTROLS, INDEX, SECOND_INDEX, BLOCKS };
  static constexpr int NUMBERS = 0, RETRIES = 0;
  SKDE_FN static Purpose purpose(int block) { return block == CONTROLS ? CONTROL : INDICES; }
  SKDE_FN static u32 slot(int block) { return block == SECOND_INDEX; }
  // The word of the k-th number that replaces a rejected control parameter.
  SKDE_FN static u32 retry_word(u64 seed, i64 g, int i, u32 k) { return Stream(seed, g, i, CONTROL).block(1 + k).w[0]; }
};

template <class Layout> struct IndividualDraws {
  Words4 block[Layout::BLOCKS];
  double number[Layout::NUMBERS + 1];

  // make(number k), or make() of the first retry that is not rejected.
  template <class Make, class Rejected>
  SKDE_FN double first_accepted(int k, u64 seed, i64 g, int i, Make make, Rejected rejected) const {
    double value = make(number[k]);
    SKDE_UNROLL
    for (int r = 0; r < RETRIES; ++r) {
      const double next = make(retries[r]);
      value = rejected(value) ? next : value;
    }
    for (u32 r = RETRIES; SKDE_RARELY(rejected(value)); ++r) value = make(Layout::retry(seed, g, i, r));
    return value;
  }

  // Calls fetch(k, words, number) for the individual k of a large population that is EARLY places ahead, among those for
  // which draws have been made; words(b) is block b, number(n) number n. For the first of these draws also for the
  // individuals up to it. So a CPU loads the rows that their trials read before the trials are made. A core waits where
  // it starts to load very much at once: algorithms with many rows a trial take a small EARLY. On a GPU see
  // BaseAlgorithm::fetch.
  template <int EARLY, class Team, class R, class Fetch>
  SKDE_FN void fetch_early(const Team& team, const R& run, i64 g, Fetch fetch) const {
#ifndef __CUDACC__
    if (!SKDE_RARELY(is_large(run.pop) && g > 0)) return;
    const Ahead& ahead = *team.ahead;
    const int end = min_of(min_of(lane + EARLY + 1, 8), run.pop - ahead.first);
    for (int next = lane == 0 ? 0 : lane + EARLY; next < end; ++next)
      fetch(
          ahead.first + next,
          [&](int b) {
            const u32* const w = ahead.words[b] + next;
            return Words4{{w[0], w[8], w[16], w[24]}};
          },
          [&](int n) { return ahead.numbers[n][next]; });
#endif
  }

#ifdef __CUDACC__
  static constexpr int RETRIES = BUSY ? 0 : Layout::RETRIES;
  double retries[RETRIES + 1];

  template <class Team> SKDE_FN IndividualDraws(Team& team, u64 seed, i64 g, int i) {
    if constexpr (Layout::NUMBERS == 0 && !(BUSY && Team::width == 32)) {
      SKDE_UNROLL
      for (int b = 0; b < Layout::BLOCKS; ++b) block[b] = words(seed, g, i, b);
    } else {
      share(team, seed, g, i);
    }
  }

 private:
  SKDE_FN static Words4 words(u64 seed, i64 g, int i, int b) {
    return Stream(seed, g, i, Layout::purpose(b)).block(Layout::slot(b));
  }
  template <class Team> SKDE_FN void share(Team& team, u64 seed, i64 g, int i) {
    Ahead& ahead = team.ahead;
    int owner = ahead.now + 1;
    const bool there = owner < ahead.many && ahead.seed == seed && ahead.individual + owner * ahead.step == i &&
                       ahead.generation + (ahead.step ? 0 : owner) == g;
    if (!there) fill<Team>(ahead, seed, g, i, team.lane % Team::width), owner = 0;
    ahead.now = owner;
    Team::with_lanes([&](unsigned mask) {
      const auto from_owner = [&](auto mine) { return __shfl_sync(mask, mine, owner, Team::width); };
      SKDE_UNROLL
      for (int b = 0; b < Layout::BLOCKS; ++b) SKDE_UNROLL
      for (int k = 0; k < 4; ++k) block[b].w[k] = from_owner(ahead.words[b][k]);
      SKDE_UNROLL
      for (int k = 0; k < Layout::NUMBERS; ++k) number[k] = from_owner(ahead.numbers[k]);
      SKDE_UNROLL
      for (int k = 0; k < RETRIES; ++k) retries[k] = from_owner(ahead.retries[k]);
    });
  }
  // Makes the draws of further generations, if the last draws were those of the same individual, else those of further
  // individuals, if the team has a stride.
  template <class Team> SKDE_FN static void fill(Ahead& ahead, u64 seed, i64 g, int i, int lane) {
    static_assert(Layout::BLOCKS <= Ahead::MOST && Layout::NUMBERS <= Ahead::MOST && RETRIES <= Ahead::MOST,
                  "a Layout has more numbers than Ahead::MOST");
    const bool repeats = ahead.seed == seed && ahead.individual + ahead.now * ahead.step == i;
    ahead.seed = seed, ahead.generation = g, ahead.individual = i;
    ahead.step = repeats ? 0 : ahead.stride;
    ahead.many = repeats || ahead.stride ? Team::width : 1;
    const i64 generation = g + (repeats ? lane : 0);
    const int individual = i + lane * ahead.step;
    SKDE_UNROLL
    for (int b = 0; b < Layout::BLOCKS; ++b) {
      const Words4 made = words(seed, generation, individual, b);
      SKDE_UNROLL
      for (int k = 0; k < 4; ++k) ahead.words[b][k] = made.w[k];
    }
    make<0>(ahead);
    if constexpr (RETRIES > 0) {
      SKDE_UNROLL
      for (int k = 0; k < RETRIES; ++k) ahead.retries[k] = Layout::retry(seed, generation, individual, k);
    }
  }
  template <int k> SKDE_FN static void make(Ahead& ahead) {
    if constexpr (k < Layout::NUMBERS) {
      ahead.numbers[k] = Layout::template number<k>([&](int b, int w) { return ahead.words[b][w]; });
      make<k + 1>(ahead);
    }
  }
#else
  static constexpr int RETRIES = 0;
  static constexpr double retries[1] = {};
  int lane;  // the individual's place in the draws of eight

  template <class Team> SKDE_FN IndividualDraws(Team& team, u64 seed, i64 g, int i) {
    Ahead& ahead = *team.ahead;
    if (u32(i - ahead.first) >= 8 || ahead.generation != g || ahead.seed != seed) fill(ahead, seed, g, i);
    lane = i - ahead.first;
    for (int b = 0; b < Layout::BLOCKS; ++b)
      for (int k = 0; k < 4; ++k) block[b].w[k] = ahead.words[b][8 * k + lane];
    for (int k = 0; k < Layout::NUMBERS; ++k) number[k] = ahead.numbers[k][lane];
  }

 private:
  static void fill(Ahead& ahead, u64 seed, i64 g, int first) {
    static_assert(Layout::BLOCKS <= Ahead::MOST && Layout::NUMBERS <= Ahead::MOST,
                  "a Layout has more numbers than Ahead::MOST");
    ahead.seed = seed, ahead.generation = g, ahead.first = first;
    for (int b = 0; b < Layout::BLOCKS; ++b) {
      const Stream stream(seed, g, first, Layout::purpose(b));
      philox_eight<Eight::INDIVIDUALS>(Layout::slot(b), stream.counter, stream.generation, seed, ahead.words[b]);
    }
    make<0>(ahead);
  }
  // A loop for each kind of number, because a loop with one result is vectorised.
  template <int k> static void make(Ahead& ahead) {
    if constexpr (k < Layout::NUMBERS) {
      SKDE_SIMD
      for (int lane = 0; lane < 8; ++lane)
        ahead.numbers[k][lane] = Layout::template number<k>([&](int b, int w) { return ahead.words[b][8 * w + lane]; });
      make<k + 1>(ahead);
    }
  }
#endif
};

}  // namespace SKDE_NAMESPACE
