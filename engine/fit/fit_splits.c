/* fit_splits.c - the published splits of a data set: a file of test rows for each repeat of a fit. */
#include "core/base/file_impl.h"
#include "core/plugin/split_impl.h"
#include "fit_impl.h"

static enum tutti_status hash_contents(tutti_context *context, struct tutti_fit_splits *splits) {
  for (size_t i = 0; i < splits->files.count; i++) {
    const char *path = splits->files.paths[i];
    char *text;
    size_t bytes;
    if (tutti_file_read(context, path, &text, &bytes) != TUTTI_OK)
      return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "fit.test_rows: cannot read %s: expected a file of row numbers",
                        path);
    splits->contents = tutti_hash(splits->contents, text, bytes);
    tutti_free(text);
  }
  return TUTTI_OK;
}

enum tutti_status tutti_fit_splits_find(tutti_context *context, const struct tutti_fit_config *config,
                                        const char *folder, struct tutti_fit_splits *splits) {
  const char *pattern = config->test_rows;
  bool relative = pattern[0] != '/' && folder && folder[0];
  char *whole;
  *splits = (struct tutti_fit_splits){0};
  TUTTI_TRY(context, tutti_format(context, &whole, "%s%s%s", relative ? folder : "", relative ? "/" : "", pattern));
  enum tutti_status status = tutti_matches_find(context, whole, &splits->files);
  tutti_free(whole);
  if (status != TUTTI_OK)
    return tutti_error_prefix(context, status, "fit.test_rows: ");
  if (splits->files.count == 0)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                      "fit.test_rows: expected files of row numbers, and none is called %s; a pattern is such as "
                      "splits/test_*.txt",
                      pattern);
  return hash_contents(context, splits);
}

void tutti_fit_splits_release(struct tutti_fit_splits *splits) { tutti_matches_release(&splits->files); }
