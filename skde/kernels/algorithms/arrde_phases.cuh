// The phases of ARRDE (arrde.cuh): its rules by phase, the points that are stored, and the end of a phase.
#pragma once
#include "algorithms/success_history.cuh"
#include "core/permutation.cuh"
#include "core/stopping.cuh"

namespace SKDE_NAMESPACE {

struct ArrdeRules : MeansRules {
  SKDE_PARAMETERS(pop_size, pop_min, max_evals, max_iter, repair, power, late_size, refine_from, p_best, archive_rate,
                  H, F_start, CR_start, tol_first, tol_restart, tol_refine);
  SKDE_ARRAYS(F, CR, gain, slot, value);

  struct Settings {
    const RegrowingReduction reduction;
    const double p_best, tol_first, tol_restart, tol_refine;
    const int first_row;  // of the archive, after the parents
    static constexpr bool weighted = true, lehmer_CR = true;
    static constexpr double rate = 0.5;

    SKDE_FN explicit Settings(const double* p)
        : reduction{
              {p[Parameters::pop_size], p[Parameters::pop_min], p[Parameters::max_evals], p[Parameters::max_iter]},
              p[Parameters::power],
              p[Parameters::late_size],
              p[Parameters::refine_from]},
          p_best(p[Parameters::p_best]),
          tol_first(p[Parameters::tol_first]),
          tol_restart(p[Parameters::tol_restart]),
          tol_refine(p[Parameters::tol_refine]),
          first_row(int(p[Parameters::archive_rate] * p[Parameters::pop_size])) {}
  };

  template <class R> SKDE_FN static typename R::real* point(const R& run, i64 g, int i) {
    return i > 0 ? run.x(g, i) : run.archive(run.settings.first_row + int(g & 1));
  }
  template <class R> SKDE_FN static typename R::real* values(const R& run, i64 g) {
    return run.array(Arrays::value, g);
  }

  // The numbers of a run, stored once, after the entries of the memory: its phase, the generation that restarts, the
  // restarts since the last refinement, and how many there were of records, new bests of the first phase, boxes, and
  // copies of the memory.
  SKDE_ENUM(Numbers, int, PHASE, RENEWED, RESTARTS, RECORDS, BESTS, BOXES, COPIES, NUMBERS);
  SKDE_ENUM(Phase, int, FIRST, RESTART, REFINEMENT);
  static constexpr int KEPT = 32;  // boxes, and copies of the memory
  template <class R> SKDE_FN static double* numbers(const R& run) {
    return run.memory(0) + SuccessHistory::ENTRIES + 2 * run.settings.H;
  }

  template <class R> SKDE_FN static double weight(const R&, double) { return 1; }

  // jSO's limits in the first phase, by the share of the budget before the last refinement.
  template <class R> SKDE_FN static bool limits(const R& run, double until) {
    return run.progress < until * run.settings.reduction.late_from && numbers(run)[PHASE] == FIRST;
  }
  template <class R, class Draws>
  SKDE_FN static double scale_factor(const R& run, i64 g, int i, int, double mean, double, const Draws& draws) {
    const double F = HistoryLayout::scale_factor(run, g, i, mean, 0.05, draws);
    return limits(run, 0.6) ? min_of(F, 0.7) : F;
  }
  template <class R, class Draws>
  SKDE_FN static double crossover_rate(const R& run, int, double mean, double, const Draws& draws) {
    const double CR = HistoryLayout::crossover_rate(mean, 0.05, draws);
    return limits(run, 0.5) ? max_of(CR, limits(run, 0.25) ? 0.7 : 0.6) : CR;
  }
  template <class R> SKDE_FN static int p_best(const R& run, int, const Words4& words, double) {
    return below(words.w[0], min_of(max_of(int(run.settings.p_best * run.pop + 0.5), 2), run.pop));
  }
};

struct ArrdePhases : SuccessHistoryDE<ArrdeRules> {
  using Base = SuccessHistoryDE<ArrdeRules>;
  using Rules = ArrdeRules;
  static constexpr int TRIES = 8;  // of a component of a random point

  template <class R> SKDE_FN static bool renews(const R& run, i64 g) {
    return Rules::numbers(run)[Rules::RENEWED] == double(g);
  }

  // The boxes, each a row of lower and one of upper bounds; the records; and the new bests of the first phase. Both
  // have their values in the memory, after the copies of its entries.
  template <class R> SKDE_FN static int most_records(const R& run) { return int(run.settings.reduction.first); }
  template <class R> SKDE_FN static int most_bests(const R& run) { return int(run.settings.reduction.late); }
  template <class R> SKDE_FN static typename R::real* box(const R& run, int k) {
    return run.archive(run.settings.first_row + 2 + 2 * k);
  }
  template <class R> SKDE_FN static typename R::real* stored(const R& run, int k) {
    return box(run, Rules::KEPT) + product(k, run.dim);
  }
  template <class R> SKDE_FN static double* copies(const R& run) { return Rules::numbers(run) + Rules::NUMBERS; }
  template <class R> SKDE_FN static double* stored_values(const R& run) {
    return copies(run) + Rules::KEPT * 2 * run.settings.H;
  }
  template <class Team, class R> SKDE_FN static void store(Team& team, const R& run, i64 g, int i, int k) {
    team.copy(run.dim, point(run, g, i), stored(run, k));
    if (team.lane == 0) stored_values(run)[k] = double(values(run, g)[i]);
  }

  // A random point. Components in a box of an earlier phase are drawn again a few times.
  template <class Team, class R>
  SKDE_OUTLINE static void draw_point(Team& team, const R& run, i64 g, int i, typename R::real* out) {
    using real = typename R::real;
    const int boxes = min_of(int(Rules::numbers(run)[Rules::BOXES]), Rules::KEPT);
    const Stream stream = run.stream(g, i, RENEWAL);
    team.each(run.dim, [&](int j) {
      const real lower = run.lower[j], upper = run.upper[j];
      bool inside = true;
      for (int k = 0; inside && k < TRIES; ++k) {
        out[j] = min_of(lower + (upper - lower) * unit<real>(stream.component(k * run.dim + j)), upper);
        inside = false;
        for (int b = 0; b < boxes; ++b) inside |= (out[j] >= box(run, b)[j]) & (out[j] <= box(run, b)[run.dim + j]);
      }
    });
  }

  // -- phases --------------------------------------------------------------------------------------------------------

  template <class R> SKDE_FN static void start(const R& run) {
    double* const now = Rules::numbers(run);
    for (int k = 0; k < Rules::NUMBERS; ++k) now[k] = 0;
    now[Rules::RENEWED] = -1, now[Rules::RESTARTS] = 1;
  }

  // In addition: the best value of the run so far, in the first phase that of the last generation, and the number of
  // new bests.
  template <class Team> struct Prefetch : Base::Prefetch<Team> {
    typename Team::real best = 0, last_best = -typename Team::real(infinity());
    int bests = 0;

    template <class R>
    SKDE_FN Prefetch(Team& team, const R& run, i64 g, int i, bool adapts)
        : Base::Prefetch<Team>(team, run, g, i, adapts) {
      if (g == 0) return;
      const double* const now = Rules::numbers(run);
      best = run.f(g - 1)[0], bests = int(now[Rules::BESTS]);
      const auto last = values(run, g - 1)[run.order(g - 1)[0]];
      if (now[Rules::PHASE] == Rules::FIRST) last_best = last;
    }
  };

  // Keeps individual i, the best of generation g, where it is a new best of the run, or of the first phase.
  template <class Team, class R>
  SKDE_FN static void keep_best(Team& team, const R& run, i64 g, int i, const Prefetch<Team>& prefetch) {
    if (g == 0) return;  // generation 0 is as it was drawn
    const auto f = values(run, g)[i];
    const int bests = prefetch.bests;
    const bool leads = precedes(f, prefetch.best, false), improves = precedes(f, prefetch.last_best, false);
    team.sync();
    if (leads) team.copy(run.dim, point(run, g, i), run.x(g, 0));
    if (improves) store(team, run, g, i, most_records(run) + bests % most_bests(run));
    if (team.lane != 0) return;
    if (leads) run.f(g)[0] = f;
    if (improves) Rules::numbers(run)[Rules::BESTS] = bests + 1;
  }

  // The rest of the adaptation, where it was the turn of an entry of the memory: the last one keeps 0.9 from its first
  // turn on.
  template <class Team, class R> SKDE_FN static void keep_last_entry(Team& team, const R& run, i64 g, double entry) {
    const int H = run.settings.H;
    if (g > 0 && entry != H - 1) return;
    team.sync();
    if (team.lane != 0) return;
    if (g == 0) return start(run);
    if (run.memory(g)[NEXT_ENTRY] == 0) Means::M_F(run)[H - 1] = Means::M_CR(run)[H - 1] = 0.9;
  }

  // Whether the phase ends after generation g: the population grows, or it has converged.
  template <class Team, class R> SKDE_FN static bool is_over(Team& team, const R& run, i64 g, int next_pop) {
    return g > 0 && (next_pop > run.pop || converges(team, run, g, next_pop));
  }

  template <class Team, class R> SKDE_FN static bool converges(Team& team, const R& run, i64 g, int next_pop) {
    using real = typename R::real;
    const auto& s = run.settings;
    const int phase = int(Rules::numbers(run)[Rules::PHASE]);
    const bool late = run.progress > s.reduction.late_from;
    const double tol = phase == Rules::FIRST     ? s.tol_first
                       : phase == Rules::RESTART ? s.tol_restart
                       : late                    ? 0.0
                                                 : s.tol_refine;
    const int n = min_of(next_pop, run.pop);
    const i64* const order = run.order(g);
    const real* const f = values(run, g);
    // The deviation is at least the range by sqrt(2 n), so that two values are nearly always enough.
    const double best = double(f[order[0]]), worst = double(f[order[n - 1]]);
    if (SKDE_RARELY(!(best < infinity()))) return true;  // all values are infinite or NaN, and equal
    const double most = 2 * sqrt(double(n)) * tol;
    if (worst - best > most * max_of(abs_of(best), abs_of(worst))) return false;
    return are_close<real>(team, n, [&](int k) { return f[order[k]]; }, Closeness{tol, 0});
  }

  // Ends a phase that is over and begins the next, by one team, because it is rare.
  template <class Team, class R> SKDE_OUTLINE static void end_phase(Team& team, const R& run, i64 g) {
    using real = typename R::real;
    const auto& s = run.settings;
    const int next_pop = run.next_pop(g), n = min_of(next_pop, run.pop);
    const bool grows = next_pop > run.pop, converged = !grows || converges(team, run, g, next_pop);
    double *const now = Rules::numbers(run), *const M = Means::M_F(run), *const values_stored = stored_values(run);
    const int phase = int(now[Rules::PHASE]), H = s.H, copy = int(now[Rules::COPIES]), row = int(now[Rules::BOXES]);
    const int restarts = int(now[Rules::RESTARTS]);
    const i64* const order = run.order(g);
    const double best = double(values(run, g)[order[0]]), t = s.reduction.progress(run.evals + run.pop, g + 1);
    int records = int(now[Rules::RECORDS]);
    const int known = min_of(records, most_records(run));
    const real before = -team.max(known, [&](int k) { return real(-values_stored[k]); });
    team.sync();

    if (phase != Rules::RESTART) team.each(2 * H, [&](int k) { copies(run)[copy % Rules::KEPT * 2 * H + k] = M[k]; });
    if (phase == Rules::FIRST || converged)
      for (int k = 0; k < n; ++k, ++records) {
        // A sample of all records, where there is no room for all.
        const int most = most_records(run);
        const int place = records < most ? records : below(run.stream(g, k, COMBINATION).block(0).w[0], records + 1);
        if (place < most) store(team, run, g, int(order[k]), place);
      }
    real* const lower = box(run, row % Rules::KEPT);
    team.each(run.dim, [&](int j) {
      real sum = 0, squares = 0;
      for (int k = 0; k < n; ++k) sum += point(run, g, int(order[k]))[j];
      const real mean = sum / real(n);
      for (int k = 0; k < n; ++k) {
        const real away = point(run, g, int(order[k]))[j] - mean;
        squares += away * away;
      }
      const real deviation = sqrt(squares / real(n));
      lower[j] = max_of(run.lower[j], mean - deviation);
      lower[run.dim + j] = min_of(run.upper[j], mean + deviation);
    });
    team.sync();

    const bool failed = !precedes(best, double(before), false) && restarts < int(1 + 4 * t + 0.5);
    const bool renews = !grows && (phase != Rules::RESTART || failed);
    if (team.lane == 0) {
      now[Rules::RECORDS] = min_of(records, 1 << 30), now[Rules::BOXES] = row + 1;
      now[Rules::COPIES] = copy + (phase != Rules::RESTART);
      now[Rules::PHASE] = renews ? Rules::RESTART : Rules::REFINEMENT;
      now[Rules::RESTARTS] = renews ? restarts + 1 : 0;
      if (renews) now[Rules::RENEWED] = double(g + 1);
      run.memory(g)[NEXT_ENTRY] = run.memory(g)[ARCHIVED] = 0;
    }
    if (renews) return Means::start(team, run);
    team.sync();
    refine(team, run, g, grows);
  }

  // The population of a refinement: records drawn without replacement, then the last new bests of the first phase,
  // then some of all these again. The entries of the memory are drawn from its copies.
  template <class Team, class R> SKDE_FN static void refine(Team& team, const R& run, i64 g, bool with_best) {
    const double *const now = Rules::numbers(run), *const f = stored_values(run), *const kept = copies(run);
    const int n = run.next_pop(g), H = run.settings.H, most = most_records(run);
    const int records = min_of(int(now[Rules::RECORDS]), most), all_bests = int(now[Rules::BESTS]);
    const int bests = min_of(all_bests, most_bests(run)), known = records + bests;
    const Permutation drawn(run.stream(g, 0, STRATEGY), records);
    const int best_record = best_of(team, f, records);
    const auto source = [&](int k) {
      if (k >= known) k = below(run.stream(g, k, COMBINATION).block(1).w[0], known);
      return k < records ? drawn.of(k) : most + (all_bests - 1 - (k - records)) % most_bests(run);
    };
    for (int k = 0; k < n; ++k) {
      const int from = k == 0 && with_best ? best_record : source(k);
      team.copy(run.dim, stored(run, from), point(run, g, k));
      if (team.lane != 0) continue;
      values(run, g)[k] = typename R::real(f[from]);
      if (k > 0) run.f(g)[k] = typename R::real(f[from]);
    }
    double* const M = Means::M_F(run);
    const int entries = min_of(int(now[Rules::COPIES]), Rules::KEPT) * H;
    team.each(2 * H, [&](int k) {
      const int entry = below(run.stream(g, k, STRATEGY).block(2).w[0], entries);
      M[k] = kept[entry / H * 2 * H + entry % H + (k < H ? 0 : H)];
    });
    team.each(run.pop - n, [&](int k) { run.order(g)[n + k] = n + k; });  // rows without a member
    team.sync();
    sort(team, run, g, n);
  }

  // The order of the first n members, by one team.
  template <class Team, class R> SKDE_FN static void sort(Team& team, const R& run, i64 g, int n) {
    const auto* const f = values(run, g);
    const auto value = [&](int k) { return f[k]; };
    if (is_large(n)) return sort_alone(team, n, value, run.order(g), run.sorting(), run.samples(n));
    for (int i = 0; i < n; ++i) {
      const int place = rank_of(team, f, n, i);
      if (team.lane == 0) run.order(g)[place] = i;
    }
  }
};

}  // namespace SKDE_NAMESPACE
