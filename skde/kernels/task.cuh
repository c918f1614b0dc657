// All that one batch of runs is: sizes, limits and where its arrays lie. The host fills a Task by the names below, which
// the CPU extension reports, so that the layout is written down once.
//
// Populations are kept twice: generation g stands in half g & 1, and generation g + 1 is written into the other half.
// A trial is therefore never in the way of a reader, and one barrier a generation is enough.
#pragma once
#include "philox.cuh"
#include "problems/problem.cuh"

namespace SKDE_NAMESPACE {

// A run's state. Stopped runs are left alone, whatever the other runs of the batch do.
enum Status : i64 { RUNNING = 0, LIMIT = 1, TARGET = 2, CONVERGED = 3, STAGNATED = 4 };

// Every field takes eight bytes. Shapes: R runs, P rows of a population (the largest of the batch), D components.
//   integers  n_runs, pop_max, dim, n_start (rows of `start`), stagnation (generations; 0: off),
//             history_slots, ranked (some run needs `order`)
//   numbers   target (-inf: off), tol (< 0: off)
//   pointers  seeds (R), parameters (R, number of parameters), lower (D), upper (D), start (n_start, D),
//             x (2, R, P, D), f (2, R, P), extra (number of arrays, 2, R, P), order (R, P), generation (R), limit (R),
//             status (R), record (2, R) the best so far, since (2, R) when it was found, history (R, history_slots),
//             workspace (GPU: scratch of the teams), arrivals (GPU: R counters of the barrier)
// clang-format off
#define SKDE_TASK_FIELDS(INTEGER, NUMBER, REALS, WORDS, NUMBERS)                                             \
  INTEGER(n_runs) INTEGER(pop_max) INTEGER(dim) INTEGER(n_start) INTEGER(stagnation) INTEGER(history_slots)  \
  INTEGER(ranked) NUMBER(target) NUMBER(tol) WORDS(seeds) NUMBERS(parameters) REALS(lower) REALS(upper)      \
  REALS(start) REALS(x) REALS(f) REALS(extra) WORDS(order) WORDS(generation) WORDS(limit) WORDS(status)      \
  REALS(record) WORDS(since) REALS(history) REALS(workspace) WORDS(arrivals)
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
#define SKDE_NO_ARRAYS                       \
  struct Arrays {                            \
    static constexpr const char* names = ""; \
  }

// What every individual reads and nobody writes: it may have been copied into faster memory.
template <class real> struct Shared {
  const real *lower, *upper;
  Data<real> data;

  SKDE_FN explicit Shared(const Task<real>& task) : lower(task.lower), upper(task.upper), data(task.data) {}
};

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
  const int pop, dim;
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
        pop(int(parameters[0])),
        dim(int(task.dim)),
        settings(parameters) {}

  SKDE_FN Stream stream(i64 g, int i, Purpose purpose) const { return Stream(seed, g, i, purpose); }
  SKDE_FN i64 first_row(i64 g) const { return ((g & 1) * task.n_runs + run) * task.pop_max; }
  SKDE_FN real* x(i64 g, int i) const { return task.x + (first_row(g) + i) * dim; }
  SKDE_FN real* f(i64 g) const { return task.f + first_row(g); }
  SKDE_FN real* extra(int array, i64 g) const {
    return task.extra + array * 2 * task.n_runs * task.pop_max + first_row(g);
  }
  SKDE_FN i64* order() const { return task.order + run * task.pop_max; }
};

}  // namespace SKDE_NAMESPACE
