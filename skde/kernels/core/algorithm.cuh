// The interface of an algorithm: a struct that derives from BaseAlgorithm, and has
//
//   SKDE_PARAMETERS(pop_size, ...)     its kernel parameters, by the names that the host uses
//   SKDE_ARRAYS, SKDE_VECTORS          its state for each individual: numbers, and vectors of dim components
//   SKDE_SCRATCH                       numbers for each individual that are written and read within one generation
//   Settings                           the parameters of one run as typed values
//   Context, context()                 the numbers that all individuals of a generation share
//   Draws                              the random numbers of a trial, which depend only on (seed, generation, individual)
//   propose()                          makes the trial of individual i of generation g
//   select()                           compares the trial with its parent, and writes individual i of generation g
//   end_generation(), adapt()          the work between two generations: of an individual, and of the run
//
// A member of Settings with one of these names adds a component of the core:
//
//   reduction      PopulationReduction: the population shrinks
//   opposition     double: generations of opposites (opposition.cuh)
//   reference_set  ReferenceSet: iterations of several generations, of which only a reference set survives
//
// A vector with the name `trials` is the place where trials are made.
#pragma once
#include "core/order.cuh"
#include "core/task.cuh"

namespace SKDE_NAMESPACE {

// A list of names that is written once; the host reads the names.
#define SKDE_NAME_LIST(Name, ...)                      \
  struct Name {                                        \
    enum : int { __VA_ARGS__, COUNT };                 \
    static constexpr const char* names = #__VA_ARGS__; \
  }
#define SKDE_PARAMETERS(...) SKDE_NAME_LIST(Parameters, __VA_ARGS__)
#define SKDE_ARRAYS(...) SKDE_NAME_LIST(Arrays, __VA_ARGS__)
#define SKDE_VECTORS(...) SKDE_NAME_LIST(Vectors, __VA_ARGS__)
#define SKDE_SCRATCH(...) SKDE_NAME_LIST(Scratch, __VA_ARGS__)

struct NoNames {
  enum : int { COUNT };
  static constexpr const char* names = "";
};

// Linear reduction of the population from `first` to `last` individuals with the evaluations done, or with the generations
// where no number of evaluations is given (L-SHADE's equation 10). In doubles, which round alike everywhere.
struct PopulationReduction {
  double first, last, max_evals, max_iter;

  SKDE_FN double progress(i64 evals, i64 g) const {
    const bool by_evals = max_evals > 0, limited = by_evals | (max_iter > 0);
    // The operands are chosen before the division: a GPU would divide twice, and takes long over a division by zero.
    const double done = limited ? double(by_evals ? evals : g) : 1.0;
    const double all = by_evals ? max_evals : limited ? max_iter : 1.0;
    const double share = min_of(done / all, 1.0);
    return limited ? share : 0.0;
  }
  SKDE_FN int population(double progress) const { return int(first - (first - last) * progress + 0.5); }
};

// A reference set of `size` individuals, in the last rows of a population, that survives an iteration of `generations`
// generations. Generation 0 is iteration 0.
struct ReferenceSet {
  int size;
  i64 generations;
};

// Whether an algorithm's settings have a component.
template <class...> using Void = void;
template <class S, class = void> constexpr bool has_reduction = false;
template <class S> constexpr bool has_reduction<S, Void<decltype(&S::reduction)>> = true;
template <class S, class = void> constexpr bool has_opposition = false;
template <class S> constexpr bool has_opposition<S, Void<decltype(&S::opposition)>> = true;
template <class S, class = void> constexpr bool has_reference_set = false;
template <class S> constexpr bool has_reference_set<S, Void<decltype(&S::reference_set)>> = true;
template <class V, class = void> constexpr bool has_trials = false;
template <class V> constexpr bool has_trials<V, Void<decltype(V::trials)>> = true;

// The parent of a trial: its index in the last generation, and its value.
template <class real> struct Parent {
  int index;
  real f;
};

// The defaults. R is Run<Algorithm, real> of run.cuh.
struct BaseAlgorithm {
  using Arrays = NoNames;
  using Vectors = NoNames;
  using Scratch = NoNames;
  // How many of the arrays, from the first on, an individual passes on to its successor where another one takes its row.
  static constexpr int INHERITED = 0;

  struct Context {};
  template <class Team, class R> SKDE_FN static Context context(Team&, const R&, i64) { return {}; }

  // The individual of generation g - 1 that the trial of individual i of generation g competes with.
  template <class R> SKDE_FN static int parent(const R&, i64, int i) { return i; }

  // Asks for the rows that the trial of individual i of generation g reads, where they are known before its turn.
  template <class Team, class R> SKDE_FN static void fetch(const Team&, const R&, i64, int) {}

  // The state of individual i of generation 0, in addition to x and f.
  template <class Team, class R> SKDE_FN static void initialize(Team&, const R&, int, const typename R::real*) {}

  // The number of stages of end_generation() after generation g: all teams wait for each other after each of them.
  template <class R> SKDE_FN static int stages(const R& run, i64) { return int(run.task.stages); }
  // Values that end_generation() and adapt() read and no team writes meanwhile. A team loads them while it waits for the
  // others: those of individual i, if there is one, and, where the team adapts, those of the run.
  template <class Team> struct Prefetch {
    template <class R> SKDE_FN Prefetch(Team&, const R&, i64, int, bool) {}
  };
  // The work of individual i in one stage between generations g and g + 1. Generation g - 1 can still be read.
  template <class Team, class R, class P>
  SKDE_FN static void end_generation(Team& team, const R& run, i64 g, int i, int, const P&) {
    if (run.task.ranked && !is_large(run.pop)) rank(team, run, g, i);
  }
  // The work of the run, which one team does in stage 0; learns: whether generation g had selection, which opposites have not.
  template <class Team, class R, class P> SKDE_FN static void adapt(Team&, const R&, i64, const P&, bool) {}

  // Whether a large population has other stages, in which all teams divide the work of the run, too: large_stages(run, share, g)
  // of end_large_generation(team, run, share, g, stage), of which one adapts the run where generation g had selection.
  static constexpr bool DIVIDES = false;

  // Individual i's part in restoring the state of generation g after values have changed, in addition to the order: migrants
  // have come, or all values are new.
  template <class Team, class R> SKDE_FN static void restore(Team&, const R&, i64, int, bool) {}

  // order[k] becomes the index of the k-th best, when this was done for every individual of a small population.
  template <class Team, class R> SKDE_FN static void rank(Team& team, const R& run, i64 g, int i) {
    const int place = rank_of(team, run.f(g), run.pop, i);
    if (team.lane == 0) run.order(g)[place] = i;
  }
};

}  // namespace SKDE_NAMESPACE
