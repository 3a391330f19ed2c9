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

CLT_BEGIN_C

#define CLT_DEFAULT_SEARCHER "surrogate"
#define CLT_DEFAULT_BUDGET 200     /* evaluations, where nothing else limits a search */
#define CLT_DEFAULT_TOLERANCE 0.02 /* what counts as equally good */
#define CLT_DEFAULT_CONFIDENCE 0.9

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

/* What a session leaves behind. Made by clt_tune_run and freed by clt_tune_result_free; members are only ever added at
 * the end. */
typedef struct clt_tune_result {
  uint64_t cartesian, valid;
  int64_t evaluations, measured, reused, aliased, n_correct;
  clt_measurement best;  /* config CLT_CONFIG_NONE where nothing was correct */
  bool best_is_finalist; /* time_s is the median of interleaved rounds */
  double best_spread;    /* relative: median absolute deviation / median of the best's runs */
  bool has_default;      /* the default configuration is correct: */
  clt_measurement default_measurement;
  clt_measurement timed_beside;   /* what the searcher wanted timed beside the winner, like the default
                                     (clatune/sys/searcher.h);   config CLT_CONFIG_NONE: nothing */
  double least_s;                 /* the best one's time in the search; NaN. What median_s compares with */
  double median_s;                /* of all correct evaluations; NaN */
  double least_cost, median_cost; /* the same of the objective's costs (clt_objective_cost) */
  int64_t n_without_value; /* correct evaluations for which the objective has no value, so that they were passed over */
  double quality;          /* the problem's figure of quality (clt_problem_quality_name) of the right result; NaN:
                              it has none, or everything was known, so that no reference was made */
  const clt_search_report *search;
  clt_phases phases; /* summed over the measured */
  double search_s;   /* wall seconds that the searcher took */
  double wall_s;
  bool stopped; /* by stop or time */
  clt_ending ending;
  size_t
      n_sources;   /* prior data that the searcher was given: recordings, what the store knows, a model's predictions */
  bool comparable; /* with the recorded searches of clatune/certainty.h: the searcher's default options (the problem
                      sets none either), no prior data, no warm start, and not cut short */
  int64_t n_confirmed_alone; /* of the evaluations that failed: in a process that had run no other configuration */
  int64_t n_machine_busy;    /* steps that were given more time than their limit because the machine was busy */
  char *second_size;         /* "width=512 height=512": sizes at which the best was verified as well; NULL: none */
  char **notes; /* n_notes sentences that belong beside the result: what disturbed the measurements and what to do,
                   why the fastest of the search is not the best */
  size_t n_notes;
  double waited_s; /* of wall_s: for other tuners that used the device */
} clt_tune_result;

/* How many evaluations failed for a reason; *example (nullable): the first of them. */
int64_t clt_tune_n_failed(clt_config *example, const clt_tune_result *result, clt_reason reason);

/* How far a session is; borrowed by the callback. */
typedef struct clt_progress {
  const char *phase;             /* "default", "suggestions", the searcher's phase, "finalists" */
  int64_t done, total;           /* evaluations; total is at most the size of the space, where there is no budget too */
  const clt_tune_result *so_far; /* its counts and its best */
  double best_value;             /* the best one's value of the objective */
  double elapsed_s;              /* without waited_s */
  double time_limit_s;           /* the settings' time_s; 0: none. Then the session may end long before total */
  const clt_measurement *last;   /* the newest result; NULL where only the phase changed */
} clt_progress;
typedef void (*clt_progress_fn)(void *user, const clt_progress *progress);

typedef struct clt_tune_settings {
  size_t struct_size;             /* set by clt_tune_settings_init */
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
                                             transfer. One with other parameters is left out with a warning */
  size_t n_learn_from;
  const char *objective; /* what is optimised, in the form of --objective (docs/objectives.md). NULL: what the problem
                            says, else time. What the store has without the energy that it needs is measured again */
  bool no_transfer;      /* do not learn from what the store knows of the kernel on other devices and at other sizes */
  clt_store *store;      /* nullable: nothing is kept */
  bool no_reuse;         /* measure again what the store knows */
  int64_t budget; /* evaluations, exactly obeyed; 0: what the searcher's options ask for, else the problem's Budget,
                     else no limit where there is one of time, space_fraction or stagnation, else
                     CLT_DEFAULT_BUDGET. Of several limits the first that is reached ends the search */
  double time_s;  /* wall seconds, without those that are waited for other tuners to leave the device; 0: none. No new
                     evaluation begins after it; what is under way is waited for, and the finalists come then */
  double space_fraction; /* at most this part of the valid configurations, at least one; 0: no such limit */
  double target;      /* ends with the first evaluation that is as good: a value of the objective (seconds, where that
                         is time); 0: none */
  int64_t stagnation; /* ends after so many evaluations in which nothing was better by more than the tolerance than
                         the last one that was; 0: never. As with target, what is under way then counts too */
  double tolerance, confidence; /* 0: CLT_DEFAULT_TOLERANCE and CLT_DEFAULT_CONFIDENCE */
  unsigned finalists;           /* timed again in interleaved rounds at the end; 0: none */
  const clt_config *begin_with; /* nullable: n_begin_with that are evaluated right after the default configuration; the
                                   searcher is told, and takes it from there */
  size_t n_begin_with;
  const clt_model *model; /* nullable: one of times, fitted on other sizes and bound to the instance.
                             What it suggests is evaluated first, too, and a searcher that transfers learns from its
                             predictions instead of what the store knows of other sizes and devices. Borrowed */
  bool skip_default;      /* do not begin with the default configuration */
  size_t batch; /* how many to ask for at once; 0: what the evaluator takes, or works on at once where the searcher is
                   sequential */
  uint64_t seed;
  unsigned threads;
  clt_progress_fn progress;
  clt_log_fn log;
  void *user;               /* for progress, log and check */
  const volatile int *stop; /* polled; not 0: end as soon as possible with CLT_E_STOPPED, result filled. Set by a signal
                          handler through a volatile sig_atomic_t, or by another thread with an atomic store;
                          nullable */
  /* Nullable: has the last word on a winner, whose measurement it may fail (clt_measurement_fail): then the next
   * fastest finalist is asked for. Not 0: the session fails. */
  int (*check)(void *user, clt_measurement *winner, clt_error *error);
  /* Nullable: n_more_devices beside the instance's, of the same name and driver version (CLT_E_ARGUMENT where they
   * differ). The evaluator "opencl" spreads what is measured over all of them; finalists are on the instance's. Where
   * one takes longer or shorter for the default configuration by more than 3 %, its times are scaled by that ratio, and
   * a warning says so. CLT_E_UNSUPPORTED with an evaluator that works on one device, or with energy. */
  const clt_device_info *more_devices;
  size_t n_more_devices;
  int64_t learn_before_s; /* of what the store knows of other devices and sizes, only what was measured before this Unix
                             time is learnt from; 0: all */
  int64_t *steps; /* nullable: grows as long as something is under way that is looked after, also where `progress` shows
                     no more evaluations, as among finalists. For other threads: added to atomically */
} clt_tune_settings;
void clt_tune_settings_init(clt_tune_settings *settings);

/* Runs a session. *out is made also where that fails, with what is known until then, unless memory is short or the
 * settings were not initialised: then it is NULL. CLT_E_STOPPED on request, CLT_E_NO_VALID where nothing was correct,
 * CLT_E_VERIFY where no finalist was right on other data. */
int clt_tune_run(clt_tune_result **out, const clt_tune_settings *settings, clt_error *error);
void clt_tune_result_free(clt_tune_result *result); /* nullable */

CLT_END_C
#endif
