/* backend_gradients.c - the gradient of the loss in the weights, against finite differences. */
#include "backend_impl.h"

static bool has_gradient(const struct conform *conform) {
  const struct tutti_backend_ops *ops = conform->descriptor->ops;
  return offsetof(struct tutti_backend_ops, gradient) < ops->size && ops->gradient;
}

static double loss_at(struct conform *conform, const struct subject *subject, const tutti_tensors *weights) {
  tutti_tensors *gradient = NULL;
  double loss = NAN;
  TRY(conform, tutti_backend_gradient(conform->context, subject->backend, &subject->job, weights, &loss, &gradient));
  tutti_tensors_destroy(gradient);
  REQUIRE(conform, isfinite(loss), "%s: the loss is %g", subject->example.name, loss);
  return loss;
}

/* The better of differences at several steps: rounding spoils the small ones, curvature and kinks the large. */
static bool slopes_agree(struct conform *conform, const struct subject *subject, const tutti_tensors *weights,
                         float *number, double slope, double *closest) {
  static const float steps[] = {3e-2f, 1e-2f, 3e-3f, 1e-3f};
  float at = *number;
  bool agree = false;
  *closest = NAN;
  for (size_t i = 0; i < 4 && !agree; i++) {
    volatile float high = at + steps[i], low = at - steps[i];
    *number = high;
    double above = loss_at(conform, subject, weights);
    *number = low;
    double below = loss_at(conform, subject, weights), difference = (above - below) / ((double)high - (double)low);
    agree = conform_close(difference, slope, 2e-2, 5e-4);
    if (!(fabs(difference - slope) >= fabs(*closest - slope)))
      *closest = difference;
  }
  *number = at;
  return agree;
}

/* Weights at which gradients are not small: normal draws for all that is trained, by whatever name. */
static void scatter(struct tutti_tensor *tensor, uint64_t index) {
  struct tutti_random random;
  tutti_random_init(&random, WORLD_SEED, "conform weights", index);
  tutti_random_fill_normal(&random, tensor->bytes / sizeof(float), 0, 0.5f, tensor->data);
}

static bool is_detached(const struct subject *subject, const char *name) {
  const char *label = subject->example.detached;
  return label && strncmp(name, label, strlen(label)) == 0 && name[strlen(label)] == '/';
}

static void check_tensor(struct conform *conform, const struct subject *subject, const tutti_tensors *weights,
                         const struct tutti_tensor *gradient) {
  enum { PROBED = 6 };
  const struct tutti_tensor *tensor = tutti_tensors_find(weights, gradient->name);
  size_t count = tensor->bytes / sizeof(float), step = count > PROBED ? count / PROBED : 1;
  const float *slopes = gradient->data;
  double difference;
  for (size_t i = 0; i < count; i += step) {
    if (is_detached(subject, gradient->name)) {
      REQUIRE(conform, slopes[i] == 0, "%s: %s gets a gradient of %g", subject->example.name, gradient->name,
              (double)slopes[i]);
      continue;
    }
    REQUIRE(conform, slopes_agree(conform, subject, weights, (float *)tensor->data + i, (double)slopes[i], &difference),
            "%s: the derivative by %s[%zu] is given as %g, by differences it is %g", subject->example.name,
            gradient->name, i, (double)slopes[i], difference);
  }
}

static void check_example_gradient(struct conform *conform, const struct subject *subject) {
  struct tutti_outcome outcome = finish(conform, subject);
  tutti_tensors *gradient = NULL;
  double loss;
  TRY(conform,
      tutti_backend_gradient(conform->context, subject->backend, &subject->job, outcome.weights, &loss, &gradient));
  REQUIRE(conform, tutti_tensors_count(gradient) > 0, "%s: no gradients", subject->example.name);
  for (size_t i = 0; i < tutti_tensors_count(gradient); i++) {
    const struct tutti_tensor *slopes = tutti_tensors_at(gradient, i);
    struct tutti_tensor *tensor = (struct tutti_tensor *)(uintptr_t)tutti_tensors_find(outcome.weights, slopes->name);
    REQUIRE(conform,
            tensor && tensor->element == TUTTI_F32 && slopes->element == TUTTI_F32 && tensor->bytes == slopes->bytes,
            "%s: gradient %s is not like the weights", subject->example.name, slopes->name);
    scatter(tensor, i);
  }
  tutti_tensors_destroy(gradient);
  TRY(conform,
      tutti_backend_gradient(conform->context, subject->backend, &subject->job, outcome.weights, &loss, &gradient));
  for (size_t i = 0; i < tutti_tensors_count(gradient); i++)
    check_tensor(conform, subject, outcome.weights, tutti_tensors_at(gradient, i));
  tutti_tensors_destroy(gradient);
  tutti_tensors_destroy(outcome.weights);
}

void check_gradients(struct conform *conform) {
  struct subject subject;
  size_t checked = 0;
  if (!has_gradient(conform))
    conform_skip(conform, "it gives none");
  if (conform->rough)
    conform_skip(conform, "its losses are rounded too much for differences");
  for (size_t i = 0; i < example_count(); i++)
    if (open_example(conform, &subject, i)) {
      check_example_gradient(conform, &subject);
      close_subject(&subject);
      checked++;
    }
  snprintf(conform->why, sizeof conform->why, "%zu small networks", checked);
}
