/* recipe_installed.c - finds recipes by name: as a file, or among those that are installed. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "recipe_impl.h"
#include "core/base/text_impl.h"

static const char ending[] = ".ini";

static const char *installed_folder(void) {
  const char *folder = getenv("TUTTI_RECIPE_FOLDER");
  return folder ? folder : TUTTI_RECIPE_FOLDER;
}

static bool is_file(const char *path) {
  struct stat facts;
  return stat(path, &facts) == 0 && !S_ISDIR(facts.st_mode);
}

/* --- one by its name --------------------------------------------------------------------------------------------- */

/* FOLDER/NAME or, if that is no file, FOLDER/NAME.ini; NULL if neither is. Without a folder, the name alone. */
static enum tutti_status look_in(tutti_context *context, const char *folder, const char *name, char **path) {
  static const char *const endings[] = {"", ending};
  *path = NULL;
  for (size_t i = 0; i < 2; i++) {
    TUTTI_TRY(context, tutti_format(context, path, "%s%s%s%s", folder, *folder ? "/" : "", name, endings[i]));
    if (is_file(*path))
      return TUTTI_OK;
    tutti_free(*path);
    *path = NULL;
  }
  return TUTTI_OK;
}

enum tutti_status tutti_recipe_locate(tutti_context *context, const char *folder, const char *name, char **path) {
  bool absolute = *name == '/', dotted = *name == '.';
  *path = NULL;
  if (!*name)
    return TUTTI_OK;
  TUTTI_TRY(context, look_in(context, absolute ? "" : folder, name, path));
  if (!*path && !absolute && !dotted && *installed_folder())
    TUTTI_TRY(context, look_in(context, installed_folder(), name, path));
  return TUTTI_OK;
}

/* --- all of them ------------------------------------------------------------------------------------------------- */

/* The first sentence of the comment that a file begins with, at most `size` - 1 bytes of it; empty if there is none. */
static void summarise(const char *path, char *summary, size_t size) {
  char line[512];
  size_t length = 0;
  FILE *file = fopen(path, "re");
  *summary = '\0';
  while (file && fgets(line, sizeof line, file) && strchr(";#", *line)) {
    const char *text = line + strspn(line, ";# ");
    int written =
        snprintf(summary + length, size - length, "%s%.*s", length ? " " : "", (int)strcspn(text, "\n"), text);
    length += (size_t)written < size - length ? (size_t)written : size - length - 1;
    char *end = strstr(summary, ". ");
    if (end) {
      *end = '\0';
      break;
    }
  }
  if (length && summary[strlen(summary) - 1] == '.')
    summary[strlen(summary) - 1] = '\0';
  if (file)
    (void)fclose(file);
}

static int by_name(const struct dirent **a, const struct dirent **b) { return strcmp((*a)->d_name, (*b)->d_name); }

static int is_shown(const struct dirent *entry) { return entry->d_name[0] != '.'; }

/* Who asks for recipes. */
struct asking {
  enum tutti_status (*visit)(void *argument, tutti_context *context, const struct tutti_installed_recipe *recipe);
  void *argument;
};

static enum tutti_status visit_folder(tutti_context *context, const struct asking *asking, const char *folder,
                                      const char *prefix);

/* A recipe, or a folder with more of them; anything else is passed over. `prefix` is "autodeuq/" or "". */
static enum tutti_status visit_entry(tutti_context *context, const struct asking *asking, const char *folder,
                                     const char *prefix, const char *entry) {
  enum tutti_status status = TUTTI_OK;
  char *path = NULL, *name = NULL, summary[400];
  size_t length = strlen(entry), tail = strlen(ending);
  bool recipe = length > tail && strcmp(entry + length - tail, ending) == 0;
  TUTTI_TRY_OUT(context, tutti_format(context, &path, "%s/%s", folder, entry));
  TUTTI_TRY_OUT(context, tutti_format(context, &name, "%s%.*s%s", prefix, (int)(recipe ? length - tail : length), entry,
                                      recipe ? "" : "/"));
  if (!is_file(path)) {
    status = visit_folder(context, asking, path, name);
  } else if (recipe) {
    summarise(path, summary, sizeof summary);
    const struct tutti_installed_recipe found = {.size = sizeof found, .name = name, .path = path, .summary = summary};
    status = asking->visit(asking->argument, context, &found);
  }
out:
  tutti_free(name);
  tutti_free(path);
  return status;
}

static enum tutti_status visit_folder(tutti_context *context, const struct asking *asking, const char *folder,
                                      const char *prefix) {
  enum tutti_status status = TUTTI_OK;
  struct dirent **entries;
  int count = scandir(folder, &entries, is_shown, by_name);
  if (count < 0)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "%s: the recipes here cannot be listed: %s", folder, strerror(errno));
  for (int i = 0; i < count; i++) {
    if (status == TUTTI_OK)
      status = visit_entry(context, asking, folder, prefix, entries[i]->d_name);
    free(entries[i]);
  }
  free(entries);
  return status;
}

enum tutti_status tutti_recipe_visit_installed(tutti_context *context,
                                               enum tutti_status (*visit)(void *argument, tutti_context *context,
                                                                          const struct tutti_installed_recipe *recipe),
                                               void *argument) {
  const struct asking asking = {visit, argument};
  return *installed_folder() ? visit_folder(context, &asking, installed_folder(), "") : TUTTI_OK;
}
