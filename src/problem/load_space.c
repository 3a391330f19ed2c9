/* Problem parameters, tuning parameters, conditions and aliases. */
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/memory.h"
#include "problem/parts.h"
#include "space/lex.h"

static bool name_is_taken(const clt_problem *problem, const char *name) {
  for (size_t i = 0; i < problem->n_sizes; i++)
    if (problem->sizes[i].name && strcmp(problem->sizes[i].name, name) == 0) return true;
  for (size_t i = 0; i < problem->n_parameters; i++)
    if (problem->parameters[i].name && strcmp(problem->parameters[i].name, name) == 0) return true;
  return false;
}

/* Whether expressions can speak of the name. */
static bool is_usable(const char *name) { return clt_is_name(name) && !clt_is_keyword(name, strlen(name)); }

/* Reads the "Name" of a parameter: a C name that no other has. */
static int load_name(clt_problem *problem, char **out, const clt_node *node, clt_error *error) {
  char *name = NULL;
  int rc = clt_node_text(&name, &problem->source, node, "Name", true, error);
  clt_node place = clt_node_member(node, "Name");
  if (rc) return rc;
  if (!clt_is_name(name)) {
    rc = clt_node_fail(&problem->source, &place, error, "\"%s\" cannot be a name: use letters, digits and _", name);
  } else if (clt_is_keyword(name, strlen(name))) {
    rc = clt_node_fail(&problem->source, &place, error,
                       "\"%s\" cannot be a name, as it has a meaning in expressions; use another one", name);
  } else if (name_is_taken(problem, name)) {
    rc = clt_node_fail(&problem->source, &place, error, "there are two parameters of the name \"%s\"", name);
  }
  if (rc) {
    free(name);
  } else {
    *out = name;
  }
  return rc;
}

static int load_size(clt_problem *problem, const clt_node *node, clt_error *error) {
  static const char *const known[] = {"Name", "Default", "Min", "Max"};
  const clt_source *source = &problem->source;
  clt_problem_parameter size = {.min = INT64_MIN, .max = INT64_MAX, .passed = true};
  clt_node standard = clt_node_member(node, "Default");
  int rc = clt_node_object(source, node, error);
  if (rc == CLT_OK) rc = clt_node_known(source, node, known, 4, true, error);
  if (rc == CLT_OK && standard.json == NULL) rc = clt_node_fail(source, node, error, "needs a \"Default\"");
  if (rc == CLT_OK) rc = clt_node_integer(&size.standard, source, node, "Default", error);
  if (rc == CLT_OK) rc = clt_node_integer(&size.min, source, node, "Min", error);
  if (rc == CLT_OK) rc = clt_node_integer(&size.max, source, node, "Max", error);
  if (rc == CLT_OK && (size.standard < size.min || size.standard > size.max))
    rc = clt_node_fail(source, &standard, error, "lies outside of \"Min\" and \"Max\"");
  if (rc == CLT_OK) rc = load_name(problem, &size.name, node, error);
  if (rc == CLT_OK) problem->sizes[problem->n_sizes++] = size;
  return rc;
}

/* Whole numbers of BAT's "BenchmarkConfig" may be used in expressions; they are not set by anybody and not passed on.
 */
static int load_benchmark_config(clt_problem *problem, const clt_node *config, clt_error *error) {
  const char *name;
  json_t *value;
  json_object_foreach((json_t *)config->json, name, value) {
    if (!json_is_integer(value) || !is_usable(name) || name_is_taken(problem, name)) continue;
    clt_problem_parameter *size = &problem->sizes[problem->n_sizes];
    *size = (clt_problem_parameter){.standard = json_integer_value(value), .min = INT64_MIN, .max = INT64_MAX};
    size->name = strdup(name);
    if (size->name == NULL) return clt_fail_memory(error);
    problem->n_sizes++;
  }
  return CLT_OK;
}

static int load_sizes(clt_problem *problem, const clt_node *root, clt_error *error) {
  clt_node list = clt_node_member(root, "ProblemParameters"), config = clt_node_member(root, "BenchmarkConfig");
  size_t n = json_array_size(list.json);
  int rc = list.json ? clt_node_list(&problem->source, &list, error) : CLT_OK;
  if (rc) return rc;
  problem->sizes = clt_new_array(n + json_object_size(config.json), sizeof *problem->sizes);
  if (problem->sizes == NULL) return clt_fail_memory(error);
  for (size_t i = 0; rc == CLT_OK && i < n; i++) {
    clt_node node = clt_node_item(&list, i);
    rc = load_size(problem, &node, error);
  }
  return rc;
}

static int load_values(clt_problem *problem, clt_tuning_parameter *parameter, const clt_node *node, clt_error *error) {
  clt_node values = clt_node_member(node, "Values");
  if (values.json == NULL) return clt_node_fail(&problem->source, node, error, "needs \"Values\"");
  if (json_is_string(values.json)) {
    parameter->values = clt_expand_problem_size(problem, json_string_value(values.json));
    return parameter->values ? CLT_OK : clt_fail_memory(error);
  }
  if (!json_is_array(values.json))
    return clt_node_fail(&problem->source, &values, error, "needs a list, or a text such as \"[1, 2, 4]\"");
  if (json_array_size(values.json) == 0) return clt_node_fail(&problem->source, &values, error, "needs a value");
  parameter->list = values.json;
  return CLT_OK;
}

static int load_parameter(clt_problem *problem, const clt_node *node, clt_error *error) {
  static const char *const known[] = {"Name", "Type", "Values", "Default"};
  clt_tuning_parameter *parameter = &problem->parameters[problem->n_parameters];
  clt_node standard = clt_node_member(node, "Default");
  int rc = clt_node_object(&problem->source, node, error);
  if (rc == CLT_OK) rc = clt_node_known(&problem->source, node, known, 4, false, error);
  if (rc == CLT_OK) rc = load_name(problem, &parameter->name, node, error);
  if (rc) return rc;
  problem->n_parameters++; /* from here on, clt_problem_free frees it */
  parameter->key = strdup(node->key);
  if (parameter->key == NULL) return clt_fail_memory(error);
  rc = clt_node_text(&parameter->type, &problem->source, node, "Type", false, error);
  if (rc == CLT_OK) rc = load_values(problem, parameter, node, error);
  /* Some T1 files put the default into a list of one. */
  parameter->standard = json_is_array(standard.json) ? json_array_get(standard.json, 0) : standard.json;
  return rc;
}

static int load_tuning_parameters(clt_problem *problem, const clt_node *space, clt_error *error) {
  clt_node list = clt_node_member(space, "TuningParameters");
  if (list.json == NULL) return clt_node_fail(&problem->source, space, error, "needs \"TuningParameters\"");
  int rc = clt_node_list(&problem->source, &list, error);
  size_t n = json_array_size(list.json);
  if (rc) return rc;
  if (n == 0) return clt_node_fail(&problem->source, &list, error, "needs a tuning parameter");
  if (n > CLT_MAX_PARAMETERS)
    return clt_node_fail(&problem->source, &list, error, "has %zu tuning parameters; at most %d are possible", n,
                         CLT_MAX_PARAMETERS);
  problem->parameters = clt_new_array(n, sizeof *problem->parameters);
  if (problem->parameters == NULL) return clt_fail_memory(error);
  for (size_t i = 0; rc == CLT_OK && i < n; i++) {
    clt_node node = clt_node_item(&list, i);
    rc = load_parameter(problem, &node, error);
  }
  return rc;
}

static int load_condition(clt_problem *problem, const clt_node *node, clt_error *error) {
  static const char *const known[] = {"Expression", "Parameters"};
  clt_node expression = json_is_string(node->json) ? *node : clt_node_member(node, "Expression");
  int rc = CLT_OK;
  if (!json_is_string(node->json)) {
    rc = clt_node_object(&problem->source, node, error);
    if (rc == CLT_OK) rc = clt_node_known(&problem->source, node, known, 2, false, error);
  }
  if (rc == CLT_OK && expression.json == NULL)
    rc = clt_node_fail(&problem->source, node, error, "needs an \"Expression\"");
  if (rc == CLT_OK) rc = clt_add_expression(problem, &problem->conditions[problem->n_conditions], &expression, error);
  if (rc == CLT_OK) problem->n_conditions++;
  return rc;
}

static int load_conditions(clt_problem *problem, const clt_node *space, clt_error *error) {
  clt_node list = clt_node_member(space, "Conditions");
  if (list.json == NULL) return CLT_OK;
  int rc = clt_node_list(&problem->source, &list, error);
  problem->conditions = clt_new_array(json_array_size(list.json), sizeof *problem->conditions);
  if (problem->conditions == NULL) return clt_fail_memory(error);
  for (size_t i = 0; rc == CLT_OK && i < json_array_size(list.json); i++) {
    clt_node node = clt_node_item(&list, i);
    rc = load_condition(problem, &node, error);
  }
  return rc;
}

static int load_alias(clt_problem *problem, const clt_node *node, clt_error *error) {
  static const char *const known[] = {"When", "Parameter", "Value"};
  clt_alias *alias = &problem->aliases[problem->n_aliases];
  clt_node when = clt_node_member(node, "When"), value = clt_node_member(node, "Value");
  int rc = clt_node_object(&problem->source, node, error);
  if (rc == CLT_OK) rc = clt_node_known(&problem->source, node, known, 3, true, error);
  if (rc == CLT_OK && when.json == NULL) rc = clt_node_fail(&problem->source, node, error, "needs a \"When\"");
  if (rc == CLT_OK && value.json == NULL) rc = clt_node_fail(&problem->source, node, error, "needs a \"Value\"");
  if (rc) return rc;
  problem->n_aliases++;
  alias->value = value.json;
  alias->key = strdup(node->key);
  if (alias->key == NULL) return clt_fail_memory(error);
  rc = clt_add_expression(problem, &alias->when, &when, error);
  if (rc == CLT_OK) rc = clt_node_text(&alias->parameter, &problem->source, node, "Parameter", true, error);
  return rc;
}

static int load_aliases(clt_problem *problem, const clt_node *space, clt_error *error) {
  clt_node list = clt_node_member(space, "Aliases");
  if (list.json == NULL) return CLT_OK;
  int rc = clt_node_list(&problem->source, &list, error);
  problem->aliases = clt_new_array(json_array_size(list.json), sizeof *problem->aliases);
  if (problem->aliases == NULL) return clt_fail_memory(error);
  for (size_t i = 0; rc == CLT_OK && i < json_array_size(list.json); i++) {
    clt_node node = clt_node_item(&list, i);
    rc = load_alias(problem, &node, error);
  }
  return rc;
}

int clt_load_parameters(clt_problem *problem, const clt_node *root, clt_error *error) {
  static const char *const known[] = {"TuningParameters", "Conditions", "Aliases", "Groups"};
  clt_node space = clt_node_member(root, "ConfigurationSpace"), config = clt_node_member(root, "BenchmarkConfig");
  if (space.json == NULL) return clt_node_fail(&problem->source, root, error, "needs a \"ConfigurationSpace\"");
  int rc = clt_node_object(&problem->source, &space, error);
  if (rc == CLT_OK) rc = clt_node_known(&problem->source, &space, known, 4, false, error);
  if (rc == CLT_OK) rc = load_sizes(problem, root, error);
  if (rc == CLT_OK) rc = load_tuning_parameters(problem, &space, error);
  if (rc == CLT_OK) rc = load_benchmark_config(problem, &config, error);
  if (rc == CLT_OK) rc = load_conditions(problem, &space, error);
  if (rc == CLT_OK) rc = load_aliases(problem, &space, error);
  if (rc == CLT_OK) rc = clt_load_groups(problem, &space, error);
  return rc;
}
