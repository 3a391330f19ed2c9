/* clatune/store.h - where measurements live: append only, each committed before clt_store_add returns.
 *
 * The key is (problem, device, driver): clt_instance_key, clt_device_key, the driver's version. A configuration is kept as
 * "a=1 b=2" text sorted by name, so adding a value, a parameter's order or a constraint orphans no measurement. */
#ifndef CLATUNE_STORE_H
#define CLATUNE_STORE_H

#include <clatune/measurement.h>
#include <clatune/problem.h>

#ifdef __cplusplus
extern "C" {
#endif

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

/* Opens the store of the named type ("sqlite", "memory"; NULL: "sqlite") at path, creating file (0600) and folders (0700) as
 * needed. path NULL: the standard place, $XDG_DATA_HOME/clatune/store.sqlite; "memory" has none. CLT_E_STORE with the reason
 * where it cannot be used; a file of another program or of a newer clatune is refused and left as it is. Several processes
 * may share a file; a clt_store is used by one thread at a time. */
int clt_store_open(clt_store **out, const char *type, const char *path, clt_error *error);
/* Opens what is there for reading alone, also where the file or its folder cannot be written: CLT_E_NOT_FOUND where there is
 * no file. Adding to it fails. */
int clt_store_open_to_read(clt_store **out, const char *type, const char *path, clt_error *error);
void clt_store_close(clt_store *store);

/* The path that a store of type sqlite has for `path`, nothing made: path NULL gives the standard place. *out is malloc'ed. */
int clt_store_place(char **out, const char *path, clt_error *error);
const char *clt_store_path(const clt_store *store); /* "" where there is no file */

/* Describes a key for people and for later look-ups: the problem's name and file, sizes ("width=2048 height=2048"), the
 * device as JSON. Called once a session; idempotent, the newest description stands. */
int clt_store_describe(clt_store *store, const clt_store_key *key, const char *problem_name, const char *problem_path,
                       const char *sizes, const char *device_json, clt_error *error);

/* Appends one measurement; committed (synchronous=FULL) when it returns. On failure nothing of it is kept. A correct
 * measurement needs a time: CLT_E_ARGUMENT without. */
int clt_store_add(clt_store *store, const clt_store_key *key, const clt_space *space, clt_record_kind kind,
                  const clt_measurement *measurement, clt_error *error);

/* Calls visit for every record of a key, oldest first; those whose configuration is not in the space, and those that cannot
 * be right, are counted in *n_foreign (nullable) and skipped. A parameter that the record lacks is no obstacle where it has
 * a single value. visit returns 0 to go on, a positive number to end, a result code to fail with it; it must not use the
 * store. The measurement is borrowed. */
typedef int (*clt_store_visit)(void *user, clt_record_kind kind, const clt_measurement *measurement);
int clt_store_each(clt_store *store, const clt_store_key *key, const clt_space *space, clt_store_visit visit, void *user,
                   size_t *n_foreign, clt_error *error);

/* The same for the records that may be a key's best: finalists first, newest first, failed ones too; then the correct ones
 * of searches, fastest first. Found by an index, so that ending the walk early is cheap. */
int clt_store_best(clt_store *store, const clt_store_key *key, const clt_space *space, clt_store_visit visit, void *user,
                   clt_error *error);

/* The newest record of a search for each configuration that stands for itself, ascending by configuration: an order that does
 * not depend on when they came. Without logs. *out is malloc'ed. */
int clt_store_newest(clt_measurement **out, size_t *n, clt_store *store, const clt_store_key *key,
                     const clt_space *space, clt_error *error);

/* A number that is another one once somebody else has added to the store. */
int clt_store_version(clt_store *store, uint64_t *version, clt_error *error);

/* What a store knows of a key; borrowed by visit. Texts are "" where nobody described it. */
typedef struct clt_store_description {
  clt_store_key key;
  const char *problem_name, *problem_path, *sizes, *device_json;
  uint64_t n_records;
} clt_store_description;

/* Calls visit for every key that has records, oldest first; visit as above. */
typedef int (*clt_store_key_visit)(void *user, const clt_store_description *description);
int clt_store_each_key(clt_store *store, clt_store_key_visit visit, void *user, clt_error *error);

/* The same without counting: n_records is 0. Takes time with the number of keys, not of records. */
int clt_store_each_key_uncounted(clt_store *store, clt_store_key_visit visit, void *user, clt_error *error);

/* The space of what a key's own records hold, for those who have the store and not the problem: the parameters of its newest
 * record, each with the values that occur, numbers ascending, then words; valid are the configurations that occur. A text
 * that cannot be a configuration is left out, and so is one with other parameters. *out is freed with clt_space_free.
 * CLT_E_NOT_FOUND where nothing is left. */
int clt_store_space(clt_space **out, clt_store *store, const clt_store_key *key, clt_error *error);

/* --- several stores --- */

/* Which keys, and which of their records; what is NULL or 0 does not matter. */
typedef struct clt_store_selection {
  const char *problem_name;
  const char *device; /* a part of the device's key, without regard to case */
  int64_t before_s;   /* records that were added before this Unix time */
} clt_store_selection;

/* Adds to `into` the records of `from` that it does not have yet: all or none, in one transaction. Merging the same again
 * adds nothing, and in whichever direction two stores are merged, the same records result. selection nullable: everything.
 * *n_added nullable. The two are different stores. */
int clt_store_merge(clt_store *into, clt_store *from, const clt_store_selection *selection, uint64_t *n_added,
                    clt_error *error);

/* Removes the selected records for good: the only call that does. At least one part of the selection must be given.
 * dry_run: counts alone. */
int clt_store_prune(clt_store *store, const clt_store_selection *selection, bool dry_run, uint64_t *n_removed,
                    clt_error *error);

/* --- a damaged file --- */

/* Whether a store's file is whole (SQLite's integrity check). path NULL: the standard place. CLT_E_STORE where it cannot be
 * read, or is no store. No other program may use the file meanwhile. */
int clt_store_check(bool *whole, const char *path, clt_error *error);

/* What a repair came to. */
typedef struct clt_store_repair_report {
  uint64_t n_saved, n_lost; /* measurements; lost: as far as their numbers tell */
  char set_aside[4200];     /* where the damaged file stands now; "": nothing was wrong, nothing was done */
} clt_store_repair_report;

/* Copies every measurement that can still be read into a new file, sets the damaged one aside (PATH.damaged, its companions
 * with it; never overwritten) and puts the new one in its place. path NULL: the standard place. CLT_E_STORE where the file is
 * no store, or nothing of it can be read: everything is then as it was. No other program may use the file meanwhile. */
int clt_store_repair(clt_store_repair_report *out, const char *path, clt_error *error);

#ifdef __cplusplus
}
#endif
#endif
