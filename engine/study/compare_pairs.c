/* compare_pairs.c - what is no pair, and why: runs on other rows in one block; runs of which no two share a block. */
#include "compare_impl.h"

#include "core/base/text_impl.h"

#include <inttypes.h>
#include <string.h>

#include <tutti/names.h>

static const char *shown_value(const struct compare_run *run, const char *key) {
  const char *value = tutti_compare_value(run, key);
  return value && *value ? value : "-";
}

static bool differ_in(const struct compare_run *one, const struct compare_run *other, const char *key) {
  return strcmp(shown_value(one, key), shown_value(other, key)) != 0;
}

/* "data.split is 1 1 1 of a, and 2 1 1 of b". */
static void add_difference(struct tutti_text *text, const char *key, const struct compare_run *one,
                           const struct compare_run *other) {
  tutti_text_add(text, "%s is %s of %s, and %s of %s", key, shown_value(one, key), one->directory,
                 shown_value(other, key), other->directory);
}

/* --- other rows in one block ------------------------------------------------------------------------------------- */

/* The first key of [data] in which two runs differ, or NULL. */
static const char *different_key(const struct compare_run *one, const struct compare_run *other) {
  const struct compare_run *runs[] = {one, other};
  for (size_t r = 0; r < 2; r++)
    for (size_t i = 0; i < runs[r]->count; i++) {
      const char *key = runs[r]->items[i].key;
      if (strncmp(key, "data.", 5) == 0 && differ_in(one, other, key))
        return key;
    }
  return NULL;
}

enum tutti_status tutti_compare_other_rows(tutti_context *context, const struct compare *compare,
                                           const struct compare_run *one, const struct compare_run *other,
                                           char **text) {
  struct tutti_text out = tutti_text_begin(context);
  const char *key = different_key(one, other);
  tutti_text_add(&out,
                 "%s and %s have the same data set and seed, but other rows or targets in split %s: their figures are "
                 "no pair; ",
                 one->directory, other->directory, compare->split);
  if (key)
    add_difference(&out, key, one, other);
  else
    tutti_text_add(&out, "their recipes split alike, so that the file has changed between them: run one of them again");
  return tutti_text_take(&out, text);
}

/* --- no pair at all ---------------------------------------------------------------------------------------------- */

static bool has_pair(const struct compare *compare) {
  for (size_t i = 0; i < compare->compared; i++)
    for (size_t j = 0; j < i; j++)
      if (compare->runs[i].block == compare->runs[j].block && compare->runs[i].variant != compare->runs[j].variant)
        return true;
  return false;
}

/* The run that comes nearest to a pair with the first: of another variant, on its data, with its seed. */
static const struct compare_run *nearest(const struct compare *compare) {
  const struct compare_run *first = &compare->runs[0], *best = NULL;
  int most = -1;
  for (size_t i = 1; i < compare->compared; i++) {
    const struct compare_run *run = &compare->runs[i];
    int score =
        4 * (run->variant != first->variant) + 2 * (run->data_set == first->data_set) + (run->seed == first->seed);
    if (score > most) {
      most = score;
      best = run;
    }
  }
  return best;
}

/* In what data and seeds two runs differ, and what to do. */
static void add_reasons(struct tutti_text *text, const struct compare *compare, const struct compare_run *one,
                        const struct compare_run *other) {
  const char *between = "";
  for (size_t k = 0; k < compare->data_key_count; k++)
    if (differ_in(one, other, compare->data_keys[k])) {
      tutti_text_add(text, "%s", between);
      add_difference(text, compare->data_keys[k], one, other);
      between = "; ";
    }
  if (one->seed != other->seed)
    tutti_text_add(text, "%srun.seed is %" PRId64 " of %s, and %" PRId64 " of %s", between, one->seed, one->directory,
                   other->seed, other->directory);
  tutti_text_add(text, ". Run one of them again with the other's: ");
  between = "";
  for (size_t k = 0; k < compare->data_key_count; k++)
    if (differ_in(one, other, compare->data_keys[k])) {
      tutti_text_add(text, "%s--set %s=%s", between, compare->data_keys[k], shown_value(one, compare->data_keys[k]));
      between = " ";
    }
  if (one->seed != other->seed)
    tutti_text_add(text, "%s--set run.seed=%" PRId64, between, one->seed);
}

enum tutti_status tutti_compare_unpaired(tutti_context *context, const struct compare *compare, char **text) {
  struct tutti_text out = tutti_text_begin(context);
  *text = NULL;
  if (compare->compared < 2 || has_pair(compare) || (compare->variants == 1 && compare->key_count > 0))
    return TUTTI_OK;
  if (compare->variants == 1 && compare->data_sets < compare->compared) {
    tutti_text_add(&out,
                   "%s differ in nothing but the seed, so that there is one variant, and nothing to rank it "
                   "against. Compare it with runs whose recipes differ, on the same data and with the same seeds.",
                   compare->data_sets > 1 ? "On each data set, these runs" : "These runs");
    return tutti_text_take(&out, text);
  }
  const struct compare_run *one = &compare->runs[0], *other = nearest(compare);
  tutti_text_add(
      &out,
      "No two of these runs are a pair, on the same data and with the same seed, so that nothing is ranked or "
      "tested: %s",
      compare->compared > 2 ? "for instance, " : "");
  add_reasons(&out, compare, one, other);
  if (one->data_set != other->data_set && strcmp(one->rows, other->rows) == 0)
    tutti_text_add(&out, " (the rows and targets of split %s are the same in both)", compare->split);
  tutti_text_add(&out, ".");
  return tutti_text_take(&out, text);
}
