// The drivers, written once for all algorithms and machines: `generations` makes whole generations of one run (compiled
// objectives); `propose` and `accept` are the two halves of one generation (objectives that the host evaluates).
// generation.cuh has that of one generation a launch. stages.cuh has the work between generations.
//
// A Share is the part of a run that a team works on: individuals begin, begin + step, ... below end. The leader, one
// team of the run, writes the numbers of the run. adapts(pop) is true for the team that adapts the run's parameters
// between generations, on a GPU one without an individual if there is such a team. each_item(n, body) divides n items
// among the teams, on a GPU also each_long_item(n, body), which gives a block few of them; each_position(team, n, body)
// divides items among the lanes of all teams. join(place, word), of a GPU, makes *place the largest word of all teams;
// others(n) and after(n), of a GPU, are the shares of the teams without n long items, and of items after n others.
// arrive() and wait() together are a barrier of the run's teams.
#pragma once
#include "core/islands.cuh"
#include "core/stages.cuh"

namespace SKDE_NAMESPACE {

// EARLY_DRAWS: whether a trial's draws are made before the trial's turn: where a multiprocessor of a GPU has few teams,
// none works while one waits for its draws. EARLY_ROWS: whether rows are loaded early (BaseAlgorithm::fetch): where it
// has many teams, the rows are in the GPU's main memory.
#ifdef __CUDACC__
constexpr bool EARLY_DRAWS = !BUSY, EARLY_ROWS = BUSY;
#else
constexpr bool EARLY_DRAWS = false, EARLY_ROWS = false;
#endif

// Generation 0: the rows of `start` first, then uniform points of the box.
template <class Team, class R> SKDE_FN void start(Team& team, const R& run, int i, typename R::real* out) {
  const auto& task = run.task;
  const Stream stream = run.stream(0, i, START);
  team.each(run.dim, [&](int j) {
    out[j] = i < task.n_start ? task.start[i64(i) * run.dim + j] : uniform_component(run, stream, j);
  });
}

template <class Algorithm, class Team, class R, class Draws, class Context>
SKDE_FN void make_trial(Team& team, const R& run, i64 g, int i, bool opposes, const Draws& draws,
                        const Context& context, typename R::real* out) {
  if (SKDE_RARELY(g == 0))
    start(team, run, i, out);
  else if (CAN_OPPOSE<Algorithm> && SKDE_RARELY(opposes))
    Opposition<Algorithm>::propose(team, run, g, i, out);
  else
    Algorithm::propose(team, run, g, i, draws, context, out);
}

// The draws where EARLY_DRAWS is false: the trial makes them itself.
struct NoDraws {
  template <class Team, class R> SKDE_FN NoDraws(Team&, const R&, i64, int) {}
};
template <class Algorithm, class Team, class R, class Context>
SKDE_OUTLINE void make_trial(Team& team, const R& run, i64 g, int i, bool opposes, const NoDraws&,
                             const Context& context, typename R::real* out) {
  const typename Algorithm::template Draws<Team> draws(team, run, g, i);
  make_trial<Algorithm>(team, run, g, i, opposes, draws, context, out);
}

template <bool early, class Draws> struct EarlyDraws {
  using type = Draws;
};
template <class Draws> struct EarlyDraws<false, Draws> {
  using type = NoDraws;
};
template <class Algorithm, class Team>
using DrawsOf = typename EarlyDraws<EARLY_DRAWS, typename Algorithm::template Draws<Team>>::type;

// The place of a trial: `room` in the team's fast memory, the algorithm's trials, or the row in the new population. A
// CPU has room, too, for algorithms that need not write all rows of the new population. An algorithm that could mark kept
// points, but does not here, makes its trials in the new population, which takes less time.
template <class Algorithm, class R>
SKDE_FN typename R::real* trial_place(const R& run, i64 g, int i, typename R::real* room) {
  if constexpr (TRIALS_SHARED) return room;
  if constexpr (has_trials<typename Algorithm::Vectors> && (R::MARKS || !has_unchanged<typename Algorithm::Scratch>))
    return run.vector(Algorithm::Vectors::trials, g, i);
  if (R::MARKS && room) return room;
  return run.x(g, i);
}

// The parent, and its value, which is loaded before the trial is evaluated.
template <class Algorithm, class R> SKDE_FN int parent_of(const R& run, i64 g, int i) {
  return g > 0 ? Algorithm::parent(run, g, i) : 0;
}
template <class R> SKDE_FN Parent<typename R::real> parent_with_value(const R& run, i64 g, int index) {
  return {index, g > 0 ? run.f(g - 1)[index] : typename R::real(0), g > 0 && run.is_unchanged(g - 1, index)};
}

template <class Algorithm, class Team, class R>
SKDE_FN void judge_trial(Team& team, const R& run, i64 g, int i, bool opposes, const typename R::real* trial,
                         typename R::real f, const Parent<typename R::real>& parent) {
  if (CAN_OPPOSE<Algorithm> && SKDE_RARELY(opposes)) return Opposition<Algorithm>::select(team, run, g, i, trial, f);
  if (!SKDE_RARELY(g == 0)) return Algorithm::select(team, run, g, i, trial, f, parent);
  typename R::real* const x = run.x(0, i);
  if (x != trial) team.each(run.dim, [&](int j) { x[j] = trial[j]; });
  if (team.lane == 0) run.f(0)[i] = f;
  Algorithm::initialize(team, run, i, x);
}

template <class Algorithm, class Team, class R>
SKDE_FN typename Algorithm::Context context_of(Team& team, const R& run, i64 g) {
  return g == 0 ? typename Algorithm::Context{} : Algorithm::context(team, run, g);
}

// Whole generations, up to number `until` or the run's end. Trials are made in `room` if the team has some (shared
// memory); then it may make m of them before it evaluates these together (problem.cuh), and lane p has the numbers of
// trial p. The draws of a team's first individual are made between arrive() and wait(), because there is nothing else
// to do. Where an iteration has several generations, a team makes them individual by individual, and the barrier is at
// the iteration's end.
template <class Algorithm, class Team, class real, class Share, class Objective>
SKDE_FN void generations(Team& team, const Task<real>& task, const Shared<real>& shared, i64 r, Share& share,
                         const Objective& objective, real* room, i64 until) {
  using Draws = DrawsOf<Algorithm, Team>;
  using R = Run<Algorithm, real>;
  constexpr int m = R::ITERATES ? 1 : TOGETHER;
  static_assert(m == 1 || Team::size == WARP, "each of several trials has a lane of one warp");
  if (task.status[r] != RUNNING || task.generation[r] >= until) return;
  R run(task, shared, r);
  i64 g = task.generation[r] + 1;
  run.enter(g);
  share.divide(run.pop);
  const bool times = SKDE_RARELY(run.timed) && share.leader && team.lane == 0;
  if (times) start_clock(run);
  Opposed turn{false, Opposition<Algorithm>::opposes(run, g)};
  Draws draws(team, run, g, share.begin);
  for (;; ++g) {
    turn = {turn.next, Opposition<Algorithm>::opposes(run, g + 1)};
    const auto context = context_of<Algorithm>(team, run, g);
    const i64 last = R::ITERATES ? min_of(run.last_of_iteration(g), max_of(min_of(until, run.limit), g)) : g;
    for (int i = share.begin; i < share.end; i += m * share.step) {
      for (i64 h = g;; ++h) {
        real* const trials = trial_place<Algorithm>(run, h, i, room);
        // Individual k has trial p of the team. Nobody reads the values of places without a trial.
        const int many = m == 1 ? 1 : min_of(m, (share.end - i + share.step - 1) / share.step);
        Parent<real> parents{};
        SKDE_NO_UNROLL
        for (int p = 0, k = i; p < many; ++p, k += share.step) {
          const int index = parent_of<Algorithm>(run, h, k);
          make_trial<Algorithm>(team, run, h, k, turn.now, draws, context, trials + p * run.dim);
          if (m == 1 || team.lane == p) parents = parent_with_value(run, h, index);
          if constexpr (EARLY_ROWS)
            if (g > 0 && k + share.step < share.end) Algorithm::fetch(team, run, g, k + share.step);
        }
        team.sync();
        const real f = values_of<m>(objective, team, trials, run.dim, shared.data);
        if constexpr (!TRIALS_SHARED) team.sync();  // the trial is at a row that the selection may write
        SKDE_NO_UNROLL
        for (int p = 0, k = i; p < many; ++p, k += share.step) {
          const Parent<real> parent{value_at<m>(team, parents.index, p), value_at<m>(team, parents.f, p),
                                    R::MARKS && value_at<m>(team, int(parents.unchanged), p)};
          judge_trial<Algorithm>(team, run, h, k, turn.now, trials + p * run.dim, value_at<m>(team, f, p), parent);
          team.sync();
        }
        if (!R::ITERATES || h == last) break;
        draws = Draws(team, run, h + 1, i);
      }
      if (i + m * share.step < share.end) draws = Draws(team, run, opaque(g), i + m * share.step);
    }
    if (times) read_clock(run, last);
    run.evals += (last - g) * run.pop, g = last;
    if constexpr (CAN_JOIN<Algorithm, Team, R>) {
      run.joined = joins_best<Algorithm, Team>(run, g, turn.now);
      if (run.joined) share.join(run.best_word(g), best_of_share(team, run, share, g));
      if (has_bests(run, run.pop) && share.leader && team.lane == 0) run.best_word(g + 1) = 0;
    }
    const Stages all_stages = stages<Algorithm>(run, share, g, turn, run.joined);
    const int usual_stages = all_stages.all() - has_rare_stage<Algorithm>(run);
    share.arrive();
    for (int stage = 0; SKDE_RARELY(stage < usual_stages); ++stage) {
      if constexpr (STAGES_APART<Algorithm, Team>) {
        share.wait();
        end_generation_apart<Algorithm, Team>(task, share, r, g, run.pop, run.evals, run.progress, run.joined, stage);
      } else {
        const auto values = prefetch<Algorithm>(team, run, share, g);
        share.wait();
        end_generation<Algorithm>(team, run, share, g, stage, all_stages, turn.now, values);
      }
      share.arrive();
    }
    auto next = run;
    Share after = share;
    if constexpr (R::VARIES) {
      next.enter(g + 1, run.evals + run.pop);
      after.divide(next.pop);
    }
    draws = Draws(team, next, g + 1, after.begin);
    share.wait();
    if constexpr (Algorithm::HAS_RARE_STAGE)
      if (SKDE_RARELY(has_rare_stage<Algorithm>(run) && Algorithm::needs_last_stage(team, run, g, next.pop)))
        make_rare_stage<Algorithm>(team, run, share, g, all_stages, turn.now);
    const bool running = conclude(team, run, share.leader, g) == RUNNING;
    if (!running || g == until || (SKDE_RARELY(run.timed) && run.spent(g) >= task.pause_seconds)) {
      // The next launch knows nothing of words.
      if constexpr (CAN_JOIN<Algorithm, Team, R>)
        if (run.joined) find_bests_apart<Algorithm, Team>(task, share, r, g, run.pop);
      break;
    }
    if constexpr (R::VARIES) {
      run.evals = next.evals, run.pop = next.pop, run.progress = next.progress;
      share.divide(run.pop);
    }
  }
  if (!R::VARIES) run.evals = g * run.pop;
  if (share.leader && team.lane == 0) *run.evals_after(g - 1) = run.evals, *run.evals_after(g) = run.evals + run.pop;
}

// The status of run r after generation g, where the generation was made by halves. A run that is at another generation
// is not judged. Nor is one that has migrated: it was judged before, and its values are others now.
template <class Algorithm, class Team, class real, class Share>
SKDE_FN Status conclude(Team& team, const Task<real>& task, i64 r, const Share& share, i64 g) {
  const bool open = g >= 0 && task.status[r] == RUNNING && task.generation[r] == g && !has_migrated(task, r, g);
  if (!open) return Status(task.status[r]);
  Run<Algorithm, real> run(task, Shared<real>(task), r);
  run.enter(g);
  return conclude(team, run, share.leader, g);
}

// After a run's end its rows of trials are the points of its last population, repeated if these are fewer than the
// rows. So an objective that evaluates all rows of a batch gets points inside the bounds only.
template <class Algorithm, class Team, class real, class Share>
SKDE_FN void repeat_population(Team& team, const Task<real>& task, i64 r, Share& share, i64 g, real* trials) {
  Run<Algorithm, real> run(task, Shared<real>(task), r);
  const i64 last = task.generation[r];
  run.enter(last);
  share.divide(int(task.pop_max - task.reference_rows));
  for (int i = share.begin; i < share.end; i += share.step) {
    const real* const x = run.x(last, i % run.pop);
    real* const out = trials ? trials + (r * task.pop_max + i) * task.dim : run.x(g, i);
    if (x != out) team.each(run.dim, [&](int j) { out[j] = x[j]; });
  }
}

// The first half of generation g, after the end of generation g - 1 has been judged: the trials of the running runs are
// written to `trials` (null: at their place in the new population).
template <class Algorithm, class Team, class real, class Share>
SKDE_FN void propose(Team& team, const Task<real>& task, i64 r, Share& share, i64 g, real* trials) {
  using Draws = DrawsOf<Algorithm, Team>;
  if (conclude<Algorithm>(team, task, r, share, g - 1) != RUNNING)
    return repeat_population<Algorithm>(team, task, r, share, g, trials);
  Run<Algorithm, real> run(task, Shared<real>(task), r);
  run.enter(g);
  share.divide(run.pop);
  const bool opposes = Opposition<Algorithm>::opposes(run, g);
  const auto context = context_of<Algorithm>(team, run, g);
  for (int i = share.begin; i < share.end; i += share.step) {
    real* const trial = trials ? trials + (r * task.pop_max + i) * task.dim : run.x(g, i);
    make_trial<Algorithm>(team, run, g, i, opposes, Draws(team, run, g, i), context, trial);
    if (team.lane == 0) run.mark_unchanged(g, i, false);
  }
}

// The second half, with the trials (null: those at their place in the new population) and their values.
template <class Algorithm, class Team, class real, class Share>
SKDE_FN void accept(Team& team, const Task<real>& task, i64 r, Share& share, i64 g, const real* trials, const real* f) {
  if (task.status[r] != RUNNING) return;
  Run<Algorithm, real> run(task, Shared<real>(task), r);
  run.enter(g);
  share.divide(run.pop);
  if (share.leader && team.lane == 0) task.generation[r] = g, *run.evals_after(g) = run.evals + run.pop;
  const bool opposes = Opposition<Algorithm>::opposes(run, g);
  for (int i = share.begin; i < share.end; i += share.step) {
    const i64 row = r * task.pop_max + i;
    const real* const trial = trials ? trials + row * task.dim : run.x(g, i);
    const auto parent = parent_with_value(run, g, parent_of<Algorithm>(run, g, i));
    judge_trial<Algorithm>(team, run, g, i, opposes, trial, f[row], parent);
  }
}

// One stage after `accept`, if there is one. Returns whether there are more.
template <class Algorithm, class Team, class real, class Share>
SKDE_FN bool end_generation(Team& team, const Task<real>& task, i64 r, Share& share, i64 g, int stage) {
  if (task.status[r] != RUNNING) return false;
  Run<Algorithm, real> run(task, Shared<real>(task), r);
  run.enter(g);
  share.divide(run.pop);
  const Opposed turn = opposed<Algorithm>(run, g);
  const Stages all_stages = stages<Algorithm>(run, share, g, turn);
  if (stage >= all_stages.all()) return false;
  end_generation<Algorithm>(team, run, share, g, stage, all_stages, turn.now, prefetch<Algorithm>(team, run, share, g));
  return stage + 1 < all_stages.all();
}

// The steps after generation g where islands migrate, with a barrier of all runs after each; and REFRESH, the step
// after all individuals have been evaluated again.
SKDE_ENUM(Step, int, JUDGE, EMIGRATE, IMMIGRATE, REORDER, REFRESH);

template <class Algorithm, class Team, class real, class Share>
SKDE_FN void migrate(Team& team, const Task<real>& task, i64 r, Share& share, i64 g, int step) {
  switch (step) {
    case JUDGE: conclude<Algorithm>(team, task, r, share, g); break;
    case EMIGRATE: emigrate<Algorithm>(team, task, r, share, g); break;
    case IMMIGRATE: immigrate<Algorithm>(team, task, r, share, g); break;
    default: restore<Algorithm>(team, task, r, share, g, step == REFRESH);
  }
}

}  // namespace SKDE_NAMESPACE
