#include "cli/first_problem.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define PREFIX "size_" /* problem parameters are macros of the kernel, and must not be its arguments' names */

/* Unequal, so that a swapped width and height do not go unnoticed. */
static const int default_sizes[] = {1024, 768, 512};

static const char *const axes[] = {"X", "Y", "Z"};
static const char *const whole_types[] = {"int", "uint", "long", "ulong", "size_t", "short", "ushort", "unsigned int"};

typedef struct draft {
  const clt_kernel_info *kernel;
  const cli_kernel_text *text;
  char sizes[CLT_MAX_KERNEL_ARGUMENTS][160]; /* a problem parameter for each whole scalar argument */
  size_t n_sizes;
} draft;

static json_t *format(const char *form, ...) __attribute__((format(printf, 1, 2)));
static json_t *format(const char *form, ...) {
  char text[512];
  va_list arguments;
  va_start(arguments, form);
  vsnprintf(text, sizeof text, form, arguments);
  va_end(arguments);
  return json_string(text);
}

static bool is_whole(const clt_kernel_argument *a) {
  for (size_t i = 0; i < sizeof whole_types / sizeof *whole_types; i++)
    if (strcmp(a->type, whole_types[i]) == 0) return a->address == CLT_ADDRESS_PRIVATE;
  return false;
}

/* --- sizes --- */

static void find_sizes(draft *d) {
  for (size_t i = 0; i < d->kernel->n_arguments; i++)
    if (is_whole(&d->kernel->arguments[i]))
      snprintf(d->sizes[d->n_sizes++], sizeof *d->sizes, PREFIX "%s", d->kernel->arguments[i].name);
}

static json_t *problem_parameters(const draft *d) {
  json_t *list = json_array();
  for (size_t i = 0; i < d->n_sizes; i++)
    json_array_append_new(list, json_pack("{s:s, s:i, s:i}", "Name", d->sizes[i], "Default",
                                          default_sizes[i % (sizeof default_sizes / sizeof *default_sizes)], "Min", 1));
  return list;
}

/* The size along a dimension where there is little to choose: one size for all, or as many as dimensions and named so.
 */
static const char *size_along(const draft *d, int dimension) {
  static const char *const names[2][6] = {{"width", "w", "nx", "cols", "columns", "n"},
                                          {"height", "h", "ny", "rows", "m", NULL}};
  if (d->n_sizes == 1) return d->sizes[0];
  if (d->n_sizes != (size_t)d->text->n_dimensions) return NULL;
  for (size_t k = 0; dimension < 2 && d->text->n_dimensions > 1 && k < 6 && names[dimension][k]; k++)
    for (size_t i = 0; i < d->n_sizes; i++)
      if (strcasecmp(d->sizes[i] + strlen(PREFIX), names[dimension][k]) == 0) return d->sizes[i];
  return NULL;
}

/* --- parameters --- */

/* Powers of two about a power of two, off and on, or the value alone. */
static json_t *values_about(int64_t value) {
  bool power = value > 1 && (value & (value - 1)) == 0;
  json_t *list = json_array();
  if (value == 0 || value == 1) {
    for (int64_t v = value; v <= (value ? 8 : 1); v += value ? v : 1) json_array_append_new(list, json_integer(v));
  } else if (power) {
    for (int64_t v = value / 8 > 1 ? value / 8 : 1; v <= 8 * value && v <= 1024; v *= 2)
      json_array_append_new(list, json_integer(v));
  } else {
    json_array_append_new(list, json_integer(value));
  }
  return list;
}

/* Whether the work-group is what parameters of our own say. */
static bool own_local_size(const draft *d) { return d->text->required[0][0] == '\0' && d->kernel->local_size[0] == 0; }

/* Whether a macro is called as people call the work-group's size along a dimension: BLOCK_SIZE where there is only one
 * dimension, WG_X, LOCAL_SIZE_1, block_size_y. */
static bool is_local_size(const char *macro, int dimension, int n_dimensions) {
  static const char *const stems[] = {"local_size",     "local",           "wg_size",    "wg",         "wgs",
                                      "workgroup_size", "work_group_size", "group_size", "block_size", "block"};
  static const char letters[] = "xyz";
  for (size_t i = 0; i < sizeof stems / sizeof *stems; i++) {
    size_t n = strlen(stems[i]);
    if (strncasecmp(macro, stems[i], n) != 0) continue;
    const char *suffix = macro + n + (macro[n] == '_');
    if (suffix[0] == '\0' && macro[n] == '\0' && n_dimensions == 1) return true;
    if (suffix[0] && suffix[1] == '\0' && ((suffix[0] | 32) == letters[dimension] || suffix[0] == '0' + dimension))
      return true;
  }
  return false;
}

/* The macro that is the work-group's size along a dimension; NULL: none is called so. */
static const char *local_macro(const draft *d, int dimension) {
  for (size_t i = 0; i < d->text->n_macros; i++)
    if (is_local_size(d->text->macros[i].name, dimension, d->text->n_dimensions)) return d->text->macros[i].name;
  return NULL;
}

/* The parameter that is: that macro, or one of our own. */
static const char *local_name(const draft *d, int dimension) {
  static const char *const own[] = {"local_x", "local_y", "local_z"};
  const char *macro = local_macro(d, dimension);
  return macro ? macro : own[dimension];
}

static json_t *tuning_parameters(const draft *d) {
  json_t *list = json_array();
  for (size_t i = 0; i < d->text->n_macros; i++) {
    const cli_macro *m = &d->text->macros[i];
    json_array_append_new(list, json_pack("{s:s, s:s, s:o, s:I}", "Name", m->name, "Type", "int", "Values",
                                          values_about(m->value), "Default", (json_int_t)m->value));
  }
  for (int k = 0; own_local_size(d) && k < d->text->n_dimensions && k < 3; k++)
    if (local_macro(d, k) == NULL)
      json_array_append_new(list, json_pack("{s:s, s:s, s:o, s:i}", "Name", local_name(d, k), "Type", "int", "Values",
                                            values_about(k ? 4 : 32), "Default", k ? 4 : 32));
  return list;
}

/* Global sizes are rounded up to whole work-groups, and not every kernel looks where it is. */
static json_t *conditions(const draft *d) {
  json_t *list = json_array();
  for (int k = 0; own_local_size(d) && k < d->text->n_dimensions && k < 3; k++) {
    const char *size = size_along(d, k);
    if (size == NULL) continue;
    json_array_append_new(list, json_pack("{s:o, s:s}", "Expression", format("%s %% %s == 0", size, local_name(d, k)),
                                          "// why", "leave it out where the kernel has no need of whole work-groups"));
  }
  return list;
}

/* --- launch --- */

static json_t *global_size(const draft *d) {
  json_t *out = json_object();
  for (int k = 0; k < d->text->n_dimensions && k < 3; k++) {
    const char *size = size_along(d, k);
    json_object_set_new(out, axes[k],
                        size && !d->text->uses_groups ? json_string(size)
                                                      : format("TODO work-items along %s, an expression%s%s", axes[k],
                                                               size ? " such as " : "", size ? size : ""));
  }
  return out;
}

static json_t *local_size(const draft *d) {
  json_t *out = json_object();
  for (int k = 0; k < d->text->n_dimensions && k < 3; k++) {
    const char *required = d->text->required[k];
    uint64_t fixed = d->kernel->local_size[k];
    json_object_set_new(out, axes[k],
                        required[0] ? json_string(required)
                        : fixed     ? json_integer((json_int_t)fixed)
                                    : json_string(local_name(d, k)));
  }
  return out;
}

/* --- arguments --- */

static json_t *extent(const draft *d, const char *what) {
  const char *x = size_along(d, 0), *y = size_along(d, 1);
  if (x && d->text->n_dimensions == 1) return json_string(x);
  if (x && y && d->text->n_dimensions == 2) return json_pack("[s, s]", x, y);
  return format("TODO number of %s, an expression", what);
}

static json_t *buffer(const draft *d, const clt_kernel_argument *a) {
  char element[128];
  snprintf(element, sizeof element, "%.*s", (int)strcspn(a->type, "* "), a->type);
  bool real =
      strncmp(element, "float", 5) == 0 || strncmp(element, "double", 6) == 0 || strncmp(element, "half", 4) == 0;
  json_t *out = json_pack("{s:s, s:s, s:s, s:s, s:o, s:s, s:f}", "Name", a->name, "Type", element, "MemoryType",
                          "Vector", "AccessType", a->is_const ? "ReadOnly" : "ReadWrite", "Size", extent(d, "elements"),
                          "FillType", "Random", "FillValue", real ? 1.0 : 100.0);
  if (a->address == CLT_ADDRESS_CONSTANT) json_object_set_new(out, "MemType", json_string("Constant"));
  if (!a->is_const)
    json_object_set_new(out, "// access", json_string("WriteOnly, and no FillType, where the kernel only writes it"));
  return out;
}

static json_t *image(const draft *d, const clt_kernel_argument *a) {
  bool deep = strstr(a->type, "3d") != NULL;
  json_t *out =
      json_pack("{s:s, s:s, s:s, s:s, s:o}", "Name", a->name, "Type", "TODO float4, uchar4, float or the like",
                "MemoryType", deep ? "Image3D" : "Image2D", "AccessType", a->writes_image ? "WriteOnly" : "ReadOnly",
                "Size", extent(d, "pixels, [width, height]"));
  if (!a->writes_image) json_object_set_new(out, "FillType", json_string("Random"));
  return out;
}

static json_t *scalar(const clt_kernel_argument *a) {
  return json_pack("{s:s, s:s, s:s, s:o}", "Name", a->name, "Type", strcmp(a->type, "size_t") ? a->type : "ulong",
                   "MemoryType", "Scalar", "FillValue", is_whole(a) ? format(PREFIX "%s", a->name) : json_real(1));
}

static json_t *argument(const draft *d, const clt_kernel_argument *a) {
  if (a->address == CLT_ADDRESS_LOCAL)
    return json_pack("{s:s, s:o, s:s, s:s}", "Name", a->name, "Type",
                     format("%.*s", (int)strcspn(a->type, "* "), a->type), "MemoryType", "Local", "Size",
                     "TODO number of elements, an expression over the tuning parameters");
  if (strncmp(a->type, "image", 5) == 0) return image(d, a);
  if (strcmp(a->type, "sampler_t") == 0)
    return json_pack("{s:s, s:s, s:s, s:s}", "Name", a->name, "MemoryType", "Sampler", "Addressing", "ClampToEdge",
                     "Filter", "Nearest");
  return a->address == CLT_ADDRESS_PRIVATE ? scalar(a) : buffer(d, a);
}

static json_t *arguments(const draft *d) {
  json_t *list = json_array();
  for (size_t i = 0; i < d->kernel->n_arguments; i++)
    json_array_append_new(list, argument(d, &d->kernel->arguments[i]));
  return list;
}

/* --- reference --- */

static bool same_arguments(const clt_kernel_info *a, const clt_kernel_info *b) {
  bool same = a->n_arguments == b->n_arguments;
  for (size_t i = 0; same && i < a->n_arguments; i++)
    same = strcmp(a->arguments[i].name, b->arguments[i].name) == 0 &&
           strcmp(a->arguments[i].type, b->arguments[i].type) == 0;
  return same;
}

/* Another kernel of the file that is called naive or reference and takes the same arguments; NULL: none. */
static const clt_kernel_info *naive_kernel(const clt_kernel_info *kernel, const clt_kernel_info *kernels, size_t n) {
  for (size_t i = 0; i < n; i++) {
    bool called = strcasestr(kernels[i].name, "naive") || strcasestr(kernels[i].name, "ref");
    if (called && strcmp(kernels[i].name, kernel->name) != 0 && same_arguments(kernel, &kernels[i])) return &kernels[i];
  }
  return NULL;
}

static json_t *reference(const draft *d, const char *kernel_file, const clt_kernel_info *naive) {
  if (naive == NULL)
    return json_string(
        "TODO {\"KernelFile\": ..., \"KernelName\": ..., \"GlobalSize\": ...} of a simple kernel that is right; "
        "without this key the default configuration's result is taken for right");
  json_t *size = json_array();
  for (int k = 0; k < d->text->n_dimensions && k < 3; k++) {
    const char *along = size_along(d, k);
    json_array_append_new(
        size, along ? json_string(along) : format("TODO work-items of '%s' along %s", naive->name, axes[k]));
  }
  return json_pack("{s:s, s:s, s:o}", "KernelFile", kernel_file, "KernelName", naive->name, "GlobalSize", size);
}

static json_t *about_local_size(const draft *d) {
  const char *name = local_macro(d, 0);
  if (name)
    return format("%s is taken for the work-group's size, as it is called so; where it is another, write that", name);
  return format("where %s%s already is the work-group's size, write it there and leave local_x out",
                d->text->n_macros > 1 ? "a macro such as " : "", d->text->macros[0].name);
}

json_t *cli_first_problem(const char *name, const char *kernel_file, const clt_kernel_info *kernel,
                          const clt_kernel_info *kernels, size_t n_kernels, const cli_kernel_text *text) {
  draft d = {.kernel = kernel, .text = text};
  find_sizes(&d);
  json_t *problem = json_pack(
      "{s:{s:s}, s:o, s:{s:o, s:o}, s:{s:s, s:s, s:s, s:o, s:o, s:o}, s:o}", "General", "BenchmarkName", name,
      "ProblemParameters", problem_parameters(&d), "ConfigurationSpace", "TuningParameters", tuning_parameters(&d),
      "Conditions", conditions(&d), "KernelSpecification", "Language", "OpenCL", "KernelName", kernel->name,
      "KernelFile", kernel_file, "GlobalSize", global_size(&d), "LocalSize", local_size(&d), "Arguments", arguments(&d),
      "Reference", reference(&d, kernel_file, naive_kernel(kernel, kernels, n_kernels)));
  if (problem && own_local_size(&d) && text->n_macros > 0)
    json_object_set_new(json_object_get(problem, "KernelSpecification"), "// LocalSize", about_local_size(&d));
  return problem;
}
