/* clatune/sys/store.h - for people who add a store: where measurements are kept.
 *
 * A store is one file in src/store/ with one const struct, listed in src/store/stores.c. It keeps and hands out plain
 * records; configurations are text, and what a record means, and whether it can be right, is judged by the caller
 * (src/store/store.c). It serves one thread at a time. */
#ifndef CLATUNE_SYS_STORE_H
#define CLATUNE_SYS_STORE_H

#include <clatune/store.h>

#ifdef __cplusplus
extern "C" {
#endif

/* One record. Borrowed by whoever receives it. Where a store finds something that it cannot read, it hands out what the
 * caller refuses: a NULL configuration. */
typedef struct clt_store_record {
  clt_record_kind kind;
  const char *configuration; /* "a=1 b=2", sorted by name, values percent-encoded */
  int64_t created_s;         /* Unix time */
  const clt_measurement *measurement; /* its config is not used */
} clt_store_record;

/* Returns 0 to go on; anything else ends the walk and is returned by it. Does not use the store. */
typedef int (*clt_store_record_visit)(void *user, const clt_store_record *record);

typedef struct clt_store_type {
  const char *name, *summary;
  const char *standard_file; /* its name under $XDG_DATA_HOME/clatune; NULL: this store has no file, and path is "" */
  size_t state_size;         /* zeroed before open */

  /* path is absolute or begins with "./"; its folder exists. to_read: nothing is made or written, CLT_E_NOT_FOUND where
   * there is no file. When open fails, close is called too. */
  int (*open)(void *state, const char *path, bool to_read, clt_error *error);
  /* The texts of description are not NULL; n_records is not used. */
  int (*describe)(void *state, const clt_store_description *description, clt_error *error);
  int (*add)(void *state, const clt_store_key *key, const clt_store_record *record, clt_error *error);
  /* Every record of a key, oldest first. */
  int (*each)(void *state, const clt_store_key *key, clt_store_record_visit visit, void *user, clt_error *error);
  /* Finalists, newest first; then correct records of searches, fastest first. */
  int (*best)(void *state, const clt_store_key *key, clt_store_record_visit visit, void *user, clt_error *error);
  /* Another number once others have added. */
  int (*version)(void *state, uint64_t *version, clt_error *error);
  /* Every key with records, the one whose first record is oldest first. counted: with
   * n_records. */
  int (*each_key)(void *state, bool counted, clt_store_key_visit visit, void *user, clt_error *error);
  /* Removes the records of a key that were added before before_s; 0: all of them. *n: how many. count_only: removes none. */
  int (*remove)(void *state, const clt_store_key *key, int64_t before_s, bool count_only, uint64_t *n, clt_error *error);
  /* Until end, what is written is kept together or not at all: rc is not 0 where it is to be undone. Returns rc, or why it
   * could not be kept. A store that ends with the process need not undo. */
  int (*begin)(void *state, clt_error *error);
  int (*end)(void *state, int rc, clt_error *error);
  void (*close)(void *state);
} clt_store_type;

size_t clt_n_stores(void);
const clt_store_type *clt_store_type_at(size_t index);
const clt_store_type *clt_store_type_find(const char *name); /* NULL: none */

#ifdef __cplusplus
}
#endif
#endif
