// Co-evolution of two populations: x makes f(x, y) small, y makes it large (Fabris, Krohling 2012, algorithm 1).
//
// In a cycle
//
//   x evolves for gens_x generations; the fitness of x is its largest value against the opponents (equation 11)
//   y evolves for gens_y generations; the fitness of y is the smallest value against the population of x (equation 12,
//   corrected)
//   the population of y and, after it, the archive of the strongest opponents of earlier cycles become the opponents
//   x is evaluated again, against these opponents; the best x replaces the incumbent if its fitness is better than that
//   of the incumbent against all opponents so far
//
// For the augmented Lagrangian of a constrained problem, y may instead be one vector of multipliers, which is updated
// once a cycle (the method of multipliers): mu <- max(0, mu + 2 r g), lambda <- lambda + 2 r h at the best x, and r is
// doubled where a violation has not halved.
//
// The two sides are batches. The incumbents are a third batch: populations of one individual, x followed by y. A
// generation of the incumbents is a cycle.
#pragma once
#include "coevolution/decoded_game.cuh"
#include "core/drive.cuh"
#include "problems/constraints.cuh"

namespace SKDE_NAMESPACE {

// Integers: pop_x, pop_y (opponents of x: the population of y, or one vector of multipliers), gens_x, gens_y, renewed
// (individuals of y that random points replace in a cycle), archive (its size), capacity (most opponents of x),
// features (of a point x), inequalities, equalities, updates (whether multipliers are updated, not evolved), adapts
// (whether r is adapted).
// Numbers: feasibility (tolerance of the constraints), tol (of a cycle that changes nothing; < 0: off) and atol.
// Pointers: columns (R, dim y, capacity) the opponents of x, table (R, features, pop_x) the features of the population
// of x, strengths (R, 2, capacity) the values of the best x and of the incumbent against each opponent, penalties (R,
// constraints) r; of the cycle before: excess (R, constraints) violations, levels (R, 2) fitness of the best x and the
// best y; trials_x (R, pop_x), trials_y (R, pop_y) the fitness of trials, where the host evaluates; values (R, variables
// of y, capacity) the columns decoded, where both sides have typed variables.
// clang-format off
#define SKDE_COEVOLUTION_FIELDS(INTEGER, NUMBER, REALS)                                                     \
  INTEGER(pop_x) INTEGER(pop_y) INTEGER(gens_x) INTEGER(gens_y) INTEGER(renewed) INTEGER(archive)           \
  INTEGER(capacity) INTEGER(features) INTEGER(inequalities) INTEGER(equalities) INTEGER(updates)            \
  INTEGER(adapts) NUMBER(feasibility) NUMBER(tol) NUMBER(atol)                                              \
  REALS(columns) REALS(table) REALS(strengths) REALS(penalties) REALS(excess) REALS(levels) REALS(trials_x) \
  REALS(trials_y) REALS(values)
// clang-format on

template <class real> struct Coevolution {
#define SKDE_INTEGER(name) i64 name;
#define SKDE_NUMBER(name) double name;
#define SKDE_REALS(name) real* name;
  SKDE_COEVOLUTION_FIELDS(SKDE_INTEGER, SKDE_NUMBER, SKDE_REALS)
#undef SKDE_INTEGER
#undef SKDE_NUMBER
#undef SKDE_REALS

  SKDE_FN int constraints() const { return int(inequalities + equalities); }
  SKDE_FN bool constrained() const { return constraints() > 0; }
};

// The phases of a cycle, in their order. After each is a barrier of the run's teams. Where the host evaluates, each is
// a launch (requests.cuh).
//
//   BEGIN         the first opponents: the initial population of y, or multipliers of zero
//   EVOLVE_X      generations of x against the opponents
//   DESCRIBE_X    features of the population of x
//   UPDATE        multipliers and penalties
//   RENEW_Y       random points replace the worst y, because a population close to one response to x finds no other
//   EVALUATE_Y    fitness of y against the new population of x
//   REORDER_Y     data that the algorithm of y derives from its fitness
//   EVOLVE_Y      generations of y against the population of x
//   COLLECT       the population of y becomes the opponents
//   EVALUATE_X    fitness of x against the new opponents
//   REORDER_X     data that the algorithm of x derives from its fitness
//   CONCLUDE      incumbent, archive, and whether the run ends
SKDE_ENUM(CoevolutionPhase, int, BEGIN, EVOLVE_X, DESCRIBE_X, UPDATE, RENEW_Y, EVALUATE_Y, REORDER_Y, EVOLVE_Y, COLLECT,
          EVALUATE_X, REORDER_X, CONCLUDE);
constexpr int PHASES = CONCLUDE + 1;

// Whether cycle c has a phase; `y_evaluated`: whether the population of y has its fitness against the new x already, as
// after an interruption.
template <class real> SKDE_FN bool has_phase(const Coevolution<real>& co, i64 c, int phase, bool y_evaluated) {
  switch (phase) {
    case BEGIN: return c == 0;
    case UPDATE: return co.updates;
    case RENEW_Y: return !co.updates && c > 0 && !y_evaluated && co.renewed > 0;
    case EVALUATE_Y:
    case REORDER_Y: return !co.updates && c > 0 && !y_evaluated;
    case EVOLVE_Y:
    case COLLECT: return !co.updates;
    case EVALUATE_X:
    case REORDER_X: return co.updates || c > 0;  // in cycle 0 the opponents are those that x has evolved against
    default: return true;
  }
}

// A population without an algorithm, in which no trials are made.
struct NoAlgorithm : BaseAlgorithm {
  SKDE_PARAMETERS(pop_size);
  struct Settings {
    SKDE_FN explicit Settings(const double*) {}
  };
};

// Row i of generation g of a side, in run r, and the fitness of that generation.
template <class real> SKDE_FN real* row_of(const Task<real>& side, i64 r, i64 g, i64 i) {
  return side.x + (((g & 1) * side.n_runs + r) * side.pop_max + i) * side.dim;
}
template <class real> SKDE_FN real* fitness_of(const Task<real>& side, i64 r, i64 g) {
  return side.f + ((g & 1) * side.n_runs + r) * side.pop_max;
}

// The cycles of one run, by the teams that share it. `game_data` are the arrays of the game, for a Lagrangian without
// the penalties.
//
// An Evaluation has the objective and the algorithms of the sides:
//   evolve_x, evolve_y(team, task, shared, r, share, until)   generations up to number `until`
//   reorder_x, reorder_y(team, task, r, share, g)   after a new evaluation of generation g
//   decodes()   whether both sides have typed variables: their tables are in the tasks, opponents are stored as values,
//               and x and y below are points to decode
//   features(team, i, x, d, data, out)   of point i of the population of x: x, or out with the features
//   fitness_of_x(cycle, i, x, data)      of the same, against the opponents in data; features are in the cycle's table
//   fitness_of_y(team, k, y, d, data)    of point k of the population of y
//   values_of_x(cycle, i, x, data, out)  values of point i against each opponent; the incumbent is number pop_x
template <class Team, class real, class Share> struct Cycle {
  const Coevolution<real>& co;
  const Task<real>&x_side, &y_side, &incumbents;
  const Data<real>& game_data;
  const i64 r;
  Team& team;
  Share& share;

  SKDE_FN int dx() const { return int(x_side.dim); }
  SKDE_FN int dy() const { return int(y_side.dim); }
  SKDE_FN int constraints() const { return co.constraints(); }
  SKDE_FN real* columns() const { return co.columns + r * dy() * co.capacity; }
  SKDE_FN real* values() const { return co.values + r * y_side.data.n_variables * co.capacity; }
  SKDE_FN real* table() const { return co.table + r * co.features * co.pop_x; }
  SKDE_FN real* strengths(int which) const { return co.strengths + (r * 2 + which) * co.capacity; }
  SKDE_FN real* penalties() const { return co.penalties + r * constraints(); }

  // Populations after cycle c.
  SKDE_FN real* x(i64 c, int i) const { return row_of(x_side, r, c * co.gens_x, i); }
  SKDE_FN real* y(i64 c, int k) const { return row_of(y_side, r, c * co.gens_y, k); }
  SKDE_FN real* f_x(i64 c) const { return fitness_of(x_side, r, c * co.gens_x); }
  SKDE_FN real* f_y(i64 c) const { return fitness_of(y_side, r, c * co.gens_y); }
  SKDE_FN int best_x(i64 c) const { return best_of(team, f_x(c), int(co.pop_x)); }

  // The number of opponents of x in cycle c.
  SKDE_FN int opponents(i64 c) const { return int(co.pop_y + min_of(c, co.archive)); }

  // The arrays that the game reads; of a Lagrangian, the penalties are the first.
  SKDE_FN Data<real> all_game_data() const {
    if (!co.constrained()) return game_data;
    Data<real> data{};
    data.array[0] = penalties(), data.size[0] = constraints();
    for (int k = 1; k < MAX_ARRAYS; ++k) data.array[k] = game_data.array[k - 1], data.size[k] = game_data.size[k - 1];
    return data;
  }
  template <class Evaluation> SKDE_FN Data<real> against_y(i64 c, const Evaluation& evaluation) const {
    if (!evaluation.decodes()) return opponents_data(all_game_data(), columns(), opponents(c), co.capacity, dy());
    const i64 n = y_side.data.n_variables;
    return with_variables(opponents_data(all_game_data(), values(), opponents(c), co.capacity, n), x_side);
  }
  template <class Evaluation> SKDE_FN Data<real> against_x(const Evaluation& evaluation) const {
    const Data<real> data =
        opponents_data(all_game_data(), table(evaluation), co.pop_x, co.pop_x, table_rows(evaluation));
    return evaluation.decodes() ? with_variables(data, y_side) : data;
  }
  SKDE_FN static Data<real> with_variables(Data<real> data, const Task<real>& side) {
    data.variables = side.data.variables, data.n_variables = side.data.n_variables;
    return data;
  }

  // The numbers that the table has of a point x, and the number of variables of x that the game gets.
  template <class Evaluation> SKDE_FN i64 table_rows(const Evaluation& evaluation) const {
    return evaluation.decodes() && !co.constrained() ? x_side.data.n_variables : co.features;
  }
  template <class Evaluation> SKDE_FN real* table(const Evaluation& evaluation) const {
    return co.table + r * table_rows(evaluation) * co.pop_x;
  }
  template <class Evaluation> SKDE_FN int game_dx(const Evaluation& evaluation) const {
    return evaluation.decodes() ? int(x_side.data.n_variables) : dx();
  }

  SKDE_FN void barrier() {
    share.arrive();
    share.wait();
  }
  template <class Body> SKDE_FN void each(i64 n, Body body) {
    share.divide(int(n));
    for (int i = share.begin; i < share.end; i += share.step) body(i);
  }

  // The features of point i of the population of x: x or, in the team's scratch, its values or a copy from the table.
  template <class Evaluation> SKDE_FN const real* features(const Evaluation& evaluation, int i, const real* x) const {
    real* const out = team.scratch;
    if (!co.constrained()) {
      if (!evaluation.decodes()) return x;
      team.sync();  // other lanes may still read the features of another point
      decode(team, x, x_side.data, out);
      return out;
    }
    team.each(int(co.features), [&](int j) { out[j] = table()[j * co.pop_x + i]; });
    team.sync();
    return out;
  }

  // Cycles up to number `until`, or the run's end.
  template <class Evaluation> SKDE_FN void cycles(const Evaluation& evaluation, i64 until) {
    if (incumbents.status[r] != RUNNING || incumbents.generation[r] >= until) return;
    for (i64 c = incumbents.generation[r] + 1;; ++c) {
      const bool y_evaluated = y_side.met[r] >= c;  // before EVALUATE_Y writes it
      for (int which = 0; which < PHASES; ++which) {
        if (!has_phase(co, c, which, y_evaluated)) continue;
        phase(c, which, evaluation);
        barrier();
      }
      if (incumbents.status[r] != RUNNING || c == until) return;
    }
  }

  // One phase of cycle c.
  template <class Evaluation> SKDE_FN void phase(i64 c, int phase, const Evaluation& evaluation) {
    switch (phase) {
      case BEGIN: return begin();
      case EVOLVE_X: {
        decode_opponents(c, evaluation);
        Shared<real> shared(x_side);
        shared.data = against_y(c, evaluation);
        return evaluation.evolve_x(team, x_side, shared, r, share, c * co.gens_x);
      }
      case DESCRIBE_X: return describe_x(c, evaluation);
      case UPDATE: return update_multipliers(c);
      case RENEW_Y: return renew_y(c - 1);
      case EVALUATE_Y: return evaluate_y(c, evaluation);
      case REORDER_Y: return evaluation.reorder_y(team, y_side, r, share, (c - 1) * co.gens_y);
      case EVOLVE_Y: {
        Shared<real> shared(y_side);
        shared.data = against_x(evaluation);
        return evaluation.evolve_y(team, y_side, shared, r, share, c * co.gens_y);
      }
      case COLLECT: return each(co.pop_y, [&](int k) { set_column(k, y(c, k)); });
      case EVALUATE_X: return evaluate_x(c, evaluation);
      case REORDER_X: return evaluation.reorder_x(team, x_side, r, share, c * co.gens_x);
      default:
        if (!share.leader) return;
        set_strengths(c, evaluation);
        conclude(c);
    }
  }

 private:
  SKDE_FN void set_column(int k, const real* y) {
    real* const column = columns() + k;
    team.each(dy(), [&](int j) { column[j * co.capacity] = y[j]; });
  }

  // The values of the opponents of cycle c, for all teams.
  template <class Evaluation> SKDE_FN void decode_opponents(i64 c, const Evaluation& evaluation) {
    if (!evaluation.decodes()) return;
    const Data<real>& data = y_side.data;
    each(opponents(c), [&](int k) {
      real* const y = team.scratch;
      team.each(dy(), [&](int j) { y[j] = columns()[j * co.capacity + k]; });
      team.sync();
      real* const to = values() + k;
      team.each(int(data.n_variables), [&](int j) { to[j * co.capacity] = decoded(y, data.variables, j); });
      team.sync();
    });
    barrier();
  }

  SKDE_OUTLINE void begin() {
    if (!co.updates) {
      const Run<NoAlgorithm, real> run(y_side, Shared<real>(y_side), r, incumbents.parameters);
      each(co.pop_y, [&](int k) {
        start(team, run, k, y(0, k));
        set_column(k, y(0, k));
      });
    } else if (share.leader) {
      team.each(dy(), [&](int j) {
        columns()[j * co.capacity] = real(0);
        if (co.adapts) penalties()[j] = real(1);
      });
    }
  }

  template <class Evaluation> SKDE_FN void describe_x(i64 c, const Evaluation& evaluation) {
    const Data<real> game = all_game_data(), data = evaluation.decodes() ? with_variables(game, x_side) : game;
    each(co.pop_x, [&](int i) {
      const real* const features = evaluation.features(team, i, x(c, i), dx(), data, team.scratch);
      real* const to = table(evaluation) + i;
      team.each(int(table_rows(evaluation)), [&](int j) { to[j * co.pop_x] = features[j]; });
      team.sync();
    });
  }

  template <class Evaluation> SKDE_FN void evaluate_x(i64 c, const Evaluation& evaluation) {
    decode_opponents(c, evaluation);
    const Data<real> data = against_y(c, evaluation);
    each(co.pop_x, [&](int i) {
      const real fitness = evaluation.fitness_of_x(*this, i, x(c, i), data);
      team.sync();
      if (team.lane == 0) f_x(c)[i] = fitness;
    });
  }

  template <class Evaluation> SKDE_FN void evaluate_y(i64 c, const Evaluation& evaluation) {
    const Data<real> data = against_x(evaluation);
    each(co.pop_y, [&](int k) {
      const real fitness = evaluation.fitness_of_y(team, k, y(c - 1, k), dy(), data);
      if (team.lane == 0) f_y(c - 1)[k] = fitness;
    });
    if (share.leader && team.lane == 0) y_side.met[r] = c;
  }

  SKDE_OUTLINE void renew_y(i64 c) {
    const i64 g = c * co.gens_y;
    const Run<NoAlgorithm, real> run(y_side, Shared<real>(y_side), r, incumbents.parameters);
    const int pop = int(co.pop_y), first = pop - int(co.renewed);
    const real* const f = f_y(c);
    const auto renew = [&](int k) {
      const Stream stream = run.stream(g, k, RENEWAL);
      real* const out = y(c, k);
      team.each(dy(), [&](int j) { out[j] = uniform_component(run, stream, j); });
    };
    if (!is_large(pop))
      return each(pop, [&](int k) {
        if (rank_of(team, f, pop, k) >= first) renew(k);
      });
    if (!share.leader) return;
    i64* const order = run.sorting();
    sort_alone(team, pop, [&](int k) { return f[k]; }, order, order + pop, run.samples(pop));
    for (int k = first; k < pop; ++k) renew(int(order[k]));
  }

  // At first the multipliers are zero, and r balances the constraints with the objective on the initial population: 10
  // times the mean deviation of f over the square of mean |g|.
  SKDE_OUTLINE void update_multipliers(i64 c) {
    if (!share.leader) return;
    const int n = int(co.pop_x), best = best_x(c);
    real *const r_i = penalties(), *const before = co.excess + r * constraints(), *const multipliers = columns();
    const real* const all = table();
    const auto mean = [&](auto term) {
      const auto is_number = [&](int i) { return term(i) - term(i) == real(0); };
      const int numbers = team.count(n, is_number);
      return team.sum(n, [&](int i) { return is_number(i) ? term(i) : real(0); }) / real(max_of(numbers, 1));
    };
    if (c == 0) {
      const real mean_f = mean([&](int i) { return all[i]; });
      const real mean_deviation = mean([&](int i) { return abs_of(all[i] - mean_f); });
      const real deviation = mean_deviation > 0 ? mean_deviation : real(1e-12);
      for (int j = 0; j < constraints(); ++j) {
        const real mean_g = mean([&](int i) { return abs_of(all[(1 + j) * co.pop_x + i]); });
        if (team.lane == 0) {
          if (co.adapts) r_i[j] = real(10) * deviation / max_of(mean_g * mean_g, real(1e-12));
          multipliers[j * co.capacity] = real(0), before[j] = real(infinity());
        }
      }
      return;
    }
    team.each(constraints(), [&](int j) {
      const real g = all[(1 + j) * co.pop_x + best], mu = multipliers[j * co.capacity];
      if (!(g - g == real(0))) return;  // NaN or infinite: the multiplier does not change
      const bool inequality = j < co.inequalities;
      const real next = mu + real(2) * r_i[j] * g;
      const real violation = inequality ? abs_of(max_of(g, -mu / (real(2) * r_i[j]))) : abs_of(g);
      multipliers[j * co.capacity] = inequality ? max_of(next, real(0)) : next;
      const bool slow = violation > real(0.5) * before[j] && double(violation) > 0.1 * co.feasibility;
      if (co.adapts && slow) r_i[j] *= real(2);
      before[j] = violation;
    });
  }

  // The code of the feasibility rules for individual i.
  SKDE_FN real feasibility_code(int i) const {
    const Column<real> values{table() + i, co.pop_x};
    return real(
        by_rules(double(values(0)), violation(values, int(co.inequalities), int(co.equalities), co.feasibility)));
  }

  template <class Evaluation> SKDE_FN void set_strengths(i64 c, const Evaluation& evaluation) {
    if (co.updates) return;
    const Data<real> data = against_y(c, evaluation);
    const int best = best_x(c);
    evaluation.values_of_x(*this, best, x(c, best), data, strengths(0));
    if (!co.constrained() && c > 0)
      evaluation.values_of_x(*this, int(co.pop_x), row_of(incumbents, r, c - 1, 0), data, strengths(1));
    team.sync();
  }

  // After cycle c, by one team: chooses the incumbent and puts the strongest opponent of the best x into the archive.
  SKDE_OUTLINE Status conclude(i64 c) {
    const int best = best_x(c), n = opponents(c);
    const auto strongest = [&](int which) {
      const real* const values = strengths(which);
      return max_of(team.least(n, [&](int k) { return is_nan(values[k]) ? -real(infinity()) : -values[k]; }), 0);
    };
    const int against_best = co.updates ? 0 : strongest(0);
    const real before = c > 0 ? *fitness_of(incumbents, r, c - 1) : real(infinity());
    const real* const old = row_of(incumbents, r, c - 1, 0);
    real* const incumbent = row_of(incumbents, r, c, 0);

    int candidate = best;  // of the population of x
    real value = f_x(c)[best], old_value = before;
    int opponent = -1;  // of the incumbent; -1: the one of the old incumbent
    if (co.constrained()) {
      candidate = max_of(team.least(int(co.pop_x), [&](int i) { return feasibility_code(i); }), 0);
      value = feasibility_code(candidate);
      if (co.updates) opponent = 0;
    } else if (c > 0) {
      const int against_old = strongest(1);
      const real worst = strengths(1)[against_old];
      if (!(worst <= before)) opponent = against_old, old_value = is_nan(worst) ? real(infinity()) : worst;
    }
    const bool replaced = c == 0 || value < old_value;
    if (replaced) opponent = against_best;
    team.each(dx(), [&](int j) { incumbent[j] = replaced ? x(c, candidate)[j] : old[j]; });
    team.each(dy(), [&](int j) {
      incumbent[dx() + j] = opponent < 0 ? old[dx() + j] : columns()[j * co.capacity + opponent];
    });
    if (team.lane == 0) *fitness_of(incumbents, r, c) = replaced ? value : old_value;
    if (co.archive > 0) {
      const i64 slot = co.pop_y + c % co.archive;
      team.each(dy(), [&](int j) { columns()[j * co.capacity + slot] = columns()[j * co.capacity + against_best]; });
    }
    team.sync();
    const Run<NoAlgorithm, real> run(incumbents, Shared<real>(incumbents), r);
    const Status status = SKDE_NAMESPACE::conclude(team, run, true, c);
    const bool differed = note_differences(c);
    if (co.updates) return status;
    const bool stationary = is_stationary(c, f_x(c)[best], -smallest(team, f_y(c), int(co.pop_y)));
    const bool ends = stationary && differed && status != TARGET;
    if (ends && team.lane == 0) incumbents.status[r] = CONVERGED;
    return ends ? CONVERGED : status;
  }

  // Whether two finite values of a population differed, in this cycle or before.
  SKDE_FN bool note_differences(i64 c) {
    i64* const noted = incumbents.differed + 2 * r;
    const auto differs = [&](const real* f, i64 n) {
      return differ(team, smallest(team, f, int(n)), f, int(n), f, int(n));
    };
    team.sync();
    const bool found = noted[0] || noted[1] || differs(f_x(c), co.pop_x) || (!co.updates && differs(f_y(c), co.pop_y));
    team.sync();
    if (team.lane == 0) noted[0] = noted[1] = found;
    return found;
  }

  // Whether cycle c has changed nothing: the fitness of the best x and that of the best y differ from each other, and
  // from those of the cycle before, by at most the tolerance. Close sides are not enough: two random populations
  // may contain a saddle point of their pairs.
  SKDE_FN bool is_stationary(i64 c, real best_x, real best_y) {
    real* const before = co.levels + r * 2;
    const auto close = [&](real other) {
      return double(abs_of(best_x - other)) <= co.atol + co.tol * double(max_of(abs_of(best_x), abs_of(other)));
    };
    const bool stationary = co.tol >= 0 && c > 0 && close(best_y) && close(before[0]) && close(before[1]);
    team.sync();
    if (team.lane == 0) before[0] = best_x, before[1] = best_y;
    return stationary;
  }
};

// The Evaluation by a game and two algorithms as C++ types, for a GPU.
template <class AlgorithmX, class AlgorithmY, class Game, class real> struct CompiledGame {
  real* trial;  // memory of this team, or null

  SKDE_FN static constexpr bool decodes() { return is_decoded<Game>; }
  template <class Team, class Share>
  SKDE_FN void evolve_x(Team& team, const Task<real>& task, const Shared<real>& shared, i64 r, Share& share,
                        i64 until) const {
    generations<AlgorithmX>(team, task, shared, r, share, AgainstY<Game>{}, trial, until);
  }
  template <class Team, class Share>
  SKDE_FN void evolve_y(Team& team, const Task<real>& task, const Shared<real>& shared, i64 r, Share& share,
                        i64 until) const {
    generations<AlgorithmY>(team, task, shared, r, share, AgainstX<Game>{}, trial, until);
  }
  template <class Team, class Share>
  SKDE_FN void reorder_x(Team& team, const Task<real>& task, i64 r, Share& share, i64 g) const {
    restore<AlgorithmX>(team, task, r, share, g, true);
  }
  template <class Team, class Share>
  SKDE_FN void reorder_y(Team& team, const Task<real>& task, i64 r, Share& share, i64 g) const {
    restore<AlgorithmY>(team, task, r, share, g, true);
  }
  template <class Team>
  SKDE_FN const real* features(Team& team, int, const real* x, int d, const Data<real>& data, real* out) const {
    return Game::features(team, x, d, data, out);
  }
  template <class Cycle>
  SKDE_FN real fitness_of_x(const Cycle& cycle, int i, const real* x, const Data<real>& data) const {
    const Point<real> features{cycle.features(*this, i, x)};
    return SKDE_NAMESPACE::fitness_of_x<Game>(cycle.team, features, cycle.game_dx(*this), data);
  }
  template <class Team> SKDE_FN real fitness_of_y(Team& team, int, const real* y, int d, const Data<real>& data) const {
    return AgainstX<Game>{}(team, y, d, data);
  }
  template <class Cycle>
  SKDE_FN void values_of_x(const Cycle& cycle, int i, const real* x, const Data<real>& data, real* out) const {
    const Point<real> features{cycle.features(*this, i, x)};
    SKDE_NAMESPACE::values_of_x<Game>(cycle.team, features, cycle.game_dx(*this), data, out);
  }
};

}  // namespace SKDE_NAMESPACE
