/* command_list.c - tutti list, tutti inspect, tutti scan-plugin. */
#include "program_impl.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct list_arguments {
  const char *what;
  bool json, markdown;
};

static error_t parse_list(int key, char *value, struct argp_state *state) {
  struct list_arguments *arguments = state->input;
  switch (key) {
  case 'j':
    arguments->json = true;
    return 0;
  case 'm':
    arguments->markdown = true;
    return 0;
  case ARGP_KEY_ARG:
    if (arguments->what)
      argp_error(state, "expected one argument, found '%s' and '%s'", arguments->what, value);
    arguments->what = value;
    return 0;
  default:
    return ARGP_ERR_UNKNOWN;
  }
}

/* --- list --- */

static void collect_entry(void *argument, const struct tutti_plugin_entry *entry) {
  json_array_append_new(argument, json_pack("{s:s, s:s, s:b, s:s, s:s, s:s, s:s}", "kind", tutti_kind_name(entry->kind),
                                            "name", entry->name, "works", (int)entry->works, "reason", entry->reason,
                                            "version", entry->version, "summary", entry->summary, "file", entry->file));
}

static const char *field(const json_t *entry, const char *key) {
  return json_string_value(json_object_get(entry, key));
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
      (void)printf("  %-20s unavailable: %s (%s)\n", field(entry, "name"), field(entry, "reason"), field(entry, "file"));
  }
}

static int print_list(const json_t *entries, const struct list_arguments *arguments) {
  if (!arguments->json) {
    print_entries(entries, arguments->what);
    return finish_output();
  }
  json_t *chosen = json_array(), *entry;
  size_t index;
  json_array_foreach(entries, index, entry)
    if (!arguments->what || strcmp(field(entry, "kind"), arguments->what) == 0)
      json_array_append(chosen, entry);
  (void)json_dumpf(chosen, stdout, JSON_INDENT(2));
  (void)putchar('\n');
  json_decref(chosen);
  return finish_output();
}

int command_list(tutti_context *context, int argc, char **argv) {
  const struct argp_option options[] = {{"json", 'j', NULL, 0, "As JSON.", 0}, {0}};
  const struct argp argp = {options, parse_list, "[KIND]",
                            "List the plugins on the search path, those that do not load with the reason.", NULL, NULL,
                            NULL};
  struct list_arguments arguments = {0};
  char program[4096];
  enum tutti_kind kind;
  int code;
  if (!parse_arguments(&argp, argc, argv, &arguments, &code))
    return code;
  if (arguments.what) {
    enum tutti_status known = tutti_kind_parse(context, arguments.what, &kind);
    if (known != TUTTI_OK)
      return fail(context, known);
  }
  json_t *entries = json_array();
  enum tutti_status status =
      tutti_plugin_scan(context, program_path(program, sizeof program), collect_entry, entries);
  code = status == TUTTI_OK ? print_list(entries, &arguments) : fail(context, status);
  json_decref(entries);
  return code;
}

int command_scan_plugin(tutti_context *context, int argc, char **argv) {
  return argc == 2 ? tutti_plugin_scan_child(context, argv[1], 1) : EXIT_USAGE;
}

/* --- inspect --- */

static const char *type_text(const struct tutti_param *param) {
  switch (param->type) {
  case TUTTI_PARAM_BOOL: return "yes or no";
  case TUTTI_PARAM_INTEGER: return "integer";
  case TUTTI_PARAM_REAL: return "real";
  case TUTTI_PARAM_CHOICE: return "choice";
  case TUTTI_PARAM_STRING: return "text";
  case TUTTI_PARAM_PATH: return "path";
  case TUTTI_PARAM_INTEGERS: return "integers";
  case TUTTI_PARAM_REALS: return "reals";
  case TUTTI_PARAM_CHOICES: return "choices";
  case TUTTI_PARAM_PLUGIN: return tutti_kind_name(param->kind);
  }
  return "unknown";
}

/* "0 <= x < 1", or "" without limits. */
static const char *range_text(const struct tutti_param *param, char *text, size_t size) {
  bool low = !(param->min == 0 && param->max == 0) && isfinite(param->min);
  bool high = !(param->min == 0 && param->max == 0) && isfinite(param->max);
  char left[48] = "", right[48] = "";
  if (low)
    (void)snprintf(left, sizeof left, "%.6g %s ", param->min, param->min_open ? "<" : "<=");
  if (high)
    (void)snprintf(right, sizeof right, " %s %.6g", param->max_open ? "<" : "<=", param->max);
  (void)snprintf(text, size, "%s%s%s", left, low || high ? "x" : "", right);
  return text;
}

static json_t *param_json(const struct tutti_param *param) {
  char range[128];
  json_t *choices = json_array();
  for (const char *const *choice = param->choices; choice && *choice; choice++)
    json_array_append_new(choices, json_string(*choice));
  return json_pack("{s:s, s:s, s:s, s:s, s:s, s:o, s:b, s:b, s:s}", "name", param->name, "type", type_text(param),
                   "default", param->preset ? param->preset : "", "range", range_text(param, range, sizeof range), "unit",
                   param->unit ? param->unit : "", "choices", choices, "searchable",
                   (param->flags & TUTTI_PARAM_SEARCHABLE) != 0, "required", (param->flags & TUTTI_PARAM_REQUIRED) != 0,
                   "doc", param->doc);
}

static json_t *descriptor_json(tutti_context *context, const struct tutti_descriptor *descriptor) {
  const char *file = tutti_plugin_file(context, descriptor);
  json_t *params = json_array();
  for (size_t i = 0; i < descriptor->params.count; i++)
    json_array_append_new(params, param_json(tutti_params_at(&descriptor->params, i)));
  return json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:o}", "kind", tutti_kind_name(descriptor->kind), "name",
                   descriptor->name, "version", descriptor->version, "summary", descriptor->summary, "source",
                   descriptor->source, "licence", descriptor->licence, "file", file ? file : "", "parameters", params);
}

/* Type, range and choices in one text, as in "real, 0 < x <= 1, s". */
static void kind_of_value(const json_t *param, char *text, size_t size) {
  const json_t *choices = json_object_get(param, "choices");
  size_t used = (size_t)snprintf(text, size, "%s", field(param, "type"));
  if (*field(param, "range") && used < size)
    used += (size_t)snprintf(text + used, size - used, ", %s", field(param, "range"));
  if (*field(param, "unit") && used < size)
    used += (size_t)snprintf(text + used, size - used, " %s", field(param, "unit"));
  for (size_t i = 0; i < json_array_size(choices) && used < size; i++)
    used += (size_t)snprintf(text + used, size - used, "%s%s", i ? " | " : ": ",
                             json_string_value(json_array_get(choices, i)));
  if (json_is_true(json_object_get(param, "searchable")) && used < size)
    (void)snprintf(text + used, size - used, " (searchable)");
}

static void print_plain(const json_t *plugin) {
  size_t index;
  json_t *param;
  (void)printf("%s/%s %s - %s\n", field(plugin, "kind"), field(plugin, "name"), field(plugin, "version"),
               field(plugin, "summary"));
  if (*field(plugin, "source"))
    (void)printf("source   %s\n", field(plugin, "source"));
  (void)printf("licence  %s\nfile     %s\n", field(plugin, "licence"), field(plugin, "file"));
  json_array_foreach(json_object_get(plugin, "parameters"), index, param) {
    char text[1024];
    kind_of_value(param, text, sizeof text);
    (void)printf("\n  %s = %s\n      %s\n      %s\n", field(param, "name"),
                 json_is_true(json_object_get(param, "required")) ? "(required)" : field(param, "default"), text,
                 field(param, "doc"));
  }
}

/* A cell of a table: bars would end it. */
static void print_cell(const char *text) {
  for (; *text; text++)
    (void)(*text == '|' ? fputs("\\|", stdout) : putchar(*text));
}

static void print_markdown(const json_t *plugin) {
  size_t index;
  json_t *param;
  (void)printf("### %s\n\n%s. ", field(plugin, "name"), field(plugin, "summary"));
  if (*field(plugin, "source"))
    (void)printf("Source: %s.", field(plugin, "source"));
  (void)printf("\n\n");
  if (json_array_size(json_object_get(plugin, "parameters")) == 0)
    return;
  (void)printf("| parameter | default | value | meaning |\n|---|---|---|---|\n");
  json_array_foreach(json_object_get(plugin, "parameters"), index, param) {
    char text[1024];
    kind_of_value(param, text, sizeof text);
    (void)printf("| `%s` | `%s` | ", field(param, "name"), field(param, "default"));
    print_cell(text);
    (void)printf(" | ");
    print_cell(field(param, "doc"));
    (void)printf(" |\n");
  }
  (void)printf("\n");
}

static int inspect(tutti_context *context, const struct list_arguments *arguments) {
  char kind_name[32];
  enum tutti_kind kind;
  const struct tutti_descriptor *descriptor;
  const char *slash = strchr(arguments->what, '/');
  if (!slash || (size_t)(slash - arguments->what) >= sizeof kind_name) {
    (void)fprintf(stderr, "tutti: expected KIND/NAME, as in backend/cpu, found '%s'; tutti list shows them\n",
                  arguments->what);
    return EXIT_USAGE;
  }
  (void)snprintf(kind_name, sizeof kind_name, "%.*s", (int)(slash - arguments->what), arguments->what);
  enum tutti_status status = tutti_kind_parse(context, kind_name, &kind);
  if (status == TUTTI_OK)
    status = tutti_plugin_find(context, kind, slash + 1, &descriptor);
  if (status != TUTTI_OK)
    return fail(context, status);
  json_t *plugin = descriptor_json(context, descriptor);
  if (arguments->json) {
    (void)json_dumpf(plugin, stdout, JSON_INDENT(2));
    (void)putchar('\n');
  } else if (arguments->markdown) {
    print_markdown(plugin);
  } else {
    print_plain(plugin);
  }
  json_decref(plugin);
  return finish_output();
}

int command_inspect(tutti_context *context, int argc, char **argv) {
  const struct argp_option options[] = {
      {"json", 'j', NULL, 0, "As JSON.", 0}, {"markdown", 'm', NULL, 0, "As a section of the plugin reference.", 0}, {0}};
  const struct argp argp = {options, parse_list, "KIND/NAME", "Show a plugin, where it comes from, and its parameters.",
                            NULL, NULL, NULL};
  struct list_arguments arguments = {0};
  int code;
  if (!parse_arguments(&argp, argc, argv, &arguments, &code))
    return code;
  if (arguments.what)
    return inspect(context, &arguments);
  (void)fputs("tutti: expected KIND/NAME, as in: tutti inspect backend/cpu\n", stderr);
  return EXIT_USAGE;
}
