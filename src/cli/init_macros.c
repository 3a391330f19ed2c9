/* Which macros of a kernel file `clatune init` makes parameters, and their values. */
#include "cli/init.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/memory.h"
#include "base/text.h"

#define MAX_NUMBERS 16
#define USUAL_MOST 1024              /* largest power of two proposed, unless the default is larger */
#define MAX_POWER ((int64_t)1 << 40) /* a larger default is not a size */
#define MAX_VECTOR 16                /* elements in OpenCL's widest vector */
#define MAX_SQUARE 32                /* a larger square exceeds the work-groups of most devices */

const char *cli_skip_blanks(const char *at) { return at + strspn(at, " \t"); }

const char *cli_before_blanks(const char *text, const char *at) {
  while (at > text && isspace((unsigned char)at[-1])) at--;
  return at;
}

bool cli_follows(const char *text, const char *at, const char *word) {
  size_t n = strlen(word);
  at = cli_before_blanks(text, at);
  return (size_t)(at - text) >= n && strncmp(at - n, word, n) == 0;
}

/* Whether a place is in a line with #if or #elif. */
static bool in_condition(const char *text, const char *at) {
  while (at > text && at[-1] != '\n') at--;
  at = cli_skip_blanks(at);
  if (*at != '#') return false;
  at = cli_skip_blanks(at + 1);
  return (strncmp(at, "if", 2) == 0 && !clt_in_word(at[2])) || strncmp(at, "elif", 4) == 0;
}

static bool is_asked(const char *text, const char *name) {
  for (const char *at = text; (at = clt_next_word(text, at, name)) != NULL; at++)
    if (in_condition(text, at) && clt_reads_macro_at(text, at)) return true;
  return false;
}

/* The numbers that #if compares a macro with (== and !=), in ascending order. */
static size_t compared_numbers(int64_t out[MAX_NUMBERS], const char *text, const char *name) {
  size_t n = 0;
  for (const char *at = text; (at = clt_next_word(text, at, name)) != NULL && n < MAX_NUMBERS; at++) {
    const char *next = cli_skip_blanks(at + strlen(name));
    char *end;
    if ((strncmp(next, "==", 2) != 0 && strncmp(next, "!=", 2) != 0) || !in_condition(text, at)) continue;
    int64_t number = strtoll(next + 2, &end, 0);
    if (end == next + 2) continue;
    size_t i = n;
    while (i && out[i - 1] > number) i--;
    if (i && out[i - 1] == number) continue;
    memmove(out + i + 1, out + i, (n++ - i) * sizeof *out);
    out[i] = number;
  }
  return n;
}

/* Whether a macro is a switch, by its name or because it is only ever tested: #if X, if (X && !Y), X ? a : b, X == 1.
 */
static bool is_switch(const char *text, const char *name) {
  bool asked = false;
  if (strncasecmp(name, "use_", 4) == 0 || strncasecmp(name, "enable_", 7) == 0) return true;
  for (const char *at = text; (at = clt_next_word(text, at, name)) != NULL; at++) {
    const char *next = cli_skip_blanks(at + strlen(name));
    const char *open = cli_follows(text, at, "(") ? cli_before_blanks(text, at) - 1 : at;
    if (!clt_reads_macro_at(text, at)) continue;
    if (strncmp(next, "==", 2) == 0 || strncmp(next, "!=", 2) == 0) {
      next = cli_skip_blanks(next + 2);
      if ((*next != '0' && *next != '1') || clt_in_word(next[1])) return false;
      asked = true;
      continue;
    }
    bool in_if = in_condition(text, at) && cli_follows(text, at, "if");
    bool is_term =
        in_if || cli_follows(text, at, "!") || cli_follows(text, at, "&&") || cli_follows(text, at, "||") ||
        (open < at && (cli_follows(text, open, "if") || cli_follows(text, open, "!") || cli_follows(text, open, "(")));
    bool ends =
        *next == '\n' || *next == ')' || *next == '?' || strncmp(next, "&&", 2) == 0 || strncmp(next, "||", 2) == 0;
    if (*next != '?' && !(is_term && ends)) return false;
    asked = true;
  }
  return asked;
}

/* --- values --- */

static bool is_one_of(const char *name, const char *const *parts, size_t n) {
  for (size_t i = 0; i < n; i++)
    if (strcasestr(name, parts[i])) return true;
  return false;
}
#define IS_ONE_OF(name, parts) is_one_of(name, parts, sizeof(parts) / sizeof *(parts))

static bool is_called_as_size(const char *name) {
  static const char *const names[] = {"n",  "m",  "k",  "l",  "w",  "h",  "nx",   "ny",  "nz",
                                      "ni", "nj", "nk", "nl", "nm", "np", "size", "cols"};
  static const char *const endings[] = {"width", "height", "depth", "rows", "columns", "length", "problem_size"};
  static const char *const tuned[] = {"tile", "block", "vec", "simd", "warp", "group", "local"};
  if (IS_ONE_OF(name, tuned)) return false;
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (strcasecmp(name, names[i]) == 0) return true;
  for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
    if (strlen(name) >= strlen(endings[i]) && strcasecmp(name + strlen(name) - strlen(endings[i]), endings[i]) == 0)
      return true;
  return false;
}

/* Whether a macro is a size of the data, by its name and value: a small one is more likely the work per item. */
static bool is_size_of_data(const char *name, int64_t value) { return value >= 32 && is_called_as_size(name); }

const char *cli_init_bare(const char *size) { return size + (clt_starts_with(size, PREFIX) ? strlen(PREFIX) : 0); }

/* The default of a macro whose name says that it is part of the computation, such as a filter's radius; -1: it is not.
 */
static int small_size(const char *name) {
  static const struct {
    const char *part;
    int value;
  } small[] = {{"offset", 0}, {"start", 0},  {"iter", 1},   {"border", 1},
               {"halo", 1},   {"radius", 3}, {"filter", 5}, {"mask", 5}};
  for (size_t i = 0; i < sizeof small / sizeof *small; i++)
    if (strcasestr(name, small[i].part)) return small[i].value;
  return -1;
}

int cli_init_usual_size(const draft *d, const char *name, size_t nth) {
  static const int sizes[] = {1024, 768, 512}; /* unequal, so that swapped sizes are noticed */
  const int small = small_size(name);
  if (small >= 0) return small;
  return sizes[nth % 3] / (d->n_dimensions == 3 ? 8 : 1); /* a volume of 1.6 GB is too much to start with */
}

bool cli_is_local_size(const char *macro, int dimension, int n_dimensions) {
  static const char stems[] =
      "local_size\0local\0wg_size\0wg\0wgs\0workgroup_size\0work_group_size\0group_size\0block_size\0block\0dim_\0"
      "threads\0num_threads\0number_threads\0dim_local_work_group\0dim_thread_block\0tb\0";
  static const char letters[] = "xyz";
  for (const char *stem = stems; *stem; stem += strlen(stem) + 1) {
    const size_t n = strlen(stem);
    if (strncasecmp(macro, stem, n) != 0) continue;
    const char *suffix = macro + n + (macro[n] == '_');
    if (suffix[0] == '\0' && macro[n] == '\0' && n_dimensions == 1) return true;
    if (suffix[0] && suffix[1] == '\0' && ((suffix[0] | 32) == letters[dimension] || suffix[0] == '0' + dimension))
      return true;
  }
  return false;
}

const tuned_macro *cli_init_local_size(const draft *d, int dimension) {
  const tuned_macro *called = NULL, *square = NULL;
  bool any_called = false;
  for (size_t i = 0; i < d->n_macros; i++) {
    const tuned_macro *m = &d->macros[i];
    const char *names[] = {m->name, m->sets};
    for (int k = 0; k < 2 && names[k][0] && !m->is_size && !is_switch(d->plain, m->name); k++) {
      if (strcmp(names[k], d->times_group[dimension]) == 0) return m;
      for (int other = 0; other < 3; other++) any_called |= cli_is_local_size(names[k], other, d->n_dimensions);
      if (called == NULL && cli_is_local_size(names[k], dimension, d->n_dimensions)) called = m;
      if (square == NULL && m->value <= MAX_SQUARE && cli_is_local_size(names[k], 0, 1)) square = m;
    }
  }
  return called || any_called || d->n_dimensions != 2 ? called : square;
}

static bool is_work_group(const draft *d, const tuned_macro *m) {
  for (int k = 0; k < 3; k++)
    if (cli_init_local_size(d, k) == m || clt_next_word(d->required[k], d->required[k], m->name)) return true;
  return false;
}

/* A value given by the user: a number if it is one, otherwise a text. */
static json_t *typed_value(const char *text) {
  char *end;
  long long whole = strtoll(text, &end, 0);
  json_t *value = *end ? json_loads(text, JSON_DECODE_ANY, NULL) : json_integer(whole);
  if (json_is_number(value)) return value;
  json_decref(value);
  return json_string(text);
}

json_t *cli_init_values(const draft *d, const tuned_macro *m) {
  int64_t numbers[MAX_NUMBERS + 1], first = m->value, last = m->value;
  json_t *list = json_array(), *texts = json_array();
  for (const char *at = m->list; at; at = at[strcspn(at, ",")] ? at + strcspn(at, ",") + 1 : NULL) {
    char text[256];
    snprintf(text, sizeof text, "%.*s", (int)strcspn(at, ","), at);
    json_array_append_new(list, typed_value(text));
    json_array_append_new(texts, json_string(text));
  }
  if (strcmp(cli_init_type(list), "string") == 0) json_array_clear(list), json_array_extend(list, texts);
  json_decref(texts);
  if (m->list) return list;
  /* The numbers that it is compared with, and another one (1 if possible) for the #else branch. */
  size_t n = is_work_group(d, m) ? 0 : compared_numbers(numbers, d->plain, m->name);
  if (n > 1 && numbers[n - 1] > 1) {
    bool has_default = !m->is_defined && !m->is_given;
    if (numbers[0] > 1) memmove(numbers + 1, numbers, n++ * sizeof *numbers), numbers[0] = 1;
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

const char *cli_init_type(const json_t *values) {
  const char *type = "int";
  for (size_t i = 0; i < json_array_size(values); i++) {
    const json_t *value = json_array_get(values, i);
    if (json_is_string(value)) return "string";
    if (json_is_real(value)) type = "float";
    const json_int_t whole = json_integer_value(value); /* 0: not a number */
    if (strcmp(type, "int") == 0 && (whole < INT32_MIN || whole > INT32_MAX)) type = "long";
  }
  return type;
}

/* --- macros --- */

static tuned_macro *find_macro(const draft *d, const char *name) {
  for (size_t i = 0; i < d->n_macros; i++)
    if (strcmp(d->macros[i].name, name) == 0) return (tuned_macro *)&d->macros[i];
  return NULL;
}

bool cli_init_has_macro(const draft *d, const char *name) {
  const size_t n = strlen(name);
  for (size_t i = 0; i < d->options.n; i++) {
    const char *option = d->options.all[i] + strlen("-D");
    if (strncmp(option, name, n) == 0 && (option[n] == '=' || option[n] == '\0')) return true;
  }
  return find_macro(d, name) != NULL;
}

void cli_init_choose_default(draft *d, tuned_macro *m) {
  static const char *const ones[] = {"unroll", "wpt", "ppt", "per_", "tile_size_", "vec", "vw", "coarsen"};
  int64_t numbers[MAX_NUMBERS];
  if (m->is_defined || m->is_given || m->list) return;
  size_t n = compared_numbers(numbers, d->plain, m->name), nth = 0;
  for (const tuned_macro *other = d->macros; other < m; other++) nth += other->is_size;
  m->is_size = is_called_as_size(m->name);
  if (m->is_size)
    m->value = cli_init_usual_size(d, m->name, nth);
  else if (is_work_group(d, m))
    m->value = d->n_dimensions == 1 ? 64 : d->n_dimensions == 2 ? 8 : 4;
  else if (n > 1 && numbers[n - 1] > 1)
    m->value = numbers[0] < 1 ? numbers[0] : 1;
  else if (is_switch(d->plain, m->name))
    m->value = 0;
  else /* the same values for all tiles, so that some are multiples of each other */
    m->value = n > 0 || d->n_dimensions == 1 || IS_ONE_OF(m->name, ones) ? 1 : 8;
}

bool cli_init_add_undefined(draft *d, const char *name, bool is_type) {
  if (d->complete || d->n_macros == MAX_MACROS || strlen(name) >= sizeof d->macros->name || cli_init_has_macro(d, name))
    return false;
  if (is_type) return clt_words_add(&d->options, clt_format("-D%s" CLT_INIT_TYPE, name), NULL) == 0;
  tuned_macro *m = &d->macros[d->n_macros++];
  *m = (tuned_macro){.list = NULL};
  memcpy(m->name, name, strlen(name));
  m->is_asked = is_asked(d->plain, name);
  cli_init_choose_default(d, m);
  return true;
}

/* Whether the text defines a macro unconditionally, so that -D cannot change it. */
static bool is_fixed(const char *name, const clt_define *defines, size_t n) {
  for (size_t i = 0; i < n; i++)
    if (strcmp(defines[i].name, name) == 0 && !defines[i].guarded && !defines[i].conditional) return true;
  return false;
}

bool cli_init_may_tune(const char *plain, const char *name, int64_t value) {
  return !is_size_of_data(name, value) && small_size(name) < 0 && clt_reads_macro(plain, name);
}

bool cli_init_is_kind(const char *plain, const char *name) {
  static const char *const kinds[] = {"precision", "type", "double", "fp16", "fp64"};
  int64_t numbers[MAX_NUMBERS];
  const size_t n = compared_numbers(numbers, plain, name);
  return IS_ONE_OF(name, kinds) || (n > 0 && numbers[n - 1] > MAX_VECTOR);
}

bool cli_init_add_given(draft *d, const char *name, int64_t value) {
  clt_define *defines = NULL;
  size_t n = 0;
  bool fits = d->n_macros < MAX_MACROS && strlen(name) < sizeof d->macros->name && clt_is_name(name) &&
              !cli_init_has_macro(d, name) && cli_init_may_tune(d->plain, name, value) &&
              clt_defines(&defines, &n, d->plain, NULL) == CLT_OK;
  fits = fits && !is_fixed(name, defines, n);
  free(defines);
  if (!fits) return false;
  tuned_macro *m = &d->macros[d->n_macros++];
  *m = (tuned_macro){.value = value, .is_given = true, .is_asked = is_asked(d->plain, name)};
  memcpy(m->name, name, strlen(name));
  return true;
}

/* Finds A in #ifdef A / #define B A / #else / #define B 16: setting A changes B. */
static void add_source(draft *d, const clt_define *defines, size_t n, const clt_define *b) {
  int64_t value = 0;
  bool has_number = false;
  for (size_t i = 0; i < n; i++) {
    char *end;
    if (strcmp(defines[i].name, b->value) == 0) return;
    if (strcmp(defines[i].name, b->name) != 0) continue;
    int64_t number = strtoll(defines[i].value, &end, 0);
    if (end != defines[i].value && *end == '\0') value = number, has_number = true;
  }
  for (size_t i = 0; i < d->n_macros; i++) has_number &= strcmp(d->macros[i].sets, b->name) != 0;
  if (!has_number || d->n_macros == MAX_MACROS || cli_init_has_macro(d, b->value)) return;
  tuned_macro *m = &d->macros[d->n_macros++];
  *m = (tuned_macro){.value = value, .is_defined = true};
  memcpy(m->name, b->value, sizeof m->name);
  memcpy(m->sets, b->name, sizeof m->sets);
}

/* Makes parameters of the macros with a whole number that -D can change. With a path, the others are noted on standard
 * error, with advice. */
static void read_defines(draft *d, const clt_define *defines, size_t n, const char *path, int n_lines) {
  for (size_t i = 0; i < n; i++) {
    const clt_define *define = &defines[i];
    const char *number = define->value + strspn(define->value, "(");
    char *end;
    int64_t value = strtoll(number, &end, 0);
    tuned_macro *known = find_macro(d, define->name);
    if (known && known->list && define->guarded) known->is_defined = true;
    bool is_source = false;
    for (size_t k = 0; k < d->n_macros; k++) is_source |= strcmp(d->macros[k].sets, define->name) == 0;
    if (is_source || define->has_arguments || cli_init_has_macro(d, define->name)) continue;
    if (define->conditional && clt_is_name(define->value)) add_source(d, defines, n, define);
    if (end == number || end[strspn(end, ") \tuU\r")] != '\0') continue;
    if (define->guarded && d->n_macros < MAX_MACROS && !is_fixed(define->name, defines, n)) {
      tuned_macro *m = &d->macros[d->n_macros++];
      *m = (tuned_macro){.value = value, .is_defined = true};
      memcpy(m->name, define->name, sizeof m->name);
      m->is_size = is_size_of_data(m->name, value);
      m->is_asked = is_asked(d->plain, m->name);
    } else if (!define->guarded && path && define->line <= n_lines) {
      fprintf(stderr, "clatune: note: %s:%d: ", path, define->line);
      if (define->conditional) /* around it, an #ifndef would change nothing */
        fprintf(stderr, "'#define %s %s' cannot be tuned because it is inside an #if\n", define->name, define->value);
      else
        fprintf(stderr, "to tune %s, put '#ifndef %s' before '#define %s %s' and '#endif' after it\n", define->name,
                define->name, define->name, define->value);
    }
  }
}

void cli_init_read_text(draft *d, const char *path, int n_lines) {
  clt_define *defines = NULL;
  size_t n = 0, length;
  cli_init_read_shape(d);
  if (clt_defines(&defines, &n, d->plain, NULL)) return;
  read_defines(d, defines, n, path, n_lines);
  for (const char *at = d->plain; *at; at += length) {
    char name[64];
    for (length = 0; clt_in_word(at[length]);) length++;
    snprintf(name, sizeof name, "%.*s", (int)length, at);
    bool is_known = length >= sizeof name || !clt_is_name(name) || !in_condition(d->plain, at) ||
                    !clt_reads_macro_at(d->plain, at) || strcmp(name, "if") == 0 || strcmp(name, "elif") == 0 ||
                    strcmp(name, "defined") == 0 || strncmp(name, "__", 2) == 0 || strncasecmp(name, "cl_", 3) == 0;
    for (size_t i = 0; !is_known && i < n; i++) is_known = strcmp(defines[i].name, name) == 0;
    if (!is_known) cli_init_add_undefined(d, name, false);
    length += length == 0;
  }
  free(defines);
}
