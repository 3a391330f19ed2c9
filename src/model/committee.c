#include "model/committee.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/memory.h"
#include "dataset/folds.h"
#include "model/lockstep.h"
#include "model/matrix.h"
#include "model/parallel.h"
#include "model/tables.h"

#define CHUNK 32768 /* configurations predicted by a thread at once */

struct clt_committee {
  const clt_encoding *encoding;
  clt_committee_options options;
  size_t n_weights;
  float *weights; /* [weight][lane] */
  void *scratch;
  float *member_weights; /* [member][weight], as the tables want them */
  float centre, scale;   /* y = centre + scale * output */
  clt_tables *tables;
};

/* What a fit needs beside: rows padded for the lanes. */
struct rows {
  float *x, *targets, *shares;
  uint32_t *fold;
};

int clt_committee_new(clt_committee **out, const clt_encoding *encoding, const clt_committee_options *options,
                      clt_error *error) {
  clt_committee *c = clt_new_array(1, sizeof *c);
  if (c == NULL) return clt_fail_memory(error);
  c->encoding = encoding;
  c->options = *options;
  c->n_weights = clt_lockstep_n_weights(encoding->n_inputs, options->hidden);
  c->weights = clt_vector_memory(c->n_weights, CLT_LANES * sizeof *c->weights);
  c->scratch = clt_vector_memory(1, clt_lockstep_scratch(encoding->n_inputs, options->hidden));
  c->member_weights = clt_new_array(options->members, c->n_weights * sizeof *c->member_weights);
  if (c->weights == NULL || c->scratch == NULL || c->member_weights == NULL) {
    clt_committee_free(c);
    return clt_fail_memory(error);
  }
  *out = c;
  return CLT_OK;
}

void clt_committee_free(clt_committee *c) {
  if (c == NULL) return;
  clt_tables_free(c->tables);
  free(c->weights);
  free(c->scratch);
  free(c->member_weights);
  free(c);
}

/* --- fitting --- */

static void rows_release(struct rows *rows) {
  free(rows->x);
  free(rows->targets);
  free(rows->shares);
  free(rows->fold);
}

static int rows_init(struct rows *rows, size_t n, size_t n_inputs, clt_error *error) {
  size_t padded = clt_lockstep_padded(n);
  rows->x = clt_new_array(padded, n_inputs * sizeof *rows->x);
  rows->targets = clt_new_array(padded, sizeof *rows->targets);
  rows->shares = clt_vector_memory(padded, CLT_LANES * sizeof *rows->shares);
  rows->fold = clt_new_array(n, sizeof *rows->fold);
  return rows->x && rows->targets && rows->shares && rows->fold ? CLT_OK : clt_fail_memory(error);
}

static void standardise(clt_committee *c, const float *y, size_t n, float *out) {
  double sum = 0, squares = 0;
  for (size_t i = 0; i < n; i++) sum += y[i];
  double centre = sum / (double)n;
  for (size_t i = 0; i < n; i++) squares += (y[i] - centre) * (y[i] - centre);
  double scale = sqrt(squares / (double)n);
  if (!(scale > 1e-12)) scale = 1;
  for (size_t i = 0; i < n; i++) out[i] = (float)((y[i] - centre) / scale);
  c->centre = (float)centre;
  c->scale = (float)scale;
}

/* Each member's mean is over the rows it sees: all but those of its fold. */
static void share_rows(const clt_committee *c, struct rows *rows, size_t n, clt_rng *rng) {
  size_t members = c->options.members, seen[CLT_LANES];
  clt_folds(rows->fold, n, members, rng);
  for (size_t m = 0; m < members; m++) seen[m] = n;
  for (size_t i = 0; i < n && n > 1; i++) seen[rows->fold[i]]--;
  for (size_t i = 0; i < n; i++)
    for (size_t m = 0; m < members; m++)
      rows->shares[i * CLT_LANES + m] = n > 1 && rows->fold[i] == m ? 0 : 1.0f / (float)seen[m];
}

/* Uniform, with the standard deviation that keeps each unit's sum near 1 for inputs in [-1, 1]; biases 0. */
static void draw_weights(clt_committee *c, clt_rng *rng) {
  size_t n_inputs = c->encoding->n_inputs, hidden = c->options.hidden;
  float *w = c->weights;
  for (size_t u = 0; u <= hidden; u++) {
    size_t n = u < hidden ? n_inputs : hidden;
    double reach = sqrt(3.0 / (double)n);
    for (size_t i = 0; i < n * CLT_LANES; i++) *w++ = (float)(reach * (2 * clt_rng_unit(rng) - 1));
    for (size_t i = 0; i < CLT_LANES; i++) *w++ = 0;
  }
}

/* tanh(z) = 2 sigmoid(2 z) - 1; a member whose training went astray predicts the mean. */
static void member_for_tables(const clt_committee *c, size_t member, float *to) {
  size_t unit = c->encoding->n_inputs + 1, hidden = c->options.hidden, n_first = hidden * unit;
  const float *w = c->weights + member;
  bool sound = true;
  for (size_t i = 0; i < c->n_weights; i++) sound = sound && isfinite(w[i * CLT_LANES]);
  memset(to, 0, c->n_weights * sizeof *to);
  if (!sound) return;
  float bias = w[(c->n_weights - 1) * CLT_LANES];
  for (size_t i = 0; i < n_first; i++) to[i] = 2 * w[i * CLT_LANES];
  for (size_t u = 0; u < hidden; u++) {
    to[n_first + u] = 2 * w[(n_first + u) * CLT_LANES];
    bias -= w[(n_first + u) * CLT_LANES];
  }
  to[n_first + hidden] = bias;
}

static int make_tables(clt_committee *c, clt_error *error) {
  const float *member[CLT_LANES];
  clt_shape shape = {c->encoding->n_inputs, 2, {c->options.hidden, 1}};
  for (size_t m = 0; m < c->options.members; m++) {
    float *to = c->member_weights + m * c->n_weights;
    member_for_tables(c, m, to);
    member[m] = to;
  }
  clt_tables_free(c->tables);
  c->tables = NULL;
  return clt_tables_new(&c->tables, c->encoding, &shape, member, c->options.members, error);
}

int clt_committee_fit(clt_committee *c, const float *x, const float *y, size_t n, clt_rng *rng, clt_error *error) {
  struct rows rows = {0};
  size_t n_inputs = c->encoding->n_inputs;
  int rc = rows_init(&rows, n, n_inputs, error);
  if (rc) goto done;
  memcpy(rows.x, x, n * n_inputs * sizeof *x);
  standardise(c, y, n, rows.targets);
  share_rows(c, &rows, n, rng);
  draw_weights(c, rng);
  clt_lockstep_task task = {n_inputs,
                            c->options.hidden,
                            n,
                            rows.x,
                            rows.targets,
                            rows.shares,
                            (float)c->options.decay,
                            c->options.iterations};
  clt_kernels_best()->lockstep(&task, c->weights, c->scratch);
  rc = make_tables(c, error);
done:
  rows_release(&rows);
  return rc;
}

/* --- predicting --- */

struct prediction {
  const clt_committee *committee;
  const clt_config *configs;
  size_t n;
  float *mean, *spread;
};

static int predict_chunk(void *user, size_t index, clt_error *error) {
  const struct prediction *p = user;
  size_t first = index * CHUNK, n = p->n - first < CHUNK ? p->n - first : CHUNK;
  float *mean = p->mean + first, *spread = p->spread + first;
  const clt_committee *c = p->committee;
  int rc = clt_tables_predict(c->tables, p->configs + first, n, mean, spread, error);
  for (size_t i = 0; !rc && i < n; i++) {
    mean[i] = c->centre + c->scale * mean[i];
    spread[i] *= c->scale;
  }
  return rc;
}

int clt_committee_predict(const clt_committee *c, const clt_config *configs, size_t n, unsigned threads, float *mean,
                          float *spread, clt_error *error) {
  struct prediction p = {c, configs, n, mean, spread};
  return clt_parallel(threads, (n + CHUNK - 1) / CHUNK, predict_chunk, &p, error);
}
