/* bfloat_rounded.h - what a number rounded to bfloat16 is, in plain arithmetic. */
#ifndef BFLOAT_ROUNDED_H
#define BFLOAT_ROUNDED_H

#include <math.h>

/* The nearest number with 8 binary digits, of two the even one; numbers that are not normal are 0. */
static inline float rounded(float x) {
  int exponent;
  double digits = frexp((double)x, &exponent);
  if (!isfinite(x))
    return x;
  return fabs((double)x) < 0x1p-126 ? 0 : (float)ldexp(nearbyint(digits * 256), exponent - 8);
}

#endif
