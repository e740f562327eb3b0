/* archive.c - run directories for the fuzz targets. */
#include "archive.h"
#include "fuzz.h"
#include "rows.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

/* --- the archive --- */

static bool is_path(const char *path) {
  static const char allowed[] = "abcdefghijklmnopqrstuvwxyz0123456789._-/";
  return *path && *path != '/' && *path != '.' && strspn(path, allowed) == strlen(path) && !strstr(path, "..") &&
         !strstr(path, "//") && path[strlen(path) - 1] != '/';
}

void fuzz_unpack(const uint8_t *data, size_t size, struct archive *archive) {
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

size_t fuzz_pack(const struct archive *archive, uint8_t *out, size_t room) {
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

void fuzz_build(struct archive *archive, const char *name) {
  for (size_t i = 0; i < archive->count; i++) {
    const struct entry *entry = &archive->files[i];
    char path[2 * LONGEST_PATH];
    (void)snprintf(path, sizeof path, "%.40s/%s", name, entry->path);
    if (strcmp(entry->path, "rows") == 0) {
      make_folders(path);
      (void)snprintf(path, sizeof path, "%.40s/catalogue.sqlite", name);
      (void)fuzz_catalogue(path, entry->data, entry->size, forge, archive);
    } else if (strcmp(entry->path, "catalogue.sqlite") != 0) {
      put(path, entry->data, entry->size);
    }
  }
}

void fuzz_remove(const struct archive *archive, const char *name) {
  for (size_t i = 0; i < archive->count; i++) {
    char path[256];
    (void)snprintf(path, sizeof path, "%s/%.40s/%s", fuzz_folder(), name,
                   strcmp(archive->files[i].path, "rows") == 0 ? "catalogue.sqlite" : archive->files[i].path);
    (void)unlink(path);
  }
}
