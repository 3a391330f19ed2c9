/* lookup/lookup.h - looking up for the command line, and the parts of a look-up. */
#pragma once

#include <clatune/lookup.h>
#include <clatune/model.h>
#include <math.h>
#include <pthread.h>

#include "base/hash.h"
#include "measurement/measurement.h"

const char *clt_catalog_system_path(void); /* path of the system's store; borrowed from the environment, or constant */
/* The stores of the public results, sorted: *out of *n paths; free each, and the array. */
int clt_public_results(char ***out, size_t *n, clt_error *error);

/* As clt_catalog_lookup, for an instance, which must have a device. The answer is not cached. */
int clt_catalog_lookup_instance(clt_catalog *catalog, clt_lookup_result *out, const clt_instance *instance,
                                clt_error *error);

/* Calls visit for all exact answers that the stores have for the current text of a problem: one per device, driver and
 * sizes with a valid configuration. elsewhere: after the best configuration of such a place, also visits slower ones
 * that are valid at nearby sizes at which the best is not. instance and found are borrowed. visit returns 0 to
 * continue, a positive number to end, or a result code, which clt_catalog_each then returns. */
typedef int (*clt_catalog_visit)(void *user, const clt_instance *instance, const clt_lookup_result *found);
int clt_catalog_each(clt_catalog *catalog, const clt_problem *problem, bool elsewhere, clt_catalog_visit visit,
                     void *user, clt_error *error);

/* --- catalog.c: related keys: measurements of the same kernel on other devices, with other drivers, at other sizes, or
 * with another kernel text --- */

/* A key of the store that belongs, or may belong, to the same kernel. */
typedef struct clt_related {
  clt_store *store;
  clt_store_description d; /* owned by the list; with counts if the query asks for them */
  size_t number;           /* order: by store, then by the time of the first measurement */
  bool same_text;          /* the same problem key: text, sizes, input and reference */
  bool same_kernel; /* the same text, input and reference, at any sizes; else only the problem's name is the same */
  bool same_device, same_driver; /* same_device: also if the key has only a name, which is the same */
  double distance;               /* of the sizes: sum of |log(size / size)|; INFINITY: not comparable */
  clt_tier tier;                 /* set by a look-up: the tier of an answer from this key */
} clt_related;

typedef struct clt_related_list {
  clt_related *all;
  size_t n, capacity;
} clt_related_list; /* zeroed: empty */

/* Which keys are related. */
typedef struct clt_related_query {
  const clt_store_key *own; /* this key, which is excluded; NULL: unknown */
  const char *kernel;       /* clt_instance_kernel_key; NULL: do not compare it */
  const char *problem_name; /* NULL: all keys are related; "": only keys of the same kernel or text */
  const char *sizes;        /* from clt_instance_sizes_text */
  bool counted;
} clt_related_query;

/* Adds the related keys of a store, unsorted; the caller chooses among them. Release the list also after a failure. */
int clt_related_add(clt_related_list *list, clt_store *store, const clt_related_query *query, clt_error *error);
void clt_related_release(clt_related_list *list);

/* Makes an instance of the problem at the sizes of a key. *out is NULL if the problem no longer has these sizes, or if
 * its kernel's text, input or reference has changed since. In the second case *another (nullable) is true, unless the
 * key could still match at other sizes. */
int clt_related_instance(clt_instance **out, bool *another, const clt_related *related, const clt_problem *problem,
                         const clt_device_info *device, clt_error *error);

/* --- catalog.c: a set of texts, numbered in the order in which they are added --- */

typedef struct clt_texts {
  char **all; /* owned */
  size_t n, capacity;
  clt_map numbers; /* by hash */
} clt_texts;       /* zeroed: none */

#define CLT_NO_TEXT SIZE_MAX
size_t clt_texts_find(const clt_texts *texts, const char *text); /* CLT_NO_TEXT: not in the set */
/* The number of a text, of which a copy is added if it is new. CLT_NO_TEXT: out of memory. */
size_t clt_texts_add(clt_texts *texts, const char *text);
void clt_texts_release(clt_texts *texts);

/* --- predictor.c: models of a kernel on a device, fitted to its measurements at all sizes in a store ---
 *
 * A predictor predicts good configurations at sizes without measurements. `clatune train` fits one and saves it next to
 * the store, where clt_catalog_lookup and `clatune predict` find it. It belongs to one kernel (text, input and
 * reference), device and driver. */

/* Fits a model ("auto", "ensemble", "trees", "average") to all measurements of the current text of this instance's
 * kernel on its device, with its driver: at all sizes, or with own_size only at the instance's. The model is bound to
 * the instance. *n_sizes: number of sizes with measurements. CLT_E_NOT_FOUND: there are no measurements. CLT_E_MODEL:
 * fewer than 5 of them are correct. */
int clt_predictor_fit(clt_model **out, size_t *n_sizes, clt_store *store, const clt_instance *instance, bool own_size,
                      const char *type, const clt_setting *settings, size_t n_settings, uint64_t seed, unsigned threads,
                      clt_error *error);

/* The path of the predictor for an instance's kernel and device: a file in the folder STORE.models; store_path NULL:
 * the standard store. *out is malloc'ed. Creates nothing. */
int clt_predictor_path(char **out, const char *store_path, const clt_instance *instance, clt_error *error);

/* Save a model as the kernel's predictor, and load it, bound to the instance. CLT_E_NOT_FOUND: there is no predictor.
 */
int clt_predictor_save(const clt_model *model, const char *store_path, const clt_instance *instance, clt_error *error);
int clt_predictor_load(clt_model **out, const char *store_path, const clt_instance *instance, clt_error *error);

/* The folder of the models of a store (NULL: the standard store). *out is malloc'ed. */
int clt_predictor_folder(char **out, const char *store_path, clt_error *error);

/* The instance to which a cached model is bound, and its problem. */
typedef struct clt_owned {
  clt_problem *problem;
  clt_instance *instance; /* of the problem */
} clt_owned;
void clt_owned_release(clt_owned *owned);

/* A cache of loaded models. */
typedef struct clt_kept_models {
  struct clt_kept_model *all;
  size_t n, capacity;
} clt_kept_models; /* zeroed: none */
void clt_kept_models_release(clt_kept_models *models);

/* Predicts the best configuration for the instance with the model of a file. *best stays as it is if there is no model,
 * or its calibrated error is too large. owned (nullable): owner of the instance. If the model is cached and bound to
 * the instance, the cache takes owned over and empties it. */
int clt_kept_models_best(clt_kept_models *models, clt_config *best, double *time_s, const char *path,
                         const clt_instance *instance, clt_owned *owned, clt_error *error);

/* --- catalog.c --- */

/* A store of a catalog; its file may not exist yet. */
typedef struct clt_catalog_store {
  char *path; /* NULL: the user's standard one */
  clt_store *store;
  uint64_t version;
  char *models;            /* the folder of its models */
  uint64_t models_version; /* clt_file_version of this folder; 0: it does not exist */
} clt_catalog_store;

struct clt_catalog {
  pthread_mutex_t mutex; /* protects all members below */
  clt_catalog_store *stores;
  size_t n_stores, n_private; /* the public ones come last, and answer only if the others do not */
  char *objective;            /* NULL: the problem's own */
  clt_texts questions;
  clt_lookup_result *answers; /* answers[i] belongs to the question number i */
  size_t answers_capacity;
  clt_kept_models models;
};

/* Calls visit for each key of the stores that belongs to the current text of the problem, with an instance for it.
 * visit may take the instance over by setting it to NULL. The caller holds the mutex. */
typedef int (*clt_place_visit)(void *user, const clt_related *place, clt_instance **instance, clt_error *error);
int clt_catalog_each_place(clt_catalog *catalog, const clt_problem *problem, clt_place_visit visit, void *user,
                           clt_error *error);

/* Opens the public stores, or those that have changed; needed only where the others have no answer. The caller holds
 * the mutex. */
int clt_catalog_refresh_public(clt_catalog *catalog, clt_error *error);

/* --- tiers.c --- */

/* Answers from the current content of the stores. owned (nullable): owner of the instance, see clt_kept_models_best.
 * The caller holds the mutex. */
int clt_catalog_answer(clt_catalog *catalog, clt_lookup_result *out, const clt_instance *instance, clt_owned *owned,
                       clt_error *error);
