// The pieces of a large population, which all teams divide, and what is counted in two stages: how many individuals of
// each piece a test holds for, and then how many there are before each.
#pragma once
#include "core/run.cuh"

namespace SKDE_NAMESPACE {

// `counts` has a number for each piece. Every team of a piece adds up the counts of those before it, so there are not
// more than MOST.
template <class real> struct Pieces {
  static constexpr int SIZE = MANY_TEAMS ? 128 : 512, MOST = 1 << 13;
  const int pop, size, many;
  real* const counts;

  SKDE_FN Pieces(int pop, real* counts)
      : pop(pop), size(max_of(SIZE, (pop + MOST - 1) / MOST)), many((pop + size - 1) / size), counts(counts) {}

  // body(piece, begin, n): n individuals from number `begin` on.
  template <class Share, class Body> SKDE_FN void each(const Share& share, Body body) const {
    share.each_item(many, [&](int piece) { body(piece, piece * size, min_of(size, pop - piece * size)); });
  }

  // The first stage: counts the individuals k with test(k).
  template <class Team, class Share, class Test> SKDE_FN void count(Team& team, const Share& share, Test test) const {
    each(share, [&](int piece, int begin, int n) {
      const int found = team.count(n, [=](int k) { return int(test(begin + k)); });
      if (team.lane == 0) counts[piece] = real(found);
    });
  }

  // The second stage: visit(k, before, holds) for all individuals; `before` have test(k) among those before k.
  template <class Team, class Share, class Test, class Visit>
  SKDE_FN void number(Team& team, const Share& share, Test test, Visit visit) const {
    each(share, [&](int piece, int begin, int n) {
      const real* const found = counts;
      const int first = team.count(piece, [=](int k) { return int(found[k]); });
      team.number(
          n, [&](int k) { return test(begin + k); },
          [&](int k, int before, bool holds) { visit(begin + k, first + before, holds); });
    });
  }
};

}  // namespace SKDE_NAMESPACE
