// The record of a batch of runs: sizes, limits and the addresses of its arrays. The host fills a Task by the names
// below, which the CPU module returns, so that the layout is written once.
//
// Populations have two halves: generation g is in half g & 1, and generation g + 1 is written into the other half. So
// no team reads a row that another one writes, and one barrier a generation is enough.
#pragma once
#include "core/enumeration.cuh"
#include "problems/problem.cuh"

namespace SKDE_NAMESPACE {

// A run's status. Nothing changes a stopped run, whatever the other runs of the batch do. The host sets the last three.
SKDE_ENUM(Status, i64, RUNNING, LIMIT, TARGET, CONVERGED, STAGNATED, TIME, CALLBACK, INTERRUPTED, HELD, STALLED);

// Every field takes eight bytes. Shapes: R runs, P rows of a population (the largest of the batch), D components.
//   integers  n_runs, pop_max, reference_rows (the last rows of a population, which have no trials: a reference set),
//             dim, n_start (rows of `start`), stagnation (generations; 0: off), history_slots, ranked (some run needs
//             `order`), stages (of the work between two generations), sorting_size (words for sorting a large
//             population), memory_size M (numbers of a run), archive_size A (rows of `archive`); n_islands, consecutive
//             runs that migrate every migrate_every generations (0: when the host calls for it), of which the batch's
//             first run is number first_island: migrant_route (Route), migrant_choice (0: the best leave, 1: drawn),
//             migrant_place (0: the worst are replaced, 1: drawn), migrant_count of them or, where it is not 0,
//             migrant_share of the population, and at most migrant_rows Q
//   numbers   migrant_share, target (-inf: off), tol (< 0: off) and atol, by which only a population with a value below
//             converging ends, run_seconds, a run's time limit by its clock (0: it has none), and pause_seconds, after
//             which its launch returns to the host
//   pointers  seeds (R), parameters (R, number of parameters), lower (D), upper (D), start (n_start, D), x (2, R, P,
//             D), f (2, R, P), extra (number of arrays, 2, R, P), vectors (number of vectors, 2, R, P, D), scratch
//             (number of scratch arrays, R, P), memory (2, R, M), archive (R, A, D), order (2, R, P), sorting (R,
//             sorting_size), bests (R, number of pieces) the best of each piece of a large population, best_words (R,
//             BEST_WORDS) those of its last generations in a launch, value_sums (R, VALUE_SUMS) partial sums of its
//             values, owners (R, A) the trials that write the archive's rows, generation (R), limit (R), status (R),
//             evals (2, R) evaluations up to the end of a generation, record (2, R) the best so far, since (2, R) its
//             generation, differed (R, 2) whether two finite values did so far, clock (R) the last reading in
//             nanoseconds, spent (R, 2) seconds up to the end of an iteration, history (R, history_slots), migrants (W,
//             1 + Q (1 + D)) of the W islands of all archipelagos that have a run in the batch: an island's Part in a
//             migration, then the value and the point of each of its migrants; places (R, P) in the order of
//             replacement, met (R) the generation of the last migration (in co-evolution, of y: the cycle of the last
//             new values), workspace (GPU: scratch of the teams), arrivals (GPU: R + 1 counters of barriers, the last
//             one the whole grid's)
// clang-format off
#define SKDE_TASK_FIELDS(INTEGER, NUMBER, REALS, WORDS, NUMBERS)                                                     \
  INTEGER(n_runs) INTEGER(pop_max) INTEGER(reference_rows) INTEGER(dim) INTEGER(n_start) INTEGER(stagnation)         \
  INTEGER(history_slots) INTEGER(ranked) INTEGER(stages) INTEGER(sorting_size) INTEGER(memory_size)                  \
  INTEGER(archive_size)                                                                                              \
  INTEGER(n_islands) INTEGER(first_island) INTEGER(migrate_every) INTEGER(migrant_route)                             \
  INTEGER(migrant_choice) INTEGER(migrant_place) INTEGER(migrant_count) INTEGER(migrant_rows)                        \
  NUMBER(migrant_share) NUMBER(target) NUMBER(tol) NUMBER(atol) NUMBER(converging) NUMBER(run_seconds)               \
  NUMBER(pause_seconds)                                                                                              \
  WORDS(seeds) NUMBERS(parameters) REALS(lower) REALS(upper) REALS(start) REALS(x) REALS(f) REALS(extra)             \
  REALS(scratch) REALS(vectors) NUMBERS(memory) REALS(archive) WORDS(order) WORDS(sorting) WORDS(bests)              \
  WORDS(best_words) REALS(value_sums) WORDS(owners) WORDS(generation) WORDS(limit) WORDS(status)                     \
  WORDS(evals) REALS(record) WORDS(since) WORDS(differed) WORDS(clock) NUMBERS(spent) REALS(history) REALS(migrants) \
  WORDS(places) WORDS(met) REALS(workspace) WORDS(arrivals)
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

}  // namespace SKDE_NAMESPACE
