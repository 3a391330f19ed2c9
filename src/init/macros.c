/* Which macros of a kernel file become parameters, and their values. */
#include <ctype.h>
#include <strings.h>

#include "base/base.h"
#include "init/init.h"

#define MAX_NUMBERS 16
#define USUAL_MOST 1024              /* largest power of two proposed, unless the default is larger */
#define MAX_POWER ((int64_t)1 << 40) /* a larger default is not a size */
#define MAX_VECTOR 16                /* elements in OpenCL's widest vector */
#define MAX_SQUARE 32                /* a larger square exceeds the work-groups of most devices */

const char *clt_skip_blanks(const char *at) { return at + strspn(at, " \t"); }

const char *clt_before_blanks(const char *text, const char *at) {
  while (at > text && isspace((unsigned char)at[-1])) at--;
  return at;
}

bool clt_follows(const char *text, const char *at, const char *word) {
  const size_t n = strlen(word);
  at = clt_before_blanks(text, at);
  return (size_t)(at - text) >= n && strncmp(at - n, word, n) == 0;
}

/* --- how the text uses a macro --- */

/* Whether a place is in a line with #if or #elif. */
static bool in_condition(const char *text, const char *at) {
  while (at > text && at[-1] != '\n') at--;
  at = clt_skip_blanks(at);
  if (*at != '#') return false;
  at = clt_skip_blanks(at + 1);
  return (clt_starts_with(at, "if") && !clt_in_word(at[2])) || clt_starts_with(at, "elif");
}

static bool is_asked(const char *text, const char *name) {
  for (const char *at = text; (at = clt_next_word(text, at, name)) != NULL; at++)
    if (in_condition(text, at) && clt_reads_macro_at(text, at)) return true;
  return false;
}

/* The place after == or !=; NULL: there is neither. */
static const char *after_equality(const char *at) {
  return clt_starts_with(at, "==") || clt_starts_with(at, "!=") ? clt_skip_blanks(at + 2) : NULL;
}

/* The numbers that #if compares a macro with (== and !=), in ascending order. */
static size_t compared_numbers(int64_t out[MAX_NUMBERS], const char *text, const char *name) {
  size_t n = 0;
  for (const char *at = text; (at = clt_next_word(text, at, name)) != NULL && n < MAX_NUMBERS; at++) {
    const char *next = after_equality(clt_skip_blanks(at + strlen(name)));
    char *end;
    if (next == NULL || !in_condition(text, at)) continue;
    const int64_t number = strtoll(next, &end, 0);
    if (end == next) continue;
    size_t i = n;
    while (i && out[i - 1] > number) i--;
    if (i && out[i - 1] == number) continue;
    memmove(out + i + 1, out + i, (n++ - i) * sizeof *out);
    out[i] = number;
  }
  return n;
}

/* Whether a macro is only tested at a place: #if X, if (X && !Y), X ? a : b, X == 1. */
static bool is_test(const char *text, const char *at, size_t length) {
  const char *next = clt_skip_blanks(at + length), *number = after_equality(next),
             *before = clt_before_blanks(text, at);
  if (number) return (*number == '0' || *number == '1') && !clt_in_word(number[1]);
  if (*next == '?') return true;
  while (before > text && strchr("(!", before[-1])) before = clt_before_blanks(text, before - 1);
  const bool begins =
      clt_follows(text, before, "if") || clt_follows(text, before, "&&") || clt_follows(text, before, "||");
  return begins && (strchr("\n)", *next) || clt_starts_with(next, "&&") || clt_starts_with(next, "||"));
}

/* Whether a macro is a switch, by its name or because it is only ever tested. */
static bool is_switch(const char *text, const char *name) {
  bool any = false;
  if (strncasecmp(name, "use_", 4) == 0 || strncasecmp(name, "enable_", 7) == 0) return true;
  for (const char *at = text; (at = clt_next_word(text, at, name)) != NULL; at++) {
    if (!clt_reads_macro_at(text, at)) continue;
    if (!is_test(text, at, strlen(name))) return false;
    any = true;
  }
  return any;
}

/* --- the meaning of its name --- */

static bool is_one_of(const char *name, const char *const *parts, size_t n) {
  for (size_t i = 0; i < n; i++)
    if (strcasestr(name, parts[i])) return true;
  return false;
}
#define IS_ONE_OF(name, parts) is_one_of(name, parts, sizeof(parts) / sizeof *(parts))

static const char *const tuned_parts[] = {"tile", "block", "vec", "simd", "warp", "group", "local", "unroll", "per_"};

bool clt_draft_is_called_as_size(const char *name) {
  static const char *const names[] = {"n",  "m",  "k",  "l",  "w",  "h",  "nx",   "ny",  "nz",
                                      "ni", "nj", "nk", "nl", "nm", "np", "size", "cols"};
  static const char *const endings[] = {"width",  "height",       "depth", "rows", "columns", "bins",
                                        "length", "problem_size", "_cols", "_dim", "_count"};
  if (IS_ONE_OF(name, tuned_parts)) return false;
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (strcasecmp(name, names[i]) == 0) return true;
  for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
    if (strlen(name) >= strlen(endings[i]) && strcasecmp(name + strlen(name) - strlen(endings[i]), endings[i]) == 0)
      return true;
  return strncasecmp(name, "size_", 5) == 0;
}

int clt_draft_small_size(const char *name) {
  static const struct {
    const char *part;
    int value;
  } small[] = {{"offset", 0}, {"start", 0},  {"iter", 1},   {"border", 1},
               {"halo", 1},   {"radius", 3}, {"filter", 5}, {"mask", 5}};
  for (size_t i = 0; i < sizeof small / sizeof *small; i++)
    if (strcasestr(name, small[i].part) && !IS_ONE_OF(name, tuned_parts)) return small[i].value;
  return -1;
}

/* Whether a macro selects the data type, by its name, or because #if compares it with numbers that are no vector width:
 * #if PRECISION == 32. */
static bool selects_type(const char *plain, const char *name) {
  static const char *const kinds[] = {"precision", "type", "fp16", "fp64", "use_double"};
  int64_t numbers[MAX_NUMBERS];
  const size_t n = compared_numbers(numbers, plain, name);
  return IS_ONE_OF(name, kinds) || (n > 0 && numbers[n - 1] > MAX_VECTOR && !IS_ONE_OF(name, tuned_parts));
}

/* Whether a macro changes the result. A small value of a macro that is called like a size is more likely the work per
 * item, except that of N. */
static bool changes_result(const char *plain, const char *name, int64_t value) {
  return (clt_draft_is_called_as_size(name) && (value >= 32 || strlen(name) <= 2)) || clt_draft_small_size(name) >= 0 ||
         selects_type(plain, name);
}

bool clt_draft_may_tune(const char *plain, const char *name, int64_t value) {
  return clt_reads_macro(plain, name) && !changes_result(plain, name, value);
}

int clt_draft_usual_size(const clt_draft *d, const char *name, size_t nth) {
  static const int sizes[] = {1024, 768, 512}; /* unequal, so that swapped sizes are noticed */
  const int small = clt_draft_small_size(name);
  if (small >= 0) return small;
  return sizes[nth % 3] / (d->n_dimensions == 3 ? 8 : 1); /* a volume of 1.6 GB is too much to start with */
}

bool clt_draft_is_local_size(const char *macro, int dimension, int n_dimensions) {
  static const char *const stems[] = {"local_size",
                                      "local",
                                      "wg_size",
                                      "wg",
                                      "wgs",
                                      "group_size",
                                      "block_size",
                                      "workgroup_size",
                                      "work_group_size",
                                      "block",
                                      "dim_",
                                      "threads",
                                      "num_threads",
                                      "number_threads",
                                      "dim_local_work_group",
                                      "dim_thread_block",
                                      "tb"};
  static const char letters[] = "xyz";
  for (size_t i = 0; i < sizeof stems / sizeof *stems; i++) {
    const size_t n = strlen(stems[i]);
    if (strncasecmp(macro, stems[i], n) != 0) continue;
    const char *suffix = macro + n + (macro[n] == '_');
    if (suffix[0] == '\0' && macro[n] == '\0' && n_dimensions == 1) return true;
    if (suffix[0] && suffix[1] == '\0' && ((suffix[0] | 32) == letters[dimension] || suffix[0] == '0' + dimension))
      return true;
  }
  return false;
}

const clt_draft_macro *clt_draft_local_size(const clt_draft *d, int dimension) {
  const clt_draft_macro *called = NULL, *square = NULL;
  bool any_called = false;
  for (const clt_draft_macro *m = d->macros; m < d->macros + d->n_macros; m++) {
    const char *names[] = {m->name, m->sets};
    for (int k = 0; k < 2 && names[k][0] && !m->is_size && !is_switch(d->plain, m->name); k++) {
      if (strcmp(names[k], d->times_group[dimension]) == 0) return m;
      for (int other = 0; other < 3; other++) any_called |= clt_draft_is_local_size(names[k], other, d->n_dimensions);
      if (called == NULL && clt_draft_is_local_size(names[k], dimension, d->n_dimensions)) called = m;
      if (square == NULL && m->value <= MAX_SQUARE && clt_draft_is_local_size(names[k], 0, 1)) square = m;
    }
  }
  return called || any_called || d->n_dimensions != 2 ? called : square;
}

static bool is_work_group(const clt_draft *d, const clt_draft_macro *m) {
  for (int k = 0; k < 3; k++)
    if (clt_draft_local_size(d, k) == m || clt_next_word(d->required[k], d->required[k], m->name)) return true;
  return false;
}

/* --- values --- */

/* The values of --define NAME=1,2: numbers if all are, else texts. */
static json_t *typed_values(const char *list) {
  json_t *numbers = json_array(), *texts = json_array();
  for (const char *at = list; at; at = at[strcspn(at, ",")] ? at + strcspn(at, ",") + 1 : NULL) {
    json_t *text = json_stringn(at, strcspn(at, ","));
    const char *typed = json_string_value(text);
    char *end = NULL;
    const long long integer = typed ? strtoll(typed, &end, 0) : 0;
    json_t *value = end && *end == '\0' ? json_integer(integer) : json_loads(typed ? typed : "", JSON_DECODE_ANY, NULL);
    if (json_is_number(value)) json_array_append(numbers, value);
    json_array_append_new(texts, text);
    json_decref(value);
  }
  const bool all_numbers = json_array_size(numbers) == json_array_size(texts);
  json_decref(all_numbers ? texts : numbers);
  return all_numbers ? numbers : texts;
}

json_t *clt_draft_values(const clt_draft *d, const clt_draft_macro *m) {
  int64_t numbers[MAX_NUMBERS + 1], first = m->value, last = m->value;
  if (m->list) return typed_values(m->list);
  json_t *list = json_array();
  /* The numbers that it is compared with, and a smaller one for the #else branch: its default, or 1. */
  size_t n = is_work_group(d, m) ? 0 : compared_numbers(numbers, d->plain, m->name);
  if (n > 1 && numbers[n - 1] > 1) {
    bool has_default = !m->is_defined && !m->is_given;
    const int64_t other = !has_default && m->value < 1 ? m->value : 1;
    if (numbers[0] > other) {
      memmove(numbers + 1, numbers, n++ * sizeof *numbers);
      numbers[0] = other;
    }
    for (size_t i = 0; i < n; i++) has_default |= numbers[i] == m->value;
    for (size_t i = 0; has_default && i < n; i++) json_array_append_new(list, json_integer(numbers[i]));
    if (has_default) return list;
  }
  /* 0 and 1 for a switch, powers of two around a power of two, otherwise the value alone. */
  if (m->value == 0 || (m->value == 1 && is_switch(d->plain, m->name))) {
    first = 0;
    last = 1;
  } else if (m->value > 0 && m->value <= MAX_POWER && (m->value & (m->value - 1)) == 0) {
    first = m->value > 8 ? m->value / 8 : 1;
    last = m->value > USUAL_MOST ? m->value : m->value > USUAL_MOST / 8 ? USUAL_MOST : 8 * m->value;
  }
  for (int64_t v = first;; v += v > 0 ? v : 1) {
    json_array_append_new(list, json_integer(v));
    if (v >= last) return list;
  }
}

const char *clt_draft_type(const json_t *values) {
  const char *type = "int";
  for (size_t i = 0; i < json_array_size(values); i++) {
    const json_t *value = json_array_get(values, i);
    const json_int_t integer = json_integer_value(value); /* 0: not an integer */
    if (json_is_string(value)) return "string";
    if (json_is_real(value)) type = "float";
    if (strcmp(type, "int") == 0 && (integer < INT32_MIN || integer > INT32_MAX)) type = "long";
  }
  return type;
}

/* --- finding them --- */

clt_draft_macro *clt_draft_macro_named(const clt_draft *d, const char *name) {
  for (size_t i = 0; i < d->n_macros; i++)
    if (strcmp(d->macros[i].name, name) == 0) return (clt_draft_macro *)&d->macros[i];
  return NULL;
}

bool clt_draft_has_macro(const clt_draft *d, const char *name) {
  const size_t n = strlen(name);
  for (size_t i = 0; i < d->options.n; i++) {
    const char *option = d->options.all[i] + strlen("-D");
    if (strncmp(option, name, n) == 0 && (option[n] == '=' || option[n] == '\0')) return true;
  }
  return clt_draft_macro_named(d, name) != NULL;
}

/* NULL: it is known already, there are too many, or its name is too long. */
static clt_draft_macro *add_macro(clt_draft *d, const char *name) {
  clt_draft_macro *m = &d->macros[d->n_macros];
  if (d->n_macros == CLT_DRAFT_MACROS || strlen(name) >= sizeof m->name || clt_draft_has_macro(d, name)) return NULL;
  *m = (clt_draft_macro){.is_asked = is_asked(d->plain, name)};
  memcpy(m->name, name, strlen(name));
  d->n_macros++;
  return m;
}

void clt_draft_choose_default(clt_draft *d, clt_draft_macro *m) {
  static const char *const ones[] = {"unroll", "wpt", "ppt", "per_", "tile_size_", "vec", "vw", "coarsen"};
  int64_t numbers[MAX_NUMBERS];
  if (m->is_defined || m->is_given || m->list) return;
  size_t n = compared_numbers(numbers, d->plain, m->name), nth = 0;
  for (const clt_draft_macro *other = d->macros; other < m; other++) nth += other->is_size;
  m->is_size = changes_result(d->plain, m->name, USUAL_MOST);
  if (m->is_size)
    m->value = n ? numbers[0] : clt_draft_usual_size(d, m->name, nth);
  else if (is_work_group(d, m))
    m->value = d->n_dimensions == 1 ? 64 : d->n_dimensions == 2 ? 8 : 4;
  else if (n > 1 && numbers[n - 1] > 1)
    m->value = numbers[0] < 1 ? numbers[0] : 1;
  else if (is_switch(d->plain, m->name))
    m->value = 0;
  else /* the same values for all tiles, so that some are multiples of each other */
    m->value = n > 0 || d->n_dimensions == 1 || IS_ONE_OF(m->name, ones) ? 1 : 8;
}

bool clt_draft_add_undefined(clt_draft *d, const char *name, bool is_type) {
  if (d->complete || clt_draft_has_macro(d, name)) return false;
  if (is_type) return clt_words_add(&d->options, clt_format("-D%s" CLT_DRAFT_TYPE, name), NULL) == CLT_OK;
  clt_draft_macro *m = add_macro(d, name);
  if (m) clt_draft_choose_default(d, m);
  return m != NULL;
}

/* Whether the text defines a macro unconditionally, so that -D cannot change it. */
static bool is_fixed(const char *name, const clt_define *defines, size_t n) {
  for (size_t i = 0; i < n; i++)
    if (strcmp(defines[i].name, name) == 0 && !defines[i].guarded && !defines[i].conditional) return true;
  return false;
}

bool clt_draft_add_given(clt_draft *d, const char *name, int64_t value) {
  clt_define *defines = NULL;
  size_t n = 0;
  const bool fits = clt_is_name(name) && clt_draft_may_tune(d->plain, name, value) &&
                    clt_defines(&defines, &n, d->plain, NULL) == CLT_OK && !is_fixed(name, defines, n);
  free(defines);
  clt_draft_macro *m = fits ? add_macro(d, name) : NULL;
  if (m == NULL) return false;
  m->value = value;
  m->is_given = true;
  return true;
}

/* The value of a macro that is defined as an integer. */
static bool read_integer(int64_t *out, const char *value) {
  const char *number = value + strspn(value, "(");
  char *end;
  *out = strtoll(number, &end, 0);
  return end != number && end[strspn(end, ") \tuU\r")] == '\0';
}

bool clt_draft_constant(int64_t *out, const clt_draft *d, const char *name) {
  clt_define *defines = NULL;
  size_t n = 0;
  bool known = clt_defines(&defines, &n, d->plain, NULL) == CLT_OK && is_fixed(name, defines, n);
  for (size_t i = 0; known && i < n; i++)
    if (strcmp(defines[i].name, name) == 0) known = read_integer(out, defines[i].value);
  free(defines);
  return known;
}

/* Finds A in #ifdef A / #define B A / #else / #define B 16: setting A changes B. */
static void add_source(clt_draft *d, const clt_define *defines, size_t n, const clt_define *b) {
  int64_t value = 0;
  bool has_number = false;
  for (size_t i = 0; i < n; i++) {
    if (strcmp(defines[i].name, b->value) == 0) return;
    if (strcmp(defines[i].name, b->name) == 0) has_number |= read_integer(&value, defines[i].value);
  }
  clt_draft_macro *m = has_number ? add_macro(d, b->value) : NULL;
  if (m == NULL) return;
  m->value = value;
  m->is_defined = true;
  memcpy(m->sets, b->name, sizeof m->sets);
}

/* Makes parameters of the macros with an integer that -D can change; logs the others. */
static void read_define(clt_draft *d, const clt_define *defines, size_t n, const clt_define *define, const char *path,
                        clt_log_fn log, void *user) {
  int64_t value;
  clt_draft_macro *known = clt_draft_macro_named(d, define->name);
  bool is_source = false;
  if (known && known->list && define->guarded) known->is_defined = true;
  for (size_t k = 0; k < d->n_macros; k++) is_source |= strcmp(d->macros[k].sets, define->name) == 0;
  if (is_source || define->has_arguments || clt_draft_has_macro(d, define->name)) return;
  if (define->conditional && clt_is_name(define->value)) add_source(d, defines, n, define);
  if (!read_integer(&value, define->value)) return;
  if (!define->guarded) {
    if (path == NULL || define->line > d->n_lines) return;
    if (define->conditional) /* around it, an #ifndef would change nothing */
      clt_log(log, user, CLT_LOG_INFO, "note: %s:%d: '#define %s %s' cannot be tuned because it is inside an #if", path,
              define->line, define->name, define->value);
    else
      clt_log(log, user, CLT_LOG_INFO,
              "note: %s:%d: to tune %s, put '#ifndef %s' before '#define %s %s' and '#endif' after it", path,
              define->line, define->name, define->name, define->name, define->value);
    return;
  }
  clt_draft_macro *m = is_fixed(define->name, defines, n) ? NULL : add_macro(d, define->name);
  if (m == NULL) return;
  m->value = value;
  m->is_defined = true;
  m->is_size = changes_result(d->plain, m->name, value);
}

int clt_draft_find_macros(clt_draft *d, const char *path, clt_log_fn log, void *user, clt_error *error) {
  clt_define *defines = NULL;
  size_t n = 0, length;
  clt_draft_read_shape(d);
  int rc = clt_defines(&defines, &n, d->plain, error);
  for (size_t i = 0; rc == CLT_OK && i < n; i++) read_define(d, defines, n, &defines[i], path, log, user);
  for (const char *at = d->plain; rc == CLT_OK && *at; at += length) { /* undefined names in an #if */
    char name[64];
    for (length = 0; clt_in_word(at[length]);) length++;
    clt_snprintf(name, sizeof name, "%.*s", (int)length, at);
    bool is_known = length >= sizeof name || !clt_is_name(name) || !in_condition(d->plain, at) ||
                    !clt_reads_macro_at(d->plain, at) || strcmp(name, "if") == 0 || strcmp(name, "elif") == 0 ||
                    strcmp(name, "defined") == 0 || strncmp(name, "__", 2) == 0 || strncasecmp(name, "cl_", 3) == 0;
    for (size_t i = 0; !is_known && i < n; i++) is_known = strcmp(defines[i].name, name) == 0;
    if (!is_known) clt_draft_add_undefined(d, name, false);
    length += length == 0;
  }
  free(defines);
  return rc;
}
