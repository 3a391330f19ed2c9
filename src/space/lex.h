/* space/lex.h - the words of expressions. */
#ifndef CLT_SPACE_LEX_H
#define CLT_SPACE_LEX_H

#include <clatune/error.h>
#include <clatune/value.h>

typedef enum clt_token_kind {
  CLT_TOKEN_END,
  CLT_TOKEN_NUMBER,
  CLT_TOKEN_TEXT,
  CLT_TOKEN_NAME,
  CLT_TOKEN_SIGN
} clt_token_kind;

/* One word: of the text, begin .. end-1. */
typedef struct clt_token {
  clt_token_kind kind;
  size_t begin, end;
  clt_value number; /* CLT_TOKEN_NUMBER */
} clt_token;

/* Reads the word at or after `at` (blanks skipped), not beyond `limit`. On CLT_E_EXPRESSION *problem says what is wrong
 * (static) and token->begin is where. */
int clt_lex(clt_token *token, const char *text, size_t at, size_t limit, const char **problem);

/* Whether the token is this name or sign. Texts never are. */
bool clt_token_is(const clt_token *token, const char *text, const char *word);

#endif
