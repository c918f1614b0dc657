// The compiled games: every function of x and y, and the Lagrangian of every constrained problem. SKDE_EVERY_GAME gives
// SKDE_CASE(name, type) for each.
#pragma once
#include "coevolution/opponents.cuh"
#include "problems/all.cuh"

#define SKDE_AS_DIRECT(name, Function) SKDE_CASE(name, Direct<Function>)
#define SKDE_AS_LAGRANGIAN(name, Problem) SKDE_CASE(name, Lagrangian<Problem>)
#define SKDE_EVERY_GAME                \
  SKDE_GAMES(SKDE_AS_DIRECT)           \
  SKDE_CONSTRAINED(SKDE_AS_LAGRANGIAN) \
  SKDE_CASE(lagrangian, LagrangianOfFeatures)
