// SaDE, differential evolution that learns its strategies (Qin, Huang, Suganthan, IEEE TEC 13, 2009): four strategies are
// used as often as they succeeded in the last generations, each with the median of the CR that succeeded with it.
#pragma once
#include "distributions.cuh"
#include "task.cuh"
#include "variation.cuh"

namespace SKDE_NAMESPACE {

struct Sade : Plain {
  SKDE_PARAMETERS(pop_size, repair, learning_period, F_mean, F_deviation);
  // Of a trial: 2 strategy + CR where it succeeded, -1 - strategy where not.
  SKDE_ARRAYS(code);

  enum Strategy : int { RAND_1, RAND_TO_BEST_2, RAND_2, CURRENT_TO_RAND_1, STRATEGIES };
  static constexpr int CROSSED = CURRENT_TO_RAND_1;  // strategies before this one have a CR
  // CR is drawn in steps of 1 / STEPS, so that its medians can be read off a tally.
  static constexpr int STEPS = 128, BINS = STEPS + 1;
  // A run's memory: in both halves the strategies' probabilities, the medians of CR, a tally of the CR that succeeded;
  // and behind these, in the first half alone, a row of codes and of counts (4 successes, 4 failures) for each of the
  // last generations, learning_period of them and the one that goes out.
  enum : int { CHANCE = 0, MEDIAN = STRATEGIES, TALLY = MEDIAN + CROSSED, RINGS = TALLY + CROSSED * BINS };

  struct Settings {
    const Repair repair;
    const int learning_period;
    const double F_mean, F_deviation;

    SKDE_FN explicit Settings(const double* p)
        : repair(Repair(SKDE_REPAIR)),
          learning_period(int(p[Parameters::learning_period])),
          F_mean(p[Parameters::F_mean]),
          F_deviation(p[Parameters::F_deviation]) {}
  };

  struct Context {
    int best;
    double start;  // of the wheel that deals out the strategies
  };

  template <class Team, class R> SKDE_FN static Context context(Team& team, const R& run, i64 g) {
    return {best_of(team, run.f(g - 1), run.pop), unit<double>(run.stream(g, 0, STRATEGY).block(0).w[0])};
  }

  template <class Team> struct Draws {
    Words4 control;
    DistinctIndices indices;
    ComponentWords<Team, Stream> words;

    template <class R>
    SKDE_FN Draws(Team& team, const R& run, i64 g, int i)
        : control(run.stream(g, i, CONTROL).block(0)),
          indices(run.stream(g, i, INDICES), run.pop, i, 5),
          words(team, run.stream(g, i, CROSSOVER), run.dim) {}
  };

  template <class Team, class R>
  SKDE_FN static void propose(Team& team, const R& run, i64 g, int i, const Draws<Team>& draws, const Context& context,
                              typename R::real* out) {
    using real = typename R::real;
    const int strategy = dealt(run, g, i, context);
    const double CR = strategy < CROSSED ? crossover_rate(run, g, i, strategy, draws.control.w[1]) : 1;
    if (team.lane == 0) run.extra(Arrays::code, g)[i] = real(2 * strategy + CR);

    const real F =
        real(run.settings.F_mean + run.settings.F_deviation * normal_quantile(inner_unit(draws.control.w[0])));
    const auto drawn = [&](int m) -> const real* { return run.x(g - 1, draws.indices.index[m]); };
    const real *const x = run.x(g - 1, i), *const best = run.x(g - 1, context.best);
    Mutant<real> v{drawn(0), nullptr, nullptr, drawn(1), drawn(2), F, F};
    switch (strategy) {
      case RAND_TO_BEST_2: v = {x, best, x, drawn(0), drawn(1), F, F, drawn(2), drawn(3)}; break;
      case RAND_2: v.a = drawn(3), v.b = drawn(4); break;
      case CURRENT_TO_RAND_1: v.base = x, v.a = drawn(0), v.b = x, v.G = unit<real>(draws.control.w[2]); break;
      default: break;
    }
    cross_binomial(team, run, g, i, v, x, out, draws.words, CR, below(draws.control.w[3], run.dim));
  }

  template <class Team, class R>
  SKDE_FN static void accept(Team& team, const R& run, i64 g, int i, const typename R::real* trial,
                             typename R::real f_trial, typename R::real f_parent) {
    using real = typename R::real;
    const bool better = keep_better(team, run, g, i, i, trial, f_trial, f_parent);
    if (team.lane == 0 && !better) {
      real& code = run.extra(Arrays::code, g)[i];
      code = real(-1 - int(code * real(0.5)));
    }
  }

  template <class Team, class R> SKDE_FN static void adapt(Team& team, const R& run, i64 g) {
    double *const now = run.memory(g), *const rings = run.memory(0) + RINGS;
    const int period = run.settings.learning_period, rows = period + 1;
    double *const codes = rings, *const counts = rings + i64(rows) * run.pop;
    if (g == 0) {
      team.each(RINGS, [&](int k) { now[k] = k < MEDIAN ? 1.0 / STRATEGIES : k < TALLY ? 0.5 : 0.0; });
      team.each(rows * run.pop, [&](int k) { codes[k] = -1; });
      team.each(rows * 2 * STRATEGIES, [&](int k) { counts[k] = 0; });
      return;
    }
    const double* const before = run.memory(g - 1);
    team.each(RINGS, [&](int k) { now[k] = before[k]; });
    const auto* const code = run.extra(Arrays::code, g);
    double *const in = codes + g % rows * run.pop, *const out = codes + (g + 1) % rows * run.pop;
    team.each(run.pop, [&](int k) { in[k] = double(code[k]); });
    double* const count = counts + g % rows * 2 * STRATEGIES;
    for (int s = 0; s < STRATEGIES; ++s) {
      const int won = team.count(run.pop, [&](int k) { return code[k] >= 2 * s && code[k] <= 2 * s + 1; });
      const int lost = team.count(run.pop, [&](int k) { return code[k] == -1 - s; });
      if (team.lane == 0) count[s] = won, count[STRATEGIES + s] = lost;
    }
    team.sync();
    team.tally(run.pop, now + TALLY, [&](int k) { return bin_of(in[k]); }, 1.0);
    team.tally(run.pop, now + TALLY, [&](int k) { return bin_of(out[k]); }, -1.0);
    team.sync();
    if (g < period) return;
    learn(team, counts, g, period, now);
  }

 private:
  // Chances follow the success rates of the last generations, medians of CR the tally.
  template <class Team> SKDE_FN static void learn(Team& team, const double* counts, i64 g, int period, double* now) {
    const int rows = period + 1;
    double rate[STRATEGIES], sum = 0;
    for (int s = 0; s < STRATEGIES; ++s) {
      const auto total = [&](int column) {
        return double(team.sum(period, [&](int back) {
          return typename Team::real(counts[(g - back) % rows * 2 * STRATEGIES + column]);
        }));
      };
      const double won = total(s), tried = won + total(STRATEGIES + s);
      rate[s] = (tried > 0 ? won / tried : 0) + 0.01;
      sum += rate[s];
    }
    for (int s = 0; s < CROSSED; ++s) {
      const double* const bins = now + TALLY + s * BINS;
      const int n = counted(team, bins, BINS);
      if (n == 0) continue;
      const int low = smallest_with(team, bins, (n + 1) / 2), high = smallest_with(team, bins, n / 2 + 1);
      if (team.lane == 0) now[MEDIAN + s] = 0.5 * (low + high) / STEPS;
    }
    if (team.lane == 0)
      for (int s = 0; s < STRATEGIES; ++s) now[CHANCE + s] = rate[s] / sum;
  }

  // What the first n bins hold. Whole numbers: any order of summation gives the same.
  template <class Team> SKDE_FN static int counted(Team& team, const double* bins, int n) {
    return int(team.sum(n, [&](int k) { return typename Team::real(bins[k]); }));
  }
  template <class Team> SKDE_FN static int smallest_with(Team& team, const double* bins, int wanted) {
    int low = 0, high = BINS - 1;
    while (low < high) {
      const int middle = (low + high) / 2;
      if (counted(team, bins, middle + 1) >= wanted)
        high = middle;
      else
        low = middle + 1;
    }
    return low;
  }

  SKDE_FN static int bin_of(double code) {
    const int strategy = int(code * 0.5);
    if (code < 0 || strategy >= CROSSED) return -1;
    return strategy * BINS + int((code - 2 * strategy) * STEPS);
  }

  // Stochastic universal selection: equally spaced pointers on a wheel, turned at random in every generation.
  template <class R> SKDE_FN static int dealt(const R& run, i64 g, int i, const Context& context) {
    const double* const chance = run.memory(g - 1) + CHANCE;
    double pointer = context.start + double(i) / run.pop;
    pointer -= floor(pointer);
    int strategy = 0;
    for (double sum = chance[0]; strategy < STRATEGIES - 1 && pointer >= sum; sum += chance[++strategy]) {
    }
    return strategy;
  }

  // Normal around the median, drawn again while it leaves [0, 1].
  template <class R> SKDE_FN static double crossover_rate(const R& run, i64 g, int i, int strategy, u32 word) {
    const double median = run.memory(g - 1)[MEDIAN + strategy];
    for (u32 again = 0;; ++again) {
      const double CR = floor((median + 0.1 * normal_quantile(inner_unit(word))) * STEPS + 0.5) / STEPS;
      if (CR >= 0 && CR <= 1) return CR;
      word = run.stream(g, i, CONTROL).block(1 + again).w[0];
    }
  }
};

}  // namespace SKDE_NAMESPACE
