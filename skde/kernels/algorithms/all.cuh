// The algorithms by registry name, with their C++ types. Algorithms that differ by settings only share a type. A new
// algorithm adds its include and its line.
#pragma once
#include "algorithms/arrde.cuh"
#include "algorithms/chc.cuh"
#include "algorithms/cmaes.cuh"
#include "algorithms/de.cuh"
#include "algorithms/gade.cuh"
#include "algorithms/jde.cuh"
#include "algorithms/lsrtde.cuh"
#include "algorithms/nlshadersp.cuh"
#include "algorithms/pso.cuh"
#include "algorithms/rdex.cuh"
#include "algorithms/sade.cuh"
#include "algorithms/soupde.cuh"
#include "algorithms/ss.cuh"
#include "algorithms/success_history.cuh"

#define SKDE_ALGORITHMS(A)  \
  A(de, De)                 \
  A(jde, Jde)               \
  A(sade, Sade)             \
  A(gade, Gade)             \
  A(jade, SuccessHistory)   \
  A(shade, SuccessHistory)  \
  A(lshade, SuccessHistory) \
  A(jso, SuccessHistory)    \
  A(nlshadersp, NlShadeRsp) \
  A(arrde, Arrde)           \
  A(lsrtde, Lsrtde)         \
  A(rdex, Rdex)             \
  A(soupde, Soupde)         \
  A(chc, Chc)               \
  A(pso, Pso)               \
  A(ss, ScatterSearch)      \
  A(cmaes, Cmaes)
