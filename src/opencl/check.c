/* Runs of a prepared configuration on other inputs, with memory as other kernels leave it and with work-items in
 * another order; and references that a plan's run makes. */
#include "base/base.h"
#include "base/text.h"
#include "opencl/internal.h"

/* --- garbage in local and private memory --- */

/* Local memory and stacks keep what a kernel leaves there, so a kernel that reads before it writes is often correct by
 * chance. The numbers are large as integers and NaN as floats. Nothing is written to the sink, which no compiler can
 * know. */
#define GARBAGE_TEXT                                                                                      \
  "kernel void clatune_garbage(local uint *tile, uint n, global uint *sink) {\n"                          \
  "  uint own[256];\n"                                                                                    \
  "  const uint first = get_local_id(0), step = get_local_size(0), zero = sink[0];\n"                     \
  "  for (uint i = first; i < n; i += step) tile[i] = 0x7fc00000u + (i * 2654435761u >> 12);\n"           \
  "  for (uint i = 0; i < 256; i++) own[(i * 7 + zero) & 255] = 0x7fc00000u + (i * 2654435761u >> 12);\n" \
  "  barrier(CLK_LOCAL_MEM_FENCE);\n"                                                                     \
  "  if (tile[zero] == 1 || own[(zero + first) & 255] == 1) sink[1] = 1;\n"                               \
  "}\n"

enum {
  GARBAGE_BYTES = 64 << 10,
  GARBAGE_ITEMS = 16,
  GARBAGE_GROUPS = 4 /* for each compute unit */,
  MOST_GROUPS = 4096
};

void clt_executor_free_checks(clt_executor *executor) {
  if (executor->garbage.kernel) clReleaseKernel(executor->garbage.kernel);
  if (executor->garbage.sink) clReleaseMemObject(executor->garbage.sink);
  executor->garbage.kernel = NULL;
  executor->garbage.sink = NULL;
  for (size_t i = 0; i < sizeof executor->references / sizeof *executor->references; i++) {
    clt_program_release(&executor->references[i].program);
    clt_plan_free(executor->references[i].plan);
    executor->references[i].plan = NULL;
  }
}

/* Does nothing more if the device refuses. */
static void leave_garbage(clt_executor *executor) {
  const clt_device_info *info = &executor->info;
  const size_t most = (size_t)info->local_memory_bytes, bytes = most < GARBAGE_BYTES ? most / 64 * 64 : GARBAGE_BYTES;
  const size_t local = info->max_work_group_size < GARBAGE_ITEMS ? 1 : GARBAGE_ITEMS;
  size_t n_groups = GARBAGE_GROUPS * (size_t)info->compute_units;
  const cl_uint zeros[4] = {0}, n = (cl_uint)(bytes / sizeof(cl_uint));
  cl_int status = CL_SUCCESS;
  cl_event event = NULL;
  if (executor->garbage.failed || n == 0) return;
  if (executor->garbage.kernel == NULL) {
    executor->garbage.kernel = clt_own_kernel(executor, GARBAGE_TEXT, "clatune_garbage", &status);
    if (status == CL_SUCCESS)
      executor->garbage.sink = clCreateBuffer(executor->context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, sizeof zeros,
                                              (void *)zeros, &status);
  }
  cl_kernel kernel = executor->garbage.kernel;
  n_groups = n_groups < 1 ? 1 : n_groups > MOST_GROUPS ? MOST_GROUPS : n_groups;
  const size_t global = n_groups * local;
  if (status == CL_SUCCESS) status = clSetKernelArg(kernel, 0, bytes, NULL);
  if (status == CL_SUCCESS) status = clSetKernelArg(kernel, 1, sizeof n, &n);
  if (status == CL_SUCCESS) status = clSetKernelArg(kernel, 2, sizeof executor->garbage.sink, &executor->garbage.sink);
  if (status == CL_SUCCESS)
    status = clEnqueueNDRangeKernel(executor->queue, kernel, 1, NULL, &global, &local, 0, NULL, &event);
  if (status == CL_SUCCESS) status = clFlush(executor->queue);
  if (status == CL_SUCCESS) status = clt_cl_await(event, CL_COMPLETE);
  if (event) clReleaseEvent(event);
  if (clFinish(executor->queue) != CL_SUCCESS || status != CL_SUCCESS) executor->garbage.failed = true;
}

/* --- work-items in the opposite order --- */

/* A macro is not expanded again within itself. The functions with linear numbers exist from OpenCL 2.0 on. */
#define MIRROR_GROUPS "#define get_group_id(d) (get_num_groups(d) - 1 - get_group_id(d))\n"
#define MIRROR_ITEMS                                                                                    \
  "#define get_local_id(d) (get_local_size(d) - 1 - get_local_id(d))\n"                                 \
  "#define get_global_id(d) (2 * get_global_offset(d) + get_global_size(d) - 1 - get_global_id(d))\n"   \
  "#define get_local_linear_id() (get_local_size(0) * get_local_size(1) * get_local_size(2) - 1 - "     \
  "get_local_linear_id())\n"                                                                            \
  "#define get_global_linear_id() (get_global_size(0) * get_global_size(1) * get_global_size(2) - 1 - " \
  "get_global_linear_id())\n"
/* Without the items of a group: functions of groups and subgroups follow the driver's own order of items. */
#define MIRROR_GROUPS_ALONE                                                                        \
  "#define get_global_id(d) (2 * get_global_offset(d) + get_global_size(d) - get_local_size(d) - " \
  "get_global_id(d) + 2 * get_local_id(d))\n"

int clt_plan_mirror(clt_plan *plan) {
  const bool by_items = !strstr(plan->source, "sub_group") && !strstr(plan->source, "work_group_");
  char *text =
      clt_format("%s%s#line 1\n%s", MIRROR_GROUPS, by_items ? MIRROR_ITEMS : MIRROR_GROUPS_ALONE, plan->source);
  if (text == NULL) return CLT_E_MEMORY;
  free(plan->source);
  plan->source = text;
  return CLT_OK;
}

/* --- verifying --- */

#define MOST_NAMED 4 /* scalars in the name of a check */

/* "other inputs, work-items in the opposite order (alpha=0.73 stride=13)" */
static void name_check_of(char *out, size_t size, const clt_data *data, bool mirrored) {
  clt_text text = {0};
  clt_text_add(&text, clt_recipe_name(&data->recipe));
  if (mirrored) clt_text_add(&text, ", work-items in the opposite order");
  for (size_t i = 0; i < data->n_scalars && i < MOST_NAMED; i++)
    clt_text_printf(&text, "%s%s=%.6g", i ? " " : " (", data->scalars[i].name, data->scalars[i].value);
  if (data->n_scalars > 0) clt_text_add(&text, ")");
  clt_snprintf(out, size, "%s", text.n ? text.bytes : "");
  clt_text_release(&text);
}

int clt_executor_verify(clt_executor *executor, clt_prepared *prepared, const clt_data *data, bool garbage,
                        clt_measurement *measurement, clt_error *error) {
  const clt_plan *plan = prepared->plan;
  clt_measurement ignored;
  char check[160];
  int rc = clt_executor_usable(executor, error);
  if (rc) return rc;
  name_check_of(check, sizeof check, data, prepared->mirrored);
  executor->run.check = check;
  const unsigned turn = prepared->n_verified++;
  for (unsigned run = 0; rc == 0 && run < 2; run++) {
    if (turn > 0 && run != turn % 2) continue;
    clt_bindings bindings = {.turn = prepared->bindings.turn};
    if (garbage) leave_garbage(executor);
    rc = clt_run_on_data(&bindings, NULL, executor, &prepared->program, plan, data, true,
                         run == 0 ? &prepared->bindings : NULL, measurement, error);
    prepared->bindings.turn = bindings.turn;
    clt_bindings_release(&bindings, executor);
  }
  executor->run.check = NULL;
  clt_measurement_init(&ignored, plan->config); /* the prepared arguments are left as they were */
  clt_bindings_set(&prepared->bindings, &prepared->program, plan, &ignored);
  clt_measurement_release(&ignored);
  clt_executor_announce(executor, CLT_PHASE_DONE);
  if (rc == CLT_REJECTED) clt_name_check(measurement, check);
  return rc < 0 ? rc : CLT_OK;
}

/* --- references --- */

/* Runs a program and reads its verified outputs into the references that are still NULL; if there are some already,
 * compares them instead. built: whether the program has run before. */
static int run_reference(clt_executor *executor, const clt_program *program, const clt_plan *plan, clt_data *data,
                         bool built, clt_error *error) {
  clt_bindings bindings = {0};
  clt_measurement m;
  double first_run_s;
  clt_measurement_init(&m, plan->config);
  int rc =
      clt_run_on_data(&bindings, built ? NULL : &first_run_s, executor, program, plan, data, false, NULL, &m, error);
  if (rc == CLT_REJECTED)
    rc = clt_fail(error, CLT_E_OPENCL, "cannot compute the reference (%s): %.900s", clt_reason_text(m.reason),
                  m.log ? m.log : "the driver gives no reason");
  for (size_t i = 0; rc == 0 && i < plan->n_args; i++) {
    const clt_plan_arg *arg = &plan->args[i];
    clt_array *array = clt_data_find(data, arg->name);
    clt_comparison compared;
    clt_view view;
    if (!arg->verified || array == NULL || !array->verified) continue;
    const clt_object *object = clt_binding_object(&bindings.items[i]);
    cl_int status = clt_object_view(&view, executor, object);
    void *result = status == CL_SUCCESS ? malloc(array->bytes) : NULL;
    if (result) clt_array_unstore(result, arg, view.bytes);
    if (status != CL_SUCCESS)
      rc = clt_fail_cl(error, status, "read back the reference");
    else if (result == NULL)
      rc = clt_fail_memory(error);
    else if (array->reference == NULL)
      array->reference = result, result = NULL;
    else if (!data->verify && !clt_array_matches(&compared, array, result))
      rc = clt_fail(error, CLT_E_VERIFY, "two runs of %s on %s give different results",
                    plan->config == CLT_CONFIG_NONE ? "the reference" : "the configuration that judges",
                    clt_recipe_name(&data->recipe));
    free(result);
    clt_object_close(executor, object, &view);
  }
  clt_bindings_release(&bindings, executor);
  clt_executor_announce(executor, CLT_PHASE_DONE);
  clt_measurement_release(&m);
  return rc;
}

/* The plan of the configuration that judges. */
static int plan_judge(clt_plan **out, clt_executor *executor, const clt_instance *instance, clt_config judge,
                      clt_error *error) {
  clt_measurement m;
  int rc = clt_plan_new(out, instance, judge, error);
  if (rc || (*out)->source) return rc;
  clt_measurement_init(&m, judge);
  rc = clt_executor_generate(out, executor, instance, &m, error);
  if (rc == CLT_OK && *out == NULL)
    rc = clt_fail(error, CLT_E_OPENCL, "cannot compute the reference (%s): %.900s", clt_reason_text(m.reason),
                  m.log ? m.log : "the generator gives no reason");
  clt_measurement_release(&m);
  return rc;
}

static int build_reference(clt_program *out, clt_executor *executor, const clt_plan *plan, clt_error *error) {
  clt_measurement m;
  int rc = clt_executor_usable(executor, error);
  if (rc) return rc;
  clt_measurement_init(&m, plan->config);
  clt_executor_announce(executor, CLT_PHASE_BUILD);
  rc = clt_program_build(out, executor, plan, &m, error);
  if (rc == CLT_REJECTED)
    rc = clt_fail(error, CLT_E_OPENCL, "cannot compute the reference (%s): %.900s", clt_reason_text(m.reason),
                  m.log ? m.log : "the driver gives no reason");
  clt_measurement_release(&m);
  return rc;
}

int clt_executor_reference(clt_executor *executor, const clt_plan *plan, clt_data *data, clt_error *error) {
  clt_program program = {0};
  int rc = build_reference(&program, executor, plan, error);
  if (rc == 0) rc = run_reference(executor, &program, plan, data, false, error);
  clt_program_release(&program);
  return rc;
}

/* Numbers of very different magnitudes may cancel until the result is little but rounding errors, in which correct
 * kernels differ. How far that goes shows by inputs that differ by rounding errors (as in stochastic arithmetic:
 * Vignes, "A stochastic arithmetic for reliable scientific computation", 1993). */
static int allow_rounding(clt_data *data, clt_executor *executor, clt_error *error) {
  clt_recipe recipe = data->recipe;
  clt_data *other = NULL;
  recipe.shaken = true;
  int rc = clt_reference_data(&other, executor, data->instance, &recipe, error);
  for (size_t i = 0; rc == CLT_OK && i < data->n_arrays; i++) {
    clt_array *array = &data->arrays[i];
    if (array->reference && !clt_array_allow_rounding(array, other->arrays[i].reference))
      rc = clt_fail(error, CLT_E_VERIFY, "rounding errors of %s change the result '%s'", clt_recipe_name(&recipe),
                    array->name);
  }
  if (other) clt_executor_forget(executor, other);
  clt_data_free(other);
  return rc;
}

int clt_reference_data(clt_data **out, clt_executor *executor, const clt_instance *instance, const clt_recipe *recipe,
                       clt_error *error) {
  clt_data *data = NULL;
  const clt_reference_kind kind = clt_data_reference_kind(instance, recipe);
  const bool by_kernel = kind == CLT_REFERENCE_KERNEL, runs = by_kernel || kind == CLT_REFERENCE_DEFAULT;
  clt_plan **plan = &executor->references[!by_kernel].plan;
  clt_program *program = &executor->references[!by_kernel].program;
  int rc = clt_data_new(&data, instance, recipe, error);
  if (rc) return rc;
  const clt_config judge = recipe->judged ? recipe->judge : clt_instance_reference_configuration(instance);
  const bool built = program->program != NULL && (by_kernel || (*plan)->config == judge);
  if (runs && !built) {
    clt_program_release(program);
    clt_plan_free(*plan);
    *plan = NULL;
    rc = by_kernel ? clt_plan_new_reference(plan, instance, error) : plan_judge(plan, executor, instance, judge, error);
    if (rc == 0) rc = build_reference(program, executor, *plan, error);
  }
  if (rc == 0 && runs) rc = run_reference(executor, program, *plan, data, built, error);
  for (size_t i = 0; rc == 0 && i < data->n_arrays; i++) clt_array_scale_tolerance(&data->arrays[i]);
  const bool cancels = recipe->inputs == CLT_INPUTS_SPIKES || recipe->inputs == CLT_INPUTS_RANGE;
  if (rc == 0 && cancels && !recipe->shaken && !data->verify) rc = allow_rounding(data, executor, error);
  if (rc == 0 && runs && recipe->inputs != CLT_INPUTS_OWN && !recipe->shaken)
    rc = run_reference(executor, program, *plan, data, true, error);
  if (rc) {
    clt_executor_forget(executor, data);
    clt_data_free(data);
    return rc;
  }
  *out = data;
  return CLT_OK;
}
