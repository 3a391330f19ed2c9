#include "cli/export.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "cli/output.h"

int cli_export_add(cli_export *export, const clt_instance *instance, const clt_found *found) {
  cli_export_entry *grown = realloc(export->entries, (export->n + 1) * sizeof *grown);
  if (grown == NULL) return CLI_FAILURE;
  export->entries = grown;
  const clt_device_info *device = clt_instance_device(instance);
  size_t n_sizes = clt_instance_n_sizes(instance);
  cli_export_entry *e = &grown[export->n];
  *e = (cli_export_entry){strdup(device->name),          strdup(device->driver_version),
                          strdup(found->configuration), strdup(found->options),
                          calloc(n_sizes + 1, sizeof *e->sizes), found->expected_time_s};
  export->n++;
  if (!e->device || !e->driver || !e->configuration || !e->options || !e->sizes) return CLI_FAILURE;
  for (size_t i = 0; i < n_sizes; i++) e->sizes[i] = clt_instance_size(instance, i).value;
  return 0;
}

void cli_export_release(cli_export *export) {
  for (size_t i = 0; i < export->n; i++) {
    cli_export_entry *e = &export->entries[i];
    free(e->device);
    free(e->driver);
    free(e->configuration);
    free(e->options);
    free(e->sizes);
  }
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

/* --- JSON and CMake --- */

json_t *cli_json_found(const clt_instance *instance, const clt_found *found) {
  const clt_space *space = clt_instance_space(instance);
  clt_config config;
  bool known = clt_config_parse(&config, space, found->configuration, NULL) == 0;
  return known ? cli_json_configuration(space, config) : json_null();
}

/* A bracket argument takes its text as it is; the text must not end it. */
static void put_set(FILE *out, const clt_problem *problem, const char *name, const char *value) {
  put(out, problem, "set(CLATUNE_$_");
  put_name(out, name, false);
  fprintf(out, " [==[%s]==])\n", value);
}

void cli_export_cmake(FILE *out, const clt_instance *instance, const clt_found *found) {
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

static void put_entry(FILE *out, const cli_export_entry *e, size_t n_sizes) {
  fputs("    {", out);
  put_string(out, e->device);
  fputs(", ", out);
  put_string(out, e->driver);
  for (size_t i = 0; i < n_sizes; i++) fprintf(out, ", %lld", (long long)e->sizes[i]);
  fputs(",\n     ", out);
  put_string(out, e->configuration);
  fputs(",\n     ", out);
  put_string(out, e->options);
  fprintf(out, ", %.6g},\n", e->time_s);
}

static void put_table(FILE *out, const clt_problem *problem, const cli_export *export) {
  size_t n_sizes = clt_problem_n_sizes(problem);
  put(out, problem,
      "typedef struct clatune_@_entry {\n"
      "  const char *device, *driver; /* CL_DEVICE_NAME, CL_DRIVER_VERSION */\n");
  for (size_t i = 0; i < n_sizes; i++) fprintf(out, "  long long %s;\n", clt_problem_size(problem, i).name);
  put(out, problem,
      "  const char *configuration, *options; /* options: for clBuildProgram */\n"
      "  double time_s;\n"
      "} clatune_@_entry;\n\n"
      "static const clatune_@_entry clatune_@_entries[] = {\n");
  for (size_t i = 0; i < export->n; i++) put_entry(out, &export->entries[i], n_sizes);
  fputs("};\n\n", out);
}

/* The distance of sizes is the larger ratio of each, multiplied: no library is needed for it. */
static void put_find(FILE *out, const clt_problem *problem) {
  size_t n_sizes = clt_problem_n_sizes(problem);
  put(out, problem,
      "/* The entry of a device (CL_DEVICE_NAME) whose sizes are nearest; NULL: nothing is known of the device. */\n"
      "static inline const clatune_@_entry *clatune_@_find(const char *device");
  for (size_t i = 0; i < n_sizes; i++) fprintf(out, ", long long %s", clt_problem_size(problem, i).name);
  put(out, problem,
      ") {\n"
      "  const clatune_@_entry *best = NULL;\n"
      "  double least = 0;\n"
      "  for (size_t i = 0; i < sizeof clatune_@_entries / sizeof *clatune_@_entries; i++) {\n"
      "    const clatune_@_entry *e = &clatune_@_entries[i];\n"
      "    double ratio = 1;\n"
      "    if (strcmp(e->device, device) != 0) continue;\n");
  for (size_t i = 0; i < n_sizes; i++) {
    const char *s = clt_problem_size(problem, i).name;
    fprintf(out, "    ratio *= e->%s > %s ? (e->%s + 1.0) / (%s + 1.0) : (%s + 1.0) / (e->%s + 1.0);\n", s, s, s, s, s,
            s);
  }
  fputs(
      "    if (best && ratio >= least) continue;\n"
      "    best = e;\n"
      "    least = ratio;\n"
      "  }\n"
      "  return best;\n"
      "}\n",
      out);
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
    put_each(out, problem, export->entries[i].configuration, put_macro);
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
      "#include <string.h>\n\n");
  put_table(out, problem, export);
  put_find(out, problem);
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
