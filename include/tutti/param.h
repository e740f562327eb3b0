/* param.h - parameter tables: one table drives parsing into a plugin's config struct, ranges, inspect, the generated
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
  TUTTI_PARAM_PLUGIN    /* const char *: name of a plugin of kind `kind`, or "none" where the default is "none"; its
                           parameters stand in the section of this parameter's name */
};

struct tutti_integers {
  size_t count;
  const int64_t *values;
};
struct tutti_reals {
  size_t count;
  const double *values;
};
struct tutti_choices {
  size_t count;
  const int *values;
};

/* Flags. */
enum {
  TUTTI_PARAM_SEARCHABLE = 1, /* of a backend: may stand in [hyperparameters], fixed or with a range */
  TUTTI_PARAM_REQUIRED = 2    /* no default: the recipe must give it */
};

/* One parameter. Fill it with designated initialisers; min = max = 0 means no limits, TUTTI_NO_LIMIT one side open. */
struct tutti_param {
  const char *name;
  enum tutti_param_type type;
  size_t offset;              /* of the field in the config struct */
  const char *preset;         /* the default, written as in a recipe */
  double min, max;            /* inclusive; of each number, or of each element of a list */
  bool min_open, max_open;    /* the limit itself is excluded */
  const char *unit;           /* NULL: none */
  const char *const *choices; /* NULL-terminated */
  enum tutti_kind kind;       /* TUTTI_PARAM_PLUGIN */
  unsigned flags;
  const char *doc; /* one sentence for people */
};
#define TUTTI_NO_LIMIT ((double)INFINITY)

/* A parameter table: `count` structs, `stride` bytes apart. */
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

/* All presets. Required parameters stay unset until tutti_config_set gives them (see tutti_config_missing). */
TUTTI_API TUTTI_NODISCARD enum tutti_status
tutti_config_create(tutti_context *context, const struct tutti_params *params, tutti_config **config);
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_config_copy(tutti_context *context, const tutti_config *from,
                                                              tutti_config **config);
TUTTI_API void tutti_config_destroy(tutti_config *config);
/* Set one from text. TUTTI_ERROR_USAGE says what was expected (type, range, choices), what was found, the closest name. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_config_set(tutti_context *context, tutti_config *config,
                                                             const char *name, const char *text);
/* Set a number (integer, real, bool, or the number of a choice) with the same checks. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_config_set_number(tutti_context *context, tutti_config *config,
                                                                    const char *name, double value);
/* Name of the first required parameter that is unset, or NULL. */
TUTTI_API const char *tutti_config_missing(const tutti_config *config);
/* The value as a recipe would write it, so that setting it again gives the same bits; free with tutti_free. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_config_get(tutti_context *context, const tutti_config *config,
                                                             const char *name, char **text);
/* The struct itself, borrowed. */
TUTTI_API const void *tutti_config_values(const tutti_config *config);
TUTTI_API const struct tutti_params *tutti_config_params(const tutti_config *config);
TUTTI_API const struct tutti_param *tutti_params_at(const struct tutti_params *params, size_t index);
TUTTI_API const struct tutti_param *tutti_params_find(const struct tutti_params *params, const char *name);
/* Check a table itself (presets parse and are in range, names unique, offsets inside the struct). */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_params_check(tutti_context *context,
                                                               const struct tutti_params *params);

TUTTI_END_DECLS
#endif
