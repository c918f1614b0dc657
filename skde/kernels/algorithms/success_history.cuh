// Differential evolution that learns F and CR from its successes: JADE, SHADE, L-SHADE and jSO are settings of this.
//
//   mutation   v = x_i + F_w (x_pbest - x_i) + F (x_r1 - x_r2), r2 from the population and the archive
//   control    F ~ Cauchy(M_F[r], 0.1), CR ~ N(M_CR[r], 0.1), r a random entry of the memory of H entries
//   memory     after a generation, entry k moves towards the means of the F and CR that succeeded
//   archive    parents that lost to their trials
//
// Individuals are numbered by rank: individual i of a generation competes with the i-th best of the last one, so a
// population shrinks by leaving out its worst.
#pragma once
#include "core/run.cuh"
#include "core/variation.cuh"
#include "random/distributions.cuh"
#include "random/draws.cuh"

// Where all runs of a launch agree, a rule may be a constant (-DSKDE_STAGED=...), and the rest is not compiled.
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

struct SuccessHistory : BaseAlgorithm {
  // p falls from p_first to p_last; p_drawn: every trial draws its own p below it. staged: jSO's rules by progress.
  SKDE_PARAMETERS(pop_size, pop_min, max_evals, max_iter, repair, p_first, p_last, p_drawn, p_least, archive_rate, H,
                  F_start, CR_start, rate, weighted, lehmer_CR, staged, opposition);
  // Of a trial: its F and CR, its improvement (0: none), and the row that its parent takes in a full archive, negative where
  // it did not improve.
  SKDE_ARRAYS(F, CR, gain, slot);
  // Of a trial of a large population: the row of its parent in the archive; of a piece of the trials, its successes; and the
  // partial sums of all.
  SKDE_SCRATCH(row, successes, partials);
  // Of a run: the entry k that is written next and the rows in the archive, for each generation; then H values of F and H of
  // CR, as of now. The archive is as of now, too.
  SKDE_ENUM(Memory, int, NEXT_ENTRY, ARCHIVED, ENTRIES);
  static constexpr double TERMINAL = -1;  // an entry of CR that stays 0

  struct Settings {
    const PopulationReduction reduction;
    const Repair repair;
    const double p_first, p_last, archive_rate;
    const int p_least;
    const bool p_drawn, weighted, lehmer_CR, staged;
    const int H;
    const double F_start, CR_start, rate, opposition;

    SKDE_FN explicit Settings(const double* p)
        : reduction{p[Parameters::pop_size], p[Parameters::pop_min], p[Parameters::max_evals], p[Parameters::max_iter]},
          repair(Repair(SKDE_REPAIR)),
          p_first(p[Parameters::p_first]),
          p_last(p[Parameters::p_last]),
          archive_rate(p[Parameters::archive_rate]),
          p_least(int(p[Parameters::p_least])),
          p_drawn(SKDE_P_DRAWN),
          weighted(SKDE_WEIGHTED),
          lehmer_CR(SKDE_LEHMER_CR),
          staged(SKDE_STAGED),
          H(int(p[Parameters::H])),
          F_start(p[Parameters::F_start]),
          CR_start(p[Parameters::CR_start]),
          rate(p[Parameters::rate]),
          opposition(p[Parameters::opposition]) {}
  };

  template <class R> SKDE_FN static double* M_F(const R& run) { return run.memory(0) + ENTRIES; }
  template <class R> SKDE_FN static double* M_CR(const R& run) { return M_F(run) + run.settings.H; }

  struct Layout {
    enum : int { CONTROLS, INDEX, SLOT, BLOCKS };
    enum : int { NORMAL, CAUCHY, NUMBERS };  // of CR and F
    static constexpr int RETRIES = 2;        // of F
    SKDE_FN static Purpose purpose(int block) { return block == CONTROLS ? CONTROL : INDICES; }
    SKDE_FN static u32 slot(int block) { return block == SLOT; }
    template <int k, class Words> SKDE_FN static double number(Words words) {
      return k == NORMAL ? normal(words(CONTROLS, 1)) : cauchy(words(CONTROLS, 3));
    }
    SKDE_APART static double retry(u64 seed, i64 g, int i, u32 k) {
      return cauchy(Stream(seed, g, i, CONTROL).block(1 + k).w[0]);
    }
  };

  template <class Team> struct Draws {
    IndividualDraws<Layout> individual;
    ComponentWords<Team, Stream> words;

    template <class R>
    SKDE_FN Draws(Team& team, const R& run, i64 g, int i)
        : individual(team, run.seed, g, i), words(team, run.stream(g, i, CROSSOVER), run.dim) {
      if (SKDE_RARELY(is_large(run.pop) && g > 0))
        individual.each_new(team, run.pop,
                            [&](int k, auto words) { fetch_rows(team, run, g, k, words(Layout::INDEX)); });
    }
  };

  template <class R> SKDE_FN static int parent(const R& run, i64 g, int i) { return int(run.order(g - 1)[i]); }

  template <class Team, class R>
  SKDE_FN static void propose(Team& team, const R& run, i64 g, int i, const Draws<Team>& draws, const Context&,
                              typename R::real* out) {
    using real = typename R::real;
    const auto& s = run.settings;
    const double progress = run.progress;
    const Words4 &control = draws.individual.block[Layout::CONTROLS], &indices = draws.individual.block[Layout::INDEX];
    // Everything is loaded before it is used: these numbers take long to arrive, and arrive together.
    const int entry = below(control.w[0], s.H), best = p_best(run, i, indices, progress);
    const int r1 = other_than(i, below(indices.w[1], run.pop - 1));
    const double archived_before = run.memory(g - 1)[ARCHIVED];
    const double mean_F = M_F(run)[entry], mean_CR = M_CR(run)[entry];
    const i64* const order = run.order(g - 1);
    const int row = int(order[i]), row_best = int(order[best]), row_1 = int(order[r1]);

    // r2 is one of the others and of the archive, stepping over i and r1. The archive is nearly always full:
    // r2 is drawn as if it were, and drawn again in the rare case that it is not.
    const auto draw_r2 = [&](int rows) { return other_than(i, r1, below(indices.w[2], run.pop + rows - 2)); };
    const auto row_of = [&](int rank) { return int(order[min_of(rank, run.pop - 1)]); };
    int r2 = draw_r2(capacity(run)), row_2 = row_of(r2);
    // Without the fences the compiler would join both cases, and wait for the size; or always do the second.
    team.sync();
    const int rows = archived(run, archived_before);
    if (SKDE_RARELY(rows < capacity(run))) {
      team.sync();
      r2 = draw_r2(rows), row_2 = row_of(r2);
    }
    const real* const from_archive = run.archive(max_of(r2 - run.pop, 0));
    const auto x = team.row(run.dim, run.x(g - 1, row)), pbest = team.row(run.dim, run.x(g - 1, row_best));
    const auto x1 = team.row(run.dim, run.x(g - 1, row_1));
    const auto x2 = team.row(run.dim, r2 < run.pop ? run.x(g - 1, row_2) : from_archive);

    const double F = scale_factor(run, g, i, entry, mean_F, progress, draws.individual);
    const double CR = crossover_rate(run, entry, mean_CR, progress, draws.individual.number[Layout::NORMAL]);
    const double weight = !s.staged ? 1 : progress < 0.2 ? 0.7 : progress < 0.4 ? 0.8 : 1.2;
    const real F_w = real(weight * F), F_r = real(F);
    const Binomial binomial(CR);
    const int j_rand = below(control.w[2], run.dim);
    fill_inside(team, run, g, i, x.from, out, [&](int j, int k) {
      const real old = x.at(j, k), v = old + F_w * (pbest.at(j, k) - old) + F_r * (x1.at(j, k) - x2.at(j, k));
      return binomial.takes(draws.words.at(j, k)) | (j == j_rand) ? v : old;
    });
    if (team.lane != 0) return;
    run.array(Arrays::F, g)[i] = real(F), run.array(Arrays::CR, g)[i] = real(CR);
    const real u = unit<real>(draws.individual.block[Layout::SLOT].w[0]);
    run.array(Arrays::slot, g)[i] = real(row_in(capacity(run), u));
  }

  template <class Team, class R>
  SKDE_FN static void select(Team& team, const R& run, i64 g, int i, const typename R::real* trial,
                             typename R::real f_trial, const Parent<typename R::real>& parent) {
    select_better(team, run, g, i, parent, trial, f_trial);
    if (team.lane != 0) return;
    const auto gain = improvement(f_trial, parent.f);
    run.array(Arrays::gain, g)[i] = gain;
    if (!(gain > 0)) run.array(Arrays::slot, g)[i] = -1;
  }

  template <class Team, class R>
  SKDE_FN static void initialize(Team& team, const R& run, int i, const typename R::real*) {
    if (team.lane == 0) run.array(Arrays::gain, 0)[i] = 0, run.array(Arrays::slot, 0)[i] = -1;
  }

  template <class R> SKDE_FN static int stages(const R& run, i64) { return is_large(run.pop) ? 3 : 1; }

  // The rows in the archive, the parent and, for the run, the entry of the memory that moves; and addresses.
  template <class Team> struct Prefetch {
    double archived = 0, entry = 0, mean_F = 0, mean_CR = 0;
    typename Team::Row parent{};
    const typename Team::real *f, *slot, *gain, *F, *CR;

    template <class R> SKDE_FN Prefetch(Team& team, const R& run, i64 g, int i, bool adapts) {
      const auto trials = [&](int name) { return opaque(run.array(name, g)); };
      f = opaque(run.f(g)), slot = trials(Arrays::slot);
      gain = trials(Arrays::gain), F = trials(Arrays::F), CR = trials(Arrays::CR);
      if (g == 0) return;
      const double* const before = run.memory(g - 1);
      archived = before[ARCHIVED];
      if (i < run.pop) parent = team.row(run.dim, run.x(g - 1, SuccessHistory::parent(run, g, i)));
      if (!adapts) return;
      entry = before[NEXT_ENTRY];
      mean_F = M_F(run)[int(entry)], mean_CR = M_CR(run)[int(entry)];
    }
  };

  // The order of the population; and the archive: a parent that lost is written behind the last row while there is room, then
  // over a row that was there before this generation; where several draw the same, the last one has it.
  template <class Team, class R>
  SKDE_FN static void end_generation(Team& team, const R& run, i64 g, int i, int, const Prefetch<Team>& prefetch) {
    using real = typename R::real;
    struct Trial {
      real f, slot;
    };
    const real *const f = prefetch.f, *const slot = prefetch.slot;
    // On a GPU loading takes longer than the rest: everything is loaded before anything is used, needed or not.
    const Trial mine{f[i], slot[i]};
    const auto counts = team.template counts<COUNTS>(
        run.pop, [=](int k) { return Trial{f[k], slot[k]}; },
        [=](const Trial& other, int k, int* t) {
          t[BETTER] = comes_before(other.f, mine.f, k < i);
          t[BETTER_THAN_NONE] = !is_nan(other.f) | (k < i);
          t[BEFORE] = (other.slot >= 0) & (k < i);
          t[AFTER] = (other.slot == mine.slot) & (k > i);
        });

    const int rank = Team::size == 1  ? rank_of(team, f, run.pop, i)
                     : is_nan(mine.f) ? counts.of(BETTER_THAN_NONE)
                                      : counts.of(BETTER);
    if (team.lane == 0) run.order(g)[rank] = i;
    if (!(mine.slot >= 0)) return;
    const int rows = archived(run, prefetch.archived), free = capacity(run) - rows, before = counts.of(BEFORE);
    int row = rows + before;
    if (before >= free) {
      row = int(mine.slot);
      int later = counts.of(AFTER);
      if (SKDE_RARELY(free > 0)) {
        const auto drawn = [&](int k) { return row_in(rows, slot_draw(run, g, k)); };
        row = drawn(i);
        later = team.count(run.pop, [&](int k) { return (slot[k] >= 0) & (k > i) & (drawn(k) == row); });
      }
      if (later > 0) return;
    }
    if (row >= 0) team.put(run.dim, prefetch.parent, run.archive(row));
  }

  // The archive and the memory of a large population. Stage 0: the successes in every piece of the trials, and the partial sums;
  // stage 1: the row of each parent that lost, of which the last one owns it, and the memory; stage 2: the owners are written.
  static constexpr bool DIVIDES = true;
  static constexpr int PIECE = 512;
  template <class R, class Share> SKDE_FN static int large_stages(const R&, const Share&, i64) { return 3; }
  template <class Team, class R, class Share>
  SKDE_OUTLINE static void end_large_generation(Team& team, const R& run, const Share& share, i64 g, int stage) {
    using real = typename R::real;
    const Prefetch<Team> prefetch(team, run, g, run.pop, true);
    const real* const slot = prefetch.slot;
    real *const rows = run.scratch(Scratch::row), *const successes = run.scratch(Scratch::successes);
    i64* const owners = run.owners();
    const int pieces = (run.pop + PIECE - 1) / PIECE, filled = archived(run, prefetch.archived), all = capacity(run);
    const auto trials = [&](int piece) { return min_of(PIECE, run.pop - piece * PIECE); };
    if (stage == 0) {
      if (MANY_TEAMS)
        with_terms(run, prefetch, real(1), [&](auto at, auto terms) {
          share.each_item(SUMS * PARTIALS / Team::size, [&](int part) {
            make_partials<SUMS>(team, part, run.pop, at, terms, run.scratch(Scratch::partials));
          });
        });
      share.each_item(pieces, [&](int piece) {
        const real* const drawn = slot + piece * PIECE;
        const int many = team.count(trials(piece), [=](int k) { return drawn[k] >= 0; });
        if (team.lane == 0) successes[piece] = real(many);
      });
      share.each_position(team, all, [&](int row) { owners[row] = -1; });
    } else if (stage == 1) {
      share.each_item(pieces, [&](int piece) {
        const int before = filled + int(team.sum(piece, [=](int k) { return successes[k]; })), begin = piece * PIECE;
        team.number(
            trials(piece), [=](int k) { return slot[begin + k] >= 0; },
            [&](int k, int earlier, bool succeeds) {
              const int i = begin + k;
              int row = before + earlier;
              if (!succeeds) return;
              if (row >= all) row = filled < all ? row_in(filled, slot_draw(run, g, i)) : int(slot[i]);
              rows[i] = real(row);
              if (row >= 0) max_at(owners + row, i);
            });
      });
      if (share.adapts(run.pop)) adapt(team, run, g, prefetch, true);
    } else {
      share.each_item(run.pop, [&](int i) {
        if (!(slot[i] >= 0)) return;
        const int row = int(rows[i]);
        if (row >= 0 && owners[row] == i) team.copy(run.dim, run.x(g - 1, parent(run, g, i)), run.archive(row));
      });
    }
  }

  template <class Team, class R>
  SKDE_FN static void adapt(Team& team, const R& run, i64 g, const Prefetch<Team>& prefetch, bool learns) {
    using real = typename R::real;
    const auto& s = run.settings;
    double *const now = run.memory(g), *const means_F = M_F(run), *const means_CR = M_CR(run);
    if (g == 0) {
      team.each(s.H, [&](int k) { means_F[k] = s.F_start, means_CR[k] = s.CR_start; });
      if (team.lane == 0) now[NEXT_ENTRY] = 0, now[ARCHIVED] = 0;
      return;
    }
    const int entry = int(prefetch.entry);
    Several<real, SUMS> sums{};
    if (learns)
      sums = weighted_sums<real, WEIGHT>([&](real scale) {
        if (MANY_TEAMS && is_large(run.pop) && scale == 1)
          return fold_partials<SUMS>(team, run.scratch(Scratch::partials));
        return with_terms(run, prefetch, scale,
                          [&](auto at, auto terms) { return team.template sums<SUMS>(run.pop, at, terms); });
      });
    const int successes = int(sums.of[SUCCESSES]);
    if (team.lane == 0) {
      now[ARCHIVED] = min_of(archived(run, prefetch.archived) + successes, capacity(run));
      now[NEXT_ENTRY] = successes > 0 ? (entry + 1) % s.H : entry;
    }
    if (successes == 0) return;
    const double weight = double(sums.of[WEIGHT]);
    const double sum_F = double(sums.of[F_SUM]), sum_FF = double(sums.of[FF_SUM]);
    const double sum_CR = double(sums.of[CR_SUM]), sum_CRCR = double(sums.of[CRCR_SUM]);
    const bool lehmer_CR = s.lehmer_CR, ends = lehmer_CR && (prefetch.mean_CR == TERMINAL || sum_CR == 0);
    const double rate = s.rate;
    // Both at once where there are lanes.
    team.each(2, [&](int k) {
      const bool of_CR = k == 1;
      const double above = !of_CR ? sum_FF : lehmer_CR ? sum_CRCR : sum_CR;
      const double below = !of_CR ? sum_F : lehmer_CR ? sum_CR : weight;
      const double moved = (1 - rate) * (of_CR ? prefetch.mean_CR : prefetch.mean_F) + rate * (above / below);
      (of_CR ? means_CR : means_F)[entry] = of_CR && ends ? TERMINAL : moved;
    });
  }

 private:
  // The rows of trial k, which a CPU loads early.
  template <class Team, class R>
  SKDE_FN static void fetch_rows(const Team& team, const R& run, i64 g, int k, const Words4& indices) {
    const int rows = archived(run, run.memory(g - 1)[ARCHIVED]), r1 = other_than(k, below(indices.w[1], run.pop - 1));
    const int r2 = other_than(k, r1, below(indices.w[2], run.pop + rows - 2));
    const i64* const order = run.order(g - 1);
    const auto fetch = [&](int rank) { team.fetch(run.dim, run.x(g - 1, int(order[rank]))); };
    fetch(k), fetch(p_best(run, k, indices, run.progress)), fetch(r1);
    team.fetch(run.dim, r2 < run.pop ? run.x(g - 1, int(order[r2])) : run.archive(r2 - run.pop));
  }

  // Of all trials: how many are better than one, and than one of no number; and of those that improved, how many come before
  // it, and how many after it that draw its place in the archive.
  enum : int { BETTER, BETTER_THAN_NONE, BEFORE, AFTER, COUNTS };
  // Of the trials that improved: how many, their weights, and by these their F and CR and the squares.
  enum : int { SUCCESSES, WEIGHT, F_SUM, FF_SUM, CR_SUM, CRCR_SUM, SUMS };
  template <class Team, class R, class real, class Sum>
  SKDE_FN static auto with_terms(const R& run, const Prefetch<Team>& trials, real scale, Sum sum) {
    struct Trial {
      real gain, F, CR;
    };
    const bool weighted = run.settings.weighted, lehmer_CR = run.settings.lehmer_CR;
    return sum([&](int k) { return Trial{trials.gain[k], trials.F[k], trials.CR[k]}; },
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
  // A row among so many; and the draw of individual i for it.
  template <class real> SKDE_FN static int row_in(int rows, real u) { return min_of(int(u * real(rows)), rows - 1); }
  template <class R> SKDE_FN static typename R::real slot_draw(const R& run, i64 g, int i) {
    return unit<typename R::real>(
        run.stream(g, i, Layout::purpose(Layout::SLOT)).here().block(Layout::slot(Layout::SLOT)).w[0]);
  }
  SKDE_FN static int other_than(int i, int drawn) { return drawn + (drawn >= i); }
  SKDE_FN static int other_than(int i, int k, int drawn) {
    drawn += drawn >= min_of(i, k);
    return drawn + (drawn >= max_of(i, k));
  }

  // Cauchy, drawn again while it is not positive, and cut at 1.
  template <class R>
  SKDE_FN static double scale_factor(const R& run, i64 g, int i, int entry, double mean, double progress,
                                     const IndividualDraws<Layout>& draws) {
    const auto& s = run.settings;
    if (s.staged && entry == s.H - 1) mean = 0.9;
    const auto around = [&](double cauchy) { return mean + 0.1 * cauchy; };
    const double drawn = draws.first_accepted(Layout::CAUCHY, run.seed, g, i, around, [](double F) { return F <= 0; });
    const double F = min_of(drawn, 1.0);
    return s.staged && progress < 0.6 ? min_of(F, 0.7) : F;
  }

  template <class R>
  SKDE_FN static double crossover_rate(const R& run, int entry, double mean, double progress, double normal) {
    const auto& s = run.settings;
    if (s.staged && entry == s.H - 1) mean = 0.9;
    double CR = mean == TERMINAL ? 0 : mean + 0.1 * normal;
    CR = max_of(min_of(CR, 1.0), 0.0);
    if (s.staged && progress < 0.5) CR = max_of(CR, progress < 0.25 ? 0.7 : 0.6);
    return CR;
  }

  // The rank of pbest. jSO leaves the target out in the first half of the search.
  template <class R> SKDE_FN static int p_best(const R& run, int i, const Words4& words, double progress) {
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
