/* lookup/lookup.h - looking up for the command line, and the parts of a look-up. */
#ifndef CLT_LOOKUP_LOOKUP_H
#define CLT_LOOKUP_LOOKUP_H

#include <clatune/lookup.h>
#include <clatune/model.h>
#include <pthread.h>

#include "base/map.h"
#include "lookup/related.h"
#include "measurement/objective.h"

const char *clt_catalog_system_path(void); /* its store's path; borrowed from the environment, or constant */

/* As clt_catalog_lookup for an instance, which needs a device; not remembered. */
int clt_catalog_lookup_instance(clt_catalog *catalog, clt_lookup_result *out, const clt_instance *instance,
                                clt_error *error);

/* Calls visit for everything that the stores hold of a problem as it stands: every device, driver and size with a
 * configuration that is valid there; exact answers all. instance and found are borrowed. visit returns 0 to go on, a
 * positive number to end, a result code to fail with it. */
typedef int (*clt_catalog_visit)(void *user, const clt_instance *instance, const clt_lookup_result *found);
int clt_catalog_each(clt_catalog *catalog, const clt_problem *problem, clt_catalog_visit visit, void *user,
                     clt_error *error);

/* --- texts.c: different texts, numbered as they come --- */

typedef struct clt_texts {
  char **all; /* owned */
  size_t n, capacity;
  clt_map numbers; /* by hash */
} clt_texts;       /* zeroed: none */

#define CLT_NO_TEXT SIZE_MAX
size_t clt_texts_find(const clt_texts *texts, const char *text); /* CLT_NO_TEXT: it is not among them */
/* The number of a text, which is added where it is new. Copies it; CLT_NO_TEXT when out of memory. */
size_t clt_texts_add(clt_texts *texts, const char *text);
void clt_texts_release(clt_texts *texts);

/* --- best.c --- */

/* The best that a store holds of a key, valid in the space. config CLT_CONFIG_NONE: nothing. */
typedef struct clt_best {
  clt_config config;
  double time_s, energy_J, figure;
} clt_best;

int clt_best_of_key(clt_best *out, clt_store *store, const clt_store_key *key, const clt_space *space,
                    const clt_objective *objective, clt_error *error);

/* --- predictor.c --- */

/* What a model that is kept speaks of. */
typedef struct clt_owned {
  clt_problem *problem;
  clt_instance *instance; /* of the problem */
} clt_owned;
void clt_owned_release(clt_owned *owned);

/* A model that was loaded once and is kept in memory. */
typedef struct clt_kept_model clt_kept_model;
typedef struct clt_kept_models {
  clt_kept_model *all;
  size_t n, capacity;
} clt_kept_models; /* zeroed: none */
void clt_kept_models_release(clt_kept_models *models);

/* Calls use with the model of a file, bound to the instance; not at all where there is none, or none that can be used.
 * owned (nullable): whose instance it is. It is emptied where the model is kept, and lives as long as that speaks of
 * it. */
typedef int (*clt_model_use)(void *user, const clt_model *model, clt_error *error);
int clt_kept_models_use(clt_kept_models *models, const char *path, const clt_instance *instance, clt_owned *owned,
                        clt_model_use use, void *user, clt_error *error);

/* A model's file name, by the instance's kernel and device; and the folder of the models of a store (NULL: the standard
 * one), malloc'ed. */
int clt_predictor_name(char out[33], const clt_instance *instance, clt_error *error);
int clt_predictor_folder(char **out, const char *store_path, clt_error *error);

/* --- catalog.c --- */

/* A store that may not be there yet. */
typedef struct clt_catalog_store {
  char *path; /* NULL: the user's standard one */
  clt_store *store;
  uint64_t version;
  char *models;                   /* the folder of its models */
  struct timespec models_changed; /* 0: there is none */
} clt_catalog_store;

struct clt_catalog {
  pthread_mutex_t mutex; /* around all that follows */
  clt_catalog_store *stores;
  size_t n_stores;
  char *objective; /* NULL: the problem's own */
  clt_texts questions;
  clt_lookup_result *answers; /* to the questions, by their number */
  size_t answers_capacity;
  clt_kept_models models;
};

/* Opens what has appeared, and forgets the answers where something was added. Under the mutex. */
int clt_catalog_refresh(clt_catalog *catalog, clt_error *error);

/* Calls visit for every key of the stores that is of the problem as it stands, with an instance made for it, which
 * visit may keep (and set to NULL). Under the mutex. */
typedef int (*clt_place_visit)(void *user, const clt_related *place, clt_instance **instance, clt_error *error);
int clt_catalog_each_place(clt_catalog *catalog, const clt_problem *problem, clt_place_visit visit, void *user,
                           clt_error *error);

/* --- tiers.c --- */

/* Answers from what the stores hold now. owned (nullable): whose instance it is, see above. Under the mutex. */
int clt_catalog_answer(clt_catalog *catalog, clt_lookup_result *out, const clt_instance *instance, clt_owned *owned,
                       clt_error *error);

/* Fills in the texts, time and value; tier and stale are set. Copies what it is given. */
int clt_lookup_result_complete(clt_lookup_result *found, const clt_instance *instance, const clt_objective *objective,
                               const clt_best *best, const char *device, const char *sizes, clt_error *error);

#endif
