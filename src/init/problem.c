/* The problem file of a draft. */
#include <ctype.h>
#include <unistd.h>

#include "base/file.h"
#include "init/init.h"
#include "problem/plan.h"

static const char *const axes[] = {"X", "Y", "Z"};

json_t *clt_draft_schema(void) {
  static const char *const names[] = {"../share/clatune/schema/problem.json", "../../../schema/problem.json", NULL};
  char *near = clt_find_near_program(names, R_OK), *path = near ? realpath(near, NULL) : NULL;
  bool plain = path != NULL;
  for (const char *at = path; plain && *at; at++) plain = isalnum((unsigned char)*at) || strchr("/._-~+", *at);
  json_t *json = plain ? json_sprintf("file://%s", path) : NULL;
  free(near);
  free(path);
  return json;
}

json_t *clt_draft_option(const char *option) {
  clt_text text = {0};
  for (const char *at = option; *at; at++) /* "{{" stands for a brace */
    clt_text_printf(&text, "%s%c", *at == '{' ? "{" : "", *at);
  json_t *json = json_string(text.bytes);
  clt_text_release(&text);
  return json;
}

/* --- parameters --- */

static json_t *parameter_json(const char *name, json_t *values, json_t *usual) {
  return json_pack("{s:s, s:s, s:o, s:o}", "Name", name, "Type", clt_draft_type(values), "Values", values, "Default",
                   usual);
}

json_t *clt_draft_parameters(const clt_draft *d) {
  json_t *list = json_array();
  for (const clt_draft_macro *m = d->macros; m < d->macros + d->n_macros; m++) {
    if (m->is_size) continue;
    json_t *values = clt_draft_values(d, m),
           *usual = m->list ? json_copy(json_array_get(values, 0)) : json_integer(m->value);
    json_array_append_new(list, parameter_json(m->name, values, usual));
  }
  for (int k = 0; d->own_local_size && k < d->n_dimensions; k++) {
    const clt_draft_macro own = {.value = k ? 4 : 32, .is_defined = true};
    if (!d->local_is_macro[k])
      json_array_append_new(list, parameter_json(d->local[k], clt_draft_values(d, &own), json_integer(own.value)));
  }
  return list;
}

bool clt_draft_names_parameters(const clt_draft *d, const char *expression) {
  for (const char *at = expression; *at;) {
    size_t n = 0;
    bool known = !isalpha((unsigned char)*at) && *at != '_';
    while (clt_in_word(at[n])) n++;
    for (size_t i = 0; !known && i < d->n_macros; i++)
      known = strlen(d->macros[i].name) == n && strncmp(d->macros[i].name, at, n) == 0;
    if (!known) return false;
    at += n ? n : 1;
  }
  return expression[0] != '\0';
}

/* Whether an argument is a size of the data: an integer that is called like one, or that the kernel compares with an
 * index. */
static bool is_size(const clt_draft *d, const clt_kernel_argument *a) {
  if (d->strides[a - d->kernel->arguments][0]) return false;
  static const char *const types[] = {"int", "uint", "long", "ulong", "size_t", "short", "ushort", "unsigned int"};
  bool is_integer = false;
  for (size_t i = 0; i < sizeof types / sizeof *types; i++) is_integer |= strcmp(a->type, types[i]) == 0;
  return is_integer && a->address == CLT_ADDRESS_PRIVATE &&
         (clt_draft_is_called_as_size(a->name) || clt_draft_compares(d, a->name));
}

static json_t *sizes_json(clt_draft *d) {
  json_t *list = json_array();
  d->n_sizes = 0;
  for (size_t i = 0; i < d->kernel->n_arguments; i++) {
    const clt_kernel_argument *a = &d->kernel->arguments[i];
    if (!is_size(d, a)) continue;
    const int usual = clt_draft_usual_size(d, a->name, d->n_sizes);
    clt_snprintf(d->sizes[d->n_sizes], sizeof *d->sizes, CLT_DRAFT_PREFIX "%s", a->name);
    const bool clashes = clt_next_word(d->plain, d->plain, d->sizes[d->n_sizes]); /* a name of the kernel's own */
    json_array_append_new(list, json_pack("{s:s, s:i, s:i, s:s, s:o*}", "Name", d->sizes[d->n_sizes++], "Default",
                                          usual, "Min", usual > 0, "// Default", "a guess: write a size that you use",
                                          "Macro", clashes ? json_false() : NULL));
  }
  json_t *only = json_array_get(list, 0);
  if (d->n_sizes == 1 && d->n_dimensions == 1 && !clt_draft_loops_over(d, d->sizes[0])) /* else microseconds of work */
    json_object_set_new(only, "Default", json_integer(json_integer_value(json_object_get(only, "Default")) * 1024));
  for (const clt_draft_macro *m = d->macros; m < d->macros + d->n_macros; m++) {
    if (!m->is_size) continue;
    clt_snprintf(d->sizes[d->n_sizes], sizeof *d->sizes, "%s", m->name);
    json_array_append_new(list, json_pack("{s:s, s:I, s:i}", "Name", d->sizes[d->n_sizes++], "Default",
                                          (json_int_t)m->value, "Min", m->value > 0));
  }
  return list;
}

/* --- arguments --- */

/* The number of an image's pixels, if the sizes are called so. */
static json_t *pixels_json(const clt_draft *d) {
  const char *width = clt_draft_size_along(d, 0), *height = clt_draft_size_along(d, 1);
  return d->n_dimensions == 2 && width && height ? json_pack("[s, s]", width, height)
                                                 : json_string("TODO number of pixels, [width, height], an expression");
}

/* Also of a type that the compiler does not know: then a TODO. */
static void print_element(char out[200], const clt_kernel_argument *a, bool varies) {
  char type[128];
  clt_element parsed;
  size_t n = strcspn(a->type, "*");
  while (n && a->type[n - 1] == ' ') n--;
  clt_snprintf(type, sizeof type, "%.*s", (int)n, a->type);
  if (clt_starts_with(type, "image"))
    clt_snprintf(out, 200, "TODO the type of a pixel, such as float4, uchar4 or float");
  else if (strcmp(type, "size_t") == 0)
    clt_snprintf(out, 200, "ulong");
  else if (clt_element_parse(&parsed, type) == CLT_OK)
    clt_element_print(out, varies ? (clt_element){parsed.base, 1, 0} : parsed);
  else if (a->bytes && a->address == CLT_ADDRESS_PRIVATE)
    clt_snprintf(out, 200, "TODO the OpenCL type of %zu bytes for %s; of a structure its name, and Fields", a->bytes,
                 type);
  else
    clt_snprintf(out, 200, "TODO the OpenCL type, such as float or int4, that the kernel calls %s", type);
}

static json_t *vector_json(clt_draft *d, const clt_kernel_argument *a, const char *element, bool varies) {
  const bool real = clt_starts_with(element, "TODO") || clt_starts_with(element, "float") ||
                    clt_starts_with(element, "double") || clt_starts_with(element, "half"),
             had_group_results = d->has_group_results;
  json_t *size = varies ? json_sprintf("TODO number of elements of %s, for all configurations", element)
                        : clt_draft_extent(d, a->name);
  if (a->is_const) d->has_group_results = had_group_results;
  const char *width = clt_draft_size_along(d, 0), *height = clt_draft_size_along(d, 1);
  if (size == NULL && d->n_dimensions == 2 && width && height)
    size = json_sprintf("TODO number of elements, such as [%s, %s]", width, height);
  if (size == NULL) size = json_string("TODO number of elements, an expression");
  json_t *json = json_pack("{s:s, s:s, s:s, s:s, s:o, s:s, s:f}", "Name", a->name, "Type", element, "MemoryType",
                           "Vector", "AccessType", a->is_const ? "ReadOnly" : "ReadWrite", "Size", size, "FillType",
                           "Random", "FillValue", real ? 1.0 : 100.0);
  if (a->address == CLT_ADDRESS_CONSTANT) json_object_set_new(json, "MemType", json_string("Constant"));
  if (!real && clt_draft_is_index(d, a->name, element)) {
    json_object_set_new(
        json, "FillValue",
        json_string("TODO the largest element, such as size_n - 1, because the kernel uses the elements "
                    "as an index; if random ones are no valid input, use another FillType, such as "
                    "Generator with the DataSource i * 8 (i: the element), or BinaryRaw"));
    json_object_set_new(json, "HostileData", json_false()); /* else checks use negative and extreme numbers */
  }
  if (!a->is_const)
    json_object_set_new(json, "// access", json_string("use WriteOnly without FillType if the kernel only writes it"));
  return json;
}

static json_t *scalar_json(const char *type) {
  const bool real = clt_starts_with(type, "float") || clt_starts_with(type, "double") || clt_starts_with(type, "half");
  return real ? json_real(1) : json_string("TODO its value, a number or an expression over sizes");
}

/* "Fields" of a structure that is passed by value; NULL: it is none, or cannot be read. */
static json_t *fields_json(const clt_draft *d, const clt_kernel_argument *a) {
  char name[CLT_FIELD_BYTES], type[CLT_FIELD_BYTES];
  json_t *fields = json_object();
  for (size_t i = 0; clt_structure_field(name, type, d->plain, a->type, i); i++)
    json_object_set_new(fields, name, scalar_json(type));
  if (json_object_size(fields)) return fields;
  json_decref(fields);
  return NULL;
}

static json_t *argument_json(clt_draft *d, const clt_kernel_argument *a) {
  char element[200];
  const bool varies = d->varies[a - d->kernel->arguments];
  print_element(element, a, varies);
  if (a->address == CLT_ADDRESS_LOCAL)
    return json_pack("{s:s, s:s, s:s, s:s}", "Name", a->name, "Type", element, "MemoryType", "Local", "Size",
                     "TODO number of elements, an expression over the tuning parameters");
  if (strcmp(a->type, "sampler_t") == 0)
    return json_pack("{s:s, s:s, s:s, s:s}", "Name", a->name, "MemoryType", "Sampler", "Addressing", "ClampToEdge",
                     "Filter", "Nearest");
  if (clt_starts_with(a->type, "image")) {
    json_t *json = json_pack("{s:s, s:s, s:s, s:s, s:o}", "Name", a->name, "Type", element, "MemoryType",
                             strstr(a->type, "3d") ? "Image3D" : "Image2D", "AccessType",
                             a->writes_image ? "WriteOnly" : "ReadOnly", "Size", pixels_json(d));
    if (!a->writes_image) json_object_set_new(json, "FillType", json_string("Random"));
    return json;
  }
  if (a->address != CLT_ADDRESS_PRIVATE) return vector_json(d, a, element, varies);
  json_t *fields = fields_json(d, a), *value = scalar_json(element);
  if (fields) {
    json_decref(value);
    return json_pack("{s:s, s:s, s:s, s:o}", "Name", a->name, "Type", a->type, "MemoryType", "Scalar", "Fields",
                     fields);
  }
  const char *stride = d->strides[a - d->kernel->arguments];
  if (is_size(d, a) || stride[0]) {
    json_decref(value);
    value = stride[0] ? json_string(stride) : json_sprintf(CLT_DRAFT_PREFIX "%s", a->name);
  }
  return json_pack("{s:s, s:s, s:s, s:o}", "Name", a->name, "Type", element, "MemoryType", "Scalar", "FillValue",
                   value);
}

/* --- the launch and the reference --- */

bool clt_draft_is_naive(const clt_kernel_info *kernel) {
  const char *name = kernel->name;
  return strcasestr(name, "naive") || strcasestr(name, "reference") || strcmp(name, "ref") == 0 ||
         clt_starts_with(name, "ref_") || clt_ends_with(name, "_ref");
}

/* The names of a kernel's arguments, if it takes all data of the problem but scratch memory, and nothing else. */
static json_t *names_json(const clt_kernel_info *kernel, const json_t *arguments) {
  json_t *names = json_array(), *argument;
  size_t i, n_known = 0;
  bool fits = true;
  for (size_t k = 0; k < kernel->n_arguments; k++) json_array_append_new(names, json_string(kernel->arguments[k].name));
  json_array_foreach(arguments, i, argument) {
    bool known = false;
    for (size_t k = 0; k < json_array_size(names); k++)
      known |= json_equal(json_array_get(names, k), json_object_get(argument, "Name"));
    fits &= known || json_object_get(argument, "AccessType") == NULL || json_object_get(argument, "Output");
    n_known += known;
  }
  if (fits && n_known == kernel->n_arguments) return names;
  json_decref(names);
  return NULL;
}

json_t *clt_draft_reference(const clt_draft *d, const char *kernel_file, const json_t *arguments) {
  const clt_kernel_info *naive = NULL;
  json_t *names = NULL, *own = json_array(), *size = json_array(), *argument;
  size_t index;
  for (size_t i = 0; names == NULL && i < d->n_kernels; i++) {
    naive = &d->kernels[i];
    if (clt_draft_is_naive(naive) && strcmp(naive->name, d->kernel->name) != 0) names = names_json(naive, arguments);
  }
  json_array_foreach(arguments, index, argument) json_array_append(own, json_object_get(argument, "Name"));
  for (int k = 0; names && k < d->n_dimensions; k++) {
    const char *along = clt_draft_size_along(d, k); /* a naive kernel has a work-item per element */
    json_array_append_new(
        size, along ? json_string(along) : json_sprintf("TODO work-items of '%s' along %s", naive->name, axes[k]));
  }
  json_t *json = NULL;
  if (names)
    json = json_pack("{s:s, s:s, s:O, s:O*}", "KernelFile", kernel_file, "KernelName", naive->name, "GlobalSize", size,
                     "Arguments", json_equal(names, own) ? NULL : names);
  else
    json = json_string(
        d->has_group_results
            ? "TODO {\"Module\": ..., \"Function\": ..., \"Verify\": {\"Function\": ...}}: each work-group writes a "
              "result of its own, so correct results differ between configurations and a function must judge them, as "
              "in examples/reduction/partial.json"
            : "TODO {\"KernelFile\": ..., \"KernelName\": ..., \"GlobalSize\": ...} of a simple, correct kernel; "
              "without this key the default configuration's result is taken as correct");
  json_decref(size);
  json_decref(own);
  json_decref(names);
  return json;
}

static json_t *global_json(const clt_draft *d) {
  json_t *global = json_object();
  for (int k = 0; k < d->n_dimensions; k++) {
    const char *size = d->global[k] ? d->global[k] : clt_draft_size_along(d, k), *such = size ? size : "size";
    json_object_set_new(global, axes[k],
                        d->global[k] ? json_string(size)
                                     : json_sprintf("TODO work-items along %s, such as %s or (%s + N - 1) // N if each "
                                                    "computes N results; rounded up to whole work-groups",
                                                    axes[k], such, such));
  }
  return global;
}

/* The expression in reqd_work_group_size if it is this kernel's and uses parameters only; otherwise its numbers. */
static json_t *local_json(const clt_draft *d) {
  json_t *local = json_object();
  for (int k = 0; k < d->n_dimensions; k++) {
    json_t *size = NULL;
    if (d->own_local_size)
      size = json_string(d->local[k]);
    else if (clt_draft_names_parameters(d, d->required[k]))
      size = json_string(d->required[k]);
    else
      size = json_integer((json_int_t)d->kernel->local_size[k]);
    json_object_set_new(local, axes[k], size);
  }
  return local;
}

/* Global sizes are rounded up to whole work-groups, and not every kernel tests its edge. */
static json_t *conditions_json(const clt_draft *d) {
  json_t *list = json_array();
  for (int k = 0; d->own_local_size && k < d->n_dimensions; k++) {
    const char *size = d->global[k];
    if (size && !clt_draft_tests_edge(d, size))
      json_array_append_new(
          list,
          json_pack("{s:o, s:s}", "Expression", json_sprintf("%s %% %s == 0", size, d->local[k]), "// why",
                    "remove it if the kernel checks the edge, as if (x < width); clatune rounds global sizes up"));
  }
  return list;
}

json_t *clt_draft_problem(clt_draft *d, const char *kernel_file) {
  static const char *const own_names[] = {"local_x", "local_y", "local_z"};
  json_t *sizes = sizes_json(d), *arguments = json_array(), *options = d->options.n ? json_array() : NULL;
  clt_draft_find_global(d);
  for (size_t i = 0; i < d->kernel->n_arguments; i++) /* their indices show strides, which are no sizes of their own */
    json_decref(clt_draft_extent(d, d->kernel->arguments[i].name));
  json_decref(sizes);
  sizes = sizes_json(d);
  memset(d->global, 0, sizeof d->global);
  d->has_group_results = false;
  clt_draft_find_global(d);
  d->own_local_size = d->kernel->local_size[0] == 0;
  for (int k = 0; k < d->n_dimensions; k++) {
    const clt_draft_macro *of_group = clt_draft_local_size(d, k);
    d->local_is_macro[k] = of_group != NULL;
    d->local[k] = of_group ? of_group->name : own_names[k];
  }
  for (size_t i = 0; i < d->kernel->n_arguments; i++)
    json_array_append_new(arguments, argument_json(d, &d->kernel->arguments[i]));
  for (size_t i = 0; i < d->options.n; i++) json_array_append_new(options, clt_draft_option(d->options.all[i]));
  const char *name = d->kernel->name, *note = NULL;
  if (d->own_local_size)
    note = d->local_is_macro[0] ? "a macro that is called like the work-group's size; correct it if that is wrong"
                                : "if a macro is the work-group's size, write it here and remove local_x";
  return json_pack("{s:o*, s:{s:s}, s:o, s:{s:o, s:o}, s:{s:s, s:s, s:s, s:o, s:o, s:o, s:o*, s:s*}, s:o}", "$schema",
                   clt_draft_schema(), "General", "BenchmarkName", name, "ProblemParameters", sizes,
                   "ConfigurationSpace", "TuningParameters", clt_draft_parameters(d), "Conditions", conditions_json(d),
                   "KernelSpecification", "Language", "OpenCL", "KernelName", name, "KernelFile", kernel_file,
                   "GlobalSize", global_json(d), "LocalSize", local_json(d), "Arguments", arguments, "CompilerOptions",
                   options, "// LocalSize", note, "Reference", clt_draft_reference(d, kernel_file, arguments));
}
