/* test_tensors.c - tensors and their files: round trips to the bit; cut, changed and lying files are refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tutti/safetensors.h>
#include <unistd.h>

static tutti_context *context;
static char folder[64], path[128];

static int set_up(void **state) {
  (void)state;
  (void)snprintf(folder, sizeof folder, "/tmp/tutti-tensors-XXXXXX");
  if (!mkdtemp(folder))
    return -1;
  (void)snprintf(path, sizeof path, "%s/file.safetensors", folder);
  return tutti_context_create(&context) == TUTTI_OK ? 0 : -1;
}

static int tear_down(void **state) {
  (void)state;
  (void)unlink(path);
  tutti_context_destroy(context);
  return rmdir(folder);
}

static tutti_tensors *sample_tensors(void) {
  tutti_tensors *tensors;
  float *weights;
  double *statistics;
  uint8_t *flags;
  void *nothing;
  int64_t *scalar;
  assert_int_equal(tutti_tensors_create(context, &tensors), TUTTI_OK);
  assert_int_equal(tutti_tensors_add(context, tensors, "flags", TUTTI_U8, 1, (size_t[]){3}, &flags), TUTTI_OK);
  assert_int_equal(tutti_tensors_add(context, tensors, "a/weight", TUTTI_F32, 2, (size_t[]){2, 3}, &weights), TUTTI_OK);
  assert_int_equal(tutti_tensors_add(context, tensors, "nothing", TUTTI_I32, 2, (size_t[]){4, 0}, &nothing), TUTTI_OK);
  assert_int_equal(tutti_tensors_add(context, tensors, "\"\xc3\xa9\"", TUTTI_F64, 1, (size_t[]){2}, &statistics),
                   TUTTI_OK);
  assert_int_equal(tutti_tensors_add(context, tensors, "scalar", TUTTI_I64, 0, NULL, &scalar), TUTTI_OK);
  for (int i = 0; i < 6; i++) {
    assert_true(weights[i] == 0);
    weights[i] = (float)i / 3;
  }
  statistics[0] = 1e-300;
  statistics[1] = -1.0 / 3;
  flags[2] = 255;
  *scalar = INT64_MIN;
  assert_int_equal(tutti_tensors_set_note(context, tensors, "epoch", "11"), TUTTI_OK);
  assert_int_equal(tutti_tensors_set_note(context, tensors, "epoch", "12"), TUTTI_OK);
  assert_int_equal(tutti_tensors_set_note(context, tensors, "why", "\"quoted\"\n"), TUTTI_OK);
  return tensors;
}

static void assert_same(const tutti_tensors *a, const tutti_tensors *b) {
  assert_int_equal(tutti_tensors_count(a), tutti_tensors_count(b));
  for (size_t i = 0; i < tutti_tensors_count(a); i++) {
    const struct tutti_tensor *x = tutti_tensors_at(a, i), *y = tutti_tensors_at(b, i);
    assert_string_equal(x->name, y->name);
    assert_int_equal(x->element, y->element);
    assert_int_equal(x->rank, y->rank);
    assert_int_equal(x->bytes, y->bytes);
    for (size_t k = 0; k < x->rank; k++)
      assert_int_equal(x->shape[k], y->shape[k]);
    if (x->bytes)
      assert_memory_equal(x->data, y->data, x->bytes);
    assert_int_equal((uintptr_t)y->data % 64, 0);
  }
  assert_string_equal(tutti_tensors_note(b, "epoch"), "12");
  assert_string_equal(tutti_tensors_note(b, "why"), "\"quoted\"\n");
  assert_null(tutti_tensors_note(b, "other"));
}

static void files_and_copies_are_the_same_to_the_bit(void **state) {
  (void)state;
  tutti_tensors *tensors = sample_tensors(), *copy, *again;
  assert_int_equal(tutti_tensors_copy(context, tensors, &copy), TUTTI_OK);
  assert_int_equal(tutti_tensors_write(context, tensors, path), TUTTI_OK);
  if (tutti_tensors_read(context, path, &again) != TUTTI_OK)
    fail_msg("%s", tutti_error_message(context));
  assert_same(tensors, copy);
  assert_same(tensors, again);
  assert_ptr_equal(tutti_tensors_find(tensors, "a/weight"), tutti_tensors_at(tensors, 1));
  assert_null(tutti_tensors_find(tensors, "b"));
  assert_null(tutti_tensors_at(tensors, 5));
  tutti_tensors_destroy(tensors);
  tutti_tensors_destroy(copy);
  tutti_tensors_destroy(again);
}

static void an_empty_set_is_a_file(void **state) {
  (void)state;
  tutti_tensors *tensors, *again;
  assert_int_equal(tutti_tensors_create(context, &tensors), TUTTI_OK);
  assert_int_equal(tutti_tensors_write(context, tensors, path), TUTTI_OK);
  assert_int_equal(tutti_tensors_read(context, path, &again), TUTTI_OK);
  assert_int_equal(tutti_tensors_count(again), 0);
  tutti_tensors_destroy(tensors);
  tutti_tensors_destroy(again);
}

static void pointers_stay_valid_while_tensors_are_added(void **state) {
  (void)state;
  tutti_tensors *tensors;
  float *first, *other;
  char name[16];
  assert_int_equal(tutti_tensors_create(context, &tensors), TUTTI_OK);
  assert_int_equal(tutti_tensors_add(context, tensors, "first", TUTTI_F32, 1, (size_t[]){1}, &first), TUTTI_OK);
  for (int i = 0; i < 100; i++) {
    (void)snprintf(name, sizeof name, "t%d", i);
    assert_int_equal(tutti_tensors_add(context, tensors, name, TUTTI_F32, 1, (size_t[]){1}, &other), TUTTI_OK);
  }
  *first = 5;
  assert_true(*(const float *)tutti_tensors_find(tensors, "first")->data == 5);
  tutti_tensors_destroy(tensors);
}

static void what_cannot_be_added_is_refused(void **state) {
  (void)state;
  tutti_tensors *tensors = sample_tensors();
  size_t nine[9] = {1, 1, 1, 1, 1, 1, 1, 1, 1}, huge[3] = {(size_t)1 << 32, (size_t)1 << 31, 1};
  void *data;
  assert_int_equal(tutti_tensors_add(context, tensors, "flags", TUTTI_F32, 1, nine, &data), TUTTI_ERROR_USAGE);
  assert_null(data);
  assert_int_equal(tutti_tensors_add(context, tensors, "", TUTTI_F32, 1, nine, &data), TUTTI_ERROR_USAGE);
  assert_int_equal(tutti_tensors_add(context, tensors, "__metadata__", TUTTI_F32, 1, nine, &data), TUTTI_ERROR_USAGE);
  assert_int_equal(tutti_tensors_add(context, tensors, "\xff", TUTTI_F32, 1, nine, &data), TUTTI_ERROR_USAGE);
  assert_int_equal(tutti_tensors_add(context, tensors, "b", TUTTI_F32, 9, nine, &data), TUTTI_ERROR_USAGE);
  assert_int_equal(tutti_tensors_add(context, tensors, "b", (enum tutti_element)9, 1, nine, &data), TUTTI_ERROR_USAGE);
  assert_int_equal(tutti_tensors_add(context, tensors, "b", TUTTI_F32, 3, huge, &data), TUTTI_ERROR_MEMORY);
  huge[0] = (size_t)1 << 30;
  assert_int_equal(tutti_tensors_add(context, tensors, "b", TUTTI_F32, 3, huge, &data), TUTTI_ERROR_MEMORY);
  assert_int_equal(tutti_tensors_set_note(context, tensors, "\xff", "x"), TUTTI_ERROR_USAGE);
  assert_int_equal(tutti_tensors_set_note(context, tensors, "x", "\xff"), TUTTI_ERROR_USAGE);
  assert_int_equal(tutti_tensors_count(tensors), 5);
  tutti_tensors_destroy(tensors);
}

static void write_bytes(const void *bytes, size_t count) {
  FILE *file = fopen(path, "wb");
  assert_non_null(file);
  assert_int_equal(fwrite(bytes, 1, count, file), count);
  assert_int_equal(fclose(file), 0);
}

/* A file of a header and `count` bytes of data. */
static void write_file(const char *header, size_t count) {
  char bytes[1024] = {0};
  uint64_t length = strlen(header);
  assert_true(8 + length + count <= sizeof bytes);
  memcpy(bytes, &length, 8);
  memcpy(bytes + 8, header, length);
  write_bytes(bytes, 8 + length + count);
}

static void lying_files_are_refused(void **state) {
  (void)state;
  static const struct {
    const char *header;
    size_t data;
    const char *part;
  } cases[] = {
      {"[]", 0, "not a JSON object"},
      {"{", 0, "not a JSON object"},
      {"{\"a\":5}", 0, "\"a\": dtype"},
      {"{\"a\":{\"dtype\":\"F16\",\"shape\":[1],\"data_offsets\":[0,2]}}", 2, "dtype must be"},
      {"{\"a\":{\"dtype\":\"F32\",\"shape\":1,\"data_offsets\":[0,4]}}", 4, "shape"},
      {"{\"a\":{\"dtype\":\"F32\",\"shape\":[-1],\"data_offsets\":[0,4]}}", 4, "shape"},
      {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1.0],\"data_offsets\":[0,4]}}", 4, "shape"},
      {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1,1,1,1,1,1,1,1,1],\"data_offsets\":[0,4]}}", 4, "at most 8"},
      {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1]}}", 4, "data_offsets"},
      {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[4,0]}}", 4, "data_offsets"},
      {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4,4]}}", 4, "data_offsets"},
      {"{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]}}", 4, "cut short"},
      {"{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,4]}}", 4, "do not agree"},
      {"{\"a\":{\"dtype\":\"F32\",\"shape\":[4611686018427387905],\"data_offsets\":[0,4]}}", 4, "do not agree"},
      {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]}}", 5, "1 bytes behind the last tensor"},
      {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[4,8]}}", 8, "hole"},
      {"{\"a\":{\"dtype\":\"U8\",\"shape\":[4],\"data_offsets\":[0,4]},"
       "\"b\":{\"dtype\":\"U8\",\"shape\":[4],\"data_offsets\":[2,6]}}",
       6, "\"b\": its data overlap"},
      {"{\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]},"
       "\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[1,2]}}",
       2, "duplicate"},
      {"{\"__metadata__\":[]}", 0, "__metadata__"},
      {"{\"__metadata__\":{\"k\":1}}", 0, "\"k\" must be a text"},
      {"{}", 3, "3 bytes behind"},
  };
  tutti_tensors *tensors;
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    write_file(cases[i].header, cases[i].data);
    assert_int_equal(tutti_tensors_read(context, path, &tensors), TUTTI_ERROR_CORRUPT);
    assert_null(tensors);
    if (!strstr(tutti_error_message(context), cases[i].part) || !strstr(tutti_error_message(context), path))
      fail_msg("case %zu: expected the file and \"%s\" in: %s", i, cases[i].part, tutti_error_message(context));
  }
  write_bytes("\xff\xff\xff\xff\xff\xff\xff\xff{}", 10);
  assert_int_equal(tutti_tensors_read(context, path, &tensors), TUTTI_ERROR_CORRUPT);
  write_bytes("", 0);
  assert_int_equal(tutti_tensors_read(context, path, &tensors), TUTTI_ERROR_CORRUPT);
  assert_int_equal(unlink(path), 0);
  assert_int_equal(tutti_tensors_read(context, path, &tensors), TUTTI_ERROR_IO);
}

/* Tensors may stand in the header in another order than in the data. */
static void order_in_the_file_is_that_of_the_data(void **state) {
  (void)state;
  tutti_tensors *tensors;
  write_file("{\"b\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[2,3]},"
             "\"a\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[0,2]}}",
             3);
  assert_int_equal(tutti_tensors_read(context, path, &tensors), TUTTI_OK);
  assert_string_equal(tutti_tensors_at(tensors, 0)->name, "a");
  tutti_tensors_destroy(tensors);
}

static void torn_files_harm_nothing(void **state) {
  (void)state;
  tutti_tensors *tensors = sample_tensors();
  assert_int_equal(tutti_tensors_write(context, tensors, path), TUTTI_OK);
  tutti_tensors_destroy(tensors);
  char bytes[2048];
  FILE *file = fopen(path, "rb");
  assert_non_null(file);
  size_t count = fread(bytes, 1, sizeof bytes, file);
  assert_int_equal(fclose(file), 0);
  assert_in_range(count, 100, sizeof bytes - 1);
  for (size_t i = 0; i < count; i++) {
    write_bytes(bytes, i);
    assert_int_equal(tutti_tensors_read(context, path, &tensors), TUTTI_ERROR_CORRUPT);
    for (int bit = 0; bit < 8; bit++) {
      bytes[i] ^= (char)(1 << bit);
      write_bytes(bytes, count);
      enum tutti_status status = tutti_tensors_read(context, path, &tensors);
      assert_true(status == TUTTI_OK || status == TUTTI_ERROR_CORRUPT);
      tutti_tensors_destroy(tensors);
      bytes[i] ^= (char)(1 << bit);
    }
  }
}

static void a_file_that_cannot_be_written_is_an_error(void **state) {
  (void)state;
  tutti_tensors *tensors = sample_tensors();
  assert_int_equal(tutti_tensors_write(context, tensors, "/nowhere/at/all"), TUTTI_ERROR_IO);
  tutti_tensors_destroy(tensors);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(files_and_copies_are_the_same_to_the_bit),    cmocka_unit_test(an_empty_set_is_a_file),
      cmocka_unit_test(pointers_stay_valid_while_tensors_are_added), cmocka_unit_test(what_cannot_be_added_is_refused),
      cmocka_unit_test(order_in_the_file_is_that_of_the_data),       cmocka_unit_test(torn_files_harm_nothing),
      cmocka_unit_test(a_file_that_cannot_be_written_is_an_error),   cmocka_unit_test(lying_files_are_refused),
  };
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
