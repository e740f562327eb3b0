/* onnx_quantile.c - quantiles of mixtures of Gaussians in the graph: Newton's steps in a bracket, as
   engine/evaluation/quantile.c makes them, for all rows at once in a loop. */
#include "onnx_impl.h"

#include <math.h>
#include <tutti/metrics.h>

/* What is searched: of mixtures [rows, outputs] with members along axis 2. */
struct search {
  struct onnx_graph *graph;
  const struct onnx_mixture *mixture;
  double p;
  onnx_value least; /* [rows, outputs]: the least deviation of a member, by which steps are judged */
};

/* Over the members: ReduceMin or ReduceMax. */
static onnx_value reduced(struct onnx_graph *graph, const char *operator_, onnx_value x) {
  return ONNX_NODE(graph, operator_,
                   ONNX_ATTRIBUTES(ONNX_INTEGERS("axes", 1, &(int64_t){2}), ONNX_INTEGER("keepdims", 0)), x);
}

/* The sum over an axis, which goes. */
static onnx_value sum_over(struct onnx_graph *graph, onnx_value x, int64_t axis) {
  return ONNX_NODE(graph, "ReduceSum", ONNX_ATTRIBUTES(ONNX_INTEGER("keepdims", 0)), x, onnx_integers(graph, 1, &axis));
}

static onnx_value weighted(const struct search *s, onnx_value x) {
  return sum_over(s->graph, ONNX(s->graph, "Mul", x, s->mixture->weights), 2);
}

static onnx_value unsqueezed(struct onnx_graph *graph, onnx_value x, int64_t axis) {
  return ONNX(graph, "Unsqueeze", x, onnx_integers(graph, 1, &axis));
}

/* The distribution function of the standard normal at z [rows, outputs, members], in double: ONNX's Erf is of floats
   in some runtimes. By the midpoint rule with the correction for its pole, for a >= 0,

     erfc(a) = 2 h a / pi exp(-a^2) sum_n exp(-t_n^2) / (a^2 + t_n^2) + 2 / (1 + exp(2 pi a / h)),  t_n = (n + 1/2) h,

   whose error is of the order exp(-(pi / h)^2): 1e-17 for h = 1/2 (Chiarella and Reichel, 1968; Hunter and Regan,
   1972). */
static onnx_value distribution(struct onnx_graph *graph, onnx_value z) {
  enum { NODES = 13 };
  static const double h = 0.5;
  static const int64_t count = NODES;
  double node[NODES], factor[NODES];
  for (int n = 0; n < NODES; n++) {
    node[n] = (n + 0.5) * h * (n + 0.5) * h;
    factor[n] = 2 * h / M_PI * exp(-node[n]);
  }
  onnx_value one = onnx_double(graph, 1), two = onnx_double(graph, 2);
  onnx_value a = ONNX(graph, "Mul", ONNX(graph, "Abs", z), onnx_double(graph, M_SQRT1_2));
  onnx_value square = ONNX(graph, "Mul", a, a);
  onnx_value below = ONNX(graph, "Add", unsqueezed(graph, square, 3), onnx_doubles(graph, 1, &count, node));
  onnx_value terms = sum_over(graph, ONNX(graph, "Div", onnx_doubles(graph, 1, &count, factor), below), 3);
  onnx_value bell = ONNX(graph, "Exp", ONNX(graph, "Neg", square));
  onnx_value pole = ONNX(graph, "Exp", ONNX(graph, "Mul", a, onnx_double(graph, 2 * M_PI / h)));
  onnx_value erfc = ONNX(graph, "Add", ONNX(graph, "Mul", ONNX(graph, "Mul", a, bell), terms),
                         ONNX(graph, "Div", two, ONNX(graph, "Add", one, pole)));
  onnx_value tail = ONNX(graph, "Div", erfc, two);
  return ONNX(graph, "Where", ONNX(graph, "Less", z, onnx_double(graph, 0)), tail, ONNX(graph, "Sub", one, tail));
}

/* One step from x: the loop's body. The value that goes round is [rows, 3 outputs]: low, high and x. */
static void step(const struct search *s, onnx_value state) {
  static const double inverse_root_two_pi = 0.39894228040143267794, precision = 1e-12;
  struct onnx_graph *graph = s->graph;
  const struct onnx_mixture *mixture = s->mixture;
  int64_t outputs = (int64_t)mixture->outputs;
  onnx_value low = onnx_columns(graph, state, 0, outputs), high = onnx_columns(graph, state, outputs, 2 * outputs);
  onnx_value x = onnx_columns(graph, state, 2 * outputs, 3 * outputs);
  onnx_value z = ONNX(graph, "Div", ONNX(graph, "Sub", unsqueezed(graph, x, 2), mixture->means), mixture->deviations);
  onnx_value bell = ONNX(graph, "Exp", ONNX(graph, "Mul", ONNX(graph, "Mul", z, z), onnx_double(graph, -0.5)));
  bell = ONNX(graph, "Mul", bell, onnx_double(graph, inverse_root_two_pi));
  onnx_value density = weighted(s, ONNX(graph, "Div", bell, mixture->deviations));
  onnx_value above = ONNX(graph, "Sub", weighted(s, distribution(graph, z)), onnx_double(graph, s->p));
  onnx_value under = ONNX(graph, "Less", above, onnx_double(graph, 0));
  low = ONNX(graph, "Where", under, x, low);
  high = ONNX(graph, "Where", under, high, x);
  onnx_value next = ONNX(graph, "Sub", x, ONNX(graph, "Div", above, density));
  onnx_value inside = ONNX(graph, "And", ONNX(graph, "Greater", next, low), ONNX(graph, "Less", next, high));
  onnx_value width = ONNX(graph, "Sub", high, low);
  next =
      ONNX(graph, "Where", inside, next, ONNX(graph, "Add", low, ONNX(graph, "Mul", width, onnx_double(graph, 0.5))));
  onnx_value near = ONNX(graph, "Mul", s->least, onnx_double(graph, precision));
  onnx_value moved = ONNX(graph, "Greater", ONNX(graph, "Abs", ONNX(graph, "Sub", next, x)), near);
  onnx_value left =
      ONNX_NODE(graph, "ReduceSum", ONNX_ATTRIBUTES(ONNX_INTEGER("keepdims", 0)), onnx_cast(graph, moved, ONNX_FLOAT));
  onnx_body_result(graph, ONNX(graph, "Greater", left, onnx_float(graph, 0)), ONNX_BOOL);
  onnx_body_result(graph, ONNX_NODE(graph, "Concat", ONNX_ATTRIBUTES(ONNX_INTEGER("axis", 1)), low, high, next),
                   ONNX_DOUBLE);
}

onnx_value onnx_quantile(struct onnx_graph *graph, const struct onnx_mixture *mixture, double p) {
  enum { PASSES = 200 };
  int64_t outputs = (int64_t)mixture->outputs;
  struct search s = {graph, mixture, p, reduced(graph, "ReduceMin", mixture->deviations)};
  /* It lies between the members' own quantiles. */
  onnx_value own = ONNX(graph, "Mul", mixture->deviations, onnx_double(graph, tutti_normal_quantile(p)));
  own = ONNX(graph, "Add", own, mixture->means);
  onnx_value start = ONNX_NODE(graph, "Concat", ONNX_ATTRIBUTES(ONNX_INTEGER("axis", 1)),
                               reduced(graph, "ReduceMin", own), reduced(graph, "ReduceMax", own), weighted(&s, own));
  step(&s, onnx_body_begin(graph, ONNX_DOUBLE));
  return onnx_columns(graph, onnx_body_loop(graph, PASSES, start), 2 * outputs, 3 * outputs);
}
