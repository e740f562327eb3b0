/* fit_splits.c - the published splits of a data set: a file of test rows for each repeat of a fit. */
#include <glob.h>
#include <inttypes.h>

#include "fit_impl.h"

/* The files, sorted by name, as many as there are. */
static enum tutti_status find(tutti_context *context, const char *folder, const char *pattern, glob_t *files) {
  bool relative = pattern[0] != '/' && folder && folder[0];
  char *whole;
  TUTTI_TRY(context, tutti_format(context, &whole, "%s%s%s", relative ? folder : "", relative ? "/" : "", pattern));
  int failed = glob(whole, 0, NULL, files);
  tutti_free(whole);
  if (failed == GLOB_NOMATCH)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                      "fit.test_rows: expected files of row numbers, and none is called %s; a pattern is such as "
                      "splits/test_*.txt",
                      pattern);
  return failed ? TUTTI_FAIL(context, TUTTI_ERROR_IO, "fit.test_rows: %s cannot be looked for", pattern) : TUTTI_OK;
}

enum tutti_status tutti_fit_test_rows(tutti_context *context, const struct tutti_fit_config *config, const char *folder,
                                      uint64_t repeat, char **path) {
  enum tutti_status status;
  glob_t files = {0};
  *path = NULL;
  TUTTI_TRY_OUT(context, find(context, folder, config->test_rows, &files));
  if (repeat >= files.gl_pathc) {
    status =
        TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                   "fit.test_rows: %" PRIu64 " repeats need as many files of test rows, and %zu are called %s; ask for "
                   "fewer repeats",
                   repeat + 1, files.gl_pathc, config->test_rows);
    goto out;
  }
  TUTTI_TRY_OUT(context, tutti_strdup(context, files.gl_pathv[repeat], path));
out:
  globfree(&files);
  return status;
}
