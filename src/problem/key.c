/* The kernel's text with what it includes, and the store's key of an instance, which depends on it. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/file.h"
#include "base/memory.h"
#include "device/device.h"
#include "problem/command.h"

#define MAX_INCLUDED 256 /* files in one hash */

/* --- the kernel's text --- */

char *clt_kernel_path(const clt_problem *problem, const char *file) {
  char *path = clt_problem_file(problem, file), *above = clt_format("%s/../%s", problem->folder, file);
  bool is_above = path && above && file[0] != '/' && access(path, R_OK) != 0 && access(above, R_OK) == 0;
  char *chosen = is_above ? above : path && above ? path : NULL;
  if (chosen != path) free(path);
  if (chosen != above) free(above);
  return chosen;
}

int clt_problem_check_defines(const clt_problem *problem, clt_error *error) {
  clt_define *defines = NULL;
  char *text = NULL;
  size_t n = 0;
  if (problem->command) return CLT_OK;
  char *path = clt_kernel_path(problem, problem->kernel_file);
  int rc = path ? clt_file_read(&text, NULL, path, CLT_MAX_TEXT_BYTES, NULL) : CLT_E_MEMORY;
  free(path);
  if (rc) return rc == CLT_E_MEMORY ? clt_fail_memory(error) : CLT_OK;
  rc = clt_defines(&defines, &n, text, error);
  for (size_t i = 0; rc == CLT_OK && i < n; i++) {
    const clt_define *define = &defines[i];
    const char *name = define->name, *kind = NULL;
    for (size_t k = 0; k < problem->n_passed; k++)
      if (strcmp(problem->sizes[k].name, name) == 0) kind = "problem parameter";
    if (clt_problem_parameter_index(problem, name) >= 0) kind = "tuning parameter";
    if (kind && !define->conditional && !define->guarded)
      rc = clt_fail(error, CLT_E_FORMAT,
                    "%s:%d: '#define %s%s%s' overrides the %s '%s'; put '#ifndef %s' before it and '#endif' after it",
                    problem->kernel_file, define->line, name, define->value[0] && !define->has_arguments ? " " : "",
                    define->value, kind, name, name);
  }
  free(defines);
  free(text);
  return rc;
}

/* The included files on the way: paths that were seen, so that none is read twice. */
typedef struct includes {
  clt_hasher *hasher;
  const char *const *folders;
  size_t n_folders;
  char *seen[MAX_INCLUDED];
  size_t n_seen;
} includes;

/* What a file includes lies in its folder, or in one of the others. A file of bytes includes nothing. */
static int hash_file_and_includes(includes *state, const char *path, clt_error *error) {
  char *text = NULL, *folder = clt_path_folder(path);
  size_t n_bytes = 0;
  int rc = folder ? clt_file_read(&text, &n_bytes, path, CLT_MAX_TEXT_BYTES, error) : clt_fail_memory(error);
  const bool binary = rc == CLT_OK && memchr(text, 0, n_bytes);
  if (binary)
    clt_hasher_add(state->hasher, text, n_bytes);
  else if (rc == CLT_OK)
    clt_hasher_add_text(state->hasher, text);
  for (const char *line = text; rc == CLT_OK && !binary && line; line = strchr(line, '\n')) {
    line += *line == '\n';
    const char *at = line + strspn(line, " \t");
    if (*at++ != '#') continue;
    at += strspn(at, " \t");
    if (!clt_starts_with(at, "include")) continue;
    at += 7 + strspn(at + 7, " \t");
    if (*at++ != '"') continue;
    size_t n = strcspn(at, "\"\n");
    if (n == 0 || at[n] != '"') continue;
    char *name = strndup(at, n), *found = NULL;
    for (size_t i = 0; name && found == NULL && i <= state->n_folders; i++) {
      char *joined = clt_path_join(i == 0 ? folder : state->folders[i - 1], name);
      found = joined ? realpath(joined, NULL) : NULL;
      free(joined);
    }
    free(name);
    bool skip = found == NULL || state->n_seen == MAX_INCLUDED;
    for (size_t i = 0; !skip && i < state->n_seen; i++) skip = strcmp(state->seen[i], found) == 0;
    if (skip) {
      free(found);
      continue;
    }
    state->seen[state->n_seen++] = found;
    rc = hash_file_and_includes(state, found, error);
  }
  free(text);
  free(folder);
  return rc;
}

int clt_hash_with_includes(clt_hasher *hasher, const char *path, const char *const *folders, size_t n_folders,
                           clt_error *error) {
  includes *state = clt_new_array(1, sizeof *state);
  if (state == NULL) return clt_fail_memory(error);
  *state = (includes){.hasher = hasher, .folders = folders, .n_folders = n_folders};
  int rc = hash_file_and_includes(state, path, error);
  for (size_t i = 0; i < state->n_seen; i++) free(state->seen[i]);
  free(state);
  return rc;
}

/* --- the key --- */

/* After the first failure (rc is no longer 0) the hash is of no use. The order of what is added, and the types of
 * numbers, are those of the keys in stores. */
typedef struct key {
  const clt_problem *problem;
  clt_hasher *hasher;
  clt_error *error;
  int rc;
} key;

static void add_text(key *k, const char *text) { clt_hasher_add_text(k->hasher, text ? text : ""); }

static void add_integer(key *k, int64_t x) { clt_hasher_add(k->hasher, &x, sizeof x); }

static void add_expression(key *k, clt_expression_id id) { add_text(k, !id ? "" : k->problem->expressions[id].text); }

static void add_extent(key *k, const clt_extent *extent) {
  clt_hasher_add(k->hasher, &extent->n, sizeof extent->n);
  for (size_t d = 0; d < extent->n; d++) add_expression(k, extent->id[d]);
}

static void add_kernel(key *k, const char *file) {
  const clt_problem *problem = k->problem;
  char *path = k->rc ? NULL : clt_kernel_path(problem, file);
  if (path)
    k->rc = clt_hash_with_includes(k->hasher, path, problem->include_paths, problem->n_include_paths, k->error);
  else if (k->rc == CLT_OK)
    k->rc = clt_fail_memory(k->error);
  free(path);
}

/* path NULL: none. */
static void add_module(key *k, const char *path) {
  if (k->rc == CLT_OK && path) k->rc = clt_hash_with_includes(k->hasher, path, NULL, 0, k->error);
}

static int hash_bytes(clt_hasher *hasher, const char *path, size_t max_bytes, clt_error *error) {
  char *bytes = NULL;
  size_t n = 0;
  int rc = clt_file_read(&bytes, &n, path, max_bytes, error);
  if (rc == CLT_OK) clt_hasher_add(hasher, bytes, n);
  free(bytes);
  return rc;
}

static void add_options(key *k, const clt_compiler_option *options, size_t n) {
  for (size_t i = 0; i < n; i++) {
    add_text(k, options[i].text);
    add_expression(k, options[i].when);
  }
}

static void add_launch(key *k, const clt_launch *launch) {
  add_text(k, launch->kernel);
  add_integer(k, launch->grid);
  add_extent(k, &launch->global);
  add_extent(k, &launch->divisor);
  add_extent(k, &launch->local);
  add_expression(k, launch->repeat);
  add_expression(k, launch->when);
  if (launch->group > 0) add_integer(k, (int64_t)launch->group);
  add_integer(k, launch->all_args ? -1 : (int64_t)launch->n_args);
  for (size_t i = 0; i < launch->n_args; i++) add_text(k, launch->args[i]);
}

static void add_fill(key *k, const clt_fill *fill) {
  add_integer(k, fill->kind);
  add_integer(k, fill->seed);
  add_expression(k, fill->value);
  add_text(k, fill->function);
  add_module(k, fill->module);
  if (k->rc == CLT_OK && fill->file) k->rc = hash_bytes(k->hasher, fill->file, CLT_MAX_DATA_BYTES, k->error);
}

/* The arguments and the reference. */
static void add_data(key *k, const clt_instance *instance) {
  const clt_problem *problem = k->problem;
  const clt_reference *reference = &problem->reference;
  for (size_t i = 0; k->rc == CLT_OK && i < problem->n_arguments; i++) {
    const clt_argument *a = &problem->arguments[i];
    add_text(k, a->name);
    add_integer(k, a->kind);
    add_integer(k, a->access);
    add_integer(k, a->element.base);
    add_integer(k, a->element.components);
    add_extent(k, &a->size);
    add_extent(k, &a->border);
    add_expression(k, a->when);
    add_integer(k, a->border_mode);
    add_integer(k, a->channel);
    add_integer(k, a->sampler_normalised | a->sampler_clamp_to_edge << 1 | a->sampler_linear << 2);
    add_integer(k, a->output);
    if (a->output) { /* what was judged by other tolerances is another judgement */
      clt_hasher_add(k->hasher, &a->absolute_tolerance, sizeof a->absolute_tolerance);
      clt_hasher_add(k->hasher, &a->relative_tolerance, sizeof a->relative_tolerance);
    }
    add_fill(k, &a->fill);
  }
  if (k->rc) return;
  add_integer(k, reference->kind);
  add_text(k, reference->function);
  if (reference->kind == CLT_REFERENCE_DEFAULT) { /* the configuration whose result is taken for right */
    char *text = clt_config_string(clt_instance_space(instance), clt_instance_reference_configuration(instance));
    if (text == NULL) k->rc = clt_fail_memory(k->error);
    add_text(k, text);
    free(text);
  }
  if (reference->kind == CLT_REFERENCE_MODULE) add_module(k, reference->module);
  if (reference->kind == CLT_REFERENCE_KERNEL) {
    add_launch(k, &reference->launch);
    add_options(k, reference->options, reference->n_options);
    add_kernel(k, reference->kernel_file);
  }
  for (size_t i = 0; k->rc == CLT_OK && i < reference->n_arrays; i++) {
    add_text(k, reference->arrays[i].target);
    add_fill(k, &reference->arrays[i].fill);
  }
}

static int hash_file(void *hasher, const char *relative, const char *path, bool folder, clt_error *error) {
  clt_hasher_add_text(hasher, relative);
  return folder ? CLT_OK : hash_bytes(hasher, path, CLT_MAX_COMMAND_FILE_BYTES, error);
}

/* What the measurements of a command depend on. */
static void add_command(key *k, const clt_instance *instance) {
  const clt_command *command = k->problem->command;
  const clt_figure *figure = &command->figure;
  const int kinds[] = {command->shell, (int)command->parameters_form, command->batch.used};
  const int figure_kinds[] = {(int)figure->source, figure->larger_is_better, (int)figure->statistic};
  const char *const texts[] = {
      command->environment, command->parameters_file, command->batch.input, command->batch.output,
      figure->file,         figure->member,           figure->pattern,      figure->unit};
  add_text(k, "clatune command 1");
  clt_hasher_add(k->hasher, kinds, sizeof kinds);
  for (size_t i = 0; i < command->n_build + 2; i++) {
    const clt_command_line *line = i < command->n_build    ? &command->build[i]
                                   : i == command->n_build ? &command->run
                                                           : &command->check;
    clt_hasher_add(k->hasher, &line->n, sizeof line->n);
    add_options(k, line->words, line->n);
  }
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    if (i == 4) { /* the figure's */
      clt_hasher_add(k->hasher, figure_kinds, sizeof figure_kinds);
      clt_hasher_add(k->hasher, &figure->scale, sizeof figure->scale);
    }
    add_text(k, texts[i] ? "there" : "none");
    add_text(k, texts[i]);
  }
  for (size_t i = 0; i < command->n_links; i++) add_text(k, command->links[i]);
  k->rc = clt_command_each_file(instance, hash_file, k->hasher, k->error);
}

static int make_key(const clt_instance *instance, bool with_sizes, char out[33], clt_error *error) {
  const clt_problem *problem = instance->problem;
  key k = {problem, clt_hasher_new(), error, CLT_OK};
  if (k.hasher == NULL) return clt_fail_memory(error);
  if (problem->command == NULL) {
    add_text(&k, "clatune instance 2");
    add_kernel(&k, problem->kernel_file);
    for (size_t i = 0; i < problem->n_launches; i++) add_launch(&k, &problem->launches[i]);
    add_options(&k, problem->options, problem->n_options);
    add_text(&k, problem->opencl_standard);
  }
  for (size_t i = 0; with_sizes && i < problem->n_sizes; i++) {
    add_text(&k, problem->sizes[i].name);
    add_integer(&k, instance->sizes[i]);
  }
  if (problem->command)
    add_command(&k, instance);
  else
    add_data(&k, instance);
  if (k.rc == CLT_OK) clt_hasher_hex(k.hasher, out);
  clt_hasher_free(k.hasher);
  return k.rc;
}

int clt_instance_key(char out[33], const clt_instance *instance, clt_error *error) {
  return make_key(instance, true, out, error);
}

int clt_instance_kernel_key(const clt_instance *instance, char out[33], clt_error *error) {
  return make_key(instance, false, out, error);
}
