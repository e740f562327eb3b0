/* replaced.c - a file that is written in the place of another: one of the same kind, or nobody would miss it. */
#include "replaced_impl.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum { HEAD = 1024 };

static bool is_of_kind(const struct tutti_file_kind *kind, size_t length, const char *head) {
  bool begins = false;
  for (size_t i = 0; i < TUTTI_FILE_BEGINNINGS && kind->begins[i]; i++) {
    size_t mark = strlen(kind->begins[i]);
    begins = begins || (length >= mark && memcmp(head, kind->begins[i], mark) == 0);
  }
  return begins && (!kind->holds || memmem(head, length, kind->holds, strlen(kind->holds)));
}

enum tutti_status tutti_file_check_replaced(tutti_context *context, const char *path,
                                            const struct tutti_file_kind *kind) {
  struct stat facts;
  char head[HEAD];
  size_t length = 0;
  if (stat(path, &facts) != 0 || !S_ISREG(facts.st_mode) || facts.st_size == 0)
    return TUTTI_OK;
  FILE *file = fopen(path, "r");
  if (file) {
    length = fread(head, 1, sizeof head, file);
    (void)fclose(file);
  }
  if (is_of_kind(kind, length, head))
    return TUTTI_OK;
  return TUTTI_FAIL(
      context, TUTTI_ERROR_USAGE,
      "%s: a file is there, and it is not %s by tutti: it is left as it is; give another name, or remove it", path,
      kind->name);
}
