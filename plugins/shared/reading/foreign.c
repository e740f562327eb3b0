/* foreign.c - what a file is that is no table of text. */
#include "foreign.h"

#include <stdbool.h>
#include <string.h>
#include <strings.h>

struct kind {
  const char *begin; /* its first bytes */
  size_t length;
  const char *text;
};
#define BEGINS(bytes) bytes, sizeof bytes - 1

static const char sheet[] = "a spreadsheet, or another ZIP file; save the sheet as CSV in UTF-8";
static const char old_sheet[] = "a spreadsheet of the old kind (.xls); save the sheet as CSV in UTF-8";
static const char parquet[] =
    "a Parquet file; make a CSV file of it, as with pandas: pandas.read_parquet(FILE).to_csv(NEW, index=False)";
static const char arrow[] =
    "an Arrow file; make a CSV file of it, as with pandas: pandas.read_feather(FILE).to_csv(NEW, index=False)";
static const char wide[] = "a text in UTF-16; convert it: iconv -f UTF-16 -t UTF-8 FILE > NEW";
static const char wide_little[] =
    "a text in UTF-16, without its mark; convert it: iconv -f UTF-16LE -t UTF-8 FILE > NEW";
static const char wide_big[] = "a text in UTF-16, without its mark; convert it: iconv -f UTF-16BE -t UTF-8 FILE > NEW";
static const char database[] = "an SQLite database; make a CSV file of a table: sqlite3 -csv -header FILE "
                               "'select * from TABLE' > NEW";
static const char array[] = "an array of NumPy; name it FILE.npy, or set data.plugin = npy";
static const char hdf[] = "an HDF5 file; make a CSV file of it";
static const char pdf[] = "a PDF file; make a CSV file of its table";
static const char image[] = "a picture; images are read from arrays (data.plugin = npy)";
static const char pickled[] = "a pickle of Python; make a CSV file of it, as with pandas: "
                              "pandas.read_pickle(FILE).to_csv(NEW, index=False)";
static const char json[] = "a JSON file; make a CSV file of it, as with pandas: "
                           "pandas.read_json(FILE).to_csv(NEW, index=False)";
static const char packed[] = "compressed in a way that is not read; gzip is: decompress it";
static const char page[] = "a page of the web; was it downloaded where one has to log in?";

static const struct kind kinds[] = {
    {BEGINS("PK\003\004"), sheet},
    {BEGINS("\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"), old_sheet},
    {BEGINS("PAR1"), parquet},
    {BEGINS("ARROW1"), arrow},
    {BEGINS("FEA1"), arrow},
    {BEGINS("\x89PNG\r\n"), image},
    {BEGINS("\xff\xd8\xff"), image}, /* JPEG */
    {BEGINS("\x80\x02"), pickled},   /* with its version of the protocol */
    {BEGINS("\x80\x03"), pickled},
    {BEGINS("\x80\x04"), pickled},
    {BEGINS("\x80\x05"), pickled},
    {BEGINS("\xff\xfe"), wide},
    {BEGINS("\xfe\xff"), wide},
    {BEGINS("SQLite format 3"), database},
    {BEGINS("\x93NUMPY"), array},
    {BEGINS("\x89HDF\r\n"), hdf},
    {BEGINS("%PDF-"), pdf},
    {BEGINS("\x28\xb5\x2f\xfd"), packed}, /* zstd */
    {BEGINS("\xfd"
            "7zXZ"),
     packed},
    {BEGINS("BZh91AY&SY"), packed},
};

/* Every other byte of what is ASCII in UTF-16 is zero. */
static const char *wide_of(const char *begin, size_t length) {
  if (length < 4)
    return NULL;
  bool little = begin[0] && !begin[1] && begin[2] && !begin[3], big = !begin[0] && begin[1] && !begin[2] && begin[3];
  return little ? wide_little : big ? wide_big : NULL;
}

/* An object, or an array of objects or arrays, with blanks between its marks or without. */
static bool is_json(const char *begin, size_t length) {
  if (length == 0 || (*begin != '{' && *begin != '['))
    return false;
  const bool object = *begin == '{';
  do
    begin++, length--;
  while (length > 0 && *begin && strchr(" \t\r\n", *begin));
  return length > 0 && *begin && strchr(object ? "\"}" : "{[", *begin);
}

const char *reading_foreign(const char *begin, size_t length) {
  static const struct { const char *begin, *text; } texts[] = {{"<!doctype html", page}, {"<html", page}};
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
    if (length >= kinds[i].length && memcmp(begin, kinds[i].begin, kinds[i].length) == 0)
      return kinds[i].text;
  const char *unmarked = wide_of(begin, length);
  if (unmarked)
    return unmarked;
  while (length > 0 && strchr(" \t\r\n", *begin) && *begin)
    begin++, length--;
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
    if (length >= strlen(texts[i].begin) && strncasecmp(begin, texts[i].begin, strlen(texts[i].begin)) == 0)
      return texts[i].text;
  return is_json(begin, length) ? json : NULL;
}
