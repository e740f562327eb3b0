/* test_file.c - files are whole or absent: a full disk leaves the old file and nothing else. */
#include <unistd.h>

static int note_sync(int file);
#define fsync note_sync
#include "core/base/durable.c"
#include "core/base/file.c"
#undef fsync

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>

static tutti_context *context;
static char folder[64], path[128];

static int set_up(void **state) {
  (void)state;
  (void)snprintf(folder, sizeof folder, "/tmp/tutti-file-XXXXXX");
  if (!mkdtemp(folder))
    return -1;
  (void)snprintf(path, sizeof path, "%s/file", folder);
  return tutti_context_create(&context) == TUTTI_OK ? 0 : -1;
}

static int tear_down(void **state) {
  (void)state;
  (void)unlink(path);
  tutti_context_destroy(context);
  return rmdir(folder);
}

/* The paths that were synced, one a line; threads may write to it. */
static char synced[4096];
static pthread_mutex_t noting = PTHREAD_MUTEX_INITIALIZER;
static const char *unsyncable; /* a file at the end of whose path this stands cannot be synced */

static int note_sync(int file) {
  char link[64], name[512];
  (void)snprintf(link, sizeof link, "/proc/self/fd/%d", file);
  ssize_t length = readlink(link, name, sizeof name - 1);
  assert_true(length > 0);
  name[length] = '\0';
  (void)pthread_mutex_lock(&noting);
  (void)snprintf(synced + strlen(synced), sizeof synced - strlen(synced), "%s\n", name);
  (void)pthread_mutex_unlock(&noting);
  if (unsyncable && strstr(name, unsyncable)) {
    errno = EIO;
    return -1;
  }
  return fsync(file);
}

static void assert_holds(const char *expected) {
  char *text;
  size_t bytes;
  assert_int_equal(tutti_file_read(context, path, &text, &bytes), TUTTI_OK);
  assert_int_equal(bytes, strlen(expected));
  assert_string_equal(text, expected);
  tutti_free(text);
}

static void parts_are_joined_and_replace_the_old_file(void **state) {
  (void)state;
  struct tutti_file_part parts[] = {{"one ", 4}, {NULL, 0}, {"two", 3}};
  assert_int_equal(tutti_file_write_text(context, path, "old"), TUTTI_OK);
  assert_int_equal(tutti_file_write(context, path, 3, parts), TUTTI_OK);
  assert_holds("one two");
  uint64_t bytes;
  uint32_t checksum;
  assert_int_equal(tutti_file_write_text(context, path, "123456789"), TUTTI_OK);
  assert_int_equal(tutti_file_checksum(context, path, &bytes, &checksum), TUTTI_OK);
  assert_int_equal(bytes, 9);
  assert_int_equal(checksum, 0xcbf43926); /* the check value of CRC-32 */
}

/* After the power fails, only names are there whose folder was synced after they were made. */
static void what_is_made_is_synced_and_so_is_its_folder(void **state) {
  char made[160], expected[1024];
  (void)state;
  (void)snprintf(made, sizeof made, "%s/a/b", folder);
  *synced = '\0';
  assert_int_equal(tutti_file_make_folder(context, made), TUTTI_OK);
  (void)snprintf(expected, sizeof expected, "%s\n%s/a\n", folder, folder);
  assert_string_equal(synced, expected);
  *synced = '\0'; /* it may have been made by a process that was killed before it synced */
  assert_int_equal(tutti_file_make_folder(context, made), TUTTI_OK);
  (void)snprintf(expected, sizeof expected, "%s/a\n", folder);
  assert_string_equal(synced, expected);
  assert_int_equal(rmdir(made), 0);
  *strrchr(made, '/') = '\0';
  assert_int_equal(rmdir(made), 0);
  *synced = '\0';
  assert_int_equal(tutti_file_write_text(context, path, "new"), TUTTI_OK);
  (void)snprintf(expected, sizeof expected, "%s.tmp\n%s\n", path, folder);
  assert_string_equal(synced, expected);
}

/* What a killed writer left under the temporary name is replaced, and a link there is not followed. */
static void what_stands_in_the_way_goes(void **state) {
  (void)state;
  char temporary[160], other[160];
  (void)snprintf(temporary, sizeof temporary, "%s.tmp", path);
  (void)snprintf(other, sizeof other, "%s/other", folder);
  assert_int_equal(tutti_file_write_text(context, temporary, "half of a te"), TUTTI_OK);
  assert_int_equal(tutti_file_write_text(context, path, "whole"), TUTTI_OK);
  assert_holds("whole");
  assert_int_equal(access(temporary, F_OK), -1);
  assert_int_equal(tutti_file_write_text(context, other, "other"), TUTTI_OK);
  assert_int_equal(symlink(other, temporary), 0);
  assert_int_equal(tutti_file_write_text(context, path, "new"), TUTTI_OK);
  assert_holds("new");
  char *text;
  size_t bytes;
  assert_int_equal(tutti_file_read(context, other, &text, &bytes), TUTTI_OK);
  assert_string_equal(text, "other");
  tutti_free(text);
  assert_int_equal(unlink(other), 0);
}

static void a_full_disk_leaves_the_old_file(void **state) {
  (void)state;
  static char large[4096];
  struct tutti_file_part part = {large, sizeof large};
  struct rlimit before, small;
  assert_int_equal(tutti_file_write_text(context, path, "old"), TUTTI_OK);
  assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
  small = (struct rlimit){1000, before.rlim_max};
  void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
  assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
  enum tutti_status status = tutti_file_write(context, path, 1, &part);
  assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
  (void)signal(SIGXFSZ, handler);
  assert_int_equal(status, TUTTI_ERROR_FULL);
  assert_non_null(strstr(tutti_error_message(context), path));
  assert_non_null(strstr(tutti_error_message(context), "make room"));
  assert_holds("old");
  char temporary[160];
  (void)snprintf(temporary, sizeof temporary, "%s.tmp", path);
  assert_int_equal(access(temporary, F_OK), -1);
}

static void a_full_device_is_told_apart(void **state) {
  (void)state;
  int full = open("/dev/full", O_WRONLY);
  if (full < 0)
    skip();
  assert_int_equal(write_all(full, "x", 1), -1);
  assert_int_equal(errno, ENOSPC);
  assert_int_equal(tutti_file_error(context, "p", "write", errno), TUTTI_ERROR_FULL);
  assert_int_equal(tutti_file_error(context, "p", "write", EDQUOT), TUTTI_ERROR_FULL);
  assert_int_equal(tutti_file_error(context, "p", "write", EACCES), TUTTI_ERROR_IO);
  assert_int_equal(close(full), 0);
}

static void what_is_not_there_or_no_file_is_an_error(void **state) {
  (void)state;
  char *text;
  size_t bytes;
  uint64_t length;
  uint32_t checksum;
  assert_int_equal(tutti_file_read(context, "/nowhere/at/all", &text, &bytes), TUTTI_ERROR_IO);
  assert_null(text);
  assert_int_equal(tutti_file_read(context, folder, &text, &bytes), TUTTI_ERROR_IO);
  assert_int_equal(tutti_file_checksum(context, "/nowhere/at/all", &length, &checksum), TUTTI_ERROR_IO);
  assert_int_equal(tutti_file_checksum(context, folder, &length, &checksum), TUTTI_ERROR_IO);
  assert_int_equal(tutti_file_write_text(context, "/nowhere/at/all", "x"), TUTTI_ERROR_IO);
  assert_int_equal(tutti_file_write_text(context, folder, "x"), TUTTI_ERROR_IO);
  char temporary[160];
  (void)snprintf(temporary, sizeof temporary, "%s.tmp", folder);
  assert_int_equal(access(temporary, F_OK), -1);
}

/* It would not end, or be taken for an empty file. */
static void a_pipe_is_no_file(void **state) {
  (void)state;
  char pipe_path[160], *text;
  size_t bytes;
  (void)snprintf(pipe_path, sizeof pipe_path, "%s/pipe", folder);
  assert_int_equal(mkfifo(pipe_path, 0600), 0);
  assert_int_equal(tutti_file_read(context, pipe_path, &text, &bytes), TUTTI_ERROR_IO);
  assert_int_equal(unlink(pipe_path), 0);
}

static void a_large_file_has_one_checksum(void **state) {
  (void)state;
  static char large[200001];
  uint64_t length;
  uint32_t checksum;
  for (size_t i = 0; i < sizeof large - 1; i++)
    large[i] = (char)('a' + i * i % 23);
  assert_int_equal(tutti_file_write_text(context, path, large), TUTTI_OK);
  assert_int_equal(tutti_file_checksum(context, path, &length, &checksum), TUTTI_OK);
  assert_int_equal(length, sizeof large - 1);
  assert_int_equal(checksum, crc32(0, (const unsigned char *)large, sizeof large - 1));
}

static void folders_are_made_with_those_above(void **state) {
  (void)state;
  char deep[160], middle[160];
  (void)snprintf(middle, sizeof middle, "%s/a", folder);
  (void)snprintf(deep, sizeof deep, "%s/a/b/", folder);
  assert_int_equal(tutti_file_make_folder(context, deep), TUTTI_OK);
  assert_int_equal(tutti_file_make_folder(context, deep), TUTTI_OK);
  assert_int_equal(rmdir(deep), 0);
  assert_int_equal(rmdir(middle), 0);
  assert_int_equal(tutti_file_write_text(context, path, "x"), TUTTI_OK);
  assert_int_equal(tutti_file_make_folder(context, path), TUTTI_ERROR_IO);
}

/* --- groups --- */

enum { FILES = 12 };

static bool is_synced(const char *folder_path, const char *name) {
  char line[256];
  (void)snprintf(line, sizeof line, "%s%s%s\n", folder_path, *name ? "/" : "", name);
  return strstr(synced, line) != NULL;
}

static void write_group(const char *below) {
  struct tutti_file_part part = {"text", 4};
  char name[160];
  tutti_file_group_begin(context);
  assert_int_equal(tutti_file_make_folder(context, below), TUTTI_OK);
  for (int i = 0; i < FILES; i++) {
    (void)snprintf(name, sizeof name, "%s/file%d", below, i);
    assert_int_equal(tutti_file_write(context, name, 1, &part), TUTTI_OK);
  }
}

static void remove_group(const char *below) {
  char name[160];
  for (int i = 0; i < FILES; i++) {
    (void)snprintf(name, sizeof name, "%s/file%d", below, i);
    assert_int_equal(unlink(name), 0);
  }
  assert_int_equal(rmdir(below), 0);
}

/* At once, or in two steps. */
static enum tutti_status end_group(const char *below, bool in_steps) {
  struct tutti_file_syncing *syncing;
  if (!in_steps)
    return tutti_file_group_end(context, below);
  enum tutti_status status = tutti_file_group_leave(context, below, &syncing);
  return status == TUTTI_OK ? tutti_file_syncing_end(context, syncing) : status;
}

static void check_synced_at_its_end(bool in_steps) {
  char below[128], name[16];
  (void)snprintf(below, sizeof below, "%s/group", folder);
  synced[0] = '\0';
  write_group(below);
  assert_string_equal(synced, "");
  assert_int_equal(end_group(below, in_steps), TUTTI_OK);
  for (int i = 0; i < FILES; i++) {
    (void)snprintf(name, sizeof name, "file%d", i);
    assert_true(is_synced(below, name));
  }
  assert_true(is_synced(below, ""));
  assert_true(is_synced(folder, "")); /* where the folder itself has its name */
  remove_group(below);
  synced[0] = '\0';
  assert_int_equal(tutti_file_write_text(context, path, "alone"), TUTTI_OK); /* the group is over */
  assert_true(is_synced(folder, "file.tmp"));
  assert_true(is_synced(folder, ""));
}

static void a_group_is_synced_at_its_end(void **state) {
  (void)state;
  check_synced_at_its_end(false);
  check_synced_at_its_end(true);
}

/* What is left behind gets done without anybody who waits. */
static void a_group_is_synced_by_itself(void **state) {
  struct tutti_file_syncing *syncing;
  char below[128];
  (void)state;
  (void)snprintf(below, sizeof below, "%s/group", folder);
  write_group(below);
  assert_int_equal(tutti_file_group_leave(context, below, &syncing), TUTTI_OK);
  for (int tries = 0; tries < 10000 && !tutti_file_syncing_is_done(syncing); tries++)
    (void)usleep(1000);
  assert_true(tutti_file_syncing_is_done(syncing));
  assert_true(is_synced(below, "file0") && is_synced(below, "file11") && is_synced(folder, ""));
  assert_int_equal(tutti_file_syncing_end(context, syncing), TUTTI_OK);
  assert_int_equal(tutti_file_syncing_end(context, NULL), TUTTI_OK);
  remove_group(below);
}

static void a_group_is_given_up(void **state) {
  char below[128];
  (void)state;
  (void)snprintf(below, sizeof below, "%s/group", folder);
  synced[0] = '\0';
  write_group(below);
  tutti_file_group_drop(context);
  assert_string_equal(synced, "");
  assert_int_equal(tutti_file_write_text(context, path, "alone"), TUTTI_OK);
  assert_true(is_synced(folder, ""));
  remove_group(below);
}

static void check_that_failure_is_told(bool in_steps) {
  char below[128];
  (void)snprintf(below, sizeof below, "%s/group", folder);
  write_group(below);
  unsyncable = "/file7";
  assert_int_equal(end_group(below, in_steps), TUTTI_ERROR_IO);
  assert_non_null(strstr(tutti_error_message(context), "/group/file7: cannot make durable: Input/output error"));
  tutti_error_clear(context);
  unsyncable = "/group";
  assert_int_equal(end_group(below, in_steps), TUTTI_ERROR_IO);
  unsyncable = NULL;
  remove_group(below);
  assert_int_equal(end_group(below, in_steps), TUTTI_ERROR_IO);
  assert_non_null(strstr(tutti_error_message(context), "cannot read the folder"));
}

static void a_sync_that_fails_is_told(void **state) {
  (void)state;
  check_that_failure_is_told(false);
  check_that_failure_is_told(true);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(parts_are_joined_and_replace_the_old_file),
      cmocka_unit_test(what_is_made_is_synced_and_so_is_its_folder),
      cmocka_unit_test(what_stands_in_the_way_goes),
      cmocka_unit_test(a_full_disk_leaves_the_old_file),
      cmocka_unit_test(a_full_device_is_told_apart),
      cmocka_unit_test(what_is_not_there_or_no_file_is_an_error),
      cmocka_unit_test(a_pipe_is_no_file),
      cmocka_unit_test(a_large_file_has_one_checksum),
      cmocka_unit_test(folders_are_made_with_those_above),
      cmocka_unit_test(a_group_is_synced_at_its_end),
      cmocka_unit_test(a_group_is_synced_by_itself),
      cmocka_unit_test(a_group_is_given_up),
      cmocka_unit_test(a_sync_that_fails_is_told),
  };
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
