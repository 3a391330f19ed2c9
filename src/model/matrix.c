#include "model/matrix.h"

#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/memory.h"

#define VECTOR_BYTES (CLT_LANES * sizeof(float))

void *clt_vector_memory(size_t n, size_t element_bytes) {
  size_t bytes;
  if (!clt_size_multiply(&bytes, n, element_bytes) || bytes > SIZE_MAX - 2 * VECTOR_BYTES) return NULL;
  bytes = (bytes / VECTOR_BYTES + 1) * VECTOR_BYTES;
  void *memory = aligned_alloc(VECTOR_BYTES, bytes);
  if (memory) memset(memory, 0, bytes);
  return memory;
}

static void fill_row(clt_matrix *m, size_t row, const float *x, float y) {
  size_t block = row / CLT_BLOCK_ROWS, lane = row % CLT_BLOCK_ROWS;
  for (size_t i = 0; i < m->n_inputs; i++) m->inputs[(block * m->n_inputs + i) * CLT_BLOCK_ROWS + lane] = x[i];
  m->targets[row] = y;
  m->presence[row] = 1;
}

int clt_matrix_init(clt_matrix *out, const float *x, size_t n_inputs, const float *y, const size_t *chosen,
                    size_t n_chosen, clt_error *error) {
  *out = (clt_matrix){n_chosen, n_inputs, (n_chosen + CLT_BLOCK_ROWS - 1) / CLT_BLOCK_ROWS};
  size_t block_floats = 0;
  if (clt_size_multiply(&block_floats, n_inputs, CLT_BLOCK_ROWS * sizeof(float)))
    out->inputs = clt_vector_memory(out->n_blocks, block_floats);
  out->targets = clt_vector_memory(out->n_blocks, CLT_BLOCK_ROWS * sizeof(float));
  out->presence = clt_vector_memory(out->n_blocks, CLT_BLOCK_ROWS * sizeof(float));
  if (!out->inputs || !out->targets || !out->presence) return clt_fail_memory(error);
  for (size_t i = 0; i < n_chosen; i++) fill_row(out, i, x + chosen[i] * n_inputs, y[chosen[i]]);
  return CLT_OK;
}

void clt_matrix_release(clt_matrix *matrix) {
  free(matrix->inputs);
  free(matrix->targets);
  free(matrix->presence);
  *matrix = (clt_matrix){0};
}
