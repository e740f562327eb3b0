/* command_doctor.c - tutti doctor: the facilities of this machine, and what does not work on it. */
#include "program_impl.h"

#include <dlfcn.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/vfs.h>
#include <tutti/cpu.h>
#include <tutti/version.h>
#include <unistd.h>

struct doctor_options {
  bool json;
};

/* --- facts --- */

/* "model name" of the first processor. */
static void processor_name(char *name, size_t size) {
  char line[512];
  FILE *file = fopen("/proc/cpuinfo", "r");
  (void)snprintf(name, size, "unknown");
  while (file && fgets(line, sizeof line, file)) {
    const char *colon = strchr(line, ':');
    if (strncmp(line, "model name", 10) == 0 && colon) {
      (void)snprintf(name, size, "%s", colon + 2);
      name[strcspn(name, "\n")] = '\0';
      break;
    }
  }
  if (file)
    (void)fclose(file);
}

static json_t *processor_facts(void) {
  char name[256];
  processor_name(name, sizeof name);
  return json_pack("{s:s, s:I, s:s}", "name", name, "cores", (json_int_t)sysconf(_SC_NPROCESSORS_ONLN), "vectors",
                   tutti_cpu_name(tutti_cpu_detect()));
}

static json_t *memory_facts(void) {
  json_int_t page = sysconf(_SC_PAGESIZE);
  return json_pack("{s:I, s:I}", "total_mib", (json_int_t)sysconf(_SC_PHYS_PAGES) * page >> 20, "free_mib",
                   (json_int_t)sysconf(_SC_AVPHYS_PAGES) * page >> 20);
}

/* OpenBLAS's description of itself. Plugins load the library, so this asks the loader for it. */
static json_t *blas_facts(void) {
  void *library = dlopen("libopenblas.so.0", RTLD_NOW | RTLD_LOCAL);
  if (!library)
    return json_pack("{s:s}", "error",
                     "libopenblas.so.0 cannot be loaded; install OpenBLAS (Debian: libopenblas0-pthread)");
  char *(*config)(void) = NULL, *(*corename)(void) = NULL;
  *(void **)&config = dlsym(library, "openblas_get_config");
  *(void **)&corename = dlsym(library, "openblas_get_corename");
  const char *chosen = getenv("OPENBLAS_CORETYPE"), *ours = tutti_cpu_blas_coretype();
  const bool set_here = chosen && ours && strcmp(chosen, ours) == 0;
  return json_pack("{s:s, s:s, s:s}", "config", config ? config() : "unknown", "kernels_in_runs",
                   corename ? corename() : "unknown", "why",
                   set_here ? "Tutti sets OPENBLAS_CORETYPE: OpenBLAS does not always see AVX-512"
                   : chosen ? "OPENBLAS_CORETYPE is set"
                            : "OpenBLAS chooses");
}

static const char *file_system_name(long type) {
  static const struct {
    long type;
    const char *name;
  } known[] = {
      {EXT4_SUPER_MAGIC, "ext4"},
      {BTRFS_SUPER_MAGIC, "btrfs"},
      {XFS_SUPER_MAGIC, "xfs"},
      {TMPFS_MAGIC, "tmpfs"},
      {OVERLAYFS_SUPER_MAGIC, "overlay"},
      {NFS_SUPER_MAGIC, "nfs"},
      {FUSE_SUPER_MAGIC, "fuse"},
      {SMB2_SUPER_MAGIC, "smb"},
      {CIFS_SUPER_MAGIC, "cifs"},
      {F2FS_SUPER_MAGIC, "f2fs"},
      {0x2fc12fc1, "zfs"},
      {0x0bd00bd0, "lustre"},
      {V9FS_MAGIC, "9p"},
      {CEPH_SUPER_MAGIC, "ceph"},
      {0x47504653, "gpfs"},
  };
  for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
    if (known[i].type == type)
      return known[i].name;
  return "unknown";
}

static json_t *folder_facts(const char *folder) {
  struct statfs facts;
  if (statfs(folder, &facts) != 0)
    return json_pack("{s:s, s:s}", "path", folder, "error", "there is no such folder");
  char type[32];
  (void)snprintf(type, sizeof type, "0x%lx", (unsigned long)facts.f_type);
  return json_pack("{s:s, s:s, s:s, s:I, s:s, s:b}", "path", folder, "file_system",
                   file_system_name((long)facts.f_type), "file_system_type", type, "free_mib",
                   (json_int_t)((long long)facts.f_bavail * (long long)facts.f_bsize >> 20), "journal_mode",
                   tutti_catalogue_journal_mode(folder), "writable", access(folder, W_OK) == 0);
}

static void add_plugin(void *argument, const struct tutti_plugin_entry *entry) {
  json_t *plugins = argument, *found = json_object_get(plugins, "found");
  if (entry->shadowed_by) {
    json_array_append_new(json_object_get(plugins, "shadowed"),
                          json_pack("{s:s, s:s}", "file", entry->file, "by", entry->shadowed_by));
    return;
  }
  (void)json_integer_set(found, json_integer_value(found) + 1);
  if (*entry->uses)
    json_array_append_new(
        json_object_get(plugins, "uses"),
        json_pack("{s:s, s:s, s:s}", "kind", tutti_kind_name(entry->kind), "name", entry->name, "text", entry->uses));
  /* What lacks a device or a library here is sound: it waits for another machine. */
  if (!entry->works)
    json_array_append_new(json_object_get(plugins, entry->lacking ? "lacking" : "broken"),
                          json_pack("{s:s, s:s}", "file", entry->file, "reason", entry->reason));
}

static json_t *plugin_facts(void) {
  const char *path = getenv("TUTTI_PLUGIN_PATH");
  return json_pack("{s:s, s:i, s:[], s:[], s:[], s:[]}", "path", path ? path : "", "found", 0, "uses", "broken",
                   "lacking", "shadowed");
}

/* --- for people --- */

static void show_blas(const json_t *blas) {
  if (json_object_get(blas, "error")) {
    print_harmless(stdout, "BLAS       %s\n", text_of(blas, "error"));
    return;
  }
  print_harmless(stdout, "BLAS       %s\n           kernels in runs: %s (%s)\n", text_of(blas, "config"),
                 text_of(blas, "kernels_in_runs"), text_of(blas, "why"));
}

static void show_folder(const json_t *folder) {
  if (json_object_get(folder, "error")) {
    print_harmless(stdout, "folder     %s: %s\n", text_of(folder, "path"), text_of(folder, "error"));
    return;
  }
  print_harmless(
      stdout, "folder     %s: file system %s, %lld MiB free, %s; a catalogue there is kept in journal mode %s\n",
      text_of(folder, "path"), text_of(folder, "file_system"), count_of(folder, "free_mib"),
      json_is_true(json_object_get(folder, "writable")) ? "writable" : "not writable", text_of(folder, "journal_mode"));
}

static void show_machine(const json_t *facts) {
  const json_t *processor = json_object_get(facts, "processor"), *memory = json_object_get(facts, "memory"),
               *plugins = json_object_get(facts, "plugins"), *broken = json_object_get(plugins, "broken"),
               *lacking = json_object_get(plugins, "lacking");
  size_t index;
  json_t *plugin;
  print_harmless(stdout, "tutti      %s (%s)\n", text_of(facts, "version"), text_of(facts, "build"));
  print_harmless(stdout, "processor  %s; %lld %s, vectors: %s\n", text_of(processor, "name"),
                 count_of(processor, "cores"), tutti_plural((size_t)count_of(processor, "cores"), "core", "cores"),
                 text_of(processor, "vectors"));
  print_harmless(stdout, "memory     %lld MiB, %lld free\n", count_of(memory, "total_mib"),
                 count_of(memory, "free_mib"));
  show_blas(json_object_get(facts, "blas"));
  show_folder(json_object_get(facts, "folder"));
  print_harmless(stdout, "plugins    %lld found, %zu of them broken, %zu without something that they need",
                 count_of(plugins, "found"), json_array_size(broken), json_array_size(lacking));
  print_harmless(stdout, *text_of(plugins, "path") ? "; TUTTI_PLUGIN_PATH is %s\n" : "%s\n", text_of(plugins, "path"));
  json_array_foreach(json_object_get(plugins, "uses"), index, plugin)(void) print_harmless(
      stdout, "           %s %s: %s\n", text_of(plugin, "kind"), text_of(plugin, "name"), text_of(plugin, "text"));
  json_array_foreach(broken, index, plugin)(void)
      print_harmless(stdout, "           %s: %s\n", text_of(plugin, "file"), text_of(plugin, "reason"));
  json_array_foreach(lacking, index, plugin)(void) print_harmless(stdout, "           %s lacks something here: %s\n",
                                                                  text_of(plugin, "file"), text_of(plugin, "reason"));
  json_array_foreach(json_object_get(plugins, "shadowed"), index, plugin)(void) print_harmless(
      stdout, "           %s is not used: %s shadows it\n", text_of(plugin, "file"), text_of(plugin, "by"));
}

static int run_doctor(tutti_context *context, const struct texts *operands, const void *given) {
  const struct doctor_options *options = given;
  json_t *plugins = plugin_facts();
  json_t *facts =
      json_pack("{s:s, s:s, s:o, s:o, s:o, s:o, s:o}", "version", tutti_version(), "build", tutti_build_id(),
                "processor", processor_facts(), "memory", memory_facts(), "blas", blas_facts(), "folder",
                folder_facts(operands->count ? operands->items[0] : "."), "plugins", plugins);
  enum tutti_status status = tutti_plugin_scan(context, add_plugin, plugins);
  if (status != TUTTI_OK) {
    json_decref(facts);
    return fail(context, status);
  }
  begin_output();
  if (options->json) {
    print_json(facts);
  } else {
    show_machine(facts);
  }
  bool healthy = json_array_size(json_object_get(plugins, "broken")) == 0;
  json_decref(facts);
  int code = finish_output();
  return code == EXIT_DONE && !healthy ? EXIT_FAILED : code;
}

static const struct command_option doctor_options[] = {
    {"json", 'j', OPTION_FLAG, NULL, "As JSON.", .offset = offsetof(struct doctor_options, json)}, {0}};

const struct command command_doctor = {
    .name = "doctor",
    .summary = "what this machine has, and what does not work",
    .about = "Look at processor, BLAS, memory, the file system of FOLDER (here, unless given) and plugins. Exit code 1 "
             "if a plugin does not work.",
    .operands = {.synopsis = "[FOLDER]", .wanted = "one folder", .most = 1, .completes = {COMPLETE_FOLDER}},
    .options = doctor_options,
    .size = sizeof(struct doctor_options),
    .run = run_doctor,
};
