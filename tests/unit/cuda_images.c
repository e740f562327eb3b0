/* cuda_images.c - the images, networks and trainings of tests of backend cuda's stream engine. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "cuda_images.h"

tutti_split *images_split(const char *name, size_t rows, uint64_t index) {
  enum { FEATURES = IMAGES_SIDE * IMAGES_SIDE * IMAGES_CHANNELS };
  struct tutti_random random;
  float *inputs = calloc(rows * FEATURES, sizeof *inputs), *targets = calloc(rows * 2, sizeof *targets);
  int32_t *labels = calloc(rows, sizeof *labels);
  tutti_split *split;
  bool classes = task.kind == TUTTI_TASK_CLASSIFICATION;
  tutti_random_init(&random, 5, "rows of test_cuda_stream", index);
  tutti_random_fill_normal(&random, rows * FEATURES, 0, 1, inputs);
  for (size_t r = 0; r < rows; r++) {
    labels[r] = (int32_t)tutti_random_below(&random, IMAGES_CLASSES);
    for (size_t x = 0; x < (size_t)IMAGES_SIDE * IMAGES_CHANNELS; x++)
      inputs[r * FEATURES + (size_t)(2 * labels[r]) * IMAGES_SIDE * IMAGES_CHANNELS + x] += 1;
    targets[2 * r] = inputs[r * FEATURES];
    targets[2 * r + 1] = (float)labels[r] - 1.5f;
  }
  OK(tutti_split_create(context, name, rows, task.input, task.outputs, inputs, classes ? NULL : targets,
                        classes ? labels : NULL, &split));
  free(inputs), free(targets), free(labels);
  return split;
}

void images_task(enum tutti_op head) {
  bool classes = head == TUTTI_OP_HEAD_SOFTMAX;
  tutti_split_destroy(train);
  tutti_split_destroy(validation);
  task = (struct tutti_task){.size = sizeof task,
                             .kind = classes ? TUTTI_TASK_CLASSIFICATION : TUTTI_TASK_REGRESSION,
                             .input = {IMAGES_SIDE, IMAGES_SIDE, IMAGES_CHANNELS},
                             .outputs = classes ? IMAGES_CLASSES : 2,
                             .train_rows = IMAGES_ROWS,
                             .head = head};
  train = images_split("train", IMAGES_ROWS, 0);
  validation = images_split("validation", IMAGES_HELD, 1);
}

int images_begin(void **state) {
  (void)state;
  open_sides(images_task, TUTTI_OP_HEAD_SOFTMAX);
  return 0;
}

int images_end(void **state) {
  (void)state;
  close_sides();
  return 0;
}

static uint32_t add_conv(tutti_network *network, uint32_t input, int32_t units, int32_t kernel, int32_t stride,
                         int32_t groups) {
  uint32_t layer;
  OK(tutti_network_add(context, network, TUTTI_OP_CONV2D, NULL, 1, &input,
                       TUTTI_ATTRIBUTES({"units", units}, {"kernel_height", kernel}, {"kernel_width", kernel},
                                        {"stride", stride}, {"groups", groups}),
                       &layer));
  return layer;
}

tutti_network *images_network(int32_t units) {
  tutti_network *network;
  uint32_t layer;
  OK(tutti_network_create(context, task.input, &network));
  layer = add_conv(network, 0, units, 3, 2, 1);
  OK(tutti_network_add(context, network, TUTTI_OP_BATCH_NORM, NULL, 1, &layer, NULL, &layer));
  OK(tutti_network_add(context, network, TUTTI_OP_ACTIVATION, NULL, 1, &layer,
                       TUTTI_ATTRIBUTES({"activation", TUTTI_ACTIVATION_RELU}), &layer));
  layer = add_conv(network, layer, units, 3, 1, units);
  layer = add_conv(network, layer, units + 1, 1, 1, 1);
  OK(tutti_network_add(context, network, TUTTI_OP_BATCH_NORM, NULL, 1, &layer, NULL, &layer));
  OK(tutti_network_add(context, network, TUTTI_OP_GLOBAL_POOL, NULL, 1, &layer, NULL, &layer));
  OK(tutti_network_add_dense(context, network, NULL, layer, 9, TUTTI_ACTIVATION_SWISH, &layer));
  OK(tutti_network_add_dropout(context, network, NULL, layer, 0.2, &layer));
  OK(tutti_network_add_head(context, network, layer, &task));
  return network;
}

tutti_network *images_groups(void) {
  tutti_network *network;
  uint32_t layer;
  OK(tutti_network_create(context, task.input, &network));
  layer = add_conv(network, 0, 12, 3, 1, 1);
  OK(tutti_network_add(context, network, TUTTI_OP_BATCH_NORM, NULL, 1, &layer, NULL, &layer));
  OK(tutti_network_add(context, network, TUTTI_OP_ACTIVATION, NULL, 1, &layer,
                       TUTTI_ATTRIBUTES({"activation", TUTTI_ACTIVATION_RELU}), &layer));
  layer = add_conv(network, layer, 9, 3, 2, 3);
  layer = add_conv(network, layer, 18, 1, 1, 3);
  OK(tutti_network_add(context, network, TUTTI_OP_GLOBAL_POOL, NULL, 1, &layer, NULL, &layer));
  OK(tutti_network_add_head(context, network, layer, &task));
  return network;
}

tutti_network *images_flat(void) {
  tutti_network *network;
  uint32_t layer;
  OK(tutti_network_create(context, task.input, &network));
  OK(tutti_network_add(context, network, TUTTI_OP_FLATTEN, NULL, 1, &(uint32_t){0}, NULL, &layer));
  OK(tutti_network_add_dense(context, network, NULL, layer, IMAGES_CLASSES, TUTTI_ACTIVATION_LINEAR, &layer));
  OK(tutti_network_add_head(context, network, layer, &task));
  return network;
}

const char *const images_trainings[IMAGES_TRAININGS] = {
    "epochs=20 batch_size=0 optimiser=sgd momentum=0.9 learning_rate=0.005 l2=1e-4 schedule=cosine",
    "epochs=5 batch_size=8 optimiser=adam learning_rate=0.0005 epsilon=1e-3 augment_flip=true augment_padding=1",
    "epochs=6 batch_size=9 optimiser=sgd momentum=0.5 nesterov=true learning_rate=0.005 gradient_clip=1 "
    "l2_biases=true l2=1e-3 keep=last",
    "epochs=5 batch_size=8 optimiser=rmsprop learning_rate=0.0002 epsilon=1e-3 gradient_clip=0.5 "
    "gradient_clip_by=variable "
    "shuffle=run initialiser=he-normal schedule=plateau schedule_epochs=1",
};

const struct sides_space images_spaces[IMAGES_SPACES] = {
    {"darts",
     (const char *const[][2]){
         {"cells", "3"}, {"channels", "4"}, {"nodes", "3"}, {"drop_path", "0.3"}, {"dropout", "0.1"}, {NULL, NULL}}},
    {"nasbench201", (const char *const[][2]){{"cells", "1"}, {"channels", "6"}, {"stages", "2"}, {NULL, NULL}}},
    {"depth-width",
     (const char *const[][2]){
         {"cells", "2 3"}, {"channels", "3 4"}, {"cell", "amoebanet-a"}, {"drop_path", "0.2"}, {NULL, NULL}}},
    {"layer-graph-cnn", (const char *const[][2]){{"min_units", "4"}, {"max_units", "12"}, {NULL, NULL}}}};
