/* Measuring a family: each variant is tuned on a few inputs, the best configurations are measured on all of these, and
 * a portfolio of each variant on every input. All of it goes through the session and its store, so whatever was
 * measured before it was stopped is an answer afterwards. */
#include <clatune/tune.h>

#include "base/base.h"
#include "family/train.h"
#include "worker/pool.h"

#define MAX_TUNED 64 /* inputs that a variant is tuned on */

/* How fast a process is depends on the memory pages that it got, and on what other programs do at the moment, for a
 * tenth of a second or longer: two measurements of an arm differ by a tenth and more, and so do the arms. Therefore
 * arms within NEAR of the shortest time of their input are measured PASSES times, each time in a new process. All
 * passes over a block of inputs are finished before the next block, so that its builds are still in the compiler's
 * cache. */
#define PASSES 5
#define NEAR 1.5
#define BLOCK 8

typedef struct family_run {
  const clt_family *family;
  const clt_family_measuring *how;
  clt_family_input *inputs; /* of the family; without features if they are not wanted */
  bool *wanted;
  clt_family_answers answers; /* on the inputs that variants were tuned on */
  clt_config portfolio[CLT_MAX_ARMS][CLT_MAX_ARMS];
  size_t n_portfolio[CLT_MAX_ARMS];
  double *least_s;          /* the shortest time of all arms on each input, after the latest pass */
  size_t pass, done, total; /* over the inputs; steps */
  size_t n_measured;
  clt_error *error;
} family_run;

static void tell(family_run *r, size_t input, const char *what) {
  char *text = clt_family_input_text(r->family, r->family->inputs + input * r->family->n_parameters),
       *sentence = clt_format("%s: %s", text ? text : "", what);
  if (r->how->tell && sentence) r->how->tell(r->how->user, r->done, r->total, sentence);
  free(text);
  free(sentence);
}

static bool holds(const family_run *r, size_t variant, size_t input) {
  return r->wanted[input] &&
         clt_family_holds(r->family->variants[variant].where, r->inputs[input].features, r->family->n_features);
}

/* Which inputs are measured: all, or so many of each kind, evenly spread; and their features. */
static int read_inputs(family_run *r) {
  const clt_family *f = r->family;
  const clt_family_measuring *how = r->how;
  clt_family_records records;
  int rc = clt_family_records_init(&records, f, how->store, how->device, r->error);
  for (size_t part = 0; part < (how->train_only ? 1 : 2); part++) {
    const size_t first = part ? f->n_train : 0, end = part ? f->n_inputs : f->n_train, n = end - first;
    const size_t most = how->n_inputs && how->n_inputs < n ? how->n_inputs : n;
    for (size_t i = 0; i < most; i++) r->wanted[first + i * n / most] = true;
    r->total += most * PASSES;
  }
  for (size_t i = 0; rc == CLT_OK && i < f->n_inputs; i++) {
    if (!r->wanted[i]) continue;
    if (clt_stop_asked(how->stop)) {
      rc = clt_fail(r->error, CLT_E_STOPPED, "stopped on request");
      break;
    }
    const int64_t *values = f->inputs + i * f->n_parameters;
    clt_error cause = {0};
    rc = clt_family_input_get(&r->inputs[i], f, values, &records, how->device, true, &cause);
    if (rc == CLT_OK && !r->inputs[i].by_one_other) continue;
    clt_family_input_release(&r->inputs[i]);
    tell(r, i, "features");
    rc = clt_family_input_get(&r->inputs[i], f, values, &records, how->device, false, r->error);
  }
  clt_family_records_release(&records);
  return rc;
}

/* Training inputs on which the variant may run, spread over the features: each next one is as far as possible from
 * those before, the first one from nothing. Returns how many. */
static size_t spread_inputs(size_t *out, size_t most, const family_run *r, size_t variant) {
  const clt_family *f = r->family;
  double low[CLT_MAX_FEATURES], high[CLT_MAX_FEATURES];
  size_t n = 0;
  for (size_t k = 0; k < f->n_features; k++) {
    low[k] = INFINITY, high[k] = -INFINITY;
    for (size_t i = 0; i < f->n_train; i++) {
      if (!holds(r, variant, i)) continue;
      low[k] = fmin(low[k], asinh(r->inputs[i].features[k]));
      high[k] = fmax(high[k], asinh(r->inputs[i].features[k]));
    }
  }
  while (n < most) {
    size_t best = f->n_train;
    double best_distance = 0;
    for (size_t i = 0; i < f->n_train; i++) {
      if (!holds(r, variant, i)) continue;
      double nearest = INFINITY;
      for (size_t j = 0; j < n; j++) {
        double sum = 0;
        for (size_t k = 0; k < f->n_features; k++) {
          const double range = high[k] - low[k],
                       apart = asinh(r->inputs[i].features[k]) - asinh(r->inputs[out[j]].features[k]);
          if (range > 0) sum += apart * apart / (range * range);
        }
        nearest = fmin(nearest, sum);
      }
      if (nearest > best_distance) best_distance = nearest, best = i;
    }
    if (best == f->n_train) break;
    out[n++] = best;
  }
  return n;
}

/* The instance of a variant on an input, and its known results. Both belong to the caller, also after a failure. */
static int read_known(family_run *r, clt_instance **instance, clt_family_answers *known, size_t variant, size_t input) {
  *instance = NULL;
  *known = (clt_family_answers){0};
  int rc = clt_family_instance(instance, r->family, variant, &r->inputs[input], r->how->device, r->error);
  return rc ? rc : clt_family_answers_add(known, r->how->store, *instance, input, variant, r->error);
}

/* A session of a variant on an input: with configurations (n 0: none) these alone, even if the store has them,
 * otherwise a search. That all fail is an answer, too. */
static int run_session(family_run *r, const clt_instance *instance, const clt_config *configurations, size_t n) {
  clt_tune_settings s;
  clt_tune_result *result = NULL;
  clt_error cause = {0};
  clt_tune_settings_init(&s);
  s.instance = instance;
  s.evaluator_settings = r->how->settings;
  s.n_evaluator_settings = r->how->n_settings;
  s.store = r->how->store;
  s.configurations = n ? configurations : NULL;
  s.n_configurations = n;
  s.skip_default = n > 0;
  s.budget = n ? 0 : r->how->budget;
  s.no_reuse = n > 0;
  s.no_transfer = n > 0;
  s.finalists = 0;
  s.objective = "";
  s.seed = r->how->seed;
  s.log = r->how->log;
  s.user = r->how->user;
  s.stop = r->how->stop;
  int rc = clt_tune_run(&result, &s, &cause);
  if (rc == CLT_E_NO_VALID && result && (result->evaluations > 0 || result->valid == 0)) rc = CLT_OK;
  clt_tune_result_free(result);
  if (rc) clt_fail(r->error, rc, "%s: %s", clt_problem_name(clt_instance_problem(instance)), cause.message);
  return rc;
}

/* Whether a configuration must be measured in this pass. answer: what is known; NULL: nothing. */
static bool is_wanted(const family_run *r, size_t input, const clt_family_answer *answer) {
  if (r->pass == 0 || answer == NULL) return r->pass == 0 && answer == NULL;
  return isfinite(answer->time_s) && answer->time_s <= NEAR * r->least_s[input] && answer->n_right <= r->pass;
}

/* Measures those of the configurations that are valid on an input and that this pass is for. *least_s (nullable): the
 * least time of all of them. */
static int measure_missing(family_run *r, size_t variant, size_t input, const clt_config *configurations, size_t n,
                           double *least_s) {
  clt_family_answers known;
  clt_instance *instance;
  clt_config *missing = clt_family_alloc(n, sizeof *missing);
  size_t n_missing = 0;
  int rc = read_known(r, &instance, &known, variant, input);
  for (size_t i = 0; rc == CLT_OK && i < n; i++) {
    const clt_space *space = clt_instance_space(instance);
    const clt_config canonical = clt_space_canonical(space, configurations[i]);
    const clt_family_answer *answer = NULL;
    for (size_t k = 0; k < known.n && answer == NULL; k++)
      if (known.all[k].config == canonical) answer = &known.all[k];
    if (clt_space_contains(space, configurations[i]) && is_wanted(r, input, answer))
      missing[n_missing++] = configurations[i];
  }
  if (rc == CLT_OK && n_missing) rc = run_session(r, instance, missing, n_missing);
  r->n_measured += n_missing;
  known.n = 0;
  if (rc == CLT_OK && least_s) rc = clt_family_answers_add(&known, r->how->store, instance, input, variant, r->error);
  if (least_s) *least_s = INFINITY;
  for (size_t i = 0; least_s && i < known.n; i++)
    for (size_t k = 0; k < n; k++)
      if (known.all[i].config == clt_space_canonical(clt_instance_space(instance), configurations[k]))
        *least_s = fmin(*least_s, known.all[i].time_s);
  clt_instance_free(instance);
  free(known.all);
  free(missing);
  return rc;
}

static int compare_times(const void *left, const void *right) {
  const clt_family_answer *a = left, *b = right;
  if (a->time_s != b->time_s) return a->time_s < b->time_s ? -1 : 1;
  return (a->config > b->config) - (a->config < b->config);
}

/* Tunes a variant on a few inputs, unless the store has as many answers as that would give; then measures the best of
 * each on all of them. */
static int tune_variant(family_run *r, size_t variant) {
  const clt_family_measuring *how = r->how;
  size_t inputs[MAX_TUNED], n_candidates = 0;
  const size_t n = spread_inputs(inputs, how->tune_on, r, variant);
  clt_config candidates[MAX_TUNED * CLT_MAX_PORTFOLIO];
  int rc = CLT_OK;
  for (size_t i = 0; rc == CLT_OK && i < n; i++) {
    clt_instance *instance;
    clt_family_answers known;
    rc = read_known(r, &instance, &known, variant, inputs[i]);
    const uint64_t valid = rc == CLT_OK ? clt_space_valid(clt_instance_space(instance)) : 0;
    if (rc == CLT_OK && known.n < (uint64_t)how->budget && known.n < valid) {
      char *what = clt_format("tuning %s", r->family->variants[variant].name);
      tell(r, inputs[i], what ? what : "");
      free(what);
      rc = run_session(r, instance, NULL, 0);
      known.n = 0;
      if (rc == CLT_OK) rc = clt_family_answers_add(&known, how->store, instance, inputs[i], variant, r->error);
    }
    if (known.n) qsort(known.all, known.n, sizeof *known.all, compare_times);
    for (size_t k = 0; rc == CLT_OK && k < known.n && k < how->portfolio && isfinite(known.all[k].time_s); k++) {
      bool is_new = true;
      for (size_t j = 0; j < n_candidates; j++) is_new = is_new && candidates[j] != known.all[k].config;
      if (is_new) candidates[n_candidates++] = known.all[k].config;
    }
    clt_instance_free(instance);
    free(known.all);
  }
  for (size_t i = 0; rc == CLT_OK && i < n && n_candidates; i++) {
    clt_instance *instance = NULL;
    rc = measure_missing(r, variant, inputs[i], candidates, n_candidates, NULL);
    if (rc == CLT_OK)
      rc = clt_family_instance(&instance, r->family, variant, &r->inputs[inputs[i]], how->device, r->error);
    if (rc == CLT_OK) rc = clt_family_answers_add(&r->answers, how->store, instance, i, variant, r->error);
    clt_instance_free(instance);
  }
  if (rc == CLT_OK)
    r->n_portfolio[variant] = clt_family_portfolio(r->portfolio[variant], how->portfolio, &r->answers, variant, n);
  return rc;
}

/* Takes the portfolios of all variants from the other devices. */
static int take_portfolios(family_run *r) {
  const clt_family *f = r->family;
  int rc = CLT_OK;
  for (size_t s = 0; rc == CLT_OK && s < r->how->n_sources; s++) {
    clt_family_answers known = {0};
    rc = clt_family_answers_read(&known, f, &r->how->sources[s], 0, f->n_train, NULL, r->error);
    for (size_t v = 0; rc == CLT_OK && v < f->n_variants; v++) {
      clt_config own[CLT_MAX_PORTFOLIO], *all = r->portfolio[v];
      const size_t n = clt_family_portfolio(own, r->how->portfolio, &known, v, f->n_train);
      for (size_t k = 0; k < n; k++) {
        size_t at = 0;
        while (at < r->n_portfolio[v] && all[at] != own[k]) at++;
        if (at == r->n_portfolio[v] && at < CLT_MAX_ARMS) all[r->n_portfolio[v]++] = own[k];
      }
    }
    free(known.all);
  }
  return rc;
}

/* Measures all variants on an input directly after each other, since the speed of machines drifts. */
static int measure_input(family_run *r, size_t input) {
  const size_t n_measured = r->n_measured;
  clt_text said = {0};
  char time[32], *text = NULL;
  double all_least_s = INFINITY;
  int rc = CLT_OK;
  if (r->pass) clt_text_printf(&said, "measured again, %zu of %d: ", r->pass + 1, PASSES);
  for (size_t v = 0, n = 0; rc == CLT_OK && v < r->family->n_variants; v++) {
    double least_s;
    if (!holds(r, v, input) || r->n_portfolio[v] == 0) continue;
    if (clt_stop_asked(r->how->stop)) rc = clt_fail(r->error, CLT_E_STOPPED, "stopped on request");
    if (rc == CLT_OK) rc = measure_missing(r, v, input, r->portfolio[v], r->n_portfolio[v], &least_s);
    if (rc == CLT_OK)
      clt_text_printf(&said, "%s%s %s", n++ ? ", " : "", r->family->variants[v].name, clt_time_text(time, least_s));
    if (rc == CLT_OK) all_least_s = fmin(all_least_s, least_s);
  }
  r->least_s[input] = all_least_s;
  r->done++;
  const bool is_news = r->pass == 0 || r->n_measured > n_measured;
  if (clt_text_take(&text, &said, NULL) == CLT_OK && rc == CLT_OK && is_news) tell(r, input, text);
  free(text);
  return rc;
}

int clt_family_measure(clt_family_measured *out, const clt_family *family, const clt_family_measuring *how,
                       clt_error *error) {
  family_run r = {.family = family, .how = how, .error = error};
  r.inputs = clt_family_alloc(family->n_inputs, sizeof *r.inputs);
  r.wanted = clt_family_alloc(family->n_inputs, sizeof *r.wanted);
  r.least_s = clt_family_alloc(family->n_inputs, sizeof *r.least_s);
  int rc = CLT_OK;
  if ((how->tune_on > MAX_TUNED || how->portfolio > CLT_MAX_PORTFOLIO))
    rc = clt_fail(error, CLT_E_RANGE,
                  "at most %d inputs to tune on (--tune-on) and %d configurations per variant (--portfolio)", MAX_TUNED,
                  CLT_MAX_PORTFOLIO);
  if (rc == CLT_OK) rc = read_inputs(&r);
  clt_workers_reserve(true, true);
  if (rc == CLT_OK && how->n_sources) rc = take_portfolios(&r);
  for (size_t v = 0; rc == CLT_OK && !how->n_sources && v < family->n_variants; v++) rc = tune_variant(&r, v);
  for (size_t i = 0; rc == CLT_OK && i < family->n_inputs;) {
    size_t block[BLOCK], n = 0;
    for (; n < BLOCK && i < family->n_inputs; i++)
      if (r.wanted[i]) block[n++] = i;
    for (r.pass = 0; rc == CLT_OK && r.pass < PASSES; r.pass++) {
      for (size_t k = 0; rc == CLT_OK && k < n; k++) rc = measure_input(&r, block[k]);
      clt_workers_renew();
    }
  }
  clt_workers_reserve(false, false);
  *out = (clt_family_measured){.n_inputs = r.total / PASSES};
  for (size_t v = 0; v < family->n_variants; v++)
    out->n_variants += r.n_portfolio[v] > 0, out->n_arms += r.n_portfolio[v];
  for (size_t i = 0; i < family->n_inputs; i++) clt_family_input_release(&r.inputs[i]);
  free(r.inputs);
  free(r.wanted);
  free(r.least_s);
  free(r.answers.all);
  return rc;
}
