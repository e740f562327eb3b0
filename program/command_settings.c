/* command_settings.c - tutti settings TYPED WORD...: what TYPED, the begun value of a --set, completes to; the other
   words are those that stand on the line behind the command. The completions of shells ask it. */
#include "program_impl.h"

#include <string.h>
#include <sys/stat.h>
#include <tutti/scan.h>

/* What stands for the names of files, which the shell knows. */
#define ANY_FILE "<file>"

/* --- the recipe that the line is about --- */

/* SECTION.KEY=VALUE, where a shell may have made three words of it. Borrowed overrides; texts that were put together
   are in `made`. */
struct overrides {
  struct texts texts;
  char *made[MOST_TEXTS];
  size_t count;
};

static enum tutti_status collect_overrides(tutti_context *context, const struct texts *words,
                                           struct overrides *overrides) {
  for (size_t i = 1; i < words->count; i++) {
    const char *word = words->items[i], *value = strchr(word, '='), *dot = strchr(word, '.');
    if (strncmp(word, "--set=", strlen("--set=")) == 0)
      overrides->texts.items[overrides->texts.count++] = word + strlen("--set=");
    else if (*word != '-' && dot && value && dot < value)
      overrides->texts.items[overrides->texts.count++] = word;
    else if (strcmp(word, "=") == 0 && i > 1 && i + 1 < words->count && strchr(words->items[i - 1], '.')) {
      char **text = &overrides->made[overrides->count];
      TUTTI_TRY(context, tutti_format(context, text, "%s=%s", words->items[i - 1], words->items[i + 1]));
      overrides->texts.items[overrides->texts.count++] = overrides->made[overrides->count++];
    }
  }
  return TUTTI_OK;
}

/* Completing a line runs no code that a recipe names, so its plugin_path does not count. */
static enum tutti_status load_word(tutti_context *context, const char *word, const struct texts *set,
                                   tutti_recipe **recipe) {
  struct texts overrides = {.count = 1, .items = {"run.plugin_path="}};
  struct stat facts;
  char *path;
  for (size_t i = 0; i < set->count && overrides.count < MOST_TEXTS; i++)
    if (strncmp(set->items[i], "run.plugin_path=", strlen("run.plugin_path=")) != 0)
      overrides.items[overrides.count++] = set->items[i];
  if (stat(word, &facts) != 0 || !S_ISDIR(facts.st_mode))
    return tutti_recipe_load(context, word, overrides.count, overrides.items, recipe);
  TUTTI_TRY(context, tutti_run_file_path(context, word, TUTTI_RUN_FILE_RECIPE, &path));
  enum tutti_status status = tutti_recipe_load_recorded(context, path, overrides.count, overrides.items, recipe);
  tutti_free(path);
  return status;
}

/* The first of the words that is a recipe or a run, as the overrides have it, or as it is where they do not fit; NULL:
   there is none. */
static tutti_recipe *find_recipe(tutti_context *context, const struct texts *words, const struct texts *set) {
  const struct texts none = {0};
  for (size_t i = 1; i < words->count; i++) {
    const char *word = words->items[i];
    tutti_recipe *recipe;
    if (*word == '-' || strchr(word, '='))
      continue;
    if (load_word(context, word, set, &recipe) == TUTTI_OK || load_word(context, word, &none, &recipe) == TUTTI_OK) {
      tutti_error_clear(context);
      return recipe;
    }
    tutti_error_clear(context);
  }
  return NULL;
}

/* --- what there is to choose --- */

struct typed {
  const char *text;
  size_t key; /* length of SECTION.KEY, before "="; 0: it is not ended */
};

static struct typed typed_of(const char *word) {
  const char *end;
  if (*word == '-' && (end = strchr(word, '=')) != NULL)
    word = end + 1;
  end = strchr(word, '=');
  return (struct typed){word, end ? (size_t)(end - word) : 0};
}

static void put_value(const struct typed *typed, const char *value) {
  print_harmless(stdout, "%.*s=%s\n", (int)typed->key, typed->text, value);
}

struct names {
  const struct typed *typed;
  enum tutti_kind kind;
};

static void put_plugin(void *argument, const struct tutti_plugin_entry *entry) {
  const struct names *names = argument;
  if (entry->kind == names->kind && entry->works)
    put_value(names->typed, entry->name);
}

static enum tutti_status put_plugins(tutti_context *context, const struct typed *typed, enum tutti_kind kind) {
  struct names names = {typed, kind};
  return tutti_plugin_scan(context, put_plugin, &names);
}

static enum tutti_status put_values(tutti_context *context, const struct typed *typed,
                                    const struct tutti_recipe_item *item) {
  if (item->plugin)
    return put_plugins(context, typed, item->plugin->kind);
  if (!item->param)
    return TUTTI_OK;
  if (item->param->type == TUTTI_PARAM_PLUGIN)
    return put_plugins(context, typed, item->param->kind);
  if (item->param->type == TUTTI_PARAM_BOOL) {
    put_value(typed, "yes");
    put_value(typed, "no");
  }
  if (item->param->type == TUTTI_PARAM_PATH)
    put_value(typed, ANY_FILE);
  for (const char *const *choice = item->param->choices; choice && *choice; choice++)
    put_value(typed, *choice);
  return TUTTI_OK;
}

/* A key, and of what it is the value: the first sentence. */
static void put_key(const struct typed *typed, const char *prefix, const char *section, const char *key,
                    const char *doc) {
  char name[256];
  const char *end = doc;
  while (*end && !(*end == '.' && (end[1] == ' ' || end[1] == '\0')))
    end++;
  (void)snprintf(name, sizeof name, "%s%s%s%s", prefix, section, *section ? "." : "", key);
  if (strncmp(name, typed->text, strlen(typed->text)) == 0)
    print_harmless(stdout, "%s=\t%.*s\n", name, (int)(end - doc), doc);
}

static enum tutti_status show_item(void *argument, tutti_context *context, const struct tutti_recipe_item *item) {
  const struct typed *typed = argument;
  const size_t section = strlen(item->section);
  if (!*item->key)
    return TUTTI_OK;
  if (!typed->key) {
    put_key(typed, "", item->section, item->key, item->doc);
    if (item->param && (item->param->flags & TUTTI_PARAM_SEARCHABLE))
      put_key(typed, "hyperparameters.", strcmp(item->section, "backend") == 0 ? "" : item->section, item->key,
              item->doc);
    return TUTTI_OK;
  }
  if (strncmp(typed->text, item->section, section) != 0 || typed->text[section] != '.' ||
      strlen(item->key) != typed->key - section - 1 ||
      strncmp(typed->text + section + 1, item->key, strlen(item->key)) != 0)
    return TUTTI_OK;
  return put_values(context, typed, item);
}

static int run_settings(tutti_context *context, const struct texts *words, const void *options) {
  (void)options;
  struct overrides overrides = {0};
  enum tutti_status status = collect_overrides(context, words, &overrides);
  tutti_recipe *recipe = status == TUTTI_OK ? find_recipe(context, words, &overrides.texts) : NULL;
  begin_output();
  if (recipe) {
    struct typed typed = typed_of(words->items[0]);
    status = tutti_recipe_visit(context, recipe, show_item, &typed);
  }
  tutti_recipe_destroy(recipe);
  for (size_t i = 0; i < overrides.count; i++)
    tutti_free(overrides.made[i]);
  return status == TUTTI_OK ? finish_output() : fail(context, status);
}

const struct command command_settings = {
    .name = "settings",
    .summary = "what a setting completes to",
    .about = "Print what a begun setting completes to, for the completions of shells.",
    .operands = {.synopsis = "TYPED WORD...", .wanted = "a begun setting", .least = 1, .most = MOST_TEXTS},
    .run = run_settings,
    .internal = true,
};
