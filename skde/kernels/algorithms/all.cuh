// The algorithms by registry name. A new one adds its include and its line; settings of one another share their type.
#pragma once
#include "algorithms/de.cuh"
#include "algorithms/jde.cuh"
#include "algorithms/lsrtde.cuh"
#include "algorithms/opposition.cuh"
#include "algorithms/pso.cuh"
#include "algorithms/sade.cuh"
#include "algorithms/ss.cuh"
#include "algorithms/success_history.cuh"

#define SKDE_ALGORITHMS(A)           \
  A(de, De)                          \
  A(jde, Jde)                        \
  A(sade, Sade)                      \
  A(jade, SuccessHistory)            \
  A(shade, SuccessHistory)           \
  A(lshade, SuccessHistory)          \
  A(jso, SuccessHistory)             \
  A(lsrtde, Lsrtde)                  \
  A(gode, Gode)                      \
  A(gojde, Gojde)                    \
  A(opposed_history, OpposedHistory) \
  A(opposed_sade, OpposedSade)       \
  A(pso, Pso)                        \
  A(ss, Scatter)
