/* The checks after a run: guards, inputs, outputs. If the driver fails during these checks, the kernel is to blame. */
#include <utlist.h>

#include "base/base.h"
#include "base/hash.h"
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
                    object->name, whose, distance, CLT_PLURAL(distance));
}

/* Checks the content of an input that kernels only read. */
static int check_input(clt_input *input, clt_executor *executor, clt_measurement *m) {
  const clt_object *object = &input->object;
  clt_view view;
  uint64_t hash = 0;
  cl_int status = clt_object_hash(&hash, &view, executor, object);
  const bool intact = status == CL_SUCCESS && hash == input->hash;
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

/* --- outputs --- */

static uint64_t layout_of(const clt_binding *binding) {
  const clt_plan_arg *arg = binding->arg;
  uint64_t parts[8] = {arg->kind, arg->border_mode};
  memcpy(parts + 2, arg->extent, sizeof arg->extent);
  memcpy(parts + 5, arg->border, sizeof arg->border);
  return clt_hash64(parts, sizeof parts);
}

/* Whether an equal result, stored in the same way, was compared before. *m gets its difference from the reference. */
static bool is_known(const clt_binding *binding, const clt_executor *executor, clt_measurement *m) {
  for (size_t i = 0; i < CLT_CORRECT_KEPT; i++) {
    if (executor->correct[i].array != binding->array || executor->correct[i].hash != binding->hash ||
        executor->correct[i].layout != layout_of(binding))
      continue;
    m->max_abs_error = fmax(m->max_abs_error, executor->correct[i].error);
    return true;
  }
  return false;
}

static void note_correct(clt_executor *executor, const clt_binding *binding, double error) {
  const size_t i = executor->n_correct++ % CLT_CORRECT_KEPT;
  executor->correct[i].array = binding->array;
  executor->correct[i].hash = binding->hash;
  executor->correct[i].layout = layout_of(binding);
  executor->correct[i].error = error;
}

/* Hashes an output, and opens it unless the result is known to be correct. */
static int read_output(clt_binding *binding, clt_executor *executor, bool known_apart, clt_measurement *m) {
  const clt_object *object = clt_binding_object(binding);
  cl_int status = clt_object_hash(&binding->hash, &binding->view, executor, object);
  if (status == CL_SUCCESS && !known_apart && is_known(binding, executor, m))
    clt_object_close(executor, object, &binding->view);
  else if (status == CL_SUCCESS && binding->view.bytes == NULL)
    status = clt_object_view(&binding->view, executor, object);
  return status == CL_SUCCESS ? CLT_OK : reject_reading(executor, binding->arg->name, status, m);
}

#define NO_LOCAL_SIZE \
  "the driver chose the size of the work-groups; if the kernel relies on one, state it as \"LocalSize\""

/* turn: the turn of the poison in the output. */
static int compare_output(const clt_binding *binding, unsigned turn, clt_executor *executor, clt_measurement *m) {
  const clt_plan_arg *arg = binding->arg;
  clt_comparison compared = {0};
  int rc = CLT_OK;
  bool bordered = arg->border[0] | arg->border[1] | arg->border[2];
  void *logical = bordered ? malloc(binding->array->bytes) : NULL;
  const void *result = bordered ? logical : binding->view.bytes;
  if (logical) clt_array_unstore(logical, arg, binding->view.bytes);
  if (result == NULL) {
    rc = clt_reject(m, CLT_REASON_OUT_OF_MEMORY, "no memory to compare argument '%s'", arg->name);
  } else if (!clt_array_matches(&compared, binding->array, result)) {
    const clt_array *array = binding->array;
    clt_text text = {0};
    const size_t n_untouched = clt_binding_untouched(binding, turn, binding->view.bytes);
    const bool untouched = n_untouched == arg->bytes / arg->element.bytes;
    if (n_untouched > 0 && !untouched)
      clt_text_printf(&text,
                      "argument '%s': elements that were never written: %zu; write them, or, if no configuration needs "
                      "to, give the argument a \"FillType\" for what they contain before the run\n",
                      arg->name, n_untouched);
    clt_text_printf(&text, "argument '%s', ", arg->name);
    describe_wrong(&text, &compared.first, binding, result);
    clt_text_printf(&text, "; %zu of %zu elements %s incorrect%s\n", compared.n_wrong,
                    array->bytes / array->element.bytes, compared.n_wrong == 1 ? "is" : "are",
                    untouched ? ": nothing was written" : "");
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
    note_correct(executor, binding, compared.max_abs_error);
  }
  m->max_abs_error = fmax(m->max_abs_error, compared.max_abs_error);
  free(logical);
  return rc;
}

/* Verifies all outputs together with the problem's own function, unless it has accepted this result of this
 * configuration before. */
static int verify_by_function(clt_bindings *bindings, clt_measurement *m) {
  const clt_data *data = bindings->data;
  uint64_t hash = 0;
  for (size_t i = 0; i < bindings->n; i++)
    if (bindings->items[i].verified)
      hash = clt_hash64((const uint64_t[]){hash, bindings->items[i].hash}, 2 * sizeof hash);
  if (bindings->was_accepted && bindings->accepted_hash == hash) return CLT_OK;
  void **results = clt_new_array(data->n_arrays, sizeof *results);
  int rc = results ? CLT_OK : clt_reject(m, CLT_REASON_OUT_OF_MEMORY, "no memory to verify the result");
  for (size_t i = 0; rc == CLT_OK && i < bindings->n; i++) {
    const clt_binding *binding = &bindings->items[i];
    if (!binding->verified) continue;
    void **result = &results[binding->array - data->arrays];
    if (*result == NULL && (*result = malloc(binding->array->bytes)) == NULL)
      rc = clt_reject(m, CLT_REASON_OUT_OF_MEMORY, "no memory to verify argument '%s'", binding->arg->name);
    else
      clt_array_unstore(*result, binding->arg, binding->view.bytes);
  }
  if (rc == CLT_OK) {
    char message[CLT_MODULE_MESSAGE_BYTES];
    const int wrong = clt_data_verify(message, data, bindings->config, results);
    if (wrong < 0) rc = clt_reject(m, CLT_REASON_OUT_OF_MEMORY, "no memory to verify the result");
    if (wrong > 0)
      rc = clt_reject(m, CLT_REASON_WRONG_OUTPUT, "the problem's \"Verify\" rejects the result%s%s",
                      message[0] ? ": " : "", message);
  }
  bindings->was_accepted = rc == CLT_OK;
  bindings->accepted_hash = hash;
  for (size_t i = 0; results && i < data->n_arrays; i++) free(results[i]);
  free(results);
  return rc;
}

int clt_bindings_verify(clt_bindings *bindings, clt_executor *executor, bool memory, clt_measurement *m) {
  double started = clt_now_s();
  const bool by_function = bindings->data && bindings->data->verify;
  bool any = false;
  clt_executor_announce(executor, CLT_PHASE_VERIFY);
  int rc = memory ? clt_check_memory(bindings, executor, m) : CLT_OK;
  for (size_t i = 0; rc == CLT_OK && i < bindings->n; i++) {
    if (!bindings->items[i].verified || bindings->checked) continue;
    rc = read_output(&bindings->items[i], executor, by_function, m);
    any = true;
  }
  if (rc == CLT_OK && memory) clt_executor_announce(executor, CLT_PHASE_COMPARE);
  if (rc == CLT_OK && any && by_function) rc = verify_by_function(bindings, m);
  for (size_t i = 0; i < bindings->n; i++) {
    clt_binding *binding = &bindings->items[i];
    if (rc == CLT_OK && binding->view.bytes && !by_function)
      rc = compare_output(binding, bindings->turn - 1, executor, m);
    if (binding->view.bytes) clt_object_close(executor, clt_binding_object(binding), &binding->view);
  }
  if (rc && !memory)
    clt_check_memory(bindings, executor, m); /* damaged memory is the better explanation of an incorrect result */
  bindings->checked = rc == CLT_OK;
  char *said = m->log;
  if (rc && m->reason == CLT_REASON_WRONG_OUTPUT && bindings->driver_chooses && said &&
      (m->log = clt_format("%s\n%s", said, NO_LOCAL_SIZE)) != NULL)
    free(said);
  else
    m->log = said;
  m->phases.verify_s += clt_now_s() - started;
  return rc;
}
