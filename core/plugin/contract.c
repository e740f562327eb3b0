/* contract.c - what a plugin of each kind must have before any of it runs. */
#include "contract_impl.h"

#include <string.h>
#include <tutti/acquisition.h>
#include <tutti/backend.h>
#include <tutti/builder.h>
#include <tutti/executor.h>
#include <tutti/maximiser.h>
#include <tutti/selector.h>
#include <tutti/space.h>
#include <tutti/surrogate.h>

/* Is a function pointer of an ops struct there? `size` is what the plugin has of the struct. */
#define HAS_OP(type, ops, size, member)                                                                                \
  (offsetof(type, member) + sizeof(((const type *)0)->member) <= (size) && ((const type *)(ops))->member != NULL)

static const char *space_ops_missing(const void *ops, size_t size) {
  if (!HAS_OP(struct tutti_space_ops, ops, size, decode))
    return "decode";
  if (HAS_OP(struct tutti_space_ops, ops, size, measures) != HAS_OP(struct tutti_space_ops, ops, size, distances))
    return "measures or distances (both or neither)";
  if (HAS_OP(struct tutti_space_ops, ops, size, print_point) != HAS_OP(struct tutti_space_ops, ops, size, parse_point))
    return "print_point or parse_point (both or neither)";
  if (HAS_OP(struct tutti_space_ops, ops, size, domain))
    return NULL;
  if (!HAS_OP(struct tutti_space_ops, ops, size, graph_sample))
    return "domain (for points) or graph_sample (for graphs)";
  if (!HAS_OP(struct tutti_space_ops, ops, size, graph_mutate))
    return "graph_mutate";
  if (!HAS_OP(struct tutti_space_ops, ops, size, graph_print))
    return "graph_print";
  if (!HAS_OP(struct tutti_space_ops, ops, size, graph_parse))
    return "graph_parse";
  return HAS_OP(struct tutti_space_ops, ops, size, graph_free) ? NULL : "graph_free";
}

static const char *backend_ops_missing(const void *ops, size_t size) {
  if (!HAS_OP(struct tutti_backend_ops, ops, size, supports))
    return "supports";
  if (!HAS_OP(struct tutti_backend_ops, ops, size, train))
    return "train";
  if (HAS_OP(struct tutti_backend_ops, ops, size, capacity) != HAS_OP(struct tutti_backend_ops, ops, size, train_many))
    return "capacity or train_many (both or neither)";
  return NULL;
}

static const char *builder_ops_missing(const void *ops, size_t size) {
  if (!HAS_OP(struct tutti_builder_ops, ops, size, ask))
    return "ask";
  return HAS_OP(struct tutti_builder_ops, ops, size, tell) ? NULL : "tell";
}

static const char *surrogate_ops_missing(const void *ops, size_t size) {
  if (!HAS_OP(struct tutti_surrogate_ops, ops, size, fit))
    return "fit";
  if (!HAS_OP(struct tutti_surrogate_ops, ops, size, predict))
    return "predict";
  bool conditions = HAS_OP(struct tutti_surrogate_ops, ops, size, hallucinate) ||
                    HAS_OP(struct tutti_surrogate_ops, ops, size, fantasise) ||
                    HAS_OP(struct tutti_surrogate_ops, ops, size, realise);
  if (conditions != HAS_OP(struct tutti_surrogate_ops, ops, size, release))
    return "release, or what it ends: hallucinate, fantasise or realise";
  bool components = HAS_OP(struct tutti_surrogate_ops, ops, size, components);
  if (components != HAS_OP(struct tutti_surrogate_ops, ops, size, predict_components))
    return "components or predict_components (both or neither)";
  if (HAS_OP(struct tutti_surrogate_ops, ops, size, gradient_components) !=
      (components && HAS_OP(struct tutti_surrogate_ops, ops, size, gradient)))
    return "gradient_components, or gradient and components (all or not)";
  bool fantasies = HAS_OP(struct tutti_surrogate_ops, ops, size, fantasise);
  if (fantasies != HAS_OP(struct tutti_surrogate_ops, ops, size, least) || (fantasies && !components))
    return "fantasise, least and components (the first two with the third)";
  if (HAS_OP(struct tutti_surrogate_ops, ops, size, stages) != HAS_OP(struct tutti_surrogate_ops, ops, size, bound))
    return "stages or bound (both or neither)";
  return NULL;
}

static const char *acquisition_ops_missing(const void *ops, size_t size) {
  if (!HAS_OP(struct tutti_acquisition_ops, ops, size, moments) &&
      !HAS_OP(struct tutti_acquisition_ops, ops, size, evaluate))
    return "moments or evaluate";
  return NULL;
}

static const char *maximiser_ops_missing(const void *ops, size_t size) {
  return HAS_OP(struct tutti_maximiser_ops, ops, size, maximise) ? NULL : "maximise";
}

static const char *selector_ops_missing(const void *ops, size_t size) {
  return HAS_OP(struct tutti_selector_ops, ops, size, select) ? NULL : "select";
}

static const char *executor_ops_missing(const void *ops, size_t size) {
  if (!HAS_OP(struct tutti_executor_ops, ops, size, capacity))
    return "capacity";
  if (!HAS_OP(struct tutti_executor_ops, ops, size, submit))
    return "submit";
  return HAS_OP(struct tutti_executor_ops, ops, size, wait) ? NULL : "wait";
}

const char *tutti_ops_missing(enum tutti_kind kind, const void *ops) {
  static const char *(*const missing[TUTTI_KIND_COUNT])(const void *, size_t) = {
      [TUTTI_KIND_SPACE] = space_ops_missing,
      [TUTTI_KIND_BACKEND] = backend_ops_missing,
      [TUTTI_KIND_BUILDER] = builder_ops_missing,
      [TUTTI_KIND_SURROGATE] = surrogate_ops_missing,
      [TUTTI_KIND_ACQUISITION] = acquisition_ops_missing,
      [TUTTI_KIND_MAXIMISER] = maximiser_ops_missing,
      [TUTTI_KIND_SELECTOR] = selector_ops_missing,
      [TUTTI_KIND_EXECUTOR] = executor_ops_missing,
  };
  size_t size;
  memcpy(&size, ops, sizeof size);
  return size < sizeof size ? "size" : missing[kind](ops, size);
}
