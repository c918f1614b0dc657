// Islands: consecutive runs of a batch, n_islands of them, are one archipelago. In every generation that is a multiple of
// migrate_every they exchange individuals, after it has been judged and before the next one is made:
//
//   emigrate   every island copies its migrants out, and numbers its individuals in the order of replacement
//   immigrate  an individual that is to be replaced gives way to a migrant that is better
//   restore    the algorithm restores the state that depends on the order of its population
//
// with a barrier of all islands after each. Only islands that still run take part; one that has reached the target ends the
// archipelago at the next migration.
//
// A batch may have some islands of an archipelago, while other batches have the others. The host then copies the rows of
// migrants, migrant_values and meets, which have room for all islands, between emigrate and immigrate.
#pragma once
#include "core/run.cuh"

namespace SKDE_NAMESPACE {

SKDE_ENUM_CLASS(Route, int, RING, RANDOM, FULL);
SKDE_ENUM_CLASS(Migrants, int, BEST, RANDOM);   // that leave
SKDE_ENUM_CLASS(Replaced, int, WORST, RANDOM);  // that give way

// An island's part in a migration.
enum Part : i64 { ABSENT = 0, PRESENT = 1, AT_TARGET = 2 };

// Whether islands migrate after generation g.
template <class real> SKDE_FN bool migrates(const Task<real>& task, i64 g) {
  return task.migrate_every > 0 && g > 0 && g % task.migrate_every == 0;
}

// Whether run r has done the migration after generation g: it is not repeated where a generation is proposed again.
template <class real> SKDE_FN bool has_migrated(const Task<real>& task, i64 r, i64 g) {
  return task.n_islands > 1 && g > 0 && task.met[r] == g;
}

// The next generation with a migration after it, behind generation g; at most `until`.
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
  SKDE_FN real* migrant(i64 island, int row) const {
    return task.migrants + (island * task.migrant_rows + row) * task.dim;
  }
  SKDE_FN real* value(i64 island, int row) const { return task.migrant_values + island * task.migrant_rows + row; }
};

// The algorithm of an island in a migration: rows of individuals, the first of which is number `first`. So the code of a
// migration is compiled once for all algorithms.
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

// How many members have a smaller draw than i.
template <class Team, class R> SKDE_OUTLINE int drawn_place(Team& team, const R& run, i64 g, int i, u32 slot) {
  const auto word = [&](int k) { return run.stream(g, k, MIGRATION).block(slot).w[0]; };
  const u32 mine = word(i);
  return team.count(run.pop, [&](int k) {
    const u32 other = word(k);
    return (other < mine) | ((other == mine) & (k < i));
  });
}

template <class Team, class real, class Share>
SKDE_OUTLINE void emigrate(Team& team, const Run<Members, real>& run, Share& share, i64 g) {
  const auto& task = run.task;
  const Islands<real> islands{task};
  const i64 r = run.run;
  const i64 me = islands.island(r);
  const bool here = task.status[r] == RUNNING && task.generation[r] == g && !has_migrated(task, r, g);
  if (share.leader && team.lane == 0) task.meets[me] = here ? PRESENT : task.status[r] == TARGET ? AT_TARGET : ABSENT;
  if (!here) return;
  share.divide(run.pop);
  const int many = islands.migrants(run.pop);
  for (int i = share.begin; i < share.end; i += share.step) {
    const int rank = rank_of(team, island_values(run, g), run.pop, i);
    const int leaves = Migrants(int(task.migrant_choice)) == Migrants::RANDOM ? drawn_place(team, run, g, i, 0) : rank;
    const bool random_place = Replaced(int(task.migrant_place)) == Replaced::RANDOM;
    const int gives_way = random_place ? drawn_place(team, run, g, i, 1) : run.pop - 1 - rank;
    if (team.lane == 0) task.places[r * task.pop_max + i] = gives_way;
    if (leaves >= many) continue;
    const real* const x = island_member(run, g, i);
    real* const out = islands.migrant(me, leaves);
    team.each(run.dim, [&](int j) { out[j] = x[j]; });
    if (team.lane == 0) *islands.value(me, leaves) = island_values(run, g)[i];
  }
}

// The migrant number `row` of an island, as row of the whole buffer; -1 where there is none.
template <class Team, class R, class real>
SKDE_FN i64 arrival(Team& team, const R& run, const Islands<real>& islands, i64 g, int row, int many) {
  const auto& task = islands.task;
  const i64 island = islands.island(run.run), first = islands.first_of(island);
  const i64 n = task.n_islands, me = island - first;
  i64 from = (me + n - 1) % n;
  if (Route(int(task.migrant_route)) == Route::RANDOM) {
    from = below(run.stream(g, 0, MIGRATION).block(2).w[0], int(n - 1));
    from += from >= me;
  } else if (Route(int(task.migrant_route)) == Route::FULL) {
    // The row-th best of what all others sent out.
    const int all = int(n) * many;
    const auto sent = [&](int k) { return task.meets[first + k / many] == PRESENT && k / many != me; };
    const auto value = [&](int k) { return *islands.value(first + k / many, k % many); };
    for (int k = 0; k < all; ++k) {
      if (!sent(k)) continue;
      const real v = value(k);
      const bool none = is_nan(v);
      const int before = team.count(all, [&](int other) {
        if (!sent(other)) return false;
        const real w = value(other);
        return none ? !is_nan(w) || other < k : w < v || (w == v && other < k);
      });
      if (before == row) return (first + k / many) * task.migrant_rows + k % many;
    }
    return -1;
  }
  return task.meets[first + from] == PRESENT ? (first + from) * task.migrant_rows + row : -1;
}

template <class Team, class real, class Share>
SKDE_OUTLINE void immigrate(Team& team, const Run<Members, real>& run, Share& share, i64 g) {
  const auto& task = run.task;
  const Islands<real> islands{task};
  const i64 r = run.run;
  const i64 me = islands.island(r), first = islands.first_of(me);
  if (task.meets[me] != PRESENT) return;
  bool ended = false;
  for (i64 k = 0; k < task.n_islands; ++k) ended |= task.meets[first + k] == AT_TARGET;
  if (share.leader && team.lane == 0) (ended ? task.status : task.met)[r] = ended ? i64(TARGET) : g;
  if (ended) return;
  share.divide(run.pop);
  const int many = islands.migrants(run.pop);
  for (int i = share.begin; i < share.end; i += share.step) {
    const int row = int(task.places[r * task.pop_max + i]);
    if (row >= many) continue;
    const i64 found = arrival(team, run, islands, g, row, many);
    if (found < 0) continue;
    const real value = task.migrant_values[found], mine = island_values(run, g)[i];
    team.sync();
    if (!(value < mine) && !(is_nan(mine) && !is_nan(value))) continue;
    const real* const from = task.migrants + found * task.dim;
    real* const x = island_member(run, g, i);
    team.each(run.dim, [&](int j) { x[j] = from[j]; });
    if (team.lane == 0) island_values(run, g)[i] = value;
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

// `all_values`: there was no migration, but all values of generation g are new.
template <class Algorithm, class Team, class real, class Share>
SKDE_FN void restore(Team& team, const Task<real>& task, i64 r, Share& share, i64 g, bool all_values = false) {
  if (task.status[r] != RUNNING) return;
  if (!all_values && task.meets[Islands<real>{task}.island(r)] != PRESENT) return;
  Run<Algorithm, real> run(task, Shared<real>(task), r);
  run.enter(g);
  share.divide(run.members());
  for (int i = share.begin; i < share.end; i += share.step) Algorithm::restore(team, run, g, i, all_values);
}

}  // namespace SKDE_NAMESPACE
