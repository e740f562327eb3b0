/* load.c - reads a table by source csv: load FILE [REPEATS]. Prints the seconds of the processor, the least of the
   repeats, the rows and the columns. Plugins are found on TUTTI_PLUGIN_PATH. load_pandas.py runs it beside pandas. */
#include <stdio.h>
#include <stdlib.h>
#include <tutti/hosting.h>
#include <tutti/plugin.h>

#include "bench.h"

static enum tutti_status once(tutti_context *context, const char *path, double *least) {
  enum tutti_status status;
  struct tutti_host_facts facts = {.size = sizeof facts};
  struct tutti_source_setup setup = {.size = sizeof setup};
  const struct tutti_source_request request = {.size = sizeof request, .path = path};
  tutti_host *host = NULL;
  tutti_source *source = NULL;
  tutti_rows *rows = NULL;
  double begin = bench_seconds(CLOCK_PROCESS_CPUTIME_ID);
  TUTTI_TRY_OUT(context, tutti_host_create(context, &facts, &host));
  TUTTI_TRY_OUT(context, tutti_host_put(context, host, "data", TUTTI_KIND_SOURCE, "csv"));
  TUTTI_TRY_OUT(context, tutti_source_create(context, host, "data", &setup, &source));
  TUTTI_TRY_OUT(context, tutti_source_read(context, source, &request, &rows));
  double seconds = bench_seconds(CLOCK_PROCESS_CPUTIME_ID) - begin;
  if (*least == 0 || seconds < *least) {
    *least = seconds;
    printf("%.4f %zu %zu\n", seconds, tutti_rows_count(rows), tutti_rows_columns(rows));
  }
out:
  tutti_rows_destroy(rows);
  tutti_source_destroy(source);
  tutti_host_destroy(host);
  return status;
}

int main(int count, char **arguments) {
  tutti_context *context;
  double least = 0;
  if (count < 2 || tutti_context_create(&context) != TUTTI_OK) {
    (void)fprintf(stderr, "usage: load FILE [REPEATS]\n");
    return 2;
  }
  enum tutti_status status = TUTTI_OK;
  for (int i = 0; i < (count > 2 ? atoi(arguments[2]) : 1) && status == TUTTI_OK; i++)
    status = once(context, arguments[1], &least);
  if (status != TUTTI_OK)
    (void)fprintf(stderr, "%s\n", tutti_error_message(context));
  tutti_context_destroy(context);
  return status != TUTTI_OK;
}
