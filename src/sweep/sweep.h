/* sweep/sweep.h - many tunings from one plan file (docs/plans.md): every device x problem x size x searcher x budget x
 * seed.
 *
 * A *cell* is one tuning on one device. The plan lists the cells of a device; the caller has the devices, makes the
 * instance of a cell, gets its settings from clt_sweep_settings, adds the store and runs clt_tune.
 *
 * A plan names problem files, so it is trusted as they are: as a Makefile. A clt_sweep is immutable once loaded and may
 * be read from several threads. */
#ifndef CLT_SWEEP_SWEEP_H
#define CLT_SWEEP_SWEEP_H

#include <clatune/tune.h>

#include "base/reader.h"

#define CLT_MAX_PLAN_BYTES ((size_t)16 << 20)
#define CLT_MAX_SWEEP_SIZES 100000  /* sets of sizes of a problem */
#define CLT_MAX_SWEEP_LISTED 100000 /* listed configurations of a searcher */

/* What decides what is measured. */
typedef struct clt_sweep_searcher {
  const char *label;    /* what it is called in tables: the plan's "Name", else the searcher's own */
  const char *searcher; /* NULL: the configurations are listed */
  clt_setting *settings;
  size_t n_settings;
  const json_t *configurations; /* where they are listed: a list of objects */
} clt_sweep_searcher;

typedef struct clt_sweep_problem {
  clt_problem *problem;
  clt_size *sizes; /* n_sets x n_sizes, in the problem's order; names are borrowed from the problem */
  size_t n_sets, n_sizes;
} clt_sweep_problem;

/* One tuning, but for the device. All of it is borrowed from the sweep. */
typedef struct clt_sweep_cell {
  const clt_problem *problem;
  const clt_size *sizes; /* n_sizes: all problem parameters, in the problem's order */
  size_t n_sizes;
  size_t size_set; /* cells of one device with the same number have the same problem and sizes; they stand together */
  const clt_sweep_searcher *by;
  int64_t budget; /* as in clt_tune_settings; 0 where the configurations are listed */
  uint64_t seed;
} clt_sweep_cell;

/* Everything but the problems, the cells and what is kept belongs to the source. */
typedef struct clt_sweep {
  clt_source source;
  const char *folder, *name;
  json_t *kept;         /* a list: JSON that the plan does not hold itself */
  const char **devices; /* the texts of "Devices"; none where the plan leaves the choice to its user */
  size_t n_devices;
  clt_sweep_problem *problems;
  clt_sweep_cell *cells; /* at most a million: size outermost, then searcher, budget, seed */
  size_t n_problems, n_cells, cells_capacity;
  const char *evaluator; /* NULL: what the problems are for */
  clt_setting *evaluator_settings;
  size_t n_evaluator_settings;
  clt_tune_settings tuning; /* limits and the like */
} clt_sweep;

/* Reads a plan and the problem files that it names; random sizes are drawn. Mistakes are reported with file, line and
 * key (CLT_E_FORMAT, CLT_E_RANGE, CLT_E_NOT_FOUND, ...). No kernel is read and no device is asked for. */
int clt_sweep_load(clt_sweep **out, const char *path, clt_error *error);
void clt_sweep_free(clt_sweep *sweep);

const char *clt_sweep_name(const clt_sweep *sweep); /* the plan's "Name", else its path */

/* Whether its problems are programs (docs/commands.md) and not kernels: then the only device is the machine itself
 * (clt_device_host). */
bool clt_sweep_is_of_commands(const clt_sweep *sweep);

/* "convolution width=512 height=512 surrogate budget=100 seed=1": a cell for people. Returns the length needed, as
 * snprintf does. */
int clt_sweep_cell_print(const clt_sweep_cell *cell, char *out, size_t capacity);

/* The settings of a cell's tuning: everything but the store, and what watches and stops it. The instance is that of the
 * cell's problem and sizes, on a device. Release with clt_sweep_settings_release; what is not owned by the settings is
 * borrowed from sweep and instance. *n_left_out (nullable) is how many of the listed configurations are not valid on
 * this device at these sizes. CLT_E_NO_VALID where none of them is, CLT_E_NOT_FOUND where one has a parameter or a
 * value that the problem lacks. */
int clt_sweep_settings(clt_tune_settings *out, const clt_sweep *sweep, const clt_sweep_cell *cell,
                       const clt_instance *instance, size_t *n_left_out, clt_error *error);
void clt_sweep_settings_release(clt_tune_settings *settings);

/* What tells a finished tuning from others: a hash (32 hex digits) over the instance's key in the store (kernel, sizes,
 * data), the device and its driver, the space, and the settings that clt_sweep_settings has filled. Reads the kernel
 * file. */
int clt_sweep_key(char out[33], const clt_tune_settings *settings, clt_error *error);

/* --- inside --- */

/* load.c: whole numbers from min to max: one, a list, or a text as of T1 ("range(1, 11)"); 1 to `most` of them. NULL
 * where there is nothing; *n is their number. */
int64_t *clt_sweep_numbers(size_t *n, const clt_node *node, int64_t min, int64_t max, size_t most);

/* sizes.c: "Sizes" of a problem, whose problem and n_sizes are set. */
void clt_sweep_read_sizes(clt_sweep_problem *out, const clt_node *parent);

#endif
