/* cells.h - networks that repeat two small graphs, a normal cell and a reduction cell: genotypes, their text, and how
   they become networks. Spaces darts and depth-width use it. A cell has two inputs, its states 0 and 1: the outputs of
   the two cells before it. Each node applies an operation to each of two earlier states and adds the results; this is a
   new state: 2, 3, ... The first node joins states 0 and 1. The cell's output concatenates nodes. */
#ifndef CELLS_H
#define CELLS_H

#include "blocks.h"

enum { CELL_NODES_MOST = 8, CELL_INPUTS = 2 };

enum cell_kind { CELL_NORMAL, CELL_REDUCTION, CELL_KINDS };

enum cell_operation {
  CELL_MAX_POOL_3X3,
  CELL_AVG_POOL_3X3,
  CELL_SKIP_CONNECT,
  CELL_SEP_CONV_3X3,
  CELL_SEP_CONV_5X5,
  CELL_DIL_CONV_3X3,
  CELL_DIL_CONV_5X5,
  CELL_SEP_CONV_7X7,
  CELL_CONV_7X1_1X7,
  CELL_OPERATIONS
};
/* Names in that order, NULL-terminated; "normal", "reduction". */
extern const char *const cell_operation_names[];
extern const char *const cell_kind_names[];

/* An operation on an earlier state. */
struct cell_edge {
  int operation, input;
};

struct cell_genotype {
  int nodes;       /* of each cell */
  bool loose_ends; /* the output concatenates only nodes that no node reads; otherwise all */
  struct cell_edge edges[CELL_KINDS][CELL_NODES_MOST][2];
};

/* --- published cells (published.c) ------------------------------------------------------------------------------ */

/* Their names, NULL-terminated, and their genotypes. */
enum { CELL_PUBLISHED = 3 };
extern const char *const cell_published_names[CELL_PUBLISHED + 1];
extern const struct cell_genotype cell_published[CELL_PUBLISHED];

/* --- genotypes (cells_text.c) ------------------------------------------------------------------------------------ */

/* Which genotypes a space has. */
struct cell_rules {
  int nodes;
  bool loose_ends;
  bool repeats; /* both edges of a node may come from one state */
  size_t operation_count;
  const int *operations;
};

/* In each node, put the edge from the lower state first; published cells need not do so. */
void cell_sort(struct cell_genotype *genotype);
/* Return true and write why the genotype breaks the rules; or return false. */
bool cell_misfit(const struct cell_rules *rules, const struct cell_genotype *genotype, size_t size, char *why);
/* {"normal": [["sep_conv_3x3", 0], ...], "reduction": [...]}: two edges for each node, in the order of the nodes.
   Parsing also accepts the name of a published genotype; the error says what breaks the rules. */
TUTTI_NODISCARD enum tutti_status cell_print(tutti_context *context, const struct cell_genotype *genotype, char **json);
TUTTI_NODISCARD enum tutti_status cell_parse(tutti_context *context, const struct cell_rules *rules, const char *json,
                                             struct cell_genotype *genotype);

/* --- networks (cells.c) ------------------------------------------------------------------------------------------ */

enum { CELL_STEM_CIFAR, CELL_STEM_TINY };
extern const char *const cell_stem_names[];

/* The part of the network around the cells. A space's config struct has this as its field `macro`. */
struct cell_macro {
  int stem;
  struct tutti_integers stem_strides;
  double dropout, drop_path;
  bool drop_path_schedule, affine;
};

/* clang-format off */
#define CELL_MACRO_PARAMS(config_type) \
  TUTTI_PARAM("stem", CHOICE, config_type, macro.stem, "cifar", 0, 0, cell_stem_names, TUTTI_KIND_SPACE, \
              "What stands before the cells. cifar: a 3x3 convolution to three times the channels. tiny: two stages, the " \
              "second of which halves the image: the first cell's two inputs."), \
  TUTTI_PARAM("stem_strides", INTEGERS, config_type, macro.stem_strides, "1 1", 1, 4, NULL, TUTTI_KIND_SPACE, \
              "Strides of the two convolutions of the tiny stem's first stage; 2 2 for images of 224 x 224."), \
  TUTTI_PARAM("dropout", REAL, config_type, macro.dropout, "0", 0, 1, NULL, TUTTI_KIND_SPACE, \
              "Rate at which whole channels are dropped behind every operation but the identity; 0: none.", \
              .max_open = true), \
  TUTTI_PARAM("drop_path", REAL, config_type, macro.drop_path, "0", 0, 1, NULL, TUTTI_KIND_SPACE, \
              "Rate at which whole operations but the identity are dropped, for each image; 0: none.", \
              .max_open = true), \
  TUTTI_PARAM("drop_path_schedule", BOOL, config_type, macro.drop_path_schedule, "yes", 0, 0, NULL, TUTTI_KIND_SPACE, \
              "The rate of drop_path grows linearly over the epochs, from 0."), \
  TUTTI_PARAM("affine", BOOL, config_type, macro.affine, "yes", 0, 0, NULL, TUTTI_KIND_SPACE, \
              "Normalisations scale and shift by trained numbers.")
/* clang-format on */

/* Check the conditions that a table of parameters cannot express. */
TUTTI_NODISCARD enum tutti_status cell_macro_check(tutti_context *context, const struct cell_macro *macro);
/* Build the network: stem, `cells` cells, global average, head. Cells number cells / 3 and 2 cells / 3 are reductions,
   which halve the image and double `channels`. */
TUTTI_NODISCARD enum tutti_status cell_network(tutti_context *context, const struct cell_macro *macro,
                                               const struct cell_genotype *genotype, int64_t cells, int64_t channels,
                                               const struct tutti_task *task, tutti_network **network);

#endif
