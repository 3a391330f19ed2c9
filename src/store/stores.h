/* store/stores.h - the stores that the table lists. */
#ifndef CLT_STORE_STORES_H
#define CLT_STORE_STORES_H

#include <clatune/sys/store.h>

extern const clt_store_type clt_store_sqlite; /* one file, shared by processes, survives kill -9 */
extern const clt_store_type clt_store_memory; /* as long as it is open */

#endif
