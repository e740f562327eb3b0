/* predict.c - a predictor that stays open: the plan is made and the weights are laid out once, so that a question costs
   its arithmetic and one pass over the weights. */
#include "cpu_impl.h"

#include <string.h>
#include <tutti/sized.h>

struct cpu_predictor {
  struct cpu_plan *plan;
  struct cpu_drawing drawing;
  size_t width, parts; /* of a row's predictions, and of what is the network's own of them */
  struct tutti_task task;
  struct cpu_slopes *slopes; /* NULL before the first gradient */
};

enum tutti_status backend_cpu_open(tutti_context *context, const struct cpu_kernels *kernels,
                                   const struct tutti_job *job, const tutti_tensors *weights, size_t rows,
                                   struct cpu_predictor **out) {
  size_t most = backend_cpu_evaluation_rows(job->network);
  struct cpu_predictor *made;
  enum tutti_status status;
  *out = NULL;
  TUTTI_TRY(context, tutti_alloc(context, 1, sizeof *made, &made));
  TUTTI_TAKE(&made->task, job->task);
  made->width = tutti_predictions_width(job->task->kind, job->task->outputs);
  made->parts = tutti_epistemic_width(job->task->kind, job->task->outputs);
  rows = rows == 0 ? 1 : rows > most ? most : rows;
  TUTTI_TRY_OUT(context, backend_cpu_plan_create(context, kernels, job->network, job->task, rows, false, &made->plan));
  TUTTI_TRY_OUT(context, backend_cpu_drawing_create(context, job, made->plan, &made->drawing));
  TUTTI_TRY_OUT(context, backend_cpu_weights_read(context, made->plan, weights));
  *out = made;
  return TUTTI_OK;
out:
  backend_cpu_close(NULL, made);
  return status;
}

void backend_cpu_close(void *self, void *predictor_) {
  struct cpu_predictor *predictor = predictor_;
  (void)self;
  if (!predictor)
    return;
  backend_cpu_slopes_destroy(predictor->slopes);
  backend_cpu_drawing_release(&predictor->drawing);
  backend_cpu_plan_destroy(predictor->plan);
  tutti_free(predictor);
}

enum tutti_status backend_cpu_ask(void *self, tutti_context *context, void *predictor_,
                                  const struct tutti_query *theirs, float *out) {
  struct cpu_predictor *predictor = predictor_;
  struct cpu_plan *plan = predictor->plan;
  const struct cpu_node *input = &plan->nodes[0];
  struct tutti_query query;
  unsigned kept = backend_cpu_enter();
  (void)self, (void)context;
  TUTTI_TAKE(&query, theirs);
  const struct cpu_draws draws = backend_cpu_draw_of(query.seed, query.draw);
  const float *from = query.inputs;
  for (size_t begin = 0; begin < query.rows; begin += plan->rows) {
    size_t here = query.rows - begin < plan->rows ? query.rows - begin : plan->rows;
    for (size_t p = 0; p < here * input->pixels; p++, from += input->width)
      memcpy(input->value + p * input->ld, from, input->width * sizeof *from);
    float *to = out + begin * predictor->width;
    float *epistemic = query.epistemic ? query.epistemic + begin * predictor->parts : NULL;
    if (!query.drop) {
      backend_cpu_answer(plan, &predictor->drawing, here, to, epistemic);
      continue;
    }
    backend_cpu_forward(plan, here, &draws);
    backend_cpu_predict(plan, here, to, epistemic);
  }
  backend_cpu_leave(kept);
  return TUTTI_OK;
}

enum tutti_status backend_cpu_ask_slope(void *self, tutti_context *context, void *predictor_,
                                        const struct tutti_query *theirs, const struct tutti_slope *wanted,
                                        float *out) {
  struct cpu_predictor *predictor = predictor_;
  struct tutti_query query;
  struct tutti_slope slope;
  (void)self;
  TUTTI_TAKE(&query, theirs);
  TUTTI_TAKE(&slope, wanted);
  if (!predictor->slopes)
    TUTTI_TRY(context, backend_cpu_slopes_create(context, predictor->plan, &predictor->task, &predictor->slopes));
  unsigned kept = backend_cpu_enter();
  backend_cpu_slopes(predictor->slopes, predictor->plan, &predictor->drawing, &query, &slope, out);
  backend_cpu_leave(kept);
  return TUTTI_OK;
}
