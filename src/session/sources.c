/* Prior data: recordings, and stored measurements of the same kernel on other devices, with other drivers, at other
 * sizes or with an older text. */
#include "session/sources.h"
#include "base/base.h"
#include "base/text.h"
#include "format/format.h"
#include "lookup/lookup.h"
#include "measurement/measurement.h"
#include "space/space.h"
#include "store/store.h"

/* The lowest cost first; failures last. */
static int by_config_then_cost(const void *a, const void *b) {
  const clt_known_cost *x = a, *y = b;
  if (x->config != y->config) return x->config > y->config ? 1 : -1;
  if (isnan(x->log_cost) || isnan(y->log_cost)) return (isnan(x->log_cost) != 0) - (isnan(y->log_cost) != 0);
  return (x->log_cost > y->log_cost) - (x->log_cost < y->log_cost);
}

int clt_sources_add(clt_sources *sources, const char *name, clt_known_cost *known, size_t n, clt_error *error) {
  if (clt_grow(&sources->sources, &sources->capacity, sources->n + 1, sizeof *sources->sources))
    return clt_fail_memory(error);
  clt_config *configs = clt_new_array(n, sizeof *configs);
  float *log_costs = clt_new_array(n, sizeof *log_costs);
  clt_search_source *source = &sources->sources[sources->n++];
  *source = (clt_search_source){strdup(name), configs, log_costs, 0};
  if (source->name == NULL || configs == NULL || log_costs == NULL) return clt_fail_memory(error);
  if (n) qsort(known, n, sizeof *known, by_config_then_cost);
  for (size_t i = 0; i < n; i++) {
    if (i > 0 && known[i].config == known[i - 1].config) continue;
    configs[source->n] = known[i].config;
    log_costs[source->n++] = known[i].log_cost;
  }
  return CLT_OK;
}

void clt_sources_release(clt_sources *sources) {
  for (size_t i = 0; i < sources->n; i++) {
    free((void *)sources->sources[i].name);
    free((void *)sources->sources[i].configs);
    free((void *)sources->sources[i].log_costs);
  }
  free(sources->sources);
  *sources = (clt_sources){0};
}

/* --- reading measurements --- */

struct reading {
  const clt_objective *objective;
  clt_known_cost *known;
  size_t n, n_correct, capacity;
};

/* A failure, or a measurement that has a cost. */
static int read_measurement(struct reading *r, const clt_measurement *m) {
  bool correct = clt_measurement_correct(m);
  double cost = correct ? clt_objective_cost(r->objective, m) : NAN;
  if (correct && isnan(cost)) return CLT_OK;
  if (clt_grow(&r->known, &r->capacity, r->n + 1, sizeof *r->known)) return CLT_E_MEMORY;
  r->known[r->n++] = (clt_known_cost){m->config, (float)log(cost)};
  r->n_correct += correct;
  return CLT_OK;
}

int clt_sources_add_recordings(clt_sources *out, const clt_space *space, const clt_objective *objective,
                               const clt_recording *const *recordings, size_t n, clt_log_fn log, void *log_user,
                               clt_error *error) {
  int rc = CLT_OK;
  for (size_t i = 0; rc == CLT_OK && i < n; i++) {
    const clt_recording *recording = recordings[i];
    const clt_space_match match = clt_space_match_new(clt_recording_space(recording), space);
    /* A figure measured by another tool counts as a program's figure if both have the same goal. */
    const clt_goal goal = clt_objective_metric(objective, clt_objective_default(objective)).goal;
    const bool contrary =
        recording->figure.name && clt_objective_default(objective) > 0 && recording->figure.goal != goal;
    size_t n_all = match.extra || match.missing ? 0 : recording->n, n_known = 0;
    struct reading reading = {.objective = objective};
    for (size_t k = 0; rc == CLT_OK && k < n_all; k++) {
      clt_measurement m = *clt_recording_at(recording, k); /* borrowed */
      m.config = clt_space_translate(&match, m.config);
      n_known += m.config != CLT_CONFIG_NONE;
      if (m.config != CLT_CONFIG_NONE && !contrary && read_measurement(&reading, &m)) rc = clt_fail_memory(error);
    }
    bool learns = reading.n_correct > 0;
    if (rc == CLT_OK && learns)
      rc = clt_sources_add(out, clt_recording_name(recording), reading.known, reading.n, error);
    free(reading.known);
    if (learns) continue;
    clt_log(
        log, log_user, CLT_LOG_WARNING, "the recording '%s' is ignored: %s", clt_recording_name(recording),
        n_known ? "none of its results has a value of the objective" : "its parameters are not those of the kernel");
  }
  return rc;
}

/* --- the store --- */

#define MOST 8           /* keys to read */
#define LEAST_CORRECT 10 /* measurements; a key with fewer is ignored */

/* In order of preference: the same text, this device, near sizes, many measurements. */
static int by_worth(const void *a, const void *b) {
  const clt_related *x = a, *y = b;
  if (x->same_text != y->same_text) return y->same_text - x->same_text;
  if (x->same_device != y->same_device) return y->same_device - x->same_device;
  if (x->distance != y->distance) return x->distance < y->distance ? -1 : 1;
  if (x->d.n_records != y->d.n_records) return x->d.n_records < y->d.n_records ? 1 : -1;
  int order = strcmp(x->d.key.problem, y->d.key.problem);
  if (order == 0) order = strcmp(x->d.key.device, y->d.key.device);
  return order ? order : strcmp(x->d.key.driver, y->d.key.driver);
}

static int count_record(void *user, clt_record_kind kind, const clt_measurement *m) {
  (void)kind, (void)m;
  ++*(uint64_t *)user;
  return 0;
}

int clt_sources_add_stored(clt_sources *out, const clt_space *space, const clt_objective *objective, clt_store *store,
                           const clt_related_query *query, clt_log_fn log, void *log_user, clt_error *error) {
  clt_related_list related = {0};
  int rc = clt_related_add(&related, store, query, error);
  for (size_t i = 0; rc == CLT_OK && store->before_s && i < related.n; i++) { /* counts only the earlier records */
    related.all[i].d.n_records = 0;
    rc = clt_store_each(store, &related.all[i].d.key, space, count_record, &related.all[i].d.n_records, NULL, error);
  }
  if (related.n) qsort(related.all, related.n, sizeof *related.all, by_worth);
  for (size_t i = 0, n_read = 0; rc == CLT_OK && i < related.n && n_read < MOST; i++) {
    const clt_related *c = &related.all[i];
    struct reading reading = {.objective = objective};
    clt_store_answers answers = {0};
    bool repeats = c->d.n_records < LEAST_CORRECT;
    for (size_t k = 0; k < i && !repeats; k++) repeats = clt_store_same_key(&related.all[k].d.key, &c->d.key);
    if (repeats) continue;
    n_read++;
    rc = clt_store_newest(&answers, store, &c->d.key, space, false, NULL, error);
    for (size_t k = 0; rc == CLT_OK && k < answers.n; k++)
      if (answers.all[k].newest && read_measurement(&reading, answers.all[k].newest)) rc = clt_fail_memory(error);
    /* If most records do not match the space, the key is of a kernel with other parameters. */
    if (rc == CLT_OK && reading.n_correct >= LEAST_CORRECT && reading.n >= answers.n_foreign) {
      rc = clt_sources_add(out, c->d.key.device, reading.known, reading.n, error);
      if (rc == CLT_OK && c->same_text)
        clt_log(log, log_user, CLT_LOG_INFO, "learns from %zu measurement%s on %s, driver %s", reading.n,
                CLT_PLURAL(reading.n), c->d.key.device, c->d.key.driver);
      else if (rc == CLT_OK)
        clt_log(log, log_user, CLT_LOG_INFO,
                "learns from %zu measurement%s on %s, driver %s, with another text or other sizes (%s)", reading.n,
                CLT_PLURAL(reading.n), c->d.key.device, c->d.key.driver, c->d.sizes);
    }
    clt_store_answers_release(&answers);
    free(reading.known);
  }
  clt_related_release(&related);
  return rc;
}
