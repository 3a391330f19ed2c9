/* space/sequence.h - a "Values" text taken apart: displays, ranges, comprehensions and their concatenation. */
#ifndef CLT_SPACE_SEQUENCE_H
#define CLT_SPACE_SEQUENCE_H

#include "space/code.h"

typedef enum clt_sequence_kind {
  CLT_SEQUENCE_DISPLAY,
  CLT_SEQUENCE_RANGE,
  CLT_SEQUENCE_COMPREHENSION
} clt_sequence_kind;

/* "for variable in over", or "if condition" where over is NULL. */
typedef struct clt_clause {
  uint32_t slot; /* the variable's */
  struct clt_sequence *over;
  clt_expr *condition;
} clt_clause;

typedef struct clt_sequence {
  clt_sequence_kind kind;
  clt_expr **exprs; /* elements; bounds of a range; the one element of a comprehension */
  size_t n_exprs, exprs_capacity;
  clt_clause *clauses;
  size_t n_clauses, clauses_capacity;
  struct clt_sequence *next; /* of a concatenation */
} clt_sequence;

#define CLT_SEQUENCE_MAX_SLOTS 32 /* loops' variables in one text */
#define CLT_VALUES_MAX_BYTES (1 << 20)

int clt_sequence_parse(clt_sequence **out, const char *text, const clt_symbol *constants, size_t n_constants,
                       clt_error *error);
void clt_sequence_free(clt_sequence *sequence);

#endif
