/* A plan's program. Limits that the device reports are checked before the build, and limits of the built kernels
 * before the first launch, because PoCL aborts the process with an assertion if these are exceeded. */
#include <ctype.h>

#include "base/base.h"
#include "base/hash.h"
#include "base/text.h"
#include "opencl/internal.h"

#define MAX_NAMES_BYTES 4096
#define MAX_NAMES 128
#define KERNEL_SPILL_MEM_SIZE_INTEL 0x4109 /* cl_intel_required_subgroup_size: CL_KERNEL_SPILL_MEM_SIZE_INTEL */

/* --- limits of the device and of the built kernels --- */

static int check_image(const clt_executor *executor, const clt_plan_arg *arg, clt_measurement *m) {
  const clt_device_info *device = &executor->info;
  const uint64_t plane[3] = {device->image2d_max_width, device->image2d_max_height, 1};
  const uint64_t volume[3] = {device->image3d_max_width, device->image3d_max_height, device->image3d_max_depth};
  const uint64_t *max = arg->kind == CLT_ARG_IMAGE3D ? volume : plane;
  if (!device->images)
    return clt_reject(m, CLT_REASON_DEVICE_LIMIT, "the device does not support images (argument '%s')", arg->name);
  if (arg->kind == CLT_ARG_IMAGE1D_BUFFER && arg->bytes / arg->element.bytes > device->image1d_buffer_max_width)
    return clt_reject(m, CLT_REASON_DEVICE_LIMIT, "image '%s' has %zu elements, the device allows %llu", arg->name,
                      arg->bytes / arg->element.bytes, (unsigned long long)device->image1d_buffer_max_width);
  for (int d = 0; arg->kind != CLT_ARG_IMAGE1D_BUFFER && d < 3; d++)
    if (arg->extent[d] + 2 * arg->border[d] > max[d])
      return clt_reject(m, CLT_REASON_DEVICE_LIMIT,
                        "image '%s' has %zu elements in dimension %d, the device allows %llu", arg->name,
                        arg->extent[d] + 2 * arg->border[d], d, (unsigned long long)max[d]);
  if (!clt_image_supported(executor, arg))
    return clt_reject(m, CLT_REASON_DEVICE_LIMIT,
                      "the device does not support images with the element type of argument '%s'", arg->name);
  return CLT_OK;
}

static uint64_t work_group_size(const clt_plan_launch *launch) {
  size_t product = 1;
  for (unsigned d = 0; d < launch->n_dimensions; d++)
    if (!clt_size_multiply(&product, product, launch->local[d])) return SIZE_MAX;
  return product;
}

static uint64_t local_argument_bytes(const clt_plan *plan, const clt_plan_launch *launch) {
  uint64_t bytes = 0;
  for (size_t i = 0; i < launch->n_args; i++) {
    const clt_plan_arg *arg = &plan->args[launch->args[i]];
    if (arg->kind == CLT_ARG_LOCAL) bytes += arg->bytes;
  }
  return bytes;
}

/* Checks the device's limits, before building. */
static int check_plan(const clt_executor *executor, const clt_plan *plan, clt_measurement *m, clt_error *error) {
  const clt_device_info *device = &executor->info;
  if (plan->n_launches == 0) return clt_fail(error, CLT_E_ARGUMENT, "the plan launches no kernel");
  for (size_t i = 0; i < plan->n_args; i++) {
    const clt_plan_arg *arg = &plan->args[i];
    uint64_t max = arg->kind == CLT_ARG_CONSTANT ? device->max_constant_bytes : device->max_allocation_bytes;
    int rc = clt_arg_is_image(arg->kind) ? check_image(executor, arg, m) : CLT_OK;
    if (rc) return rc;
    if ((arg->kind == CLT_ARG_BUFFER || arg->kind == CLT_ARG_CONSTANT) && max && arg->bytes > max)
      return clt_reject(m, CLT_REASON_DEVICE_LIMIT,
                        "argument '%s' needs %zu bytes, '%s' allows at most %llu in a buffer", arg->name, arg->bytes,
                        device->name, (unsigned long long)max);
  }
  for (const clt_plan_launch *launch = plan->launches; launch < plan->launches + plan->n_launches; launch++) {
    uint64_t local_bytes = local_argument_bytes(plan, launch);
    if (local_bytes > device->local_memory_bytes)
      return clt_reject(m, CLT_REASON_DEVICE_LIMIT, "'%s' is given %llu bytes of local memory, the device has %llu",
                        launch->kernel, (unsigned long long)local_bytes,
                        (unsigned long long)device->local_memory_bytes);
    if (!launch->has_local) continue;
    for (unsigned d = 0; d < launch->n_dimensions; d++)
      if (launch->local[d] < 1 || launch->local[d] > device->max_work_item_sizes[d])
        return clt_reject(m, CLT_REASON_DEVICE_LIMIT,
                          "work-groups of '%s' have size %zu in dimension %u, the device allows %llu", launch->kernel,
                          launch->local[d], d, (unsigned long long)device->max_work_item_sizes[d]);
    if (work_group_size(launch) > device->max_work_group_size)
      return clt_reject(m, CLT_REASON_DEVICE_LIMIT, "work-groups of '%s' have %llu work-items, the device allows %llu",
                        launch->kernel, (unsigned long long)work_group_size(launch),
                        (unsigned long long)device->max_work_group_size);
  }
  return CLT_OK;
}

static bool is_real(clt_element element) { return element.base >= CLT_ELEMENT_HALF; }

/* Whether a kernel's argument accepts what the problem passes to it. Vectors of the same kind of number may be
 * exchanged (float for float4*), and bytes fit any type. Memory without data that is not compared fits any pointer.
 * A struct takes a scalar of the same size, or memory for at least one struct. A type that is not known takes
 * anything. */
static bool takes_argument(const clt_kernel_argument *taken, const clt_plan_arg *given) {
  size_t length = strcspn(taken->type, "*");
  const bool pointer = strchr(taken->type, '*') != NULL;
  static const char *const images[] = {
      [CLT_ARG_IMAGE2D] = "image2d", [CLT_ARG_IMAGE3D] = "image3d", [CLT_ARG_IMAGE1D_BUFFER] = "image1d_buffer"};
  char type[sizeof taken->type];
  clt_element element;
  while (length && taken->type[length - 1] == ' ') length--;
  snprintf(type, sizeof type, "%.*s", (int)length, taken->type);
  if (clt_arg_is_image(given->kind)) {
    const bool known = taken->reads_image || taken->writes_image;
    return clt_starts_with(type, images[given->kind]) &&
           (!known || (given->access != CLT_READ_ONLY && taken->writes_image) ||
            (given->access != CLT_WRITE_ONLY && taken->reads_image));
  }
  if (given->kind == CLT_ARG_SAMPLER) return strcmp(type, "sampler_t") == 0;
  if (clt_starts_with(type, "image") || strcmp(type, "sampler_t") == 0) return false;
  if (given->kind == CLT_ARG_LOCAL) return taken->address == CLT_ADDRESS_LOCAL;
  const bool known = clt_element_parse(&element, type) == CLT_OK;
  const size_t bytes = known ? element.bytes : taken->bytes;
  if (given->kind == CLT_ARG_SCALAR)
    return taken->address == CLT_ADDRESS_PRIVATE && !pointer && (bytes == 0 || bytes == given->element.bytes) &&
           (!known || is_real(element) == is_real(given->element));
  if (pointer && taken->address == CLT_ADDRESS_PRIVATE)
    return true; /* not possible in OpenCL C: the driver does not report the address space */
  if (taken->address != CLT_ADDRESS_GLOBAL && taken->address != CLT_ADDRESS_CONSTANT) return false;
  if (!given->has_data && !given->verified) return true;
  if (given->bytes < (known ? (size_t)element.components * clt_element_base_bytes(element.base) : bytes)) return false;
  const bool of_bytes = given->element.base <= CLT_ELEMENT_UCHAR || (known && element.base <= CLT_ELEMENT_UCHAR);
  if (!known || of_bytes) return true;
  return is_real(element) || is_real(given->element) ? element.base == given->element.base : true;
}

/* Describes why an argument does not fit, and what would. said: the kernel's argument as written; taken: with its
 * types resolved. */
static void describe_misfit(char *out, size_t capacity, const clt_kernel_argument *said,
                            const clt_kernel_argument *taken, const clt_plan_arg *given, bool elsewhere) {
  static const char *const kinds[] = {
      "a scalar of type ", "a vector of ",   "a vector of ", "local memory",
      "a 2D image of ",    "a 3D image of ", "a sampler",    "an image that is a vector of "};
  static const char *const addresses[] = {"global ", "constant ", "local ", ""};
  static const char *const accesses[] = {" of AccessType ReadOnly", " of AccessType WriteOnly",
                                         " of AccessType ReadWrite"};
  char element[16] = "", stands_for[160] = "", own[64] = "", hint[240] = "", type[128];
  clt_element parsed;
  const bool image = clt_arg_is_image(given->kind), scalar = given->kind == CLT_ARG_SCALAR;
  const bool pointer = strchr(taken->type, '*') != NULL, is_memory = clt_arg_is_memory(given) && !image;
  if (given->kind != CLT_ARG_LOCAL && given->kind != CLT_ARG_SAMPLER) clt_element_print(element, given->element);
  snprintf(type, sizeof type, "%.*s", (int)strcspn(taken->type, "* "), taken->type);
  const bool known = clt_element_parse(&parsed, type) == CLT_OK;
  if (strcmp(said->type, taken->type) != 0) snprintf(stands_for, sizeof stands_for, " (%s)", taken->type);
  if (taken->bytes) snprintf(stands_for, sizeof stands_for, " (%zu bytes%s)", taken->bytes, pointer ? " each" : "");
  if (taken->bytes && (scalar || is_memory))
    snprintf(own, sizeof own, ", of %zu bytes%s", given->bytes, scalar ? "" : " in all");
  if (elsewhere)
    snprintf(hint, sizeof hint, "; list the arguments in the order of the kernel's parameters");
  else if (known && (scalar ? !pointer && taken->address == CLT_ADDRESS_PRIVATE
                            : is_memory && pointer && taken->address != CLT_ADDRESS_LOCAL))
    snprintf(hint, sizeof hint, "; write \"Type\": \"%s\"%s", type,
             is_memory && given->bytes < parsed.bytes ? ", and a \"Size\" for at least one" : "");
  else if (taken->bytes && is_memory && pointer)
    snprintf(hint, sizeof hint, "; write a \"Size\" for at least one");
  else if (taken->bytes && scalar && !pointer)
    snprintf(hint, sizeof hint,
             "; for a struct write \"Fields\" with its values, or a \"Type\" of the same size, such as uchar16");
  const char *qualifier = addresses[strchr(said->type, '*') ? said->address : CLT_ADDRESS_PRIVATE];
  if (strstr(said->type, "image")) qualifier = said->writes_image && !said->reads_image ? "write_only " : "read_only ";
  snprintf(out, capacity, "is '%s%s %s'%s, but it is given '%s', %s%s%s%s%s", qualifier, said->type, said->name,
           stands_for, given->name, kinds[given->kind], element, image ? accesses[given->access] : "", own, hint);
}

/* Rejects a configuration whose arguments do not fit, and names the place in the problem file. resolve: resolves the
 * kernel's own types. */
static int check_arguments(cl_kernel kernel, const clt_executor *executor, const clt_plan *plan,
                           const clt_plan_launch *launch, bool resolve, clt_measurement *m, clt_error *error) {
  clt_arena arena = {0};
  clt_kernel_argument *taken = clt_arena_array(&arena, launch->n_args, sizeof *taken);
  clt_kernel_argument *said = clt_arena_array(&arena, launch->n_args, sizeof *said);
  clt_kernel_argument **own = clt_arena_array(&arena, launch->n_args, sizeof *own);
  int rc = clt_arena_check(&arena, error);
  size_t n = 0, n_own = 0;
  while (rc == CLT_OK && n < launch->n_args && clt_cl_argument(&taken[n], kernel, (cl_uint)n)) {
    const clt_plan_arg *given = &plan->args[launch->args[n]];
    char name[128];
    said[n] = taken[n];
    if ((given->kind == CLT_ARG_SCALAR || given->has_data || given->verified) && clt_type_is_own(name, taken[n].type))
      own[n_own++] = &taken[n];
    n++;
  }
  if (rc == CLT_OK && n_own > 0 && resolve)
    clt_types_resolve(own, n_own, executor, plan->source, plan->options ? plan->options : "");
  for (size_t i = 0; rc == CLT_OK && n == launch->n_args && i < n;
       i++) { /* otherwise the driver does not describe the arguments */
    const clt_plan_arg *given = &plan->args[launch->args[i]];
    char misfit[900], message[1200], text[2000];
    bool elsewhere = false;
    if (takes_argument(&taken[i], given)) continue;
    for (size_t j = 0; j < n; j++)
      elsewhere = elsewhere || (j != i && strcmp(taken[i].name, plan->args[launch->args[j]].name) == 0);
    describe_misfit(misfit, sizeof misfit, &said[i], &taken[i], given, elsewhere);
    snprintf(message, sizeof message, "argument %zu of the kernel '%s' %s", i + 1, launch->kernel, misfit);
    clt_plan_locate(text, sizeof text, plan, given->key, message);
    rc = clt_reject(m, CLT_REASON_ARGUMENTS, "%s", text);
  }
  clt_arena_release(&arena);
  return rc;
}

/* Runs after building and before arguments are set, because drivers differ in whether they count local arguments
 * later. */
static int check_kernels(const clt_program *program, clt_executor *executor, const clt_plan *plan, clt_measurement *m,
                         clt_error *error) {
  /* Resolving types takes a build, so it is done once per set of kernels, and not for each configuration. */
  uint64_t types = executor->generated ? 1 : clt_hash64(plan->source, strlen(plan->source));
  for (size_t i = 0; i < plan->n_launches; i++)
    types ^= clt_hash64(plan->launches[i].kernel, strlen(plan->launches[i].kernel)) << i % 64;
  const bool resolve = executor->types_of != types;
  executor->types_of = types;
  for (size_t i = 0; i < plan->n_launches; i++) {
    const clt_plan_launch *launch = &plan->launches[i];
    cl_kernel kernel = program->kernels[i];
    cl_device_id device = executor->device;
    cl_ulong local_bytes = 0;
    size_t max_work_items = 0, required[3] = {0};
    cl_uint n_args = 0;
    cl_int status = clGetKernelInfo(kernel, CL_KERNEL_NUM_ARGS, sizeof n_args, &n_args, NULL);
    if (status == CL_SUCCESS && n_args != launch->n_args) {
      char message[400], text[1200];
      snprintf(message, sizeof message, "kernel '%s' has %u parameters, but %zu arguments are given", launch->kernel,
               n_args, launch->n_args);
      clt_plan_locate(text, sizeof text, plan, launch->key, message);
      return clt_reject(m, CLT_REASON_ARGUMENTS, "%s", text);
    }
    int rc = check_arguments(kernel, executor, plan, launch, resolve, m, error);
    if (rc) return rc;
    clGetKernelWorkGroupInfo(kernel, device, CL_KERNEL_LOCAL_MEM_SIZE, sizeof local_bytes, &local_bytes, NULL);
    local_bytes += local_argument_bytes(plan, launch);
    if (local_bytes > executor->info.local_memory_bytes)
      return clt_reject(m, CLT_REASON_KERNEL_LIMIT, "'%s' uses %llu bytes of local memory, the device has %llu",
                        launch->kernel, (unsigned long long)local_bytes,
                        (unsigned long long)executor->info.local_memory_bytes);
    /* Not on NVIDIA, whose driver says 256 for every kernel, but runs up to 1024 and refuses a launch that needs too
     * many registers. rusticl, too, may report a lower limit than it accepts. */
    status = clGetKernelWorkGroupInfo(kernel, device, CL_KERNEL_WORK_GROUP_SIZE, sizeof max_work_items, &max_work_items,
                                      NULL);
    if (launch->has_local && status == CL_SUCCESS && work_group_size(launch) > max_work_items &&
        work_group_size(launch) > plan->known_group && !clt_cl_is_nvidia(&executor->info))
      return clt_reject(m, CLT_REASON_KERNEL_LIMIT, "'%s' runs in work-groups of at most %zu work-items, not %llu",
                        launch->kernel, max_work_items, (unsigned long long)work_group_size(launch));
    status =
        clGetKernelWorkGroupInfo(kernel, device, CL_KERNEL_COMPILE_WORK_GROUP_SIZE, sizeof required, required, NULL);
    for (unsigned d = 0; status == CL_SUCCESS && required[0] && d < launch->n_dimensions; d++)
      if (!launch->has_local || launch->local[d] != required[d])
        return clt_reject(m, CLT_REASON_KERNEL_LIMIT, "'%s' requires work-groups of %zu x %zu x %zu", launch->kernel,
                          required[0], required[1], required[2]);
  }
  return CLT_OK;
}

/* --- building --- */

/* The number before or behind some words of the log's part for a kernel; NaN if there is none. Lines as
 *   ptxas info    : Compiling entry function 'convolve' for 'sm_90'
 *   8 bytes stack frame, 8 bytes spill stores, 4 bytes spill loads
 *   ptxas info    : Used 32 registers, 368 bytes cmem[0] */
static double find_in_log(const char *log, const char *kernel, const char *words) {
  char entry[300];
  unsigned value;
  snprintf(entry, sizeof entry, "entry function '%s'", kernel);
  const char *part = log ? strstr(log, entry) : NULL;
  if (part == NULL) return NAN;
  const char *next = strstr(part + 1, "entry function '"), *at = strstr(part, words);
  if (at == NULL || (next && at > next)) return NAN;
  while (at > part && at[-1] == ' ') at--;
  while (at > part && isdigit((unsigned char)at[-1])) at--;
  return sscanf(at, "%u", &value) == 1 ? value : NAN;
}

static double kernel_number(cl_kernel kernel, const clt_executor *executor, cl_kernel_work_group_info what) {
  cl_ulong value = 0;
  cl_int status = clGetKernelWorkGroupInfo(kernel, executor->device, what, sizeof value, &value, NULL);
  return status == CL_SUCCESS ? (double)value : NAN;
}

static void note_use(clt_measurement *m, const clt_program *program, const clt_executor *executor,
                     const clt_plan *plan) {
  char *log = clt_cl_is_nvidia(&executor->info) ? clt_program_log(program->program, executor->device) : NULL;
  for (size_t i = 0; i < plan->n_launches; i++) {
    const clt_plan_launch *launch = &plan->launches[i];
    cl_kernel kernel = program->kernels[i];
    const double logged = find_in_log(log, launch->kernel, " bytes spill stores");
    const double spilled = kernel_number(kernel, executor, KERNEL_SPILL_MEM_SIZE_INTEL);
    m->use.registers = fmax(m->use.registers, find_in_log(log, launch->kernel, " registers"));
    m->use.spill_bytes = fmax(m->use.spill_bytes, isnan(logged) ? spilled : logged);
    m->use.private_bytes = fmax(m->use.private_bytes, kernel_number(kernel, executor, CL_KERNEL_PRIVATE_MEM_SIZE));
    m->use.local_bytes = fmax(m->use.local_bytes, kernel_number(kernel, executor, CL_KERNEL_LOCAL_MEM_SIZE) +
                                                      (double)local_argument_bytes(plan, launch));
  }
  free(log);
}

static bool has_word(const clt_plan *plan, const char *word) {
  return clt_next_word(plan->source, plan->source, word) ||
         (plan->options && clt_next_word(plan->options, plan->options, word));
}

/* Whether ## may make a name: words begin and end as it does. */
static bool may_be_composed(const clt_plan *plan, const char *name) {
  bool begins = false, ends = false;
  for (size_t i = 1; strstr(plan->source, "##") && name[i - 1] && name[i]; i++) {
    char *beginning = strndup(name, i);
    begins |= beginning == NULL || has_word(plan, beginning);
    ends |= has_word(plan, name + i);
    free(beginning);
  }
  return begins && ends;
}

/* Lists the kernels of the program, and suggests the nearest one for a mistyped name. If the source mentions the
 * name, or may compose it with ##, other configurations may have this kernel: the failure is then a compile error. */
static int reject_kernel_name(cl_program program, const clt_plan *plan, const clt_plan_launch *launch,
                              clt_measurement *m) {
  const char *typed = launch->kernel;
  const bool elsewhere = has_word(plan, typed) || may_be_composed(plan, typed);
  const clt_reason reason = elsewhere ? CLT_REASON_COMPILE_ERROR : CLT_REASON_KERNEL_NAME;
  char message[3 * MAX_NAMES_BYTES], text[4 * MAX_NAMES_BYTES], key[512];
  char names[MAX_NAMES_BYTES] = "", *rest, listed[2 * MAX_NAMES_BYTES] = "none";
  const char *all[MAX_NAMES];
  size_t n = 0, used = 0;
  if (clGetProgramInfo(program, CL_PROGRAM_KERNEL_NAMES, sizeof names - 1, names, NULL) != CL_SUCCESS)
    return clt_reject(m, reason, "the program has no kernel '%s'", typed);
  for (char *name = strtok_r(names, ";", &rest); name && n < MAX_NAMES; name = strtok_r(NULL, ";", &rest)) {
    if (strcmp(name, typed) == 0) /* Oclgrind prints why */
      return clt_reject(m, CLT_REASON_COMPILE_ERROR, "the driver cannot create the kernel '%s', which it compiled",
                        typed);
    if (used < sizeof listed)
      used += (size_t)snprintf(listed + used, sizeof listed - used, "%s'%s'", n ? ", " : "", name);
    all[n++] = name;
  }
  const char *near = clt_nearest_name(typed, all, n);
  snprintf(message, sizeof message, "there is no kernel '%s'; the file has %s%s%s%s", typed, listed,
           CLT_DID_YOU_MEAN("'", near));
  snprintf(key, sizeof key, "%s.KernelName", launch->key ? launch->key : "");
  clt_plan_locate(text, sizeof text, plan, launch->key ? key : NULL, message);
  return clt_reject(m, reason, "%s", text);
}

static int make_kernels(clt_program *built, const clt_plan *plan, clt_measurement *m, clt_error *error) {
  built->kernels = clt_new_array(plan->n_launches, sizeof *built->kernels);
  if (built->kernels == NULL) return clt_fail_memory(error);
  for (; built->n_kernels < plan->n_launches; built->n_kernels++) {
    const char *name = plan->launches[built->n_kernels].kernel;
    cl_int status;
    cl_kernel kernel = built->kernels[built->n_kernels] = clCreateKernel(built->program, name, &status);
    if (kernel) continue;
    if (clt_cl_out_of_memory(status)) return clt_reject_cl(m, CLT_REASON_OUT_OF_MEMORY, status, "creating a kernel");
    if (status == CL_INVALID_KERNEL_NAME)
      return reject_kernel_name(built->program, plan, &plan->launches[built->n_kernels], m);
    return clt_reject(m, CLT_REASON_COMPILE_ERROR, "the program has no kernel '%s': %s", name,
                      clt_cl_status_name(status));
  }
  return CLT_OK;
}

int clt_program_build(clt_program *out, clt_executor *executor, const clt_plan *plan, clt_measurement *m,
                      clt_error *error) {
  clt_program built = {0};
  cl_int status = CL_SUCCESS;
  int rc = check_plan(executor, plan, m, error);
  if (rc) return rc;
  double started = clt_now_s();
  /* With the source's file name, so that compiler messages give file and line. Oclgrind counts this line, too. */
  const char *file = plan->source_file;
  const bool named = file && strpbrk(file, "\"\\\n\r") == NULL && strcmp(executor->info.platform_name, "Oclgrind") != 0;
  char *text = named ? clt_format("#line 1 \"%s\"\n%s", file, plan->source) : strdup(plan->source);
  if (text == NULL) return clt_fail_memory(error);
  /* Only on PoCL, and only once; without the expected header, programs are built in the driver's own way. */
  if (!executor->declarations_sought) {
    executor->declarations_sought = true;
    executor->declarations = clt_declarations_of_pocl(executor->info.platform_version);
  }
  const char *own_options = plan->options ? plan->options : "";
  const char *verbose = clt_cl_is_nvidia(&executor->info) ? " -cl-nv-verbose" : "";
  bool reduced = executor->declarations != NULL, gave_up = false;
  while (rc == CLT_OK) {
    char *source = reduced ? clt_declarations_prepend(executor->declarations, text, plan->options) : strdup(text);
    char *options = clt_format("%s%s%s", own_options, reduced ? CLT_DECLARATIONS_OPTION : "", verbose);
    rc = source && options ? clt_program_build_described(&built.program, &status, executor, source, options, error)
                           : clt_fail_memory(error);
    free(source);
    free(options);
    if (rc || !reduced || status == CL_SUCCESS) break;
    char *log = clt_program_log(built.program, executor->device);
    reduced = log && clt_declarations_learn(executor->declarations, log) > 0;
    gave_up = !reduced;
    free(log);
    clReleaseProgram(built.program);
    built.program = NULL;
  }
  if (rc == CLT_OK && status == CL_SUCCESS && gave_up) { /* the program needs declarations that it does not mention */
    clt_declarations_free(executor->declarations);
    executor->declarations = NULL;
  }
  if (rc == CLT_OK && status == CL_SUCCESS) {
    rc = make_kernels(&built, plan, m, error);
    if (rc == CLT_OK) rc = check_kernels(&built, executor, plan, m, error);
    if (rc == CLT_OK) note_use(m, &built, executor, plan);
  } else if (rc == CLT_OK) {
    char *log = clt_cl_out_of_memory(status) ? NULL : clt_program_log(built.program, executor->device);
    char *explained = log ? clt_explain_build(executor, plan, plan->source, log) : NULL;
    if (log)
      rc = clt_reject(m, CLT_REASON_COMPILE_ERROR, "%s", explained ? explained : log);
    else
      rc = clt_reject_cl(m, CLT_REASON_COMPILE_ERROR, status, "building the program");
    free(explained);
    free(log);
  }
  free(text);
  m->phases.build_s += clt_now_s() - started;
  if (rc == CLT_OK)
    *out = built;
  else
    clt_program_release(&built);
  return rc;
}

void clt_program_release(clt_program *program) {
  for (size_t i = 0; i < program->n_kernels; i++) clReleaseKernel(program->kernels[i]);
  free(program->kernels);
  if (program->program) clReleaseProgram(program->program);
  *program = (clt_program){0};
}
