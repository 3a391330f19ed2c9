#include <stdlib.h>

#include "problem/command.h"

void clt_fill_release(clt_fill *fill) {
  free(fill->file);
  free(fill->module);
  free(fill->function);
}

void clt_launch_release(clt_launch *launch) {
  for (size_t i = 0; i < launch->n_args; i++) free(launch->args[i]);
  free(launch->args);
  free(launch->kernel);
  free(launch->key);
}

void clt_options_free(clt_compiler_option *options, size_t n) {
  for (size_t i = 0; options && i < n; i++) {
    free(options[i].text);
    free(options[i].holes);
  }
  free(options);
}

static void free_space(clt_problem *problem) {
  for (size_t i = 0; i < problem->n_sizes; i++) free(problem->sizes[i].name);
  free(problem->sizes);
  for (size_t i = 0; i < problem->n_parameters; i++) {
    clt_tuning_parameter *parameter = &problem->parameters[i];
    free(parameter->name);
    free(parameter->type);
    free(parameter->values);
    free(parameter->key);
  }
  free(problem->parameters);
  free(problem->conditions);
  for (size_t i = 0; i < problem->n_aliases; i++) {
    free(problem->aliases[i].parameter);
    free(problem->aliases[i].key);
  }
  free(problem->aliases);
}

static void free_kernel(clt_problem *problem) {
  free(problem->kernel_name);
  free(problem->kernel_file);
  free(problem->opencl_standard);
  clt_options_free(problem->options, problem->n_options);
  for (size_t i = 0; i < problem->n_include_paths; i++) free(problem->include_paths[i]);
  free(problem->include_paths);
  for (size_t i = 0; i < problem->n_launches; i++) clt_launch_release(&problem->launches[i]);
  free(problem->launches);
  for (size_t i = 0; i < problem->n_resources; i++) free(problem->resources[i].name);
  free(problem->resources);
  for (size_t i = 0; i < problem->n_arguments; i++) {
    free(problem->arguments[i].name);
    free(problem->arguments[i].key);
    clt_fill_release(&problem->arguments[i].fill);
  }
  free(problem->arguments);
}

static void free_quality(clt_quality *quality) {
  free(quality->module);
  free(quality->function);
  free(quality->name);
  free(quality->unit);
}

static void free_reference(clt_reference *reference) {
  free_quality(&reference->quality);
  free(reference->module);
  free(reference->function);
  free(reference->kernel_file);
  clt_launch_release(&reference->launch);
  clt_options_free(reference->options, reference->n_options);
  for (size_t i = 0; i < reference->n_arrays; i++) {
    free(reference->arrays[i].target);
    clt_fill_release(&reference->arrays[i].fill);
  }
  free(reference->arrays);
}

void clt_problem_free(clt_problem *problem) {
  if (problem == NULL) return;
  free_space(problem);
  free_kernel(problem);
  free_reference(&problem->reference);
  clt_command_free(problem->command);
  clt_strategy_release(&problem->strategy);
  clt_independence_release(&problem->groups);
  clt_metrics_release(problem);
  for (size_t i = 0; i < problem->n_expressions; i++) {
    free(problem->expressions[i].text);
    free(problem->expressions[i].key);
  }
  free(problem->expressions);
  json_decref(problem->root);
  free(problem->name);
  free(problem->folder);
  free(problem->source.path);
  free(problem->source.text);
  for (size_t i = 0; i < problem->source.n_lines; i++) free(problem->source.lines[i].key);
  free(problem->source.lines);
  free(problem);
}
