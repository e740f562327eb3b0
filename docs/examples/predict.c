/* predict.c - asks the ensemble of a run for one row of numbers: predict RUN NUMBER...
   cc predict.c $(pkg-config --cflags --libs tutti-engine) -o predict */
#include <stdio.h>
#include <stdlib.h>
#include <tutti/tutti.h>

int main(int count, char **words) {
  tutti_context *context;
  tutti_model *model = NULL;
  tutti_rows *rows = NULL;
  struct tutti_forecast forecast = {.size = sizeof forecast};
  if (count < 2 || tutti_context_create(&context) != TUTTI_OK)
    return 2;
  enum tutti_status status = tutti_model_open(context, words[1], &model);
  if (status == TUTTI_OK)
    status = tutti_rows_create(context, "the row", &rows);
  for (int i = 2; i < count && status == TUTTI_OK; i++) { /* a column of one number each, found by position */
    double number = strtod(words[i], NULL);
    status = tutti_rows_add_column(context, rows, NULL);
    if (status == TUTTI_OK)
      status = tutti_rows_add_numbers(context, rows, (size_t)i - 2, 1, &number);
  }
  if (status == TUTTI_OK)
    status = tutti_model_predict(context, model, rows, &forecast);
  if (status != TUTTI_OK)
    (void)fprintf(stderr, "%s\n", tutti_error_message(context));
  for (size_t k = 0; k < forecast.outputs; k++)
    printf("%s %.9g %.9g\n", tutti_model_output(model, k), forecast.predicted[k].mean, forecast.predicted[k].total);
  tutti_forecast_release(&forecast);
  tutti_rows_destroy(rows);
  tutti_model_close(model);
  tutti_context_destroy(context);
  return status == TUTTI_OK ? 0 : 1;
}
