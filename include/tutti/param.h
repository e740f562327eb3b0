/* param.h - parameter tables. One table drives parsing into a plugin's config struct, ranges, inspect, the generated
   reference and the dumped recipe. Plugins never parse strings. */
#ifndef TUTTI_PARAM_H
#define TUTTI_PARAM_H

#include <math.h>
#include <tutti/kind.h>
#include <tutti/names.h>

TUTTI_BEGIN_DECLS

/* Type of a parameter, and of its field in the config struct. */
enum tutti_param_type {
  TUTTI_PARAM_BOOL,     /* bool */
  TUTTI_PARAM_INTEGER,  /* int64_t */
  TUTTI_PARAM_REAL,     /* double */
  TUTTI_PARAM_CHOICE,   /* int: number in `choices` */
  TUTTI_PARAM_STRING,   /* const char *, never NULL */
  TUTTI_PARAM_PATH,     /* const char *, never NULL; in recipes relative to the recipe's folder */
  TUTTI_PARAM_INTEGERS, /* struct tutti_integers */
  TUTTI_PARAM_REALS,    /* struct tutti_reals */
  TUTTI_PARAM_CHOICES,  /* struct tutti_choices: a list of numbers in `choices` */
  /* const char *: name of a plugin of kind `kind`, or "none" if that is the default; its parameters are in the section
     of this parameter's name or, if it is searchable, so that there may be several, of the plugin's name */
  TUTTI_PARAM_PLUGIN
};

/* A list of integers, the field of a TUTTI_PARAM_INTEGERS; borrowed from the config. Never grows. */
struct tutti_integers {
  size_t count;
  const int64_t *values;
};
/* A list of reals, the field of a TUTTI_PARAM_REALS; borrowed from the config. Never grows. */
struct tutti_reals {
  size_t count;
  const double *values;
};
/* A list of numbers of choices, the field of a TUTTI_PARAM_CHOICES; borrowed from the config. Never grows. */
struct tutti_choices {
  size_t count;
  const int *values;
};

/* Flags. */
enum {
  TUTTI_PARAM_SEARCHABLE = 1, /* of a backend: may stand in [hyperparameters], fixed or with a range */
  TUTTI_PARAM_REQUIRED = 2,   /* no default: the recipe must give it */
  TUTTI_PARAM_AFTER_SIZE = 4, /* of a table's first: the config struct begins with `size_t size`, which is set */
  TUTTI_PARAM_MADE = 8        /* of a path: what lies there is made when it is missing, so it need not travel */
};

/* One parameter. Write it with a macro from below. Grows only at the end: its tables carry a stride. */
struct tutti_param {
  const char *name;
  enum tutti_param_type type;
  size_t offset;              /* of the field in the config struct */
  const char *preset;         /* the default, written as in a recipe */
  double min, max;            /* inclusive; of each number, or of each element of a list; both 0: no limits */
  const char *const *choices; /* NULL-terminated */
  enum tutti_kind kind;       /* TUTTI_PARAM_PLUGIN */
  const char *doc;            /* one sentence for people */
  const char *unit;           /* NULL: none */
  unsigned flags;
  bool min_open, max_open; /* the limit itself is excluded */
  /* TUTTI_PARAM_PLUGIN: where the parameters of the plugin that is the default differ from its own table while it
     stands here, as in "log = no; xi = 0.1"; NULL: nowhere. A recipe's values go first. */
  const char *with;
};
/* As `max`, or negated as `min`: no limit on that side. */
#define TUTTI_NO_LIMIT ((double)INFINITY)

/* A line of a parameter table, for each type:

     TUTTI_REAL(struct lcb_config, kappa, "1.96", 0, TUTTI_NO_LIMIT, "Standard deviations below the mean."),

   The parameter is named like the field, whose type the compiler checks. The text for people comes last. Members of
   struct tutti_param after `doc` may follow it in their order: `.unit = "seconds", .flags = TUTTI_PARAM_REQUIRED`. In
   C++ the values stand without designators: `"seconds", TUTTI_PARAM_REQUIRED`. */
#define TUTTI_BOOL(config, field, preset_, ...)                                                                        \
  TUTTI_PARAM(#field, BOOL, config, field, preset_, 0, 0, NULL, TUTTI_KIND_SPACE, __VA_ARGS__)
#define TUTTI_INTEGER(config, field, preset_, min_, max_, ...)                                                         \
  TUTTI_PARAM(#field, INTEGER, config, field, preset_, min_, max_, NULL, TUTTI_KIND_SPACE, __VA_ARGS__)
#define TUTTI_REAL(config, field, preset_, min_, max_, ...)                                                            \
  TUTTI_PARAM(#field, REAL, config, field, preset_, min_, max_, NULL, TUTTI_KIND_SPACE, __VA_ARGS__)
#define TUTTI_CHOICE(config, field, preset_, choices_, ...)                                                            \
  TUTTI_PARAM(#field, CHOICE, config, field, preset_, 0, 0, choices_, TUTTI_KIND_SPACE, __VA_ARGS__)
#define TUTTI_STRING(config, field, preset_, ...)                                                                      \
  TUTTI_PARAM(#field, STRING, config, field, preset_, 0, 0, NULL, TUTTI_KIND_SPACE, __VA_ARGS__)
#define TUTTI_PATH(config, field, preset_, ...)                                                                        \
  TUTTI_PARAM(#field, PATH, config, field, preset_, 0, 0, NULL, TUTTI_KIND_SPACE, __VA_ARGS__)
#define TUTTI_INTEGERS(config, field, preset_, min_, max_, ...)                                                        \
  TUTTI_PARAM(#field, INTEGERS, config, field, preset_, min_, max_, NULL, TUTTI_KIND_SPACE, __VA_ARGS__)
#define TUTTI_REALS(config, field, preset_, min_, max_, ...)                                                           \
  TUTTI_PARAM(#field, REALS, config, field, preset_, min_, max_, NULL, TUTTI_KIND_SPACE, __VA_ARGS__)
#define TUTTI_CHOICES(config, field, preset_, choices_, ...)                                                           \
  TUTTI_PARAM(#field, CHOICES, config, field, preset_, 0, 0, choices_, TUTTI_KIND_SPACE, __VA_ARGS__)
#define TUTTI_SUBPLUGIN(config, field, preset_, kind_, ...)                                                            \
  TUTTI_PARAM(#field, PLUGIN, config, field, preset_, 0, 0, NULL, kind_, __VA_ARGS__)

/* The macro that these use. Use it for a parameter whose name differs from its field's, such as one in a struct inside
   the config: TUTTI_PARAM("size", INTEGER, struct config, growth.size, "5", 1, 9, NULL, TUTTI_KIND_SPACE, "Members.").
   Limits, choices and kind count only if the type has them. */
#ifdef __cplusplus
#define TUTTI_PARAM(name_, type_, config, field, preset_, min_, max_, choices_, kind_, ...)                            \
  tutti_param_of(name_, TUTTI_PARAM_##type_, TUTTI_FIELD_OFFSET(config, field, TUTTI_FIELD_##type_), preset_, min_,    \
                 max_, choices_, kind_, __VA_ARGS__)
#define TUTTI_PARAM_MEMBER(member)
#else
#define TUTTI_PARAM(name_, type_, config, field, preset_, min_, max_, choices_, kind_, ...)                            \
  {                                                                                                                    \
    TUTTI_PARAM_MEMBER(name)                                                                                           \
    name_, TUTTI_PARAM_MEMBER(type) TUTTI_PARAM_##type_,                                                               \
        TUTTI_PARAM_MEMBER(offset) TUTTI_FIELD_OFFSET(config, field, TUTTI_FIELD_##type_),                             \
        TUTTI_PARAM_MEMBER(preset) preset_, TUTTI_PARAM_MEMBER(min) min_, TUTTI_PARAM_MEMBER(max) max_,                \
        TUTTI_PARAM_MEMBER(choices) choices_, TUTTI_PARAM_MEMBER(kind) kind_, TUTTI_PARAM_MEMBER(doc) __VA_ARGS__      \
  }
/* For parts of tables in headers that serve C and C++: TUTTI_PARAM_MEMBER(unit) "seconds". */
#define TUTTI_PARAM_MEMBER(member) .member =
#endif
/* After the text of a TUTTI_PARAM_PLUGIN: its member `with`. Serves C and C++. */
#define TUTTI_PARAM_WITH(settings)                                                                                     \
  TUTTI_PARAM_MEMBER(unit)                                                                                             \
  NULL, TUTTI_PARAM_MEMBER(flags) 0, TUTTI_PARAM_MEMBER(min_open) false, TUTTI_PARAM_MEMBER(max_open) false,           \
      TUTTI_PARAM_MEMBER(with)(settings)
/* The offset of a field; does not compile if the field has another type. */
#define TUTTI_FIELD_OFFSET(config, field, field_type)                                                                  \
  (offsetof(config, field) + 0 * sizeof(1 ? &((config *)0)->field : (field_type *)0))
#define TUTTI_FIELD_BOOL bool
#define TUTTI_FIELD_INTEGER int64_t
#define TUTTI_FIELD_REAL double
#define TUTTI_FIELD_CHOICE int
#define TUTTI_FIELD_STRING const char *
#define TUTTI_FIELD_PATH const char *
#define TUTTI_FIELD_INTEGERS struct tutti_integers
#define TUTTI_FIELD_REALS struct tutti_reals
#define TUTTI_FIELD_CHOICES struct tutti_choices
#define TUTTI_FIELD_PLUGIN const char *

#ifdef __cplusplus
inline constexpr tutti_param tutti_param_of(const char *name, tutti_param_type type, size_t offset, const char *preset,
                                            double min, double max, const char *const *choices, tutti_kind kind,
                                            const char *doc, const char *unit = nullptr, unsigned flags = 0,
                                            bool min_open = false, bool max_open = false, const char *with = nullptr) {
  return {name, type, offset, preset, min, max, choices, kind, doc, unit, flags, min_open, max_open, with};
}
#endif

/* A parameter table: `count` structs, `stride` bytes apart. Never grows. */
struct tutti_params {
  const struct tutti_param *table;
  size_t count, stride;
  size_t config_size; /* bytes of the config struct */
};
/* The table of a static array and its config struct. */
#define TUTTI_PARAMS(array, config_type)                                                                               \
  { (array), sizeof(array) / sizeof((array)[0]), sizeof((array)[0]), sizeof(config_type) }
#define TUTTI_NO_PARAMS                                                                                                \
  { NULL, 0, sizeof(struct tutti_param), 0 }

/* A config struct filled from its table; owns its texts and lists. */
typedef struct tutti_config tutti_config;

/* Make a config with all parameters at their presets; required ones stay unset until tutti_config_set (see
   tutti_config_missing). What no parameter covers is zero (but see TUTTI_PARAM_AFTER_SIZE). `params` is borrowed and
   must outlive it. The caller destroys *config. TUTTI_ERROR_USAGE: a preset is wrong. */
TUTTI_API TUTTI_NODISCARD enum tutti_status
tutti_config_create(tutti_context *context, const struct tutti_params *params, tutti_config **config);
/* Make a copy, over the same table; the caller destroys *config. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_config_copy(tutti_context *context, const tutti_config *from,
                                                              tutti_config **config);
/* Destroy it with its texts and lists; NULL is allowed. */
TUTTI_API void tutti_config_destroy(tutti_config *config);
/* Set a parameter from text, as a recipe writes it. TUTTI_ERROR_USAGE says what was expected (type, range, choices),
   what was found, and the closest name. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_config_set(tutti_context *context, tutti_config *config,
                                                             const char *name, const char *text);
/* Set a parameter that is an integer, a real, a bool or the number of a choice, with the same checks. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_config_set_number(tutti_context *context, tutti_config *config,
                                                                    const char *name, double value);
/* The name of the first required parameter that is unset; NULL if there is none. */
TUTTI_API const char *tutti_config_missing(const tutti_config *config);
/* The value as a recipe would write it, so that setting it again gives the same bits; free *text with tutti_free.
   TUTTI_ERROR_USAGE: there is no such parameter, or it is unset. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_config_get(tutti_context *context, const tutti_config *config,
                                                             const char *name, char **text);
/* The filled config struct; borrowed, and valid until a parameter is set or the config is destroyed. */
TUTTI_API const void *tutti_config_values(const tutti_config *config);
/* The table that it was made with. */
TUTTI_API const struct tutti_params *tutti_config_params(const tutti_config *config);
/* Parameter number `index` (< count) of a table; tutti_params_find: the one of that name, or NULL. */
TUTTI_API const struct tutti_param *tutti_params_at(const struct tutti_params *params, size_t index);
TUTTI_API const struct tutti_param *tutti_params_find(const struct tutti_params *params, const char *name);
/* The member `with` of a table's parameter; NULL also if the table was made before there was that member. */
TUTTI_API const char *tutti_params_with(const struct tutti_params *params, const struct tutti_param *param);
/* Check a table: presets parse and are in range, names are unique, fields lie inside the struct and apart.
   TUTTI_ERROR_PLUGIN names the parameter and what is wrong with it. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_params_check(tutti_context *context,
                                                               const struct tutti_params *params);

TUTTI_END_DECLS
#endif
