/* Networks side by side in lanes: model/lockstep.h. Compiled once for each instruction set, as kernels.c is. */
#include "model/kernels_lockstep.h"

#include "model/kernels_vec.h"
#include "model/lockstep.h"

#define ROWS CLT_LOCKSTEP_ROWS
#define PAIRS CLT_LOCKSTEP_PAIRS
#define ARMIJO 1e-4f
#define LEAST_CURVATURE 1e-12f

/* What one vector of lanes works on; all arrays are [weight]. */
struct run {
  const clt_lockstep_task *task;
  size_t part, n_weights;
  vec *x, *gradient, *direction, *trial, *trial_gradient;
  vec *steps, *changes; /* [pair][weight]: of position and gradient */
  vec inverse[PAIRS];   /* 1 / (step * change); 0: an empty pair */
  vec scale, length, loss, slope;
};

INLINE vec choose(ivec mask, vec yes, vec no) { return (vec)((mask & (ivec)yes) | (~mask & (ivec)no)); }
INLINE vec splat(float x) { return (vec){0} + x; }

INLINE vec dot(const vec *a, const vec *b, size_t n) {
  vec even = {0}, odd = {0};
  size_t i = 0;
  for (; i + 2 <= n; i += 2) {
    even += a[i] * b[i];
    odd += a[i + 1] * b[i + 1];
  }
  return i < n ? even + odd + a[i] * b[i] : even + odd;
}

INLINE vec hyperbolic_tangent(vec z) { return 1.0f - 2.0f / (1.0f + exponential(2 * limit(z, CLT_EXPONENT / 4))); }

/* --- the gradient --- */

/* One unit's activations for the block's rows. */
INLINE void unit_activations(const vec *w, const float *x, size_t n_inputs, vec *out) {
  vec z[ROWS];
  for (int r = 0; r < ROWS; r++) z[r] = w[n_inputs];
  for (size_t i = 0; i < n_inputs; i++)
    for (int r = 0; r < ROWS; r++) z[r] += w[i] * x[(size_t)r * n_inputs + i];
  for (int r = 0; r < ROWS; r++) out[r] = hyperbolic_tangent(z[r]);
}

/* Adds the derivatives by one unit's weights; delta are those by the block's outputs. */
INLINE vec unit_gradient(vec output_weight, const float *x, size_t n_inputs, const vec *active, const vec *delta,
                         vec *gradient) {
  vec by_output = {0}, by_bias = {0}, d[ROWS];
  for (int r = 0; r < ROWS; r++) {
    by_output += delta[r] * active[r];
    d[r] = delta[r] * output_weight * (1.0f - active[r] * active[r]);
    by_bias += d[r];
  }
  for (size_t i = 0; i < n_inputs; i++) {
    vec even = gradient[i], odd = {0};
    for (int r = 0; r < ROWS; r += 2) {
      even += d[r] * x[(size_t)r * n_inputs + i];
      odd += d[r + 1] * x[(size_t)(r + 1) * n_inputs + i];
    }
    gradient[i] = even + odd;
  }
  gradient[n_inputs] += by_bias;
  return by_output;
}

/* The loss of ROWS rows from `row` on; adds their derivatives to gradient. */
static vec block_gradient(const struct run *run, size_t row, const vec *w, vec *gradient) {
  const clt_lockstep_task *t = run->task;
  size_t n = t->n_inputs, units = t->n_hidden, unit = n + 1;
  const float *x = t->x + row * n;
  const vec *output = w + units * unit, *shares = (const vec *)(const void *)t->shares + row * PARTS + run->part;
  vec active[CLT_LOCKSTEP_HIDDEN][ROWS], delta[ROWS], loss = {0};
  for (int r = 0; r < ROWS; r++) delta[r] = output[units] - t->targets[row + (size_t)r];
  for (size_t u = 0; u < units; u++) {
    unit_activations(w + u * unit, x, n, active[u]);
    for (int r = 0; r < ROWS; r++) delta[r] += output[u] * active[u][r];
  }
  for (int r = 0; r < ROWS; r++) {
    vec share = shares[(size_t)r * PARTS];
    loss += 0.5f * share * delta[r] * delta[r];
    delta[r] *= share;
    gradient[units * unit + units] += delta[r];
  }
  for (size_t u = 0; u < units; u++)
    gradient[units * unit + u] += unit_gradient(output[u], x, n, active[u], delta, gradient + u * unit);
  return loss;
}

/* Starts the gradient with the decay's derivatives and returns the decay's loss. */
static vec decay_gradient(const struct run *run, const vec *w, vec *gradient) {
  const clt_lockstep_task *t = run->task;
  vec squares = {0};
  size_t unit = t->n_inputs + 1;
  for (size_t u = 0; u <= t->n_hidden; u++, w += unit, gradient += unit) {
    size_t n = u < t->n_hidden ? t->n_inputs : t->n_hidden;
    for (size_t i = 0; i < n; i++) {
      squares += w[i] * w[i];
      gradient[i] = t->decay * w[i];
    }
    gradient[n] = (vec){0};
  }
  return 0.5f * t->decay * squares;
}

static vec loss_and_gradient(const struct run *run, const vec *w, vec *gradient) {
  vec loss = decay_gradient(run, w, gradient);
  for (size_t row = 0; row < run->task->n_rows; row += ROWS) loss += block_gradient(run, row, w, gradient);
  return loss;
}

/* --- L-BFGS --- */

/* The direction from the gradient and the pairs, the newest first and back. */
static void find_direction(struct run *run, unsigned newest, vec *out) {
  size_t n = run->n_weights;
  vec part[PAIRS];
  for (size_t i = 0; i < n; i++) out[i] = run->gradient[i];
  for (unsigned k = 0; k < PAIRS; k++) {
    unsigned pair = (newest + PAIRS - k) % PAIRS;
    const vec *step = run->steps + pair * n, *change = run->changes + pair * n;
    part[pair] = run->inverse[pair] * dot(step, out, n);
    for (size_t i = 0; i < n; i++) out[i] -= part[pair] * change[i];
  }
  for (size_t i = 0; i < n; i++) out[i] *= run->scale;
  for (unsigned k = PAIRS; k-- > 0;) {
    unsigned pair = (newest + PAIRS - k) % PAIRS;
    const vec *step = run->steps + pair * n, *change = run->changes + pair * n;
    vec rest = part[pair] - run->inverse[pair] * dot(change, out, n);
    for (size_t i = 0; i < n; i++) out[i] += rest * step[i];
  }
}

static vec inverse_norm(const vec *v, size_t n) {
  vec squares = dot(v, v, n), out;
  for (int i = 0; i < WIDTH; i++) out[i] = 1.0f / (__builtin_sqrtf(squares[i]) + 1e-20f);
  return out;
}

/* Where the new direction does not go down: the gradient's, and no memory. */
static void use_direction(struct run *run, ivec taken, const vec *candidate) {
  size_t n = run->n_weights;
  for (size_t i = 0; i < n; i++) run->direction[i] = choose(taken, -candidate[i], run->direction[i]);
  vec slope = dot(run->gradient, run->direction, n);
  ivec lost = slope > -1e-20f;
  for (size_t i = 0; i < n; i++) run->direction[i] = choose(lost, -run->gradient[i], run->direction[i]);
  for (int k = 0; k < PAIRS; k++) run->inverse[k] = choose(lost, (vec){0}, run->inverse[k]);
  run->slope = dot(run->gradient, run->direction, n);
  run->length = choose(taken, splat(1), run->length);
  run->length = choose(lost, inverse_norm(run->gradient, n), run->length);
}

/* A step that was too long is cut to the minimum of the parabola through what is known. */
static vec shortened(const struct run *run, vec trial_loss) {
  vec rise = trial_loss - run->loss - run->length * run->slope;
  vec factor = -0.5f * run->length * run->slope / (rise + 1e-30f);
  for (int i = 0; i < WIDTH; i++) factor[i] = factor[i] < 0.1f ? 0.1f : factor[i] > 0.5f ? 0.5f : factor[i];
  return run->length * factor;
}

/* Keeps the trial where it is good enough; its pair goes to `pair`. Returns where. */
static ivec take_trial(struct run *run, unsigned pair, vec trial_loss) {
  size_t n = run->n_weights;
  vec *step = run->steps + pair * n, *change = run->changes + pair * n;
  ivec taken = trial_loss <= run->loss + ARMIJO * run->length * run->slope;
  for (size_t i = 0; i < n; i++) {
    step[i] = choose(taken, run->trial[i] - run->x[i], (vec){0});
    change[i] = choose(taken, run->trial_gradient[i] - run->gradient[i], (vec){0});
    run->x[i] = choose(taken, run->trial[i], run->x[i]);
    run->gradient[i] = choose(taken, run->trial_gradient[i], run->gradient[i]);
  }
  vec curvature = dot(step, change, n), squares = dot(change, change, n);
  ivec curved = curvature > LEAST_CURVATURE;
  run->inverse[pair] = choose(curved, 1.0f / choose(curved, curvature, splat(1)), (vec){0});
  run->scale = choose(curved, curvature / choose(curved, squares, splat(1)), run->scale);
  run->length = choose(taken, run->length, shortened(run, trial_loss));
  run->loss = choose(taken, trial_loss, run->loss);
  return taken;
}

static void minimise(struct run *run) {
  size_t n = run->n_weights;
  run->loss = loss_and_gradient(run, run->x, run->gradient);
  run->scale = splat(1);
  for (size_t i = 0; i < n; i++) run->direction[i] = -run->gradient[i];
  for (int k = 0; k < PAIRS; k++) run->inverse[k] = (vec){0};
  run->slope = -dot(run->gradient, run->gradient, n);
  run->length = inverse_norm(run->gradient, n);
  for (unsigned k = 0; k < run->task->iterations; k++) {
    for (size_t i = 0; i < n; i++) run->trial[i] = run->x[i] + run->length * run->direction[i];
    vec trial_loss = loss_and_gradient(run, run->trial, run->trial_gradient);
    ivec taken = take_trial(run, k % PAIRS, trial_loss);
    find_direction(run, k % PAIRS, run->trial_gradient); /* which is free again */
    use_direction(run, taken, run->trial_gradient);
  }
}

void CLT_LOCKSTEP(const clt_lockstep_task *task, float *weights, void *scratch) {
  size_t n = clt_lockstep_n_weights(task->n_inputs, task->n_hidden);
  vec *next = scratch, *w = (vec *)(void *)weights;
  for (size_t part = 0; part < PARTS; part++) {
    struct run run = {.task = task,
                      .part = part,
                      .n_weights = n,
                      .x = next,
                      .gradient = next + n,
                      .direction = next + 2 * n,
                      .trial = next + 3 * n,
                      .trial_gradient = next + 4 * n,
                      .steps = next + 5 * n,
                      .changes = next + (5 + PAIRS) * n};
    for (size_t i = 0; i < n; i++) run.x[i] = w[i * PARTS + part];
    for (size_t i = 0; i < 2 * PAIRS * n; i++) run.steps[i] = (vec){0};
    minimise(&run);
    for (size_t i = 0; i < n; i++) w[i * PARTS + part] = run.x[i];
  }
}
