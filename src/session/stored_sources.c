/* What the store knows of the same kernel on other devices, with other drivers, at other sizes or from before its text
 * changed. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/memory.h"
#include "lookup/distance.h"
#include "session/sources.h"

#define MOST 8           /* keys that are read */
#define LEAST_CORRECT 10 /* measurements; from fewer nothing is learnt */

/* A key of the store that may be of the same kernel. */
struct candidate {
  clt_store_key key;
  char *sizes;
  uint64_t n;
  bool same_text, same_device; /* same_text: and the same sizes, input and reference */
  double distance;             /* of the sizes */
};

struct candidates {
  const clt_source_wish *wish;
  struct candidate *all;
  size_t n, capacity;
};

static bool same_key(const clt_store_key *a, const clt_store_key *b) {
  return strcmp(a->problem, b->problem) == 0 && strcmp(a->device, b->device) == 0 && strcmp(a->driver, b->driver) == 0;
}

static int note_key(void *user, const clt_store_description *d) {
  struct candidates *c = user;
  const clt_source_wish *w = c->wish;
  bool same_text = strcmp(d->key.problem, w->own->problem) == 0;
  bool same_name = w->problem_name[0] && strcmp(d->problem_name, w->problem_name) == 0;
  if (same_key(&d->key, w->own) || d->n_records < LEAST_CORRECT || !(same_text || same_name)) return 0;
  if (clt_grow(&c->all, &c->capacity, c->n + 1, sizeof *c->all)) return CLT_E_MEMORY;
  char *sizes = strdup(d->sizes);
  if (sizes == NULL) return CLT_E_MEMORY;
  c->all[c->n++] = (struct candidate){.key = d->key,
                                      .sizes = sizes,
                                      .n = d->n_records,
                                      .same_text = same_text,
                                      .same_device = strcmp(d->key.device, w->own->device) == 0,
                                      .distance = clt_sizes_distance(w->sizes, d->sizes)};
  return 0;
}

/* The same text before another one, this device before another one, near sizes before far ones, much before little. */
static int by_worth(const void *a, const void *b) {
  const struct candidate *x = a, *y = b;
  if (x->same_text != y->same_text) return y->same_text - x->same_text;
  if (x->same_device != y->same_device) return y->same_device - x->same_device;
  if (x->distance != y->distance) return x->distance < y->distance ? -1 : 1;
  if (x->n != y->n) return x->n < y->n ? 1 : -1;
  int order = strcmp(x->key.problem, y->key.problem);
  if (order == 0) order = strcmp(x->key.device, y->key.device);
  return order ? order : strcmp(x->key.driver, y->key.driver);
}

/* --- reading one of them --- */

struct reading {
  const clt_objective *objective;
  clt_config *configs;
  double *costs; /* INFINITY: failed */
  size_t n, n_correct, configs_capacity, costs_capacity;
};

static int note_measurement(void *user, clt_record_kind kind, const clt_measurement *m) {
  struct reading *r = user;
  if (kind != CLT_RECORD_SEARCH) return 0;
  bool correct = clt_measurement_correct(m);
  double cost = correct ? clt_objective_cost(r->objective, m) : INFINITY;
  if (isnan(cost)) return 0;
  if (clt_grow(&r->configs, &r->configs_capacity, r->n + 1, sizeof *r->configs) ||
      clt_grow(&r->costs, &r->costs_capacity, r->n + 1, sizeof *r->costs))
    return CLT_E_MEMORY;
  r->configs[r->n] = m->config;
  r->costs[r->n++] = cost;
  r->n_correct += correct;
  return 0;
}

static int take_over(clt_sources *out, const char *name, const struct reading *r, clt_error *error) {
  clt_known_speed *known = clt_new_array(r->n, sizeof *known);
  double least = INFINITY;
  if (known == NULL) return clt_fail_memory(error);
  for (size_t i = 0; i < r->n; i++) least = fmin(least, r->costs[i]);
  for (size_t i = 0; i < r->n; i++) known[i] = (clt_known_speed){r->configs[i], (float)(least / r->costs[i])};
  int rc = clt_sources_add(out, name, known, r->n, error);
  free(known);
  return rc;
}

static void say(const struct candidate *c, const struct reading *r, clt_log_fn log, void *log_user) {
  char *text = clt_format("learns from %zu measurements on %s, driver %s%s%s%s", r->n, c->key.device, c->key.driver,
                          c->same_text ? "" : ", where text or sizes differ (", c->same_text ? "" : c->sizes,
                          c->same_text ? "" : ")");
  if (log && text) log(log_user, CLT_LOG_INFO, text);
  free(text);
}

/* A key most of whose records the space cannot read is of a kernel with other parameters. */
static int add(clt_sources *out, const struct candidate *c, const clt_space *space, const clt_objective *objective,
               clt_store *store, clt_log_fn log, void *log_user, clt_error *error) {
  struct reading reading = {.objective = objective};
  size_t n_foreign = 0;
  int rc = clt_store_each(store, &c->key, space, note_measurement, &reading, &n_foreign, error);
  if (rc == CLT_OK && reading.n_correct >= LEAST_CORRECT && reading.n >= n_foreign) {
    rc = take_over(out, c->key.device, &reading, error);
    if (rc == CLT_OK) say(c, &reading, log, log_user);
  }
  free(reading.configs);
  free(reading.costs);
  return rc;
}

int clt_sources_add_stored(clt_sources *out, const clt_space *space, const clt_objective *objective, clt_store *store,
                           const clt_source_wish *wish, clt_log_fn log, void *log_user, clt_error *error) {
  struct candidates c = {.wish = wish};
  int rc = clt_store_each_key(store, true, note_key, &c, error);
  if (c.n) qsort(c.all, c.n, sizeof *c.all, by_worth);
  for (size_t i = 0; rc == CLT_OK && i < c.n && i < MOST; i++)
    rc = add(out, &c.all[i], space, objective, store, log, log_user, error);
  for (size_t i = 0; i < c.n; i++) free(c.all[i].sizes);
  free(c.all);
  return rc;
}
