/* machine_classes.c - which classes a stored machine tells apart. */
#include "machine_impl.h"

enum tutti_status machine_classes(tutti_context *context, const struct tutti_task *task, const tutti_tensors *tensors,
                                  size_t output, size_t vectors, struct machine_classes *found) {
  const struct tutti_tensor *classes, *counts;
  size_t sum = 0;
  bool valid = true;
  TUTTI_TRY(context,
            learner_find(context, tensors, output, "classes", TUTTI_I32, 1, (size_t[]){LEARNER_ANY}, &classes));
  TUTTI_TRY(context, learner_find(context, tensors, output, "counts", TUTTI_I32, 1, classes->shape, &counts));
  *found = (struct machine_classes){.count = classes->shape[0], .labels = classes->data, .counts = counts->data};
  for (size_t i = 0; i < found->count; i++) {
    valid = valid && found->labels[i] >= 0 && (size_t)found->labels[i] < task->outputs && found->counts[i] >= 0;
    sum += valid ? (size_t)found->counts[i] : 0;
  }
  if (!valid || sum != vectors || found->count < 2 || found->count > task->outputs)
    return TUTTI_FAIL(context, TUTTI_ERROR_CORRUPT, "weights: the support vectors' classes are not those of the task");
  return TUTTI_OK;
}
