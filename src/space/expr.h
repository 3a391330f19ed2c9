/* space/expr.h - expressions of problem files: Python's syntax with C's operators (docs/expressions.md).
 *
 * An expression is compiled once, its constants folded, and evaluated many times. It owns everything it needs: neither
 * the text nor the symbols have to outlive clt_expr_compile. A compiled expression is immutable; several threads may
 * evaluate it. Nothing is ever executed: there are no assignments, attributes or calls but those of a fixed list of
 * functions, and length, depth and the size of results are bounded. */
#ifndef CLT_SPACE_EXPR_H
#define CLT_SPACE_EXPR_H

#include <clatune/error.h>
#include <clatune/space.h>

/* A name that an expression may use; names may contain dots. A constant's value is copied (text too). A variable is
 * read from slots[slot] at evaluation. If two symbols have the same name, the later one holds. */
typedef struct clt_symbol {
  const char *name;
  bool constant;
  clt_value value; /* of a constant */
  uint32_t slot;   /* of a variable */
} clt_symbol;

typedef struct clt_expr clt_expr;

/* Where an expression stands. Borrowed: both outlive it. */
struct clt_source;
typedef struct clt_place {
  const struct clt_source *source; /* of base/reader.h; NULL: nowhere */
  const char *key;
} clt_place;

/* Compiles text. CLT_E_EXPRESSION: the message says what is wrong and at which column (1-based) of the text; unknown
 * names with the nearest known one. A constant part that cannot be evaluated ("1 / 0") is an error of the evaluation,
 * as in Python, not of the compilation. */
int clt_expr_compile(clt_expr **out, const char *text, const clt_symbol *symbols, size_t n_symbols, clt_error *error);

/* The same for an expression that keeps its place: its mistakes, those of its evaluation too, come with file, line and
 * key. place NULL: nowhere. */
int clt_expr_compile_at(clt_expr **out, const char *text, const clt_place *place, const clt_symbol *symbols,
                        size_t n_symbols, clt_error *error);

/* One owner more: each of them calls clt_expr_free. Returns expr. */
clt_expr *clt_expr_share(clt_expr *expr);
void clt_expr_free(clt_expr *expr);

/* Evaluates. slots is indexed by the slots of the symbols and has to be long enough for those that clt_expr_slot lists.
 * A string result is borrowed from the expression or from the slot. Fails with CLT_E_RANGE where the arithmetic has no
 * result (division by zero, 64-bit integer overflow, a shift by a negative amount, the logarithm of 0),
 * CLT_E_EXPRESSION where the types do not go together. With error NULL no message is made, so that failing is as cheap
 * as succeeding. */
int clt_expr_eval(const clt_expr *expr, const clt_value *slots, clt_value *out, clt_error *error);

/* The slots that the expression reads, each once, ascending. None: the expression is constant. */
size_t clt_expr_n_slots(const clt_expr *expr);
uint32_t clt_expr_slot(const clt_expr *expr, size_t index); /* index < n_slots */

/* How a value that is above 0 changes as something grows: not simply (or it may be 0 or less), not at all, with it, or
 * against it. */
typedef enum clt_trend { CLT_TREND_NONE, CLT_TREND_CONSTANT, CLT_TREND_RISING, CLT_TREND_FALLING } clt_trend;

/* The expression's trend, from those of its slots: what sums, products, quotients, powers and roots say for sure. */
clt_trend clt_expr_trend(const clt_expr *expr, const clt_trend *slots);

/* The text as it was given to clt_expr_compile; borrowed. */
const char *clt_expr_text(const clt_expr *expr);

/* --- as C (to_c.c) --- */

struct clt_text;

/* Adds the expression as one of C over the variables names[slot], which are whole numbers (long long) or, where real,
 * doubles: its truth, or its value as a double. It calls functions whose names begin with '@', for the caller to
 * replace, and sets `failed`, an int of the text's surroundings, where the expression has no result or is beyond 64
 * bits. CLT_E_UNSUPPORTED where C cannot say it (texts); the message is "'expression': why". */
int clt_expr_write_c(struct clt_text *out, const clt_expr *expr, const char *const *names, bool real, bool truth,
                     clt_error *error);

/* Adds those functions that such texts call, one behind the other, in C99 that is C++ as well. Returns whether they
 * need <math.h>.
 */
bool clt_write_c_functions(struct clt_text *out, const char *texts);

/* Python's truth: numbers but 0, strings but "". NaN is true. */
bool clt_value_truthy(clt_value v);

/* The values of a T1 "Values" text: see clt_space_builder_parameter_text. *out is one malloc'ed block, texts included:
 * free it with free(). Duplicates are not looked for. CLT_E_EXPRESSION with a column, CLT_E_RANGE with more than 65,536
 * values. */
int clt_values_parse(clt_value **out, size_t *n, const char *text, const char *type, const clt_symbol *constants,
                     size_t n_constants, clt_error *error);

/* Makes *value one of a T1 "Type": "int", "long", "short", "char" (and their "u" and "unsigned" forms, and int8 ..
 * uint64, all range checked; 16.0 becomes 16), "float", "double", "half" (1 becomes 1.0), "bool" (0 and 1), "string".
 * NULL or "": anything goes. CLT_E_EXPRESSION where it does not fit or there is no such type. *value is written on
 * success only. */
int clt_value_fit(clt_value *value, const char *type, clt_error *error);

/* A number of Python in the whole of text[0 .. length-1], without sign; false if it is none or does not fit. Not
 * dependent on the locale. */
bool clt_number_parse(clt_value *out, const char *text, size_t length);

/* Whether a name is one of Python's own (and, or, not, in, is, if, else, for, lambda, True, False, None; true and false
 * too), which cannot name a parameter. */
bool clt_is_keyword(const char *name, size_t length);

/* A copy of values in one malloc'ed block with their texts, to be freed with free(); NULL when out of memory. */
clt_value *clt_values_copy(const clt_value *values, size_t n);

/* --- constraints that are compiled already --- */

/* Compiles with the names of constants and parameters that the builder has so far. */
int clt_space_builder_compile(clt_expr **out, const clt_space_builder *builder, const char *text,
                              const clt_place *place, clt_error *error);

/* As clt_space_builder_constraint and clt_space_builder_alias. They take the expression over, also on failure; its
 * slots are the numbers of the builder's parameters in the order in which these are added. Where it cannot be
 * evaluated, clt_space_new fails with its place. */
int clt_space_builder_require(clt_space_builder *builder, clt_expr *expr, clt_constraint_origin origin,
                              const char *message, clt_error *error);
int clt_space_builder_alias_when(clt_space_builder *builder, clt_expr *when, const char *name, clt_value value,
                                 clt_error *error);

/* Whether all constraints hold for the slots. */
bool clt_space_builder_holds(const clt_space_builder *builder, const clt_value *slots);

/* Adds all constraints that do not hold anyway, as clt_expr_write_c does, with "&&" between them; nothing: they all do.
 */
int clt_space_builder_write_c(struct clt_text *out, const clt_space_builder *builder, const char *const *names,
                              clt_error *error);

#endif
