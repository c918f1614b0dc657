// The interface of a team, the lanes that work on one individual: one lane on the CPU, which vectorises over the
// components; a part of a warp, a warp or a block on the GPU. Algorithms and problems use nothing else of the machine.
//
//   each(n, body)     body(j) for the components of this lane
//   copy(n, from, to) to[j] = from[j]
//   fill(n, out, value, test)   out[j] = value(j, k), and whether test(j, out[j]) held for one of this lane's
//                               components; k is the place of the component's word in ComponentWords; value() must not
//                               write, because it may be called for components that are not written
//   fill(n, out, value, test, replacement)   of a team that REPLACES, as most teams of large populations do: out[j] is
//                               replacement(j, v, true) where test(j, v) holds for v = value(j, k), and v elsewhere;
//                               replacement() must not write, and returns v where it is called with false
//   fill<true>(n, out, value, test, replacement)   the same, but replacement() may write: it is called only where the
//                               test holds
//   map(n, out, value)   the same without a test
//   multiply<m>(columns, z, y, n)  y = M z for an (n, n) matrix stored by columns; lanes make the rows of their
//                     components. z and y are m vectors each, which follow each other; m = 1 unless given
//   sum(n, term)      the sum of term(j) over all components, in every lane; also prod, max, and count for whole
//                     numbers; term() must not write, as in fill()
//   sums<m>(n, at, terms)   m sums at once; at(j) reads what the terms are made of, and terms(at(j), counts, t) writes
//                     them to t[0] ... t[m - 1], zeros if `counts` is false
//   counts<m>(n, at, terms)   likewise m whole numbers, as terms(at(j), j, t); .of(k) is the k-th. Some teams count
//                     when .of(k) is called, from the values at that time. .of(k, begin, end) takes less time where
//                     the terms of components before `begin` and from `end` on are 0
//   row(n, from)      a vector that is read later, as a Row; its load may start now. at(j, k) is component j, with the
//                     k of fill()
//   put(n, row, to)   to[j] = row.at(j, k)
//   largest(n, value, worth)   the largest worth(value(j)); if value() has a loop, the CPU vectorises it over j,
//                     provided that value() captures by value and has no branches; worth() may have branches
//   largest_loaded(n, at, worth)   the largest worth(at(j)), where at() loads from memory: a warp loads several at once
//   tally(n, table, at, places)   places(at(j), add) calls add(place, amount): table[place] += amount, where place is
//                     not negative; whole numbers, so that the order of additions has no effect; all lanes add the same
//                     amount
//   gather<m>(term)   term(0) ... term(m - 1), each made by one lane, in every lane; m is at most 32
//   first(n, probe)   the first non-negative probe(j), j = 0, 1, ..., or -1
//   least(n, value)   the j with the smallest value(j), the first of equals; -1 where all are NaN
//   number(n, test, visit)   visit(j, before, holds) for all j: the number of those before j for which test holds, and
//                     whether it holds for j; returns the number of all for which it holds
//   in_turn(n, contest)   for j = 0, 1, ...: contest.visit(j, item, before, rival, holds), where item = contest.at(j),
//                     holds = contest.test(item, rival), and `before` is the number of those before j for which it
//                     held; returns the number of all for which it held; n is at least 1. The rival of an item is
//                     contest.value() of the one that held with before = contest.reads(item), if that came before it;
//                     contest.rival(item, before) returns it from memory, where visit() has written the values of
//                     those that held
//   copy_found(begin, end, find, n, from, to)   copy(n, from(found), to(found)) for each found = find(k), k = begin ...
//                     end - 1, that is not negative; many are found and copied at a time
//   compare_all(begin, end, keys, mine)   how many of the keys from `begin` to `end` are smaller than `mine`, and how many
//                     are equal, or more where `mine` is NaN's key. Each lane has its own arguments, none of which is
//                     before those of the lane before; the keys are those from the `begin` of the warp's first lane,
//                     which is returned, to the `end` of its last
//   middles<m, n>(term)   for each of m tallies, of which term(s, j) items are at place j, j < n: the sum of the places
//                     of the two middle items, which is twice the median; -1 where there are no items
//   sync()            after it, lanes read what the team's other lanes wrote before it
//   scratch           memory of the team, as many vectors as the objective needs
//
// Floating-point addition does not associate, so reductions have one order everywhere: component j joins partial sum j
// mod 128, in order of j; then the 128 partial sums are folded in half seven times. Vector registers, warps and blocks
// can all follow that order, so every machine gets the same bits.
#pragma once
#ifdef __CUDACC__
#include "teams/block.cuh"
#include "teams/component_words.cuh"
#include "teams/tile.cuh"
#else
#include "teams/cpu.cuh"
#endif
