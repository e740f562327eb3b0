/* path_labels.c - short names for files that are told apart. */
#include "path_labels.h"

#include <string.h>

/* What a label is made of, from short to long. */
enum level { LEVEL_NAME, LEVEL_FOLDER, LEVEL_FOLDER_AND_NAME, LEVEL_PATH };

/* "concrete" for data/concrete.csv.gz; "concrete" for concrete/data.csv, "concrete-data", or the path. A folder without
   a name of its own is none. */
static enum tutti_status label_of(tutti_context *context, const char *path, enum level level, char **label) {
  const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path, *folder = slash ? slash : name;
  while (folder > path && folder[-1] != '/')
    folder--;
  const char *dot = *name ? strchr(name + 1, '.') : NULL;
  int name_length = (int)(dot ? (size_t)(dot - name) : strlen(name)), folder_length = slash ? (int)(slash - folder) : 0;
  if (strspn(folder, ".") >= (size_t)folder_length)
    folder_length = 0;
  switch (level) {
  case LEVEL_NAME:
    return tutti_format(context, label, "%.*s", name_length, name);
  case LEVEL_FOLDER:
    return tutti_format(context, label, "%.*s", folder_length, folder);
  case LEVEL_FOLDER_AND_NAME:
    return tutti_format(context, label, "%.*s%s%.*s", folder_length, folder, folder_length ? "-" : "", name_length,
                        name);
  case LEVEL_PATH:
    break;
  }
  return tutti_strdup(context, path, label);
}

static void clear(size_t count, char **labels) {
  for (size_t i = 0; i < count; i++) {
    tutti_free(labels[i]);
    labels[i] = NULL;
  }
}

/* Different paths have different labels, and none is empty. */
static bool tell_apart(size_t count, const char *const *paths, char **labels) {
  for (size_t i = 0; i < count; i++) {
    if (!*labels[i])
      return false;
    for (size_t j = 0; j < i; j++)
      if (strcmp(labels[i], labels[j]) == 0 && strcmp(paths[i], paths[j]) != 0)
        return false;
  }
  return true;
}

enum tutti_status tutti_path_labels(tutti_context *context, size_t count, const char *const *paths, char **labels) {
  for (enum level level = LEVEL_NAME; level <= LEVEL_PATH; level++) {
    clear(count, labels);
    for (size_t i = 0; i < count; i++)
      TUTTI_TRY(context, label_of(context, paths[i], level, &labels[i]));
    if (tell_apart(count, paths, labels))
      break;
  }
  return TUTTI_OK;
}
