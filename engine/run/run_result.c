/* run_result.c - the two files with a run's result. summary.json has a checksum of itself and a copy of the ensemble,
   so that a changed file of the two is noticed. Both are replaced at one instant, when the new summary gets its name:
   until then the old ensemble is the summary's, and from then on the new one, whatever its name. */
#include "core/base/file_impl.h"
#include "core/base/json_impl.h"
#include "core/plugin/split_impl.h"
#include "run_impl.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char key[] = "checksum", ensemble_key[] = "ensemble";

/* The checksum of a summary, which does not count itself. */
static enum tutti_status checksum_of(tutti_context *context, const json_t *summary, char checksum[17]) {
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
  TUTTI_TRY_OUT(context, checksum_of(context, root, checksum));
  json_object_set_new(root, key, json_string(checksum));
  TUTTI_TRY_OUT(context, tutti_json_document(context, json_incref(root), &sealed));
  tutti_free(*summary);
  *summary = sealed;
out:
  json_decref(root);
  return status;
}

/* Let the ensemble that was written last be the run's. */
static enum tutti_status replace_ensemble(tutti_context *context, const char *directory) {
  enum tutti_status status;
  char *next = NULL, *path = NULL;
  TUTTI_TRY_OUT(context, tutti_run_file_path(context, directory, TUTTI_RUN_FILE_NEXT, &next));
  TUTTI_TRY_OUT(context, tutti_run_file_path(context, directory, TUTTI_RUN_FILE_ENSEMBLE, &path));
  TUTTI_TRY_OUT(context, tutti_file_rename(context, next, path));
out:
  tutti_free(next);
  tutti_free(path);
  return status;
}

enum tutti_status tutti_run_write_result(tutti_context *context, const char *directory, const char *ensemble,
                                         char **summary) {
  TUTTI_TRY(context, seal(context, summary));
  if (ensemble)
    TUTTI_TRY(context, tutti_run_file_write(context, directory, TUTTI_RUN_FILE_NEXT, ensemble));
  TUTTI_TRY(context, tutti_run_file_write(context, directory, TUTTI_RUN_FILE_SUMMARY, *summary));
  return ensemble ? replace_ensemble(context, directory) : TUTTI_OK;
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
  TUTTI_TRY(context, checksum_of(context, summary, checksum));
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

/* An ensemble from a file; *text is NULL if there is no such file, or if it is not the ensemble of the summary (NULL:
   any is). *found: is there a file, and does it hold JSON? */
static enum tutti_status read_one(tutti_context *context, const char *directory, enum tutti_run_file file,
                                  const json_t *summary, bool *found, bool *json, char **text) {
  TUTTI_TRY(context, tutti_run_file_read(context, directory, file, text));
  json_t *ensemble = *text ? json_loads(*text, JSON_REJECT_DUPLICATES, NULL) : NULL;
  *found = *text != NULL;
  *json = ensemble != NULL;
  if (!ensemble || (summary && !json_equal(ensemble, json_object_get(summary, ensemble_key)))) {
    tutti_free(*text);
    *text = NULL;
  }
  json_decref(ensemble);
  return TUTTI_OK;
}

/* The ensemble of the summary; if it is being replaced, or was when the writer was killed, it still has the name of the
   next one. */
static enum tutti_status read_current(tutti_context *context, const char *directory, bool *found, bool *json,
                                      char **text) {
  enum tutti_status status;
  bool next, next_json;
  json_t *summary = NULL;
  *text = NULL;
  TUTTI_TRY_OUT(context, tutti_run_read_summary(context, directory, &summary));
  if (!summary && tutti_run_file_is_there(directory, TUTTI_RUN_FILE_ENSEMBLE))
    TUTTI_TRY_OUT(
        context, refuse(context, directory, TUTTI_RUN_FILE_SUMMARY, "it is gone, and with it the ensemble's checksum"));
  TUTTI_TRY_OUT(context, read_one(context, directory, TUTTI_RUN_FILE_ENSEMBLE, summary, found, json, text));
  if (!*text && summary)
    TUTTI_TRY_OUT(context, read_one(context, directory, TUTTI_RUN_FILE_NEXT, summary, &next, &next_json, text));
out:
  json_decref(summary);
  return status;
}

enum tutti_status tutti_run_read_ensemble(tutti_context *context, const char *directory, char **text) {
  bool found, json;
  TUTTI_TRY(context, read_current(context, directory, &found, &json, text));
  if (!*text && found) /* or has just been replaced, between the reading of two files */
    TUTTI_TRY(context, read_current(context, directory, &found, &json, text));
  if (*text || !found)
    return TUTTI_OK;
  return refuse(context, directory, TUTTI_RUN_FILE_ENSEMBLE,
                json ? "this is not the ensemble of the summary" : "expected an ensemble in JSON");
}
