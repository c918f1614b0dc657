// Islands: consecutive runs of a batch, n_islands of them, are one archipelago. In every generation that is a multiple
// of migrate_every they migrate, after it has been judged and before the next one is made:
//
//   emigrate   every island copies its migrants out, and numbers its individuals in the order of replacement
//   immigrate  a migrant replaces the individual at its place in that order, if it is better
//   restore    the algorithm restores the state that depends on the order of its population
//
// with a barrier of all islands after each. Only islands that still run migrate. An island that has reached the target
// ends the archipelago at the next migration.
//
// A batch may have some islands of an archipelago, while other batches have the others. The host then copies the rows
// of task.migrants, which has one for every island, between emigrate and immigrate.
#pragma once
#include "core/run.cuh"

namespace SKDE_NAMESPACE {

SKDE_ENUM_CLASS(Route, int, RING, RANDOM, FULL);
SKDE_ENUM_CLASS(Migrants, int, BEST, RANDOM);   // individuals that are copied to other islands
SKDE_ENUM_CLASS(Replaced, int, WORST, RANDOM);  // individuals that migrants may replace

// An island's part in a migration, the first number of its row of task.migrants.
enum Part : int { ABSENT = 0, PRESENT = 1, AT_TARGET = 2 };

// Whether islands migrate after generation g.
template <class real> SKDE_FN bool migrates(const Task<real>& task, i64 g) {
  return task.migrate_every > 0 && g > 0 && g % task.migrate_every == 0;
}

// Whether run r has done the migration after generation g. It is not repeated where a generation is proposed again.
template <class real> SKDE_FN bool has_migrated(const Task<real>& task, i64 r, i64 g) {
  return task.n_islands > 1 && g > 0 && task.met[r] == g;
}

// The first generation after g that a migration follows; at most `until`.
template <class real> SKDE_FN i64 next_migration(const Task<real>& task, i64 g, i64 until) {
  return task.migrate_every > 0 ? min_of(until, (g / task.migrate_every + 1) * task.migrate_every) : until;
}

// Islands are counted from the first one of the archipelago that the batch begins in.
template <class real> struct Islands {
  const Task<real>& task;

  SKDE_FN i64 island(i64 run) const { return run + task.first_island; }
  SKDE_FN i64 first_of(i64 island) const { return island / task.n_islands * task.n_islands; }
  SKDE_FN int migrants(int pop) const {
    const int wanted = task.migrant_share > 0 ? int(task.migrant_share * pop) : int(task.migrant_count);
    return max_of(min_of(wanted, min_of(pop - 1, int(task.migrant_rows))), 1);
  }
  SKDE_FN real& part(i64 island) const { return task.migrants[island * (1 + task.migrant_rows * (task.dim + 1))]; }
  // A migrant: its value, then its point.
  SKDE_FN real* migrant(i64 island, int k) const { return &part(island) + 1 + k * (task.dim + 1); }
};

// The algorithm of an island in a migration: rows of individuals, the first of which is number `first`. With it the
// code of a migration is compiled once for all algorithms.
struct Members : BaseAlgorithm {
  SKDE_PARAMETERS(pop_size, first);
  struct Settings {
    const int first;
    SKDE_FN explicit Settings(const double* p) : first(int(p[Parameters::first])) {}
  };
};

// Run r as an island of generation g.
template <class Algorithm, class real> SKDE_FN Run<Members, real> island_of(const Task<real>& task, i64 r, i64 g) {
  const Shared<real> shared(task);
  Run<Algorithm, real> run(task, shared, r);
  run.enter(g);
  const double rows[] = {double(run.members()), double(run.first_member())};
  return Run<Members, real>(task, shared, r, rows);
}

template <class R> SKDE_FN typename R::real* island_member(const R& run, i64 g, int k) {
  return run.x(g, run.settings.first + k);
}
template <class R> SKDE_FN typename R::real* island_values(const R& run, i64 g) {
  return run.f(g) + run.settings.first;
}

// The draw of member k, and how many members have a smaller one than i.
template <class R> SKDE_FN u32 draw(const R& run, i64 g, int k, u32 slot) {
  return run.stream(g, k, MIGRATION).block(slot).w[0];
}
template <class Team, class R> SKDE_OUTLINE int drawn_place(Team& team, const R& run, i64 g, int i, u32 slot) {
  const u32 own = draw(run, g, i, slot);
  return team.count(run.pop, [&](int k) {
    const u32 other = draw(run, g, k, slot);
    return (other < own) | ((other == own) & (k < i));
  });
}

template <class Team, class real, class Share>
SKDE_OUTLINE void emigrate(Team& team, const Run<Members, real>& run, Share& share, i64 g) {
  const auto& task = run.task;
  const Islands<real> islands{task};
  const i64 r = run.run;
  const i64 me = islands.island(r);
  const bool here = task.status[r] == RUNNING && task.generation[r] == g && !has_migrated(task, r, g);
  if (share.leader && team.lane == 0)
    islands.part(me) = real(here ? PRESENT : task.status[r] == TARGET ? AT_TARGET : ABSENT);
  if (!here) return;
  const int pop = run.pop, many = islands.migrants(pop);
  const bool drawn_migrants = Migrants(int(task.migrant_choice)) == Migrants::RANDOM;
  const bool drawn_places = Replaced(int(task.migrant_place)) == Replaced::RANDOM;
  i64* const places = task.places + r * task.pop_max;
  const auto send = [&](int i, int row) {
    const real* const x = island_member(run, g, i);
    real* const out = islands.migrant(me, row);
    team.each(run.dim, [&](int j) { out[1 + j] = x[j]; });
    if (team.lane == 0) *out = island_values(run, g)[i];
  };
  share.divide(pop);
  if (!is_large(pop)) {
    for (int i = share.begin; i < share.end; i += share.step) {
      const int rank = rank_of(team, island_values(run, g), pop, i);
      const int row = drawn_migrants ? drawn_place(team, run, g, i, 0) : rank;
      const int place = drawn_places ? drawn_place(team, run, g, i, 1) : pop - 1 - rank;
      if (team.lane == 0) places[i] = place;
      if (row < many) send(i, row);
    }
  } else if (share.leader) {
    // Migrations are rare: one team sorts a large population.
    i64 *const order = run.sorting(), *const other = order + pop;
    const auto sort = [&](bool drawn, u32 slot) {
      const real* const f = island_values(run, g);
      if (drawn)
        sort_alone(team, pop, [&](int k) { return double(draw(run, g, k, slot)); }, order, other, run.samples(pop));
      else
        sort_alone(team, pop, [&](int k) { return f[k]; }, order, other, run.samples(pop));
    };
    sort(drawn_migrants, 0);
    for (int row = 0; row < many; ++row) send(int(order[row]), row);
    team.sync();
    if (drawn_migrants || drawn_places) sort(drawn_places, 1);
    team.each(pop, [&](int k) { places[order[k]] = drawn_places ? k : pop - 1 - k; });
  }
}

// The migrants of all other islands, of which each sends `many`.
template <class real> struct Arrivals {
  const Islands<real>& islands;
  i64 first, me;  // of the archipelago; this island in it
  int many;

  SKDE_FN int all() const { return int(islands.task.n_islands) * many; }
  SKDE_FN bool sent(int k) const { return islands.part(first + k / many) == PRESENT && k / many != me; }
  SKDE_FN real* migrant(int k) const { return islands.migrant(first + k / many, k % many); }
  // NaN, which replaces no individual, where it was not sent.
  SKDE_FN real value(int k) const { return sent(k) ? *migrant(k) : real(not_a_number()); }
};

// The migrant that is number `rank` of those for an island; null where there is none.
template <class Team, class R, class real>
SKDE_FN const real* arrival(Team& team, const R& run, const Arrivals<real>& arrivals, i64 g, int rank) {
  const auto& task = run.task;
  const i64 n = task.n_islands;
  const Route route = Route(int(task.migrant_route));
  if (route == Route::FULL) {
    if (is_large(arrivals.all())) {
      const int k = int(run.sorting()[rank]);
      return arrivals.sent(k) ? arrivals.migrant(k) : nullptr;
    }
    for (int k = 0; k < arrivals.all(); ++k) {
      if (!arrivals.sent(k)) continue;
      const auto value = [&](int other) { return arrivals.value(other); };
      const auto ties = [&](int other) { return arrivals.sent(other) & (other < k); };
      if (count_before(team, arrivals.all(), value, value(k), ties) == rank) return arrivals.migrant(k);
    }
    return nullptr;
  }
  i64 from = (arrivals.me + n - 1) % n;
  if (route == Route::RANDOM) {
    from = below(run.stream(g, 0, MIGRATION).block(2).w[0], int(n - 1));
    from += from >= arrivals.me;
  }
  const auto& islands = arrivals.islands;
  return islands.part(arrivals.first + from) == PRESENT ? islands.migrant(arrivals.first + from, rank) : nullptr;
}

template <class Team, class real, class Share>
SKDE_OUTLINE void immigrate(Team& team, const Run<Members, real>& run, Share& share, i64 g) {
  const auto& task = run.task;
  const Islands<real> islands{task};
  const i64 r = run.run;
  const i64 me = islands.island(r), first = islands.first_of(me);
  if (islands.part(me) != PRESENT) return;
  const bool ended = team.count(int(task.n_islands), [&](int k) { return islands.part(first + k) == AT_TARGET; }) > 0;
  if (share.leader && team.lane == 0) (ended ? task.status : task.met)[r] = ended ? i64(TARGET) : g;
  if (ended) return;
  const Arrivals<real> arrivals{islands, first, me - first, islands.migrants(run.pop)};
  const auto receive = [&](int i) {
    const int rank = int(task.places[r * task.pop_max + i]);
    const real* const migrant = rank < arrivals.many ? arrival(team, run, arrivals, g, rank) : nullptr;
    if (!migrant) return;
    const real value = *migrant, own = island_values(run, g)[i];
    team.sync();
    if (!(value < own) && !(is_nan(own) && !is_nan(value))) return;
    real* const x = island_member(run, g, i);
    team.each(run.dim, [&](int j) { x[j] = migrant[1 + j]; });
    if (team.lane == 0) island_values(run, g)[i] = value;
  };
  share.divide(run.pop);
  if (Route(int(task.migrant_route)) == Route::FULL && is_large(arrivals.all())) {
    // Migrations are rare: one team sorts many migrants.
    if (!share.leader) return;
    i64* const order = run.sorting();
    sort_alone(
        team, arrivals.all(), [&](int k) { return arrivals.value(k); }, order, order + arrivals.all(),
        run.samples(arrivals.all()));
    for (int i = 0; i < run.pop; ++i) receive(i);
  } else {
    for (int i = share.begin; i < share.end; i += share.step) receive(i);
  }
}

template <class Algorithm, class Team, class real, class Share>
SKDE_FN void emigrate(Team& team, const Task<real>& task, i64 r, Share& share, i64 g) {
  emigrate(team, island_of<Algorithm>(task, r, g), share, g);
}
template <class Algorithm, class Team, class real, class Share>
SKDE_FN void immigrate(Team& team, const Task<real>& task, i64 r, Share& share, i64 g) {
  immigrate(team, island_of<Algorithm>(task, r, g), share, g);
}

// Restores the state of the run after a migration or, with `all_values`, after all values of generation g were made
// again. One team sorts a large population, because both are rare.
template <class Algorithm, class Team, class real, class Share>
SKDE_FN void restore(Team& team, const Task<real>& task, i64 r, Share& share, i64 g, bool all_values = false) {
  if (task.status[r] != RUNNING) return;
  if (!all_values && Islands<real>{task}.part(Islands<real>{task}.island(r)) != PRESENT) return;
  Run<Algorithm, real> run(task, Shared<real>(task), r);
  run.enter(g);
  share.divide(run.members());
  const real* const f = run.f(g);
  const bool sorts = run.task.ranked && is_large(run.pop);
  if (sorts && share.leader)
    sort_alone(team, run.pop, [&](int k) { return f[k]; }, run.order(g), run.sorting(), run.samples(run.pop));
  for (int i = share.begin; i < share.end; i += share.step) {
    if (run.task.ranked && !sorts) BaseAlgorithm::rank(team, run, g, i);
    if (team.lane == 0) run.mark_unchanged(g, i, false);
    Algorithm::restore(team, run, g, i, all_values);
  }
  if (has_bests(run, run.pop)) find_bests(team, run, share, g);
  // The sums are those of other values.
  if (MANY_TEAMS && is_large(run.pop) && share.leader && team.lane == 0) run.sums_mark() = 0;
}

}  // namespace SKDE_NAMESPACE
