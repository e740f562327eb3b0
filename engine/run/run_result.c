/* run_result.c - the two files with a run's result. summary.json has a checksum of itself and a copy of the ensemble,
   so that a changed file of the two is noticed. */
#include "core/base/json_impl.h"
#include "core/plugin/split_impl.h"
#include "run_impl.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char key[] = "checksum", ensemble_key[] = "ensemble";

/* The checksum of a summary, which does not count itself. */
static enum tutti_status measure(tutti_context *context, const json_t *summary, char checksum[17]) {
  json_t *rest = json_copy((json_t *)summary);
  if (rest)
    (void)json_object_del(rest, key);
  char *text = rest ? json_dumps(rest, JSON_COMPACT | JSON_SORT_KEYS | JSON_REAL_PRECISION(17)) : NULL;
  json_decref(rest);
  if (!text)
    return TUTTI_FAIL(context, TUTTI_ERROR_MEMORY, "out of memory for the checksum of a summary");
  (void)snprintf(checksum, 17, "%016" PRIx64, tutti_hash(TUTTI_HASH_BEGIN, text, strlen(text)));
  free(text);
  return TUTTI_OK;
}

/* Add the checksum to the text of a summary. */
static enum tutti_status seal(tutti_context *context, char **summary) {
  enum tutti_status status;
  char checksum[17], *sealed = NULL;
  json_t *root = json_loads(*summary, 0, NULL);
  TUTTI_TRY_OUT(context, measure(context, root, checksum));
  json_object_set_new(root, key, json_string(checksum));
  TUTTI_TRY_OUT(context, tutti_json_document(context, json_incref(root), &sealed));
  tutti_free(*summary);
  *summary = sealed;
out:
  json_decref(root);
  return status;
}

enum tutti_status tutti_run_write_result(tutti_context *context, const char *directory, const char *ensemble,
                                         char **summary) {
  TUTTI_TRY(context, seal(context, summary));
  if (ensemble)
    TUTTI_TRY(context, tutti_run_file_write(context, directory, TUTTI_RUN_FILE_ENSEMBLE, ensemble));
  return tutti_run_file_write(context, directory, TUTTI_RUN_FILE_SUMMARY, *summary);
}

static enum tutti_status refuse(tutti_context *context, const char *directory, enum tutti_run_file file,
                                const char *what) {
  return TUTTI_FAIL(context, TUTTI_ERROR_CORRUPT,
                    "%s/%s: %s; go on with the run to write it again (--resume), or take both %s and %s from a copy",
                    directory, tutti_run_file_name(file), what, tutti_run_file_name(TUTTI_RUN_FILE_ENSEMBLE),
                    tutti_run_file_name(TUTTI_RUN_FILE_SUMMARY));
}

static enum tutti_status check_seal(tutti_context *context, const char *directory, const json_t *summary) {
  char checksum[17];
  const char *recorded = json_string_value(json_object_get(summary, key));
  if (!json_is_object(summary) || !recorded)
    return refuse(context, directory, TUTTI_RUN_FILE_SUMMARY, "expected a summary with its checksum");
  TUTTI_TRY(context, measure(context, summary, checksum));
  return strcmp(checksum, recorded) == 0
             ? TUTTI_OK
             : refuse(context, directory, TUTTI_RUN_FILE_SUMMARY, "its checksum is not that which was recorded");
}

enum tutti_status tutti_run_read_summary(tutti_context *context, const char *directory, json_t **summary) {
  char *text;
  *summary = NULL;
  TUTTI_TRY(context, tutti_run_file_read(context, directory, TUTTI_RUN_FILE_SUMMARY, &text));
  if (!text)
    return TUTTI_OK;
  *summary = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
  tutti_free(text);
  enum tutti_status status = check_seal(context, directory, *summary);
  if (status != TUTTI_OK) {
    json_decref(*summary);
    *summary = NULL;
  }
  return status;
}

enum tutti_status tutti_run_read_ensemble(tutti_context *context, const char *directory, char **text) {
  enum tutti_status status = TUTTI_OK;
  json_t *summary = NULL, *ensemble = NULL;
  TUTTI_TRY_OUT(context, tutti_run_file_read(context, directory, TUTTI_RUN_FILE_ENSEMBLE, text));
  if (!*text)
    goto out;
  TUTTI_TRY_OUT(context, tutti_run_read_summary(context, directory, &summary));
  ensemble = json_loads(*text, JSON_REJECT_DUPLICATES, NULL);
  if (!ensemble || (summary && !json_equal(ensemble, json_object_get(summary, ensemble_key))))
    status = refuse(context, directory, TUTTI_RUN_FILE_ENSEMBLE,
                    ensemble ? "this is not the ensemble of the summary" : "expected an ensemble in JSON");
out:
  json_decref(summary);
  json_decref(ensemble);
  if (status != TUTTI_OK) {
    tutti_free(*text);
    *text = NULL;
  }
  return status;
}
