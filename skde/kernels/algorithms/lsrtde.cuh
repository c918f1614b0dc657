// L-SRTDE, success rate-based adaptive differential evolution (Stanovov, Semenkin; CEC 2024).
//
// There are two populations, the front n and the top t (front_and_top.cuh). s is the success rate of the last
// generation.
//
//   mutation   v = n_c + F (t_pbest - n_c) + F (n_r1 - t_r2)    c uniform, r1 by rank in the front with exp(-3 k / N)
//   control    F ~ N(0.4 + 0.25 tanh(5 s), 0.02) in [0, 1]; pbest among max(2, 0.7 N exp(-7 s)); CR ~ N(M_CR, 0.05)
//   memory     M_CR' = (M_CR + sum w c^2 / sum w c) / 2, of one of H entries in turn; w: the improvements of the trials
//              that succeeded, c: the shares of components that are from their mutants
//
// RDEx (rdex.cuh) has the same populations and this mutation, and adds rules: Rules are those in which the two differ.
#pragma once
#include "algorithms/front_and_top.cuh"
#include "core/divided_sums.cuh"
#include "core/run.cuh"
#include "core/trial_draws.cuh"
#include "core/variation.cuh"
#include "random/distributions.cuh"

namespace SKDE_NAMESPACE {

struct SuccessRateLayout : TrialLayout {
  enum : int { NORMAL_F, NORMAL_CR, FALLING, NUMBERS };
  SKDE_FN static double retry(u64 seed, i64 g, int i, u32 k) { return normal(retry_word(seed, g, i, k)); }  // of F
  template <int k, class Words> SKDE_FN static double number(Words words) {
    return k == FALLING ? falling(words(SECOND_INDEX, 0)) : normal(words(CONTROLS, k == NORMAL_F ? 0 : 2));
  }
  // A draw in [0, 3) with a density proportional to exp(-t).
  SKDE_FN static double falling(u32 word) { return -log(1 - inner_unit(word) * (1 - exp(-3.0))); }
};

// A mutation of member x, v = x + F (best - x) + F (middle - worst), and the rate of its crossover.
template <class real> struct SuccessRateStep {
  const real *best, *middle, *worst;
  double F, CR;
};

// The rules of L-SRTDE, all of which are in SuccessRate.
struct LsrtdeRules {
  SKDE_PARAMETERS(pop_size, pop_min, max_evals, max_iter, repair, H, CR_start);
  SKDE_ARRAYS(value, f_trial, crossed, gain, slot, rank_trial, rank_front, won, top);

  struct Settings {
    SKDE_FN explicit Settings(const double*) {}
  };

  // The step of a trial that competes with member `chosen`; usual() is that of L-SRTDE.
  template <class R, class Draws, class Usual>
  SKDE_FN static auto step(const R&, i64, int, const Draws&, int, Usual usual) {
    return usual();
  }
  // Crossover.
  template <class Team, class R, class real, class Draws, class Words>
  SKDE_FN static void cross(Team& team, const R& run, i64 g, int i, const Draws&, const Mutant<real>& v, real* out,
                            const Words& words, double CR, int j_rand) {
    cross_binomial(team, run, g, i, v, v.base, out, words, CR, j_rand);
  }
  // Stores numbers of a trial; by one lane.
  template <class R, class Draws> SKDE_FN static void store(const R&, i64, int, const Draws&, double) {}

  // Further sums over the trials: a trial's numbers, and its terms for the weight w.
  static constexpr int SUMS = 0;
  template <class real> struct Trial {};
  template <class real> struct Trials {
    template <class R> SKDE_FN Trials(const R&, i64) {}
    SKDE_FN Trial<real> at(int) const { return {}; }
  };
  template <class real> SKDE_FN static void terms(const Trial<real>&, real, real*) {}

  // Writes the rest of the run's memory: at the start, and after a generation of which these are the sums; entry: that
  // of M_CR which has moved, -1: none. By one lane.
  template <class R> SKDE_FN static void start(const R&, double*) {}
  template <class R, class real> SKDE_FN static void learn(const R&, i64, int, real, const real*) {}
};

// The Lehmer mean of shares or factors from their lehmer_terms; 1 where all gains or all values are 0.
template <class real> SKDE_FN double lehmer_mean(const real* sums) {
  const double sum = double(sums[0]), squares = double(sums[1]);
  return sum > 0 ? squares / sum : 1.0;
}

// The sums over the successful trials, weighted by their gains: of the shares c of crossed components, and of the
// Rules.
template <class Rules, class real> struct CrossedTrials {
  enum : int { WEIGHT, CR_SUM, CRCR_SUM, OTHERS, SUMS = OTHERS + Rules::SUMS };
  const real *gain, *crossed;
  typename Rules::template Trials<real> others;

  struct Trial {
    real gain, crossed;
    typename Rules::template Trial<real> other;
  };
  SKDE_FN Trial at(int k) const { return {gain[k], crossed[k], others.at(k)}; }
  SKDE_FN void terms(const Trial& trial, real w, real* t) const {
    t[WEIGHT] = w;
    lehmer_terms(w, trial.crossed, t + CR_SUM);
    Rules::terms(trial.other, w, t + OTHERS);
  }
};

template <class Rules> struct SuccessRate : BaseAlgorithm {
  using Parameters = typename Rules::Parameters;
  // Of the front: its values. Of a trial: its value, the share of components that it crossed, its gain, its slot in the
  // front (-1: no success), its rank in the new front; rank_front: the rank there of the old member of slot i (-1:
  // replaced). won: the values of the successful trials in their turn. top: the rows of x in the order of their values.
  using Arrays = typename Rules::Arrays;
  // Of a trial: the slot of its rival c, whether it succeeds, and the number of successes before it. Of the front: the
  // values of the members that are not replaced (NaN: replaced). Of the top: its values in their order. Of a large
  // population, too: the values `won` and those of the front's survivors, both sorted; the place of a turn in the order
  // of `won`, and the rank of the old member of a slot in the new front; whether the new front leaves out the member of
  // a slot, and how many before it; a count for each piece, and partial sums.
  SKDE_SCRATCH(chosen, survivors, sorted, won_sorted, won_place, front_sorted, front_rank, leaves, leaves_before,
               by_piece, partials);
  SKDE_VECTORS(front, trials);
  // Of a run, for each generation: H values M_CR, after them these, and then those of the Rules. MEAN_F and DECAY are
  // what follows from the success rate s: the mean of F, and exp(-7 s).
  SKDE_ENUM(Numbers, int, NEXT_ENTRY, SUCCESS_RATE, NEXT_SLOT, SUCCESSES, NEXT_POP, MEAN_F, DECAY);

  using Populations = FrontAndTop<SuccessRate>;
  using Layout = SuccessRateLayout;
  template <class Team> using Draws = TrialDraws<SuccessRate, Team, 2>;
  template <class R> SKDE_FN static double* M_CR(const R& run, i64 g) { return run.memory(g); }
  template <class R> SKDE_FN static double* numbers(const R& run, i64 g) { return run.memory(g) + run.settings.H; }
  template <class R> SKDE_FN static double* rest(const R& run, i64 g) { return numbers(run, g) + (DECAY + 1); }

  struct Settings : Rules::Settings {
    const PopulationReduction reduction;
    const Repair repair;
    const int H;
    const double CR_start;

    SKDE_FN explicit Settings(const double* p)
        : Rules::Settings(p),
          reduction{p[Parameters::pop_size], p[Parameters::pop_min], p[Parameters::max_evals], p[Parameters::max_iter]},
          repair(Repair(SKDE_REPAIR)),
          H(int(p[Parameters::H])),
          CR_start(p[Parameters::CR_start]) {}
  };

  // -- trials ---------------------------------------------------------------------------------------------------------

  // The mean of F, and the number of the best among which pbest is drawn.
  struct Context {
    double mean_F;
    int best;
  };
  template <class Team, class R> SKDE_FN static Context context(Team&, const R& run, i64 g) {
    return {numbers(run, g - 1)[MEAN_F], best_of_top(run, g)};
  }
  template <class R> SKDE_FN static int best_of_top(const R& run, i64 g) {
    return max_of(int(run.pop * 0.7 * numbers(run, g - 1)[DECAY]), 2);
  }

  // v = n_c + F (t_pbest - n_c) + F (n_r1 - t_r2)
  template <class R>
  SKDE_FN static auto usual_step(const R& run, i64 g, int i, const IndividualDraws<Layout>& draws, int chosen,
                                 const Context& context) {
    const Words4 &control = draws.block[Layout::CONTROLS], &indices = draws.block[Layout::INDEX];
    const int pbest = pbest_of(chosen, indices.w[1], context.best);
    const int r1 = by_rank(run, g, i, pbest, draws.number[Layout::FALLING]);
    const int r2 = other_than(pbest, r1, below(indices.w[3], run.pop - 2));

    const double F = draws.first_accepted(
        Layout::NORMAL_F, run.seed, g, i, [&](double normal) { return context.mean_F + 0.02 * normal; },
        [](double F) { return F < 0 || F > 1; });
    const double mean_CR = M_CR(run, g - 1)[below(control.w[1], run.settings.H)];
    const double CR = max_of(min_of(mean_CR + 0.05 * draws.number[Layout::NORMAL_CR], 1.0), 0.0);
    return SuccessRateStep<typename R::real>{Populations::top(run, g, pbest), run.vector(Vectors::front, g - 1, r1),
                                             Populations::top(run, g, r2), F, CR};
  }
  // One of the best of the top, other than `chosen`.
  SKDE_FN static int pbest_of(int chosen, u32 word, int best) {
    return other_than(chosen, below(word, best - (chosen < best)));
  }
  // A member of the front, by rank with weights exp(-3 k / N); by_rank(): other than `excluded`.
  template <class R> SKDE_FN static int of_rank(const R& run, i64 g, double draw) {
    return int(run.order(g - 1)[min_of(int(draw * (run.pop / 3.0)), run.pop - 1)]);
  }
  template <class R> SKDE_FN static int by_rank(const R& run, i64 g, int i, int excluded, double draw) {
    for (u32 retry = 2;; ++retry) {
      const int member = of_rank(run, g, draw);
      if (member != excluded) return member;
      draw = Layout::falling(run.stream(g, i, INDICES).block(retry).w[0]);
    }
  }

  template <class Team, class R>
  SKDE_FN static void propose(Team& team, const R& run, i64 g, int i, const Draws<Team>& draws, const Context& context,
                              typename R::real* out) {
    using real = typename R::real;
    const auto& individual = draws.individual;
    const int chosen = below(individual.block[Layout::INDEX].w[0], run.pop);
    const SuccessRateStep<real> step =
        Rules::step(run, g, i, individual, chosen, [&] { return usual_step(run, g, i, individual, chosen, context); });

    const real* const x = run.vector(Vectors::front, g - 1, chosen);
    const Mutant<real> v{2, x, step.best, x, step.middle, step.worst, real(step.F), real(step.F)};
    const int j_rand = below(individual.block[Layout::CONTROLS].w[3], run.dim);
    Rules::cross(team, run, g, i, individual, v, out, draws.words, step.CR, j_rand);
    const Binomial binomial(step.CR);
    const int crossed =
        team.count(run.dim, [&](int j) { return binomial.takes(draws.words.at(j, j / Team::size)) | (j == j_rand); });
    if (team.lane != 0) return;
    run.array(Arrays::crossed, g)[i] = real(crossed) / real(run.dim);
    run.scratch(Scratch::chosen)[i] = real(chosen);
    Rules::store(run, g, i, individual, step.F);
  }

  // The rows that trial i reads, and writes, for those who load them early.
  template <class R, class Words, class Number, class Read>
  SKDE_FN static void each_row(const R& run, i64 g, int i, Words words, Number number, Read read) {
    const Words4 indices = words(Layout::INDEX);
    const int chosen = below(indices.w[0], run.pop);
    read(run.vector(Vectors::front, g - 1, chosen));
    read(Populations::top(run, g, pbest_of(chosen, indices.w[1], best_of_top(run, g))));
    read(run.vector(Vectors::front, g - 1, of_rank(run, g, number(Layout::FALLING))));
    read(Populations::top(run, g, below(indices.w[3], run.pop - 2)));
    read(run.vector(Vectors::trials, g, i));
  }

  template <class Team, class R>
  SKDE_FN static void select(Team& team, const R& run, i64 g, int i, const typename R::real* trial,
                             typename R::real f_trial, const Parent<typename R::real>&) {
    team.copy(run.dim, trial, run.vector(Vectors::trials, g, i));
    if (team.lane == 0) run.array(Arrays::f_trial, g)[i] = f_trial;
  }

  // -- the work between generations: both populations, and the memory ------------------------------------------------

  template <class R> SKDE_FN static int stages(const R&, i64 g) { return g == 0 ? 1 : Populations::STAGES; }
  static constexpr bool HAS_RARE_STAGE = true;
  template <class Team, class R> SKDE_FN static bool needs_last_stage(Team&, const R& run, i64 g, int next_pop) {
    return g == 0 || next_pop < run.pop;
  }
  template <class Team> struct Prefetch : Populations::template Rows<Team> {
    template <class R>
    SKDE_FN Prefetch(Team& team, const R& run, i64 g, int i, bool)
        : Populations::template Rows<Team>(team, run, g, i) {}
  };
  template <class Team, class R>
  SKDE_FN static void end_generation(Team& team, const R& run, i64 g, int i, int stage, const Prefetch<Team>& rows) {
    if (g == 0) return restore(team, run, g, i, true);
    Populations::update(team, run, g, i, stage, rows);
  }

  static constexpr bool DIVIDES = true;
  static constexpr int LARGE_STAGES = Populations::LARGE_STAGES;
  template <class R, class Share> SKDE_FN static int large_stages(const R& run, const Share& share, i64 g) {
    return Populations::large_stages(run, share, g);
  }
  template <class Team, class R, class Share>
  SKDE_OUTLINE static void end_large_generation(Team& team, const R& run, const Share& share, i64 g, int stage) {
    Populations::update_large(team, run, share, g, stage);
    const int summing = Populations::summing_stage(run, share, g, stage);
    if (summing >= 0 && summing < SUM_STAGES)
      divide_sums(team, run, share, run.scratch(Scratch::partials), trials_of(run, g), summing);
    if (stage != Populations::adapting_stage(run, share, g) || !share.adapts(run.pop)) return;
    if (g > 0) Populations::find_and_record(team, run, g);
    adapt(team, run, g, 0, true);
  }

  template <class R> SKDE_FN static CrossedTrials<Rules, typename R::real> trials_of(const R& run, i64 g) {
    using Others = typename Rules::template Trials<typename R::real>;
    return {run.array(Arrays::gain, g), run.array(Arrays::crossed, g), Others(run, g)};
  }

  static constexpr int ADAPTATION = 1;  // after the successes have been found
  template <class Team, class R, class P> SKDE_FN static void adapt(Team& team, const R& run, i64 g, const P&, bool) {
    const int H = run.settings.H;
    double *const M = M_CR(run, g), *const now = numbers(run, g);
    if (g == 0) {
      if (team.lane != 0) return;
      for (int k = 0; k < H; ++k) M[k] = run.settings.CR_start;
      now[NEXT_ENTRY] = 0, now[NEXT_SLOT] = 0, now[SUCCESSES] = 0;
      store_rate(now, 0.5);
      return Rules::start(run, rest(run, 0));
    }
    const int successes = int(now[SUCCESSES]);
    using Sums = CrossedTrials<Rules, double>;
    const auto sums = add_sums(team, run, run.scratch(Scratch::partials), trials_of(run, g));
    if (team.lane != 0) return;
    const double* const before = M_CR(run, g - 1);
    const int entry = int(numbers(run, g - 1)[NEXT_ENTRY]);
    for (int k = 0; k < H; ++k) M[k] = before[k];
    if (successes > 0) M[entry] = 0.5 * (before[entry] + lehmer_mean(sums.of + Sums::CR_SUM));
    now[NEXT_ENTRY] = successes > 0 ? (entry + 1) % H : entry;
    store_rate(now, double(successes) / run.pop);
    Rules::learn(run, g, successes > 0 ? entry : -1, sums.of[Sums::WEIGHT], sums.of + Sums::OTHERS);
  }

  template <class Team, class R> SKDE_FN static void restore(Team& team, const R& run, i64 g, int i, bool all_values) {
    Populations::restore(team, run, g, i, all_values);
  }

 private:
  // The success rate s, and what follows from it, once for all trials of the next generation.
  SKDE_FN static void store_rate(double* now, double s) {
    now[SUCCESS_RATE] = s, now[MEAN_F] = 0.4 + 0.25 * tanh(5 * s), now[DECAY] = exp(-7 * s);
  }
};

using Lsrtde = SuccessRate<LsrtdeRules>;

}  // namespace SKDE_NAMESPACE
