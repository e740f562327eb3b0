/* emulation_tensor.c - what tensor cores work with on a host without a GPU: numbers of TF32 and bfloat16; and their
   multiply-and-add, as backends/cuda/tensor.cuh has it: a warp's product of 16 x 8 and 8 x 8 numbers, each summed up in
   float32 in the order of k. */
#include "emulation.h"

static const uint32_t dropped = 0x1fff; /* bits of a float that TF32 has not */

float emulated_to_tf32(float x) {
  uint32_t bits;
  memcpy(&bits, &x, sizeof bits);
  if ((bits & 0x7f800000u) != 0x7f800000u)
    bits = (bits + (dropped + 1) / 2) & ~dropped;
  memcpy(&x, &bits, sizeof x);
  return x;
}

/* --- bfloat16 --- */

float emulated_get(const void *array, bool narrow, size_t i) {
  if (!narrow)
    return ((const float *)array)[i];
  uint32_t bits = (uint32_t)((const uint16_t *)array)[i] << 16;
  float x;
  memcpy(&x, &bits, sizeof x);
  return x;
}

void emulated_set(void *array, bool narrow, size_t i, float x) {
  uint32_t bits;
  memcpy(&bits, &x, sizeof bits);
  if (!narrow)
    ((float *)array)[i] = x;
  else if (x != x)
    ((uint16_t *)array)[i] = 0x7fff;
  else
    ((uint16_t *)array)[i] = (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16); /* ties to even */
}

/* --- products of a warp --- */

/* Hardware leaves the last bits out, which no kernel should count on. */
static float checked(float x) {
  uint32_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits & dropped ? NAN : x;
}

void emulated_multiply_add_tf32(const float *a, const float *b, float *c) {
  enum { LANES = 32, GIVEN = 6, DEPTH = 8 };
  const float mine[GIVEN] = {a[0], a[1], a[2], a[3], b[0], b[1]};
  float all[LANES][GIVEN];
  unsigned lane = emulated_self()->thread.x % LANES, g = lane / 4, t = lane % 4;
  emulated_exchange(mine, GIVEN, &all[0][0]);
  for (unsigned i = 0; i < 4; i++) {
    unsigned low = i / 2, column = 2 * t + i % 2; /* row g + 8 low */
    for (unsigned k = 0; k < DEPTH; k++)
      c[i] += checked(all[4 * g + k % 4][low + k / 4 * 2]) * checked(all[4 * column + k % 4][4 + k / 4]);
  }
}
