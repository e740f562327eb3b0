/* slope.c - gradients of an open predictor's answers in its inputs. The caller weighs the numbers of each row; their
   weighted sum goes backward from the head to the inputs. Beside the plan that predicts stands one that keeps what the
   way back needs: it has the same weights, no gradients of them, and passes through detach, which ends the gradients of
   a training alone. */
#include "cpu_impl.h"

#include <math.h>
#include <string.h>

struct cpu_slopes {
  struct cpu_plan *plan;
  size_t width, parts;     /* of a row's predictions, and of what is the network's own of them */
  float *out, *part;       /* [CPU_SLOPE_ROWS][width], [CPU_SLOPE_ROWS][parts]: of one function */
  float *by_out, *by_part; /* the same: the weights of these numbers */
  float *inputs;           /* [CPU_SLOPE_ROWS] images of the input node */
};

enum tutti_status backend_cpu_slopes_create(tutti_context *context, const struct cpu_plan *of,
                                            const struct tutti_task *task, struct cpu_slopes **out) {
  struct cpu_slopes *made;
  enum tutti_status status;
  *out = NULL;
  TUTTI_TRY(context, tutti_alloc(context, 1, sizeof *made, &made));
  made->width = tutti_predictions_width(task->kind, task->outputs);
  made->parts = tutti_epistemic_width(task->kind, task->outputs);
  TUTTI_TRY_OUT(context, backend_cpu_plan_create_slopes(context, of, task, CPU_SLOPE_ROWS, &made->plan));
  TUTTI_TRY_OUT(context, tutti_alloc(context, CPU_SLOPE_ROWS * made->width, sizeof(float), &made->out));
  TUTTI_TRY_OUT(context, tutti_alloc(context, CPU_SLOPE_ROWS * made->parts, sizeof(float), &made->part));
  TUTTI_TRY_OUT(context, tutti_alloc(context, CPU_SLOPE_ROWS * made->width, sizeof(float), &made->by_out));
  TUTTI_TRY_OUT(context, tutti_alloc(context, CPU_SLOPE_ROWS * made->parts, sizeof(float), &made->by_part));
  TUTTI_TRY_OUT(context, tutti_alloc(context, CPU_SLOPE_ROWS * backend_cpu_image(&made->plan->nodes[0]), sizeof(float),
                                     &made->inputs));
  *out = made;
  return TUTTI_OK;
out:
  backend_cpu_slopes_destroy(made);
  return status;
}

void backend_cpu_slopes_destroy(struct cpu_slopes *slopes) {
  if (!slopes)
    return;
  backend_cpu_plan_destroy(slopes->plan);
  tutti_free(slopes->out);
  tutti_free(slopes->part);
  tutti_free(slopes->by_out);
  tutti_free(slopes->by_part);
  tutti_free(slopes->inputs);
  tutti_free(slopes);
}

/* --- from predictions to the head's inputs ------------------------------------------------------------------------ */

static void pull_moments(struct cpu_plan *plan, size_t rows, const float *by_out) {
  const struct cpu_node *head = backend_cpu_plan_head(plan);
  struct cpu_node *source = &plan->nodes[head->edges[0].source];
  size_t outputs = plan->outputs;
  memset(source->gradient, 0, rows * source->ld * sizeof *source->gradient);
  for (size_t i = 0; i < rows * outputs; i++) {
    size_t at = i / outputs * source->ld + i % outputs;
    source->gradient[at] = by_out[2 * i];
    if (head->op == TUTTI_OP_HEAD_GAUSSIAN) {
      double slope;
      (void)backend_cpu_noise(head->attributes, (double)source->value[at + outputs], &slope);
      source->gradient[at + outputs] = (float)((double)by_out[2 * i + 1] * slope);
    }
  }
}

/* Of the probabilities `out`. */
static void pull_classes(struct cpu_plan *plan, size_t rows, const float *out, const float *by_out) {
  struct cpu_node *source = &plan->nodes[backend_cpu_plan_head(plan)->edges[0].source];
  size_t classes = plan->outputs;
  memset(source->gradient, 0, rows * source->ld * sizeof *source->gradient);
  for (size_t r = 0; r < rows; r++, out += classes, by_out += classes) {
    double mean = 0;
    for (size_t c = 0; c < classes; c++)
      mean += (double)out[c] * (double)by_out[c];
    for (size_t c = 0; c < classes; c++)
      source->gradient[r * source->ld + c] = (float)((double)out[c] * ((double)by_out[c] - mean));
  }
}

static void pull(struct cpu_slopes *s, size_t rows) {
  switch (backend_cpu_plan_head(s->plan)->op) {
  case TUTTI_OP_HEAD_SOFTMAX:
    pull_classes(s->plan, rows, s->out, s->by_out);
    break;
  case TUTTI_OP_HEAD_NOMU:
    backend_cpu_pull_nomu(s->plan, rows, s->by_out, s->by_part);
    break;
  default:
    pull_moments(s->plan, rows, s->by_out);
  }
}

/* --- one function ------------------------------------------------------------------------------------------------- */

/* Compute the predictions of the rows in s->inputs, in s->out and s->part. */
static void answer(struct cpu_slopes *s, size_t rows, const struct cpu_draws *draws) {
  struct cpu_plan *plan = s->plan;
  const struct cpu_node *head = backend_cpu_plan_head(plan), *source = &plan->nodes[head->edges[0].source];
  size_t bytes = rows * source->ld * sizeof(float);
  bool in_place = head->op == TUTTI_OP_HEAD_SOFTMAX; /* it turns the logits into probabilities, and they are needed */
  memcpy(plan->nodes[0].value, s->inputs, rows * backend_cpu_image(&plan->nodes[0]) * sizeof(float));
  backend_cpu_forward(plan, rows, draws);
  if (in_place)
    memcpy(source->gradient, source->value, bytes);
  backend_cpu_predict(plan, rows, s->out, s->part);
  if (in_place)
    memcpy(source->value, source->gradient, bytes);
}

/* Add to gradient[rows][features] that of the sum of s->out and s->part, weighed by s->by_out and s->by_part. */
static void add_slopes(struct cpu_slopes *s, size_t rows, float *gradient) {
  const struct cpu_node *input = &s->plan->nodes[0];
  pull(s, rows);
  backend_cpu_backward(s->plan, rows);
  if (!input->gradient) /* the network does not look at its inputs */
    return;
  for (size_t p = 0; p < rows * input->pixels; p++)
    for (size_t c = 0; c < input->width; c++)
      *gradient++ += input->gradient[p * input->ld + c];
}

/* --- mixtures of draws -------------------------------------------------------------------------------------------- */

/* The weights of a draw's moments, from those of the mixture's (mix_moments_end of draws_impl.h). */
static void weigh_moments(struct cpu_slopes *s, const struct cpu_drawing *d, size_t count, const float *by_out,
                          const float *by_part) {
  double share = 1 / (double)d->draws;
  for (size_t i = 0; i < count; i++) {
    double part = by_part ? (double)by_part[i] : 0, variance = (double)by_out[2 * i + 1];
    double apart = (double)s->out[2 * i] - d->mixed[i].mean;
    s->by_out[2 * i] = (float)(share * ((double)by_out[2 * i] + 2 * apart * (variance + part)));
    s->by_out[2 * i + 1] = (float)(share * variance);
    s->by_part[i] = (float)(share * part);
  }
}

static double log_of(double p) { return log(fmax(p, 1e-30)); }

/* The weights of a draw's probabilities (mix_classes_end of draws_impl.h). */
static void weigh_classes(struct cpu_slopes *s, const struct cpu_drawing *d, size_t rows, const float *by_out,
                          const float *by_part) {
  double share = 1 / (double)d->draws;
  for (size_t i = 0; i < rows * d->outputs; i++) {
    double part = by_part ? (double)by_part[i / d->outputs] : 0;
    s->by_out[i] = (float)(share * ((double)by_out[i] + part * (log_of((double)s->out[i]) - log_of(d->mixed[i].mean))));
  }
}

/* `drawing` holds the mixture's moments. */
static void add_draws(struct cpu_slopes *s, const struct cpu_drawing *drawing, size_t rows, const float *by_out,
                      const float *by_part, float *gradient) {
  for (size_t draw = 0; draw < drawing->draws; draw++) {
    const struct cpu_draws draws = backend_cpu_draw_of(drawing->seed, draw);
    answer(s, rows, &draws);
    if (drawing->kind == TUTTI_TASK_CLASSIFICATION)
      weigh_classes(s, drawing, rows, by_out, by_part);
    else
      weigh_moments(s, drawing, rows * drawing->outputs, by_out, by_part);
    add_slopes(s, rows, gradient);
  }
}

/* --- questions ---------------------------------------------------------------------------------------------------- */

static const float *from_row(const float *numbers, size_t row, size_t width) {
  return numbers ? numbers + row * width : NULL;
}

static void copy(size_t count, const float *from, float *to) {
  for (size_t i = 0; i < count; i++)
    to[i] = from ? from[i] : 0;
}

void backend_cpu_slopes(struct cpu_slopes *s, struct cpu_plan *plan, struct cpu_drawing *drawing,
                        const struct tutti_query *query, const struct tutti_slope *slope, float *out) {
  const struct cpu_node *input = &s->plan->nodes[0];
  size_t features = input->pixels * input->width, most = plan->rows < CPU_SLOPE_ROWS ? plan->rows : CPU_SLOPE_ROWS;
  struct cpu_draws draws = {.one = true, .progress = 1}; /* masks of ones */
  if (query->drop)
    draws = backend_cpu_draw_of(query->seed, query->draw);
  memset(slope->gradient, 0, query->rows * features * sizeof *slope->gradient);
  for (size_t begin = 0; begin < query->rows; begin += most) {
    size_t rows = query->rows - begin < most ? query->rows - begin : most;
    const float *from = query->inputs + begin * features, *by_out = slope->by_out + begin * s->width;
    const float *by_part = from_row(slope->by_epistemic, begin, s->parts);
    float *gradient = slope->gradient + begin * features, *to = out + begin * s->width;
    float *epistemic = query->epistemic ? query->epistemic + begin * s->parts : NULL;
    for (size_t p = 0; p < rows * input->pixels; p++, from += input->width)
      memcpy(s->inputs + p * input->ld, from, input->width * sizeof *from);
    if (drawing->draws > 0 && !query->drop) {
      memcpy(plan->nodes[0].value, s->inputs, rows * backend_cpu_image(input) * sizeof(float));
      backend_cpu_answer(plan, drawing, rows, to, epistemic);
      add_draws(s, drawing, rows, by_out, by_part, gradient);
      continue;
    }
    answer(s, rows, &draws);
    copy(rows * s->width, s->out, to);
    if (epistemic)
      copy(rows * s->parts, s->part, epistemic);
    copy(rows * s->width, by_out, s->by_out);
    copy(rows * s->parts, by_part, s->by_part);
    add_slopes(s, rows, gradient);
  }
}
