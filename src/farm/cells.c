/* A plan's cells: their names, the devices that they are for, and the settings of their tunings. */

#include "base/base.h"
#include "base/hash.h"
#include "base/text.h"
#include "farm/plan.h"
#include "problem/guidance.h"
#include "session/loop.h"
#include "space/expr.h"
#include "space/space.h"

const char *clt_sweep_name(const clt_sweep *sweep) {
  return sweep->name && sweep->name[0] ? sweep->name : sweep->source.path;
}

bool clt_sweep_is_of_commands(const clt_sweep *sweep) {
  return sweep->n_problems > 0 && clt_problem_is_command(sweep->problems[0].problem);
}

char *clt_sweep_cell_text(const clt_sweep_cell *cell) {
  clt_text text = {0};
  char *out = NULL;
  clt_text_add(&text, clt_problem_name(cell->problem));
  for (size_t i = 0; i < cell->n_sizes; i++)
    clt_text_printf(&text, " %s=%lld", cell->sizes[i].name, (long long)cell->sizes[i].value);
  clt_text_printf(&text, " %s", cell->by->label);
  if (cell->budget) clt_text_printf(&text, " budget=%lld", (long long)cell->budget);
  if (cell->by->searcher) clt_text_printf(&text, " seed=%llu", (unsigned long long)cell->seed);
  return clt_text_take(&out, &text, NULL) ? NULL : out;
}

int clt_sweep_cell_print(const clt_sweep_cell *cell, char *out, size_t capacity) {
  char *text = clt_sweep_cell_text(cell);
  int n = snprintf(out, capacity, "%s", text ? text : "");
  free(text);
  return n;
}

/* --- listed configurations: a parameter that is left out has its default --- */

/* The valid configurations of the list. *out is malloc'ed. */
static int list_configurations(clt_config **out, size_t *n_out, size_t *n_left_out, const json_t *list,
                               const clt_instance *instance, clt_error *error) {
  const clt_space *space = clt_instance_space(instance);
  size_t n = 0, total = json_array_size(list);
  clt_config *configs = clt_new_array(total, sizeof *configs);
  int rc = configs ? CLT_OK : clt_fail_memory(error);
  for (size_t i = 0; rc == CLT_OK && i < total; i++) {
    bool given[CLT_MAX_PARAMETERS];
    clt_error cause = {0};
    clt_config config = clt_instance_default(instance);
    rc = clt_config_read_onto(&config, given, space, json_array_get(list, i), &cause);
    if (rc)
      clt_fail(error, rc, "configuration %zu: %s", i, cause.message);
    else if (clt_space_contains(space, config))
      configs[n++] = config;
  }
  if (rc == CLT_OK && n == 0)
    rc = clt_fail(error, CLT_E_NO_VALID,
                  "none of the %zu listed configurations satisfies the constraints at these sizes", total);
  if (rc != CLT_OK) {
    free(configs);
    return rc;
  }
  *out = configs;
  *n_out = n;
  *n_left_out = total - n;
  return CLT_OK;
}

/* --- settings --- */

int clt_sweep_settings(clt_tune_settings *out, const clt_sweep *sweep, const clt_sweep_cell *cell,
                       const clt_instance *instance, size_t *n_left_out, clt_error *error) {
  clt_tune_settings s = sweep->tuning;
  clt_config *configurations = NULL;
  size_t left_out = 0;
  const char *searcher = cell->by->searcher;
  s.instance = instance;
  s.evaluator = clt_tune_evaluator(sweep->evaluator, cell->problem);
  s.evaluator_settings = sweep->evaluator_settings;
  s.n_evaluator_settings = sweep->n_evaluator_settings;
  s.searcher = searcher ? searcher : "exhaustive"; /* not used if configurations are listed */
  s.searcher_settings = cell->by->settings;
  s.n_searcher_settings = cell->by->n_settings;
  s.budget = cell->budget;
  s.seed = cell->seed;
  int rc = searcher ? CLT_OK
                    : list_configurations(&configurations, &s.n_configurations, &left_out, cell->by->configurations,
                                          instance, error);
  if (rc) return rc;
  s.configurations = configurations;
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

/* By their numbers, which all processes share, or by their values. */
static void hash_configs(clt_hasher *hasher, const clt_space *space, const clt_config *configs, size_t n) {
  if (n && !clt_space_has_too_many(space)) clt_hasher_add(hasher, configs, n * sizeof *configs);
  for (size_t i = 0; clt_space_has_too_many(space) && i < n; i++) {
    char *text = clt_config_string(space, configs[i]);
    clt_hasher_add_text(hasher, text ? text : "");
    free(text);
  }
}

int clt_sweep_key(char out[33], const clt_tune_settings *s, clt_error *error) {
  const clt_space *space = clt_instance_space(s->instance);
  clt_store_key key;
  int rc = clt_store_key_init(&key, s->instance, error);
  if (rc) return rc;
  clt_hasher *hasher = clt_hasher_new();
  if (hasher == NULL) return clt_fail_memory(error);
  uint64_t valid = clt_space_valid(space);
  clt_hasher_add_text(hasher, "tuning 1");
  clt_hasher_add_text(hasher, key.problem);
  clt_hasher_add_text(hasher, key.device);
  clt_hasher_add_text(hasher, key.driver);
  clt_space_hash(hasher, space);
  clt_hasher_add(hasher, &valid, sizeof valid);
  /* Everything that influences which configurations are measured, or the result. Not threads, batch or workers: these
   * only influence when. */
  const int64_t counts[] = {s->budget,      (int64_t)s->seed, s->finalists,    s->stagnation,
                            s->no_transfer, s->no_reuse,      s->skip_default, (int64_t)s->n_configurations};
  const double numbers[] = {s->time_s, s->space_fraction, s->target, s->tolerance, s->confidence};
  clt_hasher_add(hasher, counts, sizeof counts);
  clt_hasher_add(hasher, numbers, sizeof numbers);
  hash_configs(hasher, space, s->configurations, s->n_configurations);
  if (s->learn_before_s) clt_hasher_add(hasher, &s->learn_before_s, sizeof s->learn_before_s);
  hash_configs(hasher, space, s->begin_with, s->n_begin_with);
  const char *objective =
      s->objective ? s->objective : clt_problem_guidance(clt_instance_problem(s->instance))->objective;
  if (objective)
    clt_hasher_add_text(hasher,
                        *objective ? objective : "time"); /* the hash of plans from when this was written "time" */
  hash_options(hasher, s->searcher, s->searcher_settings, s->n_searcher_settings);
  hash_options(hasher, s->evaluator, s->evaluator_settings, s->n_evaluator_settings);
  clt_hasher_hex(hasher, out);
  clt_hasher_free(hasher);
  return CLT_OK;
}
