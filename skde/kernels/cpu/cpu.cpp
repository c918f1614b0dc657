// The Python module skde._cpu: what Python needs to know of the kernels (cpu_tables.cpp), functions of the kernels, and the
// drivers of the best build of the core for this processor.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>
#include <omp.h>

#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include "cpu/core.hpp"
#include "cpu/cpu_tables.hpp"
#include "random/distributions.cuh"
#include "random/philox.cuh"

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

  define_tables(m);
  m.def("address_of", &address_of, "array"_a);
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
