/* space/parser.h - the state that the parts of the parser share. */
#ifndef CLT_SPACE_PARSER_H
#define CLT_SPACE_PARSER_H

#include "space/code.h"
#include "space/lex.h"

typedef struct clt_parser {
  clt_expr *expr; /* what is being made */
  const char *text;
  size_t end;
  clt_token token; /* the next word */
  const clt_symbol *symbols;
  size_t n_symbols;
  int depth;
  int code; /* of the first mistake; after it only ends are read, and nothing is made */
  clt_error *error;
} clt_parser;

/* --- mistakes --- */
void clt_parser_mistake(clt_parser *p, size_t at, const char *format, ...) __attribute__((format(printf, 3, 4)));
void clt_parser_no_memory(clt_parser *p);
void clt_parser_unexpected(clt_parser *p, const char *wanted); /* `wanted` is missing where the parser is */

/* --- words --- */
void clt_parser_advance(clt_parser *p);
bool clt_parser_sees(const clt_parser *p, const char *word); /* is it the next one? */
bool clt_parser_accept(clt_parser *p, const char *word);     /* if so, read it */
void clt_parser_expect(clt_parser *p, const char *word);     /* if not, that is a mistake */
clt_token clt_parser_following(const clt_parser *p);         /* the one after the next */

/* --- making: `at` is the place of the operator --- */
clt_operand clt_parser_constant(clt_parser *p, clt_value value);
clt_operand clt_parser_make(clt_parser *p, clt_op op, size_t at, clt_operand a, clt_operand b);
clt_operand clt_parser_make_more(clt_parser *p, clt_op op, size_t at, const clt_operand operands[4]);

/* --- reading --- */
clt_operand clt_parse_expression(clt_parser *p);
clt_operand clt_parse_primary(clt_parser *p); /* a value without operators around it */

#endif
