/* Online tuning: the application measures one configuration at a time. */
#include <clatune/online.h>
#include <pthread.h>

#include "base/base.h"
#include "measurement/measurement.h"
#include "session/session.h"

struct clt_online {
  pthread_mutex_t mutex;
  clt_search_loop loop;
  clt_config fallback; /* until something ran */
  clt_config best;
  double best_s, best_cost;
  bool over;
};

static int on_answer(void *user, clt_config asked, double cost, const clt_measurement *m, clt_origin origin,
                     clt_error *error) {
  (void)asked, (void)error;
  clt_online *o = user;
  if (origin == CLT_NOT_KNOWN && m->config == o->best) o->best = CLT_CONFIG_NONE; /* it was another's claim */
  if (isnan(cost) || (o->best != CLT_CONFIG_NONE && cost >= o->best_cost)) return CLT_OK;
  o->best = m->config;
  o->best_s = m->time_s;
  o->best_cost = cost;
  return CLT_OK;
}

static bool may_begin(void *user) { return !((clt_online *)user)->over; }

int clt_online_new(clt_online **out, const clt_online_settings *settings, clt_error *error) {
  clt_online_settings s;
  int rc = clt_copy_settings(&s, sizeof s, settings, "clt_online_settings", error);
  if (rc) return rc;
  const clt_space *space = s.instance ? clt_instance_space(s.instance) : s.space;
  if (space == NULL) return clt_fail(error, CLT_E_ARGUMENT, "clt_online_settings needs an instance or a space");
  if (s.store && s.instance == NULL) return clt_fail(error, CLT_E_ARGUMENT, "a store needs an instance with a device");
  if (clt_space_valid(space) == 0) return clt_fail(error, CLT_E_NO_VALID, "no configuration satisfies all constraints");
  clt_online *o = calloc(1, sizeof *o);
  clt_config *initial = clt_new_array(1, sizeof *initial);
  if (o == NULL || initial == NULL) {
    free(o);
    free(initial);
    return clt_fail_memory(error);
  }
  initial[0] = s.instance ? clt_instance_default(s.instance) : clt_space_at(space, 0);
  bool has_default = clt_space_contains(space, initial[0]);
  pthread_mutex_init(&o->mutex, NULL);
  o->best = CLT_CONFIG_NONE;
  o->fallback = has_default ? initial[0] : clt_space_at(space, 0);
  o->loop = (clt_search_loop){.space = space,
                              .budget = s.budget > 0 ? s.budget : CLT_DEFAULT_BUDGET,
                              .initial = initial,
                              .n_initial = has_default,
                              .has_default = has_default,
                              .store = s.store,
                              .on_answer = on_answer,
                              .may_begin = may_begin,
                              .user = o};
  clt_search_loop *l = &o->loop;
  rc = clt_loop_choose_searcher(l, s.searcher ? s.searcher : CLT_DEFAULT_SEARCHER, NULL, s.searcher_settings,
                                s.n_searcher_settings, error);
  if (rc == CLT_OK)
    rc = s.instance ? clt_objective_new(&l->objective, s.instance, s.objective, error)
                    : clt_objective_new_for(&l->objective, space, NULL, 0, NULL, s.objective, error);
  if (rc == CLT_OK && clt_objective_needs_energy(l->objective))
    rc = clt_fail(error, CLT_E_UNSUPPORTED, "the objective '%.200s' needs energy, which online tuning does not measure",
                  clt_objective_name(l->objective));
  if (rc == CLT_OK && s.store) rc = clt_store_key_init(&l->key, s.instance, error);
  if (rc == CLT_OK && s.store) rc = clt_loop_reuse(l, false, error);
  const clt_search_setup setup = {.instance = s.instance,
                                  .seed = s.seed,
                                  .threads = s.threads,
                                  .tolerance = s.tolerance > 0 ? s.tolerance : CLT_DEFAULT_TOLERANCE,
                                  .confidence = CLT_DEFAULT_CONFIDENCE};
  if (rc == CLT_OK) rc = clt_loop_start(l, setup, error);
  if (rc == CLT_OK)
    *out = o;
  else
    clt_online_free(o);
  return rc;
}

void clt_online_free(clt_online *o) {
  if (o == NULL) return;
  clt_loop_release(&o->loop);
  pthread_mutex_destroy(&o->mutex);
  free(o);
}

int clt_online_ask(clt_config *config, bool *exploring, clt_online *o, clt_error *error) {
  clt_config chosen = CLT_CONFIG_NONE;
  pthread_mutex_lock(&o->mutex);
  int rc = clt_loop_next(&o->loop, 1, &chosen, error);
  if (rc == CLT_OK) {
    *exploring = chosen != CLT_CONFIG_NONE;
    if (!*exploring && o->loop.n_pending == 0) o->over = true;
    if (!*exploring) chosen = o->best != CLT_CONFIG_NONE ? o->best : o->fallback;
    *config = chosen;
  }
  pthread_mutex_unlock(&o->mutex);
  return rc;
}

static int answer_locked(clt_online *o, const clt_measurement *m, clt_error *error) {
  pthread_mutex_lock(&o->mutex);
  int rc = clt_loop_answer(&o->loop, m, error);
  pthread_mutex_unlock(&o->mutex);
  return rc;
}

int clt_online_tell(clt_online *o, clt_config config, double time_s, clt_error *error) {
  clt_measurement m;
  if (!(isfinite(time_s) && time_s > 0))
    return clt_fail(error, CLT_E_ARGUMENT, "the time must be a number of seconds above 0");
  clt_measurement_init(&m, config);
  m.time_s = m.runs_s[0] = time_s;
  m.n_runs = 1;
  m.clock = CLT_CLOCK_HOST;
  return answer_locked(o, &m, error);
}

int clt_online_fail(clt_online *o, clt_config config, clt_reason reason, clt_error *error) {
  clt_measurement m;
  if (reason <= CLT_REASON_NONE || reason >= CLT_N_REASONS)
    return clt_fail(error, CLT_E_ARGUMENT, "a failure needs a reason other than CLT_REASON_NONE");
  clt_measurement_init(&m, config);
  clt_measurement_fail(&m, reason, NULL);
  int rc = answer_locked(o, &m, error);
  clt_measurement_release(&m);
  return rc;
}

int64_t clt_online_n_answered(clt_online *o) {
  pthread_mutex_lock(&o->mutex);
  int64_t n = o->loop.n_begun - (int64_t)o->loop.n_pending;
  pthread_mutex_unlock(&o->mutex);
  return n;
}

bool clt_online_best(clt_config *config, double *time_s, clt_online *o) {
  pthread_mutex_lock(&o->mutex);
  bool known = o->best != CLT_CONFIG_NONE;
  if (known) *config = o->best;
  if (known && time_s) *time_s = o->best_s;
  pthread_mutex_unlock(&o->mutex);
  return known;
}
