/* format/write.h - writing results: T4 results ("Open Autotuning Results Schema" 1.0.0) of the auto-tuning community,
 * which Kernel Tuner writes too, and Kernel Tuner's own cache files, with which it goes on (tune_kernel's `cache`) and
 * in which its simulation mode searches. Times are milliseconds, as there. clt_recording_load reads both back.
 *
 * A file is replaced once all is written; on failure it stays as it was: CLT_E_IO. A path that ends in ".gz" is
 * compressed, which Kernel Tuner itself does not read. */
#ifndef CLT_FORMAT_WRITE_H
#define CLT_FORMAT_WRITE_H

#include <clatune/recording.h>

#include "measurement/objective.h"

/* One result. created_s is Unix time; 0: not known, the timestamp is then left out. */
typedef struct clt_t4_result {
  const clt_measurement *measurement;
  int64_t created_s;
  const clt_objective
      *objective; /* nullable; else all its metrics are among the measurements, and "objectives" names it */
} clt_t4_result;

/* Writes n results of a space, alone. */
int clt_t4_write(const char *path, const clt_space *space, const clt_t4_result *results, size_t n, clt_error *error);

/* The same as a recording: with the problem's name, sizes, device and ConfigurationSpace beside the results, so that
 * reading it gives the parameters in their order with all their values. Times have nine digits, phases are rounded to
 * 10 us. */
int clt_t4_write_recording(const char *path, const clt_instance *instance, const clt_t4_result *results, size_t n,
                           clt_error *error);

/* Writes what was read from a file, in whatever form that was, as such a recording with all its digits. What the file
 * did not say (types, conditions, sizes, the device's limits) is missing in the copy too. */
int clt_t4_copy_recording(const char *path, const clt_recording *recording, clt_error *error);

/* Writes n results of an instance as a cache file. The names of kernel and device are OpenCL's, the problem size is the
 * file's ProblemSize where that is made of numbers, else the problem's sizes in their order. CLT_E_ARGUMENT where a
 * tuning parameter has the name of a field of the entries ("time", "times", ...). */
int clt_kernel_tuner_write(const char *path, const clt_instance *instance, const clt_t4_result *results, size_t n,
                           clt_error *error);

/* The same of what was read from a file, in whatever form that was. */
int clt_kernel_tuner_copy_recording(const char *path, const clt_recording *recording, clt_error *error);

#endif
