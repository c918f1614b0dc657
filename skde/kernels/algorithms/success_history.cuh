// Differential evolution that adapts F and CR to its successes: JADE (Zhang, Sanderson 2009), SHADE and L-SHADE
// (Tanabe, Fukunaga 2013, 2014) and jSO (Brest, Maucec, Boskovic 2017) are settings of this.
//
// (JADE: n) is equation n of JADE's paper, (L-SHADE: n) one of L-SHADE's.
//
//   mutation   v = x_i + F_w (x_pbest - x_i) + F (x_r1 - x_r2), r2 from the population and the archive        (JADE: 7)
//   control    CR ~ N(M_CR, 0.1), F ~ Cauchy(M_F, 0.1); M_CR and M_F are a random entry r of the memory   (JADE: 8, 10)
//   archive    of parents that were worse than their trials (archive.cuh)
//   memory     M_CR and M_F move to the means of the CR and F that succeeded (success_memory.cuh)     (JADE: 9, 11, 12)
//   population falls linearly from N_init to N_min (PopulationReduction)                                   (L-SHADE: 10)
//   jSO        F_w is 0.7 F, 0.8 F and 1.2 F as the search goes on, and F and CR have limits (HistoryRules)
//
// Trials are numbered by the rank of their parents: trial i competes with the i-th best of the last generation, so a
// population shrinks by leaving out its worst.
//
// ARRDE (arrde.cuh) has this mutation, archive and memory, and adds phases; an algorithm with other trials replaces
// propose(). Rules are those in which they differ.
#pragma once
#include "algorithms/archive.cuh"
#include "algorithms/success_memory.cuh"
#include "core/trial_draws.cuh"
#include "core/variation.cuh"
#include "random/distributions.cuh"

// A launch of runs with the same rules may have these as constants (-DSKDE_STAGED=...). Then the others are not
// compiled.
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

struct HistoryLayout : TrialLayout {
  enum : int { NORMAL, CAUCHY, NUMBERS };  // of CR and F
  static constexpr int RETRIES = 2;        // of F
  template <int k, class Words> SKDE_FN static double number(Words words) {
    return k == NORMAL ? normal(words(CONTROLS, 1)) : cauchy(words(CONTROLS, 3));
  }
  SKDE_APART static double retry(u64 seed, i64 g, int i, u32 k) { return cauchy(retry_word(seed, g, i, k)); }

  // F around a mean: from the Cauchy distribution, drawn again while it is not positive, and cut at 1       (JADE: 10)
  template <class R>
  SKDE_FN static double scale_factor(const R& run, i64 g, int i, double mean, double scale,
                                     const IndividualDraws<HistoryLayout>& draws) {
    const auto around = [&](double cauchy) { return mean + scale * cauchy; };
    return min_of(draws.first_accepted(CAUCHY, run.seed, g, i, around, [](double F) { return F <= 0; }), 1.0);
  }
  // CR around a mean, cut to [0, 1]; 0 where the mean is TERMINAL                                            (JADE: 8)
  SKDE_FN static double crossover_rate(double mean, double scale, const IndividualDraws<HistoryLayout>& draws) {
    const double CR = mean == TERMINAL ? 0 : mean + scale * draws.number[NORMAL];
    return max_of(min_of(CR, 1.0), 0.0);
  }
};

// The rules where a run learns from its successes only the means.
struct MeansRules {
  // The mean that replaces that of CR where all CR are 0.
  static constexpr double ZEROS_CR = TERMINAL;
  // The trials, of which each has the numbers of a SuccessfulTrials and may have others, and the sums over them.
  template <class real> using Trials = SuccessfulTrials<real>;
  template <class R, class Successful> SKDE_FN static Successful trials_of(const R&, i64, const Successful& trials) {
    return trials;
  }
  // Writes the rest of the run's memory: at the start, and after a generation of which these are the sums; `entry` of the
  // memory of means is in turn. By one lane.
  template <class R> SKDE_FN static void start(const R&) {}
  template <class R, class Sums> SKDE_FN static void learn(const R&, int, const Sums&) {}
};

template <class Rules>
struct SuccessHistoryDE : SummingAlgorithm<SuccessHistoryDE<Rules>, Rules::template Trials, TAKING_STAGES> {
  using Parameters = typename Rules::Parameters;
  // Of a trial: its F and CR, its improvement (0: none), and the row that its parent takes in a full archive, negative
  // where it did not improve.
  using Arrays = typename Rules::Arrays;
  // Of a trial of a large population: the row of its parent in the archive; of a piece of the trials, its successes;
  // and the partial sums of all.
  SKDE_SCRATCH(row, successes, partials);
  // Of a run: the entry k that is written next and the rows in the archive, for each generation; then H values of F and
  // H of CR, stored once. The archive is stored once, too.
  SKDE_ENUM(Memory, int, NEXT_ENTRY, ARCHIVED, ENTRIES);

  static constexpr double ZEROS_CR = Rules::ZEROS_CR;

  using Means = SuccessMemory<SuccessHistoryDE>;
  using Archive = ParentArchive<SuccessHistoryDE>;
  using Layout = HistoryLayout;
  template <class Team> using Draws = TrialDraws<SuccessHistoryDE, Team, 7>;

  struct Settings : Rules::Settings {
    const Repair repair;
    const double archive_rate;
    const int H;
    const double F_start, CR_start;

    SKDE_FN explicit Settings(const double* p)
        : Rules::Settings(p),
          repair(Repair(SKDE_REPAIR)),
          archive_rate(p[Parameters::archive_rate]),
          H(int(p[Parameters::H])),
          F_start(p[Parameters::F_start]),
          CR_start(p[Parameters::CR_start]) {}
  };

  // -- state ---------------------------------------------------------------------------------------------------------

  // The points and the values of the population, and the row of the individual of rank i.
  template <class R> SKDE_FN static typename R::real* point(const R& run, i64 g, int i) {
    return Rules::point(run, g, i);
  }
  template <class R> SKDE_FN static typename R::real* values(const R& run, i64 g) { return Rules::values(run, g); }
  template <class R> SKDE_FN static int parent(const R& run, i64 g, int i) { return int(run.order(g - 1)[i]); }

  template <class Team, class R>
  SKDE_FN static void initialize(Team& team, const R& run, int i, const typename R::real*) {
    if (team.lane == 0) run.array(Arrays::gain, 0)[i] = 0, Archive::leave_out(run, 0, i);
  }

  // -- trials --------------------------------------------------------------------------------------------------------

  // v = x_i + F_w (x_pbest - x_i) + F (x_r1 - x_r2), crossed with x_i                                        (JADE: 7)
  template <class Team, class R>
  SKDE_FN static void propose(Team& team, const R& run, i64 g, int i, const Draws<Team>& draws,
                              const BaseAlgorithm::Context&, typename R::real* out) {
    using real = typename R::real;
    const Words4& control = draws.individual.block[Layout::CONTROLS];
    const double progress = run.progress;
    const int r = below(control.w[0], run.settings.H), j_rand = below(control.w[2], run.dim);
    const double M_F = Means::M_F(run)[r], M_CR = Means::M_CR(run)[r];
    const Members<Team> x = load_members(team, run, g, i, draws.individual.block[Layout::INDEX]);

    const double F = Rules::scale_factor(run, g, i, r, M_F, progress, draws.individual);
    const double CR = Rules::crossover_rate(run, r, M_CR, progress, draws.individual);
    const real F_w = real(Rules::weight(run, progress) * F), F_r = real(F);
    const Binomial binomial(CR);
    fill_inside(team, run, g, i, x.i.from, out, [&](int j, int k) {
      const real x_i = x.i.at(j, k);
      const real v = x_i + F_w * (x.pbest.at(j, k) - x_i) + F_r * (x.r1.at(j, k) - x.r2.at(j, k));
      return binomial.takes(draws.words.at(j, k)) | (j == j_rand) ? v : x_i;
    });
    if (team.lane != 0) return;
    run.array(Arrays::F, g)[i] = real(F), run.array(Arrays::CR, g)[i] = real(CR);
    Archive::draw_row(run, g, i, draws.individual.block[Layout::SECOND_INDEX]);
  }

  // The vectors of a trial. All are loaded before the first is used, so that loads overlap.
  template <class Team> struct Members {
    typename Team::Row i, pbest, r1, r2;
  };
  template <class Team, class R>
  SKDE_FN static Members<Team> load_members(Team& team, const R& run, i64 g, int i, const Words4& indices) {
    const int pbest = Rules::p_best(run, i, indices, run.progress), r1 = rank_of_r1(run, i, indices);
    const double archived = Archive::archived(run, g - 1);
    const int row = parent(run, g, i), row_pbest = parent(run, g, pbest), row_r1 = parent(run, g, r1);
    const auto* const x_r2 = Archive::x_r2(team, run, g, archived, indices.w[2], i, r1);
    const auto of_row = [&](int row) { return team.row(run.dim, point(run, g - 1, row)); };
    return {of_row(row), of_row(row_pbest), of_row(row_r1), team.row(run.dim, x_r2)};
  }
  template <class R> SKDE_FN static int rank_of_r1(const R& run, int i, const Words4& indices) {
    return other_than(i, below(indices.w[1], run.pop - 1));
  }

  // The rows that trial i reads, for those who load them early.
  template <class R, class Words, class Number, class Read>
  SKDE_FN static void each_row(const R& run, i64 g, int i, Words words, Number, Read read) {
    const Words4 indices = words(Layout::INDEX);
    const int rows = Archive::usable(run, Archive::archived(run, g - 1)), r1 = rank_of_r1(run, i, indices),
              r2 = Archive::r2(run, rows, indices.w[2], i, r1);
    const auto ranked = [&](int rank) { return point(run, g - 1, parent(run, g, rank)); };
    read(ranked(i)), read(ranked(Rules::p_best(run, i, indices, run.progress))), read(ranked(r1));
    read(r2 < run.pop ? ranked(r2) : run.archive(r2 - run.pop));
  }

  template <class Team, class R>
  SKDE_FN static void select(Team& team, const R& run, i64 g, int i, const typename R::real* trial,
                             typename R::real f_trial, const Parent<typename R::real>& parent) {
    select_better(team, run, g, i, parent, trial, f_trial);
    record(team, run, g, i, improvement(f_trial, parent.f));
  }
  // Stores the improvement of a trial.
  template <class Team, class R>
  SKDE_FN static void record(const Team& team, const R& run, i64 g, int i, typename R::real gain) {
    if (team.lane != 0) return;
    run.array(Arrays::gain, g)[i] = gain;
    if (!(gain > 0)) Archive::leave_out(run, g, i);
  }

  // -- the work between generations: archive and memory --------------------------------------------------------------

  template <class Team> struct Prefetch : Archive::template Prefetch<Team>, Means::template Prefetch<Team> {
    template <class R>
    SKDE_FN Prefetch(Team& team, const R& run, i64 g, int i, bool adapts)
        : Archive::template Prefetch<Team>(team, run, g, i), Means::template Prefetch<Team>(team, run, g, adapts) {}
  };

  template <class Team, class R>
  SKDE_FN static void end_generation(Team& team, const R& run, i64 g, int i, int, const Prefetch<Team>& prefetch) {
    Archive::rank_and_archive(team, run, g, i, prefetch);
  }
  template <class Team, class R, class Share>
  SKDE_FN static void make_stage(Team& team, const R& run, const Share& share, i64 g, int stage,
                                 const Prefetch<Team>& prefetch) {
    Archive::archive_many(team, run, share, g, stage, prefetch);
  }

  template <class R, class P> SKDE_FN static auto trials_of(const R& run, i64 g, const P& prefetch) {
    return Rules::trials_of(run, g, Means::trials_of(run, prefetch));
  }
  template <class Team, class R>
  SKDE_FN static void adapt(Team& team, const R& run, i64 g, const Prefetch<Team>& prefetch, bool learns) {
    double* const now = run.memory(g);
    if (g == 0) {
      Means::start(team, run);
      if (team.lane == 0) now[NEXT_ENTRY] = 0, now[ARCHIVED] = 0, Rules::start(run);
      return;
    }
    Several<typename R::real, Rules::template Trials<double>::SUMS> sums{};
    if (learns) sums = SuccessHistoryDE::sum_trials(team, run, g, prefetch);
    const int successes = int(sums.of[SuccessfulTrials<double>::SUCCESSES]), entry = int(prefetch.entry);
    if (team.lane == 0) {
      now[ARCHIVED] = Archive::grown(run, prefetch.archived, successes);
      now[NEXT_ENTRY] = successes > 0 ? (entry + 1) % run.settings.H : entry;
      Rules::learn(run, entry, sums);
    }
    if (successes > 0) Means::move(team, run, prefetch, sums);
  }
};

// The rules of JADE, SHADE, L-SHADE and jSO.
struct HistoryRules : MeansRules {
  // p falls from p_first to p_last; p_drawn: every trial draws a p below it. staged: jSO's rules by progress.
  SKDE_PARAMETERS(pop_size, pop_min, max_evals, max_iter, repair, p_first, p_last, p_drawn, p_least, archive_rate, H,
                  F_start, CR_start, rate, weighted, lehmer_CR, staged, opposition);
  SKDE_ARRAYS(F, CR, gain, slot);

  struct Settings {
    const PopulationReduction reduction;
    const double p_first, p_last;
    const int p_least;
    const bool p_drawn, weighted, lehmer_CR, staged;
    const double rate, opposition;

    SKDE_FN explicit Settings(const double* p)
        : reduction{p[Parameters::pop_size], p[Parameters::pop_min], p[Parameters::max_evals], p[Parameters::max_iter]},
          p_first(p[Parameters::p_first]),
          p_last(p[Parameters::p_last]),
          p_least(int(p[Parameters::p_least])),
          p_drawn(SKDE_P_DRAWN),
          weighted(SKDE_WEIGHTED),
          lehmer_CR(SKDE_LEHMER_CR),
          staged(SKDE_STAGED),
          rate(p[Parameters::rate]),
          opposition(p[Parameters::opposition]) {}
  };

  template <class R> SKDE_FN static typename R::real* point(const R& run, i64 g, int i) { return run.x(g, i); }
  template <class R> SKDE_FN static typename R::real* values(const R& run, i64 g) { return run.f(g); }

  // F_w / F.
  template <class R> SKDE_FN static double weight(const R& run, double progress) {
    return !run.settings.staged ? 1 : progress < 0.2 ? 0.7 : progress < 0.4 ? 0.8 : 1.2;
  }

  template <class R, class Draws>
  SKDE_FN static double scale_factor(const R& run, i64 g, int i, int entry, double mean, double progress,
                                     const Draws& draws) {
    const auto& s = run.settings;
    const double F = HistoryLayout::scale_factor(run, g, i, s.staged && entry == s.H - 1 ? 0.9 : mean, 0.1, draws);
    return s.staged && progress < 0.6 ? min_of(F, 0.7) : F;
  }

  template <class R, class Draws>
  SKDE_FN static double crossover_rate(const R& run, int entry, double mean, double progress, const Draws& draws) {
    const auto& s = run.settings;
    const double middle = s.staged && entry == s.H - 1 ? 0.9 : mean;
    const double CR = HistoryLayout::crossover_rate(middle, 0.1, draws);
    return s.staged && progress < 0.5 ? max_of(CR, progress < 0.25 ? 0.7 : 0.6) : CR;
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

using SuccessHistory = SuccessHistoryDE<HistoryRules>;

}  // namespace SKDE_NAMESPACE
