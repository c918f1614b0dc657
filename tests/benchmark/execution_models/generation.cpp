// The kernels of gpu_step.cu, gpu_operators.cu and gpu_generation.cu on the CPU, for SKDE_ALGORITHM and SKDE_OBJECTIVE: one
// team after the other, forwards or backwards, each with its own memory.
#include <vector>

#include "algorithms/all.cuh"
#include "generation.cuh"
#include "operators.cuh"
#include "problems/all.cuh"

namespace {

using namespace skde;
using real = double;
using Team = Lane<real>;

// As GroupShare of gpu.cuh.
struct TeamShare {
  int begin, end = 0, step, part = 0;
  bool leader;

  TeamShare(int number, int teams) : begin(number), step(teams), leader(number == 0) {}
  void divide(int pop) { end = pop; }
  bool adapts(int pop) const { return begin == (step > pop ? pop : 0); }
  int pieces(int) const { return 1; }
  int bound(int n, int piece) const { return piece ? n : 0; }
  int piece_of(int, int) const { return 0; }
  template <class Body> void each_position(const Team&, int n, Body body) const {
    for (int p = begin; p < n; p += step) body(p);
  }
  template <class Body> void each_item(int n, Body body) const { each_position(Team(), n, body); }
};

struct Memory {
  std::vector<real> scratch;
  std::vector<u32> words;
  std::vector<SortItem> sorting;
  Ahead ahead;
  Team team;

  explicit Memory(const Task<real>& task)
      : scratch(size_t(task.dim * SKDE_OBJECTIVE::scratch)), sorting(size_t(task.sorting_size)) {
    team.room = int((max_of(task.dim, task.pop_max) + 31) / 32 * 32);
    words.resize(size_t(team.room) * 3);
    team.scratch = scratch.data(), team.words = words.data(), team.ahead = &ahead, team.sorting = sorting.data();
  }
};

struct Launch {
  const Task<real>* task;
  i64 teams;
  bool backward;

  template <class Body> void operator()(Body body) const {
    for (i64 k = 0; k < task->n_runs * teams; ++k) {
      const i64 at = backward ? task->n_runs * teams - 1 - k : k;
      Memory memory(*task);
      TeamShare share(int(at % teams), int(teams));
      body(memory.team, share, at / teams);
    }
  }
};

i64 at(const i64* clock, i64 g) { return clock ? *clock + g : g; }

}  // namespace

#define SKDE_KERNEL(name, ...) extern "C" void name(const Launch& launch, i64 g, const i64* clock, __VA_ARGS__)

SKDE_KERNEL(propose, real* trials) {
  launch([&](auto& team, auto& share, i64 r) {
    propose<SKDE_ALGORITHM>(team, *launch.task, r, share, at(clock, g), trials);
  });
}
SKDE_KERNEL(accept, const real* trials, const real* f) {
  launch([&](auto& team, auto& share, i64 r) {
    accept<SKDE_ALGORITHM>(team, *launch.task, r, share, at(clock, g), trials, f);
  });
}
SKDE_KERNEL(end_generation, i64 stage) {
  launch([&](auto& team, auto& share, i64 r) {
    end_generation<SKDE_ALGORITHM>(team, *launch.task, r, share, at(clock, g), int(stage));
  });
}
SKDE_KERNEL(migrate, i64 step) {
  launch([&](auto& team, auto& share, i64 r) {
    migrate<SKDE_ALGORITHM>(team, *launch.task, r, share, at(clock, g), int(step));
  });
}
SKDE_KERNEL(evaluate, real* f) {
  const Shared<real> shared(*launch.task);
  launch([&](auto& team, auto& share, i64 r) {
    evaluate_trials<SKDE_ALGORITHM>(team, *launch.task, shared, r, share, SKDE_OBJECTIVE{}, at(clock, g), f);
  });
}
SKDE_KERNEL(prepare, PreparedTrial* prepared) {
  if constexpr (has_operators<SKDE_ALGORITHM>)
    launch([&](auto& team, auto& share, i64 r) {
      prepare<SKDE_ALGORITHM>(team, *launch.task, r, share, at(clock, g), prepared);
    });
}
SKDE_KERNEL(mutate, const PreparedTrial* prepared, real* mutants) {
  if constexpr (has_operators<SKDE_ALGORITHM>)
    launch([&](auto& team, auto& share, i64 r) {
      mutate<SKDE_ALGORITHM>(team, *launch.task, r, share, at(clock, g), prepared, mutants);
    });
}
SKDE_KERNEL(cross, const PreparedTrial* prepared, const real* mutants) {
  if constexpr (has_operators<SKDE_ALGORITHM>)
    launch([&](auto& team, auto& share, i64 r) {
      cross_mutants<SKDE_ALGORITHM>(team, *launch.task, r, share, at(clock, g), prepared, mutants);
    });
}
SKDE_KERNEL(make, const PreparedTrial* prepared) {
  const auto& task = *launch.task;
  const Shared<real> shared(task);
  const i64 now = at(clock, g);
  std::vector<real> room(size_t(task.dim));
  launch([&](auto& team, auto& share, i64 r) {
    make_generation<SKDE_ALGORITHM>(team, task, shared, r, share, SKDE_OBJECTIVE{}, room.data(), now,
                                    [&](const auto& run, int i) {
                                      if constexpr (has_operators<SKDE_ALGORITHM>)
                                        return PreparedDraws<Team>(team, run, now, i, prepared[r * task.pop_max + i]);
                                      else
                                        return DrawsOf<SKDE_ALGORITHM, Team>(team, run, now, i);
                                    });
  });
}
extern "C" void count(const Launch& launch, i64 g, const i64* clock) {
  launch([&](auto& team, auto& share, i64 r) {
    count_generation<SKDE_ALGORITHM>(team, *launch.task, r, share, at(clock, g));
  });
}
extern "C" void advance(i64* clock, i64 generations) { *clock += generations; }
