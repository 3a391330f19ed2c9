/* store/store.h - a store's internals, shared by this component's files, and the operations behind `clatune store`. */
#pragma once

#include <clatune/store.h>

#include <clatune/sys/store.h>

#include "base/hash.h"
#include "base/plugin.h"
#include "measurement/measurement.h"
#include "store/words.h"

#define CLT_STORE_FILE "store.sqlite"

#define CLT_ORIGIN_BYTES 17 /* 16 hexadecimal digits */

struct clt_store {
  const clt_store_type *type;
  char *path;
  void *state;
  char origin[CLT_ORIGIN_BYTES]; /* of records added to it; "": none added yet */
  int64_t sequence;              /* of the last record added */
  int64_t comparison;            /* of the finalists that are added now; 0: a finalist begins another one */
  int64_t before_s;              /* if not 0: only records added before this Unix time are read */
  double ahead_s;  /* added to clt_now_s for the time of new records, to follow a server's clock; 0: none */
  clt_store *past; /* nullable, borrowed: a session takes other devices and sizes from it instead */
};

extern const clt_store_type clt_store_sqlite;     /* one file, shared by processes, survives kill -9 */
extern const clt_store_type clt_store_memory;     /* lost when it is closed */
extern const clt_store_type clt_store_postgresql; /* a database, shared by machines */

extern clt_plugins clt_stores; /* of clt_store_type */

/* A key with device and driver only, without reading the kernel; the problem is "". The instance must have a device. */
int clt_store_key_device(clt_store_key *key, const clt_instance *instance, clt_error *error);
int clt_store_key_of_device(clt_store_key *key, const clt_device_info *device, clt_error *error);
/* Reads the description (JSON) of a key's device. False: it is none, or of another device. */
bool clt_store_read_device(clt_device_info *out, const char *json, const clt_store_key *key);
bool clt_store_same_key(const clt_store_key *a, const clt_store_key *b);

/* The path that a store opened with `path` would have; creates nothing. path NULL: the standard place; a URL: without
 * its password. malloc'ed. */
int clt_store_place(char **out, const char *path, clt_error *error);

bool clt_record_plausible(const clt_store_record *record); /* checked when it is written and when it is read */

/* Finalists that are added one after another were compared with each other, but not with those before this call. */
void clt_store_begin_comparison(clt_store *store);

/* Like clt_store_each, in any order of records. Also visits foreign records, with the configuration CLT_CONFIG_NONE. */
typedef int (*clt_store_record_visit)(void *user, const clt_store_record *record, const clt_measurement *measurement);
int clt_store_walk(clt_store *store, clt_store_order order, const clt_store_key *key, const clt_space *space,
                   clt_store_record_visit visit, void *user, clt_error *error);
/* The same for one configuration: at least what each voice said last about it in each kind of record, oldest first. */
int clt_store_walk_words(clt_store *store, const clt_store_key *key, const clt_space *space, clt_config config,
                         clt_store_record_visit visit, void *user, clt_error *error);

/* A number that changes when another process has added to the store. */
int clt_store_version(clt_store *store, uint64_t *version, clt_error *error);

/* Like clt_store_each_key. problem (nullable): a key; only keys of its problem are needed, but a type of store may
 * visit others, too. */
int clt_store_each_key_of(clt_store *store, const clt_store_key *problem, bool counted, clt_store_key_visit visit,
                          void *user, clt_error *error);

/* A copy that owns its texts ("" for NULL), and its release. */
int clt_store_description_copy(clt_store_description *out, const clt_store_description *description);
void clt_store_description_release(clt_store_description *copy);

/* The keys that clt_store_each_key or clt_store_each_key_of visits, as an array *out of *n, for callers that use the
 * store for each key. Free with clt_store_keys_free. */
int clt_store_keys(clt_store_description **out, size_t *n, clt_store *store, bool counted, clt_error *error);
int clt_store_keys_of(clt_store_description **out, size_t *n, clt_store *store, const clt_store_key *problem,
                      bool counted, clt_error *error);
void clt_store_keys_free(clt_store_description *keys, size_t n); /* NULL does nothing */
/* Adds the devices that a store describes to the *n in `all`, which has room for `most`, unless they are there: with
 * the description that counts. */
int clt_store_devices(clt_device_info *all, size_t *n, size_t most, clt_store *store, clt_error *error);
/* The space of a key's stored configurations, for use without the problem file: the parameters of its newest record,
 * with the values that occur, numbers ascending, then words. Valid are the stored configurations. Leaves out invalid
 * texts and those with other parameters. CLT_E_NOT_FOUND: none is left. */
int clt_store_space(clt_space **out, clt_store *store, const clt_store_key *key, clt_error *error);

/* --- config_text.c: configurations as stored texts ---
 *
 * Like clt_config_print, but sorted by name, so that a text does not depend on the order of parameters and values. */

#define CLT_MAX_CONFIG_TEXT 65536 /* bytes of a stored configuration */

int clt_config_text(char **out, const clt_space *space, clt_config config, clt_error *error);

/* A reader of such texts for one space, which must outlive it. */
typedef struct clt_config_reader clt_config_reader;
int clt_config_reader_new(clt_config_reader **out, const clt_space *space, clt_error *error);
void clt_config_reader_free(clt_config_reader *reader);

/* Reads a text. False: it is not a valid configuration of the space: a name or value is unknown, a name occurs twice,
 * or a parameter with several values is missing. Changes the text. */
bool clt_config_reader_read(const clt_config_reader *reader, char *text, clt_config *out);

/* --- exchange.c: several stores --- */

/* Selects keys and records; members that are NULL or 0 select all. */
typedef struct clt_store_selection {
  const char *problem_name, *device; /* device: a part of its key, without regard to case */
  int64_t before_s;                  /* only records added before this Unix time */
  bool is_public; /* only correct measurements, without what names a machine, a person or a path: the problem's path,
                     the tuning's notes, logs, the device's UUID and addresses. CLT_E_ARGUMENT: a configuration of
                     one's own may contain a path; those of others are left out */
  uint64_t *n_left_out; /* nullable: set to how many were */
} clt_store_selection;

/* Whether a selection (NULL: all) has the key of a description. */
bool clt_store_selects(const clt_store_selection *selection, const clt_store_description *description);

/* Gives a plausible record without an origin its identity, the same in every store: origin "" and 63 bits of a hash of
 * its key and content, without the log. known: the numbers given so far; identical records get consecutive numbers.
 * CLT_E_MEMORY without a message. */
int clt_record_identify(clt_store_record *record, const clt_store_key *key, clt_map *known);

/* Calls visit for the records of a key (NULL: of all keys, by number) with numbers above `after`, in an order, each
 * with its identity and its key's description (only the key itself if `key` is given). Skips implausible records.
 * Records added by others meanwhile have larger numbers. */
int clt_store_each_identified(clt_store *store, clt_store_order order, const clt_store_key *key, int64_t after,
                              clt_store_walk_visit visit, void *user, clt_error *error);

/* Adds the records of `from` that `into` lacks, all or none, in one transaction. Merging again adds nothing; merging
 * two stores in either direction gives the same records. selection NULL: all. *n_added is nullable. The stores must be
 * different. */
int clt_store_merge(clt_store *into, clt_store *from, const clt_store_selection *selection, uint64_t *n_added,
                    clt_error *error);

/* Deletes the selected records permanently; the only function that does. At least one member of the selection must be
 * set. dry_run: only counts them. */
int clt_store_prune(clt_store *store, const clt_store_selection *selection, bool dry_run, uint64_t *n_removed,
                    clt_error *error);

/* An identifier of a store's file: constant while the file stays in place, different for every copy. Record numbers of
 * a file are never reused. CLT_E_STORE: the store has another type. */
int clt_store_file_id(char out[CLT_ORIGIN_BYTES], clt_store *store, clt_error *error);

/* Deletes a record from a store in a file or in memory. own_too: even if it was added there, not by a merge. */
int clt_store_forget(clt_store *store, const char *origin, int64_t sequence, bool own_too, clt_error *error);

/* --- repair.c: a damaged file --- */

/* Whether a store's file is intact (SQLite's integrity check), while no other program uses it. path NULL: the standard
 * place. CLT_E_STORE: it cannot be read, or is not a store. */
int clt_store_check(bool *whole, const char *path, clt_error *error);

/* The result of a repair. */
typedef struct clt_store_repair_report {
  uint64_t n_saved, n_lost; /* measurements; lost: estimated from their numbers */
  char set_aside[4200];     /* the damaged file's new path; "": the store was intact and is unchanged */
} clt_store_repair_report;

/* Copies all readable measurements to a new file, renames the damaged one with its -wal and -shm to PATH.damaged (never
 * overwriting a file), and moves the new one into place. path NULL: the standard place. CLT_E_STORE: the file is not a
 * store, or nothing is readable; then nothing has changed. No other program may use the file meanwhile. */
int clt_store_repair(clt_store_repair_report *out, const char *path, clt_error *error);

/* Opens an existing store for reading only, even if nothing is writable. CLT_E_NOT_FOUND: there is no file. */
int clt_store_open_to_read(clt_store **out, const char *type, const char *path, clt_error *error);

/* Stores a key's description: the problem's name and file, sizes ("width=2048 height=2048"), the device and the newest
 * tuning's data as JSON (docs/reference/store.md). Members that are NULL stay unchanged. */
int clt_store_describe(clt_store *store, const clt_store_description *description, clt_error *error);
/* The same with the description of an instance, which must have a device. */
int clt_store_describe_instance(clt_store *store, const clt_store_key *key, const clt_instance *instance,
                                clt_error *error);

/* The newest answer for a canonical configuration. An answer is a record of a search, or a finalist's failure.
 * Finalists' times are not answers, because they were interleaved with others; nor is out-of-memory of a finalist. Of
 * several voices, the word that counts (words.h); what one voice claims, only if nothing else is known of the key. */
typedef struct clt_store_answer {
  clt_config config;
  const clt_measurement *newest;  /* without its log; NULL: none, or it lacks the energy */
  const clt_measurement *claimed; /* the same, or a claim: for those who measure it, or say whose it is */
  unsigned n_attempts;            /* attempts on this machine in which the process died */
  clt_word *words;                /* of each voice, newest first; owned, with measurements; costs are times */
  size_t n_words, chosen;
  clt_belief belief; /* in words[chosen] */
} clt_store_answer;

typedef struct clt_store_answers {
  clt_store_answer *all;         /* sorted by configuration */
  size_t n, capacity, n_foreign; /* n_foreign: as in clt_store_each */
  bool has_known;                /* some are CLT_KNOWN: not all is the word of one voice */
} clt_store_answers;             /* zeroed: none */
void clt_store_answers_release(clt_store_answers *answers);

/* Reads the answers of every canonical configuration with an answer or an attempt; none on an error. with_energy: a
 * correct answer without an energy does not count, nor do older ones. since (nullable): reads only records with larger
 * numbers, and sets it to the largest number. */
int clt_store_newest(clt_store_answers *out, clt_store *store, const clt_store_key *key, const clt_space *space,
                     bool with_energy, int64_t *since, clt_error *error);
