/* stacking_impl.h - convex weights of a pool's models that minimise a smooth loss. Each model is a column of features,
   the mixture's features are their weighted sums, and the loss is a mean over rows of a function of these features. */
#ifndef TUTTI_SELECTOR_STACKING_IMPL_H
#define TUTTI_SELECTOR_STACKING_IMPL_H

#include <tutti/plugin.h>

/* The loss at a point of a line, and its derivatives along the line. */
struct stacking_point {
  double value, slope, curvature;
};

struct stacking_mixture;

/* One kind of loss. */
struct stacking_form {
  /* Features of a model, column[values]. */
  void (*column)(const struct stacking_mixture *mixture, size_t model, double *column);
  /* The sum of losses at mean + t direction. */
  struct stacking_point (*at)(const struct stacking_mixture *mixture, double t);
  /* The loss's derivatives with respect to the mean's features, slopes[values]. */
  void (*slopes)(const struct stacking_mixture *mixture, double *slopes);
};

struct stacking_mixture {
  const struct stacking_form *form;
  const struct tutti_pool *pool;
  size_t values, count;      /* features of a column, row-major; what the sum of losses is divided by */
  double *mean, *direction;  /* [values]: weighted sum of columns; difference of two columns */
  double *densities, *shift; /* nll of regression: [models][rows], divided by exp(shift[rows]), the row's largest */
};

/* Start with an empty mixture. Models whose own[models] is NaN are never used. `loss`: nll, brier or mse; `moments`:
   nll of one Gaussian with the mixture's moments. Call stacking_mixture_clear even after a failure. */
enum tutti_status stacking_mixture_init(tutti_context *context, const struct tutti_pool *pool, enum tutti_loss loss,
                                        bool moments, const double *own, struct stacking_mixture *mixture);
void stacking_mixture_clear(struct stacking_mixture *mixture);
/* The mean loss at mean + t direction; its derivatives with respect to the mean's features, slopes[values]. */
struct stacking_point stacking_mixture_at(const struct stacking_mixture *mixture, double t);
void stacking_mixture_slopes(const struct stacking_mixture *mixture, double *slopes);

/* --- fitting ------------------------------------------------------------------------------------------------------ */

struct stacking_options {
  double tolerance; /* end when the loss is at most this far above its minimum */
  double least;     /* weight below which a member is dropped */
  size_t members;   /* members, at most */
  size_t steps;     /* shifts of weight from one member to another, at most */
};

struct stacking_member {
  size_t model;
  double weight, gradient; /* gradient: of the loss by the weight */
  double *column;          /* [values] */
};

/* A model was let in or dropped; `loss` is the loss after the weights were fitted again. */
struct stacking_event {
  size_t model;
  bool dropped;
  double amount; /* let in: how fast the loss fell with its weight at first; dropped: its weight */
  double loss;
};

struct stacking_fit {
  struct stacking_mixture mixture;
  struct stacking_options options;
  const double *own; /* [models]: NaN for models that must not be taken */
  size_t members, room, steps;
  struct stacking_member *member; /* [members] of [room]; the columns of the others are spare */
  double *slopes, *scratch;       /* [values] */
  double loss;
  double gap; /* for a convex loss: the minimum is at most this much lower */
  size_t events, event_room;
  struct stacking_event *event; /* [events] */
};

/* Fit the weights; all weight starts at model `first`. The caller has set mixture, options and own.
   TUTTI_ERROR_CANCELLED. */
enum tutti_status stacking_fit_run(tutti_context *context, struct stacking_fit *fit, size_t first);
/* Frees all, the mixture too. */
void stacking_fit_clear(struct stacking_fit *fit);

#endif
