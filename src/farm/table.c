/* A sweep in numbers: a line for every device, problem, size, searcher and budget, medians over seeds. */
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "farm/sweep.h"
#include "measurement/measurement.h"

/* Medians over the tunings of a line that found something; null if none did. The speed-up is default / best of the
 * same tuning, by the objective; the fraction is the lowest cost on this device at this size by any tuning of the sweep
 * / the cost of this best; values are those of the objective, if that is not time. */
static const char *const figure_names[] = {"best_s",           "default_s", "speedup_over_default", "evaluations",
                                           "fraction_of_best", "wall_s",    "best_value",           "default_value"};
enum { SPEEDUP = 2, EVALUATIONS, FRACTION, N_FIGURES = sizeof figure_names / sizeof *figure_names };

/* The lowest cost at the sizes of a cell, which is the first one with them, by any tuning. */
static double find_least(const farm_sweep *s, size_t device, size_t first) {
  double least = NAN;
  for (size_t i = first; i < s->n_cells && s->cells[i].size_set == s->cells[first].size_set; i++) {
    const farm_row *row = farm_sweep_row(s, device, i);
    if (farm_row_found(row)) least = fmin(least, farm_row_cost(row, false));
  }
  return least;
}

/* The cells first .. first+n-1, which differ in their seeds alone. least: of find_least. scratch has space for n
 * numbers of each figure. NULL: none of them is of this shard. */
static json_t *make_line(const farm_sweep *s, size_t device, size_t first, size_t n, double least, double *scratch) {
  const clt_sweep_cell *cell = &s->cells[first];
  json_int_t n_own = 0, n_found = 0, n_failed = 0;
  size_t found = 0;
  const char *reason = NULL; /* of the first failure */
  json_t *sizes = json_object();
  for (size_t i = first; i < first + n; i++) {
    const farm_row *row = farm_sweep_row(s, device, i);
    n_own += !row->elsewhere;
    json_object_update(sizes, json_object_get(row->line, "sizes"));
    n_found += row->line && row->code == 0;
    n_failed += row->code != 0;
    if (row->code && reason == NULL) reason = farm_row_reason(row);
    if (!farm_row_found(row)) continue;
    double cost = farm_row_cost(row, false);
    for (size_t f = 0; f < N_FIGURES; f++) scratch[f * n + found] = farm_row_number(row, figure_names[f]);
    scratch[SPEEDUP * n + found] = farm_row_cost(row, true) / cost;
    scratch[EVALUATIONS * n + found] = farm_row_number(row, "total");
    scratch[FRACTION * n + found] = cost;
    found++;
  }
  if (n_own == 0) return json_decref(sizes), NULL;
  for (size_t i = 0; i < cell->n_sizes; i++)
    json_object_set_new(sizes, cell->sizes[i].name, json_integer(cell->sizes[i].value));
  json_t *out =
      json_pack("{s:o, s:o, s:s, s:o, s:s, s:I, s:I, s:I, s:I}", "device", clt_json_text(s->devices[device].name),
                "driver", clt_json_text(s->devices[device].driver_version), "problem", clt_problem_name(cell->problem),
                "sizes", sizes, "searcher", cell->by->label, "budget", (json_int_t)cell->budget, "tunings", n_own,
                "found", n_found, "failed", n_failed);
  for (size_t f = 0; f < N_FIGURES; f++) {
    double median = clt_median(scratch + f * n, found);
    json_object_set_new(out, figure_names[f], clt_json_real(f == FRACTION ? least / median : median));
  }
  json_object_set_new(out, "reason", reason ? clt_json_text(reason) : json_null());
  return out;
}

static json_t *make_table(const farm_sweep *s) {
  double *scratch = cli_new(s->n_cells + 1, N_FIGURES * sizeof *scratch);
  json_t *table = json_array();
  double least = NAN;
  for (size_t d = 0; d < s->n_devices; d++)
    for (size_t first = 0, n; first < s->n_cells; first += n) {
      const clt_sweep_cell *a = &s->cells[first];
      for (n = 1; first + n < s->n_cells; n++)
        if (a->size_set != a[n].size_set || a->budget != a[n].budget || strcmp(a->by->label, a[n].by->label) != 0)
          break;
      if (first == 0 || a->size_set != a[-1].size_set) least = find_least(s, d, first);
      json_t *line = make_line(s, d, first, n, least, scratch);
      if (line) json_array_append_new(table, line);
    }
  return table;
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

static void put_sizes(char out[FIELD], const json_t *line) {
  const char *name;
  json_t *size;
  size_t used = 0;
  snprintf(out, FIELD, "-");
  json_object_foreach(json_object_get(line, "sizes"), name, size) {
    if (used < FIELD)
      used += (size_t)snprintf(out + used, FIELD - used, "%s%s=%lld", used ? " " : "", name,
                               (long long)json_integer_value(size));
  }
}

static void describe_line(row_of_fields out, const json_t *line) {
  double n = clt_json_number(line, "tunings"), n_found = clt_json_number(line, "found"),
         n_failed = clt_json_number(line, "failed");
  double budget = clt_json_number(line, "budget"), value = clt_json_number(line, "best_value"),
         n_open = n - n_found - n_failed;
  snprintf(out[0], FIELD, "%s", clt_json_string(line, "device"));
  snprintf(out[1], FIELD, "%s", clt_json_string(line, "problem"));
  put_sizes(out[2], line);
  snprintf(out[3], FIELD, "%s", clt_json_string(line, "searcher"));
  put_number(out[4], "%.0f", budget > 0 ? budget : NAN);
  snprintf(out[5], FIELD, "%.0f/%.0f", n_found, n);
  if (isfinite(value))
    put_number(out[6], "%.4g", value);
  else
    clt_time_text(out[6], clt_json_number(line, "best_s"));
  put_number(out[7], "%.3g", clt_json_number(line, "speedup_over_default"));
  put_number(out[8], "%g", clt_json_number(line, "evaluations"));
  put_number(out[9], "%.3f", clt_json_number(line, "fraction_of_best"));
  if (n_failed > 0) snprintf(out[10], FIELD, "%.0f failed: %.300s", n_failed, clt_json_string(line, "reason"));
  size_t used = strlen(out[10]);
  if (n_open > 0) snprintf(out[10] + used, FIELD - used, "%s%.0f to do", used ? "; " : "", n_open);
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

/* The members of a line in their order. */
static void print_csv(const json_t *table) {
  json_t *line, *value;
  const char *key;
  size_t i;
  puts(
      "device,driver,problem,sizes,searcher,budget,tunings,found,failed,best_s,default_s,speedup,evaluations,"
      "fraction_of_best,wall_s,best_value,default_value,reason");
  json_array_foreach(table, i, line) {
    json_object_foreach(line, key, value) {
      char sizes[FIELD];
      clt_text text = {0};
      put_sizes(sizes, line);
      if (json_is_object(value) || json_is_string(value))
        clt_text_add_csv(&text, json_is_object(value) ? sizes : json_string_value(value));
      if (json_is_integer(value)) clt_text_printf(&text, "%lld", (long long)json_integer_value(value));
      if (json_is_real(value)) clt_text_printf(&text, "%.9g", json_real_value(value));
      if (text.n) fputs(text.bytes, stdout);
      putchar(strcmp(key, "reason") == 0 ? '\n' : ',');
      clt_text_release(&text);
    }
  }
}

int farm_sweep_print(const farm_sweep *s, const char *format, bool stopped, bool summary) {
  farm_sweep_counts counts = farm_sweep_count(s);
  json_t *table = make_table(s);
  size_t n = json_array_size(table);
  int rc = 0;
  if (strcmp(format, "json") == 0) {
    rc = cli_print_json(
        json_pack("{s:s, s:s, s:{s:I, s:I, s:I, s:I, s:I}, s:O, s:O, s:b}", "plan", clt_sweep_name(s->plan), "results",
                  s->results.path, "tunings", "total", (json_int_t)counts.total, "found", (json_int_t)counts.found,
                  "failed", (json_int_t)counts.failed, "to_do", (json_int_t)counts.open, "before",
                  (json_int_t)counts.before, "missing_devices", s->missing, "table", table, "stopped", stopped));
  } else if (strcmp(format, "csv") == 0) {
    print_csv(table);
  } else {
    bool text = strcmp(format, "text") == 0;
    row_of_fields *rows = cli_new(n + 1, sizeof *rows);
    for (size_t c = 0; c < N_COLUMNS; c++) snprintf(rows[0][c], FIELD, "%s", titles[c]);
    for (size_t i = 0; i < n; i++) describe_line(rows[i + 1], json_array_get(table, i));
    (text ? print_text_table : print_markdown_table)(rows, n + 1);
    if (text) {
      printf("\n%zu tunings: %zu finished", counts.total, counts.found);
      if (counts.before) printf(" (%zu before)", counts.before);
      if (counts.failed) printf(", %zu failed", counts.failed);
      if (counts.open) printf(", %zu to do%s", counts.open, summary ? "" : " (the same command continues with them)");
      puts("");
      if (access(s->results.path, F_OK) == 0) printf("results in %s\n", s->results.path);
    }
  }
  json_decref(table);
  return rc;
}
