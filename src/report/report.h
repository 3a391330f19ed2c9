/* report/report.h - reports of measurements: the best so far, the ten best, each parameter's effect, failures, and a
 * model's accuracy. A report is a JSON document (docs/how-to/read-the-report.md), which can also be written as text or
 * as an HTML page with plots. */
#pragma once

#include <clatune/recording.h>
#include <clatune/store.h>
#include <jansson.h>

#include "base/text.h"
#include "measurement/measurement.h"

/* A report of one tuning, or of several that are compared. */
typedef struct clt_report clt_report;

typedef struct clt_report_options {
  const char *objective; /* as in clt_objective_new; NULL: each problem's own, otherwise time */
  uint64_t seed;         /* of the model that is fitted to the rows */
  unsigned threads;      /* for fitting the model; 0: one per processor */
  const char *command;   /* the command line that made the report, shown in it; NULL: none */
  bool share;            /* for other people: names of files instead of paths */
  bool csv;              /* only rows, for clt_report_csv, and no document */
  bool without_model;    /* fits no model: a page that is rewritten all the time */
} clt_report_options;

/* Options are borrowed for the report's lifetime. */
int clt_report_new(clt_report **out, const clt_report_options *options, clt_error *error);
void clt_report_free(clt_report *report);

/* Each of these adds a tuning and borrows nothing afterwards. The newest measurement of a configuration counts.
 * CLT_E_NOT_FOUND: there are no measurements. From a store, for an instance with a device: */
int clt_report_add_instance(clt_report *report, clt_store *store, const clt_instance *instance, clt_error *error);
/* From a store, for one of its keys, without the problem file: the space is that of the stored configurations
 * (clt_store_space). n descriptions, as clt_store_keys gives them, beginning with the one of that key to show. */
int clt_report_add_key(clt_report *report, clt_store *store, const clt_store_description *descriptions, size_t n,
                       clt_error *error);
/* From a recording, in the order of its file. */
int clt_report_add_recording(clt_report *report, const clt_recording *recording, clt_error *error);
/* What runs now (cli/tuning.h); stolen. Unless it has ended, the page asks the browser to load it again. */
void clt_report_follow(clt_report *report, json_t *follow);
size_t clt_report_n_tunings(const clt_report *report);

/* The rows of all tunings as CSV, one line per configuration; borrowed. */
const char *clt_report_csv(const clt_report *report);

/* The document; borrowed. docs/how-to/read-the-report.md describes it. */
const json_t *clt_report_document(const clt_report *report);
/* The document as text for a terminal of `width` columns (at least 60); *out is malloc'ed. */
int clt_report_text(char **out, const clt_report *report, int width, clt_error *error);
/* A self-contained HTML page with the document and a script that draws it; *out is malloc'ed. CLT_E_ARGUMENT: the
 * report has neither a tuning nor what runs now. */
int clt_report_page(char **out, const clt_report *report, clt_error *error);

/* --- a tuning in a report: its rows and their analysis --- */

/* One configuration. Rows are in the order of measurement, or of the recording's file. */
typedef struct clt_report_row {
  clt_config config;
  clt_reason reason;
  double time_s;               /* NaN if not correct */
  double cost;                 /* clt_objective_cost; NaN: none */
  double spread;               /* of its runs: median absolute deviation / median; NaN for fewer than two */
  clt_interval interval;       /* clt_measurement_interval */
  double spent_s;              /* seconds for build, first launch, runs, verification; 0: not recorded */
  double final_s, final_cost;  /* as a finalist: median of its interleaved runs; NaN if it was none */
  clt_interval final_interval; /* of final_s, or of final_figure if there is one; confidence 0: none */
  clt_kernel_use use;
  clt_device_state state;                                /* as a finalist, if it was one */
  double energy_J, figure, final_energy_J, final_figure; /* as in clt_measurement; NaN: none */
} clt_report_row;

typedef struct clt_report_rows {
  clt_report_row *items;
  size_t n, capacity;
} clt_report_rows;

typedef struct clt_tuning {
  const clt_space *space;
  clt_space *own_space;         /* owned; NULL: space is borrowed */
  const clt_instance *instance; /* borrowed; NULL: there is no problem file */
  clt_objective *objective;
  char *title, *device, *sizes, *problem_path; /* problem_path: "" if not known */
  char *store;                                 /* path; NULL: the standard one, or none */
  clt_device_info *device_info;                /* NULL: not known */
  json_t *session;                             /* data of its newest tuning (docs/reference/store.md); NULL: none */
  int64_t first_s, last_s;                     /* Unix times of the first and the last record; 0: not known */
  clt_report_rows rows, finalists;
  size_t n_correct, n_abandoned;
  /* Rows. best: the best known configuration of the store (store/best.c), or the best of a recording; SIZE_MAX: none is
   * correct. standard: the problem's default; SIZE_MAX: not known, or not measured. */
  size_t best, standard;
  bool best_is_finalist; /* a comparison of finalists establishes it */
  bool unchecked;        /* CLT_UNCHECKED */
  double default_cost;   /* in the same comparison as the best; if there was none, in the search; NaN: not measured */
} clt_tuning;

/* rows.c: adds a row; 0, or CLT_E_MEMORY. */
int clt_report_add_row(clt_report_rows *rows, const clt_objective *objective, const clt_measurement *measurement);
/* Sets rows, finalists and the times of the first and the last record. */
int clt_tuning_read_rows(clt_tuning *tuning, clt_store *store, const clt_store_key *key, clt_error *error);

/* See report.h. Release also on failure. */
int clt_tuning_of_instance(clt_tuning *out, const char *objective, clt_store *store, const clt_instance *instance,
                           clt_error *error);
int clt_tuning_of_recording(clt_tuning *out, const char *objective, const clt_recording *recording, clt_error *error);
void clt_tuning_release(clt_tuning *tuning);

double clt_tuning_value(const clt_tuning *tuning, double cost); /* the objective's value with this cost; NaN for NaN */
/* An item of a list of the best: sorted by key, then by tie. */
typedef struct clt_report_ranked {
  double key;
  uint64_t tie;
  size_t of, index; /* for the caller */
} clt_report_ranked;
/* Inserts an item into a sorted list of n, keeping at most `most`; returns the new number. */
size_t clt_rank(clt_report_ranked *ranked, size_t n, size_t most, clt_report_ranked item);
/* The indices of the n best rows, the best first; returns their number. */
size_t clt_tuning_fastest(const clt_tuning *tuning, clt_report_ranked *out, size_t n);

/* Statistics of a group of rows: costs, NaN if none is correct. */
typedef struct clt_effect {
  size_t n, n_failed, best_row; /* best_row: the row with the lowest cost */
  double least, lower_quartile, median, upper_quartile;
} clt_effect;

/* analysis.c: groups has an entry a row, each below n_groups; out is malloc'ed, n_groups entries. importance
 * (nullable): the share of the variance of log cost that the groups explain, 0 to 1 (the correlation ratio eta squared:
 * Pearson, "Mathematical contributions to the theory of evolution XIV", 1905, section 2). NaN for fewer than two
 * correct rows.
 */
int clt_effects_new(clt_effect **out, double *importance, size_t n_groups, const clt_tuning *tuning,
                    const size_t *groups, clt_error *error);

/* A model (ensemble) of the rows, by what it says of rows that it was not trained on: the document's "model", JSON null
 * if there are too few correct rows or all have the same cost. */
#define CLT_REPORT_LEAST_ROWS 30
#define CLT_REPORT_MOST_POINTS 1200 /* points drawn in a scatter plot */
int clt_report_fit(json_t **out, const clt_tuning *tuning, const clt_report_options *options, clt_error *error);

/* Several objectives: what no other configuration dominates, in the order of the first objective, and some of all for a
 * plot. By the values of the search: finalists have others, which are not comparable with them. */
json_t *clt_report_front(const clt_tuning *tuning);

/* document.c: text as text. Bytes that are no UTF-8 and control characters become "?". */
json_t *clt_report_string(const char *text);
json_t *clt_report_config(const clt_space *space, clt_config config); /* "a=1 b=2" */
/* The tuning's part of the document. */
int clt_tuning_document(json_t **out, const clt_tuning *tuning, const clt_report_options *options, clt_error *error);

/* csv.c: adds the rows, and before the first tuning the names of the columns; they are kept in *header, malloc'ed.
 * CLT_E_ARGUMENT where another tuning has others. */
int clt_tuning_csv(clt_text *out, char **header, const clt_tuning *tuning, clt_error *error);

/* A row as a finalist or in the search. */
clt_measurement clt_row_measurement(const clt_report_row *row, bool as_finalist);
/* A figure computed of a row: the value of one of the objective's metrics, as a finalist or in the search. */
double clt_row_metric(const clt_tuning *tuning, const clt_report_row *row, size_t metric, bool as_finalist);

/* text.c */
int clt_document_text(char **out, const json_t *document, int width, clt_error *error);
extern const char clt_page_template[]; /* generated by embed.py */
