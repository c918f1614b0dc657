// Draws from the normal and the Cauchy distribution, by inversion: one word, one draw, the same bits everywhere.
#pragma once
#include "core/math.cuh"
#include "random/philox.cuh"

namespace SKDE_NAMESPACE {

// A number in (0, 1), without the ends.
SKDE_FN double inner_unit(u32 word) { return (double(word) + 0.5) * 0x1p-32; }

// The quantile of the standard normal distribution (M. J. Wichura, Algorithm AS 241, Applied Statistics 37, 1988:
// PPND16), in three parts: around the median, of q = u - 1/2; and in the tails, of r = sqrt(-log of the smaller of u
// and 1 - u).
SKDE_FN double normal_middle(double q) {
  const double r = 0.180625 - q * q;
  return q *
         polynomial(r, 3.3871328727963666080, 133.14166789178437745, 1971.5909503065514427, 13731.693765509461125,
                    45921.953931549871457, 67265.770927008700853, 33430.575583588128105, 2509.0809287301226727) /
         polynomial(r, 1.0, 42.313330701600911252, 687.18700749205790830, 5394.1960214247511077, 21213.794301586595867,
                    39307.895800092710610, 28729.085735721942674, 5226.4952788528545610);
}
SKDE_FN double normal_tail(double r) {
  r -= 1.6;
  return polynomial(r, 1.42343711074968357734, 4.63033784615654529590, 5.76949722146069140550, 3.64784832476320460504,
                    1.27045825245236838258, 2.41780725177450611770e-1, 2.27238449892691845833e-2,
                    7.74545014278341407640e-4) /
         polynomial(r, 1.0, 2.05319162663775882187, 1.67638483018380384940, 6.89767334985100004550e-1,
                    1.48103976427480074590e-1, 1.51986665636164571966e-2, 5.47593808499534494600e-4,
                    1.05075007164441684324e-9);
}
SKDE_FN double normal_far_tail(double r) {
  r -= 5.0;
  return polynomial(r, 6.65790464350110377720, 5.46378491116411436990, 1.78482653991729133580,
                    2.96560571828504891230e-1, 2.65321895265761230930e-2, 1.24266094738807843860e-3,
                    2.71155556874348757815e-5, 2.01033439929228813265e-7) /
         polynomial(r, 1.0, 5.99832206555887937690e-1, 1.36929880922735805310e-1, 1.48753612908506148525e-2,
                    7.86869131145613259100e-4, 1.84631831751005468180e-5, 1.42151175831644588870e-7,
                    2.04426310338993978564e-15);
}

SKDE_FN double normal_quantile(double u) {
  const double q = u - 0.5;
  if (abs_of(q) <= 0.425) return normal_middle(q);
  const double r = sqrt(-log(q < 0 ? u : 1.0 - u)), value = r <= 5.0 ? normal_tail(r) : normal_far_tail(r);
  return q < 0 ? -value : value;
}

// A draw from the standard normal distribution in single precision, for random steps, which have one for each component
// (Wichura's PPND7; 32 bits do not reach its third part). It has no branch, so that loops are vectorised, and is
// symmetric in the word.
SKDE_FN float normal_draw(u32 word) {
  const bool low = word < 0x80000000u;
  const float u = (float(int(low ? word : ~word)) + 0.5f) * 0x1p-32f, q = 0.5f - u;
  const bool central = q <= 0.425f;

  const u32 root_half = 0x3f3504f3u;
  const int k = int(bits_as<u32>(u) - root_half) >> 23;
  const float m = bits_as<float>(bits_as<u32>(u) - (u32(k) << 23));
  const float s = (m - 1.0f) / (m + 1.0f), t = s * s;
  const float log_u = float(k) * 0.693147181f + 2.0f * s * polynomial(t, 1.0f, 1.0f / 3, 1.0f / 5, 1.0f / 7, 1.0f / 9);

  const float r = central ? 0.180625f - q * q : sqrt(-log_u) - 1.6f;
  const float over_1 = polynomial(r, 3.3871327179f, 50.434271938f, 159.29113202f, 59.109374720f);
  const float under_1 = polynomial(r, 1.0f, 17.895169469f, 78.757757664f, 67.187563600f);
  const float over_2 = polynomial(r, 1.4234372777f, 2.7568153900f, 1.3067284816f, 0.17023821103f);
  const float under_2 = polynomial(r, 1.0f, 0.73700164250f, 0.12021132975f);
  const float value = (central ? q * over_1 : over_2) / (central ? under_1 : under_2);
  return low ? -value : value;
}

// The quantile of the standard Cauchy distribution, tan(pi (u - 1/2)).
SKDE_FN double cauchy_quantile(double u) {
  const double angle = Constants<double>::pi * (u - 0.5);
  return sin(angle) / cos(angle);
}

// Draws from 32 bits, which do not reach the far tail.
SKDE_FN double normal(u32 word) {
  const double u = inner_unit(word), q = u - 0.5;
  double value;
  if (abs_of(q) <= 0.425) {
    value = normal_middle(q);
  } else {
    const double size = normal_tail(sqrt(-log(q < 0 ? u : 1.0 - u)));
    value = q < 0 ? -size : size;
  }
  return value;
}
SKDE_FN double cauchy(u32 word) { return cauchy_quantile(inner_unit(word)); }

// A draw from the standard Cauchy distribution in single precision, for random steps, like normal_draw(): the cotangent
// of pi times the smaller of u and 1 - u, with a sign.
SKDE_FN float cauchy_draw(u32 word) {
  const bool low = word < 0x80000000u;
  const float angle = (float(int(low ? word : ~word)) + 0.5f) * (Constants<float>::pi * 0x1p-32f);
  const float value = cos(angle) / sin(angle);
  return low ? -value : value;
}

SKDE_FN double tanh(double x) {
  const double t = exp(-2.0 * abs_of(x)), value = (1.0 - t) / (1.0 + t);
  return x < 0 ? -value : value;
}

}  // namespace SKDE_NAMESPACE
