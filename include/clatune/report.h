/* clatune/report.h - what was measured, as people look at it: the best so far, the ten best, what each parameter does, what
 * fails, how well a model predicts it. From a store or a recording; as text, or as a page. */
#ifndef CLATUNE_REPORT_H
#define CLATUNE_REPORT_H

#include <clatune/model.h>
#include <clatune/objective.h>
#include <clatune/recording.h>
#include <clatune/store.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct clt_report clt_report;

/* One configuration, in the order in which they were measured; of a recording, in that of its file. */
typedef struct clt_report_row {
  clt_config config;
  clt_reason reason;
  double time_s;  /* NaN if not correct */
  double spread;  /* of its runs: median absolute deviation / median; NaN where there are fewer than two */
  double final_s; /* as a finalist: the median of its interleaved runs at the end; NaN if it was none */
  double spent_s; /* on measuring it: build, first launch, runs, verification; 0 where that was not written down */
  double energy_J; /* NaN: not measured */
  double cost;     /* what it is ordered by: clt_objective_cost of the report's objective; NaN: none */
} clt_report_row;

/* From what a store holds of an instance (with a device): of several measurements of a configuration the newest. The instance
 * must outlive the report. */
int clt_report_from_store(clt_report **out, clt_store *store, const clt_instance *instance, clt_error *error);
/* From what a store holds of one of its keys (clt_store_each_key), the problem being elsewhere: its space is that of the
 * configurations that occur (clt_store_space). Nothing is borrowed. */
int clt_report_from_key(clt_report **out, clt_store *store, const clt_store_description *description, clt_error *error);
/* From a recording, which must outlive the report. */
int clt_report_from_recording(clt_report **out, const clt_recording *recording, clt_error *error);
void clt_report_free(clt_report *report);

/* By what the rows are looked at, as clt_objective_new (clatune/objective.h) takes it; NULL, as at first: what the
 * problem says, else time. On failure it stays as it was. */
int clt_report_set_objective(clt_report *report, const char *objective, clt_error *error);
const clt_objective *clt_report_objective(const clt_report *report);

/* What a report's costs stand for. Texts are borrowed from the report. */
typedef struct clt_report_figure {
  const char *name; /* "time", an objective's name, "figure" for what a program says of itself */
  const char *unit; /* may be "" */
  bool is_time;     /* it is the run time itself */
  bool in_seconds;
  bool maximised; /* the larger the better */
} clt_report_figure;
clt_report_figure clt_report_figure_of(const clt_report *report);
double clt_report_value(const clt_report *report, double cost); /* the value that has this cost; NaN for NaN */

const clt_space *clt_report_space(const clt_report *report);
const char *clt_report_title(const clt_report *report);  /* the problem's name, or the recording's */
const char *clt_report_device(const clt_report *report); /* for people; may be "" */
const char *clt_report_sizes(const clt_report *report);  /* "width=2048 height=2048"; may be "" */
const clt_device_info *clt_report_device_info(const clt_report *report); /* NULL: not known */
size_t clt_report_n_rows(const clt_report *report);
const clt_report_row *clt_report_row_at(const clt_report *report, size_t index);
size_t clt_report_n_correct(const clt_report *report);

/* The indices of the n best rows by the objective, the best first; returns how many there are. */
size_t clt_report_fastest(const clt_report *report, size_t *out, size_t n);
/* The row of the best configuration: the finalist with the least final_s, else the fastest; by an objective that does
 * not rank by time the best of the search. SIZE_MAX: none is correct. */
size_t clt_report_best(const clt_report *report);

/* What the rows with one value of a parameter, or one pair of values of two, come to. */
typedef struct clt_effect_value {
  size_t n, n_failed;
  double median_s, least_s; /* of the correct ones' costs (seconds, for time); NaN where there are none */
  double lower_quartile_s, upper_quartile_s; /* the same */
} clt_effect_value;

/* A parameter's effect. values has n_values entries, those of the parameter, owned: free with clt_effect_release.
 * importance: the share of the variance of log cost that the parameter alone explains, 0 to 1 (the correlation ratio
 * eta squared: Pearson, "Mathematical contributions to the theory of evolution XIV", 1905, section 2). NaN for fewer
 * than two correct rows. What two parameters do together is in neither's share. */
typedef struct clt_effect {
  double importance;
  size_t n_values;
  clt_effect_value *values;
} clt_effect;
int clt_report_effect(clt_effect *out, const clt_report *report, size_t parameter, clt_error *error);
void clt_effect_release(clt_effect *effect);

/* What two different parameters do together: *out is malloc'ed, n_values of the first times n_values of the second, the
 * second fastest. CLT_E_RANGE for more than 2^20 pairs. */
int clt_report_pairs(clt_effect_value **out, const clt_report *report, size_t first, size_t second, clt_error *error);

/* A model (ensemble) of the report's rows, by what it says of rows that it was not trained on. measured_s and predicted_s have
 * n entries, owned: free with clt_report_fit_release. n is 0 where there are too few correct rows (CLT_REPORT_LEAST_ROWS) or all
 * take the same time. Of more rows than CLT_REPORT_MOST_ROWS as many are drawn by the seed. */
#define CLT_REPORT_LEAST_ROWS 30
#define CLT_REPORT_MOST_ROWS 2000
typedef struct clt_report_fit {
  size_t n;
  double *measured_s, *predicted_s;
  clt_model_accuracy accuracy;
} clt_report_fit;
int clt_report_fit_init(clt_report_fit *out, const clt_report *report, uint64_t seed, unsigned threads, clt_error *error);
void clt_report_fit_release(clt_report_fit *fit);

typedef struct clt_report_options {
  uint64_t seed;       /* of the model */
  unsigned threads;    /* of the model; 0: as many as there are processors */
  const char *command; /* that made the report, to be shown; NULL: not shown */
} clt_report_options;

/* All of it as text for a terminal of `width` columns (at least 60). *out is malloc'ed and owned by the caller. */
int clt_report_text(char **out, const clt_report *report, const clt_report_options *options, int width, clt_error *error);

/* n reports as one page of HTML that needs nothing beside itself: no script, no network. Several are compared at its
 * beginning. The plots are SVG made by the program gnuplot, which is given numbers and nothing else from the measurements but
 * values of parameters as labels; where it is missing, the page has a sentence in their place, and *note says so (malloc'ed;
 * NULL: nothing to say). *out is malloc'ed; both are the caller's. */
int clt_report_page(char **out, char **note, const clt_report *const *reports, size_t n, const clt_report_options *options,
                    clt_error *error);

/* Puts a page into a file, which is replaced once all is written. CLT_E_IO. */
int clt_report_page_write(const char *path, const char *page, clt_error *error);

#ifdef __cplusplus
}
#endif
#endif
