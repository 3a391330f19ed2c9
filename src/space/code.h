/* space/code.h - what a compiled expression consists of, for the parser that makes it and the space that takes the
 * expressions of all constraints apart. */
#ifndef CLT_SPACE_CODE_H
#define CLT_SPACE_CODE_H

#include <stdatomic.h>

#include "space/expr.h"
#include "space/ops.h"

#define CLT_EXPR_MAX_BYTES 65536 /* of text */
#define CLT_EXPR_MAX_DEPTH 400   /* nested readers: about 200 brackets */

/* An operand: kind and index. */
typedef uint32_t clt_operand;
typedef enum clt_operand_kind { CLT_FROM_NODE, CLT_FROM_CONSTANT, CLT_FROM_SLOT } clt_operand_kind;
#define CLT_OPERAND_INDEX 0x3fffffffu
static inline clt_operand clt_operand_make(clt_operand_kind kind, size_t index) {
  return (clt_operand)kind << 30 | (clt_operand)index;
}
static inline clt_operand_kind clt_operand_kind_of(clt_operand o) { return (clt_operand_kind)(o >> 30); }
static inline size_t clt_operand_index(clt_operand o) { return o & CLT_OPERAND_INDEX; }

/* One operation. Its operands come before it in clt_expr.nodes. */
typedef struct clt_operation {
  uint8_t op;      /* clt_op */
  bool used;       /* scratch of the compilation */
  uint32_t column; /* of the operator in the text, 1-based */
  clt_operand operands[4];
} clt_operation;

struct clt_expr {
  atomic_uint n_owners;
  clt_place place;
  char *text;
  clt_operation *nodes;
  size_t n_nodes, nodes_capacity;
  clt_value *constants;
  size_t n_constants, constants_capacity;
  char **strings; /* owned texts of constants */
  size_t n_strings, strings_capacity;
  uint32_t *slots;
  size_t n_slots, slots_capacity;
  clt_operand root;
};

/* Compiles the part of `text` from `begin` to `end`; columns count from the start of text. place may be NULL. */
int clt_expr_compile_part(clt_expr **out, const char *text, size_t begin, size_t end, const clt_place *place,
                          const clt_symbol *symbols, size_t n_symbols, clt_error *error);

/* A mistake in an expression, at its place. Returns code. */
int clt_expr_mistake(const clt_expr *expr, int code, clt_error *error, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Says why an expression failed ("division by zero at column 3"). Returns CLT_E_RANGE or CLT_E_EXPRESSION. */
int clt_expr_fail(const clt_expr *expr, clt_value failed, clt_error *error);

/* --- making, used by the parser. All give 0 or CLT_E_MEMORY. --- */
int clt_expr_add_constant(clt_expr *expr, clt_value value, clt_operand *out);             /* a text is borrowed */
int clt_expr_add_text(clt_expr *expr, const char *text, size_t length, clt_operand *out); /* copied */

/* Adds an operation, or gives its result if it is known already. */
int clt_expr_add_node(clt_expr *expr, clt_op op, uint32_t column, const clt_operand *operands, clt_operand *out);

/* Leaves the nodes and slots out that the root does not need. */
int clt_expr_finish(clt_expr *expr);

#endif
