/* ladder.c - losses in order: a new one is put into its place, which costs a search and a shift. */
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

static enum tutti_status reserve_losses(tutti_context *context, struct ladder_rung *rung, size_t count) {
  if (count <= rung->room)
    return TUTTI_OK;
  size_t room = count * 2 + 16;
  TUTTI_TRY(context, tutti_realloc(context, rung->count, room, sizeof *rung->losses, &rung->losses));
  rung->room = room;
  return TUTTI_OK;
}

enum tutti_status ladder_insert(tutti_context *context, struct ladder_rung *rung, double loss) {
  size_t low = 0, high = rung->count;
  if (isnan(loss))
    return TUTTI_OK;
  TUTTI_TRY(context, reserve_losses(context, rung, rung->count + 1));
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (rung->losses[middle] <= loss)
      low = middle + 1;
    else
      high = middle;
  }
  memmove(rung->losses + low + 1, rung->losses + low, (rung->count - low) * sizeof *rung->losses);
  rung->losses[low] = loss;
  rung->count++;
  return TUTTI_OK;
}

enum tutti_status ladder_copy(tutti_context *context, const struct ladder_rung *from, struct ladder_rung *to) {
  TUTTI_TRY(context, reserve_losses(context, to, from->count));
  if (from->count > 0)
    memcpy(to->losses, from->losses, from->count * sizeof *to->losses);
  to->count = from->count;
  return TUTTI_OK;
}

double ladder_median(const struct ladder_rung *rung) {
  size_t half = rung->count / 2;
  return rung->count % 2 ? rung->losses[half] : (rung->losses[half - 1] + rung->losses[half]) / 2;
}

void ladder_release(struct ladder_rung *rung) {
  tutti_free(rung->losses);
  *rung = (struct ladder_rung){0};
}
