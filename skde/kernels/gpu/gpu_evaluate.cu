// An objective on the rows of an array.
#include "gpu/gpu.cuh"
#ifdef SKDE_USER_SCRATCH
#include "problems/user.cuh"
#else
#include "problems/all.cuh"
#endif
#include "problems/variables.cuh"

// f[k] = objective(x[k]) for n rows, by one team for each row.
extern "C" __global__ void evaluate(const __grid_constant__ skde::Task<skde::real> task,
                                    const __grid_constant__ skde::Plan plan, const skde::real* x, const skde::i64 n,
                                    skde::real* f) {
  using namespace skde;
  const int dim = int(task.dim);
  Shared<real> shared(task);
  const Place place(plan, stage(shared, plan, dim, reinterpret_cast<real*>(shared_memory)));
  Team team = place.team();
  team.scratch = place.scratch_of(task.workspace, dim);
  for (i64 k = i64(blockIdx.x) * place.teams + place.number; k < n; k += i64(gridDim.x) * place.teams) {
    const real value = SKDE_OBJECTIVE{}(team, x + k * dim, dim, shared.data);
    team.sync();
    if (team.lane == 0) f[k] = value;
  }
}
