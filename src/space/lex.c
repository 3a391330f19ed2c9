#include "base/base.h"
#include "space/code.h"

static bool is_digit(char c) { return c >= '0' && c <= '9'; }
static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

bool clt_is_word(const char *text, size_t length, const char *word) {
  return text[0] == word[0] && strlen(word) == length && memcmp(text, word, length) == 0;
}

bool clt_token_is(const clt_token *token, const char *text, const char *word) {
  return (token->kind == CLT_TOKEN_NAME || token->kind == CLT_TOKEN_SIGN) &&
         clt_is_word(text + token->begin, token->end - token->begin, word);
}

bool clt_is_keyword(const char *name, size_t length) {
  static const char *const words[] = {"and",    "or",   "not",   "in",   "is",   "if",    "else",
                                      "lambda", "True", "False", "None", "true", "false", "for"};
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    if (clt_is_word(name, length, words[i])) return true;
  return false;
}

static int digit_value(char c) {
  if (is_digit(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return 99;
}

bool clt_number_parse(clt_value *out, const char *text, size_t length) {
  char digits[400];
  size_t n = 0;
  int base = 10;
  if (length > 2 && text[0] == '0' && strchr("xXoObB", text[1])) {
    base = strchr("xX", text[1]) ? 16 : 2;
    if (strchr("oO", text[1])) base = 8;
    text += 2;
    length -= 2;
    if (*text == '_') {
      text++;
      length--;
    }
  }
  for (size_t i = 0; i < length; i++) {
    if (text[i] != '_') {
      if (n + 1 >= sizeof digits) return false;
      digits[n++] = text[i];
    } else if (i == 0 || i + 1 == length || digit_value(text[i - 1]) > 15 || digit_value(text[i + 1]) > 15) {
      return false;
    }
  }
  digits[n] = '\0';
  if (n == 0) return false;
  if (base == 10) {
    if (!is_digit(digits[0]) && digits[0] != '.') return false;
    if (strspn(digits, "0123456789.eE+-") != n) return false; /* strtod would also accept "0x1p3" and "infinity" */
    if (strpbrk(digits, ".eE")) {
      char *end;
      double x = clt_strtod(digits, &end);
      if (*end != '\0' || end == digits || !isfinite(x)) return false;
      *out = clt_real(x);
      return true;
    }
    if (digits[0] == '0' && strspn(digits, "0") != n) return false; /* 010 is invalid in Python, and 8 in C */
  }
  int64_t x = 0;
  for (size_t i = 0; i < n; i++) {
    int d = digit_value(digits[i]);
    if (d >= base || __builtin_mul_overflow(x, (int64_t)base, &x) || __builtin_add_overflow(x, (int64_t)d, &x))
      return false;
  }
  *out = clt_integer(x);
  return true;
}

int clt_lex(clt_token *token, const char *text, size_t at, size_t limit, const char **problem) {
  static const char *const pairs[] = {"**", "//", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||"};
  while (at < limit && (text[at] == ' ' || text[at] == '\t' || text[at] == '\n' || text[at] == '\r')) at++;
  *token = (clt_token){.kind = CLT_TOKEN_END, .begin = at, .end = at};
  if (at == limit) return CLT_OK;
  char c = text[at], next = at + 1 < limit ? text[at + 1] : '\0';
  size_t i = at;
  if (is_digit(c) || (c == '.' && is_digit(next))) {
    /* Letters are part of the token, so that "4u" and "08x" are reported as a whole. */
    bool prefixed = c == '0' && next && strchr("xXoObB", next);
    for (; i < limit; i++) {
      bool exponent = !prefixed && (text[i] == 'e' || text[i] == 'E');
      if (exponent && i + 1 < limit && (text[i + 1] == '+' || text[i + 1] == '-'))
        i++;
      else if (!is_digit(text[i]) && !is_letter(text[i]) && text[i] != '.')
        break;
    }
    token->kind = CLT_TOKEN_NUMBER;
    token->end = i;
    if (clt_number_parse(&token->number, text + at, i - at)) return CLT_OK;
    *problem = "this is not a number, or it exceeds 64 bits";
  } else if (c == '\'' || c == '"') {
    token->kind = CLT_TOKEN_TEXT;
    for (i = at + 1; i < limit && text[i] != c; i++)
      if (text[i] == '\\') i++;
    token->end = i + 1;
    if (i < limit) return CLT_OK;
    token->end = at;
    *problem = "the string that begins here has no closing quote";
  } else if (is_letter(c)) {
    for (; i < limit; i++) {
      bool dot = text[i] == '.' && i + 1 < limit && is_letter(text[i + 1]);
      if (!is_letter(text[i]) && !is_digit(text[i]) && !dot) break;
    }
    token->kind = CLT_TOKEN_NAME;
    token->end = i;
    return CLT_OK;
  } else {
    bool pair = false;
    for (i = 0; next && i < sizeof pairs / sizeof *pairs; i++) pair |= memcmp(pairs[i], text + at, 2) == 0;
    token->kind = CLT_TOKEN_SIGN;
    token->end = at + (pair ? 2 : 1);
    if (pair || (c && strchr("+-*/%~&|^<>!?:()[]{},.", c))) return CLT_OK;
    *problem = c == '=' ? "'=' assigns; to compare, write '=='" : "this character is not allowed in an expression";
  }
  return CLT_E_EXPRESSION;
}
