/* The final comparison of the fastest configurations: selects the finalists and the winner. */
#include "session/contest.h"
#include "base/base.h"
#include "base/text.h"
#include "measurement/measurement.h"
#include "problem/guidance.h"
#include "session/session.h"
#include "space/space.h"
#include "store/best.h"
#include "store/store.h"

#define WINDOW 0.5     /* relative to the best; medians never differ by more through noise alone */
#define MAX_ATTEMPTS 4 /* rounds of replacing rejected finalists by the next best */
#define MIN_ROUNDS 7   /* the minimum for significance at the first test: 1 in 128 by chance */
#define MAX_ROUNDS 2000
/* A contest takes at most a tenth of the user's time limit, and at most 20 s. After the minimum of rounds it ends at
 * half the duration of the search or 2 s, whichever is longer: a search among known answers takes no time, but one
 * round decides nothing. */
#define SHARE_OF_TIME 0.1
#define SHARE_OF_SEARCH 0.5
#define ALWAYS_S 2.0
#define MAX_TOTAL_S 20.0
/* Chosen on convolution on PoCL (docs/notebook/surrogate.md, "On a device"): ranked by medians if runs scatter, the
 * best configuration of a search is always among the finalists. */
#define NOISY 0.05                      /* the spread of runs above which medians rank better than shortest runs */
#define NOISE_FACTOR 2.0                /* times the spread: how far behind in the ranking the best may be */
#define MOST_FINALISTS CLT_MOST_LEADERS /* however noisy */
#define MOST_FRONT 16                   /* finalists from the front of several objectives */
#define FEW_REJECTED 3                  /* from so many on, what rejected finalists have in common is suspicious */
/* On CPUs the times of a process depend on its memory pages, for a transpose by a tenth and more. */
#define CPU_PROCESSES 3

typedef struct finals {
  clt_config *configs; /* of this attempt: n_field from the ranking, then the default configuration and `beside` */
  clt_measurement *measurements;
  size_t n, n_field;
  size_t next;            /* index in the ranking of the first that has not taken part */
  size_t n_standing;      /* of the field: correct; they take part again if others are replaced */
  size_t n_rejected;      /* of the field, in this attempt */
  size_t n_incorrect;     /* of the field, in all attempts: those with a fault of the kernel */
  clt_config incorrect;   /* the first of these */
  bool *differs;          /* for each tuning parameter: whether these have different values, or all have the same */
  size_t n_out_of_memory; /* of the field, in all attempts: not rejected, as each alone may fit */
  clt_config beside;      /* timed next to the winner for the searcher; CLT_CONFIG_NONE: nothing */
  clt_config champion;    /* the best known in the store, which the winner must beat; CLT_CONFIG_NONE: none */
  clt_config claimed[2];  /* what one voice claims to be better, and the best without it; CLT_CONFIG_NONE: nothing */
  clt_config checked;     /* passed check_fastest last; CLT_CONFIG_NONE: none yet */
  clt_measurement leader; /* config CLT_CONFIG_NONE: none yet */
  clt_measurement *front; /* several objectives: n_front, as the search had it */
  size_t n_front;
  bool told; /* the command that shows a failure */
} finals;

static int by_rank(const void *a, const void *b) {
  const clt_ranked *x = a, *y = b;
  if (x->rank != y->rank) return (x->rank > y->rank) - (x->rank < y->rank);
  return (x->config > y->config) - (x->config < y->config);
}

static bool is_claim(const clt_session *s, const clt_ranked *r) {
  return clt_known_is_claim(&s->loop.known, r->config);
}

/* Whether a configuration was not measured itself, since its generated source is that of the one before it. */
static bool is_copy(const clt_session *s, size_t i) {
  const clt_instance *instance = s->settings->instance;
  const clt_ranked *r = &s->ranked[i];
  return i > 0 && instance && clt_problem_generates(clt_instance_problem(instance)) && r->cost == r[-1].cost &&
         r->median_cost == r[-1].median_cost && r->spread == r[-1].spread;
}

/* Whether a configuration has all that the incorrect finalists have in common: a kernel's fault often depends on two or
 * three of its parameters, and those that have it would take one place after the other. */
static bool is_suspect(const finals *f, const clt_session *s, clt_config config) {
  const size_t n = f->n_incorrect < FEW_REJECTED ? 0 : clt_space_n_parameters(s->loop.space);
  bool any = false;
  for (size_t p = 0; p < n; p++) {
    if (f->differs[p]) continue;
    if (!clt_space_agree(s->loop.space, config, f->incorrect, p)) return false;
    any = true;
  }
  return any;
}

static void note_incorrect(finals *f, const clt_session *s, clt_config config) {
  if (f->n_incorrect++ == 0) f->incorrect = config;
  for (size_t p = 0; p < clt_space_n_parameters(s->loop.space); p++) {
    bool varies = f->n_incorrect > 1;
    for (size_t i = 0; i < s->n_ranked && !varies; i++)
      varies = !clt_space_agree(s->loop.space, s->ranked[i].config, config, p);
    f->differs[p] |= !varies || !clt_space_agree(s->loop.space, config, f->incorrect, p);
  }
}

/* Moves suspects behind the others that are not further behind in the ranking than limit. */
static int postpone_suspects(const finals *f, clt_session *s, double limit, clt_error *error) {
  size_t n = 0, to = f->next;
  clt_ranked *suspects = clt_new_array(s->n_ranked, sizeof *suspects);
  if (suspects == NULL) return clt_fail_memory(error);
  for (size_t i = f->next; i < s->n_ranked && s->ranked[i].rank <= limit; i++) {
    const clt_ranked r = s->ranked[i];
    *(is_suspect(f, s, r.config) ? &suspects[n++] : &s->ranked[to++]) = r;
  }
  memcpy(&s->ranked[to], suspects, n * sizeof *suspects);
  free(suspects);
  return CLT_OK;
}

/* Says what the incorrect finalists have in common. */
static int note_suspects(const finals *f, clt_session *s, clt_error *error) {
  const clt_space *space = s->loop.space;
  clt_text values = {0};
  size_t n = 0;
  if (f->n_incorrect == 0 || !is_suspect(f, s, f->incorrect)) return CLT_OK;
  for (size_t i = f->next; i < s->n_ranked; i++) n += !s->ranked[i].rejected && is_suspect(f, s, s->ranked[i].config);
  for (size_t p = 0; p < clt_space_n_parameters(space); p++) {
    if (f->differs[p]) continue;
    char value[64];
    clt_value_print(value, sizeof value, clt_space_value(space, f->incorrect, p));
    clt_text_printf(&values, "%s%s=%s", values.n ? " " : "", clt_space_parameter(space, p)->name, value);
  }
  const int rc = clt_session_note(
      s, error,
      "%zu finalists failed, all with %s; of the other configurations with these values, %zu were not compared",
      f->n_incorrect, values.bytes ? values.bytes : "", n);
  clt_text_release(&values);
  return rc;
}

/* The best in the ranking that is not rejected, and no claim if there are others; NULL: none left. */
static const clt_ranked *best_left(const clt_session *s) {
  const clt_ranked *claimed = NULL;
  for (size_t i = 0; i < s->n_ranked; i++) {
    if (s->ranked[i].rejected) continue;
    if (!is_claim(s, &s->ranked[i])) return &s->ranked[i];
    if (claimed == NULL) claimed = &s->ranked[i];
  }
  return claimed;
}

/* "; 'clatune verify PROBLEM --configuration "a=1 b=2" --size n=64' shows the failure" */
static void add_command(clt_text *out, const clt_session *s, const char *name, bool races) {
  const clt_instance *instance = s->settings->instance;
  const clt_problem *problem = clt_instance_problem(instance);
  clt_text_printf(out, "; 'clatune verify PROBLEM --configuration \"%s\"", name);
  for (size_t i = 0; i < clt_problem_n_sizes(problem); i++) {
    const clt_size size = clt_instance_size(instance, i);
    if (size.value != clt_problem_size(problem, i).value)
      clt_text_printf(out, " --size %s=%lld", size.name, (long long)size.value);
  }
  clt_text_printf(out, "%s' shows the failure", races ? " --oclgrind" : "");
}

/* log: nullable; its first line is quoted, and the next one if that ends with a colon. */
static void warn_of(const clt_session *s, clt_config config, const char *what, const char *log, bool shows) {
  char name[512];
  clt_text why = {0};
  const char *line = log ? log : "";
  size_t n = strcspn(line, "\n");
  if (n > 0 && line[n - 1] == ':' && line[n]) n += 1 + strcspn(line + n + 1, "\n");
  n = n < 300 ? n : 300;
  clt_config_print(name, sizeof name, s->loop.space, config);
  clt_text_printf(&why, "%s%s%.*s", what, n ? ": " : "", (int)n, line);
  if (shows && s->settings->instance) add_command(&why, s, name, clt_starts_with(line, "Oclgrind"));
  clt_log(s->settings->log, s->settings->user, CLT_LOG_WARNING, "finalist %s: %s", name, why.bytes ? why.bytes : what);
  clt_text_release(&why);
}

/* Out of memory with others prepared at the same time is no failure of the configuration. */
static bool lacks_memory(const finals *f, size_t i) {
  return f->n > 1 && f->measurements[i].reason == CLT_REASON_OUT_OF_MEMORY;
}

/* Records the result of the i-th finalist, and rejects it if it failed. */
static int record_finalist(finals *f, clt_session *s, size_t i, clt_error *error) {
  clt_search_loop *l = &s->loop;
  clt_tune_result *result = s->result;
  clt_measurement *m = &f->measurements[i];
  bool correct = clt_measurement_correct(m);
  int rc = CLT_OK;
  if (lacks_memory(f, i)) {
    f->n_out_of_memory += i < f->n_field;
    warn_of(s, m->config, "left out, as the memory does not suffice for all finalists at once", NULL, false);
    return CLT_OK;
  }
  /* A failure does not depend on the objective. */
  bool as_usual = clt_objective_ranks_as_usual(l->objective) || !correct;
  if (l->store)
    rc = clt_store_add(l->store, &l->key, l->space, as_usual ? CLT_RECORD_FINALIST : CLT_RECORD_COMPARED, m, error);
  if (rc == CLT_OK && s->first != CLT_CONFIG_NONE && m->config == clt_space_canonical(l->space, s->first)) {
    rc = clt_session_keep(&result->default_measurement, s->first, m, error);
    if (rc == CLT_OK) result->has_default = correct;
  }
  if (rc == CLT_OK && f->beside != CLT_CONFIG_NONE && m->config == f->beside) {
    if (correct) {
      rc = clt_session_keep(&result->timed_beside, m->config, m, error);
    } else {
      f->beside = CLT_CONFIG_NONE;
      clt_measurement_release(&result->timed_beside);
      clt_measurement_init(&result->timed_beside, CLT_CONFIG_NONE);
    }
  }
  if (rc == CLT_OK && correct && clt_objective_n(l->objective) > 1)
    rc = clt_front_offer(NULL, result, l->objective, m, error);
  if (rc) return rc;
  for (size_t k = 0; k < s->n_ranked; k++) {
    clt_ranked *ranked = &s->ranked[k];
    if (ranked->config != m->config) continue;
    ranked->rejected = m->reason;
    ranked->final_cost = correct ? clt_objective_cost(l->objective, m) : NAN;
    ranked->final_spread = clt_spread(m);
  }
  if (correct) {
    if (i < f->n_field) f->configs[f->n_standing++] = m->config;
    return CLT_OK;
  }
  f->n_rejected += i < f->n_field;
  if (!is_suspect(f, s, m->config)) { /* else a note at the end says it of all */
    warn_of(s, m->config, clt_reason_text(m->reason), m->log, !f->told);
    f->told = true;
  }
  if (i < f->n_field && (m->reason == CLT_REASON_WRONG_OUTPUT || m->reason == CLT_REASON_OUT_OF_BOUNDS))
    note_incorrect(f, s, m->config);
  return CLT_OK;
}

/* Verifies the prospective winner on more data; if it fails, the next fastest follows. *out stays NULL if none passes.
 */
static int check_fastest(finals *f, clt_session *s, clt_measurement **out, clt_error *error) {
  for (;;) {
    clt_measurement *fastest = NULL;
    double least = INFINITY;
    for (size_t i = 0; i < f->n; i++) {
      clt_measurement *m = &f->measurements[i];
      const double cost = clt_measurement_correct(m) ? clt_objective_cost(s->loop.objective, m) : NAN;
      if (cost < least) fastest = m, least = cost;
    }
    if (fastest == NULL) return CLT_OK;
    if (fastest->config == f->checked) {
      *out = fastest;
      return CLT_OK;
    }
    clt_race_run *races = NULL;
    s->contest = "checks";
    clt_session_progress(s, NULL);
    int rc = clt_session_begin_races(&races, s, fastest->config, error);
    if (rc == CLT_OK) rc = clt_session_verify(s, fastest, error);
    const bool passed = rc == CLT_OK && clt_measurement_correct(fastest);
    const int raced = clt_session_end_races(races, passed ? fastest : NULL, error);
    if (rc == CLT_OK) rc = raced;
    if (rc == CLT_OK && clt_measurement_correct(fastest) && s->settings->check)
      rc = s->settings->check(s->settings->user, fastest, error);
    s->contest = "finalists";
    if (rc) return rc;
    if (clt_measurement_correct(fastest)) f->checked = fastest->config;
  }
}

/* At most so many rounds; after enough_s only the minimum of rounds begins, and none after a share of the time limit.
 */
static clt_contest_policy policy_of_finals(clt_session *s, unsigned most, double enough_s) {
  const double share_s = SHARE_OF_TIME * s->settings->time_s, limit_s = share_s > 0 ? share_s : MAX_TOTAL_S;
  return (clt_contest_policy){
      MIN_ROUNDS, most, enough_s, fmin(limit_s, MAX_TOTAL_S), s->tolerance, s->loop.objective, &s->result->waited_s};
}

static int compare_field(finals *f, clt_session *s, clt_error *error) {
  const double searched_s = clt_now_s() - s->start_s - s->result->waited_s;
  const double enough_s = fmax(SHARE_OF_SEARCH * searched_s, ALWAYS_S);
  /* Without a device, the result must not depend on the speed of the machine. */
  unsigned most = s->evaluator->measures_device ? MAX_ROUNDS : CLT_MAX_RUNS;
  if (clt_objective_n(s->loop.objective) > 1) most = MIN_ROUNDS; /* what is slow, is still of interest */
  clt_contest_policy policy = policy_of_finals(s, most, enough_s);
  policy.n_processes = s->limits.binds ? CPU_PROCESSES : 1;
  int rc = clt_contest_run(s->evaluator, s->evaluator_state, f->configs, f->n, &policy, f->measurements, error);
  if (rc) return rc;
  clt_measurement *fastest = NULL;
  f->n_rejected = f->n_standing = 0;
  rc = check_fastest(f, s, &fastest, error);
  if (s->loop.store) clt_store_begin_comparison(s->loop.store);
  for (size_t i = 0; rc == CLT_OK && i < f->n; i++) rc = record_finalist(f, s, i, error);
  /* The old leader's time is from other rounds, so it counts only if no other is left and it has not failed, or if this
   * comparison was stopped before its winner was checked. */
  bool stands = fastest == NULL || rc;
  for (size_t i = 0; i < f->n; i++) {
    stands = stands && (rc || f->measurements[i].config != f->leader.config || lacks_memory(f, i));
    if (rc || &f->measurements[i] != fastest) clt_measurement_release(&f->measurements[i]);
  }
  if (stands) return rc;
  clt_measurement_release(&f->leader);
  clt_measurement_init(&f->leader, CLT_CONFIG_NONE);
  if (fastest) f->leader = *fastest;
  return rc;
}

/* Ranks the front before everything else, which is infinitely far behind. The result gets a new one, of finalists. */
static int rank_front(finals *f, clt_session *s, clt_error *error) {
  clt_config chosen[MOST_FRONT];
  size_t n;
  int rc = clt_front_spread(chosen, &n, MOST_FRONT, s->result, s->loop.objective, error);
  for (size_t i = 0; rc == CLT_OK && i < s->n_ranked; i++) {
    s->ranked[i].rank = INFINITY;
    for (size_t k = 0; k < n; k++)
      if (chosen[k] == s->ranked[i].config) s->ranked[i].rank = 1 + 1e-3 * (double)k;
  }
  f->front = s->result->front;
  f->n_front = s->result->n_front;
  s->result->front = NULL;
  s->result->n_front = 0;
  return rc;
}

static int play_finals(finals *f, clt_session *s, size_t most, clt_error *error) {
  /* Ranks by the shortest run, the best estimate on a quiet device. On a noisy one the shortest of many runs would
   * precede the shortest of few. */
  double *spreads = clt_new_array(s->n_ranked, sizeof *spreads);
  size_t n_spreads = 0, wanted = 0;
  if (spreads == NULL) return clt_fail_memory(error);
  for (size_t i = 0; i < s->n_ranked; i++)
    if (s->ranked[i].spread >= 0) spreads[n_spreads++] = s->ranked[i].spread;
  double noise = n_spreads ? clt_median(spreads, n_spreads) : 0; /* none has enough runs */
  free(spreads);
  for (size_t i = 0; i < s->n_ranked; i++)
    s->ranked[i].rank = noise > NOISY ? s->ranked[i].median_cost : s->ranked[i].cost;
  const bool several = clt_objective_n(s->loop.objective) > 1;
  if (several) {
    int rc = rank_front(f, s, error);
    if (rc) return rc;
  }
  qsort(s->ranked, s->n_ranked, sizeof *s->ranked, by_rank);
  /* If runs scatter, the best may be far behind in the ranking. What others claim takes part in addition, so that it
   * does not displace what is known. */
  const clt_ranked *best = best_left(s);
  const bool has_known = !is_claim(s, best);
  double limit = best->rank * (1 + (several ? WINDOW : NOISE_FACTOR * noise));
  for (size_t i = 0; wanted < most && i < s->n_ranked && s->ranked[i].rank <= limit; i++)
    wanted += !(has_known && is_claim(s, &s->ranked[i]));
  if (wanted < s->settings->finalists) wanted = s->settings->finalists;
  for (int attempt = 0; attempt < MAX_ATTEMPTS && wanted > 0; attempt++) {
    if (clt_stop_asked(s->settings->stop))
      return clt_fail(error, CLT_E_STOPPED, "stopped while comparing the finalists");
    /* The correct ones so far and the next `wanted` in the ranking within the window; also the configurations that the
     * result compares the winner with, so that they are measured side by side. */
    best = best_left(s);
    size_t n_claims = wanted;
    const clt_config beside[] = {
        s->result->has_default ? clt_space_canonical(s->loop.space, s->first) : CLT_CONFIG_NONE, f->beside, f->champion,
        f->claimed[0], f->claimed[1]};
    limit = best ? best->rank * (1 + WINDOW) : 0;
    f->n = f->n_standing;
    int rc = postpone_suspects(f, s, limit, error);
    if (rc) return rc;
    for (; wanted > 0 && f->next < s->n_ranked && s->ranked[f->next].rank <= limit; f->next++) {
      /* It took part for the result's comparison and failed, or an equal one takes part. */
      if (s->ranked[f->next].rejected || is_copy(s, f->next)) continue;
      if (f->n > 0 && is_suspect(f, s, s->ranked[f->next].config) && !is_suspect(f, s, f->configs[0])) break;
      const bool is_extra = has_known && is_claim(s, &s->ranked[f->next]);
      if (is_extra && (n_claims == 0 || f->n + wanted >= most)) continue;
      f->configs[f->n++] = s->ranked[f->next].config;
      if (is_extra)
        n_claims--;
      else
        wanted--;
    }
    f->n_field = f->n;
    if (f->n_field == f->n_standing) break;
    for (size_t k = 0; k < sizeof beside / sizeof *beside; k++) {
      bool there = beside[k] == CLT_CONFIG_NONE;
      for (size_t i = 0; i < f->n; i++) there |= f->configs[i] == beside[k];
      if (!there) f->configs[f->n++] = beside[k];
    }
    clt_session_progress(s, NULL);
    rc = compare_field(f, s, error);
    if (rc) return rc;
    wanted = f->n_rejected;
  }
  return CLT_OK;
}

/* Threads of CPU drivers are bound to processors while they are timed, but not in most programs. So the finalists run
 * once more without binding, and a note says if another one is faster than the winner. */
static int compare_unbound(finals *f, clt_session *s, clt_error *error) {
  const clt_contest_policy policy = policy_of_finals(s, MIN_ROUNDS, 0);
  const clt_measurement *best = NULL, *fastest = NULL;
  char name[512], time[2][32];
  size_t n = 0;
  while (n < f->n_standing && f->configs[n] != f->leader.config) n++;
  if (n == f->n_standing) f->configs[f->n_standing++] = f->leader.config; /* the default */
  if (f->n_standing < 2 || !clt_objective_ranks_by_time(s->loop.objective)) return CLT_OK;
  s->unbound = true;
  int rc =
      clt_contest_run(s->evaluator, s->evaluator_state, f->configs, f->n_standing, &policy, f->measurements, error);
  s->unbound = false;
  if (rc) return rc;
  for (size_t i = 0; i < f->n_standing; i++) {
    const clt_measurement *m = &f->measurements[i];
    if (!clt_measurement_correct(m)) continue;
    if (m->config == f->leader.config) best = m;
    if (fastest == NULL || m->time_s < fastest->time_s) fastest = m;
  }
  if (best && fastest->time_s * (1 + s->tolerance) < best->time_s && fastest->n_runs == best->n_runs &&
      clt_sign_test(fastest->runs_s, best->runs_s, best->n_runs) <= 1 - CLT_USUAL_CONFIDENCE) {
    clt_config_print(name, sizeof name, s->loop.space, fastest->config);
    rc = clt_session_note(
        s, error,
        "if the driver's threads are not bound to processors, as in most programs, %s is faster than the winner: "
        "%s instead of %s",
        name, clt_time_text(time[0], fastest->time_s), clt_time_text(time[1], best->time_s));
  }
  for (size_t i = 0; i < f->n_standing; i++) clt_measurement_release(&f->measurements[i]);
  return rc;
}

/* What is known to be the best, and what others claim, so that it becomes known: also without the voice that claims
 * most, which could else keep the others' claims out for ever. */
static int find_champions(finals *f, const clt_session *s, clt_error *error) {
  const clt_search_loop *l = &s->loop;
  clt_best_query query = {.objective = l->objective, .beside = CLT_CONFIG_NONE};
  clt_config *const places[] = {&f->champion, &f->claimed[0], &f->claimed[1]};
  clt_best_known best = {.voice = 0};
  for (int i = 0; i < 3 && clt_session_asks_store(s); i++) {
    const int64_t voice = best.voice;
    if (i == 2 && voice == 0) break;
    query.believes = i > 0;
    query.without = i == 2 ? &voice : NULL;
    const int rc = clt_store_best(&best, l->store, &l->key, l->space, &query, error);
    if (rc) return rc;
    if (best.compared || best.alone) *places[i] = best.measurement.config;
    if (!best.others) break;
  }
  return CLT_OK;
}

/* Without a comparison the search's best counts; if it failed since, the next best. */
static int believe_search(clt_session *s, clt_error *error) {
  clt_measurement *best = &s->result->best;
  for (size_t i = 0; i < s->n_ranked; i++)
    if (s->ranked[i].config == best->config && !s->ranked[i].rejected) return CLT_OK;
  clt_measurement_release(best);
  clt_measurement_init(best, CLT_CONFIG_NONE);
  for (size_t i = 0; i < s->n_ranked; i++)
    for (size_t k = 0; !s->ranked[i].rejected && k < s->n_leaders; k++)
      if (s->leaders[k].measurement.config == s->ranked[i].config)
        return clt_session_keep(best, s->ranked[i].config, &s->leaders[k].measurement, error);
  return CLT_OK;
}

int clt_session_finalists(clt_session *s, clt_error *error) {
  size_t most = s->settings->finalists > MOST_FINALISTS ? s->settings->finalists : MOST_FINALISTS;
  if (s->settings->finalists == 0 || s->evaluator->keep == NULL || s->n_ranked == 0) return CLT_OK;
  clt_search_report report;
  clt_session_report(s, &report);
  finals f = {
      .configs = clt_new_array(most + 5, sizeof *f.configs), /* with the default, `beside`, champion and claimed */
      .measurements = clt_new_array(most + 5, sizeof *f.measurements),
      .differs = clt_new_array(clt_space_n_parameters(s->loop.space), sizeof *f.differs),
      .beside = report.timed_beside,
      .champion = CLT_CONFIG_NONE,
      .claimed = {CLT_CONFIG_NONE, CLT_CONFIG_NONE},
      .checked = CLT_CONFIG_NONE};
  clt_measurement *best = &s->result->best;
  clt_measurement_init(&f.leader, CLT_CONFIG_NONE);
  s->contest = "finalists";
  int rc = f.configs && f.measurements && f.differs ? CLT_OK : clt_fail_memory(error);
  if (rc == CLT_OK) rc = find_champions(&f, s, error);
  if (rc == CLT_OK) rc = play_finals(&f, s, most, error);
  if (rc == CLT_OK) rc = note_suspects(&f, s, error);
  if (rc == CLT_OK && s->limits.binds && f.leader.config != CLT_CONFIG_NONE) rc = compare_unbound(&f, s, error);
  s->contest = NULL;
  if (s->result->n_front == 0 && f.n_front > 0) {
    s->result->front = f.front;
    s->result->n_front = f.n_front;
  } else {
    clt_front_clear(&f.front, &f.n_front);
  }
  free(f.configs);
  free(f.measurements);
  free(f.differs);
  bool stopped = rc == CLT_E_STOPPED, found = f.leader.config != CLT_CONFIG_NONE;
  if (rc && !stopped) {
    clt_measurement_release(&f.leader);
    return rc;
  }
  if (!found && (stopped || f.n_out_of_memory > 0)) {
    const bool left = best_left(s) != NULL;
    const int believed = believe_search(s, error);
    if (believed) return believed;
    if (stopped || left) return rc;
  }
  clt_measurement_release(best);
  *best = f.leader;
  s->result->best_is_finalist = found;
  if (found) return rc;
  return clt_fail(error, CLT_E_VERIFY,
                  "all of the %zu fastest configurations fail when run again on other data or at another size; "
                  "'clatune verify' shows why",
                  f.next);
}
