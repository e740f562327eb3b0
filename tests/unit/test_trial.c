/* test_trial.c - a trial in its worker: which rows a job gets, which loss is its objective, what is written and
   replied. The backend is simulated, so that every number is known. */
#include "engine/run/trial_impl.h"
#include "simulated.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static struct tutti_experiment *experiment;
static struct tutti_reply_facts facts;
static json_t *report;
static char *reply;

static void open_experiment(const char *more) {
  simulated_table();
  SIMULATED_OK(tutti_experiment_create(simulated_context, simulated_load(simulated_recipe(true, more)), &experiment));
}

/* The candidate's text, as the scope of this recipe writes it. */
static char *own_candidate(void) {
  tutti_candidate *parsed;
  char *text;
  struct tutti_random random;
  tutti_random_init(&random, 1, "test", 0);
  SIMULATED_OK(tutti_scope_sample(simulated_context, experiment->scope, &random, 12345678901u, &parsed));
  SIMULATED_OK(tutti_scope_print(simulated_context, experiment->scope, parsed, &text));
  tutti_candidate_unref(parsed);
  char *number = strstr(text, "\"x\": ");
  assert_non_null(number);
  char *end = strpbrk(number, "}"), *whole;
  SIMULATED_OK(tutti_format(simulated_context, &whole, "%.*s\"x\": 1.5%s", (int)(number - text), text, end));
  tutti_free(text);
  return whole;
}

/* Do a trial of this number from its request to its reply. */
static enum tutti_status do_trial(uint64_t number, uint64_t fingerprint) {
  struct tutti_training training = {0};
  struct tutti_unsent unsent;
  char *request, *text = own_candidate();
  SIMULATED_OK(tutti_request_print(
      simulated_context, &(struct tutti_request){.trial = number, .fingerprint = fingerprint, .candidate = text},
      &request));
  enum tutti_status status = tutti_training_begin(simulated_context, experiment, ".", request, &training);
  if (status == TUTTI_OK)
    status = tutti_backend_train(simulated_context, experiment->backend, &training.job, &training.outcome);
  SIMULATED_OK(tutti_training_reply_begin(simulated_context, experiment, ".", status, &training, &unsent));
  SIMULATED_OK(tutti_training_reply_end(simulated_context, &unsent, &reply));
  tutti_training_end(&training);
  SIMULATED_OK(tutti_reply_parse(simulated_context, reply, &facts));
  report = json_loads(facts.report, 0, NULL);
  assert_non_null(report);
  tutti_free(request);
  tutti_free(text);
  return status;
}

static enum tutti_status trial(uint64_t number) { return do_trial(number, tutti_experiment_fingerprint(experiment)); }

static void close_trial(void) {
  json_decref(report);
  tutti_free(facts.report);
  tutti_free(reply);
  tutti_experiment_destroy(experiment);
}

/* The mean loss of a split whose rows are all predicted alike, by its definition. */
static double expected_loss(const char *name, bool squared) {
  const tutti_split *train = tutti_dataset_find(experiment->dataset, "train");
  const tutti_split *split = tutti_dataset_find(experiment->dataset, name);
  size_t rows = tutti_split_rows(train);
  double mean = 0, squares = 0, sum = 0;
  for (size_t i = 0; i < rows; i++)
    mean += tutti_split_raw_targets(train)[i] / (double)rows;
  for (size_t i = 0; i < rows; i++)
    squares += pow(tutti_split_raw_targets(train)[i] - mean, 2) / (double)rows;
  double predicted = mean + sqrt(squares) * (double)simulated_mean(1.5, name);
  double variance = squares * (double)simulated.variance;
  for (size_t i = 0; i < tutti_split_rows(split); i++) {
    double error = tutti_split_raw_targets(split)[i] - predicted;
    sum += squared ? error * error : 0.5 * error * error / variance + 0.5 * log(2 * M_PI * variance);
  }
  return sum / (double)tutti_split_rows(split);
}

static bool is_close(double a, double b) { return fabs(a - b) <= 1e-6 * fabs(b); }

static double loss_in_report(const char *split, const char *name) {
  return json_number_value(json_object_get(json_object_get(json_object_get(report, "losses"), split), name));
}

static void a_job_gets_the_rows_that_are_meant_for_it(void **state) {
  (void)state;
  open_experiment("[run]\nseed = 77\n");
  assert_int_equal(trial(5), TUTTI_OK);
  const struct simulated_job *job = &simulated.jobs[0];
  assert_int_equal(simulated.job_count, 1);
  assert_string_equal(job->train, "train");
  assert_int_equal(job->train_rows, 12);
  assert_true(fabsf(job->first_target - 50) < 1e-4f); /* row 0 of the table */
  assert_string_equal(job->validation, "validation");
  assert_int_equal(job->validation_rows, 6);
  assert_true(fabs((double)job->first_validation - (50 + 9 * sin(12 * 1.7))) < 1e-4); /* row 12 */
  assert_int_equal(job->trial, 5);
  assert_true(job->seed == 12345678901u);
  assert_int_equal(job->run_seed, 77);
  assert_true(job->x == 1.5);
  close_trial();
}

static void the_objective_is_the_loss_on_validation_rows(void **state) {
  (void)state;
  open_experiment("");
  assert_int_equal(trial(0), TUTTI_OK);
  assert_int_equal(facts.state, TUTTI_STATE_FINISHED);
  assert_false(is_close(expected_loss("validation", false), expected_loss("test", false)));
  assert_true(is_close(facts.loss, expected_loss("validation", false)));
  assert_true(is_close(loss_in_report("validation", "nll"), expected_loss("validation", false)));
  assert_true(is_close(loss_in_report("test", "nll"), expected_loss("test", false)));
  assert_true(is_close(loss_in_report("test", "mse"), expected_loss("test", true)));
  close_trial();
  open_experiment("[run]\nloss = mse\n");
  assert_int_equal(trial(0), TUTTI_OK);
  assert_true(is_close(facts.loss, expected_loss("validation", true)));
  close_trial();
}

static void predictions_are_in_the_units_of_their_rows(void **state) {
  static const char *const splits[] = {"validation", "test"};
  (void)state;
  open_experiment("");
  assert_int_equal(trial(3), TUTTI_OK);
  double scale = tutti_split_target_scale(tutti_dataset_find(experiment->dataset, "train"))[0];
  double shift = tutti_split_target_shift(tutti_dataset_find(experiment->dataset, "train"))[0];
  assert_true(shift > 40 && scale > 2); /* not standardised already */
  for (size_t s = 0; s < 2; s++) {
    struct tutti_npy array;
    char path[64];
    (void)snprintf(path, sizeof path, "trials/000003/%s.npy", splits[s]);
    SIMULATED_OK(tutti_npy_map(simulated_context, path, &array));
    assert_int_equal(array.count, 12);
    assert_true(
        is_close((double)((const float *)array.data)[0], shift + scale * (double)simulated_mean(1.5, splits[s])));
    assert_true(is_close((double)((const float *)array.data)[1], scale * scale * (double)simulated.variance));
    tutti_npy_unmap(&array);
  }
  assert_int_not_equal(access("trials/000003/train.npy", F_OK), 0);
  close_trial();
}

static void the_curve_is_as_it_was_reported(void **state) {
  char text[512];
  (void)state;
  open_experiment("");
  assert_int_equal(trial(0), TUTTI_OK);
  FILE *file = fopen("trials/000000/curve.csv", "r");
  assert_non_null(file);
  text[fread(text, 1, sizeof text - 1, file)] = '\0';
  assert_int_equal(fclose(file), 0);
  assert_string_equal(text, "epoch,steps,learning_rate,train_loss,validation_loss\n"
                            "1,10,0.5,8,4\n2,20,0.5,4,2\n3,30,0.5,2.6666666666666665,7.25\n");
  assert_int_equal(json_integer_value(json_object_get(report, "epochs")), 3);
  assert_int_equal(json_integer_value(json_object_get(report, "best_epoch")), 2);
  assert_int_equal(json_integer_value(json_object_get(report, "steps")), 30);
  close_trial();
}

static void the_last_epoch_may_be_the_objective(void **state) {
  (void)state;
  open_experiment("[run]\nobjective = last-epoch\n");
  assert_int_equal(trial(0), TUTTI_OK);
  assert_true(facts.loss == 7.25);
  close_trial();
  simulated.epochs = 0; /* no curve: what is kept */
  open_experiment("[run]\nobjective = last-epoch\n");
  assert_int_equal(trial(0), TUTTI_OK);
  assert_true(is_close(facts.loss, expected_loss("validation", false)));
  close_trial();
}

static bool has_file(const char *name) {
  size_t i;
  json_t *entry;
  json_array_foreach(json_object_get(report, "files"), i, entry) {
    if (strcmp(json_string_value(json_object_get(entry, "name")), name) == 0)
      return true;
  }
  return false;
}

static void weights_are_kept_if_they_are_wanted(void **state) {
  (void)state;
  open_experiment("");
  assert_int_equal(trial(0), TUTTI_OK);
  assert_true(has_file("weights.safetensors") && has_file("validation.npy") && has_file("test.npy") &&
              has_file("curve.csv"));
  assert_int_equal(access("trials/000000/weights.safetensors", F_OK), 0);
  close_trial();
  open_experiment("[run]\nkeep_weights = no\n");
  assert_int_equal(trial(1), TUTTI_OK);
  assert_true(has_file("validation.npy") && !has_file("weights.safetensors"));
  assert_int_not_equal(access("trials/000001/weights.safetensors", F_OK), 0);
  close_trial();
}

static void other_data_stop_the_run(void **state) {
  (void)state;
  open_experiment("");
  assert_int_equal(do_trial(0, tutti_experiment_fingerprint(experiment) + 1), TUTTI_ERROR_CORRUPT);
  assert_int_equal(facts.status, TUTTI_ERROR_CORRUPT);
  assert_non_null(strstr(facts.failure, "the data have changed"));
  assert_int_equal(simulated.job_count, 0);
  close_trial();
}

static enum tutti_status diverge(tutti_context *context, const struct tutti_job *job, struct tutti_outcome *outcome) {
  (void)context, (void)job;
  outcome->state = TUTTI_STATE_FAILED;
  (void)strcpy(outcome->failure, "diverged");
  return TUTTI_OK;
}

static enum tutti_status give_up(tutti_context *context, const struct tutti_job *job, struct tutti_outcome *outcome) {
  (void)job, (void)outcome;
  return TUTTI_FAIL(context, TUTTI_ERROR_NUMERIC, "no luck");
}

static enum tutti_status fill_up(tutti_context *context, const struct tutti_job *job, struct tutti_outcome *outcome) {
  (void)job, (void)outcome;
  return TUTTI_FAIL(context, TUTTI_ERROR_FULL, "the disk is full");
}

static enum tutti_status prune(tutti_context *context, const struct tutti_job *job, struct tutti_outcome *outcome) {
  (void)context, (void)job;
  outcome->state = TUTTI_STATE_PRUNED;
  return TUTTI_OK;
}

static void failures_are_results_and_have_no_loss(void **state) {
  (void)state;
  open_experiment("");
  simulated.train = diverge;
  assert_int_equal(trial(0), TUTTI_OK);
  assert_int_equal(facts.status, TUTTI_OK);
  assert_int_equal(facts.state, TUTTI_STATE_FAILED);
  assert_true(isnan(facts.loss));
  assert_string_equal(facts.failure, "diverged");
  assert_int_not_equal(access("trials/000000/validation.npy", F_OK), 0);
  close_trial();
  open_experiment("");
  simulated.train = give_up;
  assert_int_equal(trial(0), TUTTI_ERROR_NUMERIC);
  assert_int_equal(facts.status, TUTTI_OK);
  assert_int_equal(facts.state, TUTTI_STATE_FAILED);
  assert_non_null(strstr(facts.failure, "no luck"));
  close_trial();
  open_experiment("");
  simulated.train = prune;
  assert_int_equal(trial(0), TUTTI_OK);
  assert_int_equal(facts.state, TUTTI_STATE_PRUNED);
  assert_true(isfinite(facts.loss)); /* of the weights that it had; builders are told it apart from results */
  assert_int_not_equal(access("trials/000000/validation.npy", F_OK), 0);
  close_trial();
}

static void a_full_disk_stops_the_run(void **state) {
  (void)state;
  open_experiment("");
  simulated.train = fill_up;
  assert_int_equal(trial(0), TUTTI_ERROR_FULL);
  assert_int_equal(facts.status, TUTTI_ERROR_FULL);
  assert_non_null(strstr(facts.failure, "the disk is full"));
  close_trial();
}

static void losses_and_predictions_that_are_not_finite_are_failures(void **state) {
  (void)state;
  open_experiment("");
  simulated.variance = NAN; /* may be absent, but then there is no NLL */
  assert_int_equal(trial(0), TUTTI_OK);
  assert_int_equal(facts.state, TUTTI_STATE_FAILED);
  assert_non_null(strstr(facts.failure, "the validation loss is not finite"));
  assert_true(isnan(facts.loss));
  close_trial();
  open_experiment("");
  simulated.variance = INFINITY;
  assert_int_equal(trial(0), TUTTI_OK);
  assert_int_equal(facts.state, TUTTI_STATE_FAILED);
  assert_non_null(strstr(facts.failure, "not finite"));
  close_trial();
}

/* A worker whose plugins are not the manager's trains nothing; what only one of them has is not compared. */
static void another_build_of_a_plugin_is_refused(void **state) {
  static const char *const managers[] = {"{\"backend/own\": \"1 bytes\"}", "{\"backend/own\": \"2 bytes\"}",
                                         "{\"backend/strange\": \"2 bytes\"}"};
  (void)state;
  open_experiment("");
  SIMULATED_OK(tutti_strdup(simulated_context, managers[0], &experiment->plugins));
  for (size_t i = 0; i < sizeof managers / sizeof managers[0]; i++) {
    struct tutti_training training = {0};
    char *request, *text = own_candidate();
    const struct tutti_request said = {
        .trial = 3, .fingerprint = tutti_experiment_fingerprint(experiment), .plugins = managers[i], .candidate = text};
    SIMULATED_OK(tutti_request_print(simulated_context, &said, &request));
    enum tutti_status status = tutti_training_begin(simulated_context, experiment, ".", request, &training);
    assert_int_equal(status, i == 1 ? TUTTI_ERROR_CORRUPT : TUTTI_OK);
    if (i == 1)
      assert_non_null(strstr(tutti_error_message(simulated_context),
                             "plugin backend/own is another build here (1 bytes) than the manager's (2 bytes)"));
    tutti_training_end(&training);
    tutti_free(request);
    tutti_free(text);
  }
  tutti_experiment_destroy(experiment);
}

static void what_is_no_request_or_reply_is_refused(void **state) {
  static const char *const wrong[] = {"", "{}", "[1]", "{\"trial\": 1, \"data\": 5, \"candidate\": {}}"};
  struct tutti_reply_facts parsed;
  (void)state;
  open_experiment("");
  for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
    struct tutti_training training = {0};
    assert_int_equal(tutti_training_begin(simulated_context, experiment, ".", wrong[i], &training),
                     TUTTI_ERROR_CORRUPT);
    tutti_training_end(&training);
    assert_int_equal(tutti_reply_parse(simulated_context, wrong[i], &parsed), TUTTI_ERROR_CORRUPT);
  }
  tutti_experiment_destroy(experiment);
}

/* What the catalogue would be unreadable with is not recorded. */
static void replies_are_checked(void **state) {
  static const struct {
    const char *state, *loss, *report, *wrong;
  } cases[] = {{"finished", "0.5", "{}", NULL},
               {"failed", "null", "{}", NULL},
               {"pruned", "3", "{}", NULL},
               {"finished", "null", "{}", "has no loss"},
               {"finished", "\"1\"", "{}", "has no loss"},
               {"asleep", "1", "{}", "its state"},
               {"failed", "null", "[]", "its report"}};
  struct tutti_reply_facts parsed;
  char text[1024], failure[600];
  (void)state;
  /* 511 bytes are kept, and the last letter here has two. */
  memset(failure, 'x', sizeof failure);
  (void)snprintf(failure + 510, sizeof failure - 510, "\xc3\xa9 and more");
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    (void)snprintf(text, sizeof text,
                   "{\"status\": \"ok\", \"state\": \"%s\", \"failure\": \"%s\", \"seconds\": 1.5, \"loss\": %s, "
                   "\"report\": %s}",
                   cases[i].state, failure, cases[i].loss, cases[i].report);
    enum tutti_status status = tutti_reply_parse(simulated_context, text, &parsed);
    assert_int_equal(status, cases[i].wrong ? TUTTI_ERROR_CORRUPT : TUTTI_OK);
    assert_null(strchr(parsed.failure, '\xc3'));
    if (cases[i].wrong)
      assert_non_null(strstr(tutti_error_message(simulated_context), cases[i].wrong));
    tutti_free(parsed.report);
  }
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, simulated_begin, simulated_end)
  const struct CMUnitTest tests[] = {
      TEST(a_job_gets_the_rows_that_are_meant_for_it),
      TEST(the_objective_is_the_loss_on_validation_rows),
      TEST(predictions_are_in_the_units_of_their_rows),
      TEST(the_curve_is_as_it_was_reported),
      TEST(the_last_epoch_may_be_the_objective),
      TEST(weights_are_kept_if_they_are_wanted),
      TEST(other_data_stop_the_run),
      TEST(failures_are_results_and_have_no_loss),
      TEST(a_full_disk_stops_the_run),
      TEST(losses_and_predictions_that_are_not_finite_are_failures),
      TEST(another_build_of_a_plugin_is_refused),
      TEST(what_is_no_request_or_reply_is_refused),
      TEST(replies_are_checked),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
