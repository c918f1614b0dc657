// A user's objective: the body of a function of (team, x, d) that returns its value. SKDE_USER_BODY is a file with that
// body, SKDE_USER_ARRAYS one that names the user's arrays, SKDE_USER_SCRATCH the vectors that it needs in team.scratch.
#pragma once
#include "problem.cuh"

namespace SKDE_NAMESPACE {

struct UserObjective {
  static constexpr int scratch = SKDE_USER_SCRATCH;
  template <class Team, class real>
  SKDE_FN real operator()(Team& team, const real* x, int d, const Data<real>& data) const {
    (void)team, (void)x, (void)d, (void)data;
#include SKDE_USER_ARRAYS
#include SKDE_USER_BODY
  }
};

}  // namespace SKDE_NAMESPACE
