/* gp_panel.h - included once for each level of vector instructions, with WIDTH (doubles in a register), ROWS (rows of
   the factor taken at once: as many as there are registers for), TARGET (the function's attribute) and NAME(). Points
   lie in the lanes. Each point therefore goes through the same operations in the same order, whatever its neighbours
   and the number of rows. */

typedef double NAME(lanes) __attribute__((vector_size(WIDTH * sizeof(double)), aligned(sizeof(double)), may_alias));

enum { NAME(vectors) = 3, NAME(tile) = NAME(vectors) * WIDTH };

/* Sum over 32 rows first, then over these sums: rounding errors then grow with the number of blocks instead of rows. */
TARGET static void NAME(weigh)(size_t rows, size_t columns, const double *block, const double *weight, double *sums) {
  for (size_t first = 0; first < columns; first += NAME(tile)) {
    NAME(lanes) total[NAME(vectors)] = {{0}};
    for (size_t begin = 0; begin < rows; begin += 32) {
      size_t end = begin + 32 < rows ? begin + 32 : rows;
      NAME(lanes) sum[NAME(vectors)] = {{0}};
      for (size_t i = begin; i < end; i++) {
        UNROLL
        for (int v = 0; v < NAME(vectors); v++)
          sum[v] += weight[i] * *(const NAME(lanes) *)(block + i * GP_BATCH + first + v * WIDTH);
      }
      UNROLL
      for (int v = 0; v < NAME(vectors); v++)
        total[v] += sum[v];
    }
    for (int v = 0; v < NAME(vectors); v++)
      *(NAME(lanes) *)(sums + first + v * WIDTH) = total[v];
  }
}

/* z -= factor · solved, for one tile of one row each. */
TARGET INLINE void NAME(subtract)(NAME(lanes) * z, double factor, const NAME(lanes) * solved) {
  UNROLL
  for (int v = 0; v < NAME(vectors); v++)
    z[v] -= factor * solved[v];
}

/* Solve rows [row, row + count) of one tile; the rows before are solved. First the products with those, then the
   triangle between the new rows. */
TARGET INLINE void NAME(solve_rows)(const double *factor, size_t stride, size_t row, const int count, double *block,
                                    double *squares) {
  NAME(lanes) z[ROWS][NAME(vectors)];
  for (int r = 0; r < count; r++)
    memcpy(z[r], block + (row + r) * GP_BATCH, sizeof(z[r]));
  for (size_t i = 0; i < row; i++) {
    UNROLL
    for (int r = 0; r < count; r++)
      NAME(subtract)(z[r], factor[(row + r) * stride + i], (const NAME(lanes) *)(block + i * GP_BATCH));
  }
  UNROLL
  for (int r = 0; r < count; r++) {
    const double *column = factor + (row + r) * stride + row, inverse = 1 / column[r];
    UNROLL
    for (int i = 0; i < r; i++)
      NAME(subtract)(z[r], column[i], z[i]);
    UNROLL
    for (int v = 0; v < NAME(vectors); v++) {
      z[r][v] *= inverse;
      *(NAME(lanes) *)(squares + v * WIDTH) += z[r][v] * z[r][v];
    }
    memcpy(block + (row + r) * GP_BATCH, z[r], sizeof(z[r]));
  }
}

TARGET static void NAME(solve)(const double *factor, size_t stride, size_t rows, size_t columns, double *block,
                               double *squares) {
  for (size_t i = 0; i < GP_BATCH; i++)
    squares[i] = 0;
  for (size_t row = 0; row < rows; row += ROWS)
    for (size_t first = 0; first < columns; first += NAME(tile))
      if (row + ROWS <= rows)
        NAME(solve_rows)(factor, stride, row, ROWS, block + first, squares + first);
      else
        for (size_t i = row; i < rows; i++)
          NAME(solve_rows)(factor, stride, i, 1, block + first, squares + first);
}

static const struct gp_panel_functions NAME(panel) = {NAME(weigh), NAME(solve)};

#undef WIDTH
#undef ROWS
#undef NAME
#undef TARGET
