/* clatune/tune.h - tunes with all settings: a searcher proposes configurations, the store or a measurement answers,
 * results are stored, and at the end the finalists are compared.
 *
 * An evaluation is a configuration that the searcher asked for and got an answer to: a time or a failure, measured now
 * or known from the store. Repeated runs, finalists and configurations that violate a constraint do not count. */
#ifndef CLATUNE_TUNE_H
#define CLATUNE_TUNE_H

#include <clatune/model.h>
#include <clatune/recording.h>
#include <clatune/store.h>
#include <clatune/sys/evaluator.h>
#include <clatune/sys/searcher.h>

CLT_BEGIN_C

#define CLT_DEFAULT_SEARCHER "surrogate"
#define CLT_DEFAULT_BUDGET 200     /* evaluations, if nothing else limits a search */
#define CLT_DEFAULT_TOLERANCE 0.02 /* relative difference that counts as equally good */
#define CLT_DEFAULT_CONFIDENCE 0.9 /* below 1; for searchers that decide how much to measure */

/* What ended a search: the limit that was reached first. */
typedef enum clt_ending {
  CLT_NOT_ENDED, /* in a result: the searcher had nothing left to ask for */
  CLT_ENDED_BY_BUDGET,
  CLT_ENDED_BY_TIME,
  CLT_ENDED_BY_TARGET,
  CLT_ENDED_BY_STAGNATION,
  CLT_ENDED_ON_REQUEST
} clt_ending;

/* "space", "budget", "time", "target", "stagnation" or "request"; static. */
const char *clt_ending_name(clt_ending ending);

/* A check of a configuration besides the comparison on the problem's own input. */
typedef struct clt_check_result {
  char *sizes;     /* "width=512 height=512"; "": the problem has none */
  bool own_sizes;  /* those of the tuning */
  char *inputs;    /* "other inputs", "spikes 3" */
  bool mirrored;   /* work-items and groups did the work of the opposite ones */
  bool by_default; /* the default configuration was the judge, not the stated reference */
  bool passed; /* false: the check proves nothing, or was not made; a configuration that fails one is not the best */
  char *why;   /* why it was not made or proves nothing, or why the default is the judge; nullable */
} clt_check_result;

/* Whether Oclgrind checks the winner for data races and accesses out of bounds, at small sizes. The check runs in a
 * thread and workers of its own. */
typedef enum clt_race_need {
  CLT_RACES_IGNORED,
  CLT_RACES_IF_POSSIBLE, /* at most 30 s, if Oclgrind is installed and the evaluator is "opencl" */
  CLT_RACES_REQUIRED     /* at most 10 minutes; CLT_E_DEVICE without Oclgrind */
} clt_race_need;

typedef enum clt_race_check {
  CLT_RACES_NOT_CHECKED,
  CLT_RACES_NONE_FOUND,
  CLT_RACES_SHARED /* the winner has a fault, and so has the default configuration */
} clt_race_check;

/* "not checked", "passed" or "failed"; static. */
const char *clt_race_check_name(clt_race_check check);

/* The result of a tuning, made by clt_tune_run. Later versions add members at the end only. */
typedef struct clt_tune_result {
  uint64_t cartesian, valid;
  int64_t evaluations, measured, reused, aliased, n_correct; /* aliased: known from an equivalent configuration */
  clt_measurement best;                                      /* config CLT_CONFIG_NONE: nothing was correct */
  bool best_is_finalist;                                     /* time_s is the median of interleaved rounds */
  double best_spread;                                        /* median absolute deviation / median of its runs */
  bool has_default;                                          /* the default configuration is correct; then: */
  clt_measurement default_measurement;
  clt_measurement timed_beside;   /* a configuration that the searcher wanted compared with the winner, as the default
                                     is (clatune/sys/searcher.h); config CLT_CONFIG_NONE: none */
  double least_s;                 /* shortest time in the search, in seconds; NaN: none */
  double median_s;                /* median time of all correct evaluations; NaN: none */
  double least_cost, median_cost; /* the same for the objective's costs */
  int64_t n_without_value;        /* correct evaluations that were ignored, as the objective has no value for them */
  double quality;                 /* the problem's quality of the correct result ("Quality"); NaN: it states none, or no
                                     reference was computed, as everything was known */
  const clt_search_report *search;
  clt_phases phases; /* summed over all measured configurations */
  double search_s;   /* wall seconds that the searcher computed */
  double wall_s;
  bool stopped; /* by the setting stop or time_s */
  clt_ending ending;
  size_t n_sources; /* sources that the searcher got: recordings, stored measurements, a model's predictions */
  bool comparable;  /* with replays of recorded spaces: default options of the searcher, no sources, no warm start, and
                       not ended early */
  int64_t n_confirmed_alone; /* failed evaluations that failed in a process that had run nothing else */
  int64_t n_machine_busy;    /* steps that got more time than their limit, as the machine was busy */
  clt_check_result *checks;  /* n_checks checks of the best (docs/explanation/trust.md) */
  size_t n_checks;
  double checks_s; /* wall seconds of the checks at other sizes, of all prospective winners */
  char **notes;    /* n_notes remarks on the result: what disturbed the measurements and what to do, or why the fastest
                      configuration of the search is not the best */
  size_t n_notes;
  double waited_s;           /* part of wall_s that was waited for other tuners on the device */
  clt_race_check race_check; /* of the best */
  char *race_reason;         /* why it could not be checked; nullable */
  clt_measurement *front; /* several objectives: n_front configurations that no other one dominates, in the order of the
                             first objective. If best_is_finalist, they are the finalists that none dominates */
  size_t n_front;
} clt_tune_result;

/* The number of evaluations that failed for a reason. *example (may be NULL): the first of them. */
int64_t clt_tune_n_failed(clt_config *example, const clt_tune_result *result, clt_reason reason);

/* The progress of a tuning; valid during the callback only. */
typedef struct clt_progress {
  const char *phase;             /* "default", "suggestions", the phase of the searcher, "finalists" or "checks" */
  int64_t done, total;           /* evaluations; total is the budget, or the size of the space if that is smaller */
  const clt_tune_result *so_far; /* counts and best so far */
  double best_value;             /* value of the objective for the best */
  double elapsed_s;              /* without waited_s */
  double time_limit_s;           /* the settings' time_s; 0: none. The search may end before total is reached */
  const clt_measurement *last;   /* the newest result; NULL: only the phase changed */
  const char *waits; /* what takes longer than a moment, such as "compiling 4 configurations, the longest for
                        48 s (limit 60 s)"; NULL: nothing */
} clt_progress;
typedef void (*clt_progress_fn)(void *user, const clt_progress *progress);

/* Settings of a tuning; prepare them with clt_tune_settings_init. Pointers are borrowed during clt_tune_run. */
typedef struct clt_tune_settings {
  size_t struct_size;             /* set by clt_tune_settings_init */
  const clt_instance *instance;   /* what is tuned; NULL: use space, with an evaluator that needs no problem */
  const clt_space *space;         /* used if instance is NULL */
  const clt_recording *recording; /* for the evaluator "replay"; nullable */
  const char *evaluator;          /* NULL: "command" for problems that run programs, else "opencl" */
  const clt_setting *evaluator_settings;
  size_t n_evaluator_settings;
  const char *searcher; /* NULL: the searcher of the problem, else CLT_DEFAULT_SEARCHER */
  const clt_setting *searcher_settings;
  size_t n_searcher_settings;
  const clt_config *configurations;       /* evaluate these in this order, without a searcher; nullable */
  size_t n_configurations;                /* is then the budget */
  const clt_recording *const *learn_from; /* recordings of the same kernel on other devices, as sources. One with
                                             other parameters is ignored with a warning */
  size_t n_learn_from;
  const char *objective; /* in the form of --objective (docs/reference/objectives.md), `best` is by the first; NULL: the
                            objective of the problem, else time. If it needs energy, configurations stored without it
                            are measured again */
  bool no_transfer;      /* do not use stored measurements of other devices and sizes as sources */
  clt_store *store;      /* NULL: nothing is kept */
  bool no_reuse;         /* measure again what is stored */
  int64_t budget;        /* evaluations, at most; 0: the number that the searcher's options ask for, else the problem's
                            Budget, else none if time_s, space_fraction or stagnation is given, else
                            CLT_DEFAULT_BUDGET. The first limit that is reached ends the search */
  double time_s; /* wall seconds after which no further evaluation begins, without waiting for other tuners; 0: none.
                    Evaluations under way are finished, and finalists are compared after that */
  double space_fraction; /* evaluate at most this part of the valid configurations, but at least one; 0: no limit */
  double target;         /* end with the first evaluation that is at least as good as this value of the objective
                            (for time, in seconds); 0: none */
  int64_t stagnation;    /* end after this many evaluations without an improvement of more than tolerance; 0: never.
                            With target and stagnation, evaluations under way still count */
  double tolerance, confidence; /* 0: CLT_DEFAULT_TOLERANCE and CLT_DEFAULT_CONFIDENCE */
  unsigned finalists;           /* configurations to time again in interleaved rounds at the end; 0: none */
  const clt_config *begin_with; /* n_begin_with warm-start configurations, evaluated after the default configuration;
                                   nullable */
  size_t n_begin_with;
  const clt_model *model; /* a model of times fitted at other sizes and bound to the instance, for a warm start;
                             nullable. A searcher that transfers uses its predictions as the source, instead of stored
                             measurements of other sizes and devices */
  bool skip_default;      /* do not begin with the default configuration */
  size_t batch; /* configurations to ask for at once; 0: as many as the evaluator accepts, or works on if the searcher
                   is sequential */
  uint64_t seed;
  unsigned threads;
  clt_progress_fn progress;
  clt_log_fn log;
  void *user;               /* passed to progress, log and check */
  const volatile int *stop; /* polled: not 0 ends as soon as possible with CLT_E_STOPPED and a filled result; nullable.
                          A signal handler may set it (volatile sig_atomic_t), or another thread (atomic store) */
  /* Last check of a winner; nullable. It may make the measurement a failure (clt_measurement_fail): then the next
   * fastest finalist is checked. If it does not return 0, the tuning fails with that code. */
  int (*check)(void *user, clt_measurement *winner, clt_error *error);
  /* Further devices with the same name and driver version (else CLT_E_ARGUMENT); nullable. The evaluator "opencl"
   * spreads the search over all of them and times finalists on the instance's. If a device takes more than 3 % longer
   * or shorter for the default configuration, its times are scaled by that ratio, with a warning. CLT_E_UNSUPPORTED:
   * the evaluator works on one device only, or the objective needs energy. */
  const clt_device_info *more_devices;
  size_t n_more_devices;
  int64_t learn_before_s; /* sources from the store contain only what was measured before this Unix time; 0: all */
  int64_t *steps; /* grows as long as work is under way, also while the number of evaluations does not change, as among
                     finalists; added to atomically, for a watching thread; nullable */
  clt_race_need races; /* needs finalists */
  bool is_separate;    /* the result is of this search alone, not the best known configuration of the store */
} clt_tune_settings;
void clt_tune_settings_init(clt_tune_settings *settings); /* finalists 5, seed 1, all else 0 */

/* Tunes. *out is also set on failure, with the results so far; it is NULL if there is no memory or the settings were
 * not initialised. Free it with clt_tune_result_free. CLT_E_STOPPED: on request. CLT_E_NO_VALID: no configuration was
 * correct. CLT_E_VERIFY: no finalist was correct on other data. CLT_E_NOT_FOUND: no such searcher or evaluator. */
int clt_tune_run(clt_tune_result **out, const clt_tune_settings *settings, clt_error *error);
void clt_tune_result_free(clt_tune_result *result); /* NULL is allowed */

CLT_END_C
#endif
