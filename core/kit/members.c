/* members.c - from observations to jobs of a trainer, and from trained networks to mean and standard deviation. */
#include <tutti/members.h>

#include <tutti/random.h>
#include <tutti/sized.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

/* The points that are predicted at once. */
enum { BLOCK = 256 };

struct tutti_members {
  char *name;
  tutti_backend *trainer;
  struct tutti_task task;
  bool encoded; /* vectors are the encoding of a domain, from 0 to 1 */
  enum tutti_member_values values;
  enum tutti_member_start start;
  size_t retries, dimension;

  /* All observations as they were given, and how many of them the members were fitted to. */
  size_t total, fitted;
  double *vectors, *losses; /* [room][dimension], [room] */

  /* The first of them, in the units of the training: x = (vector - middle) / half, and so the values. */
  size_t count, room;
  float *inputs, *targets; /* [room][dimension], [room] */
  double *middle, *half;   /* [dimension] */
  double middle_value, half_value;

  size_t members;
  tutti_tensors **weights;      /* [members] */
  tutti_predictor **predictors; /* [members] */
  size_t last_members;          /* those of the fit before, while one follows from it */
  tutti_tensors **last;         /* [last_members] */

  float *block, *answers; /* [BLOCK][dimension], [BLOCK][2] */
  float *parts;           /* [BLOCK]: what of the variances in `answers` is the network's own */
  double *scatter;        /* [BLOCK] */
  float *slopes;          /* [2][dimension]: gradients of one or two rows */
};

/* --- life --------------------------------------------------------------------------------------------------------- */

static enum tutti_status check_trainer(tutti_context *context, const tutti_members *members,
                                       const struct tutti_members_setup *setup) {
  const char *trainer = tutti_backend_descriptor(members->trainer)->name, *lacks = NULL;
  if (!tutti_backend_takes_networks(members->trainer))
    lacks = "networks";
  else if (!tutti_backend_supports(members->trainer, setup->head))
    lacks = tutti_op_name(setup->head);
  else if ((setup->honours & TUTTI_JOB_FROZEN) && !tutti_backend_honours(members->trainer, TUTTI_JOB_FROZEN))
    lacks = "frozen layers";
  else if ((setup->honours & TUTTI_JOB_BOX) && !tutti_backend_honours(members->trainer, TUTTI_JOB_BOX))
    lacks = "a box for artificial points";
  else if (setup->predictor && !tutti_backend_has_predictor(members->trainer))
    lacks = "predictions with dropout";
  if (!lacks)
    return TUTTI_OK;
  return TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                    "needs a trainer with %s, and backend %s has none; choose another trainer", lacks, trainer);
}

static enum tutti_status create_arrays(tutti_context *context, tutti_members *members) {
  size_t dimension = members->dimension;
  TUTTI_TRY(context, tutti_alloc(context, dimension, sizeof(double), &members->middle));
  TUTTI_TRY(context, tutti_alloc(context, dimension, sizeof(double), &members->half));
  TUTTI_TRY(context, tutti_alloc(context, BLOCK * dimension, sizeof(float), &members->block));
  TUTTI_TRY(context, tutti_alloc(context, BLOCK * 2, sizeof(float), &members->answers));
  TUTTI_TRY(context, tutti_alloc(context, BLOCK, sizeof(float), &members->parts));
  TUTTI_TRY(context, tutti_alloc(context, 2 * dimension, sizeof(float), &members->slopes));
  return tutti_alloc(context, BLOCK, sizeof(double), &members->scatter);
}

enum tutti_status tutti_members_create(tutti_context *context, const struct tutti_members_setup *theirs,
                                       tutti_members **out) {
  struct tutti_members_setup setup;
  struct tutti_surrogate_setup surrogate;
  tutti_members *made = NULL;
  enum tutti_status status;
  *out = NULL;
  TUTTI_TAKE(&setup, theirs);
  TUTTI_TAKE(&surrogate, setup.surrogate);
  if (surrogate.dimension == 0 || surrogate.dimension > INT32_MAX)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "needs vectors, and there is nothing to vary");
  TUTTI_TRY_OUT(context, tutti_alloc(context, 1, sizeof *made, &made));
  TUTTI_TRY_OUT(context, tutti_strdup(context, setup.name, &made->name));
  made->dimension = surrogate.dimension;
  made->encoded = surrogate.domain != NULL;
  made->values = setup.values;
  made->retries = setup.retries;
  made->start = setup.start;
  made->task = (struct tutti_task){.size = sizeof made->task,
                                   .kind = TUTTI_TASK_REGRESSION,
                                   .input = {1, 1, (int32_t)made->dimension},
                                   .outputs = 1,
                                   .head = setup.head};
  TUTTI_TRY_OUT(context, create_arrays(context, made));
  struct tutti_backend_setup trainer = {
      .size = sizeof trainer, .host = surrogate.host, .task = &made->task, .seed = surrogate.seed};
  status = tutti_backend_create(context, surrogate.host, setup.trainer ? setup.trainer : "trainer", &trainer,
                                &made->trainer);
  if (status != TUTTI_OK)
    (void)tutti_error_prefix(context, status, "its trainer: ");
  TUTTI_TRY_OUT(context, status);
  TUTTI_TRY_OUT(context, check_trainer(context, made, &setup));
  *out = made;
  return TUTTI_OK;
out:
  tutti_members_destroy(made);
  return status;
}

static void destroy_weights(size_t count, tutti_tensors **weights) {
  for (size_t i = 0; i < count; i++)
    tutti_tensors_destroy(weights[i]);
  tutti_free(weights);
}

static void dismiss(tutti_members *members) {
  for (size_t i = 0; i < members->members; i++)
    tutti_predictor_close(members->predictors[i]);
  tutti_free(members->predictors);
  destroy_weights(members->members, members->weights);
  members->predictors = NULL;
  members->weights = NULL;
  members->members = 0;
}

void tutti_members_destroy(tutti_members *members) {
  if (!members)
    return;
  dismiss(members);
  destroy_weights(members->last_members, members->last);
  tutti_backend_destroy(members->trainer);
  tutti_free(members->vectors);
  tutti_free(members->losses);
  tutti_free(members->inputs);
  tutti_free(members->targets);
  tutti_free(members->middle);
  tutti_free(members->half);
  tutti_free(members->block);
  tutti_free(members->answers);
  tutti_free(members->parts);
  tutti_free(members->scatter);
  tutti_free(members->slopes);
  tutti_free(members->name);
  tutti_free(members);
}

const tutti_backend *tutti_members_trainer(const tutti_members *members) { return members->trainer; }

const struct tutti_task *tutti_members_task(const tutti_members *members) { return &members->task; }

size_t tutti_members_observed(const tutti_members *members) { return members->count; }

const float *tutti_members_targets(const tutti_members *members) { return members->targets; }

/* --- observations ------------------------------------------------------------------------------------------------- */

/* Middle and half of the range of numbers `stride` apart; the half of a single number is 1. */
static void range_of(size_t count, size_t stride, const double *numbers, double *middle, double *half) {
  double low = numbers[0], high = numbers[0];
  for (size_t i = 1; i < count; i++) {
    low = fmin(low, numbers[i * stride]);
    high = fmax(high, numbers[i * stride]);
  }
  *middle = low / 2 + high / 2;
  *half = high / 2 - low / 2;
  if (!(*half > 0))
    *half = 1;
}

static void scale_vector(const tutti_members *members, const double *vector, float *to) {
  for (size_t k = 0; k < members->dimension; k++)
    to[k] = (float)((vector[k] - members->middle[k]) / members->half[k]);
}

static void find_scales(tutti_members *members, size_t count) {
  for (size_t k = 0; k < members->dimension; k++) {
    members->middle[k] = members->half[k] = 0.5;
    if (!members->encoded)
      range_of(count, members->dimension, members->vectors + k, &members->middle[k], &members->half[k]);
  }
  members->middle_value = 0;
  members->half_value = 1;
  if (members->values == TUTTI_MEMBER_VALUES_RANGE)
    range_of(count, 1, members->losses, &members->middle_value, &members->half_value);
}

/* Look at the first `count` observations alone. */
static void look_at(tutti_members *members, size_t count) {
  find_scales(members, count);
  for (size_t i = 0; i < count; i++) {
    scale_vector(members, members->vectors + i * members->dimension, members->inputs + i * members->dimension);
    members->targets[i] = (float)((members->losses[i] - members->middle_value) / members->half_value);
  }
  members->count = count;
}

/* Are the members a fit to the first of these observations, from which one to more of them may start? */
static bool continues(const tutti_members *members, const struct tutti_points *points, const double *values) {
  size_t fitted = members->fitted;
  return members->start == TUTTI_MEMBER_START_LAST && fitted > 0 && fitted <= points->count &&
         memcmp(members->vectors, points->vectors, fitted * members->dimension * sizeof *points->vectors) == 0 &&
         memcmp(members->losses, values, fitted * sizeof *values) == 0;
}

enum tutti_status tutti_members_observe(tutti_context *context, tutti_members *members,
                                        const struct tutti_points *points, const double *values) {
  size_t count = points->count, dimension = members->dimension;
  for (size_t i = 0; i < count * dimension; i++)
    if (!isfinite(points->vectors[i]))
      return TUTTI_FAIL(context, TUTTI_ERROR_NUMERIC,
                        "surrogate %s: a finite number was expected, and coordinate %zu of point %zu is %g",
                        members->name, i % dimension, i / dimension, points->vectors[i]);
  if (count > members->room) {
    size_t room = 2 * count;
    TUTTI_TRY(context, tutti_realloc(context, 0, room, dimension * sizeof(float), &members->inputs));
    TUTTI_TRY(context, tutti_realloc(context, 0, room, sizeof(float), &members->targets));
    TUTTI_TRY(context, tutti_realloc(context, members->total, room, dimension * sizeof(double), &members->vectors));
    TUTTI_TRY(context, tutti_realloc(context, members->total, room, sizeof(double), &members->losses));
    members->room = room;
  }
  if (!continues(members, points, values)) {
    dismiss(members);
    members->fitted = 0;
  }
  if (count > 0) {
    memcpy(members->vectors, points->vectors, count * dimension * sizeof(double));
    memcpy(members->losses, values, count * sizeof(double));
  }
  members->total = count;
  look_at(members, count);
  return TUTTI_OK;
}

/* --- training ----------------------------------------------------------------------------------------------------- */

static struct tutti_job job_of(const tutti_members *members, const struct tutti_member *spec) {
  return (struct tutti_job){.size = sizeof(struct tutti_job),
                            .run_seed = spec->seed,
                            .seed = spec->seed,
                            .task = &members->task,
                            .network = spec->network,
                            .config = tutti_config_values(spec->config),
                            .initial = spec->initial,
                            .frozen = spec->frozen,
                            .box = spec->box};
}

/* The observations that it trains on. */
static enum tutti_status make_split(tutti_context *context, const tutti_members *members,
                                    const struct tutti_member *spec, tutti_split **split) {
  size_t rows = spec->rows, dimension = members->dimension;
  float *inputs = NULL, *targets = NULL;
  enum tutti_status status;
  if (rows == 0)
    return tutti_split_create(context, "train", members->count, members->task.input, 1, members->inputs,
                              members->targets, NULL, split);
  TUTTI_TRY_OUT(context, tutti_alloc(context, rows, dimension * sizeof *inputs, &inputs));
  TUTTI_TRY_OUT(context, tutti_alloc(context, rows, sizeof *targets, &targets));
  for (size_t i = 0; i < rows; i++) {
    memcpy(inputs + i * dimension, members->inputs + spec->indices[i] * dimension, dimension * sizeof *inputs);
    targets[i] = members->targets[spec->indices[i]];
  }
  TUTTI_TRY_OUT(context,
                tutti_split_create(context, "train", rows, members->task.input, 1, inputs, targets, NULL, split));
out:
  tutti_free(inputs);
  tutti_free(targets);
  return status;
}

/* What is trained together. */
struct group {
  size_t count;
  struct tutti_member *specs;     /* [count] */
  tutti_split **splits;           /* [count] */
  struct tutti_job *jobs;         /* [count] */
  struct tutti_outcome *outcomes; /* [count] */
  const struct tutti_job **which; /* [count] */
  struct tutti_outcome **where;   /* [count] */
};

static void end_group(struct group *group) {
  for (size_t i = 0; i < group->count; i++) {
    if (group->splits)
      tutti_split_destroy(group->splits[i]);
    if (group->outcomes)
      tutti_tensors_destroy(group->outcomes[i].weights);
  }
  tutti_free(group->specs);
  tutti_free(group->splits);
  tutti_free(group->jobs);
  tutti_free(group->outcomes);
  tutti_free(group->which);
  tutti_free(group->where);
}

static enum tutti_status begin_group(tutti_context *context, const tutti_members *members, size_t count,
                                     const struct tutti_member *specs, struct group *group) {
  group->count = count;
  TUTTI_TRY(context, tutti_alloc(context, count, sizeof *group->specs, &group->specs));
  TUTTI_TRY(context, tutti_alloc(context, count, sizeof *group->splits, &group->splits));
  TUTTI_TRY(context, tutti_alloc(context, count, sizeof *group->jobs, &group->jobs));
  TUTTI_TRY(context, tutti_alloc(context, count, sizeof *group->outcomes, &group->outcomes));
  TUTTI_TRY(context, tutti_alloc(context, count, sizeof(void *), &group->which));
  TUTTI_TRY(context, tutti_alloc(context, count, sizeof(void *), &group->where));
  for (size_t i = 0; i < count; i++) {
    const char *at = (const char *)specs + i * specs->size;
    TUTTI_TAKE(&group->specs[i], at);
    TUTTI_TRY(context, make_split(context, members, &group->specs[i], &group->splits[i]));
    group->jobs[i] = job_of(members, &group->specs[i]);
    group->jobs[i].train = group->splits[i];
    group->jobs[i].trial = i;
    group->outcomes[i].size = sizeof group->outcomes[i];
  }
  return TUTTI_OK;
}

static bool is_trained(const struct tutti_outcome *outcome) {
  return outcome->state == TUTTI_STATE_FINISHED && outcome->weights;
}

static bool is_last(const tutti_members *members, const tutti_tensors *weights) {
  for (size_t i = 0; i < members->last_members; i++)
    if (members->last[i] == weights)
      return true;
  return false;
}

static void ignore(void *argument, size_t index) { (void)argument, (void)index; }

/* Train those that are not trained yet. */
static enum tutti_status train_rest(tutti_context *context, const tutti_members *members, struct group *group,
                                    size_t attempt, size_t *left) {
  size_t count = 0;
  for (size_t i = 0; i < group->count; i++) {
    struct tutti_outcome *outcome = &group->outcomes[i];
    if (attempt > 0 && is_trained(outcome))
      continue;
    if (attempt > 0) {
      struct tutti_random random;
      tutti_random_init(&random, group->specs[i].seed, "another attempt", attempt);
      group->jobs[i].seed = tutti_random_u64(&random);
      if (is_last(members, group->jobs[i].initial)) /* they may be what it diverges from */
        group->jobs[i].initial = NULL;
      tutti_tensors_destroy(outcome->weights);
      *outcome = (struct tutti_outcome){.size = sizeof *outcome};
    }
    group->which[count] = &group->jobs[i];
    group->where[count++] = outcome;
  }
  TUTTI_TRY(context,
            tutti_backend_train_many(context, members->trainer, count, group->which, group->where, ignore, NULL));
  *left = 0;
  for (size_t i = 0; i < group->count; i++)
    *left += !is_trained(&group->outcomes[i]);
  return TUTTI_OK;
}

static const char *last_failure(const struct group *group) {
  for (size_t i = 0; i < group->count; i++)
    if (!is_trained(&group->outcomes[i]))
      return group->outcomes[i].failure;
  return "";
}

enum tutti_status tutti_members_train(tutti_context *context, tutti_members *members, size_t count,
                                      const struct tutti_member *specs, tutti_tensors **weights) {
  struct group group = {0};
  enum tutti_status status;
  size_t left = count;
  for (size_t i = 0; i < count; i++)
    weights[i] = NULL;
  TUTTI_TRY_OUT(context, begin_group(context, members, count, specs, &group));
  for (size_t attempt = 0; left > 0 && attempt <= members->retries; attempt++)
    TUTTI_TRY_OUT(context, train_rest(context, members, &group, attempt, &left));
  if (left > 0) {
    status = TUTTI_FAIL(context, TUTTI_ERROR_NUMERIC,
                        "%zu of %zu networks could not be trained on %zu observations, from %zu seeds each: %s", left,
                        count, members->count, members->retries + 1, last_failure(&group));
    goto out;
  }
  for (size_t i = 0; i < count; i++) {
    weights[i] = group.outcomes[i].weights;
    group.outcomes[i].weights = NULL;
  }
out:
  end_group(&group);
  return status;
}

/* --- members ------------------------------------------------------------------------------------------------------ */

static enum tutti_status open_member(tutti_context *context, const tutti_members *members,
                                     const struct tutti_member *theirs, const tutti_tensors *weights,
                                     tutti_predictor **predictor) {
  struct tutti_member spec;
  TUTTI_TAKE(&spec, theirs);
  struct tutti_job job = job_of(members, &spec);
  return tutti_predictor_open(context, members->trainer, &job, weights, BLOCK, predictor);
}

enum tutti_status tutti_members_fitted(tutti_context *context, tutti_members *members, const struct tutti_member *spec,
                                       const tutti_tensors *weights, double *mean) {
  tutti_predictor *predictor;
  enum tutti_status status = TUTTI_OK;
  TUTTI_TRY(context, open_member(context, members, spec, weights, &predictor));
  for (size_t begin = 0; status == TUTTI_OK && begin < members->count; begin += BLOCK) {
    size_t here = members->count - begin < BLOCK ? members->count - begin : BLOCK;
    struct tutti_query query = {
        .size = sizeof query, .rows = here, .inputs = members->inputs + begin * members->dimension};
    status = tutti_predictor_ask(context, predictor, &query, members->answers);
    for (size_t i = 0; i < here; i++)
      mean[begin + i] = (double)members->answers[2 * i];
  }
  tutti_predictor_close(predictor);
  return status;
}

enum tutti_status tutti_members_take(tutti_context *context, tutti_members *members, size_t count,
                                     const struct tutti_member *specs, tutti_tensors **weights) {
  enum tutti_status status;
  dismiss(members);
  TUTTI_TRY_OUT(context, tutti_alloc(context, count, sizeof(tutti_tensors *), &members->weights));
  TUTTI_TRY_OUT(context, tutti_alloc(context, count, sizeof(tutti_predictor *), &members->predictors));
  members->members = count;
  for (size_t i = 0; i < count; i++) {
    const void *at = (const char *)specs + i * specs->size;
    members->weights[i] = weights[i];
    weights[i] = NULL;
    TUTTI_TRY_OUT(context, open_member(context, members, at, members->weights[i], &members->predictors[i]));
  }
  return TUTTI_OK;
out:
  dismiss(members);
  for (size_t i = 0; i < count; i++) {
    tutti_tensors_destroy(weights[i]);
    weights[i] = NULL;
  }
  return status;
}

/* --- fits that start from the last -------------------------------------------------------------------------------- */

const tutti_tensors *tutti_members_last(const tutti_members *members, size_t index) {
  return index < members->last_members ? members->last[index] : NULL;
}

/* Fit to the first `count` observations; `follows`: from the members that there are. */
static enum tutti_status fit_first(tutti_context *context, tutti_members *members, size_t count, bool follows,
                                   enum tutti_status (*fit)(void *argument, tutti_context *context), void *argument) {
  if (follows) { /* their weights outlive them */
    members->last = members->weights;
    members->last_members = members->members;
    for (size_t i = 0; i < members->members; i++)
      tutti_predictor_close(members->predictors[i]);
    tutti_free(members->predictors);
    members->predictors = NULL;
    members->weights = NULL;
    members->members = 0;
  }
  look_at(members, count);
  members->fitted = 0;
  enum tutti_status status = fit(argument, context);
  if (status == TUTTI_OK)
    members->fitted = count;
  destroy_weights(members->last_members, members->last);
  members->last = NULL;
  members->last_members = 0;
  return status;
}

enum tutti_status tutti_members_settle(tutti_context *context, tutti_members *members,
                                       enum tutti_status (*fit)(void *argument, tutti_context *context),
                                       void *argument) {
  size_t total = members->total, first = total;
  if (members->start == TUTTI_MEMBER_START_LAST)
    for (first = 1; first <= total / 2; first *= 2)
      ;
  for (size_t count = members->fitted >= first ? members->fitted + 1 : first; count <= total; count++) {
    enum tutti_status status = fit_first(context, members, count, count > first, fit, argument);
    if (status != TUTTI_OK) {
      dismiss(members);
      look_at(members, total);
      return tutti_error_trace(context, status, __FILE__, __LINE__, __func__);
    }
  }
  return TUTTI_OK;
}

/* --- moments ------------------------------------------------------------------------------------------------------ */

/* One more term of mean[count] and of the sum of squares around it (Welford). */
static void add_term(size_t count, size_t terms, const float *answers, double *mean, double *scatter) {
  for (size_t i = 0; i < count; i++) {
    double value = (double)answers[2 * i], from = value - mean[i];
    mean[i] += from / (double)(terms + 1);
    scatter[i] += from * (value - mean[i]);
  }
}

/* Mean and deviation over members, or over draws of the first. */
static enum tutti_status scattered(tutti_context *context, tutti_members *members, struct tutti_query *query,
                                   size_t draws, double *mean, double *deviation) {
  size_t count = query->rows, terms = draws ? draws : members->members;
  for (size_t i = 0; i < count; i++)
    mean[i] = members->scatter[i] = 0;
  query->drop = draws > 0;
  for (size_t term = 0; term < terms; term++) {
    query->draw = term;
    TUTTI_TRY(context, tutti_predictor_ask(context, members->predictors[draws ? 0 : term], query, members->answers));
    add_term(count, term, members->answers, mean, members->scatter);
  }
  for (size_t i = 0; i < count; i++)
    deviation[i] = sqrt(members->scatter[i] / (double)terms);
  return TUTTI_OK;
}

/* Of the first member: the deviation is of the function, without noise that the member tells apart. */
static enum tutti_status own(tutti_context *context, tutti_members *members, struct tutti_query *query, double *mean,
                             double *deviation) {
  query->epistemic = tutti_predictor_tells_epistemic(members->predictors[0]) ? members->parts : NULL;
  TUTTI_TRY(context, tutti_predictor_ask(context, members->predictors[0], query, members->answers));
  for (size_t i = 0; i < query->rows; i++) {
    mean[i] = (double)members->answers[2 * i];
    deviation[i] = sqrt((double)(query->epistemic ? query->epistemic[i] : members->answers[2 * i + 1]));
  }
  return TUTTI_OK;
}

static enum tutti_status check_fitted(tutti_context *context, const tutti_members *members) {
  if (members->members == 0)
    return TUTTI_FAIL(context, TUTTI_ERROR_PLUGIN, "surrogate %s: fit was expected before a prediction", members->name);
  return TUTTI_OK;
}

enum tutti_status tutti_members_predict(tutti_context *context, tutti_members *members,
                                        const struct tutti_points *points, enum tutti_member_moments moments,
                                        size_t draws, uint64_t seed, double *mean, double *deviation) {
  TUTTI_TRY(context, check_fitted(context, members));
  for (size_t begin = 0; begin < points->count; begin += BLOCK) {
    size_t here = points->count - begin < BLOCK ? points->count - begin : BLOCK;
    struct tutti_query query = {.size = sizeof query, .rows = here, .inputs = members->block, .seed = seed};
    for (size_t i = 0; i < here; i++)
      scale_vector(members, points->vectors + (begin + i) * members->dimension,
                   members->block + i * members->dimension);
    if (moments == TUTTI_MEMBER_OWN)
      TUTTI_TRY(context, own(context, members, &query, mean + begin, deviation + begin));
    else
      TUTTI_TRY(context, scattered(context, members, &query, moments == TUTTI_MEMBER_DRAWS ? draws : 0, mean + begin,
                                   deviation + begin));
  }
  for (size_t i = 0; i < points->count; i++) {
    mean[i] = members->middle_value + members->half_value * mean[i];
    deviation[i] *= members->half_value;
  }
  return TUTTI_OK;
}

/* --- gradients of moments ----------------------------------------------------------------------------------------- */

bool tutti_members_has_gradient(const tutti_members *members) { return tutti_backend_has_slopes(members->trainer); }

/* Of scattered(): the deviation's gradient follows from the covariance of values and gradients over the terms, which is
   gathered as Welford's sum of squares is. */
static enum tutti_status scattered_slopes(tutti_context *context, tutti_members *members, struct tutti_query *query,
                                          size_t draws, double *mean, double *deviation, double *by_mean,
                                          double *by_deviation) {
  static const float of_mean[] = {1, 0};
  struct tutti_slope slope = {.size = sizeof slope, .by_out = of_mean, .gradient = members->slopes};
  size_t terms = draws ? draws : members->members;
  double scatter = 0;
  query->rows = 1;
  query->drop = draws > 0;
  *mean = 0;
  for (size_t k = 0; k < members->dimension; k++)
    by_mean[k] = by_deviation[k] = 0;
  for (size_t term = 0; term < terms; term++) {
    query->draw = term;
    TUTTI_TRY(context,
              tutti_predictor_slope(context, members->predictors[draws ? 0 : term], query, &slope, members->answers));
    double from = (double)members->answers[0] - *mean;
    add_term(1, term, members->answers, mean, &scatter);
    for (size_t k = 0; k < members->dimension; k++) {
      double apart = (double)members->slopes[k] - by_mean[k];
      by_mean[k] += apart / (double)(term + 1);
      by_deviation[k] += from * ((double)members->slopes[k] - by_mean[k]);
    }
  }
  *deviation = sqrt(scatter / (double)terms);
  for (size_t k = 0; k < members->dimension; k++)
    by_deviation[k] = *deviation > 0 ? by_deviation[k] / ((double)terms * *deviation) : 0;
  return TUTTI_OK;
}

/* Of own(). The vector is asked twice at once: for the mean's gradient, and for the variance's. */
static enum tutti_status own_slopes(tutti_context *context, tutti_members *members, struct tutti_query *query,
                                    double *mean, double *deviation, double *by_mean, double *by_deviation) {
  static const float of_variance[] = {1, 0, 0, 1}, of_mean[] = {1, 0, 0, 0}, of_part[] = {0, 1};
  bool tells = tutti_predictor_tells_epistemic(members->predictors[0]);
  struct tutti_slope slope = {.size = sizeof slope,
                              .by_out = tells ? of_mean : of_variance,
                              .by_epistemic = tells ? of_part : NULL,
                              .gradient = members->slopes};
  size_t dimension = members->dimension;
  query->rows = 2;
  query->epistemic = tells ? members->parts : NULL;
  memcpy(members->block + dimension, members->block, dimension * sizeof *members->block);
  TUTTI_TRY(context, tutti_predictor_slope(context, members->predictors[0], query, &slope, members->answers));
  *mean = (double)members->answers[0];
  *deviation = sqrt((double)(tells ? members->parts[1] : members->answers[3]));
  for (size_t k = 0; k < dimension; k++) {
    by_mean[k] = (double)members->slopes[k];
    by_deviation[k] = *deviation > 0 ? (double)members->slopes[dimension + k] / (2 * *deviation) : 0;
  }
  return TUTTI_OK;
}

enum tutti_status tutti_members_gradient(tutti_context *context, tutti_members *members, const double *vector,
                                         enum tutti_member_moments moments, size_t draws, uint64_t seed, double *mean,
                                         double *deviation, double *by_mean, double *by_deviation) {
  struct tutti_query query = {.size = sizeof query, .inputs = members->block, .seed = seed};
  TUTTI_TRY(context, check_fitted(context, members));
  scale_vector(members, vector, members->block);
  if (moments == TUTTI_MEMBER_OWN)
    TUTTI_TRY(context, own_slopes(context, members, &query, mean, deviation, by_mean, by_deviation));
  else
    TUTTI_TRY(context, scattered_slopes(context, members, &query, moments == TUTTI_MEMBER_DRAWS ? draws : 0, mean,
                                        deviation, by_mean, by_deviation));
  *mean = members->middle_value + members->half_value * *mean;
  *deviation *= members->half_value;
  for (size_t k = 0; k < members->dimension; k++) {
    by_mean[k] *= members->half_value / members->half[k];
    by_deviation[k] *= members->half_value / members->half[k];
  }
  return TUTTI_OK;
}

/* --- networks ----------------------------------------------------------------------------------------------------- */

enum tutti_status tutti_members_add_hidden(tutti_context *context, tutti_network *network, const char *prefix,
                                           const struct tutti_integers *units, double l2, double dropout,
                                           uint32_t *layer) {
  for (size_t i = 0; i < units->count; i++) {
    char label[64];
    (void)snprintf(label, sizeof label, "%s%zu", prefix, i + 1);
    TUTTI_TRY(context, tutti_network_add(context, network, TUTTI_OP_DENSE, label, 1, layer,
                                         TUTTI_ATTRIBUTES({"units", (double)units->values[i]}, {"l2", l2}), layer));
    TUTTI_TRY(context, tutti_network_add(context, network, TUTTI_OP_ACTIVATION, NULL, 1, layer,
                                         TUTTI_ATTRIBUTES({"activation", TUTTI_ACTIVATION_RELU}), layer));
    if (dropout > 0)
      TUTTI_TRY(context, tutti_network_add_dropout(context, network, NULL, *layer, dropout, layer));
  }
  return TUTTI_OK;
}
