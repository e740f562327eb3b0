/* command_list.c - tutti list: the plugins and the installed recipes that there are. */
#include "program_impl.h"
#include "table.h"

#include <string.h>

struct list_options {
  bool json;
};

static void collect_entry(void *argument, const struct tutti_plugin_entry *entry) {
  if (entry->shadowed_by)
    return;
  json_array_append_new(argument, json_pack("{s:s, s:s, s:b, s:s, s:s, s:s, s:s}", "kind", tutti_kind_name(entry->kind),
                                            "name", entry->name, "works", (int)entry->works, "reason", entry->reason,
                                            "version", entry->version, "summary", entry->summary, "file", entry->file));
}

static const char *field(const json_t *entry, const char *key) {
  return json_string_value(json_object_get(entry, key));
}

static void put_broken(const json_t *entry, struct table *table) {
  const char *reason = field(entry, "reason"), *file = field(entry, "file");
  bool named = strstr(reason, file) != NULL;
  table_cell(table, "unavailable: %s%s%s", named ? "" : file, named ? "" : ": ", reason);
}

/* A name and what is said of it. */
static struct table begin_names(void) {
  struct table table = table_begin(1);
  table_column(&table, TABLE_TEXT, "");
  table_column(&table, TABLE_PROSE, "");
  return table;
}

static void print_entries(const json_t *entries, const char *kind) {
  struct table table = begin_names();
  const char *last = "";
  size_t index;
  json_t *entry;
  json_array_foreach(entries, index, entry) {
    if (kind && strcmp(field(entry, "kind"), kind) != 0)
      continue;
    if (strcmp(last, field(entry, "kind")) != 0) {
      print_table(&table);
      table = begin_names();
      print_harmless(stdout, "%s%s\n", *last ? "\n" : "", field(entry, "kind"));
    }
    last = field(entry, "kind");
    table_cell(&table, "%s", field(entry, "name"));
    if (json_is_true(json_object_get(entry, "works")))
      table_cell(&table, "%s", field(entry, "summary"));
    else
      put_broken(entry, &table);
  }
  print_table(&table);
}

static int print_list(const json_t *entries, const char *kind, bool as_json) {
  begin_output();
  if (!as_json) {
    print_entries(entries, kind);
    return finish_output();
  }
  json_t *chosen = json_array(), *entry;
  size_t index;
  json_array_foreach(entries, index, entry) if (!kind || strcmp(field(entry, "kind"), kind) == 0)
      json_array_append(chosen, entry);
  print_json(chosen);
  json_decref(chosen);
  return finish_output();
}

/* --- recipes --- */

static enum tutti_status collect_recipe(void *argument, tutti_context *context,
                                        const struct tutti_installed_recipe *recipe) {
  json_t *entry = json_pack("{s:s, s:s, s:s}", "name", recipe->name, "summary", recipe->summary, "file", recipe->path);
  (void)context;
  json_array_append_new(argument, entry);
  return TUTTI_OK;
}

static void show_recipes(const json_t *recipes) {
  struct table table = begin_names();
  size_t index;
  const json_t *recipe;
  json_array_foreach(recipes, index, recipe) {
    table_cell(&table, "%s", field(recipe, "name"));
    table_cell(&table, "%s", field(recipe, "summary"));
  }
  print_table(&table);
}

static int list_recipes(tutti_context *context, bool as_json) {
  json_t *recipes = json_array();
  enum tutti_status status = tutti_recipe_visit_installed(context, collect_recipe, recipes);
  if (status == TUTTI_OK)
    begin_output();
  if (status == TUTTI_OK && as_json)
    print_json(recipes);
  else if (status == TUTTI_OK)
    show_recipes(recipes);
  json_decref(recipes);
  return status == TUTTI_OK ? finish_output() : fail(context, status);
}

/* --- the command --- */

static int run_list(tutti_context *context, const struct texts *operands, const void *given) {
  const struct list_options *options = given;
  const char *name = operands->count ? operands->items[0] : NULL;
  enum tutti_kind kind;
  if (name && strcmp(name, "recipes") == 0)
    return list_recipes(context, options->json);
  if (name) {
    enum tutti_status known = tutti_kind_parse(context, name, &kind);
    if (known != TUTTI_OK)
      return fail(context, known);
  }
  json_t *entries = json_array();
  enum tutti_status status = tutti_plugin_scan(context, collect_entry, entries);
  int code = status == TUTTI_OK ? print_list(entries, name, options->json) : fail(context, status);
  json_decref(entries);
  return code;
}

static const struct command_option list_options[] = {
    {"json", 'j', OPTION_FLAG, NULL, "As JSON.", .offset = offsetof(struct list_options, json)}, {0}};

const struct command command_list = {
    .name = "list",
    .summary = "the plugins, or recipes, that there are",
    .about = "List the plugins on the search path, those that do not load with the reason; or, with the word recipes, "
             "those that are installed.",
    .operands = {.synopsis = "[KIND|recipes]", .wanted = "one kind", .most = 1, .completes = {COMPLETE_KIND}},
    .options = list_options,
    .size = sizeof(struct list_options),
    .run = run_list,
};
