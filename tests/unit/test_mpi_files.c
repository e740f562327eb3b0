/* test_mpi_files.c - the files of executor mpi: they come whole or not at all, whatever happens on the way. MPI is
   played by a list of messages. */
#include "plugins/executor/mpi/depot.h"
#include "plugins/executor/mpi/scratch.h"
#include "plugins/executor/mpi/sweep.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmocka.h>

enum { MESSAGES = 64, BIG = (1 << 20) + 1 };

/* What was sent, in order; a letter is done only when `delivers` is set. */
static struct {
  struct wire_message messages[MESSAGES];
  size_t count, taken;
  bool delivers;
} post;

static int put(int rank, int tag, const void *bytes, size_t size, void **sending) {
  assert_true(post.count < MESSAGES);
  struct wire_message *message = &post.messages[post.count++];
  *message = (struct wire_message){.rank = rank, .tag = tag, .size = size, .bytes = malloc(size + 1)};
  assert_non_null(message->bytes);
  memcpy(message->bytes, bytes, size);
  message->bytes[size] = '\0';
  *sending = post.delivers ? NULL : message;
  return 0;
}

static int was_sent(void *sending, bool *done) {
  (void)sending;
  *done = post.delivers;
  return 0;
}

static int nothing_comes(bool *come, int *rank, int *tag, size_t *size) {
  (void)rank;
  (void)tag;
  (void)size;
  *come = false;
  return 0;
}

static const struct mpi_link link_of_lists = {.send = put, .sent = was_sent, .probe = nothing_comes};

/* In place of the C library's: the last file that was removed. */
static const char *removed;
__attribute__((visibility("default"))) int unlinkat(int parent, const char *name, int flags) {
  if (flags == 0 && faccessat(parent, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
    removed = strcmp(name, "lock") == 0 ? "lock" : "another";
  return (int)syscall(SYS_unlinkat, parent, name, flags);
}

static tutti_context *context;
static struct wire wire;
static uint64_t unsent[3], sent[3];
static char folder[64], run[96];

/* --- what the manager's engine does --- */

static struct {
  size_t stored, settled, dropped;
  enum tutti_status answer;
  const char *differs; /* what is wrong with the files of a trial */
} engine;

static enum tutti_status visit(void *argument, tutti_context *of, tutti_visit_staged *visitor, void *visiting) {
  const struct tutti_staged_file file = {.size = sizeof file, .name = "recipe.ini", .text = "[run]\n"};
  (void)argument;
  return visitor(visiting, of, &file);
}

static enum tutti_status store(void *argument, tutti_context *of, const struct tutti_staged_piece *piece) {
  (void)argument;
  (void)piece;
  engine.stored++;
  return engine.answer == TUTTI_OK ? TUTTI_OK : TUTTI_FAIL(of, engine.answer, "the engine says so");
}

static enum tutti_status settle(void *argument, tutti_context *of, uint64_t trial, const char *reply, char **why) {
  (void)argument;
  assert_int_equal(trial, 7);
  assert_string_equal(reply, "a reply");
  engine.settled++;
  *why = NULL;
  return engine.differs ? tutti_strdup(of, engine.differs, why) : TUTTI_OK;
}

static void drop(void *argument, tutti_context *of, uint64_t trial) {
  (void)argument;
  (void)of;
  assert_int_equal(trial, 7);
  engine.dropped++;
}

static enum tutti_status visit_trial(void *argument, tutti_context *of, uint64_t trial, const char *request,
                                     tutti_visit_staged *visitor, void *visiting) {
  static char big[3 * BIG];
  const struct tutti_staged_file file = {.size = sizeof file, .name = "trials/000008/initial", .text = big};
  (void)argument;
  if (strcmp(request, "with a parent") != 0)
    return TUTTI_OK;
  assert_int_equal(trial, 8);
  memset(big, 'w', sizeof big - 1);
  return visitor(visiting, of, &file);
}

static const struct tutti_staging staging = {.size = sizeof staging,
                                             .log = "worker.log",
                                             .visit = visit,
                                             .store = store,
                                             .settle = settle,
                                             .drop = drop,
                                             .visit_trial = visit_trial};
static struct tutti_executor_setup setup = {.size = sizeof setup, .staging = &staging};

/* --- fixture --- */

static int begin(void **state) {
  (void)state;
  (void)strcpy(folder, "/tmp/tutti-mpi-files-XXXXXX");
  memset(&post, 0, sizeof post);
  memset(&engine, 0, sizeof engine);
  memset(unsent, 0, sizeof unsent);
  memset(sent, 0, sizeof sent);
  post.delivers = true;
  wire = (struct wire){.link = &link_of_lists, .size = 3, .unsent = unsent, .sent = sent, .letters_end = &wire.letters};
  if (!mkdtemp(folder) || tutti_context_create(&context) != TUTTI_OK)
    return 1;
  (void)snprintf(run, sizeof run, "%s/run", folder);
  setup.directory = run;
  return mkdir(run, 0700);
}

static int end(void **state) {
  char command[96];
  (void)state;
  for (size_t i = 0; i < post.count; i++)
    free(post.messages[i].bytes);
  tutti_context_destroy(context);
  (void)snprintf(command, sizeof command, "rm -rf '%s'", folder);
  return system(command); /* NOLINT: the path is ours */
}

static void ok(enum tutti_status status) {
  if (status != TUTTI_OK)
    fail_msg("%s", tutti_error_message(context));
}

static void expect_error(enum tutti_status found, enum tutti_status wanted, const char *text) {
  assert_int_equal(found, wanted);
  if (!strstr(tutti_error_message(context), text))
    fail_msg("expected '%s' in '%s'", text, tutti_error_message(context));
}

/* A file in the folder, of bytes that differ; the caller frees the path. */
static char *make_file(const char *name, size_t size) {
  char *path;
  ok(tutti_format(context, &path, "%s/%s", folder, name));
  FILE *file = fopen(path, "wb");
  assert_non_null(file);
  for (size_t i = 0; i < size; i++)
    assert_int_not_equal(fputc((int)(i * 31 + (i >> 9)) & 255, file), EOF);
  assert_int_equal(fclose(file), 0);
  return path;
}

static void expect_same(const char *path, const char *copy) {
  char command[512];
  (void)snprintf(command, sizeof command, "cmp '%s' '%s'", path, copy);
  assert_int_equal(system(command), 0); /* NOLINT: the paths are ours */
}

/* --- pieces --- */

static void files_arrive_as_they_were(void **state) {
  static const size_t sizes[] = {0, 1, BIG - 1, BIG, 3 * BIG};
  struct freight freight = {0};
  struct scratch scratch;
  bool done, whole;
  size_t files = 0;
  (void)state;
  ok(scratch_make(context, folder, &scratch));
  for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
    char name[32], *path = make_file("one", sizes[i]);
    (void)snprintf(name, sizeof name, "inputs/%zu/table.csv", i);
    ok(freight_add(context, &freight, name, path, NULL));
    ok(freight_send(context, &wire, 1, FREIGHT_INPUTS, &freight, &done));
    assert_true(done);
    for (; post.taken < post.count; post.taken++) {
      struct freight_piece piece;
      assert_int_equal(post.messages[post.taken].tag, WIRE_PIECE);
      ok(freight_read(context, &post.messages[post.taken], &piece));
      assert_string_equal(piece.name, name);
      ok(scratch_store(context, &scratch, &piece, &whole));
      files += whole;
      tutti_free(piece.name);
    }
    char *copy;
    ok(tutti_format(context, &copy, "%s/%s", scratch.path, name));
    expect_same(path, copy);
    tutti_free(copy);
    tutti_free(path);
  }
  assert_int_equal(files, sizeof sizes / sizeof sizes[0]);
  freight_release(&freight);
  scratch_remove(&scratch);
}

/* No matter which byte of a message changes, and where it ends. */
static void a_torn_piece_is_noticed(void **state) {
  struct freight freight = {0};
  struct freight_piece piece;
  bool done;
  (void)state;
  ok(freight_add(context, &freight, "weights", NULL, "some bytes"));
  ok(freight_send(context, &wire, 1, 7, &freight, &done));
  struct wire_message *message = &post.messages[0];
  for (size_t i = 0; i < message->size; i++) {
    message->bytes[i] ^= 4;
    assert_int_equal(freight_read(context, message, &piece), TUTTI_ERROR_CORRUPT);
    tutti_free(piece.name);
    message->bytes[i] ^= 4;
  }
  for (size_t size = 0; size < message->size; size++) {
    struct wire_message cut = *message;
    cut.size = size;
    assert_int_equal(freight_read(context, &cut, &piece), TUTTI_ERROR_CORRUPT);
    tutti_free(piece.name);
  }
  ok(freight_read(context, message, &piece));
  assert_memory_equal(piece.bytes, "some bytes", piece.count);
  tutti_free(piece.name);
  freight_release(&freight);
}

/* Else a data set would lie in memory once for each rank. */
static void not_much_is_under_way(void **state) {
  enum { PIECES = 9 };
  struct freight freight = {0};
  char *path = make_file("large", (size_t)PIECES << 20);
  bool done;
  (void)state;
  post.delivers = false;
  ok(freight_add(context, &freight, "large", path, NULL));
  ok(freight_send(context, &wire, 2, FREIGHT_INPUTS, &freight, &done));
  assert_false(done);
  assert_int_equal(post.count, 4);
  assert_true(unsent[2] >= 4 << 20 && unsent[1] == 0 && sent[2] == 0 && wire.all_unsent == unsent[2]);
  ok(freight_send(context, &wire, 2, FREIGHT_INPUTS, &freight, &done));
  assert_int_equal(post.count, 4);
  post.delivers = true;
  wire_flush(&wire, 1);
  assert_true(unsent[2] == 0 && wire.all_unsent == 0 && sent[2] >= 4 << 20 && sent[1] == 0);
  ok(freight_send(context, &wire, 2, FREIGHT_INPUTS, &freight, &done));
  assert_true(done && post.count == PIECES);
  freight.next = 0;
  wire.all_unsent = 64 << 20; /* to other ranks */
  ok(freight_send(context, &wire, 2, FREIGHT_INPUTS, &freight, &done));
  assert_true(!done && post.count == PIECES);
  freight_release(&freight);
  tutti_free(path);
}

static void a_file_that_changes_is_an_error(void **state) {
  struct freight freight = {0};
  char *path = make_file("large", (size_t)6 << 20);
  bool done;
  (void)state;
  post.delivers = false;
  ok(freight_add(context, &freight, "large", path, NULL));
  ok(freight_send(context, &wire, 1, FREIGHT_INPUTS, &freight, &done));
  assert_int_equal(truncate(path, 100), 0);
  post.delivers = true;
  wire_flush(&wire, 1);
  expect_error(freight_send(context, &wire, 1, FREIGHT_INPUTS, &freight, &done), TUTTI_ERROR_IO, "large: it became");
  assert_int_equal(unlink(path), 0);
  expect_error(freight_send(context, &wire, 1, FREIGHT_INPUTS, &freight, &done), TUTTI_ERROR_IO, "large: cannot read");
  freight_release(&freight);
  tutti_free(path);
}

/* --- the agent's folder --- */

static void nothing_is_written_outside(void **state) {
  static const char *const names[] = {"/etc/x", "../x", "a/../../x", "..", "a/..", ""};
  struct scratch scratch;
  bool whole;
  (void)state;
  ok(scratch_make(context, folder, &scratch));
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    struct freight_piece piece = {.name = (char *)names[i], .bytes = "", .count = 0};
    expect_error(scratch_store(context, &scratch, &piece, &whole), TUTTI_ERROR_CORRUPT, "no name of a file");
  }
  scratch_remove(&scratch);
}

/* A folder as an agent's, "tutti-agent-HOST-" and the letters, with a lock if so; returns its path. */
static char *leave(const char *host, const char *letters, bool locked) {
  char *name, *path;
  ok(tutti_format(context, &name, "tutti-agent-%s-%s", host, letters));
  ok(tutti_format(context, &path, "%s/%s", folder, name));
  assert_int_equal(mkdir(path, 0700), 0);
  tutti_free(name);
  if (locked) {
    ok(tutti_format(context, &name, "tutti-agent-%s-%s/lock", host, letters));
    free(make_file(name, 0));
    tutti_free(name);
  }
  return path;
}

static void expect_there(char *path, bool there) {
  if ((access(path, F_OK) == 0) != there)
    fail_msg("%s is %s", path, there ? "gone" : "there");
  tutti_free(path);
}

static void only_what_is_left_behind_is_removed(void **state) {
  static const struct timespec old[2] = {{.tv_sec = 1}, {.tv_sec = 1}};
  struct scratch first, second;
  char host[128] = "", *inner, *path;
  (void)state;
  assert_int_equal(gethostname(host, sizeof host - 1), 0);
  char *killed = leave(host, "killed", true), *fresh = leave(host, "fresh1", false),
       *half = leave(host, "half12", false);
  char *open = leave(host, "open12", true), *other = leave("other-node", "killed", true),
       *longer = leave(host, "longer1", true);
  ok(tutti_format(context, &inner, "%s/inputs", killed));
  assert_int_equal(mkdir(inner, 0700), 0);
  ok(tutti_format(context, &path, "%s/link", inner));
  assert_int_equal(symlink(open, path), 0); /* what it leads to stays */
  tutti_free(path);
  tutti_free(inner);
  ok(tutti_format(context, &inner, "%s/inputs", half));
  assert_int_equal(mkdir(inner, 0700), 0);
  tutti_free(inner);
  assert_int_equal(utimensat(AT_FDCWD, half, old, 0), 0);
  assert_int_equal(chmod(open, 0777), 0); /* anybody may put anything there */
  ok(scratch_make(context, folder, &first));
  ok(scratch_make(context, folder, &second));
  assert_string_not_equal(first.path, second.path);
  assert_int_equal(access(first.path, F_OK), 0);
  expect_there(killed, false);
  expect_there(fresh, true); /* it may be one that is being made */
  expect_there(half, false);
  expect_there(open, true);
  expect_there(other, true); /* its lock may be held there */
  expect_there(longer, true);
  ok(tutti_strdup(context, first.path, &path));
  scratch_remove(&first);
  expect_there(path, false);
  scratch_remove(&second);
}

/* Killed while it removes a folder, an agent leaves one that the next can tell. */
static void the_lock_goes_last(void **state) {
  char host[128] = "", path[256];
  (void)state;
  assert_int_equal(gethostname(host, sizeof host - 1), 0);
  char *killed = leave(host, "killed", true);
  (void)snprintf(path, sizeof path, "%s/inputs", killed);
  assert_int_equal(mkdir(path, 0700), 0);
  for (int i = 0; i < 9; i++) {
    (void)snprintf(path, sizeof path, "tutti-agent-%s-killed/%d", host, i);
    free(make_file(path, 0));
  }
  removed = NULL;
  sweep_folder(killed);
  assert_string_equal(removed, "lock");
  expect_there(killed, false);
}

static void a_missing_place_is_named(void **state) {
  struct scratch scratch;
  (void)state;
  expect_error(scratch_make(context, "/does/not/exist", &scratch), TUTTI_ERROR_IO, "executor.scratch");
  assert_null(scratch.path);
}

/* --- the manager --- */

static void say(struct depot *depot, int tag, const void *bytes, size_t size, enum tutti_status wanted) {
  char copy[64] = "";
  bool taken;
  memcpy(copy, bytes, size);
  const struct wire_message message = {.rank = 1, .tag = tag, .size = size, .bytes = copy};
  assert_int_equal(depot_take(context, depot, "node1", &message, &taken), wanted);
  assert_true(taken);
}

static void open_depot(struct depot *depot, enum depot_shared shared) {
  ok(depot_make(context, &wire, &setup, shared, depot));
  ok(depot_open(context, depot));
  ok(depot_open(context, depot)); /* once */
}

static void ranks_that_see_the_directory_are_asked(void **state) {
  struct depot depot;
  char path[160];
  (void)state;
  open_depot(&depot, DEPOT_AUTO);
  assert_int_equal(post.count, 2);
  const struct wire_message *look = &post.messages[1];
  assert_int_equal(look->tag, WIRE_LOOK);
  assert_int_equal(look->size, strlen(look->bytes) + 1 + 16);
  (void)snprintf(path, sizeof path, "%s/%s", run, look->bytes);
  assert_int_equal(access(path, F_OK), 0);
  assert_false(depot_is_open(&depot, 1));
  say(&depot, WIRE_SEEN, "\1", 1, TUTTI_OK);
  assert_true(depot_is_open(&depot, 1) && !depot_is_open(&depot, 2));
  assert_int_equal(access(path, F_OK), 0); /* the other one may still look for it */
  depot_release(&depot);
  assert_int_not_equal(access(path, F_OK), 0);
}

static void one_that_does_not_is_sent_the_files(void **state) {
  struct depot depot;
  struct wire_loaded loaded;
  (void)state;
  open_depot(&depot, DEPOT_AUTO);
  say(&depot, WIRE_SEEN, "\0", 1, TUTTI_OK);
  ok(depot_send(context, &depot));
  assert_int_equal(post.count, 4);
  assert_int_equal(post.messages[2].tag, WIRE_PIECE);
  assert_int_equal(post.messages[3].tag, WIRE_LOADED);
  memcpy(&loaded, post.messages[3].bytes, sizeof loaded);
  assert_int_equal(loaded.files, 1);
  assert_false(depot_is_open(&depot, 1));
  say(&depot, WIRE_LOADED, &loaded, sizeof loaded, TUTTI_OK);
  assert_true(depot_is_open(&depot, 1));
  depot_release(&depot);
}

static void one_that_should_see_it_is_an_error(void **state) {
  struct depot depot;
  (void)state;
  open_depot(&depot, DEPOT_YES);
  say(&depot, WIRE_SEEN, "\0", 1, TUTTI_ERROR_USAGE);
  assert_non_null(strstr(tutti_error_message(context), "rank 1 on node1: the run directory"));
  depot_release(&depot);
}

/* A piece of a trial's file, as an agent sends it; the message is the last one in the post. */
static struct wire_message *piece_of(const char *text) {
  struct freight freight = {0};
  bool done;
  ok(freight_add(context, &freight, "test.npy", NULL, text));
  ok(freight_send(context, &wire, 0, 7, &freight, &done));
  freight_release(&freight);
  post.messages[post.count - 1].rank = 1;
  return &post.messages[post.count - 1];
}

static enum tutti_status take(struct depot *depot, const struct wire_message *message) {
  bool taken;
  return depot_take(context, depot, "node1", message, &taken);
}

static void a_reply_counts_when_its_files_are_safe(void **state) {
  struct wire_head head = {.trial = 7, .kind = TUTTI_REPLY_DONE, .files = 2};
  struct wire_loaded loaded = {.files = 1};
  struct depot depot;
  char *why;
  (void)state;
  open_depot(&depot, DEPOT_NO);
  say(&depot, WIRE_LOADED, &loaded, sizeof loaded, TUTTI_OK);
  ok(take(&depot, piece_of("one")));
  ok(take(&depot, piece_of("two")));
  ok(depot_settle(context, &depot, 1, "node1", &head, "a reply", &why));
  assert_null(why);
  assert_int_equal(engine.settled, 1);

  ok(take(&depot, piece_of("one"))); /* one is missing */
  ok(depot_settle(context, &depot, 1, "node1", &head, "a reply", &why));
  assert_string_equal(why, "of its 2 files, 1 came from rank 1 on node1");
  tutti_free(why);

  struct wire_message *torn = piece_of("one"); /* one is torn, and the one after it is not stored either */
  torn->bytes[torn->size - 1] ^= 1;
  ok(take(&depot, torn));
  ok(take(&depot, piece_of("two")));
  assert_int_equal(engine.stored, 3);
  ok(depot_settle(context, &depot, 1, "node1", &head, "a reply", &why));
  assert_non_null(strstr(why, "test.npy: its piece at byte 0 came torn"));
  tutti_free(why);
  assert_int_equal(engine.settled, 1);
  assert_int_equal(engine.dropped, 2);

  ok(take(&depot, piece_of("one"))); /* the next trial is as if nothing had been */
  ok(take(&depot, piece_of("two")));
  ok(depot_settle(context, &depot, 1, "node1", &head, "a reply", &why));
  assert_null(why);
  assert_int_equal(engine.settled, 2);
  assert_int_equal(engine.dropped, 2);
  head.files = 0; /* its reply may tell of some all the same */
  engine.differs = "weights.safetensors: cannot open";
  ok(depot_settle(context, &depot, 1, "node1", &head, "a reply", &why));
  assert_string_equal(why,
                      "its files are not those that it wrote on rank 1 on node1: weights.safetensors: cannot open");
  tutti_free(why);
  assert_true(engine.settled == 3 && engine.dropped == 3);
  head.kind = TUTTI_REPLY_LOST; /* one that was lost has none */
  ok(depot_settle(context, &depot, 1, "node1", &head, "a reply", &why));
  assert_null(why);
  assert_true(engine.settled == 3 && engine.dropped == 3);
  depot_release(&depot);
}

static void a_full_disk_ends_the_run(void **state) {
  struct wire_loaded loaded = {.files = 1};
  struct depot depot;
  (void)state;
  open_depot(&depot, DEPOT_NO);
  say(&depot, WIRE_LOADED, &loaded, sizeof loaded, TUTTI_OK);
  engine.answer = TUTTI_ERROR_FULL;
  assert_int_equal(take(&depot, piece_of("one")), TUTTI_ERROR_FULL);
  depot_release(&depot);
}

static void files_come_only_from_ranks_that_were_sent_some(void **state) {
  struct depot depot;
  bool taken = true;
  (void)state;
  open_depot(&depot, DEPOT_AUTO);
  ok(depot_take(context, &depot, "node1", piece_of("one"), &taken));
  assert_false(taken);
  say(&depot, WIRE_SEEN, "\1", 1, TUTTI_OK);
  assert_int_equal(engine.stored, 0);
  depot_release(&depot);
}

/* What a request needs goes before it, and what is behind it waits. */
static void requests_come_after_their_files(void **state) {
  static const struct wire_head heads[] = {{.trial = 7}, {.trial = 8}, {.trial = 9}};
  struct depot depot;
  (void)state;
  open_depot(&depot, DEPOT_AUTO);
  ok(depot_request(context, &depot, 1, &heads[0], "alone"));
  say(&depot, WIRE_SEEN, "\0", 1, TUTTI_OK);
  ok(depot_send(context, &depot));
  size_t before = post.count;
  assert_int_equal(post.messages[2].tag, WIRE_REQUEST); /* to one that was not known to need files */
  unsent[1] = 1 << 30;
  ok(depot_request(context, &depot, 1, &heads[1], "with a parent"));
  ok(depot_request(context, &depot, 1, &heads[2], "alone"));
  ok(depot_send(context, &depot));
  assert_int_equal(post.count, before);
  unsent[1] = 0;
  ok(depot_send(context, &depot));
  assert_true(post.count > before + 4);
  for (size_t i = before; i < post.count; i++) {
    size_t left = post.count - i;
    struct wire_head head;
    assert_int_equal(post.messages[i].tag, left > 2 ? WIRE_PIECE : WIRE_REQUEST);
    if (left > 2)
      continue;
    ok(wire_read(context, &post.messages[i], &head, sizeof head));
    assert_int_equal(head.trial, left == 2 ? 8 : 9);
  }
  unsent[1] = 1 << 30;
  ok(depot_request(context, &depot, 1, &heads[1], "with a parent"));
  depot_release(&depot); /* with what is under way */
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(files_arrive_as_they_were, begin, end),
      cmocka_unit_test_setup_teardown(a_torn_piece_is_noticed, begin, end),
      cmocka_unit_test_setup_teardown(not_much_is_under_way, begin, end),
      cmocka_unit_test_setup_teardown(a_file_that_changes_is_an_error, begin, end),
      cmocka_unit_test_setup_teardown(nothing_is_written_outside, begin, end),
      cmocka_unit_test_setup_teardown(only_what_is_left_behind_is_removed, begin, end),
      cmocka_unit_test_setup_teardown(the_lock_goes_last, begin, end),
      cmocka_unit_test_setup_teardown(a_missing_place_is_named, begin, end),
      cmocka_unit_test_setup_teardown(ranks_that_see_the_directory_are_asked, begin, end),
      cmocka_unit_test_setup_teardown(one_that_does_not_is_sent_the_files, begin, end),
      cmocka_unit_test_setup_teardown(one_that_should_see_it_is_an_error, begin, end),
      cmocka_unit_test_setup_teardown(a_reply_counts_when_its_files_are_safe, begin, end),
      cmocka_unit_test_setup_teardown(a_full_disk_ends_the_run, begin, end),
      cmocka_unit_test_setup_teardown(files_come_only_from_ranks_that_were_sent_some, begin, end),
      cmocka_unit_test_setup_teardown(requests_come_after_their_files, begin, end),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
