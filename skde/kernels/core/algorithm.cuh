// The interface of an algorithm: a struct that derives from BaseAlgorithm, and has
//
//   SKDE_PARAMETERS(pop_size, ...)     its kernel parameters, by the names that the host uses
//   SKDE_ARRAYS, SKDE_VECTORS          its state for each individual: numbers, and vectors of dim components
//   SKDE_SCRATCH                       numbers for each individual that are written and read within one generation
//   Settings                           the parameters of one run as typed values
//   Context, context()                 the numbers that all individuals of a generation share
//   Draws                              the random numbers of a trial, which depend only on (seed, generation,
//                                      individual)
//   propose()                          makes the trial of individual i of generation g
//   select()                           compares the trial with its parent, and writes individual i of generation g
//   end_generation(), adapt()          the work between two generations: of an individual, and of the run
//   end_large_generation()             the same in a large population, where it is divided among the teams
//
// A member of Settings with one of these names adds a component of the core:
//
//   reduction      PopulationReduction: the population shrinks
//   opposition     double: generations of opposites (opposition.cuh)
//   reference_set  ReferenceSet: iterations of several generations, of which only a reference set survives
//
// A vector with the name `trials` is the place where trials are made. A scratch number with the name `unchanged` lets
// select_better() leave out copies of parents on a CPU, and of long rows on a GPU, if individual i is the parent of
// trial i. With both names, trials are made in the vector only where kept points are marked (trial_place).
#pragma once
#include "core/math.cuh"
#include "core/order.cuh"
#include "core/task.cuh"

namespace SKDE_NAMESPACE {

// A list of names. The host reads their text, so that Python does not repeat it.
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

// Linear reduction of the population from `first` to `last` individuals with the evaluations done, or with the
// generations where no number of evaluations is given (L-SHADE's equation 10). In doubles, which round alike
// everywhere.
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
  // The progress beyond which the population may grow, after `progress`; 1 where it only shrinks.
  SKDE_FN double rises_after(double) const { return 1; }
};

// A population that shrinks, grows to `late` at `late_from`, and shrinks again.
struct RegrowingReduction : PopulationReduction {
  double power, late, late_from;

  SKDE_FN int population(double progress) const {
    const bool ends = progress > late_from;
    const double rest = 1 - (ends ? (progress - late_from) / (1 - late_from) : progress / late_from);
    const double share = ends ? rest * rest : rest > 0 ? exp(power * log(rest)) : 0.0;
    return int(last + ((ends ? max_of(late, last) : first) - last) * share + 0.5);
  }
  SKDE_FN double rises_after(double progress) const { return progress > late_from ? 1 : late_from; }
};

// A reference set of `size` individuals, in the last rows of a population, that survives an iteration of `generations`
// generations. Generation 0 is iteration 0.
struct ReferenceSet {
  int size;
  i64 generations;
};

// Whether an algorithm's settings have a component.
template <class S, class = void> constexpr bool has_reduction = false;
template <class S> constexpr bool has_reduction<S, Void<decltype(&S::reduction)>> = true;
template <class S, class = void> constexpr bool has_opposition = false;
template <class S> constexpr bool has_opposition<S, Void<decltype(&S::opposition)>> = true;
template <class S, class = void> constexpr bool has_reference_set = false;
template <class S> constexpr bool has_reference_set<S, Void<decltype(&S::reference_set)>> = true;
template <class V, class = void> constexpr bool has_trials = false;
template <class V> constexpr bool has_trials<V, Void<decltype(V::trials)>> = true;
template <class S, class = void> constexpr bool has_unchanged = false;
template <class S> constexpr bool has_unchanged<S, Void<decltype(S::unchanged)>> = true;

// The parent of a trial: its index in the last generation, its value, and whether both halves have its row
// (Run::is_unchanged).
template <class real> struct Parent {
  int index;
  real f;
  bool unchanged;
};

// The defaults. R is Run<Algorithm, real> of run.cuh.
struct BaseAlgorithm {
  using Arrays = NoNames;
  using Vectors = NoNames;
  using Scratch = NoNames;
  // The number of arrays, from the first on, that follow an individual into another row (opposition.cuh).
  static constexpr int INHERITED = 0;

  struct Context {};
  template <class Team, class R> SKDE_FN static Context context(Team&, const R&, i64) { return {}; }
  // Whether run.f(g) does not change between select() and the next generation, except by opposites.
  static constexpr bool SELECTS_AT_ONCE = false;
  // Whether the algorithm calls best_individual() (best.cuh).
  template <class R> SKDE_FN static bool needs_best(const R&) { return false; }

  // The individual of generation g - 1 that the trial of individual i of generation g competes with.
  template <class R> SKDE_FN static int parent(const R&, i64, int i) { return i; }

  // Starts to load the rows that the trial of individual i of generation g will read, by team.fetch(). The driver calls
  // it while the team works on the individual before, on a GPU where a multiprocessor has many teams. Only for
  // algorithms that compute these rows without draws; the others may call IndividualDraws::fetch_early(), which does so
  // on a CPU, in their Draws.
  template <class Team, class R> SKDE_FN static void fetch(const Team&, const R&, i64, int) {}

  // The state of individual i of generation 0, in addition to x and f.
  template <class Team, class R> SKDE_FN static void initialize(Team&, const R&, int, const typename R::real*) {}

  // The number of stages of end_generation() after generation g. After each of them there is a barrier of all teams.
  template <class R> SKDE_FN static int stages(const R& run, i64) { return int(run.task.stages); }
  // Whether the last of these stages rarely has work in a small population, and whether it has after generation g, which
  // next_pop individuals follow. Every team decides it after the stage before. The driver of whole generations then
  // leaves out the stage and its barrier.
  static constexpr bool HAS_RARE_STAGE = false;
  template <class Team, class R> SKDE_FN static bool needs_last_stage(Team&, const R&, i64, int) { return true; }
  // Values that end_generation() and adapt() read and that no team writes meanwhile. A team loads them before the
  // barrier, so that it need not wait for them afterwards, unless its stages are apart (STAGES_APART). They belong to
  // individual i, if there is one. Where the team adapts, it also loads the run's.
  template <class Team> struct Prefetch {
    template <class R> SKDE_FN Prefetch(Team&, const R&, i64, int, bool) {}
  };
  // The work of individual i in one stage between generations g and g + 1. Generation g - 1 can still be read. A large
  // population that is ranked has been sorted in stages before.
  template <class Team, class R, class P>
  SKDE_FN static void end_generation(Team& team, const R& run, i64 g, int i, int, const P&) {
    if (run.task.ranked && !is_large(run.pop)) rank(team, run, g, i);
  }
  // The work of the run between two generations, which one team does in stage ADAPTATION, or in the last one where there
  // are fewer. `learns`: whether generation g had trials of the algorithm; a generation of opposites has none.
  static constexpr int ADAPTATION = 0;
  template <class Team, class R, class P> SKDE_FN static void adapt(Team&, const R&, i64, const P&, bool) {}

  // Large populations (is_large(run.pop)). One team that adapts the run would read all individuals while
  // the others wait, so an algorithm may divide this work among all teams. With DIVIDES it has two further functions,
  // which replace stages() and end_generation() for large populations:
  //   large_stages(run, share, g)                       the number of stages, without those that sort a ranked
  //                                                     population
  //   end_large_generation(team, run, share, g, stage)  one stage, by every team once, not once for each individual:
  //                                                     share.each_item() and each_position() divide the work
  // One of these stages also calls adapt(..., true), by the team of which share.adapts(run.pop) holds; the driver does
  // not. After a generation of opposites the driver calls neither of the two, but adapt(..., false). LARGE_STAGES is
  // the largest number of stages, without any sorting. DIVIDES = MANY_TEAMS divides on a GPU only. A SummingAlgorithm
  // (divided_sums.cuh; gade.cuh is the shortest example) has all of these. ALONG_SORTING: whether these stages neither
  // read the new order nor write what sorting reads. Then a GPU makes them along with those of sorting (sort_along());
  // DIVIDED_SUMS is the number of their sums.
  static constexpr bool DIVIDES = false, ALONG_SORTING = false;
  static constexpr int LARGE_STAGES = 0;

  // Individual i's part in restoring the state of generation g after values have changed, in addition to the order:
  // after a migration, or where all values are new.
  template <class Team, class R> SKDE_FN static void restore(Team&, const R&, i64, int, bool) {}

  // Writes the place of individual i into the order of a small population; order[k] is the index of the k-th best.
  template <class Team, class R> SKDE_FN static void rank(Team& team, const R& run, i64 g, int i) {
    const int place = rank_of(team, run.f(g), run.pop, i);
    if (team.lane == 0) run.order(g)[place] = i;
  }
};

}  // namespace SKDE_NAMESPACE
