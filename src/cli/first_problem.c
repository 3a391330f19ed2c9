#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "cli/init.h"

#define PREFIX "size_" /* problem parameters are macros of the kernel, and must not be its arguments' names */

static const char *const axes[] = {"X", "Y", "Z"};

typedef struct draft {
  const clt_kernel_info *kernel;
  const cli_kernel_text *text;
  int n_dimensions;
  char sizes[CLT_MAX_KERNEL_ARGUMENTS][160]; /* a problem parameter for each whole scalar argument */
  size_t n_sizes;
  bool own_local_size;  /* whether the work-group is what parameters say */
  const char *macro[3]; /* that is called as the work-group's size along a dimension; NULL: none is */
  const char *local[3]; /* the parameter that is: that macro, or one of our own */
} draft;

static bool is_whole(const clt_kernel_argument *a) {
  static const char *const types[] = {"int", "uint", "long", "ulong", "size_t", "short", "ushort", "unsigned int"};
  for (size_t i = 0; i < sizeof types / sizeof *types; i++)
    if (strcmp(a->type, types[i]) == 0) return a->address == CLT_ADDRESS_PRIVATE;
  return false;
}

/* The size along a dimension where there is little to choose: one size for all, or as many as dimensions and named so.
 */
static const char *size_along(const draft *d, int dimension) {
  static const char *const names[2][6] = {{"width", "w", "nx", "cols", "columns", "n"},
                                          {"height", "h", "ny", "rows", "m", NULL}};
  if (d->n_sizes == 1) return d->sizes[0];
  if (d->n_sizes != (size_t)d->n_dimensions) return NULL;
  for (size_t k = 0; dimension < 2 && d->n_dimensions > 1 && k < 6 && names[dimension][k]; k++)
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

static json_t *tuning_parameters(const draft *d) {
  json_t *list = json_array();
  for (size_t i = 0; i < d->text->n_macros; i++) {
    const cli_macro *m = &d->text->macros[i];
    json_array_append_new(list, json_pack("{s:s, s:s, s:o, s:I}", "Name", m->name, "Type", "int", "Values",
                                          values_about(m->value), "Default", (json_int_t)m->value));
  }
  for (int k = 0; d->own_local_size && k < d->n_dimensions; k++)
    if (d->macro[k] == NULL)
      json_array_append_new(list, json_pack("{s:s, s:s, s:o, s:i}", "Name", d->local[k], "Type", "int", "Values",
                                            values_about(k ? 4 : 32), "Default", k ? 4 : 32));
  return list;
}

/* --- arguments --- */

static json_t *extent_json(const draft *d, const char *what) {
  const char *x = size_along(d, 0), *y = size_along(d, 1);
  if (x && d->n_dimensions == 1) return json_string(x);
  if (x && y && d->n_dimensions == 2) return json_pack("[s, s]", x, y);
  return json_sprintf("TODO number of %s, an expression", what);
}

static json_t *argument_json(const draft *d, const clt_kernel_argument *a) {
  char element[128];
  snprintf(element, sizeof element, "%.*s", (int)strcspn(a->type, "* "), a->type);
  if (a->address == CLT_ADDRESS_LOCAL)
    return json_pack("{s:s, s:s, s:s, s:s}", "Name", a->name, "Type", element, "MemoryType", "Local", "Size",
                     "TODO number of elements, an expression over the tuning parameters");
  if (strncmp(a->type, "image", 5) == 0) {
    json_t *out =
        json_pack("{s:s, s:s, s:s, s:s, s:o}", "Name", a->name, "Type", "TODO float4, uchar4, float or the like",
                  "MemoryType", strstr(a->type, "3d") ? "Image3D" : "Image2D", "AccessType",
                  a->writes_image ? "WriteOnly" : "ReadOnly", "Size", extent_json(d, "pixels, [width, height]"));
    if (!a->writes_image) json_object_set_new(out, "FillType", json_string("Random"));
    return out;
  }
  if (strcmp(a->type, "sampler_t") == 0)
    return json_pack("{s:s, s:s, s:s, s:s}", "Name", a->name, "MemoryType", "Sampler", "Addressing", "ClampToEdge",
                     "Filter", "Nearest");
  if (a->address == CLT_ADDRESS_PRIVATE)
    return json_pack("{s:s, s:s, s:s, s:o}", "Name", a->name, "Type", strcmp(a->type, "size_t") ? a->type : "ulong",
                     "MemoryType", "Scalar", "FillValue",
                     is_whole(a) ? json_sprintf(PREFIX "%s", a->name) : json_real(1));
  bool real =
      strncmp(element, "float", 5) == 0 || strncmp(element, "double", 6) == 0 || strncmp(element, "half", 4) == 0;
  json_t *out = json_pack("{s:s, s:s, s:s, s:s, s:o, s:s, s:f}", "Name", a->name, "Type", element, "MemoryType",
                          "Vector", "AccessType", a->is_const ? "ReadOnly" : "ReadWrite", "Size",
                          extent_json(d, "elements"), "FillType", "Random", "FillValue", real ? 1.0 : 100.0);
  if (a->address == CLT_ADDRESS_CONSTANT) json_object_set_new(out, "MemType", json_string("Constant"));
  if (!a->is_const)
    json_object_set_new(out, "// access", json_string("WriteOnly, and no FillType, where the kernel only writes it"));
  return out;
}

/* --- reference --- */

/* Another kernel of the file that is called naive or reference and takes the same arguments; NULL: none. */
static const clt_kernel_info *naive_kernel(const clt_kernel_info *kernel, const clt_kernel_info *kernels, size_t n) {
  for (size_t i = 0; i < n; i++) {
    const clt_kernel_info *other = &kernels[i];
    bool fits = (strcasestr(other->name, "naive") || strcasestr(other->name, "ref")) &&
                strcmp(other->name, kernel->name) != 0 && other->n_arguments == kernel->n_arguments;
    for (size_t k = 0; fits && k < kernel->n_arguments; k++)
      fits = strcmp(kernel->arguments[k].name, other->arguments[k].name) == 0 &&
             strcmp(kernel->arguments[k].type, other->arguments[k].type) == 0;
    if (fits) return other;
  }
  return NULL;
}

static json_t *reference_json(const draft *d, const char *kernel_file, const clt_kernel_info *naive) {
  if (naive == NULL)
    return json_string(
        "TODO {\"KernelFile\": ..., \"KernelName\": ..., \"GlobalSize\": ...} of a simple kernel that is right; "
        "without this key the default configuration's result is taken for right");
  json_t *size = json_array();
  for (int k = 0; k < d->n_dimensions; k++) {
    const char *along = size_along(d, k);
    json_array_append_new(
        size, along ? json_string(along) : json_sprintf("TODO work-items of '%s' along %s", naive->name, axes[k]));
  }
  return json_pack("{s:s, s:s, s:o}", "KernelFile", kernel_file, "KernelName", naive->name, "GlobalSize", size);
}

/* --- the whole --- */

json_t *cli_first_problem(const char *kernel_file, const clt_kernel_info *kernel, const clt_kernel_info *kernels,
                          size_t n_kernels, const cli_kernel_text *text) {
  static const char *const own_names[] = {"local_x", "local_y", "local_z"};
  static const int default_sizes[] = {1024, 768, 512}; /* unequal, so that swapped ones do not go unnoticed */
  draft d = {.kernel = kernel, .text = text, .n_dimensions = text->n_dimensions};
  json_t *sizes = json_array(), *conditions = json_array(), *arguments = json_array();
  json_t *global = json_object(), *local = json_object();
  for (size_t i = 0; i < kernel->n_arguments; i++) {
    if (!is_whole(&kernel->arguments[i])) continue;
    snprintf(d.sizes[d.n_sizes], sizeof *d.sizes, PREFIX "%s", kernel->arguments[i].name);
    json_array_append_new(sizes, json_pack("{s:s, s:i, s:i}", "Name", d.sizes[d.n_sizes], "Default",
                                           default_sizes[d.n_sizes % 3], "Min", 1));
    d.n_sizes++;
  }
  d.own_local_size = text->required[0][0] == '\0' && kernel->local_size[0] == 0;
  for (int k = 0; k < d.n_dimensions; k++) {
    for (size_t i = 0; i < text->n_macros && d.macro[k] == NULL; i++)
      if (is_local_size(text->macros[i].name, k, d.n_dimensions)) d.macro[k] = text->macros[i].name;
    d.local[k] = d.macro[k] ? d.macro[k] : own_names[k];
    const char *size = size_along(&d, k), *required = text->required[k];
    json_object_set_new(global, axes[k],
                        size && !text->uses_groups ? json_string(size)
                                                   : json_sprintf("TODO work-items along %s, an expression%s%s",
                                                                  axes[k], size ? " such as " : "", size ? size : ""));
    json_object_set_new(local, axes[k],
                        required[0]             ? json_string(required)
                        : kernel->local_size[k] ? json_integer((json_int_t)kernel->local_size[k])
                                                : json_string(d.local[k]));
    /* Global sizes are rounded up to whole work-groups, and not every kernel looks where it is. */
    if (d.own_local_size && size)
      json_array_append_new(
          conditions, json_pack("{s:o, s:s}", "Expression", json_sprintf("%s %% %s == 0", size, d.local[k]), "// why",
                                "leave it out where the kernel has no need of whole work-groups"));
  }
  for (size_t i = 0; i < kernel->n_arguments; i++)
    json_array_append_new(arguments, argument_json(&d, &kernel->arguments[i]));
  json_t *problem = json_pack("{s:{s:s}, s:o, s:{s:o, s:o}, s:{s:s, s:s, s:s, s:o, s:o, s:o}, s:o}", "General",
                              "BenchmarkName", kernel->name, "ProblemParameters", sizes, "ConfigurationSpace",
                              "TuningParameters", tuning_parameters(&d), "Conditions", conditions,
                              "KernelSpecification", "Language", "OpenCL", "KernelName", kernel->name, "KernelFile",
                              kernel_file, "GlobalSize", global, "LocalSize", local, "Arguments", arguments,
                              "Reference", reference_json(&d, kernel_file, naive_kernel(kernel, kernels, n_kernels)));
  if (problem == NULL || !d.own_local_size || text->n_macros == 0) return problem;
  const char *name = d.macro[0];
  json_object_set_new(
      json_object_get(problem, "KernelSpecification"), "// LocalSize",
      name ? json_sprintf("%s is taken for the work-group's size, as it is called so; where it is another, write that",
                          name)
           : json_sprintf("where %s%s already is the work-group's size, write it there and leave local_x out",
                          text->n_macros > 1 ? "a macro such as " : "", text->macros[0].name));
  return problem;
}
