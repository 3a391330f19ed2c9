/* Runs what is open of a sweep. Tunings on one physical device come one after the other, in a thread of their own. */
#include <clatune/objective.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/output.h"
#include "cli/progress.h"
#include "cli/sweep.h"
#include "cli/sweep_progress.h"

typedef struct lane {
  char key[256]; /* of the physical device */
  size_t *devices, n_devices;
} lane;

typedef struct runner {
  cli_sweep_subject *subject;
  cli_sweep_progress progress;
  lane lanes[CLI_MAX_LANES];
  size_t n_lanes, next_lane;
  pthread_mutex_t lock; /* of next_lane, rc and the results' file */
  int rc;               /* what ends the sweep: the results cannot be written */
} runner;

/* What a session's callbacks are given. */
typedef struct watcher {
  cli_sweep_progress *progress;
  size_t lane;
} watcher;

static void on_progress(void *user, const clt_progress *now) {
  const watcher *w = user;
  cli_sweep_progress_update(w->progress, w->lane, now);
}

static void on_log(void *user, clt_log_level level, const char *text) {
  const watcher *w = user;
  cli_sweep_progress_log(w->progress, w->lane, (int)level, text);
}

/* --- a tuning --- */

static void add_values(json_t *line, const char *objective, const cli_outcome *o) {
  json_object_set_new(line, "objective", json_string(objective));
  json_object_set_new(line, "maximised", json_boolean(o->maximised));
  json_object_set_new(line, "best_value", clt_json_real(o->best_value));
  json_object_set_new(line, "default_value", clt_json_real(o->default_value));
}

static json_t *line_of(const cli_sweep_tuning *t, const clt_device_info *device, const cli_outcome *o,
                       const clt_tune_result *r) {
  const clt_space *space = clt_instance_space(t->instance);
  bool found = r->best.config != CLT_CONFIG_NONE;
  json_t *line = json_pack("{s:s, s:s, s:s, s:s, s:o, s:s, s:I, s:I}", "tuning", t->key, "device", device->name,
                           "driver", device->driver_version, "problem", clt_problem_name(t->cell.problem), "sizes",
                           cli_json_sizes(t->instance), "searcher", t->cell.label, "budget", (json_int_t)t->cell.budget,
                           "seed", (json_int_t)t->cell.seed);
  if (line == NULL) return NULL;
  json_object_set_new(line, "best_s", clt_json_real(o->best_s));
  json_object_set_new(line, "default_s", clt_json_real(o->default_s));
  if (isfinite(o->best_value)) add_values(line, *t->settings.objective ? t->settings.objective : "figure", o);
  json_object_set_new(line, "configuration", found ? cli_json_configuration(space, r->best.config) : json_null());
  json_object_set_new(line, "options", found ? cli_json_best_options(t->instance, r->best.config) : json_null());
  json_object_set_new(
      line, "evaluations",
      json_pack("{s:I, s:I, s:I, s:I}", "total", (json_int_t)o->evaluations, "measured", (json_int_t)o->measured,
                "reused", (json_int_t)r->reused, "correct", (json_int_t)r->n_correct));
  json_object_set_new(line, "left_out", json_integer((json_int_t)o->left_out));
  json_object_set_new(line, "ended_by", json_string(clt_ending_name(r->ending)));
  json_object_set_new(line, "search_s", clt_json_real(r->search_s));
  json_object_set_new(line, "wall_s", clt_json_real(o->wall_s));
  json_object_set_new(line, "finished_s", json_integer((json_int_t)time(NULL)));
  json_object_set_new(line, "version", json_string(CLATUNE_VERSION));
  return line;
}

/* What a program says of itself, where that is no time. */
static void take_figures(cli_outcome *out, const clt_problem *problem) {
  if (clt_problem_figure_is_time(problem)) return;
  out->maximised = clt_problem_larger_is_better(problem);
  out->best_value = clt_problem_figure(problem, out->best_s);
  out->default_value = clt_problem_figure(problem, out->default_s);
}

static void take_values(cli_outcome *out, const cli_sweep_tuning *t, const clt_tune_result *r) {
  clt_objective *objective = NULL;
  if (r->best.config == CLT_CONFIG_NONE || clt_objective_new(&objective, t->instance, t->settings.objective, NULL))
    return;
  if (clt_objective_is_standard(objective)) {
    take_figures(out, t->cell.problem);
  } else {
    out->best_value = clt_objective_value(objective, &r->best);
    if (r->has_default) out->default_value = clt_objective_value(objective, &r->default_measurement);
    out->maximised = clt_objective_goal(objective) == CLT_MAXIMISE;
  }
  clt_objective_free(objective);
}

static void take_result(cli_row *row, const cli_sweep_tuning *t, const clt_tune_result *r, const clt_error *error) {
  row->state = CLI_ROW_FINISHED;
  row->now = true;
  row->outcome = (cli_outcome){.best_s = r->best.config == CLT_CONFIG_NONE ? NAN : r->best.time_s,
                               .default_s = r->has_default ? r->default_measurement.time_s : NAN,
                               .wall_s = fmax(r->wall_s, 1e-9),
                               .best_value = NAN,
                               .default_value = NAN,
                               .evaluations = r->evaluations,
                               .measured = r->measured,
                               .left_out = (int64_t)t->n_left_out};
  take_values(&row->outcome, t, r);
  if (error->code == 0) return;
  row->code = cli_exit_code(error->code);
  row->reason = strdup(error->message);
}

static void keep_result(runner *run, const cli_sweep_tuning *t, const clt_device_info *device, const cli_row *row,
                        const clt_tune_result *r) {
  json_t *line = line_of(t, device, &row->outcome, r);
  pthread_mutex_lock(&run->lock);
  int rc = cli_results_append(&run->subject->results, line);
  if (run->rc == 0) run->rc = rc;
  pthread_mutex_unlock(&run->lock);
}

static bool ends(runner *run) {
  if (*cli_signals_flag()) return true;
  pthread_mutex_lock(&run->lock);
  bool failed = run->rc != 0;
  pthread_mutex_unlock(&run->lock);
  return failed;
}

/* A search that found nothing right is finished too: it would not find it the next time. What could not do its work is
 * tried again by the next run. */
static void tune(runner *run, watcher *w, cli_sweep_tuning *t, clt_store *store, size_t device, cli_row *row) {
  const clt_device_info *info = &run->subject->devices[device];
  clt_tune_settings settings = t->settings;
  clt_tune_result *result;
  clt_error error = {0};
  settings.store = store;
  settings.progress = on_progress;
  settings.log = on_log;
  settings.user = w;
  settings.stop = cli_signals_flag();
  int rc = clt_tune(&result, &settings, &error);
  if (rc == 0 || (rc == CLT_E_NO_VALID && result && result->evaluations > 0)) {
    take_result(row, t, result, &error);
    keep_result(run, t, info, row, result);
  } else if (rc != CLT_E_STOPPED) {
    cli_sweep_fail(row, &error);
  }
  clt_tune_result_free(result);
}

/* --- a lane --- */

static void run_device(runner *run, watcher *w, clt_store *store, size_t device) {
  cli_sweep_tuning t = {0};
  for (size_t i = 0; i < run->subject->n_cells && !ends(run); i++) {
    cli_row *row = cli_sweep_row(run->subject, device, i);
    bool open = cli_sweep_prepare(&t, run->subject, device, i);
    cli_sweep_progress_begin(w->progress, w->lane, &t.cell, &run->subject->devices[device]);
    if (open) tune(run, w, &t, store, device, row);
    if (row->state != CLI_ROW_OPEN) cli_sweep_progress_row(w->progress, w->lane, row);
  }
  cli_sweep_tuning_release(&t);
}

/* A store serves one thread, so each lane has its own. */
static void run_lane(runner *run, size_t index) {
  watcher w = {&run->progress, index};
  clt_store *store = NULL;
  clt_error error = {0};
  const lane *l = &run->lanes[index];
  if (!run->subject->no_store && clt_store_open(&store, "sqlite", run->subject->store_path, &error)) {
    pthread_mutex_lock(&run->lock);
    if (run->rc == 0) run->rc = cli_report(&error);
    pthread_mutex_unlock(&run->lock);
    return;
  }
  for (size_t i = 0; i < l->n_devices; i++) run_device(run, &w, store, l->devices[i]);
  clt_store_close(store);
}

/* --- all of them --- */

static bool is_cpu(const lane *l) { return strcmp(l->key, "cpu") == 0; }

static int add_to_lane(runner *run, size_t device) {
  char key[256];
  size_t i = 0;
  clt_device_lock_key(&run->subject->devices[device], key, sizeof key);
  while (i < run->n_lanes && strcmp(run->lanes[i].key, key) != 0) i++;
  if (i == CLI_MAX_LANES) i--; /* shares one: slower, and right */
  lane *l = &run->lanes[i];
  size_t *longer = realloc(l->devices, (l->n_devices + 1) * sizeof *longer);
  if (longer == NULL) return cli_failure("out of memory");
  longer[l->n_devices] = device;
  l->devices = longer;
  l->n_devices++;
  if (i < run->n_lanes) return 0;
  memcpy(l->key, key, sizeof key);
  run->n_lanes++;
  return 0;
}

static int make_lanes(runner *run) {
  for (size_t i = 0; i < run->subject->n_devices; i++) {
    int rc = add_to_lane(run, i);
    if (rc) return rc;
  }
  run->progress.n_lanes = run->n_lanes;
  for (size_t i = 0; i < run->n_lanes; i++) {
    run->progress.lanes[i].n_left = run->lanes[i].n_devices * run->subject->n_cells;
    run->progress.lanes[i].alone = is_cpu(&run->lanes[i]);
  }
  return 0;
}

static void *take_lanes(void *user) {
  runner *run = user;
  for (;;) {
    pthread_mutex_lock(&run->lock);
    while (run->next_lane < run->n_lanes && is_cpu(&run->lanes[run->next_lane])) run->next_lane++;
    size_t index = run->next_lane++;
    pthread_mutex_unlock(&run->lock);
    if (index >= run->n_lanes) return NULL;
    run_lane(run, index);
  }
}

/* Compiling for other devices, and the searchers of their tunings, work on the CPU: it is measured when they are done.
 */
static void run_lanes(runner *run, size_t jobs) {
  pthread_t threads[CLI_MAX_LANES];
  size_t n = 0;
  while (n + 1 < jobs && pthread_create(&threads[n], NULL, take_lanes, run) == 0) n++;
  take_lanes(run);
  while (n > 0) pthread_join(threads[--n], NULL);
  for (size_t i = 0; i < run->n_lanes; i++)
    if (is_cpu(&run->lanes[i])) run_lane(run, i);
}

int cli_sweep_run(cli_sweep_subject *subject, int64_t jobs, bool quiet) {
  runner *run = calloc(1, sizeof *run);
  if (run == NULL) return cli_failure("out of memory");
  run->subject = subject;
  pthread_mutex_init(&run->lock, NULL);
  cli_sweep_progress_init(&run->progress, subject->n_devices * subject->n_cells, quiet);
  int rc = make_lanes(run);
  if (rc == 0) rc = cli_results_open(&subject->results);
  size_t at_once = jobs > 0 && (size_t)jobs < run->n_lanes ? (size_t)jobs : run->n_lanes;
  cli_signals_install();
  if (rc == 0) run_lanes(run, at_once);
  if (rc == 0) rc = run->rc;
  if (rc == 0 && *cli_signals_flag()) rc = 128 + *cli_signals_flag();
  for (size_t i = 0; i < run->n_lanes; i++) free(run->lanes[i].devices);
  cli_sweep_progress_release(&run->progress);
  pthread_mutex_destroy(&run->lock);
  free(run);
  return rc;
}
