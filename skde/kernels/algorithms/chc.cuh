// CHC with real numbers (Eshelman: The CHC adaptive search algorithm; FOGA 1, 1991. Eshelman, Schaffer: Real-coded
// genetic algorithms and interval-schemata; FOGA 2, 1993): cross-generational elitist selection, heterogeneous
// recombination and cataclysmic mutation.
//
//   mates       a random pair that differs in more than 2 d bits of the Gray codes of its components
//   crossover   BLX-alpha: uniform in the interval of the parents' components, made longer by alpha of it at both ends
//   selection   the best of parents and children
//   threshold   d falls by one after a generation in which no child survives, from a quarter of all bits
//   cataclysm   when d is below 0: mutated copies of the best, and d as at the start
#pragma once
#include "core/gray.cuh"
#include "core/run.cuh"
#include "random/draws.cuh"

namespace SKDE_NAMESPACE {

struct Chc : BaseAlgorithm {
  SKDE_PARAMETERS(pop_size, alpha, bits, divergence);
  // Of a child: whether its parents differ enough; always after a cataclysm.
  SKDE_ARRAYS(allowed);
  // The children. The population has the survivors.
  SKDE_VECTORS(trials);
  // By the rank of a survivor: its row among the parents, or -1 - its row among the children; and its value.
  SKDE_SCRATCH(source, value);
  // Of a run, for each generation: d, and whether the next generation is a cataclysm.
  SKDE_ENUM(Memory, int, THRESHOLD, CATACLYSM, NUMBERS);
  static constexpr int ATTEMPTS = 4;  // pairs that are drawn for a child

  struct Settings {
    const double alpha, divergence;
    const int bits;

    SKDE_FN explicit Settings(const double* p)
        : alpha(p[Parameters::alpha]), divergence(p[Parameters::divergence]), bits(int(p[Parameters::bits])) {}
  };

  template <class Team> struct Draws {
    ComponentWords<Team, Stream> words;

    template <class R>
    SKDE_FN Draws(Team& team, const R& run, i64 g, int i) : words(team, run.stream(g, i, COMBINATION), run.dim) {}
  };

  template <class Team, class R>
  SKDE_FN static void initialize(Team& team, const R& run, int i, const typename R::real*) {
    if (team.lane != 0 || i > 0) return;
    run.memory(0)[THRESHOLD] = first_threshold(run), run.memory(0)[CATACLYSM] = 0;
  }

  template <class Team, class R>
  SKDE_FN static void propose(Team& team, const R& run, i64 g, int i, const Draws<Team>& draws, const Context&,
                              typename R::real* out) {
    const double* const memory = run.memory(g - 1);
    const bool mutates = memory[CATACLYSM] > 0;
    const bool far =
        mutates ? mutate(team, run, g, i, draws, out) : mate(team, run, g, i, draws, memory[THRESHOLD], out);
    if (team.lane == 0) run.array(Arrays::allowed, g)[i] = typename R::real(far);
  }

  // Until the children are ranked, run.f(g) has their values.
  template <class Team, class R>
  SKDE_FN static void select(Team& team, const R& run, i64 g, int i, const typename R::real* trial,
                             typename R::real f_trial, const Parent<typename R::real>&) {
    team.copy(run.dim, trial, run.vector(Vectors::trials, g, i));
    if (team.lane == 0) run.f(g)[i] = f_trial;
  }

  // The order of the children, if they are few; the places of all candidates; the survivors.
  template <class R> SKDE_FN static int stages(const R& run, i64 g) { return (!is_large(run.pop)) + (g > 0 ? 2 : 0); }

  template <class Team, class R, class P>
  SKDE_FN static void end_generation(Team& team, const R& run, i64 g, int i, int stage, const P&) {
    stage -= !is_large(run.pop);
    if (stage < 0) return rank(team, run, g, i);
    if (stage == 0) return place(team, run, g, i);
    survive(team, run, g, i);
    if (i == 0) update_threshold(team, run, g);
  }

 private:
  template <class R> SKDE_FN static double first_threshold(const R& run) {
    return double(i64(run.dim) * run.settings.bits / 4);
  }

  // -- children ------------------------------------------------------------------------------------------------------

  // BLX-alpha of the first pair that differs enough, else of the last pair. Returns whether the pair differs enough.
  template <class Team, class R>
  SKDE_FN static bool mate(Team& team, const R& run, i64 g, int i, const Draws<Team>& draws, double threshold,
                           typename R::real* out) {
    using real = typename R::real;
    const Stream stream = run.stream(g, i, INDICES);
    const real *x = nullptr, *y = nullptr;
    bool far = false;
    for (int attempt = 0; attempt < ATTEMPTS && !far; ++attempt) {
      const Words4 words = stream.block(u32(attempt));
      const int a = below(words.w[0], run.pop), b = below(words.w[1], run.pop - 1);
      x = run.x(g - 1, a), y = run.x(g - 1, b + (b >= a));
      far = double(distance(team, run, x, y)) > 2 * threshold;
    }
    const real alpha = real(run.settings.alpha);
    const real *const lower = run.lower, *const upper = run.upper;
    team.map(run.dim, out, [=, &draws](int j, int k) {
      const real low = min_of(x[j], y[j]), high = max_of(x[j], y[j]), more = alpha * (high - low);
      const real from = max_of(low - more, lower[j]), to = min_of(high + more, upper[j]);
      return min_of(from + (to - from) * unit<real>(draws.words.at(j, k)), to);
    });
    return far;
  }

  // The bits in which the Gray codes of two points differ.
  template <class Team, class R, class real>
  SKDE_FN static int distance(Team& team, const R& run, const real* x, const real* y) {
    const real *const lower = run.lower, *const upper = run.upper;
    const real most = real((1 << run.settings.bits) - 1);
    return team.count(run.dim, [=](int j) {
      const real width = upper[j] - lower[j];
      return different_bits(gray_code((x[j] - lower[j]) / width, most), gray_code((y[j] - lower[j]) / width, most));
    });
  }

  // The best, of which some components are drawn from the box.
  template <class Team, class R>
  SKDE_FN static bool mutate(Team& team, const R& run, i64 g, int i, const Draws<Team>& draws, typename R::real* out) {
    using real = typename R::real;
    const real* const best = run.x(g - 1, int(run.order(g - 1)[0]));
    const Stream stream = run.stream(g, i, RENEWAL);
    const real share = real(run.settings.divergence);
    team.map(run.dim, out, [&](int j, int k) {
      const real drawn = uniform_component(run, stream, j);
      return unit<real>(draws.words.at(j, k)) < share ? drawn : best[j];
    });
    return true;
  }

  // -- selection -----------------------------------------------------------------------------------------------------

  // The places of the k-th best parent and of the k-th best child among all candidates; of equals, children come first.
  // After a cataclysm only the best parent is a candidate.
  template <class Team, class R> SKDE_FN static void place(Team& team, const R& run, i64 g, int k) {
    const auto *const parents = run.f(g - 1), *const children = run.f(g);
    const i64 *const parent_order = run.order(g - 1), *const child_order = run.order(g);
    const int old = run.memory(g - 1)[CATACLYSM] > 0 ? 1 : run.pop;
    const int parent = int(parent_order[k]), child = int(child_order[k]);
    if (team.lane != 0) return;
    const auto put = [&](int place, int source, typename R::real value) {
      if (place >= run.pop) return;
      run.scratch(Scratch::source)[place] = typename R::real(source);
      run.scratch(Scratch::value)[place] = value;
    };
    const auto parent_at = [&](int p) { return parents[parent_order[p]]; };
    const auto child_at = [&](int p) { return children[child_order[p]]; };
    if (k < old) put(k + bisect(0, run.pop, child_at, parents[parent], true), parent, parents[parent]);
    put(k + bisect(0, old, parent_at, children[child], false), -1 - child, children[child]);
  }

  template <class Team, class R> SKDE_FN static void survive(Team& team, const R& run, i64 g, int k) {
    const int source = int(run.scratch(Scratch::source)[k]);
    team.copy(run.dim, source < 0 ? run.vector(Vectors::trials, g, -1 - source) : run.x(g - 1, source), run.x(g, k));
    if (team.lane == 0) run.f(g)[k] = run.scratch(Scratch::value)[k], run.order(g)[k] = k;
  }

  template <class Team, class R> SKDE_FN static void update_threshold(Team& team, const R& run, i64 g) {
    const auto *const source = run.scratch(Scratch::source), *const allowed = run.array(Arrays::allowed, g);
    const int entered = team.count(run.pop, [=](int k) { return source[k] < 0 && allowed[-1 - int(source[k])] > 0; });
    if (team.lane != 0) return;
    const double threshold = run.memory(g - 1)[THRESHOLD] - (entered == 0);
    run.memory(g)[THRESHOLD] = threshold < 0 ? first_threshold(run) : threshold;
    run.memory(g)[CATACLYSM] = threshold < 0;
  }
};

}  // namespace SKDE_NAMESPACE
