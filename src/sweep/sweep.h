/* sweep/sweep.h - what a loaded plan is made of; shared by the files of this room. */
#ifndef CLT_SWEEP_SWEEP_H
#define CLT_SWEEP_SWEEP_H

#include <clatune/sweep.h>

#include "base/json.h"

#define CLT_MAX_PLAN_BYTES ((size_t)16 << 20)
#define CLT_MAX_SWEEP_DEVICES 64
#define CLT_MAX_SWEEP_PROBLEMS 1024
#define CLT_MAX_SWEEP_SEARCHERS 64
#define CLT_MAX_SWEEP_NUMBERS 10000 /* seeds, budgets */
#define CLT_MAX_SWEEP_SIZES 100000  /* sets of sizes of a problem */
#define CLT_MAX_SWEEP_CELLS 1000000
#define CLT_MAX_SWEEP_LISTED 100000 /* listed configurations of a searcher */

/* Options as texts. */
typedef struct clt_sweep_options {
  clt_setting *settings; /* names are borrowed from the plan's JSON, values are owned */
  size_t n;
} clt_sweep_options;

typedef struct clt_sweep_searcher {
  char *label, *searcher; /* searcher NULL: listed */
  clt_sweep_options options;
  json_t *configurations; /* owned: a list of objects; NULL: none */
  json_t *grid;           /* owned: an object of lists of scalars; NULL: none */
} clt_sweep_searcher;

/* What a problem is tuned by. */
typedef struct clt_sweep_axes {
  clt_sweep_searcher *searchers;
  size_t n_searchers;
  int64_t *budgets, *seeds;
  size_t n_budgets, n_seeds;
  bool own_searchers, own_budgets, own_seeds; /* the others are borrowed from the plan's */
} clt_sweep_axes;

typedef struct clt_sweep_problem {
  clt_problem *problem;
  clt_size *sizes; /* n_sets x n_sizes; names are borrowed from the problem */
  size_t n_sets, n_sizes;
  clt_sweep_axes axes;
  size_t first_cell, n_cells, first_set;
} clt_sweep_problem;

struct clt_sweep {
  clt_source source;
  char *folder, *name;
  json_t *root;
  char **devices;
  size_t n_devices;
  clt_sweep_problem *problems;
  size_t n_problems, n_cells;
  clt_sweep_axes axes;
  char *evaluator; /* NULL: what the problems are for */
  clt_sweep_options evaluator_options;
  clt_tune_settings tuning; /* limits and the like; the objective is borrowed from root */
};

/* numbers.c: whole numbers from min to max: one, a list, or a text as of T1 ("range(1, 11)"); at most `most`. Absent:
 * *n is 0. *out is malloc'ed. */
int clt_sweep_numbers(int64_t **out, size_t *n, const clt_source *source, const clt_node *node, int64_t min,
                      int64_t max, size_t most, clt_error *error);

/* options.c: {"name": value, ...} as settings. Nothing there is none. */
int clt_sweep_read_options(clt_sweep_options *out, const clt_source *source, const clt_node *node, clt_error *error);
void clt_sweep_options_release(clt_sweep_options *options);

/* searchers.c: "Searchers" and "Evaluator". */
int clt_sweep_read_searchers(clt_sweep_axes *out, const clt_sweep *sweep, const clt_node *parent, clt_error *error);
int clt_sweep_read_evaluator(clt_sweep *sweep, const clt_node *root, clt_error *error);
void clt_sweep_searchers_free(clt_sweep_searcher *searchers, size_t n);

/* tuning.c: "Tuning". */
int clt_sweep_read_tuning(clt_sweep *sweep, const clt_node *root, clt_error *error);

/* sizes.c, draws.c: "Sizes" of a problem, whose problem and n_sizes are set. */
int clt_sweep_read_sizes(clt_sweep_problem *out, const clt_source *source, const clt_node *parent, clt_error *error);
int clt_sweep_draw(clt_config **out, size_t *n, const clt_space *space, size_t count, size_t skip, uint64_t seed,
                   clt_error *error);

/* configurations.c: the listed configurations of a searcher that are valid. *out is malloc'ed. */
int clt_sweep_configurations(clt_config **out, size_t *n, size_t *n_left_out, const clt_sweep_searcher *searcher,
                             const clt_instance *instance, clt_error *error);

/* The searcher of a cell (cells.c). */
const clt_sweep_searcher *clt_sweep_searcher_of(const clt_sweep *sweep, const clt_sweep_cell *cell);

#endif
