// The tables of the Python module: the layouts of the kernels' records, and the names and numbers that Python shares with
// the kernels, so that it does not repeat them.
#include "cpu/cpu_tables.hpp"

#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "algorithms/all.cuh"
#include "coevolution/games.cuh"
#include "coevolution/requests.cuh"
#include "core/drive.cuh"
#include "cpu/core.hpp"
#include "cpu/population_sizes.hpp"
#include "cpu/threads.hpp"
#include "gpu/plan.cuh"
#include "problems/all.cuh"
#include "problems/variables.cuh"

namespace nb = nanobind;
using namespace nb::literals;
using skde_core::i64;

namespace {

// The names in "a, b".
std::vector<std::string> split(const std::string& names) {
  std::vector<std::string> found;
  for (size_t begin = 0; begin < names.size();) {
    const size_t end = std::min(names.find(", ", begin), names.size());
    found.push_back(names.substr(begin, end - begin));
    begin = end + 2;
  }
  return found;
}

// (name, kind) of every field of a Task, in order; eight bytes each.
std::vector<std::tuple<std::string, std::string>> task_fields() {
  std::vector<std::tuple<std::string, std::string>> fields;
#define SKDE_INTEGER(name) fields.emplace_back(#name, "integer");
#define SKDE_NUMBER(name) fields.emplace_back(#name, "number");
#define SKDE_REALS(name) fields.emplace_back(#name, "reals");
#define SKDE_WORDS(name) fields.emplace_back(#name, "words");
#define SKDE_NUMBERS(name) fields.emplace_back(#name, "numbers");
  SKDE_TASK_FIELDS(SKDE_INTEGER, SKDE_NUMBER, SKDE_REALS, SKDE_WORDS, SKDE_NUMBERS)
  for (int k = 0; k < skde::MAX_ARRAYS; ++k) fields.emplace_back("array" + std::to_string(k), "data");
  for (int k = 0; k < skde::MAX_ARRAYS; ++k) fields.emplace_back("size" + std::to_string(k), "integer");
  fields.emplace_back("variables", "reals");
  for (const char* name : {"n_variables", "function"}) fields.emplace_back(name, "integer");
  return fields;
}

// {name: (number, C++ type, parameters, arrays, vectors, scratch)}
nb::dict algorithms() {
  nb::dict table;
  int number = 0;
#define SKDE_CASE(name, Algorithm)                                                                             \
  table[#name] =                                                                                               \
      nb::make_tuple(number++, #Algorithm, skde::Algorithm::Parameters::names, skde::Algorithm::Arrays::names, \
                     skde::Algorithm::Vectors::names, skde::Algorithm::Scratch::names);
  SKDE_ALGORITHMS(SKDE_CASE)
#undef SKDE_CASE
  return table;
}

// {name: (whether its type may change the size of a population, the largest number of its
// stages between generations of a large population, or 0 where it has as many as in a small one, whether these go along
// with sorting on a GPU, where their number may be another one)}
nb::dict algorithm_traits() {
  nb::dict table;
#define SKDE_CASE(name, Algorithm)                                                                         \
  table[#name] = nb::make_tuple(skde::Run<skde::Algorithm, double>::VARIES, skde::Algorithm::LARGE_STAGES, \
                                skde::Algorithm::ALONG_SORTING);
  SKDE_ALGORITHMS(SKDE_CASE)
#undef SKDE_CASE
  return table;
}

// The parameters of a kernel in its order.
template <class Algorithm> std::vector<double> parameters_of(const nb::dict& given) {
  std::vector<double> numbers;
  for (const std::string& name : split(Algorithm::Parameters::names))
    numbers.push_back(nb::cast<double>(given[name.c_str()]));
  return numbers;
}

// (first generations, sizes, references) of a population with these parameters of its kernel.
std::tuple<std::vector<i64>, std::vector<i64>, int> population_sizes(const std::string& kernel, const nb::dict& given) {
#define SKDE_CASE(name, Algorithm)                                                                      \
  if (kernel == #name) {                                                                                \
    auto found = skde::population_sizes<skde::Algorithm>(parameters_of<skde::Algorithm>(given).data()); \
    return {std::move(found.starts), std::move(found.sizes), found.references};                         \
  }
  SKDE_ALGORITHMS(SKDE_CASE)
#undef SKDE_CASE
  throw nb::key_error(kernel.c_str());
}

// {name: (number, C++ type, scratch vectors, those of them that each of several points needs)}
nb::dict problems() {
  nb::dict table;
  int number = 0;
#define SKDE_CASE(name, Problem) \
  table[#name] = nb::make_tuple(number++, #Problem, skde::Problem::scratch, skde::repeated_vectors<skde::Problem>);
  SKDE_PROBLEMS(SKDE_CASE)
#undef SKDE_CASE
  return table;
}

// (name, kind) of every field of a Coevolution, likewise.
std::vector<std::tuple<std::string, std::string>> coevolution_fields() {
  std::vector<std::tuple<std::string, std::string>> fields;
#define SKDE_INTEGER(name) fields.emplace_back(#name, "integer");
#define SKDE_NUMBER(name) fields.emplace_back(#name, "number");
#define SKDE_REALS(name) fields.emplace_back(#name, "reals");
  SKDE_COEVOLUTION_FIELDS(SKDE_INTEGER, SKDE_NUMBER, SKDE_REALS)
#undef SKDE_INTEGER
#undef SKDE_NUMBER
#undef SKDE_REALS
  return fields;
}

// The phases of cycle c for a host that evaluates: (number, side, evolves, generation, x, y, repeated). The side, "x"
// or "y", evolves up to the generation, or is reordered after it; "" for the other phases. x, y and `repeated` are the
// Request.
std::vector<std::tuple<int, std::string, bool, i64, int, int, bool>> coevolution_phases(std::uintptr_t coevolution,
                                                                                        i64 c, bool y_evaluated) {
  using namespace skde;
  const auto& co =
      *reinterpret_cast<Coevolution<double>*>(coevolution);  // reads integers alone, which float has at the same places
  std::vector<std::tuple<int, std::string, bool, i64, int, int, bool>> phases;
  for (int phase = 0; phase < PHASES; ++phase) {
    if (!has_phase(co, c, phase, y_evaluated)) continue;
    const bool evolves = phase == EVOLVE_X || phase == EVOLVE_Y;
    const bool of_x = phase == EVOLVE_X || phase == REORDER_X, of_y = phase == EVOLVE_Y || phase == REORDER_Y;
    const i64 generation = of_x ? c * co.gens_x : (phase == REORDER_Y ? c - 1 : c) * co.gens_y;
    const Request request = request_of(co, c, phase);
    phases.emplace_back(phase,
                        of_x   ? "x"
                        : of_y ? "y"
                               : "",
                        evolves, generation, int(request.x), int(request.y), request.repeated);
  }
  return phases;
}

// {name: (number, C++ type)}
nb::dict games() {
  nb::dict table;
  int number = 0;
#define SKDE_CASE(name, Game) table[#name] = nb::make_tuple(number++, #Game);
  SKDE_EVERY_GAME
#undef SKDE_CASE
  return table;
}

// {enumeration: {member: number}}
nb::dict enumerations() {
  nb::dict tables;
  const auto add = [&](const char* enumeration, const std::string& names) {
    nb::dict table;
    int number = 0;
    for (const std::string& name : split(names)) table[name.c_str()] = number++;
    tables[enumeration] = table;
  };
#define SKDE_ADD(Enumeration) add(#Enumeration, skde::Enumeration##Names::names);
  SKDE_ADD(Status)
  SKDE_ADD(Step)
  SKDE_ADD(Route)
  SKDE_ADD(Migrants)
  SKDE_ADD(Replaced)
  SKDE_ADD(Repair)
  SKDE_ADD(Kind)
  SKDE_ADD(Mutation)
  SKDE_ADD(Crossover)
  SKDE_ADD(Topology)
  SKDE_ADD(SuccessHistory::Memory)
  SKDE_ADD(ArrdeRules::Numbers)
  SKDE_ADD(ArrdeRules::Phase)
  SKDE_ADD(Gade::Memory)
  SKDE_ADD(Chc::Memory)
  SKDE_ADD(Pso::Memory)
  SKDE_ADD(Lsrtde::Numbers)
  SKDE_ADD(RdexRules::Numbers)
  SKDE_ADD(Restarts)
  SKDE_ADD(Cmaes::Numbers)
  SKDE_ADD(Cmaes::Rows)
  SKDE_ADD(CoevolutionPhase)
  SKDE_ADD(Points)
#undef SKDE_ADD
  return tables;
}

// {name: number} of whole numbers that Python and the kernels need.
nb::dict constants() {
  nb::dict table;
#define SKDE_ADD(name) table[#name] = i64(skde::name);
  SKDE_ADD(MAX_ARRAYS)
  SKDE_ADD(VARIABLE_NUMBERS)
  SKDE_ADD(COUNTED_BY_CPU)
  SKDE_ADD(COUNTED_BY_GPU)
  SKDE_ADD(BEST_PIECE)
  SKDE_ADD(VALUE_SUMS)
  SKDE_ADD(BEST_WORDS)
  SKDE_ADD(STAGNATED_PLACES)
  SKDE_ADD(BUCKET)
  SKDE_ADD(MOST_SAMPLES)
  SKDE_ADD(OPPONENT_ARRAYS)
  SKDE_ADD(INDIVIDUAL_BITS)
  SKDE_ADD(COMPONENTS_WORTH_SHARING)
  SKDE_ADD(WORKER_BYTES)
  SKDE_ADD(WARP)
  SKDE_ADD(PARTIALS)
  SKDE_ADD(BLOCK_BYTES)
  SKDE_ADD(TERMINAL)
  SKDE_ADD(ArrdeRules::KEPT)
  SKDE_ADD(Sade::STRATEGIES)
  SKDE_ADD(Sade::CROSSED)
  SKDE_ADD(Sade::STEPS)
  SKDE_ADD(Sade::NO_TRIAL)
  SKDE_ADD(Sade::CHANCE)
  SKDE_ADD(Sade::MEDIAN)
  SKDE_ADD(Sade::TALLY)
  SKDE_ADD(Sade::WON)
  SKDE_ADD(Sade::LOST)
  SKDE_ADD(Sade::GENERATIONS)
  SKDE_ADD(Sade::RING)
#undef SKDE_ADD
  return table;
}

// {name: number} of the limits of feasibility codes.
nb::dict code_limits() {
  nb::dict table;
#define SKDE_ADD(name) table[#name] = skde::name;
  SKDE_ADD(EXACT)
  SKDE_ADD(LARGEST)
  SKDE_ADD(CLOSEST)
  SKDE_ADD(FARTHEST)
  SKDE_ADD(SCALE)
  SKDE_ADD(WORST)
  SKDE_ADD(VALUE_SHIFT)
  SKDE_ADD(FAR_SHIFT)
  SKDE_ADD(CLOSE_SHIFT)
#undef SKDE_ADD
  return table;
}

// The fields of a Plan, in order; integers of eight bytes each.
std::vector<std::string> plan_fields() {
  std::vector<std::string> fields;
#define SKDE_INTEGER(name) fields.emplace_back(#name);
  SKDE_PLAN_FIELDS(SKDE_INTEGER)
#undef SKDE_INTEGER
  return fields;
}

// The largest number of stages between two generations on a GPU, where the algorithm has `small` of them for a small
// population, and `large` for a large one, without those of sorting.
int stages_on_gpu(int small, int large, bool ranked, bool sorts, bool opposed, bool has_tol, int pop) {
  using namespace skde;
  if (pop <= COUNTED_BY_GPU) return small;
  const int measuring = 2, survivors = 1, values = has_tol ? 2 : !ranked;
  const int selected = large + (ranked || sorts ? SAMPLE_STAGES : 0);
  return values + (opposed ? measuring + std::max(selected, SAMPLE_STAGES + survivors) : selected);
}

// The sampled generations 0 ... last in order. The rule is in history_slot only. Strides are powers of two that never
// get smaller.
nb::ndarray<nb::numpy, i64> sampled_generations(i64 last) {
  auto* sampled = new std::vector<i64>;
  nb::capsule owner(sampled, [](void* p) noexcept { delete static_cast<std::vector<i64>*>(p); });
  for (i64 g = 0, stride = 1; g <= last; g += stride) {
    sampled->push_back(g);
    while (stride <= last - g && skde::history_slot(g + stride) < 0) stride *= 2;
    if (stride > last - g) break;
  }
  return {sampled->data(), {sampled->size()}, owner};
}

// Their number: the last sampled generation is `last` without its lowest bits.
i64 history_slots(i64 last) {
  while (skde::history_slot(last) < 0) last &= last - 1;
  return skde::history_slot(last) + 1;
}

}  // namespace

void define_tables(nb::module_& m) {
  m.def("task_fields", &task_fields);
  m.def("task_size", [] { return sizeof(skde::Task<double>); });
  m.def("algorithms", &algorithms);
  m.def("algorithm_traits", &algorithm_traits);
  m.def("population_sizes", &population_sizes, "kernel"_a, "parameters"_a);
  m.def("problems", &problems);
  m.def("coevolution_fields", &coevolution_fields);
  m.def("coevolution_phases", &coevolution_phases, "coevolution"_a, "cycle"_a, "y_evaluated"_a);
  m.def("games", &games);
  m.def("enumerations", &enumerations);
  m.def("constants", &constants);
  m.def("code_limits", &code_limits);
  m.def("plan_fields", &plan_fields);
  m.def("history_slot", &skde::history_slot, "generation"_a);
  m.def("sorting_words", &skde::sorting_words, "n"_a);
  m.def("best_pieces", &skde::best_pieces, "pop"_a);
  m.def("stages_on_gpu", &stages_on_gpu, "small"_a, "large"_a, "ranked"_a, "sorts"_a, "opposed"_a, "has_tol"_a,
        "pop"_a);
  m.def("history_slots", &history_slots, "last"_a);
  m.def("sampled_generations", &sampled_generations, "last"_a);
  m.def("indices_of", [](int mutation) { return skde::indices_of(skde::Mutation(mutation)); }, "mutation"_a);
  m.def("team_size", &skde::team_size, "threads"_a, "n_runs"_a, "individuals"_a, "dim"_a);
}
