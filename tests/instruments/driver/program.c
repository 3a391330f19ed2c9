/* Programs and kernels. A program's options say which configuration it is; its text is only looked at for the names of
 * kernels. */
#include <ctype.h>

#include "base/base.h"
#include "driver/objects.h"

cl_program clCreateProgramWithSource(cl_context context, cl_uint n, const char **texts, const size_t *lengths,
                                     cl_int *status) {
  cl_program program = sim_new(sizeof *program);
  size_t total = 0;
  for (cl_uint i = 0; i < n; i++) total += lengths && lengths[i] ? lengths[i] : strlen(texts[i]);
  if (program) program->source = calloc(total + 1, 1);
  if (program == NULL || program->source == NULL) {
    free(program);
    return sim_status(status, CL_OUT_OF_HOST_MEMORY), NULL;
  }
  char *at = program->source;
  for (cl_uint i = 0; i < n; i++) {
    size_t length = lengths && lengths[i] ? lengths[i] : strlen(texts[i]);
    memcpy(at, texts[i], length);
    at += length;
  }
  program->context = context;
  program->status = CL_BUILD_NONE;
  clRetainContext(context);
  sim_status(status, CL_SUCCESS);
  return program;
}

cl_int clRetainProgram(cl_program program) { return sim_retain(program), CL_SUCCESS; }

cl_int clReleaseProgram(cl_program program) {
  if (!sim_dropped(program)) return CL_SUCCESS;
  clReleaseContext(program->context);
  free(program->source);
  free(program->options);
  free(program->log);
  free(program);
  return CL_SUCCESS;
}

/* The options, and the parameters that Kernel Tuner defines in lines before the text instead; NULL: no memory. */
static char *all_options(const char *options, const char *source) {
  char *all = strdup(options ? options : ""), name[64], value[64];
  if (strstr(source, "#define kernel_tuner ") == NULL) return all;
  for (int n; all && sscanf(source, " #define %63s %63s%n", name, value, &n) == 2; source += n) {
    char *longer = clt_format("%s -D%s=%s", all, name, value);
    free(all);
    all = longer;
  }
  return all;
}

cl_int clBuildProgram(cl_program program, cl_uint n_devices, const cl_device_id *devices, const char *options,
                      void(CL_CALLBACK *notify)(cl_program, void *), void *user) {
  (void)n_devices, (void)devices;
  free(program->options);
  free(program->log);
  program->log = NULL;
  program->options = all_options(options, program->source);
  if (program->options == NULL) return CL_OUT_OF_HOST_MEMORY;
  const sim_device *device = &program->context->device->simulation;
  bool good = sim_build(device, program->options, &program->configuration, &program->log);
  if (good && device->undescribed_arguments && strstr(program->source, "(void)") && strstr(program->options, "-cl-kernel-arg-info")) {
    free(program->log);
    program->log = strdup("ptxas application ptx input, line 27; fatal   : Parsing error near '}': syntax error\n");
    good = false;
  }
  program->status = good ? CL_BUILD_SUCCESS : CL_BUILD_ERROR;
  if (notify) notify(program, user);
  return good ? CL_SUCCESS : CL_BUILD_PROGRAM_FAILURE;
}

cl_int clGetProgramInfo(cl_program program, cl_program_info what, size_t capacity, void *out, size_t *n_out) {
  switch (what) {
    case CL_PROGRAM_REFERENCE_COUNT: return SIM_ANSWER(cl_uint, (cl_uint)program->references);
    case CL_PROGRAM_CONTEXT: return SIM_ANSWER(cl_context, program->context);
    case CL_PROGRAM_NUM_DEVICES: return SIM_ANSWER(cl_uint, 1);
    case CL_PROGRAM_DEVICES: return SIM_ANSWER(cl_device_id, program->context->device);
    case CL_PROGRAM_SOURCE: return sim_answer_text(program->source, capacity, out, n_out);
    default: return CL_INVALID_VALUE;
  }
}

cl_int clGetProgramBuildInfo(cl_program program, cl_device_id device, cl_program_build_info what, size_t capacity,
                             void *out, size_t *n_out) {
  (void)device;
  switch (what) {
    case CL_PROGRAM_BUILD_STATUS: return SIM_ANSWER(cl_build_status, program->status);
    case CL_PROGRAM_BUILD_OPTIONS: return sim_answer_text(program->options ? program->options : "", capacity, out, n_out);
    case CL_PROGRAM_BUILD_LOG: return sim_answer_text(program->log ? program->log : "", capacity, out, n_out);
    default: return CL_INVALID_VALUE;
  }
}

/* --- kernels --- */

static bool in_word(char c) { return isalnum((unsigned char)c) || c == '_'; }

/* The parameters of what the text declares under this name: the text behind the word and a parenthesis, or NULL. */
static const char *parameters_of(const char *source, const char *name) {
  size_t n = strlen(name);
  for (const char *at = strstr(source, name); at; at = strstr(at + 1, name)) {
    if ((at > source && in_word(at[-1])) || in_word(at[n])) continue;
    const char *behind = at + n;
    while (isspace((unsigned char)*behind)) behind++;
    if (*behind == '(') return behind + 1;
  }
  return NULL;
}

/* Counted by their commas. */
static cl_uint n_parameters(const char *parameters) {
  size_t n_empty = strspn(parameters, " \t\n");
  if (parameters[n_empty] == ')' || strncmp(parameters + n_empty, "void)", 5) == 0) return 0;
  cl_uint n = 1;
  for (int depth = 0; *parameters && (depth > 0 || *parameters != ')'); parameters++) {
    if (*parameters == '(') depth++;
    if (*parameters == ')') depth--;
    if (*parameters == ',' && depth == 0) n++;
  }
  return n;
}

/* The lines that NVIDIA's compiler adds to the log of a build when asked. */
static void describe_use(cl_program program, const char *name) {
  const sim_configuration *c = &program->configuration;
  if (strstr(program->options, "-cl-nv-verbose") == NULL) return;
  char *log = clt_format("%sptxas info    : Compiling entry function '%s' for 'sm_90'\n"
                         "ptxas info    : Function properties for %s\n"
                         "    %d bytes stack frame, %d bytes spill stores, %d bytes spill loads\n"
                         "ptxas info    : Used %d registers, 368 bytes cmem[0]\n",
                         program->log ? program->log : "", name, name, c->spill_bytes, c->spill_bytes, c->spill_bytes,
                         c->registers);
  free(program->log);
  program->log = log;
}

cl_kernel clCreateKernel(cl_program program, const char *name, cl_int *status) {
  if (program->status != CL_BUILD_SUCCESS) return sim_status(status, CL_INVALID_PROGRAM_EXECUTABLE), NULL;
  if (parameters_of(program->source, name) == NULL) return sim_status(status, CL_INVALID_KERNEL_NAME), NULL;
  cl_kernel kernel = sim_new(sizeof *kernel);
  if (kernel) kernel->name = strdup(name);
  if (kernel == NULL || kernel->name == NULL) {
    free(kernel);
    return sim_status(status, CL_OUT_OF_HOST_MEMORY), NULL;
  }
  kernel->program = program;
  kernel->time_s = sim_kernel_s(&program->context->device->simulation, program->options, name);
  describe_use(program, name);
  clRetainProgram(program);
  sim_status(status, CL_SUCCESS);
  return kernel;
}

cl_int clRetainKernel(cl_kernel kernel) { return sim_retain(kernel), CL_SUCCESS; }

cl_int clReleaseKernel(cl_kernel kernel) {
  if (!sim_dropped(kernel)) return CL_SUCCESS;
  clReleaseProgram(kernel->program);
  free(kernel->name);
  free(kernel);
  return CL_SUCCESS;
}

cl_int clSetKernelArg(cl_kernel kernel, cl_uint index, size_t size, const void *value) {
  const void *address = NULL;
  if (index >= SIM_MOST_ARGUMENTS) return CL_INVALID_ARG_INDEX;
  if (value && size == sizeof address) memcpy(&address, value, sizeof address), memcpy(&kernel->number[index], value, size);
  kernel->memory[index] = address ? sim_find_memory(address) : NULL;
  if (index >= kernel->n_arguments) kernel->n_arguments = index + 1;
  return CL_SUCCESS;
}

cl_int clGetKernelInfo(cl_kernel kernel, cl_kernel_info what, size_t capacity, void *out, size_t *n_out) {
  switch (what) {
    case CL_KERNEL_FUNCTION_NAME: return sim_answer_text(kernel->name, capacity, out, n_out);
    case CL_KERNEL_NUM_ARGS: return SIM_ANSWER(cl_uint, n_parameters(parameters_of(kernel->program->source, kernel->name)));
    case CL_KERNEL_REFERENCE_COUNT: return SIM_ANSWER(cl_uint, (cl_uint)kernel->references);
    case CL_KERNEL_CONTEXT: return SIM_ANSWER(cl_context, kernel->program->context);
    case CL_KERNEL_PROGRAM: return SIM_ANSWER(cl_program, kernel->program);
    case CL_KERNEL_ATTRIBUTES: return sim_answer_text("", capacity, out, n_out);
    default: return CL_INVALID_VALUE;
  }
}

cl_int clGetKernelWorkGroupInfo(cl_kernel kernel, cl_device_id device, cl_kernel_work_group_info what, size_t capacity,
                                void *out, size_t *n_out) {
  size_t none[3] = {0, 0, 0};
  const sim_device *d = &kernel->program->context->device->simulation;
  (void)device;
  switch (what) {
    case CL_KERNEL_WORK_GROUP_SIZE:
      return SIM_ANSWER(size_t, d->stated_group ? d->stated_group : kernel->program->configuration.work_group_limit);
    case CL_KERNEL_COMPILE_WORK_GROUP_SIZE: return sim_answer(none, sizeof none, capacity, out, n_out);
    case CL_KERNEL_LOCAL_MEM_SIZE: return SIM_ANSWER(cl_ulong, 0);
    case CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE: return SIM_ANSWER(size_t, d->preferred_work_group_multiple);
    case CL_KERNEL_PRIVATE_MEM_SIZE: return SIM_ANSWER(cl_ulong, (cl_ulong)kernel->program->configuration.private_bytes);
    default: return CL_INVALID_VALUE;
  }
}
