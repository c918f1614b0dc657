// Sums over the trials of a generation, weighted by improvements. One team makes them. In a large population on a GPU
// it would read all trials while the others wait, so all teams make partial sums in earlier stages, and it adds up
// these.
//
// `trials` says what is summed: trials.at(k) reads trial k, which has a `gain`, its improvement; terms(trial, gain, t)
// writes its terms t[0] ... t[SUMS - 1]. A trial that does not count is all zeros. Sum number WEIGHT is that of the
// weights.
#pragma once
#include "core/run.cuh"

namespace SKDE_NAMESPACE {

// sum(at, terms), the arguments of team.sums(), where gains are multiplied by a power of two.
template <class real, class Trials, class Sum> SKDE_FN auto with_terms(const Trials& trials, real scale, Sum sum) {
  return sum([trials](int k) { return trials.at(k); },
             [trials, scale](const auto& trial, bool counts, real* t) {
               const auto counted = counts ? trial : decltype(trials.at(0)){};
               trials.terms(counted, scale * counted.gain, t);
             });
}

// The stages of the partial sums, SUMS * PARTIALS of them, of which each makes a part; nothing on a CPU. Their terms
// join one after another, which takes longer than a stage of sorting: so each of four such stages has a part.
constexpr int SUM_STAGES = 4;
template <class Team, class R, class Share, class real, class Trials>
SKDE_FN void divide_sums(Team& team, const R& run, const Share& share, real* partials, const Trials& trials,
                         int stage) {
  constexpr int m = Trials::SUMS;
  if constexpr (MANY_TEAMS)
    with_terms(trials, real(1), [&](auto at, auto terms) {
      share.each_long_item(SUM_PARTS<m, Team>, [&](int part) {
        make_partials<m>(team, part, run.pop, at, terms, partials, stage, SUM_STAGES);
      });
    });
}

// The sums, by one team. Those from partial sums are of improvements as they are: the rare case of another scale reads
// all trials.
template <class Team, class R, class real, class Trials>
SKDE_FN auto add_sums(Team& team, const R& run, const real* partials, const Trials& trials) {
  constexpr int m = Trials::SUMS;
  return weighted_sums<real, Trials::WEIGHT>([&](real scale) -> Several<real, m> {
    if (MANY_TEAMS && is_large(run.pop) && scale == 1) {
      Several<real, m> sums;
      SKDE_UNROLL
      for (int s = 0; s < m; ++s) sums.of[s] = team.sum(PARTIALS, [&](int p) { return partials[s * PARTIALS + p]; });
      return sums;
    }
    return with_terms(trials, scale, [&](auto at, auto terms) { return team.template sums<m>(run.pop, at, terms); });
  });
}

// An algorithm A of which the work between generations is such sums: A::trials_of(run, g, prefetch) are the trials, and
// Scratch::partials has the partial sums. In a large population the last stage adapts; `divided` is the number of those
// in which all teams do further work, A::make_stage(). All go along with the stages of sorting.
template <class A, template <class> class Trials, int divided = 0> struct SummingAlgorithm : BaseAlgorithm {
  static constexpr bool DIVIDES = MANY_TEAMS || divided > 0, ALONG_SORTING = true;
  static constexpr int DIVIDED_SUMS = Trials<double>::SUMS;
  static constexpr int LARGE_STAGES = MANY_TEAMS ? SUM_STAGES + 1 : divided;

  template <class R> SKDE_FN static int stages(const R&, i64) { return 1; }

  template <class Team, class R, class P>
  SKDE_FN static auto sum_trials(Team& team, const R& run, i64 g, const P& prefetch) {
    return add_sums(team, run, run.scratch(A::Scratch::partials), A::trials_of(run, g, prefetch));
  }

  template <class R, class Share> SKDE_FN static int large_stages(const R&, const Share&, i64) { return LARGE_STAGES; }
  template <class Team, class R, class Share, class P>
  SKDE_FN static void make_stage(Team&, const R&, const Share&, i64, int, const P&) {}
  template <class Team, class R, class Share>
  SKDE_OUTLINE static void end_large_generation(Team& team, const R& run, const Share& share, i64 g, int stage) {
    const typename A::template Prefetch<Team> prefetch(team, run, g, run.pop, true);
    A::make_stage(team, run, share, g, stage, prefetch);
    if (MANY_TEAMS && stage < SUM_STAGES)
      divide_sums(team, run, share, run.scratch(A::Scratch::partials), A::trials_of(run, g, prefetch), stage);
    if (stage == LARGE_STAGES - 1 && share.adapts(run.pop)) A::adapt(team, run, g, prefetch, true);
  }
};

}  // namespace SKDE_NAMESPACE
