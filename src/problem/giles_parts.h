/* problem/giles_parts.h - what the two halves of the reader of Giles' file share: scanning, and what becomes of it. */
#ifndef CLT_PROBLEM_GILES_PARTS_H
#define CLT_PROBLEM_GILES_PARTS_H

#include "base/fail.h"
#include "base/json.h"

#define GILES_MAX_NAMES 64
#define GILES_MAX_DEPTH 15

/* The value is without its outer braces. */
typedef struct giles_entry {
  char *name, *value;
  int line;
} giles_entry;

typedef struct giles {
  clt_source *source;
  giles_entry *entries;
  size_t n, capacity;
  char *declared[GILES_MAX_NAMES]; /* in PARAMS, in order */
  size_t n_declared;
} giles;

giles_entry *giles_find(const giles *g, const char *name); /* NULL: none */

/* Says where a member of the JSON comes from. */
int giles_note_line(giles *g, const char *key, const giles_entry *entry, clt_error *error);

/* *root is a new reference, also on failure (then it may be NULL). */
int giles_to_json(giles *g, json_t *groups, json_t **root, clt_error *error);

#define giles_fail(g, entry, error, ...) \
  clt_fail_at(error, CLT_E_FORMAT, (g)->source->path, (entry)->line, (entry)->name, __VA_ARGS__)

#endif
