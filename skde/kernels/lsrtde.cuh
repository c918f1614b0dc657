// L-SRTDE, success rate-based adaptive differential evolution (Stanovov, Semenkin; CEC 2024).
//
// Two populations of one size: `top`, the best points found (x and f, in order of their values), and `front`, where
// successful trials replace the others in turn. With the success rate s of the last generation,
//
//   mutation   v = n_c + F (t_pbest - n_c) + F (n_r1 - t_r2)    n: front, t: top; c uniform, r1 by rank with exp(-3 k / N)
//   control    F ~ N(0.4 + 0.25 tanh(5 s), 0.02) in [0, 1]; pbest among max(2, 0.7 N exp(-7 s)); CR ~ N(M_CR, 0.05)
//   success    f(u) <= f(n_c), of the front as the trials before have left it
#pragma once
#include "distributions.cuh"
#include "task.cuh"
#include "variation.cuh"

namespace SKDE_NAMESPACE {

struct Lsrtde : Plain {
  SKDE_PARAMETERS(pop_size, pop_min, max_evals, max_iter, repair, cells, CR_start);
  // value: of the front. Of a trial: its value (NaN: no success), the share of components that it crossed, its gain, its slot
  // in the front (-1: none), its rank among the new front; and that of the front's old member in its place (-1: gone).
  // top: the individuals in the order of their values.
  SKDE_ARRAYS(value, f_trial, crossed, gain, slot, rank_trial, rank_front, top);
  SKDE_VECTORS(front, trials);
  static constexpr bool SHRINKS = true;

  struct Settings {
    const Shrinking shrinking;
    const Repair repair;
    const int cells;
    const double CR_start;

    SKDE_FN explicit Settings(const double* p)
        : shrinking{p[Parameters::pop_size], p[Parameters::pop_min], p[Parameters::max_evals], p[Parameters::max_iter]},
          repair(Repair(SKDE_REPAIR)),
          cells(int(p[Parameters::cells])),
          CR_start(p[Parameters::CR_start]) {}

    SKDE_FN int population(i64 evals, i64 g) const { return shrinking.population(evals, g); }
  };

  // A run's memory: M_CR, and behind it
  enum : int { CURSOR = 0, SUCCESS_RATE = 1, NEXT_SLOT = 2 };
  template <class R> SKDE_FN static double* numbers(const R& run, i64 g) { return run.memory(g) + run.settings.cells; }

  struct Context {
    double mean_F;
    int best;  // from how many of the best pbest is drawn
  };

  template <class Team, class R> SKDE_FN static Context context(Team&, const R& run, i64 g) {
    const double s = numbers(run, g - 1)[SUCCESS_RATE];
    return {0.4 + 0.25 * tanh(5 * s), max_of(int(run.pop * 0.7 * exp(-7 * s)), 2)};
  }

  template <class Team> struct Draws {
    Words4 control, indices;
    ComponentWords<Team, Stream> words;

    template <class R>
    SKDE_FN Draws(Team& team, const R& run, i64 g, int i)
        : control(run.stream(g, i, CONTROL).block(0)),
          indices(run.stream(g, i, INDICES).block(0)),
          words(team, run.stream(g, i, CROSSOVER), run.dim) {}
  };

  template <class Team, class R>
  SKDE_FN static void propose(Team& team, const R& run, i64 g, int i, const Draws<Team>& draws, const Context& context,
                              typename R::real* out) {
    using real = typename R::real;
    const int chosen = below(draws.indices.w[0], run.pop);
    int best = below(draws.indices.w[1], context.best - (chosen < context.best));
    best += chosen <= best;
    const int r1 = by_rank(run, g, i, best);
    int r2 = below(draws.indices.w[3], run.pop - 2);
    r2 += r2 >= min_of(best, r1);
    r2 += r2 >= max_of(best, r1);

    double F = context.mean_F + 0.02 * normal_quantile(inner_unit(draws.control.w[0]));
    for (u32 again = 0; SKDE_RARELY(F < 0 || F > 1); ++again)
      F = context.mean_F + 0.02 * normal_quantile(inner_unit(run.stream(g, i, CONTROL).block(1 + again).w[0]));
    const double middle = run.memory(g - 1)[below(draws.control.w[1], run.settings.cells)];
    const double CR = max_of(min_of(middle + 0.05 * normal_quantile(inner_unit(draws.control.w[2])), 1.0), 0.0);

    const real* const x = run.vector(Vectors::front, g - 1, chosen);
    const Mutant<real> v{x,      top(run, g, best), x, run.vector(Vectors::front, g - 1, r1), top(run, g, r2), real(F),
                         real(F)};
    const int one = below(draws.control.w[3], run.dim);
    cross_binomial(team, run, g, i, v, x, out, draws.words, CR, one);
    const Binomial binomial(CR);
    const int crossed =
        team.count(run.dim, [&](int j) { return binomial.takes(draws.words.at(j, j / Team::size)) | (j == one); });
    if (team.lane == 0) run.extra(Arrays::crossed, g)[i] = real(crossed) / real(run.dim);
  }

  template <class Team, class R>
  SKDE_FN static void accept(Team& team, const R& run, i64 g, int i, const typename R::real* trial,
                             typename R::real f_trial, typename R::real) {
    using real = typename R::real;
    real* const kept = run.vector(Vectors::trials, g, i);
    team.each(run.dim, [&](int j) { kept[j] = trial[j]; });
    if (team.lane != 0) return;
    run.extra(Arrays::f_trial, g)[i] = f_trial;
    run.extra(Arrays::slot, g)[i] = real(below(run.stream(g, i, INDICES).block(0).w[0], run.pop));  // n_c's, for now
  }

  // Part 0: who succeeds, by one team; part 1: the new top, and who stands where in the new front; part 2: the new front, in
  // the old order, without its worst.
  template <class R> SKDE_FN static int stages(const R&, i64 g) { return g == 0 ? 1 : 3; }
  template <class Team, class R> SKDE_FN static void settle(Team& team, const R& run, i64 g, int i, int stage) {
    if (g == 0) begin_front(team, run, i);
    if (stage == 1) choose(team, run, g, i);
    if (stage == 2) replace(team, run, g, i);
  }

  template <class Team, class R> SKDE_FN static void adapt(Team& team, const R& run, i64 g) {
    using real = typename R::real;
    const int cells = run.settings.cells;
    double *const M = run.memory(g), *const now = numbers(run, g);
    if (g == 0) {
      if (team.lane != 0) return;
      for (int k = 0; k < cells; ++k) M[k] = run.settings.CR_start;
      now[CURSOR] = 0, now[SUCCESS_RATE] = 0.5, now[NEXT_SLOT] = 0;
      return;
    }
    compete(team, run, g);
    const real *const gain = run.extra(Arrays::gain, g), *const CR = run.extra(Arrays::crossed, g);
    const real* const trial = run.extra(Arrays::f_trial, g);
    const int successes = team.count(run.pop, [&](int k) { return !is_nan(trial[k]); });
    // Weights add up to 1: products with improvements as small as numbers get would vanish.
    const real all = team.sum(run.pop, [&](int k) { return gain[k]; });
    const auto w = [&](int k) { return all > 0 ? gain[k] / all : real(0); };
    const double sum = double(team.sum(run.pop, [&](int k) { return w(k) * CR[k]; }));
    const double squares = double(team.sum(run.pop, [&](int k) { return w(k) * CR[k] * CR[k]; }));
    if (team.lane != 0) return;
    const double *const M_before = run.memory(g - 1), *const before = numbers(run, g - 1);
    const int cell = int(before[CURSOR]);
    for (int k = 0; k < cells; ++k) M[k] = M_before[k];
    if (successes > 0) M[cell] = 0.5 * (M_before[cell] + (sum > 0 ? squares / sum : 1.0));
    now[CURSOR] = successes > 0 ? (cell + 1) % cells : cell;
    now[SUCCESS_RATE] = double(successes) / run.pop;
    now[NEXT_SLOT] = (int(before[NEXT_SLOT]) + successes) % run.pop % next_pop(run, g);
  }

  template <class Team, class R> SKDE_FN static void reorder(Team& team, const R& run, i64 g, int i) {
    const int place = rank_of(team, run.f(g), run.pop, i);
    if (team.lane == 0) run.extra(Arrays::top, g)[place] = typename R::real(i);
  }

 private:
  // The trials of a generation in turn: each competes with what stands in its slot of the front by then. Where it
  // succeeds, its own slot is the next one.
  template <class Team, class R> SKDE_FN static void compete(Team& team, const R& run, i64 g) {
    using real = typename R::real;
    real *const slot = run.extra(Arrays::slot, g), *const f_trial = run.extra(Arrays::f_trial, g),
                *const gain = run.extra(Arrays::gain, g), *const now = run.extra(Arrays::rank_front, g);
    const real* const before = run.extra(Arrays::value, g - 1);
    team.each(run.pop, [&](int k) { now[k] = before[k]; });
    team.sync();
    if (team.lane == 0) {
      int next = int(numbers(run, g - 1)[NEXT_SLOT]);
      for (int i = 0; i < run.pop; ++i) {
        const real f = f_trial[i], rival = now[int(slot[i])];
        const bool succeeds = replaces(f, rival) && !is_nan(f);
        gain[i] = succeeds ? improvement(f, rival) : real(0);
        slot[i] = succeeds ? real(next) : real(-1);
        if (!succeeds) {
          f_trial[i] = real(infinity()) - real(infinity());
          continue;
        }
        now[next] = f;
        next = next + 1 < run.pop ? next + 1 : 0;
      }
    }
    team.sync();
  }

  template <class R> SKDE_FN static int next_pop(const R& run, i64 g) {
    return run.settings.population(run.evals + run.pop, g + 1);
  }

  // The k-th best of the last generation.
  template <class R> SKDE_FN static int row_of(const R& run, i64 g, int k) {
    return int(run.extra(Arrays::top, g - 1)[k]);
  }
  template <class R> SKDE_FN static const typename R::real* top(const R& run, i64 g, int k) {
    return run.x(g - 1, row_of(run, g, k));
  }

  // A member of the front, by rank with weights exp(-3 k / N), other than number `not_this`.
  template <class R> SKDE_FN static int by_rank(const R& run, i64 g, int i, int not_this) {
    const double range = 1 - exp(-3.0);
    int member = not_this;
    for (u32 again = 1; member == not_this; ++again) {
      const double u = inner_unit(run.stream(g, i, INDICES).block(again).w[0]);
      const int k = min_of(int(-log(1 - u * range) * (run.pop / 3.0)), run.pop - 1);
      member = g > 1 ? int(run.order(g - 1)[k]) : k;
    }
    return member;
  }

  template <class Team, class R> SKDE_FN static void begin_front(Team& team, const R& run, int i) {
    reorder(team, run, 0, i);
    const int place = rank_of(team, run.f(0), run.pop, i);
    const auto* const x = run.x(0, i);
    auto* const front = run.vector(Vectors::front, 0, place);
    team.each(run.dim, [&](int j) { front[j] = x[j]; });
    if (team.lane == 0) run.extra(Arrays::value, 0)[place] = run.f(0)[i];
  }

  // What becomes of the top's member and of the trial number i: in the new top, and by rank in the new front. Failed trials
  // have NaN in the place of their value, so they come before nothing; the old top is in order.
  template <class Team, class R> SKDE_FN static void choose(Team& team, const R& run, i64 g, int i) {
    using real = typename R::real;
    const real *const f = run.f(g - 1), *const front = run.extra(Arrays::value, g - 1),
                      *const trial = run.extra(Arrays::f_trial, g);
    const int pop = run.pop, next = int(numbers(run, g - 1)[NEXT_SLOT]);
    const int successes = team.count(pop, [&](int k) { return !is_nan(trial[k]); });
    const auto stays = [&](int k) { return (k < next ? k - next + pop : k - next) >= successes; };
    const auto trials_before = [&](real v) {
      return is_nan(v) ? successes : team.count(pop, [&](int k) { return trial[k] < v; });
    };
    const real mine = f[row_of(run, g, i)];
    place(team, run, g, top(run, g, i), mine, i + trials_before(mine));

    int rank_front = -1, rank_trial = pop;
    if (stays(i)) {
      const real v = front[i];
      const bool none = is_nan(v);
      rank_front = trials_before(v) + team.count(pop, [&](int k) {
        const real w = front[k];
        return stays(k) & (none ? !is_nan(w) | (k < i) : (w < v) | ((w == v) & (k < i)));
      });
    }
    if (!is_nan(trial[i])) {
      const real v = trial[i];
      const int before = team.count(pop, [&](int k) { return (trial[k] < v) | ((trial[k] == v) & (k < i)); });
      int old = 0;  // of the old top, those that are not worse
      for (int end = pop; old < end;) {
        const int middle = (old + end) / 2;
        if (f[row_of(run, g, middle)] <= v)
          old = middle + 1;
        else
          end = middle;
      }
      place(team, run, g, run.vector(Vectors::trials, g, i), v, old + before);
      rank_trial = before + team.count(pop, [&](int k) { return stays(k) & (front[k] <= v); });
    }
    if (team.lane != 0) return;
    run.extra(Arrays::rank_front, g)[i] = real(rank_front);
    run.extra(Arrays::rank_trial, g)[i] = real(rank_trial);
  }

  template <class Team, class R, class real>
  SKDE_FN static void place(Team& team, const R& run, i64 g, const real* from, real value, int rank) {
    if (rank >= run.pop) return;
    real* const to = run.x(g, rank);
    team.each(run.dim, [&](int j) { to[j] = from[j]; });
    if (team.lane == 0) run.f(g)[rank] = value, run.extra(Arrays::top, g)[rank] = real(rank);
  }

  template <class Team, class R> SKDE_FN static void replace(Team& team, const R& run, i64 g, int i) {
    using real = typename R::real;
    const real *const slot = run.extra(Arrays::slot, g), *const rank_front = run.extra(Arrays::rank_front, g),
                      *const rank_trial = run.extra(Arrays::rank_trial, g);
    const real left = real(next_pop(run, g));
    const auto enter = [&](const real* from, real value, real rank, real at) {
      if (rank < 0 || rank >= left) return;
      // Those that are left out make room for the ones behind them.
      const int members = team.count(run.pop, [&](int k) { return rank_front[k] >= left && real(k) < at; });
      const int trials =
          team.count(run.pop, [&](int k) { return slot[k] >= 0 && rank_trial[k] >= left && slot[k] < at; });
      const int place = int(at) - members - trials;
      real* const to = run.vector(Vectors::front, g, place);
      team.each(run.dim, [&](int j) { to[j] = from[j]; });
      if (team.lane == 0) run.extra(Arrays::value, g)[place] = value, run.order(g)[int(rank)] = place;
    };
    enter(run.vector(Vectors::front, g - 1, i), run.extra(Arrays::value, g - 1)[i], rank_front[i], real(i));
    if (slot[i] >= 0)
      enter(run.vector(Vectors::trials, g, i), run.extra(Arrays::f_trial, g)[i], rank_trial[i], slot[i]);
  }
};

}  // namespace SKDE_NAMESPACE
