/* candidate_set.c - a hash table with linear probing. It is never more than half full, so that a probe always ends. */
#include <tutti/candidate_set.h>

struct tutti_candidate_set {
  size_t count, capacity; /* capacity: a power of two */
  tutti_candidate **slots;
};

enum { FIRST_CAPACITY = 64 };

/* The slot that holds an equal candidate, or the empty one where it belongs. */
static size_t slot_of(tutti_candidate *const *slots, size_t capacity, const tutti_candidate *candidate) {
  size_t slot = (size_t)tutti_candidate_hash(candidate) & (capacity - 1);
  while (slots[slot] && !tutti_candidate_equal(slots[slot], candidate))
    slot = (slot + 1) & (capacity - 1);
  return slot;
}

static enum tutti_status grow_set(tutti_context *context, tutti_candidate_set *set) {
  size_t capacity = 2 * set->capacity;
  tutti_candidate **slots = NULL;
  TUTTI_TRY(context, tutti_alloc(context, capacity, sizeof(*slots), &slots));
  for (size_t i = 0; i < set->capacity; i++)
    if (set->slots[i])
      slots[slot_of(slots, capacity, set->slots[i])] = set->slots[i];
  tutti_free(set->slots);
  set->slots = slots;
  set->capacity = capacity;
  return TUTTI_OK;
}

enum tutti_status tutti_candidate_set_create(tutti_context *context, tutti_candidate_set **set) {
  enum tutti_status status;
  tutti_candidate_set *made = NULL;
  TUTTI_TRY_OUT(context, tutti_alloc(context, 1, sizeof(*made), &made));
  made->capacity = FIRST_CAPACITY;
  TUTTI_TRY_OUT(context, tutti_alloc(context, made->capacity, sizeof(tutti_candidate *), &made->slots));
  *set = made;
  return TUTTI_OK;
out:
  tutti_free(made);
  return status;
}

void tutti_candidate_set_destroy(tutti_candidate_set *set) {
  if (!set)
    return;
  for (size_t i = 0; i < set->capacity; i++)
    tutti_candidate_unref(set->slots[i]);
  tutti_free(set->slots);
  tutti_free(set);
}

enum tutti_status tutti_candidate_set_add(tutti_context *context, tutti_candidate_set *set,
                                          const tutti_candidate *candidate, bool *added) {
  bool there = tutti_candidate_set_has(set, candidate);
  if (added)
    *added = !there;
  if (there)
    return TUTTI_OK;
  if (2 * (set->count + 1) > set->capacity)
    TUTTI_TRY(context, grow_set(context, set));
  set->slots[slot_of(set->slots, set->capacity, candidate)] = tutti_candidate_ref(candidate);
  set->count++;
  return TUTTI_OK;
}

bool tutti_candidate_set_has(const tutti_candidate_set *set, const tutti_candidate *candidate) {
  return set->slots[slot_of(set->slots, set->capacity, candidate)] != NULL;
}

size_t tutti_candidate_set_count(const tutti_candidate_set *set) { return set->count; }

enum tutti_status tutti_candidate_set_draw(tutti_context *context, const tutti_candidate_set *set,
                                           const tutti_scope *scope, struct tutti_random *random, uint64_t seed,
                                           tutti_candidate **candidate) {
  *candidate = NULL;
  for (size_t i = 0; i < 1000 + 40 * set->count; i++) {
    TUTTI_TRY(context, tutti_scope_sample(context, scope, random, seed, candidate));
    if (!tutti_candidate_set_has(set, *candidate))
      return TUTTI_OK;
    tutti_candidate_unref(*candidate);
    *candidate = NULL;
  }
  return TUTTI_OK;
}
