/* Describes the kernels of a program and their arguments as plain data. */
#include "base/base.h"
#include "base/text.h"
#include "opencl/internal.h"

#define MANGLED "_cl_" /* PoCL's, before names that built-in functions have, too, such as length */
#define SAID_BYTES 800 /* of the compiler's log: an error message cannot hold more */

/* *status is the status of the build; an error means that the program could not be made. */
static int build_text(cl_program *out, cl_int *status, const clt_executor *executor, const char *text,
                      const char *options, clt_error *error) {
  *out = clCreateProgramWithSource(executor->context, 1, &text, NULL, status);
  if (*out == NULL) return clt_fail_cl(error, *status, "create a program");
  *status = clBuildProgram(*out, 1, &executor->device, options, NULL, NULL);
  return CLT_OK;
}

bool clt_cl_argument(clt_kernel_argument *out, cl_kernel kernel, cl_uint i) {
  cl_kernel_arg_address_qualifier address = CL_KERNEL_ARG_ADDRESS_PRIVATE;
  cl_kernel_arg_access_qualifier access = CL_KERNEL_ARG_ACCESS_NONE;
  cl_kernel_arg_type_qualifier qualifiers = 0;
  if (clGetKernelArgInfo(kernel, i, CL_KERNEL_ARG_NAME, sizeof out->name, out->name, NULL) != CL_SUCCESS ||
      clGetKernelArgInfo(kernel, i, CL_KERNEL_ARG_TYPE_NAME, sizeof out->type, out->type, NULL) != CL_SUCCESS)
    return false;
  const size_t n_mangled = strlen(MANGLED);
  if (clt_starts_with(out->name, MANGLED)) memmove(out->name, out->name + n_mangled, strlen(out->name + n_mangled) + 1);
  const size_t n_unsigned = strlen("unsigned ");
  if (clt_starts_with(out->type, "unsigned ")) /* OpenCL's name: uint */
    memmove(out->type + 1, out->type + n_unsigned, strlen(out->type + n_unsigned) + 1);
  clGetKernelArgInfo(kernel, i, CL_KERNEL_ARG_ADDRESS_QUALIFIER, sizeof address, &address, NULL);
  clGetKernelArgInfo(kernel, i, CL_KERNEL_ARG_ACCESS_QUALIFIER, sizeof access, &access, NULL);
  clGetKernelArgInfo(kernel, i, CL_KERNEL_ARG_TYPE_QUALIFIER, sizeof qualifiers, &qualifiers, NULL);
  out->address = CLT_ADDRESS_PRIVATE;
  if (address == CL_KERNEL_ARG_ADDRESS_GLOBAL) out->address = CLT_ADDRESS_GLOBAL;
  if (address == CL_KERNEL_ARG_ADDRESS_CONSTANT) out->address = CLT_ADDRESS_CONSTANT;
  if (address == CL_KERNEL_ARG_ADDRESS_LOCAL) out->address = CLT_ADDRESS_LOCAL;
  out->is_const = (qualifiers & CL_KERNEL_ARG_TYPE_CONST) != 0 || out->address == CLT_ADDRESS_CONSTANT;
  out->reads_image = access == CL_KERNEL_ARG_ACCESS_READ_ONLY || access == CL_KERNEL_ARG_ACCESS_READ_WRITE;
  out->writes_image = access == CL_KERNEL_ARG_ACCESS_WRITE_ONLY || access == CL_KERNEL_ARG_ACCESS_READ_WRITE;
  return true;
}

static int read_kernel(clt_kernel_info *out, cl_kernel kernel, cl_device_id device, clt_error *error) {
  cl_uint n = 0;
  size_t local[3] = {0};
  cl_int status = clGetKernelInfo(kernel, CL_KERNEL_FUNCTION_NAME, sizeof out->name, out->name, NULL);
  if (!status) status = clGetKernelInfo(kernel, CL_KERNEL_NUM_ARGS, sizeof n, &n, NULL);
  if (status) return clt_fail_cl(error, status, "ask a kernel for its name and arguments");
  if (n > CLT_MAX_KERNEL_ARGUMENTS)
    return clt_fail(error, CLT_E_RANGE, "kernel '%s' has %u arguments; at most %d are supported", out->name, n,
                    CLT_MAX_KERNEL_ARGUMENTS);
  clGetKernelWorkGroupInfo(kernel, device, CL_KERNEL_COMPILE_WORK_GROUP_SIZE, sizeof local, local, NULL);
  for (int d = 0; d < 3; d++) out->local_size[d] = local[d];
  for (cl_uint i = 0; i < n; i++) {
    clt_kernel_argument *argument = &out->arguments[out->n_arguments++];
    if (!clt_cl_argument(argument, kernel, i))
      return clt_fail(error, CLT_E_UNSUPPORTED,
                      "the driver does not describe the arguments of kernel '%s'; try another device", out->name);
    if (argument->name[0] == '\0') snprintf(argument->name, sizeof argument->name, "argument_%u", (unsigned)i + 1);
  }
  return CLT_OK;
}

int clt_opencl_inspect(clt_kernel_info **out, size_t *n_out, clt_executor *executor, const char *text,
                       const char *options, clt_error *error) {
  cl_program program = NULL;
  cl_kernel *kernels = NULL;
  clt_kernel_info *infos = NULL;
  clt_kernel_argument **arguments = NULL;
  size_t n_arguments = 0;
  cl_uint n = 0;
  cl_int status = CL_SUCCESS;
  int rc = clt_program_build_described(&program, &status, executor, text, options, error);
  if (rc) goto done;
  if (status) {
    char *log = clt_program_log(program, executor->device);
    char *explained = log ? clt_explain_build(executor, NULL, text, log) : NULL;
    rc = clt_fail(error, CLT_E_OPENCL, "the kernel does not build (%s): %.*s", clt_cl_status_name(status), SAID_BYTES,
                  explained ? explained : "");
    free(explained);
    free(log);
    goto done;
  }
  status = clCreateKernelsInProgram(program, 0, NULL, &n);
  kernels = clt_new_array(n, sizeof *kernels);
  infos = clt_new_array(n, sizeof *infos);
  if (kernels == NULL || infos == NULL) rc = clt_fail_memory(error);
  if (rc == CLT_OK && status == CL_SUCCESS && n) status = clCreateKernelsInProgram(program, n, kernels, NULL);
  if (rc == CLT_OK && status) rc = clt_fail_cl(error, status, "create the kernels");
  for (cl_uint i = 0; rc == CLT_OK && i < n; i++) rc = read_kernel(&infos[i], kernels[i], executor->device, error);
  arguments = clt_new_array(n, CLT_MAX_KERNEL_ARGUMENTS * sizeof *arguments);
  if (rc == CLT_OK && arguments == NULL) rc = clt_fail_memory(error);
  for (cl_uint i = 0; rc == CLT_OK && i < n; i++)
    for (size_t k = 0; k < infos[i].n_arguments; k++) arguments[n_arguments++] = &infos[i].arguments[k];
  if (rc == CLT_OK) clt_types_resolve(arguments, n_arguments, executor, text, options);
done:
  for (cl_uint i = 0; kernels && i < n; i++)
    if (kernels[i]) clReleaseKernel(kernels[i]);
  if (program) clReleaseProgram(program);
  free(arguments);
  free(kernels);
  if (rc) {
    free(infos);
    return rc;
  }
  *out = infos;
  *n_out = n;
  return CLT_OK;
}

/* --- a kernel's own types: the type behind a typedef, and the size of a struct --- */

#define NAME_CHARACTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_ "

bool clt_type_is_own(char out[128], const char *type) {
  static const char *const others[] = {"size_t", "sampler_t", "void", "bool", "event_t"};
  clt_element element;
  size_t n = strcspn(type, "*");
  while (n && type[n - 1] == ' ') n--;
  snprintf(out, 128, "%.*s", (int)n, type);
  for (size_t i = 0; i < sizeof others / sizeof *others; i++)
    if (strcmp(out, others[i]) == 0) return false;
  return n > 0 && n < 127 && out[strspn(out, NAME_CHARACTERS)] == '\0' && !clt_starts_with(out, "image") &&
         clt_element_parse(&element, out) != CLT_OK;
}

/* A driver reports the type of an argument as it is written. So a probe, a kernel without arguments, is built for
 * each type. Its required work-group size encodes the index of the type in a list, or, if the type is not in the
 * list, its size in bytes. */
void clt_types_resolve(clt_kernel_argument *const *arguments, size_t n, const clt_executor *executor, const char *text,
                       const char *options) {
  static const char *const bases[] = {"char", "uchar", "short", "ushort", "int",
                                      "uint", "long",  "ulong", "float",  "double"};
  static const char *const lengths[] = {"", "2", "3", "4", "8", "16"};
  enum { N_LENGTHS = sizeof lengths / sizeof *lengths, N_TYPES = N_LENGTHS * sizeof bases / sizeof *bases };
  cl_program program = NULL;
  cl_int status = CL_INVALID_PROGRAM;
  clt_text all = {0};
  char type[128];
  clt_text_printf(&all,
                  "%s\n#ifdef cl_khr_fp64\n#define clatune_double(T, type) __builtin_types_compatible_p(T, type)\n"
                  "#else\n#define clatune_double(T, type) 0\n#endif\n#define clatune_type(T) (1",
                  text);
  for (int i = 0; i < N_TYPES; i++)
    clt_text_printf(&all, " + %d * %s(T, %s%s)", i + 1,
                    i / N_LENGTHS == 9 ? "clatune_double" : "__builtin_types_compatible_p", bases[i / N_LENGTHS],
                    lengths[i % N_LENGTHS]);
  clt_text_add(&all, ")\n#define clatune_bytes(T) (clatune_type(T) == 1 && sizeof(T) < 256 ? sizeof(T) : 0)\n");
  const size_t n_before = all.n;
  for (size_t i = 0; i < n; i++)
    if (clt_type_is_own(type, arguments[i]->type))
      clt_text_printf(&all,
                      "__kernel __attribute__((reqd_work_group_size(clatune_type(%s), clatune_bytes(%s) %% 16 + 1, "
                      "clatune_bytes(%s) / 16 + 1))) void clatune_%zu(void) {}\n",
                      type, type, type, i);
  if (all.rc == CLT_OK && all.n > n_before) build_text(&program, &status, executor, all.bytes, options, NULL);
  for (size_t i = 0; status == CL_SUCCESS && i < n; i++) {
    char name[32];
    size_t local[3] = {0};
    snprintf(name, sizeof name, "clatune_%zu", i);
    cl_kernel probe = clt_type_is_own(type, arguments[i]->type) ? clCreateKernel(program, name, NULL) : NULL;
    if (probe == NULL) continue;
    clGetKernelWorkGroupInfo(probe, executor->device, CL_KERNEL_COMPILE_WORK_GROUP_SIZE, sizeof local, local, NULL);
    clReleaseKernel(probe);
    const size_t number = local[0] - 2;
    if (local[0] == 1 && local[1] > 0 && local[2] > 0) arguments[i]->bytes = (local[2] - 1) * 16 + local[1] - 1;
    if (number < N_TYPES)
      snprintf(arguments[i]->type, sizeof arguments[i]->type, "%s%s%s", bases[number / N_LENGTHS],
               lengths[number % N_LENGTHS], strchr(arguments[i]->type, '*') ? "*" : "");
  }
  if (program) clReleaseProgram(program);
  clt_text_release(&all);
}

/* --- programs from a text: building them, with or without a description of their arguments --- */

#define MAX_LOG_BYTES ((size_t)64 << 20)

char *clt_program_log(cl_program program, cl_device_id device) {
  size_t n = 0;
  if (clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, 0, NULL, &n) != CL_SUCCESS) return NULL;
  if (n <= 1 || n > MAX_LOG_BYTES) return NULL;
  char *log = clt_new_array(n + 1, 1);
  if (log && clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, n, log, NULL) == CL_SUCCESS) return log;
  free(log);
  return NULL;
}

int clt_program_build_described(cl_program *out, cl_int *status, clt_executor *executor, const char *text,
                                const char *options, clt_error *error) {
  char *all = clt_format("%s%s", options, executor->undescribed ? "" : " -cl-kernel-arg-info");
  int rc = all ? build_text(out, status, executor, text, all, error) : clt_fail_memory(error);
  free(all);
  if (rc || *status == CL_SUCCESS || executor->undescribed || !clt_cl_is_nvidia(&executor->info)) return rc;
  char *log = clt_program_log(*out, executor->device);
  executor->undescribed = log && strstr(log, "ptxas") && strstr(log, "Parsing error");
  free(log);
  if (!executor->undescribed) return CLT_OK;
  clReleaseProgram(*out);
  return build_text(out, status, executor, text, options, error);
}

cl_kernel clt_own_kernel(const clt_executor *executor, const char *text, const char *name, cl_int *status) {
  cl_program program = NULL;
  if (build_text(&program, status, executor, text, NULL, NULL)) return NULL;
  cl_kernel kernel = *status == CL_SUCCESS ? clCreateKernel(program, name, status) : NULL;
  clReleaseProgram(program);
  return kernel;
}
