/* check.c - checks of jobs, and what is said of those that diverge. */
#include "plan_impl.h"

#include <stdio.h>

enum tutti_status backend_cpu_check_head(tutti_context *context, const struct tutti_job *job) {
  size_t layers = tutti_network_layers(job->network);
  const struct tutti_layer *head = tutti_network_layer(job->network, layers - 1);
  if (head->op != job->task->head)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "the network ends in %s, but the task asks for %s", head->op_name,
                      tutti_op_name(job->task->head));
  size_t have = (size_t)tutti_network_layer(job->network, head->inputs[0])->shape.channels;
  size_t want = tutti_task_head_width(job->task);
  if (have != want)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                      "the network's head takes %zu numbers, but for its %zu outputs the task asks "
                      "for %zu",
                      have, job->task->outputs, want);
  return TUTTI_OK;
}

enum tutti_status backend_cpu_check_split(tutti_context *context, const struct tutti_job *job,
                                          const tutti_split *split) {
  struct tutti_shape want = tutti_network_layer(job->network, 0)->shape, have = tutti_split_input(split);
  if (want.height != have.height || want.width != have.width || want.channels != have.channels)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                      "split %s has inputs %d x %d x %d, but the network takes %d x %d x %d", tutti_split_name(split),
                      have.height, have.width, have.channels, want.height, want.width, want.channels);
  return TUTTI_OK;
}

enum tutti_status backend_cpu_check_targets(tutti_context *context, const struct tutti_job *job,
                                            const tutti_split *split) {
  TUTTI_TRY(context, backend_cpu_check_split(context, job, split));
  bool classes = job->task->kind == TUTTI_TASK_CLASSIFICATION;
  bool has = classes ? tutti_split_labels(split) != NULL : tutti_split_targets(split) != NULL;
  if (tutti_split_rows(split) > 0 && (!has || tutti_split_outputs(split) != job->task->outputs))
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "split %s has no %s for the task's %zu outputs",
                      tutti_split_name(split), classes ? "labels" : "targets", job->task->outputs);
  return TUTTI_OK;
}

void backend_cpu_say_diverged(const struct cpu_config *config, const struct tutti_epoch *epoch, const char *what,
                              double value, struct tutti_outcome *outcome) {
  char advice[80] = "are inputs, targets or initial weights very large?";
  if (config->optimiser != CPU_LBFGS)
    (void)snprintf(advice, sizeof advice, "lower the learning rate %g, or clip gradients", epoch->learning_rate);
  (void)snprintf(outcome->failure, sizeof outcome->failure, "diverged: %s is %g in epoch %u, after %llu steps; %s",
                 what, value, epoch->epoch, (unsigned long long)epoch->steps, advice);
}
