/* Reading and building the kernel file for `clatune init`. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/memory.h"
#include "base/text.h"
#include "cli/init.h"
#include "problem/plan.h"

/* --- reading --- */

/* Adds the files that a text includes from its folder, recursively. Their macros count wherever they are defined. */
static void add_headers(clt_text *text, const char *folder) {
  static const char word[] = "include";
  clt_words seen = {0};
  for (size_t at = 0; text->rc == 0 && text->n < MAX_TEXT_BYTES;) {
    const char *found = strstr(text->bytes + at, word);
    if (found == NULL) break;
    const char *name = found + strlen(word) + strspn(found + strlen(word), " \t");
    size_t n = name[0] == '"' ? strcspn(name + 1, "\"\n") : 0;
    at = (size_t)(name - text->bytes);
    char *file = n ? strndup(name + 1, n) : NULL, *path = file ? clt_path_join(folder, file) : NULL, *header = NULL;
    bool is_new = file != NULL;
    for (size_t i = 0; is_new && i < seen.n; i++) is_new = strcmp(seen.all[i], file) != 0;
    if (is_new && path && clt_file_read(&header, NULL, path, MAX_TEXT_BYTES, NULL) == 0)
      clt_text_printf(text, "\n%s", header);
    free(header);
    free(path);
    if (is_new)
      clt_words_add(&seen, file, NULL);
    else
      free(file);
  }
  clt_words_free(seen.all);
}

const char *cli_init_read_file(draft *d, int *n_lines, const char *path) {
  const char *folder = cli_keep_memory(clt_path_folder(path));
  clt_text named = {0}, all = {0};
  char *text = NULL, *out;
  size_t n = 0;
  cli_check(clt_file_read(&text, &n, path, MAX_TEXT_BYTES, &cli_error));
  cli_keep_memory(text);
  if (memchr(text, 0, n)) cli_failure("'%s' is not a text file", path);
  if (strpbrk(path, "\"\\\n\r") == NULL) clt_text_printf(&named, "#line 1 \"%s\"\n", path);
  clt_text_add(&named, text);
  cli_check(clt_text_take(&out, &named, &cli_error));
  cli_keep_memory(out);
  *n_lines = 1;
  for (size_t i = 0; i < n; i++) *n_lines += text[i] == '\n';
  clt_text_add(&all, out);
  add_headers(&all, folder);
  d->plain = all.rc ? NULL : clt_plain_source(all.bytes);
  if (d->plain == NULL) cli_failure("out of memory");
  clt_text_release(&all);
  return out;
}

/* --- building --- */

/* Adds "-DNAME=value" for all macros without a default in the text. last: macros that an #if tests get their last value
 * instead of their default. */
static void add_defines(clt_text *options, const draft *d, bool last) {
  for (size_t i = 0; i < d->options.n; i++) clt_text_printf(options, " %s", d->options.all[i]);
  for (size_t i = 0; i < d->n_macros; i++) {
    const tuned_macro *m = &d->macros[i];
    const bool takes_last = last && m->is_asked;
    if (m->is_defined && m->list == NULL && !takes_last) continue;
    json_t *values = cli_init_values(d, m), *usual = json_integer(m->value);
    const json_t *value = json_array_get(values, takes_last ? json_array_size(values) - 1 : 0);
    if (m->list == NULL && !takes_last) value = usual;
    char *number = json_is_string(value) ? NULL : json_dumps(value, JSON_ENCODE_ANY | JSON_REAL_PRECISION(15));
    clt_text_printf(options, " -D%s=%s", m->name, number ? number : json_string_value(value));
    free(number);
    json_decref(usual);
    json_decref(values);
  }
}

/* Whether a name is used as a type: it is followed by another name. */
static bool is_like_type(const char *text, const char *name) {
  for (const char *at = text; (at = clt_next_word(text, at, name)) != NULL; at++) {
    const char *end = at + strlen(name), *next = cli_skip_blanks(end);
    if (next > end && (isalpha((unsigned char)*next) || *next == '_')) return true;
  }
  return false;
}

/* Adds the macros that the compiler reports as unknown, in Clang's wording, which all OpenCL compilers use. A missing
 * type makes everything declared with it unknown, too; so if types are missing, only these are added. */
static bool learn_names(draft *d, const char *log) {
  static const char *const words[] = {"unknown type name '", "use of undeclared identifier '"};
  bool added = false;
  for (int types = 1; types >= 0 && !added; types--) {
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
      for (const char *at = log; (at = strstr(at, words[i])) != NULL;) {
        char name[64];
        at += strlen(words[i]);
        size_t n = strcspn(at, "'");
        snprintf(name, sizeof name, "%.*s", (int)n, at);
        bool is_type = i == 0 || is_like_type(d->plain, name);
        if (at[n] == '\'' && n < sizeof name && clt_is_name(name) && is_type == types)
          added |= cli_init_add_undefined(d, name, is_type);
      }
    }
  }
  return added;
}

/* Builds with the defaults, or (last) with the last values, which reach other branches of #if. */
static int build_with(clt_kernel_info **out, size_t *n, draft *d, const clt_device_info *device, const char *text,
                      const char *folder, bool last, clt_error *error) {
  for (;;) {
    clt_text options = {0};
    clt_error said = {0};
    clt_text_printf(&options, "-w -I \"%s\"", folder); /* -w: the log is truncated, so it should contain errors only */
    add_defines(&options, d, last);
    int rc = options.rc ? options.rc : clt_inspect(out, n, &d->inspector, device, text, options.bytes, &said);
    clt_text_release(&options);
    if (rc != CLT_E_OPENCL || !learn_names(d, said.message)) return *error = said, rc;
  }
}

int cli_init_build(clt_kernel_info **out, size_t *n, draft *d, const clt_device_info *device, const char *text,
                   const char *folder, clt_error *error) {
  *out = NULL;
  int rc = build_with(out, n, d, device, text, folder, false, error);
  if (*out) cli_keep_memory(*out);
  return rc;
}

void cli_init_explore(draft *d, const clt_device_info *device, const char *text, const char *folder) {
  const draft before = *d;
  clt_kernel_info *others = NULL, *again = NULL;
  clt_error error = {0};
  size_t n = 0, n_again = 0;
  bool any = false;
  for (size_t i = 0; i < d->n_macros; i++) any |= d->macros[i].is_asked;
  if (!any) return;
  if (build_with(&others, &n, d, device, text, folder, true, &error)) n = 0;
  for (size_t i = 0; i < n; i++)
    for (size_t k = 0; strcmp(others[i].name, d->kernel->name) == 0 && k < d->kernel->n_arguments; k++)
      d->varies[k] =
          k < others[i].n_arguments && strcmp(others[i].arguments[k].type, d->kernel->arguments[k].type) != 0;
  free(others);
  if (d->n_macros == before.n_macros && d->options.n == before.options.n) return;
  /* Names unknown in these branches may be declared in those of the default configuration. */
  if (build_with(&again, &n_again, d, device, text, folder, false, &error)) {
    d->n_macros = before.n_macros;
    while (d->options.n > before.options.n) {
      free(d->options.all[--d->options.n]);
      d->options.all[d->options.n] = NULL;
    }
  }
  free(again);
}
