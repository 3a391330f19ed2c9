/* clatune/sys/searcher.h - the interface of a searcher, for new searchers.
 *
 * A searcher decides which configurations are evaluated. It is one const struct: in the tree a file in src/search/ and
 * a line in searchers.c, elsewhere a call of clt_searcher_register. It is asked for batches of configurations and told
 * every result, in any order. It must return only canonical configurations (clt_space_canonical), each only once. */
#ifndef CLATUNE_SYS_SEARCHER_H
#define CLATUNE_SYS_SEARCHER_H

#include <clatune/log.h>
#include <clatune/measurement.h>
#include <clatune/model.h>
#include <clatune/problem.h>
#include <clatune/sys/option.h>

CLT_BEGIN_C

#define CLT_SEARCHER_ABI 1 /* increases with each incompatible change of this header */

/* A source: measurements of the same kernel on another device, with another driver or at another size, or predictions
 * of a model. Costs are comparable only within one source. */
typedef struct clt_search_source {
  const char *name;
  const clt_config *configs; /* in the cartesian product of the searched space, ascending */
  const float *log_costs;    /* of each configuration; NaN: it failed */
  size_t n;
} clt_search_source;

/* The input of a searcher; borrowed until fini. */
typedef struct clt_search_setup {
  const clt_space *space;
  const clt_instance *instance; /* NULL: none (replay, synthetic) */
  int64_t budget;               /* evaluations in total, including `evaluated`; INT64_MAX: no limit */
  const clt_config *evaluated;  /* n_evaluated canonical configurations that are evaluated first: the default, then a
                                   warm start. The searcher is told their results in this order before it is first
                                   asked, and must not ask for them */
  size_t n_evaluated;
  bool has_default; /* evaluated[0] is the default configuration */
  uint64_t seed;
  unsigned threads;                 /* 0: one per processor */
  double tolerance, confidence;     /* for searchers that decide how much to measure */
  const clt_search_source *sources; /* n_sources; a searcher may ignore them */
  size_t n_sources;
  bool predicted; /* the first source contains a model's predictions for this device and these sizes: of the whole
                     space, or of the best part of a large one */
  clt_log_fn log; /* nullable */
  void *log_user;
  /* Several objectives; `cost` of tell is that of the first. Writes the costs of a correct measurement; false: one of
   * them has no value. */
  size_t n_objectives;
  bool (*costs)(const void *user, const clt_measurement *measurement, double *out);
  const void *costs_user;
} clt_search_setup;

/* A named number, such as "fit_s" or "second_stage_measured". The name must be static. */
typedef struct clt_note {
  const char *name;
  double value;
} clt_note;

#define CLT_MOST_NOTES 16

/* What a searcher reports about itself, during the search and at its end. The caller fills in defaults first. */
typedef struct clt_search_report {
  char phase[32]; /* the current phase: "sampling", "training" ... */
  bool has_model;
  clt_model_accuracy model;
  clt_config timed_beside; /* a configuration to compare with the winner; CLT_CONFIG_NONE: none */
  clt_note notes[CLT_MOST_NOTES];
  size_t n_notes;
} clt_search_report;

typedef struct clt_searcher_type {
  unsigned abi; /* CLT_SEARCHER_ABI */
  const char *name, *summary;
  const clt_option *options;
  size_t n_options, options_size;
  size_t state_size; /* set to zeros before init */
  bool sequential;   /* every result influences the next request: no more are begun at once than can be worked on */
  bool transfers;    /* uses the setup's sources */

  /* The number of evaluations that the options ask for, without those in setup.evaluated. It is used if no budget is
   * given. 0: none; INT64_MAX: until the search is over. Nullable, like 0. */
  int64_t (*budget)(const void *options);
  int (*init)(void *state, const clt_search_setup *setup, const void *options, clt_error *error);
  /* Writes up to n configurations to evaluate next; *n_out is their number. 0 while results are outstanding: ask again
   * after the next result. 0 otherwise: the search is over. */
  int (*ask)(void *state, size_t n, clt_config *out, size_t *n_out, clt_error *error);
  /* Receives a result. cost, above 0, is to be minimised; NaN: the configuration failed, or the objective has no value
   * for it. The measurement is borrowed, and may be of another configuration with the same canonical one. */
  int (*tell)(void *state, clt_config config, double cost, const clt_measurement *measurement, clt_error *error);
  void (*report)(const void *state, clt_search_report *out); /* nullable */
  void (*fini)(void *state);                                 /* also after a failed init */
} clt_searcher_type;

const clt_searcher_type *clt_searcher_find(const char *name); /* NULL: none */

/* Adds a searcher. It must exist as long as the program searches. Call it before other threads use clatune.
 * CLT_E_ARGUMENT: its ABI is not CLT_SEARCHER_ABI, a function is missing, or the name is taken. */
int clt_searcher_register(const clt_searcher_type *type, clt_error *error);

/* The value of the note with this name; NaN: there is none. */
double clt_note_value(const clt_note *notes, size_t n, const char *name);

CLT_END_C
#endif
