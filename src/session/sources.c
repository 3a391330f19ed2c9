#include "session/sources.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/memory.h"

/* How a recording's positions become those of the space. */
struct translation {
  const clt_space *from, *to;
  int parameter[CLT_MAX_PARAMETERS];      /* by parameter of the space: in the recording; -1: has a single value */
  uint32_t *position[CLT_MAX_PARAMETERS]; /* by position in the recording; NOWHERE */
};

#define NOWHERE UINT32_MAX

static uint32_t find_value(const clt_parameter *parameter, clt_value value) {
  for (size_t i = 0; i < parameter->n_values; i++)
    if (clt_value_equal(parameter->values[i], value)) return (uint32_t)i;
  return NOWHERE;
}

static void translation_release(struct translation *t) {
  for (size_t p = 0; p < clt_space_n_parameters(t->to); p++) free(t->position[p]);
}

/* Whether the recording has no parameter, of more than one value, that the space does not have. */
static bool has_no_more(const struct translation *t) {
  for (size_t p = 0; p < clt_space_n_parameters(t->from); p++) {
    const clt_parameter *from = clt_space_parameter(t->from, p);
    if (from->n_values > 1 && clt_space_find_parameter(t->to, from->name) < 0) return false;
  }
  return true;
}

/* False in *fits where the parameters are not the same. */
static int translation_init(struct translation *t, bool *fits, clt_error *error) {
  *fits = has_no_more(t);
  for (size_t p = 0; p < clt_space_n_parameters(t->to); p++) {
    const clt_parameter *to = clt_space_parameter(t->to, p);
    int found = t->parameter[p] = clt_space_find_parameter(t->from, to->name);
    if (found < 0) {
      *fits = *fits && to->n_values == 1;
      continue;
    }
    const clt_parameter *from = clt_space_parameter(t->from, (size_t)found);
    t->position[p] = clt_new_array(from->n_values, sizeof *t->position[p]);
    if (t->position[p] == NULL) return clt_fail_memory(error);
    for (size_t i = 0; i < from->n_values; i++) t->position[p][i] = find_value(to, from->values[i]);
  }
  return CLT_OK;
}

static clt_config translate(const struct translation *t, clt_config config) {
  uint32_t from[CLT_MAX_PARAMETERS], to[CLT_MAX_PARAMETERS];
  clt_space_positions(t->from, config, from);
  for (size_t p = 0; p < clt_space_n_parameters(t->to); p++) {
    to[p] = t->position[p] == NULL ? 0 : t->position[p][from[t->parameter[p]]];
    if (to[p] == NOWHERE) return CLT_CONFIG_NONE;
  }
  return clt_space_from_positions(t->to, to);
}

static int by_config_then_speed(const void *a, const void *b) {
  const clt_known_speed *x = a, *y = b;
  if (x->config != y->config) return x->config > y->config ? 1 : -1;
  return (x->speed < y->speed) - (x->speed > y->speed);
}

static int grow(clt_sources *sources, const char *name, size_t n, clt_error *error) {
  if (clt_grow(&sources->sources, &sources->capacity, sources->n + 1, sizeof *sources->sources))
    return clt_fail_memory(error);
  clt_search_source source = {strdup(name), clt_new_array(n, sizeof(clt_config)), clt_new_array(n, sizeof(float)), 0};
  sources->sources[sources->n++] = source;
  return source.name && source.configs && source.speeds ? CLT_OK : clt_fail_memory(error);
}

int clt_sources_add(clt_sources *sources, const char *name, clt_known_speed *known, size_t n, clt_error *error) {
  int rc = grow(sources, name, n, error);
  if (rc) return rc;
  clt_search_source *source = &sources->sources[sources->n - 1];
  clt_config *configs = (clt_config *)source->configs;
  float *speeds = (float *)source->speeds;
  if (n) qsort(known, n, sizeof *known, by_config_then_speed);
  for (size_t i = 0; i < n; i++) {
    if (i > 0 && known[i].config == known[i - 1].config) continue;
    configs[source->n] = known[i].config;
    speeds[source->n++] = known[i].speed;
  }
  return CLT_OK;
}

/* Costs of everything that can be translated and has one, INFINITY where it failed; returns how many. *least: of them.
 */
static size_t collect(clt_config *configs, double *costs, double *least, const struct translation *t,
                      const clt_objective *objective, const clt_recording *recording) {
  size_t n = 0;
  *least = INFINITY;
  for (size_t i = 0; i < clt_recording_size(recording); i++) {
    clt_measurement m = *clt_recording_at(recording, i);
    m.config = translate(t, m.config);
    double cost = m.config == CLT_CONFIG_NONE    ? NAN
                  : !clt_measurement_correct(&m) ? INFINITY
                                                 : clt_objective_cost(objective, &m);
    if (isnan(cost)) continue;
    configs[n] = m.config;
    costs[n++] = cost;
    *least = fmin(*least, cost);
  }
  return n;
}

/* Returns how many; 0: nothing that succeeded. */
static size_t find_speeds(clt_known_speed *out, const struct translation *t, const clt_objective *objective,
                          const clt_recording *recording, clt_error *error) {
  size_t size = clt_recording_size(recording), n = 0;
  clt_config *configs = clt_new_array(size, sizeof *configs);
  double *costs = clt_new_array(size, sizeof *costs), least = INFINITY;
  if (configs == NULL || costs == NULL) clt_fail_memory(error);
  if (configs && costs) n = collect(configs, costs, &least, t, objective, recording);
  for (size_t i = 0; i < n; i++) out[i] = (clt_known_speed){configs[i], (float)(least / costs[i])};
  free(configs);
  free(costs);
  return isfinite(least) ? n : 0;
}

static int add(clt_sources *sources, const clt_space *space, const clt_objective *objective,
               const clt_recording *recording, bool *fits, clt_error *error) {
  struct translation t = {.from = clt_recording_space(recording), .to = space};
  clt_known_speed *known = clt_new_array(clt_recording_size(recording), sizeof *known);
  int rc = known ? translation_init(&t, fits, error) : clt_fail_memory(error);
  clt_error memory = {0};
  size_t n = !rc && *fits ? find_speeds(known, &t, objective, recording, &memory) : 0;
  if (memory.code) rc = clt_fail_memory(error);
  *fits = n > 0;
  if (!rc && *fits) rc = clt_sources_add(sources, clt_recording_name(recording), known, n, error);
  translation_release(&t);
  free(known);
  return rc;
}

static void warn(const clt_recording *recording, clt_log_fn log, void *log_user) {
  char *text = clt_format("nothing is learnt from '%s': its parameters are not those of the kernel",
                          clt_recording_name(recording));
  if (log && text) log(log_user, CLT_LOG_WARNING, text);
  free(text);
}

int clt_sources_add_recordings(clt_sources *out, const clt_space *space, const clt_objective *objective,
                               const clt_recording *const *recordings, size_t n, clt_log_fn log, void *log_user,
                               clt_error *error) {
  int rc = CLT_OK;
  for (size_t i = 0; !rc && i < n; i++) {
    bool fits;
    rc = add(out, space, objective, recordings[i], &fits, error);
    if (!rc && !fits) warn(recordings[i], log, log_user);
  }
  return rc;
}

void clt_sources_release(clt_sources *sources) {
  for (size_t i = 0; i < sources->n; i++) {
    free((void *)sources->sources[i].name);
    free((void *)sources->sources[i].configs);
    free((void *)sources->sources[i].speeds);
  }
  free(sources->sources);
  *sources = (clt_sources){0};
}
