// The two drivers, written once for all algorithms and machines: `generations` runs whole generations of one run (compiled
// objectives), `propose` and `accept` are the two halves of one generation (objectives that the host evaluates).
//
// A Share is the part of a run that a team works on: individuals begin, begin + step, ... below end; the leader, one team of
// the run, writes what is the run's and not an individual's; adapts(pop) names the team, an idle one where there is one, that
// does so between generations; arrive() and wait() together are a barrier of the run's teams.
#pragma once
#include "core/islands.cuh"
#include "core/select.cuh"
#include "core/task.cuh"

namespace SKDE_NAMESPACE {

// The best of generation g is remembered for g < 128 and then for 64 generations of every doubling: a fixed rule, so the
// history needs no counter and reads the same after a resume. The slot of g, or -1.
SKDE_FN i64 history_slot(i64 g) {
  if (g < 128) return g;
  const int doublings = highest_bit(u64(g)) - 7;  // 2^(doublings + 7) <= g < 2^(doublings + 8)
  const int shift = doublings + 1;
  return g & ((i64(1) << shift) - 1) ? -1 : 128 + 64 * doublings + (g >> shift) - 64;
}

// SciPy's rule: the standard deviation of `all` values, the first `pop` of them in f, is at most tol times the size of their
// mean.
template <class Team, class real>
SKDE_OUTLINE bool converged(Team& team, const real* f, int pop, const real* members, int all, double tol) {
  const auto value = [&](int i) { return i < pop ? f[i] : members[i - pop]; };
  const real n = real(all);
  const real mean = team.sum(all, [&](int i) { return value(i); }) / n;
  const real variance = team.sum(all, [&](int i) { return (value(i) - mean) * (value(i) - mean); }) / n;
  const bool finite = mean - mean == real(0) && variance - variance == real(0);
  return finite && double(sqrt(variance)) <= tol * double(abs_of(mean));
}
template <class Algorithm, class Team, class R> SKDE_FN bool converged(Team& team, const R& run, i64 g) {
  const int all = run.pop + (g > 0 ? Algorithm::kept(run) : 0);
  return converged(team, run.f(g), run.pop, run.member_values(g), all, run.task.tol);
}

// Whether a rule that looks at the values ends the run with generation g, the last of an iteration. The best is sampled for
// the generations up to the end of the next one, too, where it is looked at again.
template <class Algorithm, class Team, class R>
SKDE_OUTLINE Status judge(Team& team, const R& run, bool leader, i64 g, bool sampled) {
  using real = typename R::real;
  const auto& task = run.task;
  const bool writes = leader && team.lane == 0;
  const bool aimed = task.target > -infinity();
  real least = 0;
  if (sampled || aimed || task.stagnation) least = smallest(team, run.member_values(g), run.members());
  if (sampled) {
    const int generations = Algorithm::ITERATES ? int(Algorithm::last_of_iteration(run, g + 1) - g) : 1;
    team.each(generations, [&](int k) {
      const i64 slot = history_slot(g + k);
      if (slot >= 0 && slot < task.history_slots) task.history[run.run * task.history_slots + slot] = least;
    });
  }

  Status status = g >= run.limit ? LIMIT : RUNNING;
  if (task.stagnation) {
    const i64 iteration = Algorithm::iteration(run, g);
    const i64 now = (iteration & 1) * task.n_runs + run.run, before = (~iteration & 1) * task.n_runs + run.run;
    const bool improved = g == 0 || least < task.record[before];
    const i64 since = improved ? g : task.since[before];
    if (g - since >= task.stagnation) status = STAGNATED;
    if (writes) task.record[now] = improved ? least : task.record[before], task.since[now] = since;
  }
  if (task.tol >= 0 && converged<Algorithm>(team, run, g)) status = CONVERGED;
  if (aimed && double(least) <= task.target) status = TARGET;
  return status;
}

// The run's own clock: seconds inside `generations`. It does not tell every team the same, so the leader reads it before the
// teams meet, and what it wrote down decides.
template <class R> SKDE_FN void start_clock(const R& run) { run.task.clock[run.run] = nanoseconds(); }

template <class R> SKDE_FN void read_clock(const R& run, i64 g) {
  const double* const spent = run.task.spent + 2 * run.run;
  const i64 now = nanoseconds();
  run.spent(g) = max_of(spent[0], spent[1]) + 1e-9 * double(now - run.task.clock[run.run]);
  run.task.clock[run.run] = now;
}

// Whether the run ends with generation g. Every team of the run finds the same answer; the leader writes it down.
template <class Algorithm, class Team, class R> SKDE_FN Status conclude(Team& team, const R& run, bool leader, i64 g) {
  const bool ends = Algorithm::iteration(run, g) >= 0;
  const bool sampled = leader && (Algorithm::ITERATES || history_slot(g) >= 0);
  Status status = g >= run.limit ? LIMIT : RUNNING;
  if (SKDE_RARELY(ends && (sampled || run.judged))) status = judge<Algorithm>(team, run, leader, g, sampled);
  if (SKDE_RARELY(run.timed) && ends && status == RUNNING && run.spent(g) >= run.task.run_seconds) status = TIME;
  if (leader && team.lane == 0) run.task.generation[run.run] = g, run.task.status[run.run] = status;
  return status;
}

// Generation 0: the rows of `start` first, then points anywhere in the box.
template <class Team, class R> SKDE_FN void start(Team& team, const R& run, int i, typename R::real* out) {
  const auto& task = run.task;
  const Stream stream = run.stream(0, i, START);
  team.each(run.dim,
            [&](int j) { out[j] = i < task.n_start ? task.start[i64(i) * run.dim + j] : anywhere(run, stream, j); });
}

// Whether the code of a trial, and of what comes between generations, becomes part of the drivers, or these call it.
#ifdef __CUDACC__
template <class Algorithm> constexpr bool INLINED = true;
#else
template <class Algorithm> constexpr bool INLINED = Algorithm::INLINED;
#endif

template <class Algorithm, class Team, class R, class Draws, class Context>
SKDE_FN void make_trial(Team& team, const R& run, i64 g, int i, const Draws& draws, const Context& context,
                        typename R::real* out) {
  if (SKDE_RARELY(g == 0))
    start(team, run, i, out);
  else
    Algorithm::propose(team, run, g, i, draws, context, out);
}

// Draws that are made with the trial, not ahead of it: on a CPU nobody waits, and the code of a trial is then one function that
// all drivers call.
struct Undrawn {
  template <class Team, class R> SKDE_FN Undrawn(Team&, const R&, i64, int) {}
};
template <bool ahead, class Draws> struct DrawsAhead {
  using type = Draws;
};
template <class Draws> struct DrawsAhead<false, Draws> {
  using type = Undrawn;
};
template <class Algorithm, class Team>
using DrawsOf = typename DrawsAhead<INLINED<Algorithm>, typename Algorithm::template Draws<Team>>::type;

template <class Algorithm, class Team, class R, class Context>
SKDE_OUTLINE void make_trial(Team& team, const R& run, i64 g, int i, const Undrawn&, const Context& context,
                             typename R::real* out) {
  const typename Algorithm::template Draws<Team> draws(team, run, g, i);
  make_trial<Algorithm>(team, run, g, i, draws, context, out);
}

// Who it is, and the value, which is asked for early, so that it has arrived when the trial's is known.
template <class Algorithm, class R> SKDE_FN int parent_of(const R& run, i64 g, int i) {
  return g > 0 ? Algorithm::parent(run, g, i) : 0;
}
template <class R> SKDE_FN Parent<typename R::real> parent_with_value(const R& run, i64 g, int index) {
  return {index, g > 0 ? run.f(g - 1)[index] : typename R::real(0)};
}

template <class Algorithm, class Team, class R>
SKDE_FN void judge_trial(Team& team, const R& run, i64 g, int i, const typename R::real* trial, typename R::real f,
                         const Parent<typename R::real>& parent) {
  if (!SKDE_RARELY(g == 0)) return Algorithm::accept(team, run, g, i, trial, f, parent);
  typename R::real* const x = run.x(0, i);
  if (x != trial) team.each(run.dim, [&](int j) { x[j] = trial[j]; });
  if (team.lane == 0) run.f(0)[i] = f;
  Algorithm::begin(team, run, i, x);
}

// One part of what comes between generation g and the next, where the team already knows what its first individual needs.
template <class Algorithm, class Team, class R, class Share, class Known>
SKDE_FN void settle_inlined(Team& team, const R& run, const Share& share, i64 g, int stage, const Known& known) {
  Known own = known;
  for (int i = share.begin; i < share.end;) {
    Algorithm::settle(team, run, g, i, stage, own);
    i += share.step;
    if (i < share.end) own = Algorithm::recall(team, run, g, i, false);
  }
  if (stage == 0 && share.adapts(run.pop)) Algorithm::adapt(team, run, g, known);
}
template <class Algorithm, class Team, class R, class Share, class Known>
SKDE_OUTLINE void settle_called(Team& team, const R& run, const Share& share, i64 g, int stage, const Known& known) {
  settle_inlined<Algorithm>(team, run, share, g, stage, known);
}
template <class Algorithm, class Team, class R, class Share, class Known>
SKDE_FN void settle(Team& team, const R& run, const Share& share, i64 g, int stage, const Known& known) {
  if constexpr (INLINED<Algorithm>)
    settle_inlined<Algorithm>(team, run, share, g, stage, known);
  else
    settle_called<Algorithm>(team, run, share, g, stage, known);
}
template <class Algorithm, class Team, class R, class Share>
SKDE_FN auto recall(Team& team, const R& run, const Share& share, i64 g) {
  return Algorithm::recall(team, run, g, share.begin, share.adapts(run.pop));
}

template <class Algorithm, class Team, class R>
SKDE_FN typename Algorithm::Context context_of(Team& team, const R& run, i64 g) {
  return g == 0 ? typename Algorithm::Context{} : Algorithm::context(team, run, g);
}

// Whole generations, up to number `until` or the run's end. Trials are made in `room` when the team has some (shared
// memory), else at their place in the new population. The draws of a team's first individual are made while it would only
// wait for the others. Where an iteration takes several generations, a team makes them individual by individual, and the
// teams meet at its end.
template <class Algorithm, class Team, class real, class Share, class Objective>
SKDE_FN void generations(Team& team, const Task<real>& task, const Shared<real>& shared, i64 r, Share& share,
                         const Objective& objective, real* room, i64 until) {
  using Draws = DrawsOf<Algorithm, Team>;
  if (task.status[r] != RUNNING || task.generation[r] >= until) return;
  Run<Algorithm, real> run(task, shared, r);
  i64 g = task.generation[r] + 1;
  run.enter(g);
  share.divide(run.pop);
  const bool times = SKDE_RARELY(run.timed) && share.leader && team.lane == 0;
  if (times) start_clock(run);
  Draws draws(team, run, g, share.begin);
  for (;; ++g) {
    const auto context = context_of<Algorithm>(team, run, g);
    const i64 last =
        Algorithm::ITERATES ? min_of(Algorithm::last_of_iteration(run, g), max_of(min_of(until, run.limit), g)) : g;
    for (int i = share.begin; i < share.end; i += share.step) {
      for (i64 h = g;; ++h) {
        real* const trial = room ? room : Algorithm::template draft<Team>(run, h, i);
        const int index = parent_of<Algorithm>(run, h, i);
        make_trial<Algorithm>(team, run, h, i, draws, context, trial);
        const auto parent = parent_with_value(run, h, index);
        team.sync();
        const real f = objective(team, trial, run.dim, shared.data);
        judge_trial<Algorithm>(team, run, h, i, trial, f, parent);
        team.sync();
        if (!Algorithm::ITERATES || h == last) break;
        draws = Draws(team, run, h + 1, i);
      }
      if (i + share.step < share.end) draws = Draws(team, run, opaque(g), i + share.step);
    }
    if (times) read_clock(run, last);
    run.evals += (last - g) * run.pop, g = last;
    const int stages = Algorithm::stages(run, g);
    share.arrive();
    for (int stage = 0; SKDE_RARELY(stage < stages); ++stage) {
      const auto known = recall<Algorithm>(team, run, share, g);
      share.wait();
      settle<Algorithm>(team, run, share, g, stage, known);
      share.arrive();
    }
    auto next = run;
    Share after = share;
    if constexpr (Algorithm::SHRINKS) {
      next.enter(g + 1, run.evals + run.pop);
      after.divide(next.pop);
    }
    draws = Draws(team, next, g + 1, after.begin);
    share.wait();
    const bool running = conclude<Algorithm>(team, run, share.leader, g) == RUNNING;
    if (!running || g == until || (SKDE_RARELY(run.timed) && run.spent(g) >= task.pause_seconds)) break;
    if constexpr (Algorithm::SHRINKS) {
      run.evals = next.evals, run.pop = next.pop, run.progress = next.progress;
      share.divide(run.pop);
    }
  }
  if (!Algorithm::SHRINKS) run.evals = g * run.pop;
  if (share.leader && team.lane == 0) *run.evals_after(g - 1) = run.evals, *run.evals_after(g) = run.evals + run.pop;
}

// Whether generation g ends run r, where the generation was made by halves. A run that is at another generation is left
// alone. Once islands have met after it, its values are no longer those that it is judged by.
template <class Algorithm, class Team, class real, class Share>
SKDE_FN Status conclude(Team& team, const Task<real>& task, i64 r, const Share& share, i64 g) {
  const bool open = g >= 0 && task.status[r] == RUNNING && task.generation[r] == g && !has_met(task, r, g);
  if (!open) return Status(task.status[r]);
  Run<Algorithm, real> run(task, Shared<real>(task), r);
  run.enter(g);
  return conclude<Algorithm>(team, run, share.leader, g);
}

// Where a run has ended, its rows of trials hold the points of its last population, from the first on again where these are
// fewer than the rows: whoever evaluates all rows of a batch meets no point that is not inside the bounds.
template <class Algorithm, class Team, class real, class Share>
SKDE_FN void repeat_population(Team& team, const Task<real>& task, i64 r, Share& share, i64 g, real* trials) {
  Run<Algorithm, real> run(task, Shared<real>(task), r);
  const i64 last = task.generation[r];
  run.enter(last);
  share.divide(int(task.pop_max - task.kept));
  for (int i = share.begin; i < share.end; i += share.step) {
    const real* const x = run.x(last, i % run.pop);
    real* const out = trials ? trials + (r * task.pop_max + i) * task.dim : run.x(g, i);
    if (x != out) team.each(run.dim, [&](int j) { out[j] = x[j]; });
  }
}

// The first half of generation g, after the end of generation g - 1 has been judged: the trials of the running runs are left
// in `trials` (null: at their place in the new population).
template <class Algorithm, class Team, class real, class Share>
SKDE_FN void propose(Team& team, const Task<real>& task, i64 r, Share& share, i64 g, real* trials) {
  using Draws = DrawsOf<Algorithm, Team>;
  if (conclude<Algorithm>(team, task, r, share, g - 1) != RUNNING)
    return repeat_population<Algorithm>(team, task, r, share, g, trials);
  Run<Algorithm, real> run(task, Shared<real>(task), r);
  run.enter(g);
  share.divide(run.pop);
  const auto context = context_of<Algorithm>(team, run, g);
  for (int i = share.begin; i < share.end; i += share.step) {
    real* const trial = trials ? trials + (r * task.pop_max + i) * task.dim : run.x(g, i);
    make_trial<Algorithm>(team, run, g, i, Draws(team, run, g, i), context, trial);
  }
}

// The second half, with the trials (null: those that `propose` left) and their values.
template <class Algorithm, class Team, class real, class Share>
SKDE_FN void accept(Team& team, const Task<real>& task, i64 r, Share& share, i64 g, const real* trials, const real* f) {
  if (task.status[r] != RUNNING) return;
  Run<Algorithm, real> run(task, Shared<real>(task), r);
  run.enter(g);
  share.divide(run.pop);
  if (share.leader && team.lane == 0) task.generation[r] = g, *run.evals_after(g) = run.evals + run.pop;
  for (int i = share.begin; i < share.end; i += share.step) {
    const i64 row = r * task.pop_max + i;
    const real* const trial = trials ? trials + row * task.dim : run.x(g, i);
    judge_trial<Algorithm>(team, run, g, i, trial, f[row], parent_with_value(run, g, parent_of<Algorithm>(run, g, i)));
  }
}

// Part `stage` of what follows `accept`.
template <class Algorithm, class Team, class real, class Share>
SKDE_FN void settle(Team& team, const Task<real>& task, i64 r, Share& share, i64 g, int stage) {
  if (task.status[r] != RUNNING) return;
  Run<Algorithm, real> run(task, Shared<real>(task), r);
  run.enter(g);
  share.divide(run.pop);
  if (stage < Algorithm::stages(run, g))
    settle<Algorithm>(team, run, share, g, stage, recall<Algorithm>(team, run, share, g));
}

// What is done after generation g where islands meet, step by step, with a barrier of all runs after each; and where its
// values have been made anew.
enum Step : int { JUDGE, EMIGRATE, IMMIGRATE, REORDER, REFRESH };

template <class Algorithm, class Team, class real, class Share>
SKDE_FN void migrate(Team& team, const Task<real>& task, i64 r, Share& share, i64 g, int step) {
  switch (step) {
    case JUDGE: conclude<Algorithm>(team, task, r, share, g); break;
    case EMIGRATE: emigrate<Algorithm>(team, task, r, share, g); break;
    case IMMIGRATE: immigrate<Algorithm>(team, task, r, share, g); break;
    default: reorder<Algorithm>(team, task, r, share, g, step == REFRESH);
  }
}

}  // namespace SKDE_NAMESPACE
