/* cuda_tables.c - the rows, networks and trainings of tests of backend cuda's block engine. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "cuda_tables.h"

tutti_split *tables_split(const char *name, size_t rows, uint64_t index) {
  struct tutti_random random;
  float *inputs = calloc(rows * TABLES_FEATURES, sizeof *inputs),
        *targets = calloc(rows * TABLES_OUTPUTS, sizeof *targets);
  int32_t *labels = calloc(rows, sizeof *labels);
  tutti_split *split;
  bool classes = task.kind == TUTTI_TASK_CLASSIFICATION;
  tutti_random_init(&random, 5, "rows of test_cuda", index);
  tutti_random_fill_normal(&random, rows * TABLES_FEATURES, 0, 1, inputs);
  for (size_t r = 0; r < rows; r++) {
    const float *x = inputs + r * TABLES_FEATURES;
    targets[r * TABLES_OUTPUTS] = sinf(2 * x[0]) + 0.2f * (float)tutti_random_normal(&random);
    targets[r * TABLES_OUTPUTS + 1] = x[1] * x[2];
    labels[r] = x[0] > 0.4f ? 2 : x[1] > 0;
  }
  OK(tutti_split_create(context, name, rows, task.input, task.outputs, inputs, classes ? NULL : targets,
                        classes ? labels : NULL, &split));
  free(inputs), free(targets), free(labels);
  return split;
}

void tables_task(enum tutti_op head) {
  static const struct tutti_attribute nomu[] = {{"pi_sqr", 0.5},    {"pi_exp", 0.5}, {"c_exp", 3}, {"margin", 0.2},
                                                {"artificial", 13}, {"l_min", 0.5},  {NULL, 0}};
  bool classes = head == TUTTI_OP_HEAD_SOFTMAX;
  tutti_split_destroy(train);
  tutti_split_destroy(validation);
  task = (struct tutti_task){.size = sizeof task,
                             .kind = classes ? TUTTI_TASK_CLASSIFICATION : TUTTI_TASK_REGRESSION,
                             .input = {1, 1, TABLES_FEATURES},
                             .outputs = classes ? TABLES_CLASSES : TABLES_OUTPUTS,
                             .train_rows = TABLES_ROWS,
                             .head = head,
                             .head_attributes = head == TUTTI_OP_HEAD_NOMU ? nomu : NULL};
  train = tables_split("train", TABLES_ROWS, 0);
  validation = tables_split("validation", TABLES_HELD, 1);
}

int tables_begin(void **state) {
  (void)state;
  open_sides(tables_task, TUTTI_OP_HEAD_GAUSSIAN);
  return 0;
}

int tables_end(void **state) {
  (void)state;
  close_sides();
  return 0;
}

tutti_network *tables_network(int32_t width) {
  tutti_network *network;
  uint32_t layer;
  OK(tutti_network_create(context, task.input, &network));
  OK(tutti_network_add_dense(context, network, NULL, 0, width, TUTTI_ACTIVATION_SWISH, &layer));
  OK(tutti_network_add(context, network, TUTTI_OP_BATCH_NORM, NULL, 1, &layer, NULL, &layer));
  OK(tutti_network_add_dropout(context, network, NULL, layer, 0.2, &layer));
  OK(tutti_network_add_dense(context, network, NULL, layer, 9, TUTTI_ACTIVATION_TANH, &layer));
  OK(tutti_network_add_head(context, network, layer, &task));
  return network;
}

const char *const tables_trainings[TABLES_TRAININGS] = {
    "epochs=200 batch_size=0 optimiser=adam learning_rate=0.0002",
    "epochs=34 batch_size=8 optimiser=sgd momentum=0.9 nesterov=true learning_rate=0.003 l2=1e-4",
    "epochs=200 batch_size=0 optimiser=rmsprop momentum=0.5 learning_rate=0.0001 schedule=cosine",
    "epochs=34 batch_size=8 optimiser=adagrad learning_rate=0.01 schedule=step schedule_epochs=8",
    "epochs=34 batch_size=8 optimiser=nadam learning_rate=0.001 gradient_clip=0.5",
    "epochs=34 batch_size=8 optimiser=adamax learning_rate=0.001 gradient_clip=0.2 gradient_clip_by=variable l2=1e-3",
    "epochs=34 batch_size=8 optimiser=adadelta learning_rate=0.5 schedule=plateau schedule_epochs=3 keep=last",
    "epochs=34 batch_size=8 optimiser=adam epsilon_placement=paper initialiser=he-normal shuffle=run l2=1e-3 "
    "l2_biases=true",
};

const struct sides_space tables_spaces[TABLES_SPACES] = {
    {"dense-skip", (const char *const[][2]){{"nodes", "3"}, {"widths", "16 24 7"}, {NULL, NULL}}},
    {"mlp", (const char *const[][2]){{"dropout", "0 0.1 0.3"}, {NULL, NULL}}},
    {"mlp2", (const char *const[][2]){{"units", "1 30"}, {NULL, NULL}}},
    {"layer-graph-mlp", (const char *const[][2]){{"min_units", "4"}, {"max_units", "24"}, {NULL, NULL}}}};
