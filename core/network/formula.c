/* formula.c - arithmetic that is written down, term by term. */
#include "formula_impl.h"

#include <stddef.h>
#include <string.h>
#include <tutti/sized.h>

struct tutti_formula {
  tutti_context *context;
  enum tutti_status status;
  bool counts; /* only shapes and costs: no numbers are kept */
  double flops;
  size_t count, room;
  struct tutti_formula_term *terms;
};

/* How many terms each op takes; ANY: one or more, NONE: it has a function of its own. */
enum { NONE = 0, ANY = 3 };
static const struct {
  const char *name;
  size_t takes;
} ops[] = {
    [TUTTI_FORMULA_INPUT] = {"input", NONE},
    [TUTTI_FORMULA_CONSTANT] = {"constant", NONE},
    [TUTTI_FORMULA_ADD] = {"add", 2},
    [TUTTI_FORMULA_SUBTRACT] = {"subtract", 2},
    [TUTTI_FORMULA_MULTIPLY] = {"multiply", 2},
    [TUTTI_FORMULA_DIVIDE] = {"divide", 2},
    [TUTTI_FORMULA_LEAST] = {"least", 2},
    [TUTTI_FORMULA_MOST] = {"most", 2},
    [TUTTI_FORMULA_ABOVE] = {"above", 2},
    [TUTTI_FORMULA_EXP] = {"exp", 1},
    [TUTTI_FORMULA_LOG] = {"log", 1},
    [TUTTI_FORMULA_SQRT] = {"sqrt", 1},
    [TUTTI_FORMULA_SUM] = {"sum", 1},
    [TUTTI_FORMULA_LARGEST] = {"largest", 1},
    [TUTTI_FORMULA_PRODUCT] = {"product", 2},
    [TUTTI_FORMULA_BESIDE] = {"beside", ANY},
    [TUTTI_FORMULA_COLUMNS] = {"columns", NONE},
    [TUTTI_FORMULA_TREES] = {"trees", NONE},
    [TUTTI_FORMULA_COUPLE] = {"couple", NONE},
};
_Static_assert(sizeof ops / sizeof *ops == TUTTI_FORMULA_OPS, "each op has its line");

/* --- memory --- */

enum tutti_status tutti_formula_create(tutti_context *context, tutti_formula **formula) {
  TUTTI_TRY(context, tutti_alloc(context, 1, sizeof **formula, formula));
  (*formula)->context = context;
  return TUTTI_OK;
}

enum tutti_status tutti_formula_create_counting(tutti_context *context, tutti_formula **formula) {
  TUTTI_TRY(context, tutti_formula_create(context, formula));
  (*formula)->counts = true;
  return TUTTI_OK;
}

bool tutti_formula_counts(const tutti_formula *formula) { return formula->counts; }

static void release_trees(struct tutti_formula_trees *trees) {
  if (!trees)
    return;
  tutti_free((void *)(uintptr_t)trees->roots);
  tutti_free((void *)(uintptr_t)trees->column);
  tutti_free((void *)(uintptr_t)trees->threshold);
  tutti_free((void *)(uintptr_t)trees->low);
  tutti_free((void *)(uintptr_t)trees->high);
  tutti_free((void *)(uintptr_t)trees->missing_low);
  tutti_free((void *)(uintptr_t)trees->leaf);
  tutti_free((void *)(uintptr_t)trees->of);
  tutti_free((void *)(uintptr_t)trees->value);
  tutti_free(trees);
}

static void release_term(struct tutti_formula_term *term) {
  tutti_free((void *)(uintptr_t)term->from);
  tutti_free((void *)(uintptr_t)term->values);
  tutti_free((void *)(uintptr_t)term->picked);
  release_trees((struct tutti_formula_trees *)(uintptr_t)term->trees);
}

void tutti_formula_destroy(tutti_formula *formula) {
  if (!formula)
    return;
  for (size_t i = 0; i < formula->count; i++)
    release_term(&formula->terms[i]);
  tutti_free(formula->terms);
  tutti_free(formula);
}

enum tutti_status tutti_formula_status(const tutti_formula *formula) { return formula->status; }
size_t tutti_formula_count(const tutti_formula *formula) { return formula->count; }
const struct tutti_formula_term *tutti_formula_at(const tutti_formula *formula, tutti_term term) {
  return term < formula->count ? &formula->terms[term] : NULL;
}

/* --- terms --- */

static bool failed(const tutti_formula *formula) { return formula->status != TUTTI_OK; }

static tutti_term fail(tutti_formula *formula, enum tutti_status status) {
  if (!failed(formula))
    formula->status = status;
  return TUTTI_NO_TERM;
}

/* Keep a copy of an array at *place; NULL where there is none. */
static void keep(tutti_formula *formula, size_t count, size_t size, const void *from, void *place) {
  if (failed(formula) || !from)
    return;
  void **copy = place;
  enum tutti_status status = tutti_alloc(formula->context, count ? count : 1, size, copy);
  if (status != TUTTI_OK)
    (void)fail(formula, status);
  else if (count)
    memcpy(*copy, from, count * size);
}

/* --- cost --- */

static bool is_leaf(const struct tutti_formula_trees *trees, size_t root, size_t node) {
  return trees->low[node] == node - root;
}

/* Questions on the way to a leaf: the mean over the leaves of all trees, one tree after the other. A node's depth is
   known before those of the nodes that it leads to, which come later. */
static enum tutti_status count_questions(tutti_context *context, const struct tutti_formula_trees *trees, double *sum) {
  size_t most = 0;
  uint32_t *depth;
  *sum = 0;
  for (size_t t = 0; t < trees->trees; t++)
    most = trees->roots[t + 1] - trees->roots[t] > most ? trees->roots[t + 1] - trees->roots[t] : most;
  TUTTI_TRY(context, tutti_alloc(context, most, sizeof *depth, &depth));
  for (size_t t = 0; t < trees->trees; t++) {
    size_t root = trees->roots[t], leaves = 0, deep = 0;
    depth[0] = 0;
    for (size_t n = root; n < trees->roots[t + 1]; n++) {
      if (is_leaf(trees, root, n)) {
        leaves++;
        deep += depth[n - root];
      } else {
        depth[trees->low[n]] = depth[trees->high[n]] = depth[n - root] + 1;
      }
    }
    *sum += (double)deep / (double)leaves;
  }
  tutti_free(depth);
  return TUTTI_OK;
}

/* The operations of a term for one row. `trees` are given apart, since a formula that counts does not keep them. */
static double flops_of(tutti_formula *formula, const struct tutti_formula_term *term,
                       const struct tutti_formula_trees *trees) {
  double taken = term->count ? (double)formula->terms[term->from[0]].columns : 0;
  double columns = (double)term->columns, questions = 0;
  switch (term->op) {
  case TUTTI_FORMULA_INPUT:
  case TUTTI_FORMULA_CONSTANT:
  case TUTTI_FORMULA_BESIDE:
  case TUTTI_FORMULA_COLUMNS:
    return 0;
  case TUTTI_FORMULA_SUM:
  case TUTTI_FORMULA_LARGEST:
    return taken;
  case TUTTI_FORMULA_PRODUCT:
    return 2 * taken * columns;
  case TUTTI_FORMULA_TREES:
    formula->status = count_questions(formula->context, trees, &questions);
    return questions + (double)trees->trees;
  case TUTTI_FORMULA_COUPLE: /* a round costs about 4 k²; some ten are usual */
    return 40 * columns * columns;
  default:
    return columns;
  }
}

/* Take over a term with what it has; after a failure, release it. `trees`: those of TREES. */
static tutti_term take_trees(tutti_formula *formula, struct tutti_formula_term *term,
                             const struct tutti_formula_trees *trees) {
  if (!failed(formula) && term->rows == 0)
    formula->flops += flops_of(formula, term, trees);
  if (!failed(formula) && formula->count == formula->room) {
    size_t room = 2 * formula->room + 32;
    enum tutti_status status =
        tutti_realloc(formula->context, formula->count, room, sizeof *formula->terms, &formula->terms);
    if (status == TUTTI_OK)
      formula->room = room;
    else
      (void)fail(formula, status);
  }
  if (failed(formula) || !formula->terms) {
    release_term(term);
    return TUTTI_NO_TERM;
  }
  term->size = sizeof *term;
  formula->terms[formula->count] = *term;
  return formula->count++;
}

static tutti_term take(tutti_formula *formula, struct tutti_formula_term *term) {
  return take_trees(formula, term, NULL);
}

static const struct tutti_formula_term *term_at(tutti_formula *formula, tutti_term number) {
  if (failed(formula))
    return NULL;
  if (number < formula->count)
    return &formula->terms[number];
  (void)fail(formula, TUTTI_FAIL(formula->context, TUTTI_ERROR_INTERNAL,
                                 "a formula of %zu terms was to be made of one that it does not have", formula->count));
  return NULL;
}

tutti_term tutti_formula_input(tutti_formula *formula, size_t columns) {
  struct tutti_formula_term term = {.op = TUTTI_FORMULA_INPUT, .columns = columns};
  return take(formula, &term);
}

tutti_term tutti_formula_constant(tutti_formula *formula, size_t rows, size_t columns, const double *values) {
  struct tutti_formula_term term = {.op = TUTTI_FORMULA_CONSTANT, .rows = rows, .columns = columns};
  size_t count;
  if (rows == 0 || columns == 0 || __builtin_mul_overflow(rows, columns, &count))
    return fail(formula, TUTTI_FAIL(formula->context, TUTTI_ERROR_INTERNAL, "a constant of %zu rows and %zu columns",
                                    rows, columns));
  if (!values && !formula->counts)
    return fail(formula, TUTTI_FAIL(formula->context, TUTTI_ERROR_INTERNAL,
                                    "a constant of %zu rows and %zu columns without its numbers", rows, columns));
  keep(formula, count, sizeof *values, formula->counts ? NULL : values, &term.values);
  return take(formula, &term);
}

tutti_term tutti_formula_number(tutti_formula *formula, double value) {
  return tutti_formula_constant(formula, 1, 1, &value);
}

/* The columns of a term that is made of others; 0: they do not fit together. */
static size_t columns_of(const tutti_formula *formula, enum tutti_formula_op op, size_t count, const tutti_term *from) {
  const struct tutti_formula_term *x = &formula->terms[from[0]], *y = &formula->terms[from[count - 1]];
  size_t columns = 0;
  for (size_t i = 0; i < count; i++) /* a table of several rows is only what something is multiplied by */
    if (formula->terms[from[i]].rows > 1 && !(op == TUTTI_FORMULA_PRODUCT && i == 1))
      return 0;
  switch (op) {
  case TUTTI_FORMULA_SUM:
  case TUTTI_FORMULA_LARGEST:
    return 1;
  case TUTTI_FORMULA_PRODUCT:
    return y->op == TUTTI_FORMULA_CONSTANT && y->rows == x->columns ? y->columns : 0;
  case TUTTI_FORMULA_BESIDE:
    for (size_t i = 0; i < count; i++)
      columns += formula->terms[from[i]].columns;
    return columns;
  default:
    return x->columns == y->columns || y->columns == 1 ? x->columns : x->columns == 1 ? y->columns : 0;
  }
}

tutti_term tutti_formula_add(tutti_formula *formula, enum tutti_formula_op op, size_t count, const tutti_term *from) {
  struct tutti_formula_term term = {.op = op, .count = count};
  size_t takes = (size_t)op < TUTTI_FORMULA_OPS ? ops[op].takes : NONE;
  for (size_t i = 0; i < count; i++)
    if (!term_at(formula, from[i]))
      return TUTTI_NO_TERM;
  if (failed(formula))
    return TUTTI_NO_TERM;
  if (takes == NONE || count == 0 || (takes != ANY && count != takes))
    return fail(formula, TUTTI_FAIL(formula->context, TUTTI_ERROR_INTERNAL,
                                    "op %d of a formula does not take %zu terms", (int)op, count));
  term.columns = columns_of(formula, op, count, from);
  if (term.columns == 0)
    return fail(formula, TUTTI_FAIL(formula->context, TUTTI_ERROR_INTERNAL,
                                    "op %s of a formula was given terms that do not fit together", ops[op].name));
  term.rows = 1;
  for (size_t i = 0; i < count && term.rows == 1; i++)
    term.rows = formula->terms[from[i]].rows == 1 || (op == TUTTI_FORMULA_PRODUCT && i == 1) ? 1 : 0;
  keep(formula, count, sizeof *from, from, &term.from);
  return take(formula, &term);
}

tutti_term tutti_formula_columns(tutti_formula *formula, tutti_term x, size_t count, const uint32_t *picked) {
  struct tutti_formula_term term = {.op = TUTTI_FORMULA_COLUMNS, .columns = count, .count = 1};
  const struct tutti_formula_term *of = term_at(formula, x);
  bool right = of && of->rows <= 1 && count > 0;
  for (size_t i = 0; right && i < count; i++)
    right = picked[i] < of->columns;
  if (of && !right)
    return fail(formula, TUTTI_FAIL(formula->context, TUTTI_ERROR_INTERNAL,
                                    "%zu columns of a term that has %zu were asked for", count, of->columns));
  term.rows = of ? of->rows : 0;
  keep(formula, 1, sizeof x, &x, &term.from);
  keep(formula, count, sizeof *picked, picked, &term.picked);
  return take(formula, &term);
}

tutti_term tutti_formula_couple(tutti_formula *formula, tutti_term x, size_t classes) {
  struct tutti_formula_term term = {.op = TUTTI_FORMULA_COUPLE, .columns = classes, .count = 1};
  const struct tutti_formula_term *of = term_at(formula, x);
  if (of && (classes < 2 || of->rows > 1 || of->columns != classes * (classes - 1) / 2))
    return fail(formula, TUTTI_FAIL(formula->context, TUTTI_ERROR_INTERNAL, "%zu pairs are not those of %zu classes",
                                    of->columns, classes));
  term.rows = of ? of->rows : 0;
  keep(formula, 1, sizeof x, &x, &term.from);
  return take(formula, &term);
}

/* --- trees --- */

/* A node leads to later ones of its tree, so that each row arrives at a leaf. */
static bool is_node(const struct tutti_formula_trees *trees, size_t tree, size_t node, size_t columns) {
  size_t root = trees->roots[tree], end = trees->roots[tree + 1], low = trees->low[node], high = trees->high[node];
  if (is_leaf(trees, root, node))
    return high == low;
  return low > node - root && high > node - root && root + low < end && root + high < end &&
         trees->column[node] < columns;
}

static bool are_trees(const struct tutti_formula_trees *trees, size_t columns) {
  size_t tree = 0;
  bool right = trees->trees > 0 && trees->columns > 0 && trees->roots[0] == 0;
  for (size_t t = 0; right && t < trees->trees; t++) {
    right = trees->roots[t] < trees->roots[t + 1];
    for (size_t n = trees->roots[t]; right && n < trees->roots[t + 1]; n++)
      right = is_node(trees, t, n, columns);
  }
  for (size_t s = 0; right && s < trees->says; s++) {
    right = (s == 0 || trees->leaf[s - 1] <= trees->leaf[s]) && trees->leaf[s] < trees->roots[trees->trees] &&
            trees->of[s] < trees->columns;
    while (right && trees->roots[tree + 1] <= trees->leaf[s])
      tree++;
    right = right && is_leaf(trees, trees->roots[tree], trees->leaf[s]);
  }
  return right;
}

static struct tutti_formula_trees *copy_trees(tutti_formula *formula, const struct tutti_formula_trees *trees) {
  struct tutti_formula_trees *copy = NULL;
  size_t nodes = trees->roots[trees->trees];
  keep(formula, 1, sizeof *trees, trees, &copy);
  if (!copy)
    return NULL;
  copy->roots = NULL, copy->leaf = NULL;
  copy->column = copy->low = copy->high = copy->of = NULL;
  copy->threshold = copy->value = NULL;
  copy->missing_low = NULL;
  keep(formula, trees->trees + 1, sizeof *trees->roots, trees->roots, &copy->roots);
  keep(formula, nodes, sizeof *trees->column, trees->column, &copy->column);
  keep(formula, nodes, sizeof *trees->threshold, trees->threshold, &copy->threshold);
  keep(formula, nodes, sizeof *trees->low, trees->low, &copy->low);
  keep(formula, nodes, sizeof *trees->high, trees->high, &copy->high);
  keep(formula, nodes, sizeof *trees->missing_low, trees->missing_low, &copy->missing_low);
  keep(formula, trees->says, sizeof *trees->leaf, trees->leaf, &copy->leaf);
  keep(formula, trees->says, sizeof *trees->of, trees->of, &copy->of);
  keep(formula, trees->says, sizeof *trees->value, trees->value, &copy->value);
  return copy;
}

tutti_term tutti_formula_grow(tutti_formula *formula, tutti_term x, const struct tutti_formula_trees *theirs) {
  /* As version 2.0 of the interface has it. */
  const size_t least = offsetof(struct tutti_formula_trees, value) + sizeof theirs->value;
  const struct tutti_formula_term *of = term_at(formula, x);
  struct tutti_formula_trees trees;
  if (!of)
    return TUTTI_NO_TERM;
  if (theirs->size < least)
    return fail(formula, TUTTI_FAIL(formula->context, TUTTI_ERROR_INTERNAL,
                                    "expected the size of the trees of a formula, at least %zu; found %zu: set their "
                                    "member size to sizeof(struct tutti_formula_trees)",
                                    least, theirs->size));
  TUTTI_TAKE(&trees, theirs);
  if (of->rows > 1 || !are_trees(&trees, of->columns))
    return fail(formula,
                TUTTI_FAIL(formula->context, TUTTI_ERROR_INTERNAL,
                           "the trees of a formula are no trees over the %zu columns of their term", of->columns));
  struct tutti_formula_term term = {.op = TUTTI_FORMULA_TREES, .rows = of->rows, .columns = trees.columns, .count = 1};
  keep(formula, 1, sizeof x, &x, &term.from);
  term.trees = formula->counts ? NULL : copy_trees(formula, &trees);
  return take_trees(formula, &term, &trees);
}

double tutti_formula_flops(const tutti_formula *formula) { return formula->flops; }
