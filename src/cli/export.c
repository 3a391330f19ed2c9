#include "cli/export.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "cli/c_names.h"
#include "cli/command.h"
#include "cli/output.h"

/* --- collecting --- */

static int add_parameters(cli_export *export, const clt_space *space) {
  size_t n = clt_space_n_parameters(space);
  if (export->parameters) return 0;
  export->parameters = calloc(n + 1, sizeof *export->parameters);
  if (export->parameters == NULL) return CLI_FAILURE;
  export->n_parameters = n;
  for (size_t i = 0; i < n; i++) {
    export->parameters[i].name = strdup(clt_space_parameter(space, i)->name);
    if (export->parameters[i].name == NULL) return CLI_FAILURE;
  }
  return 0;
}

/* Values may depend on sizes, so what is whole at one may be a fraction at another. */
static void widen(cli_export_parameter *parameter, const clt_parameter *values) {
  for (size_t i = 0; i < values->n_values; i++) {
    clt_value_type type = values->values[i].type;
    if (type == CLT_STRING || (type == CLT_REAL && parameter->type == CLT_INT)) parameter->type = type;
  }
}

static int add_values(cli_export *export, cli_export_entry *e, const clt_space *space) {
  clt_config config;
  if (clt_config_parse(&config, space, e->configuration, NULL)) return CLI_FAILURE;
  for (size_t i = 0; i < export->n_parameters; i++) {
    clt_value value = clt_space_value(space, config, i);
    size_t bytes = (size_t)clt_value_print(value, NULL, 0) + 1;
    widen(&export->parameters[i], clt_space_parameter(space, i));
    e->values[i] = malloc(bytes);
    if (e->values[i] == NULL) return CLI_FAILURE;
    clt_value_print(value, e->values[i], bytes);
  }
  return 0;
}

/* Takes the problem parameters out of build options, where they stand behind the tuning parameters, as measured. */
static void leave_sizes_out(char *options, size_t n_parameters, const char *configuration,
                            const clt_instance *instance) {
  const size_t before = n_parameters ? strlen(configuration) + 2 * n_parameters + 1 : 0; /* "-Da=1 -Db=2 " */
  if (strlen(options) < before) return;
  char *at = options + before, define[320];
  for (size_t i = 0; i < clt_instance_n_sizes(instance); i++) {
    clt_size size = clt_instance_size(instance, i);
    int n = snprintf(define, sizeof define, "-D%s=%lld", size.name, (long long)size.value);
    if (n < 0 || (size_t)n >= sizeof define || strncmp(at, define, (size_t)n) != 0) return;
    at += n;
    at += *at == ' ';
  }
  memmove(options + before, at, strlen(at) + 1);
  size_t length = strlen(options);
  if (length > 0 && options[length - 1] == ' ') options[length - 1] = '\0';
}

int cli_export_add(cli_export *export, const clt_instance *instance, const clt_lookup_result *found) {
  const clt_space *space = clt_instance_space(instance);
  const clt_device_info *device = clt_instance_device(instance);
  size_t n_sizes = clt_instance_n_sizes(instance);
  cli_export_entry *grown = realloc(export->entries, (export->n + 1) * sizeof *grown);
  if (grown == NULL) return CLI_FAILURE;
  export->entries = grown;
  cli_export_entry *e = &grown[export->n];
  *e = (cli_export_entry){.device = strdup(device->name),
                          .driver = strdup(device->driver_version),
                          .configuration = strdup(found->configuration),
                          .options = strdup(found->options),
                          .sizes = calloc(n_sizes + 1, sizeof *e->sizes),
                          .values = calloc(clt_space_n_parameters(space) + 1, sizeof *e->values),
                          .time_s = found->expected_time_s};
  export->n++;
  if (!e->device || !e->driver || !e->configuration || !e->options || !e->sizes || !e->values) return CLI_FAILURE;
  for (size_t i = 0; i < n_sizes; i++) e->sizes[i] = clt_instance_size(instance, i).value;
  leave_sizes_out(e->options, clt_space_n_parameters(space), e->configuration, instance);
  int rc = add_parameters(export, space);
  return rc ? rc : add_values(export, e, space);
}

void cli_export_release(cli_export *export) {
  for (size_t i = 0; i < export->n; i++) {
    cli_export_entry *e = &export->entries[i];
    for (size_t p = 0; e->values && p < export->n_parameters; p++) free(e->values[p]);
    free(e->values);
    free(e->device);
    free(e->driver);
    free(e->configuration);
    free(e->options);
    free(e->sizes);
  }
  for (size_t p = 0; p < export->n_parameters; p++) free(export->parameters[p].name);
  free(export->parameters);
  free(export->entries);
  *export = (cli_export){0};
}

/* --- names and texts --- */

/* A problem's or parameter's name as part of an identifier. */
static void put_name(FILE *out, const char *name, bool upper) {
  for (const char *c = name; *c; c++) {
    unsigned char x = (unsigned char)*c;
    fputc(isalnum(x) ? (upper ? toupper(x) : x) : '_', out);
  }
}

/* A C string; bytes that could mean something to a compiler in octal (no trigraphs, no line ends). */
static void put_string(FILE *out, const char *text) {
  fputc('"', out);
  for (const char *c = text; *c; c++) {
    unsigned char x = (unsigned char)*c;
    bool plain = isalnum(x) || strchr(" _.,:;|()[]@+-=/", x);
    if (plain) {
      fputc(x, out);
    } else {
      fprintf(out, "\\%03o", x);
    }
  }
  fputc('"', out);
}

/* Prints text; '@' stands for the problem's name, '$' for the same in capitals. */
static void put(FILE *out, const clt_problem *problem, const char *text) {
  for (const char *c = text; *c; c++) {
    if (*c == '@' || *c == '$') {
      put_name(out, clt_problem_name(problem), *c == '$');
    } else {
      fputc(*c, out);
    }
  }
}

/* Prints each parameter of "a=1 b=2" in one form. */
typedef void (*put_fn)(FILE *out, const clt_problem *problem, const char *name, const char *value);
static void put_each(FILE *out, const clt_problem *problem, const char *configuration, put_fn form) {
  char *text = strdup(configuration), *rest = NULL;
  for (char *part = text ? strtok_r(text, " ", &rest) : NULL; part; part = strtok_r(NULL, " ", &rest)) {
    char *equals = strchr(part, '=');
    if (equals == NULL) continue;
    *equals = '\0';
    form(out, problem, part, equals + 1);
  }
  free(text);
}

/* --- CMake --- */

/* A bracket argument takes its text as it is; the text must not end it. */
static void put_set(FILE *out, const clt_problem *problem, const char *name, const char *value) {
  put(out, problem, "set(CLATUNE_$_");
  put_name(out, name, false);
  fprintf(out, " [==[%s]==])\n", value);
}

void cli_export_cmake(FILE *out, const clt_instance *instance, const clt_lookup_result *found) {
  const clt_problem *problem = clt_instance_problem(instance);
  fprintf(out, "# Made by 'clatune lookup': %s%s\n", clt_tier_name(found->tier), found->stale ? ", stale" : "");
  put_set(out, problem, "OPTIONS", found->options);
  put_each(out, problem, found->configuration, put_set);
}

void cli_export_portable_cmake(FILE *out, const clt_problem *problem, const char *configuration, const char *options) {
  fputs("# Made by 'clatune lookup --portable'\n", out);
  put_set(out, problem, "OPTIONS", options);
  put_each(out, problem, configuration, put_set);
}

/* --- the header --- */

/* Members of an entry, and names in the functions: no size is called so. */
static const char *const taken[] = {"device", "driver", "configuration", "options", "values",   "time_s",
                                    "entry",  "best",   "least",         "ratio",   "e",        "i",
                                    "out",    "size_t", "out_bytes",     "strcmp",  "snprintf", NULL};

static void put_size(FILE *out, const clt_problem *problem, size_t i) {
  cli_put_c_name(out, clt_problem_size(problem, i).name, taken);
}

/* ", long long width, long long height" */
static void put_sizes(FILE *out, const clt_problem *problem) {
  for (size_t i = 0; i < clt_problem_n_sizes(problem); i++) {
    fputs(", long long ", out);
    put_size(out, problem, i);
  }
}

/* A number of one type in the notation of another is converted by the compiler. The least integer has no notation in C.
 */
static void put_value(FILE *out, const char *value, clt_value_type type) {
  if (type == CLT_STRING) {
    put_string(out, value);
  } else if (strcmp(value, "-9223372036854775808") == 0) {
    fputs("-9223372036854775807 - 1", out);
  } else {
    fputs(value, out);
  }
}

static void put_entry(FILE *out, const cli_export *export, const cli_export_entry *e, size_t n_sizes) {
  fputs("    {", out);
  put_string(out, e->device);
  fputs(", ", out);
  put_string(out, e->driver);
  for (size_t i = 0; i < n_sizes; i++) fprintf(out, ", %lld", (long long)e->sizes[i]);
  fputs(",\n     ", out);
  put_string(out, e->configuration);
  fputs(",\n     ", out);
  put_string(out, e->options);
  fprintf(out, ", %.6g", e->time_s);
  for (size_t i = 0; i < export->n_parameters; i++) {
    fputs(i ? ", " : ",\n     {", out);
    put_value(out, e->values[i], export->parameters[i].type);
  }
  fputs(export->n_parameters ? "}},\n" : "},\n", out);
}

static void put_members(FILE *out, const cli_export *export) {
  if (export->n_parameters == 0) return;
  fputs("  struct {\n", out);
  for (size_t i = 0; i < export->n_parameters; i++) {
    clt_value_type type = export->parameters[i].type;
    fputs(type == CLT_STRING ? "    const char *" : type == CLT_REAL ? "    double " : "    long long ", out);
    cli_put_c_name(out, export->parameters[i].name, NULL);
    fputs(";\n", out);
  }
  fputs("  } values; /* of the tuning parameters */\n", out);
}

static void put_table(FILE *out, const clt_problem *problem, const cli_export *export) {
  size_t n_sizes = clt_problem_n_sizes(problem);
  put(out, problem,
      "typedef struct clatune_@_entry {\n"
      "  const char *device, *driver; /* CL_DEVICE_NAME, CL_DRIVER_VERSION */\n");
  for (size_t i = 0; i < n_sizes; i++) {
    fputs("  long long ", out);
    put_size(out, problem, i);
    fputs("; /* that was measured */\n", out);
  }
  put(out, problem,
      "  const char *configuration;\n"
      "  const char *options; /* without the problem parameters: see clatune_@_options */\n"
      "  double time_s;\n");
  put_members(out, export);
  put(out, problem,
      "} clatune_@_entry;\n\n"
      "static const clatune_@_entry clatune_@_entries[] = {\n");
  for (size_t i = 0; i < export->n; i++) put_entry(out, export, &export->entries[i], n_sizes);
  fputs("};\n\n", out);
}

/* A factor of the distance: "    ratio *= e->n > n ? ..." */
static void put_ratio(FILE *out, const clt_problem *problem, size_t size) {
  for (const char *c =
           "    ratio *= e->@ > @ ? ((double)e->@ + 1) / ((double)@ + 1) : ((double)@ + 1) / ((double)e->@ + 1);\n";
       *c; c++) {
    if (*c == '@') {
      put_size(out, problem, size);
    } else {
      fputc(*c, out);
    }
  }
}

/* The distance of sizes is the larger ratio of each, multiplied: no library is needed for it. */
static void put_find(FILE *out, const clt_problem *problem) {
  put(out, problem,
      "/* The entry of a device (CL_DEVICE_NAME) whose sizes are nearest; NULL: nothing is known of the device. */\n"
      "static inline const clatune_@_entry *clatune_@_find(const char *device");
  put_sizes(out, problem);
  put(out, problem,
      ") {\n"
      "  const clatune_@_entry *best = NULL;\n"
      "  double least = 0;\n"
      "  for (size_t i = 0; i < sizeof clatune_@_entries / sizeof *clatune_@_entries; i++) {\n"
      "    const clatune_@_entry *e = &clatune_@_entries[i];\n"
      "    double ratio = 1;\n"
      "    if (strcmp(e->device, device) != 0) continue;\n");
  for (size_t i = 0; i < clt_problem_n_sizes(problem); i++) put_ratio(out, problem, i);
  fputs(
      "    if (best && ratio >= least) continue;\n"
      "    best = e;\n"
      "    least = ratio;\n"
      "  }\n"
      "  return best;\n"
      "}\n\n",
      out);
}

/* Sizes go before the problem's own compiler options, as they do where clatune measures. */
static void put_options(FILE *out, const clt_problem *problem) {
  put(out, problem,
      "/* The options for clBuildProgram at the sizes that the kernel will run at, which need not be those that were\n"
      " * measured, into out; returns what snprintf does: their length, also where they do not fit into out_bytes. "
      "entry NULL:\n"
      " * the sizes alone. An entry's own `options` hold its tuning parameters and the compiler options of the "
      "problem.\n"
      " * Compiler options (and grid macros) whose text depends on sizes are as measured: with such a problem take\n"
      " * 'clatune lookup --size ... --format options', or the library. */\n"
      "static inline int clatune_@_options(char *out, size_t out_bytes, const clatune_@_entry *entry");
  put_sizes(out, problem);
  fputs(") {\n  return snprintf(out, out_bytes, \"", out);
  for (size_t i = 0; i < clt_problem_n_sizes(problem); i++)
    fprintf(out, "-D%s=%%lld ", clt_problem_size(problem, i).name);
  fputs("%s\"", out);
  for (size_t i = 0; i < clt_problem_n_sizes(problem); i++) {
    fputs(", ", out);
    put_size(out, problem, i);
  }
  fputs(", entry ? entry->options : \"\");\n}\n", out);
}

static void put_macro(FILE *out, const clt_problem *problem, const char *name, const char *value) {
  put(out, problem, "#define CLATUNE_$_");
  put_name(out, name, false);
  fprintf(out, " %s\n", value);
}

static void put_macros(FILE *out, const clt_problem *problem, const cli_export *export) {
  put(out, problem,
      "\n/* At compile time: -DCLATUNE_$_ENTRY=N, the number of an entry, defines its parameters. */\n"
      "#ifdef CLATUNE_$_ENTRY\n");
  for (size_t i = 0; i < export->n; i++) {
    put(out, problem, i ? "#elif CLATUNE_$_ENTRY" : "#if CLATUNE_$_ENTRY");
    fprintf(out, " == %zu\n", i);
    for (size_t p = 0; p < export->n_parameters; p++)
      put_macro(out, problem, export->parameters[p].name, export->entries[i].values[p]);
  }
  fputs("#else\n#error \"there is no such entry\"\n#endif\n#endif\n", out);
}

int cli_export_header(FILE *out, const clt_problem *problem, const cli_export *export) {
  put(out, problem,
      "/* Made by 'clatune lookup --format header'. */\n"
      "#ifndef CLATUNE_$_H\n"
      "#define CLATUNE_$_H\n\n"
      "#ifndef __OPENCL_VERSION__ /* a kernel takes the macros alone */\n"
      "#include <stddef.h>\n"
      "#include <stdio.h>\n"
      "#include <string.h>\n\n");
  put_table(out, problem, export);
  put_find(out, problem);
  put_options(out, problem);
  fputs("#endif\n", out);
  put_macros(out, problem, export);
  fputs("\n#endif\n", out);
  return ferror(out) ? cli_failure("cannot write to standard output") : 0;
}

int cli_export_portable_header(FILE *out, const clt_problem *problem, const char *configuration, const char *options) {
  put(out, problem,
      "/* Made by 'clatune lookup --portable --format header': one configuration for all devices and sizes. */\n"
      "#ifndef CLATUNE_$_PORTABLE_H\n"
      "#define CLATUNE_$_PORTABLE_H\n\n"
      "#define CLATUNE_$_OPTIONS ");
  put_string(out, options);
  fputc('\n', out);
  put_each(out, problem, configuration, put_macro);
  fputs("\n#endif\n", out);
  return ferror(out) ? cli_failure("cannot write to standard output") : 0;
}
