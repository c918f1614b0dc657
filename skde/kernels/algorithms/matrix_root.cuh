// The root of a symmetric positive definite matrix near the identity, by products: the first terms of its series, and,
// where the matrix is not near enough, Visser's iteration Y' = Y + (S - Y^2) / 2 (Higham: Functions of matrices, 2008,
// section 6.7), which converges for eigenvalues below 4.
#pragma once
#include "core/math.cuh"

namespace SKDE_NAMESPACE {

struct MatrixRoot {
  // S is divided by a number so that its eigenvalues are at most LARGEST; the series is enough up to the distance NEAR
  // from I; the iteration ends with |S - Y^2| at most CLOSE.
  static constexpr double LARGEST = 2.5, NEAR = 0.6, CLOSE = 0.02;
  static constexpr int MOST_STEPS = 10;

  // Y becomes the root of S, and v the product of its inverse and v. S is overwritten; `room` is a third matrix, `once`
  // and `twice` are two vectors. All are of the team, with `dim` columns.
  template <class Team, class real>
  SKDE_FN static void take(Team& team, int dim, real* S, real* Y, real* room, real* v, real* once, real* twice) {
    const auto each = [&](auto body) {
      for (int c = 0; c < dim; ++c) team.each(dim, [&](int j) { body(c * dim + j, real(j == c)); });
    };
    const real distance = norm(team, dim, [&](int k, real one) { return S[k] - one; });
    const real t = max_of((1 + distance) / real(LARGEST), real(1)), root = sqrt(t), eighth = real(0.125);
    if (SKDE_RARELY(t > 1)) each([&](int k, real) { S[k] /= t; });
    team.sync();
    product(team, dim, S, S, room);
    team.multiply(S, v, once, dim);
    team.sync();
    team.multiply(S, once, twice, dim);
    each([&](int k, real one) { Y[k] = (3 * one + 6 * S[k] - room[k]) * eighth; });
    team.sync();
    const bool near = distance <= real(NEAR);
    for (int step = 0; SKDE_RARELY(!near && step < MOST_STEPS); ++step) {
      product(team, dim, Y, Y, room);
      const real error = norm(team, dim, [&](int k, real) { return S[k] - room[k]; });
      team.sync();
      each([&](int k, real) { Y[k] += real(0.5) * (S[k] - room[k]); });
      team.sync();
      if (error <= real(CLOSE)) break;
    }
    team.each(dim, [&](int j) { twice[j] = (15 * v[j] - 10 * once[j] + 3 * twice[j]) * eighth; });
    team.sync();
    for (int step = 0; SKDE_RARELY(!near && step < MOST_STEPS); ++step) {
      team.multiply(Y, twice, once, dim);
      team.sync();
      team.each(dim, [&](int j) { twice[j] += v[j] - once[j]; });
      team.sync();
    }
    team.each(dim, [&](int j) { v[j] = twice[j] / root; });
    if (SKDE_RARELY(t > 1)) each([&](int k, real) { Y[k] *= root; });
    team.sync();
  }

  // M = A B of matrices by columns.
  template <class Team, class real>
  SKDE_FN static void product(Team& team, int dim, const real* A, const real* B, real* M) {
    for (int c = 0; c < dim; ++c) team.multiply(A, B + c * dim, M + c * dim, dim);
  }

 private:
  // The root of the sum of the squares of at(k, whether k is on the diagonal).
  template <class Team, class At> SKDE_FN static auto norm(Team& team, int dim, At at) {
    using real = typename Team::real;
    real squares = 0;
    for (int c = 0; c < dim; ++c)
      squares += team.sum(dim, [&](int j) {
        const real e = at(c * dim + j, real(j == c));
        return e * e;
      });
    return sqrt(squares);
  }
};

}  // namespace SKDE_NAMESPACE
