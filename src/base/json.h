/* base/json.h - values (clatune/value.h), and values as JSON and back. (base/reader.h reads files that people write.)
 */
#ifndef CLT_BASE_JSON_H
#define CLT_BASE_JSON_H

#include <clatune/value.h>
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text.h"

/* New references; NULL when out of memory. What JSON does not know becomes null: NaN and infinities. Bytes of a text
 * that are no UTF-8 become '?'. */
json_t *clt_json_real(double x);
json_t *clt_json_text(const char *text);
json_t *clt_json_value(clt_value value);

/* A number, a truth value or a string, whose text is borrowed. False for anything else. */
bool clt_json_to_value(clt_value *out, const json_t *json);

/* Adds a value as clt_value_print writes it. */
void clt_text_add_value(clt_text *text, clt_value value);

/* The text of a member; "" where that is missing or no text. */
const char *clt_json_string(const json_t *object, const char *key);
double clt_json_number(const json_t *object, const char *key); /* of a member; NaN where that is missing or no number */

/* False, with *out useless, unless it is a finite number, or a whole number from min to max. */
bool clt_json_read_number(double *out, const json_t *json);
bool clt_json_read_size(size_t *out, const json_t *json, size_t min, size_t max);

/* Same type class and same value. Numbers compare as numbers (1 == 1.0 == true, as in Python); a string equals only a
 * string. */
bool clt_value_equal(clt_value a, clt_value b);

/* Numbers by size, then texts; 0 where clt_value_equal holds. */
int clt_value_compare(clt_value a, clt_value b);

/* Sorts values by that and leaves each once; returns how many are left. */
size_t clt_values_sort(clt_value *values, size_t n);

#endif
