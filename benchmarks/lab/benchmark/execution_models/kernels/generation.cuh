// The drivers of one generation a launch, for the execution models of a GPU in which no kernel waits for other blocks.
// Mutation, crossover, evaluation and selection are one step (`make_generation`), or evaluation is a step by itself
// (`evaluate_trials`).
#pragma once
#include "core/drive.cuh"

namespace SKDE_NAMESPACE {

// Records that generation g has been made.
template <class R, class Team, class Share> SKDE_FN void count(Team& team, const R& run, const Share& share, i64 g) {
  if (share.leader && team.lane == 0) run.task.generation[run.run] = g, *run.evals_after(g) = run.evals + run.pop;
}

// Generation g, after the end of generation g - 1 has been judged. draws_of(run, i) are the draws of trial i. Where
// population sizes vary, the evaluations up to generation g are written afterwards, by `count_generation`: they have
// the same place as those up to generation g - 2, which other teams may still read.
template <class Algorithm, class Team, class real, class Share, class Objective, class DrawsOfTrial>
SKDE_FN void make_generation(Team& team, const Task<real>& task, const Shared<real>& shared, i64 r, Share& share,
                             const Objective& objective, real* room, i64 g, DrawsOfTrial draws_of) {
  using R = Run<Algorithm, real>;
  if (conclude<Algorithm>(team, task, r, share, g - 1) != RUNNING) return;
  R run(task, shared, r);
  run.enter(g);
  share.divide(run.pop);
  const bool opposes = Opposition<Algorithm>::opposes(run, g);
  const auto context = context_of<Algorithm>(team, run, g);
  for (int i = share.begin; i < share.end; i += share.step) {
    real* const trial = trial_place<Algorithm>(run, g, i, room);
    const int index = parent_of<Algorithm>(run, g, i);
    make_trial<Algorithm>(team, run, g, i, opposes, draws_of(run, i), context, trial);
    const auto parent = parent_with_value(run, g, index);
    team.sync();
    const real f = objective(team, trial, run.dim, shared.data);
    if constexpr (!TRIALS_SHARED) team.sync();  // the trial's place is that of a row that the selection may write
    judge_trial<Algorithm>(team, run, g, i, opposes, trial, f, parent);
    team.sync();
  }
  if (!R::VARIES) count(team, run, share, g);
}

template <class Algorithm, class Team, class real, class Share>
SKDE_FN void count_generation(Team& team, const Task<real>& task, i64 r, const Share& share, i64 g) {
  if (task.status[r] != RUNNING) return;
  Run<Algorithm, real> run(task, Shared<real>(task), r);
  run.enter(g);
  count(team, run, share, g);
}

// The values of the trials of generation g, which are at their place in the new population, of the running runs.
template <class Algorithm, class Team, class real, class Share, class Objective>
SKDE_FN void evaluate_trials(Team& team, const Task<real>& task, const Shared<real>& shared, i64 r, Share& share,
                             const Objective& objective, i64 g, real* f) {
  if (task.status[r] != RUNNING) return;
  Run<Algorithm, real> run(task, shared, r);
  run.enter(g);
  share.divide(run.pop);
  for (int i = share.begin; i < share.end; i += share.step) {
    const real value = objective(team, run.x(g, i), run.dim, shared.data);
    team.sync();
    if (team.lane == 0) f[r * task.pop_max + i] = value;
  }
}

}  // namespace SKDE_NAMESPACE
