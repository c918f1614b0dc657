// The compiled games on the CPU, for one instruction set.
#include "coevolution/games.cuh"
#include "cpu/cpu_compiled.hpp"

namespace SKDE_NAMESPACE {

template <class Game, class real>
[[gnu::noinline]] real fitness_of_features(const real* features, i64 d, const Data<real>* data, real*) {
  Lane<real> team;
  return fitness_of_x<Game>(team, Point<real>{features}, int(d), *data);
}

template <class Game, class real> real fitness_of_point(const real* x, i64 d, const Data<real>* data, real* scratch) {
  Lane<real> team;
  const real* const features = Game::features(team, x, int(d), data->from(OPPONENT_ARRAYS), scratch);
  return fitness_of_features<Game>(features, d, data, scratch);
}

template <class Game, class real> constexpr GameFunctions<real> functions_of_game() {
  using Numbers = const real*;
  using Arrays = const Data<real>*;
  return {Game::scratch > 0 ? fitness_of_point<Game, real> : fitness_of_features<Game, real>,
          evaluate<AgainstX<Game>, real>,
          [](Numbers x, i64 d, Arrays data, real* out) {
            Lane<real> team;
            Game::features(team, x, int(d), *data, out);
            return real(0);
          },
          fitness_of_features<Game, real>,
          [](Numbers features, i64 d, Arrays data, real* out) {
            Lane<real> team;
            values_of_x<Game>(team, Point<real>{features}, int(d), *data, out);
            return real(0);
          },
          Game::scratch > 0};
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
