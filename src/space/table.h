/* space/table.h - an open-addressing index: hash -> number of an entry that the caller keeps in an array of its own.
 *
 * For the inner loops of the space's construction, which look up millions of keys of a few bytes. */
#ifndef CLT_SPACE_TABLE_H
#define CLT_SPACE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CLT_TABLE_NONE UINT32_MAX

typedef struct clt_table {
  struct clt_table_slot {
    uint32_t hash, entry; /* entry CLT_TABLE_NONE: empty */
  } * slots;
  size_t capacity, n;
} clt_table; /* zeroed: empty */

void clt_table_release(clt_table *table);
size_t clt_table_bytes(const clt_table *table);

/* Makes room for one more entry; 0 or CLT_E_MEMORY. Call before clt_table_first. */
int clt_table_reserve(clt_table *table);

/* The entries with this hash, one after the other: `at` is the walk's state. CLT_TABLE_NONE after the last. */
uint32_t clt_table_first(const clt_table *table, uint64_t hash, size_t *at);
uint32_t clt_table_next(const clt_table *table, uint64_t hash, size_t *at);

/* Puts an entry where the walk over its hash ended. */
void clt_table_put(clt_table *table, uint64_t hash, size_t at, uint32_t entry);

#endif
