// A block of four warps as a team. Its lanes exchange values through shared memory (team.cuh).
#pragma once
#include "teams/gpu.cuh"

namespace SKDE_NAMESPACE {

template <class real_> struct Block : Lanes<real_, PARTIALS, Block<real_>> {
  using real = real_;
  real* partials;  // two buffers, used in turn, so that one barrier a reduction is enough
  int turn = 0;

  SKDE_FN explicit Block(real* partials) : partials(partials) { this->lane = threadIdx.x; }
  SKDE_FN void sync() const { __syncthreads(); }

  template <class Op, class Value> SKDE_FN Value combine(Value mine) {
    static_assert(sizeof(Value) <= sizeof(double), "a partial fits its slot");
    Value* buffer = reinterpret_cast<Value*>(reinterpret_cast<double*>(partials) + turn * PARTIALS);
    turn ^= 1;
    buffer[this->lane] = mine;
    __syncthreads();
    const int l = this->lane % 32;
    return this->template fold<Op>(
        Op::join(Op::join(buffer[l], buffer[l + 64]), Op::join(buffer[l + 32], buffer[l + 96])));
  }

  template <class Op, class Term> SKDE_FN real reduce(int n, Term term) {
    real partial = Op::template identity<real>();
    if constexpr (!BUSY) {
      for (int j = this->lane; j < n; j += PARTIALS) partial = Op::join(partial, real(term(j)));
      return combine<Op>(partial);
    }
    constexpr int batch = Block::BATCH;  // terms at a time, with no branch between them
#pragma unroll 1
    for (int base = this->lane; base < n; base += batch * PARTIALS) {
      real t[batch];
#pragma unroll
      for (int k = 0; k < batch; ++k) t[k] = real(term(min_of(base + k * PARTIALS, n - 1)));
#pragma unroll
      for (int k = 0; k < batch; ++k)
        if (base + k * PARTIALS < n) partial = Op::join(partial, t[k]);
    }
    return combine<Op>(partial);
  }

  template <class Test> SKDE_FN int count(int n, Test test) {
    return counts<1>(n, test, [](int found, int, int* t) { t[0] = found; }).of(0);
  }

  template <int m, class At, class Terms> SKDE_FN Counts<m> counts(int n, At at, Terms terms) {
    Counts<m> found{};
    for (int j = this->lane; j < n; j += PARTIALS) {
      int t[m];
      terms(at(j), j, t);
#pragma unroll
      for (int s = 0; s < m; ++s) found.number[s] += t[s];
    }
#pragma unroll
    for (int s = 0; s < m; ++s) found.number[s] = combine<Add>(found.number[s]);
    return found;
  }

  template <int m, class At, class Terms> SKDE_FN Several<real, m> sums(int n, At at, Terms terms) {
    real partial[m];
#pragma unroll
    for (int s = 0; s < m; ++s) partial[s] = real(0);
    for (int j = this->lane; j < n; j += PARTIALS) {
      real t[m];
      terms(at(j), true, t);
#pragma unroll
      for (int s = 0; s < m; ++s) partial[s] += t[s];
    }
    Several<real, m> found;
#pragma unroll
    for (int s = 0; s < m; ++s) found.of[s] = combine<Add>(partial[s]);
    return found;
  }

  template <class Value> SKDE_FN int least(int n, Value value) {
    const int none = -0x7fffffff;
    real best = 0;
    int where = none;  // the lane's best, negative: the greatest is the first
    for (int j = this->lane; j < n; j += PARTIALS) {
      const real v = value(j);
      if (v < best || (where == none && !is_nan(v))) best = v, where = -j;
    }
    const real lowest = -combine<Maximum>(where == none ? -real(infinity()) : -best);
    const int first = -combine<IntMax>(where != none && best == lowest ? where : none);
    return first == -none ? -1 : first;
  }

  template <class Probe> SKDE_FN int first(int n, Probe probe) {
    const int none = -0x7fffffff;
#pragma unroll 1
    for (int base = 0; base < n; base += PARTIALS) {
      const int j = base + this->lane;
      const int found = j < n ? probe(j) : -1;
      // The result is that of the first lane with a non-negative one: its number is found first.
      const int winner = -combine<IntMax>(found >= 0 ? -this->lane : none);
      if (winner != -none) return combine<IntMax>(this->lane == winner ? found : -1);
    }
    return -1;
  }

 private:
  struct IntMax {
    SKDE_FN static int join(int a, int b) { return a < b ? b : a; }
  };
};

}  // namespace SKDE_NAMESPACE
