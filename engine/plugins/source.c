/* source.c - kind source: checks around its ops. */
#include <tutti/sized.h>
#include "core/plugin/instance_impl.h"
#include "core/plugin/rows_impl.h"
#include "source_impl.h"

#include <math.h>
#include <string.h>
#include <tutti/hosting.h>
#include <tutti/names.h>

struct tutti_source {
  struct tutti_instance instance;
  struct tutti_source_ops ops;
};

TUTTI_DEFINE_KIND(SOURCE, source, .required = {TUTTI_REQUIRED_OP(source, read)})

unsigned tutti_source_reads(const tutti_source *source) { return source->ops.reads; }

const tutti_config *tutti_source_config(const tutti_source *source) { return source->instance.config; }

/* --- what is asked --- */

enum tutti_status tutti_source_check(tutti_context *context, const tutti_source *source,
                                     const struct tutti_source_request *theirs) {
  struct tutti_source_request whole, *request = &whole;
  const char *name = source->instance.descriptor->name;
  unsigned reads = source->ops.reads;
  TUTTI_TAKE(&whole, theirs);
  if (request->path && !(reads & TUTTI_SOURCE_PATH))
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "data.path: source %s reads no file; leave it out", name);
  if (!request->path && (reads & TUTTI_SOURCE_PATH))
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                      "data.path: expected the file that source %s shall read, found nothing", name);
  if (request->target_path && !(reads & TUTTI_SOURCE_TARGET_PATH))
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                      "data.target_path: source %s has no second file; name the target columns in data.target", name);
  if (request->test_target_path && !(reads & TUTTI_SOURCE_TARGET_PATH && reads & TUTTI_SOURCE_TEST_PATH))
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                      "data.test_target_path: source %s has no file with the targets of test rows; leave it out", name);
  if (request->test_path && !(reads & TUTTI_SOURCE_TEST_PATH))
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                      "data.test_path: source %s has no second file; name the test rows in data.test_rows", name);
  return TUTTI_OK;
}

/* --- what is answered --- */

static enum tutti_status check_table(tutti_context *context, const tutti_source *source, const tutti_rows *rows) {
  size_t count = tutti_rows_count(rows);
  for (size_t c = 1; c < rows->columns; c++)
    if (rows->cells[c].count != count)
      return TUTTI_BREACH(context, &source->instance, "column '%s' has %zu cells, and column '%s' has %zu",
                          rows->names[0], count, rows->names[c], rows->cells[c].count);
  if (rows->line_count && rows->line_count != count)
    return TUTTI_BREACH(context, &source->instance, "it gave the lines of %zu rows, and %zu rows", rows->line_count,
                        count);
  if (rows->targets >= rows->columns)
    return TUTTI_BREACH(context, &source->instance, "%zu of its %zu columns are targets, which leaves no input",
                        rows->targets, rows->columns);
  if (rows->label_count)
    return TUTTI_BREACH(context, &source->instance, "it gave labels of images, and a table");
  if (rows->has_task && rows->task != TUTTI_TASK_REGRESSION && rows->task != TUTTI_TASK_CLASSIFICATION)
    return TUTTI_BREACH(context, &source->instance, "it gave its rows a task of kind %d", (int)rows->task);
  return TUTTI_OK;
}

static enum tutti_status check_images(tutti_context *context, const tutti_source *source, const tutti_rows *rows,
                                      bool labels) {
  if (rows->label_count != rows->images && (rows->label_count || labels))
    return TUTTI_BREACH(context, &source->instance, "it gave %zu labels for %zu images", rows->label_count,
                        rows->images);
  if (rows->line_count || rows->targets)
    return TUTTI_BREACH(context, &source->instance, "it gave lines or targets of a table, and images");
  return TUTTI_OK;
}

static enum tutti_status check_rows(tutti_context *context, const tutti_source *source,
                                    const struct tutti_source_request *request, const tutti_rows *rows) {
  size_t count = tutti_rows_count(rows);
  bool images = tutti_rows_are_images(rows);
  if (!images && rows->columns == 0)
    return TUTTI_BREACH(context, &source->instance, "it gave neither columns nor images");
  TUTTI_TRY(context,
            images ? check_images(context, source, rows, !request->new_rows) : check_table(context, source, rows));
  if (count == 0)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "%s: expected rows, found none", rows->origin);
  if (rows->test_rows > count)
    return TUTTI_BREACH(context, &source->instance, "%zu of its %zu rows are test rows", rows->test_rows, count);
  return TUTTI_OK;
}

/* An error of the data speaks for itself: it says where the mistake is, in the file or in the recipe. */
static enum tutti_status blame(tutti_context *context, const tutti_source *source, enum tutti_status status) {
  if (status == TUTTI_ERROR_USAGE && tutti_error_status(context) == status)
    return status;
  return tutti_instance_blame(context, &source->instance, status);
}

enum tutti_status tutti_source_read(tutti_context *context, tutti_source *source,
                                    const struct tutti_source_request *theirs, tutti_rows **out) {
  enum tutti_status status = TUTTI_OK;
  struct tutti_source_request whole, *request = &whole;
  tutti_rows *rows = NULL;
  *out = NULL;
  TUTTI_TAKE(&whole, theirs);
  TUTTI_TRY_OUT(context, tutti_source_check(context, source, request));
  TUTTI_TRY_OUT(
      context, tutti_rows_create(
                   context, request->path ? tutti_path_name(request->path) : source->instance.descriptor->name, &rows));
  tutti_error_clear(context);
  TUTTI_ASK(context, source, status = source->ops.read(source->instance.self, context, request, rows));
  if (status != TUTTI_OK) {
    status = blame(context, source, status);
    goto out;
  }
  TUTTI_TRY_OUT(context, check_rows(context, source, request, rows));
  *out = rows;
  rows = NULL;
out:
  tutti_rows_destroy(rows);
  return status;
}

enum tutti_status tutti_source_reword(tutti_context *context, const tutti_source *source, const char *word,
                                      char *meaning, bool *other) {
  double number;
  *other = false;
  if (!source->ops.reword)
    return TUTTI_OK;
  TUTTI_ASK(context, source, *other = source->ops.reword(source->instance.self, word, meaning));
  if (*other &&
      (!memchr(meaning, '\0', TUTTI_SOURCE_WORD_ROOM) || tutti_cell_read(meaning, &number) == TUTTI_CELL_TEXT))
    return TUTTI_BREACH(context, &source->instance, "it says that '%.40s' is a number or missing, and not which", word);
  return TUTTI_OK;
}

enum tutti_status tutti_source_mark(tutti_context *context, const tutti_source *source, size_t index, double *number,
                                    bool *any) {
  enum { MOST = 10000 };
  *any = false;
  if (!source->ops.mark)
    return TUTTI_OK;
  TUTTI_ASK(context, source, *any = source->ops.mark(source->instance.self, index, number));
  if (*any && (isnan(*number) || index > MOST))
    return TUTTI_BREACH(context, &source->instance, "it says that %g, mark %zu of missing cells, is a number", *number,
                        index);
  return TUTTI_OK;
}

/* --- which files are its own --- */

static bool ends_in(const char *path, const char *ending) {
  size_t length = strlen(path), end = strlen(ending);
  return length >= end && strcmp(path + length - end, ending) == 0;
}

const char *tutti_source_ending(const char *path, const char *ending, const char *before) {
  if (!ends_in(path, ending) || (before && strlen(before) >= strlen(ending)))
    return before;
  return path + strlen(path) - strlen(ending);
}

bool tutti_source_fits(const tutti_source *source, const char *path) {
  const char *ending = NULL;
  for (const char *const *one = source->ops.endings; one && *one; one++)
    ending = tutti_source_ending(path, *one, ending);
  return ending && *ending;
}
