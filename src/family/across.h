/* family/across.h - models for a device from what was measured on others (docs/families.md): rows are inputs x devices,
 * and figures of the devices (session/probe.h) stand behind the features of the inputs. */
#ifndef CLT_FAMILY_ACROSS_H
#define CLT_FAMILY_ACROSS_H

#include "family/family.h"

#define CLT_MOST_CHOSEN 3 /* figures of devices that a model reads */

/* Devices with measured inputs of a family, and the figures that are known of all of them. */
typedef struct clt_family_devices {
  clt_device_info *all; /* n; owned, as all below */
  clt_family_place *places;
  size_t n, n_figures;
  char (*names)[32];
  double *figures; /* [device][figure]: logarithms */
} clt_family_devices;

/* Those that the stores describe, each once, and behind them `target` (nullable) with its own store. Release also after
 * a failure. */
int clt_family_devices_find(clt_family_devices *out, const clt_family *family, clt_store *const *stores,
                            size_t n_stores, const clt_family_place *target, clt_error *error);
/* Reads the figures. CLT_E_NOT_FOUND where a device was not probed, or there are less than two. */
int clt_family_devices_read(clt_family_devices *devices, clt_error *error);
void clt_family_devices_release(clt_family_devices *devices);

/* What a device's model is made of. */
typedef struct clt_family_across {
  const clt_device_info *device; /* borrowed */
  clt_family_table table;        /* of all other devices; to judge by: the device's own, if any */
  clt_family wide;               /* the table's family, with the chosen figures as features */
  size_t chosen[CLT_MOST_CHOSEN], n_chosen;
  size_t nearest;                 /* of the other devices, in the chosen figures (in all where none was) */
  double values[CLT_MOST_CHOSEN]; /* the device's, within the range of the others */
  double selection_s;             /* how long choosing took */
} clt_family_across;

/* Reads the table, and chooses figures by cross-validation over the other devices: for each that is left out, the
 * subset of at most three which lets the others say best what it does; of all these the most frequent ones. Release
 * also after a failure. */
int clt_family_across_load(clt_family_across *out, const clt_family *family, const clt_family_devices *devices,
                           size_t target, size_t most, double uses, clt_error *error);
void clt_family_across_release(clt_family_across *across);

/* As clt_family_train: its features are those of inputs alone, as the device's figures are part of the model. */
int clt_family_across_train(clt_family_model **out, const clt_family_across *across, const clt_family_training *how,
                            clt_error *error);

/* As clt_family_judge, of a model of all other devices, or of the nearest one alone. */
int clt_family_across_judge(clt_family_figures out[CLT_N_JUDGED], size_t *n, const clt_family_across *across,
                            bool nearest, const clt_family_devices *devices, const clt_family_training *how,
                            clt_error *error);

#endif
