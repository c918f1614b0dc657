// The update of a reference set R (Glover 1998): it becomes the best of R and of a pool, or the n_best best of them and
// then, one by one, those farthest from R.
//
// The pool is rows 0 ... pop - 1 of the population, R the members after them (ReferenceSet of core/algorithm.cuh).
// R is constant until the update, and both halves of the population store it. Candidates are the pool, and then R as it
// was. An algorithm A that uses this declares the array near (of a candidate: the square of its distance from R),
// the Settings n_best, diverse_update and restart, and STAGNATED_PLACES numbers of run.memory(0).
#pragma once
#include "core/run.cuh"

namespace SKDE_NAMESPACE {

constexpr int STAGNATED_PLACES = 2;

template <class A> struct ReferenceSetUpdate {
  using Arrays = typename A::Arrays;

  // The square of a distance in widths of the box.
  template <class Team, class R, class real>
  SKDE_FN static real distance(Team& team, const R& run, const real* x, const real* y) {
    return team.sum(run.dim, [&](int j) {
      const real share = (x[j] - y[j]) / (run.upper[j] - run.lower[j]);
      return share * share;
    });
  }

  // Whether generation g belongs to an iteration with a pool from the box, because the iteration before did not change
  // R.
  template <class R> SKDE_FN static bool renewed(const R& run, i64 g) {
    return g > 0 && *stagnated(run, (g - 1) / run.settings.reference_set.generations) > 0;
  }
  // Copies reference i of generation `from` to generation `to`.
  template <class Team, class R> SKDE_FN static void copy(Team& team, const R& run, i64 from, i64 to, int i) {
    using real = typename R::real;
    const real* const x = run.member(from, i);
    real* const copy = run.member(to, i);
    team.each(run.dim, [&](int j) { copy[j] = x[j]; });
    if (team.lane == 0) run.member_values(to)[i] = run.member_values(from)[i];
  }

  // The stages at the end of an iteration. Stage 0: the candidates' order; stage 1: the best of them; then the
  // farthest, one by one. Of many candidates the order takes the stages of sorting, and each farthest one takes two: the
  // farthest of each piece, and that of all.
  template <class R> SKDE_FN static int stages(const R& run, i64 g) {
    return run.iteration(g) < 0 ? 0 : 1 + 1 + chosen_by_distance(run, g);
  }
  template <class R, class Share> SKDE_FN static int large_stages(const R& run, const Share& share, i64 g) {
    return run.iteration(g) < 0 ? 0 : sort_stages(share, candidates(run)) + 1 + 2 * chosen_by_distance(run, g);
  }

  template <class Team, class R> SKDE_FN static void update(Team& team, const R& run, i64 g, int i, int stage) {
    if (stage == 0) return order(team, run, g, i);
    if (stage == 1) return choose_best(team, run, g, i);
    const int chosen = stage - 2;  // references that were chosen by their distance before
    choose_farthest(team, run, g, i, chosen, farthest_of(team, run, chosen, 0, candidates(run)));
  }
  template <class Team, class R, class Share>
  SKDE_FN static void update_many(Team& team, const R& run, const Share& share, i64 g, int stage) {
    const int n = candidates(run), sorting = sort_stages(share, n);
    if (stage < sorting)
      return sort_stage(team, share, n, values(team, run, g), stage, run.order(g), run.sorting(), run.samples(n));
    stage -= sorting;
    if (stage == 0) return share.each_item(run.pop, [&](int i) { choose_best(team, run, g, i); });
    const int chosen = (stage - 1) / 2;
    i64* const farthest = run.bests();  // of each piece, which is the best by its distance
    if (stage % 2)
      return share.each_item(best_pieces(n), [&](int k) {
        const int begin = k * BEST_PIECE, found = farthest_of(team, run, chosen, begin, min_of(n - begin, BEST_PIECE));
        if (team.lane == 0) farthest[k] = found;
      });
    const auto* const near = run.array(Arrays::near, chosen + 1);
    const int piece = first_largest(team, best_pieces(n), [&](int k) { return near[farthest[k]]; });
    const int found = int(farthest[piece]);
    share.each_item(run.pop, [&](int i) { choose_farthest(team, run, g, i, chosen, found); });
  }

 private:
  // body(c) for the candidates of individual i's team.
  template <class R, class Body> SKDE_FN static void each_candidate(const R& run, int i, Body body) {
    body(i);
    if (i < run.members()) body(run.pop + i);
  }
  template <class R> SKDE_FN static const typename R::real* candidate(const R& run, i64 g, int c) {
    return c < run.pop ? run.x(g, c) : run.member(g - 1, c - run.pop);
  }
  template <class R> SKDE_FN static typename R::real value(const R& run, i64 g, int c) {
    return c < run.pop ? run.f(g)[c] : run.member_values(g - 1)[c - run.pop];
  }

  // Whether an iteration did not change R; in two places of the memory, used alternately.
  template <class R> SKDE_FN static double* stagnated(const R& run, i64 iteration) {
    return run.memory(0) + iteration % STAGNATED_PLACES;
  }
  template <class R> SKDE_FN static bool by_distance(const R& run, i64 g) {
    return g == 0 || run.settings.diverse_update || renewed(run, g);
  }

  template <class R> SKDE_FN static int candidates(const R& run) { return run.pop + run.members(); }
  // The references that are chosen by their distance, and those by their value.
  template <class R> SKDE_FN static int chosen_by_distance(const R& run, i64 g) {
    return by_distance(run, g) ? run.members() - run.settings.n_best : 0;
  }
  template <class R> SKDE_FN static int chosen_by_value(const R& run, i64 g) {
    return run.members() - chosen_by_distance(run, g);
  }

  // The values of the candidates as they are ordered. There is no R before generation 0, and only its best is a
  // candidate when the pool is from the box.
  template <class Team, class R> SKDE_FN static auto values(Team& team, const R& run, i64 g) {
    using real = typename R::real;
    int last = run.pop, stays = -1;  // candidates from `last` on are left out, but for this one
    if (g > 0 && renewed(run, g))
      stays = run.pop + best_of(team, run.member_values(g - 1), run.members());
    else if (g > 0)
      last = candidates(run);
    return [&run, g, last, stays](int k) { return k < last || k == stays ? value(run, g, k) : real(not_a_number()); };
  }

  // Individual i's part of the order of the candidates.
  template <class Team, class R> SKDE_FN static void order(Team& team, const R& run, i64 g, int i) {
    const auto at = values(team, run, g);
    each_candidate(run, i, [&](int c) {
      const int place = count_before(team, candidates(run), at, at(c), [&](int k) { return k < c; });
      if (team.lane == 0) run.order(g)[place] = c;
    });
  }

  // Individual i's part of choosing the best, and of the distances from them.
  template <class Team, class R> SKDE_FN static void choose_best(Team& team, const R& run, i64 g, int i) {
    const int n_best = chosen_by_value(run, g);
    if (i == 0) check_progress(team, run, g, n_best);
    if (i < n_best) set_reference(team, run, g, int(run.order(g)[i]), i);
    if (n_best < run.members()) each_candidate(run, i, [&](int c) { measure(team, run, g, c, n_best); });
  }
  // The same of the farthest candidate, after `chosen` were chosen by their distance.
  template <class Team, class R>
  SKDE_FN static void choose_farthest(Team& team, const R& run, i64 g, int i, int chosen, int farthest) {
    const int place = run.settings.n_best + chosen;
    if (i == place) set_reference(team, run, g, farthest, place);
    if (place + 1 < run.members())
      each_candidate(run, i, [&](int c) { update_distance(team, run, g, c, farthest, chosen); });
  }

  // Candidate c becomes reference k.
  template <class Team, class R> SKDE_FN static void set_reference(Team& team, const R& run, i64 g, int c, int k) {
    using real = typename R::real;
    const real* const from = candidate(run, g, c);
    real* const to = run.member(g, k);
    team.each(run.dim, [&](int j) { to[j] = from[j]; });
    if (team.lane == 0) run.member_values(g)[k] = value(run, g, c);
  }

  // R stagnates if no pool member is among its best. Without restarts that has no effect.
  template <class Team, class R> SKDE_FN static void check_progress(Team& team, const R& run, i64 g, int n_best) {
    const i64* const order = run.order(g);
    const bool fresh = g == 0 || renewed(run, g);
    const int entered = team.count(n_best, [&](int k) { return order[k] < run.pop; });
    if (team.lane == 0) *stagnated(run, run.iteration(g)) = run.settings.restart && !fresh && entered == 0;
  }

  // The distance of candidate c from the nearest of the first n references; -1 for these, and for those that cannot
  // become one.
  template <class Team, class R> SKDE_FN static void measure(Team& team, const R& run, i64 g, int c, int n) {
    using real = typename R::real;
    const i64* const order = run.order(g);
    const bool out = c >= run.pop && (g == 0 || renewed(run, g));
    real near = -1;
    if (!out && team.first(n, [&](int k) { return order[k] == c ? k : -1; }) < 0)
      for (int k = 0; k < n; ++k) {
        const real d = distance(team, run, candidate(run, g, c), candidate(run, g, int(order[k])));
        near = k == 0 ? d : min_of(near, d);
      }
    if (team.lane == 0) run.array(Arrays::near, 1)[c] = near;
  }

  // The first of n places with the largest number.
  template <class Team, class At> SKDE_FN static int first_largest(Team& team, int n, At at) {
    const auto most = team.max(n, at);
    return max_of(team.first(n, [&](int k) { return at(k) == most ? k : -1; }), 0);
  }
  // The farthest of n candidates from the references, after `chosen` were chosen by their distance.
  template <class Team, class R>
  SKDE_FN static int farthest_of(Team& team, const R& run, int chosen, int begin, int n) {
    const auto* const near = run.array(Arrays::near, chosen + 1) + begin;
    return begin + first_largest(team, n, [&](int c) { return near[c]; });
  }

  template <class Team, class R>
  SKDE_FN static void update_distance(Team& team, const R& run, i64 g, int c, int farthest, int chosen) {
    const auto before = run.array(Arrays::near, chosen + 1)[c];
    const auto d = distance(team, run, candidate(run, g, c), candidate(run, g, farthest));
    if (team.lane == 0) run.array(Arrays::near, chosen)[c] = c == farthest || before < 0 ? -1 : min_of(before, d);
  }
};

}  // namespace SKDE_NAMESPACE
