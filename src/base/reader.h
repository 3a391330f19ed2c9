/* base/reader.h - reading a JSON file so that every mistake names file, line and key. Problem files and plans are read
 * by it. */
#ifndef CLT_BASE_READER_H
#define CLT_BASE_READER_H

#include <clatune/error.h>
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text.h"

/* Where the member of a key stands, in a file that is not JSON itself. */
typedef struct clt_key_line {
  const char *key;
  int line;
} clt_key_line;

/* A file. It owns everything that is made of it: texts of its JSON are borrowed, what is built from them is kept in
 * blocks, and all of it lasts until clt_source_release. */
typedef struct clt_source {
  char *path, *text;
  json_t *root;
  clt_key_line *lines; /* NULL: the text is JSON */
  size_t n_lines, lines_capacity;
  void **blocks;
  size_t n_blocks, blocks_capacity;
} clt_source;

/* Reads a file of at most max_bytes and parses it. To be released also after a failure. */
int clt_source_read(clt_source *source, const char *path, size_t max_bytes, clt_error *error);
/* The same of a text, which is copied; name stands for its path. */
int clt_source_parse(clt_source *source, const char *name, const char *text, clt_error *error);
void clt_source_release(clt_source *source);

/* Keeps a malloc'ed block until the source is released and returns it; NULL: out of memory. */
void *clt_source_keep(clt_source *source, void *block, clt_error *error);

/* Reports a mistake at a key, with the line that it stands on. */
int clt_key_fail(const clt_source *source, const char *key, int code, clt_error *error, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

/* Something failed underneath, with a message of its own: gives it the place, unless it has one. Returns code. */
int clt_key_wrap(const clt_source *source, const char *key, int code, clt_error *error, const clt_error *cause);

/* The line of a key ("Space.Parameters[2].Values") in a JSON text, or of the longest part of it that is there; 0: of
 * none. The text need not be right. */
int clt_json_line(const char *text, const char *key);

/* One pass over a file. After its first mistake (rc is no longer 0) nothing more is read: all functions below return
 * what they would for a member that is not there. So a reader goes on from member to member, and looks at rc before it
 * uses what must be there. */
typedef struct clt_reading {
  clt_source *source;
  clt_error *error;
  int rc;
} clt_reading;

/* A place in it. json is NULL where there is nothing (or null). */
typedef struct clt_node {
  const json_t *json;
  clt_reading *reading;
  char key[256];
} clt_node;

clt_node clt_node_root(clt_reading *reading);
clt_node clt_node_member(const clt_node *parent, const char *name);
/* One thing or a list of them: how many (0: nothing is there), and each; what is no list is its own item. */
size_t clt_node_count(const clt_node *node);
clt_node clt_node_item(const clt_node *parent, size_t index);
bool clt_node_ok(const clt_node *node); /* no mistake so far */

/* Notes a mistake at a node: CLT_E_FORMAT, another code, or what failed underneath. Return what is noted. */
#define clt_node_fail(node, ...) clt_node_fail_as(node, CLT_E_FORMAT, __VA_ARGS__)
int clt_node_fail_as(const clt_node *node, int code, const char *format, ...) __attribute__((format(printf, 3, 4)));
int clt_node_wrap(const clt_node *node, int code, const clt_error *cause);

/* "there is no <kind> "<name>"; did you mean ...?": of n names, or structures that begin with one, of so many bytes. */
int clt_node_fail_name(const clt_node *node, const char *kind, const char *name, const void *first, size_t n,
                       size_t bytes);

/* n zeroed elements, and a malloc'ed text (NULL: out of memory), that the source keeps. NULL when out of memory. */
void *clt_node_new(const clt_node *node, size_t n, size_t element_bytes);
char *clt_node_keep(const clt_node *node, char *text);

/* A list of names for the functions below. */
#define CLT_NAMES(...) ((const char *const[]){__VA_ARGS__, NULL})

/* Whether there is an object here and no mistake yet. A member that is none of `known` is a mistake where it is a near
 * miss of a known one that is absent; any other is one where `strict`, and else ignored. known NULL: all may be there.
 */
bool clt_read_object(const clt_node *node, const char *const *known, bool strict);

/* The number of items of a list; 0 where there is nothing. What is there and no list is a mistake. */
size_t clt_read_list(const clt_node *node);

/* Members by name. Texts are borrowed from the JSON; NULL where there is none. */
const char *clt_read_text(const clt_node *parent, const char *name);
const char *clt_read_required_text(const clt_node *parent, const char *name); /* not empty */
bool clt_read_flag(const clt_node *parent, const char *name, bool otherwise);
int64_t clt_read_integer(const clt_node *parent, const char *name, int64_t otherwise);
int64_t clt_read_integer_within(const clt_node *parent, const char *name, int64_t otherwise, int64_t min, int64_t max);
double clt_read_number(const clt_node *parent, const char *name, double otherwise);
/* The index of one of several names, without regard to case. */
int clt_read_choice(const clt_node *parent, const char *name, const char *const *choices, int otherwise);

/* A whole number, also one written as 1e6. */
bool clt_json_whole(int64_t *out, const json_t *json);

#endif
