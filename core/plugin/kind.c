/* kind.c - names of the kinds of plugin. */
#include "core/base/text_impl.h"

#include <string.h>
#include <tutti/kind.h>
#include <tutti/names.h>

#define NAME(constant, name, title) #name,
#define TITLE(constant, name, title) title,
static const char *const kind_names[] = {TUTTI_KINDS(NAME)};
static const char *const kind_titles[] = {TUTTI_KINDS(TITLE)};

const char *tutti_kind_name(enum tutti_kind kind) {
  return (unsigned)kind < TUTTI_KIND_COUNT ? kind_names[kind] : "unknown kind";
}

const char *tutti_kind_title(enum tutti_kind kind) {
  return (unsigned)kind < TUTTI_KIND_COUNT ? kind_titles[kind] : "Unknown kind";
}

enum tutti_status tutti_kind_parse(tutti_context *context, const char *name, enum tutti_kind *kind) {
  for (unsigned i = 0; i < TUTTI_KIND_COUNT; i++)
    if (strcmp(name, kind_names[i]) == 0) {
      *kind = (enum tutti_kind)i;
      return TUTTI_OK;
    }
  const char *closest = tutti_closest_name(name, TUTTI_KIND_COUNT, kind_names);
  if (closest)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "'%s' is no kind of plugin; did you mean '%s'?", name, closest);
  struct tutti_text all = tutti_text_begin(context);
  for (unsigned i = 0; i < TUTTI_KIND_COUNT; i++)
    tutti_text_add(&all, "%s%s", i == 0 ? "" : i + 1 == TUTTI_KIND_COUNT ? " and " : ", ", kind_names[i]);
  char *names;
  TUTTI_TRY(context, tutti_text_take(&all, &names));
  enum tutti_status status =
      TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "'%s' is no kind of plugin; kinds are %s", name, names);
  tutti_free(names);
  return status;
}
