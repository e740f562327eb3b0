/* otmann.c - the distance of two profiles. The paper's linear program transports the masses of one network's layers to
   the other's. The cost per unit is the mismatch of labels plus a weight times the mean difference of path lengths;
   unmatched mass costs 1 on either side. Layers of different roles never match (their mismatch is infinite), so the
   program splits into one per role, and these are solved one by one. The first structural weight is solved from
   scratch, each further one from the optimum of the one before. */
#include "otmann.h"

#include <math.h>
#include <tutti/cpu.h>

double otmann_mismatch(const struct otmann_rules *rules, enum label a, enum label b) {
  const struct label_facts *first = &label_facts[a], *second = &label_facts[b];
  if (a == b)
    return 0;
  if (first->role != second->role)
    return INFINITY;
  switch (first->role) {
  case ROLE_HIDDEN:
    return label_in(a, LABELS_SIGMOID) == label_in(b, LABELS_SIGMOID) ? 0.1 : 0.25;
  case ROLE_POOL:
    return rules->pool_mismatch;
  case ROLE_CONV: {
    double kernels = rules->conv_mismatch * sqrt(fabs((double)(first->kernel - second->kernel)) / 2);
    return first->residual == second->residual ? kernels : 0.9 * kernels + 0.1;
  }
  default:
    return INFINITY;
  }
}

#define WIDTH 2
#define NAME(function) function##_baseline
#define TARGET
#include "otmann_structure.h"

#if defined(__x86_64__)
#define WIDTH 4
#define NAME(function) function##_avx2
#define TARGET __attribute__((target("avx2")))
#include "otmann_structure.h"

#define WIDTH 8
#define NAME(function) function##_avx512
#define TARGET __attribute__((target("avx512f,avx512dq,avx512vl")))
#include "otmann_structure.h"
#endif

static otmann_structure_function *choose_structure(void) {
#if defined(__x86_64__)
  enum tutti_cpu cpu = tutti_cpu_detect();
  if (cpu >= TUTTI_CPU_AVX512)
    return structure_avx512;
  if (cpu >= TUTTI_CPU_AVX2)
    return structure_avx2;
#endif
  return structure_baseline;
}

void otmann_init(struct otmann *otmann, const struct otmann_rules *rules) {
  otmann->rules = *rules;
  otmann->structure = choose_structure();
  otmann->transport.simplex = NULL;
  for (int a = 0; a < LABEL_COUNT; a++)
    for (int b = 0; b < LABEL_COUNT; b++)
      otmann->mismatch[a][b] = otmann_mismatch(rules, (enum label)a, (enum label)b);
}

/* The layers of one role in both networks. */
struct block {
  const struct otmann_profile *a, *b;
  int a_begin, b_begin;
};

/* Mean difference of path lengths, and mismatch of labels, for all pairs. */
static void fill_costs(struct otmann *otmann, const struct block *block) {
  int rows = otmann->transport.rows, columns = otmann->transport.columns;
  size_t paths = otmann->rules.group_count * OTMANN_PATHS;
  for (int i = 0; i < rows; i++) {
    double own[OTMANN_GROUPS_MOST * OTMANN_PATHS];
    const double *mismatch = otmann->mismatch[block->a->labels[block->a_begin + i]];
    for (int j = 0; j < columns; j++)
      otmann->label_costs[i][j] = mismatch[block->b->labels[block->b_begin + j]];
    for (size_t k = 0; k < paths; k++)
      own[k] = block->a->lengths[k][block->a_begin + i];
    otmann->structure(paths, own, &block->b->lengths[0][block->b_begin], columns, otmann->structure_costs[i]);
  }
}

static double cost_of(const struct otmann *otmann, double weight, int row, int column) {
  return otmann->label_costs[row][column] + weight * otmann->structure_costs[row][column];
}

static void solve(struct otmann *otmann, double weight) {
  struct transport *transport = &otmann->transport;
  for (int i = 0; i < transport->rows; i++)
    for (int j = 0; j < transport->columns; j++)
      transport->costs[i][j] = cost_of(otmann, weight, i, j);
  transport_solve(transport);
}

/* An arc of the optimum, between a node of the tree and its parent; -1 stands for the ground. */
struct arc {
  int row, column;
  double flow, cost;
};

static struct arc arc_above(const struct otmann *otmann, double weight, int node) {
  const struct transport *transport = &otmann->transport;
  int rows = transport->rows, other = transport->parent[node], ground = rows + transport->columns;
  struct arc arc = {.row = -1, .column = -1, .flow = transport->flow[node], .cost = 1};
  if (node < rows) {
    arc.row = node;
    arc.column = other == ground ? -1 : other - rows;
  } else {
    arc.row = other == ground ? -1 : other;
    arc.column = node - rows;
  }
  if (other != ground)
    arc.cost = cost_of(otmann, weight, arc.row, arc.column);
  return arc;
}

/* The cost of the optimum, from its arcs with flow. */
static double optimum(const struct otmann *otmann, double weight) {
  double sum = 0;
  for (int node = 0; node < otmann->transport.rows + otmann->transport.columns; node++) {
    struct arc arc = arc_above(otmann, weight, node);
    sum += arc.flow > 0 ? arc.flow * arc.cost : 0;
  }
  return sum;
}

/* Set up the program of one role; false if neither network has such layers. */
static bool begin_role(struct otmann *otmann, const struct otmann_profile *a, const struct otmann_profile *b, int role,
                       struct block *block) {
  struct transport *transport = &otmann->transport;
  *block = (struct block){a, b, a->roles[role], b->roles[role]};
  transport->rows = a->roles[role + 1] - block->a_begin;
  transport->columns = b->roles[role + 1] - block->b_begin;
  for (int i = 0; i < transport->rows; i++)
    transport->supplies[i] = a->masses[block->a_begin + i];
  for (int j = 0; j < transport->columns; j++)
    transport->demands[j] = b->masses[block->b_begin + j];
  if (transport->rows + transport->columns == 0)
    return false;
  fill_costs(otmann, block);
  transport_begin(transport);
  return true;
}

/* Most roles have one layer in each network: its mass goes over, or stays, and there is nothing to search. */
static void add_single(const struct otmann *otmann, double *out) {
  double supply = otmann->transport.supplies[0], demand = otmann->transport.demands[0];
  for (size_t k = 0; k < otmann->rules.structure_count; k++) {
    double cost = cost_of(otmann, otmann->rules.structures[k], 0, 0);
    double flow = transport_single_flow(&otmann->transport, cost), sum = flow > 0 ? flow * cost : 0;
    out[k] += sum + (supply - flow) + (demand - flow);
  }
}

void otmann_distance(struct otmann *otmann, const struct otmann_profile *a, const struct otmann_profile *b,
                     double *out) {
  size_t count = otmann->rules.structure_count;
  struct block block;
  for (size_t k = 0; k < count; k++)
    out[k] = 0;
  for (int role = 0; role <= ROLE_OUTPUT; role++) {
    if (!begin_role(otmann, a, b, role, &block))
      continue;
    if (otmann->transport.rows == 1 && otmann->transport.columns == 1) {
      add_single(otmann, out);
      continue;
    }
    for (size_t k = 0; k < count; k++) {
      solve(otmann, otmann->rules.structures[k]);
      out[k] += optimum(otmann, otmann->rules.structures[k]);
    }
  }
  for (size_t k = 0; k < count; k++)
    out[count + k] = out[k] / (a->total + b->total);
}

void otmann_explain(struct otmann *otmann, const struct otmann_profile *a, const struct otmann_profile *b,
                    void (*add)(void *argument, int from, int to, double mass, double cost), void *argument) {
  double weight = otmann->rules.structures[0];
  struct block block;
  for (int role = 0; role <= ROLE_OUTPUT; role++) {
    if (!begin_role(otmann, a, b, role, &block))
      continue;
    solve(otmann, weight);
    for (int node = 0; node < otmann->transport.rows + otmann->transport.columns; node++) {
      struct arc arc = arc_above(otmann, weight, node);
      if (arc.flow > 0)
        add(argument, arc.row < 0 ? -1 : block.a_begin + arc.row, arc.column < 0 ? -1 : block.b_begin + arc.column,
            arc.flow, arc.cost);
    }
  }
}
