/* From FANN's order of weights to tables. */
#include <math.h>
#include <stdlib.h>

#include "base/fail.h"
#include "base/memory.h"
#include "model/matrix.h"
#include "model/tables_parts.h"

#define TABLE_RANGE 30.0f /* how far z may lie from the middle within the table; see CLT_EXPONENT */

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
static bool find_middles(void *user, const clt_split *split) {
  struct packer *p = user;
  const clt_tables *t = p->tables;
  size_t units = t->shape.width[0];
  for (size_t i = 0; i < t->n_members * units; i++) {
    size_t member = i / units, unit = i % units;
    float low = 0, high = 0;
    for (size_t k = 0; k < t->encoding->n_parameters; k++) {
      float a, b;
      if (!split->in_table[k]) continue;
      parameter_range(&t->encoding->parameters[k], unit_weights(p, member, unit), &a, &b);
      low += a;
      high += b;
    }
    if (!(high - low < 2 * TABLE_RANGE)) return false;
    p->middle[((member / CLT_LANES) * units + unit) * CLT_LANES + member % CLT_LANES] = (low + high) / 2;
  }
  return true;
}

static void find_rest(clt_tables *t) {
  const clt_encoding *e = t->encoding;
  for (size_t k = 0; k < e->n_parameters; k++)
    for (size_t j = 0; !t->split.in_table[k] && j < e->parameters[k].width; j++)
      t->rest_inputs[t->n_rest++] = e->parameters[k].first + j;
  for (size_t r = 0; r < e->n_resources; r++) t->rest_inputs[t->n_rest++] = e->first_resource + r;
}

static int allocate_group(clt_tables *t, clt_tables_group *g, clt_error *error) {
  const size_t *width = t->shape.width;
  bool two = t->shape.n_layers > 2;
  size_t last = two ? width[1] : width[0];
  g->rest = clt_vector_memory(width[0] * (t->n_rest + 1), CLT_LANES * sizeof(float));
  g->table = clt_vector_memory(t->split.n_rows * width[0], CLT_LANES * sizeof(float));
  g->second = clt_vector_memory(two ? width[1] * (width[0] + 1) : 1, CLT_LANES * sizeof(float));
  g->output = clt_vector_memory(last + 1, CLT_LANES * sizeof(float));
  g->pack = (clt_pack){width[0], two ? width[1] : 0, g->second, g->output};
  return g->rest && g->table && g->second && g->output ? CLT_OK : clt_fail_memory(error);
}

/* One member's weights into its lane. The middle of the table goes over to the rest. */
static void pack_member(const struct packer *p, size_t member) {
  clt_tables *t = p->tables;
  size_t units = t->shape.width[0], lane = member % CLT_LANES, group = member / CLT_LANES;
  clt_tables_group *g = &t->groups[group];
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
    for (size_t j = 0; t->split.in_table[k] && j < t->encoding->parameters[k].width; j++)
      inputs[n++] = t->encoding->parameters[k].first + j;
  return n;
}

/* The inputs of one row of the table. */
static void table_row_inputs(const clt_tables *t, size_t row, float *x) {
  const clt_encoding *e = t->encoding;
  for (size_t k = 0; k < e->n_parameters; k++) {
    const clt_encoded_parameter *p = &e->parameters[k];
    if (!t->split.in_table[k]) continue;
    size_t value = clt_split_position(&t->split, row, k);
    for (size_t j = 0; j < p->width; j++) *x++ = p->table[value * p->width + j];
  }
}

static int fill_tables(const struct packer *p, clt_error *error) {
  clt_tables *t = p->tables;
  size_t units = t->shape.width[0], n_inputs = t->shape.n_inputs;
  size_t *inputs = clt_new_array(n_inputs, sizeof *inputs);
  float *x = clt_new_array(t->split.n_rows, n_inputs * sizeof *x);
  float *weights = clt_vector_memory(units * (n_inputs + 1), CLT_LANES * sizeof *weights);
  int rc = inputs && x && weights ? CLT_OK : clt_fail_memory(error);
  size_t n = rc ? 0 : table_inputs(t, inputs);
  for (size_t row = 0; !rc && row < t->split.n_rows; row++) table_row_inputs(t, row, x + row * n);
  for (size_t g = 0; !rc && g < t->n_groups; g++) {
    pack_table_weights(p, g, inputs, n, weights);
    t->kernels->exponentials(weights, units, n, x, t->split.n_rows, t->groups[g].table);
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
  if (!rc) rc = clt_split_init(&t->split, t->encoding, CLT_TABLE_ROWS, find_middles, &p, error);
  if (rc) goto done;
  find_middles(&p, &t->split);
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
  t->rest_inputs = clt_new_array(encoding->n_inputs, sizeof *t->rest_inputs);
  t->groups = clt_new_array(t->n_groups, sizeof *t->groups);
  int rc = t->rest_inputs && t->groups ? pack(t, weights, error) : clt_fail_memory(error);
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
  free(t->rest_inputs);
  free(t);
}

size_t clt_tables_size(const clt_tables *tables) { return tables->split.n_rows; }
