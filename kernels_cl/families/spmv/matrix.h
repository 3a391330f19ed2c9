/* matrix.h - sparse matrices from a few whole numbers: their structure follows from kind, n, degree and seed alone. */
#ifndef CLATUNE_SPMV_MATRIX_H
#define CLATUNE_SPMV_MATRIX_H

#include <clatune/module.h>
#include <stdbool.h>
#include <stdint.h>

enum matrix_kind {
  STENCIL,     /* of `degree` points: 5 and 9 in a plane, 7 and 27 in a cube */
  BAND,        /* `degree` diagonals beside each other */
  DIAGONALS,   /* `degree` diagonals anywhere */
  BLOCKS,      /* finite elements: a mesh of triangles with holes, `degree` unknowns in each node */
  POWER_LAW,   /* row lengths of a Pareto distribution with a mean of about `degree` */
  R_MAT,       /* n * degree edges, those that meet counted once */
  ERDOS_RENYI, /* the same, of equal probability */
  ROAD,        /* a grid that has lost many of its edges: on average `degree` in a node, renumbered within 1,024 nodes */
  FROM_FILE,   /* $SPMV_MATRICES/SEED.csr, made by from_matrix_market.py */
};

/* n x n; row i has columns[starts[i]] .. columns[starts[i + 1] - 1], in ascending order. */
typedef struct matrix {
  int n;
  int *starts, *columns;
  float *values; /* of a file; else NULL: see matrix_value */
} matrix;

/* From the scalars kind, n, degree, seed. False: a kind or size that does not exist, a file that is not there or not
 * right, no memory. */
bool matrix_new(matrix *m, const clt_module_call *call);
void matrix_free(matrix *m);

/* The k-th nonzero, in [0.5, 1.5) where it is not from a file. */
float matrix_value(const matrix *m, int k, uint64_t seed);

#endif
