// A user's objective: the body of a function of (team, x, d) that returns the value, after declarations of the user's
// arrays. Both files are in the cache, in a folder of the include path. SKDE_USER_SCRATCH is the number of vectors of
// length d that the body needs in team.scratch.
#pragma once
#include "problems/problem.cuh"

namespace SKDE_NAMESPACE {

struct UserObjective {
  static constexpr int scratch = SKDE_USER_SCRATCH;
  template <class Team, class real>
  SKDE_FN real operator()(Team& team, const real* x, int d, const Data<real>& data) const {
    (void)team, (void)x, (void)d, (void)data;
#include "skde_user_arrays.inc"
#include "skde_user_body.inc"
  }
};

}  // namespace SKDE_NAMESPACE
