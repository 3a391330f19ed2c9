/* The end of a session: the fastest few side by side, on other data too. */
#include <math.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/fail.h"
#include "base/memory.h"
#include "session/session.h"

#define WINDOW 0.5     /* slower ones than this are no finalists, even where runs are noisy */
#define MAX_ATTEMPTS 4 /* how often the next best take the place of rejected ones */
#define MIN_ROUNDS 5
#define MAX_ROUNDS 2000
#define MAX_TOTAL_S 20.0
#define SHARE_OF_TIME 0.1   /* of the user's time limit */
#define SHARE_OF_SEARCH 0.5 /* of what the search took, or */
#define ALWAYS_S 2.0        /* so long */
#define NOISY 0.05          /* a spread of runs from which on medians rank better than the least runs */
#define NOISE_FACTOR 2.0    /* of the spread: how far down in the ranking the fastest may stand */
#define MOST_FINALISTS 32   /* however noisy */

typedef struct finals {
  clt_config *configs; /* of this attempt: the field from the ranking, then the companions */
  clt_measurement *measurements;
  size_t n, n_field;
  size_t next;            /* in the ranking: the first that has not been in the field */
  size_t n_standing;      /* of the field: correct, compared again if others have to be replaced */
  size_t n_rejected;      /* of the field, in this attempt */
  size_t n_crowded;       /* of the field, in all attempts: ran out of memory beside the others, so nothing is known */
  clt_config beside;      /* what the searcher wants timed beside the winner; CLT_CONFIG_NONE: nothing */
  clt_measurement leader; /* config CLT_CONFIG_NONE: none yet */
} finals;

static double cost_of(const clt_session *s, const clt_measurement *m) {
  return clt_measurement_correct(m) ? clt_objective_cost(s->loop.objective, m) : NAN;
}

static int by_rank(const void *a, const void *b) {
  const clt_ranked *x = a, *y = b;
  if (x->rank != y->rank) return (x->rank > y->rank) - (x->rank < y->rank);
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
  if (s->result->has_default) add(f, clt_space_canonical(s->loop.space, s->first));
  if (f->beside != CLT_CONFIG_NONE) add(f, f->beside);
}

/* In the ranking, the fastest that has not been rejected; n_ranked: none is left. */
static size_t first_left(const clt_session *s) {
  size_t i = 0;
  while (i < s->n_ranked && s->ranked[i].rejected) i++;
  return i;
}

/* Those that stand and the next `wanted` of the ranking within the window; and the companions, so that what is said of
 * the winner is measured side by side. */
static void choose(finals *f, const clt_session *s, size_t wanted) {
  size_t first = first_left(s);
  double limit = first < s->n_ranked ? (1 + WINDOW) * s->ranked[first].rank : 0;
  f->n = f->n_standing;
  for (; wanted > 0 && f->next < s->n_ranked && s->ranked[f->next].rank <= limit; f->next++) {
    if (s->ranked[f->next].rejected) continue; /* a companion that failed */
    f->configs[f->n++] = s->ranked[f->next].config;
    wanted--;
  }
  f->n_field = f->n;
  add_companions(f, s);
}

static clt_contest_policy policy(const clt_session *s) {
  double searched_s = clt_now_s() - s->start_s;
  double limit_s = fmin(fmax(SHARE_OF_SEARCH * searched_s, ALWAYS_S), MAX_TOTAL_S);
  /* Without a device, what comes out shall not depend on how much can be computed within the limit of time. */
  unsigned most = s->evaluator->measures_device ? MAX_ROUNDS : CLT_MAX_RUNS;
  clt_contest_policy policy = {MIN_ROUNDS, most, limit_s, s->tolerance, s->loop.objective};
  double share_s = SHARE_OF_TIME * s->settings->time_s;
  if (share_s > 0 && share_s < policy.max_total_s) policy.max_total_s = share_s;
  return policy;
}

static void warn(const clt_session *s, clt_config config, const char *what) {
  char name[512];
  if (s->settings->log == NULL) return;
  clt_config_print(s->loop.space, config, name, sizeof name);
  char *text = clt_format("finalist %s: %s", name, what);
  if (text) s->settings->log(s->settings->user, CLT_LOG_WARNING, text);
  free(text);
}

/* What the result says of the default when that fails is why; of the best random sample, nothing. */
static int update_companions(finals *f, clt_session *s, const clt_measurement *m, clt_error *error) {
  clt_tune_result *result = s->result;
  int rc = CLT_OK;
  if (s->first != CLT_CONFIG_NONE && m->config == clt_space_canonical(s->loop.space, s->first)) {
    rc = clt_session_keep(&result->default_measurement, s->first, m, error);
    if (rc == CLT_OK) result->has_default = clt_measurement_correct(m);
  }
  if (rc || f->beside == CLT_CONFIG_NONE || m->config != f->beside) return rc;
  if (clt_measurement_correct(m)) return clt_session_keep(&result->timed_beside, m->config, m, error);
  f->beside = CLT_CONFIG_NONE;
  clt_measurement_release(&result->timed_beside);
  clt_measurement_init(&result->timed_beside, CLT_CONFIG_NONE);
  return CLT_OK;
}

static void reject(finals *f, clt_session *s, size_t i) {
  clt_config config = f->measurements[i].config;
  for (size_t k = 0; k < s->n_ranked; k++)
    if (s->ranked[k].config == config) s->ranked[k].rejected = true;
  f->n_rejected += i < f->n_field;
  warn(s, config, clt_reason_text(f->measurements[i].reason));
}

/* Out of memory because others were prepared as well is not the configuration's fault. */
static bool is_crowded(const finals *f, size_t i) {
  return f->n > 1 && f->measurements[i].reason == CLT_REASON_OUT_OF_MEMORY;
}

/* A failure is one whatever it was compared for. */
static clt_record_kind kind_of(const clt_session *s, const clt_measurement *m) {
  bool by_time = clt_objective_ranks_by_time(s->loop.objective);
  return by_time || !clt_measurement_correct(m) ? CLT_RECORD_FINALIST : CLT_RECORD_COMPARED;
}

/* Records the i-th finalist and takes it over as leader if it is the fastest. */
static int judge(finals *f, clt_session *s, size_t i, clt_error *error) {
  clt_measurement *measurement = &f->measurements[i];
  int rc = CLT_OK;
  if (is_crowded(f, i)) {
    f->n_crowded += i < f->n_field;
    warn(s, measurement->config, "the memory does not suffice for all finalists at once; it is left out");
    return CLT_OK;
  }
  if (s->loop.store)
    rc = clt_store_add(s->loop.store, &s->loop.key, s->loop.space, kind_of(s, measurement), measurement, error);
  if (rc == CLT_OK) rc = update_companions(f, s, measurement, error);
  if (rc) return rc;
  if (!clt_measurement_correct(measurement)) {
    reject(f, s, i);
    return CLT_OK;
  }
  if (i < f->n_field) f->configs[f->n_standing++] = measurement->config;
  double cost = cost_of(s, measurement);
  if (isnan(cost)) return CLT_OK;
  if (f->leader.config != CLT_CONFIG_NONE && cost_of(s, &f->leader) <= cost) return CLT_OK;
  clt_measurement_release(&f->leader);
  f->leader = *measurement;
  measurement->log = NULL;
  return CLT_OK;
}

/* The old leader's time belongs to other rounds, so it stands only if nobody does in these and it has not failed. */
static void restore(finals *f, clt_measurement *old) {
  bool stands = old->config != CLT_CONFIG_NONE && f->leader.config == CLT_CONFIG_NONE;
  for (size_t i = 0; i < f->n; i++)
    if (f->measurements[i].config == old->config && !is_crowded(f, i)) stands = false;
  if (stands) {
    f->leader = *old;
  } else {
    clt_measurement_release(old);
  }
}

static int compare(finals *f, clt_session *s, clt_error *error) {
  clt_contest_policy how = policy(s);
  int rc = clt_contest_run(s->evaluator, s->evaluator_state, f->configs, f->n, &how, f->measurements, error);
  if (rc) return rc;
  clt_measurement old = f->leader;
  clt_measurement_init(&f->leader, CLT_CONFIG_NONE);
  f->n_rejected = f->n_standing = 0;
  for (size_t i = 0; rc == CLT_OK && i < f->n; i++) rc = judge(f, s, i, error);
  restore(f, &old);
  for (size_t i = 0; i < f->n; i++) clt_measurement_release(&f->measurements[i]);
  return rc;
}

/* The median of the spreads; 0 where nobody ran often enough. */
static int find_noise(double *out, const clt_session *s, clt_error *error) {
  double *spreads = clt_new_array(s->n_ranked, sizeof *spreads);
  size_t n = 0;
  if (spreads == NULL) return clt_fail_memory(error);
  for (size_t i = 0; i < s->n_ranked; i++)
    if (s->ranked[i].spread >= 0) spreads[n++] = s->ranked[i].spread;
  *out = n ? clt_median(spreads, n) : 0;
  free(spreads);
  return CLT_OK;
}

/* By the least run, which is what a quiet device is best judged by. On a noisy one the least of many runs would stand
 * before the least of few. */
static void make_ranking(clt_session *s, double noise) {
  for (size_t i = 0; i < s->n_ranked; i++)
    s->ranked[i].rank = noise > NOISY ? s->ranked[i].median_cost : s->ranked[i].cost;
  qsort(s->ranked, s->n_ranked, sizeof *s->ranked, by_rank);
}

/* Where runs scatter, the fastest may stand far down in the ranking. */
static size_t field_size(const clt_session *s, double noise, size_t most) {
  size_t first = first_left(s), n = 0;
  if (first == s->n_ranked) return s->settings->finalists;
  double limit = s->ranked[first].rank * (1 + NOISE_FACTOR * noise);
  while (n < most && first + n < s->n_ranked && s->ranked[first + n].rank <= limit) n++;
  return n > s->settings->finalists ? n : s->settings->finalists;
}

static int play(finals *f, clt_session *s, size_t most, clt_error *error) {
  double noise = 0;
  if (find_noise(&noise, s, error)) return CLT_E_MEMORY;
  make_ranking(s, noise);
  size_t wanted = field_size(s, noise, most);
  for (int attempt = 0; attempt < MAX_ATTEMPTS && wanted > 0; attempt++) {
    if (clt_session_stopping(s)) return clt_fail(error, CLT_E_STOPPED, "stopped among the finalists");
    choose(f, s, wanted);
    if (f->n_field == f->n_standing) break;
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

/* The search's word stands, but not for what failed since: of that which is next, only time and energy are known. */
static void fall_back(clt_session *s) {
  clt_measurement *best = &s->result->best;
  size_t first = first_left(s);
  clt_config config = first < s->n_ranked ? s->ranked[first].config : CLT_CONFIG_NONE;
  if (best->config == config) return;
  clt_measurement_release(best);
  clt_measurement_init(best, config);
  if (config == CLT_CONFIG_NONE) return;
  best->time_s = s->ranked[first].time_s;
  best->energy_J = s->ranked[first].energy_J;
}

/* What the result's best is, after all attempts or a stop. */
static int conclude(finals *f, clt_session *s, int rc, clt_error *error) {
  bool stands = f->leader.config != CLT_CONFIG_NONE, stopped = rc == CLT_E_STOPPED;
  if (rc && !stopped) return rc;
  if (stands) {
    crown(f, s);
    return rc;
  }
  if (stopped || f->n_crowded > 0) {
    fall_back(s);
    if (stopped || s->result->best.config != CLT_CONFIG_NONE) return rc;
  }
  crown(f, s); /* nobody */
  return clt_fail(error, CLT_E_VERIFY, "all of the %zu fastest configurations fail when run again on other data",
                  f->next);
}

static void find_beside(finals *f, const clt_session *s) {
  clt_search_report report;
  clt_session_report(s, &report);
  f->beside = report.timed_beside;
}

int clt_session_finalists(clt_session *s, clt_error *error) {
  size_t most = s->settings->finalists > MOST_FINALISTS ? s->settings->finalists : MOST_FINALISTS;
  size_t room = most + 2; /* the companions besides */
  if (s->settings->finalists == 0 || s->evaluator->keep == NULL || s->n_ranked == 0) return CLT_OK;
  finals f = {.configs = clt_new_array(room, sizeof *f.configs),
              .measurements = clt_new_array(room, sizeof *f.measurements)};
  clt_measurement_init(&f.leader, CLT_CONFIG_NONE);
  find_beside(&f, s);
  s->in_contest = true;
  int rc = f.configs && f.measurements ? play(&f, s, most, error) : clt_fail_memory(error);
  rc = conclude(&f, s, rc, error);
  clt_measurement_release(&f.leader);
  free(f.configs);
  free(f.measurements);
  s->in_contest = false;
  return rc;
}
