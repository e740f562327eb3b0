/* sized_impl.h - refuses structs to be filled whose caller forgot their size. */
#ifndef TUTTI_SIZED_IMPL_H
#define TUTTI_SIZED_IMPL_H

#include <stddef.h>
#include <tutti/context.h>
#include <tutti/sized.h>

/* No struct is as large as this: it is memory that nobody wrote. */
enum { TUTTI_LARGEST_STRUCT = 1 << 20 };

static inline enum tutti_status tutti_sized_check(tutti_context *context, size_t size, size_t least, const char *type) {
  if (size >= least && size <= TUTTI_LARGEST_STRUCT)
    return TUTTI_OK;
  return TUTTI_FAIL(context, TUTTI_ERROR_INTERNAL,
                    "expected the size of the %s that is to be filled, at least %zu; found %zu: the caller sets its "
                    "member size to sizeof(%s) first",
                    type, least, size, type);
}

/* Is object->size at least that of the struct as version 2.0 of the interface has it, whose last member is `last`? */
#define TUTTI_CHECK_SIZE(context, type, object, last)                                                                  \
  tutti_sized_check((context), (object)->size, offsetof(type, last) + sizeof(object)->last, #type)

#endif
