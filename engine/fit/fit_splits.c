/* fit_splits.c - the published splits of a data set: a file of test rows for each repeat of a fit. */
#include <dirent.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/file_impl.h"
#include "core/plugin/split_impl.h"
#include "engine/data/cells_impl.h"
#include "fit_impl.h"

static enum tutti_status add(tutti_context *context, struct tutti_fit_splits *splits, const char *folder,
                             const char *name) {
  if (splits->count == splits->room) {
    size_t room = 2 * splits->room + 16;
    TUTTI_TRY(context, tutti_realloc(context, splits->count, room, sizeof *splits->paths, &splits->paths));
    splits->room = room;
  }
  TUTTI_TRY(context, tutti_format(context, &splits->paths[splits->count], "%s/%s", folder, name));
  splits->count++;
  return TUTTI_OK;
}

static enum tutti_status look_in(tutti_context *context, const char *folder, const char *pattern,
                                 struct tutti_fit_splits *splits) {
  enum tutti_status status = TUTTI_OK;
  DIR *entries = opendir(folder);
  if (!entries)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "fit.test_rows: cannot look into %s: %s", folder, strerror(errno));
  for (struct dirent *entry; (entry = readdir(entries));)
    if (fnmatch(pattern, entry->d_name, FNM_PERIOD) == 0)
      TUTTI_TRY_OUT(context, add(context, splits, folder, entry->d_name));
out:
  (void)closedir(entries);
  return status;
}

/* The folder is taken as it is called; the name behind it is the pattern. */
static enum tutti_status look_for(tutti_context *context, const char *whole, struct tutti_fit_splits *splits) {
  const char *slash = strrchr(whole, '/');
  char *folder;
  TUTTI_TRY(context, tutti_format(context, &folder, "%.*s", slash ? (int)(slash - whole) : 1, slash ? whole : "."));
  enum tutti_status status = look_in(context, *folder ? folder : "/", slash ? slash + 1 : whole, splits);
  tutti_free(folder);
  return status;
}

static enum tutti_status hash_contents(tutti_context *context, struct tutti_fit_splits *splits) {
  for (size_t i = 0; i < splits->count; i++) {
    char *text;
    size_t bytes;
    if (tutti_file_read(context, splits->paths[i], &text, &bytes) != TUTTI_OK)
      return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "fit.test_rows: cannot read %s: expected a file of row numbers",
                        splits->paths[i]);
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
  enum tutti_status status = look_for(context, whole, splits);
  tutti_free(whole);
  TUTTI_TRY(context, status);
  if (splits->count == 0)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                      "fit.test_rows: expected files of row numbers, and none is called %s; a pattern is such as "
                      "splits/test_*.txt",
                      pattern);
  qsort(splits->paths, splits->count, sizeof *splits->paths, tutti_compare_texts);
  return hash_contents(context, splits);
}

void tutti_fit_splits_release(struct tutti_fit_splits *splits) {
  for (size_t i = 0; i < splits->count; i++)
    tutti_free(splits->paths[i]);
  tutti_free(splits->paths);
  *splits = (struct tutti_fit_splits){0};
}
