/* session/session.h - one tuning session, shared by the files of this room. */
#ifndef CLT_SESSION_SESSION_H
#define CLT_SESSION_SESSION_H

#include <clatune/tune.h>

#include "session/contest.h"
#include "session/known.h"
#include "session/sources.h"

/* A configuration that was asked for and is not answered yet. */
typedef struct clt_pending {
  clt_config asked, canonical;
  bool submitted; /* false: waits for the result of another one with the same canonical form */
} clt_pending;

/* A correct evaluation. */
typedef struct clt_ranked {
  clt_config config; /* canonical */
  double time_s, energy_J;
  double cost, median_cost; /* by the least of its runs, and by their median */
  double spread;            /* of its runs: (median - least) / least; negative: too few runs to say */
  double rank;              /* what it is ranked by: one of the two costs */
  bool rejected;            /* failed as a finalist */
} clt_ranked;

typedef struct clt_session {
  const clt_tune_settings *settings;
  clt_tune_result *result;
  const clt_space *space;
  clt_objective *objective; /* NULL: time */
  double tolerance, confidence;
  int64_t budget; /* INT64_MAX: none */
  clt_config first;
  clt_config *suggested; /* n_suggested: evaluated after it, before the searcher is asked */
  size_t n_suggested;
  clt_measurement *suggested_told; /* as the searcher will be told of them */
  bool suggesting;
  double start_s, last_progress_s;
  const char *phase; /* NULL: the searcher's */

  const clt_evaluator_type *evaluator;
  clt_evaluator_limits limits;
  void *evaluator_options, *evaluator_state; /* state is NULL unless open */
  const clt_searcher_type *searcher;
  void *searcher_options, *searcher_state; /* state is NULL unless initialised */
  clt_sources sources;
  bool predicted; /* the first of them is the model's */
  clt_store_key key;

  clt_known known;
  clt_config *queue; /* asked for by the searcher, not begun */
  size_t queue_capacity, n_queue, queue_next;
  size_t n_listed; /* taken of settings->configurations */
  clt_pending *pending;
  size_t pending_capacity, n_pending, n_submitted;
  int64_t n_begun;      /* evaluations, answered ones included */
  double improved_cost; /* of the latest improvement by more than the tolerance; 0: nothing correct yet */
  int64_t improved_at;  /* evaluations when it came */
  clt_ranked *ranked;
  size_t ranked_capacity, n_ranked;
} clt_session;

/* Opens evaluator and searcher, reads what the store knows. Parts that were opened stay so on failure. */
int clt_session_open(clt_session *session, clt_error *error);
void clt_session_close(clt_session *session);
void clt_session_close_evaluator(clt_session *session); /* ends what is under way */

/* suggestions.c: what is begun with: what the caller wants, then what the model suggests; its
 * predictions become a source where the searcher transfers. */
int clt_session_choose_suggestions(clt_session *session, clt_error *error);

/* The default configuration, what is begun with, then the searcher's, until budget, time or searcher end it.
 * CLT_E_STOPPED on request. */
int clt_session_search(clt_session *session, clt_error *error);

/* Compares the fastest side by side and verifies them on other data. CLT_E_VERIFY if none stands. */
int clt_session_finalists(clt_session *session, clt_error *error);

/* Counts an answer to `asked` and keeps what the result needs of it. */
int clt_session_count(clt_session *session, clt_config asked, const clt_measurement *measurement,
                      clt_known_source source, clt_error *error);
/* What is minimised; NaN: it failed, or the objective has no value for it. */
double clt_session_cost(const clt_session *session, const clt_measurement *measurement);
/* Puts a copy of a measurement, as that of config, in the place of what *out holds. */
int clt_session_keep(clt_measurement *out, clt_config config, const clt_measurement *measurement, clt_error *error);
/* Completes the result from what was counted. */
int clt_session_summarise(clt_session *session, clt_error *error);

void clt_session_progress(clt_session *session, const clt_measurement *last); /* now */
void clt_session_tick(clt_session *session);                                  /* if the last one is some time ago */

/* limits.c: how many evaluations, and what ends the search before them. */
int64_t clt_session_budget(const clt_session *session);    /* INT64_MAX: no limit */
clt_ending clt_session_ending(const clt_session *session); /* CLT_NOT_ENDED: more may be begun */
bool clt_session_stopping(const clt_session *session);     /* on request */
bool clt_session_time_is_up(const clt_session *session);
void clt_session_note_improvement(clt_session *session, double cost); /* of an evaluation that has one, once counted */

#endif
