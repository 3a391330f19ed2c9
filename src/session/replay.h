/* session/replay.h - judges a searcher with many tuning sessions on recorded spaces, without a device.
 *
 * Every run is a session (clt_tune_run with the evaluator "replay") on one recording with one seed. Its figure is the
 * fraction of the optimum after k evaluations: the recording's minimum cost / the minimum cost among the first k.
 * Failed evaluations count; before the first correct one the fraction is 0. */
#ifndef CLT_SESSION_REPLAY_H
#define CLT_SESSION_REPLAY_H

#include <clatune/tune.h>

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

#endif
