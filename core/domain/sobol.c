/* sobol.c - the Sobol sequence in Gray-code order (Antonov and Saleev, 1979), from the direction numbers of Joe and
   Kuo. */
#include <tutti/domain.h>

#include "sobol_directions.h"

/* Bits of a coordinate: a double's precision. */
enum { BITS = 53 };

struct tutti_sobol {
  size_t dimension;
  uint64_t index;         /* of the next point */
  uint64_t *state;        /* [dimension]: the next point's bits, shifted */
  uint64_t (*step)[BITS]; /* [dimension]: direction numbers v_1, v_2, ..., the binary point before bit BITS */
};

/* Fill the direction numbers of dimension `which` >= 1 by the recurrence of its polynomial (Joe and Kuo, Section 2). */
static void fill_directions(size_t which, uint64_t step[BITS]) {
  const struct sobol_direction *direction = &sobol_directions[which - 1];
  int degree = 31 - __builtin_clz(direction->polynomial);
  for (int i = 0; i < BITS; i++) {
    if (i < degree) {
      step[i] = (uint64_t)direction->initial[i] << (BITS - 1 - i);
      continue;
    }
    step[i] = step[i - degree] ^ (step[i - degree] >> degree);
    for (int k = 1; k < degree; k++)
      if (direction->polynomial >> (degree - k) & 1)
        step[i] ^= step[i - k];
  }
}

enum tutti_status tutti_sobol_create(tutti_context *context, size_t dimension, struct tutti_random *shift,
                                     tutti_sobol **sobol) {
  enum tutti_status status = TUTTI_OK;
  tutti_sobol *made = NULL;
  *sobol = NULL;
  if (dimension == 0 || dimension > TUTTI_SOBOL_DIMENSIONS)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "Sobol points have 1 to %d dimensions here, and %zu are asked for",
                      TUTTI_SOBOL_DIMENSIONS, dimension);
  TUTTI_TRY_OUT(context, tutti_alloc(context, 1, sizeof *made, &made));
  TUTTI_TRY_OUT(context, tutti_alloc(context, dimension, sizeof *made->state, &made->state));
  TUTTI_TRY_OUT(context, tutti_alloc(context, dimension, sizeof *made->step, &made->step));
  made->dimension = dimension;
  for (int i = 0; i < BITS; i++)
    made->step[0][i] = UINT64_C(1) << (BITS - 1 - i);
  for (size_t d = 1; d < dimension; d++)
    fill_directions(d, made->step[d]);
  for (size_t d = 0; shift && d < dimension; d++)
    made->state[d] = tutti_random_u64(shift) >> (64 - BITS);
  *sobol = made;
  made = NULL;
out:
  tutti_sobol_destroy(made);
  return status;
}

void tutti_sobol_next(tutti_sobol *sobol, double *point) {
  int changed = __builtin_ctzll(++sobol->index);
  for (size_t d = 0; d < sobol->dimension; d++) {
    point[d] = (double)sobol->state[d] * 0x1p-53;
    sobol->state[d] ^= sobol->step[d][changed];
  }
}

void tutti_sobol_destroy(tutti_sobol *sobol) {
  if (!sobol)
    return;
  tutti_free(sobol->state);
  tutti_free(sobol->step);
  tutti_free(sobol);
}
