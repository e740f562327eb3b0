/* draws.c - predictions of a split, and what of their uncertainty is the network's own. With prediction_draws, dropout
   stays on and every draw of its masks is one function (Gal & Ghahramani, ICML 2016): the prediction is the mixture of
   the draws, and what they do not agree on is the network's own part. Divided by the number of draws, so that the parts
   add up to the mixture's own moments (the law of total variance; for classes, the entropy of the mean). */
#include "cpu_impl.h"

#include <math.h>
#include <string.h>

enum tutti_status backend_cpu_drawing_create(tutti_context *context, const struct tutti_job *job,
                                             const struct cpu_plan *plan, struct cpu_drawing *drawing) {
  const struct cpu_config *config = job->config;
  const struct tutti_task *task = job->task;
  size_t width = tutti_predictions_width(task->kind, task->outputs), rows = plan->rows;
  *drawing = (struct cpu_drawing){
      .draws = (size_t)config->prediction_draws, .seed = job->seed, .kind = task->kind, .outputs = task->outputs};
  if (drawing->draws == 0)
    return TUTTI_OK;
  TUTTI_TRY(context, tutti_alloc(context, rows, backend_cpu_image(&plan->nodes[0]) * sizeof(float), &drawing->inputs));
  TUTTI_TRY(context, tutti_alloc(context, rows, width * sizeof(float), &drawing->one));
  TUTTI_TRY(context, tutti_alloc(context, rows, task->outputs * sizeof(float), &drawing->part));
  TUTTI_TRY(context, tutti_alloc(context, rows, task->outputs * sizeof(double), &drawing->mean));
  TUTTI_TRY(context, tutti_alloc(context, rows, task->outputs * sizeof(double), &drawing->scatter));
  TUTTI_TRY(context, tutti_alloc(context, rows, task->outputs * sizeof(double), &drawing->noise));
  return tutti_alloc(context, rows, task->outputs * sizeof(double), &drawing->inner);
}

void backend_cpu_drawing_release(struct cpu_drawing *drawing) {
  tutti_free(drawing->inputs);
  tutti_free(drawing->one);
  tutti_free(drawing->part);
  tutti_free(drawing->mean);
  tutti_free(drawing->scatter);
  tutti_free(drawing->noise);
  tutti_free(drawing->inner);
}

struct cpu_draws backend_cpu_draw_of(uint64_t seed, uint64_t draw) {
  struct tutti_random random;
  tutti_random_init(&random, seed, "dropout draws", draw);
  return (struct cpu_draws){.drop = true, .one = true, .key = tutti_random_u64(&random), .progress = 1};
}

/* A variance that the head does not give is no noise. */
static double known(float variance) { return isnan(variance) ? 0 : (double)variance; }

/* Moments of a draw: Welford's for the means; the mean of the variances, and of the parts that are NOMU's. */
static void add_moments(struct cpu_drawing *d, size_t count, size_t draw) {
  double share = 1 / (double)(draw + 1);
  for (size_t i = 0; i < count; i++) {
    double mean = (double)d->one[2 * i], from = mean - d->mean[i];
    d->mean[i] += from * share;
    d->scatter[i] += from * (mean - d->mean[i]);
    d->noise[i] += (known(d->one[2 * i + 1]) - d->noise[i]) * share;
    d->inner[i] += ((double)d->part[i] - d->inner[i]) * share;
  }
}

static void give_moments(const struct cpu_drawing *d, size_t count, float *out, float *epistemic) {
  for (size_t i = 0; i < count; i++) {
    double between = d->scatter[i] / (double)d->draws;
    out[2 * i] = (float)d->mean[i];
    out[2 * i + 1] = (float)(d->noise[i] + between);
    if (epistemic)
      epistemic[i] = fminf((float)(d->inner[i] + between), out[2 * i + 1]);
  }
}

/* Probabilities of a draw, and their entropy. */
static void add_classes(struct cpu_drawing *d, size_t rows, size_t draw) {
  double share = 1 / (double)(draw + 1);
  for (size_t r = 0; r < rows; r++) {
    double entropy = 0;
    for (size_t i = r * d->outputs; i < (r + 1) * d->outputs; i++) {
      double p = (double)d->one[i];
      d->mean[i] += (p - d->mean[i]) * share;
      entropy -= p > 0 ? p * log(p) : 0;
    }
    d->noise[r] += (entropy - d->noise[r]) * share;
  }
}

static void give_classes(const struct cpu_drawing *d, size_t rows, float *out, float *epistemic) {
  for (size_t r = 0; r < rows; r++) {
    double entropy = 0;
    for (size_t i = r * d->outputs; i < (r + 1) * d->outputs; i++) {
      out[i] = (float)d->mean[i];
      entropy -= d->mean[i] > 0 ? d->mean[i] * log(d->mean[i]) : 0;
    }
    if (epistemic)
      epistemic[r] = (float)fmax(entropy - d->noise[r], 0);
  }
}

void backend_cpu_answer(struct cpu_plan *plan, struct cpu_drawing *drawing, size_t rows, float *out, float *epistemic) {
  bool classes = drawing->kind == TUTTI_TASK_CLASSIFICATION;
  struct cpu_node *input = &plan->nodes[0];
  size_t count = rows * drawing->outputs, floats = rows * input->pixels * input->ld;
  if (drawing->draws == 0) {
    backend_cpu_forward(plan, rows, NULL);
    backend_cpu_predict(plan, rows, out, epistemic);
    return;
  }
  for (size_t i = 0; i < count; i++)
    drawing->mean[i] = drawing->scatter[i] = drawing->noise[i] = drawing->inner[i] = 0;
  memcpy(drawing->inputs, input->value, floats * sizeof *input->value); /* later layers may use their memory */
  for (size_t draw = 0; draw < drawing->draws; draw++) {
    const struct cpu_draws draws = backend_cpu_draw_of(drawing->seed, draw);
    memcpy(input->value, drawing->inputs, floats * sizeof *input->value);
    backend_cpu_forward(plan, rows, &draws);
    backend_cpu_predict(plan, rows, drawing->one, drawing->part);
    if (classes)
      add_classes(drawing, rows, draw);
    else
      add_moments(drawing, count, draw);
  }
  if (classes)
    give_classes(drawing, rows, out, epistemic);
  else
    give_moments(drawing, count, out, epistemic);
}

enum tutti_status backend_cpu_predict_split(tutti_context *context, const struct cpu_kernels *kernels,
                                            const struct tutti_job *job, const tutti_tensors *weights,
                                            const tutti_split *split, float *out, float *epistemic) {
  struct cpu_plan *plan = NULL;
  struct cpu_drawing drawing = {0};
  enum tutti_status status;
  unsigned kept = backend_cpu_enter();
  size_t rows = tutti_split_rows(split), width = tutti_predictions_width(job->task->kind, job->task->outputs);
  size_t parts = tutti_epistemic_width(job->task->kind, job->task->outputs);
  uint32_t indices[CPU_EVALUATION_ROWS];
  size_t most = backend_cpu_evaluation_rows(job->network);
  TUTTI_TRY_OUT(context, backend_cpu_plan_create(context, kernels, job->network, job->task, most, false, &plan));
  TUTTI_TRY_OUT(context, backend_cpu_drawing_create(context, job, plan, &drawing));
  TUTTI_TRY_OUT(context, backend_cpu_weights_read(context, plan, weights));
  for (size_t begin = 0; begin < rows; begin += most) {
    size_t here = rows - begin < most ? rows - begin : most;
    for (size_t i = 0; i < here; i++)
      indices[i] = (uint32_t)(begin + i);
    backend_cpu_gather(plan, split, here, indices, NULL, false);
    backend_cpu_answer(plan, &drawing, here, out + begin * width, epistemic ? epistemic + begin * parts : NULL);
  }
out:
  backend_cpu_drawing_release(&drawing);
  backend_cpu_plan_destroy(plan);
  backend_cpu_leave(kept);
  return status;
}

/* --- which networks can be drawn, and which tell --- */

static bool drops(const tutti_network *network) {
  for (size_t i = 0; i < tutti_network_layers(network); i++) {
    const struct tutti_layer *layer = tutti_network_layer(network, i);
    if ((layer->op == TUTTI_OP_DROPOUT || layer->op == TUTTI_OP_DROP_PATH) && tutti_layer_real(layer, "rate", 0) > 0)
      return true;
  }
  return false;
}

enum tutti_status backend_cpu_draws_check(tutti_context *context, const struct tutti_job *job) {
  const struct cpu_config *config = job->config;
  if (config->prediction_draws == 0 || drops(job->network))
    return TUTTI_OK;
  return TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                    "backend.prediction_draws: predictions are to be %lld draws of dropout, and this network has none; "
                    "let the space give every network dropout, as in [space] dropout = 0.1, or leave the draws out",
                    (long long)config->prediction_draws);
}

bool backend_cpu_tells_epistemic(const struct tutti_job *job) {
  const struct cpu_config *config = job->config;
  const struct tutti_layer *head = tutti_network_layer(job->network, tutti_network_layers(job->network) - 1);
  return config->prediction_draws > 0 || head->op == TUTTI_OP_HEAD_NOMU;
}
