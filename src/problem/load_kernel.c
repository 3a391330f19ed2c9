/* KernelSpecification: the kernel, its options and resources. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/fail.h"
#include "base/memory.h"
#include "problem/parts.h"

static const char *const known_keys[] = {
    "Language", "KernelFile", "KernelName", "CompilerOptions", "IncludePaths", "OpenCLStandard", "GlobalSize",
    "LocalSize", "GlobalSizeType", "ProblemSize", "GridDivX", "GridDivY", "GridDivZ", "Arguments", "Launches",
    "Resources", "Desirability", "ReferenceArguments",
    /* T1's, of no meaning here: */
    "BenchmarkName", "Device", "Profiling", "SharedMemory", "SimulationInput", "KernelTypeNames", "Stream", "Misc"};

static int check_language(const clt_problem *problem, const clt_node *kernel, clt_error *error) {
  clt_node language = clt_node_member(kernel, "Language");
  const char *name = json_string_value(language.json);
  if (language.json == NULL || (name && strcasecmp(name, "OpenCL") == 0)) return CLT_OK;
  if (name == NULL) return clt_node_fail(&problem->source, &language, error, "needs a string");
  return clt_key_fail(&problem->source, language.key, CLT_E_UNSUPPORTED, error,
                      "\"%s\" is not supported: the kernel must be written in \"OpenCL\"", name);
}

int clt_load_problem_size(clt_problem *problem, const clt_node *kernel, clt_error *error) {
  clt_node size = clt_node_member(kernel, "ProblemSize");
  clt_extent extent = {0};
  int rc = clt_add_extent(problem, &extent, &size, error);
  if (rc == CLT_OK) problem->problem_size = extent;
  return rc;
}

static int load_resources(clt_problem *problem, const clt_node *kernel, clt_error *error) {
  clt_node object = clt_node_member(kernel, "Resources");
  const char *name;
  json_t *value;
  if (object.json == NULL) return CLT_OK;
  int rc = clt_node_object(&problem->source, &object, error);
  if (rc) return rc;
  problem->resources = clt_new_array(json_object_size(object.json), sizeof *problem->resources);
  if (problem->resources == NULL) return clt_fail_memory(error);
  json_object_foreach((json_t *)object.json, name, value) {
    clt_resource *resource = &problem->resources[problem->n_resources];
    clt_node node = clt_node_member(&object, name);
    if (node.json == NULL || !isalpha((unsigned char)name[0])) continue; /* absent, and a comment */
    if ((resource->name = strdup(name)) == NULL) return clt_fail_memory(error);
    problem->n_resources++;
    if ((rc = clt_add_expression(problem, &resource->value, &node, error)) != CLT_OK) return rc;
  }
  return CLT_OK;
}

static int load_desirability(clt_problem *problem, const clt_node *kernel, clt_error *error) {
  clt_node node = clt_node_member(kernel, "Desirability");
  return clt_add_expression(problem, &problem->desirability, &node, error);
}

int clt_load_hints(clt_problem *problem, const clt_node *section, clt_error *error) {
  int rc = load_resources(problem, section, error);
  return rc ? rc : load_desirability(problem, section, error);
}

int clt_load_kernel(clt_problem *problem, const clt_node *root, clt_error *error) {
  const clt_source *source = &problem->source;
  clt_node kernel = clt_node_member(root, "KernelSpecification");
  clt_node options = clt_node_member(&kernel, "CompilerOptions");
  if (kernel.json == NULL)
    return clt_node_fail(source, root, error, "needs a \"KernelSpecification\", or a \"Command\"");
  int rc = clt_node_object(source, &kernel, error);
  if (rc == CLT_OK)
    rc = clt_node_known(source, &kernel, known_keys, sizeof known_keys / sizeof *known_keys, false, error);
  if (rc == CLT_OK) rc = check_language(problem, &kernel, error);
  if (rc == CLT_OK) rc = clt_node_text(&problem->kernel_file, source, &kernel, "KernelFile", true, error);
  if (rc == CLT_OK) rc = clt_node_text(&problem->kernel_name, source, &kernel, "KernelName", false, error);
  if (rc == CLT_OK) rc = clt_node_text(&problem->opencl_standard, source, &kernel, "OpenCLStandard", false, error);
  if (rc == CLT_OK) rc = clt_load_options(problem, &problem->options, &problem->n_options, &options, error);
  if (rc == CLT_OK) rc = clt_load_paths(problem, &kernel, error);
  if (rc == CLT_OK) rc = clt_load_arguments(problem, &kernel, error);
  if (rc == CLT_OK) rc = clt_load_launches(problem, &kernel, error);
  if (rc == CLT_OK) rc = clt_load_hints(problem, &kernel, error);
  return rc;
}
