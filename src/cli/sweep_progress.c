#include "cli/sweep_progress.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/output.h"
#include "cli/progress.h"

#define TERMINAL_PERIOD_S 0.1

static double now_s(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void cli_sweep_progress_init(cli_sweep_progress *p, size_t total, bool quiet) {
  cli_progress usual;
  cli_progress_init(&usual, quiet, NULL, NULL);
  *p = (cli_sweep_progress){
      .quiet = quiet, .terminal = usual.terminal && !quiet, .colour = usual.colour, .total = total};
  pthread_mutex_init(&p->lock, NULL);
}

/* Seconds that a tuning takes: on this lane, or on any where this one has not run one yet. NaN: nowhere. */
static double mean_s(const cli_sweep_progress *p, const cli_lane_progress *lane) {
  double run_s = lane->run_s;
  size_t n = lane->n_run;
  for (size_t i = 0; lane->n_run == 0 && i < p->n_lanes; i++) {
    run_s += p->lanes[i].run_s;
    n += p->lanes[i].n_run;
  }
  return n ? run_s / (double)n : NAN;
}

/* Seconds that are left: the lanes work side by side, but for those that work alone. */
static double left_s(const cli_sweep_progress *p) {
  double together_s = 0, alone_s = 0;
  for (size_t i = 0; i < p->n_lanes; i++) {
    const cli_lane_progress *lane = &p->lanes[i];
    if (lane->n_left == 0) continue;
    double lane_s = (double)lane->n_left * mean_s(p, lane);
    if (isnan(lane_s)) return NAN;
    if (lane->alone)
      alone_s += lane_s;
    else
      together_s = fmax(together_s, lane_s);
  }
  return together_s + alone_s;
}

static void end_bar(cli_sweep_progress *p) {
  if (p->bar_shown) fputs("\r\033[K", stderr);
  p->bar_shown = false;
}

static void draw_bar(cli_sweep_progress *p) {
  char text[400], left[32], failed[40] = "";
  if (!p->terminal || now_s() < p->next_s) return;
  if (p->failed) snprintf(failed, sizeof failed, "  %zu failed", p->failed);
  int used = snprintf(text, sizeof text, "%zu/%zu tunings%s  left %s", p->finished + p->failed, p->total, failed,
                      cli_duration(left, left_s(p)));
  for (size_t i = 0; i < p->n_lanes && used < (int)sizeof text; i++) {
    const cli_lane_progress *lane = &p->lanes[i];
    if (lane->now[0])
      used += snprintf(text + used, sizeof text - (size_t)used, " | %s %lld/%lld", lane->now, (long long)lane->done,
                       (long long)lane->total);
  }
  cli_progress_bar(p->total ? (double)(p->finished + p->failed) / (double)p->total : 0, p->colour, text);
  p->bar_shown = true;
  p->next_s = now_s() + TERMINAL_PERIOD_S;
}

void cli_sweep_progress_begin(cli_sweep_progress *p, size_t lane, const clt_sweep_cell *cell,
                              const clt_device_info *device) {
  char text[256];
  clt_sweep_cell_print(cell, text, sizeof text);
  pthread_mutex_lock(&p->lock);
  cli_lane_progress *l = &p->lanes[lane];
  l->done = l->total = 0;
  snprintf(l->now, sizeof l->now, "%.40s: %.100s", device->name, text);
  pthread_mutex_unlock(&p->lock);
}

void cli_sweep_progress_update(cli_sweep_progress *p, size_t lane, const clt_progress *now) {
  pthread_mutex_lock(&p->lock);
  p->lanes[lane].done = now->done;
  p->lanes[lane].total = now->total;
  draw_bar(p);
  pthread_mutex_unlock(&p->lock);
}

static void print_row(cli_sweep_progress *p, const cli_lane_progress *lane, const cli_row *row) {
  char best[32], took[32], left[32], gain[40] = "";
  const cli_outcome *o = &row->outcome;
  end_bar(p);
  fprintf(stderr, "clatune: [%zu/%zu] %s: ", p->finished + p->failed, p->total, lane->now);
  if (row->code) {
    fprintf(stderr, "failed: %s\n", row->reason ? row->reason : "out of memory");
    return;
  }
  if (isfinite(o->default_s)) snprintf(gain, sizeof gain, ", %.3g over the default", o->default_s / o->best_s);
  fprintf(stderr, "best %s%s; %lld evaluations, %lld measured, in %s; left %s\n", cli_time(best, o->best_s), gain,
          (long long)o->evaluations, (long long)o->measured,
          o->wall_s < 60 ? cli_time(took, o->wall_s) : cli_duration(took, o->wall_s), cli_duration(left, left_s(p)));
}

void cli_sweep_progress_row(cli_sweep_progress *p, size_t lane, const cli_row *row) {
  pthread_mutex_lock(&p->lock);
  cli_lane_progress *l = &p->lanes[lane];
  if (row->code)
    p->failed++;
  else
    p->finished++;
  if (!row->now) p->before++;
  if (l->n_left) l->n_left--;
  if (row->now && row->state == CLI_ROW_FINISHED) {
    l->n_run++;
    l->run_s += row->outcome.wall_s;
  }
  if (row->now && !p->quiet) print_row(p, l, row);
  l->now[0] = '\0';
  draw_bar(p);
  pthread_mutex_unlock(&p->lock);
}

/* What a tuning tells by the way would drown the rest; warnings come with the tuning that they are of. */
void cli_sweep_progress_log(cli_sweep_progress *p, size_t lane, int level, const char *text) {
  if (level != 0) return;
  pthread_mutex_lock(&p->lock);
  end_bar(p);
  fprintf(stderr, "clatune: warning: %s: %s\n", p->lanes[lane].now, text);
  pthread_mutex_unlock(&p->lock);
}

void cli_sweep_progress_release(cli_sweep_progress *p) {
  end_bar(p);
  pthread_mutex_destroy(&p->lock);
}
