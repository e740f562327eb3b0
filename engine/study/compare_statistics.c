/* compare_statistics.c - ranks, winning frequencies, sign tests and the Poisson-binomial test. */
#include <math.h>
#include <tutti/compare.h>

#include <tutti/sized.h>

/* P[Binomial(n, 1/2) <= most], for most < n / 2. A common power of two is taken out of the binomial coefficients, so
   that their sum is exact as long as doubles can hold it, and never overflows. */
static double binomial_half(uint64_t n, uint64_t most) {
  enum { STEP = 512 };
  double term = 1, sum = 1;
  int taken = 0;
  for (uint64_t k = 1; k <= most; k++) {
    term = term * (double)(n - k + 1) / (double)k;
    sum += term;
    if (sum > 0x1p512) {
      term = ldexp(term, -STEP);
      sum = ldexp(sum, -STEP);
      taken += STEP;
    }
  }
  return ldexp(sum, taken - (int)n);
}

double tutti_sign_test_one_sided(uint64_t wins, uint64_t losses) {
  uint64_t n = wins + losses;
  if (losses < wins)
    return binomial_half(n, losses);
  return wins > 0 ? 1 - binomial_half(n, wins - 1) : 1; /* the other tail is the smaller sum */
}

double tutti_sign_test(uint64_t wins, uint64_t losses) {
  return wins == losses ? 1 : 2 * binomial_half(wins + losses, wins < losses ? wins : losses);
}

double tutti_better_probability(uint64_t one, uint64_t other) {
  return tutti_sign_test_one_sided(one + 1, other); /* I_1/2(1 + a, 1 + b) = P[Binomial(a + b + 1, 1/2) <= b] */
}

/* shares[sets + 1]: the probability that exactly so many of the events happen. */
static void distribution_of_wins(size_t sets, const double *better, double *shares) {
  shares[0] = 1;
  for (size_t j = 0; j < sets; j++)
    for (size_t k = j + 2; k-- > 0;)
      shares[k] = (k <= j ? shares[k] * (1 - better[j]) : 0) + (k > 0 ? shares[k - 1] * better[j] : 0);
}

enum tutti_status tutti_poisson_binomial_test(tutti_context *context, size_t sets, const double *better,
                                              double *probability) {
  double *shares;
  TUTTI_TRY(context, tutti_alloc(context, sets + 1, sizeof *shares, &shares));
  distribution_of_wins(sets, better, shares);
  *probability = 0;
  for (size_t k = 0; k <= sets; k++) /* P[Beta(1 + k, 1 + L - k) > 1/2] */
    *probability += shares[k] * tutti_better_probability(sets - k, k);
  tutti_free(shares);
  return TUTTI_OK;
}

/* --- figures ----------------------------------------------------------------------------------------------------- */

static double value_at(const struct tutti_figures *figures, size_t block, size_t variant) {
  return figures->values[block * figures->variants + variant];
}

/* Of two values, is the first better? */
static bool is_better(const struct tutti_figures *figures, double one, double other) {
  return figures->better == TUTTI_BETTER_LOWER ? one < other : one > other;
}

static void mean_and_error(const struct tutti_figures *figures, size_t variant, struct tutti_placing *placing) {
  double sum = 0, squares = 0;
  for (size_t b = 0; b < figures->blocks; b++)
    if (isfinite(value_at(figures, b, variant))) {
      sum += value_at(figures, b, variant);
      placing->count++;
    }
  double n = (double)placing->count, mean = sum / n;
  for (size_t b = 0; b < figures->blocks; b++)
    if (isfinite(value_at(figures, b, variant)))
      squares += (value_at(figures, b, variant) - mean) * (value_at(figures, b, variant) - mean);
  placing->mean = mean; /* NaN without values */
  placing->error = placing->count > 1 ? sqrt(squares / (n - 1) / n) : NAN;
}

static bool is_complete(const struct tutti_figures *figures, size_t block) {
  for (size_t v = 0; v < figures->variants; v++)
    if (!isfinite(value_at(figures, block, v)))
      return false;
  return true;
}

/* Add the place that a variant has in a block. */
static void rank_in_block(const struct tutti_figures *figures, size_t block, size_t variant,
                          struct tutti_placing *placing) {
  size_t above = 0, level = 0;
  for (size_t v = 0; v < figures->variants; v++) {
    double other = value_at(figures, block, v), own = value_at(figures, block, variant);
    above += is_better(figures, other, own);
    level += other == own; /* itself, too */
  }
  placing->ranked++;
  placing->rank += (double)above + (double)(level + 1) / 2;
  placing->expected_rank += (double)(above + level);
}

void tutti_placing_of(const struct tutti_figures *given, size_t variant, struct tutti_placing *placing) {
  struct tutti_figures figures;
  struct tutti_placing own = {.size = sizeof own};
  TUTTI_TAKE(&figures, given);
  mean_and_error(&figures, variant, &own);
  for (size_t b = 0; b < figures.blocks; b++)
    if (figures.better != TUTTI_BETTER_NEITHER && is_complete(&figures, b))
      rank_in_block(&figures, b, variant, &own);
  own.rank /= (double)own.ranked;
  own.expected_rank /= (double)own.ranked;
  TUTTI_GIVE(placing, &own);
}

static size_t blocks_of(const struct tutti_duel *duel) { return duel->wins + duel->losses + duel->ties; }

void tutti_duel_of(const struct tutti_figures *given, size_t one, size_t other, struct tutti_duel *duel) {
  struct tutti_figures figures;
  struct tutti_duel own = {.size = sizeof own, .frequency = NAN, .p = NAN, .p_one = NAN};
  TUTTI_TAKE(&figures, given);
  for (size_t b = 0; b < figures.blocks && figures.better != TUTTI_BETTER_NEITHER; b++) {
    double a = value_at(&figures, b, one), c = value_at(&figures, b, other);
    if (!isfinite(a) || !isfinite(c))
      continue;
    own.wins += is_better(&figures, a, c);
    own.losses += is_better(&figures, c, a);
    own.ties += a == c;
  }
  if (blocks_of(&own) > 0) {
    own.frequency = ((double)own.wins + (double)own.ties / 2) / (double)blocks_of(&own);
    own.p = tutti_sign_test(own.wins, own.losses);
    own.p_one = tutti_sign_test_one_sided(own.wins, own.losses);
  }
  TUTTI_GIVE(duel, &own);
}
