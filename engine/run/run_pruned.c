/* run_pruned.c - why a trial was pruned: in its report, and in a line for those who want to know. */
#include "run_rule.h"

#include "core/base/json_impl.h"

#include <inttypes.h>

static const char *const measures[] = {
    [TUTTI_MEASURE_LAST] = "last", [TUTTI_MEASURE_BEST] = "best", [TUTTI_MEASURE_MEAN] = "mean"};

json_t *tutti_run_pruned_print(const tutti_rule *rule, const struct tutti_curve *curve) {
  for (size_t i = 0; rule && i < tutti_rule_rungs(rule); i++) {
    struct tutti_rung rung = {.size = sizeof rung};
    tutti_rule_rung(rule, i, &rung);
    const double *losses = rung.training ? curve->training : curve->losses;
    if (rung.epoch == curve->epochs && losses)
      return json_pack("{s:I, s:s, s:s, s:o, s:o}", "epoch", (json_int_t)rung.epoch, "losses",
                       rung.training ? "training" : "validation", "measure", measures[rung.measure], "reached",
                       tutti_json_number(tutti_measure_of(rung.measure, curve->epochs, losses)), "at_most",
                       tutti_json_number(rung.threshold));
  }
  return NULL;
}

void tutti_run_pruned_log(tutti_context *context, uint64_t trial, const char *report) {
  json_t *root = report ? json_loads(report, 0, NULL) : NULL;
  const json_t *pruned = json_object_get(root, TUTTI_REPORT_PRUNED);
  if (pruned)
    tutti_log(
        context, TUTTI_LOG_INFO,
        "trial %" PRIu64 " was pruned after epoch %lld: its %s %s loss is %.6g, and at most %.6g goes on", trial,
        (long long)json_integer_value(json_object_get(pruned, "epoch")),
        json_string_value(json_object_get(pruned, "measure")), json_string_value(json_object_get(pruned, "losses")),
        json_number_value(json_object_get(pruned, "reached")), json_number_value(json_object_get(pruned, "at_most")));
  json_decref(root);
}
