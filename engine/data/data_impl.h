/* data_impl.h - how data are read, chosen, split and encoded; for engine/ alone.

   The way of the data: a source (csv.c, npy_table.c, generators.c) gives a table; roles.c says which columns are inputs
   and which are targets; partition.c gives each row its split; encoding.c turns rows into numbers, with statistics of
   the training rows; dataset.c puts it together; apply.c sends new rows through a kept encoding. */
#ifndef TUTTI_DATA_IMPL_H
#define TUTTI_DATA_IMPL_H

#include <tutti/data.h>
#include <tutti/npy.h>

/* --- parameters: [data] and [head] (data_params.c) --- */

/* Of `format`; from TUTTI_FORMAT_GENERATOR on the numbers of generators. */
enum tutti_format {
  TUTTI_FORMAT_AUTO,
  TUTTI_FORMAT_CSV,
  TUTTI_FORMAT_NPY,
  TUTTI_FORMAT_IDX,
  TUTTI_FORMAT_CIFAR,
  TUTTI_FORMAT_CIFAR100,
  TUTTI_FORMAT_CIFAR100_COARSE,
  TUTTI_FORMAT_GENERATOR
};
enum tutti_header { TUTTI_HEADER_AUTO, TUTTI_HEADER_YES, TUTTI_HEADER_NO };
enum tutti_delimiter {
  TUTTI_DELIMITER_AUTO,
  TUTTI_DELIMITER_COMMA,
  TUTTI_DELIMITER_SEMICOLON,
  TUTTI_DELIMITER_TAB,
  TUTTI_DELIMITER_SPACE
};
enum tutti_missing { TUTTI_MISSING_ERROR, TUTTI_MISSING_MEAN, TUTTI_MISSING_DROP };
enum tutti_stratify { TUTTI_STRATIFY_AUTO, TUTTI_STRATIFY_YES, TUTTI_STRATIFY_NO };
enum tutti_split_order { TUTTI_SPLIT_RANDOM, TUTTI_SPLIT_FILE };
enum { TUTTI_TASK_AUTO, TUTTI_TASK_AS_REGRESSION, TUTTI_TASK_AS_CLASSIFICATION };

struct tutti_data_config {
  int format, task, header, delimiter, missing, stratify, split_order;
  const char *path, *target, *target_path, *test_path, *test_target_path, *ignore, *categorical;
  struct tutti_reals split, noise, box, pixel_mean, pixel_deviation;
  struct tutti_integers limit, shift;
  struct tutti_choices shift_validation, shift_test;
  const char *shift_path, *cache, *ood_path;
  int64_t ood_noise;
  int64_t channels;
  const char *train_rows, *validation_rows, *test_rows;
  int64_t split_seed, rows, test_points;
  bool standardise;
};

enum { TUTTI_HEAD_AUTO, TUTTI_HEAD_SOFTMAX, TUTTI_HEAD_GAUSSIAN, TUTTI_HEAD_LINEAR };
struct tutti_head_config {
  int kind, parametrisation;
  double scale, floor;
};

/* --- tables (table.c) --- */

/* Rows and columns as they were read. Cells that are no numbers have their text; those without either are missing. */
struct tutti_table {
  char *source; /* for messages: the path, or the generator's name */
  size_t rows, columns;
  bool header;
  char **names;          /* [columns] */
  double *numbers;       /* [rows][columns]; NaN where the cell is no number */
  char *texts;           /* the cells' texts; NULL where all are numbers */
  size_t *cells;         /* [rows][columns]: where in `texts` a cell's text starts */
  uint32_t *lines;       /* [rows]: where a row starts, from 1; NULL */
  size_t test_rows;      /* the last so many rows are the generator's own test rows */
  size_t target_columns; /* the last so many columns come from a file of targets */
};

enum tutti_cell { TUTTI_CELL_NUMBER, TUTTI_CELL_INFINITE, TUTTI_CELL_MISSING, TUTTI_CELL_TEXT };

/* A table of rows x columns zeros whose columns are named x0, x1, ...; the caller fills in numbers and names. */
TUTTI_NODISCARD enum tutti_status tutti_table_create(tutti_context *context, const char *source, size_t rows,
                                                     size_t columns, struct tutti_table **table);
void tutti_table_destroy(struct tutti_table *table);
enum tutti_cell tutti_table_cell(const struct tutti_table *table, size_t row, size_t column);
static inline double tutti_table_number(const struct tutti_table *table, size_t row, size_t column) {
  return table->numbers[row * table->columns + column];
}
/* The text of a cell: as it stands in the file, or its number printed into `buffer`. */
const char *tutti_table_text(const struct tutti_table *table, size_t row, size_t column, char buffer[32]);
/* Fail with a message that starts with the cell's place. */
enum tutti_status tutti_table_fail(tutti_context *context, const struct tutti_table *table, size_t row, size_t column,
                                   const char *format, ...) TUTTI_PRINTF(5, 6);
/* Is this text UTF-8? Names and categories must be, since they are kept as JSON. */
bool tutti_table_is_utf8(const char *text);
/* A number as a table may hold it: decimal, in the C locale whatever the process's; inf counts as one. */
bool tutti_table_parse(const char *text, double *number);

/* --- sources --- */

/* Comma-separated values, maybe gzipped (csv.c). */
TUTTI_NODISCARD enum tutti_status tutti_csv_read(tutti_context *context, const char *path, enum tutti_header header,
                                                 enum tutti_delimiter delimiter, struct tutti_table **table);
/* tutti_npy_map of a file that the user named: what is wrong with it is a TUTTI_ERROR_USAGE (npy_table.c). */
TUTTI_NODISCARD enum tutti_status tutti_npy_map_users(tutti_context *context, const char *path,
                                                      struct tutti_npy *array);
/* An array [rows] or [rows][columns] (npy_table.c); and, with a second path, the columns of that behind it. */
TUTTI_NODISCARD enum tutti_status tutti_npy_table(tutti_context *context, const char *path, const char *target_path,
                                                  struct tutti_table **table);
/* A generator's rows, then its test rows; the last column is the target "y" (generators.c). */
TUTTI_NODISCARD enum tutti_status tutti_generate(tutti_context *context, const struct tutti_data_config *config,
                                                 uint64_t seed, struct tutti_table **table);
/* NULL-terminated, in the order of `format`; the summary for people. */
extern const char *const tutti_format_names[];

/* The functions of the NOMU paper, scaled to [-1, 1] (test_functions.c): NULL-terminated names, dimensions, value. */
size_t tutti_test_functions(void);
const char *tutti_test_function_name(size_t index);
size_t tutti_test_function_dimensions(size_t index);
double tutti_test_function(size_t index, const double *x);

/* --- partition (partition.c) --- */

enum { TUTTI_TRAIN, TUTTI_VALIDATION, TUTTI_TEST, TUTTI_SPLITS, TUTTI_UNUSED = TUTTI_SPLITS };

/* What is to be split. */
struct tutti_partition {
  size_t rows;           /* of the source */
  size_t test_rows;      /* the last so many are test rows whatever else is said */
  uint8_t *split;        /* [rows] in: TUTTI_UNUSED for rows that were dropped, else 0; out: the split */
  const int32_t *labels; /* [rows], to stratify by; or NULL */
  size_t classes;
  const double *shares;            /* [3] */
  bool in_order;                   /* shares are taken in the order of rows, not at random */
  size_t limits[TUTTI_SPLITS];     /* most rows of a split; 0: as many as there are */
  const char *files[TUTTI_SPLITS]; /* of row numbers; NULL where there is none */
  uint64_t seed;
};
TUTTI_NODISCARD enum tutti_status tutti_partition_rows(tutti_context *context, const struct tutti_partition *partition);
const char *tutti_partition_name(size_t split);

/* --- encoding (roles.c, categories.c, encoding.c, measure.c, encoding_json.c) --- */

/* A column of the source that is used. */
struct tutti_column {
  char *name;
  size_t position;   /* in the source, from 0 */
  size_t categories; /* 0: a number */
  char **category;   /* [categories], sorted: numbers by value, then texts by bytes */
  double mean;       /* of the training rows, in place of missing cells */
};

enum { TUTTI_MAX_CATEGORIES = 4096 };

/* The category that a cell belongs to: its text, or its number in the shortest form, printed into `buffer`. */
const char *tutti_category_of(const struct tutti_table *table, size_t row, size_t column, char buffer[32]);
/* Add a category to those of a column, unless it is there (categories.c). */
TUTTI_NODISCARD enum tutti_status tutti_category_add(tutti_context *context, struct tutti_column *column,
                                                     const char *category);
/* The number of a category; SIZE_MAX when the column has none of that name. */
size_t tutti_category_find(const struct tutti_column *column, const char *category);
/* Fail because a cell's category is not known: the message lists those that are. */
enum tutti_status tutti_category_fail(tutti_context *context, const struct tutti_column *column,
                                      const struct tutti_table *table, size_t row, size_t position);

enum { TUTTI_MAX_CHANNELS = 16 };

/* How rows become numbers: all that new rows need. Images have one target, classes, and their channels as features. */
struct tutti_encoding {
  struct tutti_shape image; /* as in the files; height 0: rows of a table */
  int format;               /* of images: enum tutti_format */
  bool floats;              /* of images: pixels are floats, not bytes */
  bool header;
  size_t source_columns;
  int delimiter;
  enum tutti_missing missing;
  enum tutti_task_kind task;
  size_t inputs, targets, features;
  struct tutti_column *input;          /* [inputs] */
  struct tutti_column *target;         /* [targets]; one with categories: classes */
  char **feature;                      /* [features]: names; a category's is "column=category" */
  double *shift, *scale;               /* [features]: encoded = (raw - shift) / scale */
  double *target_shift, *target_scale; /* [targets]; NULL for classification */
};

/* Which columns are inputs and targets, and their categories among the rows whose split is not TUTTI_UNUSED; rows with
   missing cells become TUTTI_UNUSED where they are to be dropped. Statistics stay zero (roles.c). */
TUTTI_NODISCARD enum tutti_status tutti_encoding_create(tutti_context *context, const struct tutti_data_config *config,
                                                        const struct tutti_table *table, uint8_t *split,
                                                        struct tutti_encoding **encoding);
void tutti_encoding_destroy(struct tutti_encoding *encoding);
/* Numbers of an image as it is stored. */
static inline size_t tutti_encoding_image_values(const struct tutti_encoding *encoding) {
  return (size_t)encoding->image.height * (size_t)encoding->image.width * (size_t)encoding->image.channels;
}
/* Classes, or targets. */
size_t tutti_encoding_outputs(const struct tutti_encoding *encoding);
/* Name the features and make room for their statistics, once columns and categories are known. */
TUTTI_NODISCARD enum tutti_status tutti_encoding_lay_out(tutti_context *context, struct tutti_encoding *encoding);
/* Likewise for images, whose channels are their features. */
TUTTI_NODISCARD enum tutti_status tutti_encoding_name_channels(tutti_context *context, struct tutti_encoding *encoding);
/* Statistics of the `count` rows of the table that are given (measure.c). */
TUTTI_NODISCARD enum tutti_status tutti_encoding_measure(tutti_context *context, struct tutti_encoding *encoding,
                                                         const struct tutti_table *table, size_t count,
                                                         const uint32_t *rows, bool standardise);
/* The class of a row, from 0; an unknown one is an error. */
TUTTI_NODISCARD enum tutti_status tutti_encoding_label(tutti_context *context, const struct tutti_encoding *encoding,
                                                       const struct tutti_table *table, size_t row, int32_t *label);
/* A split of these rows of the table, with targets or without. */
TUTTI_NODISCARD enum tutti_status tutti_encoding_split(tutti_context *context, const struct tutti_encoding *encoding,
                                                       const struct tutti_table *table, const char *name, size_t count,
                                                       const uint32_t *rows, bool targets, tutti_split **split);
TUTTI_NODISCARD enum tutti_status tutti_encoding_print(tutti_context *context, const struct tutti_encoding *encoding,
                                                       char **json);
TUTTI_NODISCARD enum tutti_status tutti_encoding_parse(tutti_context *context, const char *json,
                                                       struct tutti_encoding **encoding);

#endif
