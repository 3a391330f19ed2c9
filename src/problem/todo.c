#include "problem/todo.h"

#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/text.h"

#define MARK "TODO"
#define MAX_DEPTH 32

typedef struct todo {
  const clt_source *source;
  clt_node first;
  size_t n;
  char others[512]; /* "line 12, line 14" */
} todo;

static void note(todo *t, const clt_node *node) {
  if (t->n++ == 0) {
    t->first = *node;
    return;
  }
  size_t used = strlen(t->others);
  snprintf(t->others + used, sizeof t->others - used, "%s%d", used ? ", " : "",
           clt_json_line(t->source->text, node->key));
}

static void walk(todo *t, const clt_node *node, int depth) {
  const char *name;
  json_t *member;
  if (depth > MAX_DEPTH) return;
  if (json_is_string(node->json) && strncmp(json_string_value(node->json), MARK, strlen(MARK)) == 0) note(t, node);
  for (size_t i = 0; json_is_array(node->json) && i < json_array_size(node->json); i++) {
    clt_node item = clt_node_item(node, i);
    walk(t, &item, depth + 1);
  }
  json_object_foreach((json_t *)node->json, name, member) {
    if (!clt_is_name(name)) continue; /* a comment */
    clt_node below = clt_node_member(node, name);
    walk(t, &below, depth + 1);
  }
}

int clt_todo_check(const clt_source *source, const json_t *root, clt_error *error) {
  todo t = {.source = source};
  clt_node node = {.json = root};
  walk(&t, &node, 0);
  if (t.n == 0) return CLT_OK;
  return clt_node_fail(source, &t.first, error, "still to be filled in: %s%s%s", json_string_value(t.first.json),
                       t.others[0] ? "; and what stands on line " : "", t.others);
}
