// The operators of differential evolution.
//
//   mutation   v = base + F (c - d), base + G (a - b) + F (c - d), or base + G (a - b) + F (c - d) + F (e - h)
//   crossover  u_j = v_j where the crossover takes it, else x_j
//   repair     of components that left the box
//   selection  x' = u when f(u) <= f(x), else x
#pragma once
#include "core/bounds.cuh"
#include "core/run.cuh"

// A launch of runs with the same rule may have it as a constant (-DSKDE_REPAIR=...). Then the other rules are not
// compiled.
#ifndef SKDE_REPAIR
#define SKDE_REPAIR int(p[Parameters::repair])
#endif

namespace SKDE_NAMESPACE {

template <class real> struct Mutant {
  int differences;  // 1: only c - d, 2: also a - b, 3: all; the vectors of the others are not read
  const real *base, *a, *b, *c, *d;
  real G, F;
  const real *e = nullptr, *h = nullptr;
};

// Repairs the components of `out` that left the box, in a separate pass; x is the parent. All components go through
// vector registers: near the bounds one in two has left the box, which no processor predicts. On a GPU only those lanes
// are here that have such a component.
template <class Team, class real>
SKDE_OUTLINE void repair_components(Team& team, Repair rule, const Stream& stream, int dim, const real* lower,
                                    const real* upper, const real* x, real* out) {
  const auto repair_by = [&](Repair by, auto word) SKDE_INLINED {
    team.each(dim, [&](int j) SKDE_INLINED {
      const real v = out[j], inside = repair(by, v, x[j], lower[j], upper[j], word(j));
      out[j] = (v >= lower[j]) & (v <= upper[j]) ? v : inside;
    });
  };
  const auto no_word = [](int) { return 0u; };
  if (rule == Repair::MIDPOINT) return repair_by(Repair::MIDPOINT, no_word);
  if (rule == Repair::CLIP) return repair_by(Repair::CLIP, no_word);
  if (rule == Repair::REFLECT) return repair_by(Repair::REFLECT, no_word);
  if (rule == Repair::PERIODIC) return repair_by(Repair::PERIODIC, no_word);
  const LaneWords<Team, Stream, 2> words(team, stream, dim);
  repair_by(Repair::RANDOM, [&](int j) { return words.at(j); });
}

template <class Team, class R, class real>
SKDE_FN void repair_all(Team& team, const R& run, i64 g, int i, const real* x, real* out) {
  repair_components(team, run.settings.repair, run.stream(g, i, REPAIR).here(), run.dim, run.lower, run.upper, x, out);
}

// out[j] = crossed(j, k), component j of a trial, repaired where it left the box; x is the parent. A team that REPLACES
// repairs a component while it is in a register.
template <class Team, class R, class real, class Crossed>
SKDE_FN void fill_inside(Team& team, const R& run, i64 g, int i, const real* x, real* out, Crossed crossed) {
  const real *const lower = run.lower, *const upper = run.upper;
  const auto is_outside = [&](int j, real v) { return !((v >= lower[j]) & (v <= upper[j])); };
  if constexpr (Team::REPLACES) {
    const Repair rule = run.settings.repair;
    const Stream stream = run.stream(g, i, REPAIR);
    team.fill(run.dim, out, crossed, is_outside, [&](int j, real v, bool left) {
      const u32 word = rule == Repair::RANDOM && left ? stream.here().component(j) : 0u;
      return left ? repair(rule, v, x[j], lower[j], upper[j], word) : v;
    });
  } else {
    if (SKDE_RARELY(team.fill(run.dim, out, crossed, is_outside))) repair_all(team, run, g, i, x, out);
  }
}

// Mutation and crossover.
template <class Team, class R, class real, class Takes>
SKDE_FN void cross(Team& team, const R& run, i64 g, int i, const Mutant<real>& t, const real* x, real* out,
                   Takes takes) {
  const real G = t.G, F = t.F;
  const real *const base = t.base, *const a = t.a, *const b = t.b, *const c = t.c, *const d = t.d;
  const real *const e = t.e, *const h = t.h;
  // Everything is loaded before the draws are compared, so that loads, which take long, do not wait for the
  // comparisons.
  const auto crossed_1 = [&](int j, int k) {
    const real v = base[j] + F * (c[j] - d[j]), old = x[j];
    return takes(j, k) ? v : old;
  };
  const auto crossed_2 = [&](int j, int k) {
    const real v = base[j] + G * (a[j] - b[j]) + F * (c[j] - d[j]), old = x[j];
    return takes(j, k) ? v : old;
  };
  const auto crossed_3 = [&](int j, int k) {
    const real v = base[j] + G * (a[j] - b[j]) + F * (c[j] - d[j]) + F * (e[j] - h[j]), old = x[j];
    return takes(j, k) ? v : old;
  };
  if (t.differences == 1) return fill_inside(team, run, g, i, x, out, crossed_1);
  if (t.differences == 2) return fill_inside(team, run, g, i, x, out, crossed_2);
  fill_inside(team, run, g, i, x, out, crossed_3);
}

// Whether binomial crossover takes a component with this word: word / 2 < CR 2^31, in integers. The comparison is
// exact, so CR = 0 takes no component and CR = 1 takes all.
struct Binomial {
  int most;  // the largest word / 2 that is taken

  SKDE_FN explicit Binomial(double CR)
      : most(CR >= 1 ? 0x7fffffff : int(CR * 0x1p31 + 0.5 > 0x1p31 - 1 ? 0x1p31 - 1 : CR * 0x1p31 + 0.5) - 1) {}
  SKDE_FN bool takes(u32 word) const { return int(word >> 1) <= most; }
};

// Binomial crossover; component j_rand is always crossed.
template <class Team, class R, class real, class Words>
SKDE_FN void cross_binomial(Team& team, const R& run, i64 g, int i, const Mutant<real>& v, const real* x, real* out,
                            const Words& words, double CR, int j_rand) {
  const Binomial binomial(CR);
  cross(team, run, g, i, v, x, out, [&](int j, int k) { return binomial.takes(words.at(j, k)) | (j == j_rand); });
}

// Exponential crossover: 1 + the number of draws below CR before the first that is not, at most dim.
template <class Team> SKDE_FN int exponential_length(Team& team, const Stream& stream, double CR, int dim) {
  const int failed = team.first((dim + 3) / 4, [&](int block) {
    const Words4 words = stream.block(u32(block));
    for (int k = 0; k < 4; ++k)
      if (!(unit<double>(words.w[k]) < CR)) return 4 * block + k;
    return -1;
  });
  return failed < 0 ? dim : min_of(1 + failed, dim);
}

// Selection: the better of a trial and its parent becomes individual i of generation g. Returns whether it is the
// trial, which may already be at its place in the new population. Where the parent is there, it is not copied: most
// rows of a large population stay in the caches of the processors that read them.
template <class Team, class R, class real>
SKDE_FN bool select_better(Team& team, const R& run, i64 g, int i, const Parent<real>& parent, const real* trial,
                           real f_trial) {
  const bool better = replaces(f_trial, parent.f);
  const real* const winner = better ? trial : run.x(g - 1, parent.index);
  real* const x = run.x(g, i);
  const bool elsewhere = trial != x;
  if (winner != x && (better || !elsewhere || !parent.unchanged)) team.copy(run.dim, winner, x);
  if (team.lane == 0) {
    run.f(g)[i] = better ? f_trial : parent.f;
    run.mark_unchanged(g, i, elsewhere && !better);
  }
  return better;
}

}  // namespace SKDE_NAMESPACE
