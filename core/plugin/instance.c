/* instance.c - makes an instance of the plugin in a host's section. */
#include "instance_impl.h"

#include <stdio.h>
#include <string.h>
#include <tutti/sized.h>

/* The plugin of the section, if it is of the kind. */
static enum tutti_status look_up(tutti_context *context, const tutti_host *host, const char *section,
                                 enum tutti_kind kind, const struct tutti_descriptor **descriptor,
                                 const tutti_config **config) {
  *descriptor = tutti_host_descriptor(host, section, config);
  if (!*descriptor)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "[%s]: a %s is needed, and no plugin is named", section,
                      tutti_kind_name(kind));
  if ((*descriptor)->kind != kind)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "[%s]: expected a plugin of kind %s, found %s %s", section,
                      tutti_kind_name(kind), tutti_kind_name((*descriptor)->kind), (*descriptor)->name);
  return TUTTI_OK;
}

/* The caller's setup with the host's facts in it. */
static enum tutti_status complete_setup(tutti_context *context, const tutti_host *host, const struct tutti_class *class,
                                        const void *setup, void *whole) {
  const size_t least = offsetof(struct tutti_setup, seed) + sizeof(uint64_t);
  struct tutti_setup head;
  size_t size;
  memcpy(&size, setup, sizeof size);
  if (size < least)
    return TUTTI_FAIL(context, TUTTI_ERROR_INTERNAL, "the size in the setup of a %s is %zu, expected %zu at least",
                      tutti_kind_name(class->kind), size, least);
  tutti_sized_take(whole, class->setup_size, setup);
  memcpy(&head, whole, least);
  head.host = host;
  if (!head.task)
    head.task = tutti_host_task(host);
  memcpy(whole, &head, least);
  return TUTTI_OK;
}

/* Make the plugin's instance; one without `create` needs no more than its config. */
static enum tutti_status make_self(tutti_context *context, struct tutti_instance *instance, const void *setup) {
  const void *config = tutti_config_values(instance->config);
  if (!instance->descriptor->create) {
    memcpy(&instance->self, &config, sizeof config);
    return TUTTI_OK;
  }
  const struct tutti_descriptor *caller = tutti_running_enter(context, instance->descriptor);
  enum tutti_status status = instance->descriptor->create(context, config, setup, &instance->self);
  tutti_running_leave(context, caller);
  if (status == TUTTI_OK)
    return TUTTI_OK;
  instance->self = NULL;
  return tutti_instance_blame(context, instance, status);
}

enum tutti_status tutti_instance_create(tutti_context *context, const tutti_host *host, const char *section,
                                        const struct tutti_class *class, const void *setup, void *whole, void *object) {
  enum tutti_status status;
  const struct tutti_descriptor *descriptor;
  const tutti_config *config;
  struct tutti_instance *instance = NULL;
  memcpy(object, &instance, sizeof instance);
  TUTTI_TRY(context, look_up(context, host, section, class->kind, &descriptor, &config));
  TUTTI_TRY(context, complete_setup(context, host, class, setup, whole));
  TUTTI_TRY(context, tutti_alloc(context, 1, class->size, &instance));
  instance->class = class;
  instance->descriptor = descriptor;
  instance->context = context;
  tutti_sized_take((char *)instance + class->ops_offset, class->ops_size, descriptor->ops);
  TUTTI_TRY_OUT(context, class->check ? class->check(context, instance, whole) : TUTTI_OK);
  TUTTI_TRY_OUT(context, tutti_config_copy(context, config, &instance->config));
  TUTTI_TRY_OUT(context, make_self(context, instance, whole));
  TUTTI_TRY_OUT(context, class->open ? class->open(context, instance, whole) : TUTTI_OK);
  memcpy(object, &instance, sizeof instance);
  return TUTTI_OK;
out:
  tutti_instance_destroy(instance);
  return status;
}

void tutti_instance_destroy(struct tutti_instance *instance) {
  if (!instance)
    return;
  if (instance->class->close)
    instance->class->close(instance);
  if (instance->self && instance->descriptor->destroy) {
    const struct tutti_descriptor *caller = tutti_running_enter(instance->context, instance->descriptor);
    instance->descriptor->destroy(instance->self);
    tutti_running_leave(instance->context, caller);
  }
  tutti_config_destroy(instance->config);
  tutti_free(instance);
}

enum tutti_status tutti_instance_blame(tutti_context *context, const struct tutti_instance *instance,
                                       enum tutti_status status) {
  const struct tutti_descriptor *descriptor = instance->descriptor;
  /* A plugin may fail without saying why; the message would then be that of an earlier error. */
  if (tutti_error_status(context) != status)
    return TUTTI_FAIL(context, status, "%s %s failed (%s) without saying why", tutti_kind_name(descriptor->kind),
                      descriptor->name, tutti_status_name(status));
  return tutti_error_prefix(context, status, "%s %s: ", tutti_kind_name(descriptor->kind), descriptor->name);
}

enum tutti_status tutti_instance_breach(tutti_context *context, const struct tutti_instance *instance, const char *file,
                                        int line, const char *function, const char *format, ...) {
  char what[512];
  va_list arguments;
  va_start(arguments, format);
  (void)vsnprintf(what, sizeof what, format, arguments);
  va_end(arguments);
  return tutti_error_set(context, TUTTI_ERROR_PLUGIN, file, line, function, "%s %s broke its contract: %s",
                         tutti_kind_name(instance->descriptor->kind), instance->descriptor->name, what);
}

bool tutti_op_there(const void *ops, size_t offset) {
  size_t size;
  void (*op)(void);
  memcpy(&size, ops, sizeof size);
  if (offset + sizeof op > size)
    return false;
  memcpy(&op, (const char *)ops + offset, sizeof op);
  return op != NULL;
}
