// The number of threads of a call of the CPU core, and the memory of a thread.
#pragma once
#include "core/portable.cuh"

namespace SKDE_NAMESPACE {

// Below this many components a generation, threads take more time than they save, and a run has one thread.
constexpr i64 COMPONENTS_WORTH_SHARING = 10000;

// Words of a thread for every component or individual: three sets of draws.
constexpr int WORKER_WORDS = 3;
constexpr int WORKER_BYTES = WORKER_WORDS * int(sizeof(u32));

// Whether threads share the individuals of one run, because there are more threads than runs.
inline bool shares_runs(i64 threads, i64 n_runs, i64 individuals, i64 dim) {
  return threads > n_runs && individuals * dim >= COMPONENTS_WORTH_SHARING;
}

// The number of these threads that have work.
inline i64 team_size(i64 threads, i64 n_runs, i64 individuals, i64 dim) {
  return min_of(threads, shares_runs(threads, n_runs, individuals, dim) ? individuals : n_runs);
}

}  // namespace SKDE_NAMESPACE
