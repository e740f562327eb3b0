/* solver.c - calls libsvm: rows as its sparse nodes, and the training of one machine. */
#include "machine_impl.h"

void machine_nodes_destroy(struct machine_nodes *nodes) {
  tutti_free(nodes->storage);
  tutti_free(nodes->rows);
}

enum tutti_status machine_nodes_create(tutti_context *context, size_t count, size_t features, const float *inputs,
                                       struct machine_nodes *nodes) {
  enum tutti_status status = TUTTI_OK;
  size_t used = count; /* each row's end */
  *nodes = (struct machine_nodes){0};
  for (size_t i = 0; i < count * features; i++)
    used += inputs[i] != 0;
  TUTTI_TRY_OUT(context, tutti_alloc(context, used, sizeof *nodes->storage, &nodes->storage));
  TUTTI_TRY_OUT(context, tutti_alloc(context, count, sizeof *nodes->rows, &nodes->rows));
  struct svm_node *next = nodes->storage;
  for (size_t i = 0; i < count; i++) {
    nodes->rows[i] = next;
    for (size_t j = 0; j < features; j++)
      if (inputs[i * features + j] != 0)
        *next++ = (struct svm_node){(int)j + 1, (double)inputs[i * features + j]};
    *next++ = (struct svm_node){.index = -1};
  }
out:
  if (status != TUTTI_OK)
    machine_nodes_destroy(nodes);
  return status;
}

static void say_nothing(const char *text) { (void)text; }

enum tutti_status machine_train(tutti_context *context, const struct svm_problem *problem,
                                const struct svm_parameter *parameter, struct svm_model **model) {
  const char *wrong = svm_check_parameter(problem, parameter);
  *model = NULL;
  if (tutti_cancelled(context))
    return TUTTI_FAIL(context, TUTTI_ERROR_CANCELLED, "cancelled before a machine of %d rows was trained", problem->l);
  if (wrong)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "libsvm refuses its parameters: %s", wrong);
  svm_set_print_string_function(say_nothing);
  *model = svm_train(problem, parameter);
  return TUTTI_OK;
}
