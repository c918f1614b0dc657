// Functions that belong to no suite.
#pragma once
#include "problem.cuh"

namespace SKDE_NAMESPACE {

// y = M z for the matrix stored by columns (column j is contiguous), z and y in scratch; every lane owns rows of y.
template <class Team, class real>
SKDE_FN void rotate(Team& team, const real* columns, const real* z, real* y, int d) {
  team.each(d, [&](int i) { y[i] = real(0); });
  for (int j = 0; j < d; ++j) {
    const real z_j = z[j];
    const real* column = columns + i64(j) * d;
    team.each(d, [&](int i) { y[i] += column[i] * z_j; });
  }
}

// data: shift o, rotation M by columns. sum z^2 - 10 cos(2 pi z) + 10, z = M (x - o).
struct RotatedRastrigin {
  static constexpr int scratch = 2;
  template <class Team, class real>
  SKDE_FN real operator()(Team& team, const real* x, int d, const Data<real>& data) const {
    real* y = team.scratch;
    real* z = team.scratch + d;
    const real* o = data.array[0];
    team.each(d, [&](int j) { y[j] = x[j] - o[j]; });
    team.sync();
    rotate(team, data.array[1], y, z, d);
    return team.sum(d, [&](int j) {
      return z[j] * z[j] - real(10) * cos(real(2) * Constants<real>::pi * z[j]) + real(10);
    });
  }
};

}  // namespace SKDE_NAMESPACE
