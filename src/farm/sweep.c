/* The data of `clatune sweep`: the file of results, and the tunings with their rows. */
#include "farm/sweep.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "store/pq.h"

#define MAX_LINE_BYTES 65536
#define MAX_FILE_BYTES ((size_t)1 << 30)
#define MOST 1e15 /* seconds, evaluations */
#define MOST_SHARDS 1000000

/* --- the file of results --- */

/* Null, or above 0 and below `most`. */
static bool is_figure(const json_t *json, double most) {
  double x = json_number_value(json);
  return json_is_null(json) || (json_is_number(json) && x > 0 && x < most);
}

static bool is_count(const json_t *json) {
  return json_is_integer(json) && json_integer_value(json) >= 0 && (double)json_integer_value(json) < MOST;
}

static bool is_outcome(const json_t *line) {
  static const char *const values[] = {"best_value", "default_value"}; /* may be absent, and of any size */
  const json_t *counts = json_object_get(line, "evaluations");
  for (size_t i = 0; i < 2; i++)
    if (json_object_get(line, values[i]) && !is_figure(json_object_get(line, values[i]), INFINITY)) return false;
  return json_is_string(json_object_get(line, "tuning")) && is_figure(json_object_get(line, "best_s"), MOST) &&
         is_figure(json_object_get(line, "default_s"), MOST) && is_figure(json_object_get(line, "wall_s"), MOST) &&
         is_count(json_object_get(line, "left_out")) && is_count(json_object_get(counts, "total")) &&
         is_count(json_object_get(counts, "measured"));
}

json_t *farm_result_read(const char *text, size_t n) {
  json_t *json = n < MAX_LINE_BYTES ? json_loadb(text, n, JSON_REJECT_DUPLICATES, NULL) : NULL;
  if (is_outcome(json)) return json;
  json_decref(json);
  return NULL;
}

void farm_results_add(json_t *lines, size_t *n_unreadable, const char *text, size_t n) {
  for (const char *line = text, *end; n > 0 && line < text + n; line = end + 1) {
    end = memchr(line, '\n', (size_t)(text + n - line));
    bool whole = end != NULL; /* the last line may be cut: its writer was killed, or is still writing */
    if (!whole) end = text + n;
    size_t length = (size_t)(end - line);
    if (whole && strspn(line, " \t\r") == length) continue;
    json_t *json = whole ? farm_result_read(line, length) : NULL;
    if (json == NULL)
      ++*n_unreadable;
    else if (json_object_set(lines, json_string_value(json_object_get(json, "tuning")), json))
      cli_failure("out of memory");
    json_decref(json);
  }
}

void farm_results_read(farm_results *out) {
  char *text = NULL;
  size_t n = 0, n_unreadable = 0;
  out->lines = json_object();
  if (clt_file_is_special(out->path) || (access(out->path, F_OK) != 0 && errno == ENOENT)) return;
  cli_check(clt_file_read(&text, &n, out->path, MAX_FILE_BYTES, &cli_error));
  farm_results_add(out->lines, &n_unreadable, text, n);
  free(text);
  if (n_unreadable)
    fprintf(stderr, "clatune: warning: ignored %zu unreadable lines of '%s'\n", n_unreadable, out->path);
}

double farm_row_number(const farm_row *row, const char *name) {
  const bool own = json_object_get(row->line, name) != NULL;
  return clt_json_number(own ? row->line : json_object_get(row->line, "evaluations"), name);
}

const char *farm_row_reason(const farm_row *row) { return row->reason ? row->reason : "out of memory"; }

bool farm_row_found(const farm_row *row) {
  return farm_row_number(row, "best_s") > 0 || farm_row_number(row, "best_value") > 0;
}

double farm_row_cost(const farm_row *row, bool of_default) {
  double value = farm_row_number(row, of_default ? "default_value" : "best_value");
  if (isnan(farm_row_number(row, "best_value"))) return farm_row_number(row, of_default ? "default_s" : "best_s");
  return json_is_true(json_object_get(row->line, "maximised")) ? 1 / value : value;
}

char *farm_result_text(const json_t *line) {
  return line ? json_dumps(line, JSON_COMPACT | JSON_REAL_PRECISION(12)) : NULL;
}

/* --- the tunings --- */

farm_row *farm_sweep_row(const farm_sweep *s, size_t device, size_t cell) {
  return &s->rows[device * s->n_cells + cell];
}

void farm_sweep_fail(farm_row *row, const clt_error *error) {
  char text[2048];
  clt_error_format(text, sizeof text, error);
  row->now = true;
  row->code = cli_exit_code(error->code);
  row->reason = strdup(text[0] ? text : clt_error_text(error->code));
}

bool farm_sweep_prepare(farm_sweep_tuning *t, const farm_sweep *s, size_t device, size_t cell, farm_row *row) {
  const clt_sweep_cell *c = t->cell = &s->cells[cell];
  clt_error error = {0};
  int rc = 0;
  clt_sweep_settings_release(&t->settings);
  if (t->instance == NULL || t->device != device || t->size_set != c->size_set ||
      clt_instance_problem(t->instance) != c->problem) {
    clt_instance_free(t->instance);
    t->instance = NULL;
    t->device = device;
    t->size_set = c->size_set;
    rc = clt_instance_new(&t->instance, c->problem, c->sizes, c->n_sizes, &s->devices[device], &error);
  }
  if (rc == 0) rc = clt_sweep_settings(&t->settings, s->plan, c, t->instance, &t->n_left_out, &error);
  if (rc == 0) rc = clt_sweep_key(t->key, &t->settings, &error);
  if (rc != CLT_OK) {
    farm_sweep_fail(row, &error);
    return false;
  }
  row->line = json_incref(json_object_get(s->results.lines, t->key));
  if (row->line == NULL) return true;
  if (farm_row_number(row, "best_s") > 0) return false;
  row->code = CLI_NO_VALID;
  row->reason = strdup("no configuration gave a correct result");
  return false;
}

void farm_sweep_tuning_release(farm_sweep_tuning *tuning) {
  clt_sweep_settings_release(&tuning->settings);
  clt_instance_free(tuning->instance);
  *tuning = (farm_sweep_tuning){0};
}

/* NULL: it is time, or has a mistake, which the tuning reports. */
static clt_objective *other_objective(const farm_sweep_tuning *t) {
  clt_objective *objective = NULL;
  if (clt_objective_new(&objective, t->instance, t->settings.objective, NULL)) return NULL;
  if (!clt_objective_is_time(objective)) return objective;
  clt_objective_free(objective);
  return NULL;
}

double farm_sweep_value(const farm_sweep_tuning *t, const clt_measurement *m) {
  clt_objective *objective = other_objective(t);
  const double value = objective ? clt_objective_value(objective, m) : NAN;
  clt_objective_free(objective);
  return value;
}

json_t *farm_sweep_line(const farm_sweep_tuning *t, const clt_device_info *device, const clt_measurement *best) {
  const char *name = t->settings.objective && *t->settings.objective ? t->settings.objective : "figure";
  clt_objective *objective = best ? other_objective(t) : NULL;
  const double value = objective ? clt_objective_value(objective, best) : NAN;
  json_t *configuration = best ? clt_json_configuration(clt_instance_space(t->instance), best->config) : json_null();
  json_t *options = best ? clt_json_options(t->instance, best->config) : json_null();
  json_t *line = json_pack(
      "{s:s, s:s, s:s, s:s, s:o, s:s, s:I, s:I, s:o, s:o, s:o}", "tuning", t->key, "device", device->name, "driver",
      device->driver_version, "problem", clt_problem_name(t->cell->problem), "sizes", clt_json_sizes(t->instance),
      "searcher", t->cell->by->label, "budget", (json_int_t)t->cell->budget, "seed", (json_int_t)t->cell->seed,
      "best_s", clt_json_real(best ? best->time_s : NAN), "configuration", configuration, "options", options);
  if (isfinite(value))
    json_object_update_new(
        line, json_pack("{s:s, s:b, s:o}", "objective", name, "maximised",
                        clt_objective_goal(objective) == CLT_MAXIMISE, "best_value", clt_json_real(value)));
  clt_objective_free(objective);
  return line;
}

json_t *farm_sweep_best(const farm_sweep_tuning *t, const clt_measurement *best) {
  clt_store_key key;
  char *configuration = NULL;
  if (best->config == CLT_CONFIG_NONE || clt_store_key_init(&key, t->instance, NULL) ||
      clt_config_text(&configuration, clt_instance_space(t->instance), best->config, NULL))
    return json_object();
  json_t *out = json_pack("{s:s, s:o, s:o, s:o, s:o}", "problem", key.problem, "configuration",
                          clt_pq_json_text(configuration), "time_s", clt_pq_json_number(best->time_s), "energy_j",
                          clt_pq_json_number(best->energy_J > 0 ? best->energy_J : NAN), "figure",
                          clt_pq_json_number(best->figure));
  free(configuration);
  return out;
}

farm_sweep_counts farm_sweep_count(const farm_sweep *s) {
  farm_sweep_counts c = {0};
  for (size_t i = 0; i < s->n_devices * s->n_cells; i++) {
    const farm_row *row = &s->rows[i];
    if (row->elsewhere) continue;
    c.total++;
    c.open += !row->line && !row->code;
    c.failed += row->code != 0;
    c.found += row->line && row->code == 0;
    c.before += (row->line || row->code) && !row->now;
  }
  return c;
}

void farm_sweep_shard(int64_t *i, int64_t *n, const cli_arguments *arguments) {
  const char *text = cli_text(arguments, "shard");
  const bool any = text && clt_starts_with(text, "%a/");
  char *end;
  *i = *n = 1;
  if (text == NULL) return;
  *i = any ? 0 : strtoll(text, &end, 10);
  if (any) end = (char *)text + 2;
  *n = *end == '/' ? strtoll(end + 1, &end, 10) : 0;
  if (*end || *n < 1 || *n > MOST_SHARDS || *i > *n || (any ? !cli_given(arguments, "slurm") : *i < 1))
    cli_usage("option '--shard' needs I/N, such as 1/8 for the first of 8 parts, not '%s'", text);
  if (clt_pq_is_url(cli_text(arguments, "store")))
    cli_usage(
        "--shard and a shared database exclude each other; leave out --shard, the database distributes the tunings");
}
