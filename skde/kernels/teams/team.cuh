// A team is the set of lanes that serve one individual: one lane on the CPU, which vectorises over the components, a warp
// or a block on the GPU. Algorithms and problems are written against this interface and know nothing else of the machine.
//
//   each(n, body)     body(j) for the components of this lane
//   copy(n, from, to) to[j] = from[j]
//   fill(n, out, value, test)   out[j] = value(j, k), and whether test(j, out[j]) held for one of this lane's components; k
//                               says where ComponentWords has the component's word; value() must not write, for it is also
//                               asked where nothing is written
//   map(n, out, value)   the same without a test
//   multiply(columns, z, y, n)  y = M z for an (n, n) matrix stored by columns; lanes make the rows of their components
//   sum(n, term)      the sum of term(j) over all components, known to every lane; also prod, max; count for whole numbers, of
//                     which term() must not write, as with fill()
//   sums<m>(n, at, terms)   m sums at once; at(j) reads what the terms are made of, and terms(at(j), counts, t) writes them
//                     to t[0] ... t[m - 1], zeros where it does not count
//   counts<m>(n, at, terms)   likewise m whole numbers, as terms(at(j), j, t); .of(k) is the k-th. Some teams count those only
//                     that are asked for, by what stands there by then
//   row(n, from)      a vector that is asked for now and wanted later, Row: at(j, k) is component j, with the k of fill()
//   put(n, row, to)   to[j] = row.at(j, k)
//   largest(n, value, worth)   the largest worth(value(j)); value() may have a loop of its own, which is then vectorised over
//                     j where it captures by value what it reads; what branches belongs into worth()
//   tally(n, table, at, places)   places(at(j), add) calls add(place, amount): table[place] += amount, where place is not
//                     negative; whole numbers, so that no order of additions counts; all lanes add the same amount
//   gather<m>(term)   term(0) ... term(m - 1), each made by one lane, known to every lane; m is at most 32
//   first(n, probe)   the first non-negative probe(j), j = 0, 1, ..., or -1
//   least(n, value)   the j with the smallest value(j), the first of equals; -1 where all are NaN
//   pack(n, test, value, rank, packed, first)   rank[j]: for how many before j test held, and `first`; packed[rank[j]]: value(j)
//                     where it holds for j; returns how many these are
//   number(n, test, visit)   visit(j, before, holds) for all j: for how many before j test held, and whether it holds for j;
//                     returns for how many it held
//   middles<m, n>(term)   of m rows of n numbers of things, term(s, j) of them at place j: the sum of the places of the two
//                     in the middle, twice the median; -1 where there are none
//   sync()            what lanes wrote before is seen by the team's other lanes after
//   scratch           memory of the team, as much as the objective asked for
//
// Floating-point addition does not associate, so reductions follow ONE order everywhere: component j joins partial sum
// j mod 128, in order of j; then the 128 partial sums are folded in half seven times. A vector register, a warp and a
// block all can follow that order, so every machine gets the same bits.
#pragma once
#ifdef __CUDACC__
#include "teams/block.cuh"
#include "teams/tile.cuh"
#else
#include "teams/cpu.cuh"
#endif
