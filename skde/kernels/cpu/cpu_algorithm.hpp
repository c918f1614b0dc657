// The functions on one run on the CPU, by the threads that share it. cpu_algorithm.cpp has them for each algorithm;
// cpu_isa.cpp calls them.
#pragma once
#include <atomic>

#include "core/drive.cuh"
#include "cpu/objective.cuh"

namespace SKDE_NAMESPACE {

// The barrier of the threads that share a run, once a generation. OpenMP's barrier may suspend them, which takes longer
// than a generation. These threads spin, and yield the processor after a long wait.
class Barrier {
 public:
  void wait(int parts);

 private:
  static constexpr int MOST_SPINS = 20000;
  alignas(64) std::atomic<int> arrived{0};
  alignas(64) std::atomic<unsigned> phase{0};
};

// The part of a run's individuals that one of `parts` threads has; all of them where there is one thread.
struct ThreadShare {
  int part, parts;
  Barrier* barrier;
  bool leader;
  int begin = 0, end = 0, step = 1;

  ThreadShare(int part, int parts, Barrier* barrier) : part(part), parts(parts), barrier(barrier), leader(part == 0) {}
  void divide(int pop) {
    begin = int(i64(pop) * part / parts);
    end = int(i64(pop) * (part + 1) / parts);
  }
  bool adapts(int) const { return leader; }
  template <class Body> SKDE_FN void each_item(int n, Body body) const {
    for (int k = bound(n, part); k < bound(n, part + 1); ++k) body(k);
  }
  // Pieces of n values, one a thread; piece q begins at bound(n, q).
  int pieces(int) const { return parts; }
  int bound(int n, int piece) const { return int(i64(n) * (piece < parts ? piece : parts) / parts); }
  int piece_of(int n, int position) const {
    int piece = int(i64(position) * parts / n);
    for (; bound(n, piece + 1) <= position; ++piece) {
    }
    return piece;
  }
  template <class Team, class Body> SKDE_FN void each_position(const Team&, int n, Body body) const {
    for (int p = bound(n, part); p < bound(n, part + 1); ++p) body(p);
  }
  void arrive() const {}
  void wait() const {
    if (parts > 1) barrier->wait(parts);
  }
};

// The drivers of drive.cuh for one algorithm.
template <class real> struct RunFunctions {
  void (*generations)(Lane<real>&, const Task<real>&, const Shared<real>&, i64 r, ThreadShare&, Evaluate<real>,
                      i64 until);
  void (*propose)(Lane<real>&, const Task<real>&, i64 r, ThreadShare&, i64 g);
  void (*accept)(Lane<real>&, const Task<real>&, i64 r, ThreadShare&, i64 g, const real* trials, const real* f);
  bool (*end_generation)(Lane<real>&, const Task<real>&, i64 r, ThreadShare&, i64 g, int stage);
  void (*migrate)(Lane<real>&, const Task<real>&, i64 r, ThreadShare&, i64 g, int step);
};

template <class Algorithm, class real> const RunFunctions<real>& functions_of();

// Functions that are the same for all algorithms: cpu_isa.cpp has them.
#define SKDE_FUNCTIONS_OF_ALL(KIND, real)                                                          \
  KIND template real smallest(Lane<real>&, const real*, int);                                      \
  KIND template int best_of(Lane<real>&, const real*, int);                                        \
  KIND template int rank_of(Lane<real>&, const real*, int, int);                                   \
  KIND template bool converged(Lane<real>&, const real*, int, const real*, int, const Closeness&); \
  KIND template void emigrate(Lane<real>&, const Run<Members, real>&, ThreadShare&, i64);          \
  KIND template void immigrate(Lane<real>&, const Run<Members, real>&, ThreadShare&, i64);
SKDE_FUNCTIONS_OF_ALL(extern, double)
SKDE_FUNCTIONS_OF_ALL(extern, float)

}  // namespace SKDE_NAMESPACE
