/* session/session.h - what the files of this room share: the loop, what is known of configurations, prior data, and the
 * session of clt_tune_run. */
#ifndef CLT_SESSION_SESSION_H
#define CLT_SESSION_SESSION_H

#include <clatune/online.h>
#include <clatune/tune.h>

#include "base/map.h"
#include "measurement/objective.h"
#include "problem/guidance.h"
#include "store/store.h"
#include "worker/lock.h"

/* --- what is known of configurations (loop.c) --- */

/* Found in the store, or answered in this session. Configurations are canonical. Zeroed before use. */
typedef struct clt_known {
  clt_map index; /* by configuration, in entries */
  struct clt_known_entry *entries;
  size_t n, capacity;
  int64_t newest; /* number of the newest record that was read; 0: none was */
} clt_known;

void clt_known_release(clt_known *known);

/* Reads a store's newest answers (clt_store_newest); again: what others have added since. What is answered already
 * stays as it is. */
int clt_known_load(clt_known *known, clt_store *store, const clt_store_key *key, const clt_space *space,
                   bool needs_energy, clt_error *error);

/* Where an answer came from. */
typedef enum clt_origin { CLT_NOT_KNOWN, CLT_FROM_STORE, CLT_FROM_SESSION } clt_origin;

/* Fills *out, owned by the caller, unless nothing is known. The first answer from the store has all its runs and makes
 * the configuration one that was answered in this session; later ones have reason, time and energy only. */
clt_origin clt_known_take(clt_known *known, clt_config config, clt_measurement *out);

/* --- the loop (loop.c): ask, known already? measure, record, tell --- */

/* A configuration that was asked for and is not answered yet. */
typedef struct clt_pending {
  clt_config asked, canonical;
  size_t initial;     /* its number among the initial ones; CLT_NOT_INITIAL */
  bool measuring;     /* false: waits for the result of another one with the same canonical form */
  double elsewhere_s; /* since when another tuner is known to measure it; 0: it is measured here */
} clt_pending;

#define CLT_NOT_INITIAL SIZE_MAX

/* Zeroed before use; what stands under "by the caller" is filled in between clt_loop_choose_searcher and
 * clt_loop_start. Whoever drives it measures: a worker, a recording, a program, the caller's own queue. */
typedef struct clt_search_loop {
  /* By the caller. */
  const clt_space *space;
  clt_objective *objective; /* owned */
  int64_t budget;           /* evaluations; INT64_MAX: no limit */
  clt_config *initial;      /* n_initial, owned: evaluated before the searcher is asked; has_default: the first is the
                               default one, which is answered before the others begin */
  size_t n_initial;
  bool has_default;
  const clt_config *list; /* nullable: n_list that are evaluated in place of what the searcher would ask for */
  size_t n_list;
  clt_store *store; /* nullable */
  clt_store_key key;
  /* Called with every answer, after the searcher was told. cost is NaN where it failed or has no value. */
  int (*on_answer)(void *user, clt_config asked, double cost, const clt_measurement *m, clt_origin origin,
                   clt_error *error);
  bool (*may_begin)(void *user);
  void *user;

  const clt_searcher_type *searcher;
  void *options, *state; /* state is NULL unless initialised */
  bool default_options;  /* neither the caller nor the problem sets any */
  double search_s;       /* wall seconds that the searcher took */

  clt_known known;
  bool reuses;            /* the store's answers: see clt_loop_reuse */
  uint64_t version;       /* of the store, when it was last read */
  clt_device_lock claims; /* where it reuses */
  uint64_t claims_hash;   /* of the store and the key */
  int64_t n_begun;        /* evaluations, answered ones included */
  size_t n_initial_begun, n_initial_answered;
  bool told_initial;
  clt_measurement *initial_answers; /* without logs */
  clt_config *evaluated;            /* the initial ones, canonical */
  clt_config *queue;                /* asked for by the searcher, or taken from the list, and not begun */
  size_t queue_capacity, n_queue, queue_next;
  clt_pending *pending;
  size_t pending_capacity, n_pending, n_measuring, n_elsewhere; /* n_elsewhere of n_measuring: by other tuners */
} clt_search_loop;

/* Finds the searcher and parses its options: defaults, those of the problem's (nullable) Strategy, then settings. */
int clt_loop_choose_searcher(clt_search_loop *loop, const char *name, const clt_problem *problem,
                             const clt_setting *settings, size_t n, clt_error *error);
/* What the store knows is not measured again, nor is what other processes add to it while the loop runs. wait: while
 * another tuner that uses the same store measures a configuration, its answer is waited for (claims, by a lock that no
 * crash leaves behind); otherwise both measure it, and the first one is kept. Once store, key, space and objective are
 * set. */
int clt_loop_reuse(clt_search_loop *loop, bool wait, clt_error *error);
/* Starts the searcher; of the setup, space, budget and what is evaluated first are filled in here. */
int clt_loop_start(clt_search_loop *loop, clt_search_setup setup, clt_error *error);
void clt_loop_release(clt_search_loop *loop);

/* The next configuration to be measured, canonical; what is known already is answered on the way. At most `batch` are
 * asked of the searcher at once. CLT_CONFIG_NONE: nothing can begin before another answer has come, or, where nothing
 * is pending, the search is over. */
int clt_loop_next(clt_search_loop *loop, size_t batch, clt_config *out, clt_error *error);

/* Whether a result is so much better than the best cost known (NaN: none is) that it is to be measured again before
 * anybody learns of it: then *again is set and *m emptied, and clt_loop_attempts asks for a fresh process. When it
 * comes back, *m becomes the worse of both. */
int clt_loop_doubt(clt_search_loop *loop, clt_measurement *m, double best_cost, bool *again, clt_error *error);

/* A measurement of what clt_loop_next gave: records it, remembers it, and answers everything that waited for it. */
int clt_loop_answer(clt_search_loop *loop, const clt_measurement *measurement, clt_error *error);

/* `lost` and `attempts` of an evaluator's setup, for a loop: one more attempt that a configuration did not survive; how
 * many there were, in earlier sessions too. */
int clt_loop_note_lost(void *loop, clt_config config, clt_error *error);
unsigned clt_loop_attempts(void *loop, clt_config config);

/* The options of a plug-in: defaults, then the problem's (nullable) that are in its table, then the caller's.
 * *out is malloc'ed; *n_stated (nullable): how many were set. */
int clt_plugin_options(void **out, size_t *n_stated, const clt_option *table, size_t n_table, size_t options_size,
                       const clt_problem *problem, const clt_setting *settings, size_t n_settings, clt_error *error);

/* Copies a settings struct of a caller that may know fewer members than this library. CLT_E_ARGUMENT where its
 * struct_size, the first member, is 0 or more than `bytes`. */
int clt_copy_settings(void *out, size_t bytes, const void *settings, const char *type, clt_error *error);

/* How many evaluations of a search have their answers, those from the store included. */
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

/* Adds a source of n known costs, which are sorted; of several of one configuration the least counts. */
int clt_sources_add(clt_sources *sources, const char *name, clt_known_cost *known, size_t n, clt_error *error);
void clt_sources_release(clt_sources *sources);

/* objective: by whose costs (clt_objective_cost); what has none is left out. Translates recordings by the names and
 * values of their parameters. One whose parameters (those with more than one value) are not those of the space, or of
 * whose configurations none can be translated, is left out with a warning. Release also after a failure. */
int clt_sources_add_recordings(clt_sources *out, const clt_space *space, const clt_objective *objective,
                               const clt_recording *const *recordings, size_t n, clt_log_fn log, void *log_user,
                               clt_error *error);

struct clt_related_query; /* lookup/lookup.h */

/* Adds what the store knows of the same problem under other keys: other devices, other drivers; and of problems of the
 * same name whose text or sizes differ but whose parameters are those of the space. Logs what it learns from. At most
 * eight: those of the same text before others, this device before others, near sizes before far ones, many measurements
 * before few. */
int clt_sources_add_stored(clt_sources *out, const clt_space *space, const clt_objective *objective, clt_store *store,
                           const struct clt_related_query *query, clt_log_fn log, void *log_user, clt_error *error);

/* --- finalists side by side: interleaved rounds until they are told apart (rounds.c) --- */

/* Rounds end when the leader's median is ahead with significance (5 %, however often that was looked at), or within
 * tolerance of all others, or at a limit. Looked at is after min_rounds, and then after half as many again each time.
 */
typedef struct clt_contest_policy {
  unsigned min_rounds, max_rounds;
  double enough_s;                /* no round beyond min_rounds begins after it; 0: no limit */
  double max_total_s;             /* no round begins after it, whatever min_rounds says; 0: no limit */
  double tolerance;               /* relative */
  const clt_objective *objective; /* what is compared; NULL: times */
  const double *waited_s;         /* nullable: seconds that were waited for other tuners, which are no part of these */
  unsigned n_processes; /* above 1: those near the fastest are prepared anew so often, and the rounds shared out */
} clt_contest_policy;

/* Keeps the configurations prepared in an open evaluator that has keep and time_again, and runs them in rounds. out[i]
 * belongs to configs[i] and is the caller's: runs_s holds a number for each of its rounds, the median of what it
 * ran in its turn (of more than CLT_MAX_RUNS rounds so many, evenly spread), time_s the median of all, energy_J the
 * median of what was measured; one that fails has its reason. Nothing is filled on an error. */
int clt_contest_run(const clt_evaluator_type *evaluator, void *state, const clt_config *configs, size_t n,
                    const clt_contest_policy *policy, clt_measurement *out, clt_error *error);

/* What `clatune verify` does with configurations, one after the other: prepare, verify on the usual data and on hostile
 * data, run once more (not where settings->finalists is 0). With a contest (nullable) what `clatune measure` does: the
 * other data are no hostile ones, and all are timed in its rounds, side by side. Of the settings evaluator, its
 * settings, log, user and stop are used, too. out[i] is the caller's, unless there is an error; *quality (nullable) is
 * the problem's figure of quality, NaN where it has none. */
int clt_verify_configs(clt_measurement *out, double *quality, const clt_instance *instance, const clt_config *configs,
                       size_t n, const clt_contest_policy *contest, const clt_tune_settings *settings,
                       clt_error *error);
/* Runs a configuration on the same data, compares it with nothing, and ends with CLT_E_AGAIN after limit_s. */
int clt_run_config(clt_measurement *out, const clt_instance *instance, clt_config config,
                   const clt_tune_settings *settings, double limit_s, clt_error *error);

/* The probability that the one with the more wins in paired rounds would win as often by chance (one-sided sign test;
 * ties are left out). 1 for no rounds. */
double clt_sign_test(const double *a, const double *b, size_t n);

/* The costs of a finalist in each round so far; NULL: it is out. The k-th ones of two finalists belong to one round;
 * NaN: it was left out of that. */
typedef struct clt_contender {
  const double *costs;
  size_t n;
} clt_contender;

typedef enum clt_standing {
  CLT_STANDING_OUT,
  CLT_STANDING_LEADS, /* the least median */
  CLT_STANDING_NEAR, /* within the tolerance of the leader's median, and both medians are known well enough to say so */
  CLT_STANDING_BEHIND, /* not within it, and slower with significance */
  CLT_STANDING_BEATEN, /* the same with more certainty (0.1 %): it need not run in
                          further rounds */
  CLT_STANDING_OPEN
} clt_standing;

/* Judges all; true where none is open. chance: what is rarer by chance is significant. */
bool clt_rounds_judge(const clt_contender *contenders, size_t n, double tolerance, double chance, clt_standing *out);

/* --- a session (tune.c, result.c, contest.c) --- */

/* A correct evaluation. */
typedef struct clt_ranked {
  clt_config config; /* canonical */
  double time_s;
  double cost, median_cost; /* by the least of its runs, and by their median */
  double spread;            /* of its runs: (median - least) / least; negative: too few runs to say */
  double rank;              /* what it is ranked by: one of the two costs */
  clt_reason rejected;      /* why it failed as a finalist; CLT_REASON_NONE: it has not */
  double final_cost;        /* as a finalist, by the median of its rounds; NaN: it was none, or failed */
  double final_spread;      /* of these: median absolute deviation / median */
} clt_ranked;

/* Processor time since the machine was started, of all processors (/proc/stat): busy, and whatever they did; and what
 * this process and those that it has waited for used of it. NaN where nobody can tell. */
typedef struct clt_load {
  double busy_s, all_s, own_s;
} clt_load;
clt_load clt_load_now(void);

/* What a clt_tune_result points to. */
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
  clt_config first; /* the default; CLT_CONFIG_NONE: it is not evaluated */
  double start_s, last_progress_s;
  clt_load load;            /* at the start */
  bool in_contest, unbound; /* unbound: the evaluator is to time as programs run */
  const clt_evaluator_type *evaluator;
  clt_evaluator_limits limits;
  void *evaluator_options, *evaluator_state; /* state is NULL unless open */
  clt_sources sources;
  bool predicted;       /* the first of them is the model's */
  double improved_cost; /* of the latest improvement by more than the tolerance; 0: nothing correct yet */
  int64_t improved_at;  /* evaluations when it came */
  clt_ranked *ranked;
  size_t ranked_capacity, n_ranked;
} clt_session;

clt_ending clt_session_ending(const clt_session *session); /* CLT_NOT_ENDED: more may begin */
/* Searches until a limit or the searcher ends it; CLT_E_STOPPED on request. */
int clt_session_search(clt_session *session, clt_error *error);
/* Verifies what would win on hostile data and at smaller sizes, or where nothing can be said there, at the same ones
 * (verify.c). It fails where it is wrong and the default configuration is not. */
int clt_session_verify(clt_session *session, clt_measurement *winner, clt_error *error);
/* Compares the fastest side by side and verifies them on other data; the winner also on hostile data and at a second
 * size. CLT_E_VERIFY if none stands. */
int clt_session_finalists(clt_session *session, clt_error *error);

/* result.c */
/* How many evaluations had an invalidity; of a result of clt_tune_run. */
int64_t clt_tune_n_invalid(const clt_tune_result *result, clt_invalidity invalidity);
clt_tune_result *clt_result_new(void);
/* Counts an answer to `asked` and keeps what the result needs of it. */
int clt_session_count(clt_session *session, clt_config asked, double cost, const clt_measurement *measurement,
                      clt_origin origin, clt_error *error);
/* Puts a copy of a measurement, as that of config, in the place of what *out holds. */
int clt_session_keep(clt_measurement *out, clt_config config, const clt_measurement *measurement, clt_error *error);
/* What the searcher reports now. */
void clt_session_report(const clt_session *session, clt_search_report *out);
/* Adds a note to the result. */
int clt_session_note(clt_session *session, clt_error *error, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Completes the result from what was counted. */
int clt_session_summarise(clt_session *session, clt_error *error);
void clt_session_progress(clt_session *session, const clt_measurement *last);

/* The names that a session uses where `chosen` is NULL: the evaluator "command" for a problem that is one, otherwise
 * "opencl"; the searcher that the problem asks for, otherwise CLT_DEFAULT_SEARCHER. problem is nullable. */
const char *clt_tune_evaluator(const char *chosen, const clt_problem *problem);
const char *clt_tune_searcher(const char *chosen, const clt_problem *problem);

#endif
