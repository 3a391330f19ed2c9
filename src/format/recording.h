/* format/recording.h - a recording while a reader makes it. */
#ifndef CLT_FORMAT_RECORDING_H
#define CLT_FORMAT_RECORDING_H

#include <clatune/recording.h>
#include <jansson.h>

struct clt_recording {
  char *name, *kernel, *device, *device_json; /* owned; device_json may be NULL */
  clt_size *sizes;                            /* owned, their names too */
  size_t n_sizes;
  clt_space *space;
  clt_measurement *measurements; /* in ascending order of config, each config once */
  size_t *order; /* of the file: indices of measurements */
  size_t n, capacity;
  double optimum_s;
};

/* Takes over the measurement (its log), in any order. */
int clt_recording_add(clt_recording *recording, clt_measurement *measurement, clt_error *error);

/* One more size of the problem; copies the name, which must be an identifier. At most 256. */
int clt_recording_add_size(clt_recording *recording, const char *name, int64_t value, clt_error *error);

/* Sorts, keeps the last of several measurements of a configuration, finds the optimum, makes the space. */
int clt_recording_finish(clt_recording *recording, const clt_space_builder *builder, clt_error *error);

/* Fill an empty recording from the root of a file: Kernel Tuner's cache files, T4 results, what CLTune and CLBlast's
 * tuners write, what KTT writes. */
int clt_kernel_tuner_read(clt_recording *recording, const char *path, const json_t *root, clt_error *error);
int clt_t4_read(clt_recording *recording, const char *path, const json_t *root, clt_error *error);
int clt_cltune_read(clt_recording *recording, const char *path, const json_t *root, clt_error *error);
int clt_ktt_read(clt_recording *recording, const char *path, const json_t *root, clt_error *error);

#endif
