// The rows of a store that individuals take. Those with slot[i] >= 0 take one: the first of them, in order, the free
// rows after the `filled` ones; the others row slot[i]. In the rare case that there are free rows, but too few, these
// take row drawn(i) < filled instead, or none where it is negative. Several may take the same row: its owner is the last
// of them.
//
// In a small population the team of an individual finds its row by counting. In a large one all teams find the owners
// in stages, and each stage writes what the next one reads.
#pragma once
#include "core/pieces.cuh"

namespace SKDE_NAMESPACE {

// The rank of individual i by the values f, and the row that it owns, or -1. It finds both at once, because both are
// counts over all individuals.
struct RankAndRow {
  int rank, row;
};
template <class Team, class real, class Store>
SKDE_FN RankAndRow find_rank_and_row(Team& team, int n, int i, const real* f, const real* slot, int filled, int all,
                                     const Store& store) {
  enum : int { BETTER, BETTER_THAN_NONE, BEFORE, AFTER, COUNTS };
  struct Individual {
    real f, slot;
  };
  // On a GPU loading takes longer than the rest, so everything is loaded before the first use, even if it is not
  // needed.
  const Individual mine{f[i], slot[i]};
  const auto counts = team.template counts<COUNTS>(
      n, [=](int k) { return Individual{f[k], slot[k]}; },
      [=](const Individual& other, int k, int* t) {
        t[BETTER] = comes_before(other.f, mine.f, k < i);
        t[BETTER_THAN_NONE] = !is_nan(other.f) | (k < i);  // than NaN
        t[BEFORE] = (other.slot >= 0) & (k < i);
        t[AFTER] = (other.slot == mine.slot) & (k > i);
      });

  const int rank = Team::size == 1  ? rank_of(team, f, n, i)
                   : is_nan(mine.f) ? counts.of(BETTER_THAN_NONE)
                                    : counts.of(BETTER);
  if (!(mine.slot >= 0)) return {rank, -1};
  const int free = all - filled, before = counts.of(BEFORE);
  if (before < free) return {rank, filled + before};
  int row = int(mine.slot), later = counts.of(AFTER);
  if (SKDE_RARELY(free > 0)) {
    row = store.drawn(i);
    later = team.count(n, [&](int k) { return (slot[k] >= 0) & (k > i) & (store.drawn(k) == row); });
  }
  return {rank, later > 0 ? -1 : row};
}

// The stages of a large population: COUNT counts those that take a row, TAKE gives each its row, and COPY fills the rows
// with their owners' vectors. On a GPU the last goes along with a stage of sorting that has little work.
constexpr int COPY_STAGE = MANY_TEAMS ? 3 : 2, TAKING_STAGES = COPY_STAGE + 1;
template <class real> struct TakenRows {
  enum Stage : int { COUNT, TAKE, COPY = COPY_STAGE };

  const Pieces<real> pieces;
  const real* const slot;
  real* const row;    // of each individual
  i64* const owners;  // of each row
  const int filled, all;

  // Of a store: drawn(i); the index source(i) of the vector that individual i brings, and the vector from(source); and
  // the vector to(row) of a row. They have n components.
  template <class Team, class Share, class Store>
  SKDE_FN void make(Team& team, const Share& share, int stage, const Store& store, int n) const {
    const real* const slot = this->slot;
    const auto takes = [=](int i) { return slot[i] >= 0; };
    if (stage == COUNT) {
      pieces.count(team, share, takes);
      share.each_position(team, all, [&](int row) { owners[row] = -1; });
    } else if (stage == TAKE) {
      pieces.number(team, share, takes, [&](int i, int before, bool takes) {
        if (!takes) return;
        int mine = filled + before;
        if (mine >= all) mine = filled < all ? store.drawn(i) : int(slot[i]);
        row[i] = real(mine);
        if (mine >= 0) max_at(owners + mine, i);
      });
    } else if (stage == COPY) {
      copy_owners(team, share, takes, store, n);
    }
  }

 private:
  static constexpr int FEW = 1 << 15;  // individuals

  // Finding an owner takes several loads, one after another, so each lane of a warp looks at another individual. Few
  // individuals are divided among more warps.
  template <class Team, class Share, class Takes, class Store>
  SKDE_FN void copy_owners(Team& team, const Share& share, Takes takes, const Store& store, int n) const {
    const int AT_ONCE = Team::size == 1 ? 1 : pieces.pop < FEW ? WARP / 4 : WARP;
    const auto find = [&](int i) -> i64 {
      const int mine = takes(i) ? int(row[i]) : -1;
      return mine >= 0 && owners[mine] == i ? i64(store.source(i)) << 32 | mine : -1;
    };
    share.each_item((pieces.pop + AT_ONCE - 1) / AT_ONCE, [&](int part) {
      const int first = part * AT_ONCE;
      team.copy_found(
          first, min_of(first + AT_ONCE, pieces.pop), find, n, [&](i64 found) { return store.from(int(found >> 32)); },
          [&](i64 found) { return store.to(int(u32(found))); });
    });
  }
};

}  // namespace SKDE_NAMESPACE
