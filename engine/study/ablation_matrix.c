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

/* --- arguments --------------------------------------------------------------------------------------------------- */

static enum tutti_status copy_texts(tutti_context *context, size_t count, const char *const *from, char ***to) {
  TUTTI_TRY(context, tutti_alloc(context, count, sizeof **to, to));
  for (size_t i = 0; i < count; i++)
    TUTTI_TRY(context, tutti_strdup(context, from[i], &(*to)[i]));
  return TUTTI_OK;
}

static void free_texts(size_t count, char **texts) {
  for (size_t i = 0; texts && i < count; i++)
    tutti_free(texts[i]);
  tutti_free(texts);
}

static enum tutti_status add_value(tutti_context *context, struct ablation_swap *swap, const char *value) {
  for (size_t i = 0; i < swap->count; i++)
    if (strcmp(swap->values[i], value) == 0)
      return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "--swap %s: the value '%s' is given twice", swap->key, value);
  TUTTI_TRY(context, tutti_realloc(context, swap->count, swap->count + 1, sizeof *swap->values, &swap->values));
  TUTTI_TRY(context, tutti_strdup(context, value, &swap->values[swap->count]));
  swap->count++;
  return TUTTI_OK;
}

/* Keys that belong to a cell's name or its place in the matrix cannot be swapped. */
static enum tutti_status check_swap_key(tutti_context *context, const tutti_ablation *ablation, size_t index) {
  const char *key = ablation->swaps[index].key;
  if (strcmp(key, "run.seed") == 0)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "--swap run.seed: seeds are swapped by --seeds N");
  if (strcmp(key, "run.name") == 0)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "--swap run.name: cells are named by what is swapped in them");
  if (strcmp(key, "run.workers") == 0)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                      "--swap run.workers: the number of workers changes no result; give --workers N for all cells");
  for (size_t i = 0; i < index; i++)
    if (strcmp(ablation->swaps[i].key, key) == 0)
      return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "--swap %s: the key is given twice; put all its values in one",
                        key);
  return TUTTI_OK;
}

static const char *last_part(const char *key) { return strrchr(key, '.') + 1; }

static bool has_paths(const struct ablation_swap *swap) {
  for (size_t i = 0; i < swap->count; i++)
    if (strchr(swap->values[i], '/'))
      return true;
  return strcmp(last_part(swap->key), "path") == 0;
}

static enum tutti_status label_values(tutti_context *context, struct ablation_swap *swap) {
  if (!has_paths(swap))
    return copy_texts(context, swap->count, (const char *const *)swap->values, &swap->labels);
  TUTTI_TRY(context, tutti_alloc(context, swap->count, sizeof *swap->labels, &swap->labels));
  return tutti_path_labels(context, swap->count, (const char *const *)swap->values, swap->labels);
}

/* "section.key=a,b,c" */
static enum tutti_status parse_swap(tutti_context *context, tutti_ablation *ablation, size_t index, const char *text) {
  enum tutti_status status = TUTTI_OK;
  struct ablation_swap *swap = &ablation->swaps[index];
  char *copy, *value;
  TUTTI_TRY(context, tutti_strdup(context, text, &copy));
  char *equals = strchr(copy, '='), *cursor = equals ? equals + 1 : copy;
  if (equals)
    *equals = '\0';
  char *key = tutti_text_trim(copy), *dot = strchr(key, '.');
  if (!equals || !dot || dot == key || !dot[1]) {
    status = TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "--swap: expected 'section.key=a,b,c', found '%s'", text);
    goto out;
  }
  TUTTI_TRY_OUT(context, tutti_strdup(context, key, &swap->key));
  TUTTI_TRY_OUT(context, check_swap_key(context, ablation, index));
  while ((value = strsep(&cursor, ",")))
    TUTTI_TRY_OUT(context, add_value(context, swap, tutti_text_trim(value)));
  TUTTI_TRY_OUT(context, label_values(context, swap));
out:
  tutti_free(copy);
  return status;
}

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
    if (i != swap && strcmp(last_part(ablation->swaps[i].key), last_part(ablation->swaps[swap].key)) == 0)
      return true;
  return false;
}

/* "greedy" for selector.plugin, "concrete" for a path, "size=5" for other keys. */
static void add_setting(const tutti_ablation *ablation, size_t index, size_t value, struct tutti_text *text) {
  const struct ablation_swap *swap = &ablation->swaps[index];
  const char *last = last_part(swap->key);
  if (text->length > 0)
    tutti_text_add(text, "_");
  if (strcmp(last, "plugin") != 0 && !has_paths(swap))
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

/* The name of a recipe's combination of values: unique among the first `count`. */
static enum tutti_status name_variant(tutti_context *context, const tutti_ablation *ablation, size_t recipe,
                                      const size_t *choice, size_t count, char **names) {
  enum tutti_status status = TUTTI_OK;
  struct tutti_text text = tutti_text_begin(context);
  char *plain = NULL;
  if (ablation->recipes > 1 || ablation->swap_count == 0)
    tutti_text_add(&text, "%s", ablation->labels[recipe]);
  for (size_t s = 0; s < ablation->swap_count; s++)
    add_setting(ablation, s, choice[s], &text);
  TUTTI_TRY_OUT(context, tutti_text_take(&text, &plain));
  make_file_name(plain);
  TUTTI_TRY_OUT(context, tutti_strdup(context, plain, &names[count]));
  for (size_t i = 0, number = 2; i < count; i++)
    if (strcmp(names[i], names[count]) == 0) {
      tutti_free(names[count]);
      names[count] = NULL;
      TUTTI_TRY_OUT(context, tutti_format(context, &names[count], "%s-%zu", plain, number++));
      i = (size_t)-1; /* from the beginning */
    }
out:
  tutti_text_discard(&text);
  tutti_free(plain);
  return status;
}

/* --- cells ------------------------------------------------------------------------------------------------------- */

/* Overrides of a cell: the common ones, the swapped values, then seed and name. */
static enum tutti_status override_cell(tutti_context *context, const tutti_ablation *ablation, const size_t *choice,
                                       struct ablation_cell *cell) {
  size_t room = ablation->overrides + ablation->swap_count + 2, *count = &cell->override_count;
  TUTTI_TRY(context, tutti_alloc(context, room, sizeof *cell->overrides, &cell->overrides));
  for (size_t i = 0; i < ablation->overrides; i++)
    TUTTI_TRY(context, tutti_strdup(context, ablation->override[i], &cell->overrides[(*count)++]));
  cell->first_swap = *count;
  for (size_t s = 0; s < ablation->swap_count; s++)
    TUTTI_TRY(context, tutti_format(context, &cell->overrides[(*count)++], "%s=%s", ablation->swaps[s].key,
                                    ablation->swaps[s].values[choice[s]]));
  TUTTI_TRY(context, tutti_format(context, &cell->overrides[(*count)++], "run.seed=%lld", (long long)cell->seed));
  return tutti_format(context, &cell->overrides[(*count)++], "run.name=%s", cell->name);
}

static enum tutti_status make_cell(tutti_context *context, tutti_ablation *ablation, size_t recipe,
                                   const size_t *choice, const char *variant, int64_t seed) {
  struct ablation_cell *cell = &ablation->cells[ablation->count];
  cell->searcher = ablation->count++;
  cell->recipe = ablation->recipe[recipe];
  cell->seed = seed;
  TUTTI_TRY(context, tutti_format(context, &cell->name, "%s_seed-%lld", variant, (long long)seed));
  return override_cell(context, ablation, choice, cell);
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

static enum tutti_status count_cells(tutti_context *context, const tutti_ablation *ablation, size_t *variants) {
  *variants = ablation->recipes;
  for (size_t s = 0; s < ablation->swap_count && *variants <= MOST_CELLS; s++)
    *variants *= ablation->swaps[s].count; /* a command line is not long enough to overflow it */
  if (*variants > MOST_CELLS || ablation->seeds > MOST_CELLS / (int64_t)*variants)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "the matrix has more than %d cells; swap fewer values at once",
                      MOST_CELLS);
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
  size_t variants, *choice = NULL;
  char **names = NULL;
  TUTTI_TRY(context, count_cells(context, ablation, &variants));
  TUTTI_TRY_OUT(context,
                tutti_alloc(context, variants * (size_t)ablation->seeds, sizeof *ablation->cells, &ablation->cells));
  TUTTI_TRY_OUT(context, tutti_alloc(context, ablation->swap_count, sizeof *choice, &choice));
  TUTTI_TRY_OUT(context, tutti_alloc(context, variants, sizeof *names, &names));
  for (int64_t s = 0; s < ablation->seeds; s++)
    for (size_t r = 0, v = 0; r < ablation->recipes; r++) {
      int64_t seed;
      TUTTI_TRY_OUT(context, first_seed(context, ablation, r, &seed));
      do {
        if (s == 0)
          TUTTI_TRY_OUT(context, name_variant(context, ablation, r, choice, v, names));
        TUTTI_TRY_OUT(context, make_cell(context, ablation, r, choice, names[v++], seed + s));
      } while (advance(ablation, choice));
    }
out:
  tutti_free(choice);
  free_texts(variants, names);
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
  TUTTI_TRY_OUT(context, tutti_recipe_print(context, recipe, &cell->text));
  TUTTI_TRY_OUT(context, search_of(context, recipe, &cell->search));
  tutti_recipe *taken = recipe;
  recipe = NULL;
  TUTTI_TRY_OUT(context, tutti_run_check(context, taken, &summary));
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

static enum tutti_status check_cells(tutti_context *context, tutti_ablation *ablation) {
  for (size_t i = 0; i < ablation->count; i++) {
    enum tutti_status status = check_cell(context, &ablation->cells[i]);
    if (status != TUTTI_OK)
      return tutti_error_prefix(context, status, "cell %s of %s: ", ablation->cells[i].name, ablation->cells[i].recipe);
    if (tutti_cancelled(context))
      return TUTTI_FAIL(context, TUTTI_ERROR_CANCELLED, "interrupted");
    share_search(ablation, i);
  }
  return TUTTI_OK;
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
  TUTTI_TRY_OUT(context, copy_texts(context, options->recipes, options->recipe, &ablation->recipe));
  ablation->overrides = options->overrides;
  TUTTI_TRY_OUT(context, copy_texts(context, options->overrides, options->override, &ablation->override));
  ablation->swap_count = options->swaps;
  TUTTI_TRY_OUT(context, tutti_alloc(context, options->swaps, sizeof *ablation->swaps, &ablation->swaps));
  for (size_t i = 0; i < options->swaps; i++)
    TUTTI_TRY_OUT(context, parse_swap(context, ablation, i, options->swap[i]));
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
  free_texts(cell->override_count, cell->overrides);
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
  for (size_t i = 0; i < ablation->swap_count; i++) {
    tutti_free(ablation->swaps[i].key);
    free_texts(ablation->swaps[i].count, ablation->swaps[i].values);
    free_texts(ablation->swaps[i].count, ablation->swaps[i].labels);
  }
  free_texts(ablation->recipes, ablation->recipe);
  free_texts(ablation->recipes, ablation->labels);
  free_texts(ablation->overrides, ablation->override);
  tutti_free(ablation->swaps);
  tutti_free(ablation->cells);
  tutti_free(ablation);
}
