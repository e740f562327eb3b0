/* networks.c - small networks that between them use every op and every activation. */
#include "networks.h"

#include <stdio.h>
#include <string.h>

/* A network in the making; `last` is the layer added last. */
struct maker {
  struct conform *conform;
  tutti_network *network;
  uint32_t last, mean; /* mean: what head-nomu predicts the mean from, if not from `last` */
};

static uint32_t add_of(struct maker *maker, enum tutti_op op, const char *label, size_t count, const uint32_t *inputs,
                       const struct tutti_attribute *attributes) {
  TRY(maker->conform,
      tutti_network_add(maker->conform->context, maker->network, op, label, count, inputs, attributes, &maker->last));
  return maker->last;
}

/* Behind the last layer. */
static void then(struct maker *maker, enum tutti_op op, const struct tutti_attribute *attributes) {
  add_of(maker, op, NULL, 1, &(uint32_t){maker->last}, attributes);
}

static uint32_t dense(struct maker *maker, const char *label, uint32_t input, int32_t units,
                      enum tutti_activation activation) {
  TRY(maker->conform,
      tutti_network_add_dense(maker->conform->context, maker->network, label, input, units, activation, &maker->last));
  return maker->last;
}

/* --- tables --- */

static void make_dense(struct maker *maker) {
  dense(maker, NULL, 0, 5, TUTTI_ACTIVATION_TANH);
  dense(maker, NULL, maker->last, 4, TUTTI_ACTIVATION_SIGMOID);
}

static void make_no_bias(struct maker *maker) {
  then(maker, TUTTI_OP_DENSE, TUTTI_ATTRIBUTES({"units", 5}, {"bias", false}));
  then(maker, TUTTI_OP_ACTIVATION, TUTTI_ATTRIBUTES({"activation", TUTTI_ACTIVATION_TANH}));
}

static void make_l2(struct maker *maker) {
  then(maker, TUTTI_OP_DENSE, TUTTI_ATTRIBUTES({"units", 5}, {"l2", 0.1}));
  dense(maker, NULL, maker->last, 4, TUTTI_ACTIVATION_TANH);
}

/* Two branches of 4, which an op brings together. */
static void join(struct maker *maker, enum tutti_op op) {
  uint32_t branches[2];
  branches[0] = dense(maker, "left", 0, 4, TUTTI_ACTIVATION_TANH);
  branches[1] = dense(maker, "right", 0, 4, TUTTI_ACTIVATION_SIGMOID);
  add_of(maker, op, NULL, 2, branches, NULL);
}

static void make_add(struct maker *maker) { join(maker, TUTTI_OP_ADD); }
static void make_mean(struct maker *maker) { join(maker, TUTTI_OP_MEAN); }
static void make_concat(struct maker *maker) { join(maker, TUTTI_OP_CONCAT); }

/* As Heiss et al. build it: the network of the uncertainty reads the last hidden layer of that of the mean. */
static void make_two(struct maker *maker) {
  uint32_t hidden[2];
  hidden[0] = maker->mean = dense(maker, "of-mean", 0, 4, TUTTI_ACTIVATION_TANH);
  hidden[1] = dense(maker, "of-uncertainty", 0, 3, TUTTI_ACTIVATION_TANH);
  add_of(maker, TUTTI_OP_CONCAT, NULL, 2, hidden, NULL);
}

/* A layer that is read twice, so that its gradients add up. */
static void make_shared(struct maker *maker) {
  uint32_t trunk = dense(maker, "trunk", 0, 4, TUTTI_ACTIVATION_TANH);
  uint32_t both[2] = {trunk, dense(maker, NULL, trunk, 4, TUTTI_ACTIVATION_TANH)};
  add_of(maker, TUTTI_OP_ADD, NULL, 2, both, NULL);
}

/* A branch through an op of one input that keeps the shape, beside one without. */
static void beside(struct maker *maker, enum tutti_op op, const struct tutti_attribute *attributes) {
  uint32_t both[2];
  dense(maker, "branch", 0, 4, TUTTI_ACTIVATION_TANH);
  then(maker, op, attributes);
  both[0] = maker->last;
  both[1] = dense(maker, "other", 0, 4, TUTTI_ACTIVATION_TANH);
  add_of(maker, TUTTI_OP_ADD, NULL, 2, both, NULL);
}

static void make_identity(struct maker *maker) { beside(maker, TUTTI_OP_IDENTITY, NULL); }
static void make_zero(struct maker *maker) { beside(maker, TUTTI_OP_ZERO, TUTTI_ATTRIBUTES({"stride", 1})); }
static void make_detach(struct maker *maker) { beside(maker, TUTTI_OP_DETACH, NULL); }
static void make_drop_path(struct maker *maker) { beside(maker, TUTTI_OP_DROP_PATH, TUTTI_ATTRIBUTES({"rate", 0.3})); }

static void make_dropout(struct maker *maker) {
  dense(maker, NULL, 0, 6, TUTTI_ACTIVATION_TANH);
  TRY(maker->conform,
      tutti_network_add_dropout(maker->conform->context, maker->network, NULL, maker->last, 0.3, &maker->last));
}

static void make_batch_norm(struct maker *maker) {
  dense(maker, NULL, 0, 4, TUTTI_ACTIVATION_LINEAR);
  then(maker, TUTTI_OP_BATCH_NORM, NULL);
  then(maker, TUTTI_OP_ACTIVATION, TUTTI_ATTRIBUTES({"activation", TUTTI_ACTIVATION_TANH}));
}

/* --- images of 6 x 6 x 2 --- */

static void make_flatten(struct maker *maker) {
  then(maker, TUTTI_OP_FLATTEN, NULL);
  dense(maker, NULL, maker->last, 4, TUTTI_ACTIVATION_TANH);
}

static void convolve(struct maker *maker, int32_t units, int32_t kernel, int32_t stride, int32_t dilation,
                     int32_t groups, enum tutti_padding padding) {
  then(maker, TUTTI_OP_CONV2D,
       TUTTI_ATTRIBUTES({"units", units}, {"kernel_height", kernel}, {"kernel_width", kernel}, {"stride", stride},
                        {"dilation", dilation}, {"groups", groups}, {"padding", padding}));
  then(maker, TUTTI_OP_ACTIVATION, TUTTI_ATTRIBUTES({"activation", TUTTI_ACTIVATION_TANH}));
}

static void pool_globally(struct maker *maker) { then(maker, TUTTI_OP_GLOBAL_POOL, NULL); }

static void make_conv2d(struct maker *maker) {
  convolve(maker, 4, 3, 1, 1, 1, TUTTI_PADDING_SAME);
  pool_globally(maker);
}

static void make_strided(struct maker *maker) {
  convolve(maker, 4, 3, 2, 1, 1, TUTTI_PADDING_VALID);
  pool_globally(maker);
}

static void make_dilated(struct maker *maker) {
  convolve(maker, 4, 3, 1, 2, 1, TUTTI_PADDING_SAME);
  pool_globally(maker);
}

static void make_depthwise(struct maker *maker) {
  convolve(maker, 2, 3, 1, 1, 2, TUTTI_PADDING_SAME);
  convolve(maker, 4, 1, 1, 1, 1, TUTTI_PADDING_SAME);
  pool_globally(maker);
}

static void make_groups(struct maker *maker) {
  convolve(maker, 6, 1, 1, 1, 1, TUTTI_PADDING_SAME);
  convolve(maker, 8, 3, 2, 1, 2, TUTTI_PADDING_SAME);
  pool_globally(maker);
}

static void pool(struct maker *maker, enum tutti_op op) {
  convolve(maker, 3, 1, 1, 1, 1, TUTTI_PADDING_SAME);
  then(maker, op, TUTTI_ATTRIBUTES({"kernel_height", 3}, {"kernel_width", 3}, {"stride", 2}));
  pool_globally(maker);
}

static void make_max_pool(struct maker *maker) { pool(maker, TUTTI_OP_MAX_POOL); }
static void make_average_pool(struct maker *maker) { pool(maker, TUTTI_OP_AVERAGE_POOL); }

static void make_factorised_reduce(struct maker *maker) {
  then(maker, TUTTI_OP_FACTORISED_REDUCE, TUTTI_ATTRIBUTES({"units", 4}));
  pool_globally(maker);
}

/* Twice ReLU, depthwise, pointwise, batch norm: a separable convolution of DARTS; and its input beside it. */
static void make_separable(struct maker *maker) {
  convolve(maker, 4, 1, 1, 1, 1, TUTTI_PADDING_SAME);
  uint32_t both[2] = {maker->last, 0};
  for (int i = 0; i < 2; i++) {
    then(maker, TUTTI_OP_ACTIVATION, TUTTI_ATTRIBUTES({"activation", TUTTI_ACTIVATION_RELU}));
    then(maker, TUTTI_OP_CONV2D,
         TUTTI_ATTRIBUTES({"units", 4}, {"groups", 4}, {"kernel_height", 3}, {"kernel_width", 3}, {"bias", false}));
    then(maker, TUTTI_OP_CONV2D, TUTTI_ATTRIBUTES({"units", 4}, {"bias", false}));
    then(maker, TUTTI_OP_BATCH_NORM, NULL);
  }
  both[1] = maker->last;
  add_of(maker, TUTTI_OP_CONCAT, NULL, 2, both, NULL);
  pool_globally(maker);
}

static void drop(struct maker *maker, enum tutti_op op, const char *how) {
  convolve(maker, 3, 1, 1, 1, 1, TUTTI_PADDING_SAME);
  then(maker, op, TUTTI_ATTRIBUTES({"rate", 0.3}, {how, true}));
  pool_globally(maker);
}

static void make_drop_channels(struct maker *maker) { drop(maker, TUTTI_OP_DROPOUT, "spatial"); }
static void make_drop_path_of_images(struct maker *maker) { drop(maker, TUTTI_OP_DROP_PATH, "scheduled"); }

/* --- the table --- */

enum { TABLE, IMAGE };
static const struct recipe {
  const char *name;
  void (*make)(struct maker *maker);
  int input;
  enum tutti_op head;
  bool variance; /* the Gaussian head's */
  const char *detached;
} recipes[] = {
    {"dense layers, head-gaussian", make_dense, TABLE, TUTTI_OP_HEAD_GAUSSIAN, false, NULL},
    {"dense layers, head-gaussian of variances", make_dense, TABLE, TUTTI_OP_HEAD_GAUSSIAN, true, NULL},
    {"dense layers, head-linear", make_dense, TABLE, TUTTI_OP_HEAD_LINEAR, false, NULL},
    {"dense layers, head-softmax", make_dense, TABLE, TUTTI_OP_HEAD_SOFTMAX, false, NULL},
    {"dense layers, head-nomu", make_dense, TABLE, TUTTI_OP_HEAD_NOMU, false, NULL},
    {"NOMU's two networks", make_two, TABLE, TUTTI_OP_HEAD_NOMU, false, NULL},
    {"dense without bias", make_no_bias, TABLE, TUTTI_OP_HEAD_LINEAR, false, NULL},
    {"L2 of one layer", make_l2, TABLE, TUTTI_OP_HEAD_LINEAR, false, NULL},
    {"add", make_add, TABLE, TUTTI_OP_HEAD_GAUSSIAN, false, NULL},
    {"mean", make_mean, TABLE, TUTTI_OP_HEAD_GAUSSIAN, false, NULL},
    {"concat", make_concat, TABLE, TUTTI_OP_HEAD_SOFTMAX, false, NULL},
    {"a layer read twice", make_shared, TABLE, TUTTI_OP_HEAD_GAUSSIAN, false, NULL},
    {"identity", make_identity, TABLE, TUTTI_OP_HEAD_GAUSSIAN, false, NULL},
    {"zero", make_zero, TABLE, TUTTI_OP_HEAD_GAUSSIAN, false, "branch"},
    {"detach", make_detach, TABLE, TUTTI_OP_HEAD_GAUSSIAN, false, "branch"},
    {"dropout", make_dropout, TABLE, TUTTI_OP_HEAD_GAUSSIAN, false, NULL},
    {"drop-path", make_drop_path, TABLE, TUTTI_OP_HEAD_GAUSSIAN, false, NULL},
    {"batch-norm", make_batch_norm, TABLE, TUTTI_OP_HEAD_GAUSSIAN, false, NULL},
    {"flatten", make_flatten, IMAGE, TUTTI_OP_HEAD_GAUSSIAN, false, NULL},
    {"conv2d", make_conv2d, IMAGE, TUTTI_OP_HEAD_SOFTMAX, false, NULL},
    {"conv2d, strided", make_strided, IMAGE, TUTTI_OP_HEAD_SOFTMAX, false, NULL},
    {"conv2d, dilated", make_dilated, IMAGE, TUTTI_OP_HEAD_SOFTMAX, false, NULL},
    {"conv2d, depthwise", make_depthwise, IMAGE, TUTTI_OP_HEAD_SOFTMAX, false, NULL},
    {"conv2d, in groups", make_groups, IMAGE, TUTTI_OP_HEAD_SOFTMAX, false, NULL},
    {"max-pool", make_max_pool, IMAGE, TUTTI_OP_HEAD_SOFTMAX, false, NULL},
    {"average-pool", make_average_pool, IMAGE, TUTTI_OP_HEAD_SOFTMAX, false, NULL},
    {"separable conv2d, batch-norm", make_separable, IMAGE, TUTTI_OP_HEAD_SOFTMAX, false, NULL},
    {"dropout of whole channels", make_drop_channels, IMAGE, TUTTI_OP_HEAD_SOFTMAX, false, NULL},
    {"drop-path of images, scheduled", make_drop_path_of_images, IMAGE, TUTTI_OP_HEAD_SOFTMAX, false, NULL},
    {"factorised-reduce", make_factorised_reduce, IMAGE, TUTTI_OP_HEAD_SOFTMAX, false, NULL},
};
enum { RECIPES = sizeof recipes / sizeof recipes[0] };

/* Behind these, one for each activation. */
size_t example_count(void) { return RECIPES + TUTTI_ACTIVATION_COUNT; }

static struct tutti_task task_of(int input, enum tutti_op head, bool variance) {
  struct tutti_task task =
      world_task(head == TUTTI_OP_HEAD_SOFTMAX ? TUTTI_TASK_CLASSIFICATION : TUTTI_TASK_REGRESSION);
  if (input == IMAGE)
    task.input = (struct tutti_shape){6, 6, 2};
  if (task.kind == TUTTI_TASK_REGRESSION && head != TUTTI_OP_HEAD_NOMU)
    task.outputs = 2;
  task.head = head;
  static const struct tutti_attribute variances[] = {{"variance", true}, {NULL, 0}};
  static const struct tutti_attribute nomu[] = {{"pi_sqr", 0.5}, {"pi_exp", 0.5},   {"c_exp", 5},
                                                {"margin", 0.2}, {"artificial", 8}, {NULL, 0}};
  if (variance)
    task.head_attributes = variances;
  if (head == TUTTI_OP_HEAD_NOMU)
    task.head_attributes = nomu;
  return task;
}

/* The head of NOMU joins two outputs, of one network or of two; all others follow from the task. */
static void end_network(struct maker *maker, const struct tutti_task *task) {
  if (task->head != TUTTI_OP_HEAD_NOMU) {
    TRY(maker->conform, tutti_network_add_head(maker->conform->context, maker->network, maker->last, task));
    return;
  }
  uint32_t trunk = maker->last, of_mean = maker->mean ? maker->mean : trunk;
  uint32_t outputs[2] = {dense(maker, "mean", of_mean, 1, TUTTI_ACTIVATION_LINEAR),
                         dense(maker, "raw", trunk, 1, TUTTI_ACTIVATION_LINEAR)};
  add_of(maker, TUTTI_OP_HEAD_NOMU, "head", 2, outputs, task->head_attributes);
}

void example_make(struct conform *conform, size_t index, struct example *example) {
  const struct recipe *recipe = index < RECIPES ? &recipes[index] : NULL;
  struct maker maker = {.conform = conform};
  *example = (struct example){.task = recipe ? task_of(recipe->input, recipe->head, recipe->variance)
                                             : task_of(TABLE, TUTTI_OP_HEAD_LINEAR, false),
                              .detached = recipe ? recipe->detached : NULL};
  TRY(conform, tutti_network_create(conform->context, example->task.input, &maker.network));
  if (recipe) {
    (void)snprintf(example->name, sizeof example->name, "%s", recipe->name);
    recipe->make(&maker);
  } else {
    enum tutti_activation activation = (enum tutti_activation)(index - RECIPES);
    (void)snprintf(example->name, sizeof example->name, "activation %s", tutti_activation_name(activation));
    dense(&maker, NULL, 0, 6, activation);
  }
  end_network(&maker, &example->task);
  TRY(conform, tutti_network_check(conform->context, maker.network));
  example->network = maker.network;
}

void example_end(struct example *example) { tutti_network_destroy(example->network); }
