// Typed variables: the decoding of a point of the box that an algorithm searches into the values that an objective
// gets.
//
// A table has VARIABLE_NUMBERS numbers for each variable, and after them the values of ordinal variables:
//   its Kind; the number of its first component; the number of its components (CATEGORICAL) or the place of its first
//   value in the table (ORDINAL), else 0; the smallest and the largest value (FIXED: its value; ORDINAL: indices).
#pragma once
#include "core/enumeration.cuh"
#include "problems/problem.cuh"

namespace SKDE_NAMESPACE {

SKDE_ENUM_CLASS(Kind, int, REAL, INTEGER, LOG, ORDINAL, CATEGORICAL, FIXED);

constexpr int VARIABLE_NUMBERS = 5;

// The number of the largest of n numbers, the first of equals.
template <class real> SKDE_FN int index_of_largest(const real* numbers, int n) {
  int best = 0;
  for (int k = 1; k < n; ++k)
    if (numbers[k] > numbers[best]) best = k;
  return best;
}

// The value of variable j at the point x.
template <class real> SKDE_FN real decoded(const real* x, const real* table, int j) {
  const real* const row = table + VARIABLE_NUMBERS * j;
  const Kind kind = Kind(int(row[0]));
  const real* const own = x + int(row[1]);
  const real low = row[3], high = row[4];
  if (kind == Kind::FIXED) return low;
  if (kind == Kind::REAL) return own[0];
  if (kind == Kind::CATEGORICAL) return real(index_of_largest(own, int(row[2])));
  const real v = kind == Kind::LOG ? exp(own[0]) : nearest(own[0]);
  const real inside = v >= high ? high : v >= low ? v : low;
  return kind == Kind::ORDINAL ? table[int(row[2]) + int(inside)] : inside;
}

// Writes the values of the data's variables at the point x.
template <class Team, class real> SKDE_FN void decode(Team& team, const real* x, const Data<real>& data, real* values) {
  team.each(int(data.n_variables), [&](int j) { values[j] = decoded(x, data.variables, j); });
  team.sync();
}

// A problem that gets the values of typed variables; the first vectors of the scratch have them.
template <class Problem> struct Decoded {
  template <class Team, class real>
  SKDE_FN real operator()(Team& team, const real* x, int, const Data<real>& data) const {
    const int n = int(data.n_variables);
    real* const values = team.scratch;
    decode(team, x, data, values);
    team.scratch = values + n;
    const real f = Problem{}(team, values, n, data);
    team.scratch = values;
    return f;
  }
};

}  // namespace SKDE_NAMESPACE
