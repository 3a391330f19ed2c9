/* Loads a tuning parameter of the type "permutation": one parameter for the position of each item, and the conditions
 * that these differ. */
#include "base/base.h"
#include "base/json.h"
#include "base/text.h"
#include "problem/load.h"
#include "space/expr.h"

#define MOST_ITEMS 100

/* A member that the reader takes for a comment. It owns the numbers of the positions. */
#define POSITIONS "(positions)"

/* The items, from a list or a text; NULL: a mistake, or the list is empty. */
static clt_value *read_items(size_t *n, const clt_node *values) {
  clt_value *items = NULL;
  clt_error cause = {0};
  int rc = CLT_OK;
  *n = json_array_size(values->json);
  if (json_is_string(values->json))
    rc = clt_values_parse(&items, n, json_string_value(values->json), NULL, NULL, 0, &cause);
  else if ((items = clt_new_array(*n, sizeof *items)) == NULL)
    rc = clt_fail_memory(&cause);
  if (rc) clt_node_wrap(values, rc, &cause);
  for (size_t i = 0; rc == CLT_OK && json_is_array(values->json) && i < *n; i++)
    if (!clt_json_to_value(&items[i], json_array_get(values->json, i)))
      clt_node_fail(values, "item %zu must be a number or a string", i + 1);
  if (clt_node_ok(values) && *n < 2) clt_node_fail(values, "needs at least two items");
  if (clt_node_ok(values) && *n > MOST_ITEMS)
    clt_node_fail(values, "has %zu items, and at most %d can be ordered; order fewer, or groups of them", *n,
                  MOST_ITEMS);
  return items;
}

/* The place of an item in "Default"; without one, in "Values". n: there is none. */
static size_t default_place(const json_t *stated, const clt_value *items, size_t n, size_t item) {
  clt_value value;
  size_t place = 0;
  if (stated == NULL) return item;
  while (place < n &&
         !(clt_json_to_value(&value, json_array_get(stated, place)) && clt_value_equal(value, items[item])))
    place++;
  return place;
}

void clt_load_permutation(clt_problem *problem, const char *name, const clt_node *node) {
  clt_node values = clt_node_member(node, "Values");
  const json_t *default_order = json_object_get(node->json, "Default");
  const json_t *stated = json_is_null(default_order) ? NULL : default_order;
  const size_t first = problem->n_parameters;
  size_t n = 0;
  clt_text condition = {0};
  clt_value *items = clt_node_ok(node) ? read_items(&n, &values) : NULL;
  json_t *positions = json_array();
  for (size_t i = 0; i < n; i++) clt_json_append(&positions, json_integer((json_int_t)i));
  if (json_object_set_new((json_t *)node->json, POSITIONS, positions) && clt_node_ok(node))
    clt_node_fail_as(node, CLT_E_MEMORY, "out of memory");
  if (clt_node_ok(node) && stated && json_array_size(stated) != n)
    clt_member_fail(node, "Default", "needs the %zu items in an order", n);
  for (size_t i = 0; i < n && clt_node_ok(node); i++) {
    const size_t place = default_place(stated, items, n, i);
    clt_text text = {0};
    char *own = NULL;
    clt_text_printf(&text, "%s_", name);
    clt_text_add_value(&text, items[i]);
    clt_text_take(&own, &text, NULL);
    clt_tuning_parameter parameter = {.name = clt_node_keep(node, own), .type = "int", .key = clt_load_key(&values)};
    parameter.list = positions;
    parameter.default_value = json_array_get(positions, place);
    if (!clt_node_ok(node)) break;
    if (!clt_is_name(parameter.name))
      clt_node_fail(&values, "'%s' is not a name; items need letters, digits and '_'", parameter.name);
    else if (clt_is_declared(problem, parameter.name))
      clt_node_fail(&values, "there are two parameters named \"%s\"", parameter.name);
    else if (problem->n_parameters == CLT_MAX_PARAMETERS)
      clt_node_fail(&values, "gives more than %d tuning parameters", CLT_MAX_PARAMETERS);
    else if (place == n)
      clt_member_fail(node, "Default", "needs the %zu items in an order", n);
    if (!clt_node_ok(node)) break;
    problem->parameters[problem->n_parameters++] = parameter;
    condition.n = 0;
    clt_text_printf(&condition, "%s not in [", parameter.name);
    for (size_t k = first; k < first + i; k++) clt_text_printf(&condition, "%s, ", problem->parameters[k].name);
    clt_text_add(&condition, "]");
    if (i == 0) continue;
    const clt_expression_id id = clt_add_expression_text(problem, condition.bytes, &values);
    problem->conditions[problem->n_conditions++] = id;
    if (id) problem->expressions[id].of_order = true;
  }
  clt_text_release(&condition);
  free(items);
}
