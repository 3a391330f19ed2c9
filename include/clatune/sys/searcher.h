/* clatune/sys/searcher.h - for people who add a searcher: what decides which configurations to measure.
 *
 * A searcher is one file in src/search/ with one const struct, listed in src/search/searchers.c. It is asked for
 * batches and told every result; results arrive in any order. It asks only for valid configurations, never twice for
 * the same. */
#ifndef CLATUNE_SYS_SEARCHER_H
#define CLATUNE_SYS_SEARCHER_H

#include <clatune/log.h>
#include <clatune/measurement.h>
#include <clatune/model.h>
#include <clatune/problem.h>
#include <clatune/sys/option.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What is known of the same kernel elsewhere: on another device, or with another driver. configs are numbers of the
 * searched space's cartesian product, ascending; speeds are least cost / cost, 0 where it failed. */
typedef struct clt_search_source {
  const char *name;
  const clt_config *configs;
  const float *speeds;
  size_t n;
} clt_search_source;

/* What a searcher is started with; borrowed until fini. */
typedef struct clt_search_setup {
  const clt_space *space;
  const clt_instance *instance; /* NULL: none (replay, synthetic) */
  int64_t budget;               /* evaluations in all; INT64_MAX: no limit */
  clt_config first; /* evaluated before the searcher is asked (the default); CLT_CONFIG_NONE: none. Its result
                       is told too, and the searcher must not ask for it */
  const clt_config *begun; /* n_begun others that are evaluated before the searcher is asked (a warm start), which stand for
                              themselves: told likewise, in this order, after first */
  size_t n_begun;
  uint64_t seed;
  unsigned threads;                 /* 0: all */
  double tolerance, confidence;     /* for searchers that choose how much to measure: 0.02, 0.9 */
  const clt_search_source *sources; /* n_sources; a searcher may use them or not */
  size_t n_sources;
  bool predicted; /* the first source is what a model predicts for this device and these sizes: for the whole space, or the
                     best part of a large one */
  clt_log_fn log;
  void *log_user;
} clt_search_setup;

/* What a searcher wants reported at the end. */
typedef struct clt_search_report {
  char phase[32]; /* now: "sampling", "training", "second stage" ... */
  bool has_model;
  clt_model_accuracy model;
  bool has_first_stage_best;
  clt_config first_stage_best; /* the fastest of the random samples: what the second stage has to beat */
  int64_t second_stage_failed, second_stage_measured;
  int64_t second_stage_needed; /* what the confidence asks for, where the searcher chooses; more than measured: a limit
                                  came first, and the confidence is not reached. -1: not chosen */
  double fit_s, predict_s;
} clt_search_report;

typedef struct clt_searcher_type {
  const char *name, *summary;
  const clt_option *options;
  size_t n_options, options_size;
  size_t state_size; /* zeroed before init */
  bool sequential;   /* every result has its part in the next request: no more are begun at once than are worked on */
  bool transfers;    /* uses the setup's sources */

  /* The evaluations that the options ask for by themselves, without the one of `first`: what a session without a budget
   * gives. 0: no opinion; INT64_MAX: until the search is over. Nullable: 0. */
  int64_t (*budget)(const void *options);
  int (*init)(void *state, const clt_search_setup *setup, const void *options, clt_error *error);
  /* Up to n configurations to measure next; *n_out is how many. *n_out = 0 with results outstanding: wait for them and
   * ask again; *n_out = 0 with none outstanding: the search is over. */
  int (*ask)(void *state, size_t n, clt_config *out, size_t *n_out, clt_error *error);
  /* time_s is what is to be minimised: the cost of the session's objective (clt_objective_cost), above 0; seconds where
   * that is time. The runs are those that were timed. What has no cost is told as failed. */
  int (*tell)(void *state, const clt_measurement *measurement, clt_error *error);
  void (*report)(const void *state, clt_search_report *out); /* nullable */
  void (*fini)(void *state);                                 /* also after an init that failed */
} clt_searcher_type;

size_t clt_n_searchers(void);
const clt_searcher_type *clt_searcher_at(size_t index);
const clt_searcher_type *clt_searcher_find(const char *name); /* NULL: none */

#ifdef __cplusplus
}
#endif
#endif
