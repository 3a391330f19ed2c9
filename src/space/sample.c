/* Uniform samples without repetition (R. W. Floyd, in J. Bentley, "A sample of brilliance", CACM 1987), then shuffled.
 */
#include <stdlib.h>

#include "base/fail.h"
#include "base/memory.h"
#include "space/parts.h"
#include "space/table.h"

static uint64_t hash_rank(uint64_t rank) {
  rank = (rank ^ (rank >> 32)) * 0x9e3779b97f4a7c15u;
  return rank ^ (rank >> 32);
}

static bool drawn(const clt_table *table, const uint64_t *ranks, uint64_t rank, size_t *at) {
  uint64_t hash = hash_rank(rank);
  for (uint32_t i = clt_table_first(table, hash, at); i != CLT_TABLE_NONE; i = clt_table_next(table, hash, at))
    if (ranks[i] == rank) return true;
  return false;
}

/* n of the ranks 0 .. valid-1 into ranks, each set equally likely. */
static int draw(uint64_t valid, clt_rng *rng, size_t n, uint64_t *ranks) {
  clt_table table = {0};
  int rc = CLT_OK;
  for (size_t i = 0; rc == CLT_OK && i < n; i++) {
    uint64_t newest = valid - n + i, rank = clt_rng_below(rng, newest + 1);
    size_t at;
    rc = clt_table_reserve(&table);
    if (rc) break;
    if (drawn(&table, ranks, rank, &at)) {
      rank = newest; /* cannot have been drawn before: it was out of reach */
      drawn(&table, ranks, rank, &at);
    }
    ranks[i] = rank;
    clt_table_put(&table, hash_rank(rank), at, (uint32_t)i);
  }
  clt_table_release(&table);
  return rc;
}

static void shuffle(uint64_t *ranks, size_t n, clt_rng *rng) {
  for (size_t i = n; i > 1; i--) {
    size_t other = (size_t)clt_rng_below(rng, i);
    uint64_t swapped = ranks[other];
    ranks[other] = ranks[i - 1];
    ranks[i - 1] = swapped;
  }
}

int64_t clt_space_sample(const clt_space *space, clt_rng *rng, size_t n, clt_config *out, clt_error *error) {
  if (n > space->valid) n = (size_t)space->valid;
  if (n >= CLT_TABLE_NONE) return clt_fail(error, CLT_E_RANGE, "a sample of %zu configurations is too large", n);
  uint64_t *ranks = clt_new_array(n, sizeof *ranks);
  if (ranks == NULL) return clt_fail_memory(error);
  int rc = CLT_OK;
  if (n == space->valid)
    for (size_t i = 0; i < n; i++) ranks[i] = i;
  else
    rc = draw(space->valid, rng, n, ranks);
  if (rc) {
    free(ranks);
    return clt_fail_memory(error);
  }
  shuffle(ranks, n, rng);
  for (size_t i = 0; i < n; i++) out[i] = clt_space_at(space, ranks[i]);
  free(ranks);
  return (int64_t)n;
}
