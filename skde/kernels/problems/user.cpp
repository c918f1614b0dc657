// A user's objective for the CPU, which the system's compiler compiles into a library.
#include "problems/user.cuh"
#include "cpu/objective.cuh"

extern "C" double skde_user_double(const double* x, long long d, const void* data, double* scratch) {
  using namespace SKDE_NAMESPACE;
  return evaluate<UserObjective, double>(x, d, static_cast<const Data<double>*>(data), scratch);
}
extern "C" float skde_user_float(const float* x, long long d, const void* data, float* scratch) {
  using namespace SKDE_NAMESPACE;
  return evaluate<UserObjective, float>(x, d, static_cast<const Data<float>*>(data), scratch);
}
