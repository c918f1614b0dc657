// The memory of successes of SHADE (Tanabe, Fukunaga 2013): H pairs of means M_F, M_CR, of which one moves after every
// generation with successes. JADE's two means (Zhang, Sanderson 2009) are a memory of one entry that moves by the rate
// c.
//
//   M_CR   (1 - c) M_CR + c sum w CR / sum w; L-SHADE: sum w CR^2 / sum w CR, and TERMINAL from then on, where all
//          CR are 0; other rules: ZEROS_CR in the place of this mean                                      (JADE: 9)
//   M_F    (1 - c) M_F + c sum w F^2 / sum w F, the sums over the trials that improved                (JADE: 11, 12)
//   w      the improvement, or 1 (JADE)
//
// An algorithm A with such a memory declares Arrays::F, CR and gain, of a trial: the improvement, 0: none; the places in
// run.memory(g) of the entry that is written next, NEXT_ENTRY, and in run.memory(0) of the means, ENTRIES; ZEROS_CR; and
// the Settings H, F_start, CR_start, rate (c), weighted and lehmer_CR.
#pragma once
#include "core/divided_sums.cuh"

namespace SKDE_NAMESPACE {

constexpr double TERMINAL = -1;  // an entry of which CR is always 0

// The sums over the trials that improved (core/divided_sums.cuh): their number, their weights, and weighted their F and
// CR and the squares of both.
template <class real> struct SuccessfulTrials {
  enum : int { SUCCESSES, WEIGHT, F_SUM, FF_SUM, CR_SUM, CRCR_SUM, SUMS };
  const real *gain, *F, *CR;
  bool weighted, lehmer_CR;

  struct Trial {
    real gain, F, CR;
  };
  SKDE_FN Trial at(int k) const { return {gain[k], F[k], CR[k]}; }
  SKDE_FN void terms(const Trial& trial, real gain, real* t) const {
    const real success = real(gain > 0), w = weighted ? gain : success;
    t[SUCCESSES] = success, t[WEIGHT] = w;
    lehmer_terms(w, trial.F, t + F_SUM);
    t[CR_SUM] = w * trial.CR, t[CRCR_SUM] = lehmer_CR ? w * trial.CR * trial.CR : real(0);
  }
};

template <class A> struct SuccessMemory {
  template <class R> SKDE_FN static double* M_F(const R& run) { return run.memory(0) + A::ENTRIES; }
  template <class R> SKDE_FN static double* M_CR(const R& run) { return M_F(run) + run.settings.H; }

  template <class Team, class R> SKDE_FN static void start(Team& team, const R& run) {
    const auto& s = run.settings;
    double *const means_F = M_F(run), *const means_CR = M_CR(run);
    team.each(s.H, [&](int k) { means_F[k] = s.F_start, means_CR[k] = s.CR_start; });
  }

  // The addresses of the trials' numbers; where the team adapts, the entry that moves, and its means.
  template <class Team> struct Prefetch {
    using real = typename Team::real;
    const real *gain, *F, *CR;
    double entry = 0, mean_F = 0, mean_CR = 0;

    template <class R>
    SKDE_FN Prefetch(Team&, const R& run, i64 g, bool adapts)
        : gain(compute_now(run.array(A::Arrays::gain, g))),
          F(compute_now(run.array(A::Arrays::F, g))),
          CR(compute_now(run.array(A::Arrays::CR, g))) {
      if (g == 0 || !adapts) return;
      entry = run.memory(g - 1)[A::NEXT_ENTRY];
      mean_F = M_F(run)[int(entry)], mean_CR = M_CR(run)[int(entry)];
    }
  };
  template <class R, class P>
  SKDE_FN static SuccessfulTrials<typename R::real> trials_of(const R& run, const P& trials) {
    return {trials.gain, trials.F, trials.CR, run.settings.weighted, run.settings.lehmer_CR};
  }

  // Moves an entry towards the means of a generation with successes.
  template <class Team, class R, class P, class Sums>
  SKDE_FN static void move(Team& team, const R& run, const P& prefetch, const Sums& sums) {
    using Of = SuccessfulTrials<typename R::real>;
    const auto sum = [&](int which) { return double(sums.of[which]); };
    const bool lehmer_CR = run.settings.lehmer_CR, zeros = lehmer_CR && sum(Of::CR_SUM) == 0;
    const bool ends = lehmer_CR && (prefetch.mean_CR == TERMINAL || (zeros && A::ZEROS_CR == TERMINAL));
    const double c = run.settings.rate;
    double *const means_F = M_F(run), *const means_CR = M_CR(run);
    // The means of F and of CR, by two lanes, if the team has two.
    team.each(2, [&](int k) {
      const bool of_CR = k == 1;
      const double above = !of_CR ? sum(Of::FF_SUM) : lehmer_CR ? sum(Of::CRCR_SUM) : sum(Of::CR_SUM);
      const double below = !of_CR ? sum(Of::F_SUM) : lehmer_CR ? sum(Of::CR_SUM) : sum(Of::WEIGHT);
      const double mean = of_CR && zeros ? A::ZEROS_CR : above / below;
      const double moved = (1 - c) * (of_CR ? prefetch.mean_CR : prefetch.mean_F) + c * mean;
      (of_CR ? means_CR : means_F)[int(prefetch.entry)] = of_CR && ends ? TERMINAL : moved;
    });
  }
};

}  // namespace SKDE_NAMESPACE
