/* dgp_data.c - points, the distinct architectures among them, and the distances between these. */
#include <string.h>

#include "dgp_impl.h"

static void drop_genotypes(struct dgp_data *data, size_t kept) {
  while (data->distinct > kept)
    tutti_genotype_unref(data->genotypes[--data->distinct]);
  if (data->settled > kept)
    data->settled = kept;
}

void dgp_data_clear(struct dgp_data *data) {
  drop_genotypes(data, 0);
  tutti_free(data->places);
  tutti_free(data->vectors);
  tutti_free(data->values);
  tutti_free(data->noise);
  tutti_free(data->genotypes);
  tutti_free(data->measures);
  tutti_free(data->fresh);
  *data = (struct dgp_data){0};
}

void dgp_data_forget(struct dgp_data *data) {
  dgp_data_release(data);
  data->count = data->settled = 0;
}

/* Room for `wanted` points, by doubling. */
static enum tutti_status reserve(tutti_context *context, struct dgp_data *data, size_t wanted) {
  size_t old = data->room, room = old ? old : 32, m = data->shape.measures;
  if (wanted <= old)
    return TUTTI_OK;
  while (room < wanted && room <= SIZE_MAX / 2)
    room *= 2;
  if (room > SIZE_MAX / (sizeof(double) * (m + 1)) / room)
    return TUTTI_FAIL(context, TUTTI_ERROR_MEMORY, "surrogate gp-otmann: room for %zu observations overflows", wanted);
  TUTTI_TRY(context, tutti_realloc(context, old, room, sizeof(size_t), &data->places));
  TUTTI_TRY(context, tutti_realloc(context, old, room, data->shape.width * sizeof(double), &data->vectors));
  TUTTI_TRY(context, tutti_realloc(context, old, room, sizeof(double), &data->values));
  TUTTI_TRY(context, tutti_realloc(context, old, room, sizeof(double), &data->noise));
  TUTTI_TRY(context, tutti_realloc(context, old, room, sizeof(tutti_genotype *), &data->genotypes));
  TUTTI_TRY(context, tutti_realloc(context, 0, room, m * sizeof(double), &data->fresh));
  TUTTI_TRY(context, tutti_realloc(context, old * (old - (old > 0)) / 2, room * (room - 1) / 2, m * sizeof(double),
                                   &data->measures));
  data->room = room;
  return TUTTI_OK;
}

static size_t find(const struct dgp_data *data, const tutti_genotype *genotype, size_t count) {
  size_t i = 0;
  while (i < count && !tutti_genotype_equal(data->genotypes[i], genotype))
    i++;
  return i;
}

static double raised(double distance, double power) {
  return power == 1 ? distance : power == 2 ? distance * distance : pow(distance, power);
}

/* Distances to the first `count` architectures. */
static enum tutti_status measure(tutti_context *context, const struct dgp_data *data, const tutti_genotype *genotype,
                                 size_t count, double *out) {
  size_t m = data->shape.measures;
  if (count == 0)
    return TUTTI_OK;
  TUTTI_TRY(context,
            tutti_space_distances(context, genotype, count, (const tutti_genotype *const *)data->genotypes, out));
  for (size_t i = 0; i < count * m; i++)
    out[i] = raised(out[i], data->shape.powers[i % m / data->shape.each]);
  return TUTTI_OK;
}

/* Copy the distances between the known architecture `place` and the first `count` ones. */
static void recall(const struct dgp_data *data, size_t place, size_t count, double *out) {
  size_t m = data->shape.measures;
  for (size_t j = 0; j < count; j++)
    if (j == place)
      memset(out + j * m, 0, m * sizeof(double));
    else
      memcpy(out + j * m, j < place ? dgp_data_measures(data, place, j) : dgp_data_measures(data, j, place),
             m * sizeof(double));
}

enum tutti_status dgp_data_measure(tutti_context *context, struct dgp_data *data, const tutti_genotype *genotype,
                                   size_t count, double *out) {
  size_t place = find(data, genotype, data->distinct);
  if (place == data->distinct)
    return measure(context, data, genotype, count, out);
  recall(data, place, count, out);
  return TUTTI_OK;
}

/* The number of a point's architecture among the first `*known` ones; a new architecture gets the next number. An entry
   left over from before at that place is reused if it is the same architecture, and dropped if not. */
static enum tutti_status place_genotype(tutti_context *context, struct dgp_data *data, const tutti_genotype *genotype,
                                        size_t *known, size_t *place) {
  *place = find(data, genotype, *known);
  if (*place < *known)
    return TUTTI_OK;
  if (*known == data->distinct || !tutti_genotype_equal(data->genotypes[*known], genotype)) {
    drop_genotypes(data, *known);
    size_t row = *known * (*known - (*known > 0)) / 2;
    TUTTI_TRY(context, measure(context, data, genotype, *known, data->measures + row * data->shape.measures));
    data->genotypes[data->distinct++] = tutti_genotype_ref(genotype);
  }
  ++*known;
  return TUTTI_OK;
}

static enum tutti_status place_points(tutti_context *context, struct dgp_data *data, const struct tutti_points *points,
                                      size_t *known) {
  size_t first = data->count + data->pending;
  if (!points->candidates)
    return TUTTI_FAIL(context, TUTTI_ERROR_INTERNAL, "surrogate gp-otmann: expected candidates, found vectors alone");
  TUTTI_TRY(context, reserve(context, data, first + points->count));
  for (size_t i = 0; i < points->count; i++) {
    const tutti_candidate *candidate = points->candidates[i];
    TUTTI_TRY(context,
              place_genotype(context, data, tutti_candidate_genotype(candidate), known, &data->places[first + i]));
    if (data->shape.width > 0)
      tutti_domain_encode(data->domain, tutti_candidate_hyperparameters(candidate),
                          data->vectors + (first + i) * data->shape.width);
  }
  return TUTTI_OK;
}

enum tutti_status dgp_data_add(tutti_context *context, struct dgp_data *data, const struct tutti_points *points,
                               const double *values, const double *noise) {
  dgp_data_release(data);
  TUTTI_TRY(context, place_points(context, data, points, &data->settled));
  memcpy(data->values + data->count, values, points->count * sizeof(double));
  for (size_t i = 0; i < points->count; i++)
    data->noise[data->count + i] = noise ? noise[i] : 0;
  data->count += points->count;
  return TUTTI_OK;
}

enum tutti_status dgp_data_suppose(tutti_context *context, struct dgp_data *data, const struct tutti_points *points) {
  size_t known = data->pending ? data->distinct : data->settled;
  TUTTI_TRY(context, place_points(context, data, points, &known));
  data->pending += points->count;
  return TUTTI_OK;
}

void dgp_data_release(struct dgp_data *data) { data->pending = 0; }
