/* test_npy.c - array files: Tutti writes what NumPy would write, and no input bytes can harm the reader. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tutti/npy.h>
#include <tutti/random.h>
#include <unistd.h>

static tutti_context *context;
static char folder[64], path[128];

static int set_up(void **state) {
  (void)state;
  (void)snprintf(folder, sizeof folder, "/tmp/tutti-npy-XXXXXX");
  if (!mkdtemp(folder))
    return -1;
  (void)snprintf(path, sizeof path, "%s/a.npy", folder);
  return tutti_context_create(&context) == TUTTI_OK ? 0 : -1;
}

static int tear_down(void **state) {
  (void)state;
  (void)unlink(path);
  tutti_context_destroy(context);
  return rmdir(folder);
}

static void write_bytes(const void *bytes, size_t count) {
  FILE *file = fopen(path, "wb");
  assert_non_null(file);
  assert_int_equal(fwrite(bytes, 1, count, file), count);
  assert_int_equal(fclose(file), 0);
}

static size_t read_bytes(unsigned char *bytes, size_t room) {
  FILE *file = fopen(path, "rb");
  assert_non_null(file);
  size_t count = fread(bytes, 1, room, file);
  assert_int_equal(fclose(file), 0);
  return count;
}

/* A file of version `version` with this header and these data. */
static void write_file(int version, const char *header, const void *data, size_t bytes) {
  unsigned char file[1024] = "\x93NUMPY";
  size_t length = strlen(header), at = 8;
  file[6] = (unsigned char)version;
  file[7] = 0;
  file[at++] = (unsigned char)length;
  file[at++] = (unsigned char)(length >> 8);
  if (version > 1)
    at += 2;
  memcpy(file + at, header, length);
  at += length;
  if (bytes)
    memcpy(file + at, data, bytes);
  write_bytes(file, at + bytes);
}

static void refused(const char *part) {
  struct tutti_npy array;
  assert_int_equal(tutti_npy_map(context, path, &array), TUTTI_ERROR_CORRUPT);
  assert_non_null(strstr(tutti_error_message(context), path));
  if (!strstr(tutti_error_message(context), part))
    fail_msg("expected '%s' in '%s'", part, tutti_error_message(context));
  assert_null(array.data);
  tutti_npy_unmap(&array);
}

static void the_bytes_are_numpys(void **state) {
  (void)state;
  /* numpy.save of numpy.arange(6, dtype='f4').reshape(2, 3): 128 bytes of header, 24 of data */
  static const char expected[] = "\x93NUMPY\x01\x00\x76\x00{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }";
  float values[6] = {0, 1, 2, 3, 4, 5};
  unsigned char bytes[256];
  assert_int_equal(tutti_npy_write(context, path, TUTTI_F32, 2, (size_t[]){2, 3}, values), TUTTI_OK);
  assert_int_equal(read_bytes(bytes, sizeof bytes), 152);
  assert_memory_equal(bytes, expected, sizeof expected - 1);
  for (size_t i = sizeof expected - 1; i < 127; i++)
    assert_int_equal(bytes[i], ' ');
  assert_int_equal(bytes[127], '\n');
  assert_memory_equal(bytes + 128, values, sizeof values);
}

static void every_type_and_rank_survives(void **state) {
  (void)state;
  static const size_t bytes_of[] = {[TUTTI_F32] = 4, [TUTTI_F64] = 8, [TUTTI_I32] = 4, [TUTTI_I64] = 8, [TUTTI_U8] = 1};
  static const size_t shape[8] = {1, 2, 1, 3, 1, 2, 1, 2};
  unsigned char data[24 * 8];
  for (size_t i = 0; i < sizeof data; i++)
    data[i] = (unsigned char)(i * 37);
  for (enum tutti_element element = TUTTI_F32; element <= TUTTI_U8; element++)
    for (size_t rank = 0; rank <= 8; rank++) {
      struct tutti_npy array;
      size_t count = 1;
      for (size_t i = 0; i < rank; i++)
        count *= shape[i];
      assert_int_equal(tutti_npy_write(context, path, element, rank, shape, data), TUTTI_OK);
      assert_int_equal(tutti_npy_map(context, path, &array), TUTTI_OK);
      assert_int_equal(array.element, element);
      assert_int_equal(array.rank, rank);
      assert_int_equal(array.count, count);
      assert_memory_equal(array.shape, shape, rank * sizeof shape[0]);
      assert_memory_equal(array.data, data, count * bytes_of[element]);
      assert_int_equal((uintptr_t)array.data % 64, 0);
      tutti_npy_unmap(&array);
    }
  struct tutti_npy empty;
  assert_int_equal(tutti_npy_write(context, path, TUTTI_F32, 2, (size_t[]){0, 3}, NULL), TUTTI_OK);
  assert_int_equal(tutti_npy_map(context, path, &empty), TUTTI_OK);
  assert_int_equal(empty.count, 0);
  tutti_npy_unmap(&empty);
  assert_int_equal(tutti_npy_write(context, path, TUTTI_F32, 9, shape, data), TUTTI_ERROR_USAGE);
  assert_int_equal(tutti_npy_write(context, path, TUTTI_F32, 2, (size_t[]){SIZE_MAX, 2}, data), TUTTI_ERROR_MEMORY);
}

static void other_writers_are_read(void **state) {
  (void)state;
  double values[2] = {1.5, -2.5};
  static const char *const headers[] = {
      "{'descr': '<f8', 'fortran_order': False, 'shape': (2,), }\n",
      "{\"shape\": (2,), \"fortran_order\": False, \"descr\": \"<f8\"}",
      "{ 'fortran_order' : True , 'descr' : '<f8' , 'shape' : ( 2 ) }   \n", /* one dimension has both orders */
  };
  for (int version = 1; version <= 3; version++)
    for (size_t i = 0; i < 3; i++) {
      struct tutti_npy array;
      write_file(version, headers[i], values, sizeof values);
      assert_int_equal(tutti_npy_map(context, path, &array), TUTTI_OK);
      assert_int_equal(array.rank, 1);
      assert_memory_equal(array.data, values, sizeof values);
      assert_int_equal((uintptr_t)array.data % sizeof(double), 0); /* misaligned files too */
      tutti_npy_unmap(&array);
    }
}

/* Somebody may shorten a file of theirs while it is used; a map of it would end the process then. */
static void what_users_have_may_change(void **state) {
  (void)state;
  enum { COUNT = 64 };
  static double values[COUNT];
  struct tutti_npy array;
  for (size_t i = 0; i < COUNT; i++)
    values[i] = (double)i;
  static const char *const headers[] = {"{'descr': '<f8', 'fortran_order': False, 'shape': (64,), }   \n",
                                        "{'descr': '<f8', 'fortran_order': False, 'shape': (64,), }\n"};
  for (size_t i = 0; i < 2; i++) { /* of these, one is misaligned */
    write_file(1, headers[i], values, sizeof values);
    assert_int_equal(tutti_npy_read_users(context, path, &array), TUTTI_OK);
    assert_int_equal(truncate(path, 0), 0);
    assert_int_equal(array.count, COUNT);
    assert_memory_equal(array.data, values, sizeof values);
    tutti_npy_unmap(&array);
    assert_int_equal(tutti_npy_read_users(context, path, &array), TUTTI_ERROR_USAGE);
    assert_null(array.data);
    refused("empty");
  }
}

static void what_is_wrong_is_said(void **state) {
  (void)state;
  double values[4] = {0};
  struct tutti_npy array;
  assert_int_equal(tutti_npy_map(context, path, &array), TUTTI_ERROR_IO);
  assert_int_equal(tutti_npy_map(context, folder, &array), TUTTI_ERROR_IO);
  write_bytes("", 0);
  refused("empty");
  write_bytes("x,y\n1,2\n3,4\n", 12);
  refused("other bytes");
  write_bytes("\x93NUMPY\x04\x00\x00\x00\x00\x00", 12);
  refused("found 4");
  write_bytes("\x93NUMPY\x01\x00\xff\xff{", 11);
  refused("longer than the file");
  write_bytes("\x93NUMPY\x02\x00\xff\xff", 10);
  refused("longer than the file");
  write_file(1, "{'descr': '<f8', 'fortran_order': True, 'shape': (2, 2), }", values, 32);
  refused("Fortran");
  write_file(1, "{'descr': '>f8', 'fortran_order': False, 'shape': (2, 2), }", values, 32);
  refused(">f8");
  write_file(1, "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 2), }", values, 31);
  refused("31 bytes follow");
  write_file(1, "{'descr': '<f8', 'fortran_order': False, 'shape': (4294967296, 4294967296, 4), }", values, 32);
  refused("breaks off");
  write_file(1, "{'descr': '<f8', 'fortran_order': False, 'shape': (2305843009213693952,), }", values, 32);
  refused("promises");
  write_file(1, "{'descr': '<f8', 'fortran_order': False, 'shape': (99999999999999999999999,), }", values, 32);
  refused("breaks off");
  write_file(1, "{'descr': '<f8', 'fortran_order': False, 'shape': (1,1,1,1,1,1,1,1,4), }", values, 32);
  refused("breaks off");
  write_file(1, "{'descr': '<f8', 'shape': (2, 2), }", values, 32);
  refused("fortran_order");
  write_file(1, "{'descr': [('x', '<f8')], 'fortran_order': False, 'shape': (4,), }", values, 32);
  refused("breaks off");
  write_file(1, "{'descr': '<f8', 'fortran_order': False, 'shape': (4,), } x", values, 32);
  refused("breaks off");
  write_file(1, "{'descr': '<f8', 'fortran_order': False, 'shape': (4,), 'more': 1}", values, 32);
  refused("breaks off");
}

static void mutated_bytes_do_no_harm(void **state) {
  (void)state;
  struct tutti_random random;
  float values[6] = {0, 1, 2, 3, 4, 5};
  unsigned char original[256], bytes[256];
  assert_int_equal(tutti_npy_write(context, path, TUTTI_F32, 2, (size_t[]){2, 3}, values), TUTTI_OK);
  size_t count = read_bytes(original, sizeof original), read = 0;
  tutti_random_init(&random, 1, "mutations", 0);
  for (int i = 0; i < 2000; i++) {
    struct tutti_npy array;
    memcpy(bytes, original, count);
    for (uint64_t m = 1 + tutti_random_below(&random, 4); m > 0; m--)
      bytes[tutti_random_below(&random, tutti_random_below(&random, 2) ? 80 : count)] =
          (unsigned char)tutti_random_u32(&random);
    write_bytes(bytes, tutti_random_below(&random, 4) ? count : tutti_random_below(&random, count + 1));
    enum tutti_status status = tutti_npy_map(context, path, &array);
    assert_true(status == TUTTI_OK || status == TUTTI_ERROR_CORRUPT);
    if (status == TUTTI_OK) {
      size_t size = array.element == TUTTI_U8 ? 1 : array.element == TUTTI_F64 || array.element == TUTTI_I64 ? 8 : 4;
      unsigned char sum = 0;
      for (size_t b = 0; b < array.count * size; b++)
        sum = (unsigned char)(sum + ((const unsigned char *)array.data)[b]);
      (void)sum;
      read++;
    }
    tutti_npy_unmap(&array);
  }
  assert_true(read > 20); /* mutations of data alone are still arrays */
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(the_bytes_are_numpys, set_up, tear_down),
      cmocka_unit_test_setup_teardown(every_type_and_rank_survives, set_up, tear_down),
      cmocka_unit_test_setup_teardown(other_writers_are_read, set_up, tear_down),
      cmocka_unit_test_setup_teardown(what_users_have_may_change, set_up, tear_down),
      cmocka_unit_test_setup_teardown(what_is_wrong_is_said, set_up, tear_down),
      cmocka_unit_test_setup_teardown(mutated_bytes_do_no_harm, set_up, tear_down),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
