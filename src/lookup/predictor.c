/* Models of a kernel for all its sizes: fitted to the measurements in a store, saved next to it, and cached in memory
 * after loading. */
#include "lookup/lookup.h"

#include <unistd.h>

#include "base/base.h"
#include "base/file.h"
#include "base/hash.h"
#include "model/model.h"
#include "model/rows.h"
#include "problem/guidance.h"
#include "space/space.h"
#include "store/pq.h"
#include "store/store.h"

#define LARGEST_ERROR 0.1 /* maximum calibrated error of a model that is used; documented in clatune/lookup.h */
#define N_PREDICTIONS 320 /* per look-up, which take about 10 ms */

/* --- fitting --- */

/* Reads the measurements of an instance: times, or the figure of a program. An instance without measurements is not
 * added. What one voice alone has measured, perhaps at invented sizes, is added if is_known is false. */
static int read_rows(clt_rows *rows, bool is_known, clt_store *store, const clt_store_key *key,
                     const clt_instance *instance, clt_error *error) {
  clt_objective *standard = NULL;
  clt_store_answers answers = {0};
  const size_t index = rows->n_instances;
  int rc = clt_objective_new(&standard, instance, "", error);
  if (rc == CLT_OK) rc = clt_store_newest(&answers, store, key, clt_instance_space(instance), false, NULL, error);
  for (size_t i = 0; rc == CLT_OK && answers.has_known == is_known && i < answers.n; i++) {
    const clt_measurement *m = answers.all[i].newest;
    if (m && rows->n_instances == index) rc = clt_rows_add_instance(rows, instance, error);
    if (m && rc == CLT_OK) rc = clt_rows_add(rows, m->config, log(clt_objective_cost(standard, m)), index, error);
  }
  clt_store_answers_release(&answers);
  clt_objective_free(standard);
  return rc;
}

int clt_predictor_fit(clt_model **out, size_t *n_sizes, clt_store *store, const clt_instance *instance, bool own_size,
                      const char *type, const clt_setting *settings, size_t n_settings, uint64_t seed, unsigned threads,
                      clt_error *error) {
  const clt_problem *problem = clt_instance_problem(instance);
  const clt_space *space = clt_instance_space(instance);
  clt_rows rows = {0};
  clt_related_list related = {0};
  clt_instance **others = NULL; /* by related key: instances at other sizes */
  clt_model *model = NULL;
  clt_store_key own;
  char kernel[33];
  int rc = clt_store_key_init(&own, instance, error);
  if (rc == CLT_OK) rc = clt_instance_kernel_key(kernel, instance, error);
  const clt_related_query query = {&own, kernel, clt_problem_name(problem), "", false};
  if (rc == CLT_OK && !own_size) rc = clt_related_add(&related, store, &query, error);
  if (rc == CLT_OK && (others = clt_new_array(related.n, sizeof *others)) == NULL) rc = clt_fail_memory(error);
  for (int pass = 0; rc == CLT_OK && pass < 2 && rows.n == 0; pass++) {
    const clt_store_key *last = NULL; /* of several descriptions of a key one suffices that is of the problem */
    rc = read_rows(&rows, pass == 0, store, &own, instance, error);
    for (size_t i = 0; rc == CLT_OK && i < related.n; i++) {
      const clt_related *r = &related.all[i];
      if (!r->same_device || !r->same_driver || (last && clt_store_same_key(last, &r->d.key))) continue;
      if (others[i] == NULL)
        rc = clt_related_instance(&others[i], NULL, r, problem, clt_instance_device(instance), error);
      if (rc == CLT_OK && others[i]) last = &r->d.key;
      if (rc == CLT_OK && others[i] && clt_space_same_parameters(clt_instance_space(others[i]), space))
        rc = read_rows(&rows, pass == 0, store, &r->d.key, others[i], error);
    }
  }
  if (rc == CLT_OK && rows.n == 0)
    rc = clt_fail(error, CLT_E_NOT_FOUND,
                  "the store has no measurements of '%s'%s on this device; "
                  "run 'clatune sample' first",
                  clt_problem_name(problem), own_size ? " at these sizes" : "");
  if (rc == CLT_OK) rc = clt_model_new(&model, type, settings, n_settings, &rows, seed, threads, error);
  /* If all rows are at this size, the model is for this size only. */
  if (rc == CLT_OK && (rows.n_instances > 1 || rows.instances[0] != instance))
    rc = clt_model_bind(model, instance, error);
  if (rc == CLT_OK) {
    *n_sizes = rows.n_instances;
    *out = model;
  } else {
    clt_model_free(model);
  }
  for (size_t i = 0; others && i < related.n; i++) clt_instance_free(others[i]);
  free(others);
  clt_related_release(&related);
  clt_rows_release(&rows);
  return rc;
}

/* --- files next to a store --- */

/* Models are local files: those of a database are next to the standard store, under a hash of its URL. */
int clt_predictor_folder(char **out, const char *store_path, clt_error *error) {
  char *place = NULL, *beside = NULL;
  char name[24] = "";
  int rc = clt_store_place(&place, store_path, error);
  if (rc == CLT_OK && clt_pq_is_url(store_path)) {
    snprintf(name, sizeof name, ".%016llx", (unsigned long long)clt_hash64(place, strlen(place)));
    rc = clt_store_place(&beside, NULL, error);
  }
  if (rc == CLT_OK && (*out = clt_format("%s%s.models", beside ? beside : place, name)) == NULL)
    rc = clt_fail_memory(error);
  free(beside);
  free(place);
  return rc;
}

/* The file name is a hash of kernel, device and driver. */
int clt_predictor_path(char **out, const char *store_path, const clt_instance *instance, clt_error *error) {
  char kernel[33], name[33], *folder = NULL;
  clt_store_key key;
  int rc = clt_instance_model_key(kernel, instance, error);
  if (rc == CLT_OK) rc = clt_store_key_device(&key, instance, error);
  if (rc == CLT_OK) rc = clt_predictor_folder(&folder, store_path, error);
  if (rc) return rc;
  clt_hasher *hasher = clt_hasher_new();
  if (hasher) {
    clt_hasher_add_text(hasher, kernel);
    clt_hasher_add_text(hasher, key.device);
    clt_hasher_add_text(hasher, key.driver);
    clt_hasher_hex(hasher, name);
  }
  *out = hasher ? clt_format("%s/%s", folder, name) : NULL;
  clt_hasher_free(hasher);
  free(folder);
  return *out ? CLT_OK : clt_fail_memory(error);
}

int clt_predictor_save(const clt_model *model, const char *store_path, const clt_instance *instance, clt_error *error) {
  char *path = NULL, *folder = NULL;
  int rc = clt_predictor_path(&path, store_path, instance, error);
  if (rc == CLT_OK) rc = clt_predictor_folder(&folder, store_path, error);
  if (rc == CLT_OK) rc = clt_folder_make(folder, error);
  if (rc == CLT_OK) rc = clt_model_save(model, path, error);
  free(path);
  free(folder);
  return rc;
}

int clt_predictor_load(clt_model **out, const char *store_path, const clt_instance *instance, clt_error *error) {
  char *path = NULL;
  int rc = clt_predictor_path(&path, store_path, instance, error);
  if (rc) return rc;
  if (access(path, F_OK))
    rc = clt_fail(error, CLT_E_NOT_FOUND, "no model of '%s' was trained for this device; run 'clatune train' first",
                  clt_problem_name(clt_instance_problem(instance)));
  if (rc == CLT_OK) rc = clt_model_new_saved(out, clt_instance_space(instance), instance, path, error);
  free(path);
  return rc;
}

/* --- in memory --- */

typedef struct clt_kept_model {
  char *path;
  uint64_t version; /* of the file from which it was read */
  clt_model *model;
  clt_owned owned; /* the instance to which the model is bound between look-ups */
} clt_kept_model;

void clt_owned_release(clt_owned *owned) {
  clt_instance_free(owned->instance);
  clt_problem_free(owned->problem);
  *owned = (clt_owned){0};
}

static void release_kept(clt_kept_model *k) {
  clt_model_free(k->model);
  clt_owned_release(&k->owned);
  free(k->path);
}

void clt_kept_models_release(clt_kept_models *models) {
  for (size_t i = 0; i < models->n; i++) release_kept(&models->all[i]);
  free(models->all);
  *models = (clt_kept_models){0};
}

int clt_kept_models_best(clt_kept_models *models, clt_config *best, double *time_s, const char *path,
                         const clt_instance *instance, clt_owned *owned, clt_error *error) {
  clt_kept_model fresh = {.version = clt_file_version(path)}, *k = &fresh;
  if (fresh.version == 0) return CLT_OK;
  for (size_t i = 0; i < models->n; i++)
    if (strcmp(models->all[i].path, path) == 0) k = &models->all[i];
  if (k->version != fresh.version) {
    release_kept(k); /* an older version is dropped */
    *k = models->all[--models->n];
    k = &fresh;
  }
  int rc = k == &fresh ? clt_model_new_saved(&k->model, clt_instance_space(instance), instance, path, NULL)
                       : clt_model_bind(k->model, instance, NULL);
  if (rc) return rc == CLT_E_MEMORY ? clt_fail_memory(error) : CLT_OK;
  clt_model_accuracy accuracy;
  clt_prediction prediction;
  size_t n = 0;
  clt_model_accuracy_get(&accuracy, k->model);
  if (accuracy.calibrated_error <= LARGEST_ERROR)
    rc = clt_model_climb(k->model, 1, 0.5, N_PREDICTIONS, best, &prediction, &n, error);
  if (rc == CLT_OK && n > 0) *time_s = exp((double)prediction.log_cost);
  bool taken = owned && owned->instance; /* unless the model of an earlier store has taken it */
  if (k != &fresh && !taken) {
    clt_model_bind(k->model, k->owned.instance, NULL); /* cannot fail, because it was bound to it before */
  } else if (k == &fresh && (rc || !taken || (fresh.path = strdup(path)) == NULL ||
                             clt_grow(&models->all, &models->capacity, models->n + 1, sizeof *models->all))) {
    release_kept(&fresh);
  } else {
    clt_owned_release(&k->owned);
    k->owned = *owned;
    *owned = (clt_owned){0};
    if (k == &fresh) models->all[models->n++] = fresh;
  }
  return rc;
}
