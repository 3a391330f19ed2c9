/* The end of a session: the fastest few side by side, on other data too. */
#include <stdlib.h>

#include "base/fail.h"
#include "base/memory.h"
#include "session/session.h"

#define WINDOW 0.5     /* slower ones than this are no finalists, even where runs are noisy */
#define MAX_ATTEMPTS 4 /* how often the next best take the place of rejected ones */
#define MIN_ROUNDS 5
#define MAX_ROUNDS 30
#define MAX_TOTAL_S 20.0
#define SHARE_OF_TIME 0.1 /* of the user's time limit */

typedef struct finals {
  clt_config *configs; /* of this attempt */
  clt_measurement *measurements;
  size_t n, n_ranked; /* companions stand behind the first n_ranked */
  size_t next; /* in the ranking: the first that has not been a finalist */
  size_t n_rejected;
  bool has_first_stage_best;
  clt_config first_stage_best;
  clt_measurement leader; /* config CLT_CONFIG_NONE: none yet */
} finals;

static int by_time(const void *a, const void *b) {
  const clt_ranked *x = a, *y = b;
  if (x->time_s != y->time_s) return (x->time_s > y->time_s) - (x->time_s < y->time_s);
  return (x->config > y->config) - (x->config < y->config);
}

static bool has(const finals *f, clt_config config) {
  for (size_t i = 0; i < f->n; i++)
    if (f->configs[i] == config) return true;
  return false;
}

static void add(finals *f, clt_config config) {
  if (!has(f, config)) f->configs[f->n++] = config;
}

/* Those that the winner is compared with: the default, and the fastest of the random samples. */
static void add_companions(finals *f, const clt_session *s) {
  if (s->result->has_default) add(f, clt_space_canonical(s->space, s->first));
  if (f->has_first_stage_best) add(f, f->first_stage_best);
}

/* The leader so far and the next `wanted` of the ranking within the window; in the first attempt the companions as
 * well, so that what is said of the winner is measured side by side. */
static void choose(finals *f, const clt_session *s, size_t wanted, bool with_companions) {
  f->n = 0;
  if (f->leader.config != CLT_CONFIG_NONE) f->configs[f->n++] = f->leader.config;
  double limit_s = (1 + WINDOW) * s->ranked[f->next < s->n_ranked ? f->next : 0].time_s;
  for (; wanted > 0 && f->next < s->n_ranked && s->ranked[f->next].time_s <= limit_s; f->next++) {
    if (has(f, s->ranked[f->next].config)) continue;
    f->configs[f->n++] = s->ranked[f->next].config;
    wanted--;
  }
  f->n_ranked = f->n;
  if (with_companions) add_companions(f, s);
}

static clt_compare_policy policy(const clt_session *s) {
  clt_compare_policy policy = {MIN_ROUNDS, MAX_ROUNDS, MAX_TOTAL_S, s->tolerance};
  double share_s = SHARE_OF_TIME * s->settings->time_s;
  if (share_s > 0 && share_s < policy.max_total_s) policy.max_total_s = share_s;
  return policy;
}

static int keep(clt_measurement *out, clt_config config, const clt_measurement *measurement, clt_error *error) {
  clt_measurement copy;
  int rc = clt_measurement_copy(&copy, measurement, error);
  if (rc) return rc;
  copy.config = config;
  clt_measurement_release(out);
  *out = copy;
  return CLT_OK;
}

static int update_companions(const finals *f, clt_session *s, const clt_measurement *m, clt_error *error) {
  int rc = CLT_OK;
  if (s->first != CLT_CONFIG_NONE && m->config == clt_space_canonical(s->space, s->first)) {
    rc = keep(&s->result->default_measurement, s->first, m, error);
    if (rc == CLT_OK) s->result->has_default = clt_measurement_correct(m);
  }
  if (rc == CLT_OK && f->has_first_stage_best && m->config == f->first_stage_best)
    rc = keep(&s->result->first_stage_best, m->config, m, error);
  return rc;
}

/* Records the i-th finalist and takes it over as leader if it is the fastest. */
static int judge(finals *f, clt_session *s, size_t i, clt_error *error) {
  clt_measurement *measurement = &f->measurements[i];
  int rc = CLT_OK;
  if (s->settings->store)
    rc = clt_store_add(s->settings->store, &s->key, s->space, CLT_RECORD_FINALIST, measurement, error);
  if (rc == CLT_OK) rc = update_companions(f, s, measurement, error);
  if (rc) return rc;
  if (!clt_measurement_correct(measurement)) {
    f->n_rejected += i < f->n_ranked;
    if (s->settings->log) s->settings->log(s->settings->user, CLT_LOG_WARNING, "a finalist failed on other data");
    return CLT_OK;
  }
  if (f->leader.config != CLT_CONFIG_NONE && f->leader.time_s <= measurement->time_s) return CLT_OK;
  clt_measurement_release(&f->leader);
  f->leader = *measurement;
  measurement->log = NULL;
  return CLT_OK;
}

static int compare(finals *f, clt_session *s, clt_error *error) {
  clt_compare_policy how = policy(s);
  int rc = s->evaluator->compare(s->evaluator_state, f->configs, f->n, &how, f->measurements, error);
  if (rc) return rc;
  f->n_rejected = 0;
  /* the old leader's time belongs to other rounds */
  clt_measurement_release(&f->leader);
  clt_measurement_init(&f->leader, CLT_CONFIG_NONE);
  for (size_t i = 0; i < f->n; i++) {
    if (rc == CLT_OK) rc = judge(f, s, i, error);
    clt_measurement_release(&f->measurements[i]);
  }
  return rc;
}

static int play(finals *f, clt_session *s, clt_error *error) {
  size_t wanted = s->settings->finalists;
  for (int attempt = 0; attempt < MAX_ATTEMPTS && wanted > 0; attempt++) {
    if (clt_session_stopping(s)) return clt_fail(error, CLT_E_STOPPED, "stopped among the finalists");
    size_t before = f->next;
    choose(f, s, wanted, attempt == 0);
    if (f->next == before) break;
    clt_session_progress(s, NULL);
    int rc = compare(f, s, error);
    if (rc) return rc;
    wanted = f->n_rejected;
  }
  return CLT_OK;
}

static void crown(finals *f, clt_session *s) {
  clt_measurement_release(&s->result->best);
  s->result->best = f->leader;
  s->result->best_is_finalist = f->leader.config != CLT_CONFIG_NONE;
  clt_measurement_init(&f->leader, CLT_CONFIG_NONE);
}

int clt_session_finalists(clt_session *s, clt_error *error) {
  size_t room = (size_t)s->settings->finalists + 3; /* the leader and the companions besides */
  if (s->settings->finalists == 0 || s->evaluator->compare == NULL || s->n_ranked == 0) return CLT_OK;
  finals f = {.configs = clt_new_array(room, sizeof *f.configs),
              .measurements = clt_new_array(room, sizeof *f.measurements)};
  clt_measurement_init(&f.leader, CLT_CONFIG_NONE);
  clt_search_report report = {0};
  if (s->searcher->report) s->searcher->report(s->searcher_state, &report);
  f.has_first_stage_best = report.has_first_stage_best;
  f.first_stage_best = report.first_stage_best;
  s->phase = "finalists";
  qsort(s->ranked, s->n_ranked, sizeof *s->ranked, by_time);
  int rc = f.configs && f.measurements ? play(&f, s, error) : clt_fail_memory(error);
  bool stands = f.leader.config != CLT_CONFIG_NONE;
  if (rc == CLT_OK && !stands)
    rc = clt_fail(error, CLT_E_VERIFY, "all of the %zu fastest configurations fail when run again on other data",
                  f.next);
  if (stands || rc == CLT_E_VERIFY) crown(&f, s);
  clt_measurement_release(&f.leader);
  free(f.configs);
  free(f.measurements);
  s->phase = NULL;
  return rc;
}
