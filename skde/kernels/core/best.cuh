// The best of a generation. In a large population on a GPU every team would read all values, so the teams share it:
//   ranked     it is the first in the order
//   joined     inside a launch, each team joins the best of its individuals into a word, with which no stage is needed;
//              where the value of the best is enough or, in 32 bits, the word has room for its index
//   else       a stage finds the best of each piece of the population, and every team the best of these
#pragma once
#include "core/run.cuh"

namespace SKDE_NAMESPACE {

// Whether all teams share what follows from the values of a large population, of which each would else read all.
template <class R> SKDE_FN bool shares_values(const R&, int pop) { return MANY_TEAMS && !R::ITERATES && is_large(pop); }
// Whether the bests of pieces are stored.
template <class R> SKDE_FN bool has_bests(const R& run, int pop) { return shares_values(run, pop) && !is_ranked(run); }
// Finds the best of piece k of generation g.
template <class Team, class R> SKDE_FN void find_best(Team& team, const R& run, i64 g, int k) {
  const int begin = k * BEST_PIECE, n = min_of(run.pop - begin, BEST_PIECE);
  const int best = begin + best_of(team, run.f(g) + begin, n);
  if (team.lane == 0) run.bests()[k] = best;
}

template <class Team, class R, class Share>
SKDE_FN void find_bests(Team& team, const R& run, const Share& share, i64 g) {
  share.each_item(best_pieces(run.pop), [&](int k) { find_best(team, run, g, k); });
}

// The word of a value, larger where the value is better: in 32 bits its key and its index, in 64 bits its bits in
// another order, and 0 for NaN. Three words are used in turn: while teams write that of a generation, slow ones may
// read that of the one before, and the leader clears that of the next.
SKDE_FN u64 reordered(u64 word) {
  constexpr u64 sign = u64(1) << 63;
  return word & sign ? word : ~word & ~sign;
}
SKDE_FN u64 best_word(float value, int i) { return ~sorting_key(value, i); }
SKDE_FN u64 best_word(double value, int) { return is_nan(value) ? 0 : reordered(bits_as<u64>(value)); }
SKDE_FN double value_of(u64 word) { return word ? bits_as<double>(reordered(word)) : infinity(); }

// Each lane reads the values of some of its team's individuals. Returns the word of the best of these.
template <class Team, class R, class Share>
SKDE_FN u64 best_of_share(const Team& team, const R& run, const Share& share, i64 g) {
  const auto* const f = run.f(g);
  u64 best = 0;
  for (int i = share.begin + team.lane * share.step; i < share.end; i += Team::size * share.step)
    best = max_of(best, best_word(f[i], i));
  return best;
}

// The best individual of generation g, after the last stage of the generation.
template <class Team, class R> SKDE_FN int best_individual(Team& team, const R& run, i64 g, int pop) {
  using real = typename R::real;
  const auto* const f = run.f(g);
  if (!SKDE_RARELY(shares_values(run, pop))) return best_of(team, f, pop);
  if (is_ranked(run)) return int(run.order(g)[0]);
  if (UNIQUE_KEYS<real> && run.joined) return int(~u32(run.best_word(g)));
  const i64* const bests = run.bests();
  const int piece = max_of(team.least(best_pieces(pop), [&](int k) { return f[bests[k]]; }), 0);
  return int(bests[piece]);
}

// The smallest value of generation g; +inf where all are NaN.
template <class Team, class R> SKDE_FN typename R::real smallest_value(Team& team, const R& run, i64 g) {
  using real = typename R::real;
  if (!SKDE_RARELY(shares_values(run, run.pop))) return smallest(team, run.member_values(g), run.members());
  if constexpr (!UNIQUE_KEYS<real>)
    if (run.joined) return value_of(run.best_word(g));
  const real least = run.f(g)[best_individual(team, run, g, run.pop)];
  return is_nan(least) ? real(infinity()) : least;
}

}  // namespace SKDE_NAMESPACE
