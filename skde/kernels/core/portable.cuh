// Differences between the compilers that read these headers: g++/clang++ for the CPU, NVRTC for the GPU.
#pragma once

#ifdef __CUDACC__
#define SKDE_FN __device__ __forceinline__
#define SKDE_APART __device__ __noinline__
#define SKDE_OUTLINE SKDE_FN
#define SKDE_INLINED __attribute__((always_inline))  // of a lambda
#define SKDE_MEMCPY memcpy
#define SKDE_UNROLL _Pragma("unroll")
#define SKDE_NO_UNROLL _Pragma("unroll 1")
#define SKDE_SIMD
#define SKDE_SIMD_ADD(total)
#else
#include <time.h>
#define SKDE_FN inline __attribute__((always_inline))
#define SKDE_APART inline __attribute__((noinline))
#define SKDE_OUTLINE SKDE_APART
#define SKDE_INLINED __attribute__((always_inline))
#define SKDE_MEMCPY __builtin_memcpy
#define SKDE_UNROLL
#define SKDE_NO_UNROLL
#define SKDE_SIMD _Pragma("omp simd")
#define SKDE_PRAGMA(text) _Pragma(#text)
#define SKDE_SIMD_ADD(total) SKDE_PRAGMA(omp simd reduction(+ : total))
#endif

// SKDE_FN is a function that becomes part of its caller. SKDE_APART is one that does not: it is called rarely, or needs
// the registers that its caller has.
// SKDE_OUTLINE is large and called from several places: part of its caller on a GPU, where a call costs registers, and
// compiled once on a CPU, where a call costs little and each copy costs seconds of the build.

// A condition that is rarely true: the compiler moves its code out of the frequent path.
#define SKDE_RARELY(condition) __builtin_expect(bool(condition), false)

// The CPU core is built once for each instruction set, in a separate namespace, so that the linker never merges code
// compiled for one processor into the build for another.
#ifndef SKDE_NAMESPACE
#define SKDE_NAMESPACE skde
#endif

namespace SKDE_NAMESPACE {

using i32 = int;
using u32 = unsigned int;
using i64 = long long;
using u64 = unsigned long long;

// Reinterpret the bits of a value. Both compilers compile memcpy to no instruction, and no other form.
template <class To, class From> SKDE_FN To bits_as(From from) {
  static_assert(sizeof(To) == sizeof(From), "bits_as keeps the size");
  To to;
  SKDE_MEMCPY(&to, &from, sizeof(To));
  return to;
}

SKDE_FN double infinity() { return bits_as<double>(u64(0x7ff) << 52); }
SKDE_FN double not_a_number() { return bits_as<double>(u64(0xfff) << 51); }

// The position of the highest bit of n > 0.
SKDE_FN int highest_bit(u64 n) {
#ifdef __CUDACC__
  return 63 - __clzll(i64(n));
#else
  return 63 - __builtin_clzll(n);
#endif
}

// A clock that never goes back.
SKDE_FN i64 nanoseconds() {
#ifdef __CUDACC__
  i64 now;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
  return now;
#else
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return i64(now.tv_sec) * 1000000000 + now.tv_nsec;
#endif
}

template <class, class> constexpr bool is_same = false;
template <class T> constexpr bool is_same<T, T> = true;

// The same number, but a GPU's compiler cannot see how it was computed. So it stores the number and does not compute it
// again, and it does not move computations with it in front of a branch that is rarely taken.
template <class T> SKDE_FN T opaque(T number) {
  static_assert(sizeof(T) == 8, "it takes two registers");
#ifdef __CUDACC__
  asm volatile("" : "+l"(number));
#endif
  return number;
}
// The same for an address in the memory that all teams share.
template <class T> SKDE_FN T* opaque(T* address) {
#ifdef __CUDACC__
  asm volatile("" : "+l"(address));
  __builtin_assume(__isGlobal(address));
#endif
  return address;
}

// An address that is needed later, computed now and not once more where it is used.
template <class T> SKDE_FN T* compute_now(T* address) { return opaque(address); }

// body() where test() is true, which it rarely is. The fences keep the compiler from moving what the test waits for, or
// what the body loads, into the frequent path.
template <class Team, class Test, class Body> SKDE_FN void in_rare_case(const Team& team, Test test, Body body) {
  team.sync();
  if (SKDE_RARELY(test())) team.sync(), body();
}

// a b of numbers that are not negative. Without signs it is one instruction of a GPU. On a CPU they stay signed, so
// that the compiler can see that it is linear in a.
SKDE_FN i64 product(int a, int b) {
#ifdef __CUDACC__
  return i64(u64(u32(a)) * u32(b));
#else
  return i64(a) * b;
#endif
}

// *place becomes the larger of itself and `number`, in one atomic operation.
SKDE_FN void max_at(i64* place, i64 number) {
#ifdef __CUDACC__
  atomicMax(place, number);
#else
  i64 now = __atomic_load_n(place, __ATOMIC_RELAXED);
  while (now < number && !__atomic_compare_exchange_n(place, &now, number, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
  }
#endif
}

// Adds one to *place and returns its old value, in one atomic operation.
SKDE_FN i64 next_at(i64* place) {
#ifdef __CUDACC__
  return i64(atomicAdd(reinterpret_cast<unsigned long long*>(place), 1ull));
#else
  return __atomic_fetch_add(place, 1, __ATOMIC_RELAXED);
#endif
}

// A word for each number. The order of the words is that of the numbers, and NaN is the last.
SKDE_FN u64 order_key(double value) {
  const u64 word = bits_as<u64>(value + 0.0), sign = u64(1) << 63;  // -0 becomes 0
  return value != value ? ~u64(0) : word & sign ? ~word : word | sign;
}
SKDE_FN u32 order_key(float value) {
  const u32 word = bits_as<u32>(value + 0.0f), sign = u32(1) << 31;
  return value != value ? ~u32(0) : word & sign ? ~word : word | sign;
}

// Of types that exist.
template <class...> using Void = void;

template <class T> SKDE_FN T min_of(T a, T b) { return b < a ? b : a; }
template <class T> SKDE_FN T max_of(T a, T b) { return a < b ? b : a; }
template <class real> SKDE_FN real abs_of(real a) { return a < real(0) ? -a : a; }
template <class real> SKDE_FN bool is_nan(real a) { return a != a; }
template <class real> SKDE_FN bool is_finite(real a) { return a - a == real(0); }

}  // namespace SKDE_NAMESPACE
