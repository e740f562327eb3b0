/* cpu_reference.h - networks evaluated one number at a time in double precision, to hold fast kernels against.
   Gradients are central differences of the loss. */
#ifndef CPU_REFERENCE_H
#define CPU_REFERENCE_H

#include <tutti/plugin.h>

enum { REFERENCE_LAYERS = 256, REFERENCE_ARRAYS = 512 };

/* A named array of weights, row-major. */
struct reference_array {
  const char *name; /* borrowed from the tensors */
  size_t count;
  double *values;
};

struct reference {
  const tutti_network *network;
  const struct tutti_task *task;
  size_t rows, artificial;  /* artificial rows stand behind the others */
  const double *inputs;     /* [rows + artificial][features] */
  const double *targets;    /* [rows][outputs], regression */
  const int32_t *labels;    /* [rows], classification */
  double l2;                /* where the layer has none of its own */
  bool l2_biases, training; /* training: batch norm by the batch, detached values as they were first */
  struct reference_array arrays[REFERENCE_ARRAYS];
  size_t array_count;
  double *values[REFERENCE_LAYERS]; /* [rows + artificial][width] */
  double *detached[REFERENCE_LAYERS];
  double *first_noise; /* [rows][outputs]: head-nomu's variances as they were first, for terms without their gradient */
};

/* Take the weights over in double precision. */
void reference_create(struct reference *reference, const tutti_network *network, const struct tutti_task *task,
                      const tutti_tensors *weights);
void reference_destroy(struct reference *reference);
struct reference_array *reference_find(struct reference *reference, const char *label, const char *part);
/* Evaluate all layers; then the loss (with L2), or the predictions as backends lay them out. */
void reference_forward(struct reference *reference);
double reference_loss(struct reference *reference);
void reference_predict(struct reference *reference, double *out);
/* dLoss / d array[index], by central differences. */
double reference_derivative(struct reference *reference, struct reference_array *array, size_t index);
/* y of a layer that moves a window over images or sums over their pixels (cpu_reference_image.c); false: it is none. */
bool reference_image(const struct tutti_layer *layer, const struct tutti_layer *source, size_t rows, const double *x,
                     const double *weight, const double *bias, double *y);
double reference_activation(enum tutti_activation activation, double x);

#endif
