/* Precedence climbing. Operators of Python and C at the levels of Python; '!' binds as tightly as a sign. */
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "space/parser.h"

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

static clt_operand parse_level(clt_parser *p, int level);

/* --- signs and 'not' --- */

static clt_operand parse_prefix(clt_parser *p, int level) {
  static const struct {
    const char *word;
    clt_op op;
    int level;
  } prefixes[] = {{"-", CLT_OP_NEGATE, LEVEL_SIGN},
                  {"+", CLT_OP_PLUS, LEVEL_SIGN},
                  {"~", CLT_OP_INVERT, LEVEL_SIGN},
                  {"!", CLT_OP_NOT, LEVEL_SIGN},
                  {"not", CLT_OP_NOT, LEVEL_NOT}};
  for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++) {
    size_t at = p->token.begin;
    if (level > prefixes[i].level && prefixes[i].level == LEVEL_NOT) continue;
    if (clt_parser_accept(p, prefixes[i].word))
      return clt_parser_make(p, prefixes[i].op, at, parse_level(p, prefixes[i].level), 0);
  }
  return clt_parse_primary(p);
}

/* --- membership --- */

/* x in [a, b, c]: is x equal to one of them? The opening bracket is read. */
static clt_operand parse_members(clt_parser *p, size_t at, clt_operand x, clt_operand found, const char *closing) {
  while (p->code == 0 && !clt_parser_sees(p, closing)) {
    found = clt_parser_make(p, CLT_OP_OR, at, found, clt_parser_make(p, CLT_OP_EQUAL, at, x, clt_parse_expression(p)));
    if (!clt_parser_sees(p, closing)) clt_parser_expect(p, ",");
  }
  clt_parser_expect(p, closing);
  return found;
}

/* x in (a, b), or in the text that stands between parentheses. */
static clt_operand parse_in_bracket(clt_parser *p, size_t at, clt_operand x) {
  clt_parser_expect(p, "(");
  if (clt_parser_accept(p, ")")) return clt_parser_constant(p, clt_boolean(false));
  clt_operand first = clt_parse_expression(p);
  if (clt_parser_accept(p, ",")) return parse_members(p, at, x, clt_parser_make(p, CLT_OP_EQUAL, at, x, first), ")");
  clt_parser_expect(p, ")");
  return clt_parser_make(p, CLT_OP_INSIDE, at, x, first);
}

static clt_operand parse_in_range(clt_parser *p, size_t at, clt_operand x) {
  clt_operand operands[4] = {x}, given[3] = {0};
  size_t n = 0;
  clt_parser_expect(p, "(");
  while (p->code == 0 && n < 3) {
    given[n++] = clt_parse_expression(p);
    if (clt_parser_sees(p, ")") || !clt_parser_accept(p, ",") || clt_parser_sees(p, ")")) break;
  }
  clt_parser_expect(p, ")");
  if (p->code) return 0;
  operands[1] = n == 1 ? clt_parser_constant(p, clt_integer(0)) : given[0];
  operands[2] = n == 1 ? given[0] : given[1];
  operands[3] = n == 3 ? given[2] : clt_parser_constant(p, clt_integer(1));
  return clt_parser_make_more(p, CLT_OP_IN_RANGE, at, operands);
}

static clt_operand parse_membership(clt_parser *p, size_t at, clt_operand x) {
  clt_operand none = clt_parser_constant(p, clt_boolean(false));
  if (clt_parser_accept(p, "[")) return parse_members(p, at, x, none, "]");
  if (clt_parser_accept(p, "{")) return parse_members(p, at, x, none, "}");
  if (clt_parser_sees(p, "(")) return parse_in_bracket(p, at, x);
  if (clt_parser_sees(p, "range")) {
    clt_parser_advance(p);
    return parse_in_range(p, at, x);
  }
  return clt_parser_make(p, CLT_OP_INSIDE, at, x, parse_level(p, LEVEL_BIT_OR));
}

/* --- comparisons --- */

static bool comparison(const clt_parser *p, clt_op *op) {
  static const struct {
    const char *word;
    clt_op op;
  } words[] = {{"==", CLT_OP_EQUAL},  {"!=", CLT_OP_NOT_EQUAL},     {"<", CLT_OP_LESS},   {"<=", CLT_OP_LESS_EQUAL},
               {">", CLT_OP_GREATER}, {">=", CLT_OP_GREATER_EQUAL}, {"in", CLT_OP_INSIDE}};
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    if (clt_parser_sees(p, words[i].word)) {
      *op = words[i].op;
      return true;
    }
  clt_token further = clt_parser_following(p);
  *op = CLT_OP_NOT; /* stands for "not in" */
  return clt_parser_sees(p, "not") && clt_token_is(&further, p->text, "in");
}

/* a < b <= c is a < b and b <= c, with one b. */
static clt_operand parse_comparisons(clt_parser *p, clt_operand left) {
  clt_operand all = 0, right = 0, now;
  bool any = false, in = false;
  clt_op op;
  while (p->code == 0 && comparison(p, &op)) {
    size_t at = p->token.begin;
    if (in) clt_parser_mistake(p, at, "a comparison behind 'in' needs parentheses,");
    in = op == CLT_OP_INSIDE || op == CLT_OP_NOT;
    clt_parser_advance(p);
    if (op == CLT_OP_NOT) clt_parser_advance(p);
    if (in) {
      now = parse_membership(p, at, left);
      if (op == CLT_OP_NOT) now = clt_parser_make(p, CLT_OP_NOT, at, now, 0);
    } else {
      right = parse_level(p, LEVEL_BIT_OR);
      now = clt_parser_make(p, op, at, left, right);
    }
    all = any ? clt_parser_make(p, CLT_OP_AND, at, all, now) : now;
    any = true;
    left = right;
  }
  return all;
}

/* --- two operands --- */

typedef struct infix {
  const char *word;
  clt_op op;
  int level;
  bool truth; /* C's: both sides and the result are true or false */
} infix;

static const infix *find_infix(const clt_parser *p) {
  static const infix table[] = {
      {"or", CLT_OP_OR, LEVEL_OR, false},
      {"||", CLT_OP_OR, LEVEL_OR, true},
      {"and", CLT_OP_AND, LEVEL_AND, false},
      {"&&", CLT_OP_AND, LEVEL_AND, true},
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
  for (size_t i = 0; i < sizeof table / sizeof *table; i++)
    if (clt_parser_sees(p, table[i].word)) return &table[i];
  return NULL;
}

static clt_operand parse_infix(clt_parser *p, const infix *f, clt_operand left) {
  size_t at = p->token.begin;
  clt_parser_advance(p);
  /* the right side of ** may have a sign and further powers, other operators group from the left */
  clt_operand right = parse_level(p, f->level == LEVEL_POWER ? LEVEL_SIGN : f->level + 1);
  if (f->truth) {
    left = clt_parser_make(p, CLT_OP_BOOL, at, left, 0);
    right = clt_parser_make(p, CLT_OP_BOOL, at, right, 0);
  }
  return clt_parser_make(p, f->op, at, left, right);
}

/* Operators of this level and of those that bind more tightly. */
static clt_operand parse_level(clt_parser *p, int level) {
  if (++p->depth > CLT_EXPR_MAX_DEPTH) clt_parser_mistake(p, p->token.begin, "too many nested parts");
  clt_operand left = parse_prefix(p, level);
  while (p->code == 0) {
    clt_op op;
    const infix *f = find_infix(p);
    if (f && f->level >= level) {
      left = parse_infix(p, f, left);
    } else if (level <= LEVEL_COMPARE && comparison(p, &op)) {
      left = parse_comparisons(p, left);
    } else {
      break;
    }
  }
  p->depth--;
  return left;
}

/* --- the whole --- */

/* The rest of a choice: "x if c else y" or "c ? x : y". */
static clt_operand parse_choice(clt_parser *p, clt_operand first) {
  size_t at = p->token.begin;
  clt_operand operands[4] = {first, first, 0, 0};
  if (clt_parser_accept(p, "if")) {
    operands[0] = parse_level(p, LEVEL_OR);
    clt_parser_expect(p, "else");
  } else if (clt_parser_accept(p, "?")) {
    operands[1] = clt_parse_expression(p);
    clt_parser_expect(p, ":");
  } else {
    return first;
  }
  operands[2] = clt_parse_expression(p);
  return clt_parser_make_more(p, CLT_OP_CHOOSE, at, operands);
}

clt_operand clt_parse_expression(clt_parser *p) {
  if (++p->depth > CLT_EXPR_MAX_DEPTH) clt_parser_mistake(p, p->token.begin, "too many nested parts");
  clt_operand out = parse_choice(p, parse_level(p, LEVEL_OR));
  p->depth--;
  return out;
}

static int parse_all(clt_parser *p) {
  clt_parser_advance(p);
  if (p->code == 0 && p->token.kind == CLT_TOKEN_END) clt_parser_mistake(p, p->token.begin, "the expression is empty");
  p->expr->root = clt_parse_expression(p);
  if (clt_parser_sees(p, "is")) clt_parser_mistake(p, p->token.begin, "'is' is not supported; compare with '==',");
  if (p->code == 0 && p->token.kind != CLT_TOKEN_END) clt_parser_unexpected(p, "an operator");
  if (p->code == 0 && clt_expr_finish(p->expr)) clt_parser_no_memory(p);
  return p->code;
}

int clt_expr_compile_part(clt_expr **out, const char *text, size_t begin, size_t end, const clt_place *place,
                          const clt_symbol *symbols, size_t n_symbols, clt_error *error) {
  clt_expr *expr = calloc(1, sizeof *expr);
  if (expr) expr->n_owners = 1;
  if (expr && place) expr->place = *place;
  if (expr && end - begin > CLT_EXPR_MAX_BYTES) {
    int rc = clt_expr_mistake(expr, CLT_E_EXPRESSION, error, "an expression is longer than %d characters",
                              CLT_EXPR_MAX_BYTES);
    return clt_expr_free(expr), rc;
  }
  if (expr == NULL || (expr->text = strndup(text, end)) == NULL) {
    clt_expr_free(expr);
    return clt_fail_memory(error);
  }
  clt_parser p = {
      .expr = expr, .text = expr->text, .end = end, .symbols = symbols, .n_symbols = n_symbols, .error = error};
  p.token.end = begin;
  int rc = parse_all(&p);
  if (rc)
    clt_expr_free(expr);
  else
    *out = expr;
  return rc;
}
