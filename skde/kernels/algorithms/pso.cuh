// Particle swarm optimisation with an inertia weight or constriction (Kennedy, Eberhart 1995; Shi, Eberhart 1998;
// Clerc, Kennedy 2002). The population is the personal bests; the particles have positions and velocities.
//
//   v_i' = w v_i + c1 r1 (p_i - x_i) + c2 r2 (l_i - x_i)     r1, r2 uniform, drawn for every component
//   x_i' = x_i + v_i'                                        l_i: the best personal best in i's neighbourhood
#pragma once
#include "core/best.cuh"
#include "core/variation.cuh"

namespace SKDE_NAMESPACE {

#ifndef SKDE_TOPOLOGY
#define SKDE_TOPOLOGY int(p[Parameters::topology])
#endif

SKDE_ENUM_CLASS(Topology, int, GLOBAL, RING, RANDOM);

struct Pso : BaseAlgorithm {
  SKDE_PARAMETERS(pop_size, topology, n_neighbors, link, repair, w, c1, c2, v_max);
  SKDE_VECTORS(trials, velocity);  // the trials are the particles' positions
  SKDE_SCRATCH(unchanged);
  // Of the random topology: the best value so far, and the generation that drew the graph.
  SKDE_ENUM(Memory, int, LEAST, DRAWN, NUMBERS);

  struct Settings {
    const Topology topology;
    const Repair repair;
    const int n_neighbors;
    const double link, w, c1, c2, v_max;

    SKDE_FN explicit Settings(const double* p)
        : topology(Topology(SKDE_TOPOLOGY)),
          repair(Repair(SKDE_REPAIR)),
          n_neighbors(int(p[Parameters::n_neighbors])),
          link(p[Parameters::link]),
          w(p[Parameters::w]),
          c1(p[Parameters::c1]),
          c2(p[Parameters::c2]),
          v_max(p[Parameters::v_max]) {}
  };

  struct Context {
    int best;
  };

  template <class Team, class R> SKDE_FN static Context context(Team& team, const R& run, i64 g) {
    return {needs_best(run) ? best_individual(team, run, g - 1, run.pop) : 0};
  }
  static constexpr bool SELECTS_AT_ONCE = true;
  template <class R> SKDE_FN static bool needs_best(const R& run) { return run.settings.topology == Topology::GLOBAL; }

  template <class Team> struct Draws {
    ComponentWords<Team, Stream, 0> cognitive;
    ComponentWords<Team, Stream, 1> social;

    template <class R>
    SKDE_FN Draws(Team& team, const R& run, i64 g, int i)
        : cognitive(team, run.stream(g, i, COGNITIVE), run.dim), social(team, run.stream(g, i, SOCIAL), run.dim) {}
  };

  template <class Team, class R> SKDE_FN static void fetch(const Team& team, const R& run, i64 g, int i) {
    team.fetch(run.dim, run.vector(Vectors::trials, g - 1, i));
    team.fetch(run.dim, run.vector(Vectors::velocity, g - 1, i));
    team.fetch(run.dim, run.x(g - 1, i));
  }

  // The first velocity leads half-way to a random point of the box.
  template <class Team, class R>
  SKDE_FN static void initialize(Team& team, const R& run, int i, const typename R::real* x) {
    using real = typename R::real;
    real *const position = run.vector(Vectors::trials, 0, i), *const velocity = run.vector(Vectors::velocity, 0, i);
    const Stream stream = run.stream(0, i, VELOCITY);
    team.each(run.dim, [&](int j) {
      const real target = run.lower[j] + (run.upper[j] - run.lower[j]) * unit<real>(stream.component(j));
      position[j] = x[j];
      velocity[j] = limited(run, j, real(0.5) * (target - x[j]));
    });
  }

  template <class Team, class R>
  SKDE_FN static void propose(Team& team, const R& run, i64 g, int i, const Draws<Team>& draws, const Context& context,
                              typename R::real* out) {
    using real = typename R::real;
    const auto& s = run.settings;
    const real w = real(s.w), c1 = real(s.c1), c2 = real(s.c2);
    const real *const x = run.vector(Vectors::trials, g - 1, i), *const v = run.vector(Vectors::velocity, g - 1, i);
    const real *const own = run.x(g - 1, i), *const best = run.x(g - 1, leader(team, run, g, i, context));
    const real *const lower = run.lower, *const upper = run.upper;
    real* const velocity = run.vector(Vectors::velocity, g, i);
    const auto next = [&](int j, int k) {
      const real r1 = unit<real>(draws.cognitive.at(j, k)), r2 = unit<real>(draws.social.at(j, k));
      return limited(run, j, w * v[j] + c1 * r1 * (own[j] - x[j]) + c2 * r2 * (best[j] - x[j]));
    };
    // The position is made in the same pass as the velocity. The lambda captures by value: a store could change a
    // number that is captured by reference, and the loop would not be vectorised.
    const auto leaves = [=](int j, real step) {
      const real moved = x[j] + step;
      out[j] = moved;
      return !((moved >= lower[j]) & (moved <= upper[j]));
    };
    if constexpr (Team::REPLACES) {
      const Stream stream = run.stream(g, i, REPAIR);
      team.template fill<true>(run.dim, velocity, next, leaves, [&](int j, real step, bool) {
        const u32 word = s.repair == Repair::RANDOM ? stream.here().component(j) : 0u;
        return repaired(run, j, x, step, out, word);
      });
    } else {
      if (SKDE_RARELY(team.fill(run.dim, velocity, next, leaves)))
        repair_particle(team, run, run.stream(g, i, REPAIR), x, velocity, out);
    }
  }

  template <class Team, class R>
  SKDE_FN static void select(Team& team, const R& run, i64 g, int i, const typename R::real* trial,
                             typename R::real f_trial, const Parent<typename R::real>& parent) {
    auto* const position = run.vector(Vectors::trials, g, i);
    if (trial != position) team.copy(run.dim, trial, position);
    select_better(team, run, g, i, parent, trial, f_trial);
  }

  // For the random topology.
  template <class Team, class R, class P> SKDE_FN static void adapt(Team& team, const R& run, i64 g, const P&, bool) {
    const double least = double(smallest(team, run.f(g), run.pop));
    if (team.lane != 0) return;
    double* const now = run.memory(g);
    const double* const before = run.memory(g - 1);
    now[LEAST] = least;
    now[DRAWN] = g > 0 && least < before[LEAST] ? before[DRAWN] : double(g);
  }

 private:
  template <class R> SKDE_FN static typename R::real limited(const R& run, int j, typename R::real v) {
    using real = typename R::real;
    if (run.settings.v_max <= 0) return v;
    const real most = real(run.settings.v_max) * (run.upper[j] - run.lower[j]);
    return max_of(min_of(v, most), -most);
  }

  // Repairs component j of a position that left the box. Returns its velocity, which is reflected with the position,
  // does not change where the box repeats, and else becomes 0.
  template <class R, class real>
  SKDE_FN static real repaired(const R& run, int j, const real* x, real velocity, real* out, u32 word) {
    const Repair rule = run.settings.repair;
    out[j] = repair(rule, out[j], x[j], run.lower[j], run.upper[j], word);
    return rule == Repair::REFLECT ? -velocity : rule == Repair::PERIODIC ? velocity : real(0);
  }
  template <class Team, class R, class real>
  SKDE_FN static void repair_particle(Team& team, const R& run, const Stream& stream, const real* x, real* velocity,
                                      real* out) {
    for (int j = team.lane; j < run.dim; j += team.size) {
      if (out[j] >= run.lower[j] && out[j] <= run.upper[j]) continue;
      const u32 word = run.settings.repair == Repair::RANDOM ? stream.component(j) : 0u;
      velocity[j] = repaired(run, j, x, velocity[j], out, word);
    }
  }

  // The particle with the personal best l_i.
  template <class Team, class R>
  SKDE_FN static int leader(Team& team, const R& run, i64 g, int i, const Context& context) {
    const auto* const f = run.f(g - 1);
    switch (run.settings.topology) {
      case Topology::RING: {
        int best = i;
        for (int step = 1; step <= run.settings.n_neighbors / 2; ++step) {
          const int left = (i + run.pop - step) % run.pop, right = (i + step) % run.pop;
          if (better(f, left, best)) best = left;
          if (better(f, right, best)) best = right;
        }
        return best;
      }
      case Topology::RANDOM: return informant(team, run, g, i);
      default: return context.best;
    }
  }

  // Every other particle informs i with probability `link` (Clerc's form of "everyone informs K others"). The graph
  // does not change until a generation has no better best.
  template <class Team, class R> SKDE_FN static int informant(Team& team, const R& run, i64 g, int i) {
    using real = typename R::real;
    const auto* const f = run.f(g - 1);
    const ComponentWords<Team, Stream, 2> words(team, run.stream(i64(run.memory(g - 1)[DRAWN]), i, TOPOLOGY), run.pop);
    const u32 threshold = u32(min_of(run.settings.link * 0x1p32, 0x1p32 - 1));
    const auto informs = [&](int k) { return (k == i) | (words.at(k, k / Team::size) < threshold); };
    const int best = team.least(run.pop, [&](int k) { return informs(k) ? f[k] : real(not_a_number()); });
    // Where all of them have NaN, the first one, as by better().
    return best >= 0 ? best : team.first(run.pop, [&](int k) { return informs(k) ? k : -1; });
  }
};

}  // namespace SKDE_NAMESPACE
