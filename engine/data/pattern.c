/* pattern.c - see pattern_impl.h. */
#include <dirent.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "cells_impl.h"
#include "pattern_impl.h"

static enum tutti_status add(tutti_context *context, struct tutti_matches *matches, const char *folder,
                             const char *name) {
  if (matches->count == matches->room) {
    size_t room = 2 * matches->room + 16;
    TUTTI_TRY(context, tutti_realloc(context, matches->count, room, sizeof *matches->paths, &matches->paths));
    matches->room = room;
  }
  TUTTI_TRY(context, tutti_format(context, &matches->paths[matches->count], "%s/%s", folder, name));
  matches->count++;
  return TUTTI_OK;
}

static enum tutti_status look_in(tutti_context *context, const char *folder, const char *pattern,
                                 struct tutti_matches *matches) {
  enum tutti_status status = TUTTI_OK;
  DIR *entries = opendir(folder);
  if (!entries)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "cannot look into %s: %s", folder, strerror(errno));
  for (struct dirent *entry; (entry = readdir(entries));)
    if (fnmatch(pattern, entry->d_name, FNM_PERIOD) == 0)
      TUTTI_TRY_OUT(context, add(context, matches, folder, entry->d_name));
out:
  (void)closedir(entries);
  return status;
}

enum tutti_status tutti_matches_find(tutti_context *context, const char *path, struct tutti_matches *matches) {
  const char *slash = strrchr(path, '/');
  char *folder;
  *matches = (struct tutti_matches){0};
  TUTTI_TRY(context, tutti_format(context, &folder, "%.*s", slash ? (int)(slash - path) : 1, slash ? path : "."));
  enum tutti_status status = look_in(context, *folder ? folder : "/", slash ? slash + 1 : path, matches);
  tutti_free(folder);
  if (status == TUTTI_OK && matches->count > 1)
    qsort(matches->paths, matches->count, sizeof *matches->paths, tutti_compare_texts);
  return status;
}

void tutti_matches_release(struct tutti_matches *matches) {
  for (size_t i = 0; i < matches->count; i++)
    tutti_free(matches->paths[i]);
  tutti_free(matches->paths);
  *matches = (struct tutti_matches){0};
}
