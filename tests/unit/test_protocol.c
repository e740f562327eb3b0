/* test_protocol.c - frames arrive whole, however they are cut up; anything that is not a frame is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <tutti/protocol.h>
#include <unistd.h>

static tutti_context *context;

static int set_up(void **state) {
  (void)state;
  return tutti_context_create(&context) == TUTTI_OK ? 0 : -1;
}

static int tear_down(void **state) {
  (void)state;
  tutti_context_destroy(context);
  return 0;
}

/* The bytes of two frames on the wire. */
static size_t record(unsigned char *bytes, size_t size) {
  int ends[2];
  assert_int_equal(pipe(ends), 0);
  assert_int_equal(tutti_frame_write(context, ends[1], TUTTI_FRAME_REQUEST, UINT64_C(0x1122334455667788), "{\"a\": 1}"),
                   TUTTI_OK);
  assert_int_equal(tutti_frame_write(context, ends[1], TUTTI_FRAME_DONE, 0, ""), TUTTI_OK);
  ssize_t n = read(ends[0], bytes, size);
  assert_true(n > 0);
  (void)close(ends[0]);
  (void)close(ends[1]);
  return (size_t)n;
}

static void frames_survive_any_cut(void **state) {
  unsigned char bytes[256];
  size_t length = record(bytes, sizeof bytes);
  (void)state;
  for (size_t cut = 0; cut <= length; cut++) {
    tutti_frames *frames;
    struct tutti_frame frame, all[2];
    bool whole, ended;
    size_t count = 0;
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(tutti_frames_create(context, &frames), TUTTI_OK);
    for (int part = 0; part < 2; part++) {
      size_t from = part ? cut : 0, to = part ? length : cut;
      if (from == to)
        continue;
      assert_int_equal(write(ends[1], bytes + from, to - from), (ssize_t)(to - from));
      assert_int_equal(tutti_frames_fill(context, frames, ends[0], &ended), TUTTI_OK);
      assert_false(ended);
      do {
        assert_int_equal(tutti_frames_take(context, frames, &frame, &whole), TUTTI_OK);
        if (whole)
          all[count++] = frame;
      } while (whole);
    }
    assert_int_equal(count, 2);
    assert_int_equal(all[0].kind, TUTTI_FRAME_REQUEST);
    assert_true(all[0].trial == UINT64_C(0x1122334455667788));
    assert_string_equal(all[0].text, "{\"a\": 1}");
    assert_int_equal(all[1].kind, TUTTI_FRAME_DONE);
    assert_string_equal(all[1].text, "");
    tutti_free(all[0].text);
    tutti_free(all[1].text);
    (void)close(ends[1]);
    assert_int_equal(tutti_frames_fill(context, frames, ends[0], &ended), TUTTI_OK);
    assert_true(ended);
    (void)close(ends[0]);
    tutti_frames_destroy(frames);
  }
}

static void what_is_no_frame_is_refused(void **state) {
  static const char noise[] = "what a plugin printed on the wrong descriptor";
  tutti_frames *frames;
  struct tutti_frame frame;
  bool whole, ended;
  int ends[2];
  (void)state;
  assert_int_equal(pipe(ends), 0);
  assert_int_equal(tutti_frames_create(context, &frames), TUTTI_OK);
  assert_int_equal(write(ends[1], noise, sizeof noise), (ssize_t)sizeof noise);
  assert_int_equal(tutti_frames_fill(context, frames, ends[0], &ended), TUTTI_OK);
  assert_int_equal(tutti_frames_take(context, frames, &frame, &whole), TUTTI_ERROR_CORRUPT);
  assert_false(whole);
  tutti_frames_destroy(frames);
  (void)close(ends[0]);
  (void)close(ends[1]);
}

static void a_peer_that_is_gone_is_an_error_and_no_signal(void **state) {
  int ends[2];
  (void)state;
  assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
  (void)close(ends[0]);
  assert_int_equal(tutti_frame_write(context, ends[1], TUTTI_FRAME_READY, 0, ""), TUTTI_ERROR_IO);
  (void)close(ends[1]);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(frames_survive_any_cut),
      cmocka_unit_test(what_is_no_frame_is_refused),
      cmocka_unit_test(a_peer_that_is_gone_is_an_error_and_no_signal),
  };
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
