/* command_export.c - tutti export: a run's ensemble in a form that other programs run. */
#include "program_impl.h"

#include "core/base/replaced_impl.h"

#include <string.h>
#include <sys/stat.h>
#include <tutti/export.h>

struct export_options {
  const char *to, *ensemble;
  bool trust, uncalibrated, no_sample, json;
};

static bool is_onnx(const char *path) {
  size_t length = strlen(path);
  return length > 5 && strcmp(path + length - 5, ".onnx") == 0;
}

/* A folder that is there, or a name without an ending. */
static bool is_folder(const char *path) {
  const char *name = strrchr(path, '/');
  struct stat facts;
  name = name ? name + 1 : path;
  return !strchr(name, '.') || strcmp(name, ".") == 0 || strcmp(name, "..") == 0 ||
         (stat(path, &facts) == 0 && S_ISDIR(facts.st_mode));
}

/* It begins with the version of ONNX's format, a byte each, and who wrote it. */
static const struct tutti_file_kind model_kind = {.name = "an ONNX model", .begins = {"\x08\x08\x12\x05tutti"}};

/* "1.5 MiB" */
static const char *show_bytes(double bytes, char text[32]) {
  static const char *const units[] = {"bytes", "KiB", "MiB", "GiB"};
  size_t unit = 0;
  for (; bytes >= 1024 && unit < 3; unit++)
    bytes /= 1024;
  (void)snprintf(text, 32, unit ? "%.1f %s" : "%.0f %s", bytes, units[unit]);
  return text;
}

/* The size, and of a large model of several members the one that takes most of it. */
static void show_written(const json_t *root, const void *options, FILE *out) {
  enum { LARGE = 10 << 20 };
  const json_t *members = json_object_get(root, "members"), *largest = NULL;
  const long long model = count_of(root, "model_bytes");
  size_t index;
  json_t *member;
  char text[32];
  (void)options;
  json_array_foreach((json_t *)members, index, member) largest =
      !largest || count_of(member, "bytes") > count_of(largest, "bytes") ? member : largest;
  (void)fprintf(out, "%s: %s", text_of(root, "path"), show_bytes((double)count_of(root, "bytes"), text));
  if (model >= LARGE && index > 1)
    (void)fprintf(out, ", of which trial %lld (%s) takes %s", count_of(largest, "trial"), text_of(largest, "backend"),
                  show_bytes((double)count_of(largest, "bytes"), text));
  (void)fputc('\n', out);
}

static int run_export(tutti_context *context, const struct texts *operands, const void *given) {
  const struct export_options *options = given;
  enum tutti_status status = TUTTI_OK;
  tutti_view *view = NULL;
  tutti_model *model = NULL;
  char *ensemble = NULL, *written = NULL;
  int code = EXIT_FAILED;
  bool folder = options->to && is_folder(options->to);
  const struct tutti_export_options how = {.size = sizeof how,
                                           .uncalibrated = options->uncalibrated,
                                           .without_sample = options->no_sample,
                                           .written = &written};
  if (!options->to || (!folder && !is_onnx(options->to)))
    return fail(context,
                TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                           "expected --to FILE.onnx, the file to write, or a folder, %s%s; as in tutti export %s --to "
                           "model.onnx (a new folder whose name has a dot: end it in /)",
                           options->to ? "found " : "found none", options->to ? options->to : "", operands->items[0]));
  if (options->no_sample && !folder)
    return fail(context, TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                                    "expected a folder with --no-sample, found --to %s: a file never has a sample of "
                                    "rows, but its models may hold some",
                                    options->to));
  tutti_trust_runs(context, options->trust);
  if (!folder)
    TUTTI_TRY_OUT(context, tutti_file_check_replaced(context, options->to, &model_kind));
  if (options->ensemble)
    TUTTI_TRY_OUT(context, read_json(context, options->ensemble, &ensemble));
  TUTTI_TRY_OUT(context, tutti_view_open(context, operands->items[0], &view));
  TUTTI_TRY_OUT(context, tutti_view_model(context, view, ensemble, &model));
  TUTTI_TRY_OUT(context, folder ? tutti_export_folder(context, model, &how, options->to)
                                : tutti_export_file(context, model, &how, options->to));
  code = print_result(written, options->json, show_written, NULL);
out:
  if (status != TUTTI_OK)
    code = fail(context, status);
  tutti_model_close(model);
  tutti_view_close(view);
  tutti_free(ensemble);
  tutti_free(written);
  return code;
}

static const struct command_option export_options[] = {
    {"to", 't', OPTION_TEXT, "PATH", "Write this FILE.onnx, or a folder that explains itself; required.",
     .offset = offsetof(struct export_options, to), .completes = COMPLETE_FILE},
    {"ensemble", 'e', OPTION_TEXT, "FILE", "This ensemble (as select --json prints it), not the run's own.",
     .offset = offsetof(struct export_options, ensemble), .completes = COMPLETE_FILE},
    {"uncalibrated", 'u', OPTION_FLAG, NULL, "Without the ensemble's calibrator, as tutti predict --uncalibrated.",
     .offset = offsetof(struct export_options, uncalibrated)},
    {"no-sample", 'n', OPTION_FLAG, NULL, "A folder without rows of the data; refused for models that hold some.",
     .offset = offsetof(struct export_options, no_sample)},
    {"json", 'j', OPTION_FLAG, NULL, "What was written, in bytes, in all and by member, as JSON.",
     .offset = offsetof(struct export_options, json)},
    TRUST_OPTION(struct export_options),
    {0}};

const struct command command_export = {
    .name = "export",
    .summary = "a run's ensemble as an ONNX model",
    .about = "Write a run's ensemble as an ONNX model, which other programs run without Tutti.",
    .notes =
        "The file has everything that turns a raw row into a prediction: scaling and categories, networks, trees and "
        "machines, how they are mixed, and the calibrator. Inputs are the columns of the data by name, [rows, 1]: "
        "doubles, where "
        "NaN is a "
        "missing value, or strings of a column with categories; of images, one input \"image\". Outputs are those "
        "of tutti "
        "predict. What ONNX has no counterpart of is refused, by name. A folder (a PATH without an ending) gets the "
        "model with a page, "
        "a description for programs, and some rows with what is right for them. The models of some learners hold rows "
        "of "
        "the training data, which can be read from the file: docs/export.md.",
    .operands = ONE_RUN,
    .options = export_options,
    .size = sizeof(struct export_options),
    .run = run_export,
};
