/* command_settings.c - tutti settings TYPED COMMAND WORD...: what TYPED, the begun value of a --set, completes to;
   COMMAND and the words are those that stand before it on the line, as they were typed. The completions of shells ask
   it. */
#include "program_impl.h"

#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <tutti/scan.h>
#include <unistd.h>
#include <wordexp.h>

/* What stands for the names of files, which the shell knows. */
#define ANY_FILE "<file>"

/* --- the line ---------------------------------------------------------------------------------------------------- */

/* What the words before are: where a recipe may be named, and the settings. The texts are freed by end_line. */
struct line {
  struct texts places, set;
  bool of_run; /* of a finished one: only what is made of its pool can be set */
};

/* A word without its quotes, and with what ~ and variables stand for; as it is, if that is not one word, or may be
   many. No command in it is run. */
static enum tutti_status add_word(tutti_context *context, const char *word, struct texts *texts) {
  wordexp_t expanded;
  char *text;
  if (texts->count == MOST_TEXTS)
    return TUTTI_OK;
  const bool known = !strpbrk(word, "*?[") && wordexp(word, &expanded, WRDE_NOCMD) == 0;
  enum tutti_status status =
      tutti_strdup(context, known && expanded.we_wordc == 1 ? expanded.we_wordv[0] : word, &text);
  if (status == TUTTI_OK)
    texts->items[texts->count++] = text;
  if (known)
    wordfree(&expanded);
  return status;
}

static const struct command_option *find_option(const struct command_option *options, const char *name, size_t length) {
  for (; options && options->name; options++)
    if ((length == 1 && options->letter == *name) ||
        (strlen(options->name) == length && strncmp(options->name, name, length) == 0))
      return options;
  return NULL;
}

/* The option that a word names, and where its argument begins in it; NULL, if that is the next word. */
static const struct command_option *option_of(const struct command *command, const char *word, const char **argument) {
  const bool brief = word[1] != '-';
  const char *name = word + (brief ? 1 : 2), *end = strchr(name, '=');
  size_t length = brief ? 1 : end ? (size_t)(end - name) : strlen(name);
  *argument = brief ? (word[1] && word[2] ? word + 2 : NULL) : end ? end + 1 : NULL;
  return length ? find_option(command->options, name, length) : NULL;
}

static enum tutti_status add_argument(tutti_context *context, const struct command_option *option, const char *argument,
                                      struct line *line) {
  if (strcmp(option->name, "set") == 0)
    return add_word(context, argument, &line->set);
  return option->completes == COMPLETE_RECIPE ? add_word(context, argument, &line->places) : TUTTI_OK;
}

static enum tutti_status read_line(tutti_context *context, const struct texts *words, struct line *line) {
  const struct command *command = words->count > 1 ? find_command(words->items[1]) : NULL;
  if (!command)
    return TUTTI_OK;
  line->of_run = command->operands.completes[0] == COMPLETE_FOLDER;
  for (size_t i = 2; i < words->count; i++) {
    const char *word = words->items[i], *argument;
    if (*word != '-') {
      TUTTI_TRY(context, add_word(context, word, &line->places));
      continue;
    }
    const struct command_option *option = option_of(command, word, &argument);
    if (!option || !option->argument)
      continue;
    if (!argument && i + 1 < words->count)
      argument = words->items[++i];
    if (argument)
      TUTTI_TRY(context, add_argument(context, option, argument, line));
  }
  return TUTTI_OK;
}

static void end_texts(struct texts *texts) {
  for (size_t i = 0; i < texts->count; i++)
    tutti_free((void *)texts->items[i]);
}

static void end_line(struct line *line) {
  end_texts(&line->places);
  end_texts(&line->set);
}

/* --- the recipe that the line is about --------------------------------------------------------------------------- */

/* Completing a line runs no code that a recipe or a setting names, so no plugin_path counts: the last setting wins. */
static enum tutti_status load_place(tutti_context *context, const char *place, const struct texts *set,
                                    tutti_recipe **recipe) {
  struct texts overrides = *set;
  struct stat facts;
  char *path;
  const bool there = stat(place, &facts) == 0;
  overrides.count -= overrides.count == MOST_TEXTS;
  overrides.items[overrides.count++] = "run.plugin_path=";
  if (there && !S_ISDIR(facts.st_mode) && !S_ISREG(facts.st_mode)) /* reading a pipe would wait */
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "%s: expected a file", place);
  if (!there || !S_ISDIR(facts.st_mode))
    return tutti_recipe_load(context, place, overrides.count, overrides.items, recipe);
  TUTTI_TRY(context, tutti_run_file_path(context, place, TUTTI_RUN_FILE_RECIPE, &path));
  enum tutti_status status = tutti_recipe_load_recorded(context, path, overrides.count, overrides.items, recipe);
  tutti_free(path);
  return status;
}

/* The first place that has a recipe, as the settings before have it, or as it is where they do not fit; NULL: none. */
static tutti_recipe *find_recipe(tutti_context *context, const struct line *line) {
  const struct texts none = {0};
  for (size_t i = 0; i < line->places.count; i++) {
    const char *place = line->places.items[i];
    tutti_recipe *recipe;
    const bool found = load_place(context, place, &line->set, &recipe) == TUTTI_OK ||
                       load_place(context, place, &none, &recipe) == TUTTI_OK;
    tutti_error_clear(context);
    if (found)
      return recipe;
  }
  return NULL;
}

/* --- what there is to choose ------------------------------------------------------------------------------------- */

struct typed {
  const char *text;
  size_t key; /* length of SECTION.KEY, before "="; 0: it is not ended */
  bool of_run;
};

static struct typed typed_of(const char *word, bool of_run) {
  const char *end;
  if (*word == '-' && (end = strchr(word, '=')) != NULL)
    word = end + 1;
  end = strchr(word, '=');
  return (struct typed){word, end ? (size_t)(end - word) : 0, of_run};
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
  if (!*item->key || (typed->of_run && item->part != TUTTI_RECIPE_SELECTION))
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

/* --- the command ------------------------------------------------------------------------------------------------- */

static void give_up(int signal) {
  (void)signal;
  _exit(EXIT_FAILED);
}

/* A shell waits for it: a pipe that a recipe extends, say, ends it without a word. */
static void be_quick(void) {
  enum { SECONDS = 5 };
  (void)signal(SIGALRM, give_up);
  (void)alarm(SECONDS);
}

static int run_settings(tutti_context *context, const struct texts *words, const void *options) {
  (void)options;
  struct line line = {0};
  be_quick();
  enum tutti_status status = read_line(context, words, &line);
  tutti_recipe *recipe = status == TUTTI_OK ? find_recipe(context, &line) : NULL;
  begin_output();
  if (recipe) {
    struct typed typed = typed_of(words->items[0], line.of_run);
    status = tutti_recipe_visit(context, recipe, show_item, &typed);
  }
  tutti_recipe_destroy(recipe);
  end_line(&line);
  return status == TUTTI_OK ? finish_output() : fail(context, status);
}

const struct command command_settings = {
    .name = "settings",
    .summary = "what a setting completes to",
    .about = "Print what a begun setting completes to, for the completions of shells.",
    .operands = {.synopsis = "TYPED COMMAND WORD...", .wanted = "a begun setting", .least = 1, .most = MOST_TEXTS},
    .run = run_settings,
    .internal = true,
};
