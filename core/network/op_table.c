/* op_table.c - the ops that plugins brought into a context. */
#include "core/base/context_impl.h"
#include "op_impl.h"

#include <string.h>

struct op_entry {
  struct tutti_op_definition definition; /* the first; complete; its table of attributes is `attributes` */
  struct tutti_attribute_definition *attributes;
  char *source; /* the first plugin that brought it */
  const struct tutti_descriptor *plugin;
};

struct op_table {
  struct op_entry **entries;
  size_t count, room;
};

size_t tutti_ops_defined(const tutti_context *context) {
  const struct op_table *table = context->ops;
  return table ? table->count : 0;
}

const struct tutti_op_definition *tutti_op_defined_at(const tutti_context *context, size_t index) {
  const struct op_table *table = context->ops;
  return &table->entries[index]->definition;
}

const struct tutti_descriptor *tutti_op_plugin(const tutti_context *context,
                                               const struct tutti_op_definition *definition) {
  const struct op_table *table = context->ops;
  for (size_t i = 0; table && i < table->count; i++)
    if (&table->entries[i]->definition == definition)
      return table->entries[i]->plugin;
  return NULL;
}

static void destroy_entry(struct op_entry *entry) {
  if (!entry)
    return;
  tutti_free(entry->attributes);
  tutti_free(entry->source);
  tutti_free(entry);
}

static void destroy_table(void *table_) {
  struct op_table *table = table_;
  for (size_t i = 0; i < table->count; i++)
    destroy_entry(table->entries[i]);
  tutti_free(table->entries);
  tutti_free(table);
}

static enum tutti_status get_table(tutti_context *context, struct op_table **table) {
  if (!context->ops) {
    TUTTI_TRY(context, tutti_alloc(context, 1, sizeof **table, &context->ops));
    context->ops_destroy = destroy_table;
  }
  *table = context->ops;
  return TUTTI_OK;
}

/* A complete copy of a checked definition, which may be shorter or longer than ours. */
static enum tutti_status make_entry(tutti_context *context, const struct tutti_descriptor *plugin, const char *source,
                                    const struct tutti_op_definition *given, struct op_entry **made) {
  enum tutti_status status = TUTTI_OK;
  struct op_entry *entry = NULL;
  TUTTI_TRY_OUT(context, tutti_alloc(context, 1, sizeof *entry, &entry));
  struct tutti_op_definition *definition = &entry->definition;
  memcpy(definition, given, given->size < sizeof *definition ? given->size : sizeof *definition);
  const struct tutti_attribute_definitions table = definition->attributes;
  TUTTI_TRY_OUT(context, tutti_alloc(context, table.count, sizeof *entry->attributes, &entry->attributes));
  size_t stride = table.stride < sizeof *entry->attributes ? table.stride : sizeof *entry->attributes;
  for (size_t i = 0; i < table.count; i++)
    memcpy(&entry->attributes[i], tutti_attribute_at(&table, i), stride);
  definition->size = sizeof *definition;
  definition->attributes =
      (struct tutti_attribute_definitions){entry->attributes, table.count, sizeof *entry->attributes};
  TUTTI_TRY_OUT(context, tutti_strdup(context, source, &entry->source));
  entry->plugin = plugin;
  *made = entry;
  entry = NULL;
out:
  destroy_entry(entry);
  return status;
}

/* --- agreement --- */

static bool same_choices(const char *const *a, const char *const *b) {
  size_t i = 0;
  while (a[i] && b[i] && strcmp(a[i], b[i]) == 0)
    i++;
  return !a[i] && !b[i];
}

static bool same_attribute(const struct tutti_attribute_definition *a, const struct tutti_attribute_definition *b) {
  return strcmp(a->name, b->name) == 0 && a->type == b->type && a->flags == b->flags &&
         (a->flags || a->preset == b->preset) && a->min == b->min && a->max == b->max && a->min_open == b->min_open &&
         a->max_open == b->max_open && (a->type != TUTTI_ATTRIBUTE_CHOICE || same_choices(a->choices, b->choices));
}

/* Where two definitions of one op differ, for messages; NULL: they agree. */
static const char *difference(const struct tutti_op_definition *a, const struct tutti_op_definition *b) {
  if (a->min_inputs != b->min_inputs || a->max_inputs != b->max_inputs)
    return "the number of inputs";
  if (a->head != b->head)
    return "whether it is a head";
  if (a->attributes.count != b->attributes.count)
    return "the number of attributes";
  for (size_t i = 0; i < a->attributes.count; i++)
    if (!same_attribute(&a->attributes.table[i], &b->attributes.table[i]))
      return a->attributes.table[i].name;
  return NULL;
}

/* --- defining --- */

static struct op_entry *find_entry(const struct op_table *table, const char *name) {
  for (size_t i = 0; i < table->count; i++)
    if (strcmp(table->entries[i]->definition.name, name) == 0)
      return table->entries[i];
  return NULL;
}

/* Add a definition; one of the same name that is in the table must agree with it. */
static enum tutti_status define(tutti_context *context, struct op_table *table, const struct tutti_descriptor *plugin,
                                const char *source, const struct tutti_op_definition *definition) {
  struct op_entry *made;
  TUTTI_TRY(context, tutti_op_check(context, definition));
  if (table->count == table->room) {
    size_t room = table->room * 2 + 8;
    TUTTI_TRY(context, tutti_realloc(context, table->count, room, sizeof(struct op_entry *), &table->entries));
    table->room = room;
  }
  TUTTI_TRY(context, make_entry(context, plugin, source, definition, &made));
  const struct op_entry *there = find_entry(table, made->definition.name);
  const char *differs = there ? difference(&there->definition, &made->definition) : NULL;
  if (!there) {
    table->entries[table->count++] = made;
    return TUTTI_OK;
  }
  destroy_entry(made);
  if (!differs)
    return TUTTI_OK;
  return TUTTI_FAIL(context, TUTTI_ERROR_PLUGIN,
                    "op \"%s\" is defined by %s and, differently, by %s: they disagree on %s; build both from one "
                    "definition, or rename one",
                    definition->name, there->source, source, differs);
}

enum tutti_status tutti_ops_define(tutti_context *context, const struct tutti_descriptor *plugin, const char *source,
                                   const struct tutti_op_definition *const *definitions) {
  struct op_table *table;
  TUTTI_TRY(context, get_table(context, &table));
  size_t before = table->count;
  for (size_t i = 0; definitions[i]; i++) {
    enum tutti_status status = define(context, table, plugin, source, definitions[i]);
    if (status == TUTTI_OK)
      continue;
    while (table->count > before)
      destroy_entry(table->entries[--table->count]);
    return tutti_error_trace(context, status, __FILE__, __LINE__, __func__);
  }
  return TUTTI_OK;
}
