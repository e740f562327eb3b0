/* catalogue_sums.c - checksums of the parts of a trial. */
#include "catalogue_sums.h"

#include <math.h>
#include <string.h>
#include <zlib.h>

static uint32_t add(uint32_t sum, const void *data, size_t bytes) { return (uint32_t)crc32_z(sum, data, bytes); }

static uint32_t add_text(uint32_t sum, const char *text) {
  return add(sum, text ? text : "", text ? strlen(text) + 1 : 1);
}

static uint32_t add_number(uint32_t sum, uint64_t number) { return add(sum, &number, sizeof number); }

/* SQLite knows neither NaN, which becomes NULL, nor a negative zero. */
static uint32_t add_real(uint32_t sum, double real) {
  double known = isnan(real) ? (double)NAN : real + 0.0;
  uint64_t bits;
  memcpy(&bits, &known, sizeof bits);
  return add_number(sum, isnan(real) ? UINT64_MAX : bits);
}

const char *tutti_sum_says(enum tutti_sum part) {
  static const char *const parts[TUTTI_SUMS] = {
      [TUTTI_SUM_ASKED] = "its candidate, parent, origin or asked_after",
      [TUTTI_SUM_DONE] = "its state, loss, seconds, worker, failure or report",
      [TUTTI_SUM_TOLD] = "its place in the order of telling",
      [TUTTI_SUM_AT] = "the time of its result",
  };
  return parts[part];
}

bool tutti_sum_there(const struct tutti_trial *trial, enum tutti_sum part) {
  return part == TUTTI_SUM_DONE   ? trial->done
         : part == TUTTI_SUM_TOLD ? trial->told != TUTTI_NO_TRIAL
         : part == TUTTI_SUM_AT   ? isfinite(trial->at) != 0
                                  : true;
}

uint32_t tutti_sum_of(const struct tutti_trial *trial, enum tutti_sum part) {
  uint32_t sum = add_number((uint32_t)crc32_z(0, NULL, 0), trial->number);
  switch (part) {
  case TUTTI_SUM_ASKED:
    sum = add_text(sum, trial->candidate);
    sum = add_number(sum, trial->parent);
    sum = add_text(sum, trial->origin);
    return add_number(sum, trial->asked_after);
  case TUTTI_SUM_DONE:
    sum = add_text(sum, tutti_state_name(trial->state));
    sum = add_real(sum, trial->loss);
    sum = add_real(sum, isnan(trial->seconds) ? 0 : trial->seconds);
    sum = add_number(sum, trial->worker);
    sum = add_text(sum, trial->failure);
    return add_text(sum, trial->report);
  case TUTTI_SUM_TOLD:
    return add_number(sum, trial->told);
  default:
    return add_real(sum, trial->at);
  }
}

uint32_t tutti_sum_of_fact(const char *key, const char *text) {
  return add_text(add_text((uint32_t)crc32_z(0, NULL, 0), key), text);
}
