/* math_impl.h - exp, log and the functions that activations build from them, for vectors of floats. The polynomials are
   least-maximum fits of our own. tests/unit/cpu-math.c measures each function's bound against the C library over its
   whole range. NaN in, NaN out. */
#ifndef BACKEND_CPU_MATH_IMPL_H
#define BACKEND_CPU_MATH_IMPL_H

#include "vector_impl.h"

/* exp(x) - 1 = 2^n (1 + q) - 1 with x = n log 2 + r: returns q = exp(r) - 1 and 2^n as a float. */
CPU_INLINE vec v_reduced_expm1(vec x, vec *power) {
  vec n = v_round(x * v_set(1.44269504f));
  vec r = v_fma(n, v_set(-0.693359375f), x);
  r = v_fma(n, v_set(2.12194440e-4f), r);
  vec p = v_set(1.3953000e-3f);
  p = v_fma(p, r, v_set(8.3703200e-3f));
  p = v_fma(p, r, v_set(4.1666170e-2f));
  p = v_fma(p, r, v_set(1.6666507e-1f));
  p = v_fma(p, r, v_set(5.0000001e-1f));
  *power = v_from_bits(i_shift_left(i_add(v_to_int(n), i_set(127)), 23));
  return v_fma(p, r * r, r);
}

/* exp(x) within 2e-7 relative; 1.2e-38 at and below -87.3, infinity above 88.7. */
CPU_INLINE vec v_exp(vec x) {
  vec power, inside = v_min(v_set(88.02f), v_max(v_set(-87.33f), x));
  vec q = v_reduced_expm1(inside, &power);
  vec y = v_fma(q, power, power);
  /* The last 0.7 before overflow have n = 128, but no float holds 2^128: square half of it. */
  vec half = v_min(v_set(44.5f), x * v_set(0.5f)), half_power;
  vec h = v_reduced_expm1(v_max(v_set(-44.5f), half), &half_power);
  h = v_fma(h, half_power, half_power);
  return v_select(v_greater(x, v_set(88.0f)), h * h, y);
}

/* exp(x) for x <= 0 (or NaN), as v_exp. */
CPU_INLINE vec v_exp_negative(vec x) {
  vec power, q = v_reduced_expm1(v_max(v_set(-87.33f), x), &power);
  return v_fma(q, power, power);
}

/* exp(x) - 1 for x <= 0 (or NaN), within 3e-7 relative, small x too. */
CPU_INLINE vec v_expm1_negative(vec x) {
  vec power, q = v_reduced_expm1(v_max(v_set(-87.33f), x), &power);
  return v_fma(q, power, power - v_set(1));
}

/* log1p(u) for u in [0, 1], within 3e-7 relative: 2 artanh(u / (2 + u)). */
CPU_INLINE vec v_log1p_unit(vec u) {
  vec s = u / (u + v_set(2)), z = s * s;
  vec p = v_set(0.1401564f);
  p = v_fma(p, z, v_set(0.13998931f));
  p = v_fma(p, z, v_set(0.20010885f));
  p = v_fma(p, z, v_set(0.33333206f));
  return v_set(2) * v_fma(s * z, p, s);
}

/* log(x) for normal x > 0, within 2e-7 absolute or relative: x = 2^n m, m in [sqrt(1/2), sqrt(2)), 2 artanh((m - 1)/(m
 * + 1)). */
CPU_INLINE vec v_log(vec x) {
  ivec shifted = i_add(v_bits(x), i_set(0x3f800000 - 0x3f3504f3));
  vec n = v_from_int(i_add(i_shift_right(shifted, 23), i_set(-127)));
  vec m = v_from_bits(i_add(i_and(shifted, i_set(0x007fffff)), i_set(0x3f3504f3)));
  vec f = m - v_set(1), s = f / (f + v_set(2)), z = s * s;
  vec p = v_set(0.1401564f);
  p = v_fma(p, z, v_set(0.13998931f));
  p = v_fma(p, z, v_set(0.20010885f));
  p = v_fma(p, z, v_set(0.33333206f));
  vec twice = s + s;
  vec low = v_fma(twice * z, p, n * v_set(-2.12194440e-4f));
  return v_fma(n, v_set(0.693359375f), twice + low);
}

/* log(1 + exp(x)), within 4e-7 relative. */
CPU_INLINE vec v_softplus(vec x) { return v_max(v_zero(), x) + v_log1p_unit(v_exp_negative(v_negate(v_abs(x)))); }

/* 1 / (1 + exp(-x)), within 4e-7 relative. */
CPU_INLINE vec v_sigmoid(vec x) {
  vec e = v_exp_negative(v_negate(v_abs(x)));
  return v_select(v_greater(x, v_zero()), v_set(1), e) / (v_set(1) + e);
}

/* tanh(x), within 4e-7 relative: an odd polynomial near 0, else 1 - 2 / (exp(2 |x|) + 1) as (1 - e) / (1 + e). */
CPU_INLINE vec v_tanh(vec x) {
  vec z = x * x, size = v_abs(x);
  vec p = v_set(-0.00571704f);
  p = v_fma(p, z, v_set(0.02065058f));
  p = v_fma(p, z, v_set(-0.0537435f));
  p = v_fma(p, z, v_set(0.13331491f));
  p = v_fma(p, z, v_set(-0.33333284f));
  vec near = v_fma(x * z, p, x);
  vec e = v_exp_negative(size * v_set(-2));
  vec far = (v_set(1) - e) / (v_set(1) + e);
  far = v_select(v_greater(v_zero(), x), v_negate(far), far);
  return v_select(v_greater(size, v_set(0.625f)), far, near);
}

/* Phi(x), the standard normal distribution function, and *density = exp(-x^2 / 2); within 3e-7 absolute.
   erfc(a) exp(a^2) / t is a polynomial in t = 1 / (1 + 0.35 a). */
CPU_INLINE vec v_normal_cdf(vec x, vec *density) {
  vec a = v_abs(x) * v_set(0.70710678f), t = v_set(1) / v_fma(a, v_set(0.35f), v_set(1));
  vec p = v_set(0.04075411f);
  p = v_fma(p, t, v_set(-0.17411409f));
  p = v_fma(p, t, v_set(0.22259559f));
  p = v_fma(p, t, v_set(-0.08935417f));
  p = v_fma(p, t, v_set(0.14345155f));
  p = v_fma(p, t, v_set(0.11331394f));
  p = v_fma(p, t, v_set(0.16320524f));
  p = v_fma(p, t, v_set(0.18520901f));
  p = v_fma(p, t, v_set(0.19747251f));
  p = v_fma(p, t, v_set(0.19746628f));
  *density = v_exp_negative(v_negate(a * a));
  vec tail = v_set(0.5f) * *density * t * p;
  return v_select(v_greater(x, v_zero()), v_set(1) - tail, tail);
}

#endif
