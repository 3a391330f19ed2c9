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

  /* path is absolute or begins with "./"; its folder exists. When open fails, close is called too. */
  int (*open)(void *state, const char *path, clt_error *error);
  /* The texts of description are not NULL; n_records is not used. */
  int (*describe)(void *state, const clt_store_description *description, clt_error *error);
  int (*add)(void *state, const clt_store_key *key, const clt_store_record *record, clt_error *error);
  /* Every record of a key, oldest first. */
  int (*each)(void *state, const clt_store_key *key, clt_store_record_visit visit, void *user, clt_error *error);
  /* Every key with records, the one whose first record is oldest first. */
  int (*each_key)(void *state, clt_store_key_visit visit, void *user, clt_error *error);
  void (*close)(void *state);
} clt_store_type;

size_t clt_n_stores(void);
const clt_store_type *clt_store_type_at(size_t index);
const clt_store_type *clt_store_type_find(const char *name); /* NULL: none */

#ifdef __cplusplus
}
#endif
#endif
