/* memory.c - checked, zeroed, aligned allocation. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <tutti/context.h>

/* For vectors of 512 bits, and so that no two arrays share a cache line. */
enum { ALIGNMENT = 64, HUGE_PAGE = 2 << 20 };

/* Ask for huge pages, which some systems give on request, for the part of a block that can have them: the first touch
   of each page costs a page fault. */
static void prefer_huge_pages(void *memory, size_t bytes) {
#ifdef MADV_HUGEPAGE
  size_t before = HUGE_PAGE - 1 - ((uintptr_t)memory - 1) % HUGE_PAGE;
  if (bytes >= before + HUGE_PAGE)
    (void)madvise((char *)memory + before, (bytes - before) / HUGE_PAGE * HUGE_PAGE, MADV_HUGEPAGE);
#else
  (void)memory, (void)bytes;
#endif
}

enum tutti_status tutti_alloc(tutti_context *context, size_t count, size_t size, void *pointer) {
  void *memory = NULL;
  memcpy(pointer, &memory, sizeof memory);
  size_t bytes;
  if (__builtin_mul_overflow(count, size, &bytes) || bytes > SIZE_MAX - ALIGNMENT)
    return TUTTI_FAIL(context, TUTTI_ERROR_MEMORY, "cannot allocate %zu elements of %zu bytes: the product overflows",
                      count, size);
  if (bytes == 0)
    return TUTTI_OK;
  bytes = (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
  memory = aligned_alloc(ALIGNMENT, bytes);
  if (!memory)
    return TUTTI_FAIL(context, TUTTI_ERROR_MEMORY, "out of memory: cannot allocate %zu MiB", (bytes >> 20) + 1);
  prefer_huge_pages(memory, bytes);
  memset(memory, 0, bytes);
  memcpy(pointer, &memory, sizeof memory);
  return TUTTI_OK;
}

enum tutti_status tutti_realloc(tutti_context *context, size_t kept, size_t count, size_t size, void *pointer) {
  void *old, *grown;
  memcpy(&old, pointer, sizeof old);
  TUTTI_TRY(context, tutti_alloc(context, count, size, &grown));
  size_t common = kept < count ? kept : count;
  if (old && common)
    memcpy(grown, old, common * size);
  free(old);
  memcpy(pointer, &grown, sizeof grown);
  return TUTTI_OK;
}

void tutti_free(void *pointer) { free(pointer); }

enum tutti_status tutti_strdup(tutti_context *context, const char *text, char **copy) {
  size_t length = strlen(text) + 1;
  TUTTI_TRY(context, tutti_alloc(context, length, 1, copy));
  memcpy(*copy, text, length);
  return TUTTI_OK;
}

enum tutti_status tutti_format(tutti_context *context, char **text, const char *format, ...) {
  *text = NULL;
  va_list arguments;
  va_start(arguments, format);
  int length = vsnprintf(NULL, 0, format, arguments);
  va_end(arguments);
  if (length < 0)
    return TUTTI_FAIL(context, TUTTI_ERROR_INTERNAL, "cannot format a text as \"%s\"", format);
  TUTTI_TRY(context, tutti_alloc(context, (size_t)length + 1, 1, text));
  va_start(arguments, format);
  (void)vsnprintf(*text, (size_t)length + 1, format, arguments);
  va_end(arguments);
  return TUTTI_OK;
}
