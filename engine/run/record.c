/* record.c - sizes and checksums of files: recorded, and compared. */
#include "record_impl.h"

#include "core/base/file_impl.h"
#include "run_files.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum tutti_status tutti_record_add(tutti_context *context, json_t *record, const char *folder, const char *name) {
  enum tutti_status status = TUTTI_OK;
  uint64_t bytes;
  uint32_t checksum;
  char *path = NULL;
  TUTTI_TRY_OUT(context, tutti_format(context, &path, "%s/%s", folder, name));
  TUTTI_TRY_OUT(context, tutti_file_checksum(context, path, &bytes, &checksum));
  json_array_append_new(
      record, json_pack("{s:s, s:I, s:I}", "name", name, "bytes", (json_int_t)bytes, "crc32", (json_int_t)checksum));
out:
  tutti_free(path);
  return status;
}

/* An entry: names lead nowhere but into the folder. */
static enum tutti_status read_entry(tutti_context *context, json_t *entry, const char *folder, const char **name,
                                    json_int_t *bytes, json_int_t *checksum) {
  if (json_unpack(entry, "{s:s, s:I, s:I}", "name", name, "bytes", bytes, "crc32", checksum) != 0)
    return TUTTI_FAIL(context, TUTTI_ERROR_CORRUPT, "catalogue: expected name, bytes and crc32 of a file of %s",
                      folder);
  if (!**name || **name == '.' || strchr(*name, '/'))
    return TUTTI_FAIL(context, TUTTI_ERROR_CORRUPT, "catalogue: '%.1000s' is not the name of a file in its folder %s",
                      *name, folder);
  return TUTTI_OK;
}

static enum tutti_status compare(tutti_context *context, const char *path, json_int_t bytes, json_int_t checksum) {
  uint64_t found_bytes;
  uint32_t found_checksum;
  TUTTI_TRY(context, tutti_run_check_file(context, path));
  TUTTI_TRY(context, tutti_file_checksum(context, path, &found_bytes, &found_checksum));
  if (found_bytes == (uint64_t)bytes && found_checksum == (uint32_t)checksum)
    return TUTTI_OK;
  return TUTTI_FAIL(context, TUTTI_ERROR_CORRUPT,
                    "%s: size or checksum is not that which was recorded (%" PRIu64 " bytes, CRC-32 %08x; recorded "
                    "%" PRIu64 ", %08x)",
                    path, found_bytes, (unsigned)found_checksum, (uint64_t)bytes, (unsigned)checksum);
}

static enum tutti_status check_entry(tutti_context *context, const char *folder, const char *name, json_int_t bytes,
                                     json_int_t checksum) {
  char *path;
  TUTTI_TRY(context, tutti_format(context, &path, "%s/%s", folder, name));
  enum tutti_status status = compare(context, path, bytes, checksum);
  tutti_free(path);
  return status;
}

/* Did the check fail because the file is gone? Then it can be made again, as one that is torn. */
static bool is_absent(enum tutti_status status, const char *folder, const char *name) {
  char path[PATH_MAX];
  return status != TUTTI_OK && (size_t)snprintf(path, sizeof path, "%s/%s", folder, name) < sizeof path &&
         access(path, F_OK) != 0;
}

enum tutti_status tutti_record_check(tutti_context *context, const json_t *record, const char *folder,
                                     const char *name) {
  for (size_t i = 0; i < json_array_size(record); i++) {
    const char *found;
    json_int_t bytes, checksum;
    TUTTI_TRY(context, read_entry(context, json_array_get(record, i), folder, &found, &bytes, &checksum));
    if (strcmp(found, name) != 0)
      continue;
    enum tutti_status status = check_entry(context, folder, name, bytes, checksum);
    if (status != TUTTI_ERROR_CORRUPT && !is_absent(status, folder, name))
      return status;
    return TUTTI_FAIL(context, status, "%s; go on with the run to mend it (--resume), or take the file from a copy",
                      tutti_error_message(context));
  }
  return TUTTI_FAIL(context, TUTTI_ERROR_CORRUPT, "%s/%s: the catalogue has no record of this file", folder, name);
}

/* The record in a trial's report, borrowed from *root; and the trial's folder, which is one. */
static enum tutti_status open_report(tutti_context *context, const char *directory, uint64_t trial, const char *report,
                                     json_t **root, char **folder) {
  *root = report ? json_loads(report, 0, NULL) : NULL;
  *folder = NULL;
  if (!json_is_object(*root))
    return TUTTI_FAIL(context, TUTTI_ERROR_CORRUPT, "catalogue: trial %" PRIu64 " has no report", trial);
  TUTTI_TRY(context, tutti_trial_folder(context, directory, trial, folder));
  return tutti_run_check_folder(context, *folder);
}

enum tutti_status tutti_record_check_trial(tutti_context *context, const char *directory, uint64_t trial,
                                           const char *report, const char *path) {
  enum tutti_status status;
  char *folder;
  json_t *root;
  TUTTI_TRY_OUT(context, open_report(context, directory, trial, report, &root, &folder));
  TUTTI_TRY_OUT(context, tutti_record_check(context, json_object_get(root, "files"), folder, strrchr(path, '/') + 1));
out:
  json_decref(root);
  tutti_free(folder);
  return status;
}

bool tutti_record_has(const char *report, const char *name) {
  json_t *root = report ? json_loads(report, 0, NULL) : NULL;
  const json_t *files = json_object_get(root, "files");
  bool has = false;
  for (size_t i = 0; i < json_array_size(files) && !has; i++) {
    const char *found = json_string_value(json_object_get(json_array_get(files, i), "name"));
    has = found && strcmp(found, name) == 0;
  }
  json_decref(root);
  return has;
}

/* What cannot be read, or differs, is a finding here and not a failure. */
static enum tutti_status note(tutti_context *context, enum tutti_status status, char **why) {
  if (status != TUTTI_ERROR_CORRUPT && status != TUTTI_ERROR_IO)
    return status;
  TUTTI_TRY(context, tutti_strdup(context, tutti_error_message(context), why));
  tutti_error_clear(context);
  return TUTTI_OK;
}

enum tutti_status tutti_record_check_all(tutti_context *context, const json_t *record, const char *folder, char **why) {
  *why = NULL;
  if (record && !json_is_array(record))
    return TUTTI_FAIL(context, TUTTI_ERROR_CORRUPT, "catalogue: expected a record of the files of %s", folder);
  for (size_t i = 0; i < json_array_size(record) && !*why; i++) {
    const char *name;
    json_int_t bytes, checksum;
    TUTTI_TRY(context, read_entry(context, json_array_get(record, i), folder, &name, &bytes, &checksum));
    TUTTI_TRY(context, note(context, check_entry(context, folder, name, bytes, checksum), why));
  }
  return TUTTI_OK;
}

enum tutti_status tutti_record_check_report(tutti_context *context, const char *directory, uint64_t trial,
                                            const char *report, char **why) {
  enum tutti_status status;
  char *folder;
  json_t *root;
  *why = NULL;
  status = open_report(context, directory, trial, report, &root, &folder);
  if (folder)
    status = note(context, status, why);
  TUTTI_TRY_OUT(context, status);
  if (!*why)
    TUTTI_TRY_OUT(context, tutti_record_check_all(context, json_object_get(root, "files"), folder, why));
out:
  json_decref(root);
  tutti_free(folder);
  return status;
}
