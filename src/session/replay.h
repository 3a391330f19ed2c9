/* session/replay.h - how good a searcher is: many tuning sessions on recorded spaces, without a device.
 *
 * Every run is a session like any other (clt_tune_run with the evaluator "replay"): one recording, one seed. A run is
 * judged by the fraction of the optimum after k evaluations: the recording's least time / the least time among the
 * first k (by another objective: of costs). Failed evaluations count; before the first correct one
 * the fraction is 0. */
#ifndef CLT_SESSION_REPLAY_H
#define CLT_SESSION_REPLAY_H

#include <clatune/tune.h>

/* The runs on one recording. */
typedef struct clt_replay_space {
  const clt_recording *recording; /* borrowed */
  double least_cost, optimum; /* of the recording, by the objective: clt_objective_cost, and the value it stands for */
  double *fractions;          /* [repeat][evaluation], owned by the result; where a run ended early, its last one on */
  double search_s;            /* seconds that the searcher took an evaluation, mean of all runs */
  clt_note notes[CLT_MOST_NOTES]; /* n_notes: what the searcher noted, summed over the runs */
  size_t n_notes;
} clt_replay_space;

typedef struct clt_replay_result {
  clt_replay_space *spaces; /* n_spaces, in the order of the recordings */
  size_t n_spaces, repeats, budget;
  double tolerance;
} clt_replay_result;

/* So many repeats on each recording, which has a correct measurement. `run` is one of them, with seeds run->seed,
 * run->seed + 1, ...: its budget is stated, its threads are the runs at once, and no recording of learn_from is a
 * source for one of its own name. Metrics of problem files are not known, the objective's expressions are. Fails with
 * CLT_E_STOPPED on request, and as clt_tune_run does; only CLT_E_NO_VALID of a run is no failure. Release with
 * clt_replay_result_release. */
int clt_replay(clt_replay_result *result, const clt_recording *const *recordings, size_t n_recordings, unsigned repeats,
               const clt_tune_settings *run, clt_error *error);
void clt_replay_result_release(clt_replay_result *result);

/* The fraction after `evaluations` (1 .. budget) over the repeats of one space: mean, the mean's standard error (NaN
 * for one repeat), and the 5th percentile (linear between neighbours). A run has missed something if the optimum is
 * faster than its best by more than the tolerance: fraction < 1 / (1 + tolerance). */
typedef struct clt_replay_figures {
  double mean, standard_error, percentile_5;
  double missed; /* share of the runs, 0 .. 1 */
} clt_replay_figures;
int clt_replay_figures_at(clt_replay_figures *out, const clt_replay_result *result, size_t space, size_t evaluations,
                          clt_error *error);

#endif
