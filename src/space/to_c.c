/* Expressions as C, for programs without this library: the values are those of ops.c. What would be an error there, or
 * has no result, sets `failed`; and, or and the choice look only at the side that matters, as C's operators do. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/memory.h"
#include "base/text.h"
#include "space/parts.h"

#define MAX_DEPTH 100      /* of brackets; compilers give up at 256 */
#define MAX_C_BYTES 100000 /* a part that stands in several places is written as often */
#define EXACT 9007199254740992LL

/* --- the functions that texts call: each needs only those before it. '@' stands for what their names begin with --- */

#define FAIL "return *failed = 1, 0"
#define WHOLE_OF_TWO(name) "static inline long long @" name "(long long a, long long b, int *failed) {\n"
#define REAL_OF_TWO(name) "static inline double @" name "(double a, double b, int *failed) {\n"
#define REAL_OF_ONE(name, domain)                                 \
  {                                                               \
    name, true,                                                   \
        "static inline double @" name                             \
        "(double x, int *failed) {\n"                             \
        "  if (" domain ") " FAIL ";\n  return " name "(x);\n}\n" \
  }

static const struct c_function {
  const char *name;
  bool math; /* needs <math.h> */
  const char *text;
} c_functions[] = {
    {"add", false,
     WHOLE_OF_TWO("add") "  if (b > 0 ? a > 9223372036854775807 - b : a < -9223372036854775807 - 1 - b) " FAIL ";\n"
                         "  return a + b;\n}\n"},
    {"subtract", false,
     WHOLE_OF_TWO("subtract") "  if (b < 0 ? a > 9223372036854775807 + b : a < -9223372036854775807 - 1 + b) " FAIL
                              ";\n  return a - b;\n}\n"},
    {"multiply", false,
     WHOLE_OF_TWO("multiply") "  const long long most = 9223372036854775807, least = -most - 1;\n"
                              "  if (a > 0 ? (b > 0 ? a > most / b : b < least / a)\n"
                              "            : (b > 0 ? a < least / b : a != 0 && b < most / a))\n    " FAIL
                              ";\n  return a * b;\n}\n"},
    {"floor_divide", false,
     WHOLE_OF_TWO("floor_divide") "  if (b == 0 || (b == -1 && a < -9223372036854775807)) " FAIL ";\n"
                                  "  return a / b - (a % b != 0 && (a < 0) != (b < 0));\n}\n"},
    {"remainder", false,
     "/* It has the sign of b. */\n" WHOLE_OF_TWO(
         "remainder") "  if (b == 0) " FAIL ";\n"
                      "  const long long rest = b == -1 ? 0 : a % b;\n"
                      "  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;\n}\n"},
    {"power", false,
     WHOLE_OF_TWO("power") "  long long result = 1;\n  if (b < 0) " FAIL ";\n"
                           "  if (a == 0 || a == 1) b = b > 0;\n  if (a == -1) b = b % 2;\n"
                           "  for (; b > 0 && !*failed; b--) result = @multiply(result, a, failed);\n"
                           "  return result;\n}\n"},
    {"shift_left", false,
     WHOLE_OF_TWO("shift_left") "  if (b < 0 || (a != 0 && b >= 63)) " FAIL ";\n"
                                "  return a == 0 ? 0 : @multiply(a, 1LL << b, failed);\n}\n"},
    {"shift_right", false,
     WHOLE_OF_TWO("shift_right") "  if (b < 0) " FAIL ";\n  if (b > 63) b = 63;\n"
                                 "  return a < 0 ? -1 - ((-1 - a) >> b) : a >> b;\n}\n"},
    {"abs", false,
     "static inline long long @abs(long long a, int *failed) {\n"
     "  if (a < -9223372036854775807) " FAIL ";\n  return a < 0 ? -a : a;\n}\n"},
    {"gcd", false,
     WHOLE_OF_TWO("gcd") "  while (b != 0) {\n    const long long rest = b == -1 ? 0 : a % b;\n    a = b;\n"
                         "    b = rest;\n  }\n  return @abs(a, failed);\n}\n"},
    {"min", false, "static inline long long @min(long long a, long long b) { return b < a ? b : a; }\n"},
    {"max", false, "static inline long long @max(long long a, long long b) { return b > a ? b : a; }\n"},
    {"in_range", false,
     "static inline int @in_range(long long x, long long start, long long stop, long long step, int *failed) {\n"
     "  if (step == 0) " FAIL ";\n  if (step > 0 ? x < start || x >= stop : x > start || x <= stop) return 0;\n"
     "  return @remainder(@subtract(x, start, failed), step, failed) == 0;\n}\n"},
    {"real", false,
     "/* Whole numbers that no double holds are refused. */\n"
     "static inline double @real(long long a, int *failed) {\n"
     "  if (a > 9007199254740992 || a < -9007199254740992) *failed = 1;\n  return (double)a;\n}\n"},
    {"truncate", false,
     "static inline long long @truncate(double x, int *failed) {\n"
     "  if (!(x >= -9223372036854775808.0 && x < 9223372036854775808.0)) " FAIL ";\n  return (long long)x;\n}\n"},
    {"floor", false,
     "static inline long long @floor(double x, int *failed) {\n"
     "  const long long whole = @truncate(x, failed);\n  return whole - ((double)whole > x);\n}\n"},
    {"ceil", false,
     "static inline long long @ceil(double x, int *failed) {\n"
     "  const long long whole = @truncate(x, failed);\n  return whole + ((double)whole < x);\n}\n"},
    {"round", false,
     "/* Halves to even. */\nstatic inline long long @round(double x, int *failed) {\n"
     "  const long long whole = @floor(x, failed);\n  const double rest = x - (double)whole;\n"
     "  return whole + (rest > 0.5 || (rest == 0.5 && whole % 2 != 0));\n}\n"},
    {"in_range_real", false,
     "static inline int @in_range_real(double x, long long start, long long stop, long long step, int *failed) {\n"
     "  const long long whole = x >= -9223372036854775808.0 && x < 9223372036854775808.0 ? (long long)x : 0;\n"
     "  return @in_range(whole, start, stop, step, failed) && (double)whole == x;\n}\n"},
    {"divide", false, REAL_OF_TWO("divide") "  if (b == 0) " FAIL ";\n  return a / b;\n}\n"},
    {"min_real", false, "static inline double @min_real(double a, double b) { return b < a ? b : a; }\n"},
    {"max_real", false, "static inline double @max_real(double a, double b) { return b > a ? b : a; }\n"},
    {"abs_real", false, "static inline double @abs_real(double x) { return x < 0 ? -x : x; }\n"},
    {"floor_divide_real", true,
     REAL_OF_TWO("floor_divide_real") "  if (b == 0) " FAIL ";\n  const double rest = fmod(a, b);\n"
                                      "  double result = (a - rest) / b;\n"
                                      "  if (rest != 0 && (rest < 0) != (b < 0)) result -= 1;\n"
                                      "  return floor(result) + (result - floor(result) > 0.5);\n}\n"},
    {"remainder_real", true,
     REAL_OF_TWO("remainder_real") "  if (b == 0) " FAIL ";\n  const double rest = fmod(a, b);\n"
                                   "  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;\n}\n"},
    {"power_real", true,
     REAL_OF_TWO("power_real") "  const int finite = a - a == 0 && b - b == 0;\n"
                               "  if ((a == 0 && b < 0) || (a < 0 && finite && floor(b) != b)) " FAIL ";\n"
                               "  const double result = pow(a, b);\n"
                               "  if (finite && result - result != 0) " FAIL ";\n  return result;\n}\n"},
    REAL_OF_ONE("sqrt", "x < 0"),
    REAL_OF_ONE("log", "x <= 0"),
    REAL_OF_ONE("log2", "x <= 0"),
    REAL_OF_ONE("log10", "x <= 0"),
    REAL_OF_ONE("exp", "x - x == 0 && exp(x) - exp(x) != 0"),
};
#define N_C_FUNCTIONS (sizeof c_functions / sizeof *c_functions)

bool clt_write_c_functions(clt_text *out, const char *const *texts, size_t n) {
  bool needed[N_C_FUNCTIONS] = {false}, math = false;
  for (size_t f = N_C_FUNCTIONS; f-- > 0;) {
    char call[40];
    clt_snprintf(call, sizeof call, "@%s(", c_functions[f].name);
    for (size_t i = 0; i < n && !needed[f]; i++) needed[f] = texts[i] && strstr(texts[i], call);
    for (size_t i = f + 1; i < N_C_FUNCTIONS && !needed[f]; i++)
      needed[f] = needed[i] && strstr(c_functions[i].text, call);
    math |= needed[f] && c_functions[f].math;
  }
  for (size_t f = 0; f < N_C_FUNCTIONS; f++)
    if (needed[f]) clt_text_printf(out, "%s\n", c_functions[f].text);
  return math;
}

/* --- which type a part has: C needs it to be the same for all sizes --- */

typedef enum c_type { C_NONE, C_WHOLE, C_REAL } c_type;

typedef struct c_writer {
  const clt_expr *expr;
  const char *const *names; /* of slots */
  c_type *types;            /* of nodes */
  clt_text *out;
  unsigned depth;
  const char *why; /* C cannot say it; NULL: so far it can */
} c_writer;

static c_type find_type(const c_writer *w, const clt_expr_node *node) {
  const unsigned arity = clt_op_arity((clt_op)node->op);
  c_type of[4] = {C_NONE};
  for (unsigned k = 0; k < arity; k++)
    if ((of[k] = w->types[node->operands[k]]) == C_NONE) return C_NONE;
  const c_type both = of[0] == C_WHOLE && of[1] == C_WHOLE ? C_WHOLE : C_REAL;
  switch ((clt_op)node->op) {
    case CLT_OP_CONSTANT:
      if (node->value.type == CLT_REAL) return isfinite(node->value.real) ? C_REAL : C_NONE;
      return node->value.type == CLT_STRING ? C_NONE : C_WHOLE;
    case CLT_OP_NEGATE:
    case CLT_OP_PLUS:
    case CLT_OP_ABS: return of[0];
    case CLT_OP_INVERT: return of[0] == C_WHOLE ? C_WHOLE : C_NONE;
    case CLT_OP_FLOAT:
    case CLT_OP_SQRT:
    case CLT_OP_LOG:
    case CLT_OP_LOG2:
    case CLT_OP_LOG10:
    case CLT_OP_EXP:
    case CLT_OP_DIVIDE: return C_REAL;
    case CLT_OP_POWER: {
      const clt_expr_node *power = &w->expr->nodes[node->operands[1]];
      return power->op == CLT_OP_CONSTANT && clt_value_number(power->value) < 0 ? C_REAL : both;
    }
    case CLT_OP_ADD:
    case CLT_OP_SUBTRACT:
    case CLT_OP_MULTIPLY:
    case CLT_OP_FLOOR_DIVIDE:
    case CLT_OP_REMAINDER:
    case CLT_OP_MINIMUM:
    case CLT_OP_MAXIMUM:
    case CLT_OP_AND:
    case CLT_OP_OR: return both;
    case CLT_OP_CHOOSE: return of[1] == of[2] ? of[1] : C_REAL;
    case CLT_OP_SHIFT_LEFT:
    case CLT_OP_SHIFT_RIGHT:
    case CLT_OP_BIT_AND:
    case CLT_OP_BIT_OR:
    case CLT_OP_BIT_XOR:
    case CLT_OP_GCD: return both == C_WHOLE ? C_WHOLE : C_NONE;
    case CLT_OP_IN_RANGE: return of[1] == C_WHOLE && of[2] == C_WHOLE && of[3] == C_WHOLE ? C_WHOLE : C_NONE;
    case CLT_OP_LENGTH: /* of texts */
    case CLT_OP_INSIDE: return C_NONE;
    default: return C_WHOLE; /* comparisons, truths, whole numbers of reals, sizes */
  }
}

/* --- writing: each part stands in brackets of its own, or needs none --- */

static void write_truth(c_writer *w, clt_operand n);
static void write_number(c_writer *w, clt_operand n, c_type type);

/* A function's call with as many operands of a type; may_fail: it is told where to say so. */
static void write_call(c_writer *w, const char *name, const clt_expr_node *node, unsigned n, c_type type,
                       bool may_fail) {
  clt_text_printf(w->out, "@%s(", name);
  for (unsigned k = 0; k < n; k++) {
    if (k) clt_text_add(w->out, ", ");
    write_number(w, node->operands[k], type);
  }
  clt_text_add(w->out, may_fail ? ", &failed)" : ")");
}

static void write_infix(c_writer *w, const clt_expr_node *node, const char *sign, c_type type) {
  clt_text_add(w->out, "(");
  write_number(w, node->operands[0], type);
  clt_text_printf(w->out, " %s ", sign);
  write_number(w, node->operands[1], type);
  clt_text_add(w->out, ")");
}

static void write_choice(c_writer *w, clt_operand when, clt_operand then, clt_operand otherwise, c_type type) {
  clt_text_add(w->out, "(");
  write_truth(w, when);
  clt_text_add(w->out, " ? ");
  write_number(w, then, type);
  clt_text_add(w->out, " : ");
  write_number(w, otherwise, type);
  clt_text_add(w->out, ")");
}

static bool enter_part(c_writer *w) {
  if (++w->depth > MAX_DEPTH || w->out->n > MAX_C_BYTES) w->why = "it is too long";
  return w->why == NULL;
}

/* Both sides of the same operator, as in a list of alternatives, stand in the same brackets. */
static void write_chain(c_writer *w, const clt_expr_node *node) {
  const clt_expr_node *left = &w->expr->nodes[node->operands[0]];
  if (left->op == node->op && w->out->n <= MAX_C_BYTES)
    write_chain(w, left);
  else
    write_truth(w, node->operands[0]);
  clt_text_add(w->out, node->op == CLT_OP_AND ? " && " : " || ");
  write_truth(w, node->operands[1]);
}

static bool is_truth(clt_op op) {
  return op == CLT_OP_NOT || op == CLT_OP_BOOL || op == CLT_OP_IN_RANGE ||
         (op >= CLT_OP_EQUAL && op <= CLT_OP_GREATER_EQUAL);
}

static void write_truth(c_writer *w, clt_operand n) {
  const clt_expr_node *node = &w->expr->nodes[n];
  const clt_op op = (clt_op)node->op;
  if (!enter_part(w)) return;
  if (op == CLT_OP_CONSTANT) {
    clt_text_add(w->out, clt_value_truthy(node->value) ? "1" : "0");
  } else if (op == CLT_OP_NOT) {
    clt_text_add(w->out, "!");
    write_truth(w, node->operands[0]);
  } else if (op == CLT_OP_BOOL) {
    write_truth(w, node->operands[0]);
  } else if (op == CLT_OP_AND || op == CLT_OP_OR) {
    clt_text_add(w->out, "(");
    write_chain(w, node);
    clt_text_add(w->out, ")");
  } else if (op == CLT_OP_IN_RANGE) {
    const bool whole = w->types[node->operands[0]] == C_WHOLE;
    clt_text_add(w->out, whole ? "@in_range(" : "@in_range_real(");
    for (unsigned k = 0; k < 4; k++) {
      write_number(w, node->operands[k], k == 0 && !whole ? C_REAL : C_WHOLE);
      clt_text_add(w->out, k < 3 ? ", " : ", &failed)");
    }
  } else if (is_truth(op)) {
    const bool whole = w->types[node->operands[0]] == C_WHOLE && w->types[node->operands[1]] == C_WHOLE;
    write_infix(w, node, clt_op_text(op), whole ? C_WHOLE : C_REAL);
  } else {
    clt_text_add(w->out, "(");
    write_number(w, n, w->types[n]);
    clt_text_add(w->out, " != 0)");
  }
  w->depth--;
}

static void write_constant(c_writer *w, clt_value value, c_type type) {
  char text[64];
  if (type == C_REAL) {
    if (value.type != CLT_REAL && (value.integer > EXACT || value.integer < -EXACT))
      w->why = "a whole number is beyond 2^53";
    value = (clt_value){.type = CLT_REAL, .real = clt_value_number(value)};
  } else if (value.integer == INT64_MIN) {
    clt_text_add(w->out, "(-9223372036854775807 - 1)");
    return;
  }
  clt_value_print(text, sizeof text, value);
  clt_text_printf(w->out, text[0] == '-' ? "(%s)" : "%s", text);
}

/* Of the whole numbers. */
static void write_whole(c_writer *w, const clt_expr_node *node) {
  const clt_op op = (clt_op)node->op;
  const c_type first = clt_op_arity(op) ? w->types[node->operands[0]] : C_NONE;
  switch (op) {
    case CLT_OP_SLOT: clt_text_add(w->out, w->names[node->operands[0]]); break;
    case CLT_OP_NEGATE:
      clt_text_add(w->out, "@subtract(0, ");
      write_number(w, node->operands[0], C_WHOLE);
      clt_text_add(w->out, ", &failed)");
      break;
    case CLT_OP_INVERT:
      clt_text_add(w->out, "(-1 - ");
      write_number(w, node->operands[0], C_WHOLE);
      clt_text_add(w->out, ")");
      break;
    case CLT_OP_PLUS: write_number(w, node->operands[0], C_WHOLE); break;
    case CLT_OP_INT:
    case CLT_OP_ROUND:
    case CLT_OP_FLOOR:
    case CLT_OP_CEIL:
      if (first == C_WHOLE)
        write_number(w, node->operands[0], C_WHOLE);
      else
        write_call(w,
                   op == CLT_OP_INT     ? "truncate"
                   : op == CLT_OP_ROUND ? "round"
                   : op == CLT_OP_FLOOR ? "floor"
                                        : "ceil",
                   node, 1, C_REAL, true);
      break;
    case CLT_OP_ABS: write_call(w, "abs", node, 1, C_WHOLE, true); break;
    case CLT_OP_ADD: write_call(w, "add", node, 2, C_WHOLE, true); break;
    case CLT_OP_SUBTRACT: write_call(w, "subtract", node, 2, C_WHOLE, true); break;
    case CLT_OP_MULTIPLY: write_call(w, "multiply", node, 2, C_WHOLE, true); break;
    case CLT_OP_FLOOR_DIVIDE: write_call(w, "floor_divide", node, 2, C_WHOLE, true); break;
    case CLT_OP_REMAINDER: write_call(w, "remainder", node, 2, C_WHOLE, true); break;
    case CLT_OP_POWER: write_call(w, "power", node, 2, C_WHOLE, true); break;
    case CLT_OP_SHIFT_LEFT: write_call(w, "shift_left", node, 2, C_WHOLE, true); break;
    case CLT_OP_SHIFT_RIGHT: write_call(w, "shift_right", node, 2, C_WHOLE, true); break;
    case CLT_OP_GCD: write_call(w, "gcd", node, 2, C_WHOLE, true); break;
    case CLT_OP_MINIMUM: write_call(w, "min", node, 2, C_WHOLE, false); break;
    case CLT_OP_MAXIMUM: write_call(w, "max", node, 2, C_WHOLE, false); break;
    default: write_infix(w, node, clt_op_text(op), C_WHOLE); /* & | ^ */
  }
}

static void write_real(c_writer *w, const clt_expr_node *node) {
  switch ((clt_op)node->op) {
    case CLT_OP_NEGATE:
      clt_text_add(w->out, "(-");
      write_number(w, node->operands[0], C_REAL);
      clt_text_add(w->out, ")");
      break;
    case CLT_OP_ABS: write_call(w, "abs_real", node, 1, C_REAL, false); break;
    case CLT_OP_SQRT: write_call(w, "sqrt", node, 1, C_REAL, true); break;
    case CLT_OP_LOG: write_call(w, "log", node, 1, C_REAL, true); break;
    case CLT_OP_LOG2: write_call(w, "log2", node, 1, C_REAL, true); break;
    case CLT_OP_LOG10: write_call(w, "log10", node, 1, C_REAL, true); break;
    case CLT_OP_EXP: write_call(w, "exp", node, 1, C_REAL, true); break;
    case CLT_OP_ADD:
    case CLT_OP_SUBTRACT:
    case CLT_OP_MULTIPLY: write_infix(w, node, clt_op_text((clt_op)node->op), C_REAL); break;
    case CLT_OP_DIVIDE: write_call(w, "divide", node, 2, C_REAL, true); break;
    case CLT_OP_FLOOR_DIVIDE: write_call(w, "floor_divide_real", node, 2, C_REAL, true); break;
    case CLT_OP_REMAINDER: write_call(w, "remainder_real", node, 2, C_REAL, true); break;
    case CLT_OP_POWER: write_call(w, "power_real", node, 2, C_REAL, true); break;
    case CLT_OP_MINIMUM: write_call(w, "min_real", node, 2, C_REAL, false); break;
    case CLT_OP_MAXIMUM: write_call(w, "max_real", node, 2, C_REAL, false); break;
    default: write_number(w, node->operands[0], C_REAL); /* +x, float(x) */
  }
}

static void write_number(c_writer *w, clt_operand n, c_type type) {
  const clt_expr_node *node = &w->expr->nodes[n];
  const clt_op op = (clt_op)node->op;
  if (!enter_part(w)) return;
  if (op == CLT_OP_CONSTANT) {
    write_constant(w, node->value, type);
  } else if (op == CLT_OP_CHOOSE) {
    write_choice(w, node->operands[0], node->operands[1], node->operands[2], type);
  } else if (op == CLT_OP_AND) { /* the side that decides, as in Python */
    write_choice(w, node->operands[0], node->operands[1], node->operands[0], type);
  } else if (op == CLT_OP_OR) {
    write_choice(w, node->operands[0], node->operands[0], node->operands[1], type);
  } else if (is_truth(op)) {
    clt_text_add(w->out, "(");
    write_truth(w, n);
    clt_text_add(w->out, type == C_REAL ? " ? 1.0 : 0.0)" : " ? 1 : 0)");
  } else if (w->types[n] == C_REAL) {
    write_real(w, node);
  } else if (type == C_REAL) {
    clt_text_add(w->out, "@real(");
    write_whole(w, node);
    clt_text_add(w->out, ", &failed)");
  } else {
    write_whole(w, node);
  }
  w->depth--;
}

int clt_expr_write_c(clt_text *out, const clt_expr *expr, const char *const *names, bool truth, clt_error *error) {
  c_writer w = {.expr = expr, .names = names, .out = out};
  const clt_operand root = (clt_operand)(expr->n_nodes - 1);
  w.types = clt_new_array(expr->n_nodes, sizeof *w.types);
  if (w.types == NULL) return clt_fail_memory(error);
  for (size_t i = 0; i < expr->n_nodes; i++) w.types[i] = find_type(&w, &expr->nodes[i]);
  if (w.types[root] == C_NONE)
    w.why = "it has a text in it, or other types than C can tell";
  else if (expr->n_nodes > MAX_C_BYTES / 10)
    w.why = "it is too long";
  else if (truth)
    write_truth(&w, root);
  else
    write_number(&w, root, C_REAL);
  free(w.types);
  return w.why ? clt_fail(error, CLT_E_UNSUPPORTED, "'%.200s': %s", expr->text, w.why) : CLT_OK;
}

int clt_space_builder_write_c(clt_text *out, const clt_space_builder *builder, const char *const *names,
                              clt_error *error) {
  int rc = CLT_OK;
  for (size_t i = 0; rc == CLT_OK && i < builder->n_constraints; i++) {
    const clt_expr *expr = builder->constraints[i].expr;
    clt_value value;
    if (expr->n_slots == 0 && clt_expr_eval(expr, NULL, &value, NULL) == CLT_OK && clt_value_truthy(value)) continue;
    clt_text part = {0};
    rc = clt_expr_write_c(&part, expr, names, true, error);
    clt_text_printf(out, "%s%s", out->n ? " &&\n             " : "", part.n ? part.bytes : "0");
    if (part.rc && out->rc == 0) out->rc = part.rc;
    clt_text_release(&part);
  }
  return rc;
}
