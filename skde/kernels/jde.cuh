// jDE (Brest, Greiner, Boskovic, Mernik, Zumer: Self-adapting control parameters in differential evolution; IEEE TEC 10(6),
// 2006): every individual carries its own F and CR, which survive with it.
#pragma once
#include "de.cuh"

namespace SKDE_NAMESPACE {

//   F_i'  = F_low + r1 (F_high - F_low)  when r2 < tau_1, else F_i
//   CR_i' = r3                           when r4 < tau_2, else CR_i
// The new values are a function of their address, so selection computes them again instead of storing them.
struct SelfAdaptedControl {
  SKDE_PARAMETERS(pop_size, mutation, crossover, repair, p_best, F_low, F_high, tau_1, tau_2, F_start, CR_start);
  SKDE_ARRAYS(F, CR);

  // What individual i brought along from generation g - 1.
  template <class R> SKDE_FN static Control inherited(const R& run, i64 g, int i) {
    using P = Parameters;
    if (g == 1) return {run.parameter[P::F_start], run.parameter[P::CR_start]};
    return {double(run.extra(Arrays::F, g - 1)[i]), double(run.extra(Arrays::CR, g - 1)[i])};
  }

  template <class R> SKDE_FN static Control trial(const R& run, i64 g, int i, const Words4&) {
    using P = Parameters;
    const double* const p = run.parameter;
    const Control old = inherited(run, g, i);
    const Words4 r = run.stream(g, i, CONTROL).block(1);
    const double F = p[P::F_low] + unit<double>(r.w[0]) * (p[P::F_high] - p[P::F_low]);
    return {unit<double>(r.w[1]) < p[P::tau_1] ? F : old.F, unit<double>(r.w[3]) < p[P::tau_2] ? unit<double>(r.w[2]) : old.CR};
  }

  template <class Team, class R> SKDE_FN static void keep(Team& team, const R& run, i64 g, int i, bool better) {
    if (team.lane != 0) return;
    const Control kept = better ? trial(run, g, i, Words4{}) : inherited(run, g, i);
    run.extra(Arrays::F, g)[i] = typename R::real(kept.F);
    run.extra(Arrays::CR, g)[i] = typename R::real(kept.CR);
  }
};

using Jde = Differential<SelfAdaptedControl>;

}  // namespace SKDE_NAMESPACE
