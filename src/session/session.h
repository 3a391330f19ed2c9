/* session/session.h - shared by the files of this component: known answers, the search loop, prior data, the finalists'
 * rounds, and the session of clt_tune_run. */
#ifndef CLT_SESSION_SESSION_H
#define CLT_SESSION_SESSION_H

#include <clatune/online.h>
#include <clatune/tune.h>

#include "base/map.h"
#include "measurement/objective.h"
#include "problem/checks.h"
#include "problem/guidance.h"
#include "store/store.h"
#include "worker/lock.h"

/* --- known answers (loop.c) --- */

/* Answers from the store and from this session, by canonical configuration. Zeroed before use. */
typedef struct clt_known {
  clt_map index; /* configuration to index in entries */
  struct clt_known_entry *entries;
  size_t n, capacity;
  int64_t newest; /* number of the newest record that was read; 0: none */
} clt_known;

void clt_known_release(clt_known *known);

/* Reads a store's newest answers (clt_store_newest). A second call adds the answers that others have stored since.
 * Existing answers stay. */
int clt_known_load(clt_known *known, clt_store *store, const clt_store_key *key, const clt_space *space,
                   bool needs_energy, clt_error *error);

/* The origin of an answer. */
typedef enum clt_origin { CLT_NOT_KNOWN, CLT_FROM_STORE, CLT_FROM_SESSION } clt_origin;

/* Fills *out, owned by the caller, unless nothing is known. The first time, an answer from the store has all its runs,
 * and the configuration then counts as answered in this session; later answers have reason, time and energy only. */
clt_origin clt_known_take(clt_known *known, clt_config config, clt_measurement *out);

/* --- the loop (loop.c): ask, look up or measure, store, tell --- */

/* A configuration that was asked for and has no answer yet. */
typedef struct clt_pending {
  clt_config asked, canonical;
  size_t initial;     /* its index among the initial ones; CLT_NOT_INITIAL */
  bool measuring;     /* false: waits for the result of another pending one with the same canonical configuration */
  double elsewhere_s; /* since when another tuner has been measuring it; 0: it is measured here */
} clt_pending;

#define CLT_NOT_INITIAL SIZE_MAX

/* Zeroed before use. The members under "by the caller" are set between clt_loop_choose_searcher and clt_loop_start. The
 * loop does not measure: its driver does, with workers, a recording, a program or an application's own queue. */
typedef struct clt_search_loop {
  /* By the caller. */
  const clt_space *space;
  clt_objective *objective; /* owned */
  int64_t budget;           /* evaluations; INT64_MAX: no limit */
  clt_config *initial;      /* n_initial, owned: evaluated before the searcher is asked; see has_default */
  size_t n_initial;
  bool has_default;       /* the first initial one is the default configuration; the others begin after its answer */
  const clt_config *list; /* nullable: n_list configurations, evaluated instead of asking the searcher */
  size_t n_list;
  clt_store *store; /* nullable */
  clt_store_key key;
  /* Called with every answer, after the searcher was told. cost is NaN if it failed or has no value. */
  int (*on_answer)(void *user, clt_config asked, double cost, const clt_measurement *m, clt_origin origin,
                   clt_error *error);
  bool (*may_begin)(void *user);
  void *user;

  const clt_searcher_type *searcher;
  void *options, *state; /* state is NULL until initialised */
  bool default_options;  /* neither the caller nor the problem sets options */
  double search_s;       /* wall-clock seconds in the searcher */

  clt_known known;
  bool reuses;            /* uses the store's answers: see clt_loop_reuse */
  uint64_t version;       /* the store's version when it was last read */
  clt_device_lock claims; /* if it reuses */
  uint64_t claims_hash;   /* of the store and the key */
  int64_t n_begun;        /* evaluations begun, including answered ones */
  size_t n_initial_begun, n_initial_answered;
  bool told_initial;
  clt_measurement *initial_answers; /* without logs */
  clt_config *evaluated;            /* the initial configurations, canonical */
  clt_config *queue;                /* asked for by the searcher, or from the list, and not begun */
  size_t queue_capacity, n_queue, queue_next;
  clt_pending *pending;
  size_t pending_capacity, n_pending, n_measuring, n_elsewhere; /* n_elsewhere of n_measuring: by other tuners */
} clt_search_loop;

/* Finds the searcher and reads its options: defaults, then the problem's (nullable) Strategy, then settings. */
int clt_loop_choose_searcher(clt_search_loop *loop, const char *name, const clt_problem *problem,
                             const clt_setting *settings, size_t n, clt_error *error);
/* Call once store, key, space and objective are set. Answers in the store, and those that other processes add while the
 * loop runs, are not measured again. wait: if another tuner with the same store measures a configuration, the loop
 * waits for its answer (claims are locks, which end with their process). Without wait both measure it, and the first
 * answer is kept. */
int clt_loop_reuse(clt_search_loop *loop, bool wait, clt_error *error);
/* Starts the searcher; the setup's space, budget and initial configurations are set here. */
int clt_loop_start(clt_search_loop *loop, clt_search_setup setup, clt_error *error);
void clt_loop_release(clt_search_loop *loop);

/* The next configuration to measure, canonical; known ones are answered on the way. At most `batch` are asked of the
 * searcher at once. CLT_CONFIG_NONE: nothing can begin before another answer comes; if nothing is pending, the search
 * has ended. */
int clt_loop_next(clt_search_loop *loop, size_t batch, clt_config *out, clt_error *error);

/* Checks whether a result is suspiciously better than best_cost (NaN: no cost is known). If so, *again is set and *m
 * emptied: measure it again before it counts; clt_loop_attempts then asks for a fresh process. For the second result,
 * *m becomes the worse of both. */
int clt_loop_doubt(clt_search_loop *loop, clt_measurement *m, double best_cost, bool *again, clt_error *error);

/* Takes the measurement of a configuration from clt_loop_next: stores it and answers all that wait for it. */
int clt_loop_answer(clt_search_loop *loop, const clt_measurement *measurement, clt_error *error);

/* `lost` and `attempts` of an evaluator's setup, for a loop: records that a configuration has lost its worker; returns
 * how often that has happened, also in earlier sessions. */
int clt_loop_note_lost(void *loop, clt_config config, clt_error *error);
unsigned clt_loop_attempts(void *loop, clt_config config);

/* The options of a plug-in: defaults, then those of the problem (nullable) that its table has, then the caller's. *out
 * is malloc'ed; *n_stated (nullable): how many were set. */
int clt_plugin_options(void **out, size_t *n_stated, const clt_option *table, size_t n_table, size_t options_size,
                       const clt_problem *problem, const clt_setting *settings, size_t n_settings, clt_error *error);

/* Copies a settings struct from a caller that may have been compiled with fewer members. CLT_E_ARGUMENT if its first
 * member, struct_size, is 0 or more than `bytes`. */
int clt_copy_settings(void *out, size_t bytes, const void *settings, const char *type, clt_error *error);

/* The number of answered evaluations, including those from the store. */
int64_t clt_online_n_answered(clt_online *online);

/* --- prior data (sources.c) --- */

typedef struct clt_sources {
  clt_search_source *sources; /* names, configurations and costs are owned */
  size_t n, capacity;
} clt_sources; /* zeroed: none */

typedef struct clt_known_cost {
  clt_config config;
  float log_cost; /* NaN: failed */
} clt_known_cost;

/* Adds a source of n known costs, which this sorts; the lowest of several for one configuration counts. */
int clt_sources_add(clt_sources *sources, const char *name, clt_known_cost *known, size_t n, clt_error *error);
void clt_sources_release(clt_sources *sources);

/* Adds recordings as sources, with the objective's costs (clt_objective_cost); measurements without a cost are left
 * out. Parameters are matched by names and values. A recording is left out with a warning if its parameters (those with
 * more than one value) are not those of the space, or if no configuration of it is in the space. Release also after a
 * failure. */
int clt_sources_add_recordings(clt_sources *out, const clt_space *space, const clt_objective *objective,
                               const clt_recording *const *recordings, size_t n, clt_log_fn log, void *log_user,
                               clt_error *error);

struct clt_related_query; /* lookup/lookup.h */

/* Adds sources from the store: the same problem on other devices or with other drivers, and problems of the same name
 * and parameters with another text or other sizes. Logs them. At most eight; in order of preference: the same text,
 * this device, near sizes, many measurements. */
int clt_sources_add_stored(clt_sources *out, const clt_space *space, const clt_objective *objective, clt_store *store,
                           const struct clt_related_query *query, clt_log_fn log, void *log_user, clt_error *error);

/* --- finalists: interleaved rounds until they can be told apart (rounds.c) --- */

/* Rounds end when each other finalist is significantly slower than the leader (5 % in all tests together) or within the
 * tolerance of its median, or at a limit. The tests are after min_rounds, then each time after half as many again.
 */
typedef struct clt_contest_policy {
  unsigned min_rounds, max_rounds;
  double enough_s;                /* after so long only the first min_rounds begin; 0: no limit */
  double max_total_s;             /* after so long no round begins at all; 0: no limit */
  double tolerance;               /* relative */
  const clt_objective *objective; /* whose costs are compared; NULL: times */
  const double *waited_s; /* nullable: seconds of waiting for other tuners, which do not count for these limits */
  unsigned n_processes;   /* above 1: those near the fastest run in so many processes, which share the rounds */
} clt_contest_policy;

/* Runs configurations in rounds, with an open evaluator that has keep and time_again. out[i] belongs to configs[i] and
 * is the caller's. runs_s has the median of each of its rounds (of more than CLT_MAX_RUNS rounds that many, evenly
 * spread), time_s the median of all rounds, energy_J the median of the measured energies; one that fails has its
 * reason. After an error nothing is filled. */
int clt_contest_run(const clt_evaluator_type *evaluator, void *state, const clt_config *configs, size_t n,
                    const clt_contest_policy *policy, clt_measurement *out, clt_error *error);

/* Without a contest, for `clatune verify`: handles the configurations one after the other: prepares, verifies on the
 * problem's input and on ends of ranges, and runs once more (unless settings->finalists is 0). With a contest, for
 * `clatune measure`: verifies on other inputs instead, and all configurations are timed together in its rounds. Also
 * used of the settings: evaluator, its settings, log, user and stop. out[i] is the caller's, unless there is an error;
 * *quality (nullable) is the problem's figure of quality, NaN if it has none. */
int clt_verify_configs(clt_measurement *out, double *quality, const clt_instance *instance, const clt_config *configs,
                       size_t n, const clt_contest_policy *contest, const clt_tune_settings *settings,
                       clt_error *error);

/* Opens the evaluator of the settings with this setup (of which only these members are used: quality, energy, checks,
 * n_checks, answers, lenient, printed, inputs, no_reference, limit_s), prepares and checks configurations, and closes
 * it. contest: NULL, or all configurations are timed together. */
int clt_keep_configs(clt_measurement *out, clt_evaluator_setup setup, const clt_instance *instance,
                     const clt_config *configs, size_t n_configs, const clt_contest_policy *contest,
                     const clt_tune_settings *settings, clt_error *error);

/* --- the check plan (checks.c) --- */

typedef struct clt_checking {
  const clt_instance *instance;
  const clt_tune_settings *settings; /* used: evaluator, its settings, log, user and stop */
  double run_s;                      /* estimated time of a run; chooses the sizes */
  double limit_s;                    /* of the checks at other sizes; what does not fit is left out */
  bool thorough;                     /* each size becomes the large one in turn, and without limit_s */
  double check_s;                    /* the least time of a check so far; 0: none */
  clt_config accused;                /* in, out: a configuration that only the default judged wrong; CLT_CONFIG_NONE */
  char *unfollowed;                  /* in, out: which arguments the reference does not follow; owned, nullable */
  bool allied;                       /* out: the accused agree with each other */
  /* Called when memory is short, before one more attempt. */
  int (*make_room)(void *user, clt_error *error);
  void *user;
  clt_check_result *results; /* out */
  size_t n_results, capacity;
} clt_checking;

/* Makes the checks of the plan. *m, which is correct on the problem's own input, fails if its result is wrong in one
 * that the default configuration passes; its log then has sizes and inputs. */
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

/* Runs a configuration on the same data, without comparing its result. CLT_E_AGAIN after limit_s. */
int clt_run_config(clt_measurement *out, const clt_instance *instance, clt_config config,
                   const clt_tune_settings *settings, double limit_s, clt_error *error);

/* The probability that the one with more wins in paired rounds would win as often by chance (one-sided sign test
 * without ties). 1 for no rounds. */
double clt_sign_test(const double *a, const double *b, size_t n);

/* The costs of a finalist in each round so far; NULL: it is out. The k-th costs of all finalists are from the same
 * round; NaN: this one was left out of that round. */
typedef struct clt_contender {
  const double *costs;
  size_t n;
} clt_contender;

typedef enum clt_standing {
  CLT_STANDING_OUT,
  CLT_STANDING_LEADS,  /* the lowest median */
  CLT_STANDING_NEAR,   /* within the tolerance of the leader's median, and both medians are known accurately enough */
  CLT_STANDING_BEHIND, /* not within it, and significantly slower */
  CLT_STANDING_BEATEN, /* the same at a level of 0.1 %: it rests in further rounds */
  CLT_STANDING_OPEN
} clt_standing;

/* Judges all; true if none is open. chance: the level of significance. */
bool clt_rounds_judge(const clt_contender *contenders, size_t n, double tolerance, double chance, clt_standing *out);

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

/* Processor time of all processors since the machine started (/proc/stat): busy_s, all_s (including idle), and own_s,
 * the part of this process and of the processes that it has waited for. NaN: not known. */
typedef struct clt_load {
  double busy_s, all_s, own_s;
} clt_load;
clt_load clt_load_now(void);

/* A clt_tune_result with the memory that it points to. */
typedef struct clt_counted_result {
  clt_tune_result result; /* first */
  clt_search_report search;
  int64_t by_reason[CLT_N_REASONS];
  clt_config example[CLT_N_REASONS];
} clt_counted_result;

typedef struct clt_session {
  const clt_tune_settings *settings;
  clt_tune_result *result;
  clt_search_loop loop;
  double tolerance, confidence;
  clt_config first; /* the default configuration; CLT_CONFIG_NONE: it is not evaluated */
  double start_s, last_progress_s;
  clt_load load;            /* at the start */
  bool in_contest, unbound; /* unbound: the evaluator times without binding threads to processors */
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
  clt_ranked *ranked;
  size_t ranked_capacity, n_ranked;
} clt_session;

clt_ending clt_session_ending(const clt_session *session); /* CLT_NOT_ENDED: more may begin */
/* Searches until a limit or the searcher ends it; CLT_E_STOPPED on request. */
int clt_session_search(clt_session *session, clt_error *error);
/* Makes the checks of the plan for the prospective winner (checks.c). It fails if its result is wrong in one that the
 * default configuration passes. */
int clt_session_verify(clt_session *session, clt_measurement *winner, clt_error *error);
/* Verifies the fastest on other inputs and compares them in rounds; the winner must also pass the check plan.
 * CLT_E_VERIFY if none is left. */
int clt_session_finalists(clt_session *session, clt_error *error);

/* Makes the best known configuration of the store the result's, as look-ups and reports name it. It is another one than
 * that of the search if the search had no comparison, or if the best known could not take part in it. */
int clt_session_take_best_known(clt_session *session, clt_error *error);

/* result.c */
/* The number of evaluations with an invalidity, in a result of clt_tune_run. */
int64_t clt_tune_n_invalid(const clt_tune_result *result, clt_invalidity invalidity);
clt_tune_result *clt_result_new(void);
/* Counts an answer to `asked` and keeps the parts that the result needs. */
int clt_session_count(clt_session *session, clt_config asked, double cost, const clt_measurement *measurement,
                      clt_origin origin, clt_error *error);
/* Replaces *out with a copy of a measurement, as that of config. */
int clt_session_keep(clt_measurement *out, clt_config config, const clt_measurement *measurement, clt_error *error);
/* The searcher's current report. */
void clt_session_report(const clt_session *session, clt_search_report *out);
/* Adds a note to the result. */
int clt_session_note(clt_session *session, clt_error *error, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Completes the result from the counted answers. */
int clt_session_summarise(clt_session *session, clt_error *error);
void clt_session_progress(clt_session *session, const clt_measurement *last);

/* The names that a session uses: `chosen`, or, if that is NULL, the evaluator "command" for a program and "opencl" for
 * a kernel; the problem's searcher, else CLT_DEFAULT_SEARCHER. problem is nullable. */
const char *clt_tune_evaluator(const char *chosen, const clt_problem *problem);
const char *clt_tune_searcher(const char *chosen, const clt_problem *problem);

#endif
