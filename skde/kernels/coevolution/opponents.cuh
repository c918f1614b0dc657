// Games: a function f(x, y) that x makes small and y makes large, and what one point is worth against many opponents.
//
// A game says what stands for x in a pair (its features: x itself, or what only x decides), and the value of a pair:
//
//   struct Game {
//     static constexpr int room = 0;   // vectors of length dx that features() needs in team.scratch
//     const real* features(team, x, dx, data, out)   // where they are: x, or out once they are made
//     real value(X x, Y y, int dx, int dy, data)     // by one lane alone: x(j) and y(j) are components
//   };
//
// Opponents stand in columns: component j of opponent k at [j * stride + k], so that the lanes of a warp or of a vector
// register, an opponent each, read side by side. Every pair is summed by one lane in the order of its components, and so has
// the same bits everywhere.
#pragma once
#include "problems/problem.cuh"

namespace SKDE_NAMESPACE {

template <class real> struct Own {
  const real* p;
  SKDE_FN real operator()(int j) const { return p[j]; }
};

template <class real> struct Column {
  const real* p;
  i64 stride;
  SKDE_FN real operator()(int j) const { return p[j * stride]; }
};

// A side's opponents as a Data holds them: array 0 has the columns and size 0 tells how many they are, sizes 1 and 2 are
// their stride and length; what the game itself reads comes behind.
constexpr int OPPONENTS = 3;

template <class real> struct Opponents {
  const real* columns;
  int n, dim;
  i64 stride;
  Data<real> own;

  SKDE_FN explicit Opponents(const Data<real>& data)
      : columns(data.array[0]),
        n(int(data.size[0])),
        dim(int(data.size[2])),
        stride(data.size[1]),
        own(data.from(OPPONENTS)) {}
  SKDE_FN Column<real> at(int k) const { return {columns + k, stride}; }
};

template <class real>
SKDE_FN Data<real> opponents_data(const Data<real>& own, const real* columns, i64 n, i64 stride, i64 dim) {
  Data<real> data{};
  data.array[0] = columns;
  data.size[0] = n, data.size[1] = stride, data.size[2] = dim;
  for (int k = OPPONENTS; k < MAX_ARRAYS; ++k)
    data.array[k] = own.array[k - OPPONENTS], data.size[k] = own.size[k - OPPONENTS];
  return data;
}

// A function of x and y.
template <class F> struct Direct {
  static constexpr int room = 0;
  template <class Team, class real>
  SKDE_FN static const real* features(Team&, const real* x, int, const Data<real>&, real*) {
    return x;
  }
  template <class X, class Y, class real>
  SKDE_FN static real value(const X& x, const Y& y, int dx, int dy, const Data<real>& data) {
    return F::value(x, y, dx, dy, data);
  }
};

// The augmented Lagrangian of a problem with m constraints g_i(x) <= 0 and l constraints h_j(x) = 0 (Rockafellar's form):
//
//   L(x, mu, lambda) = f + sum_i p_i + sum_j (lambda_j h_j + r_j h_j^2)
//   p_i = mu_i g_i + r_i g_i^2   if g_i >= -mu_i / (2 r_i),   else -mu_i^2 / (4 r_i)
//
// x's features are f, g and h; y is mu, lambda; the game's first array is r, the problem's own arrays follow.
template <class X, class Y, class real>
SKDE_FN real lagrangian(const X& x, const Y& y, int inequalities, int equalities, const real* r) {
  real value = x(0);
  for (int i = 0; i < inequalities; ++i) {
    const real m = max_of(x(1 + i), -y(i) / (real(2) * r[i]));
    value += m * (y(i) + r[i] * m);
  }
  for (int j = inequalities; j < inequalities + equalities; ++j) value += x(1 + j) * (y(j) + r[j] * x(1 + j));
  return value;
}

template <class P> struct Lagrangian {
  static constexpr int inequalities = P::inequalities, equalities = P::equalities;
  static constexpr int room = 1 + inequalities + equalities;
  template <class Team, class real>
  SKDE_FN static const real* features(Team& team, const real* x, int dx, const Data<real>& data, real* out) {
    if (team.lane == 0) P::values(x, dx, data.from(1), out);
    team.sync();
    return out;
  }
  template <class X, class Y, class real>
  SKDE_FN static real value(const X& x, const Y& y, int, int, const Data<real>& data) {
    return lagrangian(x, y, inequalities, equalities, data.array[0]);
  }
};

// The same of features that somebody else has made; the game's second array tells by its size how many are inequalities.
struct LagrangianOfFeatures : Direct<LagrangianOfFeatures> {
  template <class X, class Y, class real>
  SKDE_FN static real value(const X& x, const Y& y, int, int dy, const Data<real>& data) {
    const int inequalities = int(data.size[1]);
    return lagrangian(x, y, inequalities, dy - inequalities, data.array[0]);
  }
};

// The value of x's features against opponent k, as a function of k that has all it reads by value: outer loops over opponents
// are vectorised then.
template <class Game, class real> struct AgainstColumns {
  Own<real> x;
  int dx, dy;
  const real* columns;
  i64 stride;
  const Data<real>* own;

  SKDE_FN AgainstColumns(const real* features, int dx, const Opponents<real>& y)
      : x{features}, dx(dx), dy(y.dim), columns(y.columns), stride(y.stride), own(&y.own) {}
  SKDE_FN real operator()(int k) const { return Game::value(x, Column<real>{columns + k, stride}, dx, dy, *own); }
};

// What x's features are worth against all its opponents y: the largest value. A pair without a number counts as infinity.
template <class Game, class Team, class real>
SKDE_FN real worst_for_x(Team& team, const real* features, int dx, const Data<real>& data) {
  const Opponents<real> y(data);
  const AgainstColumns<Game, real> value(features, dx, y);
  return team.largest(y.n, value, [](real v) { return is_nan(v) ? real(infinity()) : v; });
}

// What y is worth against all its opponents x, for one who minimises: minus the smallest value. Pairs without a number are
// left out, for they are x's fault; where there is no other, NaN.
template <class Game, class Team, class real>
SKDE_FN real worst_for_y(Team& team, const real* y, int dy, const Data<real>& data) {
  const Opponents<real> x(data);
  const Own<real> own{y};
  const real* const columns = x.columns;
  const i64 stride = x.stride;
  const int dx = x.dim;
  const Data<real>* const facts = &x.own;
  const real most = sizeof(real) == 8 ? real(0x1p1023) : real(0x1p127);
  const real worst = team.largest(
      x.n, [=](int k) { return Game::value(Column<real>{columns + k, stride}, own, dx, dy, *facts); },
      [=](real v) { return is_nan(v) ? -real(infinity()) : -min_of(v, most); });
  return worst == -real(infinity()) ? real(not_a_number()) : worst;
}

// The values of x's features against every one of its opponents.
template <class Game, class Team, class real>
SKDE_FN void row_of_values(Team& team, const real* features, int dx, const Data<real>& data, real* values) {
  const Opponents<real> y(data);
  const AgainstColumns<Game, real> value(features, dx, y);
  team.each(y.n, [&](int k) { values[k] = value(k); });
}

// The two sides as objectives; their data are opponents.
template <class Game> struct AgainstY {
  static constexpr int scratch = Game::room;
  template <class Team, class real>
  SKDE_FN real operator()(Team& team, const real* x, int d, const Data<real>& data) const {
    return worst_for_x<Game>(team, Game::features(team, x, d, data.from(OPPONENTS), team.scratch), d, data);
  }
};
template <class Game> struct AgainstX {
  static constexpr int scratch = 0;
  template <class Team, class real>
  SKDE_FN real operator()(Team& team, const real* y, int d, const Data<real>& data) const {
    return worst_for_y<Game>(team, y, d, data);
  }
};

}  // namespace SKDE_NAMESPACE
