/* run.c - fuzz target: whole run directories, which anybody may hand over, opened through the library's view. The input
   is an archive: for each file a line with its path and its size, then its bytes. `rows` becomes the catalogue
   (rows.h). Sizes and checksums in it are made to fit the files, as a forger would. */
#include "fuzz.h"
#include "rows.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <tutti/random.h>
#include <unistd.h>
#include <zlib.h>

const char fuzz_name[] = "run";

enum { MOST_FILES = 64, LONGEST_PATH = 80 };

struct entry {
  char path[LONGEST_PATH];
  const uint8_t *data;
  size_t size;
};
struct archive {
  struct entry files[MOST_FILES];
  size_t count;
};

/* --- the archive --- */

static bool is_path(const char *path) {
  static const char allowed[] = "abcdefghijklmnopqrstuvwxyz0123456789._-/";
  return *path && *path != '/' && *path != '.' && strspn(path, allowed) == strlen(path) && !strstr(path, "..") &&
         !strstr(path, "//") && path[strlen(path) - 1] != '/';
}

/* Read as much of an archive as there is; names that lead elsewhere are left out. */
static void unpack(const uint8_t *data, size_t size, struct archive *archive) {
  archive->count = 0;
  for (size_t at = 0; at < size && archive->count < MOST_FILES;) {
    struct entry *entry = &archive->files[archive->count];
    const uint8_t *stop = memchr(data + at, '\n', size - at);
    char line[LONGEST_PATH + 32];
    size_t length = stop ? (size_t)(stop - data) - at : sizeof line, bytes;
    if (length >= sizeof line)
      return;
    memcpy(line, data + at, length);
    line[length] = '\0';
    at += length + 1;
    if (sscanf(line, "%79s %zu", entry->path, &bytes) != 2)
      return;
    entry->data = data + at;
    entry->size = bytes < size - at ? bytes : size - at;
    at += entry->size;
    archive->count += is_path(entry->path);
  }
}

static size_t pack(const struct archive *archive, uint8_t *out, size_t room) {
  size_t used = 0;
  for (size_t i = 0; i < archive->count; i++) {
    const struct entry *entry = &archive->files[i];
    char line[LONGEST_PATH + 32];
    int length = snprintf(line, sizeof line, "%s %zu\n", entry->path, entry->size);
    if (used + (size_t)length + entry->size > room)
      break;
    memcpy(out + used, line, (size_t)length);
    memcpy(out + used + length, entry->data, entry->size);
    used += (size_t)length + entry->size;
  }
  return used;
}

/* --- libFuzzer changes one file at a time; recipes have a target of their own --- */

__attribute__((weak)) size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t room);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t room, unsigned seed);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t room, unsigned seed) {
  struct archive archive;
  struct tutti_random random;
  tutti_random_init(&random, seed, "mutate", 0);
  uint8_t *copy = (uint8_t *)fuzz_text(data, size);
  unpack(copy, size, &archive);
  if (archive.count == 0) {
    free(copy);
    return LLVMFuzzerMutate(data, size, room);
  }
  struct entry *entry = &archive.files[tutti_random_u64(&random) % archive.count];
  if (strcmp(entry->path, "recipe.ini") == 0)
    entry = &archive.files[archive.count - 1];
  size_t limit = entry->size + 4096;
  uint8_t *changed = calloc(limit, 1);
  FUZZ_REQUIRE(changed != NULL);
  memcpy(changed, entry->data, entry->size);
  entry->size = LLVMFuzzerMutate(changed, entry->size, limit);
  entry->data = changed;
  size_t used = pack(&archive, data, room);
  free(changed);
  free(copy);
  return used;
}

/* --- the directory --- */

static const struct entry *find(const struct archive *archive, const char *folder, const char *name) {
  char path[2 * LONGEST_PATH];
  (void)snprintf(path, sizeof path, "%.40s%.90s", folder, name);
  for (size_t i = 0; i < archive->count; i++)
    if (strcmp(archive->files[i].path, path) == 0)
      return &archive->files[i];
  return NULL;
}

/* The file of this name; the record of the run's own files has them by folder. */
static const struct entry *find_in(const struct archive *archive, const char *folder, const char *name) {
  const struct entry *entry = find(archive, folder, name);
  return entry || *folder ? entry : find(archive, "splits/", name);
}

/* Sizes and checksums wherever a file is recorded. */
static void forge_files(json_t *value, const struct archive *archive, const char *folder) {
  const char *key, *name = json_string_value(json_object_get(value, "name"));
  json_t *below;
  size_t i;
  const struct entry *entry = name && json_object_get(value, "crc32") ? find_in(archive, folder, name) : NULL;
  if (entry) {
    uLong sum = crc32(crc32(0, NULL, 0), entry->data, (uInt)entry->size);
    (void)json_object_set_new(value, "bytes", json_integer((json_int_t)entry->size));
    (void)json_object_set_new(value, "crc32", json_integer((json_int_t)sum));
    return;
  }
  json_array_foreach(value, i, below) forge_files(below, archive, folder);
  json_object_foreach(value, key, below) forge_files(below, archive, folder);
}

static char *forge(void *argument, const char *table, long long first, const char *text) {
  char folder[64] = "";
  if (!strstr(text, "crc32"))
    return NULL;
  json_t *root = json_loads(text, 0, NULL);
  if (strcmp(table, "trials") == 0)
    (void)snprintf(folder, sizeof folder, "trials/%06lld/", first);
  forge_files(root, argument, folder);
  char *forged = root ? json_dumps(root, 0) : NULL;
  json_decref(root);
  return forged;
}

/* Make the folders of a path below the target's folder. */
static void make_folders(const char *path) {
  char full[256];
  (void)snprintf(full, sizeof full, "%s/%s", fuzz_folder(), path);
  for (char *slash = strchr(full + strlen(fuzz_folder()) + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
    *slash = '\0';
    (void)mkdir(full, 0700);
    *slash = '/';
  }
}

static void put(const char *path, const uint8_t *data, size_t size) {
  char full[256];
  struct stat facts;
  make_folders(path);
  (void)snprintf(full, sizeof full, "%s/%s", fuzz_folder(), path);
  if (stat(full, &facts) != 0 || S_ISREG(facts.st_mode)) /* an earlier name may have made it a folder */
    (void)fuzz_file(path, data, size);
}

static void build(struct archive *archive) {
  for (size_t i = 0; i < archive->count; i++) {
    const struct entry *entry = &archive->files[i];
    char path[LONGEST_PATH + 8];
    (void)snprintf(path, sizeof path, "run/%s", entry->path);
    if (strcmp(entry->path, "rows") == 0)
      (void)fuzz_catalogue("run/catalogue.sqlite", entry->data, entry->size, forge, archive);
    else if (strcmp(entry->path, "catalogue.sqlite") != 0)
      put(path, entry->data, entry->size);
  }
}

/* --- use --- */

/* A call that gives a text, or says why not. */
static void take(enum tutti_status status, char **text) {
  if (status != TUTTI_OK)
    fuzz_refused(*text);
  tutti_free(*text);
  *text = NULL;
}

static void use(tutti_context *context, tutti_view *view, const char *table) {
  char *text = NULL;
  struct tutti_forecast forecast = {.size = sizeof forecast};
  struct tutti_curve_options options = {.size = sizeof options};
  take(tutti_view_status(context, view, &text), &text);
  take(tutti_view_evaluate(context, view, NULL, 0, NULL, &text), &text);
  take(tutti_view_select(context, view, NULL, 0, NULL, &text), &text);
  take(tutti_view_curve(context, view, NULL, 0, NULL, &options, &text), &text);
  if (tutti_view_predict(context, view, NULL, table, &forecast) == TUTTI_OK)
    tutti_forecast_release(&forecast);
  else
    fuzz_refused(forecast.predicted);
}

static void remove_run(const struct archive *archive) {
  for (size_t i = 0; i < archive->count; i++) {
    char path[256];
    (void)snprintf(path, sizeof path, "%s/run/%s", fuzz_folder(),
                   strcmp(archive->files[i].path, "rows") == 0 ? "catalogue.sqlite" : archive->files[i].path);
    (void)unlink(path);
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const char table[] = "x0,x1,x2,group,y,kind\n0.5,0.1,-1,a,2,up\n-1,2,0,c,0,down\n";
  tutti_context *context = fuzz_context();
  struct archive archive;
  tutti_view *view = NULL;
  char directory[128], rows[128];
  (void)snprintf(directory, sizeof directory, "%s/run", fuzz_folder());
  (void)snprintf(rows, sizeof rows, "%s", fuzz_file("new.csv", (const uint8_t *)table, sizeof table - 1));
  (void)mkdir(directory, 0700);
  unpack(data, size, &archive);
  build(&archive);
  if (tutti_view_open(context, directory, &view) == TUTTI_OK)
    use(context, view, rows);
  else
    fuzz_refused(view);
  tutti_view_close(view);
  remove_run(&archive);
  return 0;
}
