/* otmann_structure.h - included once for each level of vector instructions, with WIDTH (doubles in a register), TARGET
   (the function's attribute) and NAME(). Nothing is multiplied here, so that all levels have the same bits. */

typedef double NAME(lanes) __attribute__((vector_size(WIDTH * sizeof(double)), aligned(sizeof(double)), may_alias));
typedef int64_t NAME(lane_bits) __attribute__((vector_size(WIDTH * sizeof(int64_t))));

TARGET static void NAME(structure)(size_t paths, const double *own, const double *others, int count, double *out) {
  for (int base = 0; base < count; base += WIDTH) {
    NAME(lanes) sum = {0};
    for (size_t k = 0; k < paths; k++) {
      NAME(lanes) difference = own[k] - *(const NAME(lanes) *)(others + k * GRAPH_LAYERS_MOST + base);
      sum += (NAME(lanes))((NAME(lane_bits))difference & INT64_MAX);
    }
    *(NAME(lanes) *)(out + base) = sum / (double)paths;
  }
}

#undef WIDTH
#undef NAME
#undef TARGET
