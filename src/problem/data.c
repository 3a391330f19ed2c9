/* The data set of an instance. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/fail.h"
#include "base/memory.h"
#include "problem/dataset.h"

static int make_array(const clt_instance *instance, const clt_argument *argument, uint64_t seed, clt_array *out,
                      clt_error *error) {
  const clt_problem *problem = instance->problem;
  clt_reference_kind kind = problem->reference.kind;
  *out = (clt_array){.element = argument->element, .bytes = argument->element.bytes};
  out->input = clt_problem_fill(problem, argument->name) != NULL;
  out->verified = clt_is_verified(problem, argument->name) && kind != CLT_REFERENCE_NONE &&
                  !(kind == CLT_REFERENCE_FILE && seed != 1);
  out->absolute_tolerance = argument->absolute_tolerance;
  out->relative_tolerance = argument->relative_tolerance;
  int rc = clt_evaluate_extent(instance, &argument->size, NULL, 1, 1, out->extent, error);
  for (size_t d = 0; rc == CLT_OK && d < 3; d++)
    if (!clt_size_multiply(&out->bytes, out->bytes, out->extent[d]))
      rc = clt_key_fail(&problem->source, argument->key, CLT_E_RANGE, error, "\"%s\" exceeds 2^64 bytes",
                        argument->name);
  if (rc == CLT_OK && (out->name = strdup(argument->name)) == NULL) rc = clt_fail_memory(error);
  return rc;
}

static bool belongs(const clt_problem *problem, const clt_argument *argument) {
  return clt_holds_data(argument) && clt_problem_argument(problem, argument->name) == argument &&
         (clt_problem_fill(problem, argument->name) || clt_is_verified(problem, argument->name));
}

int clt_data_new_empty(clt_data **out, const clt_instance *instance, uint64_t seed, clt_error *error) {
  const clt_problem *problem = instance->problem;
  clt_data *data = calloc(1, sizeof *data);
  if (data == NULL) return clt_fail_memory(error);
  data->seed = seed;
  data->arrays = clt_new_array(problem->n_arguments, sizeof *data->arrays);
  int rc = data->arrays ? CLT_OK : clt_fail_memory(error);
  for (size_t i = 0; rc == CLT_OK && i < problem->n_arguments; i++)
    if (belongs(problem, &problem->arguments[i]))
      rc = make_array(instance, &problem->arguments[i], seed, &data->arrays[data->n_arrays++], error);
  if (rc == CLT_OK) {
    *out = data;
  } else {
    clt_data_free(data);
  }
  return rc;
}

/* What a module's function may see. */
typedef struct view {
  clt_module_array *arrays;
  clt_module_scalar *scalars;
  char (*types)[16];
  size_t n_arrays, n_scalars;
} view;

static void name_type(char out[16], clt_element element) {
  static const char *const bases[] = {"char", "uchar", "short", "ushort", "int",   "uint",
                                      "long", "ulong", "half",  "float",  "double"};
  if (element.components == 1) {
    snprintf(out, 16, "%s", bases[element.base]);
  } else {
    snprintf(out, 16, "%s%d", bases[element.base], element.components);
  }
}

/* Problem parameters, and scalar arguments that are the same for all configurations. */
static void view_scalars(view *v, const clt_instance *instance) {
  const clt_problem *problem = instance->problem;
  for (size_t i = 0; i < problem->n_sizes; i++)
    v->scalars[v->n_scalars++] = (clt_module_scalar){problem->sizes[i].name, (double)instance->sizes[i]};
  for (size_t i = 0; i < problem->n_arguments; i++) {
    const clt_argument *argument = &problem->arguments[i];
    double value;
    if (argument->kind == CLT_ARG_SCALAR && argument->fill.kind == CLT_FILL_CONSTANT &&
        clt_evaluate_number(instance, argument->fill.value, NULL, &value, NULL) == CLT_OK)
      v->scalars[v->n_scalars++] = (clt_module_scalar){argument->name, value};
  }
}

static int view_new(view *v, const clt_instance *instance, const clt_data *data, clt_error *error) {
  const clt_problem *problem = instance->problem;
  *v = (view){.arrays = clt_new_array(data->n_arrays, sizeof *v->arrays),
              .types = clt_new_array(data->n_arrays, sizeof *v->types),
              .scalars = clt_new_array(problem->n_sizes + problem->n_arguments, sizeof *v->scalars)};
  if (!v->arrays || !v->types || !v->scalars) return clt_fail_memory(error);
  view_scalars(v, instance);
  return CLT_OK;
}

static void view_release(view *v) {
  free(v->arrays);
  free(v->types);
  free(v->scalars);
}

static void show(view *v, const clt_array *array, void *content) {
  clt_module_array *shown = &v->arrays[v->n_arrays];
  name_type(v->types[v->n_arrays], array->element);
  *shown =
      (clt_module_array){.name = array->name, .type = v->types[v->n_arrays], .data = content, .bytes = array->bytes};
  memcpy(shown->extent, array->extent, sizeof shown->extent);
  v->n_arrays++;
}

static clt_module_call call_of(const view *v, uint64_t seed, const clt_module_array *target) {
  return (clt_module_call){.arrays = v->arrays,
                           .n_arrays = v->n_arrays,
                           .scalars = v->scalars,
                           .n_scalars = v->n_scalars,
                           .target = target,
                           .seed = seed};
}

/* Fills one array's input; the ones before it can be seen by a module's generator. */
static int make_input(const clt_instance *instance, clt_data *data, clt_array *array, view *v, clt_error *error) {
  const clt_fill *fill = clt_problem_fill(instance->problem, array->name);
  if (fill == NULL) return CLT_OK;
  if ((array->data = calloc(1, array->bytes)) == NULL) return clt_fail_memory(error);
  show(v, array, array->data);
  clt_module_call call = call_of(v, data->seed, &v->arrays[v->n_arrays - 1]);
  return clt_fill_array(instance, fill, array, array->data, &call, error);
}

static int make_inputs(const clt_instance *instance, clt_data *data, clt_error *error) {
  view v;
  int rc = view_new(&v, instance, data, error);
  for (size_t i = 0; rc == CLT_OK && i < data->n_arrays; i++)
    rc = make_input(instance, data, &data->arrays[i], &v, error);
  view_release(&v);
  return rc;
}

/* A reference function finds the verified arrays with their content before the run. */
static int make_result(clt_array *array, view *v, clt_error *error) {
  if (!array->verified) return show(v, array, array->data), CLT_OK;
  array->reference = calloc(1, array->bytes);
  if (array->reference == NULL) return clt_fail_memory(error);
  if (array->data) memcpy(array->reference, array->data, array->bytes);
  show(v, array, array->reference);
  return CLT_OK;
}

static int reference_by_module(const clt_instance *instance, clt_data *data, clt_error *error) {
  const clt_reference *reference = &instance->problem->reference;
  clt_module_function function;
  view v;
  int rc = view_new(&v, instance, data, error);
  for (size_t i = 0; rc == CLT_OK && i < data->n_arrays; i++) rc = make_result(&data->arrays[i], &v, error);
  if (rc == CLT_OK) rc = clt_module_find_function(&function, reference->module, reference->function, error);
  clt_module_call call = call_of(&v, data->seed, NULL);
  if (rc == CLT_OK && function(&call) != 0)
    rc = clt_fail(error, CLT_E_VERIFY, "the reference '%s' of '%s' failed", reference->function, reference->module);
  view_release(&v);
  return rc;
}

static int call_quality(double *out, const clt_quality *quality, const clt_data *data, view *v, clt_error *error) {
  double value = NAN;
  const clt_module_array target = {
      .name = quality->name, .type = "double", .extent = {1, 1, 1}, .data = &value, .bytes = sizeof value};
  clt_module_function function;
  for (size_t i = 0; i < data->n_arrays; i++) {
    const clt_array *array = &data->arrays[i];
    show(v, array, array->reference ? array->reference : array->data);
  }
  int rc = clt_module_find_function(&function, quality->module, quality->function, error);
  if (rc) return rc;
  clt_module_call call = call_of(v, data->seed, &target);
  *out = function(&call) == 0 && isfinite(value) ? value : NAN;
  return CLT_OK;
}

int clt_data_quality(double *out, const clt_instance *instance, const clt_data *data, clt_error *error) {
  const clt_quality *quality = &instance->problem->reference.quality;
  view v;
  *out = NAN;
  if (quality->name == NULL) return CLT_OK;
  int rc = view_new(&v, instance, data, error);
  if (rc == CLT_OK) rc = call_quality(out, quality, data, &v, error);
  view_release(&v);
  return rc;
}

static int reference_by_files(const clt_instance *instance, clt_data *data, clt_error *error) {
  const clt_reference *reference = &instance->problem->reference;
  view v;
  int rc = data->seed == 1 ? CLT_OK : CLT_E_AGAIN;
  if (rc) return CLT_OK; /* files hold for the usual input only */
  rc = view_new(&v, instance, data, error);
  for (size_t i = 0; rc == CLT_OK && i < reference->n_arrays; i++) {
    clt_array *array = clt_data_find(data, reference->arrays[i].target);
    if (array == NULL || array->reference) continue;
    array->reference = calloc(1, array->bytes);
    if (array->reference == NULL) rc = clt_fail_memory(error);
    if (rc) break;
    v.n_arrays = 0;
    show(&v, array, array->reference);
    clt_module_call call = call_of(&v, data->seed, v.arrays);
    rc = clt_fill_array(instance, &reference->arrays[i].fill, array, array->reference, &call, error);
  }
  view_release(&v);
  return rc;
}

int clt_data_new(clt_data **out, const clt_instance *instance, uint64_t seed, clt_error *error) {
  clt_reference_kind kind = instance->problem->reference.kind;
  clt_data *data = NULL;
  int rc = clt_data_new_empty(&data, instance, seed, error);
  if (rc == CLT_OK) rc = make_inputs(instance, data, error);
  if (rc == CLT_OK && kind == CLT_REFERENCE_MODULE) rc = reference_by_module(instance, data, error);
  if (rc == CLT_OK && kind == CLT_REFERENCE_FILE) rc = reference_by_files(instance, data, error);
  if (rc == CLT_OK) {
    *out = data;
  } else {
    clt_data_free(data);
  }
  return rc;
}

static void release(const clt_array *array, void *content) {
  if (content && array->mapped) munmap(content, array->bytes);
  if (!array->mapped) free(content);
}

void clt_data_free(clt_data *data) {
  if (data == NULL) return;
  for (size_t i = 0; data->arrays && i < data->n_arrays; i++) {
    clt_array *array = &data->arrays[i];
    release(array, array->data);
    release(array, array->reference);
    free(array->name);
  }
  free(data->arrays);
  free(data);
}

clt_array *clt_data_find(const clt_data *data, const char *name) {
  for (size_t i = 0; i < data->n_arrays; i++)
    if (strcmp(data->arrays[i].name, name) == 0) return &data->arrays[i];
  return NULL;
}
