/* instance_impl.h - a plugin at work: what the wrappers of all kinds share. */
#ifndef TUTTI_INSTANCE_IMPL_H
#define TUTTI_INSTANCE_IMPL_H

#include <tutti/descriptor.h>
#include <tutti/host.h>

/* The first member of every instance of a kind, which adds its ops table. */
struct tutti_instance {
  const struct tutti_descriptor *descriptor;
  tutti_config *config; /* a copy, alive as long as the instance */
  void *self;
};

/* Make the plugin of a host's section into an instance. The kind's ops, as many bytes as the plugin has, are copied into
   ops[ops_size] (zeroed beyond), so that a plugin built for an older, shorter table works. Errors name the plugin. */
TUTTI_NODISCARD enum tutti_status tutti_instance_create(tutti_context *context, const tutti_host *host,
                                                        const char *section, enum tutti_kind kind, const void *setup,
                                                        void *ops, size_t ops_size, struct tutti_instance *instance);
void tutti_instance_destroy(struct tutti_instance *instance);

/* Put "KIND NAME: " in front of an error that an op returned. Returns `status`. */
enum tutti_status tutti_instance_blame(tutti_context *context, const struct tutti_instance *instance,
                                       enum tutti_status status);
/* An error of the plugin itself: "KIND NAME broke its contract: op WHAT ...". */
#define TUTTI_BREACH(context, instance, ...)                                                                           \
  tutti_instance_breach((context), (instance), __FILE__, __LINE__, __func__, __VA_ARGS__)
enum tutti_status tutti_instance_breach(tutti_context *context, const struct tutti_instance *instance, const char *file,
                                        int line, const char *function, const char *format, ...) TUTTI_PRINTF(6, 7);

/* Run an op of `object->instance` and blame it for what fails. */
#define TUTTI_CALL(context, object, call)                                                                              \
  do {                                                                                                                 \
    enum tutti_status tutti_call_ = (call);                                                                            \
    if (tutti_call_ != TUTTI_OK)                                                                                       \
      return tutti_error_trace((context), tutti_instance_blame((context), &(object)->instance, tutti_call_), __FILE__, \
                               __LINE__, __func__);                                                                    \
  } while (0)

/* The config of a section, borrowed; NULL when nothing is put there (host.c). */
const struct tutti_descriptor *tutti_host_descriptor(const tutti_host *host, const char *section,
                                                     const tutti_config **config);

#endif
