/* instance_impl.h - an instance of a plugin: the part that the wrappers of all kinds share; for core/plugin/ and
   engine/plugins/, which has the kinds that only a host calls. */
#ifndef TUTTI_INSTANCE_IMPL_H
#define TUTTI_INSTANCE_IMPL_H

#include "core/base/private.h"
#include "core/base/running_impl.h"

#include <stddef.h>
#include <tutti/descriptor.h>
#include <tutti/host.h>

/* An operation that every plugin of a kind must have. */
struct tutti_required_op {
  const char *name; /* NULL ends a list */
  size_t offset;    /* in the ops table */
};
#define TUTTI_REQUIRED_OP(kind, op)                                                                                    \
  { #op, offsetof(struct tutti_##kind##_ops, op) }

/* Is the operation at this offset there? An ops table begins with its size, and may be shorter than ours
   (instance.c). */
TUTTI_PRIVATE bool tutti_op_there(const void *ops, size_t offset);
#define TUTTI_HAS_OP(kind, ops, op) tutti_op_there((ops), offsetof(struct tutti_##kind##_ops, op))

/* The first member of the wrapper of every kind, struct tutti_KIND; the kind's ops table is the second. */
struct tutti_instance {
  const struct tutti_class *class;
  const struct tutti_descriptor *descriptor;
  tutti_config *config;   /* a copy, alive as long as the instance */
  tutti_context *context; /* that it was made with */
  void *self;
};

/* The part that the wrappers of one kind share. */
struct tutti_class {
  enum tutti_kind kind;
  size_t size;                 /* of the wrapper */
  size_t ops_offset, ops_size; /* of the ops table in it */
  size_t setup_size;           /* of the setup, which begins like struct tutti_setup */
  bool has_none;               /* "none" names a plugin that does nothing; of other kinds it stands for no plugin */
  struct tutti_required_op required[5];
  /* All of the following may be NULL. missing: check what the list of required operations cannot say, and give the name
     of what is missing, or NULL. */
  const char *(*missing)(const void *ops);
  /* check: refuse a plugin before it is made; its descriptor and ops are there already. open: complete the wrapper
     afterwards. close: free what the wrapper holds besides the plugin. */
  enum tutti_status (*check)(tutti_context *context, const void *object, const void *setup);
  enum tutti_status (*open)(tutti_context *context, void *object, const void *setup);
  void (*close)(void *object);
};

/* Define the class of a kind and the three functions that every kind's header declares: create, destroy and descriptor.
   The optional arguments are designated initialisers of struct tutti_class. */
#define TUTTI_DEFINE_KIND(constant, name, ...)                                                                         \
  extern TUTTI_PRIVATE const struct tutti_class tutti_class_##name;                                                    \
  const struct tutti_class tutti_class_##name = {.kind = TUTTI_KIND_##constant,                                        \
                                                 .size = sizeof(struct tutti_##name),                                  \
                                                 .ops_offset = offsetof(struct tutti_##name, ops),                     \
                                                 .ops_size = sizeof(struct tutti_##name##_ops),                        \
                                                 .setup_size = sizeof(struct tutti_##name##_setup),                    \
                                                 __VA_ARGS__};                                                         \
  _Static_assert(offsetof(struct tutti_##name, instance) == 0, "the instance is the first member");                    \
  _Static_assert(offsetof(struct tutti_##name##_setup, seed) == offsetof(struct tutti_setup, seed),                    \
                 "a setup begins like struct tutti_setup");                                                            \
  enum tutti_status tutti_##name##_create(tutti_context *context, const tutti_host *host, const char *section,         \
                                          const struct tutti_##name##_setup *setup, tutti_##name **name) {             \
    struct tutti_##name##_setup whole;                                                                                 \
    return tutti_instance_create(context, host, section, &tutti_class_##name, setup, &whole, name);                    \
  }                                                                                                                    \
  void tutti_##name##_destroy(tutti_##name *name) { tutti_instance_destroy(name ? &name->instance : NULL); }           \
  const struct tutti_descriptor *tutti_##name##_descriptor(const tutti_##name *name) {                                 \
    return name->instance.descriptor;                                                                                  \
  }

/* Make *object, the wrapper of its kind, from the plugin in a host's section. Tables of operations and setups may be
   shorter or longer than ours: members that the other side lacks are zero, and those that we do not know are left out.
   `whole` [class->setup_size] receives the setup as the plugin gets it: with the host, and with the host's task if the
   caller names none. Errors name the plugin. */
TUTTI_PRIVATE TUTTI_NODISCARD enum tutti_status tutti_instance_create(tutti_context *context, const tutti_host *host,
                                                                      const char *section,
                                                                      const struct tutti_class *class,
                                                                      const void *setup, void *whole, void *object);
/* Destroy the wrapper that begins with this instance; NULL is allowed. */
TUTTI_PRIVATE void tutti_instance_destroy(struct tutti_instance *instance);

/* Put "KIND NAME: " in front of an error that an op returned. Returns `status`. */
TUTTI_PRIVATE enum tutti_status tutti_instance_blame(tutti_context *context, const struct tutti_instance *instance,
                                                     enum tutti_status status);
/* An error of the plugin itself: "KIND NAME broke its contract: ...". */
#define TUTTI_BREACH(context, instance, ...)                                                                           \
  tutti_instance_breach((context), (instance), __FILE__, __LINE__, __func__, __VA_ARGS__)
TUTTI_PRIVATE enum tutti_status tutti_instance_breach(tutti_context *context, const struct tutti_instance *instance,
                                                      const char *file, int line, const char *function,
                                                      const char *format, ...) TUTTI_PRINTF(6, 7);

/* Do what calls an op of `object->instance`, noting that the plugin's code runs: every call of an op is in one of these
   two ("make lint-calls"). In a function without a context, TUTTI_CONTEXT_OF gives the one that the plugin was made
   with. */
#define TUTTI_ASK(context, object, ...)                                                                                \
  do {                                                                                                                 \
    tutti_context *tutti_context_ = (context);                                                                         \
    const struct tutti_descriptor *tutti_caller_ = tutti_running_enter(tutti_context_, (object)->instance.descriptor); \
    __VA_ARGS__;                                                                                                       \
    tutti_running_leave(tutti_context_, tutti_caller_);                                                                \
  } while (0)
#define TUTTI_CONTEXT_OF(object) ((object)->instance.context)

/* The same for an op that returns a status; an error names the plugin, and is returned. */
#define TUTTI_CALL(context, object, call)                                                                              \
  do {                                                                                                                 \
    enum tutti_status tutti_call_;                                                                                     \
    TUTTI_ASK((context), (object), tutti_call_ = (call));                                                              \
    if (tutti_call_ != TUTTI_OK)                                                                                       \
      return tutti_error_trace((context), tutti_instance_blame((context), &(object)->instance, tutti_call_), __FILE__, \
                               __LINE__, __func__);                                                                    \
  } while (0)

/* The descriptor and the config of a section, borrowed; NULL if the section is empty (host.c). */
const struct tutti_descriptor *tutti_host_descriptor(const tutti_host *host, const char *section,
                                                     const tutti_config **config);

#endif
