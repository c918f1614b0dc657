// The status of a run after a generation: history, stopping rules, and the run's clock.
#pragma once
#include "core/best.cuh"

namespace SKDE_NAMESPACE {

// The history has the best of every generation g < 128, and of 64 generations in every doubling after. The rule is
// fixed, so the history needs no counter and is the same after a resume. Returns the slot of g, or -1.
SKDE_FN i64 history_slot(i64 g) {
  if (g < 128) return g;
  const int doublings = highest_bit(u64(g)) - 7;  // 2^(doublings + 7) <= g < 2^(doublings + 8)
  const int shift = doublings + 1;
  return g & ((i64(1) << shift) - 1) ? -1 : 128 + 64 * doublings + (g >> shift) - 64;
}

// SciPy's rule: the standard deviation of values is at most `absolute` plus `relative` times the size of their mean.
struct Closeness {
  double relative, absolute;
};

// The mean and the variance of values, and whether these are right: sums and squares of very large values overflow, and
// squares of very small differences become 0. Values are then multiplied by a power of two.
template <class real> struct Spread {
  real mean, variance;

  static constexpr real SMALL = real(sizeof(real) == 8 ? 0x1p-400 : 0x1p-40);
  static constexpr real SMALL_SQUARE = real(sizeof(real) == 8 ? 0x1p-900 : 0x1p-90);
  static constexpr real SHRINKS = real(sizeof(real) == 8 ? 0x1p-600 : 0x1p-80);
  static constexpr real GROWS = real(sizeof(real) == 8 ? 0x1p+600 : 0x1p+90);

  SKDE_FN bool overflows() const { return !(is_finite(mean) & is_finite(variance)); }
  SKDE_FN bool is_inexact() const { return overflows() | ((variance < SMALL_SQUARE) & (abs_of(mean) < SMALL)); }
  SKDE_FN real scale() const { return overflows() ? SHRINKS : GROWS; }
  SKDE_FN bool is_small(const Closeness& tol, real scale = 1) const {
    return double(sqrt(variance)) <= tol.absolute * double(scale) + tol.relative * double(abs_of(mean));
  }
};
template <class real> SKDE_FN real squared_difference(real a, real b) { return (a - b) * (a - b); }

// Of the values at(0) ... at(all - 1).
template <class real, class Team, class At> SKDE_FN Spread<real> spread_of(Team& team, int all, At at) {
  const real n = real(all);
  const real mean = team.sum(all, [&](int i) { return at(i); }) / n;
  return {mean, team.sum(all, [&](int i) { return squared_difference(at(i), mean); }) / n};
}

// Whether these are close. Values that are not finite are not close to others.
template <class real, class Team, class At> SKDE_FN bool are_close(Team& team, int all, At at, const Closeness& tol) {
  const Spread<real> spread = spread_of<real>(team, all, at);
  if (!SKDE_RARELY(spread.is_inexact())) return spread.is_small(tol);
  if (team.count(all, [&](int i) { return int(!is_finite(at(i))); }) > 0) return false;
  const real scale = spread.scale();
  return spread_of<real>(team, all, [&](int i) { return scale * at(i); }).is_small(tol, scale);
}

// The same of n values in f, or of `all` values, the first `pop` of them in f.
template <class Team, class real> SKDE_OUTLINE bool converged(Team& team, const real* f, int n, const Closeness& tol) {
  return are_close<real>(team, n, [=](int i) { return f[i]; }, tol);
}
template <class Team, class real>
SKDE_OUTLINE bool converged(Team& team, const real* f, int pop, const real* members, int all, const Closeness& tol) {
  return are_close<real>(team, all, [=](int i) { return i < pop ? f[i] : members[i - pop]; }, tol);
}

// Whether one of these, which are finite or not, is a finite one other than their least.
template <class Team, class real>
SKDE_FN bool differ(Team& team, real least, const real* f, int pop, const real* members, int all) {
  const auto at = [=](int i) { return i < pop ? f[i] : members[i - pop]; };
  return team.count(all, [=](int i) { return int(is_finite(at(i)) & (at(i) != least)); }) > 0;
}

// In a large population on a GPU every team would read all values. So the teams share the work in the last two stages of
// a generation: partial sums of the values, and then of their squared differences from the mean. The sums have the bits
// of one team's. The kernels of other batches have no code for it, because it takes registers.
#ifdef SKDE_TOL
constexpr bool SUMS_VALUES = true;
#else
constexpr bool SUMS_VALUES = false;
#endif
template <class R> SKDE_FN bool has_value_sums(const R& run) {
  return SUMS_VALUES && MANY_TEAMS && is_large(run.pop) && run.task.tol >= 0;
}
// The number of values of generation g that `tol` compares: those of the pool and of the reference set, if there is one.
template <class R> SKDE_FN int compared_values(const R& run, i64 g) {
  return run.pop + (R::ITERATES && g > 0 ? run.members() : 0);
}
template <class Team, class R, class real>
SKDE_FN real mean_of_partials(Team& team, const R& run, i64 g, const real* partials) {
  return team.sum(PARTIALS, [&](int p) { return partials[p]; }) / real(compared_values(run, g));
}
template <class Team, class R, class Share>
SKDE_FN void sum_values(Team& team, const R& run, const Share& share, i64 g, bool squares) {
  using real = typename R::real;
  const auto *const f = run.f(g), *const members = run.member_values(g);
  real* const sums = run.value_sums();
  const auto divide = [&](real* partials, auto term) {
    share.each_long_item(PARTIALS / Team::size, [&](int part) {
      const auto at = [&](int i) { return R::ITERATES && i >= run.pop ? members[i - run.pop] : f[i]; };
      const auto terms = [&](real v, bool counts, real* t) { t[0] = counts ? term(v) : real(0); };
      make_partials<1>(team, part, compared_values(run, g), at, terms, partials);
    });
  };
  if (!squares) return divide(sums, [](real v) { return v; });
  const real mean = mean_of_partials(team, run, g, sums);
  divide(sums + PARTIALS, [=](real v) { return squared_difference(v, mean); });
  if (share.leader && team.lane == 0) run.sums_mark() = run.mark(g);
}

template <class Team, class R> SKDE_FN bool converged(Team& team, const R& run, i64 g) {
  using real = typename R::real;
  const Closeness tol{run.task.tol, run.task.atol};
  if (SKDE_RARELY(has_value_sums(run) && run.sums_mark() == run.mark(g))) {
    const real* const sums = run.value_sums();
    const real mean = mean_of_partials(team, run, g, sums);
    const Spread<real> spread{mean, mean_of_partials(team, run, g, sums + PARTIALS)};
    if (!SKDE_RARELY(spread.is_inexact())) return spread.is_small(tol);
  }
  if constexpr (!R::ITERATES) return converged(team, run.f(g), run.pop, tol);
  return converged(team, run.f(g), run.pop, run.member_values(g), compared_values(run, g), tol);
}
template <class Team, class R> SKDE_FN bool differ(Team& team, const R& run, i64 g, typename R::real least) {
  return differ(team, least, run.f(g), run.pop, run.member_values(g), compared_values(run, g));
}

// The status after generation g, the last of an iteration, by the rules that read values. The best is written to the
// history for the generations up to the end of the next iteration, where the values are read again.
template <class Team, class R> SKDE_OUTLINE Status judge(Team& team, const R& run, bool leader, i64 g, bool sampled) {
  using real = typename R::real;
  const auto& task = run.task;
  const bool writes = leader && team.lane == 0;
  const bool has_target = task.target > -infinity();
  const i64 iteration = run.iteration(g);
  i64* const differed = task.differed + 2 * run.run;
  // Equal values say nothing about where the minimum is, as long as no others were seen.
  const bool known = g > 0 && differed[~iteration & 1];
  const bool notes = leader && (run.judged || task.history_slots > 0);
  const bool closes = task.tol >= 0, compares = !known && (closes || notes);
  real least = 0;
  if (sampled || has_target || task.stagnation || compares || (closes && task.converging < infinity()))
    least = smallest_value(team, run, g);
  if (sampled) {
    const int generations = R::ITERATES ? int(run.last_of_iteration(g + 1) - g) : 1;
    team.each(generations, [&](int k) {
      const i64 slot = history_slot(g + k);
      if (slot >= 0 && slot < task.history_slots) task.history[run.run * task.history_slots + slot] = least;
    });
  }

  Status status = g >= run.limit ? LIMIT : RUNNING;
  const i64 now = (iteration & 1) * task.n_runs + run.run, before = (~iteration & 1) * task.n_runs + run.run;
  if (task.stagnation) {
    const bool improved = g == 0 || least < task.record[before];
    const i64 since = improved ? g : task.since[before];
    if (g - since >= task.stagnation) status = STAGNATED;
    if (writes) task.record[now] = improved ? least : task.record[before], task.since[now] = since;
  }
  bool found = known;
  if (SKDE_RARELY(compares)) found = differ(team, run, g, least);
  if (closes && found && !(double(least) >= task.converging) && converged(team, run, g)) status = CONVERGED;
  if (notes && team.lane == 0) {
    differed[iteration & 1] = found;
    if (!run.judged) differed[~iteration & 1] = found;  // without a rule, not every generation comes here
  }
  if (has_target && double(least) <= task.target) status = TARGET;
  return status;
}

// The run's clock counts the seconds inside `generations`. Teams read different times, so the leader reads it before
// the barrier, and all teams decide by its record.
template <class R> SKDE_FN void start_clock(const R& run) { run.task.clock[run.run] = nanoseconds(); }

template <class R> SKDE_FN void read_clock(const R& run, i64 g) {
  const double* const spent = run.task.spent + 2 * run.run;
  const i64 now = nanoseconds();
  run.spent(g) = max_of(spent[0], spent[1]) + 1e-9 * double(now - run.task.clock[run.run]);
  run.task.clock[run.run] = now;
}

// The status after generation g. Every team of the run computes the same; the leader writes it.
template <class Team, class R> SKDE_FN Status conclude(Team& team, const R& run, bool leader, i64 g) {
  const bool ends = run.iteration(g) >= 0;
  const bool sampled = leader && (R::ITERATES || history_slot(g) >= 0);
  Status status = g >= run.limit ? LIMIT : RUNNING;
  if (SKDE_RARELY(ends && (sampled || run.judged))) status = judge(team, run, leader, g, sampled);
  if (SKDE_RARELY(run.timed) && ends && status == RUNNING && run.spent(g) >= run.task.run_seconds) status = TIME;
  if (leader && team.lane == 0) run.task.generation[run.run] = g, run.task.status[run.run] = status;
  return status;
}

}  // namespace SKDE_NAMESPACE
