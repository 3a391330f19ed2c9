/* model/tables_parts.h - what packing (tables_pack.c) makes and predicting (tables.c) uses. */
#ifndef CLT_MODEL_TABLES_PARTS_H
#define CLT_MODEL_TABLES_PARTS_H

#include "model/split.h"
#include "model/tables.h"

#define CLT_TABLE_ROWS 512 /* so that a table stays in the second-level cache */

/* Up to CLT_LANES members. */
typedef struct clt_tables_group {
  float *rest;  /* [unit][rest input, bias][lane] */
  float *table; /* [table row][unit][lane] */
  float *second, *output;
  clt_pack pack;
} clt_tables_group;

struct clt_tables {
  const clt_encoding *encoding;
  const clt_kernels *kernels;
  clt_shape shape;
  clt_split split;
  size_t n_members, n_groups, n_rest;
  size_t *rest_inputs; /* which inputs are the rest */
  clt_tables_group *groups;
};

#endif
