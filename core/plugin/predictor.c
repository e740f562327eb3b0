/* predictor.c - a trained model that is opened once and asked often: by the backend's own ops, or, where it has none,
   by its op `predict` on a split that is made for each question. */
#include "backend_impl.h"

#include <math.h>
#include <tutti/sized.h>

struct tutti_predictor {
  const tutti_backend *backend;
  void *self; /* the backend's; NULL without the op `open` */
  struct tutti_job job;
  const tutti_tensors *weights;
};

bool tutti_backend_has_predictor(const tutti_backend *backend) { return backend->ops.open != NULL; }

enum tutti_status tutti_predictor_open(tutti_context *context, const tutti_backend *backend,
                                       const struct tutti_job *job, const tutti_tensors *weights, size_t rows,
                                       tutti_predictor **out) {
  tutti_predictor *made;
  *out = NULL;
  if (!backend->ops.predict)
    return TUTTI_FAIL(context, TUTTI_ERROR_UNSUPPORTED, "backend %s does not predict",
                      backend->instance.descriptor->name);
  TUTTI_TRY(context, tutti_alloc(context, 1, sizeof *made, &made));
  made->backend = backend;
  made->weights = weights;
  TUTTI_TAKE(&made->job, job);
  made->job.train = made->job.validation = NULL;
  if (backend->ops.open) {
    enum tutti_status status;
    TUTTI_ASK(context, backend,
              status = backend->ops.open(backend->instance.self, context, &made->job, weights, rows, &made->self));
    if (status != TUTTI_OK) {
      tutti_free(made);
      return tutti_error_trace(context, tutti_instance_blame(context, &backend->instance, status), __FILE__, __LINE__,
                               __func__);
    }
  }
  *out = made;
  return TUTTI_OK;
}

bool tutti_predictor_tells_epistemic(const tutti_predictor *predictor) {
  return tutti_backend_tells_epistemic(predictor->backend, &predictor->job);
}

static enum tutti_status ask_by_split(tutti_context *context, tutti_predictor *predictor,
                                      const struct tutti_query *query, float *out) {
  const struct tutti_task *task = predictor->job.task;
  tutti_split *split;
  if (query->drop)
    return TUTTI_FAIL(context, TUTTI_ERROR_UNSUPPORTED, "backend %s cannot predict with dropout",
                      predictor->backend->instance.descriptor->name);
  TUTTI_TRY(context, tutti_split_create(context, "query", query->rows, task->input, task->outputs, query->inputs, NULL,
                                        NULL, &split));
  enum tutti_status status =
      query->epistemic
          ? tutti_backend_predict_parts(context, predictor->backend, &predictor->job, predictor->weights, split, out,
                                        query->epistemic)
          : tutti_backend_predict(context, predictor->backend, &predictor->job, predictor->weights, split, out);
  tutti_split_destroy(split);
  return status;
}

static enum tutti_status check_answer(tutti_context *context, const tutti_predictor *predictor,
                                      const struct tutti_query *query, const float *out) {
  const struct tutti_task *task = predictor->job.task;
  TUTTI_TRY(context, tutti_backend_check_predictions(context, predictor->backend, task, NULL, query->rows, out));
  return query->epistemic
             ? tutti_backend_check_parts(context, predictor->backend, task, NULL, query->rows, out, query->epistemic)
             : TUTTI_OK;
}

enum tutti_status tutti_predictor_ask(tutti_context *context, tutti_predictor *predictor,
                                      const struct tutti_query *query, float *out) {
  const tutti_backend *backend = predictor->backend;
  struct tutti_query own;
  TUTTI_TAKE(&own, query);
  if (own.epistemic && !tutti_predictor_tells_epistemic(predictor))
    return tutti_backend_has_no_parts(context, backend);
  if (!predictor->self)
    return ask_by_split(context, predictor, &own, out);
  TUTTI_CALL(context, backend, backend->ops.ask(backend->instance.self, context, predictor->self, query, out));
  return check_answer(context, predictor, &own, out);
}

bool tutti_backend_has_slopes(const tutti_backend *backend) { return backend->ops.ask_slope != NULL; }

static enum tutti_status check_slope(tutti_context *context, const tutti_predictor *predictor, size_t rows,
                                     const struct tutti_slope *slope) {
  const struct tutti_shape input = predictor->job.task->input;
  size_t count = rows * (size_t)input.height * (size_t)input.width * (size_t)input.channels;
  for (size_t i = 0; i < count; i++)
    if (!isfinite(slope->gradient[i]))
      return TUTTI_FAIL(context, TUTTI_ERROR_NUMERIC, "backend %s: a gradient of its predictions is not finite",
                        predictor->backend->instance.descriptor->name);
  return TUTTI_OK;
}

enum tutti_status tutti_predictor_slope(tutti_context *context, tutti_predictor *predictor,
                                        const struct tutti_query *query, const struct tutti_slope *slope, float *out) {
  const tutti_backend *backend = predictor->backend;
  struct tutti_query own;
  struct tutti_slope its;
  TUTTI_TAKE(&own, query);
  TUTTI_TAKE(&its, slope);
  if (!tutti_backend_has_slopes(backend))
    return TUTTI_FAIL(context, TUTTI_ERROR_UNSUPPORTED, "backend %s gives no gradients of its predictions",
                      backend->instance.descriptor->name);
  if ((own.epistemic || its.by_epistemic) && !tutti_predictor_tells_epistemic(predictor))
    return tutti_backend_has_no_parts(context, backend);
  TUTTI_CALL(context, backend,
             backend->ops.ask_slope(backend->instance.self, context, predictor->self, query, slope, out));
  TUTTI_TRY(context, check_answer(context, predictor, &own, out));
  return check_slope(context, predictor, own.rows, &its);
}

void tutti_predictor_close(tutti_predictor *predictor) {
  if (!predictor)
    return;
  const tutti_backend *backend = predictor->backend;
  if (predictor->self)
    TUTTI_ASK(TUTTI_CONTEXT_OF(backend), backend, backend->ops.close(backend->instance.self, predictor->self));
  tutti_free(predictor);
}
