#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/file.h"
#include "base/memory.h"
#include "problem/command.h"
#include "problem/giles.h"
#include "problem/metric.h"
#include "problem/parts.h"
#include "problem/todo.h"

static bool ends_in(const char *text, const char *end) {
  size_t n = strlen(text), m = strlen(end);
  return n > m && strcmp(text + n - m, end) == 0;
}

/* What people type by mistake is the kernel in place of the file that describes it. */
static int read_source(clt_problem *problem, clt_error *error) {
  clt_error mistake = {0};
  const char *path = problem->source.path;
  int rc = clt_source_read(&problem->source, &problem->root, CLT_MAX_TEXT_BYTES, &mistake);
  if (rc == CLT_E_FORMAT && (ends_in(path, ".cl") || ends_in(path, ".ocl")))
    return clt_fail(error, rc, "'%s' is a kernel, not a problem file; 'clatune init %s' writes one for it", path, path);
  if (rc == CLT_E_FORMAT && clt_is_giles(problem->source.text))
    return clt_giles_parse(&problem->root, &problem->source, error);
  if (rc && error && error->code == 0) *error = mistake;
  return rc;
}

static int load_budget_entry(clt_problem *problem, const clt_node *entry, clt_error *error) {
  static const char *const types[] = {"ConfigurationCount", "TuningDuration", "ConfigurationFraction"};
  static const char *const known[] = {"Type", "BudgetValue"};
  const clt_source *source = &problem->source;
  int type = 1;
  double count = 0;
  int rc = clt_node_object(source, entry, error);
  if (rc == CLT_OK) rc = clt_node_known(source, entry, known, 2, false, error);
  if (rc == CLT_OK) rc = clt_node_choice(&type, source, entry, "Type", types, 3, error);
  if (rc == CLT_OK) rc = clt_node_number(&count, source, entry, "BudgetValue", error);
  if (rc || type != 0) return rc;
  if (!(count >= 1 && count <= 1e15)) {
    clt_node value = clt_node_member(entry, "BudgetValue");
    return clt_node_fail(source, &value, error, "needs a number of configurations, at least 1");
  }
  problem->budget = (int64_t)count;
  return CLT_OK;
}

/* KTT writes one object, Kernel Tuner a list of them. */
static int load_budget(clt_problem *problem, const clt_node *root, clt_error *error) {
  clt_node budget = clt_node_member(root, "Budget");
  int rc = CLT_OK;
  if (budget.json == NULL) return CLT_OK;
  if (json_is_object(budget.json)) return load_budget_entry(problem, &budget, error);
  rc = clt_node_list(&problem->source, &budget, error);
  for (size_t i = 0; rc == CLT_OK && i < json_array_size(budget.json); i++) {
    clt_node entry = clt_node_item(&budget, i);
    rc = load_budget_entry(problem, &entry, error);
  }
  return rc;
}

static int load_general(clt_problem *problem, const clt_node *root, clt_error *error) {
  static const char *const known[] = {"BenchmarkName", "FormatVersion", "LoggingLevel",
                                      "TimeUnit",      "OutputFile",    "OutputFormat"};
  clt_node general = clt_node_member(root, "General");
  if (general.json == NULL) return CLT_OK;
  int rc = clt_node_object(&problem->source, &general, error);
  if (rc == CLT_OK) rc = clt_node_known(&problem->source, &general, known, 6, false, error);
  if (rc == CLT_OK) rc = clt_node_text(&problem->name, &problem->source, &general, "BenchmarkName", false, error);
  return rc;
}

/* A file's name without folder and ending. */
static char *stem(const char *path) {
  const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path, *dot = strrchr(name, '.');
  return dot && dot > name ? strndup(name, (size_t)(dot - name)) : strdup(name);
}

static int name_it(clt_problem *problem, clt_error *error) {
  if (problem->name && problem->name[0]) return CLT_OK;
  free(problem->name);
  problem->name = problem->command       ? stem(problem->source.path)
                  : problem->kernel_name ? strdup(problem->kernel_name)
                                         : strdup(problem->launches[0].kernel);
  return problem->name ? CLT_OK : clt_fail_memory(error);
}

static int load_sections(clt_problem *problem, clt_error *error) {
  static const char *const known[] = {"General",
                                      "ProblemParameters",
                                      "ConfigurationSpace",
                                      "KernelSpecification",
                                      "Command",
                                      "Strategy",
                                      "ReferenceArguments",
                                      "Reference",
                                      "Budget",
                                      "Search",
                                      "BenchmarkConfig",
                                      "Metrics",
                                      "Objective"};
  clt_node root = {.json = problem->root}, kernel = clt_node_member(&root, "KernelSpecification");
  int rc = clt_node_object(&problem->source, &root, error);
  if (rc == CLT_OK) rc = clt_node_known(&problem->source, &root, known, sizeof known / sizeof *known, false, error);
  if (rc == CLT_OK) rc = load_general(problem, &root, error);
  if (rc == CLT_OK) rc = load_budget(problem, &root, error);
  if (rc == CLT_OK) rc = clt_load_problem_size(problem, &kernel, error); /* before all that may speak of it */
  if (rc == CLT_OK) rc = clt_load_parameters(problem, &root, error);
  if (rc == CLT_OK) rc = clt_load_command(problem, &root, error);
  if (rc == CLT_OK && problem->command == NULL) rc = clt_load_kernel(problem, &root, error);
  if (rc == CLT_OK && problem->command == NULL) rc = clt_load_reference(problem, &root, &kernel, error);
  if (rc == CLT_OK) rc = clt_load_strategy(problem, &root, error);
  if (rc == CLT_OK) rc = clt_load_metrics(problem, &root, error);
  if (rc == CLT_OK) rc = name_it(problem, error);
  return rc;
}

/* Compiles everything once with the default sizes, so that mistakes in expressions and values show at once. */
static int check(const clt_problem *problem, clt_error *error) {
  clt_instance instance = {.problem = problem, .sizes = clt_new_array(problem->n_sizes, sizeof(int64_t))};
  if (instance.sizes == NULL) return clt_fail_memory(error);
  for (size_t i = 0; i < problem->n_sizes; i++) instance.sizes[i] = problem->sizes[i].standard;
  int rc = clt_instance_compile(&instance, error);
  if (rc == CLT_OK) rc = clt_metrics_check(&instance, error);
  for (size_t i = 0; instance.compiled && i < problem->n_expressions; i++) clt_expr_free(instance.compiled[i]);
  for (size_t i = 0; instance.values && i < problem->n_parameters; i++) free(instance.values[i]);
  free(instance.compiled);
  free(instance.values);
  free(instance.n_values);
  free(instance.sizes);
  return rc;
}

int clt_problem_load(clt_problem **out, const char *path, clt_error *error) {
  clt_problem *problem = calloc(1, sizeof *problem);
  if (problem == NULL) return clt_fail_memory(error);
  problem->source.path = strdup(path);
  problem->folder = clt_path_folder(path);
  int rc = problem->source.path && problem->folder ? CLT_OK : clt_fail_memory(error);
  if (rc == CLT_OK) rc = read_source(problem, error);
  if (rc == CLT_OK) rc = clt_todo_check(&problem->source, problem->root, error);
  if (rc == CLT_OK) rc = load_sections(problem, error);
  if (rc == CLT_OK) rc = check(problem, error);
  if (rc == CLT_OK) {
    *out = problem;
  } else {
    clt_problem_free(problem);
  }
  return rc;
}

const char *clt_problem_name(const clt_problem *problem) { return problem->name; }

bool clt_problem_has_reference(const clt_problem *problem) {
  return problem->command ? problem->command->check.n > 0 : problem->reference.kind != CLT_REFERENCE_DEFAULT;
}

bool clt_problem_is_file(const char *path) {
  char *text = NULL;
  if (clt_file_read(&text, NULL, path, CLT_MAX_TEXT_BYTES, NULL)) return false;
  json_t *json = json_loads(text, 0, NULL);
  bool yes = json_object_get(json, "KernelSpecification") || json_object_get(json, "Command") ||
             (clt_is_giles(text) && strstr(text, "PARAMS"));
  json_decref(json);
  free(text);
  return yes;
}

const char *clt_problem_path(const clt_problem *problem) { return problem->source.path; }

static size_t n_passed(const clt_problem *problem) {
  size_t n = 0;
  while (n < problem->n_sizes && problem->sizes[n].passed) n++;
  return n;
}

size_t clt_problem_n_sizes(const clt_problem *problem) { return n_passed(problem); }

clt_size clt_problem_size(const clt_problem *problem, size_t index) {
  return (clt_size){problem->sizes[index].name, problem->sizes[index].standard};
}

int64_t clt_problem_budget(const clt_problem *problem) { return problem->budget; }

char *clt_problem_file(const clt_problem *problem, const char *name) { return clt_path_join(problem->folder, name); }

const clt_argument *clt_problem_argument(const clt_problem *problem, const char *name) {
  for (size_t i = 0; i < problem->n_arguments; i++)
    if (strcmp(problem->arguments[i].name, name) == 0) return &problem->arguments[i];
  return NULL;
}

const char *clt_problem_quality_name(const clt_problem *problem) { return problem->reference.quality.name; }

const char *clt_problem_quality_unit(const clt_problem *problem) {
  const char *unit = problem->reference.quality.unit;
  return unit ? unit : "";
}

size_t clt_problem_n_entries(const clt_problem *problem, const char *name) {
  size_t n = 0;
  for (size_t i = 0; i < problem->n_arguments; i++) n += strcmp(problem->arguments[i].name, name) == 0;
  return n;
}

bool clt_holds_data(const clt_argument *argument) {
  return argument->kind != CLT_ARG_SCALAR && argument->kind != CLT_ARG_SAMPLER && argument->kind != CLT_ARG_LOCAL;
}

const clt_fill *clt_problem_fill(const clt_problem *problem, const char *name) {
  for (size_t i = 0; i < problem->n_arguments; i++)
    if (strcmp(problem->arguments[i].name, name) == 0 && problem->arguments[i].fill.kind != CLT_FILL_NONE)
      return &problem->arguments[i].fill;
  return NULL;
}

bool clt_is_verified(const clt_problem *problem, const char *name) {
  for (size_t i = 0; i < problem->n_arguments; i++)
    if (strcmp(problem->arguments[i].name, name) == 0 && problem->arguments[i].output) return true;
  return false;
}
