/* The source of a captured kernel, the files that it includes, and its build options. */
#include <ctype.h>
#include <errno.h>
#include <limits.h>

#include "base/base.h"
#include "base/file.h"
#include "base/text.h"
#include "layer/programs/programs.h"

#define MOST_FILES 1000 /* included by one kernel */
#define MOST_FILE_BYTES ((size_t)64 << 20)

/* --- included files --- */

typedef struct copying {
  const captured *c;
  const char **folders; /* the compiler's include folders; absolute, without links */
  const char **given;   /* the same as written in the options */
  size_t n_folders;
  bool *used;         /* a file of this folder was included */
  const char **files; /* copied; the first n_followed have been searched for #include */
  size_t n_files, n_followed;
} copying;

static char *include_folder(const captured *c, size_t index) {
  return cli_keep_memory(clt_format("%s/include%zu", c->folder, index));
}

/* Copies a file of one of the folders to include<number of the folder>, with its path relative to that folder. */
static int copy_file(copying *state, const char *path, clt_error *error) {
  size_t best = state->n_folders, n = 0, bytes = 0;
  char *text = NULL;
  for (size_t i = 0; i < state->n_files; i++)
    if (strcmp(state->files[i], path) == 0) return CLT_OK;
  for (size_t i = 0; i < state->n_folders; i++) {
    const size_t length = strlen(state->folders[i]);
    if (clt_starts_with(path, state->folders[i]) && path[length] == '/' && length > n) best = i, n = length;
  }
  if (best == state->n_folders)
    return clt_fail(error, CLT_E_UNSUPPORTED,
                    "its source includes '%s', which is in none of the -I folders of its build options", path);
  if (state->n_files == MOST_FILES)
    return clt_fail(error, CLT_E_UNSUPPORTED, "its source includes more than %d files", MOST_FILES);
  const char *to = cli_keep_memory(clt_format("%s%s", include_folder(state->c, best), path + n));
  int rc = clt_folder_make(cli_keep_memory(clt_path_folder(to)), error);
  if (rc == CLT_OK) rc = clt_file_read(&text, &bytes, path, MOST_FILE_BYTES, error);
  if (rc == CLT_OK) rc = clt_file_write(to, text, bytes, error);
  free(text);
  json_object_set_new(state->c->included, cli_keep_memory(clt_format("include%zu%s", best, path + n)),
                      json_sprintf("%s%s", state->given[best], path + n));
  state->used[best] = true;
  state->files[state->n_files++] = cli_keep_memory(strdup(path));
  return rc;
}

/* Copies the files that a text includes. Searches like the compiler: next to the including file (NULL: the text is not
 * a file), then in the folders. A file that is not found is in a branch not taken, or belongs to the driver. */
static int copy_included(copying *state, const char *text, const char *beside, clt_error *error) {
  static const char word[] = "include";
  int rc = CLT_OK;
  const char *plain = cli_keep_memory(clt_plain_source(text));
  for (const char *at = plain; rc == CLT_OK && (at = clt_next_word(plain, at, word)) != NULL; at++) {
    const char *open = clt_skip_blanks(at + strlen(word));
    const size_t n = *open == '"' || *open == '<' ? strcspn(open + 1, "\">\n") : 0;
    bool found = n == 0 || !clt_follows(plain, at, "#");
    for (size_t i = *open == '"' && beside ? 0 : 1; !found && i <= state->n_folders; i++) {
      char real[PATH_MAX];
      const char *folder = i == 0 ? beside : state->folders[i - 1];
      found = realpath(cli_keep_memory(clt_format("%s/%.*s", folder, (int)n, open + 1)), real) != NULL;
      if (found) rc = copy_file(state, real, error);
    }
  }
  return rc;
}

/* Searched are the -I folders, then the application's working folder, as drivers do. */
static int copy_includes(captured *c, const clt_words *folders, const char *source, clt_error *error) {
  copying state = {.c = c,
                   .folders = cli_new(folders->n, sizeof *state.folders),
                   .given = cli_new(folders->n, sizeof *state.given),
                   .used = cli_new(folders->n, sizeof *state.used),
                   .files = cli_new(MOST_FILES, sizeof *state.files)};
  for (size_t i = 0; i < folders->n; i++) {
    const char *path = cli_keep_memory(clt_path_join(clt_json_string(c->capture, "folder"), folders->all[i]));
    char *real = realpath(path, NULL);
    if (real) state.given[state.n_folders] = cli_keep_memory(strdup(folders->all[i]));
    if (real) state.folders[state.n_folders++] = cli_keep_memory(real);
  }
  int rc = copy_included(&state, source, NULL, error);
  while (rc == CLT_OK && state.n_followed < state.n_files) {
    const char *path = state.files[state.n_followed++];
    char *text = NULL;
    rc = clt_file_read(&text, NULL, path, MOST_FILE_BYTES, error);
    if (rc == CLT_OK) rc = copy_included(&state, cli_keep_memory(text), cli_keep_memory(clt_path_folder(path)), error);
  }
  for (size_t i = 0; rc == CLT_OK && i < state.n_folders; i++) {
    if (!state.used[i]) continue;
    json_array_append_new(c->includes, json_sprintf("include%zu", i));
    const char *folder = include_folder(c, i), *quote = strpbrk(folder, " \t") ? "\"" : "";
    rc = clt_words_add(&c->draft->options, clt_format("-I%s%s%s", quote, folder, quote), error);
  }
  return rc;
}

/* --- options --- */

/* The next word of the options, including quotes; NULL: none. Kept until the command ends. */
static char *next_word(const char **at) {
  const char *begin = *at + strspn(*at, " \t\r\n");
  char quote = '\0';
  size_t n = 0;
  for (; begin[n] && (quote || !isspace((unsigned char)begin[n])); n++) {
    if (begin[n] == '\\' && begin[n + 1])
      n++;
    else if (quote ? begin[n] == quote : begin[n] == '"' || begin[n] == '\'')
      quote = quote ? '\0' : begin[n];
  }
  *at = begin + n;
  return n ? cli_keep_memory(strndup(begin, n)) : NULL;
}

static char *without_quotes(const char *word) {
  char *out = cli_keep_memory(strdup(word)), *to = out;
  for (const char *at = word; *at; at++)
    if (*at != '"' && *at != '\'') *to++ = *at;
  *to = '\0';
  return out;
}

/* Reads "-DNAME=16". Only plain decimal numbers: 16u and 0xffffffff have another type, 016 is octal. */
static bool add_macro(captured *c, const char *define) {
  const char *equals = strchr(define, '=');
  char *end;
  if (equals == NULL || equals[1] == '\0') return false;
  errno = 0;
  const long long value = strtoll(equals + 1, &end, 10);
  const char *digits = equals + 1 + (equals[1] == '-');
  const char *name = cli_keep_memory(strndup(define, (size_t)(equals - define)));
  const bool plain =
      errno == 0 && *end == '\0' && isdigit((unsigned char)*digits) && (*digits != '0' || digits[1] == '\0');
  return plain && clt_draft_add_given(c->draft, name, value);
}

/* Options stay options, except macros to tune and -I folders, whose files are copied. Joins "-D NAME" and "-I folder"
 * to one word. */
static int read_options(captured *c, clt_words *folders, clt_error *error) {
  const char *at = clt_json_string(c->kernel, "options");
  int rc = CLT_OK;
  for (char *word; rc == CLT_OK && (word = next_word(&at)) != NULL;) {
    const bool parted = strcmp(word, "-D") == 0 || strcmp(word, "-I") == 0 || strcmp(word, "-U") == 0;
    const char *second = parted ? next_word(&at) : NULL;
    if (second) word = cli_keep_memory(clt_format("%s%s", word, second));
    if (clt_starts_with(word, "-I")) {
      rc = clt_words_add(folders, strdup(without_quotes(word + 2)), error);
      continue;
    }
    if (clt_starts_with(word, "-D") && add_macro(c, word + 2)) continue;
    json_array_append_new(c->options, clt_draft_option(word));
    rc = clt_words_add(&c->draft->options, strdup(word), error);
  }
  if (rc == CLT_OK) rc = clt_words_add(folders, strdup("."), error);
  return rc;
}

/* --- the source --- */

/* Whether a macro of the text can be tuned: it is defined as a plain whole number, before its first use, and is not
 * redefined outside of an #ifndef. line: its definition. The name must not occur in the options either, as -D would
 * change its meaning there. */
static bool may_have_default(const captured *c, const char *plain, const char *line, const clt_define *defines,
                             size_t n, size_t which) {
  const clt_define *define = &defines[which];
  const char *name = define->name, *value = define->value, *options = clt_json_string(c->kernel, "options");
  const size_t n_digits = strspn(value, "0123456789"), length = strlen(name);
  if (define->guarded || define->conditional || define->has_arguments || n_digits == 0 || n_digits > 9 ||
      value[n_digits] || (value[0] == '0' && n_digits > 1))
    return false;
  for (size_t i = 0; i < n; i++)
    if (i != which && strcmp(defines[i].name, name) == 0 && (i < which || !defines[i].guarded)) return false;
  const char *first = clt_next_word(plain, plain, name);
  if (first == NULL || !clt_follows(plain, first, "define")) return false;
  for (const char *at = first; (at = clt_next_word(plain, at, name)) != NULL; at++)
    if (clt_follows(plain, at, "undef")) return false;
  line = clt_skip_blanks(line); /* exactly as written: without comments and continued lines */
  if (*line != '#' || !clt_starts_with(line = clt_skip_blanks(line + 1), "define")) return false;
  line = clt_skip_blanks(line + strlen("define"));
  if (!clt_starts_with(line, name) || !clt_starts_with(line = clt_skip_blanks(line + length), value)) return false;
  line = clt_skip_blanks(line + n_digits);
  if (!strchr("\r\n", *line) && !clt_starts_with(line, "//")) return false;
  const size_t end = strcspn(line, "\n");
  if (memchr(line, '\\', end) || clt_next_word(options, options, name) ||
      clt_next_word(options, options, cli_keep_memory(clt_format("D%s", name)))) /* -D NAME, -DNAME */
    return false;
  return clt_draft_may_tune(plain, name, strtoll(value, NULL, 10));
}

/* The text with an #ifndef around each tunable #define, so that -D can change it. Kept until the command ends. */
static const char *with_defaults(const captured *c, const char *source, clt_error *error) {
  clt_define *defines = NULL;
  clt_text out = {0};
  size_t n = 0;
  char *plain = cli_keep_memory(clt_plain_source(source)), *text = NULL;
  if (clt_defines(&defines, &n, source, error)) return NULL;
  int number = 1;
  for (const char *line = source; *line; number++) {
    const size_t length = strcspn(line, "\n");
    size_t i = 0;
    while (i < n && (defines[i].line != number || !may_have_default(c, plain, line, defines, n, i))) i++;
    if (i < n)
      clt_text_printf(&out, "#ifndef %s\n%.*s\n#endif", defines[i].name, (int)length, line);
    else
      clt_text_printf(&out, "%.*s", (int)length, line);
    line += length;
    if (*line) clt_text_add(&out, "\n"), line++;
  }
  free(defines);
  return clt_text_take(&text, &out, error) ? NULL : cli_keep_memory(text);
}

const char *capture_source(captured *c, clt_error *error) {
  const char *path = cli_keep_memory(clt_format("%s/kernel.cl", c->folder));
  const char *from = cli_keep_memory(clt_path_join(c->raw, clt_json_string(c->kernel, "source")));
  clt_words folders = {0};
  char *source = NULL;
  size_t n = 0;
  int rc = clt_file_read(&source, &n, from, CLT_DRAFT_BYTES, error);
  if (rc) return NULL;
  json_t *is_text = json_stringn(cli_keep_memory(source), n);
  json_decref(is_text);
  if (is_text == NULL || memchr(source, 0, n))
    return clt_fail(error, CLT_E_FORMAT, "its source is not UTF-8 text"), NULL;
  const char *changed = with_defaults(c, source, error);
  if (changed == NULL || clt_file_write(path, changed, strlen(changed), error)) return NULL;
  rc = clt_draft_read(c->draft, path, error);
  if (rc == CLT_OK) rc = read_options(c, &folders, error);
  if (rc == CLT_OK) rc = copy_includes(c, &folders, source, error);
  clt_words_free(folders.all);
  return rc ? NULL : path;
}
