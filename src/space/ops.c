/* The operators of expressions, with Python's arithmetic on 64-bit integers and doubles. */
#include "base/json.h"
#include "space/code.h"

#define EXACT ((int64_t)1 << 53) /* doubles represent all integers up to here */

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

static clt_value failed(clt_failure why) { return (clt_value){.type = CLT_FAILED, .integer = why}; }

static bool is_integer(clt_value v) { return v.type == CLT_INT || v.type == CLT_BOOL; }
static bool is_exact(int64_t a) { return a >= -EXACT && a <= EXACT; }

/* --- one operand --- */

static clt_value apply_unary(clt_op op, clt_value v) {
  if (v.type == CLT_FAILED) return v;
  if (op == CLT_OP_NOT) return clt_boolean(!clt_value_truthy(v));
  if (op == CLT_OP_BOOL) return clt_boolean(clt_value_truthy(v));
  if (op == CLT_OP_LENGTH && v.type == CLT_STRING) return clt_integer((int64_t)strlen(v.text));
  if (v.type == CLT_STRING || op == CLT_OP_LENGTH) return failed(CLT_FAILED_TYPES);
  if (is_integer(v)) {
    switch (op) {
      case CLT_OP_INVERT: return clt_integer(~v.integer);
      case CLT_OP_NEGATE:
      case CLT_OP_ABS:
        if (op == CLT_OP_ABS && v.integer >= 0) return clt_integer(v.integer);
        return v.integer == INT64_MIN ? failed(CLT_FAILED_OVERFLOW) : clt_integer(-v.integer);
      case CLT_OP_PLUS:
      case CLT_OP_INT:
      case CLT_OP_ROUND:
      case CLT_OP_FLOOR:
      case CLT_OP_CEIL: return clt_integer(v.integer);
      default: break;
    }
  }
  double x = clt_value_number(v), result;
  int64_t integer;
  switch (op) {
    case CLT_OP_FLOAT:
    case CLT_OP_PLUS: return clt_real(x);
    case CLT_OP_NEGATE: return clt_real(-x);
    case CLT_OP_ABS: return clt_real(fabs(x));
    case CLT_OP_INT: result = trunc(x); break;
    case CLT_OP_ROUND: result = rint(x); break;
    case CLT_OP_FLOOR: result = floor(x); break;
    case CLT_OP_CEIL: result = ceil(x); break;
    case CLT_OP_SQRT: return x < 0 ? failed(CLT_FAILED_DOMAIN) : clt_real(sqrt(x));
    case CLT_OP_LOG: return x <= 0 ? failed(CLT_FAILED_DOMAIN) : clt_real(log(x));
    case CLT_OP_LOG2: return x <= 0 ? failed(CLT_FAILED_DOMAIN) : clt_real(log2(x));
    case CLT_OP_LOG10: return x <= 0 ? failed(CLT_FAILED_DOMAIN) : clt_real(log10(x));
    case CLT_OP_EXP: return isinf(exp(x)) && !isinf(x) ? failed(CLT_FAILED_OVERFLOW) : clt_real(exp(x));
    default: return failed(CLT_FAILED_TYPES); /* ~ */
  }
  if (clt_real_to_integer(result, &integer)) return clt_integer(integer);
  return failed(isfinite(x) ? CLT_FAILED_OVERFLOW : CLT_FAILED_DOMAIN);
}

/* --- two operands: arithmetic --- */

/* b != 0; the result has the sign of b. */
static int64_t floor_remainder(int64_t a, int64_t b) {
  if (b == -1) return 0; /* INT64_MIN % -1 traps */
  int64_t remainder = a % b;
  return remainder != 0 && (remainder < 0) != (b < 0) ? remainder + b : remainder;
}

static clt_value integer_arithmetic(clt_op op, int64_t a, int64_t b) {
  int64_t result = 0;
  bool overflow = false;
  if (b == 0 && (op == CLT_OP_DIVIDE || op == CLT_OP_FLOOR_DIVIDE || op == CLT_OP_REMAINDER))
    return failed(CLT_FAILED_DIVISION);
  if (b < 0 && (op == CLT_OP_SHIFT_LEFT || op == CLT_OP_SHIFT_RIGHT)) return failed(CLT_FAILED_SHIFT);
  switch (op) {
    case CLT_OP_ADD: overflow = __builtin_add_overflow(a, b, &result); break;
    case CLT_OP_SUBTRACT: overflow = __builtin_sub_overflow(a, b, &result); break;
    case CLT_OP_MULTIPLY: overflow = __builtin_mul_overflow(a, b, &result); break;
    case CLT_OP_DIVIDE:
      if (is_exact(a) && is_exact(b)) return clt_real((double)a / (double)b);
      return clt_real((double)((long double)a / (long double)b));
    case CLT_OP_FLOOR_DIVIDE:
      overflow = a == INT64_MIN && b == -1;
      if (!overflow) result = a / b - (a % b != 0 && (a < 0) != (b < 0));
      break;
    case CLT_OP_REMAINDER: result = floor_remainder(a, b); break;
    case CLT_OP_POWER:
      if (b < 0) return a == 0 ? failed(CLT_FAILED_DIVISION) : clt_real(pow((double)a, (double)b));
      if (a == 0 || a == 1) b = b > 0;
      if (a == -1) b &= 1;
      for (result = 1; b > 0 && !overflow; b >>= 1) {
        overflow = (b & 1) && __builtin_mul_overflow(result, a, &result);
        if (b > 1) overflow |= __builtin_mul_overflow(a, a, &a);
      }
      break;
    case CLT_OP_GCD:
      while (b != 0) {
        int64_t rest = floor_remainder(a, b);
        a = b;
        b = rest;
      }
      return apply_unary(CLT_OP_ABS, clt_integer(a));
    case CLT_OP_SHIFT_LEFT:
      overflow = a != 0 && (b >= 63 || __builtin_mul_overflow(a, (int64_t)1 << b, &result));
      break;
    default: /* >> */
      if (b > 63) b = 63;
      result = a < 0 ? ~(~a >> b) : a >> b;
  }
  return overflow ? failed(CLT_FAILED_OVERFLOW) : clt_integer(result);
}

static clt_value real_arithmetic(clt_op op, double a, double b) {
  double result, rest;
  bool divides = op == CLT_OP_DIVIDE || op == CLT_OP_FLOOR_DIVIDE || op == CLT_OP_REMAINDER;
  if (divides && b == 0) return failed(CLT_FAILED_DIVISION);
  switch (op) {
    case CLT_OP_ADD: return clt_real(a + b);
    case CLT_OP_SUBTRACT: return clt_real(a - b);
    case CLT_OP_MULTIPLY: return clt_real(a * b);
    case CLT_OP_DIVIDE: return clt_real(a / b);
    case CLT_OP_FLOOR_DIVIDE:
      rest = fmod(a, b);
      result = (a - rest) / b;
      if (rest != 0 && (rest < 0) != (b < 0)) result -= 1;
      if (result == 0) return clt_real(copysign(0, a / b));
      /* corrects a division that was rounded to below an integer */
      return clt_real(floor(result) + (result - floor(result) > 0.5));
    case CLT_OP_REMAINDER: /* the result has the sign of b */
      result = fmod(a, b);
      if (result == 0) return clt_real(copysign(0, b));
      return clt_real((result < 0) != (b < 0) ? result + b : result);
    case CLT_OP_POWER:
      if (a == 0 && b < 0) return failed(CLT_FAILED_DIVISION);
      if (a < 0 && isfinite(a) && isfinite(b) && b != floor(b)) return failed(CLT_FAILED_DOMAIN);
      result = pow(a, b);
      return isinf(result) && isfinite(a) && isfinite(b) ? failed(CLT_FAILED_OVERFLOW) : clt_real(result);
    default: return failed(CLT_FAILED_TYPES); /* shifts, gcd */
  }
}

/* --- two operands: comparison --- */

/* -1, 0 or 1, exact also for integers that doubles cannot represent; 2 if b is NaN. */
static int compare_integer_real(int64_t a, double b) {
  if (isnan(b)) return 2;
  if (is_exact(a)) return ((double)a > b) - ((double)a < b);
  if (b >= 0x1p63) return -1;
  if (b < -0x1p63) return 1;
  int64_t integer = (int64_t)b; /* rounded towards zero; if equal, the fraction decides */
  if (a != integer) return a > integer ? 1 : -1;
  double rest = b - (double)integer;
  return (rest < 0) - (rest > 0);
}

/* -1, 0 or 1; 2 if either is NaN. */
static int compare_numbers(clt_value a, clt_value b) {
  if (is_integer(a) && is_integer(b)) return (a.integer > b.integer) - (a.integer < b.integer);
  if (is_integer(a)) return compare_integer_real(a.integer, b.real);
  if (is_integer(b)) {
    int turned = compare_integer_real(b.integer, a.real);
    return turned == 2 ? 2 : -turned;
  }
  if (isnan(a.real) || isnan(b.real)) return 2;
  return (a.real > b.real) - (a.real < b.real);
}

static bool are_equal(clt_value a, clt_value b) {
  if (a.type == CLT_STRING || b.type == CLT_STRING) return clt_value_equal(a, b);
  return compare_numbers(a, b) == 0;
}

static clt_value apply_comparison(clt_op op, clt_value a, clt_value b) {
  if (op == CLT_OP_EQUAL || op == CLT_OP_NOT_EQUAL) return clt_boolean(are_equal(a, b) == (op == CLT_OP_EQUAL));
  bool texts = a.type == CLT_STRING;
  if (texts != (b.type == CLT_STRING)) return failed(CLT_FAILED_TYPES);
  int order = texts ? strcmp(a.text, b.text) : compare_numbers(a, b);
  if (!texts && order == 2) return op == CLT_OP_MINIMUM || op == CLT_OP_MAXIMUM ? a : clt_boolean(false);
  switch (op) {
    case CLT_OP_LESS: return clt_boolean(order < 0);
    case CLT_OP_LESS_EQUAL: return clt_boolean(order <= 0);
    case CLT_OP_GREATER: return clt_boolean(order > 0);
    case CLT_OP_GREATER_EQUAL: return clt_boolean(order >= 0);
    case CLT_OP_MINIMUM: return order <= 0 ? a : b;
    default: return order >= 0 ? a : b;
  }
}

/* The more serious of two failures, so that the order of operands does not matter. */
static clt_value graver_failure(clt_value a, clt_value b) {
  if (a.type != CLT_FAILED) return b;
  return clt_failed_fatally(b) && !clt_failed_fatally(a) ? b : a;
}

static clt_value apply_binary(clt_op op, clt_value a, clt_value b) {
  if (a.type == CLT_FAILED || b.type == CLT_FAILED) return graver_failure(a, b);
  if (op >= CLT_OP_EQUAL && op <= CLT_OP_MAXIMUM) return apply_comparison(op, a, b);
  bool texts = a.type == CLT_STRING && b.type == CLT_STRING, integers = is_integer(a) && is_integer(b);
  if (op == CLT_OP_INSIDE && texts) return clt_boolean(strstr(b.text, a.text) != NULL);
  if (op == CLT_OP_INSIDE || a.type == CLT_STRING || b.type == CLT_STRING) return failed(CLT_FAILED_TYPES);
  if (op == CLT_OP_BIT_AND || op == CLT_OP_BIT_OR || op == CLT_OP_BIT_XOR) {
    if (!integers) return failed(CLT_FAILED_TYPES);
    clt_value out = {.type = a.type == CLT_BOOL && b.type == CLT_BOOL ? CLT_BOOL : CLT_INT};
    if (op == CLT_OP_BIT_AND) out.integer = a.integer & b.integer;
    if (op == CLT_OP_BIT_OR) out.integer = a.integer | b.integer;
    if (op == CLT_OP_BIT_XOR) out.integer = a.integer ^ b.integer;
    return out;
  }
  return integers ? integer_arithmetic(op, a.integer, b.integer)
                  : real_arithmetic(op, clt_value_number(a), clt_value_number(b));
}

/* --- more operands --- */

static clt_value apply_in_range(const clt_value *const *v) {
  clt_value bad = graver_failure(graver_failure(*v[0], *v[1]), graver_failure(*v[2], *v[3]));
  if (bad.type == CLT_FAILED) return bad;
  if (!is_integer(*v[1]) || !is_integer(*v[2]) || !is_integer(*v[3])) return failed(CLT_FAILED_TYPES);
  int64_t start = v[1]->integer, stop = v[2]->integer, step = v[3]->integer, x, distance;
  if (step == 0) return failed(CLT_FAILED_DOMAIN);
  if (v[0]->type == CLT_STRING) return clt_boolean(false);
  if (is_integer(*v[0]))
    x = v[0]->integer;
  else if (!clt_real_to_integer(v[0]->real, &x))
    return clt_boolean(false);
  if (!are_equal(clt_integer(x), *v[0])) return clt_boolean(false);
  if (step > 0 ? x < start || x >= stop : x > start || x <= stop) return clt_boolean(false);
  if (__builtin_sub_overflow(x, start, &distance)) return failed(CLT_FAILED_OVERFLOW);
  return clt_boolean(floor_remainder(distance, step) == 0);
}

clt_value clt_op_apply(clt_op op, const clt_value *const *operands) {
  clt_value first = *operands[0], out;
  if (table[op].arity == 1) return apply_unary(op, first);
  if (op == CLT_OP_IN_RANGE) return apply_in_range(operands);
  if (op == CLT_OP_CHOOSE) {
    if (first.type == CLT_FAILED) return first;
    return clt_value_truthy(first) ? *operands[1] : *operands[2];
  }
  clt_value second = *operands[1];
  if (first.type == CLT_INT && second.type == CLT_INT && clt_op_quick(op, first.integer, second.integer, &out))
    return out;
  if (op == CLT_OP_AND || op == CLT_OP_OR) {
    if (first.type == CLT_FAILED) return first;
    return clt_value_truthy(first) == (op == CLT_OP_AND) ? second : first;
  }
  return apply_binary(op, first, second);
}
