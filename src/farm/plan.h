/* farm/plan.h - many tunings from one plan file (docs/reference/plan-file.md): every device x problem x size x
 * searcher x budget x seed.
 *
 * A *cell* is one tuning, without the device. For each device and cell the caller makes the instance, gets the settings
 * from clt_sweep_settings, adds the store, and runs the tuning.
 *
 * A plan names problem files, so it is trusted like them: as a Makefile. A clt_sweep is immutable once loaded and may
 * be read from several threads. */
#pragma once

#include <clatune/tune.h>

#include "base/json.h"

#define CLT_MAX_PLAN_BYTES ((size_t)16 << 20)
#define CLT_MAX_SWEEP_SIZES 100000  /* sets of sizes per problem */
#define CLT_MAX_SWEEP_LISTED 100000 /* listed configurations per searcher */
#define CLT_MAX_SWEEP_VALUES 4000000

/* A searcher with its options, or a list of configurations. */
typedef struct clt_sweep_searcher {
  const char *label;    /* name in tables: "Name", otherwise the searcher's */
  const char *searcher; /* NULL: the configurations are listed */
  clt_setting *settings;
  size_t n_settings;
  const json_t *configurations; /* a list of objects; used if searcher is NULL */
} clt_sweep_searcher;

typedef struct clt_sweep_problem {
  const char *name; /* in the plan. Entries with the same name share a problem */
  clt_problem *problem;
  clt_size *sizes;        /* owned: n_sets x n_sizes, in the problem's order; names are borrowed from the problem */
  size_t n_sets, n_sizes; /* n_sizes: 0 if each device has its own default sizes */
} clt_sweep_problem;

/* One tuning, without the device. Everything is borrowed from the sweep. */
typedef struct clt_sweep_cell {
  const clt_problem *problem;
  const clt_size *sizes; /* n_sizes: all problem parameters, in the problem's order, or none */
  size_t n_sizes;
  size_t size_set; /* cells with the same number have the same problem and sizes; they are adjacent */
  const clt_sweep_searcher *by;
  int64_t budget; /* as in clt_tune_settings; 0 if configurations are listed */
  uint64_t seed;
} clt_sweep_cell;

/* Where an agent searches the problems of submitted plans, and what it allows them to do. */
typedef struct clt_sweep_trust {
  const char *const *folders; /* n_folders */
  size_t n_folders;
  bool programs; /* allow problems that run programs or compile modules of C */
} clt_sweep_trust;

/* Texts and JSON are borrowed from the source; problems, cells and `kept` are owned. */
typedef struct clt_sweep {
  clt_source source;
  const clt_sweep_trust *trust; /* NULL: a plan of the user. Used only while loading */
  const char *folder, *name;
  json_t *kept;         /* a list of JSON values that are not in the plan's file */
  const char **devices; /* the texts of "Devices"; none: the user chooses */
  size_t n_devices;
  clt_sweep_problem *problems;
  clt_sweep_cell *cells; /* at most a million: size outermost, then searcher, budget, seed */
  size_t n_problems, n_cells, cells_capacity;
  size_t n_values; /* those of grids, sizes, budgets and seeds, which reading the plan takes time and memory for */
  const char *evaluator; /* NULL: the problems' default */
  clt_setting *evaluator_settings;
  size_t n_evaluator_settings;
  clt_tune_settings tuning;      /* limits and other options */
  bool learns_before_submission; /* "Transfer": "submission": the caller sets tuning.learn_before_s */
} clt_sweep;

/* Reads a plan and its problem files, and draws random sizes. Mistakes are reported with file, line and key
 * (CLT_E_FORMAT, CLT_E_RANGE, CLT_E_NOT_FOUND, ...). Reads no kernels and needs no device. */
int clt_sweep_load(clt_sweep **out, const char *path, clt_error *error);
void clt_sweep_free(clt_sweep *sweep);

/* --- share.c: submitted plans ---
 *
 * The text of a submitted plan has no paths: a problem is "copy.json#<32 hex digits>", the name of its file and a hash
 * of the file and of everything that the kernel consists of. Listed configurations are part of the text. */

/* Writes a plan as such a text, always the same for the same plan. *out is malloc'ed. */
int clt_sweep_share(char **out, const clt_sweep *sweep, clt_error *error);

/* Reads such a text, which is not trusted. Its problems are files with these names in the trusted folders whose hashes
 * agree (CLT_E_NOT_FOUND: none). CLT_E_UNSUPPORTED: it uses something that trust does not allow: programs, modules of
 * C, or another evaluator. name: for messages. */
int clt_sweep_load_shared(clt_sweep **out, const char *text, const char *name, const clt_sweep_trust *trust,
                          clt_error *error);

/* CLT_E_UNSUPPORTED if the version that submitted the plan derived other cells from it. */
int clt_sweep_check_cells(const clt_sweep *sweep, clt_error *error);

/* The path of a submitted plan's problem on this machine. *out is malloc'ed. */
int clt_sweep_resolve(char **out, const char *name, const clt_sweep_trust *trust, clt_error *error);

/* Whether "Devices" selects this device; a plan without "Devices" is for all. */
bool clt_sweep_fits(const clt_sweep *sweep, const clt_device_info *device);

const char *clt_sweep_name(const clt_sweep *sweep); /* the plan's "Name", otherwise its path */

/* Whether its problems are programs (docs/reference/program-problems.md), not kernels: then the only device is the
 * machine itself (clt_device_host). */
bool clt_sweep_is_of_commands(const clt_sweep *sweep);

/* Prints a cell: "convolution width=512 height=512 surrogate budget=100 seed=1". Returns the length needed, as snprintf
 * does. */
int clt_sweep_cell_print(const clt_sweep_cell *cell, char *out, size_t capacity);
char *clt_sweep_cell_text(const clt_sweep_cell *cell); /* the same, malloc'ed; NULL: out of memory */

/* The settings of a cell's tuning: everything except the store, callbacks and the stop flag. The instance has the
 * cell's problem and sizes, on a device. Release with clt_sweep_settings_release; everything else is borrowed from
 * sweep and instance. *n_left_out (nullable): how many listed configurations are not valid on this device at these
 * sizes. CLT_E_NO_VALID: none is; CLT_E_NOT_FOUND: one has a parameter or a value that the problem lacks. */
int clt_sweep_settings(clt_tune_settings *out, const clt_sweep *sweep, const clt_sweep_cell *cell,
                       const clt_instance *instance, size_t *n_left_out, clt_error *error);
void clt_sweep_settings_release(clt_tune_settings *settings);

/* The key of a tuning in the file of results: a hash (32 hex digits) of the instance's key in the store (kernel, sizes,
 * data), the device and its driver, the space, and the settings of clt_sweep_settings. Reads the kernel file. */
int clt_sweep_key(char out[33], const clt_tune_settings *settings, clt_error *error);

/* --- internal --- */

/* Before n more values are read: a mistake if they are too many. A few short lines can stand for billions of them. */
void clt_sweep_count_values(clt_sweep *sweep, const clt_node *node, size_t n);

/* sizes.c: reads "Sizes" of a problem, whose problem and n_sizes are set. */
void clt_sweep_read_sizes(clt_sweep_problem *out, clt_sweep *sweep, const clt_node *parent);
