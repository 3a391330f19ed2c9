/* The data set of an instance: generating it, and sharing one copy with all worker processes through files. */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/file.h"
#include "base/memory.h"
#include "problem/parts.h"

/* --- arrays without content --- */

/* One array for each name of an argument with input or reference, in the order of the arguments. */
static int new_without_content(clt_data **out, const clt_instance *instance, uint64_t seed, clt_error *error) {
  const clt_problem *problem = instance->problem;
  const clt_reference_kind kind = problem->reference.kind;
  clt_data *data = calloc(1, sizeof *data);
  if (data == NULL) return clt_fail_memory(error);
  *out = data;
  data->seed = seed;
  data->arrays = clt_new_array(problem->n_arguments, sizeof *data->arrays);
  int rc = data->arrays ? CLT_OK : clt_fail_memory(error);
  for (size_t i = 0; rc == CLT_OK && i < problem->n_arguments; i++) {
    const clt_argument *argument = &problem->arguments[i];
    const char *name = argument->name;
    bool filled = clt_problem_fill(problem, name) != NULL, verified = clt_is_verified(problem, name);
    if (!clt_holds_data(argument) || clt_problem_argument(problem, name) != argument || !(filled || verified)) continue;
    clt_calculation c = {instance, NULL, error, CLT_OK};
    clt_array *array = &data->arrays[data->n_arrays++];
    *array =
        (clt_array){.element = argument->element,
                    .bytes = argument->element.bytes,
                    .input = filled,
                    .verified = verified && kind != CLT_REFERENCE_NONE && !(kind == CLT_REFERENCE_FILE && seed != 1),
                    .absolute_tolerance = argument->absolute_tolerance,
                    .relative_tolerance = argument->relative_tolerance};
    clt_evaluate_extent(&c, &argument->size, 1, 1, array->extent);
    rc = c.rc;
    for (size_t d = 0; rc == CLT_OK && d < 3; d++)
      if (!clt_size_multiply(&array->bytes, array->bytes, array->extent[d]))
        rc = clt_key_fail(&problem->source, argument->key, CLT_E_RANGE, error, "\"%s\" exceeds 2^64 bytes", name);
    if (rc == CLT_OK && (array->name = strdup(name)) == NULL) rc = clt_fail_memory(error);
  }
  return rc;
}

/* --- what a module's function may see --- */

typedef struct module_view {
  clt_module_array *arrays;
  clt_module_scalar *scalars;
  char (*types)[16];
  size_t n_arrays, n_scalars;
} module_view;

/* Without arrays yet. Scalars are the problem parameters, and scalar arguments that are the same for all
 * configurations. To be released also after a failure. */
static int view_new(module_view *view, const clt_instance *instance, const clt_data *data, clt_error *error) {
  const clt_problem *problem = instance->problem;
  *view = (module_view){.arrays = clt_new_array(data->n_arrays, sizeof *view->arrays),
                        .types = clt_new_array(data->n_arrays, sizeof *view->types),
                        .scalars = clt_new_array(problem->n_sizes + problem->n_arguments, sizeof *view->scalars)};
  if (!view->arrays || !view->types || !view->scalars) return clt_fail_memory(error);
  for (size_t i = 0; i < problem->n_sizes; i++)
    view->scalars[view->n_scalars++] = (clt_module_scalar){problem->sizes[i].name, (double)instance->sizes[i]};
  for (size_t i = 0; i < problem->n_arguments; i++) {
    const clt_argument *argument = &problem->arguments[i];
    clt_calculation c = {instance, NULL, NULL, CLT_OK};
    if (argument->kind != CLT_ARG_SCALAR || argument->fill.kind != CLT_FILL_CONSTANT) continue;
    double value = clt_evaluate_number(&c, argument->fill.value);
    if (c.rc == CLT_OK) view->scalars[view->n_scalars++] = (clt_module_scalar){argument->name, value};
  }
  return CLT_OK;
}

static void view_release(module_view *view) {
  free(view->arrays);
  free(view->types);
  free(view->scalars);
}

static void show_array(module_view *view, const clt_array *array, void *content) {
  static const char *const bases[] = {"char", "uchar", "short", "ushort", "int",   "uint",
                                      "long", "ulong", "half",  "float",  "double"};
  char *type = view->types[view->n_arrays];
  clt_element element = array->element;
  int n = snprintf(type, sizeof *view->types, "%s", bases[element.base]);
  if (element.components > 1) snprintf(type + n, sizeof *view->types - (size_t)n, "%d", element.components);
  clt_module_array *shown = &view->arrays[view->n_arrays++];
  *shown = (clt_module_array){.name = array->name, .type = type, .data = content, .bytes = array->bytes};
  memcpy(shown->extent, array->extent, sizeof shown->extent);
}

static clt_module_call call_of(const module_view *view, uint64_t seed, const clt_module_array *target) {
  return (clt_module_call){.arrays = view->arrays,
                           .n_arrays = view->n_arrays,
                           .scalars = view->scalars,
                           .n_scalars = view->n_scalars,
                           .target = target,
                           .seed = seed};
}

/* --- content --- */

int clt_data_new(clt_data **out, const clt_instance *instance, uint64_t seed, clt_error *error) {
  const clt_reference *reference = &instance->problem->reference;
  const bool by_module = reference->kind == CLT_REFERENCE_MODULE;
  const bool by_files = reference->kind == CLT_REFERENCE_FILE && seed == 1;
  clt_data *data = NULL;
  module_view view = {0};
  int rc = new_without_content(&data, instance, seed, error);
  if (rc == CLT_OK) rc = view_new(&view, instance, data, error);
  /* Generators of a module see the arrays before theirs. */
  for (size_t i = 0; rc == CLT_OK && i < data->n_arrays; i++) {
    clt_array *array = &data->arrays[i];
    const clt_fill *fill = clt_problem_fill(instance->problem, array->name);
    if (fill == NULL) continue;
    if ((array->data = calloc(1, array->bytes)) == NULL) {
      rc = clt_fail_memory(error);
      break;
    }
    show_array(&view, array, array->data);
    clt_module_call call = call_of(&view, seed, &view.arrays[view.n_arrays - 1]);
    rc = clt_fill_array(instance, fill, array, array->data, &call, error);
  }
  view.n_arrays = 0;
  /* The reference's function finds the verified arrays with their content before the run. */
  for (size_t i = 0; rc == CLT_OK && by_module && i < data->n_arrays; i++) {
    clt_array *array = &data->arrays[i];
    if (array->verified && (array->reference = calloc(1, array->bytes)) == NULL) rc = clt_fail_memory(error);
    if (array->reference && array->data) memcpy(array->reference, array->data, array->bytes);
    show_array(&view, array, array->verified ? array->reference : array->data);
  }
  if (rc == CLT_OK && by_module) {
    clt_module_function function;
    clt_module_call call = call_of(&view, seed, NULL);
    rc = clt_module_find_function(&function, reference->module, reference->function, error);
    if (rc == CLT_OK && function(&call) != 0)
      rc = clt_fail(error, CLT_E_VERIFY, "the reference '%s' of '%s' failed", reference->function, reference->module);
  }
  for (size_t i = 0; rc == CLT_OK && by_files && i < reference->n_arrays; i++) {
    clt_array *array = clt_data_find(data, reference->arrays[i].target);
    if (array == NULL || array->reference) continue;
    if ((array->reference = calloc(1, array->bytes)) == NULL) {
      rc = clt_fail_memory(error);
      break;
    }
    view.n_arrays = 0;
    show_array(&view, array, array->reference);
    clt_module_call call = call_of(&view, seed, view.arrays);
    rc = clt_fill_array(instance, &reference->arrays[i].fill, array, array->reference, &call, error);
  }
  view_release(&view);
  if (rc == CLT_OK)
    *out = data;
  else
    clt_data_free(data);
  return rc;
}

int clt_data_quality(double *out, const clt_instance *instance, const clt_data *data, clt_error *error) {
  const clt_quality *quality = &instance->problem->reference.quality;
  double value = NAN;
  const clt_module_array target = {
      .name = quality->name, .type = "double", .extent = {1, 1, 1}, .data = &value, .bytes = sizeof value};
  clt_module_function function;
  module_view view;
  *out = NAN;
  if (quality->name == NULL) return CLT_OK;
  int rc = view_new(&view, instance, data, error);
  for (size_t i = 0; rc == CLT_OK && i < data->n_arrays; i++)
    show_array(&view, &data->arrays[i], data->arrays[i].reference ? data->arrays[i].reference : data->arrays[i].data);
  if (rc == CLT_OK) rc = clt_module_find_function(&function, quality->module, quality->function, error);
  clt_module_call call = call_of(&view, data->seed, &target);
  if (rc == CLT_OK && function(&call) == 0 && isfinite(value)) *out = value;
  view_release(&view);
  return rc;
}

void clt_data_free(clt_data *data) {
  if (data == NULL) return;
  for (size_t i = 0; data->arrays && i < data->n_arrays; i++) {
    clt_array *array = &data->arrays[i];
    void *const contents[] = {array->data, array->reference};
    for (size_t k = 0; k < 2; k++) {
      if (!array->mapped)
        free(contents[k]);
      else if (contents[k])
        munmap(contents[k], array->bytes);
    }
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

/* --- in files --- */

static int save_content(const void *content, size_t bytes, const char *folder, size_t index, const char *kind,
                        clt_error *error) {
  char *path = content ? clt_format("%s/array%zu.%s", folder, index, kind) : NULL;
  int rc = content == NULL ? CLT_OK : path ? clt_file_write(path, content, bytes, error) : clt_fail_memory(error);
  free(path);
  return rc;
}

int clt_data_save(const clt_data *data, const char *folder, clt_error *error) {
  int rc = CLT_OK;
  for (size_t i = 0; rc == CLT_OK && i < data->n_arrays; i++) {
    const clt_array *array = &data->arrays[i];
    rc = save_content(array->data, array->bytes, folder, i, "data", error);
    if (rc == CLT_OK) rc = save_content(array->reference, array->bytes, folder, i, "reference", error);
  }
  return rc;
}

/* A file that is not there leaves *out NULL. */
static int map_content(void **out, size_t bytes, const char *folder, size_t index, const char *kind, clt_error *error) {
  struct stat status;
  void *content = MAP_FAILED;
  char *path = clt_format("%s/array%zu.%s", folder, index, kind);
  if (path == NULL) return clt_fail_memory(error);
  int rc = CLT_OK, fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) {
    if (errno != ENOENT) rc = clt_fail_errno(error, CLT_E_IO, "open", path);
  } else if (fstat(fd, &status) != 0) {
    rc = clt_fail_errno(error, CLT_E_IO, "read", path);
  } else if ((unsigned long long)status.st_size != bytes) {
    rc = clt_fail(error, CLT_E_FORMAT, "'%s' has %lld bytes instead of %zu", path, (long long)status.st_size, bytes);
  } else if ((content = mmap(NULL, bytes, PROT_READ, MAP_SHARED, fd, 0)) == MAP_FAILED) {
    rc = clt_fail_errno(error, CLT_E_IO, "map", path);
  } else {
    *out = content;
  }
  if (fd >= 0) close(fd);
  free(path);
  return rc;
}

int clt_data_map(clt_data **out, const clt_instance *instance, uint64_t seed, const char *folder, clt_error *error) {
  clt_data *data = NULL;
  int rc = new_without_content(&data, instance, seed, error);
  for (size_t i = 0; rc == CLT_OK && i < data->n_arrays; i++) {
    clt_array *array = &data->arrays[i];
    array->mapped = true;
    rc = map_content(&array->data, array->bytes, folder, i, "data", error);
    if (rc == CLT_OK) rc = map_content(&array->reference, array->bytes, folder, i, "reference", error);
    if (rc == CLT_OK && array->input && array->data == NULL)
      rc = clt_fail(error, CLT_E_IO, "the content of argument '%s' is missing in '%s'", array->name, folder);
  }
  if (rc == CLT_OK)
    *out = data;
  else
    clt_data_free(data);
  return rc;
}
