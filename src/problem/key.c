/* The kernel's text with its includes, and the keys of instances in stores, which depend on it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/file.h"
#include "base/map.h"
#include "base/memory.h"
#include "device/device.h"
#include "problem/command.h"

/* --- the kernel's text --- */

char *clt_kernel_path(const clt_problem *problem, const char *file) {
  char *path = clt_path_join(problem->folder, file), *above = clt_format("%s/../%s", problem->folder, file);
  bool is_above = path && above && file[0] != '/' && access(path, R_OK) != 0 && access(above, R_OK) == 0;
  char *chosen = is_above ? above : path && above ? path : NULL;
  if (chosen != path) free(path);
  if (chosen != above) free(above);
  return chosen;
}

/* --- the kernel's files ---
 *
 * The files that a preprocessor reads depend on the configuration and on the driver's compiler. A key must be the same
 * everywhere, and a look-up may have neither. So the key covers more files: every file that a preprocessor line names
 * in quotes or angle brackets (an #include, a macro used by one, a __has_include), in every branch and every folder of
 * the search path. System files are in none of these folders and are not part of the key. */

typedef struct includes {
  clt_words folders, pending; /* pending: files to hash, the next one last */
  clt_map seen;               /* hashes of paths */
  const clt_problem *problem; /* NULL: none. If set: */
  bool *used;                 /* for each tuning parameter: its value is read */
  clt_text *all;              /* nullable: gets the texts */
} includes;

/* Adds the files that a name of n bytes may refer to, in `folder` (NULL: none) and in the other folders, to pending. */
static int find_files(includes *state, const char *folder, const char *text, size_t n, clt_error *error) {
  char name[1024];
  struct stat status;
  int rc = CLT_OK;
  if (n == 0 || n >= sizeof name) return CLT_OK;
  memcpy(name, text, n);
  name[n] = '\0';
  for (size_t i = folder ? 0 : 1; rc == CLT_OK && i <= state->folders.n; i++) {
    char *path = clt_path_join(i == 0 ? folder : state->folders.all[i - 1], name);
    if (path == NULL) return clt_fail_memory(error);
    const bool is_there = stat(path, &status) == 0 && !S_ISDIR(status.st_mode);
    if (is_there && access(path, R_OK) == 0 && S_ISREG(status.st_mode)) {
      rc = clt_words_add(&state->pending, path, error);
      continue;
    }
    /* The compiler would wait for a FIFO, and read /dev/zero for ever. */
    if (is_there && !S_ISREG(status.st_mode) && strcmp(path, "/dev/null") != 0)
      rc = clt_fail(error, CLT_E_IO, "cannot include '%s': not a regular file", path);
    free(path);
  }
  return rc;
}

/* The same for the n bytes of a module's name in Python: "a.b" is a/b.py or a/b/__init__.py. */
static int find_module(includes *state, const char *folder, const char *text, size_t n, clt_error *error) {
  static const char *const endings[] = {".py", "/__init__.py"};
  int rc = CLT_OK;
  for (size_t i = 0; rc == CLT_OK && n > 0 && i < 2; i++) {
    char *name = clt_format("%.*s%s", (int)n, text, endings[i]);
    if (name == NULL) return clt_fail_memory(error);
    for (char *dot = name; dot < name + n; dot++) *dot = *dot == '.' ? '/' : *dot;
    rc = find_files(state, folder, name, strlen(name), error);
    free(name);
  }
  return rc;
}

/* -D defines every parameter. So a test whether it is defined does not read its value, and neither does a guarded
 * #define of it. */
static int note_used(includes *state, const char *text, clt_error *error) {
  char *plain = clt_plain_source(text);
  if (plain == NULL) return clt_fail_memory(error);
  for (size_t i = 0; i < state->problem->n_parameters; i++)
    state->used[i] = state->used[i] || clt_reads_macro(plain, state->problem->parameters[i].name);
  free(plain);
  return CLT_OK;
}

/* Binary files do not include others. */
static int hash_text(clt_hasher *hasher, includes *state, const char *path, const char *folder, clt_error *error) {
  const size_t n_before = state->pending.n;
  char *text = NULL;
  size_t n_bytes = 0;
  int rc = clt_file_read(&text, &n_bytes, path, CLT_MAX_TEXT_BYTES, error);
  if (rc) return rc;
  const bool binary = memchr(text, 0, n_bytes), python = clt_ends_with(path, ".py");
  binary ? clt_hasher_add(hasher, text, n_bytes) : clt_hasher_add_text(hasher, text);
  if (state->all && !binary) clt_text_printf(state->all, "%s\n", text);
  if (state->used && !binary) rc = note_used(state, text, error);
  bool continues = false; /* the line before ends with a backslash */
  for (const char *line = text, *end; rc == CLT_OK && !binary && *line; line = end + (*end == '\n')) {
    end = line + strcspn(line, "\n");
    const size_t length = (size_t)(end - line);
    const bool names = continues || line[strspn(line, " \t")] == '#' || memmem(line, length, "include", 7);
    for (const char *at = line; names && rc == CLT_OK && at < end; at++) {
      if (*at != '"' && *at != '<') continue;
      const size_t n = strcspn(at + 1, "\"<>\n");
      if (at[1 + n] == (*at == '<' ? '>' : '"')) rc = find_files(state, folder, at + 1, n, error);
    }
    const char *word = line + strspn(line, " \t"), *import = NULL;
    if (python && (clt_starts_with(word, "import ") || clt_starts_with(word, "from "))) import = strchr(word, ' ') + 1;
    import += import ? strspn(import, " ") : 0;
    if (rc == CLT_OK && import) rc = find_module(state, folder, import, strcspn(import, " ,;#\n"), error);
    continues = names && length > 0 && end[-1] == '\\';
  }
  for (size_t i = n_before, j = state->pending.n; i + 1 < j; i++) { /* the first of them is the next */
    char *first = state->pending.all[i];
    state->pending.all[i] = state->pending.all[--j];
    state->pending.all[j] = first;
  }
  free(text);
  return rc;
}

static int hash_pending(clt_hasher *hasher, includes *state, clt_error *error) {
  int rc = CLT_OK;
  while (rc == CLT_OK && state->pending.n > 0) {
    char *path = state->pending.all[--state->pending.n], *folder = clt_path_folder(path);
    state->pending.all[state->pending.n] = NULL;
    char *slash = strrchr(path, '/'), *known = folder ? clt_path_join(folder, slash ? slash + 1 : path) : NULL;
    bool is_new = false;
    if (known == NULL || clt_map_add(&state->seen, clt_hash64(known, strlen(known)) >> 1, &is_new) == NULL)
      rc = clt_fail_memory(error);
    else if (is_new)
      rc = hash_text(hasher, state, path, folder, error);
    free(known);
    free(folder);
    free(path);
  }
  return rc;
}

static void release_includes(includes *state) {
  clt_words_free(state->folders.all);
  clt_words_free(state->pending.all);
  clt_map_release(&state->seen);
}

int clt_hash_with_includes(clt_hasher *hasher, const char *path, const char *folder, clt_error *error) {
  includes state = {0};
  int rc = folder ? clt_words_add(&state.folders, strdup(folder), error) : CLT_OK;
  if (rc == CLT_OK) rc = clt_words_add(&state.pending, strdup(path), error);
  if (rc == CLT_OK) rc = hash_pending(hasher, &state, error);
  release_includes(&state);
  return rc;
}

/* --- the key --- */

#define ALWAYS_HASHED ((size_t)1 << 30) /* of a data file; takes less than a second */

/* After the first failure (rc is not 0), the hash is undefined. Existing stores depend on the order of the added data
 * and on the types of numbers. */
typedef struct key {
  const clt_instance *instance;
  const clt_problem *problem;
  clt_hasher *hasher;
  clt_error *error;
  int rc;
  bool *used;    /* for clt_warn_unused; else NULL */
  clt_text *all; /* for clt_kernel_text; else NULL */
  bool stated;   /* add the default configuration as the file states it */
} key;

static void add_text(key *k, const char *text) { clt_hasher_add_text(k->hasher, text ? text : ""); }

static void add_integer(key *k, int64_t x) { clt_hasher_add(k->hasher, &x, sizeof x); }

static void add_expression(key *k, clt_expression_id id) { add_text(k, !id ? "" : k->problem->expressions[id].text); }

static void add_extent(key *k, const clt_extent *extent) {
  clt_hasher_add(k->hasher, &extent->n, sizeof extent->n);
  for (size_t d = 0; d < extent->n; d++) add_expression(k, extent->id[d]);
}

/* Adds each word of the options that may name a folder ("-Ifolder") or a file ("-include file"). */
static int add_words(clt_words *words, const clt_compiler_option *options, size_t n, clt_error *error) {
  static const char around[] = " \t\"'\\=<>";
  int rc = CLT_OK;
  for (size_t i = 0; i < n; i++) {
    for (const char *at = options[i].text + strspn(options[i].text, around); rc == CLT_OK && *at;) {
      if (clt_starts_with(at, "-I")) at += 2 + strspn(at + 2, around);
      const size_t length = strcspn(at, around);
      if (length > 0) rc = clt_words_add(words, strndup(at, length), error);
      at += length + strspn(at + length, around);
    }
  }
  return rc;
}

/* Adds the kernel's text with its includes from the folders of the driver's search path. Relative paths in options
 * start at the current folder. File names may also come from options and from values of tuning parameters. */
static void add_kernel(key *k, const char *file, const clt_compiler_option *more, size_t n_more) {
  const clt_problem *problem = k->problem;
  const char *const bases[] = {".", problem->folder};
  struct stat status;
  includes state = {.problem = problem, .used = k->used, .all = k->all};
  clt_words words = {0};
  if (k->rc) return;
  char *path = clt_kernel_path(problem, file), *folder = path ? clt_path_folder(path) : NULL;
  int rc = folder ? CLT_OK : clt_fail_memory(k->error);
  if (rc == CLT_OK) rc = clt_words_add(&state.folders, strdup(folder), k->error);
  for (size_t i = 0; rc == CLT_OK && i < problem->n_include_paths; i++)
    rc = clt_words_add(&state.folders, strdup(problem->include_paths[i]), k->error);
  if (rc == CLT_OK) rc = add_words(&words, problem->options, problem->n_options, k->error);
  if (rc == CLT_OK) rc = add_words(&words, more, n_more, k->error);
  for (size_t i = 0; rc == CLT_OK && i < 2 * words.n; i++) {
    char *at = clt_path_join(bases[i % 2], words.all[i / 2]);
    const bool is_folder = at && stat(at, &status) == 0 && S_ISDIR(status.st_mode);
    if (is_folder || at == NULL)
      rc = clt_words_add(&state.folders, at, k->error);
    else
      free(at);
  }
  for (size_t i = 0; rc == CLT_OK && i < words.n; i++)
    rc = find_files(&state, NULL, words.all[i], strlen(words.all[i]), k->error);
  for (size_t i = 0; i < problem->n_parameters; i++) {
    for (size_t v = 0; rc == CLT_OK && v < k->instance->parameters[i].n_values; v++) {
      const clt_value value = k->instance->parameters[i].values[v];
      if (value.type == CLT_STRING) rc = find_files(&state, NULL, value.text, strlen(value.text), k->error);
    }
  }
  if (rc == CLT_OK) rc = clt_words_add(&state.pending, strdup(path), k->error);
  if (rc == CLT_OK) rc = hash_pending(k->hasher, &state, k->error);
  k->rc = rc;
  release_includes(&state);
  clt_words_free(words.all);
  free(folder);
  free(path);
}

int clt_kernel_text(char **out, const clt_instance *instance, const char *file, clt_error *error) {
  clt_text all = {0};
  key k = {.instance = instance, .problem = instance->problem, .hasher = clt_hasher_new(), .error = error, .all = &all};
  if (k.hasher == NULL) k.rc = clt_fail_memory(error);
  add_kernel(&k, file, NULL, 0);
  clt_hasher_free(k.hasher);
  if (k.rc == CLT_OK) return clt_text_take(out, &all, error);
  clt_text_release(&all);
  return k.rc;
}

void clt_warn_unused(const clt_instance *instance, clt_log_fn log, void *user) {
  const clt_problem *problem = instance->problem;
  key k = {.instance = instance, .problem = problem, .hasher = clt_hasher_new()};
  k.used = clt_new_array(problem->n_parameters, sizeof *k.used);
  if (k.used == NULL || k.hasher == NULL) k.rc = CLT_E_MEMORY;
  if (problem->kernel_file == NULL) k.rc = CLT_E_NOT_FOUND; /* a generator reads all of them */
  add_kernel(&k, problem->kernel_file, NULL, 0);
  for (size_t p = 0; k.rc == CLT_OK && p < problem->n_parameters; p++) {
    const char *name = problem->parameters[p].name;
    bool used = k.used[p] || instance->parameters[p].n_values < 2;
    for (clt_expression_id id = 1; id <= problem->n_expressions; id++)
      used = used || clt_reads_macro(problem->expressions[id].text, name);
    for (size_t i = 0; i < problem->n_options; i++) used = used || clt_reads_macro(problem->options[i].text, name);
    if (used) continue;
    clt_log(log, user, CLT_LOG_WARNING,
            "the tuning parameter '%s' has no effect: neither '%s' nor an expression of the problem file reads its "
            "value; remove it, as it multiplies the space by %zu",
            name, problem->kernel_file, instance->parameters[p].n_values);
  }
  clt_hasher_free(k.hasher);
  free(k.used);
}

static void add_options(key *k, const clt_compiler_option *options, size_t n) {
  for (size_t i = 0; i < n; i++) {
    add_text(k, options[i].text);
    add_expression(k, options[i].when);
  }
}

/* Adds what a generated source depends on: the words, the files that they name with what those include or import, the
 * listed files, and the version. A look-up must not need the generator, so the texts themselves are no part. */
static void add_generator(key *k) {
  const clt_problem *problem = k->problem;
  const clt_generation *generation = &problem->generation;
  includes state = {.problem = problem};
  add_text(k, "generator");
  add_options(k, generation->words, generation->n_words);
  add_text(k, generation->version);
  add_text(k, generation->macros ? "macros" : NULL);
  if (k->rc) return;
  int rc = clt_words_add(&state.folders, strdup(problem->folder), k->error);
  for (size_t i = 0; rc == CLT_OK && i < problem->n_include_paths; i++)
    rc = clt_words_add(&state.folders, strdup(problem->include_paths[i]), k->error);
  for (size_t i = 0; rc == CLT_OK && i < generation->n_files; i++)
    rc = find_files(&state, NULL, generation->files[i], strlen(generation->files[i]), k->error);
  for (size_t i = 0; rc == CLT_OK && i < generation->n_words; i++) {
    const char *word = generation->words[i].text; /* a file; or a module of Python, perhaps with a name in it */
    rc = find_files(&state, NULL, word, strlen(word), k->error);
    if (rc == CLT_OK) rc = find_module(&state, NULL, word, strcspn(word, ":"), k->error);
  }
  if (rc == CLT_OK) rc = hash_pending(k->hasher, &state, k->error);
  k->rc = rc;
  release_includes(&state);
}

/* path NULL: none. */
static void add_module(key *k, const char *path) {
  if (k->rc == CLT_OK && path) k->rc = clt_hash_with_includes(k->hasher, path, NULL, k->error);
}

/* Adds the first `most` bytes of a file, and its size if it has more. */
static int hash_bytes(clt_hasher *hasher, const char *path, size_t most, clt_error *error) {
  char chunk[1 << 16];
  size_t size = 0, left = most;
  ssize_t got = 1;
  int fd, rc = clt_file_open(&fd, &size, path, error);
  if (rc) return rc;
  for (; left > 0 && got > 0; left -= got > 0 ? (size_t)got : 0) {
    got = read(fd, chunk, clt_min(left, sizeof chunk));
    if (got > 0) clt_hasher_add(hasher, chunk, (size_t)got);
  }
  if (got < 0) rc = clt_fail_errno(error, CLT_E_IO, "read", path);
  if (size > most) clt_hasher_add(hasher, &size, sizeof size);
  close(fd);
  return rc;
}

/* The bytes of a data file that can matter: those of the largest argument. Shorter files are read to their end also if
 * they do not fit these sizes, because the file is the same at the sizes that it fits. */
static size_t most_data(const clt_instance *instance) {
  const clt_problem *problem = instance->problem;
  size_t most = ALWAYS_HASHED, extent[3];
  for (size_t i = 0; i < problem->n_arguments; i++) {
    clt_calculation c = {instance, NULL, NULL, CLT_OK};
    size_t bytes = problem->arguments[i].plan.element.bytes;
    clt_evaluate_extent(&c, &problem->arguments[i].size, 1, 1, extent);
    for (size_t d = 0; c.rc == CLT_OK && d < 3; d++)
      if (!clt_size_multiply(&bytes, bytes, extent[d])) c.rc = CLT_E_RANGE;
    if (c.rc == CLT_OK && bytes > most) most = bytes;
  }
  return most;
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
  if (k->rc == CLT_OK && fill->file) k->rc = hash_bytes(k->hasher, fill->file, most_data(k->instance), k->error);
}

/* Adds the arguments and the reference. */
static void add_data(key *k) {
  const clt_problem *problem = k->problem;
  const clt_reference *reference = &problem->reference;
  for (size_t i = 0; k->rc == CLT_OK && i < problem->n_arguments; i++) {
    const clt_argument *a = &problem->arguments[i];
    add_text(k, a->name);
    add_integer(k, a->plan.kind);
    add_integer(k, a->plan.access);
    add_integer(k, a->plan.element.base);
    add_integer(k, a->plan.element.components);
    add_extent(k, &a->size);
    add_extent(k, &a->border);
    add_expression(k, a->when);
    add_integer(k, a->plan.border_mode);
    add_integer(k, a->plan.channel);
    add_integer(k, a->plan.sampler_normalised | a->plan.sampler_clamp_to_edge << 1 | a->plan.sampler_linear << 2);
    add_integer(k, a->output);
    if (a->output) { /* results that were checked with other tolerances are not comparable */
      clt_hasher_add(k->hasher, &a->absolute_tolerance, sizeof a->absolute_tolerance);
      clt_hasher_add(k->hasher, &a->relative_tolerance, sizeof a->relative_tolerance);
      /* The default is not added, because it is scaled to the reference. */
      if (a->absolute_is_stated && a->absolute_tolerance > 0 &&
          a->absolute_tolerance == clt_default_tolerance(a->plan.element.base))
        add_text(k, "stated");
    }
    add_fill(k, &a->fill);
    for (const clt_stated_field *f = a->fields; f < a->fields + a->n_fields; f++) {
      add_text(k, f->name);
      for (size_t v = 0; v < f->n_values; v++) add_expression(k, f->values[v]);
    }
  }
  if (k->rc) return;
  add_integer(k, reference->kind);
  add_text(k, reference->function);
  for (size_t p = 0; k->stated && reference->kind == CLT_REFERENCE_DEFAULT && p < problem->n_parameters; p++) {
    char *text = json_dumps(problem->parameters[p].default_value, JSON_ENCODE_ANY); /* NULL: none */
    add_text(k, problem->parameters[p].name);
    add_text(k, text);
    free(text);
  }
  if (reference->kind == CLT_REFERENCE_DEFAULT && !k->stated) { /* the configuration whose result is taken as correct */
    clt_config config = clt_instance_reference_configuration(k->instance);
    const clt_space *space = k->instance->space;
    clt_text text = {0};
    char *taken = NULL;
    for (size_t p = 0; p < clt_space_n_parameters(space);
         p++) { /* without %XX, for compatibility with existing stores */
      clt_text_printf(&text, "%s%s=", p ? " " : "", clt_space_parameter(space, p)->name);
      clt_text_add_value(&text, clt_space_value(space, config, p));
    }
    k->rc = clt_text_take(&taken, &text, k->error);
    add_text(k, taken);
    free(taken);
  }
  if (reference->kind == CLT_REFERENCE_MODULE) add_module(k, reference->module);
  if (reference->kind == CLT_REFERENCE_KERNEL) {
    add_launch(k, &reference->launch);
    add_options(k, reference->options, reference->n_options);
    const bool failed = k->rc != CLT_OK;
    clt_error why = {0}, *error = k->error;
    k->error = &why;
    add_kernel(k, reference->kernel_file, reference->options, reference->n_options);
    k->error = error;
    if (k->rc && !failed) clt_key_wrap(&k->problem->source, "Reference.KernelFile", k->rc, error, &why);
  }
  if (reference->verify_function) {
    add_text(k, reference->verify_function);
    add_module(k, reference->verify_module);
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

/* Adds everything that the measurements of a command depend on. */
static void add_command(key *k) {
  const clt_command *command = k->problem->command;
  const clt_figure *figure = &command->figure;
  const int kinds[] = {command->shell, (int)command->parameters_form, command->batch.used};
  const int figure_kinds[] = {(int)figure->source, figure->larger_is_better, (int)figure->statistic};
  const char *const texts[] = {
      command->environment, command->parameters_file, command->batch.input, command->batch.output,
      figure->file,         figure->member,           figure->pattern,      figure->unit};
  add_text(k, "clatune command 1");
  clt_hasher_add(k->hasher, kinds, sizeof kinds);
  for (size_t i = 0; i < clt_command_n_lines(command); i++) {
    const clt_command_line *line = clt_command_line_at(command, i);
    clt_hasher_add(k->hasher, &line->n, sizeof line->n);
    add_options(k, line->words, line->n);
  }
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    if (i == 4) { /* words of the figure */
      clt_hasher_add(k->hasher, figure_kinds, sizeof figure_kinds);
      clt_hasher_add(k->hasher, &figure->scale, sizeof figure->scale);
    }
    add_text(k, texts[i] ? "there" : "none");
    add_text(k, texts[i]);
  }
  for (size_t i = 0; i < command->n_links; i++) add_text(k, command->links[i]);
  k->rc = clt_command_each_file(k->instance, hash_file, k->hasher, k->error);
}

static int make_key(const clt_instance *instance, bool with_sizes, bool stated, char out[33], clt_error *error) {
  const clt_problem *problem = instance->problem;
  key k = {instance, problem, clt_hasher_new(), error, .stated = stated};
  if (k.hasher == NULL) return clt_fail_memory(error);
  if (problem->command == NULL) {
    add_text(&k, "clatune instance 2");
    char *path = problem->language && problem->kernel_file ? clt_kernel_path(problem, problem->kernel_file) : NULL;
    if (problem->kernel_file == NULL)
      add_generator(&k);
    else if (path && access(path, R_OK) != 0) /* replaying a recording needs no kernel file */
      add_text(&k, problem->kernel_file);
    else
      add_kernel(&k, problem->kernel_file, NULL, 0);
    free(path);
    if (problem->language) add_text(&k, problem->kernel_name);
    for (size_t i = 0; i < problem->n_launches; i++) add_launch(&k, &problem->launches[i]);
    add_options(&k, problem->options, problem->n_options);
    add_text(&k, problem->opencl_standard);
  }
  for (size_t i = 0; with_sizes && i < problem->n_sizes; i++) {
    add_text(&k, problem->sizes[i].name);
    add_integer(&k, instance->sizes[i]);
  }
  if (problem->command)
    add_command(&k);
  else
    add_data(&k);
  if (problem->guidance.cold_cache) add_text(&k, "cold cache"); /* for compatibility, warm caches add nothing */
  for (size_t i = 0; i < problem->n_sizes; i++) {
    if (!problem->sizes[i].no_macro) continue;
    add_text(&k, "no macro");
    add_text(&k, problem->sizes[i].name);
  }
  if (k.rc == CLT_OK) clt_hasher_hex(k.hasher, out);
  clt_hasher_free(k.hasher);
  return k.rc;
}

int clt_instance_key(char out[33], const clt_instance *instance, clt_error *error) {
  return make_key(instance, true, false, out, error);
}

int clt_instance_kernel_key(char out[33], const clt_instance *instance, clt_error *error) {
  return make_key(instance, false, true, out, error);
}

int clt_instance_model_key(char out[33], const clt_instance *instance, clt_error *error) {
  return make_key(instance, false, false, out, error);
}
