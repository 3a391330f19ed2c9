/* The numbers of elements of arrays, and the strides, from the indices that the kernel uses. */
#include <ctype.h>

#include "init/init.h"

#define MOST_TERMS 8
#define MOST_FACTORS 4
#define MOST_DEPTH 6 /* of variables that are defined by others, and of brackets */

/* An index as a sum of products: row * ld + k. */
typedef struct index_factor {
  char name[64];  /* a name, a number, "get_global_id(0)" */
  const char *at; /* where it is written */
} index_factor;

typedef struct term {
  index_factor factors[MOST_FACTORS];
  int n;
} term;

typedef struct sum {
  term terms[MOST_TERMS];
  int n;
} sum;

static bool read_sum(sum *out, const clt_draft *d, const char **at, int depth);

/* The only definition of a variable, `name = `; NULL: it has none, or another value later. */
static const char *find_definition(const clt_draft *d, const char *name) {
  const char *found = NULL;
  for (const char *at = d->body; (at = clt_next_word(d->body, at, name)) != NULL; at++) {
    const char *next = clt_skip_blanks(at + strlen(name));
    const bool counts = clt_starts_with(next, "++") || clt_starts_with(next, "--") || clt_follows(d->body, at, "++") ||
                        clt_follows(d->body, at, "--");
    if (counts || (*next && strchr("+-*/%&|^", *next) && next[1] == '=')) return NULL;
    if (*next != '=' || next[1] == '=') continue;
    if (found) return NULL;
    found = next + 1;
  }
  return found;
}

static bool multiply(sum *a, const sum *b) {
  sum out = {0};
  if (a->n * b->n > MOST_TERMS) return false;
  for (int i = 0; i < a->n; i++)
    for (int k = 0; k < b->n; k++) {
      term *t = &out.terms[out.n++];
      *t = a->terms[i];
      if (t->n + b->terms[k].n > MOST_FACTORS) return false;
      for (int f = 0; f < b->terms[k].n; f++) t->factors[t->n++] = b->terms[k].factors[f];
    }
  *a = out;
  return true;
}

/* A name, a number, a call of get_global_id, or a sum in brackets. A variable without a limit is replaced by its
 * definition. */
static bool read_factor(sum *out, const clt_draft *d, const char **at, int depth) {
  size_t n = 0;
  const char *begin = *at = clt_skip_blanks(*at);
  *out = (sum){.n = 1, .terms = {{.n = 1}}};
  char *name = out->terms[0].factors[0].name, limit[64];
  if (depth > MOST_DEPTH) return false;
  if (*begin == '(') {
    static const char *const casts[] = {"(int)", "(uint)", "(size_t)", "(long)", "(ulong)"};
    for (size_t i = 0; i < sizeof casts / sizeof *casts; i++)
      if (clt_starts_with(begin, casts[i])) {
        *at = begin + strlen(casts[i]);
        return read_factor(out, d, at, depth + 1);
      }
    ++*at;
    if (!read_sum(out, d, at, depth + 1) || *(*at = clt_skip_blanks(*at)) != ')') return false;
    ++*at;
    return true;
  }
  while (clt_in_word(begin[n])) n++;
  if (clt_starts_with(begin, "get_global_id")) n = strcspn(begin, ")") + 1;
  if (n == 0 || n >= sizeof out->terms[0].factors[0].name || (begin[n] && strchr("([.", begin[n]))) return false;
  memcpy(name, begin, n);
  out->terms[0].factors[0].at = begin;
  *at = begin + n;
  if (!isalpha((unsigned char)*name) || strchr(name, '(') || clt_draft_limit(limit, d, name, begin)) return true;
  const char *definition = find_definition(d, name);
  if (definition == NULL) return true;
  return read_sum(out, d, &definition, depth + 1) && strchr(";,", *clt_skip_blanks(definition));
}

static bool read_sum(sum *out, const clt_draft *d, const char **at, int depth) {
  sum product, factor;
  out->n = 0;
  for (;; ++*at) {
    if (!read_factor(&product, d, at, depth)) return false;
    while (*(*at = clt_skip_blanks(*at)) == '*') {
      ++*at;
      if (!read_factor(&factor, d, at, depth) || !multiply(&product, &factor)) return false;
    }
    if (out->n + product.n > MOST_TERMS) return false;
    for (int i = 0; i < product.n; i++) out->terms[out->n++] = product.terms[i];
    if (**at != '+') return true;
  }
}

/* The terms of an index with the same factors beside their variable: (y + fy) * width. */
typedef struct group {
  char coefficient[MOST_FACTORS][64];
  int n;
  char limit[300]; /* the number of values of the sum of its variables */
  bool used;
} group;

static bool same_factors(const group *g, char (*factors)[64], int n) {
  bool same = g->n == n;
  for (int i = 0; same && i < n; i++) {
    same = false;
    for (int k = 0; k < n; k++) same |= strcmp(g->coefficient[k], factors[i]) == 0;
  }
  return same;
}

/* Each term needs one variable with a limit; the rest are its coefficient. Returns the number of groups; 0: unknown. */
static int find_groups(group out[MOST_TERMS], const clt_draft *d, const sum *index) {
  int n = 0;
  for (const term *t = index->terms; t < index->terms + index->n; t++) {
    char factors[MOST_FACTORS][64], limit[64] = "", text[64];
    int n_factors = 0, k = 0;
    for (int f = 0; f < t->n; f++) {
      const index_factor *own = &t->factors[f];
      if (!limit[0] && !isdigit((unsigned char)*own->name) && clt_draft_limit(text, d, own->name, own->at))
        memcpy(limit, text, sizeof limit);
      else
        memcpy(factors[n_factors++], own->name, sizeof own->name);
    }
    if (limit[0] == '\0') return 0;
    while (k < n && !same_factors(&out[k], factors, n_factors)) k++;
    const size_t length = k < n ? strlen(out[k].limit) : 0;
    if (k == n) {
      out[n] = (group){.n = n_factors};
      memcpy(out[n++].coefficient, factors, sizeof factors);
    }
    if (length + sizeof limit + 8 > sizeof out[k].limit) return 0;
    clt_snprintf(out[k].limit + length, sizeof out[k].limit - length, "%s%s%s", length ? " + " : "", limit,
                 length ? " - 1" : "");
  }
  return n;
}

/* Whether an argument is a size that its own use as a limit shows, so that it is no stride. */
static bool is_limit(const clt_draft *d, const char *name) {
  bool is = clt_draft_compares(d, name);
  for (int k = 0; k < 3; k++)
    is |= d->global[k] && clt_starts_with(d->global[k], CLT_DRAFT_PREFIX) &&
          strcmp(d->global[k] + strlen(CLT_DRAFT_PREFIX), name) == 0;
  return is;
}

/* How a factor is written in the problem: a number, a problem parameter, or a stride, which gets this value if it has
 * none yet. NULL: it is none of these, or the value is another. */
static const char *factor_text(clt_draft *d, const char *name, const char *value) {
  if (isdigit((unsigned char)*name)) return name;
  for (size_t i = 0; i < d->kernel->n_arguments; i++) {
    if (strcmp(d->kernel->arguments[i].name, name) != 0 || is_limit(d, name)) continue;
    char *stride = d->strides[i];
    if (stride[0] == '\0') clt_snprintf(stride, sizeof *d->strides, "%s", value);
    return strcmp(stride, value) == 0 ? stride : NULL;
  }
  for (size_t i = 0; i < d->n_sizes; i++) {
    const char *size = d->sizes[i];
    if (clt_starts_with(size, CLT_DRAFT_PREFIX)) size += strlen(CLT_DRAFT_PREFIX);
    if (strcmp(size, name) == 0) return d->sizes[i];
  }
  return NULL;
}

/* The group whose coefficient has one factor more than the inner group's, or is another factor alone. If there are
 * several, the one that is written nearest. */
static const group *find_next(const char **out, const group *all, int n, const group *inner) {
  const group *found = NULL;
  for (const group *g = all; g < all + n; g++) {
    const char *factor = NULL;
    int n_new = 0;
    if (g->used || g->n == 0 || (g->n != inner->n + 1 && g->n != 1)) continue;
    for (int i = 0; i < g->n; i++) {
      bool known = false;
      for (int k = 0; k < inner->n; k++) known |= strcmp(g->coefficient[i], inner->coefficient[k]) == 0;
      if (!known) factor = g->coefficient[i];
      n_new += !known;
    }
    if (n_new != 1 || (found && labs(g - inner) >= labs(found - inner))) continue;
    found = g;
    *out = factor;
  }
  return found;
}

static void multiply_text(char product[300], const char *factor) {
  const bool is_sum = strchr(factor, '+') != NULL;
  const size_t n = strlen(product);
  clt_snprintf(product + n, 300 - n, is_sum ? "%s(%s)" : "%s%s", n ? " * " : "", factor);
}

/* Goes from the fastest dimension to the slowest. A stride is the number of elements below it: row * ld + k gives ld
 * the number of values of k. Returns the dimensions; NULL: not known. */
static json_t *read_dimensions(clt_draft *d, group *groups, int n) {
  json_t *out = json_array();
  char below[300] = "";
  group *inner = NULL;
  for (group *g = groups; g < groups + n; g++)
    if (g->n == 0) inner = g;
  for (int left = n; inner; left--) {
    const char *factor = NULL;
    inner->used = true;
    json_array_append_new(out, json_string(inner->limit));
    const group *next = find_next(&factor, groups, n, inner);
    if (next == NULL && left == 1) return out;
    if (next == NULL) break;
    const bool is_whole = next->n != inner->n + 1; /* batch * stride: all elements of a batch */
    char whole[300];
    memcpy(whole, below, sizeof whole);
    multiply_text(whole, inner->limit);
    const char *text = factor_text(d, factor, is_whole ? whole : inner->limit);
    if (text == NULL) break;
    if (!is_whole) json_array_set_new(out, json_array_size(out) - 1, json_string(text));
    multiply_text(below, is_whole ? inner->limit : text);
    inner = (group *)next;
  }
  json_decref(out);
  return NULL;
}

/* The bound of an index that is a remainder: data[i] % BINS. */
static bool read_remainder(char out[64], const clt_draft *d, const char *index) {
  int depth = 0;
  const char *percent = NULL, *end;
  for (const char *at = index; *at; at++) {
    depth += (*at == '(' || *at == '[') - (*at == ')' || *at == ']');
    if (depth == 0 && strchr("+-?:&|^<>=,", *at)) return false;
    if (depth == 0 && *at == '%') percent = at + 1;
  }
  return percent && clt_draft_bound(out, d, percent, &end) && *clt_skip_blanks(end) == '\0';
}

/* Copies the expression that begins at a place, up to the bracket, comma or semicolon behind it. */
static bool copy_expression(char out[128], const char *begin) {
  size_t n = 0;
  begin = clt_skip_blanks(begin);
  for (int depth = 0; begin[n] && (depth || !strchr("]),;", begin[n])); n++)
    depth += (begin[n] == '[' || begin[n] == '(') - (begin[n] == ']' || begin[n] == ')');
  n = (size_t)(clt_before_blanks(begin, begin + n) - begin);
  if (n == 0 || n >= 128) return false;
  memcpy(out, begin, n);
  out[n] = '\0';
  return true;
}

/* The number of work-groups with the smallest work-group, if an index is the group's number along a dimension. */
static bool count_groups(char out[300], clt_draft *d, const char *index) {
  static const char call[] = "get_group_id(";
  const char *at = clt_starts_with(index, call) || !clt_is_name(index) ? index : find_definition(d, index);
  if (at == NULL || !clt_starts_with(at = clt_skip_blanks(at), call)) return false;
  const int k = at[strlen(call)] - '0';
  if (k < 0 || k >= d->n_dimensions || at[strlen(call) + 1] != ')') return false;
  if (!strchr(";,", *clt_skip_blanks(at + strlen(call) + 2))) return false;
  d->has_group_results = true;
  if (!d->global[k] || !d->local[k]) return false;
  return clt_snprintf(out, 300, "(%s + min(%s) - 1) // min(%s)", d->global[k], d->local[k], d->local[k]) < 300;
}

/* The groups of the index that begins at a place; 0: unknown. A remainder is one group, and so is an index that the
 * kernel compares as a whole. */
static int read_index(group groups[MOST_TERMS], clt_draft *d, const char *begin) {
  char whole[128], limit[64];
  sum index;
  begin = clt_skip_blanks(begin);
  if (!copy_expression(whole, begin)) return 0;
  groups[0] = (group){0};
  if (count_groups(groups[0].limit, d, whole)) return 1;
  if (read_remainder(limit, d, whole) || clt_draft_limit(limit, d, whole, begin)) {
    memcpy(groups[0].limit, limit, sizeof limit);
    return 1;
  }
  return read_sum(&index, d, &begin, 0) && *clt_skip_blanks(begin) == ']' ? find_groups(groups, d, &index) : 0;
}

/* Whether a place is inside the brackets of an index; else *variable is the one that the statement before it assigns
 * to, or NULL, as in `c` for `int c = columns[k]`. *expression: where the index or what is assigned begins. */
static bool is_inside_index(const char **variable, size_t *length, const char **expression, const char *text,
                            const char *at) {
  int depth = 0, closed = 0; /* closed: round brackets that end before the place */
  *variable = NULL;
  for (; at > text && !strchr(";{}", at[-1]) && *variable == NULL; at--) {
    depth += (at[-1] == ']') - (at[-1] == '[');
    *expression = at;
    if (depth < 0) return true;
    closed += at[-1] == ')';
    closed -= at[-1] == '(' && closed > 0;
    if (closed || at[-1] != '=' || *at == '=' || (at - 1 > text && strchr("=!<>", at[-2]))) continue;
    const char *end = at - 1;
    while (end > text && strchr("+-*/%&|^", end[-1])) *expression = --end; /* a sum of remainders has no bound */
    end = clt_before_blanks(text, end);
    const char *begin = end;
    while (begin > text && clt_in_word(begin[-1])) begin--;
    if (begin == end) return false;
    *variable = begin;
    *length = (size_t)(end - begin);
  }
  return false;
}

/* Whether a place is an offset without being in the brackets of an index: *(x + columns[k]), atomic_inc(x + k),
 * vload4(k, x), or in a call that gets an array, too: element(x, columns[k]). */
static bool is_offset(const clt_draft *d, const char *at) {
  const char *open = at, *text = d->body;
  int depth = 0;
  bool is_first = true;
  while (open > text && depth >= 0 && !strchr(";{}", open[-1])) {
    open--;
    depth += (*open == ')' || *open == ']') - (*open == '(' || *open == '[');
    is_first &= *open != ',' || depth != 0;
  }
  if (depth >= 0 || *open != '(' || clt_follows(text, at, "&")) return false;
  const char *end = clt_before_blanks(text, open), *call = end;
  if (end > text && end[-1] == '*') {
    const char *before = clt_before_blanks(text, end - 1);
    return before > text && strchr("=(,+-;{}&|<>!?:", before[-1]);
  }
  while (call > text && clt_in_word(call[-1])) call--;
  if (clt_starts_with(call, "atom") || clt_starts_with(call, "vload")) return is_first;
  const size_t n = strcspn(open, ";{}");
  for (const clt_kernel_argument *a = d->kernel->arguments; a < d->kernel->arguments + d->kernel->n_arguments; a++) {
    const char *array = strchr(a->type, '*') ? clt_next_word(text, open, a->name) : NULL;
    if (array && array < open + n && strchr(",)+", *clt_skip_blanks(array + strlen(a->name)))) return call < end;
  }
  return false;
}

/* Whether an index uses a name, directly or through a variable: x[columns[k]], c = columns[k]; x[c]. A remainder does
 * not count if it cannot be negative. */
static bool is_in_index(const clt_draft *d, const char *name, bool is_unsigned, int depth) {
  for (const char *at = d->body; (at = clt_next_word(d->body, at, name)) != NULL; at++) {
    const char *variable, *expression = at;
    char own[64], whole[128], limit[64];
    size_t n = 0;
    const bool is_index = is_inside_index(&variable, &n, &expression, d->body, at);
    if (is_unsigned && copy_expression(whole, expression) && read_remainder(limit, d, whole)) continue;
    const bool is_element = depth > 0 || *clt_skip_blanks(at + strlen(name)) == '[';
    if (is_index || (is_element && is_offset(d, at))) return true;
    if (variable == NULL || n >= sizeof own || depth > MOST_DEPTH) continue;
    memcpy(own, variable, n);
    own[n] = '\0';
    if (strcmp(own, name) != 0 && is_in_index(d, own, is_unsigned, depth + 1)) return true;
  }
  return false;
}

bool clt_draft_is_index(const clt_draft *d, const char *array, const char *element) {
  return is_in_index(d, array, element[0] == 'u', 0);
}

json_t *clt_draft_extent(clt_draft *d, const char *array) {
  json_t *extent = NULL;
  for (const char *at = d->body; (at = clt_next_word(d->body, at, array)) != NULL; at++) {
    group groups[MOST_TERMS];
    const char *begin = clt_skip_blanks(at + strlen(array));
    const int n = *begin == '[' ? read_index(groups, d, begin + 1) : 0;
    json_t *now = n ? read_dimensions(d, groups, n) : NULL;
    const bool known = now && (extent == NULL || json_equal(extent, now));
    if (extent == NULL && known) extent = json_incref(now);
    json_decref(now);
    if (known) continue;
    json_decref(extent);
    return NULL;
  }
  if (json_array_size(extent) != 1) return extent;
  json_t *only = json_incref(json_array_get(extent, 0));
  json_decref(extent);
  return only;
}
