// The archive of JADE: parents that were worse than their trials (Zhang, Sanderson 2009; Tanabe, Fukunaga 2014).
//
//   r2     from the population and the archive, other than i and r1                                       (JADE: 7)
//   entry  a parent is written after the last row while there is room, then to a row drawn among those from before
//          this generation; where several draw the same row, the last one is written (core/taken_rows.cuh)
//   size   archive_rate times the population's
//
// An algorithm A with an archive numbers its individuals by rank, uses run.archive(row), and declares:
//   Arrays::slot      of a trial: the row that its parent takes in a full archive, negative where the trial did not
//                     improve
//   Scratch::row      of a trial of a large population: the row of its parent
//   Scratch::successes   of a piece of the trials of a large population: how many improved
//   ARCHIVED          the place in run.memory(g) of the number of rows
//   Settings::archive_rate
//   point()           the place of an individual's point
//   values()          the values of the population
#pragma once
#include "core/taken_rows.cuh"
#include "random/draws.cuh"

namespace SKDE_NAMESPACE {

template <class A> struct ParentArchive {
  using Layout = TrialLayout;

  template <class R> SKDE_FN static int capacity(const R& run) { return int(run.settings.archive_rate * run.pop); }
  // The number of rows after generation g. A smaller population uses fewer of them.
  template <class R> SKDE_FN static double archived(const R& run, i64 g) { return run.memory(g)[A::ARCHIVED]; }
  template <class R> SKDE_FN static int usable(const R& run, double archived) {
    return min_of(int(archived), capacity(run));
  }
  template <class R> SKDE_FN static double grown(const R& run, double archived, int successes) {
    return min_of(usable(run, archived) + successes, capacity(run));
  }

  // -- mutation ------------------------------------------------------------------------------------------------------

  // The rank of r2 in the population, other than i and r1. From run.pop on it is a row of the archive.
  template <class R> SKDE_FN static int r2(const R& run, int rows, u32 word, int i, int r1) {
    return other_than(i, r1, below(word, run.pop + rows - 2));
  }

  // x_r2, where generation g - 1 ended with `archived` rows. The archive is nearly always full: r2 is drawn as if it
  // were, and drawn again in the rare case that it is not.
  template <class Team, class R>
  SKDE_FN static const typename R::real* x_r2(Team& team, const R& run, i64 g, double archived, u32 word, int i,
                                              int r1) {
    const i64* const order = run.order(g - 1);
    const auto row_of = [&](int rank) { return int(order[min_of(rank, run.pop - 1)]); };
    int rank = r2(run, capacity(run), word, i, r1), row = row_of(rank);
    in_rare_case(
        team, [&] { return usable(run, archived) < capacity(run); },
        [&] { rank = r2(run, usable(run, archived), word, i, r1), row = row_of(rank); });
    const auto* const from_archive = run.archive(max_of(rank - run.pop, 0));
    return rank < run.pop ? A::point(run, g - 1, row) : from_archive;
  }

  // -- selection -----------------------------------------------------------------------------------------------------

  // The row among `rows` that a uniform number u draws.
  template <class real> SKDE_FN static int row_in(int rows, real u) { return min_of(int(u * real(rows)), rows - 1); }
  // Draws the row that the parent of trial i takes where the archive is full; leaves out a parent that stays.
  template <class R> SKDE_FN static void draw_row(const R& run, i64 g, int i, const Words4& words) {
    using real = typename R::real;
    run.array(A::Arrays::slot, g)[i] = real(row_in(capacity(run), unit<real>(words.w[0])));
  }
  template <class R> SKDE_FN static void leave_out(const R& run, i64 g, int i) {
    run.array(A::Arrays::slot, g)[i] = -1;
  }

  // -- the work between generations ----------------------------------------------------------------------------------

  // The number of rows in the archive, the parent of trial i, and the addresses of all values and rows.
  template <class Team> struct Prefetch {
    const typename Team::real *f, *slot;
    double archived = 0;
    typename Team::Row parent{};

    template <class R>
    SKDE_FN Prefetch(Team& team, const R& run, i64 g, int i)
        : f(compute_now(A::values(run, g))), slot(compute_now(run.array(A::Arrays::slot, g))) {
      if (g == 0) return;
      archived = ParentArchive::archived(run, g - 1);
      if (i < run.pop) parent = team.row(run.dim, A::point(run, g - 1, A::parent(run, g, i)));
    }
  };

  // Of a small population: ranks individual i, and lets its parent enter the archive. Returns the rank.
  template <class Team, class R>
  SKDE_FN static int rank_and_archive(Team& team, const R& run, i64 g, int i, const Prefetch<Team>& prefetch) {
    const int filled = usable(run, prefetch.archived);
    const Rows<R> rows{run, g, filled};
    const auto found = find_rank_and_row(team, run.pop, i, prefetch.f, prefetch.slot, filled, capacity(run), rows);
    if (team.lane == 0) run.order(g)[found.rank] = i;
    if (found.row >= 0) team.put(run.dim, prefetch.parent, run.archive(found.row));
    return found.rank;
  }

  // Of a large population: one of the stages in which the parents enter the archive.
  template <class Team, class R, class Share>
  SKDE_FN static void archive_many(Team& team, const R& run, const Share& share, i64 g, int stage,
                                   const Prefetch<Team>& prefetch) {
    const int filled = usable(run, prefetch.archived);
    const TakenRows<typename R::real> taken{{run.pop, run.scratch(A::Scratch::successes)},
                                            prefetch.slot,
                                            run.scratch(A::Scratch::row),
                                            run.owners(),
                                            filled,
                                            capacity(run)};
    taken.make(team, share, stage, Rows<R>{run, g, filled}, run.dim);
  }

 private:
  // The archive as a store of rows (core/taken_rows.cuh).
  template <class R> struct Rows {
    using real = typename R::real;
    const R& run;
    const i64 g;
    const int filled;

    SKDE_FN int drawn(int i) const {
      const Stream stream = run.stream(g, i, Layout::purpose(Layout::SECOND_INDEX)).here();
      return row_in(filled, unit<real>(stream.block(Layout::slot(Layout::SECOND_INDEX)).w[0]));
    }
    SKDE_FN int source(int i) const { return A::parent(run, g, i); }
    SKDE_FN const real* from(int source) const { return A::point(run, g - 1, source); }
    SKDE_FN real* to(int row) const { return run.archive(row); }
  };
};

}  // namespace SKDE_NAMESPACE
