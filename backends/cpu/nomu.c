/* nomu.c - head-nomu: the loss of Heiss et al. (ICML 2022) with its gradients, a sum over rows and outputs, and what
   its outputs mean. The terms are in nomu_impl.h. */
#include "nomu_impl.h"

#include <math.h>
#include <string.h>

static struct cpu_node *input_of(struct cpu_plan *plan, size_t index) {
  return &plan->nodes[backend_cpu_plan_head(plan)->edges[index].source];
}

/* Rows [0, rows) are data; the plan->artificial rows after them are artificial points. */
double backend_cpu_loss_nomu(struct cpu_plan *plan, size_t rows, bool gradients) {
  const struct cpu_node *head = backend_cpu_plan_head(plan);
  const struct cpu_attributes *a = head->attributes;
  size_t inputs = head->edge_count < 3 ? head->edge_count : 3, artificial = plan->artificial, outputs = plan->outputs;
  struct cpu_node *nodes[3] = {input_of(plan, 0), input_of(plan, 1), inputs > 2 ? input_of(plan, 2) : NULL};
  double loss = 0, push = 0, weight = artificial ? a->pi_exp / (double)artificial : 0;
  for (size_t i = 0; i < inputs && gradients; i++)
    if (nodes[i]->gradient)
      memset(nodes[i]->gradient, 0, (rows + artificial) * nodes[i]->ld * sizeof *nodes[i]->gradient);
  for (size_t r = 0; r < rows + artificial; r++)
    for (size_t o = 0; o < outputs; o++) {
      struct nomu_point p = {.in = {0}};
      for (size_t i = 0; i < inputs; i++)
        p.in[i] = (double)nodes[i]->value[r * nodes[i]->ld + o];
      if (r >= rows)
        push += nomu_term(a, inputs, true, 0, &p);
      else
        loss += nomu_term(a, inputs, false, (double)plan->head.targets[r * outputs + o], &p);
      for (size_t i = 0; i < inputs && gradients; i++)
        if (nodes[i]->gradient)
          nodes[i]->gradient[r * nodes[i]->ld + o] = (float)(r < rows ? p.to[i] : weight * p.to[i]);
    }
  return loss + weight * push;
}

/* --- what outputs mean -------------------------------------------------------------------------------------------- */

double backend_cpu_noise(const struct cpu_attributes *attributes, double raw, double *slope) {
  return nomu_noise(attributes, raw, slope);
}

double backend_cpu_readout(const struct cpu_attributes *attributes, double raw) {
  return nomu_readout(attributes, raw);
}

void backend_cpu_moments_nomu(struct cpu_plan *plan, size_t row, size_t output, struct cpu_nomu_moments *moments) {
  const struct cpu_node *head = backend_cpu_plan_head(plan);
  struct nomu_point p = {.in = {0}};
  for (size_t i = 0; i < head->edge_count; i++) {
    const struct cpu_node *node = input_of(plan, i);
    p.in[i] = (double)node->value[row * node->ld + output];
  }
  *moments = nomu_moments(head->attributes, &p);
}

/* The deviation, and its derivative by each of the head's inputs. */
static double deviation_slopes(const struct cpu_attributes *a, const struct nomu_point *p, double *slope) {
  double deviation = nomu_deviation(a, p), raw = p->in[1];
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
    struct nomu_point p = {.in = {0}};
    for (size_t i = 0; i < inputs; i++)
      p.in[i] = (double)input_of(plan, i)->value[r * input_of(plan, i)->ld + o];
    double deviation = deviation_slopes(a, &p, slope),
           by_deviation = 2 * deviation * (by_variance + (double)by_epistemic[at]);
    if (nomu_has_noise(a))
      (void)nomu_noise(a, p.in[2], &noise);
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
      sum += nomu_likelihood(&moments, (double)plan->head.targets[r * plan->outputs + o]);
    }
  return sum / (double)(rows * plan->outputs);
}
