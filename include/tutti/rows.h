/* rows.h - rows of data as a source gives them, before they are split or scaled: cells in named columns, or images. */
#ifndef TUTTI_ROWS_H
#define TUTTI_ROWS_H

#include <tutti/npy.h>
#include <tutti/task.h>

TUTTI_BEGIN_DECLS

/* Either a table, whose columns grow one by one, or images of one shape; at most UINT32_MAX rows. The host makes it, a
   source fills it, and the host checks it: columns of different lengths, or labels that do not match the images, are an
   error of the source. What is handed over is copied. */
typedef struct tutti_rows tutti_rows;

/* Make empty rows; the caller destroys *rows. `origin` is what messages name: a file's path, or the source's name. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_rows_create(tutti_context *context, const char *origin,
                                                              tutti_rows **rows);
/* Destroy them; NULL is allowed. */
TUTTI_API void tutti_rows_destroy(tutti_rows *rows);

/* --- tables: filling -------------------------------------------------------------------------------------------- */

/* The content of a cell. */
enum tutti_cell { TUTTI_CELL_NUMBER, TUTTI_CELL_INFINITE, TUTTI_CELL_MISSING, TUTTI_CELL_TEXT };

/* Read a word of a text file: a decimal number with a point (whatever the process's locale), inf, one of the ways to
   write that a value is missing ("", ?, NA, N/A, nan, null), or a text. *number is NaN unless it is a number or
   infinite. */
TUTTI_API enum tutti_cell tutti_cell_read(const char *text, double *number);
/* Is a word one to three digits, this sign and three more, as 1.500 or -12,345? The sign may then be that of decimals
   or stand between thousands. */
TUTTI_API bool tutti_cell_in_threes(const char *text, char sign);

/* Add a column without cells; columns are numbered from 0. `name` is UTF-8. NULL: the data do not name it; it is called
   "x" and its number. TUTTI_ERROR_USAGE: another column has this name; TUTTI_ERROR_PLUGIN: the rows are images. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_rows_add_column(tutti_context *context, tutti_rows *rows,
                                                                  const char *name);
/* About so many rows will come, with those that are there: room is made for them at once, if they take no more than
   half of what rows may take. A wrong guess costs time or memory, and nothing else. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_rows_expect(tutti_context *context, tutti_rows *rows, size_t count);
/* Add numbers[count] at the end of a column. NaN: the value is missing. TUTTI_ERROR_USAGE, here and below: too many
   rows; TUTTI_ERROR_PLUGIN: there is no such column. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_rows_add_numbers(tutti_context *context, tutti_rows *rows,
                                                                   size_t column, size_t count, const double *numbers);
/* Add a text at the end of a column, even if it looks like a number: a category, or a class. NULL: the value is
   missing. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_rows_add_text(tutti_context *context, tutti_rows *rows, size_t column,
                                                                const char *text);
/* Add a word of a text file at the end of a column, as tutti_cell_read reads it. Rows of an application are read as the
   training file is, where 1.500 may be 1500: what is a number is best added as one. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_rows_add_cell(tutti_context *context, tutti_rows *rows, size_t column,
                                                                const char *text);
/* Add truths[count] at the end of a column, as the texts True and False; a model whose training data wrote them
   otherwise takes them as they are there (tutti_model_predict). */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_rows_add_truths(tutti_context *context, tutti_rows *rows,
                                                                  size_t column, size_t count, const bool *truths);
/* Add the lines of the file, from 1, where the next rows start: lines[count]. For messages; of all rows, or of none. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_rows_add_lines(tutti_context *context, tutti_rows *rows, size_t count,
                                                                 const uint32_t *lines);
/* Add a row that cannot be read, with all its cells missing, where that is tolerated (source.h); `why` says what was
   expected and what was found, but not where. TUTTI_ERROR_PLUGIN: some columns have more cells than others. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_rows_add_unread(tutti_context *context, tutti_rows *rows,
                                                                  const char *why);
/* Say what a parameter of the source that decides by itself came to be for these rows, as a recipe would write it:
   "delimiter", "comma". Words of an application and new files may depend on it (`reword` and `settled` in source.h). Of
   each parameter the last value is kept. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_rows_settle(tutti_context *context, tutti_rows *rows,
                                                              const char *parameter, const char *value);
/* Make the last `columns` columns the targets, whatever their names; 0 (the default): the recipe says which are. */
TUTTI_API void tutti_rows_set_targets(tutti_rows *rows, size_t columns);
/* Say what a table is for, if the recipe does not. Default: classification for a target of texts, else regression. */
TUTTI_API void tutti_rows_set_task(tutti_rows *rows, enum tutti_task_kind task);

/* --- images: filling -------------------------------------------------------------------------------------------- */

enum { TUTTI_ROWS_MAX_SIDE = 1 << 14, TUTTI_ROWS_MAX_CHANNELS = 16 };

/* Say what the images of the file `path` are like: their shape, and TUTTI_U8 or TUTTI_F32. Every file may say so.
   TUTTI_ERROR_USAGE: a shape beyond the limits, or a file that disagrees with the first (names both);
   TUTTI_ERROR_PLUGIN: another element, or the rows are a table. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_rows_expect_images(tutti_context *context, tutti_rows *rows,
                                                                     const char *path, struct tutti_shape shape,
                                                                     enum tutti_element element);
/* Add pixels[count][height][width][channels], of `bytes` bytes in all. TUTTI_ERROR_USAGE: a float is not finite, or too
   many images; TUTTI_ERROR_PLUGIN: the shape was not said, or `bytes` does not fit it. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_rows_add_images(tutti_context *context, tutti_rows *rows,
                                                                  size_t count, const void *pixels, size_t bytes);
/* Add labels[count], the classes of the next images, as they are numbered in the data. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_rows_add_labels(tutti_context *context, tutti_rows *rows,
                                                                  size_t count, const int64_t *labels);

/* --- both ------------------------------------------------------------------------------------------------------- */

/* Make the last `count` rows the test rows, which are not shared out; the default is 0. */
TUTTI_API void tutti_rows_set_test_rows(tutti_rows *rows, size_t count);

/* --- reading ---------------------------------------------------------------------------------------------------- */

/* What messages name; borrowed. */
TUTTI_API const char *tutti_rows_origin(const tutti_rows *rows);
/* The number of rows: cells of the first column, or images. */
TUTTI_API size_t tutti_rows_count(const tutti_rows *rows);
/* How many of the last rows are test rows; tutti_rows_are_images: whether rows are images. */
TUTTI_API size_t tutti_rows_test_rows(const tutti_rows *rows);
TUTTI_API bool tutti_rows_are_images(const tutti_rows *rows);

/* The number of columns; 0 for images. */
TUTTI_API size_t tutti_rows_columns(const tutti_rows *rows);
/* The names of the columns [columns], borrowed; tutti_rows_named: whether the data named any of them;
   tutti_rows_targets: how many of the last columns are the targets (0: not said). */
TUTTI_API const char *const *tutti_rows_names(const tutti_rows *rows);
TUTTI_API bool tutti_rows_named(const tutti_rows *rows);
/* The first column of this name, SIZE_MAX: there is none. Takes about log2(columns) comparisons. */
TUTTI_API size_t tutti_rows_find(const tutti_rows *rows, const char *name);
TUTTI_API size_t tutti_rows_targets(const tutti_rows *rows);
/* Set *task to what the source says the table is for. False, with *task unchanged, if it has not said. */
TUTTI_API bool tutti_rows_task(const tutti_rows *rows, enum tutti_task_kind *task);
/* A parameter that was settled, from index 0 on in the order in which they were, and its value; borrowed. NULL, both:
   there are no more. */
TUTTI_API const char *tutti_rows_settled(const tutti_rows *rows, size_t index, const char **value);
/* The content of a cell; `row` and `column`, here and below, are in range. */
TUTTI_API enum tutti_cell tutti_rows_cell(const tutti_rows *rows, size_t row, size_t column);
/* The number of a cell, maybe infinite; NaN for other cells. */
TUTTI_API double tutti_rows_number(const tutti_rows *rows, size_t row, size_t column);
/* The text of a cell that holds no finite number, or one with zeros before it, as codes have: as it was handed over;
   "" if there was none. Borrowed until the next one is added. */
TUTTI_API const char *tutti_rows_text(const tutti_rows *rows, size_t row, size_t column);
/* How a number was written: without a point, or handed over as such; as 1.500, which may be 1500 where commas are
   decimal signs; otherwise with a point, as 1.5. */
enum tutti_written { TUTTI_WRITTEN_PLAIN, TUTTI_WRITTEN_IN_THREES, TUTTI_WRITTEN_WITH_POINT };
/* How the number of a cell was written, if it was added as a word. */
TUTTI_API enum tutti_written tutti_rows_written(const tutti_rows *rows, size_t row, size_t column);
/* Why a row cannot be read, borrowed; NULL: it can. */
TUTTI_API const char *tutti_rows_unread(const tutti_rows *rows, size_t row);
/* The line of the file where a row starts; 0: unknown. */
TUTTI_API uint32_t tutti_rows_line(const tutti_rows *rows, size_t row);

/* The shape of the images, zeros for tables; tutti_rows_element: the type of their pixels. */
TUTTI_API struct tutti_shape tutti_rows_shape(const tutti_rows *rows);
TUTTI_API enum tutti_element tutti_rows_element(const tutti_rows *rows);
/* The images [rows][height][width][channels], uint8_t or float; borrowed. NULL for tables. */
TUTTI_API const void *tutti_rows_pixels(const tutti_rows *rows);
/* The classes [rows], as they are numbered in the data; borrowed. NULL without labels. */
TUTTI_API const int64_t *tutti_rows_labels(const tutti_rows *rows);

TUTTI_END_DECLS
#endif
