/* run.c - fuzz target: whole run directories, which anybody may hand over, opened through the library's view. The input
   is an archive (archive.h). */
#include "archive.h"
#include "fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <tutti/random.h>

const char fuzz_name[] = "run";

/* --- libFuzzer changes one file at a time; recipes have a target of their own --- */

__attribute__((weak)) size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t room);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t room, unsigned seed);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t room, unsigned seed) {
  struct archive archive;
  struct tutti_random random;
  tutti_random_init(&random, seed, "mutate", 0);
  uint8_t *copy = (uint8_t *)fuzz_text(data, size);
  fuzz_unpack(copy, size, &archive);
  if (archive.count == 0) {
    free(copy);
    return LLVMFuzzerMutate(data, size, room);
  }
  struct entry *entry = &archive.files[tutti_random_u64(&random) % archive.count];
  if (strcmp(entry->path, "recipe.ini") == 0)
    entry = &archive.files[archive.count - 1];
  size_t limit = entry->size + 4096;
  uint8_t *changed = calloc(limit, 1);
  if (!changed)
    abort();
  memcpy(changed, entry->data, entry->size);
  entry->size = LLVMFuzzerMutate(changed, entry->size, limit);
  entry->data = changed;
  size_t used = fuzz_pack(&archive, data, room);
  free(changed);
  free(copy);
  return used;
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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const char table[] = "x0,x1,x2,group,y,kind\n0.5,0.1,-1,a,2,up\n-1,2,0,c,0,down\n";
  tutti_context *context = fuzz_context();
  struct archive archive;
  tutti_view *view = NULL;
  char directory[128], rows[128];
  (void)snprintf(directory, sizeof directory, "%s/run", fuzz_folder());
  (void)snprintf(rows, sizeof rows, "%s", fuzz_file("new.csv", (const uint8_t *)table, sizeof table - 1));
  (void)mkdir(directory, 0700);
  fuzz_unpack(data, size, &archive);
  fuzz_build(&archive, "run");
  if (tutti_view_open(context, directory, &view) == TUTTI_OK)
    use(context, view, rows);
  else
    fuzz_refused(view);
  tutti_view_close(view);
  fuzz_remove(&archive, "run");
  return 0;
}
