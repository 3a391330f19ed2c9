/* What `clatune init` sees in the text of a kernel without a compiler. */
#include "cli/init.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const char *skip_blanks(const char *at) { return at + strspn(at, " \t"); }

/* Macros with a whole number: parameters where -D can change them. With a path, those that no -D can change, because
 * nothing asks whether they are defined, are noted on standard error. */
static void read_macros(draft *out, const char *text, const char *path) {
  clt_define *defines = NULL;
  size_t n = 0;
  if (clt_defines(&defines, &n, text, NULL)) return;
  for (size_t i = 0; i < n; i++) {
    const clt_define *d = &defines[i];
    const char *number = d->value + strspn(d->value, "(");
    char *end;
    int64_t value = strtoll(number, &end, 0);
    bool skipped = end == number || end[strspn(end, ") \tuU\r")] != '\0';
    for (size_t k = 0; k < out->n_macros; k++) skipped |= strcmp(out->macros[k].name, d->name) == 0;
    if (skipped || d->has_arguments) continue;
    if (d->guarded && out->n_macros < MAX_MACROS) {
      tuned_macro *m = &out->macros[out->n_macros++];
      memcpy(m->name, d->name, sizeof m->name);
      m->value = value;
    } else if (!d->guarded && path) {
      fprintf(
          stderr,
          "clatune: note: %s:%d: '#define %s %s' cannot be tuned; put '#ifndef %s' before it and '#endif' after it\n",
          path, d->line, d->name, d->value, d->name);
    }
  }
  free(defines);
}

void cli_init_read_text(draft *out, const char *text, const char *path) {
  static const char *const calls[] = {"get_global_id", "get_group_id", "get_local_id"};
  out->n_dimensions = 1;
  read_macros(out, text, path);
  /* The three expressions in the brackets; one that is too long or has brackets of its own is left alone. */
  const char *attribute = strstr(text, "reqd_work_group_size");
  const char *bracket = attribute ? strchr(attribute, '(') : NULL;
  for (int d = 0; bracket && d < 3; d++) {
    const char *begin = skip_blanks(bracket + 1), *end = begin + strcspn(begin, ",()");
    size_t n = (size_t)(end - begin);
    while (n && isspace((unsigned char)begin[n - 1])) n--;
    bool fits = n > 0 && n < sizeof out->required[d] && *end == (d < 2 ? ',' : ')');
    if (fits) memcpy(out->required[d], begin, n);
    if (!fits) memset(out->required, 0, sizeof out->required);
    bracket = fits ? end : NULL;
  }
  for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
    for (const char *at = strstr(text, calls[i]); at; at = strstr(at + 1, calls[i])) {
      const char *digit = skip_blanks(at + strlen(calls[i]));
      if (*digit == '(') digit = skip_blanks(digit + 1);
      if (*digit >= '0' && *digit <= '2' && *digit - '0' + 1 > out->n_dimensions) out->n_dimensions = *digit - '0' + 1;
      if (i > 0) out->uses_groups = true;
    }
}

static bool in_word(char c) { return isalnum((unsigned char)c) || c == '_'; }

/* The next place where a name is a whole word; NULL: none. */
static const char *next_word(const char *text, const char *at, const char *name) {
  while ((at = strstr(at, name)) != NULL && ((at > text && in_word(at[-1])) || in_word(at[strlen(name)]))) at++;
  return at;
}

static const char *before_blanks(const char *text, const char *at) {
  while (at > text && isspace((unsigned char)at[-1])) at--;
  return at;
}

static bool follows(const char *text, const char *at, const char *word) {
  size_t n = strlen(word);
  at = before_blanks(text, at);
  return (size_t)(at - text) >= n && strncmp(at - n, word, n) == 0;
}

bool cli_init_is_switch(const char *text, const char *name) {
  bool asked = false;
  if (strncasecmp(name, "use_", 4) == 0 || strncasecmp(name, "enable_", 7) == 0) return true;
  for (const char *at = text; (at = next_word(text, at, name)) != NULL; at++) {
    const char *next = skip_blanks(at + strlen(name)), *line = at;
    const char *open = follows(text, at, "(") ? before_blanks(text, at) - 1 : at;
    while (line > text && line[-1] != '\n') line--;
    if (follows(text, at, "define") || follows(text, at, "ifndef") || follows(text, at, "ifdef") ||
        follows(text, at, "undef") || follows(text, open, "defined"))
      continue;
    bool in_if = *skip_blanks(line) == '#' && follows(text, at, "if");
    bool is_term = in_if || follows(text, at, "!") || follows(text, at, "&&") || follows(text, at, "||") ||
                   (open < at && (follows(text, open, "if") || follows(text, open, "!") || follows(text, open, "(")));
    bool ends =
        *next == '\n' || *next == ')' || *next == '?' || strncmp(next, "&&", 2) == 0 || strncmp(next, "||", 2) == 0;
    if (*next != '?' && !(is_term && ends)) return false;
    asked = true;
  }
  return asked;
}

/* `< n`, `>= n`: the size that is n's; NULL: none. */
static const char *size_compared(const draft *d, const char *at) {
  at = skip_blanks(at);
  if (*at != '<' && *at != '>') return NULL;
  at = skip_blanks(at + 1 + (at[1] == '='));
  for (size_t i = 0; i < d->n_sizes; i++)
    if (next_word(d->plain, at, d->sizes[i] + strlen(PREFIX)) == at) return d->sizes[i];
  return NULL;
}

void cli_init_find_bounds(draft *d) {
  if (strstr(d->plain, "get_global_size")) return;
  if (d->n_dimensions == 1 && d->n_sizes == 1 && strstr(d->plain, "get_global_id")) d->bounds[0] = d->sizes[0];
  for (const char *at = d->plain; (at = next_word(d->plain, at, "get_global_id")) != NULL; at++) {
    const char *digit = skip_blanks(at + strcspn(at, "(") + 1), *close = skip_blanks(digit + 1);
    if (*digit < '0' || *digit > '2' || *close != ')' || d->bounds[*digit - '0']) continue;
    const char **bound = &d->bounds[*digit - '0'], *end = skip_blanks(close + 1), *equals = before_blanks(d->plain, at);
    *bound = size_compared(d, end);
    if (follows(d->plain, equals, ")")) /* a cast */
      while (equals > d->plain && *equals != '(') equals--;
    if ((*end != ';' && *end != ',') || !follows(d->plain, equals, "=")) continue;
    const char *name_end = before_blanks(d->plain, before_blanks(d->plain, equals) - 1), *begin = name_end;
    while (begin > d->plain && in_word(begin[-1])) begin--;
    char name[128];
    if (begin == name_end || (size_t)snprintf(name, sizeof name, "%.*s", (int)(name_end - begin), begin) >= sizeof name)
      continue;
    for (const char *use = end; *bound == NULL && (use = next_word(d->plain, use, name)) != NULL; use++)
      *bound = size_compared(d, use + strlen(name));
  }
}

bool cli_init_names_parameters(const draft *d, const char *expression) {
  for (const char *at = expression; *at;) {
    size_t n = 0;
    bool known = !isalpha((unsigned char)*at) && *at != '_';
    while (in_word(at[n])) n++;
    for (size_t i = 0; !known && i < d->n_macros; i++)
      known = strlen(d->macros[i].name) == n && strncmp(d->macros[i].name, at, n) == 0;
    if (!known) return false;
    at += n ? n : 1;
  }
  return expression[0] != '\0';
}
