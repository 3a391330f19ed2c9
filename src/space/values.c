/* Lists of values: the texts of T1 files ("[1, 2]", "range(8)", "[2**i for i in range(8)]", and concatenations) are
 * taken apart into sequences, whose expressions are found by their brackets and compiled where they stand, and run. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/memory.h"
#include "space/code.h"

#define MOST_DEPTH 50
#define MOST_SLOTS 32 /* loops' variables in one text */
#define MOST_BYTES (1 << 20)
#define MOST_VALUES 65536
#define MOST_STEPS ((size_t)1 << 20) /* of all loops together, and of what a loop runs over */

/* --- taking texts apart --- */

typedef enum sequence_kind { SEQUENCE_DISPLAY, SEQUENCE_RANGE, SEQUENCE_COMPREHENSION } sequence_kind;

/* "for variable in over", or "if condition" where over is NULL. */
typedef struct clause {
  uint32_t slot; /* the variable's */
  struct sequence *over;
  clt_expr *condition;
} clause;

typedef struct sequence {
  sequence_kind kind;
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

static bool next_token(const reader *r, clt_token *token) {
  const char *problem;
  return clt_lex(token, r->text, r->at, r->end, &problem) == CLT_OK;
}

static bool sees_word(const reader *r, const char *word) {
  clt_token token;
  return next_token(r, &token) && clt_token_is(&token, r->text, word);
}

static bool accept_word(reader *r, const char *word) {
  clt_token token;
  if (!next_token(r, &token) || !clt_token_is(&token, r->text, word)) return false;
  r->at = token.end;
  return true;
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

/* --- expressions --- */

static int compile_part(reader *r, size_t begin, size_t end, clt_expr **out) {
  return clt_expr_compile_part(out, r->text, begin, end, NULL, r->symbols, r->n_symbols, r->error);
}

static int add_expr(reader *r, sequence *s, size_t begin, size_t end) {
  if (clt_grow(&s->exprs, &s->exprs_capacity, s->n_exprs + 1, sizeof *s->exprs)) return clt_fail_memory(r->error);
  int rc = compile_part(r, begin, end, &s->exprs[s->n_exprs]);
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

/* --- comprehensions --- */

static int add_clause(reader *r, sequence *s, clause added) {
  if (clt_grow(&s->clauses, &s->clauses_capacity, s->n_clauses + 1, sizeof *s->clauses))
    return clt_fail_memory(r->error);
  s->clauses[s->n_clauses++] = added;
  return CLT_OK;
}

static int read_loop(reader *r, sequence *s) {
  clt_token name;
  sequence *over = NULL;
  int rc = look_ahead(r, &name);
  if (rc) return rc;
  if (name.kind != CLT_TOKEN_NAME || clt_is_keyword(r->text + name.begin, name.end - name.begin))
    return report_mistake(r, name.begin, "a name is missing behind 'for'", "");
  r->at = name.end;
  rc = expect_word(r, "in");
  if (rc == CLT_OK) rc = read_sequence(r, &over);
  if (rc == CLT_OK && r->n_slots >= MOST_SLOTS) rc = report_mistake(r, name.begin, "there are too many loops", "");
  if (rc == CLT_OK) {
    char *copy = strndup(r->text + name.begin, name.end - name.begin);
    if (copy)
      r->symbols[r->n_symbols++] = (clt_symbol){.name = copy, .slot = r->n_slots++};
    else
      rc = clt_fail_memory(r->error);
  }
  if (rc == CLT_OK && (rc = add_clause(r, s, (clause){.slot = r->n_slots - 1, .over = over})) == CLT_OK) over = NULL;
  free_sequence(over);
  return rc;
}

static int read_condition(reader *r, sequence *s) {
  static const char *const further[] = {"for", "if", NULL};
  clt_expr *condition = NULL;
  size_t end;
  int rc = find_end(r, further, &end);
  if (rc == CLT_OK) rc = compile_part(r, r->at, end, &condition);
  if (rc == CLT_OK && (rc = add_clause(r, s, (clause){.condition = condition})) == CLT_OK) condition = NULL;
  r->at = end;
  clt_expr_free(condition);
  return rc;
}

/* The element stands before the loops whose variables it uses: they are read first. */
static int read_comprehension(reader *r, sequence *s, size_t element_end, const char *closing) {
  size_t element = r->at, outside = r->n_symbols;
  int rc = CLT_OK;
  s->kind = SEQUENCE_COMPREHENSION;
  r->at = element_end;
  while (rc == CLT_OK && !sees_word(r, closing)) {
    if (accept_word(r, "for")) {
      rc = read_loop(r, s);
    } else if (accept_word(r, "if")) {
      rc = read_condition(r, s);
    } else {
      rc = expect_word(r, closing);
    }
  }
  if (rc == CLT_OK) rc = add_expr(r, s, element, element_end);
  while (r->n_symbols > outside) free((void *)(uintptr_t)r->symbols[--r->n_symbols].name);
  return rc ? rc : expect_word(r, closing);
}

static int read_display(reader *r, sequence *s, const char *closing) {
  static const char *const words[] = {",", "for", NULL};
  size_t end;
  int rc = find_end(r, words, &end);
  if (rc) return rc;
  reader behind = *r;
  behind.at = end;
  return sees_word(&behind, "for") ? read_comprehension(r, s, end, closing) : read_elements(r, s, closing);
}

/* --- sequences --- */

static int read_part(reader *r, sequence **out) {
  static const char *const wrappers[] = {"list", "tuple", "set", NULL}, *const beginnings[] = {"[",     "range", "list",
                                                                                               "tuple", "set",   NULL};
  clt_token t;
  int rc = look_ahead(r, &t);
  if (rc) return rc;
  bool bracket = accept_word(r, "("), wrapped = !bracket && is_any(&t, r->text, wrappers);
  if (wrapped) {
    r->at = t.end;
    if ((rc = expect_word(r, "("))) return rc;
  }
  /* list(...), tuple(...) and a pair of brackets around a sequence change nothing. */
  if (wrapped || (bracket && next_token(r, &t) && is_any(&t, r->text, beginnings))) {
    rc = read_sequence(r, out);
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
  (*out)->kind = SEQUENCE_RANGE;
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

static int parse_sequence(sequence **out, const char *text, const clt_symbol *constants, size_t n_constants,
                          clt_error *error) {
  size_t length = strnlen(text, MOST_BYTES + 1);
  if (length > MOST_BYTES)
    return clt_fail(error, CLT_E_EXPRESSION, "a list of values is longer than %d characters", MOST_BYTES);
  sequence *made = NULL;
  clt_token t;
  reader r = {.text = text, .end = length, .n_symbols = n_constants, .error = error};
  r.symbols = clt_new_array(n_constants + MOST_SLOTS, sizeof *r.symbols);
  if (r.symbols == NULL) return clt_fail_memory(error);
  if (n_constants) memcpy(r.symbols, constants, n_constants * sizeof *constants);
  int rc = look_ahead(&r, &t);
  bool scalar = t.kind == CLT_TOKEN_NUMBER || t.kind == CLT_TOKEN_TEXT || clt_token_is(&t, text, "-");
  if (rc == CLT_OK && scalar) { /* a single value without brackets */
    made = clt_new_array(1, sizeof *made);
    rc = made ? add_expr(&r, made, r.at, r.end) : clt_fail_memory(error);
    r.at = r.end;
  } else if (rc == CLT_OK) {
    rc = read_sequence(&r, &made);
  }
  if (rc == CLT_OK) rc = look_ahead(&r, &t);
  if (rc == CLT_OK && t.kind != CLT_TOKEN_END) rc = report_mistake(&r, t.begin, "the text goes on behind its end", "");
  free(r.symbols);
  if (rc)
    free_sequence(made);
  else
    *out = made;
  return rc;
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

static int list_display(lister *l, const sequence *s, list *out) {
  int rc = CLT_OK;
  for (size_t i = 0; rc == CLT_OK && i < s->n_exprs; i++) {
    clt_value value;
    rc = clt_expr_eval(s->exprs[i], l->slots, &value, l->error);
    if (rc == CLT_OK) rc = append_value(l, out, value);
  }
  return rc;
}

static int range_bounds(lister *l, const sequence *s, int64_t bounds[3]) {
  bounds[0] = 0;
  bounds[2] = 1;
  for (size_t i = 0; i < s->n_exprs; i++) {
    clt_value value;
    int rc = clt_expr_eval(s->exprs[i], l->slots, &value, l->error);
    if (rc) return rc;
    if (value.type != CLT_INT && value.type != CLT_BOOL)
      return clt_fail(l->error, CLT_E_EXPRESSION, "range() in '%.300s' takes whole numbers", l->text);
    bounds[s->n_exprs == 1 ? 1 : i] = value.integer;
  }
  if (bounds[2] == 0) return clt_fail(l->error, CLT_E_EXPRESSION, "the step of range() in '%.300s' is 0", l->text);
  return CLT_OK;
}

static int list_range(lister *l, const sequence *s, list *out) {
  int64_t bounds[3] = {0}, x;
  int rc = range_bounds(l, s, bounds);
  bool more = rc == CLT_OK;
  for (x = bounds[0]; more && (bounds[2] > 0 ? x < bounds[1] : x > bounds[1]);) {
    rc = append_value(l, out, (clt_value){.type = CLT_INT, .integer = x});
    more = rc == CLT_OK && !__builtin_add_overflow(x, bounds[2], &x);
  }
  return rc;
}

/* The clauses of a comprehension from `index` on; behind the last one, its element. */
static int list_clauses(lister *l, const sequence *s, size_t index, list *out) {
  if (index == s->n_clauses) return list_display(l, s, out);
  const clause *c = &s->clauses[index];
  list over = {0};
  int rc;
  if (c->over == NULL) {
    clt_value condition;
    rc = clt_expr_eval(c->condition, l->slots, &condition, l->error);
    return rc || !clt_value_truthy(condition) ? rc : list_clauses(l, s, index + 1, out);
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
  for (; rc == CLT_OK && s; s = s->next) {
    switch (s->kind) {
      case SEQUENCE_DISPLAY: rc = list_display(l, s, out); break;
      case SEQUENCE_RANGE: rc = list_range(l, s, out); break;
      default: rc = list_clauses(l, s, 0, out); break;
    }
  }
  return rc;
}

int clt_values_parse(clt_value **out, size_t *n, const char *text, const char *type, const clt_symbol *constants,
                     size_t n_constants, clt_error *error) {
  sequence *parsed = NULL;
  lister l = {.text = text, .error = error};
  list values = {0};
  clt_value *block = NULL;
  int rc = parse_sequence(&parsed, text, constants, n_constants, error);
  if (rc) goto done;
  rc = list_sequence(&l, parsed, &values);
  if (rc == CLT_OK && values.n > MOST_VALUES) rc = too_much(&l);
  for (size_t i = 0; rc == CLT_OK && i < values.n; i++) rc = clt_value_fit(&values.values[i], type, error);
  if (rc) goto done;
  block = clt_values_copy(values.values, values.n);
  if (block == NULL) {
    rc = clt_fail_memory(error);
    goto done;
  }
  *out = block;
  *n = values.n;
done:
  free(values.values);
  free_sequence(parsed);
  return rc;
}
