// Co-evolution where the host evaluates: single phases of a cycle, and the values of a game.
#include "coevolution/requests.cuh"
#include "gpu/gpu.cuh"
#ifdef SKDE_GAME
#include "coevolution/games.cuh"
#endif

// One phase of cycle c, with its values, of shape (runs, rows, columns).
extern "C" __global__ void step(const __grid_constant__ skde::Coevolution<skde::real> co,
                                const __grid_constant__ skde::Plan plan,
                                const __grid_constant__ skde::Task<skde::real> x,
                                const __grid_constant__ skde::Task<skde::real> y,
                                const __grid_constant__ skde::Task<skde::real> incumbents, const skde::i64 c,
                                const skde::i64 phase, const skde::real* values, const skde::i64 rows,
                                const skde::i64 columns) {
  using namespace skde;
  const Place place(plan, reinterpret_cast<real*>(shared_memory));
  Team team = place.team();
  GroupShare share(place, plan, incumbents.arrivals);
  const Data<real> data = features_data(co);
  for (i64 r = place.group; r < incumbents.n_runs; r += place.groups) {
    Cycle<Team, real, GroupShare> cycle{co, x, y, incumbents, data, r, team, share};
    step_with_values(cycle, c, int(phase), values, rows, columns);
  }
}

#ifdef SKDE_GAME
// f[i, k] = the value of row i of x, n rows of length d, against opponent k: one team for each row.
extern "C" __global__ void matrix(const __grid_constant__ skde::Task<skde::real> opponents,
                                  const __grid_constant__ skde::Plan plan, const skde::real* x, const skde::i64 n,
                                  const skde::i64 d, skde::real* f) {
  using namespace skde;
  const Place place(plan, reinterpret_cast<real*>(shared_memory));
  Team team = place.team();
  const i64 m = opponents.data.size[0];
  for (i64 i = i64(blockIdx.x) * place.teams + place.number; i < n; i += i64(gridDim.x) * place.teams)
    values_of_x<SKDE_GAME>(team, Point<real>{x + i * d}, int(d), opponents.data, f + i * m);
}
#endif
