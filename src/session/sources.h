/* session/sources.h - recordings in sessions: as prior data, with stored measurements of related kernels, and to judge
 * searchers. */
#pragma once

#include <clatune/recording.h>
#include <clatune/sys/searcher.h>
#include <clatune/tune.h>

#include "measurement/measurement.h"

/* --- prior data: recordings, and stored measurements of related kernels --- */

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

/* --- judges a searcher with many tuning sessions on recorded spaces, without a device ---
 * Every run is a session (clt_tune_run with the evaluator "replay") on one recording with one seed. Its figure is the
 * fraction of the optimum after k evaluations: the recording's minimum cost / the minimum cost among the first k.
 * Failed evaluations count; before the first correct one the fraction is 0. */

/* The runs on one recording. */
typedef struct clt_replay_space {
  const clt_recording *recording; /* borrowed */
  double least_cost, optimum; /* the recording's minimum cost (clt_objective_cost), and the objective's value there */
  double *fractions;          /* [repeat][evaluation], owned by the result; a run that ended early keeps its last one */
  clt_config *configs;        /* [repeat][evaluation], owned: asked for; CLT_CONFIG_NONE after the end of a run */
  double search_s;            /* seconds of the searcher per evaluation, mean of all runs */
  clt_note notes[CLT_MOST_NOTES]; /* n_notes: the searcher's notes, summed over the runs */
  size_t n_notes;
} clt_replay_space;

typedef struct clt_replay_result {
  clt_replay_space *spaces; /* n_spaces, in the order of the recordings */
  size_t n_spaces, repeats, budget;
  double tolerance;
} clt_replay_result;

/* Repeats sessions on each recording, which must have a correct measurement. `run` is the settings of each, with seeds
 * run->seed, run->seed + 1, ... Its budget must be set; its threads are the number of runs at the same time. A
 * recording of learn_from is no source for a recording of the same name. The objective may be an expression, but no
 * metric of a problem file. Fails as clt_tune_run does, except that CLT_E_NO_VALID of a run is no failure;
 * CLT_E_STOPPED on request. Release with clt_replay_result_release. */
int clt_replay(clt_replay_result *result, const clt_recording *const *recordings, size_t n_recordings, unsigned repeats,
               const clt_tune_settings *run, clt_error *error);
void clt_replay_result_release(clt_replay_result *result);

/* Statistics of the fraction after `evaluations` (1 .. budget), over the repeats on one space: mean, the mean's
 * standard error (NaN for one repeat), and the 5th percentile (linear between neighbours). A run has missed the optimum
 * if its best is slower by more than the tolerance: fraction < 1 / (1 + tolerance). */
typedef struct clt_replay_figures {
  double mean, standard_error, percentile_5;
  double missed; /* share of the runs, 0 .. 1 */
} clt_replay_figures;
int clt_replay_figures_at(clt_replay_figures *out, const clt_replay_result *result, size_t space, size_t evaluations,
                          clt_error *error);
