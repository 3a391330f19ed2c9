/* base/json.h - conversion between values (clatune/value.h) and JSON. For files that people write, use base/reader.h,
 * which reports mistakes with their line. */
#ifndef CLT_BASE_JSON_H
#define CLT_BASE_JSON_H

#include <clatune/value.h>
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/text.h"

/* New references; NULL: out of memory. NaN and infinities, which JSON lacks, become null. If a text is not valid UTF-8,
 * its non-ASCII bytes become '?'. A text NULL becomes null. */
json_t *clt_json_real(double x);
json_t *clt_json_text(const char *text);
json_t *clt_json_value(clt_value value);

/* Append an item, or set a member, and take over the value. NULL stands for out of memory: if the value is NULL, or
 * there is no memory left, *list or *object is released and becomes NULL; if it is NULL already, the value is released.
 */
void clt_json_append(json_t **list, json_t *item);
void clt_json_set(json_t **object, const char *key, json_t *value);
json_t *clt_json_reals(const double *values, size_t n); /* a list of clt_json_real */

/* Reads a number, a boolean or a string, whose text is borrowed. False: json is something else, or NULL. */
bool clt_json_to_value(clt_value *out, const json_t *json);

/* Adds a value as clt_value_print writes it. */
void clt_text_add_value(clt_text *text, clt_value value);

/* The text of a member; "" if it is missing or not a string. */
const char *clt_json_string(const json_t *object, const char *key);
int64_t clt_json_count(const json_t *object, const char *key); /* of an integer member; 0 if it is none */
double clt_json_number(const json_t *object, const char *key); /* of a member; NaN if it is missing or not a number */

/* Read a finite number, and a whole number from min to max. False: json is something else, and *out is undefined. */
bool clt_json_read_number(double *out, const json_t *json);
bool clt_json_read_size(size_t *out, const json_t *json, size_t min, size_t max);

/* Whether two values are equal. Numbers and booleans compare as numbers (1 == 1.0 == true, as in Python); a string
 * equals only a string. */
bool clt_value_equal(clt_value a, clt_value b);

/* A total order for sorting: numbers before strings. Returns 0 if clt_value_equal holds, else a negative or positive
 * number. */
int clt_value_compare(clt_value a, clt_value b);

/* Sorts values in this order and removes duplicates. Returns the number of values that remain. */
size_t clt_values_sort(clt_value *values, size_t n);

#endif
