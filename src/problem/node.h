/* problem/node.h - reading members of a JSON file so that every mistake names file, line and key. */
#ifndef CLT_PROBLEM_NODE_H
#define CLT_PROBLEM_NODE_H

#include <clatune/error.h>
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

/* Whether a text is a name: [A-Za-z_][A-Za-z0-9_]* */
bool clt_is_name(const char *text);

#endif
