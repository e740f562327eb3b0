/* op.c - ops by name and by number, and activations by name. */
#include "op_impl.h"

#include <string.h>
#include <tutti/names.h>

/* --- definitions --- */

const struct tutti_op_definition *tutti_op_builtin(enum tutti_op op) {
  return (unsigned)op < TUTTI_OP_COUNT ? tutti_ops_builtin[op] : NULL;
}

enum tutti_op tutti_op_number(const struct tutti_op_definition *definition) {
  for (int op = 0; op < TUTTI_OP_COUNT; op++)
    if (tutti_ops_builtin[op] == definition)
      return (enum tutti_op)op;
  return TUTTI_OP_OTHER;
}

const struct tutti_op_definition *tutti_op_find(const tutti_context *context, const char *name) {
  for (int op = 0; op < TUTTI_OP_COUNT; op++)
    if (strcmp(tutti_ops_builtin[op]->name, name) == 0)
      return tutti_ops_builtin[op];
  for (size_t i = 0; i < tutti_ops_defined(context); i++)
    if (strcmp(tutti_op_defined_at(context, i)->name, name) == 0)
      return tutti_op_defined_at(context, i);
  return NULL;
}

/* --- names --- */

const char *tutti_op_name(enum tutti_op op) {
  const struct tutti_op_definition *definition = tutti_op_builtin(op);
  return definition ? definition->name : "unknown op";
}

static enum tutti_status fail_name(tutti_context *context, const char *what, const char *name, size_t count,
                                   const char *const *names) {
  const char *closest = tutti_closest_name(name, count, names);
  return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "there is no %s \"%s\"%s%s%s", what, name,
                    closest ? "; did you mean \"" : "", closest ? closest : "", closest ? "\"?" : "");
}

enum tutti_status tutti_op_get(tutti_context *context, const char *name,
                               const struct tutti_op_definition **definition) {
  *definition = tutti_op_find(context, name);
  if (*definition)
    return TUTTI_OK;
  const char **names = NULL;
  size_t count = 0;
  TUTTI_TRY(context, tutti_alloc(context, TUTTI_OP_COUNT + tutti_ops_defined(context), sizeof *names, &names));
  for (int op = 0; op < TUTTI_OP_COUNT; op++)
    names[count++] = tutti_ops_builtin[op]->name;
  for (size_t i = 0; i < tutti_ops_defined(context); i++)
    names[count++] = tutti_op_defined_at(context, i)->name;
  enum tutti_status status = fail_name(context, "op", name, count, names);
  tutti_free(names);
  return status;
}

enum tutti_status tutti_activation_parse(tutti_context *context, const char *name, enum tutti_activation *activation) {
  for (int i = 0; i < TUTTI_ACTIVATION_COUNT; i++)
    if (strcmp(tutti_activation_table[i], name) == 0) {
      *activation = (enum tutti_activation)i;
      return TUTTI_OK;
    }
  return fail_name(context, "activation", name, TUTTI_ACTIVATION_COUNT, tutti_activation_table);
}
