// The compiled problems and games of one instruction set: cpu_problems.cpp and cpu_games.cpp have them, cpu_isa.cpp
// calls them.
#pragma once
#include "cpu/core.hpp"
#include "cpu/objective.cuh"

namespace SKDE_NAMESPACE {

// The address of a compiled problem, by its place in SKDE_PROBLEMS.
skde_core::AnyEvaluate problem_address(int problem, bool single);

// A game through function pointers, so that co-evolution is compiled once for all games and pairs of algorithms. Every
// function has the form of an objective. Features and values are written to the argument for the scratch.
template <class real> struct GameFunctions {
  Evaluate<real> against_y, against_x, features, fitness_of_x, values_of_x;
  bool describes;  // whether features differ from x
};

// By its place in SKDE_EVERY_GAME.
template <class real> const GameFunctions<real>& game_functions(int game);

}  // namespace SKDE_NAMESPACE
