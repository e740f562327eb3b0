/* functions.c - the one- and two-dimensional functions on which the NOMU paper (Heiss et al., ICML 2022) compares
   regressions. They live on [-1, 1]^d and are scaled to [-1, 1] by their extremes on the original box. Goldstein-Price
   keeps the published code's maximum of 1e6; the function exceeds it, so its range ends at 1.03. */
#include "functions.h"

#include <math.h>

static const double pi = 3.14159265358979323846;

static double square(double x) { return x * x; }

/* v from [low, high] to [-1, 1]; x from [-1, 1] to [low, high]. */
static double scaled(double v, double high, double low) { return 2 * (v - (high + low) / 2) / (high - low); }
static double stretched(double x, double low, double high) { return low + (x + 1) / 2 * (high - low); }

/* --- one variable --- */

static double f_abs(const double *x) { return fabs(x[0] - 0.4) / 0.7 - 1; }
static double f_step(const double *x) { return x[0] < 0 ? 1 : -1; }
static double f_kink(const double *x) {
  /* extremes: 1 at 0.4, -1.8 at -1 */
  return scaled((x[0] < 0.4 ? 2 : -3) * (x[0] - 0.4) + 1, 1, -1.8);
}
static double f_square(const double *x) { return 2 * square(x[0]) - 1; }
static double f_cubic(const double *x) { return x[0] * x[0] * x[0]; }
static double f_sine1(const double *x) { return sin(10 / (x[0] - 1.2)); }
static double f_sine2(const double *x) { return -sin(5.5 * pi * x[0]) / 5 + 0.8 * x[0]; }
static double f_sine3(const double *x) {
  double wave = 0.5 * sin(exp(2.7 * x[0]) + 0.1) * pow((x[0] + 1) / 2, 0.9);
  return 2 * (wave + 0.5 * x[0] + 0.25 * square(x[0] + 1) - 0.7324646) / 2.46492193;
}
static double f_forrester(const double *x) {
  return 2 * (square(3 * (x[0] + 1) - 2) * sin(6 * (x[0] + 1) - 4) + 6.02074) / (16 * sin(8) + 6.02074) - 1;
}

static double levy(size_t dimensions, const double *x) {
  double last = 1 + (x[dimensions - 1] - 1) / 4, sum = square(sin(pi * (1 + (x[0] - 1) / 4)));
  for (size_t i = 0; i + 1 < dimensions; i++) {
    double w = 1 + (x[i] - 1) / 4;
    sum += square(w - 1) * (1 + 10 * square(sin(pi * w + 1)));
  }
  return sum + square(last - 1) * (1 + square(sin(2 * pi * last)));
}
static double f_levy(const double *x) {
  double low = -10, at = 10 * x[0];
  return scaled(levy(1, &at), levy(1, &low), 0);
}

/* --- two variables --- */

static double f_sphere2d(const double *x) { return square(x[0]) + square(x[1]) - 1; }
static double f_levy2d(const double *x) {
  double low[] = {-10, -10}, at[] = {10 * x[0], 10 * x[1]};
  return scaled(levy(2, at), levy(2, low), 0);
}
static double f_g2d(const double *x) {
  double u = stretched(x[0], 0, 1), v = stretched(x[1], 0, 1);
  return scaled((fabs(4 * u - 2) - 0.5) / 0.5 * fabs(4 * v - 2), 6, -2);
}
static double f_goldstein2d(const double *x) {
  double u = 2 * x[0], v = 2 * x[1];
  double a = 1 + square(u + v + 1) * (19 - 14 * u + 3 * u * u - 14 * v + 6 * u * v + 3 * v * v);
  double b = 30 + square(2 * u - 3 * v) * (18 - 32 * u + 12 * u * u + 48 * v - 36 * u * v + 27 * v * v);
  return scaled(a * b, 1e6, 3);
}
static double f_styblinski2d(const double *x) {
  double sum = 0;
  for (int i = 0; i < 2; i++) {
    double u = 5 * x[i];
    sum += square(square(u)) - 16 * u * u + 5 * u;
  }
  return scaled(sum / 2, 250, -78.332);
}
static double f_perm2d(const double *x) {
  double u = 2 * x[0], v = 2 * x[1], sum = 0;
  for (int i = 1; i <= 2; i++)
    sum += square((1 + 0.5) * (pow(u, i) - 1) + (pow(2, i) + 0.5) * (pow(v / 2, i) - 1));
  return scaled(sum, 110.5, 0);
}
static double f_branin2d(const double *x) {
  double u = stretched(x[0], -5, 10), v = stretched(x[1], 0, 15);
  double value = square(v - 5.1 / (4 * pi * pi) * u * u + 5 / pi * u - 6) + 10 * (1 - 1 / (8 * pi)) * cos(u) + 10;
  return scaled(value, 308.12909601160663, 0.397887);
}
static double f_beale2d(const double *x) {
  double u = 4.5 * x[0], v = 4.5 * x[1];
  double value = square(1.5 - u + u * v) + square(2.25 - u + u * v * v) + square(2.625 - u + u * v * v * v);
  return scaled(value, 181853.61328125, 0);
}
static double f_rosenbrock2d(const double *x) {
  double u = stretched(x[0], -5, 10), v = stretched(x[1], -5, 10);
  return scaled(100 * square(v - u * u) + square(u - 1), 1102581, 0);
}
static double f_camel2d(const double *x) {
  double u = 2 * x[0], v = 2 * x[1];
  return scaled(2 * u * u - 1.05 * pow(u, 4) + pow(u, 6) / 6 + u * v + v * v, 9.866666666666665, 0);
}
static double f_bukin2d(const double *x) {
  double u = stretched(x[0], -15, -5), v = stretched(x[1], -3, 3);
  return scaled(100 * sqrt(fabs(v - 0.01 * u * u)) + 0.01 * fabs(u + 10), 229.178784747792, 0);
}

/* --- all of them: name, variables --- */

#define FUNCTIONS(X)                                                                                                   \
  X(abs, 1)                                                                                                            \
  X(step, 1)                                                                                                           \
  X(kink, 1)                                                                                                           \
  X(square, 1)                                                                                                         \
  X(cubic, 1)                                                                                                          \
  X(sine1, 1)                                                                                                          \
  X(sine2, 1)                                                                                                          \
  X(sine3, 1)                                                                                                          \
  X(forrester, 1)                                                                                                      \
  X(levy, 1)                                                                                                           \
  X(sphere2d, 2)                                                                                                       \
  X(levy2d, 2)                                                                                                         \
  X(g2d, 2)                                                                                                            \
  X(goldstein2d, 2)                                                                                                    \
  X(styblinski2d, 2)                                                                                                   \
  X(perm2d, 2)                                                                                                         \
  X(branin2d, 2)                                                                                                       \
  X(beale2d, 2)                                                                                                        \
  X(rosenbrock2d, 2)                                                                                                   \
  X(camel2d, 2)                                                                                                        \
  X(bukin2d, 2)

#define NAME(name, dimensions) #name,
const char *const nomu_names[] = {FUNCTIONS(NAME) NULL};

#define ENTRY(name, dimensions) {dimensions, f_##name},
static const struct {
  size_t dimensions;
  double (*value)(const double *x);
} functions[] = {FUNCTIONS(ENTRY)};

size_t nomu_dimensions(size_t function) { return functions[function].dimensions; }

double nomu_value(size_t function, const double *x) { return functions[function].value(x); }
