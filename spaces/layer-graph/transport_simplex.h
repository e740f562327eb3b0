/* transport_simplex.h - included once for each level of vector instructions, with WIDTH (doubles in a register), TARGET
   (the functions' attribute) and NAME(). Nothing is multiplied here, so that all levels have the same bits. */

typedef double NAME(lanes) __attribute__((vector_size(WIDTH * sizeof(double)), aligned(sizeof(double)), may_alias));

/* What is left of the costs of a row's arcs after the columns' prices, left[], and the least of it. */
TARGET INLINE double NAME(least_left)(const double *costs, const double *prices, int columns, double *left) {
  NAME(lanes) least = INFINITY + (NAME(lanes)){0};
  for (int base = 0; base <= columns; base += WIDTH) {
    NAME(lanes) these = *(const NAME(lanes) *)(costs + base) - *(const NAME(lanes) *)(prices + base);
    *(NAME(lanes) *)(left + base) = these;
    for (int k = 0; k < WIDTH; k++)
      least[k] = lesser(these[k], least[k]);
  }
  double best = least[0];
  for (int k = 1; k < WIDTH; k++)
    best = lesser(least[k], best);
  return best;
}

/* Let the arc of a row enter that saves most; false if none saves anything. */
TARGET INLINE bool NAME(improve_row)(struct transport *transport, int row) {
  double left[TRANSPORT_STRIDE];
  double best = NAME(least_left)(transport->costs[row], transport->column_prices, transport->columns, left);
  int column = 0;
  if (best >= transport->row_prices[row])
    return false;
  while (left[column] > best)
    column++;
  enter(transport, row, column);
  return true;
}

/* With them the ground and the padding, which stays dearer than the ground. */
TARGET INLINE void NAME(round_costs)(struct transport *transport) {
  for (int row = 0; row < transport->rows; row++)
    for (int base = 0; base <= transport->columns; base += WIDTH) {
      NAME(lanes) *costs = (NAME(lanes) *)(transport->costs[row] + base), clipped = *costs;
      for (int k = 0; k < WIDTH; k++)
        clipped[k] = lesser(clipped[k], COST_MOST);
      *costs = (clipped + COST_ROUND) - COST_ROUND;
    }
}

TARGET static void NAME(simplex)(struct transport *transport) {
  int row = 0;
  NAME(round_costs)(transport);
  price_subtree(transport, ground_of(transport));
  for (int idle = 0; idle <= transport->rows;) {
    idle = NAME(improve_row)(transport, row) ? 0 : idle + 1;
    row = row == transport->rows ? 0 : row + 1;
  }
}

#undef WIDTH
#undef NAME
#undef TARGET
