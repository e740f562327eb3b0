/* tiles.c - bfloat_impl.h on the matrix units of a processor (AMX-BF16), with its instructions for rounding. */
#include "cpu_impl.h"

#if defined(__x86_64__) && defined(__GNUC__) && defined(__linux__)

#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>

#define CPU_LANES 16
#define CPU_BFLOAT CPU_BFLOAT_TILES
#define CPU_MORE_INSTRUCTIONS ",avx512bf16,amx-tile,amx-bf16"
#include "level_impl.h"

CPU_LEVEL_BEGIN
#include "bfloat_impl.h"
CPU_LEVEL_END

static bool processor_has_tiles(void) {
  enum { BF16 = 1u << 22, TILE = 1u << 24, ROUNDS = 1u << 5 };
  unsigned a, b, c, d, more;
  return tutti_cpu_detect() == TUTTI_CPU_AVX512 && __get_cpuid_count(7, 0, &a, &b, &c, &d) && (d & BF16) &&
         (d & TILE) && __get_cpuid_count(7, 1, &more, &b, &c, &d) && (more & ROUNDS);
}

/* Linux gives the registers of tiles to processes that ask for them, with all their threads. */
static bool system_gives_tiles(void) {
  enum { ASK_FOR_STATE = 0x1023, TILE_DATA = 18 };
  return syscall(SYS_arch_prctl, ASK_FOR_STATE, TILE_DATA) == 0;
}

/* What a thread's tiles look like: eight of 16 rows of 64 bytes. */
struct tile_shapes {
  uint8_t palette, start_row, reserved[14];
  uint16_t row_bytes[16];
  uint8_t rows[16];
};
static const struct tile_shapes shapes = {
    .palette = 1,
    .row_bytes = {64, 64, 64, 64, 64, 64, 64, 64},
    .rows = {CPU_TILE, CPU_TILE, CPU_TILE, CPU_TILE, CPU_TILE, CPU_TILE, CPU_TILE, CPU_TILE}};

CPU_LEVEL_FUNCTION static void gemm_tiles(const struct cpu_bfloat *work) {
  _tile_loadconfig(&shapes);
  gemm_bfloat(work);
  _tile_release();
}

cpu_bfloat_function *backend_cpu_tiles(void) {
  return processor_has_tiles() && system_gives_tiles() ? gemm_tiles : NULL;
}

#else

cpu_bfloat_function *backend_cpu_tiles(void) { return NULL; }

#endif
