/* lookup/portable.h - finds one configuration for several devices or sizes: the one with the smallest sum of relative
 * costs in the stores. Measures nothing.
 *
 * A place is a device at certain sizes. The relative cost of a configuration at a place is its cost divided by the cost
 * of the best configuration measured there, so at least 1. Costs are those of the search, not of the finalists, so that
 * all configurations of a place are comparable; the newest record of a configuration counts. A configuration that
 * failed or is invalid at one of the places cannot be the answer. In a shared database, a place that one other voice
 * alone has measured counts if the filter names its device and all its sizes, or if no place counts otherwise. */
#pragma once

#include <clatune/lookup.h>

/* Selects places. devices are parts of a device's key in the store ("platform|name|compute units"), ignoring case. A
 * device is selected if any of them matches, or if there are none. If sizes has several values for a name, any of them
 * matches. A size that is not listed may have any value. */
typedef struct clt_portable_filter {
  const char *const *devices;
  size_t n_devices;
  const clt_size *sizes;
  size_t n_sizes;
} clt_portable_filter;

typedef struct clt_portable_place {
  char *device, *driver, *sizes; /* driver: if several were used, the latest one */
  double relative;               /* relative cost of the answer; NaN: not measured here */
  double value,
      best_value; /* values of the objective: of the answer (NaN: not measured here), and of the best configuration */
} clt_portable_place;

/* An answer. Release it with clt_portable_release. */
typedef struct clt_portable {
  char *configuration; /* "block_x=16 block_y=4" */
  char *options; /* the build options that are the same at all places; omits, for example, -D of sizes that differ */
  clt_portable_place *places;
  bool unconfirmed;           /* somewhere one voice alone says how good it is */
  size_t n_left_out;          /* places that do not count */
  size_t n_places, n_missing; /* n_missing: places where the answer was not measured; 0 if any configuration was
                                 measured at all places */
  double sum_relative;        /* sum over the places where it was measured */
  double worst_relative;
  size_t n_configurations; /* configurations that were measured somewhere and, as far as known, fail nowhere */
  size_t n_complete;       /* how many of these were measured at all places */
  /* How many of them would be better than the answer if, at the places where they were not measured, they were as good
   * as the best there; and the most promising of these. NULL: none. */
  size_t n_open;
  char *open_configuration, *open_missing; /* open_missing: "DEVICE, n=64; DEVICE, n=128" */
} clt_portable;
void clt_portable_release(clt_portable *portable);

/* Finds the portable configuration, with the catalog's objective. filter NULL: all places. CLT_E_ARGUMENT: the problem
 * lacks a size of the filter. CLT_E_NOT_FOUND: no place matches. CLT_E_NO_VALID: every configuration fails somewhere.
 */
int clt_catalog_portable(clt_catalog *catalog, clt_portable *out, const clt_problem *problem,
                         const clt_portable_filter *filter, clt_error *error);
