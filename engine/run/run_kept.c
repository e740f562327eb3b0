/* run_kept.c - an ensemble that `tutti select --keep` has put in place of the one that the recipe chooses. */
#include "run_kept.h"

#include "core/base/json_impl.h"
#include "core/base/text_impl.h"

#include <jansson.h>

static const char kept_key[] = "kept", split_key[] = "split", set_key[] = "set";

enum tutti_status tutti_kept_mark(tutti_context *context, const char *split, size_t count, const char *const *overrides,
                                  char **chosen) {
  json_t *root, *kept, *set;
  if (!split && count == 0)
    return TUTTI_OK;
  root = json_loads(*chosen, 0, NULL);
  kept = json_object();
  set = json_array();
  for (size_t i = 0; i < count; i++)
    (void)json_array_append_new(set, json_string(overrides[i]));
  if (split)
    (void)json_object_set_new(kept, split_key, json_string(split));
  (void)json_object_set_new(kept, set_key, set);
  (void)json_object_set_new(root, kept_key, kept);
  tutti_free(*chosen);
  *chosen = NULL;
  return tutti_json_document(context, root, chosen);
}

/* A word of a command, in quotes where a shell would read it otherwise. */
static void add_word(struct tutti_text *out, const char *word) {
  static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./=:,+@%";
  if (*word && word[strspn(word, plain)] == '\0') {
    tutti_text_add(out, " %s", word);
    return;
  }
  tutti_text_add(out, " '");
  for (; *word; word++)
    tutti_text_add(out, *word == '\'' ? "'\\''" : "%c", *word);
  tutti_text_add(out, "'");
}

/* The command that chooses by what it was chosen by. */
static enum tutti_status print_command(tutti_context *context, const char *directory, const json_t *kept, char **text) {
  struct tutti_text out = tutti_text_begin(context);
  const char *split = json_string_value(json_object_get(kept, split_key));
  const json_t *set;
  size_t index;
  tutti_text_add(&out, "tutti select");
  add_word(&out, directory);
  tutti_text_add(&out, " --keep");
  if (split) {
    tutti_text_add(&out, " --split");
    add_word(&out, split);
  }
  json_array_foreach(json_object_get(kept, set_key), index, set) {
    tutti_text_add(&out, " --set");
    add_word(&out, json_string_value(set) ? json_string_value(set) : "");
  }
  return tutti_text_take(&out, text);
}

enum tutti_status tutti_kept_warn(tutti_context *context, const char *directory, const char *chosen, bool removes) {
  enum tutti_status status = TUTTI_OK;
  char *text = NULL, *command = NULL;
  json_t *before = NULL, *now = NULL, *kept = NULL;
  TUTTI_TRY_OUT(context, tutti_run_file_read(context, directory, TUTTI_RUN_FILE_ENSEMBLE, &text));
  before = text ? json_loads(text, 0, NULL) : NULL; /* a torn one is none */
  now = chosen ? json_loads(chosen, 0, NULL) : NULL;
  kept = json_incref(json_object_get(before, kept_key));
  (void)json_object_del(before, kept_key);
  if (!kept || json_equal(before, now))
    goto out;
  TUTTI_TRY_OUT(context, print_command(context, directory, kept, &command));
  tutti_log(context, TUTTI_LOG_WARNING,
            "%s: its ensemble was kept by tutti select, and is chosen by the recipe again; to choose as it was chosen, "
            "from the trials that there are now: %s%s",
            directory, command,
            removes ? " (where weights of its members are removed, run.weights_of = members, put the settings into the "
                      "recipe instead)"
                    : "");
out:
  json_decref(before);
  json_decref(now);
  json_decref(kept);
  tutti_free(command);
  tutti_free(text);
  return status;
}
