// NL-SHADE-RSP (Stanovov, Akhmedova, Semenkin; CEC 2021): L-SHADE (success_history.cuh) with both crossovers, an archive
// that is used as often as it helps, and pressure on r2. r is the share of the budget that is spent, N the population's
// size; (n) is equation n of the paper.
//
//   mutation    v = x_i + F (x_pbest - x_i) + F (x_r1 - x_r2), pbest among the best p N, p from p_first to p_last  (1)
//   r2          with probability p_A from the archive, else of rank k = 0 ... N - 1 with weights exp(-k / N)      (11)
//   crossover   exponential with CR_i, or binomial with CR_b = 0 for r < 0.5, then 2 r - 1                     (2, 3, 15)
//   CR_i        N numbers CR ~ N(M_CR, 0.1), of which the i-th smallest is that of the i-th best
//   p_A         (D_A / n_A) / (D_A / n_A + D_P / n_P) in [0.1, 0.9], of n_A trials with the archive and n_P without it
//               that improved by D_A and D_P in sum; 0.5 unless there are both and one of them improved          (14)
//   memory      an entry becomes the Lehmer means of F and of CR_i; 0.5 where these do not exist                   (7)
//   population  round(N_init + (N_min - N_init) r^(1 - r))                                                       (13)
//
// The CR of a generation are drawn and sorted at the end of the one before.
#pragma once
#include "algorithms/success_history.cuh"

namespace SKDE_NAMESPACE {

struct NonlinearReduction : PopulationReduction {
  SKDE_FN int population(double progress) const {
    return PopulationReduction::population(progress > 0 ? exp((1 - progress) * log(progress)) : 0.0);
  }
};

// In addition to the sums over the successful trials: the improvements of those that used the archive, and how many of
// all trials used it.
template <class real> struct ArchivingTrials : SuccessfulTrials<real> {
  using Successful = SuccessfulTrials<real>;
  enum : int { ARCHIVE_GAIN = Successful::SUMS, USES, SUMS };
  const real* uses;

  struct Trial : Successful::Trial {
    real uses;
  };
  SKDE_FN Trial at(int k) const { return {Successful::at(k), uses[k]}; }
  SKDE_FN void terms(const Trial& trial, real gain, real* t) const {
    Successful::terms(trial, gain, t);
    t[ARCHIVE_GAIN] = gain * trial.uses, t[USES] = trial.uses;
  }
};

struct NlShadeRspRules : MeansRules {
  SKDE_PARAMETERS(pop_size, pop_min, max_evals, max_iter, repair, p_first, p_last, archive_rate, H, F_start, CR_start,
                  exponential_rate);
  // Of a trial, in addition: whether it used the archive; of an individual, by rank: its CR of the next generation.
  SKDE_ARRAYS(F, CR, gain, slot, uses, next_CR);
  static constexpr double ZEROS_CR = 0.5;

  struct Settings {
    const NonlinearReduction reduction;
    const double p_first, p_last, exponential_rate;
    static constexpr bool weighted = true, lehmer_CR = true;
    static constexpr double rate = 1;

    SKDE_FN explicit Settings(const double* p)
        : reduction{
              {p[Parameters::pop_size], p[Parameters::pop_min], p[Parameters::max_evals], p[Parameters::max_iter]}},
          p_first(p[Parameters::p_first]),
          p_last(p[Parameters::p_last]),
          exponential_rate(p[Parameters::exponential_rate]) {}
  };

  template <class R> SKDE_FN static typename R::real* point(const R& run, i64 g, int i) { return run.x(g, i); }
  template <class R> SKDE_FN static typename R::real* values(const R& run, i64 g) { return run.f(g); }

  // p_A: a number of a run, stored once, after the entries of the memory.
  template <class R> SKDE_FN static double& archive_share(const R& run) {
    return run.memory(0)[SuccessHistory::ENTRIES + 2 * run.settings.H];
  }

  template <class real> using Trials = ArchivingTrials<real>;
  template <class R, class Successful> SKDE_FN static auto trials_of(const R& run, i64 g, const Successful& trials) {
    return Trials<typename R::real>{trials, run.array(Arrays::uses, g)};
  }
  template <class R> SKDE_FN static void start(const R& run) { archive_share(run) = 0.5; }
  template <class R, class Sums> SKDE_FN static void learn(const R& run, int entry, const Sums& sums) {
    using Of = Trials<double>;
    const double with = double(sums.of[Of::USES]), without = run.pop - with;
    const double all_gains = double(sums.of[Of::WEIGHT]), gains_with = double(sums.of[Of::ARCHIVE_GAIN]);
    double share = 0.5;
    if ((with > 0) & (without > 0) & (all_gains > 0)) {
      const double mean_with = gains_with / with, mean_without = (all_gains - gains_with) / without;
      share = min_of(max_of(mean_with / (mean_with + mean_without), 0.1), 0.9);
    }
    archive_share(run) = share;
    if (sums.of[Of::SUCCESSES] > 0) return;
    double* const means_F = run.memory(0) + SuccessHistory::ENTRIES;
    means_F[entry] = means_F[run.settings.H + entry] = 0.5;
  }
};

struct NlShadeRsp : SuccessHistoryDE<NlShadeRspRules> {
  using Base = SuccessHistoryDE<NlShadeRspRules>;
  using Rules = NlShadeRspRules;
  // In addition to those of the base, which begin alike: the CR of the next generation, as they are drawn.
  SKDE_SCRATCH(row, successes, partials, drawn_CR);
  static_assert(int(Scratch::partials) == int(Base::Scratch::partials), "both begin alike");

  // -- trials --------------------------------------------------------------------------------------------------------

  template <class Team> using Draws = TrialDraws<NlShadeRsp, Team, 7>;

  template <class Team, class R>
  SKDE_FN static void propose(Team& team, const R& run, i64 g, int i, const Draws<Team>& draws,
                              const BaseAlgorithm::Context&, typename R::real* out) {
    using real = typename R::real;
    const Words4 &control = draws.individual.block[Layout::CONTROLS], &indices = draws.individual.block[Layout::INDEX],
                 &others = draws.individual.block[Layout::SECOND_INDEX];
    const Ranks ranks = ranks_of(run, i, indices);
    const int archived = row_in_archive(run, g, indices), j_rand = below(control.w[2], run.dim);
    const auto row = [&](const real* x) { return team.row(run.dim, x); };
    const auto ranked = [&](int rank) -> const real* { return point(run, g - 1, parent(run, g, rank)); };
    const real* const x_r2 = archived >= 0 ? run.archive(archived) : ranked(rank_of_r2(run, g, i, ranks, indices.w[2]));
    const auto x = row(ranked(i)), pbest = row(ranked(ranks.pbest)), r1 = row(ranked(ranks.r1)), r2 = row(x_r2);

    const double M_F = Means::M_F(run)[below(control.w[0], run.settings.H)];
    const real F = real(Layout::scale_factor(run, g, i, M_F, 0.1, draws.individual));
    const real CR = run.array(Arrays::next_CR, g - 1)[i];
    const bool exponential = unit<double>(others.w[1]) < run.settings.exponential_rate;
    const int length = exponential ? exponential_length(team, run.stream(g, i, CROSSOVER), double(CR), run.dim) : 1;
    const Binomial binomial(exponential ? 0.0 : max_of(2 * run.progress - 1, 0.0));
    fill_inside(team, run, g, i, x.from, out, [&](int j, int k) {
      const real x_i = x.at(j, k);
      const real v = x_i + F * (pbest.at(j, k) - x_i) + F * (r1.at(j, k) - r2.at(j, k));
      return binomial.takes(draws.words.at(j, k)) | ((j >= j_rand) & (j < j_rand + length)) ? v : x_i;
    });
    if (team.lane != 0) return;
    run.array(Arrays::F, g)[i] = F, run.array(Arrays::CR, g)[i] = CR;
    run.array(Arrays::uses, g)[i] = real(archived >= 0);
    Archive::draw_row(run, g, i, others);
  }

  // Ranks of individuals, other than i and than each other.
  struct Ranks {
    int pbest, r1;
  };
  template <class R> SKDE_FN static Ranks ranks_of(const R& run, int i, const Words4& indices) {
    const auto& s = run.settings;
    const double p = s.p_first + (s.p_last - s.p_first) * run.progress;
    const int many = min_of(max_of(int(p * run.pop), 2), run.pop);
    const int pbest = other_than(i, below(indices.w[0], many - (i < many)));
    return {pbest, other_than(i, pbest, below(indices.w[1], run.pop - 2))};
  }
  // The row of r2 in the archive; -1: it is from the population.
  template <class R> SKDE_FN static int row_in_archive(const R& run, i64 g, const Words4& indices) {
    const int rows = Archive::usable(run, Archive::archived(run, g - 1));
    const bool uses = (rows > 0) & (unit<double>(indices.w[3]) < Rules::archive_share(run));
    return uses ? below(indices.w[2], rows) : -1;
  }
  // The rank of r2 in the population, drawn again where it is one of the others.
  template <class R> SKDE_FN static int rank_of_r2(const R& run, i64 g, int i, const Ranks& others, u32 word) {
    for (u32 retry = 2;; word = run.stream(g, i, INDICES).block(retry++).w[0]) {
      const int rank = by_rank(run, word);
      if ((rank != i) & (rank != others.pbest) & (rank != others.r1)) return rank;
    }
  }
  template <class R> SKDE_FN static int by_rank(const R& run, u32 word) {
    return min_of(int(-log(1 - inner_unit(word) * (1 - exp(-1.0))) * run.pop), run.pop - 1);
  }

  // The rows that trial i reads, for those who load them early.
  template <class R, class Words, class Number, class Read>
  SKDE_FN static void each_row(const R& run, i64 g, int i, Words words, Number, Read read) {
    const Words4 indices = words(Layout::INDEX);
    const Ranks ranks = ranks_of(run, i, indices);
    const int archived = row_in_archive(run, g, indices);
    const auto ranked = [&](int rank) { return point(run, g - 1, parent(run, g, rank)); };
    read(ranked(i)), read(ranked(ranks.pbest)), read(ranked(ranks.r1));
    read(archived >= 0 ? run.archive(archived) : ranked(by_rank(run, indices.w[2])));
  }

  // -- the work between generations: that of the base, and the CR of the next generation -------------------------------

  // Not the parents of a large population, which no stage reads by this, and the last one may not.
  template <class Team> struct Prefetch : Base::Prefetch<Team> {
    template <class R>
    SKDE_FN Prefetch(Team& team, const R& run, i64 g, int i, bool adapts)
        : Base::template Prefetch<Team>(team, run, g, is_large(run.pop) ? run.pop : i, adapts) {}
  };

  enum : int { OF_BASE, DRAW, SORT, STAGES };
  template <class R> SKDE_FN static int stages(const R&, i64) { return STAGES; }
  template <class Team, class R>
  SKDE_FN static void end_generation(Team& team, const R& run, i64 g, int i, int stage,
                                     const Prefetch<Team>& prefetch) {
    if (stage == OF_BASE) return Base::end_generation(team, run, g, i, stage, prefetch);
    const int n = run.next_pop(g);
    auto* const drawn = run.scratch(Scratch::drawn_CR);
    if (i >= n) return;
    if (stage == DRAW) {
      if (team.lane == 0) drawn[i] = draw_CR(run, g + 1, i);
      return;
    }
    const int place = rank_of(team, drawn, n, i);
    if (team.lane == 0) run.array(Arrays::next_CR, g)[place] = drawn[i];
  }

  // CR number i of generation g.
  template <class R> SKDE_FN static typename R::real draw_CR(const R& run, i64 g, int i) {
    const Words4 control = run.stream(g, i, Layout::purpose(Layout::CONTROLS)).block(Layout::slot(Layout::CONTROLS));
    const double mean = Means::M_CR(run)[below(control.w[0], run.settings.H)];
    return typename R::real(max_of(min_of(mean + 0.1 * normal(control.w[1]), 1.0), 0.0));
  }

  // In a large population they are sorted in stages, after all others. The order is in the place of that of generation
  // g - 1, which nothing reads any more.
  static constexpr bool ALONG_SORTING = false;
  static constexpr int LARGE_STAGES = SUM_STAGES + 1 + 2 + SAMPLE_STAGES;
  template <class R, class Share> SKDE_FN static int large_stages(const R& run, const Share& share, i64 g) {
    return Base::LARGE_STAGES + 2 + sort_stages(share, run.next_pop(g));
  }
  template <class Team, class R, class Share>
  SKDE_OUTLINE static void end_large_generation(Team& team, const R& run, const Share& share, i64 g, int stage) {
    if (stage < Base::LARGE_STAGES) return Base::end_large_generation(team, run, share, g, stage);
    const int n = run.next_pop(g), sorting = sort_stages(share, n), own = stage - Base::LARGE_STAGES - 1;
    auto* const drawn = run.scratch(Scratch::drawn_CR);
    i64* const order = run.order(g + 1);
    if (own < 0)
      share.each_position(team, n, [&](int i) { drawn[i] = draw_CR(run, g + 1, i); });
    else if (own < sorting)
      sort_stage(team, share, n, [&](int i) { return drawn[i]; }, own, order, run.sorting(), run.samples(n));
    else
      share.each_position(team, n, [&](int p) { run.array(Arrays::next_CR, g)[p] = drawn[order[p]]; });
  }
};

}  // namespace SKDE_NAMESPACE
