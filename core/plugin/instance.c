/* instance.c - from a section of a host to a plugin at work. */
#include "instance_impl.h"

#include <stdio.h>
#include <string.h>

enum tutti_status tutti_instance_create(tutti_context *context, const tutti_host *host, const char *section,
                                        enum tutti_kind kind, const void *setup, void *ops, size_t ops_size,
                                        struct tutti_instance *instance) {
  const tutti_config *config;
  const struct tutti_descriptor *descriptor = tutti_host_descriptor(host, section, &config);
  memset(instance, 0, sizeof *instance);
  memset(ops, 0, ops_size);
  if (!descriptor)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "[%s]: a %s is needed, and no plugin is named", section,
                      tutti_kind_name(kind));
  if (descriptor->kind != kind)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "[%s]: expected a plugin of kind %s, found %s %s", section,
                      tutti_kind_name(kind), tutti_kind_name(descriptor->kind), descriptor->name);
  size_t has;
  memcpy(&has, descriptor->ops, sizeof has);
  memcpy(ops, descriptor->ops, has < ops_size ? has : ops_size);
  instance->descriptor = descriptor;
  TUTTI_TRY(context, tutti_config_copy(context, config, &instance->config));
  enum tutti_status status = descriptor->create(context, tutti_config_values(instance->config), setup, &instance->self);
  if (status == TUTTI_OK)
    return TUTTI_OK;
  status = tutti_instance_blame(context, instance, status);
  instance->self = NULL;
  tutti_instance_destroy(instance);
  return tutti_error_trace(context, status, __FILE__, __LINE__, __func__);
}

void tutti_instance_destroy(struct tutti_instance *instance) {
  if (instance->self)
    instance->descriptor->destroy(instance->self);
  tutti_config_destroy(instance->config);
  memset(instance, 0, sizeof *instance);
}

enum tutti_status tutti_instance_blame(tutti_context *context, const struct tutti_instance *instance,
                                       enum tutti_status status) {
  const struct tutti_descriptor *descriptor = instance->descriptor;
  /* A plugin may fail without saying why; the message would be of some earlier error. */
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
