// The Python module skde._cpu: the layout of a Task and the names that Python needs to fill one, and the drivers of the
// best build of the core for this processor.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>
#include <omp.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include "algorithms/all.cuh"
#include "algorithms/operators.cuh"
#include "coevolution/games.cuh"
#include "coevolution/requests.cuh"
#include "core/drive.cuh"
#include "cpu/core.hpp"
#include "cpu/threads.hpp"
#include "gpu/plan.cuh"
#include "problems/all.cuh"
#include "problems/variables.cuh"
#include "random/distributions.cuh"

namespace nb = nanobind;
using namespace nb::literals;
using skde_core::AnyEvaluate;
using skde_core::Core;
using skde_core::i64;

#define SKDE_DECLARE_CORE(space) \
  namespace space {              \
  extern const Core core;        \
  }
SKDE_DECLARE_CORE(skde_baseline)
#ifdef SKDE_X86_V3
SKDE_DECLARE_CORE(skde_v3)
#endif
#ifdef SKDE_X86_V4
SKDE_DECLARE_CORE(skde_v4)
#endif

namespace {

// The builds that this processor can run, the best first.
std::vector<const Core*> available_cores() {
  std::vector<const Core*> cores;
#ifdef SKDE_X86_V4
  if (__builtin_cpu_supports("x86-64-v4")) cores.push_back(&skde_v4::core);
#endif
#ifdef SKDE_X86_V3
  if (__builtin_cpu_supports("x86-64-v3")) cores.push_back(&skde_v3::core);
#endif
  cores.push_back(&skde_baseline::core);
  return cores;
}

const std::vector<const Core*>& cores() {
  static const std::vector<const Core*> found = available_cores();
  return found;
}
const Core* chosen = nullptr;

using Address = std::uintptr_t;
template <class T> T* at(Address address) { return reinterpret_cast<T*>(address); }
AnyEvaluate function_at(Address address) { return reinterpret_cast<AnyEvaluate>(address); }

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

// {name: (whether operators.cuh has it, whether its type may change the size of a population, the largest number of its
// stages between generations of a large population on a GPU, or 0 where it has as many as in a small one)}
nb::dict algorithm_traits() {
  nb::dict table;
#define SKDE_CASE(name, Algorithm)                                                                                \
  table[#name] = nb::make_tuple(skde::has_operators<skde::Algorithm>, skde::Run<skde::Algorithm, double>::VARIES, \
                                skde::Algorithm::LARGE_STAGES);
  SKDE_ALGORITHMS(SKDE_CASE)
#undef SKDE_CASE
  return table;
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
std::vector<std::tuple<int, std::string, bool, i64, int, int, bool>> coevolution_phases(Address coevolution, i64 c,
                                                                                        bool y_evaluated) {
  using namespace skde;
  const auto& co = *at<Coevolution<double>>(coevolution);  // reads integers alone, which float has at the same places
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
    for (size_t begin = 0; begin < names.size();) {
      const size_t end = std::min(names.find(", ", begin), names.size());
      table[names.substr(begin, end - begin).c_str()] = number++;
      begin = end + 2;
    }
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
  SKDE_ADD(PREPARED_BYTES)
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
  SKDE_ADD(LARGEST)
  SKDE_ADD(CLOSEST)
  SKDE_ADD(FARTHEST)
  SKDE_ADD(SCALE)
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
int stages_on_gpu(int small, int large, bool sorts, bool opposed, int pop) {
  using namespace skde;
  if (pop <= COUNTED_BY_GPU) return small;
  const int measuring = 2, survivors = 1, bests = 1;
  const int selected = large + (sorts ? SAMPLE_STAGES : 0);
  return bests + (opposed ? measuring + std::max(selected, SAMPLE_STAGES + survivors) : selected);
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

// The address of a NumPy array in C order; array.ctypes.data takes several times as long.
Address address_of(nb::handle array) {
  Py_buffer view;
  if (PyObject_GetBuffer(array.ptr(), &view, PyBUF_SIMPLE) != 0) throw nb::python_error();
  const auto address = reinterpret_cast<Address>(view.buf);
  PyBuffer_Release(&view);
  return address;
}

using Input = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

// y[k] = function(x[k]), by the functions of the kernels, for data that need the same bits on every machine.
template <class Function> nb::ndarray<nb::numpy, double> map(Input x, Function function) {
  auto* y = new double[x.size()];
  for (size_t k = 0; k < x.size(); ++k) y[k] = function(x.data()[k]);
  nb::capsule owner(y, [](void* p) noexcept { delete[] static_cast<double*>(p); });
  return {y, {x.size()}, owner};
}

std::string select_isa(const std::string& isa) {
  for (const Core* core : cores())
    if (isa.empty() || isa == core->isa) {
      chosen = core;
      return core->isa;
    }
  throw nb::value_error(("this processor has no build for " + isa).c_str());
}

}  // namespace

NB_MODULE(_cpu, m) {
  m.doc() = "The compiled core of skde on the CPU.";
  select_isa("");

  m.def("task_fields", &task_fields);
  m.def("task_size", [] { return sizeof(skde::Task<double>); });
  m.def("algorithms", &algorithms);
  m.def("algorithm_traits", &algorithm_traits);
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
  m.def("stages_on_gpu", &stages_on_gpu, "small"_a, "large"_a, "sorts"_a, "opposed"_a, "pop"_a);
  m.def("history_slots", &history_slots, "last"_a);
  m.def("sampled_generations", &sampled_generations, "last"_a);
  m.def("indices_of", [](int mutation) { return skde::indices_of(skde::Mutation(mutation)); }, "mutation"_a);
  m.def("address_of", &address_of, "array"_a);
  m.def("team_size", &skde::team_size, "threads"_a, "n_runs"_a, "individuals"_a, "dim"_a);
  m.def(
      "philox",
      [](std::tuple<unsigned, unsigned, unsigned, unsigned> c, std::tuple<unsigned, unsigned> k) {
        const auto [c0, c1, c2, c3] = c;
        const auto words = skde::philox4x32(c0, c1, c2, c3, std::get<0>(k), std::get<1>(k));
        return std::tuple(words.w[0], words.w[1], words.w[2], words.w[3]);
      },
      "counter"_a, "key"_a);

  m.def("sin", [](Input x) { return map(x, [](double v) { return skde::sin(v); }); }, "x"_a);
  m.def("cos", [](Input x) { return map(x, [](double v) { return skde::cos(v); }); }, "x"_a);
  m.def("exp", [](Input x) { return map(x, [](double v) { return skde::exp(v); }); }, "x"_a);
  m.def("log", [](Input x) { return map(x, [](double v) { return skde::log(v); }); }, "x"_a);
  m.def("tanh", [](Input x) { return map(x, [](double v) { return skde::tanh(v); }); }, "x"_a);
  m.def("normal_quantile", [](Input u) { return map(u, [](double v) { return skde::normal_quantile(v); }); }, "u"_a);
  m.def(
      "normal_draw",
      [](Input words) { return map(words, [](double word) { return skde::normal_draw(unsigned(word)); }); }, "words"_a);
  m.def(
      "cauchy_draw",
      [](Input words) { return map(words, [](double word) { return skde::cauchy_draw(unsigned(word)); }); }, "words"_a);
  m.def("cauchy_quantile", [](Input u) { return map(u, [](double v) { return skde::cauchy_quantile(v); }); }, "u"_a);

  m.def("isas", [] {
    std::vector<std::string> names;
    for (const Core* core : cores()) names.push_back(core->isa);
    return names;
  });
  m.def("isa", [] { return std::string(chosen->isa); });
  m.def("select_isa", &select_isa, "isa"_a = "");
  m.def("max_threads", [] { return omp_get_max_threads(); });

  m.def(
      "problem_address",
      [](int problem, bool single) { return reinterpret_cast<Address>(chosen->problem(problem, single)); }, "problem"_a,
      "single"_a);
  m.def(
      "decoding_address", [](bool single) { return reinterpret_cast<Address>(chosen->decoding(single)); }, "single"_a);
  m.def(
      "decode",
      [](bool single, Address x, i64 rows, i64 dim, Address table, i64 n, Address values) {
        nb::gil_scoped_release release;
        chosen->decode(single, at<void>(x), rows, dim, at<void>(table), n, at<void>(values));
      },
      "single"_a, "x"_a, "rows"_a, "dim"_a, "table"_a, "n"_a, "values"_a);
  m.def(
      "run",
      [](int algorithm, bool single, Address task, i64 from, i64 until, int threads, Address evaluate, int scratch) {
        nb::gil_scoped_release release;
        chosen->run(algorithm, single, at<void>(task), from, until, threads, function_at(evaluate), scratch);
      },
      "algorithm"_a, "single"_a, "task"_a, "begin"_a, "until"_a, "threads"_a, "evaluate"_a, "scratch"_a);
  m.def(
      "propose",
      [](int algorithm, bool single, Address task, i64 g, int threads) {
        nb::gil_scoped_release release;
        chosen->propose(algorithm, single, at<void>(task), g, threads);
      },
      "algorithm"_a, "single"_a, "task"_a, "generation"_a, "threads"_a);
  m.def(
      "accept",
      [](int algorithm, bool single, Address task, i64 g, Address trials, Address f, int threads) {
        nb::gil_scoped_release release;
        chosen->accept(algorithm, single, at<void>(task), g, at<void>(trials), at<void>(f), threads);
      },
      "algorithm"_a, "single"_a, "task"_a, "generation"_a, "trials"_a, "f"_a, "threads"_a);
  m.def(
      "migrate",
      [](int algorithm, bool single, Address task, i64 g, int step, int threads) {
        nb::gil_scoped_release release;
        chosen->migrate(algorithm, single, at<void>(task), g, step, threads);
      },
      "algorithm"_a, "single"_a, "task"_a, "generation"_a, "step"_a, "threads"_a);
  m.def(
      "evaluate",
      [](bool single, Address evaluate, int scratch, Address data, Address x, i64 n, i64 d, Address f, int threads) {
        nb::gil_scoped_release release;
        chosen->evaluate(single, function_at(evaluate), scratch, at<void>(data), at<void>(x), n, d, at<void>(f),
                         threads);
      },
      "single"_a, "evaluate"_a, "scratch"_a, "data"_a, "x"_a, "n"_a, "dim"_a, "f"_a, "threads"_a);
  m.def(
      "cycles",
      [](int algorithm_x, int algorithm_y, int game, bool single, Address coevolution, Address x, Address y,
         Address incumbents, i64 until, int threads) {
        nb::gil_scoped_release release;
        chosen->cycles(single, algorithm_x, algorithm_y, game, at<void>(coevolution), at<void>(x), at<void>(y),
                       at<void>(incumbents), until, threads);
      },
      "algorithm_x"_a, "algorithm_y"_a, "game"_a, "single"_a, "coevolution"_a, "x"_a, "y"_a, "incumbents"_a, "until"_a,
      "threads"_a);
  m.def(
      "coevolution_step",
      [](bool single, Address coevolution, Address x, Address y, Address incumbents, i64 c, int phase, Address values,
         i64 rows, i64 columns, int threads) {
        nb::gil_scoped_release release;
        chosen->coevolution_step(single, at<void>(coevolution), at<void>(x), at<void>(y), at<void>(incumbents), c,
                                 phase, at<void>(values), rows, columns, threads);
      },
      "single"_a, "coevolution"_a, "x"_a, "y"_a, "incumbents"_a, "cycle"_a, "phase"_a, "values"_a, "rows"_a,
      "columns"_a, "threads"_a);
  m.def(
      "matrix",
      [](int game, bool single, Address opponents, Address x, i64 n, i64 d, Address f, int threads) {
        nb::gil_scoped_release release;
        chosen->matrix(single, game, at<void>(opponents), at<void>(x), n, d, at<void>(f), threads);
      },
      "game"_a, "single"_a, "opponents"_a, "x"_a, "n"_a, "dim"_a, "f"_a, "threads"_a);
}
