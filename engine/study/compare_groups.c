/* compare_groups.c - groups runs into data sets, variants and pairs.

   Runs have the same data set if the keys that define the rows agree; they are in the same block if the seed agrees,
   too. Other differences make variants, but only if they occur within a data set (for keys of [data]: within a block).
   A batch size that every run on one data set has, or a file of test rows that goes with a seed, says nothing about
   variants. Some keys go together, such as a builder and the parameters that only it has. The first of them is enough
   to tell variants apart; names of plugins come first, and keys that some runs lack last. */
#include "compare_impl.h"
#include "path_labels.h"

#include "core/base/text_impl.h"
#include "engine/recipe/recipe_impl.h"

#include <stdio.h>
#include <string.h>
#include <tutti/data.h>

/* Does a key define the rows? Yes for those of any source, and for these of the data set. */
static bool is_data_key(const char *key) {
  static const char *const names[] = {"plugin", "path", "target", "target_path"};
  static const char prefix[] = "data.";
  if (strncmp(key, prefix, strlen(prefix)) != 0)
    return false;
  const char *name = key + strlen(prefix);
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
    if (strcmp(names[i], name) == 0)
      return true;
  return !tutti_params_find(tutti_data_params(), name);
}

static bool same_value(const char *one, const char *other) {
  return one == other || (one && other && strcmp(one, other) == 0);
}

/* --- data sets, blocks ------------------------------------------------------------------------------------------- */

static bool is_listed(const struct compare *compare, const char *key) {
  for (size_t k = 0; k < compare->data_key_count; k++)
    if (strcmp(compare->data_keys[k], key) == 0)
      return true;
  return false;
}

/* All keys of all runs that define rows, in the order in which they were first met. */
static enum tutti_status list_data_keys(tutti_context *context, struct compare *compare) {
  size_t most = 0;
  for (size_t i = 0; i < compare->compared; i++)
    most += compare->runs[i].count;
  TUTTI_TRY(context, tutti_alloc(context, most, sizeof *compare->data_keys, &compare->data_keys));
  for (size_t i = 0; i < compare->compared; i++)
    for (size_t j = 0; j < compare->runs[i].count; j++) {
      const char *key = compare->runs[i].items[j].key;
      if (is_data_key(key) && !is_listed(compare, key))
        compare->data_keys[compare->data_key_count++] = key;
    }
  return TUTTI_OK;
}

static bool same_data(const struct compare *compare, const struct compare_run *one, const struct compare_run *other) {
  for (size_t k = 0; k < compare->data_key_count; k++)
    if (!same_value(tutti_compare_value(one, compare->data_keys[k]), tutti_compare_value(other, compare->data_keys[k])))
      return false;
  return true;
}

static enum tutti_status find_data_sets(tutti_context *context, struct compare *compare) {
  TUTTI_TRY(context, list_data_keys(context, compare));
  TUTTI_TRY(context, tutti_alloc(context, compare->compared, sizeof *compare->data_set_runs, &compare->data_set_runs));
  for (size_t i = 0; i < compare->compared; i++) {
    struct compare_run *run = &compare->runs[i];
    size_t d = 0;
    while (d < compare->data_sets && !same_data(compare, run, &compare->runs[compare->data_set_runs[d]]))
      d++;
    run->data_set = d;
    if (d == compare->data_sets)
      compare->data_set_runs[compare->data_sets++] = i;
  }
  return TUTTI_OK;
}

static bool comes_before(const struct compare_block *one, const struct compare_block *other) {
  return one->data_set != other->data_set ? one->data_set < other->data_set : one->seed < other->seed;
}

static enum tutti_status find_blocks(tutti_context *context, struct compare *compare) {
  TUTTI_TRY(context, tutti_alloc(context, compare->compared, sizeof *compare->blocks, &compare->blocks));
  for (size_t i = 0; i < compare->compared; i++) {
    struct compare_block block = {compare->runs[i].data_set, compare->runs[i].seed, i};
    size_t at = 0;
    while (at < compare->block_count && comes_before(&compare->blocks[at], &block))
      at++;
    if (at < compare->block_count && !comes_before(&block, &compare->blocks[at]))
      continue;
    memmove(&compare->blocks[at + 1], &compare->blocks[at], (compare->block_count - at) * sizeof block);
    compare->blocks[at] = block;
    compare->block_count++;
  }
  for (size_t i = 0; i < compare->compared; i++)
    for (size_t b = 0; b < compare->block_count; b++)
      if (compare->blocks[b].data_set == compare->runs[i].data_set && compare->blocks[b].seed == compare->runs[i].seed)
        compare->runs[i].block = b;
  return TUTTI_OK;
}

/* What a data set is named after: its file, or its generator. */
static const char *source_of(const struct compare_run *run) {
  const char *path = tutti_compare_value(run, "data.path"), *source = tutti_compare_value(run, "data.plugin");
  return path && *path ? path : source ? source : "no data";
}

/* Does another data set with this label differ from this one in a key? */
static bool differs(const struct compare *compare, char *const *labels, size_t set, const char *key) {
  const char *value = tutti_compare_value(&compare->runs[compare->data_set_runs[set]], key);
  for (size_t d = 0; d < compare->data_sets; d++)
    if (strcmp(labels[d], labels[set]) == 0 &&
        !same_value(tutti_compare_value(&compare->runs[compare->data_set_runs[d]], key), value))
      return true;
  return false;
}

/* The label, and of data sets of the same file or generator all keys that tell them apart, each with its value. */
static enum tutti_status name_data_set(tutti_context *context, const struct compare *compare, char *const *labels,
                                       size_t set, char **name) {
  struct tutti_text out = tutti_text_begin(context);
  const char *between = " (";
  tutti_text_add(&out, "%s", labels[set]);
  for (size_t k = 0; k < compare->data_key_count; k++) {
    const char *key = compare->data_keys[k];
    const char *value = tutti_compare_value(&compare->runs[compare->data_set_runs[set]], key);
    if (!differs(compare, labels, set, key))
      continue;
    tutti_text_add(&out, "%s%s %s", between, strchr(key, '.') + 1, value && *value ? value : "-");
    between = ", ";
  }
  tutti_text_add(&out, *between == ',' ? ")" : "");
  return tutti_text_take(&out, name);
}

static enum tutti_status name_data_sets(tutti_context *context, struct compare *compare) {
  enum tutti_status status;
  size_t count = compare->data_sets;
  const char **sources = NULL;
  char **labels = NULL;
  TUTTI_TRY_OUT(context, tutti_alloc(context, count, sizeof *compare->data_set_names, &compare->data_set_names));
  TUTTI_TRY_OUT(context, tutti_alloc(context, count, sizeof *sources, &sources));
  TUTTI_TRY_OUT(context, tutti_alloc(context, count, sizeof *labels, &labels));
  for (size_t d = 0; d < count; d++)
    sources[d] = source_of(&compare->runs[compare->data_set_runs[d]]);
  TUTTI_TRY_OUT(context, tutti_path_labels(context, count, sources, labels));
  for (size_t d = 0; d < count; d++)
    TUTTI_TRY_OUT(context, name_data_set(context, compare, labels, d, &compare->data_set_names[d]));
out:
  for (size_t d = 0; labels && d < count; d++)
    tutti_free(labels[d]);
  tutti_free(labels);
  tutti_free(sources);
  return status;
}

/* --- variants ---------------------------------------------------------------------------------------------------- */

/* All keys of all runs, and each run's values. */
struct key_table {
  const char **keys;   /* [count], as first met */
  const char **values; /* [runs][count]; NULL if a run does not have the key */
  size_t count, room;
};

static void release_table(struct key_table *table) {
  tutti_free(table->keys);
  tutti_free(table->values);
}

static size_t find_key(const struct key_table *table, const char *key) {
  size_t k = 0;
  while (k < table->count && strcmp(table->keys[k], key) != 0)
    k++;
  return k;
}

/* Recipe names distinguish variants if every run has one. */
static bool has_recipes(const struct compare *compare) {
  for (size_t i = 0; i < compare->compared; i++)
    if (!compare->runs[i].recipe)
      return false;
  return true;
}

static enum tutti_status collect_keys(tutti_context *context, const struct compare *compare, struct key_table *table) {
  for (size_t i = 0; i < compare->compared; i++)
    for (size_t j = 0; j < compare->runs[i].count; j++) {
      const char *key = compare->runs[i].items[j].key;
      if (is_data_key(key) || find_key(table, key) < table->count ||
          (strcmp(key, COMPARE_RECIPE_KEY) == 0 && !has_recipes(compare)))
        continue;
      if (table->count == table->room) {
        size_t room = 2 * table->room + 128;
        TUTTI_TRY(context, tutti_realloc(context, table->count, room, sizeof *table->keys, &table->keys));
        table->room = room;
      }
      table->keys[table->count++] = key;
    }
  TUTTI_TRY(context, tutti_alloc(context, compare->compared, table->count * sizeof *table->values, &table->values));
  for (size_t i = 0; i < compare->compared; i++)
    for (size_t k = 0; k < table->count; k++)
      table->values[i * table->count + k] = tutti_compare_value(&compare->runs[i], table->keys[k]);
  return TUTTI_OK;
}

/* Split the variants by a key's values. The first run of a variant stays in it. */
static enum tutti_status refine(tutti_context *context, struct compare *compare, const struct key_table *table,
                                size_t key) {
  size_t *old = NULL, found = 0;
  TUTTI_TRY(context, tutti_alloc(context, compare->compared, sizeof *old, &old));
  for (size_t i = 0; i < compare->compared; i++)
    old[i] = compare->runs[i].variant;
  for (size_t i = 0; i < compare->compared; i++) {
    size_t j = 0;
    while (j < i && !(old[j] == old[i] &&
                      same_value(table->values[i * table->count + key], table->values[j * table->count + key])))
      j++;
    compare->runs[i].variant = j < i ? compare->runs[j].variant : found++;
  }
  tutti_free(old);
  compare->variants = found;
  compare->keys[compare->key_count++] = table->keys[key];
  return TUTTI_OK;
}

/* Do two runs differ in the key, although they are one variant so far and have the same data set or block? */
static bool tells_apart(const struct compare *compare, const struct key_table *table, size_t key) {
  bool data = strncmp(table->keys[key], "data.", 5) == 0;
  for (size_t i = 0; i < compare->compared; i++)
    for (size_t j = 0; j < i; j++) {
      const struct compare_run *one = &compare->runs[i], *other = &compare->runs[j];
      if (one->variant == other->variant && (data ? one->block == other->block : one->data_set == other->data_set) &&
          !same_value(table->values[i * table->count + key], table->values[j * table->count + key]))
        return true;
    }
  return false;
}

/* The ablation's recipe (0), then plugins (1), then what all runs have (2), then what comes with the choice of one: the
   more runs have it the earlier, since the choice between keys of one plugin may bring others. */
static size_t precedence(const struct compare *compare, const struct key_table *table, size_t key) {
  const char *name = table->keys[key];
  size_t length = strlen(name), lacking = 0;
  if (strcmp(name, COMPARE_RECIPE_KEY) == 0)
    return 0;
  if (length > 7 && strcmp(name + length - 7, ".plugin") == 0)
    return 1;
  for (size_t i = 0; i < compare->compared; i++)
    lacking += !table->values[i * table->count + key];
  return 2 + lacking;
}

static enum tutti_status refine_by_differences(tutti_context *context, struct compare *compare,
                                               const struct key_table *table) {
  enum tutti_status status = TUTTI_OK;
  size_t *turn_of;
  TUTTI_TRY(context, tutti_alloc(context, table->count, sizeof *turn_of, &turn_of));
  for (size_t k = 0; k < table->count; k++)
    turn_of[k] = precedence(compare, table, k);
  for (size_t turn = 0; turn < 2 + compare->compared; turn++)
    for (size_t k = 0; k < table->count; k++)
      if (turn_of[k] == turn && tells_apart(compare, table, k))
        TUTTI_TRY_OUT(context, refine(context, compare, table, k));
out:
  tutti_free(turn_of);
  return status;
}

/* A hyperparameter that has one value stands where its backend has it: hyperparameters.learner in backend.learner,
   hyperparameters.trees.method in trees.method. table->count: it is none, or stands nowhere. */
static size_t find_fixed(tutti_context *context, const struct key_table *table, const char *key) {
  static const char hyperparameters[] = "hyperparameters.", backend[] = "backend.";
  const size_t length = strlen(hyperparameters);
  char section[32];
  if (strncmp(key, hyperparameters, length) != 0 || strcmp(key + length, "plugin") == 0)
    return table->count;
  key += length;
  bool of_backend = !strchr(key, '.');
  (void)snprintf(section, sizeof section, "%.*s", (int)strcspn(key, "."), key);
  bool others = !of_backend && (tutti_recipe_is_kind(context, section) || tutti_recipe_is_own(section));
  for (size_t k = 0; k < table->count && !others; k++) {
    const char *name = table->keys[k];
    bool there = strncmp(name, backend, strlen(backend)) == 0;
    if (of_backend == there && strcmp(there ? name + strlen(backend) : name, key) == 0)
      return k;
  }
  return table->count;
}

/* By a key, and by where it stands in recipes in which it has one value. */
static enum tutti_status refine_by_key(tutti_context *context, struct compare *compare, const struct key_table *table,
                                       const char *name) {
  size_t key = find_key(table, name), fixed = find_fixed(context, table, name);
  if (key == table->count && fixed == table->count) {
    const char *closest = tutti_closest_name(name, table->count, table->keys);
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "--by: no recipe has a key '%s' that may tell variants apart%s%s%s",
                      name, closest ? "; did you mean '" : "", closest ? closest : "", closest ? "'?" : "");
  }
  if (key < table->count)
    TUTTI_TRY(context, refine(context, compare, table, key));
  return fixed < table->count ? refine(context, compare, table, fixed) : TUTTI_OK;
}

static enum tutti_status refine_by(tutti_context *context, struct compare *compare, const struct key_table *table,
                                   size_t count, const char *const *by) {
  for (size_t i = 0; i < count; i++)
    TUTTI_TRY(context, refine_by_key(context, compare, table, by[i]));
  return TUTTI_OK;
}

static enum tutti_status find_variants(tutti_context *context, struct compare *compare, size_t count,
                                       const char *const *by) {
  enum tutti_status status = TUTTI_OK;
  struct key_table table = {0};
  compare->variants = 1;
  TUTTI_TRY_OUT(context, collect_keys(context, compare, &table));
  TUTTI_TRY_OUT(context, tutti_alloc(context, table.count + 2 * count, sizeof *compare->keys, &compare->keys));
  TUTTI_TRY_OUT(context, count ? refine_by(context, compare, &table, count, by)
                               : refine_by_differences(context, compare, &table));
  TUTTI_TRY_OUT(context,
                tutti_alloc(context, compare->variants, sizeof *compare->variant_runs, &compare->variant_runs));
  for (size_t i = compare->compared; i-- > 0;)
    compare->variant_runs[compare->runs[i].variant] = i;
out:
  release_table(&table);
  return status;
}

enum tutti_status tutti_compare_group(tutti_context *context, struct compare *compare, size_t count,
                                      const char *const *by) {
  TUTTI_TRY(context, find_data_sets(context, compare));
  TUTTI_TRY(context, name_data_sets(context, compare));
  TUTTI_TRY(context, find_blocks(context, compare));
  return find_variants(context, compare, count, by);
}
