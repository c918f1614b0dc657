// The CPU core as a library that counts its own operations, for test_operations.py. The core's files are compiled with
// -fsanitize-coverage=trace-pc: the compiler then calls __sanitizer_cov_trace_pc in every basic block, so a pass of a loop counts
// as one operation or a few, wherever the loop is. This file is compiled without that option.
#include <cstdlib>

#include "cpu/core.hpp"
#include "cpu/cpu_compiled.hpp"

namespace SKDE_NAMESPACE {

extern const skde_core::Core core;

// The test needs neither the compiled problems nor the games.
skde_core::AnyEvaluate problem_address(int, bool) { abort(); }
template <class real> const GameFunctions<real>& game_functions(int) { abort(); }
template const GameFunctions<double>& game_functions<double>(int);
template const GameFunctions<float>& game_functions<float>(int);

double sphere(const double* x, i64 d, const Data<double>*, double*) {
  double sum = 0;
  for (i64 j = 0; j < d; ++j) sum += x[j] * x[j];
  return sum;
}

}  // namespace SKDE_NAMESPACE

static unsigned long long operations;

extern "C" {

void __sanitizer_cov_trace_pc() { ++operations; }

// The operations of one thread from the initial populations up to the end of generation `until`.
__attribute__((visibility("default"))) unsigned long long count_operations(int algorithm, const void* task,
                                                                           long long until) {
  using namespace SKDE_NAMESPACE;
  operations = 0;
  core.run(algorithm, false, task, -1, until, 1, reinterpret_cast<skde_core::AnyEvaluate>(sphere), 0);
  return operations;
}
}
