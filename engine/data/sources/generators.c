/* generators.c - tables that are computed: AutoDEUQ's toy and the functions of the NOMU paper. Training inputs are
   drawn uniformly and noisy; test rows lie on an even grid without noise.

   toy-sine (Egele et al., "AutoDEUQ", ICPR 2022): y = cos(x / 2) + 2 sin(x / 10) + x / 100 plus normal noise, half of
   the rows from [-30, -20] and half from [20, 30]. */
#include "engine/data/data_impl.h"

#include <math.h>
#include <string.h>
#include <tutti/random.h>

/* A generator with its parameters filled in. */
struct generator {
  const char *name;
  size_t dimensions, rows, test_rows, side; /* side: test points along one axis */
  double low, high;
  double deviation[2]; /* of the noise; toy-sine has two regions */
  bool toy;
  size_t function; /* unless toy */
};

static double toy_sine(double x) { return cos(x / 2) + 2 * sin(x / 10) + x / 100; }

static double value_at(const struct generator *generator, const double *x) {
  return generator->toy ? toy_sine(x[0]) : tutti_test_function(generator->function, x);
}

static void draw_row(const struct generator *generator, size_t row, uint64_t seed, double *out) {
  struct tutti_random random;
  bool right = generator->toy && row >= generator->rows / 2;
  double low = generator->low, high = generator->high;
  if (generator->toy) {
    low = right ? 20 : -30;
    high = right ? 30 : -20;
  }
  tutti_random_init(&random, seed, "generator", row);
  for (size_t i = 0; i < generator->dimensions; i++)
    out[i] = low + (high - low) * tutti_random_uniform(&random);
  out[generator->dimensions] = value_at(generator, out) + generator->deviation[right] * tutti_random_normal(&random);
}

static void grid_row(const struct generator *generator, size_t row, double *out) {
  for (size_t i = generator->dimensions; i-- > 0; row /= generator->side) {
    double share = generator->side > 1 ? (double)(row % generator->side) / (double)(generator->side - 1) : 0.5;
    out[i] = generator->low + (generator->high - generator->low) * share;
  }
  out[generator->dimensions] = value_at(generator, out);
}

static enum tutti_status set_box(tutti_context *context, const struct tutti_data_config *config,
                                 struct generator *generator) {
  generator->high = generator->toy ? 40 : 1;
  generator->low = -generator->high;
  if (config->box.count == 0)
    return TUTTI_OK;
  if (config->box.count != 2 || !(config->box.values[0] < config->box.values[1]))
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "data.box: expected a lower and an upper end, as in: box = -1 1");
  generator->low = config->box.values[0];
  generator->high = config->box.values[1];
  return TUTTI_OK;
}

static enum tutti_status set_noise(tutti_context *context, const struct tutti_data_config *config,
                                   struct generator *generator) {
  double variance[2] = {generator->toy ? 0.25 : 0, generator->toy ? 1 : 0};
  size_t regions = generator->toy ? 2 : 1;
  if (config->noise.count > regions)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "data.noise: %s takes at most %zu variances, found %zu",
                      generator->name, regions, config->noise.count);
  for (size_t i = 0; i < 2 && config->noise.count; i++)
    variance[i] = config->noise.values[i < config->noise.count ? i : 0];
  for (size_t i = 0; i < 2; i++)
    generator->deviation[i] = sqrt(variance[i]);
  return TUTTI_OK;
}

static enum tutti_status find_generator(tutti_context *context, const struct tutti_data_config *config,
                                        struct generator *generator) {
  *generator = (struct generator){.name = tutti_format_names[config->format], .dimensions = 1};
  generator->toy = strcmp(generator->name, "toy-sine") == 0;
  if (!generator->toy) {
    while (generator->function < tutti_test_functions() &&
           strcmp(tutti_test_function_name(generator->function), generator->name) != 0)
      generator->function++;
    if (generator->function == tutti_test_functions())
      return TUTTI_FAIL(context, TUTTI_ERROR_INTERNAL, "the generator %s is listed and not made", generator->name);
    generator->dimensions = tutti_test_function_dimensions(generator->function);
  }
  size_t wanted = (size_t)config->test_points;
  generator->side = generator->dimensions == 1 ? wanted : (size_t)sqrt((double)wanted);
  generator->test_rows = generator->dimensions == 1 ? wanted : generator->side * generator->side;
  generator->rows = (size_t)config->rows;
  if (generator->rows == 0)
    generator->rows = generator->toy ? 400 : generator->dimensions == 1 ? 8 : 16;
  TUTTI_TRY(context, set_box(context, config, generator));
  return set_noise(context, config, generator);
}

enum tutti_status tutti_generate(tutti_context *context, const struct tutti_data_config *config, uint64_t seed,
                                 struct tutti_table **table) {
  struct generator generator;
  TUTTI_TRY(context, find_generator(context, config, &generator));
  size_t rows = generator.rows + generator.test_rows, columns = generator.dimensions + 1;
  TUTTI_TRY(context, tutti_table_create(context, generator.name, rows, columns, table));
  (*table)->test_rows = generator.test_rows;
  (*table)->header = true;
  (void)strcpy((*table)->names[columns - 1], "y"); /* room: it was x1 or x2 */
  for (size_t i = 0; i < generator.rows; i++)
    draw_row(&generator, i, seed, (*table)->numbers + i * columns);
  for (size_t i = 0; i < generator.test_rows; i++)
    grid_row(&generator, i, (*table)->numbers + (generator.rows + i) * columns);
  return TUTTI_OK;
}
