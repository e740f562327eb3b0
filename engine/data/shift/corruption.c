/* corruption.c - all corruptions by their numbers, and one image sent through one of them. */
#include "corruption_impl.h"
#include "corruptions.h"

#include <string.h>

#define DECLARE(identifier) extern const struct tutti_corruption tutti_corruption_##identifier;
TUTTI_CORRUPTIONS(DECLARE)

#define ENTRY_OF(identifier) &tutti_corruption_##identifier,
static const struct tutti_corruption *const table[] = {TUTTI_CORRUPTIONS(ENTRY_OF) NULL};

#define NAME_OF(identifier) tutti_corruption_##identifier.name,
const char *const tutti_corruption_names[] = {TUTTI_CORRUPTIONS(NAME_OF) NULL};

const struct tutti_corruption *tutti_corruption_at(size_t number) { return table[number]; }

enum tutti_status tutti_corruptor_create(tutti_context *context, struct tutti_shape shape,
                                         struct tutti_corruptor **out) {
  enum tutti_status status = TUTTI_OK;
  struct tutti_corruptor *corruptor = NULL;
  *out = NULL;
  if (shape.channels != 1 && shape.channels != 3)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "only images of 1 or 3 channels can be corrupted, and these have %d",
                      shape.channels);
  TUTTI_TRY_OUT(context, tutti_alloc(context, 1, sizeof *corruptor, &corruptor));
  corruptor->height = shape.height;
  corruptor->width = shape.width;
  corruptor->channels = shape.channels;
  corruptor->map = 1;
  while (corruptor->map < shape.height || corruptor->map < shape.width)
    corruptor->map *= 2;
  size_t count = (size_t)shape.height * (size_t)shape.width * (size_t)shape.channels;
  size_t room = (size_t)corruptor->map * (size_t)corruptor->map;
  room = room > count ? room : count;
  TUTTI_TRY_OUT(context, tutti_alloc(context, count, sizeof(float), &corruptor->pixels));
  TUTTI_TRY_OUT(context, tutti_alloc(context, count, 1, &corruptor->bytes));
  for (size_t i = 0; i < TUTTI_CORRUPTION_PLANES; i++)
    TUTTI_TRY_OUT(context, tutti_alloc(context, room, sizeof(float), &corruptor->plane[i]));
  *out = corruptor;
  corruptor = NULL;
out:
  tutti_corruptor_destroy(corruptor);
  return status;
}

void tutti_corruptor_destroy(struct tutti_corruptor *corruptor) {
  if (!corruptor)
    return;
  tutti_free(corruptor->pixels);
  tutti_free(corruptor->bytes);
  for (size_t i = 0; i < TUTTI_CORRUPTION_PLANES; i++)
    tutti_free(corruptor->plane[i]);
  tutti_free(corruptor);
}

enum tutti_status tutti_corruption_check(tutti_context *context, size_t corruption, struct tutti_shape shape) {
  const struct tutti_corruption *entry = table[corruption];
  if (shape.height >= entry->least && shape.width >= entry->least)
    return TUTTI_OK;
  return TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                    "corruption %s needs images of at least %d x %d pixels, and these have %d x %d", entry->name,
                    entry->least, entry->least, shape.height, shape.width);
}

enum tutti_status tutti_corrupt(tutti_context *context, struct tutti_corruptor *image, size_t corruption, int severity,
                                const uint8_t *in, uint8_t *out) {
  size_t count = (size_t)image->height * (size_t)image->width * (size_t)image->channels;
  if (severity == 0) {
    memcpy(out, in, count);
    return TUTTI_OK;
  }
  for (size_t i = 0; i < count; i++)
    image->pixels[i] = (float)in[i] / 255;
  image->failure = NULL;
  table[corruption]->apply(image, table[corruption]->constants[severity - 1]);
  if (image->failure)
    return TUTTI_FAIL(context, TUTTI_ERROR_INTERNAL, "corruption %s: %s", table[corruption]->name, image->failure);
  for (size_t i = 0; i < count; i++)
    out[i] = (uint8_t)(255 * tutti_clip(image->pixels[i]) + 0.5f);
  return TUTTI_OK;
}
