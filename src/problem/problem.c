/* Properties of loaded problems. */
#include "base/base.h"
#include "base/file.h"
#include "device/device.h"
#include "problem/command.h"

/* --- properties of a problem --- */

const char *clt_problem_name(const clt_problem *problem) {
  return problem->guidance.cold_cache ? problem->cold_name : problem->name;
}

void clt_problem_set_cold_cache(clt_problem *problem, bool cold) { problem->guidance.cold_cache = cold; }
const char *clt_problem_path(const clt_problem *problem) { return problem->source.path; }
size_t clt_problem_n_sizes(const clt_problem *problem) { return problem->n_passed; }
bool clt_problem_is_command(const clt_problem *problem) { return problem->command != NULL; }

bool clt_problem_generates(const clt_problem *problem) { return problem->generation.n_words > 0; }

bool clt_problem_runs_programs(const clt_problem *problem) {
  const clt_reference *reference = &problem->reference;
  bool runs = problem->command || problem->generation.n_words > 0 || reference->module || reference->verify_module ||
              reference->quality.module;
  for (size_t i = 0; i < problem->n_arguments; i++) runs = runs || problem->arguments[i].fill.module;
  for (size_t i = 0; i < reference->n_arrays; i++) runs = runs || reference->arrays[i].fill.module;
  return runs;
}
const clt_guidance *clt_problem_guidance(const clt_problem *problem) { return &problem->guidance; }
const char *clt_problem_quality_name(const clt_problem *problem) { return problem->reference.quality.name; }

const char *clt_problem_quality_unit(const clt_problem *problem) {
  return problem->reference.quality.unit ? problem->reference.quality.unit : "";
}

clt_size clt_problem_size(const clt_problem *problem, size_t index) {
  return (clt_size){problem->sizes[index].name, problem->sizes[index].default_value};
}

void clt_problem_drop_reference(clt_problem *problem) {
  problem->reference.kind = CLT_REFERENCE_NONE;
  problem->reference.quality.name = NULL;
}

bool clt_problem_has_reference(const clt_problem *problem) {
  return problem->command ? problem->command->check.n > 0 : problem->reference.kind != CLT_REFERENCE_DEFAULT;
}

int clt_problem_check_kernel(const clt_problem *problem, clt_error *error) {
  clt_define *defines = NULL;
  char *text = NULL;
  size_t n = 0;
  if (problem->command) return CLT_OK;
  if (problem->not_run.code) {
    if (error && error->code == 0) *error = problem->not_run;
    return problem->not_run.code;
  }
  if (problem->kernel_file == NULL) return CLT_OK; /* a generated kernel gets no macros */
  char *path = clt_kernel_path(problem, problem->kernel_file);
  int rc = path ? clt_file_read(&text, NULL, path, CLT_MAX_TEXT_BYTES, NULL) : CLT_E_MEMORY;
  free(path);
  if (rc) return rc == CLT_E_MEMORY ? clt_fail_memory(error) : CLT_OK;
  rc = clt_defines(&defines, &n, text, error);
  for (size_t i = 0; rc == CLT_OK && i < n; i++) {
    const clt_define *define = &defines[i];
    const char *name = define->name, *kind = NULL;
    for (size_t k = 0; k < problem->n_passed; k++)
      if (strcmp(problem->sizes[k].name, name) == 0 && !problem->sizes[k].no_macro) kind = "problem parameter";
    if (clt_problem_parameter_index(problem, name) >= 0) kind = "tuning parameter";
    if (kind && !define->conditional && !define->guarded)
      rc = clt_fail(error, CLT_E_FORMAT,
                    "%s:%d: '#define %s%s%s' overrides the %s '%s'; put '#ifndef %s' before it and '#endif' after it",
                    problem->kernel_file, define->line, name, define->value[0] && !define->has_arguments ? " " : "",
                    define->value, kind, name, name);
  }
  free(defines);
  free(text);
  return rc;
}

bool clt_figure_is_time(const clt_figure *figure) {
  return strcmp(figure->unit, "s") == 0 && !figure->larger_is_better;
}

/* --- inside --- */

bool clt_arg_is_image(clt_arg_kind kind) {
  return kind == CLT_ARG_IMAGE2D || kind == CLT_ARG_IMAGE3D || kind == CLT_ARG_IMAGE1D_BUFFER;
}

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

clt_entries clt_problem_entries(const clt_problem *problem, const char *name) {
  clt_entries entries = {0};
  for (size_t i = 0; i < problem->n_arguments; i++) {
    const clt_argument *argument = &problem->arguments[i];
    if (strcmp(argument->name, name) != 0) continue;
    if (entries.n++ == 0) entries.first = argument;
    if (entries.fill == NULL && argument->fill.kind != CLT_FILL_NONE) entries.fill = &argument->fill;
    entries.verified = entries.verified || argument->output;
  }
  return entries;
}

bool clt_holds_data(const clt_argument *argument) {
  return argument->plan.kind != CLT_ARG_SCALAR && argument->plan.kind != CLT_ARG_SAMPLER &&
         argument->plan.kind != CLT_ARG_LOCAL;
}
