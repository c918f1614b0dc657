// Differential evolution: one generation of one individual. What controls F and CR (fixed and dithered here, self-adapted
// in jde.cuh) is the template parameter; mutation, crossover, repair and selection are these for every member of the family.
//
//   mutation   v = base + G (a - b) + F (c - d)        the first difference only where the strategy has one
//   crossover  u_j = v_j where the crossover takes it, else x_ij
//   selection  x_i' = u when f(u) <= f(x_i), else x_i
#pragma once
#include "bounds.cuh"
#include "select.cuh"
#include "task.cuh"

namespace SKDE_NAMESPACE {

// The registry's strategy names map to these numbers by position.
enum class Mutation : int {
  RAND_1,
  RAND_2,
  BEST_1,
  BEST_2,
  CURRENT_TO_BEST_1,
  CURRENT_TO_RAND_1,
  RAND_TO_BEST_1,
  CURRENT_TO_PBEST_1
};
enum class Crossover : int { BIN, EXP, NONE };

// Where all runs of a launch have the same strategy, the compiler may be told it (-DSKDE_MUTATION=...), and drops the rest.
#ifndef SKDE_MUTATION
#define SKDE_MUTATION int(p[Parameters::mutation])
#endif
#ifndef SKDE_CROSSOVER
#define SKDE_CROSSOVER int(p[Parameters::crossover])
#endif
#ifndef SKDE_REPAIR
#define SKDE_REPAIR int(p[Parameters::repair])
#endif

// What a strategy needs of the population.
SKDE_FN int indices_of(Mutation m) {
  switch (m) {
    case Mutation::RAND_2: return 5;
    case Mutation::BEST_2: return 4;
    case Mutation::RAND_1:
    case Mutation::CURRENT_TO_RAND_1:
    case Mutation::RAND_TO_BEST_1: return 3;
    default: return 2;
  }
}
SKDE_FN bool uses_best(Mutation m) {
  return m == Mutation::BEST_1 || m == Mutation::BEST_2 || m == Mutation::CURRENT_TO_BEST_1 ||
         m == Mutation::RAND_TO_BEST_1;
}

// The scale factor and crossover rate of one trial.
struct Control {
  double F, CR;
};

// F uniform in [F_low, F_high] (equal: fixed), CR fixed.
struct FixedControl {
  SKDE_PARAMETERS(pop_size, mutation, crossover, repair, p_best, F_low, F_high, CR);
  SKDE_NO_ARRAYS;
  const double F_low, F_high, CR;

  SKDE_FN explicit FixedControl(const double* p)
      : F_low(p[Parameters::F_low]), F_high(p[Parameters::F_high]), CR(p[Parameters::CR]) {}

  // `u` is uniform and belongs to this trial.
  template <class R> SKDE_FN Control trial(const R&, i64, int, double u) const {
    return {F_low + (F_high - F_low) * u, CR};
  }
  template <class Team, class R> SKDE_FN void keep(Team&, const R&, i64, int, bool) const {}
};

template <class ControlRule> struct Differential {
  using Parameters = typename ControlRule::Parameters;
  using Arrays = typename ControlRule::Arrays;

  struct Settings {
    const Mutation mutation;
    const Crossover crossover;
    const Repair repair;
    const double p_best;
    const ControlRule control;

    SKDE_FN explicit Settings(const double* p)
        : mutation(Mutation(SKDE_MUTATION)),
          crossover(Crossover(SKDE_CROSSOVER)),
          repair(Repair(SKDE_REPAIR)),
          p_best(p[Parameters::p_best]),
          control(p) {}
  };

  // What all individuals of a generation share: found once a generation by every team.
  struct Context {
    int best;
  };

  template <class Team, class R> SKDE_FN static Context context(Team& team, const R& run, i64 g) {
    return {uses_best(run.settings.mutation) ? best_of(team, run.f(g - 1), run.pop) : 0};
  }

  // A trial's random numbers, which depend on nothing but its address: they can be made before the generation begins.
  template <class Team> struct Draws {
    Words4 control;
    DistinctIndices indices;
    ComponentWords<Team, Stream> words;  // of binomial crossover, one a component

    template <class R>
    SKDE_FN Draws(Team& team, const R& run, i64 g, int i)
        : control(run.stream(g, i, CONTROL).block(0)),
          indices(run.stream(g, i, INDICES), run.pop, i, indices_of(run.settings.mutation)),
          words(team, run.stream(g, i, CROSSOVER), run.settings.crossover == Crossover::BIN ? run.dim : 0) {}
  };

  template <class Team, class R>
  SKDE_FN static void propose(Team& team, const R& run, i64 g, int i, const Draws<Team>& draws, const Context& context,
                              typename R::real* out) {
    using real = typename R::real;
    const Control control = run.settings.control.trial(run, g, i, unit<double>(draws.control.w[0]));
    const Terms<real> terms(run, g, i, draws.indices, context, real(control.F), unit<real>(draws.control.w[1]));
    const real* const x = run.x(g - 1, i);
    const int one = below(draws.control.w[2], run.dim);  // the component that is crossed whatever the draws say

    switch (run.settings.crossover) {
      case Crossover::BIN: {
        // word / 2 < CR 2^31, in integers; the comparison is exact and takes CR = 0 and CR = 1 at their word.
        const int threshold = int(control.CR * 0x1p31 + 0.5 > 0x1p31 - 1 ? 0x1p31 - 1 : control.CR * 0x1p31 + 0.5);
        const bool all = control.CR >= 1;
        cross(team, run, g, i, terms, x, out,
              [&](int j, int k) { return all | (int(draws.words.at(j, k) >> 1) < threshold) | (j == one); });
        break;
      }
      case Crossover::EXP: {
        const int length = run_length(team, run.stream(g, i, CROSSOVER), control.CR, run.dim);
        cross(team, run, g, i, terms, x, out, [&](int j, int) {
          const int behind = j - one;
          return (behind < 0 ? behind + run.dim : behind) < length;
        });
        break;
      }
      default: cross(team, run, g, i, terms, x, out, [](int, int) { return true; });
    }
  }

  // Selection. `trial` may already stand at its place in the new population.
  template <class Team, class R>
  SKDE_FN static void accept(Team& team, const R& run, i64 g, int i, const typename R::real* trial,
                             typename R::real f_trial, typename R::real f_parent) {
    using real = typename R::real;
    const bool better = replaces(f_trial, f_parent);
    const real* const kept = better ? trial : run.x(g - 1, i);
    real* const x = run.x(g, i);
    if (kept != x) team.each(run.dim, [&](int j) { x[j] = kept[j]; });
    if (team.lane == 0) run.f(g)[i] = better ? f_trial : f_parent;
    run.settings.control.keep(team, run, g, i, better);
  }

 private:
  // v_j = base_j + G (a_j - b_j) + F (c_j - d_j)
  template <class real> struct Terms {
    const real *base, *a, *b, *c, *d;
    real G, F;

    template <class R>
    SKDE_FN Terms(const R& run, i64 g, int i, const DistinctIndices& r, const Context& context, real F, real K)
        : G(F), F(F) {
      const Mutation mutation = run.settings.mutation;
      const auto at = [&](int k) { return run.x(g - 1, k); };
      const auto drawn = [&](int m) { return at(r.index[m]); };
      const real* const x = at(i);
      const real* const best = at(context.best);
      base = x, a = b = nullptr;
      int next = 0;  // the first index of the last difference
      switch (mutation) {
        case Mutation::RAND_1: base = drawn(0), next = 1; break;
        case Mutation::RAND_2: base = drawn(0), a = drawn(3), b = drawn(4), next = 1; break;
        case Mutation::BEST_1: base = best; break;
        case Mutation::BEST_2: base = best, a = drawn(2), b = drawn(3); break;
        case Mutation::CURRENT_TO_BEST_1: a = best, b = x; break;
        case Mutation::CURRENT_TO_RAND_1: a = drawn(0), b = x, next = 1, G = K; break;
        case Mutation::RAND_TO_BEST_1: base = drawn(0), a = best, b = base, next = 1; break;
        case Mutation::CURRENT_TO_PBEST_1: a = at(one_of_the_best(run, run.stream(g, i, INDICES))), b = x; break;
      }
      c = at(pick(r.index, next));
      d = at(pick(r.index, next + 1));
    }

    template <class R> SKDE_FN static int one_of_the_best(const R& run, const Stream& stream) {
      const int many = int(run.settings.p_best * run.pop);
      return int(run.order()[below(stream.block(1).w[1], max_of(many, 1))]);
    }
    // index[k] for k = 0, 1, 2 without indexing registers at run time
    SKDE_FN static int pick(const int* index, int k) { return k == 0 ? index[0] : k == 1 ? index[1] : index[2]; }
  };

  // Mutation, crossover and, where a component left the box, repair. Repair is rare, so it has a pass of its own.
  template <class Team, class R, class real, class Takes>
  SKDE_FN static void cross(Team& team, const R& run, i64 g, int i, const Terms<real>& t, const real* x, real* out,
                            Takes takes) {
    const real *const lower = run.lower, *const upper = run.upper;
    const real G = t.G, F = t.F;
    const auto left = [&](int j, real v) { return !((v >= lower[j]) & (v <= upper[j])); };
    const real *const base = t.base, *const a = t.a, *const b = t.b, *const c = t.c, *const d = t.d;
    // Everything is loaded before the draws are compared: loads take long, and then need not wait for them.
    const auto crossed_1 = [&](int j, int k) {
      const real v = base[j] + F * (c[j] - d[j]), old = x[j];
      return takes(j, k) ? v : old;
    };
    const auto crossed_2 = [&](int j, int k) {
      const real v = base[j] + G * (a[j] - b[j]) + F * (c[j] - d[j]), old = x[j];
      return takes(j, k) ? v : old;
    };
    const bool outside = a ? team.fill(run.dim, out, crossed_2, left) : team.fill(run.dim, out, crossed_1, left);
    if (!SKDE_RARELY(outside)) return;
    const Repair rule = run.settings.repair;
    const Stream stream = run.stream(g, i, REPAIR);
    for (int j = team.lane; j < run.dim; j += team.size) {
      if (out[j] >= lower[j] && out[j] <= upper[j]) continue;
      const u32 word = rule == Repair::RANDOM ? stream.component(j) : 0u;
      out[j] = repair(rule, out[j], x[j], lower[j], upper[j], word);
    }
  }

  // Exponential crossover: 1 + the number of draws below CR before the first that is not, at most dim.
  template <class Team> SKDE_FN static int run_length(Team& team, const Stream& stream, double CR, int dim) {
    const int failed = team.first((dim + 3) / 4, [&](int block) {
      const Words4 words = stream.block(u32(block));
      for (int k = 0; k < 4; ++k)
        if (!(unit<double>(words.w[k]) < CR)) return 4 * block + k;
      return -1;
    });
    return failed < 0 ? dim : min_of(1 + failed, dim);
  }
};

using De = Differential<FixedControl>;

}  // namespace SKDE_NAMESPACE
