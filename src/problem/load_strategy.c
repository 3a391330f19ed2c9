/* "Strategy", and ConfigurationSpace.Groups. */
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/memory.h"
#include "base/text.h"
#include "problem/parts.h"

#define MAX_GROUPS 256
#define MAX_DEPTH 16

/* --- strategy --- */

static char *option_text(const json_t *value) {
  if (json_is_string(value)) return strdup(json_string_value(value));
  if (json_is_boolean(value)) return strdup(json_is_true(value) ? "yes" : "no");
  return json_dumps(value, JSON_ENCODE_ANY | JSON_REAL_PRECISION(15));
}

static int load_options(clt_problem *problem, const clt_node *node, clt_error *error) {
  clt_strategy *strategy = &problem->strategy;
  clt_node options = clt_node_member(node, "Options");
  const char *name;
  json_t *value;
  if (options.json == NULL) return CLT_OK;
  int rc = clt_node_object(&problem->source, &options, error);
  if (rc) return rc;
  strategy->options = clt_new_array(json_object_size(options.json), sizeof *strategy->options);
  if (strategy->options == NULL) return clt_fail_memory(error);
  json_object_foreach((json_t *)options.json, name, value) {
    clt_node here = clt_node_member(&options, name);
    if (!(json_is_string(value) || json_is_number(value) || json_is_boolean(value)))
      return clt_node_fail(&problem->source, &here, error, "needs a text, a number, or true or false");
    clt_strategy_option *option = &strategy->options[strategy->n_options++];
    option->name = strdup(name);
    option->value = option_text(value);
    if (option->name == NULL || option->value == NULL) return clt_fail_memory(error);
  }
  return CLT_OK;
}

int clt_load_strategy(struct clt_problem *problem, const clt_node *root, clt_error *error) {
  static const char *const known[] = {"Searcher", "Options"};
  clt_node node = clt_node_member(root, "Strategy");
  if (node.json == NULL) return CLT_OK;
  int rc = clt_node_object(&problem->source, &node, error);
  if (rc == CLT_OK) rc = clt_node_known(&problem->source, &node, known, 2, true, error);
  if (rc == CLT_OK) rc = clt_node_text(&problem->strategy.searcher, &problem->source, &node, "Searcher", false, error);
  return rc ? rc : load_options(problem, &node, error);
}

void clt_strategy_release(clt_strategy *strategy) {
  for (size_t i = 0; i < strategy->n_options; i++) {
    free(strategy->options[i].name);
    free(strategy->options[i].value);
  }
  free(strategy->options);
  free(strategy->searcher);
}

const char *clt_problem_searcher(const clt_problem *problem) { return problem->strategy.searcher; }

size_t clt_problem_n_options(const clt_problem *problem) { return problem->strategy.n_options; }

clt_problem_option clt_problem_option_at(const clt_problem *problem, size_t index) {
  const clt_strategy_option *option = &problem->strategy.options[index];
  return (clt_problem_option){option->name, option->value};
}

/* --- groups --- */

#define UNGROUPED SIZE_MAX

static int no_such_parameter(const clt_problem *problem, const clt_node *node, const char *name, clt_error *error) {
  const char *names[CLT_MAX_PARAMETERS];
  for (size_t i = 0; i < problem->n_parameters; i++) names[i] = problem->parameters[i].name;
  const char *near = clt_nearest_name(name, names, problem->n_parameters);
  return clt_node_fail(&problem->source, node, error, "there is no tuning parameter \"%s\"%s%s%s", name,
                       near ? "; did you mean \"" : "", near ? near : "", near ? "\"?" : "");
}

static int place_parameter(clt_problem *problem, size_t group, const clt_node *node, clt_error *error) {
  const char *name = json_string_value(node->json);
  for (size_t i = 0; i < problem->n_parameters; i++) {
    if (strcmp(problem->parameters[i].name, name) != 0) continue;
    if (problem->groups.group_of[i] != UNGROUPED)
      return clt_node_fail(&problem->source, node, error, "\"%s\" stands in two groups", name);
    problem->groups.group_of[i] = group;
    return CLT_OK;
  }
  return no_such_parameter(problem, node, name, error);
}

static int load_group(clt_problem *problem, size_t parent, const clt_node *list, int depth, clt_error *error) {
  clt_independence *groups = &problem->groups;
  size_t group = groups->n;
  int rc = CLT_OK;
  if (group == MAX_GROUPS || depth > MAX_DEPTH)
    return clt_node_fail(&problem->source, list, error, "there are more than %d groups, or %d of them in each other",
                         MAX_GROUPS, MAX_DEPTH);
  groups->parents[group] = parent;
  groups->n++;
  for (size_t i = 0; rc == CLT_OK && i < json_array_size(list->json); i++) {
    clt_node item = clt_node_item(list, i);
    if (json_is_array(item.json))
      rc = load_group(problem, group, &item, depth + 1, error);
    else if (json_is_string(item.json))
      rc = place_parameter(problem, group, &item, error);
    else
      rc = clt_node_fail(&problem->source, &item, error, "needs the name of a tuning parameter, or a list of them");
  }
  return rc;
}

int clt_load_groups(struct clt_problem *problem, const clt_node *space, clt_error *error) {
  clt_independence *groups = &problem->groups;
  clt_node list = clt_node_member(space, "Groups");
  if (list.json == NULL) return CLT_OK;
  int rc = clt_node_list(&problem->source, &list, error);
  if (rc) return rc;
  groups->parents = clt_new_array(MAX_GROUPS, sizeof *groups->parents);
  groups->group_of = clt_new_array(problem->n_parameters, sizeof *groups->group_of);
  if (groups->parents == NULL || groups->group_of == NULL) return clt_fail_memory(error);
  for (size_t i = 0; i < problem->n_parameters; i++) groups->group_of[i] = UNGROUPED;
  rc = load_group(problem, 0, &list, 0, error);
  for (size_t i = 0; rc == CLT_OK && i < problem->n_parameters; i++)
    if (groups->group_of[i] == UNGROUPED)
      rc = clt_node_fail(&problem->source, &list, error, "\"%s\" stands in no group", problem->parameters[i].name);
  return rc;
}

void clt_independence_release(clt_independence *groups) {
  free(groups->parents);
  free(groups->group_of);
}

size_t clt_problem_n_groups(const clt_problem *problem) { return problem->groups.n; }

size_t clt_problem_group_parent(const clt_problem *problem, size_t group) { return problem->groups.parents[group]; }

size_t clt_problem_group_of(const clt_problem *problem, size_t parameter) {
  return problem->groups.group_of[parameter];
}
