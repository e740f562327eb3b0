/* recipe_parts.c - the parts of a recipe, as others use them, and where its keys stand. */
#include <string.h>
#include <tutti/recipe.h>

#include "recipe_impl.h"

const struct tutti_run_config *tutti_recipe_run(const tutti_recipe *recipe) { return tutti_config_values(recipe->run); }

const tutti_config *tutti_recipe_data(const tutti_recipe *recipe) { return recipe->data; }

const tutti_config *tutti_recipe_head(const tutti_recipe *recipe) { return recipe->head; }

const struct tutti_evaluation_options *tutti_recipe_evaluation(const tutti_recipe *recipe) {
  return recipe->evaluation ? tutti_config_values(recipe->evaluation) : NULL;
}

const char *tutti_recipe_path(const tutti_recipe *recipe) { return recipe->files[0]->path; }

/* What follows `start` in a text that begins with it, or NULL. */
static const char *behind_start(const char *text, const char *start) {
  size_t length = strlen(start);
  return strncmp(text, start, length) == 0 ? text + length : NULL;
}

/* The entry whose "section.key" a message begins with, or NULL. */
static const struct recipe_entry *entry_of(const tutti_recipe *recipe, const char *message) {
  for (size_t i = 0; i < recipe->count; i++) {
    const struct recipe_entry *entry = &recipe->entries[i];
    const char *rest = *entry->key ? behind_start(message, entry->section) : NULL;
    rest = rest && *rest == '.' ? behind_start(rest + 1, entry->key) : NULL;
    if (rest && strchr(": ", *rest))
      return entry;
  }
  return NULL;
}

/* The entry that names the file whose path a message begins with, or NULL. */
static const struct recipe_entry *entry_of_file(const tutti_recipe *recipe, const char *message) {
  for (size_t i = 0; i < recipe->count; i++) {
    const struct recipe_entry *entry = &recipe->entries[i];
    const char *rest = *entry->value == '/' ? message : behind_start(message, entry->file->folder);
    if (rest && *rest == '/' && *entry->value != '/')
      rest++;
    rest = rest && *entry->value ? behind_start(rest, entry->value) : NULL;
    if (rest && *rest == ':')
      return entry;
  }
  return NULL;
}

enum tutti_status tutti_recipe_place(tutti_context *context, const tutti_recipe *recipe, enum tutti_status status) {
  const char *message = tutti_error_message(context), *behind = strstr(message, ": ");
  const struct recipe_entry *entry = entry_of(recipe, message), *further = behind ? entry_of(recipe, behind + 2) : NULL;
  if (!entry && !further)
    further = entry_of_file(recipe, message);
  if (!entry && further)
    return tutti_recipe_blame_line(context, further, status);
  if (!entry)
    return tutti_error_prefix(context, status, "%s: ", tutti_recipe_path(recipe));
  return entry->file->command_line ? tutti_error_prefix(context, status, "--set ")
                                   : tutti_error_prefix(context, status, "%s:%d: ", entry->file->path, entry->line);
}

const char *tutti_recipe_folder(const tutti_recipe *recipe) { return recipe->folder; }

const tutti_domain *tutti_recipe_hyperparameters(const tutti_recipe *recipe) { return recipe->hyperparameters; }
