/* predict.c - asks the ensemble of a run for one row of numbers: predict RUN NUMBER...
   cc predict.c $(pkg-config --cflags --libs tutti-engine) -o predict */
#include <stdio.h>
#include <stdlib.h>
#include <tutti/tutti.h>

static bool ask(const char *run, size_t columns, const double *row) {
  tutti_context *context = NULL;
  tutti_model *model = NULL;
  struct tutti_forecast forecast = {.size = sizeof forecast};
  bool works = tutti_context_create(&context) == TUTTI_OK && tutti_model_open(context, run, &model) == TUTTI_OK &&
               tutti_model_predict_numbers(context, model, 1, columns, row, &forecast) == TUTTI_OK;
  for (size_t k = 0; k < forecast.outputs; k++)
    printf("%s %.9g %.9g\n", tutti_model_output(model, k), forecast.predicted[k].mean, forecast.predicted[k].total);
  if (!works)
    (void)fprintf(stderr, "%s\n", tutti_error_message(context));
  tutti_forecast_release(&forecast);
  tutti_model_close(model);
  tutti_context_destroy(context);
  return works;
}

int main(int count, char **words) {
  double row[100];
  size_t columns = 0;
  for (int i = 2; i < count && columns < 100; i++) {
    char *end;
    row[columns++] = strtod(words[i], &end);
    if (end == words[i] || *end) {
      (void)fprintf(stderr, "expected a number, found '%s'\n", words[i]);
      return 1;
    }
  }
  if (count > 1 && count <= 102)
    return ask(words[1], columns, row) ? 0 : 1;
  (void)fputs("predict RUN NUMBER... (at most 100)\n", stderr);
  return 1;
}
