/* store/store.h - a store as the files of this room see it, and what the command line does with stores beside tuning.
 */
#ifndef CLT_STORE_STORE_H
#define CLT_STORE_STORE_H

#include <clatune/store.h>

#include <clatune/sys/store.h>

#include "base/map.h"
#include "base/plugin.h"

#define CLT_STORE_FILE "store.sqlite"

#define CLT_ORIGIN_BYTES 17 /* 16 hexadecimal digits */

struct clt_store {
  const clt_store_type *type;
  char *path;
  void *state;
  char origin[CLT_ORIGIN_BYTES]; /* of what is added to it; "": nothing was yet */
  int64_t sequence;              /* of the last one */
  int64_t before_s;              /* 0; else only records that were added before this Unix time are read */
  double ahead_s;                /* 0; else added to clt_now_s it is the time of what is added, by a server's clock */
  clt_store *past;               /* nullable, borrowed: in its place, what a session learns from about other devices
                                    and sizes */
};

extern const clt_store_type clt_store_sqlite;     /* one file, shared by processes, survives kill -9 */
extern const clt_store_type clt_store_memory;     /* as long as it is open */
extern const clt_store_type clt_store_postgresql; /* a database, shared by machines */

extern clt_plugins clt_stores; /* of clt_store_type */

/* Device and driver alone, without a look at the kernel; the problem is "". Needs a device. */
int clt_store_key_device(clt_store_key *key, const clt_instance *instance, clt_error *error);
int clt_store_key_of_device(clt_store_key *key, const clt_device_info *device, clt_error *error);
bool clt_store_same_key(const clt_store_key *a, const clt_store_key *b);

/* The path that a store of type sqlite has for `path`, nothing made: path NULL gives the standard place; of a URL what
 * may be shown. malloc'ed. */
int clt_store_place(char **out, const char *path, clt_error *error);

/* Whether a record can be right, on its way in and on its way out. */
bool clt_record_plausible(const clt_store_record *record);

/* --- what the rows of SQLite and PostgreSQL have in common --- */

extern const char *const clt_kind_names[CLT_RECORD_COMPARED + 1], *const clt_clock_names[2];

#define CLT_N_USE (sizeof(clt_kernel_use) / sizeof(double)) /* kept in the order of its members */
bool clt_use_is_known(const clt_kernel_use *use);           /* any of it */

/* A measurement without a configuration, and its record, from a row, whose texts are borrowed. figures: the summary and
 * those of the runs; n 0: none. Of a kind that nobody knows, the record has no configuration. */
void clt_row_begin(clt_measurement *out, const char *reason, const char *clock);
void clt_row_end(clt_store_record *record, clt_measurement *m, const char *kind, const char *configuration,
                 const double *figures, size_t n);

/* A key's description: its problem, device, driver; name, path, sizes, device, tuning, kernel. */
clt_store_description clt_row_key(const char *const texts[9]);

/* As clt_store_each, for the records that may be a key's best (CLT_STORE_BEST_FIRST). */
int clt_store_best(clt_store *store, const clt_store_key *key, const clt_space *space, clt_store_visit visit,
                   void *user, clt_error *error);

/* A number that is another one once somebody else has added to the store. */
int clt_store_version(clt_store *store, uint64_t *version, clt_error *error);

/* As clt_store_each_key; problem (nullable): one of whose problem alone keys are wanted, though a type of store may
 * visit others. */
int clt_store_each_key_of(clt_store *store, const clt_store_key *problem, bool counted, clt_store_key_visit visit,
                          void *user, clt_error *error);

/* A copy with its own texts, "" for NULL; release it with the other. */
int clt_store_description_copy(clt_store_description *out, const clt_store_description *description);
void clt_store_description_release(clt_store_description *copy);

/* The keys that clt_store_each_key would visit: *out is an array of *n, for those who use the store for each of them.
 * Free with clt_store_keys_free. */
int clt_store_keys(clt_store_description **out, size_t *n, clt_store *store, bool counted, clt_error *error);
void clt_store_keys_free(clt_store_description *keys, size_t n); /* NULL does nothing */
/* The same of those that clt_store_each_key_of would visit. */
int clt_store_keys_of(clt_store_description **out, size_t *n, clt_store *store, const clt_store_key *problem,
                      bool counted, clt_error *error);

/* The space of what a key's own records hold, for those who have the store and not the problem: the parameters of its
 * newest record, each with the values that occur, numbers ascending, then words; valid are the configurations that
 * occur. A text that cannot be a configuration is left out, and so is one with other parameters. CLT_E_NOT_FOUND where
 * nothing is left. */
int clt_store_space(clt_space **out, clt_store *store, const clt_store_key *key, clt_error *error);

/* --- config_text.c: configurations as the store keeps them ---
 *
 * As clt_config_print has it, but sorted by name, so that neither the order of the parameters nor of their values
 * matters. */

#define CLT_MAX_CONFIG_TEXT 65536 /* bytes of a stored configuration */

int clt_config_text(char **out, const clt_space *space, clt_config config, clt_error *error);

/* Reads many such texts for one space, which must outlive the reader. */
typedef struct clt_config_reader clt_config_reader;
int clt_config_reader_new(clt_config_reader **out, const clt_space *space, clt_error *error);
void clt_config_reader_free(clt_config_reader *reader);

/* Whether the text stands for a valid configuration of the space: every name and value known, none twice, only
 * parameters with a single value left out. Changes the text. */
bool clt_config_reader_read(const clt_config_reader *reader, char *text, clt_config *out);

/* --- exchange.c: several stores --- */

/* Which keys, and which of their records; what is NULL or 0 does not matter. */
typedef struct clt_store_selection {
  const char *problem_name;
  const char *device; /* a part of the device's key, without regard to case */
  int64_t before_s;   /* records that were added before this Unix time */
} clt_store_selection;

/* Gives a record that can be right and whose origin is not known the identity that it has in every store: origin "" and
 * 63 bits of a hash of its key and of all that it says but its log. known: has what such records got until now as its
 * keys: of those that say the same, each next one gets the next number. CLT_E_MEMORY without a message. */
int clt_record_identify(clt_store_record *record, const clt_store_key *key, clt_map *known);

/* Calls visit for the records of a key (NULL: of all keys) with numbers above `after`, smaller ones first, each with
 * its identity and the description of its key, which is but the key where that is given; those that cannot be right are
 * skipped. Records that others add meanwhile have larger numbers. */
int clt_store_each_identified(clt_store *store, const clt_store_key *key, int64_t after, clt_store_walk_visit visit,
                              void *user, clt_error *error);

/* Adds to `into` the records of `from` that it does not have yet: all or none, in one transaction. Merging the same
 * again adds nothing, and in whichever direction two stores are merged, the same records result. selection nullable:
 * everything. *n_added nullable. The two are different stores. */
int clt_store_merge(clt_store *into, clt_store *from, const clt_store_selection *selection, uint64_t *n_added,
                    clt_error *error);

/* Removes the selected records for good: the only call that does. At least one part of the selection must be given.
 * dry_run: counts alone. */
int clt_store_prune(clt_store *store, const clt_store_selection *selection, bool dry_run, uint64_t *n_removed,
                    clt_error *error);

/* What a store's own file is known by: the same as long as it stays what it is, and another one for every copy of it.
 * Its numbers are never used again. CLT_E_STORE for a store of another type. */
int clt_store_file_id(char out[CLT_ORIGIN_BYTES], clt_store *store, clt_error *error);

/* --- repair.c: a damaged file --- */

/* Whether a store's file is whole (SQLite's integrity check). path NULL: the standard place. CLT_E_STORE where it
 * cannot be read, or is no store. No other program may use the file meanwhile. */
int clt_store_check(bool *whole, const char *path, clt_error *error);

/* What a repair came to. */
typedef struct clt_store_repair_report {
  uint64_t n_saved, n_lost; /* measurements; lost: as far as their numbers tell */
  char set_aside[4200];     /* where the damaged file stands now; "": nothing was wrong, nothing was done */
} clt_store_repair_report;

/* Copies every measurement that can still be read into a new file, sets the damaged one aside (PATH.damaged, its
 * -wal and -shm with it; never overwritten) and puts the new one in its place. path NULL: the standard place.
 * CLT_E_STORE where the file is no store, or nothing of it can be read: everything is then as it was. No other program
 * may use the file meanwhile. */
int clt_store_repair(clt_store_repair_report *out, const char *path, clt_error *error);

/* Opens what is there for reading alone, also where the file or its folder cannot be written: CLT_E_NOT_FOUND where
 * there is no file. Adding to it fails. */
int clt_store_open_to_read(clt_store **out, const char *type, const char *path, clt_error *error);

/* Describes a key for people and for later look-ups: the problem's name and file, sizes ("width=2048 height=2048"), the
 * device as JSON, what its newest tuning says of itself as JSON (docs/store.md). What is NULL stays as it was. */
int clt_store_describe(clt_store *store, const clt_store_description *description, clt_error *error);
/* As an instance says, which has a device. */
int clt_store_describe_instance(clt_store *store, const clt_store_key *key, const clt_instance *instance,
                                clt_error *error);

/* What is known of a canonical configuration. An answer is a record of a search, or a finalist's failure; finalists'
 * times were interleaved with others' and are no answers, and that they ran out of memory beside others is none either.
 * The newest one counts. */
typedef struct clt_store_answer {
  clt_config config;
  clt_measurement *newest; /* without its log; NULL: there is none, or it lacks what was asked for */
  unsigned n_attempts;     /* that it did not survive */
  bool is_answered;        /* also by one that lacks what was asked for */
} clt_store_answer;

typedef struct clt_store_answers {
  clt_store_answer *all;         /* ascending by configuration: an order that does not depend on when they came */
  size_t n, capacity, n_foreign; /* n_foreign: as in clt_store_each */
} clt_store_answers;             /* zeroed: none */
void clt_store_answers_release(clt_store_answers *answers);

/* Every canonical configuration of which the key has an answer or an attempt; none on an error. with_energy: a correct
 * answer without its energy is none, and those before it no longer hold. since (nullable): only records with larger
 * numbers are looked at, and the largest number is put there. */
int clt_store_newest(clt_store_answers *out, clt_store *store, const clt_store_key *key, const clt_space *space,
                     bool with_energy, int64_t *since, clt_error *error);

#endif
