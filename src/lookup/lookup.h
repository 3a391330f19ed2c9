/* lookup/lookup.h - the parts of a look-up, shared by the files of this room. */
#ifndef CLT_LOOKUP_LOOKUP_H
#define CLT_LOOKUP_LOOKUP_H

#include <clatune/lookup.h>
#include <clatune/predictor.h>
#include <pthread.h>

/* The best that a store holds of a key, valid in the space. config CLT_CONFIG_NONE: nothing. */
typedef struct clt_best {
  clt_config config;
  double time_s, energy_J;
} clt_best;

typedef struct clt_answers clt_answers;
typedef struct clt_models clt_models;

/* A store that may not be there yet. */
typedef struct clt_shelf {
  char *path; /* NULL: the user's standard one */
  clt_store *store;
  uint64_t version;
  char *models;                   /* the folder of its models */
  struct timespec models_changed; /* 0: there is none */
} clt_shelf;

struct clt_catalog {
  pthread_mutex_t mutex;
  clt_shelf *shelves;
  size_t n_shelves;
  char *objective; /* NULL: the problem's own */
  clt_answers *answers;
  clt_models *models;
};

/* lookup.c: opens what has appeared, and forgets the answers where something was added. Under the mutex. */
int clt_catalog_look(clt_catalog *catalog, clt_error *error);
/* Fills in the texts, time and value; tier and stale are set. Copies what it is given. */
int clt_lookup_result_complete(clt_lookup_result *found, const clt_instance *instance, const clt_objective *objective,
                               const clt_best *best, const char *device, const char *sizes, clt_error *error);

/* best.c */
int clt_best_of_key(clt_best *out, clt_store *store, const clt_store_key *key, const clt_space *space,
                    const clt_objective *objective, clt_error *error);
/* best_by_cost.c: the same for an objective by which a slower one may be better. */
int clt_best_by_cost(clt_best *out, clt_store *store, const clt_store_key *key, const clt_space *space,
                     const clt_objective *objective, clt_error *error);

/* listing.c: every key of the stores that is of the problem as it stands, with an instance made for it, which visit may
 * keep (and set to NULL). visit's texts are borrowed. Under the mutex. */
typedef int (*clt_place_visit)(void *user, clt_store *store, const clt_store_key *key, clt_instance **instance,
                               const char *sizes, clt_error *error);
int clt_catalog_each_place(clt_catalog *catalog, const clt_problem *problem, clt_place_visit visit, void *user,
                           clt_error *error);

/* relatives.c: keys of the same kernel at other sizes, on other devices or with other drivers, the nearest first. */
typedef struct clt_relative {
  clt_store *store;
  clt_store_key key;
  clt_tier tier;
  bool stale;
  double distance; /* of the sizes */
  char *sizes;
} clt_relative;

typedef struct clt_relatives {
  clt_relative *all;
  size_t n, capacity;
} clt_relatives; /* zeroed: none */

/* Adds those of one store. */
int clt_relatives_add(clt_relatives *relatives, clt_store *store, const clt_instance *instance,
                      const clt_store_key *own, clt_error *error);
void clt_relatives_sort(clt_relatives *relatives);
void clt_relatives_release(clt_relatives *relatives);

/* stored_instance.c: the problem at the sizes ("a=1 b=2") that a key was measured at. NULL in *out where the problem no
 * longer has these sizes, or where its kernel's text, input or reference has changed since. */
int clt_stored_instance(clt_instance **out, const clt_problem *problem, const clt_device_info *device,
                        const clt_store_key *key, const char *stored_sizes, clt_error *error);

/* answers.c: answers that are remembered, by what was asked. */
int clt_answers_new(clt_answers **out, clt_error *error);
void clt_answers_free(clt_answers *answers);
void clt_answers_clear(clt_answers *answers);
const clt_lookup_result *clt_answers_find(const clt_answers *answers, const char *question); /* borrowed; NULL: none */
int clt_answers_add(clt_answers *answers, const char *question, const clt_lookup_result *found,
                    clt_error *error); /* a copy */
int clt_lookup_result_copy(clt_lookup_result *out, const clt_lookup_result *found, clt_error *error);

/* predictor.c: a model's file name, by the instance's kernel and device. */
int clt_predictor_name(char out[33], const clt_instance *instance, clt_error *error);
/* The folder of the models of a store (NULL: the standard one), malloc'ed. */
int clt_predictor_folder(char **out, const char *store_path, clt_error *error);

/* models.c: models that were loaded are kept. */
typedef struct clt_owned {
  clt_problem *problem;
  clt_instance *instance; /* of the problem */
} clt_owned;
void clt_owned_release(clt_owned *owned);

int clt_models_new(clt_models **out, clt_error *error);
void clt_models_free(clt_models *models);

/* Calls use with the model of a file, bound to the instance; not at all where there is none, or none that can be used.
 * owned (nullable): whose instance it is. It is emptied where the model is kept, and lives as long as that speaks of
 * it. */
typedef int (*clt_model_use)(void *user, const clt_model *model, clt_error *error);
int clt_models_use(clt_models *models, const char *path, const clt_instance *instance, clt_owned *owned,
                   clt_model_use use, void *user, clt_error *error);

#endif
