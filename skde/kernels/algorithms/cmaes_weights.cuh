// The weights and the learning rates of CMA-ES for a population of lambda (arXiv 1604.00772, equations 49 to 58 and table
// 1), and those of separable CMA-ES (Ros, Hansen: A simple modification in CMA-ES achieving linear time and space
// complexity; PPSN X, 2008), which learns (D + 2) / 3 times as fast.
#pragma once
#include "core/math.cuh"

namespace SKDE_NAMESPACE {

struct Rates {
  double positive, negative;  // the factors of positive and of negative weights
  double negative_sum;        // the sum of the negative weights
  double mu_eff, c_sigma, damping, c_c, c_1, c_mu;
};

template <class A> struct CmaesWeights {
  // Weight before its scaling, of rank r = 0, 1, ...
  SKDE_FN static double raw(int lambda, int r) { return log(0.5 * (lambda + 1)) - log(double(r + 1)); }
  SKDE_FN static double weight(const Rates& rates, int lambda, int r) {
    const double w = raw(lambda, r);
    return w * (w > 0 ? rates.positive : rates.negative);
  }

  template <class Team> SKDE_FN static Rates rates(Team& team, int dim, int lambda, bool diagonal, bool active) {
    const int mu = lambda / 2;
    const auto term = [=](int r) { return raw(lambda, r); };
    const auto square = [=](int r) { return raw(lambda, r) * raw(lambda, r); };
    const double sum = double(team.sum(mu, term)), squares = double(team.sum(mu, square));
    const double low = double(team.sum(lambda - mu, [=](int r) { return raw(lambda, mu + r); }));
    const double low_squares = double(team.sum(lambda - mu, [=](int r) { return square(mu + r); }));
    const double n = dim, mu_eff = sum * sum / squares, low_mu_eff = low * low / low_squares;
    Rates rates{};
    rates.positive = 1 / sum, rates.mu_eff = mu_eff;
    rates.c_sigma = (mu_eff + 2) / (n + mu_eff + 3);
    rates.damping = 1 + 2 * max_of(0.0, sqrt(max_of(mu_eff - 1, 0.0) / (n + 1)) - 1) + rates.c_sigma;
    rates.c_c = (4 + mu_eff / n) / (n + 4 + 2 * mu_eff / n);
    const double faster = diagonal ? (n + 2) / 3 : 1.0;
    rates.c_1 = min_of(faster * 2 / ((n + 1.3) * (n + 1.3) + mu_eff), 0.5);
    rates.c_mu = min_of(1 - rates.c_1, faster * 2 * (0.25 + mu_eff + 1 / mu_eff - 2) / ((n + 2) * (n + 2) + mu_eff));
    // So much negative weight that C does not decay, at most so much that it stays positive definite.
    const double decay = 1 + rates.c_1 / rates.c_mu, by_mass = 1 + 2 * low_mu_eff / (mu_eff + 2);
    const double definite = (1 - rates.c_1 - rates.c_mu) / (n * rates.c_mu);
    rates.negative_sum = active ? -min_of(min_of(decay, by_mass), definite) : 0.0;
    rates.negative = rates.negative_sum / low;
    return rates;
  }

  SKDE_FN static Rates load(const double* state) {
    return {state[A::POSITIVE], state[A::NEGATIVE], state[A::NEGATIVE_SUM], state[A::MU_EFF], state[A::C_SIGMA],
            state[A::DAMPING],  state[A::C_C],      state[A::C_1],          state[A::C_MU]};
  }
  SKDE_FN static void store(const Rates& rates, double* state) {
    state[A::POSITIVE] = rates.positive, state[A::NEGATIVE] = rates.negative;
    state[A::NEGATIVE_SUM] = rates.negative_sum, state[A::MU_EFF] = rates.mu_eff;
    state[A::C_SIGMA] = rates.c_sigma, state[A::DAMPING] = rates.damping;
    state[A::C_C] = rates.c_c, state[A::C_1] = rates.c_1, state[A::C_MU] = rates.c_mu;
  }
};

}  // namespace SKDE_NAMESPACE
