/* The table of a sweep: as text, JSON, CSV and Markdown. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/output.h"
#include "cli/sweep_table.h"

#define N_COLUMNS 11
#define FIELD 400

typedef char row_of_fields[N_COLUMNS][FIELD];

static const char *const titles[N_COLUMNS] = {"device", "problem",  "sizes",       "searcher", "budget", "seeds",
                                              "best",   "speed-up", "evaluations", "of best",  "note"};

static void number(char out[FIELD], const char *format, double x) {
  if (isfinite(x))
    snprintf(out, FIELD, format, x);
  else
    snprintf(out, FIELD, "-");
}

static void sizes_of(char out[FIELD], const clt_sweep_cell *cell) {
  size_t used = 0;
  snprintf(out, FIELD, "-");
  for (size_t i = 0; i < cell->n_sizes && used < FIELD; i++)
    used += (size_t)snprintf(out + used, FIELD - used, "%s%s=%lld", i ? " " : "", cell->sizes[i].name,
                             (long long)cell->sizes[i].value);
}

/* What happened to others than those that found something. */
static void note(char out[FIELD], const cli_sweep_line *line) {
  size_t n_open = line->n - line->n_found - line->n_failed;
  out[0] = '\0';
  if (line->n_failed) snprintf(out, FIELD, "%zu failed: %.300s", line->n_failed, line->reason);
  size_t used = strlen(out);
  if (n_open) snprintf(out + used, FIELD - used, "%s%zu to do", used ? "; " : "", n_open);
}

static void describe(row_of_fields out, const cli_sweep_line *line) {
  snprintf(out[0], FIELD, "%s", line->device->name);
  snprintf(out[1], FIELD, "%s", clt_problem_name(line->cell.problem));
  sizes_of(out[2], &line->cell);
  snprintf(out[3], FIELD, "%s", line->cell.label);
  snprintf(out[4], FIELD, line->cell.budget ? "%lld" : "-", (long long)line->cell.budget);
  snprintf(out[5], FIELD, "%zu/%zu", line->n_found, line->n);
  if (isfinite(line->best_value))
    number(out[6], "%.4g", line->best_value);
  else
    cli_time(out[6], line->best_s);
  number(out[7], "%.3g", line->speedup);
  number(out[8], "%g", line->evaluations);
  number(out[9], "%.3f", line->fraction);
  note(out[10], line);
  for (size_t c = 0; c < N_COLUMNS; c++)
    for (char *p = out[c]; *p; p++)
      if ((unsigned char)*p < ' ') *p = ' ';
}

/* --- text and Markdown --- */

/* Characters, not bytes. */
static size_t width_of(const char *text) {
  size_t n = 0;
  for (; *text; text++) n += ((unsigned char)*text & 0xc0) != 0x80;
  return n;
}

static void print_field(const char *text, size_t width) { printf("%s%*s", text, (int)(width - width_of(text)), ""); }

static void print_text_row(row_of_fields row, const size_t widths[N_COLUMNS]) {
  const size_t last = N_COLUMNS - 1;
  for (size_t c = 0; c < last; c++)
    print_field(row[c], c + 1 < last || row[last][0] ? widths[c] + 2 : width_of(row[c]));
  puts(row[last]);
}

static void print_text_table(row_of_fields *rows, size_t n) {
  size_t widths[N_COLUMNS];
  for (size_t c = 0; c < N_COLUMNS; c++) {
    widths[c] = strlen(titles[c]);
    for (size_t i = 0; i < n; i++)
      if (width_of(rows[i][c]) > widths[c]) widths[c] = width_of(rows[i][c]);
  }
  for (size_t c = 0; c + 1 < N_COLUMNS; c++) print_field(titles[c], widths[c] + 2);
  puts(titles[N_COLUMNS - 1]);
  for (size_t i = 0; i < n; i++) print_text_row(rows[i], widths);
}

static void print_escaped(const char *text) {
  for (; *text; text++) {
    if (*text == '|') putchar('\\');
    putchar(*text);
  }
}

static void print_markdown_table(row_of_fields *rows, size_t n) {
  for (size_t c = 0; c < N_COLUMNS; c++) printf("| %s ", titles[c]);
  puts("|");
  for (size_t c = 0; c < N_COLUMNS; c++) printf("| --- ");
  puts("|");
  for (size_t i = 0; i < n; i++) {
    for (size_t c = 0; c < N_COLUMNS; c++) {
      printf("| ");
      print_escaped(rows[i][c]);
      putchar(' ');
    }
    puts("|");
  }
}

static int print_fields(const cli_sweep_line *lines, size_t n, void (*print)(row_of_fields *rows, size_t n)) {
  row_of_fields *rows = calloc(n + 1, sizeof *rows);
  if (rows == NULL) return cli_failure("out of memory");
  for (size_t i = 0; i < n; i++) describe(rows[i], &lines[i]);
  print(rows, n);
  free(rows);
  return 0;
}

static void print_counts(const cli_sweep_subject *s) {
  cli_sweep_counts c = cli_sweep_count(s);
  printf("\n%zu tunings: %zu finished", c.total, c.found);
  if (c.before) printf(" (%zu before)", c.before);
  if (c.failed) printf(", %zu failed", c.failed);
  if (c.open) printf(", %zu to do (the same command goes on with them)", c.open);
  printf("\nresults in %s\n", s->results.path);
}

/* --- CSV --- */

static void print_quoted(const char *text) {
  if (text[strcspn(text, ",\"\r\n")] == '\0') {
    fputs(text, stdout);
    return;
  }
  putchar('"');
  for (; *text; text++) {
    if (*text == '"') putchar('"');
    putchar(*text);
  }
  putchar('"');
}

static void print_csv_number(double x) {
  if (isfinite(x))
    printf(",%.9g", x);
  else
    putchar(',');
}

static void print_csv(const cli_sweep_line *lines, size_t n) {
  puts(
      "device,driver,problem,sizes,searcher,budget,tunings,found,failed,best_s,default_s,speedup,evaluations,"
      "fraction_of_best,wall_s,best_value,default_value,reason");
  for (size_t i = 0; i < n; i++) {
    const cli_sweep_line *l = &lines[i];
    char sizes[FIELD];
    sizes_of(sizes, &l->cell);
    const char *const texts[] = {l->device->name, l->device->driver_version, clt_problem_name(l->cell.problem), sizes,
                                 l->cell.label};
    for (size_t t = 0; t < 5; t++) {
      print_quoted(texts[t]);
      putchar(',');
    }
    printf("%lld,%zu,%zu,%zu", (long long)l->cell.budget, l->n, l->n_found, l->n_failed);
    const double numbers[] = {l->best_s,   l->default_s, l->speedup,    l->evaluations,
                              l->fraction, l->wall_s,    l->best_value, l->default_value};
    for (size_t k = 0; k < sizeof numbers / sizeof *numbers; k++) print_csv_number(numbers[k]);
    putchar(',');
    print_quoted(l->reason ? l->reason : "");
    putchar('\n');
  }
}

/* --- JSON --- */

static json_t *json_sizes(const clt_sweep_cell *cell) {
  json_t *out = json_object();
  for (size_t i = 0; i < cell->n_sizes; i++)
    json_object_set_new(out, cell->sizes[i].name, json_integer(cell->sizes[i].value));
  return out;
}

static json_t *json_line(const cli_sweep_line *l) {
  json_t *out =
      json_pack("{s:s, s:s, s:s, s:o, s:s, s:I, s:I, s:I, s:I}", "device", l->device->name, "driver",
                l->device->driver_version, "problem", clt_problem_name(l->cell.problem), "sizes", json_sizes(&l->cell),
                "searcher", l->cell.label, "budget", (json_int_t)l->cell.budget, "tunings", (json_int_t)l->n, "found",
                (json_int_t)l->n_found, "failed", (json_int_t)l->n_failed);
  json_object_set_new(out, "best_s", clt_json_real(l->best_s));
  json_object_set_new(out, "default_s", clt_json_real(l->default_s));
  json_object_set_new(out, "best_value", clt_json_real(l->best_value));
  json_object_set_new(out, "default_value", clt_json_real(l->default_value));
  json_object_set_new(out, "speedup_over_default", clt_json_real(l->speedup));
  json_object_set_new(out, "evaluations", clt_json_real(l->evaluations));
  json_object_set_new(out, "fraction_of_best", clt_json_real(l->fraction));
  json_object_set_new(out, "wall_s", clt_json_real(l->wall_s));
  json_object_set_new(out, "reason", l->reason ? json_string(l->reason) : json_null());
  return out;
}

static int print_json(const cli_sweep_subject *s, const cli_sweep_line *lines, size_t n, int stopped) {
  cli_sweep_counts c = cli_sweep_count(s);
  json_t *table = json_array();
  for (size_t i = 0; i < n; i++) json_array_append_new(table, json_line(&lines[i]));
  return cli_print_json(json_pack("{s:s, s:s, s:{s:I, s:I, s:I, s:I, s:I}, s:O, s:o, s:b}", "plan",
                                  clt_sweep_name(s->plan), "results", s->results.path, "tunings", "total",
                                  (json_int_t)c.total, "found", (json_int_t)c.found, "failed", (json_int_t)c.failed,
                                  "to_do", (json_int_t)c.open, "before", (json_int_t)c.before, "missing_devices",
                                  s->missing, "table", table, "stopped", stopped));
}

int cli_sweep_print(const cli_sweep_subject *s, const char *format, int stopped) {
  size_t n;
  int rc = 0;
  cli_sweep_line *lines = cli_sweep_lines(s, &n);
  if (lines == NULL) return cli_failure("out of memory");
  if (strcmp(format, "json") == 0)
    rc = print_json(s, lines, n, stopped);
  else if (strcmp(format, "csv") == 0)
    print_csv(lines, n);
  else if (strcmp(format, "markdown") == 0)
    rc = print_fields(lines, n, print_markdown_table);
  else
    rc = print_fields(lines, n, print_text_table);
  if (rc == 0 && strcmp(format, "text") == 0) print_counts(s);
  free(lines);
  return rc;
}
