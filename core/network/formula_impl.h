/* formula_impl.h - what the writers of formulas have to give; for core/ alone. */
#ifndef TUTTI_FORMULA_IMPL_H
#define TUTTI_FORMULA_IMPL_H

#include <tutti/formula.h>

/* Has it this term, with so many columns, and with a row for each row of data or one for all? */
static inline bool tutti_formula_answers(const tutti_formula *formula, tutti_term term, size_t columns) {
  const struct tutti_formula_term *found = tutti_formula_at(formula, term);
  return found && found->columns == columns && found->rows <= 1;
}

#endif
