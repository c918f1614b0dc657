// Sums over the trials of a generation, weighted by improvements. One team makes them. In a large population on a GPU
// it would read all trials while the others wait, so all teams make partial sums in earlier stages (divide_sums), and it
// adds up these.
//
// with_terms(scale, sum) returns sum(at, terms), the arguments of team.sums() for improvements times `scale`. Sum
// number `weight` is that of the weights.
#pragma once
#include "core/run.cuh"

namespace SKDE_NAMESPACE {

// The stages of the partial sums, m * PARTIALS of them, of which each makes a part; nothing on a CPU. Their terms join
// one after another, which takes longer than a stage of sorting: so each of four such stages has a part.
constexpr int SUM_STAGES = 4;
template <int m, class Team, class R, class Share, class real, class WithTerms>
SKDE_FN void divide_sums(Team& team, const R& run, const Share& share, real* partials, WithTerms with_terms,
                         int stage) {
  if constexpr (MANY_TEAMS)
    with_terms(real(1), [&](auto at, auto terms) {
      share.each_long_item(SUM_PARTS<m, Team>, [&](int part) {
        make_partials<m>(team, part, run.pop, at, terms, partials, stage, SUM_STAGES);
      });
      return 0;
    });
}

// The sums, by one team. Those from partial sums are of improvements as they are: the rare case of another scale reads
// all trials.
template <int m, int weight, class Team, class R, class real, class WithTerms>
SKDE_FN Several<real, m> divided_sums(Team& team, const R& run, const real* partials, WithTerms with_terms) {
  return weighted_sums<real, weight>([&](real scale) -> Several<real, m> {
    if (MANY_TEAMS && is_large(run.pop) && scale == 1) {
      Several<real, m> sums;
      SKDE_UNROLL
      for (int s = 0; s < m; ++s) sums.of[s] = team.sum(PARTIALS, [&](int p) { return partials[s * PARTIALS + p]; });
      return sums;
    }
    return with_terms(scale, [&](auto at, auto terms) { return team.template sums<m>(run.pop, at, terms); });
  });
}

}  // namespace SKDE_NAMESPACE
