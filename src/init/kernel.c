/* Facts from the kernel's text about its launch and its arrays. */
#include <ctype.h>
#include <regex.h>
#include <strings.h>

#include "base/base.h"
#include "init/init.h"

/* --- the shape of the launch --- */

/* Replaces "get_group_id(0) * X + get_local_id(0)" and the like with "get_global_id(0)"; X is the work-group's size. */
static void read_group_products(clt_draft *d) {
#define CALL(call) call "[[:space:]]*\\([[:space:]]*([012])[[:space:]]*\\)"
#define SIGN(sign) "[[:space:]]*\\" sign "[[:space:]]*"
#define SIZE "([A-Za-z_][A-Za-z0-9_]*|get_local_size[[:space:]]*\\([[:space:]]*[012][[:space:]]*\\))"
  static const struct {
    const char *pattern;
    int group, size, local; /* numbers of the regular expression's groups */
  } forms[] = {{CALL("get_group_id") SIGN("*") SIZE SIGN("+") CALL("get_local_id"), 1, 2, 3},
               {SIZE SIGN("*") CALL("get_group_id") SIGN("+") CALL("get_local_id"), 2, 1, 3},
               {CALL("get_local_id") SIGN("+") CALL("get_group_id") SIGN("*") SIZE, 2, 3, 1},
               {CALL("get_local_id") SIGN("+") SIZE SIGN("*") CALL("get_group_id"), 3, 2, 1}};
  for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
    regex_t form;
    regmatch_t at[4];
    if (regcomp(&form, forms[i].pattern, REG_EXTENDED)) continue;
    for (char *text = d->plain; regexec(&form, text, 4, at, 0) == 0; text += at[0].rm_so + 1) {
      const char *before = clt_before_blanks(d->plain, text + at[0].rm_so), *after = text + at[0].rm_eo;
      const char group = text[at[forms[i].group].rm_so], local = text[at[forms[i].local].rm_so];
      const regmatch_t *size = &at[forms[i].size];
      if (group != local || (before > d->plain && before[-1] == '*') || clt_in_word(*after) ||
          *clt_skip_blanks(after) == '*')
        continue;
      clt_snprintf(d->times_group[group - '0'], sizeof *d->times_group, "%.*s", (int)(size->rm_eo - size->rm_so),
                   text + size->rm_so);
      char call[] = "get_global_id(0)";
      *strchr(call, '0') = group;
      memset(text + at[0].rm_so, ' ', (size_t)(at[0].rm_eo - at[0].rm_so));
      memcpy(text + at[0].rm_so, call, strlen(call));
    }
    regfree(&form);
  }
}

/* The dimension in the brackets after a call's name; moves *at behind the digit. -1: none. */
static int read_dimension(const char **at) {
  const char *digit = clt_skip_blanks(*at);
  if (*digit == '(') digit = clt_skip_blanks(digit + 1);
  if (*digit < '0' || *digit > '2') return -1;
  *at = clt_skip_blanks(digit + 1);
  return *digit - '0';
}

/* The kernel's name in its declaration; it may also occur in a #line. NULL: not found, or there is no kernel yet. */
static const char *find_declaration(const clt_draft *d) {
  const char *at = d->kernel ? clt_next_word(d->plain, d->plain, d->kernel->name) : NULL;
  while (at && at[strlen(d->kernel->name) + strspn(at + strlen(d->kernel->name), " \t\r\n")] != '(')
    at = clt_next_word(d->plain, at + 1, d->kernel->name);
  return at;
}

void clt_draft_read_shape(clt_draft *d) {
  static const char *const calls[] = {"get_global_id", "get_group_id", "get_local_id"};
  d->n_dimensions = 1;
  d->uses_groups = false;
  memset(d->required, 0, sizeof d->required);
  /* Reads the three expressions in the brackets of the attribute nearest before the kernel's name, or of the first one;
   * ignores one that is too long or has brackets of its own. */
  static const char word[] = "reqd_work_group_size";
  const char *attribute = strstr(d->plain, word), *kernel = find_declaration(d);
  for (const char *at = attribute; kernel && at && at < kernel; at = strstr(at + 1, word)) attribute = at;
  const char *bracket = attribute ? strchr(attribute, '(') : NULL;
  for (int k = 0; bracket && k < 3; k++) {
    const char *begin = clt_skip_blanks(bracket + 1), *end = begin + strcspn(begin, ",()");
    const size_t n = (size_t)(clt_before_blanks(begin, end) - begin);
    const bool fits = n > 0 && n < sizeof d->required[k] && *end == (k < 2 ? ',' : ')');
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

/* --- the functions that the kernel reaches --- */

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

/* The name of the function whose body begins at a place; NULL: it is no function's body. */
static char *function_of(char *text, const char *body, size_t *length) {
  const char *at = clt_before_blanks(text, body);
  int depth = 0;
  while (at > text) {
    at--;
    depth += (*at == ')') - (*at == '(');
    if (depth <= 0) break;
  }
  const char *end = clt_before_blanks(text, at), *begin = end;
  if (*at != '(') return NULL;
  while (begin > text && clt_in_word(begin[-1])) begin--;
  *length = (size_t)(end - begin);
  return *length ? text + (begin - text) : NULL;
}

/* Overwrites an empty condition with blanks: from #if to #endif, or its last branch. directive: at its #. True if it
 * was empty. */
static bool forget_condition(char *directive) {
  const char *word = clt_skip_blanks(directive + 1);
  char *end = directive + strcspn(directive, "\n"), *next = end + strspn(end, " \t\r\n");
  const bool is_if = clt_starts_with(word, "if");
  if (!is_if && !clt_starts_with(word, "el")) return false;
  if (*next != '#' || !clt_starts_with(clt_skip_blanks(next + 1), "endif")) return false;
  blank(directive, is_if ? next + strcspn(next, "\n") : end);
  return true;
}

/* Whether a function is the kernel, or is called; other kernels are not. */
static bool is_reached(const clt_draft *d, const char *function) {
  if (strcmp(function, d->kernel->name) == 0) return true;
  for (size_t i = 0; i < d->n_kernels; i++)
    if (strcmp(function, d->kernels[i].name) == 0) return false;
  const char *first = clt_next_word(d->plain, d->plain, function);
  return first && clt_next_word(d->plain, first + 1, function) != NULL;
}

/* Overwrites functions and macros that are not reached with blanks; true if there were any. */
static bool forget_unreached(const clt_draft *d) {
  bool any = false;
  for (char *begin = d->plain, *end; *(begin += strspn(begin, " \t\r\n")); begin = end) {
    const bool is_directive = *begin == '#';
    char name[128], *at = NULL;
    size_t n = 0;
    end = begin + strcspn(begin, is_directive ? "\n" : ";{\n");
    while (!is_directive && *end == '\n' && *clt_skip_blanks(end + 1) != '#') end += 1 + strcspn(end + 1, ";{\n");
    if (is_directive) {
      const char *word = clt_skip_blanks(begin + 1), *defined = clt_skip_blanks(word + strcspn(word, " \t\n"));
      any |= forget_condition(begin);
      if (clt_starts_with(word, "define")) at = begin + (defined - begin);
      while (at && clt_in_word(at[n])) n++;
    } else if (*end == '{') {
      at = function_of(d->plain, end, &n);
      end = behind_brackets(end, '{', '}');
      if (end == NULL) return any;
    }
    if (*end == ';') end++;
    if (at == NULL || n == 0 || n >= sizeof name) continue;
    clt_snprintf(name, sizeof name, "%.*s", (int)n, at);
    if (is_directive ? clt_reads_macro(d->plain, name) : is_reached(d, name)) continue;
    char *from = is_directive ? at + n : begin;
    if (from + strspn(from, " \t\r\n") >= end) continue;
    blank(from, end);
    any = true;
  }
  return any;
}

void clt_draft_read_kernel(clt_draft *d) {
  while (forget_unreached(d)) {
  }
  read_group_products(d);
  clt_draft_read_shape(d);
  for (int k = 0; k < 3; k++)
    if (d->kernel->local_size[k] > 1 && k >= d->n_dimensions) d->n_dimensions = k + 1;
  for (size_t i = 0; i < d->n_macros; i++) clt_draft_choose_default(d, &d->macros[i]);
  for (size_t i = d->n_macros; i-- > 0;) {
    clt_draft_macro *m = &d->macros[i];
    bool is_group = false, beyond = false; /* beyond the kernel's dimensions, the work-group's size is 1 */
    for (int k = 0; k < d->n_dimensions; k++) is_group |= clt_draft_local_size(d, k) == m;
    for (int k = d->n_dimensions; k < 3; k++) beyond |= clt_draft_is_local_size(m->name, k, 3);
    const bool reached = d->knows_reached ? m->is_reached : clt_reads_macro(d->plain, m->name);
    if (m->list || (!beyond && (is_group || reached))) continue;
    if (beyond && !m->is_defined) m->value = 1;
    /* It is no longer a parameter: builds that need it get its default. */
    if (!m->is_defined) clt_words_add(&d->options, clt_format("-D%s=%lld", m->name, (long long)m->value), NULL);
    memmove(m, m + 1, (--d->n_macros - i) * sizeof *m);
  }
  const char *name = find_declaration(d);
  char *end = name ? behind_brackets(d->plain + (name - d->plain), '(', ')') : NULL,
       *open = end ? strchr(end, '{') : NULL;
  end = open ? behind_brackets(open, '{', '}') : NULL;
  d->body = end ? strndup(open, (size_t)(end - open)) : strdup(d->plain);
}

/* --- comparisons with sizes --- */

/* A size's name as it is written in the kernel. */
static const char *written(const char *size) {
  return size + (clt_starts_with(size, CLT_DRAFT_PREFIX) ? strlen(CLT_DRAFT_PREFIX) : 0);
}

/* `< n`, `>= n`, `< n - 1`: the problem parameter that n is; NULL: none. */
static const char *compared_size(const clt_draft *d, const char *at) {
  at = clt_skip_blanks(at);
  if (*at != '<' && *at != '>') return NULL;
  at = clt_skip_blanks(at + 1 + (at[1] == '='));
  for (size_t i = 0; i < d->n_sizes; i++) {
    const char *name = written(d->sizes[i]);
    if (clt_next_word(d->body, at, name) == at && !strchr("*/%+<>", *clt_skip_blanks(at + strlen(name))))
      return d->sizes[i];
  }
  return NULL;
}

/* Whether a name is compared at a place: i < n, n > i. *loops: as a loop's condition, for (...; i < n; ...). */
static bool is_compared(const char *text, const char *at, const char *name, bool *loops) {
  const char *before = clt_before_blanks(text, at), *after = clt_skip_blanks(at + strlen(name));
  if (before > text && before[-1] == '=') before--;
  const bool left = before > text && strchr("<>", before[-1]) && !(before - 1 > text && before[-2] == before[-1]);
  int depth = 0;
  *loops = false;
  if (!left && !(strchr("<>", *after) && after[1] != *after)) return false;
  for (at = before; at > text && depth >= 0 && !strchr("{}&|?,=", at[-1]) && !*loops; at--) {
    depth += (at[-1] == ')') - (at[-1] == '(');
    *loops = at[-1] == ';';
  }
  *loops |= depth < 0 && clt_follows(text, at, "while");
  return true;
}

static bool is_compared_so(const clt_draft *d, const char *name, bool in_loop) {
  bool loops;
  for (const char *at = d->body; (at = clt_next_word(d->body, at, name)) != NULL; at++)
    if (is_compared(d->body, at, name, &loops) && loops == in_loop) return true;
  return false;
}

bool clt_draft_compares(const clt_draft *d, const char *name) {
  return is_compared_so(d, name, true) || is_compared_so(d, name, false);
}

bool clt_draft_tests_edge(const clt_draft *d, const char *size) { return is_compared_so(d, written(size), false); }

bool clt_draft_loops_over(const clt_draft *d, const char *size) {
  return is_compared_so(d, written(size), true) && strstr(d->body, "get_global_size") == NULL;
}

/* --- indices --- */

/* Whether each work-item computes several results: an id is multiplied by a parameter, or divided. after: its end. */
static bool is_scaled(const clt_draft *d, const char *after) {
  after = clt_skip_blanks(after);
  if (*after == '/') return true;
  if (*after != '*') return false;
  after = clt_skip_blanks(after + 1);
  for (size_t i = 0; i < d->n_macros; i++)
    if (!d->macros[i].is_size && clt_next_word(d->body, after, d->macros[i].name) == after) return true;
  return false;
}

/* The variable that gets the value of a call that ends at `end`: "row" in `int row = (int)get_global_id(0);`. */
static bool read_variable(char out[128], const clt_draft *d, const char *call, const char *end) {
  const char *equals = clt_before_blanks(d->body, call);
  end = clt_skip_blanks(end);
  if (clt_follows(d->body, equals, ")")) /* a cast */
    while (equals > d->body && *equals != '(') equals--;
  if ((*end != ';' && *end != ',') || !clt_follows(d->body, equals, "=")) return false;
  const char *name_end = clt_before_blanks(d->body, clt_before_blanks(d->body, equals) - 1), *begin = name_end;
  while (begin > d->body && clt_in_word(begin[-1])) begin--;
  return begin < name_end && clt_snprintf(out, 128, "%.*s", (int)(name_end - begin), begin) < 128;
}

const char *clt_draft_size_along(const clt_draft *d, int dimension) {
  static const char *const names[2][6] = {{"width", "w", "nx", "cols", "columns", "n"},
                                          {"height", "h", "ny", "rows", "m", NULL}};
  const char *last = NULL;
  int n = 0;
  for (size_t i = 0; i < d->n_sizes; i++) {
    if (clt_draft_small_size(written(d->sizes[i])) >= 0) continue; /* a radius */
    last = d->sizes[i];
    n++;
  }
  if (n == 1) return last;
  if (n != d->n_dimensions || n == 1 || dimension > 1) return NULL;
  for (size_t k = 0; k < 6 && names[dimension][k]; k++)
    for (size_t i = 0; i < d->n_sizes; i++)
      if (strcasecmp(written(d->sizes[i]), names[dimension][k]) == 0) return d->sizes[i];
  return NULL;
}

void clt_draft_find_global(clt_draft *d) {
  static const char call[] = "get_global_id";
  bool used[3] = {false}, scaled[3] = {false}, any_varies = false;
  char name[128];
  for (size_t i = 0; i < d->kernel->n_arguments; i++) any_varies |= d->varies[i];
  if (strstr(d->body, "get_global_size")) return; /* it works with any number of work-items */
  for (const char *at = d->body; (at = clt_next_word(d->body, at, call)) != NULL; at++) {
    const char *end = at + strlen(call);
    const int k = read_dimension(&end);
    if (k < 0 || *end != ')') continue;
    used[k] = true;
    scaled[k] |= is_scaled(d, ++end);
    if (d->global[k] == NULL) d->global[k] = compared_size(d, end);
    if (!read_variable(name, d, at, end)) continue;
    for (const char *use = end; (use = clt_next_word(d->body, use, name)) != NULL; use++) {
      if (d->global[k] == NULL) d->global[k] = compared_size(d, use + strlen(name));
      scaled[k] |= is_scaled(d, use + strlen(name));
    }
  }
  for (int k = 0; k < d->n_dimensions; k++) {
    const bool plain = (d->n_dimensions == 1 && used[k]) || !d->uses_groups;
    if (d->global[k] == NULL && plain && !scaled[k] && !any_varies) d->global[k] = clt_draft_size_along(d, k);
  }
}

bool clt_draft_bound(char out[64], const clt_draft *d, const char *at, const char **end) {
  char name[64];
  size_t n = 0;
  int64_t value;
  at = clt_skip_blanks(at);
  while (clt_in_word(at[n])) n++;
  *end = at + n;
  if (n == 0 || clt_snprintf(name, sizeof name, "%.*s", (int)n, at) >= (int)sizeof name) return false;
  for (size_t i = 0; i < d->n_sizes; i++)
    if (strcmp(written(d->sizes[i]), name) == 0) return clt_snprintf(out, 64, "%s", d->sizes[i]) < 64;
  if (strspn(name, "0123456789") == n) return clt_snprintf(out, 64, "%s", name) < 64;
  return clt_draft_constant(&value, d, name) && clt_snprintf(out, 64, "%lld", (long long)value) < 64;
}

/* Whether an index has an upper bound in the comparison that follows its name. *known: it could be read into out.
 * Numbers count in loops only: others are often positions, as in x < 2. */
static bool has_bound(char out[64], bool *known, const clt_draft *d, const char *at) {
  const char *end;
  char bound[64];
  at = clt_skip_blanks(at);
  const bool less = *at == '<';
  if ((!less && *at != '>') || at[1] == *at) return false;
  at = clt_skip_blanks(at + 1 + (at[1] == '='));
  const bool read = clt_draft_bound(bound, d, at, &end);
  const char *next = clt_skip_blanks(end);
  const bool readable = read && !strchr("*/%+<>[(.", *next);
  const bool is_bound = isdigit((unsigned char)*at) ? less && *next == ';' : less || readable;
  if (!is_bound) return false; /* as in x > 0, after which an earlier one counts */
  *known = readable;
  if (readable) memcpy(out, bound, sizeof bound);
  return true;
}

bool clt_draft_limit(char out[64], const clt_draft *d, const char *name, const char *use) {
  static const char call[] = "get_global_id";
  char variable[128];
  const char *closed = clt_starts_with(name, call) ? strchr(name, ')') : NULL;
  const bool is_call = closed && closed[1] == '\0'; /* and nothing behind it */
  bool found = false, known = false;
  for (const char *at = d->body; (at = clt_next_word(d->body, at, name)) != NULL && !(found && at >= use); at++)
    found |= has_bound(out, &known, d, at + strlen(name));
  if (found) return known;
  for (const char *at = d->body; (at = clt_next_word(d->body, at, call)) != NULL; at++) {
    const char *end = at + strlen(call);
    const int k = read_dimension(&end);
    if (k < 0 || d->global[k] == NULL || *end != ')') continue;
    const bool is_it = read_variable(variable, d, at, end + 1) && strcmp(variable, name) == 0;
    if (is_it || (is_call && at == use)) return clt_snprintf(out, 64, "%s", d->global[k]) < 64;
  }
  return false;
}
