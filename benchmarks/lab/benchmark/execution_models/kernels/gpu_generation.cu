// One generation a launch, where the objective is compiled: mutation, crossover, evaluation and selection in one kernel
// (`make`), or evaluation alone (`evaluate`).
#include "algorithms/all.cuh"
#include "generation.cuh"
#include "gpu/each_run.cuh"
#include "operators.cuh"
#ifdef SKDE_USER_SCRATCH
#include "problems/user.cuh"
#else
#include "problems/all.cuh"
#endif
#include "problems/variables.cuh"

namespace skde {

// body(team, share, run, shared, room) for the runs of this block's group; room is the team's shared memory, or null.
template <class Body> __device__ void with_memory(const Task<real>& task, const Plan& plan, Body body) {
  const int dim = int(task.dim);
  Shared<real> shared(task);
  const Place place(plan, stage(shared, plan, dim, reinterpret_cast<real*>(shared_memory)));
  Team team = place.team();
  real* const room = place.room(task.workspace, dim);
  team.scratch = place.scratch_of(task.workspace, dim);
  GroupShare share(place, plan, task.arrivals);
  for (i64 r = place.group; r < task.n_runs; r += place.groups) body(team, share, r, shared, room);
}

}  // namespace skde

// `prepared`: the words that kernel `prepare` of gpu_operators.cu has made for this generation.
extern "C" __global__ void __launch_bounds__(SKDE_THREADS, SKDE_RESIDENT)
    make(const __grid_constant__ skde::Task<skde::real> task, const __grid_constant__ skde::Plan plan,
         const skde::i64 g, const skde::i64* clock, const skde::PreparedTrial* prepared) {
  using namespace skde;
  const i64 now = generation(clock, g);
  with_memory(task, plan, [&](Team& team, GroupShare& share, i64 r, const Shared<real>& shared, real* room) {
    make_generation<SKDE_ALGORITHM>(team, task, shared, r, share, SKDE_OBJECTIVE{}, room, now,
                                    [&](const auto& run, int i) {
                                      if constexpr (has_operators<SKDE_ALGORITHM>)
                                        return PreparedDraws<Team>(team, run, now, i, prepared[r * task.pop_max + i]);
                                      else
                                        return DrawsOf<SKDE_ALGORITHM, Team>(team, run, now, i);
                                    });
  });
}

extern "C" __global__ void __launch_bounds__(SKDE_THREADS, SKDE_RESIDENT)
    evaluate(const __grid_constant__ skde::Task<skde::real> task, const __grid_constant__ skde::Plan plan,
             const skde::i64 g, const skde::i64* clock, skde::real* f) {
  using namespace skde;
  with_memory(task, plan, [&](Team& team, GroupShare& share, i64 r, const Shared<real>& shared, real*) {
    evaluate_trials<SKDE_ALGORITHM>(team, task, shared, r, share, SKDE_OBJECTIVE{}, generation(clock, g), f);
  });
}

// The count of the evaluations where population sizes vary.
extern "C" __global__ void count(const __grid_constant__ skde::Task<skde::real> task,
                                 const __grid_constant__ skde::Plan plan, const skde::i64 g, const skde::i64* clock) {
  using namespace skde;
  for_each_run(task, plan, [&](Team& team, GroupShare& share, i64 r) {
    count_generation<SKDE_ALGORITHM>(team, task, r, share, generation(clock, g));
  });
}

// Advances the device's clock after the generations of a recorded graph.
extern "C" __global__ void advance(skde::i64* clock, const skde::i64 generations) { *clock += generations; }
