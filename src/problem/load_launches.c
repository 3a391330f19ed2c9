/* What is launched: kernels, global and local sizes, argument lists. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/memory.h"
#include "base/text.h"
#include "problem/parts.h"

#define MAX_NAMES 64

static const clt_extent nothing = {0, {CLT_NO_EXPRESSION, CLT_NO_EXPRESSION, CLT_NO_EXPRESSION}};

static bool is_parameter(const clt_problem *problem, const char *name) {
  for (size_t i = 0; i < problem->n_parameters; i++)
    if (strcmp(problem->parameters[i].name, name) == 0) return true;
  return false;
}

static const char *const block_sizes[] = {"block_size_x", "block_size_y", "block_size_z"};

/* Kernel Tuner's custom: parameters of these names are the local size. */
static int load_block_sizes(clt_problem *problem, clt_extent *local, const clt_node *kernel, clt_error *error) {
  size_t n = 0;
  int rc = CLT_OK;
  for (size_t d = 0; d < 3; d++)
    if (is_parameter(problem, block_sizes[d])) n = d + 1;
  *local = nothing;
  if (n == 0 && problem->problem_size.n == 0) return CLT_OK;
  if (n == 0) n = 1;
  for (size_t d = 0; rc == CLT_OK && d < n; d++) {
    const char *text = is_parameter(problem, block_sizes[d]) || problem->problem_size.n ? block_sizes[d] : "1";
    rc = clt_add_expression_text(problem, &local->id[local->n++], text, kernel->key, error);
  }
  return rc;
}

static int load_local(clt_problem *problem, clt_extent *local, const clt_node *kernel, clt_error *error) {
  clt_node node = clt_node_member(kernel, "LocalSize");
  bool said = json_object_get(kernel->json, "LocalSize") != NULL;
  return said ? clt_add_extent(problem, local, &node, error) : load_block_sizes(problem, local, kernel, error);
}

/* The product of the texts of a list, or one expression. */
static int load_divisor(clt_problem *problem, clt_expression_id *out, const clt_node *node, clt_error *error) {
  if (!json_is_array(node->json)) return clt_add_expression(problem, out, node, error);
  char *product = NULL;
  size_t bytes = 0;
  FILE *stream = open_memstream(&product, &bytes);
  if (stream == NULL) return clt_fail_memory(error);
  int rc = CLT_OK;
  for (size_t i = 0; rc == CLT_OK && i < json_array_size(node->json); i++) {
    clt_node item = clt_node_item(node, i);
    const char *text = json_string_value(item.json);
    if (text) fprintf(stream, "%s(%s)", i ? " * " : "", text);
    if (json_is_integer(item.json))
      fprintf(stream, "%s(%lld)", i ? " * " : "", (long long)json_integer_value(item.json));
    if (!text && !json_is_integer(item.json))
      rc = clt_node_fail(&problem->source, &item, error, "needs a number or an expression in quotes");
  }
  if (fclose(stream) != 0) rc = clt_fail_memory(error);
  if (rc == CLT_OK) rc = clt_add_expression_text(problem, out, product, node->key, error);
  free(product);
  return rc;
}

/* Kernel Tuner divides by the block size where no divisors are given. */
static int load_divisors(clt_problem *problem, clt_extent *divisor, const clt_node *kernel, clt_error *error) {
  static const char *const names[] = {"GridDivX", "GridDivY", "GridDivZ"};
  int rc = CLT_OK;
  *divisor = nothing;
  divisor->n = problem->problem_size.n;
  for (size_t d = 0; rc == CLT_OK && d < divisor->n && d < 3; d++) {
    clt_node node = clt_node_member(kernel, names[d]);
    bool given = node.json && !(json_is_array(node.json) && json_array_size(node.json) == 0);
    if (given) {
      rc = load_divisor(problem, &divisor->id[d], &node, error);
    } else if (is_parameter(problem, block_sizes[d])) {
      rc = clt_add_expression_text(problem, &divisor->id[d], block_sizes[d], kernel->key, error);
    }
  }
  return rc;
}

/* How a "GlobalSize" counts: as "GlobalSizeType" says, or else as it stood. */
static int load_stated_grid(const clt_problem *problem, clt_grid_kind *stated, const clt_node *node, clt_error *error) {
  static const char *const grids[] = {"OpenCL", "CUDA", "Vulkan"};
  int grid = *stated == CLT_GRID_GROUPS;
  int rc = clt_node_choice(&grid, &problem->source, node, "GlobalSizeType", grids, 3, error);
  *stated = grid == 0 ? CLT_GRID_ITEMS : CLT_GRID_GROUPS;
  return rc;
}

/* The launch that KernelSpecification itself describes. */
static int load_standard(clt_problem *problem, clt_launch *out, const clt_node *kernel, clt_error *error) {
  clt_node global = clt_node_member(kernel, "GlobalSize");
  *out = (clt_launch){.local = nothing,
                      .global = nothing,
                      .divisor = nothing,
                      .all_args = true,
                      .repeat = CLT_NO_EXPRESSION,
                      .when = CLT_NO_EXPRESSION};
  int rc = load_stated_grid(problem, &out->stated, kernel, error);
  out->grid = out->stated;
  if (rc == CLT_OK) rc = load_local(problem, &out->local, kernel, error);
  if (rc == CLT_OK && problem->problem_size.n > 0) {
    out->grid = CLT_GRID_DIVIDED;
    out->global = problem->problem_size;
    rc = load_divisors(problem, &out->divisor, kernel, error);
  } else if (rc == CLT_OK) {
    rc = clt_add_extent(problem, &out->global, &global, error);
  }
  if (rc == CLT_OK && problem->kernel_name && (out->kernel = strdup(problem->kernel_name)) == NULL)
    rc = clt_fail_memory(error);
  return rc;
}

static int no_such_argument(const clt_problem *problem, const clt_node *node, const char *name, clt_error *error) {
  const char *names[MAX_NAMES];
  size_t n = problem->n_arguments < MAX_NAMES ? problem->n_arguments : MAX_NAMES;
  for (size_t i = 0; i < n; i++) names[i] = problem->arguments[i].name;
  const char *near = clt_nearest_name(name, names, n);
  if (near)
    return clt_node_fail(&problem->source, node, error, "there is no argument \"%s\"; did you mean \"%s\"?", name,
                         near);
  return clt_node_fail(&problem->source, node, error, "there is no argument \"%s\"", name);
}

static int load_names(clt_problem *problem, clt_launch *launch, const clt_node *list, clt_error *error) {
  int rc = clt_node_list(&problem->source, list, error);
  if (rc) return rc;
  launch->all_args = false;
  launch->args = clt_new_array(json_array_size(list->json), sizeof *launch->args);
  if (launch->args == NULL) return clt_fail_memory(error);
  for (size_t i = 0; i < json_array_size(list->json); i++) {
    clt_node node = clt_node_item(list, i);
    const char *name = json_string_value(node.json);
    if (name == NULL) return clt_node_fail(&problem->source, &node, error, "needs the name of an argument");
    if (clt_problem_argument(problem, name) == NULL) return no_such_argument(problem, &node, name, error);
    launch->args[launch->n_args] = strdup(name);
    if (launch->args[launch->n_args] == NULL) return clt_fail_memory(error);
    launch->n_args++;
  }
  return CLT_OK;
}

static int load_sizes(clt_problem *problem, clt_launch *launch, const clt_node *node, clt_error *error) {
  clt_node global = clt_node_member(node, "GlobalSize"), local = clt_node_member(node, "LocalSize");
  int rc = load_stated_grid(problem, &launch->stated, node, error);
  if (rc == CLT_OK && global.json) rc = clt_add_extent(problem, &launch->global, &global, error);
  if (global.json || launch->grid != CLT_GRID_DIVIDED) launch->grid = launch->stated;
  if (rc == CLT_OK && json_object_get(node->json, "LocalSize"))
    rc = clt_add_extent(problem, &launch->local, &local, error);
  if (rc == CLT_OK && launch->global.n == 0)
    rc = clt_node_fail(&problem->source, node, error, "needs a \"GlobalSize\"");
  if (rc == CLT_OK && launch->grid == CLT_GRID_GROUPS && launch->local.n == 0)
    rc = clt_node_fail(&problem->source, node, error, "needs a \"LocalSize\", as the global size counts work-groups");
  return rc;
}

int clt_load_launch(clt_problem *problem, clt_launch *out, const clt_launch *standard, const clt_node *node,
                    clt_error *error) {
  clt_node args = clt_node_member(node, "Arguments"), repeat = clt_node_member(node, "Repeat"),
           when = clt_node_member(node, "When");
  *out = *standard;
  out->args = NULL;
  out->n_args = 0;
  out->key = strdup(node->key);
  out->kernel = standard->kernel ? strdup(standard->kernel) : NULL;
  if (out->key == NULL || (standard->kernel && out->kernel == NULL)) return clt_fail_memory(error);
  int rc = clt_node_text(&out->kernel, &problem->source, node, "KernelName", out->kernel == NULL, error);
  if (rc == CLT_OK) rc = load_sizes(problem, out, node, error);
  if (rc == CLT_OK && args.json) rc = load_names(problem, out, &args, error);
  if (rc == CLT_OK && repeat.json) rc = clt_add_expression(problem, &out->repeat, &repeat, error);
  if (rc == CLT_OK) rc = clt_add_expression(problem, &out->when, &when, error);
  return rc;
}

static int load_entry(clt_problem *problem, const clt_launch *standard, const clt_node *node, clt_error *error) {
  static const char *const known[] = {"KernelName", "GlobalSize", "GlobalSizeType", "LocalSize", "Arguments",
                                      "Repeat",     "When"};
  int rc = clt_node_known(&problem->source, node, known, 7, true, error);
  return rc ? rc : clt_load_launch(problem, &problem->launches[problem->n_launches++], standard, node, error);
}

static int load_member(clt_problem *problem, const clt_launch *standard, const clt_node *node, size_t group,
                       clt_error *error) {
  clt_node repeat = clt_node_member(node, "Repeat"), inner = clt_node_member(node, "Launches");
  int rc = clt_node_object(&problem->source, node, error);
  if (rc) return rc;
  if (repeat.json || inner.json)
    return clt_node_fail(&problem->source, repeat.json ? &repeat : &inner, error,
                         "cannot stand in a group of launches, which is repeated as a whole");
  const size_t place = problem->n_launches;
  rc = load_entry(problem, standard, node, error);
  if (rc == CLT_OK) problem->launches[place].group = group;
  return rc;
}

/* Launches that are repeated together are kept as a row of launches that share a number and "Repeat". */
static int load_group(clt_problem *problem, const clt_launch *standard, const clt_node *node, clt_error *error) {
  static const char *const known[] = {"Launches", "Repeat"};
  clt_node list = clt_node_member(node, "Launches"), repeat = clt_node_member(node, "Repeat");
  const size_t n = json_array_size(list.json), group = problem->n_launches + 1;
  clt_launch shared = *standard;
  int rc = clt_node_known(&problem->source, node, known, 2, true, error);
  if (rc == CLT_OK) rc = clt_node_list(&problem->source, &list, error);
  if (rc == CLT_OK && n == 0) rc = clt_node_fail(&problem->source, &list, error, "needs a launch");
  if (rc == CLT_OK) rc = clt_add_expression(problem, &shared.repeat, &repeat, error);
  for (size_t i = 0; rc == CLT_OK && i < n; i++) {
    clt_node member = clt_node_item(&list, i);
    rc = load_member(problem, &shared, &member, group, error);
  }
  return rc;
}

/* An upper bound of the launches in a list. */
static size_t count_launches(const json_t *list) {
  size_t n = json_array_size(list);
  for (size_t i = 0; i < json_array_size(list); i++)
    n += json_array_size(json_object_get(json_array_get(list, i), "Launches"));
  return n;
}

static int load_list(clt_problem *problem, const clt_launch *standard, const clt_node *list, clt_error *error) {
  int rc = clt_node_list(&problem->source, list, error);
  if (rc) return rc;
  if (json_array_size(list->json) == 0) return clt_node_fail(&problem->source, list, error, "needs a launch");
  problem->launches = clt_new_array(count_launches(list->json), sizeof *problem->launches);
  if (problem->launches == NULL) return clt_fail_memory(error);
  for (size_t i = 0; rc == CLT_OK && i < json_array_size(list->json); i++) {
    clt_node node = clt_node_item(list, i);
    rc = clt_node_object(&problem->source, &node, error);
    if (rc) return rc;
    bool group = clt_node_member(&node, "Launches").json != NULL;
    rc = group ? load_group(problem, standard, &node, error) : load_entry(problem, standard, &node, error);
  }
  return rc;
}

/* One launch, as KernelSpecification describes it: a launch that adds nothing. */
static int load_single(clt_problem *problem, clt_launch *standard, const clt_node *kernel, clt_error *error) {
  problem->launches = clt_new_array(1, sizeof *problem->launches);
  if (problem->launches == NULL) return clt_fail_memory(error);
  if (standard->global.n == 0) return clt_node_fail(&problem->source, kernel, error, "needs a \"GlobalSize\"");
  if (standard->grid == CLT_GRID_GROUPS && standard->local.n == 0)
    return clt_node_fail(&problem->source, kernel, error,
                         "needs a \"LocalSize\", as the global size counts work-groups");
  standard->key = strdup(kernel->key);
  if (standard->key == NULL) return clt_fail_memory(error);
  problem->launches[problem->n_launches++] = *standard;
  *standard = (clt_launch){0};
  return CLT_OK;
}

int clt_load_launches(clt_problem *problem, const clt_node *kernel, clt_error *error) {
  clt_node list = clt_node_member(kernel, "Launches");
  clt_launch standard;
  int rc = load_standard(problem, &standard, kernel, error);
  if (rc == CLT_OK && list.json == NULL && standard.kernel == NULL)
    rc = clt_node_fail(&problem->source, kernel, error, "needs a \"KernelName\"");
  if (rc == CLT_OK)
    rc = list.json ? load_list(problem, &standard, &list, error) : load_single(problem, &standard, kernel, error);
  clt_launch_release(&standard);
  return rc;
}
