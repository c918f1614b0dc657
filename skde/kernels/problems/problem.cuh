// The data of problems, and the form of their functors.
//
//   struct Name {
//     static constexpr int scratch = 0;   // number of vectors of length d that it needs in team.scratch
//     template <class Team, class real>
//     SKDE_FN real operator()(Team& team, const real* x, int d, const Data<real>& data) const;
//   };
//
// A functor that writes to team.scratch calls team.sync() before other lanes read it.
//
// A functor with a matrix has values() and not operator(): a team may evaluate m points together, and then loads each
// element of the matrix once for all of them. The points, and the vectors that each of them needs, follow each other.
// The value of point p is in lane p; with m = 1 it is in every lane.
//
//   struct Name : OnePoint<Name> {
//     static constexpr int scratch = 2;    // number of vectors for one point
//     static constexpr int repeated = 1;   // those of them that every further point needs, too
//     template <int m, class Team, class real>
//     SKDE_FN real values(Team& team, const real* x, int d, const Data<real>& data) const;
//   };
#pragma once
#include "core/math.cuh"
#include "teams/team.cuh"

namespace SKDE_NAMESPACE {

constexpr int MAX_ARRAYS = 8;

// The problem's arrays, in the order of the Python object. Where it has typed variables: their table and their number
// (variables.cuh) and, on the CPU, the address of the problem's function.
template <class real> struct Data {
  const real* array[MAX_ARRAYS];
  i64 size[MAX_ARRAYS];
  const real* variables;
  i64 n_variables, function;

  // The arrays from number k on, for a functor that is part of another.
  SKDE_FN Data from(int k) const {
    Data rest{};
    for (int n = k; n < MAX_ARRAYS; ++n) rest.array[n - k] = array[n], rest.size[n - k] = size[n];
    return rest;
  }
};

template <class Functor> struct OnePoint {
  template <class Team, class real>
  SKDE_FN real operator()(Team& team, const real* x, int d, const Data<real>& data) const {
    return static_cast<const Functor&>(*this).template values<1>(team, x, d, data);
  }
};

// The vectors that every point needs where a functor evaluates several together; 0 where it does not.
template <class Functor, class = void> constexpr int repeated_vectors = 0;
template <class Functor> constexpr int repeated_vectors<Functor, Void<decltype(Functor::repeated)>> = Functor::repeated;

// value(p) of point p in lane p, made one after another.
template <int m, class Team, class Value> SKDE_FN auto one_by_one(Team& team, Value value) {
  if constexpr (m == 1) {
    return value(0);
  } else {
    decltype(value(0)) mine = 0;
    SKDE_NO_UNROLL
    for (int p = 0; p < m; ++p) {
      const auto of_p = value(p);
      if (team.lane == p) mine = of_p;
      team.sync();  // lanes may still read the scratch, which the next point needs, too
    }
    return mine;
  }
}

// The number of point p, where lane p has it.
template <int m, class Team, class Value> SKDE_FN Value value_at(const Team& team, Value in_lanes, int p) {
  if constexpr (m == 1)
    return in_lanes;
  else
    return team.from_lane(in_lanes, p);
}

// The values of m points by any functor, as values() returns them.
template <int m, class Functor, class Team, class real>
SKDE_FN real values_of(const Functor& functor, Team& team, const real* x, int d, const Data<real>& data) {
  if constexpr (repeated_vectors<Functor> > 0)
    return functor.template values<m>(team, x, d, data);
  else
    return one_by_one<m>(team, [&](int p) { return functor(team, x + p * d, d, data); });
}

// A functor that is part of several problems. On a CPU they share its code, which takes long to compile.
template <class Part> struct Outlined : OnePoint<Outlined<Part>> {
  static constexpr int scratch = Part::scratch, repeated = repeated_vectors<Part>;
  template <int m, class Team, class real>
  SKDE_OUTLINE real values(Team& team, const real* x, int d, const Data<real>& data) const {
    return values_of<m>(Part{}, team, x, d, data);
  }
};

}  // namespace SKDE_NAMESPACE
