/* cifar.c - source cifar: CIFAR-10: one label byte before each image. */
#include "plugins/source/cifar/records.h"

static const struct cifar_layout layout = {
    .label_bytes = 1,
    .classes = 10,
    .train = {"data_batch_1.bin", "data_batch_2.bin", "data_batch_3.bin", "data_batch_4.bin", "data_batch_5.bin"},
    .test = "test_batch.bin",
};

static enum tutti_status source_read_cifar(void *self, tutti_context *context,
                                           const struct tutti_source_request *request, tutti_rows *rows) {
  (void)self;
  return cifar_read(context, &layout, request, rows);
}

static const struct tutti_source_ops cifar_ops = {
    .size = sizeof(struct tutti_source_ops),
    .reads = CIFAR_READS,
    .read = source_read_cifar,
};

static const struct tutti_descriptor cifar_descriptor = {
    TUTTI_DESCRIPTOR_HEAD(TUTTI_KIND_SOURCE, "cifar"),
    .version = "1.0",
    .summary = "CIFAR-10 in its binary version: a file, or the folder with all six",
    .source = "Krizhevsky, Learning multiple layers of features from tiny images, 2009",
    .licence = "Apache-2.0",
    .params = TUTTI_NO_PARAMS,
    .ops = &cifar_ops,
};

TUTTI_PLUGIN(cifar_descriptor)
