/* The tiers, one after the other. */
#include "lookup/lookup.h"
#include "store/store.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fail.h"
#include "base/memory.h"

#define LARGEST_ERROR 0.1 /* calibrated, of a model that is believed */
#define N_PREDICTIONS 320 /* one by one; what a look-up has time for */

static const char *const tier_names[CLT_N_TIERS] = {"exact",        "other-driver",      "prediction",
                                                    "nearest-size", "same-architecture", "default"};

const char *clt_tier_name(clt_tier tier) { return tier < CLT_N_TIERS ? tier_names[tier] : "unknown"; }

/* --- stores --- */

const char *clt_catalog_system_path(void) {
  const char *path = getenv("CLATUNE_SYSTEM_STORE");
  return path && path[0] ? path : CLATUNE_SYSTEM_STORE;
}

static int add_shelf(clt_catalog *catalog, const char *path, clt_error *error) {
  clt_shelf *s = &catalog->shelves[catalog->n_shelves];
  if (path && (s->path = strdup(path)) == NULL) return clt_fail_memory(error);
  catalog->n_shelves++;
  return clt_predictor_folder(&s->models, path, error);
}

/* A model that was trained anew, too. */
static void look_at_models(clt_catalog *catalog, clt_shelf *s) {
  struct stat folder;
  struct timespec changed = {0};
  if (stat(s->models, &folder) == 0) changed = folder.st_mtim;
  if (changed.tv_sec != s->models_changed.tv_sec || changed.tv_nsec != s->models_changed.tv_nsec)
    clt_answers_clear(catalog->answers);
  s->models_changed = changed;
}

/* A store that appears, or to which somebody has added, makes what is remembered worthless. */
static int look_at_shelf(clt_catalog *catalog, clt_shelf *s, clt_error *error) {
  clt_error why = {0};
  uint64_t version = 0;
  look_at_models(catalog, s);
  if (s->store == NULL) {
    int rc = clt_store_open_to_read(&s->store, NULL, s->path, &why);
    if (rc == CLT_E_NOT_FOUND) return CLT_OK;
    if (rc) return clt_fail(error, rc, "%s", why.message);
    clt_answers_clear(catalog->answers);
  }
  int rc = clt_store_version(s->store, &version, error);
  if (rc == CLT_OK && version != s->version) clt_answers_clear(catalog->answers);
  s->version = version;
  return rc;
}

int clt_catalog_look(clt_catalog *catalog, clt_error *error) {
  int rc = CLT_OK;
  for (size_t i = 0; rc == CLT_OK && i < catalog->n_shelves; i++)
    rc = look_at_shelf(catalog, &catalog->shelves[i], error);
  return rc;
}

static int open_all(clt_catalog *catalog, const char *const *stores, size_t n_stores, clt_error *error) {
  catalog->shelves = clt_new_array(stores ? n_stores : 2, sizeof *catalog->shelves);
  if (catalog->shelves == NULL) return clt_fail_memory(error);
  int rc = clt_answers_new(&catalog->answers, error);
  if (rc == CLT_OK) rc = clt_models_new(&catalog->models, error);
  for (size_t i = 0; rc == CLT_OK && stores && i < n_stores; i++) rc = add_shelf(catalog, stores[i], error);
  if (rc == CLT_OK && stores == NULL) rc = add_shelf(catalog, NULL, error);
  if (rc == CLT_OK && stores == NULL) rc = add_shelf(catalog, clt_catalog_system_path(), error);
  return rc ? rc : clt_catalog_look(catalog, error);
}

int clt_catalog_open(clt_catalog **out, const char *const *stores, size_t n_stores, clt_error *error) {
  clt_catalog *catalog = calloc(1, sizeof *catalog);
  if (catalog == NULL) return clt_fail_memory(error);
  pthread_mutex_init(&catalog->mutex, NULL);
  int rc = open_all(catalog, stores, n_stores, error);
  if (rc) {
    clt_catalog_close(catalog);
  } else {
    *out = catalog;
  }
  return rc;
}

void clt_catalog_close(clt_catalog *catalog) {
  if (catalog == NULL) return;
  for (size_t i = 0; i < catalog->n_shelves; i++) {
    clt_store_close(catalog->shelves[i].store);
    free(catalog->shelves[i].path);
    free(catalog->shelves[i].models);
  }
  free(catalog->shelves);
  free(catalog->objective);
  clt_answers_free(catalog->answers);
  clt_models_free(catalog->models);
  pthread_mutex_destroy(&catalog->mutex);
  free(catalog);
}

int clt_catalog_set_objective(clt_catalog *catalog, const char *objective, clt_error *error) {
  char *copy = objective ? strdup(objective) : NULL;
  if (objective && copy == NULL) return clt_fail_memory(error);
  pthread_mutex_lock(&catalog->mutex);
  free(catalog->objective);
  catalog->objective = copy;
  clt_answers_clear(catalog->answers);
  pthread_mutex_unlock(&catalog->mutex);
  return CLT_OK;
}

/* --- an answer --- */

int clt_lookup_result_complete(clt_lookup_result *found, const clt_instance *instance, const clt_objective *objective,
                               const clt_best *best, const char *device, const char *sizes, clt_error *error) {
  bool known_here =
      found->tier == CLT_TIER_EXACT || found->tier == CLT_TIER_OTHER_DRIVER || found->tier == CLT_TIER_PREDICTION;
  clt_lookup_result made = {.tier = found->tier, .stale = found->stale};
  clt_measurement m;
  clt_measurement_init(&m, best->config);
  m.time_s = best->time_s;
  m.energy_J = best->energy_J;
  made.expected_time_s = known_here ? best->time_s : NAN;
  made.expected_value = known_here ? clt_objective_value(objective, &m) : NAN;
  made.configuration = clt_config_string(clt_instance_space(instance), best->config);
  made.device = strdup(device);
  made.sizes = strdup(sizes);
  int rc = made.configuration && made.device && made.sizes ? CLT_OK : clt_fail_memory(error);
  if (rc == CLT_OK) rc = clt_instance_options(instance, best->config, &made.options, error);
  if (rc) {
    clt_lookup_result_release(&made);
  } else {
    *found = made;
  }
  return rc;
}

/* --- the tiers --- */

/* What is asked, once more in each tier. */
typedef struct question {
  const clt_instance *instance;
  const clt_objective *objective;
  clt_store_key key;
  clt_owned *owned; /* NULL: the instance is the caller's */
} asked;

static int find_exact(const clt_catalog *catalog, clt_lookup_result *out, const asked *q, bool *found,
                      clt_error *error) {
  const clt_instance *instance = q->instance;
  const clt_store_key *key = &q->key;
  clt_best best = {CLT_CONFIG_NONE, NAN, NAN};
  for (size_t i = 0; i < catalog->n_shelves && best.config == CLT_CONFIG_NONE; i++) {
    clt_store *store = catalog->shelves[i].store;
    int rc = store ? clt_best_of_key(&best, store, key, clt_instance_space(instance), q->objective, error) : CLT_OK;
    if (rc) return rc;
  }
  *found = best.config != CLT_CONFIG_NONE;
  if (!*found) return CLT_OK;
  char *sizes = clt_instance_sizes_text(instance);
  if (sizes == NULL) return clt_fail_memory(error);
  *out = (clt_lookup_result){.tier = CLT_TIER_EXACT};
  int rc = clt_lookup_result_complete(out, instance, q->objective, &best, key->device, sizes, error);
  free(sizes);
  return rc;
}

/* Those of the tiers from first to last. */
static int find_among(const clt_relatives *relatives, clt_tier first, clt_tier last, clt_lookup_result *out,
                      const asked *q, bool *found, clt_error *error) {
  const clt_instance *instance = q->instance;
  for (size_t i = 0; i < relatives->n; i++) {
    const clt_relative *r = &relatives->all[i];
    clt_best best;
    if (r->tier < first || r->tier > last) continue;
    int rc = clt_best_of_key(&best, r->store, &r->key, clt_instance_space(instance), q->objective, error);
    if (rc) return rc;
    if (best.config == CLT_CONFIG_NONE) continue;
    *found = true;
    *out = (clt_lookup_result){.tier = r->tier, .stale = r->stale};
    return clt_lookup_result_complete(out, instance, q->objective, &best, r->key.device, r->sizes, error);
  }
  return CLT_OK;
}

static int predict(void *user, const clt_model *model, clt_error *error) {
  clt_best *best = user;
  clt_model_accuracy accuracy;
  clt_prediction prediction;
  size_t n = 0;
  int rc = CLT_OK;
  clt_model_accuracy_get(model, &accuracy);
  if (accuracy.calibrated_error <= LARGEST_ERROR)
    rc = clt_model_climb(model, 1, 0.5, NULL, 0, N_PREDICTIONS, &best->config, &prediction, &n, error);
  if (rc == CLT_OK && n > 0) best->time_s = exp((double)prediction.log_time);
  return rc;
}

static int predict_by(const clt_catalog *catalog, const clt_shelf *shelf, const char *name, const asked *q,
                      clt_best *best, clt_error *error) {
  char *path = clt_format("%s/%s", shelf->models, name);
  if (path == NULL) return clt_fail_memory(error);
  int rc = clt_models_use(catalog->models, path, q->instance, q->owned, predict, best, error);
  free(path);
  return rc;
}

/* Models know times. */
static int find_predicted(const clt_catalog *catalog, clt_lookup_result *out, const asked *q, bool *found,
                          clt_error *error) {
  char name[33];
  clt_best best = {CLT_CONFIG_NONE, NAN, NAN};
  if (!clt_objective_ranks_by_time(q->objective)) return CLT_OK;
  int rc = clt_predictor_name(name, q->instance, error);
  for (size_t i = 0; rc == CLT_OK && i < catalog->n_shelves && best.config == CLT_CONFIG_NONE; i++)
    rc = predict_by(catalog, &catalog->shelves[i], name, q, &best, error);
  *found = rc == CLT_OK && best.config != CLT_CONFIG_NONE;
  if (!*found) return rc;
  *out = (clt_lookup_result){.tier = CLT_TIER_PREDICTION};
  return clt_lookup_result_complete(out, q->instance, q->objective, &best, q->key.device, "", error);
}

static int find_relative(const clt_catalog *catalog, clt_lookup_result *out, const asked *q, bool *found,
                         clt_error *error) {
  clt_relatives relatives = {0};
  int rc = CLT_OK;
  for (size_t i = 0; rc == CLT_OK && i < catalog->n_shelves; i++)
    if (catalog->shelves[i].store)
      rc = clt_relatives_add(&relatives, catalog->shelves[i].store, q->instance, &q->key, error);
  clt_relatives_sort(&relatives);
  if (rc == CLT_OK) rc = find_among(&relatives, CLT_TIER_EXACT, CLT_TIER_OTHER_DRIVER, out, q, found, error);
  if (rc == CLT_OK && !*found) rc = find_predicted(catalog, out, q, found, error);
  if (rc == CLT_OK && !*found) rc = find_among(&relatives, CLT_TIER_NEAREST_SIZE, CLT_N_TIERS, out, q, found, error);
  clt_relatives_release(&relatives);
  return rc;
}

static int find_default(clt_lookup_result *out, const asked *q, clt_error *error) {
  clt_best best = {clt_instance_default(q->instance), NAN, NAN};
  *out = (clt_lookup_result){.tier = CLT_TIER_DEFAULT};
  return clt_lookup_result_complete(out, q->instance, q->objective, &best, "", "", error);
}

static int find(const clt_catalog *catalog, clt_lookup_result *out, const clt_instance *instance, clt_owned *owned,
                clt_error *error) {
  clt_objective *objective = NULL;
  asked q = {.instance = instance, .owned = owned};
  bool found = false;
  int rc = clt_store_key_init(&q.key, instance, error);
  if (rc == CLT_OK) rc = clt_objective_new(&objective, instance, catalog->objective, error);
  q.objective = objective;
  if (rc == CLT_OK) rc = find_exact(catalog, out, &q, &found, error);
  if (rc == CLT_OK && !found) rc = find_relative(catalog, out, &q, &found, error);
  if (rc == CLT_OK && !found) rc = find_default(out, &q, error);
  clt_objective_free(objective);
  return rc;
}

int clt_catalog_lookup_instance(clt_catalog *catalog, clt_lookup_result *out, const clt_instance *instance,
                                clt_error *error) {
  pthread_mutex_lock(&catalog->mutex);
  int rc = clt_catalog_look(catalog, error);
  if (rc == CLT_OK) rc = find(catalog, out, instance, NULL, error);
  pthread_mutex_unlock(&catalog->mutex);
  return rc;
}

/* --- with a memory --- */

static int question_of(char **out, const char *path, const clt_size *sizes, size_t n_sizes,
                       const clt_device_info *device, clt_error *error) {
  char key[512], *text = NULL;
  size_t bytes;
  FILE *file = open_memstream(&text, &bytes);
  if (file == NULL) return clt_fail_memory(error);
  clt_device_key(device, key, sizeof key);
  fprintf(file, "%s\n%s\n%s\n", path, key, device->driver_version);
  for (size_t i = 0; i < n_sizes; i++) fprintf(file, "%s=%lld ", sizes[i].name, (long long)sizes[i].value);
  if (fclose(file)) {
    free(text);
    return clt_fail_memory(error);
  }
  *out = text;
  return CLT_OK;
}

static int find_anew(clt_catalog *catalog, clt_lookup_result *out, const char *path, const clt_size *sizes,
                     size_t n_sizes, const clt_device_info *device, clt_error *error) {
  clt_owned owned = {0};
  int rc = clt_problem_load(&owned.problem, path, error);
  if (rc == CLT_OK) rc = clt_instance_new(&owned.instance, owned.problem, sizes, n_sizes, device, error);
  if (rc == CLT_OK) rc = find(catalog, out, owned.instance, &owned, error);
  clt_owned_release(&owned);
  return rc;
}

static int find_or_remember(clt_catalog *catalog, clt_lookup_result *out, const char *question, const char *path,
                            const clt_size *sizes, size_t n_sizes, const clt_device_info *device, clt_error *error) {
  int rc = clt_catalog_look(catalog, error);
  if (rc) return rc;
  const clt_lookup_result *known = clt_answers_find(catalog->answers, question);
  if (known) return clt_lookup_result_copy(out, known, error);
  rc = find_anew(catalog, out, path, sizes, n_sizes, device, error);
  if (rc) return rc;
  rc = clt_answers_add(catalog->answers, question, out, error);
  if (rc) clt_lookup_result_release(out);
  return rc;
}

int clt_catalog_lookup(clt_catalog *catalog, clt_lookup_result *out, const char *problem_path, const clt_size *sizes,
                       size_t n_sizes, const clt_device_info *device, clt_error *error) {
  char *question = NULL;
  int rc = question_of(&question, problem_path, sizes, n_sizes, device, error);
  if (rc) return rc;
  pthread_mutex_lock(&catalog->mutex);
  rc = find_or_remember(catalog, out, question, problem_path, sizes, n_sizes, device, error);
  pthread_mutex_unlock(&catalog->mutex);
  free(question);
  return rc;
}
