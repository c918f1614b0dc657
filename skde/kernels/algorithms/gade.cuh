// GaDE, generalised adaptive differential evolution (Yang, Tang, Yao: Scalability of generalized adaptive differential
// evolution for large-scale continuous optimization; Soft Computing 15, 2011): the F and CR of every trial are drawn
// from distributions that adapt to the trials that improved, each weighted by its improvement.
//
//   mutation   v = x_i + F (x_pbest - x_i) + F (x_r1 - x_r2) with probability q, else v = x_r1 + F (x_r2 - x_r3)
//   control    F ~ Cauchy(F_m, 0.1), CR ~ N(CR_m, 0.1)
//   learning   after a period, F_m and CR_m become means of the F and CR of the trials that improved
#pragma once
#include "core/divided_sums.cuh"
#include "core/run.cuh"
#include "core/variation.cuh"
#include "random/distributions.cuh"
#include "random/draws.cuh"

namespace SKDE_NAMESPACE {

// Sums over the trials that improved: of their weights, and weighted of their F, the squares of F, and CR.
template <class real> struct GadeTrials {
  enum : int { WEIGHT, F_SUM, FF_SUM, CR_SUM, SUMS };
  const real *F, *CR, *gain;

  struct Trial {
    real F, CR, gain;
  };
  SKDE_FN Trial at(int k) const { return {F[k], CR[k], gain[k]}; }
  SKDE_FN void terms(const Trial& trial, real w, real* t) const {
    t[WEIGHT] = w, t[CR_SUM] = w * trial.CR;
    lehmer_terms(w, trial.F, t + F_SUM);
  }
};

struct Gade : SummingAlgorithm<Gade, GadeTrials> {
  SKDE_PARAMETERS(pop_size, repair, p_best, pbest_rate, learning_period, F_least, F_start, CR_start, opposition);
  // Of a trial: its F and CR, and its improvement (0: none).
  SKDE_ARRAYS(F, CR, gain);
  SKDE_SCRATCH(unchanged, partials);  // the latter are sums of a large population
  // Of a run, for each generation: F_m and CR_m; and of the period so far: its generations, those with an improvement,
  // and the sums of their means of F and CR.
  SKDE_ENUM(Memory, int, F_M, CR_M, GENERATIONS, MEANS, F_MEANS, CR_MEANS, NUMBERS);

  struct Settings {
    const Repair repair;
    const int learning_period;
    const double p_best, pbest_rate, F_least, F_start, CR_start, opposition;

    SKDE_FN explicit Settings(const double* p)
        : repair(Repair(SKDE_REPAIR)),
          learning_period(int(p[Parameters::learning_period])),
          p_best(p[Parameters::p_best]),
          pbest_rate(p[Parameters::pbest_rate]),
          F_least(p[Parameters::F_least]),
          F_start(p[Parameters::F_start]),
          CR_start(p[Parameters::CR_start]),
          opposition(p[Parameters::opposition]) {}
  };

  struct Layout {
    enum : int { CONTROLS, INDEX, PBEST, BLOCKS };
    enum : int { NORMAL, CAUCHY, NUMBERS };  // of CR and F
    static constexpr int RETRIES = 2;        // of F
    SKDE_FN static Purpose purpose(int block) { return block == CONTROLS ? CONTROL : INDICES; }
    SKDE_FN static u32 slot(int block) { return block == PBEST; }
    template <int k, class Words> SKDE_FN static double number(Words words) {
      return k == NORMAL ? normal(words(CONTROLS, 1)) : cauchy(words(CONTROLS, 3));
    }
    SKDE_APART static double retry(u64 seed, i64 g, int i, u32 k) {
      return cauchy(Stream(seed, g, i, CONTROL).block(1 + k).w[0]);
    }
  };

  template <class Team> struct Draws {
    IndividualDraws<Layout> individual;
    DistinctIndices indices;
    ComponentWords<Team, Stream> words;

    template <class R>
    SKDE_FN Draws(Team& team, const R& run, i64 g, int i)
        : individual(team, run.seed, g, i),
          indices(individual.block[Layout::INDEX], 0, run.pop, i, 3),
          words(team, run.stream(g, i, CROSSOVER), run.dim) {}
  };

  template <class Team, class R>
  SKDE_FN static void propose(Team& team, const R& run, i64 g, int i, const Draws<Team>& draws, const Context&,
                              typename R::real* out) {
    using real = typename R::real;
    const double* const learned = run.memory(g - 1);
    const double F_m = learned[F_M], CR_m = learned[CR_M];
    const Words4& control = draws.individual.block[Layout::CONTROLS];
    const int many = max_of(int(run.settings.p_best * run.pop), 1);
    const int pbest = int(run.order(g - 1)[below(draws.individual.block[Layout::PBEST].w[1], many)]);

    const double F = scale_factor(run, g, i, F_m, draws.individual);
    const double CR = min_of(max_of(CR_m + 0.1 * draws.individual.number[Layout::NORMAL], 0.0), 1.0);
    const auto drawn = [&](int m) -> const real* { return run.x(g - 1, draws.indices.index[m]); };
    const real* const x = run.x(g - 1, i);
    Mutant<real> v{1, drawn(0), nullptr, nullptr, drawn(1), drawn(2), real(F), real(F)};
    if (unit<double>(control.w[0]) < run.settings.pbest_rate)
      v = {2, x, run.x(g - 1, pbest), x, drawn(0), drawn(1), real(F), real(F)};
    cross_binomial(team, run, g, i, v, x, out, draws.words, CR, below(control.w[2], run.dim));
    if (team.lane != 0) return;
    run.array(Arrays::F, g)[i] = real(F), run.array(Arrays::CR, g)[i] = real(CR);
  }

  template <class Team, class R>
  SKDE_FN static void select(Team& team, const R& run, i64 g, int i, const typename R::real* trial,
                             typename R::real f_trial, const Parent<typename R::real>& parent) {
    select_better(team, run, g, i, parent, trial, f_trial);
    if (team.lane == 0) run.array(Arrays::gain, g)[i] = improvement(f_trial, parent.f);
  }

  template <class Team, class R, class P>
  SKDE_FN static void adapt(Team& team, const R& run, i64 g, const P& prefetch, bool learns) {
    const auto& s = run.settings;
    double* const now = run.memory(g);
    if (g == 0) {
      team.each(NUMBERS, [&](int k) { now[k] = k == F_M ? s.F_start : k == CR_M ? s.CR_start : 0.0; });
      return;
    }
    const double* const before = run.memory(g - 1);
    if (!learns) return team.each(NUMBERS, [&](int k) { now[k] = before[k]; });
    const auto sums = sum_trials(team, run, g, prefetch);
    if (team.lane == 0) learn(s.learning_period, before, sums, now);
  }
  template <class R, class P> SKDE_FN static GadeTrials<typename R::real> trials_of(const R& run, i64 g, const P&) {
    return {run.array(Arrays::F, g), run.array(Arrays::CR, g), run.array(Arrays::gain, g)};
  }

 private:
  //   F_m = mean of (sum of w F^2) / (sum of w F), CR_m = mean of sum of w CR, over the generations with an improvement
  template <class Sums> SKDE_FN static void learn(int period, const double* before, const Sums& sums, double* now) {
    using Of = GadeTrials<double>;
    const bool improves = sums.of[Of::WEIGHT] > 0;
    const double mean_F = improves ? double(sums.of[Of::FF_SUM]) / double(sums.of[Of::F_SUM]) : 0.0;
    const double mean_CR = improves ? double(sums.of[Of::CR_SUM]) / double(sums.of[Of::WEIGHT]) : 0.0;
    const double generations = before[GENERATIONS] + 1, means = before[MEANS] + improves;
    const double F = before[F_MEANS] + mean_F, CR = before[CR_MEANS] + mean_CR;

    const bool ends = generations >= period, learns = ends && means > 0;
    now[F_M] = learns ? F / means : before[F_M];
    now[CR_M] = learns ? CR / means : before[CR_M];
    now[GENERATIONS] = ends ? 0.0 : generations;
    now[MEANS] = ends ? 0.0 : means;
    now[F_MEANS] = ends ? 0.0 : F;
    now[CR_MEANS] = ends ? 0.0 : CR;
  }

  // F: from the Cauchy distribution, drawn again while it is not above F_least, and cut at 1.
  template <class R>
  SKDE_FN static double scale_factor(const R& run, i64 g, int i, double mean, const IndividualDraws<Layout>& draws) {
    const auto around = [&](double cauchy) { return mean + 0.1 * cauchy; };
    const double least = run.settings.F_least;
    const auto rejected = [&](double F) { return F <= least; };
    return min_of(draws.first_accepted(Layout::CAUCHY, run.seed, g, i, around, rejected), 1.0);
  }
};

}  // namespace SKDE_NAMESPACE
