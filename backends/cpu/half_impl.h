/* half_impl.h - numbers of 16 bits, IEEE 754 binary16, in plain C: with the bits of the instructions that processors
   have for them, in which neither denormal numbers nor the mode that counts them as 0 differ. Rounds to nearest, ties
   to even; from 65520 on, to infinity. */
#ifndef BACKEND_CPU_HALF_IMPL_H
#define BACKEND_CPU_HALF_IMPL_H

#include <stdint.h>
#include <string.h>

static inline uint32_t half_bits(float x) {
  uint32_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}

static inline float half_from_bits(uint32_t bits) {
  float x;
  memcpy(&x, &bits, sizeof x);
  return x;
}

static inline uint16_t half_of_float(float x) {
  const uint32_t bits = half_bits(x), size = bits & 0x7fffffff, sign = bits >> 16 & 0x8000;
  if (size > 0x7f800000) /* NaN stays one, and keeps its first digits */
    return (uint16_t)(sign | 0x7e00 | (size >> 13 & 0x3ff));
  if (size >= half_bits(65520))
    return (uint16_t)(sign | 0x7c00);
  if (size < half_bits(0x1p-14f)) /* denormal: the last digit of a number near 1/2 is theirs */
    return (uint16_t)(sign | (half_bits(half_from_bits(size) + 0.5f) - half_bits(0.5f)));
  return (uint16_t)(sign | (size + 0xfff + (size >> 13 & 1) - ((127 - 15) << 23)) >> 13);
}

static inline float half_to_float(uint16_t half) {
  const uint32_t size = half & 0x7fff, sign = (uint32_t)(half & 0x8000) << 16;
  if (size > 0x7c00)
    return half_from_bits(sign | 0x7fc00000 | size << 13);
  if (size == 0x7c00)
    return half_from_bits(sign | 0x7f800000);
  if (size < 0x400)
    return half_from_bits(sign | half_bits((float)size * 0x1p-24f));
  return half_from_bits(sign | ((size << 13) + ((127 - 15) << 23)));
}

#endif
