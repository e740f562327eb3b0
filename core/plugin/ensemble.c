/* ensemble.c - members with weights, how they are combined, and the trace of why they were chosen. */
#include <math.h>
#include <stdio.h>

#include <tutti/selector.h>

#define MOST_PICKS 9007199254740992. /* whole numbers below are exact */

struct member {
  uint64_t trial;
  double weight; /* as it was given */
};

struct tutti_ensemble {
  enum tutti_combination combination;
  size_t members, member_room;
  struct member *member;
  double total; /* of the weights */
  size_t steps, step_room;
  struct tutti_step *step;
};

enum tutti_status tutti_ensemble_create(tutti_context *context, tutti_ensemble **ensemble) {
  return tutti_alloc(context, 1, sizeof **ensemble, ensemble);
}

void tutti_ensemble_destroy(tutti_ensemble *ensemble) {
  if (!ensemble)
    return;
  tutti_free(ensemble->member);
  tutti_free(ensemble->step);
  tutti_free(ensemble);
}

/* Room for one more of `used` elements. */
static enum tutti_status grow_array(tutti_context *context, size_t used, size_t *room, size_t size, void *array) {
  if (used < *room)
    return TUTTI_OK;
  size_t wanted = *room ? 2 * *room : 16;
  TUTTI_TRY(context, tutti_realloc(context, used, wanted, size, array));
  *room = wanted;
  return TUTTI_OK;
}

enum tutti_status tutti_ensemble_add(tutti_context *context, tutti_ensemble *ensemble, uint64_t trial, double weight) {
  if (!(weight > 0) || isinf(weight))
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "the weight of a member is to be positive and finite, found %g",
                      weight);
  size_t k = 0;
  while (k < ensemble->members && ensemble->member[k].trial != trial)
    k++;
  if (k == ensemble->members) {
    TUTTI_TRY(context, grow_array(context, k, &ensemble->member_room, sizeof *ensemble->member, &ensemble->member));
    ensemble->member[ensemble->members++] = (struct member){trial, 0};
  }
  ensemble->member[k].weight += weight;
  ensemble->total += weight;
  return TUTTI_OK;
}

enum tutti_status tutti_ensemble_trace(tutti_context *context, tutti_ensemble *ensemble, uint64_t trial, double loss,
                                       const char *note) {
  TUTTI_TRY(context,
            grow_array(context, ensemble->steps, &ensemble->step_room, sizeof *ensemble->step, &ensemble->step));
  struct tutti_step *step = &ensemble->step[ensemble->steps++];
  step->size = sizeof *step;
  step->trial = trial;
  step->loss = loss;
  (void)snprintf(step->note, sizeof step->note, "%s", note);
  return TUTTI_OK;
}

void tutti_ensemble_combine(tutti_ensemble *ensemble, enum tutti_combination combination) {
  ensemble->combination = combination;
}

enum tutti_combination tutti_ensemble_combination(const tutti_ensemble *ensemble) { return ensemble->combination; }

size_t tutti_ensemble_size(const tutti_ensemble *ensemble) { return ensemble->members; }

uint64_t tutti_ensemble_trial(const tutti_ensemble *ensemble, size_t index) { return ensemble->member[index].trial; }

double tutti_ensemble_weight(const tutti_ensemble *ensemble, size_t index) {
  return ensemble->member[index].weight / ensemble->total;
}

uint64_t tutti_ensemble_picks(const tutti_ensemble *ensemble) {
  for (size_t k = 0; k < ensemble->members; k++)
    if (ensemble->member[k].weight != floor(ensemble->member[k].weight))
      return 0;
  return ensemble->total < MOST_PICKS ? (uint64_t)ensemble->total : 0;
}

size_t tutti_ensemble_steps(const tutti_ensemble *ensemble) { return ensemble->steps; }

const struct tutti_step *tutti_ensemble_step(const tutti_ensemble *ensemble, size_t index) {
  return &ensemble->step[index];
}
