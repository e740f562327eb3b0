/* attributes.h - for tests: the attributes of the built-in ops as one struct, for designated initialisers; and a
   layer's attributes as such a struct. */
#ifndef TESTS_ATTRIBUTES_H
#define TESTS_ATTRIBUTES_H

#include <math.h>
#include <string.h>
#include <tutti/network.h>

/* clang-format off */
#define ATTRIBUTE_FIELDS(F) \
  F(units) F(kernel_height) F(kernel_width) F(stride) F(dilation) F(groups) F(padding) F(activation) F(bias) F(affine) \
  F(spatial) F(scheduled) F(rate) F(momentum) F(epsilon) F(l2) F(scale) F(floor) F(variance) F(pi_sqr) F(pi_exp) \
  F(c_exp) F(margin) F(artificial) F(stable) F(l_min) F(l_max) F(noise) F(known_noise) F(through_noise) F(bounds) \
  F(readout) F(points)
/* clang-format on */

struct attributes {
  int32_t units, kernel_height, kernel_width, stride, dilation, groups;
  enum tutti_padding padding;
  enum tutti_activation activation;
  bool bias, affine, spatial, scheduled, variance, stable, through_noise;
  double rate, momentum, epsilon, l2, scale, floor, pi_sqr, pi_exp, c_exp, margin, l_min, l_max, known_noise;
  int32_t artificial, noise, bounds, readout, points;
};

static inline struct attributes default_attributes(void) {
  return (struct attributes){.kernel_height = 3,
                             .kernel_width = 3,
                             .stride = 1,
                             .dilation = 1,
                             .groups = 1,
                             .padding = TUTTI_PADDING_SAME,
                             .activation = TUTTI_ACTIVATION_RELU,
                             .bias = true,
                             .affine = true,
                             .momentum = 0.1,
                             .epsilon = 1e-5,
                             .l2 = (double)NAN,
                             .scale = 1,
                             .floor = 1e-3,
                             .pi_sqr = 0.1,
                             .pi_exp = 0.01,
                             .c_exp = 30,
                             .margin = 0.05,
                             .artificial = 128,
                             .l_min = 1e-3,
                             .l_max = 2,
                             .known_noise = 1};
}

/* Those that a layer does not have are at their defaults. */
static inline struct attributes attributes_of(const struct tutti_layer *layer) {
  struct attributes a = default_attributes();
  for (const struct tutti_attribute *is = tutti_layer_attributes(layer); is->name; is++) {
#define ATTRIBUTE_READ(field)                                                                                          \
  if (strcmp(is->name, #field) == 0)                                                                                   \
    a.field = (__typeof__(a.field))is->value;
    ATTRIBUTE_FIELDS(ATTRIBUTE_READ)
#undef ATTRIBUTE_READ
  }
  return a;
}

/* Those of the struct that an op has, ended by name NULL. */
struct attribute_list {
  struct tutti_attribute at[26];
};
static inline struct attribute_list attributes_for(const tutti_context *where, enum tutti_op op,
                                                   const struct attributes *a) {
  struct attribute_list list = {{{NULL, 0}}};
  const struct tutti_op_definition *definition = tutti_op_find(where, tutti_op_name(op));
  for (size_t i = 0; definition && i < definition->attributes.count; i++) {
    list.at[i].name = tutti_attribute_at(&definition->attributes, i)->name;
#define ATTRIBUTE_WRITE(field)                                                                                         \
  if (strcmp(list.at[i].name, #field) == 0)                                                                            \
    list.at[i].value = (double)a->field;
    ATTRIBUTE_FIELDS(ATTRIBUTE_WRITE)
#undef ATTRIBUTE_WRITE
  }
  return list;
}

/* tutti_network_add with those of the attributes that the op has; NULL: all at their defaults. */
static inline enum tutti_status add_with(tutti_context *where, tutti_network *network, enum tutti_op op,
                                         const char *label, size_t count, const uint32_t *inputs,
                                         const struct attributes *attributes, uint32_t *layer) {
  if (!attributes)
    return tutti_network_add(where, network, op, label, count, inputs, NULL, layer);
  struct attribute_list list = attributes_for(where, op, attributes);
  return tutti_network_add(where, network, op, label, count, inputs, list.at, layer);
}

#endif
