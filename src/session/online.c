/* One configuration at a time, measured by the application. */
#include <clatune/objective.h>
#include <clatune/online.h>
#include <clatune/sys/searcher.h>
#include <clatune/tune.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/memory.h"
#include "session/known.h"

#define DEFAULT_BUDGET 100
#define DEFAULT_TOLERANCE 0.02
#define CONFIDENCE 0.9

/* Given to the application, and not answered. */
typedef struct outstanding {
  clt_config asked, canonical;
} outstanding;

struct clt_online {
  pthread_mutex_t mutex;
  const clt_space *space;
  clt_store *store; /* NULL: none */
  clt_store_key key;
  const clt_searcher_type *searcher;
  void *options, *state; /* state is NULL unless initialised */
  clt_known known;
  int64_t budget, n_begun;
  clt_config first; /* CLT_CONFIG_NONE: it was given already */
  clt_config fallback;
  outstanding *given;
  size_t n_given, capacity;
  clt_objective *objective;
  clt_config best;
  double best_s, best_cost;
  bool over;
};

/* --- making --- */

static int make_options(clt_online *o, const clt_online_settings *s, clt_error *error) {
  const clt_searcher_type *type = clt_searcher_find(s->searcher ? s->searcher : CLT_DEFAULT_SEARCHER);
  if (type == NULL) return clt_fail(error, CLT_E_NOT_FOUND, "there is no searcher '%.64s'", s->searcher);
  o->options = clt_new_array(1, type->options_size);
  if (o->options == NULL) return clt_fail_memory(error);
  o->searcher = type;
  return clt_options_parse(o->options, type->options_size, type->options, type->n_options, s->searcher_settings,
                           s->n_searcher_settings, error);
}

static int start_searcher(clt_online *o, const clt_online_settings *s, clt_error *error) {
  const clt_search_setup setup = {.space = o->space,
                                  .instance = s->instance,
                                  .budget = o->budget,
                                  .first = o->first,
                                  .seed = s->seed,
                                  .threads = s->threads,
                                  .tolerance = s->tolerance > 0 ? s->tolerance : DEFAULT_TOLERANCE,
                                  .confidence = CONFIDENCE};
  o->state = clt_new_array(1, o->searcher->state_size);
  if (o->state == NULL) return clt_fail_memory(error);
  return o->searcher->init(o->state, &setup, o->options, error);
}

static int load_known(clt_online *o, const clt_online_settings *s, clt_error *error) {
  if (s->store == NULL) return CLT_OK;
  if (s->instance == NULL) return clt_fail(error, CLT_E_ARGUMENT, "a store needs an instance with a device");
  int rc = clt_store_key_init(&o->key, s->instance, error);
  if (rc == CLT_OK) rc = clt_known_load(&o->known, s->store, &o->key, o->space, error);
  if (rc == CLT_OK) o->store = s->store;
  return rc;
}

static int make_objective(clt_online *o, const clt_online_settings *s, clt_error *error) {
  int rc = s->instance ? clt_objective_new(&o->objective, s->instance, s->objective, error)
                       : clt_objective_new_for(&o->objective, o->space, NULL, 0, s->objective, error);
  if (rc == CLT_OK && clt_objective_needs_energy(o->objective))
    rc =
        clt_fail(error, CLT_E_UNSUPPORTED, "the objective '%.200s' needs energy, which an application is not asked for",
                 clt_objective_name(o->objective));
  return rc;
}

int clt_online_new(clt_online **out, const clt_online_settings *s, clt_error *error) {
  clt_online *o = calloc(1, sizeof *o);
  if (o == NULL) return clt_fail_memory(error);
  pthread_mutex_init(&o->mutex, NULL);
  o->space = s->instance ? clt_instance_space(s->instance) : s->space;
  o->budget = s->budget > 0 ? s->budget : DEFAULT_BUDGET;
  o->best = CLT_CONFIG_NONE;
  int rc = CLT_OK;
  if (clt_space_valid(o->space) == 0)
    rc = clt_fail(error, CLT_E_NO_VALID, "no configuration satisfies all constraints");
  if (rc == CLT_OK) {
    clt_config standard = s->instance ? clt_instance_default(s->instance) : clt_space_at(o->space, 0);
    o->first = clt_space_contains(o->space, standard) ? standard : CLT_CONFIG_NONE;
    o->fallback = o->first != CLT_CONFIG_NONE ? o->first : clt_space_at(o->space, 0);
    rc = make_options(o, s, error);
  }
  if (rc == CLT_OK) rc = make_objective(o, s, error);
  if (rc == CLT_OK) rc = load_known(o, s, error);
  if (rc == CLT_OK) rc = start_searcher(o, s, error);
  if (rc) {
    clt_online_free(o);
  } else {
    *out = o;
  }
  return rc;
}

void clt_online_free(clt_online *o) {
  if (o == NULL) return;
  if (o->state) o->searcher->fini(o->state);
  free(o->state);
  free(o->options);
  clt_known_release(&o->known);
  clt_objective_free(o->objective);
  free(o->given);
  pthread_mutex_destroy(&o->mutex);
  free(o);
}

/* --- answering --- */

static void note_best(clt_online *o, const clt_measurement *m, double cost) {
  if (isnan(cost) || (o->best != CLT_CONFIG_NONE && cost >= o->best_cost)) return;
  o->best = m->config;
  o->best_s = m->time_s;
  o->best_cost = cost;
}

/* m is borrowed, and a canonical configuration's; the searcher hears of it by the name that it asked for, and of its
 * cost as if that were its time. */
static int answer(clt_online *o, clt_config asked, const clt_measurement *m, clt_error *error) {
  clt_measurement told = *m;
  if (clt_measurement_correct(m)) {
    double cost = clt_objective_cost(o->objective, m);
    note_best(o, m, cost);
    told.time_s = cost;
    if (isnan(cost)) told.reason = CLT_REASON_UNKNOWN;
  }
  told.config = asked;
  return o->searcher->tell(o->state, &told, error);
}

static bool is_given(const clt_online *o, clt_config canonical) {
  for (size_t i = 0; i < o->n_given; i++)
    if (o->given[i].canonical == canonical) return true;
  return false;
}

/* The searcher's next, or the default first; CLT_CONFIG_NONE: none now. */
static int next(clt_online *o, clt_config *out, clt_error *error) {
  size_t n = 1;
  *out = o->first;
  if (o->first != CLT_CONFIG_NONE) return o->first = CLT_CONFIG_NONE, CLT_OK;
  int rc = o->searcher->ask(o->state, 1, out, &n, error);
  if (rc == CLT_OK && n == 0) *out = CLT_CONFIG_NONE;
  return rc;
}

/* Gives a configuration away, or answers what is known or on its way already. */
static int begin(clt_online *o, clt_config asked, clt_config *out, clt_error *error) {
  clt_config canonical = clt_space_canonical(o->space, asked);
  clt_measurement known;
  o->n_begun++;
  if (clt_known_take(&o->known, canonical, &known) != CLT_KNOWN_NOT) {
    int rc = answer(o, asked, &known, error);
    clt_measurement_release(&known);
    return rc;
  }
  if (clt_grow(&o->given, &o->capacity, o->n_given + 1, sizeof *o->given)) return clt_fail_memory(error);
  if (!is_given(o, canonical)) *out = canonical;
  o->given[o->n_given++] = (outstanding){asked, canonical};
  return CLT_OK;
}

static int explore(clt_online *o, clt_config *out, clt_error *error) {
  while (*out == CLT_CONFIG_NONE && !o->over) {
    clt_config asked = CLT_CONFIG_NONE;
    int rc = o->n_begun < o->budget ? next(o, &asked, error) : CLT_OK;
    if (rc) return rc;
    if (asked == CLT_CONFIG_NONE) {
      o->over = o->n_given == 0;
      return CLT_OK;
    }
    rc = begin(o, asked, out, error);
    if (rc) return rc;
  }
  return CLT_OK;
}

int clt_online_ask(clt_online *o, clt_config *config, bool *exploring, clt_error *error) {
  clt_config chosen = CLT_CONFIG_NONE;
  pthread_mutex_lock(&o->mutex);
  int rc = explore(o, &chosen, error);
  if (rc == CLT_OK) {
    *exploring = chosen != CLT_CONFIG_NONE;
    *config = *exploring ? chosen : o->best != CLT_CONFIG_NONE ? o->best : o->fallback;
  }
  pthread_mutex_unlock(&o->mutex);
  return rc;
}

/* Answers everybody who waits for this configuration. */
static int take(clt_online *o, const clt_measurement *m, clt_error *error) {
  size_t kept = 0;
  bool found = is_given(o, m->config);
  int rc =
      found ? CLT_OK : clt_fail(error, CLT_E_ARGUMENT, "this configuration was not asked for, or is answered already");
  if (rc == CLT_OK && o->store) rc = clt_store_add(o->store, &o->key, o->space, CLT_RECORD_SEARCH, m, error);
  if (rc == CLT_OK) rc = clt_known_add(&o->known, m, error);
  for (size_t i = 0; i < o->n_given; i++) {
    if (rc == CLT_OK && o->given[i].canonical == m->config)
      rc = answer(o, o->given[i].asked, m, error);
    else
      o->given[kept++] = o->given[i];
  }
  o->n_given = kept;
  return rc;
}

static int take_locked(clt_online *o, const clt_measurement *m, clt_error *error) {
  pthread_mutex_lock(&o->mutex);
  int rc = take(o, m, error);
  pthread_mutex_unlock(&o->mutex);
  return rc;
}

int clt_online_tell(clt_online *o, clt_config config, double time_s, clt_error *error) {
  clt_measurement m;
  if (!(isfinite(time_s) && time_s > 0))
    return clt_fail(error, CLT_E_ARGUMENT, "a time is a number of seconds above 0");
  clt_measurement_init(&m, config);
  m.time_s = m.runs_s[0] = time_s;
  m.n_runs = 1;
  m.clock = CLT_CLOCK_HOST;
  return take_locked(o, &m, error);
}

int clt_online_fail(clt_online *o, clt_config config, clt_reason reason, clt_error *error) {
  clt_measurement m;
  if (reason <= CLT_REASON_NONE || reason >= CLT_N_REASONS)
    return clt_fail(error, CLT_E_ARGUMENT, "a failure needs a reason");
  clt_measurement_init(&m, config);
  clt_measurement_fail(&m, reason, NULL);
  int rc = take_locked(o, &m, error);
  clt_measurement_release(&m);
  return rc;
}

bool clt_online_best(clt_online *o, clt_config *config, double *time_s) {
  pthread_mutex_lock(&o->mutex);
  bool known = o->best != CLT_CONFIG_NONE;
  if (known) *config = o->best;
  if (known && time_s) *time_s = o->best_s;
  pthread_mutex_unlock(&o->mutex);
  return known;
}

bool clt_online_over(clt_online *o) {
  pthread_mutex_lock(&o->mutex);
  bool over = o->over;
  pthread_mutex_unlock(&o->mutex);
  return over;
}
