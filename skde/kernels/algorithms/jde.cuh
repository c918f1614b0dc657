// jDE (Brest, Greiner, Boskovic, Mernik, Zumer: Self-adapting control parameters in differential evolution; IEEE TEC
// 10(6), 2006): every individual has an F and a CR. New values of a trial survive if the trial does, or always.
#pragma once
#include "algorithms/de.cuh"

namespace SKDE_NAMESPACE {

//   F_i'  = F_low + r1 (F_high - F_low)      when r2 < tau_1, else F_i
//   CR_i' = CR_low + r3 (CR_high - CR_low)   when r4 < tau_2, else CR_i
// The draws are functions of their address, so selection computes the new values again, and trials do not store them.
struct SelfAdaptedControl {
  SKDE_PARAMETERS(pop_size, mutation, crossover, repair, p_best, opposition, F_low, F_high, CR_low, CR_high, tau_1,
                  tau_2, F_start, CR_start, keep_always);
  SKDE_ARRAYS(F, CR);
  static constexpr int INHERITED = Arrays::COUNT;

  const double F_low, F_high, CR_low, CR_high, tau_1, tau_2;
  const Control start;
  const bool keep_always;  // the new values also where the trial fails

  SKDE_FN explicit SelfAdaptedControl(const double* p)
      : F_low(p[Parameters::F_low]),
        F_high(p[Parameters::F_high]),
        CR_low(p[Parameters::CR_low]),
        CR_high(p[Parameters::CR_high]),
        tau_1(p[Parameters::tau_1]),
        tau_2(p[Parameters::tau_2]),
        start{p[Parameters::F_start], p[Parameters::CR_start]},
        keep_always(p[Parameters::keep_always] != 0) {}

  // The F and CR of individual i of generation g - 1. A state that was saved after generation 0 may have none, so
  // generation 1 does not read them.
  template <class R> SKDE_FN Control inherited(const R& run, i64 g, int i) const {
    if (g == 1) return start;
    return {double(run.array(Arrays::F, g - 1)[i]), double(run.array(Arrays::CR, g - 1)[i])};
  }

  template <class R> SKDE_FN Control trial(const R& run, i64 g, int i, double) const {
    const Control old = inherited(run, g, i);
    const Words4 r = run.stream(g, i, CONTROL).block(1);
    const double F = F_low + unit<double>(r.w[0]) * (F_high - F_low);
    const double CR = CR_low + unit<double>(r.w[2]) * (CR_high - CR_low);
    return {unit<double>(r.w[1]) < tau_1 ? F : old.F, unit<double>(r.w[3]) < tau_2 ? CR : old.CR};
  }

  template <class Team, class R> SKDE_FN void initialize(Team& team, const R& run, int i) const {
    if (team.lane == 0) write(run, 0, i, start);
  }
  template <class Team, class R> SKDE_FN void select(Team& team, const R& run, i64 g, int i, bool better) const {
    if (team.lane == 0) write(run, g, i, better || keep_always ? trial(run, g, i, 0) : inherited(run, g, i));
  }

 private:
  template <class R> SKDE_FN void write(const R& run, i64 g, int i, const Control& control) const {
    run.array(Arrays::F, g)[i] = typename R::real(control.F);
    run.array(Arrays::CR, g)[i] = typename R::real(control.CR);
  }
};

using Jde = Differential<SelfAdaptedControl>;

}  // namespace SKDE_NAMESPACE
