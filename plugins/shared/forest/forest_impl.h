/* forest_impl.h - forests of binary trees for regression or classification, in flat arrays. They depend on no plugin,
   and plugins of several kinds link them (libforest.la). Breiman, "Random Forests", Machine Learning 2001; Geurts,
   Ernst, Wehenkel, "Extremely randomized trees", Machine Learning 2006. */
#ifndef TUTTI_FOREST_IMPL_H
#define TUTTI_FOREST_IMPL_H

#include <tutti/plugin.h>

/* How a column is cut: at the best of all thresholds, or at one drawn uniformly between its smallest and largest value
   in the node. Either way the best column is taken; columns that tie are equally likely. */
enum forest_splitter { FOREST_BEST, FOREST_RANDOM };

struct forest_settings {
  size_t trees;
  enum forest_splitter splitter;
  double features;  /* (0, 1]: share of the columns that are tried at a node; at least one that varies is tried */
  size_t min_leaf;  /* >= 1: rows on each side of a split */
  size_t min_split; /* >= 2: a node with fewer rows is not split */
  size_t max_depth; /* 0: no limit */
  bool bootstrap;   /* each tree grows on `count` rows drawn with replacement, or on all */
  uint64_t seed;
};

/* The data to grow a forest on; all numbers are finite. */
struct forest_data {
  size_t count, dimension;
  const double *vectors; /* [count][dimension] */
  const double *values;  /* [count]; not used for classification */
};

/* Classes of the rows. */
struct forest_labels {
  size_t classes;         /* all labels are below it */
  const uint32_t *labels; /* [count] */
  const double *weights;  /* [classes]: what their rows count for; NULL: all count the same */
};

/* A node: rows whose `column` is at most the threshold go to node `child` of the tree, the others to the node after it.
   A leaf is its own child with an infinite threshold, so that a row that has arrived stays. */
struct forest_node {
  double threshold;
  uint32_t column, child;
};

/* Mean and variance of a node's rows, in units of the forest's scale. */
struct forest_moments {
  double mean, variance;
};

/* The classes of a leaf's rows: shares[first] to shares[first + count - 1]. Nodes that are no leaves have none. */
struct forest_leaf {
  uint32_t first, count;
};
struct forest_share {
  uint32_t class;
  float share;
};

struct forest {
  size_t dimension, trees, depth; /* depth: of the deepest leaf; a root has 0 */
  double scale;                   /* a power of 2 that brings all values into [-1, 1] */
  size_t *roots;                  /* [trees + 1]: first node of each tree; the last is the number of nodes */
  struct forest_node *nodes;
  struct forest_moments *moments;  /* of each node; regression */
  struct forest_leaf *leaves;      /* of each node; classification */
  struct forest_share *shares;     /* [share_count] */
  size_t class_count, share_count; /* 0: regression */
  size_t node_room, tree_room, leaf_room, share_room;
};

/* Grow a forest and replace the contents of *forest (zeroed at first), reusing its memory. The streams of tree t are
   (seed, "forest bootstrap", t) and (seed, "forest split", t). TUTTI_ERROR_CANCELLED between trees; TUTTI_ERROR_USAGE
   for more rows or shares than can be numbered. */
enum tutti_status forest_grow(tutti_context *context, const struct forest_settings *settings,
                              const struct forest_data *data, struct forest *forest);
/* The same for classification, with the Gini impurity. */
enum tutti_status forest_grow_classes(tutti_context *context, const struct forest_settings *settings,
                                      const struct forest_data *data, const struct forest_labels *labels,
                                      struct forest *forest);
void forest_clear(struct forest *forest);

/* Which variance the predicted deviation is made of. */
enum forest_deviation {
  FOREST_TOTAL,  /* law of total variance: mean of the leaves' variances + variance of the trees' means */
  FOREST_BETWEEN /* only the variance of the trees' means */
};
/* Mean over the trees and standard deviation at each of `count` points, points[count][dimension]. */
void forest_predict(const struct forest *forest, enum forest_deviation kind, size_t count, const double *vectors,
                    double *mean, double *deviation);
/* The leaves of one tree that the points arrive in, as numbers counted from the forest's first node. */
void forest_leaves(const struct forest *forest, size_t tree, size_t count, const double *vectors, size_t *leaves);

/* Mean over the trees of the leaves' shares: shares[count][class_count]. */
void forest_predict_classes(const struct forest *forest, size_t count, const double *vectors, double *shares);

#endif
