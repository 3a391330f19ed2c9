/* space/ops.h - the operators of expressions, with Python's number semantics, on single values.
 *
 * There is no jump in compiled expressions: everything is evaluated, and an operation without result gives a *failed*
 * value, which the operations on it pass on. Only and, or and the choice look at one side first, so that the result is
 * the one that Python's short circuit gives. */
#ifndef CLT_SPACE_OPS_H
#define CLT_SPACE_OPS_H

#include <clatune/value.h>

/* Operator, number of operands, how it is written in messages. */
#define CLT_OP_TABLE(X)     \
  X(NEGATE, 1, "-")         \
  X(PLUS, 1, "+")           \
  X(INVERT, 1, "~")         \
  X(NOT, 1, "not")          \
  X(BOOL, 1, "bool()")      \
  X(INT, 1, "int()")        \
  X(FLOAT, 1, "float()")    \
  X(ABS, 1, "abs()")        \
  X(ROUND, 1, "round()")    \
  X(FLOOR, 1, "floor()")    \
  X(CEIL, 1, "ceil()")      \
  X(SQRT, 1, "sqrt()")      \
  X(LOG, 1, "log()")        \
  X(LOG2, 1, "log2()")      \
  X(LOG10, 1, "log10()")    \
  X(EXP, 1, "exp()")        \
  X(LENGTH, 1, "len()")     \
  X(ADD, 2, "+")            \
  X(SUBTRACT, 2, "-")       \
  X(MULTIPLY, 2, "*")       \
  X(DIVIDE, 2, "/")         \
  X(FLOOR_DIVIDE, 2, "//")  \
  X(REMAINDER, 2, "%")      \
  X(POWER, 2, "**")         \
  X(SHIFT_LEFT, 2, "<<")    \
  X(SHIFT_RIGHT, 2, ">>")   \
  X(BIT_AND, 2, "&")        \
  X(BIT_OR, 2, "|")         \
  X(BIT_XOR, 2, "^")        \
  X(EQUAL, 2, "==")         \
  X(NOT_EQUAL, 2, "!=")     \
  X(LESS, 2, "<")           \
  X(LESS_EQUAL, 2, "<=")    \
  X(GREATER, 2, ">")        \
  X(GREATER_EQUAL, 2, ">=") \
  X(MINIMUM, 2, "min()")    \
  X(MAXIMUM, 2, "max()")    \
  X(GCD, 2, "gcd()")        \
  X(INSIDE, 2, "in")        \
  X(AND, 2, "and")          \
  X(OR, 2, "or")            \
  X(CHOOSE, 3, "if")        \
  X(IN_RANGE, 4, "in range()")

typedef enum clt_op {
#define CLT_OP_ENUM(id, arity, text) CLT_OP_##id,
  CLT_OP_TABLE(CLT_OP_ENUM)
#undef CLT_OP_ENUM
} clt_op;

unsigned clt_op_arity(clt_op op);
const char *clt_op_text(clt_op op);

/* A failed value: its integer is why. The first ones mean that there is no result (a constraint is not satisfied), from
 * CLT_FAILED_FATAL on that the expression is wrong. */
#define CLT_FAILED ((clt_value_type)(CLT_STRING + 1))
typedef enum clt_failure {
  CLT_FAILED_DIVISION, /* by zero */
  CLT_FAILED_DOMAIN,   /* sqrt(-1), log(0), int(inf) */
  CLT_FAILED_SHIFT,    /* by a negative amount */
  CLT_FAILED_FATAL,
  CLT_FAILED_OVERFLOW = CLT_FAILED_FATAL, /* beyond 64 bits */
  CLT_FAILED_TYPES
} clt_failure;

/* The failure (clt_failure) and the mark of a failed value: any number below 2^24, given to clt_op_apply. */
static inline clt_failure clt_failed_why(clt_value v) { return (clt_failure)(v.integer & 0xff); }
static inline uint32_t clt_failed_mark(clt_value v) { return (uint32_t)(v.integer >> 8); }
static inline bool clt_failed_fatally(clt_value v) {
  return v.type == CLT_FAILED && clt_failed_why(v) >= CLT_FAILED_FATAL;
}

/* Applies op to as many operands as it takes. mark goes into the result if this very operation fails. */
clt_value clt_op_apply(clt_op op, const clt_value *const *operands, uint32_t mark);

static inline clt_value clt_integer(int64_t x) { return (clt_value){.type = CLT_INT, .integer = x}; }
static inline clt_value clt_real(double x) { return (clt_value){.type = CLT_REAL, .real = x}; }
static inline clt_value clt_boolean(bool x) { return (clt_value){.type = CLT_BOOL, .integer = x}; }

/* What nearly all conditions consist of, without the detours: false where those are needed. */
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

#endif
