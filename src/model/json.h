/* model/json.h - what the readers and writers of model files share. */
#ifndef CLT_MODEL_JSON_H
#define CLT_MODEL_JSON_H

#include <jansson.h>

#include "base/json.h"
#include "dataset/encoding.h"

/* CLT_E_FORMAT, "the model file's <what> cannot be those of this space". */
int clt_model_damaged(clt_error *error, const char *what);

/* An array of numbers, a new reference, NULL when out of memory; and back: exactly n, finite as floats. */
json_t *clt_json_floats(const float *values, size_t n);
bool clt_json_read_floats(float *out, size_t n, const json_t *array);

/* The resources and sizes among the inputs, with their ranges. A new reference; NULL when out of memory. */
json_t *clt_resources_save(const clt_encoding *encoding);

/* Adds them to an encoding without resources. They must be the instance's by name; the ranges are the file's. */
int clt_resources_load(clt_encoding *encoding, const clt_instance *instance, const json_t *array, clt_error *error);

/* The sizes of an instance by name (null without an instance), or a list of those of several; a new reference, NULL
 * when out of memory. And whether a file's are those of another instance: CLT_E_FORMAT. Files without sizes, or with
 * those of several, fit any instance. */
json_t *clt_sizes_save(const clt_instance *const *instances, size_t n);
int clt_sizes_check(const json_t *sizes, const clt_instance *instance, clt_error *error);

/* A forest: each tree as [input, number, input, number, ...] in pre-order; a new reference, NULL when out of memory. */
struct clt_forest;
json_t *clt_forest_save(const struct clt_forest *forest);
int clt_forest_load(struct clt_forest **out, const clt_encoding *encoding, const json_t *array, clt_error *error);

#endif
