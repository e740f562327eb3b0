/* gp_column.h - included once for each level of vector instructions, with WIDTH (doubles in a register), TARGET (the
   function's attribute) and NAME(). It uses GNU vectors because compilers leave the same code half scalar when it is
   written as loops. Vectors are passed by address: that is free once inlined and needs no calling convention for wide
   registers. */

typedef double NAME(lanes) __attribute__((vector_size(WIDTH * sizeof(double)), aligned(sizeof(double)), may_alias));
typedef int64_t NAME(lane_bits) __attribute__((vector_size(WIDTH * sizeof(int64_t))));

/* x = eˣ for x in [-700, 0], within an ulp: x = n log 2 + r, |r| <= log(2)/2; Taylor series of eʳ to the 13th power
   (remainder below 4e-18); 2ⁿ is added to the exponent. */
TARGET INLINE void NAME(exp_of_negative)(NAME(lanes) * x) {
  static const double reciprocals[] = {
      1.0 / 479001600, 1.0 / 39916800, 1.0 / 3628800, 1.0 / 362880, 1.0 / 40320, 1.0 / 5040, 1.0 / 720,
      1.0 / 120,       1.0 / 24,       1.0 / 6,       1.0 / 2,      1.0,         1.0};
  const double round = 0x1.8p52, log2_high = 0x1.62e42feep-1, log2_low = 0x1.a39ef35793c76p-33;
  NAME(lanes) shifted = *x * 0x1.71547652b82fep0 + round, n = shifted - round;
  NAME(lanes) r = (*x - n * log2_high) - n * log2_low, p = r * (1.0 / 6227020800.0) + reciprocals[0];
  for (size_t i = 1; i < sizeof(reciprocals) / sizeof(reciprocals[0]); i++)
    p = p * r + reciprocals[i];
  *x = (NAME(lanes))((NAME(lane_bits))p + ((NAME(lane_bits))shifted << 52));
}

TARGET static void NAME(column)(enum gp_kernel kernel, const struct gp_inputs *inputs, size_t count, const double *at,
                                double *value, double *slope) {
  const NAME(lanes) farthest = 700 + (NAME(lanes)){0}; /* below this the correlation is 1e-299 */
  for (size_t first = 0; first < count; first += WIDTH) {
    NAME(lanes) square = {0}, distance = {0}, decay;
    for (size_t k = 0; k < inputs->dimension; k++) {
      NAME(lanes) difference = *(const NAME(lanes) *)(inputs->scaled + k * inputs->stride + first) - at[k];
      square += difference * difference;
    }
    if (kernel == GP_MATERN52)
      for (int l = 0; l < WIDTH; l++)
        distance[l] = sqrt(5 * square[l]);
    else
      distance = 0.5 * square;
    NAME(lane_bits) near = distance < farthest;
    distance = (NAME(lanes))(((NAME(lane_bits))distance & near) | ((NAME(lane_bits))farthest & ~near));
    decay = -distance;
    NAME(exp_of_negative)(&decay);
    NAME(lanes) *v = (NAME(lanes) *)(value + first), *s = slope ? (NAME(lanes) *)(slope + first) : NULL;
    *v = kernel == GP_MATERN52 ? (1 + distance + (1.0 / 3) * distance * distance) * decay : decay + 0;
    if (s)
      *s = kernel == GP_MATERN52 ? (5.0 / 3) * (1 + distance) * decay : decay + 0;
  }
}

#undef WIDTH
#undef NAME
#undef TARGET
