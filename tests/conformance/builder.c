/* builder.c - the contract of kind builder: its state is a function of what it was asked, told and made to adopt. */
#include "conform.h"

#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <string.h>

enum loss_kind { LOSS_OF_CANDIDATE, LOSS_CONSTANT, LOSS_ALL_FAIL };

/* What happened: asks and tells, in order. */
enum { EVENTS_MOST = 4 * WORLD_BUDGET };
struct event {
  bool told;
  uint64_t trial;
};
struct record {
  struct event events[EVENTS_MOST];
  size_t count;
  uint64_t asked, told;
  struct tutti_proposal proposals[WORLD_BUDGET]; /* candidates are held */
};

struct subject {
  struct world world;
  tutti_builder *builder;
  size_t window;
  enum loss_kind losses;
  struct record record;
};

/* False, with a message, where the builder refuses the space. */
static bool open_in(struct conform *conform, struct subject *subject, enum world_space space, size_t window,
                    enum loss_kind losses) {
  memset(subject, 0, sizeof *subject);
  subject->window = window;
  subject->losses = losses;
  world_make(conform, space, window, &subject->world);
  struct tutti_builder_setup setup = {.size = sizeof setup, .host = subject->world.host};
  return tutti_builder_create(conform->context, subject->world.host, "builder", &setup, &subject->builder) == TUTTI_OK;
}

static void close_subject(struct subject *subject) {
  for (uint64_t i = 0; i < subject->record.asked; i++)
    tutti_candidate_unref(subject->record.proposals[i].candidate);
  tutti_builder_destroy(subject->builder);
  world_end(&subject->world);
}

/* In a space of points, or, where its model needs distances, of graphs. */
static void open_subject(struct conform *conform, struct subject *subject, size_t window, enum loss_kind losses) {
  char why[512];
  if (open_in(conform, subject, WORLD_POINTS, window, losses))
    return;
  (void)snprintf(why, sizeof why, "%s", tutti_error_message(conform->context));
  close_subject(subject);
  if (!open_in(conform, subject, WORLD_GRAPHS, window, losses))
    conform_fail(conform, "it works neither in a space of points (%s) nor of graphs (%s)", why,
                 tutti_error_message(conform->context));
}

/* In one space; a refusal must name it. */
static void open_or_skip(struct conform *conform, struct subject *subject, enum world_space space, const char *name,
                         size_t window) {
  if (open_in(conform, subject, space, window, LOSS_OF_CANDIDATE))
    return;
  REQUIRE(conform, strstr(tutti_error_message(conform->context), name), "the refusal does not name the space: %s",
          tutti_error_message(conform->context));
  close_subject(subject);
  conform_skip(conform, "it refuses the space: %s", tutti_error_message(conform->context));
}

static void note(struct conform *conform, struct record *record, bool told, uint64_t trial) {
  REQUIRE(conform, record->count < EVENTS_MOST, "more than %d asks and tells", EVENTS_MOST);
  record->events[record->count++] = (struct event){told, trial};
}

/* Every fifth trial fails; one is pruned. */
static void tell(struct conform *conform, struct subject *subject, uint64_t trial) {
  const tutti_candidate *candidate = subject->record.proposals[trial].candidate;
  bool fails = subject->losses == LOSS_ALL_FAIL || trial % 5 == 3, pruned = trial == 6;
  struct tutti_result result = {.size = sizeof result,
                                .trial = trial,
                                .candidate = candidate,
                                .state = fails    ? TUTTI_STATE_FAILED
                                         : pruned ? TUTTI_STATE_PRUNED
                                                  : TUTTI_STATE_FINISHED,
                                .loss = fails || pruned                    ? NAN
                                        : subject->losses == LOSS_CONSTANT ? 0.5
                                                                           : world_loss(candidate),
                                .seconds = 1,
                                .failure = fails ? "diverged" : ""};
  const struct tutti_result *given = conform_given(conform, "the result", &result, sizeof result);
  TRY(conform, tutti_builder_tell(conform->context, subject->builder, given));
  note(conform, &subject->record, true, trial);
  subject->record.told = trial + 1;
}

static void require_valid(struct conform *conform, const struct subject *subject, const tutti_candidate *candidate) {
  char *text = NULL;
  tutti_candidate *back = NULL;
  TRY(conform, tutti_scope_print(conform->context, subject->world.scope, candidate, &text));
  TRY(conform, tutti_scope_parse(conform->context, subject->world.scope, text, &back));
  REQUIRE(conform, tutti_candidate_equal(candidate, back), "a candidate does not survive being written: %s", text);
  tutti_candidate_unref(back);
  tutti_free(text);
}

/* Ask for the next trial; false: nothing until more results are told. */
static bool ask(struct conform *conform, struct subject *subject) {
  struct record *record = &subject->record;
  struct tutti_proposal *proposal = &record->proposals[record->asked];
  proposal->size = sizeof *proposal;
  TRY(conform, tutti_builder_ask(conform->context, subject->builder, record->asked, proposal));
  if (!proposal->candidate)
    return false;
  require_valid(conform, subject, proposal->candidate);
  REQUIRE(conform, proposal->parent == TUTTI_NO_TRIAL || proposal->parent < record->asked,
          "trial %" PRIu64 " has parent %" PRIu64, record->asked, proposal->parent);
  note(conform, record, false, record->asked++);
  return true;
}

/* Go on until the budget is spent: fill the window, tell the oldest. */
static void run(struct conform *conform, struct subject *subject) {
  struct record *record = &subject->record;
  while (record->told < WORLD_BUDGET) {
    while (record->asked < WORLD_BUDGET && record->asked - record->told < subject->window && ask(conform, subject))
      ;
    if (record->asked == record->told) {
      REQUIRE(conform, tutti_builder_exhausted(subject->builder), "it proposes nothing, but is not exhausted");
      return;
    }
    tell(conform, subject, record->told);
  }
}

static void require_same(struct conform *conform, const struct subject *a, const struct subject *b, const char *what) {
  REQUIRE(conform, a->record.asked == b->record.asked, "%s: %" PRIu64 " trials, then %" PRIu64, what, a->record.asked,
          b->record.asked);
  for (uint64_t i = 0; i < a->record.asked; i++) {
    const struct tutti_proposal *one = &a->record.proposals[i], *two = &b->record.proposals[i];
    char *text = NULL, *other = NULL;
    TRY(conform, tutti_scope_print(conform->context, a->world.scope, one->candidate, &text));
    TRY(conform, tutti_scope_print(conform->context, b->world.scope, two->candidate, &other));
    REQUIRE(conform, strcmp(text, other) == 0 && one->parent == two->parent, "%s: trial %" PRIu64 " was %s, then %s",
            what, i, text, other);
    tutti_free(text);
    tutti_free(other);
  }
}

/* --- checks --- */

static void check_windows(struct conform *conform) {
  static const size_t windows[] = {1, 2, 5, WORLD_BUDGET};
  for (size_t i = 0; i < 4; i++) {
    struct subject subject;
    open_subject(conform, &subject, windows[i], LOSS_OF_CANDIDATE);
    run(conform, &subject);
    close_subject(&subject);
  }
}

static void check_determinism(struct conform *conform) {
  struct subject a, b;
  open_subject(conform, &a, 3, LOSS_OF_CANDIDATE);
  open_subject(conform, &b, 3, LOSS_OF_CANDIDATE);
  run(conform, &a);
  run(conform, &b);
  require_same(conform, &a, &b, "the same run twice");
  close_subject(&a);
  close_subject(&b);
}

static void check_seeds(struct conform *conform) {
  struct subject subject;
  open_subject(conform, &subject, 2, LOSS_OF_CANDIDATE);
  run(conform, &subject);
  for (uint64_t i = 0; i < subject.record.asked; i++)
    for (uint64_t k = 0; k < i; k++)
      REQUIRE(conform,
              tutti_candidate_seed(subject.record.proposals[i].candidate) !=
                  tutti_candidate_seed(subject.record.proposals[k].candidate),
              "trials %" PRIu64 " and %" PRIu64 " have the same seed", k, i);
  close_subject(&subject);
}

/* A run that was killed after `stop` events and resumed is the run. */
static void resume(struct conform *conform, const struct subject *whole, size_t stop) {
  struct subject resumed;
  char what[64];
  open_subject(conform, &resumed, whole->window, whole->losses);
  for (size_t i = 0; i < stop; i++) {
    const struct event *event = &whole->record.events[i];
    if (event->told) {
      tell(conform, &resumed, event->trial);
      continue;
    }
    const struct tutti_proposal *recorded = &whole->record.proposals[event->trial];
    struct tutti_proposal *proposal = &resumed.record.proposals[event->trial];
    proposal->size = sizeof *proposal;
    char *text = NULL;
    *proposal = *recorded;
    TRY(conform, tutti_scope_print(conform->context, whole->world.scope, recorded->candidate, &text));
    TRY(conform, tutti_scope_parse(conform->context, resumed.world.scope, text, &proposal->candidate));
    tutti_free(text);
    TRY(conform, tutti_builder_adopt(conform->context, resumed.builder, event->trial, proposal));
    note(conform, &resumed.record, false, resumed.record.asked++);
  }
  run(conform, &resumed);
  (void)snprintf(what, sizeof what, "resumed after %zu asks and tells", stop);
  require_same(conform, whole, &resumed, what);
  close_subject(&resumed);
}

static void check_resume(struct conform *conform) {
  static const size_t windows[] = {1, 4};
  for (size_t w = 0; w < 2; w++) {
    struct subject whole;
    open_subject(conform, &whole, windows[w], LOSS_OF_CANDIDATE);
    run(conform, &whole);
    size_t stops[] = {1, 2, whole.record.count / 3, whole.record.count / 2, whole.record.count - 1, whole.record.count};
    for (size_t i = 0; i < sizeof stops / sizeof stops[0]; i++)
      resume(conform, &whole, stops[i]);
    close_subject(&whole);
  }
}

static void check_losses(struct conform *conform, enum loss_kind losses) {
  struct subject subject;
  open_subject(conform, &subject, 3, losses);
  run(conform, &subject);
  close_subject(&subject);
}

static void check_constant(struct conform *conform) { check_losses(conform, LOSS_CONSTANT); }

static void check_all_fail(struct conform *conform) { check_losses(conform, LOSS_ALL_FAIL); }

/* Three candidates, and no more: it repeats some, or says that it is exhausted. */
static void check_few(struct conform *conform) {
  struct subject subject;
  open_or_skip(conform, &subject, WORLD_FEW, "conform-few", 1);
  run(conform, &subject);
  close_subject(&subject);
}

/* On graphs it works, or refuses with a message when it is made or first asked. */
static void check_graphs(struct conform *conform) {
  struct subject subject;
  open_or_skip(conform, &subject, WORLD_GRAPHS, "conform-graphs", 2);
  run(conform, &subject);
  close_subject(&subject);
}

static void check_describe(struct conform *conform) {
  struct subject subject;
  char *json = NULL;
  open_subject(conform, &subject, 2, LOSS_OF_CANDIDATE);
  run(conform, &subject);
  TRY(conform, tutti_builder_describe(conform->context, subject.builder, &json));
  if (json) {
    json_t *root = json_loads(json, JSON_DECODE_ANY, NULL);
    REQUIRE(conform, root, "it describes itself in what is no JSON: %s", json);
    json_decref(root);
  }
  tutti_free(json);
  close_subject(&subject);
}

const struct conform_check conform_builder[] = {
    {"proposes valid candidates in windows of 1, 2, 5 and all", check_windows},
    {"the same run gives the same candidates", check_determinism},
    {"every trial has a seed of its own", check_seeds},
    {"adopted and told again, it goes on as it would have", check_resume},
    {"losses that are all equal", check_constant},
    {"trials that all fail", check_all_fail},
    {"a space of three points", check_few},
    {"a space of graphs", check_graphs},
    {"describes itself in JSON", check_describe},
    {NULL, NULL},
};
