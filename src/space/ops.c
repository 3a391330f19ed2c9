#include "space/ops.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "space/expr.h"
#include "space/numbers.h"

static const struct {
  unsigned arity;
  const char *text;
} table[] = {
#define ROW(id, arity, text) {arity, text},
    CLT_OP_TABLE(ROW)
#undef ROW
};

unsigned clt_op_arity(clt_op op) { return table[op].arity; }
const char *clt_op_text(clt_op op) { return table[op].text; }

bool clt_value_truthy(clt_value v) {
  switch (v.type) {
    case CLT_REAL: return v.real != 0;
    case CLT_STRING: return v.text[0] != '\0';
    default: return v.integer != 0;
  }
}

static clt_value failed(clt_failure why, uint32_t mark) {
  return (clt_value){.type = CLT_FAILED, .integer = (int64_t)mark << 8 | why};
}

static bool whole(clt_value v) { return v.type == CLT_INT || v.type == CLT_BOOL; }
static bool numeric(clt_value v) { return v.type != CLT_STRING; }

static clt_value from_real(double x, uint32_t mark) {
  int64_t integer;
  return clt_real_to_integer(x, &integer) ? clt_integer(integer)
                                          : failed(isfinite(x) ? CLT_FAILED_OVERFLOW : CLT_FAILED_DOMAIN, mark);
}

/* --- one operand --- */

static clt_value integer_unary(clt_op op, int64_t x, uint32_t mark) {
  switch (op) {
    case CLT_OP_NEGATE: return x == INT64_MIN ? failed(CLT_FAILED_OVERFLOW, mark) : clt_integer(-x);
    case CLT_OP_ABS: return x == INT64_MIN ? failed(CLT_FAILED_OVERFLOW, mark) : clt_integer(x < 0 ? -x : x);
    case CLT_OP_INVERT: return clt_integer(~x);
    default: return clt_integer(x); /* +, int, round, floor, ceil */
  }
}

static clt_value domain(double result, bool defined, uint32_t mark) {
  return defined ? clt_real(result) : failed(CLT_FAILED_DOMAIN, mark);
}

static clt_value real_unary(clt_op op, double x, uint32_t mark) {
  switch (op) {
    case CLT_OP_NEGATE: return clt_real(-x);
    case CLT_OP_PLUS: return clt_real(x);
    case CLT_OP_ABS: return clt_real(fabs(x));
    case CLT_OP_INT: return from_real(trunc(x), mark);
    case CLT_OP_ROUND: return from_real(rint(x), mark);
    case CLT_OP_FLOOR: return from_real(floor(x), mark);
    case CLT_OP_CEIL: return from_real(ceil(x), mark);
    case CLT_OP_SQRT: return domain(sqrt(x), !(x < 0), mark);
    case CLT_OP_LOG: return domain(log(x), !(x <= 0), mark);
    case CLT_OP_LOG2: return domain(log2(x), !(x <= 0), mark);
    case CLT_OP_LOG10: return domain(log10(x), !(x <= 0), mark);
    case CLT_OP_EXP: return isinf(exp(x)) && !isinf(x) ? failed(CLT_FAILED_OVERFLOW, mark) : clt_real(exp(x));
    default: return failed(CLT_FAILED_TYPES, mark); /* ~ */
  }
}

static bool for_integers(clt_op op) {
  switch (op) {
    case CLT_OP_NEGATE:
    case CLT_OP_PLUS:
    case CLT_OP_INVERT:
    case CLT_OP_ABS:
    case CLT_OP_INT:
    case CLT_OP_ROUND:
    case CLT_OP_FLOOR:
    case CLT_OP_CEIL: return true;
    default: return false;
  }
}

static clt_value unary(clt_op op, clt_value v, uint32_t mark) {
  if (v.type == CLT_FAILED) return v;
  if (op == CLT_OP_NOT) return clt_boolean(!clt_value_truthy(v));
  if (op == CLT_OP_BOOL) return clt_boolean(clt_value_truthy(v));
  if (op == CLT_OP_LENGTH && v.type == CLT_STRING) return clt_integer((int64_t)strlen(v.text));
  if (v.type == CLT_STRING || op == CLT_OP_LENGTH) return failed(CLT_FAILED_TYPES, mark);
  if (op == CLT_OP_FLOAT) return clt_real(clt_value_number(v));
  if (whole(v) && for_integers(op)) return integer_unary(op, v.integer, mark);
  return real_unary(op, clt_value_number(v), mark);
}

/* --- two operands: arithmetic --- */

static clt_value integer_power(int64_t a, int64_t b, uint32_t mark) {
  int64_t result;
  if (b < 0) return a == 0 ? failed(CLT_FAILED_DIVISION, mark) : clt_real(pow((double)a, (double)b));
  return clt_integer_power(a, b, &result) ? clt_integer(result) : failed(CLT_FAILED_OVERFLOW, mark);
}

static clt_value integer_shift(clt_op op, int64_t a, int64_t b, uint32_t mark) {
  int64_t result;
  if (b < 0) return failed(CLT_FAILED_SHIFT, mark);
  if (op == CLT_OP_SHIFT_RIGHT) return clt_integer(clt_shift_right(a, b));
  return clt_shift_left(a, b, &result) ? clt_integer(result) : failed(CLT_FAILED_OVERFLOW, mark);
}

static clt_value integer_divide(clt_op op, int64_t a, int64_t b, uint32_t mark) {
  if (b == 0) return failed(CLT_FAILED_DIVISION, mark);
  if (op == CLT_OP_DIVIDE) return clt_real(clt_true_divide(a, b));
  if (op == CLT_OP_REMAINDER) return clt_integer(clt_floor_remainder(a, b));
  if (a == INT64_MIN && b == -1) return failed(CLT_FAILED_OVERFLOW, mark);
  return clt_integer(clt_floor_divide(a, b));
}

static clt_value integer_gcd(int64_t a, int64_t b, uint32_t mark) {
  while (b != 0) {
    int64_t rest = clt_floor_remainder(a, b);
    a = b;
    b = rest;
  }
  return integer_unary(CLT_OP_ABS, a, mark);
}

static clt_value integer_arithmetic(clt_op op, int64_t a, int64_t b, uint32_t mark) {
  int64_t result;
  bool overflow;
  switch (op) {
    case CLT_OP_ADD: overflow = __builtin_add_overflow(a, b, &result); break;
    case CLT_OP_SUBTRACT: overflow = __builtin_sub_overflow(a, b, &result); break;
    case CLT_OP_MULTIPLY: overflow = __builtin_mul_overflow(a, b, &result); break;
    case CLT_OP_DIVIDE:
    case CLT_OP_FLOOR_DIVIDE:
    case CLT_OP_REMAINDER: return integer_divide(op, a, b, mark);
    case CLT_OP_POWER: return integer_power(a, b, mark);
    case CLT_OP_GCD: return integer_gcd(a, b, mark);
    default: return integer_shift(op, a, b, mark);
  }
  return overflow ? failed(CLT_FAILED_OVERFLOW, mark) : clt_integer(result);
}

static clt_value real_power(double a, double b, uint32_t mark) {
  if (a == 0 && b < 0) return failed(CLT_FAILED_DIVISION, mark);
  if (a < 0 && isfinite(a) && isfinite(b) && b != floor(b)) return failed(CLT_FAILED_DOMAIN, mark);
  double result = pow(a, b);
  return isinf(result) && isfinite(a) && isfinite(b) ? failed(CLT_FAILED_OVERFLOW, mark) : clt_real(result);
}

static clt_value real_arithmetic(clt_op op, double a, double b, uint32_t mark) {
  bool divides = op == CLT_OP_DIVIDE || op == CLT_OP_FLOOR_DIVIDE || op == CLT_OP_REMAINDER;
  if (divides && b == 0) return failed(CLT_FAILED_DIVISION, mark);
  switch (op) {
    case CLT_OP_ADD: return clt_real(a + b);
    case CLT_OP_SUBTRACT: return clt_real(a - b);
    case CLT_OP_MULTIPLY: return clt_real(a * b);
    case CLT_OP_DIVIDE: return clt_real(a / b);
    case CLT_OP_FLOOR_DIVIDE: return clt_real(clt_real_floor_divide(a, b));
    case CLT_OP_REMAINDER: return clt_real(clt_real_remainder(a, b));
    case CLT_OP_POWER: return real_power(a, b, mark);
    default: return failed(CLT_FAILED_TYPES, mark); /* shifts, gcd */
  }
}

static clt_value arithmetic(clt_op op, clt_value a, clt_value b, uint32_t mark) {
  if (!numeric(a) || !numeric(b)) return failed(CLT_FAILED_TYPES, mark);
  if (whole(a) && whole(b)) return integer_arithmetic(op, a.integer, b.integer, mark);
  return real_arithmetic(op, clt_value_number(a), clt_value_number(b), mark);
}

static clt_value bitwise(clt_op op, clt_value a, clt_value b, uint32_t mark) {
  if (!whole(a) || !whole(b)) return failed(CLT_FAILED_TYPES, mark);
  clt_value result = {.type = a.type == CLT_BOOL && b.type == CLT_BOOL ? CLT_BOOL : CLT_INT};
  if (op == CLT_OP_BIT_AND) result.integer = a.integer & b.integer;
  if (op == CLT_OP_BIT_OR) result.integer = a.integer | b.integer;
  if (op == CLT_OP_BIT_XOR) result.integer = a.integer ^ b.integer;
  return result;
}

/* --- two operands: comparison --- */

/* -1, 0, 1; 2 where a NaN takes part. */
static int compare_numbers(clt_value a, clt_value b) {
  if (whole(a) && whole(b)) return (a.integer > b.integer) - (a.integer < b.integer);
  if (whole(a)) return clt_compare_integer_real(a.integer, b.real);
  if (whole(b)) {
    int turned = clt_compare_integer_real(b.integer, a.real);
    return turned == 2 ? 2 : -turned;
  }
  if (isnan(a.real) || isnan(b.real)) return 2;
  return (a.real > b.real) - (a.real < b.real);
}

static bool equal(clt_value a, clt_value b) {
  if (a.type == CLT_STRING || b.type == CLT_STRING) return clt_value_equal(a, b);
  return compare_numbers(a, b) == 0;
}

static clt_value compare(clt_op op, clt_value a, clt_value b, uint32_t mark) {
  if (op == CLT_OP_EQUAL) return clt_boolean(equal(a, b));
  if (op == CLT_OP_NOT_EQUAL) return clt_boolean(!equal(a, b));
  if (numeric(a) != numeric(b)) return failed(CLT_FAILED_TYPES, mark);
  int order = numeric(a) ? compare_numbers(a, b) : strcmp(a.text, b.text);
  if (numeric(a) && order == 2) return op == CLT_OP_MINIMUM || op == CLT_OP_MAXIMUM ? a : clt_boolean(false);
  switch (op) {
    case CLT_OP_LESS: return clt_boolean(order < 0);
    case CLT_OP_LESS_EQUAL: return clt_boolean(order <= 0);
    case CLT_OP_GREATER: return clt_boolean(order > 0);
    case CLT_OP_GREATER_EQUAL: return clt_boolean(order >= 0);
    case CLT_OP_MINIMUM: return order <= 0 ? a : b;
    default: return order >= 0 ? a : b;
  }
}

static clt_value inside(clt_value a, clt_value b, uint32_t mark) {
  if (a.type != CLT_STRING || b.type != CLT_STRING) return failed(CLT_FAILED_TYPES, mark);
  return clt_boolean(strstr(b.text, a.text) != NULL);
}

/* Of two failures the graver, so that the order of operands does not matter. */
static clt_value graver(clt_value a, clt_value b) {
  if (a.type != CLT_FAILED) return b;
  return clt_failed_fatally(b) && !clt_failed_fatally(a) ? b : a;
}

static clt_value binary(clt_op op, clt_value a, clt_value b, uint32_t mark) {
  if (a.type == CLT_FAILED || b.type == CLT_FAILED) return graver(a, b);
  switch (op) {
    case CLT_OP_BIT_AND:
    case CLT_OP_BIT_OR:
    case CLT_OP_BIT_XOR: return bitwise(op, a, b, mark);
    case CLT_OP_EQUAL:
    case CLT_OP_NOT_EQUAL:
    case CLT_OP_LESS:
    case CLT_OP_LESS_EQUAL:
    case CLT_OP_GREATER:
    case CLT_OP_GREATER_EQUAL:
    case CLT_OP_MINIMUM:
    case CLT_OP_MAXIMUM: return compare(op, a, b, mark);
    case CLT_OP_INSIDE: return inside(a, b, mark);
    default: return arithmetic(op, a, b, mark);
  }
}

/* --- more operands --- */

static clt_value choose(clt_value condition, clt_value then, clt_value otherwise) {
  if (condition.type == CLT_FAILED) return condition;
  return clt_value_truthy(condition) ? then : otherwise;
}

static clt_value in_range(const clt_value *const *v, uint32_t mark) {
  clt_value bad = graver(graver(*v[0], *v[1]), graver(*v[2], *v[3]));
  if (bad.type == CLT_FAILED) return bad;
  if (!whole(*v[1]) || !whole(*v[2]) || !whole(*v[3])) return failed(CLT_FAILED_TYPES, mark);
  int64_t start = v[1]->integer, stop = v[2]->integer, step = v[3]->integer, x, distance;
  if (step == 0) return failed(CLT_FAILED_DOMAIN, mark);
  if (v[0]->type == CLT_STRING) return clt_boolean(false);
  if (!clt_real_to_integer(clt_value_number(*v[0]), &x) && !whole(*v[0])) return clt_boolean(false);
  if (whole(*v[0])) x = v[0]->integer;
  if (!equal(clt_integer(x), *v[0])) return clt_boolean(false);
  if (step > 0 ? x < start || x >= stop : x > start || x <= stop) return clt_boolean(false);
  if (__builtin_sub_overflow(x, start, &distance)) return failed(CLT_FAILED_OVERFLOW, mark);
  return clt_boolean(clt_floor_remainder(distance, step) == 0);
}

clt_value clt_op_apply(clt_op op, const clt_value *const *operands, uint32_t mark) {
  clt_value first = *operands[0], out;
  switch (table[op].arity) {
    case 1: return unary(op, first, mark);
    case 3: return choose(first, *operands[1], *operands[2]);
    case 4: return in_range(operands, mark);
    default: break;
  }
  clt_value second = *operands[1];
  if (first.type == CLT_INT && second.type == CLT_INT && clt_op_quick(op, first.integer, second.integer, &out))
    return out;
  if (op == CLT_OP_AND || op == CLT_OP_OR) {
    if (first.type == CLT_FAILED) return first;
    return clt_value_truthy(first) == (op == CLT_OP_AND) ? second : first;
  }
  return binary(op, first, second, mark);
}
