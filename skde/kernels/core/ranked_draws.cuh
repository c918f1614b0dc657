// The vectors z of normal draws of a generation's trials, by rank, and sums with weights over them and over the entries
// of a matrix. A generation of the search may take several generations of the driver: the z of the last one are stored,
// others are made again.
#pragma once
#include "core/run.cuh"
#include "random/distributions.cuh"

namespace SKDE_NAMESPACE {

// A generation with `lambda` trials in `parts` generations of the driver, of which g is the last; ranks[r] is the trial
// of rank r.
struct RankedTrials {
  i64 g;
  int lambda, parts;
  const double* ranks;
};

// Several trials, their z and their weights. A GPU reads and writes a sum of several at a time less often. A CPU has its
// sums in a cache.
constexpr int DRAWS_TOGETHER = MANY_TEAMS ? 8 : 1;
template <class real> struct WeightedDraws {
  static constexpr int COUNT = DRAWS_TOGETHER;
  const real* z[COUNT];
  real w[COUNT];

  // sum + sum of w_q z_q[j].
  SKDE_FN real add_to(real sum, int j) const {
    SKDE_UNROLL
    for (int q = 0; q < COUNT; ++q) sum += w[q] * z[q][j];
    return sum;
  }
  // w_q z_q[c], and sum + sum of those numbers times z_q[j]: the terms of column c of a sum of w_q z_q z_q^T.
  SKDE_FN Several<real, COUNT> scaled(int c) const {
    Several<real, COUNT> scale;
    SKDE_UNROLL
    for (int q = 0; q < COUNT; ++q) scale.of[q] = w[q] * z[q][c];
    return scale;
  }
  SKDE_FN real add_to(real sum, const Several<real, COUNT>& scale, int j) const {
    SKDE_UNROLL
    for (int q = 0; q < COUNT; ++q) sum += scale.of[q] * z[q][j];
    return sum;
  }
};

// Memory for z that are made again: one vector, and further ones by columns, which are there if there are DRAWS_TOGETHER.
template <class real> struct DrawMemory {
  real *first, *others;
  bool has_others;
};

// The z of trial k, where it is made again in place q of the memory.
template <class Vectors, class Team, class R, class real>
SKDE_FN const real* draws_of(Team& team, const R& run, const RankedTrials& trials, int k, int q,
                             const DrawMemory<real>& memory) {
  const i64 generation = trials.g - trials.parts + 1 + k / run.pop;
  const int i = k % run.pop;
  if (generation == trials.g) return run.vector(Vectors::z, trials.g, i);
  const ComponentWords<Team, Stream, 1> words(team, run.stream(generation, i, COMBINATION), run.dim);
  real* const z = q == 0 ? memory.first : memory.others + (q - 1) * run.dim;
  team.sync();
  team.map(run.dim, z, [&](int j, int k) { return real(normal_draw(words.at(j, k))); });
  team.sync();
  return z;
}

// add(draws) for the trials of ranks 0 ... n - 1 in order, some at a time. weight(r) is the weight of rank r, and
// weigh(w, z) the one that is used. A place without a trial has the weight 0, and the vector `any`.
template <class Vectors, class Team, class R, class real, class Weight, class Weigh, class Add>
SKDE_FN void each_ranked(Team& team, const R& run, const RankedTrials& trials, int n, const DrawMemory<real>& memory,
                         const real* any, Weight weight, Weigh weigh, Add add) {
  constexpr int COUNT = DRAWS_TOGETHER;
  const int together = trials.parts > 1 && !memory.has_others ? 1 : COUNT;
  SKDE_NO_UNROLL
  for (int base = 0; base < n; base += together) {
    const auto weights =
        team.template gather<COUNT>([&](int q) { return q < together && base + q < n ? weight(base + q) : 0.0; });
    WeightedDraws<real> draws{};
    bool found = false;
    SKDE_NO_UNROLL
    for (int q = 0; q < COUNT; ++q) {
      const double w = weights.at(q);
      draws.z[q] = any;
      if (w == 0) continue;
      found = true;
      const real* const z = draws.z[q] = draws_of<Vectors>(team, run, trials, int(trials.ranks[base + q]), q, memory);
      draws.w[q] = real(weigh(w, z));
    }
    if (found) add(draws);
  }
}

// body(c, column(c), j) for the components j of the columns c of a matrix.
template <class Team, class Column, class Body> SKDE_FN void each_entry(Team& team, int dim, Column column, Body body) {
  if constexpr (Team::size > 1) {
    team.each(dim * dim, [&](int k) {
      const int c = k / dim;
      body(c, column(c), k - c * dim);
    });
  } else {
    for (int c = 0; c < dim; ++c) {
      const auto of_column = column(c);
      team.each(dim, [&](int j) { body(c, of_column, j); });
    }
  }
}

}  // namespace SKDE_NAMESPACE
