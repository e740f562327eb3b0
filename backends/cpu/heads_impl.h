/* heads_impl.h - the arithmetic of the heads. */
#ifndef BACKEND_CPU_HEADS_IMPL_H
#define BACKEND_CPU_HEADS_IMPL_H

#include "kernels_impl.h"
#include "math_impl.h"

#define HALF_LOG_2PI 0.91893853320467274178f

CPU_KERNEL double gaussian(const struct cpu_gaussian *head, size_t count, const float *mean, const float *raw,
                           const float *target, float *mean_gradient, float *raw_gradient) {
  const vec one = v_set(1), half = v_set(0.5f), scale_by = v_set(head->scale), floor_at = v_set(head->floor);
  const vec weight = v_set(head->weight), chain = v_set(head->weight * head->scale);
  double total = 0;
  for (size_t i = 0; i < count; i += CPU_LANES) {
    size_t here = count - i < CPU_LANES ? count - i : CPU_LANES;
    vec t = v_load_first(raw + i, here) * scale_by;
    vec e = v_exp_negative(v_negate(v_abs(t)));
    vec spread = floor_at + (v_max(v_zero(), t) + v_log1p_unit(e));
    vec residual = v_load_first(target + i, here) - v_load_first(mean + i, here);
    vec inverse = one / spread, log_spread = v_log(spread), precision, log_sigma;
    if (head->variance) {
      precision = inverse;
      log_sigma = half * log_spread;
    } else {
      precision = inverse * inverse;
      log_sigma = log_spread;
    }
    vec scaled = residual * precision, square = residual * scaled;
    vec loss = v_fma(half, square, log_sigma) + v_set(HALF_LOG_2PI);
    if (here < CPU_LANES) {
      float kept[CPU_LANES];
      v_store(kept, loss);
      for (size_t j = 0; j < here; j++)
        total += (double)kept[j];
    } else {
      total += (double)v_sum(loss);
    }
    if (mean_gradient) {
      vec sigmoid = v_select(v_greater(t, v_zero()), one, e) / (one + e);
      vec in_spread = (head->variance ? half : one) * inverse * (one - square);
      v_store_first(mean_gradient + i, v_negate(weight * scaled), here);
      v_store_first(raw_gradient + i, chain * sigmoid * in_spread, here);
    }
  }
  return total;
}

CPU_KERNEL void variance(const struct cpu_gaussian *head, size_t count, const float *raw, float *out) {
  for (size_t i = 0; i < count; i += CPU_LANES) {
    size_t here = count - i < CPU_LANES ? count - i : CPU_LANES;
    vec spread = v_set(head->floor) + v_softplus(v_load_first(raw + i, here) * v_set(head->scale));
    if (!head->variance)
      spread = spread * spread;
    v_store_first(out + i, spread, here);
  }
}

CPU_KERNEL void softmax(size_t rows, size_t classes, float *x, size_t ld, float *log_sum) {
  for (size_t r = 0; r < rows; r++, x += ld) {
    float top = x[0];
    for (size_t c = 1; c < classes; c++)
      top = x[c] > top ? x[c] : top;
    size_t full = (classes + CPU_LANES - 1) / CPU_LANES * CPU_LANES;
    for (size_t c = 0; c < full; c += CPU_LANES)
      v_store(x + c, v_exp_negative(v_load(x + c) - v_set(top)));
    memset(x + classes, 0, (ld - classes) * sizeof *x);
    vec sums = v_zero();
    for (size_t c = 0; c < full; c += CPU_LANES)
      sums = sums + v_load(x + c);
    float sum = v_sum(sums);
    for (size_t c = 0; c < full; c += CPU_LANES)
      v_store(x + c, v_load(x + c) / v_set(sum));
    if (log_sum) {
      float kept[CPU_LANES];
      v_store(kept, v_log(v_set(sum)));
      log_sum[r] = top + kept[0];
    }
  }
}

#endif
