// The algorithms by registry name. A new one adds its include and its line.
#pragma once
#include "de.cuh"
#include "jde.cuh"

#define SKDE_ALGORITHMS(A) \
  A(de, De)                \
  A(jde, Jde)
