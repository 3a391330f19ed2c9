/* clatune/sys/searcher.h - for people who add a searcher: what decides which configurations to measure.
 *
 * A searcher is one const struct: in src/search/ it is listed in searchers.c, elsewhere it is handed to
 * clt_searcher_register. It is asked for batches of configurations and told every result, in any order. It asks only
 * for canonical configurations (clt_space_canonical) of the space, and never for the same one twice. */
#ifndef CLATUNE_SYS_SEARCHER_H
#define CLATUNE_SYS_SEARCHER_H

#include <clatune/log.h>
#include <clatune/measurement.h>
#include <clatune/model.h>
#include <clatune/problem.h>
#include <clatune/sys/option.h>

CLT_BEGIN_C

#define CLT_SEARCHER_ABI 1 /* goes up when anything below changes */

/* Prior data: the same kernel measured on another device, with another driver or at another size, or what a model
 * predicts for this one. Costs are comparable within one source only. */
typedef struct clt_search_source {
  const char *name;
  const clt_config *configs; /* numbers in the searched space's cartesian product, ascending */
  const float *log_costs;    /* of each; NaN: it failed */
  size_t n;
} clt_search_source;

/* What a searcher is started with; borrowed until fini. */
typedef struct clt_search_setup {
  const clt_space *space;
  const clt_instance *instance; /* NULL: none (replay, synthetic) */
  int64_t budget;               /* evaluations in all, those of `evaluated` included; INT64_MAX: no limit */
  const clt_config *evaluated;  /* n_evaluated canonical configurations that are evaluated first: the default, then a
                                   warm  start. The searcher is told of them, in this order and before it is asked for
                                   anything, and does not ask for them */
  size_t n_evaluated;
  bool has_default; /* evaluated[0] is the default configuration */
  uint64_t seed;
  unsigned threads;                 /* 0: as many as there are processors */
  double tolerance, confidence;     /* for searchers that choose how much to measure */
  const clt_search_source *sources; /* n_sources; a searcher may use them or not */
  size_t n_sources;
  bool predicted; /* the first source is what a model predicts for this device and these sizes: for the whole space, or
                     for the best part of a large one */
  clt_log_fn log; /* nullable */
  void *log_user;
} clt_search_setup;

/* A named number: "fit_s", "second_stage_measured" ... The name is borrowed for as long as the program runs. */
typedef struct clt_note {
  const char *name;
  double value;
} clt_note;

#define CLT_MOST_NOTES 16

/* What a searcher says of itself, during the search and at its end. The caller has filled in the defaults. */
typedef struct clt_search_report {
  char phase[32]; /* what it is doing: "sampling", "training" ... */
  bool has_model;
  clt_model_accuracy model;
  clt_config timed_beside; /* CLT_CONFIG_NONE, or a configuration that is to be timed beside the winner */
  clt_note notes[CLT_MOST_NOTES];
  size_t n_notes;
} clt_search_report;

typedef struct clt_searcher_type {
  unsigned abi; /* CLT_SEARCHER_ABI */
  const char *name, *summary;
  const clt_option *options;
  size_t n_options, options_size;
  size_t state_size; /* zeroed before init */
  bool sequential;   /* every result influences the next request: no more are begun at once than are worked on */
  bool transfers;    /* uses the setup's sources */

  /* The evaluations that the options ask for by themselves, without those of setup.evaluated: the budget of a session
   * that has none. 0: no opinion; INT64_MAX: until the search is over. Nullable: 0. */
  int64_t (*budget)(const void *options);
  int (*init)(void *state, const clt_search_setup *setup, const void *options, clt_error *error);
  /* Up to n configurations to measure next; *n_out is how many. *n_out = 0 with results outstanding: wait for them and
   * ask again; *n_out = 0 with none outstanding: the search is over. */
  int (*ask)(void *state, size_t n, clt_config *out, size_t *n_out, clt_error *error);
  /* A result. cost is what is to be minimised (clt_objective_cost), above 0; NaN: the configuration failed, or the
   * objective has no value for it. The measurement is borrowed, and may be of another configuration with the same
   * canonical form. */
  int (*tell)(void *state, clt_config config, double cost, const clt_measurement *measurement, clt_error *error);
  void (*report)(const void *state, clt_search_report *out); /* nullable */
  void (*fini)(void *state);                                 /* also after an init that failed */
} clt_searcher_type;

const clt_searcher_type *clt_searcher_find(const char *name); /* NULL: none */

/* Adds a searcher, which outlives all its uses. CLT_E_ARGUMENT where its ABI version is another one, a function is
 * missing or the name is taken. Not while another thread uses clatune. */
int clt_searcher_register(const clt_searcher_type *type, clt_error *error);

/* The value of the note of that name; NaN: there is none. */
double clt_note_value(const clt_note *notes, size_t n, const char *name);

CLT_END_C
#endif
