// The archive of JADE: parents that lost to their trials, from which and from the population r2 is drawn (Zhang, Sanderson 2009;
// Tanabe, Fukunaga 2014). A parent is written behind the last row while there is room, then over a row that was there before
// this generation; where several draw the same row, the last one has it.
//
// An algorithm A that has an archive declares, besides run.archive(row):
//   Arrays::slot      of a trial: the row that its parent takes in a full archive, negative where the trial did not improve
//   Scratch::row      of a trial of a large population: the row of its parent
//   Scratch::successes   of a piece of the trials of a large population: how many improved
//   ARCHIVED          the place in run.memory(g) of the number of rows
//   Settings::archive_rate   its size by that of the population
//   Prefetch          with archived (the number of rows), parent (of trial i) and the addresses f and slot
// and numbers its individuals by rank.
#pragma once
#include "core/run.cuh"
#include "random/draws.cuh"

namespace SKDE_NAMESPACE {

template <class A> struct ParentArchive {
  template <class R> SKDE_FN static int capacity(const R& run) { return int(run.settings.archive_rate * run.pop); }
  // The rows after generation g, of which a smaller population uses fewer.
  template <class R> SKDE_FN static double archived(const R& run, i64 g) { return run.memory(g)[A::ARCHIVED]; }
  template <class R> SKDE_FN static int usable(const R& run, double archived) {
    return min_of(int(archived), capacity(run));
  }
  template <class R> SKDE_FN static double grown(const R& run, double archived, int successes) {
    return min_of(usable(run, archived) + successes, capacity(run));
  }
  // A row among so many, by a uniform number.
  template <class real> SKDE_FN static int row_in(int rows, real u) { return min_of(int(u * real(rows)), rows - 1); }

  // The rank of r2 in the population, other than i and r1; behind it, a row of the archive.
  template <class R> SKDE_FN static int r2(const R& run, int rows, u32 word, int i, int r1) {
    return other_than(i, r1, below(word, run.pop + rows - 2));
  }

  // x_r2, where generation g - 1 left so many rows. The archive is nearly always full: r2 is drawn as if it were, and drawn again
  // in the rare case that it is not.
  template <class Team, class R>
  SKDE_FN static const typename R::real* x_r2(Team& team, const R& run, i64 g, double archived, u32 word, int i,
                                              int r1) {
    const i64* const order = run.order(g - 1);
    const auto row_of = [&](int rank) { return int(order[min_of(rank, run.pop - 1)]); };
    int rank = r2(run, capacity(run), word, i, r1), row = row_of(rank);
    // Without the fences the compiler would join both cases, and wait for the size; or always do the second.
    team.sync();
    const int rows = usable(run, archived);
    if (SKDE_RARELY(rows < capacity(run))) {
      team.sync();
      rank = r2(run, rows, word, i, r1), row = row_of(rank);
    }
    const auto* const from_archive = run.archive(max_of(rank - run.pop, 0));
    return rank < run.pop ? run.x(g - 1, row) : from_archive;
  }

  // One stage for a small population, which ranks individual i, too: both count the trials.
  template <class Team, class R, class P>
  SKDE_FN static void rank_and_archive(Team& team, const R& run, i64 g, int i, const P& prefetch) {
    using real = typename R::real;
    enum : int { BETTER, BETTER_THAN_NONE, BEFORE, AFTER, COUNTS };
    struct Trial {
      real f, slot;
    };
    const real *const f = prefetch.f, *const slot = prefetch.slot;
    // On a GPU loading takes longer than the rest: everything is loaded before anything is used, needed or not.
    const Trial mine{f[i], slot[i]};
    const auto counts = team.template counts<COUNTS>(
        run.pop, [=](int k) { return Trial{f[k], slot[k]}; },
        [=](const Trial& other, int k, int* t) {
          t[BETTER] = comes_before(other.f, mine.f, k < i);
          t[BETTER_THAN_NONE] = !is_nan(other.f) | (k < i);  // than NaN
          t[BEFORE] = (other.slot >= 0) & (k < i);
          t[AFTER] = (other.slot == mine.slot) & (k > i);
        });

    const int rank = Team::size == 1  ? rank_of(team, f, run.pop, i)
                     : is_nan(mine.f) ? counts.of(BETTER_THAN_NONE)
                                      : counts.of(BETTER);
    if (team.lane == 0) run.order(g)[rank] = i;
    if (!(mine.slot >= 0)) return;
    const int rows = usable(run, prefetch.archived), free = capacity(run) - rows, before = counts.of(BEFORE);
    int row = rows + before;
    if (before >= free) {
      row = int(mine.slot);
      int later = counts.of(AFTER);
      if (SKDE_RARELY(free > 0)) {
        const auto drawn = [&](int k) { return row_in(rows, slot_draw(run, g, k)); };
        row = drawn(i);
        later = team.count(run.pop, [&](int k) { return (slot[k] >= 0) & (k > i) & (drawn(k) == row); });
      }
      if (later > 0) return;
    }
    if (row >= 0) team.put(run.dim, prefetch.parent, run.archive(row));
  }

  // For a large population, which is sorted. Stage 0: the successes in every piece of the trials; stage 1: the row of each
  // parent that lost, of which the last one owns it; stage 2: the owners are written.
  static constexpr int LARGE_STAGES = 3;
  template <class Team, class R, class Share, class P>
  SKDE_FN static void archive_many(Team& team, const R& run, const Share& share, i64 g, int stage, const P& prefetch) {
    using real = typename R::real;
    const real* const slot = prefetch.slot;
    real *const rows = run.scratch(A::Scratch::row), *const successes = run.scratch(A::Scratch::successes);
    i64* const owners = run.owners();
    const int pieces = (run.pop + PIECE - 1) / PIECE, filled = usable(run, prefetch.archived), all = capacity(run);
    const auto trials = [&](int piece) { return min_of(PIECE, run.pop - piece * PIECE); };
    if (stage == 0) {
      share.each_item(pieces, [&](int piece) {
        const real* const drawn = slot + piece * PIECE;
        const int many = team.count(trials(piece), [=](int k) { return drawn[k] >= 0; });
        if (team.lane == 0) successes[piece] = real(many);
      });
      share.each_position(team, all, [&](int row) { owners[row] = -1; });
    } else if (stage == 1) {
      share.each_item(pieces, [&](int piece) {
        const int before = filled + int(team.sum(piece, [=](int k) { return successes[k]; })), begin = piece * PIECE;
        team.number(
            trials(piece), [=](int k) { return slot[begin + k] >= 0; },
            [&](int k, int earlier, bool succeeds) {
              const int i = begin + k;
              int row = before + earlier;
              if (!succeeds) return;
              if (row >= all) row = filled < all ? row_in(filled, slot_draw(run, g, i)) : int(slot[i]);
              rows[i] = real(row);
              if (row >= 0) max_at(owners + row, i);
            });
      });
    } else {
      share.each_item(run.pop, [&](int i) {
        if (!(slot[i] >= 0)) return;
        const int row = int(rows[i]);
        if (row >= 0 && owners[row] == i) team.copy(run.dim, run.x(g - 1, A::parent(run, g, i)), run.archive(row));
      });
    }
  }

 private:
  static constexpr int PIECE = 512;

  // The number by which individual i draws a row.
  template <class R> SKDE_FN static typename R::real slot_draw(const R& run, i64 g, int i) {
    using Layout = TrialLayout;
    return unit<typename R::real>(
        run.stream(g, i, Layout::purpose(Layout::SECOND_INDEX)).here().block(Layout::slot(Layout::SECOND_INDEX)).w[0]);
  }
};

}  // namespace SKDE_NAMESPACE
