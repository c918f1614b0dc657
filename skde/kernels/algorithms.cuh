// The algorithms by registry name. A new one adds its include and its line; settings of one another share their type.
#pragma once
#include "de.cuh"
#include "jde.cuh"
#include "pso.cuh"
#include "success_history.cuh"

#define SKDE_ALGORITHMS(A)  \
  A(de, De)                 \
  A(jde, Jde)               \
  A(pso, Pso)               \
  A(jade, SuccessHistory)   \
  A(shade, SuccessHistory)  \
  A(lshade, SuccessHistory) \
  A(jso, SuccessHistory)
