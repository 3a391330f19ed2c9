/* report/report.h - what was measured, as people look at it: the best so far, the ten best, what each parameter does,
 * what fails, how well a model predicts it. One JSON document says all of it (docs/report.md); it is printed as it is,
 * as text, or as a page that draws it. */
#ifndef CLT_REPORT_REPORT_H
#define CLT_REPORT_REPORT_H

#include <clatune/recording.h>
#include <clatune/store.h>
#include <jansson.h>

/* One tuning, or several that are compared. */
typedef struct clt_report clt_report;

typedef struct clt_report_options {
  const char *objective; /* as clt_objective_new takes it; NULL: what each problem says, else time */
  uint64_t seed;         /* of the model that is fitted to what was measured */
  unsigned threads;      /* of the model; 0: as many as there are processors */
  const char *command;   /* that made the report, to be shown; NULL: none */
  bool share;            /* to be given away: names of files, no paths */
  bool csv;              /* the rows alone, for clt_report_csv; there is no document */
} clt_report_options;

/* Options are borrowed while the report lives. */
int clt_report_new(clt_report **out, const clt_report_options *options, clt_error *error);
void clt_report_free(clt_report *report);

/* Each adds a tuning; nothing of it is borrowed afterwards. CLT_E_NOT_FOUND: nothing was measured. Of several
 * measurements of a configuration the newest counts. From what a store holds of an instance (with a device): */
int clt_report_add_instance(clt_report *report, clt_store *store, const clt_instance *instance, clt_error *error);
/* From what a store holds of one of its keys, the problem being elsewhere: its space is that of the configurations that
 * occur (clt_store_space). */
int clt_report_add_key(clt_report *report, clt_store *store, const clt_store_description *description,
                       clt_error *error);
/* From a recording, in the order of its file. */
int clt_report_add_recording(clt_report *report, const clt_recording *recording, clt_error *error);
size_t clt_report_n_tunings(const clt_report *report);

/* A line for each configuration of every tuning: borrowed. */
const char *clt_report_csv(const clt_report *report);

/* The document, borrowed: docs/report.md says what is in it. */
const json_t *clt_report_document(const clt_report *report);
/* The same as text or as a page; *out is malloc'ed and the caller's. Text for a terminal of `width` columns (at least
 * 60). */
int clt_report_text(char **out, const clt_report *report, int width, clt_error *error);
/* A page of HTML that needs nothing beside itself: the document, and a script that draws it. CLT_E_ARGUMENT where the
 * report has no tuning. */
int clt_report_page(char **out, const clt_report *report, clt_error *error);

#endif
