/* lookup/portable.h - one configuration for several devices or sizes: the one with the least summed relative cost,
 * from what the stores hold. Nothing is measured.
 *
 * A place is a device at certain sizes. The relative cost of a configuration at a place is its cost there over that of
 * the best configuration that was measured there: 1 at best; for the objective time a time over the best time. What a
 * search saw counts, so that all configurations of a place stand on the same footing, and the newest record of each. A
 * configuration that failed at one of the places, or is not valid there, is no answer. */
#ifndef CLT_LOOKUP_PORTABLE_H
#define CLT_LOOKUP_PORTABLE_H

#include <clatune/lookup.h>

/* Which places. Texts are parts of a device's key in the store ("platform|name|compute units") without regard to case,
 * any of which may fit; none: all devices. Of sizes of one name any may fit; a name that is not listed may have any
 * value. */
typedef struct clt_portable_filter {
  const char *const *devices;
  size_t n_devices;
  const clt_size *sizes;
  size_t n_sizes;
} clt_portable_filter;

typedef struct clt_portable_place {
  char *device, *driver, *sizes; /* of several drivers of a device, the one that was measured with last */
  double relative;               /* of the answer; NaN: it was not measured here */
  double value, best_value;      /* of the objective: the answer's (NaN), and the best one's */
} clt_portable_place;

/* An answer; texts are malloc'ed, release with clt_portable_release. */
typedef struct clt_portable {
  char *configuration; /* "block_x=16 block_y=4" */
  char *options;       /* those build options that are the same at all places: without -D of sizes that differ */
  clt_portable_place *places;
  size_t n_places, n_missing; /* missing: where it was not measured. 0 unless nothing was measured at all places */
  double sum_relative;        /* over the places where it was measured */
  double worst_relative;
  size_t n_configurations; /* measured somewhere, and failing nowhere as far as is known */
  size_t n_complete;       /* of these, measured at all places */
  /* Of these, how many would be better if they were as good as the best one at the places where they were not measured;
   * and the most promising of them. NULL: none. */
  size_t n_open;
  char *open_configuration, *open_missing; /* open_missing: "DEVICE, n=64; DEVICE, n=128" */
} clt_portable;
void clt_portable_release(clt_portable *portable);

/* By the catalog's objective. filter NULL: all places. CLT_E_NOT_FOUND where no place fits, CLT_E_NO_VALID where every
 * configuration fails somewhere. */
int clt_catalog_portable(clt_catalog *catalog, clt_portable *out, const clt_problem *problem,
                         const clt_portable_filter *filter, clt_error *error);

#endif
