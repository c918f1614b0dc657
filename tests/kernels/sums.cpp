// Sums over a large population, made at once and in parts.
#include "core/order.cuh"
#include "core/reductions.cuh"

namespace {

using namespace skde;
using Team = Lane<double>;
constexpr int SUMS = 3;

// A team that counts how often a lane waits for the others.
struct WaitingLane : Reductions<double, WaitingLane> {
  static constexpr int size = 1;
  int lane = 0, *waits;
  void sync() const { ++*waits; }
};

template <class Sum> void with_terms(const double* values, double* out, Sum sum) {
  const auto found = sum([=](int k) { return values[k]; },
                         [](double value, bool counts, double* t) {
                           const double v = counts ? value : 0.0;
                           t[0] = v, t[1] = v * v, t[2] = double(v > 0);
                         });
  for (int s = 0; s < SUMS; ++s) out[s] = found.of[s];
}

}  // namespace

extern "C" {

void sum_at_once(const double* values, int n, double* out) {
  Team team;
  with_terms(values, out, [&](auto at, auto terms) { return team.template sums<SUMS>(n, at, terms); });
}

void sum_in_parts(const double* values, int n, int stages, double* out) {
  Team team;
  double partials[SUMS * PARTIALS];
  with_terms(values, out, [&](auto at, auto terms) {
    for (int stage = 0; stage < stages; ++stage)
      for (int part = SUMS * PARTIALS / Team::size - 1; part >= 0; --part)
        make_partials<SUMS>(team, part, n, at, terms, partials, stage, stages);
    Several<double, SUMS> sums;
    for (int s = 0; s < SUMS; ++s) sums.of[s] = team.sum(PARTIALS, [&](int p) { return partials[s * PARTIALS + p]; });
    return sums;
  });
}

// The waits of each lane of all teams.
void count_waits(const double* values, int n, int* waits) {
  double partials[SUMS * PARTIALS], sums[SUMS];
  with_terms(values, sums, [&](auto at, auto terms) {
    for (int part = 0; part < SUMS * PARTIALS; ++part) {
      WaitingLane team;
      team.waits = waits + part;
      make_partials<SUMS>(team, part, n, at, terms, partials);
    }
    return Several<double, SUMS>();
  });
}
}
