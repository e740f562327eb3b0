/* domain_points.c - points of a domain: drawn, changed, repaired, checked. */
#include <math.h>
#include <string.h>

#include "domain_impl.h"
#include "core/base/text_impl.h"

/* --- values of one dimension ------------------------------------------------------------------------------------ */

double tutti_dimension_low(const struct tutti_dimension *dimension) {
  return dimension->type == TUTTI_DIMENSION_CATEGORICAL ? 0 : dimension->low;
}

double tutti_dimension_high(const struct tutti_dimension *dimension) {
  return dimension->type == TUTTI_DIMENSION_CATEGORICAL ? (double)(dimension->choice_count - 1) : dimension->high;
}

bool tutti_dimension_varies(const struct tutti_dimension *dimension) {
  return tutti_dimension_low(dimension) < tutti_dimension_high(dimension);
}

bool tutti_dimension_holds(const struct tutti_dimension *dimension, double value) {
  return value >= tutti_dimension_low(dimension) && value <= tutti_dimension_high(dimension) &&
         (dimension->type == TUTTI_DIMENSION_REAL || value == floor(value));
}

double tutti_dimension_position(const struct tutti_dimension *dimension, double value) {
  if (!tutti_dimension_varies(dimension))
    return 0.5;
  if (dimension->log)
    return (log(value) - log(dimension->low)) / (log(dimension->high) - log(dimension->low));
  return (value - dimension->low) / (dimension->high - dimension->low);
}

double tutti_dimension_at(const struct tutti_dimension *dimension, double position) {
  double low = dimension->low, high = dimension->high;
  return dimension->log ? exp((1 - position) * log(low) + position * log(high))
                        : (1 - position) * low + position * high;
}

double tutti_dimension_clip(const struct tutti_dimension *dimension, double value) {
  double low = tutti_dimension_low(dimension), high = tutti_dimension_high(dimension);
  if (dimension->type != TUTTI_DIMENSION_REAL)
    value = round(value);
  return value < low ? low : value > high ? high : value;
}

static double middle_of(const struct tutti_dimension *dimension) {
  if (dimension->type == TUTTI_DIMENSION_CATEGORICAL)
    return floor(tutti_dimension_high(dimension) / 2);
  return tutti_dimension_clip(dimension, tutti_dimension_at(dimension, 0.5));
}

/* The inverse distribution function. A log-integer k has the share of [log k, log (k + 1)), so that every octave is
   equally likely. */
static double value_at(const struct tutti_dimension *dimension, double unit) {
  double low = tutti_dimension_low(dimension), high = tutti_dimension_high(dimension), value;
  if (dimension->type == TUTTI_DIMENSION_REAL)
    value = tutti_dimension_at(dimension, unit);
  else if (dimension->log)
    value = floor(exp((1 - unit) * log(low) + unit * log(high + 1)));
  else
    value = low + floor(unit * (high - low + 1));
  return value < low ? low : value > high ? high : value;
}

static double draw(const struct tutti_dimension *dimension, struct tutti_random *random) {
  if (dimension->type == TUTTI_DIMENSION_REAL || dimension->log)
    return value_at(dimension, tutti_random_uniform(random));
  double low = tutti_dimension_low(dimension);
  return low + (double)tutti_random_below(random, (uint64_t)(tutti_dimension_high(dimension) - low) + 1);
}

/* A draw that differs from `value`. */
static double draw_other(const struct tutti_dimension *dimension, struct tutti_random *random, double value) {
  enum { TRIES = 64 };
  for (int i = 0; i < TRIES; i++) {
    double drawn = draw(dimension, random);
    if (drawn != value)
      return drawn;
  }
  /* The range is so narrow, or one end so likely, that nothing else was drawn. */
  double low = tutti_dimension_low(dimension);
  return value != low ? low : tutti_dimension_high(dimension);
}

/* --- drawing and changing --------------------------------------------------------------------------------------- */

void tutti_domain_sample(const tutti_domain *domain, struct tutti_random *random, double *point) {
  for (size_t i = 0; i < domain->count; i++)
    point[i] = tutti_dimension_active(domain, i, point) ? draw(&domain->dimensions[i].given, random) : NAN;
}

void tutti_domain_from_unit(const tutti_domain *domain, const double *unit, double *point) {
  for (size_t i = 0; i < domain->count; i++)
    point[i] = tutti_dimension_active(domain, i, point) ? value_at(&domain->dimensions[i].given, unit[i]) : NAN;
}

static bool can_change(const tutti_domain *domain, size_t index, const double *point) {
  return !isnan(point[index]) && tutti_dimension_varies(&domain->dimensions[index].given);
}

bool tutti_domain_mutate(const tutti_domain *domain, struct tutti_random *random, double *point) {
  size_t changeable = 0;
  for (size_t i = 0; i < domain->count; i++)
    changeable += can_change(domain, i, point);
  if (changeable == 0)
    return false;
  size_t chosen = (size_t)tutti_random_below(random, changeable), index = 0;
  while (!can_change(domain, index, point) || chosen-- > 0)
    index++;
  point[index] = draw_other(&domain->dimensions[index].given, random, point[index]);
  for (size_t i = index + 1; i < domain->count; i++) {
    if (!tutti_dimension_active(domain, i, point))
      point[i] = NAN;
    else if (isnan(point[i]))
      point[i] = draw(&domain->dimensions[i].given, random);
  }
  return true;
}

void tutti_domain_repair(const tutti_domain *domain, double *point) {
  for (size_t i = 0; i < domain->count; i++) {
    const struct tutti_dimension *dimension = &domain->dimensions[i].given;
    if (!tutti_dimension_active(domain, i, point))
      point[i] = NAN;
    else
      point[i] = isnan(point[i]) ? middle_of(dimension) : tutti_dimension_clip(dimension, point[i]);
  }
}

/* --- neighbours ------------------------------------------------------------------------------------------------- */

struct neighbourhood {
  const tutti_domain *domain;
  const double *centre;
  double *point; /* [count], scratch */
  bool (*visit)(void *argument, const double *point);
  void *argument;
};

/* Visit the centre with one coordinate changed; true: go on. */
static bool visit_neighbour(const struct neighbourhood *around, size_t index, double value) {
  value = tutti_dimension_clip(&around->domain->dimensions[index].given, value);
  if (value == around->centre[index])
    return true;
  memcpy(around->point, around->centre, around->domain->count * sizeof *around->point);
  around->point[index] = value;
  tutti_domain_repair(around->domain, around->point);
  return around->visit(around->argument, around->point);
}

/* The value one step up (+1) or down (-1). */
static double stepped(const struct tutti_dimension *dimension, double value, double step, int sign) {
  enum { LOG_STEPS = 20 };
  double position = tutti_dimension_position(dimension, value);
  if (dimension->type == TUTTI_DIMENSION_REAL)
    return tutti_dimension_at(dimension, position + sign * step);
  if (!dimension->log)
    return value + sign;
  double far = round(tutti_dimension_at(dimension, position + (double)sign / LOG_STEPS));
  return sign > 0 ? fmax(far, value + 1) : fmin(far, value - 1);
}

static bool visit_along(const struct neighbourhood *around, size_t index, double step) {
  const struct tutti_dimension *dimension = &around->domain->dimensions[index].given;
  double value = around->centre[index];
  if (!can_change(around->domain, index, around->centre))
    return true;
  if (dimension->type != TUTTI_DIMENSION_CATEGORICAL)
    return visit_neighbour(around, index, stepped(dimension, value, step, -1)) &&
           visit_neighbour(around, index, stepped(dimension, value, step, +1));
  for (size_t choice = 0; choice < dimension->choice_count; choice++)
    if (!visit_neighbour(around, index, (double)choice))
      return false;
  return true;
}

enum tutti_status tutti_domain_neighbours(tutti_context *context, const tutti_domain *domain, const double *point,
                                          double step, bool (*visit)(void *argument, const double *point),
                                          void *argument) {
  struct neighbourhood around = {.domain = domain, .centre = point, .visit = visit, .argument = argument};
  TUTTI_TRY(context, tutti_alloc(context, domain->count, sizeof *around.point, &around.point));
  for (size_t i = 0; i < domain->count; i++)
    if (!visit_along(&around, i, step))
      break;
  tutti_free(around.point);
  return TUTTI_OK;
}

/* --- checking --------------------------------------------------------------------------------------------------- */

static enum tutti_status outside(tutti_context *context, const struct tutti_dimension *dimension, double value) {
  char found[TUTTI_NUMBER_SIZE], low[TUTTI_NUMBER_SIZE], high[TUTTI_NUMBER_SIZE];
  tutti_number_print(value, found);
  tutti_number_print(tutti_dimension_low(dimension), low);
  tutti_number_print(tutti_dimension_high(dimension), high);
  static const char *const kinds[] = {"a number", "a whole number", "the number of a choice"};
  return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "%s: expected %s from %s to %s, found %s", dimension->name,
                    kinds[dimension->type], low, high, found);
}

enum tutti_status tutti_domain_check(tutti_context *context, const tutti_domain *domain, const double *point) {
  for (size_t i = 0; i < domain->count; i++) {
    const struct tutti_dimension *dimension = &domain->dimensions[i].given;
    if (tutti_dimension_active(domain, i, point)) {
      if (!tutti_dimension_holds(dimension, point[i]))
        return outside(context, dimension, point[i]);
    } else if (!isnan(point[i])) {
      return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "%s: has a value (%g) although its condition on '%s' does not hold",
                        dimension->name, point[i], dimension->parent);
    }
  }
  return TUTTI_OK;
}

bool tutti_domain_equal(const tutti_domain *domain, const double *a, const double *b) {
  for (size_t i = 0; i < domain->count; i++)
    if (a[i] != b[i] && !(isnan(a[i]) && isnan(b[i])))
      return false;
  return true;
}
