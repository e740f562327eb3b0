/* folder.c - files of a published data set, in a folder. */
#include "folder.h"

#include <sys/stat.h>
#include <unistd.h>

bool reading_is_folder(const char *path) {
  struct stat facts;
  return stat(path, &facts) == 0 && S_ISDIR(facts.st_mode);
}

enum tutti_status reading_find(tutti_context *context, const char *path, const char *name, char **found) {
  static const char *const endings[] = {".gz", ""};
  *found = NULL;
  if (!reading_is_folder(path))
    return tutti_strdup(context, path, found);
  for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++) {
    TUTTI_TRY(context, tutti_format(context, found, "%s/%s%s", path, name, endings[i]));
    if (access(*found, R_OK) == 0)
      return TUTTI_OK;
    tutti_free(*found);
    *found = NULL;
  }
  return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "%s: expected a file, or a folder with %s or %s.gz in it", path, name,
                    name);
}
