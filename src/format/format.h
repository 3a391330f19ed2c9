/* format/format.h - recordings, and common parts of answers. */
#pragma once

#include <clatune/recording.h>
#include <jansson.h>

#include "measurement/measurement.h"

/* --- the content of a recording, functions to fill one, and the writers of result files --- */

struct clt_recording {
  /* Owned; "" if the file does not state it. device_json: for clt_device_from_json. */
  char *name, *kernel, *device, *device_json;
  clt_size
      *sizes; /* sizes of the problem, owned with their names; in files of 'clatune record' and of CLBlast's tuners */
  size_t n_sizes;
  clt_space *space;
  clt_measurement *measurements; /* ascending by config, one per config: of several the best, with the runs of all */
  /* The order in the file, as indices of measurements. Cache files and T4 results are in the order of measuring,
   * recordings of whole spaces in the order of ranks. */
  size_t *order;
  size_t n, capacity, rows_capacity;
  uint32_t *positions; /* while reading, in file order: [n][parameter], of the values */
  char *note;          /* owned: what of an incomplete file was read; NULL: the file is complete */
  double optimum_s;    /* the shortest time_s of a correct configuration; NaN: none */
  /* The objective that the file states: time unless one of these is set. figure: its texts are owned, its goal may be
   * CLT_GOAL_NOT_STATED, and its values are the figures of the measurements. */
  bool by_energy;
  clt_metric figure;   /* name NULL: not set */
  clt_column *columns; /* owned, with their texts: further quantities */
  size_t n_columns;
  char *left_out; /* owned: names of what is no number, for a message; NULL: nothing */
};

/* Adds a measurement of the configuration with these positions, in any order, and takes it over, also on failure.
 * CLT_E_RANGE: too many. */
int clt_recording_add(clt_recording *recording, clt_measurement *measurement, const uint32_t *positions,
                      size_t n_parameters, clt_error *error);

/* Adds a size of the problem; copies the name, which must be an identifier. CLT_E_RANGE: more than 256. */
int clt_recording_add_size(clt_recording *recording, const char *name, int64_t value, clt_error *error);

/* Copies a line for display, shortened if necessary; "" for NULL. Free *out. */
int clt_line_copy(char **out, const char *text, clt_error *error);
/* Sets the names of the kernel and the device, as such lines; "" if they are no texts. */
int clt_recording_set_names(clt_recording *recording, const json_t *kernel, const json_t *device, clt_error *error);

/* Sets a further quantity of the measurement that will be added next: its energy, or a column of n values, as many as
 * the file has measurements. One that is no number is noted in left_out. */
int clt_recording_add_quantity(clt_recording *recording, clt_measurement *m, const char *name, const char *unit,
                               const json_t *value, size_t n, clt_error *error);

/* Fills an empty recording, except its space, from the JSON of a file in any of the supported formats. Adds the
 * parameters to the builder. root may be changed. CLT_E_FORMAT, CLT_E_RANGE. */
int clt_recording_read(clt_recording *recording, const char *path, json_t *root, clt_space_builder *builder,
                       clt_error *error);

/* Whether an entry's field is not a quantity of its own: "time", "compile_time", ... */
bool clt_entry_is_field(const char *name);
/* Kernel Tuner's name for a failure, which is coarser than the failure reason; NULL for CLT_REASON_NONE. */
const char *clt_entry_error(clt_reason reason);
/* The failure reason for a name used by Kernel Tuner, T4 or KTT; CLT_REASON_UNKNOWN for other names and NULL. */
clt_reason clt_entry_reason(const char *text);

/* Reads value i of the n values in an entry's key such as "16,1,2", as Python prints them. False: the key has another
 * number of values. A text is borrowed from token, which has the capacity. */
bool clt_entry_key_value(clt_value *out, char *token, size_t capacity, const char *key, size_t i, size_t n);

/* Makes the objective that text names, which may use the recording's sizes and figure (clt_objective_new_for). text
 * NULL: the objective that the file states; CLT_E_ARGUMENT: its goal is not stated. The recording must outlive the
 * objective. */
int clt_recording_objective(clt_objective **out, const clt_recording *recording, const char *text, clt_error *error);
double clt_recording_least_cost(const clt_recording *recording,
                                const clt_objective *objective); /* NaN: no measurement has a cost */

/* --- write.c: writes results in two formats. T4 results are the "Open Autotuning Results Schema" 1.0.0 of the
 * auto-tuning community, which Kernel Tuner writes too. Cache files are Kernel Tuner's own format: it continues an
 * interrupted tuning from one (tune_kernel's `cache`), and its simulation mode searches in one. Times are in
 * milliseconds. clt_recording_new reads both formats.
 *
 * A file is replaced after everything is written; on failure (CLT_E_IO) it stays as it was. If the path ends in ".gz",
 * the file is compressed, but Kernel Tuner does not read compressed files. --- */
/* The results to write. If instance or recording is set, its space is used, and T4 files also contain its name, sizes,
 * device and parameters with all values in their order. A recording is written completely, with all digits; information
 * that its file lacked (types, conditions, sizes, the limits of the device) is missing in the copy too. With an
 * instance, times in T4 files have nine digits and phases are rounded to 10 us. */
typedef struct clt_results {
  const clt_instance *instance;   /* at most one of these two */
  const clt_recording *recording; /* if set, the other members are ignored */
  const clt_space *space;
  const clt_measurement *measurements;
  size_t n;
  const clt_objective *objective; /* nullable; T4 files state it, and contain the values of all its metrics */
} clt_results;

/* Prints what a file that is written lacks of the recording's, as a line; "": nothing. Free *out. */
int clt_recording_loss(char **out, const clt_recording *recording, bool as_t4, clt_error *error);

int clt_t4_write(const char *path, const clt_results *results, clt_error *error);

/* Writes a cache file. The problem size is the problem file's ProblemSize if that consists of numbers, else the
 * problem's sizes in their order. CLT_E_ARGUMENT: a tuning parameter has the name of a field of the entries ("time",
 * "times", ...). */
int clt_kernel_tuner_write(const char *path, const clt_results *results, clt_error *error);

/* --- common parts of answers in JSON ---
 * New references; NULL: out of memory. */

json_t *clt_json_configuration(const clt_space *space, clt_config config);
json_t *clt_json_parameter(const clt_parameter *parameter); /* {"name", "values"} */
json_t *clt_json_sizes(const clt_instance *instance);
json_t *clt_json_options(const clt_instance *instance,
                         clt_config config); /* build options; null: an expression fails */
json_t *clt_json_launches(const clt_launch_sizes *launches, size_t n);
/* {"name", "expression", "unit", "goal", "is_default"} */
json_t *clt_json_objective(const clt_objective *objective);
/* A member of a front: "values", and the same as one line, "summary". */
json_t *clt_json_values(const clt_objective *objective, const clt_measurement *measurement);

/* The share of a time that empty launches would take, too: as many as a run of the configuration has, or one if
 * `instance` is NULL. NaN: not known. */
double clt_launch_share(const clt_device_state *state, double time_s, const clt_instance *instance, clt_config config);
/* {"launch_s", "launch_share", "clock_mhz", "clock_share", "throttled", "busy_share"} */
json_t *clt_json_state(const clt_device_state *state, double launch_share);
