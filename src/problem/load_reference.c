/* Where the right results come from. */
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/memory.h"
#include "problem/parts.h"

/* Without a "Module" of its own, the function is in the reference's. */
static int load_quality(clt_problem *problem, const clt_node *reference, clt_error *error) {
  static const char *const known[] = {"Module", "Function", "Name", "Unit"};
  const clt_source *source = &problem->source;
  clt_quality *quality = &problem->reference.quality;
  clt_node node = clt_node_member(reference, "Quality");
  char *module = NULL;
  if (node.json == NULL) return CLT_OK;
  int rc = clt_node_object(source, &node, error);
  if (rc == CLT_OK) rc = clt_node_known(source, &node, known, 4, true, error);
  if (rc == CLT_OK) rc = clt_node_text(&quality->function, source, &node, "Function", true, error);
  if (rc == CLT_OK) rc = clt_node_text(&quality->name, source, &node, "Name", true, error);
  if (rc == CLT_OK) rc = clt_node_text(&quality->unit, source, &node, "Unit", false, error);
  if (rc == CLT_OK) rc = clt_node_text(&module, source, &node, "Module", !problem->reference.module, error);
  if (rc) return rc;
  if (module == NULL && problem->reference.module == NULL) return clt_fail_memory(error); /* never: it is required then */
  quality->module = module ? clt_problem_file(problem, module) : strdup(problem->reference.module);
  free(module);
  return quality->module ? CLT_OK : clt_fail_memory(error);
}

static int load_module(clt_problem *problem, const clt_node *node, clt_error *error) {
  static const char *const known[] = {"Module", "Function", "Quality"};
  clt_reference *reference = &problem->reference;
  char *name = NULL;
  int rc = clt_node_known(&problem->source, node, known, 3, true, error);
  if (rc == CLT_OK) rc = clt_node_text(&reference->function, &problem->source, node, "Function", true, error);
  if (rc == CLT_OK) rc = clt_node_text(&name, &problem->source, node, "Module", true, error);
  if (rc) return rc;
  reference->kind = CLT_REFERENCE_MODULE;
  reference->module = clt_problem_file(problem, name);
  free(name);
  return reference->module ? CLT_OK : clt_fail_memory(error);
}

static int load_kernel(clt_problem *problem, const clt_node *node, clt_error *error) {
  static const char *const known[] = {"KernelFile", "KernelName", "GlobalSize",      "GlobalSizeType",
                                      "LocalSize",  "Arguments",  "CompilerOptions", "Quality"};
  static const clt_extent nothing = {0, {CLT_NO_EXPRESSION, CLT_NO_EXPRESSION, CLT_NO_EXPRESSION}};
  clt_reference *reference = &problem->reference;
  clt_node options = clt_node_member(node, "CompilerOptions");
  const clt_launch standard = {.global = nothing,
                               .local = nothing,
                               .divisor = nothing,
                               .all_args = true,
                               .repeat = CLT_NO_EXPRESSION,
                               .when = CLT_NO_EXPRESSION};
  reference->kind = CLT_REFERENCE_KERNEL;
  reference->kernel_file = strdup(problem->kernel_file);
  if (reference->kernel_file == NULL) return clt_fail_memory(error);
  int rc = clt_node_known(&problem->source, node, known, 8, true, error);
  if (rc == CLT_OK) rc = clt_node_text(&reference->kernel_file, &problem->source, node, "KernelFile", false, error);
  if (rc == CLT_OK) rc = clt_load_options(problem, &reference->options, &reference->n_options, &options, error);
  if (rc == CLT_OK) rc = clt_load_launch(problem, &reference->launch, &standard, node, error);
  return rc;
}

static int set_tolerance(clt_problem *problem, const char *target, const clt_node *node, clt_error *error) {
  static const char *const methods[] = {"AbsoluteDifference", "SideBySideComparison", "RelativeDifference",
                                        "SideBySideRelativeComparison"};
  int method = 0;
  double threshold = -1;
  int rc = clt_node_choice(&method, &problem->source, node, "ValidationMethod", methods, 4, error);
  if (rc == CLT_OK) rc = clt_node_number(&threshold, &problem->source, node, "ValidationThreshold", error);
  if (rc || threshold < 0) return rc;
  for (size_t i = 0; i < problem->n_arguments; i++) {
    clt_argument *argument = &problem->arguments[i];
    if (strcmp(argument->name, target) != 0) continue;
    if (method < 2) argument->absolute_tolerance = threshold, argument->relative_tolerance = 0;
    if (method < 2) continue;
    argument->relative_tolerance = threshold;
    if (!argument->absolute_is_stated) argument->absolute_tolerance = 0;
  }
  return CLT_OK;
}

static int load_array(clt_problem *problem, const clt_node *node, clt_error *error) {
  static const char *const known[] = {"Name",       "TargetName", "FillType",         "FillValue",
                                      "DataSource", "RandomSeed", "ValidationMethod", "ValidationThreshold",
                                      "Generator",  "Module"};
  clt_reference *reference = &problem->reference;
  clt_reference_array *array = &reference->arrays[reference->n_arrays++];
  clt_node place = clt_node_member(node, "TargetName");
  array->fill.value = CLT_NO_EXPRESSION;
  int rc = clt_node_object(&problem->source, node, error);
  if (rc == CLT_OK) rc = clt_node_known(&problem->source, node, known, 10, false, error);
  if (rc == CLT_OK) rc = clt_node_text(&array->target, &problem->source, node, "TargetName", true, error);
  if (rc) return rc;
  const clt_argument *target = clt_problem_argument(problem, array->target);
  if (target == NULL || target->kind == CLT_ARG_SCALAR || target->kind == CLT_ARG_LOCAL)
    return clt_node_fail(&problem->source, &place, error, "there is no vector or image \"%s\" in \"Arguments\"",
                         array->target);
  rc = clt_load_fill(problem, &array->fill, node, error);
  clt_fill_kind kind = array->fill.kind;
  if (rc == CLT_OK && (kind == CLT_FILL_NONE || kind == CLT_FILL_RANDOM))
    rc =
        clt_node_fail(&problem->source, node, error, "needs a \"FillType\" that gives the right result: \"BinaryRaw\"");
  return rc ? rc : set_tolerance(problem, array->target, node, error);
}

/* Only the arguments that have a reference are verified. */
static void restrict_outputs(clt_problem *problem) {
  for (size_t i = 0; i < problem->n_arguments; i++) {
    bool found = false;
    for (size_t k = 0; k < problem->reference.n_arrays; k++)
      found = found || strcmp(problem->arguments[i].name, problem->reference.arrays[k].target) == 0;
    problem->arguments[i].output = found;
  }
}

static int load_arrays(clt_problem *problem, const clt_node *list, clt_error *error) {
  size_t n = json_array_size(list->json);
  int rc = clt_node_list(&problem->source, list, error);
  if (rc || n == 0) return rc;
  problem->reference.kind = CLT_REFERENCE_FILE;
  problem->reference.arrays = clt_new_array(n, sizeof *problem->reference.arrays);
  if (problem->reference.arrays == NULL) return clt_fail_memory(error);
  for (size_t i = 0; rc == CLT_OK && i < n; i++) {
    clt_node node = clt_node_item(list, i);
    rc = load_array(problem, &node, error);
  }
  if (rc == CLT_OK) restrict_outputs(problem);
  return rc;
}

static bool has_outputs(const clt_problem *problem) {
  for (size_t i = 0; i < problem->n_arguments; i++)
    if (problem->arguments[i].output) return true;
  return false;
}

int clt_load_reference(clt_problem *problem, const clt_node *root, const clt_node *kernel, clt_error *error) {
  clt_node reference = clt_node_member(root, "Reference"), list = clt_node_member(root, "ReferenceArguments");
  int rc = CLT_OK;
  if (list.json == NULL) list = clt_node_member(kernel, "ReferenceArguments");
  problem->reference.kind = CLT_REFERENCE_DEFAULT;
  if (reference.json && list.json && json_array_size(list.json) > 0)
    return clt_node_fail(&problem->source, &reference, error,
                         "there is a \"ReferenceArguments\" as well; keep one of them");
  if (reference.json) {
    rc = clt_node_object(&problem->source, &reference, error);
    bool module =
        json_object_get(reference.json, "KernelName") == NULL && json_object_get(reference.json, "KernelFile") == NULL;
    if (rc == CLT_OK) rc = module ? load_module(problem, &reference, error) : load_kernel(problem, &reference, error);
    if (rc == CLT_OK) rc = load_quality(problem, &reference, error);
  } else if (list.json) {
    rc = load_arrays(problem, &list, error);
  }
  if (rc || has_outputs(problem)) return rc;
  problem->reference.kind = CLT_REFERENCE_NONE;
  if (problem->reference.quality.name == NULL) return CLT_OK;
  return clt_node_fail(&problem->source, &reference, error, "has a \"Quality\", but no argument is verified");
}
