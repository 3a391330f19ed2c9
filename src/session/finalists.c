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
  size_t n;
  size_t next; /* in the ranking: the first that has not been a finalist */
  size_t n_rejected;
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

/* The leader so far and the next `wanted` of the ranking within the window; in the first attempt the default as well,
 * so that the speed-up is measured side by side. */
static void choose(finals *f, const clt_session *s, size_t wanted, bool with_default) {
  f->n = 0;
  if (f->leader.config != CLT_CONFIG_NONE) f->configs[f->n++] = f->leader.config;
  double limit_s = (1 + WINDOW) * s->ranked[f->next < s->n_ranked ? f->next : 0].time_s;
  for (; wanted > 0 && f->next < s->n_ranked && s->ranked[f->next].time_s <= limit_s; wanted--)
    f->configs[f->n++] = s->ranked[f->next++].config;
  if (!with_default || !s->result->has_default) return;
  clt_config standard = clt_space_canonical(s->space, s->first);
  if (!has(f, standard)) f->configs[f->n++] = standard;
}

static clt_compare_policy policy(const clt_session *s) {
  clt_compare_policy policy = {MIN_ROUNDS, MAX_ROUNDS, MAX_TOTAL_S, s->tolerance};
  double share_s = SHARE_OF_TIME * s->settings->time_s;
  if (share_s > 0 && share_s < policy.max_total_s) policy.max_total_s = share_s;
  return policy;
}

static int update_default(clt_session *s, const clt_measurement *measurement, clt_error *error) {
  if (s->first == CLT_CONFIG_NONE || measurement->config != clt_space_canonical(s->space, s->first)) return CLT_OK;
  clt_measurement copy;
  int rc = clt_measurement_copy(&copy, measurement, error);
  if (rc) return rc;
  copy.config = s->first;
  clt_measurement_release(&s->result->default_measurement);
  s->result->default_measurement = copy;
  s->result->has_default = clt_measurement_correct(&copy);
  return CLT_OK;
}

/* Records one finalist and takes it over as leader if it is the fastest. */
static int judge(finals *f, clt_session *s, clt_measurement *measurement, clt_error *error) {
  int rc = CLT_OK;
  if (s->settings->store)
    rc = clt_store_add(s->settings->store, &s->key, s->space, CLT_RECORD_FINALIST, measurement, error);
  if (rc == CLT_OK) rc = update_default(s, measurement, error);
  if (rc) return rc;
  if (!clt_measurement_correct(measurement)) {
    f->n_rejected++;
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
    if (rc == CLT_OK) rc = judge(f, s, &f->measurements[i], error);
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
  size_t room = (size_t)s->settings->finalists + 2; /* the leader and the default besides */
  if (s->settings->finalists == 0 || s->evaluator->compare == NULL || s->n_ranked == 0) return CLT_OK;
  finals f = {.configs = clt_new_array(room, sizeof *f.configs),
              .measurements = clt_new_array(room, sizeof *f.measurements)};
  clt_measurement_init(&f.leader, CLT_CONFIG_NONE);
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
