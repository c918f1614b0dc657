// Games of typed variables: two algorithms search components, and the game gets the values (variables.cuh).
#pragma once
#include "coevolution/opponents.cuh"
#include "problems/variables.cuh"

namespace SKDE_NAMESPACE {

// The features of a point x are those of its values, and opponents are stored by their values. So a point is decoded
// once, not once for each pair, and pairs have the code of the game itself.
template <class Game> struct DecodedGame {
  template <class Team, class real>
  SKDE_FN static const real* features(Team& team, const real* x, int, const Data<real>& data, real* out) {
    const int n = int(data.n_variables);
    decode(team, x, data, out);
    return Game::features(team, out, n, data, out + n);
  }
  template <class X, class Y, class real>
  SKDE_FN static real value(const X& x, const Y& y, int dx, int dy, const Data<real>& data) {
    return Game::value(x, y, dx, dy, data);
  }
};

template <class Game> constexpr bool is_decoded = false;
template <class Game> constexpr bool is_decoded<DecodedGame<Game>> = true;

// The two sides as objectives of components; their data have the variables of the side.
template <class Game> struct AgainstY<DecodedGame<Game>> : Decoded<AgainstY<Game>> {};
template <class Game> struct AgainstX<DecodedGame<Game>> : Decoded<AgainstX<Game>> {};

}  // namespace SKDE_NAMESPACE
