#include "base/base.h"
#include "base/hash.h"
#include "model/network.h"
#include "space/space.h"

#define LOOKED_AT 4096    /* consecutive ranks from which the fastest parameters are found */
#define FEWEST_ROWS 16    /* of the tables that clt_split_choose tries, */
#define MOST_ROWS 256     /* which stay in the second-level cache with the rests' factors; */
#define TABLE_RANGE 30.0f /* how far z may lie from the middle within the table; see CLT_EXPONENT */
#define BLOCK 64          /* rests whose factors are worked on at once: they stay in the second-level cache */

/* --- the content of the table --- */

/* The smallest and largest part of z that the parameters in the table contribute to a unit with these weights. */
static void find_table_range(const clt_split *split, const float *weights, float *low, float *high) {
  const clt_encoding *e = split->encoding;
  *low = *high = 0;
  for (size_t k = 0; k < e->n_parameters; k++) {
    const clt_encoded_parameter *p = &e->parameters[k];
    float least = INFINITY, most = -INFINITY;
    if (!split->in_table[k]) continue;
    for (size_t v = 0; v < p->n_values; v++) {
      float z = 0;
      for (size_t j = 0; j < p->width; j++) z += p->table[v * p->width + j] * weights[p->first + j];
      least = fminf(least, z);
      most = fmaxf(most, z);
    }
    *low += least;
    *high += most;
  }
}

int clt_split_init(clt_split *split, const clt_encoding *e, size_t max_rows, const clt_shape *shape,
                   const float *weights, size_t n_members, clt_error *error) {
  *split = (clt_split){.encoding = e, .n_rows = 1};
  size_t n_weights = n_members ? clt_shape_n_weights(shape) : 0;
  /* How often each parameter changes from one rank to the next, in the middle of the space. */
  size_t changes[CLT_MAX_PARAMETERS] = {0};
  clt_arena scratch = {0};
  clt_config *configs = clt_arena_array(&scratch, LOOKED_AT, sizeof *configs);
  if (configs == NULL) return clt_fail_memory(error);
  uint64_t valid = clt_space_valid(e->space), first = valid > LOOKED_AT ? (valid - LOOKED_AT) / 2 : 0;
  const bool ranked = clt_space_is_ranked(e->space); /* its numbers do not show the positions: the table stays empty */
  size_t n = ranked ? 0 : clt_space_enumerate(e->space, first, LOOKED_AT, configs);
  uint32_t positions[2][CLT_MAX_PARAMETERS];
  for (size_t i = 0; i < n; i++) {
    clt_space_positions(positions[i % 2], e->space, configs[i]);
    for (size_t k = 0; i > 0 && k < e->n_parameters; k++) changes[k] += positions[0][k] != positions[1][k];
  }
  clt_arena_release(&scratch);
  if (ranked) max_rows = 1;
  bool considered[CLT_MAX_PARAMETERS] = {false};
  for (size_t i = 0; i < e->n_parameters; i++) {
    size_t k = e->n_parameters; /* the fastest that is left, the last of equals */
    for (size_t j = 0; j < e->n_parameters; j++)
      if (!considered[j] && (k == e->n_parameters || changes[j] >= changes[k])) k = j;
    considered[k] = true;
    size_t n_values = e->parameters[k].n_values;
    if (n_values > max_rows / split->n_rows || clt_encoding_in_resources(e, k)) continue;
    bool in_range = split->in_table[k] = true; /* every unit's z, with this parameter in the table as well */
    for (size_t m = 0; in_range && m < n_members; m++) {
      for (size_t u = 0; in_range && u < shape->width[0]; u++) {
        float low, high;
        find_table_range(split, weights + m * n_weights + u * (shape->n_inputs + 1), &low, &high);
        in_range = high - low < 2 * TABLE_RANGE;
      }
    }
    split->in_table[k] = in_range;
    if (in_range) split->n_rows *= n_values;
  }
  size_t weight = 1; /* the last parameter counts fastest */
  for (size_t k = e->n_parameters; k-- > 0;) {
    uint64_t n_values = e->parameters[k].n_values, stride = e->parameters[k].stride;
    if (!split->in_table[k] || n_values < 2) continue;
    clt_split_run *last = split->n_runs ? &split->runs[split->n_runs - 1] : NULL;
    if (last && stride == last->stride * last->size)
      last->size *= n_values;
    else
      split->runs[split->n_runs++] = (clt_split_run){stride, n_values, weight};
    weight *= n_values;
  }
  return CLT_OK;
}

size_t clt_split_position(const clt_split *split, size_t row, size_t parameter) {
  const clt_encoding *e = split->encoding;
  for (size_t k = e->n_parameters; k-- > parameter + 1;)
    if (split->in_table[k]) row /= e->parameters[k].n_values;
  return row % e->parameters[parameter].n_values;
}

int clt_split_choose(clt_split *out, const clt_encoding *encoding, bool has_extra, const clt_config *configs, size_t n,
                     clt_error *error) {
  size_t least = SIZE_MAX;
  if (has_extra) return clt_split_init(out, encoding, 1, NULL, NULL, 0, error);
  for (size_t rows = FEWEST_ROWS; rows <= MOST_ROWS; rows *= 2) {
    clt_split split;
    clt_layout layout = {0};
    int rc = clt_split_init(&split, encoding, rows, NULL, NULL, 0, error);
    if (rc == CLT_OK) rc = clt_layout_group(&layout, &split, configs, n, error);
    size_t n_factors = layout.n_rests + split.n_rows;
    clt_arena_release(&layout.memory);
    if (rc) return rc;
    if (n_factors >= least) continue;
    least = n_factors;
    *out = split;
  }
  return CLT_OK;
}

/* --- layouts --- */

/* Which inputs are those of the rest (in_rest), or of the table; returns how many. out holds all of them. */
static size_t list_inputs(const clt_split *split, size_t n_extra, bool in_rest, size_t *out) {
  const clt_encoding *e = split->encoding;
  size_t n = 0;
  for (size_t k = 0; k < e->n_parameters; k++)
    for (size_t j = 0; split->in_table[k] != in_rest && j < e->parameters[k].width; j++)
      out[n++] = e->parameters[k].first + j;
  for (size_t i = e->first_resource; in_rest && i < e->n_inputs + n_extra; i++) out[n++] = i;
  return n;
}

int clt_layout_group(clt_layout *l, const clt_split *split, const clt_config *configs, size_t n, clt_error *error) {
  *l = (clt_layout){.split = split, .n = n};
  l->order = clt_arena_array(&l->memory, n, sizeof *l->order);
  l->start = clt_arena_array(&l->memory, n + 2, sizeof *l->start);
  l->row = clt_arena_array(&l->memory, n, sizeof *l->row);
  l->first = clt_arena_array(&l->memory, n, sizeof *l->first);
  clt_arena scratch = {0};
  clt_map rests = {0};
  uint32_t *rest = clt_arena_array(&scratch, n, sizeof *rest); /* by configuration, as is row */
  uint32_t *row = clt_arena_array(&scratch, n, sizeof *row);
  int rc = l->memory.failed || scratch.failed ? clt_fail_memory(error) : CLT_OK;
  uint64_t previous = 0;
  for (size_t i = 0; rc == CLT_OK && i < n; i++) {
    uint64_t key = configs[i]; /* with the table's positions at 0 */
    for (const clt_split_run *run = split->runs; run < split->runs + split->n_runs; run++) {
      uint64_t position = configs[i] / run->stride % run->size;
      key -= position * run->stride;
      row[i] += (uint32_t)(position * run->weight);
    }
    bool is_new = false;
    uint64_t *number = NULL;
    if (i && key == previous)
      rest[i] = rest[i - 1];
    else if ((number = clt_map_add(&rests, key, &is_new)) == NULL)
      rc = clt_fail_memory(error);
    if (is_new) {
      l->first[l->n_rests] = configs[i];
      *number = l->n_rests++;
    }
    if (number) rest[i] = (uint32_t)*number;
    l->start[rest[i] + 2]++;
    previous = key;
  }
  for (size_t r = 2; r < l->n_rests + 2; r++) l->start[r] += l->start[r - 1];
  for (size_t i = 0; rc == CLT_OK && i < n; i++) {
    uint32_t at = l->start[rest[i] + 1]++;
    l->order[at] = (uint32_t)i;
    l->row[at] = row[i];
  }
  clt_map_release(&rests);
  clt_arena_release(&scratch);
  return rc;
}

int clt_layout_init(clt_layout *l, const clt_split *split, const clt_extra_inputs *extra, const clt_config *configs,
                    size_t n, clt_error *error) {
  int rc = clt_layout_group(l, split, configs, n, error);
  if (rc) return rc;
  const clt_encoding *e = split->encoding;
  const size_t n_extra = extra ? extra->n : 0;
  size_t *inputs = clt_arena_array(&l->memory, e->n_inputs + n_extra, sizeof *inputs);
  float *x = clt_arena_array(&l->memory, e->n_inputs + n_extra, sizeof *x);
  l->n_rest_inputs = inputs ? list_inputs(split, n_extra, true, inputs) : 0;
  l->rest_x = clt_arena_array(&l->memory, l->n_rests, (l->n_rest_inputs + 1) * sizeof *l->rest_x);
  rc = clt_arena_check(&l->memory, error);
  for (size_t r = 0; rc == CLT_OK && r < l->n_rests; r++) {
    clt_encode(e, l->first[r], x);
    if (extra) extra->fill(extra->user, l->first[r], x + e->n_inputs);
    for (size_t i = 0; i < l->n_rest_inputs; i++) l->rest_x[r * l->n_rest_inputs + i] = x[inputs[i]];
  }
  return rc;
}

/* --- packing --- */

/* One member's weights into its lane, those of the table's inputs into table_weights. The middle of what the table
 * contributes goes over to the rest, so that the table's factors are near 1. */
static void pack_member(clt_pack_group *g, size_t lane, const clt_split *split, const clt_shape *shape,
                        const float *weights, const size_t *rest, size_t n_rest, const size_t *table, size_t n_table,
                        float *table_weights) {
  size_t n_units = shape->width[0], bias = shape->n_inputs;
  for (size_t u = 0; u < n_units; u++, weights += bias + 1) {
    float low, high, *to = g->rest + u * (n_rest + 1) * CLT_LANES + lane;
    find_table_range(split, weights, &low, &high);
    for (size_t i = 0; i < n_rest; i++) to[i * CLT_LANES] = weights[rest[i]];
    to[n_rest * CLT_LANES] = weights[bias] + (low + high) / 2;
    to = table_weights + u * (n_table + 1) * CLT_LANES + lane;
    for (size_t i = 0; i < n_table; i++) to[i * CLT_LANES] = weights[table[i]];
    to[n_table * CLT_LANES] = -(low + high) / 2;
  }
  size_t n_second = shape->n_layers > 2 ? shape->width[1] : 0;
  for (size_t i = 0; i < n_second * (n_units + 1); i++) g->second[i * CLT_LANES + lane] = *weights++;
  for (size_t i = 0; i <= (n_second ? n_second : n_units); i++) g->output[i * CLT_LANES + lane] = *weights++;
}

int clt_pack_init(clt_pack *pack, const clt_split *split, size_t n_extra, const clt_shape *shape, const float *weights,
                  size_t n_members, clt_error *error) {
  const clt_encoding *e = split->encoding;
  size_t n_weights = clt_shape_n_weights(shape);
  size_t n_units = shape->width[0], n_second = shape->n_layers > 2 ? shape->width[1] : 0;
  *pack = (clt_pack){
      .kernels = clt_kernels_best(), .n_units = n_units, .n_groups = (n_members + CLT_LANES - 1) / CLT_LANES};
  clt_arena scratch = {0};
  size_t *rest = clt_arena_array(&scratch, shape->n_inputs, sizeof *rest);
  size_t *table = clt_arena_array(&scratch, shape->n_inputs, sizeof *table);
  pack->groups = clt_arena_array(&pack->memory, pack->n_groups, sizeof *pack->groups);
  const size_t n_rest = rest ? list_inputs(split, n_extra, true, rest) : 0;
  const size_t n_table = table ? list_inputs(split, n_extra, false, table) : 0;
  pack->n_rest_inputs = n_rest;
  float *table_x = clt_arena_array(&scratch, split->n_rows, (n_table + 1) * sizeof *table_x), *x = table_x;
  float *table_weights = clt_arena_array(&scratch, n_units * (n_table + 1), CLT_LANES * sizeof *table_weights);
  int rc = clt_arena_check(&scratch, error);
  for (size_t row = 0; rc == CLT_OK && row < split->n_rows; row++) {
    for (size_t k = 0; k < e->n_parameters; k++) {
      const clt_encoded_parameter *p = &e->parameters[k];
      size_t value = split->in_table[k] ? clt_split_position(split, row, k) : 0;
      for (size_t j = 0; split->in_table[k] && j < p->width; j++) *x++ = p->table[value * p->width + j];
    }
  }
  if (rc == CLT_OK) rc = clt_arena_check(&pack->memory, error);
  for (size_t i = 0; rc == CLT_OK && i < pack->n_groups; i++) {
    clt_pack_group *g = &pack->groups[i];
    size_t first = i * CLT_LANES;
    g->n_members = clt_min(n_members - first, CLT_LANES);
    g->rest = clt_arena_array(&pack->memory, n_units * (n_rest + 1), CLT_LANES * sizeof(float));
    g->table = clt_arena_array(&pack->memory, split->n_rows * n_units, CLT_LANES * sizeof(float));
    g->second = clt_arena_array(&pack->memory, n_second * (n_units + 1), CLT_LANES * sizeof(float));
    g->output = clt_arena_array(&pack->memory, (n_second ? n_second : n_units) + 1, CLT_LANES * sizeof(float));
    g->further = (clt_further_layers){n_units, n_second, g->second, g->output};
    rc = clt_arena_check(&pack->memory, error);
    if (rc == CLT_OK) memset(table_weights, 0, n_units * (n_table + 1) * CLT_LANES * sizeof *table_weights);
    for (size_t m = 0; rc == CLT_OK && m < g->n_members; m++)
      pack_member(g, m, split, shape, weights + (first + m) * n_weights, rest, n_rest, table, n_table, table_weights);
    if (rc == CLT_OK) pack->kernels->exponentials(table_weights, n_units, n_table, table_x, split->n_rows, g->table);
  }
  clt_arena_release(&scratch);
  return rc;
}

int clt_pack_predict(const clt_pack *pack, const clt_layout *l, float *mean, float *spread, clt_error *error) {
  size_t block = clt_min(l->n_rests, BLOCK);
  clt_arena scratch = {0};
  float *factors = clt_arena_array(&scratch, block * pack->n_units, CLT_LANES * sizeof *factors);
  float *sums = clt_arena_array(&scratch, l->n, 4 * sizeof *sums);
  uint32_t *left = clt_arena_array(&scratch, l->n, sizeof *left); /* in the order: the rest within its block */
  const int rc = clt_arena_check(&scratch, error);
  if (rc) goto done;
  /* Mean and squared deviations in the order; of the groups so far, and of one. */
  float *all_mean = sums, *all_squares = sums + l->n, *group_mean = sums + 2 * l->n, *group_squares = sums + 3 * l->n;
  float n_before = 0;
  for (size_t k = 0; k < pack->n_groups; k++) {
    const clt_pack_group *g = &pack->groups[k];
    float *m = k ? group_mean : all_mean, n = (float)g->n_members;
    float *s = k ? group_squares : all_squares;
    for (size_t r = 0; r < l->n_rests; r += BLOCK) {
      size_t end = clt_min(r + BLOCK, l->n_rests), from = l->start[r], here = l->start[end] - from;
      pack->kernels->exponentials(g->rest, pack->n_units, pack->n_rest_inputs, l->rest_x + r * l->n_rest_inputs,
                                  end - r, factors);
      for (size_t i = r; i < end; i++)
        for (size_t at = l->start[i]; at < l->start[i + 1]; at++) left[at] = (uint32_t)(i - r);
      pack->kernels->members(&g->further, g->n_members, factors, left + from, g->table, l->row + from, here, m + from,
                             s + from);
    }
    /* Chan, Golub and LeVeque's way to join two variances. */
    for (size_t i = 0; k && i < l->n; i++) {
      float difference = m[i] - all_mean[i];
      all_mean[i] += difference * n / (n_before + n);
      all_squares[i] += s[i] + difference * difference * n_before * n / (n_before + n);
    }
    n_before += n;
  }
  for (size_t i = 0; i < l->n; i++) {
    mean[l->order[i]] = all_mean[i];
    spread[l->order[i]] = n_before > 1 ? sqrtf(all_squares[i] / (n_before - 1)) : 0;
  }
done:
  clt_arena_release(&scratch);
  return rc;
}

/* --- which inner loops this processor can run, and the memory that they work on (kernels.h) --- */

extern const clt_kernels clt_kernels_plain;
#ifdef __x86_64__
extern const clt_kernels clt_kernels_avx2, clt_kernels_avx512;
#endif

const clt_kernels *clt_kernels_at(size_t index) {
  if (index == 0) return &clt_kernels_plain;
#ifdef __x86_64__
  bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  if (index == 1 && avx2) return &clt_kernels_avx2;
  if (index == 2 && avx2 && __builtin_cpu_supports("avx512f")) return &clt_kernels_avx512;
#endif
  return NULL;
}

const clt_kernels *clt_kernels_best(void) {
  const clt_kernels *best = clt_kernels_at(0);
  for (size_t i = 1; clt_kernels_at(i); i++) best = clt_kernels_at(i);
  return best;
}

size_t clt_shape_n_weights(const clt_shape *shape) {
  size_t n = 0, n_in = shape->n_inputs;
  for (size_t i = 0; i < shape->n_layers; i++) {
    n += shape->width[i] * (n_in + 1);
    n_in = shape->width[i];
  }
  return n;
}

/* Activations and derivatives of a strip of up to CLT_BLOCK_ROWS rows, and a vector for every weight. */
size_t clt_gradient_scratch(const clt_shape *shape) {
  size_t units = 0;
  for (size_t i = 0; i < shape->n_layers; i++) units += shape->width[i];
  return 2 * units * CLT_BLOCK_ROWS * sizeof(float) + clt_shape_n_weights(shape) * CLT_LANES * sizeof(float);
}
