#include "format/value_index.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

typedef struct place {
  clt_value value;
  uint64_t position;
} place;

struct clt_value_index {
  place *places; /* sorted */
  size_t n;
};

static int compare_numbers(clt_value a, clt_value b) {
  if (a.type != CLT_REAL && b.type != CLT_REAL) return (a.integer > b.integer) - (a.integer < b.integer);
  double x = clt_value_number(a), y = clt_value_number(b);
  return (x > y) - (x < y);
}

int clt_value_compare(const void *a, const void *b) {
  const clt_value *x = a, *y = b;
  bool x_text = x->type == CLT_STRING, y_text = y->type == CLT_STRING;
  if (x_text != y_text) return x_text - y_text;
  return x_text ? strcmp(x->text, y->text) : compare_numbers(*x, *y);
}

static int compare(const void *a, const void *b) {
  return clt_value_compare(&((const place *)a)->value, &((const place *)b)->value);
}

clt_value_index *clt_value_index_new(const clt_value *values, size_t n) {
  clt_value_index *index = calloc(1, sizeof *index);
  if (index) index->places = clt_new_array(n, sizeof *index->places);
  if (index == NULL || index->places == NULL) {
    free(index);
    return NULL;
  }
  index->n = n;
  for (size_t i = 0; i < n; i++) index->places[i] = (place){values[i], i};
  qsort(index->places, n, sizeof *index->places, compare);
  return index;
}

void clt_value_index_free(clt_value_index *index) {
  if (index) free(index->places);
  free(index);
}

bool clt_value_index_find(const clt_value_index *index, clt_value value, uint64_t *position) {
  const place wanted = {.value = value};
  const place *found = bsearch(&wanted, index->places, index->n, sizeof *index->places, compare);
  if (found == NULL || !clt_value_equal(found->value, value)) return false;
  *position = found->position;
  return true;
}
