/* clatune/lookup.h - what the stores know already: the best configuration of a kernel at given sizes on a device.
 *
 * Nothing is measured and nothing is written. An answer says on what it rests: its tier. Where no configuration is
 * valid, that is CLT_E_NO_VALID. Stores are asked in the order given, so that a user's own store goes before one that a
 * system's administrator has filled.
 *
 * A clt_catalog keeps its stores open and remembers its answers; it may be used by several threads at once. An answer
 * that is remembered is given again without a look at the problem's files, but not once another process has added to a
 * store. */
#ifndef CLATUNE_LOOKUP_H
#define CLATUNE_LOOKUP_H

#include <clatune/measurement.h>
#include <clatune/problem.h>
#include <clatune/store.h>

CLT_BEGIN_C

/* What an answer rests on, the best first. */
typedef enum clt_tier {
  CLT_TIER_EXACT,             /* this kernel, these sizes, this device and driver */
  CLT_TIER_OTHER_DRIVER,      /* the same, measured with another version of the driver: stale */
  CLT_TIER_PREDICTION,        /* that of a model of this kernel on this device, whose calibrated error is
                                 at most 10 % */
  CLT_TIER_NEAREST_SIZE,      /* this device, the sizes that are nearest (sum of |log(size / size)|) */
  CLT_TIER_SAME_ARCHITECTURE, /* another device of the same platform, vendor and type */
  CLT_TIER_DEFAULT, /* nothing that fits is known: the problem's default configuration, or where it is not valid
                       at these sizes, the first of the space that is */
  CLT_N_TIERS
} clt_tier;
const char *clt_tier_name(clt_tier tier); /* "exact", "other-driver", "prediction", "nearest-size", ... */

typedef struct clt_catalog clt_catalog;

/* An answer. Texts are malloc'ed; release with clt_lookup_result_release. */
typedef struct clt_lookup_result {
  clt_tier tier;
  bool stale;             /* measured with another driver, or for another text of the kernel: worth tuning again */
  double expected_time_s; /* predicted, or measured; NaN where nothing was measured at these sizes on this device */
  double expected_value;  /* the same of the objective */
  char *configuration;    /* "block_x=16 block_y=4", in the order of the parameters */
  char *options;          /* build options: "-Dblock_x=16 -Dblock_y=4 -cl-fast-relaxed-math" */
  char *device, *sizes;   /* where it was measured: the store's key of the device, "width=2048 height=2048"; "" for the
                             default */
  clt_launch_sizes *launches; /* n_launches: how it is launched at the sizes asked for (clt_instance_launches); NULL:
                                 programs are run, or the problem's expressions give no sizes */
  size_t n_launches;
} clt_lookup_result;
void clt_lookup_result_release(clt_lookup_result *found);

/* The value of a tuning parameter in an answer's configuration, for a program that launches by it ("block_x": 16.0).
 * Booleans are 0 and 1; whole numbers are exact up to 2^53. CLT_E_NOT_FOUND where the configuration has no such name,
 * CLT_E_FORMAT where its value is a text; *out is then left as it was. Does not depend on the locale. */
int clt_lookup_result_number(double *out, const clt_lookup_result *found, const char *name, clt_error *error);

/* Opens stores for reading. stores NULL: the user's ($XDG_DATA_HOME/clatune/store.sqlite), then the system's
 * ($CLATUNE_SYSTEM_STORE, else the one that was compiled in). A file that does not exist holds nothing and is no error;
 * it is looked for again each time. CLT_E_STORE where a file cannot be used. Close with clt_catalog_free. */
int clt_catalog_new(clt_catalog **out, const char *const *stores, size_t n_stores, clt_error *error);
void clt_catalog_free(clt_catalog *catalog);

/* By what the best is chosen from now on, in the form of --objective (docs/objectives.md); NULL, as after opening:
 * what the problem file says, else time. A text that is no objective of a problem is found out when that is looked up.
 */
int clt_catalog_set_objective(clt_catalog *catalog, const char *objective, clt_error *error);

/* The best known for a problem file at these sizes (those not given have their defaults) on a device. Fails only where
 * the problem file or the kernel cannot be read, a size has no such name, the problem no such objective, or a store is
 * damaged. */
int clt_catalog_lookup(clt_lookup_result *out, clt_catalog *catalog, const char *problem_path, const clt_size *sizes,
                       size_t n_sizes, const clt_device_info *device, clt_error *error);

CLT_END_C
#endif
