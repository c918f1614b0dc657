// The form of a compiled objective on the CPU: one function pointer for each problem and precision, so that the drivers
// are compiled once for all problems. A user's objective that is compiled at run time has the same form.
#pragma once
#include "problems/problem.cuh"

namespace SKDE_NAMESPACE {

template <class real> using Evaluate = real (*)(const real* x, i64 d, const Data<real>* data, real* scratch);

template <class Problem, class real> real evaluate(const real* x, i64 d, const Data<real>* data, real* scratch) {
  Lane<real> team;
  team.scratch = scratch;
  return Problem{}(team, x, int(d), *data);
}

}  // namespace SKDE_NAMESPACE
