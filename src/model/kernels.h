/* model/kernels.h - the inner loops of training and of the sweep, compiled once for each instruction set.
 *
 * kernels.c is compiled several times, with -ffast-math for that file alone; clt_kernels_best picks what the processor
 * has. All results are independent of how many rows or configurations a call gets and of where they stand in it. */
#ifndef CLT_MODEL_KERNELS_H
#define CLT_MODEL_KERNELS_H

#include <stddef.h>
#include <stdint.h>

#define CLT_LANES 16       /* numbers worked on at once; a processor with narrower vectors takes several steps */
#define CLT_BLOCK_ROWS 64  /* rows of a block in a training matrix */
#define CLT_MAX_LAYERS 3   /* two hidden ones and the output */
#define CLT_MAX_HIDDEN 256 /* units of a hidden layer */
#define CLT_TREES 64       /* of the validity model */
#define CLT_TREE_LEAVES 64 /* so that a set of leaves is one word */

/* Layers of units after the inputs; the last one is linear, the others sigmoid. Weights stand as in FANN: for every
 * unit of a layer in turn its inputs' weights, then its bias. */
typedef struct clt_shape {
  size_t n_inputs, n_layers;
  size_t width[CLT_MAX_LAYERS];
} clt_shape;

/* Rows in blocks of CLT_BLOCK_ROWS: inputs[block][input][row], targets and presence (1, or 0 for padding) [block][row].
 * Aligned to a vector. */
typedef struct clt_matrix {
  size_t n_rows, n_inputs, n_blocks;
  float *inputs, *targets, *presence;
} clt_matrix;

/* Members side by side in lanes, one group of up to CLT_LANES members: weights[unit][input][lane] with the bias last.
 * Used for the first layer, split between two sets of inputs; then second layer (n_second may be 0), then output. */
typedef struct clt_pack {
  size_t n_first, n_second;
  const float *second; /* [n_second][n_first + 1][lane] */
  const float *output; /* [n_second or n_first, + 1][lane] */
} clt_pack;

struct clt_lockstep_task; /* model/lockstep.h */

typedef struct clt_kernels {
  const char *name;

  /* Half the sum of squared errors over all rows; its derivatives with respect to the weights go to gradient. scratch
   * has clt_gradient_scratch(shape) bytes, aligned to a vector. */
  double (*gradient)(const clt_shape *shape, const float *weights, const clt_matrix *rows, void *scratch,
                     double *gradient);

  /* The network's outputs, [block][row]. */
  void (*outputs)(const clt_shape *shape, const float *weights, const clt_matrix *rows, void *scratch, float *out);

  /* exp(-z) for the first layer's units: out[row][unit][lane] from x[row][n_inputs], z limited to +-CLT_EXPONENT. */
  void (*exponentials)(const float *weights, size_t n_units, size_t n_inputs, const float *x, size_t n_rows,
                       float *out);

  /* out[i][lane], i < n: the members' outputs where row a[i] of left and row b[i] of right are the two factors of
   * exp(-z) of the first layer. */
  void (*members)(const clt_pack *pack, const float *left, const uint32_t *a, const float *right, const uint32_t *b,
                  size_t n, float *out);

  /* Mean and standard deviation of the first n_members lanes' outputs for n rows, a hidden layer of sigmoid units:
   * output[n_units, then bias][lane]; row a[i] of left and row b[i] of right are the two factors of exp(-z). */
  void (*committee)(const float *output, size_t n_units, size_t n_members, const float *left, const uint32_t *a,
                    const float *right, const uint32_t *b, size_t n, float *mean, float *spread);

  /* out[tree] = the conjunction of words[0 .. n_words)[tree], all ones for n_words = 0. */
  void (*conjunction)(const uint64_t *const *words, size_t n_words, uint64_t *out);

  /* Trains the task's networks from weights on. scratch has clt_lockstep_scratch bytes; both aligned to a vector. */
  void (*lockstep)(const struct clt_lockstep_task *task, float *weights, void *scratch);

  /* The sum over all trees of leaves[tree][lowest bit of a[tree] & b[tree]]. */
  float (*forest)(const uint64_t *a, const uint64_t *b, const float *leaves);
} clt_kernels;

#define CLT_EXPONENT 50.0f /* the factors' product stays far from overflow and from denormal numbers */

const clt_kernels *clt_kernels_best(void);
const clt_kernels *clt_kernels_at(
    size_t index); /* those that this processor can run, the plainest first; NULL: no more */

size_t clt_shape_n_weights(const clt_shape *shape);
size_t clt_gradient_scratch(const clt_shape *shape); /* bytes */

#endif
