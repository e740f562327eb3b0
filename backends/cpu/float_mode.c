/* float_mode.c - while a thread computes, numbers too small for a float's full precision count as 0: they would cost a
   hundred times as much. */
#include "cpu_impl.h"

#if defined(__SSE__)
#include <xmmintrin.h>
#endif

unsigned backend_cpu_enter(void) {
#if defined(__SSE__)
  unsigned kept = _mm_getcsr();
  _mm_setcsr(kept | 0x8040); /* results flushed to zero, operands taken as zero */
  return kept;
#else
  return 0;
#endif
}

void backend_cpu_leave(unsigned kept) {
#if defined(__SSE__)
  _mm_setcsr(kept);
#else
  (void)kept;
#endif
}
