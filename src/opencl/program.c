#include "opencl/program.h"

#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/memory.h"
#include "base/text.h"
#include "opencl/declarations.h"

#define MAX_LOG_READ_BYTES ((size_t)64 << 20)
#define MAX_NAMES_BYTES 4096
#define MAX_NAMES 128

/* The driver's log, NULL where there is none. Caller frees. */
static char *build_log(cl_program program, cl_device_id device) {
  size_t n = 0;
  if (clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, 0, NULL, &n) != CL_SUCCESS) return NULL;
  if (n <= 1 || n > MAX_LOG_READ_BYTES) return NULL;
  char *log = clt_new_array(n + 1, 1);
  if (log && clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, n, log, NULL) == CL_SUCCESS) return log;
  free(log);
  return NULL;
}

static int reject_build(const clt_program *built, const clt_executor *executor, cl_int status, clt_measurement *m) {
  if (clt_cl_out_of_memory(status)) return clt_reject_cl(m, CLT_REASON_OUT_OF_MEMORY, status, "building");
  char *log = build_log(built->program, executor->device);
  int rc = log ? clt_reject(m, CLT_REASON_COMPILE_ERROR, "%s", log)
               : clt_reject_cl(m, CLT_REASON_COMPILE_ERROR, status, "building");
  free(log);
  return rc;
}

/* The program's kernels as "'blur', 'copy'", and the one that is nearest to a mistyped name; names is cut in place. */
static int reject_kernel_name(const char *typed, char *names, clt_measurement *m) {
  const char *all[MAX_NAMES];
  size_t n = 0;
  char *rest, *listed = NULL;
  for (char *name = strtok_r(names, ";", &rest); name && n < MAX_NAMES; name = strtok_r(NULL, ";", &rest)) {
    char *longer = clt_format("%s%s'%s'", listed ? listed : "", listed ? ", " : "", name);
    free(listed);
    listed = longer;
    all[n++] = name;
  }
  const char *near = clt_nearest_name(typed, all, n);
  int rc = clt_reject(m, CLT_REASON_COMPILE_ERROR, "there is no kernel '%s'; the file has %s%s%s%s", typed,
                      listed ? listed : "none", near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
  free(listed);
  return rc;
}

static int reject_kernel(const clt_program *built, const char *name, cl_int status, clt_measurement *m) {
  char names[MAX_NAMES_BYTES] = "";
  if (clt_cl_out_of_memory(status)) return clt_reject_cl(m, CLT_REASON_OUT_OF_MEMORY, status, "making a kernel");
  if (status == CL_INVALID_KERNEL_NAME &&
      clGetProgramInfo(built->program, CL_PROGRAM_KERNEL_NAMES, sizeof names - 1, names, NULL) == CL_SUCCESS)
    return reject_kernel_name(name, names, m);
  return clt_reject(m, CLT_REASON_COMPILE_ERROR, "the program has no kernel '%s': %s", name,
                    clt_cl_status_name(status));
}

static int make_kernels(clt_program *built, const clt_plan *plan, clt_measurement *m, clt_error *error) {
  built->kernels = clt_new_array(plan->n_launches, sizeof *built->kernels);
  if (built->kernels == NULL) return clt_fail_memory(error);
  for (size_t i = 0; i < plan->n_launches; i++) {
    cl_int status;
    built->kernels[i] = clCreateKernel(built->program, plan->launches[i].kernel, &status);
    if (built->kernels[i] == NULL) return reject_kernel(built, plan->launches[i].kernel, status, m);
    built->n_kernels++;
  }
  return CLT_OK;
}

/* PoCL alone, and only once; a driver whose header is not as expected builds in its own way. */
static bool has_declarations(clt_executor *executor) {
  if (!executor->declarations_sought) {
    executor->declarations_sought = true;
    clt_declarations_of_pocl(&executor->declarations, executor->info.platform_version, NULL);
  }
  return executor->declarations != NULL;
}

static int build_source(cl_program *out, cl_int *status, const clt_executor *executor, const char *source,
                        const char *options, clt_error *error) {
  *out = clCreateProgramWithSource(executor->context, 1, &source, NULL, status);
  if (*out == NULL) return clt_fail_cl(error, *status, "make a program");
  *status = clBuildProgram(*out, 1, &executor->device, options, NULL, NULL);
  return CLT_OK;
}

/* The source under its own name, so that the compiler's messages say file and line; caller frees. */
static char *named_source(const clt_plan *plan) {
  const char *file = plan->source_file;
  if (file == NULL || strpbrk(file, "\"\\\n\r")) return strdup(plan->source);
  return clt_format("#line 1 \"%s\"\n%s", file, plan->source);
}

static int build_once(cl_program *out, cl_int *status, const clt_executor *executor, const clt_plan *plan,
                      const char *text, clt_error *error) {
  char *source = clt_declarations_prepend(executor->declarations, text, plan->options);
  char *options = clt_format("%s" CLT_DECLARATIONS_OPTION, plan->options ? plan->options : "");
  int rc = source && options ? build_source(out, status, executor, source, options, error) : clt_fail_memory(error);
  free(source);
  free(options);
  return rc;
}

/* With the declarations that the source needs; *out is NULL where that does not build. */
static int build_reduced(cl_program *out, const clt_executor *executor, const clt_plan *plan, const char *text,
                         clt_error *error) {
  for (;;) {
    cl_int status;
    int rc = build_once(out, &status, executor, plan, text, error);
    if (rc || status == CL_SUCCESS) return rc;
    char *log = build_log(*out, executor->device);
    size_t n_learnt = log ? clt_declarations_learn(executor->declarations, log) : 0;
    free(log);
    clReleaseProgram(*out);
    *out = NULL;
    if (n_learnt == 0) return CLT_OK;
  }
}

int clt_program_build(clt_program *out, clt_executor *executor, const clt_plan *plan, clt_measurement *m,
                      clt_error *error) {
  clt_program built = {0};
  cl_int status = CL_SUCCESS;
  char *text = named_source(plan);
  if (text == NULL) return clt_fail_memory(error);
  bool reduced = has_declarations(executor);
  int rc = reduced ? build_reduced(&built.program, executor, plan, text, error) : CLT_OK;
  if (rc == CLT_OK && built.program == NULL) {
    rc = build_source(&built.program, &status, executor, text, plan->options ? plan->options : "", error);
    if (rc == CLT_OK && status == CL_SUCCESS && reduced) clt_executor_drop_declarations(executor);
  }
  if (rc == CLT_OK)
    rc = status == CL_SUCCESS ? make_kernels(&built, plan, m, error) : reject_build(&built, executor, status, m);
  free(text);
  if (rc)
    clt_program_release(&built);
  else
    *out = built;
  return rc;
}

void clt_program_release(clt_program *program) {
  for (size_t i = 0; i < program->n_kernels; i++) clReleaseKernel(program->kernels[i]);
  free(program->kernels);
  if (program->program) clReleaseProgram(program->program);
  *program = (clt_program){0};
}
