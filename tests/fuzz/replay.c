/* replay.c - the main of a fuzz target without libFuzzer: it runs files, and those in folders, once each; without
   arguments the target's seeds. */
#include "fuzz.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static size_t count;

static void run_file(const char *path) {
  size_t size = 0, room = 1 << 16;
  uint8_t *data = malloc(room);
  FILE *file = fopen(path, "rb");
  if (!file) {
    (void)fprintf(stderr, "%s: cannot be read\n", path);
    exit(1);
  }
  while (data && (size += fread(data + size, 1, room - size, file)) == room)
    data = realloc(data, room *= 2);
  (void)fclose(file);
  FUZZ_REQUIRE(data != NULL);
  (void)LLVMFuzzerTestOneInput(data, size);
  free(data);
  count++;
}

static void run_path(const char *path) {
  struct stat facts;
  if (stat(path, &facts) == 0 && !S_ISDIR(facts.st_mode)) {
    run_file(path);
    return;
  }
  DIR *folder = opendir(path);
  struct dirent *entry;
  while (folder && (entry = readdir(folder))) {
    char below[4096];
    (void)snprintf(below, sizeof below, "%s/%s", path, entry->d_name);
    if (entry->d_name[0] != '.')
      run_file(below);
  }
  if (folder)
    (void)closedir(folder);
}

int main(int argc, char **argv) {
  char seeds[4096];
  const char *source = getenv("TUTTI_TEST_SRCDIR");
  (void)snprintf(seeds, sizeof seeds, "%s/tests/fuzz/seeds/%s", source ? source : ".", fuzz_name);
  for (int i = 1; i < argc; i++)
    run_path(argv[i]);
  if (argc == 1)
    run_path(seeds);
  (void)printf("%zu inputs\n", count);
  return count > 0 ? 0 : 1; /* a target without seeds tests nothing */
}
