/* together.c - several runs in one figure. */
#include "together.h"

#include "engine/study/compare_impl.h"
#include "engine/study/path_labels.h"

#include <math.h>
#include <string.h>

/* --- which runs --------------------------------------------------------------------------------------------------- */

enum tutti_status tutti_report_find(tutti_context *context, size_t count, const char *const *directories,
                                    struct report_runs *runs) {
  *runs = (struct report_runs){.given = count, .directories = directories};
  if (count == 0)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "expected a run directory, found none");
  TUTTI_TRY(context, tutti_compare_find(context, count, directories, &runs->count, &runs->paths));
  TUTTI_TRY(context, tutti_alloc(context, runs->count, sizeof *runs->labels, &runs->labels));
  return tutti_path_labels(context, runs->count, (const char *const *)runs->paths, runs->labels);
}

void tutti_report_forget(struct report_runs *runs) {
  for (size_t i = 0; i < runs->count; i++) {
    tutti_free(runs->paths[i]);
    if (runs->labels)
      tutti_free(runs->labels[i]);
  }
  tutti_free(runs->paths);
  tutti_free(runs->labels);
  *runs = (struct report_runs){.count = 0};
}

enum tutti_status tutti_report_together(tutti_context *context, const struct report_runs *runs,
                                        struct report_page *page) {
  (void)context;
  (void)runs;
  (void)page;
  return TUTTI_OK;
}
