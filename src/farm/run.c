/* Runs the open tunings of a sweep, with one thread (lane) per physical device. Progress goes to standard error: a bar
 * on a terminal, otherwise one line per tuning. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/base.h"
#include "device/device.h"
#include "farm/sweep.h"
#include "worker/pool.h"

#define TERMINAL_PERIOD_S 0.1
#define WAIT_MS 50 /* the longest delay before a stop request is noticed while idle */
#define WAITS 10   /* of WAIT_MS each, until work is asked for again */

/* A physical device. */
typedef struct lane {
  farm_lane shown;
  struct runner *runner;
  char key[256];
  size_t n_left, n_run, next; /* next: index of the next row of the sweep */
  double run_s;               /* sum over the n_run tunings */
  size_t lost;                /* the device lost last; SIZE_MAX: none */
  int64_t done, total;        /* evaluations of the current tuning */
  bool waits;                 /* a message has said that it waits for the device */
  cli_events events;
} lane;

typedef struct runner {
  farm_sweep *sweep;
  const farm_work *work;
  lane *lanes;
  size_t n_lanes, *lane_of; /* of each device */
  bool alone;               /* it is the turn of the lanes that run alone */
  pthread_mutex_t lock;     /* of the members that change, and of the file of results */
  int rc;                   /* exit code that ends the sweep: results cannot be written */
  cli_progress progress;
  size_t n_finished, n_failed; /* also those of runs before */
  size_t n_total;
  double next_s; /* when the bar is drawn again */
} runner;

/* --- the file of results --- */

static int fail_to_write(const farm_results *results) {
  return cli_message(CLI_FAILURE, "cannot write to '%s': %s; choose another file with --output", results->path,
                     strerror(errno));
}

/* Opens the file for appending; creates it if needed. */
static void open_results(farm_results *results) {
  char last = '\n';
  clt_replacement special;
  if (clt_file_is_special(results->path)) { /* /dev/stdout, a pipe */
    cli_check(clt_file_replace_open(&special, results->path, &cli_error));
    results->fd = special.fd;
    special.fd = -1;
    clt_file_replace_abort(&special);
    return;
  }
  results->fd = open(results->path, O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
  /* If the last line is cut, the next result starts on a new line. */
  off_t bytes = results->fd < 0 ? 0 : lseek(results->fd, 0, SEEK_END);
  bool cut = bytes > 0 && pread(results->fd, &last, 1, bytes - 1) == 1 && last != '\n';
  if (results->fd < 0 || (cut && write(results->fd, "\n", 1) != 1)) cli_exit(fail_to_write(results));
}

/* Appends a line with one write, so that lines of several sweeps on the same file do not mix, and synchronises. */
static int append_result(farm_results *results, const json_t *line) {
  char *json = farm_result_text(line), *text = json ? clt_format("%s\n", json) : NULL;
  const size_t n = text ? strlen(text) : 0;
  free(json);
  if (text == NULL) return cli_message(CLI_FAILURE, "out of memory");
  int rc = flock(results->fd, LOCK_EX) ? fail_to_write(results) : 0;
  if (rc == 0) {
    ssize_t put = write(results->fd, text, n);
    if (put >= 0 && put < (ssize_t)n) errno = ENOSPC;
    if (put != (ssize_t)n || (fdatasync(results->fd) && errno != EINVAL)) /* a pipe has nothing to synchronise */
      rc = fail_to_write(results);
    flock(results->fd, LOCK_UN);
  }
  free(text);
  return rc;
}

/* --- progress; under the lock --- */

/* Estimates the remaining seconds: lanes run side by side, except those that run alone. A tuning is taken to last as
 * long as the mean on its lane, or on all lanes if its lane has finished none. NaN: no tuning has finished yet. */
static double estimate_left_s(const runner *run) {
  double together_s = 0, alone_s = 0, all_s = 0;
  size_t n_all = 0;
  for (size_t i = 0; i < run->n_lanes; i++) {
    all_s += run->lanes[i].run_s;
    n_all += run->lanes[i].n_run;
  }
  for (size_t i = 0; i < run->n_lanes; i++) {
    const lane *l = &run->lanes[i];
    if (l->n_left == 0) continue;
    if (n_all == 0) return NAN;
    double lane_s = (double)l->n_left * (l->n_run ? l->run_s / (double)l->n_run : all_s / (double)n_all);
    if (l->shown.alone)
      alone_s += lane_s;
    else
      together_s = fmax(together_s, lane_s);
  }
  return together_s + alone_s;
}

static void draw_sweep_bar(runner *run) {
  char text[400], left[32], failed[40] = "", of[32] = "";
  size_t n = run->n_finished + run->n_failed, total = run->n_total;
  if (run->progress.quiet || !run->progress.terminal || clt_now_s() < run->next_s) return;
  if (run->n_failed) snprintf(failed, sizeof failed, "  %zu failed", run->n_failed);
  if (total) snprintf(of, sizeof of, "/%zu", total);
  int used = snprintf(text, sizeof text, "%zu%s tunings%s", n, of, failed);
  if (total && used < (int)sizeof text)
    used += snprintf(text + used, sizeof text - (size_t)used, "  left %s", cli_duration(left, estimate_left_s(run)));
  for (size_t i = 0; i < run->n_lanes && used < (int)sizeof text; i++) {
    const lane *l = &run->lanes[i];
    if (l->shown.now[0])
      used += snprintf(text + used, sizeof text - (size_t)used, " | %s %lld/%lld", l->shown.now, (long long)l->done,
                       (long long)l->total);
  }
  cli_progress_bar(total ? (double)n / (double)total : 0, run->progress.colour, text);
  run->progress.bar_shown = true;
  run->next_s = clt_now_s() + TERMINAL_PERIOD_S;
}

static void on_progress(void *user, const clt_progress *now) {
  lane *l = user;
  pthread_mutex_lock(&l->runner->lock);
  if (now->last || now->done != l->done) l->shown.progress++;
  l->done = now->done;
  l->total = now->total;
  cli_events_progress(&l->events, now);
  draw_sweep_bar(l->runner);
  pthread_mutex_unlock(&l->runner->lock);
}

/* Prints warnings, with the tuning's name, and once that it waits for the device. Other notes are dropped: there would
 * be too many. */
static void on_log(void *user, clt_log_level level, const char *text) {
  lane *l = user;
  bool waits = level == CLT_LOG_INFO && clt_starts_with(text, CLT_LOCK_WAITS) && !l->runner->progress.quiet;
  const char *command = waits ? strstr(text, " (") : NULL; /* the other process's command line may be long */
  if (level != CLT_LOG_WARNING && (!waits || l->waits)) return;
  pthread_mutex_lock(&l->runner->lock);
  l->waits = l->waits || waits;
  snprintf(l->shown.said, sizeof l->shown.said, "%.*s", (int)(command ? command - text : (long)strlen(text)), text);
  cli_progress_end(&l->runner->progress);
  if (waits)
    fprintf(stderr, "clatune: %s: %s\n", l->shown.now, l->shown.said);
  else
    fprintf(stderr, "clatune: warning: %s: %s\n", l->shown.now, text);
  pthread_mutex_unlock(&l->runner->lock);
}

static void count_row(lane *l, const farm_row *row) {
  runner *run = l->runner;
  const size_t total = run->n_total;
  double wall_s = farm_row_number(row, "wall_s"), ratio = farm_row_cost(row, true) / farm_row_cost(row, false);
  char best[32], took[32], left[32], gain[40] = "";
  if (row->code)
    run->n_failed++;
  else
    run->n_finished++;
  if (l->n_left) l->n_left--;
  l->shown.longest_s = fmax(l->shown.longest_s, wall_s); /* fmax ignores NaN */
  if (row->now && row->line) {
    l->n_run++;
    l->run_s += wall_s;
  }
  if (row->now && !run->progress.quiet) {
    cli_progress_end(&run->progress);
    fputs("clatune: ", stderr);
    if (total) fprintf(stderr, "[%zu/%zu] ", run->n_finished + run->n_failed, total);
    fprintf(stderr, "%s: ", l->shown.now);
    if (isfinite(ratio)) snprintf(gain, sizeof gain, ", %.3g over the default", ratio);
    if (row->code)
      fprintf(stderr, "failed: %s\n", farm_row_reason(row));
    else
      fprintf(stderr, "best %s%s; %.0f evaluations, %.0f measured, in %s%s%s\n",
              clt_time_text(best, farm_row_number(row, "best_s")), gain, farm_row_number(row, "total"),
              farm_row_number(row, "measured"), wall_s < 60 ? clt_time_text(took, wall_s) : cli_duration(took, wall_s),
              total ? "; left " : "", total ? cli_duration(left, estimate_left_s(run)) : "");
  }
  l->shown.now[0] = '\0';
  draw_sweep_bar(run);
}

/* --- a tuning --- */

static json_t *result_line(const farm_sweep_tuning *t, const clt_device_info *device, const clt_tune_result *r) {
  const bool found = r->best.config != CLT_CONFIG_NONE;
  json_t *line = farm_sweep_line(t, device, found ? &r->best : NULL);
  if (json_object_get(line, "best_value"))
    json_object_set_new(line, "default_value", clt_json_real(farm_sweep_value(t, &r->default_measurement)));
  const double default_s = r->has_default ? r->default_measurement.time_s : NAN;
  json_object_update_new(
      line,
      json_pack("{s:o, s:{s:I, s:I, s:I, s:I}, s:I, s:s, s:o, s:o, s:I, s:s}", "default_s", clt_json_real(default_s),
                "evaluations", "total", (json_int_t)r->evaluations, "measured", (json_int_t)r->measured, "reused",
                (json_int_t)r->reused, "correct", (json_int_t)r->n_correct, "left_out", (json_int_t)t->n_left_out,
                "ended_by", clt_ending_name(r->ending), "search_s", clt_json_real(r->search_s), "wall_s",
                clt_json_real(fmax(r->wall_s, 1e-9)), "finished_s", (json_int_t)time(NULL), "version", CLT_VERSION));
  return line;
}

/* A search without a correct configuration counts as finished: it would fail again. A tuning that ended with an error
 * is run again by the next sweep. */
static void tune_row(lane *l, const farm_sweep_tuning *t, clt_store *store, farm_row *row) {
  runner *run = l->runner;
  clt_tune_settings settings = t->settings;
  clt_tune_result *result;
  clt_error error = {0};
  settings.store = store;
  settings.progress = on_progress;
  settings.log = on_log;
  settings.user = l;
  settings.stop = l->shown.stop;
  settings.steps = &l->shown.steps;
  clt_objective *objective = NULL;
  bool has_events = run->sweep->events && clt_objective_new(&objective, t->instance, settings.objective, NULL) == 0;
  l->events = (cli_events){.out = has_events ? run->sweep->events : NULL,
                           .tuning = t->key,
                           .space = clt_instance_space(t->instance),
                           .objective = objective,
                           .best = CLT_CONFIG_NONE};
  pthread_mutex_lock(&run->lock);
  if (has_events) cli_event_started(&l->events, t->instance, &run->sweep->devices[t->device], &settings);
  pthread_mutex_unlock(&run->lock);
  int rc = clt_tune_run(&result, &settings, &error);
  const bool stopped = rc == CLT_E_STOPPED;
  const int how = rc;
  pthread_mutex_lock(&run->lock);
  if (rc == 0 || (rc == CLT_E_NO_VALID && result && result->evaluations > 0)) {
    row->now = true;
    row->line = result_line(t, &run->sweep->devices[t->device], result);
    row->best = farm_sweep_best(t, &result->best);
    if (error.code) {
      row->code = cli_exit_code(error.code);
      row->reason = strdup(error.message);
    }
  } else if (!stopped) {
    farm_sweep_fail(row, &error);
  }
  pthread_mutex_unlock(&run->lock);
  rc = run->work->finish(run->work->user, &l->shown, t, row, how);
  pthread_mutex_lock(&run->lock);
  if (run->rc == 0) run->rc = rc;
  if (has_events)
    cli_event(&l->events, "finished",
              json_pack("{s:i, s:o, s:O?}", "exit_code", stopped ? 128 + *cli_signals_flag() : row->code, "error",
                        row->reason ? clt_json_text(row->reason) : json_null(), "result", row->line));
  pthread_mutex_unlock(&run->lock);
  clt_objective_free(objective);
  clt_tune_result_free(result);
}

/* --- the rows of a plan --- */

static void name_row(lane *l, const farm_sweep_tuning *t) {
  char text[256];
  clt_sweep_cell_print(t->cell, text, sizeof text);
  pthread_mutex_lock(&l->runner->lock);
  l->done = l->total = 0;
  l->waits = false;
  l->shown.said[0] = '\0';
  snprintf(l->shown.now, sizeof l->shown.now, "%.40s: %.100s", l->runner->sweep->devices[t->device].name, text);
  pthread_mutex_unlock(&l->runner->lock);
}

bool farm_lane_has_time(const farm_lane *l, const farm_sweep *sweep) {
  return clt_now_s() + l->longest_s <= sweep->until_s;
}

static int next_row(void *user, farm_lane *shown, clt_store *store, farm_sweep_tuning *t, farm_row **out) {
  static const clt_error not_tuned = {.code = CLT_E_DEVICE, .message = "not tuned because the device was lost"};
  runner *run = user;
  farm_sweep *s = run->sweep;
  lane *l = &run->lanes[shown->index];
  (void)store;
  while (l->next < s->n_devices * s->n_cells && !*cli_signals_flag()) {
    const size_t device = l->next / s->n_cells, cell = l->next % s->n_cells;
    l->next++;
    farm_row *row = *out = farm_sweep_row(s, device, cell);
    if (run->lane_of[device] != shown->index || row->elsewhere) continue;
    const bool open = farm_sweep_prepare(t, s, device, cell, row);
    if (open && !farm_lane_has_time(shown, s)) return FARM_NO_WORK;
    if (open && l->lost != device) return FARM_WORK;
    name_row(l, t);
    if (open) farm_sweep_fail(row, &not_tuned);
    pthread_mutex_lock(&run->lock);
    count_row(l, row);
    pthread_mutex_unlock(&run->lock);
  }
  return FARM_NO_WORK;
}

static int finish_row(void *user, farm_lane *shown, const farm_sweep_tuning *t, farm_row *row, int rc) {
  runner *run = user;
  if (rc == CLT_E_DEVICE) run->lanes[shown->index].lost = t->device;
  if (row->line == NULL && rc != CLT_OK) return 0;
  pthread_mutex_lock(&run->lock);
  rc = append_result(&run->sweep->results, row->line);
  pthread_mutex_unlock(&run->lock);
  return rc;
}

/* --- lanes --- */

/* Whether the lane goes on. */
static bool may_go_on(lane *l) {
  pthread_mutex_lock(&l->runner->lock);
  const bool may = l->runner->rc == 0 && !*cli_signals_flag();
  pthread_mutex_unlock(&l->runner->lock);
  return may;
}

/* Runs a lane's tunings one after the other, whenever it is its turn. A store serves one thread, so each lane has its
 * own. */
static int run_lane(void *user, size_t index, clt_error *error) {
  runner *run = user;
  lane *l = &run->lanes[index];
  farm_sweep *s = run->sweep;
  clt_store *store = NULL;
  if (!run->work->together && l->shown.alone != run->alone) return 0;
  if (!s->no_store && clt_store_new(&store, "sqlite", s->store_path, error)) {
    pthread_mutex_lock(&run->lock);
    if (run->rc == 0) run->rc = cli_say(error);
    pthread_mutex_unlock(&run->lock);
    return 0;
  }
  farm_sweep_tuning t = {0};
  for (int what = FARM_WORK; what != FARM_NO_WORK && may_go_on(l);) {
    farm_row *row = NULL;
    what = run->work->next(run->work->user, &l->shown, store, &t, &row);
    for (int i = 0; what == FARM_WAIT && i < WAITS && may_go_on(l); i++) poll(NULL, 0, WAIT_MS);
    clt_workers_reserve(what == FARM_WORK, false); /* a waiting lane holds no reservation */
    if (what != FARM_WORK) continue;
    name_row(l, &t);
    tune_row(l, &t, store, row);
    pthread_mutex_lock(&run->lock);
    if (row->line || row->code) count_row(l, row);
    l->shown.now[0] = '\0';
    pthread_mutex_unlock(&run->lock);
  }
  clt_workers_reserve(false, false);
  farm_sweep_tuning_release(&t);
  clt_store_free(store);
  return 0;
}

/* The physical devices of a sweep. */
static void make_lanes(runner *run) {
  const farm_sweep *sweep = run->sweep;
  run->lanes = cli_new(sweep->n_devices, sizeof *run->lanes);
  run->lane_of = cli_new(sweep->n_devices, sizeof *run->lane_of);
  for (size_t d = 0; d < sweep->n_devices; d++) {
    char key[256];
    size_t i = 0;
    clt_device_lock_key(&sweep->devices[d], key, sizeof key);
    while (i < run->n_lanes && strcmp(run->lanes[i].key, key) != 0) i++;
    lane *l = &run->lanes[i];
    if (i == run->n_lanes) {
      l->runner = run;
      l->lost = SIZE_MAX;
      l->shown = (farm_lane){.index = i,
                             .lane_of = run->lane_of,
                             .alone = strcmp(key, "cpu") == 0,
                             .stop = cli_signals_flag(),
                             .lock = &run->lock};
      memcpy(l->key, key, sizeof key);
      run->n_lanes++;
    }
    run->lane_of[d] = i;
    for (size_t c = 0; c < sweep->n_cells; c++) l->n_left += !farm_sweep_row(sweep, d, c)->elsewhere;
  }
}

int farm_sweep_run(farm_sweep *sweep, const farm_work *work, int64_t jobs, bool quiet) {
  runner run = {.sweep = sweep, .n_total = farm_sweep_count(sweep).total};
  const farm_work own = {.next = next_row, .finish = finish_row, .user = &run};
  run.work = work ? work : &own;
  pthread_mutex_init(&run.lock, NULL);
  cli_progress_init(&run.progress, quiet, NULL);
  make_lanes(&run);
  if (work == NULL) open_results(&sweep->results);
  cli_signals_install();
  unsigned at_once = jobs > 0 && work == NULL ? (unsigned)jobs : (unsigned)run.n_lanes;
  for (size_t i = 0; work && i < run.n_lanes; i++) work->begin(work->user, &run.lanes[i].shown);
  int rc = clt_parallel(at_once, run.n_lanes, run_lane, &run, NULL);
  /* Compilers and searchers of the other lanes use the CPU, so it is measured when they are done. */
  run.alone = true;
  if (rc == 0 && !run.work->together) rc = clt_parallel(1, run.n_lanes, run_lane, &run, NULL);
  rc = rc ? cli_message(CLI_FAILURE, "out of memory") : run.rc;
  if (rc == 0 && *cli_signals_flag()) rc = 128 + *cli_signals_flag();
  if (work) work->end(work->user);
  cli_progress_end(&run.progress);
  pthread_mutex_destroy(&run.lock);
  return rc;
}
