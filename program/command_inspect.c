/* command_inspect.c - tutti inspect: a plugin and its parameters; without a name all of them, as the plugin reference.
 */
#include "inspect_ops.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

enum form { FORM_PLAIN, FORM_JSON, FORM_MARKDOWN };

struct inspect_options {
  bool json, markdown;
};

/* --- a plugin as JSON --- */

static const char *type_text(const struct tutti_param *param) {
  switch (param->type) {
  case TUTTI_PARAM_BOOL:
    return "yes or no";
  case TUTTI_PARAM_INTEGER:
    return "integer";
  case TUTTI_PARAM_REAL:
    return "real";
  case TUTTI_PARAM_CHOICE:
    return "choice";
  case TUTTI_PARAM_STRING:
    return "text";
  case TUTTI_PARAM_PATH:
    return "path";
  case TUTTI_PARAM_INTEGERS:
    return "integers";
  case TUTTI_PARAM_REALS:
    return "reals";
  case TUTTI_PARAM_CHOICES:
    return "choices";
  case TUTTI_PARAM_PLUGIN:
    return tutti_kind_name(param->kind);
  }
  return "unknown";
}

const char *range_text(const struct limits *limits, char *text, size_t size) {
  bool limited = limits->min != 0 || limits->max != 0;
  char left[48] = "", right[48] = "";
  if (limited && isfinite(limits->min))
    (void)snprintf(left, sizeof left, "%.10g %s ", limits->min, limits->min_open ? "<" : "<=");
  if (limited && isfinite(limits->max))
    (void)snprintf(right, sizeof right, " %s %.10g", limits->max_open ? "<" : "<=", limits->max);
  (void)snprintf(text, size, "%s%s%s", left, *left || *right ? "x" : "", right);
  return text;
}

static json_t *param_json(const struct tutti_params *params, size_t index) {
  const struct tutti_param *param = tutti_params_at(params, index);
  const char *with = tutti_params_with(params, param);
  const struct limits limits = {param->min, param->max, param->min_open, param->max_open};
  char range[128];
  json_t *choices = json_array();
  for (const char *const *choice = param->choices; choice && *choice; choice++)
    json_array_append_new(choices, json_string(*choice));
  return json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:o, s:b, s:b, s:s}", "name", param->name, "type", type_text(param),
                   "default", param->preset ? param->preset : "", "with", with ? with : "", "range",
                   range_text(&limits, range, sizeof range), "unit", param->unit ? param->unit : "", "choices", choices,
                   "searchable", (param->flags & TUTTI_PARAM_SEARCHABLE) != 0, "required",
                   (param->flags & TUTTI_PARAM_REQUIRED) != 0, "doc", param->doc);
}

static json_t *params_json(const struct tutti_params *params) {
  json_t *array = json_array();
  for (size_t i = 0; i < params->count; i++)
    json_array_append_new(array, param_json(params, i));
  return array;
}

/* Sections of a recipe that do not belong to a plugin. */
static const struct core_section {
  const char *name, *summary;
  const struct tutti_params *(*params)(void);
} core_sections[] = {
    {"run", "the run as a whole", tutti_run_params},
    {"fit", "how a surrogate is fitted", tutti_fit_params},
    {"data", "the data set and its splits", tutti_data_params},
    {"head", "what networks end in", tutti_head_params},
    {"evaluation", "how ensembles are measured", tutti_evaluation_params},
};
enum { CORE_SECTIONS = sizeof core_sections / sizeof core_sections[0] };

static json_t *section_json(const struct core_section *section) {
  return json_pack("{s:s, s:s, s:s, s:o}", "kind", "section", "name", section->name, "summary", section->summary,
                   "parameters", params_json(section->params()));
}

/* The section of that name, or NULL. */
static json_t *find_section(const char *name) {
  for (size_t i = 0; i < CORE_SECTIONS; i++)
    if (strcmp(core_sections[i].name, name) == 0)
      return section_json(&core_sections[i]);
  return NULL;
}

static json_t *descriptor_json(tutti_context *context, const struct tutti_descriptor *descriptor) {
  const char *file = tutti_plugin_file(context, descriptor);
  json_t *params = params_json(&descriptor->params);
  return json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:o}", "kind", tutti_kind_name(descriptor->kind), "name",
                   descriptor->name, "version", descriptor->version, "summary", descriptor->summary, "source",
                   descriptor->source, "licence", descriptor->licence, "file", file ? file : "", "parameters", params);
}

/* --- for people --- */

static const char *field(const json_t *object, const char *key) {
  const char *text = json_string_value(json_object_get(object, key));
  return text ? text : "";
}

static bool is_set(const json_t *object, const char *key) { return json_is_true(json_object_get(object, key)); }

/* Type, range, unit, choices and a default plugin's settings in one text, as in "real, 0 < x <= 1, in s". */
static void value_text(const json_t *param, char *text, size_t size) {
  const json_t *choices = json_object_get(param, "choices");
  size_t used = (size_t)snprintf(text, size, "%s", field(param, "type"));
  if (*field(param, "range") && used < size)
    used += (size_t)snprintf(text + used, size - used, ", %s", field(param, "range"));
  if (*field(param, "unit") && used < size)
    used += (size_t)snprintf(text + used, size - used, ", in %s", field(param, "unit"));
  for (size_t i = 0; i < json_array_size(choices) && used < size; i++)
    used += (size_t)snprintf(text + used, size - used, "%s%s", i ? " | " : ": ",
                             json_string_value(json_array_get(choices, i)));
  if (*field(param, "with") && used < size)
    used += (size_t)snprintf(text + used, size - used, "; %s stands here with %s", field(param, "default"),
                             field(param, "with"));
  if (is_set(param, "searchable") && used < size)
    (void)snprintf(text + used, size - used, " (searchable)");
}

static void print_plain(const json_t *plugin) {
  size_t index;
  json_t *param;
  if (!*field(plugin, "version"))
    print_harmless(stdout, "[%s] - %s\n", field(plugin, "name"), field(plugin, "summary"));
  else
    print_harmless(stdout, "%s/%s %s - %s\n", field(plugin, "kind"), field(plugin, "name"), field(plugin, "version"),
                   field(plugin, "summary"));
  if (*field(plugin, "source"))
    print_harmless(stdout, "source   %s\n", field(plugin, "source"));
  if (*field(plugin, "licence"))
    print_harmless(stdout, "licence  %s\nfile     %s\n", field(plugin, "licence"), field(plugin, "file"));
  json_array_foreach(json_object_get(plugin, "parameters"), index, param) {
    char text[1024];
    value_text(param, text, sizeof text);
    print_harmless(stdout, "\n  %s = %s\n      %s\n      %s\n", field(param, "name"),
                   is_set(param, "required") ? "(required)" : field(param, "default"), text, field(param, "doc"));
  }
}

/* A cell of a table; vertical bars are escaped, since they would end it. */
static void print_cell(const char *text) {
  for (; *text; text++)
    (void)(*text == '|' ? fputs("\\|", stdout) : putchar(*text));
}

static void print_markdown(const json_t *plugin) {
  const json_t *params = json_object_get(plugin, "parameters");
  const char *summary = field(plugin, "summary"), *source = field(plugin, "source");
  size_t index;
  json_t *param;
  bool stop = *summary && summary[strlen(summary) - 1] == '.';
  print_harmless(stdout, "### %s\n\n%c%s%s", field(plugin, "name"), toupper((unsigned char)*summary),
                 *summary ? summary + 1 : "", stop ? "" : ".");
  if (*source)
    print_harmless(stdout, " Source: %s%s", source, source[strlen(source) - 1] == '.' ? "" : ".");
  print_harmless(stdout, "\n\n");
  if (json_array_size(params) == 0)
    return;
  print_harmless(stdout, "| parameter | default | value | meaning |\n|---|---|---|---|\n");
  json_array_foreach(params, index, param) {
    char text[1024];
    const char *preset = field(param, "default");
    value_text(param, text, sizeof text);
    print_harmless(stdout, "| `%s` | ", field(param, "name"));
    if (is_set(param, "required"))
      print_harmless(stdout, "required | ");
    else
      print_harmless(stdout, *preset ? "`%s` | " : "| ", preset);
    print_cell(text);
    print_harmless(stdout, " | ");
    print_cell(field(param, "doc"));
    print_harmless(stdout, " |\n");
  }
  print_harmless(stdout, "\n");
}

/* --- one plugin, or all --- */

static enum tutti_status find_plugin(tutti_context *context, const char *name,
                                     const struct tutti_descriptor **descriptor) {
  char kind_name[32];
  enum tutti_kind kind;
  const char *slash = strchr(name, '/');
  if (!slash || (size_t)(slash - name) >= sizeof kind_name)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                      "expected KIND/NAME, as in backend/cpu, an op of layers, as in op/dense, or run, data, head or "
                      "evaluation, found "
                      "'%s'; tutti list shows plugins",
                      name);
  (void)snprintf(kind_name, sizeof kind_name, "%.*s", (int)(slash - name), name);
  TUTTI_TRY(context, tutti_kind_parse(context, kind_name, &kind));
  TUTTI_TRY(context, tutti_plugin_find(context, kind, slash + 1, descriptor));
  return TUTTI_OK;
}

/* "op/dense"; *op stays NULL for other names. */
static enum tutti_status find_op(tutti_context *context, const char *name, json_t **op) {
  static const char prefix[] = "op/";
  *op = NULL;
  if (strncmp(name, prefix, strlen(prefix)) != 0)
    return TUTTI_OK;
  name += strlen(prefix);
  *op = op_json(context, name);
  return *op ? TUTTI_OK : refuse_op(context, name);
}

static int inspect_one(tutti_context *context, const char *name, enum form form) {
  json_t *plugin = find_section(name);
  if (!plugin) {
    enum tutti_status status = find_op(context, name, &plugin);
    if (status != TUTTI_OK)
      return fail(context, status);
  }
  if (!plugin) {
    const struct tutti_descriptor *descriptor;
    enum tutti_status status = find_plugin(context, name, &descriptor);
    if (status != TUTTI_OK)
      return fail(context, status);
    plugin = descriptor_json(context, descriptor);
  }
  begin_output();
  if (form == FORM_JSON) {
    print_json(plugin);
  } else {
    (form == FORM_MARKDOWN ? print_markdown : print_plain)(plugin);
  }
  json_decref(plugin);
  return finish_output();
}

/* The plugins that a scan finds to work. */
struct collection {
  tutti_context *context;
  json_t *plugins;
  enum tutti_status status;
};

static void collect(void *argument, const struct tutti_plugin_entry *entry) {
  struct collection *collection = argument;
  const struct tutti_descriptor *descriptor;
  if (!entry->works || collection->status != TUTTI_OK)
    return;
  collection->status = tutti_plugin_find(collection->context, entry->kind, entry->name, &descriptor);
  if (collection->status == TUTTI_OK)
    json_array_append_new(collection->plugins, descriptor_json(collection->context, descriptor));
}

static void print_ops(tutti_context *context) {
  json_t *op;
  print_harmless(stdout, "## Ops of layers\n\nWhat networks are made of, with their attributes, as `network.json` "
                         "has them ([formats.md](formats.md)).\n\n");
  for (size_t i = 0; (op = built_in_op_json(context, i)); i++) {
    print_markdown(op);
    json_decref(op);
  }
}

static void print_reference(tutti_context *context, const json_t *plugins) {
  print_harmless(
      stdout,
      "# Plugins\n\nGenerated from the plugins' parameter tables by `make reference`. A recipe sets a parameter in "
      "the section that names\nthe plugin; those marked *searchable* may stand in `[hyperparameters]`, with a "
      "fixed value or a range. Sections that are no\nplugin's come first.\n\n## Sections of every recipe\n\n");
  for (size_t i = 0; i < CORE_SECTIONS; i++) {
    json_t *section = section_json(&core_sections[i]);
    print_markdown(section);
    json_decref(section);
  }
  for (int kind = 0; kind < TUTTI_KIND_COUNT; kind++) {
    size_t index, printed = 0;
    json_t *plugin;
    json_array_foreach(plugins, index, plugin) {
      if (strcmp(field(plugin, "kind"), tutti_kind_name((enum tutti_kind)kind)) != 0)
        continue;
      if (printed++ == 0)
        print_harmless(stdout, "## %s\n\n", tutti_kind_title((enum tutti_kind)kind));
      print_markdown(plugin);
    }
  }
  print_ops(context);
}

static void print_all(tutti_context *context, const json_t *plugins, enum form form) {
  size_t index;
  json_t *plugin;
  begin_output();
  if (form == FORM_JSON) {
    print_json(plugins);
  } else if (form == FORM_MARKDOWN) {
    print_reference(context, plugins);
  } else {
    json_array_foreach(plugins, index, plugin) {
      print_harmless(stdout, index ? "\n" : "");
      print_plain(plugin);
    }
  }
}

static int inspect_all(tutti_context *context, enum form form) {
  struct collection collection = {context, json_array(), TUTTI_OK};
  enum tutti_status status = tutti_plugin_scan(context, collect, &collection);
  if (status == TUTTI_OK)
    status = collection.status;
  if (status == TUTTI_OK)
    print_all(context, collection.plugins, form);
  json_decref(collection.plugins);
  return status == TUTTI_OK ? finish_output() : fail(context, status);
}

static int run_inspect(tutti_context *context, const struct texts *operands, const void *given) {
  const struct inspect_options *options = given;
  enum form form = options->markdown ? FORM_MARKDOWN : options->json ? FORM_JSON : FORM_PLAIN;
  return operands->count ? inspect_one(context, operands->items[0], form) : inspect_all(context, form);
}

static const struct command_option inspect_options[] = {
    {"json", 'j', OPTION_FLAG, NULL, "As JSON.", .offset = offsetof(struct inspect_options, json)},
    {"markdown", 'm', OPTION_FLAG, NULL, "As the plugin reference has it.",
     .offset = offsetof(struct inspect_options, markdown)},
    {0}};

const struct command command_inspect = {
    .name = "inspect",
    .summary = "a plugin and its parameters",
    .about =
        "Show a plugin, a section (run, data, head, evaluation), or an op of layers (op/dense), with its parameters; "
        "without a name, all plugins.",
    .operands = {.synopsis = "[KIND/NAME]", .wanted = "one KIND/NAME", .most = 1, .completes = {COMPLETE_PLUGIN}},
    .options = inspect_options,
    .size = sizeof(struct inspect_options),
    .run = run_inspect,
};
