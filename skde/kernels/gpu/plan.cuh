// The plan of a launch: its use of the machine, as chosen by the host, which reads the names of the fields.
#pragma once
#include "core/portable.cuh"

namespace SKDE_NAMESPACE {

//   blocks   of a group
//   staged   bit 0: the bounds are copied into shared memory, bit k + 1: data array k
//   scratch  vectors of length dim that the objective needs
#define SKDE_PLAN_FIELDS(INTEGER) INTEGER(blocks) INTEGER(staged) INTEGER(scratch)

struct Plan {
#define SKDE_INTEGER(name) i64 name;
  SKDE_PLAN_FIELDS(SKDE_INTEGER)
#undef SKDE_INTEGER
};

}  // namespace SKDE_NAMESPACE
