// One algorithm, the C++ type SKDE_ALGORITHM, on the CPU for one instruction set: the drivers compiled for it. The
// build compiles this file for every type in algorithms/all.cuh.
#include "cpu/cpu_algorithm.hpp"
#include "algorithms/all.cuh"
#include "core/drive.cuh"

namespace SKDE_NAMESPACE {

template <class real> struct CompiledObjective {
  Evaluate<real> function;
  real operator()(Lane<real>& team, const real* x, int d, const Data<real>& data) const {
    return function(x, d, &data, team.scratch);
  }
};

template <class Algorithm, class real> const RunFunctions<real>& functions_of() {
  using Team = Lane<real>;
  static constexpr RunFunctions<real> functions = {
      [](Team& team, const Task<real>& task, const Shared<real>& shared, i64 r, ThreadShare& share,
         Evaluate<real> objective, i64 until) {
        generations<Algorithm>(team, task, shared, r, share, CompiledObjective<real>{objective}, team.trial, until);
      },
      [](Team& team, const Task<real>& task, i64 r, ThreadShare& share, i64 g) {
        propose<Algorithm>(team, task, r, share, g, static_cast<real*>(nullptr));
      },
      [](Team& team, const Task<real>& task, i64 r, ThreadShare& share, i64 g, const real* trials, const real* f) {
        accept<Algorithm>(team, task, r, share, g, trials, f);
      },
      [](Team& team, const Task<real>& task, i64 r, ThreadShare& share, i64 g, int stage) {
        return end_generation<Algorithm>(team, task, r, share, g, stage);
      },
      [](Team& team, const Task<real>& task, i64 r, ThreadShare& share, i64 g, int step) {
        migrate<Algorithm>(team, task, r, share, g, step);
      },
  };
  return functions;
}

template const RunFunctions<double>& functions_of<SKDE_ALGORITHM, double>();
template const RunFunctions<float>& functions_of<SKDE_ALGORITHM, float>();

}  // namespace SKDE_NAMESPACE
