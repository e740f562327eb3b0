/* attributes.c - the attributes of layers that this backend knows; they are read once, when a plan is made. */
#include "cpu_impl.h"

#include <math.h>

struct cpu_attributes backend_cpu_attributes(const struct tutti_layer *layer) {
  return (struct cpu_attributes){
      .units = tutti_layer_integer(layer, "units", 0),
      .kernel_height = tutti_layer_integer(layer, "kernel_height", 1),
      .kernel_width = tutti_layer_integer(layer, "kernel_width", 1),
      .stride = tutti_layer_integer(layer, "stride", 1),
      .dilation = tutti_layer_integer(layer, "dilation", 1),
      .groups = tutti_layer_integer(layer, "groups", 1),
      .padding = (enum tutti_padding)tutti_layer_integer(layer, "padding", TUTTI_PADDING_SAME),
      .activation = (enum tutti_activation)tutti_layer_integer(layer, "activation", TUTTI_ACTIVATION_LINEAR),
      .bias = tutti_layer_flag(layer, "bias", false),
      .affine = tutti_layer_flag(layer, "affine", false),
      .spatial = tutti_layer_flag(layer, "spatial", false),
      .scheduled = tutti_layer_flag(layer, "scheduled", false),
      .rate = tutti_layer_real(layer, "rate", 0),
      .momentum = tutti_layer_real(layer, "momentum", 0),
      .epsilon = tutti_layer_real(layer, "epsilon", 0),
      .l2 = tutti_layer_real(layer, "l2", (double)NAN),
      .scale = tutti_layer_real(layer, "scale", 1),
      .floor = tutti_layer_real(layer, "floor", 0),
      .variance = tutti_layer_flag(layer, "variance", false),
      .pi_sqr = tutti_layer_real(layer, "pi_sqr", 0),
      .pi_exp = tutti_layer_real(layer, "pi_exp", 0),
      .c_exp = tutti_layer_real(layer, "c_exp", 0),
      .margin = tutti_layer_real(layer, "margin", 0),
      .artificial = tutti_layer_integer(layer, "artificial", 0),
      .stable = tutti_layer_flag(layer, "stable", false),
      .l_min = tutti_layer_real(layer, "l_min", 0),
      .l_max = tutti_layer_real(layer, "l_max", 1),
      .noise = tutti_layer_integer(layer, "noise", TUTTI_NOMU_NOISE_NONE),
      .known_noise = tutti_layer_real(layer, "known_noise", 1),
      .through_noise = tutti_layer_flag(layer, "through_noise", false),
      .bounds = tutti_layer_integer(layer, "bounds", TUTTI_NOMU_BOUNDS_SYMMETRIC),
      .readout = tutti_layer_integer(layer, "readout", TUTTI_NOMU_READOUT_EXPONENTIAL),
      .points = tutti_layer_integer(layer, "points", TUTTI_NOMU_POINTS_RANDOM),
  };
}

/* The attributes that the kernels of each op use. */
static const char *const *known_attributes(enum tutti_op op) {
  static const char *const none[] = {NULL};
  static const char *const dense[] = {"units", "bias", "l2", NULL};
  static const char *const conv2d[] = {"units",  "kernel_height", "kernel_width", "stride", "dilation",
                                       "groups", "padding",       "bias",         "l2",     NULL};
  static const char *const batch_norm[] = {"affine", "momentum", "epsilon", "l2", NULL};
  static const char *const activation[] = {"activation", NULL};
  static const char *const pool[] = {"kernel_height", "kernel_width", "stride", "padding", NULL};
  static const char *const factorised_reduce[] = {"units", "l2", NULL};
  static const char *const zero[] = {"stride", NULL};
  static const char *const dropout[] = {"spatial", "rate", NULL};
  static const char *const drop_path[] = {"scheduled", "rate", NULL};
  static const char *const gaussian[] = {"scale", "floor", "variance", NULL};
  static const char *const nomu[] = {"pi_sqr",      "pi_exp", "c_exp",   "margin",        "artificial", "stable",
                                     "l_min",       "l_max",  "noise",   "scale",         "floor",      "variance",
                                     "known_noise", "bounds", "readout", "through_noise", "points",     NULL};
  static const char *const *const known[TUTTI_OP_COUNT] = {
      [TUTTI_OP_DENSE] = dense,
      [TUTTI_OP_CONV2D] = conv2d,
      [TUTTI_OP_BATCH_NORM] = batch_norm,
      [TUTTI_OP_ACTIVATION] = activation,
      [TUTTI_OP_MAX_POOL] = pool,
      [TUTTI_OP_AVERAGE_POOL] = pool,
      [TUTTI_OP_FACTORISED_REDUCE] = factorised_reduce,
      [TUTTI_OP_ZERO] = zero,
      [TUTTI_OP_DROPOUT] = dropout,
      [TUTTI_OP_DROP_PATH] = drop_path,
      [TUTTI_OP_HEAD_GAUSSIAN] = gaussian,
      [TUTTI_OP_HEAD_NOMU] = nomu,
  };
  return known[op] ? known[op] : none;
}

bool backend_cpu_knows(const struct tutti_layer *layer) {
  if (layer->op >= TUTTI_OP_COUNT || tutti_layer_unknown(layer, known_attributes(layer->op)))
    return false;
  int32_t activation = tutti_layer_integer(layer, "activation", TUTTI_ACTIVATION_LINEAR);
  int32_t padding = tutti_layer_integer(layer, "padding", TUTTI_PADDING_SAME);
  int32_t noise = tutti_layer_integer(layer, "noise", TUTTI_NOMU_NOISE_NONE);
  int32_t bounds = tutti_layer_integer(layer, "bounds", TUTTI_NOMU_BOUNDS_SYMMETRIC);
  int32_t readout = tutti_layer_integer(layer, "readout", TUTTI_NOMU_READOUT_EXPONENTIAL);
  int32_t points = tutti_layer_integer(layer, "points", TUTTI_NOMU_POINTS_RANDOM);
  return activation >= 0 && activation < TUTTI_ACTIVATION_COUNT && padding >= 0 && padding <= TUTTI_PADDING_VALID &&
         noise <= TUTTI_NOMU_NOISE_KNOWN && bounds <= TUTTI_NOMU_BOUNDS_BOTH && readout <= TUTTI_NOMU_READOUT_LINEAR &&
         points <= TUTTI_NOMU_POINTS_GRID;
}

bool backend_cpu_nomu_has_noise(const struct cpu_attributes *a) { return a->noise == TUTTI_NOMU_NOISE_LEARNT; }
