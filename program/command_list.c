/* command_list.c - tutti list, tutti scan-plugin. */
#include "program_impl.h"

#include <string.h>

struct list_arguments {
  const char *kind;
  bool json;
};

static error_t parse_list(int key, char *value, struct argp_state *state) {
  struct list_arguments *arguments = state->input;
  switch (key) {
  case 'j':
    arguments->json = true;
    return 0;
  case ARGP_KEY_ARG:
    if (arguments->kind)
      argp_error(state, "expected one argument, found '%s' and '%s'", arguments->kind, value);
    arguments->kind = value;
    return 0;
  default:
    return ARGP_ERR_UNKNOWN;
  }
}

static void collect_entry(void *argument, const struct tutti_plugin_entry *entry) {
  json_array_append_new(argument, json_pack("{s:s, s:s, s:b, s:s, s:s, s:s, s:s}", "kind", tutti_kind_name(entry->kind),
                                            "name", entry->name, "works", (int)entry->works, "reason", entry->reason,
                                            "version", entry->version, "summary", entry->summary, "file", entry->file));
}

static const char *field(const json_t *entry, const char *key) {
  return json_string_value(json_object_get(entry, key));
}

static void print_broken(const json_t *entry) {
  const char *reason = field(entry, "reason"), *file = field(entry, "file");
  bool named = strstr(reason, file) != NULL;
  (void)printf("  %-20s unavailable: %s%s%s\n", field(entry, "name"), named ? "" : file, named ? "" : ": ", reason);
}

static void print_entries(const json_t *entries, const char *kind) {
  const char *last = "";
  size_t index;
  json_t *entry;
  json_array_foreach(entries, index, entry) {
    if (kind && strcmp(field(entry, "kind"), kind) != 0)
      continue;
    if (strcmp(last, field(entry, "kind")) != 0)
      (void)printf("%s%s\n", *last ? "\n" : "", field(entry, "kind"));
    last = field(entry, "kind");
    if (json_is_true(json_object_get(entry, "works")))
      (void)printf("  %-20s %s\n", field(entry, "name"), field(entry, "summary"));
    else
      print_broken(entry);
  }
}

static int print_list(const json_t *entries, const struct list_arguments *arguments) {
  if (!arguments->json) {
    print_entries(entries, arguments->kind);
    return finish_output();
  }
  json_t *chosen = json_array(), *entry;
  size_t index;
  json_array_foreach(entries, index, entry) if (!arguments->kind || strcmp(field(entry, "kind"), arguments->kind) == 0)
      json_array_append(chosen, entry);
  (void)json_dumpf(chosen, stdout, JSON_INDENT(2));
  (void)putchar('\n');
  json_decref(chosen);
  return finish_output();
}

int command_list(tutti_context *context, int argc, char **argv) {
  const struct argp_option options[] = {{"json", 'j', NULL, 0, "As JSON.", 0}, {0}};
  const struct argp argp = {
      options, parse_list, "[KIND]", "List the plugins on the search path, those that do not load with the reason.",
      NULL,    NULL,       NULL};
  struct list_arguments arguments = {0};
  char program[4096];
  enum tutti_kind kind;
  int code;
  if (!parse_arguments(&argp, argc, argv, &arguments, &code))
    return code;
  if (arguments.kind) {
    enum tutti_status known = tutti_kind_parse(context, arguments.kind, &kind);
    if (known != TUTTI_OK)
      return fail(context, known);
  }
  json_t *entries = json_array();
  enum tutti_status status = tutti_plugin_scan(context, program_path(program, sizeof program), collect_entry, entries);
  code = status == TUTTI_OK ? print_list(entries, &arguments) : fail(context, status);
  json_decref(entries);
  return code;
}

int command_scan_plugin(tutti_context *context, int argc, char **argv) {
  return argc == 2 ? tutti_plugin_scan_child(context, argv[1], 1) : EXIT_USAGE;
}
