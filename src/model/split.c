#include "model/split.h"

#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/memory.h"

#define LOOKED_AT 4096 /* consecutive ranks from which the fastest parameters are found */
#define NO_REST UINT32_MAX

/* --- choosing the table --- */

/* How often each parameter changes from one rank to the next, in the middle of the space. */
static int count_changes(const clt_encoding *e, size_t *changes, clt_error *error) {
  clt_config *configs = clt_new_array(LOOKED_AT, sizeof *configs);
  if (configs == NULL) return clt_fail_memory(error);
  uint64_t valid = clt_space_valid(e->space), first = valid > LOOKED_AT ? (valid - LOOKED_AT) / 2 : 0;
  size_t n = clt_space_enumerate(e->space, first, LOOKED_AT, configs);
  for (size_t k = 0; k < e->n_parameters; k++) {
    const clt_encoded_parameter *p = &e->parameters[k];
    for (size_t i = 1; i < n; i++)
      changes[k] += clt_encoded_position(p, configs[i]) != clt_encoded_position(p, configs[i - 1]);
  }
  free(configs);
  return CLT_OK;
}

/* The fastest parameter not yet considered, the last of equals; n_parameters if there is none. */
static size_t next_fastest(const clt_encoding *e, const size_t *changes, const bool *considered) {
  size_t best = e->n_parameters;
  for (size_t k = 0; k < e->n_parameters; k++)
    if (!considered[k] && (best == e->n_parameters || changes[k] >= changes[best])) best = k;
  return best;
}

static void find_runs(clt_split *split) {
  const clt_encoding *e = split->encoding;
  size_t weight = 1;
  for (size_t k = e->n_parameters; k-- > 0;) {
    uint64_t n = e->parameters[k].n_values, stride = e->parameters[k].stride;
    if (!split->in_table[k] || n < 2) continue;
    clt_split_run *last = split->n_runs ? &split->runs[split->n_runs - 1] : NULL;
    if (last && stride == last->stride * last->size)
      last->size *= n;
    else
      split->runs[split->n_runs++] = (clt_split_run){stride, n, weight};
    weight *= n;
  }
}

int clt_split_init(clt_split *split, const clt_encoding *encoding, size_t max_rows,
                   bool (*accept)(void *user, const clt_split *split), void *user, clt_error *error) {
  *split = (clt_split){.encoding = encoding, .n_rows = 1};
  size_t changes[CLT_MAX_PARAMETERS] = {0}, k;
  bool considered[CLT_MAX_PARAMETERS] = {false};
  int rc = count_changes(encoding, changes, error);
  if (rc) return rc;
  while ((k = next_fastest(encoding, changes, considered)) < encoding->n_parameters) {
    considered[k] = true;
    size_t n = encoding->parameters[k].n_values;
    if (n > max_rows / split->n_rows || clt_encoding_in_resources(encoding, k)) continue;
    split->in_table[k] = true;
    if (accept == NULL || accept(user, split))
      split->n_rows *= n;
    else
      split->in_table[k] = false;
  }
  find_runs(split);
  return CLT_OK;
}

/* The last parameter counts fastest, as in find_runs. */
size_t clt_split_position(const clt_split *split, size_t row, size_t parameter) {
  const clt_encoding *e = split->encoding;
  for (size_t k = e->n_parameters; k-- > parameter + 1;)
    if (split->in_table[k]) row /= e->parameters[k].n_values;
  return row % e->parameters[parameter].n_values;
}

/* --- batches --- */

int clt_split_batch_init(clt_split_batch *b, size_t capacity, clt_error *error) {
  size_t n_slots = 16;
  while (n_slots < 2 * capacity) n_slots *= 2;
  *b = (clt_split_batch){.capacity = capacity, .n_slots = n_slots};
  b->order = clt_new_array(capacity, sizeof *b->order);
  b->start = clt_new_array(capacity + 2, sizeof *b->start);
  b->table_row = clt_new_array(capacity, sizeof *b->table_row);
  b->rest = clt_new_array(capacity, sizeof *b->rest);
  b->first = clt_new_array(capacity, sizeof *b->first);
  b->slot_rest = clt_new_array(n_slots, sizeof *b->slot_rest);
  b->slot_key = clt_new_array(n_slots, sizeof *b->slot_key);
  bool enough = b->order && b->start && b->table_row && b->rest && b->first && b->slot_rest && b->slot_key;
  return enough ? CLT_OK : clt_fail_memory(error);
}

void clt_split_batch_release(clt_split_batch *b) {
  free(b->order);
  free(b->start);
  free(b->table_row);
  free(b->rest);
  free(b->first);
  free(b->slot_rest);
  free(b->slot_key);
  *b = (clt_split_batch){0};
}

/* The number of a rest (a configuration with the table's positions at 0); a new one is counted. */
static uint32_t number_rest(clt_split_batch *b, uint64_t key, clt_config config) {
  size_t slot = (size_t)((key * 0x9e3779b97f4a7c15u) >> 32) & (b->n_slots - 1);
  while (b->slot_rest[slot] != NO_REST && b->slot_key[slot] != key) slot = (slot + 1) & (b->n_slots - 1);
  if (b->slot_rest[slot] != NO_REST) return b->slot_rest[slot];
  b->slot_key[slot] = key;
  b->first[b->n_rests] = config;
  return b->slot_rest[slot] = (uint32_t)b->n_rests++;
}

/* Numbers all rests, finds all rows of the table, and counts in start[rest + 2]. */
static void number_all(clt_split_batch *b, const clt_split *split, const clt_config *configs, size_t n) {
  uint64_t previous = 0;
  for (size_t i = 0; i < n; i++) {
    uint64_t key = configs[i];
    size_t row = 0;
    for (size_t k = 0; k < split->n_runs; k++) {
      const clt_split_run *run = &split->runs[k];
      uint64_t position = configs[i] / run->stride % run->size;
      key -= position * run->stride;
      row += (size_t)position * run->weight;
    }
    b->rest[i] = i && key == previous ? b->rest[i - 1] : number_rest(b, key, configs[i]);
    b->table_row[i] = (uint32_t)row;
    b->start[b->rest[i] + 2]++;
    previous = key;
  }
}

void clt_split_batch_fill(clt_split_batch *b, const clt_split *split, const clt_config *configs, size_t n) {
  b->n_rests = 0;
  memset(b->slot_rest, 0xff, b->n_slots * sizeof *b->slot_rest);
  memset(b->start, 0, (n + 2) * sizeof *b->start);
  number_all(b, split, configs, n);
  for (size_t r = 2; r < b->n_rests + 2; r++) b->start[r] += b->start[r - 1];
  for (size_t i = 0; i < n; i++) b->order[b->start[b->rest[i] + 1]++] = (uint32_t)i;
}
