/* `clatune init`: drafts a problem file from the compiler's information about a kernel and from its text. */
#include <clatune/sys/evaluator.h>
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/text.h"
#include "cli/init.h"
#include "problem/plan.h"

static const char *const axes[] = {"X", "Y", "Z"};

/* --- the problem --- */

static bool is_whole(const clt_kernel_argument *a) {
  static const char *const types[] = {"int", "uint", "long", "ulong", "size_t", "short", "ushort", "unsigned int"};
  for (size_t i = 0; i < sizeof types / sizeof *types; i++)
    if (strcmp(a->type, types[i]) == 0) return a->address == CLT_ADDRESS_PRIVATE;
  return false;
}

/* The size along a dimension if it is evident: there is only one size, or one per dimension with matching names. */
static const char *size_along(const draft *d, int dimension) {
  static const char *const names[2][6] = {{"width", "w", "nx", "cols", "columns", "n"},
                                          {"height", "h", "ny", "rows", "m", NULL}};
  if (d->n_sizes == 1) return d->sizes[0];
  if (d->n_sizes != (size_t)d->n_dimensions) return NULL;
  for (size_t k = 0; dimension < 2 && d->n_dimensions > 1 && k < 6 && names[dimension][k]; k++)
    for (size_t i = 0; i < d->n_sizes; i++)
      if (strcasecmp(cli_init_bare(d->sizes[i]), names[dimension][k]) == 0) return d->sizes[i];
  return NULL;
}

/* --- parameters --- */

json_t *cli_init_parameters(const draft *d) {
  json_t *list = json_array();
  for (size_t i = 0; i < d->n_macros; i++) {
    const tuned_macro *m = &d->macros[i];
    if (m->is_size) continue;
    json_t *values = cli_init_values(d, m),
           *usual = m->list ? json_copy(json_array_get(values, 0)) : json_integer(m->value);
    json_array_append_new(list, json_pack("{s:s, s:s, s:o, s:o}", "Name", m->name, "Type", cli_init_type(values),
                                          "Values", values, "Default", usual));
  }
  for (int k = 0; d->own_local_size && k < d->n_dimensions; k++) {
    const tuned_macro own = {.value = k ? 4 : 32, .is_defined = true};
    if (!d->macro_is_size[k])
      json_array_append_new(list, json_pack("{s:s, s:s, s:o, s:I}", "Name", d->local[k], "Type", "int", "Values",
                                            cli_init_values(d, &own), "Default", (json_int_t)own.value));
  }
  return list;
}

/* --- arguments --- */

static json_t *extent_json(const draft *d, const char *what, const char *array) {
  const char *x = size_along(d, 0), *y = size_along(d, 1);
  if (x && d->n_dimensions == 1 && !cli_init_has_rows(d, array)) return json_string(x);
  if (x && y && d->n_dimensions == 2) return json_pack("[s, s]", x, y);
  return json_sprintf("TODO number of %s, an expression", what);
}

static json_t *argument_json(const draft *d, const clt_kernel_argument *a) {
  char element[200], type[128];
  clt_element parsed;
  size_t n = strcspn(a->type, "*");
  while (n && a->type[n - 1] == ' ') n--;
  snprintf(type, sizeof type, "%.*s", (int)n, a->type);
  snprintf(element, sizeof element, "%s", strcmp(type, "size_t") ? type : "ulong");
  const bool known = clt_element_parse(&parsed, element) == CLT_OK, varies = d->varies[a - d->kernel->arguments];
  const bool local = a->address == CLT_ADDRESS_LOCAL, image = !local && strncmp(type, "image", 5) == 0;
  const bool sampler = strcmp(type, "sampler_t") == 0, scalar = a->address == CLT_ADDRESS_PRIVATE && !image && !sampler;
  const bool vector = !local && !image && !sampler && !scalar;
  if (known && varies) clt_element_print(element, (clt_element){parsed.base, 1, 0});
  if (!known)
    snprintf(element, sizeof element, "TODO the OpenCL type, such as float or int4, that the kernel calls %s", type);
  if (image) snprintf(element, sizeof element, "TODO the type of a pixel, such as float4, uchar4 or float");
  const bool real = !known || clt_starts_with(element, "float") || clt_starts_with(element, "double") ||
                    clt_starts_with(element, "half");
  const char *kind = local     ? "Local"
                     : sampler ? "Sampler"
                     : scalar  ? "Scalar"
                     : vector  ? "Vector"
                               : (strstr(type, "3d") ? "Image3D" : "Image2D");
  const char *access = image    ? (a->writes_image ? "WriteOnly" : "ReadOnly")
                       : vector ? (a->is_const ? "ReadOnly" : "ReadWrite")
                                : NULL;
  json_t *size = local     ? json_string("TODO number of elements, an expression over the tuning parameters")
                 : image   ? extent_json(d, "pixels, [width, height]", a->name)
                 : !vector ? NULL
                 : varies  ? json_sprintf("TODO number of elements of %s, for all configurations", element)
                           : extent_json(d, "elements", a->name);
  json_t *value = vector        ? json_real(real ? 1 : 100)
                  : !scalar     ? NULL
                  : is_whole(a) ? json_sprintf(PREFIX "%s", a->name)
                  : known       ? json_real(1)
                                : json_string("TODO its value");
  return json_pack("{s:s, s:s*, s:s, s:s*, s:o*, s:s*, s:o*, s:s*, s:s*, s:s*, s:s*}", "Name", a->name, "Type",
                   sampler ? NULL : element, "MemoryType", kind, "AccessType", access, "Size", size, "FillType",
                   vector || (image && !a->writes_image) ? "Random" : NULL, "FillValue", value, "MemType",
                   vector && a->address == CLT_ADDRESS_CONSTANT ? "Constant" : NULL, "Addressing",
                   sampler ? "ClampToEdge" : NULL, "Filter", sampler ? "Nearest" : NULL, "// access",
                   vector && !a->is_const ? "use WriteOnly without FillType if the kernel only writes it" : NULL);
}

/* --- reference --- */

/* Proposes another kernel of the file whose name contains "naive" or "ref" and which takes the same arguments. */
static json_t *reference_json(const draft *d, const char *kernel_file, const clt_kernel_info *kernels, size_t n) {
  const clt_kernel_info *naive = NULL;
  for (size_t i = 0; i < n && naive == NULL; i++) {
    const clt_kernel_info *other = &kernels[i];
    bool fits = (strcasestr(other->name, "naive") || strcasestr(other->name, "ref")) &&
                strcmp(other->name, d->kernel->name) != 0 && other->n_arguments == d->kernel->n_arguments;
    for (size_t k = 0; fits && k < other->n_arguments; k++)
      fits = strcmp(d->kernel->arguments[k].name, other->arguments[k].name) == 0 &&
             strcmp(d->kernel->arguments[k].type, other->arguments[k].type) == 0;
    if (fits) naive = other;
  }
  if (naive == NULL)
    return json_string(
        "TODO {\"KernelFile\": ..., \"KernelName\": ..., \"GlobalSize\": ...} of a simple, correct kernel; "
        "without this key the default configuration's result is taken as correct");
  json_t *size = json_array();
  for (int k = 0; k < d->n_dimensions; k++) {
    const char *along = size_along(d, k);
    json_array_append_new(
        size, along ? json_string(along) : json_sprintf("TODO work-items of '%s' along %s", naive->name, axes[k]));
  }
  return json_pack("{s:s, s:s, s:o}", "KernelFile", kernel_file, "KernelName", naive->name, "GlobalSize", size);
}

static void add_size(draft *d, json_t *sizes, int64_t value) {
  json_array_append_new(sizes, json_pack("{s:s, s:I, s:i}", "Name", d->sizes[d->n_sizes++], "Default",
                                         (json_int_t)value, "Min", value > 0));
}

json_t *cli_init_option(const char *option) {
  clt_text text = {0};
  for (const char *at = option; *at; at++) /* "{{" stands for a brace */
    clt_text_printf(&text, "%s%c", *at == '{' ? "{" : "", *at);
  json_t *json = json_string(text.bytes);
  clt_text_release(&text);
  return json;
}

json_t *cli_init_schema(void) {
  static const char *const names[] = {"../share/clatune/schema/problem.json", "../../../schema/problem.json", NULL};
  char *near = clt_find_near_program(names, R_OK), *path = near ? realpath(near, NULL) : NULL;
  bool plain = path != NULL;
  for (const char *at = path; plain && *at; at++) plain = isalnum((unsigned char)*at) || strchr("/._-~+", *at);
  json_t *json = plain ? json_sprintf("file://%s", path) : NULL;
  free(near);
  free(path);
  return json;
}

/* Drafts the problem file; the user must fill in what is marked TODO. kernels: all n_kernels of the file, to find a
 * reference among them. NULL when out of memory. */
static json_t *first_problem(draft *d, const char *kernel_file, const clt_kernel_info *kernels, size_t n_kernels) {
  static const char *const own_names[] = {"local_x", "local_y", "local_z"};
  const clt_kernel_info *kernel = d->kernel;
  json_t *sizes = json_array(), *conditions = json_array(), *arguments = json_array();
  json_t *global = json_object(), *local = json_object();
  bool any_varies = false;
  for (size_t i = 0; i < kernel->n_arguments; i++) {
    if (!is_whole(&kernel->arguments[i])) continue;
    snprintf(d->sizes[d->n_sizes], sizeof *d->sizes, PREFIX "%s", kernel->arguments[i].name);
    add_size(d, sizes, cli_init_usual_size(d, kernel->arguments[i].name, d->n_sizes));
  }
  for (size_t i = 0; i < d->n_macros; i++) {
    if (!d->macros[i].is_size) continue;
    snprintf(d->sizes[d->n_sizes], sizeof *d->sizes, "%s", d->macros[i].name);
    add_size(d, sizes, d->macros[i].value);
  }
  cli_init_find_bounds(d);
  d->own_local_size = kernel->local_size[0] == 0;
  for (size_t i = 0; i < kernel->n_arguments; i++) any_varies |= d->varies[i];
  for (int k = 0; k < d->n_dimensions; k++) {
    const tuned_macro *of_group = cli_init_local_size(d, k);
    d->macro_is_size[k] = of_group != NULL;
    d->local[k] = of_group ? of_group->name : own_names[k];
    const char *size = d->bounds[k] ? d->bounds[k] : size_along(d, k);
    bool is_size = size && (d->bounds[k] || (!d->uses_groups && !any_varies));
    json_object_set_new(global, axes[k],
                        is_size ? json_string(size)
                                : json_sprintf("TODO work-items along %s, such as %s or (%s + N - 1) // N if each "
                                               "computes N results; rounded up to whole work-groups",
                                               axes[k], size ? size : "size", size ? size : "size"));
    /* The expression in reqd_work_group_size if it is this kernel's and uses parameters only; otherwise its numbers. */
    json_object_set_new(local, axes[k],
                        d->own_local_size ? json_string(d->local[k])
                        : cli_init_names_parameters(d, d->required[k])
                            ? json_string(d->required[k])
                            : json_integer((json_int_t)kernel->local_size[k]));
    /* Global sizes are rounded up to whole work-groups, and not every kernel checks its bounds. */
    if (d->own_local_size && size)
      json_array_append_new(
          conditions,
          json_pack("{s:o, s:s}", "Expression", json_sprintf("%s %% %s == 0", size, d->local[k]), "// why",
                    "remove it if the kernel checks the edge, as if (x < width); clatune rounds global sizes up"));
  }
  for (size_t i = 0; i < kernel->n_arguments; i++)
    json_array_append_new(arguments, argument_json(d, &kernel->arguments[i]));
  json_t *options = d->options.n ? json_array() : NULL, *note = NULL;
  for (size_t i = 0; i < d->options.n; i++) json_array_append_new(options, cli_init_option(d->options.all[i]));
  size_t n_tuned = 0, first = d->n_macros;
  for (size_t i = d->n_macros; i-- > 0;)
    if (!d->macros[i].is_size) n_tuned++, first = i;
  if (d->own_local_size && n_tuned > 0 && d->macro_is_size[0])
    note = json_sprintf("%s is taken as the work-group size because of its name; correct it if that is wrong",
                        d->local[0]);
  else if (d->own_local_size && n_tuned > 0)
    note = json_sprintf("if %s%s is the work-group size, write it here and remove local_x",
                        n_tuned > 1 ? "a macro such as " : "", d->macros[first].name);
  return json_pack("{s:o*, s:{s:s}, s:o, s:{s:o, s:o}, s:{s:s, s:s, s:s, s:o, s:o, s:o, s:o*, s:o*}, s:o}", "$schema",
                   cli_init_schema(), "General", "BenchmarkName", kernel->name, "ProblemParameters", sizes,
                   "ConfigurationSpace", "TuningParameters", cli_init_parameters(d), "Conditions", conditions,
                   "KernelSpecification", "Language", "OpenCL", "KernelName", kernel->name, "KernelFile", kernel_file,
                   "GlobalSize", global, "LocalSize", local, "Arguments", arguments, "CompilerOptions", options,
                   "// LocalSize", note, "Reference", reference_json(d, kernel_file, kernels, n_kernels));
}

/* --- --interactive --- */

/* Reads a line without blanks at its ends; "" for an empty line or at the end of the input. Valid until the next call.
 */
static const char *ask_line(const char *place, const char *what) {
  static char line[512];
  fprintf(stderr, "%s: %s: ", place, what);
  fflush(stderr);
  if (fgets(line, sizeof line, stdin) == NULL) return "";
  size_t n = strlen(line);
  while (n && isspace((unsigned char)line[n - 1])) line[--n] = '\0';
  return line + strspn(line, " \t");
}

/* Asks for each value that begins with TODO. The prompt has the key's path; arguments appear by name. */
static void ask_todos(json_t *json, const char *place) {
  json_t *item;
  const char *key;
  size_t i;
  void *next;
  json_array_foreach(json, i, item) {
    const char *name = json_string_value(json_object_get(item, "Name"));
    char *inside = name ? clt_format("%s '%s'", place, name) : clt_format("%s[%zu]", place, i);
    if (inside) ask_todos(item, inside);
    free(inside);
  }
  json_object_foreach_safe(json, next, key, item) {
    const char *text = json_string_value(item);
    char *inside = clt_format("%s%s%s", place, place[0] ? "." : "", key);
    if (inside && text && clt_starts_with(text, "TODO ")) {
      const bool is_object = text[strlen("TODO ")] == '{';
      const char *answer = ask_line(inside, text + strlen("TODO "));
      json_t *value = json_loads(answer, 0, NULL);
      while (answer[0] && strcmp(answer, "-") != 0 && value == NULL && (is_object || strchr("[{", answer[0]))) {
        answer = ask_line(inside, "not valid JSON, try again");
        value = json_loads(answer, 0, NULL);
      }
      if (strcmp(answer, "-") == 0)
        json_object_del(json, key);
      else if (answer[0])
        json_object_set_new(json, key, value ? value : json_string(answer));
    } else if (inside) {
      ask_todos(item, inside);
    }
    free(inside);
  }
}

/* Asks for the default sizes and for everything marked TODO. */
static void ask_person(json_t *problem) {
  json_t *size;
  size_t i;
  fputs("Press Enter to keep a value; type '-' to remove the key.\n", stderr);
  json_array_foreach(json_object_get(problem, "ProblemParameters"), i, size) {
    char now[64];
    snprintf(now, sizeof now, "default value (now %lld)",
             (long long)json_integer_value(json_object_get(size, "Default")));
    const char *name = json_string_value(json_object_get(size, "Name")), *answer;
    char *end = now;
    long long value = 0;
    for (answer = ask_line(name, now); answer[0]; answer = ask_line(name, "needs a whole number of at least its Min")) {
      value = strtoll(answer, &end, 10);
      if (*end == '\0' && value >= json_integer_value(json_object_get(size, "Min"))) break;
    }
    if (answer[0]) json_object_set_new(size, "Default", json_integer(value));
  }
  ask_todos(problem, "");
}

/* --- writing --- */

/* The path of a file in the folder `to` relative to the folder `from`; both are absolute. malloc'ed; NULL when out of
 * memory. */
static char *path_between(const char *from, const char *to, const char *name) {
  clt_text out = {0};
  char *path = NULL;
  size_t common = 0; /* of both, up to the end of a folder's name */
  for (size_t i = 0; i == 0 || (from[i - 1] == to[i - 1] && from[i - 1]); i++)
    if ((from[i] == '/' || from[i] == '\0') && (to[i] == '/' || to[i] == '\0')) common = i;
  for (const char *at = from + common; *at; at++)
    if (at[0] == '/' && at[1]) clt_text_add(&out, "../");
  to += common + (to[common] == '/');
  clt_text_printf(&out, "%s%s%s", to, to[0] ? "/" : "", name);
  clt_text_take(&path, &out, NULL);
  return path;
}

static int write_problem(const cli_arguments *arguments, draft *d, const clt_kernel_info *kernels, size_t n_kernels) {
  const char *kernel_path = arguments->positional[0], *typed = cli_text(arguments, "output");
  const char *slash = strrchr(kernel_path, '/'), *dot = strrchr(slash ? slash : kernel_path, '.');
  clt_text text = {0};
  int n_todos = 0;
  size_t n_tuned = 0;
  for (size_t i = 0; i < d->n_macros; i++) n_tuned += !d->macros[i].is_size;
  /* blur.cl -> blur.json, next to the kernel */
  const int length = dot ? (int)(dot - kernel_path) : (int)strlen(kernel_path);
  const char *path = typed ? typed : cli_keep_memory(clt_format("%.*s.json", length, kernel_path));
  /* The kernel's path relative to the problem file; a printed one is relative to the current folder. */
  const char *from = cli_keep_memory(clt_path_folder(clt_file_is_special(path) ? "." : path));
  const char *to = cli_keep_memory(clt_path_folder(kernel_path));
  const char *file = cli_keep_memory(path_between(from, to, slash ? slash + 1 : kernel_path));
  json_t *json = first_problem(d, file, kernels, n_kernels);
  if (json && cli_given(arguments, "interactive")) ask_person(json);
  cli_add_json(&text, json, 0);
  clt_text_add(&text, "\n");
  if (json == NULL || text.rc) cli_failure("out of memory");
  json_decref(json);
  const bool dry = cli_given(arguments, "dry-run");
  if (!dry) {
    const bool replaces = cli_given(arguments, "force") || clt_file_is_special(path);
    int fd = replaces ? -1 : open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666); /* reserves the name */
    if (fd < 0 && !replaces && errno == EEXIST)
      cli_failure("'%s' exists already; choose another file with -o or replace it with --force", path);
    if (fd < 0 && !replaces) cli_failure("cannot create '%s'", path);
    int rc = clt_file_replace(path, text.bytes, text.n, &cli_error);
    if (rc && fd >= 0) unlink(path);
    cli_check(rc);
    if (fd >= 0) close(fd);
  }
  for (const char *at = text.bytes; (at = strstr(at, "\"TODO")); at++) n_todos++;
  int rc = 0;
  if (dry) {
    fputs(text.bytes, stdout);
  } else if (cli_given(arguments, "json")) {
    rc = cli_print_json(json_pack("{s:s, s:s, s:i, s:i, s:i}", "problem", path, "kernel", d->kernel->name, "arguments",
                                  (int)d->kernel->n_arguments, "parameters", (int)n_tuned, "todo", n_todos));
  } else {
    printf("wrote %s: kernel '%s', arguments: %zu, macros as tuning parameters: %zu\n", path, d->kernel->name,
           d->kernel->n_arguments, n_tuned);
    if (n_todos)
      printf("marked TODO: %d; fill them in ('clatune verify %s' lists them)\n", n_todos, path);
    else
      printf("review it, then run: clatune verify %s\n", path);
  }
  clt_text_release(&text);
  return rc;
}

/* --- the command --- */

/* For a file that looks like a program of the host: prints how such a program is tuned. */
static void note_program(const char *path, const char *log) {
  static const char *const endings[] = {".c", ".cpp", ".cc", ".cu"};
  bool is_program = strstr(log, "stdio.h") != NULL;
  for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) is_program |= clt_ends_with(path, endings[i]);
  if (is_program)
    cli_message(CLI_FAILURE,
                "note: 'clatune init' drafts problem files for OpenCL kernels; for a program, start with the tutorial "
                "\"Your first program\" and examples/command");
}

static const clt_kernel_info *choose_kernel(const clt_kernel_info *kernels, size_t n, const char *name,
                                            const char *path) {
  char names[1024] = "";
  for (size_t i = 0; i < n; i++) {
    if (name ? strcmp(kernels[i].name, name) == 0 : n == 1) return &kernels[i];
    size_t used = strlen(names);
    snprintf(names + used, sizeof names - used, " '%s'", kernels[i].name);
  }
  if (n == 0) note_program(path, "");
  if (n == 0) cli_failure("'%s' has no kernel; name a file of OpenCL C with a kernel function", path);
  if (name) cli_usage("'%s' has no kernel '%s'; choose one of:%s", path, name, names);
  cli_usage("'%s' has several kernels; choose one with --kernel:%s", path, names);
}

/* Reads --define: a macro with one value becomes a build option, one with several a tuning parameter. */
static void read_typed_macros(draft *d, const cli_arguments *arguments) {
  size_t n = 0;
  const char **typed = cli_texts(&n, arguments, "define");
  for (size_t i = 0; i < n; i++) {
    const char *value = typed[i] + strcspn(typed[i], "=");
    tuned_macro m = {.list = value + 1};
    snprintf(m.name, sizeof m.name, "%.*s", (int)(value - typed[i]), typed[i]);
    bool is_list = strchr(value, ',') && strpbrk(value, "(){}\"' ") == NULL && clt_is_name(m.name) &&
                   value - typed[i] < (ptrdiff_t)sizeof m.name && d->n_macros < MAX_MACROS;
    if (cli_init_has_macro(d, m.name))
      cli_usage("--define names the macro '%s' twice; give all values in one list: %s=1,2", m.name, m.name);
    if (is_list && (m.list[0] == ',' || strstr(m.list, ",,") || clt_ends_with(m.list, ",")))
      cli_usage("option '--define' needs a value before and after each comma, not '%s'", typed[i]);
    if (is_list)
      d->macros[d->n_macros++] = m;
    else
      cli_check(clt_words_add(&d->options, clt_format("-D%s", typed[i]), &cli_error));
  }
}

/* Notes what became of the macros without a definition. The first n_typed options are the user's. */
static void note_macros(const draft *d, const char *path, size_t n_typed) {
  static const char *const notes[][2] = {
      {"tuning parameters with guessed values", "NAME=1,2,4 gives other values, --define NAME=4 a fixed one"},
      {"problem parameters", "NAME=1,2,4 makes one a tuning parameter"},
      {"the type float", "NAME=TYPE gives another type"}};
  clt_text names[3] = {{0}};
  for (const tuned_macro *m = d->macros; m < d->macros + d->n_macros; m++)
    if (!m->is_defined && !m->list) clt_text_printf(&names[m->is_size], " %s", m->name);
  for (size_t i = n_typed; i < d->options.n; i++) {
    const char *name = d->options.all[i] + strlen("-D");
    if (clt_ends_with(name, CLT_INIT_TYPE)) clt_text_printf(&names[2], " %.*s", (int)strcspn(name, "="), name);
  }
  for (int i = 0; i < 3; i++) {
    if (names[i].n)
      fprintf(stderr, "clatune: note: %s: macros without a definition became %s:%s; --define %s\n", path, notes[i][0],
              names[i].bytes, notes[i][1]);
    clt_text_release(&names[i]);
  }
}

void cli_init_free(void *user) {
  draft *d = user;
  clt_inspector_free(d->inspector);
  clt_words_free(d->options.all);
  free(d->plain);
}

static int run_init(const cli_arguments *arguments) {
  const char *path = arguments->positional[0], *folder = cli_keep_memory(clt_path_folder(path));
  const bool quiet = cli_given(arguments, "quiet");
  clt_device_info device;
  size_t n = 0;
  int n_lines = 0;
  draft *d = cli_keep(cli_new(1, sizeof *d), cli_init_free);
  const char *text = cli_init_read_file(d, &n_lines, path);
  read_typed_macros(d, arguments);
  const size_t n_typed = d->options.n;
  cli_choose_device(&device, arguments);
  cli_init_read_text(d, quiet ? NULL : path, n_lines);
  clt_kernel_info *kernels;
  const int rc = cli_init_build(&kernels, &n, d, &device, text, folder, &cli_error);
  if (rc) note_program(path, cli_error.message);
  cli_check(rc);
  d->kernel = choose_kernel(kernels, n, cli_text(arguments, "kernel"), path);
  cli_init_explore(d, &device, text, folder);
  cli_init_read_kernel(d, kernels, n);
  if (!quiet) note_macros(d, path, n_typed);
  return write_problem(arguments, d, kernels, n);
}

static const cli_flag flags[] = {
    {"output", "FILE", "the problem file to write (default: KERNEL with the ending .json); also -o FILE"},
    {"kernel", "NAME", "the kernel to tune, if the file has several"},
    {"define", "NAME=VALUE[,...]",
     "defines a macro: with one value as a build option, with several as a tuning parameter; may be repeated"},
    {"force", NULL, "replaces an existing problem file"},
    {"interactive", NULL, "asks for the sizes and for everything that would be marked TODO"},
    {"dry-run", NULL, "prints the problem file; writes nothing"},
    CLI_FLAG_DEVICE,
    CLI_FLAG_JSON,
    CLI_FLAG_QUIET};

const cli_command cli_init = {
    .name = "init",
    .summary = "writes a first problem file for a kernel",
    .synopsis =
        "KERNEL.cl [-o FILE] [--kernel NAME] [--define NAME=VALUE]... [--interactive] [--force] [--device NAME]",
    .description =
        "Builds the kernel and writes a problem file with its arguments. Macros with a default (#ifndef X / #define X "
        "16)\n"
        "or without a definition become tuning parameters. What cannot be derived from the kernel is marked TODO, or\n"
        "asked for with --interactive; 'clatune verify' lists what is left.",
    CLI_FLAGS(flags),
    .n_positional = {1, 1},
    .run = run_init,
};
