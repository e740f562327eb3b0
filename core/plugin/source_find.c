/* source_find.c - which source reads a file, by the file's ending. */
#include <tutti/sized.h>
#include "registry_impl.h"
#include "source_impl.h"

#include <string.h>

/* The best of the sources that were asked so far. */
struct search {
  const char *path, *own;    /* own: NULL unless it was met, and reads files */
  const char *name, *ending; /* NULL: none fits yet */
  const char *rival;         /* another source whose ending is as long, or NULL */
};

static void consider(struct search *search, const struct tutti_descriptor *descriptor, bool own) {
  struct tutti_source_ops ops;
  TUTTI_TAKE(&ops, (const struct tutti_source_ops *)descriptor->ops);
  const char *ending = tutti_source_ending(&ops, search->path);
  if (own && (ops.reads & TUTTI_SOURCE_PATH))
    search->own = descriptor->name;
  if (!ending || (search->ending && strlen(ending) < strlen(search->ending)))
    return;
  search->rival = search->ending && strlen(ending) == strlen(search->ending) ? search->name : NULL;
  /* Of two that fit equally well, `own` stays. */
  if (!search->rival || search->rival != search->own)
    search->name = descriptor->name;
  if (search->name == search->own)
    search->rival = NULL;
  search->ending = ending;
}

static enum tutti_status ask_all(tutti_context *context, const char *own, struct search *search) {
  char **names;
  size_t count;
  TUTTI_TRY(context, tutti_plugin_names(context, TUTTI_KIND_SOURCE, &count, &names));
  for (size_t i = 0; i < count; i++) {
    const struct tutti_descriptor *descriptor;
    if (tutti_plugin_find(context, TUTTI_KIND_SOURCE, names[i], &descriptor) == TUTTI_OK) {
      consider(search, descriptor, own && strcmp(names[i], own) == 0);
      continue;
    }
    tutti_log(context, TUTTI_LOG_WARNING, "source %s is passed over: %s", names[i], tutti_error_message(context));
    tutti_error_clear(context);
  }
  tutti_plugin_names_free(count, names);
  return TUTTI_OK;
}

enum tutti_status tutti_source_find(tutti_context *context, const char *path, const char *own, const char **name) {
  struct search search = {.path = path};
  *name = NULL;
  TUTTI_TRY(context, ask_all(context, own, &search));
  bool fits = search.ending && *search.ending;
  const char *found = search.own && !fits ? search.own : search.name;
  if (!found)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                      "%s: no source reads files with this ending; name one in data.plugin ('tutti list source' shows "
                      "those that there are)",
                      path);
  if (search.rival && found == search.name)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                      "%s: sources %s and %s both read files that end in '%s'; name one in data.plugin", path,
                      search.rival, search.name, search.ending);
  *name = found;
  return TUTTI_OK;
}
