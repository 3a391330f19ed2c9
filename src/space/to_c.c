/* Expressions as C code, for programs without this library, with the values of ops.c. Errors and missing results set
 * `failed`. and, or and the choice evaluate only the selected side, as C's operators do. */
#include "base/base.h"
#include "base/text.h"
#include "space/parts.h"

#define MAX_DEPTH 100      /* nested brackets; some compilers allow only 256 */
#define MAX_C_BYTES 100000 /* a shared subexpression is written at each place of its use */
#define EXACT 9007199254740992LL

/* --- the functions that the code calls --- */

#define MOST_FUNCTIONS 64
#define N_WITH_MATH 8 /* the last functions, which need <math.h> */

extern const char
    clt_c_functions_text[]; /* c_functions.h.in: each calls only earlier ones, and ends with an empty line */

bool clt_write_c_functions(clt_text *out, const char *texts) {
  const char *begin[MOST_FUNCTIONS + 1] = {clt_c_functions_text};
  bool needed[MOST_FUNCTIONS], math = false;
  size_t n = 0;
  clt_text calls = {0}; /* the texts, and the functions that they need */
  for (const char *end; n < MOST_FUNCTIONS && (end = strstr(begin[n], "\n\n")); n++) begin[n + 1] = end + 2;
  clt_text_add(&calls, texts);
  for (size_t f = n; f-- > 0;) {
    char call[40];
    const char *name = strchr(begin[f], '@');
    clt_snprintf(call, sizeof call, "%.*s", (int)strcspn(name, "(") + 1, name);
    needed[f] = calls.bytes && strstr(calls.bytes, call);
    if (needed[f]) clt_text_add_bytes(&calls, begin[f], (size_t)(begin[f + 1] - begin[f]));
    math |= needed[f] && f >= n - N_WITH_MATH;
  }
  for (size_t f = 0; f < n; f++)
    if (needed[f]) clt_text_add_bytes(out, begin[f], (size_t)(begin[f + 1] - begin[f]));
  if (calls.rc) out->rc = calls.rc;
  clt_text_release(&calls);
  return math;
}

/* --- the C code of each operation --- */

typedef enum c_type { C_NONE, C_INTEGER, C_REAL } c_type; /* types must not depend on the sizes */

/* type of the result: w integer, r real, t truth, a that of the first operand, b integer if both operands are, else
 * real, i integer if both are, else unsupported. An operation without an entry is unsupported. In a text, T0, W0 and R0
 * are the first operand as a truth, an integer or a real; N0 is the first operand in the type of the result, C0 in the
 * common type of both operands. Each text has its own parentheses or needs none. real: the text if the result (for w
 * and t: the first operand) is real; NULL: the same text. */
static const struct c_form {
  char type;
  const char *integer, *real;
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
  if (op == CLT_OP_CONSTANT) return node->value.type == CLT_STRING ? C_NONE : C_INTEGER;
  if (op == CLT_OP_SLOT) return w->slots;
  if (op == CLT_OP_CHOOSE) return of[1] == of[2] ? of[1] : C_REAL;
  if (op == CLT_OP_IN_RANGE && (of[1] == C_REAL || of[2] == C_REAL || of[3] == C_REAL)) return C_NONE;
  if (op == CLT_OP_POWER) {
    const clt_expr_node *power = &w->expr->nodes[node->operands[1]];
    if (power->op == CLT_OP_CONSTANT && clt_value_number(power->value) < 0) return C_REAL;
  }
  const bool integers = of[0] == C_INTEGER && of[1] != C_REAL;
  switch (c_forms[op].type) {
    case 'w':
    case 't': return C_INTEGER;
    case 'r': return C_REAL;
    case 'a': return of[0];
    case 'b': return integers ? C_INTEGER : C_REAL;
    case 'i': return integers ? C_INTEGER : C_NONE;
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

/* as: a truth (T), an integer (W) or a real (R). An integer can be written as any of them, a real not as an integer. */
static void write_part(c_writer *w, clt_operand n, char as) {
  const clt_expr_node *node = &w->expr->nodes[n];
  const clt_op op = (clt_op)node->op;
  const struct c_form *form = &c_forms[op];
  const c_type first = clt_op_arity(op) ? w->types[node->operands[0]] : C_INTEGER;
  const bool chain = as == 'T' && (op == CLT_OP_AND || op == CLT_OP_OR);
  const char own = w->types[n] == C_REAL ? 'R' : 'W';
  const char is = form->type == 't' || chain ? 'T' : own;
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
  for (const char *at = real && form->real ? form->real : form->integer; at && *at && !chain; at++) {
    char mark = *at;
    if (strchr("CNRTW", mark) == NULL) {
      clt_text_add_bytes(w->out, at, 1);
      continue;
    }
    if (mark == 'N') mark = own;
    if (mark == 'C') mark = first == C_INTEGER && w->types[node->operands[1]] == C_INTEGER ? 'W' : 'R';
    write_part(w, node->operands[*++at - '0'], mark);
  }
  const char *end = " ? 1 : 0)"; /* from a truth */
  if (as == 'R') end = " ? 1.0 : 0.0)";
  if (is != 'T') end = ", &failed)";
  if (as == 'T') end = is == 'T' ? ")" : " != 0)";
  if (is != as || chain) clt_text_add(w->out, end);
  w->depth--;
}

int clt_expr_write_c(clt_text *out, const clt_expr *expr, const char *const *names, bool real, bool truth,
                     clt_error *error) {
  c_writer w = {
      .expr = expr, .names = names, .slots = real ? C_REAL : C_INTEGER, .out = out, .limit = out->n + MAX_C_BYTES};
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
  for (size_t i = 0; rc == CLT_OK && i < builder->draft.n_constraints; i++) {
    const clt_expr *expr = builder->draft.constraints[i].expr;
    clt_value value;
    if (expr->n_slots == 0 && clt_expr_eval(expr, NULL, &value, NULL) == CLT_OK && clt_value_truthy(value)) continue;
    clt_text_add(out, out->n ? " &&\n             " : "");
    rc = clt_expr_write_c(out, expr, names, false, true, error);
  }
  return rc;
}
