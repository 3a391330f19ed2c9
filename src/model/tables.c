/* Predicting with tables. */
#include <math.h>
#include <stdlib.h>

#include "base/fail.h"
#include "base/memory.h"
#include "model/matrix.h"
#include "model/tables_parts.h"

#define BLOCK 256 /* rests, or configurations, worked on at once: their factors stay in the second-level cache */

/* One call's memory. */
struct scratch {
  clt_split_batch batch;
  float *encoded;       /* [n_inputs] */
  float *x;             /* [BLOCK][n_rest] */
  float *factors;       /* [group][BLOCK][unit][lane] */
  float *members;       /* [group][BLOCK][lane] */
  uint32_t left[BLOCK]; /* rows of factors, and of the table */
  uint32_t right[BLOCK];
};

static int scratch_init(struct scratch *s, const clt_tables *t, size_t n, clt_error *error) {
  size_t block = n < BLOCK ? n : BLOCK;
  int rc = clt_split_batch_init(&s->batch, n < CLT_SPLIT_BATCH ? n : CLT_SPLIT_BATCH, error);
  if (rc) return rc;
  s->encoded = clt_new_array(t->shape.n_inputs, sizeof *s->encoded);
  s->x = clt_new_array(block, (t->n_rest + 1) * sizeof *s->x);
  s->factors = clt_vector_memory(t->n_groups * block * t->shape.width[0], CLT_LANES * sizeof *s->factors);
  s->members = clt_vector_memory(t->n_groups * block, CLT_LANES * sizeof *s->members);
  return s->encoded && s->x && s->factors && s->members ? CLT_OK : clt_fail_memory(error);
}

static void scratch_release(struct scratch *s) {
  clt_split_batch_release(&s->batch);
  free(s->encoded);
  free(s->x);
  free(s->factors);
  free(s->members);
}

/* The factors of n rests from first_rest on. */
static void make_factors(const clt_tables *t, struct scratch *s, size_t first_rest, size_t n, size_t block) {
  for (size_t r = 0; r < n; r++) {
    clt_encode(t->encoding, s->batch.first[first_rest + r], s->encoded);
    for (size_t i = 0; i < t->n_rest; i++) s->x[r * t->n_rest + i] = s->encoded[t->rest_inputs[i]];
  }
  size_t units = t->shape.width[0];
  for (size_t g = 0; g < t->n_groups; g++)
    t->kernels->exponentials(t->groups[g].rest, units, t->n_rest, s->x, n, s->factors + g * block * units * CLT_LANES);
}

/* Mean and standard deviation over the members, which are spread over lanes and groups. */
static void summarise(const clt_tables *t, const float *members, size_t block, float *mean, float *spread) {
  float sum = 0, squares = 0;
  for (size_t m = 0; m < t->n_members; m++) sum += members[m / CLT_LANES * block * CLT_LANES + m % CLT_LANES];
  float centre = sum / (float)t->n_members;
  for (size_t m = 0; m < t->n_members; m++) {
    float d = members[m / CLT_LANES * block * CLT_LANES + m % CLT_LANES] - centre;
    squares += d * d;
  }
  *mean = centre;
  *spread = t->n_members > 1 ? sqrtf(squares / (float)(t->n_members - 1)) : 0;
}

/* The n configurations whose numbers stand in order, with left and right set. */
static void predict_some(const clt_tables *t, struct scratch *s, const uint32_t *order, size_t n, size_t block,
                         float *mean, float *spread) {
  size_t units = t->shape.width[0];
  for (size_t g = 0; g < t->n_groups; g++)
    t->kernels->members(&t->groups[g].pack, s->factors + g * block * units * CLT_LANES, s->left, t->groups[g].table,
                        s->right, n, s->members + g * block * CLT_LANES);
  for (size_t i = 0; i < n; i++) summarise(t, s->members + i * CLT_LANES, block, &mean[order[i]], &spread[order[i]]);
}

/* All configurations of the rests first_rest .. end_rest - 1, whose factors are there. */
static void predict_rests(const clt_tables *t, struct scratch *s, size_t first_rest, size_t end_rest, size_t block,
                          float *mean, float *spread) {
  const clt_split_batch *b = &s->batch;
  const uint32_t *order = b->order + b->start[first_rest];
  size_t n = 0;
  for (size_t r = first_rest; r < end_rest; r++) {
    for (size_t i = b->start[r]; i < b->start[r + 1]; i++) {
      s->left[n] = (uint32_t)(r - first_rest);
      s->right[n++] = b->table_row[b->order[i]];
      if (n < block) continue;
      predict_some(t, s, order, n, block, mean, spread);
      order += n;
      n = 0;
    }
  }
  predict_some(t, s, order, n, block, mean, spread);
}

static void predict_batch(const clt_tables *t, struct scratch *s, const clt_config *configs, size_t n, float *mean,
                          float *spread) {
  clt_split_batch_fill(&s->batch, &t->split, configs, n);
  size_t block = s->batch.capacity < BLOCK ? s->batch.capacity : BLOCK;
  for (size_t r = 0; r < s->batch.n_rests; r += block) {
    size_t end = r + block < s->batch.n_rests ? r + block : s->batch.n_rests;
    make_factors(t, s, r, end - r, block);
    predict_rests(t, s, r, end, block, mean, spread);
  }
}

int clt_tables_predict(const clt_tables *t, const clt_config *configs, size_t n, float *mean, float *spread,
                       clt_error *error) {
  struct scratch s = {0};
  int rc = scratch_init(&s, t, n, error);
  for (size_t done = 0; !rc && done < n; done += CLT_SPLIT_BATCH) {
    size_t here = n - done < CLT_SPLIT_BATCH ? n - done : CLT_SPLIT_BATCH;
    predict_batch(t, &s, configs + done, here, mean + done, spread + done);
  }
  scratch_release(&s);
  return rc;
}
