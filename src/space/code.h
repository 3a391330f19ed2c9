/* space/code.h - the parts of a compiled expression: tokens, operators and operations. For the files that compile
 * expressions, and for the space, which merges the operations of all constraints. */
#pragma once

#include <stdatomic.h>

#include "space/expr.h"

#define CLT_EXPR_MAX_BYTES 65536 /* of text */
#define CLT_EXPR_MAX_DEPTH 400   /* recursion of the parser: about 200 nested brackets */

/* --- words --- */

typedef enum clt_token_kind {
  CLT_TOKEN_END,
  CLT_TOKEN_NUMBER,
  CLT_TOKEN_TEXT,
  CLT_TOKEN_NAME,
  CLT_TOKEN_SIGN
} clt_token_kind;

/* One token: characters begin .. end - 1 of the text. */
typedef struct clt_token {
  clt_token_kind kind;
  size_t begin, end;
  clt_value number; /* CLT_TOKEN_NUMBER */
} clt_token;

/* Reads the token at or after `at`, skipping blanks; the text ends at `limit`. CLT_E_EXPRESSION: *problem is the
 * (static) description of the mistake, and token->begin its place. */
int clt_lex(clt_token *token, const char *text, size_t at, size_t limit, const char **problem);

bool clt_is_word(const char *text, size_t length, const char *word);

/* Whether the token is this name or sign. Texts never are. */
bool clt_token_is(const clt_token *token, const char *text, const char *word);

/* --- operators, with Python's number semantics ---
 *
 * Compiled expressions have no jumps: every operation is evaluated. An operation without a result gives a *failed*
 * value, which the operations on it pass on. and, or and the choice ignore a failed value on the side that they do not
 * select, so that the result is the same as with Python's short circuit.
 *
 * To add a function: add a line to `functions` in parse.c. If it is not a combination of operators, add a line to
 * CLT_OP_TABLE and its cases to ops.c and to_c.c. Add cases to tests/space/expression_cases.h, with the values that
 * Python gives. */

/* Operator, number of operands, text for messages. */
#define CLT_OP_TABLE(X)        \
  X(NEGATE, 1, "-")            \
  X(PLUS, 1, "+")              \
  X(INVERT, 1, "~")            \
  X(NOT, 1, "not")             \
  X(BOOL, 1, "bool()")         \
  X(INT, 1, "int()")           \
  X(FLOAT, 1, "float()")       \
  X(ABS, 1, "abs()")           \
  X(ROUND, 1, "round()")       \
  X(FLOOR, 1, "floor()")       \
  X(CEIL, 1, "ceil()")         \
  X(SQRT, 1, "sqrt()")         \
  X(LOG, 1, "log()")           \
  X(LOG2, 1, "log2()")         \
  X(LOG10, 1, "log10()")       \
  X(EXP, 1, "exp()")           \
  X(LENGTH, 1, "len()")        \
  X(ADD, 2, "+")               \
  X(SUBTRACT, 2, "-")          \
  X(MULTIPLY, 2, "*")          \
  X(DIVIDE, 2, "/")            \
  X(FLOOR_DIVIDE, 2, "//")     \
  X(REMAINDER, 2, "%")         \
  X(POWER, 2, "**")            \
  X(SHIFT_LEFT, 2, "<<")       \
  X(SHIFT_RIGHT, 2, ">>")      \
  X(BIT_AND, 2, "&")           \
  X(BIT_OR, 2, "|")            \
  X(BIT_XOR, 2, "^")           \
  X(EQUAL, 2, "==")            \
  X(NOT_EQUAL, 2, "!=")        \
  X(LESS, 2, "<")              \
  X(LESS_EQUAL, 2, "<=")       \
  X(GREATER, 2, ">")           \
  X(GREATER_EQUAL, 2, ">=")    \
  X(MINIMUM, 2, "min()")       \
  X(MAXIMUM, 2, "max()")       \
  X(GCD, 2, "gcd()")           \
  X(INSIDE, 2, "in")           \
  X(AND, 2, "and")             \
  X(OR, 2, "or")               \
  X(CHOOSE, 3, "if")           \
  X(IN_RANGE, 4, "in range()") \
  X(CONSTANT, 0, "")           \
  X(SLOT, 0, "")

typedef enum clt_op {
#define CLT_OP_ENUM(id, arity, text) CLT_OP_##id,
  CLT_OP_TABLE(CLT_OP_ENUM)
#undef CLT_OP_ENUM
} clt_op;

unsigned clt_op_arity(clt_op op);
const char *clt_op_text(clt_op op);

/* The type of a failed value; its integer is the clt_failure. Failures before CLT_FAILED_FATAL mean that there is no
 * result, so a constraint is not satisfied. CLT_FAILED_FATAL and later ones mean that the expression is wrong. */
#define CLT_FAILED ((clt_value_type)(CLT_STRING + 1))
typedef enum clt_failure {
  CLT_FAILED_DIVISION, /* by zero */
  CLT_FAILED_DOMAIN,   /* sqrt(-1), log(0), int(inf) */
  CLT_FAILED_SHIFT,    /* by a negative amount */
  CLT_FAILED_FATAL,
  CLT_FAILED_OVERFLOW = CLT_FAILED_FATAL, /* beyond 64 bits */
  CLT_FAILED_TYPES
} clt_failure;

/* The bits of the integer above the failure are the number of the node that failed, if an expression is being
 * evaluated; 0: not yet noted. */
#define CLT_FAILED_NODE_SHIFT 8
static inline clt_failure clt_failed_why(clt_value v) { return (clt_failure)(v.integer & 0xff); }
static inline bool clt_failed_fatally(clt_value v) {
  return v.type == CLT_FAILED && clt_failed_why(v) >= CLT_FAILED_FATAL;
}

/* Applies op to its clt_op_arity(op) operands. */
clt_value clt_op_apply(clt_op op, const clt_value *const *operands);

static inline clt_value clt_integer(int64_t x) { return (clt_value){.type = CLT_INT, .integer = x}; }
static inline clt_value clt_real(double x) { return (clt_value){.type = CLT_REAL, .real = x}; }
static inline clt_value clt_boolean(bool x) { return (clt_value){.type = CLT_BOOL, .integer = x}; }

/* A fast path for the most frequent operations on integers. False: not applicable; use clt_op_apply. */
static inline bool clt_op_quick(clt_op op, int64_t a, int64_t b, clt_value *out) {
  switch (op) {
    case CLT_OP_ADD: out->type = CLT_INT; return !__builtin_add_overflow(a, b, &out->integer);
    case CLT_OP_SUBTRACT: out->type = CLT_INT; return !__builtin_sub_overflow(a, b, &out->integer);
    case CLT_OP_MULTIPLY: out->type = CLT_INT; return !__builtin_mul_overflow(a, b, &out->integer);
    case CLT_OP_EQUAL: *out = clt_boolean(a == b); return true;
    case CLT_OP_NOT_EQUAL: *out = clt_boolean(a != b); return true;
    case CLT_OP_LESS: *out = clt_boolean(a < b); return true;
    case CLT_OP_LESS_EQUAL: *out = clt_boolean(a <= b); return true;
    case CLT_OP_GREATER: *out = clt_boolean(a > b); return true;
    case CLT_OP_GREATER_EQUAL: *out = clt_boolean(a >= b); return true;
    case CLT_OP_REMAINDER:
      if (a < 0 || b <= 0) return false;
      *out = clt_integer(a % b);
      return true;
    default: return false;
  }
}

/* Converts x, which must be an integer. False: x is not finite, or exceeds 64 bits. */
static inline bool clt_real_to_integer(double x, int64_t *out) {
  if (!(x >= -0x1p63 && x < 0x1p63)) return false;
  *out = (int64_t)x;
  return true;
}

/* --- compiled expressions --- */

typedef uint32_t clt_operand; /* number of a node */

/* An operation on earlier nodes. CLT_OP_CONSTANT: a value, whose text is owned. CLT_OP_SLOT: the value of the slot
 * operands[0]. */
typedef struct clt_expr_node {
  uint8_t op;      /* clt_op */
  uint32_t column; /* of the operator in the text, 1-based */
  clt_operand operands[4];
  clt_value value;
} clt_expr_node;

struct clt_expr {
  atomic_uint n_owners;
  clt_place place;
  char *text;
  clt_expr_node *nodes; /* the last one is the root */
  size_t n_nodes, nodes_capacity;
  uint32_t *slots; /* ascending */
  size_t n_slots;
};

/* Compiles the part of `text` from `begin` to `end`; columns count from the start of text. place may be NULL. */
int clt_expr_compile_part(clt_expr **out, const char *text, size_t begin, size_t end, const clt_place *place,
                          const clt_symbol *symbols, size_t n_symbols, clt_error *error);

/* Reports a mistake in an expression, with its place. Returns code. */
int clt_expr_mistake(const clt_expr *expr, int code, clt_error *error, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Used by the parser to build an expression; 0 or CLT_E_MEMORY. clt_expr_add copies texts and evaluates constant
 * operations immediately. clt_expr_finish removes the nodes that the root does not need. */
int clt_expr_add(clt_expr *expr, clt_expr_node node, clt_operand *out);
int clt_expr_finish(clt_expr *expr, clt_operand root);
