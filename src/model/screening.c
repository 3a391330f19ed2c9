#include "model/screening.h"

#include <stdlib.h>

#include "base/parallel.h"

#define BATCH 1024

bool clt_model_screens(const clt_model *model) { return model->type->has_fast; }

size_t clt_screened(size_t m, size_t times, size_t fewest, uint64_t n) {
  uint64_t kept = m > SIZE_MAX / times ? n : (uint64_t)m * times;
  if (kept < fewest) kept = fewest;
  return m == 0 ? 0 : kept < n ? (size_t)kept : (size_t)n;
}

struct screened {
  const clt_model *model;
  clt_heap *heap;
};

static int predict_part(void *user, size_t index, clt_error *error) {
  const struct screened *s = user;
  size_t first = index * BATCH, n = s->heap->n - first < BATCH ? s->heap->n - first : BATCH;
  clt_config configs[BATCH] = {0};
  clt_prediction predictions[BATCH];
  clt_candidate *items = s->heap->items + first;
  for (size_t i = 0; i < n; i++) configs[i] = items[i].config;
  int rc = clt_model_predict_costs(s->model, configs, n, false, predictions, error);
  for (size_t i = 0; !rc && i < n; i++) {
    predictions[i].p_valid = items[i].prediction.p_valid;
    items[i].prediction = predictions[i];
  }
  return rc;
}

int clt_screened_predict(const clt_model *model, clt_heap *heap, clt_error *error) {
  struct screened s = {model, heap};
  return clt_parallel(model->threads, (heap->n + BATCH - 1) / BATCH, predict_part, &s, error);
}

size_t clt_heap_give(clt_heap *heap, size_t m, clt_config *out, clt_prediction *predictions) {
  clt_heap_sort(heap);
  size_t n = heap->n < m ? heap->n : m;
  for (size_t i = 0; i < n; i++) {
    out[i] = heap->items[i].config;
    if (predictions) predictions[i] = heap->items[i].prediction;
  }
  return n;
}
