/* report/report.h - reports of measurements: the best so far, the ten best, each parameter's effect, failures, and a
 * model's accuracy. A report is a JSON document (docs/how-to/read-the-report.md), which can also be written as text or
 * as an HTML page with plots. */
#ifndef CLT_REPORT_REPORT_H
#define CLT_REPORT_REPORT_H

#include <clatune/recording.h>
#include <clatune/store.h>
#include <jansson.h>

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
/* What runs now (cli/follow.h); stolen. Unless it has ended, the page asks the browser to load it again. */
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

#endif
