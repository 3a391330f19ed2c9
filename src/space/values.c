/* Lists of values: the texts of T1 files ("[1, 2]", "range(8)", "[2**i for i in range(8)]", and concatenations) are
 * interpreted while they are read. The end of an expression is found by matching brackets, and each expression is
 * compiled once. The body of a loop is read again for each value. */
#include <strings.h>

#include "base/base.h"
#include "base/hash.h"
#include "space/code.h"

#define MOST_DEPTH 50
#define MOST_SLOTS 32 /* variables of nested loops */
#define MOST_BYTES (1 << 20)
#define MOST_VALUES 65536
#define MOST_LISTED ((size_t)1 << 20) /* values that a loop may run over */
#define MOST_STEPS ((size_t)1 << 22)  /* evaluations in total: about a second */

/* Texts are borrowed from the expressions. */
typedef struct list {
  clt_value *values;
  size_t n, capacity;
} list;

typedef struct value_reader {
  const char *text;
  size_t at, end;
  clt_symbol *symbols; /* constants, then the variables of the enclosing loops, whose slots count from 0 */
  size_t n_symbols, n_constants;
  clt_value slots[MOST_SLOTS];
  bool dry; /* only check the syntax, evaluate nothing: no value of a loop reaches this part */
  struct compiled {
    clt_expr *expr;
    size_t end;
  } * compiled;
  size_t n_compiled, compiled_capacity;
  clt_map compiled_at; /* beginning of an expression -> its number */
  size_t steps;
  int depth;
  int rc; /* of the first mistake; after it, no word is read and no value added */
  clt_error *error;
} value_reader;

static void read_sequence(value_reader *r, list *out);

/* --- words --- */

static void report_mistake(value_reader *r, size_t at, const char *what, const char *detail) {
  if (r->rc == CLT_OK)
    r->rc = clt_fail(r->error, CLT_E_EXPRESSION, "cannot read the values '%.300s': %s%s at column %zu", r->text, what,
                     detail, at + 1);
}

static void report_too_much(value_reader *r) {
  if (r->rc == CLT_OK)
    r->rc =
        clt_fail(r->error, CLT_E_RANGE, "'%.300s' has more than %d values, or takes too long to list; use fewer values",
                 r->text, MOST_VALUES);
}

/* The next token; CLT_TOKEN_END after a mistake. */
static clt_token look_ahead(value_reader *r) {
  const char *problem = NULL;
  clt_token token = {.begin = r->at, .end = r->at};
  if (r->rc == CLT_OK && clt_lex(&token, r->text, r->at, r->end, &problem)) {
    report_mistake(r, token.begin, problem, ",");
    token.kind = CLT_TOKEN_END;
  }
  return token;
}

static bool sees_word(const value_reader *r, const char *word) {
  const char *problem;
  clt_token token;
  return r->rc == CLT_OK && clt_lex(&token, r->text, r->at, r->end, &problem) == CLT_OK &&
         clt_token_is(&token, r->text, word);
}

static bool accept_word(value_reader *r, const char *word) {
  if (!sees_word(r, word)) return false;
  r->at = look_ahead(r).end;
  return true;
}

static void expect_word(value_reader *r, const char *word) {
  char what[24];
  snprintf(what, sizeof what, "'%s'", word);
  if (!accept_word(r, word)) report_mistake(r, r->at, what, " is missing");
}

static bool is_any(const clt_token *t, const char *text, const char *const *words) {
  for (; *words; words++)
    if (clt_token_is(t, text, *words)) return true;
  return false;
}

/* The end of the expression at r->at: the end of the text, one of the words, or an unmatched closing bracket. */
static size_t find_end(value_reader *r, const char *const *words) {
  static const char *const opening[] = {"(", "[", "{", NULL}, *const closing[] = {")", "]", "}", NULL};
  const size_t begin = r->at;
  int depth = 0;
  for (clt_token t; (t = look_ahead(r)).kind != CLT_TOKEN_END; r->at = t.end) {
    if (depth == 0 && (is_any(&t, r->text, closing) || is_any(&t, r->text, words))) break;
    depth += is_any(&t, r->text, opening) - is_any(&t, r->text, closing);
  }
  const size_t end = r->at;
  r->at = begin;
  return end;
}

/* --- expressions --- */

static void append_value(value_reader *r, list *out, clt_value value) {
  if (r->rc || r->dry) return;
  if (out->n >= MOST_LISTED)
    report_too_much(r);
  else if (clt_grow(&out->values, &out->capacity, out->n + 1, sizeof *out->values))
    r->rc = clt_fail_memory(r->error);
  else
    out->values[out->n++] = value;
}

/* Compiles the expression at r->at, which ends before one of the words, once. */
static const struct compiled *compile_value(value_reader *r, const char *const *words) {
  uint64_t *number = clt_map_find(&r->compiled_at, r->at);
  if (number) return &r->compiled[*number];
  struct compiled new = {.end = find_end(r, words)};
  if (r->rc) return NULL;
  if (clt_grow(&r->compiled, &r->compiled_capacity, r->n_compiled + 1, sizeof *r->compiled) ||
      (number = clt_map_add(&r->compiled_at, r->at, NULL)) == NULL)
    r->rc = clt_fail_memory(r->error);
  else
    r->rc = clt_expr_compile_part(&new.expr, r->text, r->at, new.end, NULL, r->symbols, r->n_symbols, r->error);
  if (r->rc) return NULL;
  *number = r->n_compiled;
  r->compiled[r->n_compiled] = new;
  return &r->compiled[r->n_compiled++];
}

/* Evaluates the expression at r->at; false after a mistake, or if the reader is dry. */
static clt_value read_value(value_reader *r, const char *const *words) {
  clt_value out = clt_boolean(false);
  const struct compiled *c = r->rc ? NULL : compile_value(r, words);
  if (c == NULL) return out;
  r->at = c->end;
  if (++r->steps > MOST_STEPS)
    report_too_much(r);
  else if (!r->dry)
    r->rc = clt_expr_eval(c->expr, r->slots, &out, r->error);
  return out;
}

/* --- lists of elements, and comprehensions --- */

static void read_elements(value_reader *r, list *out, const char *closing) {
  static const char *const comma[] = {",", NULL};
  while (r->rc == CLT_OK && !sees_word(r, closing)) {
    append_value(r, out, read_value(r, comma));
    if (!sees_word(r, closing)) expect_word(r, ",");
  }
  expect_word(r, closing);
}

static const char *const behind_element[] = {",", "for", NULL}, *const behind_condition[] = {"for", "if", NULL};

static void read_clauses(value_reader *r, list *out, size_t element, const char *closing);

/* The clause "for name in sequence", behind the "for", and those that follow it, which are read for each value. */
static void read_loop(value_reader *r, list *out, size_t element, const char *closing) {
  const clt_token name = look_ahead(r);
  const size_t length = name.end - name.begin, slot = r->n_symbols - r->n_constants;
  list over = {0};
  if (name.kind != CLT_TOKEN_NAME || clt_is_keyword(r->text + name.begin, length))
    report_mistake(r, name.begin, "a name is missing after 'for'", "");
  r->at = name.end;
  expect_word(r, "in");
  read_sequence(r, &over);
  const size_t body = r->at;
  char *copy = strndup(r->text + name.begin, length);
  if (slot >= MOST_SLOTS) report_mistake(r, name.begin, "too many nested loops", "");
  if (r->rc == CLT_OK && copy == NULL) r->rc = clt_fail_memory(r->error);
  if (r->rc == CLT_OK) r->symbols[r->n_symbols++] = (clt_symbol){.name = copy, .slot = (uint32_t)slot};
  r->dry = r->dry || over.n == 0;
  for (size_t i = 0; r->rc == CLT_OK && (i < over.n || i == 0); i++) {
    r->at = body;
    r->slots[slot] = over.n ? over.values[i] : clt_boolean(false);
    if (++r->steps > MOST_STEPS) report_too_much(r);
    read_clauses(r, out, element, closing);
  }
  r->n_symbols = r->n_constants + slot;
  free(copy);
  free(over.values);
}

/* Runs the clauses of a comprehension from r->at to its closing bracket. After the last clause, evaluates the element,
 * which precedes the clauses in the text. */
static void read_clauses(value_reader *r, list *out, size_t element, const char *closing) {
  const bool dry = r->dry;
  if (++r->depth > MOST_DEPTH) report_mistake(r, r->at, "lists nested too deeply", "");
  if (sees_word(r, closing)) {
    const size_t behind = r->at;
    r->at = element;
    append_value(r, out, read_value(r, behind_element));
    r->at = behind;
  } else if (accept_word(r, "if")) {
    const clt_value value = read_value(r, behind_condition);
    r->dry = dry || !clt_value_truthy(value);
    read_clauses(r, out, element, closing);
  } else if (accept_word(r, "for")) {
    read_loop(r, out, element, closing);
  } else {
    expect_word(r, closing);
  }
  r->dry = dry;
  r->depth--;
}

static void read_display(value_reader *r, list *out, const char *closing) {
  const size_t element = r->at;
  r->at = find_end(r, behind_element);
  if (sees_word(r, "for")) {
    read_clauses(r, out, element, closing);
    expect_word(r, closing);
  } else {
    r->at = element;
    read_elements(r, out, closing);
  }
}

/* --- sequences --- */

/* Reads the arguments of "range". */
static void read_range(value_reader *r, list *out) {
  const size_t at = r->at;
  list given = {0};
  int64_t bounds[3] = {0, 0, 1}; /* from, to, step */
  expect_word(r, "(");
  read_elements(r, &given, ")");
  if (!r->dry && (given.n < 1 || given.n > 3)) report_mistake(r, at, "range() needs one to three numbers", ",");
  for (size_t i = 0; r->rc == CLT_OK && i < given.n; i++) {
    const clt_value value = given.values[i];
    if (value.type != CLT_INT && value.type != CLT_BOOL)
      r->rc = clt_fail(r->error, CLT_E_EXPRESSION, "range() in '%.300s' needs whole numbers", r->text);
    bounds[given.n == 1 ? 1 : i] = value.integer;
  }
  free(given.values);
  if (r->rc == CLT_OK && bounds[2] == 0)
    r->rc = clt_fail(r->error, CLT_E_EXPRESSION, "the step of range() in '%.300s' is 0", r->text);
  for (int64_t x = bounds[0]; r->rc == CLT_OK && (bounds[2] > 0 ? x < bounds[1] : x > bounds[1]);) {
    append_value(r, out, clt_integer(x));
    if (__builtin_add_overflow(x, bounds[2], &x)) break;
  }
}

static void read_part(value_reader *r, list *out) {
  static const char *const beginnings[] = {"list", "tuple", "set", "range",
                                           "["}; /* the first three contain another sequence */
  const clt_token t = look_ahead(r);
  bool bracket = accept_word(r, "("), wrapped = false;
  for (size_t i = 0; i < sizeof beginnings / sizeof *beginnings; i++)
    wrapped |= bracket ? sees_word(r, beginnings[i]) : i < 3 && clt_token_is(&t, r->text, beginnings[i]);
  /* list(...), tuple(...) and a pair of brackets around a sequence change nothing. */
  if (wrapped) {
    if (!bracket) r->at = t.end;
    if (!bracket) expect_word(r, "(");
    read_sequence(r, out);
    expect_word(r, ")");
  } else if (bracket) {
    read_display(r, out, ")");
  } else if (accept_word(r, "[")) {
    read_display(r, out, "]");
  } else if (accept_word(r, "{")) {
    read_display(r, out, "}");
  } else if (accept_word(r, "range")) {
    read_range(r, out);
  } else {
    report_mistake(r, t.begin, "a list, range(...) or [... for ... in ...] is missing", "");
  }
}

static void read_sequence(value_reader *r, list *out) {
  if (++r->depth > MOST_DEPTH) report_mistake(r, r->at, "lists nested too deeply", "");
  do read_part(r, out);
  while (accept_word(r, "+"));
  r->depth--;
}

int clt_values_parse(clt_value **out, size_t *n, const char *text, const char *type, const clt_symbol *constants,
                     size_t n_constants, clt_error *error) {
  static const char *const nothing[] = {NULL};
  size_t length = strnlen(text, MOST_BYTES + 1);
  if (length > MOST_BYTES)
    return clt_fail(error, CLT_E_EXPRESSION, "a list of values is longer than %d characters", MOST_BYTES);
  value_reader r = {.text = text, .end = length, .n_symbols = n_constants, .n_constants = n_constants, .error = error};
  list values = {0};
  r.symbols = clt_new_array(n_constants + MOST_SLOTS, sizeof *r.symbols);
  if (r.symbols == NULL) return clt_fail_memory(error);
  if (n_constants) memcpy(r.symbols, constants, n_constants * sizeof *constants);
  clt_token t = look_ahead(&r);
  if (t.kind == CLT_TOKEN_NUMBER || t.kind == CLT_TOKEN_TEXT || clt_token_is(&t, text, "-"))
    append_value(&r, &values, read_value(&r, nothing)); /* a single value without brackets */
  else
    read_sequence(&r, &values);
  t = look_ahead(&r);
  if (t.kind != CLT_TOKEN_END) report_mistake(&r, t.begin, "unexpected text after the end of the list", "");
  if (values.n > MOST_VALUES) report_too_much(&r);
  for (size_t i = 0; r.rc == CLT_OK && i < values.n; i++) r.rc = clt_value_fit(&values.values[i], type, error);
  clt_value *block = r.rc ? NULL : clt_values_copy(values.values, values.n);
  if (r.rc == CLT_OK && block == NULL) r.rc = clt_fail_memory(error);
  if (r.rc == CLT_OK) {
    *out = block;
    *n = values.n;
  }
  for (size_t i = 0; i < r.n_compiled; i++) clt_expr_free(r.compiled[i].expr);
  free(r.compiled);
  clt_map_release(&r.compiled_at);
  free(r.symbols);
  free(values.values);
  return r.rc;
}

/* --- the types of T1 files --- */

int clt_value_fit(clt_value *value, const char *type, clt_error *error) {
  static const struct {
    const char *name;
    clt_value_type type;
    int bits; /* of an integer, which may be "unsigned NAME" or "uNAME" as well */
  } fits[] = {{"int", CLT_INT, 32},     {"integer", CLT_INT, 64},  {"char", CLT_INT, 8},     {"short", CLT_INT, 16},
              {"long", CLT_INT, 64},    {"int8", CLT_INT, 8},      {"int16", CLT_INT, 16},   {"int32", CLT_INT, 32},
              {"int64", CLT_INT, 64},   {"float", CLT_REAL, 0},    {"double", CLT_REAL, 0},  {"half", CLT_REAL, 0},
              {"float16", CLT_REAL, 0}, {"float32", CLT_REAL, 0},  {"float64", CLT_REAL, 0}, {"bool", CLT_BOOL, 0},
              {"boolean", CLT_BOOL, 0}, {"string", CLT_STRING, 0}, {"str", CLT_STRING, 0}};
  const size_t n = sizeof fits / sizeof *fits;
  char text[200];
  if (type == NULL || *type == '\0') return CLT_OK;
  const char *name = strcasecmp(type, "unsigned") == 0 ? "uint" : type;
  size_t prefix = strncasecmp(name, "unsigned ", 9) == 0 ? 9 : *name == 'u' || *name == 'U', i = 0;
  while (i < n && (strcasecmp(fits[i].name, name + prefix) != 0 || (prefix && fits[i].type != CLT_INT))) i++;
  if (i == n)
    return clt_fail(error, CLT_E_EXPRESSION, "unknown type '%s'; use int, uint, long, float, bool, string ...", type);
  int64_t integer = value->integer, most = fits[i].type == CLT_BOOL ? 1 : INT64_MAX;
  if (fits[i].bits && fits[i].bits < 64) most = ((int64_t)1 << (fits[i].bits - !prefix)) - 1;
  int64_t least = prefix || fits[i].type == CLT_BOOL ? 0 : -most - 1;
  bool fits_in = (value->type == CLT_STRING) == (fits[i].type == CLT_STRING);
  if (fits_in && fits[i].type == CLT_REAL) {
    *value = clt_real(clt_value_number(*value));
  } else if (fits_in && fits[i].type != CLT_STRING) {
    if (value->type == CLT_REAL) fits_in = clt_real_to_integer(value->real, &integer) && (double)integer == value->real;
    fits_in = fits_in && integer >= least && integer <= most;
    if (fits_in) *value = (clt_value){.type = fits[i].type, .integer = integer};
  }
  if (fits_in) return CLT_OK;
  clt_value_print(text, sizeof text, *value);
  return clt_fail(error, CLT_E_EXPRESSION, "the value '%s' does not have the type '%s'", text, type);
}

clt_value *clt_values_copy(const clt_value *values, size_t n) {
  size_t bytes = n * sizeof *values; /* cannot overflow: the values exist */
  for (size_t i = 0; i < n; i++)
    if (values[i].type == CLT_STRING) bytes += strlen(values[i].text) + 1;
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
