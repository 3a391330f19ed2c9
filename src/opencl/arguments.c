/* Inputs that are kept on the device from one configuration to the next, and the arguments of a plan. */
#include <float.h>
#include <utlist.h>

#include "base/base.h"
#include "opencl/internal.h"

/* --- inputs --- */

/* Whether two arguments are stored in the same way, so that they can share an input. */
static bool stored_alike(const clt_plan_arg *a, const clt_plan_arg *b) {
  bool image = clt_arg_is_image(a->kind) || clt_arg_is_image(b->kind);
  return (a->kind == b->kind || !image) && a->element.base == b->element.base &&
         a->element.components == b->element.components && a->channel == b->channel &&
         a->border_mode == b->border_mode && memcmp(a->extent, b->extent, sizeof a->extent) == 0 &&
         memcmp(a->border, b->border, sizeof a->border) == 0;
}

/* If memory or a size limit is the cause, the configuration has failed; anything else is an error of the tuner. */
static int fail_argument(const clt_plan_arg *arg, const char *doing, cl_int status, clt_measurement *m,
                         clt_error *error) {
  char what[300];
  snprintf(what, sizeof what, "%s argument '%s'", doing, arg->name);
  if (clt_cl_out_of_memory(status) || status == CL_INVALID_BUFFER_SIZE || status == CL_INVALID_IMAGE_SIZE ||
      status == CL_IMAGE_FORMAT_NOT_SUPPORTED)
    return clt_reject_cl(m, CLT_REASON_DEVICE_LIMIT, status, what); /* becomes out-of-memory if memory is short */
  return clt_fail_cl(error, status, what);
}

static bool is_integer(clt_element_base base) { return base < CLT_ELEMENT_HALF; }
static bool is_signed(clt_element_base base) { return is_integer(base) && base % 2 == 0; }

/* Makes integers that all differ from the reference. Every second one has all bits of the reference flipped, which
 * reveals kernels that write only a part of a number or mask it. The others are half way between the reference and
 * the far end of the type's range: a kernel that takes a maximum or a minimum of old and new value is then incorrect at
 * one of two neighbours, and the numbers are plausible as results. */
static void make_wrong(unsigned char *out, const clt_array *array) {
  const unsigned char *in = array->reference;
  size_t width = clt_element_base_bytes(array->element.base), n = array->bytes / width;
  uint64_t mask = UINT64_MAX >> (64 - 8 * width), sign = is_signed(array->element.base) ? mask ^ mask >> 1 : 0;
  for (size_t i = 0; i < n; i++) {
    uint64_t x = 0;
    memcpy(&x, in + i * width, width);
    uint64_t place = x ^ sign; /* its rank among the numbers of the type */
    uint64_t half = (~place & mask) > place ? place / 2 : place + (mask - place + 1) / 2;
    x = i % 2 == 0 || half == place ? ~x : half ^ sign;
    memcpy(out + i * width, &x, width);
  }
}

cl_int clt_input_write(clt_input *input, clt_executor *executor) {
  const clt_array *array = input->array;
  const clt_plan_arg *arg = &input->arg;
  unsigned char *wrong = NULL, *stored = NULL;
  const void *content = array->data;
  cl_int status = CL_OUT_OF_HOST_MEMORY;
  if (input->wrong) {
    content = wrong = malloc(array->bytes);
    if (wrong) make_wrong(wrong, array);
  }
  if (content && (arg->border[0] | arg->border[1] | arg->border[2])) {
    stored = malloc(arg->bytes);
    if (stored) clt_array_store(stored, arg, content);
    content = stored;
  }
  if (content) {
    input->hash = clt_object_hash_of(executor, &input->object, content);
    status = clt_object_write(executor, &input->object, content);
  }
  free(wrong);
  free(stored);
  return status;
}

static void drop_input(clt_executor *executor, clt_input *input) {
  DL_DELETE(executor->inputs.first, input);
  executor->inputs.bytes -= input->object.bytes;
  clt_object_release(&input->object, executor);
  free(input);
}

void clt_inputs_shrink(clt_executor *executor, size_t limit_bytes) {
  while (executor->inputs.bytes > limit_bytes) {
    clt_input *oldest = NULL, *input;
    DL_FOREACH(executor->inputs.first, input)
    if (input->users == 0) oldest = input;
    if (oldest == NULL) return;
    drop_input(executor, oldest);
  }
}

/* wrong: stores not the array's data but its reference, with every number made incorrect. */
static int get_input(clt_input **out, clt_executor *executor, const clt_data *data, const clt_array *array, bool wrong,
                     const clt_plan_arg *arg, clt_measurement *m, clt_error *error) {
  clt_input *input;
  DL_FOREACH(executor->inputs.first, input)
  if (!input->stale && input->data == data && input->array == array && input->wrong == wrong &&
      stored_alike(&input->arg, arg))
    break;
  if (input) {
    DL_DELETE(executor->inputs.first, input);
  } else {
    input = clt_new_array(1, sizeof *input);
    if (input == NULL) return clt_fail_memory(error);
    input->data = data;
    input->array = array;
    input->wrong = wrong;
    input->arg = *arg;
    cl_int status = clt_object_new(&input->object, executor, arg, CL_MEM_READ_ONLY);
    if (status == CL_SUCCESS) {
      input->object.name = array->name; /* the input outlives the plan and its names */
      status = clt_input_write(input, executor);
    }
    if (status != CL_SUCCESS) {
      clt_object_release(&input->object, executor);
      free(input);
      return fail_argument(arg, "upload", status, m, error);
    }
    executor->inputs.bytes += input->object.bytes;
  }
  DL_PREPEND(executor->inputs.first, input);
  input->users++;
  clt_inputs_shrink(executor, executor->inputs.limit_bytes);
  *out = input;
  return CLT_OK;
}

void clt_executor_forget(clt_executor *executor, const clt_data *data) {
  memset(executor->correct, 0, sizeof executor->correct);
  clt_input *input, *next;
  DL_FOREACH_SAFE(executor->inputs.first, input, next) {
    if (data && input->data != data) continue;
    input->stale = true;
    if (input->users == 0) drop_input(executor, input);
  }
}

/* --- arguments --- */

/* Finds an argument's data, decides whether its result is compared, and creates its object or sampler. */
static int bind_argument(clt_binding *binding, clt_executor *executor, const clt_data *data, bool verify,
                         const clt_binding *lender, clt_measurement *m, clt_error *error) {
  const clt_plan_arg *arg = binding->arg;
  const clt_element_base base = arg->element.base;
  cl_int status = CL_SUCCESS;
  if (arg->kind == CLT_ARG_SAMPLER) {
    const cl_addressing_mode addressing = arg->sampler_clamp_to_edge ? CL_ADDRESS_CLAMP_TO_EDGE : CL_ADDRESS_CLAMP;
    const cl_filter_mode filter = arg->sampler_linear ? CL_FILTER_LINEAR : CL_FILTER_NEAREST;
    binding->sampler = clCreateSampler(executor->context, arg->sampler_normalised, addressing, filter, &status);
    return status ? clt_reject_cl(m, CLT_REASON_DEVICE_LIMIT, status, "creating a sampler") : CLT_OK;
  }
  if (!clt_arg_is_memory(arg)) return CLT_OK;

  const clt_array *array = data ? clt_data_find(data, arg->name) : NULL;
  if (array && (array->element.base != base || array->element.components != arg->element.components ||
                array->bytes != arg->element.bytes * arg->extent[0] * arg->extent[1] * arg->extent[2]))
    return clt_fail(error, CLT_E_ARGUMENT, "the type or size of argument '%s' differs from that of its data",
                    arg->name);
  if (data && arg->has_data && (array == NULL || array->data == NULL))
    return clt_fail(error, CLT_E_ARGUMENT, "there is no data for the argument '%s'", arg->name);
  binding->array = array;
  binding->verified = data && verify && arg->verified && !(array && !array->verified);
  if (binding->verified && (array == NULL || array->reference == NULL))
    return clt_fail(error, CLT_E_ARGUMENT, "there is no reference for the argument '%s'", arg->name);

  bool given = arg->has_data && array;
  if (given ||
      (binding->verified && is_integer(base))) { /* integers have no NaN, so the poison is derived from the reference */
    int rc = get_input(&binding->input, executor, data, array, !given, arg, m, error);
    if (rc || (given && arg->access == CLT_READ_ONLY)) return rc;
  }
  if (lender && !arg->has_data && !binding->verified) { /* memory without content or result */
    binding->lent = clt_binding_object(lender);
    return CLT_OK;
  }
  status = clt_object_new(&binding->object, executor, arg, clt_arg_flags(arg));
  return status == CL_SUCCESS ? CLT_OK : fail_argument(arg, "allocate", status, m, error);
}

int clt_bindings_init(clt_bindings *out, clt_executor *executor, const clt_plan *plan, const clt_data *data,
                      bool verify, const clt_bindings *lender, clt_measurement *m, clt_error *error) {
  int rc = CLT_OK;
  *out = (clt_bindings){clt_new_array(plan->n_args, sizeof *out->items), 0, out->turn, plan->config, data};
  if (out->items == NULL) return clt_fail_memory(error);
  for (size_t i = 0; i < plan->n_launches; i++) out->driver_chooses |= !plan->launches[i].has_local;
  for (; rc == CLT_OK && out->n < plan->n_args; out->n++) {
    out->items[out->n].arg = &plan->args[out->n];
    rc = bind_argument(&out->items[out->n], executor, data, verify, lender ? &lender->items[out->n] : NULL, m, error);
  }
  return rc;
}

void clt_bindings_release(clt_bindings *bindings, clt_executor *executor) {
  for (size_t i = 0; i < bindings->n; i++) {
    clt_binding *binding = &bindings->items[i];
    clt_object_retire(&binding->object, executor);
    if (binding->input && --binding->input->users == 0 && binding->input->stale) drop_input(executor, binding->input);
    if (binding->sampler) clReleaseSampler(binding->sampler);
  }
  clt_inputs_shrink(executor, executor->inputs.limit_bytes);
  free(bindings->items);
  *bindings = (clt_bindings){0};
}

const clt_object *clt_binding_object(const clt_binding *binding) {
  if (binding->lent) return binding->lent;
  if (binding->object.memory) return &binding->object;
  return binding->input ? &binding->input->object : NULL;
}

static cl_int set_argument(cl_kernel kernel, cl_uint index, const clt_binding *binding, const clt_data *data) {
  const clt_plan_arg *arg = binding->arg;
  const clt_object *object = clt_binding_object(binding);
  const double *given = data && arg->kind == CLT_ARG_SCALAR ? clt_data_scalar_value(data, arg->name) : NULL;
  unsigned char value[sizeof arg->scalar];
  for (size_t at = 0, step = clt_element_base_bytes(arg->element.base); given && at < arg->bytes; at += step)
    clt_store_value(value + at, arg->element.base, (clt_value){.type = CLT_REAL, .real = *given});
  switch (arg->kind) {
    case CLT_ARG_SCALAR: return clSetKernelArg(kernel, index, arg->bytes, given ? value : arg->scalar);
    case CLT_ARG_LOCAL: return clSetKernelArg(kernel, index, arg->bytes, NULL);
    case CLT_ARG_SAMPLER: return clSetKernelArg(kernel, index, sizeof binding->sampler, &binding->sampler);
    case CLT_ARG_IMAGE1D_BUFFER: return clSetKernelArg(kernel, index, sizeof object->view, &object->view);
    default: return clSetKernelArg(kernel, index, sizeof object->memory, &object->memory);
  }
}

int clt_bindings_set(const clt_bindings *bindings, const clt_program *program, const clt_plan *plan,
                     clt_measurement *m) {
  for (size_t i = 0; i < plan->n_launches; i++) {
    const clt_plan_launch *launch = &plan->launches[i];
    for (size_t j = 0; j < launch->n_args; j++) {
      const clt_binding *binding = &bindings->items[launch->args[j]];
      cl_int status = set_argument(program->kernels[i], (cl_uint)j, binding, bindings->data);
      if (status == CL_SUCCESS) continue;
      char what[400];
      snprintf(what, sizeof what, "argument %zu ('%s') of '%s'", j, binding->arg->name, launch->kernel);
      return clt_reject_cl(m, CLT_REASON_LAUNCH, status, what);
    }
  }
  return CLT_OK;
}

/* Half of the maximum of a sample of the results: a plausible number that few of them equal. */
static double middling(const clt_array *array) {
  const size_t width = clt_element_base_bytes(array->element.base), n = array->bytes / width, step = n / 64 + 1;
  double largest = 0;
  for (size_t i = 0; array->element.base != CLT_ELEMENT_HALF && i < n; i += step) {
    const double x = clt_load_number((const unsigned char *)array->reference + i * width, array->element.base);
    if (isfinite(x)) largest = fmax(largest, fabs(x));
  }
  return largest > 0 ? largest / 2 : 1;
}

/* The pattern that fills a binding without data. In a verified output, neighbouring numbers get different poison,
 * and over the turns each number gets every kind, because a kernel that reads the old content may be correct by
 * accident with any single kind. Floats: both extremes, NaN, and a plausible result. Integers: both extremes, and in
 * one turn of three the content of make_wrong (written by the caller). Scratch memory: NaNs or bytes of 0xA5, and
 * zeros, in turn. */
static size_t make_poison(unsigned char out[4 * sizeof(double)], const clt_binding *binding, unsigned turn) {
  const clt_element_base base = binding->arg->element.base;
  const size_t width = clt_element_base_bytes(base);
  static const double largest[] = {
      [CLT_ELEMENT_HALF] = 65504, [CLT_ELEMENT_FLOAT] = FLT_MAX, [CLT_ELEMENT_DOUBLE] = DBL_MAX};
  const double most = largest[base];
  memset(out, binding->verified || turn % 2 == 0 ? 0xa5 : 0, 4 * width);
  if (binding->verified &&
      is_integer(base)) { /* after a small number with its bits flipped, the extreme that is farther from it */
    const int first = (turn % 3 == 1) == is_signed(base) ? 0xff : 0;
    memset(out, first, width);
    memset(out + width, ~first, width);
    for (size_t i = 1; i <= 2; i++) out[i * width - 1] ^= is_signed(base) ? 0x80 : 0;
    return 2 * width;
  }
  const double kinds[] = {most, -most, NAN, binding->verified ? middling(binding->array) : 0};
  for (size_t i = 0; i < 4 && !is_integer(base); i++)
    clt_store_value(out + i * width, base,
                    (clt_value){.type = CLT_REAL, .real = binding->verified ? kinds[(i + turn) % 4] : NAN});
  return 4 * width;
}

size_t clt_binding_untouched(const clt_binding *binding, unsigned turn, const void *content) {
  const clt_plan_arg *arg = binding->arg;
  const bool wrong = binding->input && turn % 3 == 0, bordered = arg->border[0] | arg->border[1] | arg->border[2];
  const size_t width = arg->element.bytes, n = arg->bytes / width;
  unsigned char pattern[4 * sizeof(double)], *filled = NULL;
  size_t period = arg->bytes, n_same = 0;
  if (arg->has_data) return 0;
  if (wrong && binding->hash == binding->input->hash) return n;
  if (wrong) {
    if (!bordered && (filled = malloc(arg->bytes))) make_wrong(filled, binding->array);
    if (filled == NULL) return 0;
  } else {
    period = make_poison(pattern, binding, turn);
  }
  for (size_t i = 0; i < n; i++) {
    const unsigned char *at = (const unsigned char *)content + i * width;
    size_t k = 0;
    while (k < width && at[k] == (filled ? filled : pattern)[(i * width + k) % period]) k++;
    n_same += k == width;
  }
  free(filled);
  return bordered && n_same < n ? 0 : n_same;
}

bool clt_bindings_change_inputs(const clt_bindings *bindings) {
  for (size_t i = 0; i < bindings->n; i++)
    if (bindings->items[i].object.memory && bindings->items[i].arg->has_data) return true;
  return false;
}

static int end_filling(cl_int status, clt_measurement *m, clt_error *error) {
  if (status == CL_SUCCESS) return CLT_OK;
  if (clt_cl_out_of_memory(status)) return clt_reject_cl(m, CLT_REASON_OUT_OF_MEMORY, status, "filling the arguments");
  return clt_fail_cl(error, status, "fill the arguments");
}

int clt_bindings_restore(clt_bindings *bindings, clt_executor *executor, clt_restore level, clt_measurement *m,
                         clt_error *error) {
  cl_int status = CL_SUCCESS;
  const unsigned turn = level == CLT_RESTORE_INPUTS ? 0 : bindings->turn++;
  for (size_t i = 0; status == CL_SUCCESS && i < bindings->n; i++) {
    const clt_binding *binding = &bindings->items[i];
    bool has_data = binding->arg->has_data;
    clt_restore needed = binding->verified ? CLT_RESTORE_OUTPUTS : CLT_RESTORE_ALL;
    if (has_data) needed = CLT_RESTORE_INPUTS;
    const clt_object *object = binding->lent ? binding->lent : &binding->object;
    if (object->memory == NULL || needed > level) continue;
    unsigned char pattern[4 * sizeof(double)] = {0};
    if (binding->input && (has_data || turn % 3 == 0))
      status = clt_object_copy(executor, object, &binding->input->object);
    else
      status = clt_object_fill(executor, object, pattern, has_data ? 8 : make_poison(pattern, binding, turn));
  }
  if (status == CL_SUCCESS) status = clFinish(executor->queue);
  return end_filling(status, m, error);
}

int clt_bindings_preset(const clt_bindings *bindings, clt_executor *executor, bool right, clt_measurement *m,
                        clt_error *error) {
  cl_int status = CL_SUCCESS;
  for (size_t i = 0; status == CL_SUCCESS && i < bindings->n; i++) {
    const clt_binding *binding = &bindings->items[i];
    if (!binding->verified || binding->arg->has_data) continue;
    unsigned char *content = malloc(binding->arg->bytes);
    /* The host does the same work for both: the next run is timed. */
    if (content) clt_array_store(content, binding->arg, binding->array->reference);
    if (content && !right) memset(content, 0x7f, binding->arg->bytes); /* large numbers */
    status = content ? clt_object_write(executor, &binding->object, content) : CL_OUT_OF_HOST_MEMORY;
    free(content);
  }
  return end_filling(status, m, error);
}
