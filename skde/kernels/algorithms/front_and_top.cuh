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
  template <class Team, class R> SKDE_OUTLINE static void find_and_record(Team& team, const R& run, i64 g) {
    double* const now = A::numbers(run, g);
    const bool large = is_large(run.pop);
    const int many = large ? int(now[A::SUCCESSES]) : compete(team, run, g);
    if (!large) clear_unused(team, run, g, 0, run.pop, many), mark_survivors(team, run, g, many);
    if (team.lane == 0) {
      const int left = run.next_pop(g), next = int(A::numbers(run, g - 1)[A::NEXT_SLOT]);
      now[A::SUCCESSES] = many;
      now[A::NEXT_SLOT] = (next + many) % run.pop % left, now[A::NEXT_POP] = left;
    }
    team.sync();
  }

  // The stages of a small population, for each individual. Stage 0: the values of the top in their order, while the team
  // of the first individual is in find_and_record(), so that the second one makes its value; stage 1: the new top, the
  // ranks in the new front, and the new front; but stage 2: a front that shrinks, because it needs all ranks.
  static constexpr int STAGES = 3;
  template <class Team, class R, class P>
  SKDE_FN static void update(Team& team, const R& run, i64 g, int i, int stage, const P& rows) {
    if (stage == 0 && i == 0) find_and_record(team, run, g);
    if (stage == 0 && i > 0) sort_top(team, run, g, i == 1 ? 0 : i, i == 1 ? 2 : 1);
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
  //   FOLLOW           the values of the top in their order
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
  template <class Team, class R>
  SKDE_FN static void place_member(Team& team, const R& run, i64 g, int i, int place, bool all_values) {
    if (team.lane == 0) run.array(Arrays::top, g)[place] = typename R::real(i);
    if (!all_values) return;
    team.copy(run.dim, run.x(g, i), run.vector(Vectors::front, g, place));
    if (team.lane == 0) run.array(Arrays::value, g)[place] = run.f(g)[i], run.order(g)[place] = place;
  }

  // The number of successes before a slot of the front is replaced.
  SKDE_FN static int turn_of(int slot, int next, int pop) { return slot < next ? slot - next + pop : slot - next; }

  // The competition of the trials, one after another (team.in_turn()). Each competes with the member in slot c of the
  // front after the trials before it; if it succeeds, it takes the next slot.
  template <class real> struct Competition {
    // A trial: its value, the slot of the member that it competes with, and the number of successes before that slot is
    // replaced.
    struct Trial {
      real f;
      int slot, replaced;
    };
    const real *const chosen, *const f;
    real *const won, *const slot, *const gain;
    const i64 members;  // from `won` to the values of the old members, in the same memory
    const int next, pop;

    template <class R>
    SKDE_FN Competition(const R& run, i64 g)
        : chosen(run.scratch(Scratch::chosen)),
          f(run.array(Arrays::f_trial, g)),
          won(run.array(Arrays::won, g)),
          slot(run.array(Arrays::slot, g)),
          gain(run.array(Arrays::gain, g)),
          members(run.array(Arrays::value, g - 1) - won),
          next(int(A::numbers(run, g - 1)[A::NEXT_SLOT])),
          pop(run.pop) {}
    SKDE_FN Trial at(int i) const {
      const int slot = int(chosen[i]);
      return {f[i], slot, turn_of(slot, next, pop)};
    }
    SKDE_FN int reads(const Trial& trial) const { return trial.replaced; }
    SKDE_FN real value(const Trial& trial) const { return trial.f; }
    // The value with which a trial competes after some successes: that of a trial which has taken its slot, or of the
    // old member. One load, so that there is no branch.
    SKDE_FN real rival(const Trial& trial, int successes) const {
      return won[trial.replaced < successes ? i64(trial.replaced) : members + trial.slot];
    }
    SKDE_FN bool test(const Trial& trial, real rival) const { return replaces(trial.f, rival) & !is_nan(trial.f); }
    SKDE_FN void visit(int i, const Trial& trial, int successes, real rival, bool succeeds) const {
      const int taken = next + successes;
      slot[i] = real(succeeds ? taken - (taken < pop ? 0 : pop) : -1);
      gain[i] = real(succeeds) * improvement(trial.f, rival);
      if (succeeds) won[successes] = trial.f;
    }
  };

  // Finds the successes of a generation, and returns their number.
  template <class Team, class R> SKDE_FN static int compete(Team& team, const R& run, i64 g) {
    const int successes = team.in_turn(run.pop, Competition<typename R::real>(run, g));
    team.sync();
    return successes;
  }
  // Clears the places without a success among n from number `begin` on, so that saved states have no old values.
  template <class Team, class R>
  SKDE_FN static void clear_unused(Team& team, const R& run, i64 g, int begin, int n, int successes) {
    auto* const won = run.array(Arrays::won, g);
    team.each(n, [&](int k) {
      if (begin + k >= successes) won[begin + k] = 0;
    });
  }

  // The values of the members of the old front that are not replaced; NaN: replaced.
  template <class Team, class R> SKDE_FN static void mark_survivors(Team& team, const R& run, i64 g, int successes) {
    using real = typename R::real;
    const real* const front = run.array(Arrays::value, g - 1);
    const int pop = run.pop, next = int(A::numbers(run, g - 1)[A::NEXT_SLOT]);
    team.map(pop, run.scratch(Scratch::survivors),
             [=](int k, int) { return turn_of(k, next, pop) < successes ? real(not_a_number()) : front[k]; });
  }

  // The values of the top in their order, for n places from number `begin` on.
  template <class Team, class R> SKDE_FN static void sort_top(Team& team, const R& run, i64 g, int begin, int n) {
    const auto* const f = run.f(g - 1);
    team.map(n, run.scratch(Scratch::sorted) + begin, [&](int k, int) { return f[row_of(run, g, begin + k)]; });
  }

  // The pieces of a large population, and a count for each. There are at most so many, because each team of a piece
  // adds up the counts of those before it.
  static constexpr int PIECE = MANY_TEAMS ? 128 : 512, MOST_PIECES = 1 << 13;
  template <class R> SKDE_FN static int piece_size(const R& run) {
    return max_of(PIECE, (run.pop + MOST_PIECES - 1) / MOST_PIECES);
  }
  template <class R, class Share, class Body>
  SKDE_FN static void each_piece(const R& run, const Share& share, Body body) {
    const int size = piece_size(run);
    share.each_item(pieces(run), [&](int k) { body(k, k * size, min_of(size, run.pop - k * size)); });
  }
  template <class R> SKDE_FN static int pieces(const R& run) {
    const int size = piece_size(run);
    return (run.pop + size - 1) / size;
  }
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
      each_piece(run, share, [&](int, int begin, int n) {
        clear_unused(team, run, g, begin, n, successes);
        sort_top(team, run, g, begin, n);
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
  // The numbers of members and trials that come before individual i: in the new top before the member of the old top
  // and before the trial, likewise in the new front. Of equal values trials come before old members, so that both
  // populations move on a plateau; and trials come in turn.
  struct Places {
    int top_member, top_trial, front_member, front_trial;
  };
  // The values and slots by which these are found. sorted: the values of the old top in their order.
  template <class R> struct Generation {
    using real = typename R::real;
    const real *const sorted, *const front, *const survivors, *const won;
    const int pop, next, successes;

    SKDE_FN Generation(const R& run, i64 g)
        : sorted(run.scratch(Scratch::sorted)),
          front(run.array(Arrays::value, g - 1)),
          survivors(run.scratch(Scratch::survivors)),
          won(run.array(Arrays::won, g)),
          pop(run.pop),
          next(int(A::numbers(run, g - 1)[A::NEXT_SLOT])),
          successes(int(A::numbers(run, g)[A::SUCCESSES])) {}
    // Whether the member of a slot stays in the front.
    SKDE_FN bool stays(int k) const { return turn_of(k, next, pop) >= successes; }
  };

  // Where few values are counted. turn: that of trial i, negative: none.
  template <class Team, class R>
  SKDE_FN static Places count_places(Team& team, const Generation<R>& at, int i, int turn) {
    using real = typename R::real;
    struct Values {
      real sorted, survivor, won;
    };
    const real *const sorted = at.sorted, *const front = at.front, *const won = at.won, *const survivors = at.survivors;
    const real mine = sorted[i], member = front[i], v = won[max_of(turn, 0)];
    const int pop = at.pop, successes = at.successes;
    enum : int { WON_MINE, WON_MEMBER, WON_TRIAL, TOP_TRIAL, LEFT_MEMBER, RIGHT_MEMBER, FRONT_TRIAL, COUNTS };
    const auto counted = team.template counts<COUNTS>(
        pop, [=](int k) { return Values{sorted[k], survivors[k], won[k]}; },
        [=](const Values& value, int k, int* t) {
          const bool won = k < successes;
          t[WON_MINE] = won & (value.won <= mine), t[WON_MEMBER] = won & (value.won <= member);
          t[WON_TRIAL] = won & ((value.won < v) | ((value.won == v) & (k < turn)));
          t[TOP_TRIAL] = value.sorted < v, t[FRONT_TRIAL] = value.survivor < v;
          t[LEFT_MEMBER] = (k < i) & (value.survivor <= member);
          t[RIGHT_MEMBER] = (k >= i) & (value.survivor < member);
        });
    Places places{};
    places.top_member = i + (is_nan(mine) ? successes : counted.of(WON_MINE, 0, successes));
    if (SKDE_RARELY(is_nan(member)))
      places.front_member =
          successes + team.count(pop, [&](int k) { return at.stays(k) & (!is_nan(front[k]) | (k < i)); });
    else if (at.stays(i))
      places.front_member =
          counted.of(WON_MEMBER, 0, successes) + counted.of(LEFT_MEMBER, 0, i) + counted.of(RIGHT_MEMBER, i, pop);
    if (turn >= 0) {
      const int earlier = counted.of(WON_TRIAL, 0, successes);
      places.top_trial = earlier + counted.of(TOP_TRIAL), places.front_trial = earlier + counted.of(FRONT_TRIAL);
    }
    return places;
  }
  // Where many have been sorted.
  template <class Team, class R>
  SKDE_FN static Places search_places(Team&, const R& run, const Generation<R>& at, int i, int turn) {
    const auto *const sorted = at.sorted, *const won = run.scratch(Scratch::won_sorted);
    const auto mine = sorted[i];
    const auto before = [](int n, const auto* values, auto value, bool ties) {
      return bisect(0, n, [=](int k) { return values[k]; }, value, ties);
    };
    Places places{};
    // Most members of the top are better than all trials, and many trials are worse than the whole top.
    places.top_member = i + (mine < won[0] ? 0 : before(at.successes, won, mine, true));
    places.front_member = int(run.scratch(Scratch::front_rank)[i]);
    if (turn >= 0) {
      const auto v = at.won[turn];
      const int earlier = int(run.scratch(Scratch::won_place)[turn]);
      places.top_trial = earlier + (sorted[at.pop - 1] < v ? at.pop : before(at.pop, sorted, v, false));
      places.front_trial = earlier + before(at.pop - at.successes, run.scratch(Scratch::front_sorted), v, false);
    }
    return places;
  }

  // The ranks of a member of the old front and of the trial with its number in the new front; -1: replaced.
  struct Ranks {
    int front, trial;
  };

  // Writes member i of the old top and trial i to the new top, and finds the ranks of member i of the old front and of
  // trial i in the new front.
  template <class Team, class R, class P>
  SKDE_FN static Ranks rank_all(Team& team, const R& run, i64 g, int i, const P& rows) {
    using real = typename R::real;
    const Generation<R> at(run, g);
    const int slot = int(run.array(Arrays::slot, g)[i]), turn = slot < 0 ? -1 : turn_of(slot, at.next, at.pop);
    const bool many = is_large(run.pop);
    const Places places = many ? search_places(team, run, at, i, turn) : count_places(team, at, i, turn);
    place(team, run, g, rows.top, at.sorted[i], places.top_member);
    if (turn >= 0) place(team, run, g, rows.trial, at.won[turn], places.top_trial);
    const Ranks ranks{at.stays(i) ? places.front_member : -1, turn < 0 ? run.pop : places.front_trial};
    if (team.lane != 0) return ranks;
    if (many) {
      const real left = real(A::numbers(run, g)[A::NEXT_POP]);
      if (ranks.front >= 0) run.scratch(Scratch::leaves)[i] = real(ranks.front >= left);
      if (slot >= 0) run.scratch(Scratch::leaves)[slot] = real(ranks.trial >= left);
    }
    run.array(Arrays::rank_front, g)[i] = real(ranks.front);
    run.array(Arrays::rank_trial, g)[i] = real(ranks.trial);
    return ranks;
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
