// RDEx, exploitation-biased reconstructed differential evolution (Tao, Yang, Zhao, Wang, Liu, Gao; CEC 2025): L-SRTDE
// (lsrtde.cuh) with a second mutation late in the search, and with perturbed components. t is the share of the budget
// that is spent.
//
//   mutation      v = n_c + F (a - n_c) + F (b - d), a the best, b the middle and d the worst of t_pbest, n_r1 and t_r2,
//                 which are drawn by rank k with N - k; where t >= t_exploit and u (1 - t) < rho for a uniform u, else
//                 as in L-SRTDE
//   control       F ~ Cauchy(M_F, 0.1), CR ~ N(M_CR, 0.1), of one of H entries or, as likely as of each, 0.9 for both
//   rho           the share of the improvements that trials of this mutation made; rho_start where one mutation made
//                 all of them
//   perturbation  with probability q, components that are not crossed are x_j + s (upper_j - lower_j) Cauchy(0, 1)
#pragma once
#include "algorithms/lsrtde.cuh"

namespace SKDE_NAMESPACE {

struct RdexRules {
  SKDE_PARAMETERS(pop_size, pop_min, max_evals, max_iter, repair, H, CR_start, exploit_rate, exploit_from,
                  perturbation_rate, perturbation_scale);
  // Of a trial, in addition: its F, and whether it is of the second mutation.
  SKDE_ARRAYS(value, f_trial, crossed, gain, slot, rank_trial, rank_front, won, top, F, exploits);
  // Of a run, in addition: rho, and H values M_F.
  SKDE_ENUM(Numbers, int, EXPLOIT_RATE, MEANS_F);

  using Algorithm = SuccessRate<RdexRules>;
  using Populations = FrontAndTop<Algorithm>;
  using Layout = SuccessRateLayout;

  struct Settings {
    const double exploit_rate, exploit_from, perturbation_rate, perturbation_scale;

    SKDE_FN explicit Settings(const double* p)
        : exploit_rate(p[Parameters::exploit_rate]),
          exploit_from(p[Parameters::exploit_from]),
          perturbation_rate(p[Parameters::perturbation_rate]),
          perturbation_scale(p[Parameters::perturbation_scale]) {}
  };

  template <class R, class Draws, class Usual>
  SKDE_FN static auto step(const R& run, i64 g, int i, const Draws& draws, int chosen, Usual usual) {
    return exploits(run, g, draws) ? ordered_step(run, g, i, draws, chosen) : usual();
  }

  template <class Team, class R, class real, class Draws, class Words>
  SKDE_FN static void cross(Team& team, const R& run, i64 g, int i, const Draws& draws, const Mutant<real>& v,
                            real* out, const Words& words, double CR, int j_rand) {
    const auto& s = run.settings;
    if (!(unit<double>(draws.block[Layout::SECOND_INDEX].w[2]) < s.perturbation_rate))
      return cross_binomial(team, run, g, i, v, v.base, out, words, CR, j_rand);
    const ComponentWords<Team, Stream, 1> steps(team, run.stream(g, i, PERTURBATION), run.dim);
    const Binomial binomial(CR);
    const real *const x = v.base, *const lower = run.lower, *const upper = run.upper;
    const real scale = real(s.perturbation_scale);
    fill_inside(team, run, g, i, x, out, [&](int j, int k) {
      const real mutant = x[j] + v.G * (v.a[j] - x[j]) + v.F * (v.c[j] - v.d[j]);
      const real perturbed = x[j] + scale * (upper[j] - lower[j]) * real(cauchy_draw(steps.at(j, k)));
      return binomial.takes(words.at(j, k)) | (j == j_rand) ? mutant : perturbed;
    });
  }

  template <class R, class Draws> SKDE_FN static void store(const R& run, i64 g, int i, const Draws& draws, double F) {
    using real = typename R::real;
    run.array(Arrays::F, g)[i] = real(F), run.array(Arrays::exploits, g)[i] = real(exploits(run, g, draws));
  }

  enum : int { EXPLOITED, F_SUM, FF_SUM, SUMS };
  template <class real> struct Trial {
    real F, exploits;
  };
  template <class real> struct Trials {
    const real *F, *exploits;
    template <class R>
    SKDE_FN Trials(const R& run, i64 g) : F(run.array(Arrays::F, g)), exploits(run.array(Arrays::exploits, g)) {}
    SKDE_FN Trial<real> at(int k) const { return {F[k], exploits[k]}; }
  };
  template <class real> SKDE_FN static void terms(const Trial<real>& trial, real w, real* t) {
    t[EXPLOITED] = w * trial.exploits;
    lehmer_terms(w, trial.F, t + F_SUM);
  }

  template <class R> SKDE_FN static void start(const R& run, double* now) {
    now[EXPLOIT_RATE] = run.settings.exploit_rate;
    for (int k = 0; k < run.settings.H; ++k) now[MEANS_F + k] = 1;
  }
  template <class R, class real>
  SKDE_FN static void learn(const R& run, i64 g, int entry, real weight, const real* sums) {
    double* const now = Algorithm::rest(run, g);
    const double* const before = Algorithm::rest(run, g - 1);
    for (int k = 0; k < run.settings.H; ++k) now[MEANS_F + k] = before[MEANS_F + k];
    if (entry >= 0) now[MEANS_F + entry] = lehmer_mean(sums + F_SUM);
    const double all = double(weight), exploited = double(sums[EXPLOITED]);
    now[EXPLOIT_RATE] = (exploited > 0) & (exploited < all) ? exploited / all : run.settings.exploit_rate;
  }

 private:
  template <class R, class Draws> SKDE_FN static bool exploits(const R& run, i64 g, const Draws& draws) {
    if (!(run.progress >= run.settings.exploit_from)) return false;
    const double u = unit<double>(draws.block[Layout::SECOND_INDEX].w[1]);
    return u * (1 - run.progress) < Algorithm::rest(run, g - 1)[EXPLOIT_RATE];
  }

  // The second mutation, with the same words.
  template <class R, class Draws>
  SKDE_FN static auto ordered_step(const R& run, i64 g, int i, const Draws& draws, int chosen) {
    using real = typename R::real;
    const Words4 &control = draws.block[Layout::CONTROLS], &indices = draws.block[Layout::INDEX];
    const int few = min_of(max_of(int(run.pop * 0.17 * (1 - 0.5 * run.progress)), 2), run.pop);
    const auto first = [&](u32 word, int w, int many, auto fits) {
      for (u32 retry = 2;; word = run.stream(g, i, INDICES).block(retry++).w[w]) {
        const int k = by_rank(word, run.pop, many);
        if (fits(k)) return k;
      }
    };
    const i64* const order = run.order(g - 1);
    const int pbest = first(indices.w[1], 0, few, [=](int k) { return k != chosen; });
    const int r1 = int(order[first(draws.block[Layout::SECOND_INDEX].w[0], 1, run.pop,
                                   [=](int k) { return int(order[k]) != pbest; })]);
    const int r2 = first(indices.w[3], 2, run.pop, [=](int k) { return (k != pbest) & (k != r1); });

    // The three, in order.
    struct Point {
      const real* x;
      real f;
    };
    const auto of_top = [&](int k) {
      return Point{Populations::top(run, g, k), run.f(g - 1)[Populations::row_of(run, g, k)]};
    };
    Point a = of_top(pbest), d = of_top(r2);
    Point b{run.vector(Algorithm::Vectors::front, g - 1, r1), run.array(Arrays::value, g - 1)[r1]};
    const auto put_in_order = [](Point& one, Point& other) {
      if (!precedes(other.f, one.f, false)) return;
      const Point better = other;
      other = one, one = better;
    };
    put_in_order(a, b), put_in_order(b, d), put_in_order(a, b);

    const int H = run.settings.H, entry = below(control.w[1], H + 1);
    const double mean_F = entry < H ? Algorithm::rest(run, g - 1)[MEANS_F + entry] : 0.9;
    const double mean_CR = entry < H ? Algorithm::M_CR(run, g - 1)[entry] : 0.9;
    double F = mean_F + 0.1 * cauchy(control.w[0]);
    for (u32 k = 0; SKDE_RARELY(F < 0); ++k) F = mean_F + 0.1 * cauchy(Layout::retry_word(run.seed, g, i, k));
    const double CR = max_of(min_of(mean_CR + 0.1 * draws.number[Layout::NORMAL_CR], 1.0), 0.0);
    return SuccessRateStep<real>{a.x, b.x, d.x, min_of(F, 1.0), CR};
  }

  // The rank k < many of n by a word, drawn with weights n - k: t < k + 1 with a density proportional to n + 1/2 - t.
  SKDE_FN static int by_rank(u32 word, int n, int many) {
    const double a = n + 0.5, t = a - sqrt(a * a - inner_unit(word) * many * (2 * a - many));
    return min_of(int(t), many - 1);
  }
};

using Rdex = SuccessRate<RdexRules>;

}  // namespace SKDE_NAMESPACE
