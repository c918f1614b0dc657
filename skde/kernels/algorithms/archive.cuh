// The archive of JADE: parents that were worse than their trials (Zhang, Sanderson 2009; Tanabe, Fukunaga 2014). r2 is
// drawn from the population and the archive. A parent is written after the last row while there is room, then to a row
// drawn among those from before this generation. Where several draw the same row, the last one is written.
//
// An algorithm A with an archive uses run.archive(row) and declares:
//   Arrays::slot      of a trial: the row that its parent takes in a full archive, negative where the trial did not
//                     improve
//   Scratch::row      of a trial of a large population: the row of its parent
//   Scratch::successes   of a piece of the trials of a large population: how many improved
//   ARCHIVED          the place in run.memory(g) of the number of rows
//   Settings::archive_rate   its size by that of the population
//   Prefetch          with archived (the number of rows), parent (of trial i) and the addresses f and slot
//   point()           the place of an individual's point
// and numbers its individuals by rank.
#pragma once
#include "core/run.cuh"
#include "random/draws.cuh"

namespace SKDE_NAMESPACE {

template <class A> struct ParentArchive {
  template <class R> SKDE_FN static int capacity(const R& run) { return int(run.settings.archive_rate * run.pop); }
  // The number of rows after generation g. A smaller population uses fewer of them.
  template <class R> SKDE_FN static double archived(const R& run, i64 g) { return run.memory(g)[A::ARCHIVED]; }
  template <class R> SKDE_FN static int usable(const R& run, double archived) {
    return min_of(int(archived), capacity(run));
  }
  template <class R> SKDE_FN static double grown(const R& run, double archived, int successes) {
    return min_of(usable(run, archived) + successes, capacity(run));
  }
  // The row among `rows` that a uniform number u draws.
  template <class real> SKDE_FN static int row_in(int rows, real u) { return min_of(int(u * real(rows)), rows - 1); }

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
    // The fences keep the rare case, which waits for the archive's size, out of the common path.
    team.sync();
    const int rows = usable(run, archived);
    if (SKDE_RARELY(rows < capacity(run))) {
      team.sync();
      rank = r2(run, rows, word, i, r1), row = row_of(rank);
    }
    const auto* const from_archive = run.archive(max_of(rank - run.pop, 0));
    return rank < run.pop ? A::point(run, g - 1, row) : from_archive;
  }

  // The stage of a small population. It also ranks individual i, because both need counts of trials, and returns its rank.
  template <class Team, class R, class P>
  SKDE_FN static int rank_and_archive(Team& team, const R& run, i64 g, int i, const P& prefetch) {
    using real = typename R::real;
    enum : int { BETTER, BETTER_THAN_NONE, BEFORE, AFTER, COUNTS };
    struct Trial {
      real f, slot;
    };
    const real *const f = prefetch.f, *const slot = prefetch.slot;
    // On a GPU loading takes longer than the rest, so everything is loaded before the first use, even if it is not
    // needed.
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
    if (!(mine.slot >= 0)) return rank;
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
      if (later > 0) return rank;
    }
    if (row >= 0) team.put(run.dim, prefetch.parent, run.archive(row));
    return rank;
  }

  // The stages of a large population. Stage COUNT counts the successes in every piece of the trials. Stage ROWS gives a
  // row to each parent that was replaced; the owner of a row is the last of its parents. Stage OWNERS writes the owners;
  // on a GPU it goes along with a stage of sorting that has little work.
  static constexpr int COUNT = 0, ROWS = 1, OWNERS = MANY_TEAMS ? 3 : 2;
  static constexpr int LARGE_STAGES = OWNERS + 1;
  template <class Team, class R, class Share, class P>
  SKDE_FN static void archive_many(Team& team, const R& run, const Share& share, i64 g, int stage, const P& prefetch) {
    using real = typename R::real;
    const real* const slot = prefetch.slot;
    real *const rows = run.scratch(A::Scratch::row), *const successes = run.scratch(A::Scratch::successes);
    i64* const owners = run.owners();
    const int size = max_of(PIECE, (run.pop + MOST_PIECES - 1) / MOST_PIECES), pieces = (run.pop + size - 1) / size;
    const int filled = usable(run, prefetch.archived), all = capacity(run);
    const auto trials = [&](int piece) { return min_of(size, run.pop - piece * size); };
    if (stage == COUNT) {
      share.each_item(pieces, [&](int piece) {
        const real* const drawn = slot + piece * size;
        const int many = team.count(trials(piece), [=](int k) { return drawn[k] >= 0; });
        if (team.lane == 0) successes[piece] = real(many);
      });
      share.each_position(team, all, [&](int row) { owners[row] = -1; });
    } else if (stage == ROWS) {
      share.each_item(pieces, [&](int piece) {
        const int before = filled + team.count(piece, [=](int k) { return int(successes[k]); }), begin = piece * size;
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
    } else if (stage == OWNERS) {
      // Finding an owner takes several loads, one after another, so each lane of a warp looks at another trial. Few
      // trials are divided among more warps.
      const int AT_ONCE = Team::size == 1 ? 1 : run.pop < FEW ? WARP / 4 : WARP;
      const auto find = [&](int i) -> i64 {
        const int row = slot[i] >= 0 ? int(rows[i]) : -1;
        return row >= 0 && owners[row] == i ? i64(A::parent(run, g, i)) << 32 | row : -1;
      };
      share.each_item((run.pop + AT_ONCE - 1) / AT_ONCE, [&](int part) {
        const int first = part * AT_ONCE;
        team.copy_found(
            first, min_of(first + AT_ONCE, run.pop), find, run.dim,
            [&](i64 found) { return A::point(run, g - 1, int(found >> 32)); },
            [&](i64 found) { return run.archive(int(u32(found))); });
      });
    }
  }

 private:
  // The trials are divided into pieces of this size, or into the largest number of pieces.
  static constexpr int PIECE = MANY_TEAMS ? 128 : 512, MOST_PIECES = 1 << 13;
  static constexpr int FEW = 1 << 15;  // trials

  // The number by which individual i draws a row.
  template <class R> SKDE_FN static typename R::real slot_draw(const R& run, i64 g, int i) {
    using Layout = TrialLayout;
    return unit<typename R::real>(
        run.stream(g, i, Layout::purpose(Layout::SECOND_INDEX)).here().block(Layout::slot(Layout::SECOND_INDEX)).w[0]);
  }
};

}  // namespace SKDE_NAMESPACE
