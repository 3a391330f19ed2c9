#include "model/tables.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/memory.h"
#include "model/matrix.h"

#define TABLE_ROWS 512    /* so that a table stays in the second-level cache */
#define TABLE_RANGE 30.0f /* how far z may lie from the middle within the table; see CLT_EXPONENT */
#define BLOCK 512         /* configurations worked on at once */
#define SLOTS (2 * BLOCK) /* of the hash from rest to row */
#define NO_ROW UINT32_MAX

/* Neighbouring parameters of the table: config / stride % size is their joint position. */
struct run {
  uint64_t stride, size;
  size_t weight; /* of the position in the table's row number */
};

struct group {
  float *rest;  /* [unit][rest input, bias][lane] */
  float *table; /* [table row][unit][lane] */
  float *second, *output;
  clt_pack pack;
};

struct clt_tables {
  const clt_encoding *encoding;
  const clt_kernels *kernels;
  clt_shape shape;
  size_t n_members, n_groups, n_rest, n_rows, n_runs;
  bool *in_table;      /* by parameter */
  size_t *rest_inputs; /* which inputs are the rest */
  struct run *runs;
  struct group *groups;
};

struct clt_tables_scratch {
  uint64_t keys[SLOTS];
  uint32_t rows[SLOTS];
  uint32_t rest_row[BLOCK], table_row[BLOCK];
  clt_config first[BLOCK]; /* a configuration for every row of the rest */
  float *encoded;          /* [n_inputs] */
  float *x;                /* [BLOCK][n_rest] */
  float *factors;          /* [BLOCK][unit][lane] */
  float *members;          /* [group][BLOCK][lane] */
};

/* --- packing --- */

struct packer {
  clt_tables *tables;
  const float *const *weights;
  float *middle; /* [group][unit][lane]: middle of the table's z */
};

static const float *unit_weights(const struct packer *p, size_t member, size_t unit) {
  return p->weights[member] + unit * (p->tables->shape.n_inputs + 1);
}

/* The part of z that a parameter's value contributes. */
static float contribution(const clt_encoded_parameter *e, size_t value, const float *weights) {
  float z = 0;
  for (size_t j = 0; j < e->width; j++) z += e->table[value * e->width + j] * weights[e->first + j];
  return z;
}

static void parameter_range(const clt_encoded_parameter *e, const float *weights, float *low, float *high) {
  *low = INFINITY;
  *high = -INFINITY;
  for (size_t v = 0; v < e->n_values; v++) {
    float z = contribution(e, v, weights);
    *low = fminf(*low, z);
    *high = fmaxf(*high, z);
  }
}

/* Middle and half range of z over the parameters in the table; false if some unit's range is too wide. */
static bool find_middles(struct packer *p) {
  const clt_tables *t = p->tables;
  size_t units = t->shape.width[0];
  for (size_t i = 0; i < t->n_members * units; i++) {
    size_t member = i / units, unit = i % units;
    float low = 0, high = 0;
    for (size_t k = 0; k < t->encoding->n_parameters; k++) {
      float a, b;
      if (!t->in_table[k]) continue;
      parameter_range(&t->encoding->parameters[k], unit_weights(p, member, unit), &a, &b);
      low += a;
      high += b;
    }
    if (!(high - low < 2 * TABLE_RANGE)) return false;
    p->middle[((member / CLT_LANES) * units + unit) * CLT_LANES + member % CLT_LANES] = (low + high) / 2;
  }
  return true;
}

/* From the last parameter to the first, as long as the table stays small and its exponentials harmless. */
static void choose_table(struct packer *p) {
  clt_tables *t = p->tables;
  const clt_encoding *e = t->encoding;
  t->n_rows = 1;
  for (size_t k = e->n_parameters; k-- > 0;) {
    size_t n = e->parameters[k].n_values;
    if (n > TABLE_ROWS / t->n_rows || clt_encoding_in_resources(e, k)) continue;
    t->in_table[k] = true;
    if (find_middles(p))
      t->n_rows *= n;
    else
      t->in_table[k] = false;
  }
  find_middles(p);
}

static void find_runs(clt_tables *t) {
  const clt_encoding *e = t->encoding;
  size_t weight = 1;
  for (size_t k = e->n_parameters; k-- > 0;) {
    if (!t->in_table[k] || e->parameters[k].n_values < 2) continue;
    uint64_t n = e->parameters[k].n_values, stride = e->parameters[k].stride;
    struct run *last = t->n_runs ? &t->runs[t->n_runs - 1] : NULL;
    if (last && stride == last->stride * last->size)
      last->size *= n;
    else
      t->runs[t->n_runs++] = (struct run){stride, n, weight};
    weight *= n;
  }
}

static void find_rest(clt_tables *t) {
  const clt_encoding *e = t->encoding;
  for (size_t k = 0; k < e->n_parameters; k++)
    for (size_t j = 0; !t->in_table[k] && j < e->parameters[k].width; j++)
      t->rest_inputs[t->n_rest++] = e->parameters[k].first + j;
  for (size_t r = 0; r < e->n_resources; r++) t->rest_inputs[t->n_rest++] = e->first_resource + r;
}

static int allocate_group(clt_tables *t, struct group *g, clt_error *error) {
  const size_t *width = t->shape.width;
  bool two = t->shape.n_layers > 2;
  size_t last = two ? width[1] : width[0];
  g->rest = clt_vector_memory(width[0] * (t->n_rest + 1), CLT_LANES * sizeof(float));
  g->table = clt_vector_memory(t->n_rows * width[0], CLT_LANES * sizeof(float));
  g->second = clt_vector_memory(two ? width[1] * (width[0] + 1) : 1, CLT_LANES * sizeof(float));
  g->output = clt_vector_memory(last + 1, CLT_LANES * sizeof(float));
  g->pack = (clt_pack){width[0], two ? width[1] : 0, g->second, g->output};
  return g->rest && g->table && g->second && g->output ? CLT_OK : clt_fail_memory(error);
}

/* One member's weights into its lane. The middle of the table goes over to the rest. */
static void pack_member(const struct packer *p, size_t member) {
  clt_tables *t = p->tables;
  size_t units = t->shape.width[0], lane = member % CLT_LANES, group = member / CLT_LANES;
  struct group *g = &t->groups[group];
  for (size_t u = 0; u < units; u++) {
    const float *w = unit_weights(p, member, u);
    float *to = g->rest + u * (t->n_rest + 1) * CLT_LANES + lane;
    for (size_t i = 0; i < t->n_rest; i++) to[i * CLT_LANES] = w[t->rest_inputs[i]];
    to[t->n_rest * CLT_LANES] = w[t->shape.n_inputs] + p->middle[(group * units + u) * CLT_LANES + lane];
  }
  const float *further = unit_weights(p, member, units);
  size_t n_second = t->shape.n_layers > 2 ? t->shape.width[1] * (units + 1) : 0;
  for (size_t i = 0; i < n_second; i++) g->second[i * CLT_LANES + lane] = *further++;
  size_t last = (n_second ? t->shape.width[1] : units) + 1;
  for (size_t i = 0; i < last; i++) g->output[i * CLT_LANES + lane] = *further++;
}

/* Weights of the table's inputs for the kernel: [unit][input, bias][lane], bias minus the middle. */
static void pack_table_weights(const struct packer *p, size_t group, const size_t *inputs, size_t n, float *out) {
  const clt_tables *t = p->tables;
  size_t units = t->shape.width[0];
  for (size_t member = group * CLT_LANES; member < t->n_members && member < (group + 1) * CLT_LANES; member++) {
    size_t lane = member % CLT_LANES;
    for (size_t u = 0; u < units; u++) {
      const float *w = unit_weights(p, member, u);
      float *to = out + u * (n + 1) * CLT_LANES + lane;
      for (size_t i = 0; i < n; i++) to[i * CLT_LANES] = w[inputs[i]];
      to[n * CLT_LANES] = -p->middle[(group * units + u) * CLT_LANES + lane];
    }
  }
}

static size_t table_inputs(const clt_tables *t, size_t *inputs) {
  size_t n = 0;
  for (size_t k = 0; k < t->encoding->n_parameters; k++)
    for (size_t j = 0; t->in_table[k] && j < t->encoding->parameters[k].width; j++)
      inputs[n++] = t->encoding->parameters[k].first + j;
  return n;
}

/* The inputs of one row of the table. */
static void table_row_inputs(const clt_tables *t, size_t row, float *x) {
  const clt_encoding *e = t->encoding;
  size_t weight = t->n_rows;
  for (size_t k = 0; k < e->n_parameters; k++) {
    const clt_encoded_parameter *p = &e->parameters[k];
    if (!t->in_table[k]) continue;
    weight /= p->n_values; /* the last parameter counts fastest, as in find_runs */
    size_t value = row / weight % p->n_values;
    for (size_t j = 0; j < p->width; j++) *x++ = p->table[value * p->width + j];
  }
}

static int fill_tables(const struct packer *p, clt_error *error) {
  clt_tables *t = p->tables;
  size_t units = t->shape.width[0], n_inputs = t->shape.n_inputs;
  size_t *inputs = clt_new_array(n_inputs, sizeof *inputs);
  float *x = clt_new_array(t->n_rows, n_inputs * sizeof *x);
  float *weights = clt_vector_memory(units * (n_inputs + 1), CLT_LANES * sizeof *weights);
  int rc = inputs && x && weights ? CLT_OK : clt_fail_memory(error);
  size_t n = rc ? 0 : table_inputs(t, inputs);
  for (size_t row = 0; !rc && row < t->n_rows; row++) table_row_inputs(t, row, x + row * n);
  for (size_t g = 0; !rc && g < t->n_groups; g++) {
    pack_table_weights(p, g, inputs, n, weights);
    t->kernels->exponentials(weights, units, n, x, t->n_rows, t->groups[g].table);
  }
  free(inputs);
  free(x);
  free(weights);
  return rc;
}

static int pack(clt_tables *t, const float *const *weights, clt_error *error) {
  struct packer p = {t, weights, NULL};
  p.middle = clt_vector_memory(t->n_groups * t->shape.width[0], CLT_LANES * sizeof *p.middle);
  int rc = p.middle ? CLT_OK : clt_fail_memory(error);
  if (rc) goto done;
  choose_table(&p);
  find_runs(t);
  find_rest(t);
  for (size_t g = 0; !rc && g < t->n_groups; g++) rc = allocate_group(t, &t->groups[g], error);
  if (rc) goto done;
  for (size_t member = 0; member < t->n_members; member++) pack_member(&p, member);
  rc = fill_tables(&p, error);
done:
  free(p.middle);
  return rc;
}

int clt_tables_new(clt_tables **out, const clt_encoding *encoding, const clt_shape *shape, const float *const *weights,
                   size_t n_members, clt_error *error) {
  clt_tables *t = clt_new_array(1, sizeof *t);
  if (t == NULL) return clt_fail_memory(error);
  t->encoding = encoding;
  t->kernels = clt_kernels_best();
  t->shape = *shape;
  t->n_members = n_members;
  t->n_groups = (n_members + CLT_LANES - 1) / CLT_LANES;
  t->in_table = clt_new_array(encoding->n_parameters, sizeof *t->in_table);
  t->rest_inputs = clt_new_array(encoding->n_inputs, sizeof *t->rest_inputs);
  t->runs = clt_new_array(encoding->n_parameters, sizeof *t->runs);
  t->groups = clt_new_array(t->n_groups, sizeof *t->groups);
  bool enough = t->in_table && t->rest_inputs && t->runs && t->groups;
  int rc = enough ? pack(t, weights, error) : clt_fail_memory(error);
  if (rc) return clt_tables_free(t), rc;
  *out = t;
  return CLT_OK;
}

void clt_tables_free(clt_tables *t) {
  if (t == NULL) return;
  for (size_t g = 0; t->groups && g < t->n_groups; g++) {
    free(t->groups[g].rest);
    free(t->groups[g].table);
    free(t->groups[g].second);
    free(t->groups[g].output);
  }
  free(t->groups);
  free(t->runs);
  free(t->rest_inputs);
  free(t->in_table);
  free(t);
}

size_t clt_tables_size(const clt_tables *tables) { return tables->n_rows; }

/* --- predicting --- */

clt_tables_scratch *clt_tables_scratch_new(const clt_tables *t) {
  clt_tables_scratch *s = clt_new_array(1, sizeof *s);
  if (s == NULL) return NULL;
  s->encoded = clt_new_array(t->shape.n_inputs, sizeof *s->encoded);
  s->x = clt_new_array(BLOCK, (t->n_rest + 1) * sizeof *s->x);
  s->factors = clt_vector_memory(BLOCK * t->shape.width[0], CLT_LANES * sizeof *s->factors);
  s->members = clt_vector_memory(t->n_groups * BLOCK, CLT_LANES * sizeof *s->members);
  if (s->encoded && s->x && s->factors && s->members) return s;
  clt_tables_scratch_free(s);
  return NULL;
}

void clt_tables_scratch_free(clt_tables_scratch *s) {
  if (s == NULL) return;
  free(s->encoded);
  free(s->x);
  free(s->factors);
  free(s->members);
  free(s);
}

/* The row of a rest (the configuration with the table's positions at 0), new ones at *n_rows. */
static uint32_t rest_row(clt_tables_scratch *s, uint64_t rest, clt_config config, uint32_t *n_rows) {
  size_t slot = (size_t)((rest * 0x9e3779b97f4a7c15u) >> 32) % SLOTS;
  while (s->rows[slot] != NO_ROW && s->keys[slot] != rest) slot = (slot + 1) % SLOTS;
  if (s->rows[slot] != NO_ROW) return s->rows[slot];
  s->keys[slot] = rest;
  s->first[*n_rows] = config;
  return s->rows[slot] = (*n_rows)++;
}

/* Splits every configuration into its rest and its row of the table. Returns the number of different rests. */
static uint32_t split(const clt_tables *t, clt_tables_scratch *s, const clt_config *configs, size_t n) {
  uint32_t n_rows = 0, row = NO_ROW;
  uint64_t previous = 0;
  memset(s->rows, 0xff, sizeof s->rows);
  for (size_t i = 0; i < n; i++) {
    uint64_t rest = configs[i];
    size_t table_row = 0;
    for (size_t k = 0; k < t->n_runs; k++) {
      const struct run *run = &t->runs[k];
      uint64_t position = configs[i] / run->stride % run->size;
      rest -= position * run->stride;
      table_row += (size_t)position * run->weight;
    }
    if (row == NO_ROW || rest != previous) row = rest_row(s, rest, configs[i], &n_rows);
    previous = rest;
    s->rest_row[i] = row;
    s->table_row[i] = (uint32_t)table_row;
  }
  return n_rows;
}

static void encode_rests(const clt_tables *t, clt_tables_scratch *s, uint32_t n_rows) {
  for (uint32_t row = 0; row < n_rows; row++) {
    clt_encode(t->encoding, s->first[row], s->encoded);
    for (size_t i = 0; i < t->n_rest; i++) s->x[row * t->n_rest + i] = s->encoded[t->rest_inputs[i]];
  }
}

/* Mean and standard deviation over the members, which are spread over lanes and groups. */
static void summarise(const clt_tables *t, const clt_tables_scratch *s, size_t i, float *mean, float *spread) {
  float sum = 0, squares = 0;
  for (size_t m = 0; m < t->n_members; m++) sum += s->members[(m / CLT_LANES * BLOCK + i) * CLT_LANES + m % CLT_LANES];
  float centre = sum / (float)t->n_members;
  for (size_t m = 0; m < t->n_members; m++) {
    float d = s->members[(m / CLT_LANES * BLOCK + i) * CLT_LANES + m % CLT_LANES] - centre;
    squares += d * d;
  }
  *mean = centre;
  *spread = t->n_members > 1 ? sqrtf(squares / (float)(t->n_members - 1)) : 0;
}

static void predict_block(const clt_tables *t, clt_tables_scratch *s, const clt_config *configs, size_t n, float *mean,
                          float *spread) {
  uint32_t n_rows = split(t, s, configs, n);
  encode_rests(t, s, n_rows);
  for (size_t g = 0; g < t->n_groups; g++) {
    const struct group *group = &t->groups[g];
    t->kernels->exponentials(group->rest, t->shape.width[0], t->n_rest, s->x, n_rows, s->factors);
    t->kernels->members(&group->pack, s->factors, s->rest_row, group->table, s->table_row, n,
                        s->members + g * BLOCK * CLT_LANES);
  }
  for (size_t i = 0; i < n; i++) summarise(t, s, i, &mean[i], &spread[i]);
}

void clt_tables_predict(const clt_tables *t, clt_tables_scratch *s, const clt_config *configs, size_t n, float *mean,
                        float *spread) {
  for (size_t done = 0; done < n; done += BLOCK) {
    size_t here = n - done < BLOCK ? n - done : BLOCK;
    predict_block(t, s, configs + done, here, mean + done, spread + done);
  }
}
