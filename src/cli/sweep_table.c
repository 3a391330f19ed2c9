/* A sweep in numbers: a line for every device, problem, size, searcher and budget, medians over seeds. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/output.h"
#include "cli/sweep.h"
#include "measurement/statistics.h"

/* Medians over the tunings of a line that found something; NaN where none did. In the order of CSV's columns. */
enum {
  BEST_S,
  DEFAULT_S,
  SPEEDUP, /* default / best of the same tuning, by the objective */
  EVALUATIONS,
  FRACTION, /* least cost on this device at this size by any tuning of the sweep / cost of this best */
  WALL_S,
  BEST_VALUE, /* of the objective, where that is not time */
  DEFAULT_VALUE,
  N_FIGURES
};

typedef struct table_line {
  const clt_device_info *device;
  const clt_sweep_cell *cell;  /* the first one's */
  size_t n, n_found, n_failed; /* tunings; the rest are open */
  const char *reason;          /* of the first failure; NULL: none */
  double figures[N_FIGURES];
} table_line;

/* The cells first .. first+n-1, which differ in their seeds alone. scratch has room for n numbers of each figure. */
static void fill_line(table_line *line, const cli_sweep *s, size_t device, size_t first, size_t n, double *scratch) {
  const clt_sweep_cell *cells = s->cells;
  size_t found = 0, beside = first;
  *line = (table_line){.device = &s->devices[device], .cell = &cells[first], .n = n};
  for (size_t i = first; i < first + n; i++) {
    const cli_row *row = cli_sweep_row(s, device, i);
    bool failed = row->state != CLI_ROW_OPEN && row->code != 0;
    line->n_found += row->state == CLI_ROW_FINISHED && row->code == 0;
    line->n_failed += failed;
    if (failed && line->reason == NULL) line->reason = row->reason ? row->reason : "out of memory";
    if (!cli_row_found(row)) continue;
    double cost = cli_row_cost(row, false);
    const double figures[N_FIGURES] = {[BEST_S] = cli_row_number(row, "best_s"),
                                       [DEFAULT_S] = cli_row_number(row, "default_s"),
                                       [SPEEDUP] = cli_row_cost(row, true) / cost,
                                       [EVALUATIONS] = cli_row_number(row, "total"),
                                       [FRACTION] = cost,
                                       [WALL_S] = cli_row_number(row, "wall_s"),
                                       [BEST_VALUE] = cli_row_number(row, "best_value"),
                                       [DEFAULT_VALUE] = cli_row_number(row, "default_value")};
    for (size_t f = 0; f < N_FIGURES; f++) scratch[f * n + found] = figures[f];
    found++;
  }
  for (size_t f = 0; f < N_FIGURES; f++) line->figures[f] = clt_median(scratch + f * n, found);
  double least = NAN; /* at these sizes, by whatever tuning: those stand together */
  while (beside > 0 && cells[beside - 1].size_set == cells[first].size_set) beside--;
  for (; beside < s->n_cells && cells[beside].size_set == cells[first].size_set; beside++) {
    const cli_row *row = cli_sweep_row(s, device, beside);
    if (cli_row_found(row)) least = fmin(least, cli_row_cost(row, false));
  }
  line->figures[FRACTION] = least / line->figures[FRACTION];
}

/* malloc'ed; NULL when out of memory. */
static table_line *make_lines(const cli_sweep *s, size_t *n_lines) {
  table_line *lines = calloc(s->n_devices * s->n_cells + 1, sizeof *lines);
  double *scratch = calloc(s->n_cells + 1, N_FIGURES * sizeof *scratch);
  *n_lines = 0;
  for (size_t d = 0; lines && scratch && d < s->n_devices; d++)
    for (size_t first = 0, n; first < s->n_cells; first += n) {
      const clt_sweep_cell *a = &s->cells[first];
      for (n = 1; first + n < s->n_cells; n++)
        if (a->size_set != a[n].size_set || a->budget != a[n].budget || strcmp(a->label, a[n].label) != 0) break;
      fill_line(&lines[(*n_lines)++], s, d, first, n, scratch);
    }
  if (scratch == NULL) free(lines), lines = NULL;
  free(scratch);
  return lines;
}

/* --- text and Markdown --- */

#define N_COLUMNS 11
#define FIELD 400

typedef char row_of_fields[N_COLUMNS][FIELD];

static const char *const titles[N_COLUMNS] = {"device", "problem",  "sizes",       "searcher", "budget", "seeds",
                                              "best",   "speed-up", "evaluations", "of best",  "note"};

static void put_number(char out[FIELD], const char *format, double x) {
  snprintf(out, FIELD, isfinite(x) ? format : "-", x);
}

static void put_sizes(char out[FIELD], const clt_sweep_cell *cell) {
  size_t used = 0;
  snprintf(out, FIELD, "-");
  for (size_t i = 0; i < cell->n_sizes && used < FIELD; i++)
    used += (size_t)snprintf(out + used, FIELD - used, "%s%s=%lld", i ? " " : "", cell->sizes[i].name,
                             (long long)cell->sizes[i].value);
}

static void describe_line(row_of_fields out, const table_line *line) {
  size_t n_open = line->n - line->n_found - line->n_failed;
  snprintf(out[0], FIELD, "%s", line->device->name);
  snprintf(out[1], FIELD, "%s", clt_problem_name(line->cell->problem));
  put_sizes(out[2], line->cell);
  snprintf(out[3], FIELD, "%s", line->cell->label);
  snprintf(out[4], FIELD, line->cell->budget ? "%lld" : "-", (long long)line->cell->budget);
  snprintf(out[5], FIELD, "%zu/%zu", line->n_found, line->n);
  if (isfinite(line->figures[BEST_VALUE]))
    put_number(out[6], "%.4g", line->figures[BEST_VALUE]);
  else
    cli_time(out[6], line->figures[BEST_S]);
  put_number(out[7], "%.3g", line->figures[SPEEDUP]);
  put_number(out[8], "%g", line->figures[EVALUATIONS]);
  put_number(out[9], "%.3f", line->figures[FRACTION]);
  if (line->n_failed) snprintf(out[10], FIELD, "%zu failed: %.300s", line->n_failed, line->reason);
  size_t used = strlen(out[10]);
  if (n_open) snprintf(out[10] + used, FIELD - used, "%s%zu to do", used ? "; " : "", n_open);
  for (size_t c = 0; c < N_COLUMNS; c++)
    for (char *p = out[c]; *p; p++)
      if ((unsigned char)*p < ' ') *p = ' ';
}

/* Characters, not bytes. */
static size_t width_of(const char *text) {
  size_t n = 0;
  for (; *text; text++) n += ((unsigned char)*text & 0xc0) != 0x80;
  return n;
}

/* The first row is that of the titles. The last column has no width; where it is empty, what comes before it needs no
 * blanks. */
static void print_text_table(row_of_fields *rows, size_t n) {
  const size_t last = N_COLUMNS - 1;
  size_t widths[N_COLUMNS] = {0};
  for (size_t c = 0; c < N_COLUMNS; c++)
    for (size_t i = 0; i < n; i++)
      if (width_of(rows[i][c]) > widths[c]) widths[c] = width_of(rows[i][c]);
  for (size_t i = 0; i < n; i++) {
    for (size_t c = 0; c < last; c++) {
      bool padded = c + 1 < last || rows[i][last][0];
      printf("%s%*s", rows[i][c], padded ? (int)(widths[c] + 2 - width_of(rows[i][c])) : 0, "");
    }
    puts(rows[i][last]);
  }
}

static void print_markdown_table(row_of_fields *rows, size_t n) {
  for (size_t i = 0; i < n; i++) {
    for (size_t c = 0; c < N_COLUMNS; c++) {
      printf("| ");
      for (const char *text = rows[i][c]; *text; text++) {
        if (*text == '|') putchar('\\');
        putchar(*text);
      }
      putchar(' ');
    }
    puts("|");
    for (size_t c = 0; i == 0 && c < N_COLUMNS; c++) printf("| --- ");
    if (i == 0) puts("|");
  }
}

/* --- CSV --- */

static void print_quoted(const char *text) {
  bool plain = text[strcspn(text, ",\"\r\n")] == '\0';
  if (!plain) putchar('"');
  for (; *text; text++) {
    if (*text == '"') putchar('"');
    putchar(*text);
  }
  if (!plain) putchar('"');
}

static void print_csv(const table_line *lines, size_t n) {
  puts(
      "device,driver,problem,sizes,searcher,budget,tunings,found,failed,best_s,default_s,speedup,evaluations,"
      "fraction_of_best,wall_s,best_value,default_value,reason");
  for (size_t i = 0; i < n; i++) {
    const table_line *l = &lines[i];
    char sizes[FIELD];
    put_sizes(sizes, l->cell);
    const char *const texts[] = {l->device->name, l->device->driver_version, clt_problem_name(l->cell->problem), sizes,
                                 l->cell->label};
    for (size_t t = 0; t < 5; t++) {
      print_quoted(texts[t]);
      putchar(',');
    }
    printf("%lld,%zu,%zu,%zu,", (long long)l->cell->budget, l->n, l->n_found, l->n_failed);
    for (size_t k = 0; k < N_FIGURES; k++) {
      if (isfinite(l->figures[k])) printf("%.9g", l->figures[k]);
      putchar(',');
    }
    print_quoted(l->reason ? l->reason : "");
    putchar('\n');
  }
}

/* --- JSON --- */

static json_t *line_json(const table_line *l) {
  static const struct {
    const char *name;
    int figure;
  } figures[N_FIGURES] = {{"best_s", BEST_S},
                          {"default_s", DEFAULT_S},
                          {"best_value", BEST_VALUE},
                          {"default_value", DEFAULT_VALUE},
                          {"speedup_over_default", SPEEDUP},
                          {"evaluations", EVALUATIONS},
                          {"fraction_of_best", FRACTION},
                          {"wall_s", WALL_S}};
  json_t *sizes = json_object();
  for (size_t i = 0; i < l->cell->n_sizes; i++)
    json_object_set_new(sizes, l->cell->sizes[i].name, json_integer(l->cell->sizes[i].value));
  json_t *out = json_pack("{s:s, s:s, s:s, s:o, s:s, s:I, s:I, s:I, s:I}", "device", l->device->name, "driver",
                          l->device->driver_version, "problem", clt_problem_name(l->cell->problem), "sizes", sizes,
                          "searcher", l->cell->label, "budget", (json_int_t)l->cell->budget, "tunings",
                          (json_int_t)l->n, "found", (json_int_t)l->n_found, "failed", (json_int_t)l->n_failed);
  for (size_t f = 0; f < N_FIGURES; f++)
    json_object_set_new(out, figures[f].name, clt_json_real(l->figures[figures[f].figure]));
  json_object_set_new(out, "reason", l->reason ? json_string(l->reason) : json_null());
  return out;
}

cli_sweep_counts cli_sweep_count(const cli_sweep *s) {
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

int cli_sweep_print(const cli_sweep *s, const char *format, bool stopped) {
  size_t n;
  int rc = 0;
  cli_sweep_counts counts = cli_sweep_count(s);
  table_line *lines = make_lines(s, &n);
  row_of_fields *rows = calloc(n + 1, sizeof *rows);
  if (lines == NULL || rows == NULL) {
    rc = cli_failure("out of memory");
  } else if (strcmp(format, "json") == 0) {
    json_t *table = json_array();
    for (size_t i = 0; i < n; i++) json_array_append_new(table, line_json(&lines[i]));
    rc = cli_print_json(
        json_pack("{s:s, s:s, s:{s:I, s:I, s:I, s:I, s:I}, s:O, s:o, s:b}", "plan", clt_sweep_name(s->plan), "results",
                  s->results.path, "tunings", "total", (json_int_t)counts.total, "found", (json_int_t)counts.found,
                  "failed", (json_int_t)counts.failed, "to_do", (json_int_t)counts.open, "before",
                  (json_int_t)counts.before, "missing_devices", s->missing, "table", table, "stopped", stopped));
  } else if (strcmp(format, "csv") == 0) {
    print_csv(lines, n);
  } else {
    bool text = strcmp(format, "text") == 0;
    for (size_t c = 0; c < N_COLUMNS; c++) snprintf(rows[0][c], FIELD, "%s", titles[c]);
    for (size_t i = 0; i < n; i++) describe_line(rows[i + 1], &lines[i]);
    (text ? print_text_table : print_markdown_table)(rows, n + 1);
    if (text) {
      printf("\n%zu tunings: %zu finished", counts.total, counts.found);
      if (counts.before) printf(" (%zu before)", counts.before);
      if (counts.failed) printf(", %zu failed", counts.failed);
      if (counts.open) printf(", %zu to do (the same command goes on with them)", counts.open);
      printf("\nresults in %s\n", s->results.path);
    }
  }
  free(rows);
  free(lines);
  return rc;
}
