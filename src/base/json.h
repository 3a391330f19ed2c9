/* base/json.h - JSON: values, and files that people write. */
#pragma once

#include <clatune/value.h>
#include <jansson.h>

#include "base/text.h"

/* --- conversion between values (clatune/value.h) and JSON ---
 * For files that people write use clt_source, which reports mistakes with their line. */

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

/* --- reads JSON files that people write (problem files, plans, families): every mistake is reported with file, line
 * and key --- */

/* A file that was read. It owns its JSON and all blocks that were built from it (clt_source_keep); both are valid until
 * clt_source_release. */
typedef struct clt_source {
  char *path, *text;
  json_t *root;
  void **blocks;
  size_t n_blocks, blocks_capacity;
} clt_source;

/* Reads a file of at most max_bytes and parses it. Release the source also after a failure. CLT_E_IO, CLT_E_RANGE,
 * CLT_E_FORMAT. */
int clt_source_read(clt_source *source, const char *path, size_t max_bytes, clt_error *error);
/* The same for a text, which is copied; name is used as its path in messages. */
int clt_source_parse(clt_source *source, const char *name, const char *text, clt_error *error);
void clt_source_release(clt_source *source);

/* Makes the source the owner of a malloc'ed block, and returns the block. Returns NULL, and frees the block, if block
 * is NULL or memory runs out. */
void *clt_source_keep(clt_source *source, void *block, clt_error *error);

/* Reports a mistake at a key, with its line. Returns code. */
int clt_key_fail(const clt_source *source, const char *key, int code, clt_error *error, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

int clt_key_vfail(const clt_source *source, const char *key, int code, clt_error *error, const char *format,
                  va_list arguments) __attribute__((format(printf, 5, 0)));

/* Reports the error of a called function (cause) at a key. If cause already has a file, it is reported unchanged.
 * Returns code. */
int clt_key_wrap(const clt_source *source, const char *key, int code, clt_error *error, const clt_error *cause);

/* The line of a key ("Space.Parameters[2].Values") in a JSON text, or of the longest existing part of the key; 0: no
 * part exists. The text may be invalid JSON. */
int clt_json_line(const char *text, const char *key);

/* One pass over a file. The first mistake is kept in rc and error. After it, all functions below return what they
 * return for a missing member. So the caller can read member after member, and needs to check rc only before it uses a
 * required one. */
typedef struct clt_reading {
  clt_source *source;
  clt_error *error;
  int rc;
} clt_reading;

/* A value of the file with its key. json is NULL if the member is missing or null. */
typedef struct clt_node {
  const json_t *json;
  clt_reading *reading;
  char key[256];
} clt_node;

clt_node clt_node_root(clt_reading *reading);
clt_node clt_node_member(const clt_node *parent, const char *name);
bool clt_node_has(const clt_node *parent, const char *name); /* a member that is not null */
/* For members that are one value or a list of values: their number (0: the member is missing), and each of them. A
 * value that is not a list counts as its only item. */
size_t clt_node_count(const clt_node *node);
clt_node clt_node_item(const clt_node *parent, size_t index);
bool clt_node_ok(const clt_node *node); /* no mistake so far */

/* Report a mistake at a node: as CLT_E_FORMAT, with another code, or with the error of a called function. Return the
 * code of the first mistake of the pass. */
#define clt_node_fail(node, ...) clt_node_fail_as(node, CLT_E_FORMAT, __VA_ARGS__)
int clt_node_fail_as(const clt_node *node, int code, const char *format, ...) __attribute__((format(printf, 3, 4)));
int clt_node_wrap(const clt_node *node, int code, const clt_error *cause);
/* Reports a mistake at a member of a node. */
#define clt_member_fail(parent, name, ...)                     \
  do {                                                         \
    const clt_node clt_member = clt_node_member(parent, name); \
    clt_node_fail(&clt_member, __VA_ARGS__);                   \
  } while (0)

/* Reports "there is no <kind> "<name>"; did you mean ...?". The known names are n entries of `bytes` each, from `first`
 * on: pointers to names, or structures that begin with one. */
int clt_node_fail_name(const clt_node *node, const char *kind, const char *name, const void *first, size_t n,
                       size_t bytes);

/* Allocate n zeroed elements, and take over a malloc'ed text; the source owns both. NULL: out of memory. */
void *clt_node_new(const clt_node *node, size_t n, size_t element_bytes);
char *clt_node_keep(const clt_node *node, char *text);

/* A list of names for the functions below. */
#define CLT_NAMES(...) ((const char *const[]){__VA_ARGS__, NULL})

/* Checks that the node is an object, and its member names. A member that is not in `known` (NULL at the end) is a
 * mistake if its name resembles a known member that is missing. Other unknown members are mistakes if `strict`, else
 * they are ignored. Names that do not begin with a letter are comments. known NULL: all names are allowed. Returns
 * whether there is no mistake so far. */
bool clt_read_object(const clt_node *node, const char *const *known, bool strict);

/* The number of items of a list; 0 if the node is missing. A value that is not a list is a mistake. */
size_t clt_read_list(const clt_node *node);

/* Read members by name. A value of another type is a mistake. If the member is missing, they return `otherwise`, or
 * NULL. Texts are borrowed from the JSON. */
const char *clt_read_text(const clt_node *parent, const char *name);
const char *clt_read_required_text(const clt_node *parent, const char *name); /* missing or empty: a mistake */
bool clt_read_flag(const clt_node *parent, const char *name, bool otherwise);
int64_t clt_read_integer(const clt_node *parent, const char *name, int64_t otherwise);
int64_t clt_read_integer_within(const clt_node *parent, const char *name, int64_t otherwise, int64_t min, int64_t max);
double clt_read_number(const clt_node *parent, const char *name, double otherwise);
/* The index of the member's text in choices (NULL at the end), ignoring case. */
int clt_read_choice(const clt_node *parent, const char *name, const char *const *choices, int otherwise);

/* Blanks the byte-order mark that some editors write. */
void clt_json_blank_mark(char *text, size_t n);
/* What is wrong with a text of n bytes that json_loadb refused. Returns out. */
const char *clt_json_mistake(char out[300], const char *text, size_t n, const json_error_t *mistake);

/* Reads an integer, also if it is written as a real, such as 1e6. False: json is something else. */
bool clt_json_integer(int64_t *out, const json_t *json);
