/* What is known of the kernel elsewhere: an input for the networks, and where the surrogate search begins. */
#include <math.h>
#include <stdlib.h>

#include "base/fail.h"
#include "base/map.h"
#include "base/memory.h"
#include "search/surrogate.h"

#define NEAR 1e-6f /* squared distances that count as equal */

int clt_elsewhere_init(clt_elsewhere *e, const clt_search_setup *setup, const clt_encoding *encoding,
                       clt_error *error) {
  size_t n_inputs = encoding->n_inputs;
  *e = (clt_elsewhere){setup->sources, setup->n_sources < CLT_MOST_SOURCES ? setup->n_sources : CLT_MOST_SOURCES,
                       encoding};
  e->nearest = clt_space_valid(encoding->space) <= CLT_LAYOUT_MOST;
  for (size_t k = 0; k < e->n; k++) {
    const clt_search_source *source = &e->sources[k];
    e->x[k] = clt_new_array(source->n, (n_inputs + 1) * sizeof(float));
    e->speed[k] = clt_new_array(source->n, sizeof(float));
    if (e->x[k] == NULL || e->speed[k] == NULL) return clt_fail_memory(error);
    double sum = 0;
    float least = INFINITY;
    for (size_t i = 0; i < source->n; i++) least = fminf(least, source->log_costs[i]);
    for (size_t i = 0; i < source->n; i++) {
      clt_encode(encoding, source->configs[i], e->x[k] + i * n_inputs);
      e->speed[k][i] = isnan(source->log_costs[i]) ? 0 : expf(least - source->log_costs[i]);
      sum += e->speed[k][i];
    }
    e->mean[k] = source->n ? (float)(sum / (double)source->n) : 0;
  }
  return CLT_OK;
}

void clt_elsewhere_release(clt_elsewhere *e) {
  for (size_t k = 0; k < CLT_MOST_SOURCES; k++) free(e->x[k]), free(e->speed[k]);
}

static bool find(const clt_elsewhere *e, size_t k, clt_config config, float *speed) {
  const clt_search_source *source = &e->sources[k];
  size_t place;
  if (!clt_search_u64(source->configs, source->n, config, &place)) return false;
  *speed = e->speed[k][place];
  return true;
}

/* The mean of the nearest ones. */
static float nearest_speed(const clt_elsewhere *e, size_t k, clt_config config) {
  size_t n_inputs = e->encoding->n_inputs;
  float x[CLT_MOST_ENCODED], least = INFINITY, sum = 0, n = 0;
  if (!e->nearest || n_inputs > CLT_MOST_ENCODED) return e->mean[k];
  clt_encode(e->encoding, config, x);
  for (size_t i = 0; i < e->sources[k].n; i++) {
    float distance = clt_least_distance(e->x[k] + i * n_inputs, 1, n_inputs, x);
    if (distance > least + NEAR) continue;
    if (distance < least - NEAR) sum = n = 0;
    least = fminf(least, distance);
    sum += e->speed[k][i];
    n++;
  }
  return n > 0 ? sum / n : e->mean[k];
}

float clt_elsewhere_speed(const clt_elsewhere *e, size_t k, clt_config config) {
  float speed;
  return find(e, k, config, &speed) ? speed : nearest_speed(e, k, config);
}

void clt_elsewhere_fill(const void *user, clt_config config, float *out) {
  const clt_elsewhere *e = user;
  for (size_t k = 0; k < e->n; k++) out[k] = 2 * clt_elsewhere_speed(e, k, config) - 1;
}

static bool is_near_any(const clt_elsewhere *e, clt_config config, const clt_config *others, size_t n) {
  for (size_t i = 0; i < n; i++)
    if (clt_encoded_difference(e->encoding, config, others[i]) < 2) return true;
  return false;
}

/* Half the mean of all that know it, half the k-th's own. */
static float promise(const clt_elsewhere *e, size_t k, size_t row) {
  const clt_search_source *source = &e->sources[k];
  float sum = 0, n = 0, speed;
  for (size_t j = 0; j < e->n; j++) {
    if (!find(e, j, source->configs[row], &speed)) continue;
    sum += speed;
    n++;
  }
  return 0.5f * sum / n + 0.5f * e->speed[k][row];
}

clt_config clt_elsewhere_best(const clt_elsewhere *e, size_t k, const clt_config *before, size_t n_before,
                              const clt_config_set *asked) {
  const clt_search_source *source = &e->sources[k % e->n];
  const clt_space *space = e->encoding->space;
  clt_config best = CLT_CONFIG_NONE;
  float most = 0;
  for (size_t i = 0; i < source->n; i++) {
    clt_config config = source->configs[i];
    float here = e->speed[k % e->n][i] > 2 * most - 1 ? promise(e, k % e->n, i) : 0; /* the other half is at most 1/2 */
    if (!(here > most) || is_near_any(e, config, before, n_before)) continue;
    if (!clt_space_contains(space, config) || clt_space_canonical(space, config) != config) continue;
    if (clt_config_set_has(asked, config)) continue;
    best = config;
    most = here;
  }
  return best;
}
