/* contract.c - the kinds' demands on tables of operations. */
#include "contract_impl.h"
#include "core/plugin/instance_impl.h"

#include <string.h>
#include <tutti/plugin.h>

#define DECLARE(constant, name, title) extern TUTTI_PRIVATE const struct tutti_class tutti_class_##name;
TUTTI_KINDS(DECLARE)

/* A kind whose header <tutti/plugin.h> lacks does not compile. */
#define COMPLETE(constant, name, title)                                                                                \
  _Static_assert(sizeof(struct tutti_##name##_ops) > sizeof(size_t), "operations");
TUTTI_KINDS(COMPLETE)

#define CLASS(constant, name, title) &tutti_class_##name,
static const struct tutti_class *const classes[] = {TUTTI_KINDS(CLASS)};

bool tutti_kind_has_none(enum tutti_kind kind) { return classes[kind]->has_none; }

const char *tutti_ops_missing(enum tutti_kind kind, const void *ops) {
  const struct tutti_class *class = classes[kind];
  size_t size;
  memcpy(&size, ops, sizeof size);
  if (size < sizeof size)
    return "size";
  for (const struct tutti_required_op *op = class->required; op->name; op++)
    if (!tutti_op_there(ops, op->offset))
      return op->name;
  return class->missing ? class->missing(ops) : NULL;
}
