/* domain_vectors.c - points as vectors of [0, 1], for surrogates, and back. */
#include <math.h>

#include "domain_impl.h"
#include <tutti/sized.h>

size_t tutti_domain_width(const tutti_domain *domain) { return domain->width; }

void tutti_domain_column(const tutti_domain *domain, size_t column, struct tutti_domain_column_facts *facts) {
  size_t index = 0;
  while (domain->dimensions[index].column + domain->dimensions[index].columns <= column)
    index++;
  const struct dimension *dimension = &domain->dimensions[index];
  struct tutti_domain_column_facts found = {
      .size = sizeof found, .dimension = (uint32_t)index, .type = dimension->given.type};
  if (dimension->given.type == TUTTI_DIMENSION_CATEGORICAL)
    found.choice =
        dimension->columns == 1 ? (uint32_t)dimension->given.choice_count - 1 : (uint32_t)(column - dimension->column);
  if (dimension->given.type == TUTTI_DIMENSION_INTEGER && !dimension->given.log &&
      tutti_dimension_varies(&dimension->given))
    found.step = 1 / (dimension->given.high - dimension->given.low);
  TUTTI_GIVE(facts, &found);
}

static void encode_choice(const struct dimension *dimension, double value, double *columns) {
  if (dimension->given.choice_count == 2) {
    columns[0] = isnan(value) ? 0.5 : value;
    return;
  }
  for (size_t i = 0; i < dimension->columns; i++)
    columns[i] = value == (double)i;
}

void tutti_domain_encode(const tutti_domain *domain, const double *point, double *vector) {
  for (size_t i = 0; i < domain->count; i++) {
    const struct dimension *dimension = &domain->dimensions[i];
    double *columns = vector + dimension->column;
    if (dimension->given.type == TUTTI_DIMENSION_CATEGORICAL)
      encode_choice(dimension, point[i], columns);
    else
      columns[0] = isnan(point[i]) ? 0.5 : tutti_dimension_position(&dimension->given, point[i]);
  }
}

static double decode_choice(const struct dimension *dimension, const double *columns) {
  if (dimension->given.choice_count == 2)
    return columns[0] > 0.5;
  size_t largest = 0;
  for (size_t i = 1; i < dimension->columns; i++)
    if (columns[i] > columns[largest])
      largest = i;
  return (double)largest;
}

void tutti_domain_decode(const tutti_domain *domain, const double *vector, double *point) {
  for (size_t i = 0; i < domain->count; i++) {
    const struct dimension *dimension = &domain->dimensions[i];
    const double *columns = vector + dimension->column;
    if (!tutti_dimension_active(domain, i, point))
      point[i] = NAN;
    else if (dimension->given.type == TUTTI_DIMENSION_CATEGORICAL)
      point[i] = decode_choice(dimension, columns);
    else
      point[i] = tutti_dimension_clip(&dimension->given, tutti_dimension_at(&dimension->given, columns[0]));
  }
}
