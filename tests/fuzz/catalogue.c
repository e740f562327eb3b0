/* catalogue.c - fuzz target: catalogues, as a file of SQLite or as rows with any values (rows.h); read, and some of
   them, as that takes long, opened for writing. */
#include "fuzz.h"
#include "rows.h"

#include <math.h>
#include <string.h>
#include <tutti/catalogue.h>

const char fuzz_name[] = "catalogue";

static enum tutti_status visit(void *argument, const struct tutti_trial *trial) {
  size_t *bytes = argument;
  FUZZ_REQUIRE(trial->candidate && trial->origin && trial->failure && trial->report);
  *bytes += strlen(trial->candidate) + strlen(trial->origin) + strlen(trial->failure) + strlen(trial->report);
  FUZZ_REQUIRE(!trial->done || trial->state != TUTTI_STATE_FINISHED || isfinite(trial->loss));
  return TUTTI_OK;
}

static void read_all(tutti_context *context, tutti_catalogue *catalogue) {
  static const char *const facts[] = {"members_from", "fingerprint", "files", "rows", "builder", "recipe"};
  size_t bytes = 0;
  for (size_t i = 0; i < sizeof facts / sizeof facts[0]; i++) {
    char *text = NULL;
    if (tutti_catalogue_get(context, catalogue, facts[i], &text) != TUTTI_OK)
      fuzz_refused(text);
    tutti_free(text);
  }
  if (tutti_catalogue_visit(context, catalogue, visit, &bytes) != TUTTI_OK)
    fuzz_refused(NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const char magic[] = "SQLite format 3";
  bool is_file = size >= sizeof magic && memcmp(data, magic, sizeof magic) == 0;
  const char *path =
      is_file ? fuzz_file("catalogue.sqlite", data, size) : fuzz_catalogue("catalogue.sqlite", data, size, NULL, NULL);
  for (int write = 0; write < (size % 8 == 0 ? 2 : 1); write++) {
    tutti_context *context = fuzz_context();
    tutti_catalogue *catalogue = NULL;
    if (tutti_catalogue_open(context, path, write, &catalogue) == TUTTI_OK)
      read_all(context, catalogue);
    else
      fuzz_refused(catalogue);
    tutti_catalogue_close(catalogue);
  }
  return 0;
}
