// SaDE, differential evolution that learns its strategies (Qin, Huang, Suganthan, IEEE TEC 13, 2009): four strategies are
// used as often as they succeeded in the last generations, each with the median of the CR that succeeded with it.
#pragma once
#include "distributions.cuh"
#include "draws.cuh"
#include "task.cuh"
#include "variation.cuh"

namespace SKDE_NAMESPACE {

struct Sade : Plain {
  SKDE_PARAMETERS(pop_size, repair, learning_period, F_mean, F_deviation, opposition);
  // Of a trial: 2 strategy + CR where it succeeded, -1 - strategy where not.
  SKDE_ARRAYS(code);

  enum Strategy : int { RAND_1, RAND_TO_BEST_2, RAND_2, CURRENT_TO_RAND_1, STRATEGIES };
  static constexpr int CROSSED = CURRENT_TO_RAND_1;  // strategies before this one have a CR
  // CR is drawn in steps of 1 / STEPS, so that its medians can be read off a tally.
  static constexpr int STEPS = 128, BINS = STEPS + 1;
  // A run's memory: in both halves the strategies' chances, the medians of CR, and of the last generations a tally of the CR
  // that succeeded, how many trials of each strategy succeeded and failed, and from how many generations there was something to
  // learn; and behind these, in the first half alone, a row of codes for each of the last of them, learning_period and the
  // one that goes out.
  enum : int {
    CHANCE = 0,
    MEDIAN = STRATEGIES,
    TALLY = MEDIAN + CROSSED,
    WON = TALLY + CROSSED * BINS,
    LOST = WON + STRATEGIES,
    LESSONS = LOST + STRATEGIES,
    RING = LESSONS + 1
  };
  static constexpr double NO_TRIAL = -1 - STRATEGIES;  // a code before there are any

  struct Settings {
    const Repair repair;
    const int learning_period;
    const double F_mean, F_deviation, opposition;

    SKDE_FN explicit Settings(const double* p)
        : repair(Repair(SKDE_REPAIR)),
          learning_period(int(p[Parameters::learning_period])),
          F_mean(p[Parameters::F_mean]),
          F_deviation(p[Parameters::F_deviation]),
          opposition(p[Parameters::opposition]) {}
  };

  struct Context {
    int best;
    double start;  // of the wheel that deals out the strategies
  };

  template <class Team, class R> SKDE_FN static Context context(Team& team, const R& run, i64 g) {
    return {best_of(team, run.f(g - 1), run.pop), unit<double>(run.stream(g, 0, STRATEGY).block(0).w[0])};
  }

  struct Deal {
    enum : int { CONTROLS, INDEX, FIFTH, BLOCKS };
    enum : int { NORMAL_F, NORMAL_CR, NUMBERS };
    static constexpr int AGAIN = 0;
    SKDE_FN static Purpose purpose(int block) { return block == CONTROLS ? CONTROL : INDICES; }
    SKDE_FN static u32 slot(int block) { return block == FIFTH; }
    template <int k, class Words> SKDE_FN static double number(Words words) {
      return normal(words(CONTROLS, k == NORMAL_CR));
    }
  };

  template <class Team> struct Draws {
    Dealt<Deal> dealt;
    DistinctIndices indices;
    ComponentWords<Team, Stream> words;

    template <class R>
    SKDE_FN Draws(Team& team, const R& run, i64 g, int i)
        : dealt(team, run.seed, g, i),
          indices(dealt.block[Deal::INDEX], dealt.block[Deal::FIFTH].w[0], run.pop, i, 5) {}

    template <class R> SKDE_FN void components(Team& team, const R& run, i64 g, int i) {
      words = {team, run.stream(g, i, CROSSOVER), run.dim};
    }
  };

  template <class Team, class R>
  SKDE_FN static void propose(Team& team, const R& run, i64 g, int i, const Draws<Team>& draws, const Context& context,
                              typename R::real* out) {
    using real = typename R::real;
    const int strategy = dealt(run, g, i, context);
    const Words4& control = draws.dealt.block[Deal::CONTROLS];
    const double* const normals = draws.dealt.number;
    const double CR = strategy < CROSSED ? crossover_rate(run, g, i, strategy, normals[Deal::NORMAL_CR]) : 1;
    if (team.lane == 0) run.extra(Arrays::code, g)[i] = real(2 * strategy + CR);

    const real F = real(run.settings.F_mean + run.settings.F_deviation * normals[Deal::NORMAL_F]);
    const auto drawn = [&](int m) -> const real* { return run.x(g - 1, draws.indices.index[m]); };
    const real *const x = run.x(g - 1, i), *const best = run.x(g - 1, context.best);
    Mutant<real> v{drawn(0), nullptr, nullptr, drawn(1), drawn(2), F, F};
    switch (strategy) {
      case RAND_TO_BEST_2: v = {x, best, x, drawn(0), drawn(1), F, F, drawn(2), drawn(3)}; break;
      case RAND_2: v.a = drawn(3), v.b = drawn(4); break;
      case CURRENT_TO_RAND_1: v.base = x, v.a = drawn(0), v.b = x, v.G = unit<real>(control.w[2]); break;
      default: break;
    }
    cross_binomial(team, run, g, i, v, x, out, draws.words, CR, below(control.w[3], run.dim));
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

  template <class Team, class R, class Known> SKDE_FN static void adapt(Team& team, const R& run, i64 g, const Known&) {
    using real = typename R::real;
    double *const now = run.memory(g), *const ring = run.memory(0) + RING;
    const int period = run.settings.learning_period, rows = period + 1;
    if (g == 0) {
      team.each(RING, [&](int k) { now[k] = k < MEDIAN ? 1.0 / STRATEGIES : k < TALLY ? 0.5 : 0.0; });
      team.each(rows * run.pop, [&](int k) { ring[k] = NO_TRIAL; });
      return;
    }
    const i64 lesson = i64(run.memory(g - 1)[LESSONS]) + 1;
    const real* const code = run.extra(Arrays::code, g);
    double *const in = ring + lesson % rows * run.pop, *const out = ring + (lesson + 1) % rows * run.pop;
    carry(team, run, g);
    team.each(run.pop, [&](int k) { in[k] = double(code[k]); });
    struct Codes {
      double comes, goes;
    };
    const auto change = team.template sums<2 * STRATEGIES>(
        run.pop, [&](int k) { return Codes{double(code[k]), out[k]}; },
        [&](const Codes& codes, real* t) {
          SKDE_UNROLL
          for (int s = 0; s < STRATEGIES; ++s) {
            t[s] = real(won(codes.comes, s) - won(codes.goes, s));
            t[STRATEGIES + s] = real(lost(codes.comes, s) - lost(codes.goes, s));
          }
        });
    team.sync();
    if (team.lane == 0) {
      now[LESSONS] = double(lesson);
      SKDE_UNROLL
      for (int k = 0; k < 2 * STRATEGIES; ++k) now[WON + k] += double(change.of[k]);
    }
    team.tally(run.pop, now + TALLY, [&](int k) { return bin_of(in[k]); }, 1.0);
    team.tally(run.pop, now + TALLY, [&](int k) { return bin_of(out[k]); }, -1.0);
    team.sync();
    if (lesson >= period) learn(team, now);
  }
  template <class R> SKDE_FN static int stages(const R&, i64) { return 1; }
  template <class Team, class R> SKDE_FN static void carry(Team& team, const R& run, i64 g) {
    const double* const before = run.memory(g - 1);
    double* const now = run.memory(g);
    team.each(RING, [&](int k) { now[k] = before[k]; });
  }

 private:
  // Chances follow the success rates of the last generations, medians of CR the tally.
  template <class Team> SKDE_FN static void learn(Team& team, double* now) {
    double rate[STRATEGIES], sum = 0;
    SKDE_UNROLL
    for (int s = 0; s < STRATEGIES; ++s) {
      const double won = now[WON + s], tried = won + now[LOST + s];
      rate[s] = (tried > 0 ? won / tried : 0) + 0.01;
      sum += rate[s];
    }
    for (int s = 0; s < CROSSED; ++s) {
      const auto bin = [&](int k) { return now[TALLY + s * BINS + k]; };
      const int n = int(now[WON + s]);
      if (n == 0) continue;
      const int low = team.reached(BINS, bin, (n + 1) / 2), high = team.reached(BINS, bin, n / 2 + 1);
      if (team.lane == 0) now[MEDIAN + s] = 0.5 * (low + high) / STEPS;
    }
    if (team.lane != 0) return;
    SKDE_UNROLL
    for (int s = 0; s < STRATEGIES; ++s) now[CHANCE + s] = rate[s] / sum;
  }

  SKDE_FN static int won(double code, int strategy) { return (code >= 2 * strategy) & (code <= 2 * strategy + 1); }
  SKDE_FN static int lost(double code, int strategy) { return code == -1 - strategy; }
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
  template <class R> SKDE_FN static double crossover_rate(const R& run, i64 g, int i, int strategy, double draw) {
    const double median = run.memory(g - 1)[MEDIAN + strategy];
    for (u32 again = 0;; ++again) {
      const double CR = floor((median + 0.1 * draw) * STEPS + 0.5) / STEPS;
      if (CR >= 0 && CR <= 1) return CR;
      draw = normal(run.stream(g, i, CONTROL).block(1 + again).w[0]);
    }
  }
};

}  // namespace SKDE_NAMESPACE
