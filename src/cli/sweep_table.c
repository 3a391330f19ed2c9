#include "cli/sweep_table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Rows first .. first+n-1 of a device that differ in their seeds alone. */
typedef struct group {
  size_t device, first, n;
} group;

static clt_sweep_cell cell_of(const cli_sweep_subject *s, size_t index) {
  clt_sweep_cell cell;
  clt_sweep_cell_at(&cell, s->plan, s->cells[index]);
  return cell;
}

static bool same_line(const clt_sweep_cell *a, const clt_sweep_cell *b) {
  return a->size_set == b->size_set && a->budget == b->budget && strcmp(a->label, b->label) == 0;
}

static bool found(const cli_row *row) { return row->state == CLI_ROW_FINISHED && row->outcome.best_s > 0; }

/* What is compared: of times themselves, of values what is the less the better. */
static double cost(const cli_outcome *o, double value, double time_s) {
  return isnan(o->best_value) ? time_s : o->maximised ? 1 / value : value;
}

static double best_cost(const cli_outcome *o) { return cost(o, o->best_value, o->best_s); }
static double default_cost(const cli_outcome *o) { return cost(o, o->default_value, o->default_s); }

/* The least cost at the sizes of a group, by whatever tuning: those stand together. */
static double least_cost(const cli_sweep_subject *s, const group *g) {
  size_t set = cell_of(s, g->first).size_set, i = g->first;
  double least = NAN;
  while (i > 0 && cell_of(s, i - 1).size_set == set) i--;
  for (; i < s->n_cells && cell_of(s, i).size_set == set; i++) {
    const cli_row *row = cli_sweep_row(s, g->device, i);
    if (found(row)) least = fmin(least, best_cost(&row->outcome));
  }
  return least;
}

typedef double (*figure)(const cli_outcome *outcome);
static double best_of(const cli_outcome *o) { return o->best_s; }
static double default_of(const cli_outcome *o) { return o->default_s; }
static double best_value_of(const cli_outcome *o) { return o->best_value; }
static double default_value_of(const cli_outcome *o) { return o->default_value; }
static double speedup_of(const cli_outcome *o) { return default_cost(o) / best_cost(o); }
static double evaluations_of(const cli_outcome *o) { return (double)o->evaluations; }
static double wall_of(const cli_outcome *o) { return o->wall_s; }

/* scratch has room for g->n numbers. */
static double median_of(const cli_sweep_subject *s, const group *g, figure f, double *scratch) {
  size_t n = 0;
  for (size_t i = 0; i < g->n; i++) {
    const cli_row *row = cli_sweep_row(s, g->device, g->first + i);
    if (found(row)) scratch[n++] = f(&row->outcome);
  }
  return clt_median(scratch, n);
}

static void count_group(cli_sweep_line *line, const cli_sweep_subject *s, const group *g) {
  for (size_t i = 0; i < g->n; i++) {
    const cli_row *row = cli_sweep_row(s, g->device, g->first + i);
    bool failed = row->state != CLI_ROW_OPEN && row->code != 0;
    line->n_found += row->state == CLI_ROW_FINISHED && row->code == 0;
    line->n_failed += failed;
    if (failed && line->reason == NULL) line->reason = row->reason ? row->reason : "out of memory";
  }
}

static void fill(cli_sweep_line *line, const cli_sweep_subject *s, const group *g, double *scratch) {
  *line = (cli_sweep_line){.device = &s->devices[g->device], .cell = cell_of(s, g->first), .n = g->n};
  count_group(line, s, g);
  line->best_s = median_of(s, g, best_of, scratch);
  line->default_s = median_of(s, g, default_of, scratch);
  line->speedup = median_of(s, g, speedup_of, scratch);
  line->evaluations = median_of(s, g, evaluations_of, scratch);
  line->wall_s = median_of(s, g, wall_of, scratch);
  line->best_value = median_of(s, g, best_value_of, scratch);
  line->default_value = median_of(s, g, default_value_of, scratch);
  line->fraction = least_cost(s, g) / median_of(s, g, best_cost, scratch);
}

cli_sweep_line *cli_sweep_lines(const cli_sweep_subject *s, size_t *n) {
  cli_sweep_line *lines = calloc(s->n_devices * s->n_cells + 1, sizeof *lines);
  double *scratch = calloc(s->n_cells + 1, sizeof *scratch);
  *n = 0;
  for (size_t d = 0; lines && scratch && d < s->n_devices; d++)
    for (group g = {.device = d}; g.first < s->n_cells; g.first += g.n) {
      clt_sweep_cell first = cell_of(s, g.first), next;
      for (g.n = 1; g.first + g.n < s->n_cells; g.n++) {
        next = cell_of(s, g.first + g.n);
        if (!same_line(&first, &next)) break;
      }
      fill(&lines[(*n)++], s, &g, scratch);
    }
  if (scratch == NULL) free(lines), lines = NULL;
  free(scratch);
  return lines;
}

cli_sweep_counts cli_sweep_count(const cli_sweep_subject *s) {
  cli_sweep_counts c = {.total = s->n_devices * s->n_cells};
  for (size_t i = 0; i < c.total; i++) {
    const cli_row *row = &s->rows[i];
    c.open += row->state == CLI_ROW_OPEN;
    c.failed += row->state != CLI_ROW_OPEN && row->code != 0;
    c.found += row->state == CLI_ROW_FINISHED && row->code == 0;
    c.before += row->state != CLI_ROW_OPEN && !row->now;
  }
  return c;
}

int cli_sweep_exit_code(const cli_sweep_subject *s) {
  int code = 0;
  for (size_t i = 0; i < s->n_devices * s->n_cells; i++) {
    int other = s->rows[i].state == CLI_ROW_OPEN ? 0 : s->rows[i].code;
    if (other && code && other != code) return CLI_FAILURE;
    if (other) code = other;
  }
  return code == 0 && json_array_size(s->missing) ? CLI_NO_DEVICE : code;
}
