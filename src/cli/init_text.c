/* What `clatune init` derives from a kernel's text without a compiler. */
#include <ctype.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/memory.h"
#include "cli/init.h"

/* --- the shape of the launch --- */

/* Replaces "get_group_id(0) * X + get_local_id(0)" and the like with "get_global_id(0)"; X is the work-group's size. */
static void read_group_products(draft *d) {
#define OF(call) call "[[:space:]]*\\([[:space:]]*([012])[[:space:]]*\\)"
#define SIZE "([A-Za-z_][A-Za-z0-9_]*|get_local_size[[:space:]]*\\([[:space:]]*[012][[:space:]]*\\))"
#define SIGN(sign) "[[:space:]]*\\" sign "[[:space:]]*"
  static const struct {
    const char *pattern;
    int group, size, local; /* numbers of the regular expression's groups */
  } forms[] = {{OF("get_group_id") SIGN("*") SIZE SIGN("+") OF("get_local_id"), 1, 2, 3},
               {SIZE SIGN("*") OF("get_group_id") SIGN("+") OF("get_local_id"), 2, 1, 3},
               {OF("get_local_id") SIGN("+") OF("get_group_id") SIGN("*") SIZE, 2, 3, 1},
               {OF("get_local_id") SIGN("+") SIZE SIGN("*") OF("get_group_id"), 3, 2, 1}};
  for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
    regex_t form;
    regmatch_t at[4];
    if (regcomp(&form, forms[i].pattern, REG_EXTENDED)) continue;
    for (char *text = d->plain; regexec(&form, text, 4, at, 0) == 0; text += at[0].rm_so + 1) {
      const char *before = cli_before_blanks(d->plain, text + at[0].rm_so), *after = text + at[0].rm_eo;
      const char group = text[at[forms[i].group].rm_so], local = text[at[forms[i].local].rm_so];
      const regmatch_t *size = &at[forms[i].size];
      if (group != local || (before > d->plain && before[-1] == '*') || clt_in_word(*after) ||
          *cli_skip_blanks(after) == '*')
        continue;
      snprintf(d->times_group[group - '0'], sizeof *d->times_group, "%.*s", (int)(size->rm_eo - size->rm_so),
               text + size->rm_so);
      memset(text + at[0].rm_so, ' ', (size_t)(at[0].rm_eo - at[0].rm_so));
      char call[] = "get_global_id(0)";
      *strchr(call, '0') = group;
      memcpy(text + at[0].rm_so, call, strlen(call));
    }
    regfree(&form);
  }
}

/* The dimension in the brackets after a call's name; moves *at behind them. -1: none. */
static int read_dimension(const char **at) {
  const char *digit = cli_skip_blanks(*at);
  if (*digit == '(') digit = cli_skip_blanks(digit + 1);
  if (*digit < '0' || *digit > '2') return -1;
  *at = cli_skip_blanks(digit + 1);
  return *digit - '0';
}

/* The reqd_work_group_size nearest before the kernel's name, or the last one if the kernel is not known yet. NULL:
 * none. */
static const char *find_attribute(const draft *d) {
  static const char word[] = "reqd_work_group_size";
  const char *first = strstr(d->plain, word), *last = NULL;
  const char *kernel = d->kernel ? clt_next_word(d->plain, d->plain, d->kernel->name) : NULL;
  while (kernel && *cli_skip_blanks(kernel + strlen(d->kernel->name)) != '(') /* the name may also occur in a #line */
    kernel = clt_next_word(d->plain, kernel + 1, d->kernel->name);
  for (const char *at = first; kernel && at && at < kernel; at = strstr(at + 1, word)) last = at;
  return last ? last : first;
}

void cli_init_read_shape(draft *d) {
  static const char *const calls[] = {"get_global_id", "get_group_id", "get_local_id"};
  d->n_dimensions = 1;
  d->uses_groups = false;
  memset(d->required, 0, sizeof d->required);
  /* Reads the three expressions in the brackets; ignores one that is too long or has brackets of its own. */
  const char *attribute = find_attribute(d);
  const char *bracket = attribute ? strchr(attribute, '(') : NULL;
  for (int k = 0; bracket && k < 3; k++) {
    const char *begin = cli_skip_blanks(bracket + 1), *end = begin + strcspn(begin, ",()");
    size_t n = (size_t)(end - begin);
    while (n && isspace((unsigned char)begin[n - 1])) n--;
    bool fits = n > 0 && n < sizeof d->required[k] && *end == (k < 2 ? ',' : ')');
    if (fits) memcpy(d->required[k], begin, n);
    if (!fits) memset(d->required, 0, sizeof d->required);
    for (size_t i = 0; fits && i < d->n_macros; i++)
      if (strcmp(d->required[k], d->macros[i].sets) == 0)
        memcpy(d->required[k], d->macros[i].name, sizeof *d->required);
    bracket = fits ? end : NULL;
  }
  for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
    for (const char *at = strstr(d->plain, calls[i]); at; at = strstr(at + 1, calls[i])) {
      const char *behind = at + strlen(calls[i]);
      const int dimension = read_dimension(&behind);
      if (dimension >= d->n_dimensions) d->n_dimensions = dimension + 1;
      if (i > 0) d->uses_groups = true;
    }
}

/* --- the kernel --- */

/* The place after the bracket that closes the one at a place; NULL: none. */
static char *behind_brackets(char *at, char open, char close) {
  for (int depth = 0; *at; at++) {
    depth += (*at == open) - (*at == close);
    if (*at == close && depth == 0) return at + 1;
  }
  return NULL;
}

static void blank(char *begin, const char *end) {
  for (; begin < end; begin++)
    if (*begin != '\n') *begin = ' ';
}

/* The beginning of the definition of the function whose name is at a place. */
static char *definition_of(char *text, const char *at) {
  char *begin = text + (at - text);
  while (begin > text && begin[-1] != ';' && begin[-1] != '}') {
    const char *line = --begin;
    while (*begin == '\n' && line > text && line[-1] != '\n') line--;
    if (*begin == '\n' && *cli_skip_blanks(line) == '#') break;
  }
  return begin;
}

/* Overwrites a kernel's definition with blanks, from the end of the preceding code. */
static void forget_kernel(char *text, const char *name) {
  for (const char *at = text; (at = clt_next_word(text, at, name)) != NULL; at++) {
    char *bracket = text + (at - text) + strlen(name);
    bracket += strspn(bracket, " \t\r\n");
    char *body = *bracket == '(' && cli_follows(text, at, "void") ? behind_brackets(bracket, '(', ')') : NULL;
    if (body) body += strspn(body, " \t\r\n");
    char *end = body && *body == '{' ? behind_brackets(body, '{', '}') : NULL,
         *begin = end ? definition_of(text, at) : NULL;
    if (end) blank(begin, end);
  }
}

/* The name of the function whose body begins at a place; NULL: it is no function's body. */
static char *function_of(char *text, const char *body, size_t *length) {
  const char *at = cli_before_blanks(text, body);
  int depth = 0;
  while (at > text) {
    at--;
    depth += (*at == ')') - (*at == '(');
    if (depth <= 0) break;
  }
  const char *end = cli_before_blanks(text, at), *begin = end;
  if (*at != '(') return NULL;
  while (begin > text && clt_in_word(begin[-1])) begin--;
  *length = (size_t)(end - begin);
  return *length ? text + (begin - text) : NULL;
}

/* Overwrites an empty condition with blanks: from #if to #endif, or its last branch. directive: at its #. True if it
 * was empty. */
static bool forget_condition(char *directive) {
  const char *word = cli_skip_blanks(directive + 1);
  char *end = directive + strcspn(directive, "\n"), *next = end + strspn(end, " \t\r\n");
  const bool is_if = clt_starts_with(word, "if");
  if (!is_if && !clt_starts_with(word, "el")) return false;
  if (*next != '#' || !clt_starts_with(cli_skip_blanks(next + 1), "endif")) return false;
  blank(directive, is_if ? next + strcspn(next, "\n") : end);
  return true;
}

/* Overwrites functions (except the kernel) and macros that are not used with blanks; true if there were any. */
static bool forget_unused_once(const draft *d) {
  bool any = false;
  for (char *at = d->plain, *end; *at; at = end) {
    char name[128], *begin;
    const char *directive = cli_skip_blanks(at);
    size_t n = 0;
    end = at + strcspn(at, "{\n");
    if (*directive == '#') {
      end = at + strcspn(at, "\n");
      const char *word = cli_skip_blanks(directive + 1);
      begin = d->plain + (cli_skip_blanks(word + strcspn(word, " \t\n")) - d->plain);
      while (clt_in_word(begin[n])) n++;
      if (!clt_starts_with(word, "define") || n == 0 || n >= sizeof name) begin = NULL;
    } else if (*end == '{') {
      begin = function_of(d->plain, end, &n);
      end = behind_brackets(end, '{', '}');
      if (end == NULL) return any;
    } else {
      begin = NULL;
    }
    if (*directive == '#') any |= forget_condition(d->plain + (directive - d->plain));
    if (*end == '\n') end++;
    if (begin == NULL || n >= sizeof name) continue;
    snprintf(name, sizeof name, "%.*s", (int)n, begin);
    const bool is_macro = *directive == '#';
    const char *first = clt_next_word(d->plain, d->plain, name);
    bool is_used = strcmp(name, d->kernel->name) == 0;
    if (is_macro)
      is_used |= clt_reads_macro(d->plain, name);
    else
      is_used |= first && clt_next_word(d->plain, first + 1, name) != NULL;
    char *from = is_macro ? begin + n : definition_of(d->plain, begin);
    if (is_used || from[strspn(from, " \t\r\n")] == '\0' || from + strspn(from, " \t\r\n") >= end) continue;
    blank(from, end);
    any = true;
  }
  return any;
}

/* It is no longer a parameter: builds that need it get its default. */
static void drop_macro(draft *d, size_t i) {
  const tuned_macro *m = &d->macros[i];
  if (!m->is_defined) clt_words_add(&d->options, clt_format("-D%s=%lld", m->name, (long long)m->value), NULL);
  memmove(d->macros + i, d->macros + i + 1, (--d->n_macros - i) * sizeof *d->macros);
}

void cli_init_read_kernel(draft *d, const clt_kernel_info *kernels, size_t n) {
  char *all = strdup(d->plain);
  bool is_read_anywhere[MAX_MACROS];
  if (all == NULL) return;
  for (size_t i = 0; i < d->n_macros; i++) is_read_anywhere[i] = clt_reads_macro(d->plain, d->macros[i].name);
  for (size_t i = 0; i < n; i++)
    if (strcmp(kernels[i].name, d->kernel->name) != 0) forget_kernel(d->plain, kernels[i].name);
  if (clt_next_word(d->plain, d->plain, d->kernel->name) == NULL) memcpy(d->plain, all, strlen(all));
  free(all);
  while (d->complete && forget_unused_once(d)) /* an application's text contains the functions of all its kernels */
    ;
  for (size_t i = d->n_macros; i-- > 0;)
    if (is_read_anywhere[i] && d->macros[i].list == NULL && !clt_reads_macro(d->plain, d->macros[i].name))
      drop_macro(d, i);
  read_group_products(d);
  cli_init_read_shape(d);
  for (int k = 0; k < 3; k++)
    if (d->kernel->local_size[k] > 1 && k >= d->n_dimensions) d->n_dimensions = k + 1;
  for (size_t i = 0; i < d->n_macros; i++) cli_init_choose_default(d, &d->macros[i]);
  /* The work-group's size is 1 along dimensions that the kernel does not use. */
  for (size_t i = d->n_macros; i-- > 0;)
    for (int k = d->n_dimensions; k < 3; k++) {
      if (d->macros[i].list || !cli_is_local_size(d->macros[i].name, k, 3)) continue;
      if (!d->macros[i].is_defined) d->macros[i].value = 1;
      drop_macro(d, i);
      break;
    }
}

/* `< n`, `>= n`: the problem parameter that n is; NULL: none. */
static const char *size_compared(const draft *d, const char *at) {
  at = cli_skip_blanks(at);
  if (*at != '<' && *at != '>') return NULL;
  at = cli_skip_blanks(at + 1 + (at[1] == '='));
  for (size_t i = 0; i < d->n_sizes; i++)
    if (clt_next_word(d->plain, at, cli_init_bare(d->sizes[i])) == at) return d->sizes[i];
  return NULL;
}

void cli_init_find_bounds(draft *d) {
  if (strstr(d->plain, "get_global_size")) return;
  if (d->n_dimensions == 1 && d->n_sizes == 1 && strstr(d->plain, "get_global_id")) d->bounds[0] = d->sizes[0];
  for (const char *at = d->plain; (at = clt_next_word(d->plain, at, "get_global_id")) != NULL; at++) {
    const char *close = at + strlen("get_global_id"), *equals = cli_before_blanks(d->plain, at);
    const int dimension = read_dimension(&close);
    if (dimension < 0 || *close != ')' || d->bounds[dimension]) continue;
    const char **bound = &d->bounds[dimension], *end = cli_skip_blanks(close + 1);
    *bound = size_compared(d, end);
    if (cli_follows(d->plain, equals, ")")) /* a cast */
      while (equals > d->plain && *equals != '(') equals--;
    if ((*end != ';' && *end != ',') || !cli_follows(d->plain, equals, "=")) continue;
    const char *name_end = cli_before_blanks(d->plain, cli_before_blanks(d->plain, equals) - 1), *begin = name_end;
    while (begin > d->plain && clt_in_word(begin[-1])) begin--;
    char name[128];
    if (begin == name_end || (size_t)snprintf(name, sizeof name, "%.*s", (int)(name_end - begin), begin) >= sizeof name)
      continue;
    for (const char *use = end; *bound == NULL && (use = clt_next_word(d->plain, use, name)) != NULL; use++)
      *bound = size_compared(d, use + strlen(name));
  }
}

bool cli_init_names_parameters(const draft *d, const char *expression) {
  for (const char *at = expression; *at;) {
    size_t n = 0;
    bool known = !isalpha((unsigned char)*at) && *at != '_';
    while (clt_in_word(at[n])) n++;
    for (size_t i = 0; !known && i < d->n_macros; i++)
      known = strlen(d->macros[i].name) == n && strncmp(d->macros[i].name, at, n) == 0;
    if (!known) return false;
    at += n ? n : 1;
  }
  return expression[0] != '\0';
}

bool cli_init_has_rows(const draft *d, const char *array) {
  for (const char *at = d->plain; (at = clt_next_word(d->plain, at, array)) != NULL; at++) {
    const char *index = cli_skip_blanks(at + strlen(array));
    for (int depth = 0; *index == '[' || (depth > 0 && *index); index++) {
      depth += (*index == '[') - (*index == ']');
      if (*index == '*' || strncmp(index, "<<", 2) == 0) return true;
    }
  }
  return false;
}
