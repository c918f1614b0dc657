// SOUPDE, shuffle or update parallel differential evolution (Weber, Neri, Tirronen: Shuffle or update parallel
// differential evolution for large-scale optimization; Soft Computing 15, 2011): subpopulations evolve by rand/1/exp,
// each with a separate F. Before a generation,
//
//   shuffle   with probability p_s, all individuals are assigned to the subpopulations at random
//   update    with probability p_u, every subpopulation draws a new F
#pragma once
#include "core/permutation.cuh"
#include "core/run.cuh"
#include "core/variation.cuh"
#include "random/draws.cuh"

namespace SKDE_NAMESPACE {

struct Soupde : BaseAlgorithm {
  SKDE_PARAMETERS(pop_size, repair, subpopulations, CR, F_low, F_high, shuffle, update);
  // The F of an individual's subpopulation.
  SKDE_ARRAYS(F);

  struct Settings {
    const Repair repair;
    const int subpopulations;
    const double CR, F_low, F_high, shuffle, update;

    SKDE_FN explicit Settings(const double* p)
        : repair(Repair(SKDE_REPAIR)),
          subpopulations(int(p[Parameters::subpopulations])),
          CR(p[Parameters::CR]),
          F_low(p[Parameters::F_low]),
          F_high(p[Parameters::F_high]),
          shuffle(p[Parameters::shuffle]),
          update(p[Parameters::update]) {}
  };

  // The individuals of a subpopulation are in consecutive rows. In the last generation they may have been in other
  // rows.
  template <class R> SKDE_FN static int parent(const R& run, i64 g, int i) {
    return shuffles(run, g) ? Permutation(run.stream(g, 0, TOPOLOGY), run.pop).of(i) : i;
  }

  struct Context {
    bool shuffled, updated;
    Permutation permutation;
  };
  template <class Team, class R> SKDE_FN static Context context(Team&, const R& run, i64 g) {
    return {shuffles(run, g), updates(run, g), Permutation(run.stream(g, 0, TOPOLOGY), run.pop)};
  }

  struct Layout {
    enum : int { CONTROLS, INDEX, BLOCKS };
    static constexpr int NUMBERS = 0, RETRIES = 0;
    SKDE_FN static Purpose purpose(int block) { return block == CONTROLS ? CONTROL : INDICES; }
    SKDE_FN static u32 slot(int) { return 0; }
  };

  template <class Team> struct Draws {
    IndividualDraws<Layout> individual;
    template <class R> SKDE_FN Draws(Team& team, const R& run, i64 g, int i) : individual(team, run.seed, g, i) {}
  };

  template <class Team, class R>
  SKDE_FN static void initialize(Team& team, const R& run, int i, const typename R::real*) {
    if (team.lane == 0) run.array(Arrays::F, 0)[i] = drawn_F(run, 0, i);
  }

  template <class Team, class R>
  SKDE_FN static void propose(Team& team, const R& run, i64 g, int i, const Draws<Team>& draws, const Context& context,
                              typename R::real* out) {
    using real = typename R::real;
    const real F = context.updated ? drawn_F(run, g, i) : run.array(Arrays::F, g - 1)[i];
    if (team.lane == 0) run.array(Arrays::F, g)[i] = F;

    const Part part = part_of(run, i);
    const DistinctIndices indices(draws.individual.block[Layout::INDEX], 0, part.size, i - part.first, 3);
    const auto row = [&](int k) -> const real* {
      return run.x(g - 1, context.shuffled ? context.permutation.of(k) : k);
    };
    const auto drawn = [&](int m) { return row(part.first + indices.index[m]); };
    const Mutant<real> v{1, drawn(0), nullptr, nullptr, drawn(1), drawn(2), F, F};

    const int j_rand = below(draws.individual.block[Layout::CONTROLS].w[2], run.dim);
    const int length = exponential_length(team, run.stream(g, i, CROSSOVER), run.settings.CR, run.dim);
    cross(team, run, g, i, v, row(i), out, [&](int j, int) {
      const int after = j - j_rand;
      return (after < 0 ? after + run.dim : after) < length;
    });
  }

  template <class Team, class R>
  SKDE_FN static void select(Team& team, const R& run, i64 g, int i, const typename R::real* trial,
                             typename R::real f_trial, const Parent<typename R::real>& parent) {
    select_better(team, run, g, i, parent, trial, f_trial);
  }

  template <class R> SKDE_FN static int stages(const R&, i64) { return 0; }

 private:
  // The subpopulation of individual i. Sizes differ by one at most.
  struct Part {
    int first, size;
  };
  template <class R> SKDE_FN static Part part_of(const R& run, int i) {
    const i64 pop = run.pop, many = run.settings.subpopulations, part = ((i + 1) * many - 1) / pop;
    const i64 first = part * pop / many;
    return {int(first), int((part + 1) * pop / many - first)};
  }
  template <class R> SKDE_FN static bool shuffles(const R& run, i64 g) {
    return unit<double>(run.stream(g, 0, STRATEGY).block(0).w[0]) < run.settings.shuffle;
  }
  template <class R> SKDE_FN static bool updates(const R& run, i64 g) {
    return unit<double>(run.stream(g, 0, STRATEGY).block(0).w[1]) < run.settings.update;
  }
  // A new F of individual i's subpopulation: its first individual has the draw.
  template <class R> SKDE_FN static typename R::real drawn_F(const R& run, i64 g, int i) {
    const double u = unit<double>(run.stream(g, part_of(run, i).first, CONTROL).block(1).w[0]);
    return typename R::real(run.settings.F_low + u * (run.settings.F_high - run.settings.F_low));
  }
};

}  // namespace SKDE_NAMESPACE
