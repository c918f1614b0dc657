// The GPU's sort by samples on the CPU: in each stage one team after the other, forwards or backwards.
#include "core/order.cuh"
#include "core/reductions.cuh"

namespace {

using namespace skde;

struct TeamShare {
  int begin, step;

  template <class Body> void each_item(int n, Body body) const {
    for (int k = begin; k < n; k += step) body(k);
  }
  template <class Team, class Body> void each_position(const Team&, int n, Body body) const { each_item(n, body); }
};

template <class real>
void sort_by_samples(const real* values, int n, int teams, bool backward, i64* order, i64* other, i64* memory) {
  Lane<real> team;
  for (int stage = 0; stage < SAMPLE_STAGES; ++stage)
    for (int k = 0; k < teams; ++k) {
      const TeamShare share{backward ? teams - 1 - k : k, teams};
      sample_stage(team, share, n, [=](int i) { return values[i]; }, stage, order, other, memory);
    }
}

}  // namespace

extern "C" {

long long words(int n) { return sample_words(n); }
int samples(int n) { return samples_of(n); }

void sort_float64(const double* values, int n, int teams, bool backward, i64* order, i64* other, i64* memory) {
  sort_by_samples(values, n, teams, backward, order, other, memory);
}
void sort_float32(const float* values, int n, int teams, bool backward, i64* order, i64* other, i64* memory) {
  sort_by_samples(values, n, teams, backward, order, other, memory);
}
}
