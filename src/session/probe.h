/* session/probe.h - what a device can do: what its driver says of it, what small kernels measured, and what follows.
 *
 * The probe is a problem (kernels_cl/probe), each configuration of which is a kernel that does one thing. Workers run
 * it and the store keeps it as they do with any other, under the device's own key. */
#ifndef CLT_SESSION_PROBE_H
#define CLT_SESSION_PROBE_H

#include <clatune/store.h>

typedef struct clt_feature {
  char name[32];     /* "compute_units", "stream_GB_s", "double_share" */
  double value;      /* NaN: not known */
  bool is_said;      /* by the driver; the others are measured, or computed of what is */
  clt_reason reason; /* why its kernel failed; CLT_REASON_NONE: it has not, or was not run */
} clt_feature;

#define CLT_MOST_FEATURES 32

/* Measures what the store does not know yet, or (fresh) all of it, in worker processes; some seconds. A kernel that
 * fails, or takes the driver down, is a result as in any tuning. CLT_E_STOPPED on request (stop: clt_tune_settings). */
int clt_probe_device(const clt_device_info *device, clt_store *store, bool fresh, const volatile int *stop,
                     clt_error *error);

/* The features of a device, as it stands here or in a store's description, from what the store knows of it: *n of them,
 * the same names in the same order for every device. Nothing is measured. store nullable: nothing is measured of it. */
int clt_device_features(clt_feature out[CLT_MOST_FEATURES], size_t *n, clt_store *store, const clt_device_info *device,
                        clt_error *error);

#endif
