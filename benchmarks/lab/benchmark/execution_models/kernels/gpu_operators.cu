// Differential evolution with a kernel for each operator, which writes its result to memory for the next.
#include "algorithms/all.cuh"
#include "gpu/each_run.cuh"
#include "operators.cuh"

extern "C" __global__ void prepare(const __grid_constant__ skde::Task<skde::real> task,
                                   const __grid_constant__ skde::Plan plan, const skde::i64 g, const skde::i64* clock,
                                   skde::PreparedTrial* prepared) {
  using namespace skde;
  for_each_run(task, plan, [&](Team& team, GroupShare& share, i64 r) {
    prepare<SKDE_ALGORITHM>(team, task, r, share, generation(clock, g), prepared);
  });
}

extern "C" __global__ void mutate(const __grid_constant__ skde::Task<skde::real> task,
                                  const __grid_constant__ skde::Plan plan, const skde::i64 g, const skde::i64* clock,
                                  const skde::PreparedTrial* prepared, skde::real* mutants) {
  using namespace skde;
  for_each_run(task, plan, [&](Team& team, GroupShare& share, i64 r) {
    mutate<SKDE_ALGORITHM>(team, task, r, share, generation(clock, g), prepared, mutants);
  });
}

extern "C" __global__ void cross(const __grid_constant__ skde::Task<skde::real> task,
                                 const __grid_constant__ skde::Plan plan, const skde::i64 g, const skde::i64* clock,
                                 const skde::PreparedTrial* prepared, const skde::real* mutants) {
  using namespace skde;
  for_each_run(task, plan, [&](Team& team, GroupShare& share, i64 r) {
    cross_mutants<SKDE_ALGORITHM>(team, task, r, share, generation(clock, g), prepared, mutants);
  });
}
