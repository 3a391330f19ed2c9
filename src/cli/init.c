#include <clatune/inspect.h>
#include <clatune/sys/evaluator.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/first_problem.h"
#include "cli/json_text.h"
#include "cli/output.h"
#include "cli/subject.h"

#define MAX_TEXT_BYTES (512 << 10)

static int read_text(char **out, const char *path) {
  FILE *file = fopen(path, "rb");
  if (file == NULL) return cli_failure("cannot open '%s': %s", path, strerror(errno));
  char *text = calloc(MAX_TEXT_BYTES + 1, 1);
  size_t n = text ? fread(text, 1, MAX_TEXT_BYTES, file) : 0;
  bool whole = text && feof(file) && !ferror(file);
  fclose(file);
  if (whole && memchr(text, 0, n) == NULL) return *out = text, 0;
  free(text);
  return cli_failure("'%s' is no text of at most %d bytes", path, MAX_TEXT_BYTES);
}

/* "-Da=1 -Db" of --define, and the kernel's folder to include from. */
static int make_options(char **out, const cli_arguments *arguments, const char *path) {
  const char **defines, *slash = strrchr(path, '/');
  size_t n, bytes;
  int rc = cli_texts(&defines, &n, arguments, "define");
  FILE *file = rc ? NULL : open_memstream(out, &bytes);
  if (file == NULL) return free(defines), rc ? rc : cli_failure("out of memory");
  fprintf(file, "-I \"%.*s\"", slash ? (int)(slash - path) : 1, slash ? path : ".");
  for (size_t i = 0; i < n; i++) fprintf(file, " -D%s", defines[i]);
  free(defines);
  return fclose(file) ? cli_failure("out of memory") : 0;
}

/* The text under its own name, so that the compiler's messages say file and line. Takes the text. */
static int name_text(char **text, const char *path) {
  char *named = NULL;
  size_t bytes;
  if (strpbrk(path, "\"\\\n\r")) return 0;
  FILE *file = open_memstream(&named, &bytes);
  if (file) fprintf(file, "#line 1 \"%s\"\n%s", path, *text);
  if (file == NULL || fclose(file)) return free(named), cli_failure("out of memory");
  free(*text);
  *text = named;
  return 0;
}

static int choose_kernel(const clt_kernel_info **out, const clt_kernel_info *kernels, size_t n, const char *name,
                         const char *path) {
  char names[1024] = "";
  for (size_t i = 0; i < n; i++) {
    if (name ? strcmp(kernels[i].name, name) == 0 : n == 1) return *out = &kernels[i], 0;
    size_t used = strlen(names);
    snprintf(names + used, sizeof names - used, " '%s'", kernels[i].name);
  }
  if (n == 0) return cli_failure("'%s' has no kernel", path);
  if (name) return cli_usage("'%s' has no kernel '%s'; it has%s", path, name, names);
  return cli_usage("'%s' has several kernels; choose one by --kernel:%s", path, names);
}

/* blur.cl -> blur.json, beside the kernel. */
static char *problem_path(const cli_arguments *arguments, const char *kernel_path) {
  const char *typed = cli_text(arguments, "output"), *slash = strrchr(kernel_path, '/');
  const char *dot = strrchr(slash ? slash : kernel_path, '.');
  size_t n = dot ? (size_t)(dot - kernel_path) : strlen(kernel_path);
  char *out = typed ? strdup(typed) : malloc(n + sizeof ".json");
  if (out && typed == NULL) {
    snprintf(out, n + sizeof ".json", "%.*s.json", (int)n, kernel_path);
  }
  return out;
}

/* As the problem file sees it: beside itself, or by its absolute path. */
static char *kernel_file(const char *kernel_path, bool elsewhere) {
  const char *slash = strrchr(kernel_path, '/');
  return elsewhere ? realpath(kernel_path, NULL) : strdup(slash ? slash + 1 : kernel_path);
}

static int write_problem(const char *path, json_t *json) {
  int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  FILE *file = fd < 0 ? NULL : fdopen(fd, "w");
  if (file == NULL)
    return cli_failure(
        errno == EEXIST ? "'%s' exists already; it is left as it is, choose another by -o" : "cannot create '%s'",
        path);
  char *text = cli_json_readable(json);
  bool failed = text == NULL || fprintf(file, "%s\n", text) < 0;
  free(text);
  return fclose(file) || failed ? cli_failure("cannot write '%s'", path) : 0;
}

static void count_todos(const json_t *json, int *n) {
  const char *name;
  json_t *member;
  if (json_is_string(json)) *n += strncmp(json_string_value(json), "TODO", 4) == 0;
  for (size_t i = 0; i < json_array_size(json); i++) count_todos(json_array_get(json, i), n);
  json_object_foreach((json_t *)json, name, member) { count_todos(member, n); }
}

static int report(const char *path, const clt_kernel_info *kernel, const cli_kernel_text *text, json_t *json,
                  bool as_json) {
  int n_todos = 0;
  count_todos(json, &n_todos);
  if (as_json)
    return cli_print_json(json_pack("{s:s, s:s, s:i, s:i, s:i}", "problem", path, "kernel", kernel->name, "arguments",
                                    (int)kernel->n_arguments, "parameters", (int)text->n_macros, "todo", n_todos));
  printf("wrote %s: kernel '%s', arguments: %zu, macros with a default as tuning parameters: %zu\n", path, kernel->name,
         kernel->n_arguments, text->n_macros);
  if (n_todos) printf("marked TODO: %d; 'clatune verify %s' says where\n", n_todos, path);
  if (n_todos == 0) printf("look it over, then: clatune verify %s\n", path);
  return CLI_FOUND;
}

static int write_for(const cli_arguments *arguments, const clt_kernel_info *kernel, const clt_kernel_info *kernels,
                     size_t n_kernels, const char *text) {
  const char *kernel_path = arguments->positional[0];
  cli_kernel_text seen;
  cli_kernel_text_read(&seen, text);
  if (!cli_given(arguments, "quiet")) cli_note_fixed_macros(kernel_path, text);
  char *path = problem_path(arguments, kernel_path);
  char *file = kernel_file(kernel_path, cli_given(arguments, "output"));
  json_t *json = file ? cli_first_problem(kernel->name, file, kernel, kernels, n_kernels, &seen) : NULL;
  if (path && json && cli_given(arguments, "dry-run")) return free(file), free(path), cli_print_json(json);
  int rc = path && json ? write_problem(path, json) : cli_failure("out of memory");
  if (rc == 0) rc = report(path, kernel, &seen, json, cli_given(arguments, "json"));
  json_decref(json);
  free(file);
  free(path);
  return rc;
}

static int run_init(const cli_arguments *arguments) {
  clt_error error = {0};
  clt_device_info device;
  clt_kernel_info *kernels = NULL;
  const clt_kernel_info *kernel = NULL;
  size_t n = 0;
  char *text = NULL, *options = NULL;
  int rc = read_text(&text, arguments->positional[0]);
  if (rc == 0) rc = name_text(&text, arguments->positional[0]);
  if (rc == 0) rc = make_options(&options, arguments, arguments->positional[0]);
  if (rc == 0) rc = cli_choose_device(&device, arguments);
  if (rc == 0 && clt_inspect(&kernels, &n, &device, text, options, &error)) rc = cli_report(&error);
  if (rc == 0) rc = choose_kernel(&kernel, kernels, n, cli_text(arguments, "kernel"), arguments->positional[0]);
  if (rc == 0 && kernel) rc = write_for(arguments, kernel, kernels, n, text);
  free(kernels);
  free(options);
  free(text);
  return rc;
}

static const cli_flag flags[] = {
    {"output", "FILE", "the problem file to write (default: KERNEL's name with .json); also -o FILE"},
    {"kernel", "NAME", "the kernel to tune, where the file has several"},
    {"define", "NAME=VALUE", "a macro that the kernel needs to build; may be repeated"},
    {"dry-run", NULL, "prints the problem file and writes none"},
    CLI_FLAG_DEVICE,
    CLI_FLAG_JSON,
    CLI_FLAG_QUIET};

const cli_command cli_init = {
    .name = "init",
    .summary = "writes a first problem file for a kernel",
    .synopsis = "KERNEL.cl [-o FILE] [--kernel NAME] [--define NAME=VALUE]... [--device NAME]",
    .description =
        "Builds the kernel, takes its arguments as the compiler sees them and the macros that have a default\n"
        "(#ifndef X / #define X 16) as tuning parameters, and writes a problem file. What it cannot know is marked\n"
        "TODO; 'clatune verify' says what is left. An existing file is never overwritten.",
    CLI_FLAGS(flags),
    .n_positional = {1, 1},
    .run = run_init,
};
