/* cifar100-coarse.c - source cifar100-coarse: CIFAR-100 with its coarse labels: the first of two label bytes. */
#include "plugins/source/cifar/records.h"

static const struct cifar_layout layout = {
    .label_bytes = 2,
    .classes = 20,
    .train = {"train.bin"},
    .test = "test.bin",
};

static enum tutti_status source_read_cifar100_coarse(void *self, tutti_context *context,
                                                     const struct tutti_source_request *request, tutti_rows *rows) {
  (void)self;
  return cifar_read(context, &layout, request, rows);
}

static const struct tutti_source_ops cifar100_coarse_ops = {
    .size = sizeof(struct tutti_source_ops),
    .reads = CIFAR_READS,
    .read = source_read_cifar100_coarse,
};

static const struct tutti_descriptor cifar100_coarse_descriptor = {
    TUTTI_DESCRIPTOR_HEAD(TUTTI_KIND_SOURCE, "cifar100-coarse"),
    .version = "1.0",
    .summary = "CIFAR-100 in its binary version, with its 20 coarse classes: a file, or the folder with both",
    .source = "Krizhevsky, Learning multiple layers of features from tiny images, 2009",
    .licence = "Apache-2.0",
    .params = TUTTI_NO_PARAMS,
    .ops = &cifar100_coarse_ops,
};

TUTTI_PLUGIN(cifar100_coarse_descriptor)
