// The two populations of L-SRTDE (Stanovov, Semenkin; CEC 2024), of the same size: `front`, in which the successful
// trials of a generation replace members slot by slot in turn, whatever the values of these; and `top`, the best points
// found.
//
//   success    f(u_i) <= f(n_c), n_c the member in slot c of the front after the successes of the trials before i
//   front      the members and the trials that replaced some of them, in the order of slots; without the worst where it
//              shrinks
//   top        the best of the top and of the trials that succeeded
//
// x and f are the top, in rows by rank after generation 0; run.order(g) are the front's slots by rank. An algorithm A
// that has these populations declares all arrays, vectors and numbers that are used here (lsrtde.cuh).
//
// Ranks in a small population are counted, by the team of each individual. In a large population the values are sorted,
// ranks are found by bisection, and all teams divide the work (update_large).
#pragma once
#include "core/run.cuh"

namespace SKDE_NAMESPACE {

template <class A> struct FrontAndTop {
  using Arrays = typename A::Arrays;
  using Scratch = typename A::Scratch;
  using Vectors = typename A::Vectors;

  // Restores the order of the top. Where all values are new, the front becomes a copy of the top in its order.
  template <class Team, class R> SKDE_FN static void restore(Team& team, const R& run, i64 g, int i, bool all_values) {
    const auto* const f = run.f(g);
    if (!is_large(run.pop)) return place_member(team, run, g, i, rank_of(team, f, run.pop, i), all_values);
    if (i > 0) return;
    i64* const order = run.sorting();
    sort_alone(team, run.pop, [&](int k) { return f[k]; }, order, order + run.pop, run.samples(run.pop));
    for (int k = 0; k < run.pop; ++k) place_member(team, run, g, int(order[k]), k, all_values);
  }

  // Finds the successes, and writes the numbers that the later stages and the next generation read; by one team. In a
  // large population earlier stages, up to PLACES, have found the successes.
  template <class Team, class R> SKDE_FN static void find_and_record(Team& team, const R& run, i64 g) {
    using real = typename R::real;
    double* const now = A::numbers(run, g);
    const bool large = is_large(run.pop);
    const int many = large ? int(now[A::SUCCESSES]) : compete_alone(team, run, g);
    const real first = large && many > 0 ? run.scratch(Scratch::won_sorted)[0] : real(infinity());
    const real least = !large          ? smallest(team, run.array(Arrays::won, g), many)
                       : is_nan(first) ? real(infinity())
                                       : first;
    if (team.lane == 0) {
      const int left = run.next_pop(g), next = int(A::numbers(run, g - 1)[A::NEXT_SLOT]);
      now[A::SUCCESSES] = many, now[A::LEAST] = least;
      now[A::NEXT_SLOT] = (next + many) % run.pop % left, now[A::NEXT_POP] = left;
    }
    team.sync();
  }

  // The stages of a small population, for each individual. Stage 0: the values of the top in their order, while the team
  // of the first individual is in find_and_record(); stage 1: the new top, the ranks in the new front, and
  // the new front; but stage 2: a front that shrinks, because it needs all ranks.
  static constexpr int STAGES = 3;
  template <class Team, class R, class P>
  SKDE_FN static void update(Team& team, const R& run, i64 g, int i, int stage, const P& rows) {
    if (stage == 0 && i == 0) find_and_record(team, run, g);
    if (stage == 0) sort_top(team, run, g, i, 1);
    if (stage == 1) {
      const Ranks ranks = rank_all(team, run, g, i, rows);
      if (!shrinks(run, g)) make_front(team, run, g, i, rows, ranks);
    }
    if (stage == 2 && shrinks(run, g)) make_front(team, run, g, i, rows, ranks_of(run, g, i));
  }
  // Whether the front shrinks, after stage 0.
  template <class R> SKDE_FN static bool shrinks(const R& run, i64 g) {
    return A::numbers(run, g)[A::NEXT_POP] < run.pop;
  }

  // The rows of an individual that the stages move.
  template <class Team> struct Rows {
    typename Team::Row top{}, front{}, trial{};
    template <class R> SKDE_FN Rows(Team& team, const R& run, i64 g, int i) {
      if (g == 0 || i >= run.pop) return;
      top = team.row(run.dim, FrontAndTop::top(run, g, i));
      front = team.row(run.dim, run.vector(Vectors::front, g - 1, i));
      trial = team.row(run.dim, run.vector(Vectors::trials, g, i));
    }
  };

  // The stages of a large population: the early ones, those of sorting, and the later ones.
  //   COMPETE          whether each trial succeeds, by one team, because a trial depends on those before it
  //   FOLLOW           the slots and gains of the successful trials
  //   PLACES           the values of the successful trials in order, and how many members of each piece stay in the
  //                    front
  //   LEARN            the ranks of these members in the new front; find_and_record()
  //   RANKS            the new top, and the ranks of the trials in the new front
  //   LEAVING          how many members of each piece a smaller front leaves out
  //   LEAVING_PLACES   how many it leaves out before each slot
  //   FRONT            the new front
  enum EarlyStage : int { COMPETE, FOLLOW, EARLY_STAGES };
  enum LaterStage : int { PLACES, LEARN, RANKS, LEAVING, LEAVING_PLACES, FRONT, LATER_STAGES };
  static constexpr int LARGE_STAGES = int(EARLY_STAGES) + int(LATER_STAGES);
  template <class R, class Share> SKDE_FN static int large_stages(const R& run, const Share& share, i64 g) {
    const int sorting = sort_stages(share, run.pop);
    return g == 0 ? sorting + 1 : EARLY_STAGES + sorting + LATER_STAGES;
  }
  // The number of a stage among the later ones; generation 0 has one of these only.
  template <class R, class Share> SKDE_FN static int later(const R& run, const Share& share, i64 g, int stage) {
    return stage - (g == 0 ? 0 : EARLY_STAGES) - sort_stages(share, run.pop);
  }
  template <class Team, class R, class Share>
  SKDE_FN static void update_large(Team& team, const R& run, const Share& share, i64 g, int stage) {
    const int sorting = stage - (g == 0 ? 0 : EARLY_STAGES), late = later(run, share, g, stage);
    if (sorting < 0)
      compete_in_stages(team, run, share, g, stage);
    else if (late < 0)
      sort_values(team, run, share, g, sorting);
    else if (g > 0)
      place_in_stages(team, run, share, g, late);
    else
      share.each_item(run.pop, [&](int k) { place_member(team, run, g, int(run.sorting()[k]), k, true); });
  }

  // The k-th best of the last generation.
  template <class R> SKDE_FN static int row_of(const R& run, i64 g, int k) {
    return int(run.array(Arrays::top, g - 1)[k]);
  }
  template <class R> SKDE_FN static const typename R::real* top(const R& run, i64 g, int k) {
    return run.x(g - 1, row_of(run, g, k));
  }

 private:
  // The ranks of a member of the old front and of the trial with its number in the new front; -1: replaced.
  struct Ranks {
    int front, trial;
  };

  template <class Team, class R>
  SKDE_FN static void place_member(Team& team, const R& run, i64 g, int i, int place, bool all_values) {
    if (team.lane == 0) run.array(Arrays::top, g)[place] = typename R::real(i);
    if (!all_values) return;
    team.copy(run.dim, run.x(g, i), run.vector(Vectors::front, g, place));
    if (team.lane == 0) run.array(Arrays::value, g)[place] = run.f(g)[i], run.order(g)[place] = place;
  }

  // The number of successes before a slot of the front is replaced.
  SKDE_FN static int turn_of(int slot, int next, int pop) { return slot < next ? slot - next + pop : slot - next; }

  // A trial in the competition: its value, the slot of the member that it competes with, and the number of successes
  // before that slot is replaced.
  template <class real> struct Competitor {
    real f;
    int slot, replaced;
  };
  template <class real> struct Competition {
    const real *const won, *const chosen, *const f;
    const i64 members;  // from `won` to the values of the old members, in the same memory
    const int next, pop;

    template <class R>
    SKDE_FN Competition(const R& run, i64 g)
        : won(run.array(Arrays::won, g)),
          chosen(run.scratch(Scratch::chosen)),
          f(run.array(Arrays::f_trial, g)),
          members(run.array(Arrays::value, g - 1) - won),
          next(int(A::numbers(run, g - 1)[A::NEXT_SLOT])),
          pop(run.pop) {}
    SKDE_FN Competitor<real> trial(int i) const {
      const int slot = int(chosen[i]);
      return {f[i], slot, turn_of(slot, next, pop)};
    }
    // The value with which a trial competes after some successes: that of a trial which has taken its slot, or of the
    // old member. One load, so that there is no branch.
    SKDE_FN real rival(const Competitor<real>& trial, int successes) const {
      return won[trial.replaced < successes ? i64(trial.replaced) : members + trial.slot];
    }
  };

  // Finds the successes of a generation, and returns their number. Each trial competes with the member in slot c of the
  // front after the trials before it; if it succeeds, it takes the next slot.
  template <class Team, class R> SKDE_FN static int compete(Team& team, const R& run, i64 g) {
    using real = typename R::real;
    using Trial = Competitor<real>;
    const Competition<real> competition(run, g);
    real *const succeeds = run.scratch(Scratch::succeeds), *const turn = run.scratch(Scratch::turn);
    real* const won = run.array(Arrays::won, g);
    const int successes = team.in_turn(
        run.pop, [=](int i) { return competition.trial(i); }, [](const Trial& trial) { return trial.replaced; },
        [=](const Trial& trial, int before) {
          return replaces(trial.f, competition.rival(trial, before)) & !is_nan(trial.f);
        },
        [=](int i, const Trial& trial, int before, bool succeeded) {
          turn[i] = real(before), succeeds[i] = real(succeeded);
          if (succeeded) won[before] = trial.f;
        });
    team.sync();
    return successes;
  }
  // The same, and what follows from it, of a small population.
  template <class Team, class R> SKDE_FN static int compete_alone(Team& team, const R& run, i64 g) {
    const int successes = compete(team, run, g);
    team.each(run.pop - successes,
              [&](int k) { run.array(Arrays::won, g)[successes + k] = 0; });  // saved states have no old values
    follow(team, run, g, 0, run.pop, successes);
    team.sync();
    return successes;
  }
  // The slots and gains of the n trials from number `begin` on, and the values of the front's survivors.
  template <class Team, class R>
  SKDE_FN static void follow(Team& team, const R& run, i64 g, int begin, int n, int successes) {
    using real = typename R::real;
    const int pop = run.pop, next = int(A::numbers(run, g - 1)[A::NEXT_SLOT]);
    const real *const front = run.array(Arrays::value, g - 1), *const turn = run.scratch(Scratch::turn) + begin;
    const real* const succeeds = run.scratch(Scratch::succeeds) + begin;
    const Competition<real> competition(run, g);
    const real none = real(infinity()) - real(infinity());
    team.map(n, run.array(Arrays::slot, g) + begin, [=](int i, int) {
      const real slot = real(next) + turn[i];
      return succeeds[i] > 0 ? slot - (slot < real(pop) ? real(0) : real(pop)) : real(-1);
    });
    team.map(n, run.array(Arrays::gain, g) + begin, [=](int i, int) {
      const auto trial = competition.trial(begin + i);
      return succeeds[i] * improvement(trial.f, competition.rival(trial, int(turn[i])));
    });
    team.map(n, run.scratch(Scratch::survivors) + begin,
             [=](int i, int) { return turn_of(begin + i, next, pop) < successes ? none : front[begin + i]; });
  }

  // The values of the top in their order, for n places from number `begin` on.
  template <class Team, class R> SKDE_FN static void sort_top(Team& team, const R& run, i64 g, int begin, int n) {
    const auto* const f = run.f(g - 1);
    team.map(n, run.scratch(Scratch::sorted) + begin, [&](int k, int) { return f[row_of(run, g, begin + k)]; });
  }

  // The pieces of a large population, and a count for each.
  static constexpr int PIECE = 512;
  template <class R, class Share, class Body>
  SKDE_FN static void each_piece(const R& run, const Share& share, Body body) {
    share.each_item(pieces(run), [&](int k) { body(k, k * PIECE, min_of(PIECE, run.pop - k * PIECE)); });
  }
  template <class R> SKDE_FN static int pieces(const R& run) { return (run.pop + PIECE - 1) / PIECE; }
  template <class R> SKDE_FN static typename R::real* counts(const R& run) { return run.scratch(Scratch::by_piece); }
  // The sum of the numbers of the first k pieces.
  template <class Team, class real> SKDE_FN static int added(Team& team, const real* numbers, int k) {
    return int(team.sum(k, [=](int piece) { return numbers[piece]; }));
  }

  // compete() in stages. One team does the part in which a trial depends on those before it.
  template <class Team, class R, class Share>
  SKDE_OUTLINE static void compete_in_stages(Team& team, const R& run, const Share& share, i64 g, int stage) {
    if (stage == COMPETE && share.adapts(run.pop)) {
      const int successes = compete(team, run, g);
      if (team.lane == 0) A::numbers(run, g)[A::SUCCESSES] = successes;
    }
    if (stage == FOLLOW) {
      const int successes = int(A::numbers(run, g)[A::SUCCESSES]);
      auto* const won = run.array(Arrays::won, g);
      each_piece(run, share, [&](int, int begin, int n) {
        follow(team, run, g, begin, n, successes);
        sort_top(team, run, g, begin, n);
        team.each(n, [&](int k) {
          if (begin + k >= successes) won[begin + k] = 0;
        });
      });
    }
  }

  // The orders of the successful trials' values and of the old front's; in generation 0, that of the population's
  // values.
  template <class R> SKDE_FN static i64* won_order(const R& run) { return run.sorting(); }
  template <class R> SKDE_FN static i64* front_order(const R& run) { return run.sorting() + 3 * run.pop; }
  template <class Team, class R, class Share>
  SKDE_OUTLINE static void sort_values(Team& team, const R& run, const Share& share, i64 g, int stage) {
    const int n = g == 0 ? run.pop : int(A::numbers(run, g)[A::SUCCESSES]);
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

  // The later stages, which read these orders.
  template <class Team, class R, class Share>
  SKDE_OUTLINE static void place_in_stages(Team& team, const R& run, const Share& share, i64 g, int stage) {
    using real = typename R::real;
    const int pop = run.pop, next = int(A::numbers(run, g - 1)[A::NEXT_SLOT]),
              successes = int(A::numbers(run, g)[A::SUCCESSES]);
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
        const int first = added(team, count, piece);
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
        break;
      case LEARN:
        number_piece(stays, [&](int k, int place, bool holds) {
          const real member = front[of_front[k]];  // in order, so that one search takes nearly the way of the last
          const auto trial = [=](int m) { return won_sorted[m]; };
          const int trials = is_nan(member) ? successes : bisect(0, successes, trial, member, true);
          run.scratch(Scratch::front_rank)[of_front[k]] = real(place + trials);
          if (holds) run.scratch(Scratch::front_sorted)[place] = member;
        });
        break;
      case RANKS: share.each_item(pop, [&](int i) { rank_all(team, run, g, i, Rows<Team>(team, run, g, i)); }); break;
      case LEAVING: count_piece([&](int k) { return leaves[k] > 0; }); break;
      case LEAVING_PLACES:
        number_piece([&](int k) { return leaves[k] > 0; },
                     [&](int k, int place, bool) { run.scratch(Scratch::leaves_before)[k] = real(place); });
        break;
      default:
        share.each_item(pop,
                        [&](int i) { make_front(team, run, g, i, Rows<Team>(team, run, g, i), ranks_of(run, g, i)); });
    }
  }
  // The number of n values before v, and of equal ones where `ties`: counted, or by bisection where `ordered` has them
  // in order.
  template <bool ties, class Team, class real>
  SKDE_FN static int before(Team& team, int n, const real* values, const real* ordered, int many, real v) {
    if (ordered) return bisect(0, many, [=](int k) { return ordered[k]; }, v, ties);
    return team.count(n, [&](int k) { return ties ? values[k] <= v : values[k] < v; });
  }

  // Writes member i of the old top and trial i to the new top, and finds the ranks of member i of the old front and of
  // trial i in the new front. Of equal values trials come before old members, so that both populations move on a
  // plateau; and trials come in turn.
  template <class Team, class R, class P>
  SKDE_FN static Ranks rank_all(Team& team, const R& run, i64 g, int i, const P& rows) {
    using real = typename R::real;
    const real *const sorted = run.scratch(Scratch::sorted), *const front = run.array(Arrays::value, g - 1);
    const real *const survivors = run.scratch(Scratch::survivors), *const won = run.array(Arrays::won, g);
    const int pop = run.pop, next = int(A::numbers(run, g - 1)[A::NEXT_SLOT]);
    const int successes = int(A::numbers(run, g)[A::SUCCESSES]);
    const bool many = is_large(run.pop);
    const auto in_order = [&](int name) -> const real* { return many ? run.scratch(name) : nullptr; };
    const auto stays = [&](int k) { return turn_of(k, next, pop) >= successes; };
    const real least = real(A::numbers(run, g)[A::LEAST]), worst = sorted[pop - 1];
    const auto trials_before = [&](real v) {
      if (v < least) return 0;
      if (is_nan(v)) return successes;
      return before<true>(team, successes, won, in_order(Scratch::won_sorted), successes, v);
    };
    const real mine = sorted[i], member = front[i];
    const int slot = int(run.array(Arrays::slot, g)[i]);
    place(team, run, g, rows.top, mine, i + trials_before(mine));

    int rank_front = -1, rank_trial = pop;
    if (stays(i)) {
      if (many)
        rank_front = int(run.scratch(Scratch::front_rank)[i]);
      else if (is_nan(member))
        rank_front = successes + team.count(pop, [&](int k) { return stays(k) & (!is_nan(front[k]) | (k < i)); });
      else
        rank_front = trials_before(member) + team.count(i, [&](int k) { return survivors[k] <= member; }) +
                     team.count(pop - i, [&](int k) { return survivors[i + k] < member; });
    }
    if (slot >= 0) {
      const int turn = turn_of(slot, next, pop);
      const real v = won[turn];
      const int earlier =
          many ? int(run.scratch(Scratch::won_place)[turn])
               : team.count(successes, [&](int m) { return (won[m] < v) | ((won[m] == v) & (m < turn)); });
      if (!(worst < v)) {
        const int better = before<false>(team, pop, sorted, many ? sorted : nullptr, pop, v);
        place(team, run, g, rows.trial, v, earlier + better);
      }
      rank_trial = earlier + before<false>(team, pop, survivors, in_order(Scratch::front_sorted), pop - successes, v);
    }
    if (many && team.lane == 0) {
      const real left = real(A::numbers(run, g)[A::NEXT_POP]);
      if (rank_front >= 0) run.scratch(Scratch::leaves)[i] = real(rank_front >= left);
      if (slot >= 0) run.scratch(Scratch::leaves)[slot] = real(rank_trial >= left);
    }
    if (team.lane == 0) {
      run.array(Arrays::rank_front, g)[i] = real(rank_front);
      run.array(Arrays::rank_trial, g)[i] = real(rank_trial);
    }
    return {rank_front, rank_trial};
  }
  template <class R> SKDE_FN static Ranks ranks_of(const R& run, i64 g, int i) {
    return {int(run.array(Arrays::rank_front, g)[i]), int(run.array(Arrays::rank_trial, g)[i])};
  }

  template <class Team, class R, class real>
  SKDE_FN static void place(Team& team, const R& run, i64 g, const typename Team::Row& row, real value, int rank) {
    if (rank >= run.pop) return;
    team.put(run.dim, row, run.x(g, rank));
    if (team.lane == 0) run.f(g)[rank] = value, run.array(Arrays::top, g)[rank] = real(rank);
  }

  template <class Team, class R, class P>
  SKDE_FN static void make_front(Team& team, const R& run, i64 g, int i, const P& rows, const Ranks& ranks) {
    using real = typename R::real;
    const real *const slot = run.array(Arrays::slot, g), *const rank_front = run.array(Arrays::rank_front, g),
                      *const rank_trial = run.array(Arrays::rank_trial, g);
    const real left = real(A::numbers(run, g)[A::NEXT_POP]);
    const bool shrinks = left < run.pop;
    const auto enter = [&](const typename Team::Row& row, real value, int rank, real at) {
      if (rank < 0 || rank >= left) return;
      int place = int(at);
      // Members after those that are left out get smaller slots.
      if (shrinks && is_large(run.pop))
        place -= int(run.scratch(Scratch::leaves_before)[place]);
      else if (shrinks)
        place -= team.count(run.pop, [&](int k) {
          return int((rank_front[k] >= left) & (real(k) < at)) +
                 int((slot[k] >= 0) & (rank_trial[k] >= left) & (slot[k] < at));
        });
      team.put(run.dim, row, run.vector(Vectors::front, g, place));
      if (team.lane == 0) run.array(Arrays::value, g)[place] = value, run.order(g)[rank] = place;
    };
    enter(rows.front, run.array(Arrays::value, g - 1)[i], ranks.front, real(i));
    if (slot[i] >= 0) enter(rows.trial, run.array(Arrays::f_trial, g)[i], ranks.trial, slot[i]);
  }
};

}  // namespace SKDE_NAMESPACE
