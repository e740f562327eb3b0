/* many.c - jobs side by side, each on a thread with a context of its own. What a job may call back (progress) it calls
   on the thread that asked for all of them, as the contract of plugins has it: that thread trains nothing, and
   waits. */
#include "many_impl.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <time.h>

enum state { JOB_WAITS, JOB_TRAINS, JOB_ASKS, JOB_ENDED, JOB_REPORTED };

struct one {
  struct many *many;
  size_t index;
  enum state state;
  const struct tutti_epoch *epoch; /* while it asks */
  bool go_on;                      /* the answer */
  enum tutti_status status;
  char *message; /* when that is an error */
};

struct many {
  const struct cpu_many *work;
  pthread_mutex_t lock;
  pthread_cond_t news, answer; /* for the caller; for those who ask */
  struct one *jobs;            /* [count] */
  size_t next;                 /* the first that has not begun */
  bool failed;                 /* no more are begun */
};

struct crew {
  struct many *many;
  tutti_context *context;
  pthread_t thread;
};

/* Called by a training, on its thread. */
static bool ask_caller(void *argument, const struct tutti_epoch *epoch) {
  struct one *one = argument;
  struct many *many = one->many;
  (void)pthread_mutex_lock(&many->lock);
  one->epoch = epoch;
  one->state = JOB_ASKS;
  (void)pthread_cond_signal(&many->news);
  while (one->state == JOB_ASKS)
    (void)pthread_cond_wait(&many->answer, &many->lock);
  bool go_on = one->go_on;
  (void)pthread_mutex_unlock(&many->lock);
  return go_on;
}

static void train_one(tutti_context *context, struct one *one) {
  const struct cpu_many *work = one->many->work;
  struct tutti_job job;
  TUTTI_TAKE(&job, work->jobs[one->index]);
  job.size = sizeof job;
  if (job.progress) {
    job.progress = ask_caller;
    job.progress_argument = one;
  }
  one->status = work->train(work->self, context, &job, work->outcomes[one->index]);
  if (one->status != TUTTI_OK && tutti_strdup(context, tutti_error_message(context), &one->message) != TUTTI_OK)
    one->message = NULL;
  tutti_error_clear(context);
}

static void *work_on(void *argument) {
  struct crew *self = argument;
  struct many *many = self->many;
  (void)pthread_mutex_lock(&many->lock);
  while (!many->failed && many->next < many->work->count) {
    struct one *one = &many->jobs[many->next++];
    one->state = JOB_TRAINS;
    (void)pthread_mutex_unlock(&many->lock);
    train_one(self->context, one);
    (void)pthread_mutex_lock(&many->lock);
    one->state = JOB_ENDED;
    many->failed = many->failed || one->status != TUTTI_OK;
    (void)pthread_cond_signal(&many->news);
  }
  (void)pthread_mutex_unlock(&many->lock);
  return NULL;
}

/* --- the caller --- */

/* Call back for one job, if it wants that. The lock is free meanwhile; the job waits. */
static void serve(struct many *many, struct one *one) {
  const struct cpu_many *work = many->work;
  struct tutti_job job;
  if (one->state == JOB_ASKS) {
    TUTTI_TAKE(&job, work->jobs[one->index]);
    (void)pthread_mutex_unlock(&many->lock);
    bool go_on = job.progress(job.progress_argument, one->epoch);
    (void)pthread_mutex_lock(&many->lock);
    one->go_on = go_on;
    one->state = JOB_TRAINS;
    (void)pthread_cond_broadcast(&many->answer);
  } else if (one->state == JOB_ENDED) {
    one->state = JOB_REPORTED;
    (void)pthread_mutex_unlock(&many->lock);
    if (one->status == TUTTI_OK)
      work->done(work->argument, one->index);
    (void)pthread_mutex_lock(&many->lock);
  }
}

static bool all_ended(const struct many *many) {
  for (size_t i = 0; i < many->next; i++)
    if (many->jobs[i].state != JOB_REPORTED)
      return false;
  return many->failed || many->next == many->work->count;
}

/* Wait for news, but not so long that a cancel goes unnoticed. */
static void wait_for_news(struct many *many) {
  struct timespec until;
  (void)clock_gettime(CLOCK_REALTIME, &until);
  until.tv_nsec += 20 * 1000 * 1000;
  until.tv_sec += until.tv_nsec / 1000000000;
  until.tv_nsec %= 1000000000;
  (void)pthread_cond_timedwait(&many->news, &many->lock, &until);
}

static void preside(tutti_context *context, struct many *many, struct crew *crew, size_t threads) {
  (void)pthread_mutex_lock(&many->lock);
  while (!all_ended(many)) {
    bool served = false;
    for (size_t i = 0; i < many->next; i++) {
      served = served || many->jobs[i].state == JOB_ASKS || many->jobs[i].state == JOB_ENDED;
      serve(many, &many->jobs[i]);
    }
    if (tutti_cancelled(context))
      for (size_t i = 0; i < threads; i++)
        tutti_cancel(crew[i].context);
    if (!served)
      wait_for_news(many);
  }
  (void)pthread_mutex_unlock(&many->lock);
}

/* The error of the first job that has one, as if they had been trained in order. */
static enum tutti_status first_error(tutti_context *context, const struct many *many) {
  for (size_t i = 0; i < many->next; i++)
    if (many->jobs[i].status != TUTTI_OK)
      return TUTTI_FAIL(context, many->jobs[i].status, "%s",
                        many->jobs[i].message ? many->jobs[i].message : "out of memory");
  return TUTTI_OK;
}

static enum tutti_status train_in_order(tutti_context *context, const struct cpu_many *work) {
  for (size_t i = 0; i < work->count; i++) {
    TUTTI_TRY(context, work->train(work->self, context, work->jobs[i], work->outcomes[i]));
    work->done(work->argument, i);
  }
  return TUTTI_OK;
}

/* Start up to `most` threads; *threads: how many there are. */
static enum tutti_status start(tutti_context *context, struct many *many, struct crew *crew, size_t most,
                               size_t *threads) {
  for (*threads = 0; *threads < most; ++*threads) {
    struct crew *one = &crew[*threads];
    one->many = many;
    if (tutti_context_create(&one->context) != TUTTI_OK)
      return TUTTI_FAIL(context, TUTTI_ERROR_MEMORY, "no memory for a thread's context");
    tutti_threads_set(one->context, tutti_threads(context) / (unsigned)most);
    if (pthread_create(&one->thread, NULL, work_on, one) != 0) {
      tutti_context_destroy(one->context);
      one->context = NULL;
      break; /* fewer do as well, only slower */
    }
  }
  return TUTTI_OK;
}

enum tutti_status backend_cpu_many(tutti_context *context, const struct cpu_many *work) {
  struct many many = {.work = work};
  size_t most = tutti_threads(context) < work->count ? tutti_threads(context) : work->count, threads = 0;
  struct crew *crew = NULL;
  enum tutti_status status;
  if (most < 2)
    return train_in_order(context, work);
  TUTTI_TRY_OUT(context, tutti_alloc(context, most, sizeof *crew, &crew));
  TUTTI_TRY_OUT(context, tutti_alloc(context, work->count, sizeof *many.jobs, &many.jobs));
  for (size_t i = 0; i < work->count; i++)
    many.jobs[i] = (struct one){.many = &many, .index = i};
  (void)pthread_mutex_init(&many.lock, NULL);
  (void)pthread_cond_init(&many.news, NULL);
  (void)pthread_cond_init(&many.answer, NULL);
  status = start(context, &many, crew, most, &threads);
  if (status != TUTTI_OK) {
    (void)pthread_mutex_lock(&many.lock);
    many.failed = true;
    (void)pthread_mutex_unlock(&many.lock);
  }
  if (threads > 0)
    preside(context, &many, crew, threads);
  for (size_t i = 0; i < threads; i++) {
    (void)pthread_join(crew[i].thread, NULL);
    tutti_context_destroy(crew[i].context);
  }
  (void)pthread_cond_destroy(&many.answer);
  (void)pthread_cond_destroy(&many.news);
  (void)pthread_mutex_destroy(&many.lock);
  if (status == TUTTI_OK)
    status = threads > 0 ? first_error(context, &many) : train_in_order(context, work);
out:
  for (size_t i = 0; many.jobs && i < work->count; i++)
    tutti_free(many.jobs[i].message);
  tutti_free(many.jobs);
  tutti_free(crew);
  return status;
}
