// The ranks in two populations of the same size that trials join: the top, of which the values are in order, and the
// front, in which trials replace members slot by slot in turn. Of equal values trials come before old members, so that
// both populations move on a plateau; and trials come in turn.
//
// In a small population the team of an individual counts its ranks. In a large one the values are sorted, all teams
// find the ranks of the front in stages, and the others are found by bisection.
#pragma once
#include "core/pieces.cuh"

namespace SKDE_NAMESPACE {

// The turns in which slots are replaced, from slot `next` on; the first `successes` of them are.
struct Turns {
  int next, pop, successes;
  // The number of successes before a slot is replaced.
  SKDE_FN int of(int slot) const { return slot < next ? slot - next + pop : slot - next; }
  // The slot of a number of successes.
  SKDE_FN int slot(int turn) const { return next + turn - (next + turn < pop ? 0 : pop); }
  // Whether the member of a slot stays in the front.
  SKDE_FN bool stays(int slot) const { return of(slot) >= successes; }
};

// The values of the old top in order and of the old front by slot; of the members of the front that stay (NaN:
// replaced); and of the trials that succeeded, in turn.
template <class real> struct JointValues {
  const real *top, *front, *staying, *won;
  Turns turns;
};

// The numbers of members and trials that come before individual i: in the new top before the member of the old top and
// before the trial, likewise in the new front.
struct JointRanks {
  int top_member, top_trial, front_member, front_trial;
};

// Where few values are counted. turn: that of trial i, negative: none.
template <class Team, class real>
SKDE_FN JointRanks count_joint_ranks(Team& team, const JointValues<real>& values, int i, int turn) {
  struct Values {
    real top, staying, won;
  };
  const real *const top = values.top, *const front = values.front, *const won = values.won;
  const real* const staying = values.staying;
  const real mine = top[i], member = front[i], v = won[max_of(turn, 0)];
  const Turns turns = values.turns;
  const int pop = turns.pop, successes = turns.successes;
  enum : int { WON_MINE, WON_MEMBER, WON_TRIAL, TOP_TRIAL, LEFT_MEMBER, RIGHT_MEMBER, FRONT_TRIAL, COUNTS };
  const auto counted = team.template counts<COUNTS>(
      pop, [=](int k) { return Values{top[k], staying[k], won[k]}; },
      [=](const Values& value, int k, int* t) {
        const bool won = k < successes;
        t[WON_MINE] = won & (value.won <= mine), t[WON_MEMBER] = won & (value.won <= member);
        t[WON_TRIAL] = won & ((value.won < v) | ((value.won == v) & (k < turn)));
        t[TOP_TRIAL] = value.top < v, t[FRONT_TRIAL] = value.staying < v;
        t[LEFT_MEMBER] = (k < i) & (value.staying <= member);
        t[RIGHT_MEMBER] = (k >= i) & (value.staying < member);
      });
  JointRanks ranks{};
  ranks.top_member = i + (is_nan(mine) ? successes : counted.of(WON_MINE, 0, successes));
  if (SKDE_RARELY(is_nan(member)))
    ranks.front_member =
        successes + team.count(pop, [&](int k) { return turns.stays(k) & (!is_nan(front[k]) | (k < i)); });
  else if (turns.stays(i))
    ranks.front_member =
        counted.of(WON_MEMBER, 0, successes) + counted.of(LEFT_MEMBER, 0, i) + counted.of(RIGHT_MEMBER, i, pop);
  if (turn >= 0) {
    const int earlier = counted.of(WON_TRIAL, 0, successes);
    ranks.top_trial = earlier + counted.of(TOP_TRIAL), ranks.front_trial = earlier + counted.of(FRONT_TRIAL);
  }
  return ranks;
}

// Where many have been sorted: the orders of `won` and `front`, the same values in order, the place of a turn among the
// sorted `won`, and the rank of the old member of a slot in the new front.
template <class real> struct JointTables {
  const i64 *won_order, *front_order;
  real *won_sorted, *won_place, *front_sorted, *front_rank;
  Pieces<real> pieces;

  // The first stage: the successful trials, and how many members of each piece stay.
  template <class Team, class Share>
  SKDE_FN void place_won(Team& team, const Share& share, const JointValues<real>& values) const {
    share.each_position(team, values.turns.successes,
                        [&](int k) { won_sorted[k] = values.won[won_order[k]], won_place[won_order[k]] = real(k); });
    pieces.count(team, share, [&](int k) { return values.turns.stays(int(front_order[k])); });
  }
  // The second stage: the members that stay, and all ranks of members.
  template <class Team, class Share>
  SKDE_FN void rank_members(Team& team, const Share& share, const JointValues<real>& values) const {
    const int successes = values.turns.successes;
    const real* const won_sorted = this->won_sorted;
    pieces.number(
        team, share, [&](int k) { return values.turns.stays(int(front_order[k])); },
        [&](int k, int place, bool stays) {
          // In order, so that one search takes nearly the way of the last.
          const real member = values.front[front_order[k]];
          const auto trial = [=](int m) { return won_sorted[m]; };
          const int trials = is_nan(member) ? successes : bisect(0, successes, trial, member, true);
          front_rank[front_order[k]] = real(place + trials);
          if (stays) front_sorted[place] = member;
        });
  }

  SKDE_FN JointRanks search(const JointValues<real>& values, int i, int turn) const {
    const real* const top = values.top;
    const int pop = values.turns.pop, successes = values.turns.successes;
    const real mine = top[i];
    const auto before = [](int n, const real* values, real value, bool ties) {
      return bisect(0, n, [=](int k) { return values[k]; }, value, ties);
    };
    JointRanks ranks{};
    // Most members of the top are better than all trials, and many trials are worse than the whole top.
    ranks.top_member = i + (mine < won_sorted[0] ? 0 : before(successes, won_sorted, mine, true));
    ranks.front_member = int(front_rank[i]);
    if (turn >= 0) {
      const real v = values.won[turn];
      const int earlier = int(won_place[turn]);
      ranks.top_trial = earlier + (top[pop - 1] < v ? pop : before(pop, top, v, false));
      ranks.front_trial = earlier + before(pop - successes, front_sorted, v, false);
    }
    return ranks;
  }
};

}  // namespace SKDE_NAMESPACE
