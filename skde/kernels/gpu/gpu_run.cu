// The persistent driver: whole generations of all runs in one cooperative launch.
#include "algorithms/all.cuh"
#include "core/drive.cuh"
#include "gpu/gpu.cuh"
#ifdef SKDE_USER_SCRATCH
#include "problems/user.cuh"
#else
#include "problems/all.cuh"
#endif
#include "problems/variables.cuh"

extern "C" __global__ void __launch_bounds__(SKDE_THREADS, SKDE_RESIDENT)
    run(const __grid_constant__ skde::Task<skde::real> task, const __grid_constant__ skde::Plan plan,
        const skde::i64 from, const skde::i64 until) {
  using namespace skde;
  const int dim = int(task.dim);
  Shared<real> shared(task);
  const Place place(plan, stage(shared, plan, dim, reinterpret_cast<real*>(shared_memory)));
  Team team = place.team();
  real* const room = place.room(task.workspace, dim);
  team.scratch = place.scratch_of(task.workspace, dim);
  GroupShare share(place, plan, task.arrivals);
  if (BUSY) team.ahead.stride = share.step;
#ifdef SKDE_ISLANDS
  const auto all_runs = [&](auto body) {
    for (i64 r = place.group; r < task.n_runs; r += place.groups) body(r);
  };
  // A part of the generations at a time, up to a migration. Only migrations need a barrier of the whole grid.
  BlockBarrier grid(task.arrivals + task.n_runs, gridDim.x);
  const auto barrier = [&] { grid.arrive(), grid.wait(); };
  for (i64 g = from; g < until;) {
    if (migrates(task, g)) {
      barrier();
      all_runs([&](i64 r) { emigrate<SKDE_ALGORITHM>(team, task, r, share, g); });
      barrier();
      all_runs([&](i64 r) { immigrate<SKDE_ALGORITHM>(team, task, r, share, g); });
      barrier();
      all_runs([&](i64 r) { restore<SKDE_ALGORITHM>(team, task, r, share, g); });
      barrier();
    }
    g = next_migration(task, g, until);
    all_runs([&](i64 r) { generations<SKDE_ALGORITHM>(team, task, shared, r, share, SKDE_OBJECTIVE{}, room, g); });
  }
#else
  (void)from;
  // Not by a lambda, which may become a function that is called: then the team and the share are not in registers.
  for (i64 r = place.group; r < task.n_runs; r += place.groups)
    generations<SKDE_ALGORITHM>(team, task, shared, r, share, SKDE_OBJECTIVE{}, room, until);
#endif
}
