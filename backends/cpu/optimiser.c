/* optimiser.c - one step of an optimiser: L2, clipping, and one pass of its rule (a file of optimiser/) over all
   weights. */
#include "team_impl.h"

#include <math.h>

enum tutti_status backend_cpu_stepper_create(tutti_context *context, struct cpu_plan *plan,
                                             const struct cpu_config *config, struct cpu_stepper **made) {
  struct cpu_stepper *stepper = NULL;
  enum tutti_status status;
  *made = NULL;
  if (config->optimiser < 0 || config->optimiser >= CPU_OPTIMISERS)
    return TUTTI_FAIL(context, TUTTI_ERROR_INTERNAL, "optimiser %d has no rule; those from 0 to %d have one",
                      config->optimiser, CPU_OPTIMISERS - 1);
  const struct cpu_rule *rule = plan->kernels->rules[config->optimiser];
  TUTTI_TRY_OUT(context, tutti_alloc(context, 1, sizeof *stepper, &stepper));
  stepper->config = config;
  stepper->rule = rule;
  stepper->plan = plan;
  if (rule->first)
    TUTTI_TRY_OUT(context, tutti_alloc(context, plan->trained, sizeof(float), &stepper->first));
  if (rule->second)
    TUTTI_TRY_OUT(context, tutti_alloc(context, plan->trained, sizeof(float), &stepper->second));
  if (rule->second && rule->start)
    for (size_t i = 0; i < plan->trained; i++)
      stepper->second[i] = (float)rule->start(config);
  *made = stepper;
  stepper = NULL;
out:
  backend_cpu_stepper_destroy(stepper);
  return status;
}

void backend_cpu_stepper_destroy(struct cpu_stepper *stepper) {
  if (!stepper)
    return;
  tutti_free(stepper->first);
  tutti_free(stepper->second);
  tutti_free(stepper);
}

/* Coefficients of this step, except scale and decay. */
static struct cpu_update optimiser_update(struct cpu_stepper *stepper, double rate) {
  const struct cpu_config *config = stepper->config;
  struct cpu_coefficients c = {.step = stepper->steps,
                               .rate = rate,
                               .momentum = config->momentum,
                               .beta1 = config->beta1,
                               .beta2 = config->beta2,
                               .epsilon = config->epsilon,
                               .own = stepper->own};
  if (stepper->rule->fit)
    stepper->rule->fit(config, &c);
  struct cpu_update u = {.rate = (float)c.rate,
                         .momentum = (float)c.momentum,
                         .beta1 = (float)c.beta1,
                         .beta2 = (float)c.beta2,
                         .epsilon = (float)c.epsilon,
                         .nesterov = config->nesterov};
  for (size_t i = 0; i < CPU_OWN; i++)
    u.own[i] = (float)c.own[i];
  return u;
}

static size_t segment_size(const struct cpu_segment *segment) { return segment->rows * segment->ld; }

static float clip_scale(double limit, double squares) {
  double norm = sqrt(squares);
  return norm > limit ? (float)(limit / norm) : 1;
}

/* One pass over some weights, in parts for the plan's team. */
enum { PASS_PART = 1 << 16 };

struct pass {
  const struct cpu_stepper *stepper;
  const struct cpu_update *update;
  const float *from;
  size_t begin, end;
};

static void run_pass(void *argument, size_t part, float *pack) {
  const struct pass *pass = argument;
  const struct cpu_stepper *stepper = pass->stepper;
  struct cpu_plan *plan = stepper->plan;
  size_t at = pass->begin + part * PASS_PART, count = pass->end - at < PASS_PART ? pass->end - at : PASS_PART;
  (void)pack;
  stepper->rule->update(pass->update, count, pass->from + at, plan->weights + at, plan->gradients + at,
                        stepper->first ? stepper->first + at : NULL, stepper->second ? stepper->second + at : NULL);
}

/* One pass over all neighbouring weights with equal decay, or (not `decays`) without. */
static void optimiser_pass(struct cpu_stepper *stepper, const float *from, bool decays, struct cpu_update *u) {
  struct cpu_plan *plan = stepper->plan;
  for (size_t s = 0; s < plan->segment_count;) {
    const struct cpu_segment *first = &plan->segments[s];
    size_t begin = first->offset, end = begin;
    u->decay = decays ? first->decay : 0;
    for (; s < plan->segment_count && backend_cpu_steps(&plan->segments[s]); s++) {
      if (decays && plan->segments[s].decay != u->decay)
        break;
      end += segment_size(&plan->segments[s]);
    }
    if (end == begin) {
      s++;
      continue;
    }
    struct pass pass = {.stepper = stepper, .update = u, .from = from, .begin = begin, .end = end};
    struct cpu_work work = {.parts = (end - begin + PASS_PART - 1) / PASS_PART, .run = run_pass, .argument = &pass};
    backend_cpu_team_run(plan->team, &work, NULL);
  }
}

/* The same with clipping: L2 is added to the gradient first, then the norm is taken, of each array or of all
   together. */
static void optimiser_clipped(struct cpu_stepper *stepper, const float *from, struct cpu_update *u) {
  struct cpu_plan *plan = stepper->plan;
  const struct cpu_config *config = stepper->config;
  bool each = config->gradient_clip_by == CPU_CLIP_VARIABLE;
  double squares = 0;
  for (size_t s = 0; s < plan->segment_count; s++) {
    const struct cpu_segment *segment = &plan->segments[s];
    if (!backend_cpu_steps(segment))
      continue;
    size_t size = segment_size(segment);
    float *g = plan->gradients + segment->offset;
    if (segment->decay > 0)
      plan->kernels->axpy(size, segment->decay, from + segment->offset, g);
    double own = plan->kernels->sum_squares(size, g);
    squares += own;
    if (each)
      plan->kernels->scale(size, clip_scale(config->gradient_clip, own), g);
  }
  u->scale = each ? 1 : clip_scale(config->gradient_clip, squares);
  optimiser_pass(stepper, from, false, u);
}

void backend_cpu_step(struct cpu_stepper *stepper, double rate, const float *from) {
  stepper->steps++;
  struct cpu_update u = optimiser_update(stepper, rate);
  u.scale = 1;
  if (stepper->config->gradient_clip > 0)
    optimiser_clipped(stepper, from, &u);
  else
    optimiser_pass(stepper, from, true, &u);
}
