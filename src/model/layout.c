#include "model/layout.h"

#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/memory.h"

#define FEWEST_ROWS 16
#define MOST_ROWS 256 /* so that the table stays in the second-level cache */

static int count_rests(size_t *out, const clt_split *split, const clt_config *configs, size_t n, clt_error *error) {
  clt_split_batch batch;
  int rc = clt_split_batch_init(&batch, n, error);
  if (!rc) clt_split_batch_fill(&batch, split, configs, n);
  if (!rc) *out = batch.n_rests;
  clt_split_batch_release(&batch);
  return rc;
}

int clt_layout_split(clt_split *out, const clt_encoding *encoding, bool has_extra, const clt_config *configs, size_t n,
                     clt_error *error) {
  size_t least = SIZE_MAX;
  if (has_extra) return clt_split_init(out, encoding, 1, NULL, NULL, error);
  for (size_t rows = FEWEST_ROWS; rows <= MOST_ROWS; rows *= 2) {
    clt_split split;
    size_t rests = 0;
    int rc = clt_split_init(&split, encoding, rows, NULL, NULL, error);
    if (!rc) rc = count_rests(&rests, &split, configs, n, error);
    if (rc) return rc;
    if (rests + split.n_rows >= least) continue;
    least = rests + split.n_rows;
    *out = split;
  }
  return CLT_OK;
}

static void find_inputs(clt_layout *l, const clt_split *split, size_t n_extra) {
  const clt_encoding *e = split->encoding;
  for (size_t k = 0; k < e->n_parameters; k++)
    for (size_t j = 0; j < e->parameters[k].width; j++) {
      size_t input = e->parameters[k].first + j;
      if (split->in_table[k])
        l->row_inputs[l->n_row_inputs++] = input;
      else
        l->rest_inputs[l->n_rest_inputs++] = input;
    }
  for (size_t i = 0; i < n_extra; i++) l->rest_inputs[l->n_rest_inputs++] = e->n_inputs + i;
}

static void encode_rest(const clt_layout *l, const clt_encoding *e, const clt_extra_inputs *extra, clt_config config,
                        float *all, float *out) {
  clt_encode(e, config, all);
  if (extra) extra->fill(extra->user, config, all + e->n_inputs);
  for (size_t i = 0; i < l->n_rest_inputs; i++) out[i] = all[l->rest_inputs[i]];
}

static void encode_row(const clt_split *split, size_t row, float *out) {
  const clt_encoding *e = split->encoding;
  for (size_t k = 0; k < e->n_parameters; k++) {
    const clt_encoded_parameter *p = &e->parameters[k];
    if (!split->in_table[k]) continue;
    size_t value = clt_split_position(split, row, k);
    for (size_t j = 0; j < p->width; j++) *out++ = p->table[value * p->width + j];
  }
}

static int fill(clt_layout *l, const clt_split *split, const clt_extra_inputs *extra, clt_split_batch *batch,
                clt_error *error) {
  const clt_encoding *e = split->encoding;
  float *all = clt_new_array(e->n_inputs + (extra ? extra->n : 0), sizeof *all);
  l->row = clt_new_array(l->n, sizeof *l->row);
  l->rest_x = clt_new_array(batch->n_rests, (l->n_rest_inputs + 1) * sizeof *l->rest_x);
  l->row_x = clt_new_array(split->n_rows, (l->n_row_inputs + 1) * sizeof *l->row_x);
  int rc = all && l->row && l->rest_x && l->row_x ? CLT_OK : clt_fail_memory(error);
  for (size_t i = 0; !rc && i < l->n; i++) l->row[i] = batch->table_row[batch->order[i]];
  for (size_t r = 0; !rc && r < batch->n_rests; r++)
    encode_rest(l, e, extra, batch->first[r], all, l->rest_x + r * l->n_rest_inputs);
  for (size_t r = 0; !rc && r < split->n_rows; r++) encode_row(split, r, l->row_x + r * l->n_row_inputs);
  l->n_rests = batch->n_rests;
  l->n_rows = split->n_rows;
  l->order = batch->order;
  l->start = batch->start;
  batch->order = batch->start = NULL;
  free(all);
  return rc;
}

int clt_layout_init(clt_layout *l, const clt_split *split, const clt_extra_inputs *extra, const clt_config *configs,
                    size_t n, clt_error *error) {
  clt_split_batch batch;
  size_t n_extra = extra ? extra->n : 0;
  *l = (clt_layout){.n = n};
  l->rest_inputs = clt_new_array(split->encoding->n_inputs + n_extra, sizeof *l->rest_inputs);
  l->row_inputs = clt_new_array(split->encoding->n_inputs, sizeof *l->row_inputs);
  int rc = clt_split_batch_init(&batch, n, error);
  if (!rc && !(l->rest_inputs && l->row_inputs)) rc = clt_fail_memory(error);
  if (!rc) {
    clt_split_batch_fill(&batch, split, configs, n);
    find_inputs(l, split, n_extra);
    rc = fill(l, split, extra, &batch, error);
  }
  clt_split_batch_release(&batch);
  return rc;
}

void clt_layout_release(clt_layout *l) {
  free(l->rest_inputs);
  free(l->row_inputs);
  free(l->order);
  free(l->start);
  free(l->row);
  free(l->rest_x);
  free(l->row_x);
  *l = (clt_layout){0};
}
