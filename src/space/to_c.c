/* Expressions as C code, for programs without this library, with the values of ops.c. Errors and missing results set
 * `failed`. and, or and the choice evaluate only the selected side, as C's operators do. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/memory.h"
#include "base/text.h"
#include "space/parts.h"

#define MAX_DEPTH 100      /* nested brackets; some compilers allow only 256 */
#define MAX_C_BYTES 100000 /* a shared subexpression is written at each place of its use */
#define EXACT 9007199254740992LL

/* --- the functions that the code calls: each uses only earlier ones. '@' is replaced by the prefix of their names ---
 */

#define FAIL "return *failed = 1, 0"
#define WHOLE_OF_TWO(name) "static inline long long @" name "(long long a, long long b, int *failed) {\n"
#define REAL_OF_TWO(name) "static inline double @" name "(double a, double b, int *failed) {\n"
#define REAL_OF_ONE(name, domain) \
  "static inline double @" name   \
  "(double x, int *failed) {\n"   \
  "  if (" domain ") " FAIL ";\n  return " name "(x);\n}\n"

#define N_WITH_MATH 8 /* the last functions, which need <math.h> */
static const char *const c_functions[] = {
    WHOLE_OF_TWO("add") "  if (b > 0 ? a > 9223372036854775807 - b : a < -9223372036854775807 - 1 - b) " FAIL ";\n"
                         "  return a + b;\n}\n",
    WHOLE_OF_TWO("subtract") "  if (b < 0 ? a > 9223372036854775807 + b : a < -9223372036854775807 - 1 + b) " FAIL
                              ";\n  return a - b;\n}\n",
    WHOLE_OF_TWO("multiply") "  const long long most = 9223372036854775807, least = -most - 1;\n"
                              "  if (a > 0 ? (b > 0 ? a > most / b : b < least / a)\n"
                              "            : (b > 0 ? a < least / b : a != 0 && b < most / a))\n    " FAIL
                              ";\n  return a * b;\n}\n",
    WHOLE_OF_TWO("floor_divide") "  if (b == 0 || (b == -1 && a < -9223372036854775807)) " FAIL ";\n"
                                  "  return a / b - (a % b != 0 && (a < 0) != (b < 0));\n}\n",
    "/* It has the sign of b. */\n" WHOLE_OF_TWO(
         "remainder") "  if (b == 0) " FAIL ";\n"
                      "  const long long rest = b == -1 ? 0 : a % b;\n"
                      "  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;\n}\n",
    WHOLE_OF_TWO("power") "  long long result = 1;\n  if (b < 0) " FAIL ";\n"
                           "  if (a == 0 || a == 1) b = b > 0;\n  if (a == -1) b = b % 2;\n"
                           "  for (; b > 0 && !*failed; b--) result = @multiply(result, a, failed);\n"
                           "  return result;\n}\n",
    WHOLE_OF_TWO("shift_left") "  if (b < 0 || (a != 0 && b >= 63)) " FAIL ";\n"
                                "  return a == 0 ? 0 : @multiply(a, 1LL << b, failed);\n}\n",
    WHOLE_OF_TWO("shift_right") "  if (b < 0) " FAIL ";\n  if (b > 63) b = 63;\n"
                                 "  return a < 0 ? -1 - ((-1 - a) >> b) : a >> b;\n}\n",
    "static inline long long @abs(long long a, int *failed) {\n"
     "  if (a < -9223372036854775807) " FAIL ";\n  return a < 0 ? -a : a;\n}\n",
    WHOLE_OF_TWO("gcd") "  while (b != 0) {\n    const long long rest = b == -1 ? 0 : a % b;\n    a = b;\n"
                         "    b = rest;\n  }\n  return @abs(a, failed);\n}\n",
    "static inline long long @min(long long a, long long b) { return b < a ? b : a; }\n",
    "static inline long long @max(long long a, long long b) { return b > a ? b : a; }\n",
    "static inline int @in_range(long long x, long long start, long long stop, long long step, int *failed) {\n"
     "  if (step == 0) " FAIL ";\n  if (step > 0 ? x < start || x >= stop : x > start || x <= stop) return 0;\n"
     "  return @remainder(@subtract(x, start, failed), step, failed) == 0;\n}\n",
    "/* Whole numbers that no double holds are refused. */\n"
     "static inline double @real(long long a, int *failed) {\n"
     "  if (a > 9007199254740992 || a < -9007199254740992) *failed = 1;\n  return (double)a;\n}\n",
    "static inline long long @truncate(double x, int *failed) {\n"
     "  if (!(x >= -9223372036854775808.0 && x < 9223372036854775808.0)) " FAIL ";\n  return (long long)x;\n}\n",
    "static inline long long @floor(double x, int *failed) {\n"
     "  const long long whole = @truncate(x, failed);\n  return whole - ((double)whole > x);\n}\n",
    "static inline long long @ceil(double x, int *failed) {\n"
     "  const long long whole = @truncate(x, failed);\n  return whole + ((double)whole < x);\n}\n",
    "/* Halves to even. */\nstatic inline long long @round(double x, int *failed) {\n"
     "  const long long whole = @floor(x, failed);\n  const double rest = x - (double)whole;\n"
     "  return whole + (rest > 0.5 || (rest == 0.5 && whole % 2 != 0));\n}\n",
    "static inline int @in_range_real(double x, long long start, long long stop, long long step, int *failed) {\n"
     "  const long long whole = x >= -9223372036854775808.0 && x < 9223372036854775808.0 ? (long long)x : 0;\n"
     "  return @in_range(whole, start, stop, step, failed) && (double)whole == x;\n}\n",
    REAL_OF_TWO("divide") "  if (b == 0) " FAIL ";\n  return a / b;\n}\n",
    "static inline double @min_real(double a, double b) { return b < a ? b : a; }\n",
    "static inline double @max_real(double a, double b) { return b > a ? b : a; }\n",
    "static inline double @abs_real(double x) { return x < 0 ? -x : x; }\n",
    REAL_OF_TWO("floor_divide_real") "  if (b == 0) " FAIL ";\n  const double rest = fmod(a, b);\n"
                                      "  double result = (a - rest) / b;\n"
                                      "  if (rest != 0 && (rest < 0) != (b < 0)) result -= 1;\n"
                                      "  return floor(result) + (result - floor(result) > 0.5);\n}\n",
    REAL_OF_TWO("remainder_real") "  if (b == 0) " FAIL ";\n  const double rest = fmod(a, b);\n"
                                   "  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;\n}\n",
    REAL_OF_TWO("power_real") "  const int finite = a - a == 0 && b - b == 0;\n"
                               "  if ((a == 0 && b < 0) || (a < 0 && finite && floor(b) != b)) " FAIL ";\n"
                               "  const double result = pow(a, b);\n"
                               "  if (finite && result - result != 0) " FAIL ";\n  return result;\n}\n",
    REAL_OF_ONE("sqrt", "x < 0"),
    REAL_OF_ONE("log", "x <= 0"),
    REAL_OF_ONE("log2", "x <= 0"),
    REAL_OF_ONE("log10", "x <= 0"),
    REAL_OF_ONE("exp", "x - x == 0 && exp(x) - exp(x) != 0"),
};
#define N_C_FUNCTIONS (sizeof c_functions / sizeof *c_functions)

bool clt_write_c_functions(clt_text *out, const char *texts) {
  bool needed[N_C_FUNCTIONS] = {false}, math = false;
  for (size_t f = N_C_FUNCTIONS; f-- > 0;) {
    char call[40];
    const char *name = strchr(c_functions[f], '@');
    clt_snprintf(call, sizeof call, "%.*s(", (int)strcspn(name, "("), name);
    needed[f] = strstr(texts, call) != NULL;
    for (size_t i = f + 1; i < N_C_FUNCTIONS && !needed[f]; i++) needed[f] = needed[i] && strstr(c_functions[i], call);
    math |= needed[f] && f >= N_C_FUNCTIONS - N_WITH_MATH;
  }
  for (size_t f = 0; f < N_C_FUNCTIONS; f++)
    if (needed[f]) clt_text_printf(out, "%s\n", c_functions[f]);
  return math;
}

/* --- the C code of each operation --- */

typedef enum c_type { C_NONE, C_WHOLE, C_REAL } c_type; /* types must not depend on the sizes */

/* type of the result: w whole, r real, t truth, a that of the first operand, b whole if both operands are whole, else
 * real, i whole if both are whole, else unsupported. An operation without an entry is unsupported. In a text, T0, W0
 * and R0 are the first operand as a truth, a whole number or a real; N0 is the first operand in the type of the result,
 * C0 in the common type of both operands. Each text has its own parentheses or needs none. real: the text if the result
 * (for w and t: the first operand) is real; NULL: the same text. */
static const struct c_form {
  char type;
  const char *whole, *real;
} c_forms[] = {
    [CLT_OP_NEGATE] = {'a', "@subtract(0, N0, &failed)", "(-N0)"},
    [CLT_OP_PLUS] = {'a', "N0", NULL},
    [CLT_OP_INVERT] = {'i', "(-1 - N0)", NULL},
    [CLT_OP_NOT] = {'t', "!T0", NULL},
    [CLT_OP_BOOL] = {'t', "T0", NULL},
    [CLT_OP_INT] = {'w', "W0", "@truncate(R0, &failed)"},
    [CLT_OP_FLOAT] = {'r', "N0", NULL},
    [CLT_OP_ABS] = {'a', "@abs(N0, &failed)", "@abs_real(N0)"},
    [CLT_OP_ROUND] = {'w', "W0", "@round(R0, &failed)"},
    [CLT_OP_FLOOR] = {'w', "W0", "@floor(R0, &failed)"},
    [CLT_OP_CEIL] = {'w', "W0", "@ceil(R0, &failed)"},
    [CLT_OP_SQRT] = {'r', "@sqrt(N0, &failed)", NULL},
    [CLT_OP_LOG] = {'r', "@log(N0, &failed)", NULL},
    [CLT_OP_LOG2] = {'r', "@log2(N0, &failed)", NULL},
    [CLT_OP_LOG10] = {'r', "@log10(N0, &failed)", NULL},
    [CLT_OP_EXP] = {'r', "@exp(N0, &failed)", NULL},
    [CLT_OP_ADD] = {'b', "@add(N0, N1, &failed)", "(N0 + N1)"},
    [CLT_OP_SUBTRACT] = {'b', "@subtract(N0, N1, &failed)", "(N0 - N1)"},
    [CLT_OP_MULTIPLY] = {'b', "@multiply(N0, N1, &failed)", "(N0 * N1)"},
    [CLT_OP_DIVIDE] = {'r', "@divide(N0, N1, &failed)", NULL},
    [CLT_OP_FLOOR_DIVIDE] = {'b', "@floor_divide(N0, N1, &failed)", "@floor_divide_real(N0, N1, &failed)"},
    [CLT_OP_REMAINDER] = {'b', "@remainder(N0, N1, &failed)", "@remainder_real(N0, N1, &failed)"},
    [CLT_OP_POWER] = {'b', "@power(N0, N1, &failed)", "@power_real(N0, N1, &failed)"},
    [CLT_OP_SHIFT_LEFT] = {'i', "@shift_left(N0, N1, &failed)", NULL},
    [CLT_OP_SHIFT_RIGHT] = {'i', "@shift_right(N0, N1, &failed)", NULL},
    [CLT_OP_BIT_AND] = {'i', "(N0 & N1)", NULL},
    [CLT_OP_BIT_OR] = {'i', "(N0 | N1)", NULL},
    [CLT_OP_BIT_XOR] = {'i', "(N0 ^ N1)", NULL},
    [CLT_OP_EQUAL] = {'t', "(C0 == C1)", NULL},
    [CLT_OP_NOT_EQUAL] = {'t', "(C0 != C1)", NULL},
    [CLT_OP_LESS] = {'t', "(C0 < C1)", NULL},
    [CLT_OP_LESS_EQUAL] = {'t', "(C0 <= C1)", NULL},
    [CLT_OP_GREATER] = {'t', "(C0 > C1)", NULL},
    [CLT_OP_GREATER_EQUAL] = {'t', "(C0 >= C1)", NULL},
    [CLT_OP_MINIMUM] = {'b', "@min(N0, N1)", "@min_real(N0, N1)"},
    [CLT_OP_MAXIMUM] = {'b', "@max(N0, N1)", "@max_real(N0, N1)"},
    [CLT_OP_GCD] = {'i', "@gcd(N0, N1, &failed)", NULL},
    [CLT_OP_AND] = {'b', "(T0 ? N1 : N0)", NULL}, /* the operand that decides, as in Python */
    [CLT_OP_OR] = {'b', "(T0 ? N0 : N1)", NULL},
    [CLT_OP_CHOOSE] = {'b', "(T0 ? N1 : N2)", NULL},
    [CLT_OP_IN_RANGE] = {'t', "@in_range(W0, W1, W2, W3, &failed)", "@in_range_real(R0, W1, W2, W3, &failed)"},
    [CLT_OP_SLOT] = {'w', NULL, NULL},
};

/* --- writing --- */

typedef struct c_writer {
  const clt_expr *expr;
  const char *const *names; /* names of the slots */
  c_type slots;             /* type of all slots */
  c_type *types;            /* types of the nodes */
  clt_text *out;
  size_t limit; /* maximum of out->n; needed because out does not grow if memory runs out */
  unsigned depth;
  const char *why; /* why the expression cannot be written as C; NULL: no problem so far */
} c_writer;

static c_type find_type(const c_writer *w, const clt_expr_node *node) {
  const clt_op op = (clt_op)node->op;
  c_type of[4] = {C_NONE};
  for (unsigned k = 0; k < clt_op_arity(op); k++)
    if ((of[k] = w->types[node->operands[k]]) == C_NONE) return C_NONE;
  if (op == CLT_OP_CONSTANT && node->value.type == CLT_REAL) return isfinite(node->value.real) ? C_REAL : C_NONE;
  if (op == CLT_OP_CONSTANT) return node->value.type == CLT_STRING ? C_NONE : C_WHOLE;
  if (op == CLT_OP_SLOT) return w->slots;
  if (op == CLT_OP_CHOOSE) return of[1] == of[2] ? of[1] : C_REAL;
  if (op == CLT_OP_IN_RANGE && (of[1] == C_REAL || of[2] == C_REAL || of[3] == C_REAL)) return C_NONE;
  if (op == CLT_OP_POWER) {
    const clt_expr_node *power = &w->expr->nodes[node->operands[1]];
    if (power->op == CLT_OP_CONSTANT && clt_value_number(power->value) < 0) return C_REAL;
  }
  const bool whole = of[0] == C_WHOLE && of[1] != C_REAL;
  switch (c_forms[op].type) {
    case 'w':
    case 't': return C_WHOLE;
    case 'r': return C_REAL;
    case 'a': return of[0];
    case 'b': return whole ? C_WHOLE : C_REAL;
    case 'i': return whole ? C_WHOLE : C_NONE;
    default: return C_NONE;
  }
}

static void write_constant(c_writer *w, clt_value value, char as) {
  char text[64];
  if (as == 'T') value = (clt_value){.type = CLT_INT, .integer = clt_value_truthy(value)};
  if (as == 'R') {
    if (value.type != CLT_REAL && (value.integer > EXACT || value.integer < -EXACT))
      w->why = "a whole number exceeds 2^53";
    value = (clt_value){.type = CLT_REAL, .real = clt_value_number(value)};
  } else if (value.integer == INT64_MIN) {
    clt_text_add(w->out, "(-9223372036854775807 - 1)");
    return;
  }
  clt_value_print(text, sizeof text, value);
  clt_text_printf(w->out, text[0] == '-' ? "(%s)" : "%s", text);
}

static void write_part(c_writer *w, clt_operand n, char as);

/* Writes nested operands of the same operator, such as a list of alternatives, in the same parentheses. */
static void write_chain(c_writer *w, const clt_expr_node *node) {
  const clt_expr_node *left = &w->expr->nodes[node->operands[0]];
  if (left->op == node->op && w->out->n <= w->limit)
    write_chain(w, left);
  else
    write_part(w, node->operands[0], 'T');
  clt_text_add(w->out, node->op == CLT_OP_AND ? " && " : " || ");
  write_part(w, node->operands[1], 'T');
}

/* as: a truth (T), a whole number (W) or a real (R). A whole number can be written as any of them, a real not as a
 * whole number. */
static void write_part(c_writer *w, clt_operand n, char as) {
  const clt_expr_node *node = &w->expr->nodes[n];
  const clt_op op = (clt_op)node->op;
  const struct c_form *form = &c_forms[op];
  const c_type first = clt_op_arity(op) ? w->types[node->operands[0]] : C_WHOLE;
  const bool chain = as == 'T' && (op == CLT_OP_AND || op == CLT_OP_OR);
  const char own = w->types[n] == C_REAL ? 'R' : 'W', is = form->type == 't' || chain ? 'T' : own;
  if (++w->depth > MAX_DEPTH || w->out->n > w->limit || w->out->rc) w->why = "it is too long";
  if (w->why) return;
  if (op == CLT_OP_CONSTANT) {
    write_constant(w, node->value, as);
    w->depth--;
    return;
  }
  if (is != as || chain) clt_text_add(w->out, is == 'W' && as == 'R' ? "@real(" : "(");
  if (op == CLT_OP_SLOT) clt_text_add(w->out, w->names[node->operands[0]]);
  if (chain) write_chain(w, node);
  const bool real = form->type == 'w' || form->type == 't' ? first == C_REAL : own == 'R';
  for (const char *at = real && form->real ? form->real : form->whole; at && *at && !chain; at++) {
    const char mark = strchr("CNRTW", *at) ? *at : '\0';
    if (mark == '\0') {
      clt_text_add_bytes(w->out, at, 1);
    } else {
      const bool shared = mark == 'C' && first == C_WHOLE && w->types[node->operands[1]] == C_WHOLE;
      write_part(w, node->operands[*++at - '0'], mark == 'N' ? own : mark != 'C' ? mark : shared ? 'W' : 'R');
    }
  }
  if (is == as && chain) clt_text_add(w->out, ")");
  if (is != as)
    clt_text_add(w->out, as == 'T' ? " != 0)" : is != 'T' ? ", &failed)" : as == 'R' ? " ? 1.0 : 0.0)" : " ? 1 : 0)");
  w->depth--;
}

int clt_expr_write_c(clt_text *out, const clt_expr *expr, const char *const *names, bool real, bool truth,
                     clt_error *error) {
  c_writer w = {
      .expr = expr, .names = names, .slots = real ? C_REAL : C_WHOLE, .out = out, .limit = out->n + MAX_C_BYTES};
  const clt_operand root = (clt_operand)(expr->n_nodes - 1);
  w.types = clt_new_array(expr->n_nodes, sizeof *w.types);
  if (w.types == NULL) return clt_fail_memory(error);
  for (size_t i = 0; i < expr->n_nodes; i++) w.types[i] = find_type(&w, &expr->nodes[i]);
  if (w.types[root] == C_NONE)
    w.why = "it uses strings, or types that depend on the sizes";
  else if (expr->n_nodes > MAX_C_BYTES / 10)
    w.why = "it is too long";
  else
    write_part(&w, root, truth ? 'T' : 'R');
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
    clt_text_add(out, out->n ? " &&\n             " : "");
    rc = clt_expr_write_c(out, expr, names, false, true, error);
  }
  return rc;
}
