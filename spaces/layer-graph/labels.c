/* labels.c - the table of labels. */
#include "labels.h"

#include <string.h>

#define HIDDEN(text, function)                                                                                         \
  { .name = (text), .role = ROLE_HIDDEN, .units = true, .activation = (function) }
#define CONV(text, side, shortcut)                                                                                     \
  { .name = (text), .role = ROLE_CONV, .units = true, .kernel = (side), .residual = (shortcut) }

const struct label_facts label_facts[LABEL_COUNT] = {
    [LABEL_IP] = {.name = "ip", .role = ROLE_INPUT},
    [LABEL_RELU] = HIDDEN("relu", TUTTI_ACTIVATION_RELU),
    [LABEL_CRELU] = HIDDEN("crelu", TUTTI_ACTIVATION_CRELU),
    [LABEL_LEAKY_RELU] = HIDDEN("leaky-relu", TUTTI_ACTIVATION_LEAKY_RELU),
    [LABEL_SOFTPLUS] = HIDDEN("softplus", TUTTI_ACTIVATION_SOFTPLUS),
    [LABEL_ELU] = HIDDEN("elu", TUTTI_ACTIVATION_ELU),
    [LABEL_LOGISTIC] = HIDDEN("logistic", TUTTI_ACTIVATION_SIGMOID),
    [LABEL_TANH] = HIDDEN("tanh", TUTTI_ACTIVATION_TANH),
    [LABEL_CONV3] = CONV("conv3", 3, false),
    [LABEL_CONV5] = CONV("conv5", 5, false),
    [LABEL_CONV7] = CONV("conv7", 7, false),
    [LABEL_RES3] = CONV("res3", 3, true),
    [LABEL_RES5] = CONV("res5", 5, true),
    [LABEL_RES7] = CONV("res7", 7, true),
    [LABEL_MAX_POOL] = {.name = "max-pool", .role = ROLE_POOL},
    [LABEL_AVG_POOL] = {.name = "avg-pool", .role = ROLE_POOL},
    [LABEL_FC] = {.name = "fc", .role = ROLE_FC, .units = true},
    [LABEL_LINEAR] = {.name = "linear", .role = ROLE_DECISION},
    [LABEL_SOFTMAX] = {.name = "softmax", .role = ROLE_DECISION},
    [LABEL_OP] = {.name = "op", .role = ROLE_OUTPUT},
};

enum tutti_status label_parse(tutti_context *context, uint32_t set, const char *name, enum label *label) {
  const char *names[LABEL_COUNT] = {NULL};
  for (int i = 0; i < LABEL_COUNT; i++) {
    if (!label_in((enum label)i, set))
      continue;
    names[i] = label_facts[i].name;
    if (strcmp(names[i], name) == 0) {
      *label = (enum label)i;
      return TUTTI_OK;
    }
  }
  const char *closest = tutti_closest_name(name, LABEL_COUNT, names);
  return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "there is no label '%s' in this space%s%s%s", name,
                    closest ? "; did you mean '" : "", closest ? closest : "", closest ? "'?" : "");
}
