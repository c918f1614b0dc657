// The memory of successes of SHADE (Tanabe, Fukunaga 2013): H pairs of means M_F, M_CR, of which one moves after every
// generation with successes. JADE's two means (Zhang, Sanderson 2009) are a memory of one entry that moves by the rate
// c.
//
//   M_F   (1 - rate) M_F + rate sum w F^2 / sum w F       over the trials that improved
//   M_CR  (1 - rate) M_CR + rate sum w CR / sum w         or as M_F (L-SHADE); -1 from then on, where all CR are 0
//   w     the improvement, or 1 (JADE)
//
// An algorithm A with such a memory declares the place ENTRIES of the means in run.memory(0); the Settings H, F_start,
// CR_start, rate, weighted and lehmer_CR; and in its Prefetch the means of the entry that moves, mean_F and mean_CR,
// and the addresses of the trials' F, CR and gain (the improvement, 0: none); and Scratch::partials, partial sums of a
// large population.
#pragma once
#include "core/divided_sums.cuh"

namespace SKDE_NAMESPACE {

constexpr double TERMINAL = -1;  // an entry of which CR is always 0

template <class A> struct SuccessMemory {
  template <class R> SKDE_FN static double* M_F(const R& run) { return run.memory(0) + A::ENTRIES; }
  template <class R> SKDE_FN static double* M_CR(const R& run) { return M_F(run) + run.settings.H; }

  template <class Team, class R> SKDE_FN static void start(Team& team, const R& run) {
    const auto& s = run.settings;
    double *const means_F = M_F(run), *const means_CR = M_CR(run);
    team.each(s.H, [&](int k) { means_F[k] = s.F_start, means_CR[k] = s.CR_start; });
  }

  // Sums over the trials that improved: their number, their weights, and weighted their F and CR and the squares of
  // both.
  enum : int { SUCCESSES, WEIGHT, F_SUM, FF_SUM, CR_SUM, CRCR_SUM, SUMS };
  template <class Team, class R, class P>
  SKDE_FN static Several<typename R::real, SUMS> sums(Team& team, const R& run, const P& trials) {
    const typename R::real* const partials = run.scratch(A::Scratch::partials);
    return divided_sums<SUMS, WEIGHT>(team, run, partials, terms_of(run, trials));
  }
  template <class Team, class R, class Share, class P>
  SKDE_FN static void divide(Team& team, const R& run, const Share& share, const P& trials, int stage) {
    divide_sums<SUMS>(team, run, share, run.scratch(A::Scratch::partials), terms_of(run, trials), stage);
  }

  // Moves an entry towards the means of a generation with successes.
  template <class Team, class R, class P, class Sums>
  SKDE_FN static void move(Team& team, const R& run, const P& prefetch, int entry, const Sums& sums) {
    double *const means_F = M_F(run), *const means_CR = M_CR(run);
    const double weight = double(sums.of[WEIGHT]);
    const double sum_F = double(sums.of[F_SUM]), sum_FF = double(sums.of[FF_SUM]);
    const double sum_CR = double(sums.of[CR_SUM]), sum_CRCR = double(sums.of[CRCR_SUM]);
    const bool lehmer_CR = run.settings.lehmer_CR;
    const bool ends = lehmer_CR && (prefetch.mean_CR == TERMINAL || sum_CR == 0);
    const double rate = run.settings.rate;
    // By two lanes, if the team has two.
    team.each(2, [&](int k) {
      const bool of_CR = k == 1;
      const double above = !of_CR ? sum_FF : lehmer_CR ? sum_CRCR : sum_CR;
      const double below = !of_CR ? sum_F : lehmer_CR ? sum_CR : weight;
      const double moved = (1 - rate) * (of_CR ? prefetch.mean_CR : prefetch.mean_F) + rate * (above / below);
      (of_CR ? means_CR : means_F)[entry] = of_CR && ends ? TERMINAL : moved;
    });
  }

 private:
  template <class R, class P> SKDE_FN static auto terms_of(const R& run, const P& trials) {
    using real = typename R::real;
    struct Trial {
      real gain, F, CR;
    };
    const bool weighted = run.settings.weighted, lehmer_CR = run.settings.lehmer_CR;
    return [weighted, lehmer_CR, &trials](real scale, auto sum) {
      return sum([&trials](int k) { return Trial{trials.gain[k], trials.F[k], trials.CR[k]}; },
                 [=](const Trial& trial, bool counts, real* t) {
                   const real gain = counts ? trial.gain : real(0), success = real(gain > 0);
                   const real w = weighted ? scale * gain : success;
                   t[SUCCESSES] = success, t[WEIGHT] = w;
                   lehmer_terms(w, trial.F, t + F_SUM);
                   t[CR_SUM] = w * trial.CR, t[CRCR_SUM] = lehmer_CR ? w * trial.CR * trial.CR : real(0);
                 });
    };
  }
};

}  // namespace SKDE_NAMESPACE
