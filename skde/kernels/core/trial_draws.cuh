// The draws of a trial of differential evolution: those of its individual, and a word of each component for crossover.
#pragma once
#include "core/run.cuh"
#include "random/draws.cuh"

namespace SKDE_NAMESPACE {

// Of an algorithm A with a Layout. A::each_row(run, g, i, words, number, read) calls read(row) for the rows that trial i
// reads; of the individual's draws words(b) is block b, number(k) number k. So a CPU loads the rows of the trials that
// are up to EARLY places ahead (fetch_early).
template <class A, class Team, int EARLY> struct TrialDraws {
  IndividualDraws<typename A::Layout> individual;
  ComponentWords<Team, Stream> words;

  template <class R>
  SKDE_FN TrialDraws(Team& team, const R& run, i64 g, int i)
      : individual(team, run.seed, g, i), words(team, run.stream(g, i, CROSSOVER), run.dim) {
    individual.template fetch_early<EARLY>(team, run, g, [&](int k, auto words, auto number) {
      A::each_row(run, g, k, words, number, [&](const typename R::real* row) { team.fetch(run.dim, row); });
    });
  }
};

}  // namespace SKDE_NAMESPACE
