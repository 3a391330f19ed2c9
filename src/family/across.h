/* family/across.h - models for a device from measurements of other devices (docs/reference/family-file.md): the
 * device's table is predicted from the other devices' tables, weighted by similarity of their characteristics, here
 * called figures (session/probe.h). */
#ifndef CLT_FAMILY_ACROSS_H
#define CLT_FAMILY_ACROSS_H

#include "family/train.h"
#include "session/probe.h"

#define CLT_MOST_CHOSEN 3 /* maximum number of figures in the distance between devices */

/* Devices with measured inputs of a family, and the figures that are known for all of them. */
typedef struct clt_family_devices {
  clt_device_info *all; /* [n]; owned, like all below */
  clt_family_place *places;
  size_t n, n_figures;
  char (*names)[32];
  double *figures;                        /* [device][figure]: logarithms */
  size_t given[CLT_MOST_CHOSEN], n_given; /* figures that the caller chose; 0: cross-validation chooses */
} clt_family_devices;

/* Finds the devices that the stores describe, each once, followed by `target` (nullable) with its own store. Release
 * also after a failure. */
int clt_family_devices_find(clt_family_devices *out, const clt_family *family, clt_store *const *stores,
                            size_t n_stores, const clt_family_place *target, clt_error *error);
/* Reads the figures. CLT_E_NOT_FOUND: a device was not probed, or there are fewer than two devices. */
int clt_family_devices_read(clt_family_devices *devices, clt_error *error);
void clt_family_devices_release(clt_family_devices *devices);

/* The data for the model of a device. */
typedef struct clt_family_across {
  const clt_family_devices *devices; /* borrowed */
  size_t target;                     /* the index of the device */
  clt_family_table table;            /* training: all other devices; test: the device's own inputs, if any */
  double *cost;  /* [device][input][arm]: log (time / least time of the input), at most CLT_FAMILY_BEHIND; NaN: may not
                    run, or not known */
  double *least; /* [device][input]: log of the shortest time */
  bool fails[CLT_MAX_ARMS];         /* the arm failed on the device's own first training input */
  double spread[CLT_MOST_FEATURES]; /* standard deviation of each figure over the other devices */
  size_t chosen[CLT_MOST_CHOSEN], n_chosen;
  size_t nearest;     /* the nearest other device, in the chosen figures (in all, if none was chosen) */
  double selection_s; /* time of the selection in seconds */
} clt_family_across;

/* The weights of the other devices: by distance, the nearest device alone, or all equal. */
typedef enum clt_family_weighting { CLT_BY_DISTANCE, CLT_NEAREST_ALONE, CLT_ALIKE } clt_family_weighting;

/* Reads the table and selects figures by cross-validation over the other devices: for each device that is left out, the
 * subset of at most three figures with which the rest predicts it best; then the most frequent figures of these
 * subsets. Figures that are given are taken instead. If the device has measured the first training input, what failed
 * there counts as a failure everywhere: a driver may refuse arms for reasons that no figure tells. most and uses: as
 * for clt_family_table_load. Release also after a failure. */
int clt_family_across_load(clt_family_across *out, const clt_family *family, const clt_family_devices *devices,
                           size_t target, size_t most, double uses, clt_error *error);
void clt_family_across_release(clt_family_across *across);

/* Like clt_family_train, with the predicted table. */
int clt_family_across_train(clt_family_model **out, const clt_family_across *across, const clt_family_training *how,
                            clt_error *error);

/* Like clt_family_judge, on the device's own measurements. */
int clt_family_across_judge(clt_family_figures out[CLT_N_JUDGED], size_t *n, const clt_family_across *across,
                            clt_family_weighting weighting, const clt_family_training *how, clt_error *error);

#endif
