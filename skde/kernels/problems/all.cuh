// The compiled problems by name, one line each.
#pragma once
#include "problems/c_function.cuh"
#include "problems/classic.cuh"
#include "problems/fabris2012.cuh"
#include "problems/janssen2024.cuh"
#include "problems/minmax.cuh"
#include "problems/nashed2012.cuh"
#include "problems/qin2012.cuh"
#include "problems/wang2012.cuh"

// Functions of x and y.
#define SKDE_GAMES(P)                \
  P(fabris2012_p1, SquareDifference) \
  SKDE_MINMAX(P)

// Functions of x with constraints. Their objectives are in the list below.
#define SKDE_CONSTRAINED(P) SKDE_FABRIS2012(P)

#define SKDE_PROBLEMS(P)                        \
  P(rotated_rastrigin, RotatedRastrigin)        \
  SKDE_NASHED2012(P)                            \
  SKDE_QIN2012(P)                               \
  SKDE_JANSSEN2024(P)                           \
  SKDE_WANG2012(P)                              \
  P(fabris2012_p2, FeasibleFabrisP2)            \
  P(fabris2012_p3, FeasibleFabrisP3)            \
  P(fabris2012_p4, FeasibleFabrisP4)            \
  P(fabris2012_p5, FeasibleFabrisP5)            \
  P(fabris2012_p6, FeasibleFabrisP6)            \
  P(fabris2012_p2_component, ComponentFabrisP2) \
  P(fabris2012_p3_component, ComponentFabrisP3) \
  P(fabris2012_p4_component, ComponentFabrisP4) \
  P(fabris2012_p5_component, ComponentFabrisP5) \
  P(fabris2012_p6_component, ComponentFabrisP6) \
  SKDE_C_FUNCTIONS(P)

namespace SKDE_NAMESPACE {
using RotatedRastrigin = Rotated<Rastrigin>;
}
