/* clatune/lookup.h - looks up the best known configuration of a kernel at given sizes on a device
 * (docs/reference/lookup.md).
 *
 * A look-up measures and writes nothing. The answer's tier tells what it is based on. Stores take precedence in the
 * order in which they are given.
 *
 * A clt_catalog keeps its stores open and remembers its answers until another process adds to a store. A remembered
 * answer is given without reading the problem's files again. Several threads may use a clt_catalog at the same time. */
#ifndef CLATUNE_LOOKUP_H
#define CLATUNE_LOOKUP_H

#include <clatune/measurement.h>
#include <clatune/problem.h>
#include <clatune/store.h>

CLT_BEGIN_C

/* What an answer is based on, the best first. */
typedef enum clt_tier {
  CLT_TIER_EXACT,             /* this kernel, these sizes, this device and driver */
  CLT_TIER_OTHER_DRIVER,      /* the same, with another version of the driver */
  CLT_TIER_PREDICTION,        /* a model of this kernel on this device, with a calibrated error of at most
                                 10 % */
  CLT_TIER_NEAREST_SIZE,      /* this device, the nearest sizes: smallest sum of |log(size / size)| */
  CLT_TIER_SAME_ARCHITECTURE, /* another device of the same platform, vendor and type */
  CLT_TIER_DEFAULT, /* nothing is known: the default configuration, or if it is invalid at these sizes, the first
                       valid one */
  CLT_N_TIERS
} clt_tier;
const char *clt_tier_name(clt_tier tier); /* "exact", "other-driver", "prediction", "nearest-size", ... */

typedef struct clt_catalog clt_catalog;

/* An answer. It owns its texts; release it with clt_lookup_result_release. */
typedef struct clt_lookup_result {
  clt_tier tier;
  bool stale;             /* another driver or another text of the kernel was measured: tune again */
  double expected_time_s; /* measured or predicted seconds; NaN in the last three tiers */
  double expected_value;  /* the same for the value of the objective */
  char *configuration;    /* "block_x=16 block_y=4", in the order of the parameters */
  char *options;          /* build options: "-Dblock_x=16 -Dblock_y=4 -cl-fast-relaxed-math" */
  char *device, *sizes;   /* where it was measured: the key of the device in the store, and "width=2048 height=2048";
                             "" for the default */
  clt_launch_sizes *launches; /* n_launches, at the requested sizes (clt_instance_launches); NULL: the problem runs
                                 programs, or its expressions give no sizes */
  size_t n_launches;
  bool unconfirmed; /* only one agent of a shared database, another than this machine, has measured it */
  bool is_public;   /* from the public results that clatune is installed with */
  bool unchecked;   /* measured, but no finalist: no check on other inputs or sizes is known (kernels only) */
} clt_lookup_result;
void clt_lookup_result_release(clt_lookup_result *found); /* frees its members */

/* The value of a tuning parameter in the answer's configuration. Booleans are 0 and 1; integers are exact up to 2^53.
 * CLT_E_NOT_FOUND: no such parameter. CLT_E_FORMAT: its value is a text. */
int clt_lookup_result_number(double *out, const clt_lookup_result *found, const char *name, clt_error *error);

/* Opens n_stores stores (paths or URLs) for reading. stores NULL: the user's store
 * ($XDG_DATA_HOME/clatune/store.sqlite), then the system's ($CLATUNE_SYSTEM_STORE, else the path that was compiled in);
 * if neither has an answer, the public results, opened then ($CLATUNE_PUBLIC_RESULTS, else those that clatune is
 * installed with). A missing file counts as empty, and is tried again at each look-up. CLT_E_STORE: a file cannot be
 * used. Close with clt_catalog_free (NULL is allowed). */
int clt_catalog_new(clt_catalog **out, const char *const *stores, size_t n_stores, clt_error *error);
void clt_catalog_free(clt_catalog *catalog);

/* Sets the objective of all further look-ups, in the form of --objective (docs/reference/objectives.md). NULL, the
 * default: the objective of the problem file, else time. The text is checked at the next look-up. */
int clt_catalog_set_objective(clt_catalog *catalog, const char *objective, clt_error *error);

/* The best known configuration for a problem file at these sizes on a device. Sizes that are not given have their
 * defaults. CLT_E_NO_VALID: no configuration is valid. CLT_E_IO, CLT_E_FORMAT: the problem file or its kernel cannot be
 * read. CLT_E_NOT_FOUND: no such size. CLT_E_ARGUMENT, CLT_E_EXPRESSION: the objective. CLT_E_STORE: a store is
 * damaged. */
int clt_catalog_lookup(clt_lookup_result *out, clt_catalog *catalog, const char *problem_path, const clt_size *sizes,
                       size_t n_sizes, const clt_device_info *device, clt_error *error);

CLT_END_C
#endif
