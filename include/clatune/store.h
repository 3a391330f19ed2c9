/* clatune/store.h - the store of all measurements (docs/reference/store.md).
 *
 * Measurements are only appended. Each belongs to a key: the problem (clt_instance_key), the device (clt_device_key)
 * and the version of its driver. Configurations are kept as text, sorted by name, so measurements survive changes of
 * values, order and constraints. */
#ifndef CLATUNE_STORE_H
#define CLATUNE_STORE_H

#include <clatune/measurement.h>
#include <clatune/problem.h>

CLT_BEGIN_C

typedef struct clt_store clt_store;

typedef struct clt_store_key {
  char problem[33]; /* clt_instance_key */
  char device[512]; /* clt_device_key */
  char driver[160]; /* version of the driver */
} clt_store_key;

/* The key of an instance. CLT_E_ARGUMENT: it has no device. */
int clt_store_key_init(clt_store_key *key, const clt_instance *instance, clt_error *error);

/* Why a configuration was measured: in a search, or as a finalist. A finalist by an objective that may prefer slower
 * configurations counts as compared, unless it failed, so that it is not taken for the fastest. An attempt is not a
 * result: the configuration may have ended its worker and is about to be tried again; the record has a failure reason.
 */
typedef enum clt_record_kind {
  CLT_RECORD_SEARCH,
  CLT_RECORD_FINALIST,
  CLT_RECORD_ATTEMPT,
  CLT_RECORD_COMPARED
} clt_record_kind;

/* Opens a store for reading and writing. type: "sqlite", "memory", "postgresql", or NULL, which means "postgresql" if
 * path is a URL and "sqlite" otherwise. path NULL: $XDG_DATA_HOME/clatune/store.sqlite. File (mode 0600) and folders
 * (0700) are created if necessary. Several processes may share a file; one thread at a time uses a clt_store.
 *
 * CLT_E_STORE: the store cannot be used. Files of other programs and of newer versions of clatune are refused and not
 * changed. CLT_E_ARGUMENT: no such type. Close with clt_store_free. */
int clt_store_new(clt_store **out, const char *type, const char *path, clt_error *error);
void clt_store_free(clt_store *store); /* NULL is allowed */

const char *clt_store_path(const clt_store *store); /* "" if there is no file */

/* Appends a measurement. When it returns 0, the measurement is on the disk; on failure, nothing of it is kept.
 * CLT_E_ARGUMENT: a correct measurement has neither time nor figure. */
int clt_store_add(clt_store *store, const clt_store_key *key, const clt_space *space, clt_record_kind kind,
                  const clt_measurement *measurement, clt_error *error);

/* Calls visit for every record of a key, oldest first. Records that are invalid or whose configuration is not in the
 * space are skipped and counted in *n_foreign, which may be NULL. A record may lack parameters that have a single value
 * in the space. visit returns 0 to continue, a positive number to end, or a result code, with which clt_store_each then
 * fails. It must not use the store. The measurement is valid during the call only. */
typedef int (*clt_store_visit)(void *user, clt_record_kind kind, const clt_measurement *measurement);
int clt_store_each(clt_store *store, const clt_store_key *key, const clt_space *space, clt_store_visit visit,
                   void *user, size_t *n_foreign, clt_error *error);

/* A key and its description, valid during the call of visit only. Unknown texts are "". tuning_json: what the newest
 * tuning reported (docs/reference/store.md). kernel: a hash of kernel, input and reference, equal for all sizes. */
typedef struct clt_store_description {
  clt_store_key key;
  const char *problem_name, *problem_path, *sizes, *device_json;
  uint64_t n_records;
  const char *tuning_json, *kernel;
  int64_t voice; /* who says so, if not you, in a shared store (clt_store_record's); 0: it is true of all records */
} clt_store_description;

/* Calls visit for every key that has records, oldest first, once for each of its descriptions; visit returns as for
 * clt_store_each. Counting takes time in proportion to the number of records; without counted, n_records is 0. */
typedef int (*clt_store_key_visit)(void *user, const clt_store_description *description);
int clt_store_each_key(clt_store *store, bool counted, clt_store_key_visit visit, void *user, clt_error *error);

CLT_END_C
#endif
