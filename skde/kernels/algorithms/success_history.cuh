// Differential evolution that learns F and CR from its successes: JADE, SHADE, L-SHADE and jSO are settings of this one.
//
//   mutation   v = x_i + F_w (x_pbest - x_i) + F (x_r1 - x_r2), r2 from the population and the archive
//   control    F ~ Cauchy(M_F[r], 0.1), CR ~ N(M_CR[r], 0.1), r a random cell of the memory
//   memory     after a generation, one cell moves towards the means of the F and CR that succeeded
//   archive    parents that lost to their trials
//
// Individuals are numbered by rank: individual i of a generation competes with the i-th best of the last one, so a
// population shrinks by leaving out its worst.
#pragma once
#include "core/select.cuh"
#include "core/task.cuh"
#include "core/variation.cuh"
#include "random/distributions.cuh"
#include "random/draws.cuh"

// Where all runs of a launch agree, the compiler may be told it (-DSKDE_STAGED=...), and drops the rest.
#ifndef SKDE_P_DRAWN
#define SKDE_P_DRAWN (p[Parameters::p_drawn] != 0)
#endif
#ifndef SKDE_WEIGHTED
#define SKDE_WEIGHTED (p[Parameters::weighted] != 0)
#endif
#ifndef SKDE_LEHMER_CR
#define SKDE_LEHMER_CR (p[Parameters::lehmer_CR] != 0)
#endif
#ifndef SKDE_STAGED
#define SKDE_STAGED (p[Parameters::staged] != 0)
#endif

namespace SKDE_NAMESPACE {

struct SuccessHistory : Plain {
  // p falls from p_first to p_last; p_drawn: every trial draws its own p below it. staged: jSO's rules by progress.
  SKDE_PARAMETERS(pop_size, pop_min, max_evals, max_iter, repair, p_first, p_last, p_drawn, p_least, archive_rate,
                  cells, F_start, CR_start, rate, weighted, lehmer_CR, staged, opposition);
  // Of a trial: what it was made with, by how much it improved (0: not), and the place that it draws in a full archive, negative
  // where it did not improve.
  SKDE_ARRAYS(F, CR, gain, slot);
  static constexpr bool SHRINKS = true;
  static constexpr bool INLINED = true;

  struct Settings {
    const Shrinking shrinking;
    const Repair repair;
    const double p_first, p_last, archive_rate;
    const int p_least;
    const bool p_drawn, weighted, lehmer_CR, staged;
    const int cells;
    const double F_start, CR_start, rate, opposition;

    SKDE_FN explicit Settings(const double* p)
        : shrinking{p[Parameters::pop_size], p[Parameters::pop_min], p[Parameters::max_evals], p[Parameters::max_iter]},
          repair(Repair(SKDE_REPAIR)),
          p_first(p[Parameters::p_first]),
          p_last(p[Parameters::p_last]),
          archive_rate(p[Parameters::archive_rate]),
          p_least(int(p[Parameters::p_least])),
          p_drawn(SKDE_P_DRAWN),
          weighted(SKDE_WEIGHTED),
          lehmer_CR(SKDE_LEHMER_CR),
          staged(SKDE_STAGED),
          cells(int(p[Parameters::cells])),
          F_start(p[Parameters::F_start]),
          CR_start(p[Parameters::CR_start]),
          rate(p[Parameters::rate]),
          opposition(p[Parameters::opposition]) {}
  };

  // A run's memory: the cell that is written next, the rows in the archive; and, like the archive there once only, `cells`
  // values of F and as many of CR.
  enum : int { CURSOR = 0, ARCHIVED = 1, CELLS = 2 };
  template <class R> SKDE_FN static double* cells_of_F(const R& run) { return run.memory(0) + CELLS; }
  template <class R> SKDE_FN static double* cells_of_CR(const R& run) { return cells_of_F(run) + run.settings.cells; }
  static constexpr double TERMINAL = -1;  // a cell of CR that stays 0 from now on

  struct Deal {
    enum : int { CONTROLS, INDEX, SLOT, BLOCKS };
    enum : int { NORMAL, CAUCHY, NUMBERS };  // of CR and F
    static constexpr int AGAIN = 2;          // of F
    SKDE_FN static Purpose purpose(int block) { return block == CONTROLS ? CONTROL : INDICES; }
    SKDE_FN static u32 slot(int block) { return block == SLOT; }
    template <int k, class Words> SKDE_FN static double number(Words words) {
      return k == NORMAL ? normal(words(CONTROLS, 1)) : cauchy(words(CONTROLS, 3));
    }
    SKDE_APART static double another(u64 seed, i64 g, int i, u32 k) {
      return cauchy(Stream(seed, g, i, CONTROL).block(1 + k).w[0]);
    }
  };

  template <class Team> struct Draws {
    Dealt<Deal> dealt;
    ComponentWords<Team, Stream> words;

    template <class R>
    SKDE_FN Draws(Team& team, const R& run, i64 g, int i)
        : dealt(team, run.seed, g, i), words(team, run.stream(g, i, CROSSOVER), run.dim) {}
  };

  template <class R> SKDE_FN static int parent(const R& run, i64 g, int i) { return int(run.order(g - 1)[i]); }

  template <class Team, class R>
  SKDE_FN static void propose(Team& team, const R& run, i64 g, int i, const Draws<Team>& draws, const Context&,
                              typename R::real* out) {
    using real = typename R::real;
    const auto& s = run.settings;
    const double progress = run.progress;
    const Words4 &control = draws.dealt.block[Deal::CONTROLS], &indices = draws.dealt.block[Deal::INDEX];
    // What is drawn is asked for before it is used: these numbers take long to arrive, and do so together.
    const int cell = below(control.w[0], s.cells), best = one_of_the_best(run, i, indices, progress);
    const int r1 = other_than(i, below(indices.w[1], run.pop - 1));
    const double archived_before = run.memory(g - 1)[ARCHIVED];
    const double middle_F = cells_of_F(run)[cell], middle_CR = cells_of_CR(run)[cell];
    const i64* const order = run.order(g - 1);
    const int row = int(order[i]), row_best = int(order[best]), row_1 = int(order[r1]);

    // r2 is one of the others and of the archive, stepping over i and r1. The archive is nearly always full, and nobody waits
    // to hear so.
    const auto among = [&](int rows) {
      int r = below(indices.w[2], run.pop + rows - 2);
      r += r >= min_of(i, r1);
      return r + (r >= max_of(i, r1));
    };
    const auto row_of = [&](int rank) { return int(order[min_of(rank, run.pop - 1)]); };
    int r2 = among(capacity(run)), row_2 = row_of(r2);
    // The compiler would make one of this and of what comes next, and that would wait; or do what comes next always.
    team.sync();
    const int rows = archived(run, archived_before);
    if (SKDE_RARELY(rows < capacity(run))) {
      team.sync();
      r2 = among(rows), row_2 = row_of(r2);
    }
    const real *const member = run.x(g - 1, row_2), *const kept = run.archive(max_of(r2 - run.pop, 0));
    const auto x = team.row(run.dim, run.x(g - 1, row)), a = team.row(run.dim, run.x(g - 1, row_best));
    const auto b = team.row(run.dim, run.x(g - 1, row_1)), c = team.row(run.dim, r2 < run.pop ? member : kept);

    const double F = scale_factor(run, g, i, cell, middle_F, progress, draws.dealt);
    const double CR = crossover_rate(run, cell, middle_CR, progress, draws.dealt.number[Deal::NORMAL]);
    const double weight = !s.staged ? 1 : progress < 0.2 ? 0.7 : progress < 0.4 ? 0.8 : 1.2;
    const real F_w = real(weight * F), F_r = real(F);
    const Binomial binomial(CR);
    const int one = below(control.w[2], run.dim);
    make_inside(team, run, g, i, x.from, out, [&](int j, int k) {
      const real old = x.at(j, k), v = old + F_w * (a.at(j, k) - old) + F_r * (b.at(j, k) - c.at(j, k));
      return binomial.takes(draws.words.at(j, k)) | (j == one) ? v : old;
    });
    if (team.lane != 0) return;
    run.extra(Arrays::F, g)[i] = real(F), run.extra(Arrays::CR, g)[i] = real(CR);
    run.extra(Arrays::slot, g)[i] = real(place_in(capacity(run), unit<real>(draws.dealt.block[Deal::SLOT].w[0])));
  }

  template <class Team, class R>
  SKDE_FN static void accept(Team& team, const R& run, i64 g, int i, const typename R::real* trial,
                             typename R::real f_trial, const Parent<typename R::real>& parent) {
    keep_better(team, run, g, i, parent, trial, f_trial);
    if (team.lane != 0) return;
    const auto gain = improvement(f_trial, parent.f);
    run.extra(Arrays::gain, g)[i] = gain;
    if (!(gain > 0)) run.extra(Arrays::slot, g)[i] = -1;
  }

  template <class Team, class R> SKDE_FN static void begin(Team& team, const R& run, int i, const typename R::real*) {
    if (team.lane == 0) run.extra(Arrays::gain, 0)[i] = 0, run.extra(Arrays::slot, 0)[i] = -1;
  }

  template <class R> SKDE_FN static int stages(const R&, i64) { return 1; }

  template <class Team> struct Known {
    double archived = 0, cursor = 0, M_F = 0, M_CR = 0;  // rows; the cell that is written next, and what stands there
    typename Team::Row parent{};
    const typename Team::real *f, *slot, *gain, *F, *CR;  // where the trials' stand
  };

  template <class Team, class R>
  SKDE_FN static Known<Team> recall(Team& team, const R& run, i64 g, int i, bool adapts) {
    Known<Team> known;
    const auto trials = [&](int array) { return opaque(run.extra(array, g)); };
    known.f = opaque(run.f(g)), known.slot = trials(Arrays::slot);
    known.gain = trials(Arrays::gain), known.F = trials(Arrays::F), known.CR = trials(Arrays::CR);
    if (g == 0) return known;
    const double* const before = run.memory(g - 1);
    known.archived = before[ARCHIVED];
    if (i < run.pop) known.parent = team.row(run.dim, run.x(g - 1, parent(run, g, i)));
    if (!adapts) return known;
    known.cursor = before[CURSOR];
    known.M_F = cells_of_F(run)[int(known.cursor)], known.M_CR = cells_of_CR(run)[int(known.cursor)];
    return known;
  }

  // The parent goes to the archive: behind its last row while there is room, then in the place of a row that was there
  // before this generation; where several draw the same, the last one has it.
  template <class Team, class R>
  SKDE_FN static void settle(Team& team, const R& run, i64 g, int i, int, const Known<Team>& known) {
    using real = typename R::real;
    struct Trial {
      real f, slot;
    };
    const real *const f = known.f, *const slot = known.slot;
    // On a GPU a wait takes longer than all that is done here: so everything is read before anything is looked at, whether
    // it is needed or not, and the archive is taken for full until it is heard of, as it nearly always is.
    const Trial mine{f[i], slot[i]};
    const auto counts = team.template counts<COUNTS>(
        run.pop, [=](int k) { return Trial{f[k], slot[k]}; },
        [=](const Trial& other, int k, int* t) {
          t[BETTER] = comes_before(other.f, mine.f, k < i);
          t[BETTER_THAN_NONE] = !is_nan(other.f) | (k < i);
          t[BEFORE] = (other.slot >= 0) & (k < i);
          t[AFTER] = (other.slot == mine.slot) & (k > i);
        });

    const int rank = is_nan(mine.f) ? counts.of(BETTER_THAN_NONE) : counts.of(BETTER);
    if (team.lane == 0) run.order(g)[rank] = i;
    if (!(mine.slot >= 0)) return;
    const int rows = archived(run, known.archived), free = capacity(run) - rows, before = counts.of(BEFORE);
    int row = rows + before;
    if (before >= free) {
      row = int(mine.slot);
      int later = counts.of(AFTER);
      if (SKDE_RARELY(free > 0)) {
        const auto drawn = [&](int k) { return place_in(rows, slot_draw(run, g, k)); };
        row = drawn(i);
        later = team.count(run.pop, [&](int k) { return (slot[k] >= 0) & (k > i) & (drawn(k) == row); });
      }
      if (later > 0) return;
    }
    if (row >= 0) team.put(run.dim, known.parent, run.archive(row));
  }

  template <class Team, class R> SKDE_FN static void adapt(Team& team, const R& run, i64 g, const Known<Team>& known) {
    using real = typename R::real;
    const auto& s = run.settings;
    double *const now = run.memory(g), *const M_F = cells_of_F(run), *const M_CR = cells_of_CR(run);
    if (g == 0) {
      team.each(s.cells, [&](int k) { M_F[k] = s.F_start, M_CR[k] = s.CR_start; });
      if (team.lane == 0) now[CURSOR] = 0, now[ARCHIVED] = 0;
      return;
    }
    const int cell = int(known.cursor);
    const auto sums = weighted_sums<real, WEIGHT>([&](real scale) { return sums_of(team, run, known, scale); });
    const int successes = int(sums.of[SUCCESSES]);
    if (team.lane == 0) {
      now[ARCHIVED] = min_of(archived(run, known.archived) + successes, capacity(run));
      now[CURSOR] = successes > 0 ? (cell + 1) % s.cells : cell;
    }
    if (successes == 0) return;
    const double weight = double(sums.of[WEIGHT]);
    const double sum_F = double(sums.of[F_SUM]), sum_FF = double(sums.of[FF_SUM]);
    const double sum_CR = double(sums.of[CR_SUM]), sum_CRCR = double(sums.of[CRCR_SUM]);
    const bool lehmer_CR = s.lehmer_CR, ends = lehmer_CR && (known.M_CR == TERMINAL || sum_CR == 0);
    const double rate = s.rate;
    // Both at once where there are lanes.
    team.each(2, [&](int k) {
      const bool of_CR = k == 1;
      const double above = !of_CR ? sum_FF : lehmer_CR ? sum_CRCR : sum_CR;
      const double below = !of_CR ? sum_F : lehmer_CR ? sum_CR : weight;
      const double moved = (1 - rate) * (of_CR ? known.M_CR : known.M_F) + rate * (above / below);
      (of_CR ? M_CR : M_F)[cell] = of_CR && ends ? TERMINAL : moved;
    });
  }

  template <class Team, class R> SKDE_FN static void carry(Team& team, const R& run, i64 g) {
    if (team.lane != 0) return;
    const double* const before = run.memory(g - 1);
    double* const now = run.memory(g);
    now[CURSOR] = before[CURSOR], now[ARCHIVED] = archived(run, before[ARCHIVED]);
  }

 private:
  // Of all trials: how many are better than one, and than one of no number; and of those that improved, how many come before
  // it, and how many after it that draw its place in the archive.
  enum : int { BETTER, BETTER_THAN_NONE, BEFORE, AFTER, COUNTS };
  // Of the trials that improved: how many, their weights, and by these their F and CR and the squares.
  enum : int { SUCCESSES, WEIGHT, F_SUM, FF_SUM, CR_SUM, CRCR_SUM, SUMS };
  template <class Team, class R, class real>
  SKDE_FN static Several<real, SUMS> sums_of(Team& team, const R& run, const Known<Team>& known, real scale) {
    struct Trial {
      real gain, F, CR;
    };
    const bool weighted = run.settings.weighted, lehmer_CR = run.settings.lehmer_CR;
    return team.template sums<SUMS>(
        run.pop, [&](int k) { return Trial{known.gain[k], known.F[k], known.CR[k]}; },
        [&](const Trial& trial, bool counts, real* t) {
          const real gain = counts ? trial.gain : real(0), success = real(gain > 0);
          const real w = weighted ? scale * gain : success;
          t[SUCCESSES] = success, t[WEIGHT] = w;
          t[F_SUM] = w * trial.F, t[FF_SUM] = w * trial.F * trial.F;
          t[CR_SUM] = w * trial.CR, t[CRCR_SUM] = lehmer_CR ? w * trial.CR * trial.CR : real(0);
        });
  }

  template <class R> SKDE_FN static int capacity(const R& run) { return int(run.settings.archive_rate * run.pop); }
  // Of the rows that the archive had, those that it still has room for.
  template <class R> SKDE_FN static int archived(const R& run, double before) {
    return min_of(int(before), capacity(run));
  }
  // A place among so many rows; and what individual i draws it by.
  template <class real> SKDE_FN static int place_in(int rows, real u) { return min_of(int(u * real(rows)), rows - 1); }
  template <class R> SKDE_FN static typename R::real slot_draw(const R& run, i64 g, int i) {
    return unit<typename R::real>(
        run.stream(g, i, Deal::purpose(Deal::SLOT)).here().block(Deal::slot(Deal::SLOT)).w[0]);
  }
  SKDE_FN static int other_than(int i, int drawn) { return drawn + (drawn >= i); }

  // Cauchy, drawn again while it is not positive, and cut at 1.
  template <class R>
  SKDE_FN static double scale_factor(const R& run, i64 g, int i, int cell, double middle, double progress,
                                     const Dealt<Deal>& dealt) {
    const auto& s = run.settings;
    if (s.staged && cell == s.cells - 1) middle = 0.9;
    double F = middle + 0.1 * dealt.number[Deal::CAUCHY];
    SKDE_UNROLL
    for (int k = 0; k < dealt.AGAIN; ++k) {
      const double next = middle + 0.1 * dealt.more[k];
      F = F <= 0 ? next : F;
    }
    for (u32 k = dealt.AGAIN; SKDE_RARELY(F <= 0); ++k) F = middle + 0.1 * Deal::another(run.seed, g, i, k);
    F = min_of(F, 1.0);
    return s.staged && progress < 0.6 ? min_of(F, 0.7) : F;
  }

  template <class R>
  SKDE_FN static double crossover_rate(const R& run, int cell, double middle, double progress, double normal) {
    const auto& s = run.settings;
    if (s.staged && cell == s.cells - 1) middle = 0.9;
    double CR = middle == TERMINAL ? 0 : middle + 0.1 * normal;
    CR = max_of(min_of(CR, 1.0), 0.0);
    if (s.staged && progress < 0.5) CR = max_of(CR, progress < 0.25 ? 0.7 : 0.6);
    return CR;
  }

  // The rank of pbest. jSO leaves the target out in the first half of the search.
  template <class R> SKDE_FN static int one_of_the_best(const R& run, int i, const Words4& words, double progress) {
    const auto& s = run.settings;
    double most = (s.p_first + (s.p_last - s.p_first) * progress) * run.pop;
    if (s.p_drawn) most = s.p_least + (most - s.p_least) * unit<double>(words.w[3]);
    const int many = min_of(max_of(int(most + 0.5), s.p_least), run.pop);
    const bool steps_over = s.staged && progress < 0.5 && i < many && many > 1;
    const int k = below(words.w[0], many - steps_over);
    return k + (steps_over && k >= i);
  }
};

}  // namespace SKDE_NAMESPACE
