#include "cli/init.h"
#include "device/device.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_name_byte(char c) { return isalnum((unsigned char)c) || c == '_'; }

static const char *skip_blanks(const char *at) {
  while (*at == ' ' || *at == '\t') at++;
  return at;
}

/* After "#word" at the beginning of a line: what follows it; NULL: the line is another one. */
static const char *after_directive(const char *line, const char *word) {
  line = skip_blanks(line);
  if (*line++ != '#') return NULL;
  line = skip_blanks(line);
  size_t n = strlen(word);
  return strncmp(line, word, n) == 0 && !is_name_byte(line[n]) ? skip_blanks(line + n) : NULL;
}

static bool read_name(char out[64], const char **at) {
  size_t n = 0;
  while (is_name_byte((*at)[n])) n++;
  if (n == 0 || n >= 64 || isdigit((unsigned char)**at)) return false;
  memcpy(out, *at, n);
  out[n] = '\0';
  *at += n;
  return true;
}

/* The name of "#ifndef NAME" or "#if !defined(NAME)". */
static bool read_guarded_name(char out[64], const char *line) {
  const char *at = after_directive(line, "ifndef");
  if (at) return read_name(out, &at);
  at = after_directive(line, "if");
  if (at == NULL || strncmp(at, "!defined", 8) != 0) return false;
  at = skip_blanks(at + 8);
  at = skip_blanks(at + (*at == '('));
  return read_name(out, &at);
}

static bool read_whole_number(int64_t *out, const char *at) {
  char *end;
  while (*at == '(') at++;
  *out = strtoll(at, &end, 0);
  if (end == at) return false;
  while (*end == ')' || *end == ' ' || *end == '\t' || *end == 'u' || *end == 'U') end++;
  return *end == '\n' || *end == '\r' || *end == '\0' || strncmp(end, "//", 2) == 0 || strncmp(end, "/*", 2) == 0;
}

static void read_macros(cli_kernel_text *out, const char *text) {
  char guarded[64] = "", name[64];
  for (const char *line = text, *end; *line && out->n_macros < CLI_MAX_MACROS; line = *end ? end + 1 : end) {
    end = line + strcspn(line, "\n");
    if (read_guarded_name(name, line)) {
      memcpy(guarded, name, sizeof guarded);
      continue;
    }
    const char *at = after_directive(line, "define");
    cli_macro *macro = &out->macros[out->n_macros];
    if (at == NULL || !read_name(name, &at) || strcmp(name, guarded) != 0) continue;
    guarded[0] = '\0';
    if (!read_whole_number(&macro->value, skip_blanks(at))) continue;
    memcpy(macro->name, name, sizeof name);
    out->n_macros++;
  }
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

void cli_kernel_text_read(cli_kernel_text *out, const char *text) {
  static const char *const calls[] = {"get_global_id", "get_group_id", "get_local_id"};
  *out = (cli_kernel_text){.n_dimensions = 1};
  read_macros(out, text);
  read_required_size(out, text);
  for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
    for (const char *at = strstr(text, calls[i]); at; at = strstr(at + 1, calls[i])) {
      const char *digit = skip_blanks(at + strlen(calls[i]));
      if (*digit == '(') digit = skip_blanks(digit + 1);
      if (*digit >= '0' && *digit <= '2' && *digit - '0' + 1 > out->n_dimensions) out->n_dimensions = *digit - '0' + 1;
      if (i > 0) out->uses_groups = true;
    }
}

void cli_note_fixed_macros(const char *path, const char *text) {
  clt_define *defines = NULL;
  size_t n = 0;
  int64_t number;
  if (clt_defines(&defines, &n, text, NULL)) return;
  for (size_t i = 0; i < n; i++)
    if (!defines[i].guarded && !defines[i].has_arguments && read_whole_number(&number, defines[i].value))
      fprintf(
          stderr,
          "clatune: note: %s:%d: '#define %s %s' cannot be tuned; put '#ifndef %s' before it and '#endif' after it\n",
          path, defines[i].line, defines[i].name, defines[i].value, defines[i].name);
  free(defines);
}
