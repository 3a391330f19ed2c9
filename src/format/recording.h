/* format/recording.h - what a recording says beside its measurements; a recording while a reader makes it, and what the
 * readers of untrusted files share. */
#ifndef CLT_FORMAT_RECORDING_H
#define CLT_FORMAT_RECORDING_H

#include <clatune/recording.h>
#include <jansson.h>

#include "measurement/objective.h"

struct clt_recording {
  char *name, *kernel, *device, *device_json; /* owned; device_json may be NULL */
  clt_size *sizes;                            /* owned, their names too */
  size_t n_sizes;
  clt_space *space;
  clt_measurement *measurements; /* in ascending order of config, each config once */
  size_t *order;                 /* of the file: indices of measurements */
  size_t n, capacity;
  double optimum_s;
};

const char *clt_recording_kernel(const clt_recording *recording); /* may be "" */
const char *clt_recording_device(const clt_recording *recording); /* may be "" */
/* The problem's sizes, where 'clatune record' or a tuner of CLBlast wrote it, none in other files; the device in the
 * form of clt_device_from_json, "" in other files. */
size_t clt_recording_n_sizes(const clt_recording *recording);
clt_size clt_recording_problem_size(const clt_recording *recording, size_t index);
const char *clt_recording_device_json(const clt_recording *recording);
/* Which measurement the file has at `position` (below the size): its index for clt_recording_at. Cache files and T4
 * results are written in the order of measuring, recordings of whole spaces in that of rank. */
size_t clt_recording_in_file(const clt_recording *recording, size_t position);

/* Takes over the measurement (its log), in any order; releases it also on failure. */
int clt_recording_add(clt_recording *recording, clt_measurement *measurement, clt_error *error);

/* One more size of the problem; copies the name, which must be an identifier. At most 256. */
int clt_recording_add_size(clt_recording *recording, const char *name, int64_t value, clt_error *error);

/* Fill an empty recording from the root of a file, all but its space: Kernel Tuner's cache files, T4 results, what
 * CLTune and CLBlast's tuners write, what KTT writes. The parameters go to the builder. */
typedef int (*clt_recording_reader)(clt_recording *recording, const char *path, const json_t *root,
                                    clt_space_builder *builder, clt_error *error);
int clt_kernel_tuner_read(clt_recording *recording, const char *path, const json_t *root, clt_space_builder *builder,
                          clt_error *error);
int clt_t4_read(clt_recording *recording, const char *path, const json_t *root, clt_space_builder *builder,
                clt_error *error);
int clt_cltune_read(clt_recording *recording, const char *path, const json_t *root, clt_space_builder *builder,
                    clt_error *error);
int clt_ktt_read(clt_recording *recording, const char *path, const json_t *root, clt_space_builder *builder,
                 clt_error *error);

/* --- columns.c: the tuning parameters of a file --- */

/* A value's place in the list of a column. */
typedef struct clt_value_place {
  clt_value value;
  uint64_t position;
} clt_value_place;

typedef struct clt_column {
  const char *name;       /* borrowed from the JSON, as the texts of values are */
  clt_value_place *index; /* owned, sorted by value */
  size_t n_values;
} clt_column;

/* key: what mistakes are reported under. Zero the rest; clt_columns_release in any case. */
typedef struct clt_columns {
  const char *path, *key;
  clt_column column[CLT_MAX_PARAMETERS];
  size_t n;
  uint64_t cartesian; /* their product; 0: none yet */
} clt_columns;

/* One more column with the values of a JSON list, in its order; it goes to the builder, too. CLT_E_RANGE where the
 * space has more than 2^63 configurations. */
int clt_columns_add(clt_columns *columns, const char *name, const json_t *values, clt_space_builder *builder,
                    clt_error *error);

/* Where a value stands in a column. Numbers compare as numbers. */
bool clt_column_find(const clt_column *column, clt_value value, uint64_t *position);
void clt_columns_release(clt_columns *columns);

/* A list of results, each with its configuration as an object {name: value}. */
typedef struct clt_result_list {
  const json_t *results;
  const char *configuration;                                          /* the member with it; NULL: see below */
  json_t **configurations;                                            /* by result, borrowed */
  void (*read)(void *user, clt_measurement *m, const json_t *result); /* all but the config */
  void *user;
} clt_result_list;

/* Reads the results into the recording. Where there are no columns yet, they are those of the first configuration, with
 * the values that occur in any, ascending. All configurations must have the same parameters; what one lacks, and values
 * that are not listed, are mistakes. */
int clt_columns_read_results(clt_columns *columns, clt_recording *recording, const clt_result_list *list,
                             clt_space_builder *builder, clt_error *error);

/* --- columns.c: texts, values, times and reasons --- */

#define CLT_SECONDS_PER_MS 1e-3
#define CLT_FAILED_TIME_MS 1e20 /* what old versions of Kernel Tuner wrote for a failure */

bool clt_entry_name(const char *name); /* can be a parameter's: an identifier of reasonable length */

/* A number, a truth value, or a word of [A-Za-z0-9_.+-]: nothing that could be more in a build option. Texts are
 * borrowed. */
bool clt_entry_value(clt_value *out, const json_t *json);

/* A finite number of at least 0, or `otherwise`. */
double clt_entry_number(const json_t *json, double otherwise);

/* Seconds in a unit of time by any of the names that tuners give it, in any case: "s", "seconds", "ms", "Milliseconds",
 * "us", ... `otherwise` for other texts, and where json is none. */
double clt_entry_seconds_per(const json_t *json, double otherwise);

/* Fills runs_s from a list of times; what is no time is left out. */
void clt_entry_runs(clt_measurement *m, const json_t *times, double seconds_per_unit);

/* The reason behind the words that Kernel Tuner and T4 use; CLT_REASON_UNKNOWN for others and NULL. */
clt_reason clt_entry_reason(const char *text);

/* The word that Kernel Tuner has for a failure, coarser than the reason; NULL for CLT_REASON_NONE. */
const char *clt_entry_error(clt_reason reason);

/* A line for people in *out, malloc'ed: capped, and without what a terminal would obey; "" where json is no text. */
int clt_entry_line(char **out, const json_t *json, clt_error *error);

/* How a recording's configurations are those of another space: parameters by name, values by value. */
typedef struct clt_recording_match {
  const clt_space *from, *to;
  int column[CLT_MAX_PARAMETERS]; /* of a parameter of `to`: its number in `from`; -1: none */
  const char *extra, *missing;    /* the first parameter with several values that `to`, or `from`, lacks; NULL: none */
} clt_recording_match;

clt_recording_match clt_recording_match_space(const clt_recording *recording, const clt_space *to);

/* CLT_CONFIG_NONE: it has a value that `to` lacks. It need not be valid in `to`. */
clt_config clt_recording_translate(const clt_recording_match *match, clt_config config);

/* The objective that text names (clt_objective_new_for: with the recording's sizes), NULL: least time. The recording
 * must outlive it. */
int clt_recording_objective(clt_objective **out, const clt_recording *recording, const char *text, clt_error *error);
double clt_recording_least_cost(const clt_recording *recording, const clt_objective *objective); /* NaN: none has one */

size_t clt_recording_size(const clt_recording *recording);
double clt_recording_optimum_s(const clt_recording *recording); /* least correct time_s; NaN: none */

#endif
