/* clatune/recording.h - a recorded space: configurations with their measurements, from a file.
 *
 * Reads T4 results, Kernel Tuner's cache files (the closing braces may be missing), what CLTune's PrintJSON, CLBlast's
 * tuners and KTT wrote, plain or gzip; the content decides which form it is (docs/formats.md). Its space is the set of
 * recorded configurations. Files are untrusted: bounded before they are parsed. */
#ifndef CLATUNE_RECORDING_H
#define CLATUNE_RECORDING_H

#include <clatune/measurement.h>
#include <clatune/problem.h>

CLT_BEGIN_C

typedef struct clt_recording clt_recording;

int clt_recording_new(clt_recording **out, const char *path, clt_error *error);
void clt_recording_free(clt_recording *recording);
const char *clt_recording_name(const clt_recording *recording); /* file name without .json and .gz */
const clt_space *clt_recording_space(const clt_recording *recording);
/* The measurement of a configuration; borrowed; NULL: not recorded. time_s is the recorded mean. */
const clt_measurement *clt_recording_find(const clt_recording *recording, clt_config config);
const clt_measurement *clt_recording_at(const clt_recording *recording, size_t index); /* in the order of rank */

CLT_END_C
#endif
