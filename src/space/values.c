/* Lists of values: the texts of T1 files ("[1, 2]", "range(8)", "[2**i for i in range(8)]", and concatenations) are
 * taken apart into sequences, whose expressions are found by their brackets and compiled where they stand, and run. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/fail.h"
#include "base/memory.h"
#include "space/code.h"

#define MOST_DEPTH 50
#define MOST_SLOTS 32 /* loops' variables in one text */
#define MOST_BYTES (1 << 20)
#define MOST_VALUES 65536
#define MOST_STEPS ((size_t)1 << 20) /* of all loops together, and of what a loop runs over */

/* --- taking texts apart --- */

/* "for variable in over", or "if condition" where over is NULL. */
typedef struct clause {
  uint32_t slot; /* the variable's */
  struct sequence *over;
  clt_expr *condition;
} clause;

typedef struct sequence {
  bool range;
  clt_expr **exprs; /* elements; bounds of a range; the one element of a comprehension */
  size_t n_exprs, exprs_capacity;
  clause *clauses;
  size_t n_clauses, clauses_capacity;
  struct sequence *next; /* of a concatenation */
} sequence;

typedef struct reader {
  const char *text;
  size_t at, end;
  clt_symbol *symbols; /* constants, then the variables of the loops around */
  size_t n_symbols;
  uint32_t n_slots;
  int depth;
  clt_error *error;
} reader;

static int read_sequence(reader *r, sequence **out);

static void free_sequence(sequence *s) {
  while (s) {
    sequence *next = s->next;
    for (size_t i = 0; i < s->n_exprs; i++) clt_expr_free(s->exprs[i]);
    for (size_t i = 0; i < s->n_clauses; i++) {
      free_sequence(s->clauses[i].over);
      clt_expr_free(s->clauses[i].condition);
    }
    free(s->exprs);
    free(s->clauses);
    free(s);
    s = next;
  }
}

/* --- words --- */

static int report_mistake(reader *r, size_t at, const char *what, const char *detail) {
  return clt_fail(r->error, CLT_E_EXPRESSION, "cannot read the values '%.300s': %s%s at column %zu", r->text, what,
                  detail, at + 1);
}

static int look_ahead(reader *r, clt_token *token) {
  const char *problem = NULL;
  int rc = clt_lex(token, r->text, r->at, r->end, &problem);
  return rc ? report_mistake(r, token->begin, problem, ",") : CLT_OK;
}

static bool accept_word(reader *r, const char *word) {
  const char *problem;
  clt_token token;
  if (clt_lex(&token, r->text, r->at, r->end, &problem) || !clt_token_is(&token, r->text, word)) return false;
  r->at = token.end;
  return true;
}

static bool sees_word(const reader *r, const char *word) {
  reader ahead = *r;
  return accept_word(&ahead, word);
}

static int expect_word(reader *r, const char *word) {
  char what[24];
  if (accept_word(r, word)) return CLT_OK;
  snprintf(what, sizeof what, "'%s'", word);
  return report_mistake(r, r->at, what, " is missing");
}

static bool is_any(const clt_token *t, const char *text, const char *const *words) {
  for (; *words; words++)
    if (clt_token_is(t, text, *words)) return true;
  return false;
}

/* Where the expression at r->at ends: at the text's end, before one of the words or before an unmatched bracket. */
static int find_end(const reader *reader_at, const char *const *words, size_t *end) {
  static const char *const opening[] = {"(", "[", "{", NULL}, *const closing[] = {")", "]", "}", NULL};
  reader r = *reader_at;
  clt_token t;
  int rc, depth = 0;
  while ((rc = look_ahead(&r, &t)) == CLT_OK && t.kind != CLT_TOKEN_END) {
    if (depth == 0 && (is_any(&t, r.text, closing) || is_any(&t, r.text, words))) break;
    depth += is_any(&t, r.text, opening) - is_any(&t, r.text, closing);
    r.at = t.end;
  }
  *end = r.at;
  return rc;
}

/* --- lists of elements, and comprehensions --- */

static int add_expr(reader *r, sequence *s, size_t begin, size_t end) {
  if (clt_grow(&s->exprs, &s->exprs_capacity, s->n_exprs + 1, sizeof *s->exprs)) return clt_fail_memory(r->error);
  int rc = clt_expr_compile_part(&s->exprs[s->n_exprs], r->text, begin, end, NULL, r->symbols, r->n_symbols, r->error);
  s->n_exprs += rc == CLT_OK;
  return rc;
}

static int read_elements(reader *r, sequence *s, const char *closing) {
  static const char *const comma[] = {",", NULL};
  int rc = CLT_OK;
  size_t end;
  while (rc == CLT_OK && !sees_word(r, closing)) {
    rc = find_end(r, comma, &end);
    if (rc == CLT_OK) rc = add_expr(r, s, r->at, end);
    r->at = end;
    if (rc == CLT_OK && !sees_word(r, closing)) rc = expect_word(r, ",");
  }
  return rc ? rc : expect_word(r, closing);
}

/* Behind "for". The variable is known from here on. */
static int read_loop(reader *r, clause *c) {
  clt_token name;
  int rc = look_ahead(r, &name);
  if (rc) return rc;
  if (name.kind != CLT_TOKEN_NAME || clt_is_keyword(r->text + name.begin, name.end - name.begin))
    return report_mistake(r, name.begin, "a name is missing behind 'for'", "");
  r->at = name.end;
  rc = expect_word(r, "in");
  if (rc == CLT_OK) rc = read_sequence(r, &c->over);
  if (rc) return rc;
  if (r->n_slots >= MOST_SLOTS) return report_mistake(r, name.begin, "there are too many loops", "");
  char *copy = strndup(r->text + name.begin, name.end - name.begin);
  if (copy == NULL) return clt_fail_memory(r->error);
  c->slot = r->n_slots++;
  r->symbols[r->n_symbols++] = (clt_symbol){.name = copy, .slot = c->slot};
  return CLT_OK;
}

static int read_display(reader *r, sequence *s, const char *closing) {
  static const char *const behind_element[] = {",", "for", NULL}, *const behind_condition[] = {"for", "if", NULL};
  size_t element = r->at, element_end, end, outside = r->n_symbols;
  int rc = find_end(r, behind_element, &element_end);
  if (rc) return rc;
  r->at = element_end;
  if (!sees_word(r, "for")) {
    r->at = element;
    return read_elements(r, s, closing);
  }
  /* The element stands before the loops whose variables it uses: they are read first. */
  while (rc == CLT_OK && !sees_word(r, closing)) {
    clause c = {0};
    if (accept_word(r, "for")) {
      rc = read_loop(r, &c);
    } else if (accept_word(r, "if")) {
      rc = find_end(r, behind_condition, &end);
      if (rc == CLT_OK)
        rc = clt_expr_compile_part(&c.condition, r->text, r->at, end, NULL, r->symbols, r->n_symbols, r->error);
      r->at = end;
    } else {
      rc = expect_word(r, closing);
    }
    if (rc == CLT_OK && clt_grow(&s->clauses, &s->clauses_capacity, s->n_clauses + 1, sizeof *s->clauses))
      rc = clt_fail_memory(r->error);
    if (rc == CLT_OK) {
      s->clauses[s->n_clauses++] = c;
    } else {
      free_sequence(c.over);
      clt_expr_free(c.condition);
    }
  }
  if (rc == CLT_OK) rc = add_expr(r, s, element, element_end);
  while (r->n_symbols > outside) free((void *)(uintptr_t)r->symbols[--r->n_symbols].name);
  return rc ? rc : expect_word(r, closing);
}

/* --- sequences --- */

static int read_part(reader *r, sequence **out) {
  static const char *const beginnings[] = {"list", "tuple", "set", "range", "["}; /* the first three wrap another */
  clt_token t;
  int rc = look_ahead(r, &t);
  if (rc) return rc;
  bool bracket = accept_word(r, "("), wrapped = false;
  for (size_t i = 0; i < sizeof beginnings / sizeof *beginnings; i++)
    wrapped |= bracket ? sees_word(r, beginnings[i]) : i < 3 && clt_token_is(&t, r->text, beginnings[i]);
  /* list(...), tuple(...) and a pair of brackets around a sequence change nothing. */
  if (wrapped) {
    if (!bracket) r->at = t.end;
    if (!bracket) rc = expect_word(r, "(");
    if (rc == CLT_OK) rc = read_sequence(r, out);
    return rc ? rc : expect_word(r, ")");
  }
  *out = clt_new_array(1, sizeof **out);
  if (*out == NULL) return clt_fail_memory(r->error);
  if (bracket) return read_display(r, *out, ")");
  if (accept_word(r, "[")) return read_display(r, *out, "]");
  if (accept_word(r, "{")) return read_display(r, *out, "}");
  if (!accept_word(r, "range"))
    return report_mistake(r, t.begin, "a list, range(...) or [... for ... in ...] is missing", "");
  size_t at = r->at;
  (*out)->range = true;
  rc = expect_word(r, "(");
  if (rc == CLT_OK) rc = read_elements(r, *out, ")");
  if (rc == CLT_OK && ((*out)->n_exprs < 1 || (*out)->n_exprs > 3))
    rc = report_mistake(r, at, "range() takes one to three numbers", ",");
  return rc;
}

/* On failure, too, *out is what was read, for the caller to free. */
static int read_sequence(reader *r, sequence **out) {
  int rc = ++r->depth > MOST_DEPTH ? report_mistake(r, r->at, "too many nested parts", "") : CLT_OK;
  do {
    if (rc == CLT_OK) rc = read_part(r, out);
    while (*out) out = &(*out)->next;
  } while (rc == CLT_OK && accept_word(r, "+"));
  r->depth--;
  return rc;
}

/* --- the types of T1 files --- */

static const struct fit {
  const char *name;
  clt_value_type type;
  int64_t least, most; /* of an integer */
} fits[] = {
    {"int", CLT_INT, INT32_MIN, INT32_MAX},
    {"integer", CLT_INT, INT64_MIN, INT64_MAX},
    {"uint", CLT_INT, 0, UINT32_MAX},
    {"unsigned int", CLT_INT, 0, UINT32_MAX},
    {"unsigned", CLT_INT, 0, UINT32_MAX},
    {"char", CLT_INT, INT8_MIN, INT8_MAX},
    {"uchar", CLT_INT, 0, UINT8_MAX},
    {"unsigned char", CLT_INT, 0, UINT8_MAX},
    {"short", CLT_INT, INT16_MIN, INT16_MAX},
    {"ushort", CLT_INT, 0, UINT16_MAX},
    {"unsigned short", CLT_INT, 0, UINT16_MAX},
    {"long", CLT_INT, INT64_MIN, INT64_MAX},
    {"ulong", CLT_INT, 0, INT64_MAX},
    {"unsigned long", CLT_INT, 0, INT64_MAX},
    {"int8", CLT_INT, INT8_MIN, INT8_MAX},
    {"int16", CLT_INT, INT16_MIN, INT16_MAX},
    {"int32", CLT_INT, INT32_MIN, INT32_MAX},
    {"int64", CLT_INT, INT64_MIN, INT64_MAX},
    {"uint8", CLT_INT, 0, UINT8_MAX},
    {"uint16", CLT_INT, 0, UINT16_MAX},
    {"uint32", CLT_INT, 0, UINT32_MAX},
    {"uint64", CLT_INT, 0, INT64_MAX},
    {"float", CLT_REAL, 0, 0},
    {"double", CLT_REAL, 0, 0},
    {"half", CLT_REAL, 0, 0},
    {"float16", CLT_REAL, 0, 0},
    {"float32", CLT_REAL, 0, 0},
    {"float64", CLT_REAL, 0, 0},
    {"bool", CLT_BOOL, 0, 1},
    {"boolean", CLT_BOOL, 0, 1},
    {"string", CLT_STRING, 0, 0},
    {"str", CLT_STRING, 0, 0},
};

int clt_value_fit(clt_value *value, const char *type, clt_error *error) {
  const struct fit *fit = fits, *end = fits + sizeof fits / sizeof *fits;
  char text[200];
  if (type == NULL || *type == '\0') return CLT_OK;
  while (fit < end && strcasecmp(fit->name, type) != 0) fit++;
  if (fit == end)
    return clt_fail(error, CLT_E_EXPRESSION,
                    "there is no type '%s' (there are int, uint, long, float, bool, string ...)", type);
  int64_t integer = value->integer;
  bool fits_in = (value->type == CLT_STRING) == (fit->type == CLT_STRING);
  if (fits_in && fit->type == CLT_REAL) {
    *value = clt_real(clt_value_number(*value));
  } else if (fits_in && fit->type != CLT_STRING) {
    if (value->type == CLT_REAL) fits_in = clt_real_to_integer(value->real, &integer) && (double)integer == value->real;
    fits_in = fits_in && integer >= fit->least && integer <= fit->most;
    if (fits_in) *value = (clt_value){.type = fit->type, .integer = integer};
  }
  if (fits_in) return CLT_OK;
  clt_value_print(*value, text, sizeof text);
  return clt_fail(error, CLT_E_EXPRESSION, "the value '%s' is not one of the type '%s'", text, type);
}

clt_value *clt_values_copy(const clt_value *values, size_t n) {
  size_t bytes;
  if (!clt_size_multiply(&bytes, n, sizeof *values)) return NULL;
  for (size_t i = 0; i < n; i++)
    if (values[i].type == CLT_STRING && __builtin_add_overflow(bytes, strlen(values[i].text) + 1, &bytes)) return NULL;
  clt_value *out = malloc(bytes ? bytes : 1);
  if (out == NULL) return NULL;
  char *texts = (char *)(out + n);
  for (size_t i = 0; i < n; i++) {
    out[i] = values[i];
    if (out[i].type != CLT_STRING) continue;
    out[i].text = strcpy(texts, values[i].text);
    texts += strlen(texts) + 1;
  }
  return out;
}

/* --- running them --- */

typedef struct lister {
  const char *text;
  clt_value slots[MOST_SLOTS];
  size_t steps;
  clt_error *error;
} lister;

/* Texts are borrowed from the sequence's expressions. */
typedef struct list {
  clt_value *values;
  size_t n, capacity;
} list;

static int list_sequence(lister *l, const sequence *s, list *out);

static int too_much(lister *l) {
  return clt_fail(l->error, CLT_E_RANGE, "the values '%.300s' are more than %d, or take too long to list", l->text,
                  MOST_VALUES);
}

static int append_value(lister *l, list *out, clt_value value) {
  if (out->n >= MOST_STEPS) return too_much(l);
  if (clt_grow(&out->values, &out->capacity, out->n + 1, sizeof *out->values)) return clt_fail_memory(l->error);
  out->values[out->n++] = value;
  return CLT_OK;
}

static int list_range(lister *l, const sequence *s, list *out) {
  int64_t bounds[3] = {0, 0, 1}; /* from, to, step */
  for (size_t i = 0; i < s->n_exprs; i++) {
    clt_value value;
    int rc = clt_expr_eval(s->exprs[i], l->slots, &value, l->error);
    if (rc) return rc;
    if (value.type != CLT_INT && value.type != CLT_BOOL)
      return clt_fail(l->error, CLT_E_EXPRESSION, "range() in '%.300s' takes whole numbers", l->text);
    bounds[s->n_exprs == 1 ? 1 : i] = value.integer;
  }
  if (bounds[2] == 0) return clt_fail(l->error, CLT_E_EXPRESSION, "the step of range() in '%.300s' is 0", l->text);
  for (int64_t x = bounds[0]; bounds[2] > 0 ? x < bounds[1] : x > bounds[1];) {
    int rc = append_value(l, out, (clt_value){.type = CLT_INT, .integer = x});
    if (rc) return rc;
    if (__builtin_add_overflow(x, bounds[2], &x)) break;
  }
  return CLT_OK;
}

/* The clauses of a comprehension from `index` on; behind the last one, its element, or the elements of a display. */
static int list_clauses(lister *l, const sequence *s, size_t index, list *out) {
  clt_value value;
  list over = {0};
  int rc = CLT_OK;
  if (index == s->n_clauses) {
    for (size_t i = 0; rc == CLT_OK && i < s->n_exprs; i++) {
      rc = clt_expr_eval(s->exprs[i], l->slots, &value, l->error);
      if (rc == CLT_OK) rc = append_value(l, out, value);
    }
    return rc;
  }
  const clause *c = &s->clauses[index];
  if (c->over == NULL) {
    rc = clt_expr_eval(c->condition, l->slots, &value, l->error);
    return rc || !clt_value_truthy(value) ? rc : list_clauses(l, s, index + 1, out);
  }
  rc = list_sequence(l, c->over, &over);
  for (size_t i = 0; rc == CLT_OK && i < over.n; i++) {
    l->slots[c->slot] = over.values[i];
    rc = ++l->steps > MOST_STEPS ? too_much(l) : list_clauses(l, s, index + 1, out);
  }
  free(over.values);
  return rc;
}

static int list_sequence(lister *l, const sequence *s, list *out) {
  int rc = CLT_OK;
  for (; rc == CLT_OK && s; s = s->next) rc = s->range ? list_range(l, s, out) : list_clauses(l, s, 0, out);
  return rc;
}

int clt_values_parse(clt_value **out, size_t *n, const char *text, const char *type, const clt_symbol *constants,
                     size_t n_constants, clt_error *error) {
  size_t length = strnlen(text, MOST_BYTES + 1);
  if (length > MOST_BYTES)
    return clt_fail(error, CLT_E_EXPRESSION, "a list of values is longer than %d characters", MOST_BYTES);
  reader r = {.text = text, .end = length, .n_symbols = n_constants, .error = error};
  lister l = {.text = text, .error = error};
  sequence *parsed = NULL;
  list values = {0};
  clt_token t;
  r.symbols = clt_new_array(n_constants + MOST_SLOTS, sizeof *r.symbols);
  if (r.symbols == NULL) return clt_fail_memory(error);
  if (n_constants) memcpy(r.symbols, constants, n_constants * sizeof *constants);
  int rc = look_ahead(&r, &t);
  bool scalar = t.kind == CLT_TOKEN_NUMBER || t.kind == CLT_TOKEN_TEXT || clt_token_is(&t, text, "-");
  if (rc == CLT_OK && scalar) { /* a single value without brackets */
    parsed = clt_new_array(1, sizeof *parsed);
    rc = parsed ? add_expr(&r, parsed, r.at, r.end) : clt_fail_memory(error);
    r.at = r.end;
  } else if (rc == CLT_OK) {
    rc = read_sequence(&r, &parsed);
  }
  if (rc == CLT_OK) rc = look_ahead(&r, &t);
  if (rc == CLT_OK && t.kind != CLT_TOKEN_END) rc = report_mistake(&r, t.begin, "the text goes on behind its end", "");
  free(r.symbols);
  if (rc == CLT_OK) rc = list_sequence(&l, parsed, &values);
  if (rc == CLT_OK && values.n > MOST_VALUES) rc = too_much(&l);
  for (size_t i = 0; rc == CLT_OK && i < values.n; i++) rc = clt_value_fit(&values.values[i], type, error);
  clt_value *block = rc ? NULL : clt_values_copy(values.values, values.n);
  if (rc == CLT_OK && block == NULL) rc = clt_fail_memory(error);
  if (rc == CLT_OK) {
    *out = block;
    *n = values.n;
  }
  free(values.values);
  free_sequence(parsed);
  return rc;
}
