/* clatune/t4.h - results in the T4 format of the auto-tuning community ("Open Autotuning Results Schema" 1.0.0), which
 * Kernel Tuner writes too. Times are milliseconds, as there. clt_recording_load reads them back. */
#ifndef CLATUNE_T4_H
#define CLATUNE_T4_H

#include <clatune/measurement.h>
#include <clatune/objective.h>
#include <clatune/problem.h>
#include <clatune/recording.h>

#ifdef __cplusplus
extern "C" {
#endif

/* One result. created_s is Unix time; 0: not known, the timestamp is then left out. */
typedef struct clt_t4_result {
  const clt_measurement *measurement;
  int64_t created_s;
  const clt_objective
      *objective; /* nullable; else all its metrics are among the measurements, and "objectives" names it */
} clt_t4_result;

/* Writes n results of a space to a file that is replaced once all is written; on failure it stays as it was. A path
 * that ends in ".gz" is compressed. CLT_E_IO. */
int clt_t4_write(const char *path, const clt_space *space, const clt_t4_result *results, size_t n, clt_error *error);

/* The same as a recording: with the problem's name, sizes, device and ConfigurationSpace beside the results, so that
 * reading it gives the parameters in their order with all their values. Times have nine digits, phases are rounded to
 * 10 us. */
int clt_t4_write_recording(const char *path, const clt_instance *instance, const clt_t4_result *results, size_t n,
                           clt_error *error);

/* Writes what was read from a file, in whatever form that was, as such a recording with all its digits. What the file
 * did not say (types, conditions, sizes, the device's limits) is missing in the copy too. */
int clt_t4_copy_recording(const char *path, const clt_recording *recording, clt_error *error);

#ifdef __cplusplus
}
#endif
#endif
