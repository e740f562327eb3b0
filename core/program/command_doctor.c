/* command_doctor.c - tutti doctor: what this machine has, and what does not work on it. */
#include "program_impl.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/vfs.h>
#include <tutti/cpu.h>
#include <unistd.h>

static error_t parse_doctor(int key, char *value, struct argp_state *state) {
  (void)value;
  if (key != 'j')
    return ARGP_ERR_UNKNOWN;
  *(bool *)state->input = true;
  return 0;
}

/* What OpenBLAS says of itself; it is loaded by plugins, so it is asked through the loader. */
static json_t *blas_facts(void) {
  void *library = dlopen("libopenblas.so.0", RTLD_NOW | RTLD_LOCAL);
  if (!library)
    return json_pack("{s:s}", "error", "libopenblas.so.0 cannot be loaded");
  char *(*config)(void) = NULL, *(*corename)(void) = NULL;
  *(void **)&config = dlsym(library, "openblas_get_config");
  *(void **)&corename = dlsym(library, "openblas_get_corename");
  const char *chosen = tutti_cpu_blas_coretype(), *given = getenv("OPENBLAS_CORETYPE");
  return json_pack("{s:s, s:s, s:s, s:s}", "config", config ? config() : "?", "kernels_here", corename ? corename() : "?",
                   "kernels_in_workers", given ? given : chosen ? chosen : "as here", "why",
                   given    ? "OPENBLAS_CORETYPE is set in the environment"
                   : chosen ? "this processor has AVX-512, which OpenBLAS does not always see"
                            : "OpenBLAS chooses");
}

static json_t *machine_facts(void) {
  struct statfs facts;
  long long free_mib = statfs(".", &facts) == 0 ? (long long)facts.f_bavail * (long long)facts.f_bsize >> 20 : -1;
  long long memory = (long long)sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE) >> 20;
  return json_pack("{s:I, s:s, s:I, s:I, s:s}", "cores", (json_int_t)sysconf(_SC_NPROCESSORS_ONLN), "vectors",
                   tutti_cpu_name(tutti_cpu_detect()), "memory_mib", (json_int_t)memory, "free_disk_mib",
                   (json_int_t)free_mib, "journal_mode", tutti_catalogue_journal_mode("."));
}

static void count_plugin(void *argument, const struct tutti_plugin_entry *entry) {
  json_t *plugins = argument;
  json_object_set_new(plugins, "found",
                      json_integer(json_integer_value(json_object_get(plugins, "found")) + 1));
  if (!entry->works)
    json_array_append_new(json_object_get(plugins, "broken"),
                          json_pack("{s:s, s:s}", "file", entry->file, "reason", entry->reason));
}

static const char *text_of(const json_t *facts, const char *section, const char *key) {
  const char *text = json_string_value(json_object_get(json_object_get(facts, section), key));
  return text ? text : "?";
}

static long long number_of(const json_t *facts, const char *section, const char *key) {
  return (long long)json_integer_value(json_object_get(json_object_get(facts, section), key));
}

static void show(const json_t *facts) {
  const json_t *broken = json_object_get(json_object_get(facts, "plugins"), "broken");
  size_t index;
  json_t *plugin;
  (void)printf("processor   %lld cores, %s\n", number_of(facts, "machine", "cores"), text_of(facts, "machine", "vectors"));
  (void)printf("memory      %lld MiB\n", number_of(facts, "machine", "memory_mib"));
  (void)printf("disk here   %lld MiB free; catalogue in journal mode %s\n", number_of(facts, "machine", "free_disk_mib"),
               text_of(facts, "machine", "journal_mode"));
  (void)printf("OpenBLAS    %s\n            kernels here %s, in workers %s (%s)\n", text_of(facts, "blas", "config"),
               text_of(facts, "blas", "kernels_here"), text_of(facts, "blas", "kernels_in_workers"),
               text_of(facts, "blas", "why"));
  (void)printf("plugins     %lld found, %zu not working\n", number_of(facts, "plugins", "found"), json_array_size(broken));
  json_array_foreach(broken, index, plugin)
    (void)printf("            %s: %s\n", json_string_value(json_object_get(plugin, "file")),
                 json_string_value(json_object_get(plugin, "reason")));
}

int command_doctor(tutti_context *context, int argc, char **argv) {
  const struct argp_option options[] = {{"json", 'j', NULL, 0, "As JSON.", 0}, {0}};
  const struct argp argp = {options, parse_doctor, "",
                            "Look at processor, BLAS, memory, file system and plugins. Exit code 1 if a plugin does not "
                            "work.",
                            NULL, NULL, NULL};
  char program[4096];
  bool json = false;
  int code;
  if (!parse_arguments(&argp, argc, argv, &json, &code))
    return code;
  json_t *plugins = json_pack("{s:i, s:[]}", "found", 0, "broken");
  json_t *facts = json_pack("{s:s, s:o, s:o, s:o}", "version", PACKAGE_VERSION, "machine", machine_facts(), "blas",
                            blas_facts(), "plugins", plugins);
  enum tutti_status status = tutti_plugin_scan(context, program_path(program, sizeof program), count_plugin, plugins);
  if (status != TUTTI_OK) {
    json_decref(facts);
    return fail(context, status);
  }
  if (json) {
    (void)json_dumpf(facts, stdout, JSON_INDENT(2));
    (void)putchar('\n');
  } else {
    show(facts);
  }
  bool healthy = json_array_size(json_object_get(plugins, "broken")) == 0;
  json_decref(facts);
  code = finish_output();
  return code == EXIT_DONE && !healthy ? EXIT_FAILED : code;
}
