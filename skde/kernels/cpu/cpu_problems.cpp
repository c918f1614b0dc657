// The compiled problems on the CPU, for one instruction set.
#include "cpu/cpu_compiled.hpp"
#include "problems/all.cuh"

namespace SKDE_NAMESPACE {

skde_core::AnyEvaluate problem_address(int problem, bool single) {
  static const skde_core::AnyEvaluate addresses[][2] = {
#define SKDE_CASE(name, Problem)                                         \
  {reinterpret_cast<skde_core::AnyEvaluate>(&evaluate<Problem, double>), \
   reinterpret_cast<skde_core::AnyEvaluate>(&evaluate<Problem, float>)},
      SKDE_PROBLEMS(SKDE_CASE)
#undef SKDE_CASE
  };
  return addresses[problem][single];
}

}  // namespace SKDE_NAMESPACE
