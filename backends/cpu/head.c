/* head.c - the meaning of the network's outputs: losses with their gradients, and predictions. As in Keras, Gaussian
   and linear losses are means over rows and outputs, and cross-entropy is the mean over rows. NOMU's is in nomu.c. */
#include "cpu_impl.h"
#include "labels_impl.h"

#include <math.h>
#include <string.h>

static struct cpu_node *head_input(struct cpu_plan *plan, size_t index) {
  return &plan->nodes[backend_cpu_plan_head(plan)->edges[index].source];
}

static struct cpu_gaussian head_gaussian(const struct cpu_node *head, float weight) {
  const struct cpu_attributes *a = head->attributes;
  return (struct cpu_gaussian){(float)a->scale, (float)a->floor, a->variance, weight};
}

/* --- inputs and targets --- */

static void gather_inputs(struct cpu_plan *plan, const tutti_split *split, size_t count, const uint32_t *rows,
                          const struct tutti_augmentation *augmentation) {
  struct cpu_node *input = &plan->nodes[0];
  const float *inputs = tutti_split_inputs(split);
  if (inputs && !augmentation && input->pixels == 1) {
    plan->kernels->gather(count, input->width, inputs, rows, input->value, input->ld);
    return;
  }
  /* Rows made on demand, and images, come tightly packed. Spread them, beginning with the last. */
  if (augmentation)
    tutti_split_gather_augmented(split, augmentation, count, rows, input->value);
  else
    tutti_split_gather(split, count, rows, input->value);
  for (size_t r = count * input->pixels; r-- > 1;)
    memmove(input->value + r * input->ld, input->value + r * input->width, input->width * sizeof(float));
  backend_cpu_clear_padding(input, count, input->value);
}

void backend_cpu_gather(struct cpu_plan *plan, const tutti_split *split, size_t count, const uint32_t *rows,
                        const struct tutti_augmentation *augmentation, bool targets) {
  gather_inputs(plan, split, count, rows, augmentation);
  if (!targets)
    return;
  const int32_t *labels = tutti_split_labels(split);
  for (size_t r = 0; labels && r < count; r++)
    plan->head.labels[r] = labels[rows[r]];
  if (!labels)
    plan->kernels->gather(count, plan->outputs, tutti_split_targets(split), rows, plan->head.targets, plan->outputs);
}

/* --- losses --- */

static void gaussian_inputs(const struct cpu_plan *plan, const struct cpu_node *source, size_t rows) {
  size_t outputs = plan->outputs;
  for (size_t r = 0, i = 0; r < rows; r++)
    for (size_t o = 0; o < outputs; o++, i++) {
      plan->head.mean[i] = source->value[r * source->ld + o];
      plan->head.raw[i] = source->value[r * source->ld + outputs + o];
    }
}

static double loss_gaussian(struct cpu_plan *plan, size_t rows, bool gradients) {
  struct cpu_node *source = head_input(plan, 0);
  struct cpu_head_arrays *a = &plan->head;
  size_t outputs = plan->outputs, count = rows * outputs;
  struct cpu_gaussian head = head_gaussian(backend_cpu_plan_head(plan), 1 / (float)count);
  gaussian_inputs(plan, source, rows);
  double total = plan->kernels->gaussian(&head, count, a->mean, a->raw, a->targets, gradients ? a->mean_gradient : NULL,
                                         a->raw_gradient);
  if (gradients)
    memset(source->gradient, 0, rows * source->ld * sizeof *source->gradient);
  for (size_t r = 0, i = 0; gradients && r < rows; r++) {
    float *to = source->gradient + r * source->ld;
    for (size_t o = 0; o < outputs; o++, i++) {
      to[o] = a->mean_gradient[i];
      to[outputs + o] = a->raw_gradient[i];
    }
  }
  return total / (double)count;
}

static double loss_linear(struct cpu_plan *plan, size_t rows, bool gradients) {
  struct cpu_node *source = head_input(plan, 0);
  size_t outputs = plan->outputs;
  float weight = 2 / (float)(rows * outputs);
  double total = 0;
  if (gradients)
    memset(source->gradient, 0, rows * source->ld * sizeof *source->gradient);
  for (size_t r = 0; r < rows; r++) {
    const float *x = source->value + r * source->ld, *y = plan->head.targets + r * outputs;
    float *to = gradients ? source->gradient + r * source->ld : NULL;
    for (size_t o = 0; o < outputs; o++) {
      float residual = x[o] - y[o];
      total += (double)residual * (double)residual;
      if (to)
        to[o] = weight * residual;
    }
  }
  return total / (double)(rows * outputs);
}

/* What a row counts for: only where gradients are wanted, that is in what is trained. */
static double weight_of(const struct cpu_plan *plan, size_t row, bool gradients) {
  return gradients && plan->head.class_weights ? plan->head.class_weights[plan->head.labels[row]] : 1;
}

static void weigh_gradients(const struct cpu_plan *plan, size_t rows, size_t ld, float *gradient) {
  for (size_t r = 0; plan->head.class_weights && r < rows; r++)
    for (size_t c = 0; c < plan->outputs; c++)
      gradient[r * ld + c] *= (float)weight_of(plan, r, true);
}

static double loss_softmax(struct cpu_plan *plan, size_t rows, bool gradients) {
  struct cpu_node *source = head_input(plan, 0);
  const int32_t *labels = plan->head.labels;
  size_t ld = source->ld;
  const uint32_t classes = (uint32_t)plan->outputs;
  const float smoothing = gradients ? plan->head.label_smoothing : 0;
  double total = 0;
  for (size_t r = 0; r < rows; r++)
    total -=
        weight_of(plan, r, gradients) * label_logit(source->value + r * ld, (uint32_t)labels[r], classes, smoothing);
  float *probability = source->value; /* in place when no step needs the logits any more */
  if (gradients) {
    memcpy(source->gradient, source->value, rows * ld * sizeof(float));
    probability = source->gradient;
  }
  plan->kernels->softmax(rows, plan->outputs, probability, ld, plan->head.mean);
  for (size_t r = 0; r < rows; r++)
    total += weight_of(plan, r, gradients) * (double)plan->head.mean[r];
  if (gradients) {
    for (size_t r = 0; r < rows; r++)
      for (uint32_t c = 0; c < classes; c++)
        probability[r * ld + c] -= label_target(c, (uint32_t)labels[r], classes, smoothing);
    weigh_gradients(plan, rows, ld, probability);
    plan->kernels->scale(rows * ld, 1 / (float)rows, probability);
  }
  return total / (double)rows;
}

double backend_cpu_loss(struct cpu_plan *plan, size_t rows, bool gradients) {
  const struct cpu_node *head = backend_cpu_plan_head(plan);
  if (head->op == TUTTI_OP_HEAD_NOMU)
    return backend_cpu_loss_nomu(plan, rows, gradients);
  gradients = gradients && head_input(plan, 0)->gradient;
  switch (head->op) {
  case TUTTI_OP_HEAD_GAUSSIAN:
    return loss_gaussian(plan, rows, gradients);
  case TUTTI_OP_HEAD_SOFTMAX:
    return loss_softmax(plan, rows, gradients);
  default:
    return loss_linear(plan, rows, gradients);
  }
}

double backend_cpu_evaluate(struct cpu_plan *plan, const tutti_split *split) {
  size_t rows = tutti_split_rows(split), wanted = backend_cpu_evaluation_rows(plan->network);
  size_t most = plan->rows < wanted ? plan->rows : wanted;
  size_t artificial = plan->artificial;
  bool nomu = backend_cpu_plan_head(plan)->op == TUTTI_OP_HEAD_NOMU;
  uint32_t indices[CPU_EVALUATION_ROWS];
  double total = 0;
  plan->artificial = 0;
  for (size_t begin = 0; begin < rows; begin += most) {
    size_t here = rows - begin < most ? rows - begin : most;
    for (size_t i = 0; i < here; i++)
      indices[i] = (uint32_t)(begin + i);
    backend_cpu_gather(plan, split, here, indices, NULL, true);
    backend_cpu_forward(plan, here, NULL);
    total += (nomu ? backend_cpu_likelihood_nomu(plan, here) : backend_cpu_loss(plan, here, false)) * (double)here;
  }
  plan->artificial = artificial;
  return total / (double)rows;
}

/* --- predictions --- */

static void no_epistemic(size_t count, float *epistemic) {
  for (size_t i = 0; epistemic && i < count; i++)
    epistemic[i] = 0;
}

void backend_cpu_predict(struct cpu_plan *plan, size_t rows, float *out, float *epistemic) {
  const struct cpu_node *head = backend_cpu_plan_head(plan);
  struct cpu_node *source = head_input(plan, 0);
  size_t outputs = plan->outputs;
  if (head->op == TUTTI_OP_HEAD_SOFTMAX) {
    plan->kernels->softmax(rows, outputs, source->value, source->ld, NULL);
    for (size_t r = 0; r < rows; r++)
      memcpy(out + r * outputs, source->value + r * source->ld, outputs * sizeof *out);
    no_epistemic(rows, epistemic);
    return;
  }
  no_epistemic(rows * outputs, epistemic);
  float *variance = plan->head.raw_gradient;
  if (head->op == TUTTI_OP_HEAD_GAUSSIAN) {
    struct cpu_gaussian gaussian = head_gaussian(head, 1);
    gaussian_inputs(plan, source, rows);
    plan->kernels->variance(&gaussian, rows * outputs, plan->head.raw, variance);
  } else if (head->op == TUTTI_OP_HEAD_NOMU) {
    for (size_t i = 0; i < rows * outputs; i++) {
      struct cpu_nomu_moments moments;
      backend_cpu_moments_nomu(plan, i / outputs, i % outputs, &moments);
      variance[i] = (float)moments.variance;
      if (epistemic)
        epistemic[i] = (float)moments.epistemic;
    }
  } else {
    for (size_t i = 0; i < rows * outputs; i++)
      variance[i] = NAN;
  }
  for (size_t r = 0, i = 0; r < rows; r++)
    for (size_t o = 0; o < outputs; o++, i++) {
      out[2 * i] = source->value[r * source->ld + o];
      out[2 * i + 1] = variance[i];
    }
}
