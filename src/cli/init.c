/* `clatune init`: writes the draft of a problem file. */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/text.h"
#include "cli/cli.h"
#include "init/init.h"

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
    for (answer = ask_line(name, now); answer[0]; answer = ask_line(name, "needs an integer of at least its Min")) {
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

/* Writes the problem file; without --force it must not exist. */
static void write_file(const char *path, const clt_text *text, bool force) {
  const bool replaces = force || clt_file_is_special(path);
  const int fd = replaces ? -1 : open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666); /* reserves the name */
  if (fd < 0 && !replaces && errno == EEXIST)
    cli_failure("'%s' exists already; choose another file with -o or replace it with --force", path);
  if (fd < 0 && !replaces) cli_failure("cannot create '%s'", path);
  const int rc = clt_file_replace(path, text->bytes, text->n, &cli_error);
  if (rc && fd >= 0) unlink(path);
  cli_check(rc);
  if (fd >= 0) close(fd);
}

/* The problem of all drafts: one, or one per launch. */
static json_t *join_drafts(const cli_arguments *arguments, clt_draft *const *drafts, size_t n, const char *file) {
  json_t *problems[CLT_DRAFT_KERNELS] = {NULL};
  for (size_t i = 0; i < n; i++) {
    problems[i] = clt_draft_problem(drafts[i], file);
    if (problems[i] == NULL) cli_failure("out of memory");
  }
  if (n == 1) return problems[0];
  json_t *joined = clt_draft_join(problems, n);
  const json_t *kernel = json_object_get(joined, "KernelSpecification");
  json_object_set_new(joined, "Reference",
                      clt_draft_reference(drafts[n - 1], file, json_object_get(kernel, "Arguments")));
  for (size_t i = 1; i < n; i++) json_decref(problems[i]);
  return joined;
}

static int write_problem(const cli_arguments *arguments, clt_draft *const *drafts, size_t n) {
  const clt_draft *d = drafts[0];
  const char *kernel_path = arguments->positional[0], *typed = cli_text(arguments, "output");
  const char *slash = strrchr(kernel_path, '/'), *dot = strrchr(slash ? slash : kernel_path, '.');
  clt_text text = {0};
  int n_todos = 0;
  /* blur.cl -> blur.json, next to the kernel */
  const int length = dot ? (int)(dot - kernel_path) : (int)strlen(kernel_path);
  const char *path = typed ? typed : cli_keep_memory(clt_format("%.*s.json", length, kernel_path));
  /* The kernel's path relative to the problem file; a printed one is relative to the current folder. */
  const char *from = cli_keep_memory(clt_path_folder(clt_file_is_special(path) ? "." : path));
  const char *file = cli_keep_memory(path_between(from, d->folder, slash ? slash + 1 : kernel_path));
  json_t *json = join_drafts(arguments, drafts, n, file);
  const size_t n_tuned =
      json_array_size(json_object_get(json_object_get(json, "ConfigurationSpace"), "TuningParameters"));
  const size_t n_arguments =
      json_array_size(json_object_get(json_object_get(json, "KernelSpecification"), "Arguments"));
  if (json && cli_given(arguments, "interactive")) ask_person(json);
  cli_add_json(&text, json, 0);
  clt_text_add(&text, "\n");
  if (json == NULL || text.rc) cli_failure("out of memory");
  json_decref(json);
  cli_keep_memory(text.bytes);
  if (cli_given(arguments, "dry-run")) {
    fputs(text.bytes, stdout);
    return CLI_FOUND;
  }
  write_file(path, &text, cli_given(arguments, "force"));
  for (const char *at = text.bytes; (at = strstr(at, "\"TODO")); at++) n_todos++;
  clt_text names = {0};
  for (size_t i = 0; i < n; i++) clt_text_printf(&names, "%s%s", i ? ", " : "", drafts[i]->kernel->name);
  const char *name = cli_keep_memory(names.bytes);
  if (cli_given(arguments, "json"))
    return cli_print_json(json_pack("{s:s, s:s, s:i, s:i, s:i}", "problem", path, "kernel", name, "arguments",
                                    (int)n_arguments, "parameters", (int)n_tuned, "todo", n_todos));
  printf("wrote %s: kernel '%s', arguments: %zu, tuning parameters: %zu\n", path, name, n_arguments, n_tuned);
  if (n_todos)
    printf("marked TODO: %d; fill them in ('clatune verify %s' lists them)\n", n_todos, path);
  else
    printf("review it, then run: clatune verify %s\n", path);
  return CLI_FOUND;
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

static const clt_kernel_info *find_kernel(const clt_draft *d, const char *name) {
  for (const clt_kernel_info *kernel = d->kernels; kernel < d->kernels + d->n_kernels; kernel++)
    if (strcmp(kernel->name, name) == 0) return kernel;
  return NULL;
}

/* The kernels to tune: those that --kernel names; else the only one besides those to compare with; else all of these,
 * if each but the first reads what one before it writes. Returns their number. */
static size_t choose_kernels(const clt_kernel_info *out[CLT_DRAFT_KERNELS], const clt_draft *d, const char *path,
                             const cli_arguments *arguments) {
  clt_text names = {0};
  size_t n_named = 0, n = 0;
  const char **named = cli_texts(&n_named, arguments, "kernel");
  bool in_turn = true;
  if (d->n_kernels == 0) note_program(path, "");
  if (d->n_kernels == 0) cli_failure("'%s' has no kernel; name a file of OpenCL C with a kernel function", path);
  for (size_t i = 0; i < d->n_kernels; i++) clt_text_printf(&names, " '%s'", d->kernels[i].name);
  cli_keep_memory(names.bytes);
  if (n_named > CLT_DRAFT_KERNELS) cli_usage("at most %d kernels can be launched in turn", CLT_DRAFT_KERNELS);
  for (; n < n_named; n++)
    if ((out[n] = find_kernel(d, named[n])) == NULL)
      cli_usage("'%s' has no kernel '%s'; choose one of:%s", path, named[n], names.bytes);
  for (size_t i = 0; n_named == 0 && i < d->n_kernels; i++) {
    bool passed = n == 0;
    if (d->n_kernels > 1 && clt_draft_is_naive(&d->kernels[i])) continue;
    for (size_t k = 0; k < n; k++) passed |= clt_draft_passes_data(out[k], &d->kernels[i]);
    in_turn = in_turn && passed && n < CLT_DRAFT_KERNELS;
    if (in_turn) out[n++] = &d->kernels[i];
  }
  if (n == 0 || !in_turn)
    cli_usage("'%s' has several kernels; choose one with --kernel, or several that are launched in turn:%s", path,
              names.bytes);
  return n;
}

/* Notes the treatment of the macros without a definition. */
static void note_macros(const clt_draft *d, const char *path) {
  static const char *const notes[][2] = {
      {"tuning parameters with guessed values", "NAME=1,2,4 gives other values, --define NAME=4 a fixed one"},
      {"problem parameters", "NAME=1,2,4 makes one a tuning parameter"},
      {"the type float", "NAME=TYPE gives another type"}};
  clt_text names[3] = {{0}};
  for (const clt_draft_macro *m = d->macros; m < d->macros + d->n_macros; m++)
    if (!m->is_defined && !m->list) clt_text_printf(&names[m->is_size], " %s", m->name);
  for (size_t i = d->n_typed; i < d->options.n; i++) {
    const char *name = d->options.all[i] + strlen("-D");
    if (clt_ends_with(name, CLT_DRAFT_TYPE)) clt_text_printf(&names[2], " %.*s", (int)strcspn(name, "="), name);
  }
  for (int i = 0; i < 3; i++) {
    if (names[i].n)
      cli_message(CLI_FOUND, "note: %s: macros without a definition became %s:%s; --define %s", path, notes[i][0],
                  names[i].bytes, notes[i][1]);
    clt_text_release(&names[i]);
  }
}

static void release_draft(void *draft) { clt_draft_release(draft); }

/* Reads and builds the kernel file. */
static clt_draft *begin_draft(const cli_arguments *arguments, const clt_device_info *device, bool *quiet) {
  const char *path = arguments->positional[0];
  size_t n_defines = 0;
  clt_draft *d = cli_keep(cli_new(1, sizeof *d), release_draft);
  cli_check(clt_draft_read(d, path, &cli_error));
  if (clt_ends_with(path, ".json"))
    cli_failure("'%s' is a problem file, not a kernel; 'clatune tune %s' tunes it", path, path);
  const char **defines = cli_texts(&n_defines, arguments, "define");
  for (size_t i = 0; i < n_defines; i++) cli_check_typed(clt_draft_define(d, defines[i], &cli_error));
  cli_check(clt_draft_find_macros(d, path, cli_log, quiet, &cli_error));
  const int rc = clt_draft_build(d, device, &cli_error);
  if (rc) note_program(path, cli_error.message);
  cli_check(rc);
  return d;
}

static int run_init(const cli_arguments *arguments) {
  const char *path = arguments->positional[0];
  bool quiet = cli_given(arguments, "quiet"), silent = true;
  clt_device_info device;
  const clt_kernel_info *kernels[CLT_DRAFT_KERNELS];
  clt_draft *drafts[CLT_DRAFT_KERNELS];
  cli_choose_device(&device, arguments);
  drafts[0] = begin_draft(arguments, &device, &quiet);
  const size_t n = choose_kernels(kernels, drafts[0], path, arguments);
  for (size_t i = 0; i < n; i++) {
    if (i) drafts[i] = begin_draft(arguments, &device, &silent);
    cli_check(clt_draft_set_kernel(drafts[i], find_kernel(drafts[i], kernels[i]->name), &device, cli_log,
                                   i ? &silent : &quiet, &cli_error));
    if (!quiet) note_macros(drafts[i], path);
  }
  return write_problem(arguments, drafts, n);
}

static const cli_flag flags[] = {
    {"output", "FILE", "the problem file to write (default: KERNEL with the ending .json); also -o FILE"},
    {"kernel", "NAME", "the kernel to tune, if the file has several; repeated: kernels that are launched in turn"},
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
        "KERNEL.cl [-o FILE] [--kernel NAME]... [--define NAME=VALUE]... [--interactive] [--force] [--device NAME]",
    .description =
        "Builds the kernel and writes a problem file with its arguments. Macros with a default (#ifndef X / #define X "
        "16) or without a definition become tuning parameters. What cannot be derived from the kernel is marked TODO, "
        "or asked for with --interactive; 'clatune verify' lists what is left.",
    CLI_FLAGS(flags),
    .n_positional = {1, 1},
    .run = run_init,
};
