/* What the compiler says of a kernel file to `clatune init`. */
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

/* Adds the files that a text includes from its folder, and theirs. What they define counts wherever it stands. */
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

int cli_init_read_file(char **out, draft *d, int *n_lines, const char *path) {
  clt_error error = {0};
  clt_text named = {0}, all = {0};
  char *text = NULL, *folder = clt_path_folder(path);
  size_t n = 0;
  if (clt_file_read(&text, &n, path, MAX_TEXT_BYTES, &error)) return free(folder), cli_report(&error);
  if (memchr(text, 0, n)) return free(folder), free(text), cli_failure("'%s' is no text", path);
  if (strpbrk(path, "\"\\\n\r") == NULL) clt_text_printf(&named, "#line 1 \"%s\"\n", path);
  clt_text_add(&named, text);
  clt_text_add(&all, named.rc ? text : named.bytes);
  *n_lines = 1;
  for (size_t i = 0; i < n; i++) *n_lines += text[i] == '\n';
  if (folder) add_headers(&all, folder);
  d->plain = all.rc ? NULL : clt_plain_source(all.bytes);
  clt_text_release(&all);
  free(folder);
  free(text);
  return clt_text_take(out, &named, NULL) || d->plain == NULL ? cli_failure("out of memory") : 0;
}

/* --- building --- */

/* Adds "-DNAME=value" for all macros that need it: with their defaults, or where #if asks for one, its last value. */
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

/* Whether a name stands where only a type does: before another name. */
static bool is_like_type(const char *text, const char *name) {
  for (const char *at = text; (at = clt_next_word(text, at, name)) != NULL; at++) {
    const char *end = at + strlen(name), *next = cli_skip_blanks(end);
    if (next > end && (isalpha((unsigned char)*next) || *next == '_')) return true;
  }
  return false;
}

/* Adds the macros that a compiler has not found, in Clang's words, which all compilers of OpenCL have. Where a type is
 * missing, so is what is declared with it: then types alone. */
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

/* The type that an argument's pointer points to, or its own. False: OpenCL has it already, or it is too long. */
static bool own_type(char out[128], const char *type) {
  clt_element element;
  size_t n = strcspn(type, "*");
  while (n && type[n - 1] == ' ') n--;
  snprintf(out, 128, "%.*s", (int)n, type);
  return clt_is_name(out) && clt_element_parse(&element, out) != CLT_OK && strcmp(out, "size_t") != 0 &&
         strcmp(out, "sampler_t") != 0 && strncmp(out, "image", 5) != 0;
}

/* Replaces a typedef's name by what it stands for. A driver names the type of an argument as it is written: so a kernel
 * without arguments is built for each, whose required work-group size is the number of the type in a list. */
static void resolve_types(clt_kernel_info *kernels, size_t n, const clt_device_info *device, const char *text,
                          const char *options) {
  static const char *const bases[] = {"char", "uchar", "short", "ushort", "int",
                                      "uint", "long",  "ulong", "float",  "double"};
  static const char *const lengths[] = {"", "2", "3", "4", "8", "16"};
  enum { N_LENGTHS = sizeof lengths / sizeof *lengths, N_TYPES = N_LENGTHS * sizeof bases / sizeof *bases };
  clt_kernel_info *probes = NULL;
  clt_text all = {0};
  size_t n_probes = 0;
  char type[128];
  clt_text_printf(&all,
                  "%s\n#ifdef cl_khr_fp64\n#define clatune_double(T, type) __builtin_types_compatible_p(T, type)\n"
                  "#else\n#define clatune_double(T, type) 0\n#endif\n#define clatune_type(T) (1",
                  text);
  for (int i = 0; i < N_TYPES; i++)
    clt_text_printf(&all, " + %d * %s(T, %s%s)", i + 1,
                    i / N_LENGTHS == 9 ? "clatune_double" : "__builtin_types_compatible_p", bases[i / N_LENGTHS],
                    lengths[i % N_LENGTHS]);
  clt_text_add(&all, ")\n");
  size_t n_before = all.n;
  for (size_t i = 0; i < n; i++)
    for (size_t k = 0; k < kernels[i].n_arguments; k++)
      if (own_type(type, kernels[i].arguments[k].type))
        clt_text_printf(&all,
                        "__kernel __attribute__((reqd_work_group_size(clatune_type(%s), 1, 1))) void "
                        "clatune_%zu_%zu(void) {}\n",
                        type, i, k);
  if (all.rc == 0 && all.n > n_before) clt_inspect(&probes, &n_probes, device, all.bytes, options, NULL);
  for (size_t i = 0; i < n_probes; i++) {
    size_t of, k, number = probes[i].local_size[0] - 2;
    if (sscanf(probes[i].name, "clatune_%zu_%zu", &of, &k) != 2 || of >= n || k >= kernels[of].n_arguments) continue;
    if (number >= N_TYPES) continue;
    char *name = kernels[of].arguments[k].type;
    bool is_pointer = strchr(name, '*') != NULL;
    snprintf(name, sizeof kernels->arguments->type, "%s%s%s", bases[number / N_LENGTHS], lengths[number % N_LENGTHS],
             is_pointer ? "*" : "");
  }
  free(probes);
  clt_text_release(&all);
}

/* Builds with the defaults, or with the last values, for what stands in other branches of #if. */
static int build_with(clt_kernel_info **out, size_t *n, draft *d, const clt_device_info *device, const char *text,
                      const char *folder, bool last, clt_error *error) {
  for (;;) {
    clt_text options = {0};
    clt_error said = {0};
    clt_text_printf(&options, "-w -I \"%s\"", folder); /* -w: the log, which is cut, holds errors alone */
    add_defines(&options, d, last);
    int rc = options.rc ? options.rc : clt_inspect(out, n, device, text, options.bytes, &said);
    if (rc == 0) resolve_types(*out, *n, device, text, options.bytes);
    clt_text_release(&options);
    if (rc != CLT_E_OPENCL || !learn_names(d, said.message)) return *error = said, rc;
  }
}

int cli_init_build(clt_kernel_info **out, size_t *n, draft *d, const clt_device_info *device, const char *text,
                   const char *folder) {
  clt_error error = {0};
  return build_with(out, n, d, device, text, folder, false, &error) ? cli_report(&error) : 0;
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
  /* What was not found there may be what the default configuration declares. */
  if (build_with(&again, &n_again, d, device, text, folder, false, &error)) {
    d->n_macros = before.n_macros;
    while (d->options.n > before.options.n) {
      free(d->options.all[--d->options.n]);
      d->options.all[d->options.n] = NULL;
    }
  }
  free(again);
}
