// The draws of an individual that are not its components': blocks of words, and numbers made of them. They depend on nothing
// but their address, so the CPU makes those of eight individuals side by side in vector registers, before they are wanted.
//
// An algorithm's Deal says what they are:
//   BLOCKS, NUMBERS        how many
//   purpose(b), slot(b)    where block b comes from
//   number<k>(words)       number k, made of words(b, w), word w of block b
//   AGAIN                  how many of another(seed, g, i, k), k = 0, 1, ..., a GPU makes beforehand: the numbers that take the
//                          place of one that did not do, and for which all other teams would have to wait
#pragma once
#include "random/philox.cuh"
#include "teams/team.cuh"

namespace SKDE_NAMESPACE {

template <class Deal> struct Dealt {
  Words4 block[Deal::BLOCKS];
  double number[Deal::NUMBERS];

#ifdef __CUDACC__
  static constexpr int AGAIN = BUSY ? 0 : Deal::AGAIN;
  double more[AGAIN + 1];

  template <class Team> SKDE_FN Dealt(Team& team, u64 seed, i64 g, int i) {
    Ahead& ahead = team.ahead;
    const bool again = ahead.individual == i && ahead.seed == seed;
    if (!again || u64(g - ahead.generation) >= u64(ahead.many)) fill(ahead, seed, g, i, again ? 32 : 1, team.lane % 32);
    const int whose = int(g - ahead.generation);
    SKDE_UNROLL
    for (int b = 0; b < Deal::BLOCKS; ++b) SKDE_UNROLL
    for (int k = 0; k < 4; ++k) block[b].w[k] = __shfl_sync(all_lanes(), ahead.words[b][k], whose);
    SKDE_UNROLL
    for (int k = 0; k < Deal::NUMBERS; ++k) number[k] = __shfl_sync(all_lanes(), ahead.numbers[k], whose);
    SKDE_UNROLL
    for (int k = 0; k < AGAIN; ++k) more[k] = __shfl_sync(all_lanes(), ahead.more[k], whose);
  }

 private:
  SKDE_FN static void fill(Ahead& ahead, u64 seed, i64 g, int i, int many, int lane) {
    static_assert(Deal::BLOCKS <= Ahead::MOST && Deal::NUMBERS <= Ahead::MOST && AGAIN <= Ahead::MOST,
                  "they have their room");
    ahead.seed = seed, ahead.generation = g, ahead.individual = i, ahead.many = many;
    const i64 mine = g + (many > 1 ? lane : 0);
    SKDE_UNROLL
    for (int b = 0; b < Deal::BLOCKS; ++b) {
      const Words4 words = Stream(seed, mine, i, Deal::purpose(b)).block(Deal::slot(b));
      SKDE_UNROLL
      for (int k = 0; k < 4; ++k) ahead.words[b][k] = words.w[k];
    }
    make<0>(ahead);
    if constexpr (AGAIN > 0) {
      SKDE_UNROLL
      for (int k = 0; k < AGAIN; ++k) ahead.more[k] = Deal::another(seed, mine, i, k);
    }
  }
  template <int k> SKDE_FN static void make(Ahead& ahead) {
    if constexpr (k < Deal::NUMBERS) {
      ahead.numbers[k] = Deal::template number<k>([&](int b, int w) { return ahead.words[b][w]; });
      make<k + 1>(ahead);
    }
  }
#else
  static constexpr int AGAIN = 0;
  static constexpr double more[1] = {};

  template <class Team> SKDE_FN Dealt(Team& team, u64 seed, i64 g, int i) {
    Ahead& ahead = *team.ahead;
    if (u32(i - ahead.first) >= 8 || ahead.generation != g || ahead.seed != seed) fill(ahead, seed, g, i);
    const int lane = i - ahead.first;
    for (int b = 0; b < Deal::BLOCKS; ++b)
      for (int k = 0; k < 4; ++k) block[b].w[k] = ahead.words[b][8 * k + lane];
    for (int k = 0; k < Deal::NUMBERS; ++k) number[k] = ahead.numbers[k][lane];
  }

 private:
  static void fill(Ahead& ahead, u64 seed, i64 g, int first) {
    static_assert(Deal::BLOCKS <= Ahead::MOST && Deal::NUMBERS <= Ahead::MOST, "they have their room");
    ahead.seed = seed, ahead.generation = g, ahead.first = first;
    for (int b = 0; b < Deal::BLOCKS; ++b) {
      const Stream stream(seed, g, first, Deal::purpose(b));
      philox_eight<Eight::INDIVIDUALS>(Deal::slot(b), stream.who, stream.generation, seed, ahead.words[b]);
    }
    make<0>(ahead);
  }
  // One kind after the other: a loop of one result is vectorised.
  template <int k> static void make(Ahead& ahead) {
    if constexpr (k < Deal::NUMBERS) {
      SKDE_SIMD
      for (int lane = 0; lane < 8; ++lane)
        ahead.numbers[k][lane] = Deal::template number<k>([&](int b, int w) { return ahead.words[b][8 * w + lane]; });
      make<k + 1>(ahead);
    }
  }
#endif
};

}  // namespace SKDE_NAMESPACE
