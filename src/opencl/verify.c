/* What is looked at after a run: guards, inputs, outputs. A driver that fails here was brought down by the kernel. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/hash.h"
#include "opencl/internal.h"

static int reject_reading(const clt_binding *binding, cl_int status, clt_measurement *m) {
  return clt_reject(m, CLT_REASON_RUN_ERROR, "reading back argument '%s' after the run: %s (%d)", binding->arg->name,
                    clt_cl_status_name(status), status);
}

static int check_guard(const clt_binding *binding, const clt_object *object, clt_executor *executor,
                       clt_measurement *m) {
  clt_guard_state state;
  size_t distance;
  cl_int status = clt_guard_check(&state, &distance, executor, object);
  if (status != CL_SUCCESS) return reject_reading(binding, status, m);
  if (state == CLT_GUARD_WHOLE) return CLT_OK;
  return clt_reject(m, CLT_REASON_OUT_OF_BOUNDS, "wrote %s argument '%s', %zu bytes away from it",
                    state == CLT_GUARD_BEFORE ? "before the start of" : "behind the end of", binding->arg->name,
                    distance);
}

/* The content of an input that the kernel was to read only. */
static int check_input(const clt_binding *binding, clt_executor *executor, clt_measurement *m) {
  const clt_object *object = &binding->input->object;
  clt_view view;
  cl_int status = clt_object_view(&view, executor, object);
  if (status != CL_SUCCESS) return reject_reading(binding, status, m);
  bool intact = clt_hash64(view.bytes, object->bytes) == binding->input->hash;
  clt_object_close(executor, object, &view);
  if (intact) return CLT_OK;
  return clt_reject(m, CLT_REASON_OUT_OF_BOUNDS, "wrote into argument '%s', which is an input", binding->arg->name);
}

static int print_number(char *out, size_t capacity, clt_element_base base, const unsigned char *bytes) {
  union {
    int8_t i8;
    int16_t i16;
    int32_t i32;
    int64_t i64;
    float f;
    double d;
  } v = {0};
  memcpy(&v, bytes, clt_element_base_bytes(base));
  switch (base) {
    case CLT_ELEMENT_CHAR: return snprintf(out, capacity, "%d", v.i8);
    case CLT_ELEMENT_UCHAR: return snprintf(out, capacity, "%u", (uint8_t)v.i8);
    case CLT_ELEMENT_SHORT: return snprintf(out, capacity, "%d", v.i16);
    case CLT_ELEMENT_USHORT: return snprintf(out, capacity, "%u", (uint16_t)v.i16);
    case CLT_ELEMENT_INT: return snprintf(out, capacity, "%d", v.i32);
    case CLT_ELEMENT_UINT: return snprintf(out, capacity, "%u", (uint32_t)v.i32);
    case CLT_ELEMENT_LONG: return snprintf(out, capacity, "%lld", (long long)v.i64);
    case CLT_ELEMENT_ULONG: return snprintf(out, capacity, "%llu", (unsigned long long)v.i64);
    case CLT_ELEMENT_HALF: return snprintf(out, capacity, "half 0x%04x", (uint16_t)v.i16);
    case CLT_ELEMENT_FLOAT: return snprintf(out, capacity, "%.9g", (double)v.f);
    case CLT_ELEMENT_DOUBLE: return snprintf(out, capacity, "%.17g", v.d);
  }
  return 0;
}

/* An element as people write it: "1.5", "{1, 2, 3, 4}". */
static void print_element(char *out, size_t capacity, const clt_element *element, const void *array, size_t index) {
  const unsigned char *bytes = (const unsigned char *)array + index * element->bytes;
  size_t width = clt_element_base_bytes(element->base), used = 0;
  bool vector = element->components > 1;
  for (int i = 0; i < element->components && used + 40 < capacity; i++) {
    used += (size_t)snprintf(out + used, capacity - used, "%s", i ? ", " : vector ? "{" : "");
    used += (size_t)print_number(out + used, capacity - used, element->base, bytes + (size_t)i * width);
  }
  snprintf(out + used, capacity - used, "%s", vector ? "}" : "");
}

static int verify_output(const clt_binding *binding, clt_executor *executor, clt_measurement *m) {
  const clt_plan_arg *arg = binding->arg;
  const clt_object *object = binding->object.memory ? &binding->object : &binding->input->object;
  clt_view view;
  double max_abs_error = 0;
  size_t where = 0;
  int rc = CLT_OK;
  cl_int status = clt_object_view(&view, executor, object);
  if (status != CL_SUCCESS) return reject_reading(binding, status, m);
  const void *result = view.bytes;
  if (arg->border[0] | arg->border[1] | arg->border[2]) {
    void *logical = clt_scratch_get(&executor->logical, binding->array->bytes);
    if (logical) clt_array_unstore(logical, arg, view.bytes);
    result = logical;
  }
  if (result == NULL) {
    rc = clt_reject(m, CLT_REASON_OUT_OF_MEMORY, "no memory to compare argument '%s'", arg->name);
  } else if (!clt_array_matches(binding->array, result, &max_abs_error, &where)) {
    char got[600], expected[600];
    const size_t *extent = arg->extent;
    print_element(got, sizeof got, &binding->array->element, result, where);
    print_element(expected, sizeof expected, &binding->array->element, binding->array->reference, where);
    rc = clt_reject(m, CLT_REASON_WRONG_OUTPUT,
                    "argument '%s', element %zu (%zu, %zu, %zu): got %s, expected %s; largest error %g", arg->name,
                    where, where % extent[0], where / extent[0] % extent[1], where / extent[0] / extent[1], got,
                    expected, max_abs_error);
  }
  m->max_abs_error = isnan(m->max_abs_error) ? max_abs_error : fmax(m->max_abs_error, max_abs_error);
  clt_object_close(executor, object, &view);
  return rc;
}

int clt_bindings_verify(const clt_bindings *bindings, clt_executor *executor, bool inputs, clt_measurement *m) {
  int rc = CLT_OK;
  double started = clt_now_s();
  clt_executor_announce(executor, CLT_PHASE_VERIFY);
  for (size_t i = 0; rc == 0 && i < bindings->n; i++) {
    const clt_binding *binding = &bindings->items[i];
    if (binding->object.memory) {
      rc = check_guard(binding, &binding->object, executor, m);
    } else if (binding->input) {
      rc = check_guard(binding, &binding->input->object, executor, m);
      if (rc == 0 && inputs) rc = check_input(binding, executor, m);
    }
  }
  if (rc) clt_bindings_distrust(bindings);
  for (size_t i = 0; rc == 0 && i < bindings->n; i++)
    if (bindings->items[i].verified) rc = verify_output(&bindings->items[i], executor, m);
  m->phases.verify_s += clt_now_s() - started;
  return rc;
}
