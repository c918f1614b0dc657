// The restarts of CMA-ES: when one is due, and with which population.
//
//   IPOP    twice the population (Auger, Hansen: A restart CMA evolution strategy with increasing population size; CEC
//           2005)
//   BIPOP   twice the largest population, or a small one with a small step, whichever has had fewer evaluations
//           (Hansen: Benchmarking a BI-population CMA-ES on the BBOB-2009 function testbed; GECCO 2009)
//
// Populations are `parts` times the first one.
#pragma once
#include "algorithms/cmaes_weights.cuh"
#include "core/run.cuh"

namespace SKDE_NAMESPACE {

SKDE_ENUM_CLASS(Restarts, int, NONE, IPOP, BIPOP);

// The number of n values at(k) that come before number i, equal ones by their numbers. One lane counts, and loads
// several values at a time.
template <class At> SKDE_FN int place_of(int n, At at, int i) {
  constexpr int AT_ONCE = 8;
  const auto value = at(i);
  int before = 0;
  for (int base = 0; base < n; base += AT_ONCE) {
    double other[AT_ONCE];
    SKDE_UNROLL
    for (int k = 0; k < AT_ONCE; ++k) other[k] = at(min_of(base + k, n - 1));
    SKDE_UNROLL
    for (int k = 0; k < AT_ONCE; ++k) before += (base + k < n) & precedes(other[k], value, base + k < i);
  }
  return before;
}

// The order of n values at(k), NaN last, equal ones by their numbers, in `order` or in `spare`: where it is. One team
// makes it. Few values are ranked by counting, others by merging.
template <class Team, class At>
SKDE_APART double* sort_by_merging(Team& team, int n, At at, double* order, double* spare) {
  if (n <= COUNTED) {
    if constexpr (Team::size > 1) {
      team.each(n, [&](int k) { order[place_of(n, at, k)] = k; });
    } else {
      for (int k = 0; k < n; ++k) order[count_before(team, n, at, at(k), [=](int other) { return other < k; })] = k;
    }
    team.sync();
    return order;
  }
  const int chunk = (n + team.size - 1) / team.size, first = team.lane * chunk, last = min_of(first + chunk, n);
  for (int k = first; k < last; ++k) order[k] = k;
  team.sync();
  for (int width = 1; width < n; width *= 2) {
    const double* const from = order;
    const auto value = [&](int q) { return at(int(from[q])); };
    int before = 0;  // the values of the neighbouring block before this one
    for (int p = first; p < last; ++p) {
      const int block = p / width, begin = min_of((block ^ 1) * width, n), end = min_of(begin + width, n);
      const bool right = block & 1;
      if (p == first || p % width == 0) before = bisect(begin, end, value, value(p), right);
      while (begin + before < end && precedes(value(begin + before), value(p), right)) ++before;
      spare[(right ? p - width : p) + before] = from[p];
    }
    team.sync();
    double* const sorted = spare;
    spare = order, order = sorted;
  }
  return order;
}

template <class A> struct CmaesRestarts {
  enum Regime : int { FIRST, LARGE_RUN, SMALL_RUN };
  static constexpr double MOST_CONDITION = 1e14, MOST_GROWTH = 1e3;

  // The first search begins at the best of generation 0.
  template <class Team, class R> SKDE_FN static void first(Team& team, const R& run, double* now) {
    const auto* const best = run.x(0, best_of(team, run.f(0), run.pop));
    A::begin(team, run, [&](int j) { return best[j]; });
    if (team.lane == 0)
      for (int k = 0; k < A::NUMBERS; ++k) now[k] = 0;
    if (team.lane == 0) now[A::LARGE] = 1;
    set(team, run, 1, run.settings.sigma0, now);
  }

  // Begins the next search, where one of the criteria holds that stop a search.
  template <class Team, class R>
  SKDE_FN static void check(Team& team, const R& run, i64 g, int lambda, const double* ranks, const double* before,
                            double* now) {
    team.sync();
    const bool ends = stops(team, run, lambda, ranks, before, now);
    team.sync();
    if (SKDE_RARELY(ends)) restart(team, run, g, lambda, now);
  }

 private:
  // The number of generations with bests that are compared.
  SKDE_FN static int window(int dim, int lambda) { return 10 + (30 * dim + lambda - 1) / lambda; }

  // A search with `parts` times the first population.
  template <class Team, class R>
  SKDE_FN static void set(Team& team, const R& run, int parts, double sigma, double* now) {
    const auto& s = run.settings;
    const Rates rates = CmaesWeights<A>::rates(team, run.dim, parts * run.pop, s.diagonal, s.active);
    if (team.lane != 0) return;
    CmaesWeights<A>::store(rates, now);
    now[A::PART] = 0, now[A::PARTS] = parts, now[A::FACTOR] = 0, now[A::AGE] = 0, now[A::LENGTH] = 0;
    now[A::SIGMA] = now[A::SIGMA_START] = sigma, now[A::DAMPED] = 1, now[A::GAMMA] = 0;
    now[A::BEST] = now[A::MEDIAN] = infinity(), now[A::BEST_AT] = now[A::MEDIAN_AT] = 0;
  }

  template <class Team, class R>
  SKDE_FN static bool stops(Team& team, const R& run, int lambda, const double* ranks, const double* before,
                            double* now) {
    using real = typename R::real;
    const auto& s = run.settings;
    const double* const f = A::values(run);
    const auto ranked = [&](int r) { return f[int(ranks[r])]; };
    const auto number = [](double v) { return is_nan(v) ? infinity() : v; };
    const double best = number(ranked(0)), median = ranked(lambda / 2), worst = number(ranked(lambda - 1));
    const int length = int(before[A::LENGTH]) + 1, many = window(run.dim, lambda), slot = length % many;
    double* const bests = A::bests(run);
    const auto in_window = [&](int k) { return k == slot ? best : bests[k]; };
    const double high = double(team.max(many, [&](int k) { return real(in_window(k)); }));
    const double low = -double(team.max(many, [&](int k) { return real(-in_window(k)); }));
    team.sync();
    const bool full = length >= many;
    const double history = high == low ? 0.0 : high - low, spread = worst == best ? 0.0 : worst - best;
    const double close = s.tol_fun * (is_finite(low) ? abs_of(low) : 0.0);  // by the smallest of the bests
    const bool flat = full && (history <= 0.1 * close || (history <= close && spread <= close));

    // A search stagnates where neither the best value nor the median has a new minimum for long.
    const double best_at = best < before[A::BEST] ? length : before[A::BEST_AT];
    const double median_at = median < before[A::MEDIAN] ? length : before[A::MEDIAN_AT];
    const double n = run.dim, patience = max_of(100 + 100 * n * sqrt(n) / lambda, 0.2 * length);
    const bool stagnates = length - best_at > patience && length - median_at > patience;
    if (team.lane == 0) {
      bests[slot] = best;
      now[A::BEST] = min_of(before[A::BEST], best), now[A::BEST_AT] = best_at;
      now[A::MEDIAN] = min_of(before[A::MEDIAN], median), now[A::MEDIAN_AT] = median_at;
    }

    const double sigma = now[A::SIGMA];
    const real *const deviation = run.archive(A::DEVIATION), *const mean = run.archive(A::MEAN);
    const double widest = sigma * double(team.max(run.dim, [&](int j) { return deviation[j]; }));
    const bool small = widest<s.tol_x, large = widest> MOST_GROWTH * before[A::SIGMA_START];
    const real fifth = real(0.2 * sigma);
    const bool without_effect = team.count(run.dim, [=, lower = run.lower, upper = run.upper](int j) {
      return mean[j] == mean[j] + fifth * deviation[j] * (upper[j] - lower[j]);
    }) > 0;
    const bool limited = before[A::LIMIT] > 0 && length >= before[A::LIMIT];
    return flat || stagnates || small || large || without_effect || limited ||
           ill_conditioned(team, run, length, int(now[A::AGE]), int(now[A::FACTOR]));
  }

  // Whether the condition number of C, in units of the box, is too large. Rarely computed, where A has just changed, so
  // that the other matrix is free.
  template <class Team, class R>
  SKDE_FN static bool ill_conditioned(Team& team, const R& run, int length, int age, int which) {
    using real = typename R::real;
    if (run.settings.diagonal) {
      const real* const s = run.archive(A::DEVIATION);
      const double high = double(team.max(run.dim, [&](int j) { return s[j]; }));
      const double low = -double(team.max(run.dim, [&](int j) { return -s[j]; }));
      return high > sqrt(MOST_CONDITION) * low;
    }
    if (age != 0 || length % max_of(run.dim, 10) != 0) return false;
    return condition(team, run, A::factor(run, which), A::factor(run, 1 - which)) > MOST_CONDITION;
  }

  // An estimate of the condition number of C from below: the ratio of the first and the last squared diagonal element
  // of R in a QR decomposition with pivots of A, by Gram and Schmidt in `Q`.
  template <class Team, class R, class real>
  SKDE_APART static double condition(Team& team, const R& run, const real* A_now, real* Q) {
    const int dim = run.dim;
    for (int c = 0; c < dim; ++c)
      team.each(dim, [&](int j) { Q[c * dim + j] = A_now[c * dim + j] / (run.upper[j] - run.lower[j]); });
    double first = 0, last = 0;
    for (int k = 0; k < dim; ++k) {
      int pivot = k;
      last = -1;
      for (int c = k; c < dim; ++c) {
        const real* const column = Q + c * dim;
        const double square = double(team.sum(dim, [&](int j) { return column[j] * column[j]; }));
        if (square > last) last = square, pivot = c;
      }
      if (k == 0) first = last;
      if (!(last > 0)) return infinity();
      real *const chosen = Q + k * dim, *const swapped = Q + pivot * dim;
      team.each(dim, [&](int j) {
        const real value = swapped[j];
        swapped[j] = chosen[j], chosen[j] = value;
      });
      for (int c = k + 1; c < dim; ++c) {
        real* const column = Q + c * dim;
        const real share = team.sum(dim, [&](int j) { return column[j] * chosen[j]; }) / real(last);
        team.each(dim, [&](int j) { column[j] -= share * chosen[j]; });
      }
    }
    return first / last;
  }

  template <class Team, class R>
  SKDE_APART static void restart(Team& team, const R& run, i64 g, int lambda, double* now) {
    const auto& s = run.settings;
    const double used = now[A::LENGTH] * lambda;
    const int regime = int(now[A::REGIME]);
    double used_large = now[A::USED_LARGE], used_small = now[A::USED_SMALL], last_large = now[A::LAST_LARGE];
    if (regime == SMALL_RUN) used_small += used;
    if (regime == LARGE_RUN) used_large += used, last_large = used;
    // Individual 0 has the draws of the mean, individual 1 those of the population and the step.
    const bool small = s.restarts == Restarts::BIPOP && used_small < used_large;
    const Words4 words = run.stream(g, 1, RENEWAL).block(0);
    const double u = unit<double>(words.w[0]), large = min_of(2 * now[A::LARGE], double(s.most_parts));
    // Half of 0 doublings would be below one population.
    const int parts = small ? max_of(int(exp(u * u * log(0.5 * now[A::LARGE]))), 1) : int(large);
    const double sigma = s.sigma0 * (small ? exp(-2 * unit<double>(words.w[1]) * log(10.0)) : 1.0);
    const Stream stream = run.stream(g, 0, RENEWAL);
    team.sync();
    A::begin(team, run, [&](int j) { return uniform_component(run, stream, j); });
    set(team, run, parts, sigma, now);
    if (team.lane != 0) return;
    now[A::REGIME] = small ? SMALL_RUN : LARGE_RUN;
    if (!small) now[A::LARGE] = parts;
    now[A::USED_LARGE] = used_large, now[A::USED_SMALL] = used_small, now[A::LAST_LARGE] = last_large;
    now[A::LIMIT] = small ? max_of(floor(0.5 * last_large / (parts * double(run.pop))), 1.0) : 0.0;
  }
};

}  // namespace SKDE_NAMESPACE
