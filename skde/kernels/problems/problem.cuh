// The data of problems, and the form of their functors.
//
//   struct Name {
//     static constexpr int scratch = 0;   // number of vectors of length d that it needs in team.scratch
//     template <class Team, class real>
//     SKDE_FN real operator()(Team& team, const real* x, int d, const Data<real>& data) const;
//   };
//
// A functor that writes to team.scratch calls team.sync() before other lanes read it.
#pragma once
#include "core/math.cuh"
#include "teams/team.cuh"

namespace SKDE_NAMESPACE {

constexpr int MAX_ARRAYS = 8;

// The problem's arrays, in the order of the Python object. Where it has typed variables: their table and their number
// (variables.cuh) and, on the CPU, the address of the problem's function.
template <class real> struct Data {
  const real* array[MAX_ARRAYS];
  i64 size[MAX_ARRAYS];
  const real* variables;
  i64 n_variables, function;

  // The arrays from number k on, for a functor that is part of another.
  SKDE_FN Data from(int k) const {
    Data rest{};
    for (int n = k; n < MAX_ARRAYS; ++n) rest.array[n - k] = array[n], rest.size[n - k] = size[n];
    return rest;
  }
};

// A functor that is part of several problems. On a CPU they share its code, which takes long to compile.
template <class Part> struct Outlined {
  static constexpr int scratch = Part::scratch;
  template <class Team, class real>
  SKDE_OUTLINE real operator()(Team& team, const real* x, int d, const Data<real>& data) const {
    return Part{}(team, x, d, data);
  }
};

}  // namespace SKDE_NAMESPACE
