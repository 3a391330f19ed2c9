/* sweep/plan.h - what a loaded plan is made of; shared by the files of this room. */
#ifndef CLT_SWEEP_PLAN_H
#define CLT_SWEEP_PLAN_H

#include "base/reader.h"
#include "sweep/sweep.h"

#define CLT_MAX_PLAN_BYTES ((size_t)16 << 20)
#define CLT_MAX_SWEEP_SIZES 100000  /* sets of sizes of a problem */
#define CLT_MAX_SWEEP_LISTED 100000 /* listed configurations of a searcher */

typedef struct clt_sweep_searcher {
  const char *label, *searcher; /* searcher NULL: listed */
  clt_setting *settings;
  size_t n_settings;
  const json_t *configurations; /* a list of objects; NULL: none */
  const json_t *grid;           /* an object of lists of scalars; NULL: none */
} clt_sweep_searcher;

/* What a problem is tuned by. */
typedef struct clt_sweep_axes {
  clt_sweep_searcher *searchers;
  size_t n_searchers;
  int64_t *budgets, *seeds;
  size_t n_budgets, n_seeds;
} clt_sweep_axes;

typedef struct clt_sweep_problem {
  clt_problem *problem;
  clt_size *sizes; /* n_sets x n_sizes; names are borrowed from the problem */
  size_t n_sets, n_sizes;
  clt_sweep_axes axes;
  size_t first_cell, n_cells, first_set;
} clt_sweep_problem;

/* Everything but the problems, and what is kept, belongs to the source. */
struct clt_sweep {
  clt_source source;
  const char *folder, *name;
  json_t *kept; /* a list: JSON that the plan does not hold itself */
  const char **devices;
  size_t n_devices;
  clt_sweep_problem *problems;
  size_t n_problems, n_cells;
  clt_sweep_axes axes;
  const char *evaluator; /* NULL: what the problems are for */
  clt_setting *evaluator_settings;
  size_t n_evaluator_settings;
  clt_tune_settings tuning; /* limits and the like */
};

/* load.c: whole numbers from min to max: one, a list, or a text as of T1 ("range(1, 11)"); 1 to `most` of them. NULL
 * where there is nothing; *n is their number. */
int64_t *clt_sweep_numbers(size_t *n, const clt_node *node, int64_t min, int64_t max, size_t most);

/* sizes.c: "Sizes" of a problem, whose problem and n_sizes are set. */
void clt_sweep_read_sizes(clt_sweep_problem *out, const clt_node *parent);

#endif
