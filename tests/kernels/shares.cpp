// How a GPU's teams divide items, on the CPU: one team after the other.
#include "gpu/team_share.cuh"

using namespace skde;

namespace {

struct Lanes {
  static constexpr int size = 128;
  int lane;
};

}  // namespace

// Counts how often each of n items is taken. Teams of `parts` parts divide n items, after `before` others, while n_long
// teams have long items. Also each long item, each position of lanes, the teams that adapt, and the teams that have items
// in addition to long ones.
extern "C" void divide(int blocks, int teams, int parts, int before, int n_long, int n, int* items, int* long_items,
                       int* positions, int* adapting, int* both) {
  for (int block = 0; block < blocks; ++block)
    for (int number = 0; number < teams; number += parts) {
      TeamShare all(block, blocks, number, teams);
      if (parts > 1) all.join_parts(parts, blocks);
      TeamShare others = all;
      others.leave_out_long(n_long);
      others.go_on_after(before);
      int mine = 0, mine_long = 0;
      others.each_item(n, [&](int k) { ++items[k], ++mine; });
      all.each_long_item(n_long, [&](int k) { ++long_items[k], ++mine_long; });
      for (int lane = 0; lane < Lanes::size; ++lane)
        others.each_position(Lanes{lane}, n, [&](int p) { ++positions[p]; });
      *adapting += all.adapts(n);
      *both += mine && mine_long;
    }
}
