// Kernels that make one generation, or a part of it, of every run.
//
// The generation is `g`, or with a clock `*clock + g`. A recorded graph is replayed with the same arguments, so the
// device counts the generations there.
#pragma once
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
