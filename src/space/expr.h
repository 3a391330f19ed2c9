/* space/expr.h - expressions of problem files: Python's syntax with C's operators (docs/reference/expressions.md).
 *
 * An expression is compiled once, with constants folded, and evaluated many times. It owns all its data: text and
 * symbols need not outlive clt_expr_compile. A compiled expression is immutable, so several threads may evaluate it.
 * Expressions cannot execute code: there are no assignments or attributes, only a fixed list of functions can be
 * called, and length, depth and the size of results are limited. */
#pragma once

#include <clatune/error.h>
#include <clatune/space.h>

/* A name that an expression may use; it may contain dots. The value of a constant is copied, with its text. A variable
 * is read from slots[slot] during evaluation. If two symbols have the same name, the later one is used. */
typedef struct clt_symbol {
  const char *name;
  bool constant;
  clt_value value; /* of a constant */
  uint32_t slot;   /* of a variable */
} clt_symbol;

typedef struct clt_expr clt_expr;

/* The place of an expression in a file, for messages. Borrowed: source and key must outlive it. */
struct clt_source;
typedef struct clt_place {
  const struct clt_source *source; /* see base/json.h; NULL: unknown */
  const char *key;
} clt_place;

/* Compiles text. CLT_E_EXPRESSION: the message has the column (from 1) of the mistake, and for an unknown name the
 * nearest known one. A constant part without a result ("1 / 0") is an error of the evaluation, as in Python, not of the
 * compilation. */
int clt_expr_compile(clt_expr **out, const char *text, const clt_symbol *symbols, size_t n_symbols, clt_error *error);

/* The same for an expression that keeps its place: errors, also those of its evaluation, have file, line and key. place
 * NULL: unknown. */
int clt_expr_compile_at(clt_expr **out, const char *text, const clt_place *place, const clt_symbol *symbols,
                        size_t n_symbols, clt_error *error);

/* Adds an owner. Each owner calls clt_expr_free. Returns expr. */
clt_expr *clt_expr_share(clt_expr *expr);
void clt_expr_free(clt_expr *expr);

/* Evaluates an expression. slots must have an entry for each slot that clt_expr_slot lists. A string result is borrowed
 * from the expression or from a slot. CLT_E_RANGE: the arithmetic has no result (division by zero, 64-bit integer
 * overflow, a shift by a negative amount, the logarithm of 0). CLT_E_EXPRESSION: an operator does not apply to the
 * types of its operands. With error NULL, no message is formatted, so a failure costs no more than a success. */
int clt_expr_eval(const clt_expr *expr, const clt_value *slots, clt_value *out, clt_error *error);

/* The slots that the expression reads, each once, in ascending order. If there are none, the expression is constant. */
size_t clt_expr_n_slots(const clt_expr *expr);
uint32_t clt_expr_slot(const clt_expr *expr, size_t index); /* index < n_slots */

/* How a positive value depends on a growing quantity: unknown (or the value may be 0 or less), constant, rising or
 * falling. */
typedef enum clt_trend { CLT_TREND_NONE, CLT_TREND_CONSTANT, CLT_TREND_RISING, CLT_TREND_FALLING } clt_trend;

/* The trend of an expression, derived from the trends of its slots through sums, products, quotients, powers and roots.
 */
clt_trend clt_expr_trend(const clt_expr *expr, const clt_trend *slots);

/* The text as it was given to clt_expr_compile; borrowed. */
const char *clt_expr_text(const clt_expr *expr);

/* --- as C (to_c.c) --- */

struct clt_text;

/* Adds the expression as C code over the variables names[slot], which are long long, or double if `real`. The code
 * gives the truth of the expression if `truth`, else its value as a double. It calls functions whose names begin with
 * '@', which the caller replaces by a prefix, and sets `failed`, an int in the surrounding code, if the expression has
 * no result or exceeds 64 bits. CLT_E_UNSUPPORTED: the expression cannot be written as C, for example because it uses
 * strings; the message is "'expression': why". */
int clt_expr_write_c(struct clt_text *out, const clt_expr *expr, const char *const *names, bool real, bool truth,
                     clt_error *error);

/* Adds the definitions of the functions that such code calls, as C99 that is also valid C++. Returns whether they need
 * <math.h>. */
bool clt_write_c_functions(struct clt_text *out, const char *texts);

/* Python's truth: 0 and "" are false, everything else, also NaN, is true. */
bool clt_value_truthy(clt_value v);

/* Reads the values of a T1 "Values" text (see clt_space_builder_parameter_text). *out is one malloc'ed block that
 * includes the texts. Does not check for duplicates. CLT_E_EXPRESSION: a mistake, with its column. CLT_E_RANGE: more
 * than 65,536 values. */
int clt_values_parse(clt_value **out, size_t *n, const char *text, const char *type, const clt_symbol *constants,
                     size_t n_constants, clt_error *error);

/* Converts *value to a T1 "Type": "int", "long", "short", "char" (and their "u" and "unsigned" forms, and int8 ..
 * uint64, all range checked; 16.0 becomes 16), "float", "double", "half" (1 becomes 1.0), "bool" (0 and 1), "string".
 * NULL or "": any type. CLT_E_EXPRESSION: the value does not fit, or the type is unknown. *value changes only on
 * success. */
int clt_value_fit(clt_value *value, const char *type, clt_error *error);

/* Reads text[0 .. length - 1] as an unsigned number in Python's syntax, in any locale. False: it is not a number, or
 * does not fit. */
bool clt_number_parse(clt_value *out, const char *text, size_t length);

/* Whether a name is a keyword (and, or, not, in, is, if, else, for, lambda, True, False, None, true, false), and so
 * cannot name a parameter. */
bool clt_is_keyword(const char *name, size_t length);

/* Copies values with their texts into one malloc'ed block. NULL: out of memory. */
clt_value *clt_values_copy(const clt_value *values, size_t n);

/* --- compiled constraints --- */

/* Compiles an expression over the constants and parameters that were added to the builder so far. */
int clt_space_builder_compile(clt_expr **out, const clt_space_builder *builder, const char *text,
                              const clt_place *place, clt_error *error);

/* As clt_space_builder_constraint and clt_space_builder_alias, for compiled expressions. They take the expression over,
 * also on failure. Its slots are the indices of the builder's parameters. If it cannot be evaluated, clt_space_new
 * fails with its place. */
int clt_space_builder_require(clt_space_builder *builder, clt_expr *expr, clt_constraint_origin origin,
                              const char *message, clt_error *error);
int clt_space_builder_alias_when(clt_space_builder *builder, clt_expr *when, const char *name, clt_value value,
                                 clt_error *error);

/* Whether all constraints hold for these values of the parameters. */
bool clt_space_builder_holds(const clt_space_builder *builder, const clt_value *slots);

/* Adds the constraints as C code (clt_expr_write_c), joined by "&&". Constraints that always hold are omitted; adds
 * nothing if all do. */
int clt_space_builder_write_c(struct clt_text *out, const clt_space_builder *builder, const char *const *names,
                              clt_error *error);
