/* model/screening.h - the best by exact predictions, of those that a model's quick ones have kept. */
#ifndef CLT_MODEL_SCREENING_H
#define CLT_MODEL_SCREENING_H

#include "model/heap.h"
#include "model/model.h"

/* Whether the model has quick predictions that are worth using. */
bool clt_model_screens(const clt_model *model);

/* How many of n candidates to keep for the m best: times as many, at least fewest. */
size_t clt_screened(size_t m, size_t times, size_t fewest, uint64_t n);

/* Predicts exactly what the heap holds, on the model's threads. Its order is no heap's afterwards. */
int clt_screened_predict(const clt_model *model, clt_heap *heap, clt_error *error);

/* Writes the m best of the heap, ascending; predictions may be NULL. Returns how many there were. The end of its use as
 * a heap. */
size_t clt_heap_give(clt_heap *heap, size_t m, clt_config *out, clt_prediction *predictions);

#endif
