/* cpu_images.h - images and a network for them that has every op of backend cpu whose values may lie in 16 bits, and
   every op that reads such values. */
#ifndef CPU_IMAGES_H
#define CPU_IMAGES_H

#include "cpu_check.h"

enum { CPU_IMAGES = 96, CPU_IMAGES_SIZE = 9, CPU_IMAGES_CLASSES = 3 };

/* CPU_IMAGES images of CPU_IMAGES_SIZE x CPU_IMAGES_SIZE pixels of 3 channels: noise with a bar, upright, level or
   none, which is the class. The caller destroys the split. */
struct tutti_task images_task(void);
tutti_split *images_make(const struct tutti_task *task);

/* A convolution of kernel x kernel pixels, with a bias if it has 24 units. */
uint32_t images_conv(tutti_network *network, uint32_t input, int32_t units, int32_t kernel, int32_t groups);
/* The network, of `wide` channels; the caller destroys it. */
tutti_network *images_network(const struct tutti_task *task, int32_t wide);

#endif
