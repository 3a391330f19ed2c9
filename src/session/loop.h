/* session/loop.h - the loop of a search: ask, look up or measure, store, tell. */
#pragma once

#include <clatune/problem.h>
#include <clatune/sys/option.h>
#include <clatune/sys/searcher.h>

#include "base/hash.h"
#include "measurement/measurement.h"
#include "store/store.h"
#include "worker/pool.h"

/* --- the searcher and the evaluator of a session, and their options --- */

/* The names that a session uses: `chosen`, or, if that is NULL, the evaluator "command" for a program and "opencl" for
 * a kernel; the problem's searcher, else CLT_DEFAULT_SEARCHER. problem is nullable. */
const char *clt_tune_evaluator(const char *chosen, const clt_problem *problem);
const char *clt_tune_searcher(const char *chosen, const clt_problem *problem);

/* The options of a plug-in: defaults, then those of the problem (nullable) that its table has, then the caller's. *out
 * is malloc'ed; *n_stated (nullable): how many were set. */
int clt_plugin_options(void **out, size_t *n_stated, const clt_option *table, size_t n_table, size_t options_size,
                       const clt_problem *problem, const clt_setting *settings, size_t n_settings, clt_error *error);

/* --- known answers: from the store and from this session, by canonical configuration --- */

/* What is known of those who gave answers (clt_store_record's voice). */
typedef struct clt_known_voice {
  int64_t id;
  double least_cost;           /* of its correct answers; INFINITY: none */
  bool is_confirmed, is_wrong; /* what it said is known (words.h), or something else */
} clt_known_voice;

/* Zeroed before use.
 *
 * The answer of one other voice alone is a claim. It is measured here instead if it is better than all others' by a
 * fifth, if it says that the default configuration fails, or if the voice has said something that is known to be
 * untrue; also the first claim of all, unless its voice was confirmed, and once in a hundred evaluations one that bars
 * a neighbour of the best known configuration. Contradictory answers of others are none. */
typedef struct clt_known {
  const clt_objective *objective; /* by the caller; NULL: time */
  clt_map index;                  /* configuration to index in entries */
  struct clt_known_entry *entries;
  size_t n, capacity;
  const clt_space *space;
  int64_t newest;      /* number of the newest record that was read; 0: none */
  clt_config insisted; /* if it insists: its failure is always measured here */
  bool insists;
  clt_config best[2]; /* what is known; what was claimed and taken */
  double best_cost[2];
  clt_known_voice voices[CLT_MOST_VOICES]; /* the first: this machine */
  size_t n_voices;
  int64_t n_taken, n_samples, n_bars;         /* answers that were asked for, and of these measured here again */
  size_t n_refuted, n_returned, next_refuted; /* answers that count no longer, and of these returned as such */
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
/* The failure of this configuration is never taken on another's word alone. */
void clt_known_insist(clt_known *known, clt_config config);
/* Adds an answer of this session, or replaces one. */
int clt_known_add(clt_known *known, const clt_measurement *m, clt_error *error);
bool clt_known_has(const clt_known *known, clt_config config);
bool clt_known_is_claim(const clt_known *known, clt_config config);
/* A configuration whose answer was taken before its voice lost its credit; it then has none. CLT_CONFIG_NONE: no more.
 */
clt_config clt_known_next_refuted(clt_known *known);

/* The first result of a configuration that is measured twice, until the second one: keep moves it from *m, take moves
 * it to *out; false: there is none. */
int clt_known_keep_first(clt_known *known, clt_measurement *m, clt_error *error);
bool clt_known_take_first(clt_known *known, clt_config config, clt_measurement *out);

/* Counts attempts that ended with the worker's process. */
int clt_known_add_attempt(clt_known *known, clt_config config, clt_error *error);
unsigned clt_known_attempts(const clt_known *known, clt_config config);

/* A configuration that was asked for and has no answer yet. */
typedef struct clt_pending {
  clt_config asked, canonical;
  size_t initial;     /* its index among the initial ones; CLT_NOT_INITIAL */
  bool measuring;     /* false: waits for the result of another pending one with the same canonical configuration */
  double elsewhere_s; /* since when another tuner has been measuring it; 0: it is measured here */
} clt_pending;

#define CLT_NOT_INITIAL SIZE_MAX
#define CLT_REFUTED (SIZE_MAX - 1) /* as `initial`: the searcher was told another's word, which does not count now */

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
  size_t n_refuted;       /* evaluations that are made again, beyond the budget */
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
 * emptied: measure it again before it counts. For the second result, *m becomes the worse of both. */
int clt_loop_doubt(clt_search_loop *loop, clt_measurement *m, double best_cost, bool *again, clt_error *error);

/* Takes the measurement of a configuration from clt_loop_next: stores it and answers all that wait for it. */
int clt_loop_answer(clt_search_loop *loop, const clt_measurement *measurement, clt_error *error);

/* `lost` and `attempts` of an evaluator's setup, for a loop: records that a configuration has lost its worker; returns
 * how often that has happened, also in earlier sessions. */
int clt_loop_note_lost(void *loop, clt_config config, clt_error *error);
unsigned clt_loop_attempts(void *loop, clt_config config);
