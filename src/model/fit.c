/* Fitting a model on rows of one instance, or of several sizes of a problem. */
#include <math.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/fail.h"
#include "base/memory.h"
#include "base/text.h"
#include "model/json.h"
#include "model/model.h"
#include "model/rows.h"

#define FEWEST_ROWS 5

static int find_type(const clt_model_type **out, const char *name, clt_error *error) {
  *out = clt_model_type_find(name);
  if (*out) return CLT_OK;
  const char *names[16];
  size_t n = 0;
  for (; n < clt_n_models() && n < 16; n++) names[n] = clt_model_type_at(n)->name;
  const char *near = clt_nearest_name(name, names, n);
  if (near) return clt_fail(error, CLT_E_NOT_FOUND, "there is no model '%s'; did you mean '%s'?", name, near);
  return clt_fail(error, CLT_E_NOT_FOUND, "there is no model '%s'; the first of %zu is '%s'", name, n, names[0]);
}

/* What is fitted on. Arrays of all rows come first, then of the correct ones. */
struct rows {
  const clt_rows_at *groups;
  const clt_instance **instances; /* of the groups; NULL: there is one group, perhaps without an instance */
  size_t n_groups, n, n_correct;
  clt_config *configs;
  bool *failed;
  uint32_t *group;
  clt_config *correct_configs;
  double *log_time;
  uint32_t *correct_group;
};

static void rows_release(struct rows *r) {
  free(r->instances);
  free(r->configs);
  free(r->failed);
  free(r->group);
  free(r->correct_configs);
  free(r->log_time);
  free(r->correct_group);
}

static int rows_allocate(struct rows *r, clt_error *error) {
  for (size_t g = 0; g < r->n_groups; g++) r->n += r->groups[g].n_rows;
  r->configs = clt_new_array(r->n, sizeof *r->configs);
  r->failed = clt_new_array(r->n, sizeof *r->failed);
  r->group = clt_new_array(r->n, sizeof *r->group);
  r->correct_configs = clt_new_array(r->n, sizeof *r->correct_configs);
  r->log_time = clt_new_array(r->n, sizeof *r->log_time);
  r->correct_group = clt_new_array(r->n, sizeof *r->correct_group);
  bool have = r->configs && r->failed && r->group && r->correct_configs && r->log_time && r->correct_group;
  return have ? CLT_OK : clt_fail_memory(error);
}

static int check_row(const clt_space *space, const clt_row *row, size_t index, clt_error *error) {
  if (row->config >= clt_space_cartesian(space))
    return clt_fail(error, CLT_E_ARGUMENT, "row %zu has a configuration outside of the space", index);
  if (!row->failed && !(row->time_s > 0 && isfinite(row->time_s)))
    return clt_fail(error, CLT_E_ARGUMENT, "row %zu has the time %g; it must be above 0", index, row->time_s);
  return CLT_OK;
}

static void take_row(struct rows *r, size_t place, size_t group, const clt_row *row) {
  r->configs[place] = row->config;
  r->failed[place] = row->failed;
  r->group[place] = (uint32_t)group;
  if (row->failed) return;
  r->correct_configs[r->n_correct] = row->config;
  r->log_time[r->n_correct] = log(row->time_s);
  r->correct_group[r->n_correct++] = (uint32_t)group;
}

static int rows_take(struct rows *r, const clt_space *space, clt_error *error) {
  int rc = rows_allocate(r, error);
  size_t place = 0;
  for (size_t g = 0; !rc && g < r->n_groups; g++)
    for (size_t i = 0; !rc && i < r->groups[g].n_rows; i++, place++) {
      rc = check_row(space, &r->groups[g].rows[i], place, error);
      if (!rc) take_row(r, place, g, &r->groups[g].rows[i]);
    }
  if (rc || r->n_correct >= FEWEST_ROWS) return rc;
  return clt_fail(error, CLT_E_MODEL, "%zu correct measurements are too few for a model; it needs %d", r->n_correct,
                  FEWEST_ROWS);
}

/* Several sizes: what goes with the sizes alone is taken out of the times. Sizes without a correct row do not count. */
static int subtract_baseline(clt_model *model, struct rows *r, clt_error *error) {
  double *level = clt_new_array(r->n_groups, sizeof *level);
  size_t *count = clt_new_array(r->n_groups, sizeof *count), n = 0;
  const clt_instance **instances = clt_new_array(r->n_groups, sizeof *instances);
  int rc = level && count && instances ? CLT_OK : clt_fail_memory(error);
  if (rc) goto done;
  for (size_t i = 0; i < r->n_correct; i++) {
    level[r->correct_group[i]] += r->log_time[i];
    count[r->correct_group[i]]++;
  }
  for (size_t g = 0; g < r->n_groups; g++) {
    if (count[g] == 0) continue;
    level[n] = level[g] / (double)count[g];
    instances[n++] = r->instances[g];
  }
  clt_baseline_fit(&model->baseline, instances, level, n);
  for (size_t i = 0; i < r->n_correct; i++)
    r->log_time[i] -= clt_baseline_at(&model->baseline, r->instances[r->correct_group[i]]);
done:
  free(level);
  free(count);
  free(instances);
  return rc;
}

static clt_model_setup setup_of(const clt_model *model, const struct rows *r, bool all, uint64_t seed) {
  return (clt_model_setup){.space = model->space,
                           .instance = r->groups[0].instance,
                           .configs = all ? r->configs : r->correct_configs,
                           .log_time = all ? NULL : r->log_time,
                           .n_rows = all ? r->n : r->n_correct,
                           .seed = seed,
                           .threads = model->threads,
                           .instances = r->instances,
                           .instance_of = all ? r->group : r->correct_group,
                           .n_instances = r->instances ? r->n_groups : 0};
}

static int fit_validity(clt_model *model, const struct rows *r, uint64_t seed, clt_error *error) {
  clt_model_setup setup = setup_of(model, r, true, seed);
  int rc = clt_rows_encoding(&model->encoding, &setup, true, error);
  if (rc) return rc;
  float *x = clt_rows_encode(model->encoding, &setup);
  rc = x ? clt_forest_fit(&model->forest, model->encoding, x, r->failed, r->n, seed, error) : clt_fail_memory(error);
  free(x);
  return rc;
}

/* The residuals are those of the correct rows, in their order. */
static int calibrate(clt_model *model, const struct rows *r, clt_error *error) {
  size_t n;
  const float *residuals = clt_model_residuals(model, &n);
  double *sum = clt_new_array(r->n_groups, sizeof *sum), errors = 0;
  size_t *count = clt_new_array(r->n_groups, sizeof *count);
  int rc = sum && count ? CLT_OK : clt_fail_memory(error);
  for (size_t i = 0; !rc && i < n; i++) {
    sum[r->correct_group[i]] += (double)residuals[i];
    count[r->correct_group[i]]++;
  }
  for (size_t i = 0; !rc && i < n; i++) {
    size_t g = r->correct_group[i];
    errors += fabs(expm1((double)residuals[i] - sum[g] / (double)count[g]));
  }
  model->accuracy.calibrated_error = n ? errors / (double)n : NAN;
  free(sum);
  free(count);
  return rc;
}

static int fit(clt_model *model, const void *options, struct rows *r, uint64_t seed, clt_error *error) {
  double start_s = clt_now_s();
  int rc = r->instances ? subtract_baseline(model, r, error) : CLT_OK;
  clt_model_setup setup = setup_of(model, r, false, seed);
  if (!rc) rc = model->type->fit(model->state, &setup, options, error);
  if (!rc && r->n_correct < r->n) rc = fit_validity(model, r, seed, error);
  if (rc) return rc;
  model->level = r->instances ? clt_baseline_at(&model->baseline, r->instances[0]) : 0;
  model->accuracy.n_rows = r->n;
  model->accuracy.n_failed = r->n - r->n_correct;
  clt_model_measure_accuracy(model);
  rc = calibrate(model, r, error);
  model->accuracy.fit_s = clt_now_s() - start_s;
  return rc;
}

static int parse_options(void **out, const clt_model_type *type, const clt_setting *settings, size_t n,
                         clt_error *error) {
  void *options = clt_new_array(1, type->options_size);
  if (options == NULL) return clt_fail_memory(error);
  int rc = clt_options_parse(options, type->options_size, type->options, type->n_options, settings, n, error);
  if (rc) return free(options), rc;
  *out = options;
  return CLT_OK;
}

static int fit_rows(clt_model **out, const char *type_name, const clt_setting *settings, size_t n_settings,
                    const clt_space *space, struct rows *rows, uint64_t seed, unsigned threads, clt_error *error) {
  const clt_model_type *type;
  clt_model *model = NULL;
  void *options = NULL;
  int rc = find_type(&type, type_name, error);
  if (!rc) rc = parse_options(&options, type, settings, n_settings, error);
  if (!rc) rc = rows_take(rows, space, error);
  if (!rc) rc = clt_model_new(&model, type, space, error);
  if (rc) goto done;
  model->threads = threads;
  model->sizes = clt_sizes_save(rows->instances ? rows->instances : &rows->groups[0].instance, rows->n_groups);
  rc = model->sizes ? fit(model, options, rows, seed, error) : clt_fail_memory(error);
  if (rc) goto done;
  *out = model;
  model = NULL;
done:
  clt_model_free(model);
  free(options);
  return rc;
}

int clt_model_fit(clt_model **out, const char *type, const clt_setting *settings, size_t n_settings,
                  const clt_space *space, const clt_instance *instance, const clt_row *rows, size_t n_rows,
                  uint64_t seed, unsigned threads, clt_error *error) {
  clt_rows_at group = {instance, rows, n_rows};
  struct rows all = {.groups = &group, .n_groups = 1};
  int rc = fit_rows(out, type, settings, n_settings, space, &all, seed, threads, error);
  rows_release(&all);
  return rc;
}

int clt_model_fit_sizes(clt_model **out, const char *type, const clt_setting *settings, size_t n_settings,
                        const clt_rows_at *groups, size_t n_groups, uint64_t seed, unsigned threads, clt_error *error) {
  if (n_groups == 0) return clt_fail(error, CLT_E_MODEL, "a model needs measurements; there are none");
  const clt_space *space = clt_instance_space(groups[0].instance);
  struct rows all = {
      .groups = groups, .n_groups = n_groups, .instances = clt_new_array(n_groups, sizeof *all.instances)};
  int rc = all.instances ? CLT_OK : clt_fail_memory(error);
  for (size_t g = 0; !rc && g < n_groups; g++) {
    all.instances[g] = groups[g].instance;
    if (!clt_space_same_parameters(space, clt_instance_space(groups[g].instance)))
      rc = clt_fail(error, CLT_E_ARGUMENT, "the rows' instances do not have the same tuning parameters");
  }
  if (!rc) rc = fit_rows(out, type, settings, n_settings, space, &all, seed, threads, error);
  rows_release(&all);
  return rc;
}
