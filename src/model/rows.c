#include "model/rows.h"

#include <stdlib.h>

#include "base/fail.h"
#include "base/memory.h"
#include "dataset/folds.h"

#define FEWEST_SIZES 5 /* from which on whole sizes are left out */

int clt_rows_encoding(clt_encoding **out, const clt_model_setup *setup, bool resources, clt_error *error) {
  clt_encoding *encoding = NULL;
  int rc = setup->n_instances ? clt_encoding_new_over(&encoding, setup->instances, setup->n_instances, resources, error)
                              : clt_encoding_new(&encoding, setup->space, resources ? setup->instance : NULL, error);
  if (rc) return rc;
  if (encoding->n_inputs == 0) {
    clt_encoding_free(encoding);
    return clt_fail(error, CLT_E_MODEL, "a model needs a parameter with more than one value");
  }
  if (setup->n_instances) clt_encoding_bind(encoding, setup->instance);
  *out = encoding;
  return CLT_OK;
}

float *clt_rows_encode(const clt_encoding *encoding, const clt_model_setup *setup) {
  float *x = clt_new_array(setup->n_rows, encoding->n_inputs * sizeof *x);
  for (size_t i = 0; x && i < setup->n_rows; i++) {
    float *row = x + i * encoding->n_inputs;
    if (setup->n_instances)
      clt_encode_at(encoding, setup->instances[setup->instance_of[i]], setup->configs[i], row);
    else
      clt_encode(encoding, setup->configs[i], row);
  }
  return x;
}

int clt_rows_folds(uint32_t *fold, const clt_model_setup *setup, size_t k, clt_rng *rng, clt_error *error) {
  if (setup->n_instances < FEWEST_SIZES) {
    clt_folds(fold, setup->n_rows, k, rng);
    return CLT_OK;
  }
  uint32_t *of_size = clt_new_array(setup->n_instances, sizeof *of_size);
  if (of_size == NULL) return clt_fail_memory(error);
  clt_folds(of_size, setup->n_instances, k, rng);
  for (size_t i = 0; i < setup->n_rows; i++) fold[i] = of_size[setup->instance_of[i]];
  free(of_size);
  return CLT_OK;
}

size_t clt_rows_split(size_t *rows, const uint32_t *fold, size_t n, size_t member) {
  size_t placed = 0;
  for (size_t i = 0; i < n; i++)
    if (fold[i] != member) rows[placed++] = i;
  size_t n_train = placed;
  for (size_t i = 0; i < n; i++)
    if (fold[i] == member) rows[placed++] = i;
  return n_train;
}
