/* ladder.c - a quantile of losses that come one by one: two heaps, with what is below it and what is above. */
#include "ladder.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

const char *const ladder_losses_names[] = {[LADDER_VALIDATION] = "validation", [LADDER_TRAINING] = "training", NULL};

void ladder_warn_of_warmup(tutti_context *context, const struct tutti_pruner_setup *setup, int64_t warmup) {
  if (setup->known > 0 && (uint64_t)warmup > setup->known)
    tutti_log(context, TUTTI_LOG_WARNING,
              "pruner.warmup = %" PRId64 ": nothing is pruned before so many trials are told, and when the last one is "
              "asked for at most %" PRIu64 " are, so this run prunes nothing; a smaller warmup, a larger budget or a "
              "smaller run.window lets it",
              warmup, setup->known);
}

const double *ladder_losses_of(int losses, const struct tutti_curve *curve) {
  return losses == LADDER_TRAINING ? curve->training : curve->losses;
}

static enum tutti_status push(tutti_context *context, struct ladder_heap *heap, double value) {
  if (heap->count == heap->room) {
    size_t room = heap->room * 2 + 16;
    TUTTI_TRY(context, tutti_realloc(context, heap->room, room, sizeof *heap->values, &heap->values));
    heap->room = room;
  }
  size_t at = heap->count++;
  for (; at > 0 && heap->values[(at - 1) / 2] < value; at = (at - 1) / 2)
    heap->values[at] = heap->values[(at - 1) / 2];
  heap->values[at] = value;
  return TUTTI_OK;
}

/* Take the greatest out. `count` > 0. */
static double pop(struct ladder_heap *heap) {
  const double top = heap->values[0], last = heap->values[--heap->count];
  size_t at = 0, next;
  while ((next = 2 * at + 1) < heap->count) {
    if (next + 1 < heap->count && heap->values[next] < heap->values[next + 1])
      next++;
    if (heap->values[next] <= last)
      break;
    heap->values[at] = heap->values[next];
    at = next;
  }
  heap->values[at] = last;
  return top;
}

static enum tutti_status copy_heap(tutti_context *context, const struct ladder_heap *from, struct ladder_heap *to) {
  if (from->count == 0)
    return TUTTI_OK;
  TUTTI_TRY(context, tutti_alloc(context, from->count, sizeof *to->values, &to->values));
  memcpy(to->values, from->values, from->count * sizeof *to->values);
  to->count = to->room = from->count;
  return TUTTI_OK;
}

enum tutti_status ladder_insert(tutti_context *context, struct ladder_rung *rung, double loss, size_t best) {
  if (isnan(loss))
    return TUTTI_OK;
  if (rung->best.count > 0 && loss < rung->best.values[0])
    TUTTI_TRY(context, push(context, &rung->best, loss));
  else
    TUTTI_TRY(context, push(context, &rung->rest, -loss));
  rung->count++;
  while (rung->best.count < best)
    TUTTI_TRY(context, push(context, &rung->best, -pop(&rung->rest)));
  while (rung->best.count > best)
    TUTTI_TRY(context, push(context, &rung->rest, -pop(&rung->best)));
  return TUTTI_OK;
}

enum tutti_status ladder_copy(tutti_context *context, const struct ladder_rung *from, struct ladder_rung *to) {
  TUTTI_TRY(context, copy_heap(context, &from->best, &to->best));
  TUTTI_TRY(context, copy_heap(context, &from->rest, &to->rest));
  to->count = from->count;
  return TUTTI_OK;
}

double ladder_cut(const struct ladder_rung *rung) { return rung->best.values[0]; }

size_t ladder_half(const struct ladder_rung *rung) { return rung->count / 2 + 1; }

double ladder_median(const struct ladder_rung *rung) {
  double lower = rung->best.values[0];
  return rung->count % 2 ? lower : (lower - rung->rest.values[0]) / 2;
}

void ladder_release(struct ladder_rung *rung) {
  tutti_free(rung->best.values);
  tutti_free(rung->rest.values);
  *rung = (struct ladder_rung){0};
}
