/* backend_choose.c - which backend trains a candidate, and with which parameters: its own, with hyperparameters set in
   them. A backend that delegates makes the others when they are first chosen. */
#include "backend_impl.h"
#include "config_point_impl.h"

#include <string.h>
#include <tutti/sized.h>

struct backend_others {
  struct tutti_backend_setup setup; /* of all of them; its task is the one below */
  struct tutti_task task;
  size_t count, room;
  tutti_backend **backends; /* [count] */
};

/* --- those that a backend delegates to --- */

enum tutti_status tutti_backend_open_others(tutti_context *context, void *object, const void *setup) {
  tutti_backend *backend = object;
  if (!backend->ops.delegate)
    return TUTTI_OK;
  TUTTI_TRY(context, tutti_alloc(context, 1, sizeof *backend->others, &backend->others));
  backend->others->setup = *(const struct tutti_backend_setup *)setup;
  if (backend->others->setup.task) {
    TUTTI_TAKE(&backend->others->task, backend->others->setup.task);
    backend->others->setup.task = &backend->others->task;
  }
  return TUTTI_OK;
}

void tutti_backend_close_others(void *object) {
  tutti_backend *backend = object;
  struct backend_others *others = backend->others;
  for (size_t i = 0; others && i < others->count; i++)
    tutti_backend_destroy(others->backends[i]);
  tutti_free(others ? others->backends : NULL);
  tutti_free(others);
}

static enum tutti_status make_other(tutti_context *context, struct backend_others *others, const char *name) {
  tutti_backend *made;
  if (others->count == others->room) {
    size_t room = others->room * 2 + 4;
    TUTTI_TRY(context, tutti_realloc(context, others->count, room, sizeof(tutti_backend *), &others->backends));
    others->room = room;
  }
  TUTTI_TRY(context, tutti_backend_create(context, others->setup.host, name, &others->setup, &made));
  others->backends[others->count++] = made;
  return TUTTI_OK;
}

/* The backend of this name, which stands in the section of that name. */
static enum tutti_status find_other(tutti_context *context, const tutti_backend *backend, const char *name,
                                    const tutti_backend **found) {
  struct backend_others *others = backend->others;
  size_t i = 0;
  while (i < others->count && strcmp(tutti_backend_descriptor(others->backends[i])->name, name) != 0)
    i++;
  if (i == others->count)
    TUTTI_TRY(context, make_other(context, others, name));
  *found = others->backends[i];
  if (!tutti_backend_delegates(*found))
    return TUTTI_OK;
  return TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                    "backend %s hands its jobs to %s, which would hand them on; choose one that trains",
                    backend->instance.descriptor->name, name);
}

/* --- parameters --- */

static enum tutti_status configure(tutti_context *context, const tutti_backend *backend, const char *prefix,
                                   const tutti_domain *domain, const double *point, tutti_config **config) {
  TUTTI_TRY(context, tutti_config_copy(context, backend->instance.config, config));
  enum tutti_status status = tutti_config_set_point(context, *config, prefix, domain, point);
  if (status == TUTTI_OK)
    return TUTTI_OK;
  tutti_config_destroy(*config);
  *config = NULL;
  return tutti_error_trace(context, status, __FILE__, __LINE__, __func__);
}

enum tutti_status tutti_backend_configure(tutti_context *context, const tutti_backend *backend,
                                          const tutti_domain *domain, const double *point, tutti_config **config) {
  return configure(context, backend, NULL, domain, point, config);
}

/* --- the choice --- */

bool tutti_backend_delegates(const tutti_backend *backend) { return backend->ops.delegate != NULL; }

enum tutti_status tutti_backend_choose(tutti_context *context, const tutti_backend *backend, const tutti_domain *domain,
                                       const double *point, const tutti_backend **chosen, tutti_config **config) {
  enum tutti_status status = TUTTI_OK;
  tutti_config *own = NULL;
  *chosen = backend;
  *config = NULL;
  TUTTI_TRY_OUT(context, configure(context, backend, NULL, domain, point, &own));
  if (tutti_backend_delegates(backend)) {
    const char *name;
    TUTTI_ASK(context, backend, name = backend->ops.delegate(backend->instance.self, tutti_config_values(own)));
    TUTTI_TRY_OUT(context, find_other(context, backend, name, chosen));
    TUTTI_TRY_OUT(context, configure(context, *chosen, name, domain, point, config));
  } else {
    *config = own;
    own = NULL;
  }
out:
  tutti_config_destroy(own);
  return status;
}
