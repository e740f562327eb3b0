/* stacking_fit.c - finds the weights on the simplex that minimise a loss, letting models in one by one.

   Pairwise Frank-Wolfe steps shift weight between two members at a time: from the member whose weight lowers the loss
   least to the one whose weight lowers it most, as far as the loss falls (Newton's method on the line, kept in its
   bracket). A weight that reaches zero is exactly zero. When the members' weights are fitted, the next model is let in:
   the one outside with which the loss would fall fastest. For a convex loss f with the gradient g at w, f(w) - min f <=
   sum_k w_k g_k - min_k g_k. The fit is done when this gap is small, and the gap says how good it is. */
#include "stacking_impl.h"

/* Maximum of evaluations on a line; weights are then known to 2^-40 of their range. */
enum { LINE_STEPS = 40 };

/* Several lanes, since a single running sum would wait for itself at every element. */
static double dot(size_t count, const double *a, const double *b) {
  enum { LANES = 16 };
  double lanes[LANES] = {0}, sum = 0;
  size_t whole = count - count % LANES;
  for (size_t i = 0; i < whole; i += LANES)
    for (size_t lane = 0; lane < LANES; lane++)
      lanes[lane] += a[i + lane] * b[i + lane];
  for (size_t i = whole; i < count; i++)
    sum += a[i] * b[i];
  for (size_t lane = 0; lane < LANES; lane++)
    sum += lanes[lane];
  return sum;
}

void stacking_fit_clear(struct stacking_fit *fit) {
  for (size_t m = 0; m < fit->room; m++)
    tutti_free(fit->member[m].column);
  tutti_free(fit->member);
  tutti_free(fit->slopes);
  tutti_free(fit->scratch);
  tutti_free(fit->event);
  stacking_mixture_clear(&fit->mixture);
}

/* --- members ------------------------------------------------------------------------------------------------------ */

static enum tutti_status enter(tutti_context *context, struct stacking_fit *fit, size_t model, double weight) {
  const struct stacking_mixture *mixture = &fit->mixture;
  if (fit->members == fit->room) {
    size_t room = fit->room ? 2 * fit->room : 16;
    TUTTI_TRY(context, tutti_realloc(context, fit->room, room, sizeof *fit->member, &fit->member));
    fit->room = room;
  }
  struct stacking_member *member = &fit->member[fit->members];
  if (!member->column)
    TUTTI_TRY(context, tutti_alloc(context, mixture->values, sizeof(double), &member->column));
  fit->members++;
  member->model = model;
  member->weight = weight;
  mixture->form->column(mixture, model, member->column);
  return TUTTI_OK;
}

/* Remove a member. Those after it move up, and its column becomes spare. */
static void leave(struct stacking_fit *fit, size_t index) {
  struct stacking_member gone = fit->member[index];
  fit->members--;
  for (size_t m = index; m < fit->members; m++)
    fit->member[m] = fit->member[m + 1];
  fit->member[fit->members] = gone;
}

/* Compute the mean afresh from weights that sum to one. This removes the rounding errors of the shifts. */
static void mix(struct stacking_fit *fit) {
  struct stacking_mixture *mixture = &fit->mixture;
  double total = 0;
  for (size_t m = 0; m < fit->members; m++)
    total += fit->member[m].weight;
  for (size_t i = 0; i < mixture->values; i++)
    mixture->mean[i] = mixture->direction[i] = 0;
  for (size_t m = 0; m < fit->members; m++) {
    struct stacking_member *member = &fit->member[m];
    member->weight /= total;
    for (size_t i = 0; i < mixture->values; i++)
      mixture->mean[i] += member->weight * member->column[i];
  }
  fit->loss = stacking_mixture_at(mixture, 0).value;
}

/* --- shifting weight ---------------------------------------------------------------------------------------------- */

/* Where along the direction, from 0 to `end`, the loss is lowest: where its slope changes sign. */
static double minimum_on_line(const struct stacking_mixture *mixture, struct stacking_point start, double end) {
  double low = 0, high = end, t = 0;
  struct stacking_point point = stacking_mixture_at(mixture, end);
  if (point.slope <= 0 && point.value <= start.value)
    return end;
  point = start;
  for (int i = 0; i < LINE_STEPS; i++) {
    double next = t - point.slope / point.curvature;
    if (!(next > low && next < high && point.curvature > 0))
      next = (low + high) / 2;
    double moved = fabs(next - t);
    t = next;
    if (moved <= ldexp(end, -LINE_STEPS))
      break;
    point = stacking_mixture_at(mixture, t);
    if (point.slope < 0)
      low = t;
    else
      high = t;
  }
  return t;
}

/* Shift weight from one member to another; false if the loss does not fall. */
static bool shift(struct stacking_fit *fit, struct stacking_member *from, struct stacking_member *to) {
  struct stacking_mixture *mixture = &fit->mixture;
  for (size_t i = 0; i < mixture->values; i++)
    mixture->direction[i] = to->column[i] - from->column[i];
  double t = minimum_on_line(mixture, stacking_mixture_at(mixture, 0), from->weight);
  double loss = stacking_mixture_at(mixture, t).value;
  if (!(loss < fit->loss))
    return false;
  for (size_t i = 0; i < mixture->values; i++)
    mixture->mean[i] += t * mixture->direction[i];
  from->weight = t < from->weight ? from->weight - t : 0;
  to->weight += t;
  fit->loss = loss;
  return true;
}

/* The loss's gradient with respect to the members' weights, and the weighted mean of the gradient. */
static double differentiate(struct stacking_fit *fit) {
  double level = 0;
  stacking_mixture_slopes(&fit->mixture, fit->slopes);
  for (size_t m = 0; m < fit->members; m++) {
    struct stacking_member *member = &fit->member[m];
    member->gradient = dot(fit->mixture.values, fit->slopes, member->column);
    level += member->weight * member->gradient;
  }
  return level;
}

/* Fit the members' weights until a shift gains less than the tolerance. Members whose weight has become zero leave. */
static enum tutti_status fit_members(tutti_context *context, struct stacking_fit *fit, double tolerance) {
  mix(fit);
  for (; fit->steps < fit->options.steps; fit->steps++) {
    struct stacking_member *to = fit->member, *from = NULL;
    double level = differentiate(fit);
    for (struct stacking_member *member = fit->member; member < fit->member + fit->members; member++) {
      if (member->gradient < to->gradient)
        to = member;
      if (member->weight > 0 && (!from || member->gradient > from->gradient))
        from = member;
    }
    if (!from || level - to->gradient <= tolerance || !shift(fit, from, to))
      break;
    if (tutti_cancelled(context))
      return TUTTI_FAIL(context, TUTTI_ERROR_CANCELLED, "the selection was cancelled after %zu steps", fit->steps);
  }
  for (size_t m = fit->members; m-- > 0;)
    if (!(fit->member[m].weight > 0))
      leave(fit, m);
  mix(fit);
  return TUTTI_OK;
}

/* --- letting in and dropping -------------------------------------------------------------------------------------- */

static enum tutti_status record(tutti_context *context, struct stacking_fit *fit, struct stacking_event event) {
  if (fit->events == fit->event_room) {
    size_t room = fit->event_room ? 2 * fit->event_room : 16;
    TUTTI_TRY(context, tutti_realloc(context, fit->events, room, sizeof *fit->event, &fit->event));
    fit->event_room = room;
  }
  event.loss = fit->loss;
  fit->event[fit->events++] = event;
  return TUTTI_OK;
}

/* The model with which the loss would fall fastest, the lowest on ties; also sets the gap. */
static size_t most_wanted(struct stacking_fit *fit) {
  const struct stacking_mixture *mixture = &fit->mixture;
  double level = differentiate(fit), lowest = INFINITY;
  size_t wanted = 0;
  for (size_t k = 0; k < mixture->pool->models; k++) {
    if (isnan(fit->own[k]))
      continue;
    mixture->form->column(mixture, k, fit->scratch);
    double gradient = dot(mixture->values, fit->slopes, fit->scratch);
    if (gradient < lowest) {
      lowest = gradient;
      wanted = k;
    }
  }
  fit->gap = level - lowest;
  return wanted;
}

static bool is_member(const struct stacking_fit *fit, size_t model) {
  for (size_t m = 0; m < fit->members; m++)
    if (fit->member[m].model == model)
      return true;
  return false;
}

/* How closely the members' weights are fitted in the end; the other half of the tolerance is for the models outside. */
static double finest(const struct stacking_fit *fit) { return fit->options.tolerance / 2; }

/* Let models in while there is something to gain. Until the last ones are in, the others' weights are fitted only to a
   tenth of the gap: a closer fit would be lost with the next model. */
static enum tutti_status let_in(tutti_context *context, struct stacking_fit *fit) {
  for (bool fine = true;;) {
    size_t wanted = most_wanted(fit);
    double before = fit->loss, gap = fit->gap;
    if (gap <= fit->options.tolerance || fit->steps >= fit->options.steps)
      return TUTTI_OK;
    if (is_member(fit, wanted) || fit->members >= fit->options.members) {
      if (fine)
        return TUTTI_OK;
      TUTTI_TRY(context, fit_members(context, fit, finest(fit)));
      fit->event[fit->events - 1].loss = fit->loss;
      fine = true;
      continue;
    }
    TUTTI_TRY(context, enter(context, fit, wanted, 0));
    TUTTI_TRY(context, fit_members(context, fit, fmax(gap / 10, finest(fit))));
    fine = gap / 10 <= finest(fit);
    if (!(fit->loss < before))
      return TUTTI_OK;
    TUTTI_TRY(context, record(context, fit, (struct stacking_event){.model = wanted, .amount = gap}));
  }
}

/* Drop the members with too little weight, the smallest first; fit the others again each time. */
static enum tutti_status drop(tutti_context *context, struct stacking_fit *fit) {
  while (fit->members > 1) {
    size_t smallest = 0;
    for (size_t m = 1; m < fit->members; m++)
      if (fit->member[m].weight < fit->member[smallest].weight)
        smallest = m;
    struct stacking_event event = {
        .model = fit->member[smallest].model, .dropped = true, .amount = fit->member[smallest].weight};
    if (event.amount >= fit->options.least)
      return TUTTI_OK;
    leave(fit, smallest);
    TUTTI_TRY(context, fit_members(context, fit, finest(fit)));
    TUTTI_TRY(context, record(context, fit, event));
  }
  return TUTTI_OK;
}

enum tutti_status stacking_fit_run(tutti_context *context, struct stacking_fit *fit, size_t first) {
  size_t values = fit->mixture.values;
  TUTTI_TRY(context, tutti_alloc(context, values, sizeof(double), &fit->slopes));
  TUTTI_TRY(context, tutti_alloc(context, values, sizeof(double), &fit->scratch));
  TUTTI_TRY(context, enter(context, fit, first, 1));
  mix(fit);
  TUTTI_TRY(context, record(context, fit, (struct stacking_event){.model = first}));
  TUTTI_TRY(context, let_in(context, fit));
  TUTTI_TRY(context, drop(context, fit));
  (void)most_wanted(fit);
  return TUTTI_OK;
}
