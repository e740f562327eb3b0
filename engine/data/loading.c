/* loading.c - the rows of a data set, read by its source. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "loading_impl.h"

enum tutti_status tutti_loading_file(const struct tutti_loading *loading, const char *name, const char *path,
                                     char **found) {
  bool relative = path[0] != '/' && loading->folder && loading->folder[0];
  *found = NULL;
  if (path[0] == '\0')
    return TUTTI_OK;
  TUTTI_TRY(loading->context, tutti_format(loading->context, found, "%s%s%s", relative ? loading->folder : "",
                                           relative ? "/" : "", path));
  if (access(*found, R_OK) == 0)
    return TUTTI_OK;
  enum tutti_status status = TUTTI_FAIL(loading->context, TUTTI_ERROR_USAGE, "data.%s: expected a file; %s: %s", name,
                                        *found, strerror(errno));
  tutti_free(*found);
  *found = NULL;
  return status;
}

/* The files named in the recipe. */
struct files {
  char *path, *target_path, *test_path, *test_target_path;
};

static enum tutti_status find_files(const struct tutti_loading *loading, struct files *files) {
  const struct tutti_data_config *config = loading->config;
  tutti_context *context = loading->context;
  TUTTI_TRY(context, tutti_loading_file(loading, "path", config->path, &files->path));
  TUTTI_TRY(context, tutti_loading_file(loading, "target_path", config->target_path, &files->target_path));
  TUTTI_TRY(context, tutti_loading_file(loading, "test_path", config->test_path, &files->test_path));
  return tutti_loading_file(loading, "test_target_path", config->test_target_path, &files->test_target_path);
}

static const char *given(const char *path) { return *path ? path : NULL; }

/* Does the source read such files at all? This is asked before they are looked for. */
static enum tutti_status check_paths(const struct tutti_loading *loading) {
  const struct tutti_data_config *config = loading->config;
  struct tutti_source_request request = {.size = sizeof request,
                                         .path = given(config->path),
                                         .target_path = given(config->target_path),
                                         .test_path = given(config->test_path),
                                         .test_target_path = given(config->test_target_path)};
  return tutti_source_check(loading->context, loading->source, &request);
}

static void release_files(struct files *files) {
  tutti_free(files->path);
  tutti_free(files->target_path);
  tutti_free(files->test_path);
  tutti_free(files->test_target_path);
}

enum tutti_status tutti_loading_read(struct tutti_loading *loading, tutti_dataset *dataset) {
  enum tutti_status status = TUTTI_OK;
  tutti_context *context = loading->context;
  struct files files = {0};
  TUTTI_TRY_OUT(context, check_paths(loading));
  TUTTI_TRY_OUT(context, find_files(loading, &files));
  struct tutti_source_request request = {.size = sizeof request,
                                         .path = files.path,
                                         .target_path = files.target_path,
                                         .test_path = files.test_path,
                                         .test_target_path = files.test_target_path,
                                         .seed = loading->seed};
  TUTTI_TRY_OUT(context, tutti_source_read(context, loading->source, &request, &loading->rows));
  loading->images = tutti_rows_are_images(loading->rows);
  dataset->source_rows = tutti_rows_count(loading->rows) - tutti_rows_test_rows(loading->rows);
  if (loading->images)
    dataset->images = loading->rows;
out:
  release_files(&files);
  return status;
}
