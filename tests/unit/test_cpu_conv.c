/* test_cpu_conv.c - backend cpu's losses, gradients and predictions on images, for every op and what stands around
   it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "cpu_check.h"

enum { ROWS = 3, CLASSES = 3 };

static struct tutti_task make_task(int32_t height, int32_t width, int32_t channels) {
  return (struct tutti_task){.size = sizeof(struct tutti_task),
                             .kind = TUTTI_TASK_CLASSIFICATION,
                             .input = {height, width, channels},
                             .outputs = CLASSES,
                             .train_rows = ROWS,
                             .head = TUTTI_OP_HEAD_SOFTMAX};
}

struct window {
  int32_t kernel_height, kernel_width, stride, dilation;
  enum tutti_padding padding;
};

static struct attributes window_attributes(const struct window *window, int32_t units, int32_t groups, bool bias) {
  struct attributes a = default_attributes();
  a.units = units;
  a.kernel_height = window->kernel_height;
  a.kernel_width = window->kernel_width;
  a.stride = window->stride;
  a.dilation = window->dilation;
  a.padding = window->padding;
  a.groups = groups;
  a.bias = bias;
  return a;
}

static uint32_t conv(tutti_network *network, uint32_t input, const struct window *window, int32_t units, int32_t groups,
                     bool bias) {
  struct attributes a = window_attributes(window, units, groups, bias);
  return OP_WITH(network, TUTTI_OP_CONV2D, &a, input);
}

static const struct window pointwise = {1, 1, 1, 1, TUTTI_PADDING_SAME};

static uint32_t activate(tutti_network *network, uint32_t input, enum tutti_activation activation) {
  struct attributes a = default_attributes();
  a.activation = activation;
  return OP_WITH(network, TUTTI_OP_ACTIVATION, &a, input);
}

static uint32_t norm(tutti_network *network, uint32_t input, bool affine) {
  struct attributes a = default_attributes();
  a.affine = affine;
  return OP_WITH(network, TUTTI_OP_BATCH_NORM, &a, input);
}

/* A pointwise convolution in front, so that the input's gradient counts; what follows; the mean over all pixels. */
static void end_pooled(tutti_network *network, uint32_t layer, const struct tutti_task *task) {
  end(network, OP(network, TUTTI_OP_GLOBAL_POOL, activate(network, layer, TUTTI_ACTIVATION_TANH)), task);
}

static const struct window windows[] = {
    {3, 3, 1, 1, TUTTI_PADDING_SAME},  {3, 3, 2, 1, TUTTI_PADDING_SAME},  {3, 3, 1, 2, TUTTI_PADDING_SAME},
    {3, 3, 2, 2, TUTTI_PADDING_SAME},  {5, 5, 1, 1, TUTTI_PADDING_SAME},  {5, 5, 2, 1, TUTTI_PADDING_SAME},
    {5, 5, 1, 2, TUTTI_PADDING_SAME},  {3, 3, 1, 1, TUTTI_PADDING_VALID}, {3, 3, 2, 1, TUTTI_PADDING_VALID},
    {2, 4, 1, 1, TUTTI_PADDING_SAME},  {3, 1, 1, 2, TUTTI_PADDING_VALID}, {1, 1, 2, 1, TUTTI_PADDING_SAME},
    {1, 5, 3, 1, TUTTI_PADDING_VALID}, {2, 2, 3, 1, TUTTI_PADDING_SAME},
};
enum { WINDOWS = sizeof windows / sizeof *windows };

/* Channels fewer than, as many as and more than the lanes of a vector, and between. */
static const int32_t channels[] = {1, 5, 8, 16, 20, 24};

static void check_conv(const struct window *window, int32_t in, int32_t units, int32_t groups, bool bias) {
  struct tutti_task task = make_task(6, 5, 2);
  tutti_network *network = begin(&task);
  uint32_t first = conv(network, 0, &pointwise, in, 1, true);
  end_pooled(network, conv(network, first, window, units, groups, bias), &task);
}

static void test_depthwise(void **state) {
  (void)state;
  for (size_t w = 0; w < WINDOWS; w++)
    for (size_t c = w % 2; c < 6; c += 2)
      check_conv(&windows[w], channels[c], channels[c], channels[c], c % 3 == 0);
}

/* A depthwise convolution that its reader, a pointwise one, makes; with a bias it is made for itself. */
static void test_separable(void **state) {
  (void)state;
  for (size_t w = 0; w < WINDOWS; w++) {
    struct tutti_task task = make_task(6, 7, 2);
    tutti_network *network = begin(&task);
    int32_t width = channels[1 + w % 5];
    uint32_t first = activate(network, conv(network, 0, &pointwise, width, 1, true), TUTTI_ACTIVATION_RELU);
    uint32_t across = conv(network, first, &windows[w], width, width, w % 3 == 1);
    end_pooled(network, conv(network, across, &pointwise, channels[w % 6], 1, w % 2), &task);
  }
}

static void test_convolution(void **state) {
  (void)state;
  for (size_t w = 0; w < WINDOWS; w++) {
    check_conv(&windows[w], channels[w % 4], channels[(w + 1) % 5], 1, w % 2);
    check_conv(&windows[w], 12, 18, 3, w % 2); /* in groups */
  }
  check_conv(&windows[0], 4, 8, 4, true); /* two units a channel */
  for (size_t c = 0; c < 6; c++)
    check_conv(&pointwise, channels[c], channels[(c + 2) % 6], 1, c % 2);
}

/* Straight from the input, whose gradient nobody wants. */
static void test_stem(void **state) {
  (void)state;
  for (int32_t c = 1; c <= 9; c += 2) {
    struct tutti_task task = make_task(5, 8, c);
    tutti_network *network = begin(&task);
    end_pooled(network, conv(network, 0, &windows[0], 11, 1, false), &task);
    network = begin(&task);
    end_pooled(network, conv(network, 0, &windows[1], c, c, true), &task);
  }
}

static void test_pools(void **state) {
  (void)state;
  const enum tutti_op ops[] = {TUTTI_OP_MAX_POOL, TUTTI_OP_AVERAGE_POOL};
  for (size_t w = 0; w < WINDOWS; w++)
    for (size_t o = 0; o < 2; o++) {
      struct tutti_task task = make_task(6, 5, 3);
      tutti_network *network = begin(&task);
      uint32_t first = conv(network, 0, &pointwise, channels[(w + o) % 6], 1, true);
      struct attributes a = window_attributes(&windows[w], 0, 1, false);
      uint32_t relu = activate(network, OP_WITH(network, ops[o], &a, first), TUTTI_ACTIVATION_RELU);
      end_pooled(network, conv(network, relu, &pointwise, 8, 1, true), &task);
    }
}

static void test_factorised_reduce(void **state) {
  (void)state;
  for (int32_t size = 5; size <= 6; size++)
    for (size_t c = 0; c < 6; c++) {
      struct tutti_task task = make_task(size, 11 - size, 2);
      tutti_network *network = begin(&task);
      uint32_t first = conv(network, 0, &pointwise, channels[c], 1, true);
      struct attributes a = default_attributes();
      a.units = channels[5 - c];
      end_pooled(network, norm(network, OP_WITH(network, TUTTI_OP_FACTORISED_REDUCE, &a, first), true), &task);
    }
}

/* ReLU, convolution, batch norm in all orders that are in use, read once and twice. */
static void test_chains(void **state) {
  (void)state;
  for (size_t c = 0; c < 6; c++)
    for (int affine = 0; affine < 2; affine++) {
      struct tutti_task task = make_task(6, 5, 3);
      tutti_network *network = begin(&task);
      int32_t wide = channels[c];
      uint32_t stem = norm(network, conv(network, 0, &windows[0], wide, 1, false), affine);
      uint32_t relu = activate(network, stem, TUTTI_ACTIVATION_RELU);
      uint32_t across = conv(network, relu, &windows[0], wide, wide, false);
      uint32_t one = norm(network, conv(network, across, &pointwise, wide, 1, false), affine);
      uint32_t again = conv(network, activate(network, one, TUTTI_ACTIVATION_RELU), &windows[4], wide, wide, false);
      uint32_t two = norm(network, conv(network, again, &pointwise, wide, 1, false), affine);
      uint32_t sum = OP(network, TUTTI_OP_ADD, two, stem);
      uint32_t twice = norm(network, norm(network, sum, affine), affine);
      uint32_t other = conv(network, activate(network, stem, TUTTI_ACTIVATION_RELU), &windows[0], 9, 1, true);
      uint32_t both = OP(network, TUTTI_OP_CONCAT, sum, other, twice, one);
      end_pooled(network, norm(network, activate(network, both, TUTTI_ACTIVATION_RELU), affine), &task);
    }
}

static void test_other_ops(void **state) {
  (void)state;
  for (size_t c = 0; c < 6; c++) {
    struct tutti_task task = make_task(4, 5, 3);
    tutti_network *network = begin(&task);
    struct attributes channelwise = op_attributes(), strided = default_attributes();
    channelwise.spatial = true;
    strided.stride = 2;
    uint32_t one = conv(network, 0, &pointwise, channels[c], 1, true);
    uint32_t crelu = OP(network, TUTTI_OP_ACTIVATION, one);
    uint32_t joined = OP(network, TUTTI_OP_CONCAT, crelu, one, 0);
    uint32_t two = conv(network, OP(network, TUTTI_OP_DROPOUT, joined), &pointwise, channels[c], 1, true);
    uint32_t path = OP(network, TUTTI_OP_DROP_PATH, two);
    uint32_t drop = OP_WITH(network, TUTTI_OP_DROPOUT, &channelwise, OP(network, TUTTI_OP_IDENTITY, one));
    struct attributes unstrided = default_attributes();
    uint32_t nothing = OP_WITH(network, TUTTI_OP_ZERO, &unstrided, two);
    uint32_t cut = OP(network, TUTTI_OP_DETACH, activate(network, one, TUTTI_ACTIVATION_SIGMOID));
    uint32_t mean = OP(network, TUTTI_OP_MEAN, path, drop, nothing, cut, one);
    uint32_t gelu = activate(network, mean, TUTTI_ACTIVATION_GELU);
    uint32_t small = OP_WITH(network, TUTTI_OP_ZERO, &strided, gelu);
    uint32_t sum = OP(network, TUTTI_OP_ADD, conv(network, gelu, &windows[1], channels[c], 1, true), small);
    end_pooled(network, sum, &task);
  }
}

static void test_flatten(void **state) {
  (void)state;
  for (size_t c = 0; c < 6; c++) {
    struct tutti_task task = make_task(3, 5, channels[c]);
    tutti_network *network = begin(&task);
    uint32_t flat = OP(network, TUTTI_OP_FLATTEN, 0);
    end(network, dense(network, flat, 7, TUTTI_ACTIVATION_TANH), &task); /* no image at all */
    network = begin(&task);
    uint32_t image = conv(network, 0, &pointwise, channels[5 - c], 1, true);
    uint32_t one = OP(network, TUTTI_OP_FLATTEN, image), two = OP(network, TUTTI_OP_FLATTEN, image);
    uint32_t three = OP(network, TUTTI_OP_FLATTEN, 0);
    end(network, dense(network, OP(network, TUTTI_OP_CONCAT, one, three, two), 7, TUTTI_ACTIVATION_RELU), &task);
  }
}

/* Down to a single pixel, which is a table again. */
static void test_single_pixels(void **state) {
  (void)state;
  struct tutti_task task = make_task(2, 2, 3);
  tutti_network *network = begin(&task);
  uint32_t one = conv(network, 0, &windows[1], 20, 1, true);
  uint32_t two = conv(network, activate(network, one, TUTTI_ACTIVATION_RELU), &windows[0], 20, 20, true);
  uint32_t three = conv(network, norm(network, two, true), &windows[4], 9, 1, true);
  uint32_t four = conv(network, OP(network, TUTTI_OP_FLATTEN, three), &pointwise, 5, 1, true);
  end_pooled(network, four, &task);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_depthwise),
      cmocka_unit_test(test_separable),
      cmocka_unit_test(test_convolution),
      cmocka_unit_test(test_stem),
      cmocka_unit_test(test_pools),
      cmocka_unit_test(test_chains),
      cmocka_unit_test(test_factorised_reduce),
      cmocka_unit_test(test_other_ops),
      cmocka_unit_test(test_flatten),
      cmocka_unit_test(test_single_pixels),
  };
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
