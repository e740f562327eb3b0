/* recipe_parse.c - turns recipe files, the files that they extend, and overrides of the command line into one list of
   entries. */
#include <errno.h>
#include <ini.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "recipe_impl.h"

enum { LONGEST_LINE = 16384, LONGEST_FILE = 1 << 20, LONGEST_CHAIN = 16 };

/* A file that is being read. inih sees each heading as a key of this name, so that empty sections and repeated headings
   are noticed. */
#define HEADING "\x01"

struct parser {
  tutti_context *context;
  tutti_recipe *own; /* entries of this file only */
  const struct recipe_file *file;
  char *text, *cursor;
  int line;
  bool heading;             /* the last line was a heading: HEADING is the next line for inih */
  enum tutti_status status; /* for the first error that we found */
  int error_line;
};

/* --- entries ----------------------------------------------------------------------------------------------------- */

bool tutti_recipe_is_kind(tutti_context *context, const char *name) {
  enum tutti_kind kind;
  bool is_kind = tutti_kind_parse(context, name, &kind) == TUTTI_OK;
  tutti_error_clear(context);
  return is_kind;
}

enum tutti_status tutti_recipe_blame_line(tutti_context *context, const struct recipe_entry *entry,
                                          enum tutti_status status) {
  return entry->file->command_line ? tutti_error_prefix(context, status, "--set %s.%s: ", entry->section, entry->key)
                                   : tutti_error_prefix(context, status, "%s:%d: ", entry->file->path, entry->line);
}

enum tutti_status tutti_recipe_blame(tutti_context *context, const struct recipe_entry *entry,
                                     enum tutti_status status) {
  if (!entry->file->command_line && *entry->key)
    (void)tutti_error_prefix(context, status, "[%s] %s: ", entry->section, entry->key);
  else if (!entry->file->command_line)
    (void)tutti_error_prefix(context, status, "[%s]: ", entry->section);
  return tutti_recipe_blame_line(context, entry, status);
}

static struct recipe_entry *find(const tutti_recipe *recipe, const char *section, const char *key) {
  for (size_t i = 0; i < recipe->count; i++)
    if (strcmp(recipe->entries[i].section, section) == 0 && strcmp(recipe->entries[i].key, key) == 0)
      return &recipe->entries[i];
  return NULL;
}

const struct recipe_entry *tutti_recipe_find(const tutti_recipe *recipe, const char *section, const char *key) {
  return find(recipe, section, key);
}

static void entry_release(struct recipe_entry *entry) {
  tutti_free(entry->section);
  tutti_free(entry->key);
  tutti_free(entry->value);
}

void tutti_recipe_release_entries(tutti_recipe *recipe) {
  for (size_t i = 0; i < recipe->count; i++)
    entry_release(&recipe->entries[i]);
  for (size_t i = 0; i < recipe->file_count; i++) {
    tutti_free(recipe->files[i]->path);
    tutti_free(recipe->files[i]->folder);
    tutti_free(recipe->files[i]);
  }
  tutti_free(recipe->entries);
  tutti_free(recipe->files);
}

static enum tutti_status append_entry(tutti_context *context, tutti_recipe *recipe, const struct recipe_entry *given) {
  enum tutti_status status = TUTTI_OK;
  struct recipe_entry entry = {.file = given->file, .line = given->line, .layer = given->layer};
  TUTTI_TRY_OUT(context, tutti_strdup(context, given->section, &entry.section));
  TUTTI_TRY_OUT(context, tutti_strdup(context, given->key, &entry.key));
  TUTTI_TRY_OUT(context, tutti_strdup(context, given->value, &entry.value));
  if (recipe->count == recipe->room) {
    size_t room = 2 * recipe->room + 32;
    TUTTI_TRY_OUT(context, tutti_realloc(context, recipe->count, room, sizeof entry, &recipe->entries));
    recipe->room = room;
  }
  recipe->entries[recipe->count++] = entry;
  return TUTTI_OK;
out:
  entry_release(&entry);
  return status;
}

/* Give the value of this entry to the entry with the same section and key, which keeps its place. */
static enum tutti_status put(tutti_context *context, tutti_recipe *recipe, const struct recipe_entry *given) {
  struct recipe_entry *old = find(recipe, given->section, given->key);
  char *value;
  if (!old)
    return append_entry(context, recipe, given);
  TUTTI_TRY(context, tutti_strdup(context, given->value, &value));
  tutti_free(old->value);
  old->value = value;
  old->file = given->file;
  old->line = given->line;
  old->layer = given->layer;
  return TUTTI_OK;
}

/* A value that a recipe could not be printed with: it would be read back as something else. */
static enum tutti_status check_value(tutti_context *context, const char *value) {
  for (const char *c = value; *c; c++)
    if ((unsigned char)*c < ' ' && *c != '\t')
      return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "a value is one line without control characters");
  if (*value == ';' || strstr(value, " ;") || strstr(value, "\t;"))
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "' ;' begins a comment, so no value can contain it");
  return TUTTI_OK;
}

/* --- one file ---------------------------------------------------------------------------------------------------- */

static char *skip_blanks(char *text) { return text + strspn(text, " \t"); }

static void trim_end(char *text) {
  size_t length = strlen(text);
  while (length && strchr(" \t\r\n", text[length - 1]))
    text[--length] = '\0';
}

static void parser_fail(struct parser *parser, enum tutti_status status) {
  parser->status = status;
  parser->error_line = parser->line;
}

/* inih's source of lines. Leading blanks are removed, because inih would read an indented line as a continuation of the
   value above. */
static char *read_line(char *out, int size, void *stream) {
  struct parser *parser = stream;
  if (parser->heading) {
    parser->heading = false;
    (void)snprintf(out, (size_t)size, HEADING "=\n");
    return out;
  }
  if (!*parser->cursor || parser->status != TUTTI_OK)
    return NULL;
  parser->line++;
  char *begin = skip_blanks(parser->cursor), *end = strchr(parser->cursor, '\n');
  parser->cursor = end ? end + 1 : parser->cursor + strlen(parser->cursor);
  if (begin > parser->cursor)
    begin = parser->cursor;
  size_t length = (size_t)(parser->cursor - begin);
  if (length + 3 > (size_t)size) {
    parser_fail(parser, TUTTI_FAIL(parser->context, TUTTI_ERROR_USAGE, "%s:%d: a line of %zu bytes is too long",
                                   parser->file->path, parser->line, length));
    return NULL;
  }
  memcpy(out, begin, length);
  out[length] = '\0';
  parser->heading = *out == '[' && strchr(out, ']');
  return out;
}

static enum tutti_status take_entry(struct parser *parser, const char *section, const char *key, const char *value) {
  tutti_context *context = parser->context;
  bool heading = strcmp(key, HEADING) == 0;
  struct recipe_entry entry = {.file = parser->file,
                               .line = parser->line,
                               .section = (char *)section,
                               .key = heading ? "" : (char *)key,
                               .value = (char *)value};
  const struct recipe_entry *before = find(parser->own, section, entry.key);
  if (!heading && !*key)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "%s:%d: expected 'key = value', found no key", parser->file->path,
                      parser->line);
  if (heading && before)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "%s:%d: section [%s] begins a second time; it began on line %d",
                      parser->file->path, parser->line, section, before->line);
  if (before)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "%s:%d: [%s] %s: has a value already, on line %d", parser->file->path,
                      parser->line, section, key, before->line);
  if (!*section && strcmp(key, "extends") != 0)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                      "%s:%d: '%s' stands before the first [section]; only 'extends = FILE' may", parser->file->path,
                      parser->line, heading ? "[]" : key);
  enum tutti_status status = check_value(context, value);
  return status == TUTTI_OK ? append_entry(context, parser->own, &entry) : tutti_recipe_blame(context, &entry, status);
}

static int on_entry(void *user, const char *section, const char *key, const char *value) {
  struct parser *parser = user;
  if (parser->status == TUTTI_OK)
    parser_fail(parser, take_entry(parser, section, key, value));
  return 1;
}

/* Recipes of users may be pipes; those of runs are files. */
static enum tutti_status check_regular(tutti_context *context, const char *path) {
  struct stat facts;
  if (stat(path, &facts) == 0 && !S_ISREG(facts.st_mode))
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "%s: expected a regular file, found something else", path);
  return TUTTI_OK;
}

static enum tutti_status read_text(tutti_context *context, const char *path, char **text) {
  enum tutti_status status = TUTTI_OK;
  FILE *file = fopen(path, "rbe");
  *text = NULL;
  if (!file)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "%s: cannot read this recipe: %s", path, strerror(errno));
  TUTTI_TRY_OUT(context, tutti_alloc(context, LONGEST_FILE + 1, 1, text));
  size_t length = fread(*text, 1, LONGEST_FILE + 1, file);
  if (ferror(file))
    status = TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "%s: cannot read this recipe: %s", path, strerror(errno));
  else if (length > LONGEST_FILE)
    status =
        TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "%s: larger than %d KiB: this is no recipe", path, LONGEST_FILE / 1024);
  else if (memchr(*text, '\0', length))
    status = TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "%s: has bytes of value 0: this is no text", path);
out:
  (void)fclose(file);
  if (status != TUTTI_OK) {
    tutti_free(*text);
    *text = NULL;
  }
  return status;
}

/* The file's line for inih's line number `count`; each heading has two lines in inih. */
static int line_of(struct parser *parser, int count) {
  char line[LONGEST_LINE];
  parser->cursor = parser->text;
  parser->line = 0;
  parser->heading = false;
  parser->status = TUTTI_OK;
  while (count-- > 0)
    (void)read_line(line, sizeof line, parser);
  return parser->line;
}

static enum tutti_status parse_text(tutti_context *context, struct parser *parser) {
  parser->cursor = parser->text;
  /* inih's default limit is 200 bytes; a path alone can be longer. */
  ini_max_line = LONGEST_LINE;
  int count = ini_parse_stream(read_line, parser, on_entry, parser);
  enum tutti_status status = parser->status;
  if (count < 0)
    return TUTTI_FAIL(context, TUTTI_ERROR_MEMORY, "%s: out of memory", parser->file->path);
  int line = count > 0 ? line_of(parser, count) : INT_MAX;
  if (status != TUTTI_OK && parser->error_line < line)
    return status;
  if (count == 0)
    return TUTTI_OK;
  return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "%s:%d: expected '[section]', 'key = value' or '; comment'",
                    parser->file->path, line);
}

static enum tutti_status parse_file(tutti_context *context, const struct recipe_file *file, tutti_recipe *own) {
  struct parser parser = {.context = context, .own = own, .file = file};
  TUTTI_TRY(context, read_text(context, file->path, &parser.text));
  enum tutti_status status = parse_text(context, &parser);
  tutti_free(parser.text);
  return status;
}

/* --- the chain of files ------------------------------------------------------------------------------------------ */

static enum tutti_status add_file(tutti_context *context, tutti_recipe *recipe, const char *path, const char *folder,
                                  struct recipe_file **out) {
  enum tutti_status status = TUTTI_OK;
  struct recipe_file *file = NULL;
  *out = NULL;
  if (recipe->file_count == recipe->file_room) {
    size_t room = 2 * recipe->file_room + 4;
    TUTTI_TRY(context, tutti_realloc(context, recipe->file_count, room, sizeof(struct recipe_file *), &recipe->files));
    recipe->file_room = room;
  }
  TUTTI_TRY(context, tutti_alloc(context, 1, sizeof *file, &file));
  recipe->files[recipe->file_count++] = file;
  TUTTI_TRY_OUT(context, tutti_strdup(context, path, &file->path));
  TUTTI_TRY_OUT(context, tutti_strdup(context, folder, &file->folder));
  *out = file;
out:
  return status;
}

/* The folder of a file: absolute, without links. */
static enum tutti_status folder_of(tutti_context *context, const char *path, char **folder) {
  char *real = realpath(path, NULL);
  if (!real)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "%s: cannot read this recipe: %s", path, strerror(errno));
  char *slash = strrchr(real, '/');
  slash[slash == real] = '\0';
  enum tutti_status status = tutti_strdup(context, real, folder);
  free(real);
  return status;
}

/* A file in the chain from the recipe down to the last that is extended. */
struct link {
  const struct link *above;
  const char *path;
  char *real;
};

static enum tutti_status read_chain(tutti_context *context, tutti_recipe *recipe, const char *path,
                                    const struct link *above, unsigned *layer);

static enum tutti_status read_base(tutti_context *context, tutti_recipe *recipe, const struct recipe_entry *extends,
                                   const struct link *link, unsigned *layer) {
  char *path;
  TUTTI_TRY(context, tutti_recipe_locate(context, extends->file->folder, extends->value, &path));
  if (!path)
    return TUTTI_FAIL(
        context, TUTTI_ERROR_USAGE,
        "%s:%d: extends: cannot read '%s': there is no such recipe in %s, nor among those that tutti list "
        "recipes shows",
        extends->file->path, extends->line, extends->value, extends->file->folder);
  enum tutti_status status = read_chain(context, recipe, path, link, layer);
  tutti_free(path);
  return status;
}

static enum tutti_status check_chain(tutti_context *context, const struct link *link) {
  size_t length = 0;
  for (const struct link *other = link->above; other; other = other->above) {
    if (strcmp(other->real, link->real) == 0)
      return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "%s: this recipe extends itself, by way of %s", link->path,
                        link->above->path);
    if (++length == LONGEST_CHAIN)
      return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "%s: more than %d recipes extend one another", link->path,
                        LONGEST_CHAIN);
  }
  return TUTTI_OK;
}

/* Read the file that this one extends, then put its own entries above; *layer is the next layer's number. */
static enum tutti_status read_chain(tutti_context *context, tutti_recipe *recipe, const char *path,
                                    const struct link *above, unsigned *layer) {
  enum tutti_status status = TUTTI_OK;
  struct link link = {.above = above, .path = path};
  struct recipe_file *file;
  char *folder = NULL;
  tutti_recipe own = {0};
  TUTTI_TRY_OUT(context, folder_of(context, path, &folder));
  link.real = realpath(path, NULL);
  if (!link.real) {
    status = TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "%s: cannot read this recipe: %s", path, strerror(errno));
    goto out;
  }
  TUTTI_TRY_OUT(context, check_chain(context, &link));
  if (recipe->recorded)
    TUTTI_TRY_OUT(context, check_regular(context, path));
  TUTTI_TRY_OUT(context, add_file(context, recipe, path, folder, &file));
  TUTTI_TRY_OUT(context, parse_file(context, file, &own));
  const struct recipe_entry *extends = find(&own, "", "extends");
  if (extends && recipe->recorded)
    TUTTI_TRY_OUT(context, TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                                      "%s:%d: the recipe of a run is whole and extends nothing, but this one '%s'",
                                      path, extends->line, extends->value));
  if (extends)
    TUTTI_TRY_OUT(context, read_base(context, recipe, extends, &link, layer));
  for (size_t i = 0; i < own.count; i++) {
    own.entries[i].layer = *layer;
    if (*own.entries[i].section)
      TUTTI_TRY_OUT(context, put(context, recipe, &own.entries[i]));
  }
  ++*layer;
out:
  tutti_recipe_release_entries(&own);
  tutti_free(folder);
  free(link.real);
  return status;
}

/* --- overrides --------------------------------------------------------------------------------------------------- */

/* "calibrator=conformal" is told what is understood: "calibrator.plugin=conformal". */
static enum tutti_status no_section(tutti_context *context, const char *override, const char *name) {
  const char *equals = strchr(override, '=');
  bool chooses = equals && tutti_recipe_is_kind(context, name);
  return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "--set: expected 'section.key=value', found '%s'%s%s%s%s%s", override,
                    chooses ? "; did you mean '" : "", chooses ? name : "", chooses ? ".plugin" : "",
                    chooses ? equals : "", chooses ? "'?" : "");
}

static enum tutti_status read_override(tutti_context *context, tutti_recipe *recipe, const struct recipe_file *file,
                                       unsigned layer, const char *override) {
  enum tutti_status status = TUTTI_OK;
  char *copy;
  TUTTI_TRY(context, tutti_strdup(context, override, &copy));
  char *equals = strchr(copy, '=');
  if (equals)
    *equals = '\0';
  char *section = skip_blanks(copy), *dot = strchr(section, '.');
  if (!equals || !dot || dot == section) {
    status = no_section(context, override, section);
    goto out;
  }
  *dot = '\0';
  struct recipe_entry entry = {
      .file = file, .layer = layer, .section = section, .key = skip_blanks(dot + 1), .value = skip_blanks(equals + 1)};
  trim_end(entry.key);
  trim_end(entry.value);
  status = check_value(context, entry.value);
  if (status == TUTTI_OK && !*entry.key)
    status = TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "expected 'section.key=value', found no key");
  if (status != TUTTI_OK)
    (void)tutti_recipe_blame(context, &entry, status);
  else
    status = put(context, recipe, &entry);
out:
  tutti_free(copy);
  return status;
}

/* Read the recipe of that name, and everything that it extends. */
static enum tutti_status read_named(tutti_context *context, tutti_recipe *recipe, const char *name, unsigned *layer) {
  enum tutti_status status = TUTTI_OK;
  char *path;
  TUTTI_TRY(context, tutti_recipe_locate(context, "", name, &path));
  if (!path)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "%s: cannot read this recipe: %s; tutti list recipes shows others",
                      name, strerror(access(name, F_OK) == 0 ? EISDIR : errno));
  TUTTI_TRY_OUT(context, folder_of(context, path, &recipe->folder));
  TUTTI_TRY_OUT(context, read_chain(context, recipe, path, NULL, layer));
out:
  tutti_free(path);
  return status;
}

enum tutti_status tutti_recipe_read(tutti_context *context, tutti_recipe *recipe, const char *name, size_t count,
                                    const char *const *overrides) {
  unsigned layer = 0;
  char here[PATH_MAX];
  struct recipe_file *command_line;
  TUTTI_TRY(context, read_named(context, recipe, name, &layer));
  if (!getcwd(here, sizeof here))
    return TUTTI_FAIL(context, TUTTI_ERROR_IO, "cannot tell the working folder: %s", strerror(errno));
  TUTTI_TRY(context, add_file(context, recipe, "", here, &command_line));
  command_line->command_line = true;
  for (size_t i = 0; i < count; i++)
    TUTTI_TRY(context, read_override(context, recipe, command_line, layer, overrides[i]));
  return TUTTI_OK;
}
