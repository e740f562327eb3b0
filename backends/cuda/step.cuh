/* step.cuh - one step of an optimiser: L2, clipping, and its rule, the same source as backend cpu's
   (backends/cpu/optimiser). */
#ifndef BACKEND_CUDA_STEP_CUH
#define BACKEND_CUDA_STEP_CUH

#include "device.cuh"
#include "optimisers.cuh"

/* The coefficients of step number `steps`, from 1, but for scale and decay; own[CPU_OWN] is kept from step to step. */
CUDA_PHASE struct cpu_update update_of(const struct cpu_config &config, uint64_t steps, double rate, double *own) {
  struct cpu_coefficients c = {steps, rate, config.momentum, config.beta1, config.beta2, config.epsilon, own};
  switch (config.optimiser) {
#define FIT(id, name)                                                                                                  \
  case CPU_##id: {                                                                                                     \
    constexpr struct cpu_rule rule = rule_##name();                                                                    \
    if (rule.fit)                                                                                                      \
      rule.fit(&config, &c);                                                                                           \
    break;                                                                                                             \
  }
    CPU_OPTIMISER_LIST(FIT)
#undef FIT
  }
  struct cpu_update u = {1, 0, (float)c.rate, (float)c.momentum, (float)c.beta1, (float)c.beta2, (float)c.epsilon};
  for (int i = 0; i < CPU_OWN; i++)
    u.own[i] = (float)c.own[i];
  u.nesterov = config.nesterov;
  return u;
}

/* The rule for all numbers of an array, by all threads together. A thread takes some vectors at once, so that all that
   it loads is under way before it stores. Arrays of weights are whole vectors. */
template <bool FIRST, bool SECOND, typename Rule>
CPU_INLINE void sweep(uint32_t count, float *weights, const float *gradients, float *first, float *second, Rule rule) {
  constexpr uint32_t VECTORS = 2, NUMBERS = 4 * VECTORS;
  for (uint32_t begin = threadIdx.x * 4; begin < count; begin += NUMBERS * CUDA_WORKERS) {
    float w[NUMBERS], g[NUMBERS], m[NUMBERS], v[NUMBERS];
    CUDA_UNROLL
    for (uint32_t d = 0; d < VECTORS; d++) {
      const uint32_t at = begin + 4 * d * CUDA_WORKERS, i = at < count ? at : begin;
      take_four(weights + i, w + 4 * d);
      take_four(gradients + i, g + 4 * d);
      if (FIRST)
        take_four(first + i, m + 4 * d);
      if (SECOND)
        take_four(second + i, v + 4 * d);
    }
    rule(NUMBERS, w, g, m, v);
    CUDA_UNROLL
    for (uint32_t d = 0; d < VECTORS; d++) {
      const uint32_t i = begin + 4 * d * CUDA_WORKERS;
      if (i < count) {
        put_four(weights + i, make_float4(w[4 * d], w[4 * d + 1], w[4 * d + 2], w[4 * d + 3]));
        if (FIRST)
          put_four(first + i, make_float4(m[4 * d], m[4 * d + 1], m[4 * d + 2], m[4 * d + 3]));
        if (SECOND)
          put_four(second + i, make_float4(v[4 * d], v[4 * d + 1], v[4 * d + 2], v[4 * d + 3]));
      }
    }
  }
}

CPU_INLINE void update_weights(const struct cpu_config &config, const struct cpu_update &u, uint32_t count,
                               float *weights, const float *gradients, float *first, float *second) {
  switch (config.optimiser) {
#define UPDATE(id, name)                                                                                               \
  case CPU_##id: {                                                                                                     \
    constexpr struct cpu_rule rule = rule_##name();                                                                    \
    sweep<rule.first, rule.second>(count, weights, gradients, first, second,                                           \
                                   [&](uint32_t numbers, float *w, const float *g, float *m, float *v) {               \
                                     update_##name(&u, numbers, w, w, g, m, v);                                        \
                                   });                                                                                 \
    break;                                                                                                             \
  }
    CPU_OPTIMISER_LIST(UPDATE)
#undef UPDATE
  }
}

/* What the second state starts with. */
CUDA_PHASE float start_of(const struct cpu_config &config) {
  double start = 0;
  switch (config.optimiser) {
#define START(id, name)                                                                                                \
  case CPU_##id: {                                                                                                     \
    constexpr struct cpu_rule rule = rule_##name();                                                                    \
    if (rule.start)                                                                                                    \
      start = rule.start(&config);                                                                                     \
    break;                                                                                                             \
  }
    CPU_OPTIMISER_LIST(START)
#undef START
  }
  return (float)start;
}

CPU_INLINE float clip_scale(double limit, double squares) {
  const double norm = sqrt(squares);
  return norm > limit ? (float)(limit / norm) : 1;
}

/* L2 is added to the gradients first, then the norm is taken, of each array or of all together. Returns the factor that
   is left for all. */
CUDA_PHASE float clip(const struct block &b, const struct cuda_job &job) {
  const bool every = job.config.gradient_clip_by == CPU_CLIP_VARIABLE;
  double squares = 0;
  for (uint32_t s = 0; s < job.segment_count; s++) {
    const struct cuda_segment &segment = job.segments[s];
    float *g = b.gradients + segment.offset;
    const float *w = b.weights + segment.offset, decay = segment.decay;
    const double own = sum_over(b, segment.size, [=](uint32_t i) {
      if (decay > 0)
        g[i] = CUDA_FMA(decay, w[i], g[i]);
      return (double)g[i] * (double)g[i];
    });
    squares += own;
    const float by = clip_scale(job.config.gradient_clip, own);
    if (every)
      each(segment.size, [=](uint32_t i) { g[i] *= by; });
  }
  return every ? 1 : clip_scale(job.config.gradient_clip, squares);
}

CUDA_PHASE void step_on(const struct block &b, const struct cuda_job &job, double rate) {
  const bool clips = job.config.gradient_clip > 0;
  float scale = 1;
  if (threadIdx.x == 0) {
    b.state->steps++;
    b.state->update = update_of(job.config, b.state->steps, rate, b.state->own);
  }
  if (clips)
    scale = clip(b, job);
  meet();
  struct cpu_update u = b.state->update;
  u.scale = scale;
  for (uint32_t s = 0; s < job.segment_count; s++) {
    const struct cuda_segment &segment = job.segments[s];
    u.decay = clips ? 0 : segment.decay;
    update_weights(job.config, u, segment.size, b.weights + segment.offset, b.gradients + segment.offset,
                   at(b, job.first) + segment.offset, at(b, job.second) + segment.offset);
  }
  meet();
}

#endif
