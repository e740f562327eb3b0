/* catalogue_copy.c - a copy of a catalogue as it is now, also while it is written. */
#include "catalogue_impl.h"
#include "core/base/file_impl.h"

#include <errno.h>
#include <unistd.h>

enum tutti_status tutti_catalogue_copy(tutti_context *context, tutti_catalogue *catalogue, const char *path) {
  sqlite3 *copy = NULL;
  int result = sqlite3_open_v2(path, &copy, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, NULL);
  sqlite3_backup *backup = result == SQLITE_OK ? sqlite3_backup_init(copy, "main", catalogue->database, "main") : NULL;
  if (backup)
    (void)sqlite3_backup_step(backup, -1);
  if (backup)
    result = sqlite3_backup_finish(backup);
  else if (copy)
    result = sqlite3_errcode(copy);
  if (result == SQLITE_OK) /* one file, which may be read anywhere */
    result = sqlite3_exec(copy, "PRAGMA journal_mode = DELETE", NULL, NULL, NULL);
  bool full = (result & 0xff) == SQLITE_FULL || (copy && sqlite3_system_errno(copy) == ENOSPC);
  enum tutti_status status = TUTTI_OK;
  if (result != SQLITE_OK)
    status = TUTTI_FAIL(context, full ? TUTTI_ERROR_FULL : TUTTI_ERROR_IO, "%s: cannot copy a catalogue here: %s", path,
                        copy ? sqlite3_errmsg(copy) : "out of memory");
  (void)sqlite3_close(copy);
  if (status != TUTTI_OK)
    (void)unlink(path);
  return status;
}
