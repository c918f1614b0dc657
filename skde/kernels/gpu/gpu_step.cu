// The step driver, for objectives that the host evaluates: a launch for each half of a generation, for each stage after
// it and for each step of a migration.
#include "algorithms/all.cuh"
#include "core/drive.cuh"
#include "gpu/each_run.cuh"

extern "C" __global__ void propose(const __grid_constant__ skde::Task<skde::real> task,
                                   const __grid_constant__ skde::Plan plan, const skde::i64 g, const skde::i64* clock,
                                   skde::real* trials) {
  using namespace skde;
  for_each_run(task, plan, [&](Team& team, GroupShare& share, i64 r) {
    propose<SKDE_ALGORITHM>(team, task, r, share, generation(clock, g), trials);
  });
}

extern "C" __global__ void accept(const __grid_constant__ skde::Task<skde::real> task,
                                  const __grid_constant__ skde::Plan plan, const skde::i64 g, const skde::i64* clock,
                                  const skde::real* trials, const skde::real* f) {
  using namespace skde;
  for_each_run(task, plan, [&](Team& team, GroupShare& share, i64 r) {
    accept<SKDE_ALGORITHM>(team, task, r, share, generation(clock, g), trials, f);
  });
}

extern "C" __global__ void end_generation(const __grid_constant__ skde::Task<skde::real> task,
                                          const __grid_constant__ skde::Plan plan, const skde::i64 g,
                                          const skde::i64* clock, const skde::i64 stage) {
  using namespace skde;
  for_each_run(task, plan, [&](Team& team, GroupShare& share, i64 r) {
    end_generation<SKDE_ALGORITHM>(team, task, r, share, generation(clock, g), int(stage));
  });
}

// One step of the migration after generation g. The host launches it after generations with a migration only, or, where
// a clock counts, after all of them.
extern "C" __global__ void migrate(const __grid_constant__ skde::Task<skde::real> task,
                                   const __grid_constant__ skde::Plan plan, const skde::i64 g, const skde::i64* clock,
                                   const skde::i64 step) {
  using namespace skde;
  const i64 now = generation(clock, g);
  if (clock && !migrates(task, now)) return;
  for_each_run(task, plan, [&](Team& team, GroupShare& share, i64 r) {
    migrate<SKDE_ALGORITHM>(team, task, r, share, now, int(step));
  });
}

extern "C" __global__ void tick(skde::i64* clock) { *clock += 1; }
