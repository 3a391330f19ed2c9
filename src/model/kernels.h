/* model/kernels.h - the inner loops of training and of the sweep, compiled once for each instruction set.
 *
 * kernels.c is compiled several times, with -ffast-math for that file alone; clt_kernels_best picks the best version
 * for the processor. The result for a row or configuration does not depend on the others in the call. Arrays of vectors
 * must be aligned and padded as by clt_arena_array. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CLT_LANES 16       /* numbers worked on at once; a processor with narrower vectors takes several steps */
#define CLT_BLOCK_ROWS 64  /* rows of a block in a training matrix */
#define CLT_MAX_LAYERS 3   /* two hidden ones and the output */
#define CLT_MAX_HIDDEN 256 /* units of a hidden layer */
#define CLT_TREES 64       /* of a forest */
#define CLT_TREE_LEAVES 64 /* so that a set of leaves is one word */
#define CLT_EXPONENT 50.0f /* limit of z, so that a product of two factors neither overflows nor becomes denormal */

/* Layers of units after the inputs; the last one is linear, the others sigmoid, or (symmetric) hyperbolic tangents.
 * The order of weights is FANN's: for every unit of a layer its inputs' weights, then its bias. */
typedef struct clt_shape {
  size_t n_inputs, n_layers;
  size_t width[CLT_MAX_LAYERS];
  bool symmetric;
} clt_shape;

/* Rows in blocks of CLT_BLOCK_ROWS: inputs[block][input][row], targets and presence (1, or 0 for padding) [block][row].
 */
typedef struct clt_matrix {
  size_t n_rows, n_inputs, n_blocks;
  float *inputs, *targets, *presence;
} clt_matrix;

/* The layers after the first one, for up to CLT_LANES networks at once: the second hidden layer (n_second may be 0)
 * and the output; weights[unit][input, bias last][lane]. Hidden units are sigmoid. */
typedef struct clt_further_layers {
  size_t n_first, n_second;
  const float *second, *output;
} clt_further_layers;

typedef struct clt_kernels {
  const char *name;

  /* Half the mean squared error over the rows and decay / 2 times the sum of squared weights, biases left out; the
   * derivatives go to gradient. scratch has clt_gradient_scratch(shape) bytes. */
  double (*gradient)(const clt_shape *shape, const float *weights, const clt_matrix *rows, float decay, void *scratch,
                     float *gradient);

  /* The network's outputs, [block][row]. */
  void (*outputs)(const clt_shape *shape, const float *weights, const clt_matrix *rows, void *scratch, float *out);

  /* The sum of a[i] * b[i], and y[i] += factor * x[i], for n padded numbers. */
  double (*dot)(const float *a, const float *b, size_t n);
  void (*add)(float *y, float factor, const float *x, size_t n);

  /* exp(-z) for the first layer's units: out[row][unit][lane] from x[row][n_inputs] and weights[unit][input,
   * bias][lane], z limited to +-CLT_EXPONENT. */
  void (*exponentials)(const float *weights, size_t n_units, size_t n_inputs, const float *x, size_t n_rows,
                       float *out);

  /* The outputs of the first n_members lanes for n rows, where row a[i] of left and row b[i] of right are the two
   * factors of exp(-z) of the first layer: their mean, and the sum of their squared deviations from it. */
  void (*members)(const clt_further_layers *further, size_t n_members, const float *left, const uint32_t *a,
                  const float *right, const uint32_t *b, size_t n, float *mean, float *squares);

  /* out[tree] = the conjunction of words[0 .. n_words)[tree], all ones if n_words is 0. */
  void (*conjunction)(const uint64_t *const *words, size_t n_words, uint64_t *out);

  /* The sum over all trees of leaves[tree][lowest bit of a[tree] & b[tree]]. */
  float (*forest)(const uint64_t *a, const uint64_t *b, const float *leaves);
} clt_kernels;

const clt_kernels *clt_kernels_best(void);
const clt_kernels *clt_kernels_at(
    size_t index); /* those that this processor can run, the slowest first; NULL: no more */

size_t clt_shape_n_weights(const clt_shape *shape);
size_t clt_gradient_scratch(const clt_shape *shape); /* bytes */
