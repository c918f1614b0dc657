// The GPU kernels, compiled at run time for one algorithm, objective, precision and kind of team:
//   SKDE_ALGORITHM, SKDE_OBJECTIVE   C++ types of algorithms.cuh and problems/
//   SKDE_REAL                        double or float
//   SKDE_TEAM                        Warp or Block: the lanes that serve one individual
//   SKDE_USER_OBJECTIVE              1: the objective is a user's (problems/user.cuh)
//
// A group is the blocks that serve one run at a time: `blocks` of them, one group behind the other in the grid.
#include "algorithms.cuh"
#include "drive.cuh"
#include "problems/all.cuh"
#if SKDE_USER_OBJECTIVE
#include "problems/user.cuh"
#endif

namespace skde {

using real = SKDE_REAL;
using Team = SKDE_TEAM<real>;
using Algorithm = SKDE_ALGORITHM;
using Objective = SKDE_OBJECTIVE;

// How a launch uses the machine; chosen by the host.
struct Plan {
  i64 blocks;        // of a group
  i64 staged;        // bit 0: the bounds are copied into shared memory, bit k + 1: data array k
  i64 roomy;         // a team's trial and scratch are in shared memory, else in the new population and task.workspace
};

// Where this block and this team stand, and the team's memory. Shared memory holds, in this order: the staged arrays; the
// partial sums of every team (Block only); trial and scratch of every team (roomy only).
struct Place {
  int teams, number;  // of the block; this one
  i64 group, groups, block;
  real* memory;       // behind the staged arrays

  __device__ Place(const Plan& plan, real* memory)
      : teams(int(blockDim.x) / Team::size),
        number(int(threadIdx.x) / Team::size),
        group(blockIdx.x / plan.blocks),
        groups(gridDim.x / plan.blocks),
        block(blockIdx.x % plan.blocks),
        memory(memory) {}

  static constexpr int partials = Team::size == PARTIALS ? 2 * PARTIALS * int(sizeof(double) / sizeof(real)) : 0;

  __device__ Team team() const { return Team(memory + number * partials); }
  __device__ real* room(int dim) const {
    return memory + teams * partials + i64(number) * (1 + Objective::scratch) * dim;
  }
  __device__ real* workspace(real* all, int dim) const {
    return all + (i64(blockIdx.x) * teams + number) * Objective::scratch * dim;
  }
};

// A team takes every (teams of the group)-th individual.
struct GroupShare {
  int begin, end = 0, step;
  bool leader;
  unsigned* arrivals;
  unsigned blocks, expected = 0;

  __device__ GroupShare(const Place& place, const Plan& plan, i64* arrivals)
      : begin(int(place.block) * place.teams + place.number),
        step(int(plan.blocks) * place.teams),
        leader(begin == 0),
        arrivals(reinterpret_cast<unsigned*>(arrivals + place.group)),
        blocks(unsigned(plan.blocks)) {}

  __device__ void divide(int pop) { end = pop; }

  // All blocks of the group meet. The counter only grows; the host clears it before the launch.
  __device__ void barrier() {
    __syncthreads();
    if (blocks == 1) return;
    expected += blocks;
    if (threadIdx.x == 0) {
      asm volatile("red.release.gpu.global.add.u32 [%0], 1;" ::"l"(arrivals) : "memory");
      unsigned seen;
      do {
        asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(seen) : "l"(arrivals) : "memory");
      } while (seen < expected);
    }
    __syncthreads();
  }
};

// Copies what every individual reads into shared memory, as far as the plan says; returns what lies behind.
__device__ inline real* stage(Shared<real>& shared, const Plan& plan, int dim, real* memory) {
  const auto copy = [&](const real*& array, i64 size) {
    for (i64 k = threadIdx.x; k < size; k += blockDim.x) memory[k] = array[k];
    array = memory;
    memory += size;
  };
  if (plan.staged & 1) {
    copy(shared.lower, dim);
    copy(shared.upper, dim);
  }
#pragma unroll
  for (int k = 0; k < MAX_ARRAYS; ++k)
    if (plan.staged >> (k + 1) & 1) copy(shared.data.array[k], shared.data.size[k]);
  __syncthreads();
  return memory;
}

extern __shared__ __align__(16) unsigned char shared_memory[];

}  // namespace skde

extern "C" __global__ void __launch_bounds__(SKDE_THREADS)
    run(const __grid_constant__ skde::Task<skde::real> task, const __grid_constant__ skde::Plan plan,
        const skde::i64 until) {
  using namespace skde;
  const int dim = int(task.dim);
  Shared<real> shared(task);
  const Place place(plan, stage(shared, plan, dim, reinterpret_cast<real*>(shared_memory)));
  Team team = place.team();
  real* const room = plan.roomy ? place.room(dim) : nullptr;
  team.scratch = room ? room + dim : place.workspace(task.workspace, dim);
  GroupShare share(place, plan, task.arrivals);
  for (i64 r = place.group; r < task.n_runs; r += place.groups)
    generations<Algorithm>(team, task, shared, r, share, Objective{}, room, until);
}

extern "C" __global__ void propose(const __grid_constant__ skde::Task<skde::real> task,
                                   const __grid_constant__ skde::Plan plan, const skde::i64 g) {
  using namespace skde;
  const Place place(plan, reinterpret_cast<real*>(shared_memory));
  Team team = place.team();
  GroupShare share(place, plan, task.arrivals);
  for (i64 r = place.group; r < task.n_runs; r += place.groups) propose<Algorithm>(team, task, r, share, g);
}

extern "C" __global__ void accept(const __grid_constant__ skde::Task<skde::real> task,
                                  const __grid_constant__ skde::Plan plan, const skde::i64 g,
                                  const skde::real* trials, const skde::real* f) {
  using namespace skde;
  const Place place(plan, reinterpret_cast<real*>(shared_memory));
  Team team = place.team();
  GroupShare share(place, plan, task.arrivals);
  for (i64 r = place.group; r < task.n_runs; r += place.groups)
    accept<Algorithm>(team, task, r, share, g, trials, f);
}

extern "C" __global__ void rank(const __grid_constant__ skde::Task<skde::real> task,
                                const __grid_constant__ skde::Plan plan, const skde::i64 g) {
  using namespace skde;
  const Place place(plan, reinterpret_cast<real*>(shared_memory));
  Team team = place.team();
  GroupShare share(place, plan, task.arrivals);
  for (i64 r = place.group; r < task.n_runs; r += place.groups) rank<Algorithm>(team, task, r, share, g);
}

// f[k] = objective(x[k]) for n rows, a team a row.
extern "C" __global__ void evaluate(const __grid_constant__ skde::Task<skde::real> task,
                                    const __grid_constant__ skde::Plan plan, const skde::real* x, const skde::i64 n,
                                    skde::real* f) {
  using namespace skde;
  const int dim = int(task.dim);
  Shared<real> shared(task);
  const Place place(plan, stage(shared, plan, dim, reinterpret_cast<real*>(shared_memory)));
  Team team = place.team();
  team.scratch = plan.roomy ? place.room(dim) + dim : place.workspace(task.workspace, dim);
  for (i64 k = i64(blockIdx.x) * place.teams + place.number; k < n; k += i64(gridDim.x) * place.teams) {
    const real value = Objective{}(team, x + k * dim, dim, shared.data);
    team.sync();
    if (team.lane == 0) f[k] = value;
  }
}
