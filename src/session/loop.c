/* The search loop: ask, look up or measure, record, tell. */
#include "session/loop.h"

#include <clatune/tune.h>

#include "base/base.h"
#include "base/hash.h"
#include "base/plugin.h"
#include "base/text.h"
#include "eval/evaluators.h"
#include "measurement/measurement.h"
#include "problem/load.h"
#include "search/search.h"
#include "store/pq.h"

/* --- opening --- */

int clt_loop_choose_searcher(clt_search_loop *l, const char *name, const clt_problem *problem,
                             const clt_setting *settings, size_t n, clt_error *error) {
  size_t n_stated;
  l->searcher = clt_searcher_find(name);
  if (l->searcher == NULL) return clt_fail(error, CLT_E_NOT_FOUND, "there is no searcher '%.64s'", name);
  int rc = clt_plugin_options(&l->options, &n_stated, l->searcher->options, l->searcher->n_options,
                              l->searcher->options_size, problem, settings, n, error);
  l->default_options = n_stated == 0;
  return rc;
}

static bool costs_of(const void *objective, const clt_measurement *m, double *out) {
  return clt_objective_costs(objective, m, out);
}

int clt_loop_start(clt_search_loop *l, clt_search_setup setup, clt_error *error) {
  l->evaluated = clt_new_array(l->n_initial, sizeof *l->evaluated);
  l->initial_answers = clt_new_array(l->n_initial, sizeof *l->initial_answers);
  if (l->evaluated == NULL || l->initial_answers == NULL) return clt_fail_memory(error);
  if (clt_grow(&l->queue, &l->queue_capacity, l->n_list, sizeof *l->queue)) return clt_fail_memory(error);
  for (; l->n_queue < l->n_list; l->n_queue++) l->queue[l->n_queue] = l->list[l->n_queue];
  for (size_t i = 0; i < l->n_initial; i++) l->evaluated[i] = clt_space_canonical(l->space, l->initial[i]);
  if (l->n_initial > 0 && l->has_default) clt_known_insist(&l->known, l->evaluated[0]);
  setup.space = l->space;
  setup.budget = l->budget;
  setup.evaluated = l->evaluated;
  setup.n_evaluated = l->n_initial;
  setup.has_default = l->has_default;
  setup.n_objectives = clt_objective_n(l->objective);
  setup.costs = costs_of;
  setup.costs_user = l->objective;
  l->state = clt_new_array(1, l->searcher->state_size);
  if (l->state == NULL) return clt_fail_memory(error);
  return l->searcher->init(l->state, &setup, l->options, error);
}

void clt_loop_release(clt_search_loop *l) {
  if (l->reuses) clt_lock_close(&l->claims);
  if (l->state) l->searcher->fini(l->state);
  free(l->state);
  free(l->options);
  clt_known_release(&l->known);
  clt_objective_free(l->objective);
  free(l->initial);
  free(l->evaluated);
  free(l->initial_answers);
  free(l->queue);
  free(l->pending);
}

/* --- repeated measurements --- */

int clt_loop_note_lost(void *loop, clt_config config, clt_error *error) {
  clt_search_loop *l = loop;
  clt_measurement m;
  int rc = clt_known_add_attempt(&l->known, config, error);
  if (rc || l->store == NULL) return rc;
  clt_measurement_init(&m, config);
  clt_measurement_fail(&m, CLT_REASON_RUN_CRASH, "the worker process ended; the configuration is tried once more");
  rc = clt_store_add(l->store, &l->key, l->space, CLT_RECORD_ATTEMPT, &m, error);
  clt_measurement_release(&m);
  return rc;
}

unsigned clt_loop_attempts(void *loop, clt_config config) {
  return clt_known_attempts(&((clt_search_loop *)loop)->known, config);
}

static double cost_of(const clt_search_loop *l, const clt_measurement *m) {
  return clt_measurement_correct(m) ? clt_objective_cost(l->objective, m) : NAN;
}

/* A smaller error cannot mislead the final comparison, which has all configurations within a wider range. */
#define SURPRISING 0.2

int clt_loop_doubt(clt_search_loop *l, clt_measurement *m, double best_cost, bool *again, clt_error *error) {
  clt_measurement first;
  *again = false;
  if (clt_known_take_first(&l->known, m->config, &first)) {
    const bool worse = clt_measurement_correct(m) && cost_of(l, &first) > cost_of(l, m);
    m->use = first.use; /* a driver that finds the program in its cache does not say it again */
    clt_measurement_release(worse ? m : &first);
    if (worse) *m = first;
    return CLT_OK;
  }
  /* Another tuner may have answered meanwhile. */
  *again = !clt_known_has(&l->known, m->config) && cost_of(l, m) < best_cost * (1 - fmax(clt_spread(m), SURPRISING));
  return *again ? clt_known_keep_first(&l->known, m, error) : CLT_OK;
}

/* --- several tuners --- */

#define PATIENCE_S 60 /* until a configuration claimed by another tuner is measured here too */

/* Reads the records that other processes have added. */
static int read_news(clt_search_loop *l, clt_error *error) {
  uint64_t version;
  int rc = clt_store_version(l->store, &version, error);
  if (rc || version == l->version) return rc;
  rc = clt_known_load(&l->known, l->store, &l->key, l->space, clt_objective_needs_energy(l->objective), error);
  if (rc == CLT_OK) l->version = version;
  return rc;
}

int clt_loop_reuse(clt_search_loop *l, bool wait, clt_error *error) {
  const char *place = clt_store_path(l->store);
  char *path = NULL;
  if (wait) path = clt_pq_is_url(place) ? strdup(place) : realpath(place, NULL);
  l->reuses = true;
  l->known.objective = l->objective;
  l->version = UINT64_MAX; /* differs from every store's version */
  l->claims = (clt_device_lock){.fd = -1};
  /* Without a place for locks, both measure. */
  if (path) clt_lock_open(&l->claims, "claims", NULL);
  if (path) l->claims_hash = clt_hash64(path, strlen(path));
  const char *texts[] = {l->key.problem, l->key.device, l->key.driver};
  for (size_t i = 0; i < 3; i++) l->claims_hash = l->claims_hash * 31 + clt_hash64(texts[i], strlen(texts[i]));
  free(path);
  return read_news(l, error);
}

static uint64_t claim_of(const clt_search_loop *l, clt_config config) {
  char *text = NULL;
  if (l->claims.fd < 0 || clt_config_text(&text, l->space, config, NULL)) return 0;
  uint64_t hash = clt_hash64(text, strlen(text)) ^ l->claims_hash;
  free(text);
  return hash;
}

/* *origin: whether the configuration is known by now; if not, *claimed: whether this tuner measures it. Claims first,
 * then looks: another holder releases its claim only after it has stored the answer. */
static int claim_or_take(clt_search_loop *l, clt_config config, clt_origin *origin, clt_measurement *known,
                         bool *claimed, clt_error *error) {
  *origin = clt_known_take(&l->known, config, known);
  *claimed = true;
  if (*origin != CLT_NOT_KNOWN || !l->reuses) return CLT_OK;
  uint64_t claim = claim_of(l, config);
  *claimed = clt_lock_claim(&l->claims, claim);
  int rc = read_news(l, error);
  if (rc == CLT_OK) *origin = clt_known_take(&l->known, config, known);
  if (*claimed && *origin != CLT_NOT_KNOWN) clt_lock_disclaim(&l->claims, claim);
  return rc;
}

/* --- telling --- */

static int tell_searcher(clt_search_loop *l, clt_config config, const clt_measurement *m, clt_error *error) {
  double start_s = clt_now_s();
  int rc = l->list ? CLT_OK : l->searcher->tell(l->state, config, cost_of(l, m), m, error);
  l->search_s += clt_now_s() - start_s;
  return rc;
}

/* Initial answers are told when all are there, in the order of the list, so that the order of results does not matter.
 */
static int answer_one(clt_search_loop *l, clt_config asked, size_t initial, const clt_measurement *m, clt_origin origin,
                      clt_error *error) {
  int rc = CLT_OK;
  if (initial == CLT_NOT_INITIAL) {
    rc = tell_searcher(l, asked, m, error);
  } else if (initial != CLT_REFUTED) {
    l->initial_answers[initial] = *m;
    l->initial_answers[initial].log = NULL;
  }
  if (rc == CLT_OK) rc = l->on_answer(l->user, asked, cost_of(l, m), m, origin, error);
  l->n_initial_answered += initial < CLT_REFUTED;
  return rc;
}

/* --- asking --- */

/* The next configuration to evaluate; CLT_CONFIG_NONE: none now. */
static int next_asked(clt_search_loop *l, size_t batch, clt_config *out, size_t *initial, clt_error *error) {
  int rc = CLT_OK;
  *out = CLT_CONFIG_NONE;
  *initial = CLT_NOT_INITIAL;
  if (l->n_initial_begun < l->n_initial) {
    if (l->n_initial_begun == 1 && l->has_default && l->n_initial_answered == 0) return CLT_OK;
    *initial = l->n_initial_begun++;
    *out = l->initial[*initial];
    return CLT_OK;
  }
  if (l->n_initial_answered < l->n_initial) return CLT_OK;
  for (size_t i = 0; rc == CLT_OK && !l->told_initial && i < l->n_initial; i++)
    rc = tell_searcher(l, l->evaluated[i], &l->initial_answers[i], error);
  l->told_initial = true;
  if (rc == CLT_OK) *out = clt_known_next_refuted(&l->known);
  if (*out != CLT_CONFIG_NONE) {
    *initial = CLT_REFUTED;
    return rc;
  }
  if (rc == CLT_OK && l->queue_next == l->n_queue && l->list == NULL) {
    int64_t left = l->budget - l->n_begun;
    size_t n = (int64_t)batch < left ? batch : (size_t)left;
    l->n_queue = l->queue_next = 0;
    if (clt_grow(&l->queue, &l->queue_capacity, n, sizeof *l->queue)) return clt_fail_memory(error);
    double start_s = clt_now_s();
    rc = l->searcher->ask(l->state, n, l->queue, &l->n_queue, error);
    l->search_s += clt_now_s() - start_s;
  }
  if (rc == CLT_OK && l->queue_next < l->n_queue) *out = l->queue[l->queue_next++];
  return rc;
}

static bool is_pending(const clt_search_loop *l, clt_config canonical) {
  for (size_t i = 0; i < l->n_pending; i++)
    if (l->pending[i].canonical == canonical) return true;
  return false;
}

/* Answers everything that waits for the configuration: the first with `origin`, the others as known. */
static int answer_pending(clt_search_loop *l, const clt_measurement *m, clt_origin origin, clt_error *error) {
  size_t kept = 0, n = l->n_pending;
  int rc = CLT_OK;
  for (size_t i = 0; i < n; i++) {
    clt_pending pending = l->pending[i];
    if (rc || pending.canonical != m->config) {
      l->pending[kept++] = pending;
      continue;
    }
    l->n_measuring -= pending.measuring;
    l->n_elsewhere -= pending.elsewhere_s > 0;
    rc = answer_one(l, pending.asked, pending.initial, m, origin, error);
    origin = CLT_FROM_SESSION;
  }
  l->n_pending = kept;
  return rc;
}

/* Looks for answers of other tuners, and takes over configurations whose tuner has gone (*out). */
static int look_elsewhere(clt_search_loop *l, clt_config *out, clt_error *error) {
  for (size_t i = 0; i < l->n_pending && l->n_elsewhere > 0; i++) {
    clt_pending *pending = &l->pending[i];
    clt_measurement known;
    clt_origin origin;
    bool claimed;
    if (pending->elsewhere_s == 0) continue;
    int rc = claim_or_take(l, pending->canonical, &origin, &known, &claimed, error);
    if (rc) return rc;
    if (origin != CLT_NOT_KNOWN) {
      rc = answer_pending(l, &known, origin, error);
      clt_measurement_release(&known);
      if (rc) return rc;
      i = SIZE_MAX; /* they have moved */
    } else if (claimed || clt_now_s() - pending->elsewhere_s > PATIENCE_S) {
      pending->elsewhere_s = 0;
      l->n_elsewhere--;
      *out = pending->canonical;
      return CLT_OK;
    }
  }
  return CLT_OK;
}

int clt_loop_next(clt_search_loop *l, size_t batch, clt_config *out, clt_error *error) {
  *out = CLT_CONFIG_NONE;
  int rc = look_elsewhere(l, out, error);
  if (rc || *out != CLT_CONFIG_NONE) return rc;
  if (batch == 0) batch = 1; /* a place has just become free */
  if (l->budget < INT64_MAX) l->budget += (int64_t)(l->known.n_refuted - l->n_refuted);
  l->n_refuted = l->known.n_refuted;
  while (l->n_begun < l->budget && l->may_begin(l->user)) {
    clt_config asked;
    clt_measurement known;
    clt_origin origin = CLT_NOT_KNOWN;
    size_t initial;
    bool claimed = true;
    rc = next_asked(l, batch, &asked, &initial, error);
    if (rc || asked == CLT_CONFIG_NONE) return rc;
    if (!clt_space_contains(l->space, asked))
      return clt_fail(error, CLT_E_ARGUMENT, "a configuration from %s is not in the space",
                      l->list ? "the list" : l->searcher->name);
    clt_config canonical = clt_space_canonical(l->space, asked);
    bool waits = is_pending(l, canonical);
    if (!waits) rc = claim_or_take(l, canonical, &origin, &known, &claimed, error);
    if (rc) return rc;
    l->n_begun++;
    l->known.n_taken++;
    if (origin != CLT_NOT_KNOWN) {
      rc = answer_one(l, asked, initial, &known, origin, error);
      clt_measurement_release(&known);
      if (rc) return rc;
      continue;
    }
    if (clt_grow(&l->pending, &l->pending_capacity, l->n_pending + 1, sizeof *l->pending))
      return clt_fail_memory(error);
    l->pending[l->n_pending++] = (clt_pending){asked, canonical, initial, !waits, claimed ? 0 : clt_now_s()};
    if (waits) continue;
    l->n_measuring++;
    l->n_elsewhere += !claimed;
    if (!claimed) continue;
    *out = canonical;
    return CLT_OK;
  }
  return CLT_OK;
}

int clt_loop_answer(clt_search_loop *l, const clt_measurement *m, clt_error *error) {
  clt_measurement theirs;
  clt_origin origin = CLT_NOT_KNOWN;
  if (!is_pending(l, m->config))
    return clt_fail(error, CLT_E_ARGUMENT, "this configuration was not proposed, or already has a result");
  /* Another tuner may have been faster. */
  int rc = l->reuses ? read_news(l, error) : CLT_OK;
  if (rc == CLT_OK && !clt_known_is_claim(&l->known, m->config)) origin = clt_known_take(&l->known, m->config, &theirs);
  if (rc == CLT_OK && origin == CLT_NOT_KNOWN) {
    if (l->store) rc = clt_store_add(l->store, &l->key, l->space, CLT_RECORD_SEARCH, m, error);
    if (rc == CLT_OK) rc = clt_known_add(&l->known, m, error);
  }
  if (l->reuses) clt_lock_disclaim(&l->claims, claim_of(l, m->config));
  if (rc == CLT_OK) rc = answer_pending(l, origin == CLT_NOT_KNOWN ? m : &theirs, origin, error);
  if (origin != CLT_NOT_KNOWN) clt_measurement_release(&theirs);
  return rc;
}

/* --- the searcher and the evaluator of a session, and their options --- */

#define MAX_OPTION_NAMES 256

const char *clt_tune_evaluator(const char *chosen, const clt_problem *problem) {
  if (chosen) return chosen;
  return problem && clt_problem_is_command(problem) ? "command" : "opencl";
}

const char *clt_tune_searcher(const char *chosen, const clt_problem *problem) {
  if (chosen == NULL && problem) chosen = clt_problem_guidance(problem)->searcher;
  return chosen ? chosen : CLT_DEFAULT_SEARCHER;
}

/* Refuses options that no searcher and no evaluator has. Those of others than the chosen ones do no harm. */
static int check_strategy(const clt_problem *problem, clt_error *error) {
  const clt_plugins *const kinds[] = {&clt_searchers, &clt_evaluators};
  const char *names[MAX_OPTION_NAMES];
  size_t n = 0;
  for (size_t k = 0; k < 2; k++)
    for (size_t i = 0; i < clt_n_plugins(kinds[k]); i++) {
      const clt_option_table table = clt_plugin_table(kinds[k], i);
      for (size_t o = 0; o < table.n && n < MAX_OPTION_NAMES; o++) names[n++] = table.options[o].name;
    }
  for (size_t i = 0; i < problem->guidance.n_settings; i++) {
    const char *name = problem->guidance.settings[i].name;
    size_t k = 0;
    while (k < n && strcmp(names[k], name) != 0) k++;
    if (k < n) continue;
    const char *near = clt_nearest_name(name, names, n);
    return clt_key_fail(&problem->source, "Strategy", CLT_E_FORMAT, error,
                        "no searcher and no evaluator has the option \"%s\"%s%s%s", name, CLT_DID_YOU_MEAN("\"", near));
  }
  return CLT_OK;
}

int clt_plugin_options(void **out, size_t *n_stated, const clt_option *table, size_t n_table, size_t options_size,
                       const clt_problem *problem, const clt_setting *settings, size_t n_settings, clt_error *error) {
  size_t n = 0, n_problem = problem ? problem->guidance.n_settings : 0;
  clt_setting *all = clt_new_array(n_problem + n_settings, sizeof *all);
  *out = clt_new_array(1, options_size);
  int rc = all && *out ? CLT_OK : clt_fail_memory(error);
  if (rc == CLT_OK && problem) rc = check_strategy(problem, error);
  for (size_t i = 0; rc == CLT_OK && i < n_problem; i++) {
    clt_setting setting = problem->guidance.settings[i];
    for (size_t k = 0; k < n_table; k++)
      if (strcmp(table[k].name, setting.name) == 0) all[n++] = setting;
  }
  for (size_t i = 0; rc == CLT_OK && i < n_settings; i++) all[n++] = settings[i];
  if (rc == CLT_OK) rc = clt_options_parse(*out, options_size, table, n_table, all, n, error);
  if (n_stated) *n_stated = n;
  free(all);
  return rc;
}
