/* domain.c - domains: their dimensions, which are copied and checked as they are added. */
#include <math.h>
#include <string.h>
#include <tutti/names.h>

#include "domain_impl.h"
#include "core/base/text_impl.h"

/* Integers are exact as doubles up to here. */
#define EXACT_INTEGER 0x1p53

enum tutti_status tutti_domain_create(tutti_context *context, tutti_domain **domain) {
  return tutti_alloc(context, 1, sizeof **domain, domain);
}

static void dimension_release(struct dimension *dimension) {
  tutti_free((void *)dimension->given.name);
  for (size_t i = 0; dimension->given.choices && i < dimension->given.choice_count; i++)
    tutti_free((void *)dimension->given.choices[i]);
  tutti_free((void *)dimension->given.choices);
  tutti_free((void *)dimension->given.parent);
  tutti_free((void *)dimension->given.parent_values);
}

void tutti_domain_destroy(tutti_domain *domain) {
  if (!domain)
    return;
  for (size_t i = 0; i < domain->count; i++)
    dimension_release(&domain->dimensions[i]);
  tutti_free(domain->dimensions);
  tutti_free(domain);
}

/* --- checks ----------------------------------------------------------------------------------------------------- */

static enum tutti_status check_range(tutti_context *context, const struct tutti_dimension *dimension) {
  char low[TUTTI_NUMBER_SIZE], high[TUTTI_NUMBER_SIZE];
  const char *name = dimension->name;
  tutti_number_print(dimension->low, low);
  tutti_number_print(dimension->high, high);
  if (!isfinite(dimension->low) || !isfinite(dimension->high) || !isfinite(dimension->high - dimension->low))
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "%s: expected a finite range, found %s to %s", name, low, high);
  if (dimension->low > dimension->high)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "%s: expected the least value first, found %s to %s", name, low,
                      high);
  if (dimension->log && dimension->low <= 0)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "%s: a range in the logarithm begins above 0, found %s", name, low);
  if (dimension->type == TUTTI_DIMENSION_REAL)
    return TUTTI_OK;
  if (dimension->low != floor(dimension->low) || dimension->high != floor(dimension->high))
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "%s: expected a range of whole numbers, found %s to %s", name, low,
                      high);
  if (dimension->low <= -EXACT_INTEGER || dimension->high >= EXACT_INTEGER)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "%s: whole numbers stay below 2^53 here, found %s to %s", name, low,
                      high);
  return TUTTI_OK;
}

static enum tutti_status check_choices(tutti_context *context, const struct tutti_dimension *dimension) {
  if (dimension->choice_count == 0 || !dimension->choices)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "%s: expected at least one choice, found none", dimension->name);
  for (size_t i = 0; i < dimension->choice_count; i++) {
    if (!dimension->choices[i] || !*dimension->choices[i])
      return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "%s: choice %zu is empty", dimension->name, i + 1);
    for (size_t j = 0; j < i; j++)
      if (strcmp(dimension->choices[i], dimension->choices[j]) == 0)
        return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "%s: the choice '%s' is there twice", dimension->name,
                          dimension->choices[i]);
  }
  return TUTTI_OK;
}

static enum tutti_status unknown_parent(tutti_context *context, const tutti_domain *domain,
                                        const struct tutti_dimension *dimension) {
  const char *closest = NULL, *name;
  for (size_t i = 0; i < domain->count && !closest; i++) {
    name = domain->dimensions[i].given.name;
    closest = tutti_closest_name(dimension->parent, 1, &name);
  }
  return TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                    "%s: its condition names '%s', which is no dimension that comes before it%s%s%s", dimension->name,
                    dimension->parent, closest ? "; did you mean '" : "", closest ? closest : "", closest ? "'?" : "");
}

static enum tutti_status check_condition(tutti_context *context, const tutti_domain *domain,
                                         const struct tutti_dimension *dimension, size_t *parent) {
  *parent = SIZE_MAX;
  if (!dimension->parent)
    return TUTTI_OK;
  *parent = tutti_domain_find(domain, dimension->parent);
  if (*parent == SIZE_MAX)
    return unknown_parent(context, domain, dimension);
  const struct tutti_dimension *given = &domain->dimensions[*parent].given;
  if (given->type == TUTTI_DIMENSION_REAL)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                      "%s: its condition names '%s', which is real; only choices and integers "
                      "can be asked for",
                      dimension->name, dimension->parent);
  if (dimension->parent_value_count == 0 || !dimension->parent_values)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "%s: its condition gives no values of '%s'", dimension->name,
                      dimension->parent);
  for (size_t i = 0; i < dimension->parent_value_count; i++)
    if (!tutti_dimension_holds(given, dimension->parent_values[i])) {
      char value[TUTTI_NUMBER_SIZE];
      tutti_number_print(dimension->parent_values[i], value);
      return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "%s: its condition asks for %s, which '%s' never is",
                        dimension->name, value, dimension->parent);
    }
  return TUTTI_OK;
}

static enum tutti_status check(tutti_context *context, const tutti_domain *domain,
                               const struct tutti_dimension *dimension, size_t *parent) {
  if (!dimension->name || !*dimension->name)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "a dimension needs a name");
  if (tutti_domain_find(domain, dimension->name) != SIZE_MAX)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "%s: there is a dimension of this name already", dimension->name);
  switch (dimension->type) {
  case TUTTI_DIMENSION_REAL:
  case TUTTI_DIMENSION_INTEGER:
    TUTTI_TRY(context, check_range(context, dimension));
    break;
  case TUTTI_DIMENSION_CATEGORICAL:
    TUTTI_TRY(context, check_choices(context, dimension));
    break;
  default:
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "%s: type %d is unknown", dimension->name, (int)dimension->type);
  }
  return check_condition(context, domain, dimension, parent);
}

/* --- adding ----------------------------------------------------------------------------------------------------- */

static enum tutti_status copy_text(tutti_context *context, const char *text, const char **copy) {
  char *made;
  TUTTI_TRY(context, tutti_strdup(context, text, &made));
  *copy = made;
  return TUTTI_OK;
}

/* Copy the members of `from` that its type uses. After a failure *to holds what was copied, for dimension_release. */
static enum tutti_status copy_dimension(tutti_context *context, const struct tutti_dimension *from,
                                        struct tutti_dimension *to) {
  *to = (struct tutti_dimension){.size = sizeof *to, .type = from->type};
  TUTTI_TRY(context, copy_text(context, from->name, &to->name));
  if (from->type == TUTTI_DIMENSION_CATEGORICAL) {
    const char **choices;
    TUTTI_TRY(context, tutti_alloc(context, from->choice_count, sizeof *choices, &choices));
    to->choices = choices;
    to->choice_count = from->choice_count;
    for (size_t i = 0; i < from->choice_count; i++)
      TUTTI_TRY(context, copy_text(context, from->choices[i], &choices[i]));
  } else {
    to->low = from->low;
    to->high = from->high;
    to->log = from->log;
  }
  if (from->parent) {
    double *values;
    TUTTI_TRY(context, copy_text(context, from->parent, &to->parent));
    TUTTI_TRY(context, tutti_alloc(context, from->parent_value_count, sizeof *values, &values));
    memcpy(values, from->parent_values, from->parent_value_count * sizeof *values);
    to->parent_values = values;
    to->parent_value_count = from->parent_value_count;
  }
  return TUTTI_OK;
}

/* Two choices need only one column. */
static size_t columns_of(const struct tutti_dimension *dimension) {
  return dimension->type != TUTTI_DIMENSION_CATEGORICAL || dimension->choice_count == 2 ? 1 : dimension->choice_count;
}

enum tutti_status tutti_domain_add(tutti_context *context, tutti_domain *domain,
                                   const struct tutti_dimension *dimension) {
  enum tutti_status status = TUTTI_OK;
  struct dimension made = {.column = domain->width};
  struct tutti_dimension given = {0};
  if (dimension->size < sizeof dimension->size)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "a dimension's `size` is not set to sizeof(struct tutti_dimension)");
  memcpy(&given, dimension, dimension->size < sizeof given ? dimension->size : sizeof given);
  TUTTI_TRY_OUT(context, check(context, domain, &given, &made.parent));
  TUTTI_TRY_OUT(context, copy_dimension(context, &given, &made.given));
  made.columns = columns_of(&given);
  if (domain->count == domain->capacity) {
    size_t capacity = 2 * domain->capacity + 8;
    TUTTI_TRY_OUT(context, tutti_realloc(context, domain->count, capacity, sizeof made, &domain->dimensions));
    domain->capacity = capacity;
  }
  domain->dimensions[domain->count++] = made;
  domain->width += made.columns;
  made = (struct dimension){0};
out:
  dimension_release(&made);
  return status;
}

/* --- reading ---------------------------------------------------------------------------------------------------- */

size_t tutti_domain_count(const tutti_domain *domain) { return domain->count; }

const struct tutti_dimension *tutti_domain_at(const tutti_domain *domain, size_t index) {
  return &domain->dimensions[index].given;
}

size_t tutti_domain_find(const tutti_domain *domain, const char *name) {
  for (size_t i = 0; i < domain->count; i++)
    if (strcmp(domain->dimensions[i].given.name, name) == 0)
      return i;
  return SIZE_MAX;
}

static bool asks_for(const struct tutti_dimension *dimension, double value) {
  for (size_t i = 0; i < dimension->parent_value_count; i++)
    if (dimension->parent_values[i] == value)
      return true;
  return false;
}

bool tutti_dimension_active(const tutti_domain *domain, size_t index, const double *point) {
  const struct dimension *dimension = &domain->dimensions[index];
  /* An inactive parent is NaN, which no condition asks for. */
  return dimension->parent == SIZE_MAX || asks_for(&dimension->given, point[dimension->parent]);
}

static double subtree_cardinality(const tutti_domain *domain, size_t index);

/* The number of ways to fill the dimensions that depend on dimension `index`, directly or not, while it has this
   value. */
static double dependants_cardinality(const tutti_domain *domain, size_t index, double value) {
  double product = 1;
  for (size_t i = index + 1; i < domain->count; i++)
    if (domain->dimensions[i].parent == index && asks_for(&domain->dimensions[i].given, value))
      product *= subtree_cardinality(domain, i);
  return product;
}

/* Does something earlier ask for value number v of the condition of `child`: its own list, or a dimension before it? */
static bool asked_before(const tutti_domain *domain, size_t child, size_t v) {
  const struct dimension *asking = &domain->dimensions[child];
  double value = asking->given.parent_values[v];
  for (size_t w = 0; w < v; w++)
    if (asking->given.parent_values[w] == value)
      return true;
  for (size_t i = 0; i < child; i++)
    if (domain->dimensions[i].parent == asking->parent && asks_for(&domain->dimensions[i].given, value))
      return true;
  return false;
}

/* The number of points of an active dimension together with those that depend on it. */
static double subtree_cardinality(const tutti_domain *domain, size_t index) {
  const struct tutti_dimension *self = &domain->dimensions[index].given;
  if (self->type == TUTTI_DIMENSION_REAL)
    return tutti_dimension_varies(self) ? INFINITY : 1;
  double total = tutti_dimension_high(self) - tutti_dimension_low(self) + 1;
  for (size_t i = index + 1; i < domain->count; i++) {
    const struct dimension *child = &domain->dimensions[i];
    for (size_t v = 0; child->parent == index && v < child->given.parent_value_count; v++)
      if (!asked_before(domain, i, v))
        total += dependants_cardinality(domain, index, child->given.parent_values[v]) - 1;
  }
  return total;
}

double tutti_domain_cardinality(const tutti_domain *domain) {
  double product = 1;
  for (size_t i = 0; i < domain->count; i++)
    if (domain->dimensions[i].parent == SIZE_MAX)
      product *= subtree_cardinality(domain, i);
  return product;
}
