/* descriptor.h - the description of a plugin that its one exported function returns. */
#ifndef TUTTI_DESCRIPTOR_H
#define TUTTI_DESCRIPTOR_H

#include <tutti/abi.h>
#include <tutti/op.h>
#include <tutti/param.h>

TUTTI_BEGIN_DECLS

/* Constant, and valid for the life of the process. Grows only at the end; `size` says how much of it a plugin has. */
struct tutti_descriptor {
  size_t size;                   /* sizeof(struct tutti_descriptor) */
  uint32_t abi_major, abi_minor; /* TUTTI_ABI_MAJOR, TUTTI_ABI_MINOR */
  enum tutti_kind kind;
  const char *name;    /* lower-case letters, digits, hyphens; as in a recipe */
  const char *version; /* the plugin's own */
  const char *summary; /* one line */
  const char *source;  /* the paper, with its equations; "" when there is none */
  const char *licence; /* SPDX */
  struct tutti_params params;

  /* OPTIONAL; default: true. Can the plugin work here (device, driver)? If false, write why to why[why_size]. MUST NOT
     print, spawn threads or change state. */
  bool (*available)(char *why, size_t why_size);

  /* OPTIONAL; default: `self` is `config`, which is constant. Make an instance. `config` is the struct of the parameter
     table, `setup` the setup struct of the kind (space.h, backend.h, ...), which begins like struct tutti_setup. Both
     are borrowed: `config` until destroy, `setup` until return (what it points to lives as long as its comment says).
     On failure nothing is left behind. */
  enum tutti_status (*create)(tutti_context *context, const void *config, const void *setup, void **self);
  /* OPTIONAL, and only beside `create`; default: nothing is done. End an instance. */
  void (*destroy)(void *self);

  /* The ops table of the kind, which begins with its own size. */
  const void *ops;

  /* The ops of networks (op.h) that the plugin defines, ended by NULL; NULL: none. Loading the plugin makes them known
     in the context: to tutti_network_add_op, JSON, pictures and shapes. Two plugins may define the same op, as the
     space and the backend of one package do, if the definitions agree in everything but `infer` and `doc`. */
  const struct tutti_op_definition *const *defines;

  /* OPTIONAL; default: nothing is said. What of this machine it works with, on one line of text[size] for people: which
     instructions, which device. For `tutti doctor`, which asks in a process of its own, after available(). MUST NOT
     print or spawn threads. */
  void (*uses)(char *text, size_t size);
};

/* Begin a descriptor, in C: {TUTTI_DESCRIPTOR_HEAD(TUTTI_KIND_SELECTOR, "all"), .version = "1.0", ...} */
#define TUTTI_DESCRIPTOR_HEAD(plugin_kind, plugin_name)                                                                \
  .size = sizeof(struct tutti_descriptor), .abi_major = TUTTI_ABI_MAJOR, .abi_minor = TUTTI_ABI_MINOR,                 \
  .kind = (plugin_kind), .name = (plugin_name)

/* The one symbol that a plugin exports. It MUST do nothing but return a constant. */
typedef const struct tutti_descriptor *(*tutti_plugin_function)(void);
#ifdef __cplusplus
#define TUTTI_PLUGIN_LINKAGE extern "C"
#else
#define TUTTI_PLUGIN_LINKAGE
#endif
#define TUTTI_PLUGIN(descriptor)                                                                                       \
  TUTTI_PLUGIN_LINKAGE TUTTI_API const struct tutti_descriptor *tutti_plugin(void);                                    \
  TUTTI_PLUGIN_LINKAGE TUTTI_API const struct tutti_descriptor *tutti_plugin(void) { return &(descriptor); }

TUTTI_END_DECLS

/* C++17 has no designated initialisers. There a descriptor, and likewise an ops table, is made by a constant
   expression, which leaves nothing to run when the plugin is loaded:

     static constexpr tutti_descriptor descriptor = [] {
       tutti_descriptor made = tutti_descriptor_of(TUTTI_KIND_SELECTOR, "all");
       made.version = "1.0";
       ...
       return made;
     }(); */
#if defined(__cplusplus) && __cplusplus >= 201703L
inline constexpr tutti_descriptor tutti_descriptor_of(tutti_kind kind, const char *name) {
  tutti_descriptor made{};
  made.size = sizeof made;
  made.abi_major = TUTTI_ABI_MAJOR;
  made.abi_minor = TUTTI_ABI_MINOR;
  made.kind = kind;
  made.name = name;
  return made;
}
#endif
#endif
