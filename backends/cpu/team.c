/* team.c - threads that share the work of a step. What is done is cut into parts whatever the number of threads is,
   and no part reads what another writes, so the bits do not depend on who takes which. */
#include "team_impl.h"

#include <pthread.h>
#include <stdatomic.h>

struct cpu_team {
  pthread_mutex_t lock;
  pthread_cond_t begin, end;
  /* Under the lock: */
  const struct cpu_work *work; /* NULL: there is none */
  uint64_t turn;               /* how many there have been */
  size_t working;              /* threads that are at it, but for the caller */
  bool over;
  atomic_size_t next; /* the next part */

  size_t helpers; /* threads that were started */
  struct cpu_helper {
    struct cpu_team *team;
    pthread_t thread;
    float *pack; /* [CPU_LARGE_PACK] */
  } * helper;
};

static void take_parts(struct cpu_team *team, const struct cpu_work *work, float *pack) {
  size_t part;
  while ((part = atomic_fetch_add_explicit(&team->next, 1, memory_order_relaxed)) < work->parts)
    work->run(work->argument, part, pack);
}

static void *help(void *argument) {
  struct cpu_helper *self = argument;
  struct cpu_team *team = self->team;
  uint64_t seen = 0;
  (void)backend_cpu_enter();
  (void)pthread_mutex_lock(&team->lock);
  while (!team->over) {
    if (!team->work || team->turn == seen) {
      (void)pthread_cond_wait(&team->begin, &team->lock);
      continue;
    }
    const struct cpu_work *work = team->work;
    seen = team->turn;
    team->working++;
    (void)pthread_mutex_unlock(&team->lock);
    take_parts(team, work, self->pack);
    (void)pthread_mutex_lock(&team->lock);
    if (--team->working == 0)
      (void)pthread_cond_signal(&team->end);
  }
  (void)pthread_mutex_unlock(&team->lock);
  return NULL;
}

enum tutti_status backend_cpu_team_create(tutti_context *context, size_t threads, struct cpu_team **made) {
  struct cpu_team *team;
  enum tutti_status status;
  *made = NULL;
  TUTTI_TRY(context, tutti_alloc(context, 1, sizeof *team, &team));
  (void)pthread_mutex_init(&team->lock, NULL);
  (void)pthread_cond_init(&team->begin, NULL);
  (void)pthread_cond_init(&team->end, NULL);
  TUTTI_TRY_OUT(context, tutti_alloc(context, threads, sizeof *team->helper, &team->helper));
  for (size_t i = 0; i + 1 < threads; i++) {
    struct cpu_helper *helper = &team->helper[i];
    helper->team = team;
    TUTTI_TRY_OUT(context, tutti_alloc(context, CPU_LARGE_PACK, sizeof *helper->pack, &helper->pack));
    if (pthread_create(&helper->thread, NULL, help, helper) != 0) { /* fewer do as well, only slower */
      tutti_free(helper->pack);
      break;
    }
    team->helpers++;
  }
  *made = team;
  return TUTTI_OK;
out:
  backend_cpu_team_destroy(team);
  return status;
}

void backend_cpu_team_destroy(struct cpu_team *team) {
  if (!team)
    return;
  (void)pthread_mutex_lock(&team->lock);
  team->over = true;
  (void)pthread_cond_broadcast(&team->begin);
  (void)pthread_mutex_unlock(&team->lock);
  for (size_t i = 0; i < team->helpers; i++) {
    (void)pthread_join(team->helper[i].thread, NULL);
    tutti_free(team->helper[i].pack);
  }
  (void)pthread_cond_destroy(&team->end);
  (void)pthread_cond_destroy(&team->begin);
  (void)pthread_mutex_destroy(&team->lock);
  tutti_free(team->helper);
  tutti_free(team);
}

size_t backend_cpu_team_threads(const struct cpu_team *team) { return team ? team->helpers + 1 : 1; }

void backend_cpu_team_run(struct cpu_team *team, const struct cpu_work *work, float *pack) {
  if (!team || team->helpers == 0 || work->parts < 2) {
    for (size_t part = 0; part < work->parts; part++)
      work->run(work->argument, part, pack);
    return;
  }
  (void)pthread_mutex_lock(&team->lock);
  atomic_store_explicit(&team->next, 0, memory_order_relaxed);
  team->work = work;
  team->turn++;
  (void)pthread_cond_broadcast(&team->begin);
  (void)pthread_mutex_unlock(&team->lock);
  take_parts(team, work, pack);
  (void)pthread_mutex_lock(&team->lock);
  team->work = NULL; /* who has not begun by now finds no part left */
  while (team->working > 0)
    (void)pthread_cond_wait(&team->end, &team->lock);
  (void)pthread_mutex_unlock(&team->lock);
}
