/* draws.c - predictions of a split, and what of their uncertainty is the network's own. With prediction_draws, dropout
   stays on and every draw of its masks is one function (Gal & Ghahramani, ICML 2016): the prediction is the mixture of
   the draws, and what they do not agree on is the network's own part. Divided by the number of draws, so that the parts
   add up to the mixture's own moments (the law of total variance; for classes, the entropy of the mean). */
#include "draws_impl.h"

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
  return tutti_alloc(context, rows, task->outputs * sizeof *drawing->mixed, &drawing->mixed);
}

void backend_cpu_drawing_release(struct cpu_drawing *drawing) {
  tutti_free(drawing->inputs);
  tutti_free(drawing->one);
  tutti_free(drawing->part);
  tutti_free(drawing->mixed);
}

struct cpu_draws backend_cpu_draw_of(uint64_t seed, uint64_t draw) {
  return (struct cpu_draws){.drop = true, .one = true, .key = backend_cpu_draw_key(seed, draw), .progress = 1};
}

static void mix(struct cpu_drawing *d, size_t rows, size_t draw) {
  size_t outputs = d->outputs;
  if (d->kind == TUTTI_TASK_CLASSIFICATION)
    for (size_t r = 0; r < rows; r++)
      mix_classes(d->mixed + r * outputs, outputs, draw, d->one + r * outputs);
  else
    for (size_t i = 0; i < rows * outputs; i++)
      mix_moments(&d->mixed[i], draw, d->one[2 * i], d->one[2 * i + 1], d->part[i]);
}

static void end_mix(const struct cpu_drawing *d, size_t rows, float *out, float *epistemic) {
  size_t outputs = d->outputs;
  if (d->kind == TUTTI_TASK_CLASSIFICATION)
    for (size_t r = 0; r < rows; r++)
      mix_classes_end(d->mixed + r * outputs, outputs, out + r * outputs, epistemic ? epistemic + r : NULL);
  else
    for (size_t i = 0; i < rows * outputs; i++)
      mix_moments_end(&d->mixed[i], d->draws, out + 2 * i, epistemic ? epistemic + i : NULL);
}

void backend_cpu_answer(struct cpu_plan *plan, struct cpu_drawing *drawing, size_t rows, float *out, float *epistemic) {
  struct cpu_node *input = &plan->nodes[0];
  size_t floats = rows * input->pixels * input->ld;
  if (drawing->draws == 0) {
    backend_cpu_forward(plan, rows, NULL);
    backend_cpu_predict(plan, rows, out, epistemic);
    return;
  }
  memset(drawing->mixed, 0, rows * drawing->outputs * sizeof *drawing->mixed);
  memcpy(drawing->inputs, input->value, floats * sizeof *input->value); /* later layers may use their memory */
  for (size_t draw = 0; draw < drawing->draws; draw++) {
    const struct cpu_draws draws = backend_cpu_draw_of(drawing->seed, draw);
    memcpy(input->value, drawing->inputs, floats * sizeof *input->value);
    backend_cpu_forward(plan, rows, &draws);
    backend_cpu_predict(plan, rows, drawing->one, drawing->part);
    mix(drawing, rows, draw);
  }
  end_mix(drawing, rows, out, epistemic);
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
