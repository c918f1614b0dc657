// The step driver: the two halves of one generation (and, after it, the parts of what some algorithms end_generation) as launches of
// their own, for objectives that the host evaluates.
//
// The generation is `g`, or with a clock `*clock + g`: a recorded graph is replayed with the same arguments, so there the
// device counts.
#include "algorithms/all.cuh"
#include "core/drive.cuh"
#include "gpu/gpu.cuh"

namespace skde {

SKDE_FN i64 generation(const i64* clock, i64 g) { return clock ? *clock + g : g; }

// body(team, share, run) for the runs of this block's group.
template <class Body> __device__ void for_each_run(const Task<real>& task, const Plan& plan, Body body) {
  const Place place(plan, reinterpret_cast<real*>(shared_memory));
  Team team = place.team();
  GroupShare share(place, plan, task.arrivals);
  for (i64 r = place.group; r < task.n_runs; r += place.groups) body(team, share, r);
}

}  // namespace skde

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

// One step of the meeting of the islands after generation g. The host knows when they meet, unless a clock counts.
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
