/* model/lockstep.h - small networks trained side by side, one in each lane of a vector.
 *
 * A sequential search refits its ensemble after every few measurements: tiny problems (20 to 200 rows), thousands of
 * times. A general optimiser spends most of that time on its own book-keeping, network by network. Here up to CLT_LANES
 * networks with one hidden layer of tanh units and a linear output take every step together: same rows, each lane with
 * its own weights, its own share of every row (0 where it leaves the row out) and its own length of step.
 *
 * The method is full-batch L-BFGS (Liu and Nocedal, "On the limited memory BFGS method for large scale optimization",
 * 1989). So that no lane waits for another's line search, each iteration takes exactly one gradient in all lanes: a
 * lane whose step does not satisfy Armijo's condition stays where it was, shortens its step, and keeps an empty pair.
 */
#ifndef CLT_MODEL_LOCKSTEP_H
#define CLT_MODEL_LOCKSTEP_H

#include <stddef.h>

#include "model/kernels.h"

#define CLT_LOCKSTEP_ROWS 8    /* rows worked on at once */
#define CLT_LOCKSTEP_HIDDEN 64 /* most hidden units */
#define CLT_LOCKSTEP_PAIRS 8   /* L-BFGS's memory */

/* Minimises, in every lane, sum over rows of share/2 * (output - target)^2 + decay/2 * (sum of squared weights, biases
 * left out). Rows beyond n_rows up to a multiple of CLT_LOCKSTEP_ROWS are there, with share 0. */
typedef struct clt_lockstep_task {
  size_t n_inputs, n_hidden, n_rows;
  const float *x;       /* [row][input] */
  const float *targets; /* [row] */
  const float *shares;  /* [row][lane] */
  float decay;
  unsigned iterations;
} clt_lockstep_task;

/* Weights are [unit][input, then bias][lane], the output unit last: FANN's order, with lanes. */
static inline size_t clt_lockstep_n_weights(size_t n_inputs, size_t n_hidden) {
  return n_hidden * (n_inputs + 1) + n_hidden + 1;
}

/* Bytes of scratch memory, aligned to a vector. */
size_t clt_lockstep_scratch(size_t n_inputs, size_t n_hidden);

/* Rows rounded up to what a task must have. */
static inline size_t clt_lockstep_padded(size_t n_rows) {
  return (n_rows + CLT_LOCKSTEP_ROWS - 1) / CLT_LOCKSTEP_ROWS * CLT_LOCKSTEP_ROWS;
}

#endif
