/* command_distance.c - tutti distance: how far apart genotypes are, as their space measures it. */
#include "program_impl.h"
#include "table.h"

#include "core/base/json_impl.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <tutti/hosting.h>
#include <unistd.h>

enum { GENOTYPES = MOST_TEXTS };

struct distance_options {
  const char *space, *recipe;
  struct texts set;
  bool json, trust;
};

/* What the command reads of a recipe. */
static const char *const reads[] = {"space", "run.plugin_path", NULL};

/* The request: options, and whose distances. */
struct question {
  const struct distance_options *options;
  const struct texts *genotypes;
};

/* --- the space --------------------------------------------------------------------------------------------------- */

/* Genotypes of one space, and the objects that they depend on. */
struct gathering {
  tutti_recipe *recipe;
  tutti_host *host;
  struct tutti_task task;
  tutti_space *space;
  size_t count;
  tutti_genotype *genotypes[GENOTYPES];
  double *distances; /* [count][count][measures] */
};

static void release_gathering(struct gathering *gathering) {
  for (size_t i = 0; i < gathering->count; i++)
    tutti_genotype_unref(gathering->genotypes[i]);
  tutti_free(gathering->distances);
  tutti_space_destroy(gathering->space);
  tutti_host_destroy(gathering->host);
  tutti_recipe_destroy(gathering->recipe);
}

/* "RUN:12", a trial of a run; the number, or -1. */
static long trial_of(const char *genotype, size_t *length) {
  const char *colon = strrchr(genotype, ':');
  char *end;
  if (!colon || colon[1] < '0' || colon[1] > '9')
    return -1;
  errno = 0;
  long trial = strtol(colon + 1, &end, 10);
  *length = (size_t)(colon - genotype);
  return *end || errno ? -1 : trial;
}

/* Does the run have this file? `genotype` begins with the run's directory. */
static enum tutti_status file_of_run(tutti_context *context, const char *genotype, size_t length,
                                     enum tutti_run_file file, char **path) {
  char *directory;
  TUTTI_TRY(context, tutti_format(context, &directory, "%.*s", (int)length, genotype));
  enum tutti_status status = tutti_run_file_path(context, directory, file, path);
  tutti_free(directory);
  return status;
}

/* The recipe that defines the space: the given one, or that of the first run among the genotypes; NULL if there is
   none. */
static enum tutti_status find_recipe(tutti_context *context, const struct question *question, char **path) {
  *path = NULL;
  if (question->options->recipe)
    return tutti_strdup(context, question->options->recipe, path);
  for (size_t i = 0; !question->options->space && i < question->genotypes->count; i++) {
    const char *genotype = question->genotypes->items[i];
    size_t length;
    if (trial_of(genotype, &length) >= 0)
      return file_of_run(context, genotype, length, TUTTI_RUN_FILE_RECIPE, path);
  }
  return TUTTI_OK;
}

/* One "space.key=value". */
static enum tutti_status set_parameter(tutti_context *context, tutti_host *host, const char *text) {
  char *key;
  const char *equals = strchr(text, '='), *prefix = "space.";
  if (!equals || strncmp(text, prefix, strlen(prefix)) != 0)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "--set: expected space.KEY=VALUE, found '%s'", text);
  const char *name = text + strlen(prefix);
  TUTTI_TRY(context, tutti_format(context, &key, "%.*s", (int)(equals - name), name));
  enum tutti_status status = tutti_host_set(context, host, "space", key, equals + 1);
  tutti_free(key);
  return status == TUTTI_OK ? status : tutti_error_prefix(context, status, "--set %s: ", text);
}

static enum tutti_status put_space(tutti_context *context, const struct question *question,
                                   const struct tutti_host_facts *facts, struct gathering *gathering) {
  if (!question->options->space)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                      "expected --space NAME, --recipe RECIPE, or a trial of a run (RUN:NUMBER), to know which "
                      "space the genotypes are of");
  TUTTI_TRY(context, tutti_host_create(context, facts, &gathering->host));
  TUTTI_TRY(context, tutti_host_put(context, gathering->host, "space", TUTTI_KIND_SPACE, question->options->space));
  for (size_t i = 0; i < question->options->set.count; i++)
    TUTTI_TRY(context, set_parameter(context, gathering->host, question->options->set.items[i]));
  return TUTTI_OK;
}

/* Nothing is trained, so there are no data: the task is only to give a value. */
static enum tutti_status open_space(tutti_context *context, const struct question *question,
                                    struct gathering *gathering) {
  enum tutti_status status = TUTTI_OK;
  char *recipe = NULL;
  gathering->task = (struct tutti_task){.size = sizeof gathering->task, .kind = TUTTI_TASK_VALUE, .input = {1, 1, 1}};
  struct tutti_host_facts facts = {.size = sizeof facts, .task = &gathering->task};
  struct tutti_space_setup setup = {.size = sizeof setup, .task = &gathering->task};
  TUTTI_TRY_OUT(context, find_recipe(context, question, &recipe));
  if (recipe) {
    enum tutti_status (*load)(tutti_context *, const char *, size_t, const char *const *, tutti_recipe **) =
        question->options->recipe ? tutti_recipe_load : tutti_recipe_load_recorded;
    TUTTI_TRY_OUT(
        context, load(context, recipe, question->options->set.count, question->options->set.items, &gathering->recipe));
    TUTTI_TRY_OUT(context, tutti_recipe_refuse_unread(context, gathering->recipe, reads));
    TUTTI_TRY_OUT(context, tutti_recipe_assemble(context, gathering->recipe, &gathering->host));
    tutti_host_set_facts(gathering->host, &facts);
  } else {
    TUTTI_TRY_OUT(context, put_space(context, question, &facts, gathering));
  }
  TUTTI_TRY_OUT(context, tutti_space_create(context, gathering->host, "space", &setup, &gathering->space));
  if (!(tutti_space_capabilities(gathering->space) & TUTTI_SPACE_DISTANCES))
    status = TUTTI_FAIL(context, TUTTI_ERROR_UNSUPPORTED,
                        "space %s does not measure how far apart genotypes are; tutti list space shows which there are",
                        tutti_space_descriptor(gathering->space)->name);
out:
  tutti_free(recipe);
  return status;
}

/* --- genotypes --------------------------------------------------------------------------------------------------- */

/* A genotype from JSON: the genotype itself, or a candidate with it as the architecture. */
static enum tutti_status take_json(tutti_context *context, struct gathering *gathering, json_t *root) {
  json_t *architecture = json_object_get(root, "architecture");
  char *text;
  TUTTI_TRY(context, tutti_json_line(context, json_incref(architecture ? architecture : root), &text));
  enum tutti_status status =
      tutti_space_parse(context, gathering->space, text, &gathering->genotypes[gathering->count]);
  gathering->count += status == TUTTI_OK;
  tutti_free(text);
  return status;
}

static enum tutti_status take_file(tutti_context *context, struct gathering *gathering, const char *path) {
  json_error_t error;
  json_t *root = json_load_file(path, JSON_DECODE_ANY | JSON_REJECT_DUPLICATES, &error);
  if (!root)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "%s: expected a genotype as JSON; line %d: %s", path, error.line,
                      error.text);
  enum tutti_status status = take_json(context, gathering, root);
  json_decref(root);
  return status == TUTTI_OK ? status : tutti_error_prefix(context, status, "%s: ", path);
}

static enum tutti_status take_name(tutti_context *context, struct gathering *gathering, const char *name) {
  json_t *root = json_string(name);
  enum tutti_status status = root ? take_json(context, gathering, root)
                                  : TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "'%s' is no UTF-8 text", name);
  json_decref(root);
  return status == TUTTI_OK ? status : tutti_error_prefix(context, status, "there is no file %s, and ", name);
}

/* The trial to find in a catalogue. */
struct wanted {
  uint64_t trial;
  json_t *candidate;
};

static enum tutti_status match_trial(void *argument, const struct tutti_trial *trial) {
  struct wanted *wanted = argument;
  if (trial->number == wanted->trial)
    wanted->candidate = json_loads(trial->candidate, 0, NULL);
  return TUTTI_OK;
}

static enum tutti_status take_trial(tutti_context *context, struct gathering *gathering, const char *genotype,
                                    size_t length, long trial) {
  enum tutti_status status = TUTTI_OK;
  struct wanted wanted = {(uint64_t)trial, NULL};
  tutti_catalogue *catalogue = NULL;
  char *path = NULL;
  TUTTI_TRY_OUT(context, file_of_run(context, genotype, length, TUTTI_RUN_FILE_CATALOGUE, &path));
  if (access(path, F_OK) != 0)
    status = TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "%s: there is no run %.*s", genotype, (int)length, genotype);
  if (status != TUTTI_OK)
    goto out;
  TUTTI_TRY_OUT(context, tutti_catalogue_open(context, path, false, &catalogue));
  TUTTI_TRY_OUT(context, tutti_catalogue_visit(context, catalogue, match_trial, &wanted));
  if (!wanted.candidate)
    status = TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "%s: the run has no trial %ld", genotype, trial);
  else
    status = take_json(context, gathering, wanted.candidate);
out:
  json_decref(wanted.candidate);
  tutti_catalogue_close(catalogue);
  tutti_free(path);
  return status;
}

static enum tutti_status take_genotype(tutti_context *context, struct gathering *gathering, const char *genotype) {
  size_t length = 0;
  long trial = trial_of(genotype, &length);
  if (access(genotype, F_OK) == 0)
    return take_file(context, gathering, genotype);
  return trial >= 0 ? take_trial(context, gathering, genotype, length, trial) : take_name(context, gathering, genotype);
}

static enum tutti_status gather(tutti_context *context, const struct question *question, struct gathering *gathering) {
  size_t count = question->genotypes->count;
  TUTTI_TRY(context, open_space(context, question, gathering));
  size_t measures = tutti_space_measures(gathering->space);
  for (size_t i = 0; i < count; i++)
    TUTTI_TRY(context, take_genotype(context, gathering, question->genotypes->items[i]));
  TUTTI_TRY(context, tutti_alloc(context, count * count, measures * sizeof(double), &gathering->distances));
  for (size_t i = 0; i < count; i++)
    TUTTI_TRY(context, tutti_space_distances(context, gathering->genotypes[i], count,
                                             (const tutti_genotype *const *)gathering->genotypes,
                                             gathering->distances + i * count * measures));
  return TUTTI_OK;
}

/* --- results ----------------------------------------------------------------------------------------------------- */

static const char *name_measure(const struct gathering *gathering, size_t measure, char buffer[32]) {
  const char *name = tutti_space_measure_name(gathering->space, measure);
  if (name)
    return name;
  (void)snprintf(buffer, 32, "distance %zu", measure + 1);
  return buffer;
}

static json_t *matrix_json(const struct gathering *gathering, size_t measure) {
  size_t count = gathering->count, measures = tutti_space_measures(gathering->space);
  json_t *matrix = json_array();
  for (size_t i = 0; i < count; i++) {
    json_t *row = json_array();
    for (size_t k = 0; k < count; k++)
      (void)json_array_append_new(row, json_real(gathering->distances[(i * count + k) * measures + measure]));
    (void)json_array_append_new(matrix, row);
  }
  return matrix;
}

/* The name of a file may be any bytes. */
static json_t *json_in_utf8(const char *name) {
  json_t *text = json_string(name);
  char *copy = text ? NULL : strdup(name);
  for (char *byte = copy; byte && *byte; byte++)
    *byte = *byte & 0x80 ? '?' : *byte;
  if (copy)
    text = json_string(copy);
  free(copy);
  return text;
}

/* {"space", "genotypes", "measures": [{"name", "distances": [[...]]}], "explanation"}. */
static json_t *result_json(const struct question *question, const struct gathering *gathering,
                           const char *explanation) {
  json_t *names = json_array(), *measures = json_array();
  for (size_t i = 0; i < gathering->count; i++)
    (void)json_array_append_new(names, json_in_utf8(question->genotypes->items[i]));
  for (size_t k = 0; k < tutti_space_measures(gathering->space); k++) {
    char buffer[32];
    (void)json_array_append_new(measures, json_pack("{s:s, s:o}", "name", name_measure(gathering, k, buffer),
                                                    "distances", matrix_json(gathering, k)));
  }
  json_t *root = json_pack("{s:s, s:o, s:o}", "space", tutti_space_descriptor(gathering->space)->name, "genotypes",
                           names, "measures", measures);
  if (explanation)
    (void)json_object_set_new(root, "explanation", json_loads(explanation, 0, NULL));
  return root;
}

static void show_explanation(const json_t *explanation) {
  const json_t *row, *cell;
  struct table table = table_begin(1);
  size_t index, i;
  print_harmless(stdout, "\n%s\n\n", text_of(explanation, "title"));
  json_array_foreach(json_object_get(explanation, "columns"), i, cell)
      table_column(&table, TABLE_TEXT, json_string_value(cell));
  json_array_foreach(json_object_get(explanation, "rows"), index, row) {
    json_array_foreach(row, i, cell) {
      char buffer[32];
      table_cell(&table, "%s",
                 json_is_number(cell)       ? show_number(json_number_value(cell), buffer)
                 : json_string_length(cell) ? json_string_value(cell)
                                            : "-");
    }
  }
  print_table(&table);
}

static void show_pair(const json_t *result) {
  const json_t *measure;
  struct table table = table_begin(1);
  size_t index;
  table_column(&table, TABLE_TEXT, "");
  table_column(&table, TABLE_TEXT, "");
  json_array_foreach(json_object_get(result, "measures"), index, measure) {
    const json_t *row = json_array_get(json_object_get(measure, "distances"), 0);
    char buffer[32];
    table_cell(&table, "%s", text_of(measure, "name"));
    table_cell(&table, "%s", show_number(json_number_value(json_array_get(row, 1)), buffer));
  }
  print_table(&table);
  if (json_object_get(result, "explanation"))
    show_explanation(json_object_get(result, "explanation"));
}

/* The distances of all genotypes by one measure; they are named by their numbers. */
static void show_matrix(const json_t *distances) {
  const json_t *row, *distance;
  struct table table = table_begin(1);
  size_t i, k;
  table_column(&table, TABLE_NUMBER, "");
  for (i = 0; i < json_array_size(distances); i++) {
    char number[32];
    (void)snprintf(number, sizeof number, "%zu", i + 1);
    table_column(&table, TABLE_NUMBER, number);
  }
  json_array_foreach(distances, i, row) {
    table_cell(&table, "%zu", i + 1);
    json_array_foreach(row, k, distance) {
      char buffer[32];
      table_cell(&table, "%s", show_number(json_number_value(distance), buffer));
    }
  }
  print_table(&table);
}

static void show_matrices(const json_t *result) {
  const json_t *names = json_object_get(result, "genotypes"), *measure;
  size_t i;
  for (i = 0; i < json_array_size(names); i++)
    print_harmless(stdout, "%4zu  %s\n", i + 1, json_string_value(json_array_get(names, i)));
  json_array_foreach(json_object_get(result, "measures"), i, measure) {
    print_harmless(stdout, "\n%s\n\n", text_of(measure, "name"));
    show_matrix(json_object_get(measure, "distances"));
  }
}

static enum tutti_status print_distances(tutti_context *context, const struct question *question,
                                         const struct gathering *gathering) {
  char *explanation = NULL;
  if (gathering->count == 2)
    TUTTI_TRY(context, tutti_space_explain(context, gathering->genotypes[0], gathering->genotypes[1], &explanation));
  json_t *result = result_json(question, gathering, explanation);
  tutti_free(explanation);
  begin_output();
  if (question->options->json) {
    print_json(result);
  } else if (gathering->count == 2) {
    show_pair(result);
  } else {
    show_matrices(result);
  }
  json_decref(result);
  return TUTTI_OK;
}

static const char *check_distance(const struct texts *operands, const void *given) {
  const struct distance_options *options = given;
  (void)operands;
  return options->space && options->recipe ? "expected --space or --recipe, found both" : NULL;
}

static int run_distance(tutti_context *context, const struct texts *operands, const void *given) {
  const struct question question = {given, operands};
  struct gathering gathering = {0};
  tutti_trust_runs(context, question.options->trust);
  enum tutti_status status = gather(context, &question, &gathering);
  if (status == TUTTI_OK)
    status = print_distances(context, &question, &gathering);
  release_gathering(&gathering);
  return status == TUTTI_OK ? finish_output() : fail(context, status);
}

static const struct command_option distance_options[] = {
    {"space", 'S', OPTION_TEXT, "NAME", "The space that the genotypes are of, with its defaults and --set.",
     .offset = offsetof(struct distance_options, space), .completes = COMPLETE_SPACE},
    {"recipe", 'r', OPTION_TEXT, "RECIPE", "The recipe whose space they are of (default: that of the first run named).",
     .offset = offsetof(struct distance_options, recipe), .completes = COMPLETE_RECIPE},
    {"set", 's', OPTION_TEXTS, "SECTION.KEY=VALUE",
     "Another value of a parameter, as in space.structure=0.5; may be repeated.",
     .offset = offsetof(struct distance_options, set), .completes = COMPLETE_SETTING},
    {"json", 'j', OPTION_FLAG, NULL, "As JSON, with all digits.", .offset = offsetof(struct distance_options, json)},
    TRUST_OPTION(struct distance_options),
    {0}};

const struct command command_distance = {
    .name = "distance",
    .summary = "how far apart genotypes are, as their space measures it",
    .about = "How far apart genotypes are, as their space measures it: a pair with what its distance is made of, or a "
             "matrix.",
    .notes =
        "A GENOTYPE is a file of JSON (a genotype, or a candidate with its \"architecture\"), the name of one that "
        "the space knows, or a trial of a run, as in runs/first:12.",
    .operands = {.synopsis = "GENOTYPE GENOTYPE...",
                 .wanted = "at least two genotypes",
                 .example = "--space NAME a.json b.json",
                 .hint = "compare fewer at a time",
                 .least = 2,
                 .most = GENOTYPES,
                 .completes = {COMPLETE_FILE, COMPLETE_FILE}},
    .options = distance_options,
    .size = sizeof(struct distance_options),
    .check = check_distance,
    .run = run_distance,
};
