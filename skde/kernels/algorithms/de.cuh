// Differential evolution (Storn, Price 1997). The rule that controls F and CR is the template parameter: fixed or
// dithered here, self-adapted in jde.cuh. The operators are in variation.cuh.
#pragma once
#include "core/best.cuh"
#include "core/variation.cuh"
#include "random/draws.cuh"

namespace SKDE_NAMESPACE {

// Python's names of these are rand/1, ..., shifted-rand/1.
SKDE_ENUM_CLASS(Mutation, int, RAND_1, RAND_2, BEST_1, BEST_2, CURRENT_TO_BEST_1, CURRENT_TO_RAND_1, RAND_TO_BEST_1,
                CURRENT_TO_PBEST_1, SHIFTED_RAND_1);
SKDE_ENUM_CLASS(Crossover, int, BIN, EXP, NONE);

// A launch of runs with the same strategy may have it as a constant (-DSKDE_MUTATION=...). Then the others are not
// compiled.
#ifndef SKDE_MUTATION
#define SKDE_MUTATION int(p[Parameters::mutation])
#endif
#ifndef SKDE_CROSSOVER
#define SKDE_CROSSOVER int(p[Parameters::crossover])
#endif

// The number of distinct indices that a strategy draws.
SKDE_FN int indices_of(Mutation m) {
  switch (m) {
    case Mutation::RAND_2: return 5;
    case Mutation::BEST_2: return 4;
    case Mutation::RAND_1:
    case Mutation::CURRENT_TO_RAND_1:
    case Mutation::RAND_TO_BEST_1:
    case Mutation::SHIFTED_RAND_1: return 3;
    default: return 2;
  }
}
SKDE_FN bool uses_best(Mutation m) {
  return m == Mutation::BEST_1 || m == Mutation::BEST_2 || m == Mutation::CURRENT_TO_BEST_1 ||
         m == Mutation::RAND_TO_BEST_1;
}

// Whether individuals are drawn by shifts, and the last component is always crossed, as in cujDE's program. As a rare
// case, after the draws of the others, it costs these nothing.
SKDE_FN bool is_shifted(Mutation m) { return SKDE_RARELY(m == Mutation::SHIFTED_RAND_1); }

// Replaces the draws of such a trial: its indices, and the word that draws the component that is always crossed.
SKDE_FN void shift_draws(const Words4& words, int n, int target, DistinctIndices& indices, Words4& control) {
  indices.shift(words, n, target);
  control.w[2] = ~0u;
}

// The scale factor and crossover rate of one trial.
struct Control {
  double F, CR;
};

// F uniform in [F_low, F_high] (equal: fixed), CR fixed.
struct FixedControl {
  SKDE_PARAMETERS(pop_size, mutation, crossover, repair, p_best, opposition, F_low, F_high, CR);
  using Arrays = NoNames;
  static constexpr int INHERITED = 0;
  const double F_low, F_high, CR;

  SKDE_FN explicit FixedControl(const double* p)
      : F_low(p[Parameters::F_low]), F_high(p[Parameters::F_high]), CR(p[Parameters::CR]) {}

  // F and CR of a trial; u is a uniform number of it.
  template <class R> SKDE_FN Control trial(const R&, i64, int, double u) const {
    return {F_low + (F_high - F_low) * u, CR};
  }
  // The state of an individual of generation 0, and of generation g after selection.
  template <class Team, class R> SKDE_FN void initialize(Team&, const R&, int) const {}
  template <class Team, class R> SKDE_FN void select(Team&, const R&, i64, int, bool) const {}
};

template <class ControlRule> struct Differential : BaseAlgorithm {
  using Parameters = typename ControlRule::Parameters;
  using Arrays = typename ControlRule::Arrays;
  SKDE_SCRATCH(unchanged);
  static constexpr int INHERITED = ControlRule::INHERITED;

  struct Settings {
    const Mutation mutation;
    const Crossover crossover;
    const Repair repair;
    const double p_best, opposition;
    const ControlRule control;

    SKDE_FN explicit Settings(const double* p)
        : mutation(Mutation(SKDE_MUTATION)),
          crossover(Crossover(SKDE_CROSSOVER)),
          repair(Repair(SKDE_REPAIR)),
          p_best(p[Parameters::p_best]),
          opposition(p[Parameters::opposition]),
          control(p) {}
  };

  struct Context {
    int best;
  };

  template <class Team, class R> SKDE_FN static Context context(Team& team, const R& run, i64 g) {
    return {needs_best(run) ? best_individual(team, run, g - 1, run.pop) : 0};
  }
  static constexpr bool SELECTS_AT_ONCE = true;
  template <class R> SKDE_FN static bool needs_best(const R& run) { return uses_best(run.settings.mutation); }

  struct Layout : TrialLayout {
    static constexpr int BLOCKS = 2;
  };

  template <class Team> struct Draws {
    IndividualDraws<Layout> individual;
    DistinctIndices indices;
    ComponentWords<Team, Stream> words;  // of binomial crossover, one a component

    template <class R>
    SKDE_FN Draws(Team& team, const R& run, i64 g, int i)
        : individual(team, run.seed, g, i),
          indices(individual.block[Layout::INDEX], fifth(run, g, i), run.pop, i, indices_of(run.settings.mutation)),
          words(team, run.stream(g, i, CROSSOVER), run.settings.crossover == Crossover::BIN ? run.dim : 0) {
      if (is_shifted(run.settings.mutation))
        shift_draws(individual.block[Layout::INDEX], run.pop, i, indices, individual.block[Layout::CONTROLS]);
      individual.template fetch_early<7>(team, run, g, [&](int k, auto words, auto) {
        const int many = indices_of(run.settings.mutation);
        DistinctIndices rows(words(Layout::INDEX), 0, run.pop, k, min_of(many, 4));
        if (is_shifted(run.settings.mutation)) rows.shift(words(Layout::INDEX), run.pop, k);
        for (int m = 0; m < many && m < 4; ++m) team.fetch(run.dim, run.x(g - 1, rows.index[m]));
      });
    }

    SKDE_FN u32 control(int k) const { return individual.block[Layout::CONTROLS].w[k]; }
    template <class R> SKDE_FN static u32 fifth(const R& run, i64 g, int i) {
      return indices_of(run.settings.mutation) > 4 ? run.stream(g, i, INDICES).block(1).w[0] : 0u;
    }
  };

  // TrialDraws are Draws, or PreparedDraws of operators.cuh.
  template <class Team, class R, class TrialDraws>
  SKDE_FN static void propose(Team& team, const R& run, i64 g, int i, const TrialDraws& draws, const Context& context,
                              typename R::real* out) {
    const Control control = control_of(run, g, i, draws);
    const auto v = mutant(run, g, i, draws, context, control);
    crossover(team, run, g, i, draws, control, v, out);
  }

  template <class R, class TrialDraws>
  SKDE_FN static Control control_of(const R& run, i64 g, int i, const TrialDraws& draws) {
    return run.settings.control.trial(run, g, i, unit<double>(draws.control(0)));
  }

  template <class R, class TrialDraws>
  SKDE_FN static Mutant<typename R::real> mutant(const R& run, i64 g, int i, const TrialDraws& draws,
                                                 const Context& context, const Control& control) {
    using real = typename R::real;
    return mutant(run, g, i, draws.indices, context, real(control.F), unit<real>(draws.control(1)));
  }

  // Crossover of mutant v and individual i.
  template <class Team, class R, class TrialDraws, class real>
  SKDE_FN static void crossover(Team& team, const R& run, i64 g, int i, const TrialDraws& draws, const Control& control,
                                const Mutant<real>& v, real* out) {
    const real* const x = run.x(g - 1, i);
    const int j_rand = below(draws.control(2), run.dim);

    switch (run.settings.crossover) {
      case Crossover::BIN: cross_binomial(team, run, g, i, v, x, out, draws.words, control.CR, j_rand); break;
      case Crossover::EXP: {
        const int length = exponential_length(team, run.stream(g, i, CROSSOVER), control.CR, run.dim);
        cross(team, run, g, i, v, x, out, [&](int j, int) {
          const int after = j - j_rand;
          return (after < 0 ? after + run.dim : after) < length;
        });
        break;
      }
      default: cross(team, run, g, i, v, x, out, [](int, int) { return true; });
    }
  }

  template <class Team, class R>
  SKDE_FN static void initialize(Team& team, const R& run, int i, const typename R::real*) {
    run.settings.control.initialize(team, run, i);
  }

  template <class Team, class R>
  SKDE_FN static void select(Team& team, const R& run, i64 g, int i, const typename R::real* trial,
                             typename R::real f_trial, const Parent<typename R::real>& parent) {
    const bool better = select_better(team, run, g, i, parent, trial, f_trial);
    run.settings.control.select(team, run, g, i, better);
  }

  template <class R> SKDE_FN static int stages(const R& run, i64) { return run.task.ranked && !is_large(run.pop); }

 private:
  template <class R>
  SKDE_FN static Mutant<typename R::real> mutant(const R& run, i64 g, int i, const DistinctIndices& r,
                                                 const Context& context, typename R::real F, typename R::real K) {
    using real = typename R::real;
    const auto individual = [&](int k) -> const real* { return run.x(g - 1, k); };
    const auto drawn = [&](int m) { return individual(r.index[m]); };
    const real* const x = individual(i);
    const real* const best = individual(context.best);
    Mutant<real> v{1, x, nullptr, nullptr, nullptr, nullptr, F, F};
    int next = 0;  // the first index of the last difference
    const auto add_difference = [&](const real* a, const real* b) { v.differences = 2, v.a = a, v.b = b; };
    switch (run.settings.mutation) {
      case Mutation::RAND_1:
      case Mutation::SHIFTED_RAND_1: v.base = drawn(0), next = 1; break;
      case Mutation::RAND_2: v.base = drawn(0), add_difference(drawn(3), drawn(4)), next = 1; break;
      case Mutation::BEST_1: v.base = best; break;
      case Mutation::BEST_2: v.base = best, add_difference(drawn(2), drawn(3)); break;
      case Mutation::CURRENT_TO_BEST_1: add_difference(best, x); break;
      case Mutation::CURRENT_TO_RAND_1: add_difference(drawn(0), x), next = 1, v.G = K; break;
      case Mutation::RAND_TO_BEST_1: v.base = drawn(0), add_difference(best, v.base), next = 1; break;
      case Mutation::CURRENT_TO_PBEST_1:
        add_difference(individual(p_best(run, g, run.stream(g, i, INDICES))), x);
        break;
    }
    v.c = individual(pick(r.index, next));
    v.d = individual(pick(r.index, next + 1));
    return v;
  }

  template <class R> SKDE_FN static int p_best(const R& run, i64 g, const Stream& stream) {
    const int many = int(run.settings.p_best * run.pop);
    return int(run.order(g - 1)[below(stream.block(1).w[1], max_of(many, 1))]);
  }
  // index[k] for k = 0, 1, 2, without an index at run time, so that the indices stay in registers.
  SKDE_FN static int pick(const int* index, int k) { return k == 0 ? index[0] : k == 1 ? index[1] : index[2]; }
};

using De = Differential<FixedControl>;

}  // namespace SKDE_NAMESPACE
