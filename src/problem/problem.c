/* What others ask of a loaded problem. */
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "problem/command.h"

const char *clt_problem_name(const clt_problem *problem) { return problem->name; }

const char *clt_problem_path(const clt_problem *problem) { return problem->source.path; }

size_t clt_problem_n_sizes(const clt_problem *problem) { return problem->n_passed; }

clt_size clt_problem_size(const clt_problem *problem, size_t index) {
  return (clt_size){problem->sizes[index].name, problem->sizes[index].standard};
}

int64_t clt_problem_budget(const clt_problem *problem) { return problem->budget; }

bool clt_problem_has_reference(const clt_problem *problem) {
  return problem->command ? problem->command->check.n > 0 : problem->reference.kind != CLT_REFERENCE_DEFAULT;
}

const char *clt_problem_quality_name(const clt_problem *problem) { return problem->reference.quality.name; }

const char *clt_problem_quality_unit(const clt_problem *problem) {
  const char *unit = problem->reference.quality.unit;
  return unit ? unit : "";
}

size_t clt_problem_n_metrics(const clt_problem *problem) { return problem->n_metrics; }

clt_metric clt_problem_metric(const clt_problem *problem, size_t index) { return problem->metrics[index]; }

const char *clt_problem_objective(const clt_problem *problem) { return problem->objective; }

bool clt_problem_is_command(const clt_problem *problem) { return problem->command != NULL; }

bool clt_figure_is_time(const clt_figure *figure) {
  return strcmp(figure->unit, "s") == 0 && !figure->larger_is_better;
}

const clt_guidance *clt_problem_guidance(const clt_problem *problem) { return &problem->guidance; }

/* --- inside --- */

char *clt_problem_file(const clt_problem *problem, const char *name) { return clt_path_join(problem->folder, name); }

int clt_problem_parameter_index(const clt_problem *problem, const char *name) {
  for (size_t i = 0; i < problem->n_parameters; i++)
    if (strcmp(problem->parameters[i].name, name) == 0) return (int)i;
  return -1;
}

bool clt_is_declared(const clt_problem *problem, const char *name) {
  for (size_t i = 0; i < problem->n_sizes; i++)
    if (strcmp(problem->sizes[i].name, name) == 0) return true;
  return clt_problem_parameter_index(problem, name) >= 0;
}

const clt_argument *clt_problem_argument(const clt_problem *problem, const char *name) {
  for (size_t i = 0; i < problem->n_arguments; i++)
    if (strcmp(problem->arguments[i].name, name) == 0) return &problem->arguments[i];
  return NULL;
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
