/* Compiler options with expressions in braces, and include paths. */
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/memory.h"
#include "problem/parts.h"

static size_t count_braces(const char *text) {
  size_t n = 0;
  for (; *text; text++) n += *text == '{';
  return n;
}

int clt_load_holes(clt_problem *problem, clt_compiler_option *option, const clt_node *node, clt_error *error) {
  option->holes = clt_new_array(count_braces(option->text), sizeof *option->holes);
  if (option->holes == NULL) return clt_fail_memory(error);
  for (const char *at = strchr(option->text, '{'); at; at = strchr(at, '{')) {
    if (at[1] == '{') {
      at += 2;
      continue;
    }
    const char *end = strchr(at, '}');
    if (end == NULL) return clt_node_fail(&problem->source, node, error, "lacks a '}'; write '{{' for a brace itself");
    char *text = strndup(at + 1, (size_t)(end - at - 1));
    if (text == NULL) return clt_fail_memory(error);
    int rc = clt_add_expression_text(problem, &option->holes[option->n_holes], text, node->key, error);
    free(text);
    if (rc) return rc;
    option->n_holes++;
    at = end;
  }
  return CLT_OK;
}

static int load_option(clt_problem *problem, clt_compiler_option *option, const clt_node *node, clt_error *error) {
  static const char *const known[] = {"Option", "When"};
  const clt_source *source = &problem->source;
  clt_node text = *node;
  int rc = CLT_OK;
  if (json_is_object(node->json)) {
    clt_node when = clt_node_member(node, "When");
    text = clt_node_member(node, "Option");
    rc = clt_node_known(source, node, known, 2, true, error);
    if (rc == CLT_OK) rc = clt_add_expression(problem, &option->when, &when, error);
  }
  if (rc) return rc;
  if (!json_is_string(text.json))
    return clt_node_fail(source, node, error, "needs an option, or {\"Option\": ..., \"When\": ...}");
  option->text = strdup(json_string_value(text.json));
  if (option->text == NULL) return clt_fail_memory(error);
  return clt_load_holes(problem, option, &text, error);
}

int clt_load_options(clt_problem *problem, clt_compiler_option **out, size_t *n, const clt_node *list,
                     clt_error *error) {
  if (list->json == NULL) return CLT_OK;
  int rc = clt_node_list(&problem->source, list, error);
  *out = clt_new_array(json_array_size(list->json), sizeof **out);
  if (*out == NULL) return clt_fail_memory(error);
  for (size_t i = 0; rc == CLT_OK && i < json_array_size(list->json); i++) {
    clt_node node = clt_node_item(list, i);
    (*out)[i].when = CLT_NO_EXPRESSION;
    *n = i + 1;
    rc = load_option(problem, &(*out)[i], &node, error);
  }
  return rc;
}

int clt_load_paths(clt_problem *problem, const clt_node *kernel, clt_error *error) {
  clt_node list = clt_node_member(kernel, "IncludePaths");
  if (list.json == NULL) return CLT_OK;
  int rc = clt_node_list(&problem->source, &list, error);
  problem->include_paths = clt_new_array(json_array_size(list.json), sizeof *problem->include_paths);
  if (problem->include_paths == NULL) return clt_fail_memory(error);
  for (size_t i = 0; rc == CLT_OK && i < json_array_size(list.json); i++) {
    clt_node node = clt_node_item(&list, i);
    const char *path = json_string_value(node.json);
    if (path == NULL) return clt_node_fail(&problem->source, &node, error, "needs the path of a folder");
    char *absolute = clt_problem_file(problem, path);
    if (absolute == NULL) return clt_fail_memory(error);
    problem->include_paths[problem->n_include_paths++] = absolute;
  }
  return rc;
}
