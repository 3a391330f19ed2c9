/* Names, numbers, texts, calls. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "space/parser.h"

/* --- functions --- */

typedef struct function {
  const char *name;
  clt_op op;
  int least, most; /* operands; the variadic ones fold from the left */
} function;

static const function functions[] = {
    {"min", CLT_OP_MINIMUM, 1, 1000}, {"max", CLT_OP_MAXIMUM, 1, 1000}, {"sum", CLT_OP_ADD, 0, 1000},
    {"any", CLT_OP_OR, 0, 1000},      {"all", CLT_OP_AND, 0, 1000},     {"gcd", CLT_OP_GCD, 1, 1000},
    {"abs", CLT_OP_ABS, 1, 1},        {"fabs", CLT_OP_ABS, 1, 1},       {"int", CLT_OP_INT, 1, 1},
    {"trunc", CLT_OP_INT, 1, 1},      {"float", CLT_OP_FLOAT, 1, 1},    {"bool", CLT_OP_BOOL, 1, 1},
    {"round", CLT_OP_ROUND, 1, 1},    {"floor", CLT_OP_FLOOR, 1, 1},    {"ceil", CLT_OP_CEIL, 1, 1},
    {"sqrt", CLT_OP_SQRT, 1, 1},      {"exp", CLT_OP_EXP, 1, 1},        {"log", CLT_OP_LOG, 1, 2},
    {"log2", CLT_OP_LOG2, 1, 1},      {"log10", CLT_OP_LOG10, 1, 1},    {"pow", CLT_OP_POWER, 2, 2},
    {"len", CLT_OP_LENGTH, 1, 1},
};
enum { N_FUNCTIONS = sizeof functions / sizeof *functions };

static const function *find_function(const char *name, size_t length) {
  static const char *const modules[] = {"math.", "np.", "numpy."};
  for (size_t i = 0; i < sizeof modules / sizeof *modules; i++) {
    size_t prefix = strlen(modules[i]);
    if (length > prefix && memcmp(name, modules[i], prefix) == 0) {
      name += prefix;
      length -= prefix;
      break;
    }
  }
  for (size_t i = 0; i < N_FUNCTIONS; i++)
    if (strlen(functions[i].name) == length && memcmp(functions[i].name, name, length) == 0) return &functions[i];
  return NULL;
}

/* The operand `number` (from 0) of a call joins those before it. */
static clt_operand join(clt_parser *p, const function *f, size_t at, clt_operand before, clt_operand now, int number) {
  if (f->op == CLT_OP_AND || f->op == CLT_OP_OR) now = clt_parser_make(p, CLT_OP_BOOL, at, now, 0);
  if (f->op == CLT_OP_LOG && number == 1)
    return clt_parser_make(p, CLT_OP_DIVIDE, at, clt_parser_make(p, CLT_OP_LOG, at, before, 0),
                           clt_parser_make(p, CLT_OP_LOG, at, now, 0));
  if (number > 0) return clt_parser_make(p, f->op, at, before, now);
  if (f->op == CLT_OP_ADD || f->op == CLT_OP_GCD)
    return clt_parser_make(p, f->op, at, clt_parser_constant(p, clt_integer(0)), now);
  return now;
}

/* Arguments up to the closing bracket, which is read. */
static clt_operand parse_arguments(clt_parser *p, const function *f, size_t at, const char *closing, int *count) {
  clt_operand result = 0;
  for (*count = 0; p->code == 0 && !clt_parser_sees(p, closing); ++*count) {
    if (*count > 0) {
      clt_parser_expect(p, ",");
      if (clt_parser_sees(p, closing)) break;
    }
    result = join(p, f, at, result, clt_parse_expression(p), *count);
  }
  clt_parser_expect(p, closing);
  return result;
}

/* The length of a list display is known without its elements. */
static clt_operand parse_length_of_list(clt_parser *p, size_t at) {
  static const function any_number = {"len", CLT_OP_OR, 0, 1000};
  int count;
  parse_arguments(p, &any_number, at, "]", &count);
  return clt_parser_constant(p, clt_integer(count));
}

static clt_operand finish_call(clt_parser *p, const function *f, size_t at, clt_operand result, int count) {
  if (p->code) return 0;
  if (count < f->least || count > f->most) {
    clt_parser_mistake(p, at, "%s() does not take %d arguments,", f->name, count);
    return 0;
  }
  if (count == 0)
    return clt_parser_constant(p, f->op == CLT_OP_ADD ? clt_integer(0) : clt_boolean(f->op == CLT_OP_AND));
  bool single = f->most == 1 || (f->op == CLT_OP_LOG && count == 1);
  return single ? clt_parser_make(p, f->op, at, result, 0) : result;
}

static clt_operand parse_call(clt_parser *p, const function *f, size_t at) {
  int count = 0;
  clt_operand result;
  clt_parser_expect(p, "(");
  bool list = clt_parser_sees(p, "[");
  if (list && f->op == CLT_OP_LENGTH) {
    clt_parser_accept(p, "[");
    result = parse_length_of_list(p, at);
    clt_parser_expect(p, ")");
    return result;
  }
  if (list && f->most > 2) {
    clt_parser_accept(p, "[");
    result = parse_arguments(p, f, at, "]", &count);
    clt_parser_expect(p, ")");
  } else {
    result = parse_arguments(p, f, at, ")", &count);
  }
  return finish_call(p, f, at, result, count);
}

/* --- names and other primaries --- */

/* What was meant, among the names of parameters, or of functions where a bracket follows. */
static void unknown_name(clt_parser *p, const clt_token *t, bool call) {
  char name[80];
  int length = t->end - t->begin < sizeof name ? (int)(t->end - t->begin) : (int)sizeof name - 1;
  snprintf(name, sizeof name, "%.*s", length, p->text + t->begin);
  size_t n = call ? N_FUNCTIONS : p->n_symbols;
  const char **names = clt_new_array(n, sizeof *names);
  if (names == NULL) {
    clt_parser_no_memory(p);
    return;
  }
  for (size_t i = 0; i < n; i++) names[i] = call ? functions[i].name : p->symbols[i].name;
  const char *near = clt_nearest_name(name, names, n), *what = call ? "the function" : "the name";
  if (find_function(name, strlen(name)))
    clt_parser_mistake(p, t->begin, "'%s' is a function and wants '(',", name);
  else if (near)
    clt_parser_mistake(p, t->begin, "%s '%s' is not known (did you mean '%s'?)", what, name, near);
  else
    clt_parser_mistake(p, t->begin, "%s '%s' is not known", what, name);
  free(names);
}

static clt_operand symbol_operand(clt_parser *p, const clt_symbol *symbol) {
  clt_operand out = 0;
  if (!symbol->constant) return clt_operand_make(CLT_FROM_SLOT, symbol->slot);
  if (symbol->value.type != CLT_STRING) return clt_parser_constant(p, symbol->value);
  if (clt_expr_add_text(p->expr, symbol->value.text, strlen(symbol->value.text), &out)) clt_parser_no_memory(p);
  return out;
}

static clt_operand parse_symbol(clt_parser *p, const clt_token *t) {
  size_t length = t->end - t->begin;
  const char *name = p->text + t->begin;
  for (size_t i = p->n_symbols; i-- > 0;)
    if (strlen(p->symbols[i].name) == length && memcmp(p->symbols[i].name, name, length) == 0) {
      if (clt_parser_sees(p, "[") || clt_parser_sees(p, "."))
        clt_parser_mistake(p, t->begin, "'%.*s' has no parts; write the name of a parameter alone,", (int)length, name);
      return symbol_operand(p, &p->symbols[i]);
    }
  if (clt_parser_sees(p, "["))
    clt_parser_mistake(p, t->begin, "'%.*s[...]' is not supported; write the name of the parameter alone,", (int)length,
                       name);
  unknown_name(p, t, false);
  return 0;
}

static clt_operand parse_keyword(clt_parser *p, const clt_token *t) {
  if (clt_token_is(t, p->text, "True") || clt_token_is(t, p->text, "true"))
    return clt_parser_constant(p, clt_boolean(true));
  if (clt_token_is(t, p->text, "False") || clt_token_is(t, p->text, "false"))
    return clt_parser_constant(p, clt_boolean(false));
  if (clt_token_is(t, p->text, "not"))
    clt_parser_mistake(p, t->begin, "'not' here needs parentheses around it and its operand,");
  else
    clt_parser_mistake(p, t->begin, "'%.*s' cannot stand here,", (int)(t->end - t->begin), p->text + t->begin);
  return 0;
}

static clt_operand parse_name(clt_parser *p) {
  clt_token t = p->token;
  size_t length = t.end - t.begin;
  const char *name = p->text + t.begin;
  if (clt_is_keyword(name, length) && !clt_token_is(&t, p->text, "True") && !clt_token_is(&t, p->text, "False") &&
      !clt_token_is(&t, p->text, "true") && !clt_token_is(&t, p->text, "false"))
    return parse_keyword(p, &t);
  clt_parser_advance(p);
  if (clt_is_keyword(name, length)) return parse_keyword(p, &t);
  if (!clt_parser_sees(p, "(")) return parse_symbol(p, &t);
  const function *f = find_function(name, length);
  if (f) return parse_call(p, f, t.begin);
  if (length == 5 && memcmp(name, "range", 5) == 0) {
    clt_parser_mistake(p, t.begin, "range() can only stand behind 'in',");
  } else {
    unknown_name(p, &t, true);
  }
  return 0;
}

/* A text without its quotes and escapes. */
static clt_operand parse_text(clt_parser *p) {
  size_t length = p->token.end - p->token.begin - 2, n = 0;
  const char *from = p->text + p->token.begin + 1;
  clt_operand out = 0;
  char *plain = malloc(length + 1);
  if (plain == NULL) {
    clt_parser_no_memory(p);
    return 0;
  }
  for (size_t i = 0; i < length; i++) {
    char c = from[i];
    if (c == '\\') c = from[++i] == 'n' ? '\n' : from[i] == 't' ? '\t' : from[i];
    plain[n++] = c;
  }
  if (clt_expr_add_text(p->expr, plain, n, &out)) clt_parser_no_memory(p);
  free(plain);
  clt_parser_advance(p);
  return out;
}

static clt_operand parse_bracket(clt_parser *p) {
  size_t at = p->token.begin;
  clt_parser_expect(p, "(");
  clt_operand inner = clt_parse_expression(p);
  if (clt_parser_sees(p, ",")) clt_parser_mistake(p, at, "a list can only stand behind 'in' or in a call,");
  clt_parser_expect(p, ")");
  return inner;
}

clt_operand clt_parse_primary(clt_parser *p) {
  clt_value number = p->token.number;
  switch (p->token.kind) {
    case CLT_TOKEN_NUMBER: clt_parser_advance(p); return clt_parser_constant(p, number);
    case CLT_TOKEN_TEXT: return parse_text(p);
    case CLT_TOKEN_NAME: return parse_name(p);
    default: break;
  }
  if (clt_parser_sees(p, "(")) return parse_bracket(p);
  if (clt_parser_sees(p, "[") || clt_parser_sees(p, "{"))
    clt_parser_mistake(p, p->token.begin, "a list can only stand behind 'in' or in a call,");
  else
    clt_parser_unexpected(p, "a value");
  return 0;
}
