/* clatune/sys/store.h - for people who add a type of store: where measurements are kept.
 *
 * A type is one const struct of at most six functions. It keeps and hands out plain records; configurations are text,
 * and whether a record can be right is judged by the caller (src/store/store.c). A store serves one thread at a time.
 */
#ifndef CLATUNE_SYS_STORE_H
#define CLATUNE_SYS_STORE_H

#include <clatune/store.h>

CLT_BEGIN_C

#define CLT_STORE_ABI 5 /* grows when what stands here changes */

/* One record. Borrowed by whoever receives it. Where a store finds something that it cannot read, it hands out what the
 * caller refuses: a NULL configuration. */
typedef struct clt_store_record {
  clt_record_kind kind;
  const char *configuration;          /* "a=1 b=2", sorted by name, values percent-encoded */
  int64_t created_s;                  /* Unix time */
  const clt_measurement *measurement; /* its config is not used */
  int64_t number;                     /* above 0 and larger than those of records that were added before, also of those
                                         that were removed; not set by who adds */
  /* Who it is, to whichever store it is copied: a number, 1 or larger, of an origin, 16 hexadecimal digits that every
   * opened store draws anew for what it adds. Origin "": a record of a version that knew none, sequence is its
   * fingerprint. NULL: not known. A store may give an own record another sequence, as long as no other of its origin
   * has it. */
  const char *origin;
  int64_t sequence;
  bool own; /* added here, not brought by a merge */
} clt_store_record;

/* What a walk visits, and in which order. */
typedef enum clt_store_order {
  CLT_STORE_KEYS,         /* every key that has records, the one whose first record is oldest first; n_records 0 */
  CLT_STORE_KEYS_COUNTED, /* the same with n_records, which takes time with the number of records */
  CLT_STORE_OLDEST_FIRST, /* a key's records */
  CLT_STORE_NEWEST_FIRST, /* the same; ending the walk early is cheap */
  CLT_STORE_BEST_FIRST,   /* a key's finalists, newest first, failed ones too; then its correct records of searches,
                             fastest    first. By an index, so that ending the walk early is cheap */
  CLT_STORE_BY_NUMBER     /* as OLDEST_FIRST, with the identities, which the others need not hand out; key NULL: the
                             records of all keys, each with its key's description */
} clt_store_order;

/* Receives a key (record is NULL), a record (description is NULL), or both. Returns 0 to go on; anything else ends the
 * walk and is returned by it. Does not use the store. */
typedef int (*clt_store_walk_visit)(void *user, const clt_store_description *description,
                                    const clt_store_record *record);

/* Steps of a transaction. What is written between BEGIN and COMMIT is kept together or not at all; UNDO forgets it,
 * where the store outlives the process. NONE does nothing: it serves to ask for the version. */
typedef enum clt_store_step { CLT_STORE_NONE, CLT_STORE_BEGIN, CLT_STORE_COMMIT, CLT_STORE_UNDO } clt_store_step;

typedef struct clt_store_type {
  unsigned abi; /* CLT_STORE_ABI */
  const char *name, *summary;
  const char *standard_file; /* its name under $XDG_DATA_HOME/clatune; NULL: this store has no file, and path is "" */
  size_t state_size;         /* zeroed before open */

  /* path is absolute or begins with "./"; its folder exists. to_read: nothing is made or written, CLT_E_NOT_FOUND where
   * there is no file. When open fails, close is called too. */
  int (*open)(void *state, const char *path, bool to_read, clt_error *error);
  /* Adds a record (NULL: none) of the description's key, committed when it returns unless a transaction is under way.
   * Texts of the description that are not NULL replace what the key was described by. *is_new (nullable): false where
   * the store has a record of this origin and sequence, and nothing was added. */
  int (*add)(void *state, const clt_store_description *description, const clt_store_record *record, bool *is_new,
             clt_error *error);
  /* key: for the orders that visit keys NULL, or one whose problem's keys are enough. after: only records with larger
   * numbers; 0 for the orders that visit keys, and for BEST_FIRST. */
  int (*walk)(void *state, clt_store_order order, const clt_store_key *key, int64_t after, clt_store_walk_visit visit,
              void *user, clt_error *error);
  /* Removes the records of a key that were added before before_s; 0: all of them. *n: how many. count_only: removes
   * none. */
  int (*remove)(void *state, const clt_store_key *key, int64_t before_s, bool count_only, uint64_t *n,
                clt_error *error);
  /* *version (nullable): a number that is another one once others have added. */
  int (*transaction)(void *state, clt_store_step step, uint64_t *version, clt_error *error);
  void (*close)(void *state);
} clt_store_type;

/* Makes a type known to clt_store_new in this process; type is borrowed for good. Before other threads use the
 * library. CLT_E_ARGUMENT where its ABI is another one or its name is taken. */
int clt_store_register(const clt_store_type *type, clt_error *error);

CLT_END_C
#endif
