/* formula.h - what a trained model or a fitted calibrator computes, written down as arithmetic, so that programs
   without Tutti can compute it, too (<tutti/export.h>). A plugin is handed a formula with some terms in it, and adds
   others, each made of earlier ones.

   A term is a matrix of doubles: it has a row for each row of data, or one row that counts for all of them. Of two
   terms that are joined element by element, one may have one column, which then counts for each column of the other.

   The first failure is kept: whatever is added afterwards gives TUTTI_NO_TERM, and tutti_formula_status says what it
   was. So a plugin need not check each term. */
#ifndef TUTTI_FORMULA_H
#define TUTTI_FORMULA_H

#include <tutti/context.h>

TUTTI_BEGIN_DECLS

typedef struct tutti_formula tutti_formula;

/* The number of a term, from 0 in the order in which they are added. */
typedef size_t tutti_term;
#define TUTTI_NO_TERM SIZE_MAX

/* What a term is made of. A formula has no others than these; later versions may know more. */
enum tutti_formula_op {
  TUTTI_FORMULA_INPUT,    /* given from outside */
  TUTTI_FORMULA_CONSTANT, /* numbers */
  TUTTI_FORMULA_ADD,      /* x + y; here and below to ABOVE, element by element */
  TUTTI_FORMULA_SUBTRACT, /* x - y */
  TUTTI_FORMULA_MULTIPLY, /* x y */
  TUTTI_FORMULA_DIVIDE,   /* x / y */
  TUTTI_FORMULA_LEAST,    /* the smaller one of x and y */
  TUTTI_FORMULA_MOST,     /* the larger one */
  TUTTI_FORMULA_ABOVE,    /* 1 where x > y, else 0 */
  TUTTI_FORMULA_EXP,
  TUTTI_FORMULA_LOG, /* natural */
  TUTTI_FORMULA_SQRT,
  TUTTI_FORMULA_SUM,     /* of each row's numbers: one column */
  TUTTI_FORMULA_LARGEST, /* of each row's numbers: one column */
  TUTTI_FORMULA_PRODUCT, /* of the matrices x [rows][k] and y [k][columns], a constant */
  TUTTI_FORMULA_BESIDE,  /* one or more terms side by side: their columns one after the other */
  TUTTI_FORMULA_COLUMNS, /* some columns of x */
  TUTTI_FORMULA_TREES,   /* struct tutti_formula_trees */
  TUTTI_FORMULA_COUPLE,  /* probabilities of classes from those of pairs: tutti_formula_couple */
  TUTTI_FORMULA_OPS
};

/* Trees of yes-or-no questions. A row of x begins at the first node of each tree, and goes from a node to its `low` or
   its `high` one until it is at a leaf. The term has `columns` columns, each the sum of what the leaves that the row is
   at say of it; a leaf may say something of several columns, and of those that it does not name it says 0. */
struct tutti_formula_trees {
  size_t size; /* sizeof(struct tutti_formula_trees) */
  size_t trees, columns, says;
  const size_t *roots;     /* [trees + 1]: first node of each tree, and the number of nodes */
  const uint32_t *column;  /* [nodes]: of x, which is compared */
  const double *threshold; /* [nodes] */
  const uint32_t *low; /* [nodes]: counted from the tree's first node, and after this one; of a leaf, the leaf itself */
  const uint32_t *high;    /* [nodes]: likewise */
  const bool *missing_low; /* [nodes]: where NaN goes; NULL: to `high` at all nodes */
  bool below;              /* to `low` goes what is below the threshold; false: or is equal to it, too */
  const size_t *leaf;      /* [says]: a node that is a leaf, counted over all trees and in this order, */
  const uint32_t *of;      /* [says]: a column, */
  const double *value;     /* [says]: and what that leaf says of it */
};

/* One term of a formula, as whoever computes it reads it. */
struct tutti_formula_term {
  size_t size; /* sizeof(struct tutti_formula_term) of the library */
  enum tutti_formula_op op;
  size_t rows;    /* 1: one that counts for all rows; 0: as many as the data; more: a constant for PRODUCT */
  size_t columns; /* classes of COUPLE, too */
  size_t count;
  const tutti_term *from;                  /* [count] */
  const double *values;                    /* [rows][columns] of a constant; NULL in a formula that counts */
  const uint32_t *picked;                  /* [columns] of COLUMNS: columns of x */
  const struct tutti_formula_trees *trees; /* NULL in a formula that counts */
};

/* Make an empty formula; the caller destroys *formula. The context must outlive it. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_formula_create(tutti_context *context, tutti_formula **formula);
/* Make one of which only tutti_formula_flops and the shapes of terms are wanted: it keeps no numbers and no trees, and
   takes NULL for the values of a constant. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_formula_create_counting(tutti_context *context,
                                                                          tutti_formula **formula);
/* Is it one? A plugin then need not compute what would only become the values of a constant. */
TUTTI_API bool tutti_formula_counts(const tutti_formula *formula);
/* Destroy it with its terms; NULL is allowed. */
TUTTI_API void tutti_formula_destroy(tutti_formula *formula);

/* Add a term, whose numbers are copied. TUTTI_NO_TERM after a failure, of which tutti_formula_status tells:
   TUTTI_ERROR_INTERNAL: terms that are not there, or that do not fit together, trees that are none, a constant without
   values; TUTTI_ERROR_MEMORY. */
TUTTI_API tutti_term tutti_formula_input(tutti_formula *formula, size_t columns);
TUTTI_API tutti_term tutti_formula_constant(tutti_formula *formula, size_t rows, size_t columns, const double *values);
/* Of ADD to BESIDE: `from` are as many terms as the op takes. */
TUTTI_API tutti_term tutti_formula_add(tutti_formula *formula, enum tutti_formula_op op, size_t count,
                                       const tutti_term *from);
TUTTI_API tutti_term tutti_formula_columns(tutti_formula *formula, tutti_term x, size_t count, const uint32_t *picked);
TUTTI_API tutti_term tutti_formula_grow(tutti_formula *formula, tutti_term x, const struct tutti_formula_trees *trees);
/* Probabilities p of k classes from x [rows][k (k - 1) / 2], those of pairs: r_ij, that it is class i if it is i or j,
   in the order 01, 02, ... 12, ...; r_ji = 1 - r_ij. They are what libsvm makes of them (Wu, Lin & Weng, "Probability
   estimates for multi-class classification by pairwise coupling", 2004, algorithm 2): Q_ij = -r_ji r_ij, Q_ii = the sum
   over the others of r_ji squared; from equal p, at most max(100, k) times: Qp and p'Qp; end if all |(Qp)_i - p'Qp| are
   below 0.005 / k; else each p_i in turn is raised by (p'Qp - (Qp)_i) / Q_ii, and all are normalised. */
TUTTI_API tutti_term tutti_formula_couple(tutti_formula *formula, tutti_term x, size_t classes);
/* A constant of one row and one column; and a term made of others by an op. */
TUTTI_API tutti_term tutti_formula_number(tutti_formula *formula, double value);
#define TUTTI_FORMULA(formula, op, ...)                                                                                \
  tutti_formula_add((formula), (op), sizeof((tutti_term[]){__VA_ARGS__}) / sizeof(tutti_term),                         \
                    (const tutti_term[]){__VA_ARGS__})

/* How many operations it takes to compute all its terms for one row of data: those of arithmetic, each as one, and the
   questions that a row is asked on its way through a tree, as the mean over the tree's leaves. What counts for all rows
   is computed once, and not counted. */
TUTTI_API double tutti_formula_flops(const tutti_formula *formula);
/* Has it failed, and why? The message is in the context. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_formula_status(const tutti_formula *formula);
/* The number of terms; and one of them, borrowed until the next one is added, NULL past the last. */
TUTTI_API size_t tutti_formula_count(const tutti_formula *formula);
TUTTI_API const struct tutti_formula_term *tutti_formula_at(const tutti_formula *formula, tutti_term term);

TUTTI_END_DECLS
#endif
