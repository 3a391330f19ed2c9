/* Reads the kernel file of a draft, and builds it. */
#include <ctype.h>

#include "base/base.h"
#include "base/file.h"
#include "init/init.h"

void clt_draft_release(clt_draft *d) {
  clt_inspector_free(d->inspector);
  clt_words_free(d->options.all);
  free(d->folder);
  free(d->text);
  free(d->kernels);
  free(d->plain);
  free(d->body);
}

/* --- reading --- */

/* Adds the files that a text includes from its folder, recursively. Their macros count wherever they are defined. */
static void add_headers(clt_text *text, const char *folder) {
  static const char word[] = "include";
  clt_words seen = {0};
  for (size_t at = 0; text->rc == CLT_OK && text->n < CLT_DRAFT_BYTES;) {
    const char *found = strstr(text->bytes + at, word);
    if (found == NULL) break;
    const char *name = clt_skip_blanks(found + strlen(word));
    const size_t n = name[0] == '"' ? strcspn(name + 1, "\"\n") : 0;
    at = (size_t)(name - text->bytes);
    char *file = n ? strndup(name + 1, n) : NULL, *path = file ? clt_path_join(folder, file) : NULL, *header = NULL;
    bool is_new = file != NULL;
    for (size_t i = 0; is_new && i < seen.n; i++) is_new = strcmp(seen.all[i], file) != 0;
    if (is_new && path && clt_file_read(&header, NULL, path, CLT_DRAFT_BYTES, NULL) == CLT_OK)
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

int clt_draft_read(clt_draft *d, const char *path, clt_error *error) {
  clt_text named = {0}, all = {0};
  char *text = NULL;
  size_t n = 0;
  int rc = clt_file_read(&text, &n, path, CLT_DRAFT_BYTES, error);
  if (rc == CLT_OK && memchr(text, 0, n)) rc = clt_fail(error, CLT_E_FORMAT, "'%s' is not a text file", path);
  if (rc == CLT_OK && (d->folder = clt_path_folder(path)) == NULL) rc = clt_fail_memory(error);
  if (rc == CLT_OK) {
    if (strpbrk(path, "\"\\\n\r") == NULL) clt_text_printf(&named, "#line 1 \"%s\"\n", path);
    clt_text_add(&named, text);
    rc = clt_text_take(&d->text, &named, error);
  }
  if (rc == CLT_OK) {
    d->n_lines = 1;
    for (size_t i = 0; i < n; i++) d->n_lines += text[i] == '\n';
    clt_text_add(&all, d->text);
    add_headers(&all, d->folder);
    d->plain = all.rc ? NULL : clt_plain_source(all.bytes);
    clt_text_release(&all);
    if (d->plain == NULL) rc = clt_fail_memory(error);
  }
  free(text);
  return rc;
}

/* Where code has a name only in another case; NULL: nowhere. */
static const char *name_in_another_case(const char *plain, const char *name) {
  const size_t n = strlen(name);
  if (clt_next_word(plain, plain, name)) return NULL;
  for (const char *at = plain; (at = strcasestr(at, name)) != NULL; at++)
    if ((at == plain || !clt_in_word(at[-1])) && !clt_in_word(at[n])) return at;
  return NULL;
}

int clt_draft_define(clt_draft *d, const char *definition, clt_error *error) {
  const char *equals = definition + strcspn(definition, "=");
  clt_draft_macro m = {.list = equals + 1};
  const bool fits = equals - definition < (ptrdiff_t)sizeof m.name;
  if (fits) memcpy(m.name, definition, (size_t)(equals - definition));
  const bool is_list = *equals && strchr(equals, ',') && strpbrk(equals, "(){}\"' ") == NULL && fits &&
                       clt_is_name(m.name) && d->n_macros < CLT_DRAFT_MACROS;
  if (clt_draft_has_macro(d, m.name))
    return clt_fail(error, CLT_E_ARGUMENT, "--define names the macro '%s' twice; give all values in one list: %s=1,2",
                    m.name, m.name);
  const char *meant = clt_is_name(m.name) ? name_in_another_case(d->plain, m.name) : NULL;
  if (meant)
    return clt_fail(error, CLT_E_ARGUMENT, "--define %s: the kernel's file does not use '%s'; did you mean '%.*s'?",
                    definition, m.name, (int)strlen(m.name), meant);
  if (!is_list && strchr(equals, ' ') && strchr(definition, '"') == NULL)
    return clt_fail(error, CLT_E_ARGUMENT,
                    "--define %s: a build option ends at a blank; use a value of one word, such as uint, or write "
                    "'#ifndef %s', '#define %s %.*s' and '#endif' into the kernel's file",
                    definition, m.name, m.name, (int)strcspn(m.list, ","), m.list);
  d->n_typed += !is_list;
  if (!is_list) return clt_words_add(&d->options, clt_format("-D%s", definition), error);
  if (m.list[0] == ',' || strstr(m.list, ",,") || clt_ends_with(m.list, ","))
    return clt_fail(error, CLT_E_ARGUMENT, "option '--define' needs a value before and after each comma, not '%s'",
                    definition);
  d->macros[d->n_macros++] = m;
  return CLT_OK;
}

/* --- building --- */

/* Adds "-DNAME=value" for all macros without a default in the text. last: macros that an #if tests get their last value
 * instead of their default. */
static void add_defines(clt_text *options, const clt_draft *d, bool last) {
  for (size_t i = 0; i < d->options.n; i++) clt_text_printf(options, " %s", d->options.all[i]);
  for (const clt_draft_macro *m = d->macros; m < d->macros + d->n_macros; m++) {
    const bool takes_last = last && m->is_asked;
    if (m->is_defined && m->list == NULL && !takes_last) continue;
    if (m->list == NULL && !takes_last) {
      clt_text_printf(options, " -D%s=%lld", m->name, (long long)m->value);
      continue;
    }
    json_t *values = clt_draft_values(d, m);
    const json_t *value = json_array_get(values, takes_last ? json_array_size(values) - 1 : 0);
    char *number = json_is_string(value) ? NULL : json_dumps(value, JSON_ENCODE_ANY | JSON_REAL_PRECISION(15));
    clt_text_printf(options, " -D%s=%s", m->name, number ? number : json_string_value(value));
    free(number);
    json_decref(values);
  }
}

/* Whether a name is used as a type: it is followed by another name. */
static bool is_like_type(const char *text, const char *name) {
  for (const char *at = text; (at = clt_next_word(text, at, name)) != NULL; at++) {
    const char *end = at + strlen(name), *next = clt_skip_blanks(end);
    if (next > end && (isalpha((unsigned char)*next) || *next == '_')) return true;
  }
  return false;
}

/* Adds the macros that the compiler reports as unknown, in Clang's wording, which all OpenCL compilers use. A missing
 * type makes everything declared with it unknown, too; so if types are missing, only these are added. */
static bool learn_names(clt_draft *d, const char *log) {
  static const char *const words[] = {"unknown type name '", "use of undeclared identifier '"};
  bool added = false;
  for (int types = 1; types >= 0 && !added; types--) {
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
      for (const char *at = log; (at = strstr(at, words[i])) != NULL;) {
        char name[64];
        at += strlen(words[i]);
        const size_t n = strcspn(at, "'");
        clt_snprintf(name, sizeof name, "%.*s", (int)n, at);
        const bool is_type = i == 0 || is_like_type(d->plain, name);
        if (at[n] == '\'' && n < sizeof name && clt_is_name(name) && is_type == types)
          added |= clt_draft_add_undefined(d, name, is_type);
      }
    }
  }
  return added;
}

/* Builds with the defaults, or (last) with the last values, which reach other branches of #if. */
static int build_with(clt_kernel_info **out, size_t *n, clt_draft *d, const clt_device_info *device, bool last,
                      clt_error *error) {
  for (;;) {
    clt_text options = {0};
    clt_error said = {0};
    clt_text_printf(&options, "-w -I \"%s\"", d->folder); /* -w: the log is truncated, so it should have errors only */
    add_defines(&options, d, last);
    int rc = options.rc;
    if (rc == CLT_OK) rc = clt_inspect(out, n, &d->inspector, device, d->text, options.bytes, &said);
    clt_text_release(&options);
    if (rc == CLT_E_OPENCL && learn_names(d, said.message)) continue;
    *error = said;
    return rc;
  }
}

int clt_draft_build(clt_draft *d, const clt_device_info *device, clt_error *error) {
  return build_with(&d->kernels, &d->n_kernels, d, device, false, error);
}

/* Names unknown in other branches may be declared in those of the default configuration: then they are forgotten. */
static void explore(clt_draft *d, const clt_device_info *device) {
  const size_t n_macros = d->n_macros, n_options = d->options.n;
  clt_kernel_info *others = NULL;
  clt_error error = {0};
  size_t n = 0;
  if (build_with(&others, &n, d, device, true, &error)) n = 0;
  for (size_t i = 0; i < n; i++)
    for (size_t k = 0; strcmp(others[i].name, d->kernel->name) == 0 && k < d->kernel->n_arguments; k++)
      d->varies[k] =
          k < others[i].n_arguments && strcmp(others[i].arguments[k].type, d->kernel->arguments[k].type) != 0;
  free(others);
  others = NULL;
  if (d->n_macros == n_macros && d->options.n == n_options) return;
  if (build_with(&others, &n, d, device, false, &error)) {
    d->n_macros = n_macros;
    while (d->options.n > n_options) {
      free(d->options.all[--d->options.n]);
      d->options.all[d->options.n] = NULL;
    }
  }
  free(others);
}

int clt_draft_set_kernel(clt_draft *d, const clt_kernel_info *kernel, const clt_device_info *device, clt_log_fn log,
                         void *user, clt_error *error) {
  bool any_asked = false;
  d->kernel = kernel;
  for (size_t i = 0; i < d->n_macros; i++) any_asked |= d->macros[i].is_asked;
  if (any_asked) explore(d, device);
  clt_draft_find_reached(d, log, user);
  clt_draft_read_kernel(d);
  return d->body ? CLT_OK : clt_fail_memory(error);
}
