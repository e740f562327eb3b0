/* rows.h - rows of data as a source gives them, before anything is split or scaled: cells in named columns, or images. */
#ifndef TUTTI_ROWS_H
#define TUTTI_ROWS_H

#include <tutti/npy.h>
#include <tutti/task.h>

TUTTI_BEGIN_DECLS

/* Either a table, whose columns grow one by one, or images of one shape. The host makes it, a source fills it, and the host
   checks it: columns of different lengths, or labels that do not match the images, are an error of the source. What is
   handed over is copied. At most UINT32_MAX rows. */
typedef struct tutti_rows tutti_rows;

/* Make an empty one. `origin` is what messages name: a file's path, or the source's name. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_rows_create(tutti_context *context, const char *origin,
                                                              tutti_rows **rows);
TUTTI_API void tutti_rows_destroy(tutti_rows *rows);

/* --- tables: filling -------------------------------------------------------------------------------------------- */

/* What a cell holds. */
enum tutti_cell { TUTTI_CELL_NUMBER, TUTTI_CELL_INFINITE, TUTTI_CELL_MISSING, TUTTI_CELL_TEXT };

/* What a word in a text file says: a decimal number with a point (whatever the process's locale), inf, one of the ways to
   write that a value is missing ("", ?, NA, N/A, nan, null), or a text. *number is NaN unless it is a number. */
TUTTI_API enum tutti_cell tutti_cell_read(const char *text, double *number);

/* Add a column without cells, numbered from 0. `name` is UTF-8; NULL: the data do not name it, and it is called "x" and
   its number. TUTTI_ERROR_USAGE: another column has the name. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_rows_add_column(tutti_context *context, tutti_rows *rows,
                                                                  const char *name);
/* Add numbers[count] at the end of a column. NaN: the value is missing. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_rows_add_numbers(tutti_context *context, tutti_rows *rows,
                                                                   size_t column, size_t count, const double *numbers);
/* Add a text at the end of a column, even if it looks like a number: a category, or a class. NULL: it is missing. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_rows_add_text(tutti_context *context, tutti_rows *rows, size_t column,
                                                                const char *text);
/* Add what a word in a text file says, as tutti_cell_read reads it. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_rows_add_cell(tutti_context *context, tutti_rows *rows, size_t column,
                                                                const char *text);
/* Lines of the file where the next rows start, from 1, for messages: of all rows, or of none. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_rows_add_lines(tutti_context *context, tutti_rows *rows, size_t count,
                                                                 const uint32_t *lines);
/* The last `columns` columns are the targets, whatever their names; 0 (the default): the recipe says which are. */
TUTTI_API void tutti_rows_set_targets(tutti_rows *rows, size_t columns);
/* What a table is for, where the recipe does not say. Default: classification for a target of texts, else regression. */
TUTTI_API void tutti_rows_set_task(tutti_rows *rows, enum tutti_task_kind task);

/* --- images: filling -------------------------------------------------------------------------------------------- */

enum { TUTTI_ROWS_MAX_SIDE = 1 << 14, TUTTI_ROWS_MAX_CHANNELS = 16 };

/* Say what the images of the file `path` are like: their shape, and TUTTI_U8 or TUTTI_F32. Every file may say so; one that
   disagrees with the first is a TUTTI_ERROR_USAGE that names both, as is a shape beyond the limits. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_rows_expect_images(tutti_context *context, tutti_rows *rows,
                                                                     const char *path, struct tutti_shape shape,
                                                                     enum tutti_element element);
/* Add pixels[count][height][width][channels], of `bytes` bytes in all. Floats are finite. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_rows_add_images(tutti_context *context, tutti_rows *rows,
                                                                  size_t count, const void *pixels, size_t bytes);
/* Add the classes of the next images, as they are numbered in the data. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_rows_add_labels(tutti_context *context, tutti_rows *rows,
                                                                  size_t count, const int64_t *labels);

/* --- both ------------------------------------------------------------------------------------------------------- */

/* The last `count` rows are test rows, which are not shared out; 0 is the default. */
TUTTI_API void tutti_rows_set_test_rows(tutti_rows *rows, size_t count);

/* --- reading ---------------------------------------------------------------------------------------------------- */

TUTTI_API const char *tutti_rows_origin(const tutti_rows *rows);
/* Rows: of the first column, or images. */
TUTTI_API size_t tutti_rows_count(const tutti_rows *rows);
TUTTI_API size_t tutti_rows_test_rows(const tutti_rows *rows);
TUTTI_API bool tutti_rows_are_images(const tutti_rows *rows);

TUTTI_API size_t tutti_rows_columns(const tutti_rows *rows);
/* Names [columns], and whether the data named any of them. */
TUTTI_API const char *const *tutti_rows_names(const tutti_rows *rows);
TUTTI_API bool tutti_rows_named(const tutti_rows *rows);
TUTTI_API size_t tutti_rows_targets(const tutti_rows *rows);
/* False where the source has not said; then *task stays. */
TUTTI_API bool tutti_rows_task(const tutti_rows *rows, enum tutti_task_kind *task);
TUTTI_API enum tutti_cell tutti_rows_cell(const tutti_rows *rows, size_t row, size_t column);
/* The number of a cell, maybe infinite; NaN for other cells. */
TUTTI_API double tutti_rows_number(const tutti_rows *rows, size_t row, size_t column);
/* The text of a cell that holds no finite number, as it was handed over; "" where there was none. */
TUTTI_API const char *tutti_rows_text(const tutti_rows *rows, size_t row, size_t column);
/* The line where a row starts; 0: unknown. */
TUTTI_API uint32_t tutti_rows_line(const tutti_rows *rows, size_t row);

/* Of images; shape of zeros for tables. */
TUTTI_API struct tutti_shape tutti_rows_shape(const tutti_rows *rows);
TUTTI_API enum tutti_element tutti_rows_element(const tutti_rows *rows);
/* [rows][height][width][channels] of uint8_t or float. */
TUTTI_API const void *tutti_rows_pixels(const tutti_rows *rows);
/* [rows]; NULL without labels. */
TUTTI_API const int64_t *tutti_rows_labels(const tutti_rows *rows);

TUTTI_END_DECLS
#endif
