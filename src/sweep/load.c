/* The plan file: devices, problems, and what a problem is tuned by. */
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/file.h"
#include "base/memory.h"
#include "sweep/sweep.h"

static int read_devices(clt_sweep *sweep, const clt_node *root, clt_error *error) {
  clt_node list = clt_node_member(root, "Devices");
  const clt_source *source = &sweep->source;
  if (list.json == NULL) return CLT_OK;
  bool one = json_is_string(list.json);
  int rc = one ? CLT_OK : clt_node_list(source, &list, error);
  size_t n = one ? 1 : json_array_size(list.json);
  if (rc == CLT_OK && (n == 0 || n > CLT_MAX_SWEEP_DEVICES))
    rc = clt_node_fail(source, &list, error, "needs 1 to %d devices", CLT_MAX_SWEEP_DEVICES);
  if (rc) return rc;
  sweep->devices = clt_new_array(n, sizeof *sweep->devices);
  if (sweep->devices == NULL) return clt_fail_memory(error);
  for (size_t i = 0; i < n; i++) {
    clt_node item = one ? list : clt_node_item(&list, i);
    const char *text = json_string_value(item.json);
    if (text == NULL || text[0] == '\0')
      return clt_node_fail(source, &item, error, "needs a text, such as \"all\", \"gpu\" or part of a device's name");
    if ((sweep->devices[i] = strdup(text)) == NULL) return clt_fail_memory(error);
    sweep->n_devices++;
  }
  return CLT_OK;
}

/* --- what a problem is tuned by --- */

static int check_distinct(const int64_t *numbers, size_t n, const clt_source *source, const clt_node *node,
                          clt_error *error) {
  for (size_t i = 0; i < n; i++)
    for (size_t k = 0; k < i; k++)
      if (numbers[i] == numbers[k])
        return clt_node_fail(source, node, error, "%lld stands twice", (long long)numbers[i]);
  return CLT_OK;
}

static int read_numbers(int64_t **out, size_t *n, bool *own, const clt_source *source, const clt_node *parent,
                        const char *name, int64_t min, clt_error *error) {
  clt_node node = clt_node_member(parent, name);
  int rc = clt_sweep_numbers(out, n, source, &node, min, INT64_MAX, CLT_MAX_SWEEP_NUMBERS, error);
  *own = node.json != NULL;
  return rc ? rc : check_distinct(*out, *n, source, &node, error);
}

static int read_axes(clt_sweep_axes *out, const clt_sweep *sweep, const clt_node *parent, clt_error *error) {
  const clt_source *source = &sweep->source;
  int rc = clt_sweep_read_searchers(out, sweep, parent, error);
  if (rc == CLT_OK)
    rc = read_numbers(&out->budgets, &out->n_budgets, &out->own_budgets, source, parent, "Budgets", 1, error);
  if (rc == CLT_OK) rc = read_numbers(&out->seeds, &out->n_seeds, &out->own_seeds, source, parent, "Seeds", 0, error);
  return rc;
}

static void release_axes(clt_sweep_axes *axes) {
  if (axes->own_searchers) clt_sweep_searchers_free(axes->searchers, axes->n_searchers);
  if (axes->own_budgets) free(axes->budgets);
  if (axes->own_seeds) free(axes->seeds);
}

static int one_number(int64_t **out, size_t *n, bool *own, int64_t number, clt_error *error) {
  if (*n > 0) return CLT_OK;
  *out = clt_new_array(1, sizeof **out);
  if (*out == NULL) return clt_fail_memory(error);
  **out = number;
  *n = 1;
  *own = true;
  return CLT_OK;
}

/* What a plan does not say: the usual searcher, seed 1, as many evaluations as a tuning without a budget has. */
static int complete(clt_sweep_axes *axes, clt_error *error) {
  int rc = one_number(&axes->budgets, &axes->n_budgets, &axes->own_budgets, 0, error);
  if (rc == CLT_OK) rc = one_number(&axes->seeds, &axes->n_seeds, &axes->own_seeds, 1, error);
  if (rc || axes->n_searchers > 0) return rc;
  axes->searchers = clt_new_array(1, sizeof *axes->searchers);
  if (axes->searchers == NULL) return clt_fail_memory(error);
  axes->own_searchers = true;
  axes->n_searchers = 1;
  axes->searchers[0].label = strdup(CLT_DEFAULT_SEARCHER);
  axes->searchers[0].searcher = strdup(CLT_DEFAULT_SEARCHER);
  return axes->searchers[0].label && axes->searchers[0].searcher ? CLT_OK : clt_fail_memory(error);
}

static void inherit(clt_sweep_axes *axes, const clt_sweep_axes *from) {
  if (!axes->own_searchers) axes->searchers = from->searchers, axes->n_searchers = from->n_searchers;
  if (!axes->own_budgets) axes->budgets = from->budgets, axes->n_budgets = from->n_budgets;
  if (!axes->own_seeds) axes->seeds = from->seeds, axes->n_seeds = from->n_seeds;
}

/* --- problems --- */

static int load_problem(clt_sweep_problem *out, const clt_sweep *sweep, const clt_node *node, clt_error *error) {
  clt_node place = json_is_string(node->json) ? *node : clt_node_member(node, "Problem");
  const char *name = json_string_value(place.json);
  clt_error cause = {0};
  if (name == NULL || name[0] == '\0')
    return clt_node_fail(&sweep->source, node, error, "needs a \"Problem\": the path of a problem file");
  char *path = clt_path_join(sweep->folder, name);
  if (path == NULL) return clt_fail_memory(error);
  int rc = clt_problem_load(&out->problem, path, &cause);
  free(path);
  if (rc) return clt_key_wrap(&sweep->source, place.key, rc, error, &cause);
  out->n_sizes = clt_problem_n_sizes(out->problem);
  return CLT_OK;
}

static int count_cells(clt_sweep_problem *p, clt_sweep *sweep, const clt_node *node, clt_error *error) {
  const clt_sweep_axes *axes = &p->axes;
  size_t of_set = 0;
  for (size_t i = 0; i < axes->n_searchers; i++)
    of_set += axes->searchers[i].searcher ? axes->n_budgets * axes->n_seeds : 1;
  p->first_cell = sweep->n_cells;
  p->first_set = sweep->n_problems > 1 ? p[-1].first_set + p[-1].n_sets : 0;
  if (of_set > CLT_MAX_SWEEP_CELLS || p->n_sets * of_set > CLT_MAX_SWEEP_CELLS - sweep->n_cells)
    return clt_node_fail(&sweep->source, node, error, "the plan has more than %d tunings a device",
                         CLT_MAX_SWEEP_CELLS);
  p->n_cells = p->n_sets * of_set;
  sweep->n_cells += p->n_cells;
  return CLT_OK;
}

static int read_problem(clt_sweep_problem *out, clt_sweep *sweep, const clt_node *node, clt_error *error) {
  static const char *const known[] = {"Problem", "Sizes", "Searchers", "Budgets", "Seeds"};
  const clt_source *source = &sweep->source;
  int rc = CLT_OK;
  if (!json_is_string(node->json)) rc = clt_node_object(source, node, error);
  if (rc == CLT_OK && !json_is_string(node->json)) rc = clt_node_known(source, node, known, 5, true, error);
  if (rc == CLT_OK) rc = load_problem(out, sweep, node, error);
  if (rc == CLT_OK) rc = clt_sweep_read_sizes(out, source, node, error);
  if (rc == CLT_OK) rc = read_axes(&out->axes, sweep, node, error);
  inherit(&out->axes, &sweep->axes);
  return rc ? rc : count_cells(out, sweep, node, error);
}

static int read_problems(clt_sweep *sweep, const clt_node *root, clt_error *error) {
  clt_node list = clt_node_member(root, "Problems");
  bool one = list.json && !json_is_array(list.json);
  size_t n = one ? 1 : json_array_size(list.json);
  if (list.json == NULL) return clt_node_fail(&sweep->source, root, error, "needs \"Problems\"");
  if (n == 0 || n > CLT_MAX_SWEEP_PROBLEMS)
    return clt_node_fail(&sweep->source, &list, error, "needs 1 to %d problems", CLT_MAX_SWEEP_PROBLEMS);
  sweep->problems = clt_new_array(n, sizeof *sweep->problems);
  if (sweep->problems == NULL) return clt_fail_memory(error);
  int rc = CLT_OK;
  for (size_t i = 0; rc == CLT_OK && i < n; i++) {
    clt_node item = one ? list : clt_node_item(&list, i);
    sweep->n_problems++;
    rc = read_problem(&sweep->problems[i], sweep, &item, error);
    if (rc == CLT_OK && clt_problem_is_command(sweep->problems[i].problem) != clt_sweep_is_of_commands(sweep))
      rc = clt_node_fail(&sweep->source, &item, error, "a plan is of kernels or of programs, not of both; make it two");
  }
  return rc;
}

bool clt_sweep_is_of_commands(const clt_sweep *sweep) {
  return sweep->n_problems > 0 && clt_problem_is_command(sweep->problems[0].problem);
}

/* --- the file --- */

static int read_sections(clt_sweep *sweep, clt_error *error) {
  static const char *const known[] = {"Name",    "Devices", "Problems",  "Searchers",
                                      "Budgets", "Seeds",   "Evaluator", "Tuning"};
  const clt_source *source = &sweep->source;
  clt_node root = {.json = sweep->root};
  int rc = clt_node_object(source, &root, error);
  if (rc == CLT_OK) rc = clt_node_known(source, &root, known, sizeof known / sizeof *known, true, error);
  if (rc == CLT_OK) rc = clt_node_text(&sweep->name, source, &root, "Name", false, error);
  if (rc == CLT_OK) rc = read_devices(sweep, &root, error);
  if (rc == CLT_OK) rc = clt_sweep_read_evaluator(sweep, &root, error);
  if (rc == CLT_OK) rc = clt_sweep_read_tuning(sweep, &root, error);
  if (rc == CLT_OK) rc = read_axes(&sweep->axes, sweep, &root, error);
  if (rc == CLT_OK) rc = complete(&sweep->axes, error);
  return rc ? rc : read_problems(sweep, &root, error);
}

int clt_sweep_load(clt_sweep **out, const char *path, clt_error *error) {
  clt_sweep *sweep = calloc(1, sizeof *sweep);
  if (sweep == NULL) return clt_fail_memory(error);
  sweep->source.path = strdup(path);
  sweep->folder = clt_path_folder(path);
  int rc = sweep->source.path && sweep->folder ? CLT_OK : clt_fail_memory(error);
  if (rc == CLT_OK) rc = clt_source_read(&sweep->source, &sweep->root, CLT_MAX_PLAN_BYTES, error);
  if (rc == CLT_OK) rc = read_sections(sweep, error);
  if (rc == CLT_OK)
    *out = sweep;
  else
    clt_sweep_free(sweep);
  return rc;
}

void clt_sweep_free(clt_sweep *sweep) {
  if (sweep == NULL) return;
  for (size_t i = 0; i < sweep->n_problems; i++) {
    release_axes(&sweep->problems[i].axes);
    free(sweep->problems[i].sizes);
    clt_problem_free(sweep->problems[i].problem);
  }
  for (size_t i = 0; i < sweep->n_devices; i++) free(sweep->devices[i]);
  release_axes(&sweep->axes);
  clt_sweep_options_release(&sweep->evaluator_options);
  free(sweep->devices);
  free(sweep->problems);
  free(sweep->evaluator);
  free(sweep->name);
  free(sweep->folder);
  free(sweep->source.path);
  free(sweep->source.text);
  json_decref(sweep->root);
  free(sweep);
}
