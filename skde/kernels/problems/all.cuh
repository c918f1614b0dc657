// The compiled problems by name. A new one adds its line.
#pragma once
#include "classic.cuh"
#include "nashed2012.cuh"
#include "qin2012.cuh"

#define SKDE_PROBLEMS(P)                 \
  P(rotated_rastrigin, RotatedRastrigin) \
  SKDE_NASHED2012(P)                     \
  SKDE_QIN2012(P)

namespace SKDE_NAMESPACE {
using RotatedRastrigin = Rotated<Rastrigin>;
}
