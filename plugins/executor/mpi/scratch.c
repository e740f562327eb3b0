/* scratch.c - an agent's own folder. What lies in it need not outlive a power failure. */
#include "scratch.h"

#include "sweep.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static enum tutti_status cannot(tutti_context *context, const char *path, const char *doing, int error) {
  return TUTTI_FAIL(context, error == ENOSPC || error == EDQUOT ? TUTTI_ERROR_FULL : TUTTI_ERROR_IO,
                    "%s: cannot %s: %s (executor.scratch chooses the folder)", path, doing, strerror(error));
}

/* --- the folder --- */

/* What the folders of this host's agents are called: nodes may share the folder above, but locks perhaps not. */
static enum tutti_status own_prefix(tutti_context *context, char **prefix) {
  char host[HOST_NAME_MAX + 1] = "";
  if (gethostname(host, sizeof host - 1) != 0)
    (void)strcpy(host, "unknown");
  for (char *slash = host; (slash = strchr(slash, '/'));)
    *slash = '-';
  return tutti_format(context, prefix, "tutti-agent-%s-", host);
}

/* The lock gets its name when it is held, so that nobody takes the folder for one that was left behind. */
static enum tutti_status take_lock(tutti_context *context, struct scratch *scratch) {
  enum tutti_status status = TUTTI_OK;
  char *fresh = NULL, *name = NULL;
  TUTTI_TRY_OUT(context, tutti_format(context, &fresh, "%s/" SWEEP_LOCK ".new", scratch->path));
  TUTTI_TRY_OUT(context, tutti_format(context, &name, "%s/" SWEEP_LOCK, scratch->path));
  scratch->lock = open(fresh, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (scratch->lock < 0 || flock(scratch->lock, LOCK_EX | LOCK_NB) != 0 || rename(fresh, name) != 0)
    status = cannot(context, name, "lock", errno);
out:
  tutti_free(fresh);
  tutti_free(name);
  return status;
}

enum tutti_status scratch_make(tutti_context *context, const char *parent, struct scratch *scratch) {
  const char *temporary = getenv("TMPDIR");
  enum tutti_status status = TUTTI_OK;
  char *prefix;
  if (!*parent)
    parent = temporary && *temporary ? temporary : "/tmp";
  *scratch = (struct scratch){.lock = -1};
  TUTTI_TRY(context, own_prefix(context, &prefix));
  sweep_behind(parent, prefix);
  status = tutti_format(context, &scratch->path, "%s/%sXXXXXX", parent, prefix);
  tutti_free(prefix);
  TUTTI_TRY(context, status);
  if (mkdtemp(scratch->path)) {
    status = take_lock(context, scratch);
    if (status != TUTTI_OK)
      scratch_remove(scratch);
    return status;
  }
  status = cannot(context, scratch->path, "make a folder", errno);
  tutti_free(scratch->path);
  scratch->path = NULL;
  return status;
}

void scratch_remove(struct scratch *scratch) {
  if (!scratch->path)
    return;
  sweep_folder(scratch->path);
  if (scratch->lock >= 0)
    (void)close(scratch->lock);
  tutti_free(scratch->path);
  *scratch = (struct scratch){.lock = -1};
}

void scratch_forget(tutti_context *context, const struct scratch *scratch, const char *folder) {
  char *path;
  if (tutti_format(context, &path, "%s/%s", scratch->path, folder) != TUTTI_OK) {
    tutti_error_clear(context);
    return;
  }
  sweep_folder(path);
  tutti_free(path);
}

/* --- files --- */

static bool is_inside(const char *name) {
  if (*name == '/' || !*name)
    return false;
  for (const char *part = name; part; part = strchr(part, '/')) {
    part += *part == '/';
    if (strncmp(part, "..", 2) == 0 && (part[2] == '/' || !part[2]))
      return false;
  }
  return true;
}

/* The folders above a path that begins with that of the scratch folder. */
static enum tutti_status make_above(tutti_context *context, const struct scratch *scratch, char *path) {
  for (char *slash = path + strlen(scratch->path) + 1; (slash = strchr(slash, '/')); slash++) {
    *slash = '\0';
    int error = mkdir(path, 0700) == 0 || errno == EEXIST ? 0 : errno;
    enum tutti_status status = error ? cannot(context, path, "make a folder", error) : TUTTI_OK;
    *slash = '/';
    if (status != TUTTI_OK)
      return status;
  }
  return TUTTI_OK;
}

static int write_piece(const char *path, const struct freight_piece *piece) {
  int how = piece->head.offset == 0 ? O_CREAT | O_EXCL : 0, error = 0;
  int file = open(path, O_WRONLY | O_NOFOLLOW | O_CLOEXEC | how, 0600);
  if (file < 0)
    return errno;
  for (size_t written = 0; written < piece->count && !error;) {
    ssize_t n = pwrite(file, piece->bytes + written, piece->count - written, (off_t)(piece->head.offset + written));
    if (n < 0 && errno != EINTR)
      error = errno;
    written += n > 0 ? (size_t)n : 0;
  }
  if (close(file) != 0 && !error)
    error = errno;
  return error;
}

enum tutti_status scratch_store(tutti_context *context, const struct scratch *scratch,
                                const struct freight_piece *piece, bool *whole) {
  enum tutti_status status = TUTTI_OK;
  char *path;
  *whole = piece->head.offset + piece->count == piece->head.total;
  if (!is_inside(piece->name))
    return TUTTI_FAIL(context, TUTTI_ERROR_CORRUPT, "'%s' is no name of a file that workers read", piece->name);
  TUTTI_TRY(context, tutti_format(context, &path, "%s/%s", scratch->path, piece->name));
  status = make_above(context, scratch, path);
  int error = status == TUTTI_OK ? write_piece(path, piece) : 0;
  if (error)
    status = cannot(context, path, "write", error);
  tutti_free(path);
  return status;
}

enum tutti_status scratch_collect(tutti_context *context, const struct scratch *scratch, const char *folder,
                                  struct freight *freight) {
  enum tutti_status status = TUTTI_OK;
  const struct dirent *entry;
  DIR *opened = NULL;
  char *path = NULL, *file = NULL;
  TUTTI_TRY_OUT(context, tutti_format(context, &path, "%s/%s", scratch->path, folder));
  opened = opendir(path);
  if (!opened && errno != ENOENT)
    status = cannot(context, path, "read the folder", errno);
  while (opened && (entry = readdir(opened))) {
    struct stat facts;
    tutti_free(file);
    file = NULL;
    TUTTI_TRY_OUT(context, tutti_format(context, &file, "%s/%s", path, entry->d_name));
    if (lstat(file, &facts) == 0 && S_ISREG(facts.st_mode))
      TUTTI_TRY_OUT(context, freight_add(context, freight, entry->d_name, file, NULL));
  }
out:
  if (opened)
    (void)closedir(opened);
  tutti_free(file);
  tutti_free(path);
  return status;
}
