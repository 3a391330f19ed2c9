/* session/probe.h - features of a device: stated by its driver, measured with small kernels, or computed from these.
 *
 * The probe is a problem (kernels_cl/probe). Each of its configurations is a kernel that does one thing. Workers run
 * it, and the store keeps its results under the device's own key, as for any problem. */
#pragma once

#include <clatune/store.h>

typedef struct clt_feature {
  char name[32];     /* "compute_units", "stream_GB_s", "double_share" */
  double value;      /* NaN: not known */
  bool is_said;      /* stated by the driver; the others are measured or computed */
  bool is_balance;   /* relates one measured cost to another; a faster clock or more memory does not change it */
  clt_reason reason; /* why its kernel failed; CLT_REASON_NONE: it did not fail, or was not run */
} clt_feature;

#define CLT_MOST_FEATURES 32

/* Measures the features that the store lacks, or (fresh) all, in worker processes; takes some seconds. A kernel that
 * fails or crashes is a result, as in any tuning. CLT_E_STOPPED on request (stop: see clt_tune_settings). */
int clt_probe_device(const clt_device_info *device, clt_store *store, bool fresh, const volatile int *stop,
                     clt_error *error);

/* The *n features of a device from its description and the store, with the same names in the same order for every
 * device. Nothing is measured here. store NULL: measured features are not known. */
int clt_device_features(clt_feature out[CLT_MOST_FEATURES], size_t *n, clt_store *store, const clt_device_info *device,
                        clt_error *error);
