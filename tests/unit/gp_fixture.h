/* gp_fixture.h - an instance of surrogate gp on noisy data in two dimensions. Included after gp.c. */
#ifndef GP_FIXTURE_H
#define GP_FIXTURE_H

struct fixture {
  tutti_context *context;
  struct gp_config config;
  double ranges[3][2];
  void *gp;
};

enum { DIMENSION = 2, MANY = 60 };

static inline void make(struct fixture *fixture) {
  struct tutti_surrogate_setup setup = {.size = sizeof(setup), .seed = 3, .dimension = DIMENSION};
  assert_int_equal(surrogate_create_gp(fixture->context, &fixture->config, &setup, &fixture->gp), TUTTI_OK);
}

static inline int setup(void **state) {
  struct fixture *fixture = calloc(1, sizeof(*fixture));
  static const double ranges[3][2] = {{1e-4, 1e4}, {0.01, 100}, {1e-8, 1}};
  if (tutti_context_create(&fixture->context) != TUTTI_OK)
    return -1;
  memcpy(fixture->ranges, ranges, sizeof(ranges));
  fixture->config = (struct gp_config){.ard = true,
                                       .amplitude = {2, fixture->ranges[0]},
                                       .length_scale = {2, fixture->ranges[1]},
                                       .noise = {2, fixture->ranges[2]},
                                       .looks = 16,
                                       .starts = 2,
                                       .evaluations = 100,
                                       .refit = 1};
  *state = fixture;
  return 0;
}

static inline int teardown(void **state) {
  struct fixture *fixture = *state;
  if (fixture->gp)
    surrogate_destroy_gp(fixture->gp);
  tutti_context_destroy(fixture->context);
  free(fixture);
  return 0;
}

static inline void data(size_t count, double *points, double *values) {
  struct tutti_random random;
  tutti_random_init(&random, 5, "test data", 0);
  for (size_t i = 0; i < count; i++) {
    double *x = points + DIMENSION * i;
    x[0] = tutti_random_uniform(&random);
    x[1] = tutti_random_uniform(&random);
    values[i] = 300 + 40 * sin(5 * x[0]) * x[1] + 0.5 * tutti_random_normal(&random);
  }
}

static inline struct tutti_points points_at(const double *vectors, size_t count) {
  return (struct tutti_points){
      .size = sizeof(struct tutti_points), .count = count, .dimension = DIMENSION, .vectors = vectors};
}

static inline void predict(struct fixture *fixture, const double *vectors, size_t count, double *mean,
                           double *deviation) {
  struct tutti_points at = points_at(vectors, count);
  assert_int_equal(surrogate_predict_gp(fixture->gp, fixture->context, &at, mean, deviation), TUTTI_OK);
}

static inline enum tutti_status fit(struct fixture *fixture, const double *vectors, const double *values,
                                    size_t count) {
  struct tutti_points at = points_at(vectors, count);
  return surrogate_fit_gp(fixture->gp, fixture->context, &at, values, NULL);
}

static inline void add(struct fixture *fixture, const double *vectors, const double *values, size_t count) {
  struct tutti_points at = points_at(vectors, count);
  assert_int_equal(surrogate_add_gp(fixture->gp, fixture->context, &at, values, NULL), TUTTI_OK);
}

#endif
