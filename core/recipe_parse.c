/* recipe_parse.c - INI files (read by inih), their `extends` chain and --set overrides, as a list of entries. */
#include "file_impl.h"
#include "recipe_impl.h"

#include <ctype.h>
#include <ini.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST_LINE = 1 << 16, LONGEST_CHAIN = 16 };

void tutti_entries_release(struct tutti_entries *entries) {
  for (size_t i = 0; i < entries->count; i++) {
    tutti_free(entries->items[i].section);
    tutti_free(entries->items[i].key);
    tutti_free(entries->items[i].value);
    tutti_free(entries->items[i].file);
  }
  tutti_free(entries->items);
  memset(entries, 0, sizeof *entries);
}

struct tutti_entry *tutti_entries_find(const struct tutti_entries *entries, const char *section, const char *key) {
  for (size_t i = 0; i < entries->count; i++)
    if (strcmp(entries->items[i].section, section) == 0 && strcmp(entries->items[i].key, key) == 0)
      return &entries->items[i];
  return NULL;
}

bool tutti_entries_has_section(const struct tutti_entries *entries, const char *section) {
  for (size_t i = 0; i < entries->count; i++)
    if (strcmp(entries->items[i].section, section) == 0)
      return true;
  return false;
}

enum tutti_status tutti_entry_blame(tutti_context *context, const struct tutti_entry *entry, enum tutti_status status) {
  if (entry->line == 0)
    return tutti_error_prefix(context, status, "%s %s.%s: ", entry->file, entry->section, entry->key);
  return tutti_error_prefix(context, status, "%s:%d: [%s] %s: ", entry->file, entry->line, entry->section, entry->key);
}

/* Add an entry, or replace the one of a lower level; the same key twice in one file is an error. */
static enum tutti_status put(tutti_context *context, struct tutti_entries *entries, const char *section, const char *key,
                             const char *value, const char *file, int line, int level) {
  struct tutti_entry *entry = tutti_entries_find(entries, section, key);
  if (entry && entry->level == level && line > 0)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "%s:%d: [%s] %s stands here for the second time; the first is in line %d",
                      file, line, section, key, entry->line);
  if (entry) {
    tutti_free(entry->value);
    tutti_free(entry->file);
    entry->value = entry->file = NULL;
  } else {
    if (entries->count == entries->room) {
      size_t room = entries->room * 2 + 64;
      TUTTI_TRY(context, tutti_realloc(context, entries->count, room, sizeof *entries->items, &entries->items));
      entries->room = room;
    }
    entry = &entries->items[entries->count++];
    memset(entry, 0, sizeof *entry);
    TUTTI_TRY(context, tutti_strdup(context, section, &entry->section));
    TUTTI_TRY(context, tutti_strdup(context, key, &entry->key));
  }
  entry->line = line;
  entry->level = level;
  TUTTI_TRY(context, tutti_strdup(context, file, &entry->file));
  return tutti_strdup(context, value, &entry->value);
}

/* --- one file --- */

struct parsing {
  tutti_context *context;
  struct tutti_entries *entries;
  const char *file;
  const char *cursor; /* the rest of the text */
  int line, level;
  enum tutti_status status;
};

/* Gives inih line after line; white space in front is dropped, which inih would take for a value that goes on. */
static char *next_line(char *out, int size, void *stream) {
  struct parsing *parsing = stream;
  if (!*parsing->cursor || parsing->status != TUTTI_OK)
    return NULL;
  size_t length = strcspn(parsing->cursor, "\n");
  const char *start = parsing->cursor, *end = start + length;
  parsing->cursor = *end ? end + 1 : end;
  parsing->line++;
  while (start < end && isspace((unsigned char)*start))
    start++;
  if (end - start > size - 2) {
    parsing->status = TUTTI_FAIL(parsing->context, TUTTI_ERROR_USAGE, "%s:%d: a line of %zu bytes is too long (limit %d)",
                                 parsing->file, parsing->line, (size_t)(end - start), size - 2);
    return NULL;
  }
  (void)snprintf(out, (size_t)size, "%.*s\n", (int)(end - start), start);
  return out;
}

static int on_entry(void *user, const char *section, const char *key, const char *value) {
  struct parsing *parsing = user;
  if (parsing->status == TUTTI_OK)
    parsing->status = put(parsing->context, parsing->entries, section, key, value, parsing->file, parsing->line,
                          parsing->level);
  return 1;
}

static enum tutti_status parse_text(tutti_context *context, const char *file, const char *text, int level,
                                    struct tutti_entries *entries) {
  struct parsing parsing = {
      .context = context, .entries = entries, .file = file, .cursor = text, .level = level, .status = TUTTI_OK};
  /* inih's limits are variables of the library; these values are constant, whoever sets them. */
  ini_use_stack = false;
  ini_max_line = LONGEST_LINE;
  ini_initial_alloc = LONGEST_LINE;
  int bad_line = ini_parse_stream(next_line, &parsing, on_entry, &parsing);
  TUTTI_TRY(context, parsing.status);
  if (bad_line > 0)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "%s:%d: expected [section] or key = value", file, bad_line);
  if (bad_line < 0)
    return TUTTI_FAIL(context, TUTTI_ERROR_MEMORY, "%s: out of memory", file);
  return TUTTI_OK;
}

static enum tutti_status read_file(tutti_context *context, const char *path, int level, struct tutti_entries *entries) {
  char *text;
  size_t bytes;
  enum tutti_status status = tutti_file_read(context, path, &text, &bytes);
  if (status != TUTTI_OK)
    return tutti_error_prefix(context, TUTTI_ERROR_USAGE, "recipe ");
  if (memchr(text, '\0', bytes))
    status = TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "%s: this is no text file (it has NUL bytes)", path);
  else
    status = parse_text(context, path, text, level, entries);
  tutti_free(text);
  return status;
}

/* --- the chain --- */

/* `path`, or for a relative one: in the folder of `file`. */
static enum tutti_status relative_to(tutti_context *context, const char *file, const char *path, char **out) {
  char *copy;
  if (*path == '/')
    return tutti_strdup(context, path, out);
  TUTTI_TRY(context, tutti_strdup(context, file, &copy));
  const char *folder = dirname(copy);
  enum tutti_status status = strcmp(folder, ".") == 0 ? tutti_strdup(context, path, out)
                                                      : tutti_format(context, out, "%s/%s", folder, path);
  tutti_free(copy);
  return status;
}

/* The base that a file extends: `extends` in front of all sections, or in [run]. */
static const struct tutti_entry *base_of(const struct tutti_entries *entries) {
  const struct tutti_entry *entry = tutti_entries_find(entries, "", "extends");
  return entry ? entry : tutti_entries_find(entries, "run", "extends");
}

/* Paths of the chain, the recipe first, its last base at the end. */
static enum tutti_status find_chain(tutti_context *context, const char *path, char **chain, size_t *count) {
  TUTTI_TRY(context, tutti_strdup(context, path, &chain[0]));
  *count = 1;
  for (;;) {
    struct tutti_entries entries = {0};
    enum tutti_status status = read_file(context, chain[*count - 1], 0, &entries);
    const struct tutti_entry *base = status == TUTTI_OK ? base_of(&entries) : NULL;
    if (base && *count == LONGEST_CHAIN)
      status = TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "%s:%d: extends goes round in a circle, or over more than %d files",
                          base->file, base->line, LONGEST_CHAIN);
    else if (base)
      status = relative_to(context, chain[*count - 1], base->value, &chain[*count]);
    *count += base && status == TUTTI_OK;
    tutti_entries_release(&entries);
    if (!base || status != TUTTI_OK)
      return status;
  }
}

enum tutti_status tutti_entries_read(tutti_context *context, const char *path, struct tutti_entries *entries) {
  char *chain[LONGEST_CHAIN] = {0};
  size_t count = 0;
  enum tutti_status status = find_chain(context, path, chain, &count);
  for (size_t level = 0; level < count && status == TUTTI_OK; level++)
    status = read_file(context, chain[count - 1 - level], (int)level, entries);
  for (size_t i = 0; i < LONGEST_CHAIN; i++)
    tutti_free(chain[i]);
  return status;
}

enum tutti_status tutti_entries_override(tutti_context *context, const char *text, struct tutti_entries *entries) {
  enum { OVERRIDE_LEVEL = LONGEST_CHAIN };
  char *copy;
  const char *equals = strchr(text, '='), *dot = strchr(text, '.');
  if (!equals || !dot || dot > equals || dot == text || dot + 1 == equals)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "--set: expected section.key=value, found '%s'", text);
  TUTTI_TRY(context, tutti_strdup(context, text, &copy));
  copy[dot - text] = copy[equals - text] = '\0';
  enum tutti_status status = put(context, entries, copy, copy + (dot - text) + 1, equals + 1, "--set", 0, OVERRIDE_LEVEL);
  tutti_free(copy);
  return status;
}
