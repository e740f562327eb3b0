/* forest_predict.c - predicts tree by tree, so that a tree's nodes stay in the nearest cache; several points go down a
   tree together, so that their loads overlap. */
#include "forest_impl.h"

enum { LANES = 16 };

/* Nodes of the leaves of points [count][dimension], count <= LANES. */
static void descend(const struct forest_node *nodes, size_t dimension, size_t count, const double *vectors,
                    uint32_t *at) {
  uint32_t moved;
  for (size_t i = 0; i < count; i++)
    at[i] = 0;
  if (dimension == 0)
    return;
  do {
    moved = 0;
    for (size_t i = 0; i < count; i++) {
      const struct forest_node *node = &nodes[at[i]];
      uint32_t next = node->child + (vectors[i * dimension + node->column] > node->threshold);
      moved |= next ^ at[i];
      at[i] = next;
    }
  } while (moved);
}

/* Welford's recurrence over the trees: deviation[] holds the sum of squares about the mean so far. */
void forest_predict(const struct forest *forest, enum forest_deviation kind, size_t count, const double *vectors,
                    double *mean, double *deviation) {
  double within = kind == FOREST_TOTAL, trees = (double)forest->trees;
  uint32_t at[LANES];
  for (size_t i = 0; i < count; i++)
    mean[i] = deviation[i] = 0;
  for (size_t t = 0; t < forest->trees; t++) {
    const struct forest_moments *moments = forest->moments + forest->roots[t];
    double share = 1 / (double)(t + 1);
    for (size_t i = 0; i < count; i += LANES) {
      size_t lanes = count - i < LANES ? count - i : LANES;
      descend(forest->nodes + forest->roots[t], forest->dimension, lanes, vectors + i * forest->dimension, at);
      for (size_t k = 0; k < lanes; k++) {
        double difference = moments[at[k]].mean - mean[i + k];
        mean[i + k] += share * difference;
        deviation[i + k] += difference * (moments[at[k]].mean - mean[i + k]) + within * moments[at[k]].variance;
      }
    }
  }
  for (size_t i = 0; i < count; i++) {
    mean[i] *= forest->scale;
    deviation[i] = sqrt(fmax(deviation[i], 0) / trees) * forest->scale;
  }
}

void forest_leaves(const struct forest *forest, size_t tree, size_t count, const double *vectors, size_t *leaves) {
  uint32_t at[LANES];
  for (size_t i = 0; i < count; i += LANES) {
    size_t lanes = count - i < LANES ? count - i : LANES;
    descend(forest->nodes + forest->roots[tree], forest->dimension, lanes, vectors + i * forest->dimension, at);
    for (size_t k = 0; k < lanes; k++)
      leaves[i + k] = forest->roots[tree] + at[k];
  }
}

void forest_predict_classes(const struct forest *forest, size_t count, const double *vectors, double *shares) {
  uint32_t at[LANES];
  double weight = 1 / (double)forest->trees;
  for (size_t i = 0; i < count * forest->class_count; i++)
    shares[i] = 0;
  for (size_t t = 0; t < forest->trees; t++)
    for (size_t i = 0; i < count; i += LANES) {
      size_t lanes = count - i < LANES ? count - i : LANES;
      descend(forest->nodes + forest->roots[t], forest->dimension, lanes, vectors + i * forest->dimension, at);
      for (size_t k = 0; k < lanes; k++) {
        const struct forest_leaf *leaf = &forest->leaves[forest->roots[t] + at[k]];
        for (size_t s = leaf->first; s < leaf->first + leaf->count; s++)
          shares[(i + k) * forest->class_count + forest->shares[s].class] += weight * (double)forest->shares[s].share;
      }
    }
}
