// The common part of the GPU's kernels, the files gpu_*.cu. They are compiled at run time for
//   SKDE_REAL         double or float
//   SKDE_TEAM         Block, Warp, Tile16, Tile8, Tile4 or Tile1: the lanes that work on one individual
//   SKDE_THREADS      threads of a block, and SKDE_RESIDENT, how many such blocks a multiprocessor must be able to hold
//   SKDE_ALGORITHM    C++ type of algorithms/all.cuh, where the kernel has one
//   SKDE_OBJECTIVE    C++ type of problems/, likewise
//   SKDE_ISLANDS      where runs are islands that migrate inside a launch, SKDE_TIMED, where runs have clocks,
//                     SKDE_LARGE, where populations are large, SKDE_RANKED, where they are ranked, SKDE_OPPOSITION,
//                     where there are generations of opposites, SKDE_TOL, where large populations have a tol, and
//                     SKDE_TRIALS_SHARED, where a team's trials and scratch are in shared memory, with the number of
//                     trials that the team evaluates together (problem.cuh); else they are in the new population and
//                     in task.workspace
//   SKDE_MARKS        where points that individuals keep are marked (run.cuh), and SKDE_ROOM, where a team then has room
//                     for a trial in task.workspace if it has none in shared memory
//
// A group is the blocks that work on one run at a time: `blocks` of them, which follow each other in the grid.
#pragma once
#include "core/run.cuh"
#include "gpu/plan.cuh"
#include "gpu/team_share.cuh"

namespace skde {

using real = SKDE_REAL;
using Team = SKDE_TEAM<real>;

// The places of this block and this team in the grid, and the team's memory. Shared memory has, in this order: the
// staged arrays; the partial sums of every team (Block only); trials and scratch of every team (with
// SKDE_TRIALS_SHARED only).
struct Place {
#ifdef SKDE_ROOM
  static constexpr int ROOM = 1;
#else
  static constexpr int ROOM = 0;
#endif
  int teams, number;  // of the block; this one
  i64 group, groups, block, scratch;
  real* memory;  // after the staged arrays

  __device__ Place(const Plan& plan, real* memory)
      : teams(int(blockDim.x) / Team::size),
        number(int(threadIdx.x) / Team::size),
        group(blockIdx.x / plan.blocks),
        groups(gridDim.x / plan.blocks),
        block(blockIdx.x % plan.blocks),
        scratch(plan.scratch),
        memory(memory) {}

  static constexpr int partials = Team::size == PARTIALS ? BLOCK_BYTES / int(sizeof(real)) : 0;

  __device__ Team team() const { return Team(memory + number * partials); }
  // The place of the team's trials, or null. `workspace` is that of all teams.
  __device__ real* room(real* workspace, int dim) const {
    if (TRIALS_SHARED) return memory + teams * partials + number * (TOGETHER + scratch) * dim;
    return ROOM ? share_of(workspace, dim) : nullptr;
  }
  __device__ real* scratch_of(real* workspace, int dim) const {
    return TRIALS_SHARED ? room(workspace, dim) + TOGETHER * dim : share_of(workspace, dim) + ROOM * dim;
  }

 private:
  __device__ real* share_of(real* workspace, int dim) const {
    return workspace + (i64(blockIdx.x) * teams + number) * (ROOM + scratch) * dim;
  }
};

// A barrier of blocks in two parts: arrive() counts this block, and wait() returns when all have arrived. Between them
// the block may do other work. The counter never gets smaller in a launch; the host clears it before.
struct BlockBarrier {
  unsigned* arrivals;
  unsigned blocks, expected = 0;

  __device__ BlockBarrier(i64* counter, unsigned blocks)
      : arrivals(reinterpret_cast<unsigned*>(counter)), blocks(blocks) {}

  __device__ void arrive() {
    __syncthreads();
    if (blocks == 1) return;
    expected += blocks;
    if (threadIdx.x == 0) asm volatile("red.release.gpu.global.add.u32 [%0], 1;" ::"l"(arrivals) : "memory");
  }
  __device__ void wait() {
    if (blocks == 1) return;
    // In a block of one warp all lanes read the counter, so that the warp does not diverge.
    if (SKDE_THREADS == 32 || threadIdx.x == 0) {
      unsigned arrived;
      do {
        asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(arrived) : "l"(arrivals) : "memory");
      } while (arrived < expected);
    }
    __syncthreads();
  }
};

// The share of a team, with the barrier of its group's blocks.
struct GroupShare : BlockBarrier, TeamShare {
  __device__ GroupShare(const Place& place, const Plan& plan, i64* arrivals)
      : BlockBarrier(arrivals + place.group, unsigned(plan.blocks)),
        TeamShare(int(place.block), int(plan.blocks), place.number, place.teams) {}

  __device__ GroupShare after(int n) const {
    GroupShare share = *this;
    share.go_on_after(n);
    return share;
  }
  // The share of the teams that have none of n long items.
  __device__ GroupShare others(int n) const {
    GroupShare share = *this;
    if (SKDE_THREADS % WARP == 0) share.leave_out_long(n);
    return share;
  }
  // The share of a whole warp, of which this team has a part.
  __device__ GroupShare of_whole_warp() const {
    GroupShare share = *this;
    share.join_parts(Team::size < WARP ? WARP / Team::size : 1, int(blocks));
    return share;
  }
  __device__ void join(u64& place, u64 word) const {
#pragma unroll
    for (int half = WARP / 2; half; half /= 2) word = max_of(word, __shfl_xor_sync(0xffffffffu, word, half));
    if (threadIdx.x % WARP == 0) atomicMax(&place, word);
  }
};

// Copies arrays that every individual reads into shared memory: those that the plan names. Returns the address after
// them.
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
