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
#include "distributions.cuh"
#include "draws.cuh"
#include "select.cuh"
#include "task.cuh"
#include "variation.cuh"

namespace SKDE_NAMESPACE {

struct SuccessHistory : Plain {
  // p falls from p_first to p_last; p_drawn: every trial draws its own p below it. staged: jSO's rules by progress.
  SKDE_PARAMETERS(pop_size, pop_min, max_evals, max_iter, repair, p_first, p_last, p_drawn, p_least, archive_rate,
                  cells, F_start, CR_start, rate, weighted, lehmer_CR, staged, opposition);
  // Of a trial: what it was made with, by how much it improved (0: not), and a draw that names a place in the archive.
  SKDE_ARRAYS(F, CR, gain, slot);
  static constexpr bool SHRINKS = true;

  struct Settings {
    const Shrinking shrinking;
    const Repair repair;
    const double p_first, p_last, p_least, archive_rate;
    const bool p_drawn, weighted, lehmer_CR, staged;
    const int cells;
    const double F_start, CR_start, rate, opposition;

    SKDE_FN explicit Settings(const double* p)
        : shrinking{p[Parameters::pop_size], p[Parameters::pop_min], p[Parameters::max_evals], p[Parameters::max_iter]},
          repair(Repair(SKDE_REPAIR)),
          p_first(p[Parameters::p_first]),
          p_last(p[Parameters::p_last]),
          p_least(p[Parameters::p_least]),
          archive_rate(p[Parameters::archive_rate]),
          p_drawn(p[Parameters::p_drawn] != 0),
          weighted(p[Parameters::weighted] != 0),
          lehmer_CR(p[Parameters::lehmer_CR] != 0),
          staged(p[Parameters::staged] != 0),
          cells(int(p[Parameters::cells])),
          F_start(p[Parameters::F_start]),
          CR_start(p[Parameters::CR_start]),
          rate(p[Parameters::rate]),
          opposition(p[Parameters::opposition]) {}

    SKDE_FN int population(i64 evals, i64 g) const { return shrinking.population(evals, g); }
  };

  // A run's memory: `cells` values of F, as many of CR, the cell that is written next, the rows in the archive.
  static constexpr double TERMINAL = -1;  // a cell of CR that stays 0 from now on

  struct Context {
    double progress;
    int archived;
  };

  template <class Team, class R> SKDE_FN static Context context(Team&, const R& run, i64 g) {
    return {run.settings.shrinking.progress(run.evals, g), archived(run, g)};
  }

  struct Deal {
    enum : int { CONTROLS, INDEX, SLOT, BLOCKS };
    enum : int { NORMAL, CAUCHY, NUMBERS };  // of CR and F
    SKDE_FN static Purpose purpose(int block) { return block == CONTROLS ? CONTROL : INDICES; }
    SKDE_FN static u32 slot(int block) { return block == SLOT; }
    template <int k, class Words> SKDE_FN static double number(Words words) {
      return k == NORMAL ? normal(words(CONTROLS, 1)) : cauchy(words(CONTROLS, 3));
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
  SKDE_FN static void propose(Team& team, const R& run, i64 g, int i, const Draws<Team>& draws, const Context& context,
                              typename R::real* out) {
    using real = typename R::real;
    const auto& s = run.settings;
    const double* const memory = run.memory(g - 1);
    const Words4 &control = draws.dealt.block[Deal::CONTROLS], &indices = draws.dealt.block[Deal::INDEX];
    const int cell = below(control.w[0], s.cells);
    const double F = scale_factor(run, g, i, cell, context, draws.dealt.number[Deal::CAUCHY]);
    const double CR = crossover_rate(run, cell, memory[s.cells + cell], context, draws.dealt.number[Deal::NORMAL]);
    if (team.lane == 0) {
      run.extra(Arrays::F, g)[i] = real(F), run.extra(Arrays::CR, g)[i] = real(CR);
      run.extra(Arrays::slot, g)[i] = unit<real>(draws.dealt.block[Deal::SLOT].w[0]);
    }

    const auto ranked = [&](int k) -> const real* { return run.x(g - 1, parent(run, g, k)); };
    const real* const x = ranked(i);
    const real* const best = ranked(one_of_the_best(run, i, indices, context));
    // r1 among the others; r2 among the others and the archive, stepping over i and r1.
    int r1 = below(indices.w[1], run.pop - 1);
    r1 += r1 >= i;
    int r2 = below(indices.w[2], run.pop + context.archived - 2);
    r2 += r2 >= min_of(i, r1);
    r2 += r2 >= max_of(i, r1);
    const real* const last = r2 < run.pop ? ranked(r2) : run.archive(r2 - run.pop);
    const double weight = !s.staged ? 1 : context.progress < 0.2 ? 0.7 : context.progress < 0.4 ? 0.8 : 1.2;
    const Mutant<real> v{x, best, x, ranked(r1), last, real(weight * F), real(F)};
    cross_binomial(team, run, g, i, v, x, out, draws.words, CR, below(control.w[2], run.dim));
  }

  template <class Team, class R>
  SKDE_FN static void accept(Team& team, const R& run, i64 g, int i, const typename R::real* trial,
                             typename R::real f_trial, typename R::real f_parent) {
    keep_better(team, run, g, i, parent(run, g, i), trial, f_trial, f_parent);
    if (team.lane == 0) run.extra(Arrays::gain, g)[i] = improvement(f_trial, f_parent);
  }

  template <class R> SKDE_FN static int stages(const R&, i64) { return 1; }

  // The parent goes to the archive: behind its last row while there is room, then in the place of a row that was there
  // before this generation; where several draw the same, the last one has it.
  template <class Team, class R> SKDE_FN static void settle(Team& team, const R& run, i64 g, int i, int) {
    using real = typename R::real;
    rank(team, run, g, i);
    if (g == 0) return;
    const real* const gain = run.extra(Arrays::gain, g);
    if (!(gain[i] > 0)) return;
    const int rows = archived(run, g), free = capacity(run) - rows;
    const int before = team.count(i, [&](int k) { return gain[k] > 0; });
    int row = rows + before;
    if (before >= free) {
      const real* const slot = run.extra(Arrays::slot, g);
      const auto drawn = [&](int k) { return min_of(int(slot[k] * real(rows)), rows - 1); };
      row = drawn(i);
      const int after = run.pop - i - 1;
      if (team.count(after, [&](int k) { return (gain[i + 1 + k] > 0) & (drawn(i + 1 + k) == row); })) return;
    }
    if (row < 0) return;
    team.copy(run.dim, run.x(g - 1, parent(run, g, i)), run.archive(row));
  }

  template <class Team, class R> SKDE_FN static void adapt(Team& team, const R& run, i64 g) {
    using real = typename R::real;
    const auto& s = run.settings;
    double* const now = run.memory(g);
    const int cursor = 2 * s.cells, rows = cursor + 1;
    if (g == 0) {
      team.each(rows + 1, [&](int k) { now[k] = k < s.cells ? s.F_start : k < cursor ? s.CR_start : 0; });
      return;
    }
    const double* const before = run.memory(g - 1);
    carry(team, run, g);
    const real *const gain = run.extra(Arrays::gain, g), *const F = run.extra(Arrays::F, g),
                      *const CR = run.extra(Arrays::CR, g);
    const bool weighted = s.weighted;
    const auto share = [&](int k) { return weighted ? gain[k] : real(gain[k] > 0); };
    const auto total = team.template sums<2>(run.pop, [&](int k, real* t) {
      ask_for(F + k), ask_for(CR + k);
      t[0] = real(gain[k] > 0), t[1] = share(k);
    });
    const int successes = int(total.of[0]);
    // Weights add up to 1: products with improvements as small as numbers get would vanish.
    const auto sums = team.template sums<4>(run.pop, [&](int k, real* t) {
      const real w = share(k) / total.of[1];
      t[0] = w * F[k], t[1] = w * F[k] * F[k], t[2] = w * CR[k], t[3] = w * CR[k] * CR[k];
    });
    const double sum_F = double(sums.of[0]), sum_FF = double(sums.of[1]);
    const double sum_CR = double(sums.of[2]), sum_CRCR = double(sums.of[3]);
    team.sync();
    if (team.lane != 0) return;
    now[rows] = min_of(archived(run, g) + successes, capacity(run));
    if (successes == 0) return;
    const int cell = int(before[cursor]);
    const double old_F = before[cell], old_CR = before[s.cells + cell];
    const bool ends = s.lehmer_CR && (old_CR == TERMINAL || sum_CR == 0);
    const double mean_CR = s.lehmer_CR ? sum_CRCR / sum_CR : sum_CR;
    now[cell] = (1 - s.rate) * old_F + s.rate * (sum_FF / sum_F);
    now[s.cells + cell] = ends ? TERMINAL : (1 - s.rate) * old_CR + s.rate * mean_CR;
    now[cursor] = (cell + 1) % s.cells;
  }

  template <class Team, class R> SKDE_FN static void carry(Team& team, const R& run, i64 g) {
    const double* const before = run.memory(g - 1);
    double* const now = run.memory(g);
    const int rows = 2 * run.settings.cells + 1, kept = archived(run, g);
    team.each(rows + 1, [&](int k) { now[k] = k < rows ? before[k] : kept; });
  }

 private:
  template <class R> SKDE_FN static int capacity(const R& run) { return int(run.settings.archive_rate * run.pop); }
  template <class R> SKDE_FN static int archived(const R& run, i64 g) {
    return min_of(int(run.memory(g - 1)[2 * run.settings.cells + 1]), capacity(run));
  }

  // Cauchy, drawn again while it is not positive, and cut at 1.
  template <class R>
  SKDE_FN static double scale_factor(const R& run, i64 g, int i, int cell, const Context& context, double draw) {
    const auto& s = run.settings;
    const double middle = s.staged && cell == s.cells - 1 ? 0.9 : run.memory(g - 1)[cell];
    double F = middle + 0.1 * draw;
    for (u32 again = 0; SKDE_RARELY(F <= 0); ++again)
      F = middle + 0.1 * cauchy(run.stream(g, i, CONTROL).block(1 + again).w[0]);
    F = min_of(F, 1.0);
    return s.staged && context.progress < 0.6 ? min_of(F, 0.7) : F;
  }

  template <class R>
  SKDE_FN static double crossover_rate(const R& run, int cell, double middle, const Context& context, double normal) {
    const auto& s = run.settings;
    if (s.staged && cell == s.cells - 1) middle = 0.9;
    double CR = middle == TERMINAL ? 0 : middle + 0.1 * normal;
    CR = max_of(min_of(CR, 1.0), 0.0);
    if (s.staged && context.progress < 0.5) CR = max_of(CR, context.progress < 0.25 ? 0.7 : 0.6);
    return CR;
  }

  // The rank of pbest. jSO leaves the target out in the first half of the search.
  template <class R>
  SKDE_FN static int one_of_the_best(const R& run, int i, const Words4& words, const Context& context) {
    const auto& s = run.settings;
    double p = s.p_first + (s.p_last - s.p_first) * context.progress;
    if (s.p_drawn) p = s.p_least / run.pop + (p - s.p_least / run.pop) * unit<double>(words.w[3]);
    const int many = min_of(int(max_of(floor(p * run.pop + 0.5), s.p_least)), run.pop);
    const bool steps_over = s.staged && context.progress < 0.5 && i < many && many > 1;
    const int k = below(words.w[0], many - steps_over);
    return k + (steps_over && k >= i);
  }
};

}  // namespace SKDE_NAMESPACE
