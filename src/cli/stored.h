/* cli/stored.h - what a store holds of an instance. */
#ifndef CLT_CLI_STORED_H
#define CLT_CLI_STORED_H

#include <clatune/store.h>

/* The newest measurement of each configuration that stands for itself, ascending: an order that does not depend on when
 * they came. Without logs. */
typedef struct cli_stored {
  clt_measurement *measurements;
  size_t n;
} cli_stored; /* zeroed: nothing */

int cli_stored_read(cli_stored *out, clt_store *store, const clt_instance *instance, clt_error *error);
void cli_stored_release(cli_stored *stored);

#endif
