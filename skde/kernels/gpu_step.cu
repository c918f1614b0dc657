// The step driver: the two halves of one generation (and, before it, the ranking that some strategies need) as launches of
// their own, for objectives that the host evaluates.
#include "algorithms.cuh"
#include "drive.cuh"
#include "gpu.cuh"

extern "C" __global__ void propose(const __grid_constant__ skde::Task<skde::real> task,
                                   const __grid_constant__ skde::Plan plan, const skde::i64 g) {
  using namespace skde;
  const Place place(plan, reinterpret_cast<real*>(shared_memory));
  Team team = place.team();
  GroupShare share(place, plan, task.arrivals);
  for (i64 r = place.group; r < task.n_runs; r += place.groups) propose<SKDE_ALGORITHM>(team, task, r, share, g);
}

extern "C" __global__ void accept(const __grid_constant__ skde::Task<skde::real> task,
                                  const __grid_constant__ skde::Plan plan, const skde::i64 g,
                                  const skde::real* trials, const skde::real* f) {
  using namespace skde;
  const Place place(plan, reinterpret_cast<real*>(shared_memory));
  Team team = place.team();
  GroupShare share(place, plan, task.arrivals);
  for (i64 r = place.group; r < task.n_runs; r += place.groups)
    accept<SKDE_ALGORITHM>(team, task, r, share, g, trials, f);
}

extern "C" __global__ void rank(const __grid_constant__ skde::Task<skde::real> task,
                                const __grid_constant__ skde::Plan plan, const skde::i64 g) {
  using namespace skde;
  const Place place(plan, reinterpret_cast<real*>(shared_memory));
  Team team = place.team();
  GroupShare share(place, plan, task.arrivals);
  for (i64 r = place.group; r < task.n_runs; r += place.groups) rank<SKDE_ALGORITHM>(team, task, r, share, g);
}
