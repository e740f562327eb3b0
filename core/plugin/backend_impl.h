/* backend_impl.h - a backend's wrapper, which backend.c and predictor.c share, and the functions of
   backend_layers.c. */
#ifndef TUTTI_BACKEND_IMPL_H
#define TUTTI_BACKEND_IMPL_H

#include "instance_impl.h"

#include <tutti/backend.h>

struct backend_others;

struct tutti_backend {
  struct tutti_instance instance;
  struct tutti_backend_ops ops;
  struct backend_others *others; /* NULL unless it delegates */
};

/* Prepare a backend that delegates, made with this setup, and destroy what it made (backend_choose.c). */
TUTTI_NODISCARD enum tutti_status tutti_backend_open_others(tutti_context *context, void *object, const void *setup);
void tutti_backend_close_others(void *object);

/* Refuse a job whose members the backend does not honour. */
TUTTI_NODISCARD enum tutti_status tutti_backend_check_members(tutti_context *context, const tutti_backend *backend,
                                                              const struct tutti_job *job);
/* Refuse an outcome that contradicts itself or the job. */
TUTTI_NODISCARD enum tutti_status tutti_backend_check_outcome(tutti_context *context, const tutti_backend *backend,
                                                              const struct tutti_job *job,
                                                              struct tutti_outcome *outcome);
/* Nobody may get numbers that are no predictions: TUTTI_ERROR_NUMERIC says what is wrong with out[rows][width], and on
   which split (NULL: on none). */
TUTTI_NODISCARD enum tutti_status tutti_backend_check_predictions(tutti_context *context, const tutti_backend *backend,
                                                                  const struct tutti_task *task, const char *split,
                                                                  size_t rows, const float *out);
/* The same of epistemic[rows][tutti_epistemic_width], which are parts of out[rows][width]. */
TUTTI_NODISCARD enum tutti_status tutti_backend_check_parts(tutti_context *context, const tutti_backend *backend,
                                                            const struct tutti_task *task, const char *split,
                                                            size_t rows, const float *out, const float *epistemic);
/* TUTTI_ERROR_UNSUPPORTED: it does not tell them. */
TUTTI_NODISCARD enum tutti_status tutti_backend_has_no_parts(tutti_context *context, const tutti_backend *backend);
/* Does a backend have the op of this layer, and know all of its attributes? */
bool tutti_backend_knows(const struct tutti_backend_ops *ops, void *self, const struct tutti_layer *layer);
/* TUTTI_ERROR_USAGE that names layer `index`, its op, the attribute that is not known and its value, and the
   backend. */
TUTTI_NODISCARD enum tutti_status tutti_backend_refuse(tutti_context *context, const char *backend,
                                                       const struct tutti_backend_ops *ops, void *self, size_t index,
                                                       const struct tutti_layer *layer);

#endif
