// The algorithms by registry name: the C++ type that a GPU's kernels are compiled for, and the one that the CPU's core has
// compiled, which does with and without opposition. A new algorithm adds its include and its line; settings of one another
// share their type.
#pragma once
#include "algorithms/de.cuh"
#include "algorithms/jde.cuh"
#include "algorithms/lsrtde.cuh"
#include "algorithms/opposition.cuh"
#include "algorithms/pso.cuh"
#include "algorithms/sade.cuh"
#include "algorithms/ss.cuh"
#include "algorithms/success_history.cuh"

#define SKDE_ALGORITHMS(A)                           \
  A(de, De, Gode)                                    \
  A(jde, Jde, Gojde)                                 \
  A(sade, Sade, OpposedSade)                         \
  A(jade, SuccessHistory, OpposedHistory)            \
  A(shade, SuccessHistory, OpposedHistory)           \
  A(lshade, SuccessHistory, OpposedHistory)          \
  A(jso, SuccessHistory, OpposedHistory)             \
  A(lsrtde, Lsrtde, Lsrtde)                          \
  A(gode, Gode, Gode)                                \
  A(gojde, Gojde, Gojde)                             \
  A(opposed_history, OpposedHistory, OpposedHistory) \
  A(opposed_sade, OpposedSade, OpposedSade)          \
  A(pso, Pso, Pso)                                   \
  A(ss, Scatter, Scatter)
