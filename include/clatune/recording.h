/* clatune/recording.h - a recording: configurations with their measurements, read from a file.
 *
 * Reads T4 results, cache files of Kernel Tuner (also incomplete ones) and results of CLTune, CLBlast's tuners and KTT,
 * plain or gzip. The format is recognised by the content (docs/reference/file-formats.md). Files are not trusted: their
 * size is checked before they are parsed. */
#ifndef CLATUNE_RECORDING_H
#define CLATUNE_RECORDING_H

#include <clatune/measurement.h>
#include <clatune/problem.h>

CLT_BEGIN_C

typedef struct clt_recording clt_recording;

/* Reads a recording. CLT_E_IO: the file cannot be read. CLT_E_FORMAT: it is in no known format, or invalid.
 * CLT_E_RANGE: it is too large. Free *out with clt_recording_free. */
int clt_recording_new(clt_recording **out, const char *path, clt_error *error);
void clt_recording_free(clt_recording *recording);
const char *clt_recording_name(const clt_recording *recording); /* the file's name without .json and .gz */
/* The space of a recording is the set of its configurations. Borrowed. */
const clt_space *clt_recording_space(const clt_recording *recording);

/* The measurement of a configuration, borrowed; NULL: it was not recorded. */
const clt_measurement *clt_recording_find(const clt_recording *recording, clt_config config);
const clt_measurement *clt_recording_at(const clt_recording *recording, size_t index); /* by rank, 0 .. valid - 1 */

CLT_END_C
#endif
