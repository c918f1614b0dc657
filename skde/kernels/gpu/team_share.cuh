// How the work of a run is divided among the teams of its group, by numbers alone.
#pragma once
#include "core/portable.cuh"

namespace SKDE_NAMESPACE {

// A team takes every `step`-th item, from number `begin` on. `step` is the number of teams. `spread` is the team's number
// where teams that follow each other are in different blocks: long items go to these. `end` is the number of individuals.
struct TeamShare {
  int begin, end = 0, step, spread;
  bool leader;

  // Team `number` of the `teams` in each of so many blocks.
  SKDE_FN TeamShare(int block, int blocks, int number, int teams)
      : begin(block * teams + number), step(blocks * teams), spread(number * blocks + block), leader(begin == 0) {}

  SKDE_FN void divide(int pop) { end = pop; }
  // One team adapts: without an individual, if there is such a team.
  SKDE_FN bool adapts(int pop) const { return begin == (step > pop ? pop : 0); }

  // Takes further items at the same time, which begin with the teams that have none of the first n items.
  SKDE_FN void go_on_after(int n) {
    if (begin < step) begin = (begin + step - n % step) % step;
  }
  // Leaves out n teams of whole warps, which have a long item each: the other teams divide the items. Few teams all take
  // part.
  SKDE_FN void leave_out_long(int n) {
    // Teams without an item begin after all items of whole warps. Times the lanes of the largest team it is an int, too.
    constexpr int MANY = 8, NOWHERE = 1 << 23;
    if (step >= MANY * n) begin = spread < n ? NOWHERE : spread - n, step -= n;
  }
  // Becomes the share of a larger team, of which this one is one of so many parts.
  SKDE_FN void join_parts(int parts, int blocks) {
    begin /= parts, step /= parts;
    const int of_block = step / blocks;
    spread = begin % of_block * blocks + begin / of_block;
  }

  template <class Body> SKDE_FN void each_item(int n, Body body) const {
    for (int k = begin; k < n; k += step) body(k);
  }
  template <class Body> SKDE_FN void each_long_item(int n, Body body) const {
    for (int k = spread; k < n; k += step) body(k);
  }
  // Items of the lanes of all teams.
  template <class Team, class Body> SKDE_FN void each_position(const Team& team, int n, Body body) const {
    for (int p = begin * Team::size + team.lane; p < n; p += step * Team::size) body(p);
  }
};

}  // namespace SKDE_NAMESPACE
