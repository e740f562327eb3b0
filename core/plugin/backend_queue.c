/* backend_queue.c - jobs that come while others train. Between the backend and the queue stands a watch: each job is
   done once, and its outcome is checked. A backend without the op gets as many at a time as it trains together. */
#include "backend_impl.h"

#include <stdio.h>
#include <tutti/sized.h>

/* A job on its way. */
struct entry {
  const struct tutti_job *job;
  struct tutti_outcome *outcome;
  size_t number; /* the queue's; the backend knows it by its place */
  bool busy;
};

struct watch {
  tutti_context *context;
  const tutti_backend *backend;
  struct tutti_job_queue queue;
  struct entry *entries; /* [count] */
  size_t count, room;
  size_t wrong; /* calls that should not have come */
  enum tutti_status status;
};

static void end_entry(struct watch *watch, struct entry *entry) {
  entry->busy = false;
  watch->queue.done(watch->queue.argument, entry->number);
}

static void fail_entry(struct watch *watch, struct entry *entry) {
  struct tutti_outcome *outcome = entry->outcome;
  outcome->state = TUTTI_STATE_FAILED;
  (void)snprintf(outcome->failure, sizeof outcome->failure, "%s", tutti_error_message(watch->context));
  tutti_error_clear(watch->context);
  end_entry(watch, entry);
}

/* A free place among the entries. */
static enum tutti_status find_place(struct watch *watch, size_t *place) {
  for (*place = 0; *place < watch->count; ++*place)
    if (!watch->entries[*place].busy)
      return TUTTI_OK;
  if (watch->count == watch->room) {
    size_t room = 2 * watch->room + 16;
    TUTTI_TRY(watch->context,
              tutti_realloc(watch->context, watch->count, room, sizeof *watch->entries, &watch->entries));
    watch->room = room;
  }
  watch->count++;
  return TUTTI_OK;
}

/* The next job that the backend can be given. */
static bool watch_next(void *argument, const struct tutti_job **job, struct tutti_outcome **outcome, size_t *number) {
  struct watch *watch = argument;
  struct entry *entry;
  do {
    size_t place;
    if (watch->status == TUTTI_OK)
      watch->status = find_place(watch, &place);
    if (watch->status != TUTTI_OK)
      return false;
    entry = &watch->entries[place];
    *number = place;
    if (!watch->queue.next(watch->queue.argument, &entry->job, &entry->outcome, &entry->number))
      return false;
    entry->busy = true;
    if (tutti_backend_check_members(watch->context, watch->backend, entry->job) != TUTTI_OK)
      fail_entry(watch, entry);
  } while (!entry->busy);
  *job = entry->job;
  *outcome = entry->outcome;
  return true;
}

static void watch_done(void *argument, size_t number) {
  struct watch *watch = argument;
  if (number >= watch->count || !watch->entries[number].busy) {
    watch->wrong++;
    return;
  }
  struct entry *entry = &watch->entries[number];
  if (tutti_backend_check_outcome(watch->context, watch->backend, entry->job, entry->outcome) != TUTTI_OK)
    fail_entry(watch, entry);
  else
    end_entry(watch, entry);
}

static enum tutti_status check_watch(const struct watch *watch) {
  if (watch->wrong)
    return TUTTI_BREACH(watch->context, &watch->backend->instance,
                        "train_queue called done %zu times for jobs that it did not have", watch->wrong);
  for (size_t i = 0; i < watch->count; i++)
    if (watch->entries[i].busy)
      return TUTTI_BREACH(watch->context, &watch->backend->instance,
                          "train_queue returned, but never called done for one of its jobs");
  return watch->status;
}

static enum tutti_status train_by_backend(struct watch *watch) {
  tutti_context *context = watch->context;
  const tutti_backend *backend = watch->backend;
  const struct tutti_job_queue queue = {sizeof queue, watch, watch_next, watch_done};
  TUTTI_CALL(context, backend, backend->ops.train_queue(backend->instance.self, context, &queue));
  return check_watch(watch);
}

/* --- without the op --- */

struct batch {
  struct watch *watch;
  const struct tutti_job **jobs;
  struct tutti_outcome **outcomes;
  size_t *places; /* among the watch's entries */
  size_t count;
};

/* Its outcome was checked by tutti_backend_train_many. */
static void batch_done(void *argument, size_t index) {
  struct batch *batch = argument;
  end_entry(batch->watch, &batch->watch->entries[batch->places[index]]);
}

/* Those that are not done fail with the error that ended the others. */
static enum tutti_status train_batch(struct batch *batch) {
  struct watch *watch = batch->watch;
  tutti_context *context = watch->context;
  char *message;
  enum tutti_status status =
      tutti_backend_train_many(context, watch->backend, batch->count, batch->jobs, batch->outcomes, batch_done, batch);
  if (status == TUTTI_OK || status == TUTTI_ERROR_CANCELLED)
    return status;
  TUTTI_TRY(context, tutti_strdup(context, tutti_error_message(context), &message));
  for (size_t i = 0; i < batch->count; i++) {
    struct entry *entry = &watch->entries[batch->places[i]];
    status = TUTTI_FAIL(context, status, "%s", message);
    if (entry->busy)
      fail_entry(watch, entry);
    tutti_error_clear(context);
  }
  tutti_free(message);
  return TUTTI_OK;
}

static enum tutti_status train_in_batches(struct watch *watch) {
  tutti_context *context = watch->context;
  size_t capacity = tutti_backend_capacity(watch->backend);
  struct batch batch = {.watch = watch};
  enum tutti_status status;
  TUTTI_TRY_OUT(context, tutti_alloc(context, capacity, sizeof *batch.jobs, &batch.jobs));
  TUTTI_TRY_OUT(context, tutti_alloc(context, capacity, sizeof *batch.outcomes, &batch.outcomes));
  TUTTI_TRY_OUT(context, tutti_alloc(context, capacity, sizeof *batch.places, &batch.places));
  do {
    batch.count = 0;
    while (batch.count < capacity &&
           watch_next(watch, &batch.jobs[batch.count], &batch.outcomes[batch.count], &batch.places[batch.count]))
      batch.count++;
    TUTTI_TRY_OUT(context, watch->status);
    if (batch.count > 0)
      TUTTI_TRY_OUT(context, train_batch(&batch));
  } while (batch.count > 0);
out:
  tutti_free(batch.jobs);
  tutti_free(batch.outcomes);
  tutti_free(batch.places);
  return status;
}

enum tutti_status tutti_backend_train_queue(tutti_context *context, const tutti_backend *backend,
                                            const struct tutti_job_queue *queue) {
  struct watch watch = {.context = context, .backend = backend};
  TUTTI_TAKE(&watch.queue, queue);
  enum tutti_status status = backend->ops.train_queue ? train_by_backend(&watch) : train_in_batches(&watch);
  tutti_free(watch.entries);
  return status;
}
