#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/memory.h"
#include "problem/parts.h"

int clt_add_expression_text(clt_problem *problem, clt_expression_id *out, const char *text, const char *key,
                            clt_error *error) {
  if (clt_grow(&problem->expressions, &problem->expressions_capacity, problem->n_expressions + 1,
               sizeof *problem->expressions))
    return clt_fail_memory(error);
  clt_expression expression = {.text = clt_expand_problem_size(problem, text), .key = strdup(key)};
  if (expression.text == NULL || expression.key == NULL) {
    free(expression.text);
    free(expression.key);
    return clt_fail_memory(error);
  }
  problem->expressions[problem->n_expressions] = expression;
  *out = problem->n_expressions++;
  return CLT_OK;
}

int clt_add_expression(clt_problem *problem, clt_expression_id *out, const clt_node *node, clt_error *error) {
  char text[64];
  *out = CLT_NO_EXPRESSION;
  if (node->json == NULL) return CLT_OK;
  clt_value value = {.type = CLT_INT, .integer = json_integer_value(node->json)};
  if (json_is_string(node->json))
    return clt_add_expression_text(problem, out, json_string_value(node->json), node->key, error);
  if (json_is_real(node->json)) value = (clt_value){.type = CLT_REAL, .real = json_real_value(node->json)};
  if (json_is_boolean(node->json)) value.integer = json_is_true(node->json);
  if (!json_is_number(node->json) && !json_is_boolean(node->json))
    return clt_node_fail(&problem->source, node, error, "needs a number or an expression in quotes");
  clt_value_print(value, text, sizeof text);
  return clt_add_expression_text(problem, out, text, node->key, error);
}

static int extent_of_object(clt_problem *problem, clt_extent *out, const clt_node *node, clt_error *error) {
  static const char *const names[] = {"X", "Y", "Z"};
  int rc = clt_node_known(&problem->source, node, names, 3, true, error);
  for (size_t d = 0; rc == CLT_OK && d < 3; d++) {
    clt_node member = clt_node_member(node, names[d]);
    if (member.json == NULL) continue;
    if (d > out->n) return clt_node_fail(&problem->source, node, error, "needs \"%s\" as well", names[out->n]);
    rc = clt_add_expression(problem, &out->id[out->n++], &member, error);
  }
  if (rc == CLT_OK && out->n == 0) return clt_node_fail(&problem->source, node, error, "needs \"X\"");
  return rc;
}

static int extent_of_list(clt_problem *problem, clt_extent *out, const clt_node *node, clt_error *error) {
  size_t n = json_array_size(node->json);
  int rc = CLT_OK;
  if (n < 1 || n > 3) return clt_node_fail(&problem->source, node, error, "needs one to three sizes, x first");
  for (size_t d = 0; rc == CLT_OK && d < n; d++) {
    clt_node item = clt_node_item(node, d);
    if (item.json == NULL) return clt_node_fail(&problem->source, &item, error, "needs a size");
    rc = clt_add_expression(problem, &out->id[out->n++], &item, error);
  }
  return rc;
}

int clt_add_extent(clt_problem *problem, clt_extent *out, const clt_node *node, clt_error *error) {
  clt_extent extent = {0, {CLT_NO_EXPRESSION, CLT_NO_EXPRESSION, CLT_NO_EXPRESSION}};
  int rc = CLT_OK;
  if (json_is_object(node->json)) {
    rc = extent_of_object(problem, &extent, node, error);
  } else if (json_is_array(node->json)) {
    rc = extent_of_list(problem, &extent, node, error);
  } else if (node->json) {
    rc = clt_add_expression(problem, &extent.id[extent.n++], node, error);
  }
  if (rc == CLT_OK) *out = extent;
  return rc;
}

static bool in_name(char c) { return isalnum((unsigned char)c) || c == '_' || c == '.'; }

/* Copies text to out up to the next name outside of a string literal; returns where that begins, or the end. */
static const char *copy_to_name(FILE *out, const char *text) {
  while (*text) {
    if (isalpha((unsigned char)*text) || *text == '_') return text;
    char quote = *text;
    fputc(*text++, out);
    if (isdigit((unsigned char)quote)) /* 0x1f, 1e3 */
      while (in_name(*text)) fputc(*text++, out);
    if (quote != '\'' && quote != '"') continue;
    while (*text && *text != quote) fputc(*text++, out);
  }
  return text;
}

static const char *name_end(const char *name) {
  while (in_name(*name)) name++;
  return name;
}

static const char *skip_space(const char *text) { return text + strspn(text, " \t"); }

/* Behind "[digits]", with the number; NULL where that does not stand there. */
static const char *index_end(const char *text, size_t *index) {
  text = skip_space(text);
  if (*text != '[') return NULL;
  char *end;
  text = skip_space(text + 1);
  if (!isdigit((unsigned char)*text)) return NULL;
  *index = strtoul(text, &end, 10);
  text = skip_space(end);
  return *text == ']' ? text + 1 : NULL;
}

char *clt_expand_problem_size(const clt_problem *problem, const char *text) {
  char *expanded = NULL;
  size_t bytes = 0, index;
  FILE *out = open_memstream(&expanded, &bytes);
  if (out == NULL) return NULL;
  for (text = copy_to_name(out, text); *text; text = copy_to_name(out, text)) {
    const char *end = name_end(text), *behind = NULL;
    if (strncmp(text, "ProblemSize", 11) == 0 && end == text + 11) behind = index_end(end, &index);
    if (behind && index < problem->problem_size.n) {
      fprintf(out, "(%s)", problem->expressions[problem->problem_size.id[index]].text);
      text = behind;
    } else {
      fwrite(text, 1, (size_t)(end - text), out);
      text = end;
    }
  }
  return fclose(out) == 0 ? expanded : (free(expanded), NULL);
}

/* The parameter in "(name)", and what stands behind that. */
static const char *single_parameter(const clt_problem *problem, const char *text, size_t *parameter) {
  text = skip_space(text);
  if (*text != '(') return NULL;
  const char *name = skip_space(text + 1), *end = name_end(name), *close = skip_space(end);
  if (*close != ')') return NULL;
  for (size_t i = 0; i < problem->n_parameters; i++) {
    const char *known = problem->parameters[i].name;
    if (strlen(known) == (size_t)(end - name) && strncmp(known, name, (size_t)(end - name)) == 0)
      return *parameter = i, close + 1;
  }
  return NULL;
}

static clt_value limit(const clt_value *values, size_t n, bool largest) {
  clt_value best = values[0];
  for (size_t i = 1; i < n; i++)
    if (largest ? clt_value_number(values[i]) > clt_value_number(best)
                : clt_value_number(values[i]) < clt_value_number(best))
      best = values[i];
  return best;
}

char *clt_expand_value_limits(const clt_problem *problem, const char *text, clt_value *const *values, const size_t *n) {
  char *expanded = NULL, number[64];
  size_t bytes = 0, parameter = 0;
  FILE *out = open_memstream(&expanded, &bytes);
  if (out == NULL) return NULL;
  for (text = copy_to_name(out, text); *text; text = copy_to_name(out, text)) {
    const char *end = name_end(text), *behind = NULL;
    bool largest = strncmp(text, "max", 3) == 0, smallest = strncmp(text, "min", 3) == 0;
    if (end == text + 3 && (largest || smallest)) behind = single_parameter(problem, end, &parameter);
    if (behind && values[parameter][0].type != CLT_STRING) {
      clt_value_print(limit(values[parameter], n[parameter], largest), number, sizeof number);
      fprintf(out, "(%s)", number);
      text = behind;
    } else {
      fwrite(text, 1, (size_t)(end - text), out);
      text = end;
    }
  }
  return fclose(out) == 0 ? expanded : (free(expanded), NULL);
}
