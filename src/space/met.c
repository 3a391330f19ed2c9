/* The configurations of a space in which too many are valid to be numbered: each gets a number when it is first seen.
 */
#include <pthread.h>

#include "base/base.h"
#include "base/hash.h"
#include "space/parts.h"

#define FIRST_BLOCK 64 /* configurations; each further block doubles their number, and none moves */
#define MOST_BLOCKS 40

struct clt_met {
  pthread_mutex_t lock;              /* for giving out a number; one that was given out is read without it */
  size_t n_parameters, width, bytes; /* of a position; of a configuration */
  uint64_t n;
  unsigned char *blocks[MOST_BLOCKS];
  clt_map index; /* hash of the positions -> number */
};

int clt_met_new(clt_met **out, const clt_parameter *parameters, size_t n_parameters, clt_error *error) {
  clt_met *met = clt_new_array(1, sizeof *met);
  if (met == NULL) return clt_fail_memory(error);
  met->width = 1;
  for (size_t p = 0; p < n_parameters; p++)
    while (met->width < sizeof(uint32_t) && parameters[p].n_values > (size_t)1 << 8 * met->width) met->width++;
  met->n_parameters = n_parameters;
  met->bytes = n_parameters * met->width;
  pthread_mutex_init(&met->lock, NULL);
  *out = met;
  return CLT_OK;
}

void clt_met_free(clt_met *met) {
  if (met == NULL) return;
  for (size_t i = 0; i < MOST_BLOCKS; i++) free(met->blocks[i]);
  clt_map_release(&met->index);
  pthread_mutex_destroy(&met->lock);
  free(met);
}

uint64_t clt_met_count(const clt_met *met) { return __atomic_load_n(&met->n, __ATOMIC_ACQUIRE); }

/* Where a number's positions are: block b has those from FIRST_BLOCK (2^b - 1) on. */
static unsigned char *place_of(const clt_met *met, uint64_t number, size_t *block) {
  const uint64_t i = number / FIRST_BLOCK + 1;
  *block = (size_t)(63 - __builtin_clzll(i));
  const uint64_t first = FIRST_BLOCK * (((uint64_t)1 << *block) - 1);
  return met->blocks[*block] ? met->blocks[*block] + (number - first) * met->bytes : NULL;
}

void clt_met_positions(uint32_t *positions, const clt_met *met, clt_config config) {
  size_t block;
  const unsigned char *at = place_of(met, config, &block);
  for (size_t p = 0; p < met->n_parameters; p++, at += met->width) {
    positions[p] = 0;
    for (size_t b = met->width; b-- > 0;) positions[p] = positions[p] << 8 | at[b];
  }
}

/* With the lock held. */
static clt_config find_or_add(clt_met *met, const unsigned char *key) {
  bool is_new;
  size_t block;
  for (uint64_t hash = clt_hash64(key, met->bytes) >> 1;; hash++) {
    uint64_t *entry = clt_map_add(&met->index, hash, &is_new);
    if (entry == NULL) return CLT_CONFIG_NONE;
    if (!is_new && memcmp(place_of(met, *entry, &block), key, met->bytes) == 0) return *entry;
    if (!is_new) continue;
    unsigned char *at = place_of(met, met->n, &block);
    if (at == NULL && block < MOST_BLOCKS)
      at = met->blocks[block] = clt_new_array((size_t)FIRST_BLOCK << block, met->bytes);
    if (at == NULL) {
      clt_map_remove(&met->index, hash);
      return CLT_CONFIG_NONE;
    }
    memcpy(at, key, met->bytes);
    *entry = met->n;
    __atomic_store_n(&met->n, met->n + 1, __ATOMIC_RELEASE);
    return *entry;
  }
}

clt_config clt_met_number(clt_met *met, const uint32_t *positions) {
  unsigned char key[CLT_MAX_PARAMETERS * sizeof(uint32_t)], *to = key;
  for (size_t p = 0; p < met->n_parameters; p++)
    for (size_t b = 0; b < met->width; b++) *to++ = (unsigned char)(positions[p] >> 8 * b);
  pthread_mutex_lock(&met->lock);
  const clt_config number = find_or_add(met, key);
  pthread_mutex_unlock(&met->lock);
  return number;
}
