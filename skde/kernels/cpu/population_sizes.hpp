// The sizes of a population over its generations, for Python, by the formula that the kernels use.
#pragma once
#include <algorithm>
#include <vector>

#include "core/run.cuh"

namespace SKDE_NAMESPACE {

// For each size of a population the first generation that has it. `references` are the individuals that an algorithm
// keeps in addition to the trials.
struct PopulationSizes {
  std::vector<i64> starts, sizes;
  int references = 0;

  explicit PopulationSizes(i64 first) : starts{0}, sizes{first} {}
  void add(i64 start, i64 size) { starts.push_back(start), sizes.push_back(size); }
};

// Adds the changes of size up to the end of the budget. Sizes fall, and may rise once, at reduction.rises_after(): so the
// next change is found by doubling a number of generations, and by bisection.
template <class Reduction> void add_changes(const Reduction& reduction, PopulationSizes& found) {
  const bool by_evals = reduction.max_evals > 0;
  if (!by_evals && !(reduction.max_iter > 0)) return;
  i64 g = 0, evals = 0, size = found.sizes[0];
  for (double now = 0; now < 1;) {
    // The progress after k more generations of this size, and whether the search for a change ends there.
    const auto progress = [&](i64 k) { return reduction.progress(by_evals ? evals + k * size : 0, g + k); };
    const double stop = reduction.rises_after(now);
    const auto ends = [&](i64 k) {
      const double then = progress(k);
      return then >= 1 || then > stop || reduction.population(then) != size;
    };
    const i64 most = 1 + (by_evals ? (i64(reduction.max_evals) - evals) / size : i64(reduction.max_iter) - g);
    i64 before = 0, after = 1;
    while (!ends(after)) before = after, after = std::min(2 * after, most);
    while (after - before > 1) {
      const i64 middle = before + (after - before) / 2;
      (ends(middle) ? after : before) = middle;
    }
    now = progress(after);
    evals += by_evals ? after * size : 0, g += after;
    const i64 next = reduction.population(now);
    if (next != size) found.add(g, next);
    size = next;
  }
}

template <class Algorithm> PopulationSizes population_sizes(const double* parameters) {
  PopulationSizes found{i64(parameters[0])};
  if constexpr (Run<Algorithm, double>::VARIES) {
    const typename Algorithm::Settings settings(parameters);
    if constexpr (has_reference_set<typename Algorithm::Settings>) {
      found.references = settings.reference_set.size;
      found.add(1, settings.pool_size);
    } else {
      add_changes(settings.reduction, found);
    }
  }
  return found;
}

}  // namespace SKDE_NAMESPACE
