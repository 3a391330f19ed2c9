/* The data set of an instance: generating it, and sharing one copy with all worker processes through files. */
#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/base.h"
#include "base/file.h"
#include "base/hash.h"
#include "problem/instance.h"

/* --- recipes --- */

const clt_recipe clt_own_inputs = {CLT_INPUTS_OWN};

bool clt_recipe_varies(const clt_recipe *recipe, const char *name) {
  return recipe->inputs != CLT_INPUTS_OWN && (recipe->only == NULL || strcmp(recipe->only, name) == 0);
}

const char *clt_recipe_name(const clt_recipe *recipe) {
  static _Thread_local char name[40];
  static const char *const ranges[] = {"ends of the range", "range of the type", "negative integers"},
                           *const specials[] = {"NaN", "infinities", "ties and zeros of both signs"};
  switch (recipe->inputs) {
    case CLT_INPUTS_OWN: return "the file's inputs";
    case CLT_INPUTS_OTHER: return "other inputs";
    case CLT_INPUTS_NUDGED: return "nudged inputs";
    case CLT_INPUTS_SPIKES: break;
    case CLT_INPUTS_RANGE: return ranges[recipe->variant];
    case CLT_INPUTS_SPECIAL: return specials[recipe->variant];
    case CLT_INPUTS_OMITTED: return recipe->variant ? "a middle element left out" : "the last element left out";
  }
  snprintf(name, sizeof name, "spikes %u", recipe->variant + 1);
  return name;
}

/* Whether the file states a scalar as a number, which a check may replace by another. */
static bool is_free_scalar(const clt_problem *problem, const clt_argument *argument, double *value) {
  if (argument->plan.kind != CLT_ARG_SCALAR || argument->fill.kind != CLT_FILL_CONSTANT || !argument->fill.value ||
      argument->fill.stays)
    return false;
  const char *text = problem->expressions[argument->fill.value].text;
  char *end;
  *value = clt_strtod(text, &end);
  return end != text && *end == 0;
}

/* Whether content that the file states stays as it is. */
static bool keeps_stated(const clt_recipe *recipe, bool is_real) {
  return recipe->stays == CLT_STAYS_STATED || (!is_real && recipe->stays == CLT_STAYS_INTEGERS);
}

bool clt_recipe_applies(const clt_problem *problem, const clt_recipe *recipe) {
  const clt_inputs inputs = recipe->inputs;
  bool applies = inputs == CLT_INPUTS_OWN;
  for (size_t i = 0; i < problem->n_arguments; i++) {
    const clt_argument *argument = &problem->arguments[i];
    const clt_element_base base = argument->plan.element.base;
    const clt_fill *fill = &argument->fill;
    const bool is_real = base >= CLT_ELEMENT_HALF, is_signed = !is_real && base % 2 == 0;
    double value;
    if (!clt_recipe_varies(recipe, argument->name)) continue;
    if (is_free_scalar(problem, argument, &value))
      applies = applies || (inputs == CLT_INPUTS_OTHER && recipe->stays == CLT_STAYS_NOTHING);
    if (!clt_holds_data(argument) || fill->kind == CLT_FILL_NONE || fill->stays) continue;
    const bool drawn = clt_fill_is_drawn(fill), mild = fill->never_hostile, module = fill->kind == CLT_FILL_MODULE;
    switch (inputs) {
      case CLT_INPUTS_OWN: break;
      case CLT_INPUTS_OTHER:
        applies = applies || drawn || module ||
                  (is_real ? recipe->stays != CLT_STAYS_STATED : recipe->stays == CLT_STAYS_NOTHING);
        break;
      case CLT_INPUTS_OMITTED: applies = applies || argument->plan.access != CLT_WRITE_ONLY; break;
      case CLT_INPUTS_NUDGED: applies = applies || !module; break;
      case CLT_INPUTS_SPIKES: applies = applies || (!module && (drawn || is_real)); break;
      case CLT_INPUTS_RANGE:
        if (mild || module) break;
        if (recipe->variant == CLT_RANGE_SIGNED)
          applies = applies || is_signed;
        else
          applies = applies || drawn || is_real == (recipe->variant == CLT_RANGE_ENDS);
        break;
      case CLT_INPUTS_SPECIAL:
        if (module) break;
        applies = applies || (recipe->variant == CLT_SPECIAL_TIES ? is_real || drawn : is_real && !mild);
        break;
    }
  }
  return applies;
}

clt_reference_kind clt_data_reference_kind(const clt_instance *instance, const clt_recipe *recipe) {
  const clt_reference_kind kind = instance->problem->reference.kind;
  if (kind != CLT_REFERENCE_NONE && recipe->judged) return CLT_REFERENCE_DEFAULT;
  return kind == CLT_REFERENCE_FILE && recipe->inputs != CLT_INPUTS_OWN ? CLT_REFERENCE_NONE : kind;
}

/* --- arrays without content --- */

static clt_widening widening_of(const clt_recipe *recipe) {
  const clt_inputs inputs = recipe->inputs;
  if (inputs == CLT_INPUTS_OWN || inputs == CLT_INPUTS_NUDGED || inputs == CLT_INPUTS_OMITTED) return CLT_WIDEN_NOT;
  const bool all_magnitudes = inputs == CLT_INPUTS_RANGE && recipe->variant == CLT_RANGE_TYPE;
  return inputs == CLT_INPUTS_SPIKES || all_magnitudes ? CLT_WIDEN_TO_LARGEST : CLT_WIDEN_TO_TYPICAL;
}

/* One array per argument name with input or reference, in the order of the arguments; and the scalars that differ from
 * the file. */
static int new_without_content(clt_data **out, const clt_instance *instance, const clt_recipe *recipe,
                               clt_error *error) {
  const clt_problem *problem = instance->problem;
  const clt_reference_kind kind = clt_data_reference_kind(instance, recipe);
  clt_data *data = calloc(1, sizeof *data);
  if (data == NULL) return clt_fail_memory(error);
  *out = data;
  data->recipe = *recipe;
  data->seed = recipe->inputs == CLT_INPUTS_OWN ? CLT_OWN_SEED : 64 * (uint64_t)recipe->inputs + recipe->variant;
  data->instance = instance;
  data->arrays = clt_new_array(problem->n_arguments, sizeof *data->arrays);
  data->scalars = clt_new_array(problem->n_arguments, sizeof *data->scalars);
  int rc = data->arrays && data->scalars ? CLT_OK : clt_fail_memory(error);
  for (size_t i = 0; rc == CLT_OK && i < problem->n_arguments; i++) {
    const clt_argument *argument = &problem->arguments[i];
    const bool is_real = argument->plan.element.base >= CLT_ELEMENT_HALF;
    double value;
    if (!is_free_scalar(problem, argument, &value) || !clt_recipe_varies(recipe, argument->name)) continue;
    if (keeps_stated(recipe, is_real)) continue;
    clt_rng rng;
    clt_rng_init(&rng, data->seed ^ clt_hash64(argument->name, strlen(argument->name)));
    const double varied = clt_vary_scalar(value, is_real, recipe, data->n_scalars, &rng);
    data->scalars[data->n_scalars++] = (clt_data_scalar){argument->name, varied};
  }
  if (rc == CLT_OK && problem->reference.verify_function && kind != CLT_REFERENCE_NONE)
    rc = clt_module_find_function(&data->verify, problem->reference.verify_module, problem->reference.verify_function,
                                  error);
  for (size_t i = 0; rc == CLT_OK && i < problem->n_arguments; i++) {
    const clt_argument *argument = &problem->arguments[i];
    const char *name = argument->name;
    const clt_entries entries = clt_problem_entries(problem, name);
    const bool filled = entries.fill != NULL, verified = entries.verified;
    if (!clt_holds_data(argument) || entries.first != argument || !(filled || verified)) continue;
    clt_calculation c = {instance, NULL, error, CLT_OK};
    clt_array *array = &data->arrays[data->n_arrays++];
    *array = (clt_array){.element = argument->plan.element,
                         .bytes = argument->plan.element.bytes,
                         .input = filled,
                         .verified = verified && kind != CLT_REFERENCE_NONE,
                         .absolute_tolerance = argument->absolute_tolerance,
                         .relative_tolerance = argument->relative_tolerance,
                         .scales_tolerance = !argument->absolute_is_stated,
                         .any_not_finite = recipe->inputs == CLT_INPUTS_SPECIAL || recipe->inputs == CLT_INPUTS_RANGE,
                         .widening = widening_of(recipe)};
    clt_element_print(array->type, array->element);
    clt_evaluate_extent(&c, &argument->size, 1, 1, array->extent);
    rc = c.rc;
    for (size_t d = 0; rc == CLT_OK && d < 3; d++)
      if (!clt_size_multiply(&array->bytes, array->bytes, array->extent[d]))
        rc = clt_key_fail(&problem->source, argument->key, CLT_E_RANGE, error, "\"%s\" exceeds 2^64 bytes", name);
    if (rc == CLT_OK && (array->name = strdup(name)) == NULL) rc = clt_fail_memory(error);
  }
  return rc;
}

/* --- content --- */

/* The input of a module's function. The pointers in call refer to the members after it. */
typedef struct module_view {
  clt_module_call call;
  clt_module_array *arrays;
  clt_module_scalar *scalars;
} module_view;

/* Fills a view except its arrays. Scalars are the problem parameters and the scalar arguments that are the same for all
 * configurations; if slots is not NULL, also the tuning parameters of that configuration and all other scalar
 * arguments. Release the view also after a failure. */
static int view_new(module_view *view, const clt_instance *instance, const clt_data *data, const clt_value *slots,
                    clt_error *error) {
  const clt_problem *problem = instance->problem;
  view->arrays = clt_new_array(data->n_arrays, sizeof *view->arrays);
  view->scalars = clt_new_array(problem->n_sizes + problem->n_arguments + problem->n_parameters, sizeof *view->scalars);
  view->call = (clt_module_call){.arrays = view->arrays, .scalars = view->scalars, .seed = data->seed};
  if (!view->arrays || !view->scalars) return clt_fail_memory(error);
  size_t *n = &view->call.n_scalars;
  for (size_t i = 0; i < problem->n_sizes; i++)
    view->scalars[(*n)++] = (clt_module_scalar){problem->sizes[i].name, (double)instance->sizes[i]};
  for (size_t i = 0; i < problem->n_arguments; i++) {
    const clt_argument *argument = &problem->arguments[i];
    clt_calculation c = {instance, slots, NULL, CLT_OK};
    if (argument->plan.kind != CLT_ARG_SCALAR || !argument->fill.value) continue;
    const double *given = clt_data_scalar_value(data, argument->name);
    double value = given ? *given : clt_evaluate_number(&c, argument->fill.value);
    if (c.rc == CLT_OK) view->scalars[(*n)++] = (clt_module_scalar){argument->name, value};
  }
  for (size_t i = 0; slots && i < problem->n_parameters; i++)
    view->scalars[(*n)++] = (clt_module_scalar){problem->parameters[i].name, clt_value_number(slots[i])};
  return CLT_OK;
}

static void view_release(module_view *view) {
  free(view->arrays);
  free(view->scalars);
}

clt_module_array clt_module_array_of(const clt_array *array, void *content) {
  const size_t *n = array->extent;
  return (clt_module_array){array->name, array->type, {n[0], n[1], n[2]}, content, content ? array->bytes : 0};
}

static const clt_module_array *show_array(module_view *view, const clt_array *array, void *content) {
  view->arrays[view->call.n_arrays] = clt_module_array_of(array, content);
  return &view->arrays[view->call.n_arrays++];
}

static int new_content(void **out, const clt_array *array, clt_error *error) {
  *out = calloc(1, array->bytes);
  return *out ? CLT_OK : clt_fail_memory(error);
}

const double *clt_data_scalar_value(const clt_data *data, const char *name) {
  for (size_t i = 0; i < data->n_scalars; i++)
    if (strcmp(data->scalars[i].name, name) == 0) return &data->scalars[i].value;
  return NULL;
}

int clt_data_new(clt_data **out, const clt_instance *instance, const clt_recipe *recipe, clt_error *error) {
  const clt_reference *reference = &instance->problem->reference;
  const clt_reference_kind kind = clt_data_reference_kind(instance, recipe);
  const bool by_module = kind == CLT_REFERENCE_MODULE, by_files = kind == CLT_REFERENCE_FILE;
  clt_data *data = NULL;
  module_view view = {0};
  clt_module_call *call = &view.call;
  int rc = new_without_content(&data, instance, recipe, error);
  if (rc == CLT_OK) rc = view_new(&view, instance, data, NULL, error);
  /* Generators of a module can read the arrays before their own. */
  for (size_t i = 0; rc == CLT_OK && i < data->n_arrays; i++) {
    clt_array *array = &data->arrays[i];
    const clt_fill *fill = clt_problem_entries(instance->problem, array->name).fill;
    if (fill == NULL) continue;
    if ((rc = new_content(&array->data, array, error)) != CLT_OK) break;
    call->target = show_array(&view, array, array->data);
    const bool stated = !clt_fill_is_drawn(fill) && fill->kind != CLT_FILL_MODULE;
    const bool stays = stated && keeps_stated(recipe, array->element.base >= CLT_ELEMENT_HALF);
    rc = clt_fill_array(instance, fill, array, array->data, stays ? &clt_own_inputs : recipe, call, error);
    if (rc == CLT_OK && recipe->shaken && !stays && !fill->stays && fill->kind != CLT_FILL_MODULE)
      clt_shake_array(array, array->data);
  }
  call->n_arrays = 0;
  /* For the reference function, the verified arrays begin with their content before the run. */
  for (size_t i = 0; rc == CLT_OK && by_module && i < data->n_arrays; i++) {
    clt_array *array = &data->arrays[i];
    if (array->verified) rc = new_content(&array->reference, array, error);
    if (array->reference && array->data) memcpy(array->reference, array->data, array->bytes);
    show_array(&view, array, array->verified ? array->reference : array->data);
  }
  if (rc == CLT_OK && by_module) {
    clt_module_function function;
    call->target = NULL;
    rc = clt_module_find_function(&function, reference->module, reference->function, error);
    if (rc == CLT_OK && function(call) != 0)
      rc = clt_fail(error, CLT_E_VERIFY, "the reference function '%s' of module '%s' failed", reference->function,
                    reference->module);
  }
  for (size_t i = 0; rc == CLT_OK && by_files && i < reference->n_arrays; i++) {
    clt_array *array = clt_data_find(data, reference->arrays[i].target);
    if (array == NULL || array->reference) continue;
    if ((rc = new_content(&array->reference, array, error)) != CLT_OK) break;
    call->n_arrays = 0;
    call->target = show_array(&view, array, array->reference);
    rc = clt_fill_array(instance, &reference->arrays[i].fill, array, array->reference, &clt_own_inputs, call, error);
  }
  view_release(&view);
  for (size_t i = 0; rc == CLT_OK && i < data->n_arrays; i++) clt_array_scale_tolerance(&data->arrays[i]);
  if (rc == CLT_OK)
    *out = data;
  else
    clt_data_free(data);
  return rc;
}

int clt_data_verify(char message[CLT_MODULE_MESSAGE_BYTES], const clt_data *data, clt_config config,
                    void *const *results) {
  const clt_space *space = data->instance->space;
  clt_value slots[CLT_MAX_PARAMETERS];
  clt_module_array *references = clt_new_array(data->n_arrays, sizeof *references);
  char *configuration = clt_config_string(space, config);
  module_view view = {0};
  clt_instance_slots(data->instance, config, slots);
  int rc = references && configuration ? view_new(&view, data->instance, data, slots, NULL) : CLT_E_MEMORY;
  for (size_t i = 0; rc == CLT_OK && i < data->n_arrays; i++) {
    const clt_array *array = &data->arrays[i];
    show_array(&view, array, results[i] ? results[i] : array->data);
    if (array->reference) references[view.call.n_references++] = clt_module_array_of(array, array->reference);
  }
  message[0] = 0;
  view.call.references = references;
  view.call.configuration = configuration;
  view.call.message = message;
  if (rc == CLT_OK) rc = data->verify(&view.call) != 0;
  message[CLT_MODULE_MESSAGE_BYTES - 1] = 0;
  view_release(&view);
  free(configuration);
  free(references);
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
  int rc = view_new(&view, instance, data, NULL, error);
  view.call.target = &target;
  for (size_t i = 0; rc == CLT_OK && i < data->n_arrays; i++)
    show_array(&view, &data->arrays[i], data->arrays[i].reference ? data->arrays[i].reference : data->arrays[i].data);
  if (rc == CLT_OK) rc = clt_module_find_function(&function, quality->module, quality->function, error);
  if (rc == CLT_OK && function(&view.call) == 0 && isfinite(value)) *out = value;
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
  free(data->scalars);
  free(data);
}

clt_array *clt_data_find(const clt_data *data, const char *name) {
  for (size_t i = 0; i < data->n_arrays; i++)
    if (strcmp(data->arrays[i].name, name) == 0) return &data->arrays[i];
  return NULL;
}

/* --- in files, up to two per array --- */

static char *content_path(const char *folder, size_t index) {
  return clt_format("%s/array%zu.%s", folder, index / 2, index % 2 ? "reference" : "data");
}

/* One number per array, if any is known. */
static int save_rounding(const clt_data *data, const char *folder, clt_error *error) {
  double *numbers = clt_new_array(data->n_arrays, sizeof *numbers), most = 0;
  char *path = clt_format("%s/rounding", folder);
  int rc = numbers && path ? CLT_OK : clt_fail_memory(error);
  for (size_t i = 0; rc == CLT_OK && i < data->n_arrays; i++) most = fmax(most, numbers[i] = data->arrays[i].rounding);
  if (rc == CLT_OK && most > 0) rc = clt_file_write(path, numbers, data->n_arrays * sizeof *numbers, error);
  free(numbers);
  free(path);
  return rc;
}

static int load_rounding(clt_data *data, const char *folder, clt_error *error) {
  char *path = clt_format("%s/rounding", folder), *bytes = NULL;
  size_t n = 0;
  int rc = path ? CLT_OK : clt_fail_memory(error);
  if (rc == CLT_OK && access(path, F_OK) == 0) rc = clt_file_read(&bytes, &n, path, CLT_MAX_DATA_BYTES, error);
  for (size_t i = 0; rc == CLT_OK && i < data->n_arrays && (i + 1) * sizeof(double) <= n; i++)
    memcpy(&data->arrays[i].rounding, bytes + i * sizeof(double), sizeof(double));
  free(bytes);
  free(path);
  return rc;
}

int clt_data_save(const clt_data *data, const char *folder, clt_error *error) {
  int rc = CLT_OK;
  for (size_t i = 0; rc == CLT_OK && i < 2 * data->n_arrays; i++) {
    const clt_array *array = &data->arrays[i / 2];
    const void *content = i % 2 ? array->reference : array->data;
    if (content == NULL) continue;
    char *path = content_path(folder, i);
    rc = path ? clt_file_write(path, content, array->bytes, error) : clt_fail_memory(error);
    free(path);
  }
  return rc == CLT_OK ? save_rounding(data, folder, error) : rc;
}

/* *out stays NULL if the file does not exist. */
static int map_content(void **out, size_t bytes, const char *path, clt_error *error) {
  size_t n = 0;
  int fd = -1;
  if (access(path, F_OK) != 0 && errno == ENOENT) return CLT_OK;
  int rc = clt_file_open(&fd, &n, path, error);
  if (rc) return rc;
  void *content = n == bytes ? mmap(NULL, bytes, PROT_READ, MAP_SHARED, fd, 0) : NULL;
  if (content == NULL)
    rc = clt_fail(error, CLT_E_FORMAT, "'%s' must have %zu bytes, but has %zu", path, bytes, n);
  else if (content == MAP_FAILED)
    rc = clt_fail_errno(error, CLT_E_IO, "map", path);
  else
    *out = content;
  close(fd);
  return rc;
}

int clt_data_map(clt_data **out, const clt_instance *instance, const clt_recipe *recipe, const char *folder,
                 clt_error *error) {
  clt_data *data = NULL;
  int rc = new_without_content(&data, instance, recipe, error);
  if (rc == CLT_OK) rc = load_rounding(data, folder, error);
  for (size_t i = 0; rc == CLT_OK && i < 2 * data->n_arrays; i++) {
    clt_array *array = &data->arrays[i / 2];
    char *path = content_path(folder, i);
    array->mapped = true;
    rc = path ? map_content(i % 2 ? &array->reference : &array->data, array->bytes, path, error)
              : clt_fail_memory(error);
    free(path);
    if (rc == CLT_OK && array->input && array->data == NULL)
      rc = clt_fail(error, CLT_E_IO, "the content of argument '%s' is missing in '%s'", array->name, folder);
    if (rc == CLT_OK && i % 2) clt_array_scale_tolerance(array);
  }
  if (rc == CLT_OK)
    *out = data;
  else
    clt_data_free(data);
  return rc;
}
