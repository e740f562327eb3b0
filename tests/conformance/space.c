/* space.c - the contract of kind space. */
#include "conform.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

enum { SAMPLES = 32 };

struct subject {
  struct tutti_task task;
  struct tutti_host_facts facts;
  tutti_host *host;
  tutti_space *space;
};

static bool decodes(struct conform *conform, const struct subject *subject) {
  struct tutti_random random;
  tutti_genotype *genotype;
  tutti_network *network = NULL;
  tutti_random_init(&random, WORLD_SEED, "conform probe", 0);
  TRY(conform, tutti_space_sample(conform->context, subject->space, &random, &genotype));
  bool works = tutti_space_decode(conform->context, genotype, &subject->task, &network) == TUTTI_OK;
  tutti_network_destroy(network);
  tutti_genotype_unref(genotype);
  return works;
}

static void close_subject(struct subject *subject) {
  tutti_space_destroy(subject->space);
  tutti_host_destroy(subject->host);
}

static bool open_with(struct conform *conform, struct subject *subject, enum tutti_task_kind kind,
                      struct tutti_shape input) {
  subject->task = world_task(kind);
  subject->task.input = input;
  subject->facts = (struct tutti_host_facts){
      .size = sizeof subject->facts, .seed = WORLD_SEED, .budget = WORLD_BUDGET, .window = 1, .task = &subject->task};
  subject->host = world_host(conform, &subject->facts);
  struct tutti_space_setup setup = {.size = sizeof setup, .task = &subject->task};
  if (tutti_space_create(conform->context, subject->host, "space", &setup, &subject->space) == TUTTI_OK &&
      decodes(conform, subject))
    return true;
  close_subject(subject);
  return false;
}

/* A space may be made for tables or for images; it has to take one of them. */
static void open_kind(struct conform *conform, struct subject *subject, enum tutti_task_kind kind) {
  static const struct tutti_shape table = {1, 1, 4}, image = {16, 16, 3};
  char why[512];
  memset(subject, 0, sizeof *subject);
  if (open_with(conform, subject, kind, table))
    return;
  (void)snprintf(why, sizeof why, "%s", tutti_error_message(conform->context));
  if (!open_with(conform, subject, kind, image))
    conform_fail(conform, "it takes neither 4 features (%s) nor images of 16 x 16 x 3 (%s)", why,
                 tutti_error_message(conform->context));
}

static void open_subject(struct conform *conform, struct subject *subject) {
  open_kind(conform, subject, TUTTI_TASK_REGRESSION);
}

static tutti_genotype *sample(struct conform *conform, const struct subject *subject, uint64_t index) {
  struct tutti_random random;
  tutti_genotype *genotype = NULL;
  tutti_random_init(&random, WORLD_SEED, "conform sample", index);
  TRY(conform, tutti_space_sample(conform->context, subject->space, &random, &genotype));
  return genotype;
}

static char *print(struct conform *conform, const tutti_genotype *genotype) {
  char *text = NULL;
  TRY(conform, tutti_space_print(conform->context, genotype, &text));
  return text;
}

/* --- checks --- */

static void check_create(struct conform *conform) {
  struct subject subject;
  for (int i = 0; i < 3; i++) {
    open_subject(conform, &subject);
    close_subject(&subject);
  }
}

static void check_determinism(struct conform *conform) {
  struct subject a, b;
  open_subject(conform, &a);
  open_subject(conform, &b);
  for (uint64_t i = 0; i < SAMPLES; i++) {
    tutti_genotype *first = sample(conform, &a, i), *second = sample(conform, &b, i);
    char *first_text = print(conform, first), *second_text = print(conform, second);
    REQUIRE(conform, strcmp(first_text, second_text) == 0, "the same stream gave %s and %s", first_text, second_text);
    tutti_genotype_unref(first), tutti_genotype_unref(second);
    tutti_free(first_text), tutti_free(second_text);
  }
  close_subject(&a);
  close_subject(&b);
}

static void check_round_trip(struct conform *conform) {
  struct subject subject;
  open_subject(conform, &subject);
  for (uint64_t i = 0; i < SAMPLES; i++) {
    tutti_genotype *genotype = sample(conform, &subject, i), *back = NULL;
    char *text = print(conform, genotype);
    json_t *root = json_loads(text, JSON_DECODE_ANY, NULL);
    REQUIRE(conform, root, "it prints what is no JSON: %s", text);
    TRY(conform, tutti_space_parse(conform->context, subject.space, text, &back));
    char *again = print(conform, back);
    REQUIRE(conform, strcmp(text, again) == 0 && tutti_genotype_equal(genotype, back), "printed as %s, read as %s",
            text, again);
    char *name = NULL;
    TRY(conform, tutti_space_name(conform->context, back, &name));
    REQUIRE(conform, strcmp(name, json_is_string(root) ? json_string_value(root) : text) == 0,
            "printed as %s, named %s", text, name);
    json_decref(root);
    tutti_genotype_unref(genotype), tutti_genotype_unref(back);
    tutti_free(text), tutti_free(again), tutti_free(name);
  }
  close_subject(&subject);
}

static void check_garbage(struct conform *conform) {
  static const char *const wrong[] = {
      "",    "{",    "[[",      "nonsense",          "\"no such genotype\"", "{\"no_such_key\": 1}",
      "-17", "null", "[1e999]", "[-1, \"\\u0000\"]", "{\"units\": \"many\"}"};
  struct subject subject;
  open_subject(conform, &subject);
  for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
    tutti_genotype *genotype = NULL;
    conform_refused(conform, tutti_space_parse(conform->context, subject.space, wrong[i], &genotype), wrong[i]);
  }
  close_subject(&subject);
}

/* Is there more than one genotype, as far as samples show? */
static bool has_second(struct conform *conform, const struct subject *subject) {
  tutti_genotype *first = sample(conform, subject, 0);
  bool second = false;
  for (uint64_t i = 1; i < SAMPLES && !second; i++) {
    tutti_genotype *other = sample(conform, subject, i);
    second = !tutti_genotype_equal(first, other);
    tutti_genotype_unref(other);
  }
  tutti_genotype_unref(first);
  return second;
}

static void check_mutation(struct conform *conform) {
  struct subject subject;
  open_subject(conform, &subject);
  bool second = has_second(conform, &subject);
  for (uint64_t i = 0; i < 4 * SAMPLES; i++) {
    tutti_genotype *genotype = sample(conform, &subject, i % SAMPLES), *mutants[2] = {NULL, NULL};
    for (int k = 0; k < 2; k++) {
      struct tutti_random random;
      tutti_random_init(&random, WORLD_SEED, "conform mutation", i);
      TRY(conform, tutti_space_mutate(conform->context, subject.space, &random, genotype, &mutants[k]));
    }
    char *text = print(conform, genotype);
    REQUIRE(conform, !second || !tutti_genotype_equal(genotype, mutants[0]), "a mutant of %s equals it", text);
    REQUIRE(conform, tutti_genotype_equal(mutants[0], mutants[1]), "the same stream gave two mutants of %s", text);
    tutti_free(text);
    tutti_genotype_unref(genotype), tutti_genotype_unref(mutants[0]), tutti_genotype_unref(mutants[1]);
  }
  close_subject(&subject);
}

static char *network_text(struct conform *conform, const struct subject *subject, const tutti_genotype *genotype) {
  tutti_network *network = NULL;
  char *text = NULL;
  const struct tutti_task *task = conform_given(conform, "the task", &subject->task, sizeof subject->task);
  TRY(conform, tutti_space_decode(conform->context, genotype, task, &network));
  TRY(conform, tutti_network_print(conform->context, network, &text));
  tutti_network_destroy(network);
  return text;
}

/* The wrapper checks the network and its head. */
static void check_decode(struct conform *conform, enum tutti_task_kind kind) {
  struct subject subject, other;
  open_kind(conform, &subject, kind);
  open_kind(conform, &other, kind);
  for (uint64_t i = 0; i < SAMPLES; i++) {
    tutti_genotype *genotype = sample(conform, &subject, i), *twin = sample(conform, &other, i);
    char *texts[3] = {network_text(conform, &subject, genotype), network_text(conform, &subject, genotype),
                      network_text(conform, &other, twin)};
    REQUIRE(conform, strcmp(texts[0], texts[1]) == 0, "decoded twice, a genotype gave two networks");
    REQUIRE(conform, strcmp(texts[0], texts[2]) == 0, "two instances decoded a genotype to two networks");
    for (int k = 0; k < 3; k++)
      tutti_free(texts[k]);
    tutti_genotype_unref(genotype), tutti_genotype_unref(twin);
  }
  close_subject(&subject);
  close_subject(&other);
}

static void check_regression(struct conform *conform) { check_decode(conform, TUTTI_TASK_REGRESSION); }

static void check_classification(struct conform *conform) { check_decode(conform, TUTTI_TASK_CLASSIFICATION); }

static void check_known(struct conform *conform) {
  struct subject subject;
  const char *name, *json, *other;
  size_t count = 0;
  open_subject(conform, &subject);
  for (; tutti_space_known(subject.space, count, &name, &json); count++) {
    tutti_genotype *by_json = NULL, *by_name = NULL;
    char quoted[256];
    const char *ignored;
    (void)snprintf(quoted, sizeof quoted, "\"%s\"", name);
    TRY(conform, tutti_space_parse(conform->context, subject.space, json, &by_json));
    TRY(conform, tutti_space_parse(conform->context, subject.space, quoted, &by_name));
    REQUIRE(conform, tutti_genotype_equal(by_json, by_name), "known genotype %s is another by its name", name);
    tutti_free(network_text(conform, &subject, by_json));
    for (size_t i = 0; i < count; i++)
      REQUIRE(conform, tutti_space_known(subject.space, i, &other, &ignored) && strcmp(other, name) != 0,
              "two known genotypes are called %s", name);
    tutti_genotype_unref(by_json), tutti_genotype_unref(by_name);
  }
  close_subject(&subject);
  if (count == 0)
    conform_skip(conform, "it knows none by name");
}

/* A table: every row has a cell for every column. */
static void check_explanation(struct conform *conform, const tutti_genotype *a, const tutti_genotype *b) {
  char *text = NULL;
  const json_t *row;
  size_t index;
  TRY(conform, tutti_space_explain(conform->context, a, b, &text));
  if (!text)
    return;
  json_t *root = json_loads(text, 0, NULL);
  size_t columns = json_array_size(json_object_get(root, "columns"));
  REQUIRE(conform, json_is_string(json_object_get(root, "title")) && columns > 0, "it explains a distance as %s", text);
  json_array_foreach(json_object_get(root, "rows"), index, row)
      REQUIRE(conform, json_array_size(row) == columns, "row %zu of the explanation %s is no row", index, text);
  json_decref(root);
  tutti_free(text);
}

static void check_distances(struct conform *conform) {
  enum { COUNT = 8, MOST = 16 };
  struct subject subject;
  tutti_genotype *genotypes[COUNT];
  double out[COUNT][COUNT][MOST];
  open_subject(conform, &subject);
  size_t measures = tutti_space_measures(subject.space);
  if (!(tutti_space_capabilities(subject.space) & TUTTI_SPACE_DISTANCES)) {
    close_subject(&subject);
    conform_skip(conform, "it has none");
  }
  REQUIRE(conform, measures >= 1 && measures <= MOST, "it has %zu measures", measures);
  for (uint64_t i = 0; i < COUNT; i++)
    genotypes[i] = sample(conform, &subject, i);
  for (size_t i = 0; i < COUNT; i++) {
    double row[COUNT * MOST];
    TRY(conform,
        tutti_space_distances(conform->context, genotypes[i], COUNT, (const tutti_genotype *const *)genotypes, row));
    for (size_t k = 0; k < COUNT; k++)
      memcpy(out[i][k], row + k * measures, measures * sizeof *row);
  }
  check_explanation(conform, genotypes[0], genotypes[1]);
  for (size_t i = 0; i < COUNT; i++)
    for (size_t k = 0; k < COUNT; k++)
      for (size_t m = 0; m < measures; m++) {
        REQUIRE(conform, i != k || out[i][k][m] <= 1e-9, "measure %zu: a distance to itself is %g", m, out[i][k][m]);
        REQUIRE(conform, conform_close(out[i][k][m], out[k][i][m], 1e-9, 1e-9), "measure %zu is not symmetric: %g, %g",
                m, out[i][k][m], out[k][i][m]);
      }
  for (size_t i = 0; i < COUNT; i++)
    tutti_genotype_unref(genotypes[i]);
  close_subject(&subject);
}

/* Points of the domain are taken, or refused with a reason; points outside it are refused. */
static void check_points(struct conform *conform) {
  struct subject subject;
  struct tutti_random random;
  open_subject(conform, &subject);
  const tutti_domain *domain = tutti_space_domain(subject.space);
  size_t count = domain ? tutti_domain_count(domain) : 0, taken = 0;
  if (count == 0) {
    close_subject(&subject);
    conform_skip(conform, "it has no dimensions");
  }
  double *point = conform_alloc(conform, count, sizeof *point);
  tutti_random_init(&random, WORLD_SEED, "conform points", 0);
  for (int i = 0; i < SAMPLES; i++) {
    tutti_genotype *genotype = NULL;
    tutti_domain_sample(domain, &random, point);
    if (tutti_space_from_point(conform->context, subject.space, point, &genotype) == TUTTI_OK) {
      taken++;
      tutti_free(network_text(conform, &subject, genotype));
    } else {
      REQUIRE(conform, tutti_error_message(conform->context)[0], "a point was refused without a message");
    }
    tutti_genotype_unref(genotype);
    point[i % (int)count] = 1e300;
    genotype = NULL;
    conform_refused(conform, tutti_space_from_point(conform->context, subject.space, point, &genotype),
                    "a coordinate of 1e300");
  }
  REQUIRE(conform, taken > 0, "not one of %d points of its domain is valid", SAMPLES);
  tutti_free(point);
  close_subject(&subject);
}

const struct conform_check conform_space[] = {
    {"made and ended, again and again", check_create},
    {"the same stream gives the same genotypes", check_determinism},
    {"what is printed is read back", check_round_trip},
    {"nonsense is refused with a message", check_garbage},
    {"mutants differ, and are repeatable", check_mutation},
    {"points of the domain are decoded or refused", check_points},
    {"networks for regression", check_regression},
    {"networks for classification", check_classification},
    {"known genotypes", check_known},
    {"distances", check_distances},
    {NULL, NULL},
};
