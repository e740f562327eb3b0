/* labels.h - what a layer of a layer graph may be. */
#ifndef LAYER_GRAPH_LABELS_H
#define LAYER_GRAPH_LABELS_H

#include <tutti/plugin.h>

enum label {
  LABEL_IP,
  LABEL_RELU,
  LABEL_CRELU,
  LABEL_LEAKY_RELU,
  LABEL_SOFTPLUS,
  LABEL_ELU,
  LABEL_LOGISTIC,
  LABEL_TANH,
  LABEL_CONV3,
  LABEL_CONV5,
  LABEL_CONV7,
  LABEL_RES3,
  LABEL_RES5,
  LABEL_RES7,
  LABEL_MAX_POOL,
  LABEL_AVG_POOL,
  LABEL_FC,
  LABEL_LINEAR,
  LABEL_SOFTMAX,
  LABEL_OP,
  LABEL_COUNT
};

/* Layers of different roles never match each other. */
enum role { ROLE_INPUT, ROLE_HIDDEN, ROLE_CONV, ROLE_POOL, ROLE_FC, ROLE_DECISION, ROLE_OUTPUT };

struct label_facts {
  const char *name;
  enum role role;
  bool units;                       /* has a number of units */
  int32_t kernel;                   /* ROLE_CONV */
  bool residual;                    /* ROLE_CONV */
  enum tutti_activation activation; /* ROLE_HIDDEN */
};

extern const struct label_facts label_facts[LABEL_COUNT];

/* Sets of labels: bits 1 << label. */
#define LABELS_RECTIFIER                                                                                               \
  (1u << LABEL_RELU | 1u << LABEL_CRELU | 1u << LABEL_LEAKY_RELU | 1u << LABEL_SOFTPLUS | 1u << LABEL_ELU)
#define LABELS_SIGMOID (1u << LABEL_LOGISTIC | 1u << LABEL_TANH)
#define LABELS_PLAIN_CONV (1u << LABEL_CONV3 | 1u << LABEL_CONV5 | 1u << LABEL_CONV7)
#define LABELS_CONV (LABELS_PLAIN_CONV | 1u << LABEL_RES3 | 1u << LABEL_RES5 | 1u << LABEL_RES7)
#define LABELS_POOL (1u << LABEL_MAX_POOL | 1u << LABEL_AVG_POOL)
#define LABELS_DECISION (1u << LABEL_LINEAR | 1u << LABEL_SOFTMAX)
#define LABELS_ENDS (1u << LABEL_IP | 1u << LABEL_OP)
#define LABELS_ALL ((1u << LABEL_COUNT) - 1)

static inline bool label_in(enum label label, uint32_t set) { return (set >> label & 1u) != 0; }

static inline enum role label_role(enum label label) { return label_facts[label].role; }

/* The label of that name among a set; an error names the closest. */
TUTTI_NODISCARD enum tutti_status label_parse(tutti_context *context, uint32_t set, const char *name,
                                              enum label *label);

#endif
