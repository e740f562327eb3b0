/* backend_impl.h - what the checks of kind backend share: a backend with something that it trains. */
#ifndef BACKEND_IMPL_H
#define BACKEND_IMPL_H

#include "networks.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { ROWS = 24, EPOCHS = 3 };

/* A backend, and something that it trains. */
struct subject {
  struct example example;
  struct tutti_host_facts facts;
  tutti_host *host;
  tutti_backend *made;
  const tutti_backend *backend; /* that one, or another that it delegates to */
  tutti_config *config;
  tutti_split *train, *validation;
  struct world world; /* of backends that need no data: where the candidate comes from */
  tutti_candidate **candidates;
  struct tutti_job job;
};

/* Backends of values need no rows, and predict none. */
bool needs_data(const struct conform *conform);
/* Rows drawn from the stream `index`; targets depend on the inputs. */
tutti_split *make_split(struct conform *conform, const struct tutti_task *task, const char *name, size_t rows,
                        uint64_t index);
void close_subject(struct subject *subject);
/* The index-th example; false if the backend does not support what the example needs. */
bool open_example(struct conform *conform, struct subject *subject, size_t index);
/* The first example that the backend trains. */
void open_subject(struct conform *conform, struct subject *subject);
struct tutti_outcome train(struct conform *conform, const struct subject *subject);
/* Train; it has to finish. */
struct tutti_outcome finish(struct conform *conform, const struct subject *subject);
/* Two trainings of one job: the same numbers to the bit. */
void require_same(struct conform *conform, const struct tutti_outcome *a, const struct tutti_outcome *b,
                  const char *what);
/* What the weights predict for the rows of a split, checked for its layout; released with tutti_free(). */
float *predict(struct conform *conform, const struct subject *subject, const tutti_tensors *weights,
               const tutti_split *split);
/* The rows of a split, in reverse order. */
tutti_split *reversed(struct conform *conform, const struct tutti_task *task, const tutti_split *split);

/* The checks that stand in files of their own. */
void check_gradients(struct conform *conform);
void check_many(struct conform *conform);
void check_queue(struct conform *conform);
void check_predictor(struct conform *conform);
void check_slopes(struct conform *conform);
void check_unread(struct conform *conform);

#endif
