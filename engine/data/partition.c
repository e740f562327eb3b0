/* partition.c - assigns rows to splits: first by files of row numbers, then by shares, at random, class by class if
   asked. Of n rows of a class, each split gets its share to within one row, or two where classes are so small that a
   split would have none at all. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tutti/names.h>
#include <tutti/random.h>

#include "partition_impl.h"
#include "core/base/file_impl.h"
#include "core/base/text_impl.h"
#include "engine/data/split_names.h"

static const char *const split_names[] = {TUTTI_SPLIT_TRAIN, TUTTI_SPLIT_VALIDATION, TUTTI_SPLIT_TEST,
                                          TUTTI_SPLIT_CALIBRATION};

const char *tutti_partition_name(size_t split) { return split_names[split]; }

enum { FREE = TUTTI_UNUSED + 1 }; /* a row that no file has named yet */

/* --- files of row numbers --- */

static enum tutti_status take_row(tutti_context *context, const struct tutti_partition *partition, size_t split,
                                  uint8_t *named, const char *text, size_t line) {
  const char *path = partition->files[split];
  char *end;
  errno = 0;
  unsigned long long row = strtoull(text, &end, 10);
  if (text[strspn(text, "0123456789")] != '\0' || errno != 0)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "%s:%zu: expected a row number, found '%.40s'", path, line, text);
  const size_t rows = partition->rows - partition->test_rows;
  if (row >= rows && rows == 1)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "%s:%zu: row %llu is out of range: the data have row 0 alone", path,
                      line, row);
  if (row >= rows)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "%s:%zu: row %llu is out of range: the data have rows 0 to %zu", path,
                      line, row, rows - 1);
  if (named[row] == split)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "%s:%zu: row %llu stands here twice", path, line, row);
  if (named[row] != FREE)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "%s:%zu: row %llu is a %s row already, as %s says", path, line, row,
                      split_names[named[row]], partition->files[named[row]]);
  named[row] = (uint8_t)split;
  return TUTTI_OK;
}

static enum tutti_status read_rows(tutti_context *context, const struct tutti_partition *partition, size_t split,
                                   uint8_t *named) {
  enum tutti_status status = TUTTI_OK;
  const char *path = partition->files[split];
  char *text = NULL;
  size_t bytes, line = 0, count = 0;
  if (tutti_file_read(context, path, &text, &bytes) != TUTTI_OK)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "data.%s_rows: cannot read %s: expected a file of row numbers",
                      split_names[split], path);
  if (strlen(text) != bytes) {
    status = TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "%s: expected row numbers, found a zero byte", path);
    goto out;
  }
  for (char *rest = text, *word; (word = strsep(&rest, "\n"));) {
    word = tutti_text_trim(word);
    line++;
    if (*word == '\0')
      continue;
    TUTTI_TRY_OUT(context, take_row(context, partition, split, named, word, line));
    count++;
  }
  if (count == 0)
    status = TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "%s: expected row numbers, one a line, found none", path);
out:
  tutti_free(text);
  return status;
}

enum tutti_status tutti_partition_check(tutti_context *context, size_t split, const char *path, size_t rows) {
  struct tutti_partition partition = {.rows = rows};
  uint8_t *named;
  TUTTI_TRY(context, tutti_alloc(context, rows, 1, &named));
  memset(named, FREE, rows);
  partition.files[split] = path;
  enum tutti_status status = read_rows(context, &partition, split, named);
  tutti_free(named);
  return status;
}

/* --- a gap --- */

struct ordered {
  double value;
  size_t row;
};

static int compare_ordered(const void *one, const void *other) {
  const struct ordered *a = one, *b = other;
  return a->value != b->value ? (a->value > b->value) - (a->value < b->value) : (a->row > b->row) - (a->row < b->row);
}

/* Of the rows that no file named, those in the middle third become test rows. */
static enum tutti_status cut_gap(tutti_context *context, const struct tutti_partition *partition, uint8_t *named) {
  struct ordered *rows;
  size_t count = 0;
  TUTTI_TRY(context, tutti_alloc(context, partition->rows, sizeof *rows, &rows));
  for (size_t r = 0; r < partition->rows; r++)
    if (named[r] == FREE && partition->split[r] != TUTTI_UNUSED)
      rows[count++] = (struct ordered){partition->gap[r], r};
  qsort(rows, count, sizeof *rows, compare_ordered);
  for (size_t i = (2 * count + 3) / 6; i < (4 * count + 3) / 6; i++) /* thirds, rounded */
    named[rows[i].row] = TUTTI_TEST;
  tutti_free(rows);
  return TUTTI_OK;
}

/* --- shares --- */

/* The rows of split s and all splits before it, among n: rounded, so that a split's count is within one of its exact
   share. */
static size_t boundary(const double *shares, double sum, size_t split, size_t n) {
  double share = 0;
  for (size_t s = 0; s <= split; s++)
    share += shares[s];
  return split + 1 == TUTTI_SPLITS ? n : (size_t)floor((double)n * (share / sum) + 0.5);
}

/* `before`: rows of the strata before this one, behind which the shares go on, so that those of all rows together are
   met; each stratum then still has a training row. 0: each stratum by itself. */
static void share_out(const struct tutti_partition *partition, const double *shares, size_t stratum, size_t before,
                      size_t count, uint32_t *rows) {
  struct tutti_random random;
  double sum = shares[0] + shares[1] + shares[2];
  size_t at = 0;
  if (!partition->in_order) {
    tutti_random_init(&random, partition->seed, "split", stratum);
    tutti_random_shuffle(&random, count, rows);
  }
  for (size_t s = 0; s < TUTTI_SPLITS; s++) {
    size_t end =
        s + 1 == TUTTI_SPLITS ? count : boundary(shares, sum, s, before + count) - boundary(shares, sum, s, before);
    end = s == TUTTI_TRAIN && end == 0 && before > 0 && shares[s] > 0 && count > 0 ? 1 : end;
    for (; at < end; at++)
      partition->split[rows[at]] = (uint8_t)s;
  }
}

/* Whole groups, shared out among the splits to[TUTTI_SPLITS]: each goes where its middle lies when all stand in the
   order that the stream draws. */
static enum tutti_status share_groups(tutti_context *context, const struct tutti_partition *partition,
                                      const char *stream, const uint8_t *to, const double *shares, size_t count,
                                      const uint32_t *rows) {
  enum tutti_status status = TUTTI_OK;
  double sum = shares[0] + shares[1] + shares[2];
  size_t groups = 0, at = 0;
  uint32_t *first = NULL, *size = NULL;
  uint8_t *chosen = NULL;
  struct tutti_random random;
  TUTTI_TRY_OUT(context, tutti_alloc(context, count, sizeof *first, &first));
  TUTTI_TRY_OUT(context, tutti_alloc(context, partition->rows, sizeof *size, &size));
  TUTTI_TRY_OUT(context, tutti_alloc(context, partition->rows, sizeof *chosen, &chosen));
  for (size_t i = 0; i < count; i++)
    if (size[partition->group[rows[i]]]++ == 0)
      first[groups++] = partition->group[rows[i]];
  if (!partition->in_order) {
    tutti_random_init(&random, partition->seed, stream, 0);
    tutti_random_shuffle(&random, groups, first);
  }
  for (size_t g = 0; g < groups; g++) {
    double middle = (double)at + size[first[g]] / 2.0;
    size_t s = 0;
    while (s + 1 < TUTTI_SPLITS && middle >= (double)boundary(shares, sum, s, count))
      s++;
    chosen[first[g]] = to[s];
    at += size[first[g]];
  }
  for (size_t i = 0; i < count; i++)
    partition->split[rows[i]] = chosen[partition->group[rows[i]]];
out:
  tutti_free(first);
  tutti_free(size);
  tutti_free(chosen);
  return status;
}

/* Files of row numbers, or a gap, may cut a group in two, and then test rows are no new ones. */
static enum tutti_status check_groups(tutti_context *context, const struct tutti_partition *partition) {
  uint32_t *seen; /* of a group: its first used row + 1 */
  enum tutti_status status = TUTTI_OK;
  if (!partition->group)
    return TUTTI_OK;
  TUTTI_TRY(context, tutti_alloc(context, partition->rows, sizeof *seen, &seen));
  for (size_t r = 0; r < partition->rows && status == TUTTI_OK; r++) {
    if (partition->split[r] == TUTTI_UNUSED)
      continue;
    uint32_t *of_group = &seen[partition->group[r]];
    if (*of_group == 0)
      *of_group = (uint32_t)r + 1;
    else if (partition->split[*of_group - 1] != partition->split[r])
      status =
          TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                     "data.groups: rows %u and %zu are of one group, but one is of %s and the other of %s; leave "
                     "out the key that tears them apart (a file of row numbers, or gap)",
                     *of_group - 1, r, split_names[partition->split[*of_group - 1]], split_names[partition->split[r]]);
  }
  tutti_free(seen);
  return status;
}

static bool in_stratum(const struct tutti_partition *partition, size_t row, size_t stratum) {
  return !partition->labels || (size_t)partition->labels[row] == stratum;
}

/* Share out the rows that no file named, stratum by stratum. `rows` has room for all. */
static void share_strata(const struct tutti_partition *partition, const double *shares, const uint8_t *named,
                         bool together, uint32_t *rows) {
  size_t before = 0, strata = partition->labels ? partition->classes : 1;
  for (size_t stratum = 0; stratum < strata; stratum++) {
    size_t count = 0;
    for (size_t r = 0; r < partition->rows; r++)
      if (named[r] == FREE && partition->split[r] != TUTTI_UNUSED && in_stratum(partition, r, stratum))
        rows[count++] = (uint32_t)r;
    share_out(partition, shares, stratum, together ? before : 0, count, rows);
    before += count;
  }
}

/* Has a split with a share got no row? */
static bool lacks_rows(const struct tutti_partition *partition, const double *shares, const uint8_t *named) {
  size_t counts[TUTTI_SPLITS] = {0};
  for (size_t r = 0; r < partition->rows; r++)
    if (named[r] == FREE && partition->split[r] < TUTTI_SPLITS)
      counts[partition->split[r]]++;
  for (size_t s = 0; s < TUTTI_SPLITS; s++)
    if (shares[s] > 0 && counts[s] == 0)
      return true;
  return false;
}

/* Divide the rows that no file named among the splits without a file. */
static enum tutti_status share_rest(tutti_context *context, const struct tutti_partition *partition,
                                    const uint8_t *named) {
  enum tutti_status status = TUTTI_OK;
  double shares[TUTTI_SPLITS], sum = 0;
  uint32_t *rows = NULL;
  for (size_t s = 0; s < TUTTI_SPLITS; s++) {
    bool taken = partition->files[s] || (s == TUTTI_TEST && (partition->test_rows || partition->gap));
    sum += shares[s] = taken ? 0 : partition->shares[s];
  }
  TUTTI_TRY_OUT(context, tutti_alloc(context, partition->rows, sizeof *rows, &rows));
  if (sum > 0 && partition->group) {
    size_t count = 0;
    for (size_t r = 0; r < partition->rows; r++)
      if (named[r] == FREE && partition->split[r] != TUTTI_UNUSED)
        rows[count++] = (uint32_t)r;
    TUTTI_TRY_OUT(context,
                  share_groups(context, partition, "split",
                               (const uint8_t[]){TUTTI_TRAIN, TUTTI_VALIDATION, TUTTI_TEST}, shares, count, rows));
  } else if (sum > 0) {
    share_strata(partition, shares, named, false, rows);
    if (lacks_rows(partition, shares, named))
      share_strata(partition, shares, named, true, rows);
  }
  for (size_t r = 0; r < partition->rows && sum <= 0; r++)
    if (named[r] == FREE)
      partition->split[r] = TUTTI_UNUSED;
out:
  tutti_free(rows);
  return status;
}

/* --- limits --- */

/* Keep only so many rows of a split: of each stratum its share, to within one row. */
static void thin_out(const struct tutti_partition *partition, size_t split, uint32_t *rows) {
  size_t all = 0, seen = 0, kept = 0, limit = partition->limits[split];
  for (size_t r = 0; r < partition->rows; r++)
    all += partition->split[r] == split;
  for (size_t stratum = 0; all > limit && stratum < (partition->labels ? partition->classes : 1); stratum++) {
    struct tutti_random random;
    size_t count = 0;
    for (size_t r = 0; r < partition->rows; r++)
      if (partition->split[r] == split && in_stratum(partition, r, stratum))
        rows[count++] = (uint32_t)r;
    if (!partition->in_order) {
      tutti_random_init(&random, partition->seed, "limit", stratum * TUTTI_SPLITS + split);
      tutti_random_shuffle(&random, count, rows);
    }
    seen += count;
    size_t keep = (size_t)floor((double)limit * (double)seen / (double)all + 0.5) - kept;
    kept += keep;
    for (size_t i = keep; i < count; i++)
      partition->split[rows[i]] = TUTTI_UNUSED;
  }
}

static enum tutti_status apply_limits(tutti_context *context, const struct tutti_partition *partition) {
  uint32_t *rows;
  TUTTI_TRY(context, tutti_alloc(context, partition->rows, sizeof *rows, &rows));
  for (size_t s = 0; s < TUTTI_SPLITS; s++)
    if (partition->limits[s])
      thin_out(partition, s, rows);
  tutti_free(rows);
  return TUTTI_OK;
}

/* --- calibration rows --- */

static enum tutti_status fail_to_keep(tutti_context *context, const struct tutti_partition *partition, size_t rows,
                                      const char *found) {
  return TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                    "data.calibration: %g of the %zu training %s%s is %s share, or 0 to do without",
                    partition->calibration, rows, tutti_plural(rows, "row", "rows"),
                    partition->group ? ", as whole groups," : "", found);
}

/* Whole groups of training rows. */
static enum tutti_status keep_groups_apart(tutti_context *context, const struct tutti_partition *partition) {
  static const uint8_t to[TUTTI_SPLITS] = {TUTTI_TRAIN, TUTTI_CALIBRATION, TUTTI_CALIBRATION};
  const double shares[TUTTI_SPLITS] = {1 - partition->calibration, partition->calibration, 0};
  enum tutti_status status = TUTTI_OK;
  size_t count = 0, kept = 0;
  uint32_t *rows;
  TUTTI_TRY(context, tutti_alloc(context, partition->rows, sizeof *rows, &rows));
  for (size_t r = 0; r < partition->rows; r++)
    if (partition->split[r] == TUTTI_TRAIN)
      rows[count++] = (uint32_t)r;
  TUTTI_TRY_OUT(context, share_groups(context, partition, "calibration", to, shares, count, rows));
  for (size_t i = 0; i < count; i++)
    kept += partition->split[rows[i]] == TUTTI_CALIBRATION;
  if (kept == 0 || kept == count)
    status = fail_to_keep(context, partition, count, kept == 0 ? "none; give a larger" : "all; give a smaller");
out:
  tutti_free(rows);
  return status;
}

/* Turn a share of the training rows into calibration rows: of each stratum its share, to within one row. */
static enum tutti_status keep_rows_apart(tutti_context *context, const struct tutti_partition *partition) {
  uint32_t *rows;
  size_t seen = 0, kept = 0;
  TUTTI_TRY(context, tutti_alloc(context, partition->rows, sizeof *rows, &rows));
  for (size_t stratum = 0; stratum < (partition->labels ? partition->classes : 1); stratum++) {
    struct tutti_random random;
    size_t count = 0;
    for (size_t r = 0; r < partition->rows; r++)
      if (partition->split[r] == TUTTI_TRAIN && in_stratum(partition, r, stratum))
        rows[count++] = (uint32_t)r;
    if (!partition->in_order) {
      tutti_random_init(&random, partition->seed, "calibration", stratum);
      tutti_random_shuffle(&random, count, rows);
    }
    seen += count;
    size_t keep = (size_t)floor((double)seen * partition->calibration + 0.5) - kept;
    keep = keep < count ? keep : count - (count > 0); /* what is to be learned keeps a row */
    kept += keep;
    for (size_t i = count - keep; i < count; i++)
      partition->split[rows[i]] = TUTTI_CALIBRATION;
  }
  tutti_free(rows);
  if (kept > 0)
    return TUTTI_OK;
  return fail_to_keep(context, partition, seen, "none; give a larger");
}

/* --- check --- */

static enum tutti_status check_counts(tutti_context *context, const struct tutti_partition *partition) {
  size_t counts[TUTTI_UNUSED + 1] = {0};
  for (size_t r = 0; r < partition->rows; r++)
    counts[partition->split[r]]++;
  for (size_t s = 0; s < TUTTI_SPLITS; s++)
    if (counts[s] == 0 && (s == TUTTI_TRAIN || partition->shares[s] > 0 || partition->files[s]))
      return TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                        "data.split leaves no %s rows: %zu train, %zu validation, %zu test (%zu unused); give larger "
                        "shares, or a share of 0 to do without%s",
                        split_names[s], counts[TUTTI_TRAIN], counts[TUTTI_VALIDATION], counts[TUTTI_TEST],
                        counts[TUTTI_UNUSED],
                        partition->labels && partition->classes > 2
                            ? "; each class has its share of each (data.stratify), and with few rows "
                              "of a class that is none: is the target meant to be a number?"
                            : "");
  return TUTTI_OK;
}

enum tutti_status tutti_partition_rows(tutti_context *context, const struct tutti_partition *partition) {
  enum tutti_status status = TUTTI_OK;
  uint8_t *named = NULL;
  TUTTI_TRY_OUT(context, tutti_alloc(context, partition->rows, 1, &named));
  memset(named, FREE, partition->rows);
  memset(named + partition->rows - partition->test_rows, TUTTI_TEST, partition->test_rows);
  for (size_t s = 0; s < TUTTI_SPLITS; s++)
    if (partition->files[s])
      TUTTI_TRY_OUT(context, read_rows(context, partition, s, named));
  if (partition->gap)
    TUTTI_TRY_OUT(context, cut_gap(context, partition, named));
  for (size_t r = 0; r < partition->rows; r++)
    if (named[r] != FREE && partition->split[r] != TUTTI_UNUSED)
      partition->split[r] = named[r];
  TUTTI_TRY_OUT(context, share_rest(context, partition, named));
  TUTTI_TRY_OUT(context, apply_limits(context, partition));
  TUTTI_TRY_OUT(context, check_counts(context, partition));
  if (partition->calibration > 0)
    TUTTI_TRY_OUT(context, (partition->group ? keep_groups_apart : keep_rows_apart)(context, partition));
  TUTTI_TRY_OUT(context, check_groups(context, partition));
out:
  tutti_free(named);
  return status;
}
