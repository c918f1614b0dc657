// The algorithms by registry name. A new one adds its include and its line; settings of one another share their type.
#pragma once
#include "de.cuh"
#include "jde.cuh"
#include "lsrtde.cuh"
#include "opposition.cuh"
#include "pso.cuh"
#include "sade.cuh"
#include "scatter.cuh"
#include "success_history.cuh"

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
