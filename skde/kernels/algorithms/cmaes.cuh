// CMA-ES, evolution strategy with covariance matrix adaptation (Hansen, Ostermeier 2001; Hansen: The CMA evolution
// strategy: a tutorial, arXiv 1604.00772, of which the equations have their numbers), in the form that adapts a factor A
// of C = A A^T instead of C (Beyer, Sendhoff 2017). With z_k ~ N(0, I), ranked by the values of their points:
//
//   sampling    x_k = m + sigma A z_k                                                                        (38 - 40)
//   mean        m' = m + sigma A z_w, z_w = sum of w_k z_k over the mu best                                  (41, 42)
//   step        p_s' = (1 - c_s) p_s + sqrt(c_s (2 - c_s) mu_eff) z_w,
//               sigma' = sigma exp((c_s / d_s) (|p_s'| / E|N(0, I)| - 1))                                    (43, 44)
//   path        v' = (1 - c_c) v + h sqrt(c_c (2 - c_c) mu_eff) z_w; A v is the tutorial's p_c                    (45)
//   matrix      S' = (1 + c_1 (1 - h) c_c (2 - c_c) - c_1 - c_mu sum of w_k) S + c_1 v' v'^T
//                    + c_mu sum of w_k° z_k z_k^T, so that A S A^T is the tutorial's C                       (46, 47)
//   factor      A' = A Y, v' = Y^-1 v, S = I, where Y is the root of S (matrix_root.cuh)
//
// So no matrix is decomposed: there are only products, and A has the root of the condition number of C. The factor
// changes every 1 / (10 D (c_1 + c_mu)) generations, as the tutorial decomposes C.
//
// A trial outside the box is repaired, and ranked by f + gamma d^2, where d is the distance of m + sigma A z_k from the
// box, in widths of the box; gamma is the smallest so far of `penalty` times the interquartile range of a generation's
// values, up to the largest finite one, divided by the mean variance of its components. It rises to the last of these while m is further from the box
// than 3 max(1, sqrt(D) / mu_eff) standard deviations.
//
// A generation of lambda = k pop trials takes k generations of the driver. The population has the best point of each
// row so far.
#pragma once
#include "algorithms/cmaes_restarts.cuh"
#include "algorithms/cmaes_weights.cuh"
#include "algorithms/matrix_root.cuh"
#include "core/run.cuh"
#include "core/variation.cuh"
#include "random/distributions.cuh"

namespace SKDE_NAMESPACE {

struct Cmaes : BaseAlgorithm {
  SKDE_PARAMETERS(pop_size, repair, sigma0, diagonal, active, restarts, most_parts, tol_x, tol_fun, penalty);
  // Of a trial: z, and y = A z.
  SKDE_VECTORS(z, y);
  // Of a trial: the square of its distance from the box, in widths of the box.
  SKDE_SCRATCH(outside);
  // Of a run, for each generation. PART of PARTS: which generation of the driver is the last of a generation of the
  // search. FACTOR: which of the two matrices is A. AGE: generations since A changed. LENGTH: generations since the last
  // restart, at most LIMIT (0: no limit). DAMPED: (1 - c_s)^(2 LENGTH). From POSITIVE on, the Rates (cmaes_weights.cuh);
  // from REGIME on, the restarts (cmaes_restarts.cuh).
  SKDE_ENUM(Numbers, int, PART, PARTS, FACTOR, AGE, LENGTH, LIMIT, SIGMA, SIGMA_START, DAMPED, GAMMA, POSITIVE,
            NEGATIVE, NEGATIVE_SUM, MU_EFF, C_SIGMA, DAMPING, C_C, C_1, C_MU, REGIME, LARGE, USED_LARGE, USED_SMALL,
            LAST_LARGE, BEST, BEST_AT, MEDIAN, MEDIAN_AT, NUMBERS);
  // Vectors of a run, stored once: m, p_s, v, z_w, a draw that is made again, a product with a matrix, and the standard
  // deviation of each component in widths of the box, without sigma. Then A, the next A, S and its root, by columns; of
  // separable CMA-ES only the diagonals of A and of S.
  SKDE_ENUM(Rows, int, MEAN, PATH, RANK_ONE_PATH, STEP, DRAW, PRODUCT, DEVIATION, MATRICES);

  static constexpr double LARGEST_GAMMA = 1e300;

  using Weights = CmaesWeights<Cmaes>;
  using Restart = CmaesRestarts<Cmaes>;

  struct Settings {
    const Repair repair;
    const double sigma0, tol_x, tol_fun, penalty;
    const bool diagonal, active;
    const Restarts restarts;
    const int most_parts;

    SKDE_FN explicit Settings(const double* p)
        : repair(Repair(SKDE_REPAIR)),
          sigma0(p[Parameters::sigma0]),
          tol_x(p[Parameters::tol_x]),
          tol_fun(p[Parameters::tol_fun]),
          penalty(p[Parameters::penalty]),
          diagonal(p[Parameters::diagonal] != 0),
          active(p[Parameters::active] != 0),
          restarts(Restarts(int(p[Parameters::restarts]))),
          most_parts(int(p[Parameters::most_parts])) {}
  };

  template <class Team> struct Draws {
    ComponentWords<Team, Stream> words;
    template <class R>
    SKDE_FN Draws(Team& team, const R& run, i64 g, int i) : words(team, run.stream(g, i, COMBINATION), run.dim) {}
  };

  // -- state ---------------------------------------------------------------------------------------------------------

  template <class R> SKDE_FN static typename R::real* factor(const R& run, int which) {
    return run.archive(MATRICES + (run.settings.diagonal ? 0 : which * run.dim));
  }
  template <class R> SKDE_FN static typename R::real* change(const R& run) {  // S
    return run.archive(MATRICES + (run.settings.diagonal ? 1 : 2 * run.dim));
  }
  template <class R> SKDE_FN static typename R::real* root(const R& run) {  // of S
    return run.archive(MATRICES + 3 * run.dim);
  }
  // The values of a generation's trials, their order, room to sort them, and the bests of the last generations.
  template <class R> SKDE_FN static int most_trials(const R& run) { return run.settings.most_parts * run.pop; }
  template <class R> SKDE_FN static double* values(const R& run) { return run.memory(0) + NUMBERS; }
  template <class R> SKDE_FN static double* order(const R& run) { return run.memory(1) + NUMBERS; }
  template <class R> SKDE_FN static double* spare(const R& run) { return values(run) + most_trials(run); }
  template <class R> SKDE_FN static double* bests(const R& run) { return order(run) + most_trials(run); }

  // -- trials --------------------------------------------------------------------------------------------------------

  template <class Team, class R>
  SKDE_FN static void propose(Team& team, const R& run, i64 g, int i, const Draws<Team>& draws, const Context&,
                              typename R::real* out) {
    using real = typename R::real;
    const double* const state = run.memory(g - 1);
    const real sigma = real(state[SIGMA]);
    const real *const mean = run.archive(MEAN), *const A = factor(run, int(state[FACTOR]));
    real *const z = run.vector(Vectors::z, g, i), *const y = run.vector(Vectors::y, g, i);
    team.map(run.dim, z, [&](int j, int k) { return real(normal_draw(draws.words.at(j, k))); });
    transform(team, run, A, z, y);
    const auto moved = [=](int j, int) { return mean[j] + sigma * y[j]; };
    fill_inside(team, run, g, i, mean, out, moved);
    const real *const lower = run.lower, *const upper = run.upper;
    const real outside = team.sum(run.dim, [=](int j) {
      const real x = mean[j] + sigma * y[j], inside = min_of(max_of(x, lower[j]), upper[j]);
      const real distance = (x - inside) / (upper[j] - lower[j]);
      return distance * distance;
    });
    if (team.lane == 0) run.scratch(Scratch::outside)[i] = outside;
  }

  template <class Team, class R>
  SKDE_FN static void select(Team& team, const R& run, i64 g, int i, const typename R::real* trial,
                             typename R::real f_trial, const Parent<typename R::real>& parent) {
    const double* const state = run.memory(g - 1);
    if (team.lane == 0)
      values(run)[int(state[PART]) * run.pop + i] =
          double(f_trial) + state[GAMMA] * double(run.scratch(Scratch::outside)[i]);
    select_better(team, run, g, i, parent, trial, f_trial);
  }

  // -- the work between generations ----------------------------------------------------------------------------------

  template <class R> SKDE_FN static int stages(const R&, i64) { return 1; }
  template <class Team, class R, class P>
  SKDE_FN static void end_generation(Team&, const R&, i64, int, int, const P&) {}

  template <class Team, class R, class P> SKDE_FN static void adapt(Team& team, const R& run, i64 g, const P&, bool) {
    double* const now = run.memory(g);
    if (g == 0) return Restart::first(team, run, now);
    const double* const before = run.memory(g - 1);
    const int part = int(before[PART]) + 1;
    if (team.lane == 0)
      for (int k = 0; k < NUMBERS; ++k) now[k] = before[k];
    if (part < int(before[PARTS])) {
      if (team.lane == 0) now[PART] = part;
      return;
    }
    const int lambda = int(before[PARTS]) * run.pop;
    const double* const f = values(run);
    const double* const ranks = sort_by_merging(team, lambda, [=](int k) { return f[k]; }, order(run), spare(run));
    update(team, run, g, lambda, ranks, before, now);
    if (run.settings.restarts != Restarts::NONE) Restart::check(team, run, g, lambda, ranks, before, now);
  }

  // Sets m = `mean_of(j)` with the step sigma, and forgets the matrix and the paths.
  template <class Team, class R, class MeanOf> SKDE_FN static void begin(Team& team, const R& run, MeanOf mean_of) {
    using real = typename R::real;
    real *const mean = run.archive(MEAN), *const A = factor(run, 0), *const S = change(run);
    real *const path = run.archive(PATH), *const v = run.archive(RANK_ONE_PATH), *const s = run.archive(DEVIATION);
    const int dim = run.dim, columns = run.settings.diagonal ? 1 : dim;
    team.each(dim, [&](int j) { mean[j] = mean_of(j), path[j] = 0, v[j] = 0, s[j] = 1; });
    for (int c = 0; c < columns; ++c)
      team.each(dim, [&](int j) {
        const bool set = columns == 1 || j == c;
        A[c * dim + j] = set ? run.upper[j] - run.lower[j] : real(0), S[c * dim + j] = real(set);
      });
  }

 private:
  // y = A z. The lanes' parts of y are their own components.
  template <class Team, class R, class real>
  SKDE_FN static void transform(Team& team, const R& run, const real* A, const real* z, real* y) {
    if (run.settings.diagonal) return team.map(run.dim, y, [=](int j, int) { return A[j] * z[j]; });
    team.sync();
    team.multiply(A, z, y, run.dim);
  }

  // The z of the generation's trial k: those of the driver's last generation are stored, others are made again, in
  // place q.
  template <class Team, class R>
  SKDE_FN static const typename R::real* z_of(Team& team, const R& run, i64 g, int parts, int k, int q) {
    using real = typename R::real;
    const i64 generation = g - parts + 1 + k / run.pop;
    const int i = k % run.pop;
    if (generation == g) return run.vector(Vectors::z, g, i);
    const ComponentWords<Team, Stream, 1> words(team, run.stream(generation, i, COMBINATION), run.dim);
    real* const z = q == 0 ? run.archive(DRAW) : root(run) + (q - 1) * run.dim;
    team.sync();
    team.map(run.dim, z, [&](int j, int k) { return real(normal_draw(words.at(j, k))); });
    team.sync();
    return z;
  }

  // Some of a generation's trials, by rank: their z, and their weights times `rate`. A GPU reads and writes a sum
  // of several at a time less often. A CPU has its sums in a cache.
  static constexpr int TOGETHER = MANY_TEAMS ? 8 : 1;
  template <class real> struct Trials {
    const real* z[TOGETHER];
    real w[TOGETHER];
  };

  // add(trials) for those of ranks 0 ... n - 1 in order. The z of a negative weight is scaled to the length sqrt(D). A
  // place without a trial has the weight 0.
  template <class Team, class R, class Add>
  SKDE_FN static void each_ranked(Team& team, const R& run, i64 g, int lambda, const double* ranks, const Rates& rates,
                                  int parts, int n, double rate, Add add) {
    using real = typename R::real;
    // Redrawn z use the columns of the root as memory.
    const bool few = parts > 1 && (run.settings.diagonal || run.dim < TOGETHER);
    const int together = few ? 1 : TOGETHER;
    SKDE_NO_UNROLL
    for (int base = 0; base < n; base += together) {
      const auto weights = team.template gather<TOGETHER>(
          [&](int q) { return q < together && base + q < n ? Weights::weight(rates, lambda, base + q) : 0.0; });
      Trials<real> trials{};
      bool any = false;
      SKDE_NO_UNROLL
      for (int q = 0; q < TOGETHER; ++q) {
        double w = weights.at(q);
        trials.z[q] = run.archive(MEAN);
        if (w == 0) continue;
        any = true;
        const real* const z = trials.z[q] = z_of(team, run, g, parts, int(ranks[base + q]), q);
        if (w < 0) w *= run.dim / max_of(double(team.sum(run.dim, [&](int j) { return z[j] * z[j]; })), 1e-30);
        trials.w[q] = real(rate * w);
      }
      if (any) add(trials);
    }
  }

  // body(c, column(c), j) for the components j of the columns c of a matrix.
  template <class Team, class Column, class Body>
  SKDE_FN static void each_entry(Team& team, int dim, Column column, Body body) {
    if constexpr (Team::size > 1) {
      team.each(dim * dim, [&](int k) {
        const int c = k / dim;
        body(c, column(c), k - c * dim);
      });
    } else {
      for (int c = 0; c < dim; ++c) {
        const auto of_column = column(c);
        team.each(dim, [&](int j) { body(c, of_column, j); });
      }
    }
  }

  template <class Team, class R>
  SKDE_FN static void update(Team& team, const R& run, i64 g, int lambda, const double* ranks, const double* before,
                             double* now) {
    using real = typename R::real;
    const int dim = run.dim, parts = int(before[PARTS]), length = int(before[LENGTH]) + 1;
    const Rates rates = Weights::load(before);
    const double sigma = before[SIGMA];

    real* const step = run.archive(STEP);  // z_w
    team.each(dim, [&](int j) { step[j] = 0; });
    each_ranked(team, run, g, lambda, ranks, rates, parts, lambda / 2, 1, [&](const Trials<real> trials) {
      team.each(dim, [&](int j) {
        real sum = step[j];
        SKDE_UNROLL
        for (int q = 0; q < TOGETHER; ++q) sum += trials.w[q] * trials.z[q][j];
        step[j] = sum;
      });
    });
    move_mean(team, run, factor(run, int(before[FACTOR])), step, real(sigma));

    real* const path = run.archive(PATH);
    const real fades = real(1 - rates.c_sigma), gains = real(sqrt(rates.c_sigma * (2 - rates.c_sigma) * rates.mu_eff));
    team.each(dim, [&](int j) { path[j] = fades * path[j] + gains * step[j]; });
    const double size = sqrt(double(team.sum(dim, [&](int j) { return path[j] * path[j]; })));
    const double n = dim, expected = sqrt(n) * (1 - 1 / (4 * n) + 1 / (21 * n * n));
    const double damped = before[DAMPED] * (1 - rates.c_sigma) * (1 - rates.c_sigma);
    const bool h = size < (1.4 + 2 / (n + 1)) * expected * sqrt(1 - damped);
    const double grown = sigma * exp(min_of((rates.c_sigma / rates.damping) * (size / expected - 1), 1.0));

    real* const v = run.archive(RANK_ONE_PATH);
    const real stays = real(1 - rates.c_c), enters = real(h ? sqrt(rates.c_c * (2 - rates.c_c) * rates.mu_eff) : 0.0);
    team.each(dim, [&](int j) { v[j] = stays * v[j] + enters * step[j]; });

    change_matrix(team, run, g, lambda, ranks, rates, parts, h);
    const int age = int(before[AGE]) + 1;
    const double lasts = run.settings.diagonal ? 1.0 : 1 / (10 * n * (rates.c_1 + rates.c_mu));
    const bool changes = age >= lasts;
    if (changes) change_factor(team, run, int(before[FACTOR]));
    const double gamma = penalty(team, run, lambda, ranks, grown, rates.mu_eff, before[GAMMA]);
    if (team.lane != 0) return;
    now[GAMMA] = gamma;
    now[PART] = 0, now[LENGTH] = length, now[DAMPED] = damped;
    now[SIGMA] = min_of(max_of(grown, 1e-100), 1e10);
    now[AGE] = changes ? 0 : age;
    if (changes && !run.settings.diagonal) now[FACTOR] = 1 - before[FACTOR];
  }

  template <class Team, class R, class real>
  SKDE_FN static void move_mean(Team& team, const R& run, const real* A, const real* step, real sigma) {
    real *const mean = run.archive(MEAN), *const y = run.archive(PRODUCT);
    transform(team, run, A, step, y);
    team.each(run.dim, [&](int j) { mean[j] += sigma * y[j]; });
  }

  // gamma, of the penalty for trials outside the box.
  template <class Team, class R>
  SKDE_FN static double penalty(Team& team, const R& run, int lambda, const double* ranks, double sigma, double mu_eff,
                                double old) {
    const auto* const s = run.archive(DEVIATION);
    const double squares = double(team.sum(run.dim, [=](int j) { return s[j] * s[j]; }));
    const auto ranked = [&](int r) { return values(run)[int(ranks[r])]; };
    int upper_quartile = lambda - 1 - lambda / 4;
    while (SKDE_RARELY(upper_quartile > lambda / 4 && !is_finite(ranked(upper_quartile)))) --upper_quartile;
    const double range = ranked(upper_quartile) - ranked(lambda / 4);
    const double gamma = min_of(run.settings.penalty * range / (sigma * sigma * squares / run.dim), LARGEST_GAMMA);
    // The distance of the mean from the box, in standard deviations.
    const auto *const mean = run.archive(MEAN), *const lower = run.lower, *const upper = run.upper;
    const double away = double(team.max(run.dim, [=](int j) {
      return max_of(lower[j] - mean[j], mean[j] - upper[j]) / (s[j] * (upper[j] - lower[j]));
    }));
    const bool rises = old == 0 || away / sigma > 3 * max_of(1.0, sqrt(double(run.dim)) / mu_eff);
    return gamma > 0 && (rises || gamma < old) ? gamma : old;
  }

  // S' of the equations above.
  template <class Team, class R>
  SKDE_FN static void change_matrix(Team& team, const R& run, i64 g, int lambda, const double* ranks,
                                    const Rates& rates, int parts, bool h) {
    using real = typename R::real;
    const int dim = run.dim;
    const bool diagonal = run.settings.diagonal;
    real* const S = change(run);
    const real* const v = run.archive(RANK_ONE_PATH);
    const double missing = h ? 0 : rates.c_1 * rates.c_c * (2 - rates.c_c);
    const real stays = real(1 + missing - rates.c_1 - rates.c_mu * (1 + rates.negative_sum)), c_1 = real(rates.c_1);
    const auto scaled_v = [&](int c) { return c_1 * v[c]; };
    team.sync();
    if (diagonal)
      team.each(dim, [&](int j) { S[j] = stays * S[j] + scaled_v(j) * v[j]; });
    else
      each_entry(team, dim, scaled_v,
                 [&](int c, real scale, int j) { S[c * dim + j] = stays * S[c * dim + j] + scale * v[j]; });
    each_ranked(team, run, g, lambda, ranks, rates, parts, lambda, rates.c_mu, [&](const Trials<real> trials) {
      const auto scaled_z = [&](int c) {
        Several<real, TOGETHER> scale;
        SKDE_UNROLL
        for (int q = 0; q < TOGETHER; ++q) scale.of[q] = trials.w[q] * trials.z[q][c];
        return scale;
      };
      const auto added = [&](real sum, const Several<real, TOGETHER>& scale, int j) {
        SKDE_UNROLL
        for (int q = 0; q < TOGETHER; ++q) sum += scale.of[q] * trials.z[q][j];
        return sum;
      };
      if (diagonal) return team.each(dim, [&](int j) { S[j] = added(S[j], scaled_z(j), j); });
      each_entry(team, dim, scaled_z, [&](int c, const Several<real, TOGETHER>& scale, int j) {
        S[c * dim + j] = added(S[c * dim + j], scale, j);
      });
    });
    team.sync();
  }

  // A' and v', and S = I. Of separable CMA-ES the root is exact.
  template <class Team, class R> SKDE_FN static void change_factor(Team& team, const R& run, int which) {
    using real = typename R::real;
    const int dim = run.dim;
    const real* const A = factor(run, which);
    real *const next = factor(run, 1 - which), *const S = change(run);
    real *const v = run.archive(RANK_ONE_PATH), *const deviation = run.archive(DEVIATION);
    if (run.settings.diagonal)
      return team.each(dim, [&](int j) {
        const real root = sqrt(S[j]);
        next[j] = A[j] * root, v[j] /= root, S[j] = 1;
        deviation[j] = next[j] / (run.upper[j] - run.lower[j]);
      });

    real* const Y = root(run);
    MatrixRoot::take(team, dim, S, Y, next, v, run.archive(PRODUCT), run.archive(DRAW));
    MatrixRoot::product(team, dim, A, Y, next);
    team.each(dim, [&](int j) { deviation[j] = 0; });
    for (int c = 0; c < dim; ++c) team.each(dim, [&](int j) { deviation[j] += next[c * dim + j] * next[c * dim + j]; });
    for (int c = 0; c < dim; ++c) team.each(dim, [&](int j) { S[c * dim + j] = real(j == c); });
    team.each(dim, [&](int j) { deviation[j] = sqrt(deviation[j]) / (run.upper[j] - run.lower[j]); });
  }
};

}  // namespace SKDE_NAMESPACE
