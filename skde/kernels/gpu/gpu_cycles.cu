// Co-evolution's persistent driver: whole cycles of all runs in one cooperative launch. Compiled for SKDE_ALGORITHM_X,
// SKDE_ALGORITHM_Y and SKDE_GAME, C++ types of algorithms/all.cuh and games.cuh.
#include "algorithms/all.cuh"
#include "coevolution/coevolution.cuh"
#include "coevolution/games.cuh"
#include "gpu/gpu.cuh"

extern "C" __global__ void __launch_bounds__(SKDE_THREADS, SKDE_RESIDENT)
    cycles(const __grid_constant__ skde::Coevolution<skde::real> co, const __grid_constant__ skde::Plan plan,
           const __grid_constant__ skde::Task<skde::real> x, const __grid_constant__ skde::Task<skde::real> y,
           const __grid_constant__ skde::Task<skde::real> incumbents, const skde::i64 until) {
  using namespace skde;
  const int dim = int(max_of(x.dim, y.dim));
  const Place place(plan, reinterpret_cast<real*>(shared_memory));
  Team team = place.team();
  team.scratch = place.scratch_of(incumbents.workspace, dim);
  GroupShare share(place, plan, incumbents.arrivals);
  const CompiledGame<SKDE_ALGORITHM_X, SKDE_ALGORITHM_Y, SKDE_GAME, real> evaluation{
      place.room(incumbents.workspace, dim)};
  for (i64 r = place.group; r < incumbents.n_runs; r += place.groups)
    Cycle<Team, real, GroupShare>{co, x, y, incumbents, x.data, r, team, share}.cycles(evaluation, until);
}
