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

/* Where an agent finds the problems of plans that others wrote, and what it allows them. */
typedef struct clt_sweep_trust {
  const char *const *folders; /* n_folders */
  size_t n_folders;
  bool programs; /* problems that run programs, or compile modules of C */
} clt_sweep_trust;

/* Everything but the problems, the cells and what is kept belongs to the source. */
typedef struct clt_sweep {
  clt_source source;
  const clt_sweep_trust *trust; /* NULL: the plan is its user's own. Not used once it is loaded */
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
  clt_tune_settings tuning;      /* limits and the like */
  bool learns_before_submission; /* "Transfer": "submission": who submits the plan sets tuning.learn_before_s */
} clt_sweep;

/* Reads a plan and the problem files that it names; random sizes are drawn. Mistakes are reported with file, line and
 * key (CLT_E_FORMAT, CLT_E_RANGE, CLT_E_NOT_FOUND, ...). No kernel is read and no device is asked for. */
int clt_sweep_load(clt_sweep **out, const char *path, clt_error *error);
void clt_sweep_free(clt_sweep *sweep);

/* --- share.c: plans that machines share ---
 *
 * As text, a plan names no files of the machine where it was written: a problem is "copy.json#<32 hex digits>", the
 * name of its file and a hash over that and all that the kernel consists of; listed configurations stand in the plan.
 */

/* The text of a plan, the same for the same plan. *out is malloc'ed. */
int clt_sweep_share(char **out, const clt_sweep *sweep, clt_error *error);

/* Reads such a text, which may come from anybody: problems are files of those names in the folders, if their hashes
 * agree (CLT_E_NOT_FOUND where none does). CLT_E_UNSUPPORTED for what it asks for and is not trusted with: programs,
 * modules of C, evaluators but the usual one. name is what messages call it. */
int clt_sweep_load_shared(clt_sweep **out, const char *text, const char *name, const clt_sweep_trust *trust,
                          clt_error *error);

/* CLT_E_UNSUPPORTED where a plan was shared by a version that read it as other cells. */
int clt_sweep_check_cells(const clt_sweep *sweep, clt_error *error);

/* The path of the file that a shared plan's problem means here. *out is malloc'ed. */
int clt_sweep_resolve(char **out, const char *name, const clt_sweep_trust *trust, clt_error *error);

/* Whether a text of "Devices" stands for this one: a plan without any is for all devices. */
bool clt_sweep_fits(const clt_sweep *sweep, const clt_device_info *device);

const char *clt_sweep_name(const clt_sweep *sweep); /* the plan's "Name", else its path */

/* Whether its problems are programs (docs/commands.md) and not kernels: then the only device is the machine itself
 * (clt_device_host). */
bool clt_sweep_is_of_commands(const clt_sweep *sweep);

/* "convolution width=512 height=512 surrogate budget=100 seed=1": a cell for people. Returns the length needed, as
 * snprintf does. */
int clt_sweep_cell_print(const clt_sweep_cell *cell, char *out, size_t capacity);
char *clt_sweep_cell_text(const clt_sweep_cell *cell); /* the same, malloc'ed; NULL: out of memory */

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
