/* The problem file of a captured kernel: arguments and data are those of the application; the tuning parameters are the
 * macros that `clatune init` would find, and the work-group's size. */
#include <ctype.h>
#include <unistd.h>

#include "base/base.h"
#include "base/text.h"
#include "layer/programs/programs.h"
#include "problem/plan.h"

#define MOST_GROUP 1024      /* along a dimension, unless the application uses more */
#define FEW_DIVISORS 4       /* if fewer powers of two divide a size, other divisors become values too */
#define USUAL_GROUP 64       /* if the application leaves it to the driver */
#define MOST_VALUE_BYTES 128 /* of a scalar */

static const char *const axes[] = {"X", "Y", "Z"};

/* --- arguments --- */

/* The element type of a buffer. Bytes for structures, and if the size is not a multiple of the element. */
static clt_element element_of(const captured *c, size_t index, const char *type, size_t bytes) {
  char base[128];
  clt_element element;
  size_t n = strcspn(type, "*");
  while (n && type[n - 1] == ' ') n--;
  snprintf(base, sizeof base, "%.*s", (int)n, type);
  if (clt_element_parse(&element, base) != CLT_OK || element.components == 3) clt_element_parse(&element, "uchar");
  if (c->draft->varies[index]) element = (clt_element){element.base, 1, clt_element_base_bytes(element.base)};
  if (bytes % element.bytes) clt_element_parse(&element, "uchar");
  return element;
}

/* Moves one of the layer's files to the problem's folder. */
static int move_file(const captured *c, const char *raw, const char *name, clt_error *error) {
  const char *from = cli_keep_memory(clt_path_join(c->raw, raw)), *to = cli_keep_memory(clt_path_join(c->folder, name));
  return rename(from, to) ? clt_fail_errno(error, CLT_E_IO, "write", to) : CLT_OK;
}

static json_t *memory_json(const captured *c, size_t index, const json_t *seen, const clt_kernel_argument *a,
                           json_t *references, clt_error *error) {
  const char *name = clt_json_string(seen, "name"), *kind = clt_json_string(seen, "kind");
  const char *element = clt_json_string(seen, "element"), *after = clt_json_string(seen, "after");
  const bool image = clt_starts_with(kind, "Image"), writes = !json_is_true(json_object_get(seen, "const"));
  const char *access = image ? "WriteOnly" : "ReadWrite";
  if (!writes) access = "ReadOnly";
  const size_t bytes = (size_t)clt_json_count(seen, "bytes");
  const clt_element of = element_of(c, index, a->type, bytes);
  const bool real =
      image ? clt_starts_with(element, "float") || clt_starts_with(element, "half") : of.base >= CLT_ELEMENT_HALF;
  char type[16];
  clt_element_print(type, of);
  const char *data = cli_keep_memory(clt_format("%s.bin", name)),
             *right = cli_keep_memory(clt_format("%s.after.bin", name));
  if (move_file(c, clt_json_string(seen, "before"), data, error)) return NULL;
  if (writes && move_file(c, after, right, error)) return NULL;
  if (writes)
    json_array_append_new(references, json_pack("{s:s, s:s, s:s, s:s}", "Name", right, "TargetName", name, "FillType",
                                                "BinaryRaw", "DataSource", right));
  json_t *size = json_array();
  const json_t *extent = json_object_get(seen, "extent");
  size_t n = strcmp(kind, "Image2D") == 0 ? 2 : 1;
  if (strcmp(kind, "Image3D") == 0) n = 3;
  for (size_t d = 0; image && d < n; d++) json_array_append(size, json_array_get(extent, d));
  if (!image) json_array_append_new(size, json_integer((json_int_t)(bytes / of.bytes)));
  json_t *json = json_pack("{s:s, s:s, s:s, s:s, s:o, s:s, s:s}", "Name", name, "Type", image ? element : type,
                           "MemoryType", image ? kind : "Vector", "AccessType", access, "Size", size, "FillType",
                           "BinaryRaw", "DataSource", data);
  if (strcmp(kind, "constant") == 0) json_object_set_new(json, "MemType", json_string("Constant"));
  if (image && json_is_true(json_object_get(seen, "normalised")))
    json_object_set_new(json, "ChannelType", json_string("Normalised"));
  if (writes && real && !isnan(c->tolerance)) json_object_set_new(json, "RelativeTolerance", json_real(c->tolerance));
  return json;
}

/* The shortest decimal number with the same value; NULL if it needs more than 15 digits, which problem files have. */
static json_t *real_json(double value, bool single) {
  for (int digits = 6; isfinite(value) && digits <= 15; digits++) {
    char text[64];
    snprintf(text, sizeof text, "%.*g", digits, value);
    const double read = clt_strtod(text, NULL);
    if (single ? (float)read == (float)value : read == value) return json_real(read);
  }
  return NULL;
}

/* A scalar's value as JSON; NULL: it cannot be written exactly. */
static json_t *number_json(const unsigned char *bytes, clt_element element) {
  union {
    int8_t c;
    uint8_t uc;
    int16_t s;
    uint16_t us;
    int32_t i;
    uint32_t ui;
    int64_t l;
    uint64_t ul;
    float f;
    double d;
  } value;
  if (element.components != 1 || element.bytes > sizeof value) return NULL;
  memcpy(&value, bytes, element.bytes);
  switch (element.base) {
    case CLT_ELEMENT_CHAR: return json_integer(value.c);
    case CLT_ELEMENT_UCHAR: return json_integer(value.uc);
    case CLT_ELEMENT_SHORT: return json_integer(value.s);
    case CLT_ELEMENT_USHORT: return json_integer(value.us);
    case CLT_ELEMENT_INT: return json_integer(value.i);
    case CLT_ELEMENT_UINT: return json_integer(value.ui);
    case CLT_ELEMENT_LONG: return json_integer(value.l);
    case CLT_ELEMENT_ULONG: return value.ul <= INT64_MAX ? json_integer((json_int_t)value.ul) : NULL;
    case CLT_ELEMENT_FLOAT: return real_json((double)value.f, true);
    case CLT_ELEMENT_DOUBLE: return real_json(value.d, false);
    default: return NULL;
  }
}

static json_t *scalar_json(const captured *c, const json_t *seen, const clt_kernel_argument *a, clt_error *error) {
  const char *name = clt_json_string(seen, "name"), *value = clt_json_string(seen, "value");
  unsigned char bytes[MOST_VALUE_BYTES] = {0};
  const size_t n = strlen(value) / 2;
  clt_element element;
  char type[16];
  if (n == 0 || n > sizeof bytes)
    return clt_fail(error, CLT_E_UNSUPPORTED, "its argument '%s' is a structure of %zu bytes; at most %d are supported",
                    name, n, MOST_VALUE_BYTES),
           NULL;
  for (size_t i = 0; i < n; i++) {
    const char byte[3] = {value[2 * i], value[2 * i + 1], '\0'};
    bytes[i] = (unsigned char)strtoul(byte, NULL, 16);
  }
  const bool known = clt_element_parse(&element, a->type) == CLT_OK && element.bytes == n;
  json_t *number = known ? number_json(bytes, element) : NULL;
  if (known) clt_element_print(type, element);
  if (number)
    return json_pack("{s:s, s:s, s:s, s:o}", "Name", name, "Type", type, "MemoryType", "Scalar", "FillValue", number);
  const char *file = cli_keep_memory(clt_format("%s.bin", name));
  if (clt_file_write(cli_keep_memory(clt_path_join(c->folder, file)), bytes, n, error)) return NULL;
  json_t *json = json_pack("{s:s, s:s, s:s, s:s, s:s}", "Name", name, "Type", known ? type : "custom", "MemoryType",
                           "Scalar", "FillType", "BinaryRaw", "DataSource", file);
  if (!known) json_object_set_new(json, "TypeSize", json_integer((json_int_t)n));
  return json;
}

/* --- the work-group --- */

/* The captured launch. */
typedef struct shape {
  size_t n, global[3], local[3]; /* local: 0 if left to the driver */
  size_t most;                   /* the driver's limit on work-items per group; 0: not known */
  const char *sizes[3];          /* the work-group's size, an expression over parameters; NULL: fixed */
  bool own[3];                   /* it is a new parameter, not a macro of the kernel */
  char *group;                   /* work-items of a group, as an expression; NULL: fixed */
  bool is_tight;                 /* the local memory is not known to suffice for a larger group */
} shape;

static shape read_shape(const captured *c) {
  shape s = {0};
  const json_t *global = json_object_get(c->capture, "global"), *local = json_object_get(c->capture, "local");
  s.n = json_array_size(global);
  if (s.n > 3) s.n = 3;
  s.most = (size_t)clt_json_count(c->capture, "most");
  for (size_t k = 0; k < s.n; k++) {
    s.global[k] = (size_t)json_integer_value(json_array_get(global, k));
    s.local[k] = (size_t)json_integer_value(json_array_get(local, k));
  }
  return s;
}

/* A name that does not occur in the kernel's text, because it becomes a macro. */
static const char *free_name(const clt_draft *d, const char *axis) {
  static const char *const stems[] = {"local_", "group_", "work_group_", "clatune_local_"};
  const char *name = NULL;
  for (size_t i = 0; i < sizeof stems / sizeof *stems; i++) {
    name = cli_keep_memory(clt_format("%s%c", stems[i], tolower((unsigned char)axis[0])));
    if (clt_next_word(d->plain, d->plain, name) == NULL) break;
  }
  return name;
}

/* The macro that is the work-group's size along a dimension, as `clatune init` finds it; otherwise, if the kernel uses
 * its local id, the only macro with the application's value. NULL: none. */
static const clt_draft_macro *find_group_macro(const shape *s, const captured *c, size_t k) {
  const clt_draft *d = c->draft;
  const clt_draft_macro *called = clt_draft_local_size(d, (int)k), *alike = NULL;
  size_t n_alike = 0;
  if (called && !called->is_size && (size_t)called->value == s->local[k]) return called;
  for (size_t i = 0; i < d->n_macros; i++) {
    const clt_draft_macro *m = &d->macros[i];
    if (m->is_size || s->local[k] < 2 || (size_t)m->value != s->local[k]) continue;
    alike = m;
    n_alike++;
  }
  return d->uses_groups && n_alike == 1 ? alike : NULL;
}

/* Sets the work-group's size along each dimension: the kernel's required size, a macro, or a new parameter. */
static void choose_group(shape *s, const captured *c) {
  const clt_draft *d = c->draft;
  clt_text group = {0};
  const bool required = d->kernel->local_size[0] > 0;
  for (size_t k = 0; k < s->n; k++) {
    if (s->global[k] <= 1 && s->local[k] <= 1) continue;
    const clt_draft_macro *m = required ? NULL : find_group_macro(s, c, k);
    s->own[k] = !required && m == NULL;
    const char *stated = d->required[k];
    if (!required)
      s->sizes[k] = m ? m->name : free_name(d, axes[k]);
    else if (stated[strspn(stated, "0123456789")] != '\0' && clt_draft_names_parameters(d, stated))
      s->sizes[k] = cli_keep_memory(clt_format("(%s)", stated)); /* its expression, if it uses parameters only */
    if (s->sizes[k]) clt_text_printf(&group, "%s%s", group.n ? " * " : "", s->sizes[k]);
  }
  if (group.n) s->group = cli_keep_memory(group.bytes);
}

static size_t usual_group(const shape *s, size_t k) {
  size_t out = 1;
  if (s->local[k]) return s->local[k];
  for (size_t v = 2; k == 0 && v <= USUAL_GROUP && (s->most == 0 || v <= s->most) && s->global[k] % v == 0; v *= 2)
    out = v;
  return out;
}

/* Whether the kernel declares local memory itself, not only through its arguments. */
static bool has_local_memory(const captured *c) {
  static const char *const words[] = {"local", "__local"};
  const json_t *list = json_object_get(c->capture, "arguments"), *seen;
  const char *plain = c->draft->plain;
  size_t n = 0, n_arguments = 0, index;
  for (int i = 0; i < 2; i++)
    for (const char *at = plain; (at = clt_next_word(plain, at, words[i])) != NULL; at++) {
      const char *line = at;
      while (line > plain && line[-1] != '\n') line--;
      n += !clt_starts_with(line, "#line"); /* which names a file */
    }
  json_array_foreach(list, index, seen) n_arguments += strcmp(clt_json_string(seen, "kind"), "local") == 0;
  return n > n_arguments;
}

/* The values of a work-group size: powers of two that divide the global size, other divisors if these are few, and the
 * application's own. If the kernel declares local memory of a fixed size, none is larger than the application's,
 * because a larger group might write beyond it, which not every driver notices. */
static json_t *group_values(const captured *c, const shape *s, size_t k) {
  const size_t global = s->global[k], own = usual_group(s, k), most = has_local_memory(c) ? own : MOST_GROUP;
  json_t *list = json_array();
  size_t n_powers = 0;
  for (size_t v = 1; v <= most; v *= 2) n_powers += global % v == 0;
  for (size_t v = 1; v <= most || v <= own; v++)
    if (v == own || (v <= most && global % v == 0 && (n_powers < FEW_DIVISORS || (v & (v - 1)) == 0)))
      json_array_append_new(list, json_integer((json_int_t)v));
  return list;
}

/* --- the problem --- */

static json_t *parameters_json(const captured *c, const shape *s, json_t *conditions) {
  json_t *list = clt_draft_parameters(c->draft);
  for (size_t k = 0; k < s->n; k++) {
    if (s->sizes[k] == NULL) continue;
    bool seen = false; /* a square group's macro is used along both dimensions */
    for (size_t i = 0; i < k; i++)
      seen |= s->sizes[i] && strcmp(s->sizes[i], s->sizes[k]) == 0 && s->global[i] == s->global[k];
    if (s->own[k])
      json_array_append_new(list, json_pack("{s:s, s:s, s:o, s:I}", "Name", s->sizes[k], "Type", "int", "Values",
                                            group_values(c, s, k), "Default", (json_int_t)usual_group(s, k)));
    if (!seen)
      json_array_append_new(
          conditions, json_pack("{s:o}", "Expression", json_sprintf("%zu %% %s == 0", s->global[k], s->sizes[k])));
  }
  return list;
}

/* Adds compiler flags that the application does not use as parameters. -cl-fast-relaxed-math changes results, so it
 * needs a tolerance. */
static void add_flags(captured *c, json_t *parameters) {
  static const char *const flags[][2] = {{"-cl-mad-enable", "mad_enable"},
                                         {"-cl-fast-relaxed-math", "fast_relaxed_math"}};
  const bool none = json_array_size(parameters) == 0; /* a problem needs a parameter */
  for (size_t i = 0; i < 2; i++) {
    if (i == 0 ? !c->flags && !none : !c->flags || isnan(c->tolerance)) continue;
    if (cli_has_words(clt_json_string(c->kernel, "options"), flags[i][0])) continue;
    json_array_append_new(parameters, json_pack("{s:s, s:s, s:[i, i], s:i}", "Name", flags[i][1], "Type", "int",
                                                "Values", 0, 1, "Default", 0));
    json_array_append_new(c->options, json_pack("{s:s, s:s}", "Option", flags[i][0], "When", flags[i][1]));
  }
}

static json_t *local_size_json(const captured *c, const shape *s) {
  const size_t *required = c->draft->kernel->local_size;
  json_t *out = json_object();
  for (size_t k = 0; k < s->n; k++) {
    const json_int_t fixed = required[0] ? (json_int_t)required[k] : 1;
    json_object_set_new(out, axes[k], s->sizes[k] ? json_string(s->sizes[k]) : json_integer(fixed));
  }
  return out;
}

/* If the application's local memory is a multiple of its work-group's size, it grows with the work-group, and is never
 * smaller than the application's. If it is no multiple, as with a halo, a larger group might write beyond it. usual:
 * the value of s->group. */
static json_t *local_json(const captured *c, size_t index, const json_t *seen, const clt_kernel_argument *a,
                          size_t usual, shape *s) {
  const size_t bytes = (size_t)clt_json_count(seen, "bytes");
  const clt_element element = element_of(c, index, a->type, bytes);
  const size_t n = bytes / element.bytes;
  const bool scales = s->group && usual && n % usual == 0;
  char type[16];
  clt_element_print(type, element);
  s->is_tight |= !scales;
  json_t *size = scales ? json_sprintf("%s * %zu if %s > %zu else %zu", s->group, n / usual, s->group, usual, n)
                        : json_integer((json_int_t)n);
  return json_pack("{s:s, s:s, s:s, s:o}", "Name", clt_json_string(seen, "name"), "Type", type, "MemoryType", "Local",
                   "Size", size);
}

static json_t *arguments_json(const captured *c, shape *s, json_t *references, clt_error *error) {
  const clt_kernel_info *kernel = c->draft->kernel;
  const json_t *list = json_object_get(c->capture, "arguments"), *seen;
  size_t index, usual = 1;
  json_t *out = json_array();
  for (size_t k = 0; k < s->n; k++) usual *= usual_group(s, k);
  json_array_foreach(list, index, seen) {
    const clt_kernel_argument *a = &kernel->arguments[index];
    const char *kind = clt_json_string(seen, "kind");
    json_t *json;
    if (!clt_is_name(clt_json_string(seen, "name")))
      return clt_fail(error, CLT_E_FORMAT, "the driver does not report the name of its argument %zu", index), NULL;
    if (strcmp(kind, "scalar") == 0)
      json = scalar_json(c, seen, a, error);
    else if (strcmp(kind, "local") == 0)
      json = local_json(c, index, seen, a, usual, s);
    else if (strcmp(kind, "sampler") == 0)
      json = json_pack("{s:O, s:s, s:O, s:O, s:O}", "Name", json_object_get(seen, "name"), "MemoryType", "Sampler",
                       "Normalised", json_object_get(seen, "normalised"), "Addressing",
                       json_object_get(seen, "addressing"), "Filter", json_object_get(seen, "filter"));
    else
      json = memory_json(c, index, seen, a, references, error);
    if (json == NULL) return NULL;
    json_array_append_new(out, json);
  }
  return out;
}

/* The names of the scalar arguments whose values differed between launches of the captured sizes. */
static json_t *varying_json(const captured *c) {
  const json_t *arguments = json_object_get(c->capture, "arguments"), *size, *index;
  json_t *list = json_array();
  size_t i, k;
  json_array_foreach(json_object_get(c->kernel, "sizes"), i, size) {
    if (!json_equal(json_object_get(size, "global"), json_object_get(c->capture, "global")) ||
        !json_equal(json_object_get(size, "local"), json_object_get(c->capture, "local")))
      continue;
    json_array_foreach(json_object_get(size, "varying"), k, index) {
      const json_t *argument = json_array_get(arguments, (size_t)json_integer_value(index));
      if (strcmp(clt_json_string(argument, "kind"), "scalar") == 0)
        json_array_append(list, json_object_get(argument, "name"));
    }
  }
  return list;
}

/* The bytes of each local-memory argument. */
static json_t *local_memory_json(const captured *c) {
  const json_t *list = json_object_get(c->capture, "arguments"), *seen;
  json_t *out = json_object();
  size_t i;
  json_array_foreach(list, i, seen) if (strcmp(clt_json_string(seen, "kind"), "local") == 0)
      json_object_set(out, clt_json_string(seen, "name"), json_object_get(seen, "bytes"));
  return out;
}

static const char *parameter_names(const json_t *parameters) {
  clt_text text = {0};
  char *out = NULL;
  const json_t *parameter;
  size_t i;
  json_array_foreach(parameters, i, parameter) if (json_array_size(json_object_get(parameter, "Values")) > 1)
      clt_text_printf(&text, "%s%s", text.n ? ", " : "", clt_json_string(parameter, "Name"));
  if (text.n == 0) clt_text_add(&text, "none");
  cli_check(clt_text_take(&out, &text, &cli_error));
  return cli_keep_memory(out);
}

/* NULL with the reason in error. */
static json_t *problem_json(captured *c, clt_error *error) {
  shape s = read_shape(c);
  json_t *conditions = json_array(), *references = json_array(), *global = json_object();
  choose_group(&s, c);
  json_t *parameters = parameters_json(c, &s, conditions), *arguments = arguments_json(c, &s, references, error);
  if (arguments == NULL) return NULL;
  for (size_t k = 0; k < s.n && s.is_tight; k++)
    if (s.sizes[k])
      json_array_append_new(
          conditions, json_pack("{s:o}", "Expression", json_sprintf("%s <= %zu", s.sizes[k], usual_group(&s, k))));
  add_flags(c, parameters);
  for (size_t k = 0; k < s.n; k++) json_object_set_new(global, axes[k], json_integer((json_int_t)s.global[k]));
  const char *name = clt_json_string(c->kernel, "name");
  json_t *kernel =
      json_pack("{s:s, s:s, s:s, s:o, s:o, s:o}", "Language", "OpenCL", "KernelName", name, "KernelFile", "kernel.cl",
                "GlobalSize", global, "LocalSize", local_size_json(c, &s), "Arguments", arguments);
  if (json_array_size(c->options)) json_object_set(kernel, "CompilerOptions", c->options);
  if (json_array_size(c->includes)) json_object_set(kernel, "IncludePaths", c->includes);
  json_t *out = json_pack("{s:o*, s:{s:s}, s:{s:o, s:o}, s:o}", "$schema", clt_draft_schema(), "General",
                          "BenchmarkName", name, "ConfigurationSpace", "TuningParameters", parameters, "Conditions",
                          conditions, "KernelSpecification", kernel);
  if (json_array_size(references)) json_object_set(out, "ReferenceArguments", references);
  json_object_set_new(
      out, "Capture",
      json_pack("{s:O, s:O, s:O, s:O, s:O, s:o, s:o, s:O, s:O}", "Program", json_object_get(c->kernel, "program"),
                "Options", json_object_get(c->kernel, "options"), "Included", c->included, "Global",
                json_object_get(c->capture, "global"), "Local", json_object_get(c->capture, "local"), "LocalMemory",
                local_memory_json(c), "Varying", varying_json(c), "Launch", json_object_get(c->capture, "launch"),
                "Device", json_object_get(c->capture, "device")));
  return out;
}

/* --- reading --- */

/* Finds the device that the application used; otherwise another one of its platform, to build its kernels. */
static int find_device(clt_device_info *out, const json_t *device, clt_error *error) {
  clt_device_info *all = NULL;
  size_t n = 0, i = 0;
  int rc = cli_devices_here(&all, &n, error);
  while (rc == CLT_OK && i < n &&
         (strcmp(all[i].name, clt_json_string(device, "name")) != 0 ||
          strcmp(all[i].platform_name, clt_json_string(device, "platform")) != 0))
    i++;
  if (rc == CLT_OK && i == n)
    rc = clt_fail(error, CLT_E_DEVICE,
                  "its device '%s' is not among those of 'clatune devices'; install its driver for clatune, too",
                  clt_json_string(device, "name"));
  if (rc == CLT_OK) *out = all[i];
  free(all);
  return rc;
}

/* Makes the draft as `clatune init` does, except that the application's build options say which macros are defined. */
static int read_kernel(captured *c, clt_error *error) {
  clt_draft *d = c->draft;
  const clt_kernel_info *kernel = NULL;
  const char *name = clt_json_string(c->kernel, "name");
  const size_t n_arguments = json_array_size(json_object_get(c->capture, "arguments"));
  d->complete = true;
  if (capture_source(c, error) == NULL) return error->code;
  int rc = clt_draft_find_macros(d, NULL, NULL, NULL, error);
  if (rc == CLT_OK) rc = find_device(&c->device, json_object_get(c->capture, "device"), error);
  if (rc == CLT_OK) rc = clt_draft_build(d, &c->device, error);
  if (rc) return rc;
  for (size_t i = 0; i < d->n_kernels; i++)
    if (strcmp(d->kernels[i].name, name) == 0) kernel = &d->kernels[i];
  if (kernel == NULL || kernel->n_arguments != n_arguments)
    return clt_fail(error, CLT_E_FORMAT, "its source, when built again, has a different kernel of that name");
  const size_t n_before = d->options.n;
  rc = clt_draft_set_kernel(d, kernel, &c->device, cli_log, &c->quiet, error);
  if (rc) return rc;
  for (size_t i = n_before; i < d->options.n; i++) /* macros that this kernel does not use */
    json_array_append_new(c->options, clt_draft_option(d->options.all[i]));
  return CLT_OK;
}

static void release_draft(void *draft) { clt_draft_release(draft); }

const char *capture_problem(const char **parameters, captured *c, clt_error *error) {
  const char *name = clt_json_string(c->kernel, "name");
  clt_text text = {0};
  c->draft = cli_keep(cli_new(1, sizeof *c->draft), release_draft);
  c->options = cli_keep_json(json_array());
  c->includes = cli_keep_json(json_array());
  c->included = cli_keep_json(json_object());
  if (read_kernel(c, error)) return NULL;
  json_t *json = problem_json(c, error);
  const char *path = cli_keep_memory(clt_format("%s/%s.json", c->folder, name));
  if (json == NULL || capture_try(c, json, path, error)) {
    json_decref(json);
    return NULL;
  }
  *parameters = parameter_names(json_object_get(json_object_get(json, "ConfigurationSpace"), "TuningParameters"));
  cli_add_json(&text, json, 0);
  clt_text_add(&text, "\n");
  json_decref(json);
  int rc = text.rc ? clt_fail_memory(error) : clt_file_write(path, text.bytes, text.n, error);
  clt_text_release(&text);
  return rc ? NULL : path;
}
