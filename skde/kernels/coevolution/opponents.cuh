// Games: functions f(x, y) that x makes small and y makes large, and the fitness of a point against many opponents.
//
// A game has features of a point x, which are x or numbers that depend on x only, and the value of a pair of features
// and y:
//
//   struct Game {
//     static constexpr int scratch = 0;   // vectors of length dx that features() needs in team.scratch
//     const real* features(team, x, dx, data, out)   // returns x, or out with the features
//     real value(X x, Y y, int dx, int dy, data)     // by one lane alone: x(j) and y(j) are components
//   };
//
// Opponents are stored as columns: component j of opponent k at [j * stride + k], so that lanes of a warp or of a
// vector register, one opponent each, read neighbouring numbers. One lane adds up a pair's value in the order of the
// components, so it has the same bits everywhere.
#pragma once
#include "problems/constraints.cuh"

namespace SKDE_NAMESPACE {

template <class real> struct Point {
  const real* p;
  SKDE_FN real operator()(int j) const { return p[j]; }
};

template <class real> struct Column {
  const real* p;
  i64 stride;
  SKDE_FN real operator()(int j) const { return p[j * stride]; }
};

// Opponents in a Data: array 0 has the columns, size 0 is their number, sizes 1 and 2 are their stride and length. The
// arrays of the game follow, after this many.
constexpr int OPPONENT_ARRAYS = 3;

template <class real> struct Opponents {
  const real* columns;
  int n, dim;
  i64 stride;
  Data<real> game_data;

  SKDE_FN explicit Opponents(const Data<real>& data)
      : columns(data.array[0]),
        n(int(data.size[0])),
        dim(int(data.size[2])),
        stride(data.size[1]),
        game_data(data.from(OPPONENT_ARRAYS)) {}
};

template <class real>
SKDE_FN Data<real> opponents_data(const Data<real>& game_data, const real* columns, i64 n, i64 stride, i64 dim) {
  Data<real> data{};
  data.array[0] = columns;
  data.size[0] = n, data.size[1] = stride, data.size[2] = dim;
  for (int k = OPPONENT_ARRAYS; k < MAX_ARRAYS; ++k)
    data.array[k] = game_data.array[k - OPPONENT_ARRAYS], data.size[k] = game_data.size[k - OPPONENT_ARRAYS];
  return data;
}

// A function of x and y.
template <class F> struct Direct {
  static constexpr int scratch = 0;
  template <class Team, class real>
  SKDE_FN static const real* features(Team&, const real* x, int, const Data<real>&, real*) {
    return x;
  }
  template <class X, class Y, class real>
  SKDE_FN static real value(const X& x, const Y& y, int dx, int dy, const Data<real>& data) {
    return F::value(x, y, dx, dy, data);
  }
};

// The augmented Lagrangian of a problem with m constraints g_i(x) <= 0 and l constraints h_j(x) = 0 (Rockafellar's
// form):
//
//   L(x, mu, lambda) = f + sum_i p_i + sum_j (lambda_j h_j + r_j h_j^2)
//   p_i = mu_i g_i + r_i g_i^2   if g_i >= -mu_i / (2 r_i),   else -mu_i^2 / (4 r_i)
//
// The features of x are f, g and h; y is mu, lambda; the first array of the game is r, the arrays of the problem
// follow. Where f is not a finite number and a constraint is violated, L is the code of the violation, which is worse
// than every value of f.
template <class X, class Y, class real>
SKDE_FN real lagrangian(const X& x, const Y& y, int inequalities, int equalities, const real* r) {
  real value = x(0);
  if (!(value - value == real(0))) {
    const double by = violation(x, inequalities, equalities, 0.0);
    return by > 0 ? real(by_rules(0.0, by)) : value;
  }
  for (int i = 0; i < inequalities; ++i) {
    const real m = max_of(x(1 + i), -y(i) / (real(2) * r[i]));
    value += m * (y(i) + r[i] * m);
  }
  for (int j = inequalities; j < inequalities + equalities; ++j) value += x(1 + j) * (y(j) + r[j] * x(1 + j));
  return value;
}

template <class P> struct Lagrangian {
  static constexpr int inequalities = P::inequalities, equalities = P::equalities;
  static constexpr int scratch = 1 + inequalities + equalities;
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

// The same, of features that are given; the size of the game's second array is the number of inequalities.
struct LagrangianOfFeatures : Direct<LagrangianOfFeatures> {
  template <class X, class Y, class real>
  SKDE_FN static real value(const X& x, const Y& y, int, int dy, const Data<real>& data) {
    const int inequalities = int(data.size[1]);
    return lagrangian(x, y, inequalities, dy - inequalities, data.array[0]);
  }
};

// The value of a point x, given by its features, against opponent k, as a function of k. It has copies of all that it
// reads, so that loops over opponents are vectorised.
template <class Game, class X, class real> struct ValueAgainst {
  X x;
  int dx, dy;
  const real* columns;
  i64 stride;
  const Data<real>* game_data;

  SKDE_FN ValueAgainst(X features, int dx, const Opponents<real>& y)
      : x(features), dx(dx), dy(y.dim), columns(y.columns), stride(y.stride), game_data(&y.game_data) {}
  SKDE_FN real operator()(int k) const { return Game::value(x, Column<real>{columns + k, stride}, dx, dy, *game_data); }
};

// The fitness of a point x: the largest of its values against n opponents. NaN counts as infinity.
template <class Team, class Value> SKDE_FN typename Team::real largest_value(Team& team, int n, Value value) {
  using real = typename Team::real;
  return team.largest(n, value, [](real v) { return is_nan(v) ? real(infinity()) : v; });
}

// The fitness of a point y, which is minimised: minus the smallest of its values against n points x. NaN is left out,
// because x causes it; if all values are NaN, so is the fitness.
template <class Team, class Value> SKDE_FN typename Team::real minus_smallest_value(Team& team, int n, Value value) {
  using real = typename Team::real;
  const real most = sizeof(real) == 8 ? real(0x1p1023) : real(0x1p127);
  const real fitness = team.largest(n, value, [=](real v) { return is_nan(v) ? -real(infinity()) : -min_of(v, most); });
  return fitness == -real(infinity()) ? real(not_a_number()) : fitness;
}

// The fitness of a point x, given by its features, against all its opponents y.
template <class Game, class Team, class X, class real>
SKDE_FN real fitness_of_x(Team& team, X features, int dx, const Data<real>& data) {
  const Opponents<real> y(data);
  return largest_value(team, y.n, ValueAgainst<Game, X, real>(features, dx, y));
}

// The fitness of a point y against all its opponents x.
template <class Game, class Team, class real>
SKDE_FN real fitness_of_y(Team& team, const real* y, int dy, const Data<real>& data) {
  const Opponents<real> x(data);
  const Point<real> point{y};
  const real* const columns = x.columns;
  const i64 stride = x.stride;
  const int dx = x.dim;
  const Data<real>* const game_data = &x.game_data;
  return minus_smallest_value(
      team, x.n, [=](int k) { return Game::value(Column<real>{columns + k, stride}, point, dx, dy, *game_data); });
}

// The values of a point x, given by its features, against each of its opponents.
template <class Game, class Team, class X, class real>
SKDE_FN void values_of_x(Team& team, X features, int dx, const Data<real>& data, real* values) {
  const Opponents<real> y(data);
  const ValueAgainst<Game, X, real> value(features, dx, y);
  team.each(y.n, [&](int k) { values[k] = value(k); });
}

// The two sides as objectives; their data are opponents.
template <class Game> struct AgainstY {
  static constexpr int scratch = Game::scratch;
  template <class Team, class real>
  SKDE_FN real operator()(Team& team, const real* x, int d, const Data<real>& data) const {
    const real* const features = Game::features(team, x, d, data.from(OPPONENT_ARRAYS), team.scratch);
    return fitness_of_x<Game>(team, Point<real>{features}, d, data);
  }
};
template <class Game> struct AgainstX {
  static constexpr int scratch = 0;
  template <class Team, class real>
  SKDE_FN real operator()(Team& team, const real* y, int d, const Data<real>& data) const {
    return fitness_of_y<Game>(team, y, d, data);
  }
};

}  // namespace SKDE_NAMESPACE
