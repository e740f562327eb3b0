/* test_scope.c - spaces of points and of graphs, their genotypes, candidates, and the scope that makes them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tutti/diversity.h>
#include <tutti/tutti.h>

/* --- a space of graphs: sets of eight bits; and what can be wrong with one
   ----------------------------------------- */

/* What the space does wrong; tests set it. */
enum fault { FINE, NO_NETWORK, WRONG_HEAD, NO_HEAD, BAD_DISTANCE, PRINT_FAILS, SILENT };
struct fake {
  enum fault fault;
  int alive; /* graphs that are not freed */
  tutti_domain *domain;
};
static struct fake fake;

static enum tutti_status create(tutti_context *context, const void *config, const void *setup, void **self) {
  (void)context;
  (void)config;
  (void)setup;
  *self = &fake;
  return TUTTI_OK;
}
static void destroy(void *self) { (void)self; }

static enum tutti_status graph_of(tutti_context *context, unsigned bits, void **graph) {
  unsigned *made;
  TUTTI_TRY(context, tutti_alloc(context, 1, sizeof *made, &made));
  *made = bits;
  fake.alive++;
  *graph = made;
  return TUTTI_OK;
}

static enum tutti_status graph_sample(void *self, tutti_context *context, struct tutti_random *random, void **graph) {
  (void)self;
  if (fake.fault == SILENT)
    return TUTTI_ERROR_NUMERIC;
  return graph_of(context, (unsigned)tutti_random_below(random, 256), graph);
}

static enum tutti_status graph_mutate(void *self, tutti_context *context, struct tutti_random *random,
                                      const void *graph, void **mutant) {
  (void)self;
  return graph_of(context, *(const unsigned *)graph ^ 1u << tutti_random_below(random, 8), mutant);
}

static enum tutti_status graph_print(void *self, tutti_context *context, const void *graph, char **json) {
  (void)self;
  if (fake.fault == PRINT_FAILS)
    return TUTTI_FAIL(context, TUTTI_ERROR_NUMERIC, "cannot print");
  return tutti_format(context, json, "{\"bits\": %u}", *(const unsigned *)graph);
}

static enum tutti_status graph_parse(void *self, tutti_context *context, const char *json, void **graph) {
  unsigned bits;
  (void)self;
  if (sscanf(json, " { \"bits\" : %u }", &bits) != 1 || bits > 255)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "expected bits from 0 to 255");
  return graph_of(context, bits, graph);
}

static void graph_free(void *self, void *graph) {
  (void)self;
  fake.alive--;
  tutti_free(graph);
}

static bool known(void *self, size_t index, const char **name, const char **json) {
  (void)self;
  *name = index ? "all" : "nothing";
  *json = index ? "{\"bits\": 255}" : "{\"bits\": 0}";
  return index < 2;
}

static size_t measures(void *self) {
  (void)self;
  return 1;
}

static enum tutti_status distances(void *self, tutti_context *context, const tutti_genotype *from, size_t count,
                                   const tutti_genotype *const *to, double *out) {
  (void)self;
  (void)context;
  for (size_t i = 0; i < count; i++)
    out[i] = fake.fault == BAD_DISTANCE ? -1
                                        : __builtin_popcount(*(const unsigned *)tutti_genotype_graph(from) ^
                                                             *(const unsigned *)tutti_genotype_graph(to[i]));
  return TUTTI_OK;
}

static enum tutti_status decode(void *self, tutti_context *context, const tutti_genotype *genotype,
                                const struct tutti_task *task, tutti_network **network) {
  struct tutti_task other = *task;
  (void)self;
  (void)genotype;
  if (fake.fault == NO_NETWORK)
    return TUTTI_OK;
  TUTTI_TRY(context, tutti_network_create(context, task->input, network));
  if (fake.fault == NO_HEAD)
    return tutti_network_add_dense(context, *network, NULL, 0, 3, TUTTI_ACTIVATION_RELU, NULL);
  if (fake.fault == WRONG_HEAD)
    other.head = TUTTI_OP_HEAD_LINEAR;
  return tutti_network_add_head(context, *network, 0, &other);
}

static const tutti_domain *domain_of(void *self) {
  (void)self;
  return fake.domain;
}

static enum tutti_status check_point(void *self, tutti_context *context, const double *point) {
  (void)self;
  return point[0] == 3 ? TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "three is not allowed") : TUTTI_OK;
}

/* Spelled as a JSON string, "depth 1". */
static enum tutti_status print_point(void *self, tutti_context *context, const double *point, char **json) {
  (void)self;
  if (fake.fault == PRINT_FAILS)
    return TUTTI_FAIL(context, TUTTI_ERROR_NUMERIC, "cannot print");
  return tutti_format(context, json, "\"depth %g\"", point[0]);
}

static enum tutti_status parse_point(void *self, tutti_context *context, const char *json, double *point) {
  (void)self;
  point[1] = point[2] = NAN;
  return sscanf(json, "\"depth %lf\"", point) == 1 ? TUTTI_OK
                                                   : TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "expected \"depth N\"");
}

static const struct tutti_space_ops graph_ops = {.size = sizeof graph_ops,
                                                 .decode = decode,
                                                 .graph_sample = graph_sample,
                                                 .graph_mutate = graph_mutate,
                                                 .graph_print = graph_print,
                                                 .graph_parse = graph_parse,
                                                 .graph_free = graph_free,
                                                 .known = known,
                                                 .measures = measures,
                                                 .distances = distances};
static const struct tutti_space_ops point_ops = {
    .size = sizeof point_ops, .decode = decode, .domain = domain_of, .check_point = check_point};

#define SPACE(space_name, the_ops)                                                                                     \
  {                                                                                                                    \
    TUTTI_DESCRIPTOR_HEAD(TUTTI_KIND_SPACE, space_name), .version = "1", .summary = "Test", .source = "",              \
                                                         .licence = "0BSD", .params = TUTTI_NO_PARAMS,                 \
                                                         .create = create, .destroy = destroy, .ops = the_ops          \
  }
static const struct tutti_space_ops spelled_ops = {.size = sizeof spelled_ops,
                                                   .decode = decode,
                                                   .domain = domain_of,
                                                   .check_point = check_point,
                                                   .print_point = print_point,
                                                   .parse_point = parse_point};
static const struct tutti_space_ops half_ops = {
    .size = sizeof half_ops, .decode = decode, .domain = domain_of, .print_point = print_point};
static const struct tutti_descriptor spaces[] = {SPACE("graphs", &graph_ops), SPACE("points", &point_ops),
                                                 SPACE("spelled", &spelled_ops), SPACE("half", &half_ops),
                                                 SPACE("decisions", &point_ops)};

/* --- fixture ----------------------------------------------------------------------------------------------------- */

static tutti_context *context;
static tutti_space *graphs, *points;
static tutti_domain *hyperparameters;
static const struct tutti_task task = {.size = sizeof task,
                                       .kind = TUTTI_TASK_REGRESSION,
                                       .input = {1, 1, 3},
                                       .outputs = 1,
                                       .train_rows = 10,
                                       .head = TUTTI_OP_HEAD_GAUSSIAN};

static void must(enum tutti_status status) {
  if (status != TUTTI_OK)
    fail_msg("%s", tutti_error_message(context));
}

static void must_fail(enum tutti_status status, enum tutti_status expected, const char *message) {
  if (status != expected)
    fail_msg("status %s where \"%s\" is expected", tutti_status_name(status), message);
  if (!strstr(tutti_error_message(context), message))
    fail_msg("\"%s\" lacks \"%s\"", tutti_error_message(context), message);
}

static tutti_space *space_of(size_t index) {
  struct tutti_host_facts facts = {.size = sizeof facts};
  struct tutti_space_setup setup = {.size = sizeof setup, .task = &task};
  tutti_space *space;
  tutti_host *host;
  must(tutti_host_create(context, &facts, &host));
  must(tutti_plugin_register(context, &spaces[index]));
  must(tutti_host_put(context, host, "space", TUTTI_KIND_SPACE, spaces[index].name));
  must(tutti_space_create(context, host, "space", &setup, &space));
  tutti_host_destroy(host);
  return space;
}

static int begin(void **state) {
  (void)state;
  memset(&fake, 0, sizeof fake);
  if (tutti_context_create(&context) != TUTTI_OK || tutti_domain_create(context, &fake.domain) != TUTTI_OK ||
      tutti_domain_create(context, &hyperparameters) != TUTTI_OK)
    return 1;
  must(tutti_domain_add_text(context, fake.domain, "depth", "integer 1 4"));
  must(tutti_domain_add_text(context, fake.domain, "rate", "choice a b if depth = 2 4"));
  must(tutti_domain_add_text(context, fake.domain, "width", "log-uniform 1 64 if rate = b"));
  must(tutti_domain_add_text(context, hyperparameters, "rate", "log-uniform 1e-4 0.1"));
  must(tutti_domain_add_text(context, hyperparameters, "steps", "integer 0 9"));
  must(tutti_domain_add_text(context, hyperparameters, "extra", "uniform -1 1 if steps = 1 3 5 7 9"));
  graphs = space_of(0);
  points = space_of(1);
  return 0;
}

static int end(void **state) {
  (void)state;
  tutti_space_destroy(graphs);
  tutti_space_destroy(points);
  tutti_domain_destroy(hyperparameters);
  tutti_domain_destroy(fake.domain);
  tutti_context_destroy(context);
  return fake.alive;
}

static tutti_scope *scope_of(const tutti_space *space, const tutti_domain *domain) {
  tutti_scope *scope;
  must(tutti_scope_create(context, space, domain, &scope));
  return scope;
}

static tutti_genotype *genotype_of(const tutti_space *space, const char *json) {
  tutti_genotype *genotype;
  must(tutti_space_parse(context, space, json, &genotype));
  return genotype;
}

/* --- spaces ------------------------------------------------------------------------------------------------------ */

static void spaces_say_what_they_offer(void **state) {
  assert_int_equal(tutti_space_capabilities(graphs), TUTTI_SPACE_DISTANCES);
  assert_int_equal(tutti_space_capabilities(points), TUTTI_SPACE_VECTORS);
  assert_null(tutti_space_domain(graphs));
  assert_ptr_equal(tutti_space_domain(points), fake.domain);
  assert_string_equal(tutti_space_descriptor(graphs)->name, "graphs");
  assert_int_equal(tutti_space_measures(points), 0);
}

static void graphs_are_printed_parsed_and_measured(void **state) {
  tutti_genotype *a = genotype_of(graphs, "{ \"bits\" : 12 }"), *b = genotype_of(graphs, "\"all\""),
                 *c = genotype_of(graphs, "{\"bits\": 12}");
  const tutti_genotype *const others[] = {b, c};
  double out[2];
  char *json;
  must(tutti_space_print(context, a, &json));
  assert_string_equal(json, "{\"bits\": 12}");
  assert_true(tutti_genotype_equal(a, c));
  assert_false(tutti_genotype_equal(a, b));
  assert_null(tutti_genotype_point(a));
  assert_int_equal(*(const unsigned *)tutti_genotype_graph(b), 255);
  must(tutti_space_distances(context, a, 2, others, out));
  assert_true(out[0] == 6 && out[1] == 0);
  tutti_free(json);
  tutti_genotype_unref(a);
  tutti_genotype_unref(b);
  tutti_genotype_unref(c);
}

static void genotypes_live_as_long_as_they_are_counted(void **state) {
  tutti_genotype *a = genotype_of(graphs, "\"nothing\""), *second = tutti_genotype_ref(a);
  assert_ptr_equal(a, second);
  tutti_genotype_unref(a);
  assert_int_equal(fake.alive, 1);
  tutti_genotype_unref(second);
  assert_int_equal(fake.alive, 0);
  tutti_genotype_unref(NULL);
}

static void mutants_are_new(void **state) {
  const tutti_space *both[] = {graphs, points};
  for (size_t k = 0; k < 2; k++) {
    struct tutti_random random;
    tutti_genotype *genotype, *mutant;
    tutti_random_init(&random, 2, "mutants", k);
    /* Three is refused, as the space says. */
    while (tutti_space_sample(context, both[k], &random, &genotype) != TUTTI_OK)
      assert_non_null(strstr(tutti_error_message(context), "space points: three is not allowed"));
    for (int i = 0; i < 50; i++) {
      if (tutti_space_mutate(context, both[k], &random, genotype, &mutant) != TUTTI_OK) {
        assert_non_null(strstr(tutti_error_message(context), "space points: three is not allowed"));
        assert_null(mutant);
        continue;
      }
      assert_false(tutti_genotype_equal(genotype, mutant));
      tutti_genotype_unref(genotype);
      genotype = mutant;
    }
    tutti_genotype_unref(genotype);
  }
}

static void bad_genotypes_are_refused(void **state) {
  tutti_genotype *genotype;
  const double three[3] = {3, NAN, NAN}, five[3] = {5, NAN, NAN};
  must_fail(tutti_space_parse(context, graphs, "\"al\"", &genotype), TUTTI_ERROR_USAGE, "did you mean 'all'?");
  must_fail(tutti_space_parse(context, points, "\"all\"", &genotype), TUTTI_ERROR_USAGE, "knows no genotype 'all'");
  must_fail(tutti_space_parse(context, graphs, "{\"bits\": 256}", &genotype), TUTTI_ERROR_USAGE,
            "space graphs: expected bits");
  must_fail(tutti_space_parse(context, points, "{\"depth\": 5}", &genotype), TUTTI_ERROR_USAGE, "depth: expected");
  must_fail(tutti_space_from_point(context, points, three, &genotype), TUTTI_ERROR_USAGE, "three is not allowed");
  must_fail(tutti_space_from_point(context, points, five, &genotype), TUTTI_ERROR_USAGE, "depth: expected");
  must_fail(tutti_space_from_point(context, graphs, three, &genotype), TUTTI_ERROR_UNSUPPORTED,
            "are graphs, not points");
  assert_null(genotype);
}

/* Points in a space's own spelling; a name that is not known is one. */
static void points_may_be_spelled_otherwise(void **state) {
  tutti_space *space = space_of(2);
  tutti_genotype *genotype = genotype_of(space, "\"depth 1\""), *other;
  char *json;
  assert_true(tutti_genotype_point(genotype)[0] == 1);
  must(tutti_space_print(context, genotype, &json));
  assert_string_equal(json, "\"depth 1\"");
  tutti_free(json);
  must_fail(tutti_space_parse(context, space, "\"deep\"", &other), TUTTI_ERROR_USAGE,
            "space spelled: expected \"depth N\"");
  must_fail(tutti_space_parse(context, space, "\"depth 3\"", &other), TUTTI_ERROR_USAGE, "three is not allowed");
  must_fail(tutti_space_parse(context, space, "\"depth 5\"", &other), TUTTI_ERROR_USAGE, "depth: expected");
  assert_null(other);
  fake.fault = PRINT_FAILS;
  must_fail(tutti_space_print(context, genotype, &json), TUTTI_ERROR_NUMERIC, "space spelled: cannot print");
  fake.fault = FINE;
  tutti_genotype_unref(genotype);
  tutti_space_destroy(space);
  must_fail(tutti_plugin_register(context, &spaces[3]), TUTTI_ERROR_PLUGIN,
            "print_point or parse_point (both or neither)");
}

static void broken_spaces_are_blamed(void **state) {
  static const struct {
    enum fault fault;
    enum tutti_status status;
    const char *expected;
  } cases[] = {
      {NO_NETWORK, TUTTI_ERROR_PLUGIN, "space graphs broke its contract: decode gave no network"},
      {WRONG_HEAD, TUTTI_ERROR_PLUGIN, "decode ended the network in head-linear, and the run's head is head-gaussian"},
      {NO_HEAD, TUTTI_ERROR_USAGE, "space graphs: "},
  };
  tutti_genotype *genotype = genotype_of(graphs, "\"all\""), *other;
  tutti_network *network;
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    fake.fault = cases[i].fault;
    must_fail(tutti_space_decode(context, genotype, &task, &network), cases[i].status, cases[i].expected);
    assert_null(network);
  }
  fake.fault = FINE;
  must(tutti_space_decode(context, genotype, &task, &network));
  tutti_network_destroy(network);
  double distance;
  fake.fault = BAD_DISTANCE;
  must_fail(tutti_space_distances(context, genotype, 1, (const tutti_genotype *const *)&genotype, &distance),
            TUTTI_ERROR_PLUGIN, "a distance is -1");
  fake.fault = PRINT_FAILS;
  must_fail(tutti_space_parse(context, graphs, "\"all\"", &other), TUTTI_ERROR_NUMERIC, "space graphs: cannot print");
  assert_int_equal(fake.alive, 1);
  struct tutti_random random;
  tutti_random_init(&random, 1, "x", 0);
  fake.fault = SILENT;
  tutti_error_clear(context);
  must_fail(tutti_space_sample(context, graphs, &random, &other), TUTTI_ERROR_NUMERIC, "without saying why");
  fake.fault = FINE;
  tutti_genotype_unref(genotype);
  genotype = genotype_of(points, "{\"depth\": 1}");
  must_fail(tutti_space_distances(context, genotype, 1, (const tutti_genotype *const *)&genotype, &distance),
            TUTTI_ERROR_UNSUPPORTED, "space points has no distances");
  tutti_genotype_unref(genotype);
}

/* --- scopes ------------------------------------------------------------------------------------------------------ */

static void the_joint_domain_keeps_names_apart(void **state) {
  tutti_scope *scope = scope_of(points, hyperparameters);
  const tutti_domain *joint = tutti_scope_joint(scope);
  static const char *const names[] = {"depth", "space.rate", "width", "rate", "steps", "extra"};
  assert_int_equal(tutti_domain_count(joint), 6);
  for (size_t i = 0; i < 6; i++)
    assert_string_equal(tutti_domain_at(joint, i)->name, names[i]);
  assert_string_equal(tutti_domain_at(joint, 1)->parent, "depth");
  assert_string_equal(tutti_domain_at(joint, 2)->parent, "space.rate");
  assert_ptr_equal(tutti_scope_space(scope), points);
  assert_ptr_equal(tutti_scope_hyperparameters(scope), hyperparameters);
  tutti_scope_destroy(scope);
  scope = scope_of(graphs, hyperparameters);
  assert_null(tutti_scope_joint(scope));
  tutti_scope_destroy(scope);
}

static void candidates_come_back_from_points_and_text(void **state) {
  tutti_scope *scope = scope_of(points, hyperparameters);
  struct tutti_random random;
  tutti_random_init(&random, 3, "candidates", 0);
  for (uint64_t i = 0; i < 300; i++) {
    tutti_candidate *candidate, *parsed, *moved;
    double point[6], again[6];
    char *json, *second;
    if (tutti_scope_sample(context, scope, &random, UINT64_MAX - i, &candidate) != TUTTI_OK)
      continue; /* three */
    tutti_scope_to_point(scope, candidate, point);
    must(tutti_domain_check(context, tutti_scope_joint(scope), point));
    must(tutti_scope_from_point(context, scope, point, i, &moved));
    assert_true(tutti_candidate_equal(candidate, moved));
    assert_true(tutti_candidate_hash(candidate) == tutti_candidate_hash(moved));
    assert_true(tutti_candidate_seed(moved) == i);
    must(tutti_scope_print(context, scope, candidate, &json));
    must(tutti_scope_parse(context, scope, json, &parsed));
    assert_true(tutti_candidate_seed(parsed) == UINT64_MAX - i);
    tutti_scope_to_point(scope, parsed, again);
    for (size_t d = 0; d < 6; d++)
      assert_true(isnan(point[d]) ? isnan(again[d]) : memcmp(&point[d], &again[d], sizeof(double)) == 0);
    must(tutti_scope_print(context, scope, parsed, &second));
    assert_string_equal(json, second);
    tutti_free(json);
    tutti_free(second);
    tutti_candidate_unref(candidate);
    tutti_candidate_unref(parsed);
    tutti_candidate_unref(moved);
  }
  tutti_scope_destroy(scope);
}

static void equality_is_of_architecture_and_hyperparameters(void **state) {
  static const char *const texts[] = {
      "{\"architecture\": \"all\", \"hyperparameters\": {\"rate\": 0.01, \"steps\": 1, \"extra\": 0.0}, \"seed\": "
      "\"1\"}",
      "{\"architecture\": {\"bits\": 255}, \"hyperparameters\": {\"rate\": 0.01, \"steps\": 1, \"extra\": -0.0}, "
      "\"seed\": \"2\"}",
      "{\"architecture\": {\"bits\": 254}, \"hyperparameters\": {\"rate\": 0.01, \"steps\": 1, \"extra\": 0}, "
      "\"seed\": \"1\"}",
      "{\"architecture\": \"all\", \"hyperparameters\": {\"rate\": 0.02, \"steps\": 1, \"extra\": 0}, \"seed\": "
      "\"1\"}",
      "{\"architecture\": \"all\", \"hyperparameters\": {\"rate\": 0.01, \"steps\": 2}, \"seed\": \"1\"}"};
  enum { COUNT = sizeof texts / sizeof texts[0] };
  tutti_scope *scope = scope_of(graphs, hyperparameters);
  tutti_candidate *candidates[COUNT];
  for (size_t i = 0; i < COUNT; i++)
    must(tutti_scope_parse(context, scope, texts[i], &candidates[i]));
  for (size_t i = 0; i < COUNT; i++)
    for (size_t j = 0; j < COUNT; j++) {
      bool same = i == j || i + j == 1;
      assert_int_equal(tutti_candidate_equal(candidates[i], candidates[j]), same);
      assert_int_equal(tutti_candidate_hash(candidates[i]) == tutti_candidate_hash(candidates[j]), same);
    }
  tutti_candidate *second = tutti_candidate_ref(candidates[0]);
  assert_true(tutti_candidate_hyperparameters(second)[0] == 0.01);
  assert_int_equal(*(const unsigned *)tutti_genotype_graph(tutti_candidate_genotype(second)), 255);
  tutti_candidate_unref(second);
  for (size_t i = 0; i < COUNT; i++)
    tutti_candidate_unref(candidates[i]);
  tutti_candidate_unref(NULL);
  tutti_scope_destroy(scope);
}

static void a_scope_may_search_nothing(void **state) {
  tutti_scope *scope = scope_of(graphs, NULL);
  struct tutti_random random;
  tutti_candidate *candidate;
  char *json;
  tutti_random_init(&random, 1, "x", 0);
  must(tutti_scope_sample(context, scope, &random, 5, &candidate));
  must(tutti_scope_print(context, scope, candidate, &json));
  assert_non_null(strstr(json, "\"hyperparameters\": {}, \"seed\": \"5\"}"));
  tutti_free(json);
  tutti_candidate_unref(candidate);
  tutti_scope_destroy(scope);
}

static tutti_candidate *parsed(const tutti_scope *scope, const char *architecture) {
  tutti_candidate *candidate;
  char json[160];
  (void)snprintf(json, sizeof json, "{\"architecture\": %s, \"hyperparameters\": {}, \"seed\": \"1\"}", architecture);
  must(tutti_scope_parse(context, scope, json, &candidate));
  return candidate;
}

/* The value of architecture-diversity; NaN if it is left out. */
static double diversity_of_picks(const tutti_scope *scope, size_t count, tutti_candidate *const *candidates,
                                 const uint64_t *picks) {
  tutti_evaluation *diversity;
  must(tutti_evaluate_diversity(context, scope, count, (const tutti_candidate *const *)candidates, picks, &diversity));
  const struct tutti_metric *metric = tutti_evaluation_find(diversity, "architecture-diversity");
  double value = metric ? metric->value : (double)NAN;
  tutti_evaluation_destroy(diversity);
  return value;
}

static double diversity_of(const tutti_scope *scope, size_t count, tutti_candidate *const *candidates) {
  return diversity_of_picks(scope, count, candidates, NULL);
}

/* As vectors of decisions (5, 2, 0), (7, 0, -1) and (5, 1, 0), which are 3, 1 and sqrt 6 apart: together, as a vector,
   4 long. Equal ones have no diversity; where a decision is a real number, there is none, either. */
static void diversity_of_vectors_of_decisions(void **state) {
  static const char *const texts[] = {"{\"a\": 5, \"b\": \"z\", \"c\": \"p\"}", "{\"a\": 7, \"b\": \"x\"}",
                                      "{\"a\": 5, \"b\": \"y\", \"c\": \"p\"}"};
  tutti_domain *kept = fake.domain;
  tutti_candidate *candidates[3];
  must(tutti_domain_create(context, &fake.domain));
  must(tutti_domain_add_text(context, fake.domain, "a", "integer 5 9"));
  must(tutti_domain_add_text(context, fake.domain, "b", "choice x y z"));
  must(tutti_domain_add_text(context, fake.domain, "c", "choice p q if b = y z"));
  tutti_space *decisions = space_of(4);
  tutti_scope *scope = scope_of(decisions, NULL);
  for (int i = 0; i < 3; i++)
    candidates[i] = parsed(scope, texts[i]);
  assert_true(fabs(diversity_of(scope, 3, candidates) - (3 + 1 + sqrt(6)) / 4) < 1e-12);
  assert_true(diversity_of(scope, 2, (tutti_candidate *[]){candidates[0], candidates[0]}) == 0);
  /* Picks count: a, a, b has two equal distances, and the paper's least score is the root of 2. */
  assert_true(fabs(diversity_of_picks(scope, 2, candidates, (const uint64_t[]){2, 1}) - sqrt(2)) < 1e-12);
  assert_true(fabs(diversity_of_picks(scope, 3, candidates, (const uint64_t[]){3, 2, 1}) -
                   (6 * 3 + 3 * 1 + 2 * sqrt(6)) / sqrt(6 * 9 + 3 * 1 + 2 * 6)) < 1e-12);
  assert_true(isnan(diversity_of(scope, 1, candidates)));
  for (int i = 0; i < 3; i++)
    tutti_candidate_unref(candidates[i]);
  tutti_scope_destroy(scope);
  tutti_space_destroy(decisions);
  tutti_domain_destroy(fake.domain);
  fake.domain = kept;
  scope = scope_of(points, NULL);
  candidates[0] = parsed(scope, "{\"depth\": 1}");
  candidates[1] = parsed(scope, "{\"depth\": 4, \"rate\": \"a\"}");
  assert_true(isnan(diversity_of(scope, 2, candidates)));
  tutti_candidate_unref(candidates[0]);
  tutti_candidate_unref(candidates[1]);
  tutti_scope_destroy(scope);
  (void)state;
}

/* Sets of 8, 2 and 0 bits are 6, 8 and 2 bits apart; of the hyperparameters nothing is searched, or a rate is. */
static void diversity_is_the_mean_distance_of_pairs(void **state) {
  static const char *const bits[] = {"255", "3", "0"};
  tutti_domain *rates;
  tutti_candidate *candidates[3];
  tutti_evaluation *diversity;
  must(tutti_domain_create(context, &rates));
  must(tutti_domain_add_text(context, rates, "rate", "log-uniform 1e-4 1"));
  for (int searched = 0; searched < 2; searched++) {
    tutti_scope *scope = scope_of(graphs, searched ? rates : NULL);
    for (int i = 0; i < 3; i++) {
      char json[160];
      (void)snprintf(json, sizeof json,
                     "{\"architecture\": {\"bits\": %s}, \"hyperparameters\": {%s}, \"seed\": \"1\"}", bits[i],
                     !searched ? ""
                     : i == 0  ? "\"rate\": 1"
                               : "\"rate\": 1e-2");
      must(tutti_scope_parse(context, scope, json, &candidates[i]));
    }
    must(tutti_evaluate_diversity(context, scope, 3, (const tutti_candidate *const *)candidates, NULL, &diversity));
    assert_int_equal(tutti_evaluation_count(diversity), 1 + searched);
    assert_true(fabs(tutti_evaluation_find(diversity, "architecture-distance")->value - (6 + 8 + 2) / 3.) < 1e-12);
    if (searched)
      assert_true(fabs(tutti_evaluation_find(diversity, "hyperparameter-distance")->value - (0.5 + 0.5 + 0) / 3) <
                  1e-12);
    tutti_evaluation_destroy(diversity);
    must(tutti_evaluate_diversity(context, scope, 1, (const tutti_candidate *const *)candidates, NULL, &diversity));
    assert_int_equal(tutti_evaluation_count(diversity), 0);
    tutti_evaluation_destroy(diversity);
    for (int i = 0; i < 3; i++)
      tutti_candidate_unref(candidates[i]);
    tutti_scope_destroy(scope);
  }
  tutti_domain_destroy(rates);
}

static void bad_candidates_are_refused(void **state) {
#define REST ", \"hyperparameters\": {\"rate\": 0.01, \"steps\": 0}"
  static const struct {
    const char *json, *expected;
  } cases[] = {
      {"{", "expected a candidate"},
      {"{\"architecture\": \"all\"" REST "}", "expected a candidate"},
      {"{\"architecture\": \"all\"" REST ", \"seed\": 1}", "expected a candidate"},
      {"{\"architecture\": \"all\"" REST ", \"seed\": \"1\", \"more\": 1}", "expected a candidate"},
      {"{\"architecture\": \"all\"" REST ", \"seed\": \"-1\"}", "found '-1'"},
      {"{\"architecture\": \"all\"" REST ", \"seed\": \" 1\"}", "found ' 1'"},
      {"{\"architecture\": \"all\"" REST ", \"seed\": \"\"}", "found ''"},
      {"{\"architecture\": \"all\"" REST ", \"seed\": \"1 \"}", "found '1 '"},
      {"{\"architecture\": \"all\"" REST ", \"seed\": \"1x\"}", "found '1x'"},
      {"{\"architecture\": \"all\"" REST ", \"seed\": \"18446744073709551616\"}", "found '18446744073709551616'"},
      {"{\"architecture\": \"none\"" REST ", \"seed\": \"1\"}", "knows no genotype 'none'"},
      {"{\"architecture\": \"all\", \"hyperparameters\": {\"rate\": 1, \"steps\": 0}, \"seed\": \"1\"}",
       "rate: expected"},
      {"{\"architecture\": \"all\", \"hyperparameters\": [], \"seed\": \"1\"}", "expected a JSON object"},
  };
  tutti_scope *scope = scope_of(graphs, hyperparameters);
  tutti_candidate *candidate;
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    must_fail(tutti_scope_parse(context, scope, cases[i].json, &candidate), TUTTI_ERROR_USAGE, cases[i].expected);
    assert_null(candidate);
  }
  const double values[3] = {0.01, 0, NAN}, wrong[3] = {0.01, 1, NAN};
  tutti_genotype *foreign = genotype_of(points, "{\"depth\": 1}"), *own = genotype_of(graphs, "\"all\"");
  must_fail(tutti_scope_candidate(context, scope, foreign, values, 1, &candidate), TUTTI_ERROR_INTERNAL,
            "another space");
  must_fail(tutti_scope_candidate(context, scope, own, wrong, 1, &candidate), TUTTI_ERROR_USAGE, "extra: expected");
  tutti_genotype_unref(foreign);
  tutti_genotype_unref(own);
  tutti_scope_destroy(scope);
}

/* As where one model searches the hyperparameters for all architectures. */
static void a_scope_may_leave_the_architecture_out(void **state) {
  tutti_scope *scope = scope_of(NULL, hyperparameters), *with = scope_of(points, hyperparameters);
  tutti_candidate *drawn, *parsed, *again, *other;
  struct tutti_random random;
  double point[8];
  char *text;
  (void)state;
  assert_null(tutti_scope_space(scope));
  assert_int_equal(tutti_domain_count(tutti_scope_joint(scope)), tutti_domain_count(hyperparameters));
  tutti_random_init(&random, 1, "test", 0);
  assert_int_equal(tutti_scope_sample(context, scope, &random, 7, &drawn), TUTTI_OK);
  assert_null(tutti_candidate_genotype(drawn));
  assert_int_equal(tutti_scope_print(context, scope, drawn, &text), TUTTI_OK);
  assert_non_null(strstr(text, "\"architecture\": null"));
  assert_int_equal(tutti_scope_parse(context, scope, text, &parsed), TUTTI_OK);
  tutti_scope_to_point(scope, drawn, point);
  assert_int_equal(tutti_scope_from_point(context, scope, point, 7, &again), TUTTI_OK);
  assert_true(tutti_candidate_equal(drawn, parsed) && tutti_candidate_equal(drawn, again));
  assert_true(tutti_candidate_hash(drawn) == tutti_candidate_hash(again));
  /* The same hyperparameters with an architecture are another candidate. */
  assert_int_equal(tutti_scope_sample(context, with, &random, 7, &other), TUTTI_OK);
  tutti_candidate *joined;
  assert_int_equal(tutti_scope_candidate(context, with, tutti_candidate_genotype(other),
                                         tutti_candidate_hyperparameters(drawn), 7, &joined),
                   TUTTI_OK);
  assert_false(tutti_candidate_equal(drawn, joined));
  tutti_candidate *refused;
  must_fail(tutti_scope_candidate(context, with, NULL, tutti_candidate_hyperparameters(drawn), 7, &refused),
            TUTTI_ERROR_INTERNAL, "another space");
  assert_null(refused);
  tutti_free(text);
  tutti_candidate_unref(drawn);
  tutti_candidate_unref(parsed);
  tutti_candidate_unref(again);
  tutti_candidate_unref(other);
  tutti_candidate_unref(joined);
  tutti_scope_destroy(scope);
  tutti_scope_destroy(with);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(spaces_say_what_they_offer, begin, end),
      cmocka_unit_test_setup_teardown(graphs_are_printed_parsed_and_measured, begin, end),
      cmocka_unit_test_setup_teardown(genotypes_live_as_long_as_they_are_counted, begin, end),
      cmocka_unit_test_setup_teardown(mutants_are_new, begin, end),
      cmocka_unit_test_setup_teardown(bad_genotypes_are_refused, begin, end),
      cmocka_unit_test_setup_teardown(points_may_be_spelled_otherwise, begin, end),
      cmocka_unit_test_setup_teardown(broken_spaces_are_blamed, begin, end),
      cmocka_unit_test_setup_teardown(the_joint_domain_keeps_names_apart, begin, end),
      cmocka_unit_test_setup_teardown(candidates_come_back_from_points_and_text, begin, end),
      cmocka_unit_test_setup_teardown(equality_is_of_architecture_and_hyperparameters, begin, end),
      cmocka_unit_test_setup_teardown(a_scope_may_search_nothing, begin, end),
      cmocka_unit_test_setup_teardown(a_scope_may_leave_the_architecture_out, begin, end),
      cmocka_unit_test_setup_teardown(diversity_of_vectors_of_decisions, begin, end),
      cmocka_unit_test_setup_teardown(diversity_is_the_mean_distance_of_pairs, begin, end),
      cmocka_unit_test_setup_teardown(bad_candidates_are_refused, begin, end),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
