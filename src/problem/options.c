/* Build options of a configuration. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "problem/parts.h"

static void define(FILE *out, const char *name, clt_value value) {
  char text[64];
  if (value.type == CLT_STRING) {
    fprintf(out, "-D%s=%s ", name, value.text);
  } else {
    clt_value_print(value, text, sizeof text);
    fprintf(out, "-D%s=%s ", name, text);
  }
}

static void define_parameters(const clt_instance *instance, const clt_value *slots, FILE *out) {
  const clt_problem *problem = instance->problem;
  for (size_t i = 0; i < problem->n_parameters; i++) define(out, problem->parameters[i].name, slots[i]);
  for (size_t i = 0; i < clt_problem_n_sizes(problem); i++)
    define(out, problem->sizes[i].name, (clt_value){.type = CLT_INT, .integer = instance->sizes[i]});
}

static bool is_parameter(const clt_problem *problem, const char *name) {
  for (size_t i = 0; i < problem->n_parameters; i++)
    if (strcmp(problem->parameters[i].name, name) == 0) return true;
  return false;
}

/* Macros that Kernel Tuner's kernels count on: the grid in work-groups, and the block where it is no parameter. */
static int define_grid(const clt_instance *instance, const clt_value *slots, FILE *out, clt_error *error) {
  static const char *const names[2][3] = {{"grid_size_x", "grid_size_y", "grid_size_z"},
                                          {"block_size_x", "block_size_y", "block_size_z"}};
  const clt_problem *problem = instance->problem;
  clt_plan_launch sizes;
  if (problem->problem_size.n == 0) return CLT_OK;
  int rc = clt_launch_sizes(instance, &problem->launches[0], slots, &sizes, error);
  for (size_t d = 0; rc == CLT_OK && d < 3; d++) {
    size_t local = sizes.local[d] ? sizes.local[d] : 1;
    if (!is_parameter(problem, names[0][d])) fprintf(out, "-D%s=%zu ", names[0][d], sizes.global[d] / local);
    if (!is_parameter(problem, names[1][d])) fprintf(out, "-D%s=%zu ", names[1][d], local);
  }
  if (rc == CLT_OK && !is_parameter(problem, "kernel_tuner")) fputs("-Dkernel_tuner=1 ", out);
  return rc;
}

int clt_option_expand(const clt_instance *instance, const clt_value *slots, const clt_compiler_option *option,
                      FILE *out, clt_error *error) {
  char text[64];
  size_t hole = 0;
  for (const char *at = option->text; *at; at++) {
    if (*at != '{' || at[1] == '{') {
      fputc(*at, out);
      at += (*at == '{');
      continue;
    }
    clt_value value;
    int rc = clt_evaluate(instance, option->holes[hole++], slots, &value, error);
    if (rc) return rc;
    if (value.type == CLT_STRING) {
      fputs(value.text, out);
    } else {
      clt_value_print(value, text, sizeof text);
      fputs(text, out);
    }
    at = strchr(at, '}');
  }
  return CLT_OK;
}

/* T1 files carry options of the CUDA compiler along, which no OpenCL compiler takes. */
static bool is_foreign(const char *option) {
  return option[0] == 0 || strncmp(option, "-std=c++", 8) == 0 || strncmp(option, "-std=gnu++", 10) == 0;
}

static int write_list(const clt_instance *instance, const clt_value *slots, const clt_compiler_option *list, size_t n,
                      FILE *out, clt_error *error) {
  for (size_t i = 0; i < n; i++) {
    bool applies = false;
    int rc = clt_evaluate_when(instance, list[i].when, slots, &applies, error);
    if (rc == CLT_OK && (!applies || is_foreign(list[i].text))) continue;
    if (rc == CLT_OK) rc = clt_option_expand(instance, slots, &list[i], out, error);
    if (rc == CLT_OK) fputc(' ', out);
    if (rc) return rc;
  }
  return CLT_OK;
}

static void write_paths(const clt_problem *problem, FILE *out) {
  for (size_t i = 0; i < problem->n_include_paths; i++) {
    const char *quote = strchr(problem->include_paths[i], ' ') ? "\"" : "";
    fprintf(out, "-I%s%s%s ", quote, problem->include_paths[i], quote);
  }
  if (problem->opencl_standard) fprintf(out, "-cl-std=%s ", problem->opencl_standard);
}

int clt_options_text(const clt_instance *instance, const clt_value *slots, const clt_compiler_option *list, size_t n,
                     char **out, clt_error *error) {
  const clt_problem *problem = instance->problem;
  char *text = NULL;
  size_t bytes = 0;
  FILE *stream = open_memstream(&text, &bytes);
  if (stream == NULL) return clt_fail_memory(error);
  define_parameters(instance, slots, stream);
  int rc = define_grid(instance, slots, stream, error);
  if (rc == CLT_OK) rc = write_list(instance, slots, problem->options, problem->n_options, stream, error);
  if (rc == CLT_OK) rc = write_list(instance, slots, list, n, stream, error);
  if (rc == CLT_OK) write_paths(problem, stream);
  if (fclose(stream) != 0 && rc == CLT_OK) rc = clt_fail_memory(error);
  if (rc == CLT_OK && bytes > 0) text[bytes - 1] = 0; /* the last space */
  if (rc == CLT_OK) {
    *out = text;
  } else {
    free(text);
  }
  return rc;
}

int clt_instance_options(const clt_instance *instance, clt_config config, char **out, clt_error *error) {
  clt_value slots[CLT_MAX_PARAMETERS];
  clt_instance_slots(instance, config, slots);
  return clt_options_text(instance, slots, NULL, 0, out, error);
}
