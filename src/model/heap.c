#include "model/heap.h"

#include <math.h>
#include <stdlib.h>

#include "base/fail.h"
#include "base/memory.h"

int clt_heap_init(clt_heap *heap, size_t capacity, clt_error *error) {
  *heap = (clt_heap){clt_new_array(capacity, sizeof *heap->items), 0, capacity};
  return heap->items ? CLT_OK : clt_fail_memory(error);
}

void clt_heap_release(clt_heap *heap) { free(heap->items); }

int clt_candidate_compare(const void *a, const void *b) {
  const clt_candidate *p = a, *q = b;
  if (p->likely != q->likely) return p->likely ? -1 : 1;
  if (p->prediction.log_cost != q->prediction.log_cost) return p->prediction.log_cost < q->prediction.log_cost ? -1 : 1;
  return (p->config > q->config) - (p->config < q->config);
}

static void swap(clt_candidate *a, clt_candidate *b) {
  clt_candidate c = *a;
  *a = *b;
  *b = c;
}

static void sift_down(clt_heap *h) {
  for (size_t i = 0, child; (child = 2 * i + 1) < h->n; i = child) {
    if (child + 1 < h->n && clt_candidate_compare(&h->items[child], &h->items[child + 1]) < 0) child++;
    if (clt_candidate_compare(&h->items[i], &h->items[child]) >= 0) return;
    swap(&h->items[i], &h->items[child]);
  }
}

void clt_heap_add(clt_heap *h, const clt_candidate *candidate) {
  if (h->n == h->capacity) {
    if (h->n == 0 || clt_candidate_compare(candidate, &h->items[0]) >= 0) return;
    h->items[0] = *candidate;
    sift_down(h);
    return;
  }
  size_t i = h->n++;
  for (h->items[i] = *candidate; i && clt_candidate_compare(&h->items[(i - 1) / 2], &h->items[i]) < 0; i = (i - 1) / 2)
    swap(&h->items[i], &h->items[(i - 1) / 2]);
}

float clt_heap_worst(const clt_heap *heap) {
  bool closed = heap->n && heap->n == heap->capacity && heap->items[0].likely;
  return closed ? heap->items[0].prediction.log_cost : INFINITY;
}

void clt_heap_sort(clt_heap *heap) {
  if (heap->n) qsort(heap->items, heap->n, sizeof *heap->items, clt_candidate_compare);
}
