/* ablation_matrix.c - the cells of an ablation: every recipe with every combination of swapped values and every
   seed. */
#include "ablation_impl.h"
#include "path_labels.h"

#include "core/base/text_impl.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum { MOST_CELLS = 100000, LONGEST_NAME = 160 };

/* --- names ------------------------------------------------------------------------------------------------------- */

/* Recipes are called by their files. */
static enum tutti_status name_recipes(tutti_context *context, tutti_ablation *ablation) {
  for (size_t i = 0; i < ablation->recipes; i++)
    for (size_t j = 0; j < i; j++)
      if (strcmp(ablation->recipe[i], ablation->recipe[j]) == 0)
        return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "the recipe %s is given twice", ablation->recipe[i]);
  TUTTI_TRY(context, tutti_alloc(context, ablation->recipes, sizeof *ablation->labels, &ablation->labels));
  return tutti_path_labels(context, ablation->recipes, (const char *const *)ablation->recipe, ablation->labels);
}

/* Does another swapped key end in the same word? */
static bool is_ambiguous(const tutti_ablation *ablation, size_t swap) {
  for (size_t i = 0; i < ablation->swap_count; i++)
    if (i != swap && strcmp(tutti_ablation_last_part(ablation->swaps[i].key),
                            tutti_ablation_last_part(ablation->swaps[swap].key)) == 0)
      return true;
  return false;
}

/* "greedy" for selector.plugin, "concrete" for a path, "size=5" for other keys. */
static void add_setting(const tutti_ablation *ablation, size_t index, size_t value, struct tutti_text *text) {
  const struct ablation_swap *swap = &ablation->swaps[index];
  const char *last = tutti_ablation_last_part(swap->key);
  if (text->length > 0)
    tutti_text_add(text, "_");
  if (strcmp(last, "plugin") != 0 && !tutti_ablation_has_paths(swap))
    tutti_text_add(text, "%s=", is_ambiguous(ablation, index) ? swap->key : last);
  tutti_text_add(text, "%s", swap->labels[value]);
}

/* Only letters that every file system and shell accepts; not too many. */
static void make_file_name(char *name) {
  size_t length = strlen(name);
  char sum[12];
  (void)snprintf(sum, sizeof sum, "-%08lx", crc32(0, (const Bytef *)name, (uInt)length));
  for (char *letter = name; *letter; letter++)
    if (!isalnum((unsigned char)*letter) && !strchr("._=+-", *letter))
      *letter = '-';
  if (*name == '-' || *name == '.')
    *name = '_';
  if (length > LONGEST_NAME)
    (void)strcpy(name + LONGEST_NAME - strlen(sum), sum);
}

static bool has_name(const struct ablation_variant *variants, size_t count, const char *name) {
  for (size_t i = 0; i < count; i++)
    if (strcmp(variants[i].name, name) == 0)
      return true;
  return false;
}

/* The name of variants[count]: unique among those before. */
static enum tutti_status name_variant(tutti_context *context, const tutti_ablation *ablation,
                                      struct ablation_variant *variants, size_t count) {
  enum tutti_status status = TUTTI_OK;
  struct tutti_text text = tutti_text_begin(context);
  struct ablation_variant *variant = &variants[count];
  char *plain = NULL;
  size_t given = 0;
  for (size_t s = 0; s < ablation->swap_count; s++)
    given += variant->values[s] != ABLATION_NO_VALUE;
  if (ablation->recipes > 1 || given == 0)
    tutti_text_add(&text, "%s", ablation->labels[variant->recipe]);
  for (size_t s = 0; s < ablation->swap_count; s++)
    if (variant->values[s] != ABLATION_NO_VALUE)
      add_setting(ablation, s, variant->values[s], &text);
  TUTTI_TRY_OUT(context, tutti_text_take(&text, &plain));
  make_file_name(plain);
  TUTTI_TRY_OUT(context, tutti_strdup(context, plain, &variant->name));
  for (size_t number = 2; has_name(variants, count, variant->name); number++) {
    tutti_free(variant->name);
    variant->name = NULL;
    TUTTI_TRY_OUT(context, tutti_format(context, &variant->name, "%s-%zu", plain, number));
  }
out:
  tutti_text_discard(&text);
  tutti_free(plain);
  return status;
}

/* --- cells ------------------------------------------------------------------------------------------------------- */

/* Overrides of a cell: the common ones, the swapped values, then seed and name. */
static enum tutti_status override_cell(tutti_context *context, const tutti_ablation *ablation,
                                       struct ablation_cell *cell) {
  size_t room = ablation->overrides + ablation->swap_count + 2, *count = &cell->override_count;
  TUTTI_TRY(context, tutti_alloc(context, room, sizeof *cell->overrides, &cell->overrides));
  for (size_t i = 0; i < ablation->overrides; i++)
    TUTTI_TRY(context, tutti_strdup(context, ablation->override[i], &cell->overrides[(*count)++]));
  for (size_t s = 0; s < ablation->swap_count; s++)
    if (cell->values[s] != ABLATION_NO_VALUE)
      TUTTI_TRY(context, tutti_ablation_setting(context, ablation, s, cell->values[s], &cell->overrides[(*count)++]));
  TUTTI_TRY(context, tutti_format(context, &cell->overrides[(*count)++], "run.seed=%lld", (long long)cell->seed));
  return tutti_format(context, &cell->overrides[(*count)++], "run.name=%s", cell->name);
}

static enum tutti_status make_cell(tutti_context *context, tutti_ablation *ablation,
                                   const struct ablation_variant *variant, int64_t seed) {
  struct ablation_cell *cell = &ablation->cells[ablation->count];
  cell->searcher = ablation->count++;
  cell->recipe = ablation->recipe[variant->recipe];
  cell->seed = seed;
  TUTTI_TRY(context, tutti_alloc(context, ablation->swap_count, sizeof *cell->values, &cell->values));
  for (size_t s = 0; s < ablation->swap_count; s++)
    cell->values[s] = variant->values[s];
  TUTTI_TRY(context, tutti_format(context, &cell->name, "%s_seed-%lld", variant->name, (long long)seed));
  return override_cell(context, ablation, cell);
}

/* The next combination of values; false after the last. */
static bool advance(const tutti_ablation *ablation, size_t *choice) {
  for (size_t s = ablation->swap_count; s-- > 0;) {
    if (++choice[s] < ablation->swaps[s].count)
      return true;
    choice[s] = 0;
  }
  return false;
}

static enum tutti_status count_variants(tutti_context *context, const tutti_ablation *ablation, size_t *variants) {
  *variants = ablation->recipes;
  for (size_t s = 0; s < ablation->swap_count && *variants <= MOST_CELLS; s++)
    *variants *= ablation->swaps[s].count; /* a command line is not long enough to overflow it */
  if (*variants > MOST_CELLS || ablation->seeds > MOST_CELLS / (int64_t)*variants)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "the matrix has more than %d cells; swap fewer values at once",
                      MOST_CELLS);
  return TUTTI_OK;
}

/* Take the values whose conditions hold. *new: the combination differs from those before in a value that is taken. */
static enum tutti_status take_values(tutti_context *context, const tutti_ablation *ablation, const size_t *choice,
                                     struct ablation_variant *variant, bool *new) {
  *new = true;
  for (size_t s = 0; s < ablation->swap_count; s++)
    variant->values[s] = ABLATION_NO_VALUE;
  for (size_t s = 0; s < ablation->swap_count; s++) {
    bool holds;
    TUTTI_TRY(context, tutti_ablation_condition(context, ablation, variant->recipe, variant->values, s, &holds));
    if (holds)
      variant->values[s] = choice[s];
    else if (choice[s] != 0)
      *new = false;
  }
  return TUTTI_OK;
}

/* Variants of all recipes; variants[] has room for every combination. */
static enum tutti_status make_variants(tutti_context *context, const tutti_ablation *ablation, size_t *choice,
                                       struct ablation_variant *variants, size_t *count) {
  *count = 0;
  for (size_t r = 0; r < ablation->recipes; r++)
    do {
      struct ablation_variant *variant = &variants[*count];
      bool new;
      variant->recipe = r;
      if (!variant->values)
        TUTTI_TRY(context, tutti_alloc(context, ablation->swap_count, sizeof *variant->values, &variant->values));
      TUTTI_TRY(context, take_values(context, ablation, choice, variant, &new));
      if (!new)
        continue;
      TUTTI_TRY(context, name_variant(context, ablation, variants, *count));
      ++*count;
    } while (advance(ablation, choice));
  return TUTTI_OK;
}

static enum tutti_status check_conditions(tutti_context *context, const tutti_ablation *ablation,
                                          const struct ablation_variant *variants, size_t count) {
  for (size_t s = 0; s < ablation->swap_count; s++)
    if (ablation->swaps[s].condition.key)
      TUTTI_TRY(context, tutti_ablation_check_condition(context, ablation, s, count, variants));
  return TUTTI_OK;
}

/* The seed with which a recipe's cells begin. */
static enum tutti_status first_seed(tutti_context *context, const tutti_ablation *ablation, size_t recipe,
                                    int64_t *seed) {
  tutti_recipe *loaded;
  enum tutti_status status = tutti_recipe_load(context, ablation->recipe[recipe], ablation->overrides,
                                               (const char *const *)ablation->override, &loaded);
  if (status != TUTTI_OK) {
    (void)tutti_error_prefix(context, status, "recipe %s: ", ablation->recipe[recipe]);
    return status;
  }
  *seed = tutti_recipe_run(loaded)->seed;
  tutti_recipe_destroy(loaded);
  if (*seed > INT64_MAX - ablation->seeds)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "%s: there are no %lld seeds from run.seed = %lld on",
                      ablation->recipe[recipe], (long long)ablation->seeds, (long long)*seed);
  return TUTTI_OK;
}

/* All variants with the first seed, then with the next: whenever it is interrupted, there are pairs to compare. */
static enum tutti_status make_cells(tutti_context *context, tutti_ablation *ablation) {
  enum tutti_status status = TUTTI_OK;
  size_t room = 0, count, *choice = NULL;
  int64_t *seeds = NULL;
  struct ablation_variant *variants = NULL;
  TUTTI_TRY(context, count_variants(context, ablation, &room));
  TUTTI_TRY_OUT(context, tutti_alloc(context, ablation->swap_count, sizeof *choice, &choice));
  TUTTI_TRY_OUT(context, tutti_alloc(context, ablation->recipes, sizeof *seeds, &seeds));
  TUTTI_TRY_OUT(context, tutti_alloc(context, room, sizeof *variants, &variants));
  for (size_t r = 0; r < ablation->recipes; r++)
    TUTTI_TRY_OUT(context, first_seed(context, ablation, r, &seeds[r]));
  TUTTI_TRY_OUT(context, make_variants(context, ablation, choice, variants, &count));
  TUTTI_TRY_OUT(context, check_conditions(context, ablation, variants, count));
  TUTTI_TRY_OUT(context,
                tutti_alloc(context, count * (size_t)ablation->seeds, sizeof *ablation->cells, &ablation->cells));
  for (int64_t s = 0; s < ablation->seeds; s++)
    for (size_t v = 0; v < count; v++)
      TUTTI_TRY_OUT(context, make_cell(context, ablation, &variants[v], seeds[variants[v].recipe] + s));
out:
  for (size_t v = 0; variants && v < room; v++) {
    tutti_free(variants[v].values);
    tutti_free(variants[v].name);
  }
  tutti_free(variants);
  tutti_free(seeds);
  tutti_free(choice);
  return status;
}

/* --- checks ------------------------------------------------------------------------------------------------------ */

static enum tutti_status add_search_item(void *argument, tutti_context *context, const struct tutti_recipe_item *item) {
  struct tutti_text *text = argument;
  (void)context;
  if (item->part == TUTTI_RECIPE_SEARCH || item->part == TUTTI_RECIPE_EXTENT)
    tutti_text_add(text, "%s.%s=%s\n", item->section, item->key, item->value);
  return TUTTI_OK;
}

/* A text of everything that determines search and training: cells with equal texts share a search. Without data nothing
   is selected. */
static enum tutti_status search_of(tutti_context *context, const tutti_recipe *recipe, char **search) {
  struct tutti_text text = tutti_text_begin(context);
  if (!tutti_recipe_data(recipe))
    tutti_text_add(&text, "[%s]\n", tutti_recipe_run(recipe)->name);
  enum tutti_status status = tutti_recipe_visit(context, recipe, add_search_item, &text);
  if (status != TUTTI_OK) {
    tutti_text_discard(&text);
    return tutti_error_trace(context, status, __FILE__, __LINE__, __func__);
  }
  return tutti_text_take(&text, search);
}

static enum tutti_status check_cell(tutti_context *context, struct ablation_cell *cell) {
  enum tutti_status status = TUTTI_OK;
  tutti_recipe *recipe = NULL;
  char *summary = NULL;
  TUTTI_TRY_OUT(context, tutti_recipe_load(context, cell->recipe, cell->override_count,
                                           (const char *const *)cell->overrides, &recipe));
  const struct tutti_run_config *run = tutti_recipe_run(recipe);
  cell->window = run->window;
  cell->budget = run->budget;
  cell->repeatable = run->order == 0;
  cell->fit = tutti_recipe_fit(recipe) != NULL;
  cell->removes = run->weights_of == TUTTI_WEIGHTS_OF_MEMBERS;
  TUTTI_TRY_OUT(context, tutti_recipe_print(context, recipe, &cell->text));
  TUTTI_TRY_OUT(context, search_of(context, recipe, &cell->search));
  tutti_recipe *taken = recipe;
  recipe = NULL;
  TUTTI_TRY_OUT(context, tutti_run_check_timed(context, taken, &cell->timed, &summary));
out:
  tutti_recipe_destroy(recipe);
  tutti_free(summary);
  return status;
}

static void share_search(tutti_ablation *ablation, size_t index) {
  for (size_t i = 0; i < index; i++)
    if (strcmp(ablation->cells[i].search, ablation->cells[index].search) == 0) {
      ablation->cells[index].searcher = i;
      return;
    }
}

/* A search whose end removes weights would take them from the ensembles of others. */
static enum tutti_status check_shared(tutti_context *context, const tutti_ablation *ablation, size_t index) {
  const struct ablation_cell *cell = &ablation->cells[index], *searcher = &ablation->cells[cell->searcher];
  if (cell == searcher || (!cell->removes && !searcher->removes))
    return TUTTI_OK;
  return TUTTI_FAIL(
      context, TUTTI_ERROR_USAGE,
      "cells %s and %s share a search, and run.weights_of = members removes the weights of models that are "
      "not in the ensemble of one of them; take run.weights_of = all",
      searcher->name, cell->name);
}

/* The error of a cell, with what may be the cause of it: another word than " where" before a condition. */
static enum tutti_status blame_cell(tutti_context *context, const tutti_ablation *ablation,
                                    const struct ablation_cell *cell, enum tutti_status status) {
  (void)tutti_error_prefix(context, status, "cell %s of %s: ", cell->name, cell->recipe);
  for (size_t s = 0; s < ablation->swap_count; s++) {
    const char *word = NULL;
    int length = (int)tutti_ablation_not_where(&ablation->swaps[s], &word);
    if (length > 0)
      return tutti_error_prefix(context, status,
                                "--swap %s: cells are chosen by ' where', did you mean that by '%.*s'? ",
                                ablation->swaps[s].key, length, word);
  }
  return status;
}

static enum tutti_status check_cells(tutti_context *context, tutti_ablation *ablation) {
  for (size_t i = 0; i < ablation->count; i++) {
    enum tutti_status status = check_cell(context, &ablation->cells[i]);
    if (status != TUTTI_OK)
      return blame_cell(context, ablation, &ablation->cells[i], status);
    if (tutti_cancelled(context))
      return TUTTI_FAIL(context, TUTTI_ERROR_CANCELLED, "interrupted");
    share_search(ablation, i);
    TUTTI_TRY(context, check_shared(context, ablation, i));
  }
  return TUTTI_OK;
}

bool tutti_ablation_measures(const tutti_ablation *ablation, size_t searcher) {
  bool needed = false;
  for (size_t i = 0; i < ablation->count; i++)
    needed = needed || (ablation->cells[i].searcher == searcher && ablation->cells[i].timed &&
                        ablation->cells[i].state != ABLATION_FINISHED);
  return needed && !ablation->cells[searcher].timed;
}

/* --- create, destroy --------------------------------------------------------------------------------------------- */

enum tutti_status tutti_ablation_create(tutti_context *context, const struct tutti_ablation_options *options,
                                        tutti_ablation **out) {
  enum tutti_status status = TUTTI_OK;
  tutti_ablation *ablation = NULL;
  *out = NULL;
  if (options->recipes == 0 || options->seeds < 1)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "expected at least one recipe and one seed, found %zu and %lld",
                      options->recipes, (long long)options->seeds);
  TUTTI_TRY_OUT(context, tutti_alloc(context, 1, sizeof *ablation, &ablation));
  ablation->seeds = options->seeds;
  ablation->recipes = options->recipes;
  TUTTI_TRY_OUT(context, tutti_ablation_copy_texts(context, options->recipes, options->recipe, &ablation->recipe));
  ablation->overrides = options->overrides;
  TUTTI_TRY_OUT(context,
                tutti_ablation_copy_texts(context, options->overrides, options->override, &ablation->override));
  ablation->swap_count = options->swaps;
  TUTTI_TRY_OUT(context, tutti_alloc(context, options->swaps, sizeof *ablation->swaps, &ablation->swaps));
  for (size_t i = 0; i < options->swaps; i++)
    TUTTI_TRY_OUT(context, tutti_ablation_parse_swap(context, ablation, i, options->swap[i]));
  TUTTI_TRY_OUT(context, name_recipes(context, ablation));
  TUTTI_TRY_OUT(context, make_cells(context, ablation));
  TUTTI_TRY_OUT(context, check_cells(context, ablation));
  *out = ablation;
  ablation = NULL;
out:
  tutti_ablation_destroy(ablation);
  return status;
}

static void release_cell(struct ablation_cell *cell) {
  tutti_free(cell->values);
  tutti_ablation_free_texts(cell->override_count, cell->overrides);
  tutti_free(cell->name);
  tutti_free(cell->text);
  tutti_free(cell->search);
  tutti_free(cell->reason);
  tutti_free(cell->directory);
}

void tutti_ablation_destroy(tutti_ablation *ablation) {
  if (!ablation)
    return;
  for (size_t i = 0; i < ablation->count; i++)
    release_cell(&ablation->cells[i]);
  for (size_t i = 0; i < ablation->swap_count; i++)
    tutti_ablation_release_swap(&ablation->swaps[i]);
  tutti_ablation_free_texts(ablation->recipes, ablation->recipe);
  tutti_ablation_free_texts(ablation->recipes, ablation->labels);
  tutti_ablation_free_texts(ablation->overrides, ablation->override);
  tutti_free(ablation->swaps);
  tutti_free(ablation->cells);
  tutti_free(ablation);
}
