/* model.h - the ensemble of a finished run as a model: opened once, then asked for rows in memory as often as
   wanted. */
#ifndef TUTTI_MODEL_H
#define TUTTI_MODEL_H

#include <tutti/rows.h>
#include <tutti/run.h>

TUTTI_BEGIN_DECLS

/* The members with their weights, in memory. It may be used by one thread at a time; several models may be used at
   once, each with a context of its own. */
typedef struct tutti_model tutti_model;

/* Open the ensemble of the run in `directory`, and load its members; the caller closes *model, before the context is
   destroyed. Nothing outside the directory is read, except plugins, and the directory is not needed afterwards.
   TUTTI_ERROR_USAGE: it is not a run directory, the run has no ensemble yet, it keeps no weights, or a plugin is
   missing; TUTTI_ERROR_CORRUPT: a file is not as it was written. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_model_open(tutti_context *context, const char *directory,
                                                             tutti_model **model);
/* The same with another ensemble (the text of an ensemble.json; NULL: the run's own) of a view that is open; the view
   is borrowed until the model is closed. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_view_model(tutti_context *context, tutti_view *view,
                                                             const char *ensemble, tutti_model **model);
/* Close it; NULL is allowed. */
TUTTI_API void tutti_model_close(tutti_model *model);

/* What it predicts: numbers or classes, and how many targets or classes there are. */
TUTTI_API enum tutti_task_kind tutti_model_kind(const tutti_model *model);
TUTTI_API size_t tutti_model_outputs(const tutti_model *model);
/* The name of target or class `index` (< tutti_model_outputs); borrowed. */
TUTTI_API const char *tutti_model_output(const tutti_model *model, size_t index);
/* The number of input columns of a table, 0 for images; tutti_model_input: the name of column `index`, borrowed. */
TUTTI_API size_t tutti_model_inputs(const tutti_model *model);
TUTTI_API const char *tutti_model_input(const tutti_model *model, size_t index);
/* The number of members. */
TUTTI_API size_t tutti_model_members(const tutti_model *model);

/* Predict rows (rows.h), with the numbers that `tutti predict` gives for a file that has them. Columns are found by
   their names if the rows have names, else by position; targets may be left out. Texts are read as the source of the
   training data reads the cells of a file (its strip, missing_marks and so on), but a decimal point always counts as
   one; numbers that mark missing cells there are missing here; and the texts True and False are 1 and 0 in a column of
   numbers, and in one of categories what it has for them, as true and false. The caller has set the forecast's size and
   what it asks for (intervals, quantiles), and the rest to 0; it releases it with tutti_forecast_release.
   TUTTI_ERROR_USAGE: a column is missing, or a value is of a kind that the training data did not have. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_model_predict(tutti_context *context, tutti_model *model,
                                                                const tutti_rows *rows,
                                                                struct tutti_forecast *forecast);
/* The same for a table of numbers alone, numbers[rows][columns], whose columns are found by position; NaN: the value is
   missing. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_model_predict_numbers(tutti_context *context, tutti_model *model,
                                                                        size_t rows, size_t columns,
                                                                        const double *numbers,
                                                                        struct tutti_forecast *forecast);

TUTTI_END_DECLS
#endif
