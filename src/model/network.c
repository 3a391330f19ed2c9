/* How networks are trained: L-BFGS with all rows at once, or FANN's RPROP, and when it stops early. */
#include "model/network.h"

#include <fann.h>
#include <pthread.h>

#include "base/base.h"

/* --- rows --- */

int clt_matrix_init(clt_matrix *out, clt_arena *memory, const float *x, size_t n_inputs, const float *y,
                    const size_t *chosen, size_t n_chosen, clt_error *error) {
  *out = (clt_matrix){n_chosen, n_inputs, (n_chosen + CLT_BLOCK_ROWS - 1) / CLT_BLOCK_ROWS};
  out->inputs = clt_arena_array(memory, out->n_blocks, n_inputs * CLT_BLOCK_ROWS * sizeof(float));
  out->targets = clt_arena_array(memory, out->n_blocks, CLT_BLOCK_ROWS * sizeof(float));
  out->presence = clt_arena_array(memory, out->n_blocks, CLT_BLOCK_ROWS * sizeof(float));
  if (memory->failed) return clt_fail_memory(error);
  for (size_t i = 0; i < n_chosen; i++) {
    const float *row = x + chosen[i] * n_inputs;
    float *to = out->inputs + i / CLT_BLOCK_ROWS * n_inputs * CLT_BLOCK_ROWS + i % CLT_BLOCK_ROWS;
    for (size_t k = 0; k < n_inputs; k++) to[k * CLT_BLOCK_ROWS] = row[k];
    out->targets[i] = y[chosen[i]];
    out->presence[i] = 1;
  }
  return CLT_OK;
}

/* --- stopping --- */

#define FEW_ROWS 6 /* with fewer rows left out there is no early stopping: the last weights are taken */

enum { HALF_A, HALF_B, BOTH_HALVES, N_STOPS };

/* The best weights along the way, by the error on the rows left out; row i belongs to half i % 2. */
struct stopping {
  const clt_training *training;
  clt_matrix rows;
  float *outputs;
  void *scratch;
  float *weights[N_STOPS];
  double loss[N_STOPS];
  long best_step[N_STOPS];
};

/* Compares the weights after a step. False: no improvement for `patience` steps. Steps must ascend. */
static bool look_at_weights(struct stopping *s, const float *weights, long step) {
  const clt_shape *shape = s->training->shape;
  bool few = s->rows.n_rows < FEW_ROWS, hope = few;
  double loss[N_STOPS] = {0};
  if (!few) clt_kernels_best()->outputs(shape, weights, &s->rows, s->scratch, s->outputs);
  for (size_t i = 0; !few && i < s->rows.n_rows; i++) {
    double error = s->outputs[i] - s->rows.targets[i];
    loss[i % 2] += error * error;
  }
  loss[BOTH_HALVES] = loss[HALF_A] + loss[HALF_B];
  for (int i = 0; i < N_STOPS; i++) {
    if (few || loss[i] < s->loss[i]) {
      s->loss[i] = loss[i];
      s->best_step[i] = step;
      memcpy(s->weights[i], weights, clt_shape_n_weights(shape) * sizeof *weights);
    }
    hope = hope || step - s->best_step[i] < s->training->patience;
  }
  return hope;
}

/* --- L-BFGS (Liu and Nocedal, "On the limited memory BFGS method for large scale optimization", 1989) ---
 *
 * In single precision, with one gradient per iteration: a step is taken if the loss falls enough (Armijo's condition),
 * and otherwise shortened. A library's line search and book-keeping in double precision take longer than the gradients
 * of the small networks that a search refits after each measurement, and make large ones no better. */

#define PAIRS 10    /* steps that the curvature is known of: the ensemble errs 3 % more with 8, hardly less with 20 */
#define ARMIJO 1e-4 /* of the decrease that the slope promises */
#define LEAST_CURVATURE 1e-12 /* of a pair; rounding errors below */
#define CONVERGED 1e-7        /* length of the gradient, relative to that of the weights */
#define MOST_SHORTENINGS 20   /* one after another: single precision allows no further step */
#define LOOK_EVERY 5          /* iterations */

/* All arrays are padded to whole vectors. */
struct lbfgs {
  const clt_kernels *kernels;
  size_t n;
  float *x, *gradient, *direction, *trial, *trial_gradient;
  float *steps[PAIRS], *changes[PAIRS]; /* of position and gradient */
  double inverse[PAIRS];                /* 1 / (step * change) */
  size_t n_pairs, newest;
  double scale; /* of the first guess of the inverse Hessian */
};

/* direction = - (inverse Hessian) * gradient, by the pairs, the newest first and back. */
static void find_direction(struct lbfgs *s) {
  const clt_kernels *k = s->kernels;
  double part[PAIRS];
  memcpy(s->direction, s->gradient, s->n * sizeof *s->direction);
  for (size_t i = 0; i < s->n_pairs; i++) {
    size_t pair = (s->newest + PAIRS - i) % PAIRS;
    part[pair] = s->inverse[pair] * k->dot(s->steps[pair], s->direction, s->n);
    k->add(s->direction, (float)-part[pair], s->changes[pair], s->n);
  }
  k->add(s->direction, (float)(-1 - s->scale), s->direction, s->n); /* times - scale */
  for (size_t i = s->n_pairs; i-- > 0;) {
    size_t pair = (s->newest + PAIRS - i) % PAIRS;
    double rest = -part[pair] - s->inverse[pair] * k->dot(s->changes[pair], s->direction, s->n);
    k->add(s->direction, (float)rest, s->steps[pair], s->n);
  }
}

/* Keeps the pair of the latest step if the loss is curved along it. */
static void keep_pair(struct lbfgs *s) {
  const clt_kernels *k = s->kernels;
  size_t pair = (s->newest + 1) % PAIRS;
  memcpy(s->steps[pair], s->trial, s->n * sizeof *s->trial);
  memcpy(s->changes[pair], s->trial_gradient, s->n * sizeof *s->trial);
  k->add(s->steps[pair], -1, s->x, s->n);
  k->add(s->changes[pair], -1, s->gradient, s->n);
  double curvature = k->dot(s->steps[pair], s->changes[pair], s->n);
  if (!(curvature > LEAST_CURVATURE)) return;
  s->inverse[pair] = 1 / curvature;
  s->scale = curvature / k->dot(s->changes[pair], s->changes[pair], s->n);
  s->newest = pair;
  if (s->n_pairs < PAIRS) s->n_pairs++;
}

/* stopping NULL: nothing ends early. */
static void minimise(struct lbfgs *s, const clt_training *t, const clt_matrix *rows, void *scratch,
                     struct stopping *stopping) {
  const clt_kernels *k = s->kernels;
  float decay = (float)t->decay;
  double loss = k->gradient(t->shape, s->x, rows, decay, scratch, s->gradient), length = 0, slope = 0;
  bool fresh = true; /* the direction must be found */
  int n_shortened = 0;
  for (long i = 1; i <= t->iterations;) { /* steps taken */
    if (fresh) {
      double squares = k->dot(s->gradient, s->gradient, s->n);
      if (!(squares > CONVERGED * CONVERGED * fmax(1, k->dot(s->x, s->x, s->n)))) return;
      if (s->n_pairs) find_direction(s);
      slope = s->n_pairs ? k->dot(s->gradient, s->direction, s->n) : 0;
      length = 1;
      if (!(slope < 0)) { /* no pairs, or useless ones: straight down */
        s->n_pairs = 0;
        memset(s->direction, 0, s->n * sizeof *s->direction);
        k->add(s->direction, -1, s->gradient, s->n);
        slope = -squares;
        length = 1 / sqrt(squares);
      }
      n_shortened = 0;
    }
    memcpy(s->trial, s->x, s->n * sizeof *s->trial);
    k->add(s->trial, (float)length, s->direction, s->n);
    double trial_loss = k->gradient(t->shape, s->trial, rows, decay, scratch, s->trial_gradient);
    fresh = trial_loss <= loss + ARMIJO * length * slope;
    if (!fresh) { /* to the minimum of the parabola through the known points */
      double factor = -0.5 * length * slope / (trial_loss - loss - length * slope);
      length *= factor > 0.1 ? fmin(factor, 0.5) : 0.1;
      if (++n_shortened == MOST_SHORTENINGS) return;
      continue;
    }
    keep_pair(s);
    memcpy(s->x, s->trial, s->n * sizeof *s->x);
    memcpy(s->gradient, s->trial_gradient, s->n * sizeof *s->gradient);
    loss = trial_loss;
    if (stopping && i % LOOK_EVERY == 0 && !look_at_weights(stopping, s->x, i)) return;
    i++;
  }
}

static int train_lbfgs(const clt_training *t, struct stopping *stopping, float *weights, clt_error *error) {
  const size_t n = clt_shape_n_weights(t->shape);
  struct lbfgs s = {.kernels = clt_kernels_best(), .n = n};
  clt_matrix rows;
  clt_arena memory = {0};
  float **parts[] = {&s.x, &s.gradient, &s.direction, &s.trial, &s.trial_gradient};
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) *parts[i] = clt_arena_array(&memory, n, sizeof(float));
  for (size_t i = 0; i < PAIRS; i++) s.steps[i] = clt_arena_array(&memory, n, sizeof(float));
  for (size_t i = 0; i < PAIRS; i++) s.changes[i] = clt_arena_array(&memory, n, sizeof(float));
  void *scratch = clt_arena_array(&memory, 1, clt_gradient_scratch(t->shape));
  int rc = clt_matrix_init(&rows, &memory, t->x, t->shape->n_inputs, t->y, t->rows, t->n_rows, error);
  if (rc == CLT_OK) {
    memcpy(s.x, weights, n * sizeof *weights);
    minimise(&s, t, &rows, scratch, stopping);
    memcpy(weights, s.x, n * sizeof *weights);
  }
  clt_arena_release(&memory);
  return rc;
}

/* --- FANN --- */

/* fann_create_standard_array seeds and draws from rand(). Its state is swapped out meanwhile, so that the application's
 * random numbers stay as they would have been; the lock keeps two swaps from crossing. */
int clt_fann_new(struct fann **out, const clt_shape *shape, const float *weights, clt_error *error) {
  static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  unsigned layers[CLT_MAX_LAYERS + 1] = {(unsigned)shape->n_inputs};
  for (size_t i = 0; i < shape->n_layers; i++) layers[i + 1] = (unsigned)shape->width[i];
  char ours[64];
  pthread_mutex_lock(&lock);
  char *theirs = initstate(1, ours, sizeof ours);
  fann_set_error_log(NULL, NULL);
  struct fann *fann = fann_create_standard_array((unsigned)shape->n_layers + 1, layers);
  if (theirs) setstate(theirs);
  pthread_mutex_unlock(&lock);
  if (fann == NULL) return clt_fail_memory(error);
  fann_set_error_log((struct fann_error *)fann, NULL);
  fann_set_activation_function_hidden(fann, FANN_SIGMOID);
  fann_set_activation_steepness_hidden(fann, 0.5f); /* FANN's sigmoid is 1 / (1 + exp(-2 * steepness * sum)) */
  fann_set_activation_function_output(fann, FANN_LINEAR);
  fann_set_activation_steepness_output(fann, 1);
  fann_set_train_error_function(fann, FANN_ERRORFUNC_LINEAR);
  fann_set_training_algorithm(fann, FANN_TRAIN_RPROP);
  size_t n = clt_shape_n_weights(shape);
  if (fann_get_total_connections(fann) != n) {
    fann_destroy(fann);
    return clt_fail(error, CLT_E_MODEL, "this version of FANN connects layers in an unknown way");
  }
  /* fann_set_weight_array goes through the connections in this same order, but looks each of them up by a search. */
  memcpy(fann->weights, weights, n * sizeof *weights);
  *out = fann;
  return CLT_OK;
}

#define LOOK_EVERY_EPOCHS 10

/* iRPROP- (Igel and Huesken, "Improving the Rprop learning algorithm", 2000) */
static int train_rprop(const clt_training *t, struct stopping *stopping, float *weights, clt_error *error) {
  size_t n_inputs = t->shape->n_inputs, n_bytes = clt_shape_n_weights(t->shape) * sizeof *weights;
  struct fann *fann = NULL;
  struct fann_train_data *data = fann_create_train((unsigned)t->n_rows, (unsigned)n_inputs, 1);
  int rc = data ? clt_fann_new(&fann, t->shape, weights, error) : clt_fail_memory(error);
  for (size_t i = 0; rc == CLT_OK && i < t->n_rows; i++) {
    memcpy(data->input[i], t->x + t->rows[i] * n_inputs, n_inputs * sizeof *t->x);
    data->output[i][0] = t->y[t->rows[i]];
  }
  bool hope = true;
  for (long epoch = 1; rc == CLT_OK && hope && epoch <= t->iterations; epoch++) {
    fann_train_epoch(fann, data);
    if (stopping && epoch % LOOK_EVERY_EPOCHS == 0) hope = look_at_weights(stopping, fann->weights, epoch);
  }
  if (rc == CLT_OK) memcpy(weights, fann->weights, n_bytes);
  if (data) fann_destroy_train(data);
  if (fann) fann_destroy(fann);
  return rc;
}

/* --- either --- */

int clt_train(const clt_training *t, float *weights, float *outputs, clt_error *error) {
  int (*train)(const clt_training *, struct stopping *, float *, clt_error *) = t->rprop ? train_rprop : train_lbfgs;
  if (outputs == NULL) return train(t, NULL, weights, error);
  struct stopping s = {.training = t};
  clt_arena memory = {0};
  size_t n_weights = clt_shape_n_weights(t->shape);
  int rc = clt_matrix_init(&s.rows, &memory, t->x, t->shape->n_inputs, t->y, t->rows + t->n_rows, t->n_left_out, error);
  s.outputs = clt_arena_array(&memory, s.rows.n_blocks, CLT_BLOCK_ROWS * sizeof *s.outputs);
  s.scratch = clt_arena_array(&memory, 1, clt_gradient_scratch(t->shape));
  for (int i = 0; i < N_STOPS; i++) {
    s.loss[i] = INFINITY;
    s.weights[i] = clt_arena_array(&memory, n_weights, sizeof(float));
  }
  if (rc == CLT_OK) rc = clt_arena_check(&memory, error);
  if (rc == CLT_OK) rc = train(t, &s, weights, error);
  if (rc == CLT_OK) look_at_weights(&s, weights, t->iterations + 1);
  for (size_t half = 0; rc == CLT_OK && half < 2; half++) {
    clt_kernels_best()->outputs(t->shape, s.weights[half ? HALF_A : HALF_B], &s.rows, s.scratch, s.outputs);
    for (size_t i = half; i < t->n_left_out; i += 2) outputs[i] = s.outputs[i];
  }
  if (rc == CLT_OK) memcpy(weights, s.weights[BOTH_HALVES], n_weights * sizeof *weights);
  clt_arena_release(&memory);
  return rc;
}
