/* format/recording.h - what a recording says beside its measurements; a recording while a reader makes it. */
#ifndef CLT_FORMAT_RECORDING_H
#define CLT_FORMAT_RECORDING_H

#include <clatune/recording.h>
#include <jansson.h>

#include "measurement/objective.h"

struct clt_recording {
  /* Owned; "" where the file does not say it. device_json: in the form of clt_device_from_json. */
  char *name, *kernel, *device, *device_json;
  clt_size *sizes; /* of the problem, owned, their names too: in files of 'clatune record' and of CLBlast's tuners */
  size_t n_sizes;
  clt_space *space;
  clt_measurement *measurements; /* in ascending order of config, each config once */
  /* Of the file: indices of measurements. Cache files and T4 results are written in the order of measuring, recordings
   * of whole spaces in that of rank. */
  size_t *order;
  size_t n, capacity;
  double optimum_s; /* the least correct time_s; NaN: none */
  /* What the file says that it was tuned for: time unless one of these is set. figure: owned texts and a goal that may
   * not be stated; its values are the measurements' figures. */
  bool by_energy;
  clt_metric figure; /* name NULL: none */
};

/* Takes over the measurement (its log), in any order; releases it also on failure. */
int clt_recording_add(clt_recording *recording, clt_measurement *measurement, clt_error *error);

/* One more size of the problem; copies the name, which must be an identifier. At most 256. */
int clt_recording_add_size(clt_recording *recording, const char *name, int64_t value, clt_error *error);

/* Fills an empty recording from the root of a file, all but its space: Kernel Tuner's cache files, T4 results, what
 * CLTune and CLBlast's tuners write, what KTT writes. The parameters go to the builder. root may be changed. */
int clt_recording_read(clt_recording *recording, const char *path, json_t *root, clt_space_builder *builder,
                       clt_error *error);

/* The word that Kernel Tuner has for a failure, coarser than the reason; NULL for CLT_REASON_NONE. */
const char *clt_entry_error(clt_reason reason);
/* The reason behind the words that Kernel Tuner, T4 and KTT use; CLT_REASON_UNKNOWN for others and NULL. */
clt_reason clt_entry_reason(const char *text);

/* The objective that text names (clt_objective_new_for: with the recording's sizes and figure), NULL: the file's own.
 * CLT_E_ARGUMENT where that states no goal. The recording must outlive it. */
int clt_recording_objective(clt_objective **out, const clt_recording *recording, const char *text, clt_error *error);
double clt_recording_least_cost(const clt_recording *recording, const clt_objective *objective); /* NaN: none has one */

/* --- write.c: writing results: T4 results ("Open Autotuning Results Schema" 1.0.0) of the auto-tuning community,
 * which Kernel Tuner writes too, and Kernel Tuner's own cache files, with which it goes on (tune_kernel's `cache`) and
 * in which its simulation mode searches. Times are milliseconds, as there. clt_recording_new reads both back.
 *
 * A file is replaced once all is written; on failure it stays as it was: CLT_E_IO. A path that ends in ".gz" is
 * compressed, which Kernel Tuner itself does not read. --- */
/* What is written. Where instance or recording is set, the space is theirs, and the file has their name, sizes, device
 * and parameters too, so that reading it gives these in their order with all their values. Of a recording all its
 * measurements are written, with all their digits; what its file did not say (types, conditions, sizes, the device's
 * limits) is missing in the copy too. Of an instance times have nine digits in T4, and phases are rounded to 10 us. */
typedef struct clt_results {
  const clt_instance *instance;   /* at most one of these two */
  const clt_recording *recording; /* where it is set, nothing else has to be */
  const clt_space *space;
  const clt_measurement *measurements;
  size_t n;
  const clt_objective *objective; /* nullable; else all its metrics are among T4's measurements, which names it */
} clt_results;

int clt_t4_write(const char *path, const clt_results *results, clt_error *error);

/* A cache file. The names of kernel and device are OpenCL's, the problem size is the file's ProblemSize where that is
 * made of numbers, else the problem's sizes in their order. CLT_E_ARGUMENT where a tuning parameter has the name of a
 * field of the entries ("time", "times", ...). */
int clt_kernel_tuner_write(const char *path, const clt_results *results, clt_error *error);

#endif
