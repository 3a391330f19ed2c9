/* model/heap.h - the best few of many candidates. */
#ifndef CLT_MODEL_HEAP_H
#define CLT_MODEL_HEAP_H

#include <clatune/model.h>

typedef struct clt_candidate {
  clt_config config;
  clt_prediction prediction;
  bool likely; /* enough probability of being valid: stands before all that are not */
} clt_candidate;

/* For qsort: likely ones first, then by cost, then by configuration. */
int clt_candidate_compare(const void *a, const void *b);

/* Up to capacity candidates, the worst on top. Which ones it ends with does not depend on the order they came in. */
typedef struct clt_heap {
  clt_candidate *items;
  size_t n, capacity;
} clt_heap;

int clt_heap_init(clt_heap *heap, size_t capacity, clt_error *error);
void clt_heap_release(clt_heap *heap);
void clt_heap_add(clt_heap *heap, const clt_candidate *candidate);

/* A log cost from which on no candidate can enter, likely or not; infinite while any may. */
float clt_heap_worst(const clt_heap *heap);

/* Puts the items in ascending order; the end of its use as a heap. */
void clt_heap_sort(clt_heap *heap);

#endif
