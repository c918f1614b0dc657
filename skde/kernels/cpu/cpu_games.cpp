// The compiled games on the CPU, for one instruction set.
#include "coevolution/games.cuh"
#include "cpu/cpu_compiled.hpp"

namespace SKDE_NAMESPACE {

template <class Game, class real>
[[gnu::noinline]] real worst_of_features(const real* features, i64 d, const Data<real>* data, real*) {
  Lane<real> team;
  return worst_for_x<Game>(team, features, int(d), *data);
}

template <class Game, class real> real describe_and_judge(const real* x, i64 d, const Data<real>* data, real* room) {
  Lane<real> team;
  return worst_of_features<Game>(Game::features(team, x, int(d), data->from(OPPONENTS), room), d, data, room);
}

template <class Game, class real> constexpr GameFunctions<real> functions_of_game() {
  using Numbers = const real*;
  using Facts = const Data<real>*;
  return {Game::room > 0 ? describe_and_judge<Game, real> : worst_of_features<Game, real>,
          evaluate<AgainstX<Game>, real>,
          [](Numbers x, i64 d, Facts data, real* out) {
            Lane<real> team;
            Game::features(team, x, int(d), *data, out);
            return real(0);
          },
          worst_of_features<Game, real>,
          [](Numbers features, i64 d, Facts data, real* out) {
            Lane<real> team;
            row_of_values<Game>(team, features, int(d), *data, out);
            return real(0);
          },
          Game::room > 0};
}

template <class real> const GameFunctions<real>& game_functions(int game) {
  static constexpr GameFunctions<real> all[] = {
#define SKDE_CASE(name, Game) functions_of_game<Game, real>(),
      SKDE_EVERY_GAME
#undef SKDE_CASE
  };
  return all[game];
}

template const GameFunctions<double>& game_functions(int game);
template const GameFunctions<float>& game_functions(int game);

}  // namespace SKDE_NAMESPACE
