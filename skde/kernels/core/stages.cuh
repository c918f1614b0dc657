// The work between generations: its stages, after each of which the teams of a run wait for each other. drive.cuh says
// what a share is.
#pragma once
#include "core/opposition.cuh"
#include "core/stopping.cuh"

namespace SKDE_NAMESPACE {

// Whether the blocks of a GPU have whole warps only.
#ifdef __CUDACC__
constexpr bool HAS_WHOLE_WARPS = SKDE_THREADS % WARP == 0;
#else
constexpr bool HAS_WHOLE_WARPS = false;
#endif

// Whether generation g, and the one after it, are generations of opposites.
struct Opposed {
  bool now, next;
};
template <class Algorithm, class R> SKDE_FN Opposed opposed(const R& run, i64 g) {
  using O = Opposition<Algorithm>;
  return {O::opposes(run, g), O::opposes(run, g + 1)};
}

// The stages between generation g and the next, in this order, with a barrier of the run's teams after each:
//   sorting     of a ranked large population; none after opposites, which are sorted with their parents
//   own         of the algorithm: stages(), or large_stages() where it divides; after opposites, of their selection
//   measuring   before opposites: the population's range
//   values      of a large population on a GPU, where the algorithm, the history or a stopping rule needs its best,
//               which is neither the first in the order nor joined: the best of each piece (best.cuh); with `tol` also
//               partial sums of values, and in a second stage those of squared differences (stopping.cuh), with a
//               reference set only at the end of an iteration
struct Stages {
  int sorting, own, measuring, values;
  SKDE_FN int all() const { return sorting + own + measuring + values; }
};
template <class Algorithm, class R> SKDE_FN bool finds_best(const R& run, i64 g) {
  return Algorithm::needs_best(run) || run.judged || history_slot(g) >= 0;
}
// Whether teams join the best of generation g into a word, inside a launch. Blocks as teams have larger work: they
// would save little time, and lose more with the registers that it takes.
template <class Algorithm, class Team, class R>
constexpr bool CAN_JOIN = HAS_WHOLE_WARPS && Team::size <= WARP && Algorithm::SELECTS_AT_ONCE && !R::ITERATES;
template <class Algorithm, class Team, class R> SKDE_FN bool joins_best(const R& run, i64 g, bool opposes) {
  const bool is_enough = UNIQUE_KEYS<typename R::real> || !Algorithm::needs_best(run);
  const bool can =
      CAN_JOIN<Algorithm, Team, R> && has_bests(run, run.pop) && !has_value_sums(run) && is_enough && !opposes;
  return can && finds_best<Algorithm>(run, g);
}
template <class Algorithm, class R, class Share> SKDE_FN int own_stages(const R& run, const Share& share, i64 g) {
  if constexpr (Algorithm::DIVIDES)
    if (is_large(run.pop)) return Algorithm::large_stages(run, share, g);
  return Algorithm::stages(run, g);
}
// Whether the last stage is left out where it has no work (BaseAlgorithm::HAS_RARE_STAGE).
template <class Algorithm, class R> SKDE_FN bool has_rare_stage(const R& run) {
  return Algorithm::HAS_RARE_STAGE && !is_large(run.pop);
}
template <class Algorithm, class R, class Share>
SKDE_FN Stages stages(const R& run, const Share& share, i64 g, const Opposed& opposed, bool joined = false) {
  const bool opposes = CAN_OPPOSE<Algorithm> && opposed.now;
  const bool sorts = is_ranked(run) && is_large(run.pop) && !opposes;
  const int own = GOES_ALONG<Algorithm> && sorts ? 0 : own_stages<Algorithm>(run, share, g);
  return {sorts ? sort_stages(share, run.pop) : 0, opposes ? Opposition<Algorithm>::stages(run, share) : own,
          CAN_OPPOSE<Algorithm> && opposed.next ? Opposition<Algorithm>::measuring_stages(run) : 0,
          has_value_sums(run) && run.iteration(g) >= 0
              ? 2
              : has_bests(run, run.pop) && finds_best<Algorithm>(run, g) && !joined};
}

// body(team, share). Where an individual has a part of a warp, the team is a whole one: a stage's items need more lanes
// than components do.
template <class Team, class Share, class Body> SKDE_FN void by_whole_warps(Team& team, const Share& share, Body body) {
  if constexpr (HAS_WHOLE_WARPS && Team::size < WARP) {
    typename Team::Whole warp(nullptr);
    body(warp, share.of_whole_warp());
  } else {
    body(team, share);
  }
}

// A stage of sorting, of a large population that the algorithm divides, of opposites, or of values. Apart from the
// frequent case, so that this stays small.
template <class Algorithm, class Team, class R, class Share>
SKDE_FN void other_stage_of(Team& team, const R& run, const Share& share, i64 g, int stage, const Stages& stages,
                            bool opposes) {
  if (CAN_RANK && stage < stages.sorting) {
    const auto* const f = run.f(g);
    return sort_along<Algorithm>(team, run, share, g, stage, [&](int k) { return f[k]; });
  }
  stage -= stages.sorting;
  if constexpr (Algorithm::DIVIDES && !GOES_ALONG<Algorithm>)
    if (stage < stages.own && !opposes) return Algorithm::end_large_generation(team, run, share, g, stage);
  if constexpr (CAN_OPPOSE<Algorithm>)
    if (stage < stages.own) return Opposition<Algorithm>::survive(team, run, share, g, stage);
  stage -= stages.own;
  if constexpr (CAN_OPPOSE<Algorithm>)
    if (stage < stages.measuring) return Opposition<Algorithm>::measure(team, run, share, g, stage);
  stage -= stages.measuring;
  if constexpr (MANY_TEAMS) {
    const bool first = !SUMS_VALUES || stage == 0;
    if (first && has_bests(run, run.pop)) find_bests(team, run, share, g);
    if constexpr (SUMS_VALUES)
      if (has_value_sums(run)) sum_values(team, run, share, g, !first);
  }
}
template <class Algorithm, class Team, class R, class Share>
SKDE_OUTLINE void other_stage(Team& team, const R& run, const Share& share, i64 g, int stage, const Stages& stages,
                              bool opposes) {
  by_whole_warps(team, share, [&](auto& whole, const auto& its_share) SKDE_INLINED {
    other_stage_of<Algorithm>(whole, run, its_share, g, stage, stages, opposes);
  });
}

// One stage, where the team has prefetched the values of its first individual.
template <class Algorithm, class Team, class R, class Share, class Prefetch>
SKDE_OUTLINE void end_generation(Team& team, const R& run, const Share& share, i64 g, int stage, const Stages& stages,
                                 bool opposes, const Prefetch& prefetch) {
  const int own = stage - stages.sorting;
  if (SKDE_RARELY(opposes | (own < 0) | (own >= stages.own)) || divides<Algorithm>(run))
    other_stage<Algorithm>(team, run, share, g, stage, stages, opposes);
  else {
    Prefetch values = prefetch;
    for (int i = share.begin; i < share.end;) {
      Algorithm::end_generation(team, run, g, i, own, values);
      i += share.step;
      if (i < share.end) values = Prefetch(team, run, g, i, false);
    }
  }
  const int adaptation = min_of(opposes ? 0 : Algorithm::ADAPTATION, stages.own - 1);
  if (own >= 0 && own == adaptation && (opposes || !divides<Algorithm>(run)) && share.adapts(run.pop))
    Algorithm::adapt(team, run, g, prefetch, !opposes);
}
template <class Algorithm, class Team, class R, class Share>
SKDE_FN auto prefetch(Team& team, const R& run, const Share& share, i64 g) {
  return typename Algorithm::template Prefetch<Team>(team, run, g, share.begin, share.adapts(run.pop));
}

// The last stage, where it is rare. No team changes what another still decides by, so there is a barrier before it.
template <class Algorithm, class Team, class R, class Share>
SKDE_OUTLINE void make_rare_stage(Team& team, const R& run, Share& share, i64 g, const Stages& stages, bool opposes) {
  share.arrive();
  share.wait();
  const auto values = prefetch<Algorithm>(team, run, share, g);
  end_generation<Algorithm>(team, run, share, g, stages.all() - 1, stages, opposes, values);
  share.arrive();
  share.wait();
}

// Whether the stages of small teams are functions apart from the generations. Stages need many registers. In one
// function with the generations they leave few to these, and a multiprocessor has many small teams. An algorithm that
// divides work has many stages: the calls then take longer than they save, except with opposites.
template <class Algorithm, class Team>
constexpr bool STAGES_APART = HAS_WHOLE_WARPS && Team::size < WARP && (CAN_OPPOSE<Algorithm> || !Algorithm::DIVIDES);
template <class Algorithm, class real> SKDE_FN auto run_apart(const Task<real>& task, i64 r, int pop, bool joined) {
  Run<Algorithm, real> run(task, Shared<real>(task), r);
  run.pop = pop, run.joined = joined;
  return run;
}
template <class Algorithm, class Team, class real, class Share>
SKDE_APART void end_generation_apart(const Task<real>& task, Share share, i64 r, i64 g, int pop, i64 evals,
                                     double progress, bool joined, int stage) {
  Team team(nullptr);
  auto run = run_apart<Algorithm>(task, r, pop, joined);
  run.evals = evals, run.progress = progress;
  const Opposed turn = opposed<Algorithm>(run, g);
  const Stages all_stages = stages<Algorithm>(run, share, g, turn, joined);
  end_generation<Algorithm>(team, run, share, g, stage, all_stages, turn.now, prefetch<Algorithm>(team, run, share, g));
}
template <class Algorithm, class Team, class real, class Share>
SKDE_APART void find_bests_apart(const Task<real>& task, Share share, i64 r, i64 g, int pop) {
  Team team(nullptr);
  const auto run = run_apart<Algorithm>(task, r, pop, true);
  by_whole_warps(team, share, [&](auto& whole, const auto& its_share) { find_bests(whole, run, its_share, g); });
}

}  // namespace SKDE_NAMESPACE
