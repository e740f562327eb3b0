/* published.c - published cells. Liu, Simonyan, Yang, "DARTS: Differentiable architecture search", ICLR 2019: first and
   second order. AmoebaNet-A (Real, Aggarwal, Huang, Le, AAAI 2019) as the DARTS paper trained it, in the same
   notation. */
#include "cells.h"

const char *const cell_published_names[CELL_PUBLISHED + 1] = {"darts-v1", "darts-v2", "amoebanet-a", NULL};

const struct cell_genotype cell_published[CELL_PUBLISHED] = {
    {.nodes = 4,
     .edges = {{{{CELL_SEP_CONV_3X3, 0}, {CELL_SEP_CONV_3X3, 1}},
                {{CELL_SKIP_CONNECT, 0}, {CELL_SEP_CONV_3X3, 1}},
                {{CELL_SKIP_CONNECT, 0}, {CELL_SEP_CONV_3X3, 1}},
                {{CELL_SEP_CONV_3X3, 0}, {CELL_SKIP_CONNECT, 2}}},
               {{{CELL_MAX_POOL_3X3, 0}, {CELL_MAX_POOL_3X3, 1}},
                {{CELL_MAX_POOL_3X3, 0}, {CELL_SKIP_CONNECT, 2}},
                {{CELL_MAX_POOL_3X3, 0}, {CELL_SKIP_CONNECT, 2}},
                {{CELL_AVG_POOL_3X3, 0}, {CELL_SKIP_CONNECT, 2}}}}},
    {.nodes = 4,
     .edges = {{{{CELL_SEP_CONV_3X3, 0}, {CELL_SEP_CONV_3X3, 1}},
                {{CELL_SEP_CONV_3X3, 0}, {CELL_SEP_CONV_3X3, 1}},
                {{CELL_SKIP_CONNECT, 0}, {CELL_SEP_CONV_3X3, 1}},
                {{CELL_SKIP_CONNECT, 0}, {CELL_DIL_CONV_3X3, 2}}},
               {{{CELL_MAX_POOL_3X3, 0}, {CELL_MAX_POOL_3X3, 1}},
                {{CELL_MAX_POOL_3X3, 1}, {CELL_SKIP_CONNECT, 2}},
                {{CELL_MAX_POOL_3X3, 0}, {CELL_SKIP_CONNECT, 2}},
                {{CELL_MAX_POOL_3X3, 1}, {CELL_SKIP_CONNECT, 2}}}}},
    {.nodes = 5,
     .loose_ends = true,
     .edges = {{{{CELL_AVG_POOL_3X3, 0}, {CELL_MAX_POOL_3X3, 1}},
                {{CELL_SEP_CONV_3X3, 0}, {CELL_SEP_CONV_5X5, 2}},
                {{CELL_SEP_CONV_3X3, 0}, {CELL_AVG_POOL_3X3, 3}},
                {{CELL_SEP_CONV_3X3, 1}, {CELL_SKIP_CONNECT, 1}},
                {{CELL_SKIP_CONNECT, 0}, {CELL_AVG_POOL_3X3, 1}}},
               {{{CELL_AVG_POOL_3X3, 0}, {CELL_SEP_CONV_3X3, 1}},
                {{CELL_MAX_POOL_3X3, 0}, {CELL_SEP_CONV_7X7, 2}},
                {{CELL_SEP_CONV_7X7, 0}, {CELL_AVG_POOL_3X3, 1}},
                {{CELL_MAX_POOL_3X3, 0}, {CELL_MAX_POOL_3X3, 1}},
                {{CELL_CONV_7X1_1X7, 0}, {CELL_SEP_CONV_3X3, 5}}}}},
};
