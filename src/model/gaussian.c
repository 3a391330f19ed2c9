#include "model/model.h"

#include <lapacke.h>

#include "base/base.h"
#include "space/space.h"

#define STEPS 30    /* of the ascent */
#define BLOCK 256   /* candidates predicted at once */
#define JITTER 1e-6 /* in addition to the noise, so that the covariance matrix is not singular */
#define LEAST_VARIANCE 1e-8

/* Normal densities of the logarithms: an input spans 2, and y is standardised. Lengths begin long, so that a parameter
 * counts little until results say otherwise, above all that its values differ. */
typedef struct normal {
  double centre, deviation;
} normal;
static const normal of_distance = {0, 0.5}, of_difference = {1.5, 0.7}, of_deviation = {0, 1}, of_noise = {-3, 1};

typedef struct hyperparameter {
  double value; /* logarithm */
  normal prior;
} hyperparameter;

/* What a parameter adds to the distance: a column of its encoded values, or whether its values differ. */
typedef struct distance_term {
  size_t parameter, column;
  bool differs;
} distance_term;

typedef struct process {
  const clt_encoding *encoding;
  distance_term *terms;
  size_t n_terms, n_theta, n;
  hyperparameter *theta; /* a length for each term, deviation, noise */
  double *x;             /* [row][term] */
  double *y;             /* standardised */
  double *squares;       /* of the differences: [row][earlier row or the same][term] */
  double *inverse;       /* [term], 1 / length^2 */
  double *r;             /* the rows' distances by the lengths: [row][earlier row or the same] */
  double *matrix;        /* the covariance of the rows, its Cholesky factor U or its inverse: column a, rows up to a */
  double *weights;       /* the inverse times y */
  double *gradient;
  size_t n_values; /* of all parameters */
  double *reach;   /* what each value of each parameter adds to the squared distance from each row: [row][value] */
} process;

/* --- terms --- */

static void add_term(process *p, distance_term added, normal prior) {
  p->theta[p->n_terms] = (hyperparameter){prior.centre, prior};
  p->terms[p->n_terms++] = added;
}

static void find_terms(process *p) {
  const clt_encoding *e = p->encoding;
  for (size_t i = 0; i < e->n_parameters; i++) {
    const clt_parameter *parameter = clt_space_parameter(e->space, i);
    const size_t width = e->parameters[i].width;
    const bool text = parameter->n_values && parameter->values[0].type == CLT_STRING;
    if (width == 0) continue;
    for (size_t j = 0; j < width && !text && parameter->n_values > 2; j++)
      add_term(p, (distance_term){i, j, false}, of_distance);
    add_term(p, (distance_term){i, 0, true}, text && parameter->n_values > 2 ? of_distance : of_difference);
  }
  p->n_theta = p->n_terms;
  p->theta[p->n_theta++] = (hyperparameter){of_deviation.centre, of_deviation};
  p->theta[p->n_theta++] = (hyperparameter){of_noise.centre, of_noise};
}

/* A value's input to a term: for a difference its position. */
static double input_of(const process *p, size_t j, uint32_t position) {
  const distance_term *t = &p->terms[j];
  const clt_encoded_parameter *e = &p->encoding->parameters[t->parameter];
  return t->differs ? (double)position : (double)e->table[position * e->width + t->column];
}

static void inputs_of(const process *p, clt_config config, double *out) {
  uint32_t positions[CLT_MAX_PARAMETERS];
  clt_space_positions(positions, p->encoding->space, config);
  for (size_t j = 0; j < p->n_terms; j++) out[j] = input_of(p, j, positions[p->terms[j].parameter]);
}

static void find_squares(const process *p, const double *x, const double *y, double *out) {
  for (size_t j = 0; j < p->n_terms; j++)
    out[j] = p->terms[j].differs ? (double)(x[j] != y[j]) : (x[j] - y[j]) * (x[j] - y[j]) / 4;
}

/* --- covariances --- */

static double matern(double r) { return exp(-r) * (1 + r + r * r / 3); }

static double variance_of(const process *p) { return exp(2 * p->theta[p->n_terms].value); }
static double noise_of(const process *p) { return exp(2 * p->theta[p->n_terms + 1].value) + JITTER; }

/* By theta: the lengths, the rows' distances, the factor of their covariance, and the weights. */
static bool factorise(process *p) {
  const lapack_int n = (lapack_int)p->n;
  const double *squares = p->squares, variance = variance_of(p), noise = noise_of(p);
  double *r = p->r;
  for (size_t j = 0; j < p->n_terms; j++) p->inverse[j] = exp(-2 * p->theta[j].value);
  for (size_t a = 0; a < p->n; a++) {
    for (size_t b = 0; b <= a; b++, squares += p->n_terms, r++) {
      double sum = 0;
      for (size_t j = 0; j < p->n_terms; j++) sum += p->inverse[j] * squares[j];
      *r = sqrt(5 * sum);
      p->matrix[a * p->n + b] = variance * matern(*r) + (a == b ? noise : 0);
    }
  }
  memcpy(p->weights, p->y, p->n * sizeof *p->y);
  return LAPACKE_dpotrf(LAPACK_COL_MAJOR, 'U', n, p->matrix, n) == 0 &&
         LAPACKE_dpotrs(LAPACK_COL_MAJOR, 'U', n, 1, p->matrix, n, p->weights, n) == 0;
}

/* --- hyperparameters --- */

/* Logarithm of the posterior density, up to a constant, and its gradient: half the trace of (w w' - K^-1) dK, with the
 * weights w. -INFINITY: K is singular. */
static double find_density(process *p) {
  const size_t n = p->n, m = p->n_terms;
  const double *squares = p->squares, *r = p->r, variance = variance_of(p);
  double density = 0, trace = 0;
  if (!factorise(p)) return -INFINITY;
  for (size_t a = 0; a < n; a++) density -= 0.5 * p->y[a] * p->weights[a] + log(p->matrix[a * n + a]);
  if (LAPACKE_dpotri(LAPACK_COL_MAJOR, 'U', (lapack_int)n, p->matrix, (lapack_int)n)) return -INFINITY;
  memset(p->gradient, 0, p->n_theta * sizeof *p->gradient);
  for (size_t a = 0; a < n; a++) {
    for (size_t b = 0; b <= a; b++, squares += m, r++) {
      const double factor = variance * (p->weights[a] * p->weights[b] - p->matrix[a * n + b]) * (a == b ? 0.5 : 1);
      const double slope = factor * 5 / 3 * exp(-*r) * (1 + *r);
      for (size_t j = 0; j < m; j++) p->gradient[j] += slope * p->inverse[j] * squares[j];
      p->gradient[m] += 2 * factor * matern(*r);
    }
    trace += p->weights[a] * p->weights[a] - p->matrix[a * n + a];
  }
  p->gradient[m + 1] = (noise_of(p) - JITTER) * trace;
  for (size_t i = 0; i < p->n_theta; i++) {
    const hyperparameter *h = &p->theta[i];
    const double off = (h->value - h->prior.centre) / h->prior.deviation;
    density -= 0.5 * off * off;
    p->gradient[i] -= off / h->prior.deviation;
  }
  return density;
}

/* Ascent by signs (Igel and Huesken, "Improving the Rprop learning algorithm", 2000); keeps the best. The arrays have
 * n_theta elements. */
static void ascend(process *p, double *step, double *before, double *best) {
  double densest = -INFINITY;
  for (size_t i = 0; i < p->n_theta; i++) {
    step[i] = 0.2;
    best[i] = p->theta[i].value;
  }
  for (int k = 0; k < STEPS; k++) {
    const double density = find_density(p);
    if (!(density > -INFINITY)) break;
    for (size_t i = 0; i < p->n_theta; i++) {
      const double same = p->gradient[i] * before[i];
      if (density > densest) best[i] = p->theta[i].value;
      if (same > 0) step[i] = fmin(1, 1.3 * step[i]);
      if (same < 0) step[i] = fmax(1e-3, 0.5 * step[i]);
      before[i] = same < 0 ? 0 : p->gradient[i];
      p->theta[i].value += step[i] * ((before[i] > 0) - (before[i] < 0));
    }
    densest = fmax(densest, density);
  }
  for (size_t i = 0; i < p->n_theta; i++) p->theta[i].value = best[i];
}

/* --- predictions --- */

/* So a distance is a sum over parameters, not over terms. */
static void find_reach(process *p) {
  const clt_encoding *e = p->encoding;
  memset(p->reach, 0, p->n * p->n_values * sizeof *p->reach);
  for (size_t a = 0; a < p->n; a++) {
    double *values = p->reach + a * p->n_values;
    for (size_t i = 0, j = 0; i < e->n_parameters; i++) {
      const size_t n = clt_space_parameter(e->space, i)->n_values;
      for (; j < p->n_terms && p->terms[j].parameter == i; j++) {
        for (size_t v = 0; v < n; v++) {
          const double off = input_of(p, j, (uint32_t)v) - p->x[a * p->n_terms + j];
          values[v] += p->inverse[j] * (p->terms[j].differs ? (double)(off != 0) : off * off / 4);
        }
      }
      values += n;
    }
  }
}

/* For up to BLOCK candidates, standardised. covariances: [candidate][row]. */
static void predict_block(const process *p, const clt_config *candidates, size_t n_candidates, double *covariances,
                          float *mean, float *deviation) {
  const lapack_int n = (lapack_int)p->n;
  const size_t n_parameters = p->encoding->n_parameters;
  const double variance = variance_of(p);
  for (size_t i = 0; i < n_candidates; i++) {
    uint32_t at[CLT_MAX_PARAMETERS];
    double *k = covariances + i * p->n, sum = 0;
    clt_space_positions(at, p->encoding->space, candidates[i]);
    for (size_t j = 1, first = 0; j < n_parameters; j++) {
      first += clt_space_parameter(p->encoding->space, j - 1)->n_values;
      at[j] += (uint32_t)first;
    }
    for (size_t a = 0; a < p->n; a++) {
      const double *reach = p->reach + a * p->n_values;
      double squared = 0;
      for (size_t j = 0; j < n_parameters; j++) squared += reach[at[j]];
      k[a] = variance * matern(sqrt(5 * squared));
      sum += k[a] * p->weights[a];
    }
    mean[i] = (float)sum;
  }
  LAPACKE_dtrtrs(LAPACK_COL_MAJOR, 'U', 'T', 'N', n, (lapack_int)n_candidates, p->matrix, n, covariances, n);
  for (size_t i = 0; i < n_candidates; i++) {
    double left = variance;
    for (size_t a = 0; a < p->n; a++) left -= covariances[i * p->n + a] * covariances[i * p->n + a];
    deviation[i] = (float)sqrt(fmax(left, LEAST_VARIANCE));
  }
}

int clt_gaussian_predict(const clt_encoding *encoding, const clt_config *configs, const double *y, size_t n,
                         const clt_config *candidates, size_t n_candidates, float *mean, float *deviation,
                         clt_error *error) {
  const size_t most = encoding->n_inputs + encoding->n_parameters, n_theta = most + 2;
  clt_arena memory = {0};
  size_t n_values = 0;
  for (size_t i = 0; i < encoding->n_parameters; i++) n_values += clt_space_parameter(encoding->space, i)->n_values;
  process p = {.encoding = encoding,
               .n = n,
               .n_values = n_values,
               .reach = clt_arena_array(&memory, n, n_values * sizeof *p.reach),
               .terms = clt_arena_array(&memory, most, sizeof *p.terms),
               .theta = clt_arena_array(&memory, n_theta, sizeof *p.theta),
               .x = clt_arena_array(&memory, n, most * sizeof *p.x),
               .y = clt_arena_array(&memory, n, sizeof *p.y),
               .squares = clt_arena_array(&memory, n * (n + 1) / 2, most * sizeof *p.squares),
               .inverse = clt_arena_array(&memory, most, sizeof *p.inverse),
               .r = clt_arena_array(&memory, n * (n + 1) / 2, sizeof *p.r),
               .matrix = clt_arena_array(&memory, n, n * sizeof *p.matrix),
               .weights = clt_arena_array(&memory, n, sizeof *p.weights),
               .gradient = clt_arena_array(&memory, n_theta, sizeof *p.gradient)};
  double *of_theta = clt_arena_array(&memory, n_theta, 3 * sizeof *of_theta);
  double *covariances = clt_arena_array(&memory, BLOCK, n * sizeof *covariances), *squares = p.squares;
  int rc = clt_arena_check(&memory, error);
  double sum = 0, spread = 0;
  for (size_t i = 0; i < n; i++) sum += y[i] / (double)n;
  for (size_t i = 0; i < n; i++) spread += (y[i] - sum) * (y[i] - sum) / (double)n;
  const double scale = spread > 0 ? sqrt(spread) : 1;
  if (rc == CLT_OK) find_terms(&p);
  for (size_t a = 0; rc == CLT_OK && a < n; a++) {
    p.y[a] = (y[a] - sum) / scale;
    inputs_of(&p, configs[a], p.x + a * p.n_terms);
    for (size_t b = 0; b <= a; b++, squares += p.n_terms)
      find_squares(&p, p.x + a * p.n_terms, p.x + b * p.n_terms, squares);
  }
  if (rc == CLT_OK) {
    ascend(&p, of_theta, of_theta + n_theta, of_theta + 2 * n_theta);
    factorise(&p);
    find_reach(&p);
  }
  for (size_t at = 0; rc == CLT_OK && at < n_candidates; at += BLOCK)
    predict_block(&p, candidates + at, clt_min(BLOCK, n_candidates - at), covariances, mean + at, deviation + at);
  for (size_t i = 0; rc == CLT_OK && i < n_candidates; i++) {
    mean[i] = (float)(sum + scale * (double)mean[i]);
    deviation[i] *= (float)scale;
  }
  clt_arena_release(&memory);
  return rc;
}
