/* The result of a session: counts, the best, medians and notes; and its progress. */
#include "base/base.h"
#include "base/json.h"
#include "base/plugin.h"
#include "base/text.h"
#include "format/format.h"
#include "measurement/measurement.h"
#include "session/session.h"
#include "space/space.h"
#include "store/best.h"
#include "store/store.h"

clt_tune_result *clt_result_new(void) {
  clt_counted_result *made = clt_new_array(1, sizeof *made);
  if (made == NULL) return NULL;
  clt_tune_result *result = &made->result;
  clt_measurement_init(&result->best, CLT_CONFIG_NONE);
  clt_measurement_init(&result->default_measurement, CLT_CONFIG_NONE);
  clt_measurement_init(&result->timed_beside, CLT_CONFIG_NONE);
  result->least_s = result->median_s = result->least_cost = result->median_cost = NAN;
  result->quality = result->best_spread = NAN;
  made->search.timed_beside = CLT_CONFIG_NONE;
  result->search = &made->search;
  return result;
}

void clt_tune_result_free(clt_tune_result *result) {
  if (result == NULL) return;
  clt_measurement_release(&result->best);
  clt_measurement_release(&result->default_measurement);
  clt_measurement_release(&result->timed_beside);
  clt_check_results_clear(&result->checks, &result->n_checks);
  clt_front_clear(&result->front, &result->n_front);
  for (size_t i = 0; i < result->n_notes; i++) free(result->notes[i]);
  free(result->notes);
  free(result->race_reason);
  free(result);
}

int64_t clt_tune_n_failed(clt_config *example, const clt_tune_result *result, clt_reason reason) {
  const clt_counted_result *r = (const clt_counted_result *)result;
  if (reason <= CLT_REASON_NONE || reason >= CLT_N_REASONS) return 0;
  if (example) *example = r->example[reason];
  return r->by_reason[reason];
}

int64_t clt_tune_n_invalid(const clt_tune_result *result, clt_invalidity invalidity) {
  int64_t n = 0;
  for (int i = 0; i < CLT_N_REASONS; i++)
    if (clt_reason_invalidity((clt_reason)i) == invalidity) n += ((const clt_counted_result *)result)->by_reason[i];
  return n;
}

void clt_session_report(const clt_session *s, clt_search_report *out) {
  *out = (clt_search_report){.phase = "search", .timed_beside = CLT_CONFIG_NONE};
  if (s->loop.state && s->loop.searcher->report) s->loop.searcher->report(s->loop.state, out);
}

#define SAID_LATELY_S 1.0

void clt_session_progress(clt_session *s, const clt_measurement *last) {
  const clt_search_loop *l = &s->loop;
  const clt_tune_result *result = s->result;
  s->last_progress_s = clt_now_s();
  if (s->settings->progress == NULL) return;
  clt_search_report report;
  clt_session_report(s, &report);
  int64_t valid = result->valid > INT64_MAX ? INT64_MAX : (int64_t)result->valid;
  const char *phase = report.phase;
  if (l->n_initial_answered < l->n_initial) phase = "suggestions";
  if (l->has_default && l->n_initial_answered == 0) phase = "default";
  if (s->contest) phase = s->contest;
  const char *waits = s->last_progress_s - s->waits_s < SAID_LATELY_S ? s->waits : NULL;
  const clt_progress now = {
      .phase = phase,
      .done = result->evaluations,
      .total = valid < l->budget ? valid : l->budget,
      .so_far = result,
      .best_value = clt_objective_value(l->objective, &result->best),
      .elapsed_s = s->last_progress_s - s->start_s - result->waited_s,
      .time_limit_s = s->settings->time_s,
      .last = last,
      .waits = waits,
  };
  s->settings->progress(s->settings->user, &now);
}

/* While finalists are compared, the search loop does not report. */
void clt_session_note_waits(void *session, const char *what) {
  clt_session *s = session;
  snprintf(s->waits, sizeof s->waits, "%s", what);
  s->waits_s = clt_now_s();
  if (s->contest && s->waits_s - s->last_progress_s >= CLT_TICK_S) clt_session_progress(s, NULL);
}

int clt_session_keep(clt_measurement *out, clt_config config, const clt_measurement *measurement, clt_error *error) {
  clt_measurement copy;
  int rc = clt_measurement_copy(&copy, measurement, error);
  if (rc) return rc;
  copy.config = config;
  clt_measurement_release(out);
  *out = copy;
  return CLT_OK;
}

clt_measurement clt_session_at_median(const clt_measurement *m) {
  clt_measurement at_median = *m;
  const double median = clt_median(clt_measurement_runs(m), m->n_runs);
  if (!isnan(median)) *(isnan(m->figure) ? &at_median.time_s : &at_median.figure) = median;
  return at_median;
}

/* Of the runs from the best to the median; negative: too few runs. */
static double spread_of_runs(const clt_session *s, const clt_measurement *m) {
  const double *runs = clt_measurement_runs(m), median = clt_median(runs, m->n_runs);
  double best = INFINITY;
  if (m->n_runs < 3 || isnan(median)) return -1;
  const clt_goal goal = isnan(m->figure) ? CLT_MINIMISE : clt_objective_goal(s->loop.objective);
  for (size_t i = 0; i < m->n_runs; i++) best = fmin(best, clt_goal_cost(goal, runs[i])); /* NaN: not known */
  return clt_cost_ratio(clt_goal_cost(goal, median), best) - 1;
}

static int keep_leader(clt_session *s, double cost, const clt_measurement *m, clt_error *error) {
  clt_leader *worst = s->leaders;
  if (s->n_leaders < CLT_MOST_LEADERS) {
    worst = &s->leaders[s->n_leaders++];
    clt_measurement_init(&worst->measurement, CLT_CONFIG_NONE);
    worst->cost = INFINITY;
  }
  for (size_t i = 0; i < s->n_leaders; i++)
    if (s->leaders[i].cost > worst->cost) worst = &s->leaders[i];
  if (!(cost < worst->cost)) return CLT_OK;
  worst->cost = cost;
  return clt_session_keep(&worst->measurement, m->config, m, error);
}

/* Takes back what another has claimed about a configuration. The best of the rest becomes the best. */
static int withdraw(clt_session *s, clt_config config, clt_error *error) {
  clt_measurement *best = &s->result->best;
  const clt_leader *left = NULL;
  clt_front_remove(s->result, config);
  for (size_t i = s->n_ranked; i-- > 0;)
    if (s->ranked[i].config == config) s->ranked[i] = s->ranked[--s->n_ranked];
  for (size_t i = s->n_leaders; i-- > 0;)
    if (s->leaders[i].measurement.config == config) s->leaders[i] = s->leaders[--s->n_leaders];
  if (best->config != config) return CLT_OK;
  clt_measurement_release(best);
  clt_measurement_init(best, CLT_CONFIG_NONE);
  for (size_t i = 0; i < s->n_leaders; i++) {
    const clt_leader *l = &s->leaders[i];
    if (clt_known_has(&s->loop.known, l->measurement.config) && (left == NULL || l->cost < left->cost)) left = l;
  }
  return left ? clt_session_keep(best, left->measurement.config, &left->measurement, error) : CLT_OK;
}

int clt_session_count(clt_session *s, clt_config asked, double cost, const clt_measurement *m, clt_origin origin,
                      clt_error *error) {
  clt_tune_result *result = s->result;
  clt_counted_result *counts = (clt_counted_result *)result;
  bool correct = clt_measurement_correct(m), has_cost = cost > 0;
  const bool several = clt_objective_n(s->loop.objective) > 1;
  int rc = CLT_OK;
  result->evaluations++;
  result->n_correct += correct;
  result->n_confirmed_alone += m->confirmed_alone;
  if (counts->by_reason[m->reason]++ == 0) counts->example[m->reason] = asked;
  result->reused += origin == CLT_FROM_STORE;
  result->aliased += origin == CLT_FROM_SESSION;
  if (origin == CLT_NOT_KNOWN) {
    result->measured++;
    result->phases.build_s += m->phases.build_s;
    result->phases.first_launch_s += m->phases.first_launch_s;
    result->phases.runs_s += m->phases.runs_s;
    result->phases.verify_s += m->phases.verify_s;
    result->phases.wait_s += m->phases.wait_s;
    s->n_throttled += m->state.throttled > 0;
  }
  if (correct && !has_cost && result->n_without_value++ == 0) { /* warns once: there may be many */
    char name[512];
    clt_config_print(name, sizeof name, s->loop.space, asked);
    clt_log(s->settings->log, s->settings->user, CLT_LOG_WARNING,
            "the objective '%.200s' has no value for %s; configurations without a value are ignored",
            clt_objective_name(s->loop.objective), name);
  }
  if (origin == CLT_NOT_KNOWN && s->loop.n_refuted > 0) rc = withdraw(s, m->config, error);
  bool improves = has_cost && !(s->improved_cost > 0 && !(cost < s->improved_cost * (1 - s->tolerance)));
  if (improves) s->improved_cost = cost;
  if (rc == CLT_OK && has_cost && several) rc = clt_front_offer(&improves, result, s->loop.objective, m, error);
  if (improves) s->improved_at = result->evaluations;
  if (rc == CLT_OK && has_cost && origin != CLT_FROM_SESSION) {
    if (clt_grow(&s->ranked, &s->ranked_capacity, s->n_ranked + 1, sizeof *s->ranked)) return clt_fail_memory(error);
    const clt_measurement at_median = clt_session_at_median(m);
    s->ranked[s->n_ranked++] = (clt_ranked){.config = m->config,
                                            .time_s = m->time_s,
                                            .cost = cost,
                                            .median_cost = clt_objective_cost(s->loop.objective, &at_median),
                                            .final_cost = NAN,
                                            .spread = spread_of_runs(s, m)};
    rc = keep_leader(s, cost, m, error);
  }
  /* Of equally good ones the lower configuration, so that the result does not depend on the order of answers. */
  double least =
      result->best.config == CLT_CONFIG_NONE ? INFINITY : clt_objective_cost(s->loop.objective, &result->best);
  bool better = has_cost && (cost < least || (cost == least && m->config < result->best.config));
  if (rc == CLT_OK && better) rc = clt_session_keep(&result->best, m->config, m, error);
  if (rc || asked != s->first) return rc;
  result->has_default = correct;
  return clt_session_keep(&result->default_measurement, asked, m, error);
}

/* --- notes on the result --- */

#define APART 0.25       /* beyond the spreads: cold caches explain 0.1, a burst of other programs several times that */
#define OTHERS_SHARE 0.1 /* of the processor time; an idle desktop uses less */
#define OTHERS_S 1.0     /* seconds; less is not significant */
#define MUCH_LAUNCH 0.1  /* of a time; JSON says the share itself */

int clt_session_note(clt_session *s, clt_error *error, const char *format, ...) {
  clt_tune_result *result = s->result;
  va_list arguments;
  va_start(arguments, format);
  char *text = clt_vformat(format, arguments);
  va_end(arguments);
  char **notes = text ? realloc(result->notes, (result->n_notes + 1) * sizeof *notes) : NULL;
  if (notes == NULL) {
    free(text);
    return clt_fail_memory(error);
  }
  result->notes = notes;
  notes[result->n_notes++] = text;
  return CLT_OK;
}

static const char *cost_text(char out[96], const clt_session *s, double cost) {
  return clt_objective_value_text(out, s->loop.objective, clt_objective_value_of(s->loop.objective, cost));
}

/* Explains why the best of the search (fastest) is not the winner. */
static int note_fastest(clt_session *s, const clt_ranked *fastest, clt_error *error) {
  char name[512], cost[96], other[96], why[320];
  if (!s->result->best_is_finalist || fastest->config == s->result->best.config) return CLT_OK;
  clt_config_print(name, sizeof name, s->loop.space, fastest->config);
  if (fastest->rejected != CLT_REASON_NONE)
    snprintf(why, sizeof why, "failed as a finalist: %s", clt_reason_text(fastest->rejected));
  else if (!isnan(fastest->final_cost))
    snprintf(why, sizeof why, "was not the best in the final comparison: %s there",
             cost_text(other, s, fastest->final_cost));
  else if (fastest->rank > fastest->cost)
    snprintf(why, sizeof why,
             "was not a finalist: as runs scatter, finalists are selected by their medians, and its median is %s",
             cost_text(other, s, fastest->median_cost));
  else
    snprintf(why, sizeof why, "was not a finalist: there is not enough memory for all of them");
  return clt_session_note(s, error, "the best of the search, %s (%s), %s", name, cost_text(cost, s, fastest->cost),
                          why);
}

/* Whether --lock=no lets other tuners use the device meanwhile. */
static bool shares_device(const clt_tune_settings *settings) {
  bool locks = true;
  for (size_t i = 0; i < settings->n_evaluator_settings; i++)
    if (strcmp(settings->evaluator_settings[i].name, "lock") == 0)
      clt_yes_or_no(&locks, settings->evaluator_settings[i].value);
  return !locks;
}

/* Notes on disturbed measurements and their cause. */
static int note_noise(clt_session *s, clt_error *error) {
  clt_tune_result *result = s->result;
  const clt_config default_config =
      s->first == CLT_CONFIG_NONE ? CLT_CONFIG_NONE : clt_space_canonical(s->loop.space, s->first);
  const clt_processor_time now = clt_processor_time_now();
  const double all_s = now.all_s - s->used.all_s;
  const double others_s = now.busy_s - s->used.busy_s - (now.own_s - s->used.own_s);
  const clt_ranked *furthest = NULL;
  const size_t n_before = result->n_notes;
  size_t n_timed = 0, n_apart = 0;
  double most = 0;
  char name[512], before[96], after[96];
  int rc = CLT_OK;
  for (size_t i = 0; rc == CLT_OK && i < s->n_ranked; i++) {
    const clt_ranked *r = &s->ranked[i];
    const double apart = fabs(log(r->final_cost / r->median_cost));
    const double scatter = fmax(r->spread, 0) + fmax(r->final_spread, 0);
    n_timed += !isnan(r->final_cost);
    if (!(apart > log(1 + APART + scatter))) continue; /* NaN: it was no finalist */
    n_apart++;
    if (apart > most) most = apart, furthest = r;
    if (r->config == default_config)
      rc = clt_session_note(
          s, error,
          "the default configuration's median run took %s in the search and %s in the final comparison, so the "
          "speed-up is uncertain",
          cost_text(before, s, r->median_cost), cost_text(after, s, r->final_cost));
  }
  if (furthest && rc == CLT_OK) {
    clt_config_print(name, sizeof name, s->loop.space, furthest->config);
    rc = clt_session_note(s, error,
                          "the median runs of %zu of %zu configurations changed between the search and the final "
                          "comparison by more than the scatter of their runs, most of all %s: %s, then %s",
                          n_apart, n_timed, name, cost_text(before, s, furthest->median_cost),
                          cost_text(after, s, furthest->final_cost));
  }
  if (rc == CLT_OK && others_s > OTHERS_S && others_s > OTHERS_SHARE * all_s)
    rc = clt_session_note(s, error, "other programs used %.0f %% of the processor time", 100 * others_s / all_s);
  if (rc == CLT_OK && result->n_notes > n_before && result->best.config != CLT_CONFIG_NONE)
    rc = clt_session_note(
        s, error,
        "to reduce the noise, repeat the command on a quieter machine%s: it compares the finalists again "
        "(--finalists N: more of them); with --fresh it measures everything again",
        shares_device(s->settings) ? ", without --lock=no" : "");
  return rc;
}

/* Notes on a device that slowed down, and on times that are mostly the launch. */
static int note_device(clt_session *s, clt_error *error) {
  const clt_measurement *best = &s->result->best;
  const clt_instance *instance = s->settings->instance;
  char launch[32];
  int rc = CLT_OK;
  if (s->n_throttled > 0)
    rc = clt_session_note(s, error,
                          "during %lld of %lld measurements the device stayed below 75 %% of its usual clock, although "
                          "runs were repeated after a pause; cool it, or raise its power limit",
                          (long long)s->n_throttled, (long long)s->result->measured);
  if (rc || best->config == CLT_CONFIG_NONE || instance == NULL) return rc;
  const double share = clt_launch_share(&best->state, best->time_s, instance, best->config);
  if (!(share > MUCH_LAUNCH)) return CLT_OK;
  return clt_session_note(s, error,
                          "an empty launch takes %s, so %.0f %% of the best time is none of the kernel's work; use a "
                          "larger size (--size), or let one launch do more",
                          clt_time_text(launch, best->state.launch_s), 100 * share);
}

/* A tuning parameter that the incorrect configuration changes, all correct ones leave at its default, and no size of a
 * launch depends on; NULL: none. Zero, booleans and texts are no amount of work. */
static const char *find_unscaled(const clt_session *s, clt_config incorrect) {
  const clt_instance *instance = s->settings->instance;
  const clt_space *space = s->loop.space;
  for (size_t p = 0; instance && s->n_ranked > 0 && p < clt_space_n_parameters(space); p++) {
    const clt_parameter *parameter = clt_space_parameter(space, p);
    const clt_config usual = clt_instance_default(instance);
    bool fits = !clt_space_agree(space, incorrect, usual, p) && !clt_instance_launch_uses(instance, p);
    for (size_t i = 0; fits && i < parameter->n_values; i++)
      fits = parameter->values[i].type != CLT_BOOL && clt_value_number(parameter->values[i]) > 0;
    for (size_t i = 0; fits && i < s->n_ranked; i++) fits = clt_space_agree(space, s->ranked[i].config, usual, p);
    if (fits) return parameter->name;
  }
  return NULL;
}

static void warn_of_wrong(const clt_session *s, int64_t n_wrong, clt_config example) {
  char name[512], hint[300] = "";
  const clt_instance *instance = s->settings->instance;
  const char *unscaled = find_unscaled(s, example);
  const bool may_race = instance && clt_instance_has_local_memory(instance) && clt_oclgrind_installed();
  clt_config_print(name, sizeof name, s->loop.space, example);
  if (unscaled)
    snprintf(hint, sizeof hint,
             "if %s changes how much a work-item computes, the GlobalSize must depend on it, as in \"n // %s\"; else ",
             unscaled, unscaled);
  clt_log(s->settings->log, s->settings->user, CLT_LOG_WARNING,
          "%lld of %lld evaluations gave an incorrect result, the first with %s: %sthe kernel has a bug, a "
          "constraint is missing, or the tolerance is too small; 'clatune verify' lists the incorrect elements%s",
          (long long)n_wrong, (long long)s->result->evaluations, name, hint,
          may_race ? "; 'clatune verify PROBLEM --configuration \"...\" --oclgrind' finds missing barriers" : "");
}

int clt_session_summarise(clt_session *s, clt_error *error) {
  clt_tune_result *result = s->result;
  const clt_tune_settings *settings = s->settings;
  const clt_measurement *best = &result->best;
  const clt_ranked *fastest = NULL;
  size_t n = s->n_ranked;
  double *values = clt_new_array(n, sizeof *values);
  if (best->config != CLT_CONFIG_NONE) result->best_spread = clt_spread(best);
  if (clt_front_sort(result, s->loop.objective, error)) {
    free(values);
    return CLT_E_MEMORY;
  }
  clt_session_report(s, &((clt_counted_result *)result)->search);
  for (size_t i = 0; i < n; i++) {
    if (s->ranked[i].cost >= result->least_cost) continue; /* least_cost is NaN at first */
    fastest = &s->ranked[i];
    result->least_cost = s->ranked[i].cost;
    result->least_s = s->ranked[i].time_s;
  }
  const clt_counted_result *counts = (const clt_counted_result *)result;
  const int64_t n_wrong = counts->by_reason[CLT_REASON_WRONG_OUTPUT];
  if (2 * n_wrong > result->evaluations - result->n_correct && s->evaluator && s->evaluator->measures_device)
    warn_of_wrong(s, n_wrong, counts->example[CLT_REASON_WRONG_OUTPUT]);
  result->search_s = s->loop.search_s;
  result->comparable = s->loop.default_options && s->sources.n == 0 && settings->n_begin_with == 0 &&
                       settings->model == NULL && settings->configurations == NULL && !result->stopped &&
                       best->config != CLT_CONFIG_NONE && (uint64_t)result->evaluations < result->valid;
  if (values) {
    for (size_t i = 0; i < n; i++) values[i] = s->ranked[i].time_s;
    result->median_s = clt_median(values, n);
    for (size_t i = 0; i < n; i++) values[i] = s->ranked[i].cost;
    result->median_cost = clt_median(values, n);
  }
  free(values);
  int rc = values ? CLT_OK : clt_fail_memory(error);
  if (rc == CLT_OK && fastest) rc = note_fastest(s, fastest, error);
  if (rc == CLT_OK && s->evaluator && s->evaluator->measures_device) rc = note_noise(s, error);
  if (rc == CLT_OK) rc = note_device(s, error);
  result->wall_s = clt_now_s() - s->start_s;
  return rc;
}

bool clt_session_asks_store(const clt_session *s) {
  return s->loop.store && !s->settings->is_separate && !s->settings->configurations;
}

int clt_session_take_best_known(clt_session *s, clt_error *error) {
  const clt_search_loop *l = &s->loop;
  clt_tune_result *result = s->result;
  const clt_config standard = s->first == CLT_CONFIG_NONE ? s->first : clt_space_canonical(l->space, s->first);
  const clt_best_query query = {.objective = l->objective, .beside = standard};
  clt_best_known known;
  char name[512];
  if (!clt_session_asks_store(s) || result->best.config == CLT_CONFIG_NONE) return CLT_OK;
  int rc = clt_store_best(&known, l->store, &l->key, l->space, &query, error);
  const clt_config config = known.measurement.config;
  if (rc || config == CLT_CONFIG_NONE || config == clt_space_canonical(l->space, result->best.config)) return rc;
  clt_config_print(name, sizeof name, l->space, result->best.config);
  rc = clt_session_keep(&result->best, config, &known.measurement, error);
  result->best_is_finalist = known.compared;
  if (rc == CLT_OK && known.beside.config != CLT_CONFIG_NONE)
    rc = clt_session_keep(&result->default_measurement, s->first, &known.beside, error);
  return rc ? rc
            : clt_session_note(s, error, "the best known configuration is from an earlier tuning; this one found %s",
                               name);
}
