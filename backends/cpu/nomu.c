/* nomu.c - head-nomu: the loss of Heiss et al. (ICML 2022) with its gradients, and what its outputs mean. The loss is a
   sum over rows and outputs (Eq. 4), with data noise as in Eq. 57, or with bounds for directed hypothesis classes
   (Definition C.1), for which u(z) = -exp(-c_exp z). */
#include "cpu_impl.h"

#include <float.h>
#include <math.h>
#include <string.h>

static struct cpu_node *input_of(struct cpu_plan *plan, size_t index) {
  return &plan->nodes[backend_cpu_plan_head(plan)->edges[index].source];
}

/* --- terms -------------------------------------------------------------------------------------------------------- */

/* The squared uncertainty of a training point, or Huber's of it, and its derivative. */
static double square_of(const struct cpu_attributes *a, double r, double *slope) {
  if (a->stable && fabs(r) > 1) {
    *slope = r > 0 ? 2 : -2;
    return 2 * fabs(r) - 1;
  }
  *slope = 2 * r;
  return r * r;
}

/* The penalty of an artificial point, exp(-c r); the stable variant goes on as a straight line where it would grow. */
static double push_of(const struct cpu_attributes *a, double r, double *slope) {
  if (a->stable && r < 0) {
    *slope = -a->c_exp;
    return 1 - a->c_exp * r;
  }
  double e = exp(-a->c_exp * r);
  *slope = -a->c_exp * e;
  return e;
}

double backend_cpu_noise(const struct cpu_attributes *a, double raw, double *slope) {
  double z = a->scale * raw, soft = fmax(z, 0) + log1p(exp(-fabs(z))), s = a->floor + soft;
  double rise = a->scale / (1 + exp(-z));
  *slope = a->variance ? rise : 2 * s * rise;
  return a->variance ? s : s * s;
}

/* --- the loss of a row -------------------------------------------------------------------------------------------- */

/* The inputs of the head at a row and output: the mean, r or a bound, the other bound or the noise; and the
   gradients. */
struct point {
  double in[3], to[3];
};

/* Terms (a) and (b) of Eq. 4 or, with noise, of Eq. 57. */
static double loss_at_row(const struct cpu_attributes *a, double target, struct point *p) {
  double residual = p->in[0] - target, squared = residual * residual, slope, rise;
  double square = a->pi_sqr * square_of(a, p->in[1], &slope);
  if (a->noise == TUTTI_NOMU_NOISE_NONE) {
    p->to[0] = 2 * residual;
    p->to[1] = a->pi_sqr * slope;
    return squared + square;
  }
  bool learnt = backend_cpu_nomu_has_noise(a);
  double variance = learnt ? backend_cpu_noise(a, p->in[2], &rise) : a->known_noise * a->known_noise;
  variance = fmax(variance, (double)FLT_MIN);
  p->to[0] = residual / variance;
  p->to[1] = a->pi_sqr * slope / (2 * variance);
  if (learnt)
    p->to[2] = rise * (1 - (squared + (a->through_noise ? square : 0)) / variance) / (2 * variance);
  return (squared + square) / (2 * variance) + (learnt ? log(variance) / 2 : 0);
}

/* Terms (a) and (b) of Definition C.1: each bound goes through the targets, too. */
static double bounds_at_row(const struct cpu_attributes *a, size_t inputs, double target, struct point *p) {
  double residual = p->in[0] - target, loss = residual * residual, slope;
  p->to[0] = 2 * residual;
  for (size_t i = 1; i < inputs; i++) {
    loss += a->pi_sqr * square_of(a, p->in[i] - target, &slope);
    p->to[i] = a->pi_sqr * slope;
  }
  return loss;
}

/* Term (c): r, or the upper bound, goes up, and the lower bound down. */
static double push_at_point(const struct cpu_attributes *a, size_t inputs, struct point *p) {
  double push = 0, slope;
  for (size_t i = 1; i < inputs; i++) {
    bool lower = a->bounds == TUTTI_NOMU_BOUNDS_LOWER || (a->bounds == TUTTI_NOMU_BOUNDS_BOTH && i == 1);
    push += push_of(a, lower ? -p->in[i] : p->in[i], &slope);
    p->to[i] = lower ? -slope : slope;
  }
  return push;
}

/* Rows [0, rows) are data; the plan->artificial rows after them are artificial points. */
double backend_cpu_loss_nomu(struct cpu_plan *plan, size_t rows, bool gradients) {
  const struct cpu_node *head = backend_cpu_plan_head(plan);
  const struct cpu_attributes *a = head->attributes;
  size_t inputs = head->edge_count < 3 ? head->edge_count : 3, artificial = plan->artificial, outputs = plan->outputs;
  size_t pushed = inputs - backend_cpu_nomu_has_noise(a);
  struct cpu_node *nodes[3] = {input_of(plan, 0), input_of(plan, 1), inputs > 2 ? input_of(plan, 2) : NULL};
  double loss = 0, push = 0, weight = artificial ? a->pi_exp / (double)artificial : 0;
  for (size_t i = 0; i < inputs && gradients; i++)
    if (nodes[i]->gradient)
      memset(nodes[i]->gradient, 0, (rows + artificial) * nodes[i]->ld * sizeof *nodes[i]->gradient);
  for (size_t r = 0; r < rows + artificial; r++)
    for (size_t o = 0; o < outputs; o++) {
      struct point p = {.in = {0}};
      for (size_t i = 0; i < inputs; i++)
        p.in[i] = (double)nodes[i]->value[r * nodes[i]->ld + o];
      if (r >= rows)
        push += push_at_point(a, pushed, &p);
      else if (a->bounds == TUTTI_NOMU_BOUNDS_SYMMETRIC)
        loss += loss_at_row(a, (double)plan->head.targets[r * outputs + o], &p);
      else
        loss += bounds_at_row(a, inputs, (double)plan->head.targets[r * outputs + o], &p);
      for (size_t i = 0; i < inputs && gradients; i++)
        if (nodes[i]->gradient)
          nodes[i]->gradient[r * nodes[i]->ld + o] = (float)(r < rows ? p.to[i] : weight * p.to[i]);
    }
  return loss + weight * push;
}

/* --- what outputs mean -------------------------------------------------------------------------------------------- */

double backend_cpu_readout(const struct cpu_attributes *a, double raw) {
  if (a->readout == TUTTI_NOMU_READOUT_LINEAR)
    return a->l_min + fmax(0, raw - a->l_min) - fmax(0, raw - a->l_max);
  return -a->l_max * expm1(-(fmax(raw, 0) + a->l_min) / a->l_max);
}

/* The deviation of the mean: read out of r, or how far the bounds are away, half the way between two. */
static double deviation_of(const struct cpu_attributes *a, const struct point *p) {
  switch (a->bounds) {
  case TUTTI_NOMU_BOUNDS_LOWER:
    return fmax(p->in[0] - p->in[1], 0);
  case TUTTI_NOMU_BOUNDS_UPPER:
    return fmax(p->in[1] - p->in[0], 0);
  case TUTTI_NOMU_BOUNDS_BOTH:
    return fmax(p->in[2] - p->in[1], 0) / 2;
  default:
    return backend_cpu_readout(a, p->in[1]);
  }
}

void backend_cpu_moments_nomu(struct cpu_plan *plan, size_t row, size_t output, struct cpu_nomu_moments *moments) {
  const struct cpu_node *head = backend_cpu_plan_head(plan);
  const struct cpu_attributes *a = head->attributes;
  struct point p = {.in = {0}};
  double slope, noise = 0;
  for (size_t i = 0; i < head->edge_count; i++) {
    const struct cpu_node *node = input_of(plan, i);
    p.in[i] = (double)node->value[row * node->ld + output];
  }
  if (backend_cpu_nomu_has_noise(a))
    noise = backend_cpu_noise(a, p.in[2], &slope);
  else if (a->noise == TUTTI_NOMU_NOISE_KNOWN)
    noise = a->known_noise * a->known_noise;
  double deviation = deviation_of(a, &p);
  *moments = (struct cpu_nomu_moments){p.in[0], deviation * deviation + noise, deviation * deviation};
}

/* The deviation, and its derivative by each of the head's inputs. */
static double deviation_slopes(const struct cpu_attributes *a, const struct point *p, double *slope) {
  double deviation = deviation_of(a, p), raw = p->in[1];
  bool some = deviation > 0;
  switch (a->bounds) {
  case TUTTI_NOMU_BOUNDS_LOWER:
    slope[0] = some ? 1 : 0;
    slope[1] = some ? -1 : 0;
    break;
  case TUTTI_NOMU_BOUNDS_UPPER:
    slope[0] = some ? -1 : 0;
    slope[1] = some ? 1 : 0;
    break;
  case TUTTI_NOMU_BOUNDS_BOTH:
    slope[1] = some ? -0.5 : 0;
    slope[2] = some ? 0.5 : 0;
    break;
  default:
    if (a->readout == TUTTI_NOMU_READOUT_LINEAR)
      slope[1] = a->l_min < raw && raw < a->l_max ? 1 : 0;
    else
      slope[1] = raw > 0 ? exp(-(raw + a->l_min) / a->l_max) : 0;
  }
  return deviation;
}

void backend_cpu_pull_nomu(struct cpu_plan *plan, size_t rows, const float *by_out, const float *by_epistemic) {
  const struct cpu_node *head = backend_cpu_plan_head(plan);
  const struct cpu_attributes *a = head->attributes;
  size_t inputs = head->edge_count < 3 ? head->edge_count : 3, outputs = plan->outputs;
  for (size_t i = 0; i < inputs; i++)
    if (input_of(plan, i)->gradient)
      memset(input_of(plan, i)->gradient, 0, rows * input_of(plan, i)->ld * sizeof(float));
  for (size_t at = 0; at < rows * outputs; at++) {
    size_t r = at / outputs, o = at % outputs;
    double slope[3] = {0}, noise = 0, by_variance = (double)by_out[2 * at + 1];
    struct point p = {.in = {0}};
    for (size_t i = 0; i < inputs; i++)
      p.in[i] = (double)input_of(plan, i)->value[r * input_of(plan, i)->ld + o];
    double deviation = deviation_slopes(a, &p, slope),
           by_deviation = 2 * deviation * (by_variance + (double)by_epistemic[at]);
    if (backend_cpu_nomu_has_noise(a))
      (void)backend_cpu_noise(a, p.in[2], &noise);
    p.to[0] = (double)by_out[2 * at] + by_deviation * slope[0];
    p.to[1] = by_deviation * slope[1];
    p.to[2] = by_deviation * slope[2] + by_variance * noise;
    for (size_t i = 0; i < inputs; i++)
      if (input_of(plan, i)->gradient)
        input_of(plan, i)->gradient[r * input_of(plan, i)->ld + o] = (float)p.to[i];
  }
}

double backend_cpu_likelihood_nomu(struct cpu_plan *plan, size_t rows) {
  double sum = 0;
  for (size_t r = 0; r < rows; r++)
    for (size_t o = 0; o < plan->outputs; o++) {
      struct cpu_nomu_moments moments;
      backend_cpu_moments_nomu(plan, r, o, &moments);
      double error = moments.mean - (double)plan->head.targets[r * plan->outputs + o];
      double variance = fmax(moments.variance, (double)FLT_MIN);
      sum += error * error / variance / 2 + log(2 * M_PI * variance) / 2;
    }
  return sum / (double)(rows * plan->outputs);
}
