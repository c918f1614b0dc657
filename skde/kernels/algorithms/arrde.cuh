// ARRDE, adaptive restart-refine differential evolution (Muzakka, Shali, Suhendar, Moeller, Finsterbusch 2025), by its
// program in minionpy: jSO's mutation without weights, archive and memory (success_history.cuh) in phases. t is the
// share of the budget that is spent.
//
//   first        the search from generation 0
//   restart      from random points outside the boxes mean +- deviation of the populations that ended phases
//   refinement   from records, points at which earlier phases ended; after a restart that found a new best, and after
//                1 + 4 t restarts
//   end          of a phase: the deviation of the values is at most a tolerance times their mean. At refine_from of the
//                budget, where the population grows, the last refinement begins, with the best record.
//   population   N_min + (N - N_min) (1 - t / refine_from)^power, and from then on N_min + (N_late - N_min) (1 - u)^2,
//                u the share of the rest that is spent
//
// Row 0 of the population is the best point found, which a restart would lose. Member 0 is in a row of the archive.
#pragma once
#include "algorithms/arrde_phases.cuh"

namespace SKDE_NAMESPACE {

struct Arrde : ArrdePhases {
  template <class Team, class R>
  SKDE_FN static void propose(Team& team, const R& run, i64 g, int i, const Draws<Team>& draws, const Context& context,
                              typename R::real* out) {
    if (SKDE_RARELY(renews(run, g))) return draw_point(team, run, g, i, out);
    Base::propose(team, run, g, i, draws, context, out);
  }

  template <class Team, class R>
  SKDE_FN static void select(Team& team, const R& run, i64 g, int i, const typename R::real* trial,
                             typename R::real f_trial, const Parent<typename R::real>& parent) {
    using real = typename R::real;
    const bool fresh = renews(run, g);
    const real f_parent = values(run, g - 1)[parent.index];
    const bool survives = fresh || replaces(f_trial, f_parent);
    const real *const winner = survives ? trial : point(run, g - 1, parent.index), f = survives ? f_trial : f_parent;
    real* const place = point(run, g, i);
    if (winner != place) team.copy(run.dim, winner, place);
    if (i == 0) team.sync(), team.copy(run.dim, run.x(g - 1, 0), run.x(g, 0));
    if (team.lane == 0) values(run, g)[i] = f, run.f(g)[i] = i > 0 ? f : run.f(g - 1)[0];
    record(team, run, g, i, fresh ? real(0) : improvement(f_trial, f_parent));
  }

  template <class Team, class R>
  SKDE_FN static void initialize(Team& team, const R& run, int i, const typename R::real* x) {
    Base::initialize(team, run, i, x);
    if (i == 0) team.copy(run.dim, x, point(run, 0, 0));
    if (team.lane == 0) values(run, 0)[i] = run.f(0)[i];
  }

  // -- the work between generations: that of the base, and then, rarely, the end of a phase by one team ----------------

  template <class R> SKDE_FN static int stages(const R&, i64) { return 2; }
  static constexpr bool HAS_RARE_STAGE = true;
  template <class Team, class R> SKDE_FN static bool needs_last_stage(Team& team, const R& run, i64 g, int next_pop) {
    return is_over(team, run, g, next_pop);
  }
  template <class Team, class R>
  SKDE_FN static void end_generation(Team& team, const R& run, i64 g, int i, int stage,
                                     const Prefetch<Team>& prefetch) {
    if (stage > 0) {
      if (i == 0 && is_over(team, run, g, run.next_pop(g))) end_phase(team, run, g);
    } else if (Archive::rank_and_archive(team, run, g, i, prefetch) == 0) {
      keep_best(team, run, g, i, prefetch);
    }
  }
  template <class Team, class R>
  SKDE_FN static void adapt(Team& team, const R& run, i64 g, const Prefetch<Team>& prefetch, bool learns) {
    Base::adapt(team, run, g, prefetch, learns);
    keep_last_entry(team, run, g, prefetch.entry);
  }

  static constexpr bool ALONG_SORTING = false;  // it sorts by itself
  static constexpr int LARGE_STAGES = 1, AFTER_SORTING = MANY_TEAMS ? 0 : Base::LARGE_STAGES;
  template <class R, class Share> SKDE_FN static int large_stages(const R& run, const Share& share, i64) {
    return sort_stages(share, run.pop) + AFTER_SORTING + LARGE_STAGES;
  }
  template <class Team, class R, class Share>
  SKDE_OUTLINE static void end_large_generation(Team& team, const R& run, const Share& share, i64 g, int stage) {
    const auto* const f = values(run, g);
    const auto value = [&](int k) { return f[k]; };
    const int own = stage - sort_stages(share, run.pop);
    if (own < 0)
      sort_along<Base>(team, run, share, g, stage, value);
    else if (own < AFTER_SORTING)
      Base::end_large_generation(team, run, share, g, own);
    else if (share.adapts(run.pop)) {
      const Prefetch<Team> prefetch(team, run, g, run.pop, true);
      keep_last_entry(team, run, g, prefetch.entry);
      keep_best(team, run, g, int(run.order(g)[0]), prefetch);
      team.sync();
      if (is_over(team, run, g, run.next_pop(g))) end_phase(team, run, g);
    }
  }

  // Migrants enter the population, but not the row of the best. Where all values are new, the first phase goes on.
  template <class Team, class R> SKDE_FN static void restore(Team& team, const R& run, i64 g, int i, bool all_values) {
    if (i > 0) return;
    auto *const f = values(run, g), *const all_f = run.f(g);
    team.each(run.pop, [&](int k) {
      if (k > 0 || all_values) f[k] = all_f[k];
    });
    if (all_values) {
      team.copy(run.dim, run.x(g, 0), point(run, g, 0));
      if (team.lane == 0) start(run);
    }
    team.sync();
    sort(team, run, g, max_of(run.pop, run.next_pop(g)));
  }
};

}  // namespace SKDE_NAMESPACE
