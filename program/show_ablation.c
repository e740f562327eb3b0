/* show_ablation.c - where an ablation stands, for people. */
#include "program_impl.h"

#include <string.h>

static long long cells_in(const json_t *status, const char *state) {
  return (long long)json_integer_value(json_object_get(json_object_get(status, "counts"), state));
}

/* The cells in a state, with what is to be said of them. */
static void list_cells(const json_t *status, const char *state, FILE *out) {
  size_t index;
  const json_t *cell;
  json_array_foreach(json_object_get(status, "cells"), index, cell) {
    long long trials = (long long)json_integer_value(json_object_get(cell, "trials"));
    long long budget = (long long)json_integer_value(json_object_get(cell, "budget"));
    bool waits = strcmp(state, "waiting") == 0;
    if (strcmp(text_of(cell, "state"), state) != 0 || (waits && trials == 0))
      continue;
    (void)fprintf(out, "%s  %-9s %s", json_object_get(cell, "status") ? "\n" : "", waits ? "stopped" : state,
                  text_of(cell, "name"));
    if (*text_of(cell, "reason"))
      (void)fprintf(out, ": %s", text_of(cell, "reason"));
    else if (budget > 0)
      (void)fprintf(out, ": %lld of %lld %s", trials, budget, tutti_plural((size_t)budget, "trial", "trials"));
    else if (trials > 0)
      (void)fprintf(out, ": %lld %s", trials, tutti_plural((size_t)trials, "trial", "trials"));
    (void)fputc('\n', out);
    if (json_object_get(cell, "status"))
      show_watched(json_object_get(cell, "status"), out);
  }
}

void show_ablation(const json_t *status, FILE *out) {
  long long waiting = cells_in(status, "waiting");
  bool running = json_is_true(json_object_get(status, "running"));
  (void)fprintf(out, "cells       %zu: %lld finished, %lld running, %lld failed, %lld waiting\n",
                json_array_size(json_object_get(status, "cells")), cells_in(status, "finished"),
                cells_in(status, "running"), cells_in(status, "failed"), waiting);
  (void)fprintf(out, "state       %s%s\n", running ? "running" : "not running",
                !running && waiting > 0 ? "; the same tutti ablate with --resume goes on" : "");
  list_cells(status, "running", out);
  list_cells(status, "waiting", out);
  list_cells(status, "failed", out);
}
