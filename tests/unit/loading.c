/* loading.c - data sets from a few lines, for tests. */
#include "loading.h"

#include <ftw.h>
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

enum tutti_status load(const char *parameters) {
  tutti_config *data, *head;
  char *lines = strdup(parameters), *rest = NULL;
  tutti_dataset_destroy(dataset);
  dataset = NULL;
  assert_int_equal(tutti_config_create(context, tutti_data_params(), &data), TUTTI_OK);
  assert_int_equal(tutti_config_create(context, tutti_head_params(), &head), TUTTI_OK);
  for (char *key = strtok_r(lines, "\n", &rest); key; key = strtok_r(NULL, "\n", &rest)) {
    char *value = strchr(key, '=');
    assert_non_null(value);
    *value++ = '\0';
    bool of_head = strncmp(key, "head.", 5) == 0;
    if (tutti_config_set(context, of_head ? head : data, of_head ? key + 5 : key, value) != TUTTI_OK)
      fail_msg("%s = %s: %s", key, value, tutti_error_message(context));
  }
  enum tutti_status status = tutti_dataset_load(context, data, head, folder, 1, &dataset);
  tutti_config_destroy(data);
  tutti_config_destroy(head);
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
