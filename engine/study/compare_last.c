/* compare_last.c - means of standings, duels and tests over several numbers of trials: what is true of the last trials,
   not of one of them by chance. */
#include "compare_impl.h"

#include "core/base/json_impl.h"

#include <math.h>

/* The mean over steps[s][index].key; NaN where none is a number. */
static double mean_at(const json_t *steps, size_t index, const char *key) {
  size_t step, count = 0;
  double sum = 0;
  json_t *here;
  json_array_foreach(steps, step, here) {
    const json_t *value = json_object_get(json_array_get(here, index), key);
    if (!json_is_number(value))
      continue;
    sum += json_number_value(value);
    count++;
  }
  return sum / (double)count;
}

/* The mean one-sided p of a duel's sign test for one of the two. */
static double mean_p(const json_t *steps, size_t index, const char *wins, const char *losses) {
  size_t step;
  double sum = 0;
  json_t *here;
  json_array_foreach(steps, step, here) {
    const json_t *duel = json_array_get(here, index);
    sum += tutti_sign_test_one_sided((uint64_t)json_integer_value(json_object_get(duel, wins)),
                                     (uint64_t)json_integer_value(json_object_get(duel, losses)));
  }
  return sum / (double)json_array_size(steps);
}

static json_t *mean_placings(const json_t *steps) {
  static const char *const figures[] = {"mean", "rank", "expected_rank"};
  json_t *placings = json_array();
  const json_t *first = json_array_get(steps, 0);
  for (size_t v = 0; v < json_array_size(first); v++) {
    json_t *placing = json_pack("{s:O}", "ranked", json_object_get(json_array_get(first, v), "ranked"));
    for (size_t f = 0; f < sizeof figures / sizeof figures[0]; f++)
      json_object_set_new(placing, figures[f], tutti_json_number(mean_at(steps, v, figures[f])));
    json_array_append_new(placings, placing);
  }
  return placings;
}

static json_t *pair_of(const json_t *duel) {
  return json_pack("{s:O, s:O}", "one", json_object_get(duel, "one"), "other", json_object_get(duel, "other"));
}

static json_t *mean_duels(const json_t *steps) {
  json_t *duels = json_array(), *first;
  size_t index;
  json_array_foreach(json_array_get(steps, 0), index, first) {
    json_t *duel = pair_of(first);
    json_object_set_new(duel, "frequency", tutti_json_number(mean_at(steps, index, "frequency")));
    json_object_set_new(duel, "p_one", tutti_json_number(mean_p(steps, index, "wins", "losses")));
    json_object_set_new(duel, "p_other", tutti_json_number(mean_p(steps, index, "losses", "wins")));
    json_array_append_new(duels, duel);
  }
  return duels;
}

/* The duel of the same two variants, or NULL. */
static const json_t *same_duel(const json_t *duels, const json_t *like) {
  size_t index;
  json_t *duel;
  json_array_foreach(duels, index, duel) {
    if (json_equal(json_object_get(duel, "one"), json_object_get(like, "one")) &&
        json_equal(json_object_get(duel, "other"), json_object_get(like, "other")))
      return duel;
  }
  return NULL;
}

/* Tests on rows: a step has only pairs that have rows in common by then, the last one has all of them. */
static json_t *mean_rows(const json_t *steps) {
  json_t *duels = json_array(), *last, *here;
  size_t index, step;
  json_array_foreach(json_array_get(steps, json_array_size(steps) - 1), index, last) {
    json_t *duel = pair_of(last);
    double sum = 0;
    size_t count = 0;
    json_array_foreach(steps, step, here) {
      const json_t *found = same_duel(here, last);
      sum += found ? json_number_value(json_object_get(found, "better")) : 0;
      count += found != NULL;
    }
    json_object_set_new(duel, "better", json_real(sum / (double)count));
    json_array_append_new(duels, duel);
  }
  return duels;
}

json_t *tutti_compare_mean_of(const json_t *course) {
  json_t *metrics = json_array(), *metric;
  size_t index;
  json_array_foreach(json_object_get(course, "metrics"), index, metric) {
    json_t *copy = json_copy(metric);
    json_object_set_new(copy, "placings", mean_placings(json_object_get(metric, "placings")));
    json_object_set_new(copy, "duels", mean_duels(json_object_get(metric, "duels")));
    json_array_append_new(metrics, copy);
  }
  return json_pack("{s:O, s:o, s:o}", "trials", json_object_get(course, "trials"), "metrics", metrics, "rows",
                   mean_rows(json_object_get(course, "rows")));
}
