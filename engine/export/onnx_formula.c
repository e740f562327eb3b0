/* onnx_formula.c - formulas (formula.h) as parts of a graph: each term becomes a value. */
#include "onnx_impl.h"

static onnx_value constant(struct onnx_graph *graph, const struct tutti_formula_term *term) {
  const int64_t dims[2] = {(int64_t)term->rows, (int64_t)term->columns};
  return onnx_doubles(graph, 2, dims, term->values);
}

/* Columns of a value by their numbers. */
static onnx_value pick(struct onnx_graph *graph, onnx_value x, size_t count, const uint32_t *picked) {
  int64_t *numbers;
  if (onnx_graph_failed(graph))
    return NULL;
  onnx_graph_fail(graph, tutti_alloc(onnx_graph_context(graph), count, sizeof *numbers, &numbers));
  if (onnx_graph_failed(graph))
    return NULL;
  for (size_t i = 0; i < count; i++)
    numbers[i] = (int64_t)picked[i];
  onnx_value made =
      ONNX_NODE(graph, "Gather", ONNX_ATTRIBUTES(ONNX_INTEGER("axis", 1)), x, onnx_integers(graph, count, numbers));
  tutti_free(numbers);
  return made;
}

/* Of each row, [rows, 1]. */
static onnx_value sum(struct onnx_graph *graph, onnx_value x) {
  return ONNX(graph, "ReduceSum", x, onnx_integers(graph, 1, &(int64_t){1}));
}
static onnx_value largest(struct onnx_graph *graph, onnx_value x) {
  return ONNX_NODE(graph, "ReduceMax", ONNX_ATTRIBUTES(ONNX_INTEGERS("axes", 1, &(int64_t){1})), x);
}

static onnx_value beside(struct onnx_graph *graph, size_t count, const onnx_value *values) {
  return onnx_node(graph, "Concat", ONNX_ATTRIBUTES(ONNX_INTEGER("axis", 1)), count, values);
}

/* --- trees --- */

/* The nodes and leaves as the lists of numbers that ONNX has them in. */
struct lists {
  int64_t *node, *tree, *column, *low, *high, *missing; /* [nodes] */
  const char **mode;                                    /* [nodes] */
  int64_t *of, *leaf_tree, *leaf;                       /* [says] */
};

static void release(struct lists *lists) {
  tutti_free(lists->node);
  tutti_free(lists->mode);
  tutti_free(lists->of);
}

static enum tutti_status fill(tutti_context *context, const struct tutti_formula_trees *trees, struct lists *lists) {
  size_t nodes = trees->roots[trees->trees], tree = 0;
  TUTTI_TRY(context, tutti_alloc(context, nodes, 6 * sizeof *lists->node, &lists->node));
  TUTTI_TRY(context, tutti_alloc(context, nodes, sizeof *lists->mode, &lists->mode));
  TUTTI_TRY(context, tutti_alloc(context, trees->says + 1, 3 * sizeof *lists->of, &lists->of));
  lists->tree = lists->node + nodes, lists->column = lists->tree + nodes, lists->low = lists->column + nodes;
  lists->high = lists->low + nodes, lists->missing = lists->high + nodes;
  lists->leaf_tree = lists->of + trees->says, lists->leaf = lists->leaf_tree + trees->says;
  for (size_t n = 0; n < nodes; n++) {
    tree += trees->roots[tree + 1] == n;
    bool leaf = trees->low[n] == n - trees->roots[tree];
    lists->node[n] = (int64_t)(n - trees->roots[tree]);
    lists->tree[n] = (int64_t)tree;
    lists->column[n] = leaf ? 0 : (int64_t)trees->column[n];
    lists->low[n] = leaf ? 0 : (int64_t)trees->low[n];
    lists->high[n] = leaf ? 0 : (int64_t)trees->high[n];
    lists->missing[n] = !leaf && trees->missing_low && trees->missing_low[n];
    lists->mode[n] = leaf ? "LEAF" : trees->below ? "BRANCH_LT" : "BRANCH_LEQ";
  }
  tree = 0;
  for (size_t s = 0; s < trees->says; s++) {
    while (trees->roots[tree + 1] <= trees->leaf[s])
      tree++;
    lists->of[s] = (int64_t)trees->of[s];
    lists->leaf_tree[s] = (int64_t)tree;
    lists->leaf[s] = (int64_t)(trees->leaf[s] - trees->roots[tree]);
  }
  return TUTTI_OK;
}

/* Thresholds and sums are doubles: floats would move rows that are near a threshold to its other side. */
static onnx_value grow(struct onnx_graph *graph, onnx_value x, const struct tutti_formula_trees *trees) {
  struct lists lists = {0};
  onnx_value made = NULL;
  size_t nodes = trees->roots[trees->trees], says = trees->says;
  if (onnx_graph_failed(graph))
    return NULL;
  onnx_graph_fail(graph, fill(onnx_graph_context(graph), trees, &lists));
  if (!onnx_graph_failed(graph))
    made = ONNX_NODE(
        graph, "ai.onnx.ml:TreeEnsembleRegressor",
        ONNX_ATTRIBUTES(
            ONNX_INTEGER("n_targets", (int64_t)trees->columns), ONNX_INTEGERS("nodes_nodeids", nodes, lists.node),
            ONNX_INTEGERS("nodes_treeids", nodes, lists.tree), ONNX_INTEGERS("nodes_featureids", nodes, lists.column),
            ONNX_INTEGERS("nodes_truenodeids", nodes, lists.low),
            ONNX_INTEGERS("nodes_falsenodeids", nodes, lists.high),
            ONNX_INTEGERS("nodes_missing_value_tracks_true", nodes, lists.missing),
            ONNX_TEXTS("nodes_modes", nodes, lists.mode), ONNX_REALS("nodes_values_as_tensor", nodes, trees->threshold),
            ONNX_INTEGERS("target_ids", says, lists.of), ONNX_INTEGERS("target_treeids", says, lists.leaf_tree),
            ONNX_INTEGERS("target_nodeids", says, lists.leaf),
            ONNX_REALS("target_weights_as_tensor", says, trees->value)),
        x);
  release(&lists);
  return onnx_cast(graph, made, ONNX_DOUBLE);
}

/* --- pairs of classes --- */

/* The probabilities of pairs, and from them the rows of Q (tutti_formula_couple). */
struct coupling {
  struct onnx_graph *graph;
  size_t classes;
  onnx_value *rows;  /* [classes]: of Q, [rows, classes] each */
  onnx_value *parts; /* [classes]: room */
  double *one;       /* [classes]: room */
  uint32_t *picked;  /* [2][classes]: room */
};

/* 1 for one class, 0 for the others. */
static onnx_value unit(const struct coupling *c, size_t class) {
  const int64_t classes = (int64_t)c->classes;
  for (size_t i = 0; i < c->classes; i++)
    c->one[i] = i == class;
  return onnx_doubles(c->graph, 1, &classes, c->one);
}

/* The rows of Q. In `all`, the pairs' probabilities are followed by their complements and a column of zeros. */
static void make_rows(const struct coupling *c, onnx_value all) {
  struct onnx_graph *graph = c->graph;
  size_t classes = c->classes, pairs = classes * (classes - 1) / 2;
  for (size_t t = 0; t < classes; t++) {
    for (size_t j = 0; j < classes; j++) {
      size_t low = t < j ? t : j, high = t < j ? j : t, pair = low * (2 * classes - low - 1) / 2 + high - low - 1;
      c->picked[j] = (uint32_t)(t == j ? 2 * pairs : pair + (t < j ? 0 : pairs));           /* r_tj */
      c->picked[classes + j] = (uint32_t)(t == j ? 2 * pairs : pair + (t < j ? pairs : 0)); /* r_jt */
    }
    onnx_value for_it = pick(graph, all, classes, c->picked), against = pick(graph, all, classes, c->picked + classes);
    onnx_value own = sum(graph, ONNX(graph, "Mul", against, against));
    c->rows[t] = ONNX(graph, "Sub", ONNX(graph, "Mul", own, unit(c, t)), ONNX(graph, "Mul", against, for_it));
  }
}

/* One pass over all classes, for the rows that are not there yet: the loop's body. */
static void improve(const struct coupling *c, onnx_value p) {
  struct onnx_graph *graph = c->graph;
  const double near = 0.005 / (double)c->classes;
  onnx_value start = p, one = onnx_double(graph, 1), two = onnx_double(graph, 2);
  for (size_t t = 0; t < c->classes; t++)
    c->parts[t] = sum(graph, ONNX(graph, "Mul", c->rows[t], p));
  onnx_value qp = beside(graph, c->classes, c->parts), pqp = sum(graph, ONNX(graph, "Mul", p, qp));
  onnx_value error = largest(graph, ONNX(graph, "Abs", ONNX(graph, "Sub", qp, pqp)));
  onnx_value far = ONNX(graph, "Not", ONNX(graph, "Less", error, onnx_double(graph, near)));
  for (uint32_t t = 0; t < c->classes; t++) {
    onnx_value own = pick(graph, c->rows[t], 1, &t), its = pick(graph, qp, 1, &t);
    onnx_value step = ONNX(graph, "Div", ONNX(graph, "Sub", pqp, its), own), whole = ONNX(graph, "Add", one, step);
    onnx_value gain = ONNX(graph, "Add", ONNX(graph, "Mul", step, own), ONNX(graph, "Mul", two, its));
    pqp = ONNX(graph, "Add", pqp, ONNX(graph, "Mul", step, gain));
    pqp = ONNX(graph, "Div", ONNX(graph, "Div", pqp, whole), whole);
    qp = ONNX(graph, "Div", ONNX(graph, "Add", qp, ONNX(graph, "Mul", step, c->rows[t])), whole);
    p = ONNX(graph, "Div", ONNX(graph, "Add", p, ONNX(graph, "Mul", step, unit(c, t))), whole);
  }
  onnx_value left =
      ONNX_NODE(graph, "ReduceSum", ONNX_ATTRIBUTES(ONNX_INTEGER("keepdims", 0)), onnx_cast(graph, far, ONNX_FLOAT));
  onnx_body_result(graph, ONNX(graph, "Greater", left, onnx_float(graph, 0)), ONNX_BOOL);
  onnx_body_result(graph, ONNX(graph, "Where", far, p, start), ONNX_DOUBLE);
}

static void couple_rows(const struct coupling *c, onnx_value x, onnx_value *made) {
  enum { PASSES = 100 };
  struct onnx_graph *graph = c->graph;
  size_t classes = c->classes;
  onnx_value nothing = ONNX(graph, "Mul", pick(graph, x, 1, &(uint32_t){0}), onnx_double(graph, 0));
  make_rows(c, beside(graph, 3, (onnx_value[]){x, ONNX(graph, "Sub", onnx_double(graph, 1), x), nothing}));
  for (size_t i = 0; i < classes; i++)
    c->parts[i] = ONNX(graph, "Add", nothing, onnx_double(graph, 1 / (double)classes));
  onnx_value start = beside(graph, classes, c->parts);
  onnx_value p = onnx_body_begin(graph, ONNX_DOUBLE);
  improve(c, p);
  *made = onnx_body_loop(graph, classes > PASSES ? (int64_t)classes : PASSES, start);
}

static onnx_value couple(struct onnx_graph *graph, onnx_value x, size_t classes) {
  enum tutti_status status;
  tutti_context *context = onnx_graph_context(graph);
  struct coupling c = {.graph = graph, .classes = classes};
  onnx_value made = NULL;
  if (onnx_graph_failed(graph))
    return NULL;
  TUTTI_TRY_OUT(context, tutti_alloc(context, classes, sizeof *c.rows, &c.rows));
  TUTTI_TRY_OUT(context, tutti_alloc(context, classes, sizeof *c.parts, &c.parts));
  TUTTI_TRY_OUT(context, tutti_alloc(context, classes, sizeof *c.one, &c.one));
  TUTTI_TRY_OUT(context, tutti_alloc(context, classes, 2 * sizeof *c.picked, &c.picked));
  couple_rows(&c, x, &made);
out:
  onnx_graph_fail(graph, status);
  tutti_free(c.rows);
  tutti_free(c.parts);
  tutti_free(c.one);
  tutti_free(c.picked);
  return made;
}

/* --- terms --- */

/* Parts of one row become as high as the others: the concatenation does not repeat them. */
static void raise_rows(struct onnx_graph *graph, const tutti_formula *formula, const struct tutti_formula_term *term,
                       onnx_value *parts) {
  size_t whole = 0;
  while (whole < term->count && tutti_formula_at(formula, term->from[whole])->rows == 1)
    whole++;
  if (whole == term->count)
    return;
  onnx_value nothing = ONNX(graph, "Mul", pick(graph, parts[whole], 1, &(uint32_t){0}), onnx_double(graph, 0));
  for (size_t i = 0; i < term->count; i++)
    if (tutti_formula_at(formula, term->from[i])->rows == 1)
      parts[i] = ONNX(graph, "Add", parts[i], nothing);
}

/* The ops that ONNX has, too. */
static const char *const operators[TUTTI_FORMULA_OPS] = {
    [TUTTI_FORMULA_ADD] = "Add",       [TUTTI_FORMULA_SUBTRACT] = "Sub", [TUTTI_FORMULA_MULTIPLY] = "Mul",
    [TUTTI_FORMULA_DIVIDE] = "Div",    [TUTTI_FORMULA_LEAST] = "Min",    [TUTTI_FORMULA_MOST] = "Max",
    [TUTTI_FORMULA_EXP] = "Exp",       [TUTTI_FORMULA_LOG] = "Log",      [TUTTI_FORMULA_SQRT] = "Sqrt",
    [TUTTI_FORMULA_PRODUCT] = "MatMul"};

static onnx_value value_of(struct onnx_graph *graph, const tutti_formula *formula,
                           const struct tutti_formula_term *term, const onnx_value *values, onnx_value *parts) {
  for (size_t i = 0; i < term->count; i++)
    parts[i] = values[term->from[i]];
  switch (term->op) {
  case TUTTI_FORMULA_CONSTANT:
    return constant(graph, term);
  case TUTTI_FORMULA_ABOVE:
    return onnx_cast(graph, ONNX(graph, "Greater", parts[0], parts[1]), ONNX_DOUBLE);
  case TUTTI_FORMULA_SUM:
    return sum(graph, parts[0]);
  case TUTTI_FORMULA_LARGEST:
    return largest(graph, parts[0]);
  case TUTTI_FORMULA_BESIDE:
    raise_rows(graph, formula, term, parts);
    return beside(graph, term->count, parts);
  case TUTTI_FORMULA_COLUMNS:
    return pick(graph, parts[0], term->columns, term->picked);
  case TUTTI_FORMULA_TREES:
    return grow(graph, parts[0], term->trees);
  case TUTTI_FORMULA_COUPLE:
    return couple(graph, parts[0], term->columns);
  default:
    return onnx_node(graph, operators[term->op], NULL, term->count, parts);
  }
}

onnx_value onnx_of_each(struct onnx_graph *graph, onnx_value value, onnx_value x) {
  return ONNX(graph, "Add", value, ONNX(graph, "Mul", sum(graph, x), onnx_double(graph, 0)));
}

void onnx_formula(struct onnx_graph *graph, const tutti_formula *formula, const onnx_value *inputs,
                  onnx_value *values) {
  tutti_context *context = onnx_graph_context(graph);
  size_t count = tutti_formula_count(formula), most = 1;
  onnx_value *parts = NULL;
  for (size_t i = 0; i < count; i++)
    most = tutti_formula_at(formula, i)->count > most ? tutti_formula_at(formula, i)->count : most;
  if (!onnx_graph_failed(graph))
    onnx_graph_fail(graph, tutti_alloc(context, most, sizeof *parts, &parts));
  for (size_t i = 0; parts && i < count && !onnx_graph_failed(graph); i++) {
    const struct tutti_formula_term *term = tutti_formula_at(formula, i);
    values[i] = term->op == TUTTI_FORMULA_INPUT ? *inputs++ : value_of(graph, formula, term, values, parts);
  }
  tutti_free(parts);
}
