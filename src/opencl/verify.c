/* The checks after a run: guards, inputs, outputs. If the driver fails during these checks, the kernel is to blame. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "base/clock.h"
#include "base/hash.h"
#include "base/memory.h"
#include "base/text.h"
#include "opencl/internal.h"

static int reject_reading(const clt_executor *executor, const char *name, cl_int status, clt_measurement *m) {
  clt_reject(m, CLT_REASON_RUN_ERROR, "reading back argument '%s' after the run: %s (%d)", name,
             clt_cl_status_name(status), status);
  clt_tell_fault(executor, m);
  return CLT_REJECTED;
}

static int check_guards(const clt_object *object, bool own, clt_executor *executor, clt_measurement *m) {
  const char *where, *whose = own ? "" : " of another configuration";
  size_t distance = 0;
  cl_int status = clt_object_check_guards(&where, &distance, executor, object);
  if (status != CL_SUCCESS) return reject_reading(executor, object->name, status, m);
  if (where == NULL) return CLT_OK;
  return clt_reject(m, CLT_REASON_OUT_OF_BOUNDS, "wrote %s argument '%s'%s, %zu byte%s away from it", where,
                    object->name, whose, distance, distance == 1 ? "" : "s");
}

/* Checks the content of an input that kernels only read. */
static int check_input(clt_input *input, clt_executor *executor, clt_measurement *m) {
  const clt_object *object = &input->object;
  clt_view view;
  cl_int status = clt_object_view(&view, executor, object);
  bool intact = status == CL_SUCCESS && clt_hash64(view.bytes, object->bytes) == input->hash;
  clt_object_close(executor, object, &view);
  if (status == CL_SUCCESS && !intact) status = clt_input_write(input, executor);
  if (status != CL_SUCCESS) return reject_reading(executor, object->name, status, m);
  if (intact) return CLT_OK;
  return clt_reject(m, CLT_REASON_OUT_OF_BOUNDS, "overwrote the input data of argument '%s'", object->name);
}

int clt_check_memory(const clt_bindings *bindings, clt_executor *executor, clt_measurement *m) {
  int rc = CLT_OK;
  const clt_object *object;
  clt_input *input;
  DL_FOREACH(executor->objects, object) {
    bool own = false;
    for (size_t i = 0; i < bindings->n; i++)
      own |= object == &bindings->items[i].object || object == bindings->items[i].lent ||
             (bindings->items[i].input && object == &bindings->items[i].input->object);
    if (check_guards(object, own, executor, rc ? NULL : m)) rc = CLT_REJECTED;
  }
  DL_FOREACH(executor->inputs.first, input)
  if (input->users && !input->wrong && !input->stale && check_input(input, executor, rc ? NULL : m)) rc = CLT_REJECTED;
  return rc;
}

/* Prints an element: "1.5", "{1, 2, 3, 4}". */
static void print_element(char *out, size_t capacity, const clt_element *element, const void *array, size_t index) {
  const unsigned char *bytes = (const unsigned char *)array + index * element->bytes;
  size_t width = clt_element_base_bytes(element->base), used = 0;
  const char *begin = element->components > 1 ? "{" : "", *end = element->components > 1 ? "}" : "";
  for (int i = 0; i < element->components && used + 40 < capacity; i++, bytes += width) {
    char number[40];
    union {
      int64_t integer;
      float single;
      double real;
    } value = {0};
    memcpy(&value, bytes, width);
    switch (element->base) {
      case CLT_ELEMENT_CHAR: snprintf(number, sizeof number, "%d", (int8_t)value.integer); break;
      case CLT_ELEMENT_SHORT: snprintf(number, sizeof number, "%d", (int16_t)value.integer); break;
      case CLT_ELEMENT_INT: snprintf(number, sizeof number, "%d", (int32_t)value.integer); break;
      case CLT_ELEMENT_LONG: snprintf(number, sizeof number, "%lld", (long long)value.integer); break;
      case CLT_ELEMENT_HALF: snprintf(number, sizeof number, "half 0x%04x", (unsigned)value.integer); break;
      case CLT_ELEMENT_FLOAT: clt_snprintf(number, sizeof number, "%.9g", (double)value.single); break;
      case CLT_ELEMENT_DOUBLE: clt_snprintf(number, sizeof number, "%.17g", value.real); break;
      default: snprintf(number, sizeof number, "%llu", (unsigned long long)value.integer);
    }
    used += (size_t)snprintf(out + used, capacity - used, "%s%s", i ? ", " : begin, number);
  }
  snprintf(out + used, capacity - used, "%s", end);
}

/* "element 7 (7, 0, 0): got 15, expected 14 (off by 1, 7.1 %)" */
static void describe_wrong(clt_text *out, const clt_wrong_element *wrong, const clt_binding *binding,
                           const void *result) {
  char got[600], expected[600];
  const clt_array *array = binding->array;
  const size_t *extent = binding->arg->extent, i = wrong->index;
  print_element(got, sizeof got, &array->element, result, i);
  print_element(expected, sizeof expected, &array->element, array->reference, i);
  clt_text_printf(out, "element %zu (%zu, %zu, %zu): got %s, expected %s", i, i % extent[0], i / extent[0] % extent[1],
                  i / extent[0] / extent[1], got, expected);
  if (isinf(wrong->error)) return;
  clt_text_printf(out, " (off by %.3g", wrong->error);
  if (wrong->magnitude > 0) clt_text_printf(out, ", %.3g %%", 100 * wrong->error / wrong->magnitude);
  clt_text_add(out, ")");
}

/* turn: the turn of the poison in the output. */
static int verify_output(clt_binding *binding, unsigned turn, clt_executor *executor, clt_measurement *m) {
  const clt_plan_arg *arg = binding->arg;
  const clt_object *object = clt_binding_object(binding);
  clt_view view;
  clt_comparison compared = {0};
  int rc = CLT_OK;
  cl_int status = clt_object_view(&view, executor, object);
  if (status != CL_SUCCESS) return reject_reading(executor, arg->name, status, m);
  uint64_t hash = clt_hash64(view.bytes, object->bytes);
  if (binding->was_right && binding->right_hash == hash) {
    clt_object_close(executor, object, &view);
    return CLT_OK;
  }
  bool bordered = arg->border[0] | arg->border[1] | arg->border[2];
  void *logical = bordered ? malloc(binding->array->bytes) : NULL;
  const void *result = bordered ? logical : view.bytes;
  if (logical) clt_array_unstore(logical, arg, view.bytes);
  if (result == NULL) {
    rc = clt_reject(m, CLT_REASON_OUT_OF_MEMORY, "no memory to compare argument '%s'", arg->name);
  } else if (!clt_array_matches(&compared, binding->array, result)) {
    const clt_array *array = binding->array;
    clt_text text = {0};
    clt_text_printf(&text, "argument '%s', ", arg->name);
    describe_wrong(&text, &compared.first, binding, result);
    clt_text_printf(&text, "; %zu of %zu elements %s incorrect", compared.n_wrong, array->bytes / array->element.bytes,
                    compared.n_wrong == 1 ? "is" : "are");
    if (clt_binding_untouched(binding, turn, view.bytes, hash)) clt_text_add(&text, ": nothing was written");
    clt_text_add(&text, "\n");
    if (compared.worst.index != compared.first.index) {
      clt_text_add(&text, "largest difference: ");
      describe_wrong(&text, &compared.worst, binding, result);
      clt_text_add(&text, "\n");
    }
    clt_text_printf(
        &text,
        "allowed: a difference of %g (\"AbsoluteTolerance\" of the argument) + %g (\"RelativeTolerance\") times "
        "the expected value",
        array->absolute_tolerance, array->relative_tolerance);
    rc = clt_reject(m, CLT_REASON_WRONG_OUTPUT, "%s", text.rc ? arg->name : text.bytes);
    clt_text_release(&text);
  } else {
    binding->was_right = true;
    binding->right_hash = hash;
  }
  m->max_abs_error = isnan(m->max_abs_error) ? compared.max_abs_error : fmax(m->max_abs_error, compared.max_abs_error);
  clt_object_close(executor, object, &view);
  free(logical);
  return rc;
}

/* Verifies all outputs together with the problem's own function. A result that it accepted before is not verified
 * again. */
static int verify_by_function(clt_bindings *bindings, clt_executor *executor, clt_measurement *m) {
  const clt_data *data = bindings->data;
  void **results = clt_new_array(data->n_arrays, sizeof *results);
  bool known = true;
  int rc = results ? CLT_OK : clt_reject(m, CLT_REASON_OUT_OF_MEMORY, "no memory to verify the result");
  for (size_t i = 0; rc == CLT_OK && i < bindings->n; i++) {
    clt_binding *binding = &bindings->items[i];
    const clt_object *object = clt_binding_object(binding);
    clt_view view;
    if (!binding->verified) continue;
    cl_int status = clt_object_view(&view, executor, object);
    if (status != CL_SUCCESS) {
      rc = reject_reading(executor, binding->arg->name, status, m);
      break;
    }
    const uint64_t hash = clt_hash64(view.bytes, object->bytes);
    void **result = &results[binding->array - data->arrays];
    known = known && binding->was_right && binding->right_hash == hash;
    binding->was_right = false;
    binding->right_hash = hash;
    if (*result == NULL && (*result = malloc(binding->array->bytes)) == NULL)
      rc = clt_reject(m, CLT_REASON_OUT_OF_MEMORY, "no memory to verify argument '%s'", binding->arg->name);
    else
      clt_array_unstore(*result, binding->arg, view.bytes);
    clt_object_close(executor, object, &view);
  }
  if (rc == CLT_OK && !known) {
    char message[CLT_MODULE_MESSAGE_BYTES];
    const int wrong = clt_data_verify(message, data, bindings->config, results);
    if (wrong < 0) rc = clt_reject(m, CLT_REASON_OUT_OF_MEMORY, "no memory to verify the result");
    if (wrong > 0)
      rc = clt_reject(m, CLT_REASON_WRONG_OUTPUT, "the problem's \"Verify\" rejects the result%s%s",
                      message[0] ? ": " : "", message);
  }
  for (size_t i = 0; i < bindings->n; i++) bindings->items[i].was_right = rc == CLT_OK;
  for (size_t i = 0; results && i < data->n_arrays; i++) free(results[i]);
  free(results);
  return rc;
}

int clt_bindings_verify(clt_bindings *bindings, clt_executor *executor, bool memory, clt_measurement *m) {
  double started = clt_now_s();
  clt_executor_announce(executor, CLT_PHASE_VERIFY);
  int rc = memory ? clt_check_memory(bindings, executor, m) : CLT_OK;
  const bool by_function = bindings->data && bindings->data->verify;
  for (size_t i = 0; rc == CLT_OK && i < bindings->n; i++) {
    if (!bindings->items[i].verified) continue;
    rc = by_function ? verify_by_function(bindings, executor, m)
                     : verify_output(&bindings->items[i], bindings->turn - 1, executor, m);
    if (by_function) break; /* the function verifies all of them */
  }
  if (rc && !memory)
    clt_check_memory(bindings, executor, m); /* damaged memory is the better explanation of an incorrect result */
  m->phases.verify_s += clt_now_s() - started;
  return rc;
}
