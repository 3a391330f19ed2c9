/* Expressions inside of a sequence are found by their brackets and compiled where they stand. */
#include "space/sequence.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/memory.h"
#include "space/lex.h"

#define MOST_DEPTH 50

typedef struct reader {
  const char *text;
  size_t at, end;
  clt_symbol *symbols; /* constants, then the variables of the loops around */
  size_t n_symbols;
  uint32_t n_slots;
  int depth;
  clt_error *error;
} reader;

static int read_sequence(reader *r, clt_sequence **out);

void clt_sequence_free(clt_sequence *sequence) {
  while (sequence) {
    clt_sequence *next = sequence->next;
    for (size_t i = 0; i < sequence->n_exprs; i++) clt_expr_free(sequence->exprs[i]);
    for (size_t i = 0; i < sequence->n_clauses; i++) {
      clt_sequence_free(sequence->clauses[i].over);
      clt_expr_free(sequence->clauses[i].condition);
    }
    free(sequence->exprs);
    free(sequence->clauses);
    free(sequence);
    sequence = next;
  }
}

/* --- words --- */

static int mistake(reader *r, size_t at, const char *what, const char *detail) {
  return clt_fail(r->error, CLT_E_EXPRESSION, "cannot read the values '%.300s': %s%s at column %zu", r->text, what,
                  detail, at + 1);
}

static int look(reader *r, clt_token *token) {
  const char *problem = NULL;
  int rc = clt_lex(token, r->text, r->at, r->end, &problem);
  return rc ? mistake(r, token->begin, problem, ",") : CLT_OK;
}

static bool next_token(const reader *r, clt_token *token) {
  const char *problem;
  return clt_lex(token, r->text, r->at, r->end, &problem) == CLT_OK;
}

static bool sees(const reader *r, const char *word) {
  clt_token token;
  return next_token(r, &token) && clt_token_is(&token, r->text, word);
}

static bool accept(reader *r, const char *word) {
  clt_token token;
  if (!next_token(r, &token) || !clt_token_is(&token, r->text, word)) return false;
  r->at = token.end;
  return true;
}

static int expect(reader *r, const char *word) {
  char what[24];
  if (accept(r, word)) return CLT_OK;
  snprintf(what, sizeof what, "'%s'", word);
  return mistake(r, r->at, what, " is missing");
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
  while ((rc = look(&r, &t)) == CLT_OK && t.kind != CLT_TOKEN_END) {
    if (depth == 0 && (is_any(&t, r.text, closing) || is_any(&t, r.text, words))) break;
    depth += is_any(&t, r.text, opening) - is_any(&t, r.text, closing);
    r.at = t.end;
  }
  *end = r.at;
  return rc;
}

/* --- expressions --- */

static int compile(reader *r, size_t begin, size_t end, clt_expr **out) {
  return clt_expr_compile_part(out, r->text, begin, end, NULL, r->symbols, r->n_symbols, r->error);
}

static int add_expr(reader *r, clt_sequence *s, size_t begin, size_t end) {
  clt_expr *expr = NULL;
  int rc =
      clt_grow(&s->exprs, &s->exprs_capacity, s->n_exprs + 1, sizeof *s->exprs) ? clt_fail_memory(r->error) : CLT_OK;
  if (rc == CLT_OK) rc = compile(r, begin, end, &expr);
  if (rc == CLT_OK) s->exprs[s->n_exprs++] = expr;
  return rc;
}

static int read_elements(reader *r, clt_sequence *s, const char *closing) {
  static const char *const comma[] = {",", NULL};
  int rc = CLT_OK;
  size_t end;
  while (rc == CLT_OK && !sees(r, closing)) {
    rc = find_end(r, comma, &end);
    if (rc == CLT_OK) rc = add_expr(r, s, r->at, end);
    r->at = end;
    if (rc == CLT_OK && !sees(r, closing)) rc = expect(r, ",");
  }
  return rc ? rc : expect(r, closing);
}

/* --- comprehensions --- */

static int add_clause(reader *r, clt_sequence *s, clt_clause clause) {
  if (clt_grow(&s->clauses, &s->clauses_capacity, s->n_clauses + 1, sizeof *s->clauses))
    return clt_fail_memory(r->error);
  s->clauses[s->n_clauses++] = clause;
  return CLT_OK;
}

static int add_variable(reader *r, const clt_token *name) {
  if (r->n_slots >= CLT_SEQUENCE_MAX_SLOTS) return mistake(r, name->begin, "there are too many loops", "");
  char *copy = strndup(r->text + name->begin, name->end - name->begin);
  if (copy == NULL) return clt_fail_memory(r->error);
  r->symbols[r->n_symbols++] = (clt_symbol){.name = copy, .slot = r->n_slots++};
  return CLT_OK;
}

static void drop_variable(reader *r) { free((void *)(uintptr_t)r->symbols[--r->n_symbols].name); }

static int read_loop(reader *r, clt_sequence *s) {
  clt_token name;
  clt_sequence *over = NULL;
  int rc = look(r, &name);
  if (rc) return rc;
  if (name.kind != CLT_TOKEN_NAME || clt_is_keyword(r->text + name.begin, name.end - name.begin))
    return mistake(r, name.begin, "a name is missing behind 'for'", "");
  r->at = name.end;
  rc = expect(r, "in");
  if (rc == CLT_OK) rc = read_sequence(r, &over);
  if (rc == CLT_OK) rc = add_variable(r, &name);
  if (rc == CLT_OK && (rc = add_clause(r, s, (clt_clause){.slot = r->n_slots - 1, .over = over})) == CLT_OK)
    over = NULL;
  clt_sequence_free(over);
  return rc;
}

static int read_condition(reader *r, clt_sequence *s) {
  static const char *const further[] = {"for", "if", NULL};
  clt_expr *condition = NULL;
  size_t end;
  int rc = find_end(r, further, &end);
  if (rc == CLT_OK) rc = compile(r, r->at, end, &condition);
  if (rc == CLT_OK && (rc = add_clause(r, s, (clt_clause){.condition = condition})) == CLT_OK) condition = NULL;
  r->at = end;
  clt_expr_free(condition);
  return rc;
}

/* The element stands before the loops whose variables it uses: they are read first. */
static int read_comprehension(reader *r, clt_sequence *s, size_t element_end, const char *closing) {
  size_t element = r->at, outside = r->n_symbols;
  int rc = CLT_OK;
  s->kind = CLT_SEQUENCE_COMPREHENSION;
  r->at = element_end;
  while (rc == CLT_OK && !sees(r, closing)) {
    if (accept(r, "for")) {
      rc = read_loop(r, s);
    } else if (accept(r, "if")) {
      rc = read_condition(r, s);
    } else {
      rc = expect(r, closing);
    }
  }
  if (rc == CLT_OK) rc = add_expr(r, s, element, element_end);
  while (r->n_symbols > outside) drop_variable(r);
  return rc ? rc : expect(r, closing);
}

static int read_display(reader *r, clt_sequence *s, const char *closing) {
  static const char *const words[] = {",", "for", NULL};
  size_t end;
  int rc = find_end(r, words, &end);
  if (rc) return rc;
  reader behind = *r;
  behind.at = end;
  return sees(&behind, "for") ? read_comprehension(r, s, end, closing) : read_elements(r, s, closing);
}

/* --- sequences --- */

static int read_range(reader *r, clt_sequence *s) {
  size_t at = r->at;
  s->kind = CLT_SEQUENCE_RANGE;
  int rc = expect(r, "(");
  if (rc == CLT_OK) rc = read_elements(r, s, ")");
  if (rc == CLT_OK && (s->n_exprs < 1 || s->n_exprs > 3))
    rc = mistake(r, at, "range() takes one to three numbers", ",");
  return rc;
}

static bool begins_sequence(const reader *r) {
  static const char *const words[] = {"[", "range", "list", "tuple", "set", NULL};
  clt_token t;
  return next_token(r, &t) && is_any(&t, r->text, words);
}

/* list(...), tuple(...) and a pair of brackets around a sequence change nothing. */
static int read_wrapped(reader *r, clt_sequence **out) {
  int rc = read_sequence(r, out);
  return rc ? rc : expect(r, ")");
}

static int read_bracketed(reader *r, clt_sequence **out) {
  if (begins_sequence(r)) return read_wrapped(r, out);
  *out = clt_new_array(1, sizeof **out);
  return *out ? read_display(r, *out, ")") : clt_fail_memory(r->error);
}

static int read_part(reader *r, clt_sequence **out) {
  static const char *const wrappers[] = {"list", "tuple", "set", NULL};
  clt_token t;
  int rc = look(r, &t);
  if (rc) return rc;
  if (accept(r, "(")) return read_bracketed(r, out);
  if (is_any(&t, r->text, wrappers)) {
    r->at = t.end;
    rc = expect(r, "(");
    return rc ? rc : read_wrapped(r, out);
  }
  *out = clt_new_array(1, sizeof **out);
  if (*out == NULL) return clt_fail_memory(r->error);
  if (accept(r, "[")) return read_display(r, *out, "]");
  if (accept(r, "{")) return read_display(r, *out, "}");
  if (accept(r, "range")) return read_range(r, *out);
  return mistake(r, t.begin, "a list, range(...) or [... for ... in ...] is missing", "");
}

/* On failure, too, *out is what was read, for the caller to free. */
static int read_sequence(reader *r, clt_sequence **out) {
  int rc = ++r->depth > MOST_DEPTH ? mistake(r, r->at, "too many nested parts", "") : CLT_OK;
  do {
    if (rc == CLT_OK) rc = read_part(r, out);
    while (*out) out = &(*out)->next;
  } while (rc == CLT_OK && accept(r, "+"));
  r->depth--;
  return rc;
}

/* A single value without brackets. */
static int read_scalar(reader *r, clt_sequence **out) {
  *out = clt_new_array(1, sizeof **out);
  if (*out == NULL) return clt_fail_memory(r->error);
  int rc = add_expr(r, *out, r->at, r->end);
  r->at = r->end;
  return rc;
}

static int read_all(reader *r, clt_sequence **out) {
  clt_token t;
  int rc = look(r, &t);
  bool scalar = t.kind == CLT_TOKEN_NUMBER || t.kind == CLT_TOKEN_TEXT || clt_token_is(&t, r->text, "-");
  if (rc == CLT_OK) rc = scalar ? read_scalar(r, out) : read_sequence(r, out);
  if (rc == CLT_OK) rc = look(r, &t);
  if (rc == CLT_OK && t.kind != CLT_TOKEN_END) rc = mistake(r, t.begin, "the text goes on behind its end", "");
  return rc;
}

int clt_sequence_parse(clt_sequence **out, const char *text, const clt_symbol *constants, size_t n_constants,
                       clt_error *error) {
  size_t length = strnlen(text, CLT_VALUES_MAX_BYTES + 1);
  if (length > CLT_VALUES_MAX_BYTES)
    return clt_fail(error, CLT_E_EXPRESSION, "a list of values is longer than %d characters", CLT_VALUES_MAX_BYTES);
  clt_sequence *sequence = NULL;
  reader r = {.text = text, .end = length, .n_symbols = n_constants, .error = error};
  r.symbols = clt_new_array(n_constants + CLT_SEQUENCE_MAX_SLOTS, sizeof *r.symbols);
  if (r.symbols == NULL) return clt_fail_memory(error);
  if (n_constants) memcpy(r.symbols, constants, n_constants * sizeof *constants);
  int rc = read_all(&r, &sequence);
  free(r.symbols);
  if (rc)
    clt_sequence_free(sequence);
  else
    *out = sequence;
  return rc;
}
