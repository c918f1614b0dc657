// Differential evolution by operators, each of which writes its result to memory for the next (Qin, Raimondo, Forbes,
// Ong: An improved CUDA-based implementation of differential evolution on GPU; GECCO 2012): kernel P draws indices,
// kernel M makes mutants, kernel C makes trials. Together they make the trials that `propose` makes.
#pragma once
#include "algorithms/de.cuh"
#include "core/drive.cuh"

namespace SKDE_NAMESPACE {

// Whether an algorithm has these operators: the family of de.cuh. WITH_OPERATORS of launches.py has their names.
template <class Algorithm> constexpr bool has_operators = false;
template <class ControlRule> constexpr bool has_operators<Differential<ControlRule>> = true;

// The random words of a trial without those of its crossover. They depend on their address only, so they may be drawn
// while the generation before is made.
struct alignas(16) PreparedTrial {
  Words4 control;
  DistinctIndices indices;
};
static_assert(sizeof(PreparedTrial) == SKDE_PREPARED_BYTES, "the host allocates these");

template <class Algorithm, class R> SKDE_FN PreparedTrial prepared_trial(const R& run, i64 g, int i) {
  using Layout = typename Algorithm::Layout;
  const auto words = [&](int block) { return run.stream(g, i, Layout::purpose(block)).block(Layout::slot(block)); };
  const Mutation mutation = run.settings.mutation;
  const u32 fifth = indices_of(mutation) > 4 ? run.stream(g, i, Layout::purpose(Layout::INDEX)).block(1).w[0] : 0u;
  const Words4 drawn = words(Layout::INDEX);
  PreparedTrial made{words(Layout::CONTROLS), DistinctIndices(drawn, fifth, run.pop, i, indices_of(mutation))};
  if (is_shifted(mutation)) shift_draws(drawn, run.pop, i, made.indices, made.control);
  return made;
}

// The draws of a trial, with those that P has made.
template <class Team> struct PreparedDraws {
  const PreparedTrial made;
  const DistinctIndices& indices = made.indices;
  ComponentWords<Team, Stream> words;

  template <class R>
  SKDE_FN PreparedDraws(Team& team, const R& run, i64 g, int i, const PreparedTrial& made)
      : made(made), words(team, run.stream(g, i, CROSSOVER), run.settings.crossover == Crossover::BIN ? run.dim : 0) {}
  PreparedDraws(const PreparedDraws&) = delete;

  SKDE_FN u32 control(int k) const { return made.control.w[k]; }
};

// P: the words of the trials of generation g, by one lane for each individual.
template <class Algorithm, class Team, class real, class Share>
SKDE_FN void prepare(const Team& team, const Task<real>& task, i64 r, const Share& share, i64 g, PreparedTrial* out) {
  if (task.status[r] != RUNNING) return;
  Run<Algorithm, real> run(task, Shared<real>(task), r);
  run.enter(g);
  share.each_position(team, run.pop, [&](int i) { out[r * task.pop_max + i] = prepared_trial<Algorithm>(run, g, i); });
}

// M: judges generation g - 1, and makes the mutants of the running runs as the trials of a crossover that takes every
// component. Repair depends on the component alone, so it is done here.
template <class Algorithm, class Team, class real, class Share>
SKDE_FN void mutate(Team& team, const Task<real>& task, i64 r, Share& share, i64 g, const PreparedTrial* prepared,
                    real* mutants) {
  if (conclude<Algorithm>(team, task, r, share, g - 1) != RUNNING) return;
  Run<Algorithm, real> run(task, Shared<real>(task), r);
  run.enter(g);
  share.divide(run.pop);
  if (Opposition<Algorithm>::opposes(run, g)) return;
  const auto context = context_of<Algorithm>(team, run, g);
  for (int i = share.begin; i < share.end; i += share.step) {
    const i64 row = r * task.pop_max + i;
    const PreparedDraws<Team> draws(team, run, g, i, prepared[row]);
    const auto v = Algorithm::mutant(run, g, i, draws, context, Algorithm::control_of(run, g, i, draws));
    cross(team, run, g, i, v, run.x(g - 1, i), mutants + row * task.dim, [](int, int) { return true; });
  }
}

// C: the trials, at their place in the new population.
template <class Algorithm, class Team, class real, class Share>
SKDE_FN void cross_mutants(Team& team, const Task<real>& task, i64 r, Share& share, i64 g,
                           const PreparedTrial* prepared, const real* mutants) {
  if (task.status[r] != RUNNING) return;
  Run<Algorithm, real> run(task, Shared<real>(task), r);
  run.enter(g);
  share.divide(run.pop);
  const bool opposes = Opposition<Algorithm>::opposes(run, g);
  for (int i = share.begin; i < share.end; i += share.step) {
    real* const out = run.x(g, i);
    if (CAN_OPPOSE<Algorithm> && opposes) {
      Opposition<Algorithm>::propose(team, run, g, i, out);
      continue;
    }
    const i64 row = r * task.pop_max + i;
    const PreparedDraws<Team> draws(team, run, g, i, prepared[row]);
    const real* const made = mutants + row * task.dim;
    // `made` as a Mutant with the same bits: made + -0 (made - made).
    const Mutant<real> v{1, made, nullptr, nullptr, made, made, real(0), -real(0)};
    Algorithm::crossover(team, run, g, i, draws, Algorithm::control_of(run, g, i, draws), v, out);
  }
}

}  // namespace SKDE_NAMESPACE
