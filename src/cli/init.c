#include "cli/init.h"

#include <clatune/sys/evaluator.h>
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/text.h"
#include "cli/output.h"
#include "cli/subject.h"

#define MAX_TEXT_BYTES (512 << 10)

/* The kernel's text under its own name, so that the compiler's messages say file and line. */
static int read_kernel(char **out, const char *path) {
  clt_error error = {0};
  clt_text named = {0};
  char *text = NULL;
  size_t n = 0;
  if (clt_file_read(&text, &n, path, MAX_TEXT_BYTES, &error)) return cli_report(&error);
  if (memchr(text, 0, n)) return free(text), cli_failure("'%s' is no text", path);
  if (strpbrk(path, "\"\\\n\r") == NULL) clt_text_printf(&named, "#line 1 \"%s\"\n", path);
  clt_text_add(&named, text);
  free(text);
  return clt_text_take(out, &named, NULL) ? cli_failure("out of memory") : 0;
}

/* "-Da=1 -Db" of --define, and the kernel's folder to include from. */
static int make_options(char **out, const cli_arguments *arguments, const char *path) {
  const char **defines, *slash = strrchr(path, '/');
  clt_text text = {0};
  size_t n;
  int rc = cli_texts(&defines, &n, arguments, "define");
  if (rc) return rc;
  clt_text_printf(&text, "-I \"%.*s\"", slash ? (int)(slash - path) : 1, slash ? path : ".");
  for (size_t i = 0; i < n; i++) clt_text_printf(&text, " -D%s", defines[i]);
  free(defines);
  return clt_text_take(out, &text, NULL) ? cli_failure("out of memory") : 0;
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

/* --- what can be seen without a compiler --- */

static const char *skip_blanks(const char *at) {
  while (*at == ' ' || *at == '\t') at++;
  return at;
}

/* Macros with a whole number: parameters where -D can change them. With a path, those that no -D can change, because
 * nothing asks whether they are defined, are noted on standard error. */
static void read_macros(cli_kernel_text *out, const char *text, const char *path) {
  clt_define *defines = NULL;
  size_t n = 0;
  if (clt_defines(&defines, &n, text, NULL)) return;
  for (size_t i = 0; i < n; i++) {
    const clt_define *d = &defines[i];
    const char *number = d->value + strspn(d->value, "(");
    char *end;
    int64_t value = strtoll(number, &end, 0);
    bool skipped = end == number || end[strspn(end, ") \tuU\r")] != '\0';
    for (size_t k = 0; k < out->n_macros; k++) skipped |= strcmp(out->macros[k].name, d->name) == 0;
    if (skipped || d->has_arguments) continue;
    if (d->guarded && out->n_macros < CLI_MAX_MACROS) {
      cli_macro *macro = &out->macros[out->n_macros++];
      memcpy(macro->name, d->name, sizeof macro->name);
      macro->value = value;
    } else if (!d->guarded && path) {
      fprintf(
          stderr,
          "clatune: note: %s:%d: '#define %s %s' cannot be tuned; put '#ifndef %s' before it and '#endif' after it\n",
          path, d->line, d->name, d->value, d->name);
    }
  }
  free(defines);
}

static void read_kernel_text(cli_kernel_text *out, const char *text, const char *path) {
  static const char *const calls[] = {"get_global_id", "get_group_id", "get_local_id"};
  *out = (cli_kernel_text){.n_dimensions = 1};
  read_macros(out, text, path);
  /* The three expressions in the brackets; one that is too long or has brackets of its own is left alone. */
  const char *attribute = strstr(text, "reqd_work_group_size");
  const char *bracket = attribute ? strchr(attribute, '(') : NULL;
  for (int d = 0; bracket && d < 3; d++) {
    const char *begin = skip_blanks(bracket + 1), *end = begin + strcspn(begin, ",()");
    size_t n = (size_t)(end - begin);
    while (n && isspace((unsigned char)begin[n - 1])) n--;
    bool fits = n > 0 && n < sizeof out->required[d] && *end == (d < 2 ? ',' : ')');
    if (fits) memcpy(out->required[d], begin, n);
    if (!fits) memset(out->required, 0, sizeof out->required);
    bracket = fits ? end : NULL;
  }
  for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
    for (const char *at = strstr(text, calls[i]); at; at = strstr(at + 1, calls[i])) {
      const char *digit = skip_blanks(at + strlen(calls[i]));
      if (*digit == '(') digit = skip_blanks(digit + 1);
      if (*digit >= '0' && *digit <= '2' && *digit - '0' + 1 > out->n_dimensions) out->n_dimensions = *digit - '0' + 1;
      if (i > 0) out->uses_groups = true;
    }
}

/* --- writing --- */

/* JSON as people write it: indented, but lists of numbers and texts on one line. */
static void put_json(clt_text *out, const json_t *json, int indent) {
  const char *name;
  json_t *item;
  size_t n = 0, index;
  bool plain = json_is_array(json);
  json_array_foreach(json, index, item) plain &= !json_is_object(item) && !json_is_array(item);
  if (json_is_object(json)) {
    clt_text_add(out, "{");
    json_object_foreach((json_t *)json, name, item) {
      json_t *key = json_string(name);
      if (n++) clt_text_add(out, ",");
      clt_text_printf(out, "\n%*s", indent + 2, "");
      put_json(out, key, 0);
      clt_text_add(out, ": ");
      put_json(out, item, indent + 2);
      json_decref(key);
    }
    if (n) clt_text_printf(out, "\n%*s", indent, "");
    clt_text_add(out, "}");
  } else if (json_is_array(json)) {
    clt_text_add(out, "[");
    json_array_foreach(json, index, item) {
      if (index) clt_text_add(out, plain ? ", " : ",");
      if (!plain) clt_text_printf(out, "\n%*s", indent + 2, "");
      put_json(out, item, indent + 2);
    }
    if (!plain) clt_text_printf(out, "\n%*s", indent, "");
    clt_text_add(out, "]");
  } else {
    char *text = json_dumps(json, JSON_ENCODE_ANY);
    clt_text_add(out, text ? text : "null");
    free(text);
  }
}

/* An existing file is left as it is. */
static int write_problem(const char *path, const json_t *json) {
  int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  FILE *file = fd < 0 ? NULL : fdopen(fd, "w");
  if (file == NULL)
    return cli_failure(
        errno == EEXIST ? "'%s' exists already; it is left as it is, choose another by -o" : "cannot create '%s'",
        path);
  clt_text text = {0};
  put_json(&text, json, 0);
  clt_text_add(&text, "\n");
  bool failed = text.rc || fputs(text.bytes, file) < 0;
  clt_text_release(&text);
  return fclose(file) || failed ? cli_failure("cannot write '%s'", path) : 0;
}

static void count_todos(const json_t *json, int *n) {
  const char *name;
  json_t *member;
  if (json_is_string(json)) *n += strncmp(json_string_value(json), "TODO", 4) == 0;
  for (size_t i = 0; i < json_array_size(json); i++) count_todos(json_array_get(json, i), n);
  json_object_foreach((json_t *)json, name, member) { count_todos(member, n); }
}

static int write_for(const cli_arguments *arguments, const clt_kernel_info *kernel, const clt_kernel_info *kernels,
                     size_t n_kernels, const char *text) {
  const char *kernel_path = arguments->positional[0], *typed = cli_text(arguments, "output");
  const char *slash = strrchr(kernel_path, '/'), *dot = strrchr(slash ? slash : kernel_path, '.');
  cli_kernel_text seen;
  clt_text beside = {0};
  char *path = NULL;
  read_kernel_text(&seen, text, cli_given(arguments, "quiet") ? NULL : kernel_path);
  if (typed) /* else blur.cl -> blur.json, beside the kernel */
    clt_text_add(&beside, typed);
  else
    clt_text_printf(&beside, "%.*s.json", dot ? (int)(dot - kernel_path) : (int)strlen(kernel_path), kernel_path);
  /* The kernel as the problem file sees it: beside itself, or by its absolute path. */
  char *file = typed ? realpath(kernel_path, NULL) : strdup(slash ? slash + 1 : kernel_path);
  json_t *json = file ? cli_first_problem(file, kernel, kernels, n_kernels, &seen) : NULL;
  free(file);
  if (clt_text_take(&path, &beside, NULL) || json == NULL)
    return free(path), json_decref(json), cli_failure("out of memory");
  if (cli_given(arguments, "dry-run")) return free(path), cli_print_json(json);
  int n_todos = 0, rc = write_problem(path, json);
  count_todos(json, &n_todos);
  json_decref(json);
  if (rc == 0 && cli_given(arguments, "json")) {
    rc = cli_print_json(json_pack("{s:s, s:s, s:i, s:i, s:i}", "problem", path, "kernel", kernel->name, "arguments",
                                  (int)kernel->n_arguments, "parameters", (int)seen.n_macros, "todo", n_todos));
  } else if (rc == 0) {
    printf("wrote %s: kernel '%s', arguments: %zu, macros with a default as tuning parameters: %zu\n", path,
           kernel->name, kernel->n_arguments, seen.n_macros);
    if (n_todos)
      printf("marked TODO: %d; 'clatune verify %s' says where\n", n_todos, path);
    else
      printf("look it over, then: clatune verify %s\n", path);
  }
  free(path);
  return rc;
}

static int run_init(const cli_arguments *arguments) {
  const char *path = arguments->positional[0];
  clt_error error = {0};
  clt_device_info device;
  clt_kernel_info *kernels = NULL;
  const clt_kernel_info *kernel = NULL;
  size_t n = 0;
  char *text = NULL, *options = NULL;
  int rc = read_kernel(&text, path);
  if (rc == 0) rc = make_options(&options, arguments, path);
  if (rc == 0) rc = cli_choose_device(&device, arguments);
  if (rc == 0 && clt_inspect(&kernels, &n, &device, text, options, &error)) rc = cli_report(&error);
  if (rc == 0) rc = choose_kernel(&kernel, kernels, n, cli_text(arguments, "kernel"), path);
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
