/* An answer: the tiers, one after the other. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/memory.h"
#include "device/device.h"
#include "lookup/lookup.h"
#include "measurement/objective.h"
#include "model/model.h"
#include "problem/guidance.h"
#include "space/expr.h"

#define LARGEST_ERROR 0.1 /* calibrated, of a model that is believed: what clatune/lookup.h promises */
#define N_PREDICTIONS 320 /* one by one, some 10 ms: what a look-up has time for */

static const char *const tier_names[CLT_N_TIERS] = {"exact",        "other-driver",      "prediction",
                                                    "nearest-size", "same-architecture", "default"};

const char *clt_tier_name(clt_tier tier) { return tier < CLT_N_TIERS ? tier_names[tier] : "unknown"; }

/* --- what an answer says --- */

int clt_lookup_result_number(const clt_lookup_result *result, const char *name, double *out, clt_error *error) {
  const char *text = NULL;
  const size_t n_name = strlen(name);
  for (const char *at = result->configuration; at && text == NULL; at = strchr(at, ' ')) {
    at += *at == ' ';
    if (strncmp(at, name, n_name) == 0 && at[n_name] == '=') text = at + n_name + 1;
  }
  if (text == NULL)
    return clt_fail(error, CLT_E_NOT_FOUND, "the configuration '%.100s' has no parameter '%.100s'",
                    result->configuration, name);
  const size_t length = strcspn(text, " ");
  const bool minus = length > 0 && *text == '-';
  clt_value value;
  if (!clt_number_parse(&value, text + minus, length - minus))
    return clt_fail(error, CLT_E_FORMAT, "the parameter '%.100s' is no number but '%.*s'", name,
                    (int)(length < 100 ? length : 100), text);
  *out = minus ? -clt_value_number(value) : clt_value_number(value);
  return CLT_OK;
}

int clt_lookup_result_complete(clt_lookup_result *result, const clt_instance *instance, const clt_objective *objective,
                               const clt_best *best, const char *device, const char *sizes, clt_error *error) {
  bool known_here =
      result->tier == CLT_TIER_EXACT || result->tier == CLT_TIER_OTHER_DRIVER || result->tier == CLT_TIER_PREDICTION;
  clt_lookup_result made = {.tier = result->tier, .stale = result->stale};
  clt_measurement m;
  clt_measurement_init(&m, best->config);
  m.time_s = best->time_s;
  m.energy_J = best->energy_J;
  m.figure = best->figure;
  made.expected_time_s = known_here ? clt_objective_metric_value(objective, 0, &m) : NAN;
  made.expected_value = known_here ? clt_objective_value(objective, &m) : NAN;
  made.configuration = clt_config_string(clt_instance_space(instance), best->config);
  made.device = strdup(device);
  made.sizes = strdup(sizes);
  int rc = made.configuration && made.device && made.sizes ? CLT_OK : clt_fail_memory(error);
  if (rc == CLT_OK) rc = clt_instance_options(instance, best->config, &made.options, error);
  if (rc) return clt_lookup_result_release(&made), rc;
  *result = made;
  return CLT_OK;
}

/* --- the tiers --- */

/* What is asked, once more in each tier. */
typedef struct question {
  clt_catalog *catalog;
  const clt_instance *instance;
  const clt_objective *objective;
  clt_store_key key;
  clt_owned *owned; /* NULL: the instance is the caller's */
} question;

static int answer_exactly(const question *q, clt_lookup_result *out, bool *answered, clt_error *error) {
  clt_best best = {CLT_CONFIG_NONE, NAN, NAN, NAN};
  int rc = CLT_OK;
  for (size_t i = 0; rc == CLT_OK && i < q->catalog->n_stores && best.config == CLT_CONFIG_NONE; i++)
    if (q->catalog->stores[i].store)
      rc = clt_best_of_key(&best, q->catalog->stores[i].store, &q->key, clt_instance_space(q->instance), q->objective,
                           error);
  *answered = rc == CLT_OK && best.config != CLT_CONFIG_NONE;
  if (!*answered) return rc;
  char *sizes = clt_instance_sizes_text(q->instance);
  if (sizes == NULL) return clt_fail_memory(error);
  *out = (clt_lookup_result){.tier = CLT_TIER_EXACT};
  rc = clt_lookup_result_complete(out, q->instance, q->objective, &best, q->key.device, sizes, error);
  free(sizes);
  return rc;
}

static int predict_best(void *user, const clt_model *model, clt_error *error) {
  clt_best *best = user;
  clt_model_accuracy accuracy;
  clt_prediction prediction;
  size_t n = 0;
  int rc = CLT_OK;
  clt_model_accuracy_get(model, &accuracy);
  if (accuracy.calibrated_error <= LARGEST_ERROR)
    rc = clt_model_climb(model, 1, 0.5, NULL, 0, N_PREDICTIONS, &best->config, &prediction, &n, error);
  if (rc == CLT_OK && n > 0) best->time_s = exp((double)prediction.log_cost);
  return rc;
}

/* Models know what is the best where nothing is stated: times, or the cost of what a program reports in their place. */
static int answer_by_model(const question *q, clt_lookup_result *out, bool *answered, clt_error *error) {
  char name[33];
  clt_best best = {CLT_CONFIG_NONE, NAN, NAN, NAN};
  bool knows_times = clt_objective_standard(q->objective) == 0;
  if (!clt_objective_is_standard(q->objective) && !(knows_times && clt_objective_ranks_by_time(q->objective)))
    return CLT_OK;
  int rc = clt_predictor_name(name, q->instance, error);
  for (size_t i = 0; rc == CLT_OK && i < q->catalog->n_stores && best.config == CLT_CONFIG_NONE; i++) {
    char *path = clt_format("%s/%s", q->catalog->stores[i].models, name);
    rc = path ? clt_kept_models_use(&q->catalog->models, path, q->instance, q->owned, predict_best, &best, error)
              : clt_fail_memory(error);
    free(path);
  }
  *answered = rc == CLT_OK && best.config != CLT_CONFIG_NONE;
  if (!*answered) return rc;
  *out = (clt_lookup_result){.tier = CLT_TIER_PREDICTION};
  return clt_lookup_result_complete(out, q->instance, q->objective, &best, q->key.device, "", error);
}

/* A key of another driver, size or device that may answer. */
typedef struct alternative {
  const clt_related *related;
  clt_tier tier;
  bool stale;
  double distance;
} alternative;

static int by_nearness(const void *a, const void *b) {
  const alternative *x = a, *y = b;
  if (x->tier != y->tier) return x->tier < y->tier ? -1 : 1;
  if (x->distance != y->distance) return x->distance < y->distance ? -1 : 1;
  if (x->stale != y->stale) return x->stale - y->stale;
  const clt_store_key *k = &x->related->key, *l = &y->related->key;
  int order = strcmp(k->problem, l->problem);
  if (order == 0) order = strcmp(k->device, l->device);
  return order ? order : strcmp(k->driver, l->driver);
}

/* Those of the tiers from first to last. */
static int answer_by_alternative(const question *q, const alternative *all, size_t n, clt_tier first, clt_tier last,
                                 clt_lookup_result *out, bool *answered, clt_error *error) {
  const clt_space *space = clt_instance_space(q->instance);
  for (size_t i = 0; i < n; i++) {
    const clt_related *r = all[i].related;
    clt_best best;
    if (all[i].tier < first || all[i].tier > last) continue;
    int rc = clt_best_of_key(&best, r->store, &r->key, space, q->objective, error);
    if (rc) return rc;
    if (best.config == CLT_CONFIG_NONE) continue;
    *answered = true;
    *out = (clt_lookup_result){.tier = all[i].tier, .stale = all[i].stale};
    return clt_lookup_result_complete(out, q->instance, q->objective, &best, r->key.device, r->sizes, error);
  }
  return CLT_OK;
}

static int answer_by_related(const question *q, clt_lookup_result *out, bool *answered, clt_error *error) {
  clt_related_list related = {0};
  alternative *all = NULL;
  char *sizes = clt_instance_sizes_text(q->instance);
  const clt_related_query query = {&q->key, clt_problem_name(clt_instance_problem(q->instance)), sizes, false};
  int rc = sizes ? CLT_OK : clt_fail_memory(error);
  for (size_t i = 0; rc == CLT_OK && i < q->catalog->n_stores; i++)
    if (q->catalog->stores[i].store) rc = clt_related_add(&related, q->catalog->stores[i].store, &query, error);
  if (rc == CLT_OK && (all = clt_new_array(related.n, sizeof *all)) == NULL) rc = clt_fail_memory(error);
  if (rc == CLT_OK) {
    const clt_device_info *device = clt_instance_device(q->instance);
    for (size_t i = 0; i < related.n; i++) {
      const clt_related *r = &related.all[i];
      clt_device_info other;
      alternative *a = &all[i];
      *a = (alternative){.related = r, .tier = CLT_TIER_DEFAULT, .distance = r->same_text ? 0 : r->distance};
      a->stale = !r->same_driver || (!r->same_text && r->distance == 0);
      if (!isfinite(a->distance)) continue;
      if (r->same_device)
        a->tier = r->same_text ? CLT_TIER_OTHER_DRIVER : CLT_TIER_NEAREST_SIZE;
      else if (clt_device_from_json(&other, r->device_json, NULL) == CLT_OK && other.type == device->type &&
               strcmp(other.platform_name, device->platform_name) == 0 && strcmp(other.vendor, device->vendor) == 0)
        a->tier = CLT_TIER_SAME_ARCHITECTURE;
    }
    qsort(all, related.n, sizeof *all, by_nearness);
    rc = answer_by_alternative(q, all, related.n, CLT_TIER_EXACT, CLT_TIER_OTHER_DRIVER, out, answered, error);
  }
  if (rc == CLT_OK && !*answered) rc = answer_by_model(q, out, answered, error);
  if (rc == CLT_OK && !*answered)
    rc = answer_by_alternative(q, all, related.n, CLT_TIER_NEAREST_SIZE, CLT_TIER_SAME_ARCHITECTURE, out, answered,
                               error);
  free(all);
  free(sizes);
  clt_related_release(&related);
  return rc;
}

int clt_catalog_answer(clt_catalog *catalog, clt_lookup_result *out, const clt_instance *instance, clt_owned *owned,
                       clt_error *error) {
  clt_objective *objective = NULL;
  question q = {.catalog = catalog, .instance = instance, .owned = owned};
  bool answered = false;
  int rc = clt_store_key_init(&q.key, instance, error);
  if (rc == CLT_OK) rc = clt_objective_new(&objective, instance, catalog->objective, error);
  q.objective = objective;
  if (rc == CLT_OK) rc = answer_exactly(&q, out, &answered, error);
  if (rc == CLT_OK && !answered) rc = answer_by_related(&q, out, &answered, error);
  if (rc == CLT_OK && !answered) {
    const clt_best best = {clt_instance_default(instance), NAN, NAN, NAN};
    *out = (clt_lookup_result){.tier = CLT_TIER_DEFAULT};
    rc = clt_lookup_result_complete(out, instance, objective, &best, "", "", error);
  }
  clt_objective_free(objective);
  return rc;
}
