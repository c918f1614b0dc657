// Generalised opposition (Wang, Rahnamayan, Wu 2013, equations 5 to 7), a component for algorithms of the family of
// differential evolution: in some generations the trials are the opposites of the population,
//
//   x*_ij = k (a_j + b_j) - x_ij      a, b: the population's least and greatest values; k uniform, one a generation
//
// uniform in [a_j, b_j] where that leaves the box, and the best of both populations survive. The algorithm does not
// adapt to such a generation, and its archive does not change. A population that shrinks does so before its opposites
// are made.
//
// The state: after the algorithm's arrays `opposite_value`, after its vectors `opposite`, and after its memory a and b.
#pragma once
#include "core/run.cuh"

namespace SKDE_NAMESPACE {

template <class Algorithm> struct Opposition {
  static constexpr int VALUE = Algorithm::Arrays::COUNT, POINT = Algorithm::Vectors::COUNT;

  // Whether generation g is one of opposites.
  template <class R> SKDE_FN static bool opposes(const R& run, i64 g) {
    if constexpr (CAN_OPPOSE<Algorithm>)
      if (SKDE_RARELY(run.settings.opposition > 0))
        return g > 0 && unit<double>(run.stream(g, 0, OPPOSITION).block(0).w[0]) < run.settings.opposition;
    return false;
  }

  template <class Team, class R>
  SKDE_OUTLINE static void propose(Team& team, const R& run, i64 g, int i, typename R::real* out) {
    using real = typename R::real;
    const real k = unit<real>(run.stream(g, 0, OPPOSITION).block(0).w[1]);
    const double *const a = range(run, g - 1), *const b = a + run.dim;
    const real* const x = run.x(g - 1, Algorithm::parent(run, g, i));
    const Stream stream = run.stream(g, i, REPAIR);
    for (int j = team.lane; j < run.dim; j += team.size) {
      const real low = real(a[j]), high = real(b[j]), v = k * (low + high) - x[j];
      const bool inside = (v >= run.lower[j]) & (v <= run.upper[j]);
      out[j] = inside ? v : min_of(low + (high - low) * unit<real>(stream.component(j)), high);
    }
  }

  template <class Team, class R>
  SKDE_FN static void select(Team& team, const R& run, i64 g, int i, const typename R::real* trial,
                             typename R::real f_trial) {
    team.copy(run.dim, trial, run.vector(POINT, g, i));
    if (team.lane == 0) run.array(VALUE, g)[i] = f_trial;
  }

  // The best of the population and its opposites survive; of equals, parents come before opposites. A survivor takes
  // the row of its rank, with the numbers that its parent passes on. Few are ranked by counting; many are sorted in
  // earlier stages.
  template <class R, class Share> SKDE_FN static int stages(const R& run, const Share& share) {
    return is_large(run.pop) ? sort_stages(share, 2 * run.pop) + 1 : 1;
  }
  template <class Team, class R, class Share>
  SKDE_OUTLINE static void survive(Team& team, const R& run, const Share& share, i64 g, int stage) {
    const int pop = run.pop;
    i64* const order = run.sorting();
    if (stage + 1 < stages(run, share)) {
      const auto candidate = [&](int c) { return value(run, g, c); };
      return sort_stage(team, share, 2 * pop, candidate, stage, order, order + 2 * pop, run.samples(2 * pop));
    }
    for (int i = share.begin; i < share.end; i += share.step) {
      if (is_large(pop))
        set_survivor(team, run, g, int(order[i]), i);
      else
        for (int c = i; c < 2 * pop; c += pop) set_survivor(team, run, g, c, rank(team, run, g, c));
    }
  }

  // The range of the population that generation g + 1 begins with. In a large population the ranges of pieces are
  // measured in a first stage.
  template <class R> SKDE_FN static int measuring_stages(const R& run) { return is_large(run.pop) ? 2 : 1; }
  template <class Team, class R, class Share>
  SKDE_OUTLINE static void measure(Team& team, const R& run, const Share& share, i64 g, int stage) {
    using real = typename R::real;
    auto next = run;
    next.enter(g + 1, run.evals + run.pop);
    const int dim = run.dim, n = next.pop, pieces = is_large(run.pop) ? range_pieces(run) : 0;
    const auto member = [&](int k) { return run.x(g, Algorithm::parent(next, g + 1, k)); };
    real* const ranges = reinterpret_cast<real*>(run.sorting());  // of piece k: its least and its greatest values
    if (stage + 1 < measuring_stages(run)) {
      share.each_item(pieces, [&](int piece) {
        real* const least = ranges + i64(piece) * 2 * dim;
        const int begin = int(i64(n) * piece / pieces), end = int(i64(n) * (piece + 1) / pieces);
        team.each(dim, [&](int j) {
          real low = real(infinity()), high = -low;
          for (int k = begin; k < end; ++k) {
            const real x = member(k)[j];
            low = min_of(low, x), high = max_of(high, x);
          }
          least[j] = low, least[dim + j] = high;
        });
      });
      return;
    }
    double *const a = range(run, g), *const b = a + dim;
    share.each_item(dim, [&](int j) {
      const auto low = [&](int k) { return pieces ? ranges[i64(k) * 2 * dim + j] : member(k)[j]; };
      const auto high = [&](int k) { return pieces ? ranges[(i64(k) * 2 + 1) * dim + j] : member(k)[j]; };
      const int parts = pieces ? pieces : n;
      const real least = -team.max(parts, [&](int k) { return -low(k); });
      const real greatest = team.max(parts, high);
      // Not -0.0, which equals 0.0: which of them comes first depends on the pieces.
      if (team.lane == 0) a[j] = double(least) + 0.0, b[j] = double(greatest) + 0.0;
    });
  }

 private:
  // The number of pieces, of about PIECE individuals; fewer where the memory of sorting is short.
  static constexpr int PIECE = 128;
  template <class R> SKDE_FN static int range_pieces(const R& run) {
    return int(min_of(i64(run.pop / PIECE), run.task.sorting_size / (2 * i64(run.dim))));
  }

  template <class R> SKDE_FN static double* range(const R& run, i64 g) {
    return run.memory(g) + run.task.memory_size - 2 * run.dim;
  }

  // Candidates are the parents of the individuals, and then their opposites.
  template <class R> SKDE_FN static typename R::real value(const R& run, i64 g, int c) {
    return c < run.pop ? run.f(g - 1)[Algorithm::parent(run, g, c)] : run.array(VALUE, g)[c - run.pop];
  }

  template <class Team, class R> SKDE_OUTLINE static int rank(Team& team, const R& run, i64 g, int c) {
    const auto *const f = run.f(g - 1), *const opposites = run.array(VALUE, g);
    const auto own = value(run, g, c);
    const auto parents_value = [&](int k) { return f[Algorithm::parent(run, g, k)]; };
    return count_before(team, run.pop, parents_value, own, [&](int k) { return k < c; }) +
           count_before(
               team, run.pop, [&](int k) { return opposites[k]; }, own, [&](int k) { return run.pop + k < c; });
  }

  template <class Team, class R>
  SKDE_OUTLINE static void set_survivor(Team& team, const R& run, i64 g, int c, int rank) {
    if (rank >= run.pop) return;
    const int i = c < run.pop ? c : c - run.pop, parent = Algorithm::parent(run, g, i);
    team.copy(run.dim, c < run.pop ? run.x(g - 1, parent) : run.vector(POINT, g, i), run.x(g, rank));
    if (team.lane != 0) return;
    run.f(g)[rank] = value(run, g, c);
    for (int name = 0; name < Algorithm::INHERITED; ++name) run.array(name, g)[rank] = run.array(name, g - 1)[parent];
    if (run.task.ranked) run.order(g)[rank] = rank;
  }
};

}  // namespace SKDE_NAMESPACE
