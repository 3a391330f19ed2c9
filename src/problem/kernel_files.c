/* The files of a kernel or of its generator: their texts with what they include, for keys and for messages. */
#include <sys/stat.h>
#include <unistd.h>

#include "base/base.h"
#include "base/file.h"
#include "base/hash.h"
#include "device/device.h"
#include "problem/instance.h"

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

/* Adds the modules that a line of Python may import from its own folder: each word of "import a.b, c", and with the one
 * before "import" each word of "from a import b". */
static int find_imports(includes *state, const char *folder, const char *line, size_t n, clt_error *error) {
  static const char word_ends[] = " \t,()#\\\r\n";
  const char *end = line + n, *at = line + strspn(line, " \t"), *from = "";
  int rc = CLT_OK;
  if (!clt_starts_with(at, "import ") && !clt_starts_with(at, "from ")) return CLT_OK;
  size_t length = strcspn(at, word_ends), n_from = 0;
  while (rc == CLT_OK && at < end) {
    const bool after_from = from[0] == 0 && clt_starts_with(at, "from ");
    at += length + strspn(at + length, word_ends);
    if (at >= end) break;
    at += strspn(at, "."); /* of this package */
    length = strcspn(at, word_ends);
    rc = find_module(state, folder, at, length, error);
    char *inner = n_from ? clt_format("%.*s.%.*s", (int)n_from, from, (int)length, at) : NULL;
    if (rc == CLT_OK && inner) rc = find_module(state, folder, inner, strlen(inner), error);
    free(inner);
    if (after_from) from = at, n_from = length;
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
    if (rc == CLT_OK && python) rc = find_imports(state, folder, line, length, error);
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
static int hash_kernel(clt_hasher *hasher, const clt_instance *instance, const char *file,
                       const clt_compiler_option *more, size_t n_more, bool *used, clt_text *all, clt_error *error) {
  const clt_problem *problem = instance->problem;
  const char *const bases[] = {".", problem->folder};
  struct stat status;
  includes state = {.problem = problem, .used = used, .all = all};
  clt_words words = {0};
  char *path = clt_kernel_path(problem, file), *folder = path ? clt_path_folder(path) : NULL;
  int rc = folder ? CLT_OK : clt_fail_memory(error);
  if (rc == CLT_OK) rc = clt_words_add(&state.folders, strdup(folder), error);
  for (size_t i = 0; rc == CLT_OK && i < problem->n_include_paths; i++)
    rc = clt_words_add(&state.folders, strdup(problem->include_paths[i]), error);
  if (rc == CLT_OK) rc = add_words(&words, problem->options, problem->n_options, error);
  if (rc == CLT_OK) rc = add_words(&words, more, n_more, error);
  for (size_t i = 0; rc == CLT_OK && i < 2 * words.n; i++) {
    char *at = clt_path_join(bases[i % 2], words.all[i / 2]);
    const bool is_folder = at && stat(at, &status) == 0 && S_ISDIR(status.st_mode);
    if (is_folder || at == NULL)
      rc = clt_words_add(&state.folders, at, error);
    else
      free(at);
  }
  for (size_t i = 0; rc == CLT_OK && i < words.n; i++)
    rc = find_files(&state, NULL, words.all[i], strlen(words.all[i]), error);
  for (size_t i = 0; i < problem->n_parameters; i++) {
    for (size_t v = 0; rc == CLT_OK && v < instance->parameters[i].n_values; v++) {
      const clt_value value = instance->parameters[i].values[v];
      if (value.type == CLT_STRING) rc = find_files(&state, NULL, value.text, strlen(value.text), error);
    }
  }
  if (rc == CLT_OK) rc = clt_words_add(&state.pending, strdup(path), error);
  if (rc == CLT_OK) rc = hash_pending(hasher, &state, error);
  release_includes(&state);
  clt_words_free(words.all);
  free(folder);
  free(path);
  return rc;
}

int clt_hash_kernel(clt_hasher *hasher, const clt_instance *instance, const char *file, const clt_compiler_option *more,
                    size_t n_more, clt_error *error) {
  return hash_kernel(hasher, instance, file, more, n_more, NULL, NULL, error);
}

int clt_kernel_text(char **out, const clt_instance *instance, const char *file, clt_error *error) {
  clt_text all = {0};
  clt_hasher *hasher = clt_hasher_new();
  int rc = hasher ? hash_kernel(hasher, instance, file, NULL, 0, NULL, &all, error) : clt_fail_memory(error);
  clt_hasher_free(hasher);
  if (rc == CLT_OK) return clt_text_take(out, &all, error);
  clt_text_release(&all);
  return rc;
}

bool clt_instance_has_local_memory(const clt_instance *instance) {
  const char *file = instance->problem->kernel_file;
  char *text = NULL;
  if (file == NULL || clt_kernel_text(&text, instance, file, NULL)) return false;
  char *plain = clt_plain_source(text);
  const bool has = plain && (clt_next_word(plain, plain, "__local") || clt_next_word(plain, plain, "local"));
  free(plain);
  free(text);
  return has;
}

void clt_warn_unused(const clt_instance *instance, clt_log_fn log, void *user) {
  const clt_problem *problem = instance->problem;
  if (problem->kernel_file == NULL) return; /* a generator gets all of them */
  clt_hasher *hasher = clt_hasher_new();
  bool *read = clt_new_array(problem->n_parameters, sizeof *read);
  int rc = read && hasher ? CLT_OK : CLT_E_MEMORY;
  if (rc == CLT_OK) rc = hash_kernel(hasher, instance, problem->kernel_file, NULL, 0, read, NULL, NULL);
  for (size_t first = 0, p = 0; rc == CLT_OK && p < problem->n_parameters; first = p) {
    const clt_tuning_parameter *parameters = problem->parameters;
    bool used = instance->parameters[p].n_values < 2;
    do { /* the positions of a permutation share a list */
      const char *name = parameters[p].name;
      used = used || read[p];
      for (clt_expression_id id = 1; id <= problem->n_expressions; id++)
        used = used || (!problem->expressions[id].of_order && clt_reads_macro(problem->expressions[id].text, name));
      for (size_t i = 0; i < problem->n_options; i++) used = used || clt_reads_macro(problem->options[i].text, name);
    } while (++p < problem->n_parameters && parameters[p].list && parameters[p].list == parameters[first].list);
    if (!used && p - first > 1)
      clt_log(log, user, CLT_LOG_WARNING,
              "the permutation with the positions '%s', '%s' has no effect: neither '%s' nor an expression of the "
              "problem file reads a position; \"Values\" are the items to order, and the kernel has to read the "
              "position of each; otherwise remove it",
              parameters[first].name, parameters[first + 1].name, problem->kernel_file);
    else if (!used)
      clt_log(log, user, CLT_LOG_WARNING,
              "the tuning parameter '%s' has no effect: neither '%s' nor an expression of the problem file reads its "
              "value; remove it, as it multiplies the space by %zu",
              parameters[first].name, problem->kernel_file, instance->parameters[first].n_values);
  }
  clt_hasher_free(hasher);
  free(read);
}

int clt_hash_generator(clt_hasher *hasher, const clt_problem *problem, clt_error *error) {
  const clt_generation *generation = &problem->generation;
  includes state = {.problem = problem};
  int rc = clt_words_add(&state.folders, strdup(problem->folder), error);
  for (size_t i = 0; rc == CLT_OK && i < problem->n_include_paths; i++)
    rc = clt_words_add(&state.folders, strdup(problem->include_paths[i]), error);
  for (size_t i = 0; rc == CLT_OK && i < generation->n_files; i++)
    rc = find_files(&state, NULL, generation->files[i], strlen(generation->files[i]), error);
  for (size_t i = 0; rc == CLT_OK && i < generation->n_words; i++) {
    const char *word = generation->words[i].text; /* a file; or a module of Python, perhaps with a name in it */
    clt_error unread = {0};
    rc = find_files(&state, NULL, word, strlen(word), &unread);
    if (rc == CLT_OK) rc = find_module(&state, NULL, word, strcspn(word, ":"), &unread);
    rc = rc == CLT_E_MEMORY ? clt_fail_memory(error) : CLT_OK; /* no regular file: not what is meant */
  }
  if (rc == CLT_OK) rc = hash_pending(hasher, &state, error);
  release_includes(&state);
  return rc;
}
