/* base/json.h - values as JSON and back, and reading a JSON file so that every mistake names file, line and key. */
#ifndef CLT_BASE_JSON_H
#define CLT_BASE_JSON_H

#include <clatune/error.h>
#include <clatune/value.h>
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* --- values --- */

/* New references; NULL when out of memory. What JSON does not know becomes null: NaN and infinities. Bytes of a text
 * that are no UTF-8 become '?'. */
json_t *clt_json_real(double x);
json_t *clt_json_text(const char *text);
json_t *clt_json_value(clt_value value);

/* A number, a truth value or a string, whose text is borrowed. False for anything else. */
bool clt_json_to_value(clt_value *out, const json_t *json);

/* The text of a member; "" where that is missing or no text. */
const char *clt_json_string(const json_t *object, const char *key);

/* False, with *out useless, unless it is a finite number, or a whole number from min to max. */
bool clt_json_read_number(double *out, const json_t *json);
bool clt_json_read_size(size_t *out, const json_t *json, size_t min, size_t max);

/* --- files that people write --- */

/* Where the member of a key stands, in a file that is not JSON itself. */
typedef struct clt_key_line {
  char *key;
  int line;
} clt_key_line;

/* The file being read. */
typedef struct clt_source {
  char *path, *text;
  clt_key_line *lines; /* NULL: the text is JSON */
  size_t n_lines, lines_capacity;
} clt_source;

/* Reads the file at source->path into source->text, and parses it. *root is a new reference. */
int clt_source_read(clt_source *source, json_t **root, size_t max_bytes, clt_error *error);

/* A place in it. json is NULL where there is nothing (or null). */
typedef struct clt_node {
  const json_t *json;
  char key[256];
} clt_node;

clt_node clt_node_member(const clt_node *parent, const char *name);
clt_node clt_node_item(const clt_node *parent, size_t index);

/* Reports a mistake at a node, or at a key that was kept of it. */
int clt_node_fail(const clt_source *source, const clt_node *node, clt_error *error, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
int clt_key_fail(const clt_source *source, const char *key, int code, clt_error *error, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

/* Something failed underneath, with a message of its own: gives it the place, unless it has one. Returns code. */
int clt_key_wrap(const clt_source *source, const char *key, int code, clt_error *error, const clt_error *cause);

int clt_node_object(const clt_source *source, const clt_node *node, clt_error *error);
int clt_node_list(const clt_source *source, const clt_node *node, clt_error *error);

/* Members by name. What is not there leaves *out as it was, or is a mistake where it is required. Texts are malloc'ed.
 */
int clt_node_text(char **out, const clt_source *source, const clt_node *parent, const char *name, bool required,
                  clt_error *error);
int clt_node_flag(bool *out, const clt_source *source, const clt_node *parent, const char *name, clt_error *error);
int clt_node_integer(int64_t *out, const clt_source *source, const clt_node *parent, const char *name,
                     clt_error *error);
int clt_node_number(double *out, const clt_source *source, const clt_node *parent, const char *name, clt_error *error);

/* One of several names, without regard to case; *out is its index. */
int clt_node_choice(int *out, const clt_source *source, const clt_node *parent, const char *name,
                    const char *const *choices, size_t n, clt_error *error);

/* Looks for members that are not among n known ones: a near miss of a known one that is absent is a mistake; any other
 * is one where strict, and else ignored. */
int clt_node_known(const clt_source *source, const clt_node *node, const char *const *known, size_t n, bool strict,
                   clt_error *error);

/* The line on which a member of a JSON text stands. key is a path such as
 * "ConfigurationSpace.TuningParameters[2].Values". Returns the 1-based line of that member's name (of a list's item: of
 * its first character), the line of the deepest part of the path that is there, or 0 for "". Expects a text that
 * jansson has accepted, but is safe on any. */
int clt_json_line(const char *text, const char *key);

#endif
