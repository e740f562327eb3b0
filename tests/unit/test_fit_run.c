/* test_fit_run.c - one fit of a surrogate to a data set, with a surrogate that says the same of every point: what is
   fitted to which rows, in which units, and what is measured on which, by hand. */
#include "engine/fit/fit.c"

#include <math.h>
#include <tutti/hosting.h>
#include <tutti/registry.h>

#include "loading.h"

/* --- a surrogate: mean 0 and deviation 0.5, in the units that it is given --- */

static struct {
  size_t fits, rows;
  double first[2], least, most, value;
} seen;

static enum tutti_status surrogate_create_flat(tutti_context *where, const void *config, const void *setup,
                                               void **instance) {
  (void)where, (void)config, (void)setup;
  *instance = &seen;
  return TUTTI_OK;
}

static void surrogate_destroy_flat(void *instance) { (void)instance; }

static enum tutti_status surrogate_fit_flat(void *instance, tutti_context *where, const struct tutti_points *points,
                                            const double *values, const double *noise) {
  (void)instance, (void)where, (void)noise;
  seen.fits++;
  seen.rows = points->count;
  memcpy(seen.first, points->vectors, sizeof seen.first);
  seen.value = values[0];
  seen.least = seen.most = values[0];
  for (size_t i = 0; i < points->count; i++) {
    seen.least = fmin(seen.least, values[i]);
    seen.most = fmax(seen.most, values[i]);
  }
  return TUTTI_OK;
}

static enum tutti_status surrogate_predict_flat(void *instance, tutti_context *where, const struct tutti_points *points,
                                                double *mean, double *deviation) {
  (void)instance, (void)where;
  for (size_t i = 0; i < points->count; i++)
    mean[i] = 0, deviation[i] = 0.5;
  return TUTTI_OK;
}

static const struct tutti_surrogate_ops flat_ops = {
    .size = sizeof flat_ops, .fit = surrogate_fit_flat, .predict = surrogate_predict_flat};
static const struct tutti_descriptor flat = {TUTTI_DESCRIPTOR_HEAD(TUTTI_KIND_SURROGATE, "flat"),
                                             .version = "1.0",
                                             .summary = "says the same of every point",
                                             .source = "",
                                             .licence = "Apache-2.0",
                                             .create = surrogate_create_flat,
                                             .destroy = surrogate_destroy_flat,
                                             .ops = &flat_ops};

/* --- data: 4 rows for training, with targets of mean 10 and deviation 10, 2 for validation, 3 for the test --- */

#define DATA "path=a.csv\nsplit=4 2 3\nsplit_order=file\n"
#define AS_THEY_ARE DATA "standardise=no"
static void put_rows(const char *parameters, const char *validation, const char *test) {
  char text[256];
  (void)snprintf(text, sizeof text, "a,b,y\n0,10,0\n1,20,20\n0.5,15,0\n0.25,12,20\n%s%s", validation, test);
  put("a.csv", text);
  loads(parameters);
}

static const double levels[] = {0.5, 0.9};
static struct tutti_fit_config config;
static struct tutti_fit_result result;

static enum tutti_status run(bool picture) {
  tutti_host *host;
  struct tutti_host_facts facts = {.size = sizeof facts, .task = tutti_dataset_task(dataset)};
  config.levels = (struct tutti_reals){2, (double *)(uintptr_t)levels};
  const struct tutti_descriptor *known;
  if (tutti_plugin_find(context, TUTTI_KIND_SURROGATE, "flat", &known) != TUTTI_OK) /* each test has a context */
    assert_int_equal(tutti_plugin_register(context, &flat), TUTTI_OK);
  assert_int_equal(tutti_host_create(context, &facts, &host), TUTTI_OK);
  assert_int_equal(tutti_host_put(context, host, "surrogate", TUTTI_KIND_SURROGATE, "flat"), TUTTI_OK);
  const struct tutti_fit fit = {.config = &config, .host = host, .dataset = dataset, .seed = 1, .picture = picture};
  memset(&seen, 0, sizeof seen);
  enum tutti_status status = tutti_fit_run(context, &fit, &result);
  tutti_host_destroy(host);
  return status;
}

static void near(double found, double expected) {
  if (!(fabs(found - expected) <= 1e-9 * fmax(1, fabs(expected))))
    fail_msg("expected %.17g, found %.17g", expected, found);
}

#define VALIDATION "0,10,30\n1,20,10\n"
#define TEST "0,10,10\n1,20,25\n0.5,15,110\n"

/* --- tests --- */

/* Errors 20 and 0 of the validation rows are 4 and 0 deviations of 0.5 * 10. */
static void c_is_of_the_validation_rows(void **state) {
  (void)state;
  config = (struct tutti_fit_config){.size = sizeof config, .c = 0};
  put_rows(DATA, VALIDATION, TEST);
  assert_int_equal(run(false), TUTTI_OK);
  near(result.c, sqrt(8));
  assert_true(seen.fits == 1 && seen.rows == 4);
  tutti_fit_release(&result);
  put_rows(DATA, VALIDATION, "0,10,-10\n1,20,25\n0.5,15,1100\n");
  assert_int_equal(run(false), TUTTI_OK);
  near(result.c, sqrt(8)); /* whatever the test rows */
  tutti_fit_release(&result);
  put_rows(DATA, "0,10,20\n1,20,0\n", TEST);
  assert_int_equal(run(false), TUTTI_OK);
  near(result.c, 2);
  tutti_fit_release(&result);
  config.c = 3;
  assert_int_equal(run(false), TUTTI_OK);
  near(result.c, 3);
  tutti_fit_release(&result);
}

static void test_rows_are_measured_in_their_unit(void **state) {
  (void)state;
  config = (struct tutti_fit_config){.size = sizeof config, .c = 0};
  put_rows(DATA, VALIDATION, TEST);
  assert_int_equal(run(false), TUTTI_OK);
  assert_int_equal(result.test.rows, 3);
  for (size_t i = 0; i < 3; i++) {
    near(result.test.mean[i], 10);
    near(result.test.deviation[i], 5);
  }
  near(result.rmse, sqrt((15. * 15 + 100. * 100) / 3));
  const double quantiles[] = {0.674489750196082, 1.64485362695147}; /* of the normal distribution, at 0.75 and 0.95 */
  near(result.coverage[0], 1 / 3.);                                 /* 15 is beyond 0.67 c 5, and within 1.64 c 5 */
  near(result.coverage[1], 2 / 3.);
  for (size_t l = 0; l < 2; l++)
    near(result.width[l], 2 * quantiles[l] * sqrt(8) * 5);
  tutti_fit_release(&result);
}

/* The surrogate sees its box as [0, 1], and values of mean 0 and deviation 1 where the recipe standardises. */
static void the_surrogate_has_units_of_its_own(void **state) {
  double box[] = {-1, 1, 0, 20};
  (void)state;
  config = (struct tutti_fit_config){.size = sizeof config, .c = 1, .box = {4, box}};
  put_rows(AS_THEY_ARE, VALIDATION, TEST);
  assert_int_equal(run(false), TUTTI_OK);
  near(seen.first[0], 0.5);
  near(seen.first[1], 0.5);
  near(seen.most, 20);
  tutti_fit_release(&result);
  config.box.count = 0;
  put_rows(DATA, VALIDATION, TEST);
  assert_int_equal(run(false), TUTTI_OK);
  near(seen.least, -1);
  near(seen.most, 1);
  tutti_fit_release(&result);
}

static void refit_takes_validation_rows(void **state) {
  (void)state;
  config = (struct tutti_fit_config){.size = sizeof config, .c = 0, .refit = true};
  put_rows(AS_THEY_ARE, "0,5,30\n2,20,10\n", TEST);
  assert_int_equal(run(false), TUTTI_OK);
  assert_true(seen.fits == 2 && seen.rows == 6);
  near(result.c, sqrt(2000)); /* of the first fit: errors 30 and 10 are 60 and 20 deviations of 0.5 */
  near(result.low[1], 5);     /* the box holds them, too */
  near(result.high[0], 2);
  tutti_fit_release(&result);
}

static void boxes_that_cut_the_data_are_refused(void **state) {
  double box[] = {0, 1, 10, 19};
  (void)state;
  config = (struct tutti_fit_config){.size = sizeof config, .c = 1, .box = {4, box}};
  put_rows(AS_THEY_ARE, VALIDATION, TEST);
  assert_int_equal(run(false), TUTTI_ERROR_USAGE);
  assert_non_null(strstr(tutti_error_message(context), "narrower than the data"));
  assert_non_null(strstr(tutti_error_message(context), "input b"));
  tutti_fit_release(&result);
}

/* The box is still what the surrogate sees as [0, 1]. */
static void rows_outside_the_box_are_kept_if_asked_for(void **state) {
  double box[] = {0.5, 1, 10, 14};
  (void)state;
  config = (struct tutti_fit_config){.size = sizeof config, .c = 1, .outside = TUTTI_FIT_KEEP, .box = {4, box}};
  put_rows(AS_THEY_ARE, VALIDATION, TEST);
  assert_int_equal(run(false), TUTTI_OK);
  near(seen.first[0], -1);
  near(seen.first[1], 0);
  assert_true(result.low[0] == 0.5 && result.high[0] == 1 && result.low[1] == 10 && result.high[1] == 14);
  tutti_fit_release(&result);
}

/* Row-major, the last input fastest. */
static void grids_fill_the_box(void **state) {
  (void)state;
  config = (struct tutti_fit_config){.size = sizeof config, .c = 1, .grid = 3};
  put_rows(AS_THEY_ARE, VALIDATION, TEST);
  assert_int_equal(run(true), TUTTI_OK);
  assert_int_equal(result.grid.rows, 9);
  for (size_t i = 0; i < 9; i++) {
    near(result.grid.inputs[2 * i], 0.5 * (double)(i / 3));
    near(result.grid.inputs[2 * i + 1], 10 + 5 * (double)(i % 3));
  }
  tutti_fit_release(&result);
}

int main(void) {
  const struct CMUnitTest tests[] = {data_test(c_is_of_the_validation_rows),
                                     data_test(test_rows_are_measured_in_their_unit),
                                     data_test(the_surrogate_has_units_of_its_own),
                                     data_test(refit_takes_validation_rows),
                                     data_test(boxes_that_cut_the_data_are_refused),
                                     data_test(rows_outside_the_box_are_kept_if_asked_for),
                                     data_test(grids_fill_the_box)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
