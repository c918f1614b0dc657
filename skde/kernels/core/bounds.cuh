// Repair of components that left the box.
#pragma once
#include "core/enumeration.cuh"
#include "core/math.cuh"
#include "random/philox.cuh"

namespace SKDE_NAMESPACE {

SKDE_ENUM_CLASS(Repair, int, REFLECT, MIDPOINT, CLIP, RANDOM, PERIODIC);

// The position of v in a box of width 1 that is repeated without end.
template <class real> SKDE_FN real fraction(real v) { return v - floor(v); }

// Returns v, which is outside [lower, upper], as a value inside:
//   reflect   mirrored at the bound, as often as needed
//   midpoint  half-way between the parent and the bound that was crossed
//   clip      onto the bound
//   random    uniform in the box, from `word`
//   periodic  at its position in a box that repeats without end
// By every rule, also after rounding, the result is in [lower, upper]; NaN becomes `lower`.
template <class real> SKDE_FN real repair(Repair rule, real v, real parent, real lower, real upper, u32 word) {
  const real width = upper - lower, bound = v < lower ? lower : upper;
  if (rule == Repair::REFLECT) {
    const real once = v < lower ? lower + (lower - v) : upper - (v - upper);
    if (once >= lower && once <= upper) return once;
    const real turns = fraction((v - lower) / (real(2) * width));
    v = lower + width * (turns <= real(0.5) ? real(2) * turns : real(2) - real(2) * turns);
  } else if (rule == Repair::MIDPOINT) {
    v = parent + real(0.5) * (bound - parent);
  } else if (rule == Repair::RANDOM) {
    v = lower + width * unit<real>(word);
  } else if (rule == Repair::PERIODIC) {
    v = lower + width * fraction((v - lower) / width);
  }
  return v >= upper ? upper : v >= lower ? v : lower;
}

}  // namespace SKDE_NAMESPACE
