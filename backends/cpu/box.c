/* box.c - where head-nomu's artificial points are drawn. */
#include "plan_impl.h"

#include <string.h>

static const struct tutti_layer *head_of(const tutti_network *network) {
  return tutti_network_layer(network, tutti_network_layers(network) - 1);
}

size_t backend_cpu_artificial(const tutti_network *network) {
  const struct tutti_layer *head = head_of(network);
  return head->op == TUTTI_OP_HEAD_NOMU ? (size_t)tutti_layer_integer(head, "artificial", 0) : 0;
}

enum tutti_status backend_cpu_box(tutti_context *context, const struct tutti_job *job, float *box) {
  struct tutti_shape shape = tutti_split_input(job->train);
  size_t features = (size_t)shape.height * (size_t)shape.width * (size_t)shape.channels;
  float *low = box, *high = box + features, *row;
  if (job->box) {
    memcpy(box, job->box, 2 * features * sizeof *box);
    return TUTTI_OK;
  }
  TUTTI_TRY(context, tutti_alloc(context, features, sizeof *row, &row));
  for (uint32_t r = 0; r < tutti_split_rows(job->train); r++) {
    tutti_split_gather(job->train, 1, &r, row);
    for (size_t f = 0; f < features; f++) {
      low[f] = r == 0 || row[f] < low[f] ? row[f] : low[f];
      high[f] = r == 0 || row[f] > high[f] ? row[f] : high[f];
    }
  }
  tutti_free(row);
  float margin = (float)tutti_layer_real(head_of(job->network), "margin", 0);
  for (size_t f = 0; f < features; f++) {
    float wider = margin * (high[f] - low[f]);
    low[f] -= wider;
    high[f] += wider;
  }
  return TUTTI_OK;
}
