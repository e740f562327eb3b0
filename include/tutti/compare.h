/* compare.h - runs against each other: means, ranks, winning frequencies and sign tests over what they have in common. */
#ifndef TUTTI_COMPARE_H
#define TUTTI_COMPARE_H

#include <tutti/evaluate.h>

TUTTI_BEGIN_DECLS

/* --- statistics -------------------------------------------------------------------------------------------------- */

/* Figures of several variants (methods, settings) over blocks. A block is what makes figures comparable: a data set and a
   seed, with which every variant has the same rows. */
struct tutti_figures {
  size_t size; /* sizeof(struct tutti_figures) */
  size_t blocks, variants;
  const double *values;     /* [blocks][variants]; what is not finite is missing */
  enum tutti_better better; /* with TUTTI_BETTER_NEITHER nothing is ranked */
};

/* How one variant does. What there is nothing to compute from is NaN. */
struct tutti_placing {
  size_t size;          /* sizeof(struct tutti_placing), set by the caller */
  size_t count;         /* blocks in which it has a value */
  double mean, error;   /* of its values; standard error: standard deviation (n - 1) / sqrt(n) */
  size_t ranked;        /* blocks in which every variant has a value: ranks are those of these blocks */
  double rank;          /* mean rank from 1, the best; those that tie share the mean of their places */
  double expected_rank; /* likewise, but those that tie all have the worst of their places (Lacoste et al. 2014) */
};
TUTTI_API void tutti_placing_of(const struct tutti_figures *figures, size_t variant, struct tutti_placing *placing);

/* One variant against another, over the blocks in which both have a value. */
struct tutti_duel {
  size_t size; /* sizeof(struct tutti_duel), set by the caller */
  size_t wins, losses, ties;
  double frequency; /* (wins + ties / 2) / blocks; NaN without blocks */
  double p;         /* two-sided sign test; NaN without blocks */
  double p_one; /* one-sided sign test of whether the one beats the other: tutti_sign_test_one_sided(wins, losses) */
};
TUTTI_API void tutti_duel_of(const struct tutti_figures *figures, size_t one, size_t other, struct tutti_duel *duel);

/* Exact sign test, two-sided: the probability that a fair coin divides wins + losses at least as unevenly. Ties are no
   trials: they are dropped. 1 without any. */
TUTTI_API double tutti_sign_test(uint64_t wins, uint64_t losses);
/* One-sided: P[Binomial(wins + losses, 1/2) <= losses], as Lacoste et al. (2014) use it. */
TUTTI_API double tutti_sign_test_one_sided(uint64_t wins, uint64_t losses);

/* The Poisson-binomial test of Lacoste et al. (2012, 2014): is one method better on more than half of all data sets? Of a
   data set it takes how many test rows only the one, and only the other, gets wrong. */

/* On one data set, with a uniform prior: the probability I_1/2(1 + one, 1 + other) that the first method, which alone gets
   `one` rows wrong, is the better one. */
TUTTI_API double tutti_better_probability(uint64_t one, uint64_t other);
/* Over data sets with these probabilities [sets]: P(rho > 1/2) for the share rho of all data sets on which the first method is
   better, again with a uniform prior; 1/2 without any. Fails when there is no memory. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_poisson_binomial_test(tutti_context *context, size_t sets,
                                                                        const double *better, double *probability);

/* --- runs -------------------------------------------------------------------------------------------------------- */

struct tutti_compare_options {
  size_t size;
  const char *split; /* whose metrics are compared; NULL: "test" */
  size_t keys;
  const char *const *by; /* [keys] "section.key": variants differ in these. None: in whatever the recipes differ */
  uint64_t step;         /* not 0: standings after so many trials, twice so many, ..., too, by the best trial so far */
  bool reselect; /* and by ensembles that each run's selector chooses from the trials so far; reads the runs' data */
};
/* Compare finished runs: run directories, and directories of ablations, which stand for the runs in them. The JSON text
   (free with tutti_free) is described in docs/ablation.md. TUTTI_ERROR_USAGE: no run directory, no run that is finished, a
   split or key that there is not. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_compare(tutti_context *context, size_t count,
                                                          const char *const *directories,
                                                          const struct tutti_compare_options *options, char **json);

TUTTI_END_DECLS
#endif
