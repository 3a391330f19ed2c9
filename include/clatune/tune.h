/* clatune/tune.h - the tuning session: ask a searcher, answer from the store or measure, record, tell; then finalists.
 *
 * An *evaluation* is a configuration that the searcher asked for and got an answer to, failed ones too, whether
 * measured now or found in the store. Repeats, finalists and statically invalid configurations do not count. */
#ifndef CLATUNE_TUNE_H
#define CLATUNE_TUNE_H

#include <clatune/model.h>
#include <clatune/recording.h>
#include <clatune/store.h>
#include <clatune/sys/evaluator.h>
#include <clatune/sys/searcher.h>

#ifdef __cplusplus
extern "C" {
#endif

/* How far a session is; borrowed by the callback. */
typedef struct clt_progress {
  const char *phase;   /* "default", the searcher's phase, "finalists" */
  int64_t done, total; /* evaluations; total is at most the size of the space, where there is no budget too */
  int64_t measured, reused;
  int64_t by_invalidity[CLT_N_INVALIDITIES]; /* [CLT_CORRECT] are the correct ones */
  clt_config best;                           /* CLT_CONFIG_NONE: none yet */
  double best_s;                             /* its time, and its value of the objective */
  double best_value;
  double elapsed_s;
  double time_limit_s;         /* the settings' time_s; 0: none. Then the session may end long before total */
  const clt_measurement *last; /* the newest result; NULL where only the phase changed */
} clt_progress;
typedef void (*clt_progress_fn)(void *user, const clt_progress *progress);

#define CLT_DEFAULT_SEARCHER "surrogate"

/* What ended a search: whichever limit came first. */
typedef enum clt_ending {
  CLT_NOT_ENDED, /* in a result: the searcher had nothing more to ask for */
  CLT_ENDED_BY_BUDGET,
  CLT_ENDED_BY_TIME,
  CLT_ENDED_BY_TARGET,
  CLT_ENDED_BY_STAGNATION,
  CLT_ENDED_ON_REQUEST
} clt_ending;
const char *clt_ending_name(clt_ending ending); /* "space", "budget", "time", "target", "stagnation", "request" */

typedef struct clt_tune_settings {
  const clt_instance *instance;   /* NULL: then space, and an evaluator that needs no problem */
  const clt_space *space;         /* used where instance is NULL */
  const clt_recording *recording; /* for the evaluator "replay"; nullable */
  const char *evaluator;          /* NULL: clt_tune_evaluator */
  const clt_setting *evaluator_settings;
  size_t n_evaluator_settings;
  const char *searcher; /* NULL: clt_tune_searcher */
  const clt_setting *searcher_settings;
  size_t n_searcher_settings;
  const clt_config *configurations; /* nullable: these are evaluated, in this order, and the searcher is not asked */
  size_t n_configurations;          /* their number is the budget */
  const clt_recording *const *learn_from; /* n_learn_from: the same kernel on other devices, for searchers that
                                             transfer. One with other parameters is left out, and that is said */
  size_t n_learn_from;
  const char
      *objective;   /* what is optimised, as clt_objective_new (clatune/objective.h) takes it. NULL: what the problem
                       says,   else time. What the store has without the energy that it needs is measured again */
  bool no_transfer; /* do not learn from what the store knows of the kernel on other devices and at other sizes */
  clt_store *store; /* nullable: nothing is kept */
  bool no_reuse;    /* measure again what the store knows */
  int64_t budget;   /* evaluations, exactly obeyed; 0: what the searcher's options ask for, else the problem's Budget,
                       else no limit where there is one of time, space_fraction or stagnation, else 200. Of several
                       limits the first that is reached ends the search */
  double time_s;    /* wall seconds; 0: none. No new evaluation begins after it; what is under way is waited for,
                       and the finalists come then */
  double space_fraction; /* at most this part of the valid configurations, at least one; 0: no such limit */
  double target;      /* ends with the first evaluation that is as good: a value of the objective (seconds, where that
                         is time); 0: none */
  int64_t stagnation; /* ends after so many evaluations in which nothing was better by more than the tolerance than
                         the last one that was; 0: never. As with target, what is under way then counts too */
  double tolerance, confidence; /* 0: 0.02 and 0.9 */
  unsigned finalists;           /* re-timed interleaved at the end; 0: none */
  const clt_config *begin_with; /* nullable: n_begin_with that are evaluated right after the default configuration; the
                                   searcher is told, and takes it from there */
  size_t n_begin_with;
  const clt_model *model; /* nullable: one of times, fitted on other sizes and bound to the instance (clatune/predictor.h). What it
                             suggests is begun with, too, and a searcher that transfers learns from its predictions
                             instead of what the store knows of other sizes and devices. Borrowed */
  bool skip_default;            /* do not begin with the default configuration */
  size_t batch; /* how many to ask for at once; 0: what the evaluator takes, or works on at once where the searcher is
                   sequential */
  uint64_t seed;
  unsigned threads;
  clt_progress_fn progress;
  clt_log_fn log;
  void *user;               /* for progress and log */
  const volatile int *stop; /* polled; not 0: end as soon as possible with CLT_E_STOPPED, result filled. Set by a signal
                          handler through a volatile sig_atomic_t, or by another thread with an atomic store;
                          nullable */
} clt_tune_settings;
void clt_tune_settings_init(clt_tune_settings *settings);

/* The names that a session uses where `chosen` is NULL: the evaluator "command" for a problem that is one, otherwise
 * "opencl"; the searcher that the problem asks for, otherwise CLT_DEFAULT_SEARCHER. problem is nullable. */
const char *clt_tune_evaluator(const char *chosen, const clt_problem *problem);
const char *clt_tune_searcher(const char *chosen, const clt_problem *problem);

typedef struct clt_tune_result {
  uint64_t cartesian, valid;
  int64_t evaluations, measured, reused, aliased;
  int64_t by_invalidity[CLT_N_INVALIDITIES];
  int64_t by_reason[CLT_N_REASONS];
  clt_config example[CLT_N_REASONS]; /* the first evaluation with that reason, where by_reason is not 0 */
  clt_measurement best;              /* config CLT_CONFIG_NONE where nothing was correct */
  bool best_is_finalist;             /* time_s is the median of interleaved rounds */
  double best_spread;                /* relative: median absolute deviation / median of the best's runs */
  bool has_default;                  /* the default configuration is correct: */
  clt_measurement default_measurement;
  clt_measurement first_stage_best; /* the fastest random sample, where the searcher has stages: config CLT_CONFIG_NONE
                                       if not; timed among the finalists like the default */
  double least_s;                   /* the best one's time in the search; NaN. What median_s compares with */
  double median_s; /* of all correct evaluations; NaN */
  double least_cost, median_cost; /* the same of the objective's costs (clt_objective_cost) */
  int64_t n_without_value; /* correct evaluations for which the objective has no value, so that they were passed over */
  double quality;  /* the problem's figure of quality (clt_problem_quality_name) of the right result; NaN:
                      it has none, or everything was known, so that no reference was made */
  clt_search_report search;
  clt_phases phases; /* summed over the measured */
  double search_s;   /* wall seconds that the searcher took */
  double wall_s;
  bool stopped; /* by stop or time */
  clt_ending ending;
} clt_tune_result;

/* Runs a session. Fills *result also with CLT_E_STOPPED and CLT_E_NO_VALID. Release with clt_tune_result_release. */
int clt_tune(clt_tune_result *result, const clt_tune_settings *settings, clt_error *error);
void clt_tune_result_release(clt_tune_result *result);

#ifdef __cplusplus
}
#endif
#endif
