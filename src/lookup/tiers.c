/* Computes answers: the tiers in their order. */

#include "base/base.h"
#include "base/hash.h"
#include "device/device.h"
#include "lookup/lookup.h"
#include "problem/data.h"
#include "problem/guidance.h"
#include "problem/plan.h"
#include "space/space.h"
#include "store/best.h"
#include "store/store.h"

static const char *const tier_names[CLT_N_TIERS] = {"exact",        "other-driver",      "prediction",
                                                    "nearest-size", "same-architecture", "default"};

const char *clt_tier_name(clt_tier tier) { return tier < CLT_N_TIERS ? tier_names[tier] : "unknown"; }

/* --- reading an answer --- */

int clt_lookup_result_number(double *out, const clt_lookup_result *result, const char *name, clt_error *error) {
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
  clt_value value;
  if (!clt_value_parse(&value, text, length) || value.type == CLT_BOOL) /* "true": booleans are kept as 0 and 1 */
    return clt_fail(error, CLT_E_FORMAT, "the value of '%.100s' is not a number: '%.*s'", name,
                    (int)(length < 100 ? length : 100), text);
  *out = clt_value_number(value);
  return CLT_OK;
}

/* Other sizes at which a configuration must be valid. */
typedef struct other_sizes {
  const clt_instance *instance;
  int64_t *sizes; /* in the problem's order */
} other_sizes;

static bool is_valid_elsewhere(void *user, clt_config config) {
  const other_sizes *elsewhere = user;
  return clt_instance_valid_at(elsewhere->instance, config, elsewhere->sizes);
}

/* The record that an answer is based on; texts are borrowed. */
typedef struct answer_basis {
  clt_tier tier;
  bool stale, alone, unchecked, is_public;
  clt_measurement best; /* config CLT_CONFIG_NONE: none */
  const char *device, *sizes;
} answer_basis;

/* Begins an answer without a configuration. */
static void begin_answer(answer_basis *out, clt_tier tier, const char *device, const char *sizes) {
  *out = (answer_basis){.tier = tier, .device = device, .sizes = sizes};
  clt_measurement_init(&out->best, CLT_CONFIG_NONE);
}

/* elsewhere: nullable. describer: whose description of the key is used, which is not believed about measurements of
 * others; 0: it is one's own, or proven. */
static int find_best(answer_basis *out, clt_store *store, const clt_store_key *key, int64_t describer,
                     const clt_space *space, const clt_objective *objective, other_sizes *elsewhere, clt_error *error) {
  clt_best_query query = {.objective = objective,
                          .accepts = elsewhere ? is_valid_elsewhere : NULL,
                          .user = elsewhere,
                          .only = describer,
                          .believes = describer != 0,
                          .beside = CLT_CONFIG_NONE};
  clt_best_known best;
  int rc = clt_store_best(&best, store, key, space, &query, error);
  if (rc) return rc;
  out->best = best.measurement;
  out->alone = best.alone;
  out->unchecked = !best.compared;
  return CLT_OK;
}

/* --- filling an answer --- */

static int fill_result(clt_lookup_result *out, const answer_basis *basis, const clt_instance *instance,
                       const clt_objective *objective, clt_error *error) {
  bool known_here =
      basis->tier == CLT_TIER_EXACT || basis->tier == CLT_TIER_OTHER_DRIVER || basis->tier == CLT_TIER_PREDICTION;
  const clt_measurement *m = &basis->best;
  *out = (clt_lookup_result){
      .tier = basis->tier,
      .stale = basis->stale,
      .unconfirmed = basis->alone,
      .is_public = basis->is_public,
      .unchecked = basis->unchecked && !clt_problem_is_command(clt_instance_problem(instance)),
      .expected_time_s = known_here ? clt_objective_metric_value(objective, 0, m) : NAN,
      .expected_value = known_here ? clt_objective_value(objective, m) : NAN,
      .configuration = clt_config_string(clt_instance_space(instance), m->config),
      .device = strdup(basis->device),
      .sizes = strdup(basis->sizes),
  };
  int rc = out->configuration && out->device && out->sizes ? CLT_OK : clt_fail_memory(error);
  if (rc == CLT_OK) rc = clt_instance_options(&out->options, instance, m->config, error);
  if (rc == CLT_OK &&
      clt_instance_launches(&out->launches, &out->n_launches, instance, m->config, NULL) == CLT_E_MEMORY)
    rc = clt_fail_memory(error);
  if (rc) clt_lookup_result_release(out);
  return rc;
}

/* --- the tiers --- */

/* Sorts by tier. Within a tier, another kernel under the problem's name comes last, else the nearest sizes come first;
 * of equally near ones the same driver, then the newest of a store. */
static int by_nearness(const void *a, const void *b) {
  const clt_related *r = a, *q = b;
  if (r->tier != q->tier) return r->tier < q->tier ? -1 : 1;
  const bool other = !r->same_kernel && r->d.kernel[0], q_other = !q->same_kernel && q->d.kernel[0];
  if (other != q_other) return q_other ? -1 : 1;
  if (r->distance != q->distance) return r->distance < q->distance ? -1 : 1;
  if (r->same_driver != q->same_driver) return r->same_driver ? -1 : 1;
  return (r->store == q->store) == (r->number > q->number) ? -1 : 1;
}

/* The tier of a key; CLT_TIER_DEFAULT: it cannot give an answer. */
static clt_tier tier_of(const clt_related *r, const clt_device_info *device) {
  clt_device_info other;
  if (!r->same_text && !isfinite(r->distance)) return CLT_TIER_DEFAULT;
  if (r->same_device) return r->same_text ? CLT_TIER_OTHER_DRIVER : CLT_TIER_NEAREST_SIZE;
  const bool alike = clt_device_from_json(&other, r->d.device_json, NULL) == CLT_OK && other.type == device->type &&
                     other.platform_name[0] && strcmp(other.platform_name, device->platform_name) == 0 &&
                     strcmp(other.vendor, device->vendor) == 0;
  return alike ? CLT_TIER_SAME_ARCHITECTURE : CLT_TIER_DEFAULT;
}

/* Where an answer is searched. Texts of the answer are borrowed from `related`, and from key and sizes. */
typedef struct answer_search {
  clt_catalog *catalog;
  size_t from, to; /* of the catalog's stores */
  const clt_instance *instance;
  const clt_objective *objective;
  clt_store_key key;
  char *sizes;
  clt_related_list related;
} answer_search;

/* Answers from the nearest key of the tiers first .. last that has a valid configuration. Of equally near ones,
 * measurements of the problem's current text take precedence. */
static int answer_from_others(answer_basis *out, answer_search *s, const clt_related_query *query, clt_tier first,
                              clt_tier last, clt_error *error) {
  const clt_instance *instance = s->instance;
  clt_related_list *related = &s->related;
  int rc = CLT_OK;
  clt_related_release(related);
  for (size_t i = s->from; rc == CLT_OK && i < s->to; i++)
    if (s->catalog->stores[i].store) rc = clt_related_add(related, s->catalog->stores[i].store, query, error);
  for (size_t i = 0; i < related->n; i++)
    related->all[i].tier = tier_of(&related->all[i], clt_instance_device(instance));
  if (related->n) qsort(related->all, related->n, sizeof *related->all, by_nearness);
  for (const clt_related *r = related->all; rc == CLT_OK && r < related->all + related->n && r->tier <= last; r++) {
    bool found = out->best.config != CLT_CONFIG_NONE, present = r->same_kernel;
    answer_basis basis;
    if (r->tier < first) continue;
    if (found && (r->tier != out->tier || r->distance > r[-1].distance)) break;
    /* The problem has the same key at these sizes if they are right and the text is the current one, also in stores of
     * older versions, which lack the kernel key. */
    int64_t describer = r->d.voice;
    begin_answer(&basis, r->tier, r->d.key.device, r->d.sizes);
    if (describer || (r->d.kernel[0] == '\0' && r->distance > 0)) {
      clt_instance *there = NULL;
      bool another;
      rc = clt_related_instance(&there, &another, r, clt_instance_problem(instance), clt_instance_device(instance),
                                error);
      if (there && r->same_device) describer = 0;
      present = present || (there && r->d.kernel[0] == '\0');
      clt_instance_free(there);
      if (describer && another && r->same_kernel) continue; /* the sizes are invented */
    }
    if (rc == CLT_OK)
      rc = find_best(&basis, r->store, &r->d.key, describer, clt_instance_space(instance), s->objective, NULL, error);
    if (rc || basis.best.config == CLT_CONFIG_NONE) continue;
    basis.stale = !present || !r->same_driver;
    if (!found || present) *out = basis;
    if (present) break;
  }
  return rc;
}

/* Whether models predict this objective: they predict the default objective, which is time or the cost of a program's
 * figure. */
static bool suits_models(const clt_objective *objective) {
  bool knows_times = clt_objective_default(objective) == 0;
  return clt_objective_is_default(objective) || (knows_times && clt_objective_ranks_by_time(objective));
}

/* The first tier of these stores that has an answer; out->best.config CLT_CONFIG_NONE: none has. */
static int answer_from_stores(answer_basis *out, answer_search *s, clt_owned *owned, clt_error *error) {
  const clt_space *space = clt_instance_space(s->instance);
  const clt_measurement *best = &out->best;
  char kernel[33];
  const clt_related_query of_text = {&s->key, NULL, "", s->sizes, false},
                          of_kernel = {&s->key, kernel, clt_problem_name(clt_instance_problem(s->instance)), s->sizes,
                                       false};
  int rc = CLT_OK;
  begin_answer(out, CLT_TIER_EXACT, s->key.device, s->sizes);
  for (size_t i = s->from; rc == CLT_OK && i < s->to && best->config == CLT_CONFIG_NONE; i++)
    if (s->catalog->stores[i].store)
      rc = find_best(out, s->catalog->stores[i].store, &s->key, 0, space, s->objective, NULL, error);
  if (rc == CLT_OK && best->config == CLT_CONFIG_NONE)
    rc = answer_from_others(out, s, &of_text, CLT_TIER_OTHER_DRIVER, CLT_TIER_OTHER_DRIVER, error);
  if (rc == CLT_OK && best->config == CLT_CONFIG_NONE && suits_models(s->objective)) {
    begin_answer(out, CLT_TIER_PREDICTION, s->key.device, "");
    for (size_t i = s->from; rc == CLT_OK && i < s->to && best->config == CLT_CONFIG_NONE; i++) {
      char *path = NULL;
      if (s->catalog->stores[i].models_version == 0) continue; /* no models: do not read the kernel's files */
      rc = clt_predictor_path(&path, s->catalog->stores[i].path, s->instance, error);
      if (rc == CLT_OK)
        rc = clt_kept_models_best(&s->catalog->models, &out->best.config, &out->best.time_s, path, s->instance, owned,
                                  error);
      free(path);
    }
  }
  if (rc == CLT_OK && best->config == CLT_CONFIG_NONE) rc = clt_instance_kernel_key(kernel, s->instance, error);
  if (rc == CLT_OK && best->config == CLT_CONFIG_NONE)
    rc = answer_from_others(out, s, &of_kernel, CLT_TIER_NEAREST_SIZE, CLT_TIER_SAME_ARCHITECTURE, error);
  return rc;
}

int clt_catalog_answer(clt_catalog *catalog, clt_lookup_result *out, const clt_instance *instance, clt_owned *owned,
                       clt_error *error) {
  clt_objective *objective = NULL;
  answer_search s = {
      .catalog = catalog, .to = catalog->n_private, .instance = instance, .sizes = clt_instance_sizes_text(instance)};
  answer_basis basis;
  const clt_measurement *best = &basis.best;
  int rc = s.sizes ? clt_store_key_init(&s.key, instance, error) : clt_fail_memory(error);
  if (rc == CLT_OK) rc = clt_objective_new(&objective, instance, catalog->objective, error);
  s.objective = objective;
  if (rc == CLT_OK) rc = answer_from_stores(&basis, &s, owned, error);
  if (rc == CLT_OK && best->config == CLT_CONFIG_NONE) {
    s.from = s.to;
    s.to = catalog->n_stores;
    rc = clt_catalog_refresh_public(catalog, error);
    if (rc == CLT_OK) rc = answer_from_stores(&basis, &s, owned, error);
    basis.is_public = true;
  }
  if (rc == CLT_OK && best->config == CLT_CONFIG_NONE && clt_space_valid(clt_instance_space(instance)) == 0) {
    char why[400];
    clt_space_explain_empty(why, sizeof why, clt_instance_space(instance));
    rc = clt_fail(error, CLT_E_NO_VALID, "%s", why);
  }
  if (rc == CLT_OK && best->config == CLT_CONFIG_NONE) { /* the default configuration, or the first valid one */
    begin_answer(&basis, CLT_TIER_DEFAULT, "", "");
    basis.best.config = clt_instance_reference_configuration(instance);
  }
  if (rc == CLT_OK) rc = fill_result(out, &basis, instance, objective, error);
  clt_related_release(&s.related);
  clt_objective_free(objective);
  free(s.sizes);
  return rc;
}

/* --- all exact answers --- */

typedef struct listing {
  const char *objective;
  bool elsewhere;
  clt_catalog_visit visit;
  void *user;
} listing;

#define MAX_POWER 10 /* tiles are rarely larger than 2^10 */

static int visit_best(void *user, const clt_related *place, clt_instance **instance, clt_error *error) {
  listing *l = user;
  clt_objective *objective = NULL;
  answer_basis basis;
  const size_t n = clt_instance_n_sizes(*instance);
  other_sizes elsewhere = {*instance, clt_new_array(n, sizeof *elsewhere.sizes)};
  clt_map seen = {0};
  begin_answer(&basis, CLT_TIER_EXACT, place->d.key.device, place->d.sizes);
  int rc = elsewhere.sizes ? clt_objective_new(&objective, *instance, l->objective, error) : clt_fail_memory(error);
  /* First the best configuration at the own sizes. Then the best that is also valid at nearby sizes which are odd
   * multiples of 2^power. Finally, for a negative power, the best that is also valid at the sizes divided by 2^-power,
   * which may be too small for a tile. */
  for (int power = MAX_POWER + 1; rc == CLT_OK && power >= -MAX_POWER; power--) {
    const bool own = power > MAX_POWER;
    bool is_another = own;
    if (!own && !l->elsewhere) break;
    for (size_t i = 0; !own && i < n; i++) {
      const int64_t size = clt_instance_size(*instance, i).value;
      const int64_t other = power >= 0 ? ((size >> power) | 1) * ((int64_t)1 << power) : size >> -power;
      is_another = is_another || elsewhere.sizes[i] != other + (other == 0);
      elsewhere.sizes[i] = other + (other == 0);
    }
    if (!is_another || (!own && !clt_problem_allows(clt_instance_problem(*instance), elsewhere.sizes))) continue;
    rc = find_best(&basis, place->store, &place->d.key, 0, clt_instance_space(*instance), objective,
                   own ? NULL : &elsewhere, error);
    bool is_new = false;
    if (rc || basis.best.config == CLT_CONFIG_NONE) continue;
    if (clt_map_add(&seen, basis.best.config, &is_new) == NULL) rc = clt_fail_memory(error);
    clt_lookup_result result;
    if (rc || !is_new) continue;
    rc = fill_result(&result, &basis, *instance, objective, error);
    if (rc) break;
    rc = l->visit(l->user, *instance, &result);
    clt_lookup_result_release(&result);
  }
  clt_objective_free(objective);
  clt_map_release(&seen);
  free(elsewhere.sizes);
  return rc;
}

int clt_catalog_each(clt_catalog *catalog, const clt_problem *problem, bool elsewhere, clt_catalog_visit visit,
                     void *user, clt_error *error) {
  pthread_mutex_lock(&catalog->mutex);
  listing l = {catalog->objective, elsewhere, visit, user};
  int rc = clt_catalog_each_place(catalog, problem, visit_best, &l, error);
  pthread_mutex_unlock(&catalog->mutex);
  return rc < 0 ? rc : CLT_OK;
}
