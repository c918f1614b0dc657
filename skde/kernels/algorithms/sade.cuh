// SaDE, differential evolution with adaptive strategies (Qin, Huang, Suganthan, IEEE TEC 13, 2009): four strategies are
// used in proportion to their success rates in the last generations, each with the median of the CR that succeeded with
// it.
#pragma once
#include "core/best.cuh"
#include "core/variation.cuh"
#include "random/distributions.cuh"
#include "random/draws.cuh"

namespace SKDE_NAMESPACE {

struct Sade : BaseAlgorithm {
  SKDE_PARAMETERS(pop_size, repair, learning_period, F_mean, F_deviation, opposition);
  // Of a trial: 2 strategy + CR where it succeeded, -1 - strategy where not.
  SKDE_ARRAYS(code);
  SKDE_SCRATCH(unchanged);

  enum Strategy : int { RAND_1, RAND_TO_BEST_2, RAND_2, CURRENT_TO_RAND_1, STRATEGIES };
  static constexpr int CROSSED = CURRENT_TO_RAND_1;  // strategies before this one have a CR
  // CR is drawn in steps of 1 / STEPS, so that a tally gives its medians.
  static constexpr int STEPS = 128, BINS = STEPS + 1;
  // A run's memory, in the half of generation 0 only: the strategies' chances and the medians of CR; a tally of the CR
  // that succeeded in the last generations, and how many trials of each strategy succeeded and failed in them; the
  // number of generations with selection so far; and rows of codes, one for each of the last learning_period of these
  // generations and one for that which leaves the tally.
  enum : int {
    CHANCE = 0,
    MEDIAN = STRATEGIES,
    TALLY = MEDIAN + CROSSED,
    WON = TALLY + CROSSED * BINS,
    LOST = WON + STRATEGIES,
    GENERATIONS = LOST + STRATEGIES,
    RING = GENERATIONS + 1
  };
  template <class R> SKDE_FN static double* memory(const R& run) { return run.memory(0); }
  static constexpr double NO_TRIAL = -1 - STRATEGIES;  // the code of generations that do not exist

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
    double start;  // of the pointers that select the strategies
  };

  template <class Team, class R> SKDE_FN static Context context(Team& team, const R& run, i64 g) {
    return {best_individual(team, run, g - 1, run.pop), unit<double>(run.stream(g, 0, STRATEGY).block(0).w[0])};
  }
  static constexpr bool SELECTS_AT_ONCE = true;
  template <class R> SKDE_FN static bool needs_best(const R&) { return true; }

  struct Layout : TrialLayout {
    enum : int { NORMAL_F, NORMAL_CR, NUMBERS };
    static constexpr int RETRIES = 3;  // of CR
    template <int k, class Words> SKDE_FN static double number(Words words) {
      return normal(words(CONTROLS, k == NORMAL_CR));
    }
    SKDE_APART static double retry(u64 seed, i64 g, int i, u32 k) { return normal(retry_word(seed, g, i, k)); }
  };

  template <class Team> struct Draws {
    IndividualDraws<Layout> individual;
    DistinctIndices indices;
    ComponentWords<Team, Stream> words;

    template <class R>
    SKDE_FN Draws(Team& team, const R& run, i64 g, int i)
        : individual(team, run.seed, g, i),
          indices(individual.block[Layout::INDEX], individual.block[Layout::SECOND_INDEX].w[0], run.pop, i, 5),
          words(team, run.stream(g, i, CROSSOVER), run.dim) {}
  };

  template <class Team, class R>
  SKDE_FN static void propose(Team& team, const R& run, i64 g, int i, const Draws<Team>& draws, const Context& context,
                              typename R::real* out) {
    using real = typename R::real;
    const double* const learned = memory(run);
    const auto chance = several<STRATEGIES>(learned + CHANCE);
    const auto medians = several<CROSSED>(learned + MEDIAN);
    const int strategy = selected(chance, context.start + double(i) / run.pop);
    const Words4& control = draws.individual.block[Layout::CONTROLS];
    const double CR = strategy < CROSSED ? crossover_rate(run, g, i, medians.at(strategy), draws.individual) : 1;
    if (team.lane == 0) run.array(Arrays::code, g)[i] = real(2 * strategy + CR);

    const real F = real(run.settings.F_mean + run.settings.F_deviation * draws.individual.number[Layout::NORMAL_F]);
    const auto drawn = [&](int m) -> const real* { return run.x(g - 1, draws.indices.index[m]); };
    const real *const x = run.x(g - 1, i), *const best = run.x(g - 1, context.best);
    Mutant<real> v{1, drawn(0), nullptr, nullptr, drawn(1), drawn(2), F, F};
    switch (strategy) {
      case RAND_TO_BEST_2: v = {3, x, best, x, drawn(0), drawn(1), F, F, drawn(2), drawn(3)}; break;
      case RAND_2: v.differences = 2, v.a = drawn(3), v.b = drawn(4); break;
      case CURRENT_TO_RAND_1: v = {2, x, drawn(0), x, drawn(1), drawn(2), unit<real>(control.w[2]), F}; break;
      default: break;
    }
    cross_binomial(team, run, g, i, v, x, out, draws.words, CR, below(control.w[3], run.dim));
  }

  template <class Team, class R>
  SKDE_FN static void select(Team& team, const R& run, i64 g, int i, const typename R::real* trial,
                             typename R::real f_trial, const Parent<typename R::real>& parent) {
    using real = typename R::real;
    const bool better = select_better(team, run, g, i, parent, trial, f_trial);
    if (team.lane == 0 && !better) {
      real& code = run.array(Arrays::code, g)[i];
      code = real(-1 - int(code * real(0.5)));
    }
  }

  // The number of the generation among those with selection, and the rows of the codes that enter and leave the tally.
  template <class Team> struct Prefetch {
    i64 lesson = 0;
    int entering = 0, leaving = 0;

    template <class R> SKDE_FN Prefetch(Team&, const R& run, i64 g, int, bool adapts) {
      if (!adapts || g == 0) return;
      const int rows = run.settings.learning_period + 1;
      lesson = i64(memory(run)[GENERATIONS]) + 1;
      entering = int(lesson % rows);
      leaving = entering + 1 < rows ? entering + 1 : 0;
    }
  };

  template <class R> SKDE_FN static int stages(const R&, i64) { return 1; }

  template <class Team, class R>
  SKDE_FN static void adapt(Team& team, const R& run, i64 g, const Prefetch<Team>& prefetch, bool learns) {
    if (!learns) return;
    const int period = run.settings.learning_period;
    double* const now = memory(run);
    if (g == 0) {
      team.each(RING, [&](int k) { now[k] = k < MEDIAN ? 1.0 / STRATEGIES : k < TALLY ? 0.5 : 0.0; });
      if (!divided(run)) clear_ring(team, run, 0, run.pop);
      return;
    }
    if (!divided(run)) count(team, run, g, prefetch, 0, run.pop);
    team.sync();
    // Every lane has read the number of the generation before this one (Prefetch).
    if (team.lane == 0) now[GENERATIONS] = double(prefetch.lesson);
    if (prefetch.lesson >= period) learn(team, now);
  }

  // In a large population on a GPU all teams make the tally, by pieces, in stage 0.
  static constexpr bool DIVIDES = MANY_TEAMS;
  static constexpr int LARGE_STAGES = 2;
  template <class R, class Share> SKDE_FN static int large_stages(const R&, const Share&, i64) { return LARGE_STAGES; }
  template <class Team, class R, class Share>
  SKDE_OUTLINE static void end_large_generation(Team& team, const R& run, const Share& share, i64 g, int stage) {
    const Prefetch<Team> prefetch(team, run, g, run.pop, true);
    if (stage == 1) {
      if (share.adapts(run.pop)) adapt(team, run, g, prefetch, true);
      return;
    }
    share.each_item((run.pop + PIECE - 1) / PIECE, [&](int piece) {
      const int begin = piece * PIECE, n = min_of(run.pop - begin, PIECE);
      if (g == 0)
        clear_ring(team, run, begin, n);
      else
        count(team, run, g, prefetch, begin, n);
    });
  }

 private:
  static constexpr int PIECE = 128;  // trials that a team counts at a time
  template <class R> SKDE_FN static bool divided(const R& run) { return DIVIDES && is_large(run.pop); }

  template <class Team, class R> SKDE_FN static void clear_ring(Team& team, const R& run, int begin, int n) {
    double* row = memory(run) + RING + begin;
    for (int k = 0; k <= run.settings.learning_period; ++k, row += run.pop)
      team.each(n, [&](int i) { row[i] = NO_TRIAL; });
  }

  // Adds n trials, from number `begin` on, to the tally, and subtracts the same individuals' trials of the generation
  // that leaves it.
  template <class Team, class R>
  SKDE_FN static void count(Team& team, const R& run, i64 g, const Prefetch<Team>& prefetch, int begin, int n) {
    double *const now = memory(run), *const ring = now + RING + begin;
    const auto* const code = run.array(Arrays::code, g) + begin;
    double* const in = ring + product(prefetch.entering, run.pop);
    double* const out = ring + product(prefetch.leaving, run.pop);
    struct Codes {
      double entering, leaving;
    };
    team.tally(
        n, now, [&](int k) { return Codes{double(code[k]), out[k]}; },
        [](const Codes& codes, auto add) {
          add(outcome(codes.entering), 1.0), add(bin_of(codes.entering), 1.0);
          add(outcome(codes.leaving), -1.0), add(bin_of(codes.leaving), -1.0);
        });
    team.each(n, [&](int k) { in[k] = double(code[k]); });
  }

  template <int m> SKDE_FN static Several<double, m> several(const double* from) {
    Several<double, m> read;
    SKDE_UNROLL
    for (int k = 0; k < m; ++k) read.of[k] = from[k];
    return read;
  }

  // Computes chances from the success rates of the last generations, and medians of CR from the tally.
  template <class Team> SKDE_FN static void learn(Team& team, double* now) {
    const auto medians = team.template middles<CROSSED, BINS>([&](int s, int k) { return now[TALLY + s * BINS + k]; });
    const auto rates = team.template gather<STRATEGIES>([&](int s) {
      const double won = now[WON + s], tried = won + now[LOST + s];
      return won / max_of(tried, 1.0) + 0.01;
    });
    double sum = 0;
    SKDE_UNROLL
    for (int s = 0; s < STRATEGIES; ++s) sum += rates.of[s];
    team.each(STRATEGIES, [&](int s) { now[CHANCE + s] = rates.at(s) / sum; });
    team.each(CROSSED, [&](int s) {
      if (medians.at(s) >= 0) now[MEDIAN + s] = 0.5 * medians.at(s) / STEPS;
    });
  }

  // The places where a trial is counted, by its code: of its outcome, and of the CR with which it succeeded; -1: none.
  SKDE_FN static int outcome(double code) {
    if (code == NO_TRIAL) return -1;
    return code >= 0 ? WON + int(code * 0.5) : LOST + int(-1 - code);
  }
  SKDE_FN static int bin_of(double code) {
    const int strategy = int(code * 0.5);
    if (code < 0 || strategy >= CROSSED) return -1;
    return TALLY + strategy * BINS + int((code - 2 * strategy) * STEPS);
  }

  // Stochastic universal selection: equally spaced pointers with a random start in every generation.
  SKDE_FN static int selected(const Several<double, STRATEGIES>& chance, double pointer) {
    pointer -= floor(pointer);
    int strategy = 0;
    double sum = 0;
    SKDE_UNROLL
    for (int s = 0; s < STRATEGIES - 1; ++s) sum += chance.of[s], strategy += pointer >= sum;
    return strategy;
  }

  // CR: from the normal distribution around the median, drawn again while it is outside [0, 1].
  template <class R>
  SKDE_FN static double crossover_rate(const R& run, i64 g, int i, double median,
                                       const IndividualDraws<Layout>& draws) {
    const auto around = [&](double normal) { return floor((median + 0.1 * normal) * STEPS + 0.5) / STEPS; };
    const auto outside = [](double CR) { return (CR < 0) | (CR > 1); };
    return draws.first_accepted(Layout::NORMAL_CR, run.seed, g, i, around, outside);
  }
};

}  // namespace SKDE_NAMESPACE
