#include "space/parser.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/fail.h"

/* --- mistakes --- */

void __attribute__((format(printf, 3, 4))) clt_parser_mistake(clt_parser *p, size_t at, const char *format, ...) {
  char what[400];
  va_list arguments;
  if (p->code) return;
  va_start(arguments, format);
  vsnprintf(what, sizeof what, format, arguments);
  va_end(arguments);
  p->code = clt_expr_mistake(p->expr, CLT_E_EXPRESSION, p->error, "cannot read '%.300s': %s at column %zu", p->text,
                             what, at + 1);
  p->token = (clt_token){.kind = CLT_TOKEN_END, .begin = p->end, .end = p->end};
}

void clt_parser_no_memory(clt_parser *p) {
  if (p->code == 0) p->code = clt_fail_memory(p->error);
  p->token = (clt_token){.kind = CLT_TOKEN_END, .begin = p->end, .end = p->end};
}

void clt_parser_unexpected(clt_parser *p, const char *wanted) {
  const clt_token *t = &p->token;
  if (t->kind == CLT_TOKEN_END) {
    clt_parser_mistake(p, t->begin, "%s is missing", wanted);
  } else {
    int length = t->end - t->begin < 60 ? (int)(t->end - t->begin) : 60;
    clt_parser_mistake(p, t->begin, "%s is missing before '%.*s'", wanted, length, p->text + t->begin);
  }
}

/* --- words --- */

void clt_parser_advance(clt_parser *p) {
  const char *problem = NULL;
  clt_token token;
  if (p->code) return;
  if (clt_lex(&token, p->text, p->token.end, p->end, &problem))
    clt_parser_mistake(p, token.begin, "%s,", problem);
  else
    p->token = token;
}

bool clt_parser_sees(const clt_parser *p, const char *word) { return clt_token_is(&p->token, p->text, word); }

bool clt_parser_accept(clt_parser *p, const char *word) {
  if (p->code || !clt_parser_sees(p, word)) return false;
  clt_parser_advance(p);
  return true;
}

void clt_parser_expect(clt_parser *p, const char *word) {
  char wanted[16];
  snprintf(wanted, sizeof wanted, "'%s'", word);
  if (!clt_parser_accept(p, word)) clt_parser_unexpected(p, wanted);
}

/* Looks one word further. */
clt_token clt_parser_following(const clt_parser *p) {
  const char *problem;
  clt_token token = {.kind = CLT_TOKEN_END};
  if (clt_lex(&token, p->text, p->token.end, p->end, &problem)) token.kind = CLT_TOKEN_END;
  return token;
}

/* --- making --- */

clt_operand clt_parser_constant(clt_parser *p, clt_value value) {
  clt_operand out = 0;
  if (p->code == 0 && clt_expr_add_constant(p->expr, value, &out)) clt_parser_no_memory(p);
  return out;
}

clt_operand clt_parser_make_more(clt_parser *p, clt_op op, size_t at, const clt_operand operands[4]) {
  clt_operand out = 0;
  if (p->code == 0 && clt_expr_add_node(p->expr, op, (uint32_t)at + 1, operands, &out)) clt_parser_no_memory(p);
  return out;
}

clt_operand clt_parser_make(clt_parser *p, clt_op op, size_t at, clt_operand a, clt_operand b) {
  clt_operand operands[4] = {a, b, 0, 0};
  return clt_parser_make_more(p, op, at, operands);
}
