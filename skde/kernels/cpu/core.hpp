// The interface of a build of the CPU core (one for each instruction set, cpu_isa.cpp) to the Python module (cpu.cpp).
#pragma once

namespace skde_core {

using i64 = long long;

// An objective: double or float, as the task's arrays are; x (d), data (Data<real>), scratch (as many vectors as it
// needs).
using AnyEvaluate = void (*)();

struct Core {
  const char* isa;  // the compiler's name for the instruction set

  // Whole generations of all runs, up to number `until`. The smallest generation of a run is `from`.
  void (*run)(int algorithm, bool single, const void* task, i64 from, i64 until, int threads, AnyEvaluate evaluate,
              int scratch);
  // The trials of generation g.
  void (*propose)(int algorithm, bool single, const void* task, i64 g, int threads);
  // Selection, with the trials (null: those proposed) and their values.
  void (*accept)(int algorithm, bool single, const void* task, i64 g, const void* trials, const void* f, int threads);
  // One step of the migration after generation g: Step of drive.cuh.
  void (*migrate)(int algorithm, bool single, const void* task, i64 g, int step, int threads);
  // f[k] = objective(x[k]) for n rows of length d.
  void (*evaluate)(bool single, AnyEvaluate evaluate, int scratch, const void* data, const void* x, i64 n, i64 d,
                   void* f, int threads);
  // The address of a compiled problem, by its place in SKDE_PROBLEMS.
  AnyEvaluate (*problem)(int problem, bool single);
  // The address of the function that decodes typed variables and then calls that of the data.
  AnyEvaluate (*decoding)(bool single);
  // The values of n typed variables at rows of length d.
  void (*decode)(bool single, const void* x, i64 rows, i64 d, const void* table, i64 n, void* values);
  // Whole cycles of co-evolution, up to number `until`, by the algorithms of both sides, in a game of SKDE_GAMES.
  void (*cycles)(bool single, int algorithm_x, int algorithm_y, int game, const void* coevolution, const void* x,
                 const void* y, const void* incumbents, i64 until, int threads);
  // One phase of cycle c where the host evaluates (requests.cuh), with its values, of shape (runs, rows, columns).
  void (*coevolution_step)(bool single, const void* coevolution, const void* x, const void* y, const void* incumbents,
                           i64 c, int phase, const void* values, i64 rows, i64 columns, int threads);
  // f[i, k] = the value of x[i] against opponent k, for n rows of length d.
  void (*matrix)(bool single, int game, const void* opponents, const void* x, i64 n, i64 d, void* f, int threads);
};

}  // namespace skde_core
