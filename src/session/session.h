/* session/session.h - the session of clt_tune_run, and the checks of configurations; shared by the files of this
 * component. */
#pragma once

#include <clatune/online.h>
#include <clatune/tune.h>

#include "base/base.h"
#include "problem/checks.h"
#include "problem/guidance.h"
#include "session/contest.h"
#include "session/loop.h"
#include "session/sources.h"

/* --- given configurations (verify.c) --- */

/* Without a contest, for `clatune verify`: handles the configurations one after the other: prepares, verifies on the
 * problem's input and on ends of ranges, and runs once more (unless settings->finalists is 0). With a contest, for
 * `clatune measure`: verifies on other inputs instead, and all configurations are timed together in its rounds. Also
 * used of the settings: evaluator, its settings, log, user and stop. out[i] is the caller's, unless there is an error;
 * *quality (nullable) is the problem's figure of quality, NaN if it has none. */
int clt_verify_configs(clt_measurement *out, double *quality, const clt_instance *instance, const clt_config *configs,
                       size_t n, const clt_contest_policy *contest, const clt_tune_settings *settings,
                       clt_error *error);

/* Opens the evaluator of the settings with this setup (of which only these members are used: quality, energy, checks,
 * n_checks, answers, lenient, mirrored, more_follow, printed, inputs, no_reference, limit_s), prepares and checks
 * configurations, and closes it. contest: NULL, or all configurations are timed together. */
int clt_keep_configs(clt_measurement *out, clt_evaluator_setup setup, const clt_instance *instance,
                     const clt_config *configs, size_t n_configs, const clt_contest_policy *contest,
                     const clt_tune_settings *settings, clt_error *error);

/* Runs a configuration on the same data, without comparing its result. CLT_E_AGAIN after limit_s. */
int clt_run_config(clt_measurement *out, const clt_instance *instance, clt_config config,
                   const clt_tune_settings *settings, double limit_s, clt_error *error);

/* --- the check plan (checks.c) --- */

typedef struct clt_checking {
  const clt_instance *instance;
  const clt_tune_settings *settings; /* used: evaluator, its settings, log, user and stop */
  double run_s;                      /* estimated time of a run; chooses the sizes */
  double aim_s;                      /* about how long the checks at large sizes take */
  bool thorough;                     /* each size becomes the large one in turn, however long that takes */
  double check_s;                    /* the shortest time of a check so far; 0: none */
  clt_config accused; /* in, out: a configuration that only the default judged incorrect; CLT_CONFIG_NONE */
  char *unfollowed;   /* in, out: which arguments the reference does not follow; owned, nullable */
  bool allied;        /* in, out: the accused agree with each other */
  bool mirrored;      /* work-items and groups do the work of the opposite ones */
  bool late;          /* out: the last stage took longer than its limit */
  bool more_follow;   /* checks at other sizes come next: a process is started for them meanwhile */
  /* Called when memory is short, before one more attempt. */
  int (*make_room)(void *user, clt_error *error);
  void (*tell)(void *user, const char *what); /* what is being checked; nullable */
  void *user;
  clt_check_result *results; /* out */
  size_t n_results, capacity;
} clt_checking;

/* Makes the checks of the plan. *m, which is correct on the problem's own input, fails if its result is incorrect in
 * one that the default configuration passes; its log then has sizes and inputs. */
int clt_check_config(clt_checking *c, clt_measurement *m, clt_error *error);
/* How well the comparison notices that one element of an input is left out: the change of the correct result, as a
 * multiple of the tolerance. Below 1: it would not be noticed. */
typedef struct clt_margin {
  const char *argument; /* borrowed from the problem */
  double last, middle;  /* of the last element, and of one in the middle; NaN: unknown */
  double relative_tolerance;
} clt_margin;
/* *out is malloc'ed; one for each input array. */
int clt_check_margins(clt_margin **out, size_t *n, clt_checking *c, clt_config config, clt_error *error);
void clt_check_results_clear(clt_check_result **results, size_t *n);
/* The stages that clt_check_config begins with (n_stages at most 3): ragged, even if there are no ragged ones, large.
 */
int clt_check_stages(clt_check_stage out[3], size_t *n_stages, clt_checking *c, clt_config config, clt_error *error);
/* The check of finalists at the tuning's own sizes. */
clt_check clt_finalist_check(const clt_instance *instance);
/* The recipe with its judge at an instance: data files are no reference for other inputs, so there the default
 * configuration judges. */
clt_recipe clt_recipe_with_judge(clt_recipe recipe, const clt_instance *at);

/* --- a session (tune.c, result.c, contest.c) --- */

/* A correct evaluation. */
typedef struct clt_ranked {
  clt_config config; /* canonical */
  double time_s;
  double cost, median_cost; /* from its shortest run, and from the median of its runs */
  double spread;            /* of its runs: (median - shortest) / shortest; negative: too few runs */
  double rank;              /* the one of the two costs that it is ranked by */
  clt_reason rejected;      /* why it failed as a finalist; CLT_REASON_NONE: it has not */
  double final_cost;        /* from the median of its rounds as a finalist; NaN: it was none, or failed */
  double final_spread;      /* of its rounds: median absolute deviation / median */
} clt_ranked;

/* A clt_tune_result with the memory that it points to. */
typedef struct clt_counted_result {
  clt_tune_result result; /* first */
  clt_search_report search;
  int64_t by_reason[CLT_N_REASONS];
  clt_config example[CLT_N_REASONS];
} clt_counted_result;

/* One of the best evaluations of the search, with its runs. */
typedef struct clt_leader {
  double cost;
  clt_measurement measurement;
} clt_leader;
#define CLT_MOST_LEADERS 32 /* as many as finalists in one comparison */

typedef struct clt_session {
  const clt_tune_settings *settings;
  clt_tune_result *result;
  clt_search_loop loop;
  double tolerance, confidence;
  clt_config first; /* the default configuration; CLT_CONFIG_NONE: it is not evaluated */
  double start_s, last_progress_s;
  char waits[400]; /* what the evaluator waits for, as it said at waits_s */
  double waits_s;
  clt_processor_time used; /* at the start */
  const char *contest;     /* what the comparison of finalists is doing: "finalists", "checks"; NULL: it does not run */
  bool unbound;            /* the evaluator times without binding threads to processors */
  const clt_evaluator_type *evaluator;
  clt_evaluator_limits limits;
  void *evaluator_options, *evaluator_state; /* state is NULL unless open */
  clt_check finalist_check;                  /* of each finalist, at the tuning's sizes */
  clt_check_answer finalist_answer;
  clt_sources sources;
  bool predicted;       /* the first source is the model's predictions */
  double improved_cost; /* at the latest improvement by more than the tolerance; 0: nothing correct yet */
  int64_t improved_at;  /* number of evaluations at that improvement */
  clt_config accused;   /* see clt_checking */
  char *unfollowed;
  bool allied;
  double race_check_s; /* seconds that the checks for races have taken so far */
  int64_t n_throttled; /* measurements during which the device's clock stayed low */
  bool told_oddity;    /* a finding of Oclgrind that does not count has been reported */
  clt_ranked *ranked;
  size_t ranked_capacity, n_ranked;
  clt_leader leaders[CLT_MOST_LEADERS]; /* in no order; correct, so they own no memory */
  size_t n_leaders;
} clt_session;

clt_ending clt_session_ending(const clt_session *session); /* CLT_NOT_ENDED: more may begin */
/* Searches until a limit or the searcher ends it; CLT_E_STOPPED on request. */
int clt_session_search(clt_session *session, clt_error *error);
/* Makes the checks of the plan for the prospective winner (checks.c). It fails if its result is incorrect in one that
 * the default configuration passes. */
int clt_session_verify(clt_session *session, clt_measurement *winner, clt_error *error);
/* Verifies the fastest on other inputs and compares them in rounds; the winner must also pass the check plan.
 * CLT_E_VERIFY if none is left. */
int clt_session_finalists(clt_session *session, clt_error *error);

/* result.c */
/* The number of evaluations with an invalidity, in a result of clt_tune_run. */
int64_t clt_tune_n_invalid(const clt_tune_result *result, clt_invalidity invalidity);
clt_tune_result *clt_result_new(void);
/* Counts an answer to `asked` and keeps the parts that the result needs. */
int clt_session_count(clt_session *session, clt_config asked, double cost, const clt_measurement *measurement,
                      clt_origin origin, clt_error *error);
/* A measurement with the median of its runs as its time or figure; borrows its log. */
clt_measurement clt_session_at_median(const clt_measurement *measurement);
/* Replaces *out with a copy of a measurement, as that of config. */
int clt_session_keep(clt_measurement *out, clt_config config, const clt_measurement *measurement, clt_error *error);
/* The searcher's current report. */
void clt_session_report(const clt_session *session, clt_search_report *out);
/* Adds a note to the result. */
int clt_session_note(clt_session *session, clt_error *error, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* front.c, for several objectives */
/* Adds a correct measurement to the result's front unless another one dominates it. changed: nullable. */
int clt_front_offer(bool *changed, clt_tune_result *result, const clt_objective *objective, const clt_measurement *m,
                    clt_error *error);
void clt_front_remove(clt_tune_result *result, clt_config config);
/* Up to `most` of the front: the best by each objective, then always the one farthest from those chosen. */
int clt_front_spread(clt_config *out, size_t *n_out, size_t most, clt_tune_result *result,
                     const clt_objective *objective, clt_error *error);
int clt_front_sort(clt_tune_result *result, const clt_objective *objective, clt_error *error);
void clt_front_clear(clt_measurement **front, size_t *n);
/* Whether the store's best known configuration becomes the result's. */
bool clt_session_asks_store(const clt_session *session);
/* Makes the best known configuration of the store the result's, as look-ups and reports name it. It is another one than
 * that of the search if the search had no comparison, or if the best known could not take part in it. */
int clt_session_take_best_known(clt_session *session, clt_error *error);
/* Completes the result from the counted answers. */
int clt_session_summarise(clt_session *session, clt_error *error);
void clt_session_progress(clt_session *session, const clt_measurement *last);
#define CLT_TICK_S 0.4 /* with waits of 0.1 s, progress is reported every 0.5 s */
void clt_session_note_waits(void *session, const char *what); /* for clt_evaluator_setup */

/* The number of answered evaluations, including those from the store. */
int64_t clt_online_n_answered(clt_online *online);
