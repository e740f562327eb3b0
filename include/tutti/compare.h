/* compare.h - compares runs: means, ranks, winning frequencies and sign tests over what they have in common. */
#ifndef TUTTI_COMPARE_H
#define TUTTI_COMPARE_H

#include <tutti/evaluate.h>

TUTTI_BEGIN_DECLS

/* --- statistics -------------------------------------------------------------------------------------------------- */

/* Figures of several variants (methods, settings) over blocks. A block makes figures comparable: it is a data set and a
   seed, with which every variant has the same rows. */
struct tutti_figures {
  size_t size; /* sizeof(struct tutti_figures) */
  size_t blocks, variants;
  const double *values;     /* [blocks][variants]; a value that is not finite is missing */
  enum tutti_better better; /* with TUTTI_BETTER_NEITHER nothing is ranked */
};

/* How one variant does. NaN where there is nothing to compute from. */
struct tutti_placing {
  size_t size;          /* sizeof(struct tutti_placing), set by the caller */
  size_t count;         /* blocks in which it has a value */
  double mean, error;   /* of its values; standard error: standard deviation (n - 1) / sqrt(n) */
  size_t ranked;        /* blocks in which every variant has a value; ranks are taken in these */
  double rank;          /* mean rank, 1 is the best; ties share the mean of their places */
  double expected_rank; /* likewise, but ties all get the worst of their places (Lacoste et al. 2014) */
};
/* Compute how variant number `variant` (< figures->variants) does. Nothing is kept. */
TUTTI_API void tutti_placing_of(const struct tutti_figures *figures, size_t variant, struct tutti_placing *placing);

/* One variant against another, over the blocks in which both have a value. */
struct tutti_duel {
  size_t size; /* sizeof(struct tutti_duel), set by the caller */
  size_t wins, losses, ties;
  double frequency; /* (wins + ties / 2) / blocks; NaN without blocks */
  double p;         /* two-sided sign test; NaN without blocks */
  double p_one; /* one-sided sign test of whether the one beats the other: tutti_sign_test_one_sided(wins, losses) */
};
/* Compute how variant number `one` does against number `other` (both < figures->variants). All counts are 0 with
   TUTTI_BETTER_NEITHER. */
TUTTI_API void tutti_duel_of(const struct tutti_figures *figures, size_t one, size_t other, struct tutti_duel *duel);

/* Exact two-sided sign test: the probability that a fair coin divides wins + losses at least as unevenly. 1 if both are
   0. Ties do not count as trials: leave them out. */
TUTTI_API double tutti_sign_test(uint64_t wins, uint64_t losses);
/* Exact one-sided sign test, P[Binomial(wins + losses, 1/2) <= losses], as Lacoste et al. (2014) use it. */
TUTTI_API double tutti_sign_test_one_sided(uint64_t wins, uint64_t losses);

/* The Poisson-binomial test of Lacoste et al. (2012, 2014): is one method better on more than half of all data sets?
   For each data set it needs two counts of test rows: those that only the one gets wrong, and those that only the other
   does. */

/* On one data set, with a uniform prior: the probability I_1/2(1 + one, 1 + other) that the first method is the better
   one, where it alone gets `one` rows wrong and the second alone `other` rows. */
TUTTI_API double tutti_better_probability(uint64_t one, uint64_t other);
/* Over data sets with the probabilities better[sets]: *probability = P(rho > 1/2), where rho is the share of all data
   sets on which the first method is better, again with a uniform prior; 1/2 without data sets. TUTTI_ERROR_MEMORY. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_poisson_binomial_test(tutti_context *context, size_t sets,
                                                                        const double *better, double *probability);

/* --- runs -------------------------------------------------------------------------------------------------------- */

struct tutti_compare_options {
  size_t size;
  const char *split; /* whose metrics are compared; NULL: "test" */
  size_t keys;
  const char *const
      *by;       /* [keys] "section.key": variants differ in these. None: in all keys in which the recipes differ */
  uint64_t step; /* not 0: also standings after so many trials, twice so many, ..., by the best trial so far */
  bool
      reselect; /* and by the ensembles that each run's selector chooses from the trials so far; reads the runs' data */
  uint64_t last; /* not 0: also means of the standings after each of so many last trials, with ensembles chosen anew */
};
/* Compare finished runs. `directories` [count] are run directories, or directories of ablations, which stand for the
   runs in them. *json is described in docs/ablation.md; free it with tutti_free. TUTTI_ERROR_USAGE: not a run
   directory, no finished run, or a split or key that does not exist. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_compare(tutti_context *context, size_t count,
                                                          const char *const *directories,
                                                          const struct tutti_compare_options *options, char **json);

TUTTI_END_DECLS
#endif
