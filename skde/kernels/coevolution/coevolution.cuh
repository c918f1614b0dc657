// Co-evolution of two populations: x makes f(x, y) small, y makes it large (Fabris, Krohling 2012, algorithm 1).
//
// A cycle, in every part of which the other side stands still:
//
//   x evolves        gens_x generations; an x is worth its largest value against the opponents (equation 11)
//   y evolves        gens_y generations; a y is worth the smallest value against the population of x (equation 12, corrected)
//   opponents        the population of y and, behind it, the strongest opponents of earlier cycles
//   x is judged anew against them; the answer of the run is chosen, and judged against all opponents that it has met
//
// For the augmented Lagrangian of a constrained problem, y may instead be one vector of multipliers that is corrected once a
// cycle (the method of multipliers): mu <- max(0, mu + 2 r g), lambda <- lambda + 2 r h at the best x, and r is doubled
// where a violation has not fallen by half.
//
// The two sides are batches of their own, and the answers a third one: a population of one individual, x and y one behind
// the other, whose generations are the cycles.
#pragma once
#include "coevolution/opponents.cuh"
#include "core/drive.cuh"
#include "problems/constraints.cuh"

namespace SKDE_NAMESPACE {

// Integers: pop_x, pop_y (columns of y: the population, or one), gens_x, gens_y, renewed (y that give way to new points every
// cycle), archive (strongest opponents that are remembered), room (columns there is memory for), features (numbers that stand
// for an x), inequalities, equalities, updates (multipliers are corrected, not evolved), adapts (r is, too).
// Numbers: tolerance of the constraints (feasibility), and of a cycle that changes nothing (gap, < 0: off).
// Pointers: columns (R, dim y, room), table (R, features, pop_x), strengths (R, 2, room) values of the best x and of the
// answer against every opponent, penalties (R, constraints); and of the cycle before: excess (R, constraints) violations,
// levels (R, 2) values of the best x and the best y.
// clang-format off
#define SKDE_COEVOLUTION_FIELDS(INTEGER, NUMBER, REALS)                                                 \
  INTEGER(pop_x) INTEGER(pop_y) INTEGER(gens_x) INTEGER(gens_y) INTEGER(renewed) INTEGER(archive) INTEGER(room)          \
  INTEGER(features) INTEGER(inequalities) INTEGER(equalities) INTEGER(updates) INTEGER(adapts)          \
  NUMBER(feasibility) NUMBER(gap)                                                                       \
  REALS(columns) REALS(table) REALS(strengths) REALS(penalties) REALS(excess) REALS(levels)
// clang-format on

template <class real> struct Coevolution {
#define SKDE_INTEGER(name) i64 name;
#define SKDE_NUMBER(name) double name;
#define SKDE_REALS(name) real* name;
  SKDE_COEVOLUTION_FIELDS(SKDE_INTEGER, SKDE_NUMBER, SKDE_REALS)
#undef SKDE_INTEGER
#undef SKDE_NUMBER
#undef SKDE_REALS

  SKDE_FN bool constrained() const { return inequalities + equalities > 0; }
};

// The algorithm of a population in which nobody makes trials.
struct Nobody : BaseAlgorithm {
  SKDE_PARAMETERS(pop_size);
  struct Settings {
    SKDE_FN explicit Settings(const double*) {}
  };
};

// What can be done between the turns, without an evaluation: by the host, one after the other, or in `cycles`.
enum CoevolutionStep : int { RENEW, GATHER, CORRECT, CONCLUDE };

// One run's cycle, by the teams that share the run.
template <class Team, class real, class Share> struct Cycle {
  const Coevolution<real>& co;
  const Task<real>&x_side, &y_side, &answers;
  const i64 r;
  Team& team;
  Share& share;

  SKDE_FN int dx() const { return int(x_side.dim); }
  SKDE_FN int dy() const { return int(y_side.dim); }
  SKDE_FN int constraints() const { return int(co.inequalities + co.equalities); }
  SKDE_FN real* columns() const { return co.columns + r * dy() * co.room; }
  SKDE_FN real* table() const { return co.table + r * co.features * co.pop_x; }
  SKDE_FN real* strengths(int which) const { return co.strengths + (r * 2 + which) * co.room; }
  SKDE_FN real* penalties() const { return co.penalties + r * constraints(); }

  SKDE_FN static real* row(const Task<real>& side, i64 r, i64 g, i64 i) {
    return side.x + (((g & 1) * side.n_runs + r) * side.pop_max + i) * side.dim;
  }
  SKDE_FN static real* values(const Task<real>& side, i64 r, i64 g) {
    return side.f + ((g & 1) * side.n_runs + r) * side.pop_max;
  }
  SKDE_FN real* x(i64 c, int i) const { return row(x_side, r, c * co.gens_x, i); }
  SKDE_FN real* y(i64 c, int i) const { return row(y_side, r, c * co.gens_y, i); }
  SKDE_FN real* f_x(i64 c) const { return values(x_side, r, c * co.gens_x); }
  SKDE_FN real* f_y(i64 c) const { return values(y_side, r, c * co.gens_y); }

  // The opponents of x in cycle c.
  SKDE_FN int opponents(i64 c) const { return int(co.pop_y + min_of(c, co.archive)); }

  // What the game reads: the penalty factors first, where it is a Lagrangian.
  SKDE_FN Data<real> own() const {
    if (!co.constrained()) return x_side.data;
    Data<real> data{};
    data.array[0] = penalties(), data.size[0] = constraints();
    for (int k = 1; k < MAX_ARRAYS; ++k)
      data.array[k] = x_side.data.array[k - 1], data.size[k] = x_side.data.size[k - 1];
    return data;
  }
  SKDE_FN Data<real> against_y(i64 c) const { return opponents_data(own(), columns(), opponents(c), co.room, dy()); }
  SKDE_FN Data<real> against_x() const { return opponents_data(own(), table(), co.pop_x, co.pop_x, co.features); }

  SKDE_FN void meet() {
    share.arrive();
    share.wait();
  }
  template <class Body> SKDE_FN void each(i64 n, Body body) {
    share.divide(int(n));
    for (int i = share.begin; i < share.end; i += share.step) body(i);
  }

  // Features of individual i, from the table.
  SKDE_FN const real* described(int i, real* out) const {
    team.each(int(co.features), [&](int j) { out[j] = table()[j * co.pop_x + i]; });
    team.sync();
    return out;
  }

  // Before y evolves in cycle c, its worst give way to points anywhere: a population that has gathered at one answer to x
  // would not find another.
  SKDE_OUTLINE void renew(i64 c) {
    if (co.renewed == 0 || c == 0) return;
    const i64 g = (c - 1) * co.gens_y;
    const Run<Nobody, real> run(y_side, Shared<real>(y_side), r, answers.parameters);
    each(co.pop_y, [&](int i) {
      if (rank_of(team, values(y_side, r, g), int(co.pop_y), i) < co.pop_y - co.renewed) return;
      const Stream stream = run.stream(g, i, RENEWAL);
      real* const out = row(y_side, r, g, i);
      team.each(dy(), [&](int j) { out[j] = uniform_component(run, stream, j); });
    });
  }

  // Every y becomes a column.
  SKDE_OUTLINE void gather(i64 c) {
    each(co.pop_y, [&](int k) {
      const real* const from = y(c, k);
      real* const to = columns() + k;
      team.each(dy(), [&](int j) { to[j * co.room] = from[j]; });
    });
  }

  // Multipliers and penalty factors for the next cycle, by one team. At first there are no multipliers, and r balances the
  // constraints with the objective on the initial population: 10 times the mean deviation of f over the square of mean |g|.
  SKDE_OUTLINE void correct(i64 c) {
    const int n = int(co.pop_x), best = best_of(team, f_x(c), n);
    real *const r_i = penalties(), *const before = co.excess + r * constraints(), *const multipliers = columns();
    const real* const all = table();
    const auto mean = [&](auto term) {
      const auto number = [&](int i) { return term(i) - term(i) == real(0); };
      const int many = team.count(n, number);
      return team.sum(n, [&](int i) { return number(i) ? term(i) : real(0); }) / real(max_of(many, 1));
    };
    if (c == 0) {
      const real middle = mean([&](int i) { return all[i]; });
      const real spread = max_of(mean([&](int i) { return abs_of(all[i] - middle); }), real(1e-12));
      for (int j = 0; j < constraints(); ++j) {
        const real size = mean([&](int i) { return abs_of(all[(1 + j) * co.pop_x + i]); });
        if (team.lane == 0) {
          if (co.adapts) r_i[j] = real(10) * spread / max_of(size * size, real(1e-12));
          multipliers[j * co.room] = real(0), before[j] = real(infinity());
        }
      }
      return;
    }
    team.each(constraints(), [&](int j) {
      const real g = all[(1 + j) * co.pop_x + best], mu = multipliers[j * co.room];
      if (!(g - g == real(0))) return;  // no number to learn from
      const bool inequality = j < co.inequalities;
      const real next = mu + real(2) * r_i[j] * g;
      const real violation = inequality ? abs_of(max_of(g, -mu / (real(2) * r_i[j]))) : abs_of(g);
      multipliers[j * co.room] = inequality ? max_of(next, real(0)) : next;
      const bool slow = violation > real(0.5) * before[j] && double(violation) > 0.1 * co.feasibility;
      if (co.adapts && slow) r_i[j] *= real(2);
      before[j] = violation;
    });
  }

  // The code of the feasibility rules for individual i.
  SKDE_FN real code(int i) const {
    const Column<real> values{table() + i, co.pop_x};
    return real(
        by_rules(double(values(0)), violation(values, int(co.inequalities), int(co.equalities), co.feasibility)));
  }

  // After cycle c, by one team: the strongest opponent of the best x is remembered, and the answer chosen.
  SKDE_OUTLINE Status conclude(i64 c) {
    const int best = best_of(team, f_x(c), int(co.pop_x)), n = opponents(c);
    const auto strongest = [&](int which) {
      const real* const values = strengths(which);
      return max_of(team.least(n, [&](int k) { return is_nan(values[k]) ? -real(infinity()) : -values[k]; }), 0);
    };
    const int against_best = co.updates ? 0 : strongest(0);
    const real before = c > 0 ? *values(answers, r, c - 1) : real(infinity());
    const real* const old = row(answers, r, c - 1, 0);
    real* const answer = row(answers, r, c, 0);

    int winner = best;  // of the population
    real value = f_x(c)[best], kept = before;
    int opponent = -1;  // of the answer that is kept; -1: the one it has
    if (co.constrained()) {
      winner = max_of(team.least(int(co.pop_x), [&](int i) { return code(i); }), 0);
      value = code(winner);
      if (co.updates) opponent = 0;
    } else if (c > 0) {
      const int found = strongest(1);
      const real met = strengths(1)[found];
      if (!(met <= before)) opponent = found, kept = is_nan(met) ? real(infinity()) : met;
    }
    const bool changes = c == 0 || value < kept;
    if (changes) opponent = against_best;
    team.each(dx(), [&](int j) { answer[j] = changes ? x(c, winner)[j] : old[j]; });
    team.each(dy(),
              [&](int j) { answer[dx() + j] = opponent < 0 ? old[dx() + j] : columns()[j * co.room + opponent]; });
    if (team.lane == 0) *values(answers, r, c) = changes ? value : kept;
    if (co.archive > 0) {
      const i64 slot = co.pop_y + c % co.archive;
      team.each(dy(), [&](int j) { columns()[j * co.room + slot] = columns()[j * co.room + against_best]; });
    }
    team.sync();
    const Run<Nobody, real> run(answers, Shared<real>(answers), r);
    const Status status = SKDE_NAMESPACE::conclude(team, run, true, c);
    if (co.updates) return status;
    const bool ends = rests(c, f_x(c)[best], -smallest(team, f_y(c), int(co.pop_y))) && status != TARGET;
    if (ends && team.lane == 0) answers.status[r] = CONVERGED;
    return ends ? CONVERGED : status;
  }

  // Whether neither side has gained anything in cycle c: the values of the best x and the best y are as close to each other
  // and to those of the cycle before as the tolerance. Two populations that have just been drawn may well contain a saddle
  // point of the pairs that they make, so that the sides are close does not say enough.
  SKDE_FN bool rests(i64 c, real of_x, real of_y) {
    real* const before = co.levels + r * 2;
    const auto close = [&](real other) {
      return double(abs_of(of_x - other)) <= co.gap * double(max_of(abs_of(of_x), real(1)));
    };
    const bool still = c > 0 && close(of_y) && close(before[0]) && close(before[1]);
    team.sync();
    if (team.lane == 0) before[0] = of_x, before[1] = of_y;
    return still;
  }

  SKDE_FN void step(i64 c, int step) {
    if (answers.status[r] != RUNNING) return;
    if (step == RENEW) return renew(c);
    if (step == GATHER) return gather(c);
    if (!share.leader) return;
    if (step == CORRECT)
      correct(c);
    else
      conclude(c);
  }

  // Cycles up to number `until`, or the run's end. `sides` evaluates, and evolves a side:
  //   turn_x, turn_y(team, task, shared, r, share, until)   generations up to number `until`
  //   refresh_x, refresh_y(team, task, r, share, g)         after the values of generation g have been made anew
  //   features(team, x, d, data, out), worst_x(team, features, d, data), worst_y(team, y, d, data),
  //   values(team, features, d, data, out)                  of the game
  template <class Sides> SKDE_FN void cycles(const Sides& sides, i64 until) {
    if (answers.status[r] != RUNNING || answers.generation[r] >= until) return;
    for (i64 c = answers.generation[r] + 1;; ++c) {
      if (c == 0) begin();
      Shared<real> shared_x(x_side), shared_y(y_side);
      shared_x.data = against_y(c), shared_y.data = against_x();
      sides.turn_x(team, x_side, shared_x, r, share, c * co.gens_x);
      meet();
      each(co.pop_x, [&](int i) {
        const real* const features = sides.features(team, x(c, i), dx(), own(), team.scratch);
        real* const to = table() + i;
        team.each(int(co.features), [&](int j) { to[j * co.pop_x] = features[j]; });
        team.sync();
      });
      meet();
      if (co.updates) {
        if (share.leader) correct(c);
      } else {
        if (c > 0) {
          renew(c);
          meet();
          const i64 g = (c - 1) * co.gens_y;
          each(co.pop_y, [&](int i) {
            const real value = sides.worst_y(team, row(y_side, r, g, i), dy(), shared_y.data);
            if (team.lane == 0) values(y_side, r, g)[i] = value;
          });
          meet();
          sides.refresh_y(team, y_side, r, share, g);
          if (share.leader && team.lane == 0) y_side.met[r] = c;
          meet();
        }
        sides.turn_y(team, y_side, shared_y, r, share, c * co.gens_y);
        meet();
        gather(c);
      }
      meet();
      if (c > 0 || co.updates) {  // before, the opponents have not changed
        each(co.pop_x, [&](int i) {
          const real* const features = co.constrained() ? described(i, team.scratch) : x(c, i);
          const real value = sides.worst_x(team, features, dx(), shared_x.data);
          team.sync();
          if (team.lane == 0) f_x(c)[i] = value;
        });
        meet();
        sides.refresh_x(team, x_side, r, share, c * co.gens_x);
        meet();
      }
      if (share.leader) {
        weigh(sides, c, shared_x.data);
        conclude(c);
      }
      meet();
      if (answers.status[r] != RUNNING || c == until) return;
    }
  }

 private:
  // Before the first cycle, x faces the points that y's initial population will have, or no multipliers at all.
  SKDE_FN void begin() {
    if (co.updates) {
      if (share.leader)
        team.each(dy(), [&](int j) {
          columns()[j * co.room] = real(0);
          if (co.adapts) penalties()[j] = real(1);
        });
    } else {
      const Run<Nobody, real> run(y_side, Shared<real>(y_side), r, answers.parameters);
      each(co.pop_y, [&](int i) { start(team, run, i, y(0, i)); });
      meet();
      gather(0);
    }
    meet();
  }

  template <class Sides> SKDE_FN void weigh(const Sides& sides, i64 c, const Data<real>& data) {
    if (co.updates) return;
    const int best = best_of(team, f_x(c), int(co.pop_x));
    const real* const features = co.constrained() ? described(best, team.scratch) : x(c, best);
    sides.values(team, features, dx(), data, strengths(0));
    if (!co.constrained() && c > 0) sides.values(team, row(answers, r, c - 1, 0), dx(), data, strengths(1));
    team.sync();
  }
};

// The sides of one game and two algorithms, where the compiler sees them all.
template <class AlgorithmX, class AlgorithmY, class Game, class real> struct Sides {
  real* room;  // of this team, for a trial; may be null

  template <class Team, class Share>
  SKDE_FN void turn_x(Team& team, const Task<real>& task, const Shared<real>& shared, i64 r, Share& share,
                      i64 until) const {
    generations<AlgorithmX>(team, task, shared, r, share, AgainstY<Game>{}, room, until);
  }
  template <class Team, class Share>
  SKDE_FN void turn_y(Team& team, const Task<real>& task, const Shared<real>& shared, i64 r, Share& share,
                      i64 until) const {
    generations<AlgorithmY>(team, task, shared, r, share, AgainstX<Game>{}, room, until);
  }
  template <class Team, class Share>
  SKDE_FN void refresh_x(Team& team, const Task<real>& task, i64 r, Share& share, i64 g) const {
    restore<AlgorithmX>(team, task, r, share, g, true);
  }
  template <class Team, class Share>
  SKDE_FN void refresh_y(Team& team, const Task<real>& task, i64 r, Share& share, i64 g) const {
    restore<AlgorithmY>(team, task, r, share, g, true);
  }
  template <class Team>
  SKDE_FN const real* features(Team& team, const real* x, int d, const Data<real>& data, real* out) const {
    return Game::features(team, x, d, data, out);
  }
  template <class Team> SKDE_FN real worst_x(Team& team, const real* features, int d, const Data<real>& data) const {
    return worst_for_x<Game>(team, features, d, data);
  }
  template <class Team> SKDE_FN real worst_y(Team& team, const real* y, int d, const Data<real>& data) const {
    return worst_for_y<Game>(team, y, d, data);
  }
  template <class Team>
  SKDE_FN void values(Team& team, const real* features, int d, const Data<real>& data, real* out) const {
    row_of_values<Game>(team, features, d, data, out);
  }
};

}  // namespace SKDE_NAMESPACE
