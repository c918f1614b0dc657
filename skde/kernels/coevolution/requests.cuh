// Co-evolution where the host evaluates: the requests of the phases, and the evaluation by the values that it returns.
//
// The host does the phases of a cycle one by one. Where a phase has a request, it evaluates these points first: each of
// x against each of y or, for the features of points in a Lagrangian, points of x alone. Everything else of a
// Lagrangian is computed from the features. Generations of a side are made one by one: the host launches the
// algorithm's `propose`, the phase, which writes the trials' fitness to trials_x or trials_y, and the algorithm's
// `accept`.
#pragma once
#include "coevolution/coevolution.cuh"

namespace SKDE_NAMESPACE {

// The points of one side in a request. OPPONENTS are those of x in the cycle.
SKDE_ENUM_CLASS(Points, int, NONE, TRIALS, POPULATION, POPULATION_AND_INCUMBENT, OPPONENTS);

struct Request {
  Points x = Points::NONE, y = Points::NONE;
  bool repeated = false;  // the values of the request before are those of this one
};

template <class real> SKDE_FN Request request_of(const Coevolution<real>& co, i64 c, int phase) {
  if (phase == EVOLVE_X) return {Points::TRIALS, co.constrained() ? Points::NONE : Points::OPPONENTS};
  if (co.constrained()) return {phase == DESCRIBE_X ? Points::POPULATION : Points::NONE};
  switch (phase) {
    case EVALUATE_Y: return {Points::POPULATION, Points::POPULATION};
    // In cycle 0 the trials of y are the opponents of x.
    case EVOLVE_Y: return {Points::POPULATION, Points::TRIALS, c == 0};
    case EVALUATE_X: return {Points::POPULATION_AND_INCUMBENT, Points::OPPONENTS};
    case CONCLUDE: return {c > 0 ? Points::POPULATION_AND_INCUMBENT : Points::POPULATION, Points::OPPONENTS, true};
    default: return {};
  }
}

// The array of a Lagrangian without a compiled problem: its size is the number of inequalities (LagrangianOfFeatures).
template <class real> SKDE_FN Data<real> features_data(const Coevolution<real>& co) {
  Data<real> data{};
  data.size[0] = co.inequalities;
  return data;
}

// The Evaluation of a run by the host's reply to a request: a row for each point x, with its values against the points
// y, or with its features.
template <class real> struct GivenValues {
  const Coevolution<real>& co;
  const real* given;
  i64 columns;

  SKDE_FN const real* row(int i) const { return given + i * columns; }
  SKDE_FN static constexpr bool decodes() { return false; }  // the host does

  template <class Team, class Share>
  SKDE_FN void evolve_x(Team& team, const Task<real>& task, const Shared<real>& shared, i64 r, Share& share,
                        i64) const {
    share.divide(int(co.pop_x));
    for (int i = share.begin; i < share.end; i += share.step) {
      const real fitness = co.constrained() ? SKDE_NAMESPACE::fitness_of_x<LagrangianOfFeatures>(
                                                  team, Point<real>{row(i)}, int(task.dim), shared.data)
                                            : given_fitness_of_x(team, i);
      if (team.lane == 0) co.trials_x[r * co.pop_x + i] = fitness;
    }
  }
  template <class Team, class Share>
  SKDE_FN void evolve_y(Team& team, const Task<real>& task, const Shared<real>& shared, i64 r, Share& share,
                        i64) const {
    share.divide(int(co.pop_y));
    for (int k = share.begin; k < share.end; k += share.step) {
      const real* const trial = row_of(task, r, task.generation[r] + 1, k);
      const real fitness = fitness_of_y(team, k, trial, int(task.dim), shared.data);
      if (team.lane == 0) co.trials_y[r * co.pop_y + k] = fitness;
    }
  }
  // The host reorders.
  template <class Team, class Share> SKDE_FN void reorder_x(Team&, const Task<real>&, i64, Share&, i64) const {}
  template <class Team, class Share> SKDE_FN void reorder_y(Team&, const Task<real>&, i64, Share&, i64) const {}

  template <class Team> SKDE_FN const real* features(Team&, int i, const real* x, int, const Data<real>&, real*) const {
    return co.constrained() ? row(i) : x;
  }
  template <class Cycle>
  SKDE_FN real fitness_of_x(const Cycle& cycle, int i, const real*, const Data<real>& data) const {
    if (!co.constrained()) return given_fitness_of_x(cycle.team, i);
    return SKDE_NAMESPACE::fitness_of_x<LagrangianOfFeatures>(cycle.team, described(cycle, i), cycle.dx(), data);
  }
  template <class Team>
  SKDE_FN real fitness_of_y(Team& team, int k, const real* y, int d, const Data<real>& data) const {
    if (co.constrained()) return SKDE_NAMESPACE::fitness_of_y<LagrangianOfFeatures>(team, y, d, data);
    const real* const values = given + k;
    const i64 stride = columns;
    return minus_smallest_value(team, int(co.pop_x), [=](int i) { return values[i * stride]; });
  }
  template <class Cycle>
  SKDE_FN void values_of_x(const Cycle& cycle, int i, const real*, const Data<real>& data, real* out) const {
    if (co.constrained())
      SKDE_NAMESPACE::values_of_x<LagrangianOfFeatures>(cycle.team, described(cycle, i), cycle.dx(), data, out);
    else
      cycle.team.each(int(columns), [&](int k) { out[k] = row(i)[k]; });
  }

 private:
  template <class Team> SKDE_FN real given_fitness_of_x(Team& team, int i) const {
    const real* const values = row(i);
    return largest_value(team, int(columns), [=](int k) { return values[k]; });
  }
  // The features of point i of the population of x, in the table.
  template <class Cycle> SKDE_FN Column<real> described(const Cycle& cycle, int i) const {
    return {cycle.table() + i, co.pop_x};
  }
};

// One phase of cycle c of a run, if it still runs, with the values of all runs, of shape (R, rows, columns).
template <class Cycle, class real>
SKDE_FN void step_with_values(Cycle& cycle, i64 c, int phase, const real* values, i64 rows, i64 columns) {
  if (cycle.incumbents.status[cycle.r] != RUNNING) return;
  cycle.phase(c, phase, GivenValues<real>{cycle.co, values + cycle.r * rows * columns, columns});
}

}  // namespace SKDE_NAMESPACE
