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
// The work between generations takes stages, in which a large population is divided among all teams. The ranks of
// members and trials in the new populations are found by core/joint_ranks.cuh.
#pragma once
#include "core/divided_sums.cuh"
#include "core/joint_ranks.cuh"
#include "core/run.cuh"

namespace SKDE_NAMESPACE {

template <class A> struct FrontAndTop {
  using Arrays = typename A::Arrays;
  using Scratch = typename A::Scratch;
  using Vectors = typename A::Vectors;

  // The k-th best of the last generation.
  template <class R> SKDE_FN static int row_of(const R& run, i64 g, int k) {
    return int(run.array(Arrays::top, g - 1)[k]);
  }
  template <class R> SKDE_FN static const typename R::real* top(const R& run, i64 g, int k) {
    return run.x(g - 1, row_of(run, g, k));
  }

  // -- success --------------------------------------------------------------------------------------------------------

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
    const Turns turns;

    template <class R>
    SKDE_FN Competition(const R& run, i64 g)
        : chosen(run.scratch(Scratch::chosen)),
          f(run.array(Arrays::f_trial, g)),
          won(run.array(Arrays::won, g)),
          slot(run.array(Arrays::slot, g)),
          gain(run.array(Arrays::gain, g)),
          members(run.array(Arrays::value, g - 1) - won),
          turns{int(A::numbers(run, g - 1)[A::NEXT_SLOT]), run.pop, 0} {}
    SKDE_FN Trial at(int i) const {
      const int slot = int(chosen[i]);
      return {f[i], slot, turns.of(slot)};
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
      slot[i] = real(succeeds ? turns.slot(successes) : -1);
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

  // -- the new top and the new front ----------------------------------------------------------------------------------

  // The vectors of an individual that enter the populations.
  template <class Team> struct Rows {
    typename Team::Row top{}, front{}, trial{};
    template <class R> SKDE_FN Rows(Team& team, const R& run, i64 g, int i) {
      if (g == 0 || i >= run.pop) return;
      top = team.row(run.dim, FrontAndTop::top(run, g, i));
      front = team.row(run.dim, run.vector(Vectors::front, g - 1, i));
      trial = team.row(run.dim, run.vector(Vectors::trials, g, i));
    }
  };

  // The ranks of a member of the old front and of the trial with its number in the new front; -1: replaced.
  struct Ranks {
    int front, trial;
  };

  // Member i of the old top and trial i enter the new top. Returns the ranks of member i of the old front and of trial
  // i in the new front.
  template <class Team, class R, class P>
  SKDE_FN static Ranks make_top(Team& team, const R& run, i64 g, int i, const P& rows) {
    using real = typename R::real;
    const JointValues<real> values = joint_values(run, g);
    const int slot = int(run.array(Arrays::slot, g)[i]), turn = slot < 0 ? -1 : values.turns.of(slot);
    const bool many = is_large(run.pop);
    const JointRanks joint = many ? tables(run).search(values, i, turn) : count_joint_ranks(team, values, i, turn);
    enter_top(team, run, g, rows.top, values.top[i], joint.top_member);
    if (turn >= 0) enter_top(team, run, g, rows.trial, values.won[turn], joint.top_trial);
    const Ranks ranks{values.turns.stays(i) ? joint.front_member : -1, turn < 0 ? run.pop : joint.front_trial};
    if (team.lane != 0) return ranks;
    if (many) mark_leaving(run, g, i, slot, ranks);
    run.array(Arrays::rank_front, g)[i] = real(ranks.front);
    run.array(Arrays::rank_trial, g)[i] = real(ranks.trial);
    return ranks;
  }
  template <class Team, class R, class real>
  SKDE_FN static void enter_top(Team& team, const R& run, i64 g, const typename Team::Row& row, real value, int rank) {
    if (rank >= run.pop) return;
    team.put(run.dim, row, run.x(g, rank));
    if (team.lane == 0) run.f(g)[rank] = value, run.array(Arrays::top, g)[rank] = real(rank);
  }

  // Member i of the old front, unless it is replaced, and trial i, if it succeeded, enter the new front.
  template <class Team, class R, class P>
  SKDE_FN static void make_front(Team& team, const R& run, i64 g, int i, const P& rows, const Ranks& ranks) {
    using real = typename R::real;
    const real* const slot = run.array(Arrays::slot, g);
    const real left = real(A::numbers(run, g)[A::NEXT_POP]);
    const auto enter = [&](const typename Team::Row& row, real value, int rank, real at) {
      if (rank < 0 || rank >= left) return;
      const int place = left < run.pop ? place_of(team, run, g, at, left) : int(at);
      team.put(run.dim, row, run.vector(Vectors::front, g, place));
      if (team.lane == 0) run.array(Arrays::value, g)[place] = value, run.order(g)[rank] = place;
    };
    enter(rows.front, run.array(Arrays::value, g - 1)[i], ranks.front, real(i));
    if (slot[i] >= 0) enter(rows.trial, run.array(Arrays::f_trial, g)[i], ranks.trial, slot[i]);
  }
  // The slot in a front that shrinks of the member in slot `at`: those that are left out before it leave no gap.
  template <class Team, class R, class real>
  SKDE_FN static int place_of(Team& team, const R& run, i64 g, real at, real left) {
    if (is_large(run.pop)) return int(at) - int(run.scratch(Scratch::leaves_before)[int(at)]);
    const real *const slot = run.array(Arrays::slot, g), *const rank_front = run.array(Arrays::rank_front, g),
                      *const rank_trial = run.array(Arrays::rank_trial, g);
    return int(at) - team.count(run.pop, [&](int k) {
      return int((rank_front[k] >= left) & (real(k) < at)) +
             int((slot[k] >= 0) & (rank_trial[k] >= left) & (slot[k] < at));
    });
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
  // Whether the front shrinks, after it has been recorded.
  template <class R> SKDE_FN static bool shrinks(const R& run, i64 g) {
    return A::numbers(run, g)[A::NEXT_POP] < run.pop;
  }

  // Restores the order of the top. Where all values are new, the front becomes a copy of the top in its order.
  template <class Team, class R> SKDE_FN static void restore(Team& team, const R& run, i64 g, int i, bool all_values) {
    const auto* const f = run.f(g);
    if (!is_large(run.pop)) return place_member(team, run, g, i, rank_of(team, f, run.pop, i), all_values);
    if (i > 0) return;
    i64* const order = run.sorting();
    sort_alone(team, run.pop, [&](int k) { return f[k]; }, order, order + run.pop, run.samples(run.pop));
    for (int k = 0; k < run.pop; ++k) place_member(team, run, g, int(order[k]), k, all_values);
  }

  // -- stages of a small population, for each individual --------------------------------------------------------------

  // Stage 0: the values of the top in their order, while the team of the first individual is in find_and_record(), so
  // that the second one makes its value; stage 1: the new top and the new front; but stage 2: a front that shrinks,
  // because it needs all ranks.
  static constexpr int STAGES = 3;
  template <class Team, class R, class P>
  SKDE_FN static void update(Team& team, const R& run, i64 g, int i, int stage, const P& rows) {
    if (stage == 0 && i == 0) find_and_record(team, run, g);
    if (stage == 0 && i > 0) sort_top(team, run, g, i == 1 ? 0 : i, i == 1 ? 2 : 1);
    if (stage == 1) {
      const Ranks ranks = make_top(team, run, g, i, rows);
      if (!shrinks(run, g)) make_front(team, run, g, i, rows, ranks);
    }
    if (stage == 2 && shrinks(run, g)) make_front(team, run, g, i, rows, ranks_of(run, g, i));
  }

  // -- stages of a large population -----------------------------------------------------------------------------------

  // The early ones, those of sorting, and the later ones.
  //   COMPETE          whether each trial succeeds, by one team, because a trial depends on those before it
  //   FOLLOW           the values of the top in their order
  //   PLACES           the values of the successful trials in order
  //   LEARN            the ranks of the old members in the new front; find_and_record()
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
  // The stage in which one team records the successes and adapts the run, and the number of a stage among those of the
  // sums over trials, which go along with the last stages of sorting.
  template <class R, class Share> SKDE_FN static int adapting_stage(const R& run, const Share& share, i64 g) {
    return g == 0 ? 0 : EARLY_STAGES + sort_stages(share, run.pop) + LEARN;
  }
  template <class R, class Share> SKDE_FN static int summing_stage(const R& run, const Share& share, i64 g, int stage) {
    return g == 0 ? -1 : later(run, share, g, stage) - PLACES + SUM_STAGES;
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

 private:
  template <class R> SKDE_FN static Turns turns_of(const R& run, i64 g, int successes) {
    return {int(A::numbers(run, g - 1)[A::NEXT_SLOT]), run.pop, successes};
  }
  template <class R> SKDE_FN static JointValues<typename R::real> joint_values(const R& run, i64 g) {
    return {run.scratch(Scratch::sorted), run.array(Arrays::value, g - 1), run.scratch(Scratch::survivors),
            run.array(Arrays::won, g), turns_of(run, g, int(A::numbers(run, g)[A::SUCCESSES]))};
  }
  template <class R> SKDE_FN static Ranks ranks_of(const R& run, i64 g, int i) {
    return {int(run.array(Arrays::rank_front, g)[i]), int(run.array(Arrays::rank_trial, g)[i])};
  }

  template <class Team, class R>
  SKDE_FN static void place_member(Team& team, const R& run, i64 g, int i, int place, bool all_values) {
    if (team.lane == 0) run.array(Arrays::top, g)[place] = typename R::real(i);
    if (!all_values) return;
    team.copy(run.dim, run.x(g, i), run.vector(Vectors::front, g, place));
    if (team.lane == 0) run.array(Arrays::value, g)[place] = run.f(g)[i], run.order(g)[place] = place;
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
    const Turns turns = turns_of(run, g, successes);
    team.map(run.pop, run.scratch(Scratch::survivors),
             [=](int k, int) { return turns.stays(k) ? front[k] : real(not_a_number()); });
  }

  // The values of the top in their order, for n places from number `begin` on.
  template <class Team, class R> SKDE_FN static void sort_top(Team& team, const R& run, i64 g, int begin, int n) {
    const auto* const f = run.f(g - 1);
    team.map(n, run.scratch(Scratch::sorted) + begin, [&](int k, int) { return f[row_of(run, g, begin + k)]; });
  }

  template <class R> SKDE_FN static Pieces<typename R::real> pieces(const R& run) {
    return {run.pop, run.scratch(Scratch::by_piece)};
  }
  // The orders of the successful trials' values and of the old front's; in generation 0, that of the population's
  // values.
  template <class R> SKDE_FN static i64* won_order(const R& run) { return run.sorting(); }
  template <class R> SKDE_FN static i64* front_order(const R& run) { return run.sorting() + 3 * run.pop; }
  template <class R> SKDE_FN static JointTables<typename R::real> tables(const R& run) {
    return {won_order(run),
            front_order(run),
            run.scratch(Scratch::won_sorted),
            run.scratch(Scratch::won_place),
            run.scratch(Scratch::front_sorted),
            run.scratch(Scratch::front_rank),
            pieces(run)};
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
      pieces(run).each(share, [&](int, int begin, int n) {
        clear_unused(team, run, g, begin, n, successes);
        sort_top(team, run, g, begin, n);
      });
    }
  }

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

  template <class Team, class R, class Share>
  SKDE_OUTLINE static void place_in_stages(Team& team, const R& run, const Share& share, i64 g, int stage) {
    using real = typename R::real;
    real *const leaves = run.scratch(Scratch::leaves), *const leaves_before = run.scratch(Scratch::leaves_before);
    const auto leaving = [=](int k) { return leaves[k] > 0; };
    switch (stage) {
      case PLACES: return tables(run).place_won(team, share, joint_values(run, g));
      case LEARN: return tables(run).rank_members(team, share, joint_values(run, g));
      case RANKS:
        return share.each_item(run.pop, [&](int i) { make_top(team, run, g, i, Rows<Team>(team, run, g, i)); });
      case LEAVING: return pieces(run).count(team, share, leaving);
      case LEAVING_PLACES:
        return pieces(run).number(team, share, leaving,
                                  [=](int k, int place, bool) { leaves_before[k] = real(place); });
      default:
        share.each_item(run.pop,
                        [&](int i) { make_front(team, run, g, i, Rows<Team>(team, run, g, i), ranks_of(run, g, i)); });
    }
  }
  // Whether member i, or trial i, is not in a front that has become smaller. Each has its own slot.
  template <class R> SKDE_FN static void mark_leaving(const R& run, i64 g, int i, int slot, const Ranks& ranks) {
    using real = typename R::real;
    const real left = real(A::numbers(run, g)[A::NEXT_POP]);
    real* const leaves = run.scratch(Scratch::leaves);
    if (ranks.front >= 0) leaves[i] = real(ranks.front >= left);
    if (slot >= 0) leaves[slot] = real(ranks.trial >= left);
  }
};

}  // namespace SKDE_NAMESPACE
