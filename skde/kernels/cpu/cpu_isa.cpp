// The CPU core for one instruction set. The build compiles this file several times, each in its own namespace; cpu.cpp
// picks the best one that the processor has.
#include <omp.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <new>
#include <thread>
#include <vector>

#include "algorithms/all.cuh"
#include "coevolution/requests.cuh"
#include "core/drive.cuh"
#include "cpu/core.hpp"
#include "cpu/cpu_algorithm.hpp"
#include "cpu/cpu_compiled.hpp"
#include "cpu/threads.hpp"
#include "problems/variables.cuh"

namespace SKDE_NAMESPACE {

using skde_core::AnyEvaluate;

// A thread's team and its memory.
template <class real> struct Worker {
  std::vector<real> scratch;
  std::vector<u32> words;
  std::unique_ptr<SortItem[]> sorting;  // not initialised, so that unused pages are not allocated
  Ahead ahead;
  Lane<real> team;

  Worker(const Task<real>& task, int vectors) : scratch(size_t(task.dim * (vectors + 1))) {
    team.room = int((std::max(task.dim, task.pop_max) + 31) / 32 * 32);
    words.resize(size_t(team.room) * WORKER_WORDS);
    team.trial = scratch.data();
    team.scratch = scratch.data() + task.dim;
    team.words = words.data();
    team.ahead = &ahead;
    sorting.reset(new SortItem[size_t(task.sorting_size)]);
    team.sorting = sorting.get();
  }
};

SKDE_FUNCTIONS_OF_ALL(, double)
SKDE_FUNCTIONS_OF_ALL(, float)

void Barrier::wait(int parts) {
  const unsigned now = phase.load(std::memory_order_relaxed);
  if (arrived.fetch_add(1, std::memory_order_acq_rel) == parts - 1) {
    arrived.store(0, std::memory_order_relaxed);
    phase.store(now + 1, std::memory_order_release);
    return;
  }
  for (int spins = 0; phase.load(std::memory_order_acquire) == now; ++spins)
    if (spins >= MOST_SPINS) std::this_thread::yield();
}

// body(memory) in every thread, with memory that the thread has made. No exception may leave a parallel region: where a
// thread gets no memory, none calls body, and the caller gets the exception.
template <class Make, class Body> void in_parallel(int threads, Make make, Body body) {
  std::atomic<bool> failed{false};
#pragma omp parallel num_threads(threads) if (threads > 1)
  {
    decltype(make()) memory;
    try {
      memory = make();
    } catch (const std::bad_alloc&) {
      failed = true;
    }
#pragma omp barrier
    if (!failed) body(memory);
  }
  if (failed) throw std::bad_alloc();
}

// body(team, run, share) for every run of the task. Each thread takes whole runs if there are enough runs. Else, and if
// populations are large, all threads share the individuals of one run after the other.
template <class real, class Body> void for_each_run(const Task<real>& task, int threads, int vectors, Body body) {
  const bool shared = shares_runs(threads, task.n_runs, task.pop_max, task.dim);
  threads = int(team_size(threads, task.n_runs, task.pop_max, task.dim));
  Barrier barrier;
  const auto make = [&] { return std::make_unique<Worker<real>>(task, vectors); };
  in_parallel(threads, make, [&](const std::unique_ptr<Worker<real>>& worker) {
    if (shared) {
      ThreadShare share(omp_get_thread_num(), omp_get_num_threads(), &barrier);  // OpenMP may give fewer threads
      for (i64 run = 0; run < task.n_runs; ++run) {
        body(worker->team, run, share);
        share.wait();
      }
    } else {
      ThreadShare share(0, 1, nullptr);
#pragma omp for schedule(dynamic)
      for (i64 run = 0; run < task.n_runs; ++run) body(worker->team, run, share);
    }
  });
}

// An algorithm's functions, by its place in SKDE_ALGORITHMS.
template <class real> const RunFunctions<real>& algorithm_functions(int algorithm) {
  static const RunFunctions<real>* const all[] = {
#define SKDE_CASE(name, Algorithm) &functions_of<Algorithm, real>(),
      SKDE_ALGORITHMS(SKDE_CASE)
#undef SKDE_CASE
  };
  return *all[algorithm];
}

template <class real> struct Drivers {
  static void run(int algorithm, const void* task_, i64 from, i64 until, int threads, AnyEvaluate evaluate,
                  int scratch) {
    const auto& task = *static_cast<const Task<real>*>(task_);
    const auto& functions = algorithm_functions<real>(algorithm);
    const Shared<real> shared(task);
    for (i64 g = from; g < until;) {
      for (int step = EMIGRATE; migrates(task, g) && step <= REORDER; ++step)
        migrate(algorithm, task_, g, step, threads);
      g = next_migration(task, g, until);
      for_each_run(task, threads, scratch, [&](Lane<real>& team, i64 run, ThreadShare& share) {
        functions.generations(team, task, shared, run, share, reinterpret_cast<Evaluate<real>>(evaluate), g);
      });
    }
  }
  static void propose(int algorithm, const void* task_, i64 g, int threads) {
    const auto& task = *static_cast<const Task<real>*>(task_);
    const auto& functions = algorithm_functions<real>(algorithm);
    for (int step = JUDGE; migrates(task, g - 1) && step <= REORDER; ++step)
      migrate(algorithm, task_, g - 1, step, threads);
    for_each_run(task, threads, 0,
                 [&](Lane<real>& team, i64 run, ThreadShare& share) { functions.propose(team, task, run, share, g); });
  }
  static void accept(int algorithm, const void* task_, i64 g, const void* trials, const void* f, int threads) {
    const auto& task = *static_cast<const Task<real>*>(task_);
    const auto& functions = algorithm_functions<real>(algorithm);
    for_each_run(task, threads, 0, [&](Lane<real>& team, i64 run, ThreadShare& share) {
      functions.accept(team, task, run, share, g, static_cast<const real*>(trials), static_cast<const real*>(f));
      share.wait();
      for (int stage = 0; functions.end_generation(team, task, run, share, g, stage); ++stage) share.wait();
    });
  }
  // The end of a parallel region is the barrier of all runs.
  static void migrate(int algorithm, const void* task_, i64 g, int step, int threads) {
    const auto& task = *static_cast<const Task<real>*>(task_);
    const auto& functions = algorithm_functions<real>(algorithm);
    for_each_run(task, threads, 0, [&](Lane<real>& team, i64 run, ThreadShare& share) {
      functions.migrate(team, task, run, share, g, step);
    });
  }
};

// The function of the data at the values of typed variables, which the scratch begins with.
template <class real> real evaluate_decoded(const real* x, i64, const Data<real>* data, real* scratch) {
  const i64 n = data->n_variables;
  for (int j = 0; j < n; ++j) scratch[j] = decoded(x, data->variables, j);
  return reinterpret_cast<Evaluate<real>>(std::intptr_t(data->function))(scratch, n, data, scratch + n);
}

template <class real> Data<real> with_function(Data<real> data, Evaluate<real> function) {
  data.function = reinterpret_cast<std::intptr_t>(function);
  return data;
}

// An Evaluation of coevolution.cuh through function pointers.
template <class real> struct GameOfFunctions {
  using Team = Lane<real>;
  const RunFunctions<real>&x, &y;
  const GameFunctions<real>& game;
  bool typed;

  bool decodes() const { return typed; }
  void evolve_x(Team& team, const Task<real>& task, const Shared<real>& shared, i64 r, ThreadShare& share,
                i64 until) const {
    evolve(x, game.against_y, team, task, shared, r, share, until);
  }
  void evolve_y(Team& team, const Task<real>& task, const Shared<real>& shared, i64 r, ThreadShare& share,
                i64 until) const {
    evolve(y, game.against_x, team, task, shared, r, share, until);
  }
  void reorder_x(Team& team, const Task<real>& task, i64 r, ThreadShare& share, i64 g) const {
    x.migrate(team, task, r, share, g, REFRESH);
  }
  void reorder_y(Team& team, const Task<real>& task, i64 r, ThreadShare& share, i64 g) const {
    y.migrate(team, task, r, share, g, REFRESH);
  }
  const real* features(Team& team, int, const real* point, int d, const Data<real>& data, real* out) const {
    if (typed) {
      decode(team, point, data, out);
      point = out, d = int(data.n_variables), out += d;
    }
    if (!game.describes) return point;
    game.features(point, d, &data, out);
    return out;
  }
  template <class Cycle> real fitness_of_x(const Cycle& cycle, int i, const real* point, const Data<real>& data) const {
    return game.fitness_of_x(cycle.features(*this, i, point), cycle.game_dx(*this), &data, nullptr);
  }
  real fitness_of_y(Team& team, int, const real* point, int d, const Data<real>& data) const {
    if (!typed) return game.against_x(point, d, &data, team.scratch);
    const Data<real> own = with_function(data, game.against_x);
    return evaluate_decoded(point, d, &own, team.scratch);
  }
  template <class Cycle>
  void values_of_x(const Cycle& cycle, int i, const real* point, const Data<real>& data, real* out) const {
    game.values_of_x(cycle.features(*this, i, point), cycle.game_dx(*this), &data, out);
  }

 private:
  void evolve(const RunFunctions<real>& side, Evaluate<real> function, Team& team, const Task<real>& task,
              const Shared<real>& shared, i64 r, ThreadShare& share, i64 until) const {
    if (!typed) return side.generations(team, task, shared, r, share, function, until);
    Shared<real> own = shared;
    own.data = with_function(own.data, function);
    side.generations(team, task, own, r, share, evaluate_decoded<real>, until);
  }
};

template <class real> struct CoevolutionDrivers {
  // body(cycle) for the runs; the arrays of the game are those of x, unless they are given.
  template <class Body>
  static void for_each(const void* co_, const void* x_, const void* y_, const void* incumbents_, int threads, Body body,
                       const Data<real>* game_data = nullptr) {
    const auto& co = *static_cast<const Coevolution<real>*>(co_);
    const auto &x = *static_cast<const Task<real>*>(x_), &y = *static_cast<const Task<real>*>(y_);
    const auto& incumbents = *static_cast<const Task<real>*>(incumbents_);
    const Data<real>& arrays = game_data ? *game_data : x.data;
    Task<real> largest = x;  // for the threads' memory
    largest.dim = std::max({x.dim, y.dim, x.data.n_variables + co.features, y.data.n_variables});
    largest.pop_max = std::max({x.pop_max, y.pop_max, co.capacity});
    largest.sorting_size = std::max(x.sorting_size, y.sorting_size);
    for_each_run(largest, threads, 1, [&](Lane<real>& team, i64 run, ThreadShare& share) {
      Cycle<Lane<real>, real, ThreadShare> cycle{co, x, y, incumbents, arrays, run, team, share};
      body(cycle);
    });
  }
  static void cycles(int algorithm_x, int algorithm_y, int game, const void* co, const void* x, const void* y,
                     const void* incumbents, i64 until, int threads) {
    const bool typed = static_cast<const Task<real>*>(x)->data.n_variables > 0;
    const GameOfFunctions<real> evaluation{algorithm_functions<real>(algorithm_x),
                                           algorithm_functions<real>(algorithm_y), game_functions<real>(game), typed};
    for_each(co, x, y, incumbents, threads, [&](auto& cycle) { cycle.cycles(evaluation, until); });
  }
  static void step(const void* co_, const void* x, const void* y, const void* incumbents, i64 c, int phase,
                   const void* values, i64 rows, i64 columns, int threads) {
    const auto& co = *static_cast<const Coevolution<real>*>(co_);
    const Data<real> data = features_data(co);
    for_each(
        co_, x, y, incumbents, threads,
        [&](auto& cycle) { step_with_values(cycle, c, phase, static_cast<const real*>(values), rows, columns); },
        &data);
  }
  // f[i, k] = the game's value of x[i] against opponent k.
  static void matrix(int game, const void* data, const void* x, i64 n, i64 d, void* f, int threads) {
    const auto function = game_functions<real>(game).values_of_x;
    const auto* opponents = static_cast<const Data<real>*>(data);
    const i64 m = opponents->size[0];
#pragma omp parallel for num_threads(threads) if (threads > 1 && n * m * d >= COMPONENTS_WORTH_SHARING)
    for (i64 k = 0; k < n; ++k)
      function(static_cast<const real*>(x) + k * d, d, opponents, static_cast<real*>(f) + k * m);
  }
};

template <class real>
void evaluate_rows(AnyEvaluate evaluate, int scratch, const void* data_, const void* x_, i64 n, i64 d, void* f_,
                   int threads) {
  const auto function = reinterpret_cast<Evaluate<real>>(evaluate);
  const auto* data = static_cast<const Data<real>*>(data_);
  const auto* x = static_cast<const real*>(x_);
  auto* f = static_cast<real*>(f_);
  const auto make = [&] { return std::vector<real>(size_t(d * scratch)); };
  in_parallel(n * d >= COMPONENTS_WORTH_SHARING ? threads : 1, make, [&](std::vector<real>& room) {
#pragma omp for
    for (i64 k = 0; k < n; ++k) f[k] = function(x + k * d, d, data, room.data());
  });
}

template <class real> void decode_rows(const void* x, i64 rows, i64 d, const void* table, i64 n, void* values) {
  for (i64 k = 0; k < rows; ++k)
    for (int j = 0; j < n; ++j)
      static_cast<real*>(values)[k * n + j] =
          decoded(static_cast<const real*>(x) + k * d, static_cast<const real*>(table), j);
}

extern const skde_core::Core core;
const skde_core::Core core = {
    SKDE_ISA,
    [](int algorithm, bool single, const void* task, i64 from, i64 until, int threads, AnyEvaluate evaluate,
       int scratch) {
      (single ? Drivers<float>::run : Drivers<double>::run)(algorithm, task, from, until, threads, evaluate, scratch);
    },
    [](int algorithm, bool single, const void* task, i64 g, int threads) {
      (single ? Drivers<float>::propose : Drivers<double>::propose)(algorithm, task, g, threads);
    },
    [](int algorithm, bool single, const void* task, i64 g, const void* trials, const void* f, int threads) {
      (single ? Drivers<float>::accept : Drivers<double>::accept)(algorithm, task, g, trials, f, threads);
    },
    [](int algorithm, bool single, const void* task, i64 g, int step, int threads) {
      (single ? Drivers<float>::migrate : Drivers<double>::migrate)(algorithm, task, g, step, threads);
    },
    [](bool single, AnyEvaluate evaluate, int scratch, const void* data, const void* x, i64 n, i64 d, void* f,
       int threads) {
      (single ? evaluate_rows<float> : evaluate_rows<double>)(evaluate, scratch, data, x, n, d, f, threads);
    },
    problem_address,
    [](bool single) {
      return single ? reinterpret_cast<AnyEvaluate>(&evaluate_decoded<float>)
                    : reinterpret_cast<AnyEvaluate>(&evaluate_decoded<double>);
    },
    [](bool single, const void* x, i64 rows, i64 d, const void* table, i64 n, void* values) {
      (single ? decode_rows<float> : decode_rows<double>)(x, rows, d, table, n, values);
    },
    [](bool single, int algorithm_x, int algorithm_y, int game, const void* co, const void* x, const void* y,
       const void* incumbents, i64 until, int threads) {
      (single ? CoevolutionDrivers<float>::cycles : CoevolutionDrivers<double>::cycles)(
          algorithm_x, algorithm_y, game, co, x, y, incumbents, until, threads);
    },
    [](bool single, const void* co, const void* x, const void* y, const void* incumbents, i64 c, int phase,
       const void* values, i64 rows, i64 columns, int threads) {
      (single ? CoevolutionDrivers<float>::step : CoevolutionDrivers<double>::step)(co, x, y, incumbents, c, phase,
                                                                                    values, rows, columns, threads);
    },
    [](bool single, int game, const void* data, const void* x, i64 n, i64 d, void* f, int threads) {
      (single ? CoevolutionDrivers<float>::matrix : CoevolutionDrivers<double>::matrix)(game, data, x, n, d, f,
                                                                                        threads);
    },
};

}  // namespace SKDE_NAMESPACE
