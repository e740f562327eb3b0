/* run_live.c - live.json: workers, what each trains, and how far it is. Replaced in one go about every second, and not
   made durable: after a crash it is of no use. */
#include "run_live.h"

#include "core/base/json_impl.h"
#include "run_files.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <tutti/clock.h>
#include <unistd.h>

enum tutti_status tutti_live_begin(tutti_context *context, struct tutti_live *live, size_t workers, size_t capacity) {
  *live = (struct tutti_live){.workers = workers, .capacity = capacity, .due = -INFINITY};
  return tutti_alloc(context, workers * capacity, sizeof *live->places, &live->places);
}

void tutti_live_end(tutti_context *context, struct tutti_live *live, const char *directory) {
  char *path = NULL, *fresh = NULL;
  tutti_free(live->places);
  live->places = NULL;
  if (!live->there)
    return;
  live->there = false;
  if (tutti_run_file_path(context, directory, TUTTI_RUN_FILE_LIVE, &path) != TUTTI_OK ||
      tutti_format(context, &fresh, "%s.new", path) != TUTTI_OK)
    tutti_error_clear(context);
  if (path)
    (void)unlink(path);
  if (fresh)
    (void)unlink(fresh);
  tutti_free(path);
  tutti_free(fresh);
}

/* --- replies --- */

/* The place of a trial, or a free one of its worker; NULL: it has none. */
static struct tutti_live_place *place_of(struct tutti_live *live, const struct tutti_reply *reply) {
  struct tutti_live_place *vacant = NULL;
  for (size_t i = 0; live->places && reply->worker < live->workers && i < live->capacity; i++) {
    struct tutti_live_place *place = &live->places[reply->worker * live->capacity + i];
    if (place->busy && place->trial == reply->trial)
      return place;
    if (!place->busy && !vacant)
      vacant = place;
  }
  return vacant;
}

/* {"epoch", "epochs", "loss"}, of which each may be absent. */
static void take_progress(struct tutti_live_place *place, double now, const struct tutti_reply *reply) {
  json_t *said = json_loads(reply->text ? reply->text : "", 0, NULL);
  const json_t *loss = json_object_get(said, "loss");
  if (!place->busy)
    *place = (struct tutti_live_place){.trial = reply->trial, .since = now - reply->seconds, .loss = NAN};
  place->busy = true;
  place->epoch = (uint32_t)json_integer_value(json_object_get(said, "epoch"));
  place->epochs = (uint32_t)json_integer_value(json_object_get(said, "epochs"));
  if (json_is_number(loss))
    place->loss = json_number_value(loss);
  json_decref(said);
}

void tutti_live_note(struct tutti_live *live, double now, const struct tutti_reply *reply) {
  struct tutti_live_place *place = reply->kind == TUTTI_REPLY_NONE ? NULL : place_of(live, reply);
  if (place && reply->kind == TUTTI_REPLY_PROGRESS) {
    take_progress(place, now, reply);
    return;
  }
  if (reply->kind == TUTTI_REPLY_NONE || reply->kind == TUTTI_REPLY_PROGRESS)
    return;
  live->worked += isfinite(reply->seconds) ? reply->seconds : 0;
  if (place)
    place->busy = false;
}

double tutti_live_longest(const struct tutti_live *live, double now) {
  double longest = 0;
  for (size_t i = 0; i < live->workers * live->capacity; i++)
    if (live->places[i].busy)
      longest = fmax(longest, now - live->places[i].since);
  return longest;
}

/* --- the file --- */

static json_t *print_places(const struct tutti_live *live, double now, double *busy) {
  json_t *array = json_array();
  *busy = 0;
  for (size_t i = 0; i < live->workers * live->capacity; i++) {
    const struct tutti_live_place *place = &live->places[i];
    if (!place->busy)
      continue;
    *busy += now - place->since;
    (void)json_array_append_new(
        array, json_pack("{s:I, s:I, s:f, s:I, s:I, s:o}", "worker", (json_int_t)(i / live->capacity), "trial",
                         (json_int_t)place->trial, "seconds", now - place->since, "epoch", (json_int_t)place->epoch,
                         "epochs", (json_int_t)place->epochs, "loss", tutti_json_number(place->loss)));
  }
  return array;
}

static enum tutti_status print(tutti_context *context, const struct tutti_live *live, double now,
                               const struct tutti_run_progress *progress, double left, char **text) {
  double busy, all = progress->seconds * (double)(live->workers * live->capacity);
  json_t *places = print_places(live, now, &busy);
  double rate = progress->seconds > 0 ? (double)(progress->done - progress->restored) / progress->seconds : 0;
  json_t *root = json_pack("{s:I, s:f, s:f, s:o, s:f, s:o, s:o, s:o}", "workers", (json_int_t)live->workers, "seconds",
                           progress->seconds, "worked", progress->worked, "time", tutti_json_number(progress->time),
                           "rate", rate, "left", tutti_json_number(left), "utilisation",
                           tutti_json_number(all > 0 ? fmin((live->worked + busy) / all, 1) : NAN), "training", places);
  return tutti_json_line(context, root, text);
}

static bool write_all(int file, const char *text) {
  size_t length = strlen(text);
  while (length > 0) {
    ssize_t count = write(file, text, length);
    if (count < 0 && errno == EINTR)
      continue;
    if (count <= 0)
      return false;
    text += count;
    length -= (size_t)count;
  }
  return true;
}

static enum tutti_status replace(tutti_context *context, const char *directory, const char *text, bool *there) {
  enum tutti_status status = TUTTI_OK;
  char *path = NULL, *fresh = NULL;
  TUTTI_TRY_OUT(context, tutti_run_file_path(context, directory, TUTTI_RUN_FILE_LIVE, &path));
  TUTTI_TRY_OUT(context, tutti_format(context, &fresh, "%s.new", path));
  int file = open(fresh, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0644);
  bool done = file >= 0 && write_all(file, text);
  if (file >= 0)
    done = close(file) == 0 && done;
  if (done && rename(fresh, path) == 0)
    *there = true;
  else if (file >= 0)
    (void)unlink(fresh);
out:
  tutti_free(path);
  tutti_free(fresh);
  return status;
}

void tutti_live_write(tutti_context *context, struct tutti_live *live, double now, const char *directory,
                      const struct tutti_run_progress *progress, double left) {
  static const double interval = 1, share = 0.01;
  double begin = tutti_clock();
  char *text = NULL;
  if (!live->places || begin < live->due)
    return;
  enum tutti_status status = print(context, live, now, progress, left, &text);
  if (status == TUTTI_OK)
    status = replace(context, directory, text, &live->there);
  if (status != TUTTI_OK)
    tutti_error_clear(context); /* the run goes on without it */
  live->due = begin + fmax(interval, (tutti_clock() - begin) / share);
  tutti_free(text);
}
