/* store/salvage.h - copies what can still be read of a damaged store. */
#ifndef CLT_STORE_SALVAGE_H
#define CLT_STORE_SALVAGE_H

#include <clatune/error.h>
#include <sqlite3.h>
#include <stdint.h>

typedef struct clt_salvage_count {
  uint64_t saved, lost; /* measurements; lost: numbers between the first and the last that have no readable row */
} clt_salvage_count;

/* from: a damaged store, opened read-only; to: an empty one. In one transaction. Rows are looked up one by one, so that
 * a damaged page costs its own rows only. CLT_E_STORE where to cannot be written, or nothing of from can be read. */
int clt_salvage(clt_salvage_count *out, sqlite3 *to, const char *to_path, sqlite3 *from, clt_error *error);

#endif
