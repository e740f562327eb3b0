/* registry.c - finds, loads and checks plugins. The context holds what is loaded. */
#include "core/base/context_impl.h"
#include "core/base/file_impl.h"
#include "core/base/running_impl.h"
#include "core/base/text_impl.h"
#include "core/network/op_impl.h"
#include "core/plugin/param_impl.h"
#include "contract_impl.h"
#include "registry_impl.h"

#include <dirent.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct loaded {
  const struct tutti_descriptor *descriptor;
  char *file; /* NULL: linked in */
};

struct registry {
  char **folders; /* of the recipe: searched first */
  size_t folder_count, folder_room;
  struct loaded *plugins;
  size_t plugin_count, plugin_room;
  char *scanner; /* NULL: none */
};

static void destroy_registry(void *registry_) {
  struct registry *registry = registry_;
  for (size_t i = 0; i < registry->folder_count; i++)
    tutti_free(registry->folders[i]);
  for (size_t i = 0; i < registry->plugin_count; i++)
    tutti_free(registry->plugins[i].file);
  tutti_free(registry->folders);
  tutti_free(registry->plugins);
  tutti_free(registry->scanner);
  tutti_free(registry);
}

/* A folder of the search path that is none is no error, but the user wants to know. */
static void say_missing(tutti_context *context, const char *folder, size_t length) {
  struct stat facts;
  char *path;
  if (tutti_format(context, &path, "%.*s", (int)length, folder) != TUTTI_OK)
    return;
  bool there = stat(path, &facts) == 0;
  if (!there || !S_ISDIR(facts.st_mode))
    tutti_log(context, TUTTI_LOG_WARNING, "%s, where plugins are to be looked for, %s", path,
              there ? "is not a folder" : "does not exist");
  tutti_free(path);
}

/* Say it of the environment's folders, once. */
static void check_environment(tutti_context *context) {
  const char *folder = getenv("TUTTI_PLUGIN_PATH");
  for (size_t length; folder && *folder; folder += length + (folder[length] == ':')) {
    length = strcspn(folder, ":");
    if (length > 0)
      say_missing(context, folder, length);
  }
}

static enum tutti_status get_registry(tutti_context *context, struct registry **registry) {
  if (!context->registry) {
    TUTTI_TRY(context, tutti_alloc(context, 1, sizeof **registry, &context->registry));
    context->registry_destroy = destroy_registry;
    check_environment(context);
  }
  *registry = context->registry;
  return TUTTI_OK;
}

static enum tutti_status grow_list(tutti_context *context, size_t count, size_t *room, size_t size, void *array) {
  if (count < *room)
    return TUTTI_OK;
  size_t wanted = *room * 2 + 16;
  TUTTI_TRY(context, tutti_realloc(context, count, wanted, size, array));
  *room = wanted;
  return TUTTI_OK;
}

enum tutti_status tutti_plugin_scan_with(tutti_context *context, const char *program) {
  struct registry *registry;
  TUTTI_TRY(context, get_registry(context, &registry));
  tutti_free(registry->scanner);
  return tutti_strdup(context, program, &registry->scanner);
}

const char *tutti_plugin_scanner(const tutti_context *context) {
  const struct registry *registry = context->registry;
  return registry ? registry->scanner : NULL;
}

/* --- search path --- */

enum tutti_status tutti_plugin_path_add(tutti_context *context, const char *folder) {
  struct registry *registry;
  TUTTI_TRY(context, get_registry(context, &registry));
  for (size_t i = 0; i < registry->folder_count; i++)
    if (strcmp(registry->folders[i], folder) == 0)
      return TUTTI_OK;
  TUTTI_TRY(context, grow_list(context, registry->folder_count, &registry->folder_room, sizeof *registry->folders,
                               &registry->folders));
  TUTTI_TRY(context, tutti_strdup(context, folder, &registry->folders[registry->folder_count]));
  registry->folder_count++;
  say_missing(context, folder, strlen(folder));
  return TUTTI_OK;
}

enum tutti_status tutti_plugin_path_add_list(tutti_context *context, const char *folders) {
  enum tutti_status status = TUTTI_OK;
  char *copy;
  TUTTI_TRY(context, tutti_strdup(context, folders, &copy));
  /* A folder put in front goes before those put there earlier, hence from the last to the first. */
  for (char *end = copy + strlen(copy), *folder; end > copy && status == TUTTI_OK; end = folder - (folder > copy)) {
    *end = '\0';
    folder = strrchr(copy, ':');
    folder = folder ? folder + 1 : copy;
    if (*folder)
      status = tutti_plugin_path_add(context, folder);
  }
  tutti_free(copy);
  return status;
}

void tutti_trust_runs(tutti_context *context, bool trusted) { context->trusts_runs = trusted; }

bool tutti_trusts_runs(const tutti_context *context) { return context->trusts_runs; }

/* The search path, without folders that are not there or came before. */
struct path {
  tutti_context *context;
  char **folders;
  size_t count, room;
};

static enum tutti_status add_folder(struct path *path, const char *folder) {
  for (size_t i = 0; i < path->count; i++)
    if (tutti_file_is_same(path->folders[i], folder))
      return TUTTI_OK;
  if (access(folder, F_OK) != 0)
    return TUTTI_OK;
  TUTTI_TRY(path->context, grow_list(path->context, path->count, &path->room, sizeof *path->folders, &path->folders));
  TUTTI_TRY(path->context, tutti_strdup(path->context, folder, &path->folders[path->count]));
  path->count++;
  return TUTTI_OK;
}

/* The folder of plugins beside this library, wherever that was installed or moved to; else the one of configure. */
static enum tutti_status add_installed(struct path *path) {
  const char *given = getenv("TUTTI_PLUGIN_FOLDER");
  char *library = NULL, *beside = NULL;
  Dl_info info;
  if (!given && dladdr((void *)(uintptr_t)tutti_plugin_visit_folders, &info) && info.dli_fname)
    library = realpath(info.dli_fname, NULL);
  const char *slash = library ? strrchr(library, '/') : NULL;
  enum tutti_status status = TUTTI_OK;
  if (slash)
    status = tutti_format(path->context, &beside, "%.*s/%s", (int)(slash - library), library, TUTTI_PLUGINS_BESIDE);
  if (status == TUTTI_OK && !given)
    given = beside && access(beside, F_OK) == 0 ? beside : TUTTI_PLUGIN_FOLDER;
  if (status == TUTTI_OK)
    status = add_folder(path, given);
  free(library); /* realpath's */
  tutti_free(beside);
  return status;
}

static enum tutti_status make_path(const struct registry *registry, struct path *path) {
  enum tutti_status status = TUTTI_OK;
  const char *variable = getenv("TUTTI_PLUGIN_PATH");
  char *copy, *cursor, *folder;
  for (size_t i = registry->folder_count; i-- > 0;)
    TUTTI_TRY(path->context, add_folder(path, registry->folders[i]));
  TUTTI_TRY(path->context, tutti_strdup(path->context, variable ? variable : "", &copy));
  cursor = copy;
  while (status == TUTTI_OK && (folder = strsep(&cursor, ":")))
    status = add_folder(path, folder);
  tutti_free(copy);
  TUTTI_TRY(path->context, status);
  return add_installed(path);
}

enum tutti_status tutti_plugin_visit_folders(tutti_context *context,
                                             enum tutti_status (*visit)(void *argument, const char *folder),
                                             void *argument) {
  struct registry *registry;
  struct path path = {.context = context};
  TUTTI_TRY(context, get_registry(context, &registry));
  enum tutti_status status = make_path(registry, &path);
  for (size_t i = 0; i < path.count; i++) {
    if (status == TUTTI_OK)
      status = visit(argument, path.folders[i]);
    tutti_free(path.folders[i]);
  }
  tutti_free(path.folders);
  return status;
}

/* --- finding --- */

struct finding {
  tutti_context *context;
  const char *name; /* of the file */
  char *found;      /* its path */
};

/* The first folder that has the file decides. */
static enum tutti_status look_in(void *argument, const char *folder) {
  struct finding *finding = argument;
  char *path;
  TUTTI_TRY(finding->context, tutti_format(finding->context, &path, "%s/%s", folder, finding->name));
  if (!finding->found && access(path, F_OK) == 0) {
    finding->found = path;
    return TUTTI_OK;
  }
  if (finding->found && access(path, F_OK) == 0 && !tutti_file_is_same(path, finding->found))
    tutti_log(finding->context, TUTTI_LOG_INFO, "%s shadows %s", finding->found, path);
  tutti_free(path);
  return TUTTI_OK;
}

/* The names of a kind's plugins on the path, to find the closest. */
struct naming {
  tutti_context *context;
  enum tutti_kind kind;
  char **names;
  size_t count, room;
};

/* "forward" of "selector-forward.so" where the kind is selector; false for other files. */
bool tutti_plugin_file_name(const char *file, enum tutti_kind kind, char *name, size_t size) {
  const char *kind_name = tutti_kind_name(kind);
  size_t length = strlen(file), prefix = strlen(kind_name);
  if (length <= prefix + 4 || strncmp(file, kind_name, prefix) != 0 || file[prefix] != '-' ||
      strcmp(file + length - 3, ".so") != 0)
    return false;
  return snprintf(name, size, "%.*s", (int)(length - prefix - 4), file + prefix + 1) < (int)size;
}

static int by_name(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

/* Sort the names and keep each once: a plugin that was loaded is on the path, too. */
static size_t unique(size_t count, char **names) {
  size_t kept = 0;
  qsort(names, count, sizeof *names, by_name);
  for (size_t i = 0; i < count; i++)
    if (kept && strcmp(names[kept - 1], names[i]) == 0)
      tutti_free(names[i]);
    else
      names[kept++] = names[i];
  return kept;
}

static enum tutti_status add_name(struct naming *naming, const char *name) {
  TUTTI_TRY(naming->context,
            grow_list(naming->context, naming->count, &naming->room, sizeof *naming->names, &naming->names));
  TUTTI_TRY(naming->context, tutti_strdup(naming->context, name, &naming->names[naming->count]));
  naming->count++;
  return TUTTI_OK;
}

static enum tutti_status name_in(void *argument, const char *folder) {
  struct naming *naming = argument;
  DIR *entries = opendir(folder);
  enum tutti_status status = TUTTI_OK;
  struct dirent *entry;
  char name[256];
  while (entries && status == TUTTI_OK && (entry = readdir(entries)))
    if (tutti_plugin_file_name(entry->d_name, naming->kind, name, sizeof name))
      status = add_name(naming, name);
  if (entries)
    (void)closedir(entries);
  return status;
}

enum tutti_status tutti_plugin_names(tutti_context *context, enum tutti_kind kind, size_t *count, char ***names) {
  struct naming naming = {.context = context, .kind = kind};
  struct registry *registry;
  TUTTI_TRY(context, get_registry(context, &registry));
  enum tutti_status status = tutti_plugin_visit_folders(context, name_in, &naming);
  for (size_t i = 0; status == TUTTI_OK && i < registry->plugin_count; i++)
    if (registry->plugins[i].descriptor->kind == kind)
      status = add_name(&naming, registry->plugins[i].descriptor->name);
  *count = naming.count ? unique(naming.count, naming.names) : 0;
  *names = naming.names;
  if (status == TUTTI_OK)
    return TUTTI_OK;
  tutti_plugin_names_free(*count, *names);
  return tutti_error_trace(context, status, __FILE__, __LINE__, __func__);
}

void tutti_plugin_names_free(size_t count, char **names) {
  for (size_t i = 0; i < count; i++)
    tutti_free(names[i]);
  tutti_free(names);
}

static enum tutti_status add_to_list(void *argument, const char *folder) {
  struct tutti_text *list = argument;
  tutti_text_add(list, "%s%s", list->length > 0 ? ", " : "looked in ", folder);
  return TUTTI_OK;
}

/* Not one plugin of the kind: probably the folder of plugins is another. */
static enum tutti_status none_found(tutti_context *context, enum tutti_kind kind, const char *name) {
  struct tutti_text list = tutti_text_begin(context);
  char *searched;
  enum tutti_status status = tutti_plugin_visit_folders(context, add_to_list, &list);
  if (status != TUTTI_OK) {
    tutti_text_discard(&list);
    return status;
  }
  TUTTI_TRY(context, tutti_text_take(&list, &searched));
  status = TUTTI_FAIL(
      context, TUTTI_ERROR_USAGE,
      "there is no %s '%s', nor any other %s: %s; set the environment variable TUTTI_PLUGIN_PATH to the "
      "folder of Tutti's plugins",
      tutti_kind_name(kind), name, tutti_kind_name(kind), *searched ? searched : "no folder of plugins was found");
  tutti_free(searched);
  return status;
}

static enum tutti_status not_found(tutti_context *context, enum tutti_kind kind, const char *name) {
  char **names;
  size_t count;
  TUTTI_TRY(context, tutti_plugin_names(context, kind, &count, &names));
  if (count == 0) {
    tutti_plugin_names_free(count, names);
    return none_found(context, kind, name);
  }
  const char *closest = tutti_closest_name(name, count, (const char *const *)names);
  enum tutti_status status =
      TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "there is no %s '%s'; %s%s%s'tutti list %s' shows those that there are",
                 tutti_kind_name(kind), name, closest ? "did you mean '" : "", closest ? closest : "",
                 closest ? "'? " : "", tutti_kind_name(kind));
  tutti_plugin_names_free(count, names);
  return status;
}

/* --- checking --- */

/* The ops that a plugin brings; NULL: none, or it is too old to bring any. */
static const struct tutti_op_definition *const *ops_of(const struct tutti_descriptor *descriptor) {
  size_t end = offsetof(struct tutti_descriptor, defines) + sizeof descriptor->defines;
  return descriptor->size >= end ? descriptor->defines : NULL;
}

static enum tutti_status check_ops(tutti_context *context, const struct tutti_descriptor *descriptor) {
  const struct tutti_op_definition *const *ops = ops_of(descriptor);
  for (size_t i = 0; ops && ops[i]; i++)
    TUTTI_TRY(context, tutti_op_check(context, ops[i]));
  return TUTTI_OK;
}

/* Check everything but available(), in such an order that nothing unchecked is used. `file` is for messages. */
static enum tutti_status check_descriptor(tutti_context *context, const char *file,
                                          const struct tutti_descriptor *descriptor) {
  if (!descriptor)
    return TUTTI_FAIL(context, TUTTI_ERROR_PLUGIN, "%s: tutti_plugin() gave no descriptor", file);
  if (descriptor->abi_major != TUTTI_ABI_MAJOR)
    return TUTTI_FAIL(context, TUTTI_ERROR_PLUGIN,
                      "%s: made for plugin ABI %u.%u, this is %d.%d; build it against this version of tutti", file,
                      descriptor->abi_major, descriptor->abi_minor, TUTTI_ABI_MAJOR, TUTTI_ABI_MINOR);
  if (descriptor->size < offsetof(struct tutti_descriptor, ops) + sizeof descriptor->ops)
    return TUTTI_FAIL(context, TUTTI_ERROR_PLUGIN, "%s: its descriptor has %zu bytes, expected %zu", file,
                      descriptor->size, sizeof *descriptor);
  if ((unsigned)descriptor->kind >= TUTTI_KIND_COUNT)
    return TUTTI_FAIL(context, TUTTI_ERROR_PLUGIN, "%s: kind %d is none of ours%s", file, (int)descriptor->kind,
                      descriptor->abi_minor > TUTTI_ABI_MINOR ? "; it was made for a newer tutti" : "");
  if (!tutti_plugin_name_valid(descriptor->name))
    return TUTTI_FAIL(context, TUTTI_ERROR_PLUGIN,
                      "%s: expected a name of lower-case letters, digits and hyphens, found "
                      "'%s'",
                      file, descriptor->name ? descriptor->name : "");
  if (!descriptor->version || !descriptor->summary || !descriptor->source || !descriptor->licence)
    return TUTTI_FAIL(context, TUTTI_ERROR_PLUGIN, "%s: version, summary, source and licence must all be there", file);
  if (descriptor->destroy && !descriptor->create)
    return TUTTI_FAIL(context, TUTTI_ERROR_PLUGIN, "%s: destroy without create would destroy its parameters", file);
  if (!descriptor->ops)
    return TUTTI_FAIL(context, TUTTI_ERROR_PLUGIN, "%s: its table of operations is not there", file);
  const char *missing = tutti_ops_missing(descriptor->kind, descriptor->ops);
  if (missing)
    return TUTTI_FAIL(context, TUTTI_ERROR_PLUGIN, "%s: a %s must have the operation %s", file,
                      tutti_kind_name(descriptor->kind), missing);
  if (tutti_params_check(context, &descriptor->params) != TUTTI_OK)
    return tutti_error_prefix(context, TUTTI_ERROR_PLUGIN, "%s: parameter table: ", file);
  if (check_ops(context, descriptor) != TUTTI_OK)
    return tutti_error_prefix(context, TUTTI_ERROR_PLUGIN, "%s: ", file);
  return TUTTI_OK;
}

static enum tutti_status check_available(tutti_context *context, const struct tutti_descriptor *descriptor) {
  char why[256] = "";
  if (!descriptor->available)
    return TUTTI_OK;
  const struct tutti_descriptor *caller = tutti_running_enter(context, descriptor);
  bool available = descriptor->available(why, sizeof why);
  tutti_running_leave(context, caller);
  if (available)
    return TUTTI_OK;
  why[sizeof why - 1] = '\0';
  return TUTTI_FAIL(context, TUTTI_ERROR_UNSUPPORTED, "%s %s does not work here: %s", tutti_kind_name(descriptor->kind),
                    descriptor->name, why);
}

/* --- loading --- */

/* A plugin made for a newer minor version loads if all that it uses is there; otherwise the linker names the
   version. */
static enum tutti_status not_loaded(tutti_context *context, const char *file, const char *why) {
  if (strstr(why, "version `TUTTI_"))
    return TUTTI_FAIL(context, TUTTI_ERROR_PLUGIN,
                      "cannot load %s: it uses functions of a newer tutti than this one, whose plugin ABI is %d.%d; "
                      "install that, or build the plugin against this one (%s)",
                      file, TUTTI_ABI_MAJOR, TUTTI_ABI_MINOR, why);
  return TUTTI_FAIL(context, TUTTI_ERROR_PLUGIN, "cannot load %s: %s", file, why);
}

/* A file must have the name of its plugin's kind and name; otherwise one folder could have a plugin twice. */
static enum tutti_status check_file_name(tutti_context *context, const char *file,
                                         const struct tutti_descriptor *descriptor) {
  const char *slash = strrchr(file, '/'), *kind = tutti_kind_name(descriptor->kind);
  int folder = slash ? (int)(slash - file) + 1 : 0;
  enum tutti_status status = TUTTI_OK;
  char *right;
  TUTTI_TRY(context, tutti_format(context, &right, "%.*s%s-%s.so", folder, file, kind, descriptor->name));
  if (strcmp(file, right) != 0 && access(right, F_OK) == 0)
    status = TUTTI_FAIL(context, TUTTI_ERROR_PLUGIN,
                        "%s: it says that it is %s %s, as %s is; take one of the two out of this folder", file, kind,
                        descriptor->name, right);
  else if (strcmp(file, right) != 0)
    status = TUTTI_FAIL(context, TUTTI_ERROR_PLUGIN, "%s: it says that it is %s %s, so its file has to be named %s",
                        file, kind, descriptor->name, right + folder);
  tutti_free(right);
  return status;
}

/* What a file's name says of its plugin. */
static struct tutti_descriptor expected(const char *file, char *name, size_t size) {
  const char *slash = strrchr(file, '/'), *base = slash ? slash + 1 : file;
  for (int kind = 0; kind < TUTTI_KIND_COUNT; kind++)
    if (tutti_plugin_file_name(base, (enum tutti_kind)kind, name, size))
      return (struct tutti_descriptor){.kind = (enum tutti_kind)kind, .name = name};
  return (struct tutti_descriptor){.kind = TUTTI_KIND_COUNT, .name = base};
}

static enum tutti_status load(tutti_context *context, const char *file, const struct tutti_descriptor **descriptor) {
  void *library = dlopen(file, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (!library)
    return not_loaded(context, file, dlerror());
  tutti_plugin_function function;
  *(void **)&function = dlsym(library, "tutti_plugin");
  if (!function)
    return TUTTI_FAIL(context, TUTTI_ERROR_PLUGIN, "%s: it does not export tutti_plugin", file);
  *descriptor = function();
  TUTTI_TRY(context, check_descriptor(context, file, *descriptor));
  TUTTI_TRY(context, check_file_name(context, file, *descriptor));
  return check_available(context, *descriptor);
}

enum tutti_status tutti_plugin_load_file(tutti_context *context, const char *file,
                                         const struct tutti_descriptor **descriptor) {
  char name[256];
  const struct tutti_descriptor stand_in = expected(file, name, sizeof name);
  const struct tutti_descriptor *caller = tutti_running_enter(context, &stand_in);
  tutti_running_loads(context, true);
  enum tutti_status status = load(context, file, descriptor);
  tutti_running_loads(context, false);
  tutti_running_leave(context, caller);
  return status;
}

/* Keep the plugin in the context, and make its ops known there. `file` is taken on success. */
static enum tutti_status remember(tutti_context *context, struct registry *registry,
                                  const struct tutti_descriptor *descriptor, char *file) {
  char source[128];
  TUTTI_TRY(context, grow_list(context, registry->plugin_count, &registry->plugin_room, sizeof *registry->plugins,
                               &registry->plugins));
  (void)snprintf(source, sizeof source, "%s %s", tutti_kind_name(descriptor->kind), descriptor->name);
  if (ops_of(descriptor))
    TUTTI_TRY(context, tutti_ops_define(context, descriptor, source, ops_of(descriptor)));
  registry->plugins[registry->plugin_count++] = (struct loaded){descriptor, file};
  return TUTTI_OK;
}

const struct tutti_descriptor *tutti_plugin_loaded(const tutti_context *context, enum tutti_kind kind,
                                                   const char *name) {
  const struct registry *registry = context->registry;
  for (size_t i = 0; registry && i < registry->plugin_count; i++)
    if (registry->plugins[i].descriptor->kind == kind && strcmp(registry->plugins[i].descriptor->name, name) == 0)
      return registry->plugins[i].descriptor;
  return NULL;
}

enum tutti_status tutti_plugin_locate(tutti_context *context, enum tutti_kind kind, const char *name, char **file) {
  struct finding finding = {.context = context};
  char *base;
  *file = NULL;
  if (!tutti_plugin_name_valid(name))
    return not_found(context, kind, name);
  TUTTI_TRY(context, tutti_format(context, &base, "%s-%s.so", tutti_kind_name(kind), name));
  finding.name = base;
  enum tutti_status status = tutti_plugin_visit_folders(context, look_in, &finding);
  tutti_free(base);
  *file = finding.found;
  TUTTI_TRY(context, status);
  return *file ? TUTTI_OK : not_found(context, kind, name);
}

enum tutti_status tutti_plugin_find(tutti_context *context, enum tutti_kind kind, const char *name,
                                    const struct tutti_descriptor **descriptor) {
  struct registry *registry;
  enum tutti_status status = TUTTI_OK;
  char *file = NULL;
  *descriptor = tutti_plugin_loaded(context, kind, name);
  if (*descriptor)
    return TUTTI_OK;
  TUTTI_TRY_OUT(context, get_registry(context, &registry));
  TUTTI_TRY_OUT(context, tutti_plugin_locate(context, kind, name, &file));
  TUTTI_TRY_OUT(context, tutti_plugin_load_file(context, file, descriptor));
  TUTTI_TRY_OUT(context, remember(context, registry, *descriptor, file));
  file = NULL;
out:
  tutti_free(file);
  return status;
}

const char *tutti_plugin_file(const tutti_context *context, const struct tutti_descriptor *descriptor) {
  const struct registry *registry = context->registry;
  for (size_t i = 0; registry && i < registry->plugin_count; i++)
    if (registry->plugins[i].descriptor == descriptor)
      return registry->plugins[i].file;
  return NULL;
}

enum tutti_status tutti_plugin_register(tutti_context *context, const struct tutti_descriptor *descriptor) {
  struct registry *registry;
  TUTTI_TRY(context, get_registry(context, &registry));
  TUTTI_TRY(context, check_descriptor(context, "linked-in plugin", descriptor));
  TUTTI_TRY(context, check_available(context, descriptor));
  if (tutti_plugin_loaded(context, descriptor->kind, descriptor->name))
    return TUTTI_FAIL(context, TUTTI_ERROR_PLUGIN, "%s %s is registered already", tutti_kind_name(descriptor->kind),
                      descriptor->name);
  return remember(context, registry, descriptor, NULL);
}
