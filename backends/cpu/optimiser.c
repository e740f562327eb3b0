/* optimiser.c - the rules by which weights follow their gradients, with Keras's defaults and conventions (g: gradient
   with the L2 terms, after clipping; t: steps, from 1; r: learning rate):

   sgd       m = momentum m + g;  w -= r m, or with Nesterov r (g + momentum m)
             (the rate stands outside m, as in PyTorch: it matters only when a schedule changes it)
   rmsprop   v = rho v + (1 - rho) g^2;  m = momentum m + g / (sqrt(v) + epsilon);  w -= r m
   adagrad   v += g^2, from `accumulator`;  w -= r g / (sqrt(v) + epsilon)
   adam      m = b1 m + (1 - b1) g;  v = b2 v + (1 - b2) g^2;
             keras: w -= r sqrt(1 - b2^t) / (1 - b1^t) m / (sqrt(v) + epsilon)
             paper: w -= r m / (1 - b1^t) / (sqrt(v / (1 - b2^t)) + epsilon)   (Kingma and Ba, ICLR 2015, Algorithm 1)
   adadelta  v = rho v + (1 - rho) g^2;  d = g sqrt((m + epsilon) / (v + epsilon));  m = rho m + (1 - rho) d^2;  w -= r
   d adamax    m as adam;  v = max(b2 v, |g|);  w -= r / (1 - b1^t) m / (v + epsilon) nadam     m, v as adam; c_t = b1
   (1 - 0.5 * 0.96^(0.004 t)), C_t the product of c_1 .. c_t; w -= r ((1 - c_t) g / (1 - C_t) + c_{t+1} m / (1 -
   C_{t+1})) / (sqrt(v / (1 - b2^t)) + epsilon) */
#include "cpu_impl.h"

#include <math.h>

/* Keras's own values where a parameter means different things to different rules. */
static double optimiser_rho(const struct cpu_config *config) {
  return config->rho > 0 ? config->rho : config->optimiser == CPU_ADADELTA ? 0.95 : 0.9;
}

static double nadam_momentum(double beta1, uint64_t step) {
  return beta1 * (1 - 0.5 * pow(0.96, 0.004 * (double)step));
}

void backend_cpu_decays(struct cpu_plan *plan, const struct cpu_config *config) {
  for (size_t s = 0; s < plan->segment_count; s++) {
    struct cpu_segment *segment = &plan->segments[s];
    double own = segment->layer->attributes.l2, l2 = isnan(own) ? config->l2 : own;
    bool counts = segment->trained && (segment->matrix || config->l2_biases);
    segment->decay = counts ? (float)(2 * l2) : 0;
  }
}

enum tutti_status backend_cpu_stepper_create(tutti_context *context, struct cpu_plan *plan,
                                             const struct cpu_config *config, struct cpu_stepper **made) {
  struct cpu_stepper *stepper = NULL;
  enum tutti_status status;
  bool first = config->optimiser != CPU_ADAGRAD, second = config->optimiser != CPU_SGD;
  *made = NULL;
  TUTTI_TRY_OUT(context, tutti_alloc(context, 1, sizeof *stepper, &stepper));
  stepper->config = config;
  stepper->plan = plan;
  stepper->nadam_product = 1;
  if (first)
    TUTTI_TRY_OUT(context, tutti_alloc(context, plan->trained, sizeof(float), &stepper->first));
  if (second)
    TUTTI_TRY_OUT(context, tutti_alloc(context, plan->trained, sizeof(float), &stepper->second));
  if (config->optimiser == CPU_ADAGRAD)
    for (size_t i = 0; i < plan->trained; i++)
      stepper->second[i] = (float)config->accumulator;
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

/* Coefficients of this step, but for scale and decay. */
static struct cpu_update optimiser_update(struct cpu_stepper *stepper, double rate) {
  const struct cpu_config *c = stepper->config;
  double t = (double)stepper->steps, beta2 = c->beta2, epsilon = c->epsilon;
  double first = 1 - pow(c->beta1, t), second = 1 - pow(c->beta2, t);
  struct cpu_update u = {.nesterov = c->nesterov, .momentum = (float)c->momentum, .beta1 = (float)c->beta1};
  switch ((enum cpu_optimiser)c->optimiser) {
  case CPU_RMSPROP:
  case CPU_ADADELTA:
    beta2 = optimiser_rho(c);
    break;
  case CPU_ADAM:
    /* The paper's rule is Keras's with epsilon sqrt(1 - b2^t). */
    rate *= sqrt(second) / first;
    if (c->epsilon_placement == CPU_EPSILON_PAPER)
      epsilon *= sqrt(second);
    break;
  case CPU_ADAMAX:
    rate /= first;
    break;
  case CPU_NADAM: {
    double now = nadam_momentum(c->beta1, stepper->steps), next = nadam_momentum(c->beta1, stepper->steps + 1);
    stepper->nadam_product *= now;
    u.gradient_weight = (float)((1 - now) / (1 - stepper->nadam_product));
    u.momentum_weight = (float)(next / (1 - stepper->nadam_product * next));
    u.root_scale = (float)(1 / second);
    break;
  }
  default:
    break;
  }
  u.beta2 = (float)beta2;
  u.epsilon = (float)epsilon;
  u.rate = (float)rate;
  return u;
}

static size_t segment_size(const struct cpu_segment *segment) { return segment->rows * segment->ld; }

static float clip_scale(double limit, double squares) {
  double norm = sqrt(squares);
  return norm > limit ? (float)(limit / norm) : 1;
}

/* One pass over all weights of equal decay that lie side by side. */
static void optimiser_pass(struct cpu_stepper *stepper, struct cpu_update *u) {
  struct cpu_plan *plan = stepper->plan;
  for (size_t s = 0; s < plan->segment_count && plan->segments[s].trained;) {
    size_t begin = plan->segments[s].offset, end = begin;
    u->decay = plan->segments[s].decay;
    for (; s < plan->segment_count && plan->segments[s].trained && plan->segments[s].decay == u->decay; s++)
      end += segment_size(&plan->segments[s]);
    plan->kernels->update[stepper->config->optimiser](u, end - begin, plan->weights + begin, plan->gradients + begin,
                                                      stepper->first ? stepper->first + begin : NULL,
                                                      stepper->second ? stepper->second + begin : NULL);
  }
}

/* The same with clipping: L2 joins the gradient first, then its norm is taken, of each array or of all. */
static void optimiser_clipped(struct cpu_stepper *stepper, struct cpu_update *u) {
  struct cpu_plan *plan = stepper->plan;
  const struct cpu_config *config = stepper->config;
  bool each = config->gradient_clip_by == CPU_CLIP_VARIABLE;
  double squares = 0;
  for (size_t s = 0; s < plan->segment_count && plan->segments[s].trained; s++) {
    const struct cpu_segment *segment = &plan->segments[s];
    size_t size = segment_size(segment);
    float *g = plan->gradients + segment->offset;
    if (segment->decay > 0)
      plan->kernels->axpy(size, segment->decay, plan->weights + segment->offset, g);
    double own = plan->kernels->sum_squares(size, g);
    squares += own;
    if (each)
      plan->kernels->scale(size, clip_scale(config->gradient_clip, own), g);
  }
  u->scale = each ? 1 : clip_scale(config->gradient_clip, squares);
  u->decay = 0;
  plan->kernels->update[config->optimiser](u, plan->trained, plan->weights, plan->gradients, stepper->first,
                                           stepper->second);
}

void backend_cpu_step(struct cpu_stepper *stepper, double rate) {
  stepper->steps++;
  struct cpu_update u = optimiser_update(stepper, rate);
  u.scale = 1;
  if (stepper->config->gradient_clip > 0)
    optimiser_clipped(stepper, &u);
  else
    optimiser_pass(stepper, &u);
}
