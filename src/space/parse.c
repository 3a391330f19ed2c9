/* A precedence climbing parser for the operators of Python and C, with Python's precedences; '!' has the precedence of
 * a sign. */
#include "base/base.h"
#include "base/text.h"
#include "space/code.h"

enum {
  LEVEL_OR = 1,
  LEVEL_AND,
  LEVEL_NOT,
  LEVEL_COMPARE,
  LEVEL_BIT_OR,
  LEVEL_BIT_XOR,
  LEVEL_BIT_AND,
  LEVEL_SHIFT,
  LEVEL_ADD,
  LEVEL_MULTIPLY,
  LEVEL_SIGN,
  LEVEL_POWER
};

typedef struct parser {
  clt_expr *expr; /* the expression under construction */
  const char *text;
  size_t end;
  clt_token token; /* the next token */
  const clt_symbol *symbols;
  size_t n_symbols;
  int depth;
  int code; /* of the first mistake; after it, the parser only sees the end of the text */
  clt_error *error;
} parser;

static clt_operand parse_expression(parser *p);
static clt_operand parse_level(parser *p, int level);

/* --- mistakes --- */

static void __attribute__((format(printf, 3, 4))) report_mistake(parser *p, size_t at, const char *format, ...) {
  char what[400];
  va_list arguments;
  if (p->code) return;
  va_start(arguments, format);
  clt_vsnprintf(what, sizeof what, format, arguments);
  va_end(arguments);
  p->code = clt_expr_mistake(p->expr, CLT_E_EXPRESSION, p->error, "cannot read '%.300s': %s at column %zu", p->text,
                             what, at + 1);
  p->token = (clt_token){.kind = CLT_TOKEN_END, .begin = p->end, .end = p->end};
}

static void report_memory(parser *p) {
  if (p->code == 0) p->code = clt_fail_memory(p->error);
  p->token = (clt_token){.kind = CLT_TOKEN_END, .begin = p->end, .end = p->end};
}

/* Reports that `wanted` is missing at the current token. */
static void report_missing(parser *p, const char *wanted) {
  const clt_token *t = &p->token;
  if (t->kind == CLT_TOKEN_END) {
    report_mistake(p, t->begin, "%s is missing", wanted);
  } else {
    int length = t->end - t->begin < 60 ? (int)(t->end - t->begin) : 60;
    report_mistake(p, t->begin, "%s is missing before '%.*s'", wanted, length, p->text + t->begin);
  }
}

/* --- words --- */

static void next_word(parser *p) {
  const char *problem = NULL;
  clt_token token;
  if (p->code) return;
  if (clt_lex(&token, p->text, p->token.end, p->end, &problem))
    report_mistake(p, token.begin, "%s,", problem);
  else
    p->token = token;
}

static bool sees_word(const parser *p, const char *word) { return clt_token_is(&p->token, p->text, word); }

static bool accept_word(parser *p, const char *word) {
  if (p->code || !sees_word(p, word)) return false;
  next_word(p);
  return true;
}

static void expect_word(parser *p, const char *word) {
  char wanted[16];
  snprintf(wanted, sizeof wanted, "'%s'", word);
  if (!accept_word(p, word)) report_missing(p, wanted);
}

/* --- construction: `at` is the place of the operator --- */

static clt_operand add_expr_node(parser *p, clt_expr_node node) {
  clt_operand out = 0;
  if (p->code == 0 && clt_expr_add(p->expr, node, &out)) report_memory(p);
  return out;
}

static clt_operand make_constant(parser *p, clt_value value) {
  return add_expr_node(p, (clt_expr_node){.op = CLT_OP_CONSTANT, .value = value});
}

static clt_operand make_binary(parser *p, clt_op op, size_t at, clt_operand a, clt_operand b) {
  return add_expr_node(p, (clt_expr_node){.op = (uint8_t)op, .column = (uint32_t)at + 1, .operands = {a, b}});
}

static clt_operand make_unary(parser *p, clt_op op, size_t at, clt_operand a) { return make_binary(p, op, at, a, 0); }

/* --- values without operators around them --- */

/* Variadic functions are folded from the left. */
static const struct function {
  const char *name;
  clt_op op;
  int least, most; /* operands */
} functions[] = {
    {"min", CLT_OP_MINIMUM, 1, 1000}, {"max", CLT_OP_MAXIMUM, 1, 1000}, {"sum", CLT_OP_ADD, 0, 1000},
    {"any", CLT_OP_OR, 0, 1000},      {"all", CLT_OP_AND, 0, 1000},     {"gcd", CLT_OP_GCD, 1, 1000},
    {"abs", CLT_OP_ABS, 1, 1},        {"fabs", CLT_OP_ABS, 1, 1},       {"int", CLT_OP_INT, 1, 1},
    {"trunc", CLT_OP_INT, 1, 1},      {"float", CLT_OP_FLOAT, 1, 1},    {"bool", CLT_OP_BOOL, 1, 1},
    {"round", CLT_OP_ROUND, 1, 1},    {"floor", CLT_OP_FLOOR, 1, 1},    {"ceil", CLT_OP_CEIL, 1, 1},
    {"sqrt", CLT_OP_SQRT, 1, 1},      {"exp", CLT_OP_EXP, 1, 1},        {"log", CLT_OP_LOG, 1, 2},
    {"log2", CLT_OP_LOG2, 1, 1},      {"log10", CLT_OP_LOG10, 1, 1},    {"pow", CLT_OP_POWER, 2, 2},
    {"len", CLT_OP_LENGTH, 1, 1},
};
#define N_FUNCTIONS (sizeof functions / sizeof *functions)

/* Also accepts "math.sqrt". NULL: unknown. */
static const struct function *find_function(const char *name, size_t length) {
  static const char *const modules[] = {"math.", "np.", "numpy."};
  for (size_t i = 0; i < sizeof modules / sizeof *modules; i++) {
    size_t prefix = strlen(modules[i]);
    if (length <= prefix || memcmp(name, modules[i], prefix) != 0) continue;
    name += prefix;
    length -= prefix;
    break;
  }
  for (size_t i = 0; i < N_FUNCTIONS; i++)
    if (clt_is_word(name, length, functions[i].name)) return &functions[i];
  return NULL;
}

/* Parses the arguments; the opening bracket is the next token. Each argument is combined with the previous result. */
static clt_operand parse_call(parser *p, const struct function *f, size_t at) {
  expect_word(p, "(");
  bool list = sees_word(p, "[") && (f->op == CLT_OP_LENGTH || f->most > 2);
  bool elements = list && f->op == CLT_OP_LENGTH; /* len() only counts the elements of a list */
  const char *closing = list ? "]" : ")";
  clt_op op = elements ? CLT_OP_OR : f->op;
  clt_operand result = 0;
  int count = 0;
  if (list) next_word(p);
  for (; p->code == 0 && !sees_word(p, closing); count++) {
    if (count > 0) {
      expect_word(p, ",");
      if (sees_word(p, closing)) break;
    }
    clt_operand now = parse_expression(p);
    if (op == CLT_OP_AND || op == CLT_OP_OR) now = make_unary(p, CLT_OP_BOOL, at, now);
    if (op == CLT_OP_LOG && count == 1) {
      result = make_unary(p, CLT_OP_LOG, at, result);
      result = make_binary(p, CLT_OP_DIVIDE, at, result, make_unary(p, CLT_OP_LOG, at, now));
    } else if (count > 0) {
      result = make_binary(p, op, at, result, now);
    } else if (op == CLT_OP_ADD || op == CLT_OP_GCD) {
      result = make_binary(p, op, at, make_constant(p, clt_integer(0)), now);
    } else {
      result = now;
    }
  }
  expect_word(p, closing);
  if (list) expect_word(p, ")");
  if (elements) return make_constant(p, clt_integer(count));
  if (count < f->least || count > f->most) report_mistake(p, at, "%s() does not take %d arguments,", f->name, count);
  if (count == 0) return make_constant(p, op == CLT_OP_ADD ? clt_integer(0) : clt_boolean(op == CLT_OP_AND));
  return f->most == 1 || (op == CLT_OP_LOG && count == 1) ? make_unary(p, op, at, result) : result;
}

/* Reports an unknown name and suggests the nearest one: of functions if a bracket follows, else of symbols. */
static void report_unknown(parser *p, const clt_token *t, bool call) {
  char name[80];
  int length = t->end - t->begin < sizeof name ? (int)(t->end - t->begin) : (int)sizeof name - 1;
  snprintf(name, sizeof name, "%.*s", length, p->text + t->begin);
  const char *what = call ? "function" : "name";
  const char *near = call ? clt_nearest_among(name, functions, N_FUNCTIONS, sizeof *functions)
                          : clt_nearest_among(name, p->symbols, p->n_symbols, sizeof *p->symbols);
  if (find_function(name, strlen(name)))
    report_mistake(p, t->begin, "'%s' is a function and needs '(',", name);
  else if (near)
    report_mistake(p, t->begin, "unknown %s '%s' (did you mean '%s'?)", what, name, near);
  else
    report_mistake(p, t->begin, "unknown %s '%s'", what, name);
}

static clt_operand parse_name(parser *p) {
  clt_token t = p->token;
  int length = (int)(t.end - t.begin);
  const char *name = p->text + t.begin;
  bool truth = sees_word(p, "True") || sees_word(p, "true");
  if (truth || sees_word(p, "False") || sees_word(p, "false")) {
    next_word(p);
    return make_constant(p, clt_boolean(truth));
  }
  if (sees_word(p, "not")) report_mistake(p, t.begin, "'not' here needs parentheses around it and its operand,");
  if (clt_is_keyword(name, (size_t)length)) report_mistake(p, t.begin, "'%.*s' is not allowed here,", length, name);
  next_word(p);
  if (p->code) return 0;
  if (sees_word(p, "(")) {
    const struct function *f = find_function(name, (size_t)length);
    if (f) return parse_call(p, f, t.begin);
    if (clt_token_is(&t, p->text, "range")) report_mistake(p, t.begin, "range() is only allowed after 'in',");
    report_unknown(p, &t, true);
    return 0;
  }
  const clt_symbol *symbol = NULL;
  for (size_t i = p->n_symbols; symbol == NULL && i-- > 0;)
    if (clt_is_word(name, (size_t)length, p->symbols[i].name)) symbol = &p->symbols[i];
  if (symbol && (sees_word(p, "[") || sees_word(p, ".")))
    report_mistake(p, t.begin, "'%.*s' has no members; write only the name of the parameter,", length, name);
  else if (sees_word(p, "["))
    report_mistake(p, t.begin, "'%.*s[...]' is not supported; write only the name of the parameter,", length, name);
  else if (symbol == NULL)
    report_unknown(p, &t, false);
  if (p->code) return 0;
  if (symbol->constant) return make_constant(p, symbol->value);
  return add_expr_node(p, (clt_expr_node){.op = CLT_OP_SLOT, .operands = {symbol->slot}});
}

static clt_operand parse_primary(parser *p) {
  clt_token t = p->token;
  clt_operand out = 0;
  if (t.kind == CLT_TOKEN_NUMBER) {
    next_word(p);
    return make_constant(p, t.number);
  }
  if (t.kind == CLT_TOKEN_NAME) return parse_name(p);
  if (t.kind == CLT_TOKEN_TEXT) { /* without its quotes and escapes */
    size_t n = 0;
    char *plain = malloc(t.end - t.begin);
    if (plain == NULL) {
      report_memory(p);
      return 0;
    }
    for (size_t i = t.begin + 1; i + 1 < t.end; i++) {
      char c = p->text[i];
      const bool escaped = c == '\\';
      if (escaped) c = p->text[++i];
      if (escaped && c == 'n') c = '\n';
      if (escaped && c == 't') c = '\t';
      plain[n++] = c;
    }
    plain[n] = '\0';
    out = make_constant(p, (clt_value){.type = CLT_STRING, .text = plain});
    free(plain);
    next_word(p);
    return out;
  }
  if (accept_word(p, "(")) {
    out = parse_expression(p);
    if (sees_word(p, ",")) report_mistake(p, t.begin, "a list is only allowed after 'in' or in a call,");
    expect_word(p, ")");
  } else if (sees_word(p, "[") || sees_word(p, "{")) {
    report_mistake(p, t.begin, "a list is only allowed after 'in' or in a call,");
  } else {
    report_missing(p, "a value");
  }
  return out;
}

/* x in a list, a range, or a text. */
static clt_operand parse_membership(parser *p, size_t at, clt_operand x) {
  const char *closing = accept_word(p, "[") ? "]" : NULL;
  if (closing == NULL && accept_word(p, "{")) closing = "}";
  clt_operand found = make_constant(p, clt_boolean(false));
  if (closing == NULL && accept_word(p, "range")) {
    clt_operand given[3] = {0};
    size_t n = 0;
    expect_word(p, "(");
    while (p->code == 0 && n < 3) {
      given[n++] = parse_expression(p);
      if (sees_word(p, ")") || !accept_word(p, ",") || sees_word(p, ")")) break;
    }
    expect_word(p, ")");
    if (p->code) return 0;
    clt_operand from = n == 1 ? make_constant(p, clt_integer(0)) : given[0];
    clt_operand step = n == 3 ? given[2] : make_constant(p, clt_integer(1));
    return add_expr_node(
        p, (clt_expr_node){
               .op = CLT_OP_IN_RANGE, .column = (uint32_t)at + 1, .operands = {x, from, given[n == 1 ? 0 : 1], step}});
  }
  if (closing == NULL) {
    if (!accept_word(p, "(")) return make_binary(p, CLT_OP_INSIDE, at, x, parse_level(p, LEVEL_BIT_OR));
    if (accept_word(p, ")")) return found;
    clt_operand first = parse_expression(p);
    if (!accept_word(p, ",")) { /* parentheses around a text */
      expect_word(p, ")");
      return make_binary(p, CLT_OP_INSIDE, at, x, first);
    }
    closing = ")";
    found = make_binary(p, CLT_OP_EQUAL, at, x, first);
  }
  while (p->code == 0 && !sees_word(p, closing)) { /* x == e1 or x == e2 ... */
    clt_operand equal = make_binary(p, CLT_OP_EQUAL, at, x, parse_expression(p));
    found = make_binary(p, CLT_OP_OR, at, found, equal);
    if (!sees_word(p, closing)) expect_word(p, ",");
  }
  expect_word(p, closing);
  return found;
}

/* --- operators --- */

typedef struct op_word {
  const char *word;
  clt_op op;
  int level;
  bool truth; /* of C: operands and result are converted to true or false */
} op_word;

/* The infix operator at the current token; NULL: none. "not" means "not in". */
static const op_word *find_infix(const parser *p) {
  static const op_word infixes[] = {
      {"or", CLT_OP_OR, LEVEL_OR, false},
      {"||", CLT_OP_OR, LEVEL_OR, true},
      {"and", CLT_OP_AND, LEVEL_AND, false},
      {"&&", CLT_OP_AND, LEVEL_AND, true},
      {"==", CLT_OP_EQUAL, LEVEL_COMPARE, false},
      {"!=", CLT_OP_NOT_EQUAL, LEVEL_COMPARE, false},
      {"<", CLT_OP_LESS, LEVEL_COMPARE, false},
      {"<=", CLT_OP_LESS_EQUAL, LEVEL_COMPARE, false},
      {">", CLT_OP_GREATER, LEVEL_COMPARE, false},
      {">=", CLT_OP_GREATER_EQUAL, LEVEL_COMPARE, false},
      {"in", CLT_OP_INSIDE, LEVEL_COMPARE, false},
      {"not", CLT_OP_NOT, LEVEL_COMPARE, false},
      {"|", CLT_OP_BIT_OR, LEVEL_BIT_OR, false},
      {"^", CLT_OP_BIT_XOR, LEVEL_BIT_XOR, false},
      {"&", CLT_OP_BIT_AND, LEVEL_BIT_AND, false},
      {"<<", CLT_OP_SHIFT_LEFT, LEVEL_SHIFT, false},
      {">>", CLT_OP_SHIFT_RIGHT, LEVEL_SHIFT, false},
      {"+", CLT_OP_ADD, LEVEL_ADD, false},
      {"-", CLT_OP_SUBTRACT, LEVEL_ADD, false},
      {"*", CLT_OP_MULTIPLY, LEVEL_MULTIPLY, false},
      {"/", CLT_OP_DIVIDE, LEVEL_MULTIPLY, false},
      {"//", CLT_OP_FLOOR_DIVIDE, LEVEL_MULTIPLY, false},
      {"%", CLT_OP_REMAINDER, LEVEL_MULTIPLY, false},
      {"**", CLT_OP_POWER, LEVEL_POWER, false},
  };
  const char *problem;
  clt_token further;
  for (size_t i = 0; i < sizeof infixes / sizeof *infixes; i++) {
    if (!sees_word(p, infixes[i].word)) continue;
    if (infixes[i].op != CLT_OP_NOT) return &infixes[i];
    bool in =
        clt_lex(&further, p->text, p->token.end, p->end, &problem) == CLT_OK && clt_token_is(&further, p->text, "in");
    return in ? &infixes[i] : NULL;
  }
  return NULL;
}

/* a < b <= c is a < b and b <= c, with b evaluated once. */
static clt_operand parse_comparisons(parser *p, clt_operand left) {
  clt_operand all = 0, right = 0, now;
  bool any = false, in = false;
  const op_word *o;
  while (p->code == 0 && (o = find_infix(p)) && o->level == LEVEL_COMPARE) {
    size_t at = p->token.begin;
    if (in) report_mistake(p, at, "a comparison after 'in' needs parentheses,");
    in = o->op == CLT_OP_INSIDE || o->op == CLT_OP_NOT;
    next_word(p);
    if (o->op == CLT_OP_NOT) next_word(p);
    if (in) {
      now = parse_membership(p, at, left);
      if (o->op == CLT_OP_NOT) now = make_unary(p, CLT_OP_NOT, at, now);
    } else {
      right = parse_level(p, LEVEL_BIT_OR);
      now = make_binary(p, o->op, at, left, right);
    }
    all = any ? make_binary(p, CLT_OP_AND, at, all, now) : now;
    any = true;
    left = right;
  }
  return all;
}

/* Parses operators of this precedence and higher ones. */
static clt_operand parse_level(parser *p, int level) {
  static const op_word prefixes[] = {{"-", CLT_OP_NEGATE, LEVEL_SIGN, false},
                                     {"+", CLT_OP_PLUS, LEVEL_SIGN, false},
                                     {"~", CLT_OP_INVERT, LEVEL_SIGN, false},
                                     {"!", CLT_OP_NOT, LEVEL_SIGN, false},
                                     {"not", CLT_OP_NOT, LEVEL_NOT, false}};
  if (++p->depth > CLT_EXPR_MAX_DEPTH) report_mistake(p, p->token.begin, "expressions nested too deeply");
  size_t at = p->token.begin;
  clt_operand left;
  const op_word *o = NULL;
  for (size_t i = 0; p->code == 0 && i < sizeof prefixes / sizeof *prefixes; i++)
    if (sees_word(p, prefixes[i].word)) o = &prefixes[i];
  if (o && !(o->level == LEVEL_NOT && level > LEVEL_NOT)) {
    next_word(p);
    left = make_unary(p, o->op, at, parse_level(p, o->level));
  } else {
    left = parse_primary(p);
  }
  while (p->code == 0 && (o = find_infix(p)) && o->level >= level) {
    if (o->level == LEVEL_COMPARE) {
      left = parse_comparisons(p, left);
      continue;
    }
    at = p->token.begin;
    next_word(p);
    /* ** is right-associative and its right side may have a sign; other operators are left-associative. */
    clt_operand right = parse_level(p, o->level == LEVEL_POWER ? LEVEL_SIGN : o->level + 1);
    if (o->truth) {
      left = make_unary(p, CLT_OP_BOOL, at, left);
      right = make_unary(p, CLT_OP_BOOL, at, right);
    }
    left = make_binary(p, o->op, at, left, right);
  }
  p->depth--;
  return left;
}

/* Parses an expression, including the choice "x if c else y" or "c ? x : y". */
static clt_operand parse_expression(parser *p) {
  if (++p->depth > CLT_EXPR_MAX_DEPTH) report_mistake(p, p->token.begin, "expressions nested too deeply");
  clt_operand out = parse_level(p, LEVEL_OR);
  clt_expr_node choice = {.op = CLT_OP_CHOOSE, .column = (uint32_t)p->token.begin + 1, .operands = {out, out}};
  if (accept_word(p, "if")) {
    choice.operands[0] = parse_level(p, LEVEL_OR);
    expect_word(p, "else");
  } else if (accept_word(p, "?")) {
    choice.operands[1] = parse_expression(p);
    expect_word(p, ":");
  } else {
    p->depth--;
    return out;
  }
  choice.operands[2] = parse_expression(p);
  p->depth--;
  return add_expr_node(p, choice);
}

int clt_expr_compile_part(clt_expr **out, const char *text, size_t begin, size_t end, const clt_place *place,
                          const clt_symbol *symbols, size_t n_symbols, clt_error *error) {
  clt_expr *expr = calloc(1, sizeof *expr);
  if (expr == NULL) return clt_fail_memory(error);
  parser p = {.expr = expr, .end = end, .symbols = symbols, .n_symbols = n_symbols, .error = error};
  expr->n_owners = 1;
  if (place) expr->place = *place;
  if (end - begin > CLT_EXPR_MAX_BYTES) {
    p.code = clt_expr_mistake(expr, CLT_E_EXPRESSION, error, "an expression is longer than %d characters",
                              CLT_EXPR_MAX_BYTES);
  } else if ((p.text = expr->text = strndup(text, end)) == NULL) {
    p.code = clt_fail_memory(error);
  }
  if (p.code == 0) {
    p.token.end = begin;
    next_word(&p);
    if (p.code == 0 && p.token.kind == CLT_TOKEN_END) report_mistake(&p, p.token.begin, "the expression is empty");
    clt_operand root = parse_expression(&p);
    if (sees_word(&p, "is")) report_mistake(&p, p.token.begin, "'is' is not supported; compare with '==',");
    if (p.code == 0 && p.token.kind != CLT_TOKEN_END) report_missing(&p, "an operator");
    if (p.code == 0 && clt_expr_finish(expr, root)) report_memory(&p);
  }
  if (p.code)
    clt_expr_free(expr);
  else
    *out = expr;
  return p.code;
}
