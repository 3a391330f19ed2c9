/* lookup/lookup.h - looking up for the command line, and the parts of a look-up. */
#ifndef CLT_LOOKUP_LOOKUP_H
#define CLT_LOOKUP_LOOKUP_H

#include <clatune/lookup.h>
#include <clatune/model.h>
#include <math.h>
#include <pthread.h>

#include "base/map.h"
#include "measurement/objective.h"

const char *clt_catalog_system_path(void); /* its store's path; borrowed from the environment, or constant */

/* As clt_catalog_lookup for an instance, which needs a device; not remembered. */
int clt_catalog_lookup_instance(clt_catalog *catalog, clt_lookup_result *out, const clt_instance *instance,
                                clt_error *error);

/* Calls visit for everything that the stores hold of a problem as it stands: every device, driver and size with a
 * configuration that is valid there; exact answers all. elsewhere: after the best of a place also slower ones that are
 * valid at other sizes near it, where the best is not. instance and found are borrowed. visit returns 0 to go on, a
 * positive number to end, a result code to fail with it. */
typedef int (*clt_catalog_visit)(void *user, const clt_instance *instance, const clt_lookup_result *found);
int clt_catalog_each(clt_catalog *catalog, const clt_problem *problem, bool elsewhere, clt_catalog_visit visit,
                     void *user, clt_error *error);

/* --- portable.c: one configuration for several devices or sizes: the one with the least summed relative cost, from
 * what the stores hold. Nothing is measured.
 *
 * A place is a device at certain sizes. The relative cost of a configuration at a place is its cost there over that of
 * the best configuration that was measured there: 1 at best; for the objective time a time over the best time. What a
 * search saw counts, so that all configurations of a place stand on the same footing, and the newest record of each. A
 * configuration that failed at one of the places, or is not valid there, is no answer. --- */

/* Which places. Texts are parts of a device's key in the store ("platform|name|compute units") without regard to case,
 * any of which may fit; none: all devices. Of sizes of one name any may fit; a name that is not listed may have any
 * value. */
typedef struct clt_portable_filter {
  const char *const *devices;
  size_t n_devices;
  const clt_size *sizes;
  size_t n_sizes;
} clt_portable_filter;

typedef struct clt_portable_place {
  char *device, *driver, *sizes; /* of several drivers of a device, the one that was measured with last */
  double relative;               /* of the answer; NaN: it was not measured here */
  double value, best_value;      /* of the objective: the answer's (NaN), and the best one's */
} clt_portable_place;

/* An answer; texts are malloc'ed, release with clt_portable_release. */
typedef struct clt_portable {
  char *configuration; /* "block_x=16 block_y=4" */
  char *options;       /* those build options that are the same at all places: without -D of sizes that differ */
  clt_portable_place *places;
  size_t n_places, n_missing; /* missing: where it was not measured. 0 unless nothing was measured at all places */
  double sum_relative;        /* over the places where it was measured */
  double worst_relative;
  size_t n_configurations; /* measured somewhere, and failing nowhere as far as is known */
  size_t n_complete;       /* of these, measured at all places */
  /* Of these, how many would be better if they were as good as the best one at the places where they were not measured;
   * and the most promising of them. NULL: none. */
  size_t n_open;
  char *open_configuration, *open_missing; /* open_missing: "DEVICE, n=64; DEVICE, n=128" */
} clt_portable;
void clt_portable_release(clt_portable *portable);

/* By the catalog's objective. filter NULL: all places. CLT_E_NOT_FOUND where no place fits, CLT_E_NO_VALID where every
 * configuration fails somewhere. */
int clt_catalog_portable(clt_catalog *catalog, clt_portable *out, const clt_problem *problem,
                         const clt_portable_filter *filter, clt_error *error);

/* --- catalog.c: related keys: the same kernel for other devices, drivers, sizes and texts --- */

/* A key that is, or may be, of the same kernel. */
typedef struct clt_related {
  clt_store *store;
  clt_store_description d; /* owned by the list; counted where that was asked for */
  size_t number;           /* in the order of the stores, and there the one that was measured first first */
  bool same_text;          /* the same problem key: text, sizes, input and reference */
  bool same_kernel; /* the same text, input and reference at any sizes. Else only the problem's name is known to be */
  bool same_device, same_driver; /* same_device: also where the key says the name alone, and that is the same */
  double distance; /* of the sizes: the sum over ours of |log of their ratio|; INFINITY: they cannot be compared */
  clt_tier tier;   /* for who looks up: which answer it gives */
} clt_related;

typedef struct clt_related_list {
  clt_related *all;
  size_t n, capacity;
} clt_related_list; /* zeroed: empty */

/* Whose kernel. */
typedef struct clt_related_query {
  const clt_store_key *own; /* is left out. NULL: not known */
  const char *kernel;       /* clt_instance_kernel_key; NULL: not asked for */
  const char *problem_name; /* NULL: all keys; "": related are those of the same kernel, or text, alone */
  const char *sizes;        /* as clt_instance_sizes_text writes them */
  bool counted;
} clt_related_query;

/* Adds the related keys of a store; which of them serve, and in which order, is for the caller to say. Release the list
 * also after a failure. */
int clt_related_add(clt_related_list *list, clt_store *store, const clt_related_query *query, clt_error *error);
void clt_related_release(clt_related_list *list);

/* The problem at the sizes that a key was measured at. NULL in *out where the problem no longer has these sizes, or
 * where its kernel's text, input or reference has changed since: then *another (nullable), unless it may be the same at
 * other sizes. */
int clt_related_instance(clt_instance **out, bool *another, const clt_related *related, const clt_problem *problem,
                         const clt_device_info *device, clt_error *error);

/* --- catalog.c: different texts, numbered as they come --- */

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

/* --- predictor.c: models of a kernel on a device, fitted on what a store holds of it at all sizes ---
 *
 * A predictor answers for sizes that nobody has measured. `clatune train` fits one and keeps it beside the store;
 * clt_catalog_lookup and `clatune predict` find it there. It is for one kernel (its text, input and reference), device
 * and driver. */

/* Fits a model ("auto", "ensemble", "trees", "average") on everything that a store holds of this instance's kernel, as
 * its text is now, on its device with its driver: at every size, or (own_size) at the instance's alone. It is bound to
 * the instance. *n_sizes: sizes with measurements. CLT_E_NOT_FOUND where there are none, CLT_E_MODEL with fewer than 5
 * correct ones. */
int clt_predictor_fit(clt_model **out, size_t *n_sizes, clt_store *store, const clt_instance *instance, bool own_size,
                      const char *type, const clt_setting *settings, size_t n_settings, uint64_t seed, unsigned threads,
                      clt_error *error);

/* Where the predictor of an instance's kernel and device lies: a file in the folder STORE.models; store_path NULL:
 * beside the standard store. *out is malloc'ed; nothing is made. */
int clt_predictor_path(char **out, const char *store_path, const clt_instance *instance, clt_error *error);

/* Keeps a model as the kernel's predictor, and finds it again, bound to the instance: CLT_E_NOT_FOUND where there is
 * none. */
int clt_predictor_save(const clt_model *model, const char *store_path, const clt_instance *instance, clt_error *error);
int clt_predictor_load(clt_model **out, const char *store_path, const clt_instance *instance, clt_error *error);

/* The folder of the models of a store (NULL: the standard one), malloc'ed. */
int clt_predictor_folder(char **out, const char *store_path, clt_error *error);

/* What a model that is kept in memory speaks of. */
typedef struct clt_owned {
  clt_problem *problem;
  clt_instance *instance; /* of the problem */
} clt_owned;
void clt_owned_release(clt_owned *owned);

/* Models that were loaded once and are kept in memory. */
typedef struct clt_kept_models {
  struct clt_kept_model *all;
  size_t n, capacity;
} clt_kept_models; /* zeroed: none */
void clt_kept_models_release(clt_kept_models *models);

/* The best for the instance by the model of a file; *best stays as it is where there is none, or none to be believed.
 * owned (nullable): whose instance it is. It is emptied where the model is kept, and lives as long as that speaks of
 * it. */
int clt_kept_models_best(clt_kept_models *models, clt_config *best, double *time_s, const char *path,
                         const clt_instance *instance, clt_owned *owned, clt_error *error);

/* --- catalog.c --- */

/* A store that may not be there yet. */
typedef struct clt_catalog_store {
  char *path; /* NULL: the user's standard one */
  clt_store *store;
  uint64_t version;
  char *models;            /* the folder of its models */
  uint64_t models_version; /* as clt_file_version has it: 0 where it is not there */
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

/* Calls visit for every key of the stores that is of the problem as it stands, with an instance made for it, which
 * visit may keep (and set to NULL). Under the mutex. */
typedef int (*clt_place_visit)(void *user, const clt_related *place, clt_instance **instance, clt_error *error);
int clt_catalog_each_place(clt_catalog *catalog, const clt_problem *problem, clt_place_visit visit, void *user,
                           clt_error *error);

/* --- tiers.c --- */

/* Answers from what the stores hold now. owned (nullable): whose instance it is, see above. Under the mutex. */
int clt_catalog_answer(clt_catalog *catalog, clt_lookup_result *out, const clt_instance *instance, clt_owned *owned,
                       clt_error *error);

#endif
