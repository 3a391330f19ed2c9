#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/init.h"

static const char *skip_blanks(const char *at) {
  while (*at == ' ' || *at == '\t') at++;
  return at;
}

static bool read_whole_number(int64_t *out, const char *at) {
  char *end;
  while (*at == '(') at++;
  *out = strtoll(at, &end, 0);
  return end != at && end[strspn(end, ") \tuU\r")] == '\0';
}

/* Macros with a whole number: parameters where -D can change them. */
static void read_macros(cli_kernel_text *out, const char *text, const char *path) {
  clt_define *defines = NULL;
  size_t n = 0;
  int64_t value;
  if (clt_defines(&defines, &n, text, NULL)) return;
  for (size_t i = 0; i < n; i++) {
    const clt_define *d = &defines[i];
    bool known = false;
    for (size_t k = 0; k < out->n_macros; k++) known |= strcmp(out->macros[k].name, d->name) == 0;
    if (known || d->has_arguments || !read_whole_number(&value, d->value)) continue;
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

/* The three expressions in the brackets; one that is too long or has brackets of its own is left alone. */
static void read_required_size(cli_kernel_text *out, const char *text) {
  const char *at = strstr(text, "reqd_work_group_size");
  if (at) at = strchr(at, '(');
  if (at == NULL) return;
  for (int d = 0; d < 3; d++) {
    const char *begin = skip_blanks(at + 1), *end = begin + strcspn(begin, ",()");
    size_t n = (size_t)(end - begin);
    while (n && isspace((unsigned char)begin[n - 1])) n--;
    if (n == 0 || n >= sizeof out->required[d] || *end != (d < 2 ? ',' : ')')) {
      memset(out->required, 0, sizeof out->required);
      return;
    }
    memcpy(out->required[d], begin, n);
    at = end;
  }
}

void cli_kernel_text_read(cli_kernel_text *out, const char *text, const char *path) {
  static const char *const calls[] = {"get_global_id", "get_group_id", "get_local_id"};
  *out = (cli_kernel_text){.n_dimensions = 1};
  read_macros(out, text, path);
  read_required_size(out, text);
  for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
    for (const char *at = strstr(text, calls[i]); at; at = strstr(at + 1, calls[i])) {
      const char *digit = skip_blanks(at + strlen(calls[i]));
      if (*digit == '(') digit = skip_blanks(digit + 1);
      if (*digit >= '0' && *digit <= '2' && *digit - '0' + 1 > out->n_dimensions) out->n_dimensions = *digit - '0' + 1;
      if (i > 0) out->uses_groups = true;
    }
}
