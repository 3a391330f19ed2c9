/* Which of the valid sets of sizes: all in ascending order, or some at random. */
#include <stdlib.h>

#include "base/fail.h"
#include "base/memory.h"
#include "sweep/sweep.h"

#define HASH_NONFATAL_OOM 1
#include <uthash.h>

static int by_number(const void *a, const void *b) {
  clt_config x = *(const clt_config *)a, y = *(const clt_config *)b;
  return (x > y) - (x < y);
}

static int all(clt_config *out, const clt_space *space, size_t n) {
  clt_space_enumerate(space, 0, n, out);
  qsort(out, n, sizeof *out, by_number);
  return CLT_OK;
}

typedef struct draw {
  uint64_t rank;
  UT_hash_handle hh;
} draw;

static bool is_new(draw **set, draw *entry) {
  draw *found = NULL;
  HASH_FIND(hh, *set, &entry->rank, sizeof entry->rank, found);
  if (found) return false;
  HASH_ADD(hh, *set, rank, sizeof entry->rank, entry);
  return true;
}

/* One after the other, so that the first of many draws are those of fewer: what one plan skips, another one has. */
static int some(clt_config *out, const clt_space *space, size_t count, size_t skip, uint64_t seed, clt_error *error) {
  draw *entries = clt_new_array(skip + count, sizeof *entries), *set = NULL;
  clt_rng rng;
  if (entries == NULL) return clt_fail_memory(error);
  clt_rng_init(&rng, seed);
  int rc = CLT_OK;
  for (size_t n = 0; rc == CLT_OK && n < skip + count;) {
    entries[n].rank = clt_rng_below(&rng, clt_space_valid(space));
    if (!is_new(&set, &entries[n])) continue;
    if (entries[n].hh.tbl == NULL) rc = clt_fail_memory(error);
    if (n >= skip) out[n - skip] = clt_space_at(space, entries[n].rank);
    n++;
  }
  HASH_CLEAR(hh, set);
  free(entries);
  return rc;
}

int clt_sweep_draw(clt_config **out, size_t *n, const clt_space *space, size_t count, size_t skip, uint64_t seed,
                   clt_error *error) {
  uint64_t valid = clt_space_valid(space);
  if (count == 0 && valid > CLT_MAX_SWEEP_SIZES)
    return clt_fail(error, CLT_E_RANGE, "%llu sizes are too many; \"Count\" draws some of them at random",
                    (unsigned long long)valid);
  if (count + skip > valid)
    return clt_fail(error, CLT_E_RANGE, "only %llu sizes satisfy the conditions", (unsigned long long)valid);
  if (valid == 0) return clt_fail(error, CLT_E_RANGE, "no size satisfies the conditions");
  size_t n_drawn = count ? count : (size_t)valid;
  clt_config *drawn = clt_new_array(n_drawn, sizeof *drawn);
  if (drawn == NULL) return clt_fail_memory(error);
  int rc = count ? some(drawn, space, count, skip, seed, error) : all(drawn, space, n_drawn);
  if (rc) return free(drawn), rc;
  *out = drawn;
  *n = n_drawn;
  return CLT_OK;
}
