/* Runs a sequence: its values, each made to fit the type, in one block with their texts. */
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/memory.h"
#include "space/expr.h"
#include "space/sequence.h"

#define MOST_VALUES 65536
#define MOST_STEPS ((size_t)1 << 20) /* of all loops together, and of what a loop runs over */

typedef struct lister {
  const char *text;
  clt_value slots[CLT_SEQUENCE_MAX_SLOTS];
  size_t steps;
  clt_error *error;
} lister;

/* Texts are borrowed from the sequence's expressions. */
typedef struct list {
  clt_value *values;
  size_t n, capacity;
} list;

static int list_sequence(lister *l, const clt_sequence *s, list *out);

static int too_much(lister *l) {
  return clt_fail(l->error, CLT_E_RANGE, "the values '%.300s' are more than %d, or take too long to list", l->text,
                  MOST_VALUES);
}

static int append(lister *l, list *out, clt_value value) {
  if (out->n >= MOST_STEPS) return too_much(l);
  if (clt_grow(&out->values, &out->capacity, out->n + 1, sizeof *out->values)) return clt_fail_memory(l->error);
  out->values[out->n++] = value;
  return CLT_OK;
}

static int list_display(lister *l, const clt_sequence *s, list *out) {
  int rc = CLT_OK;
  for (size_t i = 0; rc == CLT_OK && i < s->n_exprs; i++) {
    clt_value value;
    rc = clt_expr_eval(s->exprs[i], l->slots, &value, l->error);
    if (rc == CLT_OK) rc = append(l, out, value);
  }
  return rc;
}

static int range_bounds(lister *l, const clt_sequence *s, int64_t bounds[3]) {
  bounds[0] = 0;
  bounds[2] = 1;
  for (size_t i = 0; i < s->n_exprs; i++) {
    clt_value value;
    int rc = clt_expr_eval(s->exprs[i], l->slots, &value, l->error);
    if (rc) return rc;
    if (value.type != CLT_INT && value.type != CLT_BOOL)
      return clt_fail(l->error, CLT_E_EXPRESSION, "range() in '%.300s' takes whole numbers", l->text);
    bounds[s->n_exprs == 1 ? 1 : i] = value.integer;
  }
  if (bounds[2] == 0) return clt_fail(l->error, CLT_E_EXPRESSION, "the step of range() in '%.300s' is 0", l->text);
  return CLT_OK;
}

static int list_range(lister *l, const clt_sequence *s, list *out) {
  int64_t bounds[3] = {0}, x;
  int rc = range_bounds(l, s, bounds);
  bool more = rc == CLT_OK;
  for (x = bounds[0]; more && (bounds[2] > 0 ? x < bounds[1] : x > bounds[1]);) {
    rc = append(l, out, (clt_value){.type = CLT_INT, .integer = x});
    more = rc == CLT_OK && !__builtin_add_overflow(x, bounds[2], &x);
  }
  return rc;
}

/* The clauses of a comprehension from `clause` on; behind the last one, its element. */
static int list_clauses(lister *l, const clt_sequence *s, size_t clause, list *out) {
  if (clause == s->n_clauses) return list_display(l, s, out);
  const clt_clause *c = &s->clauses[clause];
  list over = {0};
  int rc;
  if (c->over == NULL) {
    clt_value condition;
    rc = clt_expr_eval(c->condition, l->slots, &condition, l->error);
    return rc || !clt_value_truthy(condition) ? rc : list_clauses(l, s, clause + 1, out);
  }
  rc = list_sequence(l, c->over, &over);
  for (size_t i = 0; rc == CLT_OK && i < over.n; i++) {
    l->slots[c->slot] = over.values[i];
    rc = ++l->steps > MOST_STEPS ? too_much(l) : list_clauses(l, s, clause + 1, out);
  }
  free(over.values);
  return rc;
}

static int list_sequence(lister *l, const clt_sequence *s, list *out) {
  int rc = CLT_OK;
  for (; rc == CLT_OK && s; s = s->next) {
    switch (s->kind) {
      case CLT_SEQUENCE_DISPLAY: rc = list_display(l, s, out); break;
      case CLT_SEQUENCE_RANGE: rc = list_range(l, s, out); break;
      default: rc = list_clauses(l, s, 0, out); break;
    }
  }
  return rc;
}

int clt_values_parse(clt_value **out, size_t *n, const char *text, const char *type, const clt_symbol *constants,
                     size_t n_constants, clt_error *error) {
  clt_sequence *sequence = NULL;
  lister l = {.text = text, .error = error};
  list values = {0};
  clt_value *block = NULL;
  int rc = clt_sequence_parse(&sequence, text, constants, n_constants, error);
  if (rc) goto done;
  rc = list_sequence(&l, sequence, &values);
  if (rc == CLT_OK && values.n > MOST_VALUES) rc = too_much(&l);
  for (size_t i = 0; rc == CLT_OK && i < values.n; i++) rc = clt_value_fit(&values.values[i], type, error);
  if (rc) goto done;
  block = clt_values_copy(values.values, values.n);
  if (block == NULL) {
    rc = clt_fail_memory(error);
    goto done;
  }
  *out = block;
  *n = values.n;
done:
  free(values.values);
  clt_sequence_free(sequence);
  return rc;
}
