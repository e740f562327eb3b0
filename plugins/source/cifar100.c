/* cifar100.c - source cifar100: CIFAR-100 with its fine labels: the second of two label bytes. */
#include "plugins/source/cifar/records.h"

static const struct cifar_layout layout = {
    .label_bytes = 2,
    .label = 1,
    .classes = 100,
    .train = {"train.bin"},
    .test = "test.bin",
};

static enum tutti_status source_read_cifar100(void *self, tutti_context *context,
                                              const struct tutti_source_request *request, tutti_rows *rows) {
  (void)self;
  return cifar_read(context, &layout, request, rows);
}

static const struct tutti_source_ops cifar100_ops = {
    .size = sizeof(struct tutti_source_ops),
    .reads = CIFAR_READS,
    .read = source_read_cifar100,
};

static const struct tutti_descriptor cifar100_descriptor = {
    TUTTI_DESCRIPTOR_HEAD(TUTTI_KIND_SOURCE, "cifar100"),
    .version = "1.0",
    .summary = "CIFAR-100 in its binary version, with its 100 classes: a file, or the folder with both",
    .source = "Krizhevsky, Learning multiple layers of features from tiny images, 2009",
    .licence = "Apache-2.0",
    .params = TUTTI_NO_PARAMS,
    .ops = &cifar100_ops,
};

TUTTI_PLUGIN(cifar100_descriptor)
