// The random words of a GPU team's components.
#pragma once
#include "random/philox.cuh"
#include "teams/gpu.cuh"

namespace SKDE_NAMESPACE {

// Transposes the words of lanes that are eight apart: word k of lane q becomes word q of lane k. In a team of 16 lanes
// there are two such lanes, and pairs of words are exchanged.
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

// The random words of components of a stream. A block of words is for four components (Stream::component). Where a
// multiprocessor has many teams, the words of a batch are made when fill() needs the first of them, and no two lanes
// make the same block. Else every lane makes the words of its first components early, and the others when it needs
// them.
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
      // A single branch around all further words takes less time than one for each.
      if constexpr (BATCH > 1)
        if (n > Team::size)
#pragma unroll
          for (int k = 1; k < BATCH; ++k)
            if (k * Team::size < n) word[k] = stream.component(k * Team::size + team.lane);
    }
  }
  // The word of component j; k is that of fill(), or the component's number among the lane's.
  SKDE_FN u32 at(int j, int k) const {
    if (!BUSY && k >= 0 && k < BATCH) return word_number(k);
    if (!BATCHED || k >= 0) return stream.here().component(j);
    // fill() begins a batch with its first component.
    if (k == -BATCH) make(stream, threadIdx.x % Team::size, j / Team::STRIDE * Team::STRIDE, word);
    return word[k + BATCH];
  }

 private:
  // word[k], without an index at run time, so that the words stay in registers.
  SKDE_FN u32 word_number(int k) const {
    u32 found = word[0];
#pragma unroll
    for (int q = 1; q < BATCH; ++q) found = k == q ? word[q] : found;
    return found;
  }
  // Makes the words of a lane's components in the batch that begins with component `base`.
  SKDE_FN static void make(const Stream& stream, int lane, int base, u32 (&out)[BATCH]) {
    if constexpr (Team::size == 4) {
      // Half of the words of two blocks. The others are those of the next batch, which such a team seldom has.
      const int block = base / 32 * 8 + lane;
      const Words4 even = stream.block(u32(block)), odd = stream.block(u32(block + 4));
      const bool second = base % 32 != 0;
#pragma unroll
      for (int k = 0; k < BATCH; ++k) {
        const Words4& words = k % 2 ? odd : even;
        out[k] = second ? words.w[2 + k / 2] : words.w[k / 2];
      }
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

// The same where not all lanes of a team need their words: each makes its own, without the others.
template <class Team, class Stream, int> struct LaneWords {
  Stream stream;
  SKDE_FN LaneWords(Team&, const Stream& stream, int) : stream(stream) {}
  SKDE_FN u32 at(int j) const { return stream.component(j); }
};

}  // namespace SKDE_NAMESPACE
