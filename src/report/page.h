/* report/page.h - a page while it is written: one file a kind of part, each part a function that writes its section. */
#ifndef CLT_REPORT_PAGE_H
#define CLT_REPORT_PAGE_H

#include "report/gnuplot.h"
#include "report/markup.h"
#include "report/view.h"

/* The numbers of a report's plots. */
typedef struct clt_page_plots {
  size_t evaluations, time, fit, least, median;
  size_t *effects; /* one a parameter of the view */
} clt_page_plots;

typedef struct clt_page {
  FILE *out;
  const clt_report_view *views;
  clt_page_plots *plots; /* one a view */
  size_t n;
  size_t together_evaluations, together_time; /* of several */
  bool relative;                              /* the reports are of different problems or sizes */
  const clt_gnuplot *gnuplot;
  const char *no_plots; /* why there are none; NULL: there are */
  const clt_report_options *options;
  clt_value_form form; /* of the report that is being written */
} clt_page;

/* --- page.c: what parts are made of --- */

/* A heading of a report's part, one level lower where there are several. id: "", or that of the part within its report.
 */
void clt_page_heading(const clt_page *page, size_t report, const char *id, const char *text);
/* The beginning of a table that may be wider than the page; ends with clt_page_table_end. name: for those who do not
 * see it. */
void clt_page_table(const clt_page *page, const char *name);
void clt_page_table_end(const clt_page *page);
/* A figure: title where it is not "", the plot, and a caption of markup. name is text: what the plot shows. Where there
 * is no such plot, nothing. */
void clt_page_figure(const clt_page *page, size_t plot, const char *title, const char *name, const char *caption);
/* The same with anything behind the plot; false: there is none, and no figure to end. */
bool clt_page_figure_begin(const clt_page *page, size_t plot, const char *title, const char *name);
void clt_page_figure_end(const clt_page *page);
/* What the values of a report are, with their unit: "time, ms". */
void clt_page_value_name(const clt_page *page, const clt_report_view *view);

/* --- rows: what was found --- */
void clt_page_facts(const clt_page *page, size_t report);
void clt_page_progress(const clt_page *page, size_t report);
void clt_page_fastest(const clt_page *page, size_t report);
void clt_page_comparison(const clt_page *page);

/* --- parameters, failures, model, origin --- */
void clt_page_parameters(const clt_page *page, size_t report);
void clt_page_pairs(const clt_page *page, size_t report);
void clt_page_fit(const clt_page *page, size_t report);
void clt_page_failures(const clt_page *page, size_t report);
void clt_page_device(const clt_page *page, size_t report);
void clt_page_origin(const clt_page *page);

#endif
