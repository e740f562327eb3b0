/* test_reading.c - files of data: what may be read, how much of it, and that memory grows with what is there. */
#include "plugins/shared/reading/gz.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zlib.h>

static tutti_context *context;
static char folder[64], path[128];

static int set_up(void **state) {
  (void)state;
  (void)snprintf(folder, sizeof folder, "/tmp/tutti-reading-XXXXXX");
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

/* A file of `bytes` zeros, which shrink to a thousandth when they are compressed. */
static void put_zeros(size_t bytes, bool zipped) {
  static const char zeros[1 << 16];
  gzFile file = gzopen(path, zipped ? "wb" : "wbT");
  assert_non_null(file);
  for (size_t done = 0; done < bytes; done += sizeof zeros)
    assert_int_equal(gzwrite(file, zeros, sizeof zeros), sizeof zeros);
  assert_int_equal(gzclose(file), Z_OK);
}

static void assert_refused(const char *text) {
  if (!strstr(tutti_error_message(context), text))
    fail_msg("expected \"%s\" in: %s", text, tutti_error_message(context));
  tutti_error_clear(context);
}

/* A header can promise 4 GiB: the buffer has at most four times what the file holds, or its first size. */
static void memory_grows_with_what_is_read(void **state) {
  (void)state;
  size_t lengths[] = {1 << 16, 48 << 20};
  for (size_t i = 0; i < 2; i++) {
    struct reading_gz gz;
    unsigned char *buffer = NULL;
    size_t room = 0, got;
    put_zeros(lengths[i], true);
    assert_int_equal(reading_gz_open(context, path, &gz), TUTTI_OK);
    assert_int_equal(reading_gz_read_growing(context, &gz, (size_t)1 << 32, &buffer, &room, &got), TUTTI_OK);
    assert_int_equal(got, lengths[i]);
    assert_true(room <= (got > 1 << 22 ? 4 * got : 1 << 22));
    assert_int_equal(reading_gz_close(context, &gz, TUTTI_OK), TUTTI_OK);
    tutti_free(buffer);
  }
}

/* What is read in growing steps are the same bytes, with none lost between the steps; and again from where it ended. */
static void growing_steps_lose_nothing(void **state) {
  (void)state;
  enum { COUNT = 5 << 20, HEAD = COUNT - 1000 };
  unsigned char *bytes = malloc(COUNT), *buffer = NULL;
  size_t room = 0, got;
  struct reading_gz gz;
  assert_non_null(bytes);
  for (size_t i = 0; i < COUNT; i++)
    bytes[i] = (unsigned char)(i * 2654435761u >> 24);
  FILE *file = fopen(path, "wb");
  assert_non_null(file);
  assert_int_equal(fwrite(bytes, 1, COUNT, file), COUNT);
  assert_int_equal(fclose(file), 0);
  assert_int_equal(reading_gz_open(context, path, &gz), TUTTI_OK);
  assert_int_equal(reading_gz_read_growing(context, &gz, HEAD, &buffer, &room, &got), TUTTI_OK);
  assert_int_equal(got, HEAD);
  assert_memory_equal(buffer, bytes, HEAD);
  assert_int_equal(reading_gz_read_growing(context, &gz, HEAD, &buffer, &room, &got), TUTTI_OK);
  assert_int_equal(got, COUNT - HEAD);
  assert_memory_equal(buffer, bytes + HEAD, COUNT - HEAD);
  assert_int_equal(reading_gz_close(context, &gz, TUTTI_OK), TUTTI_OK);
  tutti_free(buffer);
  free(bytes);
}

/* Exactly the limit is fine, a byte more is not, whether the file is compressed or not. */
static void what_expands_beyond_memory_is_refused(void **state) {
  (void)state;
  static char chunk[1 << 16];
  for (int zipped = 0; zipped < 2; zipped++) {
    struct reading_gz gz;
    size_t got = 1;
    put_zeros(1 << 20, zipped);
    assert_int_equal(reading_gz_open(context, path, &gz), TUTTI_OK);
    assert_true(gz.limit >= 1 << 26); /* a machine that runs this has more than 128 MiB */
    gz.limit = 1 << 20;
    while (got)
      assert_int_equal(reading_gz_read(context, &gz, sizeof chunk, chunk, &got), TUTTI_OK);
    assert_int_equal(reading_gz_close(context, &gz, TUTTI_OK), TUTTI_OK);

    assert_int_equal(reading_gz_open(context, path, &gz), TUTTI_OK);
    gz.limit = (1 << 20) - 1;
    gz.limit_of = "the limit";
    enum tutti_status status = TUTTI_OK;
    for (got = 1; status == TUTTI_OK && got;)
      status = reading_gz_read(context, &gz, sizeof chunk, chunk, &got);
    assert_int_equal(reading_gz_close(context, &gz, status), TUTTI_ERROR_USAGE);
    assert_refused(zipped ? "fit into 0 MiB (expanded), half of the limit, and it goes on"
                          : "expected data that fit into 0 MiB, half of the limit, found 1 MiB");
  }
}

static void folders_and_devices_are_refused(void **state) {
  (void)state;
  struct reading_gz gz;
  assert_int_equal(reading_gz_open(context, folder, &gz), TUTTI_ERROR_USAGE);
  assert_refused("found a folder");
  assert_int_equal(reading_gz_open(context, "/dev/zero", &gz), TUTTI_ERROR_USAGE);
  assert_refused("/dev/zero: expected a file, found a device");
  assert_int_equal(reading_gz_open(context, path, &gz), TUTTI_ERROR_USAGE);
  assert_refused("cannot open: No such file");
}

/* A pipe that ends is read like a file. */
static void pipes_are_read(void **state) {
  (void)state;
  struct reading_gz gz;
  char text[8];
  size_t got;
  assert_int_equal(mkfifo(path, 0600), 0);
  pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) {
    FILE *file = fopen(path, "wb");
    _exit(!file || fputs("1,2\n", file) < 0 || fclose(file) != 0);
  }
  assert_int_equal(reading_gz_open(context, path, &gz), TUTTI_OK);
  assert_int_equal(reading_gz_read(context, &gz, sizeof text, text, &got), TUTTI_OK);
  assert_int_equal(got, 4);
  assert_memory_equal(text, "1,2\n", 4);
  assert_int_equal(reading_gz_close(context, &gz, TUTTI_OK), TUTTI_OK);
  int code;
  assert_int_equal(waitpid(child, &code, 0), child);
  assert_int_equal(code, 0);
}

/* Where memory ends while a file is read, whatever reads it: the file, its size, if it is known, and all memory. */
static void memory_that_ends_is_explained(void **state) {
  (void)state;
  for (int zipped = 0; zipped < 2; zipped++) {
    struct reading_gz gz;
    char chunk[16], text[512];
    const char *of;
    size_t got;
    put_zeros(3 << 20, zipped);
    assert_int_equal(reading_gz_open(context, path, &gz), TUTTI_OK);
    assert_int_equal(reading_gz_read(context, &gz, sizeof chunk, chunk, &got), TUTTI_OK);
    enum tutti_status status = TUTTI_FAIL(context, TUTTI_ERROR_MEMORY, "cannot allocate 7 MiB");
    assert_int_equal(reading_gz_close(context, &gz, status), TUTTI_ERROR_MEMORY);
    const size_t half = tutti_memory_for_data_of(context, &of);
    (void)snprintf(text, sizeof text,
                   "%s: its %s do not fit beside all else into %zu MiB, %s; take a part of the rows: cannot allocate",
                   path, zipped ? "data" : "3 MiB", 2 * half >> 20, of);
    assert_refused(text);
    /* Another error stays as it is. */
    assert_int_equal(reading_gz_open(context, path, &gz), TUTTI_OK);
    status = TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "a word");
    assert_int_equal(reading_gz_close(context, &gz, status), TUTTI_ERROR_USAGE);
    assert_string_equal(tutti_error_message(context), "a word");
    tutti_error_clear(context);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(memory_grows_with_what_is_read, set_up, tear_down),
      cmocka_unit_test_setup_teardown(growing_steps_lose_nothing, set_up, tear_down),
      cmocka_unit_test_setup_teardown(what_expands_beyond_memory_is_refused, set_up, tear_down),
      cmocka_unit_test_setup_teardown(memory_that_ends_is_explained, set_up, tear_down),
      cmocka_unit_test_setup_teardown(folders_and_devices_are_refused, set_up, tear_down),
      cmocka_unit_test_setup_teardown(pipes_are_read, set_up, tear_down),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
