/* metric-tables.c - metric-tables <docs/metrics.md: the same text, with the tables of metrics as the library has them.
   Each table stands between the lines "<!-- metrics: NAME -->" and "<!-- end -->". Exit code 1 unless each table has
   its place once. `make reference` writes the document with it, and reference.sh compares. */
#include <stdio.h>
#include <string.h>
#include <tutti/evaluate.h>

static const char *const names[TUTTI_METRICS_COUNT] = {
    [TUTTI_METRICS_CLASSIFICATION] = "classification",
    [TUTTI_METRICS_OOD] = "out of distribution",
    [TUTTI_METRICS_REGRESSION] = "regression",
    [TUTTI_METRICS_DIVERSITY] = "diversity",
    [TUTTI_METRICS_FIT] = "fits",
};

/* The table whose place begins at a line; TUTTI_METRICS_COUNT if none does. */
static enum tutti_metric_table table_at(const char *line) {
  enum tutti_metric_table table = TUTTI_METRICS_CLASSIFICATION;
  for (; table < TUTTI_METRICS_COUNT; table++) {
    char begin[64];
    (void)snprintf(begin, sizeof begin, "<!-- metrics: %s -->\n", names[table]);
    if (strcmp(line, begin) == 0)
      break;
  }
  return table;
}

static void print_table(enum tutti_metric_table table) {
  const struct tutti_metric *metric;
  (void)printf("| name | definition | unit | better |\n|---|---|---|---|\n");
  for (size_t i = 0; (metric = tutti_metric_at(table, i)); i++)
    (void)printf("| `%s` | %s | %s | %s |\n", metric->name, metric->text, metric->unit,
                 metric->better == TUTTI_BETTER_NEITHER ? "-" : tutti_better_name(metric->better));
}

int main(void) {
  char line[4096];
  bool inside = false;
  int places[TUTTI_METRICS_COUNT + 1] = {0}, result = 0;
  while (fgets(line, sizeof line, stdin)) {
    enum tutti_metric_table table = table_at(line);
    inside = inside && strcmp(line, "<!-- end -->\n") != 0;
    if (!inside)
      (void)fputs(line, stdout);
    if (table == TUTTI_METRICS_COUNT)
      continue;
    places[table]++;
    inside = true;
    print_table(table);
  }
  for (int i = 0; i < TUTTI_METRICS_COUNT; i++)
    if (places[i] != 1) {
      (void)fprintf(stderr, "metric-tables: expected the line <!-- metrics: %s --> once, found it %d times\n", names[i],
                    places[i]);
      result = 1;
    }
  return result;
}
