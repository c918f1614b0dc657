// The values of typed variables at the rows of an array.
#include "problems/variables.cuh"

// values[k, j] = the value of variable j at x[k], for rows of length dim and n variables.
extern "C" __global__ void decode(const SKDE_REAL* x, const skde::i64 rows, const skde::i64 dim, const SKDE_REAL* table,
                                  const skde::i64 n, SKDE_REAL* values) {
  const skde::i64 threads = skde::i64(gridDim.x) * blockDim.x;
  for (skde::i64 k = skde::i64(blockIdx.x) * blockDim.x + threadIdx.x; k < rows * n; k += threads)
    values[k] = skde::decoded(x + k / n * dim, table, int(k % n));
}
