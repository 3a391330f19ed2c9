/* clatune/store.h - where measurements live: append only, each committed before clt_store_add returns.
 *
 * The key is (problem, device, driver): clt_instance_key, clt_device_key, the driver's version. A configuration is kept
 * as "a=1 b=2" text sorted by name, so adding a value, a parameter's order or a constraint orphans no measurement. */
#ifndef CLATUNE_STORE_H
#define CLATUNE_STORE_H

#include <clatune/measurement.h>
#include <clatune/problem.h>

CLT_BEGIN_C

typedef struct clt_store clt_store;

typedef struct clt_store_key {
  char problem[33]; /* clt_instance_key */
  char device[512]; /* clt_device_key */
  char driver[160];
} clt_store_key;
int clt_store_key_init(clt_store_key *key, const clt_instance *instance, clt_error *error); /* needs a device */

/* What a record was measured for. An attempt is no result: the configuration may have ended its worker and is about to
 * be tried once more; the record has a reason. A finalist by an objective by which a slower one may be better is no
 * finalist for those who ask for the fastest: it is "compared", unless it failed. */
typedef enum clt_record_kind {
  CLT_RECORD_SEARCH,
  CLT_RECORD_FINALIST,
  CLT_RECORD_ATTEMPT,
  CLT_RECORD_COMPARED
} clt_record_kind;

/* Opens the store of the named type ("sqlite", "memory"; NULL: "sqlite") at path, creating file (0600) and folders
 * (0700) as needed. path NULL: the standard place, $XDG_DATA_HOME/clatune/store.sqlite; "memory" has none. CLT_E_STORE
 * with the reason where it cannot be used; a file of another program or of a newer clatune is refused and left as it
 * is. Several processes may share a file; a clt_store is used by one thread at a time. Close with clt_store_free. */
int clt_store_new(clt_store **out, const char *type, const char *path, clt_error *error);
void clt_store_free(clt_store *store); /* NULL does nothing */

const char *clt_store_path(const clt_store *store); /* "" where there is no file */

/* Appends one measurement; committed (synchronous=FULL) when it returns. On failure nothing of it is kept. A correct
 * measurement needs a time or a figure: CLT_E_ARGUMENT without. */
int clt_store_add(clt_store *store, const clt_store_key *key, const clt_space *space, clt_record_kind kind,
                  const clt_measurement *measurement, clt_error *error);

/* Calls visit for every record of a key, oldest first; those whose configuration is not in the space, and those that
 * cannot be right, are counted in *n_foreign (nullable) and skipped. A parameter that the record lacks is no obstacle
 * where it has a single value. visit returns 0 to go on, a positive number to end, a result code to fail with it; it
 * must not use the store. The measurement is borrowed. */
typedef int (*clt_store_visit)(void *user, clt_record_kind kind, const clt_measurement *measurement);
int clt_store_each(clt_store *store, const clt_store_key *key, const clt_space *space, clt_store_visit visit,
                   void *user, size_t *n_foreign, clt_error *error);

/* What a store knows of a key; borrowed by visit. Texts are "" where nobody described it. tuning_json: what the newest
 * tuning said of itself (docs/store.md). kernel: the hash that problems of other sizes share, where kernel, input and
 * reference are the same. */
typedef struct clt_store_description {
  clt_store_key key;
  const char *problem_name, *problem_path, *sizes, *device_json;
  uint64_t n_records;
  const char *tuning_json, *kernel;
} clt_store_description;

/* Calls visit for every key that has records, oldest first; visit as clt_store_visit. Not counted: n_records is 0, and
 * it takes time with the number of keys, not of records. */
typedef int (*clt_store_key_visit)(void *user, const clt_store_description *description);
int clt_store_each_key(clt_store *store, bool counted, clt_store_key_visit visit, void *user, clt_error *error);

CLT_END_C
#endif
