// What the host needs of co-evolution where it evaluates: the steps between the turns, and a game's values.
#include "coevolution/coevolution.cuh"
#include "gpu/gpu.cuh"
#ifdef SKDE_GAME
#include "coevolution/games.cuh"
#endif

// One step of cycle c (CoevolutionStep).
extern "C" __global__ void step(const __grid_constant__ skde::Coevolution<skde::real> co,
                                const __grid_constant__ skde::Plan plan,
                                const __grid_constant__ skde::Task<skde::real> x,
                                const __grid_constant__ skde::Task<skde::real> y,
                                const __grid_constant__ skde::Task<skde::real> answers, const skde::i64 c,
                                const skde::i64 step) {
  using namespace skde;
  const Place place(plan, reinterpret_cast<real*>(shared_memory));
  Team team = place.team();
  GroupShare share(place, plan, answers.arrivals);
  for (i64 r = place.group; r < answers.n_runs; r += place.groups)
    Cycle<Team, real, GroupShare>{co, x, y, answers, r, team, share}.step(c, int(step));
}

#ifdef SKDE_GAME
// f[i, k] = the value of row i of x, n rows of length d, against opponent k: a team a row.
extern "C" __global__ void matrix(const __grid_constant__ skde::Task<skde::real> opponents,
                                  const __grid_constant__ skde::Plan plan, const skde::real* x, const skde::i64 n,
                                  const skde::i64 d, skde::real* f) {
  using namespace skde;
  const Place place(plan, reinterpret_cast<real*>(shared_memory));
  Team team = place.team();
  const i64 m = opponents.data.size[0];
  for (i64 i = i64(blockIdx.x) * place.teams + place.number; i < n; i += i64(gridDim.x) * place.teams)
    row_of_values<SKDE_GAME>(team, x + i * d, int(d), opponents.data, f + i * m);
}
#endif
