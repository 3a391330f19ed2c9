/* clatune/sys/store.h - the interface of a type of store, for new stores.
 *
 * A type is one const struct with at most six functions. It keeps records and returns them unchecked, with
 * configurations as text; src/store/store.c checks them. One thread at a time uses a store. */
#ifndef CLATUNE_SYS_STORE_H
#define CLATUNE_SYS_STORE_H

#include <clatune/store.h>

CLT_BEGIN_C

#define CLT_STORE_ABI 12 /* increases with each incompatible change of this header */

/* One record, borrowed by the receiver. For a record that it cannot read, a store passes configuration NULL, which the
 * receiver rejects. */
typedef struct clt_store_record {
  clt_record_kind kind;
  const char *configuration;          /* "a=1 b=2", sorted by name, values percent-encoded */
  int64_t created_s;                  /* Unix time */
  const clt_measurement *measurement; /* its member config is not used */
  int64_t number; /* set by the store: above 0, and larger than those of all records added before, removed
                     ones included */
  /* Identity, the same in all stores: sequence, 1 or larger, counts the records of an origin. origin is 16 hexadecimal
   * digits that each opened store draws at random for what it adds. "": a record of an old version, sequence is its
   * hash. NULL: unknown. A store may change the sequence of its own records if it stays unique. */
  const char *origin;
  int64_t sequence;
  bool own; /* added here, not by a merge */
  /* Who delivered it to a shared database, as a number above 1: a login, or a machine of the reader's own login. 0:
   * added on this machine, or unknown. */
  int64_t voice;
  bool is_first; /* the voice, above 1, of the key's first record: whoever measured it first */
  /* Of finalists: the sequence of the first record of their comparison, which the records of one origin share that were
   * measured in turns with each other; 0: none. */
  int64_t comparison;
} clt_store_record;

/* What a walk visits, and in which order. */
typedef enum clt_store_order {
  CLT_STORE_KEYS,         /* every key that has records, in the order in which they came; n_records 0 */
  CLT_STORE_KEYS_COUNTED, /* the same with n_records; takes time in proportion to the number of records */
  CLT_STORE_OLDEST_FIRST, /* the records of a key, as they came */
  CLT_STORE_NEWEST_FIRST, /* the same; ending the walk early is cheap */
  CLT_STORE_BEST_FIRST,   /* the finalists of a key, oldest first, failed ones too; then its correct records of
                             searches, fastest first. Uses an index, so ending the walk early is cheap */
  CLT_STORE_BY_NUMBER     /* as OLDEST_FIRST, by number; key NULL: the records of all keys, each with the description
                             of its key */
} clt_store_order;

/* Receives a key (record NULL), a record (description NULL), or both. It returns 0 to continue; any other number ends
 * the walk, which returns it. It must not use the store. */
typedef int (*clt_store_walk_visit)(void *user, const clt_store_description *description,
                                    const clt_store_record *record);

/* Steps of a transaction. What is added between BEGIN and COMMIT is kept together or not at all; UNDO discards it, in
 * stores that outlive the process. NONE does nothing, and serves to get the version. */
typedef enum clt_store_step { CLT_STORE_NONE, CLT_STORE_BEGIN, CLT_STORE_COMMIT, CLT_STORE_UNDO } clt_store_step;

typedef struct clt_store_type {
  unsigned abi; /* CLT_STORE_ABI */
  const char *name, *summary;
  const char *standard_file; /* its name in $XDG_DATA_HOME/clatune; NULL: this store has no file, and path is "" */
  size_t state_size;         /* set to zeros before open */

  /* path is absolute or begins with "./"; its folder exists. to_read: nothing is created or written; CLT_E_NOT_FOUND:
   * there is no file. close is called also after a failure. */
  int (*open)(void *state, const char *path, bool to_read, clt_error *error);
  /* Adds a record (NULL: none) to the key of the description. It is committed on return, unless a transaction is open.
   * Texts of the description that are not NULL replace those of the key. *n_added (nullable) grows by one, perhaps only
   * as the transaction ends, unless the store has a record of this origin and sequence; then nothing is added. */
  int (*add)(void *state, const clt_store_description *description, const clt_store_record *record, uint64_t *n_added,
             clt_error *error);
  /* Calls visit for each key or record. key: for the orders that visit keys NULL, or a key: then keys of its problem
   * are enough. configuration (nullable, for OLDEST_FIRST): what each voice said last about it, in each kind of record,
   * is enough. after: only records with larger numbers; 0 for the orders that visit keys, and for BEST_FIRST. */
  int (*walk)(void *state, clt_store_order order, const clt_store_key *key, const char *configuration, int64_t after,
              clt_store_walk_visit visit, void *user, clt_error *error);
  /* Removes the records of the description's key that were added before the Unix time before_s; 0: all. With a voice:
   * those of all who call the problem by the same name. *n is their number. count_only: only counts. */
  int (*remove)(void *state, const clt_store_description *d, int64_t before_s, bool count_only, uint64_t *n,
                clt_error *error);
  /* *version (nullable): a number that changes when others add something. */
  int (*transaction)(void *state, clt_store_step step, uint64_t *version, clt_error *error);
  void (*close)(void *state);
} clt_store_type;

/* Adds a type of store, which clt_store_new then finds by its name. It must exist until the program ends. Call it
 * before other threads use clatune. CLT_E_ARGUMENT: its ABI is not CLT_STORE_ABI, or its name is taken. */
int clt_store_register(const clt_store_type *type, clt_error *error);

CLT_END_C
#endif
