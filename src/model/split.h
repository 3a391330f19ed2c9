/* model/split.h - configurations as pairs of a *rest* and a row of a *table*.
 *
 * What a model computes often falls into a part for a few parameters, whose combinations fit into a table, and a part
 * for the rest, which many configurations of a batch share. The table takes the parameters that change fastest from
 * rank to rank and that no resource depends on, so that a rest is worked out once for many configurations. */
#ifndef CLT_MODEL_SPLIT_H
#define CLT_MODEL_SPLIT_H

#include "model/encoding.h"

#define CLT_SPLIT_BATCH 32768 /* configurations that clt_split_batch takes at once */

/* Neighbouring parameters of the table: config / stride % size is their joint position. */
typedef struct clt_split_run {
  uint64_t stride, size;
  size_t weight; /* of the position in the row number */
} clt_split_run;

typedef struct clt_split {
  const clt_encoding *encoding;
  bool in_table[CLT_MAX_PARAMETERS];
  size_t n_rows; /* of the table */
  size_t n_runs;
  clt_split_run runs[CLT_MAX_PARAMETERS];
} clt_split;

/* Chooses the table: at most max_rows rows, and only parameters that accept (nullable) agrees to, asked with the
 * parameter already marked in split->in_table. */
int clt_split_init(clt_split *split, const clt_encoding *encoding, size_t max_rows,
                   bool (*accept)(void *user, const clt_split *split), void *user, clt_error *error);

/* The value position that a row of the table has for a parameter in the table. */
size_t clt_split_position(const clt_split *split, size_t row, size_t parameter);

/* A batch, grouped by rest: configurations order[start[r]] .. order[start[r + 1] - 1] share rest r, whose other
 * parameters and resources may be read off first[r]. Rows of the table are by configuration. */
typedef struct clt_split_batch {
  size_t capacity, n_rests;
  uint32_t *order, *start, *table_row;
  clt_config *first;
  uint32_t *rest, *slot_rest; /* by configuration; by slot of the hash from rest to its number */
  uint64_t *slot_key;
  size_t n_slots;
} clt_split_batch;

/* Room for up to capacity (at most CLT_SPLIT_BATCH) configurations. Release also after a failure. */
int clt_split_batch_init(clt_split_batch *batch, size_t capacity, clt_error *error);
void clt_split_batch_release(clt_split_batch *batch);
void clt_split_batch_fill(clt_split_batch *batch, const clt_split *split, const clt_config *configs, size_t n);

#endif
