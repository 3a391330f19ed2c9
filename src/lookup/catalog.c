/* The stores that look-ups ask, kept open, and the answers that were given before. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fail.h"
#include "base/memory.h"
#include "base/text.h"
#include "device/device.h"
#include "lookup/lookup.h"
#include "store/store.h"

/* --- stores --- */

const char *clt_catalog_system_path(void) {
  const char *path = getenv("CLATUNE_SYSTEM_STORE");
  return path && path[0] ? path : CLATUNE_SYSTEM_STORE;
}

static void forget_answers(clt_catalog *catalog) {
  for (size_t i = 0; i < catalog->questions.n; i++) clt_lookup_result_release(&catalog->answers[i]);
  clt_texts_release(&catalog->questions);
}

/* A store that appears, or to which somebody has added, makes what is remembered worthless; so does a model that was
 * trained anew. */
int clt_catalog_refresh(clt_catalog *catalog, clt_error *error) {
  for (size_t i = 0; i < catalog->n_stores; i++) {
    clt_catalog_store *s = &catalog->stores[i];
    struct stat folder;
    struct timespec changed = {0};
    uint64_t version = 0;
    if (stat(s->models, &folder) == 0) changed = folder.st_mtim;
    if (changed.tv_sec != s->models_changed.tv_sec || changed.tv_nsec != s->models_changed.tv_nsec)
      forget_answers(catalog);
    s->models_changed = changed;
    /* Opened anew where it has changed: another file may stand there now, and one that cannot be written was taken to
     * stay as it is. */
    if (s->store && clt_store_version(s->store, &version, NULL) == CLT_OK && version == s->version) continue;
    clt_error why = {0};
    if (s->store) forget_answers(catalog);
    clt_store_free(s->store);
    s->store = NULL;
    int rc = clt_store_open_to_read(&s->store, NULL, s->path, &why);
    if (rc == CLT_OK) forget_answers(catalog);
    if (rc == CLT_OK) rc = clt_store_version(s->store, &s->version, &why);
    if (rc && rc != CLT_E_NOT_FOUND) return clt_fail(error, rc, "%s", why.message);
  }
  return CLT_OK;
}

int clt_catalog_new(clt_catalog **out, const char *const *stores, size_t n_stores, clt_error *error) {
  const char *const standard[] = {NULL, clt_catalog_system_path()};
  clt_catalog *catalog = calloc(1, sizeof *catalog);
  if (catalog == NULL) return clt_fail_memory(error);
  pthread_mutex_init(&catalog->mutex, NULL);
  if (stores == NULL) stores = standard, n_stores = 2;
  catalog->stores = clt_new_array(n_stores, sizeof *catalog->stores);
  int rc = catalog->stores ? CLT_OK : clt_fail_memory(error);
  for (size_t i = 0; rc == CLT_OK && i < n_stores; i++) {
    clt_catalog_store *s = &catalog->stores[catalog->n_stores++];
    if (stores[i] && (s->path = strdup(stores[i])) == NULL) rc = clt_fail_memory(error);
    if (rc == CLT_OK) rc = clt_predictor_folder(&s->models, stores[i], error);
  }
  if (rc == CLT_OK) rc = clt_catalog_refresh(catalog, error);
  if (rc) return clt_catalog_free(catalog), rc;
  *out = catalog;
  return CLT_OK;
}

void clt_catalog_free(clt_catalog *catalog) {
  if (catalog == NULL) return;
  for (size_t i = 0; i < catalog->n_stores; i++) {
    clt_store_free(catalog->stores[i].store);
    free(catalog->stores[i].models);
    free(catalog->stores[i].path);
  }
  forget_answers(catalog);
  clt_kept_models_release(&catalog->models);
  free(catalog->stores);
  free(catalog->answers);
  free(catalog->objective);
  pthread_mutex_destroy(&catalog->mutex);
  free(catalog);
}

int clt_catalog_set_objective(clt_catalog *catalog, const char *objective, clt_error *error) {
  char *copy = objective ? strdup(objective) : NULL;
  if (objective && copy == NULL) return clt_fail_memory(error);
  pthread_mutex_lock(&catalog->mutex);
  free(catalog->objective);
  catalog->objective = copy;
  forget_answers(catalog);
  pthread_mutex_unlock(&catalog->mutex);
  return CLT_OK;
}

/* --- looking up --- */

int clt_catalog_lookup_instance(clt_catalog *catalog, clt_lookup_result *out, const clt_instance *instance,
                                clt_error *error) {
  pthread_mutex_lock(&catalog->mutex);
  int rc = clt_catalog_refresh(catalog, error);
  if (rc == CLT_OK) rc = clt_catalog_answer(catalog, out, instance, NULL, error);
  pthread_mutex_unlock(&catalog->mutex);
  return rc;
}

static int copy_result(clt_lookup_result *out, const clt_lookup_result *result, clt_error *error) {
  clt_lookup_result copy = *result;
  copy.configuration = strdup(result->configuration);
  copy.options = strdup(result->options);
  copy.device = strdup(result->device);
  copy.sizes = strdup(result->sizes);
  if (!copy.configuration || !copy.options || !copy.device || !copy.sizes)
    return clt_lookup_result_release(&copy), clt_fail_memory(error);
  *out = copy;
  return CLT_OK;
}

void clt_lookup_result_release(clt_lookup_result *result) {
  free(result->configuration);
  free(result->options);
  free(result->device);
  free(result->sizes);
  *result = (clt_lookup_result){.tier = CLT_TIER_DEFAULT};
}

int clt_catalog_lookup(clt_lookup_result *out, clt_catalog *catalog, const char *problem_path, const clt_size *sizes,
                       size_t n_sizes, const clt_device_info *device, clt_error *error) {
  char key[512], *question = NULL;
  clt_text text = {0};
  clt_device_key(key, sizeof key, device);
  clt_text_printf(&text, "%s\n%s\n%s\n", problem_path, key, device->driver_version);
  for (size_t i = 0; i < n_sizes; i++) clt_text_printf(&text, "%s=%lld ", sizes[i].name, (long long)sizes[i].value);
  int rc = clt_text_take(&question, &text, error);
  if (rc) return rc;
  pthread_mutex_lock(&catalog->mutex);
  rc = clt_catalog_refresh(catalog, error);
  size_t known = rc == CLT_OK ? clt_texts_find(&catalog->questions, question) : CLT_NO_TEXT;
  if (rc == CLT_OK && known == CLT_NO_TEXT) {
    clt_owned owned = {0};
    clt_lookup_result answer;
    rc = clt_problem_new(&owned.problem, problem_path, error);
    if (rc == CLT_OK) rc = clt_instance_new(&owned.instance, owned.problem, sizes, n_sizes, device, error);
    if (rc == CLT_OK) rc = clt_catalog_answer(catalog, &answer, owned.instance, &owned, error);
    clt_owned_release(&owned);
    if (rc == CLT_OK) {
      size_t n = catalog->questions.n + 1;
      if (clt_grow(&catalog->answers, &catalog->answers_capacity, n, sizeof *catalog->answers) == CLT_OK)
        known = clt_texts_add(&catalog->questions, question);
      if (known != CLT_NO_TEXT) {
        catalog->answers[known] = answer;
      } else {
        clt_lookup_result_release(&answer);
        rc = clt_fail_memory(error);
      }
    }
  }
  if (rc == CLT_OK) rc = copy_result(out, &catalog->answers[known], error);
  pthread_mutex_unlock(&catalog->mutex);
  free(question);
  return rc;
}

/* --- all that the stores hold of a problem --- */

int clt_catalog_each_place(clt_catalog *catalog, const clt_problem *problem, clt_place_visit visit, void *user,
                           clt_error *error) {
  const clt_related_query query = {.problem_name = clt_problem_name(problem), .sizes = ""};
  clt_related_list places = {0};
  int rc = clt_catalog_refresh(catalog, error);
  for (size_t i = 0; rc == CLT_OK && i < catalog->n_stores; i++)
    if (catalog->stores[i].store) rc = clt_related_add(&places, catalog->stores[i].store, &query, error);
  clt_device_info *device = rc == CLT_OK ? malloc(sizeof *device) : NULL;
  if (rc == CLT_OK && device == NULL) rc = clt_fail_memory(error);
  for (size_t i = 0; rc == CLT_OK && i < places.n; i++) {
    clt_instance *instance = NULL;
    if (clt_device_from_json(device, places.all[i].device_json, NULL)) continue; /* nobody described it */
    rc = clt_related_instance(&instance, &places.all[i], problem, device, error);
    if (rc == CLT_OK && instance) rc = visit(user, &places.all[i], &instance, error);
    clt_instance_free(instance);
  }
  free(device);
  clt_related_release(&places);
  return rc;
}

typedef struct listing {
  const char *objective;
  clt_catalog_visit visit;
  void *user;
} listing;

static int visit_best(void *user, const clt_related *place, clt_instance **instance, clt_error *error) {
  listing *l = user;
  clt_objective *objective = NULL;
  clt_basis basis = {CLT_TIER_EXACT, false, CLT_NOTHING_BEST, place->key.device, place->sizes};
  int rc = clt_objective_new(&objective, *instance, l->objective, error);
  if (rc == CLT_OK)
    rc = clt_best_of_key(&basis.best, place->store, &place->key, clt_instance_space(*instance), objective, error);
  if (rc == CLT_OK && basis.best.config != CLT_CONFIG_NONE) {
    clt_lookup_result result;
    rc = clt_lookup_result_fill(&result, &basis, *instance, objective, error);
    if (rc == CLT_OK) rc = l->visit(l->user, *instance, &result);
    clt_lookup_result_release(&result);
  }
  clt_objective_free(objective);
  return rc;
}

int clt_catalog_each(clt_catalog *catalog, const clt_problem *problem, clt_catalog_visit visit, void *user,
                     clt_error *error) {
  pthread_mutex_lock(&catalog->mutex);
  listing l = {catalog->objective, visit, user};
  int rc = clt_catalog_each_place(catalog, problem, visit_best, &l, error);
  pthread_mutex_unlock(&catalog->mutex);
  return rc < 0 ? rc : CLT_OK;
}
