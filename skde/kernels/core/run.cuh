// One run of a batch: its settings, and its populations by generation.
#pragma once
#include "core/algorithm.cuh"
#include "core/order.cuh"
#include "core/task.cuh"
#include "random/philox.cuh"

namespace SKDE_NAMESPACE {

// A large population is divided into pieces; the best of each is stored.
constexpr int BEST_PIECE = 512;
SKDE_FN int best_pieces(int pop) { return (pop + BEST_PIECE - 1) / BEST_PIECE; }
// Of a large population on a GPU: the words of the bests of the last generations.
constexpr int BEST_WORDS = 3;
// Likewise: the partial sums of its values, those of their squared differences from the mean, and the mark of their
// generation.
constexpr int VALUE_SUMS = 2 * PARTIALS + 1;

// The arrays that every individual reads and no team writes. On a GPU they may be copies in faster memory.
template <class real> struct Shared {
  const real *lower, *upper;
  Data<real> data;

  SKDE_FN explicit Shared(const Task<real>& task) : lower(task.lower), upper(task.upper), data(task.data) {}
};

// Whether trials are made in the team's fast memory, and how many a team then evaluates together. With constants the
// compiler knows the memory that a pointer leads to, and no trial needs a test.
#ifdef SKDE_TRIALS_SHARED
constexpr bool TRIALS_SHARED = true;
constexpr int TOGETHER = SKDE_TRIALS_SHARED;
#else
constexpr bool TRIALS_SHARED = false;
constexpr int TOGETHER = 1;
#endif

// Whether each run has a clock and ends by it. The GPU's kernels for runs without clocks have no code for it.
template <class real> SKDE_FN bool has_clocks(const Task<real>& task) {
#if defined(__CUDACC__) && !defined(SKDE_TIMED)
  return false;
#else
  return task.run_seconds > 0;
#endif
}

// Whether the algorithm can have generations of opposites. The GPU's kernels for runs without them have no code for
// them.
#if defined(__CUDACC__) && !defined(SKDE_OPPOSITION)
template <class Algorithm> constexpr bool CAN_OPPOSE = false;
#else
template <class Algorithm> constexpr bool CAN_OPPOSE = has_opposition<typename Algorithm::Settings>;
#endif

// The first parameter of every algorithm is pop_size; Algorithm::Settings makes typed values of all of them.
template <class Algorithm, class real_> struct Run {
  using real = real_;
  using Settings = typename Algorithm::Settings;
  static constexpr bool REDUCES = has_reduction<Settings>;
  // Whether an iteration has several generations, in which no individual reads another.
  static constexpr bool ITERATES = has_reference_set<Settings>;

  const Task<real>& task;
  const i64 run;
  const real *const lower, *const upper;
  const u64 seed;
  const i64 limit;
  const bool judged;  // by a rule that reads the values of every generation
  const bool timed;   // by a clock of the run
  const int dim;
  int pop;              // individuals of the current generation
  i64 evals;            // evaluations before it
  double progress;      // of a population that shrinks: the share of the search that is done
  bool joined = false;  // whether the best of the last generation is in a word (best.cuh)
  // Offsets of this run in a half of the batch's arrays, and the sizes of a half: in rows, in components, in numbers of
  // the memory; and its offset in the archive.
  const i64 row, rows, component, components;
  const i64 number, numbers, archived;
  const Settings settings;

  SKDE_FN Run(const Task<real>& task, const Shared<real>& shared, i64 run)
      : Run(task, shared, run, task.parameters + run * Algorithm::Parameters::COUNT) {}

  SKDE_FN Run(const Task<real>& task, const Shared<real>& shared, i64 run, const double* parameters)
      : task(task),
        run(run),
        lower(shared.lower),
        upper(shared.upper),
        seed(u64(task.seeds[run])),
        limit(task.limit[run]),
        judged(task.stagnation || task.tol >= 0 || task.target > -infinity()),
        timed(has_clocks(task)),
        dim(int(task.dim)),
        pop(int(parameters[0])),
        evals(0),
        progress(0),
        row(opaque(run * task.pop_max)),
        rows(opaque(task.n_runs * task.pop_max)),
        component(opaque(row * task.dim)),
        components(opaque(rows * task.dim)),
        number(opaque(run * task.memory_size)),
        numbers(opaque(task.n_runs * task.memory_size)),
        archived(opaque(run * task.archive_size * task.dim)),
        settings(parameters) {}

  // Sets the population for generation g; `evaluations` were made before it.
  SKDE_FN void enter(i64 g, i64 evals_before) {
    evals = evals_before;
    if constexpr (ITERATES) {
      if (g > 0) pop = settings.pool_size;
    } else if constexpr (REDUCES) {
      if (g > 0) progress = settings.reduction.progress(evals, g), pop = settings.reduction.population(progress);
    }
  }
  // The same from the record of generation g - 1.
  SKDE_FN void enter(i64 g) { enter(g, g > 0 ? *evals_after(g - 1) : 0); }
  // The individuals of generation g + 1, of a population that shrinks.
  SKDE_FN int next_pop(i64 g) const {
    return settings.reduction.population(settings.reduction.progress(evals + pop, g + 1));
  }
  SKDE_FN i64* evals_after(i64 g) const { return task.evals + (g & 1) * task.n_runs + run; }
  // Whether the population of a later generation may be another one.
  static constexpr bool VARIES = REDUCES || ITERATES;

  // The number of the iteration that ends with generation g; -1 where none does.
  SKDE_FN i64 iteration(i64 g) const {
    if constexpr (ITERATES) {
      const i64 length = settings.reference_set.generations;
      return g % length ? -1 : g / length;
    }
    return g;
  }
  // The last generation of the iteration that generation g belongs to.
  SKDE_FN i64 last_of_iteration(i64 g) const {
    if constexpr (ITERATES) {
      const i64 length = settings.reference_set.generations;
      return (g + length - 1) / length * length;
    }
    return g;
  }
  // The members are the rows that survive an iteration, among them the best: all, or the reference set.
  SKDE_FN int first_member() const { return ITERATES ? int(task.pop_max - task.reference_rows) : 0; }
  SKDE_FN int members() const {
    if constexpr (ITERATES) return settings.reference_set.size;
    return pop;
  }
  SKDE_FN real* member(i64 g, int k) const { return x(g, first_member() + k); }
  SKDE_FN real* member_values(i64 g) const { return f(g) + first_member(); }

  // The seconds up to the end of generation g. Two places are used alternately: teams may still read one value while the
  // next is written.
  SKDE_FN double& spent(i64 g) const { return task.spent[2 * run + (iteration(last_of_iteration(g)) & 1)]; }

  SKDE_FN Stream stream(i64 g, int i, Purpose purpose) const { return Stream(seed, g, i, purpose); }
  SKDE_FN i64 first_row(i64 g) const { return row + (g & 1 ? rows : 0); }
  SKDE_FN i64 place(i64 g, int i) const { return component + (g & 1 ? components : 0) + product(i, dim); }
  SKDE_FN real* x(i64 g, int i) const { return task.x + place(g, i); }
  SKDE_FN real* f(i64 g) const { return task.f + first_row(g); }
  SKDE_FN real* array(int name, i64 g) const { return task.extra + name * 2 * rows + first_row(g); }
  SKDE_FN real* scratch(int name) const { return task.scratch + name * rows + row; }
  SKDE_FN real* vector(int name, i64 g, int i) const { return task.vectors + name * 2 * components + place(g, i); }
  SKDE_FN double* memory(i64 g) const { return task.memory + number + (g & 1 ? numbers : 0); }
  SKDE_FN real* archive(int row) const { return task.archive + archived + product(row, dim); }
  SKDE_FN i64* order(i64 g) const { return task.order + first_row(g); }
  SKDE_FN i64* sorting() const { return task.sorting + run * task.sorting_size; }  // of a large population
  // The samples of sorting n values: the last words of sorting(). Where `before` other values have these, the words
  // ahead of them.
  SKDE_FN i64* samples(int n, int before = 0) const {
    return sorting() + task.sorting_size - sample_words(n) - (before ? sample_words(before) : 0);
  }
  SKDE_FN i64* bests() const { return task.bests + run * best_pieces(int(task.pop_max)); }
  SKDE_FN u64& best_word(i64 g) const {
    return reinterpret_cast<u64*>(task.best_words)[run * BEST_WORDS + g % BEST_WORDS];
  }
  SKDE_FN real* value_sums() const { return task.value_sums + run * VALUE_SUMS; }
  SKDE_FN real& sums_mark() const { return value_sums()[2 * PARTIALS]; }
  // Whether row i is the same in both halves of the population, after generation g: its individual has kept its point.
  // The next generation then need not copy the point if the individual keeps it again. A mark is a generation's number
  // that a float holds; 0: none. Whatever else writes another point there clears its mark. On a GPU
  // copies of short rows take less time than marks. On a CPU copies of a swarm do: its particles keep few points.
#ifdef SKDE_MARKS
  static constexpr bool MARKS = has_unchanged<typename Algorithm::Scratch>;
#elif defined(__CUDACC__)
  static constexpr bool MARKS = false;
#else
  static constexpr bool MARKS = has_unchanged<typename Algorithm::Scratch> && !has_trials<typename Algorithm::Vectors>;
#endif
  SKDE_FN bool is_unchanged(i64 g, int i) const {
    if constexpr (MARKS) return scratch(Algorithm::Scratch::unchanged)[i] == mark(g);
    return false;
  }
  SKDE_FN void mark_unchanged(i64 g, int i, bool unchanged) const {
    if constexpr (MARKS) scratch(Algorithm::Scratch::unchanged)[i] = unchanged ? mark(g) : real(0);
  }
  SKDE_FN static real mark(i64 g) { return real((g & 0xffff) + 1); }
  SKDE_FN i64* owners() const { return task.owners + run * task.archive_size; }
};

// Whether many teams share a run, as on a GPU. They divide work on a large population that one thread of a CPU does
// faster than several threads that wait for each other.
#ifdef __CUDACC__
constexpr bool MANY_TEAMS = true;
#else
constexpr bool MANY_TEAMS = false;
#endif
template <class Algorithm, class R> SKDE_FN bool divides(const R& run) {
  return Algorithm::DIVIDES && is_large(run.pop);
}

// Whether the algorithm's stages in a large population go along with those of sorting, as a GPU makes them.
template <class Algorithm> constexpr bool GOES_ALONG = MANY_TEAMS && Algorithm::DIVIDES && Algorithm::ALONG_SORTING;
// The share of such a stage. Long items are divided among all teams, of which one adapts, the other items among those that
// have no long ones.
template <class Share> struct AlongShare : Share {
  const Share& all;
  SKDE_FN AlongShare(const Share& others, const Share& all) : Share(others), all(all) {}
  SKDE_FN bool adapts(int pop) const { return all.adapts(pop); }
  template <class Body> SKDE_FN void each_long_item(int n, Body body) const { all.each_long_item(n, body); }
};
// A stage of sorting the values at(k) of generation g, and the one that goes along with it. The first has none. Teams
// with less to sort begin with the other.
template <class Algorithm, class Team, class R, class Share, class At>
SKDE_FN void sort_along(Team& team, const R& run, const Share& share, i64 g, int stage, At at) {
  const auto sort = [&](const auto& share) {
    sort_stage(team, share, run.pop, at, stage, run.order(g), run.sorting(), run.samples(run.pop));
  };
  if constexpr (GOES_ALONG<Algorithm>) {
    static_assert(SAMPLE_STAGES > Algorithm::LARGE_STAGES, "each has a stage of sorting");
    const Share others = share.others(SUM_PARTS<Algorithm::DIVIDED_SUMS, Team>);
    sort(others);
    if (stage == 0 || stage > Algorithm::LARGE_STAGES) return;
    const AlongShare<Share> along(others.after(items_of_stage(stage, run.pop, Team::size)), share);
    Algorithm::end_large_generation(team, run, along, g, stage - 1);
  } else {
    sort(share);
  }
}

// Whether some run may be ranked. The GPU's kernels for other batches have no code that sorts populations.
#if defined(__CUDACC__) && !defined(SKDE_RANKED)
constexpr bool CAN_RANK = false;
#else
constexpr bool CAN_RANK = true;
#endif
template <class R> SKDE_FN bool is_ranked(const R& run) { return CAN_RANK && run.task.ranked; }

// Component j of a uniform point of the box, from 53 random bits.
template <class R> SKDE_FN typename R::real uniform_component(const R& run, const Stream& stream, int j) {
  using real = typename R::real;
  const Words4 words = stream.block(u32(j / 2));
  const double u = j % 2 ? unit53(words.w[2], words.w[3]) : unit53(words.w[0], words.w[1]);
  const double lower = double(run.lower[j]), upper = double(run.upper[j]);
  return min_of(max_of(real(lower + (upper - lower) * u), run.lower[j]), run.upper[j]);
}

}  // namespace SKDE_NAMESPACE
