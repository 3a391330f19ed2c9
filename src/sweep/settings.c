/* What a cell's tuning is run with, and what tells it from others once it is finished. */
#include <stdlib.h>

#include "base/fail.h"
#include "base/hash.h"
#include "space/hash.h"
#include "sweep/sweep.h"

int clt_sweep_settings(clt_tune_settings *out, const clt_sweep *sweep, const clt_sweep_cell *cell,
                       const clt_instance *instance, size_t *n_left_out, clt_error *error) {
  clt_tune_settings s = sweep->tuning;
  clt_config *configurations = NULL;
  size_t left_out = 0;
  s.instance = instance;
  s.evaluator = clt_tune_evaluator(sweep->evaluator, cell->problem);
  s.evaluator_settings = sweep->evaluator_options.settings;
  s.n_evaluator_settings = sweep->evaluator_options.n;
  s.searcher = cell->searcher ? cell->searcher : "exhaustive"; /* which is not asked where configurations are listed */
  s.searcher_settings = cell->searcher_settings;
  s.n_searcher_settings = cell->n_searcher_settings;
  s.budget = cell->budget;
  s.seed = cell->seed;
  if (cell->searcher == NULL) {
    int rc = clt_sweep_configurations(&configurations, &s.n_configurations, &left_out,
                                      clt_sweep_searcher_of(sweep, cell), instance, error);
    if (rc) return rc;
    s.configurations = configurations;
  }
  if (n_left_out) *n_left_out = left_out;
  *out = s;
  return CLT_OK;
}

void clt_sweep_settings_release(clt_tune_settings *settings) {
  free((clt_config *)settings->configurations);
  settings->configurations = NULL;
  settings->n_configurations = 0;
}

static void hash_options(clt_hasher *hasher, const char *name, const clt_setting *settings, size_t n) {
  clt_hasher_add_text(hasher, name);
  clt_hasher_add(hasher, &n, sizeof n);
  for (size_t i = 0; i < n; i++) {
    clt_hasher_add_text(hasher, settings[i].name);
    clt_hasher_add_text(hasher, settings[i].value);
  }
}

/* What decides what is measured, or what is said of it. Not the threads, the batch or the workers: they change when. */
static void hash_settings(clt_hasher *hasher, const clt_tune_settings *s) {
  const int64_t counts[] = {s->budget,      (int64_t)s->seed, s->finalists,    s->stagnation,
                            s->no_transfer, s->no_reuse,      s->skip_default, (int64_t)s->n_configurations};
  const double numbers[] = {s->time_s, s->space_fraction, s->target, s->tolerance, s->confidence};
  clt_hasher_add(hasher, counts, sizeof counts);
  clt_hasher_add(hasher, numbers, sizeof numbers);
  if (s->n_configurations) clt_hasher_add(hasher, s->configurations, s->n_configurations * sizeof *s->configurations);
  if (s->n_begin_with) clt_hasher_add(hasher, s->begin_with, s->n_begin_with * sizeof *s->begin_with);
  const char *objective = s->objective ? s->objective : clt_problem_objective(clt_instance_problem(s->instance));
  if (objective) clt_hasher_add_text(hasher, *objective ? objective : "time"); /* of the time when it was called so */
  hash_options(hasher, s->searcher, s->searcher_settings, s->n_searcher_settings);
  hash_options(hasher, s->evaluator, s->evaluator_settings, s->n_evaluator_settings);
}

int clt_sweep_key(char out[33], const clt_tune_settings *settings, clt_error *error) {
  clt_store_key key;
  int rc = clt_store_key_init(&key, settings->instance, error);
  if (rc) return rc;
  clt_hasher *hasher = clt_hasher_new();
  if (hasher == NULL) return clt_fail_memory(error);
  const clt_space *space = clt_instance_space(settings->instance);
  uint64_t valid = clt_space_valid(space);
  clt_hasher_add_text(hasher, "tuning 1");
  clt_hasher_add_text(hasher, key.problem);
  clt_hasher_add_text(hasher, key.device);
  clt_hasher_add_text(hasher, key.driver);
  clt_space_hash(hasher, space);
  clt_hasher_add(hasher, &valid, sizeof valid);
  hash_settings(hasher, settings);
  clt_hasher_hex(hasher, out);
  clt_hasher_free(hasher);
  return CLT_OK;
}
