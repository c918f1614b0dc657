// L-SRTDE, success rate-based adaptive differential evolution (Stanovov, Semenkin; CEC 2024).
//
// Two populations of one size: `top`, the best points found (x and f, in order of their values), and `front`, where
// successful trials replace the others in turn. With the success rate s of the last generation,
//
//   mutation   v = n_c + F (t_pbest - n_c) + F (n_r1 - t_r2)    n: front, t: top; c uniform, r1 by rank with exp(-3 k / N)
//   control    F ~ N(0.4 + 0.25 tanh(5 s), 0.02) in [0, 1]; pbest among max(2, 0.7 N exp(-7 s)); CR ~ N(M_CR, 0.05)
//   success    f(u) <= f(n_c), of the front as the trials before have left it
#pragma once
#include "core/task.cuh"
#include "core/variation.cuh"
#include "random/distributions.cuh"
#include "random/draws.cuh"

namespace SKDE_NAMESPACE {

struct Lsrtde : Plain {
  SKDE_PARAMETERS(pop_size, pop_min, max_evals, max_iter, repair, cells, CR_start);
  // value: of the front (while a generation is settled, of the old members, NaN where they are gone). Of a trial: its value,
  // the share of components that it crossed, its gain, its slot in the front (-1: no success), its rank among the new front;
  // and that of the front's old member in its place (-1: gone). won: values of the successful trials, one behind the other.
  // top: the individuals in the order of their values.
  SKDE_ARRAYS(value, f_trial, crossed, gain, slot, rank_trial, rank_front, won, top);
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
  };

  // A run's memory: M_CR, and behind it
  enum : int { CURSOR = 0, SUCCESS_RATE = 1, NEXT_SLOT = 2, SUCCESSES = 3, LEAST = 4, NEXT_POP = 5 };
  template <class R> SKDE_FN static double* numbers(const R& run, i64 g) { return run.memory(g) + run.settings.cells; }

  struct Context {
    double mean_F;
    int best;  // from how many of the best pbest is drawn
  };

  template <class Team, class R> SKDE_FN static Context context(Team&, const R& run, i64 g) {
    const double s = numbers(run, g - 1)[SUCCESS_RATE];
    return {0.4 + 0.25 * tanh(5 * s), max_of(int(run.pop * 0.7 * exp(-7 * s)), 2)};
  }

  struct Deal {
    enum : int { CONTROLS, INDEX, MEMBER, BLOCKS };
    enum : int { NORMAL_F, NORMAL_CR, FALLING, NUMBERS };
    static constexpr int AGAIN = 0;
    SKDE_FN static Purpose purpose(int block) { return block == CONTROLS ? CONTROL : INDICES; }
    SKDE_FN static u32 slot(int block) { return block == MEMBER; }
    template <int k, class Words> SKDE_FN static double number(Words words) {
      return k == FALLING ? falling(words(MEMBER, 0)) : normal(words(CONTROLS, k == NORMAL_F ? 0 : 2));
    }
  };

  template <class Team> struct Draws {
    Dealt<Deal> dealt;
    ComponentWords<Team, Stream> words;

    template <class R>
    SKDE_FN Draws(Team& team, const R& run, i64 g, int i)
        : dealt(team, run.seed, g, i), words(team, run.stream(g, i, CROSSOVER), run.dim) {}
  };

  template <class Team, class R>
  SKDE_FN static void propose(Team& team, const R& run, i64 g, int i, const Draws<Team>& draws, const Context& context,
                              typename R::real* out) {
    using real = typename R::real;
    const Words4 &control = draws.dealt.block[Deal::CONTROLS], &indices = draws.dealt.block[Deal::INDEX];
    const double* const numbers = draws.dealt.number;
    const int chosen = below(indices.w[0], run.pop);
    int best = below(indices.w[1], context.best - (chosen < context.best));
    best += chosen <= best;
    const int r1 = by_rank(run, g, i, best, numbers[Deal::FALLING]);
    int r2 = below(indices.w[3], run.pop - 2);
    r2 += r2 >= min_of(best, r1);
    r2 += r2 >= max_of(best, r1);

    double F = context.mean_F + 0.02 * numbers[Deal::NORMAL_F];
    for (u32 again = 0; SKDE_RARELY(F < 0 || F > 1); ++again)
      F = context.mean_F + 0.02 * normal(run.stream(g, i, CONTROL).block(1 + again).w[0]);
    const double middle = run.memory(g - 1)[below(control.w[1], run.settings.cells)];
    const double CR = max_of(min_of(middle + 0.05 * numbers[Deal::NORMAL_CR], 1.0), 0.0);

    const real* const x = run.vector(Vectors::front, g - 1, chosen);
    const Mutant<real> v{x,      top(run, g, best), x, run.vector(Vectors::front, g - 1, r1), top(run, g, r2), real(F),
                         real(F)};
    const int one = below(control.w[3], run.dim);
    cross_binomial(team, run, g, i, v, x, out, draws.words, CR, one);
    const Binomial binomial(CR);
    const int crossed =
        team.count(run.dim, [&](int j) { return binomial.takes(draws.words.at(j, j / Team::size)) | (j == one); });
    if (team.lane != 0) return;
    run.extra(Arrays::crossed, g)[i] = real(crossed) / real(run.dim);
    run.extra(Arrays::slot, g)[i] = real(chosen);  // until it is known whether the trial succeeds
  }

  // The CPU makes a trial where it is kept.
  template <class Team, class R> SKDE_FN static typename R::real* draft(const R& run, i64 g, int i) {
    return Team::size == 1 ? run.vector(Vectors::trials, g, i) : run.x(g, i);
  }

  template <class Team, class R>
  SKDE_FN static void accept(Team& team, const R& run, i64 g, int i, const typename R::real* trial,
                             typename R::real f_trial, const Parent<typename R::real>&) {
    team.copy(run.dim, trial, run.vector(Vectors::trials, g, i));
    if (team.lane == 0) run.extra(Arrays::f_trial, g)[i] = f_trial;
  }

  // Part 0: who succeeds, by one team; part 1: the new top, and who stands where in the new front; part 2: the new front, in
  // the old order, without its worst.
  template <class R> SKDE_FN static int stages(const R&, i64 g) { return g == 0 ? 1 : 3; }
  template <class Team, class R, class Known>
  SKDE_FN static void settle(Team& team, const R& run, i64 g, int i, int stage, const Known&) {
    if (g == 0) reorder(team, run, g, i), restart(team, run, g, i);
    if (stage == 1) choose(team, run, g, i);
    if (stage == 2) replace(team, run, g, i);
  }

  template <class Team, class R, class Known> SKDE_FN static void adapt(Team& team, const R& run, i64 g, const Known&) {
    using real = typename R::real;
    const int cells = run.settings.cells;
    double *const M = run.memory(g), *const now = numbers(run, g);
    if (g == 0) {
      if (team.lane != 0) return;
      for (int k = 0; k < cells; ++k) M[k] = run.settings.CR_start;
      now[CURSOR] = 0, now[SUCCESS_RATE] = 0.5, now[NEXT_SLOT] = 0, now[SUCCESSES] = 0;
      return;
    }
    const int successes = compete(team, run, g);
    const real least = smallest(team, run.extra(Arrays::won, g), successes);  // of the trials that succeeded
    const real *const gain = run.extra(Arrays::gain, g), *const CR = run.extra(Arrays::crossed, g);
    struct Trial {
      real gain, CR;
    };
    enum : int { WEIGHT, CR_SUM, CRCR_SUM, SUMS };
    const auto sums = weighted_sums<real, WEIGHT>([&](real scale) {
      return team.template sums<SUMS>(
          run.pop, [&](int k) { return Trial{gain[k], CR[k]}; },
          [&](const Trial& trial, bool counts, real* t) {
            const real w = counts ? scale * trial.gain : real(0);
            t[WEIGHT] = w, t[CR_SUM] = w * trial.CR, t[CRCR_SUM] = w * trial.CR * trial.CR;
          });
    });
    const double sum = double(sums.of[CR_SUM]), squares = double(sums.of[CRCR_SUM]);
    if (team.lane != 0) return;
    const double *const M_before = run.memory(g - 1), *const before = numbers(run, g - 1);
    const int cell = int(before[CURSOR]);
    for (int k = 0; k < cells; ++k) M[k] = M_before[k];
    if (successes > 0) M[cell] = 0.5 * (M_before[cell] + (sum > 0 ? squares / sum : 1.0));
    now[CURSOR] = successes > 0 ? (cell + 1) % cells : cell;
    now[SUCCESS_RATE] = double(successes) / run.pop;
    now[SUCCESSES] = successes, now[LEAST] = least;
    const int left = next_pop(run, g);
    now[NEXT_SLOT] = (int(before[NEXT_SLOT]) + successes) % run.pop % left, now[NEXT_POP] = left;
  }

  template <class Team, class R> SKDE_FN static void reorder(Team& team, const R& run, i64 g, int i) {
    const int place = rank_of(team, run.f(g), run.pop, i);
    if (team.lane == 0) run.extra(Arrays::top, g)[place] = typename R::real(i);
  }

  // The front begins as the top is, in its order.
  template <class Team, class R> SKDE_FN static void restart(Team& team, const R& run, i64 g, int i) {
    const int place = rank_of(team, run.f(g), run.pop, i);
    team.copy(run.dim, run.x(g, i), run.vector(Vectors::front, g, place));
    if (team.lane == 0) run.extra(Arrays::value, g)[place] = run.f(g)[i], run.order(g)[place] = place;
  }

 private:
  // The trials of a generation in turn: each competes with what stands in its slot of the front by then; where it succeeds,
  // its own slot is the next one. All are decided at once from the successes of the round before, until a round changes
  // nothing: the first k are right after k rounds, and nearly always all after two or three. Returns the successes.
  template <class Team, class R> SKDE_FN static int compete(Team& team, const R& run, i64 g) {
    using real = typename R::real;
    const int pop = run.pop, next = int(numbers(run, g - 1)[NEXT_SLOT]);
    const real* const front = run.extra(Arrays::value, g - 1);
    const real* const f = run.extra(Arrays::f_trial, g);
    real *const slot = run.extra(Arrays::slot, g), *const won = run.extra(Arrays::won, g);
    // What is written later has room until then: whether a trial succeeds, how many do so before it, and what it competes with.
    real* const succeeds = run.extra(Arrays::rank_trial, g);
    real *const before = run.extra(Arrays::gain, g), *const rival = run.extra(Arrays::value, g);
    const auto wins = [&](int i, real other) { return real(replaces(f[i], other) & !is_nan(f[i])); };
    team.map(pop, succeeds, [&](int i, int) { return wins(i, front[int(slot[i])]); });
    int successes, changed;
    do {
      team.sync();
      successes = team.pack(pop, [&](int i) { return succeeds[i] > 0; }, [&](int i) { return f[i]; }, before, won);
      team.sync();
      team.map(pop, rival, [&](int i, int) {
        const int chosen = int(slot[i]), turn = turn_of(chosen, next, pop);
        const real trial = won[turn], member = front[chosen];  // no branch between the loads, so that they vectorise
        return real(turn) < before[i] ? trial : member;
      });
      changed = team.count(pop, [&](int i) { return wins(i, rival[i]) != succeeds[i]; });
      team.map(pop, succeeds, [&](int i, int) { return wins(i, rival[i]); });
    } while (changed);

    real *const standing = rival, *const sorted = top_values(run, g);
    const real none = real(infinity()) - real(infinity());
    const real* const f_top = run.f(g - 1);
    team.map(pop, sorted, [&](int k, int) { return f_top[row_of(run, g, k)]; });
    team.map(pop, slot, [&](int i, int) {
      const real place = real(next) + before[i];
      return succeeds[i] > 0 ? place - (place < real(pop) ? real(0) : real(pop)) : real(-1);
    });
    // From here on Arrays::gain.
    team.map(pop, before, [&](int i, int) { return succeeds[i] * improvement(f[i], rival[i]); });
    team.map(pop, standing, [&](int i, int) { return turn_of(i, next, pop) < successes ? none : front[i]; });
    team.sync();
    return successes;
  }

  // After how many successes it is the turn of a slot of the front.
  SKDE_FN static int turn_of(int slot, int next, int pop) { return slot < next ? slot - next + pop : slot - next; }

  template <class R> SKDE_FN static int next_pop(const R& run, i64 g) {
    const Shrinking& shrinking = run.settings.shrinking;
    return shrinking.population(shrinking.progress(run.evals + run.pop, g + 1));
  }

  // The k-th best of the last generation.
  template <class R> SKDE_FN static int row_of(const R& run, i64 g, int k) {
    return int(run.extra(Arrays::top, g - 1)[k]);
  }
  template <class R> SKDE_FN static const typename R::real* top(const R& run, i64 g, int k) {
    return run.x(g - 1, row_of(run, g, k));
  }

  // The values of the last generation's top in their order, for as long as the new one is made: where that generation kept
  // what nobody asks for any more.
  template <class R> SKDE_FN static typename R::real* top_values(const R& run, i64 g) {
    return run.extra(Arrays::won, g - 1);
  }

  // In [0, 3), with density proportional to exp(-t).
  SKDE_FN static double falling(u32 word) { return -log(1 - inner_unit(word) * (1 - exp(-3.0))); }

  // A member of the front, by rank with weights exp(-3 k / N), other than number `not_this`.
  template <class R> SKDE_FN static int by_rank(const R& run, i64 g, int i, int not_this, double draw) {
    for (u32 again = 2;; ++again) {
      const int k = min_of(int(draw * (run.pop / 3.0)), run.pop - 1), member = int(run.order(g - 1)[k]);
      if (member != not_this) return member;
      draw = falling(run.stream(g, i, INDICES).block(again).w[0]);
    }
  }

  // What becomes of the top's member and of the trial number i: in the new top, and by rank in the new front. Among equal
  // values trials come before old members, so that both wander over a plateau, and trials in their turn.
  template <class Team, class R> SKDE_FN static void choose(Team& team, const R& run, i64 g, int i) {
    using real = typename R::real;
    const real *const sorted = top_values(run, g), *const front = run.extra(Arrays::value, g - 1),
                      *const standing = run.extra(Arrays::value, g), *const won = run.extra(Arrays::won, g);
    const int pop = run.pop, next = int(numbers(run, g - 1)[NEXT_SLOT]), successes = int(numbers(run, g)[SUCCESSES]);
    const auto stays = [&](int k) { return turn_of(k, next, pop) >= successes; };
    const real least = real(numbers(run, g)[LEAST]), worst = sorted[pop - 1];
    const auto trials_before = [&](real v) {
      if (v < least) return 0;
      return is_nan(v) ? successes : team.count(successes, [&](int m) { return won[m] <= v; });
    };
    const real mine = sorted[i], member = front[i];
    const int slot = int(run.extra(Arrays::slot, g)[i]);
    place(team, run, g, top(run, g, i), mine, i + trials_before(mine));

    int rank_front = -1, rank_trial = pop;
    if (stays(i)) {
      rank_front = trials_before(member);
      if (is_nan(member))
        rank_front += team.count(pop, [&](int k) { return stays(k) & (!is_nan(front[k]) | (k < i)); });
      else
        rank_front += team.count(i, [&](int k) { return standing[k] <= member; }) +
                      team.count(pop - i, [&](int k) { return standing[i + k] < member; });
    }
    if (slot >= 0) {
      const int turn = turn_of(slot, next, pop);
      const real v = won[turn];
      const int before = team.count(successes, [&](int m) { return (won[m] < v) | ((won[m] == v) & (m < turn)); });
      if (!(worst < v))
        place(team, run, g, run.vector(Vectors::trials, g, i), v,
              before + team.count(pop, [&](int k) { return sorted[k] < v; }));
      rank_trial = before + team.count(pop, [&](int k) { return standing[k] < v; });
    }
    if (team.lane != 0) return;
    run.extra(Arrays::rank_front, g)[i] = real(rank_front);
    run.extra(Arrays::rank_trial, g)[i] = real(rank_trial);
  }

  template <class Team, class R, class real>
  SKDE_FN static void place(Team& team, const R& run, i64 g, const real* from, real value, int rank) {
    if (rank >= run.pop) return;
    team.copy(run.dim, from, run.x(g, rank));
    if (team.lane == 0) run.f(g)[rank] = value, run.extra(Arrays::top, g)[rank] = real(rank);
  }

  template <class Team, class R> SKDE_FN static void replace(Team& team, const R& run, i64 g, int i) {
    using real = typename R::real;
    const real *const slot = run.extra(Arrays::slot, g), *const rank_front = run.extra(Arrays::rank_front, g),
                      *const rank_trial = run.extra(Arrays::rank_trial, g);
    const real left = real(numbers(run, g)[NEXT_POP]);
    const bool shrinks = left < run.pop;
    const auto enter = [&](const real* from, real value, real rank, real at) {
      if (rank < 0 || rank >= left) return;
      int place = int(at);
      // Those that are left out make room for the ones behind them.
      if (shrinks)
        place -= team.count(run.pop, [&](int k) {
          return int((rank_front[k] >= left) & (real(k) < at)) +
                 int((slot[k] >= 0) & (rank_trial[k] >= left) & (slot[k] < at));
        });
      team.copy(run.dim, from, run.vector(Vectors::front, g, place));
      if (team.lane == 0) run.extra(Arrays::value, g)[place] = value, run.order(g)[int(rank)] = place;
    };
    enter(run.vector(Vectors::front, g - 1, i), run.extra(Arrays::value, g - 1)[i], rank_front[i], real(i));
    if (slot[i] >= 0)
      enter(run.vector(Vectors::trials, g, i), run.extra(Arrays::f_trial, g)[i], rank_trial[i], slot[i]);
  }
};

}  // namespace SKDE_NAMESPACE
