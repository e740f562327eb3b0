/* source_find.c - which source reads a file, by the file's ending. Only the one that is found is loaded into this
   process: the others are asked in a child, where they may crash. */
#include <tutti/sized.h>
#include "scan_impl.h"
#include "source_impl.h"

#include <string.h>

/* The best of the sources that were asked so far. */
struct search {
  const char *path, *own;    /* own: NULL unless it was met, and reads files */
  const char *name, *ending; /* NULL: none fits yet */
  const char *rival;         /* another source whose ending is as long, or NULL */
};

/* `ending` is the longest of the source's that fits; NULL: none does. */
static void consider(struct search *search, const char *name, const char *ending) {
  if (!ending || (search->ending && strlen(ending) < strlen(search->ending)))
    return;
  search->rival = search->ending && strlen(ending) == strlen(search->ending) ? search->name : NULL;
  /* Of two that fit equally well, `own` stays. */
  if (!search->rival || search->rival != search->own)
    search->name = name;
  if (search->name == search->own)
    search->rival = NULL;
  search->ending = ending;
}

/* Ask a source in this process. */
static void consider_loaded(struct search *search, const char *name, bool own,
                            const struct tutti_descriptor *descriptor) {
  struct tutti_source_ops ops;
  const char *ending = NULL;
  TUTTI_TAKE(&ops, (const struct tutti_source_ops *)descriptor->ops);
  for (const char *const *one = ops.endings; one && *one; one++)
    ending = tutti_source_ending(search->path, *one, ending);
  if (own && (ops.reads & TUTTI_SOURCE_PATH))
    search->own = name;
  consider(search, name, ending);
}

/* What a child said of a source. */
static void consider_answer(struct search *search, const char *name, bool own, const json_t *answer) {
  const json_t *endings = json_object_get(answer, "reads"), *one;
  const char *ending = NULL;
  size_t index;
  json_array_foreach(endings, index, one) ending = tutti_source_ending(search->path, json_string_value(one), ending);
  if (own && endings)
    search->own = name;
  consider(search, name, ending);
}

static void pass_over(tutti_context *context, const char *name, const char *why) {
  tutti_log(context, TUTTI_LOG_WARNING, "source %s is passed over: %s", name, why ? why : "out of memory");
  tutti_error_clear(context);
}

static enum tutti_status ask_child(tutti_context *context, const char *scanner, const char *name, bool own,
                                   struct search *search) {
  char *file;
  enum tutti_status status = TUTTI_OK;
  TUTTI_TRY(context, tutti_plugin_locate(context, TUTTI_KIND_SOURCE, name, &file));
  json_t *answer = tutti_plugin_ask(context, scanner, file);
  if (tutti_cancelled(context))
    status = TUTTI_FAIL(context, TUTTI_ERROR_CANCELLED, "interrupted while sources were looked at");
  else if (json_is_true(json_object_get(answer, "works")))
    consider_answer(search, name, own, answer);
  else
    pass_over(context, name, json_string_value(json_object_get(answer, "reason")));
  json_decref(answer);
  tutti_free(file);
  return status;
}

static enum tutti_status ask(tutti_context *context, const char *name, bool own, struct search *search) {
  const char *scanner = tutti_plugin_scanner(context);
  const struct tutti_descriptor *descriptor = tutti_plugin_loaded(context, TUTTI_KIND_SOURCE, name);
  if (!descriptor && scanner)
    return ask_child(context, scanner, name, own, search);
  if (tutti_plugin_find(context, TUTTI_KIND_SOURCE, name, &descriptor) == TUTTI_OK)
    consider_loaded(search, name, own, descriptor);
  else
    pass_over(context, name, tutti_error_message(context));
  return TUTTI_OK;
}

/* The name of the source that the search found, or an error. */
static enum tutti_status answer_of(tutti_context *context, const struct search *search, const char **name) {
  bool fits = search->ending && *search->ending;
  *name = search->own && !fits ? search->own : search->name;
  if (!*name)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                      "%s: no source reads files with this ending; name one in data.plugin ('tutti list source' shows "
                      "those that there are)",
                      search->path);
  if (search->rival && *name == search->name)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                      "%s: sources %s and %s both read files that end in '%s'; name one in data.plugin", search->path,
                      search->rival, search->name, search->ending);
  return TUTTI_OK;
}

enum tutti_status tutti_source_find(tutti_context *context, const char *path, const char *own, const char **name) {
  enum tutti_status status = TUTTI_OK;
  struct search search = {.path = path};
  const struct tutti_descriptor *descriptor;
  const char *found;
  char **names = NULL;
  size_t count = 0;
  *name = NULL;
  TUTTI_TRY_OUT(context, tutti_plugin_names(context, TUTTI_KIND_SOURCE, &count, &names));
  for (size_t i = 0; i < count; i++)
    TUTTI_TRY_OUT(context, ask(context, names[i], own && strcmp(names[i], own) == 0, &search));
  TUTTI_TRY_OUT(context, answer_of(context, &search, &found));
  TUTTI_TRY_OUT(context, tutti_plugin_find(context, TUTTI_KIND_SOURCE, found, &descriptor));
  *name = descriptor->name;
out:
  tutti_plugin_names_free(count, names);
  return status;
}
