// All that one batch of runs is: sizes, limits and where its arrays lie. The host fills a Task by the names below, which
// the CPU extension reports, so that the layout is written down once.
//
// Populations are kept twice: generation g stands in half g & 1, and generation g + 1 is written into the other half.
// A trial is therefore never in the way of a reader, and one barrier a generation is enough.
#pragma once
#include "core/select.cuh"
#include "problems/problem.cuh"
#include "random/philox.cuh"

namespace SKDE_NAMESPACE {

// A run's state. Stopped runs are left alone, whatever the other runs of the batch do.
enum Status : i64 { RUNNING = 0, LIMIT = 1, TARGET = 2, CONVERGED = 3, STAGNATED = 4, TIME = 5 };

// Every field takes eight bytes. Shapes: R runs, P rows of a population (the largest of the batch), D components.
//   integers  n_runs, pop_max, kept (the last K of a population's rows, which hold no trials but what an algorithm keeps
//             beside them), dim, n_start (rows of `start`), stagnation (generations; 0: off),
//             history_slots, ranked (some run needs `order`), stages (parts of what comes between two generations),
//             memory_size M (numbers that an algorithm keeps for a run), archive_size A (rows of `archive`); n_islands,
//             consecutive runs that exchange individuals every migrate_every generations (0: when the host says so), of
//             which the batch's first run is number first_island: migrant_route (Route), migrant_choice (0: the best
//             leave, 1: drawn), migrant_place (0: the worst give way, 1: drawn), migrant_count of them or, where it is
//             not 0, migrant_share of the population, and at most migrant_rows Q
//   numbers   migrant_share, target (-inf: off), tol (< 0: off), run_seconds, after which a run ends by its own clock
//             (0: it has none), and pause_seconds, after which it hands back to the host
//   pointers  seeds (R), parameters (R, number of parameters), lower (D), upper (D), start (n_start, D),
//             x (2, R, P, D), f (2, R, P), extra (number of arrays, 2, R, P), vectors (number of vectors, 2, R, P, D),
//             memory (2, R, M), archive (R, A, D), order (2, R, P), generation (R), limit (R), status (R),
//             evals (2, R) evaluations up to the end of a generation, record (2, R) the best so far, since (2, R) when it
//             was found, clock (R) nanoseconds when it was read last, spent (R, 2) seconds up to the end of an iteration,
//             history (R, history_slots), migrants (W, Q, D), migrant_values (W, Q) and meets (W), the Part that an island
//             takes, of the W islands of all archipelagos that have a run in the batch; places (R, P) in the order of
//             giving way, met (R) the generation of its last meeting, workspace (GPU: scratch of the teams), arrivals
//             (GPU: R + 1 counters of barriers, the last one the whole grid's)
// clang-format off
#define SKDE_TASK_FIELDS(INTEGER, NUMBER, REALS, WORDS, NUMBERS)                                             \
  INTEGER(n_runs) INTEGER(pop_max) INTEGER(kept) INTEGER(dim) INTEGER(n_start) INTEGER(stagnation)           \
  INTEGER(history_slots) INTEGER(ranked) INTEGER(stages) INTEGER(memory_size) INTEGER(archive_size)          \
  INTEGER(n_islands) INTEGER(first_island) INTEGER(migrate_every) INTEGER(migrant_route)                     \
  INTEGER(migrant_choice) INTEGER(migrant_place) INTEGER(migrant_count) INTEGER(migrant_rows)                \
  NUMBER(migrant_share) NUMBER(target) NUMBER(tol) NUMBER(run_seconds) NUMBER(pause_seconds)                 \
  WORDS(seeds) NUMBERS(parameters) REALS(lower) REALS(upper) REALS(start) REALS(x) REALS(f) REALS(extra)     \
  REALS(vectors) NUMBERS(memory) REALS(archive) WORDS(order) WORDS(generation) WORDS(limit) WORDS(status)    \
  WORDS(evals) REALS(record) WORDS(since) WORDS(clock) NUMBERS(spent) REALS(history) REALS(migrants)         \
  REALS(migrant_values) WORDS(places) WORDS(meets) WORDS(met) REALS(workspace) WORDS(arrivals)
// clang-format on

template <class real> struct Task {
#define SKDE_INTEGER(name) i64 name;
#define SKDE_NUMBER(name) double name;
#define SKDE_REALS(name) real* name;
#define SKDE_WORDS(name) i64* name;
#define SKDE_NUMBERS(name) double* name;
  SKDE_TASK_FIELDS(SKDE_INTEGER, SKDE_NUMBER, SKDE_REALS, SKDE_WORDS, SKDE_NUMBERS)
#undef SKDE_INTEGER
#undef SKDE_NUMBER
#undef SKDE_REALS
#undef SKDE_WORDS
#undef SKDE_NUMBERS
  Data<real> data;
};

// An algorithm names its parameters and its arrays once; the host reads the names.
#define SKDE_PARAMETERS(...)                           \
  struct Parameters {                                  \
    enum : int { __VA_ARGS__, COUNT };                 \
    static constexpr const char* names = #__VA_ARGS__; \
  }
#define SKDE_ARRAYS(...)                               \
  struct Arrays {                                      \
    enum : int { __VA_ARGS__ };                        \
    static constexpr const char* names = #__VA_ARGS__; \
  }
#define SKDE_VECTORS(...)                              \
  struct Vectors {                                     \
    enum : int { __VA_ARGS__ };                        \
    static constexpr const char* names = #__VA_ARGS__; \
  }

// What an algorithm has where it says nothing else.
struct Plain {
  // Per individual and generation: numbers, and vectors of dim components.
  struct Arrays {
    static constexpr const char* names = "";
  };
  struct Vectors {
    static constexpr const char* names = "";
  };
  // Whether the population's size changes, by Settings::shrinking.
  static constexpr bool SHRINKS = false;
  // Whether an iteration of the algorithm takes several generations, and nobody looks at another individual before its end.
  static constexpr bool ITERATES = false;
  // Whether a CPU's drivers have the code of a trial and of what comes between generations in them, as a GPU's do, instead of
  // calling it: this spares a few nanoseconds a trial, and takes twice as long to compile.
  static constexpr bool INLINED = false;

  // The number of the iteration that ends with generation g; -1 where none does.
  template <class R> SKDE_FN static i64 iteration(const R&, i64 g) { return g; }
  // The last generation of the iteration that generation g belongs to.
  template <class R> SKDE_FN static i64 last_of_iteration(const R&, i64 g) { return g; }
  // The rows of a population that make up what the algorithm works with: the first of them, and how many. The best is
  // among them when an iteration ends.
  template <class R> SKDE_FN static int first_member(const R&) { return 0; }
  template <class R> SKDE_FN static int members(const R& run) { return run.pop; }
  // How many rows beside those of trials belong to the population.
  template <class R> SKDE_FN static int kept(const R&) { return 0; }

  // Whose place individual i of generation g competes for, in generation g - 1.
  template <class R> SKDE_FN static int parent(const R&, i64, int i) { return i; }
  // Where the trial of individual i of generation g is made, unless its team has room for that.
  template <class Team, class R> SKDE_FN static typename R::real* draft(const R& run, i64 g, int i) {
    return run.x(g, i);
  }
  // What all individuals of a generation share: found once a generation by every team.
  struct Context {};
  template <class Team, class R> SKDE_FN static Context context(Team&, const R&, i64) { return {}; }
  // What generation 0 leaves beside x and f.
  template <class Team, class R> SKDE_FN static void begin(Team&, const R&, int, const typename R::real*) {}
  // Between generation g and the next, in parts with a barrier after each (task.stages of them at most): individual i's
  // share of part `stage`, and the run's own, which one team does in part 0. Generation g - 1 can still be read.
  template <class R> SKDE_FN static int stages(const R& run, i64) { return int(run.task.stages); }
  template <class Team, class R, class Known>
  SKDE_FN static void settle(Team& team, const R& run, i64 g, int i, int, const Known&) {
    if (run.task.ranked) rank(team, run, g, i);
  }
  template <class Team, class R, class Known> SKDE_FN static void adapt(Team&, const R&, i64, const Known&) {}
  // What these two have to know of generation g - 1, asked for while a team would only wait for the others: of individual i,
  // if there is one, and, where the team adapts, of the run.
  template <class Team> struct Known {};
  template <class Team, class R> SKDE_FN static Known<Team> recall(Team&, const R&, i64, int, bool) { return {}; }
  // The same after a generation that teaches nothing: what the run has learned stays as it is.
  template <class Team, class R> SKDE_FN static void carry(Team&, const R&, i64) {}
  // Individual i of generation g - 1, with what it carries along, becomes individual `place` of generation g.
  template <class R> SKDE_FN static void move(const R&, i64, int, int) {}
  // Individual i's share of putting right what is kept of the order of generation g, after values have changed.
  template <class Team, class R> SKDE_FN static void reorder(Team& team, const R& run, i64 g, int i) {
    if (run.task.ranked) rank(team, run, g, i);
  }
  // The same of what else rests on the values of generation g, after all of them have been made anew.
  template <class Team, class R> SKDE_FN static void restart(Team&, const R&, i64, int) {}

  // order[k] becomes the index of the k-th best, when every individual has been here.
  template <class Team, class R> SKDE_FN static void rank(Team& team, const R& run, i64 g, int i) {
    const int place = rank_of(team, run.f(g), run.pop, i);
    if (team.lane == 0) run.order(g)[place] = i;
  }
};

// Whose place a trial competes for, in the last generation.
template <class real> struct Parent {
  int index;
  real f;
};

// What every individual reads and nobody writes: it may have been copied into faster memory.
template <class real> struct Shared {
  const real *lower, *upper;
  Data<real> data;

  SKDE_FN explicit Shared(const Task<real>& task) : lower(task.lower), upper(task.upper), data(task.data) {}
};

// A population that shrinks linearly from `most` to `least` with the evaluations done, or with the generations where no
// number of evaluations is given (L-SHADE's equation 10). In doubles, which round alike everywhere.
struct Shrinking {
  double most, least, max_evals, max_iter;

  SKDE_FN double progress(i64 evals, i64 g) const {
    const bool by_evals = max_evals > 0, known = by_evals | (max_iter > 0);
    // What is divided is chosen before: a GPU would divide twice, and takes long over a division by zero.
    const double done = known ? double(by_evals ? evals : g) : 1.0;
    const double all = by_evals ? max_evals : known ? max_iter : 1.0;
    const double share = min_of(done / all, 1.0);
    return known ? share : 0.0;
  }
  SKDE_FN int population(double progress) const { return int(most - (most - least) * progress + 0.5); }
};

// Whether runs end by clocks of their own. The GPU's kernels for runs that have none are compiled without.
template <class real> SKDE_FN bool has_clocks(const Task<real>& task) {
#if defined(__CUDACC__) && !defined(SKDE_TIMED)
  return false;
#else
  return task.run_seconds > 0;
#endif
}

// One run of the batch: what it is made of, read once, and its populations by generation. The first parameter of every
// algorithm is pop_size; Algorithm::Settings makes typed values of all of them.
template <class Algorithm, class real_> struct Run {
  using real = real_;
  const Task<real>& task;
  const i64 run;
  const real *const lower, *const upper;
  const u64 seed;
  const i64 limit;
  const bool judged;  // by a rule that looks at the values in every generation
  const bool timed;   // by a clock of its own
  const int dim;
  int pop;          // individuals of the generation in work
  i64 evals;        // evaluations before it
  double progress;  // of a population that shrinks: the share of the search that is done
  // Where its rows begin in a half of the batch's arrays, and how long a half is: in rows, and in components. Everything is
  // found from these, several times a generation.
  const i64 row, rows, component, components;
  const i64 number, numbers, archived;  // the same of its memory, and of its archive's components
  const typename Algorithm::Settings settings;

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

  // Turns to generation g, before which there were so many evaluations.
  SKDE_FN void enter(i64 g, i64 evals_before) {
    evals = evals_before;
    if constexpr (Algorithm::SHRINKS)
      if (g > 0) progress = settings.shrinking.progress(evals, g), pop = settings.shrinking.population(progress);
  }
  // The same from what generation g - 1 wrote down.
  SKDE_FN void enter(i64 g) { enter(g, g > 0 ? *evals_after(g - 1) : 0); }
  SKDE_FN i64* evals_after(i64 g) const { return task.evals + (g & 1) * task.n_runs + run; }

  // Where the seconds up to the end of generation g stand. By iterations, which the teams meet after: so whoever writes the
  // next ones is not in the way of those that have yet to read.
  SKDE_FN double& spent(i64 g) const {
    return task.spent[2 * run + (Algorithm::iteration(*this, Algorithm::last_of_iteration(*this, g)) & 1)];
  }

  SKDE_FN Stream stream(i64 g, int i, Purpose purpose) const { return Stream(seed, g, i, purpose); }
  SKDE_FN i64 first_row(i64 g) const { return row + (g & 1 ? rows : 0); }
  SKDE_FN i64 place(i64 g, int i) const { return component + (g & 1 ? components : 0) + product(i, dim); }
  SKDE_FN real* x(i64 g, int i) const { return task.x + place(g, i); }
  SKDE_FN real* f(i64 g) const { return task.f + first_row(g); }
  SKDE_FN real* extra(int array, i64 g) const { return task.extra + array * 2 * rows + first_row(g); }
  SKDE_FN real* vector(int array, i64 g, int i) const { return task.vectors + array * 2 * components + place(g, i); }
  SKDE_FN double* memory(i64 g) const { return task.memory + number + (g & 1 ? numbers : 0); }
  SKDE_FN real* archive(int row) const { return task.archive + archived + product(row, dim); }
  SKDE_FN i64* order(i64 g) const { return task.order + first_row(g); }
  SKDE_FN int members() const { return Algorithm::members(*this); }
  SKDE_FN real* member(i64 g, int k) const { return x(g, Algorithm::first_member(*this) + k); }
  SKDE_FN real* member_values(i64 g) const { return f(g) + Algorithm::first_member(*this); }
};

// Component j of a point that is uniform in the box, from 53 random bits.
template <class R> SKDE_FN typename R::real anywhere(const R& run, const Stream& stream, int j) {
  using real = typename R::real;
  const Words4 words = stream.block(u32(j / 2));
  const double u = j % 2 ? unit53(words.w[2], words.w[3]) : unit53(words.w[0], words.w[1]);
  const double lower = double(run.lower[j]), upper = double(run.upper[j]);
  return min_of(max_of(real(lower + (upper - lower) * u), run.lower[j]), run.upper[j]);
}

}  // namespace SKDE_NAMESPACE
