/* loading.c - data sets from a few lines, for tests. */
#include "loading.h"

#include <ftw.h>
#include <tutti/hosting.h>
#include <tutti/scan.h>
#include <unistd.h>

tutti_context *context;
tutti_dataset *dataset;
char folder[64];

int loading_begin(void **state) {
  (void)state;
  (void)snprintf(folder, sizeof folder, "/tmp/tutti-data-XXXXXX");
  return mkdtemp(folder) && tutti_context_create(&context) == TUTTI_OK ? 0 : -1;
}

static int remove_one(const char *path, const struct stat *facts, int type, struct FTW *walk) {
  (void)facts, (void)type, (void)walk;
  return remove(path);
}

int loading_end(void **state) {
  (void)state;
  tutti_dataset_destroy(dataset);
  dataset = NULL;
  tutti_context_destroy(context);
  return nftw(folder, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

void put_bytes(const char *name, const void *bytes, size_t count) {
  char path[256];
  (void)snprintf(path, sizeof path, "%s/%s", folder, name);
  FILE *file = fopen(path, "wb");
  assert_non_null(file);
  assert_int_equal(fwrite(bytes, 1, count, file), count);
  assert_int_equal(fclose(file), 0);
}

void put(const char *name, const char *text) { put_bytes(name, text, strlen(text)); }

/* [data] as a recipe has it: keys of the data set, and those of its source. */
struct sections {
  tutti_config *data, *head;
  tutti_host *host;
};

/* The value of a parameter among these, as long as the line; NULL where it is not there. */
static char *value_of(char *lines, const char *key) {
  static char value[256];
  size_t length = strlen(key);
  for (char *line = lines; line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL)
    if (strncmp(line, key, length) == 0 && line[length] == '=') {
      (void)snprintf(value, sizeof value, "%.*s", (int)strcspn(line + length + 1, "\n"), line + length + 1);
      return value;
    }
  return NULL;
}

/* The source that is named, or that the ending of the path says. */
static enum tutti_status put_source(char *lines, tutti_host *host) {
  const char *name = value_of(lines, "plugin");
  if (!name)
    TUTTI_TRY(context, tutti_source_find(context, value_of(lines, "path"), NULL, &name));
  return tutti_host_put(context, host, "data", TUTTI_KIND_SOURCE, name);
}

static enum tutti_status set_value(struct sections *sections, const char *key, const char *value) {
  if (strcmp(key, "plugin") == 0)
    return TUTTI_OK;
  if (strncmp(key, "head.", 5) == 0)
    return tutti_config_set(context, sections->head, key + 5, value);
  return tutti_params_find(tutti_data_params(), key) ? tutti_config_set(context, sections->data, key, value)
                                                     : tutti_host_set(context, sections->host, "data", key, value);
}

static enum tutti_status load_sections(const struct sections *sections) {
  struct tutti_source_setup setup = {.size = sizeof setup, .host = sections->host};
  tutti_source *source;
  TUTTI_TRY(context, tutti_source_create(context, sections->host, "data", &setup, &source));
  enum tutti_status status = tutti_dataset_load(context, sections->data, sections->head, source, folder, 1, &dataset);
  tutti_source_destroy(source);
  return status;
}

enum tutti_status load(const char *parameters) {
  struct tutti_host_facts facts = {.size = sizeof facts};
  struct sections sections;
  char *lines = strdup(parameters), *rest = NULL;
  tutti_dataset_destroy(dataset);
  dataset = NULL;
  assert_int_equal(tutti_config_create(context, tutti_data_params(), &sections.data), TUTTI_OK);
  assert_int_equal(tutti_config_create(context, tutti_head_params(), &sections.head), TUTTI_OK);
  assert_int_equal(tutti_host_create(context, &facts, &sections.host), TUTTI_OK);
  if (put_source(lines, sections.host) != TUTTI_OK)
    fail_msg("%s: %s", parameters, tutti_error_message(context));
  for (char *key = strtok_r(lines, "\n", &rest); key; key = strtok_r(NULL, "\n", &rest)) {
    char *value = strchr(key, '=');
    assert_non_null(value);
    *value++ = '\0';
    if (set_value(&sections, key, value) != TUTTI_OK)
      fail_msg("%s = %s: %s", key, value, tutti_error_message(context));
  }
  enum tutti_status status = load_sections(&sections);
  tutti_config_destroy(sections.data);
  tutti_config_destroy(sections.head);
  tutti_host_destroy(sections.host);
  free(lines);
  assert_int_equal(status == TUTTI_OK, dataset != NULL);
  return status;
}

void loads(const char *parameters) {
  if (load(parameters) != TUTTI_OK)
    fail_msg("%s: %s", parameters, tutti_error_message(context));
}

static void check_message(const char *part) {
  assert_int_equal(tutti_error_status(context), TUTTI_ERROR_USAGE);
  if (!strstr(tutti_error_message(context), part))
    fail_msg("expected '%s' in '%s'", part, tutti_error_message(context));
}

void refuses(const char *part, const char *parameters) {
  if (load(parameters) == TUTTI_OK)
    fail_msg("%s: expected an error with '%s'", parameters, part);
  check_message(part);
}

const tutti_split *split_of(const char *name) {
  const tutti_split *split = tutti_dataset_find(dataset, name);
  assert_non_null(split);
  return split;
}

size_t total_rows(void) {
  size_t rows = 0;
  for (size_t s = 0; s < tutti_dataset_splits(dataset); s++)
    rows += tutti_split_rows(tutti_dataset_split(dataset, s));
  return rows;
}

enum tutti_status apply(const char *file, tutti_split **split) {
  char *json, path[256];
  (void)snprintf(path, sizeof path, "%s/%s", folder, file);
  assert_int_equal(tutti_dataset_describe(context, dataset, &json), TUTTI_OK);
  enum tutti_status status = tutti_dataset_apply(context, json, path, split);
  tutti_free(json);
  return status;
}

void apply_refuses(const char *part, const char *file) {
  tutti_split *split;
  assert_int_equal(apply(file, &split), TUTTI_ERROR_USAGE);
  assert_null(split);
  check_message(part);
}
