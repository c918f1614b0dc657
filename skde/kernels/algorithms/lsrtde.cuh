// L-SRTDE, success rate-based adaptive differential evolution (Stanovov, Semenkin; CEC 2024).
//
// Two populations of one size: `top`, the best points found (x and f), and `front`, where successful trials replace the
// members in turn. With the success rate s of the last generation,
//
//   mutation   v = n_c + F (t_pbest - n_c) + F (n_r1 - t_r2)    n: front, t: top; c uniform, r1 by rank with exp(-3 k / N)
//   control    F ~ N(0.4 + 0.25 tanh(5 s), 0.02) in [0, 1]; pbest among max(2, 0.7 N exp(-7 s)); CR ~ N(M_CR, 0.05)
//   success    f(u) <= f(n_c), of the front as the trials before have left it
#pragma once
#include "core/run.cuh"
#include "core/variation.cuh"
#include "random/distributions.cuh"
#include "random/draws.cuh"

namespace SKDE_NAMESPACE {

struct Lsrtde : BaseAlgorithm {
  SKDE_PARAMETERS(pop_size, pop_min, max_evals, max_iter, repair, H, CR_start);
  // Of the front: its values. Of a trial: its value, the share of components that it crossed, its gain, its slot in the front
  // (-1: no success), its rank in the new front; rank_front: that of the old member of slot i (-1: replaced). won: the values
  // of the successful trials in their turn. top: the rows of x in the order of their values.
  SKDE_ARRAYS(value, f_trial, crossed, gain, slot, rank_trial, rank_front, won, top);
  // Of a trial: the slot of its rival c, the rival's value, whether it succeeds, and the number of successes before it. Of the
  // front: the values of the members that are not replaced (NaN: replaced). Of the top: its values in their order.
  // Of a large population, too: the values won and those of the front's survivors in their order, and the places of turns and
  // slots in it; whether the member of a slot leaves the front, and how many leave before it; numbers of its pieces, and
  // partial sums.
  SKDE_SCRATCH(chosen, rival, succeeds, turn, survivors, sorted, won_sorted, won_place, front_sorted, front_place,
               leaves, leaves_before, by_piece, partials);
  SKDE_VECTORS(front, trials);
  // Of a run, for each generation: H values M_CR, and then
  SKDE_ENUM(Numbers, int, NEXT_ENTRY, SUCCESS_RATE, NEXT_SLOT, SUCCESSES, LEAST, NEXT_POP);
  template <class R> SKDE_FN static double* M_CR(const R& run, i64 g) { return run.memory(g); }
  template <class R> SKDE_FN static double* numbers(const R& run, i64 g) { return run.memory(g) + run.settings.H; }

  struct Settings {
    const PopulationReduction reduction;
    const Repair repair;
    const int H;
    const double CR_start;

    SKDE_FN explicit Settings(const double* p)
        : reduction{p[Parameters::pop_size], p[Parameters::pop_min], p[Parameters::max_evals], p[Parameters::max_iter]},
          repair(Repair(SKDE_REPAIR)),
          H(int(p[Parameters::H])),
          CR_start(p[Parameters::CR_start]) {}
  };

  struct Context {
    double mean_F;
    int best;  // from how many of the best pbest is drawn
  };

  template <class Team, class R> SKDE_FN static Context context(Team&, const R& run, i64 g) {
    const double s = numbers(run, g - 1)[SUCCESS_RATE];
    return {0.4 + 0.25 * tanh(5 * s), max_of(int(run.pop * 0.7 * exp(-7 * s)), 2)};
  }

  struct Layout {
    enum : int { CONTROLS, INDEX, MEMBER, BLOCKS };
    enum : int { NORMAL_F, NORMAL_CR, FALLING, NUMBERS };
    static constexpr int RETRIES = 0;
    SKDE_FN static Purpose purpose(int block) { return block == CONTROLS ? CONTROL : INDICES; }
    SKDE_FN static u32 slot(int block) { return block == MEMBER; }
    SKDE_FN static double retry(u64 seed, i64 g, int i, u32 k) {  // of F
      return normal(Stream(seed, g, i, CONTROL).block(1 + k).w[0]);
    }
    template <int k, class Words> SKDE_FN static double number(Words words) {
      return k == FALLING ? falling(words(MEMBER, 0)) : normal(words(CONTROLS, k == NORMAL_F ? 0 : 2));
    }
  };

  template <class Team> struct Draws {
    IndividualDraws<Layout> individual;
    ComponentWords<Team, Stream> words;

    template <class R>
    SKDE_FN Draws(Team& team, const R& run, i64 g, int i)
        : individual(team, run.seed, g, i), words(team, run.stream(g, i, CROSSOVER), run.dim) {
      if (SKDE_RARELY(is_large(run.pop) && g > 0))
        individual.each_new(team, run.pop, [&](int k, auto words) {
          const Words4 indices = words(Layout::INDEX);
          const int chosen = below(indices.w[0], run.pop);
          team.fetch(run.dim, run.vector(Vectors::front, g - 1, chosen));
          team.fetch(run.dim, top(run, g, below(indices.w[3], run.pop - 2)));
          team.fetch(run.dim, run.vector(Vectors::trials, g, k));
        });
    }
  };

  template <class Team, class R>
  SKDE_FN static void propose(Team& team, const R& run, i64 g, int i, const Draws<Team>& draws, const Context& context,
                              typename R::real* out) {
    using real = typename R::real;
    const Words4 &control = draws.individual.block[Layout::CONTROLS], &indices = draws.individual.block[Layout::INDEX];
    const double* const drawn = draws.individual.number;
    const int chosen = below(indices.w[0], run.pop);
    int best = below(indices.w[1], context.best - (chosen < context.best));
    best += chosen <= best;
    const int r1 = by_rank(run, g, i, best, drawn[Layout::FALLING]);
    int r2 = below(indices.w[3], run.pop - 2);
    r2 += r2 >= min_of(best, r1);
    r2 += r2 >= max_of(best, r1);

    const double F = draws.individual.first_accepted(
        Layout::NORMAL_F, run.seed, g, i, [&](double normal) { return context.mean_F + 0.02 * normal; },
        [](double F) { return F < 0 || F > 1; });
    const double mean_CR = M_CR(run, g - 1)[below(control.w[1], run.settings.H)];
    const double CR = max_of(min_of(mean_CR + 0.05 * drawn[Layout::NORMAL_CR], 1.0), 0.0);

    const real* const x = run.vector(Vectors::front, g - 1, chosen);
    const Mutant<real> v{x,      top(run, g, best), x, run.vector(Vectors::front, g - 1, r1), top(run, g, r2), real(F),
                         real(F)};
    const int j_rand = below(control.w[3], run.dim);
    cross_binomial(team, run, g, i, v, x, out, draws.words, CR, j_rand);
    const Binomial binomial(CR);
    const int crossed =
        team.count(run.dim, [&](int j) { return binomial.takes(draws.words.at(j, j / Team::size)) | (j == j_rand); });
    if (team.lane != 0) return;
    run.array(Arrays::crossed, g)[i] = real(crossed) / real(run.dim);
    run.scratch(Scratch::chosen)[i] = real(chosen);
  }

  template <class Team, class R>
  SKDE_FN static void select(Team& team, const R& run, i64 g, int i, const typename R::real* trial,
                             typename R::real f_trial, const Parent<typename R::real>&) {
    team.copy(run.dim, trial, run.vector(Vectors::trials, g, i));
    if (team.lane == 0) run.array(Arrays::f_trial, g)[i] = f_trial;
  }

  // Stage 0: the successes, by one team; stage 1: the new top, and the ranks in the new front; stage 2: the new front, in the
  // old order, without its worst.
  template <class R> SKDE_FN static int stages(const R&, i64 g) { return g == 0 ? 1 : 3; }
  template <class Team, class R, class P>
  SKDE_FN static void end_generation(Team& team, const R& run, i64 g, int i, int stage, const P&) {
    if (g == 0) restore(team, run, g, i, true);
    if (stage == 1) rank_all(team, run, g, i);
    if (stage == 2) make_front(team, run, g, i);
  }

  template <class Team, class R, class P> SKDE_FN static void adapt(Team& team, const R& run, i64 g, const P&, bool) {
    using real = typename R::real;
    const int H = run.settings.H;
    double *const M = M_CR(run, g), *const now = numbers(run, g);
    if (g == 0) {
      if (team.lane != 0) return;
      for (int k = 0; k < H; ++k) M[k] = run.settings.CR_start;
      now[NEXT_ENTRY] = 0, now[SUCCESS_RATE] = 0.5, now[NEXT_SLOT] = 0, now[SUCCESSES] = 0;
      return;
    }
    const int successes = compete(team, run, g);
    const real least = smallest(team, run.array(Arrays::won, g), successes);  // of the trials that succeeded
    const auto sums = weighted_sums<real, WEIGHT>([&](real scale) {
      return with_terms(run, g, scale,
                        [&](auto at, auto terms) { return team.template sums<SUMS>(run.pop, at, terms); });
    });
    if (team.lane == 0) learn(run, g, successes, least, sums);
  }

  // A large population has these stages, and those of sorting between them.
  static constexpr bool DIVIDES = true;
  static constexpr int PIECE = 512;
  enum LargeStage : int { SUPPOSE, COMPETE, RECORD, SORT };
  enum SortedStage : int { PLACES, FRONT_PLACES, RANKS, LEAVING, LEAVING_PLACES, FRONT, SORTED_STAGES };
  template <class R, class Share> SKDE_FN static int large_stages(const R& run, const Share& share, i64 g) {
    const int sorting = sort_stages(share, run.pop);
    return g == 0 ? sorting + 1 : SORT + sorting + SORTED_STAGES;
  }
  template <class Team, class R, class Share>
  SKDE_OUTLINE static void end_large_generation(Team& team, const R& run, const Share& share, i64 g, int stage) {
    const int sorting = stage - (g == 0 ? 0 : SORT), sorted = sorting - sort_stages(share, run.pop);
    if (g == 0 && stage == 0 && share.adapts(run.pop)) adapt(team, run, g, 0, true);
    if (sorting < 0)
      compete_in_stages(team, run, share, g, stage);
    else if (sorted < 0)
      sort_values(team, run, share, g, sorting);
    else if (g > 0)
      place_in_stages(team, run, share, g, sorted);
    else
      share.each_item(run.pop, [&](int k) { place_member(team, run, g, int(run.sorting()[k]), k, true); });
  }

  // The order of the top; where all values are new, the front becomes the top in its order.
  template <class Team, class R> SKDE_FN static void restore(Team& team, const R& run, i64 g, int i, bool all_values) {
    const auto* const f = run.f(g);
    if (!is_large(run.pop)) return place_member(team, run, g, i, rank_of(team, f, run.pop, i), all_values);
    if (i > 0) return;
    i64* const order = run.sorting();
    sort_alone(team, run.pop, [&](int k) { return f[k]; }, order, order + run.pop, run.samples(run.pop));
    for (int k = 0; k < run.pop; ++k) place_member(team, run, g, int(order[k]), k, all_values);
  }
  template <class Team, class R>
  SKDE_FN static void place_member(Team& team, const R& run, i64 g, int i, int place, bool all_values) {
    if (team.lane == 0) run.array(Arrays::top, g)[place] = typename R::real(i);
    if (!all_values) return;
    team.copy(run.dim, run.x(g, i), run.vector(Vectors::front, g, place));
    if (team.lane == 0) run.array(Arrays::value, g)[place] = run.f(g)[i], run.order(g)[place] = place;
  }

 private:
  // The trials of a generation in turn: each competes with the member that is in slot c of the front by then; where it
  // succeeds, its own slot is the next one. A round decides all of them from the successes of the round before, until a round
  // changes nothing: the first k are right after k rounds, and nearly always all after two or three. Returns the successes.
  template <class Team, class R> SKDE_FN static int compete(Team& team, const R& run, i64 g) {
    suppose(team, run, g, 0, run.pop);
    const int successes = compete_on(team, run, g);
    team.each(run.pop - successes,
              [&](int k) { run.array(Arrays::won, g)[successes + k] = 0; });  // nothing old is saved
    record(team, run, g, 0, run.pop, successes);
    team.sync();
    return successes;
  }
  // In a large population it decides few trials at a time: with their number the rounds grow.
  template <class Team, class R> SKDE_FN static int compete_on(Team& team, const R& run, i64 g) {
    const auto *const f = run.array(Arrays::f_trial, g), *const succeeds = run.scratch(Scratch::succeeds);
    auto *const turn = run.scratch(Scratch::turn), *const won = run.array(Arrays::won, g);
    const int some = is_large(run.pop) ? PARTIALS : run.pop;
    int successes = 0;
    for (int begin = 0; begin < run.pop; begin += some) {
      const int n = min_of(some, run.pop - begin);
      int more;
      do {
        team.sync();
        more = team.pack(
            n, [&](int i) { return succeeds[begin + i] > 0; }, [&](int i) { return f[begin + i]; }, turn + begin, won,
            successes);
        team.sync();
      } while (decide(team, run, g, begin, n));
      successes += more;
    }
    return successes;
  }

  // The steps for the n trials from number `begin` on: each competes with the old member; with the one that is there by the
  // successes of the last round, and the number of those with another result; and what follows from the last round.
  template <class real> SKDE_FN static real wins(real trial, real other) {
    return real(replaces(trial, other) & !is_nan(trial));
  }
  template <class Team, class R> SKDE_FN static void suppose(Team& team, const R& run, i64 g, int begin, int n) {
    using real = typename R::real;
    const real *const front = run.array(Arrays::value, g - 1), *const f = run.array(Arrays::f_trial, g) + begin;
    const real* const chosen = run.scratch(Scratch::chosen) + begin;
    team.map(n, run.scratch(Scratch::succeeds) + begin, [&](int i, int) { return wins(f[i], front[int(chosen[i])]); });
  }
  template <class Team, class R> SKDE_FN static int decide(Team& team, const R& run, i64 g, int begin, int n) {
    using real = typename R::real;
    const int pop = run.pop, next = int(numbers(run, g - 1)[NEXT_SLOT]);
    const real *const front = run.array(Arrays::value, g - 1), *const f = run.array(Arrays::f_trial, g) + begin;
    const real *const chosen = run.scratch(Scratch::chosen) + begin, *const turn = run.scratch(Scratch::turn) + begin;
    const real* const won = run.array(Arrays::won, g);
    real *const rival = run.scratch(Scratch::rival) + begin, *const succeeds = run.scratch(Scratch::succeeds) + begin;
    team.map(n, rival, [&](int i, int) {
      const int slot = int(chosen[i]), replaced = turn_of(slot, next, pop);
      const real trial = won[replaced], member = front[slot];  // no branch between the loads, so that they vectorise
      return real(replaced) < turn[i] ? trial : member;
    });
    const int changed = team.count(n, [&](int i) { return wins(f[i], rival[i]) != succeeds[i]; });
    team.map(n, succeeds, [&](int i, int) { return wins(f[i], rival[i]); });
    return changed;
  }
  template <class Team, class R>
  SKDE_FN static void record(Team& team, const R& run, i64 g, int begin, int n, int successes) {
    using real = typename R::real;
    const int pop = run.pop, next = int(numbers(run, g - 1)[NEXT_SLOT]);
    const real *const front = run.array(Arrays::value, g - 1), *const f = run.array(Arrays::f_trial, g) + begin;
    const real *const f_top = run.f(g - 1), *const turn = run.scratch(Scratch::turn) + begin;
    const real *const rival = run.scratch(Scratch::rival) + begin, *const succeeds =
                                                                       run.scratch(Scratch::succeeds) + begin;
    const real none = real(infinity()) - real(infinity());
    team.map(n, run.array(Arrays::slot, g) + begin, [&](int i, int) {
      const real slot = real(next) + turn[i];
      return succeeds[i] > 0 ? slot - (slot < real(pop) ? real(0) : real(pop)) : real(-1);
    });
    team.map(n, run.array(Arrays::gain, g) + begin,
             [&](int i, int) { return succeeds[i] * improvement(f[i], rival[i]); });
    team.map(n, run.scratch(Scratch::sorted) + begin, [&](int k, int) { return f_top[row_of(run, g, begin + k)]; });
    team.map(n, run.scratch(Scratch::survivors) + begin,
             [&](int i, int) { return turn_of(begin + i, next, pop) < successes ? none : front[begin + i]; });
  }

  // The pieces of a large population, and how many are counted in each.
  template <class R, class Share, class Body>
  SKDE_FN static void each_piece(const R& run, const Share& share, Body body) {
    share.each_item(pieces(run), [&](int k) { body(k, k * PIECE, min_of(PIECE, run.pop - k * PIECE)); });
  }
  template <class R> SKDE_FN static int pieces(const R& run) { return (run.pop + PIECE - 1) / PIECE; }
  template <class R> SKDE_FN static typename R::real* counts(const R& run) { return run.scratch(Scratch::by_piece); }
  // The numbers of the first k pieces, added up.
  template <class Team, class real> SKDE_FN static int before(Team& team, const real* numbers, int k) {
    return int(team.sum(k, [=](int piece) { return numbers[piece]; }));
  }

  // compete(), with one team for the part where a trial depends on those before.
  template <class Team, class R, class Share>
  SKDE_OUTLINE static void compete_in_stages(Team& team, const R& run, const Share& share, i64 g, int stage) {
    if (stage == SUPPOSE) each_piece(run, share, [&](int, int begin, int n) { suppose(team, run, g, begin, n); });
    if (stage == COMPETE && share.adapts(run.pop)) {
      const int successes = compete_on(team, run, g);
      if (team.lane == 0) numbers(run, g)[SUCCESSES] = successes;
    }
    if (stage == RECORD) {
      const int successes = int(numbers(run, g)[SUCCESSES]);
      auto* const won = run.array(Arrays::won, g);
      each_piece(run, share, [&](int, int begin, int n) {
        record(team, run, g, begin, n, successes);
        team.each(n, [&](int k) {
          if (begin + k >= successes) won[begin + k] = 0;
        });
      });
    }
  }

  // The orders of the values won, and of those of the old front; of a first population, that of its values.
  template <class R> SKDE_FN static i64* won_order(const R& run) { return run.sorting(); }
  template <class R> SKDE_FN static i64* front_order(const R& run) { return run.sorting() + 2 * run.pop; }
  template <class Team, class R, class Share>
  SKDE_OUTLINE static void sort_values(Team& team, const R& run, const Share& share, i64 g, int stage) {
    const int n = g == 0 ? run.pop : int(numbers(run, g)[SUCCESSES]);
    const auto* const first = g == 0 ? run.f(0) : run.array(Arrays::won, g);
    i64* const order = won_order(run);
    if (stage < sort_stages(share, n))
      sort_stage(
          team, share, n, [=](int k) { return first[k]; }, stage, order, order + run.pop, run.samples(n, run.pop));
    if (g == 0) return;
    const auto* const front = run.array(Arrays::value, g - 1);
    const auto member = [=](int k) { return front[k]; };
    sort_stage(team, share, run.pop, member, stage, front_order(run), front_order(run) + run.pop, run.samples(run.pop));
  }

  // What follows from these orders.
  template <class Team, class R, class Share>
  SKDE_OUTLINE static void place_in_stages(Team& team, const R& run, const Share& share, i64 g, int stage) {
    using real = typename R::real;
    const int pop = run.pop, next = int(numbers(run, g - 1)[NEXT_SLOT]), successes = int(numbers(run, g)[SUCCESSES]);
    const real *const won = run.array(Arrays::won, g), *const front = run.array(Arrays::value, g - 1);
    real *const won_sorted = run.scratch(Scratch::won_sorted), *const count = counts(run);
    const i64 *const of_won = won_order(run), *const of_front = front_order(run);
    const real* const leaves = run.scratch(Scratch::leaves);
    const auto stays = [&](int k) { return turn_of(int(of_front[k]), next, pop) >= successes; };
    const auto count_piece = [&](auto test) {
      each_piece(run, share, [&](int piece, int begin, int n) {
        const int many = team.count(n, [&](int k) { return test(begin + k); });
        if (team.lane == 0) count[piece] = real(many);
      });
    };
    const auto number_piece = [&](auto test, auto visit) {
      each_piece(run, share, [&](int piece, int begin, int n) {
        const int first = before(team, count, piece);
        team.number(
            n, [&](int k) { return test(begin + k); },
            [&](int k, int earlier, bool holds) { visit(begin + k, first + earlier, holds); });
      });
    };
    switch (stage) {
      case PLACES:
        share.each_position(team, successes, [&](int k) {
          won_sorted[k] = won[of_won[k]], run.scratch(Scratch::won_place)[of_won[k]] = real(k);
        });
        count_piece(stays);
        if (MANY_TEAMS)
          with_terms(run, g, real(1), [&](auto at, auto terms) {
            share.each_item(SUMS * PARTIALS / Team::size, [&](int part) {
              make_partials<SUMS>(team, part, pop, at, terms, run.scratch(Scratch::partials));
            });
          });
        break;
      case FRONT_PLACES:
        number_piece(stays, [&](int k, int place, bool holds) {
          run.scratch(Scratch::front_place)[of_front[k]] = real(place);
          if (holds) run.scratch(Scratch::front_sorted)[place] = front[of_front[k]];
        });
        if (share.adapts(pop)) learn_in_stages(team, run, g, successes);
        break;
      case RANKS: share.each_item(pop, [&](int i) { rank_all(team, run, g, i); }); break;
      case LEAVING: count_piece([&](int k) { return leaves[k] > 0; }); break;
      case LEAVING_PLACES:
        number_piece([&](int k) { return leaves[k] > 0; },
                     [&](int k, int place, bool) { run.scratch(Scratch::leaves_before)[k] = real(place); });
        break;
      default: share.each_item(pop, [&](int i) { make_front(team, run, g, i); });
    }
  }
  template <class Team, class R> SKDE_FN static void learn_in_stages(Team& team, const R& run, i64 g, int successes) {
    using real = typename R::real;
    const real first = successes > 0 ? run.scratch(Scratch::won_sorted)[0] : real(infinity());
    const auto sums = weighted_sums<real, WEIGHT>([&](real scale) {
      if (MANY_TEAMS && scale == 1) return fold_partials<SUMS>(team, run.scratch(Scratch::partials));
      return with_terms(run, g, scale,
                        [&](auto at, auto terms) { return team.template sums<SUMS>(run.pop, at, terms); });
    });
    if (team.lane == 0) learn(run, g, successes, is_nan(first) ? real(infinity()) : first, sums);
  }

  // The gains, and by these the crossed shares of components and their squares.
  enum : int { WEIGHT, CR_SUM, CRCR_SUM, SUMS };
  template <class R, class real, class Sum> SKDE_FN static auto with_terms(const R& run, i64 g, real scale, Sum sum) {
    struct Trial {
      real gain, CR;
    };
    const real *const gain = run.array(Arrays::gain, g), *const CR = run.array(Arrays::crossed, g);
    return sum([=](int k) { return Trial{gain[k], CR[k]}; },
               [=](const Trial& trial, bool counts, real* t) {
                 const real w = counts ? scale * trial.gain : real(0);
                 t[WEIGHT] = w, t[CR_SUM] = w * trial.CR, t[CRCR_SUM] = w * trial.CR * trial.CR;
               });
  }

  // The memory and the numbers of the run after generation g, of which `least` is the smallest value won.
  template <class R, class Sums>
  SKDE_FN static void learn(const R& run, i64 g, int successes, typename R::real least, const Sums& sums) {
    const int H = run.settings.H;
    double *const M = M_CR(run, g), *const now = numbers(run, g);
    const double sum = double(sums.of[CR_SUM]), squares = double(sums.of[CRCR_SUM]);
    const double *const M_before = M_CR(run, g - 1), *const before = numbers(run, g - 1);
    const int entry = int(before[NEXT_ENTRY]);
    for (int k = 0; k < H; ++k) M[k] = M_before[k];
    if (successes > 0) M[entry] = 0.5 * (M_before[entry] + (sum > 0 ? squares / sum : 1.0));
    now[NEXT_ENTRY] = successes > 0 ? (entry + 1) % H : entry;
    now[SUCCESS_RATE] = double(successes) / run.pop;
    now[SUCCESSES] = successes, now[LEAST] = least;
    const int left = next_pop(run, g);
    now[NEXT_SLOT] = (int(before[NEXT_SLOT]) + successes) % run.pop % left, now[NEXT_POP] = left;
  }

  // The number of successes before a slot of the front is replaced.
  SKDE_FN static int turn_of(int slot, int next, int pop) { return slot < next ? slot - next + pop : slot - next; }

  template <class R> SKDE_FN static int next_pop(const R& run, i64 g) {
    const PopulationReduction& reduction = run.settings.reduction;
    return reduction.population(reduction.progress(run.evals + run.pop, g + 1));
  }

  // The k-th best of the last generation.
  template <class R> SKDE_FN static int row_of(const R& run, i64 g, int k) {
    return int(run.array(Arrays::top, g - 1)[k]);
  }
  template <class R> SKDE_FN static const typename R::real* top(const R& run, i64 g, int k) {
    return run.x(g - 1, row_of(run, g, k));
  }

  // In [0, 3), with density proportional to exp(-t).
  SKDE_FN static double falling(u32 word) { return -log(1 - inner_unit(word) * (1 - exp(-3.0))); }

  // A member of the front, by rank with weights exp(-3 k / N), other than `excluded`.
  template <class R> SKDE_FN static int by_rank(const R& run, i64 g, int i, int excluded, double draw) {
    for (u32 retry = 2;; ++retry) {
      const int k = min_of(int(draw * (run.pop / 3.0)), run.pop - 1), member = int(run.order(g - 1)[k]);
      if (member != excluded) return member;
      draw = falling(run.stream(g, i, INDICES).block(retry).w[0]);
    }
  }

  // The rows in the new top, and the ranks in the new front, of the old members and of the trial number i. Of equal values
  // trials come before old members, so that both populations move on a plateau, and trials in their turn.
  template <class Team, class R> SKDE_FN static void rank_all(Team& team, const R& run, i64 g, int i) {
    using real = typename R::real;
    const real *const sorted = run.scratch(Scratch::sorted), *const front = run.array(Arrays::value, g - 1);
    const real *const survivors = run.scratch(Scratch::survivors), *const won = run.array(Arrays::won, g);
    const int pop = run.pop, next = int(numbers(run, g - 1)[NEXT_SLOT]), successes = int(numbers(run, g)[SUCCESSES]);
    const auto stays = [&](int k) { return turn_of(k, next, pop) >= successes; };
    const real least = real(numbers(run, g)[LEAST]), worst = sorted[pop - 1];
    const bool many = is_large(run.pop);
    const real* const won_sorted = run.scratch(Scratch::won_sorted);
    const auto trials_before = [&](real v) {
      if (v < least) return 0;
      if (many) return bisect(0, successes, [=](int m) { return won_sorted[m]; }, v, true);
      return is_nan(v) ? successes : team.count(successes, [&](int m) { return won[m] <= v; });
    };
    const real mine = sorted[i], member = front[i];
    const int slot = int(run.array(Arrays::slot, g)[i]);
    place(team, run, g, top(run, g, i), mine, i + trials_before(mine));

    int rank_front = -1, rank_trial = pop;
    if (stays(i)) {
      rank_front = trials_before(member);
      if (many)
        rank_front += int(run.scratch(Scratch::front_place)[i]);
      else if (is_nan(member))
        rank_front += team.count(pop, [&](int k) { return stays(k) & (!is_nan(front[k]) | (k < i)); });
      else
        rank_front += team.count(i, [&](int k) { return survivors[k] <= member; }) +
                      team.count(pop - i, [&](int k) { return survivors[i + k] < member; });
    }
    if (slot >= 0) {
      const int turn = turn_of(slot, next, pop);
      const real v = won[turn];
      const real* const front_sorted = run.scratch(Scratch::front_sorted);
      const int before =
          many ? int(run.scratch(Scratch::won_place)[turn])
               : team.count(successes, [&](int m) { return (won[m] < v) | ((won[m] == v) & (m < turn)); });
      const auto fewer = [&](const real* values, const real* in_order, int n) {
        return many ? bisect(
                          0, n, [=](int k) { return in_order[k]; }, v, false)
                    : team.count(pop, [&](int k) { return values[k] < v; });
      };
      if (!(worst < v)) place(team, run, g, run.vector(Vectors::trials, g, i), v, before + fewer(sorted, sorted, pop));
      rank_trial = before + fewer(survivors, front_sorted, pop - successes);
    }
    if (many && team.lane == 0) {
      const real left = real(numbers(run, g)[NEXT_POP]);
      if (rank_front >= 0) run.scratch(Scratch::leaves)[i] = real(rank_front >= left);
      if (slot >= 0) run.scratch(Scratch::leaves)[slot] = real(rank_trial >= left);
    }
    if (team.lane != 0) return;
    run.array(Arrays::rank_front, g)[i] = real(rank_front);
    run.array(Arrays::rank_trial, g)[i] = real(rank_trial);
  }

  template <class Team, class R, class real>
  SKDE_FN static void place(Team& team, const R& run, i64 g, const real* from, real value, int rank) {
    if (rank >= run.pop) return;
    team.copy(run.dim, from, run.x(g, rank));
    if (team.lane == 0) run.f(g)[rank] = value, run.array(Arrays::top, g)[rank] = real(rank);
  }

  template <class Team, class R> SKDE_FN static void make_front(Team& team, const R& run, i64 g, int i) {
    using real = typename R::real;
    const real *const slot = run.array(Arrays::slot, g), *const rank_front = run.array(Arrays::rank_front, g),
                      *const rank_trial = run.array(Arrays::rank_trial, g);
    const real left = real(numbers(run, g)[NEXT_POP]);
    const bool shrinks = left < run.pop;
    const auto enter = [&](const real* from, real value, real rank, real at) {
      if (rank < 0 || rank >= left) return;
      int place = int(at);
      // The members behind those that are left out move up.
      if (shrinks && is_large(run.pop))
        place -= int(run.scratch(Scratch::leaves_before)[place]);
      else if (shrinks)
        place -= team.count(run.pop, [&](int k) {
          return int((rank_front[k] >= left) & (real(k) < at)) +
                 int((slot[k] >= 0) & (rank_trial[k] >= left) & (slot[k] < at));
        });
      team.copy(run.dim, from, run.vector(Vectors::front, g, place));
      if (team.lane == 0) run.array(Arrays::value, g)[place] = value, run.order(g)[int(rank)] = place;
    };
    enter(run.vector(Vectors::front, g - 1, i), run.array(Arrays::value, g - 1)[i], rank_front[i], real(i));
    if (slot[i] >= 0)
      enter(run.vector(Vectors::trials, g, i), run.array(Arrays::f_trial, g)[i], rank_trial[i], slot[i]);
  }
};

}  // namespace SKDE_NAMESPACE
