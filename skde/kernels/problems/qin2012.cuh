// The four shifted functions of Qin and others, 2012: CEC 2005's F1, F6, F7 and F9 without rotation. data: the shift,
// then the base's.
#pragma once
#include "problems/classic.cuh"

namespace SKDE_NAMESPACE {
using ShiftedSphere = Shifted<Sphere>;
using ShiftedRosenbrock = Shifted<Rosenbrock, 1>;
using ShiftedGriewank = Shifted<Griewank>;
using ShiftedRastrigin = Shifted<Rastrigin>;
}  // namespace SKDE_NAMESPACE

#define SKDE_QIN2012(P)            \
  P(qin2012_F1, ShiftedSphere)     \
  P(qin2012_F2, ShiftedRosenbrock) \
  P(qin2012_F3, ShiftedGriewank)   \
  P(qin2012_F4, ShiftedRastrigin)
